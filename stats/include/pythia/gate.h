#ifndef PYTHIA_GATE_H
#define PYTHIA_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Corrections for many tests, and for tests that are repeated. All are thread-safe. */

/* The alpha that look number `look` (the first is 1) may spend, so that all looks together, however
 * many there will be, are wrong with at most `alpha`: alpha * 6 / (pi^2 look^2), whose sum over all
 * looks is alpha. NaN for look 0. O(1). */
double pythia_gate_alpha(double alpha, uint64_t look);

/* p of a permutation test: of `permutations` random ones `at_least` gave a statistic no smaller
 * than the one observed, which is itself one of the possible orders: (1 + at_least) / (1 +
 * permutations). Phipson and Smyth, "Permutation P-values Should Never Be Zero", Stat. Appl. Genet.
 * Mol. Biol. 9(1), 2010. */
double pythia_gate_permutation_p(uint64_t at_least, uint64_t permutations);

/* Adjusted values of `n` p-values: rejecting where adjusted[i] <= q holds the expected share of
 * false ones among the rejected at q. A NaN is a test that could not be made: it stays NaN and does
 * not count. `adjusted` may be `p`. Returns PYTHIA_OK, or PYTHIA_ENOMEM with the output untouched.
 * O(n log n). For tests that are independent or positively dependent. Benjamini and Hochberg,
 * "Controlling the False Discovery Rate", J. Royal Stat. Society B 57(1), 1995. */
int pythia_gate_benjamini_hochberg(const double *p, size_t n, double *adjusted);

/* Does one part make the total vary, beyond chance and beyond a handful of observations? A part
 * does if the lower bound of its share is above the upper bound of every other share, at `level`;
 * over repeated looks that is 1 - pythia_gate_alpha(alpha, look). The rule is applied with the
 * default clip (shares.h) and again with one that clips three times as much at the top, and both
 * must name the same part: three spikes in one part of 300 observations pass the first and not the
 * second. The layout of x is that of pythia_shares. On success *found says so and, if true, *top
 * is the part; a single part is always found. PYTHIA_OK or PYTHIA_ENOMEM. O(n k). */
int pythia_gate_localise(const double *x, size_t n, size_t k, double level, bool *found,
                         size_t *top);

#endif
