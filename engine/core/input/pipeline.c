#include "pythia/pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "feed.h"
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
    struct pythia_assembler *assembler;
    const struct pythia_pipeline_options *options;
    uint64_t tick_spans, spans;
    _Atomic uint64_t read_bytes;
    uint64_t all_bytes, shown_ns;
    bool shown;
};

static void show_progress(struct pass *p)
{
    uint64_t now = uv_hrtime();
    if (now - p->shown_ns < PROGRESS_NS)
        return;
    p->shown_ns = now;
    p->shown = true;
    uint64_t read_bytes = atomic_load_explicit(&p->read_bytes, memory_order_relaxed);
    if (p->all_bytes)
        fprintf(stderr, "\r%5.1f %%  %" PRIu64 " MB of %" PRIu64 ", %" PRIu64 " spans ",
                100.0 * (double)read_bytes / (double)p->all_bytes, read_bytes / 1000000,
                p->all_bytes / 1000000, p->spans);
    else
        fprintf(stderr, "\r%" PRIu64 " MB, %" PRIu64 " spans ", read_bytes / 1000000, p->spans);
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
    struct pass *p = context;
    int status = pythia_assembler_add(p->assembler, trace, span);
    if (status != PYTHIA_OK)
        return status;
    if (++p->spans % p->tick_spans == 0 &&
        (status = pythia_assembler_tick(p->assembler)) != PYTHIA_OK)
        return status;
    if (p->options->progress && p->spans % CHECK_EVERY == 0)
        show_progress(p);
    return PYTHIA_OK;
}

/* A consumer whose traces get variables and series first. */
struct adding {
    struct pythia_request_variables *variables;
    struct pythia_series_join *join; /* NULL: none */
    const struct pythia_consumer *consumer;
};

static int restart_consumer(void *context)
{
    const struct adding *a = context;
    if (a->join)
        pythia_series_join_again(a->join);
    return a->consumer->begin(a->consumer->context);
}

static int extend_trace(void *context, const struct pythia_trace *trace)
{
    const struct adding *a = context;
    trace = pythia_request_variables_trace(a->variables, trace);
    if (trace && a->join)
        trace = pythia_series_join_trace(a->join, trace);
    return trace ? a->consumer->take(a->consumer->context, trace) : PYTHIA_ENOMEM;
}

/* Traces that had late spans in the first pass: they stay open until the end of the others. */
struct pinned {
    struct pythia_trace_id *ids; /* owned */
    size_t count;
    bool known; /* the first pass is over */
};

static int note_late(const struct pythia_assembler *assembler, struct pinned *pinned)
{
    const struct pythia_trace_id *late = pythia_assembler_late(assembler, &pinned->count);
    pinned->known = true;
    if (pinned->count == 0)
        return PYTHIA_OK;
    pinned->ids = pythia_calloc(pinned->count, sizeof(*pinned->ids));
    if (!pinned->ids)
        return PYTHIA_ENOMEM;
    memcpy(pinned->ids, late, pinned->count * sizeof(*pinned->ids));
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

/* Traces whose spans are far apart in the files would be finished too early; in the first pass they
 * are only noted (note_late), as most captures have none, and open traces take memory. */
static int read_once(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                     const struct pythia_pipeline_options *options,
                     const struct pythia_consumer *consumer, struct pinned *pinned,
                     struct pythia_pipeline_result *result)
{
    struct pythia__feed_totals totals = {0};
    uint64_t quiet = options->quiet_spans ? options->quiet_spans : QUIET_SPANS;
    struct pass p = {.options = options,
                     .tick_spans = quiet > QUIET_TICKS ? quiet / QUIET_TICKS : 1,
                     .shown_ns = uv_hrtime()};
    size_t count;
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    for (size_t i = 0; i < count; i++)
        p.all_bytes += files[i].size_bytes;
    *result = (struct pythia_pipeline_result){.read_twice = pinned->known};
    struct pythia_assembler_options assembling = {.quiet_ticks = QUIET_TICKS + 1,
                                                  .open = options->open,
                                                  .calls = options->calls,
                                                  .clocks = options->clocks};
    int status = pythia_assembler_create(
        vocabulary, &assembling, (struct pythia_trace_taker){consumer->take, consumer->context},
        &result->counts, &p.assembler);
    if (status != PYTHIA_OK)
        return status;
    if (pinned->known &&
        (status = pythia_assembler_pin(p.assembler, pinned->ids, pinned->count)) != PYTHIA_OK)
        goto out;
    if ((status = consumer->begin(consumer->context)) != PYTHIA_OK)
        goto out;
    status = pythia__feed(vocabulary, input, options, result->read_twice,
                          (struct pythia__feed_taker){assemble_span, &p}, &p.read_bytes, &totals);
    erase_progress(&p);
    if (status != PYTHIA_OK || (status = pythia_assembler_finish(p.assembler)) != PYTHIA_OK)
        goto out;
    if (!pinned->known)
        status = note_late(p.assembler, pinned);
out:
    take_totals(&totals, result);
    result->peak_open_spans = pythia_assembler_numbers(p.assembler).peak_spans;
    pythia_assembler_destroy(p.assembler);
    return status;
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
        pythia_log(
            PYTHIA_LOG_INFO,
            "Spans of %zu traces are far apart: reading everything again, with those traces kept "
            "open",
            late);
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

/* The second pass finishes other traces, and may change templates once more. They have seen all
 * paths then, so that a third pass changes nothing. */
int pythia_pipeline_run(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                        const struct pythia_pipeline_options *options,
                        const struct pythia_consumer *consumer,
                        struct pythia_pipeline_result *result)
{
    struct pinned pinned = {.known = false};
    struct adding adding = {.join = options->join, .consumer = consumer};
    const struct pythia_consumer behind = {restart_consumer, extend_trace, &adding};
    bool again = can_read_again(input), once_more = true;
    int status = pythia_request_variables_create(vocabulary, &adding.variables);
    if (status != PYTHIA_OK)
        return status;
    while (once_more) {
        uint64_t changes = count_changes(options);
        bool first = !pinned.known;
        status = read_once(vocabulary, input, options, &behind, &pinned, result);
        if (status != PYTHIA_OK)
            break;
        size_t late = first ? pinned.count : 0;
        bool changed = count_changes(options) != changes;
        if (late > 0 || changed)
            log_why(result, late, again);
        once_more = again && (late > 0 || changed);
    }
    pythia_free(pinned.ids);
    pythia_request_variables_destroy(adding.variables);
    return status;
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
                              (struct pythia__feed_taker){take, context}, &read_bytes, &totals);
    take_totals(&totals, result);
    return status;
}
