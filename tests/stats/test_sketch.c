#include <float.h>
#include <stdlib.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/sketch.h"
#include "pythia/status.h"
#include "sketch_values.h"

static struct pythia_sketch *empty(void)
{
    struct pythia_sketch *s = NULL;
    assert_int_equal(pythia_sketch_create(PYTHIA_SKETCH_ALPHA, &s), PYTHIA_OK);
    return s;
}

static void add(struct pythia_sketch *s, double value)
{
    assert_int_equal(pythia_sketch_add(s, value, 1), PYTHIA_OK);
}

/* All that can be seen of two sketches is the same, bit for bit. */
static void assert_same(const struct pythia_sketch *a, const struct pythia_sketch *b)
{
    assert_int_equal(count_sketch_values(a), count_sketch_values(b));
    assert_rel_equal(pythia_sketch_min(a), pythia_sketch_min(b), 0);
    assert_rel_equal(pythia_sketch_max(a), pythia_sketch_max(b), 0);
    for (int i = 0; i <= 1000; i++)
        assert_rel_equal(pythia_sketch_quantile(a, i / 1000.0),
                         pythia_sketch_quantile(b, i / 1000.0), 0);
    struct pythia_sketch_bin x, y;
    size_t at_a = 0, at_b = 0;
    while (pythia_sketch_next(a, &at_a, &x) == PYTHIA_OK) {
        assert_int_equal(pythia_sketch_next(b, &at_b, &y), PYTHIA_OK);
        assert_int_equal(at_a, at_b);
        assert_true(x.low == y.low && x.middle == y.middle && x.high == y.high);
        assert_int_equal(x.count, y.count);
    }
    assert_int_equal(pythia_sketch_next(b, &at_b, &y), 1);
}

static void every_quantile_of_a_million_is_within_alpha(void **state)
{
    enum { N = 1000000, PARTS = 16 };
    double *values = calloc(N, sizeof(*values));
    struct pythia_sketch *whole = empty(), *parts[PARTS];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t p = 0; p < PARTS; p++)
        parts[p] = empty();
    for (size_t i = 0; i < N; i++) {
        values[i] = exp(2 * pythia_random_normal(&r));
        add(whole, values[i]);
        add(parts[pythia_random_below(&r, PARTS)], values[i]);
    }
    pythia_ranks_sort(values, N);
    for (int i = 0; i <= 1000; i++) {
        double q = i / 1000.0, exact = values[(size_t)floor(q * (N - 1))];
        assert_true(fabs(pythia_sketch_quantile(whole, q) - exact) <= .01 * exact);
    }
    assert_rel_equal(pythia_sketch_quantile(whole, 0), values[0], .01);
    assert_rel_equal(pythia_sketch_min(whole), values[0], 0);
    assert_rel_equal(pythia_sketch_max(whole), values[N - 1], 0);
    for (size_t left = PARTS; left > 1; left--) { /* a random tree of merges */
        size_t from = (size_t)pythia_random_below(&r, left), to = (from + 1) % left;
        assert_int_equal(pythia_sketch_merge(parts[to], parts[from]), PYTHIA_OK);
        pythia_sketch_destroy(parts[from]);
        parts[from] = parts[left - 1];
    }
    assert_same(parts[0], whole);
    pythia_sketch_destroy(parts[0]);
    pythia_sketch_destroy(whole);
    free(values);
}

static void small_streams_match_hand_computation(void **state)
{
    struct pythia_sketch *s = empty();
    assert_rel_equal(pythia_sketch_quantile(s, .5), NAN, 0);
    assert_rel_equal(pythia_sketch_min(s), NAN, 0);
    assert_rel_equal(pythia_sketch_max(s), NAN, 0);
    assert_int_equal(pythia_sketch_add(s, 0, 3), PYTHIA_OK);
    add(s, -0.0);
    assert_int_equal(pythia_sketch_add(s, 100, 5), PYTHIA_OK);
    assert_int_equal(pythia_sketch_add(s, 7, 0), PYTHIA_OK);
    assert_int_equal(count_sketch_values(s), 9);
    assert_rel_equal(pythia_sketch_quantile(s, .4), 0, 0); /* rank floor(3.2) of 4 zeros */
    assert_rel_equal(pythia_sketch_quantile(s, .5), 100, .01);
    assert_rel_equal(pythia_sketch_quantile(s, 1), 100, .01);
    assert_rel_equal(pythia_sketch_quantile(s, -.1), NAN, 0);
    assert_rel_equal(pythia_sketch_quantile(s, 1.1), NAN, 0);
    struct pythia_sketch_bin bin;
    size_t position = 0;
    assert_int_equal(pythia_sketch_next(s, &position, &bin), PYTHIA_OK);
    assert_int_equal(bin.count, 4);
    assert_true(bin.low == 0 && bin.middle == 0 && bin.high == 0);
    assert_int_equal(pythia_sketch_next(s, &position, &bin), PYTHIA_OK);
    assert_int_equal(bin.count, 5);
    assert_true(bin.low < 100 && 100 <= bin.high);
    assert_rel_equal(bin.high / bin.low, 1.01 / .99, 1e-12);
    assert_rel_equal(bin.middle, 2 * bin.low * bin.high / (bin.low + bin.high), 1e-12);
    assert_int_equal(pythia_sketch_next(s, &position, &bin), 1);
    pythia_sketch_destroy(s);
    s = empty();
    add(s, -0.0);
    assert_false(signbit(pythia_sketch_min(s)) != 0);
    pythia_sketch_destroy(s);
    s = empty();
    add(s, 42); /* one value is its own quantile, though its bin's middle is another */
    assert_rel_equal(pythia_sketch_quantile(s, .5), 42, 0);
    pythia_sketch_destroy(s);
}

static void what_is_no_duration_is_refused(void **state)
{
    struct pythia_sketch *s = empty();
    add(s, 5);
    const double refused[] = {-1, -DBL_MIN, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(pythia_sketch_add(s, refused[i], 1), PYTHIA_EINVAL);
    assert_int_equal(count_sketch_values(s), 1);
    assert_rel_equal(pythia_sketch_max(s), 5, 0);
    pythia_sketch_destroy(s);
}

static void the_whole_range_of_doubles_fits(void **state)
{
    const double values[] = {0x1p-1074, 1e-300, 1, 1e300, DBL_MAX};
    struct pythia_sketch *s = empty();
    for (size_t i = 0; i < 5; i++)
        add(s, values[4 - i]);
    for (int i = 0; i < 5; i++)
        assert_rel_equal(pythia_sketch_quantile(s, i / 4.0), values[i], .0101);
    pythia_sketch_destroy(s);
}

static void counts_widen_when_they_have_to(void **state)
{
    struct pythia_sketch *a = empty(), *b = empty(), *c = empty();
    assert_int_equal(pythia_sketch_add(a, 10, UINT32_MAX), PYTHIA_OK);
    assert_int_equal(pythia_sketch_add(a, 1, 1), PYTHIA_OK);
    assert_int_equal(pythia_sketch_add(b, 10, UINT32_MAX), PYTHIA_OK);
    assert_int_equal(pythia_sketch_add(b, 1e6, 1), PYTHIA_OK);
    assert_int_equal(pythia_sketch_merge(a, b), PYTHIA_OK); /* the sum is wide, the two are not */
    assert_int_equal(pythia_sketch_add(c, 10, UINT64_C(2) * UINT32_MAX), PYTHIA_OK);
    add(c, 1e6);
    add(c, 1);
    assert_same(a, c);
    assert_int_equal(pythia_sketch_merge(b, a), PYTHIA_OK);
    assert_int_equal(count_sketch_values(b), UINT64_C(3) * UINT32_MAX + 3);
    add(b, 10); /* a wide one goes on counting */
    assert_rel_equal(pythia_sketch_quantile(b, .5), 10, .01);
    assert_int_equal(pythia_sketch_add(a, 5, UINT64_MAX), PYTHIA_ELIMIT);
    assert_same(a, c);
    assert_int_equal(pythia_sketch_add(c, 5, UINT64_MAX - count_sketch_values(c)), PYTHIA_OK);
    assert_int_equal(pythia_sketch_merge(a, c), PYTHIA_ELIMIT);
    assert_int_equal(count_sketch_values(a), UINT64_C(2) * UINT32_MAX + 2);
    pythia_sketch_destroy(a);
    pythia_sketch_destroy(b);
    pythia_sketch_destroy(c);
}

static void merging_with_the_empty_and_with_itself(void **state)
{
    struct pythia_sketch *a = empty(), *b = empty(), *twice = empty();
    assert_int_equal(pythia_sketch_merge(a, b), PYTHIA_OK);
    assert_rel_equal(pythia_sketch_min(a), NAN, 0);
    for (int i = 0; i < 100; i++) {
        add(a, i * i);
        assert_int_equal(pythia_sketch_add(twice, i * i, 2), PYTHIA_OK);
    }
    assert_int_equal(pythia_sketch_merge(a, b), PYTHIA_OK);
    assert_int_equal(pythia_sketch_merge(b, a), PYTHIA_OK);
    assert_same(a, b);
    assert_int_equal(pythia_sketch_merge(a, a), PYTHIA_OK);
    assert_same(a, twice);
    struct pythia_sketch *coarse = NULL;
    assert_int_equal(pythia_sketch_create(.05, &coarse), PYTHIA_OK);
    assert_int_equal(pythia_sketch_merge(a, coarse), PYTHIA_EINVAL);
    pythia_sketch_destroy(coarse);
    pythia_sketch_destroy(a);
    pythia_sketch_destroy(b);
    pythia_sketch_destroy(twice);
}

static void each_failed_allocation_leaves_the_sketch_as_it_was(void **state)
{
    struct pythia_sketch *s = NULL, *other = empty(), *was = empty();
    const double bad[] = {0, -1, .6, NAN, 1e-5};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(pythia_sketch_create(bad[i], &s), PYTHIA_EINVAL);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_sketch_create(.01, &s), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(s);
    s = empty();
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_sketch_add(s, 5, 1), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_same(s, was);
    add(s, 5);
    add(was, 5);
    add(other, 7000);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_sketch_add(s, 1e9, 1), PYTHIA_ENOMEM);        /* more bins */
    assert_int_equal(pythia_sketch_add(s, 5, UINT32_MAX), PYTHIA_ENOMEM); /* wider ones */
    assert_int_equal(pythia_sketch_merge(s, other), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_same(s, was);
    pythia_sketch_destroy(s);
    pythia_sketch_destroy(other);
    pythia_sketch_destroy(was);
    pythia_sketch_destroy(NULL);
}

/* Copy a sketch by what another process would be told of it. */
static struct pythia_sketch *copy_by_bins(const struct pythia_sketch *s)
{
    struct pythia_sketch_bin bins[4000];
    struct pythia_sketch *copy = NULL;
    size_t count = 0;
    for (size_t at = 0; pythia_sketch_next(s, &at, &bins[count]) == PYTHIA_OK;)
        count++;
    assert_int_equal(pythia_sketch_restore(PYTHIA_SKETCH_ALPHA, pythia_sketch_min(s),
                                           pythia_sketch_max(s), bins, count, &copy),
                     PYTHIA_OK);
    return copy;
}

static void a_restored_sketch_is_the_same_and_goes_on_as_it_did(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 2);
    for (int sort = 0; sort < 4; sort++) {
        struct pythia_sketch *s = empty();
        for (int i = 0; sort > 0 && i < 300; i++)
            add(s, sort == 2 && i % 3 == 0 ? 0 : floor(exp(15 + 2 * pythia_random_normal(&r))));
        if (sort == 3) /* wide counts */
            assert_int_equal(pythia_sketch_add(s, 7, UINT64_C(1) << 40), PYTHIA_OK);
        struct pythia_sketch *copy = copy_by_bins(s);
        assert_same(s, copy);
        for (int i = 0; i < 2; i++) {
            add(i ? copy : s, 1e9);
            assert_int_equal(pythia_sketch_merge(i ? copy : s, i ? copy : s), PYTHIA_OK);
        }
        assert_same(s, copy);
        pythia_sketch_destroy(s);
        pythia_sketch_destroy(copy);
    }
}

static void what_no_sketch_can_have_held_is_not_restored(void **state)
{
    /* ln(100) / ln(1.01 / .99) is 230.25, ln(300) by the same 285.18 */
    const struct {
        double min, max;
        struct pythia_sketch_bin bins[2];
        int status;
    } cases[] = {
        {100, 300, {{.index = 231, .count = 1}, {.index = 286, .count = 4}}, PYTHIA_OK},
        {100, 300, {{.index = 286, .count = 4}, {.index = 231, .count = 1}}, PYTHIA_EINVAL},
        {100, 300, {{.index = 231, .count = 0}, {.index = 286, .count = 4}}, PYTHIA_EINVAL},
        {100, 300, {{.index = 230, .count = 1}, {.index = 286, .count = 4}}, PYTHIA_EINVAL},
        {100, 300, {{.index = 231, .count = 1}, {.index = 287, .count = 4}}, PYTHIA_EINVAL},
        {300, 100, {{.index = 286, .count = 1}, {.index = 231, .count = 4}}, PYTHIA_EINVAL},
        {NAN, 300, {{.index = 231, .count = 1}, {.index = 286, .count = 4}}, PYTHIA_EINVAL},
        {100, INFINITY, {{.index = 231, .count = 1}, {.index = 286, .count = 4}}, PYTHIA_EINVAL},
        {0, 300, {{.index = 231, .count = 1}, {.index = 286, .count = 4}}, PYTHIA_EINVAL},
        {0,
         300,
         {{.index = PYTHIA_SKETCH_ZEROS, .count = 1}, {.index = 286, .count = 4}},
         PYTHIA_OK},
        {100,
         300,
         {{.index = 231, .count = UINT64_MAX}, {.index = 286, .count = 1}},
         PYTHIA_ELIMIT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_sketch *s = NULL;
        assert_int_equal(pythia_sketch_restore(PYTHIA_SKETCH_ALPHA, cases[i].min, cases[i].max,
                                               cases[i].bins, 2, &s),
                         cases[i].status);
        assert_int_equal(s != NULL, cases[i].status == PYTHIA_OK);
        if (s)
            assert_int_equal(count_sketch_values(s), 5);
        pythia_sketch_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quantile_of_a_million_is_within_alpha),
        cmocka_unit_test(small_streams_match_hand_computation),
        cmocka_unit_test(what_is_no_duration_is_refused),
        cmocka_unit_test(the_whole_range_of_doubles_fits),
        cmocka_unit_test(counts_widen_when_they_have_to),
        cmocka_unit_test(merging_with_the_empty_and_with_itself),
        cmocka_unit_test(a_restored_sketch_is_the_same_and_goes_on_as_it_did),
        cmocka_unit_test(what_no_sketch_can_have_held_is_not_restored),
        cmocka_unit_test(each_failed_allocation_leaves_the_sketch_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
