/* The results of an evaluation as comma-separated values: a line a problem and strategy, below a
 * line of names. What is undefined is empty. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "evaluation_forms.h"
#include "pythia/shown_text.h"
#include "write/words.h"

/* A column is a member of a result, or a member of that. */
static const struct {
    const char *name, *member, *inner;
} columns[] = {
    {"trials", "trials", NULL},
    {"success_at_1", "success_at_1", "rate"},
    {"success_at_1_low", "success_at_1", "low"},
    {"success_at_1_high", "success_at_1", "high"},
    {"success_at_3", "success_at_3", "rate"},
    {"success_at_3_low", "success_at_3", "low"},
    {"success_at_3_high", "success_at_3", "high"},
    {"all_causes", "all_causes", "rate"},
    {"all_causes_low", "all_causes", "low"},
    {"all_causes_high", "all_causes", "high"},
    {"wrong", "wrong", "rate"},
    {"wrong_low", "wrong", "low"},
    {"wrong_high", "wrong", "high"},
    {"explained_of", "explained", "of"},
    {"explained", "explained", "rate"},
    {"explained_low", "explained", "low"},
    {"explained_high", "explained", "high"},
    {"not_localised", "cycles_to_localise", "not_localised"},
    {"cycles_to_localise_median", "cycles_to_localise", "median"},
    {"cycles_to_localise_p90", "cycles_to_localise", "p90"},
    {"cycles_to_end_median", "cycles_to_end", "median"},
    {"cycles_to_end_p90", "cycles_to_end", "p90"},
    {"trace_points", "trace_points", NULL},
    {"skeleton", "skeleton", NULL},
    {"opened_median", "opened", "median"},
    {"opened_p90", "opened", "p90"},
    {"opened_share_median", "opened_share", "median"},
    {"opened_share_p90", "opened_share", "p90"},
    {"peak_open_median", "peak_open", "median"},
    {"peak_open_p90", "peak_open", "p90"},
    {"added_peak_ns_median", "added_peak_ns", "median"},
    {"added_peak_ns_p90", "added_peak_ns", "p90"},
    {"added_mean_ns_median", "added_mean_ns", "median"},
    {"added_mean_ns_p90", "added_mean_ns", "p90"},
    {"added_peak_share_median", "added_peak_share", "median"},
    {"added_peak_share_p90", "added_peak_share", "p90"},
    {"added_mean_share_median", "added_mean_share", "median"},
    {"added_mean_share_p90", "added_mean_share", "p90"},
    {"decision_ns_median", "decision_ns", "median"}, /* these two with --times alone */
    {"decision_ns_max", "decision_ns", "max"},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define TIMED   2

static size_t columns_of(const json_t *results)
{
    bool timed = json_object_get(json_array_get(results, 0), "decision_ns") != NULL;
    return timed ? COLUMNS : COLUMNS - TIMED;
}

/* Our own names hold no commas, quotes or new lines; those of a file that was read may. */
static void add_text(struct pythia_buf *to, const char *text)
{
    struct pythia_buf shown = {0};
    pythia_shown_add(&shown, pythia_text_of(text), SIZE_MAX);
    const char *at = shown.bytes ? shown.bytes : "";
    bool plain = !strpbrk(at, ",\"");
    pythia_buf_puts(to, plain ? "" : "\"");
    for (; *at; at++) {
        if (*at == '"')
            pythia_buf_putc(to, '"');
        pythia_buf_putc(to, *at);
    }
    pythia_buf_puts(to, plain ? "" : "\"");
    to->failed = shown.failed ? 1 : to->failed;
    pythia_buf_free(&shown);
}

/* One row for each strategy on each problem, with all statistics: a spreadsheet selects what it
 * needs. */
void pythia__evaluation_csv(const json_t *report, struct pythia_buf *out)
{
    const json_t *results = pythia__array(report, "results");
    size_t count = columns_of(results);
    pythia_buf_puts(out, "problem,strategy");
    for (size_t c = 0; c < count; c++)
        pythia_buf_printf(out, ",%s", columns[c].name);
    pythia_buf_putc(out, '\n');
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        add_text(out, pythia__string(result, "problem"));
        pythia_buf_putc(out, ',');
        add_text(out, pythia__string(result, "strategy"));
        for (size_t c = 0; c < count; c++) {
            const json_t *member = json_object_get(result, columns[c].member);
            double value = columns[c].inner ? pythia__number(member, columns[c].inner)
                                            : pythia__number(result, columns[c].member);
            pythia_buf_putc(out, ',');
            if (isfinite(value))
                pythia_buf_printf(out, "%.12g", value);
        }
        pythia_buf_putc(out, '\n');
    }
}
