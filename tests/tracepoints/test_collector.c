/* The collector: what is measured comes into files. Each program that is measured is a child. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "collected.h"
#include "pythia/series_files.h"
#include "timed.h"

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

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void short_work(void)
{
    PYTHIA_TIME_IT("work, short");
    pause_ms(20);
}

static void measure_a_few(void)
{
    PYTHIA_OBSERVE("before", 1);
    assert_int_equal(pythia_duration_begin(), 0);
    start_with((struct pythia_collector_options){.no_runtime = 1});
    struct pythia_collector_options again = {.directory = csv_folder};
    assert_int_equal(pythia_collector_start(&again), -EALREADY);
    for (int i = 0; i < 3; i++)
        short_work();
    PYTHIA_OBSERVE("queue length", 7);
    pythia_observe_named("run \"time\"", 10, .1);
    pythia_observe_named("run \"time\"", 10, -.2);
    static struct pythia_label one = PYTHIA_LABEL("one"), two = PYTHIA_LABEL("two");
    struct { /* as a program of later headers has it */
        struct pythia_observation known;
        uint64_t of_later;
    } both[] = {{{&one, 1}, 7}, {{&two, 2}, 7}};
    pythia_observe_many_sized(&both[0].known, 2, sizeof(both[0]));
    assert_int_equal(pythia_collector_stop(), 0);
    PYTHIA_OBSERVE("behind", 1);
    struct pythia_collector_state s;
    pythia_collector_state_get(&s);
    assert_int_equal(s.rows, 8);
    assert_int_equal(s.dropped, 0);
    assert_int_equal(s.files, 2);
    assert_int_equal(s.labels, 7); /* and two of its own */
    assert_int_equal(s.running, 0);
    assert_string_equal(s.problem, "");
}

static void what_is_measured_comes_into_files(void **state)
{
    uint64_t before = now_ns();
    in_child(measure_a_few);
    uint64_t after = now_ns();
    collect_files(&all, csv_folder, "duration.", 0);
    assert_int_equal(all.files, 1);
    assert_int_equal(all.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct row *row = row_of(&all, "work, short", i);
        assert_true(row->value >= .02);
        assert_true(row->time_ns - (uint64_t)(row->value * 1e9) >= before - 1000000);
        assert_true(row->time_ns <= after + 1000000);
        assert_true(row->pid != getpid());
    }
    assert_true(all.rows[0].time_ns + 19000000 < all.rows[1].time_ns);
    collected_free(&all);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(all.count, 5);
    assert_true(row_of(&all, "queue length", 0)->value == 7);
    assert_true(row_of(&all, "run \"time\"", 0)->value == .1);
    assert_true(row_of(&all, "run \"time\"", 1)->value == -.2);
    assert_true(row_of(&all, "one", 0)->time_ns == row_of(&all, "two", 0)->time_ns);
    assert_int_equal(all.temporary, 0);
}

static void *end_duration(void *begun)
{
    static struct pythia_label label = PYTHIA_LABEL("by two threads");
    pythia_duration_end(&label, *(uint64_t *)begun);
    return NULL;
}

static void measure_nested(void)
{
    static struct pythia_label outer = PYTHIA_LABEL("outer"), inner = PYTHIA_LABEL("inner");
    pthread_t thread;
    start_with((struct pythia_collector_options){.no_runtime = 1});
    uint64_t begun = pythia_duration_begin();
    pause_ms(3);
    uint64_t within = pythia_duration_begin();
    pause_ms(2);
    pythia_duration_end(&inner, within);
    pause_ms(3);
    pythia_duration_end(&outer, begun);
    assert_int_equal(pthread_create(&thread, NULL, end_duration, &begun), 0);
    pthread_join(thread, NULL);
}

static void durations_are_nested_and_end_on_any_thread(void **state)
{
    if (THREAD_SANITIZED)
        skip();
    in_child(measure_nested);
    collect_files(&all, csv_folder, "duration.", 0);
    assert_int_equal(all.count, 3);
    double inner = row_of(&all, "inner", 0)->value, outer = row_of(&all, "outer", 0)->value;
    assert_true(inner >= .002 && outer >= inner + .006);
    assert_true(row_of(&all, "by two threads", 0)->value >= outer);
}

static void time_a_request(void)
{
    start_with((struct pythia_collector_options){.no_runtime = 1});
    PYTHIA_REQUEST("order");
    PYTHIA_TIME_IT("timed");
    pause_ms(2);
}

/* What is timed inside of a request is a span of it, too. */
static void what_is_timed_is_a_span(void **state)
{
    struct collection c;
    open_point("test:timed");
    in_child(time_a_request);
    collect_files(&all, csv_folder, "duration.", 0);
    assert_int_equal(all.count, 1);
    read_spans(&c);
    assert_int_equal(c.count, 1);
    size_t span = only(&c, "test:timed");
    assert_text(&c, span, "request_type", "order");
    double span_s = (double)span_at(&c, span)->duration_ns / 1e9;
    assert_true(span_s >= .002 && row_of(&all, "timed", 0)->value >= span_s - 1e-6);
    collection_close(&c);
    close_point("test:timed");
}

static void wrong_options(void)
{
    struct pythia_collector_options o = {0};
    assert_int_equal(pythia_collector_start(&o), -EINVAL); /* no directory */
    o.directory = csv_folder;
    o.memory_bytes = 1000;
    assert_int_equal(pythia_collector_start(&o), -EINVAL);
    o.memory_bytes = (size_t)2 << 30;
    assert_int_equal(pythia_collector_start(&o), -EINVAL);
    o.memory_bytes = 0;
    o.flush_ms = 3600001;
    assert_int_equal(pythia_collector_start(&o), -EINVAL);
    o.flush_ms = 0;
    o.runtime_ms = 5;
    assert_int_equal(pythia_collector_start(&o), -EINVAL);
    o.runtime_ms = 0;
    o.file_bytes = 1;
    assert_int_equal(pythia_collector_start(&o), -EINVAL);
    o.file_bytes = 0;
    setenv("PYTHIA_COLLECT_MS", "soon", 1);
    assert_int_equal(pythia_collector_start(&o), -EINVAL);
    unsetenv("PYTHIA_COLLECT_MS");
    struct pythia_collector_state s;
    pythia_collector_state_get(&s);
    assert_string_equal(s.problem, "PYTHIA_COLLECT_MS is 'soon', not a number up to 3600000");
    o.directory = "/proc/no/such/folder";
    assert_int_equal(pythia_collector_start(&o), -ENOENT);
    o.directory = csv_folder;
    assert_int_equal(pythia_collector_start(&o), 0);
    assert_int_equal(pythia_collector_stop(), 0);
    assert_int_equal(pythia_collector_start(&o), 0); /* and again */
    PYTHIA_OBSERVE("again", 1);
    assert_int_equal(pythia_collector_stop(), 0);
    o.memory_bytes = 1 << 17;
    assert_int_equal(pythia_collector_start(&o), -EINVAL); /* it has another size by now */
}

static void options_are_checked(void **state)
{
    in_child(wrong_options);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(rows_of(&all, "again"), 1);
}

/* ---- AQ5 ---- */

static void parent_and_children(void)
{
    start_with((struct pythia_collector_options){.no_runtime = 1, .flush_ms = 60000});
    for (int i = 0; i < 1000; i++)
        PYTHIA_OBSERVE("parent", i);
    for (int child = 0; child < 3; child++) {
        if (SANITIZED) /* the thread may hold a lock of its allocator: let it come to rest */
            pythia_collector_flush();
        pid_t pid = fork();
        if (pid == 0) {
            for (int i = 0; i < 500; i++)
                PYTHIA_OBSERVE("child", i);
            exit(0);
        }
        for (int i = 0; i < 1000; i++)
            PYTHIA_OBSERVE("parent", i);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
}

static void children_have_their_own_rows(void **state)
{
    if (THREAD_SANITIZED)
        skip();
    in_child(parent_and_children);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(rows_of(&all, "parent"), 4000);
    assert_int_equal(rows_of(&all, "child"), 1500);
    int parent = row_of(&all, "parent", 0)->pid, children[3], known = 0;
    for (size_t i = 0; i < all.count; i++) {
        int is_child = strcmp(all.rows[i].label, "child") == 0, pid = all.rows[i].pid, n = 0;
        assert_true(is_child ? pid != parent : pid == parent);
        while (is_child && n < known && children[n] != pid)
            n++;
        if (is_child && n == known) {
            assert_true(known < 3);
            children[known++] = pid;
        }
    }
    assert_int_equal(known, 3);
    assert_int_equal(all.temporary, 0);
}

/* ---- AQ7 ---- */

static void be_killed(void)
{
    start_with((struct pythia_collector_options){.no_runtime = 1, .flush_ms = 100});
    for (int i = 0; i < 100; i++) {
        PYTHIA_OBSERVE("tick", i);
        pause_ms(10);
    }
    kill(getpid(), SIGKILL);
}

static void on_problem(void *context, const struct pythia_error *why)
{
    fail_msg("%s", why->sentence);
}

static void what_a_killed_process_loses_is_bounded(void **state)
{
    pid_t child = fork();
    if (child == 0)
        be_killed();
    assert_int_equal(waitpid(child, NULL, 0), child);
    collect_files(&all, csv_folder, "observed.", 0);
    check_time(rows_of(&all, "tick") >= 60, "%zu of 100 rows",
               rows_of(&all, "tick")); /* 100 ms are 10 */
    assert_in_range(rows_of(&all, "tick"), 1, 100);
    assert_true(all.temporary > 0);
    const char *const paths[] = {csv_folder};
    struct pythia_series_set *set;
    struct pythia_series_files_result read;
    assert_int_equal(pythia_series_files_read(paths, 1, false, on_problem, NULL, &set, &read),
                     PYTHIA_OK);
    assert_int_equal(read.killed, all.temporary); /* it is told that something is missing */
    assert_int_equal(read.writing + read.csv.broken, 0);
    assert_in_range(read.csv.rows, rows_of(&all, "tick"), 100);
    pythia_series_set_destroy(set);
}

/* ---- AQ10 ---- */

/* What two processes tell each other. */
struct between {
    atomic_int begun, may_end;
    atomic_int value; /* to observe */
    atomic_int ticks; /* that are over, recorded or not */
    atomic_int rows;  /* written into files so far, of whatever kind */
};

static struct between *between;

static void tick_until_told(void)
{
    struct pythia_collector_state s;
    start_with((struct pythia_collector_options){.runtime_ms = 10, .flush_ms = 50});
    for (between->begun = 1; between->may_end == 0; pause_ms(1)) {
        PYTHIA_OBSERVE("tick", between->value);
        pythia_collector_state_get(&s);
        between->rows = (int)s.rows;
        between->ticks++;
    }
}

static void wait_for_ticks(int count)
{
    for (int before = between->ticks; between->ticks < before + count;)
        pause_ms(1);
}

/* The other process is as slow as the machine wants it to be, under valgrind a hundred times
 * slower: what it has done is what counts. */
static void switched_from_another_process(void **state)
{
    static const char id[] = "test:collector";
    between =
        mmap(NULL, sizeof(*between), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    close_point(id); /* before the program begins: it stays so */
    pid_t child = fork();
    if (child == 0) {
        tick_until_told();
        exit(0);
    }
    while (!between->begun)
        pause_ms(1);
    wait_for_ticks(30);
    between->value = 1;
    uint64_t on = now_ns();
    int before = between->ticks;
    open_point(id);
    wait_for_ticks(30);
    while (between->rows <= between->ticks - before + 40) /* so many are not of ticks */
        pause_ms(1);
    uint64_t off = now_ns();
    close_point(id);
    wait_for_ticks(2); /* the one that was under way may have found it open */
    between->value = 2;
    wait_for_ticks(30);
    between->may_end = 1;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    munmap(between, sizeof(*between));
    collect_files(&all, csv_folder, "observed.", 0);
    collect_files(&all, csv_folder, "runtime.", 0);
    assert_true(rows_of(&all, "tick") > 20);
    assert_true(rows_of(&all, "max rss") > 0);
    for (size_t i = 0; i < all.count; i++) {
        /* What looks at the process may have been under way both times. */
        check_time(all.rows[i].time_ns >= on - 2000000, "row %zu", i);
        check_time(all.rows[i].time_ns <= off + 10000000, "row %zu", i);
        if (strcmp(all.rows[i].label, "tick") == 0)
            assert_true(all.rows[i].value == 1);
    }
}

static void one_kind_of_request(void)
{
    start_with((struct pythia_collector_options){.no_runtime = 1});
    for (int i = 0; i < 10; i++) {
        if (i % 2) {
            PYTHIA_REQUEST("create");
            PYTHIA_OBSERVE("in create", i);
        } else {
            PYTHIA_REQUEST("list");
            PYTHIA_OBSERVE("in list", i);
        }
    }
}

static void it_is_switched_for_one_kind_of_request(void **state)
{
    throw_types("test:collector", UINT64_C(1)
                                      << pythia_switchboard_type(traced.board, "create", 6));
    in_child(one_kind_of_request);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(rows_of(&all, "in create"), 5);
    assert_int_equal(rows_of(&all, "in list"), 0);
    open_point("test:collector");
}

/* ---- AQ6, short; the long one is in test_collector_long.c ---- */

static void look_at_itself(void)
{
    enum { LABELS = 16 }; /* below */
    struct pythia_collector_state s;
    start_with((struct pythia_collector_options){.runtime_ms = 50, .flush_ms = 50});
    uint64_t until = now_ns() + 500000000;
    do
        pythia_collector_state_get(&s);
    while (now_ns() < until || s.rows < (uint64_t)2 * LABELS);
    assert_int_equal(pythia_collector_stop(), 0);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6, last = 0;
    collect_files(&all, csv_folder, "runtime.", 0);
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(all.rows[i].label, "user time") == 0) {
            assert_true(all.rows[i].value >= last);
            last = all.rows[i].value;
        }
    assert_true(last <= user);
    check_time(last >= user * .9, "user time %g of %g s", last, user);
    const struct row *rss = row_of(&all, "rss", 0), *most = row_of(&all, "max rss", 0);
    assert_true(rss->value > 100 && rss->value <= most->value + 2048);
    assert_true(row_of(&all, "threads", 1)->value == 2); /* this one, and the collector's */
}

static void the_process_looks_at_itself(void **state)
{
    static const char *const labels[] = {"user time",    "system time", "max rss",   "minor faults",
                                         "major faults", "vol ctx",     "invol ctx", "rss",
                                         "threads",      "cpu %",       "mem %",     "load 1m",
                                         "load 5m",      "load 15m",    "heap used", "heap free"};
    if (SANITIZED)
        skip(); /* there are more threads, and other memory */
    in_child(look_at_itself);
    collect_files(&all, csv_folder, "runtime.", 0);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        check_time(rows_of(&all, labels[i]) >= 5, "%zu rows of %s", rows_of(&all, labels[i]),
                   labels[i]);
        assert_true(rows_of(&all, labels[i]) >= 1);
    }
}

/* ---- own samplers ---- */

static atomic_int calls;

static void sample_queue(void *context)
{
    calls++;
    PYTHIA_OBSERVE("queue", *(int *)context + calls);
}

static int itself;

static void sample_once(void *context)
{
    (void)context;
    PYTHIA_OBSERVE("once", 1);
    assert_int_equal(pythia_sampler_remove(itself), 0);
}

static void with_samplers(void)
{
    int base = 100;
    assert_int_equal(pythia_sampler_add(NULL, NULL, 10), -EINVAL);
    assert_int_equal(pythia_sampler_add(sample_queue, &base, 0), -EINVAL);
    assert_int_equal(pythia_sampler_remove(65), -EINVAL);
    assert_int_equal(pythia_sampler_remove(3), -ENOENT);
    int queue = pythia_sampler_add(sample_queue, &base, 10);
    assert_true(queue > 0);
    itself = pythia_sampler_add(sample_once, NULL, 10);
    start_with((struct pythia_collector_options){.no_runtime = 1, .flush_ms = 1000});
    while (calls < 5)
        pause_ms(1);
    assert_int_equal(pythia_sampler_remove(queue), 0);
    int now = calls;
    pause_ms(50);
    assert_int_equal(calls, now);
    int added = 0;
    while (pythia_sampler_add(sample_queue, &base, 3600000) > 0)
        added++;
    assert_int_equal(added, 64);
}

static void samplers_are_called(void **state)
{
    in_child(with_samplers);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(rows_of(&all, "once"), 1);
    assert_true(row_of(&all, "queue", 0)->value == 101);
    assert_true(row_of(&all, "queue", 1)->value == 102);
}

/* ---- memory that is full, files that cannot be written ---- */

static void measure_without_a_folder(void)
{
    char command[256];
    struct pythia_collector_state s;
    start_with(
        (struct pythia_collector_options){.no_runtime = 1, .memory_bytes = 65536, .flush_ms = 100});
    snprintf(command, sizeof(command), "rm -rf %s && touch %s", csv_folder, csv_folder);
    assert_int_equal(system(command), 0); /* NOLINT */
    for (int i = 0; i < 20000; i++)
        PYTHIA_OBSERVE("tick", i);
    do { /* until it has tried to write */
        pause_ms(1);
        pythia_collector_state_get(&s);
    } while (s.problem[0] == '\0');
    for (int i = 0; i < 20000; i++)
        PYTHIA_OBSERVE("tick", i);
    pythia_collector_state_get(&s);
    assert_true(s.dropped >= 20000 && s.dropped < 40000);
    assert_true(s.held <= s.room && s.room * 24 <= 65536);
    assert_true(s.problem[0] != '\0');
    assert_true(pythia_collector_flush() < 0);
    uint64_t dropped = s.dropped;
    snprintf(command, sizeof(command), "rm %s", csv_folder);
    assert_int_equal(system(command), 0);          /* NOLINT */
    assert_int_equal(pythia_collector_flush(), 0); /* the folder is made again */
    pythia_collector_state_get(&s);
    assert_int_equal(s.dropped, dropped);
    assert_int_equal(pythia_collector_stop(), 0);
    collect_files(&all, csv_folder, "", 0);
    const struct row *told = row_of(&all, "dropped measurements", 0);
    assert_true(told->value > 0 && told->value <= (double)dropped);
    assert_true(rows_of(&all, "tick") + dropped >= 39000); /* what the lost file held is gone */
}

static void full_memory_drops_and_counts(void **state)
{
    in_child(measure_without_a_folder);
}

static void too_many_labels(void)
{
    char name[16];
    struct pythia_collector_state s;
    start_with((struct pythia_collector_options){.no_runtime = 1, .memory_bytes = 65536});
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof(name), "label %d", i);
        pythia_observe_named(name, strlen(name), i);
    }
    pythia_collector_state_get(&s);
    assert_int_equal(s.labels, 64);
    assert_int_equal(s.labels_refused, 1938);
    assert_int_equal(s.dropped, 1938);
}

static void labels_without_room_are_counted(void **state)
{
    in_child(too_many_labels);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(all.count, 62);
    collected_free(&all);
    collect_files(&all, csv_folder, "runtime.", 0);
    size_t told = rows_of(&all, "dropped measurements"); /* each time that it is looked at */
    assert_true(told > 0 && row_of(&all, "dropped measurements", told - 1)->value == 1938);
}

static void close_all_files(void)
{
    start_with((struct pythia_collector_options){.no_runtime = 1});
    PYTHIA_OBSERVE("before", 1);
    assert_int_equal(pythia_collector_flush(), 0);
    for (int file = 3; file < 64; file++)
        close(file);
    int own[8];
    for (int i = 0; i < 8; i++)
        own[i] = open("/dev/null", O_RDONLY);
    PYTHIA_OBSERVE("behind", 1);
    assert_int_equal(pythia_collector_flush(), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(close(own[i]), 0); /* they are all still ours */
}

static void files_closed_behind_its_back(void **state)
{
    in_child(close_all_files);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(rows_of(&all, "before"), 1);
    assert_int_equal(rows_of(&all, "behind"), 1);
}

static void hostile_names(void)
{
    start_with((struct pythia_collector_options){.no_runtime = 1});
    char longest[5000];
    memset(longest, '"', sizeof(longest));
    pythia_observe_named(longest, sizeof(longest), 1);
    pythia_observe_named("a\nb,\"c\"\r", 8, 2);
    pythia_observe_named("\xff\0x", 3, 3);
    pythia_observe_named("", 0, 4);
    static struct pythia_label not_a_number = PYTHIA_LABEL("nan");
    pythia_observe(&not_a_number, NAN);
}

static void names_may_hold_anything(void **state)
{
    in_child(hostile_names);
    collect_files(&all, csv_folder, "observed.", 0);
    assert_int_equal(all.count, 5);
    assert_int_equal(rows_of(&all, "a\nb,\"c\"\r"), 1);
    assert_int_equal(rows_of(&all, "\xef\xbf\xbd\xef\xbf\xbdx"), 1);
    assert_int_equal(rows_of(&all, ""), 1);
    assert_true(isnan(row_of(&all, "nan", 0)->value));
}

static void by_the_environment(void)
{
    /* the constructor has been here before the environment was set: as a program's start would */
    char command[512];
    snprintf(command, sizeof(command),
             "PYTHIA_COLLECT=%s PYTHIA_COLLECT_RUNTIME_MS=20 %s started-by-its-environment",
             csv_folder, program_invocation_name);
    assert_int_equal(system(command), 0); /* NOLINT */
}

static void the_environment_starts_it(void **state)
{
    in_child(by_the_environment);
    collect_files(&all, csv_folder, "", 0);
    assert_int_equal(rows_of(&all, "unasked"), 1);
    assert_true(rows_of(&all, "user time") >= 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_measured_comes_into_files, begin, end),
        cmocka_unit_test_setup_teardown(durations_are_nested_and_end_on_any_thread, begin, end),
        cmocka_unit_test_setup_teardown(what_is_timed_is_a_span, begin, end),
        cmocka_unit_test_setup_teardown(options_are_checked, begin, end),
        cmocka_unit_test_setup_teardown(children_have_their_own_rows, begin, end),
        cmocka_unit_test_setup_teardown(what_a_killed_process_loses_is_bounded, begin, end),
        cmocka_unit_test_setup_teardown(switched_from_another_process, begin, end),
        cmocka_unit_test_setup_teardown(it_is_switched_for_one_kind_of_request, begin, end),
        cmocka_unit_test_setup_teardown(the_process_looks_at_itself, begin, end),
        cmocka_unit_test_setup_teardown(samplers_are_called, begin, end),
        cmocka_unit_test_setup_teardown(full_memory_drops_and_counts, begin, end),
        cmocka_unit_test_setup_teardown(labels_without_room_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(files_closed_behind_its_back, begin, end),
        cmocka_unit_test_setup_teardown(names_may_hold_anything, begin, end),
        cmocka_unit_test_setup_teardown(the_environment_starts_it, begin, end),
    };
    if (argc == 2 && strcmp(argv[1], "started-by-its-environment") == 0) {
        PYTHIA_OBSERVE("unasked", 1);
        pause_ms(100);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
