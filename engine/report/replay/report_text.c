/* The report for a terminal: what a person on call reads first stands first. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "forms.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "results/report_verdict.h"
#include "sentences/report_sentence.h"
#include "sentences/sentences.h"

#define EDGES_SHOWN  4
#define EDGE_MIN     .02 /* share below which an edge is not shown */
#define KEYS_SHOWN   3
#define SPLITS_SHOWN 2
#define QUIET_SHOWN  10
#define INDENT       "   "
#define LABEL_WIDTH  7
#define BAR_WIDTH    10
#define NAME_WIDTH   240 /* characters of a name on a line of its own */

struct page {
    struct pythia_buf *out;
    bool colour;
};

/* Escape sequences of the terminal; nothing without colour. */
static void print_style(const struct page *p, const char *code)
{
    if (p->colour)
        pythia_buf_printf(p->out, "\033[%sm", code);
}

/* Text from a trace; the middle of a long one is left out. */
static void print_safely(const struct page *p, const char *text)
{
    pythia_shown_add(p->out, pythia_text_of(text), NAME_WIDTH);
}

static void print_words(const struct page *p, size_t indent, const char *text)
{
    pythia__add_words(p->out, indent, pythia_text_of(text));
}

static void print_paragraph(const struct page *p, const char *label, const char *text)
{
    pythia_buf_puts(p->out, INDENT);
    print_style(p, "1");
    pythia_buf_printf(p->out, "%-*s", LABEL_WIDTH, label);
    print_style(p, "0");
    print_words(p, sizeof(INDENT) - 1 + LABEL_WIDTH, text);
}

static void paragraph_buf(const struct page *p, const char *label, struct pythia_buf *text)
{
    print_paragraph(p, label, text->bytes ? text->bytes : "");
    if (text->failed)
        p->out->failed = 1;
    pythia_buf_free(text);
}

/* The same for what may have nothing to say. */
static void paragraph_if_any(const struct page *p, const char *label, struct pythia_buf *text)
{
    if (text->size > 0 || text->failed)
        paragraph_buf(p, label, text);
    pythia_buf_free(text);
}

/* ---- head and foot ---- */

static double sum_of(json_t *object)
{
    double sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value)
        sum += json_number_value(value);
    return sum;
}

static void print_report_head(const struct page *p, const json_t *report)
{
    const json_t *in = json_object_get(report, "input");
    print_style(p, "1");
    pythia__add_count(p->out, pythia__number(in, "traces"));
    pythia_buf_puts(p->out, " requests");
    print_style(p, "0");
    size_t types = json_array_size(pythia__array(report, "request_types"));
    pythia_buf_printf(p->out, " of %zu type%s", types, types == 1 ? "" : "s");
    pythia__add_types_without(p->out, report);
    pythia_buf_puts(p->out, ", ");
    pythia__add_count(p->out, pythia__number(in, "spans"));
    pythia_buf_puts(p->out, " spans, from ");
    pythia__add_origin(p->out, in);
    pythia_buf_printf(p->out, " (%.1f MB).", pythia__number(in, "bytes") / 1e6);
    const struct {
        double count;
        const char *what;
    } counts[] = {{sum_of(json_object_get(in, "repaired")), "repaired"},
                  {sum_of(json_object_get(in, "dropped")), "dropped"},
                  {pythia__number(in, "hidden"), "hidden, of closed trace points"}};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i].count > 0) {
            pythia_buf_putc(p->out, ' ');
            pythia__add_count(p->out, counts[i].count);
            pythia_buf_printf(p->out, " %s.", counts[i].what);
        }
    pythia_buf_puts(p->out, "\n");
    struct pythia_buf sampling = {0};
    pythia__add_sampling(&sampling, report);
    if (sampling.size > 0)
        print_words(p, 0, sampling.bytes);
    p->out->failed = p->out->failed || sampling.failed;
    pythia_buf_free(&sampling);
}

/* ---- groups ---- */

static void print_share_bar(const struct page *p, double share)
{
    int full = share > 0 ? (int)lround(share * BAR_WIDTH) : 0;
    for (int i = 0; i < BAR_WIDTH; i++)
        pythia_buf_puts(p->out, i < full ? "#" : ".");
}

static void print_group_figures(const struct page *p, const json_t *group)
{
    static const struct {
        const char *label, *key;
    } durations[] = {{"mean", "mean_ns"},
                     {"sd", "sd_ns"},
                     {"p50", "p50_ns"},
                     {"p90", "p90_ns"},
                     {"p99", "p99_ns"}};
    struct pythia_buf text = {0};
    pythia__add_requests(&text, group);
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        pythia_buf_printf(&text, ", %s ", durations[i].label);
        pythia__add_duration(&text, pythia__number(group, durations[i].key));
    }
    pythia_buf_puts(&text, "; ");
    pythia__add_percent(&text, pythia__number(group, "variance_share"));
    pythia_buf_puts(&text, " of the variance of all requests");
    if (json_object_get(group, "tracing_ns")) {
        pythia_buf_puts(&text, "; tracing adds ");
        pythia__add_tracing(&text, group);
    }
    const json_t *modes = json_object_get(group, "modes");
    if (pythia__number(modes, "count") > 1) {
        const json_t *centers = pythia__array(modes, "centers_ns"),
                     *weights = pythia__array(modes, "weights"), *center;
        size_t i;
        pythia_buf_printf(&text, "; %.0f modes: ", pythia__number(modes, "count"));
        json_array_foreach (centers, i, center) {
            pythia_buf_puts(&text, i ? ", " : "");
            pythia__add_percent(&text, json_number_value(json_array_get(weights, i)));
            pythia_buf_puts(&text, " near ");
            pythia__add_duration(&text, json_number_value(center));
        }
    }
    pythia_buf_putc(&text, '.');
    paragraph_buf(p, "", &text);
}

static void add_rests_on(struct pythia_buf *to, const json_t *finding)
{
    if (!json_is_object(json_object_get(finding, "rests_on")))
        return;
    pythia_buf_puts(to, ", ");
    pythia__add_rests_on(to, finding);
}

static void print_group_edges(const struct page *p, const json_t *group)
{
    const json_t *list = pythia__array(group, "edges"), *edge;
    size_t i, shown = 0;
    json_array_foreach (list, i, edge) {
        double share = pythia__number(edge, "share");
        if (isnan(share) || shown == EDGES_SHOWN || (shown > 0 && !(share >= EDGE_MIN)))
            break;
        shown++;
        struct pythia_buf text = {0};
        char interval[48];
        pythia__add_edge(&text, edge);
        add_rests_on(&text, edge);
        pythia_buf_printf(p->out, "%s%*s", INDENT, LABEL_WIDTH, "");
        print_style(p, "36");
        print_share_bar(p, share);
        print_style(p, "0");
        snprintf(interval, sizeof(interval), "(%.1f to %.1f)",
                 100 * pythia__number(edge, "share_low"), 100 * pythia__number(edge, "share_high"));
        pythia_buf_printf(p->out, " %5.1f %% %-16s ", 100 * share, interval);
        print_words(p, sizeof(INDENT) - 1 + LABEL_WIDTH + BAR_WIDTH + 26,
                    text.bytes ? text.bytes : "");
        pythia_buf_free(&text);
    }
}

/* The keys that act together. */
static void print_joint_keys(const struct page *p, const json_t *of)
{
    struct pythia_buf text = {0};
    pythia__add_joint(&text, of);
    if (text.size > 0)
        paragraph_buf(p, "joint", &text);
    else
        pythia_buf_free(&text);
}

static void print_group_keys(const struct page *p, const json_t *group)
{
    const json_t *list = pythia__array(group, "explanations"), *key;
    size_t i, shown = 0;
    json_array_foreach (list, i, key) {
        if (shown == KEYS_SHOWN || (shown > 0 && !(pythia__key_size(key) >= EDGE_MIN)))
            break;
        struct pythia_buf text = {0};
        const char *proxy_of = pythia__string(key, "proxy_of");
        pythia_buf_printf(&text, "%s explains ", pythia__string(key, "key"));
        pythia__add_explained(&text, key);
        pythia_buf_puts(&text, " (q ");
        pythia__add_chance(&text, pythia__number(key, "q"));
        if (!isnan(pythia__number(key, "p_permutation")))
            pythia_buf_printf(&text, ", by permutation %.2g", pythia__number(key, "p_permutation"));
        pythia_buf_puts(&text, ")");
        if (proxy_of[0])
            pythia_buf_printf(&text, ", nothing beyond %s", proxy_of);
        add_rests_on(&text, key);
        paragraph_buf(p, shown++ ? "" : "keys", &text);
    }
    struct pythia_buf text = {0};
    pythia__add_keys_asked(&text, group, shown);
    paragraph_buf(p, json_array_size(list) ? "" : "keys", &text);
}

/* What can be pasted: all of it, or else what it is about. */
static void print_split_option(const struct page *p, const json_t *of, const char *member)
{
    const char *text = pythia__string(of, member);
    if (pythia__option_fits(text)) {
        pythia_shown_add(p->out, pythia_text_of(text), SIZE_MAX);
        return;
    }
    print_safely(p, pythia__string(of, "key"));
    pythia_buf_puts(p->out, PYTHIA__OPTION_LONG);
}

/* What to part the group by, each on a line of its own that can be pasted as it is. */
static void print_group_splits(const struct page *p, const json_t *group)
{
    const json_t *list = pythia__array(group, "splits"), *one;
    size_t i;
    json_array_foreach (list, i, one) {
        struct pythia_buf text = {0};
        if (i == SPLITS_SHOWN)
            break;
        pythia_buf_puts(p->out, INDENT);
        print_style(p, "1");
        pythia_buf_printf(p->out, "%-*s", LABEL_WIDTH, i ? "" : "split");
        print_style(p, "0");
        print_style(p, "1;32");
        print_split_option(p, one, "option");
        print_style(p, "0");
        pythia_buf_putc(p->out, '\n');
        pythia__add_proposal(&text, one);
        paragraph_buf(p, "", &text);
    }
}

/* What the requests were parted by. */
static void split_by(const struct page *p, const json_t *report)
{
    const json_t *list = pythia__array(report, "split_by"), *split, *type;
    size_t i, k;
    json_array_foreach (list, i, split) {
        struct pythia_buf text = {0};
        pythia_buf_putc(p->out, '\n');
        print_style(p, "1");
        pythia_buf_puts(p->out, "Split by ");
        print_split_option(p, split, "split");
        print_style(p, "0");
        pythia_buf_puts(p->out, ": ");
        pythia__add_split_by(&text, split);
        pythia_buf_text_add(p->out, pythia_buf_text(&text));
        pythia_buf_free(&text);
        pythia_buf_putc(p->out, '\n');
        json_array_foreach (pythia__array(split, "types"), k, type) {
            pythia_buf_puts(p->out, INDENT);
            print_safely(p, pythia__string(type, "request_type"));
            pythia_buf_putc(p->out, '\n');
            pythia__add_split_type(&text, type);
            paragraph_buf(p, "", &text);
        }
    }
}

/* How sure it is, what else was seen, and what it was before. */
static void print_notes(const struct page *p, const json_t *finding)
{
    static const char *const labels[PYTHIA__NOTES] = {"sure", "also", "before"};
    for (size_t i = 0; i < PYTHIA__NOTES; i++)
        if (pythia__string(finding, pythia__notes[i])[0])
            print_paragraph(p, labels[i], pythia__string(finding, pythia__notes[i]));
}

static void print_diagnosed_group(const struct page *p, const json_t *group, size_t number)
{
    const json_t *finding = json_object_get(group, "finding");
    pythia_buf_putc(p->out, '\n');
    print_style(p, "1;33");
    pythia_buf_printf(p->out, "%zu. ", number);
    print_safely(p, pythia__string(group, "request_type"));
    print_style(p, "0");
    pythia_buf_putc(p->out, '\n');
    print_group_figures(p, group);
    struct pythia_buf unlike = {0};
    pythia__add_unlike(&unlike, group);
    if (unlike.size)
        paragraph_buf(p, "", &unlike);
    print_paragraph(p, "where", pythia__string(finding, "where"));
    print_group_edges(p, group);
    if (pythia__string(finding, "why")[0])
        print_paragraph(p, "why", pythia__string(finding, "why"));
    print_notes(p, finding);
    print_group_keys(p, group);
    print_joint_keys(p, group);
    print_group_splits(p, group);
}

static bool is_diagnosed(const json_t *group)
{
    return strcmp(pythia__string(group, "status"), "diagnosed") == 0;
}

/* What there is nothing to say about, a line for each type. */
static void print_other_groups(const struct page *p, const json_t *groups)
{
    struct pythia__alike *alike = pythia__gather_alike(groups, p->out);
    const json_t *group;
    size_t i, shown = 0, left = 0;
    json_array_foreach (groups, i, group) {
        struct pythia__alike all = alike ? alike[i] : (struct pythia__alike){0};
        if (is_diagnosed(group) || all.groups == 0)
            continue;
        if (shown == QUIET_SHOWN) {
            left++;
            continue;
        }
        struct pythia_buf text = {0};
        const char *status = pythia__string(group, "status");
        pythia__add_count(&text, all.requests);
        pythia_buf_printf(&text, " request%s", all.requests == 1 ? "" : "s");
        if (all.groups > 1)
            pythia_buf_printf(&text, " in %zu groups", all.groups);
        pythia_buf_puts(&text, ", mean ");
        pythia__add_duration(&text, all.time_ns / all.requests);
        pythia_buf_printf(p->out, "%s%s%-8s %-36s ", shown ? "" : "\nOther groups\n", INDENT,
                          strcmp(status, "too_few") == 0 ? "too few" : status,
                          text.bytes ? text.bytes : "");
        print_safely(p, pythia__string(group, "request_type"));
        pythia_buf_putc(p->out, '\n');
        pythia_buf_free(&text);
        shown++;
    }
    if (left > 0)
        pythia_buf_printf(p->out, "%sand %zu more\n", INDENT, left);
    pythia_free(alike);
}

/* Types in which the path makes a difference of at least that part of all variance. */
static void print_report_paths(const struct page *p, struct pythia__paths *ranked, double least)
{
    const json_t *type;
    while ((type = pythia__next_paths(ranked, least)) != NULL) {
        const json_t *first = json_array_get(pythia__array(type, "explanations"), 0);
        const char *before;
        pythia_buf_putc(p->out, '\n');
        print_style(p, "1;33");
        pythia_buf_puts(p->out, "Paths of ");
        print_safely(p, pythia__string(type, "name"));
        print_style(p, "0");
        pythia_buf_putc(p->out, '\n');
        struct pythia_buf text = {0};
        pythia__add_percent(&text, pythia__number(type, "between_paths_share"));
        pythia_buf_puts(&text,
                        " of the variance lies between requests that take different paths. ");
        if (pythia__is_early_end(first)) {
            pythia__add_early_end(&text, first);
            pythia_buf_puts(&text, pythia__key_name(first, &before));
        } else {
            pythia_buf_printf(&text, "Correlates with %s", pythia__string(first, "key"));
        }
        pythia__add_means(&text, pythia__is_early_end(first) ? "; mean " : ": mean ", first);
        pythia_buf_putc(&text, '.');
        paragraph_buf(p, "why", &text);
        print_joint_keys(p, type);
    }
}

static void print_suggestions(const struct page *p, const json_t *report)
{
    const json_t *list = pythia__array(report, "next"), *one;
    size_t i;
    pythia_buf_putc(p->out, '\n');
    print_style(p, "1");
    pythia_buf_puts(p->out, pythia__next_title(report));
    pythia_buf_puts(p->out, json_array_size(list) ? "\n" : ".\n");
    print_style(p, "0");
    json_array_foreach (list, i, one) {
        pythia_buf_printf(p->out, "%s", INDENT);
        print_style(p, "1;32");
        print_safely(p, pythia__string(one, "trace_point"));
        print_style(p, "0");
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, "shows up to ");
        pythia__add_percent(&text, pythia__number(one, "gain"));
        pythia_buf_puts(&text, " of the variance, costs ");
        pythia__add_duration(&text, pythia__number(one, "cost_ns"));
        pythia_buf_printf(&text, " a request: %s.", pythia__string(one, "reason"));
        pythia_buf_putc(p->out, '\n');
        paragraph_buf(p, "", &text);
    }
}

/* Why request types have no cause, or not a closer one. */
static void print_search_ends(const struct page *p, const json_t *search)
{
    const json_t *problems = pythia__array(search, "problems"), *problem;
    struct pythia_buf few = {0}, lessons = {0}, unknown = {0};
    size_t i, told = 0;
    json_array_foreach (problems, i, problem) {
        struct pythia_buf text = {0};
        if (!pythia__has_reason(problem) || ++told > PYTHIA__ENDS_SHOWN)
            continue;
        pythia_buf_printf(&text, "%s: ", pythia__string(problem, "request_type"));
        pythia__add_reason(&text, problem);
        paragraph_buf(p, "end", &text);
    }
    pythia__add_never_searched(&few, search);
    if (told > PYTHIA__ENDS_SHOWN)
        pythia_buf_printf(p->out, "%sand %zu more\n", INDENT, told - PYTHIA__ENDS_SHOWN);
    paragraph_if_any(p, "end", &few);
    pythia__add_lessons(&lessons, search);
    paragraph_if_any(p, "learn", &lessons);
    pythia__add_unknown_points(&unknown, search);
    paragraph_if_any(p, "space", &unknown);
}

static void add_search(const struct page *p, const json_t *search, size_t cycles)
{
    double points = pythia__number(search, "trace_points"),
           skeleton = pythia__number(search, "skeleton"), opened = pythia__number(search, "opened");
    if (points == 0) {
        pythia_buf_puts(p->out, ": the search space is being learnt.\n");
        return;
    }
    pythia_buf_printf(p->out,
                      ": of %.0f trace points %.0f %s open from the start, %.0f more %s opened in "
                      "%zu cycle%s.%s\n",
                      points, skeleton, pythia__was(skeleton), opened, pythia__was(opened), cycles,
                      cycles == 1 ? "" : "s",
                      json_is_true(json_object_get(search, "finished")) ? ""
                                                                        : " The search continues.");
}

/* The search, a paragraph a cycle. */
static void print_loop(const struct page *p, const json_t *report)
{
    const json_t *cycles = pythia__array(report, "loop"), *cycle, *search;
    size_t i;
    search = json_object_get(report, "search");
    if (!search)
        return;
    pythia_buf_putc(p->out, '\n');
    print_style(p, "1");
    pythia_buf_puts(p->out, "The search");
    print_style(p, "0");
    add_search(p, search, pythia__count_cycles(cycles));
    struct pythia_buf pins = {0};
    pythia__add_pins(&pins, search);
    paragraph_if_any(p, "pins", &pins);
    json_array_foreach (cycles, i, cycle) {
        char number[64];
        struct pythia_buf text = {0};
        pythia__name_cycle(cycle, number, sizeof(number));
        double requests = pythia__number(cycle, "requests"),
               spans = pythia__number(cycle, "spans_seen");
        pythia__add_count(&text, requests);
        pythia_buf_printf(
            &text, "%s%s, ", requests == 1 ? " request" : " requests",
            json_is_true(json_object_get(cycle, "again")) ? ", the capture played again" : "");
        pythia__add_count(&text, spans);
        pythia_buf_puts(&text, spans == 1 ? " span. " : " spans. ");
        pythia_buf_puts(&text, pythia__string(cycle, "sentence"));
        pythia__add_budget_use(&text, search, cycle);
        paragraph_buf(p, number, &text);
    }
    print_search_ends(p, search);
}

/* What was found in earlier cycles and still holds, though the groups of the last cycle do not show
 * it. Returns how many there are. */
static size_t held_verdicts(const struct page *p, const json_t *report)
{
    const json_t *verdicts = pythia__array(report, "verdicts"), *verdict;
    size_t i, count = 0;
    json_array_foreach (verdicts, i, verdict) {
        if (!pythia__is_held(report, verdict))
            continue;
        pythia_buf_puts(p->out, count++ == 0 ? "\nFound in earlier cycles\n" : "");
        print_paragraph(p, "type", pythia__string(verdict, "request_type"));
        print_paragraph(p, "where", pythia__string(verdict, "sentence"));
        print_notes(p, verdict);
    }
    return count;
}

void pythia__report_text(const json_t *report, bool colour, struct pythia_buf *out)
{
    struct page p = {out, colour};
    const json_t *groups = pythia__array(report, "groups"), *group;
    struct pythia__paths ranked = pythia__rank_paths(pythia__array(report, "request_types"), out);
    size_t i, number = 0;
    print_report_head(&p, report);
    struct pythia_buf overhead = {0}, incomplete = {0}, clocks = {0};
    const json_t *in = json_object_get(report, "input");
    pythia__add_incomplete(&incomplete, report);
    paragraph_if_any(&p, "lost", &incomplete);
    pythia__add_clock_bases(&clocks, &in, 1);
    paragraph_if_any(&p, "clock", &clocks);
    pythia__add_overhead(&overhead, report);
    paragraph_if_any(&p, "cost", &overhead);
    split_by(&p, report);
    print_loop(&p, report);
    json_array_foreach (groups, i, group)
        if (is_diagnosed(group)) {
            print_report_paths(&p, &ranked, pythia__number(group, "variance_share"));
            print_diagnosed_group(&p, group, ++number);
        }
    size_t held = held_verdicts(&p, report), few = 0;
    json_array_foreach (groups, i, group)
        few += strcmp(pythia__string(group, "status"), "too_few") == 0;
    print_report_paths(&p, &ranked, 0);
    if (number + held + ranked.told == 0)
        pythia_buf_puts(out,
                        few == json_array_size(groups)
                            ? "\nNot enough data: no group has enough requests to be diagnosed.\n"
                            : "\nNothing to diagnose: no group of requests varies in a way that "
                              "stands out.\n");
    print_other_groups(&p, groups);
    if (number > 0)
        print_suggestions(&p, report);
    pythia__paths_free(&ranked);
}
