#ifndef PYTHIA_RANKS_H
#define PYTHIA_RANKS_H

#include <stddef.h>
#include <stdint.h>

/* Ranks, order statistics and what is computed from them. All functions are thread-safe and borrow
 * their arrays for the time of the call. A NaN among the values makes the result NaN, except where
 * another treatment is named. What returns an int returns PYTHIA_OK, or PYTHIA_ENOMEM with its
 * output untouched. */

/* What a test says. */
struct pythia_test_result {
    double statistic;
    double df1, df2; /* degrees of freedom; df2 is NaN where the law has one only */
    double p;        /* of a statistic at least this large if nothing is there */
    double effect;   /* the groups' share of a variance, 0 to 1; each test says of which */
};

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

/* The median; the median absolute deviation from it times 1.4826, which estimates the sd of a
 * normal law; the distance of the quartiles (type 7). In the unit of x; NaN for n = 0. O(n log
 * n). */
int pythia_ranks_median(const double *x, size_t n, double *out);
int pythia_ranks_mad(const double *x, size_t n, double *out);
int pythia_ranks_iqr(const double *x, size_t n, double *out);

/* The indices of the values from the lowest to the highest, NaN last, equal ones in their order.
 * O(n log n). */
int pythia_ranks_order(const double *x, size_t n, size_t *order);

/* Average ranks: ranks[i] is 1 + the number of values below x[i] + half of those equal to it
 * besides itself. A NaN has the rank NaN and is not counted for the others. O(n log n). */
int pythia_ranks_mid(const double *x, size_t n, double *ranks);

/* Pearson's correlation, -1 to 1, by two passes; NaN below 2 pairs or if x or y is constant.
 * O(n). */
double pythia_ranks_pearson(const double *x, const double *y, size_t n);

/* Spearman's rank correlation: Pearson's of the average ranks. O(n log n). */
int pythia_ranks_spearman(const double *x, const double *y, size_t n, double *out);

/* Do some groups tend to have higher values? group[i] < groups is the group of x[i]; empty groups
 * do not count. statistic: H corrected for ties, chi squared with df1 = groups - 1; effect: eta
 * squared of the ranks, H / (n - 1). NaN below two groups, or if all values are equal. O(n log n).
 * Kruskal and Wallis, "Use of Ranks in One-Criterion Variance Analysis", JASA 47(260), 1952. */
int pythia_ranks_kruskal_wallis(const double *x, const uint32_t *group, size_t n, size_t groups,
                                struct pythia_test_result *out);

/* Do two samples of `n` and `m` values come from one law? statistic: the largest distance of their
 * distribution functions; p by Kolmogorov's limit law, too large for small or tied samples; df1 and
 * df2 are NaN; effect: the statistic. NaN if a sample is empty. O(s log s) with s = n + m. Smirnov,
 * "Table for Estimating the Goodness of Fit of Empirical Distributions", Ann. Math. Stat. 19(2),
 * 1948. */
int pythia_ranks_kolmogorov_smirnov(const double *x, size_t n, const double *y, size_t m,
                                    struct pythia_test_result *out);

#endif
