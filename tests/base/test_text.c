#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/text.h"

#define NOTHING ((struct pythia_text){NULL, 0})

static void equality_is_of_bytes_and_size(void **state)
{
    assert_true(pythia_text_equal(PYTHIA_TEXT("ab"), pythia_text_of("ab")));
    assert_false(pythia_text_equal(PYTHIA_TEXT("ab"), PYTHIA_TEXT("ab\0")));
    assert_false(pythia_text_equal(PYTHIA_TEXT("ab"), PYTHIA_TEXT("aB")));
    assert_true(pythia_text_equal(NOTHING, PYTHIA_TEXT("")));
    struct pythia_text ab = {"abc", 2};
    assert_true(PYTHIA_TEXT_IS(ab, "ab"));
    assert_false(PYTHIA_TEXT_IS(ab, "abc"));
    assert_false(PYTHIA_TEXT_IS(ab, "aa"));
}

/* Bytes count as 0 to 255, also where char is signed; what is the beginning of the other comes
 * first. */
static void order_is_of_bytes_then_of_size(void **state)
{
    static const struct pythia_text in_order[] = {
        {NULL, 0}, {"\0", 1},   {"A", 1},    {"AA", 2},   {"B", 1},
        {"a", 1},  {"\x7f", 1}, {"\x80", 1}, {"\xff", 1},
    };
    for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
        for (size_t k = 0; k < sizeof(in_order) / sizeof(in_order[0]); k++) {
            int order = pythia_text_compare(in_order[i], in_order[k]);
            assert_true(i < k ? order < 0 : i > k ? order > 0 : order == 0);
        }
}

static void beginning_end_and_part(void **state)
{
    struct pythia_text text = PYTHIA_TEXT("abcab");
    assert_true(pythia_text_starts(text, PYTHIA_TEXT("abc")));
    assert_true(pythia_text_starts(text, text));
    assert_false(pythia_text_starts(text, PYTHIA_TEXT("bc")));
    assert_false(pythia_text_starts(text, PYTHIA_TEXT("abcabc")));
    assert_true(pythia_text_ends(text, PYTHIA_TEXT("cab")));
    assert_true(pythia_text_ends(text, text));
    assert_false(pythia_text_ends(text, PYTHIA_TEXT("abc")));
    assert_false(pythia_text_ends(text, PYTHIA_TEXT("xabcab")));
    assert_true(pythia_text_contains(text, PYTHIA_TEXT("bca")));
    assert_true(pythia_text_contains(text, PYTHIA_TEXT("ab")));
    assert_true(pythia_text_contains(text, PYTHIA_TEXT("b")));
    assert_false(pythia_text_contains(text, PYTHIA_TEXT("cb")));
    assert_false(pythia_text_contains(PYTHIA_TEXT("ab"), PYTHIA_TEXT("abc")));
}

/* A text of no bytes may have no address: everything begins with it, ends with it and contains it.
 */
static void nothing_is_a_part_of_everything(void **state)
{
    static const struct pythia_text some[] = {{"a", 1}, {"", 0}, {NULL, 0}};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 1; k < 3; k++) {
            assert_true(pythia_text_starts(some[i], some[k]));
            assert_true(pythia_text_ends(some[i], some[k]));
            assert_true(pythia_text_contains(some[i], some[k]));
        }
    assert_false(pythia_text_starts(NOTHING, PYTHIA_TEXT("a")));
    assert_false(pythia_text_ends(NOTHING, PYTHIA_TEXT("a")));
    assert_false(pythia_text_contains(NOTHING, PYTHIA_TEXT("a")));
    char out[8];
    uint64_t high, low;
    assert_int_equal(pythia_text_template(NOTHING, out, sizeof(out)), 0);
    assert_false(pythia_text_hex(NOTHING, &high, &low));
    assert_false(pythia_text_uuid(NOTHING, &high, &low));
}

/* The template, in a room that is as large as it has to be and no larger; NULL if the text is its
 * own. */
static const char *template_of(const char *name)
{
    static char out[4096];
    struct pythia_text text = pythia_text_of(name);
    size_t size = pythia_text_template(text, out, sizeof(out));
    if (size == 0)
        return NULL;
    assert_true(size < sizeof(out));
    out[size] = '\0';
    return out;
}

#define UUID "123e4567-e89b-12d3-a456-426614174000"

static void identifiers_in_a_path_are_replaced(void **state)
{
    static const char *const replaced[][2] = {
        {"/users/17", "/users/{id}"},
        {"/users/17/", "/users/{id}/"},
        {"/17", "/{id}"},
        {"GET /users/17/items/0042", "GET /users/{id}/items/{id}"},
        {"/v2/servers/" UUID "/action", "/v2/servers/{id}/action"},
        {"/v2/servers/123E4567-E89B-12D3-A456-426614174000", "/v2/servers/{id}"},
        {"/"
         "0123456789abcdef"
         "0123456789abcdef",
         "/{id}"},                                /* a UUID without dashes */
        {"/blob/0123456789abcdef", "/blob/{id}"}, /* 16 digits: an id of 64 bits */
        {"/blob/DEADBEEFdeadbeef00", "/blob/{id}"},
        {"//5//", "//{id}//"},
        {"/1/2/3", "/{id}/{id}/{id}"},
        {"/1/1/1/1/1/1/1/1", "/{id}/{id}/{id}/{id}/{id}/{id}/{id}/{id}"},
    };
    for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++) {
        assert_non_null(template_of(replaced[i][0]));
        assert_string_equal(template_of(replaced[i][0]), replaced[i][1]);
        assert_null(template_of(replaced[i][1])); /* a template is its own template */
    }
}

static void a_query_is_cut(void **state)
{
    assert_string_equal(template_of("/search?q=1"), "/search");
    assert_string_equal(template_of("/users/17?page=2/3"), "/users/{id}");
    assert_string_equal(template_of("GET /a/?"), "GET /a/");
}

static void what_is_no_identifier_stays(void **state)
{
    static const char *const own[] = {
        "",
        "/",
        "/users/me",
        "/v2/servers",
        "/users/17a",
        "/blob/0123456789abcde",                          /* 15 digits */
        "/blob/0123456789abcdeg0",                        /* not hexadecimal */
        "/servers/123e4567e89b-12d3-a456-4266141740000",  /* its dashes are elsewhere */
        "/servers/123e4567-e89b-12d3-a456-4266141740000", /* a digit too many */
        "/a-b/c_d/e.f",
        "/{id}/x",
        "/-5",
        "/1.5",
    };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        assert_null(template_of(own[i]));
}

/* A name that is no path may be a number or have a question mark in it. */
static void names_without_a_slash_are_untouched(void **state)
{
    static const char *const own[] = {"17",     UUID,       "0123456789abcdef",
                                      "is it?", "SELECT 1", "query 42"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        assert_null(template_of(own[i]));
    assert_null(template_of("17/users")); /* nor does a path begin with one */
}

static void a_template_that_does_not_fit_is_none(void **state)
{
    struct pythia_text text = PYTHIA_TEXT("/users/17/items/42/x");
    const char *expected = "/users/{id}/items/{id}/x";
    size_t needed = strlen(expected);
    for (size_t capacity = 0; capacity <= needed + 4; capacity++) {
        char *out = malloc(capacity + !capacity); /* no larger, for the sanitizer */
        size_t size = pythia_text_template(text, out, capacity);
        assert_true(size == 0 || size == needed);
        assert_true(size == needed || capacity <= needed);
        if (size)
            assert_memory_equal(out, expected, needed);
        free(out);
    }
}

/* The bound that callers rely on: never more than the size of the text and 4 bytes for each of its
 * elements. */
static void a_template_is_at_most_four_bytes_longer_an_element(void **state)
{
    char text[601], out[601 + 4 * 302];
    size_t size = 0;
    for (size_t elements = 2; elements <= 301; elements++) {
        text[size++] = '/';
        text[size++] = '7';
        size_t got =
            pythia_text_template((struct pythia_text){text, size}, out, size + 4 * elements);
        assert_int_equal(got, 5 * (elements - 1)); /* "/{id}" for each "/7" */
    }
}

static void uuids_are_read_in_both_forms(void **state)
{
    static const char *const good[] = {UUID, "123E4567-E89B-12D3-A456-426614174000",
                                       "123e4567e89b12d3a456426614174000"};
    static const char *const bad[] = {"",
                                      "123e4567",
                                      "123e4567-e89b-12d3-a456-42661417400",
                                      "123e4567-e89b-12d3-a456-4266141740000",
                                      "123e4567-e89b-12d3-a456_426614174000",
                                      "123e4567ee89b-12d3-a456-42661417400-",
                                      "123e4567-e89b-12d3-a456-42661417400g",
                                      "123e4567-e89b-12d3-a45-6426614174000",
                                      "{23e4567-e89b-12d3-a456-42661417400}",
                                      "x23e4567e89b12d3a456426614174000",
                                      "------------------------------------"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t high = 0, low = 0;
        assert_true(pythia_text_uuid(pythia_text_of(good[i]), &high, &low));
        assert_int_equal(high, UINT64_C(0x123e4567e89b12d3));
        assert_int_equal(low, UINT64_C(0xa456426614174000));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t high = 7, low = 8;
        assert_false(pythia_text_uuid(pythia_text_of(bad[i]), &high, &low));
        assert_int_equal(high, 7); /* untouched */
        assert_int_equal(low, 8);
    }
}

static void hexadecimal_numbers_have_up_to_128_bits(void **state)
{
    static const struct {
        const char *text;
        uint64_t high, low;
    } good[] = {
        {"0", 0, 0},
        {"f", 0, 15},
        {"F0", 0, 240},
        {"0123456789abcdef", 0, UINT64_C(0x0123456789abcdef)},
        {"10123456789abcdef", 1, UINT64_C(0x0123456789abcdef)},
        {"fedcba98765432100123456789ABCDEF", UINT64_C(0xfedcba9876543210),
         UINT64_C(0x0123456789abcdef)},
        {"00000000000000000000000000000001", 0, 1},
    };
    static const char *const bad[] = {"",   "g",  "0x1",  "-1",
                                      " 1", "1 ", "/",    ":",
                                      "@",  "`",  "\xff", "fedcba98765432100123456789ABCDEF0"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t high = 7, low = 8;
        assert_true(pythia_text_hex(pythia_text_of(good[i].text), &high, &low));
        assert_int_equal(high, good[i].high);
        assert_int_equal(low, good[i].low);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t high = 7, low = 8;
        assert_false(pythia_text_hex(pythia_text_of(bad[i]), &high, &low));
        assert_int_equal(high, 7);
        assert_int_equal(low, 8);
    }
}

/* Of each size, so that a fault stands at each place of a word and behind it. */
static void hexadecimal_digits_have_values(void **state)
{
    for (int c = 0; c < 256; c++) {
        const char *digits = "0123456789abcdefABCDEF", *at = c ? strchr(digits, c) : NULL;
        int place = at ? (int)(at - digits) : -1;
        assert_int_equal(pythia_text_hex_digit((char)c), place > 15 ? place - 6 : place);
    }
}

static bool fits(const char *text, const char *pattern, bool any_case)
{
    return pythia_text_fits(pythia_text_of(text), pythia_text_of(pattern), any_case);
}

static void patterns_fit_whole_texts(void **state)
{
    assert_true(fits("", "", false) && fits("", "*", false) && fits("", "**", false));
    assert_false(fits("", "?", false) || fits("a", "", false) || fits("a", "??", false));
    assert_true(fits("shop:pay", "shop:*", false) && fits("shop:pay", "*:p?y", false));
    assert_false(fits("shop:pays", "*:p?y", false) || fits("xshop:pay", "shop:*", false));
    /* An earlier end that looks like the last one, and a star that has to take more than once. */
    assert_true(fits("abcabd", "a*abd", false) && fits("aabab", "*ab", false));
    assert_true(fits("a.b.c.d", "a*.c*d", false));
    assert_false(fits("abab", "*ab?", false));
    /* A star in the text is a byte like any other. */
    assert_true(fits("a*b", "a*b", false) && fits("*", "?", false));
    assert_false(fits("Set-Cookie", "set-*", false));
    assert_true(fits("Set-Cookie", "sET-*kie", true));
    assert_false(fits("@", "`", true) || fits("[", "{", true)); /* a case bit, but no letters */
}

static void ascii_is_told_from_what_is_not(void **state)
{
    static const char faults[] = {'\0', '\x80', '\xFF'};
    char bytes[40];
    assert_true(pythia_text_is_ascii(NOTHING));
    for (size_t size = 1; size <= sizeof(bytes); size++) {
        memset(bytes, 0x7F, size);
        assert_true(pythia_text_is_ascii((struct pythia_text){bytes, size}));
        memset(bytes, 1, size);
        assert_true(pythia_text_is_ascii((struct pythia_text){bytes, size}));
        for (size_t i = 0; i < 3 * size; i++) {
            bytes[i / 3] = faults[i % 3];
            assert_false(pythia_text_is_ascii((struct pythia_text){bytes, size}));
            bytes[i / 3] = 1;
        }
    }
}

/* The bounds of table 3-7 of the Unicode Standard, and one beyond each. */
static void what_is_not_utf8_is_repaired(void **state)
{
#define BAD "\xEF\xBF\xBD"
    static const struct {
        const char *text, *repaired; /* NULL: it is sound */
    } cases[] = {
        {"", NULL},
        {"a", NULL},
        {"a\xC3\xA4", NULL},
        {"\xC2\x80\xDF\xBF", NULL},
        {"\xE0\xA0\x80\xEC\xBF\xBF\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", NULL},
        {"\xF0\x90\x80\x80\xF3\xBF\xBF\xBF\xF4\x8F\xBF\xBF", NULL},
        {"\x80", BAD},
        {"\xC1\xBF", BAD BAD},
        {"\xC2", BAD},
        {"\xC2x", BAD "x"},
        {"\xDF\xC0", BAD BAD},
        {"\xE0\x9F\xBF", BAD BAD BAD},
        {"\xE1\x80", BAD BAD},
        {"\xE1\x80\x7F", BAD BAD "\x7F"},
        {"\xED\xA0\x80", BAD BAD BAD}, /* half a surrogate pair */
        {"\xF0\x8F\xBF\xBF", BAD BAD BAD BAD},
        {"\xF4\x90\x80\x80", BAD BAD BAD BAD},
        {"\xF1\x80\x80", BAD BAD BAD},
        {"\xF1\x80\x80\xC0", BAD BAD BAD BAD},
        {"\xF5\x80\x80\x80", BAD BAD BAD BAD},
        {"caf\xE9 \xC3\xA9", "caf" BAD " \xC3\xA9"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_text text = pythia_text_of(cases[i].text);
        const char *wanted = cases[i].repaired ? cases[i].repaired : cases[i].text;
        assert_int_equal(pythia_text_is_sound(text), cases[i].repaired == NULL);
        size_t size = pythia_text_repair(text, out);
        assert_int_equal(size, strlen(wanted));
        assert_memory_equal(out, wanted, size);
    }
    struct pythia_text zero = {"a\0b", 3};
    assert_false(pythia_text_is_sound(zero));
    assert_int_equal(pythia_text_repair(zero, out), 5);
    assert_memory_equal(out, "a" BAD "b", 5);
#undef BAD
}

static void blanks_around_a_text_are_trimmed(void **state)
{
    assert_true(PYTHIA_TEXT_IS(pythia_text_trim(PYTHIA_TEXT(" \t a b\r\n")), "a b"));
    assert_true(PYTHIA_TEXT_IS(pythia_text_trim(PYTHIA_TEXT("a")), "a"));
    assert_int_equal(pythia_text_trim(PYTHIA_TEXT(" \n ")).size, 0);
}

static void numbers_have_a_largest(void **state)
{
    static const char *const bad[] = {"", "-1", "1.0", "a", "1 ", "18446744073709551616", "256"};
    uint64_t number = 7;
    assert_true(pythia_text_unsigned(PYTHIA_TEXT("18446744073709551615"), UINT64_MAX, &number));
    assert_true(number == UINT64_MAX);
    assert_true(pythia_text_unsigned(PYTHIA_TEXT("0255"), 255, &number));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(pythia_text_unsigned(pythia_text_of(bad[i]), 255, &number));
    assert_int_equal(number, 255);
}

static void seconds_are_exact_nanoseconds(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"0", 0},
                {"1.5", 1500000000},
                {"1637008247.972586901", 1637008247972586901},
                {"1.0000000019", 1000000001},
                {"2.", 2000000000}};
    static const char *const bad[] = {"", ".5", "1.5e3", "1.x", "-1", "9223372036", "1,5"};
    uint64_t ns = 7;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(pythia_text_seconds(pythia_text_of(good[i].text), &ns));
        assert_true(ns == good[i].ns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(pythia_text_seconds(pythia_text_of(bad[i]), &ns));
    assert_true(ns == 2000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_is_of_bytes_and_size),
        cmocka_unit_test(order_is_of_bytes_then_of_size),
        cmocka_unit_test(beginning_end_and_part),
        cmocka_unit_test(nothing_is_a_part_of_everything),
        cmocka_unit_test(identifiers_in_a_path_are_replaced),
        cmocka_unit_test(a_query_is_cut),
        cmocka_unit_test(what_is_no_identifier_stays),
        cmocka_unit_test(names_without_a_slash_are_untouched),
        cmocka_unit_test(a_template_that_does_not_fit_is_none),
        cmocka_unit_test(a_template_is_at_most_four_bytes_longer_an_element),
        cmocka_unit_test(uuids_are_read_in_both_forms),
        cmocka_unit_test(hexadecimal_numbers_have_up_to_128_bits),
        cmocka_unit_test(hexadecimal_digits_have_values),
        cmocka_unit_test(patterns_fit_whole_texts),
        cmocka_unit_test(ascii_is_told_from_what_is_not),
        cmocka_unit_test(what_is_not_utf8_is_repaired),
        cmocka_unit_test(blanks_around_a_text_are_trimmed),
        cmocka_unit_test(numbers_have_a_largest),
        cmocka_unit_test(seconds_are_exact_nanoseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
