#ifndef PYTHIA_OWN_TIME_H
#define PYTHIA_OWN_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/rank.h"
#include "pythia/shares.h"

/* The own time of a trace point is what its spans take beside the spans below them: all segments of
 * the critical path whose innermost span is one of that trace point, before the first child,
 * between two, and after the last one. A cause in the code of one call may be spread over all of
 * them, and then no single edge stands out. So own times compete with single edges, by the same
 * covariance share of clipped times (shares.h): the sum of the shares of the segments.
 *
 * The narrowest place that holds most of a share is named: where one segment has more than half of
 * the share of its trace point's own time, that edge is named and the own time does not compete.
 */
struct pythia_own_time {
    uint32_t tracepoint; /* PYTHIA_NONE: no own time has a larger share than every single edge */
    size_t segments;     /* edges that it is made of */
    double mean_ns;      /* in a request, over all; NaN of a brief ranking */
    struct pythia_slope share;
    bool localised; /* by pythia_own_time_localise; else false */
};

/* The trace point whose own time has the largest share, if that is more than the largest share of a
 * single edge. Edges of r with except[e] (NULL: none) do not count, nor do the own times that they
 * are in. `level` is that of the interval. Of equal shares the first by order of r->edges wins.
 * PYTHIA_OK with *out filled, or PYTHIA_ENOMEM. O(edges log edges), and O(rows * edges) where there
 * is such a trace point. */
int pythia_own_time_find(const struct pythia_ranking *r, const struct pythia_cct *cct,
                         const bool *except, double level, struct pythia_own_time *out);

/* The own time of one trace point; `segments` is 0, and the share NaN, if no edge of r is in it.
 * PYTHIA_OK with *out filled, or PYTHIA_ENOMEM. O(rows * edges). */
int pythia_own_time_measure(const struct pythia_ranking *r, const struct pythia_cct *cct,
                            uint32_t tracepoint, double level, struct pythia_own_time *out);

/* Does this own time stand out from all other edges beyond chance? It is asked by the rule for
 * single edges (pythia_gate_localise), with the segments put together. Sets t->localised. PYTHIA_OK
 * or PYTHIA_ENOMEM. O(rows * edges) of time and memory. */
int pythia_own_time_localise(const struct pythia_ranking *r, const struct pythia_cct *cct,
                             double level, struct pythia_own_time *t);

#endif
