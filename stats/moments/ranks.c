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

static int compare_doubles(const void *a, const void *b)
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
    int by_value = compare_doubles(&x->value, &y->value);
    return by_value ? by_value : (x->index > y->index) - (x->index < y->index);
}

void pythia_ranks_sort(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof(*x), compare_doubles);
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

static double *sorted_copy(const double *x, size_t n)
{
    double *copy = pythia_calloc(n, sizeof(*copy));
    if (!copy)
        return NULL;
    if (n > 0)
        memcpy(copy, x, n * sizeof(*copy));
    pythia_ranks_sort(copy, n);
    return copy;
}

int pythia_ranks_median(const double *x, size_t n, double *out)
{
    double *sorted = sorted_copy(x, n);
    if (!sorted)
        return PYTHIA_ENOMEM;
    *out = pythia_ranks_quantile(sorted, n, .5);
    pythia_free(sorted);
    return PYTHIA_OK;
}

int pythia_ranks_mad(const double *x, size_t n, double *out)
{
    double *sorted = sorted_copy(x, n);
    if (!sorted)
        return PYTHIA_ENOMEM;
    double median = pythia_ranks_quantile(sorted, n, .5);
    for (size_t i = 0; i < n; i++)
        sorted[i] = fabs(sorted[i] - median);
    pythia_ranks_sort(sorted, n);
    *out = 1.4826 * pythia_ranks_quantile(sorted, n, .5);
    pythia_free(sorted);
    return PYTHIA_OK;
}

int pythia_ranks_iqr(const double *x, size_t n, double *out)
{
    double *sorted = sorted_copy(x, n);
    if (!sorted)
        return PYTHIA_ENOMEM;
    *out = pythia_ranks_quantile(sorted, n, .75) - pythia_ranks_quantile(sorted, n, .25);
    pythia_free(sorted);
    return PYTHIA_OK;
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
    for (size_t first = 0, end; status == PYTHIA_OK && first < n; first = end) {
        double value = x[order[first]];
        for (end = first + 1; end < n && x[order[end]] == value;)
            end++;
        for (size_t i = first; i < end; i++)
            ranks[order[i]] = isnan(value) ? NAN : (double)(first + end + 1) / 2;
    }
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

int pythia_ranks_spearman(const double *x, const double *y, size_t n, double *out)
{
    double *ranks = pythia_calloc(n, 2 * sizeof(*ranks));
    int status = ranks ? pythia_ranks_mid(x, n, ranks) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = pythia_ranks_mid(y, n, ranks + n);
    if (status == PYTHIA_OK)
        *out = pythia_ranks_pearson(ranks, ranks + n, n);
    pythia_free(ranks);
    return status;
}

int pythia_ranks_kruskal_wallis(const double *x, const uint32_t *group, size_t n, size_t groups,
                                struct pythia_test_result *out)
{
    double *ranks = pythia_calloc(n, sizeof(*ranks));
    int status = ranks ? pythia_ranks_mid(x, n, ranks) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK) /* H is n - 1 times the ranks' eta squared, ties and all */
        status = pythia__samples_chi_squared(ranks, group, n, groups, out);
    pythia_free(ranks);
    return status;
}

/* P(K > x) of Kolmogorov's law: its series of exponentials converges at once for large x, and the
 * other form of the same theta function for small x. Kolmogorov, "Sulla determinazione empirica di
 * una legge di distribuzione", Giornale dell'Istituto Italiano degli Attuari 4, 1933. */
static double kolmogorov_tail(double x)
{
    const double pi = acos(-1);
    if (x <= 0)
        return 1;
    double s = 0;
    if (x < 1) {
        for (int j = 1; j <= 7; j += 2)
            s += exp(-j * j * pi * pi / (8 * x * x));
        return 1 - sqrt(2 * pi) / x * s;
    }
    for (int j = 1; j <= 6; j++)
        s += (j % 2 ? 2 : -2) * exp(-2 * j * j * x * x);
    return s;
}

static double largest_distance(const double *x, size_t n, const double *y, size_t m)
{
    double distance = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        double value = x[i] < y[j] ? x[i] : y[j];
        while (i < n && x[i] == value)
            i++;
        while (j < m && y[j] == value)
            j++;
        distance = fmax(distance, fabs((double)i / (double)n - (double)j / (double)m));
    }
    return distance;
}

int pythia_ranks_kolmogorov_smirnov(const double *x, size_t n, const double *y, size_t m,
                                    struct pythia_test_result *out)
{
    double *a = sorted_copy(x, n), *b = a ? sorted_copy(y, m) : NULL;
    int status = b ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK) {
        *out = (struct pythia_test_result){NAN, NAN, NAN, NAN, NAN};
        if (n > 0 && m > 0 && !isnan(a[n - 1]) && !isnan(b[m - 1])) {
            double size = (double)n / (double)(n + m) * (double)m;
            out->statistic = out->effect = largest_distance(a, n, b, m);
            out->p = kolmogorov_tail(sqrt(size) * out->statistic);
        }
    }
    pythia_free(b);
    pythia_free(a);
    return status;
}
