#ifndef PYTHIA_SPANS_WRITER_H
#define PYTHIA_SPANS_WRITER_H

#include "pythia/buf.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

/* Writes spans as they were decoded, in the format "spans" (adapters/traces/spans/spans.c), for
 * whoever must not keep what came in. Reading it gives the same spans. One thread at a time. */
struct pythia_spans_writer;

/* The vocabulary is borrowed. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_spans_writer_create(const struct pythia_vocabulary *vocabulary,
                               struct pythia_spans_writer **out);
void pythia_spans_writer_destroy(struct pythia_spans_writer *w); /* w may be NULL */

/* Begin a body at the end of `to`, which is borrowed until the next one begins, and add spans to
 * it, and what tracing cost (struct pythia_sink). `to->failed` says whether memory was missing.
 * _add, _cost: PYTHIA_OK, or PYTHIA_ENOMEM: then the body is no good. O(key-values). */
void pythia_spans_writer_begin(struct pythia_spans_writer *w, struct pythia_buf *to);
int pythia_spans_writer_cost(struct pythia_spans_writer *w, uint32_t tracepoint, uint64_t ns);
int pythia_spans_writer_add(struct pythia_spans_writer *w, const struct pythia_trace_id *trace,
                            const struct pythia_span *span);

#endif
