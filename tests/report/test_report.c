/* A report of requests, in each of its forms. */
#include "document/document.h"
#include "page/pictures.h"
#include "page_reader.h"
#include "pythia/random.h"
#include "pythia/report.h"
#include "requests.h"
#include "write/html_writer.h"

struct sample {
    struct requests r;
    struct pythia_diagnosis *d;
    struct pythia_verdicts verdicts;
    struct pythia_pipeline_result none;
};

/* Types of which one has a finding in one of its two structures, one hardly differs, and `idle`
 * have three requests each. */
static void begin(struct sample *s, int idle)
{
    struct pythia_random random;
    size_t count;
    pythia_random_init(&random, 1);
    *s = (struct sample){.none = {.files = 1}};
    requests_begin_folded(&s->r);
    for (int i = 0; i < 200; i++) {
        int slow = (int)(pythia_random_unit(&random) * 1000);
        requests_add(&s->r, "A(queue=%d){5 B{%d} 5 C{20} 5}", slow, slow + 100);
        for (int k = 0; k < 2; k++)
            requests_add(&s->r, "A(queue=%d){5 B{%d} 5 D{20} E{4} 5}", i, 300 + i % 3 + k);
        requests_add(&s->r, "Q{5 B{%d} 5}", 300 + i % 2);
    }
    for (int i = 0; i < idle * 3; i++)
        requests_add(&s->r, "idle-%d{5 B{%d} 5}", i % idle, 300 + i % 7);
    (void)requests_finish(&s->r, &count);
    assert_int_equal(count, 2 + idle);
    const struct pythia_diagnosis_options how = {.min_cov = .05, .seed = 1};
    assert_int_equal(pythia_diagnose(s->r.groups, &how, &s->d), PYTHIA_OK);
    assert_int_equal(pythia_verdicts_judge(&s->verdicts, s->d, s->r.groups), PYTHIA_OK);
}

static void end(struct sample *s)
{
    pythia_verdicts_free(&s->verdicts);
    pythia_diagnosis_destroy(s->d);
    requests_end(&s->r);
}

static int write_form(const struct sample *s, enum pythia_report_format form,
                      struct pythia_buf *out)
{
    const struct pythia_report_source source = {.input = &s->none,
                                                .vocabulary = s->r.vocabulary,
                                                .groups = s->r.groups,
                                                .diagnosis = s->d,
                                                .verdicts = &s->verdicts,
                                                .trace_url = "http://jaeger/trace/{trace_id}"};
    struct pythia_report *report = NULL;
    int status = pythia_report_create(&source, 1u << form, &report);
    if (status == PYTHIA_OK)
        status = pythia_report_write(report, form, NULL, out);
    pythia_report_destroy(report);
    return status;
}

static struct pythia_buf written(const struct sample *s, enum pythia_report_format form)
{
    struct pythia_buf out = {0};
    assert_int_equal(write_form(s, form, &out), PYTHIA_OK);
    return out;
}

/* The time inside a trace point. */
static struct pythia_place point_place(const struct sample *s, const char *id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(s->r.vocabulary, pythia_text_of(id));
    assert_int_not_equal(point, PYTHIA_NONE);
    return (struct pythia_place){.context = point,
                                 .from_tracepoint = point,
                                 .to_tracepoint = point,
                                 .from_event = PYTHIA_EVENT_START,
                                 .to_event = PYTHIA_EVENT_END};
}

/* Of the types, A has a finding; Q, the rest of A and 30 others have a line, of which ten are
 * seen. */
static void findings_come_first_and_other_types_have_a_line_each(void **state)
{
    static const enum pythia_report_format forms[] = {PYTHIA_REPORT_TEXT, PYTHIA_REPORT_MARKDOWN};
    struct sample s;
    begin(&s, 30);
    for (size_t i = 0; i < 2; i++) {
        struct pythia_buf text = written(&s, forms[i]);
        const char *finding = strstr(pythia_buf_text(&text).bytes, "Unlike most of their type"),
                   *others = strstr(pythia_buf_text(&text).bytes, "Other groups");
        assert_true(finding && others && finding < others);
        assert_non_null(strstr(others, "and 22 more"));
        pythia_buf_free(&text);
    }
    end(&s);
}

/* A place that has more than the one that is named, but not for long enough to change the verdict,
 * is told beside it. */
static void a_place_that_outgrows_the_verdict_is_told(void **state)
{
    struct sample s;
    begin(&s, 0);
    struct pythia_verdict *v = &s.verdicts.list[0];
    assert_string_equal(pythia_vocabulary_text(s.r.vocabulary, v->type).bytes, "A");
    v->state = PYTHIA_VERDICT_FOUND;
    v->found_count = v->also_count = 1;
    v->found[0].finding =
        (struct pythia_finding){point_place(&s, "C"), .share = .3, .low = 0, .high = .6};
    v->also[0] = (struct pythia_finding){point_place(&s, "B"), .share = .8, .low = .7, .high = .9};
    struct pythia_buf text = written(&s, PYTHIA_REPORT_BRIEF);
    assert_non_null(strstr(pythia_buf_text(&text).bytes, "NEW    B accounts for 80 %"));
    pythia_buf_free(&text);
    v->also[0].share = .25;
    text = written(&s, PYTHIA_REPORT_BRIEF);
    assert_null(strstr(pythia_buf_text(&text).bytes, "NEW"));
    pythia_buf_free(&text);
    end(&s);
}

/* The slowest request and a typical one stand beside each other, each with a link. */
static void requests_to_compare_have_links_on_a_page(void **state)
{
    struct sample s;
    begin(&s, 3);
    struct pythia_buf page = written(&s, PYTHIA_REPORT_HTML);
    struct pythia_buf tags = tags_of(pythia_buf_text(&page).bytes);
    const char *cards = strstr(pythia_buf_text(&page).bytes,
                               "<h3>Requests to compare</h3><div class=\"cards\"><div "
                               "class=\"card\"><p>slowest, ");
    assert_non_null(cards);
    const char *link = strstr(cards, "<a href=\"http://jaeger/trace/");
    assert_non_null(link);
    const char *other = strstr(link, "<div class=\"card\"><p>typical, ");
    assert_non_null(other);
    assert_non_null(strstr(other, "<a href=\"http://jaeger/trace/"));
    pythia_buf_free(&tags);
    pythia_buf_free(&page);
    end(&s);
}

static void each_failed_allocation_is_told(void **state)
{
    struct sample s;
    begin(&s, 3);
    for (int form = 0; form < PYTHIA_REPORT_FORMATS; form++) {
        struct pythia_buf whole = written(&s, (enum pythia_report_format)form);
        for (long n = 0, done = 0; !done; n += 1 + n / 8) {
            struct pythia_buf out = {0};
            pythia_mem_fail_after(n);
            int status = write_form(&s, (enum pythia_report_format)form, &out);
            pythia_mem_fail_after(-1);
            done = status == PYTHIA_OK;
            if (done)
                assert_string_equal(pythia_buf_text(&out).bytes, whole.bytes);
            else
                assert_int_equal(status, PYTHIA_ENOMEM);
            pythia_buf_free(&out);
        }
        pythia_buf_free(&whole);
    }
    end(&s);
}

/* What tracing takes is set after the report was made, again and again. */
static void overhead_is_that_which_was_set_last(void **state)
{
    static struct pythia_report_overhead o = {.share = .02, .limit = .01, .cost_ns = NAN};
    struct sample s;
    begin(&s, 3);
    const struct pythia_report_source source = {
        .input = &s.none, .vocabulary = s.r.vocabulary, .groups = s.r.groups, .diagnosis = s.d};
    struct pythia_report *report = NULL;
    unsigned forms = 1u << PYTHIA_REPORT_TEXT | 1u << PYTHIA_REPORT_JSON;
    assert_int_equal(pythia_report_create(&source, forms, &report), PYTHIA_OK);
    for (int round = 0; round < 3; round++) {
        struct pythia_buf text = {0}, json = {0};
        o.share = round == 0 ? .02 : .005;
        assert_int_equal(pythia_report_set_overhead(report, round < 2 ? &o : NULL), PYTHIA_OK);
        assert_int_equal(pythia_report_write(report, PYTHIA_REPORT_TEXT, NULL, &text), PYTHIA_OK);
        assert_int_equal(pythia_report_write(report, PYTHIA_REPORT_JSON, NULL, &json), PYTHIA_OK);
        assert_int_equal(strstr(pythia_buf_text(&text).bytes, "Tracing takes 2 %") != NULL,
                         round == 0);
        assert_int_equal(strstr(pythia_buf_text(&text).bytes, "Tracing takes 0.5 % of the time") !=
                             NULL,
                         round == 1);
        assert_int_equal(strstr(pythia_buf_text(&json).bytes, "\"beyond_limit\": false") != NULL,
                         round < 2);
        pythia_buf_free(&text);
        pythia_buf_free(&json);
    }
    pythia_report_destroy(report);
    end(&s);
}

/* ---- pictures ---- */

static struct pythia_buf drawn(void (*draw)(struct pythia__html *, const void *), const void *data)
{
    struct pythia_buf out = {0};
    struct pythia__html h;
    pythia__html_begin(&h, &out);
    draw(&h, data);
    pythia__html_end(&h);
    struct pythia_buf tags = tags_of(pythia_buf_text(&out).bytes);
    pythia_buf_free(&tags);
    return out;
}

static void assert_has(const struct pythia_buf *text, const char *part)
{
    if (!strstr(text->bytes, part))
        fail_msg("is not there: %s\n%s", part, text->bytes);
}

/* On a scale from 1 s to 1024 s, 32 s is in the middle. A hundredth of the width is left at each
 * side. */
static void quantiles_and_modes_stand_where_they_belong_on_the_log_scale(void **state)
{
    struct pythia__histogram g = {.low_ns = 1e9,
                                  .high_ns = 1024e9,
                                  .bins = 10,
                                  .quantiles_ns = {32e9, 500e9, 1000e9},
                                  .modes = 2,
                                  .cuts_ns = {1024e9, NAN},
                                  .centers_ns = {1e9, 2e9},
                                  .weights = {.9, .1}};
    for (int i = 0; i < 10; i++)
        g.counts[i] = (uint64_t)i * (uint64_t)i;
    struct pythia_buf picture = drawn(pythia__histogram_draw, &g);
    assert_has(&picture, "<line class=\"q\" x1=\"50.00%\" x2=\"50.00%\"");
    assert_has(&picture, ">p50 32.0 s</text>");
    assert_has(&picture, "<line class=\"cut\" x1=\"99.00%\" x2=\"99.00%\"");
    assert_has(&picture, "height=\"1\" x=\"1.00%\"");
    assert_has(&picture, "height=\"1\" x=\"10.80%\""); /* 1 + 98 / 10 */
    assert_has(&picture, "<title>8.53 min to 17.1 min: 81 requests</title>");
    assert_null(strstr(picture.bytes, "nan"));
    pythia_buf_free(&picture);
}

static void without_durations_there_is_no_histogram(void **state)
{
    const struct pythia__histogram none = {.low_ns = NAN, .high_ns = NAN};
    struct pythia_buf picture = drawn(pythia__histogram_draw, &none);
    assert_has(&picture, "There are no durations to draw.");
    pythia_buf_free(&picture);
}

/* A takes 100 ns, 10 of them itself. In it are D with 10, of which E takes 6, then C with 50, then
 * B with 30: an order that is neither that of names nor that of times. */
static void boxes_are_as_wide_as_their_time_in_the_order_of_the_path(void **state)
{
    static const char *const expected[] = {
        "<svg x=\"0.000%\" y=\"24\" width=\"100.000%\" height=\"24\"><title>A: 100 ns on",
        "y=\"48\" width=\"10.000%\" height=\"24\"><title>D: 10 ns on",
        "y=\"72\" width=\"6.000%\" height=\"24\"><title>E: 6 ns on",
        "<svg x=\"60.000%\" y=\"48\" width=\"30.000%\" height=\"24\"><title>B: 30 ns on",
        "<svg x=\"10.000%\" y=\"48\" width=\"50.000%\" height=\"24\"><title>C: 50 ns on",
    };
    struct sample s = {.none = {.files = 1}};
    struct pythia__doc d;
    size_t count;
    requests_begin_folded(&s.r);
    for (int i = 0; i < 60; i++)
        requests_add(&s.r, "A{5 D{4 E{6}} C{%d} B{30} 5}", i % 2 ? 40 : 60);
    (void)requests_finish(&s.r, &count);
    const struct pythia_diagnosis_options how = {.min_cov = .05, .seed = 1};
    assert_int_equal(pythia_diagnose(s.r.groups, &how, &s.d), PYTHIA_OK);
    assert_int_equal(s.d->group_count, 1);
    pythia__doc_begin(&d);
    const struct pythia__icicle *t =
        pythia__icicle_make(&d, pythia_groups_cct(s.r.groups), s.r.vocabulary, &s.d->groups[0]);
    assert_non_null(t);
    struct pythia_buf picture = drawn(pythia__icicle_draw, t);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_has(&picture, expected[i]);
    assert_has(&picture,
               "A: 100 ns on the critical path, 100 % of the variance; its own share of that: "
               "10 ns, 0 %</title>");
    assert_null(strstr(picture.bytes, "Not drawn"));
    pythia_buf_free(&picture);
    pythia__doc_free(&d);
    pythia_diagnosis_destroy(s.d);
    requests_end(&s.r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_come_first_and_other_types_have_a_line_each),
        cmocka_unit_test(a_place_that_outgrows_the_verdict_is_told),
        cmocka_unit_test(requests_to_compare_have_links_on_a_page),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(overhead_is_that_which_was_set_last),
        cmocka_unit_test(quantiles_and_modes_stand_where_they_belong_on_the_log_scale),
        cmocka_unit_test(without_durations_there_is_no_histogram),
        cmocka_unit_test(boxes_are_as_wide_as_their_time_in_the_order_of_the_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
