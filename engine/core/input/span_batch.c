#include "pythia/span_batch.h"

#include <string.h>

#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct pythia_span_batch {
    struct pythia_buf bytes;
    size_t count;
};

/* A span in a batch: this header, followed by its attributes. */
struct packed {
    struct pythia_trace_id trace;
    struct pythia_span span;
};

int pythia_span_batch_create(struct pythia_span_batch **out)
{
    struct pythia_span_batch *b = pythia_calloc(1, sizeof(*b));
    if (!b)
        return PYTHIA_ENOMEM;
    *out = b;
    return PYTHIA_OK;
}

void pythia_span_batch_destroy(struct pythia_span_batch *b)
{
    if (!b)
        return;
    pythia_buf_free(&b->bytes);
    pythia_free(b);
}

void pythia_span_batch_clear(struct pythia_span_batch *b)
{
    pythia_buf_clear(&b->bytes);
    b->count = 0;
}

int pythia_span_batch_add(struct pythia_span_batch *b, const struct pythia_trace_id *trace,
                          const struct pythia_span *span)
{
    struct packed packed = {*trace, *span};
    char *to = pythia_buf_reserve(&b->bytes, sizeof(packed) + span->attributes.size);
    if (!to) {
        b->bytes.failed = 0; /* memory may be there again */
        return PYTHIA_ENOMEM;
    }
    memcpy(to, &packed, sizeof(packed));
    if (span->attributes.size)
        memcpy(to + sizeof(packed), span->attributes.bytes, span->attributes.size);
    b->bytes.size += sizeof(packed) + span->attributes.size;
    b->count++;
    return PYTHIA_OK;
}

size_t pythia_span_batch_count(const struct pythia_span_batch *b)
{
    return b->count;
}

size_t pythia_span_batch_size(const struct pythia_span_batch *b)
{
    return b->bytes.size;
}

size_t pythia_span_batch_bytes(const struct pythia_span_batch *b)
{
    return sizeof(*b) + b->bytes.capacity;
}

int pythia_span_batch_each(const struct pythia_span_batch *b,
                           int (*take)(void *context, const struct pythia_trace_id *trace,
                                       const struct pythia_span *span),
                           void *context)
{
    const char *at = b->bytes.bytes;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < b->count && status >= 0; i++) {
        struct packed packed;
        memcpy(&packed, at, sizeof(packed));
        at += sizeof(packed);
        packed.span.attributes.bytes = at;
        at += packed.span.attributes.size;
        status = take(context, &packed.trace, &packed.span);
    }
    return status < 0 ? status : PYTHIA_OK;
}
