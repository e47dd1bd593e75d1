#include <string.h>

#include "check.h"
#include "pythia/cca.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "sample_file.h"

#define ROWS     600
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Columns first .. first + count - 1 of a row-major table. */
static void take_columns(const double *table, size_t rows, size_t width, size_t first, size_t count,
                         double *out)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < count; j++)
            out[i * count + j] = table[i * width + first + j];
}

/* Fit the first p columns of a file against the next q. */
static struct pythia_cca *fit_file(const char *name, size_t p, size_t q,
                                   struct pythia_cca_result *r)
{
    static double table[ROWS * 6], x[ROWS * 3], y[ROWS * 3];
    size_t rows = read_sample(name, table, COUNT(table)) / (p + q);
    struct pythia_cca *c = NULL;
    take_columns(table, rows, p + q, 0, p, x);
    take_columns(table, rows, p + q, p, q, y);
    assert_int_equal(pythia_cca_create(rows, p, q, &c), PYTHIA_OK);
    assert_int_equal(pythia_cca_fit(c, x, p, y, q, rows, r), PYTHIA_OK);
    return c;
}

struct expected_root {
    double lambda, f, df1, df2, p; /* p 0: below what the source prints */
};

static void check_root(const struct pythia_cca_result *r, size_t n, size_t root,
                       struct expected_root expected, double tolerance)
{
    struct pythia_cca_root t;
    pythia_cca_test_root(r->r, r->count, n, r->rank_x, r->rank_y, root, &t);
    assert_rel_equal(t.wilks.value, expected.lambda, tolerance);
    assert_rel_equal(t.wilks.f, expected.f, tolerance * 100);
    assert_rel_equal(t.wilks.df1, expected.df1, 0);
    assert_rel_equal(t.wilks.df2, expected.df2, 1e-5);
    if (expected.p > 0)
        assert_rel_equal(t.wilks.p, expected.p, tolerance * 1e4);
}

/* R 4.2.2's cancor on the data of Belsley, Kuh and Welsch, "Regression Diagnostics", 1980. */
static void savings_match_cancor(void **state)
{
    struct pythia_cca_result r;
    struct pythia_cca *c = fit_file("lifecyclesavings.csv", 2, 3, &r);
    assert_int_equal(r.count, 2);
    assert_rel_equal(r.r[0], 0.824796611247417, 1e-10);
    assert_rel_equal(r.r[1], 0.365276151485138, 1e-10);
    check_root(&r, 50, 0, (struct expected_root){0.2770526370, 13.497720, 6, 90, 7.3003e-11}, 1e-9);
    check_root(&r, 50, 1, (struct expected_root){0.8665733332, 3.541320, 2, 46, 0.0371127}, 1e-9);
    struct pythia_cca_root t;
    pythia_cca_test_root(r.r, 2, 50, 2, 3, 0, &t);
    assert_rel_equal(t.chi_squared, 59.043197, 1e-7);
    assert_rel_equal(t.chi_squared_df, 6, 0);
    assert_rel_equal(t.chi_squared_p, 7.0402e-11, 1e-4);
    pythia_cca_test_root(r.r, 2, 50, 2, 3, 1, &t);
    assert_rel_equal(t.chi_squared, 6.587593, 1e-6);
    assert_rel_equal(t.chi_squared_df, 2, 0);
    /* The sign of a variate is ours: pop15, the largest loading of x, is positive. */
    double sign = r.x_coefficients[0] < 0 ? 1 : -1;
    static const double y[] = {0.008471022137, 0.000130739802, 0.004170599998};
    assert_true(r.x_loadings[0] > 0);
    assert_rel_equal(sign * r.x_coefficients[0], -0.009110856229, 1e-9);
    assert_rel_equal(sign * r.x_coefficients[2], 0.048647513750, 1e-9);
    for (size_t j = 0; j < 3; j++)
        assert_rel_equal(sign * r.y_coefficients[2 * j], y[j], 1e-8);
    pythia_cca_destroy(c);
}

/* SAS/STAT, PROC CANCORR, the fitness club of A. C. Linnerud. */
static void the_fitness_club_matches_cancorr(void **state)
{
    struct pythia_cca_result r;
    struct pythia_cca *c = fit_file("linnerud.csv", 3, 3, &r);
    assert_rel_equal(r.r[0], 0.795608154419992, 1e-10);
    assert_rel_equal(r.r[1], 0.200556041107123, 1e-10);
    assert_rel_equal(r.r[2], 0.072570286210366, 1e-10);
    check_root(&r, 20, 0, (struct expected_root){0.35039053, 2.0482, 9, 34.2229, .06353094}, 2e-7);
    check_root(&r, 20, 1, (struct expected_root){0.95472266, 0.1758, 4, 30, .94912}, 3e-6);
    check_root(&r, 20, 2, (struct expected_root){0.99473355, 0.0847, 1, 16, .77475}, 4e-6);
    pythia_cca_destroy(c);
}

static void heads_and_irises_match_cancor(void **state)
{
    struct pythia_cca_result r;
    struct pythia_cca *c = fit_file("frets.csv", 2, 2, &r);
    assert_rel_equal(r.r[0], 0.788507916294635, 1e-10);
    assert_rel_equal(r.r[1], 0.053739704424277, 1e-10);
    check_root(&r, 25, 0, (struct expected_root){.3771628814, 6.597193, 4, 42, .00032564578}, 1e-8);
    check_root(&r, 25, 1, (struct expected_root){.9971120442, .063719, 1, 22, .80305501}, 1e-7);
    struct pythia_cca_root t;
    pythia_cca_test_root(r.r, 2, 25, 2, 2, 0, &t);
    assert_rel_equal(t.chi_squared, 20.964180, 1e-7);
    assert_rel_equal(t.chi_squared_df, 4, 0);
    pythia_cca_destroy(c);

    c = fit_file("iris4.csv", 2, 2, &r);
    assert_rel_equal(r.r[0], 0.940968996975749, 1e-10);
    assert_rel_equal(r.r[1], 0.123936881205404, 1e-10);
    check_root(&r, 150, 0, (struct expected_root){.1128173985, 144.337576, 4, 292, 0}, 1e-9);
    check_root(&r, 150, 1, (struct expected_root){.9846396495, 2.293196, 1, 147, .13208932}, 1e-8);
    pythia_cca_destroy(c);
}

/* One column of y and the indicators of groups: r squared is the eta squared of the analysis of
 * variance. R's PlantGrowth and InsectSprays, whose eta squared R gives. */
static void one_hot_groups_give_eta_squared(void **state)
{
    static const double plants[] = {4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14,
                                    4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69,
                                    6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26};
    static const double sprays[] = {10, 7,  20, 14, 14, 12, 10, 23, 17, 20, 14, 13, 11, 17, 21,
                                    11, 16, 14, 17, 17, 19, 21, 7,  13, 0,  1,  7,  2,  3,  1,
                                    2,  1,  3,  0,  1,  4,  3,  5,  12, 6,  4,  3,  5,  5,  5,
                                    5,  2,  4,  3,  5,  3,  5,  3,  6,  1,  1,  3,  2,  6,  4,
                                    11, 9,  15, 22, 15, 16, 13, 10, 26, 26, 24, 13};
    static const struct {
        const double *y;
        size_t n, groups;
        double eta_squared;
    } sets[] = {{plants, 30, 3, .2641482968}, {sprays, 72, 6, .7244390156}};
    for (size_t s = 0; s < 2; s++) {
        double x[72 * 6] = {0};
        size_t n = sets[s].n, groups = sets[s].groups;
        struct pythia_cca *c = NULL;
        struct pythia_cca_result r;
        for (size_t i = 0; i < n; i++)
            x[i * groups + i / (n / groups)] = 1;
        assert_int_equal(pythia_cca_create(n, groups, 1, &c), PYTHIA_OK);
        assert_int_equal(pythia_cca_fit(c, x, groups, sets[s].y, 1, n, &r), PYTHIA_OK);
        assert_int_equal(r.rank_x, groups - 1); /* all indicators: one follows from the others */
        assert_int_equal(r.count, 1);
        assert_rel_equal(r.r[0] * r.r[0], sets[s].eta_squared, 1e-9);
        pythia_cca_destroy(c);
    }
}

static void fill(struct pythia_random *random, double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = pythia_random_normal(random);
}

static void linear_maps_of_either_side_do_not_matter(void **state)
{
    enum { N = 40 };
    struct pythia_random random;
    double x[N * 3], y[N * 2], moved_x[N * 3], moved_y[N * 2];
    pythia_random_init(&random, 3);
    fill(&random, x, COUNT(x));
    fill(&random, y, COUNT(y));
    for (size_t i = 0; i < N; i++) {
        const double *row = x + 3 * i;
        y[2 * i] += row[0];
        moved_x[3 * i] = 1e6 + 2 * row[0] - row[1];
        moved_x[3 * i + 1] = -3e-5 * row[2];
        moved_x[3 * i + 2] = row[0] + row[1] + row[2];
        moved_y[2 * i] = y[2 * i] - 4 * y[2 * i + 1];
        moved_y[2 * i + 1] = 1e9 * y[2 * i + 1] - 7;
    }
    struct pythia_cca *c = NULL;
    struct pythia_cca_result r;
    double before[2];
    assert_int_equal(pythia_cca_create(N, 3, 2, &c), PYTHIA_OK);
    assert_int_equal(pythia_cca_fit(c, x, 3, y, 2, N, &r), PYTHIA_OK);
    memcpy(before, r.r, sizeof(before));
    assert_int_equal(pythia_cca_fit(c, moved_x, 3, moved_y, 2, N, &r), PYTHIA_OK);
    assert_rel_equal(r.r[0], before[0], 1e-9);
    assert_rel_equal(r.r[1], before[1], 1e-9);
    assert_int_equal(pythia_cca_fit(c, moved_y, 2, moved_x, 3, N, &r), PYTHIA_EINVAL); /* 3 > 2 */
    pythia_cca_destroy(c);
}

/* Variates rebuilt from the coefficients have unit length, are orthogonal, and correlate by r with
 * each other and by the loadings with the columns. */
static void coefficients_and_loadings_belong_to_the_variates(void **state)
{
    enum { N = 30, P = 3, Q = 2 };
    struct pythia_random random;
    double x[N * P], y[N * Q], u[N][2] = {{0}}, v[N][2] = {{0}};
    pythia_random_init(&random, 4);
    fill(&random, x, COUNT(x));
    fill(&random, y, COUNT(y));
    struct pythia_cca *c = NULL;
    struct pythia_cca_result r;
    assert_int_equal(pythia_cca_create(N, P, Q, &c), PYTHIA_OK);
    assert_int_equal(pythia_cca_fit(c, x, P, y, Q, N, &r), PYTHIA_OK);
    double mean_x[P] = {0}, mean_y[Q] = {0};
    for (size_t i = 0; i < COUNT(x); i++)
        mean_x[i % P] += x[i] / N;
    for (size_t i = 0; i < COUNT(y); i++)
        mean_y[i % Q] += y[i] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 2; k++) {
            for (size_t j = 0; j < P; j++)
                u[i][k] += (x[i * P + j] - mean_x[j]) * r.x_coefficients[j * 2 + k];
            for (size_t j = 0; j < Q; j++)
                v[i][k] += (y[i * Q + j] - mean_y[j]) * r.y_coefficients[j * 2 + k];
        }
    double uu = 0, ud = 0, vv = 0, uv = 0, loading = 0, length = 0;
    for (size_t i = 0; i < N; i++) {
        uu += u[i][0] * u[i][0];
        ud += u[i][0] * u[i][1];
        vv += v[i][1] * v[i][1];
        uv += u[i][0] * v[i][0];
        loading += v[i][0] * (y[i * Q + 1] - mean_y[1]);
        length += (y[i * Q + 1] - mean_y[1]) * (y[i * Q + 1] - mean_y[1]);
    }
    assert_rel_equal(uu, 1, 1e-12);
    assert_true(fabs(ud) < 1e-12);
    assert_rel_equal(vv, 1, 1e-12);
    assert_rel_equal(uv, r.r[0], 1e-12);
    assert_rel_equal(loading / sqrt(length), r.y_loadings[2], 1e-12);
    pythia_cca_destroy(c);
}

static void constant_and_collinear_columns_change_nothing(void **state)
{
    enum { N = 25 };
    struct pythia_random random;
    double x[N * 4], y[N * 3], plain_x[N], plain_y[N];
    pythia_random_init(&random, 5);
    for (size_t i = 0; i < N; i++) {
        double z = pythia_random_normal(&random);
        plain_x[i] = z;
        plain_y[i] = z + pythia_random_normal(&random);
        x[4 * i] = 17;
        x[4 * i + 1] = z;
        x[4 * i + 2] = 3 * z + 0.1;
        x[4 * i + 3] = 0;
        y[3 * i] = plain_y[i];
        y[3 * i + 1] = -1e9 * plain_y[i];
        y[3 * i + 2] = 1e18;
    }
    struct pythia_cca *c = NULL;
    struct pythia_cca_result r;
    assert_int_equal(pythia_cca_create(N, 4, 3, &c), PYTHIA_OK);
    assert_int_equal(pythia_cca_fit(c, plain_x, 1, plain_y, 1, N, &r), PYTHIA_OK);
    double plain = r.r[0];
    assert_int_equal(pythia_cca_fit(c, x, 4, y, 3, N, &r), PYTHIA_OK);
    assert_int_equal(r.rank_x, 1);
    assert_int_equal(r.rank_y, 1);
    assert_int_equal(r.count, 1);
    assert_rel_equal(r.r[0], plain, 1e-12);
    assert_rel_equal(r.x_loadings[0], 0, 0); /* constant */
    assert_rel_equal(r.x_loadings[1], 1, 1e-12);
    assert_rel_equal(r.x_loadings[2], 1, 1e-12);
    assert_rel_equal(r.y_loadings[0], 1, 1e-12);
    assert_rel_equal(r.y_loadings[1], -1, 1e-12);
    for (size_t j = 0; j < 4; j++)
        assert_true(isfinite(r.x_coefficients[j]));
    /* Nothing varies on one side: no correlation, and no test. A mean that is not exact is no
     * variance either. */
    for (size_t n = 5; n <= N; n++) {
        for (size_t i = 0; i < n; i++)
            plain_x[i] = 0.1 * (double)n;
        assert_int_equal(pythia_cca_fit(c, plain_x, 1, y, 3, n, &r), PYTHIA_OK);
        assert_int_equal(r.rank_x, 0);
    }
    assert_int_equal(pythia_cca_fit(c, plain_x, 1, y, 3, N, &r), PYTHIA_OK);
    assert_int_equal(r.count, 0);
    pythia_cca_destroy(c);
}

static void a_perfect_fit_and_too_few_rows_have_no_nan_correlations(void **state)
{
    const double x[] = {1, 2, 4, 8, 16, 31}, y[] = {2, 4, 8, 16, 32, 62};
    struct pythia_cca *c = NULL;
    struct pythia_cca_result r;
    struct pythia_cca_root t;
    assert_int_equal(pythia_cca_create(6, 3, 3, &c), PYTHIA_OK);
    assert_int_equal(pythia_cca_fit(c, x, 1, y, 1, 6, &r), PYTHIA_OK);
    assert_rel_equal(r.r[0], 1, 1e-14);
    pythia_cca_test_root((double[]){1}, 1, 6, 1, 1, 0, &t);
    assert_rel_equal(t.wilks.value, 0, 0);
    assert_rel_equal(t.wilks.p, 0, 0);
    assert_rel_equal(t.chi_squared_p, 0, 0);
    /* Two rows and three columns: one direction, and no degrees of freedom left to test it with. */
    assert_int_equal(pythia_cca_fit(c, x, 3, y, 3, 2, &r), PYTHIA_OK);
    assert_int_equal(r.rank_x, 1);
    assert_rel_equal(r.r[0], 1, 1e-14);
    pythia_cca_test_root(r.r, 1, 2, 1, 1, 0, &t);
    assert_rel_equal(t.wilks.p, NAN, 0);
    const double bad[] = {1, NAN, 3};
    assert_int_equal(pythia_cca_fit(c, bad, 1, y, 1, 3, &r), PYTHIA_EINVAL);
    const double infinite[] = {1, 2, INFINITY};
    assert_int_equal(pythia_cca_fit(c, x, 1, infinite, 1, 3, &r), PYTHIA_EINVAL);
    pythia_cca_destroy(c);
}

/* Under independence, p is uniform: 2000 samples of 2 x 3 columns, four standard errors. */
static void p_is_uniform_under_independence(void **state)
{
    enum { N = 30, SAMPLES = 2000 };
    struct pythia_random random;
    double x[N * 2], y[N * 3];
    size_t below = 0, half = 0;
    struct pythia_cca *c = NULL;
    pythia_random_init(&random, 6);
    assert_int_equal(pythia_cca_create(N, 2, 3, &c), PYTHIA_OK);
    for (size_t s = 0; s < SAMPLES; s++) {
        struct pythia_cca_result r;
        struct pythia_cca_root t;
        fill(&random, x, COUNT(x));
        fill(&random, y, COUNT(y));
        assert_int_equal(pythia_cca_fit(c, x, 2, y, 3, N, &r), PYTHIA_OK);
        pythia_cca_test_root(r.r, r.count, N, 2, 3, 0, &t);
        below += t.wilks.p <= 0.05;
        half += t.wilks.p <= 0.5;
    }
    assert_true(fabs((double)below / SAMPLES - 0.05) <= 4 * sqrt(0.05 * 0.95 / SAMPLES));
    assert_true(fabs((double)half / SAMPLES - 0.5) <= 4 * sqrt(0.25 / SAMPLES));
    pythia_cca_destroy(c);
}

static void a_failed_create_leaves_out_untouched(void **state)
{
    struct pythia_cca *c = NULL;
    long failures = 0;
    assert_int_equal(pythia_cca_create(0, 1, 1, &c), PYTHIA_EINVAL);
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_cca_create(10, 3, 2, &c);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_null(c);
    }
    assert_true(failures > 2);
    pythia_cca_destroy(c);
    pythia_cca_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(savings_match_cancor),
        cmocka_unit_test(the_fitness_club_matches_cancorr),
        cmocka_unit_test(heads_and_irises_match_cancor),
        cmocka_unit_test(one_hot_groups_give_eta_squared),
        cmocka_unit_test(linear_maps_of_either_side_do_not_matter),
        cmocka_unit_test(coefficients_and_loadings_belong_to_the_variates),
        cmocka_unit_test(constant_and_collinear_columns_change_nothing),
        cmocka_unit_test(a_perfect_fit_and_too_few_rows_have_no_nan_correlations),
        cmocka_unit_test(p_is_uniform_under_independence),
        cmocka_unit_test(a_failed_create_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
