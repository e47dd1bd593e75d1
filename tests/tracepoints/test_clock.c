/* What ticks are in nanoseconds, from looks at two clocks that are made up here. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory/clock.h"

#define SECOND UINT64_C(1000000000)

/* A machine whose counter runs at `hertz`; the members are what its clocks show. */
struct machine {
    double hertz;
    struct pythia__clock_pair shows;
};

static struct machine start(double hertz)
{
    return (struct machine){hertz, {5000000, 100 * SECOND, 1700000000 * SECOND, 100 * SECOND}};
}

/* Time goes by. */
static void run(struct machine *m, uint64_t ns)
{
    m->shows.ticks += (uint64_t)((double)ns * m->hertz / 1e9 + .5);
    m->shows.monotonic_ns += ns;
    m->shows.realtime_ns += ns;
    m->shows.boottime_ns += ns;
}

static void look(struct pythia__clock_track *t, const struct machine *m)
{
    pythia__clock_track_add(t, &m->shows);
}

static void a_steady_counter_has_one_rate(void **state)
{
    struct machine m = start(2.6e9);
    struct pythia__clock_track t;
    pythia__clock_track_init(&t, PYTHIA__CLOCK_TSC, &m.shows);
    for (int i = 0; i < 1000; i++) {
        run(&m, 20 * SECOND / 1000);
        look(&t, &m);
        assert_rel_equal(t.ns_per_tick, 1 / 2.6, 1e-7);
        assert_false(t.step);
        assert_true(t.now.ticks == m.shows.ticks);
    }
}

/* The rate is known from the first look: what is between is the program's own time. */
static void a_short_program_is_timed_by_its_own_length(void **state)
{
    struct machine m = start(3e9);
    struct pythia__clock_track t;
    pythia__clock_track_init(&t, PYTHIA__CLOCK_TSC, &m.shows);
    run(&m, 50000);
    look(&t, &m);
    assert_rel_equal(t.ns_per_tick, 1 / 3., 1e-5);
}

/* NTP makes CLOCK_MONOTONIC run faster or slower, by up to 500 ppm: what counts is the last second,
 * and no step is seen. */
static void a_rate_that_ntp_changes_is_followed(void **state)
{
    struct machine m = start(2e9);
    struct pythia__clock_track t;
    pythia__clock_track_init(&t, PYTHIA__CLOCK_TSC, &m.shows);
    for (int i = 0; i < 100; i++) {
        run(&m, SECOND / 10);
        look(&t, &m);
    }
    m.hertz *= 1 - 500e-6;
    for (int i = 0; i < 30; i++) {
        run(&m, SECOND / 10);
        look(&t, &m);
        assert_false(t.step);
    }
    assert_rel_equal(t.ns_per_tick, 1e9 / m.hertz, 1e-7);
}

static void a_clock_that_is_set_is_told_and_changes_no_rate(void **state)
{
    struct machine m = start(2e9);
    struct pythia__clock_track t;
    pythia__clock_track_init(&t, PYTHIA__CLOCK_TSC, &m.shows);
    run(&m, SECOND);
    look(&t, &m);
    run(&m, SECOND / 50);
    m.shows.realtime_ns -= 3600 * SECOND;
    look(&t, &m);
    assert_true(t.step);
    assert_rel_equal(t.ns_per_tick, .5, 1e-7);
    run(&m, SECOND / 50);
    look(&t, &m);
    assert_false(t.step);
}

/* Asleep, CLOCK_MONOTONIC stands still; the counter goes on, or begins again, as it likes. */
static void sleep_is_told_and_the_rate_of_before_goes_on(void **state)
{
    for (int begins_again = 0; begins_again < 2; begins_again++) {
        struct machine m = start(2e9);
        struct pythia__clock_track t;
        pythia__clock_track_init(&t, PYTHIA__CLOCK_TSC, &m.shows);
        for (int i = 0; i < 10; i++) {
            run(&m, SECOND / 10);
            look(&t, &m);
        }
        m.shows.boottime_ns += 600 * SECOND;
        m.shows.realtime_ns += 600 * SECOND;
        m.shows.ticks = begins_again ? 1000 : m.shows.ticks + 1200 * SECOND;
        run(&m, SECOND / 50);
        look(&t, &m);
        assert_true(t.step);
        assert_rel_equal(t.ns_per_tick, .5, 1e-7);
        for (int i = 0; i < 20; i++) {
            run(&m, SECOND / 10);
            look(&t, &m);
            assert_false(t.step);
            assert_rel_equal(t.ns_per_tick, .5, 1e-7);
        }
    }
}

/* A virtual machine that was moved: the counter runs at another rate, and nothing else tells. */
static void a_counter_that_changes_its_rate_is_told(void **state)
{
    struct machine m = start(2e9);
    struct pythia__clock_track t;
    int told = 0;
    pythia__clock_track_init(&t, PYTHIA__CLOCK_TSC, &m.shows);
    for (int i = 0; i < 20; i++) {
        run(&m, SECOND / 10);
        look(&t, &m);
    }
    m.hertz = 3e9;
    for (int i = 0; i < 40; i++) {
        run(&m, SECOND / 10);
        look(&t, &m);
        told += t.step;
    }
    assert_true(told >= 1);
    assert_rel_equal(t.ns_per_tick, 1 / 3., 1e-7);
}

/* What a process leaves in shared memory may be anything. */
static void a_first_look_that_is_nonsense_is_got_over(void **state)
{
    static const struct pythia__clock_pair odd[] = {
        {0, 0, 0, 0},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {UINT64_MAX, 0, 0, 0},
        {0, UINT64_MAX, 1, 2},
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct machine m = start(2e9);
        struct pythia__clock_track t;
        pythia__clock_track_init(&t, PYTHIA__CLOCK_TSC, &odd[i]);
        look(&t, &m);
        for (int k = 0; k < 30; k++) {
            run(&m, SECOND / 10);
            look(&t, &m);
        }
        assert_rel_equal(t.ns_per_tick, .5, 1e-6);
    }
}

static void nanoseconds_are_nanoseconds(void **state)
{
    struct machine m = start(1e9);
    struct pythia__clock_track t;
    m.shows.ticks = m.shows.monotonic_ns;
    pythia__clock_track_init(&t, PYTHIA__CLOCK_MONOTONIC, &m.shows);
    run(&m, 1000);
    look(&t, &m);
    assert_true(t.ns_per_tick == 1);
    m.shows.boottime_ns += SECOND;
    look(&t, &m);
    assert_true(t.step && t.ns_per_tick == 1);
}

/* Clocks of a machine on which each look takes 25 ns, and something else runs for 20 ms before one
 * of them. */
static struct {
    bool in_use;
    uint64_t ns;
    int looks, interrupted;
} busy;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!busy.in_use)
        return __real_clock_gettime(clock, now);
    busy.ns += busy.looks++ == busy.interrupted ? 20000000 : 25;
    uint64_t ahead = clock == CLOCK_REALTIME ? 1700000000 : clock == CLOCK_BOOTTIME ? 5 : 0;
    now->tv_sec = (time_t)(ahead + busy.ns / SECOND);
    now->tv_nsec = (long)(busy.ns % SECOND);
    return 0;
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void an_interruption_between_two_looks_moves_no_clock(void **state)
{
    int looks = 1;
    busy.in_use = true;
    for (int i = 0; i < looks; i++) {
        struct pythia__clock_pair now;
        busy.looks = 0;
        busy.interrupted = i;
        pythia__clock_pair_now(PYTHIA__CLOCK_MONOTONIC, &now);
        looks = busy.looks;
        assert_in_range(now.realtime_ns - now.monotonic_ns - 1700000000 * SECOND + 100, 0, 200);
        assert_in_range(now.boottime_ns - now.monotonic_ns - 5 * SECOND + 100, 0, 200);
    }
    busy.in_use = false;
    assert_in_range(looks, 9, 100);
}

/* This machine's own clocks, by the same rules. */
static void the_real_clocks_agree(void **state)
{
    static const char *const names[] = {"monotonic", "tsc", NULL};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        pythia__clock_choose(names[i]);
        assert_true(i > 0 || pythia__clock == PYTHIA__CLOCK_MONOTONIC);
        struct pythia__clock_pair first, now;
        struct pythia__clock_track t;
        pythia__clock_pair_now(pythia__clock, &first);
        pythia__clock_track_init(&t, pythia__clock, &first);
        uint64_t before = pythia__clock_ns(CLOCK_MONOTONIC), ticks = pythia__ticks();
        uint64_t ns = pythia__clock_ns(CLOCK_MONOTONIC);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        uint64_t before_later = pythia__clock_ns(CLOCK_MONOTONIC), ticks_later = pythia__ticks();
        uint64_t ns_later = pythia__clock_ns(CLOCK_MONOTONIC);
        pythia__clock_pair_now(pythia__clock, &now);
        pythia__clock_track_add(&t, &now);
        assert_false(t.step);
        /* Each look at the counter was between two at the other clock, however far apart. */
        double by_ticks = (double)(ticks_later - ticks) * t.ns_per_tick;
        assert_true(by_ticks > .95 * (double)(before_later - ns));
        assert_true(by_ticks < 1.05 * (double)(ns_later - before));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_counter_has_one_rate),
        cmocka_unit_test(a_short_program_is_timed_by_its_own_length),
        cmocka_unit_test(a_rate_that_ntp_changes_is_followed),
        cmocka_unit_test(a_clock_that_is_set_is_told_and_changes_no_rate),
        cmocka_unit_test(sleep_is_told_and_the_rate_of_before_goes_on),
        cmocka_unit_test(a_counter_that_changes_its_rate_is_told),
        cmocka_unit_test(a_first_look_that_is_nonsense_is_got_over),
        cmocka_unit_test(nanoseconds_are_nanoseconds),
        cmocka_unit_test(an_interruption_between_two_looks_moves_no_clock),
        cmocka_unit_test(the_real_clocks_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
