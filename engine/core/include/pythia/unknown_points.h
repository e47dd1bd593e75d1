#ifndef PYTHIA_UNKNOWN_POINTS_H
#define PYTHIA_UNKNOWN_POINTS_H

#include <stddef.h>
#include <stdint.h>

#define PYTHIA_UNKNOWN_POINTS_SHOWN 10

/* Trace points that the search space does not know, in requests of types that it does know: nobody
 * decides about them, so that their spans are left out of what is searched, until the space is
 * learnt anew. Those that a pin keeps shut are not among them. Public, by value; {0}: none. */
struct pythia_unknown_points {
    size_t count;                               /* of them */
    uint64_t spans;                             /* of theirs that were left out */
    uint32_t most[PYTHIA_UNKNOWN_POINTS_SHOWN]; /* trace points, those with most spans first; … */
    size_t most_count;                          /* … of the same number of spans by id */
};

#endif
