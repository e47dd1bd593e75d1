#include <string.h>

#include "check.h"
#include "kafka/kafka_url.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static void a_url_has_brokers_a_topic_and_a_group(void **state)
{
    struct pythia__kafka_url u;
    struct pythia_error e = {0};
    assert_int_equal(pythia__kafka_url_read("kafka://a:9092,b/otlp_spans?group=x", &u, &e),
                     PYTHIA_OK);
    assert_string_equal(u.brokers, "a:9092,b");
    assert_string_equal(u.topic, "otlp_spans");
    assert_string_equal(u.group, "x");
    assert_int_equal(u.setting_count, 0);
    pythia__kafka_url_free(&u);
    assert_int_equal(pythia__kafka_url_read("kafka://a/t", &u, &e), PYTHIA_OK);
    assert_string_equal(u.group, "pythia");
    pythia__kafka_url_free(&u);
}

static void other_settings_are_passed_on_with_their_escapes_undone(void **state)
{
    struct pythia__kafka_url u;
    struct pythia_error e = {0};
    assert_int_equal(pythia__kafka_url_read("kafka://a/t?security.protocol=SASL_SSL"
                                            "&sasl.password=a%26b%3Dc%25%c3%BC&group=g",
                                            &u, &e),
                     PYTHIA_OK);
    assert_int_equal(u.setting_count, 2);
    assert_string_equal(u.settings[0].name, "security.protocol");
    assert_string_equal(u.settings[0].value, "SASL_SSL");
    assert_string_equal(u.settings[1].name, "sasl.password");
    assert_string_equal(u.settings[1].value, "a&b=c%\xc3\xbc");
    pythia__kafka_url_free(&u);
}

static void what_is_no_such_url_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *url, *reason;
    } cases[] = {
        {"a:9092/t", "kafka: it has to begin with kafka://"},
        {"kafka://a:9092", "kafka: it has to be kafka://HOST:PORT/TOPIC?group=NAME"},
        {"kafka:///t", "kafka: it has to be kafka://HOST:PORT/TOPIC?group=NAME"},
        {"kafka://a/", "kafka: a topic has 1 to 249 letters, digits, '.', '_' and '-'"},
        {"kafka://a/^t.*", "kafka: a topic has 1 to 249 letters, digits, '.', '_' and '-'"},
        {"kafka://a/t?group=", "kafka: group is empty"},
        {"kafka://a/t?group", "kafka: what follows ? has to be NAME=VALUE, with & between several"},
        {"kafka://a/t?=x", "kafka: what follows ? has to be NAME=VALUE, with & between several"},
        {"kafka://a/t?sasl.password=secret%2",
         "kafka: sasl.password: a % is written as %25, other bytes as %XX"},
        {"kafka://a/t?sasl.password=secret%\x14\x11", /* no digits, though "41" but for a bit */
         "kafka: sasl.password: a % is written as %25, other bytes as %XX"},
        {"kafka://a/t?sasl.password=secret%00",
         "kafka: sasl.password: a % is written as %25, other bytes as %XX"},
        {"kafka://a/t?group.id=x", "kafka: group.id cannot be set: group=NAME says it"},
        {"kafka://a/t?enable.auto.commit=true",
         "kafka: enable.auto.commit cannot be set: offsets are committed when their requests are "
         "finished"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia__kafka_url u = {0};
        struct pythia_error e = {0};
        assert_int_equal(pythia__kafka_url_read(cases[i].url, &u, &e), PYTHIA_EUSAGE);
        assert_string_equal(e.sentence, cases[i].reason);
        assert_null(u.text);
    }
}

static void more_settings_than_there_is_place_for_are_refused(void **state)
{
    char url[2048] = "kafka://a/t?";
    struct pythia__kafka_url u;
    struct pythia_error e = {0};
    for (int i = 0; i < PYTHIA__KAFKA_SETTINGS_MAX; i++)
        strcat(url, "name.of.it=value&");
    assert_int_equal(pythia__kafka_url_read(url, &u, &e), PYTHIA_OK);
    assert_int_equal(u.setting_count, PYTHIA__KAFKA_SETTINGS_MAX);
    pythia__kafka_url_free(&u);
    strcat(url, "one=more");
    assert_int_equal(pythia__kafka_url_read(url, &u, &e), PYTHIA_EUSAGE);
    assert_string_equal(e.sentence, "kafka: more than 64 settings");
}

static void without_memory_that_is_the_reason(void **state)
{
    struct pythia__kafka_url u;
    struct pythia_error e = {0};
    pythia_mem_fail_after(0);
    int status = pythia__kafka_url_read("kafka://a/t", &u, &e);
    pythia_mem_fail_after(-1);
    assert_int_equal(status, PYTHIA_ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_has_brokers_a_topic_and_a_group),
        cmocka_unit_test(other_settings_are_passed_on_with_their_escapes_undone),
        cmocka_unit_test(what_is_no_such_url_is_refused_with_the_reason),
        cmocka_unit_test(more_settings_than_there_is_place_for_are_refused),
        cmocka_unit_test(without_memory_that_is_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
