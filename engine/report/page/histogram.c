/* Durations of a group as a histogram on the log scale, drawn by SVG. Places are percentages of the
 * width and heights are pixels: the picture fills what room there is, and its text keeps its size.
 */
#include <math.h>
#include <string.h>

#include "pictures.h"
#include "write/page_pieces.h"
#include "write/words.h"

#define QUANTILES  3 /* marked, with a row for the label of each */
#define ROW_HEIGHT 16
#define TOP        (QUANTILES * ROW_HEIGHT + 4)
#define PLOT       120
#define BOTTOM     (TOP + PLOT)
#define HEIGHT     (BOTTOM + 36)
#define TICKS_MAX  6

/* Where the scale may have a label, in ns. */
static const double round_ns[] = {
    1,     2,     5,     10,    20,     50,     100,   200,   500,    1e3,     2e3,
    5e3,   1e4,   2e4,   5e4,   1e5,    2e5,    5e5,   1e6,   2e6,    5e6,     1e7,
    2e7,   5e7,   1e8,   2e8,   5e8,    1e9,    2e9,   5e9,   10e9,   20e9,    60e9,
    120e9, 300e9, 600e9, 12e11, 3600e9, 7200e9, 18e12, 36e12, 864e11, 1728e11,
};

#define ROUND (sizeof(round_ns) / sizeof(round_ns[0]))

struct scale {
    double low, high; /* ns; high > low > 0 */
    double largest;   /* requests in a bin */
};

/* The place of a duration, in percent of the width; a margin is left for strokes. */
static double place_on_histogram(const struct scale *s, double ns)
{
    return 1 + 98 * log(ns / s->low) / log(s->high / s->low);
}

static bool is_on(const struct scale *s, double ns)
{
    return ns >= s->low && ns <= s->high;
}

size_t pythia__count_bins(const struct pythia_sketch *sketch, size_t bins, uint64_t *counts,
                          double *low_ns, double *width)
{
    double low = pythia_sketch_min(sketch), high = pythia_sketch_max(sketch);
    low = low > 0 ? low : 1;
    if (!(high >= low))
        return 0;
    *low_ns = low;
    *width = log(high / low) / (double)bins;
    struct pythia_sketch_bin bin;
    for (size_t at = 0; pythia_sketch_next(sketch, &at, &bin) == 0;) {
        double place = *width > 0 && bin.middle > low ? log(bin.middle / low) / *width : 0;
        counts[place < (double)(bins - 1) ? (size_t)place : bins - 1] += bin.count;
    }
    return *width > 0 ? bins : 1;
}

const struct pythia__histogram *pythia__histogram_make(struct pythia__doc *d,
                                                       const struct pythia_group *g)
{
    struct pythia__histogram *out = pythia__doc_alloc(d, sizeof(*out));
    const struct pythia_modes *m = &g->modes;
    double width = 0;
    if (!out)
        return NULL;
    out->bins =
        pythia__count_bins(g->sketch, PYTHIA__HISTOGRAM_BINS, out->counts, &out->low_ns, &width);
    out->high_ns = pythia_sketch_max(g->sketch);
    out->quantiles_ns[0] = g->p50_ns;
    out->quantiles_ns[1] = g->p90_ns;
    out->quantiles_ns[2] = g->p99_ns;
    for (size_t i = 0; m->count > 1 && i < m->count && i < PYTHIA__HISTOGRAM_MODES; i++) {
        out->cuts_ns[i] = i + 1 < m->count ? m->cuts[i] : NAN;
        out->centers_ns[i] = m->centers[i];
        out->weights[i] = m->weights[i];
        out->modes++;
    }
    return out;
}

/* The end of a bin. */
static double end_of_bin(const struct pythia__histogram *g, size_t bin)
{
    return g->low_ns * pow(g->high_ns / g->low_ns, (double)bin / (double)g->bins);
}

/* Fits the scale to the bins; false if there is nothing to draw. */
static bool fit_histogram(struct scale *s, const struct pythia__histogram *g)
{
    *s = (struct scale){.low = g->low_ns, .high = g->high_ns};
    for (size_t i = 0; i < g->bins; i++)
        s->largest = fmax(s->largest, (double)g->counts[i]);
    if (!(s->largest > 0))
        return false;
    if (s->high < s->low * 1.02) { /* All took the same time: a bar in the middle of some room. */
        s->low *= .9;
        s->high *= 1.1;
    }
    return true;
}

/* An upright one. */
static void draw_histogram_line(struct pythia__html *h, const char *class, double x, double from,
                                double to)
{
    pythia__html_open(h, "line", "class", class, NULL);
    pythia__html_attribute_printf(h, "x1", "%.2f%%", x);
    pythia__html_attribute_printf(h, "x2", "%.2f%%", x);
    pythia__html_attribute_printf(h, "y1", "%g", from);
    pythia__html_attribute_printf(h, "y2", "%g", to);
    pythia__html_close(h);
}

/* A label of the scale, below its place; near an end of the picture it grows inwards. */
static void tick_label(struct pythia__html *h, double x, const char *text)
{
    pythia__html_open(h, "text", "class", "tick", NULL);
    pythia__html_attribute_printf(h, "x", "%.2f%%", x);
    pythia__html_attribute_printf(h, "y", "%d", BOTTOM + 18);
    pythia__html_attribute(h, "text-anchor", x < 8 ? "start" : x > 92 ? "end" : "middle");
    pythia__html_text(h, text);
    pythia__html_close(h);
}

static void draw_histogram_bars(struct pythia__html *h, const struct scale *s,
                                const struct pythia__histogram *g)
{
    for (size_t i = 0; i < g->bins; i++) {
        double low = end_of_bin(g, i), high = end_of_bin(g, i + 1), count = (double)g->counts[i];
        if (!(count > 0))
            continue;
        double x = place_on_histogram(s, low), width = fmax(place_on_histogram(s, high) - x, .5);
        double height = fmax(PLOT * count / s->largest, 2); /* One request of a million is seen. */
        struct pythia_buf title = {0};
        pythia__add_duration(&title, low);
        pythia_buf_puts(&title, " to ");
        pythia__add_duration(&title, high);
        pythia_buf_puts(&title, ": ");
        pythia__add_count(&title, count);
        pythia_buf_puts(&title, count == 1 ? " request" : " requests");
        pythia__html_open(h, "rect", NULL);
        pythia__html_attribute_printf(h, "x", "%.2f%%", x);
        pythia__html_attribute_printf(h, "width", "%.2f%%", width * .92);
        pythia__html_attribute_printf(h, "y", "%.1f", BOTTOM - height);
        pythia__html_attribute_printf(h, "height", "%.1f", height);
        pythia__html_leaf(h, "title", NULL, title.bytes ? title.bytes : "");
        pythia__html_close(h);
        pythia_buf_free(&title);
    }
}

/* "2 s" and not "2.00 s": a label of the scale is round. */
static void add_round(struct pythia_buf *to, double ns)
{
    struct pythia_buf exact = {0};
    pythia__add_duration(&exact, ns);
    const char *text = exact.bytes ? exact.bytes : "", *unit = strchr(text, ' ');
    const char *point = strchr(text, '.');
    size_t digits = unit ? (size_t)(unit - text) : strlen(text);
    if (point && strspn(point + 1, "0") == digits - (size_t)(point - text) - 1)
        digits = (size_t)(point - text);
    pythia_buf_add(to, text, digits);
    pythia_buf_puts(to, unit ? unit : "");
    pythia_buf_free(&exact);
}

/* Round durations on the scale; with `between`, also those half as long again. Returns how many. */
static size_t find_ticks(const struct scale *s, bool between, double ticks[2 * ROUND])
{
    size_t count = 0;
    for (size_t i = 0; i < ROUND; i++) {
        if (is_on(s, round_ns[i]))
            ticks[count++] = round_ns[i];
        if (between && is_on(s, 1.5 * round_ns[i]))
            ticks[count++] = 1.5 * round_ns[i];
    }
    return count;
}

static void draw_histogram_axis(struct pythia__html *h, const struct scale *s)
{
    double ticks[2 * ROUND];
    size_t count = find_ticks(s, false, ticks), every = 1;
    if (count < 3)
        count = find_ticks(s, true, ticks);
    if (count < 2) { /* Durations that are so much alike have no round number between them. */
        ticks[0] = s->low;
        ticks[1] = s->high;
        count = 2;
    }
    while ((count + every - 1) / every > TICKS_MAX)
        every++;
    pythia__html_open(h, "line", "class", "base", "x1", "0", "x2", "100%", NULL);
    pythia__html_attribute_printf(h, "y1", "%d", BOTTOM);
    pythia__html_attribute_printf(h, "y2", "%d", BOTTOM);
    pythia__html_close(h);
    for (size_t i = 0; i < count; i += every) {
        struct pythia_buf text = {0};
        add_round(&text, ticks[i]);
        draw_histogram_line(h, "base", place_on_histogram(s, ticks[i]), BOTTOM, BOTTOM + 5);
        tick_label(h, place_on_histogram(s, ticks[i]), text.bytes ? text.bytes : "");
        pythia_buf_free(&text);
    }
}

static const char *const quantiles[QUANTILES] = {"p50", "p90", "p99"};

/* The label of a quantile stands left of its line, and that of a higher one above it: so no line
 * crosses a label, but of one that must stand to the right for want of room; that is drawn on top,
 * with a rim. */
static void draw_mode_mark(struct pythia__html *h, const struct scale *s,
                           const struct pythia__histogram *g, size_t i, bool text)
{
    double ns = g->quantiles_ns[i];
    double y = ROW_HEIGHT * (double)(QUANTILES - i) - 4;
    if (!isfinite(ns) || ns <= 0)
        return;
    double x = place_on_histogram(s, fmin(fmax(ns, s->low), s->high));
    if (!text) {
        draw_histogram_line(h, "q", x, y - 9, BOTTOM);
        return;
    }
    struct pythia_buf label = {0};
    pythia_buf_printf(&label, "%s ", quantiles[i]);
    pythia__add_duration(&label, ns);
    pythia__html_open(h, "text", "class", "mark", NULL);
    pythia__html_attribute_printf(h, "x", "%.2f%%", x);
    pythia__html_attribute_printf(h, "y", "%g", y);
    pythia__html_attribute(h, "dx", x < 24 ? "5" : "-5");
    pythia__html_attribute(h, "text-anchor", x < 24 ? "start" : "end");
    pythia__html_text(h, label.bytes ? label.bytes : "");
    pythia__html_close(h);
    pythia_buf_free(&label);
}

static void draw_mode_marks(struct pythia__html *h, const struct scale *s,
                            const struct pythia__histogram *g)
{
    for (size_t i = 0; i < QUANTILES; i++)
        draw_mode_mark(h, s, g, i, false);
    for (size_t i = 0; i < QUANTILES; i++)
        draw_mode_mark(h, s, g, i, true);
}

/* A triangle below the axis at the center of each mode, and dashes between modes. */
static void list_histogram_modes(struct pythia__html *h, const struct scale *s,
                                 const struct pythia__histogram *g)
{
    for (size_t i = 0; i < g->modes; i++)
        if (is_on(s, g->cuts_ns[i]))
            draw_histogram_line(h, "cut", place_on_histogram(s, g->cuts_ns[i]), TOP, BOTTOM + 30);
    for (size_t i = 0; i < g->modes; i++) {
        if (!is_on(s, g->centers_ns[i]))
            continue;
        pythia__html_open(h, "svg", "overflow", "visible", "width", "1", "height", "1", NULL);
        pythia__html_attribute_printf(h, "x", "%.2f%%", place_on_histogram(s, g->centers_ns[i]));
        pythia__html_attribute_printf(h, "y", "%d", BOTTOM + 23);
        pythia__html_open(h, "path", "class", "mode", "d", "M0 0L7 11H-7Z", NULL);
        pythia__html_close(h);
        pythia__html_close(h);
    }
}

/* A description of the picture in words. */
static void describe_histogram(struct pythia__html *h, const struct scale *s,
                               const struct pythia__histogram *g)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, "Histogram of durations on a logarithmic scale, from ");
    pythia__add_duration(&text, s->low);
    pythia_buf_puts(&text, " to ");
    pythia__add_duration(&text, s->high);
    for (size_t i = 0; i < QUANTILES; i++) {
        pythia_buf_printf(&text, ", %s ", quantiles[i]);
        pythia__add_duration(&text, g->quantiles_ns[i]);
    }
    pythia__html_attribute(h, "aria-label", text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
}

static void write_histogram_caption(struct pythia__html *h, const struct scale *s,
                                    const struct pythia__histogram *g)
{
    pythia__html_open(h, "figcaption", NULL);
    pythia__html_text(h,
                      "Durations of requests, on a logarithmic scale; the highest bar stands for ");
    pythia__html_things(h, s->largest, "request", "requests");
    pythia__html_text(h, ".");
    if (g->modes > 0)
        pythia__html_printf(
            h,
            " There are %zu modes, marked by triangles and separated by dashed lines: ", g->modes);
    for (size_t i = 0; i < g->modes; i++) {
        pythia__html_text(h, i ? ", " : "");
        pythia__html_percent(h, g->weights[i]);
        pythia__html_text(h, " near ");
        pythia__html_duration(h, g->centers_ns[i]);
    }
    pythia__html_text(h, g->modes > 0 ? "." : "");
    pythia__html_close(h);
}

void pythia__histogram_draw(struct pythia__html *h, const void *histogram)
{
    const struct pythia__histogram *g = histogram;
    struct scale s;
    pythia__html_open(h, "figure", "class", "hist", NULL);
    if (fit_histogram(&s, g)) {
        pythia__html_open(h, "svg", "role", "img", "width", "100%", NULL);
        pythia__html_attribute_printf(h, "height", "%d", HEIGHT);
        describe_histogram(h, &s, g);
        draw_histogram_bars(h, &s, g);
        draw_histogram_axis(h, &s);
        draw_mode_marks(h, &s, g);
        list_histogram_modes(h, &s, g);
        pythia__html_close(h);
        write_histogram_caption(h, &s, g);
    } else {
        pythia__html_leaf(h, "figcaption", NULL, "There are no durations to draw.");
    }
    pythia__html_close(h);
}
