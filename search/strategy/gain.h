/* Finds the closed trace points that give most information about the place of the cause. */
#ifndef PYTHIA_SEARCH_GAIN_H
#define PYTHIA_SEARCH_GAIN_H

#include "belief.h"

#define PYTHIA__CALL_PRICE                                                                         \
    .05 /* of a call in a request, against that of opening a point at all   \
                                */

#define PYTHIA__PART_MIN                                                                           \
    .05 /* of what a better point tells, has to tell what is opened beside it */

struct pythia__pick {
    uint32_t tracepoint;
    double bits;    /* of information about the cause, expected */
    double inside;  /* probability that the cause is in the point or below it */
    double calls;   /* of it in a request */
    uint32_t block; /* the region that most of it is in; the belief's region_count: none */
};

/* Choose up to `budget` points, one after the other, each with the most information for its price:
 * `closed` by trace point says which may be opened. A point parts what lies behind an edge into
 * what is in it and what is not; where it is passed once, also into before and after. The price
 * grows with the calls of the point: 1 + `weight` * its own of `prices` * calls in a request, where
 * `prices` by trace point are multiples of the usual price of a call; NULL: all have that. *count
 * of them into `out`. PYTHIA_OK or PYTHIA_ENOMEM. Deterministic: of equals the one with the smaller
 * id. Greedy choice by information is near-optimal (D. Golovin and A. Krause, "Adaptive
 * Submodularity", JAIR 42, 2011). O(budget * (nodes + trace points)). */
int pythia__gain_choose(const struct pythia__belief *b, const bool *closed, double weight,
                        const double *prices, size_t budget, struct pythia__pick *out,
                        size_t *count);

#endif
