/* An evaluation as text for a terminal and as Markdown: a table a problem, a line a strategy. Both
 * have the same cells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluation_forms.h"
#include "pythia/shown_text.h"
#include "write/markdown_writer.h"
#include "write/words.h"

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
    bool wide;  /* not in text, whose lines are narrow */
    bool times; /* only where decisions were timed */
    void (*add)(struct pythia_buf *to, const json_t *result);
} columns[] = {
    {"strategy", false, false, cell_strategy}, {"all causes", false, false, cell_all},
    {"top 1", false, false, cell_first},       {"top 3", false, false, cell_three},
    {"cycles", false, false, cell_cycles},     {"90 %", false, false, cell_cycles_p90},
    {"opened", false, false, cell_opened},     {"90 %", false, false, cell_opened_p90},
    {"peak", false, false, cell_peak},         {"added", false, false, cell_added},
    {"mean", true, false, cell_added_mean},    {"wrong", false, false, cell_wrong},
    {"key", false, false, cell_key},           {"decision", false, true, cell_decision},
    {"longest", false, true, cell_longest},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *const legend[] = {
    "all causes, top 1, top 3: searches in which all causes were found, the first place named was "
    "a cause, one of the first three was. Of intervals, the ends are in brackets.",
    "cycles: until all causes were found, the median and what 90 % of the searches keep to. "
    "opened: part of all trace points, the same two. peak: trace points open at once.",
    "added: time added to a request at the peak (mean: over the cycles). wrong: searches "
    "that named a place where nothing is. key: causes found whose key was the first explanation.",
};
#define LEGEND (sizeof(legend) / sizeof(legend[0]))

struct page {
    const json_t *report, *results;
    struct pythia_buf *out, cell;
    size_t columns[COLUMNS], count; /* those that there are */
    size_t widths[COLUMNS];
};

static void begin_evaluation_page(struct page *p, const json_t *report, bool wide,
                                  struct pythia_buf *out)
{
    *p = (struct page){.report = report, .results = pythia__array(report, "results"), .out = out};
    bool timed = json_object_get(json_array_get(p->results, 0), "decision_ns") != NULL;
    for (size_t c = 0; c < COLUMNS; c++)
        if ((wide || !columns[c].wide) && (timed || !columns[c].times))
            p->columns[p->count++] = c;
}

static void end_evaluation_page(struct page *p)
{
    p->out->failed = p->cell.failed ? 1 : p->out->failed;
    pythia_buf_free(&p->cell);
}

/* Borrowed until the next. */
static const char *find_result_cell(struct page *p, size_t column, const json_t *result)
{
    pythia_buf_clear(&p->cell);
    columns[p->columns[column]].add(&p->cell, result);
    return p->cell.bytes ? p->cell.bytes : "";
}

static const char *find_column_title(const struct page *p, size_t column)
{
    return columns[p->columns[column]].title;
}

/* ---- text ---- */

static void write_evaluation_words(struct page *p, const char *text)
{
    pythia__add_words(p->out, 0, pythia_text_of(text));
}

/* What all lines of a column need. */
static void measure_columns(struct page *p)
{
    for (size_t c = 0; c < p->count; c++) {
        p->widths[c] = strlen(find_column_title(p, c));
        for (size_t i = 0; i < json_array_size(p->results); i++) {
            size_t size = strlen(find_result_cell(p, c, json_array_get(p->results, i)));
            p->widths[c] = size > p->widths[c] ? size : p->widths[c];
        }
    }
}

/* Names to the left, figures to the right. */
static void pad_column(const struct page *p, size_t column, const char *text)
{
    pythia_buf_printf(p->out, column == 0 ? "   %-*s" : "  %*s", (int)p->widths[column], text);
}

static void write_problem_table(struct page *p, const char *problem)
{
    for (size_t c = 0; c < p->count; c++)
        pad_column(p, c, find_column_title(p, c));
    pythia_buf_putc(p->out, '\n');
    for (size_t i = 0; i < json_array_size(p->results); i++) {
        const json_t *result = json_array_get(p->results, i);
        if (strcmp(pythia__string(result, "problem"), problem) != 0)
            continue;
        for (size_t c = 0; c < p->count; c++)
            pad_column(p, c, find_result_cell(p, c, result));
        pythia_buf_putc(p->out, '\n');
    }
}

/* Columns are measured over all tables, so that the tables of several problems can be compared line
 * by line. */
void pythia__evaluation_text(const json_t *report, bool colour, struct pythia_buf *out)
{
    const json_t *problems = pythia__array(report, "problems"),
                 *notes = pythia__array(report, "notes");
    struct page p;
    begin_evaluation_page(&p, report, false, out);
    pythia__evaluation_add_settings(&p.cell, report);
    write_evaluation_words(&p, pythia_buf_text(&p.cell).bytes);
    for (size_t i = 0; i < json_array_size(notes); i++)
        write_evaluation_words(&p, json_string_value(json_array_get(notes, i)));
    for (size_t i = 0; i < LEGEND; i++)
        write_evaluation_words(&p, legend[i]);
    measure_columns(&p);
    for (size_t i = 0; i < json_array_size(problems); i++) {
        const json_t *problem = json_array_get(problems, i);
        const char *name = pythia__string(problem, "name");
        pythia_buf_puts(out, colour ? "\n\033[1m" : "\n");
        pythia_shown_add(out, pythia_text_of(name), NAME_LIMIT);
        pythia_buf_puts(out, ": ");
        pythia__evaluation_add_problem(out, problem);
        pythia_buf_puts(out, colour ? "\033[0m\n" : "\n");
        write_problem_table(&p, name);
    }
    end_evaluation_page(&p);
}

/* ---- Markdown ---- */

static void write_evaluation_prose(struct page *p, const char *text)
{
    pythia__markdown_prose(p->out, text);
    pythia_buf_puts(p->out, "\n\n");
}

static void markdown_table(struct page *p, const char *problem)
{
    pythia_buf_putc(p->out, '|');
    for (size_t c = 0; c < p->count; c++)
        pythia_buf_printf(p->out, " %s |", find_column_title(p, c));
    pythia_buf_puts(p->out, "\n| --- |");
    for (size_t c = 1; c < p->count; c++)
        pythia_buf_puts(p->out, " --: |");
    for (size_t i = 0; i < json_array_size(p->results); i++) {
        const json_t *result = json_array_get(p->results, i);
        if (strcmp(pythia__string(result, "problem"), problem) != 0)
            continue;
        pythia_buf_puts(p->out, "\n|");
        for (size_t c = 0; c < p->count; c++) {
            pythia_buf_putc(p->out, ' ');
            pythia__markdown_prose(p->out, find_result_cell(p, c, result));
            pythia_buf_puts(p->out, " |");
        }
    }
    pythia_buf_putc(p->out, '\n');
}

/* The same tables as in text, for issues and documents that render Markdown. */
void pythia__evaluation_markdown(const json_t *report, struct pythia_buf *out)
{
    const json_t *problems = pythia__array(report, "problems"),
                 *notes = pythia__array(report, "notes");
    struct page p;
    begin_evaluation_page(&p, report, true, out);
    pythia_buf_puts(out, "# How fast causes are found\n\n");
    pythia__evaluation_add_settings(&p.cell, report);
    write_evaluation_prose(&p, pythia_buf_text(&p.cell).bytes);
    for (size_t i = 0; i < json_array_size(notes); i++)
        write_evaluation_prose(&p, json_string_value(json_array_get(notes, i)));
    for (size_t i = 0; i < LEGEND; i++)
        write_evaluation_prose(&p, legend[i]);
    for (size_t i = 0; i < json_array_size(problems); i++) {
        const json_t *problem = json_array_get(problems, i);
        pythia_buf_puts(out, i ? "\n## " : "## ");
        pythia__markdown_prose(out, pythia__string(problem, "name"));
        pythia_buf_puts(out, "\n\n");
        pythia_buf_clear(&p.cell);
        pythia__evaluation_add_problem(&p.cell, problem);
        write_evaluation_prose(&p, pythia_buf_text(&p.cell).bytes);
        markdown_table(&p, pythia__string(problem, "name"));
    }
    end_evaluation_page(&p);
}
