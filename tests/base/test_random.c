#include <math.h>
#include <stdbool.h>

#include "check.h"
#include "pythia/random.h"

/* The first outputs of the authors' own program from the state 1, 2, 3, 4. */
static void the_generator_is_xoshiro256_star_star(void **state)
{
    static const uint64_t published[] = {11520,
                                         0,
                                         1509978240,
                                         UINT64_C(1215971899390074240),
                                         UINT64_C(1216172134540287360),
                                         UINT64_C(607988272756665600),
                                         UINT64_C(16172922978634559625),
                                         UINT64_C(8476171486693032832),
                                         UINT64_C(10595114339597558777),
                                         UINT64_C(2904607092377533576)};
    struct pythia_random r = {.state = {1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
        assert_int_equal(pythia_random_next(&r), published[i]);
}

/* Worked out in a few lines of Python from the definition: a replay with a seed must stay what it
 * was. */
static void a_seed_always_gives_the_same_numbers(void **state)
{
    static const struct {
        uint64_t seed, numbers[4];
    } fixed[] = {
        {0,
         {UINT64_C(0xB05A218B9FAFC046), UINT64_C(0xB1146C9D1ABCEE4A), UINT64_C(0x3392AA68E208A586),
          UINT64_C(0x5ADFC9E8D2AD3A4B)}},
        {1,
         {UINT64_C(0x75541417ED15D4C4), UINT64_C(0xA932AD1F7FA1C802), UINT64_C(0xC6494457D28E9C43),
          UINT64_C(0xD4ED341D3F9F85BE)}},
        {42,
         {UINT64_C(0x82FED50AF545836E), UINT64_C(0x9796FE885785476F), UINT64_C(0x2D6EB3FDBCA2D40B),
          UINT64_C(0xC6092E3A299FE13E)}},
        {UINT64_MAX,
         {UINT64_C(0xC7DEF6CB69364242), UINT64_C(0x1889A3CB6716C543), UINT64_C(0x57024FFB2A3CF1F4),
          UINT64_C(0x83AC01971875D61A)}},
    };
    struct pythia_random r;
    for (size_t k = 0; k < sizeof(fixed) / sizeof(fixed[0]); k++) {
        pythia_random_init(&r, fixed[k].seed);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(pythia_random_next(&r), fixed[k].numbers[i]);
    }
    pythia_random_init(&r, 7);
    assert_rel_equal(pythia_random_unit(&r), 0.4127467418058308, 1e-15);
    assert_rel_equal(pythia_random_unit(&r), 0.9607169929341447, 1e-15);
    assert_rel_equal(pythia_random_unit(&r), 0.6286421760560702, 1e-15);
}

/* 160000 draws in 16 bins of 10000 each, within six standard deviations of sqrt(n p (1 - p)) = 97.
 */
static void the_unit_interval_is_filled_evenly(void **state)
{
    struct pythia_random r;
    unsigned bins[16] = {0};
    pythia_random_init(&r, 3);
    for (size_t i = 0; i < 160000; i++) {
        double x = pythia_random_unit(&r);
        assert_true(x >= 0 && x < 1);
        bins[(size_t)(x * 16)]++;
    }
    for (size_t k = 0; k < 16; k++)
        assert_in_range(bins[k], 10000 - 581, 10000 + 581);
}

static void each_number_below_the_bound_comes_as_often(void **state)
{
    struct pythia_random r;
    unsigned counts[6] = {0};
    pythia_random_init(&r, 4);
    for (size_t i = 0; i < 60000; i++) {
        uint64_t x = pythia_random_below(&r, 6);
        assert_true(x < 6);
        counts[x]++;
    }
    for (size_t k = 0; k < 6; k++)
        assert_in_range(counts[k], 10000 - 548, 10000 + 548);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(pythia_random_below(&r, 1), 0);
}

/* A remainder alone would take the last quarter of the 64-bit numbers for the first third of the
 * results, which would then come every second time. */
static void a_large_bound_has_no_bias(void **state)
{
    const uint64_t third = UINT64_C(1) << 62;
    struct pythia_random r;
    unsigned counts[3] = {0};
    pythia_random_init(&r, 5);
    for (size_t i = 0; i < 30000; i++) {
        uint64_t x = pythia_random_below(&r, 3 * third);
        assert_true(x < 3 * third);
        counts[x / third]++;
    }
    for (size_t k = 0; k < 3; k++)
        assert_in_range(counts[k], 10000 - 490, 10000 + 490);
    for (size_t i = 0; i < 1000; i++)
        assert_true(pythia_random_below(&r, UINT64_MAX) < UINT64_MAX);
}

/* The mean of n draws is within six of its standard errors; so is the share of draws within one and
 * two standard deviations, 0.682689 and 0.954500. */
static void normal_draws_have_the_moments_of_the_normal_law(void **state)
{
    enum { N = 200000 };
    struct pythia_random r;
    double sum = 0, squares = 0, cubes = 0, within_one = 0, within_two = 0;
    pythia_random_init(&r, 6);
    for (size_t i = 0; i < N; i++) {
        double x = pythia_random_normal(&r);
        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
        cubes += x * x * x;
        within_one += fabs(x) < 1;
        within_two += fabs(x) < 2;
    }
    assert_true(fabs(sum / N) < 6 * sqrt(1.0 / N));
    assert_true(fabs(squares / N - 1) < 6 * sqrt(2.0 / N));
    assert_true(fabs(cubes / N) < 6 * sqrt(15.0 / N));
    assert_true(fabs(within_one / N - 0.682689) < 6 * sqrt(0.2166 / N));
    assert_true(fabs(within_two / N - 0.954500) < 6 * sqrt(0.0434 / N));
}

static void a_shuffle_is_a_permutation(void **state)
{
    struct pythia_random r;
    size_t indices[200];
    pythia_random_init(&r, 9);
    for (size_t n = 0; n <= 200; n++) {
        bool seen[200] = {false};
        for (size_t i = 0; i < n; i++)
            indices[i] = i;
        pythia_random_shuffle(&r, indices, n);
        for (size_t i = 0; i < n; i++) {
            assert_true(indices[i] < n);
            assert_false(seen[indices[i]]);
            seen[indices[i]] = true;
        }
    }
}

static void each_order_comes_as_often(void **state)
{
    struct pythia_random r;
    unsigned counts[27] = {0};
    pythia_random_init(&r, 10);
    for (size_t i = 0; i < 60000; i++) {
        size_t x[] = {0, 1, 2};
        pythia_random_shuffle(&r, x, 3);
        counts[9 * x[0] + 3 * x[1] + x[2]]++;
    }
    static const size_t orders[] = {5,  7,  11,
                                    15, 19, 21}; /* 012, 021, 102, 120, 201, 210 in base 3 */
    for (size_t k = 0; k < 6; k++)
        assert_in_range(counts[orders[k]], 10000 - 548, 10000 + 548);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_is_xoshiro256_star_star),
        cmocka_unit_test(a_seed_always_gives_the_same_numbers),
        cmocka_unit_test(the_unit_interval_is_filled_evenly),
        cmocka_unit_test(each_number_below_the_bound_comes_as_often),
        cmocka_unit_test(a_large_bound_has_no_bias),
        cmocka_unit_test(normal_draws_have_the_moments_of_the_normal_law),
        cmocka_unit_test(a_shuffle_is_a_permutation),
        cmocka_unit_test(each_order_comes_as_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
