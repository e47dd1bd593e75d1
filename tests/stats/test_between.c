#include "check.h"
#include "pythia/between.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

static struct pythia_between between(const double *x, const uint32_t *part, size_t n, size_t parts)
{
    struct pythia_between b;
    assert_int_equal(pythia_between(x, part, n, parts, .95, &b), PYTHIA_OK);
    return b;
}

/* Two parts of 3: means 2 and 6 around 4, so 6 * 4 = 24 lie between and 2 + 2 = 4 within. */
static void the_share_is_what_lies_between(void **state)
{
    const double x[] = {1, 5, 2, 6, 3, 7};
    const uint32_t part[] = {0, 3, 0, 3, 0, 3}; /* 1 and 2 are empty */
    struct pythia_between b = between(x, part, 6, 4);
    assert_rel_equal(b.share, 24 / 28., 1e-14);
    assert_true(b.low < b.share && b.share < b.high && b.low > 0 && b.high < 1);
}

/* The same by hand: r = -1, 0, 1 in each part, times 1 / (1 - 1/3) = 1.5; a = -3, -2, -1, 1, 2, 3;
 * u = (a^2 / 7 - r^2) / (28 / 6). t of 4 degrees of freedom at .975 is 2.776445. */
static void the_interval_is_that_of_the_influence_function(void **state)
{
    const double x[] = {1, 2, 3, 5, 6, 7};
    const uint32_t part[] = {0, 0, 0, 1, 1, 1};
    struct pythia_between b = between(x, part, 6, 2);
    double u[] = {9 / 7. - 2.25, 4 / 7., 1 / 7. - 2.25}, sum = 0, s = 24 / 28.;
    for (int i = 0; i < 3; i++)
        sum += 2 * u[i] * u[i] * 36 / (28. * 28);
    double width = 2.7764451051977934 * sqrt(sum) / 6 / (s * (1 - s)), centre = log(6);
    assert_rel_equal(b.low, exp(centre - width) / (1 + exp(centre - width)), 1e-9);
    assert_rel_equal(b.high, exp(centre + width) / (1 + exp(centre + width)), 1e-9);
}

/* PlantGrowth of R (Dobson 1983): eta squared .2641482968. */
static void the_share_is_eta_squared(void **state)
{
    const double x[] = {4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14,
                        4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69,
                        6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26};
    uint32_t part[30];
    for (size_t i = 0; i < 30; i++)
        part[i] = (uint32_t)(i / 10);
    struct pythia_between b = between(x, part, 30, 3);
    assert_rel_equal(b.share, .2641482968, 1e-9);
    assert_true(b.low > 0 && b.low < b.share && b.high > b.share);
}

static void the_undefined_is_nan(void **state)
{
    const double x[] = {1, 1, 2, 2}, same[] = {3, 3, 3, 3}, level[] = {1, 3, 1, 3};
    const uint32_t part[] = {0, 0, 1, 1}, one[] = {1, 1, 1, 1}, own[] = {0, 1, 2, 3};
    struct pythia_between b = between(x, one, 4, 2);
    assert_true(isnan(b.share) && isnan(b.low) && isnan(b.high)); /* one part */
    b = between(same, part, 4, 2);
    assert_true(isnan(b.share) && isnan(b.low)); /* no variance */
    b = between(x, part, 4, 2);
    assert_rel_equal(b.share, 1, 0); /* all of it, and certain */
    assert_rel_equal(b.low, 1, 0);
    assert_rel_equal(b.high, 1, 0);
    b = between(level, part, 4, 2);
    assert_rel_equal(b.share, 0, 0);
    assert_true(isnan(b.low) && isnan(b.high));
    b = between(x, own, 4, 4);
    assert_rel_equal(b.share, 1, 0); /* nothing can be said of parts of one value */
    assert_true(isnan(b.low) && isnan(b.high));
    b = between(x, part, 0, 2);
    assert_true(isnan(b.share));
}

/* Of normal values in two parts: the interval holds the true share in about .95 of samples. */
static void intervals_hold_the_truth(void **state)
{
    static const struct {
        size_t n;
        double shift, part;
    } laws[] = {{60, 1, .5}, {100, 3, .5}, {100, 3, .1}, {300, 1, .1}};
    for (size_t k = 0; k < sizeof(laws) / sizeof(laws[0]); k++) {
        double q = laws[k].part * (1 - laws[k].part) * laws[k].shift * laws[k].shift;
        double truth = q / (1 + q), x[300];
        uint32_t part[300];
        size_t held = 0, samples = 1000;
        struct pythia_random r;
        pythia_random_init(&r, 11 + k);
        for (size_t s = 0; s < samples; s++) {
            for (size_t i = 0; i < laws[k].n; i++) {
                part[i] = pythia_random_unit(&r) < laws[k].part;
                x[i] = pythia_random_normal(&r) + laws[k].shift * part[i];
            }
            struct pythia_between b = between(x, part, laws[k].n, 2);
            held += b.low <= truth && truth <= b.high;
        }
        assert_in_range(held, 920, 980);
    }
}

static void memory_that_is_missing_is_told(void **state)
{
    struct pythia_between b = {.share = 7};
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_between((double[]){1, 2}, (uint32_t[]){0, 1}, 2, 2, .95, &b),
                     PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_rel_equal(b.share, 7, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_what_lies_between),
        cmocka_unit_test(the_interval_is_that_of_the_influence_function),
        cmocka_unit_test(the_share_is_eta_squared),
        cmocka_unit_test(the_undefined_is_nan),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(memory_that_is_missing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
