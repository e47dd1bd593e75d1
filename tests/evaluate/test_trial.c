#include "pythia/mem.h"
#include "trials.h"

#define NODES 500

/* Nothing is known before the second cycle: in the first, the skeleton alone is open. */
static void one_cycle_finds_nothing(void **state)
{
    struct pythia_trial t = trial_of("bushy", "information-gain", 1);
    t.cycles = 1;
    struct pythia_trial_outcome out = run_trial(&t);
    assert_int_equal(out.causes, 1);
    assert_int_equal(out.found, 0);
    assert_int_equal(out.named, 0);
    assert_int_equal(out.cycles, 1);
    assert_int_equal(out.localised, 0);
    assert_int_equal(out.tracepoints, NODES);
    assert_int_equal(out.skeleton, 1); /* the root: nothing else is an entry or outlives it */
    assert_int_equal(out.peak, 0);
    assert_int_equal(out.opened, 0); /* there is no further cycle to open a point for */
    assert_rel_equal(out.added_peak_ns, 0, 0);
    assert_rel_equal(out.added_mean_ns, 0, 0);
    assert_rel_equal(out.duration_ns, 1e9, 1e-9);
    assert_false(out.first || out.any_three);
}

/* With everything open the cause is seen in the second cycle; each of the 499 other nodes is called
 * once in a request. */
static void opening_everything_takes_two_cycles(void **state)
{
    struct pythia_trial t = trial_of("bushy", "all", 1);
    t.price_ns = 10;
    struct pythia_trial_outcome out = run_trial(&t);
    assert_int_equal(out.found, 1);
    assert_int_equal(out.localised, 2);
    assert_true(out.first && out.any_three);
    assert_int_equal(out.wrong, 0);
    assert_int_equal(out.opened, NODES - 1);
    assert_int_equal(out.peak, NODES - 1);
    assert_rel_equal(out.added_peak_ns, 10 * (NODES - 1), 1e-9);
    assert_int_equal(out.cycles, 2);
    assert_rel_equal(out.added_mean_ns, 10 * (NODES - 1) / 2., 1e-9);
}

static void figures_agree_with_each_other(void **state)
{
    const char *const problems[] = {"bushy", "deep", "two-causes", "unknown", "null"};
    for (size_t i = 0; i < 5; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct pythia_trial t = trial_of(problems[i], "information-gain", seed);
            struct pythia_trial_outcome out = run_trial(&t);
            assert_int_equal(out.causes, t.problem->cause_count);
            assert_true(out.found <= out.causes && out.wrong <= out.named);
            assert_true(out.found <= out.named - out.wrong || out.named == 0);
            assert_true((out.localised > 0) == (out.causes > 0 && out.found == out.causes));
            assert_true(out.localised <= out.cycles && out.cycles <= t.cycles);
            assert_true(out.peak <= out.opened && out.opened <= out.tracepoints - out.skeleton);
            assert_true(out.opened <= 3 * out.cycles);
            /* each call is made once in a request of these */
            assert_rel_equal(out.added_peak_ns, 1000. * (double)out.peak, 1e-9);
            assert_true(out.added_mean_ns <= out.added_peak_ns);
            assert_int_equal(out.keys, 0); /* no key goes with a sleep */
        }
}

static void the_same_trial_comes_out_the_same(void **state)
{
    struct pythia_trial t = trial_of("two-causes", "thompson", 4);
    struct pythia_trial_outcome a = run_trial(&t), b = run_trial(&t);
    assert_int_equal(a.cycles, b.cycles);
    assert_int_equal(a.opened, b.opened);
    assert_int_equal(a.localised, b.localised);
    assert_rel_equal(a.added_mean_ns, b.added_mean_ns, 0);
    t.seed = 5;
    b = run_trial(&t);
    assert_true(a.cycles != b.cycles || a.opened != b.opened || a.added_mean_ns != b.added_mean_ns);
}

/* hierarchical goes down a chain call by call, and has no history; historic is the same with one,
 * in which the cause is. */
static void a_history_is_of_use(void **state)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct pythia_trial with = trial_of("deep", "historic", seed),
                            without = trial_of("deep", "hierarchical", seed);
        struct pythia_trial_outcome a = run_trial(&with), b = run_trial(&without);
        assert_int_equal(a.found, 1);
        assert_true(a.localised <= 5);
        assert_true(b.localised == 0 || b.localised > a.localised);
        assert_true(a.opened < b.opened);
    }
}

/* Where the means of calls tell of a cause, here one that is in each request, a strategy that goes
 * by them is done almost at once. Else three points a cycle part what varies into 7 pieces at most
 * (before, in and behind each), and one of 500 nodes is not alone before log 500 / log 7 = 3.2
 * cycles with open points have been seen, after the first, which has none. */
static void a_space_that_has_seen_the_cause_gives_it_away(void **state)
{
    size_t before = 0, during = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct pythia_trial t = trial_of("uniform", "covariance", seed);
        before += run_trial(&t).localised;
        t.profile = PYTHIA_PROFILE_DURING;
        during += run_trial(&t).localised;
    }
    assert_true(before > 4 * 4);
    assert_true(during < 4 * 4);
}

static void a_key_that_goes_with_the_cause_is_asked_for(void **state)
{
    size_t first = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pythia_trial t = trial_of("numeric", "information-gain", seed);
        struct pythia_trial_outcome out = run_trial(&t);
        assert_int_equal(out.found, 1);
        assert_int_equal(out.keys, 1);
        first += out.keys_first;
    }
    assert_true(first >= 4); /* it decides on the time alone, among 50 requests */
}

/* What is not found has no explanation either. */
static void a_key_of_what_is_not_found_does_not_count(void **state)
{
    struct pythia_trial t = trial_of("numeric", "information-gain", 1);
    t.cycles = 1;
    struct pythia_trial_outcome out = run_trial(&t);
    assert_int_equal(out.keys, 0);
    assert_int_equal(out.keys_first, 0);
}

static void requests_that_do_not_vary_go_on(void **state)
{
    struct pythia_trial t = trial_of("shift", "information-gain", 1); /* the total stays */
    t.cycles = 7;
    struct pythia_trial_outcome out = run_trial(&t);
    assert_int_equal(out.cycles, 7);
    assert_int_equal(out.opened, 0);
    struct pythia_trial grows = trial_of("drift-grow", "information-gain", 1);
    out = run_trial(&grows); /* quiet at first */
    assert_int_equal(out.found, 1);
    assert_in_range(out.localised, 4, 30);
}

static void so_many_requests_make_a_cycle(void **state)
{
    struct pythia_trial t = trial_of("bushy", "information-gain", 1);
    struct pythia_trial_outcome out = run_trial(&t);
    assert_int_equal(out.found, 1);
    t.requests = 29; /* below 30 nothing is concluded */
    out = run_trial(&t);
    assert_int_equal(out.named, 0);
    assert_int_equal(out.opened, 0);
}

static uint64_t clock_ns;

static uint64_t tick_1000(void)
{
    return clock_ns += 1000;
}

static void decisions_are_timed_by_the_clock_that_is_given(void **state)
{
    struct pythia_trial t = trial_of("bushy-100", "information-gain", 1);
    struct pythia_trial_outcome out = run_trial(&t);
    assert_rel_equal(out.decide_median_ns, NAN, 0);
    assert_rel_equal(out.decide_most_ns, NAN, 0);
    t.now_ns = tick_1000;
    clock_ns = 0;
    out = run_trial(&t);
    assert_rel_equal(out.decide_median_ns, 1000, 0);
    assert_rel_equal(out.decide_most_ns, 1000, 0);
    assert_int_equal(clock_ns, 2000 * out.cycles);
}

static void the_story_tells_every_cycle(void **state)
{
    struct pythia_buf story = {0};
    struct pythia_trial t = trial_of("bushy-100", "information-gain", 1);
    t.story = &story;
    struct pythia_trial_outcome out = run_trial(&t);
    size_t lines = 0;
    for (const char *at = story.bytes; (at = strstr(at, "bushy-100, information-gain, seed 1, "));
         at++)
        lines++;
    assert_int_equal(lines, out.cycles);
    assert_non_null(strstr(story.bytes, "        cause: "));
    assert_non_null(strstr(story.bytes, "    opens api:op_"));
    pythia_buf_free(&story);
}

static bool at_once(void)
{
    return true;
}

static void a_trial_can_be_stopped(void **state)
{
    struct pythia_trial t = trial_of("bushy", "historic", 1);
    struct pythia_trial_outcome out = {.cycles = 77};
    struct pythia_error why = {0};
    t.stopped = at_once;
    assert_int_equal(pythia_trial_run(&t, &out, &why), PYTHIA_ESTOPPED);
    assert_int_equal(out.cycles, 77);
}

static void without_memory_nothing_comes_out(void **state)
{
    struct pythia_trial t = trial_of("bushy-100", "historic", 1);
    int status = PYTHIA_ENOMEM;
    long step = 1;
    for (long n = 0; status != PYTHIA_OK; n += step) {
        struct pythia_trial_outcome out = {.cycles = 77};
        struct pythia_error why = {0};
        pythia_mem_fail_after(n);
        status = pythia_trial_run(&t, &out, &why);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        assert_true((status == PYTHIA_OK) == (out.cycles != 77));
        step = 1 + n / 8; /* each of the first ones, then ever fewer */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cycle_finds_nothing),
        cmocka_unit_test(opening_everything_takes_two_cycles),
        cmocka_unit_test(figures_agree_with_each_other),
        cmocka_unit_test(the_same_trial_comes_out_the_same),
        cmocka_unit_test(a_history_is_of_use),
        cmocka_unit_test(a_space_that_has_seen_the_cause_gives_it_away),
        cmocka_unit_test(a_key_that_goes_with_the_cause_is_asked_for),
        cmocka_unit_test(a_key_of_what_is_not_found_does_not_count),
        cmocka_unit_test(requests_that_do_not_vary_go_on),
        cmocka_unit_test(so_many_requests_make_a_cycle),
        cmocka_unit_test(decisions_are_timed_by_the_clock_that_is_given),
        cmocka_unit_test(the_story_tells_every_cycle),
        cmocka_unit_test(a_trial_can_be_stopped),
        cmocka_unit_test(without_memory_nothing_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
