/* The story of a search, cycle by cycle. */
#ifndef PYTHIA_CORE_LOOP_H
#define PYTHIA_CORE_LOOP_H

#include "pythia/closed_loop.h"

/* Keep what came of a cycle in `c`, which is one of the loop's, and how problems stand now in the
 * loop. `unknown`: types of which the search never sees a request, because the space does not even
 * know where they begin; they come behind those that it told of. `unix_ns`: when the cycle ended;
 * 0: not known. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__loop_keep(struct pythia_loop *l, struct pythia_loop_cycle *c,
                      const struct pythia_cycle *found, const struct pythia_groups *groups,
                      const struct pythia_problem *unknown, size_t unknown_count, uint64_t unix_ns);

#endif
