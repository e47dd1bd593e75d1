/* Durations of a group as a histogram on the log scale, drawn by SVG. Places are percentages of the
 * width and heights are pixels: the picture fills what room there is, and its text keeps its size.
 */
#include <math.h>
#include <string.h>

#include "report_html.h"
#include "sentences/sentences.h"

#define QUANTILES  3 /* marked, with a row for the label of each */
#define ROW_HEIGHT 16
#define TOP        (QUANTILES * ROW_HEIGHT + 4)
#define PLOT       120
#define BOTTOM     (TOP + PLOT)
#define HEIGHT     (BOTTOM + 36)
#define TICKS_MAX  6
#define MODES_MAX  16 /* marked; more cannot be told apart */

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

/* Fits the scale to the bins; false if there is nothing to draw. */
static bool fit_histogram(struct scale *s, const json_t *bins)
{
    *s = (struct scale){.low = INFINITY};
    for (size_t i = 0; i < json_array_size(bins); i++) {
        const json_t *bin = json_array_get(bins, i);
        double low = pythia__number(bin, "low_ns"), high = pythia__number(bin, "high_ns");
        if (!(low > 0) || !(high >= low) || !isfinite(high))
            return false;
        s->low = fmin(s->low, low);
        s->high = fmax(s->high, high);
        s->largest = fmax(s->largest, pythia__number(bin, "count"));
    }
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

static void draw_histogram_bars(struct pythia__html *h, const struct scale *s, const json_t *bins)
{
    for (size_t i = 0; i < json_array_size(bins); i++) {
        const json_t *bin = json_array_get(bins, i);
        double low = pythia__number(bin, "low_ns"), high = pythia__number(bin, "high_ns");
        double count = pythia__number(bin, "count");
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

static const struct {
    const char *name, *key;
} quantiles[QUANTILES] = {{"p50", "p50_ns"}, {"p90", "p90_ns"}, {"p99", "p99_ns"}};

/* The label of a quantile stands left of its line, and that of a higher one above it: so no line
 * crosses a label, but of one that must stand to the right for want of room; that is drawn on top,
 * with a rim. */
static void draw_mode_mark(struct pythia__html *h, const struct scale *s, const json_t *group,
                           size_t i, bool text)
{
    double ns = pythia__number(group, quantiles[i].key);
    double y = ROW_HEIGHT * (double)(QUANTILES - i) - 4;
    if (!isfinite(ns) || ns <= 0)
        return;
    double x = place_on_histogram(s, fmin(fmax(ns, s->low), s->high));
    if (!text) {
        draw_histogram_line(h, "q", x, y - 9, BOTTOM);
        return;
    }
    struct pythia_buf label = {0};
    pythia_buf_printf(&label, "%s ", quantiles[i].name);
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

static void draw_mode_marks(struct pythia__html *h, const struct scale *s, const json_t *group)
{
    for (size_t i = 0; i < QUANTILES; i++)
        draw_mode_mark(h, s, group, i, false);
    for (size_t i = 0; i < QUANTILES; i++)
        draw_mode_mark(h, s, group, i, true);
}

/* A triangle below the axis at the center of each mode, and dashes between modes. */
static void list_histogram_modes(struct pythia__html *h, const struct scale *s, const json_t *of)
{
    const json_t *cuts = pythia__array(of, "cuts_ns"), *centers = pythia__array(of, "centers_ns");
    for (size_t i = 0; i < json_array_size(cuts) && i < MODES_MAX; i++) {
        double ns = json_number_value(json_array_get(cuts, i));
        if (is_on(s, ns))
            draw_histogram_line(h, "cut", place_on_histogram(s, ns), TOP, BOTTOM + 30);
    }
    for (size_t i = 0; i < json_array_size(centers) && i < MODES_MAX; i++) {
        double ns = json_number_value(json_array_get(centers, i));
        if (!is_on(s, ns))
            continue;
        pythia__html_open(h, "svg", "overflow", "visible", "width", "1", "height", "1", NULL);
        pythia__html_attribute_printf(h, "x", "%.2f%%", place_on_histogram(s, ns));
        pythia__html_attribute_printf(h, "y", "%d", BOTTOM + 23);
        pythia__html_open(h, "path", "class", "mode", "d", "M0 0L7 11H-7Z", NULL);
        pythia__html_close(h);
        pythia__html_close(h);
    }
}

/* What the picture shows, in words. */
static void describe_histogram(struct pythia__html *h, const struct scale *s, const json_t *group)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, "Histogram of durations on a logarithmic scale, from ");
    pythia__add_duration(&text, s->low);
    pythia_buf_puts(&text, " to ");
    pythia__add_duration(&text, s->high);
    for (size_t i = 0; i < QUANTILES; i++) {
        pythia_buf_printf(&text, ", %s ", quantiles[i].name);
        pythia__add_duration(&text, pythia__number(group, quantiles[i].key));
    }
    pythia__html_attribute(h, "aria-label", text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
}

static void write_histogram_caption(struct pythia__html *h, const struct scale *s,
                                    const json_t *group)
{
    const json_t *of = json_object_get(group, "modes");
    const json_t *centers = pythia__array(of, "centers_ns"),
                 *weights = pythia__array(of, "weights");
    pythia__html_open(h, "figcaption", NULL);
    pythia__html_text(
        h, "How long requests took, on a logarithmic scale; the highest bar stands for ");
    pythia__html_things(h, s->largest, "request", "requests");
    pythia__html_text(h, ".");
    for (size_t i = 0; i < json_array_size(centers) && i < MODES_MAX; i++) {
        if (i == 0)
            pythia__html_printf(
                h, " There are %zu modes, marked by triangles, with dashes between them: ",
                json_array_size(centers));
        pythia__html_text(h, i ? ", " : "");
        pythia__html_percent(h, json_number_value(json_array_get(weights, i)));
        pythia__html_text(h, " near ");
        pythia__html_duration(h, json_number_value(json_array_get(centers, i)));
        if (i + 1 == json_array_size(centers))
            pythia__html_text(h, ".");
    }
    pythia__html_close(h);
}

void pythia__html_histogram(struct pythia__html *h, const json_t *group)
{
    const json_t *bins = pythia__array(group, "histogram");
    struct scale s;
    pythia__html_open(h, "figure", "class", "hist", NULL);
    if (fit_histogram(&s, bins)) {
        pythia__html_open(h, "svg", "role", "img", "width", "100%", NULL);
        pythia__html_attribute_printf(h, "height", "%d", HEIGHT);
        describe_histogram(h, &s, group);
        draw_histogram_bars(h, &s, bins);
        draw_histogram_axis(h, &s);
        draw_mode_marks(h, &s, group);
        list_histogram_modes(h, &s, json_object_get(group, "modes"));
        pythia__html_close(h);
        write_histogram_caption(h, &s, group);
    } else {
        pythia__html_leaf(h, "figcaption", NULL, "There are no durations to draw.");
    }
    pythia__html_close(h);
}
