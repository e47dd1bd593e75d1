#include <stdlib.h>

#include "check.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/sample.h"
#include "pythia/status.h"

struct row {
    uint64_t hash, tie;
    int dropped;
};

static void drop(void *context, void *row)
{
    ((struct row *)row)->dropped++;
    ++*(size_t *)context;
}

static struct pythia_sample *empty(size_t k, size_t *dropped)
{
    struct pythia_sample *s = NULL;
    assert_int_equal(pythia_sample_create(k, drop, dropped, &s), PYTHIA_OK);
    return s;
}

static void add(struct pythia_sample *s, struct row *row)
{
    assert_int_equal(pythia_sample_add(s, row->hash, row->tie, row), PYTHIA_OK);
}

struct place {
    uint64_t hash, tie;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

/* The sample holds the k lowest of all rows, in order, and each other row was dropped once. */
static void assert_lowest(struct pythia_sample *s, struct row *rows, size_t n, size_t k)
{
    struct place *order = calloc(n, sizeof(*order));
    for (size_t i = 0; i < n; i++)
        order[i] = (struct place){rows[i].hash, rows[i].tie, i};
    qsort(order, n, sizeof(*order), compare_places);
    pythia_sample_sort(s);
    assert_int_equal(pythia_sample_count(s), k < n ? k : n);
    for (size_t i = 0; i < n; i++) {
        struct row *row = &rows[order[i].index];
        assert_int_equal(row->dropped, i >= k);
        if (i < k) {
            assert_ptr_equal(pythia_sample_row(s, i), row);
            assert_int_equal(pythia_sample_hash(s, i), row->hash);
        }
    }
    free(order);
}

/* Few distinct hashes, so that ties decide too, or many. */
static void make_rows(struct pythia_random *r, struct row *rows, size_t n, uint64_t hashes)
{
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct row){pythia_random_below(r, hashes), i * 2654435761u % 1000003, 0};
}

static void the_lowest_stay_whatever_the_order(void **state)
{
    enum { N = 500 };
    struct row rows[N];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (int run = 0; run < 100; run++) {
        size_t k = 1 + (size_t)pythia_random_below(&r, 120), dropped = 0;
        struct pythia_sample *whole = empty(k, &dropped);
        make_rows(&r, rows, N, run % 2 ? 40 : UINT64_MAX);
        for (size_t i = 0; i < N; i++)
            add(whole, &rows[i]);
        assert_lowest(whole, rows, N, k);
        assert_int_equal(dropped, N - k);
        pythia_sample_destroy(whole);
        assert_int_equal(dropped, N);
        for (size_t i = 0; i < N; i++)
            rows[i].dropped = 0;
        whole = empty(k, &dropped);
        for (size_t i = N; i > 0; i--)
            add(whole, &rows[i - 1]);
        assert_lowest(whole, rows, N, k);
        pythia_sample_destroy(whole);
    }
}

static void what_is_not_wanted_would_be_dropped(void **state)
{
    struct row rows[300];
    size_t dropped = 0;
    struct pythia_random r;
    pythia_random_init(&r, 2);
    struct pythia_sample *s = empty(20, &dropped);
    make_rows(&r, rows, 300, UINT64_MAX);
    for (size_t i = 0; i < 300; i++) {
        size_t before = dropped;
        bool wanted = pythia_sample_wants(s, rows[i].hash);
        assert_true(wanted || i >= 20);
        add(s, &rows[i]);
        assert_int_equal(rows[i].dropped, !wanted);
        assert_int_equal(dropped, before + (i >= 20));
    }
    pythia_sample_sort(s);
    assert_true(pythia_sample_wants(s, pythia_sample_hash(s, 19))); /* its tie may be lower */
    pythia_sample_destroy(s);
}

static void sorting_does_not_disturb_later_adds(void **state)
{
    struct row rows[200];
    size_t dropped = 0;
    struct pythia_random r;
    pythia_random_init(&r, 3);
    struct pythia_sample *s = empty(30, &dropped);
    make_rows(&r, rows, 200, UINT64_MAX);
    for (size_t i = 0; i < 200; i++) {
        add(s, &rows[i]);
        if (i % 7 == 0)
            pythia_sample_sort(s);
    }
    assert_lowest(s, rows, 200, 30);
    pythia_sample_destroy(s);
}

static void a_shrunk_sample_is_that_of_the_smaller_k(void **state)
{
    struct row rows[200];
    size_t dropped = 0;
    struct pythia_random r;
    pythia_random_init(&r, 4);
    struct pythia_sample *s = empty(100, &dropped);
    make_rows(&r, rows, 200, 50);
    for (size_t i = 0; i < 150; i++)
        add(s, &rows[i]);
    pythia_sample_shrink(s, 40);
    assert_int_equal(pythia_sample_count(s), 40);
    pythia_sample_shrink(s, 90); /* what has left cannot come back */
    for (size_t i = 150; i < 200; i++)
        add(s, &rows[i]);
    assert_lowest(s, rows, 200, 40);
    pythia_sample_destroy(s);
}

/* Of 1000 rows every one is as likely to be among the 100: the count of the first 500 rows in the
 * sample has mean 50 and sd 4.75, over 200 streams 50 and .34. */
static void the_sample_is_uniform(void **state)
{
    double first_half = 0;
    for (uint64_t stream = 0; stream < 200; stream++) {
        struct row rows[1000];
        size_t dropped = 0;
        struct pythia_sample *s = empty(100, &dropped);
        for (uint64_t i = 0; i < 1000; i++) {
            rows[i] = (struct row){pythia_hash_mix(stream, i), i, 0};
            add(s, &rows[i]);
        }
        for (size_t i = 0; i < 500; i++)
            first_half += !rows[i].dropped;
        pythia_sample_destroy(s);
    }
    assert_true(fabs(first_half / 200 - 50) < 1.4); /* 4 sd */
}

static void rows_without_a_callback_are_left_alone(void **state)
{
    struct pythia_sample *s = NULL;
    assert_int_equal(pythia_sample_create(1, NULL, NULL, &s), PYTHIA_OK);
    assert_int_equal(pythia_sample_add(s, 5, 0, NULL), PYTHIA_OK);
    assert_int_equal(pythia_sample_add(s, 5, 0, NULL), PYTHIA_OK);
    assert_int_equal(pythia_sample_count(s), 1);
    pythia_sample_destroy(s);
    pythia_sample_destroy(NULL);
}

static void each_failed_allocation_drops_the_row_and_no_other(void **state)
{
    struct row rows[17];
    size_t dropped = 0;
    struct pythia_sample *s = NULL;
    assert_int_equal(pythia_sample_create(0, drop, &dropped, &s), PYTHIA_EINVAL);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_sample_create(9, drop, &dropped, &s), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(s);
    s = empty(40, &dropped);
    for (size_t i = 0; i < 17; i++)
        rows[i] = (struct row){i, 0, 0};
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_sample_add(s, 0, 0, &rows[0]), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(rows[0].dropped, 1);
    for (size_t i = 1; i < 17; i++)
        add(s, &rows[i]);
    assert_lowest(s, rows + 1, 16, 40);
    pythia_sample_destroy(s);
    assert_int_equal(dropped, 17);
}

static void rows_that_do_not_stay_are_dropped(void **state)
{
    struct row rows[] = {{4, 0, 0}, {1, 0, 0}, {3, 0, 0}, {2, 0, 0}};
    size_t dropped = 0;
    struct pythia_sample *s = empty(9, &dropped);
    for (size_t i = 0; i < 4; i++)
        add(s, &rows[i]);
    pythia_sample_sort(s);
    pythia_sample_leave(s, (const bool[]){true, false, false, true});
    assert_int_equal(pythia_sample_count(s), 2);
    assert_ptr_equal(pythia_sample_row(s, 0), &rows[1]);
    assert_ptr_equal(pythia_sample_row(s, 1), &rows[0]);
    assert_int_equal(dropped, 2);
    assert_true(rows[2].dropped == 1 && rows[3].dropped == 1);
    pythia_sample_destroy(s);
    assert_int_equal(dropped, 4);
}

/* Rows that were dealt to three samples, with as many places, make the sample of them all. */
static void samples_that_are_moved_make_the_sample_of_all_rows(void **state)
{
    enum { N = 500 };
    struct row rows[N];
    struct pythia_random r;
    pythia_random_init(&r, 5);
    for (int run = 0; run < 100; run++) {
        size_t k = 1 + (size_t)pythia_random_below(&r, 300), dropped = 0;
        struct pythia_sample *all = empty(k, &dropped), *parts[3];
        make_rows(&r, rows, N, run % 2 ? 40 : UINT64_MAX);
        for (size_t p = 0; p < 3; p++)
            parts[p] = empty(k, &dropped);
        for (size_t i = 0; i < N; i++)
            add(parts[pythia_random_below(&r, 3)], &rows[i]);
        for (size_t p = 0; p < 3; p++) {
            assert_int_equal(pythia_sample_move(parts[p], all), PYTHIA_OK);
            assert_int_equal(pythia_sample_count(parts[p]), 0);
            pythia_sample_destroy(parts[p]);
        }
        assert_true(pythia_sample_is_whole(all));
        assert_lowest(all, rows, N, k);
        pythia_sample_destroy(all);
    }
}

/* A sample of 3 rows gets those of one that had places for 2, and dropped the rest. */
static void a_sample_knows_whether_rows_are_missing(void **state)
{
    struct row rows[] = {{10, 0, 0}, {20, 0, 0}, {30, 0, 0}, {5, 0, 0}, {7, 0, 0}};
    size_t dropped = 0;
    struct pythia_sample *all = empty(3, &dropped), *part = empty(2, &dropped);
    for (size_t i = 0; i < 3; i++)
        add(part, &rows[i]);
    assert_int_equal(pythia_sample_move(part, all), PYTHIA_OK);
    assert_false(pythia_sample_is_whole(all)); /* it has room for the row of 30 */
    add(all, &rows[3]);
    assert_true(pythia_sample_is_whole(all)); /* 5, 10, 20: whatever was dropped is above 20 */
    add(all, &rows[4]);
    assert_true(pythia_sample_is_whole(all));
    pythia_sample_destroy(part);
    pythia_sample_destroy(all);
    assert_int_equal(dropped, 5);
}

static void a_move_that_fails_changes_nothing(void **state)
{
    struct row rows[] = {{10, 0, 0}, {20, 0, 0}};
    size_t dropped = 0;
    struct pythia_sample *all = empty(3, &dropped), *part = empty(3, &dropped);
    add(part, &rows[0]);
    add(part, &rows[1]);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_sample_move(part, all), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_sample_count(all), 0);
    assert_lowest(part, rows, 2, 3);
    pythia_sample_destroy(part);
    pythia_sample_destroy(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_stay_whatever_the_order),
        cmocka_unit_test(what_is_not_wanted_would_be_dropped),
        cmocka_unit_test(sorting_does_not_disturb_later_adds),
        cmocka_unit_test(a_shrunk_sample_is_that_of_the_smaller_k),
        cmocka_unit_test(the_sample_is_uniform),
        cmocka_unit_test(rows_without_a_callback_are_left_alone),
        cmocka_unit_test(each_failed_allocation_drops_the_row_and_no_other),
        cmocka_unit_test(rows_that_do_not_stay_are_dropped),
        cmocka_unit_test(samples_that_are_moved_make_the_sample_of_all_rows),
        cmocka_unit_test(a_sample_knows_whether_rows_are_missing),
        cmocka_unit_test(a_move_that_fails_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
