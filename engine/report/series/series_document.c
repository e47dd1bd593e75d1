/* A report on series: their statistics, and their intervals. */
#include <math.h>
#include <stdio.h>

#include "series_forms.h"
#include "write/words.h"

#define SERIES_A_TABLE 5 /* columns of values, as many as a terminal shows */

static const struct pythia__doc_column summary_columns[] = {
    {.title = "count", .right = true}, {.title = "rate/s", .right = true},
    {.title = "mean", .right = true},  {.title = "sd", .right = true},
    {.title = "min", .right = true},   {.title = "p50", .right = true},
    {.title = "p90", .right = true},   {.title = "p99", .right = true},
    {.title = "max", .right = true},   {.title = "series", .name = true, .flexible = true}};

/* A number with six digits; "-" where there is none. */
static void add_series_value(struct pythia__doc *d, double value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), isfinite(value) ? "%.6g" : "-", value);
    pythia__doc_cell(d);
    pythia__doc_text(d, PYTHIA__DOC_NUMBER, pythia_text_of(text));
}

static void say_series(struct pythia__doc *d, const struct pythia_series *s,
                       const struct pythia_series *over)
{
    struct pythia_buf name = {0};
    pythia__series_name(s, over, &name);
    struct pythia_text text = pythia_buf_text(&name);
    (void)pythia__doc_name(d, PYTHIA__DOC_KEY, text, text, text);
    d->failed = d->failed || name.failed;
    pythia_buf_free(&name);
}

static void add_series_head(const struct pythia__series_result *r, struct pythia__doc *d)
{
    const struct pythia_series_asked *asked = r->asked;
    char first[40], last[40];
    pythia__doc_open(d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(d, 1, PYTHIA__DOC_PLAIN);
    pythia__doc_words(d, "Measurements over time");
    pythia__doc_paragraph(d, PYTHIA__DOC_READ);
    pythia__doc_count(d, (double)asked->count, " series", " series");
    pythia__doc_words(d, " of ");
    pythia__doc_count(d, (double)asked->input->csv.rows, " row", " rows");
    pythia__doc_words(d, " in ");
    pythia__doc_count(d, (double)asked->input->files, " file", " files");
    if (asked->count > 0)
        pythia__doc_words(d, ", from %s to %s UTC", pythia__series_time(r->first_ns, first),
                          pythia__series_time(r->last_ns, last));
    pythia__doc_words(d, ".");
    pythia__doc_close(d);
}

static void add_summaries(const struct pythia__series_result *r, struct pythia__doc *d)
{
    pythia__doc_gap(d);
    pythia__doc_table(d, summary_columns, sizeof(summary_columns) / sizeof(summary_columns[0]));
    for (size_t i = 0; i < r->asked->count; i++) {
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        pythia__doc_words(d, "%zu", r->asked->series[i].count);
        for (size_t n = 0; n < PYTHIA__SERIES_NUMBERS; n++)
            add_series_value(d, r->summaries[i].numbers[n]);
        pythia__doc_cell(d);
        say_series(d, &r->asked->series[i], NULL);
    }
}

static const struct pythia__doc_column number_columns[] = {
    {.title = "column", .right = true}, {.title = "series", .name = true, .flexible = true}};

static const struct pythia__doc_column value_columns[SERIES_A_TABLE + 1] = {
    {.title = "from, UTC", .one_line = true},
    {.title = "1", .right = true},
    {.title = "2", .right = true},
    {.title = "3", .right = true},
    {.title = "4", .right = true},
    {.title = "5", .right = true}};

/* A row for each interval, a column for each series, whose names stand above them. */
static void add_values(const struct pythia__series_result *r, size_t first, struct pythia__doc *d)
{
    size_t count =
        r->asked->count - first < SERIES_A_TABLE ? r->asked->count - first : SERIES_A_TABLE;
    char text[40];
    pythia__doc_gap(d);
    pythia__doc_table(d, number_columns, sizeof(number_columns) / sizeof(number_columns[0]));
    for (size_t i = 0; i < count; i++) {
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        pythia__doc_words(d, "%zu", i + 1);
        pythia__doc_cell(d);
        say_series(d, &r->asked->series[first + i], r->asked->over);
    }
    pythia__doc_gap(d);
    pythia__doc_table(d, value_columns, count + 1);
    for (size_t i = 0; i < r->intervals; i++) {
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        pythia__doc_text(d, PYTHIA__DOC_NUMBER,
                         pythia_text_of(pythia__series_time(r->from_ns + i * r->step_ns, text)));
        for (size_t k = 0; k < count; k++)
            add_series_value(d, r->values[(first + k) * r->intervals + i]);
    }
}

int pythia__series_build(const struct pythia__series_result *r, bool picture, struct pythia__doc *d)
{
    add_series_head(r, d);
    if (r->intervals > 0 && picture) {
        pythia__doc_paragraph(d, PYTHIA__DOC_READ);
        pythia__doc_words(d, "The charts show the %s of each %.3g s, in UTC.",
                          pythia__resampling_name(r->asked->how), (double)r->step_ns / 1e9);
        pythia__doc_picture(d, pythia__series_draw, r);
    }
    add_summaries(r, d);
    if (r->intervals > 0 && !picture) {
        pythia__doc_gap(d);
        pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
        pythia__doc_words(d, "Intervals of %g s, %s:", (double)r->step_ns / 1e9,
                          pythia__resampling_name(r->asked->how));
        for (size_t i = 0; i < r->asked->count; i += SERIES_A_TABLE)
            add_values(r, i, d);
    }
    return pythia__doc_finish(d);
}
