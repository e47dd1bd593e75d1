#ifndef PYTHIA_DISPERSION_H
#define PYTHIA_DISPERSION_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/ranks.h"

/* Tests of several groups: have they one mean, have they one spread? group[i] < groups is the group
 * of x[i], i < n; empty groups do not count. All are thread-safe and return PYTHIA_OK, or
 * PYTHIA_ENOMEM with *out untouched. A NaN among the values, fewer than two groups or no more
 * values than groups make every field NaN. */

/* One-way analysis of variance. statistic: F with df1 and df2 degrees of freedom, infinite with p =
 * 0 if the groups differ and do not vary inside, NaN if nothing varies; effect: eta squared.
 * O(n). */
int pythia_dispersion_anova(const double *x, const uint32_t *group, size_t n, size_t groups,
                            struct pythia_test_result *out);

/* Omega squared, the effect of an F test without the bias of eta squared: 0 on average, and below 0
 * half of the time, where there is no effect; 1 for an infinite F. From what
 * pythia_dispersion_anova or _brown_forsythe has given. Hays, "Statistics for Psychologists",
 * 1963. */
double pythia_dispersion_omega_squared(const struct pythia_test_result *f);

/* Equal spread: the analysis of variance of |x - median of its group|, which heavy tails do not
 * upset; effect: eta squared of these. For latencies, of their logarithms. O(n log n). Brown and
 * Forsythe, "Robust Tests for the Equality of Variances", JASA 69(346), 1974. */
int pythia_dispersion_brown_forsythe(const double *x, const uint32_t *group, size_t n,
                                     size_t groups, struct pythia_test_result *out);

/* Equal variance of normal samples, of which it relies much: chi squared with df1 degrees of
 * freedom; effect: NaN. A group of one value makes every field NaN, a constant one an infinite
 * statistic with p = 0. O(n). Bartlett, "Properties of Sufficiency and Statistical Tests", Proc.
 * Royal Society A 160, 1937. */
int pythia_dispersion_bartlett(const double *x, const uint32_t *group, size_t n, size_t groups,
                               struct pythia_test_result *out);

/* Equal spread by ranks of |x - median of its group|, made normal scores: chi squared with df1
 * degrees of freedom; effect: eta squared of the scores. O(n log n). Fligner and Killeen,
 * "Distribution-Free Two-Sample Tests for Scale", JASA 71(353), 1976, in the form of Conover,
 * Johnson and Johnson, "A Comparative Study of Tests for Homogeneity of Variances", Technometrics
 * 23(4), 1981. */
int pythia_dispersion_fligner_killeen(const double *x, const uint32_t *group, size_t n,
                                      size_t groups, struct pythia_test_result *out);

#endif
