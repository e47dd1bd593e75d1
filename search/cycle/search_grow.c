/* A search whose space has grown, or whose pins and prices are others: what it keeps by trace point
 * is made anew, and what it knows of types stays. */
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

/* Arrays by trace point, shared by all types. */
struct points {
    bool *open, *skeleton, *base, *never, *wide;
    double *calls, *price, *relative, *spent_calls, *spent_bytes;
    uint32_t *open_for, *part;
};

static void free_point_arrays(const struct points *p)
{
    void *const owned[] = {p->open,        p->skeleton, p->base,     p->never,
                           p->calls,       p->price,    p->relative, p->spent_calls,
                           p->spent_bytes, p->open_for, p->wide,     p->part};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
}

/* Prices are learnt of all points anew; what points cost, when it is known what is open. */
static int fill_prices(const struct pythia_search *s, uint32_t count, struct points *p)
{
    struct pythia_search all = {.space = s->space, .o = s->o, .points = count};
    int status = pythia__search_set_prices(&all);
    p->price = all.price;
    p->relative = all.relative;
    p->spent_calls = all.spent_calls;
    p->spent_bytes = all.spent_bytes;
    return status;
}

/* The same for `count` trace points: those of the skeleton are open. `pinned`: what is kept open is
 * what pins say now, else also what it was. What was opened for types is added by switch_types. */
static int fill_point_arrays(const struct pythia_search *s, uint32_t count, bool pinned,
                             struct points *p)
{
    p->skeleton = pythia_space_skeleton(s->space);
    p->base = pythia_space_skeleton(s->space);
    p->open = pythia_calloc(count, sizeof(*p->open));
    p->never = pythia_calloc(count, sizeof(*p->never));
    p->open_for = pythia_calloc(count, sizeof(*p->open_for));
    p->wide = pythia_calloc(count, sizeof(*p->wide));
    p->part = pythia_calloc(count, sizeof(*p->part));
    p->calls = pythia_calloc((size_t)count * 2, sizeof(*p->calls));
    if (!p->skeleton || !p->base || !p->open || !p->never || !p->open_for || !p->wide || !p->part ||
        !p->calls)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < count; point++) {
        bool known = point < s->points;
        bool fixed = s->o.fixed && pythia_open_points_has(s->o.fixed, point);
        p->never[point] = !fixed && s->o.never && pythia_open_points_has(s->o.never, point);
        bool always = fixed || (s->o.always && !p->never[point] &&
                                pythia_open_points_has(s->o.always, point));
        /* New pins may release what old pins kept open; new points must not close anything. */
        bool kept = known && !pinned && s->skeleton[point];
        p->skeleton[point] = p->skeleton[point] || always || kept;
        p->open[point] = p->skeleton[point];
        p->wide[point] = known && s->wide[point];
        p->part[point] = known ? s->part[point] : 1;
    }
    return fill_prices(s, count, p);
}

/* ---- what is open for types ---- */

/* By trace point: one that a pin kept open, and that is the search's from now on. */
static bool is_released(const struct pythia_search *s, const struct points *p, uint32_t point)
{
    return point < s->points && s->skeleton[point] && !p->skeleton[point] && !p->never[point];
}

/* Make room for `count` trace points in what was opened for each type; and, if pins are released,
 * for what becomes open by that: all types that have such a point. */
static int prepare_types(struct pythia_search *s, uint32_t count, const struct points *p)
{
    size_t types;
    const struct pythia_space_type *known = pythia_space_types(s->space, &types);
    /* A released point becomes open for each type by itself, so that the search can close it type
     * by type. */
    bool released = false;
    for (uint32_t point = 0; point < s->points && !released; point++)
        released = is_released(s, p, point);
    for (size_t i = 0; released && i < types; i++)
        if (pythia__search_meet_type(s, known[i].name) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    for (size_t i = 0; i < s->type_count; i++) {
        struct pythia__search_type *t = &s->types[i];
        if (!t->open && !released)
            continue;
        bool *longer = pythia_realloc(t->open, count, sizeof(*longer));
        if (!longer)
            return PYTHIA_ENOMEM;
        uint32_t from = t->open ? s->points : 0;
        memset(longer + from, 0, (count - from) * sizeof(*longer));
        t->open = longer;
    }
    return PYTHIA_OK;
}

/* What is open for a type from now on. What a pin keeps open, or never open, is not the search's.
 * What it kept open for some types (`limits` of the pins before; may be NULL) stays open for
 * these. */
static void switch_type(const struct pythia_search *s, struct pythia__search_type *t,
                        struct pythia_open_points *limits, struct points *p)
{
    for (uint32_t point = 0; t->open && point < s->points; point++)
        t->open[point] = t->open[point] && !p->skeleton[point] && !p->never[point];
    for (size_t i = 0; t->open && i < t->rate_count; i++) {
        uint32_t point = t->rates[i].tracepoint;
        if (is_released(s, p, point) &&
            !(limits && pythia_open_points_excludes(limits, point, t->name)))
            t->open[point] = true;
    }
    for (uint32_t point = 0; t->open && point < s->points; point++) {
        p->open_for[point] += t->open[point];
        p->open[point] = p->open[point] || t->open[point];
    }
}

static void switch_types(struct pythia_search *s, struct pythia_open_points *limits,
                         struct points *p)
{
    for (size_t i = 0; i < s->type_count; i++)
        switch_type(s, &s->types[i], limits, p);
}

static int lengthen_retired(struct pythia_search *s, uint32_t count)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        struct pythia__search_keeping *k = &s->keeping[i];
        if (!k->retired)
            continue;
        uint64_t *longer = pythia_realloc(k->retired, count, sizeof(*longer));
        if (!longer)
            return PYTHIA_ENOMEM;
        memset(longer + s->points, 0, (count - s->points) * sizeof(*longer));
        k->retired = longer;
    }
    return PYTHIA_OK;
}

/* Let `p` take the place of what is kept. */
static void replace_point_arrays(struct pythia_search *s, uint32_t count, const struct points *p)
{
    free_point_arrays(&(struct points){.open = s->open,
                                       .skeleton = s->skeleton,
                                       .base = s->base,
                                       .never = s->never,
                                       .wide = s->wide,
                                       .part = s->part,
                                       .calls = s->calls,
                                       .price = s->price,
                                       .relative = s->relative,
                                       .spent_calls = s->spent_calls,
                                       .spent_bytes = s->spent_bytes,
                                       .open_for = s->open_for});
    s->open = p->open;
    s->skeleton = p->skeleton;
    s->base = p->base;
    s->never = p->never;
    s->calls = p->calls;
    s->price = p->price;
    s->relative = p->relative;
    s->spent_calls = p->spent_calls;
    s->spent_bytes = p->spent_bytes;
    s->open_for = p->open_for;
    s->wide = p->wide;
    s->part = p->part;
    pythia_free(s->instances); /* asked again in the next cycle */
    s->instances = NULL;
    /* Everything below reads the new arrays. */
    s->points = count;
    s->o.budget.points_per_cycle = s->per_cycle < count ? s->per_cycle : count;
    pythia__search_count_calls(s);
    for (uint32_t point = 0; point < count; point++)
        if (s->open_for[point] > 0)
            pythia__search_settle(s, point);
}

/* Make the arrays for new pins, or for new points, beside those in use: nothing is changed before
 * all memory is there. On failure `made` has been freed. */
static int stage_points(struct pythia_search *s, uint32_t count, bool pins, struct points *made)
{
    int status = fill_point_arrays(s, count, pins, made);
    if (status != PYTHIA_OK)
        goto out;
    status = lengthen_retired(s, count);
    if (status != PYTHIA_OK)
        goto out;
    status = prepare_types(s, count, made);
    if (status != PYTHIA_OK)
        goto out;
    return PYTHIA_OK;
out:
    free_point_arrays(made);
    return status;
}

int pythia_search_set_pins(struct pythia_search *s, struct pythia_open_points *always,
                           struct pythia_open_points *never, struct pythia_open_points *fixed,
                           bool *switched)
{
    uint32_t count = pythia_vocabulary_tracepoints(pythia_space_vocabulary(s->space));
    struct points pinned = {0};
    struct pythia_open_points *const before[] = {s->o.always, s->o.never, s->o.fixed};
    s->o.always = always;
    s->o.never = never;
    s->o.fixed = fixed;
    int status = stage_points(s, count, true, &pinned);
    if (status != PYTHIA_OK) {
        s->o.always = before[0];
        s->o.never = before[1];
        s->o.fixed = before[2];
        return status;
    }
    switch_types(s, before[0], &pinned);
    *switched = false;
    for (uint32_t point = 0; point < s->points; point++) { /* also what was open for some types */
        bool widened = s->open[point] && !s->skeleton[point] && pinned.skeleton[point];
        *switched = *switched || widened || s->open[point] != pinned.open[point];
    }
    for (uint32_t point = s->points; point < count; point++) /* that have turned up since */
        *switched = *switched || pinned.open[point];
    replace_point_arrays(s, count, &pinned);
    return PYTHIA_OK;
}

/* ---- contexts that are new ---- */

/* What was believed of a tree says nothing of contexts that it lacked: the next cycle begins with
 * the belief before any evidence. A search that has ended begins again, because the cause may lie
 * in one of them. */
static void begin_again(struct pythia_search *s, size_t problem)
{
    struct pythia_problem *p = &s->problems[problem];
    struct pythia__search_keeping *k = &s->keeping[problem];
    pythia__belief_free(&k->belief);
    k->grown = true;
    k->spread = false;
    k->looked = p->cycles;
    k->idle = k->unanswered = 0;
    p->retries = p->retry_in = 0;
    if (p->state == PYTHIA_PROBLEM_DONE || p->state == PYTHIA_PROBLEM_GIVEN_UP)
        p->state = PYTHIA_PROBLEM_SEARCHING;
}

/* The types of the space may have moved in memory, and the trees of some may have grown. */
static void renew_beliefs(struct pythia_search *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        struct pythia__belief *b = &s->keeping[i].belief;
        if (b->nodes == 0)
            continue;
        b->type = pythia_space_type(s->space, s->problems[i].unsplit);
        if (b->nodes != pythia_cct_nodes(b->type->cct))
            begin_again(s, i);
    }
}

/* How often requests of a type hit a point, also of the contexts that are new. */
static int renew_rates(struct pythia_search *s)
{
    for (size_t i = 0; i < s->type_count; i++) {
        struct pythia__search_type *t = &s->types[i], found = {.name = t->name};
        const struct pythia_space_type *of = pythia_space_type(s->space, t->name);
        if (!of || t->nodes == pythia_cct_nodes(of->cct))
            continue;
        int status = pythia__search_find_rates(s, of, &found);
        if (status != PYTHIA_OK)
            return status;
        pythia_free(t->rates);
        t->rates = found.rates;
        t->rate_count = found.rate_count;
        t->nodes = pythia_cct_nodes(of->cct);
    }
    return PYTHIA_OK;
}

int pythia_search_grow(struct pythia_search *s)
{
    uint32_t count = pythia_vocabulary_tracepoints(pythia_space_vocabulary(s->space));
    struct points grown = {0};
    renew_beliefs(s);
    int status = renew_rates(s);
    if (status != PYTHIA_OK)
        return status;
    status = stage_points(s, count, false, &grown);
    if (status != PYTHIA_OK)
        return status;
    switch_types(s, NULL, &grown);
    replace_point_arrays(s, count, &grown);
    return PYTHIA_OK;
}
