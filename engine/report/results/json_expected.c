#include "json_expected.h"

#include "sentences/sentences.h"

static json_t *text_or_null(const char *text)
{
    return text ? pythia__json_text(pythia_text_of(text)) : json_null();
}

/* Members that mean nothing are left out: a type that did not come was not judged. */
static json_t *make_expected_result(struct pythia__json *w, const struct pythia_report_source *s,
                                    const struct pythia_expected_result *r)
{
    const struct pythia_expectation *x = &s->expectations->list[r->expectation];
    json_t *out = json_object();
    pythia__json_set(w, out, "type", pythia__json_text(pythia_text_of(x->type)));
    pythia__json_set(w, out, "where", text_or_null(x->where));
    if (r->type == PYTHIA_NONE) {
        pythia__json_set(w, out, "request_type", json_null());
        pythia__json_set(w, out, "state",
                         json_string(pythia__expected_state_name(PYTHIA_EXPECTED_TOO_FEW)));
        return out;
    }
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(s->vocabulary, r->type)));
    pythia__json_set(w, out, "expected", json_string(pythia__expected_name(r->expected)));
    pythia__json_set(w, out, "state", json_string(pythia__expected_state_name(r->state)));
    pythia__json_set(w, out, "requests", pythia__json_count(r->requests));
    pythia__json_set(w, out, "value", pythia__json_real(r->value));
    pythia__json_set(w, out, "limit", pythia__json_real(r->limit));
    if (r->expected != PYTHIA_EXPECTED_PATH)
        return out;
    pythia__json_set(w, out, "same_path_as", text_or_null(x->same_path_as));
    pythia__json_set(w, out, r->passed ? "through" : "without",
                     r->point == PYTHIA_NONE ? json_null() : pythia__json_point(w, r->point));
    return out;
}

json_t *pythia__json_expected(struct pythia__json *w, const struct pythia_report_source *s)
{
    json_t *out = json_array();
    for (size_t i = 0; i < s->expected->count; i++)
        pythia__json_append(w, out, make_expected_result(w, s, &s->expected->list[i]));
    return out;
}
