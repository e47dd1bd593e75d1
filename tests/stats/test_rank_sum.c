#include <stdlib.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/rank_sum.h"
#include "pythia/status.h"

/* Permeability of the human chorioamnion, from Hollander and Wolfe, "Nonparametric Statistical
 * Methods", 1973, page 69, as R's help of wilcox.test has it: W = 35, p = .1272, difference in
 * location .305, 95 % interval -.15 to .76. */
static const double term[] = {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46};
static const double early[] = {1.15, .88, .90, .74, 1.21};

static void r_s_example_comes_out(void **state)
{
    struct pythia_shift s;
    assert_int_equal(pythia_rank_sum(early, 5, term, 10, .95, &s), PYTHIA_OK);
    assert_rel_equal(s.p_greater, .1272061272061272, 1e-12);
    assert_rel_equal(s.shift, .305, 1e-12);
    assert_rel_equal(s.low, -.15, 1e-12);
    assert_rel_equal(s.high, .76, 1e-12);
}

static void the_other_way_round_is_the_mirror_image(void **state)
{
    struct pythia_shift a, b;
    pythia_rank_sum(early, 5, term, 10, .95, &a);
    pythia_rank_sum(term, 10, early, 5, .95, &b);
    assert_rel_equal(b.p_less, a.p_greater, 1e-12);
    assert_rel_equal(b.p_greater, a.p_less, 1e-12);
    assert_rel_equal(b.shift, -a.shift, 1e-12);
    assert_rel_equal(b.low, -a.high, 1e-12);
}

/* scipy 1.x: mannwhitneyu(after, before, method="asymptotic"), with ties. */
static void ties_are_corrected(void **state)
{
    static const double before[] = {1, 2, 2, 3, 5, 8, 8, 9, 12};
    static const double after[] = {2, 3, 3, 4, 8, 9, 10, 15, 20, 22, 8};
    struct pythia_shift s;
    assert_int_equal(pythia_rank_sum(before, 9, after, 11, .95, &s), PYTHIA_OK);
    assert_rel_equal(s.p_greater, .09026259096976647, 1e-9);
    assert_rel_equal(s.p_less, .9215627586185583, 1e-9);
}

/* Of the choose(6, 3) = 20 orders one has all of `after` above all of `before`. */
static void samples_that_do_not_overlap_are_the_extreme_order(void **state)
{
    static const double before[] = {1, 2, 3}, after[] = {11, 12, 13};
    struct pythia_shift s;
    assert_int_equal(pythia_rank_sum(before, 3, after, 3, .95, &s), PYTHIA_OK);
    assert_rel_equal(s.p_greater, .05, 1e-12);
    assert_rel_equal(s.p_less, 1, 1e-12);
    assert_rel_equal(pythia_rank_sum_smallest_p(3, 3), .05, 1e-12);
    assert_rel_equal(s.shift, 10, 1e-12);
    assert_rel_equal(s.low, 8, 1e-12); /* the whole range: 2 * .05 is above .05 */
    assert_rel_equal(s.high, 12, 1e-12);
}

static void equal_values_are_no_news(void **state)
{
    static const double all[] = {7, 7, 7, 7};
    struct pythia_shift s;
    assert_int_equal(pythia_rank_sum(all, 4, all, 3, .95, &s), PYTHIA_OK);
    assert_rel_equal(s.p_greater, 1, 0);
    assert_rel_equal(s.p_less, 1, 0);
    assert_true(s.shift == 0 && s.low == 0 && s.high == 0);
}

static void an_empty_sample_or_a_nan_has_no_result(void **state)
{
    static const double some[] = {1, 2}, odd[] = {1, NAN};
    struct pythia_shift s;
    assert_int_equal(pythia_rank_sum(some, 0, some, 2, .95, &s), PYTHIA_OK);
    assert_true(isnan(s.p_greater) && isnan(s.shift));
    assert_int_equal(pythia_rank_sum(some, 2, odd, 2, .95, &s), PYTHIA_OK);
    assert_true(isnan(s.p_less) && isnan(s.low));
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The bisection against all differences, sorted. */
static void the_shift_is_the_median_of_all_differences(void **state)
{
    struct pythia_random random;
    double a[12], b[9], all[108];
    pythia_random_init(&random, 7);
    for (int round = 0; round < 200; round++) {
        struct pythia_shift s;
        size_t count = 0;
        for (size_t i = 0; i < 12; i++)
            a[i] = round % 2 ? pythia_random_normal(&random)
                             : (double)pythia_random_below(&random, 5) - 2;
        for (size_t j = 0; j < 9; j++)
            b[j] = round % 2 ? pythia_random_normal(&random) * 1e9
                             : (double)pythia_random_below(&random, 5);
        for (size_t i = 0; i < 12; i++)
            for (size_t j = 0; j < 9; j++)
                all[count++] = b[j] - a[i];
        qsort(all, count, sizeof(all[0]), compare_doubles);
        assert_int_equal(pythia_rank_sum(a, 12, b, 9, .9, &s), PYTHIA_OK);
        assert_true(s.shift == (all[53] + all[54]) / 2);
        assert_true(s.low <= s.shift && s.shift <= s.high);
    }
}

static void a_failed_allocation_leaves_the_result_untouched(void **state)
{
    for (long n = 0; n < 2; n++) {
        struct pythia_shift s = {.shift = 123};
        pythia_mem_fail_after(n);
        int status = pythia_rank_sum(early, 5, term, 10, .95, &s);
        pythia_mem_fail_after(-1);
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_true(s.shift == 123);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r_s_example_comes_out),
        cmocka_unit_test(the_other_way_round_is_the_mirror_image),
        cmocka_unit_test(ties_are_corrected),
        cmocka_unit_test(samples_that_do_not_overlap_are_the_extreme_order),
        cmocka_unit_test(equal_values_are_no_news),
        cmocka_unit_test(an_empty_sample_or_a_nan_has_no_result),
        cmocka_unit_test(the_shift_is_the_median_of_all_differences),
        cmocka_unit_test(a_failed_allocation_leaves_the_result_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
