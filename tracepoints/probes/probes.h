/* SPDX-License-Identifier: MIT */
/* Static probes (USDT) of a program that nobody instrumented, in the program itself: their sites
 * are patched while somebody wants what they report, and are as the compiler left them else.
 *
 * `placed.c` knows the sites of this process, `place.c` finds a place for the moved code, `patch.c`
 * writes to code that threads are running, `trap.c` takes int3, `hits.c` makes spans of hits, and
 * `sites.c` brings what is patched in line with what is wanted. */
#ifndef PYTHIA_PROBES_H
#define PYTHIA_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/tracepoints.h"
#include "site_plan.h"

/* ---- what is known ---- */

/* A trace point: a pair of probes, or a single one. Never freed. */
struct pythia__probed {
    struct pythia_point point;
    struct pythia_request request;
    const struct pythia__site_point *plan;
    uint32_t places;   /* sites that were found in this process */
    uint32_t closings; /* how often a site of it was closed */
    uint8_t opened;    /* its switch was thrown, as was declared */
    uint8_t has_only;  /* a key of it is to be a certain text */
    uint8_t is_slow;   /* it begins requests, or has texts */
};

enum pythia__site_state {
    PYTHIA__SITE_CLOSED,  /* as the compiler left it */
    PYTHIA__SITE_TRAPPED, /* int3 */
    PYTHIA__SITE_JUMPING, /* a jump */
};

/* A site at its address in this process. Never freed: a thread may still be on its way to it, or in
 * its stub, when it is closed, or when its object is unloaded. */
struct pythia__placed {
    const struct pythia__site *site;
    struct pythia__probed *of;
    struct pythia__placed *next; /* of those whose address has the same hash */
    uintptr_t base;              /* of its object */
    uint8_t *at;
    uint16_t *semaphore; /* NULL: there is none */
    uint8_t *stub;       /* NULL: only int3 can stand there */
    uint8_t *moved;      /* the moved code in the stub */
    uint32_t number;     /* of all that were placed */
    uint8_t state, to;   /* enum pythia__site_state: as it is, and as it is to be */
    uint8_t gone;        /* its object was unloaded */
    uint8_t no_place;    /* there was none for a stub */
    uint8_t was_trapped; /* int3 was there, ever */
};

/* Registers at a hit, in the order of struct pt_regs, as operands name them. */
struct pythia__probe_registers {
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip,
        cs, flags, rsp, ss;
};
_Static_assert(sizeof(struct pythia__probe_registers) == 168, "as in probe_x86_64.S");

/* ---- beginning and end (sites.c) ---- */

/* The state of the shim for it. */
struct pythia__probes_host {
    /* Report a line to whoever started the program. */
    void (*tell)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    /* Throw the switch of a point that was found: point number `index` of the plan. */
    void (*open)(size_t index, const char *name);
};

/* Read the plan at `path`, if there is one, patch what is wanted, and go on doing so until the end.
 * Once, before the program's own code. `host` is borrowed for good. */
void pythia__probes_begin(const char *path, const struct pythia__probes_host *host);

/* Objects have come or gone: look for sites again. Any thread. */
void pythia__probes_look(void);

/* The program ends: everything is put back, and what was counted is reported. */
void pythia__probes_end(void);

/* ---- what was placed (placed.c) ---- */

/* Add a site of an object with this base; NULL: there is no memory. Under the lock. */
struct pythia__placed *pythia__placed_add(const struct pythia__site *site,
                                          struct pythia__probed *of, uintptr_t base);

/* So many there are, and the one of a number; NULL: none. Any thread, without a lock, as below. */
uint32_t pythia__placed_count(void);
struct pythia__placed *pythia__placed_at_number(uint32_t number);

/* The site at an address; NULL: none. And also the one whose jump has overwritten the beginning of
 * an instruction there. */
struct pythia__placed *pythia__placed_exactly(uintptr_t address);
struct pythia__placed *pythia__placed_around(const uint8_t *address);

/* ---- places (place.c) ---- */

/* Write the stub of a site: what a jump there leads to. Under the lock. 0, or a negative errno:
 * there is no place within reach. */
int pythia__probe_place(struct pythia__placed *p);

/* ---- patching (patch.c) ---- */

/* Can code be patched on this kernel? 0 or a negative errno. Once in each process. */
int pythia__patch_begin(void);

/* Bring all these sites from `state` to `to`. Under the lock, and while their objects cannot be
 * unloaded. 0, or a negative errno: those that could not be changed are as they were. */
int pythia__patch(struct pythia__placed *const *sites, size_t count);

/* ---- int3 (trap.c) ---- */

/* Take SIGTRAP. 0 or a negative errno. */
int pythia__trap_begin(void);

/* Is SIGTRAP still taken? A program can set it without the C library's knowledge. */
int pythia__trap_is_ours(void);

/* ---- hits (hits.c) ---- */

/* Make ready: once, before the first site is patched. `anywhere`: spans need no request. */
int pythia__hits_begin(int anywhere);

/* A thread has hit a site. The first returns 1 if it has recorded that with no vector registers but
 * the lower halves of xmm0 to xmm15, and 0 if it has done nothing, because the second is needed:
 * for requests and texts, and now and then for any other. */
int pythia__probe_hit_quick(uint64_t number, const struct pythia__probe_registers *r);
void pythia__probe_hit(uint64_t number, const struct pythia__probe_registers *r);

struct pythia__hit_counts {
    uint64_t hits;       /* in all */
    uint64_t spans;      /* hits that began one, or were an event */
    uint64_t outside;    /* of no request */
    uint64_t unmatched;  /* that end what is not open */
    uint64_t abandoned;  /* spans that were left without an end */
    uint64_t unrecorded; /* in a signal handler that came in the middle of a hit; too deep; no
                            memory */
};
struct pythia__hit_counts pythia__hits_count(void);

/* Copy the string at `from` as a system call does it, which fails where memory cannot be read.
 * Returns its bytes, at most `most`, without a NUL; -1 if it cannot be read. */
long pythia__text_copy(uint64_t from, char *to, size_t most);

#endif
