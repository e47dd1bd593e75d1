#ifndef PYTHIA_SIDE_H
#define PYTHIA_SIDE_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/exact_moments.h"
#include "pythia/groups.h"
#include "pythia/trace.h"

/* One side of a comparison: groups of requests, and beside them what was seen off the critical
 * paths too: which trace points requests pass and how often, which of their spans failed, and how
 * long the capture took. Nothing depends on the order in which traces are added. One thread at a
 * time. */
struct pythia_side;

/* A trace point in the requests of one type. Where the stream is a sample, numbers of requests are
 * those of equal weight that the seen ones are worth (pythia_exact_moments_count): what tests may
 * count. */
struct pythia_side_point {
    uint32_t tracepoint;
    uint32_t kinds;                     /* bit 1 << enum pythia_span_kind for each kind seen */
    uint64_t requests, failed_requests; /* with a span of it; with one that failed */
    struct pythia_exact_moments visits; /* spans of it in each request, over all requests */
};

/* The type of the same index in the groups. */
struct pythia_side_type {
    uint64_t failed_requests;         /* in which some span failed */
    struct pythia_side_point *points; /* in order of id */
    size_t point_count;
    /* for side.c */
    size_t point_capacity;
    uint32_t *index; /* by number of a trace point: index + 1 */
    size_t index_size;
};

/* `vocabulary` is borrowed; both sides of a comparison have the same one. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_side_create(struct pythia_vocabulary *vocabulary,
                       const struct pythia_groups_options *options, struct pythia_side **out);
void pythia_side_destroy(struct pythia_side *s); /* s may be NULL */

/* Make a part of a side, for one of `parts` threads, and add what a part has gathered, which takes
 * it, also on failure: as pythia_groups_create_part and pythia_groups_join (groups_merge.h).
 * PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_ELIMIT if there are more requests than can be counted. */
int pythia_side_create_part(struct pythia_side *whole, size_t parts, struct pythia_side **out);
int pythia_side_join(struct pythia_side *s, struct pythia_side *part);

/* Add one request, unless it is incomplete. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia_side_add(struct pythia_side *s, const struct pythia_trace *trace);

/* No more will be added. Call it once, before the functions below. */
int pythia_side_finish(struct pythia_side *s);

/* All borrowed until _destroy. */
const struct pythia_groups *pythia_side_groups(const struct pythia_side *s);
const struct pythia_side_type *pythia_side_types(const struct pythia_side *s, size_t *count);
struct pythia_vocabulary *pythia_side_vocabulary(const struct pythia_side *s);

/* For how long requests began: from the first to the last, without pauses of a minute and more, as
 * a capture of several parts has them. 0 for less than 2 requests. */
uint64_t pythia_side_covered_ns(const struct pythia_side *s);

#endif
