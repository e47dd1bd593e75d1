#ifndef PYTHIA_RUN_CALLPATHS_H
#define PYTHIA_RUN_CALLPATHS_H

#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/profile.h"
#include "pythia/run.h"

/* The rows of a profile by callpath as a run stores them, sorted by path, in memory of `memory`.
 * PYTHIA_OK or PYTHIA_ENOMEM. O(rows log rows). */
int pythia_run_callpaths_make(const struct pythia_profile *profile, struct pythia_arena *memory,
                              const struct pythia_run_callpath **paths, size_t *count);

/* Append the callpath of a node as folded stacks have it: "a;b;c", with a comma for each ";" or new
 * line in a name. */
void pythia_run_callpath_add(const struct pythia_cct *cct, uint32_t node, struct pythia_buf *to);

#endif
