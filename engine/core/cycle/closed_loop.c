#include "pythia/closed_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "loop.h"
#include "pythia/mem.h"
#include "pythia/request_type.h"
#include "pythia/status.h"

#define REQUESTS 100
#define CYCLES   60

/* A request of the capture, as the first reading found it with everything open. */
struct entry {
    struct pythia_trace_id id;
    uint64_t start_ns, completed_ns;
    uint32_t type, unsplit; /* type: with a grouping key, its part of the type */
    uint32_t spans;
    uint32_t place; /* in order of time */
};

struct playing {
    struct pythia_vocabulary *vocabulary;
    const struct pythia_input *input;
    const struct pythia_space *space;
    const struct pythia_closed_loop_options *o;
    struct pythia_request_types *types;
    struct pythia_search *search;
    struct entry *entries; /* in order of id, once read */
    uint32_t types_end;    /* one past the largest number of a type */
    size_t count, capacity;
    uint32_t *order;                            /* entries in order of time */
    struct pythia__evidence evidence;           /* of the current cycle */
    struct pythia_open_points *open;            /* during that cycle */
    struct pythia_open_points *open_or_foreign; /* with the points that the space does not have */
    struct pythia_open_points *skeleton;
    struct pythia__evidence_context context;
    struct pythia_counts seen; /* hidden spans and requests, of the whole capture */
    uint32_t *counts;          /* requests, by type */
    bool *foreign;             /* by trace point: the space does not know it */
    uint32_t points;
    size_t first, length; /* requests of the cycle, by place; after the last follows the first */
    size_t switched;      /* place of the first request after the last switch */
    bool may_begin;       /* a type was not searched yet, and will have enough requests */
    struct pythia_problem *unknown; /* types that the space does not have, with all open */
    size_t unknown_count, unknown_capacity;
    struct pythia_loop *loop;
    struct pythia_loop_cycle *cycle;
};

/* ---- the order of requests ---- */

static int begin_order(void *context)
{
    struct playing *p = context;
    p->count = 0;
    if (p->o->groups.key)
        pythia_grouping_key_forget(p->o->groups.key);
    return PYTHIA_OK;
}

/* The type is that of the whole request, as a live stream has it: with points closed, the keys of a
 * type may be out of sight. */
static int add_entry(void *context, const struct pythia_trace *trace)
{
    struct playing *p = context;
    if (trace->incomplete)
        return PYTHIA_OK;
    uint32_t type = pythia_request_type(p->types, trace), unsplit = type;
    struct pythia_grouping_key *key = p->o->groups.key;
    if (key && type != PYTHIA_NONE) {
        int status = pythia_critical_path_find(&p->context.path, trace, p->o->groups.latency);
        if (status != PYTHIA_OK)
            return status;
        type = pythia_grouping_key_part(key, type, trace, &p->context.path);
    }
    if (type == PYTHIA_NONE ||
        pythia_grow(&p->entries, &p->capacity, p->count, sizeof(*p->entries)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->types_end = type >= p->types_end ? type + 1 : p->types_end;
    p->entries[p->count++] = (struct entry){.id = trace->id,
                                            .start_ns = trace->start_ns,
                                            .completed_ns = trace->completed_ns,
                                            .type = type,
                                            .unsplit = unsplit,
                                            .spans = trace->count};
    return PYTHIA_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->id.high != y->id.high)
        return x->id.high < y->id.high ? -1 : 1;
    return (x->id.low > y->id.low) - (x->id.low < y->id.low);
}

static int compare_times(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return compare_ids(a, b);
}

/* The entries are sorted by id, as each cycle looks its requests up by id; `order` has them by
 * time. */
static int sort_entries(struct playing *p)
{
    p->order = pythia_calloc(p->count + 1, sizeof(*p->order));
    if (!p->order)
        return PYTHIA_ENOMEM;
    if (p->count == 0)
        return PYTHIA_OK;
    qsort(p->entries, p->count, sizeof(*p->entries), compare_times);
    for (size_t i = 0; i < p->count; i++)
        p->entries[i].place = (uint32_t)i;
    qsort(p->entries, p->count, sizeof(*p->entries), compare_ids);
    for (size_t i = 0; i < p->count; i++)
        p->order[p->entries[i].place] = (uint32_t)i;
    return PYTHIA_OK;
}

static const struct entry *get_entry(const struct playing *p, size_t place)
{
    return &p->entries[p->order[place % p->count]];
}

/* ---- a cycle ---- */

/* The time from the beginning of one request to that of a later one. Where the capture begins
 * again, the gap is the average time between two requests; a capture of a single request begins
 * again when that request has ended. */
static double seconds_between(const struct playing *p, size_t from, size_t to)
{
    const struct entry *first = get_entry(p, 0), *last = get_entry(p, p->count - 1);
    double within_ns = (double)(get_entry(p, to)->start_ns - first->start_ns) -
                       (double)(get_entry(p, from)->start_ns - first->start_ns);
    double round_ns = p->count > 1 ? (double)(last->start_ns - first->start_ns) /
                                         ((double)p->count - 1) * (double)p->count
                                   : (double)(first->completed_ns - first->start_ns);
    size_t rounds = to / p->count - from / p->count;
    return (within_ns + round_ns * (double)rounds) / 1e9;
}

/* The cycle takes requests from p->first on, until it has so many of one type, or its time has
 * passed, or it has all of the capture: no request can be twice in the same evidence. */
static int choose_length(struct playing *p)
{
    double seconds = p->o->seconds > 0 ? p->o->seconds : INFINITY;
    /* A cycle of a given time may have any number of requests; else a number bounds it. */
    size_t wanted = p->o->requests ? p->o->requests : p->o->seconds > 0 ? SIZE_MAX : REQUESTS;
    uint32_t *seen = pythia_calloc(p->types_end, sizeof(*seen));
    if (!seen)
        return PYTHIA_ENOMEM;
    bool full = false;
    for (p->length = 0; p->length < p->count && !full; p->length++) {
        if (p->length > 0 && seconds_between(p, p->first, p->first + p->length) >= seconds)
            break;
        full = ++seen[get_entry(p, p->first + p->length)->type] >= wanted;
    }
    pythia_free(seen);
    return PYTHIA_OK;
}

/* Requests that had not ended when the next cycle began were seen with two sets of open points; to
 * drop only these would drop the slow ones. So the cycle ends before the first of them began. */
static size_t count_ended(const struct playing *p)
{
    size_t until = p->first + p->length;
    if (p->length == p->count || until % p->count < p->first % p->count)
        return p->length; /* the capture ends within the cycle: all had the time to end */
    uint64_t next_ns = get_entry(p, until)->start_ns;
    for (size_t i = 0; i < p->length; i++)
        if (get_entry(p, p->first + i)->completed_ns > next_ns)
            return i > 0 ? i : p->length;
    return p->length;
}

static const struct entry *find_entry(const struct playing *p, const struct pythia_trace *trace)
{
    struct entry wanted = {.id = trace->id};
    return bsearch(&wanted, p->entries, p->count, sizeof(*p->entries), compare_ids);
}

static bool is_in_cycle(const struct playing *p, const struct entry *e)
{
    return (e->place + p->count - p->first % p->count) % p->count < p->length;
}

/* Does a request that was retained for this cycle belong to it anyway, because the capture is
 * played again? */
static bool comes_again(void *context, const struct pythia_trace *trace)
{
    const struct playing *p = context;
    const struct entry *e = find_entry(p, trace);
    return e && is_in_cycle(p, e);
}

/* A pass may be begun anew, if a reader finds out late that spans of a trace are far apart: all
 * counts of the cycle restart. */
static int begin_cycle(void *context)
{
    struct playing *p = context;
    p->cycle->spans_saved = 0;
    p->seen = (struct pythia_counts){0};
    pythia__unknown_points_clear(&p->context.unknown);
    int status = pythia__evidence_begin(&p->context, &p->evidence, p->skeleton, p->open);
    if (status != PYTHIA_OK)
        return status;
    pythia__rare_types_drop_those(&p->context.rare, comes_again, p);
    return pythia__evidence_carry(&p->context, &p->evidence, 0, NULL);
}

/* A request of a type that the search space has is seen as the search wants it for that type. Of
 * other types, the points of the search space are seen if they are open for all types, and points
 * that the space does not have are seen always, as the search cannot close them. Requests outside
 * the cycle are hidden too, for the counts of the whole capture. */
static int take_cycle(void *context, const struct pythia_trace *whole)
{
    struct playing *p = context;
    const struct pythia_trace *trace;
    const struct entry *e = find_entry(p, whole);
    uint64_t all;
    if (!e)
        return PYTHIA_OK;
    bool known = pythia_space_type(p->space, e->unsplit) != NULL;
    const struct pythia_hider_types types = {p->open, NULL, e->unsplit};
    int status = pythia__evidence_hide(&p->context, known ? p->open : p->open_or_foreign, &types,
                                       whole, &p->seen, &trace);
    p->seen.traces += status == 1;
    if (status != 0 || !is_in_cycle(p, e))
        return status < 0 ? status : PYTHIA_OK;
    p->cycle->spans_saved += whole->count - trace->count;
    status = pythia_critical_path_find(&p->context.path, trace, p->o->groups.latency);
    if (status != PYTHIA_OK)
        return status;
    return pythia__evidence_add(&p->context, &p->evidence, 0, e->unsplit, known, trace, &all);
}

static int set_open_points(struct playing *p)
{
    pythia_open_points_destroy(p->open);
    pythia_open_points_destroy(p->open_or_foreign);
    p->open = p->open_or_foreign = NULL;
    int status = pythia_search_open_points(p->search, &p->open);
    if (status != PYTHIA_OK ||
        (status = pythia_search_open_points(p->search, &p->open_or_foreign)) != PYTHIA_OK)
        return status;
    return pythia_open_points_add_flagged(p->open_or_foreign, p->foreign, p->points);
}

/* The reader retains all spans, as it does not know which points are open for which type: hidden
 * spans and requests are moved to the counts that the reader would have made. */
static int read_cycle(struct playing *p, struct pythia_pipeline_result *result)
{
    struct pythia_pipeline_options how = p->o->pipeline;
    how.open = NULL;
    how.told = true; /* the first reading has reported what is wrong with the input */
    how.progress = false;
    struct pythia_consumer consumer = {begin_cycle, take_cycle, p, NULL};
    int status = pythia_pipeline_run(p->vocabulary, p->input, &how, &consumer, result);
    if (status != PYTHIA_OK)
        return status;
    result->counts.hidden += p->seen.hidden;
    result->counts.kept -= p->seen.hidden;
    result->counts.traces -= p->seen.traces;
    p->cycle->requests = p->evidence.requests;
    p->cycle->spans_seen = p->evidence.spans;
    return PYTHIA_OK;
}

/* Is there a type that was not searched yet, although the capture has enough requests of it? Only
 * until the capture has been played once since the last switch: then each has had its chance. */
static bool may_begin(const struct playing *p, const struct pythia_cycle *found)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(p->evidence.groups, &count);
    if (p->first - p->switched >= p->count)
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < found->problem_count; k++)
            if (found->problems[k].type == types[i].name &&
                found->problems[k].state == PYTHIA_PROBLEM_TOO_FEW &&
                found->problems[k].cycles == 0 && p->counts[types[i].part] >= p->loop->min_requests)
                return true;
    return false;
}

static size_t count_beyond_skeleton(const struct playing *p)
{
    size_t count = 0;
    for (uint32_t point = 0; point < p->points; point++)
        count +=
            pythia_search_is_open(p->search, point) && !pythia_search_in_skeleton(p->search, point);
    return count;
}

/* Add a cycle to the loop; *begun: the number of requests that begin during it, including those
 * that end later. */
static int add_loop_cycle(struct playing *p, size_t *begun)
{
    struct pythia_loop *l = p->loop;
    if (pythia_grow(&l->cycles, &l->cycle_capacity, l->cycle_count, sizeof(*l->cycles)) !=
            PYTHIA_OK ||
        choose_length(p) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    *begun = p->length;
    p->length = count_ended(p);
    p->cycle = &l->cycles[l->cycle_count++];
    *p->cycle = (struct pythia_loop_cycle){
        .number = l->cycle_count,
        .open_count = count_beyond_skeleton(p),
        .under_way = *begun - p->length,
        .again = p->first / p->count != (p->first + *begun - 1) / p->count,
        .seconds = seconds_between(p, p->first, p->first + p->length),
        .leading = {.type = PYTHIA_NONE}};
    return PYTHIA_OK;
}

/* The next cycle begins after all requests that began during this one; a request that ended too
 * late for this cycle is evidence of none. */
static int play_cycle(struct playing *p, struct pythia_pipeline_result *result)
{
    struct pythia_loop *l = p->loop;
    struct pythia_cycle found = {0};
    size_t begun;
    int status = add_loop_cycle(p, &begun);
    if (status != PYTHIA_OK || (status = set_open_points(p)) != PYTHIA_OK ||
        (status = read_cycle(p, result)) != PYTHIA_OK)
        return status;
    status = pythia__evidence_decide(&p->evidence, p->search, p->cycle->number, p->cycle->seconds,
                                     &found);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__loop_log(l, p->cycle, &found, p->evidence.groups, p->unknown, p->unknown_count,
                              (struct pythia_verdict_cycle){.number = p->cycle->number});
    if (status != PYTHIA_OK)
        return status;
    p->cycle->unseen = p->length > p->cycle->requests ? p->length - p->cycle->requests : 0;
    p->first += begun; /* also past requests that had not ended: they saw two sets of points */
    if (found.switch_count > 0)
        p->switched = p->first;
    pythia__rare_types_end(&p->context.rare, 0, true, p->space, found.switches, found.switch_count);
    p->may_begin = may_begin(p, &found);
    l->not_carried = p->context.rare.not_carried;
    l->unknown = pythia__unknown_points_sum(&p->context.unknown, p->vocabulary);
    l->rounds = (p->first - 1) / p->count + 1;
    return PYTHIA_OK;
}

/* A point that was opened several times counts once. */
static int count_opened(struct playing *p)
{
    struct pythia_loop *l = p->loop;
    bool *ever = pythia_calloc(p->points, sizeof(*ever));
    if (!ever)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < l->cycle_count; i++)
        for (size_t k = 0; k < l->cycles[i].opened_count; k++) {
            bool *seen = &ever[l->cycles[i].opened[k].tracepoint];
            l->opened_count += !*seen;
            *seen = true;
        }
    pythia_free(ever);
    return PYTHIA_OK;
}

/* Keep open what the grouping key needs to see, beyond what the skeleton shows. */
static int keep_keys_open(struct playing *p)
{
    uint32_t points = pythia_vocabulary_tracepoints(p->vocabulary);
    bool *open = pythia_calloc(points, sizeof(*open)),
         *never = pythia_calloc(points, sizeof(*never));
    int status = PYTHIA_ENOMEM;
    /* The key adds the points that it needs to `open`, except those that must stay closed. */
    if (!open || !never)
        goto out;
    for (uint32_t point = 0; point < points; point++) {
        open[point] = pythia_search_in_skeleton(p->search, point);
        never[point] = p->o->search.never && pythia_open_points_has(p->o->search.never, point);
    }
    status = pythia_grouping_key_cover(p->o->groups.key, open, never, points);
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t point = 0; point < points; point++)
        if (open[point])
            pythia_search_keep_open(p->search, point);
out:
    pythia_free(open);
    pythia_free(never);
    return status;
}

/* List the types of the capture that the space does not have, with their number of requests, in
 * order of their first request. The search never sees a request of them, so that only the loop can
 * report them. */
static int find_unknown(struct playing *p)
{
    int status = PYTHIA_OK;
    bool *listed = pythia_calloc(p->types_end + 1, sizeof(*listed));
    p->counts = pythia_calloc(p->types_end + 1, sizeof(*p->counts));
    if (!listed || !p->counts) {
        pythia_free(listed);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < p->count; i++)
        p->counts[p->entries[i].type]++;
    for (size_t i = 0; i < p->count; i++) {
        uint32_t type = get_entry(p, i)->type, unsplit = get_entry(p, i)->unsplit;
        if (listed[type] || pythia_space_type(p->space, unsplit))
            continue;
        status =
            pythia_grow(&p->unknown, &p->unknown_capacity, p->unknown_count, sizeof(*p->unknown));
        if (status != PYTHIA_OK)
            goto out;
        p->unknown[p->unknown_count++] = (struct pythia_problem){.type = type,
                                                                 .unsplit = unsplit,
                                                                 .state = PYTHIA_PROBLEM_UNKNOWN,
                                                                 .why = PYTHIA_WHY_NO_TYPE,
                                                                 .requests = p->counts[type],
                                                                 .variance_share = NAN,
                                                                 .top = {.share = NAN},
                                                                 .rest = NAN};
        listed[type] = true;
    }
out:
    pythia_free(listed);
    return status;
}

/* List the trace points that pins hold open or shut. A pin on a point of the skeleton changes
 * nothing, and is not listed. */
static int list_pins(struct playing *p)
{
    struct pythia_loop *l = p->loop;
    const struct pythia_search_options *o = &p->o->search;
    bool *skeleton = pythia_space_skeleton(p->space);
    l->always = pythia_calloc(p->points, sizeof(*l->always));
    l->never = pythia_calloc(p->points, sizeof(*l->never));
    bool made = skeleton && l->always && l->never;
    for (uint32_t point = 0; made && point < p->points; point++)
        if (o->never && !skeleton[point] && pythia_open_points_has(o->never, point))
            l->never[l->never_count++] = point;
        else if (!skeleton[point] && pythia_search_in_skeleton(p->search, point))
            l->always[l->always_count++] = point;
    pythia_free(skeleton);
    return made ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Read everything once, with all trace points open: the type of a request, and which requests are
 * in a cycle, must not depend on what is open. */
static int read_order(struct playing *p)
{
    struct pythia_pipeline_result unused;
    struct pythia_pipeline_options how = p->o->pipeline;
    struct pythia_consumer consumer = {begin_order, add_entry, p, NULL};
    how.open = NULL;
    if (p->o->groups.key)
        pythia_grouping_key_note_points(p->o->groups.key, true);
    int status = pythia_pipeline_run(p->vocabulary, p->input, &how, &consumer, &unused);
    if (p->o->groups.key)
        pythia_grouping_key_note_points(p->o->groups.key, false);
    return status;
}

/* Divide the trace points into those of the skeleton, of the space, and foreign ones. */
static int divide_points(struct playing *p)
{
    struct pythia_open_points *never = p->o->search.never;
    p->points = pythia_vocabulary_tracepoints(p->vocabulary);
    p->foreign = pythia_space_points(p->space);
    bool *known = p->foreign ? pythia_space_points(p->space) : NULL;
    if (!known)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < p->points; point++) {
        p->loop->skeleton_count += pythia_search_in_skeleton(p->search, point);
        p->loop->point_count += known[point];
        p->foreign[point] = !known[point] && !(never && pythia_open_points_has(never, point));
    }
    pythia__unknown_points_know(&p->context.unknown, known, p->points);
    return PYTHIA_OK;
}

/* The search begins only after the capture has been read once: before, the vocabulary does not have
 * all trace points. */
static int begin_playing(struct playing *p)
{
    int status = pythia__evidence_context_init(&p->context, p->vocabulary, &p->o->groups,
                                               &p->o->search, p->o->rare_bytes);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_request_types_create(p->vocabulary, &p->o->groups.types, &p->types);
    if (status != PYTHIA_OK || (status = read_order(p)) != PYTHIA_OK ||
        (status = sort_entries(p)) != PYTHIA_OK ||
        (status = pythia_search_create(p->space, &p->o->search, &p->search)) != PYTHIA_OK ||
        (status = pythia_space_skeleton_points(p->space, &p->skeleton)) != PYTHIA_OK)
        return status;
    if (p->o->groups.key && (status = keep_keys_open(p)) != PYTHIA_OK)
        return status;
    p->loop->budget = p->o->search.budget;
    p->loop->price_ns = p->o->search.price_ns;
    p->loop->min_requests = p->o->search.min_requests ? p->o->search.min_requests : 30;
    p->loop->finished = p->count == 0;
    if ((status = divide_points(p)) != PYTHIA_OK || (status = find_unknown(p)) != PYTHIA_OK)
        return status;
    return list_pins(p);
}

static void end_playing(struct playing *p)
{
    pythia__evidence_free(&p->evidence);
    pythia__evidence_context_free(&p->context);
    pythia_open_points_destroy(p->open);
    pythia_open_points_destroy(p->open_or_foreign);
    pythia_open_points_destroy(p->skeleton);
    pythia_search_destroy(p->search);
    pythia_request_types_destroy(p->types);
    pythia_free(p->entries);
    pythia_free(p->order);
    pythia_free(p->unknown);
    pythia_free(p->counts);
    pythia_free(p->foreign);
}

/* Is anything left to search? A cycle in a quiet time of the capture begins nothing, although
 * nothing has ended: until the capture has been played once, it goes on. */
static bool goes_on(const struct playing *p)
{
    const struct pythia_loop *l = p->loop;
    uint64_t searched = 0;
    for (size_t i = 0; i < l->problem_count; i++)
        searched += l->problems[i].cycles;
    bool in_vain = searched == 0 && p->first < p->count && l->cycle_count > 0 &&
                   l->cycles[l->cycle_count - 1].states[PYTHIA_PROBLEM_TOO_FEW] > 0;
    return !l->finished || p->may_begin || in_vain;
}

int pythia_closed_loop_run(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                           const struct pythia_space *space,
                           const struct pythia_closed_loop_options *options,
                           struct pythia_loop *out, struct pythia_groups **groups,
                           struct pythia_open_points **open, struct pythia_pipeline_result *result)
{
    struct pythia_loop loop = {0};
    struct playing p = {
        .vocabulary = vocabulary, .input = input, .space = space, .o = options, .loop = &loop};
    size_t cycles = options->cycles ? options->cycles : CYCLES;
    int status = begin_playing(&p);
    if (status != PYTHIA_OK)
        goto out;
    /* A signal ends the run between two cycles, so that the report is of whole ones. */
    while (p.count > 0 && goes_on(&p) && loop.cycle_count < cycles &&
           !(options->stop && *options->stop))
        if ((status = play_cycle(&p, result)) != PYTHIA_OK)
            goto out;
    if (!p.evidence.groups && /* there was not a single request */
        ((status = pythia__evidence_begin(&p.context, &p.evidence, NULL, NULL)) != PYTHIA_OK ||
         (status = pythia__evidence_decide(&p.evidence, NULL, 0, 0, NULL)) != PYTHIA_OK))
        goto out;
    if ((status = count_opened(&p)) != PYTHIA_OK)
        goto out;
    pythia_verdicts_settle(&loop.verdicts, loop.cycle_count);
    *out = loop;
    *groups = p.evidence.groups;
    *open = p.open;
    loop = (struct pythia_loop){0};
    p.evidence.groups = NULL;
    p.open = NULL;
out:
    pythia_loop_free(&loop);
    end_playing(&p);
    return status;
}
