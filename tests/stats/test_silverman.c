#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/silverman.h"
#include "pythia/status.h"
#include "sample_file.h"

static struct pythia_silverman tested(double *x, size_t n, size_t repetitions)
{
    struct pythia_silverman s;
    pythia_ranks_sort(x, n);
    assert_int_equal(pythia_silverman_test(x, n, repetitions, 1, &s), PYTHIA_OK);
    return s;
}

/* Maxima of the density by its definition, at 4001 points. */
static size_t modes_at(const double *x, size_t n, double bandwidth)
{
    double before[2] = {0, 0};
    size_t modes = 0;
    for (size_t k = 0; k <= 4000; k++) {
        double at = x[0] + (x[n - 1] - x[0]) * (double)k / 4000, density = 0;
        for (size_t i = 0; i < n; i++) {
            double z = (at - x[i]) / bandwidth;
            density += exp(-z * z / 2);
        }
        modes += k > 1 && before[1] > before[0] && before[1] >= density;
        before[0] = before[1];
        before[1] = density;
    }
    return modes;
}

static void the_critical_bandwidth_parts_one_mode_from_two(void **state)
{
    double x[300];
    size_t n = read_sample("faithful_eruptions.txt", x, 300);
    struct pythia_silverman s = tested(x, n, 19);
    assert_int_equal(modes_at(x, n, s.bandwidth * 0.98), 2);
    assert_int_equal(modes_at(x, n, s.bandwidth * 1.02), 1);
    assert_rel_equal(s.p, 0.05, 1e-12); /* none of 19 */
}

/* Of two equal normal kernels at a distance d the density has one mode from the bandwidth d/2
 * on. */
static void two_atoms_are_one_mode_from_half_their_distance_on(void **state)
{
    double x[] = {1, 1, 1, 3, 3, 3};
    assert_rel_equal(tested(x, 6, 1).bandwidth, 1, 0.01);
}

static void one_mode_passes_and_two_do_not(void **state)
{
    double x[100], y[100];
    struct pythia_random r;
    pythia_random_init(&r, 2);
    for (size_t i = 0; i < 100; i++) {
        x[i] = pythia_random_normal(&r);
        y[i] = pythia_random_normal(&r) + (i < 20 ? 6 : 0);
    }
    assert_true(tested(x, 100, 99).p > 0.05);
    assert_true(tested(y, 100, 99).p <= 0.02);
}

static void too_little_to_test_gives_nan(void **state)
{
    double x[] = {1, 2, 3}, same[] = {2, 2, 2, 2, 2};
    assert_rel_equal(tested(x, 3, 10).p, NAN, 0);
    assert_rel_equal(tested(same, 5, 10).p, NAN, 0);
    assert_rel_equal(tested(same, 5, 10).bandwidth, NAN, 0);
}

static void each_failed_allocation_leaves_out_untouched(void **state)
{
    double x[] = {1, 2, 3, 7, 9};
    struct pythia_silverman s = {-1, -1};
    for (long k = 0; k < 60; k++) {
        pythia_mem_fail_after(k);
        int status = pythia_silverman_test(x, 5, 10, 1, &s);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            return;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_rel_equal(s.p, -1, 0);
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_critical_bandwidth_parts_one_mode_from_two),
        cmocka_unit_test(two_atoms_are_one_mode_from_half_their_distance_on),
        cmocka_unit_test(one_mode_passes_and_two_do_not),
        cmocka_unit_test(too_little_to_test_gives_nan),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
