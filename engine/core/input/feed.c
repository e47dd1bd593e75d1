/* Spans belong to shards, by their trace; what takes them is as many takers of a thread each. One
 * thread decodes and gives each span to its shard at once. Of several threads, each does what there
 * is to do: it adds a batch of spans to a shard that no other thread is at, or decodes the next
 * piece of the input (pieces.h) into batches, one for each shard.
 *
 *   thread: piece ─> decoder ─> batches ─┬─> queue of shard 0 ─┐
 *   thread: piece ─> decoder ─> batches ─┴─> queue of shard 1 ─┴─> any thread, one a shard: taker
 *
 * The order in which spans arrive is left to chance: nothing that takes them depends on it. What is
 * wrong with the files is logged in their order (file_messages.h). */
#include "feed.h"

#include <string.h>

#include <uv.h>

#include "blocks.h"
#include "file_messages.h"
#include "pieces.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/span_batch.h"
#include "pythia/status.h"

#define BATCH_BYTES  ((size_t)128 * 1024)
#define QUEUE_MAX    4 /* batches that wait, for each thread */
#define AHEAD        2 /* pieces for each thread, between the first and the last that are decoded */
#define PACKED_BYTES ((uint64_t)16 * 1024) /* a smaller file is one block, or little more */

/* ---- one piece ---- */

/* A file that is read in blocks. */
struct streamed {
    struct streamed *next;
    struct pythia__piece piece;
    const struct pythia_adapter_ops *format;
    struct pythia__blocks *blocks; /* owned */
    /* Of several threads: */
    bool reading, ended; /* a thread takes the next block; there is none any more */
    size_t decoding;     /* threads that decode one */
    size_t taken;        /* blocks */
};

/* A sink that knows its piece. In a folder of small files, making a decoder and its caches would
 * cost more than reading a file, so that the decoder is used again where its format allows that. */
struct decoding {
    struct pythia_sink sink;
    const struct pythia__piece *piece;
    struct pythia__block block; /* of a piece that is read in blocks */
    bool in_block;
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
        pythia__file_messages_add_broken(d->messages, d->piece, d->in_block ? &d->block : NULL,
                                         why);
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
    pythia__file_messages_add(d->messages, d->piece, NULL, PYTHIA_LOG_WARNING, &why);
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

static int open_piece(const struct decoding *d, _Atomic uint64_t *read_bytes,
                      struct pythia_input_stream **stream, struct pythia_error *why)
{
    const struct pythia__piece *piece = d->piece;
    return piece->format
               ? pythia_input_open_range(piece->of->file, &piece->range, read_bytes, stream, why)
               : pythia_input_open(piece->of->file, d->options->expansion_max, read_bytes, stream,
                                   why);
}

/* An error in a file is logged and counted; a negative status is left that ends all reading. */
static int settle_errors(struct decoding *d, int status, const struct pythia_error *why)
{
    struct pythia__divided_file *of = d->piece->of;
    if (status == PYTHIA_OK || status == PYTHIA_ENOMEM || why->status != status)
        return status;
    d->totals.failed_files += !atomic_exchange(&of->failed, true);
    if (!d->again || !*of->file->failed) /* it may fail when it is read again, and only then */
        pythia__file_messages_add(d->messages, d->piece, d->in_block ? &d->block : NULL,
                                  PYTHIA_LOG_ERROR, why);
    return PYTHIA_OK;
}

/* Read a stream in blocks if it is worth it: a large compressed file, of a format and a layout that
 * allow it. *out NULL: it is to be decoded as a whole. Otherwise that takes the stream. */
static int stream_blocks(const struct decoding *d, const struct pythia_adapter_ops *format,
                         struct pythia_input_stream *stream, struct streamed **out)
{
    struct pythia_text head;
    struct pythia_error unused = {0};
    *out = NULL;
    if (!pythia_input_is_packed(stream) || d->piece->of->file->size_bytes < PACKED_BYTES ||
        pythia_input_head(stream, &head, &unused) != PYTHIA_OK)
        return PYTHIA_OK;
    const struct pythia__layout *layout = pythia__layout_find(format, head);
    struct streamed *s = layout ? pythia_calloc(1, sizeof(*s)) : NULL;
    if (!s)
        return layout ? PYTHIA_ENOMEM : PYTHIA_OK;
    s->piece = *d->piece;
    s->format = format;
    *out = s;
    return pythia__blocks_create(stream, layout, &s->blocks);
}

static void destroy_streamed(struct streamed *s)
{
    pythia__blocks_destroy(s->blocks);
    pythia_free(s);
}

/* Decode one piece, or find that it is to be read in blocks: *out. Its errors are logged and
 * counted; a negative status ends all reading. */
static int begin_piece(struct decoding *d, struct pythia_vocabulary *vocabulary,
                       _Atomic uint64_t *read_bytes, struct streamed **out)
{
    struct pythia_error why = {0};
    struct pythia_input_stream *stream = NULL;
    const struct pythia_adapter_ops *format = d->piece->format;
    *out = NULL;
    int status = open_piece(d, read_bytes, &stream, &why);
    if (status != PYTHIA_OK)
        return settle_errors(d, status, &why);
    if (!format)
        status = detect_format(d, stream, &format, &why);
    if (status != PYTHIA_OK || !format)
        goto out;
    d->totals.files += d->piece->range.begin == 0;
    status = stream_blocks(d, format, stream, out);
    if (*out)
        return status;
    if (status == PYTHIA_OK)
        status = find_adapter(d, vocabulary, format);
    if (status == PYTHIA_OK)
        status = format->decode(d->adapter, pythia_input_source(stream), &d->sink, &why);
out:
    d->totals.bytes += pythia_input_content(stream) + d->piece->gap;
    pythia_input_close(stream);
    return settle_errors(d, status, &why);
}

/* Decode the block that was taken last. */
static int decode_block(struct decoding *d, struct pythia_vocabulary *vocabulary,
                        const struct streamed *s)
{
    struct pythia_error why = {0};
    int status = find_adapter(d, vocabulary, s->format);
    if (status != PYTHIA_OK)
        return status;
    d->in_block = true;
    status =
        settle_errors(d, s->format->decode(d->adapter, &d->block.source, &d->sink, &why), &why);
    d->in_block = false;
    return status;
}

/* All blocks of a file were decoded. */
static void end_streamed(struct decoding *d, struct streamed *s)
{
    d->totals.bytes += pythia__blocks_content(s->blocks);
    pythia__file_messages_end(d->messages, &s->piece);
    destroy_streamed(s);
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

static size_t shard_of(const struct pythia__feed_taker *taker, const struct pythia_trace_id *trace)
{
    return taker->count == 1 ? 0 : pythia_hash_mix(trace->high, trace->low) % taker->count;
}

static int pass_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                     const struct pythia_span *span)
{
    struct decoding *d = (struct decoding *)sink;
    return d->taker.take(d->taker.shards[shard_of(&d->taker, trace)], trace, span);
}

static int decode_alone(struct decoding *d, struct pythia_vocabulary *vocabulary,
                        _Atomic uint64_t *read_bytes)
{
    struct streamed *s;
    int status = begin_piece(d, vocabulary, read_bytes, &s);
    if (!s) {
        pythia__file_messages_end(d->messages, d->piece);
        return status;
    }
    while (status == PYTHIA_OK) {
        status = pythia__blocks_next(s->blocks, &d->block);
        if (status == PYTHIA_OK)
            status = decode_block(d, vocabulary, s);
    }
    end_streamed(d, s);
    return status == 1 ? PYTHIA_OK : status;
}

/* The next piece, and a place for its messages: 0, 1 if there is none, or PYTHIA_ENOMEM. */
static int find_piece(struct pythia__pieces *pieces, struct pythia__file_messages *messages,
                      struct pythia__piece *out)
{
    int status = pythia__pieces_next(pieces, out);
    return status == PYTHIA_OK ? pythia__file_messages_begin(messages, out) : status;
}

static int feed_alone(struct pythia_vocabulary *vocabulary, struct pythia__pieces *pieces,
                      struct decoding *d, _Atomic uint64_t *read_bytes)
{
    struct pythia__piece piece;
    int status;
    d->piece = &piece;
    while ((status = find_piece(pieces, d->messages, &piece)) == PYTHIA_OK)
        if ((status = decode_alone(d, vocabulary, read_bytes)) != PYTHIA_OK)
            break;
    d->piece = NULL;
    drop_adapter(d);
    pythia__block_free(&d->block);
    status = status == 1 ? PYTHIA_OK : status;
    for (size_t i = 0; i < d->taker.count && status == PYTHIA_OK; i++)
        status = d->taker.finish(d->taker.shards[i]);
    return status;
}

/* ---- several ---- */

struct batch {
    struct batch *next;
    struct pythia_span_batch *spans; /* owned */
};

struct queue {
    struct batch *first, *last;
    bool busy, finished; /* busy: a thread adds a batch to the shard */
};

struct shared {
    uv_mutex_t lock;
    uv_cond_t changed;
    struct pythia__feed_taker taker;
    struct queue *queues;          /* owned: of each shard */
    struct batch *spare;           /* batches to be filled again */
    size_t queued;                 /* batches that wait or are being added */
    size_t filling;                /* threads that may have batches which are not queued */
    int status;                    /* the first failure: it ends all reading */
    struct pythia__pieces *pieces; /* borrowed; of the thread that is finding one */
    struct pythia__piece next;     /* that no thread has taken yet, if it was found */
    bool finding, found, all_found;
    struct streamed *streams; /* owned: files that are read in blocks now */
    struct worker *workers;   /* owned */
    size_t count;
    struct pythia_vocabulary *vocabulary;
    _Atomic uint64_t *read_bytes;
};

struct worker {
    struct decoding decoding;
    struct pythia__piece piece;
    struct shared *shared;
    struct batch **batches;    /* owned: being filled, one for each shard; NULL: not begun */
    struct streamed *streamed; /* of which it decodes block `number` */
    size_t number;
    bool filling, started;
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
    uv_mutex_lock(&s->lock);
    struct batch *batch = s->spare;
    if (batch)
        s->spare = batch->next;
    uv_mutex_unlock(&s->lock);
    if (!batch)
        return make_batch();
    batch->next = NULL;
    return batch;
}

/* The first failure counts. The lock is held. */
static void note_status(struct shared *s, int status)
{
    s->status = s->status == PYTHIA_OK ? status : s->status;
}

/* Give the first batch of a queue to its shard, if no other thread is at that. False: there is
 * nothing to do. The lock is held, but not meanwhile. */
static bool add_first_batch(struct shared *s, size_t number)
{
    struct queue *q = &s->queues[number];
    struct batch *batch = q->busy || s->status != PYTHIA_OK ? NULL : q->first;
    if (!batch)
        return false;
    q->first = batch->next;
    q->last = q->first ? q->last : NULL;
    q->busy = true;
    uv_mutex_unlock(&s->lock);
    int status = pythia_span_batch_each(batch->spans, s->taker.take, s->taker.shards[number]);
    pythia_span_batch_clear(batch->spans);
    uv_mutex_lock(&s->lock);
    note_status(s, status);
    q->busy = false;
    s->queued--;
    batch->next = s->spare;
    s->spare = batch;
    uv_cond_broadcast(&s->changed);
    return true;
}

static bool add_batch(struct shared *s)
{
    for (size_t i = 0; i < s->taker.count; i++)
        if (add_first_batch(s, i))
            return true;
    return false;
}

/* Put a batch into the queue of its shard. While there is no place, this thread adds others, so
 * that memory is bounded when decoding is faster. */
static int queue_batch(struct worker *w, size_t number)
{
    struct shared *s = w->shared;
    struct queue *q = &s->queues[number];
    uv_mutex_lock(&s->lock);
    while (s->queued >= QUEUE_MAX * s->count && s->status == PYTHIA_OK)
        if (!add_batch(s))
            uv_cond_wait(&s->changed, &s->lock);
    *(q->last ? &q->last->next : &q->first) = w->batches[number];
    q->last = w->batches[number];
    w->batches[number] = NULL;
    s->queued++;
    int status = s->status;
    uv_cond_broadcast(&s->changed);
    uv_mutex_unlock(&s->lock);
    return status;
}

static int batch_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    struct worker *w = ((struct decoding *)sink)->worker;
    size_t shard = shard_of(&w->shared->taker, trace);
    if (!w->batches[shard] && !(w->batches[shard] = take_spare(w->shared)))
        return PYTHIA_ENOMEM;
    struct pythia_span_batch *to = w->batches[shard]->spans;
    int status = pythia_span_batch_add(to, trace, span);
    return status != PYTHIA_OK || pythia_span_batch_size(to) < BATCH_BYTES ? status
                                                                           : queue_batch(w, shard);
}

/* Would a thread be far ahead of one that the system has put to sleep in the middle of a piece?
 * Then traces whose spans are near each other in the file would look as if they were far apart. The
 * lock is held. */
static bool is_far_ahead(const struct shared *s, const struct pythia__piece *piece)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct pythia__piece *other = s->workers[i].decoding.piece;
        if (other && other->of == piece->of && piece->number - other->number > AHEAD * s->count)
            return true;
    }
    return false;
}

/* Queue the batches that this thread has begun. False: there are none. The lock is held, but not
 * meanwhile. */
static bool queue_rest(struct worker *w)
{
    struct shared *s = w->shared;
    int status = PYTHIA_OK;
    if (!w->filling)
        return false;
    uv_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->taker.count && status == PYTHIA_OK; i++)
        if (w->batches[i])
            status = queue_batch(w, i);
    uv_mutex_lock(&s->lock);
    note_status(s, status);
    w->filling = false;
    s->filling--;
    uv_cond_broadcast(&s->changed);
    return true;
}

/* The same, of the blocks of a file. */
static bool is_far_ahead_in(const struct shared *s, const struct streamed *of)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->workers[i].streamed == of && of->taken - s->workers[i].number > AHEAD * s->count)
            return true;
    return false;
}

static void unlink_streamed(struct shared *s, const struct streamed *of)
{
    struct streamed **at = &s->streams;
    while (*at != of)
        at = &(*at)->next;
    *at = of->next;
}

/* Take a block of a file, and decode it. The lock is held, but not meanwhile. */
static void decode_next_block(struct worker *w, struct streamed *of)
{
    struct shared *s = w->shared;
    of->reading = true;
    uv_mutex_unlock(&s->lock);
    int status = pythia__blocks_next(of->blocks, &w->decoding.block);
    uv_mutex_lock(&s->lock);
    of->reading = false;
    of->ended = status != PYTHIA_OK;
    if (status < 0)
        note_status(s, status);
    uv_cond_broadcast(&s->changed);
    if (status == PYTHIA_OK) {
        w->streamed = of;
        w->number = of->taken++;
        of->decoding++;
        s->filling += !w->filling;
        w->filling = true;
        w->decoding.piece = &of->piece;
        uv_mutex_unlock(&s->lock);
        status = decode_block(&w->decoding, s->vocabulary, of);
        uv_mutex_lock(&s->lock);
        note_status(s, status);
        (void)queue_rest(w);
        w->streamed = NULL;
        w->decoding.piece = NULL;
        of->decoding--;
    }
    if (of->ended && of->decoding == 0 && !of->reading) {
        unlink_streamed(s, of);
        end_streamed(&w->decoding, of);
        uv_cond_broadcast(&s->changed);
    }
}

/* False: there is no file that is read in blocks, or none whose next block can be taken. */
static bool decode_streams(struct worker *w)
{
    for (struct streamed *of = w->shared->streams; of; of = of->next)
        if (!of->reading && !of->ended && !is_far_ahead_in(w->shared, of)) {
            decode_next_block(w, of);
            return true;
        }
    return false;
}

/* Find the next piece, for whichever thread takes it. False: one waits to be taken, another thread
 * is finding it, or there is none. The lock is held, but not meanwhile. */
static bool find_next(struct worker *w)
{
    struct shared *s = w->shared;
    if (s->finding || s->found || s->all_found)
        return false;
    s->finding = true;
    uv_mutex_unlock(&s->lock);
    int status = find_piece(s->pieces, w->decoding.messages, &s->next);
    uv_mutex_lock(&s->lock);
    s->finding = false;
    s->found = status == PYTHIA_OK;
    s->all_found = !s->found;
    if (status < 0)
        note_status(s, status);
    uv_cond_broadcast(&s->changed);
    return true;
}

/* Decode the next piece. Batches are queued with the last span of a piece, so that no thread holds
 * them back; but those of small files once they are full, because there would be a batch for a few
 * spans. False: there is none, or not yet. The lock is held, but not meanwhile. */
static bool decode_next(struct worker *w)
{
    struct shared *s = w->shared;
    if (!s->found || is_far_ahead(s, &s->next))
        return false;
    w->piece = s->next;
    s->found = false;
    const struct pythia__piece *piece = w->decoding.piece = &w->piece;
    s->filling += !w->filling;
    w->filling = true;
    uv_mutex_unlock(&s->lock);
    struct streamed *streamed;
    int status = begin_piece(&w->decoding, s->vocabulary, s->read_bytes, &streamed);
    if (!streamed)
        pythia__file_messages_end(w->decoding.messages, piece);
    uv_mutex_lock(&s->lock);
    note_status(s, status);
    if (streamed) {
        streamed->next = s->streams;
        s->streams = streamed;
        uv_cond_broadcast(&s->changed);
    }
    if (piece->format)
        (void)queue_rest(w);
    w->decoding.piece = NULL;
    return true;
}

/* Can more batches come? The lock is held. */
static bool awaits_batches(const struct shared *s)
{
    return !s->all_found || s->found || s->streams || s->filling > 0 || s->queued > 0;
}

/* Finish a shard. False: there is none, or not yet. The lock is held, but not meanwhile. */
static bool finish_next(struct shared *s)
{
    size_t i = 0;
    while (i < s->taker.count && s->queues[i].finished)
        i++;
    if (awaits_batches(s) || i == s->taker.count)
        return false;
    s->queues[i].finished = true;
    uv_mutex_unlock(&s->lock);
    int status = s->taker.finish(s->taker.shards[i]);
    uv_mutex_lock(&s->lock);
    note_status(s, status);
    return true;
}

static void run_worker(void *argument)
{
    struct worker *w = argument;
    struct shared *s = w->shared;
    uv_mutex_lock(&s->lock);
    while (s->status == PYTHIA_OK) {
        if (add_batch(s) || decode_streams(w) || find_next(w) || decode_next(w) || queue_rest(w) ||
            finish_next(s))
            continue;
        if (!awaits_batches(s))
            break;
        uv_cond_wait(&s->changed, &s->lock);
    }
    uv_cond_broadcast(&s->changed); /* after a failure others may wait */
    uv_mutex_unlock(&s->lock);
    drop_adapter(&w->decoding);
}

/* The caller's thread is the first worker, and enough: where no more threads can be made, reading
 * is slower. */
static int run_workers(struct shared *s, const struct decoding *model)
{
    struct worker *workers = s->workers;
    for (size_t i = 0; i < s->count; i++) {
        struct worker *w = &workers[i];
        w->decoding = *model;
        w->decoding.sink.span = batch_span;
        w->decoding.sink.counts = &w->decoding.totals.counts;
        w->decoding.worker = w;
        w->shared = s;
        w->batches = pythia_calloc(s->taker.count, sizeof(struct batch *));
        if (!w->batches)
            return PYTHIA_ENOMEM;
    }
    for (size_t i = 1; i < s->count; i++)
        workers[i].started = uv_thread_create(&workers[i].thread, run_worker, &workers[i]) == 0;
    run_worker(&workers[0]);
    for (size_t i = 1; i < s->count; i++)
        if (workers[i].started)
            uv_thread_join(&workers[i].thread);
    return s->status;
}

static int feed_threads(struct shared *s, const struct decoding *model,
                        struct pythia__feed_totals *totals)
{
    s->workers = pythia_calloc(s->count, sizeof(*s->workers));
    s->queues = pythia_calloc(s->taker.count, sizeof(*s->queues));
    int status = s->workers && s->queues ? run_workers(s, model) : PYTHIA_ENOMEM;
    for (size_t i = 0; s->workers && i < s->count; i++) {
        struct worker *w = &s->workers[i];
        pythia__block_free(&w->decoding.block);
        add_totals(totals, &w->decoding.totals);
        for (size_t k = 0; w->batches && k < s->taker.count; k++)
            destroy_batches(w->batches[k]);
        pythia_free(w->batches);
    }
    for (size_t i = 0; s->queues && i < s->taker.count; i++)
        destroy_batches(s->queues[i].first);
    for (struct streamed *of; (of = s->streams);) { /* after a failure */
        s->streams = of->next;
        destroy_streamed(of);
    }
    destroy_batches(s->spare);
    pythia_free(s->queues);
    pythia_free(s->workers);
    return status;
}

static int feed_pieces(struct shared *s, struct decoding *model, struct pythia__feed_totals *totals)
{
    if (s->count <= 1) {
        model->sink.counts = &model->totals.counts;
        int status = feed_alone(s->vocabulary, s->pieces, model, s->read_bytes);
        *totals = model->totals;
        return status;
    }
    if (uv_mutex_init(&s->lock) != 0)
        return PYTHIA_ENOMEM;
    int status = PYTHIA_ENOMEM;
    if (uv_cond_init(&s->changed) == 0) {
        status = feed_threads(s, model, totals);
        uv_cond_destroy(&s->changed);
    }
    uv_mutex_destroy(&s->lock);
    return status;
}

/* Folders of events are read by a process of its own, one after the other (pythia/lttng_reader.h);
 * it has most of the work, so that more threads than this one would gain little. More threads than
 * pieces and shards would have nothing to do. */
static size_t choose_thread_count(const struct pythia_input_file *files, size_t count,
                                  size_t shards, size_t wanted)
{
    size_t most = shards;
    for (size_t i = 0; i < count; i++)
        if (files[i].is_events)
            return 1;
    for (size_t i = 0; i < count && most < wanted; i++)
        most += 1 + (size_t)(files[i].size_bytes / PYTHIA__PIECE_BYTES);
    return most < wanted ? most : wanted;
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
    struct pythia__pieces *pieces = NULL;
    *totals = (struct pythia__feed_totals){0};
    int status = pythia__pieces_create(files, count, options->format, &pieces);
    if (status == PYTHIA_OK)
        status = pythia__file_messages_create(&own.messages);
    if (status != PYTHIA_OK)
        goto out;
    struct shared s = {.taker = taker,
                       .pieces = pieces,
                       .count = choose_thread_count(files, count, taker.count, options->threads),
                       .vocabulary = vocabulary,
                       .read_bytes = read_bytes};
    status = feed_pieces(&s, &own, totals);
out:
    pythia__file_messages_destroy(own.messages);
    pythia__pieces_destroy(pieces);
    return status;
}
