/* Clipping needs the m-th highest value of each part. m is small, half a per cent of a sample, so
 * one pass that keeps the m + 1 highest beats every selection that moves or copies the row; for the
 * rare large m the value is found by halving the range it can be in, over the bit patterns of
 * doubles, which takes at most 64 passes whatever the data is. Neither needs memory.
 *
 * Parts are counted from one of their own values before they are summed: with a mean of minutes and
 * a spread of microseconds the total would otherwise keep too few digits for the shares to add up
 * to 1. */
#include "pythia/shares.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

enum { KEPT_MAX = 32 };

struct clip {
    size_t top, bottom; /* values to clip at each end of a row */
};

struct range {
    double low, high;
};

/* Rounded to the nearest for the top: of 300 values 2 are clipped, because with 1 a second spike in
 * the same edge, which happens once in a while, still decides the ranking. */
static struct clip clip_of(size_t n, double clip_top, double clip_bottom)
{
    struct clip c = {(size_t)(clip_top * (double)n + .5), (size_t)(clip_bottom * (double)n)};
    if (c.top == 0 && clip_top > 0 && n > 1)
        c.top = 1;
    return c;
}

/* Put `value` among the `size` highest, which are in falling order, and drop the last of them. */
static double insert_highest(double *highest, size_t size, double value)
{
    size_t i = size - 1;
    for (; i > 0 && highest[i - 1] < value; i--)
        highest[i] = highest[i - 1];
    highest[i] = value;
    return highest[size - 1];
}

static struct range range_by_keeping(const double *row, size_t n, struct clip c)
{
    double highest[KEPT_MAX], lowest[KEPT_MAX], high = -INFINITY, low = -INFINITY;
    for (size_t i = 0; i < KEPT_MAX; i++)
        highest[i] = lowest[i] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (row[i] > high)
            high = insert_highest(highest, c.top + 1, row[i]);
        if (-row[i] > low) /* the lowest are the highest of the negated row */
            low = insert_highest(lowest, c.bottom + 1, -row[i]);
    }
    return (struct range){-low, high};
}

/* Whole numbers in the order of the doubles they stand for, and back. */
static uint64_t ordered_bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of_order(uint64_t order)
{
    uint64_t bits = order >> 63 ? order ^ UINT64_C(1) << 63 : ~order;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The value with `rank` others before it in rising order; it lies in `within`. */
static double value_at_rank(const double *row, size_t n, size_t rank, struct range within)
{
    uint64_t low = ordered_bits_of(within.low), high = ordered_bits_of(within.high);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        double pivot = value_of_order(middle);
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += row[i] <= pivot;
        if (count > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of_order(low);
}

/* The range that a row is clipped to. */
static struct range clip_range(const double *row, size_t n, struct clip c)
{
    if (c.top < KEPT_MAX && c.bottom < KEPT_MAX)
        return range_by_keeping(row, n, c);
    struct range all = range_by_keeping(row, n, (struct clip){0, 0});
    return (struct range){value_at_rank(row, n, c.bottom, all),
                          value_at_rank(row, n, n - 1 - c.top, all)};
}

static double clip_to_range(double value, struct range r)
{
    double v = value > r.high ? r.high : value;
    return v < r.low ? r.low : v;
}

size_t pythia_winsorise(double *row, size_t n, double clip_top, double clip_bottom)
{
    assert(clip_top >= 0 && clip_top < .5 && clip_bottom >= 0 && clip_bottom < .5);
    struct range r = clip_range(row, n, clip_of(n, clip_top, clip_bottom));
    size_t changed = 0;
    for (size_t i = 0; i < n; i++) {
        double v = clip_to_range(row[i], r);
        changed += v != row[i];
        row[i] = v;
    }
    return changed;
}

/* 1 - leverage of an observation whose total is `unit` roots of the sum of squares away from the
 * mean. One that makes the slope alone has a residual of 0, whatever the truth is: NaN. */
static double rest_of(double unit, double n)
{
    double rest = 1 - 1 / n - unit * unit;
    return rest > 1e-10 ? rest : NAN;
}

/* Of how many residuals does the error of the slope consist? HC3 is a sum of squared residuals with
 * the weights a = (unit / rest)^2, that is a quadratic form of the errors with the matrix B, its
 * elements B_ij = sqrt(a_i a_j) (delta_ij - 1/n - unit_i unit_j). The degrees of freedom of the chi
 * squared law with its mean and variance are trace(B)^2 / trace(B^2): n - 2 if all weights are
 * equal, and 1, however large n is, if two observations carry all of the spread. Bell and
 * McCaffrey, "Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples",
 * Survey Methodology 28(2), 2002. */
struct freedom {
    double trace, diagonal, a, a_unit, a_square; /* the sums that the two traces are made of */
};

static void freedom_add(struct freedom *f, double unit, double n)
{
    double rest = rest_of(unit, n), a = unit * unit / (rest * rest);
    f->trace += a * rest;
    f->diagonal += a * a * (2 * rest - 1); /* B_ii^2 less what the last three sums have of it */
    f->a += a;
    f->a_unit += a * unit;
    f->a_square += a * unit * unit;
}

static double freedom_of(const struct freedom *f, double n)
{
    return f->trace * f->trace /
           (f->diagonal + f->a * f->a / (n * n) + 2 * f->a_unit * f->a_unit / n +
            f->a_square * f->a_square);
}

/* Half the width of an interval of `level` in standard errors. */
static double student_width(const struct freedom *f, double level, size_t n)
{
    double df = freedom_of(f, (double)n);
    bool defined = n > 2 && df > 0 && level > 0 && level < 1;
    return defined ? gsl_cdf_tdist_Qinv((1 - level) / 2, df) : NAN;
}

void pythia_slope_hc3(const double *part, const double *total, size_t n, double level,
                      struct pythia_slope *out)
{
    double part_mean = 0, total_mean = 0, squares = 0, products = 0, errors = 0;
    for (size_t i = 0; i < n; i++) { /* from the first value on: means may be huge */
        part_mean += (part[i] - part[0]) / (double)n;
        total_mean += (total[i] - total[0]) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double d = total[i] - total[0] - total_mean;
        squares += d * d;
        products += d * (part[i] - part[0] - part_mean);
    }
    /* A spread below the rounding of the totals themselves is no spread. */
    double rounding = n > 0 ? 4 * DBL_EPSILON * fabs(total[0]) : 0;
    bool varies = !(squares <= (double)n * rounding * rounding);
    double slope = n > 1 && varies ? products / squares : NAN;
    struct freedom f = {0};
    for (size_t i = 0; i < n; i++) {
        double d = total[i] - total[0] - total_mean, unit = d / sqrt(squares);
        double r = unit / rest_of(unit, (double)n) * (part[i] - part[0] - part_mean - slope * d);
        freedom_add(&f, unit, (double)n);
        errors += r * r;
    }
    double se = n > 2 ? sqrt(errors / squares) : NAN, width = student_width(&f, level, n) * se;
    *out = (struct pythia_slope){slope, se, slope - width, slope + width};
}

struct part {
    struct range range;    /* what it is clipped to; its values are counted from range.low on */
    double mean, raw_mean; /* so counted */
};

/* The memory of one call. */
struct work {
    size_t n;
    double *total, *raw_total;   /* n: sums of the parts, clipped and as they came, later centred */
    double *weights;             /* n: of the residuals in the standard error */
    struct part *parts;          /* k */
    double squares, raw_squares; /* of the centred totals, summed */
    struct freedom freedom;
};

/* Add a part to the total of clipped ones alone; as add_part. */
static void add_clipped(struct work *w, const double *row, struct part *p, double *squares)
{
    struct range r = p->range;
    double values = 0, of_values = 0;
    for (size_t i = 0; i < w->n; i++) {
        double v = clip_to_range(row[i], r) - r.low;
        w->total[i] += v;
        values += v;
        of_values += v * v;
    }
    *squares += of_values;
    p->mean = values / (double)w->n;
}

/* Add a part to the totals, and its squares, not centred, to those of the parts before it. */
static void add_part_totals(struct work *w, const double *row, struct part *p, double *squares,
                            double *raw_squares)
{
    struct range r = p->range;
    double values = 0, raw_values = 0, of_values = 0, of_raw_values = 0;
    for (size_t i = 0; i < w->n; i++) {
        double v = clip_to_range(row[i], r) - r.low, raw = row[i] - r.low;
        w->total[i] += v;
        w->raw_total[i] += raw;
        values += v;
        raw_values += raw;
        of_values += v * v;
        of_raw_values += raw * raw;
    }
    *squares += of_values;
    *raw_squares += of_raw_values;
    p->mean = values / (double)w->n;
    p->raw_mean = raw_values / (double)w->n;
}

/* Remove the mean. Returns the sum of squares, or 0 where it is so small beside that of all parts
 * that they only make up for each other, and rounding is all that is left. */
static double centre_total(double *total, size_t n, double squares_of_parts)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += total[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        total[i] -= mean;
        squares += total[i] * total[i];
    }
    return squares <= 1e-24 * squares_of_parts ? 0 : squares;
}

static void sum_parts(struct work *w, const double *x, size_t k, struct clip c, bool brief)
{
    double squares = 0, raw_squares = 0;
    for (size_t e = 0; e < k; e++) {
        const double *row = x + e * w->n;
        w->parts[e].range = clip_range(row, w->n, c);
        if (brief)
            add_clipped(w, row, &w->parts[e], &squares);
        else
            add_part_totals(w, row, &w->parts[e], &squares, &raw_squares);
    }
    w->squares = centre_total(w->total, w->n, squares);
    if (!brief)
        w->raw_squares = centre_total(w->raw_total, w->n, raw_squares);
    /* The weights and degrees of freedom of HC3 depend on the total alone. They are computed
     * once for all parts, which makes the error of a share one more pass over its row. */
    for (size_t i = 0; i < w->n; i++) {
        double unit = w->total[i] / sqrt(w->squares);
        w->weights[i] = unit / rest_of(unit, (double)w->n);
        freedom_add(&w->freedom, unit, (double)w->n);
    }
}

/* HC3: the sum of (weight * residual)^2 by that of the squared totals is the error squared. */
static double standard_error(const struct work *w, const double *row, const struct part *p,
                             double slope)
{
    double squares = 0;
    for (size_t i = 0; i < w->n; i++) {
        double v = clip_to_range(row[i], p->range) - p->range.low - p->mean;
        double r = w->weights[i] * (v - slope * w->total[i]);
        squares += r * r;
    }
    return w->n > 2 ? sqrt(squares / w->squares) : NAN;
}

static void estimate_share(const struct work *w, const double *row, const struct part *p,
                           double width, struct pythia_share *out)
{
    struct range r = p->range;
    double products = 0, raw_products = 0, raw_squares = 0;
    size_t n = w->n, outliers = 0;
    for (size_t i = 0; i < n; i++) {
        /* Subtract the lower bound first: durations around a large mean would cancel in the
         * products. */
        double v = clip_to_range(row[i], r) - r.low - p->mean, raw = row[i] - r.low - p->raw_mean;
        products += v * w->total[i];
        raw_products += raw * w->raw_total[i];
        raw_squares += raw * raw;
        outliers += row[i] > r.high || row[i] < r.low;
    }
    double mean = r.low + p->raw_mean, sd = n > 1 ? sqrt(raw_squares / (double)(n - 1)) : NAN;
    double raw_share = w->raw_squares != 0 ? raw_products / w->raw_squares : NAN;
    double share = w->squares != 0 ? products / w->squares : NAN;
    double se = standard_error(w, row, p, share);
    *out = (struct pythia_share){
        .mean = mean,
        .sd = sd,
        .cov = mean != 0 ? sd / fabs(mean) : NAN,
        .raw_share = raw_share,
        .share = share,
        .se = se,
        .low = share - width * se,
        .high = share + width * se,
        .outliers = outliers,
        .clip_low = r.low,
        .clip_high = r.high,
        /* Clipping moved the share by more than a fifth: a few extreme requests make the raw
         * share. */
        .outlier_driven = fabs(raw_share - (isnan(share) ? 0 : share)) > .2,
    };
}

static void share_of_clipped(const struct work *w, const double *row, const struct part *p,
                             double width, struct pythia_share *out)
{
    struct range r = p->range;
    /* Values are taken relative to the lower end of the range, so that a large mean does not
     * cost the digits of a small spread. */
    double products = 0;
    for (size_t i = 0; i < w->n; i++)
        products += (clip_to_range(row[i], r) - r.low - p->mean) * w->total[i];
    double share = w->squares != 0 ? products / w->squares : NAN;
    double se = standard_error(w, row, p, share);
    *out = (struct pythia_share){.mean = NAN,
                                 .sd = NAN,
                                 .cov = NAN,
                                 .raw_share = NAN,
                                 .share = share,
                                 .se = se,
                                 .low = share - width * se,
                                 .high = share + width * se,
                                 .clip_low = r.low,
                                 .clip_high = r.high};
}

static bool options_in_range(const struct pythia_share_options *o)
{
    return o->clip_top >= 0 && o->clip_top < .5 && o->clip_bottom >= 0 && o->clip_bottom < .5 &&
           o->level > 0 && o->level < 1;
}

int pythia_shares(const double *x, size_t n, size_t k, const struct pythia_share_options *o,
                  struct pythia_share *out)
{
    const struct pythia_share_options standard = PYTHIA_SHARE_OPTIONS_DEFAULT;
    if (!o)
        o = &standard;
    if (!options_in_range(o))
        return PYTHIA_EINVAL;
    double *totals = pythia_calloc(n, 3 * sizeof(*totals));
    struct part *parts = pythia_calloc(k, sizeof(*parts));
    int status = totals && parts ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    struct work w = {.n = n,
                     .total = totals,
                     .raw_total = totals + n,
                     .weights = totals + 2 * n,
                     .parts = parts};
    /* The total is the sum of clipped parts, not the clipped sum, so that shares add up to
     * one. */
    sum_parts(&w, x, k, clip_of(n, o->clip_top, o->clip_bottom), o->brief);
    double width = student_width(&w.freedom, o->level, n);
    for (size_t e = 0; e < k; e++)
        (o->brief ? share_of_clipped : estimate_share)(&w, x + e * n, &parts[e], width, &out[e]);
out:
    pythia_free(parts);
    pythia_free(totals);
    return status;
}

/* Mean of the row over the observations whose total is at least (or, for low ones, at most)
 * `bound`, counted from the row's first value. */
static double mean_where(const double *row, const double *total, size_t n, double bound, bool high)
{
    double s = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        if (high ? total[i] >= bound : total[i] <= bound) {
            s += row[i] - row[0];
            count++;
        }
    }
    return s / count;
}

int pythia_tail_shares(const double *x, size_t n, size_t k, double q_high, double q_low,
                       double *out)
{
    if (!(0 <= q_low && q_low <= q_high && q_high <= 1))
        return PYTHIA_EINVAL;
    double *total = pythia_calloc(n, 2 * sizeof(*total));
    if (!total)
        return PYTHIA_ENOMEM;
    double *sorted = total + n;
    for (size_t e = 0; e < k; e++)
        for (size_t i = 0; i < n; i++)
            /* Relative to the first row, which cancels in the difference below and preserves
             * digits if durations share a large constant. */
            total[i] += x[e * n + i] - x[e * n];
    memcpy(sorted, total, n * sizeof(*sorted));
    pythia_ranks_sort(sorted, n);
    double above = pythia_ranks_quantile(sorted, n, q_high);
    double below = pythia_ranks_quantile(sorted, n, q_low);
    double difference =
        n > 0 ? mean_where(total, total, n, above, true) - mean_where(total, total, n, below, false)
              : 0;
    for (size_t e = 0; e < k; e++) {
        const double *row = x + e * n;
        out[e] = difference != 0 ? (mean_where(row, total, n, above, true) -
                                    mean_where(row, total, n, below, false)) /
                                       difference
                                 : NAN;
    }
    pythia_free(total);
    return PYTHIA_OK;
}
