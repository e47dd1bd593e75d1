#ifndef PYTHIA_RUN_CALLPATHS_H
#define PYTHIA_RUN_CALLPATHS_H

#include "pythia/arena.h"
#include "pythia/profile.h"
#include "pythia/run.h"

/* The rows of a profile by callpath as a run stores them, sorted by path, in memory of `memory`.
 * PYTHIA_OK or PYTHIA_ENOMEM. O(rows log rows). */
int pythia_run_callpaths_make(const struct pythia_profile *profile, struct pythia_arena *memory,
                              const struct pythia_run_callpath **paths, size_t *count);

#endif
