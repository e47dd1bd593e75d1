#include <math.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/within.h"

static struct pythia_within largest(const double *samples, const uint32_t *group, size_t n,
                                    uint32_t groups, size_t deals)
{
    struct pythia_within w;
    assert_int_equal(pythia_within_largest(samples, group, n, groups, deals, 1, &w), PYTHIA_OK);
    return w;
}

/* Sums of squares about the means 2, 15 and 8 by hand: 2, 50 and 0. */
static void the_share_is_that_of_the_group_that_varies_most(void **state)
{
    const double x[] = {1, 10, 2, 20, 3, 8, 8};
    const uint32_t group[] = {0, 1, 0, 1, 0, 2, 2};
    struct pythia_within w = largest(x, group, 7, 3, 0);
    assert_int_equal(w.group, 1);
    assert_rel_equal(w.share, 50 / 52., 1e-12);
    assert_rel_equal(w.p, 1, 0); /* of the real deal alone */
}

/* Two groups of two. The six deals of 0, 0, 0, 1 all have the outlier in one group: p is 1. Of
 * those of 0, 0, 5, 6 two have the share 1 ({5, 6} together), and four 36 / (25 + 36) = .59. */
static void chance_is_counted_by_dealing_again(void **state)
{
    const double outlier[] = {0, 0, 0, 1}, x[] = {0, 0, 5, 6};
    const uint32_t together[] = {0, 0, 1, 1}, apart[] = {0, 1, 0, 1};
    assert_rel_equal(largest(outlier, together, 4, 2, 500).p, 1, 0);
    assert_rel_equal(largest(x, apart, 4, 2, 500).p, 1, 0);
    assert_rel_equal(largest(x, apart, 4, 2, 0).share, 36 / 61., 1e-12);
    struct pythia_within w = largest(x, together, 4, 2, 20000);
    assert_rel_equal(w.share, 1, 0);
    assert_true(fabs(w.p - 1 / 3.) < .02); /* 6 standard errors of 20000 deals */
}

static void nothing_that_varies_has_no_share(void **state)
{
    const double x[] = {1, 1, 7};
    const uint32_t group[] = {0, 0, 1};
    struct pythia_within w = largest(x, group, 3, 2, 10);
    assert_true(isnan(w.share) && isnan(w.p));
    w = largest(x, group, 0, 0, 10);
    assert_true(isnan(w.share));
}

/* Of samples that know nothing of groups, p is at most .01 in one of a hundred: of 2000 trials 20
 * are expected, and more than 41 with a probability below 1e-5 (binomial). Heavy tails change
 * nothing. */
static void p_is_as_small_by_chance_as_it_says(void **state)
{
    struct pythia_random random;
    pythia_random_init(&random, 7);
    int small = 0;
    for (int trial = 0; trial < 2000; trial++) {
        double x[80];
        uint32_t group[80];
        for (int i = 0; i < 80; i++) {
            x[i] = exp(2 * pythia_random_normal(&random));
            group[i] = (uint32_t)pythia_random_below(&random, 8);
        }
        struct pythia_within w;
        assert_int_equal(pythia_within_largest(x, group, 80, 8, 199, (uint64_t)trial, &w),
                         PYTHIA_OK);
        small += w.p <= .01;
    }
    assert_in_range(small, 3, 41);
}

static void without_memory_nothing_is_said(void **state)
{
    const double x[] = {1, 2};
    const uint32_t group[] = {0, 1};
    struct pythia_within w = {.group = 77};
    for (long n = 0; n < 2; n++) {
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_within_largest(x, group, 2, 2, 1, 1, &w), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_int_equal(w.group, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_that_of_the_group_that_varies_most),
        cmocka_unit_test(chance_is_counted_by_dealing_again),
        cmocka_unit_test(nothing_that_varies_has_no_share),
        cmocka_unit_test(p_is_as_small_by_chance_as_it_says),
        cmocka_unit_test(without_memory_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
