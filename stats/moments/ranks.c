#include "pythia/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "samples.h"

/* A value and where it was before sorting. */
struct placed {
    double value;
    size_t index;
};

static int compare_ranked_values(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int by_value = compare_ranked_values(&x->value, &y->value);
    return by_value ? by_value : (x->index > y->index) - (x->index < y->index);
}

void pythia_ranks_sort(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof(*x), compare_ranked_values);
}

double pythia_ranks_quantile(const double *sorted, size_t n, double q)
{
    if (n == 0 || !(q >= 0 && q <= 1))
        return NAN;
    if (isnan(sorted[n - 1]))
        return NAN;
    double place = (double)(n - 1) * q, below = floor(place);
    size_t i = (size_t)below;
    if (place == below)
        return sorted[i];
    return sorted[i] + (place - below) * (sorted[i + 1] - sorted[i]);
}

double pythia_ranks_percentile(const double *sorted, size_t n, unsigned percent)
{
    if (n == 0 || percent == 0 || percent > 100 || isnan(sorted[n - 1]))
        return NAN;
    size_t whole = n / 100 * percent, part = (n % 100 * percent + 99) / 100; /* no overflow */
    return sorted[whole + part - 1];
}

int pythia_ranks_order(const double *x, size_t n, size_t *order)
{
    struct placed *placed = pythia_calloc(n, sizeof(*placed));
    if (!placed)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        placed[i] = (struct placed){x[i], i};
    if (n > 1)
        qsort(placed, n, sizeof(*placed), compare_placed);
    for (size_t i = 0; i < n; i++)
        order[i] = placed[i].index;
    pythia_free(placed);
    return PYTHIA_OK;
}

int pythia_ranks_mid(const double *x, size_t n, double *ranks)
{
    size_t *order = pythia_calloc(n, sizeof(*order));
    int status = order ? pythia_ranks_order(x, n, order) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t first = 0, end; first < n; first = end) {
        double value = x[order[first]];
        for (end = first + 1; end < n && x[order[end]] == value;)
            end++;
        for (size_t i = first; i < end; i++)
            ranks[order[i]] = isnan(value) ? NAN : (double)(first + end + 1) / 2;
    }
out:
    pythia_free(order);
    return status;
}

double pythia_ranks_pearson(const double *x, const double *y, size_t n)
{
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) { /* from the first value on: means may be huge */
        mean_x += (x[i] - x[0]) / (double)n;
        mean_y += (y[i] - y[0]) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - x[0] - mean_x, dy = y[i] - y[0] - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    if (n < 2 || xx == 0 || yy == 0)
        return NAN;
    double r = xy / (sqrt(xx) * sqrt(yy));
    return r > 1 ? 1 : r < -1 ? -1 : r; /* rounding may step over */
}
