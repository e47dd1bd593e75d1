#ifndef PYTHIA_MODES_H
#define PYTHIA_MODES_H

#include <stddef.h>
#include <stdint.h>

/* Where the modes of a sample of durations are, once a test (tail_dip.h) has said that there are
 * several: this counts bumps that stand out, it is no test of its own. */

#define PYTHIA_MODES_MAX 16

struct pythia_modes {
    size_t count; /* modes; 0 without a usable value */
    /* Ascending: between mode i and mode i + 1, in the unit of the durations. */
    double cuts[PYTHIA_MODES_MAX - 1];
    double centers[PYTHIA_MODES_MAX]; /* where the density of the logs peaks, in that unit */
    double weights[PYTHIA_MODES_MAX]; /* the share of the values in each mode; they add up to 1 */
    /* eta squared: the part of the variance of the durations, clipped as shares.h clips, that lies
     * between the modes; 0 for one mode, NaN if all values are equal. */
    double variance_share;
};

/* Find the modes of `n` durations of one unit, in any order. A kernel density of their logs
 * (log_sample.h, with the same `seed`), with 1.4 times the bandwidth of Sheather and Jones, gives
 * the candidates. A mode of less than 2 % of the values, or of fewer than three, joins a neighbour.
 * Then the valleys that may be chance are filled, the shallowest first, until `at_least` modes are
 * left or none may: a valley is real if the values around it are fewer than those around the lower
 * of its two peaks, by a one-sided binomial test at the level 0.01 / valleys, where the two windows
 * have one width and touch half-way. `at_least` is 1 to ask what stands out by itself, and 2 once a
 * test has said that there is more than one mode: then the deepest valley stays, and the bandwidth
 * is halved, up to five times, while it shows no valley at all. Of more than PYTHIA_MODES_MAX modes
 * the shallowest valleys are filled, too. Returns PYTHIA_OK or PYTHIA_ENOMEM, and then *out is
 * untouched. Thread-safe; O(n log n), and the kernel density of at most 8192 points. */
int pythia_modes_find(const double *durations, size_t n, uint64_t seed, size_t at_least,
                      struct pythia_modes *out);

/* The mode that a duration belongs to, from 0. */
size_t pythia_modes_label(const struct pythia_modes *m, double duration);

#endif
