#ifndef PYTHIA_TDIGEST_H
#define PYTHIA_TDIGEST_H

#include <stdint.h>

/* Quantiles of a stream of numbers from clusters of neighbouring values, the finer the nearer they
 * are to either end: the error of rank is small in proportion to q (1 - q). Good for the far tail
 * of one stream; nothing is proven, and merges are approximate. Dunning and Ertl, "Computing
 * Extremely Accurate Quantiles Using t-Digests", arXiv 1902.04023, 2019.
 *
 * 128 bytes by delta, so 13 kB at delta = 100, all of it from the start: an add never fails for
 * want of memory. The same adds and merges in the same order give the same digest. One thread at a
 * time. */
struct pythia_tdigest;
#define PYTHIA_TDIGEST_DELTA     100 /* the usual choice */
#define PYTHIA_TDIGEST_DELTA_MIN 10
#define PYTHIA_TDIGEST_DELTA_MAX 10000

/* Make an empty digest of PYTHIA_TDIGEST_DELTA_MIN <= delta <= _MAX. On success *out is owned by
 * the caller, on failure it is untouched. Returns PYTHIA_OK, PYTHIA_EINVAL or PYTHIA_ENOMEM. */
int pythia_tdigest_create(unsigned delta, struct pythia_tdigest **out);
void pythia_tdigest_destroy(struct pythia_tdigest *t); /* t may be NULL */

/* Add one value; O(ln delta) on average. Returns PYTHIA_OK, or PYTHIA_EINVAL for a value that is
 * not finite, which leaves the digest as it was. */
int pythia_tdigest_add(struct pythia_tdigest *t, double value);

/* Add what `other`, which is another digest of any delta, has seen. O(delta ln delta). */
void pythia_tdigest_merge(struct pythia_tdigest *t, const struct pythia_tdigest *other);

/* An estimate of the value of rank q (count - 1) in rising order, the first being 0, linear between
 * the middles of clusters; exact for 0 and 1. NaN while empty or unless 0 <= q <= 1. O(delta), and
 * a sort of the values that have come since the last one. */
double pythia_tdigest_quantile(struct pythia_tdigest *t, double q);

uint64_t pythia_tdigest_count(const struct pythia_tdigest *t);

#endif
