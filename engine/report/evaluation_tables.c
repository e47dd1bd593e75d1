/* An evaluation as text for a terminal and as Markdown: a table a problem, a line a strategy. Both
 * have the same cells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluation_forms.h"
#include "markdown_writer.h"
#include "pythia/shown_text.h"
#include "report_forms.h"

#define NAME_LIMIT 200 /* characters; of names of our own none is as long */

/* ---- cells ---- */

static void add_rate(struct pythia_buf *to, const json_t *result, const char *member)
{
    pythia__add_percent(to, pythia__number(json_object_get(result, member), "rate"));
}

/* "95 % (76-99)" */
static void add_interval(struct pythia_buf *to, const json_t *result, const char *member)
{
    const json_t *p = json_object_get(result, member);
    add_rate(to, result, member);
    if (isfinite(pythia__number(p, "rate")))
        pythia_buf_printf(to, " (%.0f-%.0f)", 100 * pythia__number(p, "low"),
                          100 * pythia__number(p, "high"));
}

static void add_whole(struct pythia_buf *to, const json_t *result, const char *member,
                      const char *inner)
{
    pythia__add_count(to, pythia__number(json_object_get(result, member), inner));
}

static void cell_strategy(struct pythia_buf *to, const json_t *result)
{
    pythia_shown_add(to, pythia_text_of(pythia__string(result, "strategy")), NAME_LIMIT);
}

static void cell_all(struct pythia_buf *to, const json_t *result)
{
    add_interval(to, result, "all_causes");
}

static void cell_first(struct pythia_buf *to, const json_t *result)
{
    add_rate(to, result, "success_at_1");
}

static void cell_three(struct pythia_buf *to, const json_t *result)
{
    add_rate(to, result, "success_at_3");
}

static void cell_cycles(struct pythia_buf *to, const json_t *result)
{
    pythia_buf_puts(to, pythia__evaluation_is_beyond(result, 50) ? "> " : "");
    add_whole(to, result, "cycles_to_localise", "median");
}

static void cell_cycles_p90(struct pythia_buf *to, const json_t *result)
{
    pythia_buf_puts(to, pythia__evaluation_is_beyond(result, 90) ? "> " : "");
    add_whole(to, result, "cycles_to_localise", "p90");
}

static void cell_opened(struct pythia_buf *to, const json_t *result)
{
    pythia__add_percent(to, pythia__number(json_object_get(result, "opened_share"), "median"));
}

static void cell_opened_p90(struct pythia_buf *to, const json_t *result)
{
    pythia__add_percent(to, pythia__number(json_object_get(result, "opened_share"), "p90"));
}

static void cell_peak(struct pythia_buf *to, const json_t *result)
{
    add_whole(to, result, "peak_open", "median");
}

static void cell_added(struct pythia_buf *to, const json_t *result)
{
    pythia__add_duration(to, pythia__number(json_object_get(result, "added_peak_ns"), "median"));
}

static void cell_added_mean(struct pythia_buf *to, const json_t *result)
{
    pythia__add_duration(to, pythia__number(json_object_get(result, "added_mean_ns"), "median"));
}

static void cell_wrong(struct pythia_buf *to, const json_t *result)
{
    add_interval(to, result, "wrong");
}

static void cell_key(struct pythia_buf *to, const json_t *result)
{
    add_rate(to, result, "explained");
}

static void cell_decision(struct pythia_buf *to, const json_t *result)
{
    pythia__add_duration(to, pythia__number(json_object_get(result, "decision_ns"), "median"));
}

static void cell_longest(struct pythia_buf *to, const json_t *result)
{
    pythia__add_duration(to, pythia__number(json_object_get(result, "decision_ns"), "max"));
}

static const struct {
    const char *title;
    bool times; /* only where decisions were timed */
    void (*add)(struct pythia_buf *to, const json_t *result);
} columns[] = {
    {"strategy", false, cell_strategy}, {"all causes", false, cell_all},
    {"top 1", false, cell_first},       {"top 3", false, cell_three},
    {"cycles", false, cell_cycles},     {"90 %", false, cell_cycles_p90},
    {"opened", false, cell_opened},     {"90 %", false, cell_opened_p90},
    {"peak", false, cell_peak},         {"added", false, cell_added},
    {"mean", false, cell_added_mean},   {"wrong", false, cell_wrong},
    {"key", false, cell_key},           {"decision", true, cell_decision},
    {"longest", true, cell_longest},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *const legend[] = {
    "all causes, top 1, top 3: searches in which all causes were found, the first place named was "
    "a cause, one of the first three was. Of intervals, the ends are in brackets.",
    "cycles: until all causes were found, the median and what 90 % of the searches keep to. "
    "opened: part of all trace points, the same two. peak: trace points open at once.",
    "added: time added to a request at the peak, and its mean over the cycles. wrong: searches "
    "that named a place where nothing is. key: causes found whose key was the first explanation.",
};

static size_t columns_of(const json_t *report)
{
    const json_t *first = json_array_get(pythia__array(report, "results"), 0);
    size_t count = 0;
    while (count < COLUMNS && (!columns[count].times || json_object_get(first, "decision_ns")))
        count++;
    return count;
}

static void cell(struct pythia_buf *to, size_t column, const json_t *result)
{
    pythia_buf_clear(to);
    columns[column].add(to, result);
}

/* ---- text ---- */

static void words(struct pythia_buf *to, const char *text)
{
    pythia__add_words(to, 0, pythia_text_of(text));
}

/* What all lines of a column need. */
static void measure(const json_t *results, size_t count, size_t *widths, struct pythia_buf *scratch)
{
    for (size_t c = 0; c < count; c++) {
        widths[c] = strlen(columns[c].title);
        for (size_t i = 0; i < json_array_size(results); i++) {
            cell(scratch, c, json_array_get(results, i));
            widths[c] = scratch->size > widths[c] ? scratch->size : widths[c];
        }
    }
}

/* Names to the left, figures to the right. */
static void pad(struct pythia_buf *to, size_t column, size_t width, const char *text)
{
    pythia_buf_printf(to, column == 0 ? "   %-*s" : "  %*s", (int)width, text);
}

static void table(const json_t *report, const json_t *problem, const size_t *widths, size_t count,
                  struct pythia_buf *scratch, struct pythia_buf *to)
{
    size_t from = 0,
           rows = pythia__evaluation_results_of(report, pythia__string(problem, "name"), &from);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < count; c++) {
            cell(scratch, c, json_array_get(pythia__array(report, "results"), from + i));
            pad(to, c, widths[c], pythia_buf_text(scratch).bytes);
        }
        pythia_buf_putc(to, '\n');
    }
}

void pythia__evaluation_text(const json_t *report, bool colour, struct pythia_buf *out)
{
    const json_t *problems = pythia__array(report, "problems"),
                 *notes = pythia__array(report, "notes");
    size_t widths[COLUMNS], count = columns_of(report);
    struct pythia_buf scratch = {0};
    pythia__evaluation_add_settings(&scratch, report);
    words(out, pythia_buf_text(&scratch).bytes);
    for (size_t i = 0; i < json_array_size(notes); i++)
        words(out, json_string_value(json_array_get(notes, i)));
    for (size_t i = 0; i < sizeof(legend) / sizeof(legend[0]); i++)
        words(out, legend[i]);
    measure(pythia__array(report, "results"), count, widths, &scratch);
    for (size_t p = 0; p < json_array_size(problems); p++) {
        const json_t *problem = json_array_get(problems, p);
        pythia_buf_puts(out, colour ? "\n\033[1m" : "\n");
        pythia_shown_add(out, pythia_text_of(pythia__string(problem, "name")), NAME_LIMIT);
        pythia_buf_puts(out, ": ");
        pythia__evaluation_add_problem(out, problem);
        pythia_buf_printf(out, "%s\n", colour ? "\033[0m" : "");
        for (size_t c = 0; c < count; c++)
            pad(out, c, widths[c], columns[c].title);
        pythia_buf_putc(out, '\n');
        table(report, problem, widths, count, &scratch, out);
    }
    out->failed = scratch.failed ? 1 : out->failed;
    pythia_buf_free(&scratch);
}

/* ---- Markdown ---- */

static void prose(struct pythia_buf *to, const char *text)
{
    pythia__markdown_prose(to, text);
    pythia_buf_puts(to, "\n\n");
}

static void markdown_table(const json_t *report, const json_t *problem, size_t count,
                           struct pythia_buf *scratch, struct pythia_buf *to)
{
    size_t from = 0,
           rows = pythia__evaluation_results_of(report, pythia__string(problem, "name"), &from);
    pythia_buf_putc(to, '|');
    for (size_t c = 0; c < count; c++)
        pythia_buf_printf(to, " %s |", columns[c].title);
    pythia_buf_puts(to, "\n| --- |");
    for (size_t c = 1; c < count; c++)
        pythia_buf_puts(to, " --: |");
    for (size_t i = 0; i < rows; i++) {
        pythia_buf_puts(to, "\n|");
        for (size_t c = 0; c < count; c++) {
            cell(scratch, c, json_array_get(pythia__array(report, "results"), from + i));
            pythia_buf_putc(to, ' ');
            pythia__markdown_prose(to, pythia_buf_text(scratch).bytes);
            pythia_buf_puts(to, " |");
        }
    }
    pythia_buf_putc(to, '\n');
}

void pythia__evaluation_markdown(const json_t *report, struct pythia_buf *out)
{
    const json_t *problems = pythia__array(report, "problems"),
                 *notes = pythia__array(report, "notes");
    size_t count = columns_of(report);
    struct pythia_buf scratch = {0};
    pythia_buf_puts(out, "# How fast causes are found\n\n");
    pythia__evaluation_add_settings(&scratch, report);
    prose(out, pythia_buf_text(&scratch).bytes);
    for (size_t i = 0; i < json_array_size(notes); i++)
        prose(out, json_string_value(json_array_get(notes, i)));
    for (size_t i = 0; i < sizeof(legend) / sizeof(legend[0]); i++)
        prose(out, legend[i]);
    for (size_t p = 0; p < json_array_size(problems); p++) {
        const json_t *problem = json_array_get(problems, p);
        pythia_buf_puts(out, p ? "\n## " : "## ");
        pythia__markdown_prose(out, pythia__string(problem, "name"));
        pythia_buf_puts(out, "\n\n");
        pythia_buf_clear(&scratch);
        pythia__evaluation_add_problem(&scratch, problem);
        prose(out, pythia_buf_text(&scratch).bytes);
        markdown_table(report, problem, count, &scratch, out);
    }
    out->failed = scratch.failed ? 1 : out->failed;
    pythia_buf_free(&scratch);
}
