#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/symbols.h"

static struct pythia_symbols *create_for(const char *path)
{
    struct pythia_symbols *s = NULL;
    struct pythia_error e = {0};
    if (pythia_symbols_create(&path, 1, &s, &e) != PYTHIA_OK)
        fail_msg("%s: %s", e.source, e.sentence);
    return s;
}

/* Real programs with functions and lines are in tracepoints/hooked_callers_with_symbols. */
static void a_place_beyond_the_end_of_a_program_stays_as_it_is(void **state)
{
    struct pythia_symbols *s = create_for(PYTHIA_TEST_PROGRAM);
    char place[256];
    snprintf(place, sizeof(place), "%s+0xfffffffffff", strrchr(PYTHIA_TEST_PROGRAM, '/') + 1);
    for (int i = 0; i < 2; i++)
        assert_true(
            pythia_text_equal(pythia_symbols_of(s, pythia_text_of(place)), pythia_text_of(place)));
    pythia_symbols_destroy(s);
}

/* Functions with the names that a C++ compiler gives them, and with names that only look alike. */
int total_of_order(void) __asm__("_ZN4shop5totalERKNS_5orderEd");
int zebra(void) __asm__("_Zebra");
int type_of_int(void) __asm__("i");

int total_of_order(void)
{
    return 1;
}

int zebra(void)
{
    return 2;
}

int type_of_int(void)
{
    return 3;
}

static void functions_of_cpp_have_their_demangled_names(void **state)
{
    const struct {
        int (*function)(void);
        const char *shown;
    } functions[] = {{total_of_order, "shop::total(shop::order const&, double) at test_symbols.c:"},
                     {zebra, "_Zebra at test_symbols.c:"},
                     {type_of_int, "i at test_symbols.c:"}};
    char program[PATH_MAX], place[PATH_MAX + 32];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    assert_true(size > 0);
    program[size] = '\0';
    struct pythia_symbols *s = create_for(program);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        Dl_info about;
        void *address;
        memcpy(&address, &functions[i].function, sizeof(address));
        assert_int_not_equal(dladdr(address, &about), 0);
        snprintf(place, sizeof(place), "%s+0x%tx", strrchr(program, '/') + 1,
                 (char *)address - (char *)about.dli_fbase + 1);
        struct pythia_text shown = pythia_symbols_of(s, pythia_text_of(place));
        assert_true(pythia_text_starts(shown, pythia_text_of(functions[i].shown)));
    }
    pythia_symbols_destroy(s);
}

static void what_is_no_place_stays_as_it_is(void **state)
{
    static const char *const texts[] = {"",     "+0x1",      "app+0x",     "app+1f",   "app+0xg",
                                        "app",  "0x1f",      "app +0x1f ", "app+0x1F", "app-0x1f",
                                        "a+0x", "app+0x1fz", "+0x",        "app+0x-1"};
    struct pythia_symbols *s = create_for(PYTHIA_TEST_PROGRAM);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pythia_text text = pythia_text_of(texts[i]);
        assert_ptr_equal(pythia_symbols_of(s, text).bytes, text.bytes);
    }
    /* Well formed, in a program that was not named; and longer than any number. */
    struct pythia_text other = PYTHIA_TEXT("no_such_program+0x1f");
    assert_ptr_equal(pythia_symbols_of(s, other).bytes, other.bytes);
    struct pythia_text endless = PYTHIA_TEXT("app+0x11112222333344445");
    assert_ptr_equal(pythia_symbols_of(s, endless).bytes, endless.bytes);
    pythia_symbols_destroy(s);
}

static void a_path_that_is_no_program_is_refused(void **state)
{
    static const struct {
        const char *path, *why;
    } wrong[] = {{"/nonexistent", "No such file"},
                 {PYTHIA_TESTS "/check.h", "is neither a program, nor a library"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pythia_symbols *s = NULL;
        struct pythia_error e = {0};
        assert_int_equal(pythia_symbols_create(&wrong[i].path, 1, &s, &e), PYTHIA_EIO);
        assert_null(s);
        assert_string_equal(e.source, wrong[i].path);
        assert_non_null(strstr(e.sentence, wrong[i].why));
    }
}

static void a_failed_allocation_is_reported_or_leaves_the_place(void **state)
{
    const char *path = PYTHIA_TEST_PROGRAM;
    struct pythia_text place = PYTHIA_TEXT("no_such_program+0x1f");
    int made = 0;
    for (long k = 0; k < 12; k++) {
        struct pythia_symbols *s = NULL;
        struct pythia_error e = {0};
        pythia_mem_fail_after(k);
        int status = pythia_symbols_create(&path, 1, &s, &e);
        if (status == PYTHIA_OK)
            assert_true(pythia_text_equal(pythia_symbols_of(s, place), place));
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        made += status == PYTHIA_OK;
        pythia_symbols_destroy(s);
    }
    assert_true(made > 0 && made < 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_beyond_the_end_of_a_program_stays_as_it_is),
        cmocka_unit_test(functions_of_cpp_have_their_demangled_names),
        cmocka_unit_test(what_is_no_place_stays_as_it_is),
        cmocka_unit_test(a_path_that_is_no_program_is_refused),
        cmocka_unit_test(a_failed_allocation_is_reported_or_leaves_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
