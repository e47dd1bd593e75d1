/* The most frequent order of a region: from the event that begins it, always along the edge that
 * was passed most often, to the event that ends it. An event is passed once, so a loop is gone
 * through once; where its rounds lead back to what was passed, the way goes on from the last event
 * that has another one. */
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "region.h"

struct walk {
    const struct pythia__region_map *m;
    uint32_t *stack, *scratch; /* edges to take, the next one on top */
    size_t height;
    bool *passed; /* by event */
    uint32_t *nodes;
    size_t count;
};

static bool is_edge_in_region(const struct pythia__region_map *m, uint32_t edge)
{
    return m->to[edge] != PYTHIA_NONE && m->back[m->to[edge]];
}

/* The order of two edges that leave one event: the less frequent one first, or else the later by
 * name. */
static bool less_wanted(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia__region_map *m = context;
    const struct pythia_cct *cct = m->type->cct;
    uint64_t x = m->type->edges[a].visits, y = m->type->edges[b].visits;
    if (x != y)
        return x < y;
    const struct pythia_vocabulary *v = pythia_cct_vocabulary(cct);
    struct pythia_edge e = *pythia_cct_edge_at(cct, a), f = *pythia_cct_edge_at(cct, b);
    int order = pythia_text_compare(pythia_vocabulary_tracepoint_id(v, e.to_tracepoint),
                                    pythia_vocabulary_tracepoint_id(v, f.to_tracepoint));
    return order ? order > 0 : e.to_event > f.to_event;
}

static void push_event(struct walk *w, uint32_t event)
{
    size_t base = w->height;
    for (uint32_t e = w->m->first[event]; e; e = w->m->next[e - 1])
        if (is_edge_in_region(w->m, e - 1))
            w->stack[w->height++] = e - 1;
    pythia_sort_indexes(w->stack + base, w->height - base, w->scratch, less_wanted, w->m);
}

/* The event that begins the region: where it does so in several contexts, the most frequent. */
static uint32_t find_start(const struct pythia__region_map *m)
{
    const struct pythia_cct *cct = m->type->cct;
    uint32_t best = PYTHIA_NONE;
    uint64_t best_visits = 0;
    for (uint32_t event = 2; event < 2 * pythia_cct_nodes(cct); event++) {
        if (!m->forth[event] || !m->open[event / 2])
            continue;
        uint64_t visits = 0;
        bool any = false;
        for (uint32_t e = m->first[event]; e; e = m->next[e - 1])
            if (is_edge_in_region(m, e - 1)) {
                uint64_t more = m->type->edges[e - 1].visits;
                /* Counts come from files; a sum that wrapped would choose the rarest start. */
                visits = visits > UINT64_MAX - more ? UINT64_MAX : visits + more;
                any = true;
            }
        if (any &&
            (best == PYTHIA_NONE || visits > best_visits ||
             (visits == best_visits && pythia_cct_compare_nodes(cct, event / 2, best / 2) < 0))) {
            best = event;
            best_visits = visits;
        }
    }
    return best;
}

int pythia__region_order(const struct pythia__region_map *m, uint32_t **nodes, size_t *count)
{
    size_t edges = pythia_cct_edges(m->type->cct), all = pythia_cct_nodes(m->type->cct);
    struct walk w = {.m = m,
                     .stack = pythia_calloc(2 * edges, sizeof(*w.stack)),
                     .passed = pythia_calloc(2 * all, sizeof(*w.passed)),
                     .nodes = pythia_calloc(all, sizeof(*w.nodes))};
    int status = w.stack && w.passed && w.nodes ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    uint32_t start = find_start(m);
    w.scratch = w.stack + edges;
    if (start != PYTHIA_NONE)
        push_event(&w, start);
    while (w.height) {
        uint32_t event = m->to[w.stack[--w.height]];
        if (m->open[event / 2])
            break; /* the event that ends it */
        if (w.passed[event])
            continue;
        w.passed[event] = true;
        if (event > 1 && event % 2 == 0 && pythia__region_has(m, event / 2))
            w.nodes[w.count++] = event / 2;
        push_event(&w, event);
    }
    *nodes = w.nodes;
    *count = w.count;
    w.nodes = NULL;
out:
    pythia_free(w.stack);
    pythia_free(w.passed);
    pythia_free(w.nodes);
    return status;
}
