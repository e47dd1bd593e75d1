/* Shared by building a trace and by hiding a part of one: spans whose parents are known become a
 * forest in canonical order, with times that fit. */
#ifndef PYTHIA_TRACE_FOREST_H
#define PYTHIA_TRACE_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/trace.h"

static inline void pythia__repair(struct pythia_trace_span *span, enum pythia_repair what)
{
    span->repairs |= 1u << what;
}

static inline bool pythia__has_repair(const struct pythia_trace_span *span, enum pythia_repair what)
{
    return (span->repairs & 1u << what) != 0;
}

/* Set each span's times, names and parent, then settle. Its memory is kept for the next one; {0}
 * with a vocabulary is empty. */
struct pythia__forest {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_trace_span *spans; /* owned, as all arrays here */
    uint32_t *order, *scratch;       /* room, for others too while nothing is settled */
    struct pythia__fit *fits;        /* of each span */
    size_t capacity, fit_capacity;
    uint32_t count;
    uint32_t first_root;
};

/* Room for `count` spans. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__forest_reserve(struct pythia__forest *f, size_t count);

/* Room for what settling needs besides. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__forest_reserve_fits(struct pythia__forest *f);
void pythia__forest_free(struct pythia__forest *f);
size_t pythia__forest_bytes(const struct pythia__forest *f); /* that it holds */

/* Link children and roots in order of time, find lost ends, fit spans into their parents with the
 * repairs that takes, and find when all below each has ended. Returns how many spans go on after
 * their parent. O(n log n), no recursion. */
uint64_t pythia__forest_settle(struct pythia__forest *f);

/* Put the numbers of all spans into `order`, level by level, so that parents come before their
 * children. Every span is reached if no circle is left. */
void pythia__forest_order(const struct pythia_trace_span *spans, uint32_t first_root,
                          uint32_t *order);

/* Did `x` end after `y`, of the spans that forked work consists of? */
bool pythia__forest_ends_later(const struct pythia__forest *f, uint32_t x, uint32_t y);

/* The trace of that id whose spans these are; borrowed from the forest. */
struct pythia_trace pythia__forest_trace(const struct pythia__forest *f, struct pythia_trace_id id);

/* Before `y` in the order that does not depend on arrival: by start, then longest first, then by
 * name, then by id, then the server's half of an id last. */
bool pythia__span_before(const struct pythia_vocabulary *v, const struct pythia_trace_span *x,
                         const struct pythia_trace_span *y);

#endif
