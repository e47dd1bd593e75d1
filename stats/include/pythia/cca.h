#ifndef PYTHIA_CCA_H
#define PYTHIA_CCA_H

#include <stddef.h>

/* Canonical correlation: how well do linear functions of one set of variables, x, go together with
 * linear functions of another, y? The correlations are the singular values of Qx' Qy, with Qx and
 * Qy orthonormal bases of the centred columns of each side, found by QR with column pivoting, so
 * that constant and collinear columns do no harm. A. Bjoerck and G. H. Golub, "Numerical Methods
 * for Computing Angles between Linear Subspaces", Mathematics of Computation 27(123), 1973. H.
 * Hotelling, "Relations between Two Sets of Variates", Biometrika 28, 1936.
 *
 * The object is the room for the work: made once for a largest size, it serves thousands of fits
 * without an allocation. One thread at a time per object. */
struct pythia_cca;

/* Room for up to `rows` rows, `p` columns of x and `q` of y, each at least 1. On success *out is
 * owned by the caller, on failure untouched. Returns PYTHIA_OK, PYTHIA_EINVAL or PYTHIA_ENOMEM. */
int pythia_cca_create(size_t rows, size_t p, size_t q, struct pythia_cca **out);
void pythia_cca_destroy(struct pythia_cca *c); /* c may be NULL */

/* The result of a fit. The arrays are borrowed: valid until the next fit or the end of the
 * object. A variate is a linear function of the columns of one side; the sign of a pair of
 * variates is such that the largest loading of x is positive. */
struct pythia_cca_result {
    size_t rows, p, q;     /* rows; columns of x and y */
    size_t rank_x, rank_y; /* independent columns: fewer where some are constant or collinear */
    size_t count;          /* correlations: the smaller rank */
    const double *r;       /* count: 0 to 1, descending */
    /* p x count and q x count, row-major: the weights that turn centred columns into variates whose
     * squares add up to 1; those of superfluous columns are 0. */
    const double *x_coefficients, *y_coefficients;
    /* p x count and q x count, row-major: the correlation of each column with the variates of its
     * own side (structure coefficients); 0 for a constant column, which goes with nothing. */
    const double *x_loadings, *y_loadings;
};

/* Fit x, n x p, and y, n x q, both row-major, within the room. Without a column that varies on one
 * side count is 0. Returns PYTHIA_OK, or PYTHIA_EINVAL if the sizes exceed the room or a value is
 * not finite, and then *out is untouched. O(n (p^2 + q^2 + p q)). */
int pythia_cca_fit(struct pythia_cca *c, const double *x, size_t p, const double *y, size_t q,
                   size_t n, struct pythia_cca_result *out);

/* One test: a statistic, the F that stands for it, and the probability of a larger F by chance. NaN
 * where the degrees of freedom leave nothing to test with. */
struct pythia_cca_statistic {
    double value, f, df1, df2, p;
};

/* Are the correlations from number `root` (from 0) on all zero? */
struct pythia_cca_root {
    struct pythia_cca_statistic wilks;                 /* value: lambda, the product of 1 - r^2 */
    double chi_squared, chi_squared_df, chi_squared_p; /* Bartlett's approximation of the same */
};

/* Wilks' lambda of the correlations from `root` < count on, with Rao's F approximation and
 * Bartlett's chi-squared one, for n rows and sides of rank p and q; count = min(p, q). Rows are
 * taken as independent and normal; ranks of rows come close. C. R. Rao, "An Asymptotic Expansion of
 * the Distribution of Wilks' Criterion", Bulletin of the International Statistical Institute 33,
 * 1951; M. S. Bartlett, "Further Aspects of the Theory of Multiple Regression", Proceedings of the
 * Cambridge Philosophical Society 34, 1938. Thread-safe; O(count). */
void pythia_cca_test_root(const double *r, size_t count, size_t n, size_t p, size_t q, size_t root,
                          struct pythia_cca_root *out);

#endif
