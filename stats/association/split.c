#include "pythia/split.h"

#include <math.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* The rows in an order in which one cut parts them. Rows of one key stay together. */
struct line {
    size_t count;
    double *keys;      /* ascending: numbers, or the places of levels in the order of their means */
    double *responses; /* beside them */
};

static double sum_responses(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* The cut that leaves the most between the groups, as the number of rows below it; 0: there is
 * none. With a response centred, what lies between is s^2 / k + s^2 / (n - k), s the sum of the k
 * rows below. */
static size_t find_best_cut(const struct line *l, struct pythia_split *s)
{
    double n = (double)l->count, mean = sum_responses(l->responses, l->count) / n, total = 0,
           below = 0, most = 0;
    size_t best = 0;
    for (size_t i = 0; i < l->count; i++)
        total += (l->responses[i] - mean) * (l->responses[i] - mean);
    for (size_t i = 0; i + 1 < l->count; i++) {
        double k = (double)(i + 1);
        below += l->responses[i] - mean;
        /* Not between equal keys, and not where one side is a handful of rows. */
        if (l->keys[i] == l->keys[i + 1] || i + 1 < PYTHIA_SPLIT_ROWS_MIN ||
            l->count - i - 1 < PYTHIA_SPLIT_ROWS_MIN)
            continue;
        double between = below * below * (1 / k + 1 / (n - k));
        if (best == 0 || between > most) {
            best = i + 1;
            most = between;
        }
    }
    if (best == 0 || !(total > 0))
        return 0;
    double first = sum_responses(l->responses, best) / (double)best;
    double second = sum_responses(l->responses + best, l->count - best) / (double)(l->count - best);
    s->share = most / total;
    s->above = second >= first;
    s->low_rows = s->above ? best : l->count - best;
    s->high_rows = l->count - s->low_rows;
    s->low_mean = fmin(first, second);
    s->high_mean = fmax(first, second);
    return best;
}

/* Put the rows of `keys` that are not NaN in order. */
static int line_up(const double *keys, const double *response, size_t n, struct line *l)
{
    size_t *order = pythia_calloc(n, sizeof(*order));
    l->keys = pythia_calloc(n, 2 * sizeof(*l->keys));
    int status = order && l->keys ? pythia_ranks_order(keys, n, order) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    l->responses = l->keys + n;
    while (l->count < n && !isnan(keys[order[l->count]])) {
        l->keys[l->count] = keys[order[l->count]];
        l->responses[l->count] = response[order[l->count]];
        l->count++;
    }
out:
    pythia_free(order);
    return status;
}

static int split_by_keys(const double *keys, const double *response, size_t n,
                         struct pythia_split *s)
{
    struct line l = {0};
    int status = line_up(keys, response, n, &l);
    if (status != PYTHIA_OK)
        goto out;
    size_t below = find_best_cut(&l, s);
    if (below > 0)
        s->cut = l.keys[below - 1] + (l.keys[below] - l.keys[below - 1]) / 2;
out:
    pythia_free(l.keys);
    return status;
}

/* Levels in the order of their mean responses, then as numbers: the slow group is what lies above
 * the cut. */
static int split_levels(const struct pythia_column *c, const double *response, size_t n,
                        struct pythia_split *s)
{
    size_t levels = c->level_count;
    double *means = pythia_calloc(levels + 1, 3 * sizeof(*means)),
           *keys = pythia_calloc(n, sizeof(*keys));
    size_t *order = pythia_calloc(levels + 1, sizeof(*order));
    int status = means && keys && order ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    double *counts = means + levels + 1, *places = counts + levels + 1;
    for (size_t i = 0; i < n; i++)
        if (c->levels[i] < c->level_count) {
            means[c->levels[i]] += response[i];
            counts[c->levels[i]]++;
        }
    for (size_t k = 0; k < levels; k++)
        /* A level without rows has no place in the order. */
        means[k] = counts[k] > 0 ? means[k] / counts[k] : NAN;
    status = pythia_ranks_order(means, levels, order);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t k = 0; k < levels; k++)
        places[order[k]] = (double)k;
    for (size_t i = 0; i < n; i++)
        keys[i] = c->levels[i] < c->level_count ? places[c->levels[i]] : NAN;
    status = split_by_keys(keys, response, n, s);
    if (status != PYTHIA_OK || isnan(s->share))
        goto out;
    s->levels = pythia_calloc(levels, sizeof(*s->levels));
    if (!s->levels) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    for (uint32_t k = 0; k < c->level_count; k++)
        if (counts[k] > 0 && places[k] > s->cut)
            s->levels[s->level_count++] = k;
out:
    /* The cut was a place in the order of levels, which means nothing outside. */
    s->cut = NAN;
    pythia_free(order);
    pythia_free(keys);
    pythia_free(means);
    return status;
}

static bool is_present(const struct pythia_column *c, size_t row)
{
    return c->categorical ? c->levels[row] < c->level_count : isfinite(c->numbers[row]);
}

/* Whether all rows with a value have the same. */
static bool is_constant(const struct pythia_column *c, size_t n)
{
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        if (!is_present(c, i))
            continue;
        if (first == n)
            first = i;
        if (c->categorical ? c->levels[i] != c->levels[first] : c->numbers[i] != c->numbers[first])
            return false;
    }
    return true;
}

/* A number, or whether there is one, as what the rows are ordered by. */
static int split_numbers(const struct pythia_column *c, const double *response, size_t n,
                         struct pythia_split *s)
{
    double *keys = pythia_calloc(n, sizeof(*keys));
    if (!keys)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        bool present = is_present(c, i);
        keys[i] = s->by_absence ? !present : present ? c->numbers[i] : NAN;
    }
    int status = split_by_keys(keys, response, n, s);
    if (s->by_absence)
        s->cut = NAN;
    pythia_free(keys);
    return status;
}

int pythia_split_find(const struct pythia_column *column, const double *response, size_t n,
                      struct pythia_split *out)
{
    struct pythia_split s = {.share = NAN, .cut = NAN, .low_mean = NAN, .high_mean = NAN};
    s.by_absence = is_constant(column, n);
    int status = column->categorical && !s.by_absence ? split_levels(column, response, n, &s)
                                                      : split_numbers(column, response, n, &s);
    if (status != PYTHIA_OK)
        return status;
    *out = s;
    return PYTHIA_OK;
}

int pythia_split_side(const struct pythia_split *split, const struct pythia_column *column,
                      size_t row)
{
    bool present = is_present(column, row);
    if (isnan(split->share) || (!present && !split->by_absence))
        return -1;
    if (split->by_absence)
        return present ? !split->above : split->above;
    if (!column->categorical)
        return column->numbers[row] > split->cut ? split->above : !split->above;
    return pythia_sorted_find(split->level_count, pythia_sorted_compare_number, split->levels,
                              &column->levels[row]) != PYTHIA_SORTED_NONE;
}

void pythia_split_clear(struct pythia_split *split)
{
    pythia_free(split->levels);
    *split = (struct pythia_split){0};
}
