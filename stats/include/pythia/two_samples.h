#ifndef PYTHIA_TWO_SAMPLES_H
#define PYTHIA_TWO_SAMPLES_H

#include <stdint.h>

/* Two samples, of before and of after: have they one mean, is a part of them as large? All are
 * thread-safe and need no memory. */

/* The summary of a sample: the number of values, their mean and their unbiased variance. The number
 * need not be whole: it counts for as many independent values. */
struct pythia_summary {
    double n, mean, variance;
};

struct pythia_mean_change {
    double change;    /* mean of after less that of before; NaN if a sample is empty */
    double se, df;    /* standard error of it, and its degrees of freedom */
    double low, high; /* interval of the change */
    double p;         /* of a change at least this large, up or down, if there is none */
};

/* The change of the mean, with the larger of two standard errors: Welch's, which lets the two
 * variances differ, and the pooled one of Student. Where values are 0 but for a few, a small sample
 * may hold none of the few; then its variance is 0, and Welch's error alone would say that it is
 * certain. se, df, the interval and p are NaN below 2 values in a sample. If neither sample varies
 * there is no error to speak of: p is that of the exact permutation test, 2 / choose(n + m, n), NaN
 * for a change of 0, and the interval is a point. `level` is that of the interval, between 0 and 1.
 * O(1). Welch, "The Generalization of 'Student's' Problem when Several Different Population
 * Variances are Involved", Biometrika 34, 1947. */
void pythia_two_samples_cautious(const struct pythia_summary *before,
                                 const struct pythia_summary *after, double level,
                                 struct pythia_mean_change *out);

/* Fisher's exact test of two parts: `hits` of `n` in each. Two-sided: the chance of a table that is
 * no likelier than this one, the sums given. NaN if a sample is empty. A part that is 0 or all on
 * both sides gives 1. O(hits). Fisher, "On the Interpretation of Chi-Squared from Contingency
 * Tables, and the Calculation of P", J. Royal Stat. Society 85(1), 1922. */
double pythia_two_samples_fisher(uint64_t hits_before, uint64_t n_before, uint64_t hits_after,
                                 uint64_t n_after);

#endif
