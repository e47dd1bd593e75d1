/* With one thread a decoder's sink is the taker. With more, each worker takes the next piece of the
 * input (pieces.h) and packs the spans it decodes into batches, which the caller's thread unpacks:
 *
 *   worker: piece ─> decoder ─> batch ─┐
 *   worker: piece ─> decoder ─> batch ─┴─> queue ─> caller: unpack ─> taker
 *                                          caller: piece ─> decoder ─> taker, if the queue is empty
 *
 * The order in which spans arrive is left to chance: nothing that takes them depends on it. What is
 * wrong with the files is logged in their order (file_messages.h). */
#include "feed.h"

#include <string.h>

#include <uv.h>

#include "file_messages.h"
#include "pieces.h"
#include "pythia/mem.h"
#include "pythia/span_batch.h"
#include "pythia/status.h"

#define BATCH_BYTES ((size_t)256 * 1024)
#define QUEUE_MAX   16 /* batches that wait */

/* ---- one piece ---- */

/* A sink that knows its piece. In a folder of small files, making a decoder and its caches would
 * cost more than reading a file, so that the decoder is used again where its format allows that. */
struct decoding {
    struct pythia_sink sink;
    const struct pythia__piece *piece;
    const struct pythia_pipeline_options *options;
    struct pythia__file_messages *messages; /* borrowed */
    bool again;
    struct pythia__feed_totals totals;
    struct pythia_adapter *adapter; /* owned: of the last file; NULL: none */
    /* where spans go: straight to the taker, or into a batch */
    struct pythia__feed_taker taker;
    struct worker *worker;
};

static void log_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    const struct decoding *d = (struct decoding *)sink;
    if (!d->again)
        pythia__file_messages_add_broken(d->messages, d->piece, why);
}

static void drop_adapter(struct decoding *d)
{
    if (d->adapter)
        d->adapter->ops->destroy(d->adapter);
    d->adapter = NULL;
}

/* Provide a decoder of that format: the last one if it may be used again. */
static int find_adapter(struct decoding *d, struct pythia_vocabulary *vocabulary,
                        const struct pythia_adapter_ops *ops)
{
    if (d->adapter && d->adapter->ops == ops && ops->independent)
        return PYTHIA_OK;
    drop_adapter(d);
    return ops->create(vocabulary, &d->adapter);
}

static void log_empty(const struct decoding *d, const char *name)
{
    struct pythia_error why = {0};
    (void)pythia_error_set(&why, PYTHIA_EFORMAT, "is empty");
    pythia_error_place(&why, name, 0, 0);
    pythia__file_messages_add(d->messages, d->piece, PYTHIA_LOG_WARNING, &why);
}

/* Detect the format of an undivided file; NULL with PYTHIA_OK: skip the file. Empty files, and
 * files in a folder that are no traces, are counted and skipped; a file that the user named is an
 * error. */
static int detect_format(struct decoding *d, struct pythia_input_stream *stream,
                         const struct pythia_adapter_ops **format, struct pythia_error *e)
{
    struct pythia_text head;
    bool named = d->piece->of->file->named;
    int status = pythia_input_head(stream, &head, e);
    *format = NULL;
    if (status != PYTHIA_OK)
        return status;
    if (head.size == 0) {
        d->totals.empty_files++;
        if (named && !d->again)
            log_empty(d, pythia_input_source(stream)->name);
        return PYTHIA_OK;
    }
    const unsigned long failures = pythia_mem_failures();
    bool chosen = d->options->format && !d->piece->of->file->is_events;
    *format = chosen ? d->options->format : pythia_adapter_like(head);
    if (pythia_mem_failures() != failures)
        return PYTHIA_ENOMEM; /* it may look like nothing only for want of memory */
    if (!*format && named) {
        pythia_error_place(e, pythia_input_source(stream)->name, 0, 0);
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "its first bytes match no trace format (--input-format names one)");
    }
    d->totals.skipped_files += !*format;
    return PYTHIA_OK;
}

static int decode_stream(struct decoding *d, struct pythia_vocabulary *vocabulary,
                         struct pythia_input_stream *stream, struct pythia_error *e)
{
    const struct pythia_adapter_ops *format = d->piece->format;
    int status = format ? PYTHIA_OK : detect_format(d, stream, &format, e);
    if (status != PYTHIA_OK || !format)
        return status;
    status = find_adapter(d, vocabulary, format);
    if (status != PYTHIA_OK)
        return status;
    d->totals.files += d->piece->range.begin == 0;
    return format->decode(d->adapter, pythia_input_source(stream), &d->sink, e);
}

static int open_piece(const struct decoding *d, _Atomic uint64_t *read_bytes,
                      struct pythia_input_stream **stream, struct pythia_error *why)
{
    const struct pythia__piece *piece = d->piece;
    return piece->format
               ? pythia_input_open_range(piece->of->file, &piece->range, read_bytes, stream, why)
               : pythia_input_open(piece->of->file, d->options->expansion_max, read_bytes, stream,
                                   why);
}

/* Decode one piece. Its errors are logged and counted; a negative status ends all reading. */
static int try_piece(struct decoding *d, struct pythia_vocabulary *vocabulary,
                     _Atomic uint64_t *read_bytes)
{
    struct pythia_error why = {0};
    struct pythia_input_stream *stream = NULL;
    struct pythia__divided_file *of = d->piece->of;
    int status = open_piece(d, read_bytes, &stream, &why);
    if (status != PYTHIA_OK)
        goto out;
    status = decode_stream(d, vocabulary, stream, &why);
    d->totals.bytes += pythia_input_content(stream) + d->piece->gap;
    pythia_input_close(stream);
out:
    if (status == PYTHIA_OK || status == PYTHIA_ENOMEM || why.status != status)
        return status;
    d->totals.failed_files += !atomic_exchange(&of->failed, true);
    pythia__piece_place(d->piece, &why);
    if (!d->again || !*of->file->failed) /* it may fail when it is read again, and only then */
        pythia__file_messages_add(d->messages, d->piece, PYTHIA_LOG_ERROR, &why);
    return PYTHIA_OK;
}

static int decode_piece(struct decoding *d, struct pythia_vocabulary *vocabulary,
                        _Atomic uint64_t *read_bytes)
{
    int status = try_piece(d, vocabulary, read_bytes);
    pythia__file_messages_end(d->messages, d->piece);
    return status;
}

static void add_totals(struct pythia__feed_totals *to, const struct pythia__feed_totals *from)
{
    pythia_counts_add(&to->counts, &from->counts);
    to->bytes += from->bytes;
    to->files += from->files;
    to->skipped_files += from->skipped_files;
    to->failed_files += from->failed_files;
    to->empty_files += from->empty_files;
}

/* ---- one thread ---- */

static int pass_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                     const struct pythia_span *span)
{
    struct decoding *d = (struct decoding *)sink;
    return d->taker.take(d->taker.context, trace, span);
}

static int feed_alone(struct pythia_vocabulary *vocabulary, const struct pythia__pieces *pieces,
                      struct decoding *d, _Atomic uint64_t *read_bytes)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < pieces->count; i++) {
        d->piece = &pieces->list[i];
        if ((status = decode_piece(d, vocabulary, read_bytes)) != PYTHIA_OK)
            break;
    }
    drop_adapter(d);
    return status;
}

/* ---- several ---- */

struct batch {
    struct batch *next;
    struct pythia_span_batch *spans; /* owned */
};

struct shared {
    uv_mutex_t lock;
    uv_cond_t changed;
    struct batch *first, *last, *spare; /* the queue, and batches to be filled again */
    size_t queued, working;
    int status; /* the first failure: it ends all reading */
    const struct pythia__pieces *pieces;
    size_t next, workers;
    struct pythia_vocabulary *vocabulary;
    _Atomic uint64_t *read_bytes;
};

struct worker {
    struct decoding decoding;
    struct shared *shared;
    struct batch *batch; /* being filled */
    uv_thread_t thread;
};

static void destroy_batches(struct batch *list)
{
    while (list) {
        struct batch *next = list->next;
        pythia_span_batch_destroy(list->spans);
        pythia_free(list);
        list = next;
    }
}

static struct batch *make_batch(void)
{
    struct batch *batch = pythia_calloc(1, sizeof(*batch));
    if (!batch || pythia_span_batch_create(&batch->spans) != PYTHIA_OK) {
        pythia_free(batch);
        return NULL;
    }
    return batch;
}

static struct batch *take_spare(struct shared *s)
{
    struct batch *batch = s->spare;
    if (!batch)
        return make_batch();
    s->spare = batch->next;
    pythia_span_batch_clear(batch->spans);
    batch->next = NULL;
    return batch;
}

/* Put the worker's batch into the queue and get another one. A full queue holds the worker up, so
 * that memory is bounded when the caller is slower than its workers. */
static int queue_batch(struct worker *w)
{
    struct shared *s = w->shared;
    uv_mutex_lock(&s->lock);
    while (s->queued >= QUEUE_MAX && s->status == PYTHIA_OK)
        uv_cond_wait(&s->changed, &s->lock);
    *(s->last ? &s->last->next : &s->first) = w->batch;
    s->last = w->batch;
    s->queued++;
    w->batch = take_spare(s);
    int status = w->batch ? s->status : PYTHIA_ENOMEM;
    uv_cond_broadcast(&s->changed);
    uv_mutex_unlock(&s->lock);
    return status;
}

static int batch_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    struct worker *w = ((struct decoding *)sink)->worker;
    int status = pythia_span_batch_add(w->batch->spans, trace, span);
    return status != PYTHIA_OK || pythia_span_batch_size(w->batch->spans) < BATCH_BYTES
               ? status
               : queue_batch(w);
}

/* The next piece for a worker; NULL when there is none, or after a failure. */
static const struct pythia__piece *next_piece(struct shared *s)
{
    uv_mutex_lock(&s->lock);
    bool more = s->next < s->pieces->count && s->status == PYTHIA_OK;
    const struct pythia__piece *piece = more ? &s->pieces->list[s->next++] : NULL;
    uv_mutex_unlock(&s->lock);
    return piece;
}

static int decode_pieces(struct worker *w)
{
    struct shared *s = w->shared;
    while ((w->decoding.piece = next_piece(s))) {
        int status = decode_piece(&w->decoding, s->vocabulary, s->read_bytes);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_span_batch_count(w->batch->spans) > 0 ? queue_batch(w) : PYTHIA_OK;
}

/* The first failure counts. The lock is held. */
static void note_status(struct shared *s, int status)
{
    s->status = s->status == PYTHIA_OK ? status : s->status;
}

static void run_worker(void *argument)
{
    struct worker *w = argument;
    struct shared *s = w->shared;
    int status = decode_pieces(w);
    drop_adapter(&w->decoding);
    uv_mutex_lock(&s->lock);
    note_status(s, status);
    s->working--;
    uv_cond_broadcast(&s->changed);
    uv_mutex_unlock(&s->lock);
}

/* A piece for the caller's thread, which has no batch to unpack; NULL if the workers will take all
 * that are left: then there is soon a batch. The lock is held. */
static const struct pythia__piece *take_piece(struct shared *s)
{
    bool many = s->status == PYTHIA_OK && s->pieces->count - s->next > s->workers;
    return many ? &s->pieces->list[s->next++] : NULL;
}

/* The first batch of the queue; NULL if there is none. The lock is held. */
static struct batch *pop_batch(struct shared *s)
{
    struct batch *batch = s->first;
    if (!batch)
        return NULL;
    s->first = batch->next;
    s->last = s->first ? s->last : NULL;
    s->queued--;
    uv_cond_broadcast(&s->changed);
    return batch;
}

/* Unpack batches, and decode pieces where there are none, until no worker is left. */
static int drain_batches(struct shared *s, struct decoding *own)
{
    uv_mutex_lock(&s->lock);
    for (;;) {
        struct batch *batch = pop_batch(s);
        own->piece = batch ? NULL : take_piece(s);
        if (!batch && !own->piece && s->working == 0)
            break;
        if (!batch && !own->piece) {
            uv_cond_wait(&s->changed, &s->lock);
            continue;
        }
        int status = s->status;
        uv_mutex_unlock(&s->lock);
        if (own->piece)
            status = decode_piece(own, s->vocabulary, s->read_bytes);
        else if (status == PYTHIA_OK)
            status = pythia_span_batch_each(batch->spans, own->taker.take, own->taker.context);
        uv_mutex_lock(&s->lock);
        note_status(s, status);
        if (batch) {
            batch->next = s->spare;
            s->spare = batch;
        }
    }
    int status = s->status;
    uv_mutex_unlock(&s->lock);
    drop_adapter(own);
    return status;
}

/* One worker is enough to go on: where no more threads can be made, reading is slower. */
static int start_workers(struct shared *s, struct worker *workers, size_t count,
                         const struct decoding *model)
{
    for (size_t i = 0; i < count; i++) {
        struct worker *w = &workers[i];
        w->decoding = *model;
        w->decoding.sink.span = batch_span;
        w->decoding.sink.counts = &w->decoding.totals.counts;
        w->decoding.worker = w;
        w->shared = s;
        w->batch = make_batch();
        if (!w->batch)
            return PYTHIA_ENOMEM;
        uv_mutex_lock(&s->lock);
        s->working++;
        uv_mutex_unlock(&s->lock);
        if (uv_thread_create(&w->thread, run_worker, w) != 0) {
            uv_mutex_lock(&s->lock);
            s->working--;
            uv_mutex_unlock(&s->lock);
            destroy_batches(w->batch);
            w->batch = NULL;
            return i > 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
        }
    }
    return PYTHIA_OK;
}

/* Workers that were started are waited for, also after a failure: they use the stack of the
 * caller. */
static int feed_threads(struct shared *s, struct worker *workers, struct decoding *own,
                        struct pythia__feed_totals *totals)
{
    const struct decoding model = *own;
    own->sink.counts = &own->totals.counts;
    int status = start_workers(s, workers, s->workers, &model);
    if (status != PYTHIA_OK) {
        uv_mutex_lock(&s->lock);
        s->status = status;
        uv_mutex_unlock(&s->lock);
    }
    status = drain_batches(s, own);
    add_totals(totals, &own->totals);
    for (size_t i = 0; i < s->workers && workers[i].shared; i++) {
        if (workers[i].thread)
            uv_thread_join(&workers[i].thread);
        add_totals(totals, &workers[i].decoding.totals);
        destroy_batches(workers[i].batch);
    }
    destroy_batches(s->first);
    destroy_batches(s->spare);
    return status;
}

static int feed_pieces(struct shared *s, struct decoding *own, struct pythia__feed_totals *totals)
{
    if (s->workers == 0) {
        own->sink.counts = &own->totals.counts;
        int status = feed_alone(s->vocabulary, s->pieces, own, s->read_bytes);
        *totals = own->totals;
        return status;
    }
    struct worker *pool = pythia_calloc(s->workers, sizeof(*pool));
    if (!pool || uv_mutex_init(&s->lock) != 0) {
        pythia_free(pool);
        return PYTHIA_ENOMEM;
    }
    int status = PYTHIA_ENOMEM;
    if (uv_cond_init(&s->changed) == 0) {
        status = feed_threads(s, pool, own, totals);
        uv_cond_destroy(&s->changed);
    }
    uv_mutex_destroy(&s->lock);
    pythia_free(pool);
    return status;
}

/* An error in a file is recorded with the file, also after a failure, so that another pass does
 * not log it again. */
int pythia__feed(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                 const struct pythia_pipeline_options *options, bool again,
                 struct pythia__feed_taker taker, _Atomic uint64_t *read_bytes,
                 struct pythia__feed_totals *totals)
{
    size_t count;
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    struct decoding own = {.sink = {.span = pass_span,
                                    .broken = log_broken,
                                    .redaction = options->redaction,
                                    .symbols = options->symbols},
                           .options = options,
                           .again = again || options->told,
                           .taker = taker};
    struct pythia__pieces pieces;
    *totals = (struct pythia__feed_totals){0};
    int status = pythia__pieces_find(files, count, options->format, &pieces);
    if (status == PYTHIA_OK)
        status = pythia__file_messages_create(&pieces, &own.messages);
    if (status != PYTHIA_OK)
        goto out;
    size_t workers = options->threads > 1 ? options->threads - 1 : 0;
    struct shared s = {.pieces = &pieces,
                       .workers = workers < pieces.count ? workers : pieces.count,
                       .vocabulary = vocabulary,
                       .read_bytes = read_bytes};
    status = feed_pieces(&s, &own, totals);
out:
    pythia__file_messages_destroy(own.messages);
    for (size_t i = 0; i < count && pieces.files; i++)
        *files[i].failed |= atomic_load(&pieces.files[i].failed);
    pythia__pieces_free(&pieces);
    return status;
}
