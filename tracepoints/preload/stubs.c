/* SPDX-License-Identifier: MIT */
/* Entry stubs: what a caller of a hooked function jumps to. While the point is closed that is all
 * that there is: a look at its switches, and on to the function.
 *
 *      0  endbr64                  where the processor wants indirect jumps to arrive
 *      4  movabs $point, %r11      its first member are its switches
 *     14  mov (%r11), %r11
 *     17  cmpq $0, (%r11)
 *     21  jne open
 *     23  movabs $target, %r11
 *     33  jmp *%r11
 *     36  open: movabs $hook, %r11
 *     46  jmp *enter(%rip)
 *     56  enter: the address of pythia__hook_enter
 *
 * r11 is the one register that is nobody's during a call (System V ABI, 3.2.1). Code is written to
 * pages that cannot be executed, which then become pages that cannot be written to. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hooks.h"

#define STUB_BYTES 64
#define AT_TARGET  25
#define AREA_BYTES ((size_t)16 * 4096) /* 1024 stubs */
#define PER_PAGE   (4096 / STUB_BYTES)
#define AREAS      1024
#define HASH       4096

void pythia__hook_enter(void);

struct node {
    struct pythia__hook hook;
    struct node *next;
};

static struct {
    unsigned char *areas[AREAS];
    uint32_t area_count, used; /* used: stubs in the last one */
    struct node *by_target[HASH];
} stubs;

/* Points whose request has to be known even while they are closed look at this. */
static const uint64_t always = UINT64_MAX;
static struct {
    const uint64_t *switches;
} always_open = {&always};

int pythia__is_stub(uintptr_t address)
{
    uint32_t count = __atomic_load_n(&stubs.area_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (address - (uintptr_t)stubs.areas[i] < AREA_BYTES)
            return 1;
    return 0;
}

uintptr_t pythia__stub_target(uintptr_t address)
{
    uint32_t count = __atomic_load_n(&stubs.area_count, __ATOMIC_ACQUIRE);
    uintptr_t target = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t at = (size_t)(address - (uintptr_t)stubs.areas[i]);
        if (at < AREA_BYTES)
            memcpy(&target, stubs.areas[i] + at + AT_TARGET, sizeof(target));
    }
    return target;
}

static int add_stub_area(void)
{
    if (stubs.area_count == AREAS)
        return 0;
    void *at = mmap(NULL, AREA_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 0;
    stubs.areas[stubs.area_count] = at;
    stubs.used = 0;
    __atomic_store_n(&stubs.area_count, stubs.area_count + 1, __ATOMIC_RELEASE);
    return 1;
}

static void put_address(unsigned char *code, size_t at, const void *address)
{
    memcpy(code + at, &address, sizeof(address));
}

static void write_stub(unsigned char *to, const struct pythia__hook *hook)
{
    static const unsigned char code[STUB_BYTES] = {
        0xf3, 0x0f, 0x1e, 0xfa,                                     /* endbr64 */
        0x49, 0xbb, 0,    0,    0,    0,    0,    0,    0,    0,    /* movabs $point, %r11 */
        0x4d, 0x8b, 0x1b,                                           /* mov (%r11), %r11 */
        0x49, 0x83, 0x3b, 0x00,                                     /* cmpq $0, (%r11) */
        0x75, 0x0d,                                                 /* jne open */
        0x49, 0xbb, 0,    0,    0,    0,    0,    0,    0,    0,    /* movabs $target, %r11 */
        0x41, 0xff, 0xe3,                                           /* jmp *%r11 */
        0x49, 0xbb, 0,    0,    0,    0,    0,    0,    0,    0,    /* open: movabs $hook, %r11 */
        0xff, 0x25, 0x04, 0x00, 0x00, 0x00, 0xcc, 0xcc, 0xcc, 0xcc, /* jmp *enter(%rip) */
    };
    memcpy(to, code, sizeof(code));
    put_address(to, 6, hook->of->declared.request ? (const void *)&always_open : &hook->of->point);
    put_address(to, AT_TARGET, (const void *)hook->target); /* NOLINT(performance-no-int-to-ptr) */
    put_address(to, 38, hook);
    void (*enter)(void) = pythia__hook_enter;
    memcpy(to + 56, &enter, sizeof(enter));
}

/* A page is executed while its next stub is written, by threads that pass those before it: so it is
 * written anew beside, and put in its place. */
static int place_stub(struct pythia__hook *hook)
{
    if ((stubs.area_count == 0 || stubs.used == AREA_BYTES / STUB_BYTES) && !add_stub_area())
        return 0;
    unsigned char *at = stubs.areas[stubs.area_count - 1] + (size_t)stubs.used * STUB_BYTES,
                  *page = at - (size_t)(stubs.used % PER_PAGE) * STUB_BYTES;
    unsigned char *copy =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return 0;
    memcpy(copy, page, 4096);
    write_stub(copy + (at - page), hook);
    if (mprotect(copy, 4096, PROT_READ | PROT_EXEC) != 0 ||
        mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED) {
        munmap(copy, 4096);
        return 0;
    }
    stubs.used++;
    hook->stub = (uintptr_t)at;
    return 1;
}

const struct pythia__hook *pythia__hook_of(struct pythia__hooked *of, uintptr_t target)
{
    struct node **list = &stubs.by_target[(target >> 4) % HASH];
    for (struct node *n = *list; n; n = n->next)
        if (n->hook.target == target && n->hook.of == of)
            return &n->hook;
    struct node *node = calloc(1, sizeof(*node));
    if (!node)
        return NULL;
    node->hook = (struct pythia__hook){.of = of, .target = target};
    if (!place_stub(&node->hook)) {
        free(node);
        return NULL;
    }
    node->next = *list;
    *list = node;
    return &node->hook;
}
