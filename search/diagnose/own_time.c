#include "pythia/own_time.h"

#include <math.h>
#include <string.h>

#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/place.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define MOST .5 /* a segment with more than this part of the own time's share is named instead */

static uint32_t find_owner(const struct pythia_cct *cct, uint32_t edge)
{
    return pythia_cct_tracepoint(cct, pythia_cct_edge_at(cct, edge)->context);
}

/* ---- which trace point ---- */

struct ordering {
    const struct pythia_ranking *ranking;
    const struct pythia_cct *cct;
};

static bool owner_before(const void *context, uint32_t a, uint32_t b)
{
    const struct ordering *o = context;
    return find_owner(o->cct, o->ranking->edges[a].edge) <
           find_owner(o->cct, o->ranking->edges[b].edge);
}

/* The segments of one trace point, as they are added up. */
struct owner {
    uint32_t tracepoint, first; /* first: the place of its first edge in the ranking */
    double share, largest;
    bool excepted;
};

static void take_segment(struct owner *o, double share, bool excepted)
{
    o->excepted = o->excepted || excepted;
    if (isnan(share))
        return;
    o->share += share;
    o->largest = fmax(o->largest, share);
}

/* Own times with a larger share come first, and of equal ones that which comes first by edge: the
 * numbers of trace points differ from process to process. */
static bool owner_outranks(const struct owner *o, const struct owner *best)
{
    bool competes = o->tracepoint != PYTHIA_NONE && !o->excepted && o->largest <= MOST * o->share;
    return competes &&
           (o->share > best->share || (o->share == best->share && o->first < best->first));
}

/* The edges in the order of their trace points are in `order`; within one they are in the order of
 * the ranking, because the sort is stable. */
static uint32_t find_best_owner(const struct ordering *o, const uint32_t *order, const bool *except)
{
    struct owner best = {.tracepoint = PYTHIA_NONE, .first = 0};
    size_t count = o->ranking->edge_count;
    /* To win, the segments of an owner together must beat the best single edge. */
    for (size_t e = 0; e < count; e++)
        if (!(except && except[e]))
            best.share = fmax(best.share, o->ranking->edges[e].share.share);
    for (size_t i = 0; i < count;) {
        struct owner one = {.tracepoint = find_owner(o->cct, o->ranking->edges[order[i]].edge),
                            .first = order[i]};
        for (; i < count && find_owner(o->cct, o->ranking->edges[order[i]].edge) == one.tracepoint;
             i++)
            take_segment(&one, o->ranking->edges[order[i]].share.share, except && except[order[i]]);
        if (owner_outranks(&one, &best))
            best = one;
    }
    return best.tracepoint;
}

int pythia_own_time_find(const struct pythia_ranking *r, const struct pythia_cct *cct,
                         const bool *except, double level, struct pythia_own_time *out)
{
    struct ordering o = {r, cct};
    uint32_t *order = pythia_calloc(2 * r->edge_count, sizeof(*order));
    if (!order)
        return PYTHIA_ENOMEM;
    for (size_t e = 0; e < r->edge_count; e++)
        order[e] = (uint32_t)e;
    pythia_sort_indexes(order, r->edge_count, order + r->edge_count, owner_before, &o);
    uint32_t best = find_best_owner(&o, order, except);
    pythia_free(order);
    if (best != PYTHIA_NONE)
        return pythia_own_time_measure(r, cct, best, level, out);
    *out = (struct pythia_own_time){
        .tracepoint = PYTHIA_NONE, .mean_ns = NAN, .share = {NAN, NAN, NAN, NAN}};
    return PYTHIA_OK;
}

/* ---- its share ---- */

/* Add the clipped times of an edge, counted from the bound below: means may be huge. */
static void add_owner_times(const struct pythia_ranking *r, size_t e, double *sums)
{
    double low = r->edges[e].share.clip_low, high = r->edges[e].share.clip_high;
    const double *times = r->times_ns + e * r->rows;
    for (size_t i = 0; i < r->rows; i++) {
        double most = times[i] > high ? high : times[i];
        sums[i] += (most < low ? low : most) - low;
    }
}

int pythia_own_time_measure(const struct pythia_ranking *r, const struct pythia_cct *cct,
                            uint32_t tracepoint, double level, struct pythia_own_time *out)
{
    double *own = pythia_calloc(r->rows, 2 * sizeof(*own));
    if (!own)
        return PYTHIA_ENOMEM;
    double *total = own + r->rows;
    struct pythia_own_time t = {.tracepoint = tracepoint, .share = {NAN, NAN, NAN, NAN}};
    for (size_t e = 0; e < r->edge_count; e++) {
        add_owner_times(r, e, total);
        if (!pythia_place_own_has(cct, r->edges[e].edge, tracepoint))
            continue;
        add_owner_times(r, e, own);
        t.segments++;
        t.mean_ns += r->edges[e].share.mean;
    }
    /* The share is a slope on the total, as that of an edge, so that both can be compared. */
    if (t.segments > 0)
        pythia_slope_hc3(own, total, r->rows, level, &t.share);
    pythia_free(own);
    *out = t;
    return PYTHIA_OK;
}

/* ---- does it stand out ---- */

int pythia_own_time_localise(const struct pythia_ranking *r, const struct pythia_cct *cct,
                             double level, struct pythia_own_time *t)
{
    size_t n = r->rows, count = 1, top = 0; /* column 0 is the own time */
    double *times = pythia_calloc((r->edge_count + 1) * n, sizeof(*times));
    bool found = false;
    if (!times)
        return PYTHIA_ENOMEM;
    for (size_t e = 0; e < r->edge_count; e++) {
        bool own = pythia_place_own_has(cct, r->edges[e].edge, t->tracepoint);
        double *column = own ? times : times + count++ * n;
        for (size_t i = 0; i < n; i++)
            column[i] += r->times_ns[e * n + i];
    }
    int status = pythia_gate_localise(times, n, count, level, &found, &top);
    pythia_free(times);
    if (status != PYTHIA_OK)
        return status;
    t->localised = found && top == 0;
    return PYTHIA_OK;
}
