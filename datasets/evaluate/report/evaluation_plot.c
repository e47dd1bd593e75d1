/* An evaluation as a picture: a panel for each problem in which something is planted, all on the
 * same scales, with a mark for each strategy.
 *
 *   opened |  o----        the mark: the median of cycles, and of the share of trace points opened
 *   (log)  |     x------   the line: to the cycles that 90 % of the searches do not exceed
 *          +-----------    cycles
 *
 * A mark is hollow where more than half of the searches did not find all causes: it stands at the
 * most cycles there were. Shares of 0 have no logarithm and get a line of their own at the bottom.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluation_results.h"
#include "pythia/shown_text.h"
#include "pythia/strategy.h"
#include "write/html_writer.h"
#include "write/words.h"

#define COLUMNS_MAX   5
#define PANEL_WIDTH   214
#define PANEL_HEIGHT  196
#define LEFT          78 /* of the first panel: labels of shares */
#define GAP           16 /* between panels */
#define PLOT_TOP      26 /* in a panel: below its title */
#define PLOT_HEIGHT   136
#define ZERO_HEIGHT   16
#define INSET         8 /* between the frame and what is drawn, so that no mark lies on it */
#define LEGEND_LEFT   24
#define LEGEND_HEIGHT 22
#define GLYPH_WIDTH   7.2 /* pixels of a character, about */
#define HEAD          34
#define FOOT          44
#define DECADES_MAX   8

/* How a strategy is drawn, by its place in the table of strategies. Shapes tell what colours may
 * not; a shape without an inside is drawn by lines alone. */
static const struct {
    const char *shape;
    bool lines;
    const char *light, *dark;
} marks[] = {
    {"M-5-5H5V5H-5Z", false, "#c4380d", "#ff8a5c"},
    {"M-5 0A5 5 0 1 1 5 0A5 5 0 1 1-5 0Z", false, "#1f6fb2", "#6db3f2"},
    {"M0-6L6 5H-6Z", false, "#1b7f4b", "#5fd39a"},
    {"M0-6.5L6.5 0L0 6.5L-6.5 0Z", false, "#7a45b8", "#c39bf2"},
    {"M0 6L-6-5H6Z", false, "#96690a", "#e3b341"},
    {"M-5-5L5 5M5-5L-5 5", true, "#0b7c8c", "#4fd1e0"},
    {"M0-6V6M-6 0H6", true, "#b0307a", "#f58cc4"},
    {"M-6 0H6M-3-5L3 5M3-5L-3 5", true, "#59636e", "#a9b3bd"},
    {"M-6-3V3H6V-3Z", false, "#1c2128", "#f2f4f6"},
};
#define MARKS (sizeof(marks) / sizeof(marks[0]))

struct plot {
    struct pythia__html h;
    const struct pythia_evaluation_report *report;
    size_t panels, columns, rows;
    double width, height, top; /* of the picture; of the panels */
    double cycles;             /* the right end */
    int decades;               /* below 100 % */
    bool zeros;
};

static size_t mark_of(const char *strategy)
{
    size_t count, number = 0;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    while (number < count && strcmp(all[number]->name, strategy) != 0)
        number++;
    return number % MARKS;
}

/* ---- pieces ---- */

static void add_plot_text(struct plot *p, double x, double y, const char *anchor, const char *class,
                          const char *text)
{
    pythia__html_open(&p->h, "text", NULL);
    pythia__html_attribute_printf(&p->h, "x", "%.1f", x);
    pythia__html_attribute_printf(&p->h, "y", "%.1f", y);
    pythia__html_attribute(&p->h, "text-anchor", anchor);
    pythia__html_attribute(&p->h, "class", class);
    pythia__html_text(&p->h, text);
    pythia__html_close(&p->h);
}

static void draw_plot_line(struct plot *p, double x1, double y1, double x2, double y2,
                           const char *class)
{
    pythia__html_open(&p->h, "line", NULL);
    pythia__html_attribute_printf(&p->h, "x1", "%.1f", x1);
    pythia__html_attribute_printf(&p->h, "y1", "%.1f", y1);
    pythia__html_attribute_printf(&p->h, "x2", "%.1f", x2);
    pythia__html_attribute_printf(&p->h, "y2", "%.1f", y2);
    pythia__html_attribute(&p->h, "class", class);
    pythia__html_close(&p->h);
}

static void draw_plot_mark(struct plot *p, size_t number, double x, double y, bool hollow)
{
    pythia__html_open(&p->h, "path", "d", marks[number].shape, NULL);
    pythia__html_attribute_printf(&p->h, "transform", "translate(%.1f %.1f)", x, y);
    pythia__html_attribute_printf(&p->h, "class", "m%zu%s", number,
                                  marks[number].lines ? " l"
                                  : hollow            ? " o"
                                                      : "");
    pythia__html_close(&p->h);
}

/* Names side by side, in as many rows as it takes. Returns the height at which the last row is. */
static double draw_plot_legend(struct plot *p, bool drawn)
{
    double x = LEGEND_LEFT, y = HEAD + 12;
    for (size_t i = 0; i < p->report->strategy_count; i++) {
        const char *name = p->report->strategies[i].name;
        double width = 34 + GLYPH_WIDTH * (double)pythia_glyph_count(pythia_text_of(name));
        if (x > LEGEND_LEFT && x + width > p->width) {
            x = LEGEND_LEFT;
            y += LEGEND_HEIGHT;
        }
        if (drawn) {
            draw_plot_mark(p, mark_of(name), x, y, false);
            add_plot_text(p, x + 13, y + 4, "start", "n", name);
        }
        x += width;
    }
    return y;
}

/* ---- scales ---- */

/* The share of opened points has a logarithmic axis, because strategies differ tenfold in it;
 * shares of 0 get a place of their own beside it. */
static void fit_plot_scale(struct plot *p)
{
    const struct pythia_evaluation_report *r = p->report;
    double least = .1;
    for (size_t i = 0; i < r->problem_count; i++)
        p->panels += r->problems[i].causes > 0;
    for (size_t i = 0; i < r->result_count; i++) {
        double share = r->results[i].figures[PYTHIA__OPENED_SHARE];
        if (isnan(r->results[i].figures[PYTHIA__LOCALISED]))
            continue;
        p->zeros = p->zeros || share == 0;
        least = share > 0 ? fmin(least, share) : least;
    }
    p->decades = (int)fmin(fmax(ceil(-log10(least)), 1), DECADES_MAX);
    p->cycles = fmin(fmax(r->cycles, 1), 1e9);
    p->columns = p->panels < COLUMNS_MAX ? p->panels : COLUMNS_MAX;
    p->rows = p->columns ? (p->panels + p->columns - 1) / p->columns : 0;
    p->width = LEFT + (double)(p->columns < 3 ? 3 : p->columns) * PANEL_WIDTH + 8;
    p->top = draw_plot_legend(p, false) + LEGEND_HEIGHT + 4;
    p->height = p->top + (double)(p->rows ? p->rows : 1) * PANEL_HEIGHT + FOOT;
}

static double x_of(const struct plot *p, double cycles)
{
    return INSET + fmin(fmax(cycles / p->cycles, 0), 1) * (PANEL_WIDTH - GAP - 2 * INSET);
}

static double y_of(const struct plot *p, double share)
{
    double part = share > 0 ? -log10(fmin(share, 1)) / p->decades : 1;
    double zero = p->zeros && !(share > 0) ? ZERO_HEIGHT : 0;
    double room = PLOT_HEIGHT - 2 * INSET - (p->zeros ? ZERO_HEIGHT : 0);
    return PLOT_TOP + INSET + fmin(part, 1) * room + zero;
}

/* Colours follow the scheme of the browser, in light and dark, as the other reports do. */
static void write_plot_style(struct plot *p)
{
    static const char *const rules[] = {
        ":root{--bg:#fff;--fg:#1c2128;--dim:#57606a;--line:#d8dee4;--frame:#818b98}",
        "@media(prefers-color-scheme:dark){:root{--bg:#101317;--fg:#e6e8eb;--dim:#9da7b1;"
        "--line:#2f363d;--frame:#6f7984}}",
        "text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\","
        "sans-serif;fill:var(--fg)}",
        ".t{font-weight:600}.h{font-size:15px;font-weight:600}.d{fill:var(--dim);font-size:11px}",
        ".b{fill:var(--bg)}.g{stroke:var(--line)}.f{stroke:var(--frame)}.w{stroke-width:1.5;"
        "opacity:.75}",
    };
    struct pythia_buf own = {0};
    for (size_t i = 0; i < MARKS; i++)
        pythia_buf_printf(&own, ".m%zu{fill:%s;stroke:%s;stroke-width:1}", i, marks[i].light,
                          marks[i].light);
    pythia_buf_puts(&own, "@media(prefers-color-scheme:dark){");
    for (size_t i = 0; i < MARKS; i++)
        pythia_buf_printf(&own, ".m%zu{fill:%s;stroke:%s}", i, marks[i].dark, marks[i].dark);
    pythia_buf_puts(&own, "}.o{fill:var(--bg);stroke-width:1.5}.l{fill:none;stroke-width:2}");
    const char *const last = own.bytes ? own.bytes : "";
    pythia__html_open(&p->h, "style", NULL);
    pythia__html_style(&p->h, rules, sizeof(rules) / sizeof(rules[0]));
    pythia__html_style(&p->h, &last, 1);
    pythia__html_close(&p->h);
    p->h.out->failed = own.failed ? 1 : p->h.out->failed;
    pythia_buf_free(&own);
}

/* ---- a panel ---- */

/* Steps of 1, 2 or 5 times a power of ten, of which there are up to six. */
static double choose_step(double length)
{
    double step = pow(10, floor(log10(length / 6)));
    const double factors[] = {1, 2, 5, 10};
    size_t i = 0;
    while (i < 3 && length / (step * factors[i]) > 6)
        i++;
    return fmax(step * factors[i], 1);
}

static void draw_plot_axes(struct plot *p, bool leftmost)
{
    char text[40];
    double right = PANEL_WIDTH - GAP, step = choose_step(p->cycles);
    for (int i = 0; i <= p->decades; i++) {
        double share = pow(10, -i), y = y_of(p, share);
        draw_plot_line(p, 0, y, right, y, "g");
        snprintf(text, sizeof(text), "%.*f %%", i > 2 ? i - 2 : 0, 100 * share);
        if (leftmost)
            add_plot_text(p, -8, y + 4, "end", "d", text);
    }
    if (p->zeros && leftmost)
        add_plot_text(p, -8, y_of(p, 0) + 4, "end", "d", "none");
    for (int i = 0; i * step <= p->cycles; i++) {
        double at = i * step;
        draw_plot_line(p, x_of(p, at), PLOT_TOP, x_of(p, at), PLOT_TOP + PLOT_HEIGHT, "g");
        snprintf(text, sizeof(text), "%.0f", at);
        add_plot_text(p, x_of(p, at), PLOT_TOP + PLOT_HEIGHT + 15, "middle", "d", text);
    }
    draw_plot_line(p, 0, PLOT_TOP, 0, PLOT_TOP + PLOT_HEIGHT, "f");
    draw_plot_line(p, 0, PLOT_TOP + PLOT_HEIGHT, right, PLOT_TOP + PLOT_HEIGHT, "f");
}

static void draw_plot_result(struct plot *p, const struct pythia__evaluation_result *result)
{
    const char *strategy = result->strategy;
    double median = result->figures[PYTHIA__LOCALISED],
           p90 = result->figures[PYTHIA__LOCALISED + PYTHIA__P90],
           share = result->figures[PYTHIA__OPENED_SHARE];
    if (!isfinite(median) || !isfinite(p90) || !isfinite(share))
        return; /* of nothing that was run there is nothing to show */
    size_t number = mark_of(strategy);
    struct pythia_buf words = {0};
    pythia_buf_printf(&words, "%s: %s%.0f cycles, 90 %% within %s%.0f; ", strategy,
                      pythia__evaluation_is_beyond(result, 50) ? "more than " : "", median,
                      pythia__evaluation_is_beyond(result, 90) ? "more than " : "", p90);
    pythia__add_percent(&words, share);
    pythia_buf_puts(&words, " of the trace points opened");
    pythia__html_open(&p->h, "g", NULL);
    pythia__html_leaf(&p->h, "title", NULL, words.bytes ? words.bytes : "");
    pythia_buf_free(&words);
    char class[16];
    snprintf(class, sizeof(class), "m%zu w", number);
    draw_plot_line(p, x_of(p, median), y_of(p, share), x_of(p, p90), y_of(p, share), class);
    draw_plot_mark(p, number, x_of(p, median), y_of(p, share),
                   pythia__evaluation_is_beyond(result, 50));
    pythia__html_close(&p->h);
}

static void draw_plot_panel(struct plot *p, const struct pythia__evaluation_problem *problem,
                            size_t place)
{
    const struct pythia_evaluation_report *r = p->report;
    size_t column = place % p->columns, row = place / p->columns;
    pythia__html_open(&p->h, "g", NULL);
    pythia__html_attribute_printf(&p->h, "transform", "translate(%.0f %.0f)",
                                  LEFT + (double)column * PANEL_WIDTH,
                                  p->top + (double)row * PANEL_HEIGHT);
    pythia__html_open(&p->h, "g", NULL);
    pythia__html_leaf(&p->h, "title", NULL, problem->help);
    add_plot_text(p, 0, 16, "start", "t", problem->name);
    pythia__html_close(&p->h);
    draw_plot_axes(p, column == 0);
    for (size_t i = r->result_count; i-- > 0;) /* the first, the default, on top */
        if (strcmp(r->results[i].problem, problem->name) == 0)
            draw_plot_result(p, &r->results[i]);
    pythia__html_close(&p->h);
}

/* ---- the whole ---- */

static void draw_plot_titles(struct plot *p)
{
    double middle = p->top + (p->height - FOOT - p->top) / 2;
    add_plot_text(p, 16, 22, "start", "h",
                  "How fast, and with how many trace points, causes are found");
    pythia__html_open(&p->h, "text", "text-anchor", "middle", NULL);
    pythia__html_attribute_printf(&p->h, "transform", "translate(18 %.0f) rotate(-90)", middle);
    pythia__html_text(&p->h, p->rows > 1 ? "trace points opened, of all" : "opened, of all");
    pythia__html_close(&p->h);
    add_plot_text(p, LEFT, p->height - 26, "start", "n",
                  "cycles until all causes are found: the median, and a line to what 90 % of the "
                  "searches keep to");
    add_plot_text(
        p, LEFT, p->height - 10, "start", "d",
        "hollow, or at the right end: more than half of the searches did not find them all");
}

/* Each problem with a planted cause has a panel of cycles against trace points opened: nearer to
 * the lower left corner is better. */
void pythia__evaluation_svg(const struct pythia_evaluation_report *r, struct pythia_buf *out)
{
    struct plot p = {.h = {.out = out}, .report = r};
    fit_plot_scale(&p);
    pythia__html_open(&p.h, "svg", "xmlns", "http://www.w3.org/2000/svg", "role", "img", NULL);
    pythia__html_attribute_printf(&p.h, "viewBox", "0 0 %.0f %.0f", p.width, p.height);
    pythia__html_attribute_printf(&p.h, "width", "%.0f", p.width);
    pythia__html_attribute_printf(&p.h, "height", "%.0f", p.height);
    pythia__html_leaf(&p.h, "title", NULL,
                      "Cycles until causes are found, against the share of trace points opened");
    write_plot_style(&p);
    pythia__html_open(&p.h, "rect", "width", "100%", "height", "100%", "class", "b", NULL);
    pythia__html_close(&p.h);
    draw_plot_titles(&p);
    draw_plot_legend(&p, true);
    for (size_t i = 0, place = 0; i < r->problem_count; i++)
        if (r->problems[i].causes > 0)
            draw_plot_panel(&p, &r->problems[i], place++);
    if (p.panels == 0)
        add_plot_text(&p, LEFT, p.top + 40, "start", "n",
                      "Nothing was planted: there is nothing to find.");
    pythia__html_close(&p.h);
    pythia__html_end(&p.h);
}
