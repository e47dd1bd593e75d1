#ifndef PYTHIA_SHARES_H
#define PYTHIA_SHARES_H

#include <stdbool.h>
#include <stddef.h>

/* Which part of a total makes it vary, and is that more than chance? A total T is the sum of k
 * parts X_e (the steps that a task takes) and is observed n times. The covariance share
 * of a part, Cov(X_e, T) / Var(T), adds up to 1 over the parts; it is the part's Shapley value in
 * the game v(S) = Var(sum of S), so it is the only fair split, and it is the least squares slope of
 * X_e on T, which gives its standard error. A part that makes up for others has a negative share.
 *
 * A raw share can be the work of one spike. The share is therefore taken of clipped parts: the
 * highest and the lowest values of each are pulled in to the next order statistic. The raw share
 * stands beside it.
 *
 * All functions are thread-safe. Values must be finite: one that is not makes the results NaN.
 *
 * Colini-Baldeschi, Scarsini and Vaccari, "Variance Allocation and Shapley Value", Methodology and
 * Computing in Applied Probability 20, 2018; MacKinnon and White, "Some
 * Heteroskedasticity-Consistent Covariance Matrix Estimators with Improved Finite Sample
 * Properties", J. Econometrics 29, 1985. */

struct pythia_share_options {
    double clip_top;    /* of n, below .5; at least 1 value is clipped, but none for 0 */
    double clip_bottom; /* of n, below .5, rounded down */
    double level;       /* of the interval, between 0 and 1 */
    bool brief; /* only the share, its error and interval, and what is clipped to, in two thirds of
                   the time: what is of values as they came is NaN, and outliers are not counted */
};
#define PYTHIA_SHARE_OPTIONS_DEFAULT ((struct pythia_share_options){.005, .005, .95, false})

/* The result of pythia_shares for one part. */
struct pythia_share {
    double mean, sd;  /* of the values as they came, in their unit; sd NaN below 2 */
    double cov;       /* sd / |mean|; NaN for a mean of 0 */
    double raw_share; /* Cov(X, T) / Var(T) of the values as they came; NaN for a constant T */
    double share;     /* the same of the clipped values; NaN if their total is constant */
    double se;        /* standard error of `share`; NaN below 3 observations or without a share */
    double low, high; /* interval of `share`, as of pythia_slope_hc3; NaN where `se` is */
    size_t outliers;  /* how many values the clipping changed */
    double clip_low, clip_high; /* what is below the one or above the other was clipped to it */
    bool outlier_driven; /* raw_share and share are more than .2 apart; share counts as 0 if NaN */
};

/* The shares of `k` parts in `n` observations. Value i of part e is x[e * n + i]; `o` may be NULL
 * for the default; out[e] is set for each part. Returns PYTHIA_OK, PYTHIA_EINVAL for options out of
 * range, or PYTHIA_ENOMEM; on failure `out` is untouched. O(n k), and two allocations of 3 n + 4 k
 * numbers. */
int pythia_shares(const double *x, size_t n, size_t k, const struct pythia_share_options *o,
                  struct pythia_share *out);

/* Clip `row` of `n` values in place as above: what is above the (m + 1)-th highest value, with m =
 * max(round(clip_top * n), 1), or 0 for a clip_top of 0, becomes that value; likewise below, with m
 * = floor(clip_bottom * n). Returns how many values changed. O(n); no allocation. */
size_t pythia_winsorise(double *row, size_t n, double clip_top, double clip_bottom);

struct pythia_slope {
    double slope;     /* NaN for a constant total or below 2 observations */
    double se;        /* NaN below 3 observations, or where one of them alone makes the slope */
    double low, high; /* slope -/+ se times Student's t */
};

/* Slope of `part` on `total`, each of `n` values: the share of any sum of clipped rows in the sum
 * of all of them, so the inclusive share of a subtree. `level` is that of the interval, which is
 * NaN if it is not between 0 and 1. The standard error is HC3, sound where the spread changes with
 * the total. The degrees of freedom of Student's t are those of that error, 1 to n - 2: about as
 * many as there are observations that carry the spread of the total. With n - 2 of them a sample in
 * which two spikes make nearly all of it would look certain. O(n); no allocation. */
void pythia_slope_hc3(const double *part, const double *total, size_t n, double level,
                      struct pythia_slope *out);

/* The share of each part in the slowness of slow requests: out[e] = (E[X_e | T >= a] - E[X_e | T
 * <= b]) / (the same of T), with a and b the quantiles q_high and q_low of T (R's type 7), over
 * the values as they came; they add up to 1. NaN where the two means of T are equal. The layout
 * is that of pythia_shares. Returns PYTHIA_OK, PYTHIA_EINVAL unless 0 <= q_low <= q_high <= 1,
 * or PYTHIA_ENOMEM; on failure `out` is untouched. O(n (k + log n)). */
int pythia_tail_shares(const double *x, size_t n, size_t k, double q_high, double q_low,
                       double *out);

#endif
