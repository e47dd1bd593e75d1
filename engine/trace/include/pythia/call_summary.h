#ifndef PYTHIA_CALL_SUMMARY_H
#define PYTHIA_CALL_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/call_parts.h"

/* The tasks in a pool of the target, looked at by each call that arrives. */
struct pythia_pool_sizes {
    uint64_t sum, low, high; /* over the calls */
};

/* Calls of one callpath that were summed up where they were made or answered. Numbers are those of
 * a vocabulary; times are nanoseconds. Public, by value. */
struct pythia_call_summary {
    /* The callpath: trace points, the root first; borrowed. After that of a client stands the one of
     * the server that it calls. */
    const uint32_t *points;
    uint32_t depth;        /* of them, at least 1 */
    uint32_t resource;     /* the process that has measured it */
    uint32_t peer;         /* the process on the other side; PYTHIA_NONE: not known */
    uint32_t peer_service; /* a string */
    bool target;           /* measured by the side that was called */
    uint64_t calls;        /* at least 1 */
    uint64_t sum_ns, min_ns, max_ns;
    double variance_ns2; /* divided by `calls`; NaN: not known */
    uint32_t told;       /* bits of the parts that were measured: those of this side */
    uint64_t parts_ns[PYTHIA_CALL_TIMES]; /* sums */
    bool has_pools;
    struct pythia_pool_sizes runnable, all; /* tasks that could run; and those that waited, too */
};

#endif
