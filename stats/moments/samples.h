#ifndef PYTHIA_STATS_SAMPLES_H
#define PYTHIA_STATS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Shared by the tests of several groups. group[i] < groups is the group of x[i]; empty groups do
 * not count. Each returns PYTHIA_OK, or PYTHIA_ENOMEM with *out untouched. */

/* The split of the sum of squares, by each group's moments. */
struct pythia__samples_squares {
    double between, within;
    size_t groups; /* that are not empty */
};
int pythia__samples_squares(const double *x, const uint32_t *group, size_t n, size_t groups,
                            struct pythia__samples_squares *out);

/* out[i] = |x[i] - median of its group|. */
int pythia__samples_deviations(const double *x, const uint32_t *group, size_t n, size_t groups,
                               double *out);

#endif
