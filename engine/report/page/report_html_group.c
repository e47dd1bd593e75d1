/* The section of a group: what was found, large; then the evidence for it. */
#include <math.h>
#include <string.h>

#include "report_html.h"
#include "sentences/report_sentence.h"
#include "sentences/sentences.h"

#define EDGE_MIN   .001 /* share below which an edge is left out of the table */
#define EDGES_MAX  300  /* in it */
#define EDGES_SEEN 12   /* before the rest is folded away */

/* ---- edges ---- */

/* What an edge is in: the innermost open trace point but those that it leads from and to. */
static const char *find_surrounding_span(const json_t *edge)
{
    const json_t *context = pythia__array(edge, "context");
    const char *from = pythia__string(json_object_get(edge, "from"), "trace_point");
    const char *to = pythia__string(json_object_get(edge, "to"), "trace_point");
    for (size_t i = json_array_size(context); i-- > 0;) {
        const char *name = json_string_value(json_array_get(context, i));
        if (name && strcmp(name, from) != 0 && strcmp(name, to) != 0)
            return name;
    }
    return "";
}

/* What tells an edge from others, below its name. */
static void edge_notes(struct pythia__html *h, const json_t *edge, double group_requests)
{
    double repeats = pythia__number(edge, "repeats"), requests = pythia__number(edge, "requests");
    const char *in = find_surrounding_span(edge), *separator = "";
    pythia__html_open(h, "span", "class", "sub", NULL);
    if (in[0]) {
        pythia__html_text(h, "in ");
        pythia__html_name(h, in);
        separator = "; ";
    }
    if (repeats >= 1.05) {
        pythia__html_printf(h, "%s%.3g times a request", separator, repeats);
        separator = "; ";
    }
    if (requests < group_requests) {
        pythia__html_printf(h, "%s%sin ", separator,
                            json_is_object(json_object_get(edge, "rests_on")) ? "only " : "");
        pythia__html_count(h, requests);
        pythia__html_text(h, " of ");
        pythia__html_count(h, group_requests);
        pythia__html_text(h, " requests");
        separator = "; ";
    }
    if (json_is_true(json_object_get(edge, "outlier_driven"))) {
        pythia__html_printf(h,
                            "%sa few requests count for much of it: without clipping them the "
                            "share is ",
                            separator);
        pythia__html_percent(h, pythia__number(edge, "raw_share"));
    }
    pythia__html_close(h);
}

static void edge_row(struct pythia__html *h, const json_t *edge, double group_requests)
{
    double share = pythia__number(edge, "share"), low = pythia__number(edge, "share_low");
    double high = pythia__number(edge, "share_high");
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_edge(h, edge);
    edge_notes(h, edge, group_requests);
    pythia__html_close(h);
    pythia__html_cell(h, "b", NULL);
    pythia__html_bar(h, "share", share, low, high);
    pythia__html_close(h);
    pythia__html_percent_cell(h, "share", share);
    pythia__html_cell(h, "n dim", "95 % interval");
    pythia__html_percent(h, low);
    pythia__html_text(h, " to ");
    pythia__html_percent(h, high);
    pythia__html_close(h);
    static const char *const durations[][2] = {{"mean_ns", "mean"}, {"sd_ns", "sd"}};
    for (size_t i = 0; i < 2; i++) {
        pythia__html_duration_cell(h, durations[i][1], pythia__number(edge, durations[i][0]));
    }
    pythia__html_close(h);
}

static void edge_table(struct pythia__html *h, const json_t *edges, size_t from, size_t to,
                       double group_requests)
{
    static const char *const labels[] = {"Stretch of the critical path", "=Share of the variance",
                                         ">95 % interval", ">Mean", ">SD"};
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(edges); i++) {
        const json_t *edge = json_array_get(edges, i);
        if (fabs(pythia__number(edge, "share")) >= EDGE_MIN) {
            if (from == 0 && to > 0)
                edge_row(h, edge, group_requests);
            from -= from > 0;
            to -= to > 0;
        }
    }
    pythia__html_table_end(h);
}

/* Edges as a table. */
static void write_html_edges(struct pythia__html *h, const json_t *group)
{
    const json_t *edges = pythia__array(group, "edges");
    double requests = pythia__number(group, "count"), rest = 0;
    size_t shown = 0, left_out = 0;
    if (pythia__number(group, "sampled") < requests)
        requests = pythia__number(group, "sampled"); /* Edges are counted in the sample. */
    for (size_t i = 0; i < json_array_size(edges); i++) {
        double share = pythia__number(json_array_get(edges, i), "share");
        bool large = fabs(share) >= EDGE_MIN && shown < EDGES_MAX;
        shown += large;
        left_out += !large;
        rest += large || isnan(share) ? 0 : share;
    }
    if (shown > 0)
        edge_table(h, edges, 0, shown < EDGES_SEEN ? shown : EDGES_SEEN, requests);
    if (shown > EDGES_SEEN) {
        pythia__html_open(h, "details", NULL);
        pythia__html_open(h, "summary", NULL);
        pythia__html_printf(h, "%zu more", shown - EDGES_SEEN);
        pythia__html_close(h);
        edge_table(h, edges, EDGES_SEEN, shown, requests);
        pythia__html_close(h);
    }
    if (left_out > 0) {
        pythia__html_open(h, "p", "class", "note", NULL);
        pythia__html_things(h, (double)left_out, "stretch", "stretches");
        pythia__html_text(h, shown == EDGES_MAX ? " left out"
                                                : " left out, with less than 0.1 % each");
        pythia__html_text(h, "; together they have ");
        pythia__html_percent(h, rest);
        pythia__html_text(h, " of the variance.");
        pythia__html_close(h);
    }
}

/* ---- figures ---- */

static void draw_group_figure(struct pythia__html *h, const char *name)
{
    pythia__html_open(h, "div", NULL);
    pythia__html_leaf(h, "dt", NULL, name);
    pythia__html_open(h, "dd", NULL);
}

static void end_figure(struct pythia__html *h)
{
    pythia__html_close(h);
    pythia__html_close(h);
}

static void draw_group_figures(struct pythia__html *h, const json_t *group)
{
    static const struct {
        const char *name, *key;
    } durations[] = {{"Mean", "mean_ns"},
                     {"Standard deviation", "sd_ns"},
                     {"Half are faster than", "p50_ns"},
                     {"9 of 10 are faster than", "p90_ns"},
                     {"99 of 100 are faster than", "p99_ns"}};
    pythia__html_open(h, "dl", "class", "figures", NULL);
    double count = pythia__number(group, "count"), all = pythia__number(group, "type_count");
    draw_group_figure(h, all > count ? "Requests, of its type" : "Requests");
    pythia__html_count(h, count);
    if (all > count) {
        pythia__html_text(h, " of ");
        pythia__html_count(h, all);
    }
    end_figure(h);
    draw_group_figure(h, "Share of all variance");
    pythia__html_percent(h, pythia__number(group, "variance_share"));
    end_figure(h);
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        draw_group_figure(h, durations[i].name);
        pythia__html_duration(h, pythia__number(group, durations[i].key));
        end_figure(h);
    }
    if (json_object_get(group, "tracing_ns")) {
        struct pythia_buf text = {0};
        pythia__add_tracing(&text, group);
        draw_group_figure(h, "Added by tracing");
        pythia__html_text(h, text.bytes ? text.bytes : "");
        end_figure(h);
        pythia_buf_free(&text);
    }
    double cov = pythia__number(group, "cov");
    draw_group_figure(h, "SD / mean (CoV)");
    if (isfinite(cov))
        pythia__html_printf(h, "%.2f", cov);
    else
        pythia__html_text(h, "-");
    end_figure(h);
    pythia__html_close(h);
}

static void draw_slowest_requests(struct pythia__html *h, const json_t *group)
{
    const json_t *list = pythia__array(group, "slowest");
    if (json_array_size(list) == 0)
        return;
    pythia__html_leaf(h, "h3", NULL, "Slowest requests");
    pythia__html_open(h, "ul", NULL);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        pythia__html_open(h, "li", NULL);
        pythia__html_duration(h, pythia__number(one, "duration_ns"));
        pythia__html_text(h, ": trace ");
        pythia__html_name(h, pythia__string(one, "trace_id"));
        pythia__html_close(h);
    }
    pythia__html_close(h);
}

/* ---- the whole ---- */

static const char *cause_words(const char *cause)
{
    static const struct {
        const char *name, *words;
    } causes[] = {
        {"edge", "a part of the path takes longer"},
        {"retry", "something is done again"},
        {"loop", "something is done more often"},
        {"path", "something is done or not"},
        {"key", "no part of the path stands out, a key does"},
    };
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (strcmp(cause, causes[i].name) == 0)
            return causes[i].words;
    return "";
}

static void draw_group_heading(struct pythia__html *h, const json_t *group, size_t number,
                               size_t of)
{
    const json_t *finding = json_object_get(group, "finding");
    const char *cause = cause_words(pythia__string(group, "cause"));
    const char *why = pythia__string(finding, "why");
    pythia__html_open(h, "header", NULL);
    pythia__html_open(h, "p", "class", "eyebrow", NULL);
    pythia__html_printf(h, "Finding %zu of %zu%s%s, group ", number, of, cause[0] ? ": " : "",
                        cause);
    pythia__html_name(h, pythia__string(group, "id"));
    pythia__html_close(h);
    pythia__html_open(h, "h2", NULL);
    pythia__html_printf(h, "%zu. ", number);
    pythia__html_name(h, pythia__string(group, "request_type"));
    pythia__html_close(h);
    pythia__html_unlike(h, "p", group);
    pythia__html_open(h, "p", "class", "where", NULL);
    pythia__html_sentence(h, pythia__string(finding, "where"), group);
    pythia__html_close(h);
    if (why[0]) {
        pythia__html_open(h, "p", "class", "why", NULL);
        pythia__html_sentence(h, why, group);
        pythia__html_close(h);
    }
    pythia__html_notes(h, finding, group);
    pythia__html_close(h);
}

void pythia__html_group(struct pythia__html *h, const json_t *group, size_t number, size_t of)
{
    struct pythia_buf anchor = {0};
    pythia__html_group_anchor(&anchor, pythia__string(group, "id"));
    pythia__html_open(h, "section", "class", "group", "id", anchor.bytes ? anchor.bytes : "", NULL);
    pythia_buf_free(&anchor);
    draw_group_heading(h, group, number, of);
    pythia__html_open(h, "div", "class", "two", NULL);
    pythia__html_histogram(h, group);
    draw_group_figures(h, group);
    pythia__html_close(h);
    pythia__html_leaf(h, "h3", NULL, "Where the time goes, and where it differs");
    pythia__html_icicle(h, group);
    pythia__html_leaf(h, "h3", NULL, "What makes these requests differ, in numbers");
    write_html_edges(h, group);
    pythia__html_leaf(h, "h3", NULL, "What correlates with the latency");
    pythia__html_keys(h, group);
    pythia__html_proposals(h, group);
    draw_slowest_requests(h, group);
    pythia__html_close(h);
}
