/* A type that is learnt once more, because its program has changed. */
#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/space.h"
#include "pythia/status.h"

/* Where each node and edge of one tree is in another. */
struct places {
    uint32_t *nodes, *edges;       /* by node and edge of the tree that was seen */
    bool *seen_nodes, *seen_edges; /* by node and edge of the tree that is known */
};

static void free_places(const struct places *p)
{
    pythia_free(p->nodes);
    pythia_free(p->edges);
    pythia_free(p->seen_nodes);
    pythia_free(p->seen_edges);
}

/* Make the nodes and edges that the known tree lacks, without counts. A node stands after its
 * parent in both trees, because it was made after it. */
static int make_places(struct pythia_space_type *known, const struct pythia_space_type *seen,
                       struct places *p)
{
    uint32_t nodes = pythia_cct_nodes(seen->cct), edges = pythia_cct_edges(seen->cct);
    p->nodes = pythia_calloc(nodes, sizeof(*p->nodes));
    p->edges = pythia_calloc((size_t)edges + 1, sizeof(*p->edges));
    if (!p->nodes || !p->edges)
        return PYTHIA_ENOMEM;
    p->nodes[PYTHIA_CCT_ROOT] = PYTHIA_CCT_ROOT;
    for (uint32_t node = 1; node < nodes; node++)
        if (!pythia_space_node_make(known, p->nodes[pythia_cct_parent(seen->cct, node)],
                                    pythia_cct_tracepoint(seen->cct, node), &p->nodes[node]))
            return PYTHIA_ENOMEM;
    for (uint32_t e = 0; e < edges; e++) {
        struct pythia_edge edge = *pythia_cct_edge_at(seen->cct, e);
        edge.context = p->nodes[edge.context];
        const struct pythia_space_edge *made = pythia_space_edge_make(known, &edge);
        if (!made)
            return PYTHIA_ENOMEM;
        p->edges[e] = (uint32_t)(made - known->edges);
    }
    p->seen_nodes = pythia_calloc(pythia_cct_nodes(known->cct), sizeof(*p->seen_nodes));
    p->seen_edges = pythia_calloc((size_t)pythia_cct_edges(known->cct) + 1, sizeof(*p->seen_edges));
    if (!p->seen_nodes || !p->seen_edges)
        return PYTHIA_ENOMEM;
    for (uint32_t node = 0; node < nodes; node++)
        p->seen_nodes[p->nodes[node]] = true;
    for (uint32_t e = 0; e < edges; e++)
        p->seen_edges[p->edges[e]] = true;
    return PYTHIA_OK;
}

/* A count that is not 0 stays so: the context is still known. */
static uint64_t scale_count(uint64_t count, double by)
{
    return (uint64_t)ceil((double)count * by);
}

static void scale_node(struct pythia_space_node *n, double by)
{
    uint64_t *const counts[] = {&n->calls,   &n->requests, &n->visits,
                                &n->time_ns, &n->bytes,    &n->outlived};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        *counts[i] = scale_count(*counts[i], by);
}

int pythia_space_renew_type(struct pythia_space *to, const struct pythia_space_type *seen)
{
    struct places p = {0};
    struct pythia_space_type *known = pythia_space_type_make(to, seen->name);
    uint32_t before = known ? pythia_cct_nodes(known->cct) : 0;
    int status = known ? make_places(known, seen, &p) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK || pythia_cct_nodes(known->cct) == before)
        goto out;
    double by = known->requests ? (double)seen->requests / (double)known->requests : 1;
    for (uint32_t node = 1; node < pythia_cct_nodes(known->cct); node++)
        if (!p.seen_nodes[node])
            scale_node(&known->nodes[node], by);
    for (uint32_t e = 0; e < pythia_cct_edges(known->cct); e++) {
        struct pythia_space_edge *edge = &known->edges[e];
        if (p.seen_edges[e])
            continue;
        edge->visits = scale_count(edge->visits, by);
        /* What passed there has another way now: its time is in the edges that were seen. */
        edge->time_ns = p.seen_nodes[pythia_cct_edge_at(known->cct, e)->context]
                            ? 0
                            : scale_count(edge->time_ns, by);
    }
    for (uint32_t node = 1; node < pythia_cct_nodes(seen->cct); node++) {
        struct pythia_space_node *n = &known->nodes[p.nodes[node]];
        bool root = n->root, entry = n->entry;
        *n = seen->nodes[node];
        n->root = n->root || root;
        n->entry = n->entry || entry;
    }
    for (uint32_t e = 0; e < pythia_cct_edges(seen->cct); e++)
        known->edges[p.edges[e]] = seen->edges[e];
    known->requests = seen->requests;
    if (known->last_request) /* it has numbers of requests as they were counted before */
        memset(known->last_request, 0, known->last_capacity * sizeof(*known->last_request));
out:
    free_places(&p);
    return status;
}
