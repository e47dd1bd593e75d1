#ifndef PYTHIA_FAIR_SAMPLE_H
#define PYTHIA_FAIR_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* A sample in which all values count the same, out of `n` values of unequal weights: for methods
 * that know no weights, and for tests that count values. keep[i] says whether value i is in it. The
 * probability of that is its weight by the largest one, so that what is found in the sample holds
 * for the population that the weights stand for; and the sample has the sum of weights by the
 * largest one, to the next whole number, of values, which is what such methods may rely on. Values
 * of the largest weight are all kept, and so are all values if all weights are equal.
 *
 * Those that are kept are spread evenly along the order of `along` (finite, ties in order of the
 * index): every value is passed in that order, and where the sum of weights passes a multiple of
 * the largest weight, the value at which it does is kept. What depends on `along` is then known
 * better than from values drawn at random: of slow requests as large a part is kept as of fast
 * ones, and not only on average. W. G. Madow, "On the Theory of Systematic Sampling, II", Annals of
 * Mathematical Statistics 20(3), 1949. The beginning is not drawn but half of the largest weight,
 * so that the same values always give the same sample.
 *
 * Weights are finite and above 0. Returns PYTHIA_OK, or PYTHIA_ENOMEM with `keep` untouched. O(n
 * log n), O(n) for equal weights; thread-safe. */
int pythia_fair_sample(const double *weight, const double *along, size_t n, bool *keep);

#endif
