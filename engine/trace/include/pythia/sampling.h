#ifndef PYTHIA_SAMPLING_H
#define PYTHIA_SAMPLING_H

#include <stdint.h>

#include "pythia/attributes.h"
#include "pythia/span.h"
#include "pythia/text.h"

/* How many requests a sampled one stands for.
 *
 *     tracestate  ─ otlp ─┐
 *                         ├─> attribute sampling.probability of a span ─> weight of its trace
 *     any format ─────────┘                         row.h, groups.h  <─┘
 *
 * A sampler that keeps a request with probability p makes each one that arrives stand for 1 / p. A
 * span states p in the attribute `sampling.probability`, which formats, recordings and exports
 * carry as any other. Decoders of OTLP add it from the tracestate (W3C Trace Context, level 2,
 * section 3.3; OpenTelemetry, "TraceState: Probability Sampling"): the member `ot` has a field
 * `th`, the rejection threshold T in hexadecimal digits, trailing zeros removed, of 14 digits: p =
 * 1 - T / 2^56. An attribute that came with the span outranks the tracestate: somebody set it on
 * purpose, perhaps because a second sampler follows the first.
 *
 * Of a trace the probability counts that its first root states, because whether the root is seen
 * decides whether the request is. If no root states one it is the largest that its spans state:
 * such a trace is seen as soon as one of its spans is. What is no probability counts as not stated,
 * and as a repair (counts.h). */
#define PYTHIA_SAMPLING_KEY "sampling.probability"

/* Smaller probabilities than 1 / this are taken for mistakes: one request would outweigh all. */
#define PYTHIA_SAMPLING_WEIGHT_MAX 0x1p24

enum pythia_sampling {
    PYTHIA_SAMPLING_ABSENT,  /* nothing is stated */
    PYTHIA_SAMPLING_STATED,  /* *probability is set: above 0, at most 1 */
    PYTHIA_SAMPLING_INVALID, /* what is stated is no probability */
};

/* The probability of a tracestate, of an attribute of that key. On anything but STATED *probability
 * is untouched. O(size). */
enum pythia_sampling pythia_sampling_of_tracestate(struct pythia_text tracestate,
                                                   double *probability);
enum pythia_sampling pythia_sampling_of_attribute(const struct pythia_attribute *attribute,
                                                  double *probability);

/* The weight of a request as a whole number: rounded up or down by the id of its trace, so that it
 * is right on average and does not depend on when the request came. O(1). */
uint64_t pythia_sampling_requests(double weight, struct pythia_trace_id id);

#endif
