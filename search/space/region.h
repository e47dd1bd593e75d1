/* The region after an edge while some trace points are closed: the part of the search space that
 * the edge stands for. */
#ifndef PYTHIA_SEARCH_REGION_H
#define PYTHIA_SEARCH_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/open_points.h"
#include "pythia/space.h"

/* The graph of events of one request type in the search space, seen through the open points: event
 * number 2 * node is the start of a span there, 2 * node + 1 its end; edges of the space lead from
 * event to event. */
struct pythia__region_map {
    const struct pythia_space_type *type;
    const struct pythia_cct *seen; /* the tree of what was seen, with closed points hidden */
    uint32_t *masked; /* by node: the node of `seen` that it is inside of, or PYTHIA_NONE if that
                         was not seen */
    bool *open;       /* by node */
    uint32_t *first, *next;       /* edges by the event they leave: index + 1 lists */
    uint32_t *first_in, *next_in; /* and by the event they lead to */
    uint32_t *from, *to;          /* by edge */
    bool *forth, *back;           /* by event: reached from the start, and leads to the end */
    uint64_t *inside; /* by node: time on the region's edges in it and in the nodes below it */
    uint32_t *queue;
};

/* A point that is open only for other types counts as closed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__region_map_create(const struct pythia_space_type *type, const struct pythia_cct *seen,
                              struct pythia_open_points *open, struct pythia__region_map *out);
void pythia__region_map_free(struct pythia__region_map *m);

/* Mark in m->forth and m->back the events that may happen between the two events of an edge of
 * `seen`, without any open point's event between them; m->inside is the time there. O(nodes and
 * edges of the space). */
void pythia__region_find(struct pythia__region_map *m, const struct pythia_edge *edge);

/* After _find: does a span of this closed node begin inside the region? And how much time, on
 * critical paths, do the region's edges hold, in a node and below it, or (PYTHIA_CCT_ROOT) in all?
 * An edge that is in several regions is in each with all its time: the space does not say which
 * visit was where. */
bool pythia__region_has(const struct pythia__region_map *m, uint32_t node);
uint64_t pythia__region_time(const struct pythia__region_map *m, uint32_t node);

/* After _find: the closed nodes whose spans begin inside the region, in the order in which they
 * most often follow each other between its two events; what lies on other ways is left out. *nodes
 * is owned by the caller (pythia_free). PYTHIA_OK, or PYTHIA_ENOMEM with *nodes untouched. O(nodes
 * + edges * log edges) of the space. */
int pythia__region_order(const struct pythia__region_map *m, uint32_t **nodes, size_t *count);

#endif
