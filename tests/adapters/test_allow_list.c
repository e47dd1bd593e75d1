#include <stdio.h>

#include "check.h"
#include "pythia/allow_list.h"
#include "pythia/status.h"

#define TEXT_FORM                                                                                  \
    "after a path there is 'functions', or PROBE:NUMBER, from 1 to 12, for an argument that is a " \
    "text"

static struct pythia_allow_list list;

static int parse(const char *text, struct pythia_error *e)
{
    *e = (struct pythia_error){0};
    return pythia_allow_list_parse(&list, text, strlen(text), e);
}

static void only_what_is_listed_is_allowed(void **state)
{
    struct pythia_error e;
    assert_int_equal(parse("# programs\n"
                           "user daemon # uid 1\n"
                           "\n"
                           "  /usr/bin/shop  sell:2 sell:1\tbuy:12\n"
                           "/usr/bin/other",
                           &e),
                     PYTHIA_OK);
    assert_true(pythia_allow_list_has_path(&list, PYTHIA_TEXT("/usr/bin/shop")));
    assert_true(pythia_allow_list_has_path(&list, PYTHIA_TEXT("/usr/bin/other")));
    assert_false(pythia_allow_list_has_path(&list, PYTHIA_TEXT("/usr/bin/sho")));
    assert_false(pythia_allow_list_has_path(&list, PYTHIA_TEXT("/usr/bin/shop ")));
    assert_false(pythia_allow_list_has_path(&list, PYTHIA_TEXT("sell:2")));
    assert_false(pythia_allow_list_has_path(&list, PYTHIA_TEXT("")));
    assert_true(pythia_allow_list_has_user(&list, 0));
    assert_true(pythia_allow_list_has_user(&list, 1));
    assert_false(pythia_allow_list_has_user(&list, 2));
    assert_false(pythia_allow_list_has_user(&list, (uid_t)-1));
    const struct pythia_text shop = PYTHIA_TEXT("/usr/bin/shop");
    assert_int_equal(pythia_allow_list_texts(&list, shop, PYTHIA_TEXT("sell")), 3);
    assert_int_equal(pythia_allow_list_texts(&list, shop, PYTHIA_TEXT("buy")), 1 << 11);
    assert_int_equal(pythia_allow_list_texts(&list, shop, PYTHIA_TEXT("sel")), 0);
    assert_int_equal(
        pythia_allow_list_texts(&list, PYTHIA_TEXT("/usr/bin/other"), PYTHIA_TEXT("sell")), 0);
}

static void no_more_texts_are_read_than_fit(void **state)
{
    struct pythia_error e;
    assert_int_equal(parse("/a p:1 p:1 p:2 p:3 p:4 p:5\n/a p:6", &e), PYTHIA_OK);
    assert_int_equal(pythia_allow_list_texts(&list, PYTHIA_TEXT("/a"), PYTHIA_TEXT("p")), 15);
}

static void a_wrong_line_is_named_and_nothing_is_allowed(void **state)
{
    const struct {
        const char *text, *sentence;
        uint64_t line;
    } rows[] = {
        {"/a\nb", "a line is 'user NAME' or begins with the full path of a program", 2},
        {"/a p", TEXT_FORM, 1},
        {"/a p:0", TEXT_FORM, 1},
        {"/a p:13", TEXT_FORM, 1},
        {"/a p:99999999999999999999", TEXT_FORM, 1},
        {"/a :1", TEXT_FORM, 1},
        {"\n\nuser", "'user' takes the name of a user", 3},
        {"user no such user", "there is no user 'no'", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pythia_error e;
        assert_int_equal(parse(rows[i].text, &e), PYTHIA_EFORMAT);
        assert_string_equal(e.sentence, rows[i].sentence);
        assert_int_equal(e.line, rows[i].line);
        assert_int_equal(list.line_count, 0);
    }
}

static void too_long_a_list_is_refused(void **state)
{
    static char text[PYTHIA_ALLOW_LIST_BYTES + 2];
    struct pythia_error e;
    memset(text, '\n', sizeof(text) - 1);
    assert_int_equal(parse(text, &e), PYTHIA_ELIMIT);
    size_t size = 0;
    for (int i = 0; i <= PYTHIA_ALLOWED_MAX; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "/%d\n", i);
    assert_int_equal(parse(text, &e), PYTHIA_ELIMIT);
    assert_string_equal(e.sentence, "more than 256 programs");
}

static void functions_are_allowed_by_a_word_of_their_own(void **state)
{
    struct pythia_error e;
    assert_int_equal(parse("/a p:1\n/b functions p:1\n/c p:1\n/c functions", &e), PYTHIA_OK);
    assert_false(pythia_allow_list_has_functions(&list, PYTHIA_TEXT("/a")));
    assert_true(pythia_allow_list_has_functions(&list, PYTHIA_TEXT("/b")));
    assert_true(pythia_allow_list_has_functions(&list, PYTHIA_TEXT("/c")));
    assert_false(pythia_allow_list_has_functions(&list, PYTHIA_TEXT("functions")));
    assert_int_equal(pythia_allow_list_texts(&list, PYTHIA_TEXT("/b"), PYTHIA_TEXT("p")), 1);
    assert_int_equal(parse("/a function", &e), PYTHIA_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_listed_is_allowed),
        cmocka_unit_test(no_more_texts_are_read_than_fit),
        cmocka_unit_test(a_wrong_line_is_named_and_nothing_is_allowed),
        cmocka_unit_test(too_long_a_list_is_refused),
        cmocka_unit_test(functions_are_allowed_by_a_word_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
