/* Spans that have begun and not yet ended, with what is known of them. */
#ifndef PYTHIA_NATIVE_OPEN_SPANS_H
#define PYTHIA_NATIVE_OPEN_SPANS_H

#include "pythia/buf.h"
#include "pythia/hash_table.h"
#include "pythia/span.h"

#define PYTHIA__OPEN_SPANS_MAX  65536                      /* at once, and … */
#define PYTHIA__OPEN_BYTES_MAX  ((size_t)64 * 1024 * 1024) /* … of their key-values */
#define PYTHIA__OPEN_VALUES_MAX 1024                       /* key-values of one span */

struct pythia__open_span {
    struct pythia_trace_id trace;
    struct pythia_span span; /* its attributes are in the buffer */
    struct pythia_buf attributes;
    uint32_t values;
    int64_t start_ns; /* of CLOCK_MONOTONIC */
    int64_t epoch_ns; /* what the epoch was ahead of it then */
    uint64_t ticks;
    int64_t end_ns;         /* if it has ended, of CLOCK_MONOTONIC */
    bool begun;             /* else only its end, or key-values of it, were seen */
    bool ended, clock_back; /* its end came first */
    uint64_t frame, offset; /* where its first record stands */
    uint32_t before, after; /* in order of age; after: the next free number */
};

/* {0} is empty. */
struct pythia__open_spans {
    struct pythia__open_span *spans; /* owned; number 0 is nobody's */
    size_t count, capacity, open, bytes;
    struct pythia_hash_table by_id;
    uint32_t free, oldest, newest; /* 0: none */
};

/* Free all spans and the index. */
void pythia__open_spans_free(struct pythia__open_spans *o);

/* The number of a span; 0 if it is not here. */
uint32_t pythia__open_spans_find(const struct pythia__open_spans *o,
                                 const struct pythia_trace_id *trace, uint64_t id);

/* Add one that is not here; 0 when out of memory. Numbers stay, addresses do not. */
uint32_t pythia__open_spans_add(struct pythia__open_spans *o, const struct pythia_trace_id *trace,
                                uint64_t id);

/* Remove a span that is open, by its number, which the next span may get. O(1) on average. */
void pythia__open_spans_remove(struct pythia__open_spans *o, uint32_t number);

#endif
