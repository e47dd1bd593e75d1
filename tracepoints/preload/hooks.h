/* SPDX-License-Identifier: MIT */
/* The state of the shim in a program: points that were declared, and hooks, each of which stands
 * between the callers of one function and the function.
 *
 * Hooks and points are only ever added and never freed, since code that the program has refers to
 * them. Adding is done under one lock (preload.c); calls take none. */
#ifndef PYTHIA_HOOKS_H
#define PYTHIA_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "pythia/hooked.h"
#include "pythia/tracepoints.h"

/* A declaration, and its state in this process. */
struct pythia__hooked {
    struct pythia_point point; /* first: entry stubs look at its switches */
    struct pythia_request request;
    struct pythia__declared declared;
    pythia_hooked_callback *callback; /* NULL: none */
    struct pythia__hooked *next;      /* of those whose function's name has the same hash */
    int opened;                       /* its switch was thrown, as was declared */
    uint32_t places;     /* of calls that go through a hook: entries of global offset tables */
    uint32_t symbols;    /* of functions that report by themselves (instrument.c) */
    uint64_t unrecorded; /* calls for which there was no slot */
};

/* One function, by its address. */
struct pythia__hook {
    struct pythia__hooked *of;
    uintptr_t target;
    uintptr_t stub; /* what callers jump to instead */
};

/* The registers of a call as hook_x86_64.S keeps them. */
struct pythia__registers {
    uint64_t integers[6]; /* rdi, rsi, rdx, rcx, r8, r9; of a return: [2] is rdx */
    uint64_t rax, r10;
    uint8_t vectors[8][64];
    uint64_t used, hook, spare[6];
};
_Static_assert(offsetof(struct pythia__registers, vectors) == 64, "as in hook_x86_64.S");
_Static_assert(sizeof(struct pythia__registers) == 640, "as in hook_x86_64.S");

/* ---- entry stubs (stubs.c) ---- */

/* Make the hook of a function, or find it. NULL: no memory, or none that may be executed. Under the
 * lock. */
const struct pythia__hook *pythia__hook_of(struct pythia__hooked *of, uintptr_t target);

/* Is this the address of an entry stub? And the function that it is of; 0: it is none. */
int pythia__is_stub(uintptr_t address);
uintptr_t pythia__stub_target(uintptr_t address);

/* ---- calls (calls.c) ---- */

/* Make ready: once, before the first hook. 0 or a negative errno. */
int pythia__calls_begin(void);

/* The calling thread leaves all that is deeper than this on its own stack: it has failed. `also` is
 * called for what else it leaves, unless it is in the middle of recording. */
void pythia__calls_leave(uintptr_t stack, void (*also)(uintptr_t stack));

/* Is the function that has just been entered the one that this thread has come to by a hook? Then
 * its span is there already. */
int pythia__calls_came_by_hook(uintptr_t function);

/* ---- longjmp (jumps.c) ---- */

/* Learn how the buffers of setjmp are read: once, after pythia__calls_begin. */
void pythia__jumps_begin(void);

/* ---- key-values (values.c) ---- */

/* Has a call key-values, or a callback that may set some? */
static inline int pythia__has_values(const struct pythia__hooked *h)
{
    return h->declared.key_count > 0 || h->callback != NULL;
}

/* Is the thread in a callback? Its calls are not those of the program. */
int pythia__in_callback(void);

/* Tell the callback of a call that has failed. */
void pythia__values_failed(const struct pythia__hooked *h, struct pythia_scope *scope);

/* The registers of the arguments of a call, and of its results. `stack`: where its arguments
 * on the stack begin; `metrics`: what they were at its beginning. Without registers (NULL) there
 * are neither arguments nor a result: caller and metrics are set all the same. What it takes to
 * read them is added to what the span has cost, if that is measured. */
void pythia__values_enter(const struct pythia__hooked *h, struct pythia_scope *scope,
                          const struct pythia__registers *r, const uint64_t *stack,
                          uintptr_t caller, int64_t metrics[PYTHIA__METRICS]);
void pythia__values_left(const struct pythia__hooked *h, struct pythia_scope *scope,
                         const struct pythia__registers *r, const int64_t metrics[PYTHIA__METRICS]);

/* Measure what measuring takes: once, when a span has been recorded. */
void pythia__values_calibrate(void);

/* The text of a key that names a request, into `room` of `most` bytes; its bytes. */
size_t pythia__values_request(const struct pythia__key *key, const struct pythia__registers *r,
                              const uint64_t *stack, char *room, size_t most);

/* ---- objects (objects.c) ---- */

/* Look at all objects that are loaded and were not looked at yet, and hook what was declared;
 * `instrumented` is called for those that report by themselves. Under the lock. Returns how many
 * places were hooked. */
size_t pythia__objects_look(void (*instrumented)(const char *path, uintptr_t base));

/* Have objects come or gone since? A look at a counter of the dynamic linker. */
int pythia__objects_changed(void);

/* The object at an address: its file's name without folders, and where it begins; NULL: none. */
const char *pythia__object_at(uintptr_t address, uintptr_t *begin);

/* ---- functions that report by themselves (instrument.c) ---- */

/* Look for declared functions among the symbols of an object that is compiled with
 * -finstrument-functions. Under the lock. */
void pythia__instrumented_look(const char *path, uintptr_t base);

/* The part of pythia__calls_leave for instrumented functions; it calls this. */
void pythia__instrumented_leave(uintptr_t stack);

/* ---- the plan in this process (declared.c) ---- */

/* Find a declared function by its symbols from now on. Under the lock. */
void pythia__declared_add(struct pythia__hooked *h);

/* The declared functions that a symbol is one of, one after the other; NULL: no more. */
struct pythia__hooked *pythia__declared_first(const char *symbol);
struct pythia__hooked *pythia__declared_next(const struct pythia__hooked *h, const char *symbol);

/* The real functions behind those of the same name here: find them, before the first call; their
 * addresses. */
void pythia__real_find(void);
uintptr_t pythia__real_dlopen_at(void);
uintptr_t pythia__real_dlsym_at(void);
void *pythia__real_dlopen(const char *file, int mode);
void *pythia__real_dlsym(void *handle, const char *name);

/* Tell whoever has started the program: a line, without control characters. */
void pythia__tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
