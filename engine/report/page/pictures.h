/* The pictures of a page, each drawn from what was worked out when its document was built. */
#ifndef PYTHIA_REPORT_PICTURES_H
#define PYTHIA_REPORT_PICTURES_H

#include <stddef.h>
#include <stdint.h>

#include "document/document.h"
#include "pythia/closed_loop.h"
#include "pythia/diagnosis.h"
#include "pythia/saturated.h"

/* Count the durations of a sketch in bins of equal width on the log scale, from *low_ns on; *width
 * is the logarithm of the ratio of a bin's ends. Returns how many bins there are: `bins`, 1 if all
 * durations are the same, or 0 if there are none. */
size_t pythia__count_bins(const struct pythia_sketch *sketch, size_t bins, uint64_t *counts,
                          double *low_ns, double *width);

/* How long the requests of a group took. */
#define PYTHIA__HISTOGRAM_BINS  48
#define PYTHIA__HISTOGRAM_MODES 16 /* marked; more cannot be told apart */
struct pythia__histogram {
    double low_ns, high_ns; /* of the first and the last bin */
    uint64_t counts[PYTHIA__HISTOGRAM_BINS];
    size_t bins;
    double quantiles_ns[3]; /* p50, p90, p99 */
    size_t modes;
    double cuts_ns[PYTHIA__HISTOGRAM_MODES], centers_ns[PYTHIA__HISTOGRAM_MODES],
        weights[PYTHIA__HISTOGRAM_MODES];
};
const struct pythia__histogram *pythia__histogram_make(struct pythia__doc *d,
                                                       const struct pythia_group *g);
void pythia__histogram_draw(struct pythia__html *h, const void *histogram);

/* The critical path that they took. */
struct pythia__icicle;
const struct pythia__icicle *pythia__icicle_make(struct pythia__doc *d,
                                                 const struct pythia_cct *cct,
                                                 const struct pythia_vocabulary *v,
                                                 const struct pythia_group *g);
void pythia__icicle_draw(struct pythia__html *h, const void *icicle);

/* The values of a struct pythia_saturated_key over time. */
void pythia__scatter_draw(struct pythia__html *h, const void *key);

/* The cycles of a search. */
struct pythia__timeline;
const struct pythia__timeline *pythia__timeline_make(struct pythia__doc *d,
                                                     const struct pythia_vocabulary *v,
                                                     const struct pythia_loop *loop);
void pythia__timeline_draw(struct pythia__html *h, const void *timeline);

#endif
