/* Noisy generalised binary search keeps a weight for each hypothesis and multiplies it by how well
 * it goes with each answer (R. Nowak, "Noisy Generalized Binary Search", NIPS 2009). Here an answer
 * is which of the edges that can be seen varies most, and it is known only as well as a bootstrap
 * says. */
#include "belief.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/shares.h"
#include "pythia/status.h"

/* Three of these were measured lower and higher, by the command in search_place.c on its problems:
 *
 *     SMOOTHING  .02: all is the same; .5: load ends a cycle sooner (median 5), but up to 13 points
 *                are open at once and not 10, and of null-noise 3 of 40 are wrong and not 2
 *     LEADING    .25: null-noise is never wrong, and load opens up to 12 points at once and not 10;
 *                .75: two-causes takes 7 cycles and not 6 (median), null-noise is wrong in 3 of 40
 *     OFF_PATH   .001: of ticks 37 of 40 are found and not 39; .1: all is the same */
#define BOOTSTRAPS 40
#define TOGETHER   4  /* rows whose sums are made at once; bootstraps are a multiple of it */
#define SMOOTHING  .1 /* draws added to those in which an edge leads, and to the others */
#define LEADING    .5 /* of the largest covariance: an edge that has as much may hold a cause too */
#define FLOOR_LOG  (-30.) /* no evidence makes a node less probable than that, against the best */
#define PROBABLE   .01    /* a region that is less so is not looked into, which takes time */
#define OFF_PATH   .01 /* the prior of a node that was never on a critical path, against others */

static int allocate_belief(struct pythia__belief *b)
{
    const struct pythia_array arrays[] = {
        {&b->own_ns, b->nodes, sizeof(double)},     {&b->log_prior, b->nodes, sizeof(double)},
        {&b->log_weight, b->nodes, sizeof(double)}, {&b->saved, b->nodes, sizeof(double)},
        {&b->mass, b->nodes, sizeof(double)},       {&b->order, b->nodes, sizeof(uint32_t)},
        {&b->place, b->nodes, sizeof(uint32_t)},    {&b->behind, b->nodes, sizeof(uint32_t)},
        {&b->nested, b->nodes, sizeof(bool)},       {&b->block, b->nodes, sizeof(uint32_t)},
    };
    return pythia_calloc_arrays(arrays, sizeof(arrays) / sizeof(arrays[0]));
}

void pythia__belief_free(struct pythia__belief *b)
{
    void *const owned[] = {b->own_ns, b->log_prior, b->log_weight, b->saved,  b->mass,
                           b->order,  b->place,     b->behind,     b->nested, b->block};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    *b = (struct pythia__belief){0};
}

/* ---- the order of nodes ---- */

/* Scratch for it, by node. Siblings are put in an order in which they may follow each other on a
 * path: that of a depth-first search along edges from the end of one to the start of another. What
 * the edges leave open, and where they lead in a circle, names decide: the order in which nodes
 * were made is that of whatever request came first. */
struct ordering {
    const struct pythia_cct *cct;
    uint32_t *sorted;     /* nodes by name */
    uint32_t *first, *to; /* edges that leave a node, by number + 1, and where they lead */
    uint32_t *next, *in,
        *next_in;              /* by edge + 1: of the same node; and edges that lead to a node */
    uint32_t *from;            /* by edge + 1 */
    uint32_t *post, *stack;    /* nodes as the search leaves them; those it is in */
    bool *seen, *entry;        /* entry: what may come first in the node above */
    uint32_t *child, *sibling; /* lists of children, in their order */
};

static void free_ordering(struct ordering *o)
{
    void *const owned[] = {o->sorted, o->first, o->to,   o->next,  o->in,    o->next_in, o->from,
                           o->post,   o->stack, o->seen, o->entry, o->child, o->sibling};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
}

static int begin_ordering(const struct pythia_cct *cct, struct ordering *o)
{
    size_t nodes = pythia_cct_nodes(cct), edges = (size_t)pythia_cct_edges(cct) + 1;
    uint32_t count;
    *o = (struct ordering){.cct = cct};
    int status = pythia_cct_sorted_nodes(cct, &o->sorted, &count);
    if (status != PYTHIA_OK)
        return status;
    o->first = pythia_calloc(nodes, sizeof(*o->first));
    o->in = pythia_calloc(nodes, sizeof(*o->in));
    o->to = pythia_calloc(edges, sizeof(*o->to));
    o->from = pythia_calloc(edges, sizeof(*o->from));
    o->next = pythia_calloc(edges, sizeof(*o->next));
    o->next_in = pythia_calloc(edges, sizeof(*o->next_in));
    o->post = pythia_calloc(nodes, sizeof(*o->post));
    o->stack = pythia_calloc(nodes + 1, sizeof(*o->stack));
    o->seen = pythia_calloc(nodes, sizeof(*o->seen));
    o->entry = pythia_calloc(nodes, sizeof(*o->entry));
    o->child = pythia_calloc(nodes, sizeof(*o->child));
    o->sibling = pythia_calloc(nodes, sizeof(*o->sibling));
    /* One test for all: what was allocated is freed by free_ordering in any case. */
    bool all = o->first && o->in && o->to && o->from && o->next && o->next_in && o->post &&
               o->stack && o->seen && o->entry && o->child && o->sibling;
    return all ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Collect the edges between siblings; edges that leave a node are in descending order of the
 * other's name. */
static void list_edges(struct ordering *o)
{
    for (uint32_t e = 0; e < pythia_cct_edges(o->cct); e++) {
        const struct pythia_edge *edge = pythia_cct_edge_at(o->cct, e);
        if (edge->to_event == PYTHIA_EVENT_END)
            continue;
        uint32_t to = pythia_cct_find(o->cct, edge->context, edge->to_tracepoint);
        if (to == PYTHIA_NONE)
            continue;
        o->entry[to] = o->entry[to] || edge->from_event == PYTHIA_EVENT_START;
        if (edge->from_event == PYTHIA_EVENT_START)
            continue;
        uint32_t from = pythia_cct_find(o->cct, edge->context, edge->from_tracepoint);
        if (from == PYTHIA_NONE || from == to)
            continue;
        o->from[e + 1] = from;
        o->to[e + 1] = to;
        o->next_in[e + 1] = o->in[to];
        o->in[to] = e + 1;
    }
    /* Edges are linked in the order of names, because the walk below, and with it the order of
     * nodes, must not depend on the order of spans. */
    for (uint32_t i = 0; i < pythia_cct_nodes(o->cct); i++)
        for (uint32_t e = o->in [o->sorted[i]]; e; e = o->next_in[e]) {
            o->next[e] = o->first[o->from[e]];
            o->first[o->from[e]] = e;
        }
}

/* Leave every node after those that may follow it: first what may come first, then what nothing
 * leads to. */
static void search_depth_first(struct ordering *o)
{
    uint32_t nodes = pythia_cct_nodes(o->cct), left = 0;
    for (uint32_t k = 2 * nodes; k-- > 0;) {
        uint32_t depth = 0, i = k % nodes;
        if (o->seen[o->sorted[i]] || (k >= nodes && !o->entry[o->sorted[i]]))
            continue;
        o->stack[depth++] = o->sorted[i];
        o->seen[o->sorted[i]] = true;
        /* An explicit stack: a tree may be as deep as it has nodes, and a recursion would
         * overflow the thread's stack. */
        while (depth > 0) {
            uint32_t node = o->stack[depth - 1], e = o->first[node];
            if (!e) {
                o->post[left++] = node;
                depth--;
                continue;
            }
            o->first[node] = o->next[e];
            if (!o->seen[o->to[e]]) {
                o->seen[o->to[e]] = true;
                o->stack[depth++] = o->to[e];
            }
        }
    }
    for (uint32_t i = 0; i < nodes; i++) /* the last one left comes first */
        if (o->post[i] != PYTHIA_CCT_ROOT) {
            uint32_t parent = pythia_cct_parent(o->cct, o->post[i]);
            o->sibling[o->post[i]] = o->child[parent];
            o->child[parent] = o->post[i];
        }
}

static int set_places(struct pythia__belief *b)
{
    struct ordering o;
    int status = begin_ordering(b->type->cct, &o);
    if (status != PYTHIA_OK)
        goto out;
    list_edges(&o);
    search_depth_first(&o);
    uint32_t place = 0;
    for (uint32_t node = PYTHIA_CCT_ROOT;;) { /* down, along, and up again */
        b->place[node] = place;
        b->order[place++] = node;
        if (o.child[node]) {
            node = o.child[node];
            continue;
        }
        b->behind[node] = place;
        while (node != PYTHIA_CCT_ROOT && !o.sibling[node]) {
            node = pythia_cct_parent(o.cct, node);
            b->behind[node] = place;
        }
        if (node == PYTHIA_CCT_ROOT)
            break;
        node = o.sibling[node];
    }
out:
    free_ordering(&o);
    return status;
}

/* Trace points above a node, as counts by trace point: kept while the tree is walked in order. */
static int find_nested(struct pythia__belief *b)
{
    const struct pythia_cct *cct = b->type->cct;
    uint32_t points = pythia_vocabulary_tracepoints(pythia_cct_vocabulary(cct));
    uint32_t *above = pythia_calloc(points, sizeof(*above)), depth = 0;
    uint32_t *chain = pythia_calloc(b->nodes, sizeof(*chain));
    if (!above || !chain) {
        pythia_free(above);
        pythia_free(chain);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t place = 1; place < b->nodes; place++) {
        uint32_t node = b->order[place], point = pythia_cct_tracepoint(cct, node);
        /* Leave the contexts that end before this place; each is entered and left once, so the
         * walk is linear. */
        while (depth > 0 && b->behind[chain[depth - 1]] <= place)
            above[pythia_cct_tracepoint(cct, chain[--depth])]--;
        b->nested[node] = above[point]++ > 0;
        chain[depth++] = node;
    }
    pythia_free(above);
    pythia_free(chain);
    return PYTHIA_OK;
}

static void normalise_belief(struct pythia__belief *b)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t node = 1; node < b->nodes; node++)
        most = fmax(most, b->log_weight[node]);
    for (uint32_t place = 1; place < b->nodes; place++) { /* a sum that is the same everywhere */
        uint32_t node = b->order[place];
        b->log_weight[node] = fmax(b->log_weight[node] - most, FLOOR_LOG);
        b->mass[node] = exp(b->log_weight[node]);
        sum += b->mass[node];
    }
    for (uint32_t node = 1; node < b->nodes; node++)
        b->mass[node] /= sum;
}

int pythia__belief_create(const struct pythia_space_type *type, struct pythia__belief *out)
{
    struct pythia__belief b = {.type = type, .nodes = pythia_cct_nodes(type->cct)};
    if (allocate_belief(&b) != PYTHIA_OK || set_places(&b) != PYTHIA_OK ||
        find_nested(&b) != PYTHIA_OK) {
        pythia__belief_free(&b);
        return PYTHIA_ENOMEM;
    }
    double whole = 0, all = b.nodes > 1 ? b.nodes - 1 : 1;
    for (uint32_t e = 0; e < pythia_cct_edges(type->cct); e++) {
        uint32_t context = pythia_cct_edge_at(type->cct, e)->context;
        b.own_ns[context] += (double)type->edges[e].time_ns;
        whole += context != PYTHIA_CCT_ROOT ? (double)type->edges[e].time_ns : 0;
    }
    for (uint32_t node = 1; node < b.nodes; node++) {
        /* Half of the prior is even and half follows the time that a node has by itself: a cause
         * needs time to vary, but a rare slow call has little time on average. */
        double even = (b.own_ns[node] > 0 ? 1 : OFF_PATH) / all;
        b.log_prior[node] = log(.5 * even + (whole > 0 ? .5 * b.own_ns[node] / whole : 0));
    }
    pythia__belief_reset(&b);
    *out = b;
    return PYTHIA_OK;
}

void pythia__belief_reset(struct pythia__belief *b)
{
    memcpy(b->log_weight, b->log_prior, b->nodes * sizeof(*b->log_weight));
    memset(b->block, 0, b->nodes * sizeof(*b->block));
    b->region_count = 0;
    /* Without evidence nothing is improbable. */
    b->expected = 1;
    normalise_belief(b);
}

void pythia__belief_save(struct pythia__belief *b)
{
    memcpy(b->saved, b->log_weight, b->nodes * sizeof(*b->saved));
}

void pythia__belief_restore(struct pythia__belief *b)
{
    memcpy(b->log_weight, b->saved, b->nodes * sizeof(*b->log_weight));
    normalise_belief(b);
}

void pythia__belief_set(struct pythia__belief *b, const double *log_weight)
{
    pythia__belief_reset(b);
    memcpy(b->log_weight, log_weight, b->nodes * sizeof(*b->log_weight));
    normalise_belief(b);
}

/* ---- which edge varies most ---- */

/* The clipped times of the edges that vary most, a row each, and the clipped total of all that are
 * not explained. */
struct rows {
    double *edges, *total; /* room for a multiple of TOGETHER rows, zero behind the last */
    double spread[PYTHIA__BELIEF_REGIONS +
                  TOGETHER]; /* of each row: the root of its sum of squares, centred */
    size_t n;
};

/* A sum has to wait for each of its terms, but not for another sum: those of TOGETHER rows, which
 * follow each other, are made at once. */
static void find_spreads(const double *rows, size_t n, double *spreads)
{
    const double *a = rows, *b = a + n, *c = b + n, *d = c + n;
    double mean_a = 0, mean_b = 0, mean_c = 0, mean_d = 0, of_a = 0, of_b = 0, of_c = 0, of_d = 0;
    for (size_t i = 0; i < n; i++) {
        mean_a += a[i];
        mean_b += b[i];
        mean_c += c[i];
        mean_d += d[i];
    }
    mean_a /= (double)n;
    mean_b /= (double)n;
    mean_c /= (double)n;
    mean_d /= (double)n;
    for (size_t i = 0; i < n; i++) {
        of_a += (a[i] - mean_a) * (a[i] - mean_a);
        of_b += (b[i] - mean_b) * (b[i] - mean_b);
        of_c += (c[i] - mean_c) * (c[i] - mean_c);
        of_d += (d[i] - mean_d) * (d[i] - mean_d);
    }
    /* A spread is not divided by n: only ratios of them are used. */
    spreads[0] = sqrt(of_a);
    spreads[1] = sqrt(of_b);
    spreads[2] = sqrt(of_c);
    spreads[3] = sqrt(of_d);
}

/* The ranking knows what the times of each edge are clipped to. */
static int clip_edge_times(const struct pythia__belief *b, const struct pythia_ranking *r,
                           const bool *explained, const size_t *chosen, struct rows *out)
{
    size_t n = out->n = r->rows;
    double *row = pythia_calloc(n, sizeof(*row));
    out->edges = pythia_calloc(n * (b->region_count + TOGETHER), sizeof(*out->edges));
    out->total = pythia_calloc(n, sizeof(*out->total));
    if (!row || !out->edges || !out->total) {
        pythia_free(row);
        return PYTHIA_ENOMEM;
    }
    for (size_t e = 0; e < r->edge_count; e++) {
        if (explained && explained[e])
            continue;
        const double *times = r->times_ns + e * n;
        double low = r->edges[e].share.clip_low, high = r->edges[e].share.clip_high;
        for (size_t i = 0; i < n; i++) {
            double most = times[i] > high ? high : times[i];
            row[i] = most < low ? low : most;
            /* Sum the clipped edges rather than clip the sum, so that the shares of the edges
             * add up to the whole. */
            out->total[i] += row[i];
        }
        for (uint32_t k = 0; k < b->region_count; k++)
            if (chosen[k] == e)
                memcpy(out->edges + k * n, row, n * sizeof(*row));
    }
    for (uint32_t k = 0; k < b->region_count; k += TOGETHER)
        find_spreads(out->edges + k * n, n, out->spread + k);
    pythia_free(row);
    return PYTHIA_OK;
}

/* Sum of products, in eight sums that do not wait for each other: the same on every machine. */
static double dot_product(const double *x, const double *y, size_t n)
{
    double sums[8] = {0}, sum = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sums[lane] += x[i + lane] * y[i + lane];
    for (; i < n; i++)
        sums[i % 8] += x[i] * y[i];
    for (size_t lane = 0; lane < 8; lane++)
        sum += sums[lane];
    return sum;
}

/* The weights of the requests in TOGETHER draws, and their sums of squares; times[i]: how often
 * request i was drawn. They follow each other in `times` and in `weights`. */
static void weigh_draws(const struct rows *rows, const double *times, double *weights,
                        double *squares)
{
    size_t n = rows->n;
    const double *a = times, *b = a + n, *c = b + n, *d = c + n, *total = rows->total;
    double mean_a = 0, mean_b = 0, mean_c = 0, mean_d = 0, of_a = 0, of_b = 0, of_c = 0, of_d = 0;
    for (size_t i = 0; i < n; i++) {
        mean_a += a[i] * total[i];
        mean_b += b[i] * total[i];
        mean_c += c[i] * total[i];
        mean_d += d[i] * total[i];
    }
    mean_a /= (double)n;
    mean_b /= (double)n;
    mean_c /= (double)n;
    mean_d /= (double)n;
    for (size_t i = 0; i < n; i++) {
        /* A bootstrap draw is a weight for each request; the rows themselves are never copied,
         * and one product with the weights gives the covariance in that draw. */
        double in_a = a[i] * (total[i] - mean_a), in_b = b[i] * (total[i] - mean_b),
               in_c = c[i] * (total[i] - mean_c), in_d = d[i] * (total[i] - mean_d);
        weights[i] = in_a;
        weights[n + i] = in_b;
        weights[2 * n + i] = in_c;
        weights[3 * n + i] = in_d;
        of_a += in_a * in_a;
        of_b += in_b * in_b;
        of_c += in_c * in_c;
        of_d += in_d * in_d;
    }
    squares[0] = of_a;
    squares[1] = of_b;
    squares[2] = of_c;
    squares[3] = of_d;
}

/* Count the rows that lead in a draw of the requests: those whose covariance with the total is the
 * largest, or not much less. The weights add up to 0, so a covariance is at most the spread of the
 * row times that of the weights (Cauchy and Schwarz): mostly enough to see that a row cannot lead
 * beside the first. */
static void count_leaders(const struct rows *rows, const double *weights, double squares,
                          uint32_t count, size_t *votes)
{
    double most = -INFINITY, covariances[PYTHIA__BELIEF_REGIONS];
    double spread = sqrt(squares) * (1 + 1e-9); /* rounding makes no leader */
    /* Edges that come close to the largest share the vote: a draw in which two edges tie is
     * evidence for both. */
    for (uint32_t k = 0; k < count; k++) {
        bool may = !(most > 0) || rows->spread[k] * spread >= LEADING * most;
        covariances[k] = may ? dot_product(rows->edges + k * rows->n, weights, rows->n) : -INFINITY;
        most = fmax(most, covariances[k]);
    }
    for (uint32_t k = 0; k < count; k++)
        votes[k] += covariances[k] >= (most > 0 ? LEADING * most : most);
}

void pythia__draws_free(struct pythia__draws *d)
{
    pythia_free(d->times);
    *d = (struct pythia__draws){0};
}

/* Draw how often each of `n` requests counts, in each of the bootstraps. */
static int draw_bootstraps(struct pythia__draws *d, size_t n, uint64_t seed)
{
    struct pythia_random random;
    if (d->times && d->n == n && d->seed == seed)
        return PYTHIA_OK;
    pythia__draws_free(d);
    d->times = pythia_calloc(n, BOOTSTRAPS * sizeof(*d->times));
    if (!d->times)
        return PYTHIA_ENOMEM;
    d->n = n;
    d->seed = seed;
    pythia_random_init(&random, seed);
    for (size_t k = 0; k < BOOTSTRAPS; k++)
        for (size_t i = 0; i < n; i++)
            d->times[k * n + pythia_random_below(&random, n)]++;
    return PYTHIA_OK;
}

static int vote_for_regions(struct pythia__belief *b, const struct rows *rows,
                            struct pythia__draws *draws, uint64_t seed)
{
    struct pythia__draws own = {0}, *drawn = draws ? draws : &own;
    double *weights = pythia_calloc(rows->n, TOGETHER * sizeof(*weights)), squares[TOGETHER];
    size_t votes[PYTHIA__BELIEF_REGIONS] = {0};
    int status = weights ? draw_bootstraps(drawn, rows->n, seed) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t k = 0; k < BOOTSTRAPS; k += TOGETHER) {
        weigh_draws(rows, drawn->times + k * rows->n, weights, squares);
        /* Find the edge that would lead, had other requests of the same kind arrived. */
        for (size_t one = 0; one < TOGETHER; one++)
            count_leaders(rows, weights + one * rows->n, squares[one], b->region_count, votes);
    }
    /* Smoothed, because a region that led in no draw is improbable and not impossible. */
    for (uint32_t k = 0; k < b->region_count; k++)
        b->regions[k].probability = ((double)votes[k] + SMOOTHING) / (BOOTSTRAPS + 2 * SMOOTHING);
out:
    pythia_free(weights);
    pythia__draws_free(&own);
    return status;
}

/* The edges with the largest shares that are not explained. */
static void choose_top_edges(struct pythia__belief *b, const struct pythia_ranking *r,
                             const bool *explained, size_t *chosen)
{
    b->region_count = 0;
    for (size_t e = 0; e < r->edge_count; e++) {
        double share = r->edges[e].share.share;
        uint32_t at = b->region_count;
        if (!(share > 0) || (explained && explained[e]))
            continue;
        while (at > 0 && share > r->edges[chosen[at - 1]].share.share)
            at--;
        /* Insertion into a short list: regions beyond it would hardly ever lead a draw. */
        if (at == PYTHIA__BELIEF_REGIONS)
            continue;
        b->region_count += b->region_count < PYTHIA__BELIEF_REGIONS;
        memmove(chosen + at + 1, chosen + at, (b->region_count - 1 - at) * sizeof(*chosen));
        chosen[at] = e;
    }
    for (uint32_t k = 0; k < b->region_count; k++)
        b->regions[k] = (struct pythia__belief_region){r->edges[chosen[k]].edge,
                                                       r->edges[chosen[k]].share.share, 0};
}

/* ---- what lies behind ---- */

/* Compute the share of each node's own time that lies behind an edge, 0 to 1, into `part`. A
 * node that was never on a critical path lies where its spans begin. Where the space has never
 * seen one event of the edge follow the other, all that is in the context may lie behind it. */
static void find_parts(const struct pythia__belief *b, struct pythia__region_map *map,
                       const struct pythia_edge *edge, double *part)
{
    pythia__region_find(map, edge);
    bool known = pythia__region_time(map, PYTHIA_CCT_ROOT) > 0;
    for (uint32_t node = 0; node < b->nodes; node++)
        part[node] = (double)map->inside[node];
    for (uint32_t node = b->nodes; node-- > 1;)
        part[pythia_cct_parent(b->type->cct, node)] -= (double)map->inside[node];
    for (uint32_t node = 1; node < b->nodes; node++) {
        if (!known)
            part[node] = map->masked[node] == edge->context;
        else if (part[node] > 0 && b->own_ns[node] > 0)
            part[node] = fmin(part[node] / b->own_ns[node], 1);
        else
            part[node] = pythia__region_has(map, node) && !(b->own_ns[node] > 0);
    }
}

/* The likelihood of the evidence if the cause is in a node: the probabilities of the regions,
 * each weighted by the share of the node's time in it. */
static void weigh_nodes(struct pythia__belief *b, struct pythia__region_map *map, double *likely,
                        double *best)
{
    const double rest = SMOOTHING / (BOOTSTRAPS + 2 * SMOOTHING); /* of an edge that never leads */
    for (uint32_t node = 0; node < b->nodes; node++) {
        likely[node] = best[node] = 0;
        b->block[node] = b->region_count;
    }
    for (uint32_t k = 0; k < b->region_count; k++) {
        if (b->regions[k].probability < PROBABLE) {
            continue;
        }
        double *part = likely + b->nodes; /* scratch */
        find_parts(b, map, pythia_cct_edge_at(map->seen, b->regions[k].edge), part);
        for (uint32_t node = 1; node < b->nodes; node++) {
            double weight = part[node] * b->regions[k].probability;
            likely[node] += weight;
            if (weight > best[node]) {
                best[node] = weight;
                b->block[node] = k;
            }
        }
    }
    b->expected = 0;
    for (uint32_t node = 1; node < b->nodes; node++) {
        b->expected += b->mass[node] * fmin(likely[node], 1);
        b->log_weight[node] += log(fmin(likely[node], 1) + rest / b->nodes);
    }
}

int pythia__belief_update(struct pythia__belief *b, struct pythia__region_map *map,
                          const struct pythia_ranking *r, const bool *explained, uint64_t seed,
                          struct pythia__draws *draws)
{
    size_t chosen[PYTHIA__BELIEF_REGIONS + 1];
    struct rows rows = {0};
    double *scratch = pythia_calloc((size_t)b->nodes * 3, sizeof(*scratch));
    if (!scratch)
        return PYTHIA_ENOMEM;
    int status = PYTHIA_OK;
    choose_top_edges(b, r, explained, chosen);
    /* Nothing has a share: the evidence says nothing about where the cause is. */
    if (b->region_count == 0)
        goto out;
    status = clip_edge_times(b, r, explained, chosen, &rows);
    if (status != PYTHIA_OK)
        goto out;
    status = vote_for_regions(b, &rows, draws, seed);
    if (status != PYTHIA_OK)
        goto out;
    weigh_nodes(b, map, scratch, scratch + 2 * (size_t)b->nodes);
    normalise_belief(b);
out:
    pythia_free(rows.edges);
    pythia_free(rows.total);
    pythia_free(scratch);
    return status;
}
