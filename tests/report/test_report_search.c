/* What a report says of a search: the picture of its cycles, the budget, and why it ended. */
#include <math.h>
#include <stdio.h>

#include "document/document.h"
#include "page/pictures.h"
#include "pythia/mem.h"
#include "replay/report_parts.h"
#include "report_sample.h"
#include "write/html_writer.h"

#define POINTS 64

/* A search whose trace points, types and reasons are all named "a". */
struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_loop_switch switches[POINTS];
    struct pythia_loop_found found[1];
    struct pythia_loop_cycle *cycles;
    struct pythia_problem problems[300];
    uint32_t points[2];
    struct pythia_loop loop;
    struct pythia_report_source source;
};

static uint32_t point(const struct bench *b, const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(b->vocabulary, pythia_text_of(id), 0, 0);
}

static void begin(struct bench *b, size_t cycles)
{
    static char reason[] = "it parts what lies in a";
    *b = (struct bench){0};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    b->cycles = calloc(cycles, sizeof(*b->cycles));
    for (size_t i = 0; i < POINTS; i++)
        b->switches[i] = (struct pythia_loop_switch){
            .tracepoint = point(b, "a"), .type = PYTHIA_NONE, .cost_ns = 1000, .reason = reason};
    b->found[0] = (struct pythia_loop_found){.cause = {.place = {.context = point(b, "a"),
                                                                 .from_tracepoint = point(b, "a"),
                                                                 .to_tracepoint = point(b, "a"),
                                                                 .from_event = PYTHIA_EVENT_START,
                                                                 .to_event = PYTHIA_EVENT_END},
                                                       .share = .5}};
    b->points[0] = point(b, "a:x");
    b->points[1] = point(b, "b:<script>");
    b->loop = (struct pythia_loop){.cycles = b->cycles,
                                   .cycle_count = cycles,
                                   .problems = b->problems,
                                   .point_count = 20,
                                   .skeleton_count = 4,
                                   .opened_count = 3,
                                   .rounds = 1,
                                   .min_requests = 30,
                                   .finished = true,
                                   .budget = {.points_per_cycle = 3, .points_open = 4}};
    b->source = (struct pythia_report_source){.vocabulary = b->vocabulary, .loop = &b->loop};
}

static void end_bench(struct bench *b)
{
    pythia_vocabulary_destroy(b->vocabulary);
    free(b->cycles);
}

/* Cycle i + 1: `points` were open, `explained` of the variance is (a negative number: it is not
 * known), and so many points were opened and closed after it. */
static void set_cycle(struct bench *b, size_t i, size_t points, double explained, size_t opened,
                      size_t closed, bool found)
{
    b->cycles[i] = (struct pythia_loop_cycle){.number = i + 1,
                                              .requests = 100,
                                              .open_count = points,
                                              .spans_seen = 200,
                                              .spans_saved = 600,
                                              .opened = b->switches,
                                              .opened_count = opened,
                                              .closed = b->switches,
                                              .closed_count = closed,
                                              .found = b->found,
                                              .found_count = found,
                                              .planned = {points, 3000, 1234},
                                              .leading = {.type = explained < 0 ? PYTHIA_NONE : 0,
                                                          .state = PYTHIA_PROBLEM_SEARCHING,
                                                          .top = {.share = NAN},
                                                          .cause_count = explained > 0,
                                                          .rest = 1 - explained}};
}

static void set_problem(struct bench *b, enum pythia_problem_state state, enum pythia_why why,
                        uint64_t cycles)
{
    b->problems[b->loop.problem_count++] =
        (struct pythia_problem){.type = pythia_vocabulary_string(b->vocabulary, PYTHIA_TEXT("T")),
                                .state = state,
                                .why = why,
                                .blocked = point(b, "a"),
                                .cycles = cycles};
}

static void assert_has(const struct pythia_buf *text, const char *part)
{
    struct pythia_text all = pythia_buf_text(text);
    if (!strstr(all.bytes, part))
        fail_msg("is not there: %s\n%s", part, all.bytes);
}

/* The picture alone. */
static struct pythia_buf picture_of(struct bench *b)
{
    struct pythia_buf out = {0};
    struct pythia__html h;
    struct pythia__doc d;
    pythia__doc_begin(&d);
    const struct pythia__timeline *t = pythia__timeline_make(&d, b->vocabulary, &b->loop);
    assert_non_null(t);
    pythia__html_begin(&h, &out);
    pythia__timeline_draw(&h, t);
    pythia__html_end(&h);
    pythia__doc_free(&d);
    return out;
}

enum { FORMS = 3 };

static int write_form(struct bench *b, int form, struct pythia_buf *out)
{
    const struct pythia__doc_view view = {.width = 100, .full = true};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    const struct pythia__parts parts = {.s = &b->source, .d = &d};
    pythia__doc_open(&d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
    pythia__doc_close(&d);
    pythia__part_search(&parts);
    int status = pythia__doc_finish(&d);
    if (status == PYTHIA_OK)
        status = form == 0   ? pythia__doc_write_text(&d, &view, out)
                 : form == 1 ? pythia__doc_write_markdown(&d, out)
                             : pythia__doc_write_html(&d, "t", "f", out);
    pythia__doc_free(&d);
    return status;
}

/* With one blank for the end of a line and all blanks that follow. */
static struct pythia_buf written(struct bench *b, int form)
{
    struct pythia_buf out = {0};
    assert_int_equal(write_form(b, form, &out), PYTHIA_OK);
    char *to = out.bytes;
    if (!to) {
        fail_msg("nothing was written");
        return out;
    }
    for (const char *from = pythia_buf_text(&out).bytes; *from; from++) {
        char c = (char)(*from == '\n' ? ' ' : *from);
        if (c != ' ' || to == pythia_buf_text(&out).bytes || to[-1] != ' ')
            *to++ = c;
    }
    *to = '\0';
    return out;
}

static void check_each_form(struct bench *b, const char *wanted, const char *unwanted)
{
    for (int form = 0; form < FORMS; form++) {
        struct pythia_buf text = written(b, form);
        if (wanted)
            assert_has(&text, wanted);
        if (unwanted)
            assert_null(strstr(pythia_buf_text(&text).bytes, unwanted));
        pythia_buf_free(&text);
    }
}

/* ---- types that turned up later ---- */

static void openings_for_them_are_told_in_each_form(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 0, 0, false);
    check_each_form(&b, NULL, "new request types");
    b.loop.lessons = 1;
    b.loop.types_waiting = 2;
    check_each_form(&b,
                    "Trace points were opened 1 time to learn new request types. 2 request types "
                    "wait to be learnt, because the limit per hour is reached.",
                    "stayed closed");
    b.loop.lessons = 3;
    b.loop.lessons_cut = 2;
    check_each_form(&b,
                    "opened 3 times to learn new request types. In 2 of these times some trace "
                    "points stayed closed, because no more may be open at once.",
                    NULL);
    end_bench(&b);
}

static void points_that_the_space_does_not_know_are_told_in_each_form(void **state)
{
    static const char *const named[FORMS] = {
        "a:x, b:<script> and 10 more.", "`a:x`, `b:<script>` and 10 more.",
        ">a:x</code>, <code title=\"b:&lt;script&gt;\">&lt;script&gt;</code> and 10 more."};
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 0, 0, false);
    check_each_form(&b, NULL, "does not know");
    b.loop.unknown = (struct pythia_unknown_points){.count = 12, .spans = 345, .most_count = 2};
    b.loop.unknown.most[0] = b.points[0];
    b.loop.unknown.most[1] = b.points[1];
    check_each_form(
        &b,
        "The search space does not know 12 trace points of request types that it knows, "
        "of which 345 spans were left out. Build or learn a new space to search them: ",
        NULL);
    for (int form = 0; form < FORMS - 1; form++) {
        struct pythia_buf text = written(&b, form);
        assert_has(&text, named[form]);
        pythia_buf_free(&text);
    }
    b.loop.unknown.count = b.loop.unknown.spans = b.loop.unknown.most_count = 1;
    check_each_form(&b, "1 trace point of request types", NULL);
    check_each_form(&b, "to search it: ", NULL);
    end_bench(&b);
}

/* While the search space is being learnt, cycles have no number: several of them in one row are no
 * range. */
static void cycles_without_a_number_are_no_range(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 1, 0, false);
    b.loop.cycles[0].number = 0;
    b.loop.cycles[0].more = 2;
    struct pythia_buf p = picture_of(&b);
    assert_has(&p, "<title>Opened after cycle 0: a");
    pythia_buf_free(&p);
    end_bench(&b);
}

/* ---- the picture ---- */

/* 91.5 % of the width are four cycles of 22.875 %, though there are two: the first from 7.5 % on.
 * Panels of 70, 70 and 50 pixels, of which the first begins at 40. 60 % of 70 are 42, three
 * quarters of the spans of 50 are 37.5; of a scale up to 4 points, 3 are 52.5 pixels up. */
static void bars_and_lines_stand_where_they_belong(void **state)
{
    struct bench b;
    begin(&b, 2);
    set_cycle(&b, 0, 1, 0, 2, 0, false);
    set_cycle(&b, 1, 3, .6, 0, 0, true);
    struct pythia_buf p = picture_of(&b);
    assert_has(&p, "<rect class=\"explained\" x=\"30.38%\" width=\"22.88%\" y=\"68.0\" "
                   "height=\"42.0\"><title>Cycle 2: 60 % of the variance explained</title>");
    /* panel 2: 110 + 14 + 20 = 144 to 214 */
    assert_has(&p, "<line class=\"step\" x1=\"7.50%\" y1=\"196.5\" x2=\"30.38%\" y2=\"196.5\"/>");
    assert_has(&p, "<line class=\"step\" x1=\"30.38%\" y1=\"196.5\" x2=\"30.38%\" y2=\"161.5\"/>");
    assert_has(&p, "<title>Cycle 2: 3 trace points open</title><line class=\"step\" x1=\"30.38%\" "
                   "y1=\"161.5\" x2=\"53.25%\" y2=\"161.5\"/>");
    assert_has(&p,
               "<title>The most that may be open at once</title><line class=\"limit\" x1=\"7.50%\" "
               "y1=\"144\" x2=\"99.00%\" y2=\"144\"/>");
    /* two marks above each other behind cycle 1, their line at 214 + 4 + 2 * 9 = 236 */
    assert_has(&p, "<title>Opened after cycle 1: a: it parts what lies in a</title><svg "
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
                   "closed; 75 % to 75 % of the spans saved; 1 cause found. The table below has "
                   "the same data.</desc>");
    pythia_buf_free(&p);
    end_bench(&b);
}

static void what_has_no_room_is_listed_by_a_cross(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 30, 6, false);
    struct pythia_buf p = picture_of(&b);
    assert_int_equal(sample_count(p.bytes, "<path class=\"opened\""), 4);
    assert_int_equal(sample_count(p.bytes, "<path class=\"closed\""), 4);
    assert_int_equal(sample_count(p.bytes, "<path class=\"cross\""), 2);
    assert_has(&p,
               "<title>Opened after cycle 1: a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, "
               "a, a, a and 6 more</title>"); /* 30 - 4 - 20 */
    assert_has(&p, "<title>Closed after cycle 1: a, a</title>");
    assert_has(&p, "A cross stands for all triangles that do not fit.");
    pythia_buf_free(&p);
    end_bench(&b);
}

/* Every place within the picture, and numbers of cycles that do not touch: each is 8 pixels a digit
 * in the 630 that the picture has at least. */
static void from_1_to_2000_cycles_nothing_is_cut_off(void **state)
{
    static const int counts[] = {1, 2, 3, 4, 5, 16, 17, 30, 33, 60, 61, 100, 200, 999, 2000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct bench b;
        begin(&b, (size_t)counts[i]);
        for (int k = 0; k < counts[i]; k++)
            set_cycle(&b, (size_t)k, (size_t)(k % 5), .5, 1, 1, k == counts[i] / 2);
        struct pythia_buf p = picture_of(&b);
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
            assert_has(&p, "Only the first 1000 of 2000 cycles are drawn.");
        pythia_buf_free(&p);
        end_bench(&b);
    }
}

static void numbers_of_causes_that_are_near_each_other_stand_in_two_rows(void **state)
{
    struct bench b;
    begin(&b, 100);
    for (size_t i = 0; i < 100; i++)
        set_cycle(&b, i, 0, .5, 0, 0, i == 10 || i == 11);
    struct pythia_buf p = picture_of(&b);
    assert_has(&p, " y=\"30\" dx=\"5\" text-anchor=\"start\">1</text>");
    assert_has(&p, " y=\"16\" dx=\"5\" text-anchor=\"start\">2</text>");
    pythia_buf_free(&p);
    end_bench(&b);
}

static void what_is_not_known_is_not_drawn(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, -1, 0, 0, false);
    b.cycles[0].spans_seen = b.cycles[0].spans_saved = 0;
    b.loop.budget = (struct pythia_budget){0};
    struct pythia_buf p = picture_of(&b);
    assert_int_equal(sample_count(p.bytes, "<rect"), 0);
    assert_int_equal(sample_count(p.bytes, "nan"), 0);
    assert_int_equal(sample_count(p.bytes, "<figcaption"), 0); /* there is nothing to explain */
    pythia_buf_free(&p);
    end_bench(&b);
}

/* ---- words ---- */

static void a_cycle_says_what_it_may_use_and_what_it_does(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 2, .5, 0, 0, false);
    b.loop.budget.added_ns = 20000;
    b.loop.budget.bytes_per_second = 2000;
    check_each_form(
        &b, "Now open: 2 of 4 points, 3.00 us of 20.0 us per request, 1 234 of 2 000 bytes per",
        NULL);
    b.loop.budget = (struct pythia_budget){0};
    check_each_form(&b, NULL, "Now open");
    end_bench(&b);
}

static void pins_are_counted(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 0, 0, false);
    check_each_form(&b, NULL, "pinned");
    b.loop.always_count = 1;
    b.loop.never_count = 2;
    check_each_form(&b, "1 trace point is pinned open, 2 trace points are pinned closed.", NULL);
    end_bench(&b);
}

static void reasons_are_told_in_each_form(void **state)
{
    static const char *const told[FORMS] = {
        " - T: done, though a is called there, and is pinned closed",
        " - `T`: done, though a is called there, and is pinned closed",
        "<li><code>T</code>: done, though a is called there, and is pinned closed"};
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 0, 0, false);
    set_problem(&b, PYTHIA_PROBLEM_DONE, PYTHIA_WHY_PINNED, 2);
    set_problem(&b, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_OUTSIDE, 3);
    for (int form = 0; form < FORMS; form++) {
        struct pythia_buf text = written(&b, form);
        assert_has(&text, told[form]);
        assert_has(&text, ": given up, because no closed trace point would show more");
        pythia_buf_free(&text);
    }
    end_bench(&b);
}

static void types_with_too_few_requests_are_counted_where_nothing_was_found(void **state)
{
    static const char few[] = "2 request types had too few requests to be searched: 30 in a cycle "
                              "are needed.";
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 0, 0, false);
    set_problem(&b, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, 0);
    set_problem(&b, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, 0);
    set_problem(&b, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, 2);
    check_each_form(&b, few, NULL);
    check_each_form(&b, "too few, because its requests no longer arrive.", NULL);
    set_problem(&b, PYTHIA_PROBLEM_DONE, PYTHIA_WHY_NONE, 2);
    check_each_form(&b, NULL, few);
    end_bench(&b);
}

static void of_many_reasons_the_first_are_told(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, 0, 0, 0, false);
    for (int k = 0; k < 300; k++)
        set_problem(&b, PYTHIA_PROBLEM_UNKNOWN, PYTHIA_WHY_NO_TYPE, 0);
    check_each_form(&b, "And 280 more types.", NULL);
    for (int form = 0; form < FORMS; form++) {
        struct pythia_buf text = written(&b, form);
        assert_int_equal(
            sample_count(pythia_buf_text(&text).bytes, "unknown, because the search space has"),
            20);
        pythia_buf_free(&text);
    }
    end_bench(&b);
}

static void without_a_space_it_is_being_learnt(void **state)
{
    struct bench b;
    begin(&b, 1);
    set_cycle(&b, 0, 0, -1, 0, 0, false);
    b.loop.point_count = b.loop.skeleton_count = 0;
    check_each_form(&b, "The search space is being learnt.", "open from the start");
    end_bench(&b);
}

/* And what is written in spite of a failure is whole. */
static void each_failed_allocation_is_told(void **state)
{
    struct bench b;
    begin(&b, 3);
    for (size_t i = 0; i < 3; i++)
        set_cycle(&b, i, i, .5, 2, 1, i == 1);
    set_problem(&b, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_PINNED, 3);
    for (int form = 0; form < FORMS; form++) {
        struct pythia_buf whole = {0};
        assert_int_equal(write_form(&b, form, &whole), PYTHIA_OK);
        for (long n = 0, done = 0; !done; n++) {
            struct pythia_buf out = {0};
            pythia_mem_fail_after(n);
            const unsigned long failures = pythia_mem_failures();
            int status = write_form(&b, form, &out);
            bool failed = pythia_mem_failures() != failures;
            pythia_mem_fail_after(-1);
            done = !failed;
            if (status == PYTHIA_OK && !failed)
                assert_string_equal(pythia_buf_text(&out).bytes, whole.bytes);
            pythia_buf_free(&out);
        }
        pythia_buf_free(&whole);
    }
    end_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_space_it_is_being_learnt),
        cmocka_unit_test(openings_for_them_are_told_in_each_form),
        cmocka_unit_test(points_that_the_space_does_not_know_are_told_in_each_form),
        cmocka_unit_test(cycles_without_a_number_are_no_range),
        cmocka_unit_test(bars_and_lines_stand_where_they_belong),
        cmocka_unit_test(what_has_no_room_is_listed_by_a_cross),
        cmocka_unit_test(from_1_to_2000_cycles_nothing_is_cut_off),
        cmocka_unit_test(numbers_of_causes_that_are_near_each_other_stand_in_two_rows),
        cmocka_unit_test(what_is_not_known_is_not_drawn),
        cmocka_unit_test(a_cycle_says_what_it_may_use_and_what_it_does),
        cmocka_unit_test(pins_are_counted),
        cmocka_unit_test(reasons_are_told_in_each_form),
        cmocka_unit_test(types_with_too_few_requests_are_counted_where_nothing_was_found),
        cmocka_unit_test(of_many_reasons_the_first_are_told),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
