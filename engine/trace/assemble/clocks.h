/* Whose clocks disagree within a trace, and by how much each has to be moved. All spans of one
 * process read one clock, so that one shift for each clock, which fits all calls between it and
 * other clocks, is nearer to the truth than a shift for each span. */
#ifndef PYTHIA_TRACE_CLOCKS_H
#define PYTHIA_TRACE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "forest.h"

/* The part of a span that is needed to fit it into its parent. */
struct pythia__fit {
    union {
        int64_t moved_ns; /* by how much the span was moved */
        uint32_t next[2]; /* while shifts are searched: the next span that was called by the clock
                             of this one's caller, and by this clock's callers */
    };
    uint64_t end_ns; /* as it was reported, or found from below */
    uint32_t clock;
    bool same;  /* it reads the clock of the span that led to it */
    bool later; /* a call that began after its parent had ended: nobody waited for it */
    bool rough; /* on one clock with its parent, and both starts were cut to milliseconds */
};

/* Clocks of one trace whose shift is remembered. Each span of a further clock is placed by itself,
 * which loses the distance between two spans of that clock, but none of their lengths. */
#define PYTHIA__CLOCKS_MAX  256
#define PYTHIA__CLOCK_OTHER UINT32_MAX /* of a span: none of these */

struct pythia__clocks {
    struct pythia__clock {
        uint64_t key; /* a host; or a process whose host is not known */
        int64_t shift_ns;
        uint32_t called, calls; /* the first span of this clock that another clock called, and the
                                   first of another clock that this one called */
        bool placed;
    } known[PYTHIA__CLOCKS_MAX];
    uint32_t count;
    uint32_t longest;
    bool off; /* a call does not lie in its caller: some clocks are moved */
    /* A hash table by key: number + 1. It is of a fixed size on the stack, unlike a
     * pythia_hash_table, because settling a trace reserves its memory first and cannot fail. */
    uint16_t slots[2 * PYTHIA__CLOCKS_MAX];
};

/* Set each span's clock in `fits`, and find how far each clock has to be moved, which is 0 for all
 * of them if every call fits into its caller. `longest` is the root whose clock stays. The forest's
 * order has parents before children; fits[].moved_ns is overwritten. O(n). */
void pythia__clocks_find(struct pythia__clocks *c, struct pythia__forest *f, uint32_t longest);

/* By how much a span is moved because of its clock. */
int64_t pythia__clocks_shift(const struct pythia__clocks *c, const struct pythia__forest *f,
                             uint32_t span);

/* Has a span a clock without a common base with that of `cause`, which led to it? */
bool pythia__clocks_are_apart(const struct pythia__forest *f, const struct pythia_trace_span *span,
                              const struct pythia_trace_span *cause);

#endif
