#include "pythia/overhead.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

#define SECOND      UINT64_C(1000000000)
#define FILL        0.9 /* of the limit, after points were dropped */
#define ROOM        0.8 /* of the limit, with a point that may come back */
#define FADE        8   /* slices after which what was learnt of the variance counts half */
#define PAIRS_MAX   262144
#define REASON_SIZE 256

enum { NOW, BEFORE, SLICES };

/* The last slices of time are measured; the one at hand grows. */
struct slice {
    double time_ns;
    uint64_t requests, spans;
};

struct point {
    double cost_ns[SLICES];
    double passes, entries; /* lately; of these, where a request entered a process */
    bool dropped;
    double share, explained; /* when it was dropped */
    char *reason;            /* owned */
    /* of the request at hand */
    double own_ns;
    bool touched;
    double lies; /* scratch */
};

/* Requests of one type: sums of their durations less that of the first. */
struct type {
    double n, first_ns, sum, squares;
};

/* A point in requests of one type. */
struct pair {
    uint32_t type, tracepoint;
    double sum, product; /* of the time in it; by the duration less the first */
};

struct candidate {
    uint32_t tracepoint;
    double share, explained, worth;
    struct pythia_text id;
};

struct pythia_overhead {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_overhead_options o;
    struct slice slices[SLICES];
    uint64_t slice_begun_ns, faded, changed_ns;
    bool raised;                               /* the limit: what fits need not wait */
    struct pythia_open_points *pinned, *fixed; /* that are never dropped */
    struct point *points;
    size_t point_capacity;
    struct type *types; /* by number of a string */
    size_t type_capacity;
    struct pythia_strtab *pair_ids;
    struct pair *pairs;
    size_t pair_count, pair_capacity;
    uint32_t *touched;
    size_t touched_count, touched_capacity;
    double *below_ns; /* by span: what is below it */
    size_t below_capacity;
    struct candidate *candidates;
    size_t candidate_count, candidate_capacity;
    struct pythia_switch *switches;
    size_t switch_count, switch_capacity;
    size_t dropped;
    uint64_t drops;
    bool beyond;
};

int pythia_overhead_create(const struct pythia_vocabulary *vocabulary,
                           const struct pythia_overhead_options *options,
                           struct pythia_overhead **out)
{
    struct pythia_overhead *o = pythia_calloc(1, sizeof(*o));
    if (!o)
        return PYTHIA_ENOMEM;
    o->vocabulary = vocabulary;
    o->o = *options;
    o->o.min_requests = options->min_requests ? options->min_requests : 10;
    o->o.slice_ns = options->slice_ns ? options->slice_ns : SECOND;
    o->o.again_ns = options->again_ns ? options->again_ns : 60 * SECOND;
    if (pythia_strtab_create(&o->pair_ids) != PYTHIA_OK) {
        pythia_overhead_destroy(o);
        return PYTHIA_ENOMEM;
    }
    *out = o;
    return PYTHIA_OK;
}

void pythia_overhead_destroy(struct pythia_overhead *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->point_capacity; i++)
        pythia_free(o->points[i].reason);
    pythia_strtab_destroy(o->pair_ids);
    pythia_free(o->points);
    pythia_free(o->types);
    pythia_free(o->pairs);
    pythia_free(o->touched);
    pythia_free(o->below_ns);
    pythia_free(o->candidates);
    pythia_free(o->switches);
    pythia_free(o);
}

void pythia_overhead_set_limit(struct pythia_overhead *o, double limit)
{
    o->raised = o->raised || limit == 0 || (o->o.limit > 0 && limit > o->o.limit);
    o->o.limit = limit;
}

void pythia_overhead_set_kept(struct pythia_overhead *o, struct pythia_open_points *pinned,
                              struct pythia_open_points *fixed)
{
    o->pinned = pinned;
    o->fixed = fixed;
}

static bool is_kept_open(const struct pythia_overhead *o, uint32_t tracepoint)
{
    return (o->pinned && pythia_open_points_has(o->pinned, tracepoint)) ||
           (o->fixed && pythia_open_points_has(o->fixed, tracepoint));
}

/* ---- a request ---- */

/* The cost of one hit of a point: measured, known by a plane, or assumed. */
static double estimate_price_ns(const struct pythia_overhead *o, uint32_t tracepoint)
{
    double measured = pythia_vocabulary_cost_now_ns(o->vocabulary, tracepoint);
    if (!isnan(measured))
        return measured;
    return o->o.prices ? pythia_prices_of(o->o.prices, tracepoint, o->o.usual_ns) : o->o.usual_ns;
}

static double request_length(const struct pythia_trace_span *s)
{
    return (double)(s->end_ns - s->start_ns);
}

/* The time spent in each span and in nothing below it, by trace point. */
static int note_spans(struct pythia_overhead *o, const struct pythia_trace *trace)
{
    if (trace->count && pythia_reach(&o->below_ns, &o->below_capacity, trace->count - 1,
                                     sizeof(*o->below_ns)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < trace->count; i++)
        o->below_ns[i] = 0;
    for (uint32_t i = 0; i < trace->count; i++)
        if (trace->spans[i].parent != PYTHIA_NO_SPAN)
            o->below_ns[trace->spans[i].parent] += request_length(&trace->spans[i]);
    o->touched_count = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *s = &trace->spans[i];
        if (pythia_reach(&o->points, &o->point_capacity, s->tracepoint, sizeof(*o->points)) !=
                PYTHIA_OK ||
            pythia_grow(&o->touched, &o->touched_capacity, o->touched_count, sizeof(*o->touched)) !=
                PYTHIA_OK)
            return PYTHIA_ENOMEM;
        struct point *p = &o->points[s->tracepoint];
        if (!p->touched)
            o->touched[o->touched_count++] = s->tracepoint;
        p->touched = true;
        p->passes++;
        p->entries +=
            s->parent == PYTHIA_NO_SPAN || trace->spans[s->parent].resource != s->resource;
        p->own_ns += fmax(0, request_length(s) - o->below_ns[i]);
        p->cost_ns[NOW] += estimate_price_ns(o, s->tracepoint);
    }
    return PYTHIA_OK;
}

static struct pair *reach_pair(struct pythia_overhead *o, uint32_t type, uint32_t tracepoint)
{
    uint32_t key[2] = {type, tracepoint};
    struct pythia_text text = {(const char *)key, sizeof(key)};
    uint32_t index = o->pair_count < PAIRS_MAX ? pythia_strtab_intern(o->pair_ids, text)
                                               : pythia_strtab_find(o->pair_ids, text);
    if (index == PYTHIA_STRTAB_NONE ||
        pythia_reach(&o->pairs, &o->pair_capacity, index, sizeof(*o->pairs)) != PYTHIA_OK)
        return NULL;
    if (index >= o->pair_count) {
        o->pair_count = index + 1;
        o->pairs[index] = (struct pair){type, tracepoint, 0, 0};
    }
    return &o->pairs[index];
}

int pythia_overhead_add(struct pythia_overhead *o, uint32_t type, const struct pythia_trace *trace)
{
    double took_ns = (double)(trace->completed_ns - trace->start_ns);
    if (pythia_reach(&o->types, &o->type_capacity, type, sizeof(*o->types)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    bool noted = note_spans(o, trace) == PYTHIA_OK;
    struct type *t = &o->types[type];
    if (t->n == 0)
        t->first_ns = took_ns;
    double off = took_ns - t->first_ns;
    t->n++;
    t->sum += off;
    t->squares += off * off;
    /* Also after a failure: what note_spans has left at its points must not count twice. */
    for (size_t i = 0; i < o->touched_count; i++) {
        struct point *p = &o->points[o->touched[i]];
        struct pair *pair = noted ? reach_pair(o, type, o->touched[i]) : NULL;
        if (pair) { /* of those beyond the most, nothing is known to be explained */
            pair->sum += p->own_ns;
            pair->product += p->own_ns * off;
        }
        p->own_ns = 0;
        p->touched = false;
    }
    o->slices[NOW].time_ns += took_ns;
    o->slices[NOW].requests++;
    o->slices[NOW].spans += trace->count;
    return noted ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* ---- what is measured ---- */

static double sum_time(const struct pythia_overhead *o)
{
    return o->slices[NOW].time_ns + o->slices[BEFORE].time_ns;
}

static uint64_t sum_requests(const struct pythia_overhead *o)
{
    return o->slices[NOW].requests + o->slices[BEFORE].requests;
}

static double cost_of(const struct point *p)
{
    return p->cost_ns[NOW] + p->cost_ns[BEFORE];
}

/* The cost of all points, or without dropped ones, of which spans may still arrive. */
static double cost_of_all(const struct pythia_overhead *o, bool dropped_too)
{
    double sum = 0;
    for (size_t i = 0; i < o->point_capacity; i++)
        sum += dropped_too || !o->points[i].dropped ? cost_of(&o->points[i]) : 0;
    return sum;
}

double pythia_overhead_request_ns(const struct pythia_overhead *o)
{
    return sum_requests(o) ? sum_time(o) / (double)sum_requests(o) : NAN;
}

struct pythia_overhead_numbers pythia_overhead_numbers(const struct pythia_overhead *o)
{
    struct pythia_overhead_numbers n = {.share = NAN,
                                        .limit = o->o.limit,
                                        .cost_ns = NAN,
                                        .requests = sum_requests(o),
                                        .dropped = o->dropped,
                                        .drops = o->drops,
                                        .beyond = o->beyond};
    if (n.requests >= o->o.min_requests && sum_time(o) > 0) {
        double cost_ns = cost_of_all(o, true);
        n.share = cost_ns / sum_time(o);
        n.cost_ns = cost_ns / (double)n.requests;
    }
    return n;
}

static void fade_types(struct pythia_overhead *o)
{
    for (size_t i = 0; i < o->type_capacity; i++) {
        o->types[i].n /= 2;
        o->types[i].sum /= 2;
        o->types[i].squares /= 2;
    }
    for (size_t i = 0; i < o->point_capacity; i++) {
        o->points[i].passes /= 2;
        o->points[i].entries /= 2;
    }
    for (size_t i = 0; i < o->pair_count; i++) {
        o->pairs[i].sum /= 2;
        o->pairs[i].product /= 2;
    }
}

/* End the current slice if it is over: the one before it is forgotten. */
static void turn_slice(struct pythia_overhead *o, uint64_t now_ns)
{
    if (o->slice_begun_ns == 0)
        o->slice_begun_ns = now_ns;
    if (now_ns - o->slice_begun_ns < o->o.slice_ns ||
        (o->slices[NOW].requests < o->o.min_requests && now_ns - o->slice_begun_ns < o->o.again_ns))
        return;
    o->slices[BEFORE] = o->slices[NOW];
    o->slices[NOW] = (struct slice){0, 0, 0};
    for (size_t i = 0; i < o->point_capacity; i++) {
        o->points[i].cost_ns[BEFORE] = o->points[i].cost_ns[NOW];
        o->points[i].cost_ns[NOW] = 0;
    }
    o->slice_begun_ns = now_ns;
    if (++o->faded % FADE == 0)
        fade_types(o);
}

/* ---- what to do ---- */

/* The variance of durations within types, times requests, and the share of it in each candidate. */
static void explain_variance(struct pythia_overhead *o)
{
    double all = 0;
    for (size_t i = 0; i < o->type_capacity; i++)
        if (o->types[i].n > 1)
            all += o->types[i].squares - o->types[i].sum * o->types[i].sum / o->types[i].n;
    for (size_t i = 0; i < o->pair_count; i++) {
        const struct pair *pair = &o->pairs[i];
        const struct type *t = &o->types[pair->type];
        if (t->n > 1)
            o->points[pair->tracepoint].lies += fmax(0, pair->product - pair->sum * t->sum / t->n);
    }
    for (size_t i = 0; i < o->candidate_count; i++) {
        struct candidate *c = &o->candidates[i];
        c->explained = all > 0 ? o->points[c->tracepoint].lies / all : 0;
        c->worth = c->share > 0 ? c->explained / c->share : INFINITY;
    }
    for (size_t i = 0; i < o->pair_count; i++)
        o->points[o->pairs[i].tracepoint].lies = 0;
}

/* Least worth first; of the same worth the dearest, then by name, so that it is the same always. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth < y->worth ? -1 : 1;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return pythia_text_compare(x->id, y->id);
}

/* Mostly: what is above a point may have been closed for a while. */
static bool is_entry(const struct point *p)
{
    return p->entries > p->passes / 2;
}

/* List candidates in the order of dropping: what explains least for its cost goes first, and comes
 * back last. Points by which requests enter a program are none: without them nothing is seen. */
static int list_candidates(struct pythia_overhead *o, bool dropped)
{
    o->candidate_count = 0;
    for (uint32_t i = 0; i < o->point_capacity; i++) {
        const struct point *p = &o->points[i];
        if (p->dropped != dropped ||
            (!dropped && (is_entry(p) || cost_of(p) <= 0 || is_kept_open(o, i))))
            continue;
        if (pythia_grow(&o->candidates, &o->candidate_capacity, o->candidate_count,
                        sizeof(*o->candidates)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        o->candidates[o->candidate_count++] =
            (struct candidate){.tracepoint = i,
                               .share = dropped ? p->share : cost_of(p) / sum_time(o),
                               .id = pythia_vocabulary_tracepoint_id(o->vocabulary, i)};
    }
    if (!dropped)
        explain_variance(o);
    for (size_t i = 0; dropped && i < o->candidate_count; i++) {
        struct candidate *c = &o->candidates[i];
        c->explained = o->points[c->tracepoint].explained;
        c->worth = c->share > 0 ? c->explained / c->share : INFINITY;
    }
    if (o->candidate_count > 1)
        qsort(o->candidates, o->candidate_count, sizeof(*o->candidates), compare_candidates);
    return PYTHIA_OK;
}

/* The point owns the reason until it is switched again, as reports borrow it. Its share and what it
 * explained are kept for its return: nothing is measured while it is closed. */
static int throw_switch(struct pythia_overhead *o, const struct candidate *c, bool open,
                        const char *reason)
{
    struct point *p = &o->points[c->tracepoint];
    char *copy = pythia_strndup(reason, strlen(reason));
    if (!copy || pythia_grow(&o->switches, &o->switch_capacity, o->switch_count,
                             sizeof(*o->switches)) != PYTHIA_OK) {
        pythia_free(copy);
        return PYTHIA_ENOMEM;
    }
    pythia_free(p->reason);
    p->reason = copy;
    p->dropped = !open;
    p->share = c->share;
    p->explained = c->explained;
    o->dropped += open ? (size_t)-1 : 1;
    o->drops += !open;
    o->switches[o->switch_count++] = (struct pythia_switch){
        .tracepoint = c->tracepoint,
        .type = PYTHIA_NONE,
        .open = open,
        .problem = SIZE_MAX,
        .inside = NAN,
        .price_ns = estimate_price_ns(o, c->tracepoint),
        .cost_ns = c->share * sum_time(o) / (double)(sum_requests(o) ? sum_requests(o) : 1),
        .bytes_per_second = NAN,
        .reason = copy};
    return PYTHIA_OK;
}

static int drop_points(struct pythia_overhead *o, double share)
{
    double left = share;
    int status = list_candidates(o, false);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < o->candidate_count && left > FILL * o->o.limit; i++) {
        const struct candidate *c = &o->candidates[i];
        char reason[REASON_SIZE];
        snprintf(reason, sizeof(reason),
                 "tracing took %.3g %% of the time of requests, above the limit of %.3g %%: this "
                 "point cost %.3g %% and accounted for %.3g %% of the variance",
                 100 * share, 100 * o->o.limit, 100 * c->share, 100 * c->explained);
        left -= c->share;
        if ((status = throw_switch(o, c, false, reason)) != PYTHIA_OK)
            return status;
    }
    o->beyond = left > o->o.limit;
    return PYTHIA_OK;
}

/* Release points that were pinned open after they were dropped. */
static int release_kept(struct pythia_overhead *o)
{
    o->candidate_count = 0;
    int status = o->dropped ? list_candidates(o, true) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < o->candidate_count; i++) {
        if (is_kept_open(o, o->candidates[i].tracepoint))
            status = throw_switch(o, &o->candidates[i], true,
                                  "it is pinned open, or nothing can close it");
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Release one point, or all that fit a limit that was raised: one at a time shows what it costs
 * before the next one follows. */
static int release_points(struct pythia_overhead *o, double share)
{
    bool all = o->raised;
    int status = list_candidates(o, true);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = o->candidate_count; i-- > 0;) {
        const struct candidate *c = &o->candidates[i];
        char reason[REASON_SIZE] = "the time of tracing is no longer limited";
        if (o->o.limit > 0 && share + c->share > ROOM * o->o.limit)
            continue;
        if (o->o.limit > 0)
            snprintf(reason, sizeof(reason),
                     "tracing takes %.3g %% of the time of requests, within the limit of %.3g %%: "
                     "this point cost %.3g %%",
                     100 * share, 100 * o->o.limit, 100 * c->share);
        share += c->share;
        if ((status = throw_switch(o, c, true, reason)) != PYTHIA_OK)
            return status;
        if (!all)
            break;
    }
    return PYTHIA_OK;
}

int pythia_overhead_look(struct pythia_overhead *o, uint64_t now_ns,
                         const struct pythia_switch **switches, size_t *count)
{
    o->switch_count = 0;
    turn_slice(o, now_ns);
    bool known = sum_requests(o) >= o->o.min_requests && sum_time(o) > 0;
    double share = known ? cost_of_all(o, false) / sum_time(o) : NAN;
    bool again = now_ns - o->changed_ns >= o->o.again_ns;
    int status = release_kept(o);
    bool released = status != PYTHIA_OK || o->switch_count > 0;
    if (!released && o->o.limit > 0 && known && share > o->o.limit)
        status = drop_points(o, share);
    else if (!released && o->dropped > 0 && (o->o.limit == 0 || (known && (o->raised || again))))
        status = release_points(o, known ? share : 0);
    if (known && share <= o->o.limit)
        o->beyond = false;
    o->raised = o->raised && !known && o->o.limit > 0;
    if (o->switch_count > 0)
        o->changed_ns = now_ns;
    *switches = o->switches;
    *count = o->switch_count;
    return status;
}

int pythia_overhead_each(const struct pythia_overhead *o,
                         int (*each)(void *context, const struct pythia_overhead_dropped *d),
                         void *context)
{
    int status = 0;
    for (uint32_t i = 0; i < o->point_capacity && status == 0; i++) {
        const struct point *p = &o->points[i];
        if (p->dropped)
            status = each(context,
                          &(struct pythia_overhead_dropped){i, p->share, p->explained, p->reason});
    }
    return status;
}
