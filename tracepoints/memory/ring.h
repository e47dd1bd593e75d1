/* SPDX-License-Identifier: MIT */
/* One ring: bytes that one thread writes and one reader takes, in shared memory.
 *
 *     control   0  owner       4 bytes: the thread, 0 while it is nobody's
 *              64  head        8: bytes ever written; what is before it is committed
 *              72  lost_spans, lost_ends, lost_annotations, lost_values, cut_values: 8 each
 *             128  tail        8: bytes ever taken
 *             192  to 256: zeros
 *
 *     data      0 ............................ capacity | 8 KiB beyond
 *                  byte p of the stream is at p % capacity
 *
 * The writer's and the reader's words are in cache lines of their own. A record is written in one
 * piece, beyond the end of the data if need be; what is beyond is then copied to the beginning, and
 * the head is moved with release: the record is committed, and whatever happens to the writer, it
 * is there. A writer that finds no room drops what it has and counts it; it never waits.
 *
 * Whoever enters a span sets the room for its exit aside: it is dropped wholly, or has both.
 *
 * The writer believes nothing that stands in shared memory but the tail, and of that only that it
 * is not more than a capacity behind: whatever is written there, it stays inside its ring. */
#ifndef PYTHIA_RING_H
#define PYTHIA_RING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pythia/records.h"

#define PYTHIA__RING_BEYOND 8192 /* at least a record; pages, so that rings begin at pages */

struct pythia__ring_control {
    uint32_t owner;
    uint8_t zero0[60];
    uint64_t head;
    uint64_t lost_spans, lost_ends, lost_annotations, lost_values, cut_values;
    uint8_t zero1[16];
    uint64_t tail;
    uint8_t zero2[120];
};

/* Copy bytes `from` to `to` of the stream, at most a capacity, out of a ring. */
static inline void pythia__ring_copy(const unsigned char *data, uint64_t capacity, uint64_t from,
                                     uint64_t to, unsigned char *out)
{
    uint64_t at = from & (capacity - 1), bytes = to - from;
    uint64_t first = bytes < capacity - at ? bytes : capacity - at;
    memcpy(out, data + at, first);
    memcpy(out + first, data, bytes - first);
}

#endif
