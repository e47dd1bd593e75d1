/* Code shared by the strategies: they visit the edges that vary and the region behind each while
 * trace points are closed, and offer candidates with an order, of which the best are suggested. */
#ifndef PYTHIA_SEARCH_STRATEGY_PARTS_H
#define PYTHIA_SEARCH_STRATEGY_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/history.h"
#include "pythia/strategy.h"
#include "space/region.h"

/* A trace point that could be opened, and why. Of two, that with the larger `order` comes first,
 * then the larger `then`, the smaller cost, the smaller `off`, the smaller name. */
struct pythia__candidate {
    uint32_t tracepoint;
    double part; /* of the edge's share that it is expected to show; NaN: it marks the edge */
    double order, then, off;
    size_t number, of; /* for the reason: its place among so many */
    /* filled in by _offer */
    size_t group;
    const struct pythia_ranked_edge *ranked;
    double gain, cost_ns;
};

/* A trace point, by number. */
struct pythia__point {
    bool pinned;    /* it is not to be suggested */
    size_t found;   /* index + 1 of its candidate */
    uint64_t calls; /* in all contexts of the request type at hand */
    /* in the current region */
    bool here, direct; /* a span begins there, and it is not pinned; and not inside another such one
                          of the region */
    bool passed;       /* on the most frequent order, when that is gone through */
    uint64_t time_ns, direct_ns; /* of all its contexts, and of the direct ones */
};

struct pythia__parts {
    const struct pythia_evidence *e;
    const struct pythia_vocabulary *vocabulary;
    size_t budget;
    struct pythia__candidate *found;
    size_t count, capacity;
    struct pythia__point *points; /* by trace point */
    /* the current edge, and what lies behind it */
    size_t group;
    const struct pythia_ranked_edge *ranked;
    struct pythia__region_map map;
    double requests;  /* of the type in the space, at least 1 */
    double region_ns; /* over all of them */
    uint32_t *here;   /* trace points that are `here`, in no order */
    size_t here_count, here_capacity;
};

struct pythia__strategy_row {
    /* Offer candidates for the current edge. PYTHIA_OK or PYTHIA_ENOMEM. */
    int (*look)(struct pythia__parts *p);
    /* Say the second half of a candidate's reason: "84 % of the time there …". */
    void (*reason)(const struct pythia__parts *p, const struct pythia__candidate *c,
                   struct pythia_buf *to);
    bool in_turn; /* edges are looked at only until the budget is used up */
};

/* Suggest for a strategy that is a row: for each edge that varies, the one with the largest share
 * of the variance of all requests first, find the region behind it and let `row` look at it.
 * When everything was open, the points that bound these edges are the candidates, whatever the
 * strategy: the evidence then says which points a system that keeps the others closed should
 * open. */
int pythia__parts_suggest(const struct pythia__strategy_row *row,
                          const struct pythia_evidence *evidence, size_t budget,
                          struct pythia_suggestion *out, size_t *count);

/* Take a candidate for the current edge, unless the same point is there with a better order. */
int pythia__parts_offer(struct pythia__parts *p, const struct pythia__candidate *candidate);

/* The part of the region's time that lies in a point, 0 to 1: one of its contexts may be below
 * another one, so it is cut there. */
double pythia__parts_part(const struct pythia__parts *p, uint32_t tracepoint);

/* The share of the current edge in the variance of all requests. */
double pythia__parts_worth(const struct pythia__parts *p, double part);

/* Offer the direct points, their worth as `then`; of what is worth and costs the same, that in the
 * middle of them first, in profile order. */
int pythia__parts_offer_direct(struct pythia__parts *p);

/* "84 % of the time there was spent in B when it was open" */
void pythia__parts_time_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                               struct pythia_buf *to);
void pythia__parts_name(const struct pythia__parts *p, uint32_t tracepoint, struct pythia_buf *to);

/* The history of the point; zeros when there is no history. */
struct pythia_history_record pythia__parts_record(const struct pythia__parts *p,
                                                  uint32_t tracepoint);

/* The seed of what a trace point draws in this cycle: the same whatever its number is. */
uint64_t pythia__parts_seed(const struct pythia__parts *p, uint32_t tracepoint);

#endif
