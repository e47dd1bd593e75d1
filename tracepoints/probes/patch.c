/* SPDX-License-Identifier: MIT */
/* Writing to code that threads are running.
 *
 * A jump of 5 bytes cannot be written at once, and a processor may have fetched a part of what was
 * there. So it is done as the kernel does it (text_poke_bp): int3 first, one byte, which is either
 * there or not; then the rest; then the first byte. Between these steps all threads of the process
 * are made to serialise what they fetch, by membarrier(2) with SYNC_CORE. Threads are not stopped:
 * stopping takes a signal to each, which interrupts system calls of the program and waits for those
 * that are blocked in the kernel; and a thread that stands at an instruction which the jump
 * overwrites would have to be moved all the same.
 *
 *     1. int3 at the nop, and at each instruction that begins in the 4 bytes after it
 *     2. the bytes between: no thread begins an instruction there now
 *     3. the jump's first byte. Those int3 that are in its displacement stay (place.c)
 *
 * and back: int3 at the nop, the bytes between, then the beginnings of instructions. Whoever meets
 * an int3 meanwhile, goes on in the moved code (trap.c). All sites that change do so together.
 *
 * Pages are writable for as long as that takes, 16 to 64 us for a site, and can be executed
 * meanwhile. A process that forks waits for it (sites.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes.h"

#define INT3 0xcc
#define JUMP 0xe9
#define PAGE ((uintptr_t)4096)

static int call_membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0 ? 0 : -errno;
}

int pythia__patch_begin(void)
{
    return call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
}

static int serialise_threads(void)
{
    return call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

/* The pages of a site: a jump may end on the next one. */
static int protect_site(const struct pythia__placed *p, int how)
{
    uintptr_t first = (uintptr_t)p->at & ~(PAGE - 1),
              end = ((uintptr_t)p->at + PYTHIA__SITE_JUMP - 1) | (PAGE - 1);
    void *at = (void *)first; /* NOLINT(performance-no-int-to-ptr) */
    return mprotect(at, end + 1 - first, how) == 0 ? 0 : -errno;
}

static void write_byte(uint8_t *at, uint8_t byte) /* NOLINT: written to */
{
    __atomic_store_n(at, byte, __ATOMIC_RELEASE);
}

/* Does a jump come or go? Else it is int3 alone. */
static int is_of_jump(const struct pythia__placed *p)
{
    return p->state == PYTHIA__SITE_JUMPING || p->to == PYTHIA__SITE_JUMPING;
}

/* The byte of the code as it was, or of the jump. */
static uint8_t find_byte(const struct pythia__placed *p, unsigned i)
{
    if (p->to != PYTHIA__SITE_JUMPING)
        return p->site->original[i];
    uint8_t code[PYTHIA__SITE_JUMP] = {JUMP};
    int32_t distance = (int32_t)(p->stub - (p->at + PYTHIA__SITE_JUMP));
    memcpy(code + 1, &distance, sizeof(distance));
    return code[i];
}

static void write_traps(const struct pythia__placed *p)
{
    write_byte(p->at, INT3);
    for (unsigned i = 1; i < PYTHIA__SITE_JUMP && p->to == PYTHIA__SITE_JUMPING; i++)
        if (p->site->code.begins[i])
            write_byte(p->at + i, INT3);
}

static void write_between(const struct pythia__placed *p)
{
    for (unsigned i = 1; i < PYTHIA__SITE_JUMP && is_of_jump(p); i++)
        if (!p->site->code.begins[i])
            write_byte(p->at + i, find_byte(p, i));
}

static void write_beginnings(const struct pythia__placed *p)
{
    for (unsigned i = 1; i < PYTHIA__SITE_JUMP && is_of_jump(p); i++)
        if (p->site->code.begins[i])
            write_byte(p->at + i, find_byte(p, i));
    if (p->to != PYTHIA__SITE_TRAPPED)
        write_byte(p->at, find_byte(p, 0));
}

/* A program looks at it before it takes the trouble of computing arguments. */
static void set_semaphore(const struct pythia__placed *p)
{
    int opens = p->state == PYTHIA__SITE_CLOSED, closes = p->to == PYTHIA__SITE_CLOSED;
    if (p->semaphore && opens && !closes)
        __atomic_fetch_add(p->semaphore, 1, __ATOMIC_RELAXED);
    if (p->semaphore && closes && !opens)
        __atomic_fetch_sub(p->semaphore, 1, __ATOMIC_RELAXED);
}

static void write_sites(struct pythia__placed *const *sites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        write_traps(sites[i]);
    serialise_threads();
    for (size_t i = 0; i < count; i++)
        write_between(sites[i]);
    serialise_threads();
    for (size_t i = 0; i < count; i++) {
        write_beginnings(sites[i]);
        set_semaphore(sites[i]);
        sites[i]->state = sites[i]->to;
    }
    serialise_threads();
}

int pythia__patch(struct pythia__placed *const *sites, size_t count)
{
    int status = 0;
    size_t writable = 0;
    while (writable < count && status == 0)
        status = protect_site(sites[writable++], PROT_READ | PROT_WRITE | PROT_EXEC);
    if (status == 0)
        status = serialise_threads(); /* it is refused before anything is written, or never */
    if (status == 0)
        write_sites(sites, count);
    for (size_t i = 0; i < writable; i++)
        protect_site(sites[i], PROT_READ | PROT_EXEC);
    return status;
}
