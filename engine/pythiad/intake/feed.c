#include "feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "intake.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/span_batch.h"
#include "pythia/spans_writer.h"
#include "pythia/status.h"
#include "recording_file.h"

#define BATCH_SPANS 2048
#define BATCH_NS    UINT64_C(100000000) /* since its first byte: of an input that never pauses */
#define AHEAD_BYTES (64 * 1024)
#define READY_MAX   4                    /* batches of a feed that wait for the loop */
#define AGAIN_MS    20                   /* while the engine is full */
#define TOLD_MAX    3                    /* broken records of which the log tells */
#define STOP_NS     UINT64_C(3000000000) /* to read on after the stop: some inputs never pause */

struct batch {
    struct batch *next;
    struct pythia_span_batch *spans;
    struct pythia_counts counts;
    uint64_t bytes, broken;
    uint64_t begun_ns; /* its first byte was read */
};

struct cost {
    uint32_t tracepoint;
    uint64_t ns;
};

struct feed {
    struct pythia_source source; /* what the decoder reads: first, so that one is the other */
    struct pythia_sink sink;
    struct feed *next;
    struct pythia__feeds *all;
    struct pythia__feed_reader *reader;
    const struct pythia_adapter_ops *format;
    struct pythia_adapter *adapter;
    uv_thread_t thread;
    char *name;              /* owned */
    char ahead[AHEAD_BYTES]; /* what was read, from `at` to `size` */
    size_t at, size;
    bool ended; /* no more will come */
    bool is_connection;
    int failed; /* with the reason in `why`, once what was read before is used up */
    struct pythia_error why;
    struct batch *batch;                /* at hand; NULL: none */
    int record;                         /* a file, or -1 */
    struct pythia_spans_writer *writer; /* NULL: what comes is recorded as it came */
    struct pythia_buf content;          /* spans, written */
    struct pythia_buf costs;            /* struct cost, that were not written yet */
    uint64_t told;
    /* under the lock */
    struct batch *ready, **ready_end, *spare;
    size_t ready_count;
    bool done, record_failed;
};

struct pythia__feeds {
    uv_loop_t *loop;
    struct pythia_vocabulary *vocabulary;
    struct pythia_live *live;
    struct pythia__feeds_options o;
    uv_async_t wake;
    uv_timer_t again; /* while the engine is full */
    uv_mutex_t lock;
    uv_cond_t room;
    struct feed *feeds;
    size_t running, connections;
    bool stopping;       /* under the lock */
    uint64_t stopped_ns; /* when that was set */
    struct pythia__feeds_numbers numbers;
    struct pythia_counts counts;
};

/* ---- on a feed's thread ---- */

static bool is_stopping(struct pythia__feeds *all)
{
    uv_mutex_lock(&all->lock);
    bool stopping = all->stopping;
    uv_mutex_unlock(&all->lock);
    return stopping;
}

/* Has it been stopping for so long that a feed that still gets input has to end? */
static bool is_overdue(struct pythia__feeds *all)
{
    uv_mutex_lock(&all->lock);
    bool overdue = all->stopping && uv_hrtime() - all->stopped_ns >= STOP_NS;
    uv_mutex_unlock(&all->lock);
    return overdue;
}

static struct batch *take_feed_batch(struct feed *f)
{
    uv_mutex_lock(&f->all->lock);
    struct batch *b = f->spare;
    if (b)
        f->spare = b->next;
    uv_mutex_unlock(&f->all->lock);
    if (b) {
        b->next = NULL; /* it may never be handed over: what is freed with the feed is it alone */
        return b;
    }
    b = pythia_calloc(1, sizeof(*b));
    if (b && pythia_span_batch_create(&b->spans) != PYTHIA_OK) {
        pythia_free(b);
        return NULL;
    }
    return b;
}

/* It cannot be written; errno says why. */
static void end_record(struct feed *f)
{
    pythia_log(PYTHIA_LOG_ERROR, "Stopped recording: of=%s, reason=%s", f->name, strerror(errno));
    close(f->record);
    f->record = -1;
    uv_mutex_lock(&f->all->lock);
    f->record_failed = true;
    uv_mutex_unlock(&f->all->lock);
}

/* Write that down, if it is wished. */
static void record_bytes(struct feed *f, const char *bytes, size_t size)
{
    while (size > 0 && f->record >= 0) {
        ssize_t written = write(f->record, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            end_record(f);
            return;
        }
        bytes += written;
        size -= (size_t)written;
    }
}

static int write_feed_span(void *context, const struct pythia_trace_id *trace,
                           const struct pythia_span *span)
{
    return pythia_spans_writer_add(context, trace, span);
}

static int write_costs(struct feed *f)
{
    int status = pythia_buf_status(&f->costs);
    if (status != PYTHIA_OK)
        return status;
    for (size_t at = 0; at < f->costs.size; at += sizeof(struct cost)) {
        struct cost cost;
        memcpy(&cost, f->costs.bytes + at, sizeof(cost));
        if ((status = pythia_spans_writer_cost(f->writer, cost.tracepoint, cost.ns)) != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Record the spans of the current batch, as a body of a recording. */
static void keep_spans(struct feed *f)
{
    char head[48];
    struct pythia_buf *content = &f->content;
    if (!f->writer || f->record < 0 ||
        (pythia_span_batch_count(f->batch->spans) == 0 && f->costs.size == 0))
        return;
    pythia_buf_clear(content);
    content->failed = 0;
    pythia_spans_writer_begin(f->writer, content);
    int status = write_costs(f);
    pythia_buf_clear(&f->costs);
    if (status != PYTHIA_OK ||
        pythia_span_batch_each(f->batch->spans, write_feed_span, f->writer) != PYTHIA_OK) {
        errno = ENOMEM;
        end_record(f);
        return;
    }
    int size = snprintf(head, sizeof(head), "spans %zu\n", content->size);
    pythia_buf_putc(content, '\n');
    if (pythia_buf_status(content) != PYTHIA_OK) {
        errno = ENOMEM;
        end_record(f);
    } else {
        record_bytes(f, head, (size_t)size);
        record_bytes(f, content->bytes, content->size);
    }
}

/* An error may be found so long after its bytes that nothing else can be reported. */
static bool is_feed_empty(const struct batch *b)
{
    static const struct pythia_counts none;
    return pythia_span_batch_count(b->spans) == 0 && b->bytes == 0 && b->broken == 0 &&
           memcmp(&b->counts, &none, sizeof(none)) == 0;
}

/* Give what was decoded to the loop; wait while too much waits for it. */
static void hand_batch_over(struct feed *f)
{
    struct batch *b = f->batch;
    struct pythia__feeds *all = f->all;
    if (!b || is_feed_empty(b))
        return;
    keep_spans(f);
    f->batch = NULL;
    b->next = NULL;
    uv_mutex_lock(&all->lock);
    while (f->ready_count >= READY_MAX)
        uv_cond_wait(&all->room, &all->lock);
    *f->ready_end = b;
    f->ready_end = &b->next;
    f->ready_count++;
    uv_mutex_unlock(&all->lock);
    uv_async_send(&all->wake);
}

static int need_batch(struct feed *f)
{
    if (!f->batch)
        f->batch = take_feed_batch(f);
    if (!f->batch)
        return PYTHIA_ENOMEM;
    f->sink.counts = &f->batch->counts;
    return PYTHIA_OK;
}

static struct feed *feed_of(struct pythia_sink *sink)
{
    return (struct feed *)((char *)sink - offsetof(struct feed, sink));
}

static int add_feed_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                         const struct pythia_span *span)
{
    struct feed *f = feed_of(sink);
    return pythia_span_batch_add(f->batch->spans, trace, span);
}

static void on_cost(struct pythia_sink *sink, uint32_t tracepoint, uint64_t ns)
{
    struct feed *f = feed_of(sink);
    const struct cost cost = {.tracepoint = tracepoint, .ns = ns};
    if (f->writer && f->record >= 0)
        pythia_buf_add(&f->costs, &cost, sizeof(cost));
}

static void log_broken_feed(struct pythia_sink *sink, const struct pythia_error *why)
{
    struct feed *f = feed_of(sink);
    char text[640];
    f->batch->broken++;
    if (f->told++ < TOLD_MAX)
        pythia_log(PYTHIA_LOG_WARNING, "A record cannot be read: %s",
                   pythia_error_text(why, text, sizeof(text)));
}

/* Read on after what was read ahead. Waits for a tenth of a second, at most. */
static int read_ahead(struct feed *f, struct pythia_error *e)
{
    size_t got = 0;
    if (f->at == f->size)
        f->at = f->size = 0;
    int status = need_batch(f);
    if (status != PYTHIA_OK)
        return status;
    f->reader->stopping = is_stopping(f->all);
    if (!f->ended && is_overdue(f->all)) {
        pythia_log(PYTHIA_LOG_WARNING,
                   "Input goes on after the stop, and is read no further: input=%s", f->name);
        f->ended = true;
    }
    if (!f->ended)
        status = f->reader->read(f->reader, f->ahead + f->size, sizeof(f->ahead) - f->size, &got,
                                 &f->ended, e);
    if (status != PYTHIA_OK)
        return status;
    if (!f->writer)
        record_bytes(f, f->ahead + f->size, got);
    if (f->batch->bytes == 0 && got > 0)
        f->batch->begun_ns = uv_hrtime();
    f->size += got;
    f->batch->bytes += got;
    return PYTHIA_OK;
}

/* Is there nothing to be read now? */
static bool has_nothing(struct pythia_source *source)
{
    struct feed *f = (struct feed *)source;
    if (f->at == f->size && f->failed == PYTHIA_OK)
        f->failed = read_ahead(f, &f->why);
    return f->at == f->size;
}

/* Is the batch large, or so old that it must not wait for a pause of its input? A program that
 * sends a little every 50 ms never pauses. */
static bool is_due(const struct batch *b)
{
    return pythia_span_batch_count(b->spans) >= BATCH_SPANS ||
           (b->bytes > 0 && uv_hrtime() - b->begun_ns >= BATCH_NS);
}

/* Read the next bytes. Before waiting for more, hand over what was decoded so far. *got 0: the
 * input has ended. */
static int read_feed_source(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                            struct pythia_error *e)
{
    struct feed *f = (struct feed *)source;
    *got = 0;
    if (f->batch && is_due(f->batch))
        hand_batch_over(f);
    while (f->at == f->size && !f->ended && f->failed == PYTHIA_OK) {
        bool stopping = is_stopping(f->all); /* before, so that what is there is taken in */
        if (!has_nothing(source))
            break;
        hand_batch_over(f);
        f->ended = f->ended || stopping;
    }
    int status = f->failed == PYTHIA_OK ? need_batch(f) : f->failed;
    if (f->failed != PYTHIA_OK)
        *e = f->why;
    *got = f->size - f->at < capacity ? f->size - f->at : capacity;
    memcpy(to, f->ahead + f->at, *got);
    f->at += *got;
    return status;
}

/* Read until it can be told what format it is: a line, or as much as there is room for. */
static int detect_feed_format(struct feed *f)
{
    while (!f->format && f->failed == PYTHIA_OK && !f->ended) {
        bool stopping = is_stopping(f->all);
        f->failed = read_ahead(f, &f->why);
        f->format = pythia_adapter_like((struct pythia_text){f->ahead, f->size});
        bool whole = f->size == sizeof(f->ahead) || memchr(f->ahead, '\n', f->size);
        if (f->failed == PYTHIA_OK && !f->format && (whole || (stopping && f->size > 0)))
            return pythia_error_set(&f->why, PYTHIA_EFORMAT, "its format was not recognised");
        f->ended = f->ended || (stopping && !f->format);
    }
    return f->failed;
}

static int decode_feed(struct feed *f)
{
    int status = detect_feed_format(f);
    if (status != PYTHIA_OK || !f->format)
        return status;
    if ((status = f->format->create(f->all->vocabulary, &f->adapter)) != PYTHIA_OK)
        return status;
    return f->format->decode(f->adapter, &f->source, &f->sink, &f->why);
}

static void run_reader(void *context)
{
    struct feed *f = context;
    int status = decode_feed(f);
    hand_batch_over(f); /* also after a failure: what was decoded before it is good */
    if (status != PYTHIA_OK) {
        char text[640];
        if (!f->why.status)
            pythia_error_set(&f->why, status, "%s", pythia_status_text(status));
        pythia_error_place(&f->why, f->name, 0, 0);
        pythia_log(PYTHIA_LOG_ERROR, "Stopped reading: %s",
                   pythia_error_text(&f->why, text, sizeof(text)));
    }
    f->reader->destroy(f->reader);
    if (f->format)
        f->format->destroy(f->adapter);
    uv_mutex_lock(&f->all->lock);
    f->done = true;
    uv_mutex_unlock(&f->all->lock);
    uv_async_send(&f->all->wake);
}

/* ---- on the loop's thread ---- */

static void free_feed_batches(struct batch *b)
{
    while (b) {
        struct batch *next = b->next;
        pythia_span_batch_destroy(b->spans);
        pythia_free(b);
        b = next;
    }
}

static void free_feed(struct feed *f)
{
    free_feed_batches(f->ready);
    free_feed_batches(f->spare);
    free_feed_batches(f->batch);
    if (f->record >= 0)
        close(f->record);
    pythia_spans_writer_destroy(f->writer);
    pythia_buf_free(&f->content);
    pythia_buf_free(&f->costs);
    pythia_free(f->name);
    pythia_free(f);
}

/* One batch of a feed; NULL: there is none. */
static struct batch *next_ready(struct pythia__feeds *all, struct feed *f)
{
    uv_mutex_lock(&all->lock);
    struct batch *b = f->ready;
    if (b) {
        f->ready = b->next;
        f->ready_end = f->ready ? f->ready_end : &f->ready;
        f->ready_count--;
    }
    uv_mutex_unlock(&all->lock);
    return b;
}

static void return_batch(struct pythia__feeds *all, struct feed *f, struct batch *b)
{
    pythia_span_batch_clear(b->spans);
    b->counts = (struct pythia_counts){0};
    b->bytes = b->broken = 0;
    uv_mutex_lock(&all->lock);
    b->next = f->spare;
    f->spare = b;
    uv_cond_broadcast(&all->room);
    uv_mutex_unlock(&all->lock);
}

/* A feed that has ended, and of which nothing waits: it goes. */
static bool remove_done(struct pythia__feeds *all, struct feed **at)
{
    struct feed *f = *at;
    uv_mutex_lock(&all->lock);
    bool done = f->done && !f->ready;
    uv_mutex_unlock(&all->lock);
    if (!done)
        return false;
    uv_thread_join(&f->thread);
    all->numbers.record_failed += f->record_failed;
    *at = f->next;
    all->running--;
    all->connections -= f->is_connection;
    free_feed(f);
    return true;
}

static void continue_feeds(uv_timer_t *timer);

/* A full engine leaves batches with their feeds, which stops the readers in turn; a timer tries
 * again. */
static void process_batches(struct pythia__feeds *all)
{
    bool full = false;
    for (struct feed **at = &all->feeds; *at && !full;) {
        struct feed *f = *at;
        struct batch *b;
        while (!(full = pythia_live_is_full(all->live) && !all->stopping) &&
               (b = next_ready(all, f)) != NULL) {
            int status = pythia_live_add(all->live, b->spans, uv_now(all->loop) * 1000000);
            if (status != PYTHIA_OK)
                pythia_log(PYTHIA_LOG_ERROR, "Spans could not be processed: reason=%s",
                           pythia_status_text(status));
            all->numbers.bytes += b->bytes;
            all->numbers.spans += pythia_span_batch_count(b->spans);
            all->numbers.broken += b->broken;
            pythia_counts_add(&all->counts, &b->counts);
            return_batch(all, f, b);
        }
        if (!remove_done(all, at))
            at = &(*at)->next;
    }
    if (full)
        uv_timer_start(&all->again, continue_feeds, AGAIN_MS, 0);
}

static void continue_feeds(uv_timer_t *timer)
{
    process_batches(timer->data);
}

static void on_wake(uv_async_t *wake)
{
    process_batches(wake->data);
}

/* ---- all of them ---- */

int pythia__feeds_create(uv_loop_t *loop, struct pythia_vocabulary *vocabulary,
                         struct pythia_live *live, const struct pythia__feeds_options *options,
                         struct pythia__feeds **out)
{
    struct pythia__feeds *f = pythia_calloc(1, sizeof(*f));
    if (!f)
        return PYTHIA_ENOMEM;
    f->loop = loop;
    f->vocabulary = vocabulary;
    f->live = live;
    f->o = *options;
    uv_mutex_init(&f->lock);
    uv_cond_init(&f->room);
    uv_async_init(loop, &f->wake, on_wake);
    uv_timer_init(loop, &f->again);
    f->wake.data = f->again.data = f;
    *out = f;
    return PYTHIA_OK;
}

void pythia__feeds_stop(struct pythia__feeds *f)
{
    uv_mutex_lock(&f->lock);
    f->stopping = true;
    f->stopped_ns = uv_hrtime();
    uv_mutex_unlock(&f->lock);
    uv_async_send(&f->wake);
}

size_t pythia__feeds_running(const struct pythia__feeds *f)
{
    return f->running;
}

size_t pythia__feeds_connections(const struct pythia__feeds *f)
{
    return f->connections;
}

void pythia__feeds_close(struct pythia__feeds *f)
{
    if (!uv_is_closing((uv_handle_t *)&f->wake)) {
        uv_close((uv_handle_t *)&f->wake, NULL);
        uv_close((uv_handle_t *)&f->again, NULL);
    }
}

void pythia__feeds_destroy(struct pythia__feeds *f)
{
    if (!f)
        return;
    uv_mutex_destroy(&f->lock);
    uv_cond_destroy(&f->room);
    pythia_free(f);
}

/* A new file for what a feed reads; -1 if none is wished, or it cannot be had, which is told. */
static int make_record(const struct pythia__feeds *all, const char *name)
{
    struct pythia_buf path = {0};
    if (!all->o.record)
        return -1;
    pythia_buf_printf(&path, "%s.%" PRIu64, all->o.record, all->numbers.feeds + 1);
    struct pythia_error why = {0};
    int file = path.bytes ? pythia__recording_open(path.bytes, NULL, &why) : -1;
    if (file < 0)
        pythia_log(PYTHIA_LOG_ERROR, "Cannot record: of=%s, file=%s, reason=%s", name,
                   path.bytes ? path.bytes : "", path.bytes ? why.sentence : "out of memory");
    else
        pythia_log(PYTHIA_LOG_INFO, "Records: of=%s, file=%s", name, path.bytes);
    pythia_buf_free(&path);
    return file;
}

/* The reader is taken over even on failure, so that callers have nothing to clean up. */
int pythia__feeds_add(struct pythia__feeds *all, const char *name,
                      const struct pythia_adapter_ops *format, struct pythia__feed_reader *reader)
{
    struct feed *f = pythia_calloc(1, sizeof(*f));
    char *copy = pythia_strndup(name, strlen(name));
    if (!f || !copy) {
        pythia_free(f);
        pythia_free(copy);
        reader->destroy(reader);
        return PYTHIA_ENOMEM;
    }
    f->source =
        (struct pythia_source){.name = copy, .read = read_feed_source, .waits = has_nothing};
    f->sink = (struct pythia_sink){.span = add_feed_span,
                                   .broken = log_broken_feed,
                                   .cost = on_cost,
                                   .limits = all->o.limits,
                                   .record_max = all->o.record_max,
                                   .redaction = all->o.redaction};
    f->all = all;
    f->reader = reader;
    f->is_connection = reader->is_connection;
    f->format = format;
    f->name = copy;
    f->ready_end = &f->ready;
    f->record = make_record(all, name);
    all->numbers.record_failed += all->o.record && f->record < 0;
    if (f->record >= 0 && all->o.redaction) {
        if (pythia_spans_writer_create(all->vocabulary, &f->writer) != PYTHIA_OK) {
            reader->destroy(reader);
            free_feed(f);
            return PYTHIA_ENOMEM;
        }
        record_bytes(f, PYTHIA__RECORDING_HEAD, strlen(PYTHIA__RECORDING_HEAD));
    }
    if (uv_thread_create(&f->thread, run_reader, f) != 0) {
        reader->destroy(reader);
        free_feed(f);
        return PYTHIA_ENOMEM;
    }
    f->next = all->feeds;
    all->feeds = f;
    all->running++;
    all->connections += f->is_connection;
    all->numbers.feeds++;
    return PYTHIA_OK;
}

struct pythia__feeds_numbers pythia__feeds_numbers(const struct pythia__feeds *f)
{
    return f->numbers;
}

const struct pythia_counts *pythia__feeds_counts(const struct pythia__feeds *f)
{
    return &f->counts;
}
