#ifndef PYTHIA_SKETCH_H
#define PYTHIA_SKETCH_H

#include <stddef.h>
#include <stdint.h>

/* Quantiles of a stream of numbers >= 0 (durations, sizes), each within a relative error of alpha,
 * in bins whose width grows with the value: bin i holds (g^(i-1), g^i], g = (1 + alpha) / (1 -
 * alpha). Merging is adding bins, so that the same values give the same sketch, bit for bit, in
 * whatever order and by whatever tree of merges. Masson, Rim and Lee, "DDSketch: A Fast and
 * Fully-Mergeable Quantile Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019; bins are
 * never collapsed here.
 *
 * An empty sketch takes some 80 bytes. Bins are dense, from the lowest to the highest used one in
 * steps of 32, of 4 bytes as long as no count passes 2^32 - 1, of 8 then: ln(max/min) / ln g bins,
 * at alpha = .01 0.5 kB a decade. One thread at a time per sketch. */
struct pythia_sketch;
#define PYTHIA_SKETCH_ALPHA     .01 /* the usual choice */
#define PYTHIA_SKETCH_ALPHA_MIN .0001
#define PYTHIA_SKETCH_ALPHA_MAX .5

/* Make an empty sketch of relative error PYTHIA_SKETCH_ALPHA_MIN to _MAX. On success *out is owned
 * by the caller, on failure it is untouched. Returns PYTHIA_OK, PYTHIA_EINVAL or PYTHIA_ENOMEM. */
int pythia_sketch_create(double alpha, struct pythia_sketch **out);
void pythia_sketch_destroy(struct pythia_sketch *s); /* s may be NULL */

/* Add `value` `count` times in O(1). Returns PYTHIA_OK; PYTHIA_EINVAL for a value that is negative
 * or not finite, which the caller counts; PYTHIA_ELIMIT if the total would pass 2^64 - 1;
 * PYTHIA_ENOMEM. On failure the sketch is as it was. */
int pythia_sketch_add(struct pythia_sketch *s, double value, uint64_t count);

/* Add what `other` has seen; O(bins). Returns PYTHIA_OK; PYTHIA_EINVAL if their alphas differ;
 * PYTHIA_ELIMIT or PYTHIA_ENOMEM as above. On failure `s` is as it was. */
int pythia_sketch_merge(struct pythia_sketch *s, const struct pythia_sketch *other);

/* The value of rank floor(q (count - 1)) in rising order, the first being 0, within alpha of
 * itself, relative. NaN while empty or unless 0 <= q <= 1. O(bins). */
double pythia_sketch_quantile(const struct pythia_sketch *s, double q);

/* The lowest and the highest value, exact; NaN while empty. */
double pythia_sketch_min(const struct pythia_sketch *s);
double pythia_sketch_max(const struct pythia_sketch *s);

/* One bin: `count` values in (low, high], whose estimate is `middle`; zeros are in a bin of their
 * own with all three 0, and of index PYTHIA_SKETCH_ZEROS. */
#define PYTHIA_SKETCH_ZEROS INT32_MIN
struct pythia_sketch_bin {
    int32_t index; /* rising with the values; the same for equal alphas everywhere */
    double low, middle, high;
    uint64_t count;
};

/* Walk over the bins that are not empty, from the lowest: start with *position = 0. Returns
 * PYTHIA_OK with *out set, or 1 at the end. */
int pythia_sketch_next(const struct pythia_sketch *s, size_t *position,
                       struct pythia_sketch_bin *out);

/* Make a sketch anew of what one held: its alpha, its lowest and highest value, and the index and
 * count of each of its bins, in rising order; no bins are an empty one. On success *out is owned by
 * the caller and equal to that one in every bit. Returns PYTHIA_OK; PYTHIA_EINVAL if no sketch can
 * have held this; PYTHIA_ELIMIT or PYTHIA_ENOMEM as above. O(bins). */
int pythia_sketch_restore(double alpha, double min, double max,
                          const struct pythia_sketch_bin *bins, size_t count,
                          struct pythia_sketch **out);

#endif
