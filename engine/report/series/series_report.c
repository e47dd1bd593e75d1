#include "pythia/series_report.h"

#include <math.h>

#include <jansson.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "series_forms.h"
#include "write/json_writer.h"

#define SECOND_NS      UINT64_C(1000000000)
#define PLOT_INTERVALS 240
#define WIDTH          100

/* ---- what is worked out ---- */

/* Measurements of a second: of all seconds from the first to the last, those without any too. */
static double rate_of(const struct pythia_series *s)
{
    uint64_t first = s->points[0].time_ns / SECOND_NS,
             last = s->points[s->count - 1].time_ns / SECOND_NS;
    return (double)s->count / (double)(last - first + 1);
}

static int summarise(const struct pythia_series *s, struct pythia__series_summary *out)
{
    struct pythia_summary summary;
    double *values = pythia_calloc(s->count, sizeof(*values));
    if (!values)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < s->count; i++)
        values[i] = s->points[i].value;
    pythia_summary_of(values, s->count, &summary);
    pythia_free(values);
    *out = (struct pythia__series_summary){{rate_of(s), summary.mean, summary.sd, summary.min,
                                            summary.p50, summary.p90, summary.p99, summary.max}};
    return PYTHIA_OK;
}

static int resample_series(const struct pythia_series *s, const struct pythia__series_result *r,
                           double *out)
{
    uint64_t *times = pythia_calloc(s->count, sizeof(*times));
    double *values = pythia_calloc(s->count, sizeof(*values));
    for (size_t n = 0; times && values && n < s->count; n++) {
        times[n] = s->points[n].time_ns;
        values[n] = s->points[n].value;
    }
    if (times && values)
        pythia_resample(times, values, s->count, r->from_ns, r->step_ns, r->asked->how, out,
                        r->intervals);
    int status = times && values ? PYTHIA_OK : PYTHIA_ENOMEM;
    pythia_free(times);
    pythia_free(values);
    return status;
}

/* Intervals begin at whole multiples of their length. */
static int choose_intervals(struct pythia__series_result *r)
{
    const struct pythia_series_asked *asked = r->asked;
    double step = asked->step_s > 0 ? asked->step_s * 1e9
                                    : ceil((double)(r->last_ns - r->first_ns + 1) / PLOT_INTERVALS);
    r->step_ns = (uint64_t)fmax(1, round(step));
    r->from_ns = asked->step_s > 0 ? r->first_ns - r->first_ns % r->step_ns : r->first_ns;
    uint64_t count = (r->last_ns - r->from_ns) / r->step_ns + 1;
    r->intervals = (size_t)count;
    return count <= PYTHIA_SERIES_INTERVALS / asked->count ? PYTHIA_OK : PYTHIA_EUSAGE;
}

static int resample_all(struct pythia__series_result *r)
{
    const struct pythia_series_asked *asked = r->asked;
    double *over = pythia_calloc(r->intervals + 1, sizeof(*over));
    r->values = pythia_calloc(asked->count * r->intervals + 1, sizeof(*r->values));
    int status = over && r->values ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK ||
        (asked->over && (status = resample_series(asked->over, r, over)) != PYTHIA_OK))
        goto out;
    for (size_t i = 0; i < asked->count; i++) {
        double *values = r->values + i * r->intervals;
        if ((status = resample_series(&asked->series[i], r, values)) != PYTHIA_OK)
            goto out;
        for (size_t n = 0; asked->over && n < r->intervals; n++)
            values[n] /= over[n];
    }
out:
    pythia_free(over);
    return status;
}

static void free_result(struct pythia__series_result *r)
{
    pythia_free(r->summaries);
    pythia_free(r->values);
}

static int work_out(const struct pythia_series_asked *asked, struct pythia__series_result *r)
{
    *r = (struct pythia__series_result){.asked = asked, .first_ns = UINT64_MAX};
    r->summaries = pythia_calloc(asked->count + 1, sizeof(*r->summaries));
    int status = r->summaries ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; status == PYTHIA_OK && i < asked->count; i++) {
        const struct pythia_series *s = &asked->series[i];
        r->first_ns = s->points[0].time_ns < r->first_ns ? s->points[0].time_ns : r->first_ns;
        r->last_ns = s->points[s->count - 1].time_ns > r->last_ns ? s->points[s->count - 1].time_ns
                                                                  : r->last_ns;
        status = summarise(s, &r->summaries[i]);
    }
    if (status != PYTHIA_OK || asked->count == 0 || !(asked->step_s > 0 || asked->plotted))
        return status;
    status = choose_intervals(r);
    return status == PYTHIA_OK ? resample_all(r) : status;
}

/* ---- JSON ---- */

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

static json_t *process_json(const struct pythia_series *s)
{
    return s->process == PYTHIA_SERIES_ALL ? json_null() : pythia__json_count(s->process);
}

static json_t *series_json(struct pythia__json *w, const struct pythia_series *s,
                           const struct pythia__series_summary *summary)
{
    json_t *o = json_object();
    pythia__json_set(w, o, "label", pythia__json_text(s->label));
    pythia__json_set(w, o, "process", process_json(s));
    pythia__json_set(w, o, "processes", pythia__json_count(s->processes));
    pythia__json_set(w, o, "first_ns", pythia__json_count(s->points[0].time_ns));
    pythia__json_set(w, o, "last_ns", pythia__json_count(s->points[s->count - 1].time_ns));
    pythia__json_set(w, o, "count", pythia__json_count(s->count));
    for (size_t i = 0; i < PYTHIA__SERIES_NUMBERS; i++)
        pythia__json_set(w, o, pythia__series_names[i][0], pythia__json_real(summary->numbers[i]));
    return o;
}

static json_t *resampled_json(struct pythia__json *w, const struct pythia__series_result *r)
{
    const struct pythia_series *over = r->asked->over;
    json_t *o = json_object(), *all = json_array();
    for (size_t i = 0; i < r->asked->count; i++) {
        json_t *entry = json_object(), *values = json_array();
        for (size_t n = 0; n < r->intervals; n++)
            pythia__json_append(w, values, pythia__json_real(r->values[i * r->intervals + n]));
        pythia__json_set(w, entry, "label", pythia__json_text(r->asked->series[i].label));
        pythia__json_set(w, entry, "over", over ? pythia__json_text(over->label) : json_null());
        pythia__json_set(w, entry, "process", process_json(&r->asked->series[i]));
        pythia__json_set(w, entry, "values", values);
        pythia__json_append(w, all, entry);
    }
    pythia__json_set(w, o, "from_ns", pythia__json_count(r->from_ns));
    pythia__json_set(w, o, "step_ns", pythia__json_count(r->step_ns));
    pythia__json_set(w, o, "of", json_string(pythia__resampling_name(r->asked->how)));
    pythia__json_set(w, o, "series", all);
    return o;
}

static int write_json(const struct pythia__series_result *r, struct pythia_buf *to)
{
    struct pythia__json w = {0};
    json_t *report = json_object(), *all = json_array();
    bool any = r->asked->count > 0;
    for (size_t i = 0; i < r->asked->count; i++)
        pythia__json_append(&w, all, series_json(&w, &r->asked->series[i], &r->summaries[i]));
    pythia__json_set(&w, report, "schema", json_string("pythia.series/1"));
    pythia__json_set(&w, report, "input", input_json(&w, r->asked->input));
    pythia__json_set(&w, report, "from_ns", any ? pythia__json_count(r->first_ns) : json_null());
    pythia__json_set(&w, report, "to_ns", any ? pythia__json_count(r->last_ns) : json_null());
    pythia__json_set(&w, report, "series", all);
    pythia__json_set(&w, report, "resampled",
                     r->intervals > 0 ? resampled_json(&w, r) : json_null());
    int status = w.failed ? PYTHIA_ENOMEM : pythia__json_write(report, 2, 17, to);
    json_decref(report);
    return status;
}

/* ---- forms ---- */

static int write_series_document(const struct pythia__series_result *r,
                                 enum pythia_series_format format,
                                 const struct pythia_report_view *view, struct pythia_buf *out)
{
    const struct pythia__doc_view how = {view && view->width ? view->width : WIDTH,
                                         view && view->colour, view && view->ascii, true};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    int status = pythia__series_build(r, format == PYTHIA_SERIES_HTML, &d);
    if (status != PYTHIA_OK)
        goto out;
    status = format == PYTHIA_SERIES_HTML
                 ? pythia__doc_write_html(&d, "Measurements over time", "Written by pythia.", out)
             : format == PYTHIA_SERIES_MARKDOWN ? pythia__doc_write_markdown(&d, out)
                                                : pythia__doc_write_text(&d, &how, out);
out:
    pythia__doc_free(&d);
    return status;
}

int pythia_series_report_write(const struct pythia_series_asked *asked,
                               enum pythia_series_format format,
                               const struct pythia_report_view *view, struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    struct pythia__series_result r;
    int status = work_out(asked, &r);
    if (status != PYTHIA_OK)
        goto out;
    status = format == PYTHIA_SERIES_JSON  ? write_json(&r, out)
             : format == PYTHIA_SERIES_SVG ? pythia__series_svg(&r, out)
                                           : write_series_document(&r, format, view, out);
    if (status == PYTHIA_OK && pythia_mem_failures() != failures)
        status = PYTHIA_ENOMEM;
out:
    free_result(&r);
    return status;
}
