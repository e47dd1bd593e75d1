#include "pythia/pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "feed.h"
#include "handover.h"
#include "pythia/assembler.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/request_variables.h"
#include "pythia/status.h"

#define QUIET_SPANS 65536
#define QUIET_TICKS 4 /* in which a trace gets no span, and it is finished */
#define PROGRESS_NS UINT64_C(200000000)
#define CHECK_EVERY 4096 /* spans, between looks at the time */

/* One pass over the input. */
struct pass {
    const struct pythia_pipeline_options *options;
    const struct pythia_consumer *consumer;
    const struct pythia_consumer_parts *parts; /* NULL: one thread at a time is at the consumer */
    struct pythia__handover *handover;         /* owned; to take_joined; where there are no parts */
    uint64_t all_bytes, shown_ns;
    bool shown;
    _Atomic uint64_t read_bytes, spans; /* spans: about so many were added */
    _Atomic bool joins;                 /* a fork was seen: traces of different shards may be one */
};

/* A part of the traces, chosen by their ids. */
struct shard {
    struct pass *pass;
    size_t number;
    struct pythia_assembler *assembler;
    struct pythia_request_variables *variables;
    struct pythia_counts counts;
    struct pythia_buf batch; /* of traces to hand over */
    uint64_t tick_spans, spans;
    bool alone; /* the only one: it gives its traces to the consumer */
    bool shows; /* progress */
};

static void show_progress(struct pass *p)
{
    uint64_t now = uv_hrtime();
    if (now - p->shown_ns < PROGRESS_NS)
        return;
    p->shown_ns = now;
    p->shown = true;
    uint64_t read_bytes = atomic_load_explicit(&p->read_bytes, memory_order_relaxed),
             spans = atomic_load_explicit(&p->spans, memory_order_relaxed);
    if (p->all_bytes)
        fprintf(stderr, "\r%5.1f %%  %" PRIu64 " MB of %" PRIu64 ", %" PRIu64 " spans ",
                100.0 * (double)read_bytes / (double)p->all_bytes, read_bytes / 1000000,
                p->all_bytes / 1000000, spans);
    else
        fprintf(stderr, "\r%" PRIu64 " MB, %" PRIu64 " spans ", read_bytes / 1000000, spans);
    fflush(stderr);
}

static void erase_progress(const struct pass *p)
{
    if (p->shown)
        fprintf(stderr, "\r%*s\r", 78, "");
}

static int assemble_span(void *context, const struct pythia_trace_id *trace,
                         const struct pythia_span *span)
{
    struct shard *s = context;
    struct pass *p = s->pass;
    if (!s->alone && span->part == PYTHIA_PART_FORK)
        atomic_store(&p->joins, true);
    if (atomic_load_explicit(&p->joins, memory_order_relaxed))
        return PYTHIA_OK; /* all will be read again: this pass only looks for broken records */
    int status = pythia_assembler_add(s->assembler, trace, span);
    if (status != PYTHIA_OK)
        return status;
    if (++s->spans % s->tick_spans == 0 &&
        (status = pythia_assembler_tick(s->assembler)) != PYTHIA_OK)
        return status;
    if (s->spans % CHECK_EVERY == 0) {
        atomic_fetch_add_explicit(&p->spans, CHECK_EVERY, memory_order_relaxed);
        if (s->shows)
            show_progress(p);
    }
    return PYTHIA_OK;
}

static int finish_shard(void *context)
{
    struct shard *s = context;
    if (atomic_load(&s->pass->joins))
        return PYTHIA_OK;
    int status = pythia_assembler_finish(s->assembler);
    return status == PYTHIA_OK && !s->pass->parts
               ? pythia__handover_flush(s->pass->handover, &s->batch)
               : status;
}

/* Give the consumer a trace with its series: one thread at a time. */
static int take_joined(void *context, const struct pythia_trace *trace)
{
    const struct pass *p = context;
    if (p->options->join && !(trace = pythia_series_join_trace(p->options->join, trace)))
        return PYTHIA_ENOMEM;
    return p->consumer->take(p->consumer->context, trace);
}

static int take_trace(void *context, const struct pythia_trace *trace)
{
    struct shard *s = context;
    trace = pythia_request_variables_trace(s->variables, trace);
    if (!trace)
        return PYTHIA_ENOMEM;
    const struct pass *p = s->pass;
    if (p->parts)
        return p->parts->take(p->consumer->context, s->number, trace);
    return s->alone ? take_joined(s->pass, trace)
                    : pythia__handover_add(s->pass->handover, &s->batch, trace);
}

/* ---- several passes ---- */

/* What a pass has to know of the passes before it. */
struct passes {
    struct pythia_trace_id *late; /* owned: traces that had late spans; they stay open until the end
                                     of a pass */
    size_t late_count, late_capacity;
    size_t shards;
    unsigned late_passes; /* in which spans were late, with so many threads */
    bool again;           /* one is over: what is wrong with files was logged */
};

static int note_late(struct shard *const *shards, struct passes *passes)
{
    size_t count;
    for (size_t i = 0; i < passes->shards; i++) {
        const struct pythia_trace_id *late = pythia_assembler_late(shards[i]->assembler, &count);
        if (count == 0)
            continue;
        if (pythia_reach(&passes->late, &passes->late_capacity, passes->late_count + count - 1,
                         sizeof(*passes->late)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        memcpy(passes->late + passes->late_count, late, count * sizeof(*late));
        passes->late_count += count;
    }
    return PYTHIA_OK;
}

static void take_totals(const struct pythia__feed_totals *totals,
                        struct pythia_pipeline_result *result)
{
    pythia_counts_add(&result->counts, &totals->counts);
    result->bytes = totals->bytes;
    result->files = totals->files;
    result->skipped_files = totals->skipped_files;
    result->failed_files = totals->failed_files;
    result->empty_files = totals->empty_files;
}

static void destroy_shard(struct shard *s)
{
    if (!s)
        return;
    pythia_assembler_destroy(s->assembler);
    pythia_request_variables_destroy(s->variables);
    pythia_buf_free(&s->batch);
    pythia_free(s);
}

/* Each shard counts its own spans, which are a part of all. The more threads there are, the farther
 * a piece that is read slowly may be behind the others. */
static struct shard *make_shard(struct pythia_vocabulary *vocabulary, struct pass *p,
                                const struct passes *passes, size_t number)
{
    const struct pythia_pipeline_options *options = p->options;
    uint64_t quiet = options->quiet_spans ? options->quiet_spans : QUIET_SPANS,
             tick_spans = quiet * (passes->shards + 3) / 4 / QUIET_TICKS / passes->shards;
    const struct pythia_assembler_options assembling = {.quiet_ticks = QUIET_TICKS + 1,
                                                        .open = options->open,
                                                        .calls = options->calls,
                                                        .clocks = options->clocks};
    struct shard *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->pass = p;
    s->number = number;
    s->alone = passes->shards == 1;
    s->tick_spans = tick_spans > 0 ? tick_spans : 1;
    if (pythia_request_variables_create(vocabulary, &s->variables) != PYTHIA_OK ||
        pythia_assembler_create(vocabulary, &assembling, (struct pythia_trace_taker){take_trace, s},
                                &s->counts, &s->assembler) != PYTHIA_OK ||
        pythia_assembler_pin(s->assembler, passes->late, passes->late_count) != PYTHIA_OK) {
        destroy_shard(s);
        return NULL;
    }
    return s;
}

static int begin_consumer(const struct pass *p, size_t shards)
{
    if (p->options->join)
        pythia_series_join_again(p->options->join);
    int status = p->consumer->begin(p->consumer->context);
    return status == PYTHIA_OK && p->parts ? p->parts->divide(p->consumer->context, shards)
                                           : status;
}

static int read_shards(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                       struct pass *p, struct passes *passes, struct shard **shards,
                       struct pythia_pipeline_result *result)
{
    struct pythia__feed_totals totals = {0};
    for (size_t i = 0; i < passes->shards; i++)
        if (!(shards[i] = make_shard(vocabulary, p, passes, i)))
            return PYTHIA_ENOMEM;
    shards[0]->shows = p->options->progress;
    int status = begin_consumer(p, passes->shards);
    if (status != PYTHIA_OK)
        return status;
    const struct pythia__feed_taker taker = {assemble_span, finish_shard, (void *const *)shards,
                                             passes->shards};
    status =
        pythia__feed(vocabulary, input, p->options, passes->again, taker, &p->read_bytes, &totals);
    erase_progress(p);
    take_totals(&totals, result);
    for (size_t i = 0; i < passes->shards; i++)
        pythia_counts_add(&result->counts, &shards[i]->counts);
    passes->again = true;
    return status == PYTHIA_OK && !atomic_load(&p->joins) ? note_late(shards, passes) : status;
}

/* Traces whose spans are far apart in the files would be finished too early; at first they are only
 * noted (note_late), as most captures have none, and open traces take memory. */
static int read_once(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                     const struct pythia_pipeline_options *options,
                     const struct pythia_consumer *consumer, struct passes *passes,
                     struct pythia_pipeline_result *result)
{
    struct pass p = {.options = options, .consumer = consumer, .shown_ns = uv_hrtime()};
    size_t count;
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    for (size_t i = 0; i < count; i++)
        p.all_bytes += files[i].size_bytes;
    p.parts = passes->shards > 1 && !options->join ? consumer->parts : NULL;
    *result = (struct pythia_pipeline_result){0};
    struct shard **shards = pythia_calloc(passes->shards, sizeof(struct shard *));
    int status = shards ? pythia__handover_create(take_joined, &p, &p.handover) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = read_shards(vocabulary, input, &p, passes, shards, result);
    for (size_t i = 0; i < passes->shards && shards; i++)
        destroy_shard(shards[i]);
    pythia_free(shards);
    pythia__handover_destroy(p.handover);
    bool alone = atomic_load(&p.joins);
    if (status == PYTHIA_OK && p.parts && !alone) {
        status = p.parts->unite(consumer->context);
        alone = status == 1;
    }
    if (status < 0)
        return status;
    passes->shards = alone ? 1 : passes->shards;
    return PYTHIA_OK;
}

static uint64_t count_changes(const struct pythia_pipeline_options *options)
{
    return options->templates ? pythia_path_templates_changes(options->templates) : 0;
}

static bool can_read_again(const struct pythia_input *input)
{
    size_t count;
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    for (size_t i = 0; i < count; i++)
        if (!files[i].again)
            return false;
    return true;
}

/* Log why all has to be read again, or what is lost where it cannot. */
static void log_why(const struct pythia_pipeline_result *result, size_t late, bool again)
{
    if (late > 0 && again)
        pythia_log(PYTHIA_LOG_INFO,
                   "Spans of some traces are far apart: reading everything again, with those "
                   "traces kept open");
    else if (late > 0)
        pythia_log(
            PYTHIA_LOG_WARNING,
            "%" PRIu64
            " spans came after their traces were complete, and a stream cannot be read twice",
            result->counts.dropped[PYTHIA_DROP_LATE]);
    else if (again)
        pythia_log(PYTHIA_LOG_INFO,
                   "Segments of URL paths turned out to be variables: reading everything again");
    else
        pythia_log(PYTHIA_LOG_WARNING,
                   "Segments of URL paths turned out to be variables: earlier requests keep the "
                   "types they had, because a stream cannot be read twice");
}

/* Shards need to be read again when a fork joins two of them. Hidden points and clocks are looked
 * up, and calls between processes are noted, by one thread at a time. */
static size_t choose_shards(const struct pythia_pipeline_options *options, bool again)
{
    bool apart = again && !options->open && !options->calls && !options->clocks;
    return apart && options->threads > 1 ? options->threads : 1;
}

/* Is another pass worth it after one in which spans were late? With several threads other spans may
 * be late in each pass, so that the third one is read by one thread: the fourth would keep open all
 * that were late in it. */
static bool retry_late(struct passes *passes, struct pythia_pipeline_options *how)
{
    passes->late_passes++;
    if (passes->late_passes == 1)
        return true;
    if (how->threads <= 1)
        return false;
    how->threads = 1;
    passes->shards = 1;
    passes->late_passes = 0;
    return true;
}

/* The second pass finishes other traces, and may change templates once more. They have seen all
 * paths then, so that a third pass changes nothing. */
int pythia_pipeline_run(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                        const struct pythia_pipeline_options *options,
                        const struct pythia_consumer *consumer,
                        struct pythia_pipeline_result *result)
{
    struct pythia_pipeline_options how = *options;
    bool again = can_read_again(input), once_more = true;
    struct passes passes = {.shards = choose_shards(options, again)};
    int status = PYTHIA_OK;
    while (once_more) {
        uint64_t changes = count_changes(options);
        size_t late_before = passes.late_count, shards = passes.shards;
        status = read_once(vocabulary, input, &how, consumer, &passes, result);
        if (status != PYTHIA_OK)
            break;
        if (passes.shards != shards) /* once more, without parts */
            continue;
        size_t late = passes.late_count - late_before;
        bool changed = count_changes(options) != changes;
        once_more = late > 0 && again && retry_late(&passes, &how);
        if (late > 0 && (once_more || !again))
            log_why(result, late, again);
        else if (changed)
            log_why(result, 0, again);
        once_more = once_more || (again && changed);
    }
    pythia_free(passes.late);
    return status;
}

static int finish_nothing(void *context)
{
    (void)context;
    return PYTHIA_OK;
}

int pythia_pipeline_spans(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                          const struct pythia_pipeline_options *options,
                          int (*take)(void *context, const struct pythia_trace_id *trace,
                                      const struct pythia_span *span),
                          void *context, struct pythia_pipeline_result *result)
{
    struct pythia_pipeline_options alone = *options;
    struct pythia__feed_totals totals = {0};
    _Atomic uint64_t read_bytes = 0;
    alone.threads = 1;
    *result = (struct pythia_pipeline_result){0};
    int status = pythia__feed(vocabulary, input, &alone, false,
                              (struct pythia__feed_taker){take, finish_nothing, &context, 1},
                              &read_bytes, &totals);
    take_totals(&totals, result);
    return status;
}
