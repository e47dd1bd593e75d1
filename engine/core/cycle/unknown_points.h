/* Notes which spans are left out of requests because the search space does not know their trace
 * points. */
#ifndef PYTHIA_CORE_UNKNOWN_POINTS_H
#define PYTHIA_CORE_UNKNOWN_POINTS_H

#include <stdbool.h>

#include "pythia/open_points.h"
#include "pythia/trace.h"
#include "pythia/unknown_points.h"
#include "pythia/vocabulary.h"

/* {0} knows of no space, and notes nothing. */
struct pythia__unknown_points {
    bool *known; /* owned; by trace point: it is in the search space; NULL: there is none */
    uint32_t known_count;
    struct pythia_open_points *never; /* shut on purpose; borrowed; NULL: none */
    uint64_t *spans;                  /* owned; by trace point: left out */
    size_t capacity, count;           /* count: of points that are not known, and have some */
    uint64_t total;                   /* spans, of points that have become known since too */
};

/* Free the counts of spans by trace point. */
void pythia__unknown_points_free(struct pythia__unknown_points *u);

/* The search space has these points now (taken; NULL: there is none). O(trace points). */
void pythia__unknown_points_know(struct pythia__unknown_points *u, bool *known, uint32_t count);

/* Note what is left out of a request of a type that the space knows, of which `open` is looked at.
 * PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia__unknown_points_note(struct pythia__unknown_points *u, const struct pythia_trace *whole,
                                struct pythia_open_points *open);

/* Begin to count again. */
void pythia__unknown_points_clear(struct pythia__unknown_points *u);

/* What was noted of points that are not known now. O(trace points). */
struct pythia_unknown_points pythia__unknown_points_sum(const struct pythia__unknown_points *u,
                                                        const struct pythia_vocabulary *v);

#endif
