/* The engine's inner parts by themselves: bench_engine paths EVENTS, bench_engine forks COUNT,
 * bench_engine workflow NODES. Prints one JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/critical_path.h"
#include "pythia/groups.h"
#include "pythia/space.h"
#include "pythia/status.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"
#include "pythia/workflow.h"
#include "requests.h"

#define BATCH                                                                                      \
    256 /* traces that are built, untimed, before their paths are found and grouped, timed */

static void must(int status, const char *what)
{
    if (status == PYTHIA_OK)
        return;
    fprintf(stderr, "bench_engine: %s: %s\n", what, pythia_status_text(status));
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t tracepoint(struct pythia_vocabulary *v, const char *service,
                           unsigned service_number, const char *name, unsigned name_number)
{
    char text[2][48];
    int size[2] = {snprintf(text[0], sizeof(text[0]), "%s-%u", service, service_number),
                   snprintf(text[1], sizeof(text[1]), "%s-%u", name, name_number)};
    uint32_t strings[2];
    for (int i = 0; i < 2; i++)
        strings[i] = pythia_vocabulary_string(v, (struct pythia_text){text[i], (size_t)size[i]});
    return pythia_vocabulary_tracepoint(v, strings[0], 0, strings[1]);
}

/* ---- critical path and grouping ---- */

static const struct pythia_trace *build(struct pythia_trace_builder *b, const struct request *r,
                                        uint32_t (*points)[128], struct pythia_counts *counts)
{
    pythia_trace_builder_begin(b, (struct pythia_trace_id){r->trace_high, r->trace_low});
    for (unsigned k = 0; k < REQUEST_SPANS; k++) {
        const struct request_span *s = &r->spans[k];
        must(pythia_trace_builder_add(
                 b, &(struct pythia_span){.id = s->id,
                                          .parent = s->parent,
                                          .start_ns = s->start_ns,
                                          .duration_ns = (int64_t)(s->end_ns - s->start_ns),
                                          .tracepoint = points[s->service][s->operation],
                                          .kind =
                                              s->parent ? PYTHIA_SPAN_CLIENT : PYTHIA_SPAN_SERVER}),
             "a span");
    }
    const struct pythia_trace *trace;
    must(pythia_trace_builder_finish(b, counts, &trace), "a trace");
    return trace;
}

static int bench_paths(uint64_t events)
{
    static struct pythia_trace_builder *builders[BATCH];
    static uint32_t points[SERVICES][128];
    const struct pythia_trace *traces[BATCH];
    struct pythia_vocabulary *v;
    struct pythia_groups *groups;
    struct pythia_counts counts = {0};
    struct requests all;
    must(pythia_vocabulary_create(&v), "a vocabulary");
    for (unsigned s = 0; s < SERVICES; s++)
        for (unsigned k = 0; k < 128; k++)
            points[s][k] = tracepoint(v, "service", s, "operation", k);
    for (size_t i = 0; i < BATCH; i++)
        must(pythia_trace_builder_create(v, NULL, &builders[i]), "a builder");
    must(pythia_groups_create(v, &(struct pythia_groups_options){.fold = true}, &groups), "groups");
    requests_begin(&all, 1);
    uint64_t done = 0;
    double cpu_s = 0;
    while (done < events) {
        for (size_t i = 0; i < BATCH; i++) {
            struct request request;
            requests_next(&all, &request);
            traces[i] = build(builders[i], &request, points, &counts);
        }
        double before = cpu_seconds();
        for (size_t i = 0; i < BATCH; i++) {
            must(pythia_groups_add(groups, traces[i]), "grouping"); /* finds the path itself */
            done += (uint64_t)traces[i]->count * 2;
        }
        cpu_s += cpu_seconds() - before;
    }
    double before = cpu_seconds();
    must(pythia_groups_finish(groups), "groups");
    cpu_s += cpu_seconds() - before;
    printf("{\"events\": %" PRIu64 ", \"cpu_s\": %.6f}\n", done, cpu_s);
    pythia_groups_destroy(groups);
    for (size_t i = 0; i < BATCH; i++)
        pythia_trace_builder_destroy(builders[i]);
    pythia_vocabulary_destroy(v);
    return 0;
}

/* ---- the search space of forks and joins, one after the other ---- */

/* `count` times: two spans beside each other, which both have to end. As paths these would be
 * 2^count. */
static const struct pythia_trace *build_forks(struct pythia_trace_builder *b,
                                              struct pythia_vocabulary *v, unsigned count)
{
    struct pythia_counts counts = {0};
    struct pythia_span span = {.id = 1,
                               .start_ns = 1000,
                               .duration_ns = (int64_t)count * 100 + 100,
                               .tracepoint = tracepoint(v, "forks", 0, "root", 0),
                               .kind = PYTHIA_SPAN_SERVER};
    pythia_trace_builder_begin(b, (struct pythia_trace_id){1, 1});
    must(pythia_trace_builder_add(b, &span), "a span");
    for (unsigned i = 0; i < count; i++)
        for (unsigned side = 0; side < 2; side++) {
            span = (struct pythia_span){.id = 2 + 2 * i + side,
                                        .parent = 1,
                                        .start_ns = 1000 + 100 * i + 10,
                                        .duration_ns = 50 + 10 * (int64_t)side,
                                        .tracepoint = tracepoint(v, "forks", side, "step", i)};
            must(pythia_trace_builder_add(b, &span), "a span");
        }
    const struct pythia_trace *trace;
    must(pythia_trace_builder_finish(b, &counts, &trace), "a trace");
    return trace;
}

static int bench_forks(unsigned count)
{
    struct pythia_vocabulary *v;
    struct pythia_trace_builder *b;
    struct pythia_space *space;
    struct pythia_critical_path path;
    must(pythia_vocabulary_create(&v), "a vocabulary");
    must(pythia_trace_builder_create(v, NULL, &b), "a builder");
    const struct pythia_trace *trace = build_forks(b, v, count);
    pythia_critical_path_init(&path);
    double before = cpu_seconds();
    must(pythia_space_create(v, &space), "a space");
    must(pythia_critical_path_find(&path, trace, PYTHIA_LATENCY_COMPLETION), "a path");
    must(pythia_space_add(space, 0, trace, &path), "a space");
    double cpu_s = cpu_seconds() - before;
    size_t types;
    const struct pythia_cct *cct = pythia_space_types(space, &types)->cct;
    printf("{\"forks\": %u, \"spans\": %" PRIu32 ", \"contexts\": %" PRIu32 ", \"edges\": %" PRIu32
           ", \"cpu_s\": %.6f}\n",
           count, trace->count, pythia_cct_nodes(cct), pythia_cct_edges(cct), cpu_s);
    pythia_critical_path_free(&path);
    pythia_space_destroy(space);
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
    return 0;
}

/* ---- generated requests ---- */

static int count_span(void *context, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    (void)trace;
    *(uint64_t *)context += span->id != 0;
    return PYTHIA_OK;
}

/* Requests of a workflow of which only the root is open: what a search is tried on. */
static int bench_workflow(uint32_t nodes)
{
    struct pythia_vocabulary *v;
    struct pythia_workflow *w;
    struct pythia_workflow_options options;
    struct pythia_error why = {0};
    pythia_workflow_options_default(&options);
    options.nodes = nodes;
    options.forks = 0.3;
    options.async = options.loops = options.retries = 0.05;
    options.spikes = 0.004;
    options.cause_count = 1;
    options.causes[0] =
        (struct pythia_workflow_cause){.kind = PYTHIA_PLANTED_SLEEP, .strength = 0.3};
    must(pythia_vocabulary_create(&v), "a vocabulary");
    must(pythia_workflow_create(v, &options, &w, &why), "a workflow");
    bool *open = calloc(pythia_vocabulary_tracepoints(v), sizeof(*open));
    must(open ? PYTHIA_OK : PYTHIA_ENOMEM, "trace points");
    open[pythia_workflow_tracepoint(w, 0)] = true;
    struct pythia_workflow_view view = {.open = open};
    uint64_t requests = 10000000 / nodes + 1, spans = 0;
    double before = cpu_seconds();
    for (uint64_t i = 0; i < requests; i++)
        must(pythia_workflow_request(w, i, &view, count_span, &spans), "a request");
    double cpu_s = cpu_seconds() - before;
    printf("{\"nodes\": %" PRIu32 ", \"requests\": %" PRIu64 ", \"spans\": %" PRIu64
           ", \"cpu_s\": %.6f}\n",
           nodes, requests, spans, cpu_s);
    free(open);
    pythia_workflow_destroy(w);
    pythia_vocabulary_destroy(v);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    if (count > 0 && strcmp(argv[1], "paths") == 0)
        return bench_paths(count);
    if (count > 0 && count <= 1000000 && strcmp(argv[1], "forks") == 0)
        return bench_forks((unsigned)count);
    if (count > 0 && count <= 1000000 && strcmp(argv[1], "workflow") == 0)
        return bench_workflow((uint32_t)count);
    fprintf(stderr, "usage: bench_engine paths EVENTS | forks COUNT | workflow NODES\n");
    return 2;
}
