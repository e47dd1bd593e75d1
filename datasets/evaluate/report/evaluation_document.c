/* An evaluation as text and as Markdown: a table for each problem, a row for each
 * strategy. */
#include <math.h>
#include <string.h>

#include "evaluation_results.h"

/* ---- cells ---- */

static void cell_rate(struct pythia__doc *d, const double *proportion)
{
    pythia__doc_percent(d, proportion[PYTHIA__RATE]);
}

/* "95 % (76-99)" */
static void cell_interval(struct pythia__doc *d, const double *proportion)
{
    cell_rate(d, proportion);
    if (isfinite(proportion[PYTHIA__RATE]))
        pythia__doc_words(d, " (%.0f-%.0f)", 100 * proportion[PYTHIA__LOW],
                          100 * proportion[PYTHIA__HIGH]);
}

static void cell_count(struct pythia__doc *d, const double *figure)
{
    pythia__doc_count(d, *figure, "", "");
}

static void cell_percent(struct pythia__doc *d, const double *figure)
{
    pythia__doc_percent(d, *figure);
}

static void cell_duration(struct pythia__doc *d, const double *figure)
{
    pythia__doc_duration(d, *figure);
}

static const struct {
    struct pythia__doc_column column;
    bool wide;               /* only in Markdown: a table of text has to fit 100 columns */
    bool times;              /* only where decisions were timed; in text a table of their own */
    unsigned figure, beyond; /* of beyond %, "> " stands before the number; 0: never */
    void (*add)(struct pythia__doc *d, const double *figure);
} columns[] = {
    {{"all causes", .right = true}, .figure = PYTHIA__ALL, .add = cell_interval},
    {{"top 1", .right = true}, .figure = PYTHIA__FIRST, .add = cell_rate},
    {{"top 3", .right = true}, .wide = true, .figure = PYTHIA__THREE, .add = cell_rate},
    {{"cycles", .right = true}, .figure = PYTHIA__LOCALISED, .beyond = 50, .add = cell_count},
    {{"90 %", .right = true}, .figure = PYTHIA__LOCALISED + 1, .beyond = 90, .add = cell_count},
    {{"opened", .right = true}, .figure = PYTHIA__OPENED_SHARE, .add = cell_percent},
    {{"90 %", .right = true},
     .wide = true,
     .figure = PYTHIA__OPENED_SHARE + 1,
     .add = cell_percent},
    {{"peak", .right = true}, .figure = PYTHIA__PEAK, .add = cell_count},
    {{"added", .right = true}, .figure = PYTHIA__ADDED_PEAK, .add = cell_duration},
    {{"mean", .right = true}, .wide = true, .figure = PYTHIA__ADDED_MEAN, .add = cell_duration},
    {{"wrong", .right = true}, .figure = PYTHIA__WRONG, .add = cell_interval},
    {{"key", .right = true}, .figure = PYTHIA__KEYS, .add = cell_rate},
    {{"decision", .right = true}, .times = true, .figure = PYTHIA__DECISION, .add = cell_duration},
    {{"longest", .right = true},
     .times = true,
     .figure = PYTHIA__DECISION + 1,
     .add = cell_duration},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *const text_legend[] = {
    "all causes: searches in which all causes were found, with the 95 % interval in parentheses; "
    "top 1: searches that named a cause first. cycles: cycles until all causes were found, the "
    "median and the 90th percentile.",
    "opened: share of all trace points that were opened. peak: most trace points open at once. "
    "added: time that they added to a request then. wrong: searches that named a place without a "
    "cause. key: causes whose key was the first explanation. Markdown and JSON have more.",
};
static const char *const wide_legend[] = {
    "all causes, top 1, top 3: searches in which all causes were found, in which the first place "
    "named was a cause, and in which one of the first three was; 95 % intervals in parentheses.",
    "cycles: cycles until all causes were found, the median and the 90th percentile. opened: share "
    "of all trace points that were opened, likewise. peak: most trace points open at once.",
    "added: time that they added to a request then (mean: over the cycles). wrong: searches that "
    "named a place without a cause. key: causes whose key was the first explanation.",
};

/* ---- paragraphs ---- */

static void add_text_paragraph(struct pythia__doc *d, const char *text)
{
    pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
    pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(text));
}

/* "180 searches: 9 strategies on 1 problem with seeds 1 to 20, …" */
static void add_settings(struct pythia__doc *d, const struct pythia_evaluation_report *r)
{
    pythia__doc_paragraph(d, PYTHIA__DOC_READ);
    pythia__doc_count(d, r->trials, " search", " searches");
    pythia__doc_words(d, ": ");
    pythia__doc_count(d, (double)r->strategy_count, " strategy", " strategies");
    pythia__doc_words(d, " on ");
    pythia__doc_count(d, (double)r->problem_count, " problem", " problems");
    pythia__doc_words(d, " with seed%s %.0f", r->seeds == 1 ? "" : "s", r->first_seed);
    if (r->seeds > 1)
        pythia__doc_words(d, " to %.0f", r->first_seed + r->seeds - 1);
    pythia__doc_words(d, ", %.0f trace point%s a cycle, at most %.0f cycle%s, ", r->points,
                      r->points == 1 ? "" : "s", r->cycles, r->cycles == 1 ? "" : "s");
    pythia__doc_duration(d, r->price_ns);
    pythia__doc_words(d, " a hit. Intervals are of 95 %%.");
}

/* "a bushy tree of 500 nodes; 1 cause, 50 requests a cycle" */
static void add_problem_help(struct pythia__doc *d, const struct pythia__evaluation_problem *p)
{
    add_text_paragraph(d, p->help);
    pythia__doc_words(d, "; ");
    if (p->causes > 0)
        pythia__doc_words(d, "%.0f cause%s, ", p->causes, p->causes == 1 ? "" : "s");
    pythia__doc_count(d, p->requests, " request a cycle", " requests a cycle");
}

/* ---- tables ---- */

struct shown_columns {
    struct pythia__doc_column columns[1 + COLUMNS]; /* the strategy first */
    size_t numbers[COLUMNS], count;
};

enum columns_of { COLUMNS_OF_TEXT, COLUMNS_OF_TIMES, COLUMNS_OF_MARKDOWN };

static bool has_column(enum columns_of of, bool timed, size_t column)
{
    bool wide = columns[column].wide, times = columns[column].times;
    switch (of) {
    case COLUMNS_OF_TEXT:
        return !wide && !times;
    case COLUMNS_OF_TIMES:
        return times;
    case COLUMNS_OF_MARKDOWN:
        return timed || !times;
    }
    return false;
}

static struct shown_columns *choose_result_columns(struct pythia__doc *d, enum columns_of of,
                                                   bool timed)
{
    struct shown_columns *out = pythia__doc_alloc(d, sizeof(*out)); /* rows borrow it */
    if (!out)
        return NULL;
    out->columns[0] = (struct pythia__doc_column){.title = "strategy", .name = true};
    for (size_t c = 0; c < COLUMNS; c++)
        if (has_column(of, timed, c)) {
            out->numbers[out->count++] = c;
            out->columns[out->count] = columns[c].column;
        }
    return out;
}

static void add_result_row(struct pythia__doc *d, const struct shown_columns *shown,
                           const struct pythia__evaluation_result *result)
{
    pythia__doc_row(d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(d);
    pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(result->strategy));
    for (size_t i = 0; i < shown->count; i++) {
        size_t c = shown->numbers[i];
        pythia__doc_cell(d);
        if (columns[c].beyond && pythia__evaluation_is_beyond(result, columns[c].beyond))
            pythia__doc_words(d, "> ");
        columns[c].add(d, &result->figures[columns[c].figure]);
    }
}

static void add_results_table(struct pythia__doc *d, const struct pythia_evaluation_report *r,
                              const struct shown_columns *shown,
                              const struct pythia__evaluation_problem *p)
{
    pythia__doc_table(d, shown->columns, 1 + shown->count);
    for (size_t i = 0; i < r->result_count; i++)
        if (strcmp(r->results[i].problem, p->name) == 0)
            add_result_row(d, shown, &r->results[i]);
}

static void add_problem_heading(struct pythia__doc *d, const struct pythia__evaluation_problem *p)
{
    pythia__doc_gap(d);
    pythia__doc_heading(d, 2, PYTHIA__DOC_PLAIN);
    pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(p->name));
    add_problem_help(d, p);
}

static void add_legend(struct pythia__doc *d, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_text_paragraph(d, lines[i]);
}

int pythia__evaluation_build(const struct pythia_evaluation_report *r, bool wide,
                             struct pythia__doc *d)
{
    const struct shown_columns *shown = choose_result_columns(
                                   d, wide ? COLUMNS_OF_MARKDOWN : COLUMNS_OF_TEXT, r->timed),
                               *times = choose_result_columns(d, COLUMNS_OF_TIMES, r->timed);
    if (!shown || !times)
        return pythia__doc_finish(d);
    pythia__doc_title(d, 1, "How fast causes are found");
    add_settings(d, r);
    for (size_t i = 0; i < r->note_count; i++)
        add_text_paragraph(d, r->notes[i]);
    if (wide)
        add_legend(d, wide_legend, sizeof(wide_legend) / sizeof(wide_legend[0]));
    else
        add_legend(d, text_legend, sizeof(text_legend) / sizeof(text_legend[0]));
    for (size_t i = 0; i < r->problem_count; i++) {
        add_problem_heading(d, &r->problems[i]);
        add_results_table(d, r, shown, &r->problems[i]);
        if (r->timed && !wide)
            add_results_table(d, r, times, &r->problems[i]);
    }
    return pythia__doc_finish(d);
}
