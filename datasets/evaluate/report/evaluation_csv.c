/* The results of an evaluation as comma-separated values: a line a problem and strategy, below a
 * line of names. An undefined number is an empty field. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "evaluation_results.h"
#include "pythia/shown_text.h"

/* Our own names hold no commas, quotes or new lines; those of a file that was read may. */
static void add_csv_text(struct pythia_buf *to, const char *text)
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
void pythia__evaluation_csv(const struct pythia_evaluation_report *r, struct pythia_buf *out)
{
    size_t count;
    const struct pythia__figure_name *names = pythia__evaluation_figures(r, &count);
    pythia_buf_puts(out, "problem,strategy");
    for (size_t c = 0; c < count; c++)
        if (names[c].column)
            pythia_buf_printf(out, ",%s", names[c].column);
    pythia_buf_putc(out, '\n');
    for (size_t i = 0; i < r->result_count; i++) {
        add_csv_text(out, r->results[i].problem);
        pythia_buf_putc(out, ',');
        add_csv_text(out, r->results[i].strategy);
        for (size_t c = 0; c < count; c++) {
            double value = r->results[i].figures[names[c].figure];
            if (!names[c].column)
                continue;
            pythia_buf_putc(out, ',');
            if (isfinite(value))
                pythia_buf_printf(out, "%.12g", value);
        }
        pythia_buf_putc(out, '\n');
    }
}
