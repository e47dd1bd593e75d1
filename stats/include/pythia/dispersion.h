#ifndef PYTHIA_DISPERSION_H
#define PYTHIA_DISPERSION_H

#include <stddef.h>
#include <stdint.h>

/* Tests of several groups: have they one mean, have they one spread? group[i] < groups is the group
 * of x[i], i < n; empty groups do not count. All are thread-safe and return PYTHIA_OK, or
 * PYTHIA_ENOMEM with *out untouched. A NaN among the values, fewer than two groups or no more
 * values than groups make every field NaN. */

/* The result of a test. */
struct pythia_test_result {
    double statistic;
    double df1, df2; /* degrees of freedom */
    double p;        /* of a statistic at least this large if nothing is there */
    double effect;   /* the groups' share of a variance, 0 to 1 */
};

/* One-way analysis of variance. statistic: F with df1 and df2 degrees of freedom, infinite with p =
 * 0 if the groups differ and do not vary inside, NaN if nothing varies; effect: eta squared.
 * O(n). */
int pythia_dispersion_anova(const double *x, const uint32_t *group, size_t n, size_t groups,
                            struct pythia_test_result *out);

/* Equal spread: the analysis of variance of |x - median of its group|, which heavy tails do not
 * upset; effect: eta squared of these. For latencies, of their logarithms. O(n log n). Brown and
 * Forsythe, "Robust Tests for the Equality of Variances", JASA 69(346), 1974. */
int pythia_dispersion_brown_forsythe(const double *x, const uint32_t *group, size_t n,
                                     size_t groups, struct pythia_test_result *out);

#endif
