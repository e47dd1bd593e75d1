#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/flame.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static const struct pythia_flame_options plain = {.title = "a run", .unit = "ms", .scale = 1e6};

static struct pythia_flame *make_flame(const char *folded)
{
    struct pythia_flame *f = NULL;
    struct pythia_error e = {0};
    assert_int_equal(pythia_flame_create(&f), PYTHIA_OK);
    if (pythia_flame_add_folded(f, pythia_text_of(folded), 0, &e) != PYTHIA_OK)
        fail_msg("%s", e.sentence);
    return f;
}

static size_t count_parts(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void stacks_come_back_added_up_and_sorted(void **state)
{
    struct pythia_flame *f = make_flame("a;c 3\na;b 2\na 1\na;c 4\n\na;b;x y 5");
    struct pythia_buf text = {0};
    assert_int_equal(pythia_flame_folded(f, &text), PYTHIA_OK);
    assert_string_equal(text.bytes, "a 1\na;b 2\na;b;x y 5\na;c 7\n");
    pythia_buf_free(&text);
    pythia_flame_destroy(f);
}

static void a_line_without_a_number_is_refused_with_its_place(void **state)
{
    static const char *const wrong[] = {"a;b 1\nc\n", "a;b 1\nc x\n", "a;b 1\nc -1\n",
                                        "a;b 1\nc nan\n", "a 1\n 1e999\n"};
    for (size_t i = 0; i < 5; i++) {
        struct pythia_flame *f = NULL;
        struct pythia_error e = {0};
        assert_int_equal(pythia_flame_create(&f), PYTHIA_OK);
        assert_int_equal(pythia_flame_add_folded(f, pythia_text_of(wrong[i]), 0, &e),
                         PYTHIA_EFORMAT);
        assert_int_equal(e.line, 2);
        pythia_flame_destroy(f);
    }
}

/* 10 ms in all: a frame of 4 ms is 480 of 1200 pixels wide. */
static void widths_are_shares(void **state)
{
    struct pythia_flame *f = make_flame("a;b 4000000\na;c 6000000");
    struct pythia_buf text = {0};
    assert_int_equal(pythia_flame_svg(f, &plain, &text), PYTHIA_OK);
    assert_int_equal(count_parts(text.bytes, "class=\"f\""), 4); /* all, a, b, c */
    assert_non_null(strstr(text.bytes, "data-x=\"0.000\" data-w=\"480.000\" data-d=\"2\""));
    assert_non_null(strstr(text.bytes, "data-x=\"480.000\" data-w=\"720.000\" data-d=\"2\""));
    assert_non_null(strstr(text.bytes, "<title>b: 4.000 ms, 40.0 %</title>"));
    pythia_buf_free(&text);
    pythia_flame_destroy(f);
}

static void names_are_escaped(void **state)
{
    struct pythia_flame *f = make_flame("</title><script>x&\"\x01 7");
    struct pythia_buf text = {0};
    assert_int_equal(pythia_flame_svg(f, &plain, &text), PYTHIA_OK);
    assert_null(strstr(text.bytes, "<script>x"));
    assert_non_null(strstr(text.bytes, "&lt;/title&gt;&lt;script&gt;x&amp;&quot;\\x01"));
    pythia_buf_free(&text);
    pythia_flame_destroy(f);
}

static void what_grew_is_red_and_what_shrank_is_blue(void **state)
{
    struct pythia_flame_options diff = plain;
    struct pythia_flame *f = make_flame("a;up 10\na;down 90");
    struct pythia_buf text = {0};
    diff.diff = true;
    assert_int_equal(pythia_flame_add(f, PYTHIA_TEXT("a;up"), 1, 60), PYTHIA_OK);
    assert_int_equal(pythia_flame_add(f, PYTHIA_TEXT("a;down"), 1, 40), PYTHIA_OK);
    assert_int_equal(pythia_flame_svg(f, &diff, &text), PYTHIA_OK);
    const char *up = strstr(text.bytes, "data-n=\"up\""),
               *down = strstr(text.bytes, "data-n=\"down\"");
    assert_non_null(up);
    assert_non_null(down);
    assert_true(strncmp(strstr(up, "fill=\"") + 6, "hsl(5,85%,60%)", 14) == 0);
    assert_true(strncmp(strstr(down, "fill=\"") + 6, "hsl(212,85%,60%)", 16) == 0);
    assert_non_null(strstr(text.bytes, "data-w=\"720.000\"")); /* of the second run: 60 of 100 */
    pythia_buf_free(&text);
    pythia_flame_destroy(f);
}

static void a_stack_a_thousand_calls_deep_is_drawn(void **state)
{
    struct pythia_buf stack = {0}, text = {0};
    struct pythia_flame *f = NULL;
    for (int i = 0; i < 1000; i++)
        pythia_buf_puts(&stack, i ? ";f" : "f");
    assert_int_equal(pythia_flame_create(&f), PYTHIA_OK);
    assert_int_equal(pythia_flame_add(f, pythia_buf_text(&stack), 0, 1e6), PYTHIA_OK);
    assert_int_equal(pythia_flame_svg(f, &plain, &text), PYTHIA_OK);
    assert_int_equal(count_parts(text.bytes, "class=\"f\""), 1001);
    pythia_buf_free(&stack);
    pythia_buf_free(&text);
    pythia_flame_destroy(f);
}

static void nothing_to_show_is_said(void **state)
{
    struct pythia_flame *f = make_flame("");
    struct pythia_buf text = {0};
    assert_int_equal(pythia_flame_svg(f, &plain, &text), PYTHIA_OK);
    assert_non_null(strstr(text.bytes, "no time to show"));
    pythia_buf_free(&text);
    pythia_flame_destroy(f);
}

static void a_failed_allocation_is_reported(void **state)
{
    int done = 0;
    for (long n = 0; n < 40; n++) {
        struct pythia_flame *f = NULL;
        struct pythia_buf text = {0};
        pythia_mem_fail_after(n);
        int status = pythia_flame_create(&f);
        if (status == PYTHIA_OK)
            status = pythia_flame_add(f, PYTHIA_TEXT("a;b"), 0, 5);
        if (status == PYTHIA_OK)
            status = pythia_flame_svg(f, &plain, &text);
        if (status == PYTHIA_OK)
            status = pythia_flame_folded(f, &text);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        done += status == PYTHIA_OK;
        pythia_buf_free(&text);
        pythia_flame_destroy(f);
    }
    assert_true(done > 0 && done < 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_come_back_added_up_and_sorted),
        cmocka_unit_test(a_line_without_a_number_is_refused_with_its_place),
        cmocka_unit_test(widths_are_shares),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(what_grew_is_red_and_what_shrank_is_blue),
        cmocka_unit_test(a_stack_a_thousand_calls_deep_is_drawn),
        cmocka_unit_test(nothing_to_show_is_said),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
