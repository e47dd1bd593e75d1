#ifndef PYTHIA_CALL_SUMMARY_H
#define PYTHIA_CALL_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

/* Calls of one callpath that were summed up where they were made or answered. Numbers are those of
 * a vocabulary; times are nanoseconds. Public, by value. */
struct pythia_call_summary {
    const uint32_t *points; /* the callpath: trace points, the root first; borrowed */
    uint32_t depth;         /* of them, at least 1 */
    uint32_t resource;      /* the process that has measured it */
    uint32_t peer;          /* the process on the other side; PYTHIA_NONE: not known */
    uint32_t peer_service;  /* a string */
    bool target;            /* measured by the side that was called */
    uint64_t calls;         /* at least 1 */
    uint64_t sum_ns, min_ns, max_ns;
    double variance_ns2; /* divided by `calls`; NaN: not known */
};

#endif
