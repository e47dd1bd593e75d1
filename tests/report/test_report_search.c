/* What the forms say of a search: the picture of its cycles, the budget, and why it ended. */
#include <stdio.h>

#include "pythia/mem.h"
#include "report_sample.h"

static void assert_has(const struct pythia_buf *text, const char *part)
{
    if (!strstr(text->bytes, part))
        fail_msg("is not there: %s", part);
}

static struct pythia_buf html_of(json_t *loop, json_t *search)
{
    json_t *report = sample_report("a");
    json_object_set_new(report, "loop", loop);
    if (search)
        json_object_set_new(report, "search", search);
    return sample_written(report, PYTHIA_REPORT_HTML);
}

/* The picture alone. */
static struct pythia_buf picture_of(json_t *loop, json_t *search)
{
    struct pythia_buf page = html_of(loop, search), out = {0};
    const char *begin = strstr(page.bytes, "<figure class=\"run\">");
    assert_non_null(begin);
    const char *end = strstr(begin, "</figure>");
    pythia_buf_add(&out, begin, (size_t)(end - begin));
    pythia_buf_free(&page);
    return out;
}

static json_t *cycles(int count)
{
    json_t *loop = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(loop, sample_cycle("a", i + 1, i % 5, .5, 1, 1, i == count / 2));
    return loop;
}

/* ---- types that turned up later ---- */

static struct pythia_buf written_with(const char *search, enum pythia_report_format format)
{
    json_t *report = sample_report("a");
    json_object_set_new(report, "loop", cycles(1));
    json_object_set_new(report, "search", json_loads(search, 0, NULL));
    struct pythia_buf out = sample_written(report, format);
    for (char *c = out.bytes; *c; c++) /* lines are filled */
        if (*c == '\n')
            *c = ' ';
    return out;
}

static void openings_for_them_are_told_in_each_form(void **state)
{
    static const enum pythia_report_format formats[] = {PYTHIA_REPORT_HTML, PYTHIA_REPORT_MARKDOWN};
    for (size_t i = 0; i < 2; i++) {
        struct pythia_buf some =
            written_with("{\"lessons\": 1, \"lessons_cut\": 0, \"types_waiting\": 2}", formats[i]);
        assert_has(&some, "Trace points were opened 1 time to learn request types that turned up. "
                          "2 request types wait to be learnt, because that was done as often as "
                          "may be in an hour.");
        pythia_buf_free(&some);
        struct pythia_buf cut =
            written_with("{\"lessons\": 3, \"lessons_cut\": 2, \"types_waiting\": 0}", formats[i]);
        assert_has(&cut, "opened 3 times to learn request types that turned up. In 2 of them some "
                         "that they pass stayed closed, because no more may be open at once.");
        pythia_buf_free(&cut);
        struct pythia_buf none = written_with("{}", formats[i]);
        assert_null(strstr(none.bytes, "turned up"));
        pythia_buf_free(&none);
    }
}

static void points_that_the_space_does_not_know_are_told_in_each_form(void **state)
{
    static const enum pythia_report_format formats[] = {PYTHIA_REPORT_HTML, PYTHIA_REPORT_MARKDOWN,
                                                        PYTHIA_REPORT_TEXT};
    for (size_t i = 0; i < 3; i++) {
        struct pythia_buf some =
            written_with("{\"unknown_points\": {\"count\": 12, \"spans\": 345, "
                         "\"most\": [\"a:x\", \"b:<script>\"]}}",
                         formats[i]);
        const char *named = formats[i] == PYTHIA_REPORT_HTML ? "a:x, b:&lt;script&gt; and"
                            : formats[i] == PYTHIA_REPORT_MARKDOWN
                                ? "a<!-- -->:x, b<!-- -->:\\<script> and"
                                : "a:x, b:<script> and";
        char *c = some.bytes; /* lines are filled, and begin with blanks */
        for (char *from = some.bytes; *from; from++)
            if (*from != ' ' || c == some.bytes || c[-1] != ' ')
                *c++ = *from;
        *c = '\0';
        assert_has(&some, "The search space does not know 12 trace points of request types that it "
                          "knows, of which 345 spans were left out. Learn the space anew to have "
                          "them searched: ");
        assert_has(&some, named);
        assert_has(&some, " 10 more.");
        pythia_buf_free(&some);
        struct pythia_buf one = written_with(
            "{\"unknown_points\": {\"count\": 1, \"spans\": 1, \"most\": [\"a:x\"]}}", formats[i]);
        assert_has(&one, "1 trace point of request types");
        assert_has(&one, "it searched: a");
        pythia_buf_free(&one);
        struct pythia_buf none = written_with("{}", formats[i]);
        assert_null(strstr(none.bytes, "does not know"));
        pythia_buf_free(&none);
    }
}

/* ---- the picture ---- */

/* 91.5 % of the width are four cycles of 22.875 %, though there are two: the first from 7.5 % on.
 * Panels of 70, 70 and 50 pixels, of which the first begins at 40. 60 % of 70 are 42, three
 * quarters of the spans of 50 are 37.5; of a scale up to 4 points, 3 are 52.5 pixels up. */
static void bars_and_lines_stand_where_they_belong(void **state)
{
    json_t *loop = json_pack("[o,o]", sample_cycle("a", 1, 1, 0, 2, 0, false),
                             sample_cycle("a", 2, 3, .6, 0, 0, true));
    struct pythia_buf p = picture_of(loop, NULL);
    assert_has(&p, "<rect class=\"explained\" x=\"30.38%\" width=\"22.88%\" y=\"68.0\" "
                   "height=\"42.0\"><title>Cycle 2: 60 % of the variance explained</title>");
    /* panel 2: 110 + 14 + 20 = 144 to 214 */
    assert_has(&p, "<line class=\"step\" x1=\"7.50%\" y1=\"196.5\" x2=\"30.38%\" y2=\"196.5\"/>");
    assert_has(&p, "<line class=\"step\" x1=\"30.38%\" y1=\"196.5\" x2=\"30.38%\" y2=\"161.5\"/>");
    assert_has(&p, "<title>Cycle 2: 3 trace points open</title><line class=\"step\" x1=\"30.38%\" "
                   "y1=\"161.5\" x2=\"53.25%\" y2=\"161.5\"/>");
    assert_has(&p, "<title>As many may be open at once</title><line class=\"limit\" x1=\"7.50%\" "
                   "y1=\"144\" x2=\"99.00%\" y2=\"144\"/>");
    /* two marks above each other behind cycle 1, their line at 214 + 4 + 2 * 9 = 236 */
    assert_has(&p, "<title>Opened after cycle 1: a: it parts what lies in a.</title><svg "
                   "overflow=\"visible\" width=\"1\" height=\"1\" x=\"30.38%\" y=\"234\"><path "
                   "class=\"opened\" d=\"M-4.5 0H4.5L0 -6Z\"/>");
    assert_has(&p, "x=\"30.38%\" y=\"225\"><path class=\"opened\"");
    assert_int_equal(sample_count(p.bytes, "<path"), 2);
    /* panel 3: 236 + 4 + 14 + 20 = 274 to 324 */
    assert_has(&p, "y=\"286.5\" height=\"37.5\"><title>Cycle 1: 75 % of the spans saved</title>");
    assert_has(&p, "<title>Cause 1: 50 % of the variance lies inside a</title><line "
                   "class=\"found\" x1=\"41.81%\" y1=\"16\" x2=\"41.81%\" y2=\"324\"/>");
    assert_has(&p, "<ol><li>50 % of the variance lies inside a</li></ol>");
    assert_has(&p, "<desc id=\"run-words\">2 cycles. At most 60 % of the variance explained; at "
                   "most 3 trace points open beyond the skeleton; 2 times one was opened, 0 "
                   "closed; 75 % to 75 % of the spans saved; 1 cause found. The table below says "
                   "the same.</desc>");
    pythia_buf_free(&p);
}

static void what_has_no_room_is_listed_by_a_cross(void **state)
{
    json_t *loop = json_pack("[o]", sample_cycle("a", 1, 0, 0, 30, 6, false));
    struct pythia_buf p = picture_of(loop, NULL);
    assert_int_equal(sample_count(p.bytes, "<path class=\"opened\""), 4);
    assert_int_equal(sample_count(p.bytes, "<path class=\"closed\""), 4);
    assert_int_equal(sample_count(p.bytes, "<path class=\"cross\""), 2);
    assert_has(&p,
               "<title>Opened after cycle 1: a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, "
               "a, a, a and 6 more</title>"); /* 30 - 4 - 20 */
    assert_has(&p, "<title>Closed after cycle 1: a, a</title>");
    assert_has(&p, "A cross stands for all that have no room.");
    pythia_buf_free(&p);
}

/* Every place within the picture, and numbers of cycles that do not touch: each is 8 pixels a digit
 * in the 630 that the picture has at least. */
static void from_1_to_2000_cycles_nothing_is_cut_off(void **state)
{
    static const int counts[] = {1, 2, 3, 4, 5, 16, 17, 30, 33, 60, 61, 100, 200, 999, 2000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct pythia_buf p = picture_of(cycles(counts[i]), NULL);
        double last = 0;
        size_t ticks = 0;
        char *end;
        for (const char *at = p.bytes; (at = strstr(at, "=\"")) != NULL; at++) {
            double x = strtod(at + 2, &end);
            if (end > at + 2 && *end == '%')
                assert_true(x >= 0 && x <= 100);
        }
        const char *at = strstr(p.bytes, ">cycle</text>");
        assert_non_null(at);
        while ((at = strstr(at + 1, "<text class=\"tick\"")) != NULL) {
            bool inwards = strncmp(strstr(at, "text-anchor=") + 12, "\"end\"", 5) == 0;
            double x = strtod(strstr(at, " x=\"") + 4, NULL);
            long number = strtol(strchr(at, '>') + 1, &end, 10);
            assert_int_equal(*end, '<');
            double digits = number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : 4;
            double half = digits * 4 / 630 * 100;
            double left = inwards ? x - 2 * half : x - half, right = inwards ? x : x + half;
            assert_true(left > last && right <= 100);
            last = right;
            ticks++;
        }
        assert_in_range(ticks, 1, 17);
        if (counts[i] == 2000)
            assert_has(&p, "Drawn are the first 1000 of 2000 cycles.");
        pythia_buf_free(&p);
    }
}

static void numbers_of_causes_that_are_near_each_other_stand_in_two_rows(void **state)
{
    json_t *loop = json_array();
    for (int i = 0; i < 100; i++)
        json_array_append_new(loop, sample_cycle("a", i + 1, 0, .5, 0, 0, i == 10 || i == 11));
    struct pythia_buf p = picture_of(loop, NULL);
    assert_has(&p, " y=\"30\" dx=\"5\" text-anchor=\"start\">1</text>");
    assert_has(&p, " y=\"16\" dx=\"5\" text-anchor=\"start\">2</text>");
    pythia_buf_free(&p);
}

static void what_is_not_known_is_not_drawn(void **state)
{
    json_t *cycle = sample_cycle("a", 1, 0, 0, 0, 0, false);
    static const char *const keys[] = {"explained", "open_count", "spans_seen", "spans_saved"};
    for (size_t i = 0; i < 4; i++)
        json_object_set_new(cycle, keys[i], json_null());
    struct pythia_buf p = picture_of(json_pack("[o]", cycle), json_object());
    assert_int_equal(sample_count(p.bytes, "<rect"), 0);
    assert_int_equal(sample_count(p.bytes, "class=\"step\""), 0);
    assert_int_equal(sample_count(p.bytes, "nan"), 0);
    assert_int_equal(sample_count(p.bytes, "<figcaption"), 0); /* there is nothing to explain */
    pythia_buf_free(&p);
}

static void the_table_stays_below_the_picture(void **state)
{
    struct pythia_buf page = html_of(cycles(5), NULL);
    const char *end = strstr(page.bytes, "</figure>");
    assert_non_null(end);
    assert_non_null(strstr(end, "1. 50 % of the variance lies inside a.<span class=\"sub\">Now "
                                "open: 0 of 4 points, 3.00 us of 20.0 us a request, 1 234 of 2 000 "
                                "bytes a second.</span>"));
    pythia_buf_free(&page);
}

/* ---- words ---- */

static json_t *search_with(json_t *problems)
{
    json_t *search = sample_search("a");
    json_object_set_new(search, "problems", problems);
    return search;
}

static struct pythia_buf said(json_t *search, enum pythia_report_format format)
{
    json_t *report = sample_report("a");
    json_object_set_new(report, "search", search);
    return sample_written(report, format);
}

static void reasons_are_told_in_each_form(void **state)
{
    struct pythia_buf text = said(sample_search("T"), PYTHIA_REPORT_TEXT);
    assert_has(&text,
               "\n   pins   1 trace point is pinned open, 2 trace points are pinned shut.\n");
    assert_has(&text,
               "   1      100 requests, 200 spans. 50 % of the variance lies inside a. Now open: "
               "2 of 4 points, 3.00 us of\n          20.0 us a request, 1 234 of 2 000 bytes a "
               "second.\n");
    assert_has(&text, "\n   end    T: done, though there is T in the way.\n"
                      "   end    T: given up, because there is T in the way.\n");
    pythia_buf_free(&text);
    text = said(sample_search("T"), PYTHIA_REPORT_MARKDOWN);
    assert_has(&text, "3 more were opened. 1 trace point is pinned open, 2 trace points are pinned "
                      "shut.\n\n1. 100 requests");
    assert_has(&text,
               "Now open: 2 of 4 points, 3.00 us of 20.0 us a request, 1 234 of 2 000 bytes a "
               "second.\n2. ");
    assert_has(&text, "\n\n- `T`: done, though there is T in the way.\n- `T`: given up, because "
                      "there is T in the way.\n");
    pythia_buf_free(&text);
    text = said(sample_search("T"), PYTHIA_REPORT_HTML);
    assert_has(&text, "<p class=\"note\">1 trace point is pinned open, 2 trace points are pinned "
                      "shut.</p>");
    assert_has(&text, "<code>T</code></th><td class=\"full\"><span class=\"found\">50 % of the "
                      "variance lies <span class=\"how\">inside </span><code>T</code></span><span "
                      "class=\"sub\">done, though there is T in the way.</span>");
    assert_has(&text, "<td class=\"full\"><span class=\"found\">given up, because there is "
                      "T in the way.</span>");
    pythia_buf_free(&text);
}

static void types_with_too_few_requests_are_counted_where_nothing_was_found(void **state)
{
    static const enum pythia_report_format forms[] = {PYTHIA_REPORT_TEXT, PYTHIA_REPORT_MARKDOWN,
                                                      PYTHIA_REPORT_HTML};
    static const char few[] = "2 request types had too few requests to be searched: 30 in a cycle "
                              "are needed.";
    for (size_t i = 0; i < 3; i++) {
        json_t *problems = json_pack("[o,o,o]", sample_problem("T", "too_few", 0, "too_few"),
                                     sample_problem("U", "too_few", 0, "too_few"),
                                     sample_problem("V", "too_few", 2, "too_few"));
        struct pythia_buf text = said(search_with(json_incref(problems)), forms[i]);
        assert_has(&text, few);
        assert_has(&text, "too few, because there is V in the way.");
        pythia_buf_free(&text);
        json_array_append_new(problems, sample_problem("W", "done", 2, NULL));
        text = said(search_with(problems), forms[i]);
        assert_null(strstr(text.bytes, few));
        pythia_buf_free(&text);
    }
}

static void of_many_reasons_the_first_are_told(void **state)
{
    static const enum pythia_report_format forms[] = {PYTHIA_REPORT_TEXT, PYTHIA_REPORT_MARKDOWN,
                                                      PYTHIA_REPORT_HTML};
    static const size_t told[] = {20, 20, 200};
    for (size_t i = 0; i < 3; i++) {
        char more[32];
        json_t *problems = json_array();
        for (int k = 0; k < 300; k++)
            json_array_append_new(problems, sample_problem("T", "unknown", 0, "no_type"));
        struct pythia_buf text = said(search_with(problems), forms[i]);
        assert_int_equal(sample_count(text.bytes, "unknown, because there is"), told[i]);
        snprintf(more, sizeof(more), "and %zu more", 300 - told[i]);
        assert_has(&text, more);
        pythia_buf_free(&text);
    }
}

static void without_limits_and_pins_nothing_is_said_of_them(void **state)
{
    static const enum pythia_report_format forms[] = {PYTHIA_REPORT_TEXT, PYTHIA_REPORT_MARKDOWN,
                                                      PYTHIA_REPORT_HTML};
    for (size_t i = 0; i < 3; i++) {
        json_t *search = sample_search("a"), *none = json_null();
        json_t *budget = json_object_get(search, "budget");
        json_object_set(budget, "points", none);
        json_object_set(budget, "added_ns", none);
        json_object_set(budget, "bytes_per_second", none);
        json_object_set_new(search, "pins", json_pack("{s:[], s:[]}", "always", "never"));
        struct pythia_buf text = said(search, forms[i]);
        assert_null(strstr(text.bytes, "Now open"));
        assert_null(strstr(text.bytes, "pinned"));
        pythia_buf_free(&text);
    }
}

static void without_a_space_it_is_being_learnt(void **state)
{
    static const enum pythia_report_format forms[] = {PYTHIA_REPORT_TEXT, PYTHIA_REPORT_MARKDOWN,
                                                      PYTHIA_REPORT_HTML};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        json_t *search = sample_search("a");
        json_object_set_new(search, "trace_points", json_integer(0));
        json_object_set_new(search, "skeleton", json_integer(0));
        struct pythia_buf text = said(search, forms[i]);
        assert_non_null(strstr(text.bytes, "he search space is being learnt."));
        assert_null(strstr(text.bytes, "open from the start"));
        pythia_buf_free(&text);
    }
}

/* And what is written in spite of a failure is whole. */
static void each_failed_allocation_is_told(void **state)
{
    static const enum pythia_report_format forms[] = {PYTHIA_REPORT_TEXT, PYTHIA_REPORT_MARKDOWN,
                                                      PYTHIA_REPORT_HTML};
    for (size_t i = 0; i < 3; i++) {
        json_t *report = json_pack("{s:o, s:o}", "loop", cycles(3), "search", sample_search("a"));
        struct pythia_buf whole = {0};
        assert_int_equal(pythia_report_write(report, forms[i], false, &whole), PYTHIA_OK);
        for (long n = 0, done = 0; !done; n++) {
            struct pythia_buf out = {0};
            pythia_mem_fail_after(n);
            int status = pythia_report_write(report, forms[i], false, &out);
            pythia_mem_fail_after(-1);
            done = status == PYTHIA_OK;
            if (done)
                assert_string_equal(out.bytes, whole.bytes);
            else
                assert_int_equal(status, PYTHIA_ENOMEM);
            pythia_buf_free(&out);
        }
        pythia_buf_free(&whole);
        json_decref(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_space_it_is_being_learnt),
        cmocka_unit_test(openings_for_them_are_told_in_each_form),
        cmocka_unit_test(points_that_the_space_does_not_know_are_told_in_each_form),
        cmocka_unit_test(bars_and_lines_stand_where_they_belong),
        cmocka_unit_test(what_has_no_room_is_listed_by_a_cross),
        cmocka_unit_test(from_1_to_2000_cycles_nothing_is_cut_off),
        cmocka_unit_test(numbers_of_causes_that_are_near_each_other_stand_in_two_rows),
        cmocka_unit_test(what_is_not_known_is_not_drawn),
        cmocka_unit_test(the_table_stays_below_the_picture),
        cmocka_unit_test(reasons_are_told_in_each_form),
        cmocka_unit_test(types_with_too_few_requests_are_counted_where_nothing_was_found),
        cmocka_unit_test(of_many_reasons_the_first_are_told),
        cmocka_unit_test(without_limits_and_pins_nothing_is_said_of_them),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
