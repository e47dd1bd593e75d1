/* The collector under load: four processes of four threads, a reader that takes files away as they
 * come, memory that stays, files of the size they should have. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "collected.h"
#include "timed.h"

#define PROCESSES 4
#define THREADS   4
#define SAMPLES   (SANITIZED ? 25000 : 250000)

static struct collected_rows all;

static int begin(void **state)
{
    return begin_collecting(state);
}

static int end(void **state)
{
    collected_free(&all);
    return end_collecting(state);
}

static double resident_kib(void)
{
    unsigned long size = 0, resident = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (!in || fscanf(in, "%lu %lu", &size, &resident) != 2) /* NOLINT(cert-err34-c) */
        fail_msg("/proc/self/statm cannot be read");
    fclose(in);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

/* Nobody waits for the collector, so a test of it must not go ahead of it: 4 million samples on two
 * processors are made faster than rows. */
static void do_not_run_ahead(void)
{
    struct pythia_collector_state s;
    for (pythia_collector_state_get(&s); s.held > s.room / 3; pythia_collector_state_get(&s)) {
        pythia_collector_flush();
        pause_ms(1);
    }
}

static void *measure(void *unused)
{
    (void)unused;
    static struct pythia_label label = PYTHIA_LABEL("/v2/notify, \"POST\"");
    for (int i = 0; i < SAMPLES; i++) {
        pythia_duration_end(&label, pythia_duration_begin());
        if (i % 500 == 0)
            do_not_run_ahead();
    }
    return NULL;
}

static void *wait_for_all(void *barrier)
{
    static struct pythia_label label = PYTHIA_LABEL("nothing is measured yet");
    pythia_duration_end(&label, pythia_duration_begin());
    pthread_barrier_wait(barrier);
    return NULL;
}

/* Have as many threads at once as there will be: their stacks stay resident, and are not taken for
 * memory of the collector. */
static void warm_up(void)
{
    pthread_t threads[THREADS + 1];
    pthread_barrier_t barrier;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
    for (int i = 0; i <= THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_all, &barrier), 0);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

static void four_threads(void)
{
    pthread_t threads[THREADS];
    struct pythia_collector_state s;
    warm_up();
    start_with((struct pythia_collector_options){.no_runtime = 1, .flush_ms = 200});
    double before = resident_kib();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, measure, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double grown = resident_kib() - before;
    assert_int_equal(pythia_collector_stop(), 0);
    pythia_collector_state_get(&s);
    assert_int_equal(s.dropped, 0);
    assert_int_equal(s.rows, THREADS * SAMPLES);
    /* AQ3: 1 MiB of measurements, and what writing files takes */
    double allowed = 1024 + 64;
    print_message("resident memory has grown by %.0f KiB, of %.0f allowed\n", grown, allowed);
    if (!SANITIZED)
        assert_true(grown <= allowed);
}

static void aq2_aq3_four_processes_of_four_threads(void **state)
{
    pid_t children[PROCESSES];
    int running = PROCESSES, ended, passes = 0;
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            four_threads();
            exit(0);
        }
    }
    while (running > 0) { /* read and take away, all the time */
        collect_files(&all, csv_folder, "duration.", 1);
        passes++;
        pid_t child = waitpid(-1, &ended, WNOHANG);
        assert_true(child >= 0);
        if (child > 0) {
            assert_int_equal(ended, 0);
            running--;
        }
    }
    collect_files(&all, csv_folder, "duration.", 1);
    assert_true(passes > 2);
    assert_int_equal(all.temporary, 0);
    assert_int_equal(all.count, (size_t)PROCESSES * THREADS * SAMPLES);
    size_t of[PROCESSES] = {0};
    for (size_t i = 0; i < all.count; i++) {
        int n = 0;
        assert_string_equal(all.rows[i].label, "/v2/notify, \"POST\"");
        while (n < PROCESSES && children[n] != all.rows[i].pid)
            n++;
        assert_true(n < PROCESSES);
        of[n]++;
    }
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(of[i], THREADS * SAMPLES);
}

/* ---- AQ3, the other half ---- */

static void measure_while_nothing_is_written(void)
{
    char command[256];
    struct pythia_collector_state s;
    start_with((struct pythia_collector_options){.no_runtime = 1, .flush_ms = 100});
    snprintf(command, sizeof(command), "rm -rf %s && touch %s", csv_folder, csv_folder);
    assert_int_equal(system(command), 0); /* NOLINT */
    double before = resident_kib();
    for (int i = 0; i < 2000000; i++)
        PYTHIA_OBSERVE("tick", i);
    double grown = resident_kib() - before;
    pythia_collector_state_get(&s);
    print_message("%llu dropped; grown by %.0f KiB\n", (unsigned long long)s.dropped, grown);
    assert_true(s.dropped > 1900000);
    if (!SANITIZED)
        assert_true(grown <= 1024 + 2 * 48);
}

static void memory_is_bounded_when_nothing_is_written(void **state)
{
    in_child(measure_while_nothing_is_written);
}

/* ---- AQ4: ten minutes of 10 kHz, as fast as they can be written ---- */

#define TEN_MINUTES (SANITIZED ? 600000 : 6000000)

static void ten_minutes(void)
{
    start_with((struct pythia_collector_options){.no_runtime = 1, .flush_ms = 3600000});
    for (int i = 0; i < TEN_MINUTES; i++) {
        PYTHIA_OBSERVE("queue length", i % 1000);
        for (struct pythia_collector_state s; i % 500 == 0;) {
            pythia_collector_state_get(&s);
            if (s.held < s.room * 3 / 4) /* at the half it was told to write */
                break;
            pause_ms(1);
        }
    }
    struct pythia_collector_state s;
    assert_int_equal(pythia_collector_stop(), 0);
    pythia_collector_state_get(&s);
    assert_int_equal(s.dropped, 0);
    assert_int_equal(s.rows, TEN_MINUTES);
    double expected = (double)s.bytes / 1048576;
    print_message("%llu files of %.1f MiB\n", (unsigned long long)s.files, expected);
    assert_true((double)s.files >= expected * .9 && (double)s.files <= expected * 1.1 + 1);
}

static void files_have_the_size_of_the_cap(void **state)
{
    in_child(ten_minutes);
}

/* ---- AQ6 ---- */

static void ten_seconds(void)
{
    volatile uint64_t work = 0;
    start_with((struct pythia_collector_options){.runtime_ms = 1000});
    uint64_t begun = pythia_duration_begin();
    static struct pythia_label label = PYTHIA_LABEL("ten seconds");
    struct timespec now, until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 10;
    do {
        for (int i = 0; i < 100000; i++)
            work += (uint64_t)i;
        pause_ms(1);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < until.tv_sec ||
             (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
    pythia_duration_end(&label, begun);
    assert_true(work > 0);
    assert_int_equal(pythia_collector_stop(), 0);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6, last = 0;
    collect_files(&all, csv_folder, "runtime.", 0);
    uint64_t first_ns = 0;
    double period = 0;
    size_t count = rows_of(&all, "user time");
    assert_true(count >= 2); /* one at the start, one at the end */
    check_time(count >= 11, "%zu rows in 10 s", count);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = row_of(&all, "user time", i);
        assert_true(row->value >= last);
        last = row->value;
        first_ns = first_ns ? first_ns : row->time_ns;
        if (i == 9) /* nine periods; a single one may be late on a machine that is shared */
            period = (double)(row->time_ns - first_ns) / 9e9;
    }
    print_message("every %.3f s; user time %.6f of %.6f s\n", period, last, user);
    check_time(period > .95 && period < 1.05, "every %.3f s", period);
    assert_true(last <= user);
    check_time(last >= user * .98, "user time %g of %g s", last, user);
}

static void once_a_second(void **state)
{
    in_child(ten_seconds);
    collect_files(&all, csv_folder, "duration.", 0);
    assert_true(row_of(&all, "ten seconds", 0)->value >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(aq2_aq3_four_processes_of_four_threads, begin, end),
        cmocka_unit_test_setup_teardown(memory_is_bounded_when_nothing_is_written, begin, end),
        cmocka_unit_test_setup_teardown(files_have_the_size_of_the_cap, begin, end),
        cmocka_unit_test_setup_teardown(once_a_second, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
