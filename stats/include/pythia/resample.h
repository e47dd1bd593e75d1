#ifndef PYTHIA_RESAMPLE_H
#define PYTHIA_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* Values over time, in intervals of one length, and what all of them are like. */

enum pythia_resampling {
    PYTHIA_RESAMPLE_MEAN,
    PYTHIA_RESAMPLE_COUNT,
    PYTHIA_RESAMPLE_SUM,
    PYTHIA_RESAMPLE_MIN,
    PYTHIA_RESAMPLE_MAX,
    PYTHIA_RESAMPLE_LAST,
};

/* Resample n values at times[i] (ns, in order): one number for each of `intervals` intervals of
 * `step_ns`, the first of which begins at `from_ns`: those at or behind its begin and before its
 * end. NaN for an interval without a value; 0 for COUNT and SUM. Values outside all intervals are
 * left out. O(n + intervals). */
void pythia_resample(const uint64_t *times, const double *values, size_t n, uint64_t from_ns,
                     uint64_t step_ns, enum pythia_resampling how, double *out, size_t intervals);

/* Statistics of values, in their unit. NaN for no values; sd also for one. */
struct pythia_summary {
    size_t n;
    double mean, sd; /* divisor n - 1 */
    double min, p50, p90, p99, max;
};

/* The statistics of n finite values, which are sorted. Quantiles lie between the two nearest
 * values, in proportion: Hyndman and Fan, "Sample Quantiles in Statistical Packages", Am.
 * Statistician 50(4), 1996, type 7. O(n log n). */
void pythia_summary_of(double *values, size_t n, struct pythia_summary *out);

#endif
