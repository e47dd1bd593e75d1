#ifndef PYTHIA_TYPE_CHOICE_H
#define PYTHIA_TYPE_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/groups.h"
#include "pythia/verdict.h"

/* The request types that a report looks at closely, where there are more than it can: to diagnose
 * one of 512 requests takes 3 ms, so that a thousand would take seconds (bench_cycle). Types with a
 * verdict that says where their requests differ come first, then those with the most variance; of
 * equals, the one with the smaller hash.
 *
 * On success *names are at most `most` names of types in rising order, for `only` of
 * pythia_diagnose, and owned by the caller (pythia_free); NULL with *count 0 if there are no more
 * types than `most`, so that all are looked at, or if `most` is 0. `v` may be NULL: there are no
 * verdicts. PYTHIA_OK or PYTHIA_ENOMEM. O(types log types). */
int pythia_types_choose(const struct pythia_groups *g, const struct pythia_verdicts *v, size_t most,
                        uint32_t **names, size_t *count);

#endif
