/* SPDX-License-Identifier: MIT */
/* Arguments and results as key-values. Nothing says that what was declared is so: a pointer may be
 * none, and a string may have no end. So strings are copied by a system call, which fails where
 * memory cannot be read, and at most as many bytes as were asked for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "hooks.h"
#include "probes/probes.h"
#include "record/hooking.h"

static __attribute__((noinline)) void set_key_text(const struct pythia_scope *scope,
                                                   const struct pythia__key *k, uint64_t from)
{
    char text[PYTHIA_TEXT_BYTES];
    size_t most = k->bytes;
    long bytes = from ? pythia__text_copy(from, text, most) : 0;
    if (bytes >= 0)
        pythia_set_text(scope, k->name, k->name_bytes, text, (size_t)bytes);
    else
        pythia_set_text(scope, k->name, k->name_bytes, "(unreadable)", 12);
}

/* The lowest bytes of a register as a number with a sign. */
static int64_t signed_of(uint64_t bits, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return (int64_t)(bits << shift) >> shift;
}

static uint64_t unsigned_of(uint64_t bits, unsigned bytes)
{
    return bytes < 8 ? bits & ((UINT64_C(1) << 8 * bytes) - 1) : bits;
}

/* A declaration says how the bits of a register or of the stack are to be read; an unsigned number
 * that no int64_t holds becomes a real. */
static void set_value(const struct pythia_scope *scope, const struct pythia__key *k, uint64_t bits)
{
    double real;
    float single;
    uint64_t number;
    switch (k->as) {
    case PYTHIA__AS_SIGNED:
        pythia_set_integer(scope, k->name, k->name_bytes, signed_of(bits, k->bytes));
        break;
    case PYTHIA__AS_UNSIGNED:
        number = unsigned_of(bits, k->bytes);
        if (number <= INT64_MAX)
            pythia_set_integer(scope, k->name, k->name_bytes, (int64_t)number);
        else
            pythia_set_real(scope, k->name, k->name_bytes, (double)number);
        break;
    case PYTHIA__AS_BOOL:
        pythia_set_bool(scope, k->name, k->name_bytes, (bits & 0xff) != 0);
        break;
    case PYTHIA__AS_FLOAT:
        memcpy(&single, &bits, sizeof(single));
        pythia_set_real(scope, k->name, k->name_bytes, (double)single);
        break;
    case PYTHIA__AS_DOUBLE:
        memcpy(&real, &bits, sizeof(real));
        pythia_set_real(scope, k->name, k->name_bytes, real);
        break;
    case PYTHIA__AS_TEXT:
        set_key_text(scope, k, bits);
        break;
    case PYTHIA__AS_PLACE:
        break;
    }
}

static uint64_t low_bits(const uint8_t *vector)
{
    uint64_t bits;
    memcpy(&bits, vector, sizeof(bits));
    return bits;
}

static uint64_t read_call_argument(const struct pythia__key *k, const struct pythia__registers *r,
                                   const uint64_t *stack)
{
    if (k->from == PYTHIA__FROM_FLOATING)
        return low_bits(r->vectors[k->index]);
    return k->index < 6 ? r->integers[k->index] : stack[k->index - 6];
}

/* "app+0x1234" */
static __attribute__((noinline)) void set_place(const struct pythia_scope *scope,
                                                const struct pythia__key *k, uintptr_t caller)
{
    char text[320];
    uintptr_t begin = 0;
    const char *name = pythia__object_at(caller, &begin);
    int size =
        snprintf(text, sizeof(text), "%.255s+0x%" PRIxPTR, name ? name : "?", caller - begin);
    pythia_set_text(scope, k->name, k->name_bytes, text, (size_t)size);
}

/* ---- metrics ---- */

#define UNKNOWN INT64_MIN

/* A file of /proc, NUL-terminated; 0 if it cannot be read. By system calls, since the functions of
 * that name may be hooked; errno is the program's. */
static size_t read_proc(const char *path, char *room, size_t most)
{
    int before = errno, file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t size = file >= 0 ? syscall(SYS_read, file, room, most - 1) : -1;
    if (file >= 0)
        syscall(SYS_close, file);
    errno = before;
    room[size > 0 ? size : 0] = '\0';
    return size > 0 ? (size_t)size : 0;
}

static int64_t number_at(const char *text)
{
    int64_t number = 0;
    while (*text == ' ')
        text++;
    if (*text < '0' || *text > '9')
        return UNKNOWN;
    for (; *text >= '0' && *text <= '9' && number < INT64_MAX / 16; text++)
        number = 10 * number + (*text - '0');
    return number;
}

/* ---- counters of the processor ---- */

static __thread struct pythia__counter_state counters[PYTHIA__COUNTERS]
    __attribute__((tls_model("initial-exec")));
static __thread uint8_t in_counter __attribute__((tls_model("initial-exec")));
static pthread_key_t counting;
static pthread_once_t counting_once = PTHREAD_ONCE_INIT;
static int counting_made;

static void close_counters(void *of)
{
    struct pythia__counter_state *all = of;
    for (int i = 0; i < PYTHIA__COUNTERS; i++)
        pythia__counter_close(&all[i]);
}

static void make_counting(void)
{
    counting_made = pthread_key_create(&counting, close_counters) == 0;
}

/* Files that no thread's end would close are not opened. */
static int64_t counter_now(enum pythia__counter which)
{
    int64_t now = UNKNOWN;
    if (in_counter) /* a signal handler in the middle of this */
        return UNKNOWN;
    in_counter = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_once(&counting_once, make_counting);
    if (counting_made && pthread_setspecific(counting, counters) == 0)
        now = pythia__counter_read(&counters[which], pythia__counter_events[which].type,
                                   pythia__counter_events[which].number,
                                   (uint64_t)syscall(SYS_getpid));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    in_counter = 0;
    return now;
}

/* ---- what the kernel counts for a thread ---- */

static int64_t usage_now(unsigned index)
{
    struct rusage usage;
    struct timespec cpu;
    int before = errno;
    long status = index == PYTHIA__METRIC_CPU_NS
                      ? syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu)
                      : syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
    errno = before;
    if (status != 0)
        return UNKNOWN;
    if (index == PYTHIA__METRIC_CPU_NS)
        return (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec;
    return index == PYTHIA__METRIC_PAGE_FAULTS ? usage.ru_minflt + usage.ru_majflt
                                               : usage.ru_nvcsw + usage.ru_nivcsw;
}

/* The current value of one of pythia__metrics. */
static __attribute__((noinline)) int64_t metric_now(unsigned index)
{
    char text[512];
    const char *at;
    if (index >= PYTHIA__METRIC_COUNTERS)
        return counter_now((enum pythia__counter)(index - PYTHIA__METRIC_COUNTERS));
    if (index >= PYTHIA__METRIC_CPU_NS)
        return usage_now(index);
    if (index == PYTHIA__METRIC_RSS) {
        int64_t pages =
            read_proc("/proc/self/statm", text, sizeof(text)) && (at = strchr(text, ' ')) != NULL
                ? number_at(at)
                : UNKNOWN;
        return pages == UNKNOWN ? UNKNOWN : pages * sysconf(_SC_PAGESIZE);
    }
    if (!read_proc("/proc/thread-self/io", text, sizeof(text)))
        return UNKNOWN;
    at = strstr(text, index == PYTHIA__METRIC_READ_BYTES ? "\nread_bytes:" : "\nwrite_bytes:");
    return at ? number_at(strchr(at, ':') + 1) : UNKNOWN;
}

/* ---- what reading them takes ---- */

static uint64_t clock_cost; /* from one reading of the clock to the next */

static void time_clock_reads(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pythia__ticks_now();
}

void pythia__values_calibrate(void)
{
    __atomic_store_n(&clock_cost, pythia__cost_of(time_clock_reads), __ATOMIC_RELAXED);
}

/* Reading key-values is a part of what their span costs. They are timed together, and not each by
 * itself. */
struct timing {
    uint64_t spent, begun; /* 0: this span is not measured */
};

static struct timing begin_timing(struct pythia_scope *scope)
{
    struct timing t = {scope->spent, scope->spent ? pythia__ticks_now() : 0};
    scope->spent = 0;
    return t;
}

static void end_timing(struct timing t, struct pythia_scope *scope)
{
    if (!t.spent)
        return;
    uint64_t ticks = pythia__ticks_now() - t.begun;
    uint64_t clock = __atomic_load_n(&clock_cost, __ATOMIC_RELAXED);
    scope->spent = t.spent + (ticks > clock ? ticks - clock : 0);
}

/* ---- callbacks ---- */

static __thread uint8_t in_callback __attribute__((tls_model("initial-exec")));

int pythia__in_callback(void)
{
    return in_callback;
}

static void run_callback(const struct pythia__hooked *h, const struct pythia_hooked_call *call)
{
    in_callback++;
    h->callback(call);
    in_callback--;
}

static __attribute__((noinline)) void tell_entered(const struct pythia__hooked *h,
                                                   const struct pythia_scope *scope,
                                                   const struct pythia__registers *r,
                                                   const uint64_t *stack)
{
    double reals[8];
    struct pythia_hooked_call call = {.scope = scope,
                                      .point = h->declared.name,
                                      .event = PYTHIA_HOOKED_ENTER,
                                      .version = PYTHIA_TRACEPOINTS_VERSION};
    for (int i = 0; r && i < 8; i++)
        memcpy(&reals[i], r->vectors[i], sizeof(reals[i]));
    if (r) {
        call.integers = r->integers;
        call.reals = reals;
        call.stack = stack;
    }
    run_callback(h, &call);
}

static __attribute__((noinline)) void tell_left(const struct pythia__hooked *h,
                                                const struct pythia_scope *scope,
                                                const struct pythia__registers *r, int failed)
{
    struct pythia_hooked_call call = {.scope = scope,
                                      .point = h->declared.name,
                                      .event = failed ? PYTHIA_HOOKED_FAILED : PYTHIA_HOOKED_RETURN,
                                      .version = PYTHIA_TRACEPOINTS_VERSION};
    if (r) {
        call.result = r->rax;
        memcpy(&call.real_result, r->vectors[0], sizeof(call.real_result));
    }
    run_callback(h, &call);
}

void pythia__values_failed(const struct pythia__hooked *h, struct pythia_scope *scope)
{
    if (!h->callback)
        return;
    struct timing t = begin_timing(scope);
    tell_left(h, scope, NULL, 1);
    end_timing(t, scope);
}

/* ---- of a call ---- */

void pythia__values_enter(const struct pythia__hooked *h, struct pythia_scope *scope,
                          const struct pythia__registers *r, const uint64_t *stack,
                          uintptr_t caller, int64_t metrics[PYTHIA__METRICS])
{
    struct timing t = begin_timing(scope);
    for (size_t i = 0; i < h->declared.key_count; i++) {
        const struct pythia__key *k = &h->declared.keys[i];
        if (k->from == PYTHIA__FROM_CALLER)
            set_place(scope, k, caller);
        else if (k->from == PYTHIA__FROM_METRIC)
            metrics[k->index] = metric_now(k->index);
        else if (k->from != PYTHIA__FROM_RETURN && r)
            set_value(scope, k, read_call_argument(k, r, stack));
    }
    if (h->callback)
        tell_entered(h, scope, r, stack);
    end_timing(t, scope);
}

/* By how much one has grown; memory may shrink. */
static void set_growth(const struct pythia_scope *scope, const struct pythia__key *k,
                       int64_t before)
{
    int64_t now = before == UNKNOWN ? UNKNOWN : metric_now(k->index);
    if (now != UNKNOWN)
        pythia_set_integer(scope, k->name, k->name_bytes, now - before);
}

static void set_result(const struct pythia__hooked *h, struct pythia_scope *scope,
                       const struct pythia__registers *r)
{
    int64_t word = (int64_t)(int32_t)r->rax;
    for (size_t i = 0; i < h->declared.key_count; i++) {
        const struct pythia__key *k = &h->declared.keys[i];
        if (k->from != PYTHIA__FROM_RETURN)
            continue;
        int floating = k->as == PYTHIA__AS_FLOAT || k->as == PYTHIA__AS_DOUBLE;
        set_value(scope, k, floating ? low_bits(r->vectors[0]) : r->rax);
        if (k->as == PYTHIA__AS_SIGNED && k->bytes == 8)
            word = (int64_t)r->rax; /* it is known to be as wide as that */
    }
    enum pythia__error_kind error = h->declared.error;
    if ((error == PYTHIA__ERROR_NEGATIVE && word < 0) ||
        (error == PYTHIA__ERROR_ZERO && r->rax == 0) ||
        (error == PYTHIA__ERROR_NONZERO && (int32_t)r->rax != 0))
        scope->error = 1;
}

void pythia__values_left(const struct pythia__hooked *h, struct pythia_scope *scope,
                         const struct pythia__registers *r, const int64_t metrics[PYTHIA__METRICS])
{
    struct timing t = begin_timing(scope);
    for (size_t i = 0; i < h->declared.key_count; i++) {
        const struct pythia__key *k = &h->declared.keys[i];
        if (k->from == PYTHIA__FROM_METRIC)
            set_growth(scope, k, metrics[k->index]);
    }
    if (r)
        set_result(h, scope, r);
    if (h->callback)
        tell_left(h, scope, r, 0);
    end_timing(t, scope);
}

size_t pythia__values_request(const struct pythia__key *k, const struct pythia__registers *r,
                              const uint64_t *stack, char *room, size_t most)
{
    uint64_t bits = read_call_argument(k, r, stack);
    if (k->as == PYTHIA__AS_TEXT) {
        long bytes = bits ? pythia__text_copy(bits, room, k->bytes < most ? k->bytes : most) : 0;
        return bytes > 0 ? (size_t)bytes : 0;
    }
    return (size_t)snprintf(room, most, "%" PRId64,
                            k->as == PYTHIA__AS_SIGNED ? signed_of(bits, k->bytes)
                                                       : (int64_t)unsigned_of(bits, k->bytes));
}
