#ifndef PYTHIA_RANKS_H
#define PYTHIA_RANKS_H

#include <stddef.h>
#include <stdint.h>

/* Ranks, order statistics and what is computed from them. All functions are thread-safe and borrow
 * their arrays for the time of the call. A NaN among the values makes the result NaN, except where
 * another treatment is named. What returns an int returns PYTHIA_OK, or PYTHIA_ENOMEM with its
 * output untouched. */

/* Sort in place, rising, NaN last. O(n log n). */
void pythia_ranks_sort(double *x, size_t n);

/* Quantile q (0 to 1) of sorted values: linear between the order statistics around (n - 1) q, type
 * 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", Am. Statistician 50(4), 1996.
 * NaN for n = 0 or q out of range. O(1). */
double pythia_ranks_quantile(const double *sorted, size_t n, double q);

/* The lowest of the sorted values that `percent` of 100 values are at most: one that was seen, so
 * that it makes sense where the highest stand for "at least so much"; type 1 there. NaN for n = 0
 * or a percent that is not 1 to 100. O(1). */
double pythia_ranks_percentile(const double *sorted, size_t n, unsigned percent);

/* The indices of the values from the lowest to the highest, NaN last, equal ones in their order.
 * O(n log n). */
int pythia_ranks_order(const double *x, size_t n, size_t *order);

/* Average ranks: ranks[i] is 1 + the number of values below x[i] + half of those equal to it
 * besides itself. A NaN has the rank NaN and is not counted for the others. O(n log n). */
int pythia_ranks_mid(const double *x, size_t n, double *ranks);

/* Pearson's correlation, -1 to 1, by two passes; NaN below 2 pairs or if x or y is constant.
 * O(n). */
double pythia_ranks_pearson(const double *x, const double *y, size_t n);

#endif
