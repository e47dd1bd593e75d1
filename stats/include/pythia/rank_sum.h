#ifndef PYTHIA_RANK_SUM_H
#define PYTHIA_RANK_SUM_H

#include <stddef.h>

/* Is one sample shifted against another? Without assumptions about the distribution of either, so
 * that one slow run in ten does not decide. */

struct pythia_shift {
    double p_greater; /* chance of a rank sum of `after` at least as high, if nothing changed */
    double p_less;    /* the same, at least as low */
    double shift;     /* Hodges-Lehmann: the median of all differences after - before */
    double low, high; /* interval of the shift */
};

/* Compare two samples by the test of Mann and Whitney, with the estimate of Hodges and Lehmann.
 *
 * Without ties and with n + m <= 60 the p-values are exact; otherwise they are those of the normal
 * approximation with the correction for ties and for continuity. `level` (between 0 and 1) is the
 * confidence of the interval, whose ends are order statistics of the differences; with few values
 * it is the whole range. All members are NaN if a sample is empty or holds a NaN. Returns PYTHIA_OK
 * or PYTHIA_ENOMEM with *out untouched. O((n + m) log(n + m)), plus O(n m (n + m)) where the
 * p-values are exact. Thread-safe. Mann and Whitney, "On a Test of Whether one of Two Random
 * Variables is Stochastically Larger than the Other", Ann. Math. Stat. 18(1), 1947; Hodges and
 * Lehmann, "Estimates of Location Based on Rank Tests", Ann. Math. Stat. 34(2), 1963. */
int pythia_rank_sum(const double *before, size_t n, const double *after, size_t m, double level,
                    struct pythia_shift *out);

/* The smallest p that the test can give for samples of n and m values: 1 / choose(n + m, n). */
double pythia_rank_sum_smallest_p(size_t n, size_t m);

#endif
