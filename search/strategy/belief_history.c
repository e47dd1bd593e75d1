/* A point that was a cause before is likely to be one again. */
#include <math.h>

#include "belief.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* The mean share of the variance that a point explained when it was opened. One opening that
 * explained nothing is added to each, so that one success in one is less than nine in ten. */
static double expected_of(const struct pythia_history *history, struct pythia_text id)
{
    struct pythia_history_record r = pythia_history_find(history, id);
    return (double)r.explained_ppb / (double)PYTHIA_HISTORY_PPB / ((double)r.opened + 1);
}

/* A point's part of the mass is parted among its nodes as their own time is; among nodes that have
 * none, evenly. */
static double node_part_of_point(const struct pythia__belief *b, uint32_t node, double own_ns,
                                 double nodes)
{
    return own_ns > 0 ? b->own_ns[node] / own_ns : 1 / nodes;
}

static void blend_history(struct pythia__belief *b, const struct pythia_history *history,
                          const double *own_ns, const double *nodes, double *known)
{
    const struct pythia_cct *cct = b->type->cct;
    const struct pythia_vocabulary *v = pythia_cct_vocabulary(cct);
    double all = 0;
    for (uint32_t place = 1; place < b->nodes; place++) { /* a sum that is the same everywhere */
        uint32_t node = b->order[place], point = pythia_cct_tracepoint(cct, node);
        known[node] = expected_of(history, pythia_vocabulary_tracepoint_id(v, point)) *
                      node_part_of_point(b, node, own_ns[point], nodes[point]);
        all += known[node];
    }
    if (!(all > 0))
        return;
    for (uint32_t node = 1; node < b->nodes; node++)
        b->log_prior[node] = log((1 - PYTHIA__BELIEF_HISTORY) * b->mass[node] +
                                 PYTHIA__BELIEF_HISTORY * known[node] / all);
    pythia__belief_reset(b);
}

int pythia__belief_create_with(const struct pythia_space_type *type,
                               const struct pythia_history *history, struct pythia__belief *out)
{
    struct pythia__belief b;
    if (!history)
        return pythia__belief_create(type, out);
    int status = pythia__belief_create(type, &b);
    if (status != PYTHIA_OK)
        return status;
    uint32_t points = pythia_vocabulary_tracepoints(pythia_cct_vocabulary(type->cct));
    double *own_ns = pythia_calloc(points, sizeof(*own_ns));
    double *nodes = pythia_calloc(points, sizeof(*nodes));
    double *known = pythia_calloc(b.nodes, sizeof(*known));
    status = own_ns && nodes && known ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK) {
        pythia__belief_free(&b);
        goto out;
    }
    for (uint32_t place = 1; place < b.nodes; place++) {
        uint32_t node = b.order[place], point = pythia_cct_tracepoint(type->cct, node);
        /* History knows trace points, the belief has contexts: sums by point let each context
         * have its part of what the point is known for. */
        own_ns[point] += b.own_ns[node];
        nodes[point]++;
    }
    blend_history(&b, history, own_ns, nodes, known);
    *out = b;
out:
    pythia_free(own_ns);
    pythia_free(nodes);
    pythia_free(known);
    return status;
}
