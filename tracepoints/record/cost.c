/* SPDX-License-Identifier: MIT */
/* Measures the cost of tracing in the program itself. Of about one span in a thousand the time from
 * the first line of its entry to the last of its exit is taken, without what is between, and of its
 * key-values likewise. The code that does this is not in the processor's caches, and its branches
 * are foreseen wrongly, when it comes up once in a thousand spans: a single span that is timed
 * costs twice of what all others do, and makes the next one slow as well. So it is done of some
 * spans one after the other, and then of none for as much longer; before the first of them the code
 * is run for nothing, and what the first ones have cost is not reported, until the processor has
 * learnt where they branch. What lies outside of these lines, calls and the like, and the reading
 * of the clock that the measurement adds, is the same for all spans: it is found by spans that go
 * nowhere, which are timed from outside and inside.
 *
 * From outside, what a span costs is what it adds to what the program does meanwhile, and that is
 * less among work than one after the other, because a processor does both at once; from inside it
 * seems the same, because reading the clock waits for what came before. So it is found for both:
 * for spans with nothing in them, and for spans around a chain of operations, which are timed in
 * bursts among others that are not, as in a program. With a chain of 64 operations in registers,
 * and all spans timed, timing saw 34 ns and did not see -16; in a program it sees 36 to 40, of
 * which the span adds 17 to 20: prices were 20 % too high (tests/bench/forecast.py). Through memory
 * and 256 operations long, as here, it is -20. All that takes some 1 ms, once, before a process
 * records its first span.
 *
 * A processor of a virtual machine shares its core with others for seconds at a time. Spans cost
 * three times as much then, of which less is hidden by the program's work: -5 to -9 ns instead of
 * -20, which a tenth to a third of calibrations found on a busy machine, and prices of such a
 * process were 60 % too high for as long as it lived. So the part for spans around work is measured
 * again, three times in the first minutes of a process, at 1 ms each, and the best one counts. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "hooking.h"
#include "process.h"

#define LOOP     128
#define LOOPS    8
#define CHAIN    256 /* operations, each of which waits for the one before */
#define LITTLE   32  /* of them: a span around fewer is taken for an empty one */
#define SCRATCH  (PYTHIA__RING_MIN)
#define MOST     16 /* times what an empty span costs: more is not the tracing's */
#define AGAIN    3  /* times: 1, 9 and 73 s after the first one */
#define AGAIN_NS UINT64_C(1000000000)
#define IN_BURST (PYTHIA__TIMED_BURST + PYTHIA__TIMED_UNTOLD)
/* Spans of a pass; LOOP is a multiple of it. */
#define TOLD (LOOP / (2 * IN_BURST) * PYTHIA__TIMED_BURST)

int64_t pythia__cost_unseen, pythia__cost_unseen_among;
uint64_t pythia__cost_due_ns = UINT64_MAX;
uint64_t pythia__cost_work = UINT64_MAX;
uint64_t pythia__cost_most = UINT64_MAX, pythia__cost_clock;
static uint64_t span_cost; /* of an empty one, in a loop */

static inline uint64_t do_work(uint64_t x, int operations)
{
    for (int i = 0; i < operations; i++)
        x = x * UINT64_C(6364136223846793005) + 1;
    return x;
}

enum spans { NONE, UNTIMED, TIMED };

/* Ticks of so many spans around so many operations. Every other burst of them may be timed: *inside
 * gets what that says of the TOLD ones. */
static uint64_t time_pass(struct pythia__thread *t, struct pythia_point *point, enum spans spans,
                          int operations, uint64_t *inside)
{
    static volatile uint64_t result;
    struct pythia_scope room;
    *inside = 0;
    uint64_t begun = pythia__ticks();
    for (int i = 0; i < LOOP; i++) {
        struct pythia_scope *scope = NULL;
        int timed = spans == TIMED && i / IN_BURST % 2;
        int told = timed && i % IN_BURST >= PYTHIA__TIMED_UNTOLD;
        t->ring.tail = t->ring.head; /* it is always empty: nobody reads it */
        t->until_timed = timed ? 1 : UINT32_MAX;
        if (spans != NONE)
            scope = pythia_enter(point, &room);
        result = do_work(result, operations);
        if (!scope)
            continue;
        scope->point = told != 0; /* one that is told writes more, which slows down the next one */
        pythia_exit(scope);
        *inside += told ? t->spent : 0;
    }
    return pythia__ticks() - begun;
}

/* Add to values that are in order, the least first. */
static void add_in_order(int64_t *values, int count, int64_t value)
{
    for (; count > 0 && values[count - 1] > value; count--)
        values[count] = values[count - 1];
    values[count] = value;
}

/* The ticks that a span adds to so many operations, by the least of some passes, and how much of
 * that timing does not see. Returns what the operations take by themselves. What is not seen is
 * the median of differences of neighbouring passes: a processor that it shares with others costs
 * a program three times as much in one millisecond as in the next, and a price that was found in
 * a bad one stays with its process. */
static uint64_t measure_around(struct pythia__thread *t, struct pythia_point *point, int operations,
                               int64_t *whole, int64_t *unseen)
{
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX}, ticks[3], inside = 0;
    int64_t differences[LOOPS];
    for (int i = 0; i < LOOPS; i++) {
        for (enum spans spans = NONE; spans <= TIMED; spans++)
            ticks[spans] = time_pass(t, point, spans, operations, &inside);
        for (enum spans spans = NONE; spans <= UNTIMED; spans++)
            least[spans] = ticks[spans] < least[spans] ? ticks[spans] : least[spans];
        int64_t added = (int64_t)ticks[UNTIMED] - (int64_t)ticks[NONE];
        add_in_order(differences, i, added - (int64_t)(inside * (LOOP / TOLD)));
    }
    *whole = ((int64_t)least[UNTIMED] - (int64_t)least[NONE]) / LOOP;
    *unseen = (differences[LOOPS / 2 - 1] + differences[LOOPS / 2]) / (2 * (int64_t)LOOP);
    return least[NONE] / LOOP;
}

static void measure_cost(struct pythia__thread *t, struct pythia_point *point, uint64_t *whole)
{
    int64_t alone, among;
    measure_around(t, point, 0, &alone, &pythia__cost_unseen);
    uint64_t chain = measure_around(t, point, CHAIN, &among, &pythia__cost_unseen_among);
    pythia__cost_work = chain * LITTLE / CHAIN;
    pythia__cost_clock = UINT64_MAX;
    for (int i = 0; i < LOOP; i++) {
        uint64_t begun = pythia__ticks(), ticks = pythia__ticks() - begun;
        pythia__cost_clock = ticks < pythia__cost_clock ? ticks : pythia__cost_clock;
    }
    *whole = alone > 0 ? (uint64_t)alone : 1;
    pythia__cost_most = MOST * *whole;
}

/* Let what this thread records go nowhere. NULL: there is no memory, which is not from malloc,
 * whose own functions may be what is traced. */
static void *divert_ring(struct pythia__thread *t, struct pythia__ring_control *control)
{
    void *data = mmap(NULL, SCRATCH + PYTHIA__RING_BEYOND, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return NULL;
    t->ring = (struct pythia__ring){.control = control, .data = data, .capacity = SCRATCH};
    t->context = (struct pythia_context){.version = PYTHIA_TRACEPOINTS_VERSION,
                                         .flags = PYTHIA_CONTEXT_SAMPLED,
                                         .trace_high = 1,
                                         .trace_low = 1,
                                         .span = 1};
    t->epoch = pythia__epoch_now();
    t->page = pythia__page;
    t->busy = 0;
    return data;
}

static void unmap_ring(void *data)
{
    if (data)
        munmap(data, SCRATCH + PYTHIA__RING_BEYOND);
}

static const uint64_t open_for_all = UINT64_MAX;
static struct pythia_point some_point = {
    &open_for_all, "", 0, 1, PYTHIA_POINT_INTERNAL, PYTHIA_TRACEPOINTS_VERSION, NULL};

uint64_t pythia__cost_calibrate(struct pythia__thread *t)
{
    struct pythia__ring_control control = {0};
    struct pythia__thread before = *t;
    uint64_t whole = 0;
    void *data = divert_ring(t, &control);
    if (data)
        measure_cost(t, &some_point, &whole);
    before.more = t->more;
    *t = before;
    unmap_ring(data);
    __atomic_store_n(&pythia__cost_due_ns, pythia__clock_ns(CLOCK_MONOTONIC) + AGAIN_NS,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&span_cost, whole, __ATOMIC_RELAXED); /* other threads ask for it */
    return whole;
}

uint64_t pythia__ticks_now(void)
{
    return pythia__ticks();
}

uint64_t pythia__cost_of_span(void)
{
    return __atomic_load_n(&span_cost, __ATOMIC_RELAXED);
}

/* A signal handler that came between a copy of what the thread has and the change, or the other way
 * round, would write to its ring, and what it had written would be written over. */
static struct pythia__thread keep_thread(struct pythia__thread *t, unsigned char *busy)
{
    *busy = t->busy;
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return *t;
}

static void give_back_thread(struct pythia__thread *t, const struct pythia__thread *kept,
                             unsigned char busy)
{
    t->busy = 1;
    struct pythia__more *more = t->more;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *t = *kept;
    t->more = more;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = busy;
}

uint64_t pythia__cost_of(void (*calls)(unsigned n))
{
    unsigned char busy;
    struct pythia__thread *t = &pythia__self, before = keep_thread(t, &busy);
    struct pythia__ring_control control = {0};
    uint64_t least = UINT64_MAX;
    void *data = divert_ring(t, &control);
    for (int i = 0; data && i < LOOPS; i++) {
        t->ring.tail = t->ring.head;
        t->until_timed = UINT32_MAX;
        uint64_t begun = pythia__ticks();
        calls(LOOP);
        uint64_t ticks = pythia__ticks() - begun;
        least = ticks < least ? ticks : least;
    }
    give_back_thread(t, &before, busy);
    unmap_ring(data);
    return data ? least / LOOP : 0;
}

/* ---- again, since it may have been a bad moment ---- */

int pythia__cost_is_due(uint64_t now_ns)
{
    static uint32_t times;
    uint64_t due_ns = __atomic_load_n(&pythia__cost_due_ns, __ATOMIC_RELAXED);
    if (now_ns < due_ns)
        return 0;
    uint32_t n = __atomic_load_n(&times, __ATOMIC_RELAXED) + 1;
    uint64_t next_ns = n < AGAIN ? now_ns + (AGAIN_NS << (3 * n)) : UINT64_MAX;
    if (!__atomic_compare_exchange_n(&pythia__cost_due_ns, &due_ns, next_ns, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return 0; /* another thread does it */
    __atomic_store_n(&times, n, __ATOMIC_RELAXED);
    return 1;
}

void pythia__cost_again(struct pythia__thread *t)
{
    sigset_t all, blocked;
    unsigned char busy;
    int64_t whole, unseen = 0;
    struct pythia__ring_control control = {0};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &blocked); /* what a handler records goes where it should */
    struct pythia__thread before = keep_thread(t, &busy);
    void *data = divert_ring(t, &control);
    if (data)
        measure_around(t, &some_point, CHAIN, &whole, &unseen);
    give_back_thread(t, &before, busy);
    unmap_ring(data);
    if (data && unseen < __atomic_load_n(&pythia__cost_unseen_among, __ATOMIC_RELAXED))
        __atomic_store_n(&pythia__cost_unseen_among, unseen, __ATOMIC_RELAXED);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void pythia__timed_next(struct pythia__thread *t)
{
    const uint32_t every = PYTHIA__TIMED_EVERY * PYTHIA__TIMED_BURST;
    if (t->timed_left == 0) {
        if (pythia__cost_is_due(pythia__clock_ns(CLOCK_MONOTONIC)))
            pythia__cost_again(t);
        t->timed_left = PYTHIA__TIMED_BURST + PYTHIA__TIMED_UNTOLD;
        pythia__bill(t, &(struct pythia_scope){.spent = 1, .point = 0}, pythia__ticks());
    }
    t->until_timed = --t->timed_left > 0 ? 1 : every / 2 + (uint32_t)(pythia__random(t) % every);
}
