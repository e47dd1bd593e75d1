/* A search whose space has grown, or whose pins and prices are others: what it keeps by trace point
 * is made anew, and what it knows of types stays. */
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

/* What is kept by trace point, for all problems. */
struct points {
    bool *open, *skeleton, *never;
    double *calls, *price, *relative, *bytes;
};

static void free_points(const struct points *p)
{
    void *const owned[] = {p->open,  p->skeleton, p->never, p->calls,
                           p->price, p->relative, p->bytes};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
}

/* Prices are learnt of all points anew; what points add to the stream, in the next cycle. */
static int fill_prices(const struct pythia_search *s, uint32_t count, struct points *p)
{
    struct pythia_search all = {.space = s->space, .o = s->o, .points = count};
    int status = pythia__search_set_prices(&all);
    p->price = all.price;
    p->relative = all.relative;
    p->bytes = all.bytes;
    return status;
}

/* The same for `count` trace points: those of the skeleton are open. `pinned`: what is kept open is
 * what pins say now, else also what it was. */
static int fill(const struct pythia_search *s, uint32_t count, bool pinned, struct points *p)
{
    p->skeleton = pythia_space_skeleton(s->space);
    p->open = pythia_calloc(count, sizeof(*p->open));
    p->never = pythia_calloc(count, sizeof(*p->never));
    p->calls = pythia_calloc((size_t)count * 2, sizeof(*p->calls));
    if (!p->skeleton || !p->open || !p->never || !p->calls)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < count; point++) {
        bool known = point < s->points;
        bool fixed = s->o.fixed && pythia_open_points_has(s->o.fixed, point);
        p->never[point] = !fixed && s->o.never && pythia_open_points_has(s->o.never, point);
        bool always = fixed || (s->o.always && !p->never[point] &&
                                pythia_open_points_has(s->o.always, point));
        bool kept = known && !pinned && s->skeleton[point];
        bool open = known && s->open[point] && !(pinned && p->never[point]);
        p->skeleton[point] = p->skeleton[point] || always || kept;
        p->open[point] = p->skeleton[point] || open;
    }
    return fill_prices(s, count, p);
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
static void replace(struct pythia_search *s, uint32_t count, const struct points *p)
{
    free_points(&(struct points){s->open, s->skeleton, s->never, s->calls, s->price, s->relative,
                                 s->bytes});
    s->open = p->open;
    s->skeleton = p->skeleton;
    s->never = p->never;
    s->calls = p->calls;
    s->price = p->price;
    s->relative = p->relative;
    s->bytes = p->bytes;
    s->points = count;
    s->o.budget.points_per_cycle = s->per_cycle < count ? s->per_cycle : count;
    pythia__search_count_calls(s);
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
    int status = fill(s, count, true, &pinned);
    if (status == PYTHIA_OK)
        status = lengthen_retired(s, count);
    if (status != PYTHIA_OK) {
        s->o.always = before[0];
        s->o.never = before[1];
        s->o.fixed = before[2];
        free_points(&pinned);
        return status;
    }
    *switched = memcmp(s->open, pinned.open, s->points * sizeof(*s->open)) != 0;
    for (uint32_t point = s->points; point < count; point++) /* that have turned up since */
        *switched = *switched || pinned.open[point];
    replace(s, count, &pinned);
    return PYTHIA_OK;
}

int pythia_search_grow(struct pythia_search *s)
{
    uint32_t count = pythia_vocabulary_tracepoints(pythia_space_vocabulary(s->space));
    struct points grown = {0};
    for (size_t i = 0; i < s->problem_count; i++)
        if (s->keeping[i].belief.nodes) /* types may have moved */
            s->keeping[i].belief.type = pythia_space_type(s->space, s->problems[i].unsplit);
    int status = fill(s, count, false, &grown);
    if (status == PYTHIA_OK)
        status = lengthen_retired(s, count);
    if (status == PYTHIA_OK)
        replace(s, count, &grown);
    else
        free_points(&grown);
    return status;
}
