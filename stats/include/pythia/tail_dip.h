#ifndef PYTHIA_TAIL_DIP_H
#define PYTHIA_TAIL_DIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Are some requests slow in a way of their own? A dip test that sees a mode of a few per cent.
 *
 * A mode of mass e moves the dip by at most e/2, so the plain test is blind to the minor slow modes
 * that matter. But what is left of a unimodal law above any point is unimodal, and the values above
 * an order statistic are a sample of it: so each upper tail may be tested on its own, and in a
 * short one the minor mode is large. Tested are the whole sample and its upper half, quarter, ...
 * of at least PYTHIA_TAIL_DIP_MIN values, on the log scale, where latencies have no long tail; the
 * smallest p counts, times the number of parts (Bonferroni). For the dip see dip.h, for the logs
 * log_sample.h. */

#define PYTHIA_TAIL_DIP_MIN 12 /* values */

struct pythia_tail_dip {
    double p; /* that the durations have one mode on the log scale; corrected, at most 1 */
    /* The plain dip test of the durations themselves: the log of a law with one mode may have two,
     * and the other way round. */
    double p_raw;
    double dip;       /* of the deciding part */
    size_t tail;      /* the deciding part is the upper 1/2^tail of the sample; 0: the whole */
    size_t tail_size; /* values in it */
    double low, high; /* its modal interval, in the unit of the durations */
    size_t parts;     /* tested */
    size_t n;         /* values used */
    size_t left_out;  /* values not usable as durations: see pythia_log_sample_create */
    bool jittered;    /* the durations lie on the grid of a clock ... */
    double tick;      /* ... of this tick, in their unit; NaN if not */
};

/* Test `n` durations of one unit, in any order; `seed` serves the jitter of quantised ones. With
 * fewer than PYTHIA_TAIL_DIP_MIN usable values nothing is tested: p, p_raw, dip, low and high are
 * NaN, which no threshold ever passes, and parts is 0. If all values are equal, p is 1.
 *
 * Returns PYTHIA_OK or PYTHIA_ENOMEM, and then *out is untouched. Thread-safe; O(n). */
int pythia_tail_dip(const double *durations, size_t n, uint64_t seed, struct pythia_tail_dip *out);

#endif
