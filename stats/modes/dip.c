/* The dip in O(n) for a sorted sample, after Hartigan and Hartigan (1985).
 *
 * Count in steps: value i (from 0) lifts the empirical distribution function from i, its lower
 * corner, to i + 1, its upper corner. A unimodal function is convex below its mode and concave
 * above, so the candidates are the greatest convex minorant of the lower corners and the least
 * concave majorant of the upper ones:
 *
 *        majorant  .-----o        Where the two are farthest apart, the mode is: at a vertex of
 *                .' .---'         one that lies above or below an edge of the other. What is left
 *               o--'   .'         of it must follow the minorant, what is right of it the majorant,
 *             .'     .'           and the distance of the steps to those two is paid. Then the same
 *            o.____.o  minorant   is asked of the narrower interval, until it costs less than was
 *                                 paid already.
 *
 * A vertex of a hull stays one when points are taken away at the far end. So the vertex before each
 * point on the minorant of all up to it, and the vertex after each point on the majorant of all
 * from it on, are found once; the hulls of every narrower interval are read by following those
 * links. */
#include "pythia/dip.h"

#include <assert.h>
#include <math.h>

#include "dip_table.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define ROUNDING                                                                                   \
    1e-9 /* relative, for dips that are the smallest possible but for their last digits */

struct hulls {
    const double *x;
    size_t *before, *after;      /* links: see above */
    size_t *minorant, *majorant; /* vertices of the current interval, ascending */
    size_t minorant_count, majorant_count;
};

/* Whether the way from a over b to c turns left: its slope grows. Ties make vertical ways, hence
 * the products instead of quotients. */
static int turns_left(const double *x, size_t a, size_t b, size_t c)
{
    return (double)(b - a) * (x[c] - x[b]) < (double)(c - b) * (x[b] - x[a]);
}

static int turns_right(const double *x, size_t a, size_t b, size_t c)
{
    return (double)(b - a) * (x[c] - x[b]) > (double)(c - b) * (x[b] - x[a]);
}

static void link_hulls(struct hulls *h, size_t n)
{
    h->before[0] = 0;
    for (size_t i = 1; i < n; i++) {
        size_t k = i - 1;
        /* Each index is passed over at most once, so the hull is built in linear time from
         * sorted values. */
        while (k > 0 && !turns_left(h->x, h->before[k], k, i))
            k = h->before[k];
        h->before[i] = k;
    }
    h->after[n - 1] = n - 1;
    for (size_t i = n - 1; i-- > 0;) {
        size_t k = i + 1;
        while (k < n - 1 && !turns_right(h->x, i, k, h->after[k]))
            k = h->after[k];
        h->after[i] = k;
    }
}

static void list_vertices(struct hulls *h, size_t low, size_t high)
{
    size_t count = 0;
    for (size_t i = high; i > low; i = h->before[i])
        count++;
    h->minorant_count = count + 1;
    h->minorant[0] = low;
    for (size_t i = high; i > low; i = h->before[i])
        /* The links lead down from `high`; the list is filled from its end to be ascending. */
        h->minorant[count--] = i;

    h->majorant_count = 0;
    for (size_t i = low; i < high; i = h->after[i])
        h->majorant[h->majorant_count++] = i;
    h->majorant[h->majorant_count++] = high;
}

/* The height that the straight way from point a to point b gains up to point i; none on a vertical
 * one. */
static double gain_up_to(const double *x, size_t a, size_t b, size_t i)
{
    return x[b] > x[a] ? (x[i] - x[a]) * (double)(b - a) / (x[b] - x[a]) : 0;
}

/* The widest gap between the hulls, in steps, and the interval it leaves as the place of the mode.
 * The last of equal gaps wins. Without a vertex inside, the gap is one step and the interval
 * stays. */
static double widest_gap(const struct hulls *h, size_t *low, size_t *high)
{
    double widest = 1;
    size_t g = 1, m = 1; /* the next vertex of the minorant and of the majorant */
    while (g < h->minorant_count - 1 || m < h->majorant_count - 1) {
        size_t lower = h->minorant[g], upper = h->majorant[m];
        double gap;
        size_t left, right;
        if (upper < lower) { /* a vertex of the majorant above an edge of the minorant */
            size_t a = h->minorant[g - 1];
            gap = (double)(upper - a) + 1 - gain_up_to(h->x, a, lower, upper);
            left = a;
            right = upper;
            m++;
        } else {
            size_t a = h->majorant[m - 1];
            gap = gain_up_to(h->x, a, upper, lower) + 1 - (double)(lower - a);
            left = lower;
            right = upper;
            g++;
        }
        if (gap >= widest) {
            widest = gap;
            *low = left;
            *high = right;
        }
    }
    return widest;
}

/* How far the upper corners rise above the minorant's edges up to `low`. */
static double cost_below(const struct hulls *h, size_t low)
{
    double cost = 1;
    for (size_t g = 1; g < h->minorant_count && h->minorant[g] <= low; g++) {
        size_t a = h->minorant[g - 1], b = h->minorant[g];
        if (h->x[b] == h->x[a])
            continue; /* both corners of a vertical edge are reached */
        for (size_t i = a; i <= b; i++)
            cost = fmax(cost, (double)(i - a) + 1 - gain_up_to(h->x, a, b, i));
    }
    return cost;
}

/* How far the majorant's edges from `high` on rise above the lower corners. */
static double cost_above(const struct hulls *h, size_t high)
{
    double cost = 1;
    for (size_t m = h->majorant_count; m-- > 1 && h->majorant[m - 1] >= high;) {
        size_t a = h->majorant[m - 1], b = h->majorant[m];
        if (h->x[b] == h->x[a])
            continue;
        for (size_t i = a; i <= b; i++)
            cost = fmax(cost, gain_up_to(h->x, a, b, i) + 1 - (double)(i - a));
    }
    return cost;
}

int pythia_dip_statistic(const double *sorted, size_t n, struct pythia_dip *out)
{
    assert(n > 0);
    size_t *links = pythia_calloc(n, 4 * sizeof(*links));
    if (!links)
        return PYTHIA_ENOMEM;
    struct hulls h = {.x = sorted,
                      .before = links,
                      .after = links + n,
                      .minorant = links + 2 * n,
                      .majorant = links + 3 * n};
    link_hulls(&h, n);

    double paid = 1;
    size_t low = 0, high = n - 1;
    /* Hartigan's iteration: the dip cannot be less than what was paid outside of the current
     * interval, so it ends when no gap within it is wider. */
    for (;;) {
        size_t next_low = low, next_high = high;
        list_vertices(&h, low, high);
        if (widest_gap(&h, &next_low, &next_high) < paid)
            break;
        paid = fmax(paid, fmax(cost_below(&h, next_low), cost_above(&h, next_high)));
        /* Rounding can make a gap equal to the price without shrinking the interval; without
         * this test the loop would not end. */
        if (next_low == low && next_high == high)
            break;
        low = next_low;
        high = next_high;
    }
    pythia_free(links);
    /* The nearest unimodal function runs half-way between the steps and the hulls. */
    *out = (struct pythia_dip){.dip = paid / (2 * (double)n), .low = low, .high = high};
    return PYTHIA_OK;
}

/* The quantile of sqrt(n) * dip for probability k between the table's rows `row` and `row` + 1. */
static double quantile_of_dip(size_t row, double weight, size_t k)
{
    const struct pythia__dip_row *a = &pythia__dip_table[row];
    double q = sqrt(a->n) * a->quantiles[k];
    /* The last row has no row after it; weight is 0 there. */
    if (weight > 0)
        q += weight * (sqrt(a[1].n) * a[1].quantiles[k] - q);
    return q;
}

double pythia_dip_p(double dip, size_t n)
{
    if (isnan(dip) || n < pythia__dip_table[0].n)
        return NAN;
    size_t row = 0;
    while (row + 1 < PYTHIA__DIP_SIZES && pythia__dip_table[row + 1].n <= n)
        row++;
    double root = sqrt((double)n), weight = 0;
    if (row + 1 < PYTHIA__DIP_SIZES) {
        /* Interpolate in 1 / sqrt(n): quantiles of sqrt(n) * dip approach their limit about
         * linearly in it. */
        double a = 1 / sqrt(pythia__dip_table[row].n), b = 1 / sqrt(pythia__dip_table[row + 1].n);
        weight = (a - 1 / root) / (a - b);
    }
    /* The smallest dip, 1/(2n), has a probability of its own: several quantiles are equal to it,
     * and the p value of reaching it is 1. */
    double scaled = root * dip, before = quantile_of_dip(row, weight, 0);
    if (dip <= 0.5 / (double)n * (1 + ROUNDING) || scaled <= before)
        return 1;
    for (size_t k = 1; k < PYTHIA__DIP_PROBABILITIES; k++) {
        double q = quantile_of_dip(row, weight, k);
        if (scaled <= q) {
            double low = pythia__dip_probabilities[k - 1], high = pythia__dip_probabilities[k];
            return 1 - low - (high - low) * (scaled - before) / (q - before);
        }
        before = q;
    }
    return PYTHIA_DIP_P_MIN;
}
