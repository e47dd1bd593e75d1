#ifndef PYTHIA_MOMENTS_H
#define PYTHIA_MOMENTS_H

#include <stdint.h>

/* Count, mean and spread of a stream of values that share one unit: one pass, 24 bytes, mergeable.
 * Public because it is held by the thousand; {0} is empty. One thread at a time.
 *
 * Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products", Technometrics
 * 4(3), 1962; Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", Am.
 * Statistician 37(3), 1983. */
struct pythia_moments {
    uint64_t n;
    double mean; /* 0 while empty: read it by pythia_moments_mean */
    double m2;   /* sum of (value - mean)^2 */
};

/* Add one value in O(1). A value that is not finite makes all that is asked below NaN for good. */
void pythia_moments_add(struct pythia_moments *m, double value);

/* Add what `other` has seen in O(1), as if its values had come here one by one, within rounding:
 * 1e-12 relative where the mean is not huge beside the spread. */
void pythia_moments_merge(struct pythia_moments *m, const struct pythia_moments *other);

/* The mean, in the unit of the values; NaN while empty. */
double pythia_moments_mean(const struct pythia_moments *m);
/* The square root of the unbiased variance (divisor n - 1), in the unit of the values; NaN below 2
 * values. */
double pythia_moments_sd(const struct pythia_moments *m);

#endif
