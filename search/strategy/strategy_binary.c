/* Halve the time: of the closed trace points behind an edge, open the one that leaves the time of
 * the region in two parts as equal as can be, what is inside it and the rest; then one that does so
 * to what the ones before have left together, and so on. */
#include <math.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

struct halving {
    struct pythia__parts *p;
    uint32_t *next;  /* by node: another context of its trace point + 1 */
    uint32_t *first; /* by trace point: a context + 1 */
    uint32_t *piece; /* by node: the nearest chosen node above, or itself; or the root */
    double *below;   /* by node: time inside it, without what is in pieces below it */
    double *inside;  /* by piece: of the current trace point; else 0 */
};

static int begin_halving(struct halving *h, struct pythia__parts *p)
{
    const struct pythia_cct *cct = p->map.type->cct;
    size_t nodes = pythia_cct_nodes(cct);
    *h = (struct halving){
        .p = p,
        .next = pythia_calloc(nodes, sizeof(*h->next)),
        .first = pythia_calloc(pythia_vocabulary_tracepoints(p->vocabulary), sizeof(*h->first)),
        .piece = pythia_calloc(nodes, sizeof(*h->piece)),
        .below = pythia_calloc(nodes, sizeof(*h->below)),
        .inside = pythia_calloc(nodes, sizeof(*h->inside))};
    if (!h->next || !h->first || !h->piece || !h->below || !h->inside)
        return PYTHIA_ENOMEM;
    for (uint32_t node = 1; node < nodes; node++)
        if (pythia__region_has(&p->map, node)) {
            uint32_t *first = &h->first[pythia_cct_tracepoint(cct, node)];
            /* Nodes are chained by their trace point, because a point is opened in all its contexts
             * at once. */
            h->next[node] = *first;
            *first = node + 1;
        }
    return PYTHIA_OK;
}

static void end_halving(struct halving *h)
{
    pythia_free(h->next);
    pythia_free(h->first);
    pythia_free(h->piece);
    pythia_free(h->below);
    pythia_free(h->inside);
}

/* Cut the region where the points that were chosen begin. */
static void cut_region(struct halving *h)
{
    const struct pythia__region_map *m = &h->p->map;
    const struct pythia_cct *cct = m->type->cct;
    uint32_t nodes = pythia_cct_nodes(cct);
    for (uint32_t node = 0; node < nodes; node++)
        h->below[node] = (double)pythia__region_time(m, node);
    h->piece[PYTHIA_CCT_ROOT] = PYTHIA_CCT_ROOT;
    for (uint32_t node = 1; node < nodes; node++) {
        bool chosen =
            pythia__region_has(m, node) && h->p->points[pythia_cct_tracepoint(cct, node)].found;
        h->piece[node] = chosen ? node : h->piece[pythia_cct_parent(cct, node)];
    }
    /* Nodes in a piece are not in the pieces around it; `inside` carries it up, and is 0 behind
     * it. */
    for (uint32_t node = nodes - 1; node > PYTHIA_CCT_ROOT; node--) {
        double time = (double)pythia__region_time(m, node);
        h->below[node] = time - h->inside[node];
        h->inside[pythia_cct_parent(cct, node)] += h->piece[node] == node ? time : h->inside[node];
        h->inside[node] = 0;
    }
    h->below[PYTHIA_CCT_ROOT] =
        (double)pythia__region_time(m, PYTHIA_CCT_ROOT) - h->inside[PYTHIA_CCT_ROOT];
    h->inside[PYTHIA_CCT_ROOT] = 0;
}

/* For each piece that a trace point would divide, add up the smaller half; and everything that
 * it takes out of them. */
static double smaller_parts(struct halving *h, uint32_t tracepoint, double *taken)
{
    double smaller = 0;
    *taken = 0;
    for (uint32_t at = h->first[tracepoint]; at; at = h->next[at - 1])
        h->inside[h->piece[at - 1]] += h->below[at - 1];
    for (uint32_t at = h->first[tracepoint]; at; at = h->next[at - 1]) {
        double whole = h->below[h->piece[at - 1]], *inside = &h->inside[h->piece[at - 1]];
        double in = fmin(*inside, whole); /* one context may be below another one */
        smaller += fmin(in, whole - in);
        *taken += in;
        *inside = 0;
    }
    return smaller;
}

/* The most even division comes first; then the one that takes more out, the less frequent one,
 * the name. */
static bool is_better_cut(const struct pythia__parts *p, const double *a, uint32_t point_a,
                          const double *b, uint32_t point_b)
{
    for (int i = 0; i < 2; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    if (p->points[point_a].calls != p->points[point_b].calls)
        return p->points[point_a].calls < p->points[point_b].calls;
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(p->vocabulary, point_a),
                               pythia_vocabulary_tracepoint_id(p->vocabulary, point_b)) < 0;
}

static int inspect_binary_row(struct pythia__parts *p)
{
    struct halving h;
    int status = begin_halving(&h, p);
    if (status != PYTHIA_OK)
        goto out;
    while (p->count < p->budget) {
        uint32_t best = PYTHIA_NONE;
        double best_cut[2] = {0};
        /* Each pick divides the region, so the next one is chosen for what is left after it. */
        cut_region(&h);
        for (size_t i = 0; i < p->here_count; i++) {
            double this_cut[2];
            if (p->points[p->here[i]].found)
                continue;
            this_cut[0] = smaller_parts(&h, p->here[i], &this_cut[1]);
            if (best == PYTHIA_NONE || is_better_cut(p, this_cut, p->here[i], best_cut, best)) {
                best = p->here[i];
                best_cut[0] = this_cut[0];
                best_cut[1] = this_cut[1];
            }
        }
        if (best == PYTHIA_NONE)
            break;
        struct pythia__candidate c = {
            .tracepoint = best, .part = pythia__parts_part(p, best), .order = -(double)p->count};
        status = pythia__parts_offer(p, &c);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    end_halving(&h);
    return status;
}

static void add_binary_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                              struct pythia_buf *to)
{
    pythia__parts_name(p, c->tracepoint, to);
    pythia_buf_printf(to,
                      " divides the time there most evenly: %.0f %% of it was spent in the "
                      "point",
                      100 * c->part);
}

static const struct pythia__strategy_row row = {
    .look = inspect_binary_row, .reason = add_binary_reason, .in_turn = true};

const struct pythia_strategy pythia__strategy_binary = {
    .name = "binary",
    .help = "points that halve the time below the edge that varies most, and halve it again",
    .row = &row,
};
