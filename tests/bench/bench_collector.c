/* What the collector costs: bench_collector ROW prints one object of JSON. ROW is
 *
 *     duration   ns of a duration, begin and end, beyond an empty loop: least and median of many,
 *                and of single ones the 99.9th percentile, clock included
 *     observe    ns of one number
 *     off        ns of a duration while the collector is switched off
 *     memory     4 threads, into memory: measurements a second
 *     csv        rows a second that the collector writes to files, of durations; by the CPU time of
 *                its thread, whatever else the machine does
 *     csv_real   the same of numbers with 15 digits */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <pythia/collector.h>
#include <pythia/switchboard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REPEATS 201
#define BATCH   4000
#define SINGLES 400000
#define THREADS 4
#define ROWS    3000000
#define RUNS    7

static char directory[] = "/tmp/bench-collector-XXXXXX";
static struct pythia_label label = PYTHIA_LABEL("/v2/notify [POST]");

static void fail(const char *what)
{
    fprintf(stderr, "bench_collector: %s\n", what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void begin(size_t memory)
{
    if (!mkdtemp(directory))
        fail("there is no place for files");
    setenv("PYTHIA_DIRECTORY", directory, 1);
    setenv("PYTHIA_SERVICE", "bench", 1);
    const struct pythia_collector_options o = {.directory = directory,
                                               .memory_bytes = memory,
                                               .flush_ms = 3600000,
                                               .file_bytes = 64 << 20,
                                               .no_runtime = 1};
    if (pythia_collector_start(&o) != 0)
        fail("the collector cannot be started");
}

static void end(void)
{
    char command[128];
    pythia_collector_stop();
    pythia_switchboard_remove(directory, NULL);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    if (system(command) != 0) /* NOLINT(cert-env33-c,bugprone-command-processor) */
        fail("the files cannot be removed");
}

static void flush_all(void)
{
    char command[128];
    if (pythia_collector_flush() != 0)
        fail("files cannot be written");
    snprintf(command, sizeof(command), "rm -f %s/*.csv", directory);
    if (system(command) != 0) /* NOLINT(cert-env33-c,bugprone-command-processor) */
        fail("the files cannot be removed");
}

/* ---- single measurements ---- */

static void durations(size_t n)
{
    for (size_t i = 0; i < n; i++)
        pythia_duration_end(&label, pythia_duration_begin());
}

static void observations(size_t n)
{
    for (size_t i = 0; i < n; i++)
        pythia_observe(&label, (double)i);
}

static void nothing(size_t n)
{
    for (size_t i = 0; i < n; i++)
        __asm__ volatile("" : : "r"(i) : "memory");
}

static double time_of(void (*pass)(size_t n), size_t n)
{
    uint64_t start = now_ns();
    pass(n);
    return (double)(now_ns() - start) / (double)n;
}

static double percentile_of_singles(void)
{
    static double times[SINGLES];
    for (size_t i = 0; i < SINGLES; i++) {
        times[i] = time_of(durations, 1);
        if (i % BATCH == 0)
            flush_all();
    }
    qsort(times, SINGLES, sizeof(double), compare);
    return times[SINGLES / 1000 * 999];
}

static void measure(void (*pass)(size_t n), int singles)
{
    double full[REPEATS], empty[REPEATS];
    struct pythia_collector_state state;
    pass(1);
    for (int i = 0; i < REPEATS; i++) {
        empty[i] = time_of(nothing, BATCH);
        full[i] = time_of(pass, BATCH);
        flush_all();
    }
    qsort(empty, REPEATS, sizeof(double), compare);
    qsort(full, REPEATS, sizeof(double), compare);
    double median = empty[REPEATS / 2], single = singles ? percentile_of_singles() : 0;
    pythia_collector_state_get(&state);
    if (state.dropped)
        fail("measurements were dropped");
    printf("{\"min\": %.3f, \"median\": %.3f, \"empty\": %.3f, \"ratio\": %.1f, \"p999\": %.0f}\n",
           full[0] - empty[0], full[REPEATS / 2] - median, median, full[REPEATS / 2] / median,
           single);
}

static void switch_off(void)
{
    struct pythia_switchboard *board;
    if (pythia_switchboard_open(directory, 0, &board, NULL) != 0 ||
        pythia_switchboard_throw(board, "bench:collector", 15, PYTHIA_SWITCHES_ALL, 0) != 0)
        fail("the switch cannot be thrown");
    pythia_switchboard_close(board);
}

/* ---- rates ---- */

static pthread_barrier_t start;

static void *write_many(void *unused)
{
    (void)unused;
    durations(1);
    pthread_barrier_wait(&start);
    durations(ROWS / THREADS);
    return NULL;
}

/* Measurements a second of four threads, until the last has ended. */
static double into_memory(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&start, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, write_many, NULL) != 0)
            fail("there is no thread");
    pthread_barrier_wait(&start);
    uint64_t from = now_ns();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double seconds = (double)(now_ns() - from) / 1e9;
    pthread_barrier_destroy(&start);
    return ROWS / seconds;
}

static double next_real(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 14) / 1e6; /* 15 digits */
}

/* Rows a second, from memory to files that are complete. */
static double into_files(int reals)
{
    uint64_t random = 42;
    for (size_t i = 0; reals && i < ROWS; i++)
        pythia_observe(&label, next_real(&random));
    if (!reals)
        durations(ROWS);
    uint64_t from = cpu_ns(); /* this thread only waits */
    if (pythia_collector_flush() != 0)
        fail("files cannot be written");
    return ROWS / ((double)(cpu_ns() - from) / 1e9);
}

static void rates(const char *row)
{
    double all[RUNS];
    struct pythia_collector_state before, after;
    for (int i = 0; i < RUNS; i++) {
        flush_all();
        pythia_collector_state_get(&before);
        all[i] = strcmp(row, "memory") == 0 ? into_memory() : into_files(strcmp(row, "csv") != 0);
        flush_all();
        pythia_collector_state_get(&after);
        if (after.rows - before.rows < ROWS)
            fail("rows are missing");
    }
    qsort(all, RUNS, sizeof(double), compare);
    printf("{\"min\": %.0f, \"median\": %.0f, \"max\": %.0f, \"lost\": %" PRIu64 "}\n", all[0],
           all[RUNS / 2], all[RUNS - 1], after.dropped);
}

int main(int argc, char **argv)
{
    const char *row = argc == 2 ? argv[1] : "";
    int rate = strcmp(row, "memory") == 0 || strncmp(row, "csv", 3) == 0;
    begin(rate ? (size_t)256 << 20 : 1 << 20); /* of which a half does not call for the writer */
    if (strcmp(row, "duration") == 0) {
        measure(durations, 1);
    } else if (strcmp(row, "observe") == 0) {
        measure(observations, 0);
    } else if (strcmp(row, "off") == 0) {
        switch_off();
        measure(durations, 0);
    } else if (rate) {
        rates(row);
    } else {
        fail("there is no such row");
    }
    end();
    return 0;
}
