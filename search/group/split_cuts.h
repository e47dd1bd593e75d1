/* Finds cut points for a key of sampled requests, for a split to propose and for one to learn. */
#ifndef PYTHIA_SPLIT_CUTS_H
#define PYTHIA_SPLIT_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/modes.h"

#define PYTHIA__SPLIT_CLIPPED .005 /* of the durations at either end, as shares.h clips */

/* Of `n` requests, which all have at least one value: values[i] is NaN for a request without one.
 * Where cuts are asked for there is room for PYTHIA_MODES_MAX - 1. */

/* Make cuts that lie between two values numbers that are easily read and part the same values. */
void pythia__split_tidy(const double *values, size_t n, double *cuts, size_t count);

/* The cuts that go with the modes of the durations, tidied; *count is 0 if there is one mode, or
 * the values do not go with them beyond chance. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__split_by_modes(const double *values, const double *durations, size_t n,
                           const struct pythia_modes *modes, double *cuts, size_t *count);

#endif
