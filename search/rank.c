#include "pythia/rank.h"

#include <math.h>
#include <string.h>

#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "pythia/tail_dip.h"

#define MATRIX_MAX  ((size_t)1024 * 1024) /* numbers: 8 MiB, and three like it for a while */
#define MODES_ASKED 32 /* edges whose modes are looked at, by share; for MODES, by variance */
#define TAIL_HIGH   .9
#define TAIL_LOW    .5

/* Edges of the rows, as they come. */
struct columns {
    uint32_t *edges;   /* numbers in the tree */
    uint32_t *indexes; /* by number: index + 1 */
    size_t count, capacity;
};

static int find_columns(const struct pythia_row *const *rows, size_t count,
                        const struct pythia_cct *cct, struct columns *c)
{
    c->indexes = pythia_calloc(pythia_cct_edges(cct), sizeof(*c->indexes));
    if (!c->indexes)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_shape *shape = rows[i]->shape;
        for (uint32_t k = 0; k < shape->edge_count; k++) {
            uint32_t edge = shape->edges[k];
            if (c->indexes[edge])
                continue;
            if (pythia_grow(&c->edges, &c->capacity, c->count, sizeof(*c->edges)) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
            c->edges[c->count++] = edge;
            c->indexes[edge] = (uint32_t)c->count;
        }
    }
    return PYTHIA_OK;
}

static bool edge_before(const void *context, uint32_t a, uint32_t b)
{
    return pythia_cct_compare_edges(context, a, b) < 0;
}

/* Sums of floating-point numbers depend on their order: give the edges the order of their names. */
static int sort_columns(struct columns *c, const struct pythia_cct *cct)
{
    uint32_t *scratch = pythia_calloc(c->count, sizeof(*scratch));
    if (!scratch)
        return PYTHIA_ENOMEM;
    pythia_sort_indexes(c->edges, c->count, scratch, edge_before, cct);
    for (size_t e = 0; e < c->count; e++)
        c->indexes[c->edges[e]] = (uint32_t)e + 1;
    pythia_free(scratch);
    return PYTHIA_OK;
}

static void fill(const struct pythia_row *const *rows, const struct columns *c,
                 struct pythia_ranking *out)
{
    for (size_t i = 0; i < out->rows; i++) {
        const struct pythia_shape *shape = rows[i]->shape;
        for (uint32_t k = 0; k < shape->edge_count; k++) {
            size_t e = c->indexes[shape->edges[k]] - 1;
            out->times_ns[e * out->rows + i] = (double)rows[i]->times_ns[k];
            out->edges[e].requests++;
            out->edges[e].repeats += shape->repeats[k];
        }
    }
    for (size_t e = 0; e < c->count; e++) {
        out->edges[e].edge = c->edges[e];
        out->edges[e].repeats /= (double)out->rows;
    }
}

/* ---- contexts ---- */

static bool number_before(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

static int find_contexts(const struct columns *c, const struct pythia_cct *cct,
                         struct pythia_ranking *out)
{
    uint32_t *nodes = pythia_calloc(2 * (size_t)pythia_cct_nodes(cct), sizeof(*nodes));
    bool *seen = pythia_calloc(pythia_cct_nodes(cct), sizeof(*seen));
    size_t count = 0;
    int status = nodes && seen ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t e = 0; e < c->count && status == PYTHIA_OK; e++)
        for (uint32_t node = pythia_cct_edge_at(cct, c->edges[e])->context;
             node != PYTHIA_CCT_ROOT && !seen[node]; node = pythia_cct_parent(cct, node)) {
            seen[node] = true;
            nodes[count++] = node;
        }
    if (status == PYTHIA_OK) {
        pythia_sort_indexes(nodes, count, nodes + count, number_before, NULL);
        out->contexts = pythia_calloc(count, sizeof(*out->contexts));
        status = out->contexts ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
        out->contexts[i].node = nodes[i];
    out->context_count = status == PYTHIA_OK ? count : 0;
    pythia_free(nodes);
    pythia_free(seen);
    return status;
}

const struct pythia_ranked_context *pythia_ranking_context(const struct pythia_ranking *r,
                                                           uint32_t node)
{
    size_t low = 0, high = r->context_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->contexts[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->context_count && r->contexts[low].node == node ? &r->contexts[low] : NULL;
}

/* Share of every context: the slope of the sum of clipped rows below it. `clipped` is the matrix,
 * clipped. */
static int share_contexts(const struct columns *c, const struct pythia_cct *cct,
                          const double *clipped, double level, struct pythia_ranking *out)
{
    size_t n = out->rows;
    double *sums = pythia_calloc((out->context_count + 1) * n, sizeof(*sums)),
           *total = sums; /* row 0: of all */
    if (!sums)
        return PYTHIA_ENOMEM;
    for (size_t e = 0; e < c->count; e++) {
        const double *row = clipped + e * n;
        for (size_t i = 0; i < n; i++)
            total[i] += row[i];
        uint32_t node = pythia_cct_edge_at(cct, c->edges[e])->context;
        for (; node != PYTHIA_CCT_ROOT; node = pythia_cct_parent(cct, node)) {
            size_t k = (size_t)(pythia_ranking_context(out, node) - out->contexts);
            out->contexts[k].mean_ns += out->edges[e].share.mean;
            for (size_t i = 0; i < n; i++)
                sums[(k + 1) * n + i] += row[i];
        }
    }
    for (size_t k = 0; k < out->context_count; k++)
        pythia_slope_hc3(sums + (k + 1) * n, total, n, level, &out->contexts[k].share);
    pythia_free(sums);
    return PYTHIA_OK;
}

/* ---- edges ---- */

static int share_edges_briefly(double level, struct pythia_ranking *out)
{
    size_t k = out->edge_count;
    struct pythia_share_options clip = PYTHIA_SHARE_OPTIONS_DEFAULT;
    struct pythia_share *shares = pythia_calloc(k, sizeof(*shares));
    clip.level = level;
    int status = shares ? pythia_shares(out->times_ns, out->rows, k, &clip, shares) : PYTHIA_ENOMEM;
    for (size_t e = 0; e < k && status == PYTHIA_OK; e++) {
        out->edges[e].share = shares[e];
        out->edges[e].tail_share = NAN;
    }
    pythia_free(shares);
    return status;
}

static int share_edges(const struct columns *c, const struct pythia_cct *cct, double level,
                       struct pythia_ranking *out)
{
    size_t n = out->rows, k = c->count;
    struct pythia_share_options clip = PYTHIA_SHARE_OPTIONS_DEFAULT;
    clip.level = level;
    struct pythia_share *shares = pythia_calloc(k, sizeof(*shares));
    double *tails = pythia_calloc(k, sizeof(*tails)),
           *clipped = pythia_calloc(k * n, sizeof(*clipped));
    int status = shares && tails && clipped ? pythia_shares(out->times_ns, n, k, &clip, shares)
                                            : PYTHIA_ENOMEM;
    size_t top;
    if (status == PYTHIA_OK)
        status = pythia_gate_localise(out->times_ns, n, k, level, &out->localised, &top);
    if (status == PYTHIA_OK)
        status = pythia_tail_shares(out->times_ns, n, k, TAIL_HIGH, TAIL_LOW, tails);
    for (size_t e = 0; e < k && status == PYTHIA_OK; e++) {
        out->edges[e].share = shares[e];
        out->edges[e].tail_share = tails[e];
        memcpy(clipped + e * n, out->times_ns + e * n, n * sizeof(*clipped));
        pythia_winsorise(clipped + e * n, n, clip.clip_top, clip.clip_bottom);
    }
    if (status == PYTHIA_OK)
        status = share_contexts(c, cct, clipped, level, out);
    pythia_free(shares);
    pythia_free(tails);
    pythia_free(clipped);
    return status;
}

/* Which edge carries the slowest mode: its part of the difference between the mean of that mode and
 * that of the rest. */
static void share_modes(const struct pythia_rank_options *o, struct pythia_ranking *out)
{
    size_t n = out->rows, slow = 0;
    double difference = 0;
    for (size_t e = 0; e < out->edge_count; e++)
        out->edges[e].mode_share = NAN;
    if (!o->labels || o->modes < 2)
        return;
    for (size_t i = 0; i < n; i++)
        slow += o->labels[i] == o->modes - 1;
    if (slow == 0 || slow == n)
        return;
    for (int pass = 0; pass < 2; pass++)
        for (size_t e = 0; e < out->edge_count; e++) {
            double in_slow = 0, in_rest = 0;
            for (size_t i = 0; i < n; i++)
                *(o->labels[i] == o->modes - 1 ? &in_slow : &in_rest) += out->times_ns[e * n + i];
            double own = in_slow / (double)slow - in_rest / (double)(n - slow);
            if (pass == 0)
                difference += own;
            else
                out->edges[e].mode_share = difference == 0 ? NAN : own / difference;
        }
}

static double score_of(const struct pythia_ranked_edge *e, const struct pythia_rank_options *o)
{
    switch (o->measure) {
    case PYTHIA_MEASURE_SHARE:
        return e->share.share;
    case PYTHIA_MEASURE_VARIANCE:
        return e->share.sd * e->share.sd;
    case PYTHIA_MEASURE_COV:
        return e->share.cov;
    case PYTHIA_MEASURE_MODES:
        return e->modes_p <= o->alpha ? e->share.sd * e->share.sd : 0;
    case PYTHIA_MEASURE_TAIL:
        return e->tail_share;
    case PYTHIA_MEASURE_SLOW:
        return e->share.mean;
    }
    return NAN;
}

struct order {
    const struct pythia_ranked_edge *edges;
    bool by_variance; /* for choosing whose modes to ask for */
};

/* Edges are in order of name, and the sort is stable: ties are settled by name. */
static bool scored_before(const void *context, uint32_t a, uint32_t b)
{
    const struct order *order = context;
    double x = order->by_variance ? order->edges[a].share.sd : order->edges[a].score;
    double y = order->by_variance ? order->edges[b].share.sd : order->edges[b].score;
    return x > y || (!isnan(x) && isnan(y));
}

/* Ask those edges for their modes that have most of what the measure is about. */
static int ask_modes(const struct pythia_rank_options *o, uint32_t *order, uint32_t *scratch,
                     struct pythia_ranking *out)
{
    bool by_variance = o->measure == PYTHIA_MEASURE_MODES;
    for (size_t e = 0; e < out->edge_count; e++) {
        order[e] = (uint32_t)e;
        out->edges[e].modes_p = NAN;
        out->edges[e].score = by_variance ? 0 : score_of(&out->edges[e], o);
    }
    pythia_sort_indexes(order, out->edge_count, scratch, scored_before,
                        &(struct order){out->edges, by_variance});
    for (size_t i = 0; !o->brief && i < out->edge_count && i < MODES_ASKED; i++) {
        struct pythia_tail_dip dip;
        struct pythia_ranked_edge *e = &out->edges[order[i]];
        if (pythia_tail_dip(out->times_ns + order[i] * out->rows, out->rows, o->seed, &dip) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        e->modes_p = dip.p;
    }
    return PYTHIA_OK;
}

/* Put the edges, and their times, into the order of their scores. */
static int sort_edges(const struct pythia_rank_options *o, struct pythia_ranking *out)
{
    size_t k = out->edge_count, n = out->rows;
    uint32_t *order = pythia_calloc(2 * k, sizeof(*order));
    struct pythia_ranked_edge *edges = pythia_calloc(k, sizeof(*edges));
    double *times = pythia_calloc(k * n, sizeof(*times));
    int status = order && edges && times ? ask_modes(o, order, order + k, out) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK) {
        pythia_free(order);
        pythia_free(edges);
        pythia_free(times);
        return status;
    }
    for (size_t e = 0; e < k; e++) {
        order[e] = (uint32_t)e;
        out->edges[e].score = score_of(&out->edges[e], o);
    }
    pythia_sort_indexes(order, k, order + k, scored_before, &(struct order){out->edges, false});
    for (size_t e = 0; e < k; e++) {
        edges[e] = out->edges[order[e]];
        memcpy(times + e * n, out->times_ns + order[e] * n, n * sizeof(*times));
    }
    pythia_free(order);
    pythia_free(out->edges);
    pythia_free(out->times_ns);
    out->edges = edges;
    out->times_ns = times;
    return PYTHIA_OK;
}

int pythia_rank(const struct pythia_row *const *rows, size_t count, const struct pythia_cct *cct,
                const struct pythia_rank_options *options, struct pythia_ranking *out)
{
    struct pythia_ranking r = {0};
    struct columns c = {0};
    int status = find_columns(rows, count, cct, &c);
    if (status == PYTHIA_OK)
        status = sort_columns(&c, cct);
    r.rows = c.count > 0 && count > MATRIX_MAX / c.count ? MATRIX_MAX / c.count : count;
    r.edge_count = c.count;
    r.edges = pythia_calloc(c.count, sizeof(*r.edges));
    r.times_ns = pythia_calloc(c.count * r.rows, sizeof(*r.times_ns));
    if (!r.edges || !r.times_ns)
        status = PYTHIA_ENOMEM;
    if (status == PYTHIA_OK) {
        fill(rows, &c, &r);
        status = options->brief ? PYTHIA_OK : find_contexts(&c, cct, &r);
    }
    if (status == PYTHIA_OK && c.count > 0)
        status = options->brief ? share_edges_briefly(options->level, &r)
                                : share_edges(&c, cct, options->level, &r);
    if (status == PYTHIA_OK) {
        share_modes(options, &r);
        status = sort_edges(options, &r);
    }
    pythia_free(c.edges);
    pythia_free(c.indexes);
    if (status != PYTHIA_OK) {
        pythia_ranking_free(&r);
        return status;
    }
    *out = r;
    return PYTHIA_OK;
}

void pythia_ranking_free(struct pythia_ranking *r)
{
    pythia_free(r->edges);
    pythia_free(r->contexts);
    pythia_free(r->times_ns);
    *r = (struct pythia_ranking){0};
}
