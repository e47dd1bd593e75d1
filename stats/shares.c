/* Clipping needs the m-th highest value of each part. m is small, half a per cent of a sample, so one
 * pass that keeps the m + 1 highest beats every selection that moves or copies the row; for the rare
 * large m the value is found by halving the range it can be in, over the bit patterns of doubles,
 * which takes at most 64 passes whatever the data is. Neither needs memory.
 *
 * Means are removed from the parts before these are summed, never from the total: with a mean of
 * minutes and a spread of microseconds the total would otherwise keep too few digits for the shares
 * to add up to 1. Sums run in four lanes, which is faster and rounds less than one chain. */
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

static struct clip clip_of(size_t n, double clip_top, double clip_bottom)
{
    struct clip c = {(size_t)(clip_top * (double)n), (size_t)(clip_bottom * (double)n)};
    if (c.top == 0 && clip_top > 0 && n > 1)
        c.top = 1;
    return c;
}

/* Put `value` among the `size` highest, which are in falling order, and drop the last of them. */
static double keep(double *highest, size_t size, double value)
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
            high = keep(highest, c.top + 1, row[i]);
        if (-row[i] > low) /* the lowest are the highest of the negated row */
            low = keep(lowest, c.bottom + 1, -row[i]);
    }
    return (struct range){-low, high};
}

/* Whole numbers in the order of the doubles they stand for, and back. */
static uint64_t order_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t order)
{
    uint64_t bits = order >> 63 ? order ^ UINT64_C(1) << 63 : ~order;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The value with `rank` others before it in rising order; it lies in `within`. */
static double value_at(const double *row, size_t n, size_t rank, struct range within)
{
    uint64_t low = order_of(within.low), high = order_of(within.high);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        double pivot = value_of(middle);
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += row[i] <= pivot;
        if (count > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(low);
}

/* What the row is clipped to. */
static struct range clip_range(const double *row, size_t n, struct clip c)
{
    if (c.top < KEPT_MAX && c.bottom < KEPT_MAX)
        return range_by_keeping(row, n, c);
    struct range all = range_by_keeping(row, n, (struct clip){0, 0});
    return (struct range){value_at(row, n, c.bottom, all), value_at(row, n, n - 1 - c.top, all)};
}

static double clipped(double value, struct range r)
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
        double v = clipped(row[i], r);
        changed += v != row[i];
        row[i] = v;
    }
    return changed;
}

static double dot(const double *a, const double *b, size_t n)
{
    double s[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t lane = 0; lane < 4; lane++)
            s[lane] += a[i + lane] * b[i + lane];
    for (; i < n; i++)
        s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static double sum(const double *a, size_t n)
{
    double s[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t lane = 0; lane < 4; lane++)
            s[lane] += a[i + lane];
    for (; i < n; i++)
        s[0] += a[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Sum of (weight * residual)^2 of the line through the two centred rows. */
static double residual_squares(const double *part, const double *total, const double *weights,
                               double slope, size_t n)
{
    double s[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t lane = 0; lane < 4; lane++) {
            double r = weights[i + lane] * (part[i + lane] - slope * total[i + lane]);
            s[lane] += r * r;
        }
    for (; i < n; i++) {
        double r = weights[i] * (part[i] - slope * total[i]);
        s[0] += r * r;
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* What one observation's residual counts in the slope's HC3 error: its deviation from the mean total,
 * by the sum of all squared ones and by 1 - leverage. An observation that makes the slope alone has a
 * residual of 0 whatever the truth is, so that there is no error to be known. */
static double hc3_weight(double deviation, double squares, double n)
{
    double rest = 1 - 1 / n - deviation * deviation / squares;
    return rest > 1e-10 ? deviation / (squares * rest) : NAN;
}

/* Half the width of an interval of `level` in standard errors. */
static double student_width(double level, size_t n)
{
    return n > 2 && level > 0 && level < 1 ? gsl_cdf_tdist_Qinv((1 - level) / 2, (double)n - 2)
                                           : NAN;
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
    for (size_t i = 0; i < n; i++) {
        double d = total[i] - total[0] - total_mean;
        double r = hc3_weight(d, squares, (double)n) * (part[i] - part[0] - part_mean - slope * d);
        errors += r * r;
    }
    double se = n > 2 ? sqrt(errors) : NAN, width = student_width(level, n) * se;
    *out = (struct pythia_slope){slope, se, slope - width, slope + width};
}

/* The memory of one call, cut from one block. */
struct work {
    size_t n;
    double *total, *raw_total; /* n: sums of the centred parts, clipped and as they came */
    double *weights;           /* n: see hc3_weight */
    double *part;              /* n: the part at hand, centred */
    struct range *ranges;      /* k: what each part is clipped to */
    double squares, raw_squares;
};

/* The row from its mean into w->part, clipped to r; returns the mean. */
static double centre(struct work *w, const double *row, struct range r)
{
    for (size_t i = 0; i < w->n; i++)
        w->part[i] = clipped(row[i], r) - r.low;
    double mean = sum(w->part, w->n) / (double)w->n;
    for (size_t i = 0; i < w->n; i++)
        w->part[i] -= mean;
    return r.low + mean;
}

/* The same of the row as it came. */
static double centre_raw(struct work *w, const double *row)
{
    double first = w->n > 0 ? row[0] : NAN;
    for (size_t i = 0; i < w->n; i++)
        w->part[i] = row[i] - first;
    double mean = sum(w->part, w->n) / (double)w->n;
    for (size_t i = 0; i < w->n; i++)
        w->part[i] -= mean;
    return first + mean;
}

/* Returns the sum of squares of the part. */
static double add_to(double *total, const double *part, size_t n)
{
    for (size_t i = 0; i < n; i++)
        total[i] += part[i];
    return dot(part, part, n);
}

/* Remove what rounding has left of the mean. Returns the sum of squares, or 0 where it is so small
 * beside that of all parts that they only make up for each other and rounding is what is left. */
static double centre_total(double *total, size_t n, double squares_of_parts)
{
    double mean = sum(total, n) / (double)n;
    for (size_t i = 0; i < n; i++)
        total[i] -= mean;
    double squares = dot(total, total, n);
    return squares <= 1e-24 * squares_of_parts ? 0 : squares;
}

static void sum_parts(struct work *w, const double *x, size_t k, struct clip c)
{
    double of_parts = 0, of_raw_parts = 0;
    for (size_t e = 0; e < k; e++) {
        const double *row = x + e * w->n;
        w->ranges[e] = clip_range(row, w->n, c);
        centre(w, row, w->ranges[e]);
        of_parts += add_to(w->total, w->part, w->n);
        centre_raw(w, row);
        of_raw_parts += add_to(w->raw_total, w->part, w->n);
    }
    w->squares = centre_total(w->total, w->n, of_parts);
    w->raw_squares = centre_total(w->raw_total, w->n, of_raw_parts);
    for (size_t i = 0; i < w->n; i++)
        w->weights[i] = hc3_weight(w->total[i], w->squares, (double)w->n);
}

static void share_of(struct work *w, const double *row, struct range r, double width,
                     struct pythia_share *out)
{
    size_t n = w->n, outliers = 0;
    double mean = centre_raw(w, row);
    double sd = n > 1 ? sqrt(dot(w->part, w->part, n) / (double)(n - 1)) : NAN;
    double raw = w->raw_squares != 0 ? dot(w->part, w->raw_total, n) / w->raw_squares : NAN;
    for (size_t i = 0; i < n; i++)
        outliers += row[i] > r.high || row[i] < r.low;
    centre(w, row, r);
    double share = w->squares != 0 ? dot(w->part, w->total, n) / w->squares : NAN;
    double se = n > 2 ? sqrt(residual_squares(w->part, w->total, w->weights, share, n)) : NAN;
    *out = (struct pythia_share){
        .mean = mean,
        .sd = sd,
        .cov = mean != 0 ? sd / fabs(mean) : NAN,
        .raw_share = raw,
        .share = share,
        .se = se,
        .low = share - width * se,
        .high = share + width * se,
        .outliers = outliers,
        .outlier_driven = fabs(raw - (isnan(share) ? 0 : share)) > .2,
    };
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
    double *block = pythia_calloc(4 * n + 2 * k, sizeof(*block));
    if (!block)
        return PYTHIA_ENOMEM;
    struct work w = {.n = n,
                     .total = block,
                     .raw_total = block + n,
                     .weights = block + 2 * n,
                     .part = block + 3 * n,
                     .ranges = (struct range *)(void *)(block + 4 * n)};
    sum_parts(&w, x, k, clip_of(n, o->clip_top, o->clip_bottom));
    double width = student_width(o->level, n);
    for (size_t e = 0; e < k; e++)
        share_of(&w, x + e * n, w.ranges[e], width, &out[e]);
    pythia_free(block);
    return PYTHIA_OK;
}

/* Mean of the row over the observations whose total is at least (or, for low ones, at most) `bound`,
 * counted from the row's first value. */
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
    double *total = pythia_calloc(2 * n, sizeof(*total)), *sorted = total + n;
    if (!total)
        return PYTHIA_ENOMEM;
    for (size_t e = 0; e < k; e++)
        for (size_t i = 0; i < n; i++)
            total[i] += x[e * n + i] - x[e * n];
    memcpy(sorted, total, n * sizeof(*sorted));
    pythia_ranks_sort(sorted, n);
    double above = pythia_ranks_quantile(sorted, n, q_high);
    double below = pythia_ranks_quantile(sorted, n, q_low);
    double difference = n > 0 ? mean_where(total, total, n, above, true) -
                                    mean_where(total, total, n, below, false)
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
