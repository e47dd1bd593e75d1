#include <stdlib.h>

#include "check.h"
#include "pythia/resample.h"

static void assert_values(enum pythia_resampling how, const double *expected)
{
    static const uint64_t times[] = {90, 100, 105, 105, 119, 120, 135, 150};
    static const double values[] = {99, 1, 4, 2, -3, 10, 7, 99};
    double out[4];
    pythia_resample(times, values, 8, 100, 10, how, out, 4);
    for (size_t i = 0; i < 4; i++)
        assert_rel_equal(out[i], expected[i], 1e-15);
}

static void values_fall_into_intervals(void **state)
{
    assert_values(PYTHIA_RESAMPLE_MEAN, (double[]){7 / 3.0, -3, 10, 7});
    assert_values(PYTHIA_RESAMPLE_COUNT, (double[]){3, 1, 1, 1});
    assert_values(PYTHIA_RESAMPLE_SUM, (double[]){7, -3, 10, 7});
    assert_values(PYTHIA_RESAMPLE_MIN, (double[]){1, -3, 10, 7});
    assert_values(PYTHIA_RESAMPLE_MAX, (double[]){4, -3, 10, 7});
    assert_values(PYTHIA_RESAMPLE_LAST, (double[]){2, -3, 10, 7});
}

static void intervals_without_a_value(void **state)
{
    double out[3];
    pythia_resample((uint64_t[]){25}, (double[]){5}, 1, 0, 10, PYTHIA_RESAMPLE_MAX, out, 3);
    assert_rel_equal(out[0], NAN, 0);
    assert_rel_equal(out[1], NAN, 0);
    assert_rel_equal(out[2], 5, 0);
    pythia_resample((uint64_t[]){25}, (double[]){5}, 1, 0, 10, PYTHIA_RESAMPLE_COUNT, out, 3);
    assert_rel_equal(out[0], 0, 0);
    assert_rel_equal(out[2], 1, 0);
    pythia_resample(NULL, NULL, 0, 0, 10, PYTHIA_RESAMPLE_SUM, out, 1);
    assert_rel_equal(out[0], 0, 0);
}

/* By hand: of 1 to 10, position .9 * 9 = 8.1 is 9 + .1 * (10 - 9). */
static void quantiles_lie_in_proportion(void **state)
{
    double values[] = {7, 1, 10, 3, 9, 2, 8, 4, 6, 5};
    struct pythia_summary s;
    pythia_summary_of(values, 10, &s);
    assert_int_equal(s.n, 10);
    assert_rel_equal(s.mean, 5.5, 1e-15);
    assert_rel_equal(s.sd, sqrt(82.5 / 9), 1e-15);
    assert_rel_equal(s.min, 1, 0);
    assert_rel_equal(s.p50, 5.5, 1e-15);
    assert_rel_equal(s.p90, 9.1, 1e-15);
    assert_rel_equal(s.p99, 9.91, 1e-15);
    assert_rel_equal(s.max, 10, 0);
}

static void of_one_and_of_none(void **state)
{
    struct pythia_summary s;
    pythia_summary_of((double[]){3}, 1, &s);
    assert_rel_equal(s.mean, 3, 0);
    assert_rel_equal(s.sd, NAN, 0);
    assert_rel_equal(s.p99, 3, 0);
    pythia_summary_of(NULL, 0, &s);
    assert_rel_equal(s.mean, NAN, 0);
    assert_rel_equal(s.p50, NAN, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_fall_into_intervals),
        cmocka_unit_test(intervals_without_a_value),
        cmocka_unit_test(quantiles_lie_in_proportion),
        cmocka_unit_test(of_one_and_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
