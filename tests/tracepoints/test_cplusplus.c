/* What cplusplus.cpp does, as a reader finds it. */
#include "traced.h"

void run_cplusplus(void);

static void a_program_in_cplusplus_is_traced_like_any_other(void **state)
{
    static const char *const below[] = {"test:inline", "test:method",  "test:throws",
                                        "test:caught", "test:lambda",  "test:entered",
                                        "test:job",    "test:measured"};
    struct collection c;
    setenv("PYTHIA_OPEN", "*", 1);
    run_cplusplus();
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.count, 14);
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
        assert_child(&c, below[i], "test:c++");
    assert_child(&c, "test:note", "test:inline");
    assert_child(&c, "test:part", "test:job");
    assert_child(&c, "test:along", "test:job");
    assert_int_equal(count_of(&c, "test:template"), 2); /* one for each type */
    size_t method = only(&c, "test:method");
    assert_text(&c, method, "string", "name");
    assert_text(&c, method, "view", "ame");
    assert_text(&c, method, "literal", "text");
    assert_truth(&c, method, "name", 1);
    assert_integer(&c, method, "enum", 1);
    assert_integer(&c, method, "size", 4);
    assert_real(&c, method, "float", 1.5);
    assert_integer(&c, method, "short", -3);
    size_t lambda = only(&c, "test:lambda");
    assert_int_equal(span_at(&c, lambda)->kind, PYTHIA_SPAN_CLIENT);
    assert_integer(&c, lambda, "i", 1);
    assert_integer(&c, lambda, "here", 2);
    assert_true(span_at(&c, only(&c, "test:throws"))->error);
    for (size_t i = 0; i < c.count; i++)
        assert_int_not_equal(span_at(&c, i)->part, PYTHIA_PART_START);
    assert_text(&c, only(&c, "test:c++"), "request_type", "c++");
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_in_cplusplus_is_traced_like_any_other),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
