/* The search space as the control interface shows it: which trace points there are, and in which
 * calling contexts. */
#ifndef PYTHIA_PYTHIAD_CONTEXTS_H
#define PYTHIA_PYTHIAD_CONTEXTS_H

#include <jansson.h>

#include "pythia/space.h"

/* Each request type with its "request_type", how many "requests" it was learnt from, and how many
 * "contexts" it has; in order of name. Owned by the caller; NULL when out of memory. */
json_t *pythia__context_types(const struct pythia_space *space);

/* The calling context tree of a type: "request_type", "requests" and "contexts", each with its
 * "trace_point", its "parent" (the index of a context that stands before it; null: none), and the
 * "calls", "requests" and "time_ns" that it was seen with. Owned by the caller; NULL when out of
 * memory. O(contexts log contexts). */
json_t *pythia__context_tree(const struct pythia_space_type *type,
                             const struct pythia_vocabulary *vocabulary);

#endif
