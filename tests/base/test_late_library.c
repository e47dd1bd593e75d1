#include "check.h"
#include "pythia/late_library.h"

static void a_function_of_a_library_can_be_called(void **state)
{
    (void)state;
    double (*cosine)(double) = NULL;
    const struct pythia_late_function functions[] = {{"cos", &cosine}};
    assert_true(pythia_late_load("libm.so.6", false, functions, 1));
    assert_rel_equal(cosine(0), 1, 0);
}

static void what_is_not_there_is_an_error(void **state)
{
    (void)state;
    double (*none)(double) = NULL;
    const struct pythia_late_function functions[] = {{"pythia_no_such_function", &none}};
    assert_false(pythia_late_load("libpythia-no-such-library.so.1", false, functions, 1));
    assert_false(pythia_late_load("libm.so.6", false, functions, 1));
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_of_a_library_can_be_called),
        cmocka_unit_test(what_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
