#include "check.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

/* The example of Benjamini and Hochberg, 1995, and what R's p.adjust makes of it. */
static const double paper[] = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                               .0459, .3240, .4262, .5719, .6528, .7590, 1};
static const double adjusted_paper[] = {.0015,     .003,      .0095,     .035625,   .0603,
                                        .06385714, .06385714, .0645,     .0765,     .486,
                                        .58118182, .714875,   .75323077, .81321429, 1};

static void the_paper_s_example_comes_out(void **state)
{
    double q[15], shuffled[15], shuffled_q[15];
    int rejected = 0;
    assert_int_equal(pythia_gate_benjamini_hochberg(paper, 15, q), PYTHIA_OK);
    for (size_t i = 0; i < 15; i++) {
        assert_rel_equal(q[i], adjusted_paper[i], 1e-7);
        rejected += q[i] <= .05;
        shuffled[i * 4 % 15] = paper[i];
    }
    assert_int_equal(rejected, 4);
    assert_int_equal(pythia_gate_benjamini_hochberg(shuffled, 15, shuffled_q), PYTHIA_OK);
    for (size_t i = 0; i < 15; i++)
        assert_rel_equal(shuffled_q[i * 4 % 15], q[i], 0);
    assert_int_equal(pythia_gate_benjamini_hochberg(shuffled, 15, shuffled), PYTHIA_OK);
    assert_memory_equal(shuffled, shuffled_q, sizeof(shuffled)); /* in place too */
}

static void tests_that_could_not_be_made_do_not_count(void **state)
{
    const double p[] = {NAN, .01, NAN, .04, .03};
    double q[5];
    assert_int_equal(pythia_gate_benjamini_hochberg(p, 5, q), PYTHIA_OK);
    const double expected[] = {NAN, .03, NAN, .04, .04};
    for (size_t i = 0; i < 5; i++)
        assert_rel_equal(q[i], expected[i], 1e-15);
    assert_int_equal(pythia_gate_benjamini_hochberg(p, 1, q), PYTHIA_OK);
    assert_rel_equal(q[0], NAN, 0);
    assert_int_equal(pythia_gate_benjamini_hochberg(p, 0, q), PYTHIA_OK);
}

static void all_looks_together_spend_alpha(void **state)
{
    double spent = 0;
    for (uint64_t look = 1; look <= 100000; look++)
        spent += pythia_gate_alpha(.05, look);
    assert_true(spent < .05);
    assert_rel_equal(spent, .05, 1e-5);
    assert_rel_equal(pythia_gate_alpha(.05, 1), .05 * .607927101854027, 1e-14);
    assert_rel_equal(pythia_gate_alpha(.05, 2), .05 * .607927101854027 / 4, 1e-14);
    assert_rel_equal(pythia_gate_alpha(.05, 0), NAN, 0);
}

static void permutations_never_give_zero(void **state)
{
    assert_rel_equal(pythia_gate_permutation_p(0, 999), .001, 0);
    assert_rel_equal(pythia_gate_permutation_p(49, 999), .05, 0);
    assert_rel_equal(pythia_gate_permutation_p(999, 999), 1, 0);
    assert_rel_equal(pythia_gate_permutation_p(0, 0), 1, 0);
}

/* Of 20 hypotheses half are true: false discoveries are at most half of the level asked for. */
static void false_discoveries_keep_to_the_level(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 1);
    double rate = 0;
    for (int run = 0; run < 2000; run++) {
        double p[20], q[20], wrong = 0, all = 0;
        for (size_t i = 0; i < 20; i++)
            p[i] = pythia_random_unit(&r) * (i < 10 ? 1 : .01);
        assert_int_equal(pythia_gate_benjamini_hochberg(p, 20, q), PYTHIA_OK);
        for (size_t i = 0; i < 20; i++) {
            wrong += i < 10 && q[i] <= .1;
            all += q[i] <= .1;
        }
        rate += all > 0 ? wrong / all / 2000 : 0;
    }
    assert_true(rate > .04 && rate < .06); /* .1 times the half that is true */
}

static void each_failed_allocation_leaves_out_untouched(void **state)
{
    double q[15] = {-7};
    for (long left = 0; left < 2; left++) {
        pythia_mem_fail_after(left);
        int status = pythia_gate_benjamini_hochberg(paper, 15, q);
        pythia_mem_fail_after(-1);
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_rel_equal(q[0], -7, 0);
    }
}

/* Two alike parts of 300 observations; into the second some spikes are put. */
static bool spikes_are_localised(size_t spikes)
{
    enum { N = 300 };
    double x[2 * N];
    struct pythia_random r;
    bool found = false;
    size_t top = 9;
    pythia_random_init(&r, 3);
    for (size_t i = 0; i < 2 * N; i++)
        x[i] = 100 + pythia_random_normal(&r);
    for (size_t i = 0; i < spikes; i++)
        x[N + 7 * i] = 1000 + (double)i;
    assert_int_equal(pythia_gate_localise(x, N, 2, .95, &found, &top), PYTHIA_OK);
    assert_true(!found || top == 1);
    return found;
}

static void a_handful_of_spikes_is_no_source(void **state)
{
    assert_false(spikes_are_localised(0));
    assert_false(spikes_are_localised(2)); /* both clipped at once */
    assert_false(spikes_are_localised(4)); /* left by a clip of 2, not by one of 5 */
    assert_true(spikes_are_localised(30)); /* one in ten is a slow path */
}

/* `parts` independent parts, each with the given sd around 100; whichever was found, or `parts`. */
static size_t top_of(const double *sd, size_t parts)
{
    enum { N = 300, MOST = 3 };
    double x[MOST * N];
    struct pythia_random r;
    bool found = false;
    size_t top = 9;
    pythia_random_init(&r, 4);
    for (size_t i = 0; i < parts * N; i++)
        x[i] = 100 + sd[i / N] * pythia_random_normal(&r);
    assert_int_equal(pythia_gate_localise(x, N, parts, .95, &found, &top), PYTHIA_OK);
    assert_true(found || top == 9);
    return found ? top : parts;
}

static void parts_that_vary_alike_are_not_separated(void **state)
{
    assert_int_equal(top_of((double[]){1, 5, 1}, 3), 1);
    assert_int_equal(top_of((double[]){5, 1, 5}, 3), 3); /* the second is not above the first */
    assert_int_equal(top_of((double[]){0, 5, 0}, 3), 1);
    assert_int_equal(top_of((double[]){0, 0, 0}, 3), 3); /* nothing varies: shares are NaN */
    assert_int_equal(top_of((double[]){1}, 1), 0);
    assert_int_equal(top_of(NULL, 0), 0); /* no part */
}

static void localising_fails_without_memory(void **state)
{
    const double x[] = {1, 2, 3, 4};
    bool found = true;
    size_t top = 9;
    for (long n = 0; n < 2; n++) {
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_gate_localise(x, 4, 1, .95, &found, &top), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
    }
    assert_true(found && top == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paper_s_example_comes_out),
        cmocka_unit_test(tests_that_could_not_be_made_do_not_count),
        cmocka_unit_test(all_looks_together_spend_alpha),
        cmocka_unit_test(permutations_never_give_zero),
        cmocka_unit_test(parts_that_vary_alike_are_not_separated),
        cmocka_unit_test(false_discoveries_keep_to_the_level),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
        cmocka_unit_test(a_handful_of_spikes_is_no_source),
        cmocka_unit_test(localising_fails_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
