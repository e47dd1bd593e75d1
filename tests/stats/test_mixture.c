#include "check.h"
#include "pythia/mem.h"
#include "pythia/mixture.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/status.h"
#include "sample_file.h"

static struct pythia_mixture fitted(double *x, size_t n, size_t count)
{
    struct pythia_mixture m;
    pythia_ranks_sort(x, n);
    assert_int_equal(pythia_mixture_fit(x, n, count, &m), PYTHIA_OK);
    return m;
}

/* mclust 6.0.0 stops at a log-likelihood of -1034.007362; ours climbs to the top, half a per cent
 * further in the standard deviations. */
static void the_geyser_has_two_kinds_of_waits(void **state)
{
    double x[300];
    size_t n = read_sample("faithful_waiting.txt", x, 300);
    struct pythia_mixture m;
    pythia_ranks_sort(x, n);
    assert_int_equal(pythia_mixture_select(x, n, PYTHIA_MIXTURE_MAX, &m), PYTHIA_OK);
    assert_int_equal(m.count, 2);
    assert_true(m.log_likelihood >= -1034.007362 && m.log_likelihood < -1033.99);
    assert_rel_equal(m.bic, -2096.043735, 1e-5);
    assert_rel_equal(m.means[0], 54.64666, 1e-3);
    assert_rel_equal(m.means[1], 80.11096, 1e-3);
    assert_rel_equal(m.sds[0], 5.89863, 6e-3);
    assert_rel_equal(m.sds[1], 5.84799, 6e-3);
    assert_rel_equal(m.weights[0], .361836, 5e-3);
    assert_true(pythia_mixture_separation(&m, 0, 1) > 4);
}

static void one_component_is_mean_and_sd(void **state)
{
    double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct pythia_mixture m = fitted(x, 8, 1);
    assert_int_equal(m.count, 1);
    assert_rel_equal(m.means[0], 5, 1e-14);
    assert_rel_equal(m.sds[0], 2, 1e-14);
    assert_rel_equal(m.log_likelihood, -4 * log(2 * acos(-1)) - 8 * log(2) - 4, 1e-12);
    assert_rel_equal(m.bic, 2 * m.log_likelihood - 2 * log(8), 1e-12);
}

/* Ashman's own scale: two unit normals at a distance of 2 have D = 2. */
static void separation_matches_hand_computation(void **state)
{
    struct pythia_mixture m = {.count = 2, .means = {1, 3}, .sds = {1, 1}};
    assert_rel_equal(pythia_mixture_separation(&m, 0, 1), 2, 1e-14);
    m.sds[1] = 0;
    assert_rel_equal(pythia_mixture_separation(&m, 1, 0), 2 * sqrt(2), 1e-14);
}

static void planted_components_are_selected(void **state)
{
    static const double means[] = {0, 5, 11}, weights[] = {.6, .3, .1};
    double x[600];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t i = 0; i < 600; i++)
        x[i] = means[i < 360 ? 0 : i < 540 ? 1 : 2] + pythia_random_normal(&r);
    struct pythia_mixture m;
    pythia_ranks_sort(x, 600);
    assert_int_equal(pythia_mixture_select(x, 600, 6, &m), PYTHIA_OK);
    assert_int_equal(m.count, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_true(fabs(m.means[k] - means[k]) < 0.4);
        assert_true(fabs(m.weights[k] - weights[k]) < 0.03);
        assert_true(fabs(m.sds[k] - 1) < 0.3);
    }
}

/* More components never fit worse: the ends of the climbs are sane. */
static void likelihood_grows_with_the_components(void **state)
{
    double x[200];
    struct pythia_random r;
    pythia_random_init(&r, 2);
    for (size_t i = 0; i < 200; i++)
        x[i] = log(pythia_random_exponential(&r));
    double before = -INFINITY;
    for (size_t k = 1; k <= 3; k++) {
        struct pythia_mixture m = fitted(x, 200, k);
        assert_int_equal(m.count, k);
        assert_true(m.log_likelihood >= before - 1e-6);
        before = m.log_likelihood;
    }
}

/* Six values that are nearly the same, and a clock of whole numbers: a component on them alone
 * would have any likelihood. */
static void no_component_falls_onto_one_value(void **state)
{
    double x[60], ticks[60];
    struct pythia_random r;
    pythia_random_init(&r, 3);
    for (size_t i = 0; i < 60; i++) {
        x[i] = i < 6 ? 0.7 + 1e-9 * (double)i : pythia_random_normal(&r);
        ticks[i] = i < 30 ? 10 : floor(10 + 8 * pythia_random_normal(&r));
    }
    for (size_t count = 2; count <= 4; count++) {
        struct pythia_mixture one = fitted(x, 60, 1), m = fitted(x, 60, count);
        for (size_t k = 0; k < m.count; k++)
            assert_true(m.sds[k] >= 0.0199 * one.sds[0]);
        m = fitted(ticks, 60, count);
        for (size_t k = 0; k < m.count; k++)
            assert_true(m.sds[k] >= 0.2886);
    }
}

static void what_is_not_there_has_no_components(void **state)
{
    double same[] = {3, 3, 3, 3, 3, 3}, few[] = {1, 2, 5};
    struct pythia_mixture m = fitted(same, 6, 1);
    assert_int_equal(m.count, 0);
    assert_rel_equal(m.bic, NAN, 0);
    assert_int_equal(fitted(few, 3, 2).count, 0);
    assert_int_equal(pythia_mixture_select(few, 0, 3, &m), PYTHIA_OK);
    assert_int_equal(m.count, 0);
}

static void a_failed_allocation_leaves_out_untouched(void **state)
{
    double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct pythia_mixture m = {.count = 77};
    for (long k = 0; k < 3; k++) {
        pythia_mem_fail_after(k);
        assert_int_equal(pythia_mixture_select(x, 9, 3, &m), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_int_equal(m.count, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_geyser_has_two_kinds_of_waits),
        cmocka_unit_test(one_component_is_mean_and_sd),
        cmocka_unit_test(separation_matches_hand_computation),
        cmocka_unit_test(planted_components_are_selected),
        cmocka_unit_test(likelihood_grows_with_the_components),
        cmocka_unit_test(no_component_falls_onto_one_value),
        cmocka_unit_test(what_is_not_there_has_no_components),
        cmocka_unit_test(a_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
