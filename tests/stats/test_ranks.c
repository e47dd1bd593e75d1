#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

static void sorting_puts_nan_last(void **state)
{
    double x[] = {3, NAN, -1, INFINITY, 2, -INFINITY};
    pythia_ranks_sort(x, 6);
    const double expected[] = {-INFINITY, -1, 2, 3, INFINITY, NAN};
    for (size_t i = 0; i < 6; i++)
        assert_rel_equal(x[i], expected[i], 0);
    pythia_ranks_sort(NULL, 0);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Random values, few different ones, rising, falling, and those for which the middle of three is
 * always bad (Musser's): the C library sorts them as well. */
static void any_order_is_sorted(void **state)
{
    enum { N = 2000 };
    static double x[N], expected[N];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (int kind = 0; kind < 5; kind++)
        for (size_t n = 1; n < N; n += n < 80 ? 1 : 97) {
            for (size_t i = 0; i < n; i++)
                x[i] = kind == 0   ? pythia_random_unit(&r) - .5
                       : kind == 1 ? (double)pythia_random_below(&r, 5)
                       : kind == 2 ? (double)i
                       : kind == 3 ? (double)(n - i)
                       : i % 2     ? (double)(i + 1) / 2.0
                                   : (double)n - floor((double)i / 2);
            memcpy(expected, x, sizeof(x));
            qsort(expected, n, sizeof(*x), compare_numbers);
            pythia_ranks_sort(x, n);
            assert_memory_equal(x, expected, n * sizeof(*x));
        }
}

static void quantiles_are_of_type_7(void **state)
{
    const double x[] = {1, 2, 4, 8};
    assert_rel_equal(pythia_ranks_quantile(x, 4, 0), 1, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, .5), 3, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, .75), 5, 0); /* a quarter of the way from 4 to 8 */
    assert_rel_equal(pythia_ranks_quantile(x, 4, 1), 8, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 1, .3), 1, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 0, .5), NAN, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, 1.01), NAN, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, NAN), NAN, 0);
    assert_rel_equal(pythia_ranks_quantile((double[]){1, NAN}, 2, 0), NAN, 0);
}

/* R: quantile(…, type = 1) of 1 to 10, and by hand. */
static void percentiles_are_values_that_were_seen(void **state)
{
    const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 50), 5, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 90), 9, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 91), 10, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 100), 10, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 1), 1, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 9, 50), 5, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 1, 90), 1, 0);
    double many[250];
    for (size_t i = 0; i < 250; i++)
        many[i] = (double)i + 1;
    assert_rel_equal(pythia_ranks_percentile(many, 250, 90), 225, 0);
    assert_rel_equal(pythia_ranks_percentile(many, 249, 90), 225, 0); /* 224.1, and so one more */
    assert_rel_equal(pythia_ranks_percentile(many, 200, 29), 58, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 0, 50), NAN, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 0), NAN, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 101), NAN, 0);
    assert_rel_equal(pythia_ranks_percentile((double[]){1, NAN}, 2, 50), NAN, 0);
}

static void equal_values_share_their_mean_rank(void **state)
{
    const double x[] = {5, 1, 5, NAN, 3, 5, 1};
    const double expected[] = {5, 1.5, 5, NAN, 3, 5, 1.5};
    double ranks[7];
    size_t order[7];
    assert_int_equal(pythia_ranks_mid(x, 7, ranks), PYTHIA_OK);
    for (size_t i = 0; i < 7; i++)
        assert_rel_equal(ranks[i], expected[i], 0);
    assert_int_equal(pythia_ranks_order(x, 7, order), PYTHIA_OK);
    assert_memory_equal(order, ((size_t[]){1, 6, 4, 0, 2, 5, 3}), sizeof(order));
    assert_int_equal(pythia_ranks_mid(x, 0, ranks), PYTHIA_OK);
}

static void correlations_match_hand_computation(void **state)
{
    /* Deviations -2 -1 0 1 2 and -4 -2 0 -1 7, products 8 2 0 -1 14, squares 10 and 70. */
    const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 3, 5, 4, 12};
    assert_rel_equal(pythia_ranks_pearson(x, y, 5), 23 / sqrt(10 * 70), 1e-15);
    const double far[] = {1e15 + 1, 1e15 + 2, 1e15 + 3, 1e15 + 4, 1e15 + 5};
    assert_rel_equal(pythia_ranks_pearson(far, y, 5), 23 / sqrt(10 * 70), 1e-15);
    assert_rel_equal(pythia_ranks_pearson(x, (double[]){7, 7, 7, 7, 7}, 5), NAN, 0);
    assert_rel_equal(pythia_ranks_pearson(x, y, 1), NAN, 0);
    assert_rel_equal(pythia_ranks_pearson(x, (double[]){1, 2, NAN, 4, 5}, 5), NAN, 0);
}

static void failures_leave_out_untouched(void **state)
{
    const double x[] = {3, 1, 2, 5};
    double ranks[4] = {-7};
    size_t order[4] = {77};
    for (long left = 0; left < 2; left++) {
        pythia_mem_fail_after(0);
        int ordered = pythia_ranks_order(x, 4, order);
        pythia_mem_fail_after(left);
        int ranked = pythia_ranks_mid(x, 4, ranks);
        pythia_mem_fail_after(-1);
        assert_int_equal(ordered, PYTHIA_ENOMEM);
        assert_int_equal(ranked, PYTHIA_ENOMEM);
    }
    assert_rel_equal(ranks[0], -7, 0);
    assert_int_equal(order[0], 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_puts_nan_last),
        cmocka_unit_test(any_order_is_sorted),
        cmocka_unit_test(quantiles_are_of_type_7),
        cmocka_unit_test(percentiles_are_values_that_were_seen),
        cmocka_unit_test(equal_values_share_their_mean_rank),
        cmocka_unit_test(correlations_match_hand_computation),
        cmocka_unit_test(failures_leave_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
