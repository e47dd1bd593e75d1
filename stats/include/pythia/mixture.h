#ifndef PYTHIA_MIXTURE_H
#define PYTHIA_MIXTURE_H

#include <stddef.h>

/* A mixture of normal laws with variances of their own, in one dimension. It locates modes that a
 * test has found (tail_dip.h) and is no test itself: any skewed sample is fitted better by two
 * normal laws than by one. */

#define PYTHIA_MIXTURE_MAX 9 /* components */

struct pythia_mixture {
    size_t count; /* components, by ascending mean */
    double weights[PYTHIA_MIXTURE_MAX], means[PYTHIA_MIXTURE_MAX], sds[PYTHIA_MIXTURE_MAX];
    double log_likelihood;
    /* 2 log-likelihood - (3 count - 1) ln n: the larger the better. G. Schwarz, "Estimating the
     * Dimension of a Model", Annals of Statistics 6(2), 1978. */
    double bic;
};

/* Fit `count` components, 1 to PYTHIA_MIXTURE_MAX, to `n` finite values in ascending order by
 * expectation and maximisation (A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum Likelihood
 * from Incomplete Data via the EM Algorithm", Journal of the Royal Statistical Society B 39(1),
 * 1977), from three fixed starts, of which the likeliest end is taken: equal parts, the parts of k
 * means, and upper tails of 1/2, 1/4, ... A standard deviation is at least 1/50 of the sample's,
 * and that of a uniform law over the smallest gap if some values are equal (a clock's tick), so
 * that no component falls onto one value. Where every start lost a component (one with the weight
 * of fewer than 3 values), or n < 3 count, or all values are equal, count is 0 and the two figures
 * are NaN: such a mixture is not there. Returns PYTHIA_OK or PYTHIA_ENOMEM, and then *out is
 * untouched. Thread-safe; O(n * count) a step, at most 1500 steps. */
int pythia_mixture_fit(const double *sorted, size_t n, size_t count, struct pythia_mixture *out);

/* The fit with the largest BIC of those with 1 to `most` components. */
int pythia_mixture_select(const double *sorted, size_t n, size_t most, struct pythia_mixture *out);

/* How far apart two components are: sqrt(2) |difference of means| / sqrt(sum of variances). Above 2
 * they are clearly two. K. M. Ashman, C. M. Bird and S. E. Zepf, "Detecting Bimodality in
 * Astronomical Datasets", Astronomical Journal 108, 1994. */
double pythia_mixture_separation(const struct pythia_mixture *m, size_t a, size_t b);

#endif
