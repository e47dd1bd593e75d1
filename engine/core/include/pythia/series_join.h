#ifndef PYTHIA_SERIES_JOIN_H
#define PYTHIA_SERIES_JOIN_H

#include <stdint.h>

#include "pythia/series.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* Series into requests: each gets, as key-values "series.<label>" of its first root, the last value
 * of each series at or before its start. So a queue's length explains a request as if the program
 * had put it there. One thread at a time. */
struct pythia_series_join;

struct pythia_series_join_counts {
    uint64_t joined;  /* key-values that were given */
    uint64_t missing; /* that no series had a value for, young enough */
};

/* `set` (finished) and `vocabulary` are borrowed. A value that was measured more than `age_ns`
 * before the request began is too old to say anything of it. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_series_join_create(const struct pythia_series_set *set, uint64_t age_ns,
                              struct pythia_vocabulary *vocabulary,
                              struct pythia_series_join **out);
void pythia_series_join_destroy(struct pythia_series_join *j); /* j may be NULL */

/* The trace with its key-values: borrowed, until the next call. NULL: out of memory. O(spans +
 * series * log points). */
const struct pythia_trace *pythia_series_join_trace(struct pythia_series_join *j,
                                                    const struct pythia_trace *trace);

/* All traces will come again: count anew. */
void pythia_series_join_again(struct pythia_series_join *j);

/* The samples that were joined to requests so far, and the requests that found none. */
struct pythia_series_join_counts pythia_series_join_counts(const struct pythia_series_join *j);

#endif
