#include "check.h"
#include "pythia/exact_moments.h"
#include "pythia/moments.h"
#include "pythia/random.h"

static struct pythia_exact_moments moments_of(const int64_t *values, size_t n)
{
    struct pythia_exact_moments m = {0};
    for (size_t i = 0; i < n; i++)
        pythia_exact_moments_add(&m, values[i]);
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
    pythia_exact_moments_add(&m, 7);
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
    pythia_exact_moments_add(&m, -1);
    assert_true(m.squares[0] == 0 && m.squares[1] == 0 && m.squares[2] == 1);
    assert_true(m.sum[0] == UINT64_MAX && m.sum[1] == UINT64_MAX);
    /* n * squares - sum^2 = 2^128 - 1, by n (n - 1) = 2^120 - 2^60 */
    m = (struct pythia_exact_moments){(uint64_t)1 << 60, {1, 0}, {0, 16, 0}};
    assert_rel_equal(pythia_exact_moments_variance(&m), 256, 1e-15);
}

static void every_order_and_partition_gives_the_same_bits(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (int run = 0; run < 100; run++) {
        struct pythia_exact_moments forwards = {0}, backwards = {0}, parts[4] = {0};
        int64_t values[300];
        for (size_t i = 0; i < 300; i++) {
            values[i] = (int64_t)(pythia_random_next(&r) >> pythia_random_below(&r, 64));
            pythia_exact_moments_add(&forwards, values[i]);
            pythia_exact_moments_add(&parts[pythia_random_below(&r, 4)], values[i]);
        }
        for (size_t i = 300; i > 0; i--)
            pythia_exact_moments_add(&backwards, values[i - 1]);
        pythia_exact_moments_merge(&parts[2], &parts[1]);
        pythia_exact_moments_merge(&parts[0], &parts[3]);
        pythia_exact_moments_merge(&parts[2], &parts[0]);
        assert_memory_equal(&forwards, &backwards, sizeof(forwards));
        assert_memory_equal(&forwards, &parts[2], sizeof(forwards));
    }
}

static void floating_and_whole_numbers_agree(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 2);
    struct pythia_exact_moments exact = {0};
    struct pythia_moments floating = {0};
    for (int i = 0; i < 10000; i++) {
        int64_t value = (int64_t)(1e6 * pythia_random_normal(&r));
        pythia_exact_moments_add(&exact, value);
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
        cmocka_unit_test(every_order_and_partition_gives_the_same_bits),
        cmocka_unit_test(floating_and_whole_numbers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
