#include "handover.h"

#include <string.h>

#include <uv.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define BATCH_BYTES ((size_t)64 * 1024)
#define SPANS_MAX   4096 /* of a trace that is copied */
#define WAITING_MAX 16   /* batches that wait */

struct batch {
    struct batch *next;
    struct pythia_buf traces; /* owned */
};

struct pythia__handover {
    uv_mutex_t lock;
    uv_cond_t changed;
    int (*take)(void *context, const struct pythia_trace *trace);
    void *context;
    struct batch *first, *last, *spare;
    size_t waiting;
    bool taking; /* a thread is at the consumer */
    int status;  /* the first failure */
};

int pythia__handover_create(int (*take)(void *context, const struct pythia_trace *trace),
                            void *context, struct pythia__handover **out)
{
    struct pythia__handover *h = pythia_calloc(1, sizeof(*h));
    if (!h)
        return PYTHIA_ENOMEM;
    h->take = take;
    h->context = context;
    if (uv_mutex_init(&h->lock) != 0)
        goto out;
    if (uv_cond_init(&h->changed) == 0) {
        *out = h;
        return PYTHIA_OK;
    }
    uv_mutex_destroy(&h->lock);
out:
    pythia_free(h);
    return PYTHIA_ENOMEM;
}

static void destroy_trace_batches(struct batch *list)
{
    while (list) {
        struct batch *next = list->next;
        pythia_buf_free(&list->traces);
        pythia_free(list);
        list = next;
    }
}

void pythia__handover_destroy(struct pythia__handover *h)
{
    if (!h)
        return;
    destroy_trace_batches(h->first);
    destroy_trace_batches(h->spare);
    uv_cond_destroy(&h->changed);
    uv_mutex_destroy(&h->lock);
    pythia_free(h);
}

/* ---- a batch ---- */

/* A trace in a batch: this, its spans, and the attributes of each of them, with a gap up to the next
 * trace. Pointers are set when the batch is read, since its memory moves while it grows. */
struct packed_trace {
    struct pythia_trace trace;
    size_t bytes; /* of all */
    struct pythia_trace_span spans[];
};

static int copy_trace(struct pythia_buf *to, const struct pythia_trace *trace)
{
    size_t spans = trace->count * sizeof(*trace->spans),
           bytes = sizeof(struct packed_trace) + spans;
    for (uint32_t i = 0; i < trace->count; i++)
        bytes += trace->spans[i].attributes.size;
    const size_t unit = _Alignof(struct packed_trace);
    bytes = (bytes + unit - 1) / unit * unit;
    struct packed_trace *p = (struct packed_trace *)(void *)pythia_buf_reserve(to, bytes);
    if (!p) {
        to->failed = 0;
        return PYTHIA_ENOMEM;
    }
    *p = (struct packed_trace){.trace = *trace, .bytes = bytes};
    if (trace->count)
        memcpy(p->spans, trace->spans, spans);
    char *at = (char *)p->spans + spans;
    for (uint32_t i = 0; i < trace->count; i++) {
        struct pythia_text text = trace->spans[i].attributes;
        if (text.size)
            memcpy(at, text.bytes, text.size);
        at += text.size;
    }
    to->size += bytes;
    return PYTHIA_OK;
}

static int take_batch(const struct pythia__handover *h, struct pythia_buf *batch)
{
    int status = PYTHIA_OK;
    for (char *at = batch->bytes, *end = at + batch->size; at < end && status >= 0;) {
        struct packed_trace *p = (struct packed_trace *)(void *)at;
        const char *text = (const char *)(p->spans + p->trace.count);
        p->trace.spans = p->spans;
        for (uint32_t i = 0; i < p->trace.count; i++) {
            p->spans[i].attributes.bytes = text;
            text += p->spans[i].attributes.size;
        }
        status = h->take(h->context, &p->trace);
        at += p->bytes;
    }
    return status < 0 ? status : PYTHIA_OK;
}

/* ---- the consumer ---- */

static void note_failure(struct pythia__handover *h, int status)
{
    if (h->status == PYTHIA_OK && status < 0)
        h->status = status;
}

/* This thread is at the consumer: give it what waits, and leave. The lock is held, but not
 * meanwhile. */
static void take_waiting(struct pythia__handover *h)
{
    struct batch *batch;
    while ((batch = h->first)) {
        h->first = batch->next;
        h->last = h->first ? h->last : NULL;
        int status = h->status;
        uv_mutex_unlock(&h->lock);
        if (status == PYTHIA_OK)
            status = take_batch(h, &batch->traces);
        pythia_buf_clear(&batch->traces);
        uv_mutex_lock(&h->lock);
        note_failure(h, status);
        h->waiting--;
        batch->next = h->spare;
        h->spare = batch;
        uv_cond_broadcast(&h->changed);
    }
    h->taking = false;
    uv_cond_broadcast(&h->changed);
}

/* A batch with the content of the buffer, which gets the memory of one that was taken. The lock is
 * held. */
static struct batch *fill_batch(struct pythia__handover *h, struct pythia_buf *traces)
{
    struct batch *batch = h->spare;
    if (batch)
        h->spare = batch->next;
    else if (!(batch = pythia_calloc(1, sizeof(*batch))))
        return NULL;
    struct pythia_buf empty = batch->traces;
    *batch = (struct batch){.traces = *traces};
    *traces = empty;
    return batch;
}

int pythia__handover_flush(struct pythia__handover *h, struct pythia_buf *traces)
{
    if (traces->size == 0)
        return PYTHIA_OK;
    uv_mutex_lock(&h->lock);
    while (h->waiting >= WAITING_MAX)
        uv_cond_wait(&h->changed, &h->lock);
    struct batch *batch = fill_batch(h, traces);
    if (!batch) {
        uv_mutex_unlock(&h->lock);
        return PYTHIA_ENOMEM;
    }
    *(h->last ? &h->last->next : &h->first) = batch;
    h->last = batch;
    h->waiting++;
    if (!h->taking) {
        h->taking = true;
        take_waiting(h);
    }
    int status = h->status;
    uv_mutex_unlock(&h->lock);
    return status;
}

static int take_large_trace(struct pythia__handover *h, const struct pythia_trace *trace)
{
    uv_mutex_lock(&h->lock);
    while (h->taking)
        uv_cond_wait(&h->changed, &h->lock);
    h->taking = true;
    int status = h->status;
    uv_mutex_unlock(&h->lock);
    if (status == PYTHIA_OK)
        status = h->take(h->context, trace);
    uv_mutex_lock(&h->lock);
    note_failure(h, status);
    take_waiting(h);
    status = h->status;
    uv_mutex_unlock(&h->lock);
    return status;
}

int pythia__handover_add(struct pythia__handover *h, struct pythia_buf *batch,
                         const struct pythia_trace *trace)
{
    if (trace->count > SPANS_MAX)
        return take_large_trace(h, trace);
    int status = copy_trace(batch, trace);
    if (status != PYTHIA_OK || batch->size < BATCH_BYTES)
        return status;
    return pythia__handover_flush(h, batch);
}
