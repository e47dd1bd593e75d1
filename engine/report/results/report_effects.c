/* The effects of opened trace points, in the report of a search. */
#include <math.h>

#include "report_loop.h"

static json_t *make_effect_reasons(struct pythia__json *w, const struct pythia_effect *e)
{
    json_t *out = json_array();
    if (e->by_inside)
        pythia__json_append(w, out, json_string("inside"));
    if (e->by_part)
        pythia__json_append(w, out, json_string("part"));
    if (e->by_split)
        pythia__json_append(w, out, json_string("split"));
    return out;
}

static json_t *make_effect(struct pythia__json *w, const struct pythia_effect *e)
{
    json_t *out = json_object();
    double width = e->fine.high - e->fine.low, before = e->coarse.high - e->coarse.low;
    pythia__json_set(w, out, "trace_point", pythia__json_point(w, e->tracepoint));
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, e->type)));
    pythia__json_set(w, out, "opened_in", pythia__json_count(e->opened));
    pythia__json_set(w, out, "requests", pythia__json_count(e->requests));
    pythia__json_set(w, out, "passed", pythia__json_count(e->passed));
    pythia__json_set(w, out, "rerouted", pythia__json_count(e->rerouted));
    pythia__json_set(w, out, "stretch", pythia__json_finding(w, &e->coarse));
    pythia__json_set(w, out, "part", pythia__json_finding(w, &e->fine));
    pythia__json_set(w, out, "narrower",
                     isfinite(width) && isfinite(before) ? json_boolean(width < before)
                                                         : json_null());
    pythia__json_set(w, out, "inside", pythia__json_real(e->inside));
    pythia__json_set(w, out, "inside_low", pythia__json_real(e->inside_low));
    pythia__json_set(w, out, "inside_high", pythia__json_real(e->inside_high));
    pythia__json_set(w, out, "eta_squared", pythia__json_real(e->eta_squared));
    pythia__json_set(w, out, "p", pythia__json_real(e->p));
    pythia__json_set(w, out, "because", make_effect_reasons(w, e));
    pythia__json_set(w, out, "verdict", json_string(pythia_effect_verdict_name(e->verdict)));
    return out;
}

static json_t *make_followed_group(struct pythia__json *w, const struct pythia_followed *g)
{
    if (g->id == 0)
        return json_null();
    json_t *out = json_object();
    pythia__json_set(w, out, "id", pythia__json_group_id(g->id));
    pythia__json_set(w, out, "requests", pythia__json_count(g->requests));
    pythia__json_set(w, out, "mean_ns", pythia__json_real(g->mean_ns));
    pythia__json_set(w, out, "sd_ns", pythia__json_real(g->sd_ns));
    pythia__json_set(w, out, "variance_share", pythia__json_real(g->variance_share));
    pythia__json_set(w, out, "structures", pythia__json_count(g->structures));
    pythia__json_set(w, out, "eta_squared", pythia__json_real(g->eta_squared));
    pythia__json_set(w, out, "p", pythia__json_real(g->p));
    return out;
}

void pythia__json_effects(struct pythia__json *w, json_t *cycle, const struct pythia_loop_cycle *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->effect_count; i++)
        pythia__json_append(w, list, make_effect(w, &c->effects[i]));
    pythia__json_set(w, cycle, "effects", list);
    pythia__json_set(w, cycle, "group", make_followed_group(w, &c->group));
}
