/* The search as a picture over its cycles, drawn by SVG: how much of the variance is explained, how
 * many trace points are open and when each was opened or closed, how many spans are saved, and when
 * causes were found. Places are percentages of the width and heights are pixels, as in the
 * histogram; the table below it says the same in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pictures.h"
#include "sentences/sentences.h"
#include "write/page_pieces.h"
#include "write/words.h"

#define LEFT       7.5 /* percent, for the numbers of the scales */
#define RIGHT      1.
#define CELLS_MIN  4    /* so many cycles have room: one or two do not fill the picture */
#define CYCLES_MAX 1000 /* drawn; no screen shows more */
#define TICKS_MAX  16
#define STACK_MAX  5  /* marks above each other; the last one stands for all others */
#define NAMES_MAX  20 /* listed by such a mark */
#define MARK       9  /* pixels from one mark of a stack to the next */
#define HEAD       20 /* of a panel: its title */
#define SPACE      14 /* between panels */
#define ROW        14 /* of numbers of causes */
#define NEAR       4. /* percent; numbers that are nearer stand in two rows */

enum { EXPLAINED = 70, OPEN = 70, SAVED = 50 }; /* heights */

struct panel {
    double top, bottom;
};

/* Texts of what was switched or found, in the document. */
struct texts {
    struct text {
        struct pythia_text name, reason;
    } * list;
    size_t count;
};

struct cycle {
    struct pythia_text name; /* "7", "4-17" */
    double number, explained, points, seen, saved;
    struct texts opened, closed, found;
};

struct pythia__timeline {
    struct cycle *cycles;
    size_t count;
    double limit; /* of points that may be open at once; NaN: none */
};

struct timeline {
    struct pythia__html *h;
    const struct pythia__timeline *of;
    size_t count;    /* of cycles that are drawn */
    double cell;     /* width of a cycle, percent */
    double most;     /* points, at the top of the scale */
    double limit;    /* of points; NaN: none */
    size_t up, down; /* marks in the highest stacks */
    double half;     /* a mark is twice as wide, pixels */
    double lift;     /* pixels, for a second row of numbers of causes; 0: one is enough */
    struct panel explained, open, saved;
    double middle; /* between the marks of what is opened and of what is closed */
    double height;
};

/* ---- what is drawn ---- */

static struct texts copy_timeline_switches(struct pythia__doc *d, const struct pythia_vocabulary *v,
                                           const struct pythia_loop_switch *list, size_t count)
{
    struct texts out = {pythia__doc_alloc(d, (count + 1) * sizeof(*out.list)), count};
    for (size_t i = 0; out.list && i < count; i++)
        out.list[i] = (struct text){pythia_vocabulary_tracepoint_id(v, list[i].tracepoint),
                                    pythia__doc_copy(d, pythia_text_of(list[i].reason))};
    return out;
}

/* "97 % of the variance lies inside A" */
static struct texts copy_found(struct pythia__doc *d, const struct pythia_vocabulary *v,
                               const struct pythia_loop_cycle *c)
{
    struct texts out = {pythia__doc_alloc(d, (c->found_count + 1) * sizeof(*out.list)),
                        c->found_count};
    struct pythia__doc_line *line = d->line;
    for (size_t i = 0; out.list && i < c->found_count; i++) {
        struct pythia__doc_line said = {0};
        struct pythia_buf text = {0};
        d->line = &said;
        pythia__say_finding(d, v, &c->found[i].cause);
        pythia__doc_plain(&said, &text);
        out.list[i].name = pythia__doc_copy(d, pythia_buf_text(&text));
        d->failed = d->failed || text.failed;
        pythia_buf_free(&text);
    }
    d->line = line;
    return out;
}

static struct pythia_text name_of_cycle(struct pythia__doc *d, const struct pythia_loop_cycle *c)
{
    char text[64];
    if (c->more > 0 && c->number > 0)
        (void)snprintf(text, sizeof(text), "%zu-%zu", (size_t)(c->number - c->more),
                       (size_t)c->number);
    else
        (void)snprintf(text, sizeof(text), "%zu", (size_t)c->number);
    return pythia__doc_copy(d, pythia_text_of(text));
}

const struct pythia__timeline *pythia__timeline_make(struct pythia__doc *d,
                                                     const struct pythia_vocabulary *v,
                                                     const struct pythia_loop *loop)
{
    struct pythia__timeline *out = pythia__doc_alloc(d, sizeof(*out));
    struct cycle *cycles = pythia__doc_alloc(d, (loop->cycle_count + 1) * sizeof(*cycles));
    if (!out || !cycles)
        return NULL;
    out->cycles = cycles;
    out->count = loop->cycle_count;
    out->limit = loop->budget.points_open > 0 ? (double)loop->budget.points_open : NAN;
    for (size_t i = 0; i < loop->cycle_count; i++) {
        const struct pythia_loop_cycle *c = &loop->cycles[i];
        const struct pythia_problem *p = &c->leading;
        cycles[i] =
            (struct cycle){.name = name_of_cycle(d, c),
                           .number = (double)c->number,
                           .explained = p->type == PYTHIA_NONE ? NAN
                                        : p->cause_count > 0   ? fmin(fmax(0, 1 - p->rest), 1)
                                                               : 0,
                           .points = (double)c->open_count,
                           .seen = (double)c->spans_seen,
                           .saved = (double)c->spans_saved,
                           .opened = copy_timeline_switches(d, v, c->opened, c->opened_count),
                           .closed = copy_timeline_switches(d, v, c->closed, c->closed_count),
                           .found = copy_found(d, v, c)};
    }
    return d->failed ? NULL : out;
}

/* ---- places ---- */

static const struct cycle *cycle_at(const struct timeline *t, size_t i)
{
    return &t->of->cycles[i];
}

static double left_of(const struct timeline *t, size_t i)
{
    return LEFT + t->cell * (double)i;
}

static double smaller_number(size_t a, size_t b)
{
    return (double)(a < b ? a : b);
}

/* The part of the spans that closed trace points saved. */
static double saved_of(const struct cycle *cycle)
{
    return cycle->saved / (cycle->seen + cycle->saved);
}

/* Are there two cycles with causes whose numbers would touch? */
static bool are_near(const struct timeline *t)
{
    double last = -100;
    for (size_t i = 0; i < t->count; i++) {
        if (cycle_at(t, i)->found.count == 0)
            continue;
        if (left_of(t, i) - last < NEAR)
            return true;
        last = left_of(t, i);
    }
    return false;
}

static void measure_timeline(struct timeline *t)
{
    t->count = t->of->count < CYCLES_MAX ? t->of->count : CYCLES_MAX;
    t->cell = (100 - LEFT - RIGHT) / (double)(t->count > CELLS_MIN ? t->count : CELLS_MIN);
    t->half = t->count > 60 ? 3 : 4.5;
    t->limit = t->of->limit;
    t->most = isnan(t->limit) ? 1 : t->limit;
    for (size_t i = 0; i < t->count; i++) {
        const struct cycle *cycle = cycle_at(t, i);
        size_t up = cycle->opened.count, down = cycle->closed.count;
        t->most = fmax(t->most, cycle->points);
        t->up = up > t->up ? up : t->up;
        t->down = down > t->down ? down : t->down;
    }
    t->lift = are_near(t) ? ROW : 0;
    t->explained.top = t->lift + 2 * HEAD;
    t->explained.bottom = t->explained.top + EXPLAINED;
    t->open.top = t->explained.bottom + SPACE + HEAD;
    t->open.bottom = t->open.top + OPEN;
    t->middle = t->open.bottom + 4 + MARK * smaller_number(t->up, STACK_MAX);
    t->saved.top = t->middle + 4 + MARK * smaller_number(t->down, STACK_MAX) + SPACE + HEAD;
    t->saved.bottom = t->saved.top + SAVED;
    t->height = t->saved.bottom + 22;
}

/* ---- pieces ---- */

/* A text that was missing memory leaves the page without a part of it. */
static void give_back(const struct timeline *t, struct pythia_buf *text)
{
    if (text->failed)
        t->h->out->failed = 1;
    pythia_buf_free(text);
}

static void draw_timeline_line(const struct timeline *t, const char *class, double x1, double y1,
                               double x2, double y2)
{
    pythia__html_open(t->h, "line", "class", class, NULL);
    pythia__html_attribute_printf(t->h, "x1", "%.2f%%", x1);
    pythia__html_attribute_printf(t->h, "y1", "%g", y1);
    pythia__html_attribute_printf(t->h, "x2", "%.2f%%", x2);
    pythia__html_attribute_printf(t->h, "y2", "%g", y2);
    pythia__html_close(t->h);
}

static void draw_timeline_label(const struct timeline *t, const char *class, double x, double y,
                                const char *anchor, const char *text)
{
    pythia__html_open(t->h, "text", "class", class, "text-anchor", anchor, NULL);
    pythia__html_attribute_printf(t->h, "x", "%.2f%%", x);
    pythia__html_attribute_printf(t->h, "y", "%g", y);
    if (strcmp(anchor, "end") == 0 && x <= LEFT)
        pythia__html_attribute(t->h, "dx", "-6");
    pythia__html_text(t->h, text);
    pythia__html_close(t->h);
}

/* The scale of a panel, from 0 to `top`, and the lines of both. */
static void draw_panel_frame(const struct timeline *t, const struct panel *p, const char *top)
{
    draw_timeline_label(t, "tick", LEFT, p->top + 4, "end", top);
    draw_timeline_label(t, "tick", LEFT, p->bottom + 4, "end", "0");
    draw_timeline_line(t, "grid", LEFT, p->top, 100 - RIGHT, p->top);
    draw_timeline_line(t, "grid", LEFT, p->bottom, 100 - RIGHT, p->bottom);
}

/* "Cycle 7: " */
static void name_cycle(const struct timeline *t, const char *before, size_t i)
{
    pythia__html_printf(t->h, "%s%s: ", before, cycle_at(t, i)->name.bytes);
}

/* A bar over a cycle, from the bottom of a panel: `part` of its height. */
static void draw_panel_bar(const struct timeline *t, const struct panel *p, const char *class,
                           size_t i, double width, double part, const char *title)
{
    double height = fmin(fmax(part, 0), 1) * (p->bottom - p->top);
    if (!(part >= 0)) /* not known */
        return;
    pythia__html_open(t->h, "rect", "class", class, NULL);
    pythia__html_attribute_printf(t->h, "x", "%.2f%%", left_of(t, i) + t->cell * (1 - width) / 2);
    pythia__html_attribute_printf(t->h, "width", "%.2f%%", t->cell * width);
    pythia__html_attribute_printf(t->h, "y", "%.1f", p->bottom - height);
    pythia__html_attribute_printf(t->h, "height", "%.1f", height);
    pythia__html_open(t->h, "title", NULL);
    name_cycle(t, "Cycle ", i);
    pythia__html_percent(t->h, part);
    pythia__html_text(t->h, title);
    pythia__html_close(t->h);
    pythia__html_close(t->h);
}

/* ---- panels ---- */

static void draw_explained(const struct timeline *t)
{
    draw_panel_frame(t, &t->explained, "100 %");
    for (size_t i = 0; i < t->count; i++)
        draw_panel_bar(t, &t->explained, "explained", i, 1, cycle_at(t, i)->explained,
                       " of the variance explained");
}

static double height_of(const struct timeline *t, double points)
{
    return t->open.bottom - OPEN * points / t->most;
}

static void draw_open(const struct timeline *t)
{
    struct pythia_buf most = {0};
    pythia__add_count(&most, t->most);
    draw_panel_frame(t, &t->open, most.bytes ? most.bytes : "");
    give_back(t, &most);
    if (!isnan(t->limit)) {
        pythia__html_open(t->h, "g", NULL);
        pythia__html_leaf(t->h, "title", NULL, "The most that may be open at once");
        draw_timeline_line(t, "limit", LEFT, height_of(t, t->limit), 100 - RIGHT,
                           height_of(t, t->limit));
        pythia__html_close(t->h);
    }
    for (size_t i = 0; i < t->count; i++) {
        double points = cycle_at(t, i)->points;
        double before = i > 0 ? cycle_at(t, i - 1)->points : points;
        double x = left_of(t, i);
        if (!isfinite(points))
            continue;
        if (isfinite(before) && before != points)
            draw_timeline_line(t, "step", x, height_of(t, before), x, height_of(t, points));
        pythia__html_open(t->h, "g", NULL);
        pythia__html_open(t->h, "title", NULL);
        name_cycle(t, "Cycle ", i);
        pythia__html_things(t->h, points, "trace point open", "trace points open");
        pythia__html_close(t->h);
        draw_timeline_line(t, "step", x, height_of(t, points), x + t->cell, height_of(t, points));
        pythia__html_close(t->h);
    }
}

static void draw_saved(const struct timeline *t)
{
    draw_panel_frame(t, &t->saved, "100 %");
    for (size_t i = 0; i < t->count; i++)
        draw_panel_bar(t, &t->saved, "saved", i, t->count > 60 ? 1 : .85, saved_of(cycle_at(t, i)),
                       " of the spans saved");
}

/* ---- what was opened and closed ---- */

/* The title of a mark: one trace point and why, or all that have no mark of
 * their own. */
static void title_of(const struct timeline *t, size_t cycle, bool opened, const struct texts *list,
                     size_t first, bool rest)
{
    size_t count = list->count;
    pythia__html_open(t->h, "title", NULL);
    name_cycle(t, opened ? "Opened after cycle " : "Closed after cycle ", cycle);
    for (size_t i = first; i < (rest ? count : first + 1) && i < first + NAMES_MAX; i++) {
        pythia__html_text(t->h, i > first ? ", " : "");
        pythia__html_prose(t->h, list->list[i].name.bytes);
    }
    if (rest && count > first + NAMES_MAX)
        pythia__html_printf(t->h, " and %zu more", count - first - NAMES_MAX);
    if (!rest) {
        pythia__html_text(t->h, ": ");
        pythia__html_prose(t->h, list->list[first].reason.bytes);
    }
    pythia__html_close(t->h);
}

/* A triangle that points up or down, or a cross for several: at a percentage of the width, in
 * pixels around its place. */
static void draw_timeline_mark(const struct timeline *t, const char *class, double x, double y,
                               bool up, bool cross)
{
    double half = t->half, tall = up ? -6 : 6;
    pythia__html_open(t->h, "svg", "overflow", "visible", "width", "1", "height", "1", NULL);
    pythia__html_attribute_printf(t->h, "x", "%.2f%%", x);
    pythia__html_attribute_printf(t->h, "y", "%g", y);
    pythia__html_open(t->h, "path", "class", cross ? "cross" : class, NULL);
    if (cross)
        pythia__html_attribute_printf(t->h, "d", "M%g %gH%gM0 0V%g", -half, tall / 2, half, tall);
    else
        pythia__html_attribute_printf(t->h, "d", "M%g 0H%gL0 %gZ", -half, half, tall);
    pythia__html_close(t->h);
    pythia__html_close(t->h);
}

static void stack_marks(const struct timeline *t, size_t i, bool up)
{
    const struct texts *list = up ? &cycle_at(t, i)->opened : &cycle_at(t, i)->closed;
    size_t count = list->count;
    for (size_t k = 0; k < count && k < STACK_MAX; k++) {
        bool rest = k + 1 == STACK_MAX && count > STACK_MAX;
        double y = t->middle + (up ? -2 - MARK * (double)k : 2 + MARK * (double)k);
        pythia__html_open(t->h, "g", NULL);
        title_of(t, i, up, list, k, rest);
        draw_timeline_mark(t, up ? "opened" : "closed", left_of(t, i + 1), y, up, rest);
        pythia__html_close(t->h);
    }
}

static void draw_switches(const struct timeline *t)
{
    if (t->up + t->down == 0)
        return;
    draw_timeline_line(t, "grid", LEFT, t->middle, 100 - RIGHT, t->middle);
    for (size_t i = 0; i < t->count; i++) {
        stack_marks(t, i, true);
        stack_marks(t, i, false);
    }
}

/* ---- causes ---- */

/* A line through all panels in each cycle in which causes were found, with their numbers above it;
 * where two lines are near each other, one of the numbers stands higher. */
static void draw_causes(const struct timeline *t)
{
    size_t number = 0, row = 0;
    double last = -100;
    for (size_t i = 0; i < t->count; i++) {
        const struct texts *found = &cycle_at(t, i)->found;
        double x = left_of(t, i) + t->cell / 2;
        struct pythia_buf numbers = {0};
        if (found->count == 0)
            continue;
        row = x - last < NEAR ? 1 - row : 0;
        last = x;
        double top = t->lift + HEAD - 4 - ROW * (double)row;
        pythia__html_open(t->h, "g", NULL);
        pythia__html_open(t->h, "title", NULL);
        for (size_t k = 0; k < found->count; k++) {
            pythia_buf_printf(&numbers, "%s%zu", k > 0 ? ", " : "", ++number);
            pythia__html_printf(t->h, "%sCause %zu: ", k > 0 ? "; " : "", number);
            pythia__html_prose(t->h, found->list[k].name.bytes);
        }
        pythia__html_close(t->h);
        draw_timeline_line(t, "found", x, top, x, t->saved.bottom);
        pythia__html_open(t->h, "text", "class", "number", NULL);
        pythia__html_attribute_printf(t->h, "x", "%.2f%%", x);
        pythia__html_attribute_printf(t->h, "y", "%g", top);
        pythia__html_attribute(t->h, "dx", x > 94 ? "-5" : "5");
        pythia__html_attribute(t->h, "text-anchor", x > 94 ? "end" : "start");
        pythia__html_text(t->h, numbers.bytes ? numbers.bytes : "");
        pythia__html_close(t->h);
        pythia__html_close(t->h);
        give_back(t, &numbers);
    }
}

/* The titles of the panels: last, so that nothing crosses them. */
static void draw_titles(const struct timeline *t)
{
    draw_timeline_label(t, "name", LEFT, t->explained.top - 7, "start",
                        "Share of the variance explained, for the type searched");
    draw_timeline_label(
        t, "name", LEFT, t->open.top - 7, "start",
        t->up + t->down > 0
            ? "Trace points open beyond the skeleton, and when each was opened or closed"
            : "Trace points open beyond the skeleton");
    draw_timeline_label(t, "name", LEFT, t->saved.top - 7, "start",
                        "Spans saved, as a share of all spans");
}

/* ---- the scale of cycles ---- */

/* 1, 2, 5, 10, 20, …: every so many cycles have their number. */
static size_t step_of(size_t count)
{
    static const size_t steps[] = {1, 2, 5};
    size_t unit = 1;
    for (size_t i = 0;; i++) {
        if (i > 0 && i % 3 == 0)
            unit *= 10;
        if (count / (steps[i % 3] * unit) <= TICKS_MAX)
            return steps[i % 3] * unit;
    }
}

static void draw_numbers(const struct timeline *t)
{
    size_t step = step_of(t->count);
    double y = t->saved.bottom + 17;
    draw_timeline_label(t, "tick", LEFT, y, "end", "cycle");
    for (size_t i = 0; i < t->count; i++) {
        if (i > 0 && (i + 1) % step != 0)
            continue;
        if (i == 0 && (step == 2 || t->cell < (step > 1 ? 2 : 0)))
            continue; /* others are too near */
        double x = left_of(t, i) + t->cell / 2;
        struct pythia_buf number = {0};
        pythia_buf_printf(&number, "%.0f", cycle_at(t, i)->number);
        draw_timeline_label(t, "tick", x, y, x > 97 ? "end" : "middle",
                            number.bytes ? number.bytes : "");
        give_back(t, &number);
    }
}

/* ---- words ---- */

static size_t causes_of(const struct timeline *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        count += cycle_at(t, i)->found.count;
    return count;
}

/* A description of the picture, for those who cannot see it. */
static void describe_timeline(const struct timeline *t)
{
    double explained = NAN, least = NAN, most = NAN, points = 0;
    size_t opened = 0, closed = 0, found = causes_of(t);
    for (size_t i = 0; i < t->count; i++) {
        const struct cycle *cycle = cycle_at(t, i);
        explained = fmax(explained, cycle->explained);
        least = fmin(least, saved_of(cycle));
        most = fmax(most, saved_of(cycle));
        points = fmax(points, cycle->points);
        opened += cycle->opened.count;
        closed += cycle->closed.count;
    }
    pythia__html_open(t->h, "title", "id", "run-title", NULL);
    pythia__html_text(t->h, "The search over its cycles");
    pythia__html_close(t->h);
    pythia__html_open(t->h, "desc", "id", "run-words", NULL);
    pythia__html_things(t->h, (double)t->count, "cycle", "cycles");
    pythia__html_text(t->h, ". At most ");
    pythia__html_percent(t->h, explained);
    pythia__html_text(t->h, " of the variance explained; at most ");
    pythia__html_things(t->h, points, "trace point", "trace points");
    pythia__html_text(t->h, " open beyond the skeleton; ");
    pythia__html_things(t->h, (double)opened, "time one was opened, ", "times one was opened, ");
    pythia__html_count(t->h, (double)closed);
    pythia__html_text(t->h, " closed; ");
    pythia__html_percent(t->h, least);
    pythia__html_text(t->h, " to ");
    pythia__html_percent(t->h, most);
    pythia__html_text(t->h, " of the spans saved; ");
    pythia__html_things(t->h, (double)found, "cause found.", "causes found.");
    pythia__html_text(t->h, " The table below has the same data.");
    pythia__html_close(t->h);
}

/* The causes, with the numbers that they have in the picture. */
static void list_causes(const struct timeline *t)
{
    pythia__html_open(t->h, "ol", NULL);
    for (size_t i = 0; i < t->count; i++) {
        const struct texts *found = &cycle_at(t, i)->found;
        for (size_t k = 0; k < found->count; k++) {
            pythia__html_open(t->h, "li", NULL);
            pythia__html_prose(t->h, found->list[k].name.bytes);
            pythia__html_close(t->h);
        }
    }
    pythia__html_close(t->h);
}

static void write_timeline_caption(const struct timeline *t)
{
    size_t number = causes_of(t), all = t->of->count;
    if (t->up + t->down + number == 0 && isnan(t->limit) && all == t->count)
        return;
    pythia__html_open(t->h, "figcaption", NULL);
    if (t->up + t->down > 0)
        pythia__html_text(t->h, "A filled triangle marks a trace point opened after the cycle, a "
                                "hollow one a trace point closed. Hover over a triangle to see "
                                "which, and why. ");
    if (t->up > STACK_MAX || t->down > STACK_MAX)
        pythia__html_text(t->h, "A cross stands for all triangles that do not fit. ");
    if (!isnan(t->limit))
        pythia__html_text(t->h, "Dotted line: the most that may be open at once. ");
    if (number > 0)
        pythia__html_text(t->h, "Dashed line: a cause was found. ");
    if (all > t->count)
        pythia__html_printf(t->h, "Only the first %zu of %zu cycles are drawn.", t->count, all);
    if (number > 0)
        list_causes(t);
    pythia__html_close(t->h);
}

void pythia__timeline_draw(struct pythia__html *h, const void *timeline)
{
    struct timeline t = {.h = h, .of = timeline};
    measure_timeline(&t);
    pythia__html_open(h, "figure", "class", "run", NULL);
    pythia__html_open(h, "div", "class", "wide", "tabindex", "0", "role", "group", "aria-label",
                      "The search, scrolls sideways", NULL);
    pythia__html_open(h, "svg", "role", "img", "aria-labelledby", "run-title run-words", "width",
                      "100%", NULL);
    pythia__html_attribute_printf(h, "height", "%g", t.height);
    describe_timeline(&t);
    draw_explained(&t);
    draw_open(&t);
    draw_switches(&t);
    draw_saved(&t);
    draw_causes(&t);
    draw_titles(&t);
    draw_numbers(&t);
    pythia__html_close(h);
    pythia__html_close(h);
    write_timeline_caption(&t);
    pythia__html_close(h);
}
