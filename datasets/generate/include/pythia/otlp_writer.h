#ifndef PYTHIA_OTLP_WRITER_H
#define PYTHIA_OTLP_WRITER_H

#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

/* Spans as OpenTelemetry writes them (opentelemetry.io/docs/specs/otlp, opentelemetry-proto 1.0):
 * batches of spans, put under their resources. One thread at a time. */
struct pythia_otlp_writer;

enum pythia_otlp_form {
    PYTHIA_OTLP_JSON,  /* a batch is a line, as the collector's file exporter writes */
    PYTHIA_OTLP_PROTO, /* a batch is a TracesData in protobuf; several, one after the other, are
                          one TracesData with all of them */
};

/* `vocabulary` is borrowed. On success *out is owned. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_otlp_writer_create(const struct pythia_vocabulary *vocabulary,
                              enum pythia_otlp_form form, struct pythia_otlp_writer **out);
void pythia_otlp_writer_destroy(struct pythia_otlp_writer *o); /* o may be NULL */

/* Add a whole span (copied) to the batch. A span of no resource is put under one without
 * attributes. PYTHIA_OK or PYTHIA_ENOMEM. O(bytes). */
int pythia_otlp_writer_add(struct pythia_otlp_writer *o, const struct pythia_trace_id *trace,
                           const struct pythia_span *span);

/* How many spans are in the batch. */
size_t pythia_otlp_writer_spans(const struct pythia_otlp_writer *o);

/* Append the batch to `to` and begin another; nothing is appended for an empty one. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_otlp_writer_flush(struct pythia_otlp_writer *o, struct pythia_buf *to);

#endif
