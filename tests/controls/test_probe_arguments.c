/* The functions of this program stand for those of another one. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "probe/probe_arguments.h"
#include "pythia/status.h"

int shop_sell(long count, const char *title, int order_id);

__attribute__((noinline)) int shop_sell(long count, const char *title, int order_id)
{
    return (int)count + title[0] + order_id;
}

static struct pythia_probe_rules rules;

static void find(const char *keys)
{
    char text[512];
    struct pythia_error e = {0};
    int size = snprintf(text, sizeof(text),
                        "service: s\nprograms: [/nowhere/a, /proc/self/exe]\npoints:\n"
                        "  sell: {function: shop_sell, keys: {%s}}\n  other: {wait: futex}\n",
                        keys);
    if (pythia_probe_rules_parse("r", text, (size_t)size, &rules, &e) != PYTHIA_OK)
        fail_msg("%s", e.sentence);
    pythia__probe_arguments_find(&rules);
}

static void a_name_becomes_a_number_and_a_kind(void **state)
{
    find("id: start order_id, what: start title text, n: start count, second: start 2");
    const struct pythia_probe_key *keys = rules.points[0].keys;
    assert_int_equal(keys[0].argument, 2);
    assert_true(keys[0].is_int && !keys[0].text);
    assert_int_equal(keys[1].argument, 1);
    assert_true(keys[1].text && !keys[1].is_int);
    assert_int_equal(keys[2].argument, 0);
    assert_false(keys[2].is_int); /* a long fills its register */
    assert_int_equal(keys[3].argument, 1);
    assert_false(keys[3].is_int);
    pythia_probe_rules_free(&rules);
}

/* Of no hit are there so many values, so its key is left out. */
static void a_name_that_no_program_has_stays_unknown(void **state)
{
    find("id: start order_number, n: start count");
    assert_int_equal(rules.points[0].keys[0].argument, PYTHIA_PROBE_ARGUMENT_NAMED);
    assert_int_equal(rules.points[0].keys[1].argument, 0);
    pythia_probe_rules_free(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_becomes_a_number_and_a_kind),
        cmocka_unit_test(a_name_that_no_program_has_stays_unknown),
    };
    return shop_sell(-200, "a", 3) > 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
