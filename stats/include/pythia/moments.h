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
/* The unbiased variance (divisor n - 1), in that unit squared; NaN below 2 values. */
double pythia_moments_variance(const struct pythia_moments *m);
/* The square root of the variance, in the unit of the values; NaN below 2 values. */
double pythia_moments_sd(const struct pythia_moments *m);
/* The coefficient of variation sd / |mean|, no unit; NaN below 2 values or for a mean of 0. */
double pythia_moments_cov(const struct pythia_moments *m);

/* The same for pairs (x, y), with the sum of their products: 48 bytes, {0} is empty. */
struct pythia_comoments {
    uint64_t n;
    double mean_x, mean_y; /* 0 while empty */
    double m2_x, m2_y;     /* sums of (x - mean_x)^2 and of (y - mean_y)^2 */
    double c_xy;           /* sum of (x - mean_x) * (y - mean_y) */
};

/* Add one pair in O(1); a value that is not finite makes what is asked below NaN for good. */
void pythia_comoments_add(struct pythia_comoments *c, double x, double y);
/* Add what `other` has seen in O(1), as if its pairs had come here one by one. */
void pythia_comoments_merge(struct pythia_comoments *c, const struct pythia_comoments *other);

/* The unbiased covariance (divisor n - 1), in the unit of x times that of y; NaN below 2 pairs. */
double pythia_comoments_covariance(const struct pythia_comoments *c);
/* The slope of the least squares line of y on x, in the unit of y by that of x. With y a part of
 * the total x it is the part's covariance share. NaN below 2 pairs or for a constant x. */
double pythia_comoments_slope(const struct pythia_comoments *c);

#endif
