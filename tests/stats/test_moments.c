#include "check.h"
#include "pythia/moments.h"
#include "pythia/random.h"

/* Speed of light in air less 299000 km/s, Michelson 1879: R's `morley`, NIST StRD's "Michelso". */
static const double michelson[] = {
    850,  740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000,
    1000, 960, 960, 960,  940, 960, 940, 880, 800, 850, 880,  900, 840, 830, 790, 810, 880,
    880,  830, 800, 790,  760, 800, 880, 880, 880, 860, 720,  720, 620, 860, 970, 950, 880,
    910,  850, 870, 840,  840, 850, 840, 840, 840, 890, 810,  810, 820, 800, 770, 760, 740,
    750,  760, 910, 920,  890, 860, 880, 720, 840, 850, 850,  780, 890, 840, 780, 810, 760,
    810,  790, 810, 820,  850, 870, 870, 810, 740, 810, 940,  950, 800, 810, 870};

static struct pythia_moments moments_of(const double *values, size_t n, double offset, double unit)
{
    struct pythia_moments m = {0};
    for (size_t i = 0; i < n; i++)
        pythia_moments_add(&m, offset + values[i] * unit);
    return m;
}

static void nist_reference_sets_come_out(void **state)
{
    struct pythia_moments m = moments_of((double[]){10000001, 10000003, 10000002}, 3, 0, 1);
    assert_rel_equal(pythia_moments_mean(&m), 10000002, 0);
    assert_rel_equal(pythia_moments_sd(&m), 1, 1e-15); /* NumAcc1 */
    const double offsets[] = {0, 1e6, 1e7};            /* NumAcc2, 3, 4 */
    for (size_t set = 0; set < 3; set++) {
        double values[1001] = {1.2};
        for (size_t i = 1; i < 1001; i++)
            values[i] = i % 2 ? 1.1 : 1.3;
        if (set > 0) /* these two sets are given with .2, .1 and .3 behind the point */
            for (size_t i = 0; i < 1001; i++)
                values[i] -= 1;
        m = moments_of(values, 1001, offsets[set], 1);
        assert_rel_equal(pythia_moments_mean(&m), set ? offsets[set] + .2 : 1.2, 1e-14);
        assert_true(fabs(pythia_moments_sd(&m) - .1) < 1e-8);
    }
    m = moments_of(michelson, 100, 299, .001);
    assert_rel_equal(pythia_moments_mean(&m), 299.8524, 1e-14);
    assert_rel_equal(pythia_moments_sd(&m), .0790105478190518, 1e-10);
}

static void spread_matches_hand_computation(void **state)
{
    struct pythia_moments m = moments_of((double[]){2, 4, 4, 4, 5, 5, 7, 9}, 8, 0, 1);
    assert_int_equal(m.n, 8);
    assert_rel_equal(pythia_moments_mean(&m), 5, 1e-15);
    assert_rel_equal(pythia_moments_sd(&m), sqrt(32 / 7.0), 1e-15);
}

static void the_undefined_is_nan(void **state)
{
    struct pythia_moments m = {0};
    assert_rel_equal(pythia_moments_mean(&m), NAN, 0);
    assert_rel_equal(pythia_moments_sd(&m), NAN, 0);
    pythia_moments_add(&m, 3);
    assert_rel_equal(pythia_moments_mean(&m), 3, 0);
    assert_rel_equal(pythia_moments_sd(&m), NAN, 0);
    pythia_moments_add(&m, -3);
    assert_rel_equal(pythia_moments_sd(&m), sqrt(18), 1e-15);
    pythia_moments_add(&m, INFINITY);
    for (int i = 0; i < 2; i++) {
        assert_rel_equal(pythia_moments_mean(&m), NAN, 0);
        assert_rel_equal(pythia_moments_sd(&m), NAN, 0);
        pythia_moments_add(&m, 1);
    }
}

static void any_partition_merges_to_the_single_pass(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t run = 0; run < 200; run++) {
        struct pythia_moments whole = {0}, parts[8] = {0};
        size_t n = (size_t)pythia_random_below(&r, 400);
        for (size_t i = 0; i < n; i++) {
            double value = exp(pythia_random_normal(&r));
            pythia_moments_add(&whole, value);
            pythia_moments_add(&parts[pythia_random_below(&r, 8)], value); /* some stay empty */
        }
        for (size_t left = 8; left > 1; left--) { /* a random tree of merges */
            size_t from = (size_t)pythia_random_below(&r, left), to = (from + 1) % left;
            pythia_moments_merge(&parts[to], &parts[from]);
            parts[from] = parts[left - 1];
        }
        assert_int_equal(parts[0].n, n);
        assert_rel_equal(pythia_moments_mean(&parts[0]), pythia_moments_mean(&whole), 1e-12);
        assert_rel_equal(pythia_moments_sd(&parts[0]), pythia_moments_sd(&whole), 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_reference_sets_come_out),
        cmocka_unit_test(spread_matches_hand_computation),
        cmocka_unit_test(the_undefined_is_nan),
        cmocka_unit_test(any_partition_merges_to_the_single_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
