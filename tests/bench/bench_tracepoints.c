/* What trace points cost: bench_tracepoints ROW prints one object of JSON. ROW is
 *
 *     closed, closed_shared, open, open_shared, open_root, open_monotonic, integer, annotation: ns
 *         of a pass beyond an empty loop, least and median of many
 *     hop        a call from a service to another, both ends of it and their variables: the same
 *     headers, packed  where a request stands, written and read again, as two headers and in the
 *                binary form: the same
 *     burst      4 threads into rings that hold everything: events a second, and how many were lost
 *     reading    how fast one reader takes these out again
 *     sustained  4 threads at a steady rate, and a reader: the same
 *     bill       what a span reports to cost, and what it does: ns
 *     bill_among the same of spans among work, which costs less: a processor does both at once
 *     switch     from throwing a switch until it is in force in another process: ms */
#include "bench_tracepoints.h"

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <pythia/bill.h>
#include <pythia/drain.h>
#include <pythia/switchboard.h>
#include <pythia/tracepoints.h>
#include <pythia/variable.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REPEATS 201
#define LOOP    100000 /* passes of a closed point that are timed at once */
#define BATCH   4000   /* spans, or other records, that fit into half a ring */
#define THREADS 4
#define RUNS    7

static char directory[] = "/tmp/bench-tracepoints-XXXXXX";

static void fail(const char *what)
{
    fprintf(stderr, "bench_tracepoints: %s\n", what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- the other side ---- */

static struct pythia_switchboard *board;
static struct pythia_drain *drain;

static int adds_costs;
static struct {
    double ns;
    uint64_t passes;
} costs; /* that were told by records of cost */

static void add_costs(const char *bytes, size_t size)
{
    struct pythia_frame frame;
    struct pythia_record_cost record;
    memcpy(&frame, bytes, sizeof(frame));
    for (size_t at = sizeof(frame); at + sizeof(record.head) <= size; at += record.head.bytes) {
        memcpy(&record.head, bytes + at, sizeof(record.head));
        if (record.head.kind != PYTHIA_RECORD_COST || record.head.number == 0)
            continue;
        memcpy(&record, bytes + at, sizeof(record));
        costs.ns += (double)record.ticks * frame.ns_per_tick;
        costs.passes++;
    }
}

static int take(void *context, const void *bytes, size_t size)
{
    (void)context;
    if (adds_costs)
        add_costs(bytes, size);
    return 0;
}

static void throw_switch(const char *id, int open)
{
    if (pythia_switchboard_throw(board, id, strlen(id), PYTHIA_SWITCHES_ALL,
                                 open ? PYTHIA_SWITCHES_ALL : 0) != 0)
        fail("a switch cannot be thrown");
}

static void begin(size_t ring_bytes, const char *clock)
{
    char why[256];
    const struct pythia_drain_handler handler = {.frame = take};
    if (!mkdtemp(directory))
        fail("there is no place for files");
    setenv("PYTHIA_DIRECTORY", directory, 1);
    setenv("PYTHIA_SERVICE", "bench", 1);
    if (clock)
        setenv("PYTHIA_CLOCK", clock, 1);
    const struct pythia_tracepoints_options options = {.ring_bytes = ring_bytes};
    if (pythia_tracepoints_setup(&options) != 0 ||
        pythia_switchboard_open(NULL, 1, &board, why) != 0 ||
        pythia_drain_open(NULL, &handler, &drain, why) != 0)
        fail(why);
    throw_switch("bench:open", 1);
}

static void read_rings(void)
{
    if (pythia_drain_pass(drain) != 0)
        fail("the rings cannot be read");
}

/* The segments outlive the program: it must not leave them behind. */
static void end(void)
{
    char command[128];
    pythia_drain_close(drain);
    pythia_switchboard_close(board);
    pythia_switchboard_remove(directory, NULL);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    if (system(command) != 0) /* NOLINT(cert-env33-c,bugprone-command-processor) */
        fail("the files cannot be removed");
}

/* ---- single passes ---- */

static void integers(size_t n)
{
    PYTHIA_SPAN_AS(span, "open");
    for (size_t i = 0; i < n; i++)
        PYTHIA_SET(span, "queue_length", (int64_t)i);
}

static void annotations(size_t n)
{
    for (size_t i = 0; i < n; i++)
        PYTHIA_ANNOTATE("open");
}

/* A call from one service to another: four events, at the caller's and at the other's end, one that
 * is said in the context that is passed on, with the variables of the process, of which one is
 * another one each time, and a key-value. All but the network, on one thread. */
static long queue_length, workers_busy = 3, lock_waiters;

static void define_variables(void)
{
    const struct {
        const char *name;
        struct pythia_variable_source source;
    } all[] = {{"queue length", PYTHIA_SOURCE_LONG(&queue_length)},
               {"workers busy", PYTHIA_SOURCE_LONG(&workers_busy)},
               {"lock waiters", PYTHIA_SOURCE_LONG(&lock_waiters)}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (pythia_variable_define(all[i].name, PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS,
                                   &all[i].source) < 0)
            fail("a variable cannot be defined");
    throw_switch("bench:call", 1);
    throw_switch("bench:serve", 1);
}

static void hops(size_t n)
{
    PYTHIA_REQUEST("bench");
    for (size_t i = 0; i < n; i++) {
        char header[PYTHIA_TRACEPARENT_BYTES + 1];
        struct pythia_context received = {.flags = PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REQUEST};
        queue_length++;
        PYTHIA_SPAN_OF(call, PYTHIA_POINT_CLIENT, "call");
        if (pythia_traceparent_read(header, pythia_traceparent_write(header), &received) != 0)
            fail("no context is passed on");
        PYTHIA_CONTEXT(&received);
        PYTHIA_SPAN_OF(serve, PYTHIA_POINT_SERVER, "serve");
        PYTHIA_SET(serve, "body_bytes", (int64_t)i);
    }
}

/* What a call has with it, of a request with a name, below a span of another process. */
static void stand_in_request(void)
{
    struct pythia_context at = {.trace_high = UINT64_C(0x4bf92f3577b34da6),
                                .trace_low = UINT64_C(0xa3ce929d0e0e4736),
                                .span = UINT64_C(0x00f067aa0ba902b7),
                                .flags = PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REQUEST};
    pythia_context_name(&at, "checkout", 8);
    pythia_context_set(&at, NULL);
}

static void headers(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char parent[PYTHIA_TRACEPARENT_BYTES + 1], state[PYTHIA_TRACESTATE_BYTES + 1];
        struct pythia_context received;
        size_t parent_bytes = pythia_traceparent_write(parent),
               state_bytes = pythia_tracestate_write(NULL, 0, state);
        if (pythia_traceparent_read(parent, parent_bytes, &received) != 0)
            fail("no context is passed on");
        pythia_tracestate_read(state, state_bytes, &received);
        if (!received.type)
            fail("the kind of the request is not passed on");
    }
}

static void packed(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char bytes[PYTHIA_CONTEXT_BYTES];
        struct pythia_context received;
        if (pythia_context_unpack(bytes, pythia_context_pack(bytes), &received) != 0 ||
            !received.type)
            fail("no context is passed on");
    }
}

static double time_of(void (*pass)(size_t n), size_t n)
{
    uint64_t start = now_ns();
    pass(n);
    return (double)(now_ns() - start) / (double)n;
}

/* Repeats of a pass, and of an empty loop; `below`: under a span that is open meanwhile. */
static void measure(const struct passes *p, void (*pass)(size_t n), size_t n, int below)
{
    double full[REPEATS], empty[REPEATS];
    pass(1);
    for (int i = 0; i < REPEATS; i++) {
        struct pythia_scope room, *span = below ? PYTHIA_ENTER(&room, "open") : NULL;
        empty[i] = time_of(p->empty, LOOP);
        full[i] = time_of(pass, n);
        PYTHIA_EXIT(span);
        read_rings();
    }
    qsort(empty, REPEATS, sizeof(double), compare);
    qsort(full, REPEATS, sizeof(double), compare);
    double least = empty[0], median = empty[REPEATS / 2];
    printf("{\"min\": %.3f, \"median\": %.3f, \"empty\": %.3f, \"ratio\": %.1f}\n", full[0] - least,
           full[REPEATS / 2] - median, median, full[REPEATS / 2] / median);
}

static void measure_hops(const struct passes *p)
{
    struct pythia_tracepoints_state state;
    define_variables();
    measure(p, hops, BATCH / 4, 0);
    pythia_tracepoints_state_get(&state);
    if (state.lost_spans || state.lost_ends || state.lost_values)
        fail("what it costs to lose records is not what is asked");
}

static void measure_context(const struct passes *p, void (*pass)(size_t n))
{
    stand_in_request();
    measure(p, pass, BATCH, 0);
}

/* ---- throughput ---- */

struct writer {
    pthread_t thread;
    pthread_barrier_t *start;
    uint64_t spans;
    double rate; /* spans a second; 0: as fast as it goes */
};

static void *write_spans(void *argument)
{
    const struct writer *w = argument;
    passes_in_program.open(1); /* the ring */
    pthread_barrier_wait(w->start);
    uint64_t start = now_ns();
    for (uint64_t done = 0; done < w->spans;) {
        uint64_t batch = w->spans - done < 64 ? w->spans - done : 64;
        passes_in_program.open(batch);
        done += batch;
        while (w->rate > 0 && (double)(now_ns() - start) < (double)done / w->rate * 1e9)
            sched_yield();
    }
    return NULL;
}

static int stop_reading;

static void *read_steadily(void *unused)
{
    (void)unused;
    pythia_drain_counts_get(drain, &(struct pythia_drain_counts){0});
    while (!__atomic_load_n(&stop_reading, __ATOMIC_ACQUIRE)) {
        read_rings();
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    return NULL;
}

/* Events a second of four threads, until the last has ended. */
static double run_writers(uint64_t spans, double rate)
{
    struct writer writers[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){.start = &start, .spans = spans, .rate = rate};
        if (pthread_create(&writers[i].thread, NULL, write_spans, &writers[i]) != 0)
            fail("there is no thread");
    }
    pthread_barrier_wait(&start);
    uint64_t from = now_ns();
    for (int i = 0; i < THREADS; i++)
        pthread_join(writers[i].thread, NULL);
    double seconds = (double)(now_ns() - from) / 1e9;
    pthread_barrier_destroy(&start);
    return (double)(THREADS * 2 * spans) / seconds;
}

/* What was written against what was read; two definitions, and a span to get each ring. One span in
 * about a thousand has a record of its cost beside it, and the process one. */
static void print_rate(double *rates, int runs, uint64_t spans)
{
    struct pythia_tracepoints_state state;
    struct pythia_drain_counts counts;
    read_rings();
    pythia_tracepoints_state_get(&state);
    pythia_drain_counts_get(drain, &counts);
    uint64_t written = (uint64_t)runs * THREADS * 2 * (spans + 1),
             lost = state.lost_spans + state.lost_ends;
    uint64_t wanted = written + 2 - state.lost_spans * 2 - state.lost_ends;
    if (counts.records < wanted || counts.records > wanted + 1 + written / 2 / 500 + THREADS * 64)
        fail("what was read is not what was written");
    qsort(rates, (size_t)runs, sizeof(double), compare);
    printf("{\"min\": %.0f, \"median\": %.0f, \"max\": %.0f, \"lost\": %" PRIu64 "}\n", rates[0],
           rates[runs / 2], rates[runs - 1], lost);
}

/* `reading`: how fast they are read afterwards is what counts. */
static void burst(int reading)
{
    const uint64_t spans = 600000; /* 57.6 MB a thread */
    double rates[RUNS];
    for (int i = 0; i < RUNS; i++) {
        rates[i] = run_writers(spans, 0);
        uint64_t start = now_ns();
        read_rings();
        if (reading)
            rates[i] = (double)(THREADS * 2 * spans) / (double)(now_ns() - start) * 1e9;
    }
    print_rate(rates, RUNS, spans);
}

static void sustained(void)
{
    const double rate = 5.25e6 / THREADS; /* spans a second and thread: 10.5 million events */
    const uint64_t spans = (uint64_t)(rate * 3);
    double rates[1];
    pthread_t reader;
    if (pthread_create(&reader, NULL, read_steadily, NULL) != 0)
        fail("there is no thread");
    rates[0] = run_writers(spans, rate);
    __atomic_store_n(&stop_reading, 1, __ATOMIC_RELEASE);
    pthread_join(reader, NULL);
    print_rate(rates, 1, spans);
}

/* ---- the bill ---- */

#define BLOCKS 250 /* of BATCH spans: a million */

static double price(void)
{
    return costs.ns / (double)costs.passes;
}

/* Spans around operations each of which waits for the one before: as some 0.3 us of hashing. */
static void spans_among_work(size_t n)
{
    static volatile uint64_t result;
    uint64_t x = result;
    for (size_t i = 0; i < n; i++) {
        PYTHIA_SPAN("open");
        for (int k = 0; k < 200; k++)
            x = (x ^ (x >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
    }
    result = x;
}

/* A million spans with their point open, and as many with it closed, in turn: what the spans say
 * that they cost, what was forecast from the first tenth of them, and what they do cost: the
 * difference of medians, since another program may take the processor away in the middle. */
static void bill(void (*spans)(size_t n))
{
    double open_ns[BLOCKS], closed_ns[BLOCKS], forecast_ns = NAN;
    adds_costs = 1;
    for (int i = 0; i < BLOCKS; i++) {
        throw_switch("bench:open", 1);
        open_ns[i] = time_of(spans, BATCH);
        read_rings();
        if (i == BLOCKS / 10) {
            const struct pythia_bill_item item = {price(), BATCH * (double)BLOCKS};
            forecast_ns = pythia_bill_forecast(&item, 1, NAN, NAN).cost_ns;
        }
        throw_switch("bench:open", 0);
        closed_ns[i] = time_of(spans, BATCH);
    }
    const double all = BATCH * (double)BLOCKS;
    qsort(open_ns, BLOCKS, sizeof(double), compare);
    qsort(closed_ns, BLOCKS, sizeof(double), compare);
    printf("{\"reported\": %.3f, \"forecast\": %.3f, \"measured\": %.3f, \"samples\": %" PRIu64
           "}\n",
           price(), forecast_ns / all, open_ns[BLOCKS / 2] - closed_ns[BLOCKS / 2], costs.passes);
}

/* ---- switches ---- */

#define THROWS 1000

struct seen {
    uint64_t at_ns;
    uint32_t throws, ready; /* that the other process has seen */
};

/* The other process: passes the point some 10 000 times a second, as one that handles requests
 * does, and notes when it finds it changed. It does not enter it: a full ring must not be taken for
 * a closed point. */
static void watch(struct seen *seen)
{
    static struct pythia_point point = PYTHIA_POINT(PYTHIA_POINT_INTERNAL, "watched", 7);
    struct pythia_scope room;
    if (pythia_enter(&point, &room))
        _exit(1);
    __atomic_store_n(&seen->ready, 1, __ATOMIC_RELEASE);
    for (int open = 0;; nanosleep(&(struct timespec){0, 50000}, NULL))
        if (pythia_is_open(&point) != open) {
            open = !open;
            seen->at_ns = now_ns();
            __atomic_store_n(&seen->throws, seen->throws + 1, __ATOMIC_RELEASE);
        }
}

static void switches(void)
{
    double ms[THROWS];
    struct seen *seen =
        mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    throw_switch("bench:watched", 0);
    pid_t child = fork();
    if (child == 0)
        watch(seen);
    while (!__atomic_load_n(&seen->ready, __ATOMIC_ACQUIRE))
        sched_yield();
    for (uint32_t i = 0; i < THROWS; i++) {
        nanosleep(&(struct timespec){0, 200000 + 1777 * (long)(i % 997)}, NULL);
        uint64_t thrown = now_ns();
        throw_switch("bench:watched", i % 2 == 0);
        while (__atomic_load_n(&seen->throws, __ATOMIC_ACQUIRE) == i)
            nanosleep(&(struct timespec){0, 50000}, NULL);
        ms[i] = seen->at_ns > thrown ? (double)(seen->at_ns - thrown) / 1e6 : 0;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    read_rings();
    qsort(ms, THROWS, sizeof(double), compare);
    printf("{\"median\": %.4f, \"p99\": %.4f, \"max\": %.4f}\n", ms[THROWS / 2],
           ms[THROWS * 99 / 100], ms[THROWS - 1]);
}

/* ---- rows ---- */

int main(int argc, char **argv)
{
    const char *row = argc == 2 ? argv[1] : "";
    const struct passes *program = &passes_in_program, *library = &passes_in_library;
    size_t ring_bytes =
        strcmp(row, "burst") == 0 || strcmp(row, "reading") == 0 || strcmp(row, "sustained") == 0
            ? 64 << 20
            : 1 << 20;
    begin(ring_bytes, strcmp(row, "open_monotonic") == 0 ? "monotonic" : NULL);
    if (strcmp(row, "closed") == 0)
        measure(program, program->closed, LOOP, 0);
    else if (strcmp(row, "closed_shared") == 0)
        measure(library, library->closed, LOOP, 0);
    else if (strcmp(row, "open") == 0 || strcmp(row, "open_monotonic") == 0)
        measure(program, program->open, BATCH, 1);
    else if (strcmp(row, "open_shared") == 0)
        measure(library, library->open, BATCH, 0);
    else if (strcmp(row, "open_root") == 0)
        measure(program, program->open, BATCH, 0);
    else if (strcmp(row, "integer") == 0)
        measure(program, integers, BATCH, 1);
    else if (strcmp(row, "annotation") == 0)
        measure(program, annotations, BATCH, 1);
    else if (strcmp(row, "hop") == 0)
        measure_hops(program);
    else if (strcmp(row, "headers") == 0 || strcmp(row, "packed") == 0)
        measure_context(program, strcmp(row, "packed") == 0 ? packed : headers);
    else if (strcmp(row, "burst") == 0 || strcmp(row, "reading") == 0)
        burst(strcmp(row, "reading") == 0);
    else if (strcmp(row, "sustained") == 0)
        sustained();
    else if (strcmp(row, "bill") == 0)
        bill(program->open);
    else if (strcmp(row, "bill_among") == 0)
        bill(spans_among_work);
    else if (strcmp(row, "switch") == 0)
        switches();
    else
        fail("there is no such row");
    end();
    return 0;
}
