#include "pythia/ranks.h"

#include <assert.h>
#include <math.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "samples.h"

/* ---- sorting ---- */

#define FEW_VALUES 24 /* are sorted by insertion */

static void swap_values(double *a, double *b)
{
    double value = *a;
    *a = *b;
    *b = value;
}

static void sort_few(double *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = x[i];
        size_t k = i;
        for (; k > 0 && x[k - 1] > value; k--)
            x[k] = x[k - 1];
        x[k] = value;
    }
}

/* Let x[i] sink in the heap of the first n, whose largest is on top. */
static void sink_value(double *x, size_t i, size_t n)
{
    double value = x[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && x[child + 1] > x[child];
        if (!(x[child] > value))
            break;
        x[i] = x[child];
    }
    x[i] = value;
}

static void sort_by_heap(double *x, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sink_value(x, i, n);
    for (size_t end = n; end-- > 1;) {
        swap_values(&x[0], &x[end]);
        sink_value(x, 0, end);
    }
}

/* Put the values up to a middle one to the left, and the others to the right; where those begin. */
static size_t part_values(double *x, size_t n)
{
    size_t middle = n / 2, left = 0, right = n - 1;
    if (x[middle] < x[0])
        swap_values(&x[middle], &x[0]);
    if (x[right] < x[0])
        swap_values(&x[right], &x[0]);
    if (x[right] < x[middle])
        swap_values(&x[right], &x[middle]);
    double pivot = x[middle];
    for (;;) {
        while (x[left] < pivot)
            left++;
        while (x[right] > pivot)
            right--;
        if (left >= right)
            return left;
        swap_values(&x[left++], &x[right--]);
    }
}

/* Quicksort with the comparison in place, some five times faster than qsort, which ends in a heap
 * where the middle values are badly chosen. D. R. Musser, "Introspective Sorting and Selection
 * Algorithms", Software: Practice and Experience 27(8), 1997. */
static void sort_values(double *x, size_t n, unsigned depth)
{
    while (n > FEW_VALUES) {
        if (depth-- == 0) {
            sort_by_heap(x, n);
            return;
        }
        size_t right = part_values(x, n);
        if (right < n - right) {
            sort_values(x, right, depth);
            x += right;
            n -= right;
        } else {
            sort_values(x + right, n - right, depth);
            n = right;
        }
    }
    sort_few(x, n);
}

void pythia_ranks_sort(double *x, size_t n)
{
    size_t numbers = n;
    for (size_t i = 0; i < numbers;)
        if (isnan(x[i]))
            swap_values(&x[i], &x[--numbers]);
        else
            i++;
    unsigned depth = 4;
    for (size_t left = numbers; left > 1; left /= 2)
        depth += 2;
    sort_values(x, numbers, depth);
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

/* NaN is behind all numbers. */
static bool is_value_smaller(const void *values, uint32_t a, uint32_t b)
{
    double x = ((const double *)values)[a], y = ((const double *)values)[b];
    return x < y || (isnan(y) && !isnan(x));
}

int pythia_ranks_order(const double *x, size_t n, size_t *order)
{
    assert(n < UINT32_MAX);
    uint32_t *numbers = pythia_calloc(2 * n, sizeof(*numbers));
    if (!numbers)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)i;
    pythia_sort_indexes(numbers, n, numbers + n, is_value_smaller, x);
    for (size_t i = 0; i < n; i++)
        order[i] = numbers[i];
    pythia_free(numbers);
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
