#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/history.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

static struct pythia_history *make(void)
{
    struct pythia_history *h = NULL;
    assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
    return h;
}

static void add(struct pythia_history *h, const char *id, double explained, bool localised)
{
    assert_int_equal(pythia_history_add(h, pythia_text_of(id), explained, localised), PYTHIA_OK);
}

static void assert_record(const struct pythia_history *h, const char *id, uint64_t opened,
                          uint64_t explained_ppb, uint64_t localised)
{
    struct pythia_history_record r = pythia_history_find(h, pythia_text_of(id));
    assert_int_equal(r.opened, opened);
    assert_int_equal(r.explained_ppb, explained_ppb);
    assert_int_equal(r.localised, localised);
}

static size_t count_of(const struct pythia_history *h)
{
    struct pythia_text *ids = NULL;
    size_t count;
    assert_int_equal(pythia_history_sorted(h, &ids, &count), PYTHIA_OK);
    for (size_t i = 1; i < count; i++)
        assert_true(pythia_text_compare(ids[i - 1], ids[i]) < 0);
    pythia_free(ids);
    return count;
}

static void openings_are_counted_by_trace_point(void **state)
{
    struct pythia_history *h = make();
    assert_record(h, "db:SELECT", 0, 0, 0);
    assert_int_equal(count_of(h), 0);
    add(h, "db:SELECT", .25, false);
    add(h, "db:SELECT", .5, true);
    add(h, "api:GET", 0, false);
    assert_record(h, "db:SELECT", 2, 750000000, 1);
    assert_record(h, "api:GET", 1, 0, 0);
    assert_record(h, "api", 0, 0, 0);
    assert_int_equal(count_of(h), 2);
    pythia_history_destroy(h);
    pythia_history_destroy(NULL);
}

static void shares_are_between_none_and_all(void **state)
{
    static const struct {
        double share;
        uint64_t ppb;
    } cases[] = {{-.5, 0},           {NAN, 0},   {-INFINITY, 0}, {1.5, 1000000000},
                 {1, 1000000000},    {6e-10, 1}, {4e-10, 0},     {INFINITY, 1000000000},
                 {1. / 3, 333333333}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_history *h = make();
        add(h, "x", cases[i].share, false);
        assert_record(h, "x", 1, cases[i].ppb, 0);
        struct pythia_history_record r = pythia_history_find(h, PYTHIA_TEXT("x"));
        assert_true(pythia_history_is_possible(&r));
        pythia_history_destroy(h);
    }
}

static void impossible_records_are_told(void **state)
{
    static const struct {
        struct pythia_history_record r;
        bool possible;
    } cases[] = {{{0, 0, 0}, true},
                 {{1, 1000000000, 1}, true},
                 {{1, 1000000001, 0}, false},
                 {{1, 0, 2}, false},
                 {{0, 0, 1}, false},
                 {{0, 1, 0}, false},
                 {{UINT64_MAX, UINT64_MAX, UINT64_MAX}, true},
                 {{UINT64_MAX / 1000000000 + 1, UINT64_MAX, 0}, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(pythia_history_is_possible(&cases[i].r), cases[i].possible);
}

static void counts_stay_at_the_largest_number(void **state)
{
    struct pythia_history *h = make();
    struct pythia_history_record most = {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1};
    assert_int_equal(pythia_history_add_record(h, PYTHIA_TEXT("x"), &most), PYTHIA_OK);
    add(h, "x", 1, true);
    add(h, "x", 1, true);
    assert_record(h, "x", UINT64_MAX, UINT64_MAX, UINT64_MAX);
    pythia_history_destroy(h);
}

/* Openings in any order, in any number of histories, merged in any order: the same. */
static void merging_does_not_depend_on_order(void **state)
{
    enum { MANY = 300, PARTS = 4 };
    struct pythia_random random;
    struct pythia_history *all = make();
    size_t order[MANY];
    pythia_random_init(&random, 3);
    for (size_t i = 0; i < MANY; i++) {
        char id[16];
        snprintf(id, sizeof(id), "p%zu", i % 17);
        add(all, id, (double)(i * 37 % 101) / 101, i % 5 == 0);
        order[i] = i;
    }
    for (int run = 0; run < 5; run++) {
        struct pythia_history *parts[PARTS], *merged = make();
        size_t turn[PARTS] = {0, 1, 2, 3};
        for (int i = 0; i < PARTS; i++)
            parts[i] = make();
        pythia_random_shuffle(&random, order, MANY);
        pythia_random_shuffle(&random, turn, PARTS);
        for (size_t i = 0; i < MANY; i++) {
            char id[16];
            snprintf(id, sizeof(id), "p%zu", order[i] % 17);
            add(parts[pythia_random_below(&random, PARTS)], id, (double)(order[i] * 37 % 101) / 101,
                order[i] % 5 == 0);
        }
        for (int i = 0; i < PARTS; i++)
            assert_int_equal(pythia_history_merge(merged, parts[turn[i]]), PYTHIA_OK);
        assert_int_equal(count_of(merged), 17);
        for (int i = 0; i < 17; i++) {
            char id[16];
            snprintf(id, sizeof(id), "p%d", i);
            struct pythia_history_record r = pythia_history_find(all, pythia_text_of(id));
            assert_record(merged, id, r.opened, r.explained_ppb, r.localised);
        }
        for (int i = 0; i < PARTS; i++)
            pythia_history_destroy(parts[i]);
        pythia_history_destroy(merged);
    }
    assert_int_equal(pythia_history_merge(all, all), PYTHIA_OK); /* with itself: twice */
    struct pythia_history_record r = pythia_history_find(all, PYTHIA_TEXT("p0"));
    assert_int_equal(r.opened, 36);
    pythia_history_destroy(all);
}

static void each_failed_allocation_is_told(void **state)
{
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        struct pythia_history *h = NULL;
        struct pythia_text *ids = NULL;
        size_t count = 77;
        pythia_mem_fail_after(failures);
        status = pythia_history_create(&h);
        if (status != PYTHIA_OK)
            assert_null(h);
        if (status == PYTHIA_OK) {
            status = pythia_history_add(h, PYTHIA_TEXT("x"), .5, true);
            if (status != PYTHIA_OK)
                assert_record(h, "x", 0, 0, 0);
        }
        if (status == PYTHIA_OK) {
            status = pythia_history_sorted(h, &ids, &count);
            if (status != PYTHIA_OK)
                assert_true(!ids && count == 77);
        }
        pythia_mem_fail_after(-1);
        if (status != PYTHIA_OK)
            assert_int_equal(status, PYTHIA_ENOMEM);
        pythia_free(ids);
        pythia_history_destroy(h);
    }
    assert_true(failures > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openings_are_counted_by_trace_point),
        cmocka_unit_test(shares_are_between_none_and_all),
        cmocka_unit_test(impossible_records_are_told),
        cmocka_unit_test(counts_stay_at_the_largest_number),
        cmocka_unit_test(merging_does_not_depend_on_order),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
