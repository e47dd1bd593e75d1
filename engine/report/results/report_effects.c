/* What opened trace points explained, in the account of a search. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report_loop.h"

#define TOLD_MAX  3 /* points in a sentence of their own */
#define NAMED_MAX 3 /* of those that do not pay */

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

/* ---- in words ---- */

static void add_point(const struct pythia__json *w, struct pythia_buf *to, uint32_t tracepoint)
{
    pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(w->vocabulary, tracepoint));
}

bool pythia__effects_tell(const struct pythia_loop_cycle *c, const struct pythia_place *place)
{
    size_t told = 0;
    for (size_t i = 0; i < c->effect_count && told < TOLD_MAX; i++) {
        const struct pythia_effect *e = &c->effects[i];
        if (e->verdict != PYTHIA_EFFECT_EXPLAINS)
            continue;
        told++;
        bool inside = place->from_tracepoint == e->tracepoint &&
                      place->to_tracepoint == e->tracepoint && place->context == e->tracepoint;
        if (pythia_place_equal(place, &e->fine.place) && (e->by_inside ? inside : e->by_part))
            return true;
    }
    return false;
}

static const struct pythia_effect *effect_of(const struct pythia_loop_cycle *c, uint32_t point)
{
    for (size_t i = 0; i < c->effect_count; i++)
        if (c->effects[i].tracepoint == point)
            return &c->effects[i];
    return NULL;
}

bool pythia__closes_what_does_not_pay(const struct pythia_loop_cycle *c)
{
    bool all = c->closed_count > 0;
    for (size_t i = 0; i < c->closed_count; i++) {
        const struct pythia_effect *e = effect_of(c, c->closed[i].tracepoint);
        all = all && e && e->verdict == PYTHIA_EFFECT_DOES_NOT_PAY;
    }
    return all;
}

/* Is it told of a point that does not pay when what is closed is told? */
static bool is_told_later(const struct pythia_loop_cycle *c, const struct pythia_effect *e)
{
    bool closed = false;
    for (size_t i = 0; i < c->closed_count; i++)
        closed = closed || c->closed[i].tracepoint == e->tracepoint;
    return closed && pythia__closes_what_does_not_pay(c);
}

/* "A, B and 4 more are not worth their cost." */
static void add_named(const struct pythia__json *w, struct pythia_buf *to,
                      const struct pythia_loop_cycle *c, enum pythia_effect_verdict verdict,
                      const char *of_one, const char *of_several)
{
    size_t all = 0, named = 0;
    for (size_t i = 0; i < c->effect_count; i++)
        all += c->effects[i].verdict == verdict && !is_told_later(c, &c->effects[i]);
    for (size_t i = 0; i < c->effect_count && named < NAMED_MAX; i++) {
        if (c->effects[i].verdict != verdict || is_told_later(c, &c->effects[i]))
            continue;
        named++;
        bool last = named == all;
        pythia_buf_puts(to, named == 1 ? (to->size ? " " : "") : last ? " and " : ", ");
        add_point(w, to, c->effects[i].tracepoint);
    }
    if (all > named)
        pythia_buf_printf(to, " and %zu more", all - named);
    if (all)
        pythia_buf_puts(to, all == 1 ? of_one : of_several);
}

void pythia__add_effects(const struct pythia__json *w, struct pythia_buf *to,
                         const struct pythia_loop_cycle *c)
{
    size_t told = 0, left = 0;
    for (size_t i = 0; i < c->effect_count; i++) {
        const struct pythia_effect *e = &c->effects[i];
        if (e->verdict != PYTHIA_EFFECT_EXPLAINS)
            continue;
        left += told == TOLD_MAX;
        if (told == TOLD_MAX)
            continue;
        told++;
        pythia_buf_puts(to, to->size ? " " : "");
        add_point(w, to, e->tracepoint);
        pythia_buf_puts(to, " explains: ");
        pythia_effect_add(to, w->vocabulary, e, false);
        pythia_buf_putc(to, '.');
    }
    if (left)
        pythia_buf_printf(to, " %zu more explain%s something as well.", left, left == 1 ? "s" : "");
    add_named(w, to, c, PYTHIA_EFFECT_DOES_NOT_PAY, " is not worth its cost.",
              " are not worth their cost.");
    add_named(w, to, c, PYTHIA_EFFECT_NOT_PASSED, " is on no critical path.",
              " are on no critical path.");
}
