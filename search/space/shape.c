/* Requests with the same events in the same order have one shape. It is found by a hash of the
 * path, and what is worked out of the path is worked out once for all of them. */
#include "pythia/shape.h"

#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define FOLD_WIDTH 8 /* the longest group of siblings that is recognised as the body of a loop */

/* A span on the path, as structure sees it. */
/* 32 bytes: a request of a million spans has as many visits. */
struct visit {
    uint32_t tracepoint;
    uint32_t first, next; /* children, in order */
    union {
        struct {
            uint32_t parent; /* a visit; visit 0 is the request */
            uint32_t last;   /* child */
        };                   /* while visits are added */
        uint64_t name;       /* hash at the current level, afterwards */
    };
    uint64_t deeper; /* hash at the level before */
};

struct pythia_shape_maker {
    struct pythia_cct *cct;
    bool fold;
    struct visit *visits;
    size_t visit_count, visit_capacity;
    uint64_t *folded; /* scratch: a level of siblings */
    size_t folded_capacity;
    uint64_t *point_names; /* hash of the pattern of each trace point; 0: not made yet */
    size_t name_capacity;
    uint32_t *seen_edges, *seen_points; /* by number: slot + 1 in the shape being made */
    size_t edge_capacity, point_capacity;
    uint32_t *edges, *repeats, *slots, *points, *point_counts;
    size_t edges_capacity, repeats_capacity, slots_capacity, points_capacity, counts_capacity;
};

uint64_t pythia_shape_hash(const struct pythia_critical_path *path)
{
    uint64_t hash = path->count;
    for (size_t i = 0; i < path->count; i++)
        hash =
            pythia_hash_mix(hash, (uint64_t)path->events[i].tracepoint << 2 | path->events[i].kind);
    return hash;
}

int pythia_shape_maker_create(struct pythia_cct *cct, bool fold, struct pythia_shape_maker **out)
{
    struct pythia_shape_maker *m = pythia_calloc(1, sizeof(*m));
    if (!m)
        return PYTHIA_ENOMEM;
    m->cct = cct;
    m->fold = fold;
    *out = m;
    return PYTHIA_OK;
}

void pythia_shape_maker_destroy(struct pythia_shape_maker *m)
{
    if (!m)
        return;
    void *const owned[] = {m->visits, m->folded,  m->point_names, m->seen_edges, m->seen_points,
                           m->edges,  m->repeats, m->slots,       m->points,     m->point_counts};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    pythia_free(m);
}

/* ---- edges ---- */

/* The edge of a gap, as a slot of the shape. */
static int add_gap(struct pythia_shape_maker *m, const struct pythia_edge *edge, size_t gap,
                   uint32_t *edge_count)
{
    uint32_t number = pythia_cct_edge(m->cct, edge);
    if (number == PYTHIA_NONE ||
        pythia_reach(&m->seen_edges, &m->edge_capacity, number, sizeof(*m->seen_edges)) !=
            PYTHIA_OK ||
        pythia_reach(&m->edges, &m->edges_capacity, *edge_count, sizeof(*m->edges)) != PYTHIA_OK ||
        pythia_reach(&m->repeats, &m->repeats_capacity, *edge_count, sizeof(*m->repeats)) !=
            PYTHIA_OK ||
        pythia_reach(&m->slots, &m->slots_capacity, gap, sizeof(*m->slots)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    /* A loop goes over one edge many times: it has one slot, with its repeats. */
    if (m->seen_edges[number] == 0) {
        m->edges[*edge_count] = number;
        m->repeats[*edge_count] = 0;
        m->seen_edges[number] = ++*edge_count;
    }
    uint32_t slot = m->seen_edges[number] - 1;
    m->slots[gap] = slot;
    m->repeats[slot]++;
    return PYTHIA_OK;
}

static int add_shape_point(struct pythia_shape_maker *m, uint32_t tracepoint, uint32_t *point_count)
{
    if (pythia_reach(&m->seen_points, &m->point_capacity, tracepoint, sizeof(*m->seen_points)) !=
            PYTHIA_OK ||
        pythia_reach(&m->points, &m->points_capacity, *point_count, sizeof(*m->points)) !=
            PYTHIA_OK ||
        pythia_reach(&m->point_counts, &m->counts_capacity, *point_count,
                     sizeof(*m->point_counts)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (m->seen_points[tracepoint] == 0) {
        m->points[*point_count] = tracepoint;
        m->point_counts[*point_count] = 0;
        m->seen_points[tracepoint] = ++*point_count;
    }
    m->point_counts[m->seen_points[tracepoint] - 1]++;
    return PYTHIA_OK;
}

/* Walk along the path with the calling context of each gap. */
static int find_path_edges(struct pythia_shape_maker *m, const struct pythia_critical_path *path,
                           uint32_t *edge_count, uint32_t *point_count)
{
    uint32_t context = PYTHIA_CCT_ROOT;
    for (size_t i = 0; i < path->count; i++) {
        const struct pythia_path_event *e = &path->events[i];
        context = pythia_cct_follow(m->cct, context, e);
        if (context == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        if (e->kind != PYTHIA_EVENT_END &&
            add_shape_point(m, e->tracepoint, point_count) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        /* The last event has no gap after it. */
        if (i + 1 == path->count)
            break;
        const struct pythia_edge edge = pythia_edge_from(context, e);
        if (add_gap(m, &edge, i, edge_count) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* ---- structure ---- */

static int add_visit(struct pythia_shape_maker *m, uint32_t parent, uint32_t tracepoint)
{
    if (pythia_grow(&m->visits, &m->visit_capacity, m->visit_count, sizeof(*m->visits)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t number = (uint32_t)m->visit_count++;
    m->visits[number] = (struct visit){.tracepoint = tracepoint, .parent = parent};
    if (number == 0)
        return PYTHIA_OK;
    struct visit *above = &m->visits[parent];
    if (above->first == 0)
        above->first = number;
    else
        m->visits[above->last].next = number;
    above->last = number;
    return PYTHIA_OK;
}

/* The path as a tree of visits; returns its depth, or negative. */
static int find_visits(struct pythia_shape_maker *m, const struct pythia_critical_path *path)
{
    m->visit_count = 0;
    if (add_visit(m, 0, 0) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t at = 0;
    int depth = 0, deepest = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct pythia_path_event *e = &path->events[i];
        if (e->kind == PYTHIA_EVENT_END) {
            at = m->visits[at].parent;
            depth--;
            continue;
        }
        uint32_t visit = (uint32_t)m->visit_count;
        if (add_visit(m, at, e->tracepoint) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        deepest = depth + 1 > deepest ? depth + 1 : deepest;
        /* An annotation is a visit without anything in it. */
        if (e->kind == PYTHIA_EVENT_START) {
            at = visit;
            depth++;
        }
    }
    return deepest;
}

/* The hash of a trace point's pattern, made once. */
static int name_point(struct pythia_shape_maker *m, uint32_t tracepoint)
{
    if (pythia_reach(&m->point_names, &m->name_capacity, tracepoint, sizeof(*m->point_names)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (m->point_names[tracepoint] == 0) {
        struct pythia_text text =
            pythia_vocabulary_tracepoint_pattern(pythia_cct_vocabulary(m->cct), tracepoint);
        m->point_names[tracepoint] = pythia_hash_bytes(text.bytes, text.size) | 1;
    }
    return PYTHIA_OK;
}

/* Take away the last group if it repeats the one before it: of a loop one round is left. Returns
 * the new length. */
static size_t fold_end(const uint64_t *names, size_t count)
{
    for (size_t width = 1; width <= FOLD_WIDTH && 2 * width <= count; width++)
        if (memcmp(names + count - width, names + count - 2 * width, width * sizeof(*names)) == 0)
            return fold_end(names, count - width);
    return count;
}

/* The name of a visit and, by the names of the level before, of what is directly below it. */
static int name_visit(struct pythia_shape_maker *m, struct visit *v, uint64_t own)
{
    size_t count = 0;
    for (uint32_t child = v->first; child; child = m->visits[child].next) {
        if (pythia_grow(&m->folded, &m->folded_capacity, count, sizeof(*m->folded)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        m->folded[count++] = m->visits[child].deeper;
        if (m->fold)
            count = fold_end(m->folded, count);
    }
    uint64_t name = pythia_hash_mix(own, count);
    for (size_t i = 0; i < count; i++)
        name = pythia_hash_mix(name, m->folded[i]);
    v->name = name;
    return PYTHIA_OK;
}

/* The names at every level: at level d a visit is named by what is at most d deep below it. */
static int find_levels(struct pythia_shape_maker *m, int depth, uint64_t type_hash,
                       struct pythia_shape *shape)
{
    shape->levels[0] = type_hash;
    shape->level_count =
        (uint32_t)(depth + 1 < PYTHIA_SHAPE_LEVELS ? depth + 1 : PYTHIA_SHAPE_LEVELS);
    for (size_t i = 1; i < m->visit_count; i++) {
        if (name_point(m, m->visits[i].tracepoint) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        m->visits[i].deeper = m->point_names[m->visits[i].tracepoint];
    }
    for (uint32_t level = 1; level < shape->level_count; level++) {
        for (size_t i = 0; i < m->visit_count; i++) {
            struct visit *v = &m->visits[i];
            if (name_visit(m, v, i ? m->point_names[v->tracepoint] : type_hash) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
        }
        for (size_t i = 0; i < m->visit_count; i++)
            /* A level is named by the names of the level above it, so that each costs one walk. */
            m->visits[i].deeper = m->visits[i].name;
        shape->levels[level] = m->visits[0].name;
    }
    return PYTHIA_OK;
}

/* ---- all of it ---- */

/* Allocate a shape with its arrays after it, in one block: a shape is made once and read often. */
static struct pythia_shape *copy_shape(const struct pythia_shape_maker *m, uint32_t gaps,
                                       uint32_t edges, uint32_t points)
{
    struct pythia_shape *shape = pythia_calloc(
        1, sizeof(*shape) + sizeof(uint32_t) * (gaps + 2 * (size_t)edges + 2 * (size_t)points));
    if (!shape)
        return NULL;
    /* The arrays follow the struct in the order of the table below. */
    uint32_t *array = (uint32_t *)(void *)(shape + 1);
    const struct {
        uint32_t **to;
        const uint32_t *from;
        uint32_t count;
    } parts[] = {{&shape->slots, m->slots, gaps},
                 {&shape->edges, m->edges, edges},
                 {&shape->repeats, m->repeats, edges},
                 {&shape->points, m->points, points},
                 {&shape->point_counts, m->point_counts, points}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        *parts[i].to = array;
        if (parts[i].count)
            memcpy(array, parts[i].from, parts[i].count * sizeof(*array));
        array += parts[i].count;
    }
    shape->gap_count = gaps;
    shape->edge_count = edges;
    shape->point_count = points;
    return shape;
}

struct pythia_shape *pythia_shape_make(struct pythia_shape_maker *m,
                                       const struct pythia_critical_path *path, uint64_t type_hash)
{
    uint32_t edges = 0, points = 0;
    struct pythia_shape *shape = NULL;
    if (find_path_edges(m, path, &edges, &points) != PYTHIA_OK)
        goto out;
    int depth = find_visits(m, path);
    if (depth < 0)
        goto out;
    shape = copy_shape(m, (uint32_t)path->count - 1, edges, points);
    if (!shape)
        goto out;
    shape->hash = pythia_shape_hash(path);
    if (find_levels(m, depth, type_hash, shape) != PYTHIA_OK) {
        pythia_free(shape);
        shape = NULL;
    }
out:
    for (uint32_t i = 0; i < edges; i++) /* the marks are for one shape */
        m->seen_edges[m->edges[i]] = 0;
    for (uint32_t i = 0; i < points; i++)
        m->seen_points[m->points[i]] = 0;
    return shape;
}
