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

/* The writer's side. */
struct pythia__ring {
    struct pythia__ring_control *control;
    unsigned char *data;
    uint64_t capacity, head, tail; /* tail: as it was when it was last looked at */
    uint64_t reserved;             /* bytes set aside for exits */
};

/* The ring seems half full: look at the tail, and tell the reader if it is. 0 if there is no room
 * for so many bytes. */
int pythia__ring_look(struct pythia__ring *r, uint64_t wanted);

/* Take over a ring, wherever its last writer left it. */
static inline void
pythia__ring_take(struct pythia__ring *r, struct pythia__ring_control *control,
                  unsigned char *data, /* NOLINT(readability-non-const-parameter): written to */
                  uint64_t capacity)
{
    uint64_t head = __atomic_load_n(&control->head, __ATOMIC_RELAXED) & ~(uint64_t)7;
    *r =
        (struct pythia__ring){.control = control, .data = data, .capacity = capacity, .head = head};
    r->tail = head - capacity; /* full, until it is looked at */
}

/* Where to write `bytes`, aligned to 8, if there is room for so many and `keep` more beside what is
 * set aside; else NULL. */
static inline void *pythia__ring_room(struct pythia__ring *r, uint64_t bytes, uint64_t keep)
{
    uint64_t wanted = bytes + keep + r->reserved;
    if (__builtin_expect(r->head - r->tail + wanted > r->capacity / 2, 0) &&
        !pythia__ring_look(r, wanted))
        return NULL;
    return r->data + (r->head & (r->capacity - 1));
}

/* Ask for the cache lines that will be written next: the reader's processor has them since it last
 * looked, and to wait for them would cost more than to write a record. */
static inline void pythia__ring_fetch(const unsigned char *next)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw 128(%0)\n\tprefetchw 192(%0)" : : "r"(next));
#else
    __builtin_prefetch(next + 128, 1);
    __builtin_prefetch(next + 192, 1);
#endif
}

/* What was written there counts from now on. */
static inline void pythia__ring_commit(struct pythia__ring *r, uint64_t bytes)
{
    uint64_t at = r->head & (r->capacity - 1);
    if (__builtin_expect(at + bytes > r->capacity, 0))
        memcpy(r->data, r->data + r->capacity, at + bytes - r->capacity);
    r->head += bytes;
    pythia__ring_fetch(r->data + at + bytes);
    __atomic_store_n(&r->control->head, r->head, __ATOMIC_RELEASE);
}

static inline void pythia__ring_lose(uint64_t *count) /* NOLINT(readability-non-const-parameter) */
{
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

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
