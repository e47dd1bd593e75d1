#include <stdlib.h>

#include "check.h"
#include "pythia/random.h"
#include "pythia/sort.h"

/* What numbers stand for, and how often two of them were compared. */
struct values {
    const uint32_t *of;
    size_t compared;
};

static bool smaller(const void *context, uint32_t a, uint32_t b)
{
    struct values *values = *(struct values *const *)context;
    values->compared++;
    return values->of[a] < values->of[b];
}

/* Sort 0, 1, …, n - 1 by their values: the result is in order, keeps the order of equals, and has
 * each number once. The arrays are as large as promised and no larger, for the sanitizer. Returns
 * the number of comparisons. */
static size_t check_sort(const uint32_t *of, size_t n)
{
    uint32_t *numbers = malloc((n + !n) * sizeof(*numbers));
    uint32_t *scratch = malloc((n + !n) * sizeof(*scratch));
    struct values values = {of, 0}, *context = &values;
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)i;
    pythia_sort_indexes(numbers, n, scratch, smaller, &context);
    for (size_t i = 0; i < n; i++)
        assert_true(numbers[i] < n);
    for (size_t i = 1; i < n;
         i++) { /* strictly increasing by value and number: none can be there twice */
        uint32_t a = numbers[i - 1], b = numbers[i];
        assert_true(of[a] < of[b] || (of[a] == of[b] && a < b));
    }
    free(numbers);
    free(scratch);
    return values.compared;
}

static void every_size_is_sorted_and_stable(void **state)
{
    uint32_t of[200];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t n = 0; n <= 200; n++)
        for (uint64_t different = 1; different <= 1000; different *= 10) { /* 1: all are ties */
            for (size_t i = 0; i < n; i++)
                of[i] = (uint32_t)pythia_random_below(&r, different);
            check_sort(of, n);
        }
}

static void sorted_and_reversed_of_every_size(void **state)
{
    uint32_t of[200], reversed[200], sawtooth[200];
    for (size_t n = 0; n <= 200; n++) {
        for (size_t i = 0; i < n; i++) {
            of[i] = (uint32_t)i;
            reversed[i] = (uint32_t)(n - i);
            sawtooth[i] = (uint32_t)(i % 13);
        }
        check_sort(of, n);
        check_sort(reversed, n);
        check_sort(sawtooth, n);
    }
}

/* One comparison of neighbours in each run, and one for each merge: below two a number. */
static void what_is_sorted_costs_a_comparison_or_two_each(void **state)
{
    enum { N = 100000 };
    static uint32_t of[N];
    for (uint32_t i = 0; i < N; i++)
        of[i] = i / 3;
    assert_true(check_sort(of, N) < (size_t)2 * N);
}

static void what_is_not_costs_n_log_n(void **state)
{
    enum { N = 1 << 17 };
    static uint32_t of[N];
    struct pythia_random r;
    pythia_random_init(&r, 2);
    for (uint32_t i = 0; i < N; i++)
        of[i] = (uint32_t)pythia_random_next(&r);
    assert_true(check_sort(of, N) <
                (size_t)N * 19); /* log2 n = 17, and a little for the runs of 12 */
    for (uint32_t i = 0; i < N; i++)
        of[i] = N - i;
    assert_true(check_sort(of, N) < (size_t)N * 19);
}

/* In 0, 0, 0, 2, 2, 2, 4, … an even number k is first at k / 2 * 3, and an odd one is not there. */
static void the_place_of_a_key_is_that_of_the_first_equal_entry(void **state)
{
    uint32_t numbers[100];
    for (uint32_t i = 0; i < 100; i++)
        numbers[i] = i / 3 * 2; /* even ones alone */
    for (size_t n = 0; n <= 100; n++)
        for (uint32_t key = 0; key < 70; key++) {
            size_t before = (key + 1) / 2 * (size_t)3, place = before < n ? before : n;
            assert_int_equal(pythia_sorted_place(n, pythia_sorted_compare_number, numbers, &key),
                             place);
            assert_int_equal(pythia_sorted_find(n, pythia_sorted_compare_number, numbers, &key),
                             key % 2 == 0 && place < n ? place : PYTHIA_SORTED_NONE);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_of_a_key_is_that_of_the_first_equal_entry),
        cmocka_unit_test(every_size_is_sorted_and_stable),
        cmocka_unit_test(sorted_and_reversed_of_every_size),
        cmocka_unit_test(what_is_sorted_costs_a_comparison_or_two_each),
        cmocka_unit_test(what_is_not_costs_n_log_n),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
