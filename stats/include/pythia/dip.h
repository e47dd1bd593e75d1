#ifndef PYTHIA_DIP_H
#define PYTHIA_DIP_H

#include <stddef.h>

/* The dip of a sample: how far its empirical distribution function is from the nearest unimodal
 * one. J. A. Hartigan and P. M. Hartigan, "The Dip Test of Unimodality", Annals of Statistics
 * 13(1), 1985. */

/* The result of the dip test; `low` and `high` are indexes into the sorted sample, from 0. */
struct pythia_dip {
    double dip;       /* between 1/(2n) and 1/4 for n >= 2; no unit, unchanged by x -> a x + b */
    size_t low, high; /* the modal interval: where the nearest unimodal law is steepest */
};

/* The dip of `n` > 0 values in ascending order, all finite (ties are fine). A sample that follows
 * one mode as closely as a step function can has the dip 1/(2n); so has one whose values are all
 * equal. Returns PYTHIA_OK or PYTHIA_ENOMEM, and then *out is untouched. Thread-safe; O(n) time and
 * memory. */
int pythia_dip_statistic(const double *sorted, size_t n, struct pythia_dip *out);

#define PYTHIA_DIP_P_MIN 1e-5 /* the reach of the simulated table: no p value is given below it */

/* The probability that `n` uniform values, of all unimodal laws the one with the largest dips, have
 * a dip of at least `dip`. Simulated null quantiles of sqrt(n) * dip are interpolated between the
 * two nearest sizes (linearly in 1/sqrt(n)) and probabilities (linearly); above the largest size of
 * the table sqrt(n) * dip has settled and that size serves. 1 for a dip of 1/(2n) or less,
 * PYTHIA_DIP_P_MIN for one beyond the table, NaN for fewer than 4 values or a dip that is NaN.
 * Thread-safe; O(1). */
double pythia_dip_p(double dip, size_t n);

#endif
