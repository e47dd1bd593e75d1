#include "compare_forms.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/run_json.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "runs_filter.h"

static const char *const verdict_names[] = {"same", "worse", "better", "too few runs"};

size_t pythia__compare_count(const struct pythia__compared *c, enum pythia_regress_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->rows[i].verdict == verdict;
    return count;
}

/* Hundreds of callpaths that stayed as they were would hide the few that did not. */
static bool is_row_shown(const struct pythia__compared *c, const struct pythia_regress_row *row)
{
    return c->all || row->metric >= 0 || row->verdict == PYTHIA_REGRESS_WORSE ||
           row->verdict == PYTHIA_REGRESS_BETTER;
}

static enum pythia_run_unit unit_of(const struct pythia_regress_row *row)
{
    return row->metric >= 0 ? pythia_run_metrics[row->metric].unit : PYTHIA_RUN_NANOSECONDS;
}

static const char *name_metric(const struct pythia_regress_row *row)
{
    return row->metric >= 0 ? pythia_run_metrics[row->metric].name : row->callpath;
}

/* "+12.3 %" of the median before; "new" where that is 0. */
static void add_metric_change(struct pythia_buf *to, const struct pythia_regress_row *row,
                              double shift)
{
    double percent = row->before > 0 ? 100 * shift / row->before : 0;
    if (row->before <= 0 && shift != 0)
        pythia_buf_puts(to, "new");
    else
        pythia_buf_printf(to, "%+.1f %%", percent > -.05 && percent <= 0 ? 0 : percent);
}

/* The subject of a row: a benchmark by its name, a command as a shell reads it, and the group. */
static void add_subject(struct pythia_buf *to, const struct pythia_regress_row *row)
{
    struct pythia_buf name = {0};
    if (row->benchmark[0] == '[')
        pythia_run_command_show(row->benchmark, &name);
    else
        pythia_buf_puts(&name, row->benchmark);
    if (row->group)
        pythia_buf_printf(&name, " (%s)", *row->group ? row->group : "-");
    if (pythia_buf_status(&name) != PYTHIA_OK)
        to->failed = 1;
    pythia_shown_add(to, pythia_buf_text(&name), 100);
    pythia_buf_free(&name);
}

static bool is_new_subject(const struct pythia__compared *c, size_t i)
{
    const struct pythia_regress_row *a = &c->rows[i], *b = i ? a - 1 : NULL;
    return !b || strcmp(a->benchmark, b->benchmark) != 0 ||
           (a->group && b->group && strcmp(a->group, b->group) != 0);
}

static void add_padded(struct pythia_buf *to, int width, enum pythia_run_unit unit, double value)
{
    struct pythia_buf cell = {0};
    pythia__runs_add_value(&cell, unit, value);
    pythia_buf_printf(to, "%*s", width, cell.bytes ? cell.bytes : "");
    if (pythia_buf_status(&cell) != PYTHIA_OK)
        to->failed = 1;
    pythia_buf_free(&cell);
}

/* ---- text ---- */

/* The interval is padded by hand, because its width depends on two numbers with units. */
static void add_text_row(struct pythia_buf *to, const struct pythia_regress_row *row)
{
    struct pythia_buf change = {0};
    static const char *const marks[] = {" ", "✖", "✔", "?"};
    add_metric_change(&change, row, row->shift.shift);
    pythia_buf_printf(to, "  %s ", marks[row->verdict]);
    add_padded(to, 9, unit_of(row), row->before);
    pythia_buf_puts(to, "  ");
    add_padded(to, 9, unit_of(row), row->after);
    pythia_buf_printf(to, "  %9s  (", change.bytes ? change.bytes : "");
    pythia_buf_clear(&change);
    add_metric_change(&change, row, row->shift.low);
    pythia_buf_puts(&change, " to ");
    add_metric_change(&change, row, row->shift.high);
    pythia_buf_printf(to, "%s)%*s", change.bytes ? change.bytes : "",
                      change.size < 20 ? (int)(20 - change.size) : 0, "");
    if (isnan(row->q))
        pythia_buf_puts(to, "        -  ");
    else if (row->q < .0001)
        pythia_buf_puts(to, "  q < 1e-4  ");
    else
        pythia_buf_printf(to, "  q = %.4f", row->q);
    pythia_buf_printf(to, "  %zu/%zu  ", row->n, row->m);
    pythia_shown_add(to, pythia_text_of(name_metric(row)), 100);
    pythia_buf_putc(to, '\n');
    if (pythia_buf_status(&change) != PYTHIA_OK)
        to->failed = 1;
    pythia_buf_free(&change);
}

/* "Nothing got worse" is only said if something could have been found; a pipeline must not pass
 * for lack of runs. */
static void add_row_sentence(const struct pythia__compared *c, struct pythia_buf *to)
{
    size_t worse = pythia__compare_count(c, PYTHIA_REGRESS_WORSE);
    size_t few = pythia__compare_count(c, PYTHIA_REGRESS_TOO_FEW);
    pythia_buf_puts(to, "Between ");
    pythia_shown_add(to, pythia_text_of(c->base), 40);
    pythia_buf_printf(to, " (%zu runs", c->runs[0]);
    if (c->failed[0])
        pythia_buf_printf(to, ", %zu failed", c->failed[0]);
    pythia_buf_puts(to, ") and ");
    pythia_shown_add(to, pythia_text_of(c->candidate), 40);
    pythia_buf_printf(to, " (%zu runs", c->runs[1]);
    if (c->failed[1])
        pythia_buf_printf(to, ", %zu failed", c->failed[1]);
    if (worse)
        pythia_buf_printf(to, ") %zu of %zu comparisons got worse", worse, c->count);
    else if (c->count == 0)
        pythia_buf_puts(to, ") nothing to compare: no benchmark or command has runs of both");
    else if (few == c->count)
        pythia_buf_printf(to,
                          ") too few runs: not even the clearest difference would be significant "
                          "at %g",
                          c->alpha);
    else
        pythia_buf_puts(to, ") nothing got worse");
    pythia_buf_printf(to, " (at least %g %%, false discovery rate %g).\n", 100 * c->effect,
                      c->alpha);
}

static void write_compare_text(const struct pythia__compared *c, struct pythia_buf *to)
{
    add_row_sentence(c, to);
    for (size_t i = 0; i < c->count; i++) {
        if (is_new_subject(c, i)) {
            pythia_buf_putc(to, '\n');
            add_subject(to, &c->rows[i]);
            pythia_buf_printf(to, "\n       before      after     change  (%g %% interval)\n",
                              100 * (1 - 2 * c->alpha));
        }
        if (is_row_shown(c, &c->rows[i]))
            add_text_row(to, &c->rows[i]);
    }
}

/* ---- Markdown ---- */

/* A cell: '|' would end it. */
static void add_compare_cell(struct pythia_buf *to, const char *text)
{
    struct pythia_buf shown = {0};
    pythia_shown_add(&shown, pythia_text_of(text), 100);
    for (size_t i = 0; i < shown.size; i++) {
        if (strchr("|*_`<>[]\\", shown.bytes[i]))
            pythia_buf_putc(to, '\\');
        pythia_buf_putc(to, shown.bytes[i]);
    }
    if (pythia_buf_status(&shown) != PYTHIA_OK)
        to->failed = 1;
    pythia_buf_free(&shown);
}

static void write_compare_markdown(const struct pythia__compared *c, struct pythia_buf *to)
{
    add_row_sentence(c, to);
    pythia_buf_puts(to, "\n| | benchmark | what | before | after | change | q | runs |\n"
                        "|---|---|---|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < c->count; i++) {
        const struct pythia_regress_row *row = &c->rows[i];
        struct pythia_buf subject = {0};
        if (!is_row_shown(c, row))
            continue;
        add_subject(&subject, row);
        pythia_buf_printf(to, "| %s | ", verdict_names[row->verdict]);
        add_compare_cell(to, subject.bytes ? subject.bytes : "");
        pythia_buf_puts(to, " | ");
        add_compare_cell(to, name_metric(row));
        pythia_buf_puts(to, " | ");
        pythia__runs_add_value(to, unit_of(row), row->before);
        pythia_buf_puts(to, " | ");
        pythia__runs_add_value(to, unit_of(row), row->after);
        pythia_buf_puts(to, " | ");
        add_metric_change(to, row, row->shift.shift);
        if (isnan(row->q))
            pythia_buf_puts(to, " | -");
        else
            pythia_buf_printf(to, " | %.2g", row->q);
        pythia_buf_printf(to, " | %zu/%zu |\n", row->n, row->m);
        pythia_buf_free(&subject);
    }
}

/* ---- JUnit ---- */

/* Each comparison is a test case; one that got worse fails, one with too few runs is skipped. */
static void write_junit(const struct pythia__compared *c, struct pythia_buf *to)
{
    pythia_buf_puts(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pythia runs "
                        "regress\"");
    pythia_buf_printf(to, " tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", c->count,
                      pythia__compare_count(c, PYTHIA_REGRESS_WORSE),
                      pythia__compare_count(c, PYTHIA_REGRESS_TOO_FEW));
    for (size_t i = 0; i < c->count; i++) {
        const struct pythia_regress_row *row = &c->rows[i];
        struct pythia_buf subject = {0};
        add_subject(&subject, row);
        pythia_buf_puts(to, "  <testcase classname=\"");
        pythia_shown_markup(to, pythia_buf_text(&subject));
        pythia_buf_puts(to, "\" name=\"");
        pythia_shown_markup(to, pythia_text_of(name_metric(row)));
        pythia_buf_puts(to, "\"");
        pythia_buf_free(&subject);
        if (row->verdict == PYTHIA_REGRESS_WORSE) {
            pythia_buf_puts(to, "><failure message=\"");
            pythia__runs_add_value(to, unit_of(row), row->before);
            pythia_buf_puts(to, " before, ");
            pythia__runs_add_value(to, unit_of(row), row->after);
            pythia_buf_puts(to, " after, ");
            add_metric_change(to, row, row->shift.shift);
            pythia_buf_printf(to, ", q=%.3g\"/></testcase>\n", row->q);
        } else if (row->verdict == PYTHIA_REGRESS_TOO_FEW) {
            pythia_buf_puts(to, "><skipped message=\"too few runs\"/></testcase>\n");
        } else {
            pythia_buf_puts(to, "/>\n");
        }
    }
    pythia_buf_puts(to, "</testsuite>\n");
}

/* ---- JSON ---- */

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_of_row(const struct pythia_regress_row *row)
{
    json_t *command = row->benchmark[0] == '[' ? json_loads(row->benchmark, 0, NULL) : NULL;
    json_t *o = json_pack("{s:o, s:s?, s:s?, s:s?, s:s, s:I, s:I}", "benchmark",
                          command ? command : json_string(row->benchmark), "group", row->group,
                          "metric", row->metric >= 0 ? pythia_run_metrics[row->metric].name : NULL,
                          "callpath", row->callpath, "verdict", verdict_names[row->verdict],
                          "runs_before", (json_int_t)row->n, "runs_after", (json_int_t)row->m);
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"median_before", row->before},  {"median_after", row->after},
                   {"shift", row->shift.shift},     {"shift_low", row->shift.low},
                   {"shift_high", row->shift.high}, {"p_greater", row->shift.p_greater},
                   {"p_less", row->shift.p_less},   {"q", row->q}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (json_object_set_new(o, numbers[i].key, number_or_null(numbers[i].value)) != 0) {
            json_decref(o);
            return NULL;
        }
    return o;
}

static int write_compare_json(const struct pythia__compared *c, struct pythia_buf *to)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < c->count; i++)
        if (json_array_append_new(rows, json_of_row(&c->rows[i])) != 0) {
            json_decref(rows);
            rows = NULL;
        }
    json_t *o = rows ? json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:I, s:I, s:o}", "schema",
                                 "pythia.runs/1", "base", c->base, "candidate", c->candidate,
                                 "alpha", c->alpha, "effect", c->effect, "runs_before",
                                 (json_int_t)c->runs[0], "runs_after", (json_int_t)c->runs[1],
                                 "failed_before", (json_int_t)c->failed[0], "failed_after",
                                 (json_int_t)c->failed[1], "comparisons", rows)
                     : NULL;
    int status = pythia_json_put(to, o, JSON_INDENT(2) | JSON_REAL_PRECISION(12), "\n");
    json_decref(o);
    return status;
}

int pythia__compare_write(const struct pythia__compared *c, enum pythia__compare_form form,
                          struct pythia_buf *to)
{
    int status = PYTHIA_OK;
    if (form == PYTHIA__COMPARE_JSON)
        status = write_compare_json(c, to);
    else if (form == PYTHIA__COMPARE_MARKDOWN)
        write_compare_markdown(c, to);
    else if (form == PYTHIA__COMPARE_JUNIT)
        write_junit(c, to);
    else
        write_compare_text(c, to);
    if (status != PYTHIA_OK)
        return status;
    return pythia_buf_status(to);
}
