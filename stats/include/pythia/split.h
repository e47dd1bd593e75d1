#ifndef PYTHIA_SPLIT_H
#define PYTHIA_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/column.h"

/* Two groups of rows, parted by the value of one key so that as much as possible of the variance of
 * a response lies between them: a stump of L. Breiman, J. Friedman, R. Olshen and C. Stone,
 * "Classification and Regression Trees", 1984, chapter 4. */

#define PYTHIA_SPLIT_ROWS_MIN 5 /* in each group */

struct pythia_split {
    /* eta squared: the part of the response's variance that lies between the groups. It is the best
     * of many and so too large as an estimate. NaN: no split is possible. */
    double share;
    bool by_absence; /* one group are the rows without a value */
    /* Numbers: the values of one group are above it, those of the other are not; it lies half-way
     * between two values. NaN for levels and absence. */
    double cut;
    bool above; /* the group above the cut, or that without a value, has the larger mean response */
    uint32_t *levels; /* of the group with the larger mean, ascending; owned. NULL for numbers */
    size_t level_count;
    size_t low_rows, high_rows; /* of the groups with the smaller and with the larger mean ... */
    double low_mean, high_mean; /* ... and these means */
};

/* Find the best split of `n` rows with a finite response. Rows without a value stand aside, unless
 * all others share one value, and then the split is by absence. Levels are parted in the order of
 * their means, which for one cut is as good as trying all sets (W. D. Fisher, "On Grouping for
 * Maximum Homogeneity", Journal of the American Statistical Association 53, 1958). Returns
 * PYTHIA_OK or PYTHIA_ENOMEM, and then *out is untouched; clear what it gave. Thread-safe; O(n log
 * n). */
int pythia_split_find(const struct pythia_column *column, const double *response, size_t n,
                      struct pythia_split *out);
/* The group of one row: 1 for the one with the larger mean, 0 for the other, -1 for a row that
 * stands aside. O(log levels). */
int pythia_split_side(const struct pythia_split *split, const struct pythia_column *column,
                      size_t row);

void pythia_split_clear(struct pythia_split *split); /* a zeroed one is fine */

#endif
