#include <stdlib.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/tdigest.h"

static struct pythia_tdigest *empty(unsigned delta)
{
    struct pythia_tdigest *t = NULL;
    assert_int_equal(pythia_tdigest_create(delta, &t), PYTHIA_OK);
    return t;
}

static void add(struct pythia_tdigest *t, double value)
{
    assert_int_equal(pythia_tdigest_add(t, value), PYTHIA_OK);
}

/* How far the estimate of the quantile q is from it, counted in the share of values below. */
static double error_of(struct pythia_tdigest *t, const double *values, size_t n, double q)
{
    double estimate = pythia_tdigest_quantile(t, q), below = 0;
    for (size_t i = 0; i < n; i++)
        below += values[i] <= estimate;
    return fabs(below / (double)n - q);
}

static void a_million_uniform_values_have_the_claimed_error(void **state)
{
    enum { N = 1000000, PARTS = 8 };
    double *values = calloc(N, sizeof(*values));
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct pythia_tdigest *whole = empty(PYTHIA_TDIGEST_DELTA), *parts[PARTS];
        struct pythia_random r;
        pythia_random_init(&r, seed);
        for (size_t p = 0; p < PARTS; p++)
            parts[p] = empty(PYTHIA_TDIGEST_DELTA);
        for (size_t i = 0; i < N; i++) {
            values[i] = pythia_random_unit(&r);
            add(whole, values[i]);
            add(parts[pythia_random_below(&r, PARTS)], values[i]);
        }
        for (size_t p = 1; p < PARTS; p++)
            pythia_tdigest_merge(parts[0], parts[p]);
        struct pythia_tdigest *both[] = {whole, parts[0]};
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(pythia_tdigest_count(both[i]), N);
            assert_true(error_of(both[i], values, N, .5) < 1e-3);
            assert_true(error_of(both[i], values, N, .001) < 1e-5);
            assert_true(error_of(both[i], values, N, .999) < 1e-5);
        }
        pythia_tdigest_destroy(whole);
        for (size_t p = 0; p < PARTS; p++)
            pythia_tdigest_destroy(parts[p]);
    }
    free(values);
}

static void few_values_are_interpolated_exactly(void **state)
{
    struct pythia_tdigest *t = empty(100);
    assert_rel_equal(pythia_tdigest_quantile(t, .5), NAN, 0);
    add(t, 8);
    assert_rel_equal(pythia_tdigest_quantile(t, 0), 8, 0);
    assert_rel_equal(pythia_tdigest_quantile(t, .7), 8, 0);
    assert_rel_equal(pythia_tdigest_quantile(t, 1), 8, 0);
    add(t, 1);
    add(t, 4);
    add(t, 2); /* 1 2 4 8: as of type 7 */
    assert_rel_equal(pythia_tdigest_quantile(t, 0), 1, 0);
    assert_rel_equal(pythia_tdigest_quantile(t, .5), 3, 1e-15);
    assert_rel_equal(pythia_tdigest_quantile(t, .75), 5, 1e-15);
    assert_rel_equal(pythia_tdigest_quantile(t, 1), 8, 0);
    assert_rel_equal(pythia_tdigest_quantile(t, 1.5), NAN, 0);
    assert_rel_equal(pythia_tdigest_quantile(t, NAN), NAN, 0);
    assert_int_equal(pythia_tdigest_add(t, INFINITY), PYTHIA_EINVAL);
    assert_int_equal(pythia_tdigest_add(t, NAN), PYTHIA_EINVAL);
    assert_int_equal(pythia_tdigest_count(t), 4);
    pythia_tdigest_destroy(t);
}

static void hostile_orders_stay_in_the_room(void **state)
{
    for (unsigned delta = PYTHIA_TDIGEST_DELTA_MIN; delta <= 1000; delta *= 10) {
        for (int order = 0; order < 4; order++) {
            struct pythia_tdigest *t = empty(delta), *u = empty(PYTHIA_TDIGEST_DELTA_MIN);
            for (int i = 0; i < 100000; i++) {
                double v = order == 0 ? i : order == 1 ? -i : order == 2 ? (i % 2 ? i : -i) : 3;
                add(t, v);
                add(u, v);
            }
            for (int i = 0; i < 30; i++)
                pythia_tdigest_merge(t, u);
            assert_int_equal(pythia_tdigest_count(t), 3100000);
            double last = pythia_tdigest_quantile(t, 0);
            for (int i = 1; i <= 100; i++) { /* quantiles never fall */
                double now = pythia_tdigest_quantile(t, i / 100.0);
                assert_true(now >= last);
                last = now;
            }
            pythia_tdigest_destroy(t);
            pythia_tdigest_destroy(u);
        }
    }
}

static void a_failed_create_leaves_out_untouched(void **state)
{
    struct pythia_tdigest *t = NULL;
    assert_int_equal(pythia_tdigest_create(9, &t), PYTHIA_EINVAL);
    assert_int_equal(pythia_tdigest_create(10001, &t), PYTHIA_EINVAL);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_tdigest_create(100, &t), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(t);
    pythia_tdigest_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_uniform_values_have_the_claimed_error),
        cmocka_unit_test(few_values_are_interpolated_exactly),
        cmocka_unit_test(hostile_orders_stay_in_the_room),
        cmocka_unit_test(a_failed_create_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
