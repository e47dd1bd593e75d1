#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pythia/hash.h"
#include "pythia/status.h"

const struct pythia_groups_options grouping = {.fold = true, .rows = 100000000};

void must(int status, const char *what)
{
    if (status == PYTHIA_OK)
        return;
    fprintf(stderr, "%s failed with %d\n", what, status);
    exit(1);
}

double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t point_of(struct bench *b, const char *prefix, size_t number)
{
    char name[64];
    snprintf(name, sizeof(name), "%s_%zu", prefix, number);
    uint32_t service = pythia_vocabulary_string(b->vocabulary, PYTHIA_TEXT("service"));
    return pythia_vocabulary_tracepoint(
        b->vocabulary, service, 0, pythia_vocabulary_string(b->vocabulary, pythia_text_of(name)));
}

const struct pythia_trace *request(struct bench *b, size_t type, uint64_t number, bool all)
{
    const struct pythia_trace *trace;
    uint64_t begin_ns = UINT64_C(1700000000000000000) + number * 1000000000 +
                        pythia_random_below(&b->random, 1000000000),
             now_ns = begin_ns;
    pythia_trace_builder_begin(b->builder,
                               (struct pythia_trace_id){pythia_hash_mix(type + 1, number + 1),
                                                        pythia_hash_mix(number + 1, type + 1)});
    for (size_t i = 0; i < b->call_count; i++) {
        uint64_t takes_ns = 100000 + pythia_random_below(&b->random, 20000);
        if (i == type % b->call_count && pythia_random_below(&b->random, 10) < 3)
            takes_ns += 1000000;
        now_ns += 1000 + pythia_random_below(&b->random, 1000);
        struct pythia_span call = {.id = 2 * i + 2,
                                   .parent = 1,
                                   .start_ns = now_ns,
                                   .duration_ns = (int64_t)takes_ns,
                                   .tracepoint = b->calls[i]};
        struct pythia_span inner = {.id = 2 * i + 3,
                                    .parent = call.id,
                                    .start_ns = now_ns + 100,
                                    .duration_ns = (int64_t)takes_ns - 200,
                                    .tracepoint = b->inner[i]};
        must(pythia_trace_builder_add(b->builder, &call), "a span");
        if (all)
            must(pythia_trace_builder_add(b->builder, &inner), "a span");
        now_ns += takes_ns;
    }
    struct pythia_span root = {.id = 1,
                               .start_ns = begin_ns,
                               .duration_ns = (int64_t)(now_ns + 1000 - begin_ns),
                               .tracepoint = b->roots[type]};
    must(pythia_trace_builder_add(b->builder, &root), "a span");
    must(pythia_trace_builder_finish(b->builder, &b->counts, &trace), "a trace");
    return trace;
}

void begin(struct bench *b)
{
    static const struct pythia_request_type_options usual;
    pythia_random_init(&b->random, 1);
    pythia_critical_path_init(&b->path);
    must(pythia_vocabulary_create(&b->vocabulary), "the vocabulary");
    must(pythia_trace_builder_create(b->vocabulary, NULL, &b->builder), "the builder");
    must(pythia_request_types_create(b->vocabulary, &usual, &b->namer), "request types");
    must(pythia_space_create(b->vocabulary, &b->space), "the space");
    must(pythia_open_points_create(b->vocabulary, &b->open), "open points");
    must(pythia_open_points_create(b->vocabulary, &b->skeleton), "open points");
    must(pythia_open_points_add(b->skeleton, PYTHIA_TEXT("service:root_*")), "open points");
    must(pythia_open_points_add(b->open, PYTHIA_TEXT("service:root_*")), "open points");
    must(pythia_open_points_add(b->open, PYTHIA_TEXT("service:call_*")), "open points");
    for (size_t i = 0; i < b->call_count; i++) {
        b->calls[i] = point_of(b, "call", i);
        b->inner[i] = point_of(b, "inner", i);
    }
    for (size_t t = 0; t < b->types; t++) {
        b->roots[t] = point_of(b, "root", t);
        const struct pythia_trace *trace = request(b, t, 1000000, true);
        must(pythia_critical_path_find(&b->path, trace, grouping.latency), "a path");
        must(pythia_space_add(b->space, pythia_request_type(b->namer, trace), trace, &b->path),
             "the space");
    }
}

void end(struct bench *b)
{
    pythia_open_points_destroy(b->open);
    pythia_open_points_destroy(b->skeleton);
    pythia_space_destroy(b->space);
    pythia_request_types_destroy(b->namer);
    pythia_trace_builder_destroy(b->builder);
    pythia_critical_path_free(&b->path);
    pythia_vocabulary_destroy(b->vocabulary);
}

struct pythia_search *begin_search(struct bench *b, size_t turns,
                                   const struct pythia_strategy *strategy)
{
    struct pythia_search *search = NULL;
    struct pythia_search_options how = {.budget = {.points_per_cycle = 3},
                                        .price_ns = 1000,
                                        .always = b->open,
                                        .min_share = 1e-9,
                                        .problems_per_cycle = turns,
                                        .strategy = strategy,
                                        .seed = 1};
    must(pythia_search_create(b->space, &how, &search), "the search");
    pythia_search_set_seconds(search, (double)b->rows);
    return search;
}
