/* SPDX-License-Identifier: MIT */
/* A hit of a site becomes the begin or the end of a span of the library, which is below the span
 * that is open on the thread, whoever has begun that one.
 *
 * A span may be left without its second probe: by an error of the program, which jumps over it, or
 * because its point was closed meanwhile. The first ends, as failed, with the span around it; the
 * second gets no end, and is gone when the thread hits its next site. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pairs.h"
#include "probes.h"
#include "record/hooking.h"

#define PAGE       4096
#define TEXT_BYTES 256 /* of a string that is kept */

/* As in enum pythia_usdt_operand_kind. */
enum { UNKNOWN, CONSTANT, REGISTER, MEMORY };
#define NO_REGISTER 0xff

struct frame {
    struct pythia_scope scope;
    struct pythia_context before; /* of the request that began here */
    struct pythia__probed *of;
    uint32_t closings; /* of the point, until it began */
    uint8_t recorded, request;
};

/* The state of a thread; another thread takes it over when it ends. */
struct hitting {
    struct hitting *next; /* of all, ever */
    int taken;
    uint32_t timed; /* spans that are open, and whose cost is measured */
    uintptr_t busy; /* where on the stack a hit is being recorded; 0: nowhere */
    struct pythia__hit_counts counts;
    struct pythia__pairs pairs;
    struct frame frames[PYTHIA__PAIRS_DEPTH];
};

static struct {
    struct hitting *all;
    pthread_key_t leaving;
    int anywhere;
    uint64_t without_memory;
} hits;

uint8_t pythia__probe_state; /* which instruction saves vectors: 1 XSAVEC, 2 XSAVE, 0 FXSAVE */

static __thread struct hitting *self __attribute__((tls_model("initial-exec")));

/* ---- threads ---- */

static void leave_hitting_thread(void *of)
{
    struct hitting *t = of;
    t->counts.abandoned += t->pairs.depth;
    t->pairs.depth = 0;
    self = NULL;
    __atomic_store_n(&t->taken, 0, __ATOMIC_RELEASE);
}

static struct hitting *take_over(void)
{
    for (struct hitting *t = __atomic_load_n(&hits.all, __ATOMIC_ACQUIRE); t; t = t->next) {
        int taken = 0;
        if (__atomic_compare_exchange_n(&t->taken, &taken, 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return t;
    }
    return NULL;
}

/* The first hit of a thread, which may be in a signal handler: memory comes from the kernel. */
static __attribute__((noinline)) struct hitting *begin_thread(void)
{
    struct hitting *t = take_over();
    if (!t) {
        t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (t == MAP_FAILED) {
            __atomic_fetch_add(&hits.without_memory, 1, __ATOMIC_RELAXED);
            return NULL;
        }
        t->taken = 1;
        t->next = __atomic_load_n(&hits.all, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&hits.all, &t->next, t, 0, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED))
            ;
    }
    t->busy = 0;
    t->timed = 0;
    self = t;
    pthread_setspecific(hits.leaving, t);
    return t;
}

/* The other threads are the parent's, and so is what was counted. */
static void forget_parent(void)
{
    hits.without_memory = 0;
    for (struct hitting *t = hits.all; t; t = t->next) {
        t->counts = (struct pythia__hit_counts){0};
        if (t == self)
            continue;
        t->pairs.depth = 0;
        t->taken = 0;
    }
}

static void choose_state(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    pythia__probe_state = __get_cpuid_count(13, 1, &a, &b, &c, &d) && (a & 2) ? 1 : 2;
}

int pythia__hits_begin(int anywhere)
{
    choose_state();
    hits.anywhere = anywhere;
    int status = pthread_key_create(&hits.leaving, leave_hitting_thread);
    return status ? -status : -pthread_atfork(NULL, NULL, forget_parent);
}

struct pythia__hit_counts pythia__hits_count(void)
{
    struct pythia__hit_counts all = {.unrecorded = hits.without_memory};
    for (const struct hitting *t = __atomic_load_n(&hits.all, __ATOMIC_ACQUIRE); t; t = t->next) {
        all.hits += t->counts.hits;
        all.spans += t->counts.spans;
        all.outside += t->counts.outside;
        all.unmatched += t->counts.unmatched;
        all.abandoned += t->counts.abandoned;
        all.unrecorded += t->counts.unrecorded;
    }
    return all;
}

/* ---- arguments ---- */

long pythia__text_copy(uint64_t from, char *to, size_t most)
{
    size_t got = 0;
    while (got < most) { /* page by page: the one behind the string may not be there */
        size_t wanted = PAGE - (size_t)((from + got) % PAGE);
        wanted = wanted < most - got ? wanted : most - got;
        struct iovec local = {to + got, wanted},
                     remote = {(void *)(uintptr_t)(from + got), wanted}; /* NOLINT: an address */
        ssize_t size = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
        if (size <= 0)
            return got > 0 ? (long)got : -1;
        const char *end = memchr(to + got, '\0', (size_t)size);
        if (end)
            return end - to;
        got += (size_t)size;
    }
    return (long)got;
}

static uint64_t read_register(const struct pythia__probe_registers *r, uint8_t at)
{
    uint64_t value;
    memcpy(&value, (const char *)r + at, sizeof(value));
    return value;
}

/* Nothing says that a note is right: what is not on the page of the stack pointer, which is there,
 * is read by a system call. */
static int read_hit_memory(const struct pythia__probe_registers *r, uint64_t from, unsigned bytes,
                           uint64_t *out)
{
    *out = 0;
    if (from / PAGE == r->rsp / PAGE && (from + bytes - 1) / PAGE == r->rsp / PAGE) {
        const char *at = (const char *)(uintptr_t)from; /* NOLINT: an address */
        if (bytes == 8)
            memcpy(out, at, 8);
        else if (bytes == 4)
            memcpy(out, at, 4);
        else if (bytes == 2)
            memcpy(out, at, 2);
        else
            memcpy(out, at, 1);
        return 1;
    }
    struct iovec local = {out, bytes},
                 remote = {(void *)(uintptr_t)from, bytes}; /* NOLINT: an address */
    int saved = errno;
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    errno = saved;
    return got == (ssize_t)bytes;
}

/* The value of an argument, extended to 64 bits; 0 if it cannot be read. */
static int read_hit_operand(const struct pythia__site_operand *o,
                            const struct pythia__probe_registers *r, int64_t *out)
{
    uint64_t bits;
    if (o->kind == CONSTANT) {
        bits = (uint64_t)o->value;
    } else if (o->kind == REGISTER) {
        bits = read_register(r, o->base) >> (o->high ? 8 : 0);
    } else if (o->kind == MEMORY) {
        uint64_t at = read_register(r, o->base) + (uint64_t)o->value;
        if (o->index != NO_REGISTER)
            at += read_register(r, o->index) * o->scale;
        if (!read_hit_memory(r, at, o->bytes, &bits))
            return 0;
    } else {
        return 0;
    }
    unsigned shift = 64 - 8u * o->bytes;
    *out = o->is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)(bits << shift >> shift);
    return 1;
}

static int read_hit_key(const struct pythia__placed *p, const struct pythia__site_key *k,
                        const struct pythia__probe_registers *r, int64_t *out)
{
    return k->argument < p->site->operand_count &&
           read_hit_operand(&p->site->operands[k->argument], r, out);
}

/* Bytes of a text argument in `room` of TEXT_BYTES; -1 if it cannot be read. */
static long read_hit_text(const struct pythia__placed *p, const struct pythia__site_key *k,
                          const struct pythia__probe_registers *r, char *room)
{
    int64_t from;
    return read_hit_key(p, k, r, &from) ? pythia__text_copy((uint64_t)from, room, TEXT_BYTES) : -1;
}

static __attribute__((noinline)) void set_text(const struct pythia__placed *p,
                                               const struct pythia__site_key *k,
                                               const struct pythia__probe_registers *r,
                                               const struct pythia_scope *scope)
{
    char room[TEXT_BYTES];
    long bytes = read_hit_text(p, k, r, room);
    if (bytes >= 0)
        pythia_set_text(scope, k->name, k->name_bytes, room, (size_t)bytes);
    else
        pythia_set_text(scope, k->name, k->name_bytes, "(unreadable)", 12);
}

static void set_keys(const struct pythia__placed *p, const struct pythia__probe_registers *r,
                     const struct pythia_scope *scope)
{
    const struct pythia__site_point *plan = p->of->plan;
    for (uint32_t i = 0; i < plan->key_count; i++) {
        const struct pythia__site_key *k = &plan->keys[i];
        int64_t value;
        if (k->done != p->site->done)
            continue;
        if (k->text)
            set_text(p, k, r, scope);
        else if (read_hit_key(p, k, r, &value))
            pythia_set_integer(scope, k->name, k->name_bytes, k->is_int ? (int32_t)value : value);
    }
}

/* A hit is of a point if its texts are as "only" has them. */
static __attribute__((noinline)) int is_of_point(const struct pythia__placed *p,
                                                 const struct pythia__probe_registers *r)
{
    const struct pythia__site_point *plan = p->of->plan;
    for (uint32_t i = 0; i < plan->key_count; i++) {
        char room[TEXT_BYTES];
        const struct pythia__site_key *k = &plan->keys[i];
        if (!*k->only)
            continue;
        long bytes = read_hit_text(p, k, r, room);
        if (bytes != (long)strlen(k->only) || memcmp(room, k->only, (size_t)bytes) != 0)
            return 0;
    }
    return 1;
}

/* ---- requests ---- */

/* The type of a request is that of the statement that it executes, and its caller is the one that
 * a comment of the statement names. Whether the caller samples is not asked: the point is open. */
static void name_request(const struct pythia__placed *p, const struct pythia__probe_registers *r)
{
    const struct pythia__site_point *plan = p->of->plan;
    char room[TEXT_BYTES], type[PYTHIA__TYPE_BYTES];
    struct pythia_context caller;
    size_t size = 0;
    for (uint32_t i = 0; i < plan->key_count; i++) {
        const struct pythia__site_key *k = &plan->keys[i];
        long bytes = k->text && !k->done ? read_hit_text(p, k, r, room) : -1;
        if (bytes < 0)
            continue;
        const char *header = pythia__statement_caller(room, (size_t)bytes);
        if (header && pythia_traceparent_read(header, PYTHIA_TRACEPARENT_BYTES, &caller) == 0) {
            caller.flags |= PYTHIA_CONTEXT_SAMPLED;
            pythia_context_set(&caller, NULL);
        }
        if ((int32_t)i == plan->type)
            size = pythia__statement_type(room, (size_t)bytes, type);
    }
    if (size)
        pythia__request_named(type, size);
    else
        pythia__request_named(p->of->request.name, p->of->request.name_bytes);
}

static __attribute__((noinline)) void begin_request(struct frame *f, const struct pythia__placed *p,
                                                    const struct pythia__probe_registers *r)
{
    pythia_request_begin(&p->of->request, &f->before);
    f->request = 1;
    name_request(p, r);
}

/* ---- frames ---- */

/* End the innermost spans until so many are left. */
static void abandon_frames(struct hitting *t, uint32_t depth)
{
    while (t->pairs.depth > depth) {
        struct frame *f = &t->frames[--t->pairs.depth];
        t->timed -= f->recorded && f->scope.spent;
        if (f->recorded)
            pythia__abandon(&f->scope);
        if (f->request)
            pythia_request_end(&f->before);
        t->counts.abandoned += f->recorded;
    }
}

/* The second probe of a point that was closed meanwhile was not hit, or was it never to be. */
static int was_closed(const struct frame *f)
{
    return f->closings != __atomic_load_n(&f->of->closings, __ATOMIC_RELAXED);
}

static void drop_closed(struct hitting *t)
{
    while (t->pairs.depth > 0 && was_closed(&t->frames[t->pairs.depth - 1]))
        abandon_frames(t, t->pairs.depth - 1);
}

static void end_frame(struct hitting *t, int failed)
{
    struct frame *f = &t->frames[--t->pairs.depth];
    t->timed -= f->recorded && f->scope.spent;
    if (f->recorded) {
        f->scope.error |= failed != 0;
        pythia_exit(&f->scope);
    }
    if (f->request)
        pythia_request_end(&f->before);
}

static void begin_frame(struct hitting *t, const struct pythia__placed *p,
                        const struct pythia__probe_registers *r)
{
    struct frame *f = &t->frames[t->pairs.depth];
    f->of = p->of;
    f->closings = __atomic_load_n(&p->of->closings, __ATOMIC_RELAXED);
    f->request = 0;
    if (p->of->plan->flags & PYTHIA__SITE_REQUEST)
        begin_request(f, p, r);
    f->recorded = pythia_is_open(&p->of->point) && pythia_enter(&p->of->point, &f->scope) != NULL;
    if (f->recorded) {
        t->counts.spans++;
        t->timed += f->scope.spent != 0;
        set_keys(p, r, &f->scope);
    }
    t->pairs.points[t->pairs.depth++] = p->site->point;
}

static void end_frames(struct hitting *t, const struct pythia__placed *p,
                       const struct pythia__probe_registers *r, uint32_t left)
{
    while (t->pairs.depth > left + 1)
        if (was_closed(&t->frames[t->pairs.depth - 1]))
            abandon_frames(t, t->pairs.depth - 1);
        else
            end_frame(t, 1);
    if (t->frames[left].recorded)
        set_keys(p, r, &t->frames[left].scope);
    end_frame(t, 0);
}

/* A probe that stands alone: a span without a duration. */
static void record_event(struct hitting *t, const struct pythia__placed *p,
                         const struct pythia__probe_registers *r)
{
    struct pythia_scope scope;
    if (!pythia_is_open(&p->of->point) || !pythia_enter(&p->of->point, &scope))
        return;
    t->counts.spans++;
    set_keys(p, r, &scope);
    pythia_exit(&scope);
}

static void take_hit(struct hitting *t, const struct pythia__placed *p,
                     const struct pythia__probe_registers *r)
{
    uint32_t flags = p->of->plan->flags, left = 0;
    struct pythia_scope room;
    drop_closed(t);
    if (p->of->has_only && !is_of_point(p, r))
        return;
    if (flags & PYTHIA__SITE_EVENT) {
        record_event(t, p, r);
        return;
    }
    switch (pythia__pair_decide(&t->pairs, p->site->point, p->site->done,
                                (flags & PYTHIA__SITE_REQUEST) != 0, &left)) {
    case PYTHIA__PAIR_ANEW:
        abandon_frames(t, 0);
        begin_frame(t, p, r);
        break;
    case PYTHIA__PAIR_BEGIN:
        begin_frame(t, p, r);
        break;
    case PYTHIA__PAIR_OUTSIDE:
        if (!p->site->done && (hits.anywhere || pythia_here(&room)))
            begin_frame(t, p, r);
        else
            t->counts.outside++;
        break;
    case PYTHIA__PAIR_DEEP:
        t->counts.unrecorded++;
        abandon_frames(t, 0);
        break;
    case PYTHIA__PAIR_END:
        end_frames(t, p, r, left);
        break;
    case PYTHIA__PAIR_UNMATCHED:
        t->counts.unmatched++;
        break;
    }
}

/* Another hit of this thread has begun and not ended. Either this is a signal handler in the middle
 * of it, or such a handler has left it for good, by longjmp: then its frame is below this one. That
 * says nothing on the stack that a thread has for its handlers. */
static __attribute__((noinline)) int is_in_handler(uintptr_t before, uintptr_t here)
{
    stack_t stack;
    return here < before || sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK);
}

static void record_hit(struct hitting *t, const struct pythia__placed *p,
                       const struct pythia__probe_registers *r)
{
    uintptr_t here = (uintptr_t)r;
    t->counts.hits++;
    if (__builtin_expect(t->busy != 0, 0)) {
        t->counts.unrecorded++; /* this one, or the one that was left */
        if (is_in_handler(t->busy, here))
            return;
        pythia__recover();
    }
    t->busy = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    take_hit(t, p, r);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

int pythia__probe_hit_quick(uint64_t number, const struct pythia__probe_registers *r)
{
    const struct pythia__placed *p = pythia__placed_at_number((uint32_t)number);
    struct hitting *t = self;
    if (!t || !p || t->busy || t->timed || p->of->is_slow || !pythia__is_quick(&p->of->point))
        return 0;
    record_hit(t, p, r);
    return 1;
}

/* Kernel's set of all signals but those that instructions raise. */
#define SIGNAL(number) (UINT64_C(1) << ((number)-1))
static const uint64_t blocked =
    ~(SIGNAL(SIGTRAP) | SIGNAL(SIGSEGV) | SIGNAL(SIGBUS) | SIGNAL(SIGILL) | SIGNAL(SIGFPE));

/* This way takes locks, which a signal handler must not leave by longjmp. */
void pythia__probe_hit(uint64_t number, const struct pythia__probe_registers *r)
{
    int saved = errno;
    uint64_t before;
    const struct pythia__placed *p = pythia__placed_at_number((uint32_t)number);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, &before, sizeof(before));
    struct hitting *t = self ? self : begin_thread();
    if (t && p)
        record_hit(t, p, r);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    errno = saved;
}
