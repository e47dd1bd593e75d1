/* Whether requests keep to what is expected of them. */
#include <math.h>

#include "document/document_names.h"
#include "sentences.h"

const char *pythia__expected_name(enum pythia_expected expected)
{
    static const char *const names[] = {[PYTHIA_EXPECTED_P99] = "p99",
                                        [PYTHIA_EXPECTED_COV] = "cov",
                                        [PYTHIA_EXPECTED_PATH] = "same_path_as"};
    return names[expected];
}

const char *pythia__expected_state_name(enum pythia_expected_state state)
{
    static const char *const names[] = {[PYTHIA_EXPECTED_HOLDS] = "holds",
                                        [PYTHIA_EXPECTED_VIOLATED] = "violated",
                                        [PYTHIA_EXPECTED_TOO_FEW] = "too_few"};
    return names[state];
}

/* The subject of an expectation: the request type, or the pattern that no type matches. */
static void say_subject(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_expected_result *r)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(s->groups, &count);
    for (size_t i = 0; i < count; i++)
        if (types[i].name == r->type) {
            pythia__doc_type(d, s->vocabulary, &types[i], PYTHIA_NONE);
            return;
        }
    pythia__doc_text(d, PYTHIA__DOC_CODE,
                     pythia_text_of(s->expectations->list[r->expectation].type));
}

static void say_other_paths(struct pythia__doc *d, const struct pythia_report_source *s,
                            const struct pythia_expected_result *r)
{
    pythia__doc_count(d, r->value, " request takes", " requests take");
    pythia__doc_words(d, " another path than ");
    pythia__doc_text(d, PYTHIA__DOC_CODE,
                     pythia_text_of(s->expectations->list[r->expectation].same_path_as));
    if (r->point == PYTHIA_NONE)
        return;
    pythia__doc_words(d, r->passed ? ", through " : ", without ");
    pythia__doc_point(d, s->vocabulary, r->point);
}

static void say_limit(struct pythia__doc *d, const struct pythia_expected_result *r)
{
    bool cov = r->expected == PYTHIA_EXPECTED_COV;
    pythia__doc_words(d, cov ? "coefficient of variation " : "99th percentile ");
    if (cov)
        pythia__doc_words(d, "%.3g", r->value);
    else
        pythia__doc_duration(d, r->value);
    pythia__doc_words(d, ", expected below ");
    if (cov)
        pythia__doc_words(d, "%.3g", r->limit);
    else
        pythia__doc_duration(d, r->limit);
}

void pythia__say_expected(struct pythia__doc *d, const struct pythia_report_source *s,
                          const struct pythia_expected_result *r)
{
    const struct pythia_expectation *x = &s->expectations->list[r->expectation];
    say_subject(d, s, r);
    if (r->type == PYTHIA_NONE) {
        pythia__doc_words(d, ": no request is of such a type");
        return;
    }
    if (x->where) {
        pythia__doc_words(d, " where ");
        pythia__doc_text(d, PYTHIA__DOC_CODE, pythia_text_of(x->where));
    }
    pythia__doc_words(d, ": ");
    bool path = r->expected == PYTHIA_EXPECTED_PATH;
    if (r->state == PYTHIA_EXPECTED_TOO_FEW && path && r->requests > 0) {
        pythia__doc_words(d, "no path to compare with, as there is no request of ");
        pythia__doc_text(d, PYTHIA__DOC_CODE, pythia_text_of(x->same_path_as));
    } else if (r->state == PYTHIA_EXPECTED_TOO_FEW)
        pythia__doc_words(d, "too few requests to judge %s", pythia__expected_name(r->expected));
    else if (!path)
        say_limit(d, r);
    else if (r->state == PYTHIA_EXPECTED_VIOLATED)
        say_other_paths(d, s, r);
    else
        pythia__doc_words(d, "the expected path");
    pythia__doc_words(d, " (");
    pythia__doc_count(d, (double)r->requests, " request", " requests");
    pythia__doc_words(d, ")");
}

void pythia__say_expected_counts(struct pythia__doc *d, const struct pythia_expected_results *r)
{
    size_t violated = pythia_expected_results_count(r, PYTHIA_EXPECTED_VIOLATED),
           few = pythia_expected_results_count(r, PYTHIA_EXPECTED_TOO_FEW);
    if (violated > 0 && r->count == 1)
        pythia__doc_words(d, "The expectation is violated");
    else if (violated > 0)
        pythia__doc_words(d, "%zu of %zu expectations %s violated", violated, r->count,
                          violated == 1 ? "is" : "are");
    else if (few == 0)
        pythia__doc_words(d, r->count == 1 ? "The expectation holds" : "All %zu expectations hold",
                          r->count);
    else
        pythia__doc_words(d, "No expectation is violated");
    if (few > 0)
        pythia__doc_words(d, ", %zu cannot be judged", few);
}
