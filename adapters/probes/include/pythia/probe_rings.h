#ifndef PYTHIA_PROBE_RINGS_H
#define PYTHIA_PROBE_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/probe_hit.h"

/* The rings of the kernel, one for each processor, that probes write their hits into. A thread
 * moves between processors, so its hits are in several rings: they are put in order of time. One
 * thread at a time. */
struct pythia_probe_rings;

#define PYTHIA_PROBE_RING_PAGES 64 /* of each ring: with one more, within what a user may lock */

/* Map rings (descriptors of perf events; they are closed in any case). PYTHIA_OK with *out owned,
 * or negative with the reason in `e`. */
int pythia_probe_rings_open(const int *rings, size_t count, struct pythia_probe_rings **out,
                            struct pythia_error *e);
void pythia_probe_rings_close(struct pythia_probe_rings *r); /* r may be NULL */

/* Take all hits out of the rings, and give those that are older than `until_ns` to `each`, in order
 * of time; younger ones are held back, since an older one may still be under way in another ring.
 * The values of a hit, and then its texts, are behind it (probe_hit.h); borrowed for the call.
 * PYTHIA_OK, or the first negative status of `each`, or PYTHIA_ENOMEM. */
int pythia_probe_rings_drain(struct pythia_probe_rings *r, uint64_t until_ns,
                             int (*each)(void *context, const struct pythia_probe_hit *hit,
                                         const int64_t *values, const char *texts),
                             void *context);

/* Hits that found no place in a ring, and records that make no sense, so far. */
uint64_t pythia_probe_rings_lost(const struct pythia_probe_rings *r);

#endif
