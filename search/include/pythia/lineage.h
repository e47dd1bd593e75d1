#ifndef PYTHIA_LINEAGE_H
#define PYTHIA_LINEAGE_H

#include <stdint.h>

#include "pythia/critical_path.h"
#include "pythia/open_points.h"
#include "pythia/shape.h"
#include "pythia/trace.h"

/* The identity of a group while trace points open and close. A group's id names a request type and
 * a structure of its critical paths, so it changes when a point inside of these is opened: A -> C
 * becomes A -> B -> C. But what the skeleton of the search space would show of a request, if
 * nothing else were open, is always the same, whatever runs beside whatever. So the groups of the
 * skeleton are where groups come from: a tree, with the request type at its root and a level of
 * structure a step; the groups that are seen with more points open are its leaves.
 *
 *   GET /orders                         request type
 *   └─ api, db                          what the skeleton shows of the path (its lineage)
 *      ├─ api, cache, db                what is seen with cache open: two groups,
 *      └─ api, db                       which are one group refined */
struct pythia_lineage {
    uint32_t count; /* 0: not known */
    /* The groups of the skeleton that a request belongs to, or all requests of a group: from the
     * request type down. */
    uint64_t ids[PYTHIA_SHAPE_LEVELS];
};

/* The id of a group: the same on every machine, as both names are hashes of strings. Level 0 is the
 * request type itself, which has no further name (0). */
uint64_t pythia_lineage_id(uint64_t type_hash, uint32_t level, uint64_t name);

/* The last one: where a group that has more points open comes from. 0: not known. */
uint64_t pythia_lineage_parent(const struct pythia_lineage *l);

/* Leave of *l what `other` shares; an unknown one becomes the other. */
void pythia_lineage_meet(struct pythia_lineage *l, const struct pythia_lineage *other);

/* Finds lineages, with memory that it reuses. One thread at a time. */
struct pythia_lineages;

/* `vocabulary` and `skeleton` are borrowed; `fold` as in groups. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_lineages_create(const struct pythia_vocabulary *vocabulary,
                           struct pythia_open_points *skeleton, enum pythia_latency latency,
                           bool fold, struct pythia_lineages **out);
void pythia_lineages_destroy(struct pythia_lineages *l); /* l may be NULL */

/* The lineage of a request, whose critical path as it is seen is `path`, of the type that a string
 * with this hash names. A request of which the skeleton shows nothing has only its type. PYTHIA_OK
 * or PYTHIA_ENOMEM. O(spans log spans), and O(events * levels) for a path of the skeleton not seen
 * for a while. */
int pythia_lineages_find(struct pythia_lineages *l, const struct pythia_trace *trace,
                         const struct pythia_critical_path *path, uint64_t type_hash,
                         struct pythia_lineage *out);

#endif
