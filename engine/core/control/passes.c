#include "pythia/passes.h"

#include "pythia/mem.h"
#include "pythia/status.h"

struct point {
    uint64_t spans, requests;
    uint64_t excluded;  /* of the requests: they came while it was closed for their type */
    uint32_t last_type; /* of the look at hand, + 1: each type counts once */
    bool in_space;
};

struct type {
    uint64_t requests, looked; /* looked: at the last look */
};

struct pythia_passes {
    const struct pythia_vocabulary *vocabulary;
    struct point *points; /* by trace point */
    size_t point_capacity;
    struct type *types; /* by number of a string */
    size_t type_capacity;
    uint64_t requests, looked;          /* of all types; at the last look */
    struct pythia_open_points *limited; /* borrowed; or NULL */
};

int pythia_passes_create(const struct pythia_vocabulary *vocabulary, struct pythia_passes **out)
{
    struct pythia_passes *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    p->vocabulary = vocabulary;
    *out = p;
    return PYTHIA_OK;
}

void pythia_passes_destroy(struct pythia_passes *p)
{
    if (!p)
        return;
    pythia_free(p->points);
    pythia_free(p->types);
    pythia_free(p);
}

int pythia_passes_add(struct pythia_passes *p, uint32_t type, const struct pythia_trace *trace,
                      bool settled)
{
    if (pythia_reach(&p->types, &p->type_capacity, type, sizeof(*p->types)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t point = trace->spans[i].tracepoint;
        if (pythia_reach(&p->points, &p->point_capacity, point, sizeof(*p->points)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        p->points[point].spans++;
    }
    p->types[type].requests += settled;
    p->requests += settled;
    return PYTHIA_OK;
}

/* Requests of one type, at each point that they hit. Requests that arrived since the last look
 * while a point was closed for their type are left out of its count for good: a count never
 * falls, and does not jump when the point is opened. */
static void count_type(struct pythia_passes *p, const struct pythia_space_type *type,
                       uint32_t number)
{
    struct type none = {0}, *of = type->name < p->type_capacity ? &p->types[type->name] : &none;
    for (uint32_t node = 0; node < pythia_cct_nodes(type->cct); node++) {
        uint32_t tracepoint = pythia_cct_tracepoint(type->cct, node);
        if (tracepoint == PYTHIA_NONE || type->nodes[node].calls == 0)
            continue;
        struct point *point = &p->points[tracepoint];
        point->in_space = true;
        if (point->last_type == number + 1)
            continue;
        if (p->limited && pythia_open_points_excludes(p->limited, tracepoint, type->name))
            point->excluded += of->requests - of->looked;
        point->requests += of->requests;
        point->last_type = number + 1;
    }
    of->looked = of->requests;
}

void pythia_passes_set_limited(struct pythia_passes *p, struct pythia_open_points *limited)
{
    p->limited = limited;
}

int pythia_passes_look(struct pythia_passes *p, const struct pythia_space *space)
{
    size_t count;
    uint32_t points = pythia_vocabulary_tracepoints(p->vocabulary);
    const struct pythia_space_type *types = pythia_space_types(space, &count);
    if (points > 0 &&
        pythia_reach(&p->points, &p->point_capacity, points - 1, sizeof(*p->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->looked = p->requests;
    for (uint32_t i = 0; i < points; i++) {
        p->points[i].requests = 0;
        p->points[i].last_type = 0;
        p->points[i].in_space = false;
    }
    for (size_t i = 0; i < count; i++)
        count_type(p, &types[i], (uint32_t)i);
    return PYTHIA_OK;
}

static uint64_t count_point_requests(const struct pythia_passes *p, const struct point *point)
{
    if (!point || !point->in_space)
        return p->looked;
    return point->requests > point->excluded ? point->requests - point->excluded : 0;
}

struct pythia_pass_counts pythia_passes_of(const struct pythia_passes *p, uint32_t tracepoint)
{
    const struct point *point = tracepoint < p->point_capacity ? &p->points[tracepoint] : NULL;
    return (struct pythia_pass_counts){.spans = point ? point->spans : 0,
                                       .requests = count_point_requests(p, point)};
}
