#ifndef PYTHIA_SORT_H
#define PYTHIA_SORT_H

#include <stddef.h>

/* Sort `n` doubles ascending, -0 before 0 and NaN last or first by its sign, in O(n): `scratch` holds as
 * many. Shared by the files of stats/ that need order statistics of thousands of values. Thread-safe. */
void pythia__sort(double *x, size_t n, double *scratch);

#endif
