#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "report_sample.h"

static struct pythia_buf written(json_t *report)
{
    return sample_written(report, PYTHIA_REPORT_MARKDOWN);
}

/* ---- a line as GitHub reads it ---- */

/* Pipes that part cells: all but those behind a backslash, even in code. */
static size_t pipes(const char *line, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        if (line[i] == '\\')
            i++;
        else
            count += line[i] == '|';
    }
    return count;
}

/* Appends what is markup in a line: code spans as "`", and each character that has a meaning and no
 * backslash before it. */
static void add_markup(struct pythia_buf *to, const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t run = 0;
        while (i + run < size && line[i + run] == '`')
            run++;
        if (run > 0) {
            size_t at = i + run, closing = 0;
            while (at < size && closing != run) {
                closing = 0;
                while (at < size && line[at] != '`')
                    at++;
                while (at < size && line[at] == '`') {
                    at++;
                    closing++;
                }
            }
            assert_int_equal(closing, run); /* every code span ends in its line */
            pythia_buf_putc(to, '`');
            i = at - 1;
        } else if (line[i] == '\\') {
            i++;
        } else if (size - i >= 8 && strncmp(line + i, "<!-- -->", 8) == 0) {
            i += 7;
        } else if (strchr("*[]<#|~&$", line[i])) {
            pythia_buf_putc(to, line[i]);
        }
    }
    pythia_buf_putc(to, '\n');
}

/* What is markup in a report, line by line; rows of tables have as many cells as their heads. */
static struct pythia_buf markup_of(const char *text)
{
    struct pythia_buf out = {0};
    size_t cells = 0;
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n");
        assert_int_equal(line[size], '\n');
        if (line[0] == '|' && cells == 0)
            cells = pipes(line, size);
        else if (line[0] == '|')
            assert_int_equal(pipes(line, size), cells);
        else
            cells = 0;
        add_markup(&out, line, size);
        line += size + 1;
    }
    return out;
}

static void hostile_names_change_no_markup(void **state)
{
    struct pythia_buf text = written(sample_report("ordinary:name.of/a_point"));
    struct pythia_buf expected = markup_of(text.bytes);
    pythia_buf_free(&text);
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++) {
        text = written(sample_report(sample_hostile[i]));
        struct pythia_buf markup = markup_of(text.bytes);
        if (sample_can_be_set_apart(sample_hostile[i]))
            assert_string_equal(markup.bytes, expected.bytes);
        for (size_t k = 0; k < text.size; k++)
            assert_true((unsigned char)text.bytes[k] >= ' ' || text.bytes[k] == '\n');
        pythia_buf_free(&markup);
        pythia_buf_free(&text);
    }
    pythia_buf_free(&expected);
}

/* The splits of keys are sentences with values in them that are not set apart. */
static void what_is_hostile_in_a_sentence_is_escaped(void **state)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"in {<b>*x*</b>}", " in {\\<b>\\*x\\*\\</b>},"},
        {"is [a](b)", " when \\[a\\](b),"},
        {"is a|b", " when a\\|b,"},
        {"is http://x.example", " when http<!-- -->://x<!-- -->.example,"},
        {"is @team #1", " when @<!-- -->team \\#<!-- -->1,"},
        {"is www.1x.org", " when www<!-- -->.1x<!-- -->.org,"},
        {"is www. x", " when www<!-- -->. x,"},
        {"is >= 2.5", " when >= 2.5,"},
        {"is some_thing_ _", " when some_thing\\_ \\_,"},
        {"is a\nb", " when a\\\\x0ab,"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *report = sample_report("a");
        json_t *type = json_array_get(json_object_get(report, "request_types"), 0);
        json_t *key = json_array_get(json_object_get(type, "explanations"), 0);
        json_object_set_new(json_object_get(key, "split"), "condition", json_string(cases[i].name));
        struct pythia_buf text = written(report);
        assert_non_null(strstr(text.bytes, cases[i].shown));
        pythia_buf_free(&text);
    }
}

static void names_are_code_with_a_fence_that_fits(void **state)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"plain", "| `plain` |"},   {"a`b", "| `` a`b `` |"},
        {"``", "| ``` `` ``` |"},   {"a|b", "| `a\\|b` |"},
        {"a\\|b", "| `a\\x7cb` |"}, {" a", "| `  a ` |"},
        {"", "| `(no name)` |"},    {"x\xE2\x80\xAEy", "| `x\\u202ey` |"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf text = written(sample_report(cases[i].name));
        assert_non_null(strstr(text.bytes, cases[i].shown));
        pythia_buf_free(&text);
    }
}

static void long_names_lose_their_middle(void **state)
{
    char *name = sample_long_name(10000);
    struct pythia_buf text = written(sample_report(name));
    assert_true(text.size < 20000);
    assert_non_null(strstr(text.bytes, "`beginxxx"));
    assert_non_null(strstr(text.bytes, "xxxend`"));
    pythia_buf_free(&text);
    free(name);
}

static void counters_of_the_input_are_said(void **state)
{
    struct pythia_buf text = written(sample_report("a"));
    assert_non_null(strstr(text.bytes,
                           "**80 requests** of 1 type, 100 spans, from 1 file (0.0 MB). "
                           "**1 file could not be read to the end.** 3 repaired "
                           "(`orphan` 3). 2 dropped (`late` 2).\n"));
    pythia_buf_free(&text);
}

static void the_findings_come_first_and_in_tables(void **state)
{
    struct pythia_buf text = written(sample_report("p"));
    static const char *const in_order[] = {
        "# Pythia report\n",
        "\n## Split by `p`\n",
        "\nOf all, 40 requests have it, 40 do not.\n",
        "\nOf `p`: Cut at 3, which separates the modes of the durations. This split accounts for",
        "| `p` | 10 | 2.00 s |\n",
        "\n## 1. `p`\n",
        "\nUnlike most of their type, they pass `p`, and not `p`.\n",
        "**Where.** It is inside `p`.\n",
        "**Why.** With it goes, hostile or not, `p`.\n",
        "| 40 of 80 | 3.00 s | 1.00 s | 2.00 s | 5.00 s | 8.00 s | 40 % |\n",
        "2 modes: 90 % near 4.00 s, 10 % near 30.0 s.\n",
        "| 70 % | 60 % to 80 % | 2.00 s | inside `p` |\n",
        "| 20 % | 10 % to 30 % | 1.00 s | between one `p` and the next |\n",
        "| 10 % | 0 % to 20 % | 1.00 s | from the start of `p` to the start of `p` |\n",
        "| `p` | 40 % | 1e-09 | 0.001 | nothing beyond `p`, low confidence |\n",
        "| how often requests hit `p` | 40 % |",
        "\n5 keys tested, 1 not",
        "\n**Split.** `p` instead of 'p' accounts for 60 % (50 to 70) of the variance, and",
        "| `p` | 30 | 1.00 s |\n",
        "\n## Paths of `p`\n",
        "\n## Other groups\n",
        "| too_few | 40 | 3.00 s | `p` |\n",
        "\n## All trace points were open here. Where they are not, open first\n",
        "| `p` | 70 % | 1.00 us | It lies inside `p`. |\n",
    };
    const char *at = text.bytes;
    for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++) {
        at = strstr(at, in_order[i]);
        if (!at)
            fail_msg("not there, or not in order: %s", in_order[i]);
    }
    pythia_buf_free(&text);
}

static void what_is_missing_is_a_dash(void **state)
{
    struct pythia_buf text = written(json_object());
    assert_string_equal(text.bytes,
                        "# Pythia report\n\n**- requests** of 0 types, - spans, from - files. "
                        "Nothing had to be repaired, nothing was dropped.\n\nNot enough data: no "
                        "group has enough requests to be diagnosed.\n");
    pythia_buf_free(&text);
    json_t *report = sample_report("a");
    json_t *group = json_array_get(json_object_get(report, "groups"), 0);
    static const char *const keys[] = {"count", "mean_ns", "sd_ns", "p50_ns", "variance_share"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        json_object_set_new(group, keys[i], json_null());
    text = written(report);
    assert_non_null(strstr(text.bytes, "| - | - | - | - | 5.00 s | 8.00 s | - |\n"));
    assert_null(strstr(text.bytes, "nan"));
    pythia_buf_free(&text);
}

static void each_failed_allocation_is_told(void **state)
{
    json_t *report = sample_report("a");
    for (long n = 0, done = 0; !done; n++) {
        struct pythia_buf out = {0};
        pythia_mem_fail_after(n);
        int status = pythia_report_write(report, PYTHIA_REPORT_MARKDOWN, false, &out);
        pythia_mem_fail_after(-1);
        done = status == PYTHIA_OK;
        assert_true(done || status == PYTHIA_ENOMEM);
        pythia_buf_free(&out);
        assert_true(n < 100000);
    }
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names_change_no_markup),
        cmocka_unit_test(what_is_hostile_in_a_sentence_is_escaped),
        cmocka_unit_test(names_are_code_with_a_fence_that_fits),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test(counters_of_the_input_are_said),
        cmocka_unit_test(the_findings_come_first_and_in_tables),
        cmocka_unit_test(what_is_missing_is_a_dash),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
