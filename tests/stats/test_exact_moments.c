#include "check.h"
#include "pythia/exact_moments.h"
#include "pythia/moments.h"
#include "pythia/random.h"

static struct pythia_exact_moments moments_of(const int64_t *values, size_t n)
{
    struct pythia_exact_moments m = {0};
    for (size_t i = 0; i < n; i++)
        pythia_exact_moments_add_weighted(&m, values[i], 1);
    return m;
}

static void spread_matches_hand_computation(void **state)
{
    struct pythia_exact_moments m = moments_of((int64_t[]){2, 4, 4, 4, 5, 5, 7, 9}, 8);
    assert_rel_equal(pythia_exact_moments_mean(&m), 5, 0);
    assert_rel_equal(pythia_exact_moments_variance(&m), 32 / 7.0, 1e-15);
    assert_rel_equal(pythia_exact_moments_sd(&m), sqrt(32 / 7.0), 1e-15);
    assert_rel_equal(pythia_exact_moments_cov(&m), sqrt(32 / 7.0) / 5, 1e-15);
    m = moments_of((int64_t[]){-2, -4, -4, -4, -5, -5, -7, -9}, 8);
    assert_rel_equal(pythia_exact_moments_mean(&m), -5, 0);
    assert_rel_equal(pythia_exact_moments_cov(&m), sqrt(32 / 7.0) / 5, 1e-15);
    m = moments_of((int64_t[]){-1, 1}, 2);
    assert_rel_equal(pythia_exact_moments_variance(&m), 2, 0);
    assert_rel_equal(pythia_exact_moments_cov(&m), NAN, 0); /* the mean is 0 */
}

static void fewer_than_two_values_have_no_variance(void **state)
{
    struct pythia_exact_moments m = {0};
    assert_rel_equal(pythia_exact_moments_mean(&m), NAN, 0);
    assert_rel_equal(pythia_exact_moments_variance(&m), NAN, 0);
    assert_rel_equal(pythia_exact_moments_cov(&m), NAN, 0);
    pythia_exact_moments_add_weighted(&m, 7, 1);
    assert_rel_equal(pythia_exact_moments_mean(&m), 7, 0);
    assert_rel_equal(pythia_exact_moments_sd(&m), NAN, 0);
}

/* Epoch times: in doubles 1.7e18 has steps of 256 ns, and its square has lost all of the spread. */
static void a_huge_mean_costs_no_digit(void **state)
{
    int64_t base = INT64_C(1700000000000000000);
    struct pythia_exact_moments m = moments_of((int64_t[]){base, base + 1, base + 2}, 3);
    assert_rel_equal(pythia_exact_moments_variance(&m), 1, 0);
    assert_rel_equal(pythia_exact_moments_mean(&m), 1.7e18, 1e-15);
}

static void the_extremes_of_int64_do_not_overflow(void **state)
{
    struct pythia_exact_moments m = moments_of((int64_t[]){INT64_MIN, INT64_MIN}, 2);
    assert_rel_equal(pythia_exact_moments_mean(&m), -0x1p63, 0);
    assert_rel_equal(pythia_exact_moments_variance(&m), 0, 0);
    m = moments_of((int64_t[]){INT64_MIN, INT64_MAX}, 2);
    assert_rel_equal(pythia_exact_moments_mean(&m), -.5, 0);
    assert_rel_equal(pythia_exact_moments_variance(&m), 0x1p127, 1e-15); /* (2^64 - 1)^2 / 2 */
    for (int i = 0; i < 62; i++) /* doubling: 2^63 values, more than could be added one by one */
        pythia_exact_moments_merge(&m, &m);
    assert_int_equal(m.n, (uint64_t)1 << 63);
    assert_rel_equal(pythia_exact_moments_mean(&m), -.5, 0);
    assert_rel_equal(pythia_exact_moments_variance(&m), 0x1p126, 1e-15);
}

static void carries_and_borrows_run_through_all_words(void **state)
{
    struct pythia_exact_moments m = {.squares = {UINT64_MAX, UINT64_MAX, 0}};
    pythia_exact_moments_add_weighted(&m, -1, 1);
    assert_true(m.squares[0] == 0 && m.squares[1] == 0 && m.squares[2] == 1);
    assert_true(m.sum[0] == UINT64_MAX && m.sum[1] == UINT64_MAX);
    /* n * squares - sum^2 = 2^128 - 1, by n (n - 1) = 2^120 - 2^60 */
    uint64_t n = (uint64_t)1 << 60;
    m = (struct pythia_exact_moments){n, n, {n, 0}, {1, 0}, {0, 16, 0}};
    assert_rel_equal(pythia_exact_moments_variance(&m), 256, 1e-15);
}

static void every_order_and_partition_gives_the_same_bits(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (uint64_t run = 0; run < 100; run++) {
        struct pythia_exact_moments forwards = {0}, backwards = {0}, parts[4] = {0};
        int64_t values[300];
        for (size_t i = 0; i < 300; i++) {
            values[i] = (int64_t)(pythia_random_next(&r) >> pythia_random_below(&r, 64));
            uint64_t weight = 1 + i % 3 * run; /* of the first run 1 */
            pythia_exact_moments_add_weighted(&forwards, values[i], weight);
            pythia_exact_moments_add_weighted(&parts[pythia_random_below(&r, 4)], values[i],
                                              weight);
        }
        for (size_t i = 300; i > 0; i--)
            pythia_exact_moments_add_weighted(&backwards, values[i - 1], 1 + (i - 1) % 3 * run);
        pythia_exact_moments_merge(&parts[2], &parts[1]);
        pythia_exact_moments_merge(&parts[0], &parts[3]);
        pythia_exact_moments_merge(&parts[2], &parts[0]);
        assert_memory_equal(&forwards, &backwards, sizeof(forwards));
        assert_memory_equal(&forwards, &parts[2], sizeof(forwards));
    }
}

/* ---- weights ---- */

/* By hand: 2 and 4 stand for 10 values each, 10 for itself. Weight 21, sum 70, squares 300, of
 * weights 201: (300 - 70^2 / 21) / (21 - 201 / 21) = 35 / 6. */
static void weights_match_hand_computation(void **state)
{
    struct pythia_exact_moments m = {0};
    pythia_exact_moments_add_weighted(&m, 2, 10);
    pythia_exact_moments_add_weighted(&m, 4, 10);
    pythia_exact_moments_add_weighted(&m, 10, 1);
    assert_int_equal(m.n, 3);
    assert_int_equal(m.weight, 21);
    assert_rel_equal(pythia_exact_moments_mean(&m), 70 / 21.0, 1e-15);
    assert_rel_equal(pythia_exact_moments_variance(&m), 35 / 6.0, 1e-15);
    assert_rel_equal(pythia_exact_moments_squares(&m), 350 / 3.0, 1e-15);
    assert_rel_equal(pythia_exact_moments_effective(&m), 441 / 201.0, 1e-15);
    assert_int_equal(pythia_exact_moments_count(&m, 21), 2); /* 2.19 */
    assert_int_equal(pythia_exact_moments_count(&m, 11), 1); /* 1.15 */
}

static void equal_weights_change_nothing_but_the_count(void **state)
{
    struct pythia_exact_moments plain = {0}, weighted = {0};
    for (int64_t value = -3; value <= 40; value += 7) { /* 7 of them */
        pythia_exact_moments_add_weighted(&plain, value, 1);
        pythia_exact_moments_add_weighted(&weighted, value, 6);
    }
    assert_int_equal(weighted.n, 7);
    assert_int_equal(weighted.weight, 42);
    assert_rel_equal(pythia_exact_moments_mean(&weighted), pythia_exact_moments_mean(&plain),
                     1e-15);
    assert_rel_equal(pythia_exact_moments_sd(&weighted), pythia_exact_moments_sd(&plain), 1e-15);
    assert_rel_equal(pythia_exact_moments_effective(&weighted), 7, 0);
    assert_int_equal(pythia_exact_moments_count(&weighted, 12), 2);
    assert_rel_equal(pythia_exact_moments_effective(&plain), 7, 0);
    assert_int_equal(pythia_exact_moments_count(&plain, 5), 5);
}

static void a_weight_of_1_is_none(void **state)
{
    struct pythia_exact_moments plain = moments_of((int64_t[]){7, -2, 3}, 3);
    const struct pythia_exact_moments expected = {3, 3, {3, 0}, {8, 0}, {62, 0, 0}};
    assert_memory_equal(&plain, &expected, sizeof(plain));
    struct pythia_exact_moments empty = {0};
    assert_rel_equal(pythia_exact_moments_effective(&empty), 0, 0);
    assert_rel_equal(pythia_exact_moments_squares(&empty), 0, 0);
    assert_int_equal(pythia_exact_moments_count(&empty, 0), 0);
}

static void large_weights_of_the_extremes_do_not_overflow(void **state)
{
    struct pythia_exact_moments m = {0};
    pythia_exact_moments_add_weighted(&m, INT64_MIN, (uint64_t)1 << 62);
    pythia_exact_moments_add_weighted(&m, INT64_MAX, (uint64_t)1 << 62);
    assert_rel_equal(pythia_exact_moments_mean(&m), -.5, 0);
    assert_rel_equal(pythia_exact_moments_variance(&m), 0x1p127, 1e-15); /* as of weights of 1 */
    assert_rel_equal(pythia_exact_moments_effective(&m), 2, 0);
}

/* Others counted a value of weight 3 and one of weight 1, of which only the first is here: (0 + 3 *
 * 8) / 4 = 6, and (3 * 64 - 4 * 36) / (4 - 10 / 4) = 32. */
static void padding_adds_zeros(void **state)
{
    struct pythia_exact_moments all = {0}, m = {0};
    pythia_exact_moments_add_weighted(&all, 1, 3);
    pythia_exact_moments_add_weighted(&all, 1, 1);
    pythia_exact_moments_add_weighted(&m, 8, 3);
    pythia_exact_moments_pad(&m, &all);
    assert_int_equal(m.n, 2);
    assert_rel_equal(pythia_exact_moments_mean(&m), 6, 0);
    assert_rel_equal(pythia_exact_moments_variance(&m), 32, 1e-15);
}

static void floating_and_whole_numbers_agree(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 2);
    struct pythia_exact_moments exact = {0};
    struct pythia_moments floating = {0};
    for (int i = 0; i < 10000; i++) {
        int64_t value = (int64_t)(1e6 * pythia_random_normal(&r));
        pythia_exact_moments_add_weighted(&exact, value, 1);
        pythia_moments_add(&floating, (double)value);
    }
    assert_rel_equal(pythia_exact_moments_mean(&exact), pythia_moments_mean(&floating), 1e-10);
    assert_rel_equal(pythia_exact_moments_sd(&exact), pythia_moments_sd(&floating), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread_matches_hand_computation),
        cmocka_unit_test(fewer_than_two_values_have_no_variance),
        cmocka_unit_test(a_huge_mean_costs_no_digit),
        cmocka_unit_test(the_extremes_of_int64_do_not_overflow),
        cmocka_unit_test(carries_and_borrows_run_through_all_words),
        cmocka_unit_test(weights_match_hand_computation),
        cmocka_unit_test(equal_weights_change_nothing_but_the_count),
        cmocka_unit_test(a_weight_of_1_is_none),
        cmocka_unit_test(large_weights_of_the_extremes_do_not_overflow),
        cmocka_unit_test(padding_adds_zeros),
        cmocka_unit_test(every_order_and_partition_gives_the_same_bits),
        cmocka_unit_test(floating_and_whole_numbers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
