#ifndef PYTHIA_MODE_CUTS_H
#define PYTHIA_MODE_CUTS_H

#include <stddef.h>

#include "pythia/modes.h"

/* Which values of a number go with which mode? Durations have several modes (modes.h); a key of the
 * same rows is cut into intervals so that each holds, as far as it can be, the rows of one mode. */

#define PYTHIA_MODE_CUTS_ROWS_MIN 5   /* in each interval */
#define PYTHIA_MODE_CUTS_BLOCKS   256 /* of neighbouring values: cuts lie between them */

struct pythia_mode_cuts {
    size_t count; /* 0: the key says nothing of the modes beyond chance */
    /* Ascending; a value belongs above a cut if it is >= it. Each lies between two values that are
     * next to each other: half-way, or at the upper one where there is nothing half-way. */
    double cuts[PYTHIA_MODES_MAX - 1];
    double information; /* part of the entropy of the modes that the intervals take away, 0 to 1;
                           NaN if all rows have one mode */
};

/* Cut the keys of `n` rows, of which row i is of mode modes[i] < mode_count <= PYTHIA_MODES_MAX. A
 * key that is NaN does not count. Sought are the intervals, of PYTHIA_MODE_CUTS_ROWS_MIN rows or
 * more each and at most as many as there are modes, with the shortest description of the rows'
 * modes: the entropy of the modes within the intervals, plus for each cut the price of naming its
 * place and of the frequencies of one interval more. So a key of chance is not cut, and a rare mode
 * counts though it is nowhere the most frequent one, which fewest misclassified rows would ask for.
 * All partings are compared, by dynamic programming: T. Elomaa and J. Rousu, "General and Efficient
 * Multisplitting of Numerical Attributes", Machine Learning 36, 1999, over the boundary points of
 * U. Fayyad and K. Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for
 * Classification Learning", IJCAI 1993; the price is that of J. Rissanen, "Modeling by Shortest
 * Data Description", Automatica 14, 1978. Of more than PYTHIA_MODE_CUTS_BLOCKS values between which
 * a cut may lie, neighbours are taken together, about as many rows in each. Returns PYTHIA_OK, or
 * PYTHIA_ENOMEM with *out untouched. Thread-safe; O(n log n + blocks^2 * modes). */
int pythia_mode_cuts_find(const double *keys, const size_t *modes, size_t n, size_t mode_count,
                          struct pythia_mode_cuts *out);

#endif
