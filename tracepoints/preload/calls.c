/* SPDX-License-Identifier: MIT */
/* Calls of hooked functions that are under way.
 *
 * Each has a slot, whose return stub (hook_x86_64.S) stands on the stack in place of the return
 * address. A slot is known by that stub and not by its order, so that coroutines may switch stacks,
 * and calls may end on another thread than they began on.
 *
 * A call that is left by longjmp never comes back to its stub: its span is ended there (jumps.c).
 * What is left by other means is seen when its thread enters another hook: the place of the stub is
 * below the stack pointer, or holds something else. Its span then gets no end, since nobody knows
 * when that was, and the thread stands again where it stood before it. This is only looked at on
 * the thread's own stack: of other stacks nobody knows whether they are still there. Slots that
 * were left this way are used again only when there are no others.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "hook_x86_64.h"
#include "hooks.h"
#include "record/hooking.h"

#define NONE        UINT32_MAX
#define STUB_BYTES  16
#define MAIN_STACK  ((uintptr_t)64 << 20) /* below its top, where no other mapping can be */
#define SHSTK_STATE 0x5005                /* arch_prctl: ARCH_SHSTK_STATUS, Linux 6.6 */

enum state {
    FREE,
    LIVE,
    DONE,    /* it has returned, and is in a list that was not this thread's to change */
    UNWOUND, /* an exception has gone through it */
    LEFT,    /* it will not return, as far as anybody can tell */
};

struct slot {
    struct pythia_scope scope;
    struct pythia_context before; /* of the request that began here */
    struct pythia__hooked *of;
    uint32_t below;   /* the call before it on this thread; of a free one: the next */
    uint32_t chained; /* a call that has jumped to this one as its last act, and ends with it */
    uint8_t state;
    uint8_t recorded, request;
    int64_t metrics[PYTHIA__METRICS]; /* at its beginning, of the declared ones */
};

/* In the assembly: a return address and its place on the stack, for each slot. */
struct returning {
    uintptr_t to;
    uintptr_t *place;
};
extern unsigned char pythia__hook_stubs[];
extern struct returning pythia__hook_returns[];

uint8_t pythia__hook_wide; /* 1: there are wider registers than xmm, 2: and no XGETBV for them */

static struct slot slots[PYTHIA__SLOTS];
static uint64_t free_slots = NONE; /* first of them, and in the upper half a count of changes */
static uint32_t fresh;             /* those from here on were never used */
static pthread_key_t leaving;
static int calibrated;
static uint64_t hook_cost; /* ticks of a call, beyond what its span costs */

struct calls {
    uint32_t last; /* + 1: the latest call under way; 0: none */
    uint32_t kept; /* + 1: free slots of this thread */
    uint32_t kept_count;
    uint8_t busy, known, registered;
    uintptr_t stack_low, stack_high; /* this thread's own */
    uintptr_t by_hook;               /* the function that a hook has just jumped to */
};

static __thread struct calls self __attribute__((tls_model("initial-exec")));

/* ---- slots ---- */

static uint32_t pop_free(void)
{
    uint64_t head = __atomic_load_n(&free_slots, __ATOMIC_ACQUIRE), next;
    do {
        uint32_t first = (uint32_t)head;
        if (first == NONE)
            return NONE;
        next = ((head >> 32) + 1) << 32 | __atomic_load_n(&slots[first].below, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&free_slots, &head, next, 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    return (uint32_t)head;
}

static void push_free(uint32_t slot)
{
    uint64_t head = __atomic_load_n(&free_slots, __ATOMIC_ACQUIRE), next;
    do {
        __atomic_store_n(&slots[slot].below, (uint32_t)head, __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 | slot;
    } while (!__atomic_compare_exchange_n(&free_slots, &head, next, 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
}

/* The last resort: slots of calls that were left. */
static uint32_t take_left(void)
{
    for (uint32_t i = 0; i < PYTHIA__SLOTS; i++) {
        uint8_t left = LEFT;
        if (__atomic_compare_exchange_n(&slots[i].state, &left, FREE, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            push_free(i);
    }
    return pop_free();
}

static uint32_t take_slot(struct calls *c)
{
    if (c->kept) {
        uint32_t slot = c->kept - 1;
        c->kept = slots[slot].below;
        c->kept_count--;
        return slot;
    }
    uint32_t slot = pop_free();
    if (slot == NONE && __atomic_load_n(&fresh, __ATOMIC_RELAXED) < PYTHIA__SLOTS) {
        slot = __atomic_fetch_add(&fresh, 1, __ATOMIC_RELAXED);
        slot = slot < PYTHIA__SLOTS ? slot : NONE;
    }
    return slot == NONE ? take_left() : slot;
}

#define KEPT_MAX 64

static void give_slot(struct calls *c, uint32_t slot)
{
    slots[slot].state = FREE;
    if (c->kept_count == KEPT_MAX) {
        push_free(slot);
        return;
    }
    slots[slot].below = c->kept;
    c->kept = slot + 1;
    c->kept_count++;
}

/* Free a slot, and the slots chained to it. */
static void give_all(struct calls *c, uint32_t slot)
{
    for (uint32_t at = slot + 1; at;) {
        uint32_t next = slots[at - 1].chained;
        slots[at - 1].chained = 0;
        give_slot(c, at - 1);
        at = next;
    }
}

/* The thread ends: its free slots are for others, and so are, as a last resort, those of calls that
 * have not come back. */
static void leave_calls_thread(void *calls)
{
    struct calls *c = calls;
    c->registered = 0;
    for (; c->last; c->last = slots[c->last - 1].below)
        __atomic_store_n(&slots[c->last - 1].state, LEFT, __ATOMIC_RELEASE);
    while (c->kept) {
        uint32_t slot = c->kept - 1;
        c->kept = slots[slot].below;
        push_free(slot);
    }
    c->kept_count = 0;
}

/* ---- what was left by longjmp ---- */

/* The part of the mapping around a thread's control block that is its stack: glibc puts the one at
 * the top of the other. By system calls alone, since this may be in a signal handler. */
static void find_stack(struct calls *c)
{
    char text[4096];
    uintptr_t self_at = (uintptr_t)pthread_self(), low = 0, number = 0, first = 0;
    c->known = 1;
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    int place = 0; /* 0: in the first number of a line, 1: in the second, 2: behind them */
    for (ssize_t size;
         file >= 0 && !low && (size = syscall(SYS_read, file, text, sizeof(text))) > 0;)
        for (ssize_t i = 0; i < size && !low; i++) {
            char b = text[i];
            unsigned digit = b <= '9' ? (unsigned)(b - '0') : (unsigned)(b - 'a' + 10);
            if (b == '\n') {
                place = 0;
                number = 0;
            } else if (place < 2 && digit < 16) {
                number = number << 4 | digit;
            } else if (place == 0) {
                first = number;
                number = 0;
                place = 1;
            } else if (place == 1) {
                if (first <= self_at && self_at < number)
                    low = first;
                place = 2;
            }
        }
    if (file >= 0)
        syscall(SYS_close, file);
    c->stack_low = low;
    c->stack_high = low ? self_at : 0;
}

extern void *__libc_stack_end;

static void know_stack(struct calls *c)
{
    if (c->known)
        return;
    if (syscall(SYS_gettid) == getpid()) {
        c->stack_high = (uintptr_t)__libc_stack_end;
        c->stack_low = c->stack_high - MAIN_STACK;
        c->known = 1;
    } else {
        find_stack(c);
    }
}

static int is_own_stack(const struct calls *c, uintptr_t at)
{
    return at >= c->stack_low && at < c->stack_high;
}

static uintptr_t stub_of(uint32_t slot)
{
    return (uintptr_t)pythia__hook_stubs + (uintptr_t)slot * STUB_BYTES;
}

/* Was this call left without returning, seen from a place on the stack that is used now? */
static int was_left(struct calls *c, uint32_t slot, const uintptr_t *now)
{
    const uintptr_t *place = pythia__hook_returns[slot].place;
    if (place > now && !c->known)
        return 0;
    know_stack(c);
    if (!is_own_stack(c, (uintptr_t)place) || !is_own_stack(c, (uintptr_t)now))
        return 0;
    return place < now || *place != stub_of(slot);
}

static void abandon_slot(uint32_t slot)
{
    struct slot *s = &slots[slot];
    if (s->recorded)
        pythia__abandon(&s->scope);
    if (s->request)
        pythia_request_end(&s->before);
    s->recorded = s->request = 0;
}

/* Drop what is over from the top of the thread's calls. */
static void drop_over(struct calls *c, const uintptr_t *now)
{
    while (c->last) {
        uint32_t slot = c->last - 1;
        struct slot *s = &slots[slot];
        if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == DONE) {
            c->last = s->below;
            give_all(c, slot);
        } else if (s->state == UNWOUND || was_left(c, slot, now)) {
            c->last = s->below;
            for (uint32_t at = slot + 1; at;) {
                uint32_t next = slots[at - 1].chained;
                abandon_slot(at - 1);
                __atomic_store_n(&slots[at - 1].state, LEFT, __ATOMIC_RELEASE);
                at = next;
            }
        } else {
            return;
        }
    }
}

/* ---- entering ---- */

static __attribute__((noinline)) void begin_hooked_request(struct pythia__hooked *h, struct slot *s,
                                                           const struct pythia__registers *r,
                                                           const uint64_t *stack)
{
    char name[PYTHIA_NAME_BYTES + 56]; /* the stack may be a small one */
    size_t bytes = 0;
    pythia_request_begin(&h->request, &s->before);
    s->request = 1;
    if (h->declared.request_key.name_bytes)
        bytes = pythia__values_request(&h->declared.request_key, r, stack, name, sizeof(name));
    if (bytes)
        pythia__request_named(name, bytes);
}

/* A call that has ended where this one begins (a jump as the last act of a function) is this one's
 * to end. Returns where the latter will go. */
static uintptr_t chain_slot(struct calls *c, struct slot *s, const uintptr_t *place)
{
    uintptr_t to = *place, at = to - (uintptr_t)pythia__hook_stubs;
    s->chained = 0;
    if (at >= (uintptr_t)PYTHIA__SLOTS * STUB_BYTES)
        return to;
    uint32_t slot = (uint32_t)(at / STUB_BYTES);
    if (c->last != slot + 1)
        return to; /* not the latest of this thread: its stub stays, and is returned to */
    s->chained = slot + 1;
    c->last = slots[slot].below;
    return pythia__hook_returns[slot].to;
}

/* Where a call comes from. After a jump as the last act of a hooked function the return address is
 * the stub of that one, which knows where it goes back to. */
static uintptr_t find_caller(uintptr_t to)
{
    uintptr_t at = to - (uintptr_t)pythia__hook_stubs;
    return at < (uintptr_t)PYTHIA__SLOTS * STUB_BYTES ? pythia__hook_returns[at / STUB_BYTES].to
                                                      : to;
}

/* Begin what was declared of a call, in a slot; 0: nothing of it is open. */
static int begin_call_record(struct calls *c, uint32_t slot, struct pythia__hook *hook,
                             const struct pythia__registers *r, uintptr_t *place)
{
    struct slot *s = &slots[slot];
    struct pythia__hooked *h = hook->of;
    const uint64_t *stack = (const uint64_t *)place + 1;
    uintptr_t caller = *place;
    s->of = h;
    s->request = 0;
    if (h->declared.request)
        begin_hooked_request(h, s, r, stack);
    s->recorded = pythia_is_open(&h->point) && pythia_enter(&h->point, &s->scope) != NULL;
    if (!s->recorded && !s->request)
        return 0;
    pythia__hook_returns[slot] = (struct returning){chain_slot(c, s, place), place};
    s->below = c->last;
    c->last = slot + 1;
    __atomic_store_n(&s->state, LIVE, __ATOMIC_RELEASE);
    *place = stub_of(slot);
    c->by_hook = hook->target;
    if (s->recorded && s->scope.spent)
        s->scope.spent += hook_cost;
    if (s->recorded && pythia__has_values(h))
        pythia__values_enter(h, &s->scope, r, stack, find_caller(caller), s->metrics);
    return 1;
}

/* ---- what it costs ---- */

static void run_empty_hook(void)
{
}

static struct pythia__hooked calibration;
static const struct pythia__hook *calibration_hook;

static void time_empty_hooks(unsigned n)
{
    void (*volatile plain)(void) = run_empty_hook;
    for (unsigned i = 0; i < n; i++)
        plain();
}

static void call_hooked(unsigned n)
{
    void (*hooked)(void);
    memcpy(&hooked, &calibration_hook->stub, sizeof(hooked));
    for (unsigned i = 0; i < n; i++)
        hooked();
}

/* Record the cost of a hooked call beyond its span: once, when a span has been recorded. */
static __attribute__((noinline)) void calibrate(struct calls *c)
{
    int none = 0;
    uint64_t span = pythia__cost_of_span();
    if (!span || !calibration_hook || c->last ||
        !__atomic_compare_exchange_n(&calibrated, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    uint64_t plain = pythia__cost_of(time_empty_hooks), hooked = pythia__cost_of(call_hooked);
    pythia__values_calibrate();
    hook_cost = hooked > plain + span ? hooked - plain - span : 0;
}

/* Returns where the call goes on. */
uintptr_t pythia__hook_entered(struct pythia__hook *hook, const struct pythia__registers *r,
                               uintptr_t *place);
uintptr_t pythia__hook_entered(struct pythia__hook *hook, const struct pythia__registers *r,
                               uintptr_t *place)
{
    struct calls *c = &self;
    /* A callback's own call is not the program's; or a signal handler is in the middle of this. */
    if (c->busy || pythia__in_callback()) {
        if (!pythia__in_callback())
            __atomic_fetch_add(&hook->of->unrecorded, 1, __ATOMIC_RELAXED);
        return hook->target;
    }
    int saved = errno;
    if (__builtin_expect(__atomic_load_n(&calibrated, __ATOMIC_RELAXED) == 0, 0))
        calibrate(c);
    c->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!c->registered)
        c->registered = pthread_setspecific(leaving, c) == 0;
    drop_over(c, place);
    uint32_t slot = take_slot(c);
    if (slot == NONE)
        __atomic_fetch_add(&hook->of->unrecorded, 1, __ATOMIC_RELAXED);
    else if (!begin_call_record(c, slot, hook, r, place))
        give_slot(c, slot);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->busy = 0;
    errno = saved;
    return hook->target;
}

int pythia__calls_came_by_hook(uintptr_t function)
{
    struct calls *c = &self;
    int came = c->by_hook == function;
    c->by_hook = 0;
    return came;
}

/* ---- leaving ---- */

/* End what a slot has begun, and what has jumped to it. r: NULL if nothing was returned. */
static void finish_slot(uint32_t slot, const struct pythia__registers *r)
{
    for (uint32_t at = slot + 1; at; at = slots[at - 1].chained) {
        struct slot *s = &slots[at - 1];
        if (s->recorded) {
            if (!r) {
                s->scope.error = 1;
                pythia__values_failed(s->of, &s->scope);
            } else if (pythia__has_values(s->of) || s->of->declared.error) {
                pythia__values_left(s->of, &s->scope, r, s->metrics);
            }
            pythia_exit(&s->scope);
        }
        if (s->request)
            pythia_request_end(&s->before);
        s->recorded = s->request = 0;
    }
}

void pythia__hook_left(uint64_t number, const struct pythia__registers *r);
void pythia__hook_left(uint64_t number, const struct pythia__registers *r)
{
    struct calls *c = &self;
    uint32_t slot = (uint32_t)number;
    struct slot *s = &slots[slot];
    int saved = errno, was_busy = c->busy;
    if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != LIVE)
        return; /* taken for one that was left: its span has no end */
    c->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->by_hook = 0;
    if (!was_busy)
        finish_slot(slot, r);
    if (c->last == slot + 1 && !was_busy) {
        c->last = s->below;
        give_all(c, slot);
    } else { /* another thread's, or not the latest: who has it in its list gives it back */
        __atomic_store_n(&s->state, DONE, __ATOMIC_RELEASE);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->busy = (uint8_t)was_busy;
    errno = saved;
}

/* A function has failed by longjmp or an exception: the calls whose frames it left will not return,
 * and are finished here. */
void pythia__calls_leave(uintptr_t stack, void (*also)(uintptr_t stack))
{
    struct calls *c = &self;
    int saved = errno;
    know_stack(c);
    if (c->busy || !is_own_stack(c, stack) ||
        !is_own_stack(c, (uintptr_t)__builtin_frame_address(0)))
        return;
    c->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (uint32_t slot = c->last - 1; c->last; slot = c->last - 1) {
        uintptr_t place = (uintptr_t)pythia__hook_returns[slot].place;
        if (!is_own_stack(c, place) || place >= stack)
            break;
        c->last = slots[slot].below;
        if (__atomic_load_n(&slots[slot].state, __ATOMIC_ACQUIRE) == LIVE)
            finish_slot(slot, NULL);
        for (uint32_t at = slot + 1; at; at = slots[at - 1].chained)
            __atomic_store_n(&slots[at - 1].state, LEFT, __ATOMIC_RELEASE);
    }
    also(stack);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->busy = 0;
    errno = saved;
}

/* ---- unwinding ---- */

extern uintptr_t _Unwind_GetIP(struct _Unwind_Context *context) __attribute__((weak));

/* The latest call of the thread that is under way. */
static uint32_t find_latest(const struct calls *c)
{
    uint32_t at = c->last;
    while (at && __atomic_load_n(&slots[at - 1].state, __ATOMIC_ACQUIRE) != LIVE)
        at = slots[at - 1].below;
    return at ? at - 1 : NONE;
}

/* An exception, or the end of a thread, goes through a hooked call. Where the unwinder cannot be
 * asked which one, it is the latest. */
_Unwind_Reason_Code pythia__hook_personality(int version, _Unwind_Action actions, uint64_t kind,
                                             struct _Unwind_Exception *exception,
                                             struct _Unwind_Context *context);
_Unwind_Reason_Code pythia__hook_personality(int version, _Unwind_Action actions, uint64_t kind,
                                             struct _Unwind_Exception *exception,
                                             struct _Unwind_Context *context)
{
    struct calls *c = &self;
    (void)version, (void)kind, (void)exception;
    if (!(actions & _UA_CLEANUP_PHASE))
        return _URC_CONTINUE_UNWIND;
    uintptr_t at =
        _Unwind_GetIP ? _Unwind_GetIP(context) - (uintptr_t)pythia__hook_stubs : UINTPTR_MAX;
    uint32_t slot = find_latest(c);
    if (at < (uintptr_t)PYTHIA__SLOTS * STUB_BYTES)
        slot = (uint32_t)(at / STUB_BYTES);
    if (slot != NONE && __atomic_load_n(&slots[slot].state, __ATOMIC_ACQUIRE) == LIVE) {
        int was_busy = c->busy;
        c->busy = 1;
        finish_slot(slot, NULL);
        /* The unwinder has yet to read its return address, so it is not given back here. */
        __atomic_store_n(&slots[slot].state, UNWOUND, __ATOMIC_RELEASE);
        c->busy = (uint8_t)was_busy;
    }
    return _URC_CONTINUE_UNWIND;
}

/* ---- beginning ---- */

static void choose_registers(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX))
        return;
    pythia__hook_wide = __get_cpuid_count(13, 1, &a, &b, &c, &d) && (a & 4) ? 1 : 2;
}

int pythia__calls_begin(void)
{
    uint64_t shadow = 0;
    if (syscall(SYS_arch_prctl, SHSTK_STATE, &shadow) == 0 && (shadow & 1))
        return -ENOTSUP;
    if (mprotect(pythia__hook_returns, sizeof(struct returning) * PYTHIA__SLOTS,
                 PROT_READ | PROT_WRITE) != 0)
        return -errno;
    int status = pthread_key_create(&leaving, leave_calls_thread);
    if (status != 0)
        return -status;
    static const uint64_t open = UINT64_MAX;
    calibration.point = (struct pythia_point){
        &open, "", 0, 1, PYTHIA_POINT_INTERNAL, PYTHIA_TRACEPOINTS_VERSION, NULL};
    calibration.declared.name = calibration.declared.types = "";
    void (*function)(void) = run_empty_hook;
    calibration_hook = pythia__hook_of(&calibration, (uintptr_t)function);
    choose_registers();
    return 0;
}
