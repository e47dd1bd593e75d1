/* Both paths of a request are walked together, event by event in order of time. What lies between
 * two events that follow each other in this order belongs to one gap of each path, so to one part.
 */
#include "pythia/refinement.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/fair_sample.h"
#include "pythia/hash_table.h"
#include "pythia/hider.h"
#include "pythia/mem.h"
#include "pythia/row.h"
#include "pythia/sample.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define ROWS 2048

/* One of the two ways to see a request. */
struct view {
    const struct pythia_critical_path *path;
    uint32_t *edges; /* of its gaps */
    size_t capacity;
    size_t next; /* the event not yet passed */
};

struct pythia_refinement {
    struct pythia_open_points *coarser;
    enum pythia_latency latency;
    struct pythia_cct *cct;
    struct pythia_hider *hider;
    struct pythia_critical_path path; /* of the coarser set */
    struct view coarse, fine;
    struct pythia_refinement_part *parts;
    size_t part_count, part_capacity;
    struct pythia_hash_table by_edges; /* of the parts */
    uint32_t *seen;                    /* by part: index + 1 in times, of the current request */
    struct pythia_refined_time *times; /* of the current request */
    size_t seen_capacity, time_count, time_capacity;
    struct pythia_sample *rows;
    uint64_t requests, unseen;
    bool weighted; /* some request stands for more than itself */
};

static uint64_t duration_of(const struct pythia_critical_path *path)
{
    assert(path->events && path->count > 0);
    return path->events[path->count - 1].at_ns - path->events[0].at_ns;
}

static void free_refined_row(void *context, void *row)
{
    (void)context;
    pythia_free(row);
}

int pythia_refinement_create(const struct pythia_vocabulary *vocabulary,
                             struct pythia_open_points *coarser,
                             const struct pythia_refinement_options *options,
                             struct pythia_refinement **out)
{
    struct pythia_refinement *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->coarser = coarser;
    r->latency = options->latency;
    pythia_critical_path_init(&r->path);
    if (pythia_cct_create(vocabulary, &r->cct) != PYTHIA_OK ||
        pythia_hider_create(vocabulary, &r->hider) != PYTHIA_OK ||
        pythia_sample_create(options->rows ? options->rows : ROWS, free_refined_row, NULL,
                             &r->rows) != PYTHIA_OK) {
        pythia_refinement_destroy(r);
        return PYTHIA_ENOMEM;
    }
    *out = r;
    return PYTHIA_OK;
}

void pythia_refinement_destroy(struct pythia_refinement *r)
{
    if (!r)
        return;
    pythia_sample_destroy(r->rows);
    pythia_hider_destroy(r->hider);
    pythia_cct_destroy(r->cct);
    pythia_critical_path_free(&r->path);
    pythia_hash_table_free(&r->by_edges);
    void *const owned[] = {r->coarse.edges, r->fine.edges, r->parts, r->seen, r->times};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    pythia_free(r);
}

/* ---- parts ---- */

static uint64_t hash_part(struct pythia_refinement_part part)
{
    return (uint64_t)part.coarse << 32 | part.fine;
}

static bool is_part(const void *refinement, uint32_t number, const void *key)
{
    return hash_part(((const struct pythia_refinement *)refinement)->parts[number]) ==
           *(const uint64_t *)key;
}

/* The number of a part; PYTHIA_NONE when out of memory. */
static uint32_t find_part_number(struct pythia_refinement *r, struct pythia_refinement_part part)
{
    uint64_t key = hash_part(part);
    uint32_t number = pythia_hash_table_find(&r->by_edges, key, is_part, r, &key);
    if (number != PYTHIA_HASH_TABLE_NONE)
        return number;
    number = (uint32_t)r->part_count;
    if (pythia_grow(&r->parts, &r->part_capacity, number, sizeof(*r->parts)) != PYTHIA_OK ||
        pythia_hash_table_add(&r->by_edges, key, number) != PYTHIA_OK)
        return PYTHIA_NONE;
    r->parts[r->part_count++] = part;
    return number;
}

/* ---- a request ---- */

/* The edge of each gap of a path. */
static int find_view_edges(struct pythia_refinement *r, struct view *v)
{
    uint32_t context = PYTHIA_CCT_ROOT;
    v->next = 0;
    for (size_t i = 0; i < v->path->count; i++) {
        const struct pythia_path_event *e = &v->path->events[i];
        context = pythia_cct_follow(r->cct, context, e);
        if (context == PYTHIA_NONE ||
            pythia_reach(&v->edges, &v->capacity, i, sizeof(*v->edges)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        v->edges[i] = PYTHIA_NONE; /* behind the last event */
        if (i + 1 == v->path->count)
            break;
        const struct pythia_edge edge = pythia_edge_from(context, e);
        v->edges[i] = pythia_cct_edge(r->cct, &edge);
        if (v->edges[i] == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

static const struct pythia_path_event *peek_view_event(const struct view *v)
{
    return v->next < v->path->count ? &v->path->events[v->next] : NULL;
}

/* The time that the request spends on the current segment. */
static struct pythia_refined_time *time_at(struct pythia_refinement *r)
{
    struct pythia_refinement_part at = {
        .coarse = r->coarse.next ? r->coarse.edges[r->coarse.next - 1] : PYTHIA_NONE,
        .fine = r->fine.next ? r->fine.edges[r->fine.next - 1] : PYTHIA_NONE,
    };
    uint32_t part = find_part_number(r, at);
    if (part == PYTHIA_NONE ||
        pythia_reach(&r->seen, &r->seen_capacity, part, sizeof(*r->seen)) != PYTHIA_OK)
        return NULL;
    /* The first time in this request; 0 stands for none, so numbers are one higher. */
    if (r->seen[part] == 0) {
        if (pythia_grow(&r->times, &r->time_capacity, r->time_count, sizeof(*r->times)) !=
            PYTHIA_OK)
            return NULL;
        r->times[r->time_count++] = (struct pythia_refined_time){.part = part};
        r->seen[part] = (uint32_t)r->time_count;
    }
    return &r->times[r->seen[part] - 1];
}

/* Is it one event, seen in both sets? */
static bool is_same_event(const struct pythia_refinement *r, const struct pythia_path_event *coarse,
                          const struct pythia_path_event *fine)
{
    return coarse && fine && coarse->at_ns == fine->at_ns && coarse->kind == fine->kind &&
           pythia_hider_origin(r->hider, coarse->span) == fine->span;
}

/* Pass the next event of either path, or of both if it is the same. Of two at one time that of the
 * finer path comes first: it is one of those in the stretch that ends here. */
static int advance_paths(struct pythia_refinement *r, bool *rerouted)
{
    const struct pythia_path_event *coarse = peek_view_event(&r->coarse),
                                   *fine = peek_view_event(&r->fine);
    bool same = is_same_event(r, coarse, fine);
    bool of_fine = fine && (same || !coarse || fine->at_ns <= coarse->at_ns);
    bool of_coarse = same || !of_fine;
    if (!same && (of_coarse || pythia_open_points_has(r->coarser, fine->tracepoint)))
        *rerouted = true;
    r->fine.next += of_fine;
    r->coarse.next += of_coarse;
    uint64_t at_ns = of_fine ? fine->at_ns : coarse->at_ns;
    coarse = peek_view_event(&r->coarse);
    fine = peek_view_event(&r->fine);
    if (!coarse && !fine)
        return PYTHIA_OK;
    struct pythia_refined_time *time = time_at(r);
    if (!time)
        return PYTHIA_ENOMEM;
    time->visits += of_fine && fine;
    time->begins += of_coarse && coarse;
    uint64_t until_ns =
        fine && (!coarse || fine->at_ns < coarse->at_ns) ? fine->at_ns : coarse->at_ns;
    time->time_ns += until_ns - at_ns;
    return PYTHIA_OK;
}

static uint64_t sample_key_of_trace(const struct pythia_trace *trace)
{
    return pythia_row_key(pythia_hash_mix(trace->id.high, trace->id.low), trace->weight);
}

static int keep_row(struct pythia_refinement *r, const struct pythia_trace *trace, bool rerouted)
{
    size_t times = r->time_count * sizeof(*r->times);
    struct pythia_refined *row = pythia_calloc(1, sizeof(*row) + times);
    if (!row)
        return PYTHIA_ENOMEM;
    row->trace = trace->id;
    row->weight = trace->weight > 1 ? trace->weight : 1;
    row->coarse_ns = duration_of(r->coarse.path);
    row->fine_ns = duration_of(r->fine.path);
    row->rerouted = rerouted;
    row->count = (uint32_t)r->time_count;
    if (times)
        memcpy(row->times, r->times, times);
    return pythia_sample_add(r->rows, sample_key_of_trace(trace), trace->id.low, row);
}

/* Walk both views of a request, the coarse and the fine one, in one pass over the time: each
 * stretch of the coarse view is divided among the events of the fine one. */
static int refine_request(struct pythia_refinement *r, const struct pythia_trace *trace,
                          const struct pythia_trace *left, const struct pythia_critical_path *path)
{
    bool rerouted = false;
    int status;
    r->fine.path = r->coarse.path = path;
    /* If the hider removed nothing, both views are the same path and the coarse one need not be
     * searched for. */
    if (left != trace) {
        r->coarse.path = &r->path;
        status = pythia_critical_path_find(&r->path, left, r->latency);
        if (status != PYTHIA_OK)
            return status;
    }
    status = find_view_edges(r, &r->fine);
    if (status != PYTHIA_OK)
        return status;
    status = find_view_edges(r, &r->coarse);
    if (status != PYTHIA_OK)
        return status;
    while (peek_view_event(&r->coarse) || peek_view_event(&r->fine)) {
        status = advance_paths(r, &rerouted);
        if (status != PYTHIA_OK)
            return status;
    }
    return keep_row(r, trace, rerouted);
}

int pythia_refinement_add(struct pythia_refinement *r, const struct pythia_trace *trace,
                          const struct pythia_critical_path *path)
{
    const struct pythia_trace *left;
    r->requests++;
    r->weighted = r->weighted || trace->weight > 1;
    if (!pythia_sample_wants(r->rows, sample_key_of_trace(trace)))
        return PYTHIA_OK;
    int status = pythia_hider_hide(r->hider, trace, r->coarser, &left);
    if (status == 1) {
        r->unseen++;
        return PYTHIA_OK;
    }
    if (status != PYTHIA_OK)
        return status;
    status = refine_request(r, trace, left, path);
    /* Clear only the entries in use: a reset of the whole table would cost its size for each
     * request. */
    for (size_t i = 0; i < r->time_count; i++)
        r->seen[r->times[i].part] = 0;
    r->time_count = 0;
    return status;
}

/* ---- the end ---- */

static int compare_edges(const struct pythia_cct *cct, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    if (a == PYTHIA_NONE || b == PYTHIA_NONE)
        return a == PYTHIA_NONE ? 1 : -1;
    return pythia_cct_compare_edges(cct, a, b);
}

static bool part_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_refinement *r = context;
    int order = compare_edges(r->cct, r->parts[a].coarse, r->parts[b].coarse);
    return (order ? order : compare_edges(r->cct, r->parts[a].fine, r->parts[b].fine)) < 0;
}

static int compare_event_times(const void *a, const void *b)
{
    const struct pythia_refined_time *x = a, *y = b;
    return (x->part > y->part) - (x->part < y->part);
}

/* Put the parts that are in a row into the order of their names: numbers depend on which request
 * came first, and parts of rows that were dropped are not there any more. */
static int sort_parts(struct pythia_refinement *r, uint32_t *place)
{
    size_t count = 0;
    uint32_t *order = pythia_calloc(2 * r->part_count, sizeof(*order));
    struct pythia_refinement_part *parts = pythia_calloc(r->part_count, sizeof(*parts));
    if (!order || !parts) {
        pythia_free(order);
        pythia_free(parts);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < pythia_sample_count(r->rows); i++) {
        const struct pythia_refined *row = pythia_sample_row(r->rows, i);
        for (uint32_t k = 0; k < row->count; k++)
            /* `place` serves as a mark here, and gets the new number below. */
            if (!place[row->times[k].part]) {
                place[row->times[k].part] = 1;
                order[count++] = row->times[k].part;
            }
    }
    pythia_sort_indexes(order, count, order + r->part_count, part_before, r);
    for (size_t i = 0; i < count; i++) {
        parts[i] = r->parts[order[i]];
        place[order[i]] = (uint32_t)i;
    }
    pythia_free(order);
    pythia_free(r->parts);
    r->parts = parts;
    r->part_count = r->part_capacity = count;
    return PYTHIA_OK;
}

/* Leave a fair sample, as groups.c does. The rows are sorted. */
static int leave_fair_rows(struct pythia_refinement *r)
{
    size_t n = pythia_sample_count(r->rows);
    if (!r->weighted)
        return PYTHIA_OK;
    double *weight = pythia_calloc(2 * n, sizeof(*weight));
    bool *keep = pythia_calloc(n, sizeof(*keep));
    /* Only rows with the lowest hashes are kept. The highest hash among them shows which
     * fraction of all requests that is, and a kept row stands for at least the inverse of it. */
    double smallest = n > 0 && n < r->requests - r->unseen
                          ? 0x1p64 / (double)(pythia_sample_hash(r->rows, n - 1) | 1)
                          : 1;
    int status = weight && keep ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++) {
        const struct pythia_refined *row = pythia_sample_row(r->rows, i);
        weight[i] = row->weight > smallest ? row->weight : smallest;
        weight[n + i] = (double)row->fine_ns;
    }
    status = pythia_fair_sample(weight, weight + n, n, keep);
    if (status != PYTHIA_OK)
        goto out;
    pythia_sample_leave(r->rows, keep);
out:
    pythia_free(weight);
    pythia_free(keep);
    return status;
}

int pythia_refinement_finish(struct pythia_refinement *r)
{
    uint32_t *place = pythia_calloc(r->part_count, sizeof(*place));
    pythia_sample_sort(r->rows);
    int status = place ? leave_fair_rows(r) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = sort_parts(r, place);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < pythia_sample_count(r->rows); i++) {
        struct pythia_refined *row = pythia_sample_row(r->rows, i);
        for (uint32_t k = 0; k < row->count; k++)
            row->times[k].part = place[row->times[k].part];
        if (row->count)
            qsort(row->times, row->count, sizeof(row->times[0]), compare_event_times);
    }
out:
    pythia_free(place);
    return status;
}

const struct pythia_cct *pythia_refinement_cct(const struct pythia_refinement *r)
{
    return r->cct;
}

const struct pythia_refinement_part *pythia_refinement_parts(const struct pythia_refinement *r,
                                                             uint32_t *count)
{
    *count = (uint32_t)r->part_count;
    return r->parts;
}

size_t pythia_refinement_rows(const struct pythia_refinement *r)
{
    return pythia_sample_count(r->rows);
}

const struct pythia_refined *pythia_refinement_row(const struct pythia_refinement *r, size_t i)
{
    return pythia_sample_row(r->rows, i);
}
