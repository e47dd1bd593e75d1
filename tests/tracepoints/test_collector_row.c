/* Rows of CSV, made without the C library. */
#define _DEFAULT_SOURCE
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "collect/collector.h"

static void assert_real(double value, const char *expected)
{
    char text[64];
    *pythia__row_real(text, value) = '\0';
    assert_string_equal(text, expected);
}

static void a_number_is_as_short_as_it_can_be(void **state)
{
    assert_real(0, "0");
    assert_real(-0.0, "0");
    assert_real(1, "1");
    assert_real(-17, "-17");
    assert_real(.1, "0.1");
    assert_real(-2.5, "-2.5");
    assert_real(123456.789, "123456.789");
    assert_real(.3, "0.3");
    assert_real(.1 + .2, "0.30000000000000004");
    assert_real(1e-7, "0.0000001");
    assert_real(1.0 / 3, "0.3333333333333333");
    assert_real(9007199254740990, "9007199254740990");
    assert_real(1e15, "1000000000000000");
    assert_real(1e22, "1e+22");
    assert_real(1.5e300, "1.5e+300");
    assert_real(5e-324, "4.94065645841247e-324");
    assert_real(NAN, "nan");
    assert_real(INFINITY, "inf");
    assert_real(-INFINITY, "-inf");
}

static uint64_t state_of_random = 42;

static uint64_t next_random(void)
{
    uint64_t z = state_of_random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void every_number_comes_back(void **state)
{
    char text[64];
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random();
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (i % 2)
            value = (double)(bits >> 11) / (double)(1 + (bits & 0xffff));
        if (!isfinite(value))
            continue;
        *pythia__row_real(text, value) = '\0';
        assert_true(strtod(text, NULL) == value);
        assert_true(strlen(text) < 32);
    }
}

static void whole_numbers_and_seconds(void **state)
{
    char text[32];
    static const uint64_t numbers[] = {0, 9, 10, 99, 100, 12345, UINT64_MAX};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        *pythia__row_unsigned(text, numbers[i]) = '\0';
        assert_true(strtoull(text, NULL, 10) == numbers[i]);
        assert_true(numbers[i] == 0 || text[0] != '0');
    }
    static const struct {
        uint64_t ns;
        const char *text;
    } seconds[] = {{0, "0.000000000"},
                   {1, "0.000000001"},
                   {999999999, "0.999999999"},
                   {1000000000, "1.000000000"},
                   {UINT64_C(123456789012), "123.456789012"}};
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        *pythia__row_seconds(text, seconds[i].ns) = '\0';
        assert_string_equal(text, seconds[i].text);
    }
}

static void assert_label(const char *name, size_t bytes, const char *expected)
{
    char text[512];
    text[pythia__row_label(text, name, bytes)] = '\0';
    assert_string_equal(text, expected);
}

static void names_are_quoted_where_they_have_to_be(void **state)
{
    assert_label("queue len", 9, ",queue len,");
    assert_label("/v2/notify [POST]", 17, ",/v2/notify [POST],");
    assert_label("a,b", 3, ",\"a,b\",");
    assert_label("say \"hi\"", 8, ",\"say \"\"hi\"\"\",");
    assert_label("two\nlines", 9, ",\"two\nlines\",");
    assert_label("cr\r", 3, ",\"cr\r\",");
    assert_label(" blank ", 7, ",\" blank \",");
    assert_label("", 0, ",\"\",");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_as_short_as_it_can_be),
        cmocka_unit_test(every_number_comes_back),
        cmocka_unit_test(whole_numbers_and_seconds),
        cmocka_unit_test(names_are_quoted_where_they_have_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
