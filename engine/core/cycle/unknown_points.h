/* Notes which spans are left out of requests because the search space does not know their trace
 * points. */
#ifndef PYTHIA_CORE_UNKNOWN_POINTS_H
#define PYTHIA_CORE_UNKNOWN_POINTS_H

#include <stdbool.h>

#include "pythia/open_points.h"
#include "pythia/trace.h"
#include "pythia/unknown_points.h"
#include "pythia/vocabulary.h"

/* {0} has no search space, and notes nothing. */
struct pythia__unknown_points {
    bool *known; /* owned; by trace point: it is in the search space; NULL: there is none */
    uint32_t known_count;
    struct pythia_open_points *never; /* shut on purpose; borrowed; NULL: none */
    uint64_t *spans;                  /* owned; by trace point: number of spans left out */
    size_t capacity, count;           /* count: unknown points that have spans */
    uint64_t total;                   /* spans, also of points that have become known since */
};

/* Free the counts of spans by trace point. */
void pythia__unknown_points_free(struct pythia__unknown_points *u);

/* Replace the flags of the points that the search space has (taken; NULL: there is no space).
 * O(trace points). */
void pythia__unknown_points_know(struct pythia__unknown_points *u, bool *known, uint32_t count);

/* Note which spans of a request are left out because only these points are open. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(spans). */
int pythia__unknown_points_note(struct pythia__unknown_points *u, const struct pythia_trace *whole,
                                struct pythia_open_points *open);

/* Set all counts to 0. */
void pythia__unknown_points_clear(struct pythia__unknown_points *u);

/* Sum up the spans of points that are unknown now. O(trace points). */
struct pythia_unknown_points pythia__unknown_points_sum(const struct pythia__unknown_points *u,
                                                        const struct pythia_vocabulary *v);

#endif
