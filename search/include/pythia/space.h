#ifndef PYTHIA_SPACE_H
#define PYTHIA_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/critical_path.h"
#include "pythia/open_points.h"
#include "pythia/path_templates.h"
#include "pythia/trace.h"

/* The search space: which trace points there are, in which calling contexts, and what follows what
 * on critical paths. Built from fully instrumented traces, with everything open; then it says what
 * a closed trace point would show. One calling context tree for each request type; linear in the
 * number of contexts, whatever forks and joins there are, because no path is listed: only which
 * event follows which. */
struct pythia_space;

/* The known facts of a node of a type's tree. */
struct pythia_space_node {
    uint64_t calls;    /* spans, on critical paths or not */
    uint64_t requests; /* that have at least one */
    uint64_t visits;   /* on critical paths */
    uint64_t time_ns;  /* on critical paths, what is below included */
    uint64_t bytes;    /* of all spans (span_bytes.h); 0: not known, an older file has none */
    uint64_t outlived; /* spans whose end, after that of their parent, was the end of all that the
                          parent began */
    bool root, entry;  /* ever without a parent; ever called by another service */
};

/* Does it go on after its parent? In at least one of twenty of its spans: one that was late once,
 * because a processor was busy, does not make a trace point that has to stay open for ever. */
static inline bool pythia_space_node_outlives(const struct pythia_space_node *n)
{
    return n->outlived > 0 && n->outlived >= n->calls / 20;
}

/* The known facts of an edge of a type's tree. */
struct pythia_space_edge {
    uint64_t visits, time_ns;
};

struct pythia_space_type {
    uint32_t name; /* number of a string */
    uint64_t requests;
    struct pythia_cct *cct;
    struct pythia_space_node *nodes; /* [pythia_cct_nodes] */
    struct pythia_space_edge *edges; /* [pythia_cct_edges] */
    /* for space.c */
    size_t node_capacity, edge_capacity;
    uint64_t *last_request; /* by node: the last request that had it, + 1 */
    size_t last_capacity;
};

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_space_create(struct pythia_vocabulary *vocabulary, struct pythia_space **out);
void pythia_space_destroy(struct pythia_space *s); /* s may be NULL */

/* Make it empty again. */
void pythia_space_clear(struct pythia_space *s);
struct pythia_vocabulary *pythia_space_vocabulary(const struct pythia_space *s);

/* Add a request of the type that a string's number names. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia_space_add(struct pythia_space *s, uint32_t type, const struct pythia_trace *trace,
                     const struct pythia_critical_path *path);

/* The type of that name, made if it is new: for whoever fills a space from a file; NULL when out of
 * memory. The counts behind it grow by the two functions below. */
struct pythia_space_type *pythia_space_type_make(struct pythia_space *s, uint32_t name);
struct pythia_space_node *pythia_space_node_make(struct pythia_space_type *t, uint32_t parent,
                                                 uint32_t tracepoint, uint32_t *node);
struct pythia_space_edge *pythia_space_edge_make(struct pythia_space_type *t,
                                                 const struct pythia_edge *edge);

/* The bytes of a span of a node in a stream of traces. If that is not known, it is the mean over
 * all nodes of the type whose size is known, and if it is of none, as in a search space from an
 * older file, PYTHIA_SPACE_SPAN_BYTES: a span with ten key-values. O(nodes) for the mean. */
#define PYTHIA_SPACE_SPAN_BYTES 416.
double pythia_space_mean_bytes(const struct pythia_space_type *t);
double pythia_space_node_bytes(const struct pythia_space_node *n, double mean_bytes);

/* The types, in no order, *count of them; or the one of that name, NULL if there is none. Borrowed.
 */
const struct pythia_space_type *pythia_space_types(const struct pythia_space *s, size_t *count);
const struct pythia_space_type *pythia_space_type(const struct pythia_space *s, uint32_t name);

/* Teach which segments of paths are variables by the names of the types, which may have been given
 * by an earlier run. PYTHIA_OK or PYTHIA_ENOMEM. O(types). */
int pythia_space_teach_paths(const struct pythia_space *s, struct pythia_path_templates *to);

/* Take a type out; nothing happens if there is none of that name. */
void pythia_space_remove(struct pythia_space *s, uint32_t name);

/* Move a type from one space to another that has none of that name; both have the same vocabulary.
 * PYTHIA_OK, or PYTHIA_ENOMEM with both as they were. */
int pythia_space_move(struct pythia_space *to, struct pythia_space *from, uint32_t name);

/* Add what another space of the same vocabulary has seen: of each type the contexts of both, with
 * the sums of their counts. PYTHIA_OK, or PYTHIA_ENOMEM with a part of `from` added. O(nodes +
 * edges of `from`). */
int pythia_space_merge(struct pythia_space *to, const struct pythia_space *from);

/* Take in what was seen lately of a type whose program has changed; `to` may lack it, and both have
 * the same vocabulary. Contexts that were seen get the counts that they have now; all others keep
 * theirs, as parts of as many requests, because they may be rare. No count changes if `to` has all
 * contexts already. PYTHIA_OK, or PYTHIA_ENOMEM: then some contexts may be there with counts of 0,
 * and nothing else has changed. O(nodes + edges of both). */
int pythia_space_renew_type(struct pythia_space *to, const struct pythia_space_type *seen);

/* Does a trace point belong to the skeleton: what has to be open for a request's duration to be
 * seen at all? These are roots, entry points of services, and whatever goes on after its parent;
 * not what was a root in few of its spans, of requests that were seen from the middle on.
 * [tracepoints of the vocabulary] flags, owned by the caller (pythia_free); NULL when out of
 * memory. */
bool *pythia_space_skeleton(const struct pythia_space *s);

/* The skeleton as a set of open points, owned by the caller. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_space_skeleton_points(const struct pythia_space *s, struct pythia_open_points **out);

/* The trace points of the space, as flags, in the same way. */
bool *pythia_space_points(const struct pythia_space *s);

#endif
