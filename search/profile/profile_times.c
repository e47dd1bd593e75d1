#include <math.h>

#include "profile_parts.h"
#include "pythia/status.h"

int pythia__profile_times_add(struct pythia_profile_times *times, uint64_t ns, uint64_t weight)
{
    if (!times->sketch && pythia_sketch_create(PYTHIA_SKETCH_ALPHA, &times->sketch) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    int status = pythia_sketch_add(times->sketch, (double)ns, weight);
    if (status == PYTHIA_OK)
        pythia_exact_moments_add_weighted(&times->moments, (int64_t)ns, weight);
    return status;
}

/* Squares about the mean of two groups together: Chan, Golub and LeVeque, "Algorithms for Computing
 * the Sample Variance", Am. Statistician 37(3), 1983. */
void pythia__profile_times_add_summary(struct pythia_profile_times *times,
                                       const struct pythia_call_summary *s)
{
    const struct pythia_exact_moments all = {
        .n = s->calls, .weight = s->calls, .weight_squares = {s->calls}, .sum = {s->sum_ns}};
    double before = (double)times->moments.weight, calls = (double)s->calls;
    double squares = s->variance_ns2 * calls;
    if (before > 0) {
        double apart = (double)s->sum_ns / calls - pythia_exact_moments_mean(&times->moments);
        squares += times->squares + apart * apart * before * calls / (before + calls);
    }
    times->squares = squares;
    times->min_ns = before > 0 && times->min_ns < s->min_ns ? times->min_ns : s->min_ns;
    times->max_ns = before > 0 && times->max_ns > s->max_ns ? times->max_ns : s->max_ns;
    pythia_exact_moments_merge(&times->moments, &all);
}

static bool is_summarised(const struct pythia_profile_times *times)
{
    return !times->sketch && times->moments.weight > 0;
}

double pythia_profile_quantile(const struct pythia_profile_times *times, double q)
{
    return times->sketch ? pythia_sketch_quantile(times->sketch, q) : NAN;
}

double pythia_profile_min(const struct pythia_profile_times *times)
{
    return is_summarised(times) ? (double)times->min_ns
           : times->sketch      ? pythia_sketch_min(times->sketch)
                                : NAN;
}

double pythia_profile_max(const struct pythia_profile_times *times)
{
    return is_summarised(times) ? (double)times->max_ns
           : times->sketch      ? pythia_sketch_max(times->sketch)
                                : NAN;
}

double pythia_profile_variance(const struct pythia_profile_times *times)
{
    if (!is_summarised(times))
        return pythia_exact_moments_variance(&times->moments);
    uint64_t calls = times->moments.weight;
    return calls > 1 ? times->squares / (double)(calls - 1) : NAN;
}

double pythia_profile_cov(const struct pythia_profile_times *times)
{
    double mean = pythia_exact_moments_mean(&times->moments);
    return mean != 0 ? sqrt(pythia_profile_variance(times)) / fabs(mean) : NAN;
}

uint64_t pythia_profile_sum_ns(const struct pythia_profile_times *times)
{
    return times->moments.sum[1] ? UINT64_MAX : times->moments.sum[0];
}
