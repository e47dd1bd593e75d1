/* SPDX-License-Identifier: MIT */
/* The functions that the macros call when a point is open. The way of an open span is short: 56
 * bytes into this thread's ring, with the values of variables that are new behind them, and 40
 * when it is left; nothing is locked or shared, and no memory is asked for. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "hooking.h"
#include "process.h"
#include "pythia/tracepoints.h"
#include "variables.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define ENTER_BYTES sizeof(struct pythia_record_enter)
#define EXIT_BYTES  sizeof(struct pythia_record_exit)

/* The switch that the current request looks at; 0 if nothing of it is to be recorded. */
static inline uint64_t bit_of(const struct pythia_context *c)
{
    return (uint64_t)(c->flags & PYTHIA_CONTEXT_SAMPLED) << (c->request_type & 63);
}

/* Is the point open for the current request? Gives it its switches on the first pass. */
static inline int is_point_open(struct pythia__thread *t, struct pythia_point *point,
                                const struct pythia_context *c)
{
    if (UNLIKELY(__atomic_load_n(&point->number, __ATOMIC_ACQUIRE) == 0) && !pythia__bind(t, point))
        return 0;
    const uint64_t *switches = __atomic_load_n(&point->switches, __ATOMIC_RELAXED);
    const uint32_t *off = UNLIKELY(!t->page->off) ? pythia__process.off : t->page->off;
    return (__atomic_load_n(switches, __ATOMIC_RELAXED) & bit_of(c)) != 0 &&
           !__atomic_load_n(off, __ATOMIC_RELAXED);
}

int pythia__is_wanted(struct pythia_point *point)
{
    struct pythia__thread *t = &pythia__self;
    if (__atomic_load_n(&point->number, __ATOMIC_ACQUIRE) == 0 && !pythia__bind(t, point))
        return 0;
    const uint64_t *switches = __atomic_load_n(&point->switches, __ATOMIC_RELAXED);
    return __atomic_load_n(switches, __ATOMIC_RELAXED) != 0 &&
           !__atomic_load_n(pythia__process.off, __ATOMIC_RELAXED);
}

/* May this thread write to its ring? Not if it has none, nor in a signal handler that came in the
 * middle of a record. */
static inline int may_write(struct pythia__thread *t)
{
    return !UNLIKELY(t->busy || !pythia__has_ring(t)) || pythia__attach(t);
}

/* As pythia__ticks, from the thread's own state. */
static inline uint64_t read_thread_ticks(const struct pythia__thread *t)
{
#if defined(__x86_64__) && !defined(PYTHIA__TICKS)
    if (!UNLIKELY(t->clock != PYTHIA__CLOCK_TSC))
        return __builtin_ia32_rdtsc();
#else
    (void)t;
#endif
    return pythia__ticks();
}

/* A record that was left is not committed, or is whole. A thread that has left with the lock has it
 * for good. */
void pythia__recover(void)
{
    struct pythia__thread *t = &pythia__self;
    t->busy = t->locked;
}

uint32_t pythia__thrown(void)
{
    const struct pythia_switchboard *b = pythia__process.switchboard;
    return b ? pythia__switchboard_thrown(b) : 0;
}

void pythia__thrown_wait(uint32_t known)
{
    const struct timespec most = {1, 0};
    if (pythia__process.switchboard)
        pythia__switchboard_wait(pythia__process.switchboard, known, &most);
    else
        nanosleep(&most, NULL);
}

/* Records of a span with all its values are far smaller than QUICK_BYTES. What the end of the ring
 * cuts is copied by memcpy. Sanitizers have functions of their own for all that is done, and so has
 * clang without optimisation for copies of structs. */
#define QUICK_BYTES 4096

PYTHIA__HOT int pythia__is_quick(const struct pythia_point *point)
{
#if defined(PYTHIA_SANITIZED) || (defined(__clang__) && !defined(__OPTIMIZE__))
    (void)point;
    return 0;
#else
    const struct pythia__thread *t = &pythia__self;
    const struct pythia__page *page = t->page;
    const struct pythia__ring *r = &t->ring;
    return !t->busy && pythia__has_ring(t) && page->off && t->clock == PYTHIA__CLOCK_TSC &&
           __atomic_load_n(&point->number, __ATOMIC_ACQUIRE) != 0 && t->until_timed > 1 &&
           __atomic_load_n(&page->watched_count, __ATOMIC_RELAXED) == 0 &&
           (r->head & (r->capacity - 1)) + QUICK_BYTES < r->capacity &&
           r->head - r->tail + r->reserved + QUICK_BYTES < r->capacity / 2;
#endif
}

/* From here to `unlock_ring`, a signal handler of this thread keeps out of the ring. */
static inline void lock_ring(struct pythia__thread *t)
{
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void unlock_ring(struct pythia__thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

static inline void count_event(struct pythia_context *c)
{
    c->lamport += c->lamport < UINT32_MAX;
}

/* Back to where a thread stood before; within one request, events that were counted stay counted.
 */
static inline void go_back(struct pythia_context *c, const struct pythia_context *before)
{
    uint32_t lamport = c->lamport;
    int same = before->trace_high == c->trace_high && before->trace_low == c->trace_low;
    *c = *before;
    if (same && c->lamport < lamport)
        c->lamport = lamport;
}

/* A request has a trace id as soon as anybody asks; what is no request gets one for each span that
 * has none above it. */
static PYTHIA__COLD void give_trace(struct pythia__thread *t, struct pythia_context *c)
{
    c->trace_high = pythia__random(t);
    c->trace_low = pythia__random(t);
}

static inline void need_trace(struct pythia__thread *t, struct pythia_context *c)
{
    if (UNLIKELY((c->trace_high | c->trace_low) == 0))
        give_trace(t, c);
}

/* It outlives the span that is at hand: others of the request have the same, on all threads. */
static inline void need_trace_of_request(struct pythia__thread *t, struct pythia_context *c)
{
    if (UNLIKELY((c->trace_high | c->trace_low) == 0) && (c->flags & PYTHIA_CONTEXT_REQUEST))
        give_trace(t, c);
}

/* What is recorded of a trace says that other parts of it are not, so that a reader does not take
 * a call that is missing for one that was not made. */
static PYTHIA__COLD void lose_below(struct pythia__thread *t, struct pythia_context *c,
                                    enum pythia__lost what)
{
    pythia__lose(t, what);
    if (c->trace_high | c->trace_low)
        c->flags |= PYTHIA_CONTEXT_LOSSY;
}

_Static_assert((int)PYTHIA_CONTEXT_LOSSY == (int)PYTHIA_RECORD_LOSSY, "one is copied to the other");

static inline uint8_t is_lossy(const struct pythia_context *c)
{
    return c->flags & PYTHIA_CONTEXT_LOSSY;
}

/* ---- spans ---- */

/* The values behind a record: first these, then the numbers. */
static inline uint64_t values_bytes(uint64_t count)
{
    return count * 8 + ((count + 7) & ~(uint64_t)7);
}

/* The kind of a request, whose name goes with its first span in each process; NULL: not here. */
static inline const struct pythia__type *type_to_tell(const struct pythia_context *above,
                                                      uint8_t kind)
{
    return kind == PYTHIA_RECORD_ENTER && !pythia__is_below_span(above) ? above->type : NULL;
}

/* Write where a span, or an annotation, begins, below `above`, and set `keep` bytes aside for its
 * end; with the values of up to `watched` variables. Returns its id, 0 if there is no room. */
static PYTHIA__HOT __attribute__((noinline)) uint64_t
write_enter(struct pythia__thread *t, const struct pythia_point *point,
            const struct pythia_context *above, uint64_t keep, uint8_t kind, uint32_t watched,
            uint64_t *ticks)
{
    const struct pythia__type *type = type_to_tell(above, kind);
    uint64_t span = 0, bytes = ENTER_BYTES, named = type ? (type->bytes + 7U) & ~7U : 0;
    lock_ring(t);
    struct pythia_record_enter *to =
        pythia__ring_room(&t->ring, ENTER_BYTES + values_bytes(watched) + named, keep);
    if (to) {
        uint32_t count = 0;
        span = pythia__random(t);
        *ticks = read_thread_ticks(t);
        if (UNLIKELY(watched)) {
            count = pythia__variables_write(t, above, watched, (uint64_t *)(to + 1));
            bytes += values_bytes(count);
        }
        for (uint64_t i = 0; i < named; i += 8)
            memcpy((char *)to + bytes + i, type->name + i, 8);
        bytes += named;
        *to = (struct pythia_record_enter){
            .head = {.bytes = (uint16_t)bytes,
                     .kind = kind,
                     .flags =
                         (uint8_t)((pythia__is_below_span(above) ? 0 : PYTHIA_RECORD_LOCAL_ROOT) |
                                   is_lossy(above)),
                     .number = point->number},
            .ticks = *ticks,
            .trace_high = above->trace_high,
            .trace_low = above->trace_low,
            .span = span,
            .parent = above->span,
            .lamport = above->lamport,
            .point_kind = point->kind,
            .request_type = above->request_type,
            .values = (uint8_t)count,
            .type_bytes = type ? type->bytes : 0,
        };
        pythia__ring_commit(&t->ring, bytes);
        t->ring.reserved += keep;
    }
    unlock_ring(t);
    return span;
}

/* Count the variables to read. Variables with a function are read before the ring is touched,
 * because such a function may hit trace points. */
static inline uint32_t watched_now(struct pythia__thread *t)
{
    const struct pythia__page *page = t->page;
    uint32_t watched = __atomic_load_n(&page->watched_count, __ATOMIC_ACQUIRE);
    if (UNLIKELY(watched && t->looking))
        return 0;
    if (UNLIKELY(__atomic_load_n(&page->asked_count, __ATOMIC_RELAXED)))
        pythia__variables_ask(t, watched);
    return watched;
}

/* Code shared by enter and begin: `above` is where the span hangs, a copy of `of`. 0: it is not
 * recorded. */
static inline int open_span(struct pythia__thread *t, struct pythia_point *point,
                            struct pythia_scope *scope, struct pythia_context *of,
                            struct pythia_context *above, uint64_t keep)
{
    if (!may_write(t)) {
        lose_below(t, of, PYTHIA__LOST_SPAN);
        return 0;
    }
    need_trace(t, above);
    count_event(above);
    scope->trace_high = above->trace_high;
    scope->trace_low = above->trace_low;
    scope->epoch = t->epoch;
    scope->spent = 0;
    scope->error = 0;
    scope->version = point->version;
    scope->span =
        write_enter(t, point, above, keep, PYTHIA_RECORD_ENTER, watched_now(t), &scope->ticks);
    if (UNLIKELY(!scope->span))
        lose_below(t, of, PYTHIA__LOST_SPAN);
    return scope->span != 0;
}

/* ---- one in about a thousand is timed (cost.c), on the same way as all others ---- */

static PYTHIA__COLD uint64_t begin_timed(struct pythia__thread *t)
{
    pythia__timed_next(t);
    return read_thread_ticks(t);
}

/* When this span begins, if it is one that is timed; else 0. */
static inline uint64_t time_of_timed(struct pythia__thread *t)
{
    return UNLIKELY(--t->until_timed == 0) ? begin_timed(t) : 0;
}

static inline void end_timed(const struct pythia__thread *t, struct pythia_scope *scope,
                             const struct pythia_point *point, uint64_t begun)
{
    if (UNLIKELY(begun)) {
        scope->spent = read_thread_ticks(t) - begun;
        scope->spent += scope->spent == 0;
        scope->point = pythia__billed(t, point->number);
    }
}

PYTHIA__HOT struct pythia_scope *pythia_enter(struct pythia_point *point,
                                              struct pythia_scope *scope)
{
    struct pythia__thread *t = &pythia__self;
    if (!is_point_open(t, point, &t->context))
        return NULL;
    uint64_t begun = time_of_timed(t);
    need_trace_of_request(t, &t->context);
    struct pythia_context above = t->context;
    if (!open_span(t, point, scope, &t->context, &above, EXIT_BYTES))
        return NULL;
    scope->before = t->context;
    scope->thread = t;
    scope->reserved = t->ring.reserved - EXIT_BYTES;
    t->context = above;
    t->context.span = scope->span;
    t->context.flags &= (uint8_t)~PYTHIA_CONTEXT_REMOTE;
    end_timed(t, scope, point, begun);
    return scope;
}

PYTHIA__HOT struct pythia_scope *
pythia_begin_at(struct pythia_point *point, struct pythia_scope *scope, struct pythia_context *at)
{
    struct pythia__thread *t = &pythia__self;
    if (!is_point_open(t, point, at))
        return NULL;
    uint64_t begun = time_of_timed(t);
    need_trace_of_request(t, at);
    struct pythia_context above = *at;
    if (!open_span(t, point, scope, at, &above, 0))
        return NULL;
    at->lamport = above.lamport;
    scope->thread = NULL; /* anybody's */
    scope->before = above;
    end_timed(t, scope, point, begun);
    return scope;
}

PYTHIA__HOT struct pythia_scope *pythia_begin(struct pythia_point *point,
                                              struct pythia_scope *scope)
{
    return pythia_begin_at(point, scope, &pythia__self.context);
}

/* Write where a span ends. `own`: what was set aside for it in this ring, and for spans below it
 * that were left by longjmp, is free from now on. `lossy`: as is_lossy. */
static PYTHIA__HOT __attribute__((noinline)) void write_exit(struct pythia__thread *t,
                                                             const struct pythia_scope *scope,
                                                             uint64_t ticks, uint32_t lamport,
                                                             int own, uint8_t lossy)
{
    lock_ring(t);
    if (own)
        t->ring.reserved = scope->reserved;
    struct pythia_record_exit *to = pythia__ring_room(&t->ring, EXIT_BYTES, 0);
    if (to) {
        int back = ticks < scope->ticks;
        *to = (struct pythia_record_exit){
            .head = {.bytes = EXIT_BYTES,
                     .kind = PYTHIA_RECORD_EXIT,
                     .flags = (uint8_t)(lossy | (scope->error ? PYTHIA_RECORD_ERROR : 0) |
                                        (back ? PYTHIA_RECORD_CLOCK_BACK : 0)),
                     .number = lamport},
            .ticks = ticks,
            .trace_high = scope->trace_high,
            .trace_low = scope->trace_low,
            .span = scope->span,
        };
        pythia__ring_commit(&t->ring, EXIT_BYTES);
    }
    unlock_ring(t);
    if (UNLIKELY(!to))
        pythia__lose(t, PYTHIA__LOST_END);
}

/* A span that another process has entered, before a fork, is that one's to end. */
static inline int is_of_parent(const struct pythia__thread *t, const struct pythia_scope *scope)
{
    return scope->epoch != pythia__epoch_of(t);
}

/* Write a record of cost; for the point 0 do everything but write. */
static void write_cost(struct pythia__thread *t, uint32_t point, uint64_t ticks);

void pythia__bill(struct pythia__thread *t, const struct pythia_scope *scope, uint64_t ticks)
{
    uint64_t spent = scope->spent + (read_thread_ticks(t) - ticks);
    t->spent = spent;
    int64_t all = (int64_t)(spent < pythia__cost_most ? spent : pythia__cost_most);
    int is_around_work = ticks - scope->ticks > scope->spent + pythia__cost_work;
    all += is_around_work ? __atomic_load_n(&pythia__cost_unseen_among, __ATOMIC_RELAXED)
                          : pythia__cost_unseen;
    write_cost(t, scope->point, all > 0 ? (uint64_t)all : 0);
}

PYTHIA__HOT void pythia_exit(struct pythia_scope *scope)
{
    struct pythia__thread *t = &pythia__self;
    uint64_t ticks = read_thread_ticks(t);
    count_event(&t->context);
    uint32_t lamport = t->context.lamport;
    uint8_t lossy = scope->thread == t ? is_lossy(&t->context) : 0;
    if (scope->thread == t) /* else it was left on another thread, which stands where it stood */
        go_back(&t->context, &scope->before);
    if (is_of_parent(t, scope))
        return;
    if (!may_write(t)) {
        pythia__lose(t, PYTHIA__LOST_END);
        return;
    }
    write_exit(t, scope, ticks, lamport, scope->thread == t, lossy);
    if (UNLIKELY(scope->spent))
        pythia__bill(t, scope, ticks);
}

void pythia__abandon(const struct pythia_scope *scope)
{
    struct pythia__thread *t = &pythia__self;
    if (scope->thread != t)
        return;
    go_back(&t->context, &scope->before);
    if (!is_of_parent(t, scope) && scope->epoch == t->epoch)
        t->ring.reserved = scope->reserved;
}

PYTHIA__HOT void pythia_end(struct pythia_scope *scope)
{
    struct pythia__thread *t = &pythia__self;
    uint64_t ticks = read_thread_ticks(t);
    if (is_of_parent(t, scope))
        return;
    if (!may_write(t)) {
        pythia__lose(t, PYTHIA__LOST_END);
        return;
    }
    count_event(&t->context);
    write_exit(t, scope, ticks, t->context.lamport, 0, 0);
    if (UNLIKELY(scope->spent))
        pythia__bill(t, scope, ticks);
}

static inline void annotate_span(struct pythia__thread *t, const struct pythia_point *point)
{
    need_trace_of_request(t, &t->context);
    struct pythia_context above = t->context;
    uint64_t ticks;
    if (may_write(t)) {
        need_trace(t, &above);
        count_event(&above);
        if (write_enter(t, point, &above, 0, PYTHIA_RECORD_ANNOTATION, 0, &ticks)) {
            t->context.lamport = above.lamport;
            return;
        }
    }
    lose_below(t, &t->context, PYTHIA__LOST_ANNOTATION);
}

PYTHIA__HOT void pythia_annotate(struct pythia_point *point)
{
    struct pythia__thread *t = &pythia__self;
    if (!is_point_open(t, point, &t->context))
        return;
    if (UNLIKELY(--t->until_timed == 0)) {
        pythia__timed_next(t);
        uint64_t begun = read_thread_ticks(t);
        struct pythia_scope spent = {.ticks = begun, .point = pythia__billed(t, point->number)};
        annotate_span(t, point);
        pythia__bill(t, &spent, begun);
    } else {
        annotate_span(t, point);
    }
}

/* ---- key-values ---- */

/* The scope of a span that is timed is the caller's own, whatever it is called here. What the
 * clock's reading adds is not the program's, and neither is what the span is around then: it counts
 * as begun so much later. */
static PYTHIA__COLD void add_spent(const struct pythia_scope *of, uint64_t begun)
{
    struct pythia_scope *scope = (struct pythia_scope *)(uintptr_t)of; /* NOLINT */
    uint64_t now = pythia__ticks(), spent = now - begun;
    uint64_t later = scope->ticks + spent + pythia__cost_clock;
    if (spent > pythia__cost_clock)
        scope->spent += spent - pythia__cost_clock;
    if (scope->ticks < now)
        scope->ticks = later < now ? later : now;
}

/* Keys and numbers are short: for these, what compilers make of memcpy (a string instruction) takes
 * three times as long as all the rest of a record. */
static inline void copy_short(char *to, const char *from, size_t bytes)
{
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8)
        memcpy(to, from, 8);
    if (bytes & 4) {
        memcpy(to, from, 4);
        to += 4;
        from += 4;
    }
    if (bytes & 2) {
        memcpy(to, from, 2);
        to += 2;
        from += 2;
    }
    if (bytes & 1)
        *to = *from;
}

/* `variable`: whose value it is, instead of a key; else 0. */
static PYTHIA__HOT __attribute__((noinline)) void
write_value(const struct pythia_scope *scope, uint32_t variable, const char *key, size_t key_bytes,
            enum pythia_value_kind kind, const void *value, size_t value_bytes)
{
    struct pythia__thread *t = &pythia__self;
    uint8_t flags = 0;
    if (!scope)
        return;
    uint64_t begun = UNLIKELY(scope->spent) ? read_thread_ticks(t) : 0;
    if (!may_write(t)) {
        pythia__lose(t, PYTHIA__LOST_VALUE);
        return;
    }
    if (UNLIKELY(key_bytes > PYTHIA_KEY_BYTES)) {
        key_bytes = PYTHIA_KEY_BYTES;
        flags |= PYTHIA_RECORD_KEY_CUT;
    }
    if (UNLIKELY(value_bytes > PYTHIA_TEXT_BYTES)) {
        value_bytes = PYTHIA_TEXT_BYTES;
        flags |= PYTHIA_RECORD_TEXT_CUT;
    }
    size_t used = sizeof(struct pythia_record_value) + key_bytes + value_bytes,
           bytes = (used + 7) & ~(size_t)7;
    lock_ring(t);
    struct pythia_record_value *to = pythia__ring_room(&t->ring, bytes, 0);
    if (to) {
        char *texts = (char *)(to + 1);
        const uint64_t zeros = 0; /* at the end. memset would be a call without optimisation */
        memcpy((char *)to + bytes - 8, &zeros, sizeof(zeros));
        *to = (struct pythia_record_value){
            .head = {.bytes = (uint16_t)bytes,
                     .kind = PYTHIA_RECORD_VALUE,
                     .flags = flags,
                     .number = variable},
            .trace_high = scope->trace_high,
            .trace_low = scope->trace_low,
            .span = scope->span,
            .value_kind = (uint8_t)kind,
            .key_bytes = (uint8_t)key_bytes,
            .value_bytes = (uint16_t)value_bytes,
        };
        copy_short(texts, key, key_bytes);
        copy_short(texts + key_bytes, value, value_bytes);
        pythia__ring_commit(&t->ring, bytes);
        if (UNLIKELY(flags))
            pythia__ring_lose(&t->ring.control->cut_values);
    }
    unlock_ring(t);
    if (UNLIKELY(!to))
        pythia__lose(t, PYTHIA__LOST_VALUE);
    if (UNLIKELY(begun))
        add_spent(scope, begun);
}

PYTHIA__HOT void pythia_set_text(const struct pythia_scope *scope, const char *key,
                                 size_t key_bytes, const char *text, size_t text_bytes)
{
    write_value(scope, 0, key, key_bytes, PYTHIA_VALUE_TEXT, text, text ? text_bytes : 0);
}

PYTHIA__HOT void pythia_set_integer(const struct pythia_scope *scope, const char *key,
                                    size_t key_bytes, int64_t number)
{
    write_value(scope, 0, key, key_bytes, PYTHIA_VALUE_INTEGER, &number, sizeof(number));
}

PYTHIA__HOT void pythia_set_real(const struct pythia_scope *scope, const char *key,
                                 size_t key_bytes, double number)
{
    write_value(scope, 0, key, key_bytes, PYTHIA_VALUE_REAL, &number, sizeof(number));
}

PYTHIA__HOT void pythia_set_bool(const struct pythia_scope *scope, const char *key,
                                 size_t key_bytes, int truth)
{
    uint8_t value = truth != 0;
    write_value(scope, 0, key, key_bytes, PYTHIA_VALUE_BOOL, &value, sizeof(value));
}

void pythia__set_variable(const struct pythia_scope *scope, uint32_t number, double value)
{
    write_value(scope, number, NULL, 0, PYTHIA_VALUE_REAL, &value, sizeof(value));
}

static void write_cost(struct pythia__thread *t, uint32_t point, uint64_t ticks)
{
    if (!may_write(t))
        return;
    lock_ring(t);
    struct pythia_record_cost *to = pythia__ring_room(&t->ring, sizeof(*to), 0);
    if (to) {
        *to = (struct pythia_record_cost){
            .head = {.bytes = sizeof(*to), .kind = PYTHIA_RECORD_COST, .number = point},
            .ticks = ticks,
        };
        if (point != 0)
            pythia__ring_commit(&t->ring, sizeof(*to));
    }
    unlock_ring(t);
}

PYTHIA__HOT const struct pythia_scope *pythia_here(struct pythia_scope *room)
{
    const struct pythia_context *c = &pythia__self.context;
    if (!pythia__is_below_span(c))
        return NULL;
    room->trace_high = c->trace_high;
    room->trace_low = c->trace_low;
    room->span = c->span;
    room->version = PYTHIA_TRACEPOINTS_VERSION;
    room->spent = 0; /* what it costs is on no span's bill */
    return room;
}

/* ---- requests ---- */

PYTHIA__HOT_CLOSED void pythia_request_begin(const struct pythia_request *request,
                                             struct pythia_context *before)
{
    struct pythia__thread *t = &pythia__self;
    struct pythia_context *c = &t->context;
    *before = *c;
    if (!(c->flags & PYTHIA_CONTEXT_REQUEST) && !c->span) /* else it goes on, here */
        *c = (struct pythia_context){.flags = PYTHIA_CONTEXT_SAMPLED,
                                     .version = PYTHIA_TRACEPOINTS_VERSION};
    c->flags |= PYTHIA_CONTEXT_REQUEST;
    if (!c->type)
        pythia__type_take(t, request->name, request->name_bytes, c);
}

PYTHIA__HOT_CLOSED void pythia_request_end(const struct pythia_context *before)
{
    go_back(&pythia__self.context, before);
}

PYTHIA__HOT_CLOSED void pythia_request_name(const char *name, size_t name_bytes)
{
    struct pythia__thread *t = &pythia__self;
    struct pythia_scope room;
    const struct pythia_scope *here = pythia_here(&room);
    pythia__type_take(t, name, name_bytes, &t->context);
    const struct pythia__type *type = t->context.type;
    if (here && type) /* it was not known when the span began */
        pythia_set_text(here, "request_type", 12, type->name, type->bytes);
}

PYTHIA__HOT_CLOSED void pythia_context_name(struct pythia_context *context, const char *name,
                                            size_t name_bytes)
{
    pythia__type_take(&pythia__self, name, name_bytes, context);
}

void pythia__request_named(const char *name, size_t name_bytes)
{
    struct pythia__thread *t = &pythia__self;
    pythia__type_take(t, name, name_bytes, &t->context);
}

/* ---- context ---- */

PYTHIA__HOT_CLOSED void pythia_context_get(struct pythia_context *out)
{
    struct pythia__thread *t = &pythia__self;
    need_trace_of_request(t, &t->context);
    *out = t->context;
}

PYTHIA__HOT_CLOSED void pythia_context_of(const struct pythia_scope *scope,
                                          struct pythia_context *out)
{
    pythia_context_get(out);
    if (!scope)
        return;
    *out = scope->before;
    pythia_context_below(out, scope);
}

PYTHIA__HOT_CLOSED void pythia_context_set(const struct pythia_context *context,
                                           struct pythia_context *before)
{
    struct pythia_context *c = &pythia__self.context, was = *c;
    *c = *context;
    c->version = PYTHIA_TRACEPOINTS_VERSION; /* a program may have made it itself */
    c->request_type &= 63;
    if (before)
        *before = was;
}

PYTHIA__HOT_CLOSED void pythia_context_receive(uint32_t lamport)
{
    struct pythia_context *c = &pythia__self.context;
    c->lamport = c->lamport > lamport ? c->lamport : lamport;
    count_event(c);
}
