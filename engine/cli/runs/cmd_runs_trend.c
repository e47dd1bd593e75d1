/* `pythia runs trend`: a metric over time, or over a size. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "runs_filter.h"
#include "shared/command.h"

struct settings {
    struct pythia__runs_settings runs;
    const char *metric, *x, *output;
    int format;
};

static const struct pythia_option options[] = {
    PYTHIA__RUNS_OPTIONS(offsetof(struct settings, runs)),
    PYTHIA__RUNS_TAG(offsetof(struct settings, runs)),
    {"metric", 0, PYTHIA_OPTION_TEXT, "NAME", "wall", NULL, 0, 0, offsetof(struct settings, metric),
     "Number to show: wall, user, sys, cpu, max_rss, major_faults, minor_faults, "
     "voluntary_switches, involuntary_switches, in_blocks, out_blocks, read_bytes, write_bytes"},
    PYTHIA_TEXT_OPTION("x", 'x', "meta.KEY", offsetof(struct settings, x),
                       "Show the number over this datum instead of over time, and fit a power law"),
    PYTHIA_CHOICE("format", 'f', "text|svg", "text", offsetof(struct settings, format),
                  "Format of the output: a table with bars, or a picture"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

struct point {
    int64_t id;
    uint64_t started_ns;
    double x, y; /* x: by --x, else the place in the order of time */
    char tag[64];
    int colour; /* of the tag: how many other tags came before it */
};

struct trend {
    const struct settings *s;
    const char *key; /* of --x without "meta."; NULL: time */
    int metric;
    struct point *points; /* owned */
    size_t count, capacity;
    uint64_t without; /* runs that lack the metric or the datum */
};

static double find_x(const struct trend *t, const struct pythia_run *run)
{
    if (!t->key)
        return (double)t->count;
    for (size_t i = 0; i < run->meta_count; i++)
        if (strcmp(run->meta[i].key, t->key) == 0) {
            char *end;
            double x = strtod(run->meta[i].value, &end);
            return *end || end == run->meta[i].value || !isfinite(x) ? (double)NAN : x;
        }
    return NAN;
}

/* Tags are coloured in the order in which they first come. */
static int find_colour(const struct trend *t, const char *tag)
{
    int most = -1;
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->points[i].tag, tag) == 0)
            return t->points[i].colour;
        most = t->points[i].colour > most ? t->points[i].colour : most;
    }
    return most + 1;
}

static int add_trend_run(void *context, const struct pythia_run *run)
{
    struct trend *t = context;
    int64_t y = run->metrics[t->metric];
    double x = find_x(t, run);
    if (y < 0 || isnan(x)) {
        t->without++;
        return PYTHIA_OK;
    }
    if (pythia_grow(&t->points, &t->capacity, t->count, sizeof(*t->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct point p = {.id = run->id, .started_ns = run->started_ns, .x = x, .y = (double)y};
    const char *tag = run->tag ? run->tag : "-";
    size_t size = strlen(tag) < sizeof(p.tag) ? strlen(tag) : sizeof(p.tag) - 1;
    memcpy(p.tag, tag, size);
    p.colour = find_colour(t, p.tag);
    t->points[t->count++] = p;
    return PYTHIA_OK;
}

static int compare_points(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* ---- the exponent ---- */

struct power {
    double exponent, low, high, factor; /* y = factor * x^exponent; 95 % interval */
    size_t n;
};

/* A line through log y over log x, by least squares. False: fewer than three points of two sizes
 * and more, of which all are positive. */
static bool fit_power(const struct trend *t, struct power *out)
{
    double *x = pythia_calloc(2 * t->count + 1, sizeof(*x)), *y = x ? x + t->count : NULL;
    size_t n = 0, sizes = 0;
    for (size_t i = 0; x && i < t->count; i++) {
        if (t->points[i].x <= 0 || t->points[i].y <= 0)
            continue;
        x[n] = log(t->points[i].x);
        y[n] = log(t->points[i].y);
        sizes += n == 0 || x[n] != x[n - 1];
        n++;
    }
    double c0, c1, cov00, cov01, cov11, sum;
    bool good = n >= 3 && sizes >= 2 &&
                gsl_fit_linear(x, 1, y, 1, n, &c0, &c1, &cov00, &cov01, &cov11, &sum) == 0;
    if (good) {
        double margin = gsl_cdf_tdist_Qinv(.025, (double)n - 2) * sqrt(cov11);
        *out = (struct power){c1, c1 - margin, c1 + margin, exp(c0), n};
    }
    pythia_free(x);
    return good;
}

static void add_power(const struct trend *t, struct pythia_buf *to)
{
    struct power p;
    if (!t->key)
        return;
    if (fit_power(t, &p))
        pythia_buf_printf(to, "%s grows with %s^%.2f (%.2f to %.2f), %zu runs\n",
                          pythia_run_metrics[t->metric].name, t->key, p.exponent, p.low, p.high,
                          p.n);
    else
        pythia_buf_puts(to, "No exponent: it requires at least three runs with two different "
                            "sizes above 0\n");
}

/* ---- text ---- */

#define BAR 30

static void write_trend_text(const struct trend *t, struct pythia_buf *to)
{
    double most = 0;
    for (size_t i = 0; i < t->count; i++)
        most = fmax(most, t->points[i].y);
    pythia_buf_printf(to, "    run  started              tag           %12s  %s\n",
                      t->key ? t->key : "", pythia_run_metrics[t->metric].name);
    for (size_t i = 0; i < t->count; i++) {
        const struct point *p = &t->points[i];
        struct pythia_buf value = {0};
        pythia_buf_printf(to, "%7" PRId64 "  ", p->id);
        pythia__runs_add_time(to, p->started_ns);
        size_t columns = pythia_glyph_count(pythia_text_of(p->tag));
        pythia_buf_puts(to, "  ");
        pythia_shown_add(to, pythia_text_of(p->tag), 14);
        pythia_buf_printf(to, "%*s", columns < 14 ? (int)(14 - columns) : 0, "");
        if (t->key)
            pythia_buf_printf(to, "%12.6g  ", p->x);
        else
            pythia_buf_printf(to, "%12s  ", "");
        pythia__runs_add_value(&value, pythia_run_metrics[t->metric].unit, p->y);
        pythia_buf_printf(to, "%9s  ", value.bytes ? value.bytes : "");
        pythia_buf_free(&value);
        for (int b = 0; b < (int)lround(most > 0 ? BAR * p->y / most : 0); b++)
            pythia_buf_puts(to, "█");
        pythia_buf_putc(to, '\n');
    }
    add_power(t, to);
}

/* ---- picture ---- */

#define LEFT   90.
#define TOP    40.
#define WIDTH  860.
#define HEIGHT 360.

/* Places are on logarithmic axes with --x, where a power is a straight line, else on linear ones
 * that begin at 0: a trend must not look steeper than it is. */
struct scale {
    double low, high;
    bool logarithmic;
};

static double place_in(const struct scale *s, double value)
{
    if (s->logarithmic)
        return s->high > s->low ? log(value / s->low) / log(s->high / s->low) : .5;
    return s->high > s->low ? (value - s->low) / (s->high - s->low) : .5;
}

static const int hues[] = {212, 5, 130, 280, 40, 180}; /* of tags, in turn */

static void draw_legend(const struct trend *t, struct pythia_buf *to)
{
    double x = LEFT;
    int seen = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->points[i].colour < seen)
            continue;
        seen = t->points[i].colour + 1;
        pythia_buf_printf(to,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"hsl(%d,70%%,42%%)\"/>"
                          "<text x=\"%.1f\" y=\"%.1f\">",
                          x, TOP + HEIGHT + 44, hues[t->points[i].colour % 6], x + 8,
                          TOP + HEIGHT + 48);
        pythia_shown_markup(to, pythia_text_of(t->points[i].tag));
        pythia_buf_puts(to, "</text>\n");
        x += 24 + 7. * (double)pythia_glyph_count(pythia_text_of(t->points[i].tag));
        if (x > LEFT + WIDTH - 60)
            break;
    }
}

static void draw_points(const struct trend *t, const struct scale *sx, const struct scale *sy,
                        struct pythia_buf *to)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct point *p = &t->points[i];
        struct pythia_buf value = {0};
        if ((sx->logarithmic && p->x <= 0) || (sy->logarithmic && p->y <= 0))
            continue;
        pythia__runs_add_value(&value, pythia_run_metrics[t->metric].unit, p->y);
        pythia_buf_printf(to,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"hsl(%d,70%%,42%%)\">"
                          "<title>run %" PRId64 ", ",
                          LEFT + WIDTH * place_in(sx, p->x),
                          TOP + HEIGHT * (1 - place_in(sy, p->y)), hues[p->colour % 6], p->id);
        pythia_shown_markup(to, pythia_text_of(p->tag));
        pythia_buf_printf(to, ", %s</title></circle>\n", value.bytes ? value.bytes : "");
        pythia_buf_free(&value);
    }
}

static void draw_axis_values(const struct trend *t, const struct scale *sx, const struct scale *sy,
                             struct pythia_buf *to)
{
    const double ys[] = {sy->low, sy->logarithmic ? sqrt(sy->low * sy->high) : sy->high / 2,
                         sy->high};
    for (size_t i = 0; i < 3; i++) {
        struct pythia_buf value = {0};
        double y = TOP + HEIGHT * (1 - place_in(sy, ys[i]));
        pythia__runs_add_value(&value, pythia_run_metrics[t->metric].unit, ys[i]);
        pythia_buf_printf(to,
                          "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                          "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                          LEFT, LEFT + WIDTH, y, y, LEFT - 8, y + 4,
                          value.bytes ? value.bytes : "");
        pythia_buf_free(&value);
    }
    if (!t->key)
        return;
    pythia_buf_printf(to, "<text x=\"%.0f\" y=\"%.0f\">%.6g</text>\n", LEFT, TOP + HEIGHT + 20,
                      sx->low);
    pythia_buf_printf(to, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%.6g</text>\n",
                      LEFT + WIDTH, TOP + HEIGHT + 20, sx->high);
}

/* A trend over a datum has logarithmic axes, on which a power is a line; values of 0 and below
 * have no place on them. */
static void write_svg(const struct trend *t, struct pythia_buf *to)
{
    struct scale sx = {INFINITY, -INFINITY, t->key != NULL},
                 sy = {INFINITY, -INFINITY, sx.logarithmic};
    for (size_t i = 0; i < t->count; i++) {
        const struct point *p = &t->points[i];
        if (sx.logarithmic && (p->x <= 0 || p->y <= 0))
            continue;
        sx.low = fmin(sx.low, p->x);
        sx.high = fmax(sx.high, p->x);
        sy.low = fmin(sy.low, p->y);
        sy.high = fmax(sy.high, p->y);
    }
    if (!sy.logarithmic)
        sy.low = 0;
    pythia_buf_puts(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 980 470\" "
                        "width=\"980\" height=\"470\" font-family=\"system-ui, sans-serif\" "
                        "font-size=\"12\">\n<rect width=\"980\" height=\"470\" fill=\"#fff\"/>\n"
                        "<text x=\"90\" y=\"22\" font-size=\"15\">");
    pythia_buf_printf(to, "%s of runs over ", pythia_run_metrics[t->metric].help);
    pythia_shown_markup(to, pythia_text_of(t->key ? t->key : "time"));
    pythia_buf_puts(to, "</text>\n");
    draw_axis_values(t, &sx, &sy, to);
    struct power p;
    if (t->key && fit_power(t, &p))
        pythia_buf_printf(
            to,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#888\" "
            "stroke-dasharray=\"5 4\"/><text x=\"%.0f\" y=\"22\" "
            "text-anchor=\"end\">exponent %.2f (%.2f to %.2f)</text>\n",
            LEFT, TOP + HEIGHT * (1 - place_in(&sy, p.factor * pow(sx.low, p.exponent))),
            LEFT + WIDTH, TOP + HEIGHT * (1 - place_in(&sy, p.factor * pow(sx.high, p.exponent))),
            LEFT + WIDTH, p.exponent, p.low, p.high);
    draw_points(t, &sx, &sy, to);
    draw_legend(t, to);
    pythia_buf_puts(to, "</svg>\n");
}

/* ---- all of it ---- */

static int check_trend_settings(struct trend *t)
{
    t->metric = pythia_run_metric_find(t->s->metric);
    if (t->metric < 0) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "--metric %s: no such number (pythia runs trend --help lists "
                   "them)",
                   t->s->metric);
        return PYTHIA__EXIT_USAGE;
    }
    if (t->s->x && strncmp(t->s->x, "meta.", 5) != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "--x %s: expected meta.KEY", t->s->x);
        return PYTHIA__EXIT_USAGE;
    }
    t->key = t->s->x ? t->s->x + 5 : NULL;
    return PYTHIA__EXIT_DONE;
}

/* Runs come from the store in order of time; over a datum they are sorted by it. */
static int run_trend(const void *settings, char *const *operands, int count)
{
    struct trend t = {.s = settings};
    struct pythia__runs_filter f = {0};
    struct pythia_buf text = {0};
    (void)operands;
    (void)count;
    int code = check_trend_settings(&t);
    if (code == PYTHIA__EXIT_DONE)
        code = pythia__runs_begin(&f, &t.s->runs);
    if (code == PYTHIA__EXIT_DONE) {
        int status = pythia__runs_each(&f, 0, add_trend_run, &t);
        if (t.key && t.count > 1)
            qsort(t.points, t.count, sizeof(*t.points), compare_points);
        if (status == PYTHIA_OK && t.count > 0)
            (t.s->format ? write_svg : write_trend_text)(&t, &text);
        if (t.without > 0)
            pythia_log(PYTHIA_LOG_WARNING,
                       "Runs without the number or the datum were left out: runs=%" PRIu64,
                       t.without);
        code = status == PYTHIA_OK && t.count == 0 ? PYTHIA__EXIT_TOO_FEW
                                                   : pythia__runs_write(t.s->output, &text, status);
        if (code == PYTHIA__EXIT_TOO_FEW)
            pythia_log(PYTHIA_LOG_WARNING, "No run matches (pythia runs list shows all runs)");
    }
    pythia_free(t.points);
    pythia__runs_end(&f);
    return code;
}

const struct pythia__command pythia__cmd_runs_trend = {
    .name = "runs trend",
    .operands = "",
    .summary = "Show how a number develops over recorded runs",
    .description =
        "Shows a number of each run, in order of time. With --x it is shown over a datum that was "
        "recorded with --meta, such as the size of the input, and the exponent of its growth is "
        "fitted: a line through the logarithms of both, by least squares, with its 95 % interval. "
        "1 is linear, 2 quadratic.",
    .examples = "# Does the sort get slower over time, or with its input?\n"
                "pythia run --db runs.db --meta size=1000 -- sort README.md > /dev/null\n"
                "pythia runs trend --db runs.db --command sort\n"
                "pythia runs trend --db runs.db --x meta.size --metric cpu\n",
    .exits = "0 done, 1 failed (also: there is no file of runs), 2 wrong usage, 4 no run matches.",
    .see_also = "pythia-run(1), pythia-runs-list(1), pythia-runs-compare(1), pythia-runs(7)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 0,
    .operands_max = 0,
    .run = run_trend,
};
