#ifndef PYTHIA_BETWEEN_H
#define PYTHIA_BETWEEN_H

#include <stddef.h>
#include <stdint.h>

/* How much of the variance of values lies between parts of them: eta squared. */
struct pythia_between {
    double share;     /* 0 to 1; NaN if all values are equal, or fewer than two parts have any */
    double low, high; /* interval; NaN where the share is NaN or 0, or no part has two values */
};

/* The variance between parts of `n` finite values, where part[i] < parts is that of x[i]; empty
 * parts do not count. `level` is that of the interval, between 0 and 1. The error of the share
 * is that of its influence function (A. van der Vaart, "Asymptotic Statistics", 1998, chapter
 * 20), with the residuals of HC3 (shares.h) so that few values in a part do not make it too
 * small; the interval is made on the scale of log(share / (1 - share)), where the law of the
 * share has less of a tail, with Student's t of n - parts. It supposes parts that were not
 * chosen by these values: the best of many partings has too large a share. Returns PYTHIA_OK, or
 * PYTHIA_ENOMEM with *out untouched. Thread-safe; O(n + parts). */
int pythia_between(const double *x, const uint32_t *part, size_t n, size_t parts, double level,
                   struct pythia_between *out);

#endif
