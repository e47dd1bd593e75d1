#include <math.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/saturation.h"
#include "pythia/status.h"

enum { N = 1000 };

static struct pythia_saturation look(const double *values, size_t n)
{
    struct pythia_saturation s;
    assert_int_equal(pythia_saturation_look(values, n, NAN, &s), PYTHIA_OK);
    return s;
}

/* 0 to 9 over and over, cut at 5: of 1000 values 500 are at 5, in 100 bursts of 5, and 100 each are
 * 0, 1, 2, 3 and 4. */
static void a_pile_at_the_maximum_is_a_limit(void **state)
{
    double values[N];
    for (size_t i = 0; i < N; i++)
        values[i] = fmin((double)(i % 10), 5);
    struct pythia_saturation s = look(values, N);
    assert_true(s.saturated);
    assert_rel_equal(s.limit, 5, 0);
    assert_rel_equal(s.share, .5, 0);
    assert_int_equal(s.at_limit, 500);
    assert_int_equal(s.bursts, 100);
    assert_int_equal(s.longest, 5);
    assert_true(fabs(s.trend) < .02);
}

static void what_rises_has_a_trend(void **state)
{
    double values[N];
    for (size_t i = 0; i < N; i++)
        values[i] = (double)i;
    struct pythia_saturation s = look(values, N);
    assert_false(s.saturated);
    assert_rel_equal(s.trend, 1, 1e-12);
}

static void each_condition_is_needed(void **state)
{
    double values[N];
    for (size_t i = 0; i < N; i++) /* a switch */
        values[i] = i % 3 ? 1 : 0;
    assert_false(look(values, N).saturated);
    for (size_t i = 0; i < N; i++) /* one long visit, of half of the time */
        values[i] = i < N / 2 ? 20 : (double)(i % 10);
    assert_false(look(values, N).saturated);
    for (size_t i = 0; i < N; i++) /* 4 in a hundred */
        values[i] = i % 100 < 4 ? 20 : (double)(i % 10);
    assert_false(look(values, N).saturated);
    for (size_t i = 0; i < N; i++) /* all values as frequent as the others */
        values[i] = (double)(i % 10);
    assert_false(look(values, N).saturated);
    for (size_t i = 0; i < N; i++)
        values[i] = 7;
    struct pythia_saturation s = look(values, N);
    assert_false(s.saturated);
    assert_rel_equal(s.trend, NAN, 0);
    for (size_t i = 0; i < N; i++)
        values[i] = fmin((double)(i % 10), 5);
    assert_false(look(values, PYTHIA_SATURATION_MIN - 1).saturated);
    assert_true(look(values, PYTHIA_SATURATION_MIN).saturated);
    assert_false(look(values, 0).saturated);
}

/* Values of a stationary series of one of five kinds, each with another seed. */
static void fill_series(double *values, size_t n, unsigned kind, uint64_t seed)
{
    struct pythia_random r;
    double level = 0;
    pythia_random_init(&r, seed);
    for (size_t i = 0; i < n; i++) {
        double unit = pythia_random_unit(&r);
        level = .95 * level + pythia_random_normal(&r);
        double kinds[] = {
            pythia_random_normal(&r),                     /* noise */
            rint(level),                                  /* a queue that changes slowly */
            (double)pythia_random_below(&r, 17),          /* 0 to 16, equally often */
            floor(-4 * log(1 - unit)),                    /* a geometric length */
            floor(exp(1 + .7 * pythia_random_normal(&r))) /* a skewed one */
        };
        values[i] = kinds[kind];
    }
}

static void stationary_series_are_not_saturated(void **state)
{
    double values[N];
    size_t saturated = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        fill_series(values, N, (unsigned)(seed % 5), seed);
        saturated += look(values, N).saturated;
    }
    assert_int_equal(saturated, 0); /* of 20, one would be too many by chance */
}

/* A queue that changes slowly, cut at its mean: about half of the values are at the limit. */
static void a_limit_in_noise_is_found(void **state)
{
    double values[N];
    for (uint64_t seed = 0; seed < 100; seed++) {
        fill_series(values, N, 1, seed);
        for (size_t i = 0; i < N; i++)
            values[i] = fmin(values[i], 0);
        assert_true(look(values, N).saturated);
    }
}

/* 0 to 9 over and over: a tenth is 9, and three tenths are 7 and more. */
static void a_given_limit_needs_no_pile(void **state)
{
    double values[N];
    struct pythia_saturation s;
    for (size_t i = 0; i < N; i++)
        values[i] = (double)(i % 10);
    assert_int_equal(pythia_saturation_look(values, N, 7, &s), PYTHIA_OK);
    assert_true(s.saturated);
    assert_rel_equal(s.limit, 7, 0);
    assert_rel_equal(s.share, .3, 1e-15);
    assert_int_equal(s.bursts, 100);
    assert_int_equal(s.longest, 3);
    assert_int_equal(pythia_saturation_look(values, N, 9.5, &s), PYTHIA_OK);
    assert_false(s.saturated);
    assert_int_equal(s.at_limit, 0);
}

static void missing_memory_leaves_out_untouched(void **state)
{
    struct pythia_saturation s, before;
    double values[200] = {0};
    memset(&s, 1, sizeof(s));
    before = s;
    for (long n = 0; n < 2; n++) {
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_saturation_look(values, 200, NAN, &s), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_memory_equal(&s, &before, sizeof(s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pile_at_the_maximum_is_a_limit),
        cmocka_unit_test(what_rises_has_a_trend),
        cmocka_unit_test(each_condition_is_needed),
        cmocka_unit_test(stationary_series_are_not_saturated),
        cmocka_unit_test(a_limit_in_noise_is_found),
        cmocka_unit_test(a_given_limit_needs_no_pile),
        cmocka_unit_test(missing_memory_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
