#include "pythia/resample.h"

#include <math.h>
#include <stdlib.h>

#include "pythia/moments.h"

static void add_resampled_value(double *to, double value, enum pythia_resampling how, size_t before)
{
    switch (how) {
    case PYTHIA_RESAMPLE_COUNT:
        *to += 1;
        break;
    case PYTHIA_RESAMPLE_SUM:
        *to += value;
        break;
    case PYTHIA_RESAMPLE_MEAN:
        /* The running mean: a sum of many large values would lose the small ones, and needs a
         * second pass to divide. */
        *to = before ? *to + (value - *to) / (double)(before + 1) : value;
        break;
    case PYTHIA_RESAMPLE_MIN:
        *to = before && *to < value ? *to : value;
        break;
    case PYTHIA_RESAMPLE_MAX:
        *to = before && *to > value ? *to : value;
        break;
    case PYTHIA_RESAMPLE_LAST:
        *to = value;
        break;
    }
}

void pythia_resample(const uint64_t *times, const double *values, size_t n, uint64_t from_ns,
                     uint64_t step_ns, enum pythia_resampling how, double *out, size_t intervals)
{
    int zero = how == PYTHIA_RESAMPLE_COUNT || how == PYTHIA_RESAMPLE_SUM;
    for (size_t i = 0; i < intervals; i++)
        out[i] = zero ? 0 : NAN;
    size_t last = SIZE_MAX, before = 0;
    for (size_t i = 0; i < n; i++) {
        if (times[i] < from_ns || (times[i] - from_ns) / step_ns >= intervals)
            continue;
        size_t at = (size_t)((times[i] - from_ns) / step_ns);
        before = at == last ? before + 1 : 0;
        last = at;
        add_resampled_value(&out[at], values[i], how, before);
    }
}

static int compare_statistics(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile_of_sorted(const double *sorted, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

void pythia_summary_of(double *values, size_t n, struct pythia_summary *out)
{
    struct pythia_moments m = {0};
    *out = (struct pythia_summary){n, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (n == 0)
        return;
    qsort(values, n, sizeof(*values), compare_statistics);
    for (size_t i = 0; i < n; i++)
        pythia_moments_add(&m, values[i]);
    out->mean = pythia_moments_mean(&m);
    out->sd = pythia_moments_sd(&m);
    out->min = values[0];
    out->p50 = quantile_of_sorted(values, n, .5);
    out->p90 = quantile_of_sorted(values, n, .9);
    out->p99 = quantile_of_sorted(values, n, .99);
    out->max = values[n - 1];
}
