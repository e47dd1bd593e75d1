/* A trial makes a workflow and, of a few of its requests with everything open, the search space.
 * Then it goes as in production: the requests of a cycle are made with the trace points open that
 * the search wants, the search is given the evidence, and decides. */
#include "pythia/trial.h"

#include <math.h>
#include <string.h>

#include "pythia/critical_path.h"
#include "pythia/groups.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"
#include "trial_parts.h"

#define PROFILED       5                 /* requests with everything open, for the search space */
#define PROFILED_FROM  UINT64_C(1000000) /* numbers that no search comes to */
#define EARLIER_APART  UINT64_C(10000000)
#define EVERYTHING     "all"
#define WITH_A_HISTORY "historic"

/* ---- requests ---- */

static int add_trial_span(void *context, const struct pythia_trace_id *trace,
                          const struct pythia_span *span)
{
    struct pythia__world *w = context;
    struct pythia_span copy = *span;
    char *bytes = pythia_arena_alloc(&w->arena, span->attributes.size + 1);
    (void)trace; /* the builder was told */
    if (!bytes)
        return PYTHIA_ENOMEM;
    if (span->attributes.size)
        memcpy(bytes, span->attributes.bytes, span->attributes.size);
    copy.attributes.bytes = bytes;
    w->hits[span->tracepoint]++;
    return pythia_trace_builder_add(w->builder, &copy);
}

/* PYTHIA_OK with *out borrowed until the next, or PYTHIA_ENOMEM. The root of a workflow is always
 * known and open: something is seen of each request. */
static int make_request(struct pythia__world *w, struct pythia_workflow *workflow, uint64_t number,
                        const struct pythia_workflow_view *view, const struct pythia_trace **out)
{
    pythia_arena_clear(&w->arena);
    pythia_trace_builder_begin(w->builder, pythia_workflow_trace(workflow, number));
    int status = pythia_workflow_request(workflow, number, view, add_trial_span, w);
    if (status != PYTHIA_OK)
        return status;
    return pythia_trace_builder_finish(w->builder, &w->counts, out);
}

/* ---- the world ---- */

/* The space of requests of that workflow with everything open, as far as it is known. */
static int profile_requests(struct pythia__world *w, struct pythia_workflow *workflow)
{
    struct pythia_critical_path path;
    struct pythia_workflow_view view = {.known_only = true};
    pythia_critical_path_init(&path);
    int status = pythia_space_create(w->vocabulary, &w->space);
    if (status != PYTHIA_OK)
        goto out;
    for (uint64_t i = 0; i < PROFILED; i++) {
        const struct pythia_trace *trace = NULL;
        status = make_request(w, workflow, PROFILED_FROM + i, &view, &trace);
        if (status != PYTHIA_OK)
            goto out;
        status = pythia_critical_path_find(&path, trace, PYTHIA_LATENCY_COMPLETION);
        if (status != PYTHIA_OK)
            goto out;
        uint32_t type = pythia_request_type(w->types, trace);
        status =
            type == PYTHIA_NONE ? PYTHIA_ENOMEM : pythia_space_add(w->space, type, trace, &path);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_critical_path_free(&path);
    return status;
}

/* The same workflow without its causes has the same trace points, times and requests but for them.
 * Five requests with everything open may show a cause by its mean alone, and a search that knows
 * the means of all calls then has little left to do. */
static int make_space(struct pythia__world *w, enum pythia_trial_profile from,
                      struct pythia_error *e)
{
    struct pythia_workflow *before = NULL;
    struct pythia_workflow_options options = w->options;
    if (from == PYTHIA_PROFILE_DURING)
        return profile_requests(w, w->workflow);
    options.cause_count = 0;
    int status = pythia_workflow_create(w->vocabulary, &options, &before, e);
    if (status != PYTHIA_OK)
        goto out;
    status = profile_requests(w, before);
out:
    pythia_workflow_destroy(before);
    return status;
}

/* The same trace points, times and total durations, but no place has the causes. */
static int make_scattered(struct pythia__world *w, struct pythia_error *e)
{
    struct pythia_workflow_options options = w->options;
    options.drift = PYTHIA_DRIFT_MOVE;
    options.drift_requests = 1;
    return pythia_workflow_create(w->vocabulary, &options, &w->scattered, e);
}

/* The vocabulary, the workflow and the space are made once for each trial: trials run in parallel
 * and share nothing. */
static int make_world(const struct pythia_trial *t, struct pythia__world *w, struct pythia_error *e)
{
    static const struct pythia_request_type_options types;
    pythia_trial_workflow(t->problem, t->seed, &w->options);
    int status = pythia_vocabulary_create(&w->vocabulary);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_workflow_create(w->vocabulary, &w->options, &w->workflow, e);
    if (status == PYTHIA_OK && t->problem->scattered > 0)
        status = make_scattered(w, e);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_trace_builder_create(w->vocabulary, NULL, &w->builder);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_request_types_create(w->vocabulary, &types, &w->types);
    if (status != PYTHIA_OK)
        return status;
    w->points = pythia_vocabulary_tracepoints(w->vocabulary);
    w->hits = pythia_calloc(w->points, sizeof(*w->hits));
    w->calls = pythia_calloc(w->points, sizeof(*w->calls));
    if (!w->hits || !w->calls)
        return PYTHIA_ENOMEM;
    for (uint32_t node = 0; node < w->options.nodes; node++)
        w->calls[pythia_workflow_tracepoint(w->workflow, node)] +=
            pythia_workflow_calls(w->workflow, node);
    return make_space(w, t->profile, e);
}

static void free_world(struct pythia__world *w)
{
    pythia_space_destroy(w->space);
    pythia_trace_builder_destroy(w->builder);
    pythia_request_types_destroy(w->types);
    pythia_workflow_destroy(w->workflow);
    pythia_workflow_destroy(w->scattered);
    pythia_vocabulary_destroy(w->vocabulary);
    pythia_arena_free(&w->arena);
    pythia_free(w->hits);
    pythia_free(w->calls);
}

/* ---- a search ---- */

static int begin_hunt(struct pythia__world *w, const struct pythia_trial *t, uint64_t first,
                      const struct pythia_history *history, struct pythia__hunt *h)
{
    struct pythia_search_options how = {.budget = {.points_per_cycle = t->points},
                                        .strategy = t->strategy,
                                        .history = history,
                                        .price_ns = t->price_ns,
                                        .patience = t->problem->again ? 0 : t->cycles,
                                        .seed = t->seed};
    if (strcmp(t->strategy->name, EVERYTHING) == 0)
        how.budget.points_per_cycle = w->points;
    *h = (struct pythia__hunt){.world = w, .trial = t, .number = first};
    h->open = pythia_calloc(w->points, sizeof(*h->open));
    h->ever = pythia_calloc(w->points, sizeof(*h->ever));
    h->decide_ns = pythia_calloc(t->cycles, sizeof(*h->decide_ns));
    if (!h->open || !h->ever || !h->decide_ns)
        return PYTHIA_ENOMEM;
    return pythia_search_create(w->space, &how, &h->search);
}

static void end_hunt(struct pythia__hunt *h)
{
    pythia_search_destroy(h->search);
    pythia_groups_destroy(h->groups);
    pythia_free(h->open);
    pythia_free(h->ever);
    pythia_free(h->named);
    pythia_free(h->decide_ns);
}

/* Which points are open in the cycle that begins, and what that costs. */
static void count_open_calls(struct pythia__hunt *h)
{
    size_t open = 0;
    double added_ns = 0;
    for (uint32_t point = 0; point < h->world->points; point++) {
        h->open[point] = pythia_search_is_open(h->search, point);
        if (!h->open[point] || pythia_search_in_skeleton(h->search, point))
            continue;
        open++;
        added_ns += h->world->calls[point] * h->trial->price_ns;
    }
    h->peak = open > h->peak ? open : h->peak;
    h->added_peak_ns = fmax(h->added_peak_ns, added_ns);
    h->added_sum_ns += added_ns;
}

/* The requests of a cycle, as they are seen. */
static int gather_trial_cycle(struct pythia__hunt *h)
{
    struct pythia__world *w = h->world;
    struct pythia_groups_options how = {.fold = true};
    struct pythia_workflow_view view = {.open = h->open};
    size_t count = h->trial->requests ? h->trial->requests : h->trial->problem->requests;
    memset(w->hits, 0, w->points * sizeof(*w->hits));
    pythia_groups_destroy(h->groups);
    h->groups = NULL;
    int status = pythia_groups_create(w->vocabulary, &how, &h->groups);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_trace *trace = NULL;
        struct pythia_workflow *from =
            h->number < h->trial->problem->scattered ? w->scattered : w->workflow;
        status = make_request(w, from, h->number++, &view, &trace);
        if (status != PYTHIA_OK)
            return status;
        status = pythia_groups_add(h->groups, trace);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_groups_finish(h->groups);
}

static int decide_trial_cycle(struct pythia__hunt *h, struct pythia_cycle *cycle)
{
    uint64_t (*now_ns)(void) = h->trial->now_ns;
    uint64_t begun_ns = now_ns ? now_ns() : 0;
    int status = pythia_search_cycle(h->search, h->groups, h->world->hits, h->world->points, cycle);
    h->decide_ns[h->cycles++] = now_ns ? (double)(now_ns() - begun_ns) : NAN;
    return status;
}

/* Requests go on where nothing is searched because they do not vary, or not yet: each further cycle
 * is one more chance to find what grows, or what is not there. */
static bool is_hunt_over(const struct pythia__hunt *h, const struct pythia_cycle *cycle)
{
    bool over = false;
    if (h->trial->problem->through && h->number <= h->trial->problem->drift_requests)
        return false;
    for (size_t i = 0; i < cycle->problem_count; i++)
        over = over || cycle->problems[i].state == PYTHIA_PROBLEM_DONE ||
               (cycle->problems[i].state == PYTHIA_PROBLEM_GIVEN_UP && !h->trial->problem->again);
    return cycle->finished && over;
}

/* The search decides after each cycle; what it opens takes effect in the next one, as it would
 * live. */
static int run_hunt(struct pythia__hunt *h, struct pythia_cycle *cycle)
{
    *cycle = (struct pythia_cycle){.finished = false};
    while (h->cycles < h->trial->cycles && !is_hunt_over(h, cycle)) {
        if (h->trial->stopped && h->trial->stopped())
            return PYTHIA_ESTOPPED;
        count_open_calls(h);
        int status = gather_trial_cycle(h);
        if (status != PYTHIA_OK)
            return status;
        status = decide_trial_cycle(h, cycle);
        if (status != PYTHIA_OK)
            return status;
        for (size_t i = 0; i < cycle->switch_count; i++)
            if (cycle->switches[i].open)
                h->ever[cycle->switches[i].tracepoint] = true;
        status = pythia__hunt_judge(h, cycle);
        if (status != PYTHIA_OK)
            return status;
        if (h->trial->story)
            pythia__hunt_tell(h, cycle, h->trial->story);
    }
    return PYTHIA_OK;
}

/* One cycle with everything open, as of a capture. */
static int run_capture(struct pythia__hunt *h)
{
    for (uint32_t point = 0; point < h->world->points; point++)
        h->open[point] = true;
    h->decide_ns[h->cycles++] = NAN;
    return gather_trial_cycle(h);
}

/* ---- what came before ---- */

/* Records for later searches: for each point that was opened, whether it was the cause. */
static int record_history(const struct pythia__hunt *h, struct pythia_history *history)
{
    for (uint32_t point = 0; point < h->world->points; point++) {
        double explained = 0;
        bool localised = false;
        for (size_t i = 0; i < h->named_count; i++)
            if (h->named[i].place.context == point) {
                localised = true;
                explained = fmax(explained, h->named[i].share);
            }
        if (h->ever[point]) {
            int status = pythia_history_add(
                history, pythia_vocabulary_tracepoint_id(h->world->vocabulary, point), explained,
                localised);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

static int search_once_before(struct pythia__world *w, const struct pythia_trial *earlier,
                              uint64_t first, struct pythia_history *history)
{
    struct pythia__hunt h;
    struct pythia_cycle cycle;
    int status = begin_hunt(w, earlier, first, NULL, &h);
    if (status != PYTHIA_OK)
        goto out;
    status = run_hunt(&h, &cycle);
    if (status != PYTHIA_OK)
        goto out;
    status = record_history(&h, history);
out:
    end_hunt(&h);
    return status;
}

static int search_before(struct pythia__world *w, const struct pythia_trial *t,
                         struct pythia_history *history)
{
    struct pythia_trial earlier = *t;
    earlier.strategy = pythia_strategies(&(size_t){0})[0];
    earlier.story = NULL;
    earlier.now_ns = NULL;
    for (uint64_t i = 1; i <= PYTHIA_TRIAL_EARLIER; i++) {
        int status =
            search_once_before(w, &earlier, t->problem->first_request + i * EARLIER_APART, history);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* ---- the whole ---- */

static int sum_up(struct pythia__hunt *h, struct pythia_trial_outcome *out)
{
    const struct pythia__world *w = h->world;
    *out = (struct pythia_trial_outcome){.cycles = h->cycles,
                                         .localised = h->localised,
                                         .tracepoints = w->points,
                                         .peak = h->peak,
                                         .added_peak_ns = h->added_peak_ns,
                                         .added_mean_ns = h->added_sum_ns / (double)h->cycles,
                                         .duration_ns =
                                             pythia_workflow_facts(w->workflow).duration_ns};
    pythia__hunt_count(h, out);
    for (uint32_t point = 0; point < w->points; point++) {
        out->skeleton += pythia_search_in_skeleton(h->search, point);
        out->opened += h->ever[point];
    }
    pythia_ranks_sort(h->decide_ns, h->cycles);
    out->decide_median_ns = pythia_ranks_percentile(h->decide_ns, h->cycles, 50);
    out->decide_most_ns = pythia_ranks_percentile(h->decide_ns, h->cycles, 100);
    return h->trial->problem->captured ? pythia__capture_explain(h, out)
                                       : pythia__hunt_explain(h, out);
}

/* The historic strategy gets the history of earlier searches in the same world, with other
 * requests: it would have none otherwise, and be no different from its fallback. */
int pythia_trial_run(const struct pythia_trial *t, struct pythia_trial_outcome *out,
                     struct pythia_error *e)
{
    struct pythia__world world = {.points = 0};
    struct pythia__hunt h = {.world = NULL};
    struct pythia_history *history = NULL;
    struct pythia_trial_outcome outcome;
    struct pythia_cycle cycle;
    int status = make_world(t, &world, e);
    if (status != PYTHIA_OK)
        goto out;
    if (strcmp(t->strategy->name, WITH_A_HISTORY) == 0) {
        status = pythia_history_create(&history);
        if (status != PYTHIA_OK)
            goto out;
        status = search_before(&world, t, history);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = begin_hunt(&world, t, t->problem->first_request, history, &h);
    if (status != PYTHIA_OK)
        goto out;
    status = t->problem->captured ? run_capture(&h) : run_hunt(&h, &cycle);
    if (status != PYTHIA_OK)
        goto out;
    status = sum_up(&h, &outcome);
    if (status != PYTHIA_OK)
        goto out;
    if (t->story && pythia_buf_status(t->story) != PYTHIA_OK) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    *out = outcome;
out:
    end_hunt(&h);
    pythia_history_destroy(history);
    free_world(&world);
    return status;
}
