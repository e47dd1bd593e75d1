/* The report for a terminal: what a person on call reads first stands first. */
#include <math.h>
#include <string.h>

#include "report_forms.h"

#define EDGES_SHOWN   4
#define EDGE_MIN      .02 /* share below which an edge is not shown */
#define KEYS_SHOWN    3
#define QUIET_SHOWN   10
#define INDENT        "   "
#define LABEL_WIDTH   7
#define LINE_WIDTH    110
#define BAR_WIDTH     20

struct page {
    struct pythia_buf *out;
    bool colour;
};

/* Escape sequences of the terminal; nothing without colour. */
static void style(const struct page *p, const char *code)
{
    if (p->colour)
        pythia_buf_printf(p->out, "\033[%sm", code);
}

/* Text from a trace: what would move the cursor or change colours is shown as \xNN. */
static void safe(const struct page *p, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool c1 = c == 0xC2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xA0; /* U+0080 to U+009F */
        if (c < ' ' || c == 0x7f || c1)
            pythia_buf_printf(p->out, "\\x%02x", c1 ? (unsigned char)*++text : c);
        else
            pythia_buf_putc(p->out, *text);
    }
}

/* Words of `text` in lines, the first behind what stands there already, the others below each other. */
static void paragraph(const struct page *p, const char *label, const char *text)
{
    size_t column = LABEL_WIDTH + sizeof(INDENT) - 1;
    pythia_buf_puts(p->out, INDENT);
    style(p, "1");
    pythia_buf_printf(p->out, "%-*s", LABEL_WIDTH, label);
    style(p, "0");
    size_t indent = column;
    for (bool first = true; *text; first = false) {
        size_t size = strcspn(text, " ");
        if (!first && column + 1 + size > LINE_WIDTH) {
            pythia_buf_printf(p->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            pythia_buf_putc(p->out, ' ');
            column++;
        }
        char word[512];
        size_t copied = size < sizeof(word) ? size : sizeof(word) - 1;
        memcpy(word, text, copied);
        word[copied] = '\0';
        safe(p, word);
        column += size;
        text += size;
        text += strspn(text, " ");
    }
    pythia_buf_putc(p->out, '\n');
}

static void paragraph_buf(const struct page *p, const char *label, struct pythia_buf *text)
{
    paragraph(p, label, text->bytes ? text->bytes : "");
    pythia_buf_free(text);
}

/* ---- head and foot ---- */

static double sum_of(const json_t *object)
{
    double sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) sum += json_number_value(value);
    return sum;
}

static void head(const struct page *p, const json_t *report)
{
    const json_t *in = json_object_get(report, "input");
    style(p, "1");
    pythia__add_count(p->out, pythia__number(in, "traces"));
    pythia_buf_puts(p->out, " requests");
    style(p, "0");
    pythia_buf_printf(p->out, " of %zu types, ", json_array_size(pythia__array(report, "request_types")));
    pythia__add_count(p->out, pythia__number(in, "spans"));
    double files = pythia__number(in, "files");
    pythia_buf_printf(p->out, " spans, from %.0f file%s (%.1f MB).", files, files == 1 ? "" : "s",
                      pythia__number(in, "bytes") / 1e6);
    double repaired = sum_of(json_object_get(in, "repaired")), dropped = sum_of(json_object_get(in, "dropped"));
    if (repaired > 0)
        pythia_buf_printf(p->out, " %.0f repaired.", repaired);
    if (dropped > 0)
        pythia_buf_printf(p->out, " %.0f dropped.", dropped);
    pythia_buf_puts(p->out, "\n");
}

/* ---- groups ---- */

static void bar(const struct page *p, double share)
{
    int full = share > 0 ? (int)lround(share * BAR_WIDTH) : 0;
    for (int i = 0; i < BAR_WIDTH; i++)
        pythia_buf_puts(p->out, i < full ? "#" : ".");
}

static void figures(const struct page *p, const json_t *group)
{
    static const struct {
        const char *label, *key;
    } durations[] = {{"mean", "mean_ns"}, {"sd", "sd_ns"}, {"p50", "p50_ns"}, {"p90", "p90_ns"}, {"p99", "p99_ns"}};
    struct pythia_buf text = {0};
    pythia__add_count(&text, pythia__number(group, "count"));
    pythia_buf_puts(&text, " requests");
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        pythia_buf_printf(&text, ", %s ", durations[i].label);
        pythia__add_duration(&text, pythia__number(group, durations[i].key));
    }
    pythia_buf_puts(&text, "; ");
    pythia__add_percent(&text, pythia__number(group, "variance_share"));
    pythia_buf_puts(&text, " of the variance of all requests");
    const json_t *modes = json_object_get(group, "modes");
    if (pythia__number(modes, "count") > 1) {
        const json_t *centers = pythia__array(modes, "centers_ns"), *weights = pythia__array(modes, "weights"), *center;
        size_t i;
        pythia_buf_printf(&text, "; %.0f modes: ", pythia__number(modes, "count"));
        json_array_foreach((json_t *)centers, i, center)
        {
            pythia_buf_puts(&text, i ? ", " : "");
            pythia__add_percent(&text, json_number_value(json_array_get(weights, i)));
            pythia_buf_puts(&text, " near ");
            pythia__add_duration(&text, json_number_value(center));
        }
    }
    pythia_buf_putc(&text, '.');
    paragraph_buf(p, "", &text);
}

static void edges(const struct page *p, const json_t *group)
{
    const json_t *list = pythia__array(group, "edges"), *edge;
    size_t i, shown = 0;
    json_array_foreach((json_t *)list, i, edge)
    {
        double share = pythia__number(edge, "share");
        if (shown == EDGES_SHOWN || (shown > 0 && !(share >= EDGE_MIN)))
            break;
        shown++;
        struct pythia_buf text = {0};
        pythia__add_edge(&text, edge);
        pythia_buf_printf(p->out, "%s%*s", INDENT, LABEL_WIDTH, "");
        style(p, "36");
        bar(p, share);
        style(p, "0");
        pythia_buf_printf(p->out, " %5.1f %% (%.1f to %.1f)  ", 100 * share, 100 * pythia__number(edge, "share_low"),
                          100 * pythia__number(edge, "share_high"));
        safe(p, text.bytes ? text.bytes : "");
        pythia_buf_putc(p->out, '\n');
        pythia_buf_free(&text);
    }
}

static void keys(const struct page *p, const json_t *group)
{
    const json_t *list = pythia__array(group, "explanations"), *key;
    size_t i, shown = 0;
    json_array_foreach((json_t *)list, i, key)
    {
        if (shown == KEYS_SHOWN || (shown > 0 && !(pythia__number(key, "explained") >= EDGE_MIN)))
            break;
        struct pythia_buf text = {0};
        const char *proxy_of = pythia__string(key, "proxy_of");
        pythia_buf_printf(&text, "%s explains ", pythia__string(key, "key"));
        pythia__add_percent(&text, pythia__number(key, "explained"));
        pythia_buf_printf(&text, " (q = %.1g", pythia__number(key, "q"));
        if (!isnan(pythia__number(key, "p_permutation")))
            pythia_buf_printf(&text, ", by permutation %.2g", pythia__number(key, "p_permutation"));
        pythia_buf_puts(&text, ")");
        if (proxy_of[0])
            pythia_buf_printf(&text, ", nothing beyond %s", proxy_of);
        paragraph_buf(p, shown++ ? "" : "keys", &text);
    }
    size_t more = json_array_size(list) - shown;
    size_t skipped = json_array_size(pythia__array(group, "skipped_keys"));
    struct pythia_buf text = {0};
    if (more)
        pythia_buf_printf(&text, "%zu more key%s with it; ", more, more == 1 ? " goes" : "s go");
    pythia_buf_printf(&text, "%.0f keys were asked, %zu not: constant, identifiers, or in too few requests.",
                      pythia__number(group, "keys_asked"), skipped);
    paragraph_buf(p, json_array_size(list) ? "" : "keys", &text);
}

static void diagnosed(const struct page *p, const json_t *group, size_t number)
{
    const json_t *finding = json_object_get(group, "finding");
    pythia_buf_putc(p->out, '\n');
    style(p, "1;33");
    pythia_buf_printf(p->out, "%zu. ", number);
    safe(p, pythia__string(group, "request_type"));
    style(p, "0");
    pythia_buf_putc(p->out, '\n');
    figures(p, group);
    paragraph(p, "where", pythia__string(finding, "where"));
    edges(p, group);
    if (pythia__string(finding, "why")[0])
        paragraph(p, "why", pythia__string(finding, "why"));
    keys(p, group);
}

/* What there is nothing to say about, a line each. */
static void others(const struct page *p, const json_t *groups)
{
    const json_t *group;
    size_t i, shown = 0, quiet = 0;
    json_array_foreach((json_t *)groups, i, group) quiet += strcmp(pythia__string(group, "status"), "diagnosed") != 0;
    if (quiet == 0)
        return;
    pythia_buf_puts(p->out, "\nOther groups\n");
    json_array_foreach((json_t *)groups, i, group)
    {
        const char *status = pythia__string(group, "status");
        if (strcmp(status, "diagnosed") == 0 || shown == QUIET_SHOWN)
            continue;
        shown++;
        struct pythia_buf text = {0};
        pythia__add_count(&text, pythia__number(group, "count"));
        pythia_buf_printf(&text, " request%s, mean ", pythia__number(group, "count") == 1 ? "" : "s");
        pythia__add_duration(&text, pythia__number(group, "mean_ns"));
        pythia_buf_printf(p->out, "%s%-8s%-34s", INDENT, status, text.bytes ? text.bytes : "");
        safe(p, pythia__string(group, "request_type"));
        pythia_buf_putc(p->out, '\n');
        pythia_buf_free(&text);
    }
    if (quiet > shown)
        pythia_buf_printf(p->out, "%sand %zu more\n", INDENT, quiet - shown);
}

/* Types in which the path makes a difference. */
static void paths(const struct page *p, const json_t *types)
{
    const json_t *type;
    size_t i;
    json_array_foreach((json_t *)types, i, type)
    {
        const json_t *first = json_array_get(pythia__array(type, "explanations"), 0);
        if (!first)
            continue;
        pythia_buf_putc(p->out, '\n');
        style(p, "1;33");
        pythia_buf_puts(p->out, "Paths of ");
        safe(p, pythia__string(type, "name"));
        style(p, "0");
        pythia_buf_putc(p->out, '\n');
        struct pythia_buf text = {0};
        pythia__add_percent(&text, pythia__number(type, "between_paths_share"));
        pythia_buf_printf(&text, " of the variance lies between requests that take different paths. %s goes with it.",
                          pythia__string(first, "key"));
        pythia__add_split(&text, first);
        paragraph_buf(p, "why", &text);
    }
}

static void next(const struct page *p, const json_t *report)
{
    const json_t *list = pythia__array(report, "next"), *one;
    size_t i;
    pythia_buf_putc(p->out, '\n');
    style(p, "1");
    pythia_buf_puts(p->out, json_array_size(list) ? "Trace points to open next, where others are closed\n"
                                                : "No trace point would show more.\n");
    style(p, "0");
    json_array_foreach((json_t *)list, i, one)
    {
        pythia_buf_printf(p->out, "%s", INDENT);
        style(p, "1;32");
        safe(p, pythia__string(one, "trace_point"));
        style(p, "0");
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, "shows up to ");
        pythia__add_percent(&text, pythia__number(one, "gain"));
        pythia_buf_puts(&text, " of what differs, costs ");
        pythia__add_duration(&text, pythia__number(one, "cost_ns"));
        pythia_buf_printf(&text, " a request: %s.", pythia__string(one, "reason"));
        pythia_buf_putc(p->out, '\n');
        paragraph_buf(p, "", &text);
    }
}

void pythia__report_text(const json_t *report, bool colour, struct pythia_buf *out)
{
    struct page p = {out, colour};
    const json_t *groups = pythia__array(report, "groups"), *group;
    size_t i, number = 0;
    head(&p, report);
    json_array_foreach((json_t *)groups, i, group) if (strcmp(pythia__string(group, "status"), "diagnosed") == 0)
        diagnosed(&p, group, ++number);
    if (number == 0)
        pythia_buf_puts(out, "\nNothing to diagnose: no group of requests varies in a way that stands out.\n");
    paths(&p, pythia__array(report, "request_types"));
    others(&p, groups);
    if (number > 0)
        next(&p, report);
}
