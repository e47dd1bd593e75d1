#include <stdlib.h>

#include "check.h"
#include "pythia/kll.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

static struct pythia_kll *empty(uint64_t seed)
{
    struct pythia_kll *s = NULL;
    assert_int_equal(pythia_kll_create(PYTHIA_KLL_K, seed, &s), PYTHIA_OK);
    return s;
}

static void add(struct pythia_kll *s, double value)
{
    assert_int_equal(pythia_kll_add(s, value), PYTHIA_OK);
}

/* The bound of the published error at k = 200: 2.296 / 200^.9723. A rank of the values 0, 1, ..., n
 * - 1 is known without a sort. */
static void ranks_are_within_the_bound_in_99_of_100_sketches(void **state)
{
    enum { RUNS = 1000, N = 10000, QUANTILES = 5 };
    const double quantiles[QUANTILES] = {.05, .25, .5, .75, .99};
    int outside[QUANTILES] = {0}, outside_rank = 0;
    size_t *order = calloc(N, sizeof(*order));
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t i = 0; i < N; i++)
        order[i] = i;
    pythia_random_shuffle(&r, order, N);
    for (uint64_t run = 0; run < RUNS; run++) {
        struct pythia_kll *s = empty(run);
        for (size_t i = 0; i < N; i++)
            add(s, (double)order[i]);
        for (size_t i = 0; i < QUANTILES; i++)
            outside[i] +=
                fabs(pythia_kll_quantile(s, quantiles[i]) / (N - 1) - quantiles[i]) > .0133;
        outside_rank += fabs(pythia_kll_rank(s, .5 * N - 1) - .5) > .0133;
        pythia_kll_destroy(s);
    }
    free(order);
    for (size_t i = 0; i < QUANTILES; i++)
        assert_in_range(outside[i], 0, RUNS / 100);
    assert_in_range(outside_rank, 0, RUNS / 100);
}

static void merged_sketches_keep_to_the_bound(void **state)
{
    enum { RUNS = 200, N = 20000, PARTS = 8 };
    int outside = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        struct pythia_kll *parts[PARTS];
        struct pythia_random r;
        pythia_random_init(&r, run);
        for (size_t p = 0; p < PARTS; p++)
            parts[p] = empty(run * PARTS + p);
        for (size_t i = 0; i < N; i++) /* some parts are short, and one stays empty */
            add(parts[pythia_random_below(&r, 1 + pythia_random_below(&r, PARTS - 1))], (double)i);
        for (size_t p = 1; p < PARTS; p++) {
            assert_int_equal(pythia_kll_merge(parts[0], parts[p]), PYTHIA_OK);
            pythia_kll_destroy(parts[p]);
        }
        assert_int_equal(pythia_kll_count(parts[0]), N);
        outside += fabs(pythia_kll_quantile(parts[0], .5) / (N - 1) - .5) > .0133;
        assert_rel_equal(pythia_kll_quantile(parts[0], 0), 0, 0);
        assert_rel_equal(pythia_kll_quantile(parts[0], 1), N - 1, 0);
        assert_rel_equal(pythia_kll_rank(parts[0], N), 1, 0); /* no weight is lost */
        pythia_kll_destroy(parts[0]);
    }
    assert_in_range(outside, 0, RUNS / 100 + 4);
}

static void few_values_are_kept_exactly(void **state)
{
    struct pythia_kll *s = empty(1);
    assert_rel_equal(pythia_kll_quantile(s, .5), NAN, 0);
    assert_rel_equal(pythia_kll_rank(s, .5), NAN, 0);
    for (int i = 0; i < 150; i++)
        add(s, 149 - i);
    for (int i = 0; i < 150; i++) {
        assert_rel_equal(pythia_kll_quantile(s, fmin(1, (i + .5) / 149)), i, 0);
        assert_rel_equal(pythia_kll_rank(s, i), (i + 1) / 150.0, 0);
    }
    assert_rel_equal(pythia_kll_quantile(s, 1.01), NAN, 0);
    assert_rel_equal(pythia_kll_quantile(s, -.01), NAN, 0);
    assert_rel_equal(pythia_kll_rank(s, NAN), NAN, 0);
    assert_int_equal(pythia_kll_add(s, NAN), PYTHIA_EINVAL);
    assert_int_equal(pythia_kll_count(s), 150);
    add(s, INFINITY);
    add(s, -INFINITY);
    assert_rel_equal(pythia_kll_quantile(s, 0), -INFINITY, 0);
    assert_rel_equal(pythia_kll_quantile(s, 1), INFINITY, 0);
    pythia_kll_destroy(s);
}

static void the_seed_decides(void **state)
{
    struct pythia_kll *a = empty(3), *b = empty(3), *c = empty(4);
    int differ = 0;
    for (int i = 0; i < 50000; i++) {
        add(a, i * 7919 % 50021);
        add(b, i * 7919 % 50021);
        add(c, i * 7919 % 50021);
    }
    for (int i = 1; i < 100; i++) {
        double q = i / 100.0;
        assert_rel_equal(pythia_kll_quantile(a, q), pythia_kll_quantile(b, q), 0);
        differ += pythia_kll_quantile(a, q) != pythia_kll_quantile(c, q);
    }
    assert_true(differ > 50);
    pythia_kll_destroy(a);
    pythia_kll_destroy(b);
    pythia_kll_destroy(c);
}

/* Every add and merge of a short life fails once, at each of its allocations, and then succeeds. */
static void each_failed_allocation_leaves_the_sketch_as_it_was(void **state)
{
    struct pythia_kll *s = NULL, *other = NULL, *coarse = NULL;
    assert_int_equal(pythia_kll_create(7, 1, &s), PYTHIA_EINVAL);
    assert_int_equal(pythia_kll_create(65536, 1, &s), PYTHIA_EINVAL);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_kll_create(200, 1, &s), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(s);
    s = empty(1);
    other = empty(2);
    for (int i = 0; i < 5000; i++) {
        uint64_t count = pythia_kll_count(s);
        int status = PYTHIA_ENOMEM;
        for (long left = 0; status != PYTHIA_OK; left++) {
            pythia_mem_fail_after(left);
            status = pythia_kll_add(s, i);
            pythia_mem_fail_after(-1);
            if (status == PYTHIA_OK)
                break;
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_int_equal(pythia_kll_count(s), count);
            assert_true(isnan(pythia_kll_rank(s, i)) || pythia_kll_rank(s, i) == 1);
        }
        add(other, i + 5000);
    }
    int status = PYTHIA_ENOMEM;
    for (long left = 0; status != PYTHIA_OK; left++) {
        assert_rel_equal(pythia_kll_rank(s, 4999), 1, 0);
        pythia_mem_fail_after(left);
        status = pythia_kll_merge(s, other);
        pythia_mem_fail_after(-1);
    }
    assert_int_equal(pythia_kll_count(s), 10000);
    assert_rel_equal(pythia_kll_rank(s, 4999), .5, 0);
    add(s, 1);
    assert_int_equal(pythia_kll_create(100, 1, &coarse), PYTHIA_OK);
    assert_int_equal(pythia_kll_merge(s, coarse), PYTHIA_EINVAL);
    assert_int_equal(pythia_kll_merge(s, s), PYTHIA_EINVAL);
    pythia_kll_destroy(coarse);
    pythia_kll_destroy(other);
    pythia_kll_destroy(s);
    pythia_kll_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_within_the_bound_in_99_of_100_sketches),
        cmocka_unit_test(merged_sketches_keep_to_the_bound),
        cmocka_unit_test(few_values_are_kept_exactly),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(each_failed_allocation_leaves_the_sketch_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
