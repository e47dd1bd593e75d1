/* When a search goes down a layer. Points of a lower layer are many, are hit often, and say how
 * time passed but not for what: which of them matter depends on the node of the higher layer that
 * they work for. So the points of a layer are opened once such a node holds the variance:
 *
 *     request            a node holds what is believed of itself and of the
 *     |- parse     .05   nodes of lower layers below it, with no node of its
 *     `- commit    .30   own or of a higher layer between: commit holds .90,
 *        |- block  .45   so the search goes down to block and lock. As long
 *        `- lock   .15   as commit is closed, it is opened first.
 *
 * The nearest node of a higher layer is the host of a node. A library's host is the application's
 * node that calls it, and the kernel's host may be the library's. */
#ifndef PYTHIA_SEARCH_DESCENT_H
#define PYTHIA_SEARCH_DESCENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/layers.h"
#include "pythia/space.h"

/* The probability with which a node has to hold the cause for the points below it to be opened:
 * more than of any other node. With .25 the search goes down where three nodes share the cause
 * (tests/search/test_search_layers.c); with .75 all its results are the same. */
#define PYTHIA__HOLDS .5

/* By trace point. */
struct pythia__descent {
    double *held;     /* the probability that a host of it holds the cause, the most of all of its
                         nodes; 0 while that host is closed and may be opened. 1: a node of it has
                         no host */
    uint32_t *holder; /* the trace point of that host; PYTHIA_NONE: it has none */
};

/* `mass`, by node of the type: the probability that the cause is in the node itself. `open` and
 * `never`, by trace point: what is open, and what may not be opened. PYTHIA_OK with *out to be
 * freed, or PYTHIA_ENOMEM. O(nodes + trace points). */
int pythia__descent_find(const struct pythia_space_type *type, const double *mass, const bool *open,
                         const bool *never, struct pythia_layers *layers,
                         struct pythia__descent *out);
void pythia__descent_free(struct pythia__descent *d);

/* May a search open a point of the layer `down` or above, or one whose host holds the cause? */
static inline bool pythia__descent_reaches(const struct pythia__descent *d,
                                           struct pythia_layers *layers, enum pythia_layer down,
                                           uint32_t point)
{
    return pythia_layers_of(layers, point) <= down || d->held[point] >= PYTHIA__HOLDS;
}

#endif
