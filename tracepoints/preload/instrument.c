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

#include "hooks.h"
#include "record/hooking.h"
#include "symbols.h"

#define DEPTH 1024 /* calls under way in a thread */

struct table {
    struct table *older; /* kept: a thread may look into it */
    size_t size, used;   /* size: a power of two */
    struct {
        uintptr_t function;
        struct pythia__hooked *of;
    } at[];
};

struct entry {
    struct pythia_scope scope;
    struct pythia_context before;
    const struct pythia__hooked *of;
    uintptr_t function;
    const void *frame; /* where its stack ended when it was entered */
    uint8_t recorded, request;
    int64_t metrics[PYTHIA__METRICS]; /* at its beginning, of the declared ones */
};

static struct table *table;
static pthread_key_t leaving;
static int ready; /* the key is there */
static int calibrated;
static uint64_t call_cost; /* ticks of a call, beyond what its span costs */
static struct pythia__hooked calibration;

static __thread struct {
    struct entry *entries; /* owned: DEPTH of them, once one is needed */
    uint32_t depth;
} self __attribute__((tls_model("initial-exec")));

/* The end of the stack of this function's caller (x86-64): the caller has not been left as long
 * as the stack ends no higher than that, and what it calls is below. */
#define CALLERS_STACK ((const void *)((const char *)__builtin_frame_address(0) + 16))

#define VISIBLE __attribute__((visibility("default"), no_instrument_function))
VISIBLE void __cyg_profile_func_enter(void *function, void *caller);
VISIBLE void __cyg_profile_func_exit(void *function, void *caller);

/* ---- which ---- */

static size_t first_slot(const struct table *t, uintptr_t function)
{
    return (size_t)((function >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (t->size - 1);
}

/* The point of a free place is only looked at once the function stands there. */
static inline struct pythia__hooked *find_hooked(uintptr_t function)
{
    const struct table *t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (!t)
        return NULL;
    for (size_t at = first_slot(t, function);; at = (at + 1) & (t->size - 1)) {
        uintptr_t there = __atomic_load_n(&t->at[at].function, __ATOMIC_ACQUIRE);
        if (there == function)
            return t->at[at].of;
        if (there == 0)
            return NULL;
    }
}

static void put_hooked(struct table *t, uintptr_t function, struct pythia__hooked *h)
{
    size_t at = first_slot(t, function);
    while (t->at[at].function)
        at = (at + 1) & (t->size - 1);
    t->at[at].of = h;
    t->used++;
    __atomic_store_n(&t->at[at].function, function, __ATOMIC_RELEASE);
}

/* Under the lock; the function is not there yet. 0: there is no memory. */
static int add_hooked(struct pythia__hooked *h, uintptr_t function)
{
    if (!table || table->used * 2 >= table->size) {
        size_t size = table ? table->size * 2 : 64;
        struct table *t = calloc(1, sizeof(*t) + size * sizeof(t->at[0]));
        if (!t)
            return 0;
        t->size = size;
        t->older = table;
        for (size_t i = 0; table && i < table->size; i++)
            if (table->at[i].function)
                put_hooked(t, table->at[i].function, table->at[i].of);
        __atomic_store_n(&table, t, __ATOMIC_RELEASE);
    }
    put_hooked(table, function, h);
    return 1;
}

struct looking {
    const char *path;
    uintptr_t base;
};

static void note_function(void *context, const char *name, uint64_t value)
{
    const struct looking *l = context;
    for (struct pythia__hooked *h = value ? pythia__declared_first(name) : NULL; h;
         h = pythia__declared_next(h, name)) {
        uintptr_t function = l->base + value;
        if (!pythia__module_is(h->declared.module, l->path) || find_hooked(function))
            continue;
        h->symbols += add_hooked(h, function) != 0;
        return;
    }
}

static void leave_entries_thread(void *entries)
{
    self.entries = NULL;
    self.depth = 0;
    munmap(entries, DEPTH * sizeof(struct entry));
}

void pythia__instrumented_look(const char *path, uintptr_t base)
{
    struct looking l = {path, base};
    const struct pythia__symbol_handler handler = {note_function, &l};
    if (!ready)
        ready = pthread_key_create(&leaving, leave_entries_thread) == 0;
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
static void end_entry(struct entry *e, int returned)
{
    if (returned == 0) {
        e->scope.error = 1;
        if (e->recorded)
            pythia__values_failed(e->of, &e->scope);
    } else if (returned > 0 && e->recorded && pythia__has_values(e->of)) {
        pythia__values_left(e->of, &e->scope, NULL, e->metrics);
    }
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
        end_entry(&self.entries[--self.depth], 0);
}

/* Calls that were left unseen: deeper on the stack than one that begins now. */
static void drop_left(const void *frame)
{
    while (self.depth > 0 && (uintptr_t)self.entries[self.depth - 1].frame < (uintptr_t)frame)
        end_entry(&self.entries[--self.depth], -1);
}

/* Only key-values that need no registers are available: the compiler has put the call of this
 * anywhere among its function's first instructions. */
static void enter_function(struct pythia__hooked *h, uintptr_t function, uintptr_t caller,
                           const void *frame)
{
    int saved = errno;
    if (has_entries())
        drop_left(frame);
    if (!self.entries || self.depth == DEPTH) {
        __atomic_fetch_add(&h->unrecorded, 1, __ATOMIC_RELAXED);
        errno = saved;
        return;
    }
    struct entry *e = &self.entries[self.depth++];
    e->of = h;
    e->function = function;
    e->frame = frame;
    e->recorded = e->request = 0;
    if (!pythia__calls_came_by_hook(function)) {
        e->request = h->declared.request != 0;
        if (e->request)
            pythia_request_begin(&h->request, &e->before);
        e->recorded = pythia_is_open(&h->point) && pythia_enter(&h->point, &e->scope) != NULL;
        if (e->recorded && e->scope.spent)
            e->scope.spent += call_cost;
        if (e->recorded && pythia__has_values(h))
            pythia__values_enter(h, &e->scope, NULL, NULL, caller, e->metrics);
    }
    errno = saved;
}

static void calibrate_entries(uint64_t span);

void __cyg_profile_func_enter(void *function, void *caller)
{
    uintptr_t at = (uintptr_t)function;
    struct pythia__hooked *h = find_hooked(at);
    if (!h && (at = pythia__stub_target(at)))
        h = find_hooked(at);
    if (h && (pythia_is_open(&h->point) || h->declared.request) && !pythia__in_callback())
        enter_function(h, at, (uintptr_t)caller, CALLERS_STACK);
}

static void leave_function(uintptr_t at)
{
    uint32_t depth = self.depth;
    while (depth > 0 && self.entries[depth - 1].function != at)
        depth--;
    if (depth == 0)
        return;
    int saved = errno;
    while (self.depth > depth)
        end_entry(&self.entries[--self.depth], -1);
    end_entry(&self.entries[--self.depth], 1);
    errno = saved;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    if (self.depth == 0)
        return;
    uintptr_t target = pythia__stub_target((uintptr_t)function);
    leave_function(target ? target : (uintptr_t)function);
    if (__builtin_expect(!__atomic_load_n(&calibrated, __ATOMIC_RELAXED), 0) &&
        pythia__cost_of_span() && !__atomic_exchange_n(&calibrated, 1, __ATOMIC_ACQ_REL))
        calibrate_entries(pythia__cost_of_span());
}

/* ---- what it costs ---- */

static void run_empty_entry(void)
{
}

static void time_empty_entries(unsigned n)
{
    void (*function)(void) = run_empty_entry;
    uintptr_t at = (uintptr_t)function;
    for (unsigned i = 0; i < n; i++) {
        enter_function(&calibration, at, at, __builtin_frame_address(0));
        leave_function(at);
    }
}

static void calibrate_entries(uint64_t span)
{
    static const uint64_t open = UINT64_MAX;
    calibration.point = (struct pythia_point){
        &open, "", 0, 1, PYTHIA_POINT_INTERNAL, PYTHIA_TRACEPOINTS_VERSION, NULL};
    uint64_t cost = ready && table ? pythia__cost_of(time_empty_entries) : 0;
    call_cost = cost > span ? cost - span : 0;
    pythia__values_calibrate();
}
