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

static void yekutieli_pays_the_harmonic_sum(void **state)
{
    double bh[15], by[15], harmonic = 0;
    for (int i = 1; i <= 15; i++)
        harmonic += 1.0 / i;
    assert_int_equal(pythia_gate_benjamini_hochberg(paper, 15, bh), PYTHIA_OK);
    assert_int_equal(pythia_gate_benjamini_yekutieli(paper, 15, by), PYTHIA_OK);
    for (size_t i = 0; i < 15; i++)
        assert_rel_equal(by[i], fmin(1, bh[i] * harmonic), 1e-14);
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
    assert_int_equal(pythia_gate_benjamini_yekutieli(p, 0, q), PYTHIA_OK);
}

static void e_values_are_rejected_by_their_own_rule(void **state)
{
    /* Of 4 at alpha .05 the k-th highest must reach 80 / k: 90 does for k = 1, 45 for 2, 27 for 3,
     * 10 does not for 4. */
    const double e[] = {45, 10, 90, 27, NAN, -1};
    double q[6];
    assert_int_equal(pythia_gate_e_values(e, 6, q), PYTHIA_OK);
    assert_true(q[2] <= .05 && q[0] <= .05 && q[3] <= .05 && q[1] > .05);
    assert_rel_equal(q[2], 4 / 90.0, 1e-15);
    assert_rel_equal(q[3], 4 / 27.0 / 3, 1e-15);
    assert_rel_equal(q[1], .1, 1e-15);
    assert_rel_equal(q[4], NAN, 0);
    assert_rel_equal(q[5], NAN, 0);
    const double extremes[] = {0, INFINITY};
    assert_int_equal(pythia_gate_e_values(extremes, 2, q), PYTHIA_OK);
    assert_rel_equal(q[0], 1, 0);
    assert_rel_equal(q[1], 0, 0);
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

static void a_share_is_separated_when_its_interval_is_above_all_others(void **state)
{
    struct pythia_share s[] = {
        {.share = .1, .low = .05, .high = .15},
        {.share = .7, .low = .4, .high = 1},
        {.share = .2, .low = .1, .high = .3},
        {.share = NAN, .low = NAN, .high = NAN},
    };
    size_t top = 99;
    assert_true(pythia_gate_separated(s, 4, &top));
    assert_int_equal(top, 1);
    top = 99;
    s[0].high = .45; /* not the second, and yet it may be above the first */
    assert_false(pythia_gate_separated(s, 4, &top));
    s[0].high = NAN;
    assert_false(pythia_gate_separated(s, 4, &top));
    assert_false(pythia_gate_separated(s + 3, 1, &top));
    assert_false(pythia_gate_separated(s, 0, &top));
    s[1].low = NAN;
    assert_false(pythia_gate_separated(s + 1, 2, &top));
    assert_int_equal(top, 99);
    assert_true(pythia_gate_separated(s + 2, 1, &top));
    assert_int_equal(top, 0);
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
    for (long left = 0; left < 3; left++) {
        pythia_mem_fail_after(left);
        int hochberg = left < 2 ? pythia_gate_benjamini_hochberg(paper, 15, q) : PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        int yekutieli = left < 2 ? pythia_gate_benjamini_yekutieli(paper, 15, q) : PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        int e_values = pythia_gate_e_values(paper, 15, q);
        pythia_mem_fail_after(-1);
        assert_int_equal(hochberg, PYTHIA_ENOMEM);
        assert_int_equal(yekutieli, PYTHIA_ENOMEM);
        assert_int_equal(e_values, PYTHIA_ENOMEM);
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
        cmocka_unit_test(yekutieli_pays_the_harmonic_sum),
        cmocka_unit_test(tests_that_could_not_be_made_do_not_count),
        cmocka_unit_test(e_values_are_rejected_by_their_own_rule),
        cmocka_unit_test(all_looks_together_spend_alpha),
        cmocka_unit_test(permutations_never_give_zero),
        cmocka_unit_test(a_share_is_separated_when_its_interval_is_above_all_others),
        cmocka_unit_test(false_discoveries_keep_to_the_level),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
        cmocka_unit_test(a_handful_of_spikes_is_no_source),
        cmocka_unit_test(localising_fails_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
