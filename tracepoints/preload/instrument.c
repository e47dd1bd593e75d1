/* SPDX-License-Identifier: MIT */
/* Functions of objects that are compiled with -finstrument-functions: each tells when it is entered
 * and left, by its address, static ones too. Which of them are declared is looked up in the file's
 * symbol table when the object is loaded; after that it is a look into a hash table. A call that
 * has come by a hook has its span already. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../hooking.h"
#include "hooks.h"
#include "symbols.h"

#define DEPTH 1024 /* calls under way in a thread */

struct table {
    size_t size, used; /* size: a power of two */
    struct {
        uintptr_t function;
        struct pythia__hooked *of;
    } at[];
};

struct entry {
    struct pythia_scope scope;
    struct pythia_context before;
    uintptr_t function;
    const void *frame;
    uint8_t recorded, request;
};

static struct table *table; /* tables are never freed: a thread may look into an older one */
static pthread_key_t leaving;
static int ready; /* the key is there */

static __thread struct {
    struct entry *entries; /* owned: DEPTH of them, once one is needed */
    uint32_t depth;
} self __attribute__((tls_model("initial-exec")));

#define VISIBLE __attribute__((visibility("default"), no_instrument_function))
VISIBLE void __cyg_profile_func_enter(void *function, void *caller);
VISIBLE void __cyg_profile_func_exit(void *function, void *caller);

/* ---- which ---- */

static size_t slot_of(const struct table *t, uintptr_t function)
{
    size_t at = (size_t)((function >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (t->size - 1);
    while (t->at[at].function && t->at[at].function != function)
        at = (at + 1) & (t->size - 1);
    return at;
}

static struct pythia__hooked *find(uintptr_t function)
{
    const struct table *t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    return t ? t->at[slot_of(t, function)].of : NULL;
}

/* A table with one more, to be looked into from now on. */
static int add(struct pythia__hooked *h, uintptr_t function)
{
    size_t size = table ? table->size : 64, used = table ? table->used : 0;
    size *= used * 2 >= size ? 2 : 1;
    struct table *t = calloc(1, sizeof(*t) + size * sizeof(t->at[0]));
    if (!t)
        return 0;
    t->size = size;
    for (size_t i = 0; table && i < table->size; i++)
        if (table->at[i].function)
            t->at[slot_of(t, table->at[i].function)] = table->at[i];
    size_t at = slot_of(t, function);
    t->used = used + (t->at[at].function == 0);
    t->at[at].function = function;
    t->at[at].of = h;
    __atomic_store_n(&table, t, __ATOMIC_RELEASE);
    return 1;
}

struct looking {
    const char *path;
    uintptr_t base;
};

static void take_function(void *context, const char *name, uint64_t value)
{
    const struct looking *l = context;
    for (struct pythia__hooked *h = value ? pythia__declared_first(name) : NULL; h;
         h = pythia__declared_next(h, name)) {
        uintptr_t function = l->base + value;
        if (!pythia__module_is(h->declared.module, l->path) || find(function))
            continue;
        h->symbols += add(h, function) != 0;
        return;
    }
}

static void leave_thread(void *entries)
{
    self.entries = NULL;
    self.depth = 0;
    munmap(entries, DEPTH * sizeof(struct entry));
}

void pythia__instrumented_look(const char *path, uintptr_t base)
{
    struct looking l = {path, base};
    const struct pythia__symbol_handler handler = {take_function, &l};
    if (!ready)
        ready = pthread_key_create(&leaving, leave_thread) == 0;
    if (ready)
        pythia__symbols_read(path, &handler);
}

/* ---- calls ---- */

static int has_entries(void)
{
    if (self.entries)
        return 1;
    void *at = mmap(NULL, DEPTH * sizeof(struct entry), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 0;
    pthread_setspecific(leaving, at);
    self.entries = at;
    return 1;
}

/* returned: 1, or 0 if it was left; -1: nobody knows when. */
static void end(struct entry *e, int returned)
{
    if (returned == 0)
        e->scope.error = 1;
    if (e->recorded && returned >= 0)
        pythia_exit(&e->scope);
    else if (e->recorded)
        pythia__abandon(&e->scope);
    if (e->request)
        pythia_request_end(&e->before);
}

void pythia__instrumented_leave(uintptr_t stack)
{
    while (self.depth > 0 && (uintptr_t)self.entries[self.depth - 1].frame < stack)
        end(&self.entries[--self.depth], 0);
}

/* Calls that were left unseen: deeper on the stack than one that begins now. */
static void tidy(const void *frame)
{
    while (self.depth > 0 && (uintptr_t)self.entries[self.depth - 1].frame < (uintptr_t)frame)
        end(&self.entries[--self.depth], -1);
}

static void enter(struct pythia__hooked *h, uintptr_t function, const void *frame)
{
    int saved = errno;
    if (has_entries())
        tidy(frame);
    if (!self.entries || self.depth == DEPTH) {
        __atomic_fetch_add(&h->unrecorded, 1, __ATOMIC_RELAXED);
        errno = saved;
        return;
    }
    struct entry *e = &self.entries[self.depth++];
    e->function = function;
    e->frame = frame;
    e->recorded = e->request = 0;
    if (!pythia__calls_came_by_hook(function)) {
        e->request = h->declared.request != 0;
        if (e->request)
            pythia_request_begin(&h->request, &e->before);
        e->recorded = pythia_is_open(&h->point) && pythia_enter(&h->point, &e->scope) != NULL;
    }
    errno = saved;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    uintptr_t at = (uintptr_t)function;
    struct pythia__hooked *h = find(at);
    (void)caller;
    if (!h && (at = pythia__stub_target(at)))
        h = find(at);
    if (h && (pythia_is_open(&h->point) || h->declared.request))
        enter(h, at, __builtin_frame_address(0));
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    uintptr_t at = (uintptr_t)function, target;
    (void)caller;
    if (self.depth == 0)
        return;
    if ((target = pythia__stub_target(at)))
        at = target;
    uint32_t depth = self.depth;
    while (depth > 0 && self.entries[depth - 1].function != at)
        depth--;
    if (depth == 0)
        return;
    int saved = errno;
    while (self.depth > depth)
        end(&self.entries[--self.depth], -1);
    end(&self.entries[--self.depth], 1);
    errno = saved;
}
