/* What opened trace points explained, as a table of the page. */
#include <math.h>
#include <string.h>

#include "report_html.h"
#include "sentences/sentences.h"

static void draw_effect_number(struct pythia__html *h, const char *label, double value)
{
    pythia__html_percent_cell(h, label, value);
}

static const char *verdict_in_words(const char *verdict)
{
    return strcmp(verdict, "explains") == 0       ? "explains"
           : strcmp(verdict, "does_not_pay") == 0 ? "is not worth its cost"
           : strcmp(verdict, "not_passed") == 0   ? "is on no critical path"
                                                  : "too few requests";
}

static void draw_effect_row(struct pythia__html *h, const json_t *effect)
{
    const json_t *stretch = json_object_get(effect, "stretch"),
                 *part = json_object_get(effect, "part");
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_name(h, pythia__string(effect, "trace_point"));
    pythia__html_open(h, "div", "class", "sub", NULL);
    pythia__html_printf(h, "opened in cycle %.0f", pythia__number(effect, "opened_in"));
    if (json_is_object(stretch)) {
        pythia__html_text(h, "; ");
        pythia__html_edge(h, json_object_get(stretch, "edge"));
    }
    pythia__html_close(h);
    pythia__html_close(h);
    double inside = pythia__number(effect, "inside");
    pythia__html_cell(h, "b", NULL);
    pythia__html_bar(h, "share", inside, pythia__number(effect, "inside_low"),
                     pythia__number(effect, "inside_high"));
    pythia__html_close(h);
    draw_effect_number(h, "inside it", inside);
    draw_effect_number(h, "largest part", pythia__number(part, "share"));
    draw_effect_number(h, "without it", pythia__number(stretch, "share"));
    draw_effect_number(h, "by path", pythia__number(effect, "eta_squared"));
    pythia__html_cell(h, "n", "verdict");
    pythia__html_text(h, verdict_in_words(pythia__string(effect, "verdict")));
    pythia__html_close(h);
    pythia__html_close(h);
}

void pythia__html_effects(struct pythia__html *h, const json_t *report)
{
    static const char *const labels[] = {"Opened",      "=Inside it", ">Largest part",
                                         ">Without it", ">By path",   ">Verdict"};
    const json_t *cycles = pythia__array(report, "loop"), *effects, *effect;
    size_t i, k, count = 0;
    for (i = 0; i < json_array_size(cycles); i++)
        count += json_array_size(pythia__array(json_array_get(cycles, i), "effects"));
    if (count == 0)
        return;
    pythia__html_open(h, "p", NULL);
    pythia__html_text(h,
                      "What opened points explained. Of the variance: the share that lies inside "
                      "of them, that of the largest part of the place they are in, and that of "
                      "the whole place, which is all one would see without them. By path: how "
                      "much of what varies there correlates with whether they are hit.");
    pythia__html_close(h);
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (i = 0; i < json_array_size(cycles); i++) {
        effects = pythia__array(json_array_get(cycles, i), "effects");
        json_array_foreach (effects, k, effect)
            draw_effect_row(h, effect);
    }
    pythia__html_table_end(h);
}
