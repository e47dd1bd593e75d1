#include "check.h"
#include "pythia/kde.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

/* The density by its definition. */
static double density_at(const double *x, size_t n, double bandwidth, double at)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double z = (at - x[i]) / bandwidth;
        sum += exp(-z * z / 2);
    }
    return sum / ((double)n * bandwidth * sqrt(2 * acos(-1)));
}

static void a_grid_covers_the_values_and_is_fine_enough(void **state)
{
    struct pythia_grid g = pythia_kde_grid(10, 20, 0.5, 1000);
    assert_rel_equal(g.low, 8.5, 1e-15);
    assert_rel_equal(g.low + g.step * (double)(g.count - 1), 21.5, 1e-14);
    assert_int_equal(g.count, 13 * 8 + 1);
    g = pythia_kde_grid(10, 20, 1e-6, 1000);
    assert_int_equal(g.count, 1000);
    g = pythia_kde_grid(3, 3, 1, 1000);
    assert_rel_equal(g.low, 0, 0);
}

static void the_density_is_that_of_the_definition(void **state)
{
    double x[200], density[2001];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t i = 0; i < 200; i++)
        x[i] = pythia_random_normal(&r);
    struct pythia_grid g = {-5, 0.005, 2001};
    assert_int_equal(pythia_kde_estimate(x, 200, 0.3, &g, density), PYTHIA_OK);
    double integral = 0;
    for (size_t i = 0; i < 2001; i++) {
        double exact = density_at(x, 200, 0.3, g.low + g.step * (double)i);
        assert_true(fabs(density[i] - exact) < 1e-4);
        integral += density[i] * g.step;
    }
    assert_rel_equal(integral, 1, 1e-6);
}

static void values_off_the_grid_are_left_out(void **state)
{
    const double x[] = {-100, 0, 1e9};
    double density[3];
    struct pythia_grid g = {-1, 1, 3};
    assert_int_equal(pythia_kde_estimate(x, 3, 1, &g, density), PYTHIA_OK);
    assert_rel_equal(density[1], 1 / (3 * sqrt(2 * acos(-1))), 1e-14);
    assert_rel_equal(density[0], density[2], 0);
    assert_rel_equal(density[0] / density[1], exp(-0.5), 1e-14);
}

static void modes_are_peaks_with_valleys_between(void **state)
{
    const double d[] = {0, 1, 3, 2, 1, 1, 1, 4, 4, 4, 0, 0, 2};
    size_t peaks[7], valleys[7];
    assert_int_equal(pythia_kde_modes(d, 13, peaks, valleys), 3);
    assert_int_equal(peaks[0], 2);
    assert_int_equal(valleys[0], 5); /* the middle of level ground */
    assert_int_equal(peaks[1], 8);
    assert_int_equal(valleys[1], 10);
    assert_int_equal(peaks[2], 12);
    const double drift[] = {3, 1, 1 - 1e-12, 1 - 2e-12, 1, 3};
    assert_int_equal(pythia_kde_modes(drift, 6, NULL, valleys), 2);
    assert_int_equal(valleys[0], 2); /* level but for rounding */
    assert_int_equal(pythia_kde_modes((double[]){1, 1, 1}, 3, NULL, NULL), 1);
    assert_int_equal(pythia_kde_modes((double[]){3, 2, 1}, 3, peaks, NULL), 1);
    assert_int_equal(peaks[0], 0);
    assert_int_equal(pythia_kde_modes((double[]){1, 2, 2 - 1e-12, 2, 1}, 5, NULL, NULL),
                     1); /* rounding */
    assert_int_equal(pythia_kde_modes((double[]){0}, 1, NULL, NULL), 1);
}

static void a_failed_allocation_leaves_the_density_untouched(void **state)
{
    double x[] = {1}, density[2] = {-1, -1};
    struct pythia_grid g = {0, 1, 2};
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_kde_estimate(x, 1, 1, &g, density), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_rel_equal(density[0], -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_covers_the_values_and_is_fine_enough),
        cmocka_unit_test(the_density_is_that_of_the_definition),
        cmocka_unit_test(values_off_the_grid_are_left_out),
        cmocka_unit_test(modes_are_peaks_with_valleys_between),
        cmocka_unit_test(a_failed_allocation_leaves_the_density_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
