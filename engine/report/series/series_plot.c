/* Series as a picture: a panel for each, one below the other on the same axis of time, each with a
 * scale of its own. A line ends where an interval has no value; a value between two such intervals
 * is a dot. */
#include <math.h>
#include <stdio.h>

#include "pythia/status.h"
#include "series_forms.h"
#include "write/html_writer.h"

#define WIDTH      880
#define LEFT       96 /* numbers of the scale */
#define RIGHT      16
#define PANEL      120
#define TITLE      22
#define PLOT       82
#define FOOT       34
#define PANELS_MAX 50 /* drawn; the table has all */

static const char *const rules[] = {
    "svg{font:12px system-ui,\"DejaVu Sans\",sans-serif;max-width:100%;height:auto}",
    ".wide>svg{min-width:42rem}.paper{fill:#fff}",
    ".name{font-weight:600;fill:#1c2128}.scale{fill:#57606a}.frame{fill:none;stroke:#d8dee4}",
    ".line{fill:none;stroke:#3572b8;stroke-width:1.5}.dot{fill:#3572b8}",
    "@media screen and (prefers-color-scheme:dark){.name{fill:#e6e8eb}.scale{fill:#9da7b1}}",
    "@media screen and (prefers-color-scheme:dark){.line{stroke:#5f9be0}.dot{fill:#5f9be0}}",
    "@media screen and (prefers-color-scheme:dark){.frame{stroke:#2f363d}.paper{fill:#101317}}"};

struct scale {
    double low, high;
};

static struct scale scale_of(const double *values, size_t count)
{
    struct scale s = {INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        s.low = fmin(s.low, isfinite(values[i]) ? values[i] : INFINITY);
        s.high = fmax(s.high, isfinite(values[i]) ? values[i] : -INFINITY);
    }
    return s;
}

static double place_on_axis(const struct scale *s, double value)
{
    double range = s->high - s->low; /* of finite numbers; may overflow */
    if (!isfinite(range))
        return (value / 2 - s->low / 2) / (s->high / 2 - s->low / 2);
    return range > 0 ? (value - s->low) / range : .5;
}

static void add_series_line(struct pythia__html *h, const double *values, size_t count,
                            const struct scale *s, double top)
{
    struct pythia_buf path = {0};
    double wide = count > 1 ? (double)(WIDTH - LEFT - RIGHT) / (double)(count - 1) : 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        bool begins = i == 0 || !isfinite(values[i - 1]),
             ends = i + 1 == count || !isfinite(values[i + 1]);
        double x = LEFT + wide * (double)i, y = top + PLOT * (1 - place_on_axis(s, values[i]));
        if (begins && ends) {
            pythia__html_open(h, "circle", "class", "dot", "r", "2", NULL);
            pythia__html_attribute_printf(h, "cx", "%.2f", x);
            pythia__html_attribute_printf(h, "cy", "%.2f", y);
            pythia__html_close(h);
        } else {
            pythia_buf_printf(&path, "%s%.2f %.2f", begins ? "M" : "L", x, y);
        }
    }
    if (path.size) {
        pythia__html_open(h, "path", "class", "line", "d", path.bytes, NULL);
        pythia__html_close(h);
    }
    h->out->failed |= path.failed;
    pythia_buf_free(&path);
}

static void add_label(struct pythia__html *h, const char *class, const char *anchor, double x,
                      double y, const char *text)
{
    pythia__html_open(h, "text", "class", class, "text-anchor", anchor, NULL);
    pythia__html_attribute_printf(h, "x", "%.2f", x);
    pythia__html_attribute_printf(h, "y", "%.2f", y);
    pythia__html_text(h, text);
    pythia__html_close(h);
}

static void add_panel(struct pythia__html *h, const struct pythia__series_result *r, size_t series,
                      double top)
{
    const double *values = r->values + series * r->intervals;
    struct scale s = scale_of(values, r->intervals);
    struct pythia_buf name = {0};
    char text[32];
    pythia__series_name(&r->asked->series[series], r->asked->over, &name);
    add_label(h, "name", "start", LEFT, top + 15, name.bytes ? name.bytes : "");
    h->out->failed |= name.failed;
    pythia_buf_free(&name);
    top += TITLE;
    pythia__html_open(h, "rect", "class", "frame", NULL);
    pythia__html_attribute_printf(h, "x", "%d", LEFT);
    pythia__html_attribute_printf(h, "y", "%.2f", top);
    pythia__html_attribute_printf(h, "width", "%d", WIDTH - LEFT - RIGHT);
    pythia__html_attribute_printf(h, "height", "%d", PLOT);
    pythia__html_close(h);
    if (s.low > s.high) { /* nothing but intervals without a value */
        add_label(h, "scale", "start", LEFT + 8, top + PLOT / 2., "no value");
        return;
    }
    snprintf(text, sizeof(text), "%.6g", s.high);
    add_label(h, "scale", "end", LEFT - 6, top + 10, text);
    snprintf(text, sizeof(text), "%.6g", s.low);
    add_label(h, "scale", "end", LEFT - 6, top + PLOT, text);
    add_series_line(h, values, r->intervals, &s, top);
}

static void add_picture(struct pythia__html *h, const struct pythia__series_result *r, bool alone)
{
    size_t count = r->intervals > 0 ? r->asked->count : 0;
    count = count < PANELS_MAX ? count : PANELS_MAX;
    double height = (double)count * PANEL + FOOT;
    char text[40];
    pythia__html_open(h, "svg", "role", "img", "aria-label", "Series over time", NULL);
    if (alone)
        pythia__html_attribute(h, "xmlns", "http://www.w3.org/2000/svg");
    pythia__html_attribute_printf(h, "viewBox", "0 0 %d %.0f", WIDTH, height);
    pythia__html_attribute_printf(h, "width", "%d", WIDTH);
    pythia__html_attribute_printf(h, "height", "%.0f", height);
    pythia__html_open(h, "style", NULL);
    pythia__html_style(h, rules, sizeof(rules) / sizeof(rules[0]));
    pythia__html_close(h);
    if (alone) { /* what shows a picture by itself has paper of its own, white in the dark too */
        pythia__html_open(h, "rect", "class", "paper", "width", "100%", "height", "100%", NULL);
        pythia__html_close(h);
    }
    for (size_t i = 0; i < count; i++)
        add_panel(h, r, i, (double)i * PANEL);
    if (count > 0) {
        add_label(h, "scale", "start", LEFT, height - 12, pythia__series_time(r->first_ns, text));
        add_label(h, "scale", "end", WIDTH - RIGHT, height - 12,
                  pythia__series_time(r->last_ns, text));
    }
    pythia__html_close(h);
}

int pythia__series_svg(const struct pythia__series_result *r, struct pythia_buf *out)
{
    struct pythia__html h = {.out = out};
    add_picture(&h, r, true);
    pythia__html_end(&h);
    return pythia_buf_status(out);
}

void pythia__series_draw(struct pythia__html *h, const void *result)
{
    pythia__html_open(h, "div", "class", "wide", NULL);
    add_picture(h, result, false);
    pythia__html_close(h);
}
