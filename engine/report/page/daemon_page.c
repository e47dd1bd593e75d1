/* A running pythiad as a page: somebody who looks at it wants to know first whether it does
 * anything, then what it found, then what it has opened for that. */
#include "pythia/daemon_page.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "report_html.h"
#include "sentences/sentences.h"

#define FOUND_MAX  20
#define CLOSED_MAX 1000

static bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* "12 s", "3 min", "5 h", "2 days": how long something is ago or lasts. */
static void add_age(struct pythia_buf *to, double seconds)
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{172800, 86400, "days"}, {7200, 3600, "h"}, {120, 60, "min"}, {0, 1, "s"}};
    size_t i = 0;
    while (seconds < units[i].from && i + 1 < sizeof(units) / sizeof(units[0]))
        i++;
    pythia_buf_printf(to, "%.0f %s", fmax(0, floor(seconds / units[i].unit)), units[i].name);
}

static void draw_age(struct pythia__html *h, const struct pythia_daemon_page *p, double unix_ns)
{
    struct pythia_buf text = {0};
    add_age(&text, ((double)p->now_unix_ns - unix_ns) / 1e9);
    pythia__html_text(h, text.bytes ? text.bytes : "");
    if (text.failed)
        h->out->failed = 1;
    pythia_buf_free(&text);
}

/* ---- what it does ---- */

static bool is_state(const json_t *verdict, const char *state)
{
    return strcmp(pythia__string(verdict, "state"), state) == 0;
}

static size_t count_of(const json_t *verdicts, const char *state)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(verdicts); i++)
        count += is_state(json_array_get(verdicts, i), state);
    return count;
}

static void draw_daemon_lead(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    const char *doing = pythia__string(p->status, "doing");
    size_t found = count_of(p->verdicts, "found");
    pythia__html_open(h, "p", "class", "lead", NULL);
    if (strcmp(doing, "stops") == 0)
        pythia__html_text(h, "It stops, and takes in what has come.");
    else if (strcmp(doing, "off") == 0)
        pythia__html_text(h, "It is off: everything is closed until it is told “on”.");
    else if (!(pythia__number(p->status, "spans") > 0))
        pythia__html_text(h, "It waits: no span has come yet.");
    else if (is_true(p->status, "learning"))
        pythia__html_text(h, "It learns which trace points there are.");
    else if (!p->verdicts)
        pythia__html_text(h, "It watches; no cycle has ended yet.");
    else if (found == 0)
        pythia__html_text(h, "It has found nothing that stands out so far.");
    else
        pythia__html_printf(h, "It has found why requests of %zu type%s differ.", found,
                            found == 1 ? "" : "s");
    pythia__html_close(h);
}

static void draw_daemon_head(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    const json_t *s = p->status;
    pythia__html_open(h, "header", NULL);
    pythia__html_open(h, "h1", NULL);
    pythia__html_printf(h, "pythiad %s", pythia__string(s, "version"));
    pythia__html_close(h);
    draw_daemon_lead(h, p);
    pythia__html_open(h, "p", "class", "read", NULL);
    pythia__html_text(h, "In ");
    draw_age(h, p, pythia__number(s, "started_unix_ns"));
    pythia__html_text(h, " it has taken in ");
    pythia__html_things(h, pythia__number(s, "spans"), "span", "spans");
    pythia__html_text(h, " of ");
    pythia__html_things(h, pythia__number(s, "requests"), "request", "requests");
    pythia__html_text(h, ", in ");
    pythia__html_things(h, pythia__number(s, "cycles"), "cycle", "cycles");
    pythia__html_text(h, ".");
    pythia__html_close(h);
    if (is_true(s, "degraded"))
        pythia__html_leaf(h, "p", "warn",
                          "Its state cannot be written: it goes on, but would not remember its "
                          "decisions after a restart.");
    if (strcmp(pythia__string(s, "doing"), "observes") == 0)
        pythia__html_leaf(h, "p", "warn", "It only observes: it is set to switch nothing.");
    pythia__html_close(h);
}

/* ---- what it found ---- */

static void found_row(struct pythia__html *h, const struct pythia_daemon_page *p,
                      const json_t *verdict)
{
    struct pythia_buf link = {0};
    double since = pythia__number(verdict, "since_unix_ns");
    pythia_buf_printf(&link, "%s#", p->report_path);
    pythia__html_group_anchor(&link, pythia__string(verdict, "group"));
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_open(h, "a", "href", link.bytes ? link.bytes : "", NULL);
    pythia__html_name(h, pythia__string(verdict, "request_type"));
    pythia__html_close(h);
    pythia__html_found(h, verdict, verdict);
    pythia__html_notes(h, verdict, verdict);
    pythia__html_close(h);
    pythia__html_cell(h, "n", "found");
    if (since > 0) {
        draw_age(h, p, since);
        pythia__html_text(h, " ago");
    }
    pythia__html_close(h);
    pythia__html_cell(h, "nb", NULL);
    pythia__html_prose(h, pythia__string(verdict, "confidence"));
    pythia__html_close(h);
    pythia__html_cell(h, "n", "requests");
    pythia__html_count(h, pythia__number(verdict, "requests"));
    pythia__html_close(h);
    pythia__html_close(h);
    if (link.failed)
        h->out->failed = 1;
    pythia_buf_free(&link);
}

static void found_table(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    static const char *const labels[] = {"Requests of", ">Found", "Confidence",
                                         ">Requests in the last cycle"};
    size_t shown = 0;
    pythia__html_open(h, "table", "class", "stack", NULL);
    pythia__html_head_cells(h, labels, sizeof(labels) / sizeof(labels[0]));
    pythia__html_open(h, "tbody", NULL);
    for (size_t i = 0; i < json_array_size(p->verdicts) && shown < FOUND_MAX; i++) {
        const json_t *verdict = json_array_get(p->verdicts, i);
        if (!is_state(verdict, "found"))
            continue;
        found_row(h, p, verdict);
        shown++;
    }
    pythia__html_close(h);
    pythia__html_close(h);
}

/* What is not found yet, or is nothing. */
static void other_verdicts(struct pythia__html *h, const json_t *verdicts)
{
    static const struct {
        const char *state, *one, *many;
    } states[] = {
        {"searching", "type is searched", "types are searched"},
        {"nothing", "has nothing that stands out", "have nothing that stands out"},
        {"too_few", "has too few requests", "have too few requests"},
        {"learning", "is not known yet", "are not known yet"},
    };
    size_t told = 0;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        size_t count = count_of(verdicts, states[i].state);
        if (count == 0)
            continue;
        pythia__html_printf(h, "%s%zu %s%s", told > 0 ? ", " : "", count,
                            told > 0 || i == 0 ? ""
                            : count == 1       ? "type "
                                               : "types ",
                            count == 1 ? states[i].one : states[i].many);
        told++;
    }
    pythia__html_text(h, told > 0 ? ". " : "");
}

static void draw_daemon_verdicts(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    size_t of = count_of(p->verdicts, "found");
    if (of > 0)
        found_table(h, p);
    pythia__html_open(h, "p", NULL);
    if (!p->verdicts) {
        pythia__html_text(h, "There is a report when the first cycle has ended.");
    } else {
        if (of > FOUND_MAX)
            pythia__html_printf(h, "%zu more are in the report. ", of - FOUND_MAX);
        other_verdicts(h, p->verdicts);
        pythia__html_open(h, "a", "href", p->report_path, NULL);
        pythia__html_text(h, "The report of the last cycle");
        pythia__html_close(h);
    }
    pythia__html_close(h);
}

/* ---- trace points ---- */

/* What a person wants to see first: what is open, or was told by hand, or does not obey. */
static bool stands_out(const json_t *point)
{
    return is_true(point, "wanted") || is_true(point, "pinned") || is_true(point, "quarantined") ||
           strcmp(pythia__string(point, "result"), "refused") == 0;
}

/* Of a mute point it is told what went by. */
static void since_opened(struct pythia__html *h, const json_t *point)
{
    pythia__html_count(h, pythia__number(point, "spans"));
    if (!is_true(point, "mute"))
        return;
    pythia__html_open(h, "span", "class", "sub", NULL);
    pythia__html_text(h, "none of ");
    pythia__html_things(h, pythia__number(point, "requests"), "request", "requests");
    pythia__html_close(h);
}

/* The request types that a point is open for, if it is not open for all. */
static void only_types(struct pythia__html *h, const json_t *types)
{
    if (json_array_size(types) == 0)
        return;
    pythia__html_open(h, "span", "class", "sub", NULL);
    for (size_t i = 0; i < json_array_size(types); i++) {
        pythia__html_text(h, i == 0 ? "only for " : " and ");
        pythia__html_name(h, json_string_value(json_array_get(types, i)));
    }
    pythia__html_close(h);
}

static void point_row(struct pythia__html *h, const json_t *point)
{
    double price = pythia__number(point, "price_ns");
    bool measured = strcmp(pythia__string(point, "price_known"), "measured") == 0;
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_name(h, pythia__string(point, "trace_point"));
    only_types(h, json_object_get(point, "types"));
    pythia__html_close(h);
    pythia__html_cell(h, "nb", NULL);
    pythia__html_printf(h, "%s%s%s%s", is_true(point, "wanted") ? "open" : "closed",
                        is_true(point, "mute") ? ", mute" : "",
                        is_true(point, "pinned") ? ", pinned" : "",
                        is_true(point, "quarantined") ? ", in quarantine" : "");
    pythia__html_close(h);
    pythia__html_cell(h, "nb", NULL);
    pythia__html_prose(h, pythia__string(point, "result"));
    pythia__html_close(h);
    pythia__html_cell(h, "n", "hits");
    pythia__html_count(h, pythia__number(point, "hits"));
    pythia__html_close(h);
    pythia__html_cell(h, "n", "spans since it was opened");
    if (is_true(point, "wanted"))
        since_opened(h, point);
    pythia__html_close(h);
    pythia__html_cell(h, "n", "price");
    if (price > 0) {
        pythia__html_text(h, measured ? "" : "about ");
        pythia__html_duration(h, price);
    }
    pythia__html_close(h);
    pythia__html_cell(h, "nb", NULL);
    pythia__html_prose(h, pythia__string(point, "plane"));
    pythia__html_close(h);
    pythia__html_close(h);
}

/* Those that stand out or the others; returns how many there are. */
static size_t point_table(struct pythia__html *h, const json_t *points, bool outstanding,
                          size_t most)
{
    static const char *const labels[] = {
        "Trace point", "Wanted", "At the target", ">Hits", ">Since it was opened", ">Price", "By"};
    size_t count = 0;
    pythia__html_open(h, "table", "class", "stack", NULL);
    pythia__html_head_cells(h, labels, sizeof(labels) / sizeof(labels[0]));
    pythia__html_open(h, "tbody", NULL);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        if (stands_out(point) == outstanding && count++ < most)
            point_row(h, point);
    }
    pythia__html_close(h);
    pythia__html_close(h);
    return count;
}

static size_t count_outstanding(const json_t *points)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(points); i++)
        count += stands_out(json_array_get(points, i));
    return count;
}

static void draw_daemon_points(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    size_t all = json_array_size(p->points), outstanding = count_outstanding(p->points);
    if (all == 0) {
        pythia__html_leaf(h, "p", NULL,
                          "None is known that could be switched: no control plane has told of any. "
                          "What comes is watched as it is.");
        return;
    }
    if (outstanding > 0)
        point_table(h, p->points, true, SIZE_MAX);
    else
        pythia__html_leaf(h, "p", NULL, "None is open.");
    if (all > outstanding) {
        pythia__html_open(h, "details", NULL);
        pythia__html_open(h, "summary", NULL);
        pythia__html_things(h, (double)(all - outstanding), "trace point is", "trace points are");
        pythia__html_text(h, " closed");
        pythia__html_close(h);
        size_t count = point_table(h, p->points, false, CLOSED_MAX);
        if (count > CLOSED_MAX)
            pythia__html_printf(h, "and %zu more: pythia ctl points", count - CLOSED_MAX);
        pythia__html_close(h);
    }
    pythia__html_open(h, "p", "class", "note", NULL);
    pythia__html_text(h, "By hand: ");
    pythia__html_leaf(h, "code", NULL, "pythia ctl open ID");
    pythia__html_text(h, ", ");
    pythia__html_leaf(h, "code", NULL, "close ID");
    pythia__html_text(h, " or ");
    pythia__html_leaf(h, "code", NULL, "unpin ID");
    pythia__html_text(h, "; ");
    pythia__html_leaf(h, "code", NULL, "pythia ctl off");
    pythia__html_text(
        h, " closes all. A price is of one pass, in the program that is traced; “about”: "
           "what others cost stands for it. A mute point is open, and none of the "
           "requests passed it that could have.");
    pythia__html_close(h);
}

/* ---- decisions ---- */

/* At what price it was decided; of one that closes, what the point has given. */
static void decision_price(struct pythia__html *h, const json_t *decision)
{
    double price = pythia__number(decision, "price_ns");
    if (price > 0) {
        pythia__html_text(h, "; a pass costs ");
        pythia__html_duration(h, price);
        pythia__html_printf(h, ", %s", pythia__string(decision, "price_known"));
    }
    if (!is_true(decision, "open") && json_is_number(json_object_get(decision, "spans"))) {
        pythia__html_text(h, "; it gave ");
        pythia__html_things(h, pythia__number(decision, "spans"), "span", "spans");
    }
}

/* Without its cycle: cycles are numbered anew at each start, and these may be of several. */
static void decision_row(struct pythia__html *h, const struct pythia_daemon_page *p,
                         const json_t *decision)
{
    pythia__html_open(h, "tr", NULL);
    pythia__html_cell(h, "n", NULL);
    draw_age(h, p, pythia__number(decision, "unix_ns"));
    pythia__html_text(h, " ago");
    pythia__html_close(h);
    pythia__html_open(h, "th", "scope", "row", NULL);
    bool would = json_is_false(json_object_get(decision, "switchable"));
    pythia__html_leaf(h, "strong", NULL,
                      is_true(decision, "open") ? would ? "would open " : "opens "
                      : would                   ? "would close "
                                                : "closes ");
    pythia__html_name(h, pythia__string(decision, "trace_point"));
    pythia__html_open(h, "span", "class", "sub", NULL);
    pythia__html_prose(h, pythia__string(decision, "reason"));
    decision_price(h, decision);
    pythia__html_close(h);
    pythia__html_close(h);
    pythia__html_cell(h, "full", NULL);
    pythia__html_name(h, pythia__string(decision, "request_type"));
    pythia__html_close(h);
    pythia__html_close(h);
}

static void draw_decisions(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    static const char *const labels[] = {">When", "Decision", "For requests of"};
    if (json_array_size(p->decisions) == 0) {
        pythia__html_leaf(h, "p", NULL, "None yet.");
        return;
    }
    pythia__html_open(h, "table", "class", "stack", NULL);
    pythia__html_head_cells(h, labels, sizeof(labels) / sizeof(labels[0]));
    pythia__html_open(h, "tbody", NULL);
    for (size_t i = 0; i < json_array_size(p->decisions); i++)
        decision_row(h, p, json_array_get(p->decisions, i));
    pythia__html_close(h);
    pythia__html_close(h);
}

/* ---- health ---- */

static void plane_row(struct pythia__html *h, const json_t *plane)
{
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_prose(h, pythia__string(plane, "name"));
    pythia__html_close(h);
    pythia__html_cell(h, "nb", NULL);
    pythia__html_text(h, !is_true(plane, "reachable") ? "not reached"
                         : is_true(plane, "in_force") ? "in force"
                                                      : "not in force yet");
    pythia__html_close(h);
    pythia__html_cell(h, "n", "trace points");
    pythia__html_count(h, pythia__number(plane, "points"));
    pythia__html_close(h);
    pythia__html_cell(h, "n", "targets lost");
    pythia__html_count(h, pythia__number(plane, "lost_targets"));
    pythia__html_close(h);
    pythia__html_cell(h, "full", NULL);
    pythia__html_prose(h, pythia__string(plane, "why"));
    pythia__html_close(h);
    pythia__html_close(h);
}

static void draw_status_figure(struct pythia__html *h, const json_t *status, const char *key,
                               const char *words)
{
    pythia__html_open(h, "div", NULL);
    pythia__html_leaf(h, "dt", NULL, words);
    pythia__html_open(h, "dd", NULL);
    pythia__html_count(h, pythia__number(status, key));
    pythia__html_close(h);
    pythia__html_close(h);
}

static void draw_health(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    static const char *const labels[] = {"Control plane", "The desired set is", ">Trace points",
                                         ">Targets lost", "Why"};
    static const char *const figures[][2] = {
        {"open_requests", "Requests that are not finished yet"},
        {"requests_apart",
         "Requests kept apart, because a switch was under way or a target lost what it had"},
        {"spans_dropped", "Spans left out: broken, late, or of what is closed"},
        {"spans_refused", "Spans refused, whose senders were told to come again"},
        {"request_types", "Request types, known or being learnt"},
        {"learnt_types", "Request types that are searched"},
        {"problems_waiting", "Of them, those that waited for their turn in the last cycle"},
        {"quarantined", "Trace points in quarantine, because they do not obey"},
        {"mute", "Trace points that are open, and that no request passed of those that could have"},
    };
    const json_t *planes = pythia__array(p->status, "planes");
    if (json_array_size(planes) > 0) {
        pythia__html_open(h, "table", "class", "stack", NULL);
        pythia__html_head_cells(h, labels, sizeof(labels) / sizeof(labels[0]));
        pythia__html_open(h, "tbody", NULL);
        for (size_t i = 0; i < json_array_size(planes); i++)
            plane_row(h, json_array_get(planes, i));
        pythia__html_close(h);
        pythia__html_close(h);
    }
    pythia__html_open(h, "dl", "class", "figures", NULL);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        draw_status_figure(h, p->status, figures[i][0], figures[i][1]);
    pythia__html_close(h);
    pythia__html_open(h, "p", "class", "note", NULL);
    pythia__html_text(h, "All numbers, with reasons: ");
    pythia__html_open(h, "a", "href", "/metrics", NULL);
    pythia__html_text(h, "/metrics");
    pythia__html_close(h);
    pythia__html_close(h);
}

/* ---- the page ---- */

static const struct {
    const char *id, *title;
    void (*write)(struct pythia__html *h, const struct pythia_daemon_page *p);
} parts[] = {
    {"found", "What it found", draw_daemon_verdicts},
    {"points", "Trace points", draw_daemon_points},
    {"decisions", "Decisions, the latest first", draw_decisions},
    {"health", "How it is", draw_health},
};

static void draw_daemon_navigation(struct pythia__html *h)
{
    pythia__html_open(h, "nav", "aria-label", "Parts of this page", NULL);
    pythia__html_open(h, "ul", NULL);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        pythia__html_part_link(h, parts[i].id, parts[i].title);
    }
    pythia__html_close(h);
    pythia__html_close(h);
}

static void write_parts(struct pythia__html *h, const struct pythia_daemon_page *p)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        pythia__html_open(h, "section", "class", "part", "id", parts[i].id, NULL);
        pythia__html_leaf(h, "h2", NULL, parts[i].title);
        parts[i].write(h, p);
        pythia__html_close(h);
    }
}

int pythia_daemon_page_write(const struct pythia_daemon_page *page, struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    struct pythia__html h;
    pythia__html_begin(&h, out);
    pythia__html_open(&h, "html", "lang", "en", NULL);
    pythia__html_head(&h, "pythiad", page->refresh_s);
    pythia__html_open(&h, "body", NULL);
    pythia__html_open(&h, "a", "class", "skip", "href", "#found", NULL);
    pythia__html_text(&h, "To what it found");
    pythia__html_close(&h);
    draw_daemon_head(&h, page);
    draw_daemon_navigation(&h);
    pythia__html_open(&h, "main", NULL);
    write_parts(&h, page);
    pythia__html_close(&h);
    pythia__html_close(&h);
    pythia__html_close(&h);
    pythia__html_end(&h);
    return pythia_mem_failures() == failures ? pythia_buf_status(out) : PYTHIA_ENOMEM;
}
