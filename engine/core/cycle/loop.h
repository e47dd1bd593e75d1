/* The log of a search, cycle by cycle. */
#ifndef PYTHIA_CORE_LOOP_H
#define PYTHIA_CORE_LOOP_H

#include "pythia/closed_loop.h"

/* Log the results of a cycle in `c`, which belongs to the loop, and the state of all problems in
 * the loop. `unknown`: types of which the search never sees a request, because the space does not
 * have their roots; they follow the problems of the search. `cycle`: of the verdicts. PYTHIA_OK, or
 * PYTHIA_ENOMEM with a part of the results logged. */
int pythia__loop_log(struct pythia_loop *l, struct pythia_loop_cycle *c,
                     const struct pythia_cycle *found, const struct pythia_groups *groups,
                     const struct pythia_problem *unknown, size_t unknown_count,
                     struct pythia_verdict_cycle cycle);

#endif
