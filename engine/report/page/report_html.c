/* The report as a page: one file that needs no other and runs no script. A person on call reads the
 * head and the overview first, then the section of a finding. */
#include "report_html.h"

#include <math.h>
#include <string.h>

#include "pythia/counts.h"
#include "results/report_verdict.h"
#include "sentences/report_sentence.h"
#include "sentences/sentences.h"

#define OVERVIEW_MIN .005 /* share from which a group without finding stands in the overview */
#define SOURCES_SEEN 3
#define OTHERS_MAX   200
#define OPEN_MAX     2000
#define FINDINGS_MAX 100 /* whole sections; a report with more of them is read by a program */

static bool is_diagnosed(const json_t *group)
{
    return strcmp(pythia__string(group, "status"), "diagnosed") == 0;
}

static size_t count_diagnosed(const json_t *groups)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(groups); i++)
        count += is_diagnosed(json_array_get(groups, i));
    return count;
}

static bool all_too_few(const json_t *groups)
{
    for (size_t i = 0; i < json_array_size(groups); i++)
        if (strcmp(pythia__string(json_array_get(groups, i), "status"), "too_few") != 0)
            return false;
    return true;
}

/* ---- head ---- */

static const char *repair_help(const char *name)
{
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        if (strcmp(name, pythia_repair_name((enum pythia_repair)i)) == 0)
            return pythia_repair_help((enum pythia_repair)i);
    return "";
}

static const char *drop_help(const char *name)
{
    for (int i = 0; i < PYTHIA_DROPS; i++)
        if (strcmp(name, pythia_drop_name((enum pythia_drop)i)) == 0)
            return pythia_drop_help((enum pythia_drop)i);
    return "";
}

/* Counters with what they mean. Returns how many there are. */
static size_t draw_counters(struct pythia__html *h, const json_t *input, const char *key,
                            const char *(*help)(const char *))
{
    json_t *counts = json_object_get(input, key), *value;
    const char *name;
    size_t count = 0;
    json_object_foreach (counts, name, value) {
        const char *words = help(name);
        if (count++ == 0)
            pythia__html_open(h, "ul", NULL);
        pythia__html_open(h, "li", NULL);
        pythia__html_count(h, json_number_value(value));
        pythia__html_printf(h, " %s: ", key);
        pythia__html_leaf(h, "strong", NULL, name);
        pythia__html_printf(h, "%s%s", words[0] ? ", " : "", words);
        pythia__html_close(h);
    }
    if (count > 0)
        pythia__html_close(h);
    return count;
}

static void draw_sources(struct pythia__html *h, const json_t *input)
{
    const json_t *list = pythia__array(input, "sources");
    size_t count = json_array_size(list);
    if (count == 0)
        return;
    bool many = count > SOURCES_SEEN;
    pythia__html_open(h, many ? "details" : "p", "class", "read", NULL);
    if (many) {
        pythia__html_open(h, "summary", NULL);
        pythia__html_printf(h, "Read from %zu places", count);
        pythia__html_close(h);
    } else {
        pythia__html_text(h, "Read from ");
    }
    for (size_t i = 0; i < count && i < OPEN_MAX; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        pythia__html_text(h, i ? ", " : "");
        pythia__html_name(h, name ? name : "");
    }
    if (count > OPEN_MAX)
        pythia__html_printf(h, " and %zu more", count - OPEN_MAX);
    pythia__html_text(h, ".");
    pythia__html_close(h);
}

/* What was read, and what had to be mended or left out on the way. */
static void draw_input(struct pythia__html *h, const json_t *report)
{
    const json_t *in = json_object_get(report, "input");
    double failed = pythia__number(in, "failed_files");
    double bytes = pythia__number(in, "bytes");
    struct pythia_buf origin = {0};
    pythia__html_open(h, "p", "class", "read", NULL);
    pythia__html_things(h, pythia__number(in, "traces"), "request", "requests");
    pythia__html_text(h, " of ");
    pythia__html_things(h, (double)json_array_size(pythia__array(report, "request_types")), "type",
                        "types");
    pythia__add_types_without(&origin, report);
    pythia_buf_puts(&origin, ", ");
    pythia__html_text(h, origin.bytes ? origin.bytes : "");
    pythia_buf_clear(&origin);
    pythia__html_things(h, pythia__number(in, "spans"), "span", "spans");
    pythia__html_text(h, ", from ");
    pythia__add_origin(&origin, in);
    pythia__html_text(h, origin.bytes ? origin.bytes : "");
    pythia_buf_free(&origin);
    if (isfinite(bytes))
        pythia__html_printf(h, " (%.1f MB)", bytes / 1e6);
    pythia__html_text(h, ".");
    if (pythia__number(in, "hidden") > 0) {
        pythia__html_text(h, " Hidden, of closed trace points: ");
        pythia__html_things(h, pythia__number(in, "hidden"), "span", "spans");
        pythia__html_text(h, ".");
    }
    pythia__html_close(h);
    draw_sources(h, in);
    if (failed > 0) {
        pythia__html_open(h, "p", "class", "warn", NULL);
        pythia__html_things(h, failed, "file", "files");
        pythia__html_text(h,
                          " could not be read to the end: what is missing there is missing here.");
        pythia__html_close(h);
    }
    struct pythia_buf overhead = {0}, incomplete = {0}, sampling = {0};
    pythia__add_sampling(&sampling, report);
    if (sampling.size > 0)
        pythia__html_leaf(h, "p", "read", sampling.bytes);
    pythia__add_incomplete(&incomplete, report);
    pythia__add_clock_bases(&incomplete, &in, 1);
    if (incomplete.size > 0)
        pythia__html_leaf(h, "p", "warn", incomplete.bytes);
    pythia__add_overhead(&overhead, report);
    if (overhead.size > 0)
        pythia__html_leaf(h, "p", "read", overhead.bytes);
    h->out->failed = h->out->failed || overhead.failed || incomplete.failed || sampling.failed;
    pythia_buf_free(&sampling);
    pythia_buf_free(&incomplete);
    pythia_buf_free(&overhead);
    size_t count = draw_counters(h, in, "repaired", repair_help);
    count += draw_counters(h, in, "dropped", drop_help);
    if (count == 0)
        pythia__html_leaf(h, "p", "read", "Nothing had to be repaired, nothing was dropped.");
}

static void draw_page_head(struct pythia__html *h, const json_t *report)
{
    const json_t *groups = pythia__array(report, "groups");
    size_t found = count_diagnosed(groups), count = json_array_size(groups);
    pythia__html_open(h, "header", NULL);
    pythia__html_leaf(h, "h1", NULL, "Pythia: why requests that should be alike are not");
    pythia__html_open(h, "p", "class", "lead", NULL);
    if (found > 0)
        pythia__html_printf(h, "%zu of %zu group%s of requests %s in a way that stands out.", found,
                            count, count == 1 ? "" : "s", found == 1 ? "varies" : "vary");
    else
        pythia__html_text(
            h, all_too_few(groups)
                   ? "Not enough data: no group has enough requests to be diagnosed."
                   : "Nothing to diagnose: no group of requests varies in a way that stands out.");
    pythia__html_close(h);
    draw_input(h, report);
    pythia__html_close(h);
}

/* ---- sections ---- */

static bool has_paths(const json_t *report)
{
    const json_t *types = pythia__array(report, "request_types");
    for (size_t i = 0; i < json_array_size(types); i++)
        if (json_array_size(pythia__array(json_array_get(types, i), "explanations")) > 0)
            return true;
    return false;
}

static bool has_others(const json_t *report)
{
    const json_t *groups = pythia__array(report, "groups");
    return count_diagnosed(groups) < json_array_size(groups);
}

static bool has_findings(const json_t *report)
{
    return count_diagnosed(pythia__array(report, "groups")) > 0;
}

static bool has_open(const json_t *report)
{
    return json_array_size(pythia__array(report, "open")) > 0;
}

static bool is_always_shown(const json_t *report)
{
    (void)report;
    return true;
}

/* ---- overview ---- */

static void link_to_group(struct pythia__html *h, const json_t *group, const char *before)
{
    struct pythia_buf anchor = {0};
    pythia_buf_putc(&anchor, '#');
    pythia__html_group_anchor(&anchor, pythia__string(group, "id"));
    pythia__html_open(h, "a", "href", anchor.bytes ? anchor.bytes : "#", NULL);
    pythia_buf_free(&anchor);
    pythia__html_text(h, before);
    pythia__html_name(h, pythia__string(group, "request_type"));
    pythia__html_close(h);
}

static const char *status_words(const char *status)
{
    static const struct {
        const char *name, *words;
    } all[] = {{"diagnosed", "diagnosed"},
               {"quiet", "quiet"},
               {"slow", "always slow"},
               {"too_few", "too few requests"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(status, all[i].name) == 0)
            return all[i].words;
    return status;
}

static void overview_row(struct pythia__html *h, const json_t *group, size_t number)
{
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    if (number > 0 && number <= FINDINGS_MAX) {
        char label[32];
        snprintf(label, sizeof(label), "%zu. ", number);
        link_to_group(h, group, label);
        pythia__html_unlike(h, "span", group);
        pythia__html_found(h, json_object_get(group, "finding"), group);
    } else {
        pythia__html_name(h, pythia__string(group, "request_type"));
        pythia__html_unlike(h, "span", group);
    }
    pythia__html_close(h);
    pythia__html_leaf(h, "td", "nb", status_words(pythia__string(group, "status")));
    pythia__html_share_cells(h, number > 0 ? "share" : "other",
                             pythia__number(group, "variance_share"));
    pythia__html_size_cells(h, group);
    pythia__html_close(h);
}

/* A part of the variance that lies in no group. */
static void rest_row(struct pythia__html *h, const char *what, double share)
{
    if (!(share >= .0005)) /* less would read "0.0 %" */
        return;
    pythia__html_open(h, "tr", "class", "rest", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_text(h, what);
    pythia__html_close(h);
    pythia__html_leaf(h, "td", NULL, "");
    pythia__html_share_cells(h, "other", share);
    pythia__html_leaf(h, "td", NULL, "");
    pythia__html_leaf(h, "td", NULL, "");
    pythia__html_close(h);
}

static double between_paths(const json_t *types)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(types); i++) {
        const json_t *type = json_array_get(types, i);
        double part =
            pythia__number(type, "variance_share") * pythia__number(type, "between_paths_share");
        sum += isfinite(part) ? part : 0;
    }
    return sum;
}

static void draw_overview(struct pythia__html *h, const json_t *report)
{
    static const char *const labels[] = {"Group of requests", "Status", "=Share of the variance",
                                         ">Requests", ">Mean"};
    const json_t *groups = pythia__array(report, "groups");
    double rest = 0;
    size_t number = 0;
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        double share = pythia__number(group, "variance_share");
        if (is_diagnosed(group) || share >= OVERVIEW_MIN)
            overview_row(h, group, is_diagnosed(group) ? ++number : 0);
        else if (isfinite(share))
            rest += share;
    }
    rest_row(h, "Other groups", rest);
    rest_row(h, "Between requests of one type that take different paths",
             between_paths(pythia__array(report, "request_types")));
    rest_row(h, "Between types: different work takes different time",
             pythia__number(report, "between_types_share"));
    pythia__html_table_end(h);
}

/* ---- types, other groups ---- */

static void type_paths(struct pythia__html *h, const json_t *type)
{
    pythia__html_open(h, "h3", NULL);
    pythia__html_name(h, pythia__string(type, "name"));
    pythia__html_close(h);
    pythia__html_open(h, "p", NULL);
    pythia__html_percent(h, pythia__number(type, "between_paths_share"));
    pythia__html_text(h, " of the variance of its ");
    pythia__html_things(h, pythia__number(type, "count"), "request", "requests");
    pythia__html_text(h, " lies between those that take different paths.");
    const json_t *first = json_array_get(pythia__array(type, "explanations"), 0);
    if (pythia__is_early_end(first)) {
        struct pythia_buf text = {0};
        const char *before, *name = pythia__key_name(first, &before);
        pythia_buf_putc(&text, ' ');
        pythia__add_early_end(&text, first);
        pythia__html_text(h, text.bytes ? text.bytes : "");
        pythia__html_name(h, name);
        pythia__html_text(h, ".");
        pythia_buf_free(&text);
    }
    pythia__html_close(h);
    pythia__html_keys(h, type);
}

static void draw_paths(struct pythia__html *h, const json_t *report)
{
    const json_t *types = pythia__array(report, "request_types");
    for (size_t i = 0; i < json_array_size(types); i++) {
        const json_t *type = json_array_get(types, i);
        if (json_array_size(pythia__array(type, "explanations")) > 0)
            type_paths(h, type);
    }
}

static void other_row(struct pythia__html *h, const json_t *group)
{
    static const char *const quantiles[][2] = {{"p50_ns", "p50"}, {"p99_ns", "p99"}};
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_name(h, pythia__string(group, "request_type"));
    pythia__html_unlike(h, "span", group);
    pythia__html_close(h);
    pythia__html_leaf(h, "td", "nb", status_words(pythia__string(group, "status")));
    pythia__html_size_cells(h, group);
    for (size_t i = 0; i < 2; i++) {
        pythia__html_duration_cell(h, quantiles[i][1], pythia__number(group, quantiles[i][0]));
    }
    pythia__html_percent_cell(h, "share", pythia__number(group, "variance_share"));
    pythia__html_close(h);
}

static void draw_other_groups(struct pythia__html *h, const json_t *report)
{
    static const char *const labels[] = {
        "Group of requests",     "Status", ">Requests", ">Mean", ">p50", ">p99",
        ">Share of the variance"};
    const json_t *groups = pythia__array(report, "groups");
    size_t shown = 0, count = json_array_size(groups) - count_diagnosed(groups);
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(groups) && shown < OTHERS_MAX; i++) {
        const json_t *group = json_array_get(groups, i);
        if (!is_diagnosed(group)) {
            other_row(h, group);
            shown++;
        }
    }
    pythia__html_table_end(h);
    if (count > shown) {
        pythia__html_open(h, "p", "class", "note", NULL);
        pythia__html_printf(h, "and %zu more", count - shown);
        pythia__html_close(h);
    }
}

/* ---- trace points ---- */

/* The number and the group of a suggestion; 0 if it has no section. */
static size_t find_group(const json_t *report, const char *id, const json_t **group)
{
    const json_t *groups = pythia__array(report, "groups");
    size_t number = 0;
    for (size_t i = 0; i < json_array_size(groups) && number < FINDINGS_MAX; i++) {
        *group = json_array_get(groups, i);
        number += is_diagnosed(*group);
        if (is_diagnosed(*group) && strcmp(pythia__string(*group, "id"), id) == 0)
            return number;
    }
    return 0;
}

static void next_row(struct pythia__html *h, const json_t *report, const json_t *one)
{
    const json_t *group = NULL;
    size_t number = find_group(report, pythia__string(one, "group"), &group);
    double gain = pythia__number(one, "gain");
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_name(h, pythia__string(one, "trace_point"));
    pythia__html_open(h, "span", "class", "sub", NULL);
    pythia__html_sentence(h, pythia__string(one, "reason"), one);
    pythia__html_text(h, ", for ");
    if (number > 0) {
        char label[32];
        snprintf(label, sizeof(label), "%zu. ", number);
        link_to_group(h, group, label);
    } else {
        pythia__html_name(h, pythia__string(one, "request_type"));
    }
    pythia__html_close(h);
    pythia__html_close(h);
    pythia__html_bar_cell(h, "share", gain);
    pythia__html_percent_cell(h, "shows up to", gain);
    pythia__html_duration_cell(h, "costs a request", pythia__number(one, "cost_ns"));
    pythia__html_close(h);
}

static void draw_suggestions(struct pythia__html *h, const json_t *report)
{
    static const char *const labels[] = {"Trace point, and why", "=Shows, of the variance, up to",
                                         ">Costs a request"};
    const json_t *list = pythia__array(report, "next");
    if (json_array_size(list) == 0) {
        pythia__html_leaf(h, "p", NULL,
                          "No closed trace point that is known lies where these requests differ.");
        return;
    }
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(list); i++)
        next_row(h, report, json_array_get(list, i));
    pythia__html_table_end(h);
}

/* ---- the search ---- */

static bool has_loop(const json_t *report)
{
    return json_array_size(pythia__array(report, "loop")) > 0;
}

static bool has_splits(const json_t *report)
{
    return json_array_size(pythia__array(report, "split_by")) > 0;
}

static void loop_row(struct pythia__html *h, const json_t *cycle, const json_t *search)
{
    struct pythia_buf use = {0};
    double seen = pythia__number(cycle, "spans_seen"), saved = pythia__number(cycle, "spans_saved");
    double explained = pythia__number(cycle, "explained");
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    char number[64];
    pythia__name_cycle(cycle, number, sizeof(number));
    pythia__html_printf(h, "%s. ", number);
    pythia__html_prose(h, pythia__string(cycle, "sentence"));
    pythia__add_budget_use(&use, search, cycle);
    if (use.size > 0)
        pythia__html_leaf(h, "span", "sub", use.bytes + 1);
    if (use.failed)
        h->out->failed = 1;
    pythia_buf_free(&use);
    pythia__html_close(h);
    pythia__html_bar_cell(h, "share", explained);
    pythia__html_percent_cell(h, "explained", explained);
    pythia__html_count_cell(h, "open beyond the skeleton", pythia__number(cycle, "open_count"));
    pythia__html_bar_cell(h, "share", saved / (seen + saved));
    pythia__html_percent_cell(h, "spans saved", saved / (seen + saved));
    pythia__html_close(h);
}

static void draw_loop(struct pythia__html *h, const json_t *report)
{
    static const char *const labels[] = {"Cycle", "=Explained", ">Open beyond the skeleton",
                                         "=Spans saved"};
    const json_t *list = pythia__array(report, "loop");
    const json_t *search = json_object_get(report, "search");
    struct pythia_buf summary = {0};
    pythia__add_search(&summary, search);
    pythia__html_open(h, "p", NULL);
    pythia__html_text(h, summary.bytes ? summary.bytes : "");
    h->out->failed = h->out->failed || summary.failed;
    pythia_buf_free(&summary);
    if (pythia__number(search, "rounds") > 1)
        pythia__html_text(h, " The capture was played more than once.");
    pythia__html_close(h);
    pythia__html_ends(h, search);
    pythia__html_timeline(h, list, search);
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(list); i++)
        loop_row(h, json_array_get(list, i), search);
    pythia__html_table_end(h);
    pythia__html_effects(h, report);
}

static void open_points(struct pythia__html *h, const json_t *report)
{
    const json_t *list = pythia__array(report, "open");
    size_t count = json_array_size(list);
    pythia__html_open(h, "details", NULL);
    pythia__html_open(h, "summary", NULL);
    pythia__html_things(h, (double)count, "trace point was on", "trace points were on");
    pythia__html_close(h);
    pythia__html_open(h, "ul", "class", "columns", NULL);
    for (size_t i = 0; i < count && i < OPEN_MAX; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        pythia__html_open(h, "li", NULL);
        pythia__html_name(h, name ? name : "");
        pythia__html_close(h);
    }
    pythia__html_close(h);
    if (count > OPEN_MAX)
        pythia__html_printf(h, "and %zu more", count - OPEN_MAX);
    pythia__html_close(h);
}

/* ---- words ---- */

static void draw_glossary(struct pythia__html *h, const json_t *report)
{
    static const char *const all[][2] = {
        {"Group", "Requests of one type that take the same path. Only those can be compared."},
        {"Critical path",
         "The chain of events that made a request last as long as it did. The times "
         "between them add up to its duration."},
        {"Share of the variance",
         "How much of what makes durations differ a stretch of the path accounts for. The shares "
         "of "
         "all stretches add up to 100 %; one that makes up for others has a negative share. The "
         "largest and smallest times are clipped, so that one spike does not decide."},
        {"95 % interval, and the whisker on a bar",
         "The interval in which the share lies, as far as so many requests can tell."},
        {"Explains", "The part of the variance of the times on the path that a key predicts, "
                     "corrected for chance."},
        {"Rank of a key",
         "Keys of one rank cannot be told apart by these requests. A key that explains "
         "nothing beyond a better one comes after it."},
        {"q, by permutation", "q: of keys that look as good, the part that would be so by chance. "
                              "By permutation: how often "
                              "shuffled values do as well. Small is good for both."},
        {"Confirmed", "By permutation, and on most of many random halves of the requests."},
        {"SD, CoV", "Standard deviation; the same divided by the mean."},
    };
    (void)report;
    pythia__html_open(h, "details", NULL);
    pythia__html_leaf(h, "summary", NULL, "What the words mean");
    pythia__html_open(h, "dl", "class", "words", NULL);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pythia__html_leaf(h, "dt", NULL, all[i][0]);
        pythia__html_leaf(h, "dd", NULL, all[i][1]);
    }
    pythia__html_close(h);
    pythia__html_close(h);
}

/* ---- what holds from earlier cycles ---- */

static bool has_held(const json_t *report)
{
    const json_t *verdicts = pythia__array(report, "verdicts");
    for (size_t i = 0; i < json_array_size(verdicts); i++)
        if (pythia__is_held(report, json_array_get(verdicts, i)))
            return true;
    return false;
}

static void held_verdicts(struct pythia__html *h, const json_t *report)
{
    const json_t *verdicts = pythia__array(report, "verdicts");
    for (size_t i = 0; i < json_array_size(verdicts); i++) {
        const json_t *verdict = json_array_get(verdicts, i);
        if (!pythia__is_held(report, verdict))
            continue;
        pythia__html_open(h, "h3", NULL);
        pythia__html_name(h, pythia__string(verdict, "request_type"));
        pythia__html_close(h);
        pythia__html_open(h, "p", NULL);
        pythia__html_sentence(h, pythia__string(verdict, "sentence"), verdict);
        pythia__html_close(h);
        pythia__html_notes(h, verdict, verdict);
    }
}

/* ---- the page ---- */

/* Sections before and behind those of the findings. */
static const struct part {
    const char *id, *name, *title; /* the name is short, for links; no title: pythia__next_title */
    bool before;                   /* the findings */
    bool (*wanted)(const json_t *report);
    void (*write)(struct pythia__html *h, const json_t *report);
} parts[] = {
    {"overview", "Overview", "Where the variance of all requests lies", true, is_always_shown,
     draw_overview},
    {"split", "What they were parted by", "What the requests were parted by", true, has_splits,
     pythia__html_split_by},
    {"search", "The search", "The search, cycle by cycle", true, has_loop, draw_loop},
    {"held", "Found earlier", "Found in earlier cycles", true, has_held, held_verdicts},
    {"next", "What to open next", NULL, false, has_findings, draw_suggestions},
    {"paths", "Types and their paths", "Types whose paths make a difference", false, has_paths,
     draw_paths},
    {"others", "Other groups", "Other groups", false, has_others, draw_other_groups},
    {"open", "What was on", "Trace points that were on", false, has_open, open_points},
    {"words", "How to read this page", "How to read this page", false, is_always_shown,
     draw_glossary},
};

static void draw_page_navigation(struct pythia__html *h, const json_t *report)
{
    pythia__html_open(h, "nav", "aria-label", "Parts of this page", NULL);
    pythia__html_open(h, "ul", NULL);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!parts[i].wanted(report))
            continue;
        pythia__html_part_link(h, parts[i].id, parts[i].name);
    }
    pythia__html_close(h);
    pythia__html_close(h);
}

/* Do paths make a larger difference than the first finding about a group? Then they come first. */
static bool paths_lead(struct pythia__html *h, const json_t *report)
{
    const json_t *groups = pythia__array(report, "groups");
    double first = 0;
    for (size_t i = json_array_size(groups); i-- > 0;)
        if (is_diagnosed(json_array_get(groups, i)))
            first = pythia__number(json_array_get(groups, i), "variance_share");
    struct pythia__paths ranked =
        pythia__rank_paths(pythia__array(report, "request_types"), h->out);
    bool lead = pythia__next_paths(&ranked, first) != NULL;
    pythia__paths_free(&ranked);
    return lead;
}

static void write_parts(struct pythia__html *h, const json_t *report, bool before)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        bool leads = parts[i].write == draw_paths && paths_lead(h, report);
        if ((parts[i].before || leads) != before || !parts[i].wanted(report))
            continue;
        pythia__html_open(h, "section", "class", "part", "id", parts[i].id, NULL);
        const char *title = parts[i].title ? parts[i].title : pythia__next_title(report);
        pythia__html_leaf(h, "h2", NULL, title);
        parts[i].write(h, report);
        pythia__html_close(h);
    }
}

static void draw_findings(struct pythia__html *h, const json_t *groups)
{
    size_t number = 0, of = count_diagnosed(groups);
    for (size_t i = 0; i < json_array_size(groups) && number < FINDINGS_MAX; i++)
        if (is_diagnosed(json_array_get(groups, i)))
            pythia__html_group(h, json_array_get(groups, i), ++number, of);
    if (of > number) {
        pythia__html_open(h, "p", "class", "warn", NULL);
        pythia__html_printf(h, "%zu more findings have no section here; the JSON report has them.",
                            of - number);
        pythia__html_close(h);
    }
}

static void document_head(struct pythia__html *h, const json_t *report)
{
    size_t found = count_diagnosed(pythia__array(report, "groups"));
    struct pythia_buf title = {0};
    pythia_buf_printf(&title, "Pythia: %zu finding%s in ", found, found == 1 ? "" : "s");
    double requests = pythia__number(json_object_get(report, "input"), "traces");
    pythia__add_count(&title, requests);
    pythia_buf_puts(&title, requests == 1 ? " request" : " requests");
    pythia__html_head(h, title.bytes ? title.bytes : "");
    if (title.failed)
        h->out->failed = 1;
    pythia_buf_free(&title);
}

void pythia__report_html(const json_t *report, struct pythia_buf *out)
{
    struct pythia__html h;
    pythia__html_begin(&h, out);
    pythia__html_open(&h, "html", "lang", "en", NULL);
    document_head(&h, report);
    pythia__html_open(&h, "body", NULL);
    pythia__html_open(&h, "a", "class", "skip", "href", "#overview", NULL);
    pythia__html_text(&h, "To the overview");
    pythia__html_close(&h);
    draw_page_head(&h, report);
    draw_page_navigation(&h, report);
    pythia__html_open(&h, "main", NULL);
    write_parts(&h, report, true);
    draw_findings(&h, pythia__array(report, "groups"));
    write_parts(&h, report, false);
    pythia__html_close(&h);
    pythia__html_open(&h, "footer", NULL);
    pythia__html_printf(&h, "Written by pythia from its JSON report, schema %s.",
                        pythia__string(report, "schema"));
    pythia__html_close(&h);
    pythia__html_close(&h);
    pythia__html_close(&h);
    pythia__html_end(&h);
}
