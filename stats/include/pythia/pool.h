#ifndef PYTHIA_POOL_H
#define PYTHIA_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which values of a key with many are slow, if each has two or three rows: one tenant of fifty in a
 * hundred requests. Too few to test each of them; taken together, most of them would explain any
 * durations. So each row is judged by the other rows with its value: it is on the slow side if the
 * mean of their totals is above a cut. What lies between the sides is then no larger by chance than
 * for any two groups that were not chosen by these totals, but for the choice of one cut.
 *
 * Values that belong to a time are refused (sessions, batches, connections): their rows are alike
 * because they are neighbours. They are if the mean time of the other rows correlates with the time
 * of a row by PYTHIA_POOL_TIME_MAX or more. */

#define PYTHIA_POOL_SHARE_MIN .5 /* of the variance between the sides: only what is clear-cut */
#define PYTHIA_POOL_TIME_MAX  .5
#define PYTHIA_POOL_ROWS_MIN  40

struct pythia_pool {
    bool found;
    uint32_t *sides; /* [rows]: 1 is slow; 0 for rows whose value no other row has, too. Owned */
    bool *slow;      /* [levels]: the mean of all its rows is above the cut; owned */
};

/* levels[i] < level_count, or PYTHIA_COLUMN_MISSING (column.h), of n rows with finite totals and
 * times. Found if PYTHIA_POOL_ROWS_MIN rows and half of those with a value share it with another.
 * PYTHIA_OK with *out, which pythia_pool_clear frees; or PYTHIA_ENOMEM. Thread-safe; O(n log n). */
int pythia_pool_find(const uint32_t *levels, uint32_t level_count, size_t n, const double *totals,
                     const double *times, struct pythia_pool *out);
void pythia_pool_clear(struct pythia_pool *p); /* a zeroed one is fine */

#endif
