#ifndef PYTHIA_SHAPE_H
#define PYTHIA_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/critical_path.h"

#define PYTHIA_SHAPE_LEVELS 16 /* structure is told apart down to so many levels of depth */

/* Critical paths with the same events in the same order have one shape. What is worked out of it
 * once serves every request that takes it: to which edge each gap belongs, how often each trace
 * point was passed, and the names of its structure, seen less and less coarsely.
 *
 * Level 0 is the request type alone; level d adds the spans on the path down to depth d, with loops
 * folded: of what repeats itself one after the other, alone or in groups of up to 8, one is kept.
 * The names are hashes of strings. */
struct pythia_shape {
    uint64_t hash;                   /* of the events; of numbers, so it means nothing elsewhere */
    uint32_t gap_count, edge_count;  /* events - 1; different edges among them */
    uint32_t *slots;                 /* gap i belongs to edges[slots[i]] */
    uint32_t *edges, *repeats;       /* numbers of the tree; how often each stands in the path */
    uint32_t point_count;            /* different trace points on the path */
    uint32_t *points, *point_counts; /* and how many of their spans */
    uint32_t level_count;
    uint64_t levels[PYTHIA_SHAPE_LEVELS]; /* levels[0]: of the type; the last one is all there is to
                                             tell apart */
};

/* Hash the events of a path, for finding its shape. O(events). */
uint64_t pythia_shape_hash(const struct pythia_critical_path *path);

/* Makes shapes, with memory that it reuses; one thread at a time. */
struct pythia_shape_maker;
int pythia_shape_maker_create(struct pythia_cct *cct, bool fold, struct pythia_shape_maker **out);
void pythia_shape_maker_destroy(struct pythia_shape_maker *m); /* m may be NULL */

/* The shape of a path of a request of the type that `type_hash` names; the path has at least one
 * event. One block of memory: free it with pythia_free. NULL when out of memory. O(events *
 * levels). */
struct pythia_shape *pythia_shape_make(struct pythia_shape_maker *m,
                                       const struct pythia_critical_path *path, uint64_t type_hash);

#endif
