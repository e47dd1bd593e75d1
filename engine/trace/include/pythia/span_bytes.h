#ifndef PYTHIA_SPAN_BYTES_H
#define PYTHIA_SPAN_BYTES_H

#include <stdint.h>

#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* How many bytes a span takes in a stream of traces: what OTLP's protobuf encoding of it has, with
 * its key-values and without what it shares with others (resource and scope). Other formats differ
 * by a factor, which is about the same for all spans. Texts count as they are kept, so long ones
 * (attributes.h) count less than they were. O(key-values). */
uint64_t pythia_span_bytes(const struct pythia_vocabulary *v, const struct pythia_trace_span *span);

#endif
