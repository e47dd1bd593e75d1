#include "pythia/side.h"

#include <string.h>

#include "pythia/groups_merge.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define MINUTE_NS UINT64_C(60000000000)

/* A minute in which requests began, and the first and the last of them. */
struct minute {
    uint64_t number, first_ns, last_ns;
};

/* The hits and failures of a trace point in the current trace. */
struct visit {
    uint32_t spans, kinds;
    bool failed;
};

struct pythia_side {
    struct pythia_vocabulary *vocabulary;
    struct pythia_groups *groups;
    struct pythia_side_type *types;
    uint32_t *type_of_part; /* of the groups: index + 1 */
    size_t type_count, type_capacity, part_capacity;
    struct minute *minutes; /* in order of time */
    size_t minute_count, minute_capacity;
    struct visit *visits; /* by number of a trace point; all 0 between traces */
    uint32_t *touched;    /* trace points of the current trace */
    size_t visit_capacity, touched_capacity, touched_count;
};

int pythia_side_create(struct pythia_vocabulary *vocabulary,
                       const struct pythia_groups_options *options, struct pythia_side **out)
{
    struct pythia_side *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->vocabulary = vocabulary;
    if (pythia_groups_create(vocabulary, options, &s->groups) != PYTHIA_OK) {
        pythia_side_destroy(s);
        return PYTHIA_ENOMEM;
    }
    *out = s;
    return PYTHIA_OK;
}

void pythia_side_destroy(struct pythia_side *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->type_count; i++) {
        pythia_free(s->types[i].points);
        pythia_free(s->types[i].index);
    }
    pythia_groups_destroy(s->groups);
    pythia_free(s->types);
    pythia_free(s->type_of_part);
    pythia_free(s->minutes);
    pythia_free(s->visits);
    pythia_free(s->touched);
    pythia_free(s);
}

static struct pythia_side_type *find_side_type(struct pythia_side *s, uint32_t part)
{
    if (pythia_reach(&s->type_of_part, &s->part_capacity, part, sizeof(*s->type_of_part)) !=
        PYTHIA_OK)
        return NULL;
    if (s->type_of_part[part] == 0) {
        if (pythia_grow(&s->types, &s->type_capacity, s->type_count, sizeof(*s->types)) !=
            PYTHIA_OK)
            return NULL;
        s->types[s->type_count++] = (struct pythia_side_type){0};
        s->type_of_part[part] = (uint32_t)s->type_count;
    }
    return &s->types[s->type_of_part[part] - 1];
}

static struct pythia_side_point *find_side_point(struct pythia_side_type *t, uint32_t tracepoint)
{
    if (pythia_reach(&t->index, &t->index_size, tracepoint, sizeof(*t->index)) != PYTHIA_OK)
        return NULL;
    if (t->index[tracepoint] == 0) {
        if (pythia_grow(&t->points, &t->point_capacity, t->point_count, sizeof(*t->points)) !=
            PYTHIA_OK)
            return NULL;
        t->points[t->point_count++] = (struct pythia_side_point){.tracepoint = tracepoint};
        t->index[tracepoint] = (uint32_t)t->point_count;
    }
    return &t->points[t->index[tracepoint] - 1];
}

/* ---- adding ---- */

/* Make the tables of visits large enough for any trace point there is. */
static int reserve_visits(struct pythia_side *s)
{
    size_t last = pythia_vocabulary_tracepoints(s->vocabulary);
    int status = pythia_reach(&s->visits, &s->visit_capacity, last, sizeof(*s->visits));
    if (status != PYTHIA_OK)
        return status;
    return pythia_reach(&s->touched, &s->touched_capacity, last, sizeof(*s->touched));
}

/* Returns whether some span failed. */
static bool count_side_hits(struct pythia_side *s, const struct pythia_trace *trace)
{
    bool failed = false;
    s->touched_count = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *span = &trace->spans[i];
        struct visit *v = &s->visits[span->tracepoint];
        if (v->spans++ == 0)
            s->touched[s->touched_count++] = span->tracepoint;
        v->kinds |= 1U << span->kind;
        v->failed = v->failed || span->error;
        failed = failed || span->error;
    }
    return failed;
}

/* All visits are cleared, also where memory runs out: the next request must not have them. */
static int flush_visits(struct pythia_side *s, struct pythia_side_type *t, uint64_t weight)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < s->touched_count; i++) {
        struct visit v = s->visits[s->touched[i]];
        /* Cleared before anything can fail. */
        s->visits[s->touched[i]] = (struct visit){0};
        if (status != PYTHIA_OK)
            continue;
        struct pythia_side_point *p = find_side_point(t, s->touched[i]);
        if (!p) {
            status = PYTHIA_ENOMEM;
            continue;
        }
        p->requests += weight;
        p->failed_requests += v.failed ? weight : 0;
        p->kinds |= v.kinds;
        pythia_exact_moments_add_weighted(&p->visits, v.spans, weight);
    }
    return status;
}

static int add_minute(struct pythia_side *s, const struct minute *added)
{
    size_t at = s->minute_count;
    while (at > 0 && s->minutes[at - 1].number > added->number) /* nearly always the last one */
        at--;
    if (at > 0 && s->minutes[at - 1].number == added->number) {
        struct minute *m = &s->minutes[at - 1];
        m->first_ns = added->first_ns < m->first_ns ? added->first_ns : m->first_ns;
        m->last_ns = added->last_ns > m->last_ns ? added->last_ns : m->last_ns;
        return PYTHIA_OK;
    }
    if (pythia_grow(&s->minutes, &s->minute_capacity, s->minute_count, sizeof(*s->minutes)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    memmove(&s->minutes[at + 1], &s->minutes[at], (s->minute_count - at) * sizeof(*s->minutes));
    s->minutes[at] = *added;
    s->minute_count++;
    return PYTHIA_OK;
}

int pythia_side_add(struct pythia_side *s, const struct pythia_trace *trace)
{
    if (trace->incomplete)
        return PYTHIA_OK;
    int status = pythia_groups_add(s->groups, trace);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_side_type *t = find_side_type(s, pythia_groups_last(s->groups));
    if (!t || reserve_visits(s) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint64_t weight = pythia_sampling_requests(trace->weight, trace->id);
    t->failed_requests += count_side_hits(s, trace) ? weight : 0;
    status = flush_visits(s, t, weight);
    if (status != PYTHIA_OK)
        return status;
    return add_minute(
        s, &(struct minute){trace->start_ns / MINUTE_NS, trace->start_ns, trace->start_ns});
}

/* ---- parts ---- */

int pythia_side_create_part(struct pythia_side *whole, size_t parts, struct pythia_side **out)
{
    struct pythia_side *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->vocabulary = whole->vocabulary;
    if (pythia_groups_create_part(whole->groups, parts, &s->groups) != PYTHIA_OK) {
        pythia_side_destroy(s);
        return PYTHIA_ENOMEM;
    }
    *out = s;
    return PYTHIA_OK;
}

static int join_side_type(struct pythia_side *s, uint32_t part, const struct pythia_side_type *of)
{
    struct pythia_side_type *t = find_side_type(s, part);
    if (!t)
        return PYTHIA_ENOMEM;
    t->failed_requests += of->failed_requests;
    for (size_t i = 0; i < of->point_count; i++) {
        const struct pythia_side_point *added = &of->points[i];
        struct pythia_side_point *p = find_side_point(t, added->tracepoint);
        if (!p)
            return PYTHIA_ENOMEM;
        p->requests += added->requests;
        p->failed_requests += added->failed_requests;
        p->kinds |= added->kinds;
        pythia_exact_moments_merge(&p->visits, &added->visits);
    }
    return PYTHIA_OK;
}

int pythia_side_join(struct pythia_side *s, struct pythia_side *part)
{
    struct pythia_groups *groups = part->groups;
    part->groups = NULL;
    int status = pythia_groups_join(s->groups, groups);
    for (uint32_t i = 0; i < part->part_capacity && status == PYTHIA_OK; i++)
        if (part->type_of_part[i])
            status = join_side_type(s, i, &part->types[part->type_of_part[i] - 1]);
    for (size_t i = 0; i < part->minute_count && status == PYTHIA_OK; i++)
        status = add_minute(s, &part->minutes[i]);
    pythia_side_destroy(part);
    return status;
}

/* ---- the end ---- */

struct point_order {
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_side_point *points;
};

static bool side_point_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct point_order *o = context;
    return pythia_text_compare(
               pythia_vocabulary_tracepoint_id(o->vocabulary, o->points[a].tracepoint),
               pythia_vocabulary_tracepoint_id(o->vocabulary, o->points[b].tracepoint)) < 0;
}

static int sort_side_points(const struct pythia_vocabulary *vocabulary, struct pythia_side_type *t,
                            const struct pythia_exact_moments *requests)
{
    uint32_t *order = pythia_calloc(2 * t->point_count, sizeof(*order));
    struct pythia_side_point *sorted = pythia_calloc(t->point_count, sizeof(*sorted));
    if (!order || !sorted) {
        pythia_free(order);
        pythia_free(sorted);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < t->point_count; i++)
        order[i] = (uint32_t)i;
    pythia_sort_indexes(order, t->point_count, order + t->point_count, side_point_precedes,
                        &(struct point_order){vocabulary, t->points});
    for (size_t i = 0; i < t->point_count; i++) {
        struct pythia_side_point *p = &sorted[i];
        *p = t->points[order[i]];
        p->requests = pythia_exact_moments_count(requests, p->requests);
        p->failed_requests = pythia_exact_moments_count(requests, p->failed_requests);
        pythia_exact_moments_pad(&p->visits, requests); /* requests that do not hit it add a 0 */
    }
    pythia_free(order);
    pythia_free(t->points);
    t->points = sorted;
    return PYTHIA_OK;
}

/* Put the types in the order that the groups have them in. */
int pythia_side_finish(struct pythia_side *s)
{
    size_t count;
    if (pythia_groups_finish(s->groups) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    const struct pythia_type *types = pythia_groups_types(s->groups, &count);
    struct pythia_side_type *sorted = pythia_calloc(s->type_count, sizeof(*sorted));
    if (!sorted)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = s->types[s->type_of_part[types[i].part] - 1];
    pythia_free(s->types);
    s->types = sorted;
    for (size_t i = 0; i < count; i++) {
        struct pythia_side_type *t = &s->types[i];
        /* Sampled requests stand for more than one: counts follow the weights. */
        t->failed_requests = pythia_exact_moments_count(&types[i].moments, t->failed_requests);
        int status = sort_side_points(s->vocabulary, t, &types[i].moments);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

const struct pythia_groups *pythia_side_groups(const struct pythia_side *s)
{
    return s->groups;
}

const struct pythia_side_type *pythia_side_types(const struct pythia_side *s, size_t *count)
{
    *count = s->type_count;
    return s->types;
}

struct pythia_vocabulary *pythia_side_vocabulary(const struct pythia_side *s)
{
    return s->vocabulary;
}

uint64_t pythia_side_covered_ns(const struct pythia_side *s)
{
    uint64_t covered = 0;
    for (size_t i = 0; i < s->minute_count; i++) {
        const struct minute *m = &s->minutes[i];
        covered += m->last_ns - m->first_ns;
        if (i > 0 && m->first_ns - m[-1].last_ns < MINUTE_NS)
            covered += m->first_ns - m[-1].last_ns;
    }
    return covered;
}
