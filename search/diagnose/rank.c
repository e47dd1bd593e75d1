/* Rows become columns, one for each edge, with zeros where a request does not pass it. Then parts
 * of the variance add up to 1, over edges and over contexts. */
#include "pythia/rank.h"

#include <math.h>
#include <string.h>

#include "pythia/column.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "pythia/tail_dip.h"

#define MATRIX_MAX  ((size_t)1024 * 1024) /* numbers: 8 MiB, and three like it for a while */
#define MODES_ASKED 32 /* edges whose modes are looked at, by share; for MODES, by variance */
#define TAIL_HIGH   .9
#define TAIL_LOW    .5

#define LINE  64 /* bytes of a cache line, of most processors */
#define TILE  8  /* rows that are turned at once: their times of an edge fill a cache line */
#define KNOWN 64 /* shapes that need not be looked at again: a power of 2 */

/* Edges of the rows, as they come. */
struct columns {
    uint32_t *edges;   /* numbers in the tree */
    uint32_t *indexes; /* by number: index + 1; of the memory */
    size_t count, capacity;
};

void pythia_rank_memory_free(struct pythia_rank_memory *m)
{
    pythia_free(m->indexes);
    pythia_free(m->times_ns);
    pythia_free(m->tile);
    pythia_free(m->places);
    *m = (struct pythia_rank_memory){0};
}

static int add_columns(struct columns *c, const struct pythia_shape *shape)
{
    for (uint32_t k = 0; k < shape->edge_count; k++) {
        uint32_t edge = shape->edges[k];
        if (c->indexes[edge])
            continue;
        if (pythia_grow(&c->edges, &c->capacity, c->count, sizeof(*c->edges)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        c->edges[c->count++] = edge;
        c->indexes[edge] = (uint32_t)c->count;
    }
    return PYTHIA_OK;
}

/* Most rows have the shape of a recent row, whose edges are known then. */
static int find_rank_columns(const struct pythia_row *const *rows, size_t count,
                             const struct pythia_cct *cct, struct pythia_rank_memory *memory,
                             struct columns *c)
{
    const struct pythia_shape *known[KNOWN] = {NULL};
    uint32_t edges = pythia_cct_edges(cct);
    int status =
        pythia_reach(&memory->indexes, &memory->index_capacity, edges, sizeof(*memory->indexes));
    c->indexes = memory->indexes;
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_shape *shape = rows[i]->shape;
        /* A miss costs a look at the edges, nothing else: collisions need no care. */
        const struct pythia_shape **place = &known[shape->hash % KNOWN];
        if (*place == shape)
            continue;
        *place = shape;
        status = add_columns(c, shape);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Free the columns, and leave the memory zeroed, as the next ranking expects it. */
static void free_columns(struct columns *c)
{
    for (size_t e = 0; c->indexes && e < c->count; e++)
        c->indexes[c->edges[e]] = 0;
    pythia_free(c->edges);
}

static bool ranked_edge_precedes(const void *context, uint32_t a, uint32_t b)
{
    return pythia_cct_compare_edges(context, a, b) < 0;
}

/* Sums of floating-point numbers depend on their order: give the edges the order of their names. */
static int sort_columns(struct columns *c, const struct pythia_cct *cct)
{
    uint32_t *scratch = pythia_calloc(c->count, sizeof(*scratch));
    if (!scratch)
        return PYTHIA_ENOMEM;
    pythia_sort_indexes(c->edges, c->count, scratch, ranked_edge_precedes, cct);
    for (size_t e = 0; e < c->count; e++)
        c->indexes[c->edges[e]] = (uint32_t)e + 1;
    pythia_free(scratch);
    return PYTHIA_OK;
}

/* Count the requests that hit each edge, and their hits: consecutive requests of one shape are
 * counted at once. All are whole numbers, so the order does not matter. */
static void count_edge_hits(const struct pythia_row *const *rows, const struct columns *c,
                            struct pythia_ranking *out)
{
    for (size_t i = 0, run; i < out->rows; i += run) {
        const struct pythia_shape *shape = rows[i]->shape;
        /* Most types have few shapes, so that runs are long. */
        for (run = 1; i + run < out->rows && rows[i + run]->shape == shape;)
            run++;
        for (uint32_t k = 0; k < shape->edge_count; k++) {
            struct pythia_ranked_edge *edge = &out->edges[c->indexes[shape->edges[k]] - 1];
            edge->requests += run;
            edge->repeats += (double)shape->repeats[k] * (double)run;
        }
    }
    for (size_t e = 0; e < c->count; e++) {
        out->edges[e].edge = c->edges[e];
        out->edges[e].few = pythia_rests_on_few(out->edges[e].requests, out->rows);
        out->edges[e].repeats /= (double)out->rows;
    }
}

/* The rows of a sample are scattered in memory: prefetch the next ones, a tile ahead. */
static void prefetch_rows(const struct pythia_row *const *rows, size_t from, size_t count)
{
    for (size_t i = from; i < from + TILE && i < count; i++) {
        const char *times = (const char *)rows[i]->times_ns;
        for (size_t at = 0; at < rows[i]->shape->edge_count * sizeof(int64_t); at += LINE)
            __builtin_prefetch(times + at);
    }
}

/* Turn rows into columns. A column is as long as there are rows, often a power of 2 of bytes, and
 * then the same row of all columns falls into one set of the cache: so TILE rows at a time are
 * turned in a tile, TILE numbers for each column, and written out by the line. `places` holds, for
 * each edge of the last shape, its index in the tile: the next row mostly has the same shape. */
static void fill_rank_matrix(const struct pythia_row *const *rows, const struct columns *c,
                             double *tile, uint32_t *places, struct pythia_ranking *out)
{
    for (size_t i = 0; i < out->rows; i += TILE) {
        size_t count = out->rows - i < TILE ? out->rows - i : TILE;
        prefetch_rows(rows, i + TILE, out->rows);
        /* A row has no entry for an edge that it does not pass: there it took 0 ns. */
        memset(tile, 0, c->count * TILE * sizeof(*tile));
        for (size_t r = 0; r < count; r++) {
            const struct pythia_row *row = rows[i + r];
            const struct pythia_shape *shape = row->shape;
            bool same = i + r > 0 && rows[i + r - 1]->shape == shape;
            for (uint32_t k = 0; !same && k < shape->edge_count; k++)
                places[k] = (c->indexes[shape->edges[k]] - 1) * TILE;
            for (uint32_t k = 0; k < shape->edge_count; k++)
                tile[places[k] + r] = (double)row->times_ns[k];
        }
        for (size_t e = 0; e < c->count; e++)
            memcpy(out->times_ns + e * out->rows + i, tile + e * TILE, count * sizeof(*tile));
    }
}

/* ---- contexts ---- */

static bool number_before(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

/* Ancestors without an edge of their own are contexts too: variance below them is theirs. */
static int find_contexts(const struct columns *c, const struct pythia_cct *cct,
                         struct pythia_ranking *out)
{
    uint32_t *nodes = pythia_calloc(2 * (size_t)pythia_cct_nodes(cct), sizeof(*nodes));
    bool *seen = pythia_calloc(pythia_cct_nodes(cct), sizeof(*seen));
    size_t count = 0;
    int status = PYTHIA_ENOMEM;
    if (!nodes || !seen)
        goto out;
    for (size_t e = 0; e < c->count; e++)
        for (uint32_t node = pythia_cct_edge_at(cct, c->edges[e])->context;
             /* An ancestor that was seen has all of its own ancestors listed already, which
              * keeps the walk linear in the nodes. */
             node != PYTHIA_CCT_ROOT && !seen[node]; node = pythia_cct_parent(cct, node)) {
            seen[node] = true;
            nodes[count++] = node;
        }
    pythia_sort_indexes(nodes, count, nodes + count, number_before, NULL);
    out->contexts = pythia_calloc(count, sizeof(*out->contexts));
    if (!out->contexts)
        goto out;
    for (size_t i = 0; i < count; i++)
        out->contexts[i].node = nodes[i];
    out->context_count = count;
    status = PYTHIA_OK;
out:
    pythia_free(nodes);
    pythia_free(seen);
    return status;
}

static int compare_context_node(const void *contexts, size_t index, const void *node)
{
    uint32_t x = ((const struct pythia_ranked_context *)contexts)[index].node,
             y = *(const uint32_t *)node;
    return (x > y) - (x < y);
}

const struct pythia_ranked_context *pythia_ranking_context(const struct pythia_ranking *r,
                                                           uint32_t node)
{
    size_t found = pythia_sorted_find(r->context_count, compare_context_node, r->contexts, &node);
    return found == PYTHIA_SORTED_NONE ? NULL : &r->contexts[found];
}

static size_t context_index(const struct pythia_ranking *r, uint32_t node)
{
    return (size_t)(pythia_ranking_context(r, node) - r->contexts);
}

static bool context_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_cct *cct = context;
    uint32_t depth = pythia_cct_depth(cct, a), other = pythia_cct_depth(cct, b);
    return depth > other || (depth == other && pythia_cct_compare_nodes(cct, a, b) < 0);
}

static void add_row_times(double *to, const double *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += row[i];
}

/* Add to each context what is in the contexts below it. Each is added once, to the one above it,
 * after all below itself, so that a deep chain does not cost its square; in an order of names,
 * because sums of floating-point numbers depend on theirs. `sums` has a row for each context. */
static int add_contexts_below(const struct pythia_cct *cct, double *sums,
                              struct pythia_ranking *out)
{
    size_t count = out->context_count, n = out->rows;
    uint32_t *nodes = pythia_calloc(2 * count, sizeof(*nodes));
    if (!nodes)
        return PYTHIA_ENOMEM;
    for (size_t k = 0; k < count; k++)
        nodes[k] = out->contexts[k].node;
    pythia_sort_indexes(nodes, count, nodes + count, context_before, cct);
    for (size_t k = 0; k < count; k++) {
        uint32_t parent = pythia_cct_parent(cct, nodes[k]);
        /* The root has all of the time, and would say nothing. */
        if (parent == PYTHIA_CCT_ROOT)
            continue;
        size_t from = context_index(out, nodes[k]), to = context_index(out, parent);
        out->contexts[to].mean_ns += out->contexts[from].mean_ns;
        out->contexts[to].few = out->contexts[to].few && out->contexts[from].few;
        add_row_times(sums + to * n, sums + from * n, n);
    }
    pythia_free(nodes);
    return PYTHIA_OK;
}

/* Find the share of every context: the slope of the sum of clipped rows below it, over the sum of
 * all. `clipped` is the matrix, clipped. */
static int share_contexts(const struct columns *c, const struct pythia_cct *cct,
                          const double *clipped, double level, struct pythia_ranking *out)
{
    size_t n = out->rows;
    double *total = pythia_calloc((out->context_count + 1) * n, sizeof(*total));
    if (!total)
        return PYTHIA_ENOMEM;
    double *sums = total + n; /* a row for each context */
    for (size_t k = 0; k < out->context_count; k++)
        out->contexts[k].few = true;
    for (size_t e = 0; e < c->count; e++) {
        uint32_t node = pythia_cct_edge_at(cct, c->edges[e])->context;
        add_row_times(total, clipped + e * n, n);
        if (node == PYTHIA_CCT_ROOT)
            continue;
        size_t k = context_index(out, node);
        out->contexts[k].mean_ns += out->edges[e].share.mean;
        out->contexts[k].few = out->contexts[k].few && out->edges[e].few;
        add_row_times(sums + k * n, clipped + e * n, n);
    }
    int status = add_contexts_below(cct, sums, out);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t k = 0; k < out->context_count; k++)
        pythia_slope_hc3(sums + k * n, total, n, level, &out->contexts[k].share);
out:
    pythia_free(total);
    return status;
}

/* ---- edges ---- */

/* The search ranks thousands of types a cycle, and needs no tails, contexts or localisation. */
static int share_edges_briefly(double level, struct pythia_ranking *out)
{
    size_t k = out->edge_count;
    struct pythia_share_options clip = PYTHIA_SHARE_OPTIONS_DEFAULT;
    struct pythia_share *shares = pythia_calloc(k, sizeof(*shares));
    if (!shares)
        return PYTHIA_ENOMEM;
    clip.level = level;
    clip.brief = true;
    int status = pythia_shares(out->times_ns, out->rows, k, &clip, shares);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t e = 0; e < k; e++) {
        out->edges[e].share = shares[e];
        out->edges[e].tail_share = NAN;
    }
out:
    pythia_free(shares);
    return status;
}

/* The variance of a sum of rows, each counted from its first value. */
static double variance_of_sum(const double *rows, size_t k, size_t n, double *sums)
{
    double mean = 0, squares = 0;
    memset(sums, 0, n * sizeof(*sums));
    for (size_t e = 0; e < k; e++)
        for (size_t i = 0; i < n; i++)
            /* Counted from the first value, so that squares of times of hours keep the digits of
             * microseconds. */
            sums[i] += rows[e * n + i] - rows[e * n];
    for (size_t i = 0; i < n; i++)
        mean += sums[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (sums[i] - mean) * (sums[i] - mean);
    return squares;
}

/* The share of the variance of the duration that clipping leaves. `clipped` is the matrix,
 * clipped. */
static int measure_clipping(const double *clipped, struct pythia_ranking *out)
{
    double *sums = pythia_calloc(out->rows, sizeof(*sums));
    if (!sums)
        return PYTHIA_ENOMEM;
    double all = variance_of_sum(out->times_ns, out->edge_count, out->rows, sums);
    out->kept = all > 0 ? variance_of_sum(clipped, out->edge_count, out->rows, sums) / all : NAN;
    pythia_free(sums);
    return PYTHIA_OK;
}

bool pythia_ranking_has_shares(const struct pythia_ranking *r)
{
    return !(r->kept < PYTHIA_RANKING_KEPT_MIN);
}

/* A share is a slope of clipped times. Where clipping leaves little of the variance, outliers have
 * it, and shares of the rest would mislead: then none is given (pythia_ranking_has_shares). */
static int share_edges(const struct columns *c, const struct pythia_cct *cct, double level,
                       struct pythia_ranking *out)
{
    size_t n = out->rows, k = c->count, top = 0;
    struct pythia_share_options clip = PYTHIA_SHARE_OPTIONS_DEFAULT;
    clip.level = level;
    struct pythia_share *shares = pythia_calloc(k, sizeof(*shares));
    double *tails = pythia_calloc(k, sizeof(*tails)),
           *clipped = pythia_calloc(k * n, sizeof(*clipped));
    int status = PYTHIA_ENOMEM;
    if (!shares || !tails || !clipped)
        goto out;
    status = pythia_shares(out->times_ns, n, k, &clip, shares);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_gate_localise(out->times_ns, n, k, level, &out->localised, &top);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_tail_shares(out->times_ns, n, k, TAIL_HIGH, TAIL_LOW, tails);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t e = 0; e < k; e++) {
        out->edges[e].share = shares[e];
        out->edges[e].tail_share = tails[e];
        memcpy(clipped + e * n, out->times_ns + e * n, n * sizeof(*clipped));
        /* Contexts add up clipped edges: to clip the sum instead would let an outlier of one
         * edge hide the variance of another. */
        pythia_winsorise(clipped + e * n, n, clip.clip_top, clip.clip_bottom);
    }
    status = measure_clipping(clipped, out);
    if (status != PYTHIA_OK)
        goto out;
    out->localised = out->localised && !out->edges[top].few && pythia_ranking_has_shares(out);
    status = share_contexts(c, cct, clipped, level, out);
out:
    pythia_free(shares);
    pythia_free(tails);
    pythia_free(clipped);
    return status;
}

/* Find the edge that carries the slowest mode: its share of the difference between the mean of
 * that mode and the mean of the rest. */
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
    /* The first pass adds up the whole difference, of which the second one takes the parts. */
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

/* Edges are in order of name, and the sort is stable: ties are settled by name. What rests on a
 * handful of requests comes last, because a share of so few may be chance whatever its interval
 * says. */
static bool scored_before(const void *context, uint32_t a, uint32_t b)
{
    const struct order *order = context;
    bool few_x = order->edges[a].few, few_y = order->edges[b].few;
    if (!order->by_variance && few_x != few_y)
        return few_y;
    double x = order->by_variance ? order->edges[a].share.sd : order->edges[a].score;
    double y = order->by_variance ? order->edges[b].share.sd : order->edges[b].score;
    return x > y || (!isnan(x) && isnan(y));
}

/* Test the edges that have most of what the measure is about for several modes. The test is the
 * dearest statistic here, and an edge further down the list is not reported anyway. */
static int ask_modes(const struct pythia_rank_options *o, uint32_t *order, uint32_t *scratch,
                     struct pythia_ranking *out)
{
    bool by_variance = o->measure == PYTHIA_MEASURE_MODES;
    for (size_t e = 0; e < out->edge_count; e++) {
        order[e] = (uint32_t)e;
        out->edges[e].modes_p = NAN;
        out->edges[e].score = by_variance ? 0 : score_of(&out->edges[e], o);
    }
    if (o->brief || o->without_modes)
        return PYTHIA_OK;
    pythia_sort_indexes(order, out->edge_count, scratch, scored_before,
                        &(struct order){out->edges, by_variance});
    /* The others keep NaN: not tested, which is not the same as one mode. */
    for (size_t i = 0; i < out->edge_count && i < MODES_ASKED; i++) {
        struct pythia_tail_dip dip;
        struct pythia_ranked_edge *e = &out->edges[order[i]];
        if (pythia_tail_dip(out->times_ns + order[i] * out->rows, out->rows, o->seed, &dip) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        e->modes_p = dip.p;
    }
    return PYTHIA_OK;
}

/* Put edge order[e] and its times in place e, for each e, along the cycles of the permutation: one
 * edge is set aside for each of them, because a second matrix would double the memory. `order` is
 * used up. */
static void move_edges(uint32_t *order, double *aside, struct pythia_ranking *out)
{
    size_t n = out->rows;
    double *times = out->times_ns;
    for (size_t first = 0; first < out->edge_count; first++) {
        if (order[first] == first)
            continue;
        struct pythia_ranked_edge edge = out->edges[first];
        /* The first of a cycle is overwritten before its own place is known to be free. */
        memcpy(aside, times + first * n, n * sizeof(*times));
        size_t to = first, from;
        while ((from = order[to]) != first) {
            out->edges[to] = out->edges[from];
            memcpy(times + to * n, times + from * n, n * sizeof(*times));
            order[to] = (uint32_t)to;
            to = from;
        }
        out->edges[to] = edge;
        memcpy(times + to * n, aside, n * sizeof(*times));
        order[to] = (uint32_t)to;
    }
}

/* Put the edges, and their times, into the order of their scores. */
static int sort_ranked_edges(const struct pythia_rank_options *o, struct pythia_ranking *out)
{
    size_t k = out->edge_count;
    uint32_t *order = pythia_calloc(2 * k, sizeof(*order));
    double *aside = pythia_calloc(out->rows, sizeof(*aside));
    int status = PYTHIA_ENOMEM;
    if (!order || !aside)
        goto out;
    status = ask_modes(o, order, order + k, out);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t e = 0; e < k; e++) {
        order[e] = (uint32_t)e;
        out->edges[e].score = score_of(&out->edges[e], o);
    }
    pythia_sort_indexes(order, k, order + k, scored_before, &(struct order){out->edges, false});
    move_edges(order, aside, out);
out:
    pythia_free(order);
    pythia_free(aside);
    return status;
}

/* Allocate the matrix and a tile, or reuse those of the last ranking. */
static int reserve_rank_memory(const struct pythia_rank_options *o,
                               struct pythia_rank_memory *memory, struct pythia_ranking *r)
{
    size_t numbers = r->edge_count * r->rows;
    r->borrows = o->memory != NULL;
    int status = pythia_reach(&memory->tile, &memory->tile_capacity, r->edge_count * TILE,
                              sizeof(*memory->tile));
    if (status != PYTHIA_OK)
        return status;
    status = pythia_reach(&memory->places, &memory->place_capacity, r->edge_count,
                          sizeof(*memory->places));
    if (status != PYTHIA_OK)
        return status;
    if (r->borrows && numbers > memory->time_capacity) {
        pythia_free(memory->times_ns);
        memory->times_ns = pythia_calloc(numbers, sizeof(*memory->times_ns));
        memory->time_capacity = memory->times_ns ? numbers : 0;
    }
    r->edges = pythia_calloc(r->edge_count, sizeof(*r->edges));
    r->times_ns = r->borrows ? memory->times_ns : pythia_calloc(numbers, sizeof(*r->times_ns));
    return r->edges && r->times_ns ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Rank the edges of columns that are sorted, with r->rows of the rows. */
static int rank_columns(const struct pythia_row *const *rows, const struct columns *c,
                        const struct pythia_cct *cct, const struct pythia_rank_options *options,
                        struct pythia_rank_memory *memory, struct pythia_ranking *r)
{
    int status = reserve_rank_memory(options, memory, r);
    if (status != PYTHIA_OK)
        return status;
    count_edge_hits(rows, c, r);
    fill_rank_matrix(rows, c, memory->tile, memory->places, r);
    if (!options->brief) {
        status = find_contexts(c, cct, r);
        if (status != PYTHIA_OK)
            return status;
    }
    if (c->count > 0) {
        status = options->brief ? share_edges_briefly(options->level, r)
                                : share_edges(c, cct, options->level, r);
        if (status != PYTHIA_OK)
            return status;
    }
    share_modes(options, r);
    return sort_ranked_edges(options, r);
}

int pythia_rank(const struct pythia_row *const *rows, size_t count, const struct pythia_cct *cct,
                const struct pythia_rank_options *options, struct pythia_ranking *out)
{
    struct pythia_ranking r = {0};
    struct pythia_rank_memory own = {0}, *memory = options->memory ? options->memory : &own;
    struct columns c = {0};
    int status = find_rank_columns(rows, count, cct, memory, &c);
    if (status != PYTHIA_OK)
        goto out;
    status = sort_columns(&c, cct);
    if (status != PYTHIA_OK)
        goto out;
    /* The matrix is bounded by using fewer requests, not fewer edges: a missing edge could be
     * the cause, whereas fewer requests only widen the intervals. */
    r.rows = c.count > 0 && count > MATRIX_MAX / c.count ? MATRIX_MAX / c.count : count;
    r.edge_count = c.count;
    r.kept = NAN;
    status = rank_columns(rows, &c, cct, options, memory, &r);
out:
    free_columns(&c);
    pythia_rank_memory_free(&own);
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
    if (!r->borrows)
        pythia_free(r->times_ns);
    *r = (struct pythia_ranking){0};
}
