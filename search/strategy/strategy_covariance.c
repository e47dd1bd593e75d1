/* Open where the variance is expected to arise. The search space knows calls and mean times, not
 * how times vary together, so this is a model: the time that a calling context takes itself,
 * without what is called from it, is independent of that of others; where it is taken at all its
 * standard deviation is its mean, as of exponential times; and it is missing from the requests that
 * do not have the context. With a mean m over all requests, and a part q of them that have it, its
 * variance is m^2 (2 / q - 1). Being independent, this is its covariance with the time behind the
 * edge as well, and the covariances add up to the variance there. The gain is the edge's share
 * times the point's part of them: long times count by their squares, and what few requests do
 * counts more than what all do. */
#include <math.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

/* By node: its own time in the region, over all requests of the space. */
static uint64_t *own_times(const struct pythia__region_map *m)
{
    uint32_t nodes = pythia_cct_nodes(m->type->cct);
    uint64_t *own = pythia_calloc(nodes, sizeof(*own));
    for (uint32_t node = 0; own && node < nodes; node++)
        own[node] += pythia__region_time(m, node);
    for (uint32_t node = 1; own && node < nodes; node++)
        own[pythia_cct_parent(m->type->cct, node)] -= pythia__region_time(m, node);
    return own;
}

static double variance_of_node(const struct pythia__parts *p, uint32_t node, uint64_t own_ns)
{
    double mean = (double)own_ns / p->requests;
    double q = fmin((double)p->map.type->nodes[node].requests / p->requests, 1);
    return mean * mean * (2 / (q > 0 ? q : 1) - 1);
}

/* Variances become whole parts of the largest one, so that sums do not depend on the order of
 * nodes; they fit, whatever the number of nodes. */
#define PARTS 0x1p32

struct model {
    uint64_t *own;      /* by node */
    uint64_t *by_point; /* parts, of its contexts that begin in the region */
    uint64_t all;
};

static void add_model_totals(struct model *m, const struct pythia__parts *p)
{
    const struct pythia_cct *cct = p->map.type->cct;
    uint32_t nodes = pythia_cct_nodes(cct);
    double most = 0;
    for (uint32_t node = 1; node < nodes; node++)
        most = fmax(most, variance_of_node(p, node, m->own[node]));
    for (uint32_t node = 1; node < nodes && most > 0; node++) {
        uint64_t parts = (uint64_t)(PARTS * (variance_of_node(p, node, m->own[node]) / most));
        m->all += parts;
        if (pythia__region_has(&p->map, node))
            m->by_point[pythia_cct_tracepoint(cct, node)] += parts;
    }
}

static int inspect_covariance_row(struct pythia__parts *p)
{
    struct model m = {.own = own_times(&p->map),
                      .by_point = pythia_calloc(pythia_vocabulary_tracepoints(p->vocabulary),
                                                sizeof(*m.by_point))};
    int status = m.own && m.by_point ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    add_model_totals(&m, p);
    for (size_t i = 0; i < p->here_count; i++) {
        /* The covariances of all points add up to the variance of the region. */
        double part = m.all ? (double)m.by_point[p->here[i]] / (double)m.all : 0;
        struct pythia__candidate c = {
            .tracepoint = p->here[i], .part = part, .order = pythia__parts_worth(p, part)};
        status = pythia__parts_offer(p, &c);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(m.own);
    pythia_free(m.by_point);
    return status;
}

static void add_covariance_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                                  struct pythia_buf *to)
{
    pythia_buf_printf(
        to, "by times and calls in the search space, %.0f %% of it is expected to arise in ",
        100 * c->part);
    pythia__parts_name(p, c->tracepoint, to);
}

static const struct pythia__strategy_row row = {.look = inspect_covariance_row,
                                                .reason = add_covariance_reason};

const struct pythia_strategy pythia__strategy_covariance = {
    .name = "covariance",
    .help =
        "points whose own times are expected to vary most with the edge, by a model of the profile",
    .row = &row,
};
