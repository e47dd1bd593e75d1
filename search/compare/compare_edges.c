/* The matrix of times, edges by requests, is mostly empty and can be large: it is kept as a list of
 * entries for each edge, and one edge at a time is spread over all requests, once to find the
 * clipped durations and once for what depends on them. */
#include <math.h>
#include <string.h>

#include "compare_parts.h"
#include "pythia/mem.h"
#include "pythia/shares.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define CLIP       .005 /* at each end, as shares are clipped */
#define PASSED_MIN 10   /* requests that must have passed an edge, on both sides together */

/* A request passed an edge. */
struct entry {
    uint32_t row, visits;
    double time;
};

/* The sampled requests of one side. */
struct rows {
    const struct pythia_type *type;
    size_t n;
    size_t *first;           /* [edges + 1]: its entries are entries[first[e]], … */
    struct entry *entries;   /* by edge, then by row */
    double *total, *clipped; /* durations, centred: as they came, and the sums of clipped times */
    double *column;          /* times on the current edge */
    double total_mean, clipped_mean;
};

struct work {
    struct pythia__compare *c;
    struct pythia_compared_type *t;
    struct rows sides[2];
    uint32_t *numbers, *indexes; /* edges in order of their names; by number: index + 1 */
    size_t edges, capacity;
    double clip_top;
};

/* ---- which edges there are ---- */

static int find_common_edges(struct work *w)
{
    w->indexes = pythia_calloc(pythia_cct_edges(w->c->out->cct), sizeof(*w->indexes));
    if (!w->indexes)
        return PYTHIA_ENOMEM;
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < w->sides[s].n; i++) {
            const struct pythia_row *row = pythia_type_row(w->sides[s].type, i);
            for (uint32_t k = 0; k < row->shape->edge_count; k++) {
                /* Numbers of the merged tree, which both sides share. */
                uint32_t number = w->c->edges[s][row->shape->edges[k]];
                if (w->indexes[number])
                    continue;
                if (pythia_grow(&w->numbers, &w->capacity, w->edges, sizeof(*w->numbers)) !=
                    PYTHIA_OK)
                    return PYTHIA_ENOMEM;
                w->numbers[w->edges++] = number;
                w->indexes[number] = (uint32_t)w->edges;
            }
        }
    return PYTHIA_OK;
}

static bool edge_name_precedes(const void *context, uint32_t a, uint32_t b)
{
    return pythia_cct_compare_edges(context, a, b) < 0;
}

/* Sums of floating-point numbers depend on their order: give the edges the order of their names. */
static int sort_edges_by_name(struct work *w)
{
    uint32_t *scratch = pythia_calloc(w->edges, sizeof(*scratch));
    if (!scratch)
        return PYTHIA_ENOMEM;
    pythia_sort_indexes(w->numbers, w->edges, scratch, edge_name_precedes, w->c->out->cct);
    for (size_t e = 0; e < w->edges; e++)
        w->indexes[w->numbers[e]] = (uint32_t)e + 1;
    pythia_free(scratch);
    return PYTHIA_OK;
}

static int fill_entries(struct work *w, size_t s)
{
    struct rows *r = &w->sides[s];
    size_t entries = 0;
    r->first = pythia_calloc(w->edges + 2, sizeof(*r->first));
    if (!r->first)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < r->n; i++) {
        const struct pythia_shape *shape = pythia_type_row(r->type, i)->shape;
        for (uint32_t k = 0; k < shape->edge_count; k++)
            r->first[w->indexes[w->c->edges[s][shape->edges[k]]] + 1]++;
        entries += shape->edge_count;
    }
    for (size_t e = 1; e < w->edges + 2; e++) /* first[e + 1] is where those of edge e begin… */
        r->first[e] += r->first[e - 1];
    r->entries = pythia_calloc(entries, sizeof(*r->entries));
    r->total = pythia_calloc(r->n, 3 * sizeof(*r->total));
    if (!r->entries || !r->total)
        return PYTHIA_ENOMEM;
    r->clipped = r->total + r->n;
    r->column = r->clipped + r->n;
    for (size_t i = 0; i < r->n; i++) {
        const struct pythia_row *row = pythia_type_row(r->type, i);
        for (uint32_t k = 0; k < row->shape->edge_count; k++) {
            size_t at = w->indexes[w->c->edges[s][row->shape->edges[k]]];
            r->entries[r->first[at]++] = (struct entry) /* …and moves to where they end */
                {(uint32_t)i, row->shape->repeats[k], (double)row->times_ns[k]};
        }
        r->total[i] = (double)row->duration_ns;
    }
    return PYTHIA_OK;
}

/* ---- one side of one edge ---- */

static void spread_edge_times(struct rows *r, size_t e)
{
    memset(r->column, 0, r->n * sizeof(*r->column));
    for (size_t k = r->first[e]; k < r->first[e + 1]; k++)
        r->column[r->entries[k].row] = r->entries[k].time;
}

/* Clip the column. Returns the number of independent values: clipped values carry no information
 * of their own. Dixon and Tukey, "Approximate Behavior of the Distribution of Winsorized t",
 * Technometrics 10(1), 1968. */
static double clip_column(const struct work *w, struct rows *r)
{
    return (double)(r->n - pythia_winsorise(r->column, r->n, w->clip_top, CLIP));
}

static double mean_of_column(const double *x, size_t n)
{
    double mean = 0, first = n > 0 ? x[0] : 0;
    for (size_t i = 0; i < n; i++)
        mean += (x[i] - first) / (double)n;
    return first + mean;
}

/* Number, mean and variance of the products (x - its mean) * total, which is centred, or of x
 * itself if `total` is NULL. Their sum over n - 1 is a covariance, so the products are scaled to
 * have it as their mean. */
static struct pythia_summary summarise_products(const double *x, const double *total, size_t n,
                                                double independent)
{
    double centre = mean_of_column(x, n), scale = total && n > 1 ? (double)n / (double)(n - 1) : 1;
    double mean = total ? 0 : centre, squares = 0;
    for (size_t i = 0; i < n && total; i++)
        mean += scale * (x[i] - centre) * total[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = (total ? scale * (x[i] - centre) * total[i] : x[i]) - mean;
        squares += d * d;
    }
    return (struct pythia_summary){
        .n = independent,
        .mean = mean,
        .variance = independent > 1 ? squares / (independent - 1) : NAN,
    };
}

static void centre_column(double *x, size_t n, double *mean)
{
    *mean = mean_of_column(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] -= *mean;
}

/* ---- both sides ---- */

static void test_edge_change(const struct work *w, const struct pythia_summary sides[2],
                             bool enough, struct pythia_certain *out)
{
    pythia_two_samples_cautious(&sides[0], &sides[1], 1 - w->c->options->alpha, &out->clipped);
    if (!enough)
        out->clipped.p = NAN;
    out->q = NAN;
}

static void counts_of(struct work *w, size_t e, struct pythia_compared_edge *out)
{
    double visits[2] = {0, 0}, times[2] = {0, 0};
    for (size_t s = 0; s < 2; s++) {
        const struct rows *r = &w->sides[s];
        for (size_t k = r->first[e]; k < r->first[e + 1]; k++) {
            visits[s] += r->entries[k].visits;
            times[s] += r->entries[k].time;
        }
        visits[s] /= (double)r->n;
        times[s] /= (double)r->n;
    }
    out->requests_before = w->sides[0].first[e + 1] - w->sides[0].first[e];
    out->requests_after = w->sides[1].first[e + 1] - w->sides[1].first[e];
    out->visits = pythia__change(visits[0], visits[1]);
    out->mean = pythia__change(times[0], times[1]);
    /* With v visits of t each, v' t' - v t = (v' - v) (t + t') / 2 + (t' - t) (v + v') / 2.
     * Kitagawa, "Components of a Difference Between Two Rates", JASA 50(272), 1955. */
    out->often = out->mean.change;
    if (visits[0] > 0 && visits[1] > 0)
        out->often = out->visits.change * (times[0] / visits[0] + times[1] / visits[1]) / 2;
    out->longer = out->mean.change - out->often;
}

/* Everything that needs no clipped durations; adds the clipped times to them. */
static void first_pass(struct work *w, size_t e, struct pythia_compared_edge *out)
{
    double covariance[2];
    out->edge = w->numbers[e];
    counts_of(w, e, out);
    for (size_t s = 0; s < 2; s++) {
        struct rows *r = &w->sides[s];
        spread_edge_times(r, e);
        covariance[s] = summarise_products(r->column, r->total, r->n, (double)r->n).mean;
        clip_column(w, r);
        for (size_t i = 0; i < r->n; i++)
            r->clipped[i] += r->column[i];
    }
    out->variance = pythia__change(covariance[0], covariance[1]);
}

static void second_pass(struct work *w, size_t e, struct pythia_compared_edge *out)
{
    struct pythia_summary means[2], products[2];
    bool enough = out->requests_before + out->requests_after >= PASSED_MIN;
    for (size_t s = 0; s < 2; s++) {
        struct rows *r = &w->sides[s];
        spread_edge_times(r, e);
        double independent = clip_column(w, r);
        means[s] = summarise_products(r->column, NULL, r->n, independent);
        products[s] = summarise_products(r->column, r->clipped, r->n, independent);
    }
    out->clipped_before = means[0].mean;
    out->clipped_after = means[1].mean;
    test_edge_change(w, means, enough, &out->mean_test);
    test_edge_change(w, products, enough, &out->variance_test);
    double raw = out->mean.change, clipped = out->mean_test.clipped.change;
    out->outlier_driven = fabs(raw - clipped) > fmax(fabs(raw), fabs(clipped)) / 2;
    out->score = out->mean_test.clipped.low * w->t->weight;
}

/* The durations, as the sums of what the edges have. */
static void type_as_a_whole(struct work *w)
{
    struct pythia_compared_type *t = w->t;
    struct pythia_summary means[2], products[2];
    double variance[2];
    for (size_t s = 0; s < 2; s++) {
        struct rows *r = &w->sides[s];
        products[s] = summarise_products(r->clipped, r->clipped, r->n, (double)r->n);
        means[s] = summarise_products(r->clipped, NULL, r->n, (double)r->n);
        means[s].mean += r->clipped_mean;
        variance[s] = summarise_products(r->total, r->total, r->n, (double)r->n).mean;
    }
    t->sample_mean = pythia__change(w->sides[0].total_mean, w->sides[1].total_mean);
    t->sample_variance = pythia__change(variance[0], variance[1]);
    test_edge_change(w, means, true, &t->mean_test);
    test_edge_change(w, products, true, &t->variance_test);
}

static int compare_all_edges(struct work *w)
{
    if (find_common_edges(w) != PYTHIA_OK || sort_edges_by_name(w) != PYTHIA_OK ||
        fill_entries(w, 0) != PYTHIA_OK || fill_entries(w, 1) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia_compared_edge *out = pythia_calloc(w->edges, sizeof(*out));
    if (!out)
        return PYTHIA_ENOMEM;
    /* Two passes: the covariance of an edge with the clipped total needs the total of all
     * clipped edges, which is complete only after the first pass. */
    for (size_t s = 0; s < 2; s++)
        centre_column(w->sides[s].total, w->sides[s].n, &w->sides[s].total_mean);
    for (size_t e = 0; e < w->edges; e++)
        first_pass(w, e, &out[e]);
    for (size_t s = 0; s < 2; s++)
        centre_column(w->sides[s].clipped, w->sides[s].n, &w->sides[s].clipped_mean);
    for (size_t e = 0; e < w->edges; e++)
        second_pass(w, e, &out[e]);
    type_as_a_whole(w);
    w->t->edges = out;
    w->t->edge_count = w->edges;
    return PYTHIA_OK;
}

int pythia__compare_edges(struct pythia__compare *c, struct pythia_compared_type *t)
{
    struct work w = {.c = c, .t = t};
    const struct pythia_type *types[2] = {t->before, t->after};
    size_t fewest = SIZE_MAX;
    for (size_t s = 0; s < 2; s++) {
        w.sides[s].type = types[s];
        w.sides[s].n = pythia_type_rows(types[s]);
        fewest = w.sides[s].n < fewest ? w.sides[s].n : fewest;
    }
    /* One value is clipped at least; the same part of the larger side, or a rare edge would seem to
     * change where only the sizes differ. */
    w.clip_top = fmin(fmax(CLIP, 1 / (double)fewest), .49);
    t->sampled_before = w.sides[0].n;
    t->sampled_after = w.sides[1].n;
    int status = compare_all_edges(&w);
    for (size_t s = 0; s < 2; s++) {
        pythia_free(w.sides[s].first);
        pythia_free(w.sides[s].entries);
        pythia_free(w.sides[s].total);
    }
    pythia_free(w.numbers);
    pythia_free(w.indexes);
    return status;
}
