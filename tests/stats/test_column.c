#include <string.h>

#include "check.h"
#include "pythia/column.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define N 100

static double numbers[N], places[N];
static uint32_t levels[N];

static struct pythia_column_code encoded(const struct pythia_column *c, size_t n)
{
    struct pythia_column_code code;
    for (size_t i = 0; i < n; i++)
        places[i] = (double)(i + 1);
    assert_int_equal(pythia_column_encode(c, n, places, &code), PYTHIA_OK);
    assert_int_equal(code.rows, n);
    assert_true((code.values != NULL) == (code.skip == PYTHIA_COLUMN_USED));
    return code;
}

static enum pythia_column_skip skipped(const struct pythia_column *c, size_t n)
{
    struct pythia_column_code code = encoded(c, n);
    enum pythia_column_skip skip = code.skip;
    pythia_column_code_clear(&code);
    return skip;
}

/* 12 numbers, the ranks by hand: ties share their mean rank. */
static void numbers_become_average_ranks(void **state)
{
    const double x[] = {7, 1e9, 3, 3, -2, 8, 3, 7, 9, 10, 11, 12};
    const double ranks[] = {5.5, 12, 3, 3, 1, 7, 3, 5.5, 8, 9, 10, 11};
    struct pythia_column c = {.numbers = x};
    struct pythia_column_code code = encoded(&c, 12);
    assert_int_equal(code.columns, 1);
    assert_int_equal(code.present, 12);
    assert_int_equal(code.distinct, 9);
    for (size_t i = 0; i < 12; i++)
        assert_rel_equal(code.values[i], ranks[i], 0);
    pythia_column_code_clear(&code);
}

static void missing_numbers_get_the_median_rank_and_an_indicator(void **state)
{
    for (size_t i = 0; i < 20; i++)
        numbers[i] = i % 4 == 0 ? (i ? NAN : INFINITY) : (double)(i * i % 13);
    struct pythia_column c = {.numbers = numbers};
    struct pythia_column_code code = encoded(&c, 20);
    assert_int_equal(code.present, 15);
    assert_int_equal(code.columns, 2);
    for (size_t i = 0; i < 20; i++) {
        assert_rel_equal(code.values[20 + i], i % 4 == 0, 0);
        if (i % 4 == 0)
            assert_rel_equal(code.values[i], 8, 0); /* of 15 */
    }
    pythia_column_code_clear(&code);
    /* Four missing ones are too few to say anything. */
    numbers[0] = 3;
    code = encoded(&c, 20);
    assert_int_equal(code.columns, 1);
    pythia_column_code_clear(&code);
}

static void levels_become_indicators(void **state)
{
    /* Level 0: 10 rows, level 1: 5, level 2: 2, level 3: none, level 4: 3, missing: 6. */
    static const uint32_t rows[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0,
                                    0, 2, 2, 4, 4, 4, 9, 9, 9, 9, 9, 9, 0};
    memcpy(levels, rows, sizeof(rows));
    struct pythia_column c = {.categorical = true, .levels = levels, .level_count = 5};
    struct pythia_column_code code = encoded(&c, 26);
    assert_int_equal(code.present, 20);
    assert_int_equal(code.distinct, 4);
    /* 1, missing, and the pool of 2 and 4; 0 is the reference. */
    assert_int_equal(code.columns, 3);
    for (size_t i = 0; i < 26; i++) {
        assert_rel_equal(code.values[i], rows[i] == 1, 0);
        assert_rel_equal(code.values[26 + i], rows[i] == 9, 0);
        assert_rel_equal(code.values[52 + i], rows[i] == 2 || rows[i] == 4, 0);
    }
    pythia_column_code_clear(&code);
    /* A pool of fewer than five rows joins the reference. */
    levels[16] = 0;
    code = encoded(&c, 26);
    assert_int_equal(code.columns, 2);
    pythia_column_code_clear(&code);
}

/* Nothing in the regressors says which rows have a value: each column has one mean with and
 * without. */
static void present_only_columns_say_nothing_of_presence(void **state)
{
    for (size_t i = 0; i < 40; i++) {
        numbers[i] = i < 24 ? (double)(i * 7 % 11) : NAN;
        levels[i] = i < 24 ? (uint32_t)(i < 12 ? 0 : i < 18 ? 1 : 2) : PYTHIA_COLUMN_MISSING;
    }
    struct pythia_column n = {.numbers = numbers, .present_only = true};
    struct pythia_column l = {
        .categorical = true, .levels = levels, .level_count = 3, .present_only = true};
    for (int k = 0; k < 2; k++) {
        struct pythia_column_code code = encoded(k ? &l : &n, 40);
        assert_int_equal(code.columns, k ? 2 : 1); /* level 0 is the reference */
        for (size_t j = 0; j < code.columns; j++) {
            double mean = k ? 6 / 24. : 12.5; /* 6 rows of 24 have level 1, and level 2 */
            for (size_t i = 24; i < 40; i++)
                assert_rel_equal(code.values[j * 40 + i], mean, 1e-15);
            double sum = 0;
            for (size_t i = 0; i < 24; i++)
                sum += code.values[j * 40 + i];
            assert_rel_equal(sum / 24, mean, 1e-15);
        }
        pythia_column_code_clear(&code);
    }
}

static void presence_counts_where_there_is_one_value(void **state)
{
    for (size_t i = 0; i < 30; i++) {
        numbers[i] = i < 12 ? 4 : NAN;
        levels[i] = i < 12 ? 0 : PYTHIA_COLUMN_MISSING;
    }
    struct pythia_column n = {.numbers = numbers};
    struct pythia_column l = {.categorical = true, .levels = levels, .level_count = 1};
    for (int k = 0; k < 2; k++) {
        struct pythia_column_code code = encoded(k ? &l : &n, 30);
        assert_int_equal(code.columns, 1);
        assert_true(code.values[0] != code.values[29]);
        pythia_column_code_clear(&code);
    }
}

static void constants_and_the_rare_are_kept_out(void **state)
{
    struct pythia_column n = {.numbers = numbers};
    struct pythia_column l = {.categorical = true, .levels = levels, .level_count = 3};
    for (size_t i = 0; i < 30; i++) {
        numbers[i] = i < 27 ? 4 : NAN;
        levels[i] = 1;
    }
    assert_int_equal(skipped(&n, 30), PYTHIA_COLUMN_CONSTANT);
    assert_int_equal(skipped(&l, 30), PYTHIA_COLUMN_CONSTANT);
    levels[3] = 2; /* two levels, but one of them in one row */
    assert_int_equal(skipped(&l, 30), PYTHIA_COLUMN_CONSTANT);
    for (size_t i = 0; i < 30; i++) {
        numbers[i] = i < 9 ? (double)i : NAN;
        levels[i] = i < 9 ? (uint32_t)(i % 2) : PYTHIA_COLUMN_MISSING;
    }
    assert_int_equal(skipped(&n, 30), PYTHIA_COLUMN_TOO_FEW);
    assert_int_equal(skipped(&l, 30), PYTHIA_COLUMN_TOO_FEW);
    assert_int_equal(skipped(&n, 0), PYTHIA_COLUMN_TOO_FEW);
    assert_int_equal(skipped(&l, 0), PYTHIA_COLUMN_TOO_FEW);
}

static void identifiers_are_kept_out(void **state)
{
    struct pythia_column n = {.numbers = numbers};
    struct pythia_column l = {.categorical = true, .levels = levels, .level_count = N};
    for (size_t i = 0; i < N; i++)
        levels[i] = (uint32_t)(i % 21);
    assert_int_equal(skipped(&l, N), PYTHIA_COLUMN_MANY_LEVELS); /* 21 of 100 rows */
    for (size_t i = 0; i < N; i++)
        levels[i] = (uint32_t)(i % 20);
    assert_int_equal(skipped(&l, N), PYTHIA_COLUMN_USED);
    for (size_t i = 0; i < N; i++)
        levels[i] = i < 40 ? 0 : (uint32_t)(1 + i % 16); /* 60 rows in levels of four or fewer */
    assert_int_equal(skipped(&l, N), PYTHIA_COLUMN_RARE_LEVELS);

    for (size_t i = 0; i < N; i++)
        numbers[i] = 4000 + 3 * (double)i + (double)(i % 7); /* a sequence, not quite in order */
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_SEQUENCE);
    for (size_t i = 0; i < N; i++)
        numbers[i] = -1.5e9 - 0.37 * (double)i; /* a clock, downwards */
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_SEQUENCE);
    for (size_t i = 0; i < N; i++)
        numbers[i] = (double)(i * 7919 % 10007); /* row ids in no order: only the name tells */
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_USED);
    n.looks_like_id = true;
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_ID);
}

/* What looks a little like an identifier, but counts or measures. */
static void counts_and_sizes_stay(void **state)
{
    struct pythia_column n = {.numbers = numbers};
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t i = 0; i < N; i++)
        numbers[i] = floor((double)i / 9); /* grows with time, but is a count */
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_USED);
    for (size_t i = 0; i < N; i++)
        numbers[i] = floor(1e9 * pythia_random_unit(&r)); /* sizes in bytes, all different */
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_USED);
    for (size_t i = 0; i < N; i++)
        numbers[i] = (double)i + 30 * pythia_random_normal(&r); /* a load with a trend */
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_USED);
    n.looks_like_id = true; /* a name is not enough for a ratio */
    assert_int_equal(skipped(&n, N), PYTHIA_COLUMN_USED);
    struct pythia_column_code code;
    for (size_t i = 0; i < N; i++)
        numbers[i] = (double)i;
    n.looks_like_id = false;
    assert_int_equal(pythia_column_encode(&n, N, NULL, &code),
                     PYTHIA_OK); /* without a time nothing follows it */
    assert_int_equal(code.skip, PYTHIA_COLUMN_USED);
    pythia_column_code_clear(&code);
}

static void each_reason_has_a_text_of_its_own(void **state)
{
    assert_string_equal(pythia_column_skip_text(PYTHIA_COLUMN_USED), "");
    for (int a = PYTHIA_COLUMN_CONSTANT; a <= PYTHIA_COLUMN_CONFOUNDED; a++)
        for (int b = PYTHIA_COLUMN_USED; b < a; b++)
            assert_string_not_equal(pythia_column_skip_text((enum pythia_column_skip)a),
                                    pythia_column_skip_text((enum pythia_column_skip)b));
}

static void each_failed_allocation_leaves_out_untouched(void **state)
{
    for (size_t i = 0; i < N; i++) {
        numbers[i] = (double)(i % 30);
        levels[i] = (uint32_t)(i % 3);
    }
    const struct pythia_column columns[] = {
        {.numbers = numbers}, {.categorical = true, .levels = levels, .level_count = 3}};
    for (size_t k = 0; k < 2; k++) {
        struct pythia_column_code code = {.rows = 77};
        long failures = 0;
        for (;; failures++) {
            pythia_mem_fail_after(failures);
            int status = pythia_column_encode(&columns[k], N, NULL, &code);
            pythia_mem_fail_after(-1);
            if (status == PYTHIA_OK)
                break;
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_int_equal(code.rows, 77);
        }
        assert_true(failures >= 3);
        pythia_column_code_clear(&code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_become_average_ranks),
        cmocka_unit_test(missing_numbers_get_the_median_rank_and_an_indicator),
        cmocka_unit_test(levels_become_indicators),
        cmocka_unit_test(present_only_columns_say_nothing_of_presence),
        cmocka_unit_test(presence_counts_where_there_is_one_value),
        cmocka_unit_test(constants_and_the_rare_are_kept_out),
        cmocka_unit_test(identifiers_are_kept_out),
        cmocka_unit_test(counts_and_sizes_stay),
        cmocka_unit_test(each_reason_has_a_text_of_its_own),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
