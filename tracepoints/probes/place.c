/* SPDX-License-Identifier: MIT */
/* Stubs: what a jump at a site leads to.
 *
 *      0  lea -128(%rsp), %rsp     below the red zone; flags are left alone
 *      5  push $number
 *     10  call *enter(%rip)        pythia__probe_enter keeps and restores everything
 *     16  lea 136(%rsp), %rsp
 *     24  the moved instructions
 *      …  jmp back
 *      …  enter: the address of pythia__probe_enter
 *
 * A jump of 5 bytes overwrites a nop of one byte and what follows it. A thread may stand at one of
 * the overwritten instructions, or jump there later: nobody knows all jumps of a program. So each
 * byte of the jump's displacement that was the beginning of an instruction has to be 0xcc, int3,
 * from where the trap handler goes on in the moved code. This is instruction punning: Chamith,
 * Svensson, Dalessandro, Newton, "Instruction Punning: Lightweight Instrumentation for x86-64",
 * PLDI 2017. A stub is where the displacement is such a number.
 *
 * Pages with code are never writable: they are written beside, and put in their place. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "probes.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define AREA_BYTES ((size_t)8192) /* two pages: a stub may begin anywhere in the first */
#define AREAS_MAX  16384
#define HEAD_BYTES 24
#define TRIES_MAX  8192
#define REACH      ((int64_t)0x7fff0000)

void pythia__probe_enter(void);

static struct area {
    uint8_t *at;
    uint8_t used[AREA_BYTES / 8 / 8]; /* a bit for each 8 bytes */
} areas[AREAS_MAX];
static uint32_t area_count;

/* ---- which displacements may be ---- */

/* The bytes of a displacement that have to be int3, as a mask. */
static uint32_t find_mask(const struct pythia__site_code *code)
{
    uint32_t mask = 0;
    for (unsigned i = 1; i < PYTHIA__SITE_JUMP; i++)
        if (code->begins[i])
            mask |= UINT32_C(0xff) << (8 * (i - 1));
    return mask;
}

static int fits_mask(int64_t distance, uint32_t mask)
{
    return distance >= -REACH && distance <= REACH &&
           ((uint32_t)distance & mask) == (UINT32_C(0xcccccccc) & mask);
}

/* ---- areas ---- */

static int is_free(const struct area *a, size_t from, size_t bytes)
{
    for (size_t i = from / 8; i <= (from + bytes - 1) / 8; i++)
        if (a->used[i / 8] >> (i % 8) & 1)
            return 0;
    return 1;
}

static void set_used(struct area *a, size_t from, size_t bytes)
{
    for (size_t i = from / 8; i <= (from + bytes - 1) / 8; i++)
        a->used[i / 8] |= (uint8_t)(1u << (i % 8));
}

/* A place in an area that exists; 0: there is none. */
static uint8_t *find_in_area(struct area *a, const uint8_t *after, uint32_t mask, size_t bytes)
{
    int64_t first = a->at - after;
    size_t step = mask & 0xff ? 256 : 8,
           begin = mask & 0xff ? (size_t)(0xcc - (uint64_t)first) & 0xff : 0;
    if (first > REACH || first < -REACH)
        return NULL;
    for (size_t from = begin; from + bytes <= AREA_BYTES; from += step)
        if (fits_mask(first + (int64_t)from, mask) && is_free(a, from, bytes)) {
            set_used(a, from, bytes);
            return a->at + from;
        }
    return NULL;
}

/* The n-th distance to try: the nearest come first, below the site before above it, because a
 * program's heap grows above it. */
static int64_t find_jump_distance(uint32_t n, uint32_t mask)
{
    uint32_t distance = UINT32_C(0xcccccccc) & mask;
    uint32_t low = n & 0xff, high = n >> 8; /* of bytes 2 and 3 */
    int below = (high & 1) == 0;
    uint32_t third = mask & 0xff0000 ? 0xcc : below ? 0xff - low : low;
    uint32_t fourth = below ? 0xff - high / 2 : high / 2;
    if (mask & 0xff0000) { /* only the last byte is free, and the second if it is */
        third = 0xcc;
        fourth = n & 1 ? n / 2 & 0x7f : 0xff - (n / 2 & 0x7f);
    }
    if (mask & 0xff000000) {
        fourth = 0xcc;
        third = mask & 0xff0000 ? 0xcc : n & 0xff;
    }
    distance |= third << 16 | fourth << 24;
    if (!(mask & 0xff00) && mask & 0xff0000)
        distance |= (n >> 8 & 0xff) << 8;
    return (int32_t)distance;
}

static uint8_t *add_patch_area(const uint8_t *after, uint32_t mask, size_t bytes)
{
    for (uint32_t n = 0; n < TRIES_MAX && area_count < AREAS_MAX; n++) {
        int64_t distance = find_jump_distance(n, mask);
        uintptr_t at = (uintptr_t)after + (uintptr_t)distance;
        if (!fits_mask(distance, mask) || (distance < 0 && at > (uintptr_t)after) || at < 65536)
            continue;
        void *wanted = (void *)(at & ~(uintptr_t)4095); /* NOLINT(performance-no-int-to-ptr) */
        void *got = mmap(wanted, AREA_BYTES, PROT_READ | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == MAP_FAILED && errno != EEXIST && errno != ENOMEM && errno != EPERM)
            return NULL; /* memory that can be executed is refused */
        if (got == MAP_FAILED)
            continue;
        if (got != wanted) { /* a kernel before 4.17, which does not know that flag */
            munmap(got, AREA_BYTES);
            continue;
        }
        struct area *a = &areas[area_count++];
        *a = (struct area){.at = got};
        set_used(a, at & 4095, bytes);
        return (uint8_t *)at; /* NOLINT(performance-no-int-to-ptr) */
    }
    return NULL;
}

static uint8_t *find_place(const uint8_t *after, uint32_t mask, size_t bytes, struct area **of)
{
    uint8_t *at = NULL;
    for (uint32_t i = area_count; i-- > 0 && !at;)
        if ((at = find_in_area(&areas[i], after, mask, bytes)))
            *of = &areas[i];
    if (!at && (at = add_patch_area(after, mask, bytes)))
        *of = &areas[area_count - 1];
    return at;
}

/* ---- the code ---- */

/* Fill in the addresses; 0 if one is too far away. */
static int fill_in(const struct pythia__site_code *code, uint8_t *copy, const uint8_t *moved,
                   uintptr_t base)
{
    for (unsigned i = 0; i < code->fixup_count; i++) {
        const struct pythia__site_fixup *f = &code->fixups[i];
        uintptr_t target = base + f->target;
        int64_t distance = (int64_t)(target - ((uintptr_t)moved + f->end));
        uint32_t bits = f->kind == PYTHIA__FIXUP_LOW    ? (uint32_t)target
                        : f->kind == PYTHIA__FIXUP_HIGH ? (uint32_t)(target >> 32)
                                                        : (uint32_t)distance;
        if (f->kind == PYTHIA__FIXUP_RELATIVE && distance != (int32_t)distance)
            return 0;
        memcpy(copy + f->at, &bits, sizeof(bits));
    }
    return 1;
}

/* Threads run in other stubs of these pages: a copy takes their place, which has this one, too. */
static int replace_pages(const struct area *a, uint8_t *at, const uint8_t *stub, size_t bytes)
{
    uint8_t *copy =
        mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return -errno;
    memcpy(copy, a->at, AREA_BYTES);
    memcpy(copy + (at - a->at), stub, bytes);
    if (mprotect(copy, AREA_BYTES, PROT_READ | PROT_EXEC) != 0 ||
        mremap(copy, AREA_BYTES, AREA_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, a->at) == MAP_FAILED) {
        int status = -errno;
        munmap(copy, AREA_BYTES);
        return status;
    }
    return 0;
}

int pythia__probe_place(struct pythia__placed *p)
{
    static const uint8_t head[HEAD_BYTES] = {
        0x48, 0x8d, 0x64, 0x24, 0x80,          /* lea -128(%rsp), %rsp */
        0x68, 0,    0,    0,    0,             /* push $number */
        0xff, 0x15, 0,    0,    0,    0,       /* call *enter(%rip) */
        0x48, 0x8d, 0xa4, 0x24, 136,  0, 0, 0, /* lea 136(%rsp), %rsp */
    };
    const struct pythia__site_code *code = &p->site->code;
    uint8_t stub[HEAD_BYTES + PYTHIA__SITE_MOVED_MAX + 16] = {0};
    size_t bytes = HEAD_BYTES + (size_t)code->size + 5 + sizeof(uintptr_t);
    struct area *of = NULL;
    uint8_t *at = find_place(p->at + PYTHIA__SITE_JUMP, find_mask(code), bytes, &of);
    if (!at)
        return -ENOMEM;
    memcpy(stub, head, sizeof(head));
    memcpy(stub + 6, &p->number, sizeof(p->number));
    uint32_t to_enter = (uint32_t)(bytes - sizeof(uintptr_t) - 16);
    memcpy(stub + 12, &to_enter, sizeof(to_enter));
    memcpy(stub + HEAD_BYTES, code->bytes, code->size);
    int64_t back = p->at + code->original - (at + HEAD_BYTES + code->size + 5);
    int32_t near = (int32_t)back;
    stub[HEAD_BYTES + code->size] = 0xe9;
    memcpy(stub + HEAD_BYTES + code->size + 1, &near, sizeof(near));
    void (*enter)(void) = pythia__probe_enter;
    memcpy(stub + bytes - sizeof(enter), &enter, sizeof(enter));
    if (near != back || !fill_in(code, stub + HEAD_BYTES, at + HEAD_BYTES, p->base))
        return -ERANGE;
    int status = replace_pages(of, at, stub, bytes);
    if (status == 0) {
        p->moved = at + HEAD_BYTES;
        __atomic_store_n(&p->stub, at, __ATOMIC_RELEASE);
    }
    return status;
}
