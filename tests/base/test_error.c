#include <string.h>

#include "check.h"
#include "pythia/error.h"
#include "pythia/status.h"

static char text[1024];

static void the_first_cause_stays(void **state)
{
    struct pythia_error e = {0};
    assert_int_equal(pythia_error_set(&e, PYTHIA_EFORMAT, "no %s in %d", "end", 7), PYTHIA_EFORMAT);
    assert_int_equal(pythia_error_set(&e, PYTHIA_EIO, "later"), PYTHIA_EIO);
    assert_int_equal(e.status, PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "no end in 7");
    pythia_error_place(&e, "a.json", 3, 40);
    pythia_error_place(&e, "b.json", 9, 99);
    assert_string_equal(e.source, "a.json");
    assert_int_equal(e.line, 3);
    assert_int_equal(e.offset, 40);
}

static void nobody_has_to_ask_for_the_reason(void **state)
{
    assert_int_equal(pythia_error_set(NULL, PYTHIA_ENOTFOUND, "none"), PYTHIA_ENOTFOUND);
    pythia_error_place(NULL, "a", 1, 2);
}

static void a_cleared_one_can_be_set_again(void **state)
{
    struct pythia_error e;
    pythia_error_clear(&e);
    assert_int_equal(e.status, PYTHIA_OK);
    pythia_error_set(&e, PYTHIA_EIO, "first");
    pythia_error_place(&e, "a", 1, 2);
    pythia_error_clear(&e);
    pythia_error_set(&e, PYTHIA_ELIMIT, "second");
    assert_string_equal(pythia_error_text(&e, text, sizeof(text)), "second");
}

static void the_text_says_what_is_known(void **state)
{
    struct pythia_error e = {.status = PYTHIA_EFORMAT};
    assert_ptr_equal(pythia_error_text(&e, text, sizeof(text)), text);
    assert_string_equal(text, "malformed input"); /* of the status, for want of a sentence */
    strcpy(e.sentence, "a number is missing");
    assert_string_equal(pythia_error_text(&e, text, sizeof(text)), "a number is missing");
    pythia_error_place(&e, "in.json", 0, 0);
    assert_string_equal(pythia_error_text(&e, text, sizeof(text)), "in.json: a number is missing");
    e.offset = 345; /* of what has no lines */
    assert_string_equal(pythia_error_text(&e, text, sizeof(text)),
                        "in.json: a number is missing (byte 345)");
    e.line = 12;
    assert_string_equal(pythia_error_text(&e, text, sizeof(text)),
                        "in.json:12: a number is missing (byte 345)");
}

static void control_characters_of_hostile_names_are_not_passed_on(void **state)
{
    struct pythia_error e = {0};
    pythia_error_set(&e, PYTHIA_EFORMAT, "key '%s'", "\x1b[2J\r\n\x7f");
    pythia_error_place(&e, "a\tb", 1, 0);
    assert_string_equal(pythia_error_text(&e, text, sizeof(text)),
                        "a?b:1: key '?[2J?\?\?' (byte 0)");
}

/* Of a long path the end tells the files apart. */
static void the_end_of_a_long_source_is_kept(void **state)
{
    struct pythia_error e = {.status = PYTHIA_EIO};
    char path[400];
    for (size_t i = 0; i < sizeof(path); i++)
        path[i] = (char)('a' + i % 26);
    path[sizeof(path) - 1] = '\0';
    pythia_error_place(&e, path, 1, 0);
    assert_int_equal(strlen(e.source), sizeof(e.source) - 1);
    assert_string_equal(e.source, path + strlen(path) - (sizeof(e.source) - 1));
    path[255] = '\0'; /* what just fits is not cut */
    struct pythia_error fits = {.status = PYTHIA_EIO};
    pythia_error_place(&fits, path, 1, 0);
    assert_string_equal(fits.source, path);
}

static void long_sentences_and_small_rooms_are_cut(void **state)
{
    struct pythia_error e = {0};
    pythia_error_set(&e, PYTHIA_EFORMAT, "%01000d", 1);
    assert_int_equal(strlen(e.sentence), sizeof(e.sentence) - 1);
    char small[8];
    pythia_error_place(&e, "file", 0, 0);
    assert_string_equal(pythia_error_text(&e, small, sizeof(small)), "file: 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cause_stays),
        cmocka_unit_test(nobody_has_to_ask_for_the_reason),
        cmocka_unit_test(a_cleared_one_can_be_set_again),
        cmocka_unit_test(the_text_says_what_is_known),
        cmocka_unit_test(control_characters_of_hostile_names_are_not_passed_on),
        cmocka_unit_test(the_end_of_a_long_source_is_kept),
        cmocka_unit_test(long_sentences_and_small_rooms_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
