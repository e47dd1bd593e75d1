#include <stdio.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/prices.h"
#include "pythia/status.h"

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_prices *prices;
};

static void begin(struct bench *b)
{
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_prices_create(b->vocabulary, &b->prices), PYTHIA_OK);
}

static void end(struct bench *b)
{
    pythia_prices_destroy(b->prices);
    pythia_vocabulary_destroy(b->vocabulary);
}

static uint32_t point(struct bench *b, const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(b->vocabulary, pythia_text_of(id), 0, 0);
}

static void set(struct bench *b, const char *id, double ns)
{
    assert_int_equal(pythia_prices_set(b->prices, pythia_text_of(id), ns), PYTHIA_OK);
}

static double price(struct bench *b, const char *id)
{
    return pythia_prices_of(b->prices, point(b, id), 1000);
}

static void what_the_table_does_not_say_costs_the_usual(void **state)
{
    struct bench b;
    begin(&b);
    assert_rel_equal(price(&b, "db:query"), 1000, 0);
    assert_false(pythia_prices_has(b.prices, point(&b, "db:query")));
    set(&b, "db:query", 250); /* after it was asked for */
    assert_rel_equal(price(&b, "db:query"), 250, 0);
    assert_true(pythia_prices_has(b.prices, point(&b, "db:query")));
    assert_rel_equal(price(&b, "db:query2"), 1000, 0);
    set(&b, "db:free", 0);
    assert_rel_equal(price(&b, "db:free"), 0, 0);
    set(&b, "db:query", 260); /* what was answered before counts no more, of this point alone */
    assert_rel_equal(price(&b, "db:query"), 260, 0);
    assert_rel_equal(price(&b, "db:free"), 0, 0);
    assert_rel_equal(pythia_prices_of(NULL, point(&b, "db:query"), 7), 7, 0);
    assert_rel_equal(pythia_prices_of(b.prices, PYTHIA_NONE, 7), 7, 0);
    assert_false(pythia_prices_has(NULL, point(&b, "db:query")));
    end(&b);
    pythia_prices_destroy(NULL);
}

static void the_id_goes_before_patterns_and_the_last_one_counts(void **state)
{
    struct bench b;
    begin(&b);
    set(&b, "db:*", 10);
    set(&b, "db:query", 20);
    set(&b, "*:query", 30);
    assert_rel_equal(price(&b, "db:query"), 20, 0);
    assert_rel_equal(price(&b, "db:commit"), 10, 0);
    assert_rel_equal(price(&b, "web:query"), 30, 0);
    set(&b, "db:c*", 40);
    assert_rel_equal(price(&b, "db:commit"), 40, 0);
    set(&b, "db:query", 50);
    assert_rel_equal(price(&b, "db:query"), 50, 0);
    set(&b, "db:[x]", 60); /* a name that looks like a pattern is a name too */
    assert_rel_equal(price(&b, "db:[x]"), 60, 0);
    assert_rel_equal(price(&b, "db:x"), 60, 0);
    end(&b);
}

static void relative_prices_are_multiples_of_the_usual_one(void **state)
{
    struct bench b;
    begin(&b);
    set(&b, "a", 500);
    assert_rel_equal(pythia_prices_relative(b.prices, point(&b, "a"), 2000), .25, 0);
    assert_rel_equal(pythia_prices_relative(b.prices, point(&b, "b"), 2000), 1, 0);
    assert_rel_equal(pythia_prices_relative(b.prices, point(&b, "a"), 0), .5, 0); /* of 1000 */
    assert_rel_equal(pythia_prices_relative(b.prices, point(&b, "b"), 0), 1, 0);
    assert_rel_equal(pythia_prices_relative(NULL, point(&b, "a"), 2000), 1, 0);
    end(&b);
}

static void no_price_is_below_zero_or_without_end(void **state)
{
    struct bench b;
    begin(&b);
    const double wrong[] = {-1, -1e-300, INFINITY, -INFINITY, NAN};
    set(&b, "a", 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(pythia_prices_set(b.prices, PYTHIA_TEXT("a"), wrong[i]), PYTHIA_EINVAL);
    assert_rel_equal(price(&b, "a"), 5, 0);
    end(&b);
}

static void a_price_is_parted_from_its_point_by_the_last_sign(void **state)
{
    static const struct {
        const char *text, *point;
        double ns;
    } cases[] = {{"db:query=250", "db:query", 250},
                 {"GET /?a=b=1e3", "GET /?a=b", 1000},
                 {"*=0", "*", 0},
                 {"x=0.5", "x", .5}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_text id;
        struct pythia_error e = {0};
        double ns;
        assert_int_equal(pythia_prices_parse(pythia_text_of(cases[i].text), &id, &ns, &e),
                         PYTHIA_OK);
        assert_true(pythia_text_equal(id, pythia_text_of(cases[i].point)));
        assert_rel_equal(ns, cases[i].ns, 0);
    }
}

static void what_gives_no_price_is_told(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {{"", "'' has no price: expected ID=NS, such as db:query=250"},
                 {"db", "'db' has no price: expected ID=NS, such as db:query=250"},
                 {"=5", "'=5' has no price: expected ID=NS, such as db:query=250"},
                 {"db=", "'' is not a price: expected nanoseconds, 0 or more"},
                 {"db=-5", "'-5' is not a price: expected nanoseconds, 0 or more"},
                 {"db=5ns", "'5ns' is not a price: expected nanoseconds, 0 or more"},
                 {"db=nan", "'nan' is not a price: expected nanoseconds, 0 or more"},
                 {"db=inf", "'inf' is not a price: expected nanoseconds, 0 or more"},
                 {"db=1e999", "'1e999' is not a price: expected nanoseconds, 0 or more"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_text id;
        struct pythia_error e = {0};
        double ns;
        assert_int_equal(pythia_prices_parse(pythia_text_of(cases[i].text), &id, &ns, &e),
                         PYTHIA_EFORMAT);
        assert_string_equal(e.sentence, cases[i].why);
    }
}

static void each_failed_allocation_leaves_the_table_as_it_was(void **state)
{
    struct bench b;
    long failures = 0;
    assert_int_equal(pythia_vocabulary_create(&b.vocabulary), PYTHIA_OK);
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        b.prices = NULL;
        pythia_mem_fail_after(failures);
        status = pythia_prices_create(b.vocabulary, &b.prices);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || !b.prices);
    }
    assert_true(failures > 2);
    set(&b, "a", 1);
    assert_rel_equal(price(&b, "a"), 1, 0);
    failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        pythia_mem_fail_after(failures);
        status = pythia_prices_set(b.prices, PYTHIA_TEXT("[ax]"), 2);
        pythia_mem_fail_after(-1);
        assert_rel_equal(price(&b, "x"), status == PYTHIA_OK ? 2 : 1000, 0);
        assert_rel_equal(price(&b, "a"), 1, 0);
    }
    assert_true(failures > 2);
    uint32_t far = 0;
    char id[16];
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof(id), "far%d", i);
        far = point(&b, id);
    }
    pythia_mem_fail_after(0); /* what was not asked before is looked up all the same */
    assert_rel_equal(pythia_prices_of(b.prices, far, 1000), 1000, 0);
    pythia_mem_fail_after(-1);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_table_does_not_say_costs_the_usual),
        cmocka_unit_test(the_id_goes_before_patterns_and_the_last_one_counts),
        cmocka_unit_test(relative_prices_are_multiples_of_the_usual_one),
        cmocka_unit_test(no_price_is_below_zero_or_without_end),
        cmocka_unit_test(a_price_is_parted_from_its_point_by_the_last_sign),
        cmocka_unit_test(what_gives_no_price_is_told),
        cmocka_unit_test(each_failed_allocation_leaves_the_table_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
