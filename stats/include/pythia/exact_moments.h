#ifndef PYTHIA_EXACT_MOMENTS_H
#define PYTHIA_EXACT_MOMENTS_H

#include <stdint.h>

/* Count, sum and sum of squares of whole numbers (durations in ns), kept without any rounding: the
 * same bits come out whatever the order of adds and merges, so that two machines, or two runs with
 * threads, report the same figures. Public because it is held by the thousand: 48 bytes, {0} is
 * empty. One thread at a time. 2^64 - 1 values of any size fit. */
struct pythia_exact_moments {
    uint64_t n;
    uint64_t sum[2];     /* 128 bits, two's complement, low word first */
    uint64_t squares[3]; /* 192 bits, low word first */
};

/* Add one value in O(1), some ns. */
void pythia_exact_moments_add(struct pythia_exact_moments *m, int64_t value_ns);

/* Add what `other` has seen, in O(1). */
void pythia_exact_moments_merge(struct pythia_exact_moments *m,
                                const struct pythia_exact_moments *other);

/* The mean in ns, within 2 ulp of the exact one; NaN while empty. */
double pythia_exact_moments_mean(const struct pythia_exact_moments *m);
/* The unbiased variance (divisor n - 1) in ns^2, within 3 ulp of the exact one: n * squares - sum^2
 * is formed in whole numbers of 256 bits and rounded once. NaN below 2 values. */
double pythia_exact_moments_variance(const struct pythia_exact_moments *m);
/* The square root of the variance, in ns; NaN below 2 values. */
double pythia_exact_moments_sd(const struct pythia_exact_moments *m);
/* The coefficient of variation sd / |mean|, no unit; NaN below 2 values or for a mean of 0. */
double pythia_exact_moments_cov(const struct pythia_exact_moments *m);

#endif
