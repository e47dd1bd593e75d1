/* HOST/SERVICE/PROCESS/FUNCTION, and what is not that but an id or a pattern of ids. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/status.h"
#include "shared/pin_place.h"

static bool parse(const char *text, struct pythia__pin_place *place)
{
    return pythia__pin_place_parse(pythia_text_of(text), place);
}

static void assert_part(struct pythia_text part, const char *expected)
{
    assert_int_equal(part.size, strlen(expected));
    assert_memory_equal(part.bytes, expected, part.size);
}

static void parts_that_are_missing_are_empty(void **state)
{
    struct pythia__pin_place place;
    assert_true(parse("db-*/store/4711/GET /x", &place));
    assert_part(place.host, "db-*");
    assert_part(place.service, "store");
    assert_part(place.process, "4711");
    assert_part(place.function, "GET /x");
    assert_true(parse("db-1/store", &place));
    assert_part(place.service, "store");
    assert_part(place.process, "");
    assert_part(place.function, "");
    assert_true(parse("//db-1:11:a/db:read", &place)); /* an instance by its whole name */
    assert_part(place.service, "");
    assert_part(place.process, "db-1:11:a");
    assert_part(place.function, "db:read");
}

static void ids_and_their_patterns_are_no_places(void **state)
{
    static const char *const ids[] = {"shop:GET /x", "*:GET /x*",      "*:*/x",    "*",
                                      "shop",        "team/db:GET /x", "team/*:*", ""};
    struct pythia__pin_place place;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        assert_false(parse(ids[i], &place));
    assert_true(parse("*/x", &place)); /* the service x, on all hosts */
    assert_part(place.service, "x");
}

static void a_place_is_limited_by_host_or_process(void **state)
{
    static const struct {
        const char *text;
        bool limited;
    } places[] = {{"/store", false},    {"*/store/*/read", false}, {"///read", false},
                  {"db-1/store", true}, {"/store/11", true},       {"?*/store", true}};
    struct pythia__pin_place place;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        assert_true(parse(places[i].text, &place));
        assert_int_equal(pythia__pin_place_is_limited(&place), places[i].limited);
    }
}

static bool fits(const char *text, const char *service, const char *id)
{
    struct pythia__pin_place place;
    assert_true(parse(text, &place));
    return pythia__pin_place_fits(&place, pythia_text_of(service), pythia_text_of(id));
}

static void a_function_is_the_id_without_service_or_without_scope(void **state)
{
    assert_true(fits("/store", "store", "store:db:read"));
    assert_false(fits("/store", "shop", "shop:db:read"));
    assert_true(fits("/store//db:read", "store", "store:db:read"));
    assert_true(fits("/store//read", "store", "store:db:read"));
    assert_false(fits("/store//db", "store", "store:db:read"));
    assert_true(fits("///GET */x", "shop", "shop:GET /a/x"));
    assert_true(fits("/team?db//*", "team/db", "team/db:GET /x"));
}

static void what_can_match_nothing_is_refused(void **state)
{
    char longest[520], text[600];
    struct pythia_error e = {0};
    memset(longest, 'h', sizeof(longest));
    for (int bytes = 512; bytes <= 513; bytes++) {
        snprintf(text, sizeof(text), "%.*s/store", bytes, longest);
        assert_int_equal(pythia__pin_place_check("always", text, &e),
                         bytes == 512 ? PYTHIA_OK : PYTHIA_EUSAGE);
    }
    assert_non_null(strstr(e.sentence, "always: HOST of 'hhh"));
    e = (struct pythia_error){0};
    assert_int_equal(pythia__pin_place_check("never", "", &e), PYTHIA_EUSAGE);
    e = (struct pythia_error){0};
    assert_int_equal(pythia__pin_place_check("never", "db/store/*/read\\", &e), PYTHIA_EUSAGE);
    assert_string_equal(e.sentence,
                        "never: FUNCTION of 'db/store/*/read\\' can match nothing: it ends with a "
                        "backslash; write two of them for one");
    e = (struct pythia_error){0};
    assert_int_equal(pythia__pin_place_check("never", "db/store/*/read\\\\", &e), PYTHIA_OK);
    assert_int_equal(pythia__pin_place_check("never", "shop:x\\", &e), PYTHIA_OK); /* an id */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_are_missing_are_empty),
        cmocka_unit_test(ids_and_their_patterns_are_no_places),
        cmocka_unit_test(a_place_is_limited_by_host_or_process),
        cmocka_unit_test(a_function_is_the_id_without_service_or_without_scope),
        cmocka_unit_test(what_can_match_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
