#include "check.h"
#include "pythia/dip.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/status.h"
#include "sample_file.h"

static struct pythia_dip dip_of(double *x, size_t n)
{
    struct pythia_dip d;
    pythia_ranks_sort(x, n);
    assert_int_equal(pythia_dip_statistic(x, n, &d), PYTHIA_OK);
    return d;
}

/* R's package diptest 0.76-0 on data sets of R; the interval as indexes from 1. */
static const struct {
    const char *file;
    size_t n;
    double dip, p;
    size_t low, high;
} published[] = {
    {"airquality_temp.txt", 153, 0.030718954248366, 0.394658451, 86, 96},
    {"attenu_accel.txt", 182, 0.0287613620946954, 0.369600613, 1, 72},
    {"faithful_eruptions.txt", 272, 0.0923810263068759, 0, 120, 261},
    {"faithful_waiting.txt", 272, 0.041436887254902, 0.001809527395, 114, 249},
    {"galaxies.txt", 82, 0.0353595233259567, 0.6702270434, 16, 37},
    {"iris_petal_length.txt", 150, 0.118974358974359, 0, 59, 144},
    {"iris_sepal_width.txt", 150, 0.0466666666666667, 0.01765985625, 58, 83},
    {"islands.txt", 48, 0.0355392156862745, 0.9549365437, 1, 11},
    {"lynx.txt", 114, 0.021113127646703, 0.9905519556, 30, 40},
    {"mtcars_mpg.txt", 32, 0.0569029850746269, 0.588920421, 19, 23},
    {"nhtemp.txt", 60, 0.0416666666666672, 0.6353445312, 38, 48},
    {"precip.txt", 70, 0.0357142857142857, 0.772476065, 31, 55},
    {"quakes_depth.txt", 1000, 0.0725038167938931, 0, 1, 470},
    {"rivers.txt", 141, 0.0181476846057572, 0.9921708904, 48, 56},
    {"statfaculty.txt", 63, 0.0595238095238095, 0.08672336477, 7, 44},
};

static void dips_are_those_published(void **state)
{
    for (size_t k = 0; k < sizeof(published) / sizeof(published[0]); k++) {
        double x[1000];
        size_t n = read_sample(published[k].file, x, 1000);
        struct pythia_dip d = dip_of(x, n);
        assert_int_equal(n, published[k].n);
        assert_rel_equal(d.dip, published[k].dip, 1e-13);
        assert_int_equal(d.low + 1, published[k].low);
        assert_int_equal(d.high + 1, published[k].high);
        double tolerance = fmax(0.05 * published[k].p, 0.005);
        assert_true(fabs(pythia_dip_p(d.dip, n) - published[k].p) <= tolerance);
    }
}

static void the_least_and_the_largest_dip(void **state)
{
    double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    double uneven[] = {0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6, 0.7000000000000001};
    double women[] = {58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72};
    assert_rel_equal(dip_of(ten, 10).dip, 0.05, 0);
    assert_rel_equal(pythia_dip_p(0.05, 10), 1, 0);
    assert_rel_equal(dip_of(women, 15).dip, 1 / 30.0, 1e-15);
    assert_rel_equal(pythia_dip_p(dip_of(uneven, 7).dip, 7), 1,
                     0); /* evenly spaced but for rounding */
    assert_rel_equal(dip_of((double[]){1, 1, 2, 2}, 4).dip, 0.25, 0);
    assert_rel_equal(dip_of((double[]){5, 5, 5, 5}, 4).dip, 0.125, 0);
    assert_rel_equal(dip_of((double[]){7}, 1).dip, 0.5, 0);
    assert_rel_equal(dip_of((double[]){7, 9}, 2).dip, 0.25, 0);
}

static void scale_shift_and_reflection_do_not_matter(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 7);
    for (size_t n = 4; n < 200; n += 13) {
        double x[200], moved[200], reflected[200];
        for (size_t i = 0; i < n; i++) {
            x[i] = exp(pythia_random_normal(&r)) + (i % 3 == 0 ? 4 : 0);
            moved[i] = 1000 + 0.001 * x[i];
            reflected[i] = -x[i];
        }
        struct pythia_dip d = dip_of(x, n), m = dip_of(moved, n), f = dip_of(reflected, n);
        assert_rel_equal(m.dip, d.dip, 1e-8);
        assert_rel_equal(f.dip, d.dip, 1e-12);
        assert_true(d.dip >= 0.5 / (double)n && d.dip <= 0.25);
    }
}

/* Null quantiles that R's package diptest gives, for p = .5, .1, .05, .01, .001: ours lie within
 * 1.5 %. */
static void the_table_agrees_with_another_simulation(void **state)
{
    static const double upper[] = {0.5, 0.1, 0.05, 0.01, 0.001};
    static const struct {
        size_t n;
        double quantiles[5];
    } points[] = {
        {10, {.09778, .13046, .13961, .15968, .18061}},
        {20, {.07334, .09723, .10513, .12062, .13857}},
        {50, {.04885, .06491, .07027, .08120, .09409}},
        {100, {.03546, .04715, .05113, .05902, .06845}},
        {200, {.02558, .03400, .03684, .04269, .04972}},
        {500, {.01645, .02188, .02373, .02745, .03202}},
        {1000, {.01174, .01561, .01693, .01961, .02287}},
        {5000, {.005312, .007056, .007651, .008864, .01035}},
        {72000, {.001410, .001873, .002032, .002358, .002752}},
    };
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        for (size_t k = 0; k < 5; k++) {
            double q = points[i].quantiles[k];
            assert_true(pythia_dip_p(q * 1.015, points[i].n) <= upper[k]);
            assert_true(pythia_dip_p(q * 0.985, points[i].n) >= upper[k]);
        }
}

static void p_falls_with_the_dip_and_never_to_zero(void **state)
{
    static const size_t sizes[] = {4, 5, 11, 63, 123, 750, 3000, 72000, 100000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        double before = 1;
        for (int i = 0; i <= 200; i++) {
            double p = pythia_dip_p(0.25 * i / 200, sizes[k]);
            assert_true(p <= before && p >= PYTHIA_DIP_P_MIN * (1 - 1e-6));
            before = p;
        }
    }
    assert_rel_equal(pythia_dip_p(0.2, 200), PYTHIA_DIP_P_MIN, 0);
    assert_rel_equal(pythia_dip_p(0.2, 3), NAN, 0);
    assert_rel_equal(pythia_dip_p(NAN, 30), NAN, 0);
    /* Above the table sqrt(n) dip has settled. */
    assert_rel_equal(pythia_dip_p(0.002032 / 10, 7200000), 0.05, 0.05);
}

static void p_is_uniform_for_a_uniform_law(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 11);
    size_t below[4] = {0}, samples = 4000;
    static const double levels[] = {0.01, 0.05, 0.25, 0.75};
    for (size_t s = 0; s < samples; s++) {
        double x[70];
        for (size_t i = 0; i < 70; i++)
            x[i] = pythia_random_unit(&r);
        double p = pythia_dip_p(dip_of(x, 70).dip, 70);
        for (size_t k = 0; k < 4; k++)
            below[k] += p <= levels[k];
    }
    for (size_t k = 0; k < 4; k++) { /* four standard errors */
        double rate = (double)below[k] / (double)samples, q = levels[k];
        assert_true(fabs(rate - q) <= 4 * sqrt(q * (1 - q) / (double)samples));
    }
}

static void a_failed_allocation_leaves_out_untouched(void **state)
{
    double x[] = {1, 2, 4, 8, 9};
    struct pythia_dip d = {.dip = -1};
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_dip_statistic(x, 5, &d), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_rel_equal(d.dip, -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dips_are_those_published),
        cmocka_unit_test(the_least_and_the_largest_dip),
        cmocka_unit_test(scale_shift_and_reflection_do_not_matter),
        cmocka_unit_test(the_table_agrees_with_another_simulation),
        cmocka_unit_test(p_falls_with_the_dip_and_never_to_zero),
        cmocka_unit_test(p_is_uniform_for_a_uniform_law),
        cmocka_unit_test(a_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
