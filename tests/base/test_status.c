#include <limits.h>
#include <string.h>

#include "check.h"
#include "pythia/status.h"

/* Other programs compare with these numbers. */
static void codes_and_texts_are_fixed(void **state)
{
    static const struct {
        int status, code;
        const char *text;
    } all[] = {
        {PYTHIA_OK, 0, "ok"},
        {PYTHIA_EINVAL, -1, "invalid argument"},
        {PYTHIA_ENOMEM, -2, "out of memory"},
        {PYTHIA_EIO, -3, "input or output failed"},
        {PYTHIA_EFORMAT, -4, "malformed input"},
        {PYTHIA_ENOTFOUND, -5, "not found"},
        {PYTHIA_ELIMIT, -6, "a limit was reached"},
        {PYTHIA_EUSAGE, -7, "wrong usage"},
        {PYTHIA_ESTOPPED, -8, "stopped on request"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(all[i].status, all[i].code);
        assert_string_equal(pythia_status_text(all[i].status), all[i].text);
    }
}

static void no_code_is_used_twice(void **state)
{
#define X(name, code, text) PYTHIA_##name,
    static const int codes[] = {PYTHIA_OK, PYTHIA_STATUS_MAP(X)};
#undef X
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(codes[i], codes[k]);
            assert_string_not_equal(pythia_status_text(codes[i]), pythia_status_text(codes[k]));
        }
}

static void what_is_no_status_has_a_text_too(void **state)
{
    static const int none[] = {1, -9, 1000, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_string_equal(pythia_status_text(none[i]), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_and_texts_are_fixed),
        cmocka_unit_test(no_code_is_used_twice),
        cmocka_unit_test(what_is_no_status_has_a_text_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
