/* SPDX-License-Identifier: MIT */
/* The sites that were placed, by number and by address. They are added under a lock, and looked up
 * without. */
#include <stdlib.h>

#include "probes.h"

#define HASH       8192
#define PLACED_MAX (4u * PYTHIA__SITES_MAX) /* objects may be loaded again, elsewhere */
#define CHUNK      1024

static struct {
    struct pythia__placed *chunks[PLACED_MAX / CHUNK], *by_address[HASH];
    uint32_t count;
} placed;

uint32_t pythia__placed_count(void)
{
    return __atomic_load_n(&placed.count, __ATOMIC_ACQUIRE);
}

struct pythia__placed *pythia__placed_at_number(uint32_t number)
{
    return number < pythia__placed_count() ? &placed.chunks[number / CHUNK][number % CHUNK] : NULL;
}

static struct pythia__placed **bucket_of(uintptr_t address)
{
    return &placed.by_address[(address ^ address >> 13) % HASH];
}

struct pythia__placed *pythia__placed_exactly(uintptr_t address)
{
    struct pythia__placed *p = __atomic_load_n(bucket_of(address), __ATOMIC_ACQUIRE);
    while (p && (uintptr_t)p->at != address)
        p = p->next;
    return p;
}

struct pythia__placed *pythia__placed_around(const uint8_t *address)
{
    struct pythia__placed *p = pythia__placed_exactly((uintptr_t)address);
    for (unsigned i = 1; i < PYTHIA__SITE_JUMP && !p; i++) {
        p = pythia__placed_exactly((uintptr_t)address - i);
        if (p && (!p->site->code.begins[i] || !__atomic_load_n(&p->stub, __ATOMIC_ACQUIRE)))
            p = NULL;
    }
    return p;
}

struct pythia__placed *pythia__placed_add(const struct pythia__site *site,
                                          struct pythia__probed *of, uintptr_t base)
{
    uint32_t number = placed.count;
    if (number == PLACED_MAX)
        return NULL;
    struct pythia__placed **chunk = &placed.chunks[number / CHUNK];
    if (!*chunk)
        *chunk = calloc(CHUNK, sizeof(**chunk));
    if (!*chunk)
        return NULL;
    struct pythia__placed *p = &(*chunk)[number % CHUNK],
                          **bucket = bucket_of(base + site->address);
    *p = (struct pythia__placed){
        .site = site, .of = of, .next = *bucket, .base = base, .number = number};
    p->at = (uint8_t *)(base + site->address); /* NOLINT(performance-no-int-to-ptr) */
    if (site->semaphore)
        p->semaphore = (uint16_t *)(base + site->semaphore); /* NOLINT: an address */
    __atomic_store_n(bucket, p, __ATOMIC_RELEASE);
    __atomic_store_n(&placed.count, number + 1, __ATOMIC_RELEASE);
    return p;
}
