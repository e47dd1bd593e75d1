#include "report_verdict.h"

#include "report_loop.h"
#include "sentences/sentences.h"

static json_t *make_verdict_places(struct pythia__json *w, const struct pythia_verdict *v)
{
    json_t *out = json_array();
    for (size_t i = 0; i < v->found_count; i++)
        pythia__json_append(w, out, pythia__json_finding(w, &v->found[i].finding));
    return out;
}

static json_t *make_also_seen(struct pythia__json *w, const struct pythia_verdict *v)
{
    json_t *out = json_array();
    for (size_t i = 0; i < v->also_count; i++)
        pythia__json_append(w, out, pythia__json_finding(w, &v->also[i]));
    return out;
}

static json_t *make_verdict_explanation(struct pythia__json *w, const struct pythia_verdict *v)
{
    if (!v->key)
        return json_null();
    json_t *out = json_object();
    pythia__json_set(w, out, "key", pythia__json_text(pythia_text_of(v->key)));
    pythia__json_set(w, out, "explained", pythia__json_real(v->explained));
    pythia__json_set(w, out, "q", pythia__json_real(v->q));
    return out;
}

static json_t *make_standing(struct pythia__report_writer *w, const struct pythia_verdict *v)
{
    pythia__say_standing(pythia__json_say(w), w->s, v);
    return pythia__json_said(w);
}

static json_t *make_also(struct pythia__report_writer *w, const struct pythia_verdict *v)
{
    pythia__say_also(pythia__json_say(w), w->s, v);
    return pythia__json_said(w);
}

static json_t *make_change_sentence(struct pythia__report_writer *w, const struct pythia_verdict *v)
{
    pythia__say_change(pythia__json_say(w), w->s, v);
    return pythia__json_said(w);
}

static json_t *make_instance_sentence(struct pythia__report_writer *w,
                                      const struct pythia_verdict *v)
{
    pythia__say_instance(pythia__json_say(w), w->s, v);
    return pythia__json_said(w);
}

json_t *pythia__json_group_finding(struct pythia__report_writer *rw, const struct pythia_group *g)
{
    struct pythia__json *w = &rw->json;
    struct pythia__standing standing = pythia__standing_of(rw->s, g);
    const struct pythia_verdict *v = standing.verdict;
    json_t *out = json_object();
    pythia__say_group_where(pythia__json_say(rw), rw->s, g);
    pythia__json_set(w, out, "where", pythia__json_said(rw));
    pythia__say_group_why(pythia__json_say(rw), rw->s, g);
    pythia__json_set(w, out, "why", pythia__json_said(rw));
    if (!v || standing.quiet)
        return out;
    pythia__json_set(w, out, "standing", make_standing(rw, v));
    pythia__json_set(w, out, "also", make_also(rw, v));
    pythia__json_set(w, out, "change", make_change_sentence(rw, v));
    pythia__json_set(w, out, "instance", make_instance_sentence(rw, v));
    pythia__json_set(w, out, "found", make_verdict_places(w, v));
    pythia__json_set(w, out, "also_seen", make_also_seen(w, v));
    pythia__json_set(w, out, "explanation", make_verdict_explanation(w, v));
    return out;
}

/* Where and why, from the search, or from what the group itself says. */
static void say_verdict(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_verdict *v, bool where, bool why)
{
    const struct pythia_group *g = pythia__group_of(s, v);
    bool own = !s->loop && g;
    if (where && own)
        pythia__say_where(d, s, g);
    else if (where)
        pythia__say_verdict_where(d, s, v);
    if (!why || (own ? g->explanations.found_count == 0 : !v->key))
        return;
    pythia__doc_words(d, where ? " " : "");
    if (own)
        pythia__say_group_why(d, s, g);
    else
        pythia__say_verdict_why(d, s, g, v);
}

static void set_findings(struct pythia__report_writer *w, json_t *out,
                         const struct pythia_verdict *v)
{
    static const struct {
        const char *member;
        bool where, why;
    } parts[] = {{"sentence", true, true}, {"where", true, false}, {"why", false, true}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        say_verdict(pythia__json_say(w), w->s, v, parts[i].where, parts[i].why);
        pythia__json_set(&w->json, out, parts[i].member, pythia__json_said(w));
    }
}

/* The last change. */
static void set_change(struct pythia__report_writer *rw, json_t *out,
                       const struct pythia_verdict *v)
{
    struct pythia__json *w = &rw->json;
    pythia__json_set(w, out, "since_cycle", pythia__json_count(v->since));
    pythia__json_set(w, out, "since_unix_ns",
                     v->since_unix_ns ? pythia__json_count(v->since_unix_ns) : json_null());
    pythia__json_set(w, out, "cycles", pythia__json_count(v->looks));
    pythia__json_set(w, out, "changes", pythia__json_count(v->changes));
    pythia__json_set(w, out, "reason", json_string(pythia_verdict_reason_name(v->reason)));
    pythia__json_set(w, out, "was", json_string(pythia_verdict_state_name(v->was)));
    pythia__json_set(w, out, "was_found", pythia__json_finding(w, &v->was_found));
    pythia__json_set(w, out, "change", make_change_sentence(rw, v));
}

static json_t *make_verdict(struct pythia__report_writer *rw, const struct pythia_verdict *v)
{
    struct pythia__json *w = &rw->json;
    const struct pythia_group *g = pythia__group_of(rw->s, v);
    bool found = v->state == PYTHIA_VERDICT_FOUND;
    json_t *out = json_object();
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, v->type)));
    pythia__json_set(w, out, "state", json_string(pythia_verdict_state_name(v->state)));
    set_findings(rw, out, v);
    pythia__json_set(w, out, "confidence",
                     found ? json_string(pythia_confidence_name(v->confidence)) : json_null());
    pythia__json_set(w, out, "standing", make_standing(rw, v));
    pythia__json_set(w, out, "found", make_verdict_places(w, v));
    pythia__json_set(w, out, "spread", json_boolean(pythia_verdict_is_spread(v)));
    pythia__json_set(w, out, "also_seen", make_also_seen(w, v));
    pythia__json_set(w, out, "also", make_also(rw, v));
    pythia__json_set(w, out, "explanation", make_verdict_explanation(w, v));
    pythia__json_set(w, out, "group", g ? pythia__json_group_id(g->id) : json_null());
    pythia__json_set(w, out, "requests", pythia__json_count(v->requests));
    pythia__json_set(w, out, "instance", make_instance_sentence(rw, v));
    if (rw->s->loop)
        set_change(rw, out, v);
    return out;
}

json_t *pythia__json_verdicts(struct pythia__report_writer *w)
{
    json_t *out = json_array();
    for (size_t i = 0; i < w->s->verdicts->count; i++)
        pythia__json_append(&w->json, out, make_verdict(w, &w->s->verdicts->list[i]));
    return out;
}
