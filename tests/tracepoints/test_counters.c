/* Counters of a thread. What the processor counts is not there on every machine: how files are
 * handled is tested with a counter of the kernel, which is. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "counters.h"

/* 100 in half of 1000 ns are 200 in all of them; 50 in all of 500 ns are 50. */
static void what_was_counted_for_a_part_of_the_time_is_scaled(void **state)
{
    struct pythia__counter_state c = {0};
    pythia__counter_add(&c, &(struct pythia__counter_reading){100, 1000, 500});
    assert_int_equal(c.total, 200);
    pythia__counter_add(&c, &(struct pythia__counter_reading){150, 1500, 1000});
    assert_int_equal(c.total, 250);
    pythia__counter_add(&c, &(struct pythia__counter_reading){150, 1600, 1100}); /* nothing */
    assert_int_equal(c.total, 250);
}

/* It had no turn for 1000 ns, and then one for 500: 30 in 500 of 1500 ns are 90. */
static void time_without_a_turn_is_covered_by_the_next_reading(void **state)
{
    struct pythia__counter_state c = {0};
    pythia__counter_add(&c, &(struct pythia__counter_reading){10, 100, 100});
    pythia__counter_add(&c, &(struct pythia__counter_reading){10, 1100, 100});
    assert_int_equal(c.total, 10);
    pythia__counter_add(&c, &(struct pythia__counter_reading){40, 1600, 600});
    assert_int_equal(c.total, 100);
}

/* Values beyond a double's 53 bits, with no scaling, are exact. */
static void without_turns_a_count_is_exact(void **state)
{
    struct pythia__counter_state c = {0};
    uint64_t large = (UINT64_C(1) << 60) + 1;
    pythia__counter_add(&c, &(struct pythia__counter_reading){large, 7, 7});
    assert_true(c.total == (int64_t)large);
}

static int64_t read_clock(struct pythia__counter_state *c, uint64_t process)
{
    return pythia__counter_read(c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, process);
}

static void begin_clock(struct pythia__counter_state *c)
{
    *c = (struct pythia__counter_state){0};
    if (read_clock(c, 1) == PYTHIA__COUNTER_UNKNOWN)
        skip(); /* perf_event_open is not for this user here */
}

static void a_counter_that_the_program_has_closed_is_left_alone(void **state)
{
    struct pythia__counter_state c;
    char byte = 0;
    int ends[2];
    begin_clock(&c);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(dup2(ends[0], c.file), c.file); /* another file has its number now */
    assert_true(read_clock(&c, 1) == PYTHIA__COUNTER_UNKNOWN);
    assert_true(read_clock(&c, 1) == PYTHIA__COUNTER_UNKNOWN);
    assert_int_equal(read(ends[0], &byte, 1), 1); /* nothing was taken from it */
    close(ends[0]);
    close(ends[1]);
}

static void closing_leaves_the_files_of_others_open(void **state)
{
    struct pythia__counter_state c;
    begin_clock(&c);
    int file = c.file, other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(other, file), file);
    pythia__counter_close(&c);
    assert_int_equal(c.file, 0);
    assert_true(fcntl(file, F_GETFD) >= 0);
    close(file);
    close(other);
    begin_clock(&c);
    file = c.file;
    pythia__counter_close(&c);
    assert_int_equal(fcntl(file, F_GETFD), -1);
}

/* A child has another number of the process: it counts itself, by a file of its own. */
static void a_child_counts_itself(void **state)
{
    struct pythia__counter_state c;
    begin_clock(&c);
    uint64_t before = c.id;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool known = read_clock(&c, 2) != PYTHIA__COUNTER_UNKNOWN;
        _exit(known && c.id != before && c.process == 2 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(read_clock(&c, 1) != PYTHIA__COUNTER_UNKNOWN); /* the parent's is still there */
    pythia__counter_close(&c);
}

static void a_counter_that_cannot_be_is_unknown_and_says_why(void **state)
{
    struct pythia__counter_state c = {0};
    assert_true(pythia__counter_read(&c, 0x7fffffff, 0, 1) == PYTHIA__COUNTER_UNKNOWN);
    assert_int_equal(c.file, -1);
    for (int i = 0; i < PYTHIA__COUNTERS; i++)
        assert_true(pythia__counter_try((enum pythia__counter)i) <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_counted_for_a_part_of_the_time_is_scaled),
        cmocka_unit_test(time_without_a_turn_is_covered_by_the_next_reading),
        cmocka_unit_test(without_turns_a_count_is_exact),
        cmocka_unit_test(a_counter_that_the_program_has_closed_is_left_alone),
        cmocka_unit_test(closing_leaves_the_files_of_others_open),
        cmocka_unit_test(a_child_counts_itself),
        cmocka_unit_test(a_counter_that_cannot_be_is_unknown_and_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
