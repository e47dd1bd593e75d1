/* What a round of a shared search costs a member that reads it: bench_scale [MEMBERS [TYPES]].
 *
 * So many members send evidence, each of ROWS requests of each type (calls.h): its sample is full
 * then, so that more requests would not make its message larger. Prints one JSON object: bytes of
 * a message, and CPU seconds to write one (median), to merge one into nothing (least), to merge all
 * of them, and to decide. */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"
#include "cycle/evidence.h"
#include "pythia/evidence_merge.h"
#include "pythia/evidence_write.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define ROWS_PER_TYPE 1024 /* as in live_shared.c */
#define ROWS          64
#define CALLS_MADE    25
#define ALONE         10

static const struct pythia_search_options measuring;
static const struct pythia_groups_options live = {.fold = true};

/* The evidence of one member, as it would send it. */
static double write_member(struct bench *b, uint64_t member, struct pythia_buf *out)
{
    struct pythia__evidence_context context;
    struct pythia__evidence e = {0};
    must(pythia__evidence_context_init(&context, b->vocabulary, &live, &measuring, 0), "evidence");
    must(pythia__evidence_begin(&context, &e, b->skeleton, NULL), "evidence");
    for (size_t t = 0; t < b->types; t++)
        for (uint64_t i = 0; i < ROWS; i++) {
            const struct pythia_trace *trace = request(b, t, member * ROWS + i, false);
            uint32_t type = pythia_request_type(b->namer, trace);
            must(pythia_critical_path_find(&context.path, trace, live.latency), "a path");
            must(pythia__evidence_add(&context, &e, 0, type, false, trace, NULL), "evidence");
        }
    const struct pythia_evidence_input input = {0};
    const struct pythia_pipeline_result result = {.counts.traces = e.requests};
    const struct pythia_evidence_source source = {
        .vocabulary = b->vocabulary,
        .groups = e.groups,
        .result = &result,
        .settings = {.fold = true, .rows = ROWS_PER_TYPE, .asked = ""},
        .inputs = &input,
        .input_count = 1};
    double begun = cpu_s();
    must(pythia_groups_finish(e.groups), "groups");
    must(pythia_evidence_write(&source, out), "evidence");
    double took = cpu_s() - begun;
    e.effects = NULL;
    pythia__evidence_free(&e);
    pythia__evidence_context_free(&context);
    return took;
}

/* As a member merges a round (live_shared.c). NULL: let the groups go. */
static double merge(struct bench *b, const struct pythia_buf *files, size_t count,
                    struct pythia_groups **groups)
{
    struct pythia_evidence_merge *m = NULL;
    struct pythia_error why = {0};
    char name[32];
    double begun = cpu_s();
    must(pythia_evidence_merge_create(b->vocabulary, false, &m), "a merge");
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            snprintf(name, sizeof(name), "member %zu", i);
            must((pass == 0 ? pythia_evidence_merge_look
                            : pythia_evidence_merge_add)(m, name, pythia_buf_text(&files[i]), &why),
                 name);
        }
    if (groups)
        *groups = pythia_evidence_merge_take(m);
    else
        must(pythia_evidence_merge_finish(m), "groups");
    double took = cpu_s() - begun;
    pythia_evidence_merge_destroy(m);
    return took;
}

static double decide(struct bench *b, struct pythia_groups *groups)
{
    struct pythia__evidence e = {.groups = groups, .begin_ns = UINT64_MAX};
    struct pythia_search *search = begin_search(b, b->turns, NULL);
    struct pythia_cycle cycle;
    double begun = cpu_s();
    must(pythia__evidence_decide(&e, search, 1, (double)b->rows, &cycle), "a cycle");
    double took = cpu_s() - begun;
    pythia_search_destroy(search);
    pythia__evidence_free(&e);
    return took;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static struct bench b;
    size_t members = argc > 1 ? strtoul(argv[1], NULL, 10) : 256;
    b.types = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    b.rows = ROWS;
    b.call_count = CALLS_MADE;
    b.turns = 16; /* as pythiad has them */
    if (members < 1 || b.types < 1 || b.types > sizeof(b.roots) / sizeof(b.roots[0])) {
        fprintf(stderr, "usage: bench_scale [MEMBERS [TYPES]]\n");
        return 2;
    }
    begin(&b);
    struct pythia_buf *files = calloc(members, sizeof(*files));
    double *writes = calloc(members, sizeof(*writes)), bytes = 0, alone = 1e9;
    struct pythia_groups *groups;
    if (!files || !writes) {
        fprintf(stderr, "no memory for the members\n");
        exit(1);
    }
    for (size_t i = 0; i < members; i++) {
        writes[i] = write_member(&b, i, &files[i]);
        bytes += (double)files[i].size / (double)members;
    }
    qsort(writes, members, sizeof(*writes), compare_numbers);
    for (int i = 0; i < ALONE; i++) {
        double took = merge(&b, files, 1, NULL);
        alone = took < alone ? took : alone;
    }
    double all = merge(&b, files, members, &groups);
    printf("{\"members\": %zu, \"types\": %zu, \"edges\": %d, \"bytes\": %.0f, "
           "\"write_s\": %.6f, \"merge_one_s\": %.6f, \"merge_all_s\": %.6f, "
           "\"decide_s\": %.6f}\n",
           members, b.types, 2 * CALLS_MADE + 1, bytes, writes[members / 2], alone, all,
           decide(&b, groups));
    for (size_t i = 0; i < members; i++)
        pythia_buf_free(&files[i]);
    free(files);
    free(writes);
    end(&b);
    return 0;
}
