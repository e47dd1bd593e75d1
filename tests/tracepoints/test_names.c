#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory/names.h"

/* The values of draft-eastlake-fnv's own test vectors. */
static void the_hash_is_fnv(void **state)
{
    assert_true(pythia__fnv("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(pythia__fnv("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(pythia__fnv("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void assert_clean(const char *name, size_t bytes, const char *expected)
{
    char out[64];
    int cut = -1;
    size_t size = pythia__name_clean(name, bytes, out, sizeof(out), &cut);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(out, expected, size);
    assert_int_equal(cut, 0);
}

/* The sequences of table 3-8 of The Unicode Standard, and what is around them; each byte that is no
 * part of a character becomes one U+FFFD. */
static void names_are_made_utf8(void **state)
{
#define BAD "\xEF\xBF\xBD"
    assert_clean("", 0, "");
    assert_clean("plain name", 10, "plain name");
    assert_clean("\x7f\n\x01", 3, "\x7f\n\x01");
    assert_clean("\xC2\x80\xDF\xBF", 4, "\xC2\x80\xDF\xBF");
    assert_clean("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80", 9, "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80");
    assert_clean("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
    assert_clean("a\0b", 3, "a" BAD "b");
    assert_clean("\x80\xBF", 2, BAD BAD);
    assert_clean("\xC0\x80\xC1\xBF", 4, BAD BAD BAD BAD);
    assert_clean("\xE0\x80\x80", 3, BAD BAD BAD);
    assert_clean("\xED\xA0\x80", 3, BAD BAD BAD);
    assert_clean("\xF0\x8F\xBF\xBF", 4, BAD BAD BAD BAD);
    assert_clean("\xF4\x90\x80\x80", 4, BAD BAD BAD BAD);
    assert_clean("\xF5\xFF\xFE", 3, BAD BAD BAD);
    assert_clean("\xE2\x82", 2, BAD BAD);
    assert_clean("\xE2\x82"
                 "a",
                 3, BAD BAD "a");
}

static void long_names_are_cut_where_a_character_ends(void **state)
{
    char out[32], name[100];
    int cut;
    memset(name, 'x', sizeof(name));
    assert_int_equal(pythia__name_clean(name, 32, out, 32, &cut), 32);
    assert_false(cut);
    assert_int_equal(pythia__name_clean(name, 33, out, 32, &cut), 32);
    assert_true(cut);
    assert_memory_equal(out, "xxxxxxxxxxxx...#", 16);
    name[11] = '\xC3'; /* a character across the place of the cut */
    name[12] = '\xA9';
    assert_int_equal(pythia__name_clean(name, 100, out, 32, &cut), 31);
    assert_memory_equal(out, "xxxxxxxxxxx...#", 15);
    char other[32];
    name[99] = 'y';
    pythia__name_clean(name, 100, other, 32, NULL);
    assert_memory_not_equal(out, other, 31); /* they still differ */
}

static void patterns_fit_what_they_should(void **state)
{
    static const struct {
        const char *pattern, *name;
        int fits;
    } cases[] = {
        {"", "", 1},
        {"", "a", 0},
        {"a", "a", 1},
        {"a", "b", 0},
        {"a", "ab", 0},
        {"ab", "a", 0},
        {"*", "", 1},
        {"*", "anything: at all", 1},
        {"?", "", 0},
        {"?", "a", 1},
        {"shop:*", "shop:checkout", 1},
        {"shop:*", "bank:checkout", 0},
        {"*:checkout", "shop:checkout", 1},
        {"*out", "checkoutout", 1},
        {"*o*t", "checkout", 1},
        {"c*k?ut", "checkout", 1},
        {"c*k?ut", "checkut", 0},
        {"**a**", "bab", 1},
        {"a*b*c", "aXXbYYbc", 1},
        {"a*b*c", "aXXbYYcd", 0},
        {"[a]", "a", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (pythia__name_matches(cases[i].pattern, strlen(cases[i].pattern), cases[i].name,
                                 strlen(cases[i].name)) != cases[i].fits)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
}

/* Patterns that make a program that tries each possibility run for years. */
static void patterns_end(void **state)
{
    char name[200], pattern[100];
    memset(name, 'a', sizeof(name));
    memset(pattern, 'a', sizeof(pattern));
    for (size_t i = 0; i < sizeof(pattern) - 1; i += 2)
        pattern[i] = '*';
    pattern[sizeof(pattern) - 1] = 'b';
    assert_false(pythia__name_matches(pattern, sizeof(pattern), name, sizeof(name)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_fnv),
        cmocka_unit_test(names_are_made_utf8),
        cmocka_unit_test(long_names_are_cut_where_a_character_ends),
        cmocka_unit_test(patterns_fit_what_they_should),
        cmocka_unit_test(patterns_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
