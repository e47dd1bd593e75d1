#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/split.h"
#include "pythia/status.h"

#define N 60

static double numbers[N], response[N];
static uint32_t levels[N];
static const struct pythia_column by_number = {.numbers = numbers};
static const struct pythia_column by_level = {
    .categorical = true, .levels = levels, .level_count = 8};

static struct pythia_split found(const struct pythia_column *c, size_t n)
{
    struct pythia_split s;
    assert_int_equal(pythia_split_find(c, response, n, &s), PYTHIA_OK);
    return s;
}

/* eta squared of two groups, by definition. */
static double eta_squared(const struct pythia_split *s, const struct pythia_column *c, size_t n)
{
    double sums[2] = {0, 0}, counts[2] = {0, 0}, all = 0, between = 0;
    for (size_t i = 0; i < n; i++) {
        int side = pythia_split_side(s, c, i);
        if (side < 0)
            continue;
        sums[side] += response[i];
        counts[side]++;
    }
    double mean = (sums[0] + sums[1]) / (counts[0] + counts[1]);
    for (size_t i = 0; i < n; i++)
        if (pythia_split_side(s, c, i) >= 0)
            all += (response[i] - mean) * (response[i] - mean);
    for (int side = 0; side < 2; side++)
        between +=
            counts[side] * (sums[side] / counts[side] - mean) * (sums[side] / counts[side] - mean);
    return between / all;
}

static void a_binary_key_parts_at_its_middle(void **state)
{
    for (size_t i = 0; i < 20; i++) {
        numbers[i] = i < 8;
        response[i] = i < 8 ? 30 + (double)(i % 2) : 10;
    }
    struct pythia_split s = found(&by_number, 20);
    assert_rel_equal(s.cut, 0.5, 0);
    assert_true(s.above);
    assert_int_equal(s.high_rows, 8);
    assert_int_equal(s.low_rows, 12);
    assert_rel_equal(s.high_mean, 30.5, 1e-14);
    assert_rel_equal(s.low_mean, 10, 1e-14);
    assert_rel_equal(s.share, eta_squared(&s, &by_number, 20), 1e-12);
    pythia_split_clear(&s);
}

/* The best of all cuts, tried one by one; the slow group is below. */
static void a_number_parts_where_most_lies_between(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = floor(20 * pythia_random_unit(&r));
        response[i] = (numbers[i] < 7 ? 5 : 0) + pythia_random_normal(&r);
    }
    struct pythia_split s = found(&by_number, N);
    assert_rel_equal(s.cut, 6.5, 0);
    assert_false(s.above);
    assert_rel_equal(s.share, eta_squared(&s, &by_number, N), 1e-12);
    for (int k = 0; k < 20; k++) {
        double cut = k + 0.5;
        struct pythia_split other = {.cut = cut, .share = 0};
        size_t above = 0;
        for (size_t i = 0; i < N; i++)
            above += numbers[i] > cut;
        if (above >= PYTHIA_SPLIT_ROWS_MIN && N - above >= PYTHIA_SPLIT_ROWS_MIN)
            assert_true(eta_squared(&other, &by_number, N) <= s.share + 1e-12);
    }
    pythia_split_clear(&s);
}

static void levels_part_into_the_slow_and_the_rest(void **state)
{
    for (size_t i = 0; i < N; i++) {
        levels[i] = (uint32_t)(i % 6);
        response[i] = (levels[i] == 2 || levels[i] == 5 ? 100 : 10) + (double)(i % 7);
    }
    levels[6] = PYTHIA_COLUMN_MISSING; /* was 0 */
    struct pythia_split s = found(&by_level, N);
    assert_int_equal(s.level_count, 2);
    assert_int_equal(s.levels[0], 2);
    assert_int_equal(s.levels[1], 5);
    assert_int_equal(s.high_rows, 20);
    assert_int_equal(s.low_rows, 39);
    assert_rel_equal(s.cut, NAN, 0);
    assert_int_equal(pythia_split_side(&s, &by_level, 6), -1);
    assert_int_equal(pythia_split_side(&s, &by_level, 2), 1);
    assert_int_equal(pythia_split_side(&s, &by_level, 3), 0);
    assert_rel_equal(s.share, eta_squared(&s, &by_level, N), 1e-12);
    pythia_split_clear(&s);
}

static void rows_without_a_value_part_from_one_value(void **state)
{
    for (size_t i = 0; i < 24; i++) {
        numbers[i] = i < 10 ? 3 : NAN;
        levels[i] = i < 10 ? 4 : PYTHIA_COLUMN_MISSING;
        response[i] = i < 10 ? 5 : 1;
    }
    const struct pythia_column *columns[] = {&by_number, &by_level};
    for (size_t k = 0; k < 2; k++) {
        struct pythia_split s = found(columns[k], 24);
        assert_true(s.by_absence);
        assert_false(s.above); /* those with the value are slow */
        assert_int_equal(s.high_rows, 10);
        assert_rel_equal(s.share, 1, 1e-12);
        assert_rel_equal(s.cut, NAN, 0);
        assert_null(s.levels);
        assert_int_equal(pythia_split_side(&s, columns[k], 0), 1);
        assert_int_equal(pythia_split_side(&s, columns[k], 23), 0);
        pythia_split_clear(&s);
    }
}

static void what_cannot_be_parted_has_no_share(void **state)
{
    for (size_t i = 0; i < N; i++) {
        numbers[i] = i < 4; /* four rows are no group */
        levels[i] = i < 4;
        response[i] = (double)i;
    }
    assert_rel_equal(found(&by_number, N).share, NAN, 0);
    struct pythia_split s = found(&by_level, N);
    assert_rel_equal(s.share, NAN, 0);
    assert_null(s.levels);
    assert_int_equal(pythia_split_side(&s, &by_level, 1), -1);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = (double)i;
        response[i] = 3;
    }
    assert_rel_equal(found(&by_number, N).share, NAN, 0); /* nothing to part */
    assert_rel_equal(found(&by_number, 0).share, NAN, 0);
}

static void each_failed_allocation_leaves_out_untouched(void **state)
{
    const struct pythia_column *columns[] = {&by_number, &by_level};
    for (size_t i = 0; i < N; i++) {
        numbers[i] = (double)(i % 5);
        levels[i] = (uint32_t)(i % 5);
        response[i] = (double)(i % 5);
    }
    for (size_t k = 0; k < 2; k++) {
        struct pythia_split s = {.share = -1};
        long failures = 0;
        for (;; failures++) {
            pythia_mem_fail_after(failures);
            int status = pythia_split_find(columns[k], response, N, &s);
            pythia_mem_fail_after(-1);
            if (status == PYTHIA_OK)
                break;
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_rel_equal(s.share, -1, 0);
        }
        assert_true(failures >= 4);
        pythia_split_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binary_key_parts_at_its_middle),
        cmocka_unit_test(a_number_parts_where_most_lies_between),
        cmocka_unit_test(levels_part_into_the_slow_and_the_rest),
        cmocka_unit_test(rows_without_a_value_part_from_one_value),
        cmocka_unit_test(what_cannot_be_parted_has_no_share),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
