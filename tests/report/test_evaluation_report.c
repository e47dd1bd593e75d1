#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"
#include "pythia/evaluation_report.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define TRIALS 10

/* A result of 10 searches, so many of which did not find all causes in 30 cycles. */
static json_t *sample(int missed)
{
    json_t *cycles = json_pack("{s:i, s:i, s:i}", "median", missed > 5 ? 30 : 4, "p90",
                               missed > 1 ? 30 : 6, "not_localised", missed);
    json_t *result = json_pack(
        "{s:s, s:s, s:i, s:{s:i, s:i, s:f, s:f, s:f}, s:o, s:{s:f, s:f}}", "problem", "deep",
        "strategy", "random", "trials", TRIALS, "all_causes", "hits", TRIALS - missed, "of", TRIALS,
        "rate", 1 - missed / (double)TRIALS, "low", .5, "high", .9, "cycles_to_localise", cycles,
        "opened_share", "median", .0, "p90", .02);
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:[s], s:[{s:s}], s:[{s:s, s:s, s:i, "
                     "s:i}], s:[o]}",
                     "schema", "pythia.evaluation/1", "trials", TRIALS, "first_seed", 1, "seeds",
                     TRIALS, "points", 3, "cycles", 30, "price_ns", 1000., "notes", "A note.",
                     "strategies", "name", "random", "problems", "name", "deep", "help", "a tree",
                     "causes", 1, "requests", 50, "results", result);
}

static int read_text(const char *text, struct pythia_evaluation_report **out)
{
    char path[] = "/tmp/pythia-evaluation-XXXXXX";
    struct pythia_error e = {0};
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    int status = pythia_evaluation_report_read(path, out, &e);
    unlink(path);
    return status;
}

/* As `pythia evaluate --from` writes it. */
static char *written(json_t *document, enum pythia_evaluation_format format)
{
    const struct pythia_evaluation_view view = {.width = 100};
    struct pythia_evaluation_report *r = NULL;
    struct pythia_buf out = {0};
    assert_non_null(document);
    char *text = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    assert_non_null(text);
    assert_int_equal(read_text(text, &r), PYTHIA_OK);
    free(text);
    assert_int_equal(pythia_evaluation_report_write(r, format, &view, &out), PYTHIA_OK);
    pythia_evaluation_report_destroy(r);
    return out.bytes;
}

static size_t count(const char *text, const char *what)
{
    size_t found = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        found++;
    return found;
}

/* Of 10 searches the median is the fifth, and 90 % are reached by the ninth: with one that is lost
 * the ninth is found, with two it is not; with five the fifth is found, with six it is not. */
static void what_too_few_found_is_beyond_all_cycles(void **state)
{
    const struct {
        int missed;
        size_t beyond;
    } rows[] = {{0, 0}, {1, 0}, {2, 1}, {5, 1}, {6, 2}, {10, 2}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = written(sample(rows[i].missed), PYTHIA_EVALUATION_TEXT),
             *markdown = written(sample(rows[i].missed), PYTHIA_EVALUATION_MARKDOWN),
             *svg =
                 written(sample(rows[i].missed), PYTHIA_EVALUATION_SVG); /* its foot says so too */
        assert_int_equal(count(text, "> "), rows[i].beyond);
        assert_int_equal(count(markdown, "> "), rows[i].beyond);
        assert_int_equal(count(svg, "more than ") - 1, rows[i].beyond);
        free(text);
        free(markdown);
        free(svg);
    }
}

/* A mark is hollow where the median is beyond; a share of 0 has a line of its own. Shapes that are
 * drawn by lines alone, such as that of random, have no inside to be hollow. */
static void marks_show_what_was_not_found(void **state)
{
    json_t *found = sample(5), *lost = sample(6);
    json_string_set(
        json_object_get(json_array_get(json_object_get(lost, "results"), 0), "strategy"), "flat");
    char *svg = written(found, PYTHIA_EVALUATION_SVG);
    assert_int_equal(count(svg, "class=\"m7 l\""), 2); /* the legend, and its mark */
    assert_int_equal(count(svg, ">none</text>"), 1);
    free(svg);
    svg = written(lost, PYTHIA_EVALUATION_SVG);
    assert_int_equal(count(svg, "class=\"m2 o\""), 1);
    free(svg);
}

static void numbers_that_are_missing_are_undefined(void **state)
{
    json_t *report = sample(0);
    json_t *result = json_array_get(json_object_get(report, "results"), 0);
    json_object_del(result, "cycles_to_localise");
    json_object_del(report, "cycles");
    char *text = written(json_incref(report), PYTHIA_EVALUATION_TEXT),
         *csv = written(json_incref(report), PYTHIA_EVALUATION_CSV),
         *svg = written(report, PYTHIA_EVALUATION_SVG);
    assert_int_equal(count(text, "> "), 0);
    assert_non_null(strstr(csv, "\ndeep,random,10,,,,,,,1,0.5,0.9,"));
    assert_int_equal(count(svg, "nan"), 0);
    assert_int_equal(count(svg, "inf"), 0);
    free(text);
    free(csv);
    free(svg);
}

/* Each allocation failed in turn: the report is as it was, or not there. */
static void no_memory_leaves_no_half_of_a_report(void **state)
{
    json_t *document = sample(2);
    char *text = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    int status = PYTHIA_ENOMEM;
    long failures = -1;
    while (status == PYTHIA_ENOMEM) {
        struct pythia_evaluation_report *r = NULL;
        pythia_mem_fail_after(++failures);
        status = read_text(text, &r);
        pythia_mem_fail_after(-1);
        assert_int_equal(r != NULL, status == PYTHIA_OK);
        pythia_evaluation_report_destroy(r);
    }
    assert_int_equal(status, PYTHIA_OK);
    assert_true(failures > 0);
    free(text);
}

static void a_file_without_its_lists_is_refused(void **state)
{
    static const char *const texts[] = {"", "[]", "{", "{\"schema\":\"pythia.evaluation/2\"}",
                                        "{\"schema\":\"pythia.evaluation/1\",\"results\":[]}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pythia_evaluation_report *r = NULL;
        assert_int_equal(read_text(texts[i], &r), PYTHIA_EFORMAT);
        assert_null(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_too_few_found_is_beyond_all_cycles),
        cmocka_unit_test(marks_show_what_was_not_found),
        cmocka_unit_test(numbers_that_are_missing_are_undefined),
        cmocka_unit_test(no_memory_leaves_no_half_of_a_report),
        cmocka_unit_test(a_file_without_its_lists_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
