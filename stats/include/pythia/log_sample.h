#ifndef PYTHIA_LOG_SAMPLE_H
#define PYTHIA_LOG_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* Durations made fit for a test on the log scale: sorted, and freed of the grid of a coarse clock,
 * which would otherwise look like a mode at every tick. */
struct pythia_log_sample {
    size_t n; /* values kept */
    /* Values that were not finite or negative, and zeros of a clock without ticks. */
    size_t left_out;
    double tick; /* of the clock, in the unit of the durations; NaN where none was found */
    /* n each, both ascending: jittered durations > 0, and their natural logs. */
    const double *durations, *logs;
};

/* Make the sample of `n` durations of one unit; n may be 0, and order does not matter.
 *
 * If less than 95 % of the values differ, but not all are the same, they lie on a grid: the
 * smallest gap between two of them is the tick, and each gets a uniform jitter of half a tick to
 * either side, drawn from `seed`. A zero then means "below half a tick" and its jitter goes
 * upwards. Without a tick the log of a zero is undefined, and zeros are left out, as negative and
 * not finite durations always are; all of them are counted.
 *
 * On success *out is owned by the caller, on failure untouched. Returns PYTHIA_OK or PYTHIA_ENOMEM.
 * Thread-safe; O(n). */
int pythia_log_sample_create(const double *durations, size_t n, uint64_t seed,
                             struct pythia_log_sample **out);
void pythia_log_sample_destroy(struct pythia_log_sample *s); /* s may be NULL */

#endif
