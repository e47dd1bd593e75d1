#include "region.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

static uint32_t event_of(const struct pythia_cct *cct, uint32_t context, uint32_t tracepoint,
                         uint8_t kind, bool leaves)
{
    /* An edge leaves the start of its context, or the end of a child; it leads to the end of its
     * context, or to the start of a child. An annotation is a child without a length. */
    bool own = leaves ? kind == PYTHIA_EVENT_START : kind == PYTHIA_EVENT_END;
    uint32_t node = own ? context : pythia_cct_find(cct, context, tracepoint);
    return node == PYTHIA_NONE ? PYTHIA_NONE : 2 * node + (kind == PYTHIA_EVENT_END);
}

static int allocate_region_map(struct pythia__region_map *m, size_t nodes, size_t edges)
{
    const struct pythia_array arrays[] = {
        {&m->masked, nodes, sizeof(uint32_t)},       {&m->open, nodes, sizeof(bool)},
        {&m->first, 2 * nodes, sizeof(uint32_t)},    {&m->next, edges, sizeof(uint32_t)},
        {&m->first_in, 2 * nodes, sizeof(uint32_t)}, {&m->next_in, edges, sizeof(uint32_t)},
        {&m->from, edges, sizeof(uint32_t)},         {&m->to, edges, sizeof(uint32_t)},
        {&m->forth, 2 * nodes, sizeof(bool)},        {&m->back, 2 * nodes, sizeof(bool)},
        {&m->queue, 2 * nodes, sizeof(uint32_t)},    {&m->inside, nodes, sizeof(uint64_t)},
    };
    return pythia_calloc_arrays(arrays, sizeof(arrays) / sizeof(arrays[0]));
}

int pythia__region_map_create(const struct pythia_space_type *type, const struct pythia_cct *seen,
                              struct pythia_open_points *open, struct pythia__region_map *out)
{
    struct pythia__region_map m = {.type = type, .seen = seen};
    uint32_t nodes = pythia_cct_nodes(type->cct), edges = pythia_cct_edges(type->cct);
    if (allocate_region_map(&m, nodes, edges) != PYTHIA_OK) {
        pythia__region_map_free(&m);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t node = 1; node < nodes; node++) { /* parents were made before their children */
        uint32_t point = pythia_cct_tracepoint(type->cct, node);
        /* A closed point leaves no node in the tree of what was seen: its children hang from the
         * nearest open point above it. */
        uint32_t above = m.masked[pythia_cct_parent(type->cct, node)];
        m.open[node] = !open || (pythia_open_points_has(open, point) &&
                                 !pythia_open_points_excludes(open, point, type->name));
        m.masked[node] =
            above == PYTHIA_NONE || !m.open[node] ? above : pythia_cct_find(seen, above, point);
    }
    for (uint32_t e = 0; e < edges; e++) {
        const struct pythia_edge *edge = pythia_cct_edge_at(type->cct, e);
        uint32_t from =
            event_of(type->cct, edge->context, edge->from_tracepoint, edge->from_event, true);
        uint32_t to =
            event_of(type->cct, edge->context, edge->to_tracepoint, edge->to_event, false);
        m.from[e] = from;
        m.to[e] = to;
        /* An edge to a point that was pruned from the space cannot be part of a region. */
        if (from == PYTHIA_NONE || to == PYTHIA_NONE)
            continue;
        m.next[e] = m.first[from];
        m.first[from] = e + 1;
        m.next_in[e] = m.first_in[to];
        m.first_in[to] = e + 1;
    }
    *out = m;
    return PYTHIA_OK;
}

void pythia__region_map_free(struct pythia__region_map *m)
{
    void *const owned[] = {m->masked, m->open, m->first, m->next, m->first_in, m->next_in,
                           m->from,   m->to,   m->forth, m->back, m->queue,    m->inside};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    *m = (struct pythia__region_map){0};
}

/* Is this event of the space the one that ends, or begins, an edge of what was seen? Looked up by
 * what it happens in: a point in time has no node of its own in the tree of what was seen. */
static bool is_edge_end(const struct pythia__region_map *m, uint32_t event,
                        const struct pythia_edge *edge, bool leaves)
{
    uint32_t node = event / 2, point = leaves ? edge->from_tracepoint : edge->to_tracepoint;
    uint8_t kind = leaves ? edge->from_event : edge->to_event;
    if (node == PYTHIA_CCT_ROOT || !m->open[node] ||
        pythia_cct_tracepoint(m->type->cct, node) != point ||
        (event % 2 != 0) != (kind == PYTHIA_EVENT_END))
        return false;
    bool own = leaves ? kind == PYTHIA_EVENT_START : kind == PYTHIA_EVENT_END;
    return m->masked[own ? node : pythia_cct_parent(m->type->cct, node)] == edge->context;
}

/* Mark the events at one end of an edge of what was seen, and every event of closed points that is
 * reached from there along edges of the space, in one of the two directions. */
static void mark_reachable_events(struct pythia__region_map *m, const struct pythia_edge *edge,
                                  bool forth)
{
    bool *marked = forth ? m->forth : m->back;
    const uint32_t *first = forth ? m->first : m->first_in, *next = forth ? m->next : m->next_in;
    const uint32_t *ends = forth ? m->to : m->from;
    size_t events = 2 * (size_t)pythia_cct_nodes(m->type->cct), head = 0, tail = 0;
    memset(marked, 0, events * sizeof(*marked));
    for (uint32_t event = 2; event < events; event++)
        if (is_edge_end(m, event, edge, forth)) {
            marked[event] = true;
            m->queue[tail++] = event;
        }
    while (head < tail)
        for (uint32_t e = first[m->queue[head++]]; e; e = next[e - 1]) {
            uint32_t event = ends[e - 1];
            /* Stop at open points: a path through one of them would have been seen as two
             * edges. */
            if (marked[event] || m->open[event / 2])
                continue;
            marked[event] = true;
            m->queue[tail++] = event;
        }
}

/* Add up the time on marked edges, and hand it up: children were made after their parents. */
static void add_marked_times(struct pythia__region_map *m)
{
    const struct pythia_cct *cct = m->type->cct;
    uint32_t nodes = pythia_cct_nodes(cct);
    memset(m->inside, 0, nodes * sizeof(*m->inside));
    /* Only edges on a way from one end to the other: reachable from the start, and from which
     * the end is reachable. */
    for (uint32_t e = 0; e < pythia_cct_edges(cct); e++)
        if (m->from[e] != PYTHIA_NONE && m->to[e] != PYTHIA_NONE && m->forth[m->from[e]] &&
            m->back[m->to[e]])
            m->inside[pythia_cct_edge_at(cct, e)->context] += m->type->edges[e].time_ns;
    for (uint32_t node = nodes - 1; node > PYTHIA_CCT_ROOT; node--)
        m->inside[pythia_cct_parent(cct, node)] += m->inside[node];
}

void pythia__region_find(struct pythia__region_map *m, const struct pythia_edge *edge)
{
    mark_reachable_events(m, edge, true);
    mark_reachable_events(m, edge, false);
    add_marked_times(m);
}

bool pythia__region_has(const struct pythia__region_map *m, uint32_t node)
{
    size_t begin = 2 * (size_t)node;
    return !m->open[node] && m->forth[begin] && m->back[begin];
}

uint64_t pythia__region_time(const struct pythia__region_map *m, uint32_t node)
{
    return m->inside[node];
}
