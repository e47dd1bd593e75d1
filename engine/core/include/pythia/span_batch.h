#ifndef PYTHIA_SPAN_BATCH_H
#define PYTHIA_SPAN_BATCH_H

#include <stddef.h>

#include "pythia/span.h"

/* Spans that go from the thread that decodes to the one that groups: packed one behind the other,
 * with copies of their attributes. One thread at a time; handing a batch over is up to the caller.
 */
struct pythia_span_batch;

/* PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_span_batch_create(struct pythia_span_batch **out);
void pythia_span_batch_destroy(struct pythia_span_batch *b); /* b may be NULL */

/* Make it empty, and keep its memory. */
void pythia_span_batch_clear(struct pythia_span_batch *b);

/* Add a span (copied). PYTHIA_OK or PYTHIA_ENOMEM; then it is as before. */
int pythia_span_batch_add(struct pythia_span_batch *b, const struct pythia_trace_id *trace,
                          const struct pythia_span *span);

/* The number of spans, the bytes that they fill, and the memory that the batch holds, which is
 * that of the largest batch so far. */
size_t pythia_span_batch_count(const struct pythia_span_batch *b);
size_t pythia_span_batch_size(const struct pythia_span_batch *b);
size_t pythia_span_batch_bytes(const struct pythia_span_batch *b);

/* Give each span to `take`, in the order in which they were added; what is handed over is borrowed
 * for the call. Ends with the first negative status, which is returned; else PYTHIA_OK. */
int pythia_span_batch_each(const struct pythia_span_batch *b,
                           int (*take)(void *context, const struct pythia_trace_id *trace,
                                       const struct pythia_span *span),
                           void *context);

#endif
