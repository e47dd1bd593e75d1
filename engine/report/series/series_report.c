#include "pythia/series_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "series_forms.h"
#include "write/json_writer.h"
#include "write/markdown_writer.h"

#define SECOND_NS      UINT64_C(1000000000)
#define PLOT_INTERVALS 240
#define NAME_LIMIT     80

/* ---- the document ---- */

static json_t *input_json(struct pythia__json *w, const struct pythia_series_files_result *in)
{
    json_t *o = json_object();
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {{"files", in->files},
                   {"rows", in->csv.rows},
                   {"broken_rows", in->csv.broken},
                   {"refused_files", in->refused},
                   {"killed", in->killed},
                   {"cut_rows", in->csv.cut},
                   {"being_written", in->writing},
                   {"missing_files", in->missing},
                   {"steps_back", in->csv.back}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        pythia__json_set(w, o, numbers[i].name, pythia__json_count(numbers[i].number));
    return o;
}

/* Measurements of a second: of all seconds from the first to the last, those without any too. */
static double rate_of(const struct pythia_series *s)
{
    uint64_t first = s->points[0].time_ns / SECOND_NS,
             last = s->points[s->count - 1].time_ns / SECOND_NS;
    return (double)s->count / (double)(last - first + 1);
}

static json_t *series_json(struct pythia__json *w, const struct pythia_series *s)
{
    json_t *o = json_object();
    struct pythia_summary summary;
    double *values = pythia_calloc(s->count, sizeof(*values));
    if (!values) {
        w->failed = true;
        return o;
    }
    for (size_t i = 0; i < s->count; i++)
        values[i] = s->points[i].value;
    pythia_summary_of(values, s->count, &summary);
    pythia_free(values);
    const double numbers[] = {rate_of(s),  summary.mean, summary.sd,  summary.min,
                              summary.p50, summary.p90,  summary.p99, summary.max};
    pythia__json_set(w, o, "label", pythia__json_text(s->label));
    pythia__json_set(w, o, "process",
                     s->process == PYTHIA_SERIES_ALL ? json_null()
                                                     : pythia__json_count(s->process));
    pythia__json_set(w, o, "processes", pythia__json_count(s->processes));
    pythia__json_set(w, o, "first_ns", pythia__json_count(s->points[0].time_ns));
    pythia__json_set(w, o, "last_ns", pythia__json_count(s->points[s->count - 1].time_ns));
    pythia__json_set(w, o, "count", pythia__json_count(s->count));
    for (size_t i = 0; i < PYTHIA__SERIES_COLUMNS - 1; i++)
        pythia__json_set(w, o, pythia__series_columns[i + 1].key, pythia__json_real(numbers[i]));
    return o;
}

struct intervals {
    uint64_t from_ns, step_ns;
    size_t count;
};

static int resample_series(const struct pythia_series *s, const struct intervals *i,
                           enum pythia_resampling how, double *out)
{
    uint64_t *times = pythia_calloc(s->count, sizeof(*times));
    double *values = pythia_calloc(s->count, sizeof(*values));
    for (size_t n = 0; times && values && n < s->count; n++) {
        times[n] = s->points[n].time_ns;
        values[n] = s->points[n].value;
    }
    if (times && values)
        pythia_resample(times, values, s->count, i->from_ns, i->step_ns, how, out, i->count);
    int status = times && values ? PYTHIA_OK : PYTHIA_ENOMEM;
    pythia_free(times);
    pythia_free(values);
    return status;
}

static json_t *values_json(struct pythia__json *w, const struct pythia_series_asked *asked,
                           const struct pythia_series *s, const struct intervals *i, double *values,
                           const double *over)
{
    json_t *array = json_array();
    if (resample_series(s, i, asked->how, values) != PYTHIA_OK)
        w->failed = true;
    for (size_t n = 0; n < i->count && !w->failed; n++)
        pythia__json_append(w, array, pythia__json_real(over ? values[n] / over[n] : values[n]));
    return array;
}

static json_t *resampled_json(struct pythia__json *w, const struct pythia_series_asked *asked,
                              const struct intervals *i)
{
    static const char *const names[] = {"mean", "count", "sum", "min", "max", "last"};
    json_t *o = json_object(), *all = json_array();
    double *values = pythia_calloc(i->count, sizeof(*values)),
           *over = asked->over ? pythia_calloc(i->count, sizeof(*over)) : NULL;
    if (!values || (asked->over && !over) ||
        (over && resample_series(asked->over, i, asked->how, over) != PYTHIA_OK))
        w->failed = true;
    pythia__json_set(w, o, "from_ns", pythia__json_count(i->from_ns));
    pythia__json_set(w, o, "step_ns", pythia__json_count(i->step_ns));
    pythia__json_set(w, o, "of", json_string(names[asked->how]));
    for (size_t n = 0; values && n < asked->count && !w->failed; n++) {
        const struct pythia_series *s = &asked->series[n];
        json_t *entry = json_object();
        pythia__json_set(w, entry, "label", pythia__json_text(s->label));
        pythia__json_set(w, entry, "over",
                         over ? pythia__json_text(asked->over->label) : json_null());
        pythia__json_set(w, entry, "process",
                         s->process == PYTHIA_SERIES_ALL ? json_null()
                                                         : pythia__json_count(s->process));
        pythia__json_set(w, entry, "values", values_json(w, asked, s, i, values, over));
        pythia__json_append(w, all, entry);
    }
    pythia__json_set(w, o, "series", all);
    pythia_free(values);
    pythia_free(over);
    return o;
}

/* Intervals begin at whole multiples of their length. */
static bool choose_intervals(const struct pythia_series_asked *asked, uint64_t first, uint64_t last,
                             struct intervals *i)
{
    double step =
        asked->step_s > 0 ? asked->step_s * 1e9 : ceil((double)(last - first + 1) / PLOT_INTERVALS);
    i->step_ns = (uint64_t)fmax(1, round(step));
    i->from_ns = asked->step_s > 0 ? first - first % i->step_ns : first;
    uint64_t count = (last - i->from_ns) / i->step_ns + 1;
    i->count = (size_t)count;
    return count <= PYTHIA_SERIES_INTERVALS / (asked->count ? asked->count : 1);
}

struct json_t *pythia_series_report_json(const struct pythia_series_asked *asked, bool *too_many)
{
    struct pythia__json w = {0};
    json_t *report = json_object(), *all = json_array();
    uint64_t first = UINT64_MAX, last = 0;
    struct intervals i = {0};
    *too_many = false;
    for (size_t n = 0; n < asked->count; n++) {
        const struct pythia_series *s = &asked->series[n];
        first = s->points[0].time_ns < first ? s->points[0].time_ns : first;
        last = s->points[s->count - 1].time_ns > last ? s->points[s->count - 1].time_ns : last;
        pythia__json_append(&w, all, series_json(&w, s));
    }
    bool resampled = asked->count && (asked->step_s > 0 || asked->plotted);
    if (resampled && !choose_intervals(asked, first, last, &i))
        *too_many = true;
    pythia__json_set(&w, report, "schema", json_string("pythia.series/1"));
    pythia__json_set(&w, report, "input", input_json(&w, asked->input));
    pythia__json_set(&w, report, "from_ns", asked->count ? pythia__json_count(first) : json_null());
    pythia__json_set(&w, report, "to_ns", asked->count ? pythia__json_count(last) : json_null());
    pythia__json_set(&w, report, "series", all);
    pythia__json_set(&w, report, "resampled",
                     resampled && !*too_many ? resampled_json(&w, asked, &i) : json_null());
    if (!w.failed && !*too_many)
        return report;
    json_decref(report);
    return NULL;
}

/* ---- text and Markdown ---- */

static void add_summary(const json_t *report, struct pythia_buf *to)
{
    const json_t *in = json_object_get(report, "input"), *from = json_object_get(report, "from_ns");
    char first[40], last[40];
    pythia_buf_printf(to,
                      "series: %zu, files: %" JSON_INTEGER_FORMAT ", rows: %" JSON_INTEGER_FORMAT,
                      json_array_size(json_object_get(report, "series")),
                      json_integer_value(json_object_get(in, "files")),
                      json_integer_value(json_object_get(in, "rows")));
    if (json_is_integer(from))
        pythia_buf_printf(
            to, ", from %s to %s UTC", pythia__series_time(json_integer_value(from), first),
            pythia__series_time(json_integer_value(json_object_get(report, "to_ns")), last));
    pythia_buf_putc(to, '\n');
}

static void add_name(const json_t *entry, bool markdown, struct pythia_buf *to)
{
    struct pythia_buf name = {0};
    pythia__series_name(entry, &name);
    if (markdown)
        pythia__markdown_name(to, name.bytes ? name.bytes : "", true);
    else
        pythia_buf_text_add(to, pythia_buf_text(&name));
    to->failed |= name.failed;
    pythia_buf_free(&name);
}

static void add_statistics(const json_t *report, bool markdown, struct pythia_buf *to)
{
    char number[32];
    const json_t *entry;
    size_t at;
    pythia_buf_puts(to, markdown ? "| " : "");
    for (size_t c = 0; c < PYTHIA__SERIES_COLUMNS; c++)
        pythia_buf_printf(to, markdown ? "%s | " : "%12s", pythia__series_columns[c].heading);
    pythia_buf_puts(to, markdown ? "series |\n|" : "  series\n");
    for (size_t c = 0; markdown && c < PYTHIA__SERIES_COLUMNS; c++)
        pythia_buf_puts(to, " ---: |");
    pythia_buf_puts(to, markdown ? " --- |\n" : "");
    json_array_foreach (json_object_get(report, "series"), at, entry) {
        pythia_buf_puts(to, markdown ? "| " : "");
        for (size_t c = 0; c < PYTHIA__SERIES_COLUMNS; c++)
            pythia_buf_printf(to, markdown ? "%s | " : "%12s",
                              pythia__series_number(
                                  json_object_get(entry, pythia__series_columns[c].key), number));
        pythia_buf_puts(to, markdown ? "" : "  ");
        add_name(entry, markdown, to);
        pythia_buf_puts(to, markdown ? " |\n" : "\n");
    }
}

/* A row for each interval, a column for each series; what the columns are stands above them. */
static void add_resampled(const json_t *report, bool markdown, struct pythia_buf *to)
{
    const json_t *r = json_object_get(report, "resampled"), *entry,
                 *series = json_object_get(r, "series");
    size_t at, count = json_array_size(json_object_get(json_array_get(series, 0), "values"));
    json_int_t from = json_integer_value(json_object_get(r, "from_ns")),
               step = json_integer_value(json_object_get(r, "step_ns"));
    char text[40];
    if (!json_is_object(r))
        return;
    pythia_buf_printf(to, "\nIntervals of %g s, %s:\n\n", (double)step / 1e9,
                      json_string_value(json_object_get(r, "of")));
    json_array_foreach (series, at, entry) {
        pythia_buf_printf(to, markdown ? "%zu. " : "%4zu  ", at + 1);
        add_name(entry, markdown, to);
        pythia_buf_putc(to, '\n');
    }
    pythia_buf_puts(to, markdown ? "\n| from, UTC |" : "\nfrom, UTC              ");
    for (size_t c = 1; c <= json_array_size(series); c++)
        pythia_buf_printf(to, markdown ? " %zu |" : "%14zu", c);
    pythia_buf_puts(to, markdown ? "\n| --- |" : "");
    for (size_t c = 0; markdown && c < json_array_size(series); c++)
        pythia_buf_puts(to, " ---: |");
    pythia_buf_putc(to, '\n');
    for (size_t i = 0; i < count; i++) {
        pythia_buf_printf(to, markdown ? "| %s |" : "%s",
                          pythia__series_time(from + (json_int_t)i * step, text));
        json_array_foreach (series, at, entry)
            pythia_buf_printf(
                to, markdown ? " %s |" : "%14s",
                pythia__series_number(json_array_get(json_object_get(entry, "values"), i), text));
        pythia_buf_putc(to, '\n');
    }
}

static int write_words(const json_t *report, bool markdown, struct pythia_buf *to)
{
    pythia_buf_puts(to, markdown ? "# Series\n\n" : "");
    add_summary(report, to);
    if (json_array_size(json_object_get(report, "series")) > 0) {
        pythia_buf_putc(to, '\n');
        add_statistics(report, markdown, to);
        add_resampled(report, markdown, to);
    }
    return pythia_buf_status(to);
}

static int write_json(const json_t *report, struct pythia_buf *to)
{
    char *text = json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!text)
        return PYTHIA_ENOMEM;
    pythia_shown_json(to, text, strlen(text));
    pythia_buf_putc(to, '\n');
    free(text);
    return pythia_buf_status(to);
}

static int write_form(const struct json_t *report, enum pythia_series_format format,
                      struct pythia_buf *out)
{
    switch (format) {
    case PYTHIA_SERIES_JSON:
        return write_json(report, out);
    case PYTHIA_SERIES_HTML:
        return pythia__series_html(report, out);
    case PYTHIA_SERIES_SVG:
        return pythia__series_svg(report, out);
    case PYTHIA_SERIES_TEXT:
    case PYTHIA_SERIES_MARKDOWN:
        break;
    }
    return write_words(report, format == PYTHIA_SERIES_MARKDOWN, out);
}

int pythia_series_report_write(const struct json_t *report, enum pythia_series_format format,
                               struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    int status = write_form(report, format, out);
    return status != PYTHIA_OK || pythia_mem_failures() == failures ? status : PYTHIA_ENOMEM;
}
