#ifndef PYTHIA_SILVERMAN_H
#define PYTHIA_SILVERMAN_H

#include <stddef.h>
#include <stdint.h>

/* A second opinion on one mode: is the bandwidth that smooths a sample to one mode larger than
 * chance makes it? B. W. Silverman, "Using Kernel Density Estimates to Investigate Multimodality",
 * Journal of the Royal Statistical Society B 43(1), 1981. More powerful than the dip below some 200
 * values, at a thousand times its cost, and anti-conservative on power-law tails: never to be used
 * alone. */

struct pythia_silverman {
    double bandwidth; /* the critical one, in the unit of the values: with any smaller one there are
                       * two modes */
    double p; /* (1 + bootstrap samples with more than one mode at it) / (1 + repetitions) */
};

/* Test `n` finite values in ascending order against one mode, with `repetitions` > 0 smoothed
 * bootstrap samples of the same variance, drawn from `seed`. Give it logs, where durations are
 * concerned (log_sample.h). For fewer than 4 values, or when all are equal, both results are NaN.
 * Densities are taken at 512 points, so a critical bandwidth is never less than 1/128 of the range.
 * Returns PYTHIA_OK or PYTHIA_ENOMEM, and then *out is untouched. Thread-safe; O(repetitions * (n +
 * 512 min(n, 512))). */
int pythia_silverman_test(const double *sorted, size_t n, size_t repetitions, uint64_t seed,
                          struct pythia_silverman *out);

#endif
