#ifndef PYTHIA_KLL_H
#define PYTHIA_KLL_H

#include <stddef.h>
#include <stdint.h>

/* Quantiles of a stream of numbers within an error of rank: the value given for the quantile q is
 * the true one of a q that is off by at most some 2.3 / k (1.33 % for k = 200) in 99 of 100
 * sketches, whatever the law. Rank is the wrong currency for tails, for which there is
 * pythia/sketch.h. Karnin, Lang and Liberty, "Optimal Quantile Approximation in Streams", FOCS
 * 2016.
 *
 * About 3 k numbers of memory, growing with ln(n / k). The random bits come from the seed: the same
 * adds and merges in the same order give the same sketch. One thread at a time per sketch. */
struct pythia_kll;
#define PYTHIA_KLL_K     200 /* the usual choice */
#define PYTHIA_KLL_K_MIN 8
#define PYTHIA_KLL_K_MAX 65535

/* Make an empty sketch of PYTHIA_KLL_K_MIN <= k <= _MAX. On success *out is owned by the caller, on
 * failure it is untouched. Returns PYTHIA_OK, PYTHIA_EINVAL or PYTHIA_ENOMEM. */
int pythia_kll_create(size_t k, uint64_t seed, struct pythia_kll **out);
void pythia_kll_destroy(struct pythia_kll *s); /* s may be NULL */

/* Add one value; O(1) on average, O(k ln k) at worst. Returns PYTHIA_OK, PYTHIA_EINVAL for NaN, or
 * PYTHIA_ENOMEM; on failure the sketch says what it said. */
int pythia_kll_add(struct pythia_kll *s, double value);

/* Add what `other` has seen; the error is that of one sketch of all. Returns PYTHIA_OK,
 * PYTHIA_EINVAL if k differs, or PYTHIA_ENOMEM; on failure the sketch says what it said. O(k). */
int pythia_kll_merge(struct pythia_kll *s, const struct pythia_kll *other);

/* An estimate of the value of rank floor(q (count - 1)) in rising order, the first being 0; the
 * lowest and the highest value, for 0 and 1, are exact. NaN while empty or unless 0 <= q <= 1. O(k
 * ln k): the latest values are sorted in place. */
double pythia_kll_quantile(struct pythia_kll *s, double q);

/* An estimate of the share of values <= `value`, 0 to 1; NaN while empty. O(k). */
double pythia_kll_rank(const struct pythia_kll *s, double value);

uint64_t pythia_kll_count(const struct pythia_kll *s);

#endif
