#include "pythia/closed_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gathering.h"
#include "loop.h"
#include "pythia/mem.h"
#include "pythia/request_type.h"
#include "pythia/status.h"

#define REQUESTS 100
#define CYCLES   60

/* A request of the capture, as the first reading found it. */
struct entry {
    struct pythia_trace_id id;
    uint64_t start_ns, completed_ns;
    uint32_t type, unsplit; /* its part, or without a grouping key its type; its type */
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
    struct pythia__evidence evidence;           /* of the cycle at hand */
    struct pythia_open_points *open;            /* while it runs */
    struct pythia_open_points *open_or_foreign; /* and what the space does not know */
    struct pythia_open_points *skeleton;
    struct pythia__gathering gathering;
    struct pythia_counts seen; /* what is hidden, and of which spans; of all requests */
    uint32_t *counts;          /* requests, by type */
    bool *foreign;             /* by trace point: the space does not know it */
    uint32_t points;
    size_t first, length; /* the requests of the cycle, by place; past the last comes the first */
    size_t switched;      /* the first that looked as requests look now */
    bool may_begin;       /* a type was not searched yet, and will have enough requests */
    struct pythia_problem *unknown; /* types that the space does not know, with all open */
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

static int take_order(void *context, const struct pythia_trace *trace)
{
    struct playing *p = context;
    uint32_t type = pythia_request_type(p->types, trace), unsplit = type;
    struct pythia_grouping_key *key = p->o->groups.key;
    int status = key && type != PYTHIA_NONE
                     ? pythia_critical_path_find(&p->gathering.path, trace, p->o->groups.latency)
                     : PYTHIA_OK;
    if (key && type != PYTHIA_NONE && status == PYTHIA_OK)
        type = pythia_grouping_key_part(key, type, trace, &p->gathering.path);
    if (status != PYTHIA_OK || type == PYTHIA_NONE ||
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

static int put_in_order(struct playing *p)
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

static const struct entry *entry_at(const struct playing *p, size_t place)
{
    return &p->entries[p->order[place % p->count]];
}

/* ---- a cycle ---- */

/* From the beginning of one request to that of a later one, when the capture is played on and on:
 * between its last request and its first there is as much time as between two of it on average; a
 * single one begins when the one before it has ended. */
static double seconds_between(const struct playing *p, size_t from, size_t to)
{
    const struct entry *first = entry_at(p, 0), *last = entry_at(p, p->count - 1);
    double within_ns = (double)(entry_at(p, to)->start_ns - first->start_ns) -
                       (double)(entry_at(p, from)->start_ns - first->start_ns);
    double round_ns = p->count > 1 ? (double)(last->start_ns - first->start_ns) /
                                         ((double)p->count - 1) * (double)p->count
                                   : (double)(first->completed_ns - first->start_ns);
    size_t rounds = to / p->count - from / p->count;
    return (within_ns + round_ns * (double)rounds) / 1e9;
}

/* How many requests from p->first on: until so many of one type are in, or so much time has passed,
 * or all of the capture is. */
static int choose_length(struct playing *p)
{
    double seconds = p->o->seconds > 0 ? p->o->seconds : INFINITY;
    size_t wanted = p->o->requests ? p->o->requests : p->o->seconds > 0 ? SIZE_MAX : REQUESTS;
    uint32_t *seen = pythia_calloc(p->types_end, sizeof(*seen));
    if (!seen)
        return PYTHIA_ENOMEM;
    bool full = false;
    for (p->length = 0; p->length < p->count && !full; p->length++) {
        if (p->length > 0 && seconds_between(p, p->first, p->first + p->length) >= seconds)
            break;
        full = ++seen[entry_at(p, p->first + p->length)->type] >= wanted;
    }
    pythia_free(seen);
    return PYTHIA_OK;
}

/* Requests that had not ended when the next cycle began have seen two sets of open points; and who
 * drops them alone drops the slow ones. So the cycle ends before the first of them began. */
static size_t ended_before_next(const struct playing *p)
{
    size_t until = p->first + p->length;
    if (p->length == p->count || until % p->count < p->first % p->count)
        return p->length; /* the capture ends in between: all had the time to end */
    uint64_t next_ns = entry_at(p, until)->start_ns;
    for (size_t i = 0; i < p->length; i++)
        if (entry_at(p, p->first + i)->completed_ns > next_ns)
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

/* A request that was kept and comes again, because the capture is played again, is one. */
static bool comes_again(void *context, const struct pythia_trace *trace)
{
    const struct playing *p = context;
    const struct entry *e = find_entry(p, trace);
    return e && is_in_cycle(p, e);
}

static int begin_cycle(void *context)
{
    struct playing *p = context;
    p->cycle->spans_saved = 0;
    p->seen = (struct pythia_counts){0};
    pythia__unknown_points_clear(&p->gathering.unknown);
    int status = pythia__gathering_begin(&p->gathering, &p->evidence, p->skeleton, p->open);
    pythia__rare_types_drop_those(&p->gathering.rare, comes_again, p);
    return status == PYTHIA_OK ? pythia__gathering_carry(&p->gathering, &p->evidence, 0, NULL)
                               : status;
}

/* Of a type that the search space knows what the search wants open for it is seen. Of another one,
 * that which the search has closed or has open for some types is not, and what is not the search's
 * to close is. */
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
    int status = pythia__gathering_see(&p->gathering, known ? p->open : p->open_or_foreign, &types,
                                       whole, &p->seen, &trace);
    p->seen.traces += status == 1;
    if (status != 0 || !is_in_cycle(p, e))
        return status < 0 ? status : PYTHIA_OK;
    p->cycle->spans_saved += whole->count - trace->count;
    status = pythia_critical_path_find(&p->gathering.path, trace, p->o->groups.latency);
    return status == PYTHIA_OK ? pythia__gathering_add(&p->gathering, &p->evidence, 0, e->unsplit,
                                                       known, trace, &all)
                               : status;
}

/* What is open while the cycle runs. */
static int open_points(struct playing *p)
{
    pythia_open_points_destroy(p->open);
    pythia_open_points_destroy(p->open_or_foreign);
    p->open = p->open_or_foreign = NULL;
    int status = pythia_search_open_points(p->search, &p->open);
    if (status == PYTHIA_OK)
        status = pythia_search_open_points(p->search, &p->open_or_foreign);
    return status == PYTHIA_OK
               ? pythia_open_points_add_flagged(p->open_or_foreign, p->foreign, p->points)
               : status;
}

/* Read all, and gather the requests of the cycle. What is left out here is told as a reader tells
 * what it leaves out. */
static int gather_cycle(struct playing *p, struct pythia_pipeline_result *result)
{
    struct pythia_pipeline_options how = p->o->pipeline;
    how.open = NULL;
    how.told = true;
    how.progress = false;
    struct pythia_consumer consumer = {begin_cycle, take_cycle, p};
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

/* Is there a type that was not searched yet, of which the capture has enough requests, and that was
 * not played wholly since they look as they do? */
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

static size_t beyond_skeleton(const struct playing *p)
{
    size_t count = 0;
    for (uint32_t point = 0; point < p->points; point++)
        count +=
            pythia_search_is_open(p->search, point) && !pythia_search_in_skeleton(p->search, point);
    return count;
}

static int play_cycle(struct playing *p, struct pythia_pipeline_result *result)
{
    struct pythia_loop *l = p->loop;
    if (pythia_grow(&l->cycles, &l->cycle_capacity, l->cycle_count, sizeof(*l->cycles)) !=
            PYTHIA_OK ||
        choose_length(p) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->cycle = &l->cycles[l->cycle_count++];
    *p->cycle = (struct pythia_loop_cycle){.number = l->cycle_count,
                                           .open_count = beyond_skeleton(p),
                                           .leading = {.type = PYTHIA_NONE}};
    size_t begun = p->length;
    p->length = ended_before_next(p);
    p->cycle->under_way = begun - p->length;
    p->cycle->again = p->first / p->count != (p->first + begun - 1) / p->count;
    p->cycle->seconds = seconds_between(p, p->first, p->first + p->length);
    struct pythia_cycle found = {0};
    int status = open_points(p);
    if (status == PYTHIA_OK)
        status = gather_cycle(p, result);
    if (status == PYTHIA_OK)
        status = pythia__evidence_decide(&p->evidence, p->search, p->cycle->number,
                                         p->cycle->seconds, &found);
    if (status == PYTHIA_OK)
        status = pythia__loop_keep(l, p->cycle, &found, p->evidence.groups, p->unknown,
                                   p->unknown_count, 0);
    if (status == PYTHIA_OK)
        p->cycle->unseen = p->length > p->cycle->requests ? p->length - p->cycle->requests : 0;
    p->first += begun;
    if (found.switch_count > 0)
        p->switched = p->first;
    pythia__rare_types_end(&p->gathering.rare, 0, status == PYTHIA_OK, p->space, found.switches,
                           found.switch_count);
    p->may_begin = status == PYTHIA_OK && may_begin(p, &found);
    l->not_carried = p->gathering.rare.not_carried;
    l->unknown = pythia__unknown_points_sum(&p->gathering.unknown, p->vocabulary);
    l->rounds = (p->first - 1) / p->count + 1;
    return status;
}

/* Number of different points that were opened. */
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

/* What the grouping key needs to see stays open, unless the skeleton shows it. */
static int keep_keys_open(struct playing *p)
{
    uint32_t points = pythia_vocabulary_tracepoints(p->vocabulary);
    bool *open = pythia_calloc(points, sizeof(*open)),
         *never = pythia_calloc(points, sizeof(*never));
    int status = open && never ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (uint32_t point = 0; status == PYTHIA_OK && point < points; point++) {
        open[point] = pythia_search_in_skeleton(p->search, point);
        never[point] = p->o->search.never && pythia_open_points_has(p->o->search.never, point);
    }
    if (status == PYTHIA_OK)
        status = pythia_grouping_key_cover(p->o->groups.key, open, never, points);
    for (uint32_t point = 0; status == PYTHIA_OK && point < points; point++)
        if (open[point])
            pythia_search_keep_open(p->search, point);
    pythia_free(open);
    pythia_free(never);
    return status;
}

/* Types of the capture that the space holds no requests of, with how many there are: in order of
 * their first request. */
static int find_unknown(struct playing *p)
{
    bool *told = pythia_calloc(p->types_end + 1, sizeof(*told));
    p->counts = pythia_calloc(p->types_end + 1, sizeof(*p->counts));
    if (!told || !p->counts) {
        pythia_free(told);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < p->count; i++)
        p->counts[p->entries[i].type]++;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < p->count && status == PYTHIA_OK; i++) {
        uint32_t type = entry_at(p, i)->type, unsplit = entry_at(p, i)->unsplit;
        if (told[type] || pythia_space_type(p->space, unsplit))
            continue;
        status =
            pythia_grow(&p->unknown, &p->unknown_capacity, p->unknown_count, sizeof(*p->unknown));
        if (status == PYTHIA_OK)
            p->unknown[p->unknown_count++] =
                (struct pythia_problem){.type = type,
                                        .unsplit = unsplit,
                                        .state = PYTHIA_PROBLEM_UNKNOWN,
                                        .why = PYTHIA_WHY_NO_TYPE,
                                        .requests = p->counts[type],
                                        .variance_share = NAN,
                                        .top = {.share = NAN},
                                        .rest = NAN};
        told[type] = true;
    }
    pythia_free(told);
    return status;
}

/* Which trace points pins hold, of those that there are. */
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

/* Read everything once, with all trace points open. */
static int read_order(struct playing *p)
{
    struct pythia_pipeline_result unused;
    struct pythia_pipeline_options how = p->o->pipeline;
    struct pythia_consumer consumer = {begin_order, take_order, p};
    how.open = NULL;
    if (p->o->groups.key)
        pythia_grouping_key_note_points(p->o->groups.key, true);
    int status = pythia_pipeline_run(p->vocabulary, p->input, &how, &consumer, &unused);
    if (p->o->groups.key)
        pythia_grouping_key_note_points(p->o->groups.key, false);
    return status;
}

static int begin_playing(struct playing *p)
{
    int status = pythia__gathering_init(&p->gathering, p->vocabulary, &p->o->groups, &p->o->search,
                                        p->o->rare_bytes);
    if (status == PYTHIA_OK)
        status = pythia_request_types_create(p->vocabulary, &p->o->groups.types, &p->types);
    if (status == PYTHIA_OK)
        status = read_order(p);
    if (status == PYTHIA_OK)
        status = put_in_order(p);
    if (status == PYTHIA_OK)
        status = pythia_search_create(p->space, &p->o->search, &p->search);
    if (status == PYTHIA_OK)
        status = pythia_space_skeleton_points(p->space, &p->skeleton);
    if (status == PYTHIA_OK && p->o->groups.key)
        status = keep_keys_open(p);
    p->points = pythia_vocabulary_tracepoints(p->vocabulary);
    bool *all = status == PYTHIA_OK ? pythia_space_points(p->space) : NULL,
         *known = all ? pythia_space_points(p->space) : NULL;
    if (status == PYTHIA_OK && !known)
        status = PYTHIA_ENOMEM;
    pythia__unknown_points_know(&p->gathering.unknown, known, p->points);
    for (uint32_t point = 0; status == PYTHIA_OK && point < p->points; point++) {
        p->loop->skeleton_count += pythia_search_in_skeleton(p->search, point);
        p->loop->point_count += all[point];
        all[point] = !all[point] &&
                     !(p->o->search.never && pythia_open_points_has(p->o->search.never, point));
    }
    p->foreign = all;
    p->loop->budget = p->o->search.budget;
    p->loop->price_ns = p->o->search.price_ns;
    p->loop->min_requests = p->o->search.min_requests ? p->o->search.min_requests : 30;
    p->loop->finished = p->count == 0;
    if (status == PYTHIA_OK)
        status = find_unknown(p);
    return status == PYTHIA_OK ? list_pins(p) : status;
}

/* Is there anything left to see? In a time with few requests nothing begins, and nothing has
 * ended. */
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
    while (status == PYTHIA_OK && p.count > 0 && goes_on(&p) && loop.cycle_count < cycles &&
           !(options->stop && *options->stop))
        status = play_cycle(&p, result);
    if (status == PYTHIA_OK && !p.evidence.groups) { /* there was not a single request */
        status = pythia__evidence_begin(&p.evidence, vocabulary, &options->groups);
        if (status == PYTHIA_OK)
            status = pythia__evidence_decide(&p.evidence, NULL, 0, 0, NULL);
    }
    if (status == PYTHIA_OK)
        status = count_opened(&p);
    if (status == PYTHIA_OK) {
        pythia_verdicts_settle(&loop.verdicts, loop.cycle_count);
        *out = loop;
        *groups = p.evidence.groups;
        *open = p.open;
        p.evidence.groups = NULL;
    } else {
        pythia_loop_free(&loop);
        pythia_open_points_destroy(p.open);
    }
    pythia__evidence_free(&p.evidence);
    pythia__gathering_free(&p.gathering);
    pythia_open_points_destroy(p.open_or_foreign);
    pythia_search_destroy(p.search);
    pythia_open_points_destroy(p.skeleton);
    pythia_request_types_destroy(p.types);
    pythia_free(p.entries);
    pythia_free(p.order);
    pythia_free(p.unknown);
    pythia_free(p.counts);
    pythia_free(p.foreign);
    return status;
}
