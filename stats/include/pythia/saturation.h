#ifndef PYTHIA_SATURATION_H
#define PYTHIA_SATURATION_H

#include <stdbool.h>
#include <stddef.h>

/* Is a level (of a queue, a pool, a buffer) often at its limit? */
struct pythia_saturation {
    double limit;    /* that was given, or the largest value */
    double share;    /* of the samples that are there */
    size_t at_limit; /* samples */
    size_t bursts;   /* runs of samples at the limit, one after the other in time */
    size_t longest;  /* samples of the longest one */
    double trend;    /* Spearman's correlation of value and time; NaN: all values are the same */
    bool saturated;
};

#define PYTHIA_SATURATION_MIN 100 /* samples; of fewer nothing is saturated */

/* Look at `n` finite values in order of time. With a `limit` they are saturated if at least 5 % of
 * them are at it or above. With NaN it is learnt. A limit shows as a pile at the maximum, because
 * what would have been higher is there too. Without a limit the largest value is a rare one, and
 * not more frequent than the one below it. So values are saturated if
 *
 *   - at least 5 % of them are the maximum, in at least 5 bursts: one long visit is no limit;
 *   - there are at least 4 lower values: a switch is no level;
 *   - the maximum is twice as frequent as the next lower value, beyond chance (one-sided sign test,
 *     p < 1e-4).
 *
 * The pile is what a Tobit model takes a limit to be (J. Tobin, "Estimation of Relationships for
 * Limited Dependent Variables", Econometrica 26(1), 1958). A level whose usual value is its maximum
 * (free slots of a pool that nobody uses) looks the same: the caller says what it is a level of.
 * PYTHIA_OK, or PYTHIA_ENOMEM with *out untouched. O(n log n); thread-safe. */
int pythia_saturation_look(const double *values, size_t n, double limit,
                           struct pythia_saturation *out);

#endif
