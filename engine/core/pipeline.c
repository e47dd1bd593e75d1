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

static void clear_progress(const struct pass *p)
{
    if (p->shown)
        fprintf(stderr, "\r%*s\r", 78, "");
}

static int take_span(void *context, const struct pythia_trace_id *trace,
                     const struct pythia_span *span)
{
    struct pass *p = context;
    int status = pythia_assembler_add(p->assembler, trace, span);
    if (++p->spans % p->tick_spans == 0 && status == PYTHIA_OK)
        status = pythia_assembler_tick(p->assembler);
    if (p->options->progress && p->spans % CHECK_EVERY == 0)
        show_progress(p);
    return status;
}

/* A consumer behind what is added to each trace: variables, and series. */
struct adding {
    struct pythia_request_variables *variables;
    struct pythia_series_join *join; /* NULL: none */
    const struct pythia_consumer *consumer;
};

static int begin_traces(void *context)
{
    const struct adding *a = context;
    if (a->join)
        pythia_series_join_again(a->join);
    return a->consumer->begin(a->consumer->context);
}

static int take_trace(void *context, const struct pythia_trace *trace)
{
    const struct adding *a = context;
    trace = pythia_request_variables_trace(a->variables, trace);
    if (trace && a->join)
        trace = pythia_series_join_trace(a->join, trace);
    return trace ? a->consumer->take(a->consumer->context, trace) : PYTHIA_ENOMEM;
}

static int run_pass(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                    const struct pythia_pipeline_options *options,
                    const struct pythia_consumer *consumer, struct pythia_assembler **previous,
                    struct pythia_pipeline_result *result)
{
    struct pythia__feed_totals totals = {0};
    uint64_t quiet = options->quiet_spans ? options->quiet_spans : QUIET_SPANS;
    struct pass p = {.options = options,
                     .tick_spans = quiet > QUIET_TICKS ? quiet / QUIET_TICKS : 1,
                     .shown_ns = uv_hrtime()};
    size_t count, late_count = 0;
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    for (size_t i = 0; i < count; i++)
        p.all_bytes += files[i].size_bytes;
    *result = (struct pythia_pipeline_result){.read_twice = *previous != NULL};
    struct pythia_assembler_options assembling = {.quiet_ticks = QUIET_TICKS + 1,
                                                  .open = options->open,
                                                  .calls = options->calls,
                                                  .clocks = options->clocks};
    int status = pythia_assembler_create(
        vocabulary, &assembling, (struct pythia_trace_taker){consumer->take, consumer->context},
        &result->counts, &p.assembler);
    if (status != PYTHIA_OK)
        return status;
    if (*previous) {
        const struct pythia_trace_id *late = pythia_assembler_late(*previous, &late_count);
        status = pythia_assembler_pin(p.assembler, late, late_count);
        pythia_assembler_destroy(*previous);
    }
    *previous = p.assembler;
    if (status == PYTHIA_OK)
        status = consumer->begin(consumer->context);
    if (status == PYTHIA_OK)
        status = pythia__feed(vocabulary, input, options, result->read_twice,
                              (struct pythia__feed_taker){take_span, &p}, &p.read_bytes, &totals);
    clear_progress(&p);
    if (status == PYTHIA_OK)
        status = pythia_assembler_finish(p.assembler);
    pythia_counts_add(&result->counts, &totals.counts);
    pythia_assembler_open_spans(p.assembler, &result->peak_open_spans);
    result->bytes = totals.bytes;
    result->files = totals.files;
    result->skipped_files = totals.skipped_files;
    result->failed_files = totals.failed_files;
    result->empty_files = totals.empty_files;
    return status;
}

int pythia_pipeline_run(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                        const struct pythia_pipeline_options *options,
                        const struct pythia_consumer *consumer,
                        struct pythia_pipeline_result *result)
{
    struct pythia_assembler *assembler = NULL;
    struct adding adding = {.join = options->join, .consumer = consumer};
    const struct pythia_consumer behind = {begin_traces, take_trace, &adding};
    int status = pythia_request_variables_create(vocabulary, &adding.variables);
    if (status != PYTHIA_OK)
        return status;
    status = run_pass(vocabulary, input, options, &behind, &assembler, result);
    size_t late = 0, count;
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    bool again = true;
    for (size_t i = 0; i < count; i++)
        again = again && files[i].again;
    if (status == PYTHIA_OK)
        pythia_assembler_late(assembler, &late);
    if (late > 0 && again) {
        pythia_log(
            PYTHIA_LOG_INFO,
            "Spans of %zu traces are far apart: reading all again, with those traces kept open",
            late);
        status = run_pass(vocabulary, input, options, &behind, &assembler, result);
    } else if (late > 0) {
        pythia_log(
            PYTHIA_LOG_WARNING,
            "%" PRIu64
            " spans came after their traces were finished, and a stream cannot be read twice",
            result->counts.dropped[PYTHIA_DROP_LATE]);
    }
    pythia_assembler_destroy(assembler);
    pythia_request_variables_destroy(adding.variables);
    return status;
}
