#include <stdatomic.h>
#include <stdlib.h>

#include <uv.h>

#include "pythia/evaluation.h"
#include "pythia/mem.h"
#include "trials.h"

#define SEEDS 7

struct asked {
    const struct pythia_strategy *strategies[2];
    const struct pythia_trial_problem *problems[2];
    struct pythia_evaluation_options o;
};

static void ask(struct asked *a)
{
    *a = (struct asked){{strategy_named("information-gain"), strategy_named("random")},
                        {problem_named("bushy-100"), problem_named("null")},
                        {.strategy_count = 0}};
    a->o = (struct pythia_evaluation_options){.strategies = a->strategies,
                                              .strategy_count = 2,
                                              .problems = a->problems,
                                              .problem_count = 2,
                                              .first_seed = 3,
                                              .seeds = SEEDS,
                                              .points = 3,
                                              .cycles = 4,
                                              .price_ns = 1000};
}

static void run_one(struct pythia_evaluation *e, size_t number)
{
    struct pythia_error why = {0};
    assert_int_equal(pythia_evaluation_run(e, number, NULL, &why), PYTHIA_OK);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of 7 values the median is the 4th, and 90 % are reached by the 7th: 6 of 7 are 86 %. */
static void spread_is(struct pythia_spread found, double values[SEEDS])
{
    qsort(values, SEEDS, sizeof(*values), by_value);
    assert_rel_equal(found.median, values[3], 0);
    assert_rel_equal(found.p90, values[6], 0);
}

/* The scores, from trials of our own. */
static void scores_are_those_of_the_trials(void **state)
{
    struct asked a;
    struct pythia_evaluation *e = NULL;
    ask(&a);
    assert_int_equal(pythia_evaluation_create(&a.o, &e), PYTHIA_OK);
    assert_int_equal(pythia_evaluation_trials(e), 2 * 2 * SEEDS);
    for (size_t i = 0; i < pythia_evaluation_trials(e); i++)
        run_one(e, i);
    double cycles[SEEDS], ended[SEEDS], opened[SEEDS], share[SEEDS], peak[SEEDS], mean[SEEDS],
        part[SEEDS];
    size_t found = 0, first = 0;
    for (size_t i = 0; i < SEEDS; i++) {
        struct pythia_trial t = trial_of("bushy-100", "random", 3 + i);
        t.cycles = 4;
        struct pythia_trial_outcome o = run_trial(&t);
        found += o.found;
        first += o.first;
        cycles[i] = o.found ? (double)o.localised : 4;
        ended[i] = (double)o.cycles;
        opened[i] = (double)o.opened;
        share[i] = (double)o.opened / 100;
        peak[i] = (double)o.peak;
        mean[i] = o.added_mean_ns;
        part[i] = o.added_peak_ns / o.duration_ns;
    }
    struct pythia_score s;
    assert_int_equal(pythia_evaluation_score(e, 1, 0, &s), PYTHIA_OK);
    assert_int_equal(s.trials, SEEDS);
    assert_in_range(found, 1, SEEDS - 1); /* or what is not found would not be tested here */
    assert_int_equal(s.all.hits, found);
    assert_int_equal(s.all.of, SEEDS);
    assert_int_equal(s.first.hits, first);
    assert_int_equal(s.three.of, SEEDS);
    assert_int_equal(s.keys.of, 0);
    spread_is(s.localised, cycles);
    spread_is(s.ended, ended);
    spread_is(s.opened_points, opened);
    spread_is(s.opened, share);
    spread_is(s.peak_points, peak);
    spread_is(s.added_mean_ns, mean);
    spread_is(s.added_peak_share, part);
    assert_rel_equal(s.decide_median_ns, NAN, 0);
    assert_int_equal(s.tracepoints, 100);
    assert_int_equal(s.skeleton, 1);
    pythia_evaluation_destroy(e);
}

static void where_nothing_is_planted_nothing_can_be_found(void **state)
{
    struct asked a;
    struct pythia_evaluation *e = NULL;
    struct pythia_score s;
    ask(&a);
    assert_int_equal(pythia_evaluation_create(&a.o, &e), PYTHIA_OK);
    for (size_t i = 0; i < pythia_evaluation_trials(e); i++)
        run_one(e, i);
    assert_int_equal(pythia_evaluation_score(e, 0, 1, &s), PYTHIA_OK);
    assert_int_equal(s.trials, SEEDS);
    assert_int_equal(s.all.of, 0);
    assert_rel_equal(s.all.rate, NAN, 0);
    assert_rel_equal(s.first.rate, NAN, 0);
    assert_rel_equal(s.three.rate, NAN, 0);
    assert_rel_equal(s.localised.median, NAN, 0);
    assert_int_equal(s.wrong.of, SEEDS);
    assert_true(s.wrong.rate <= 1);
    assert_true(s.opened_points.median > 0); /* it looked */
    pythia_evaluation_destroy(e);
}

/* A part that was run is told as far as it goes: one seed of all problems before the next. */
static void what_was_not_run_does_not_count(void **state)
{
    struct asked a;
    struct pythia_evaluation *e = NULL;
    struct pythia_score s;
    ask(&a);
    assert_int_equal(pythia_evaluation_create(&a.o, &e), PYTHIA_OK);
    assert_int_equal(pythia_evaluation_score(e, 0, 0, &s), PYTHIA_OK);
    assert_int_equal(s.trials, 0);
    assert_rel_equal(s.all.rate, NAN, 0);
    assert_rel_equal(s.localised.median, NAN, 0);
    assert_int_equal(s.tracepoints, 0);
    for (size_t i = 0; i < 5; i++)
        run_one(e, i);
    const size_t trials[2][2] = {{2, 1}, {1, 1}}; /* by problem, by strategy */
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(pythia_evaluation_score(e, i, p, &s), PYTHIA_OK);
            assert_int_equal(s.trials, trials[p][i]);
        }
    pythia_evaluation_destroy(e);
}

/* ---- threads ---- */

struct shared {
    struct pythia_evaluation *e;
    _Atomic size_t next;
};

/* From the last to the first. */
static void work(void *context)
{
    struct shared *s = context;
    size_t all = pythia_evaluation_trials(s->e), taken;
    while ((taken = s->next++) < all) {
        struct pythia_error why = {0};
        if (pythia_evaluation_run(s->e, all - 1 - taken, NULL, &why) != PYTHIA_OK)
            abort();
    }
}

static void same_proportion(const struct pythia_proportion *a, const struct pythia_proportion *b)
{
    assert_int_equal(a->hits, b->hits);
    assert_int_equal(a->of, b->of);
    assert_rel_equal(a->low, b->low, 0);
}

static void same_spread(const struct pythia_spread *a, const struct pythia_spread *b)
{
    assert_rel_equal(a->median, b->median, 0);
    assert_rel_equal(a->p90, b->p90, 0);
}

static void two_threads_come_to_the_same(void **state)
{
    struct asked a;
    struct pythia_evaluation *one = NULL;
    struct shared two = {.next = 0};
    uv_thread_t threads[2];
    ask(&a);
    a.strategies[1] = strategy_named("historic"); /* which has the most to share by mistake */
    a.problems[1] = problem_named("numeric");     /* and so has the explainer */
    assert_int_equal(pythia_evaluation_create(&a.o, &one), PYTHIA_OK);
    assert_int_equal(pythia_evaluation_create(&a.o, &two.e), PYTHIA_OK);
    for (size_t i = 0; i < pythia_evaluation_trials(one); i++)
        run_one(one, i);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(uv_thread_create(&threads[i], work, &two), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(uv_thread_join(&threads[i]), 0);
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < 2; i++) {
            struct pythia_score x, y;
            assert_int_equal(pythia_evaluation_score(one, i, p, &x), PYTHIA_OK);
            assert_int_equal(pythia_evaluation_score(two.e, i, p, &y), PYTHIA_OK);
            assert_int_equal(x.trials, y.trials);
            same_proportion(&x.first, &y.first);
            same_proportion(&x.all, &y.all);
            same_proportion(&x.wrong, &y.wrong);
            same_proportion(&x.keys, &y.keys);
            same_spread(&x.localised, &y.localised);
            same_spread(&x.ended, &y.ended);
            same_spread(&x.opened, &y.opened);
            same_spread(&x.peak_points, &y.peak_points);
            same_spread(&x.added_peak_ns, &y.added_peak_ns);
            same_spread(&x.added_mean_share, &y.added_mean_share);
        }
    pythia_evaluation_destroy(one);
    pythia_evaluation_destroy(two.e);
}

static void what_cannot_be_held_is_refused(void **state)
{
    struct asked a;
    struct pythia_evaluation *e = NULL;
    struct pythia_score s = {.trials = 77};
    ask(&a);
    a.o.seeds = SIZE_MAX / 2;
    assert_int_equal(pythia_evaluation_create(&a.o, &e), PYTHIA_ENOMEM);
    assert_null(e);
    a.o.seeds = SEEDS;
    for (long n = 0; n < 3; n++) {
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_evaluation_create(&a.o, &e), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_null(e);
    }
    assert_int_equal(pythia_evaluation_create(&a.o, &e), PYTHIA_OK);
    for (long n = 0; n < 2; n++) {
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_evaluation_score(e, 0, 0, &s), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_int_equal(s.trials, 77);
    }
    pythia_evaluation_destroy(e);
    pythia_evaluation_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_the_trials),
        cmocka_unit_test(where_nothing_is_planted_nothing_can_be_found),
        cmocka_unit_test(what_was_not_run_does_not_count),
        cmocka_unit_test(two_threads_come_to_the_same),
        cmocka_unit_test(what_cannot_be_held_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
