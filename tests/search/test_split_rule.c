#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/split_rule.h"
#include "pythia/status.h"

static const struct pythia_key_name queue = {PYTHIA_KEY_OF_SPANS, {"queue", 5}};

/* The labels of all parts, "; " between them. */
static void assert_labels(const struct pythia_split_rule *rule, const struct pythia_key_name *key,
                          const char *wanted)
{
    struct pythia_buf text = {0};
    for (uint32_t part = 0; part < pythia_split_rule_parts(rule); part++) {
        pythia_buf_puts(&text, part ? "; " : "");
        pythia_split_rule_label(rule, key, part, &text);
    }
    assert_string_equal(text.bytes, wanted);
    pythia_buf_free(&text);
}

static void intervals_are_told_by_their_ends(void **state)
{
    struct pythia_split_rule rule;
    assert_int_equal(pythia_split_rule_cuts((double[]){3, 10.5}, 2, &rule), PYTHIA_OK);
    assert_labels(&rule, &queue,
                  "without queue; queue is no number; queue < 3; queue 3 to < 10.5; queue >= 10.5");
    pythia_split_rule_clear(&rule);
    assert_int_equal(pythia_split_rule_cuts((double[]){-1e300}, 1, &rule), PYTHIA_OK);
    struct pythia_key_name count = {PYTHIA_KEY_VISITS, {"db:SELECT", 9}};
    assert_labels(&rule, &count,
                  "without count:db:SELECT; count:db:SELECT is no number; "
                  "count:db:SELECT < -1e+300; count:db:SELECT >= -1e+300");
    pythia_split_rule_clear(&rule);
}

static void sets_are_told_by_their_levels(void **state)
{
    const struct pythia_split_level levels[] = {
        {PYTHIA_TEXT("c"), 1}, {PYTHIA_TEXT("b"), 0}, {PYTHIA_TEXT("a"), 0}};
    struct pythia_split_rule rule, copy;
    assert_int_equal(pythia_split_rule_sets(levels, 3, 2, &rule), PYTHIA_OK);
    assert_labels(&rule, &queue,
                  "without queue; queue is no number; queue in {a, b}; queue = c; other queue");
    assert_int_equal(pythia_split_rule_copy(&rule, &copy), PYTHIA_OK);
    pythia_split_rule_clear(&rule);
    assert_labels(&copy, &queue,
                  "without queue; queue is no number; queue in {a, b}; queue = c; other queue");
    pythia_split_rule_clear(&copy);
}

static void long_sets_are_cut(void **state)
{
    struct pythia_split_level levels[9];
    for (size_t i = 0; i < 9; i++)
        levels[i] = (struct pythia_split_level){{&"abcdefghi"[i], 1}, 0};
    struct pythia_split_rule rule;
    assert_int_equal(pythia_split_rule_sets(levels, 9, 1, &rule), PYTHIA_OK);
    assert_labels(&rule, &queue,
                  "without queue; queue is no number; queue in {a, b, c, d, e, f, and 3 more}; "
                  "other queue");
    pythia_split_rule_clear(&rule);
}

static void presence_is_told(void **state)
{
    struct pythia_split_rule rule = {.form = PYTHIA_SPLIT_PRESENT};
    struct pythia_key_name has = {PYTHIA_KEY_VISITED, {"db:SELECT", 9}};
    assert_labels(&rule, &queue, "without queue; queue is no number; with queue");
    assert_labels(&rule, &has, "without db:SELECT; db:SELECT is no number; with db:SELECT");
    assert_int_equal(pythia_split_rule_copy(&rule, &rule), PYTHIA_OK);
    assert_int_equal(rule.form, PYTHIA_SPLIT_PRESENT);
}

static void assert_refined(const struct pythia_split_rule *a, const struct pythia_split_rule *b,
                           const char *wanted)
{
    struct pythia_split_rule both;
    assert_int_equal(pythia_split_rule_refine(a, b, &both), PYTHIA_OK);
    assert_labels(&both, &queue, wanted);
    pythia_split_rule_clear(&both);
}

static void two_rules_make_a_finer_one(void **state)
{
    struct pythia_split_rule a, b, with = {.form = PYTHIA_SPLIT_PRESENT}, none;
    assert_int_equal(pythia_split_rule_cuts((double[]){1, 3}, 2, &a), PYTHIA_OK);
    assert_int_equal(pythia_split_rule_cuts((double[]){2, 3, 4}, 3, &b), PYTHIA_OK);
    assert_refined(&a, &b,
                   "without queue; queue is no number; queue < 1; queue 1 to < 2; queue 2 to < 3; "
                   "queue 3 to < 4; queue >= 4");
    assert_refined(&with, &with, "without queue; queue is no number; with queue");
    pythia_split_rule_clear(&b);
    const char *cut = "without queue; queue is no number; queue < 1; queue 1 to < 3; queue >= 3";
    assert_refined(&with, &a, cut);
    assert_refined(&a, &with, cut);
    const struct pythia_split_level first[] = {
        {PYTHIA_TEXT("a"), 0}, {PYTHIA_TEXT("b"), 0}, {PYTHIA_TEXT("c"), 1}};
    const struct pythia_split_level second[] = {{PYTHIA_TEXT("c"), 0}, {PYTHIA_TEXT("b"), 1}};
    assert_int_equal(pythia_split_rule_sets(first, 3, 2, &b), PYTHIA_OK);
    assert_int_equal(pythia_split_rule_refine(&a, &b, &none), PYTHIA_EINVAL);
    pythia_split_rule_clear(&a);
    assert_int_equal(pythia_split_rule_sets(second, 2, 2, &a), PYTHIA_OK);
    assert_refined(&b, &a,
                   "without queue; queue is no number; queue = a; queue = c; queue = b; "
                   "other queue");
    pythia_split_rule_clear(&a);
    pythia_split_rule_clear(&b);
}

static void a_level_can_be_in_one_set_only(void **state)
{
    const struct pythia_split_level levels[] = {{PYTHIA_TEXT("a"), 0}, {PYTHIA_TEXT("a"), 1}};
    struct pythia_split_rule rule = {.set_count = 77};
    assert_int_equal(pythia_split_rule_sets(levels, 2, 2, &rule), PYTHIA_EINVAL);
    assert_int_equal(rule.set_count, 77);
}

static void assert_number(double number, const char *wanted)
{
    struct pythia_buf text = {0};
    pythia_split_number_add(number, &text);
    assert_string_equal(text.bytes, wanted);
    assert_true(strtod(text.bytes, NULL) == number);
    pythia_buf_free(&text);
}

static void numbers_have_as_few_digits_as_say_them(void **state)
{
    assert_number(0, "0");
    assert_number(-0., "0");
    assert_number(20, "20");
    assert_number(-3, "-3");
    assert_number(.1, "0.1");
    assert_number(1 / 3., "0.3333333333333333");
    assert_number(123456789012345, "123456789012345");
    assert_number(1e15, "1e+15");
    assert_number(5e-324, "5e-324");
    assert_number(9007199254740992, "9007199254740992");
}

static void a_cut_is_easily_read(void **state)
{
    assert_rel_equal(pythia_split_cut(1, 2, true), 2, 0);
    assert_rel_equal(pythia_split_cut(3, 10, true), 7, 0); /* 6.5 rounded up */
    assert_rel_equal(pythia_split_cut(-5, -2, true), -3, 0);
    assert_rel_equal(pythia_split_cut(.1234, .5678, false), .3, 0); /* the middle is .3456 */
    assert_rel_equal(pythia_split_cut(1.25, 1.26, false), 1.255, 0);
    assert_rel_equal(pythia_split_cut(0, 1, false), .5, 0);
    assert_rel_equal(pythia_split_cut(1, nextafter(1, 2), false), nextafter(1, 2), 0);
    assert_rel_equal(pythia_split_cut(-1e308, 1e308, false), 0, 0);
    assert_rel_equal(pythia_split_cut(1e308, 1.5e308, false), 1e308 * 1.3, .1);
}

static void memory_that_is_missing_is_told(void **state)
{
    struct pythia_split_rule rule = {.set_count = 77};
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_split_rule_cuts((double[]){1}, 1, &rule), PYTHIA_ENOMEM);
    assert_int_equal(
        pythia_split_rule_sets(&(struct pythia_split_level){PYTHIA_TEXT("a"), 0}, 1, 1, &rule),
        PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(rule.set_count, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_told_by_their_ends),
        cmocka_unit_test(sets_are_told_by_their_levels),
        cmocka_unit_test(long_sets_are_cut),
        cmocka_unit_test(presence_is_told),
        cmocka_unit_test(two_rules_make_a_finer_one),
        cmocka_unit_test(a_level_can_be_in_one_set_only),
        cmocka_unit_test(numbers_have_as_few_digits_as_say_them),
        cmocka_unit_test(a_cut_is_easily_read),
        cmocka_unit_test(memory_that_is_missing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
