#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "pythia/expectation.h"
#include "pythia/status.h"

static struct pythia_expectations read_one(const struct pythia_expectation_text *text)
{
    struct pythia_expectations all = {0};
    struct pythia_error e = {0};
    assert_int_equal(pythia_expectations_add(&all, text, &e), PYTHIA_OK);
    assert_int_equal(all.count, 1);
    return all;
}

static void limits_have_units_and_may_stand_without_blanks(void **state)
{
    static const struct {
        const char *text;
        double ns;
    } cases[] = {{"< 250ms", 250e6}, {"<250ms", 250e6}, {"  < 1.5 s", 1.5e9},
                 {"< 7us", 7e3},     {"< 900 ns", 900}, {"< 1e2ms", 100e6}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_expectations all =
            read_one(&(struct pythia_expectation_text){.type = "A", .p99 = cases[i].text});
        assert_rel_equal(all.list[0].p99_ns, cases[i].ns, 1e-15);
        assert_true(isnan(all.list[0].cov));
        pythia_expectations_free(&all);
    }
}

static void what_cannot_be_read_says_what_to_write(void **state)
{
    static const struct {
        struct pythia_expectation_text text;
        const char *says;
    } cases[] = {
        {{.p99 = "< 1ms"}, "type is missing"},
        {{.type = "", .p99 = "< 1ms"}, "type is missing"},
        {{.type = "A"}, "give p99, cov or same_path_as"},
        {{.type = "A", .where = "x < 1"}, "give p99, cov or same_path_as"},
        {{.type = "A", .p99 = "250ms"}, "such as < 250ms"},
        {{.type = "A", .p99 = "< 250"}, "such as < 250ms"},
        {{.type = "A", .p99 = "< 250 minutes"}, "such as < 250ms"},
        {{.type = "A", .p99 = "< -1ms"}, "such as < 250ms"},
        {{.type = "A", .p99 = "< infs"}, "such as < 250ms"},
        {{.type = "A", .cov = "< 0.3ms"}, "such as < 0.3"},
        {{.type = "A", .cov = "0.3"}, "such as < 0.3"},
        {{.type = "A", .cov = "< nan"}, "such as < 0.3"},
        {{.type = "A", .cov = "< 1", .where = "queue"}, "such as queue_length < 2"},
        {{.type = "A", .cov = "< 1", .where = "queue<2"}, "such as queue_length < 2"},
        {{.type = "A", .cov = "< 1", .where = " < 2"}, "such as queue_length < 2"},
        {{.type = "A", .cov = "< 1", .where = "queue < "}, "such as queue_length < 2"},
        {{.type = "A", .cov = "< 1", .where = "host < cp-1"}, "use = or !="},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_expectations all = {0};
        struct pythia_error e = {0};
        assert_int_equal(pythia_expectations_add(&all, &cases[i].text, &e), PYTHIA_EUSAGE);
        if (!strstr(e.sentence, cases[i].says))
            fail_msg("'%s' does not say '%s'", e.sentence, cases[i].says);
        assert_int_equal(all.count, 0);
        pythia_expectations_free(&all);
    }
}

static bool meets(const char *where, const char *value)
{
    struct pythia_expectations all =
        read_one(&(struct pythia_expectation_text){.type = "A", .where = where, .cov = "< 1"});
    struct pythia_key_value v = {.present = value != NULL};
    if (value) {
        char *end;
        v.number = strtod(value, &end);
        v.numeric = *end == '\0';
    }
    bool met =
        pythia_expectation_meets(&all.list[0], &v, value ? pythia_text_of(value) : PYTHIA_TEXT(""));
    pythia_expectations_free(&all);
    return met;
}

static void numbers_compare_as_numbers_and_texts_as_texts(void **state)
{
    assert_true(meets("q < 2", "1.5") && !meets("q < 2", "2") && !meets("q < 2", "10"));
    assert_true(meets("q <= 2", "2") && !meets("q <= 2", "2.1"));
    assert_true(meets("q > 9", "10") && !meets("q > 9", "9"));
    assert_true(meets("q >= 9", "9") && !meets("q >= 9", "8"));
    assert_true(meets("q = 2", "2.0") && !meets("q = 2", "3"));
    assert_true(meets("q != 2", "3") && !meets("q != 2", "2.0"));
    assert_true(meets("host = cp-2", "cp-2") && !meets("host = cp-2", "cp-1"));
    assert_true(meets("host != cp-2", "cp-1") && !meets("host != cp-2", "cp-2"));
    assert_true(meets("expr = a < b", "a < b")); /* the first operator is the condition's */
    assert_false(meets("q < 2", "few"));
}

static void a_request_without_the_key_meets_no_condition(void **state)
{
    assert_false(meets("q < 2", NULL));
    assert_false(meets("q != 2", NULL));
}

static void a_count_of_visits_is_a_key(void **state)
{
    struct pythia_expectations all = read_one(&(struct pythia_expectation_text){
        .type = "A", .where = "count:api:retry > 0", .cov = "< 1"});
    assert_int_equal(all.list[0].key.source, PYTHIA_KEY_VISITS);
    assert_true(pythia_text_equal(all.list[0].key.text, PYTHIA_TEXT("api:retry")));
    pythia_expectations_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_have_units_and_may_stand_without_blanks),
        cmocka_unit_test(what_cannot_be_read_says_what_to_write),
        cmocka_unit_test(numbers_compare_as_numbers_and_texts_as_texts),
        cmocka_unit_test(a_request_without_the_key_meets_no_condition),
        cmocka_unit_test(a_count_of_visits_is_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
