#ifndef PYTHIA_WITHIN_H
#define PYTHIA_WITHIN_H

#include <stddef.h>
#include <stdint.h>

/* Does one group of samples vary more than the others? `share` is the part of the sum of squares
 * within groups, about each group's own mean, that the group with most of it has. `p` is the
 * probability that some group has so much when samples are dealt to the groups at random: of the
 * deals that were drawn and the real one, those in which it is at least as large. A single outlier
 * has the same share wherever it lies, so that its p is about 1. P. Good, "Permutation, Parametric
 * and Bootstrap Tests of Hypotheses", 3rd edition, 2005, chapter 3. */
struct pythia_within {
    size_t group;
    double share, p;
};

/* n samples, of which sample i is in group[i] < groups. PYTHIA_OK with *out, or PYTHIA_ENOMEM. NaN
 * and group 0 if no group varies. Deals are drawn with `seed`; O(n * deals). */
int pythia_within_largest(const double *samples, const uint32_t *group, size_t n, uint32_t groups,
                          size_t deals, uint64_t seed, struct pythia_within *out);

#endif
