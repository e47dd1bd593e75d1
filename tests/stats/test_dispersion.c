#include "check.h"
#include "pythia/dispersion.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

/* R's PlantGrowth: dried weight of plants under a control and two treatments, 10 each. */
static const double plant_growth[] = {4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14,
                                      4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69,
                                      6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26};

/* R's InsectSprays: insects left on plots under six sprays, 12 each. */
static const double insect_sprays[] = {
    10, 7, 20, 14, 14, 12, 10, 23, 17, 20, 14, 13, 11, 17, 21, 11, 16, 14, 17, 17, 19, 21, 7,  13,
    0,  1, 7,  2,  3,  1,  2,  1,  3,  0,  1,  4,  3,  5,  12, 6,  4,  3,  5,  5,  5,  5,  2,  4,
    3,  5, 3,  5,  3,  6,  1,  1,  3,  2,  6,  4,  11, 9,  15, 22, 15, 16, 13, 10, 26, 26, 24, 13};

static void label(uint32_t *group, size_t n, size_t each)
{
    for (size_t i = 0; i < n; i++)
        group[i] = (uint32_t)(i / each);
}

static void plant_growth_gets_the_published_values(void **state)
{
    uint32_t group[30];
    struct pythia_test_result t;
    label(group, 30, 10);
    assert_int_equal(pythia_dispersion_anova(plant_growth, group, 30, 3, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 4.84609, 2e-6);
    assert_rel_equal(t.df1, 2, 0);
    assert_rel_equal(t.df2, 27, 0);
    assert_rel_equal(t.p, .01591, 1e-4);
    assert_rel_equal(t.effect, .2641482968, 1e-9);
    assert_int_equal(pythia_dispersion_brown_forsythe(plant_growth, group, 30, 3, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 1.11919, 5e-6);
    assert_rel_equal(t.df1, 2, 0);
    assert_rel_equal(t.df2, 27, 0);
    assert_rel_equal(t.p, .34123, 2e-5);
}

static void insect_sprays_get_the_published_values(void **state)
{
    uint32_t group[72];
    struct pythia_test_result t;
    label(group, 72, 12);
    assert_int_equal(pythia_dispersion_anova(insect_sprays, group, 72, 6, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 34.70228, 2e-7);
    assert_rel_equal(t.df1, 5, 0);
    assert_rel_equal(t.df2, 66, 0);
    assert_rel_equal(t.effect, .7244390156, 1e-9);
    assert_int_equal(pythia_dispersion_brown_forsythe(insect_sprays, group, 72, 6, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 3.82136, 2e-6);
    assert_rel_equal(t.p, .0042228, 2e-5);
}

struct test {
    int (*run)(const double *x, const uint32_t *group, size_t n, size_t groups,
               struct pythia_test_result *out);
    long allocations; /* on the way to a result */
};

static const struct test all_tests[] = {
    {pythia_dispersion_anova, 1},
    {pythia_dispersion_brown_forsythe, 5},
};
enum { TESTS = sizeof(all_tests) / sizeof(all_tests[0]) };

static void the_order_of_values_and_names_of_groups_do_not_matter(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 1);
    double shuffled[72];
    uint32_t group[72], renamed[72];
    const uint32_t names[] = {4, 0, 7, 2, 6, 1}; /* 3 and 5 are empty */
    size_t order[72];
    label(group, 72, 12);
    for (size_t i = 0; i < 72; i++)
        order[i] = i;
    pythia_random_shuffle(&r, order, 72);
    for (size_t i = 0; i < 72; i++) {
        shuffled[i] = 1e6 + insect_sprays[order[i]]; /* nor does the origin */
        renamed[i] = names[group[order[i]]];
    }
    for (size_t test = 0; test < TESTS; test++) {
        struct pythia_test_result a, b;
        assert_int_equal(all_tests[test].run(insect_sprays, group, 72, 6, &a), PYTHIA_OK);
        assert_int_equal(all_tests[test].run(shuffled, renamed, 72, 8, &b), PYTHIA_OK);
        assert_rel_equal(b.statistic, a.statistic, 1e-9);
        assert_rel_equal(b.p, a.p, 1e-8);
        assert_rel_equal(b.df2, a.df2, 0);
        assert_rel_equal(b.effect, a.effect, 1e-9);
    }
}

static void the_undefined_is_nan(void **state)
{
    const double x[] = {1, 2, 3, 4, NAN};
    const uint32_t one[] = {1, 1, 1, 1, 1}, each[] = {0, 1, 2, 3, 4}, two[] = {0, 0, 1, 1, 1};
    for (size_t test = 0; test < TESTS; test++) {
        struct pythia_test_result t;
        const struct {
            const uint32_t *group;
            size_t n;
        } cases[] = {{one, 0}, {one, 4}, {each, 4}, {two, 5}};
        for (size_t c = 0; c < 4; c++) {
            assert_int_equal(all_tests[test].run(x, cases[c].group, cases[c].n, 5, &t), PYTHIA_OK);
            assert_rel_equal(t.statistic, NAN, 0);
            assert_rel_equal(t.df1, NAN, 0);
            assert_rel_equal(t.p, NAN, 0);
            assert_rel_equal(t.effect, NAN, 0);
        }
        const double equal[] = {3, 3, 3, 3};
        assert_int_equal(all_tests[test].run(equal, two, 4, 2, &t), PYTHIA_OK);
        assert_rel_equal(t.p, NAN, 0);
    }
}

static void constant_groups_give_an_infinite_statistic(void **state)
{
    const uint32_t two[] = {0, 0, 0, 1, 1, 1};
    struct pythia_test_result t;
    assert_int_equal(pythia_dispersion_anova((double[]){1, 1, 1, 2, 2, 2}, two, 6, 2, &t),
                     PYTHIA_OK);
    assert_rel_equal(t.statistic, INFINITY, 0);
    assert_rel_equal(t.p, 0, 0);
    assert_rel_equal(t.effect, 1, 0);
}

/* Normal samples of one spread: each test rejects in 5 % of them, which 600 runs know to 2.7 % (3
 * se). */
static void false_alarms_keep_to_the_level(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 2);
    int rejected[TESTS] = {0};
    uint32_t group[60];
    label(group, 60, 20);
    for (int run = 0; run < 600; run++) {
        double x[60];
        for (size_t i = 0; i < 60; i++)
            x[i] = pythia_random_normal(&r);
        for (size_t test = 0; test < TESTS; test++) {
            struct pythia_test_result t;
            assert_int_equal(all_tests[test].run(x, group, 60, 3, &t), PYTHIA_OK);
            rejected[test] += t.p < .05;
        }
    }
    for (size_t test = 0; test < TESTS; test++)
        assert_in_range(rejected[test], 14, 46);
}

static void each_failed_allocation_leaves_out_untouched(void **state)
{
    uint32_t group[30];
    label(group, 30, 10);
    for (size_t test = 0; test < TESTS; test++) {
        struct pythia_test_result t = {.p = -7};
        for (long left = 0; left < all_tests[test].allocations; left++) {
            pythia_mem_fail_after(left);
            int status = all_tests[test].run(plant_growth, group, 30, 3, &t);
            pythia_mem_fail_after(-1);
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_rel_equal(t.p, -7, 0);
        }
        pythia_mem_fail_after(all_tests[test].allocations);
        int status = all_tests[test].run(plant_growth, group, 30, 3, &t);
        pythia_mem_fail_after(-1);
        assert_int_equal(status, PYTHIA_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plant_growth_gets_the_published_values),
        cmocka_unit_test(insect_sprays_get_the_published_values),
        cmocka_unit_test(the_order_of_values_and_names_of_groups_do_not_matter),
        cmocka_unit_test(the_undefined_is_nan),
        cmocka_unit_test(constant_groups_give_an_infinite_statistic),
        cmocka_unit_test(false_alarms_keep_to_the_level),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
