/* A brief report is one of which only the text and Markdown forms are made, and they are the same
 * as those of a report in full. */
#include <jansson.h>

#include "pythia/random.h"
#include "pythia/report.h"
#include "requests.h"

enum { FORMS = 2 };

static const enum pythia_report_format forms[FORMS] = {PYTHIA_REPORT_TEXT, PYTHIA_REPORT_MARKDOWN};

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

static json_t *document(const struct sample *s, bool brief)
{
    const struct pythia_report_source source = {.input = &s->none,
                                                .vocabulary = s->r.vocabulary,
                                                .groups = s->r.groups,
                                                .diagnosis = s->d,
                                                .verdicts = &s->verdicts,
                                                .brief = brief};
    return pythia_report_json(&source);
}

static void the_text_of_a_brief_report_is_that_of_the_whole(void **state)
{
    struct sample s;
    begin(&s, 30);
    json_t *documents[2] = {document(&s, false), document(&s, true)};
    assert_true(documents[0] && documents[1]);
    for (size_t i = 0; i < FORMS; i++) {
        struct pythia_buf whole = {0}, brief = {0};
        assert_int_equal(pythia_report_write(documents[0], forms[i], false, &whole), PYTHIA_OK);
        assert_int_equal(pythia_report_write(documents[1], forms[i], false, &brief), PYTHIA_OK);
        assert_string_equal(brief.bytes, whole.bytes);
        assert_non_null(strstr(brief.bytes, "Unlike most of their type"));
        assert_non_null(strstr(brief.bytes,
                               "22 more")); /* Q, the rest of A, and 30, of which ten have a line */
        pythia_buf_free(&whole);
        pythia_buf_free(&brief);
    }
    json_decref(documents[0]);
    json_decref(documents[1]);
    end(&s);
}

static size_t size_of(int idle, bool brief)
{
    struct sample s;
    begin(&s, idle);
    json_t *json = document(&s, brief);
    assert_non_null(json);
    char *text = json_dumps(json, JSON_COMPACT);
    size_t size = strlen(text);
    free(text);
    json_decref(json);
    end(&s);
    return size;
}

/* In full, a type without a finding takes 2 to 3 kB. */
static void a_type_without_a_finding_takes_a_hundred_bytes(void **state)
{
    size_t few = size_of(100, true), many = size_of(1100, true);
    if (many - few > 100 * 1000)
        fail_msg("%zu bytes a type", (many - few) / 1000);
    assert_true(size_of(110, false) - size_of(100, false) > 10 * 1000);
}

static void without_memory_there_is_no_report(void **state)
{
    struct sample s;
    long failures = 0;
    begin(&s, 3);
    for (json_t *json = NULL; !json; failures += !json) {
        pythia_mem_fail_after(failures);
        json = document(&s, true);
        pythia_mem_fail_after(-1);
        json_decref(json);
    }
    assert_true(failures >= 2);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_of_a_brief_report_is_that_of_the_whole),
        cmocka_unit_test(a_type_without_a_finding_takes_a_hundred_bytes),
        cmocka_unit_test(without_memory_there_is_no_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
