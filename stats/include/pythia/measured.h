#ifndef PYTHIA_MEASURED_H
#define PYTHIA_MEASURED_H

#include <stdbool.h>
#include <stddef.h>

/* Is a number a measurement of the time that it is held against? Many libraries attach one to each
 * span ("busy_ns", "elapsed_ms", "response_time"). It explains the time perfectly, and says nothing
 * about its cause. A number is taken for one if in some unit of time (s, ms, us or ns)
 *
 *   - the time rises by one unit, within 4 %, for each unit of the number, and what is left of the
 *     time without the number has less than 2 % of the variance. All of it is clipped at either
 *     end, so that a few rows do not decide. What is left may have any mean, because a number may
 *     measure a part of the time;
 *   - and the number has as many different values as a clock gives: 95 % of the rows differ. Where
 *     the caller says that it is called a time, it may have the resolution of its unit only: as
 *     many values as the caller asks for, and at least half as many as the time has in whole units,
 *     or as there are rows if the number is not whole.
 *
 * A count whose every unit costs 1 ms has the first property, but is not called a time. A setting
 * that is one (a sleep, a timeout, a pause before a retry) has fewer values, unless it is drawn for
 * each request from a range of which it takes nearly all values. Numbers alone cannot tell such a
 * setting from a measurement. A measurement that has few different values, because its unit is
 * coarse, is not recognised. */

#define PYTHIA_MEASURED_ROWS 40

/* `numbers[i]`, NaN where there is none, and `times_ns[i]` belong together, i < n; of rows without
 * a number the time does not count. `others` are added to the numbers, for a time that is measured
 * in two parts, such as busy and idle; NULL: nothing is added. `values` suffice where the number is
 * called a time; SIZE_MAX: it is not. On success *unit is "s", "ms", "us" or "ns" (static), or NULL
 * if the number is no measurement or there are fewer than PYTHIA_MEASURED_ROWS of them. Returns
 * PYTHIA_OK or PYTHIA_ENOMEM. Thread-safe; O(n log n). */
int pythia_measured_unit(const double *numbers, const double *others, const double *times_ns,
                         size_t n, size_t values, const char **unit);

/* `numbers` measure the time in that unit, but for a small part: do `others` measure that part, so
 * that with both less than a quarter of the variance is left that is left without it? Rows count as
 * above, those without one of the numbers do not. PYTHIA_OK with *part, or PYTHIA_ENOMEM.
 * Thread-safe; O(n). */
int pythia_measured_part(const double *numbers, const double *others, const double *times_ns,
                         size_t n, const char *unit, bool *part);

#endif
