#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/status.h"
#include "sample_file.h"

static void sorting_puts_nan_last(void **state)
{
    double x[] = {3, NAN, -1, INFINITY, 2, -INFINITY};
    pythia_ranks_sort(x, 6);
    const double expected[] = {-INFINITY, -1, 2, 3, INFINITY, NAN};
    for (size_t i = 0; i < 6; i++)
        assert_rel_equal(x[i], expected[i], 0);
    pythia_ranks_sort(NULL, 0);
}

static void quantiles_are_of_type_7(void **state)
{
    const double x[] = {1, 2, 4, 8};
    assert_rel_equal(pythia_ranks_quantile(x, 4, 0), 1, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, .5), 3, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, .75), 5, 0); /* a quarter of the way from 4 to 8 */
    assert_rel_equal(pythia_ranks_quantile(x, 4, 1), 8, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 1, .3), 1, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 0, .5), NAN, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, 1.01), NAN, 0);
    assert_rel_equal(pythia_ranks_quantile(x, 4, NAN), NAN, 0);
    assert_rel_equal(pythia_ranks_quantile((double[]){1, NAN}, 2, 0), NAN, 0);
}

/* R: quantile(…, type = 1) of 1 to 10, and by hand. */
static void percentiles_are_values_that_were_seen(void **state)
{
    const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 50), 5, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 90), 9, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 91), 10, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 100), 10, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 1), 1, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 9, 50), 5, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 1, 90), 1, 0);
    double many[250];
    for (size_t i = 0; i < 250; i++)
        many[i] = (double)i + 1;
    assert_rel_equal(pythia_ranks_percentile(many, 250, 90), 225, 0);
    assert_rel_equal(pythia_ranks_percentile(many, 249, 90), 225, 0); /* 224.1, and so one more */
    assert_rel_equal(pythia_ranks_percentile(many, 200, 29), 58, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 0, 50), NAN, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 0), NAN, 0);
    assert_rel_equal(pythia_ranks_percentile(ten, 10, 101), NAN, 0);
    assert_rel_equal(pythia_ranks_percentile((double[]){1, NAN}, 2, 50), NAN, 0);
}

/* R: median, mad and IQR of faithful$eruptions. */
static void old_faithful_has_the_published_spread(void **state)
{
    double x[300] = {0}, out = -7;
    size_t n = read_sample("faithful_eruptions.txt", x, 300);
    assert_int_equal(n, 272);
    assert_int_equal(pythia_ranks_median(x, n, &out), PYTHIA_OK);
    assert_rel_equal(out, 4, 1e-15);
    assert_int_equal(pythia_ranks_mad(x, n, &out), PYTHIA_OK);
    assert_rel_equal(out, .9510879, 1e-7);
    assert_int_equal(pythia_ranks_iqr(x, n, &out), PYTHIA_OK);
    assert_rel_equal(out, 2.2915, 1e-12);
    assert_rel_equal(x[0], 3.6, 0); /* still in its order */
    assert_int_equal(pythia_ranks_median(x, 0, &out), PYTHIA_OK);
    assert_rel_equal(out, NAN, 0);
    x[7] = NAN;
    assert_int_equal(pythia_ranks_mad(x, n, &out), PYTHIA_OK);
    assert_rel_equal(out, NAN, 0);
    assert_int_equal(pythia_ranks_iqr(x, n, &out), PYTHIA_OK);
    assert_rel_equal(out, NAN, 0);
}

static void equal_values_share_their_mean_rank(void **state)
{
    const double x[] = {5, 1, 5, NAN, 3, 5, 1};
    const double expected[] = {5, 1.5, 5, NAN, 3, 5, 1.5};
    double ranks[7];
    size_t order[7];
    assert_int_equal(pythia_ranks_mid(x, 7, ranks), PYTHIA_OK);
    for (size_t i = 0; i < 7; i++)
        assert_rel_equal(ranks[i], expected[i], 0);
    assert_int_equal(pythia_ranks_order(x, 7, order), PYTHIA_OK);
    assert_memory_equal(order, ((size_t[]){1, 6, 4, 0, 2, 5, 3}), sizeof(order));
    assert_int_equal(pythia_ranks_mid(x, 0, ranks), PYTHIA_OK);
}

static void correlations_match_hand_computation(void **state)
{
    /* Deviations -2 -1 0 1 2 and -4 -2 0 -1 7, products 8 2 0 -1 14, squares 10 and 70. */
    const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 3, 5, 4, 12};
    double rho;
    assert_rel_equal(pythia_ranks_pearson(x, y, 5), 23 / sqrt(10 * 70), 1e-15);
    assert_int_equal(pythia_ranks_spearman(x, y, 5, &rho), PYTHIA_OK);
    assert_rel_equal(rho, .9, 1e-15);      /* 1 - 6 * (1 + 1) / (5 * 24) */
    const double tied[] = {1, 1, 2, 2, 3}; /* ranks 1.5 1.5 3.5 3.5 5 */
    assert_int_equal(pythia_ranks_spearman(x, tied, 5, &rho), PYTHIA_OK);
    assert_rel_equal(rho, 9 / sqrt(10 * 9), 1e-15);
    const double far[] = {1e15 + 1, 1e15 + 2, 1e15 + 3, 1e15 + 4, 1e15 + 5};
    assert_rel_equal(pythia_ranks_pearson(far, y, 5), 23 / sqrt(10 * 70), 1e-15);
    assert_rel_equal(pythia_ranks_pearson(x, (double[]){7, 7, 7, 7, 7}, 5), NAN, 0);
    assert_rel_equal(pythia_ranks_pearson(x, y, 1), NAN, 0);
    assert_rel_equal(pythia_ranks_pearson(x, (double[]){1, 2, NAN, 4, 5}, 5), NAN, 0);
}

/* R's PlantGrowth: dried weight of plants under a control and two treatments, 10 each. */
static const double plant_growth[] = {4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14,
                                      4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69,
                                      6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26};

/* R's airquality: Ozone of May to September without the missing days. */
static const double ozone[] = {
    41,  36, 12, 18, 28,  23,  19,  8,  7,   16,  11, 14, 18, 14, 34,
    6,   30, 11, 1,  11,  4,   32,  23, 45,  115, 37, /* 26 */
    29,  71, 39, 23, 21,  37,  20,  12, 13,           /* 9 */
    135, 49, 32, 64, 40,  77,  97,  97, 85,  10,  27, 7,  48, 35, 61,
    79,  63, 16, 80, 108, 20,  52,  82, 50,  64,  59, /* 26 */
    39,  9,  16, 78, 35,  66,  122, 89, 110, 44,  28, 65, 22, 59, 23,
    31,  44, 21, 9,  45,  168, 73,  76, 118, 84,  85, /* 26 */
    96,  78, 73, 91, 47,  32,  20,  23, 21,  24,  44, 21, 28, 9,  13,
    46,  18, 13, 24, 16,  13,  23,  36, 7,   14,  30, 14, 18, 20 /* 29 */};

static void kruskal_and_wallis_get_the_published_values(void **state)
{
    uint32_t group[200];
    struct pythia_test_result t;
    for (uint32_t i = 0; i < 30; i++)
        group[i] = i < 10 ? 0 : i < 20 ? 3 : 1; /* groups 2 and 4 are empty */
    assert_int_equal(pythia_ranks_kruskal_wallis(plant_growth, group, 30, 5, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 7.9882287, 1e-8);
    assert_rel_equal(t.df1, 2, 0);
    assert_rel_equal(t.df2, NAN, 0);
    assert_rel_equal(t.p, .01842376, 1e-6);
    assert_rel_equal(t.effect, 7.9882287 / 29, 1e-8);
    const size_t ends[] = {26, 35, 61, 87, 116};
    for (size_t i = 0, month = 0; i < 116; i++) {
        month += i == ends[month];
        group[i] = (uint32_t)month;
    }
    assert_int_equal(pythia_ranks_kruskal_wallis(ozone, group, 116, 5, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 29.266576, 1e-7);
    assert_rel_equal(t.df1, 4, 0);
    assert_rel_equal(t.p, 6.900714e-06, 1e-6);
    assert_int_equal(pythia_ranks_kruskal_wallis(ozone, group, 20, 5, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, NAN, 0); /* one group */
    assert_int_equal(
        pythia_ranks_kruskal_wallis((double[]){4, 4, 4}, (uint32_t[]){0, 1, 1}, 3, 2, &t),
        PYTHIA_OK);
    assert_rel_equal(t.p, NAN, 0); /* all equal */
    assert_int_equal(
        pythia_ranks_kruskal_wallis((double[]){4, NAN, 5}, (uint32_t[]){0, 1, 1}, 3, 2, &t),
        PYTHIA_OK);
    assert_rel_equal(t.p, NAN, 0);
}

static void two_samples_of_one_law_are_told_from_two_laws(void **state)
{
    /* By hand: F steps to 1 at 3, where G is at 1/4. */
    struct pythia_test_result t;
    const double x[] = {3, 1, 2}, y[] = {6, 2, 5, 4};
    assert_int_equal(pythia_ranks_kolmogorov_smirnov(x, 3, y, 4, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, .75, 1e-15);
    assert_rel_equal(t.effect, .75, 1e-15);
    assert_int_equal(pythia_ranks_kolmogorov_smirnov(y, 4, y, 4, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 0, 0);
    assert_rel_equal(t.p, 1, 0);
    const double tied[] = {2, 1, 2, 1, 2, 2};
    assert_int_equal(pythia_ranks_kolmogorov_smirnov(tied, 6, tied, 6, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, 0, 0);
    assert_int_equal(pythia_ranks_kolmogorov_smirnov(x, 0, y, 4, &t), PYTHIA_OK);
    assert_rel_equal(t.p, NAN, 0);
    assert_int_equal(pythia_ranks_kolmogorov_smirnov((double[]){NAN}, 1, y, 4, &t), PYTHIA_OK);
    assert_rel_equal(t.statistic, NAN, 0);
}

/* Both forms of the limit law's series against Smirnov's table, by samples made for each lambda. */
static void the_limit_law_agrees_with_its_table(void **state)
{
    const struct {
        size_t n, distance; /* of the two samples of n values: D = distance / n */
        double lambda, law;
    } rows[] = {
        {98, 7, .5, .036055},   /* .5 = 7 / 98 * sqrt(49) */
        {50, 7, .7, .288765},   /* 7 / 50 * 5 */
        {50, 10, 1, .730000},   /* 10 / 50 * 5 */
        {50, 12, 1.2, .887750}, /* 12 / 50 * 5 */
        {50, 15, 1.5, .977782}, /* 15 / 50 * 5 */
        {50, 20, 2, .999329},   /* 20 / 50 * 5 */
    };
    double x[98], y[98];
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        for (size_t i = 0; i < rows[row].n; i++) {
            x[i] = (double)i;
            y[i] = (double)(i + rows[row].distance);
        }
        struct pythia_test_result t;
        assert_int_equal(pythia_ranks_kolmogorov_smirnov(x, rows[row].n, y, rows[row].n, &t),
                         PYTHIA_OK);
        assert_rel_equal(t.statistic * sqrt((double)rows[row].n / 2), rows[row].lambda, 1e-12);
        assert_true(fabs(1 - t.p - rows[row].law) < 1e-6);
    }
}

static void failures_leave_out_untouched(void **state)
{
    const double x[] = {3, 1, 2, 5}, y[] = {1, 2, 3, 4};
    const uint32_t group[] = {0, 0, 1, 1};
    double out = -7, ranks[4] = {-7};
    size_t order[4] = {77};
    struct pythia_test_result t = {.p = -7};
    for (long left = 0; left < 4; left++) {
        int failed = 0;
        pythia_mem_fail_after(left);
        failed += left < 1 && pythia_ranks_median(x, 4, &out) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        failed += left < 1 && pythia_ranks_mad(x, 4, &out) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        failed += left < 1 && pythia_ranks_iqr(x, 4, &out) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        failed += left < 1 && pythia_ranks_order(x, 4, order) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        failed += left < 2 && pythia_ranks_mid(x, 4, ranks) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        failed += left < 4 && pythia_ranks_spearman(x, y, 4, &out) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        failed += left < 4 && pythia_ranks_kruskal_wallis(x, group, 4, 2, &t) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(left);
        failed += left < 2 && pythia_ranks_kolmogorov_smirnov(x, 4, y, 4, &t) == PYTHIA_ENOMEM;
        pythia_mem_fail_after(-1);
        assert_int_equal(failed, left < 1 ? 8 : left < 2 ? 4 : 2);
    }
    assert_rel_equal(out, -7, 0);
    assert_rel_equal(ranks[0], -7, 0);
    assert_int_equal(order[0], 77);
    assert_rel_equal(t.p, -7, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_puts_nan_last),
        cmocka_unit_test(quantiles_are_of_type_7),
        cmocka_unit_test(percentiles_are_values_that_were_seen),
        cmocka_unit_test(old_faithful_has_the_published_spread),
        cmocka_unit_test(equal_values_share_their_mean_rank),
        cmocka_unit_test(correlations_match_hand_computation),
        cmocka_unit_test(kruskal_and_wallis_get_the_published_values),
        cmocka_unit_test(two_samples_of_one_law_are_told_from_two_laws),
        cmocka_unit_test(the_limit_law_agrees_with_its_table),
        cmocka_unit_test(failures_leave_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
