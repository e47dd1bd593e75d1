/* SPDX-License-Identifier: MIT */
/* The side of a ring (ring.h) that writes: one thread, which never waits. */
#ifndef PYTHIA_RING_WRITER_H
#define PYTHIA_RING_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memory/ring.h"

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

/* Commit what was written there. */
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

#endif
