#include "check.h"
#include "pythia/bandwidth.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "sample_file.h"

static size_t sorted_sample(const char *name, double *x, size_t most)
{
    size_t n = read_sample(name, x, most);
    pythia_ranks_sort(x, n);
    return n;
}

/* What R 4.2.2 prints for its data sets faithful and precip. */
static void bandwidths_are_those_of_r(void **state)
{
    double x[300];
    size_t n = sorted_sample("faithful_eruptions.txt", x, 300);
    assert_true(fabs(pythia_bandwidth_sj(x, n) - 0.1400435) < 5e-8);
    assert_true(fabs(pythia_bandwidth_nrd0(x, n) - 0.3347770) < 5e-8);
    n = sorted_sample("faithful_waiting.txt", x, 300);
    assert_true(fabs(pythia_bandwidth_sj(x, n) - 2.504371) < 5e-7);
    assert_true(fabs(pythia_bandwidth_nrd0(x, n) - 3.987559) < 5e-7);
    n = sorted_sample("precip.txt", x, 300);
    assert_true(fabs(pythia_bandwidth_sj(x, n) - 3.931768) < 5e-7);
}

/* 0.9 min(sd, IQR/1.34) n^(-1/5) of 1, 2, 3, 4, 10: sd = sqrt(12.5), IQR = 2. */
static void the_rule_of_thumb_matches_hand_computation(void **state)
{
    assert_rel_equal(pythia_bandwidth_nrd0((double[]){1, 2, 3, 4, 10}, 5),
                     0.9 * 2 / 1.34 * pow(5, -0.2), 1e-14);
    assert_rel_equal(pythia_bandwidth_nrd0((double[]){1, 1, 1, 1, 2}, 5),
                     0.9 * sqrt(0.2) * pow(5, -0.2), 1e-14); /* no IQR */
}

static void without_spread_there_is_no_bandwidth(void **state)
{
    const double same[] = {4, 4, 4};
    assert_rel_equal(pythia_bandwidth_nrd0(same, 3), NAN, 0);
    assert_rel_equal(pythia_bandwidth_sj(same, 3), NAN, 0);
    assert_rel_equal(pythia_bandwidth_nrd0(same, 1), NAN, 0);
    assert_rel_equal(pythia_bandwidth_sj(same, 0), NAN, 0);
}

/* Shift and scale: h(a x + b) = a h(x), but for the bins; and it falls as n^(-1/5). */
static void the_bandwidth_goes_with_the_unit_and_falls_with_n(void **state)
{
    static double x[20000], moved[20000];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    double before = INFINITY;
    for (size_t n = 200; n <= 20000; n *= 10) {
        for (size_t i = 0; i < n; i++)
            x[i] = pythia_random_normal(&r);
        pythia_ranks_sort(x, n);
        for (size_t i = 0; i < n; i++)
            moved[i] = -40 + 7 * x[i];
        double h = pythia_bandwidth_sj(x, n);
        assert_rel_equal(pythia_bandwidth_sj(moved, n), 7 * h, 0.02);
        assert_rel_equal(h, 1.06 * pow((double)n, -0.2), 0.25); /* the best one for a normal law */
        assert_true(h < before);
        before = h;
    }
}

static void atoms_give_a_bandwidth_or_nan_but_no_crash(void **state)
{
    double x[100];
    for (size_t i = 0; i < 100; i++)
        x[i] = i < 50 ? 1 : 2;
    double h = pythia_bandwidth_sj(x, 100);
    assert_true(isnan(h) || (h > 0 && h < 1));
    x[99] = 1e300;
    h = pythia_bandwidth_sj(x, 100);
    assert_true(isnan(h) || h > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidths_are_those_of_r),
        cmocka_unit_test(the_rule_of_thumb_matches_hand_computation),
        cmocka_unit_test(without_spread_there_is_no_bandwidth),
        cmocka_unit_test(the_bandwidth_goes_with_the_unit_and_falls_with_n),
        cmocka_unit_test(atoms_give_a_bandwidth_or_nan_but_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
