/* How many cycles, and how many trace points, the search takes to find a cause that was planted.
 * bench_search [KEY=VALUE...], see `keys`. Prints one JSON object. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/arena.h"
#include "pythia/search.h"
#include "pythia/status.h"
#include "pythia/workflow.h"

#define CYCLES_MAX 30
#define PROFILED   5 /* requests with everything open, for the search space */

struct plan {
    const char *shape, *causes, *strategy;
    uint32_t nodes;
    size_t points, requests;
    double spikes, forks, async, unknown, load;
    uint64_t seeds, first_seed, drift; /* drift: the causes move after so many requests; 0: never */
    int verbose;
};

struct outcome {
    size_t cycles, opened, peak, causes_found, causes, false_causes;
    double decide_s; /* the longest of a decision */
};

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_workflow *workflow;
    struct pythia_space *space;
    struct pythia_search *search;
    struct pythia_trace_builder *builder;
    struct pythia_request_types *types;
    struct pythia_arena arena;
    uint64_t *hits;
};

static void must(int status, const char *what)
{
    if (status == PYTHIA_OK)
        return;
    fprintf(stderr, "bench_search: %s failed with %d\n", what, status);
    exit(1);
}

static int take(void *context, const struct pythia_trace_id *trace, const struct pythia_span *span)
{
    struct bench *b = context;
    struct pythia_span copy = *span;
    char *bytes = pythia_arena_alloc(&b->arena, span->attributes.size + 1);
    (void)trace;
    if (!bytes)
        return PYTHIA_ENOMEM;
    if (span->attributes.size)
        memcpy(bytes, span->attributes.bytes, span->attributes.size);
    copy.attributes.bytes = bytes;
    b->hits[span->tracepoint]++;
    return pythia_trace_builder_add(b->builder, &copy);
}

static const struct pythia_trace *request(struct bench *b, uint64_t number,
                                          const struct pythia_workflow_view *view)
{
    static struct pythia_counts counts;
    const struct pythia_trace *trace = NULL;
    pythia_arena_clear(&b->arena);
    pythia_trace_builder_begin(b->builder, pythia_workflow_trace(b->workflow, number));
    must(pythia_workflow_request(b->workflow, number, view, take, b), "a request");
    must(pythia_trace_builder_finish(b->builder, &counts, &trace), "a trace");
    return trace;
}

static void make_space(struct bench *b)
{
    struct pythia_critical_path path;
    struct pythia_workflow_view view = {.known_only = true};
    pythia_critical_path_init(&path);
    must(pythia_space_create(b->vocabulary, &b->space), "the space");
    for (uint64_t i = 0; i < PROFILED; i++) {
        const struct pythia_trace *trace = request(b, 1000000 + i, &view);
        must(pythia_critical_path_find(&path, trace, PYTHIA_LATENCY_COMPLETION), "a path");
        must(pythia_space_add(b->space, pythia_request_type(b->types, trace), trace, &path),
             "the space");
    }
    pythia_critical_path_free(&path);
}

static void parse_causes(const char *text, struct pythia_workflow_options *o)
{
    for (; *text && strcmp(text, "none") != 0;
         text += strcspn(text, ",") + (strchr(text, ',') != NULL)) {
        char name[32];
        double parameter = 0, strength = .3;
        size_t size = strcspn(text, ":,");
        snprintf(name, sizeof(name), "%.*s", (int)size, text);
        if (text[size] == ':') {
            char *end;
            parameter = strtod(text + size + 1, &end);
            strength = *end == ':' ? strtod(end + 1, NULL) : strength;
        }
        for (int kind = 0; kind < PYTHIA_PLANTED_KINDS; kind++)
            if (strcmp(name, pythia_planted_name((enum pythia_planted_kind)kind)) == 0)
                o->causes[o->cause_count++] = (struct pythia_workflow_cause){
                    (enum pythia_planted_kind)kind, parameter, strength, 0};
    }
}

static void begin(struct bench *b, const struct plan *plan, uint64_t seed)
{
    struct pythia_workflow_options o;
    struct pythia_error why = {0};
    static const struct pythia_request_type_options types;
    struct pythia_search_options how = {
        .budget = {.points_per_cycle = plan->points}, .price_ns = 1000, .seed = seed};
    size_t strategies;
    const struct pythia_strategy *const *all = pythia_strategies(&strategies);
    for (size_t i = 0; plan->strategy && i < strategies; i++)
        if (strcmp(all[i]->name, plan->strategy) == 0)
            how.strategy = all[i];
    *b = (struct bench){0};
    pythia_workflow_options_default(&o);
    o.shape = strcmp(plan->shape, "deep") == 0        ? PYTHIA_WORKFLOW_DEEP
              : strcmp(plan->shape, "openstack") == 0 ? PYTHIA_WORKFLOW_OPENSTACK
                                                      : PYTHIA_WORKFLOW_BUSHY;
    o.nodes = plan->nodes;
    o.seed = seed;
    o.spikes = plan->spikes;
    o.forks = plan->forks;
    o.async = plan->async;
    o.unknown = plan->unknown;
    o.load = plan->load;
    o.drift = plan->drift ? PYTHIA_DRIFT_MOVE : PYTHIA_DRIFT_NONE;
    o.drift_requests = plan->drift;
    o.distractors = 2;
    parse_causes(plan->causes, &o);
    must(pythia_vocabulary_create(&b->vocabulary), "the vocabulary");
    if (pythia_workflow_create(b->vocabulary, &o, &b->workflow, &why) != PYTHIA_OK) {
        fprintf(stderr, "bench_search: %s\n", why.sentence);
        exit(1);
    }
    b->hits = calloc(pythia_vocabulary_tracepoints(b->vocabulary), sizeof(*b->hits));
    must(pythia_trace_builder_create(b->vocabulary, NULL, &b->builder), "the builder");
    must(pythia_request_types_create(b->vocabulary, &types, &b->types), "request types");
    make_space(b);
    must(pythia_search_create(b->space, &how, &b->search), "the search");
}

static void end(struct bench *b)
{
    pythia_search_destroy(b->search);
    pythia_space_destroy(b->space);
    pythia_trace_builder_destroy(b->builder);
    pythia_request_types_destroy(b->types);
    pythia_workflow_destroy(b->workflow);
    pythia_vocabulary_destroy(b->vocabulary);
    pythia_arena_free(&b->arena);
    free(b->hits);
}

/* The trace point by which a node is seen: its own, or of the nearest one above that the search
 * space knows. */
static uint32_t seen_as(const struct bench *b, uint32_t node)
{
    while (node && !pythia_workflow_known(b->workflow, node))
        node = pythia_workflow_parent(b->workflow, node);
    return pythia_workflow_tracepoint(b->workflow, node);
}

/* Does a cause that the search names lie at one that was planted, at the time of that request? */
static bool is_planted(const struct bench *b, size_t causes, uint64_t request,
                       const struct pythia_place *place, bool *found)
{
    bool any = false;
    for (size_t c = 0; c < causes; c++) {
        struct pythia_planted p;
        pythia_workflow_planted(b->workflow, c, request, &p);
        uint32_t at[3] = {seen_as(b, p.node), PYTHIA_NONE, PYTHIA_NONE};
        for (uint32_t i = 0; i < p.other_count && i < 2; i++)
            at[1 + i] = seen_as(b, p.others[i]);
        for (int i = 0; i < 3; i++)
            if (at[i] != PYTHIA_NONE && (place->context == at[i])) {
                any = true;
                found[c] = true;
            }
    }
    return any;
}

static void tell(const struct bench *b, const struct pythia_cycle *cycle)
{
    for (size_t i = 0; i < cycle->problem_count; i++) {
        const struct pythia_problem *p = &cycle->problems[i];
        struct pythia_buf text = {0};
        if (!isnan(p->top.share))
            pythia_place_add(&text, b->vocabulary, &p->top.place);
        fprintf(stderr, "cycle %d: %s, %zu open, %zu causes, rest %.3f, top %.3f [%.3f, %.3f] %s\n",
                (int)cycle->number, pythia_problem_state_name(p->state), cycle->open_count,
                p->cause_count, p->rest, p->top.share, p->top.low, p->top.high,
                text.bytes ? text.bytes : "");
        pythia_buf_free(&text);
    }
    for (size_t i = 0; i < cycle->switch_count; i++)
        fprintf(stderr, "    %s %s: %s\n", cycle->switches[i].open ? "opens" : "closes",
                pythia_vocabulary_tracepoint_id(b->vocabulary, cycle->switches[i].tracepoint).bytes,
                cycle->switches[i].reason);
}

static struct outcome hunt(const struct plan *plan, uint64_t seed)
{
    struct bench b;
    begin(&b, plan, seed);
    uint32_t points = pythia_vocabulary_tracepoints(b.vocabulary);
    bool *open = calloc(points, sizeof(*open)), *ever = calloc(points, sizeof(*ever));
    bool found[PYTHIA_WORKFLOW_CAUSES] = {false};
    struct outcome out = {0};
    for (const char *c = plan->causes; strcmp(plan->causes, "none") != 0 && c; c = strchr(c, ',')) {
        out.causes++;
        c += *c == ',';
    }
    struct pythia_cycle cycle = {0};
    uint64_t number = 0;
    for (; out.cycles < CYCLES_MAX && (!cycle.finished || number < plan->drift + (plan->drift > 0));
         out.cycles++) {
        if (plan->drift && number >= plan->drift && number < plan->drift + plan->requests)
            out.cycles = 0; /* counted from when the cause has moved */

        struct pythia_groups_options how = {.fold = true};
        struct pythia_groups *groups;
        struct pythia_workflow_view view = {.open = open};
        for (uint32_t point = 0; point < points; point++)
            open[point] = pythia_search_is_open(b.search, point);
        memset(b.hits, 0, points * sizeof(*b.hits));
        must(pythia_groups_create(b.vocabulary, &how, &groups), "groups");
        for (size_t i = 0; i < plan->requests; i++)
            must(pythia_groups_add(groups, request(&b, number++, &view)), "groups");
        must(pythia_groups_finish(groups), "groups");
        clock_t begun = clock();
        must(pythia_search_cycle(b.search, groups, b.hits, points, &cycle), "a cycle");
        out.decide_s = fmax(out.decide_s, (double)(clock() - begun) / CLOCKS_PER_SEC);
        for (size_t i = 0; i < cycle.switch_count; i++) {
            out.opened += cycle.switches[i].open && !ever[cycle.switches[i].tracepoint];
            ever[cycle.switches[i].tracepoint] = true;
        }
        out.peak = cycle.open_count > out.peak ? cycle.open_count : out.peak;
        if (plan->verbose)
            tell(&b, &cycle);
        pythia_groups_destroy(groups);
    }
    for (size_t i = 0; i < cycle.problem_count; i++)
        for (size_t c = 0; c < cycle.problems[i].cause_count; c++)
            out.false_causes +=
                !is_planted(&b, out.causes, number - 1, &cycle.problems[i].causes[c].place, found);
    for (size_t c = 0; c < out.causes; c++)
        out.causes_found += found[c];
    free(open);
    free(ever);
    end(&b);
    return out;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double quantile(double *sorted, size_t n, double q)
{
    return n ? sorted[(size_t)((double)(n - 1) * q + .5)] : NAN;
}

static const struct {
    const char *name;
    size_t offset;
    char kind; /* of the member: s text, u uint32_t, z size_t, l uint64_t, d double, i int */
} keys[] = {{"shape", offsetof(struct plan, shape), 's'},
            {"causes", offsetof(struct plan, causes), 's'}, /* KIND:PARAMETER:STRENGTH,…; none */
            {"strategy", offsetof(struct plan, strategy), 's'},
            {"nodes", offsetof(struct plan, nodes), 'u'},
            {"points", offsetof(struct plan, points), 'z'},     /* opened in a cycle */
            {"requests", offsetof(struct plan, requests), 'z'}, /* of a cycle */
            {"spikes", offsetof(struct plan, spikes), 'd'},
            {"forks", offsetof(struct plan, forks), 'd'},
            {"async", offsetof(struct plan, async), 'd'},
            {"unknown", offsetof(struct plan, unknown), 'd'},
            {"load", offsetof(struct plan, load), 'd'},
            {"drift", offsetof(struct plan, drift), 'l'},
            {"seeds", offsetof(struct plan, seeds), 'l'},
            {"first_seed", offsetof(struct plan, first_seed), 'l'},
            {"verbose", offsetof(struct plan, verbose), 'i'}};

static void set(struct plan *plan, const char *word)
{
    size_t size = strcspn(word, "=");
    const char *value = word + size + (word[size] == '=');
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char *member = (char *)plan + keys[i].offset;
        if (strlen(keys[i].name) != size || strncmp(keys[i].name, word, size) != 0)
            continue;
        switch (keys[i].kind) {
        case 's':
            memcpy(member, &value, sizeof(value));
            return;
        case 'd':
            memcpy(member, &(double){strtod(value, NULL)}, sizeof(double));
            return;
        case 'u':
            memcpy(member, &(uint32_t){(uint32_t)strtoul(value, NULL, 10)}, sizeof(uint32_t));
            return;
        case 'i':
            memcpy(member, &(int){(int)strtol(value, NULL, 10)}, sizeof(int));
            return;
        default:
            memcpy(member, &(uint64_t){strtoull(value, NULL, 10)}, sizeof(uint64_t));
            return;
        }
    }
    fprintf(stderr, "bench_search: there is no key in '%s'\n", word);
    exit(2);
}

int main(int argc, char **argv)
{
    struct plan plan = {.shape = "bushy",
                        .causes = "sleep:0.3:0.3",
                        .nodes = 500,
                        .points = 3,
                        .requests = 50,
                        .seeds = 1,
                        .first_seed = 1};
    for (int i = 1; i < argc; i++)
        set(&plan, argv[i]);
    size_t seeds = plan.seeds, all = 0, wrong = 0, peak = 0;
    double *cycles = calloc(seeds, sizeof(*cycles)), *opened = calloc(seeds, sizeof(*opened));
    double decide_s = 0;
    for (size_t i = 0; i < seeds; i++) {
        struct outcome o = hunt(&plan, plan.first_seed + i);
        cycles[i] = (double)o.cycles;
        opened[i] = (double)o.opened / plan.nodes;
        all += o.causes_found == o.causes;
        wrong += o.false_causes > 0;
        decide_s = fmax(decide_s, o.decide_s);
        peak = o.peak > peak ? o.peak : peak;
    }
    qsort(cycles, seeds, sizeof(*cycles), compare);
    qsort(opened, seeds, sizeof(*opened), compare);
    printf("{\"seeds\": %zu, \"found\": %zu, \"wrong\": %zu, \"cycles_median\": %g, "
           "\"cycles_p90\": %g, "
           "\"opened_median\": %.6f, \"opened_p90\": %.6f, \"peak\": %zu, \"decide_s\": %.6f}\n",
           seeds, all, wrong, quantile(cycles, seeds, .5), quantile(cycles, seeds, .9),
           quantile(opened, seeds, .5), quantile(opened, seeds, .9), peak, decide_s);
    free(cycles);
    free(opened);
    return 0;
}
