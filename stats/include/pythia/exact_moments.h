#ifndef PYTHIA_EXACT_MOMENTS_H
#define PYTHIA_EXACT_MOMENTS_H

#include <stdint.h>

/* Count, sum and sum of squares of whole numbers (durations in ns), kept without any rounding: the
 * same bits come out whatever the order of adds and merges, so that two machines, or two runs with
 * threads, report the same figures. Public because it is held by the thousand: 72 bytes, {0} is
 * empty. One thread at a time. Values of any size fit, of weights whose sum is below 2^64.
 *
 * A value of a sample stands for `weight` values of the population that it was drawn from (1 where
 * nothing was sampled). Mean and variance estimate those of the population; how certain they are
 * depends on how many values were seen, which `n` says. */
struct pythia_exact_moments {
    uint64_t n;                 /* values that were added */
    uint64_t weight;            /* values that they stand for */
    uint64_t weight_squares[2]; /* sum of the squares of weights, low word first */
    uint64_t sum[2];            /* of weight * value: 128 bits, two's complement, low word first */
    uint64_t squares[3];        /* of weight * value^2: 192 bits, low word first */
};

/* Add one value that stands for `weight` >= 1 of them, in O(1), for a weight of 1 in some ns. */
void pythia_exact_moments_add_weighted(struct pythia_exact_moments *m, int64_t value_ns,
                                       uint64_t weight);

/* Add values of 0 until there are as many, of as much weight, as in `all`, of which the values of
 * `m` are some: what others counted and m did not. O(1). */
void pythia_exact_moments_pad(struct pythia_exact_moments *m,
                              const struct pythia_exact_moments *all);

/* Add what `other` has seen, in O(1). */
void pythia_exact_moments_merge(struct pythia_exact_moments *m,
                                const struct pythia_exact_moments *other);

/* The mean in ns, within 2 ulp of the exact one; NaN while empty. */
double pythia_exact_moments_mean(const struct pythia_exact_moments *m);
/* The unbiased variance in ns^2, within 3 ulp of the exact one: weight * squares - sum^2 is formed
 * in whole numbers of 256 bits and rounded once. Its divisor, weight^2 - weight_squares, is n (n -
 * 1) for weights of 1, and makes equal weights of any size give the variance of the values as they
 * came. NaN below 2 values. */
double pythia_exact_moments_variance(const struct pythia_exact_moments *m);
/* The square root of the variance, in ns; NaN below 2 values. */
double pythia_exact_moments_sd(const struct pythia_exact_moments *m);
/* The coefficient of variation sd / |mean|, no unit; NaN below 2 values or for a mean of 0. */
double pythia_exact_moments_cov(const struct pythia_exact_moments *m);

/* How many values of equal weight tell as much about the mean: weight^2 / weight_squares, at most
 * n, and n if all weights are equal. Tests and thresholds use it. 0 while empty. L. Kish, "Survey
 * Sampling", 1965, section 11.7. */
double pythia_exact_moments_effective(const struct pythia_exact_moments *m);

/* A part of that weight of all values, as a number of values of equal weight: rounded weight *
 * effective / all->weight. It keeps proportions, and is what a test may count. `weight` itself if
 * all weights are 1; 0 while empty. */
uint64_t pythia_exact_moments_count(const struct pythia_exact_moments *all, uint64_t weight);

/* The sum of (value - mean)^2 over all values that these stand for: variance * (weight - 1); 0
 * below 2 values. */
double pythia_exact_moments_squares(const struct pythia_exact_moments *m);

#endif
