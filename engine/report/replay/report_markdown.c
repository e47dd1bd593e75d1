/* The report as GitHub-flavoured Markdown: what the text form says, in its order, with tables. */
#include <math.h>
#include <string.h>

#include "forms.h"
#include "results/report_verdict.h"
#include "sentences/report_sentence.h"
#include "sentences/sentences.h"
#include "write/markdown_writer.h"

#define EDGES_SHOWN  4
#define SHARE_MIN    .02 /* below which an edge or a key is not shown, unless it is the first */
#define KEYS_SHOWN   3
#define SPLITS_SHOWN 2
#define QUIET_SHOWN  10

/* A sentence about a group, a type or a suggestion, with the names in it as code. */
static void add_sentence(struct pythia_buf *to, const char *sentence, const json_t *of,
                         bool in_table)
{
    struct pythia__names names;
    bool is_name;
    size_t size;
    pythia__names_of(&names, of);
    for (const char *at = sentence;
         (size = pythia__sentence_piece(&names, sentence, at, &is_name)) > 0; at += size) {
        struct pythia_buf piece = {0};
        pythia_buf_add(&piece, at, size);
        if (is_name)
            pythia__markdown_name(to, piece.bytes ? piece.bytes : "", in_table);
        else
            pythia__markdown_prose(to, piece.bytes ? piece.bytes : "");
        if (piece.failed)
            to->failed = 1;
        pythia_buf_free(&piece);
    }
}

/* An edge in the cell of a table: the shared words, with its names as code. */
static void add_edge(struct pythia_buf *to, const json_t *edge)
{
    struct pythia_buf text = {0};
    pythia__add_edge(&text, edge);
    add_sentence(to, text.bytes ? text.bytes : "", edge, true);
    if (text.failed)
        to->failed = 1;
    pythia_buf_free(&text);
}

static void add_count(struct pythia_buf *to, double count)
{
    if (isfinite(count))
        pythia__add_count(to, count);
    else
        pythia_buf_putc(to, '-');
}

/* ---- head ---- */

static double sum_of(json_t *counts)
{
    double sum = 0;
    for (void *at = json_object_iter(counts); at; at = json_object_iter_next(counts, at))
        sum += json_number_value(json_object_iter_value(at));
    return sum;
}

/* " 4 repaired (`orphan` 3, `skew` 1)." */
static void list_counters(struct pythia_buf *to, const json_t *input, const char *key)
{
    json_t *counts = json_object_get(input, key), *value;
    const char *name, *comma = " (";
    double sum = sum_of(counts);
    if (!(sum > 0))
        return;
    pythia_buf_putc(to, ' ');
    add_count(to, sum);
    pythia_buf_printf(to, " %s", key);
    json_object_foreach (counts, name, value) {
        pythia_buf_puts(to, comma);
        pythia__markdown_name(to, name, false);
        pythia_buf_putc(to, ' ');
        add_count(to, json_number_value(value));
        comma = ", ";
    }
    pythia_buf_puts(to, ").");
}

static void list_head(struct pythia_buf *to, const json_t *report)
{
    const json_t *in = json_object_get(report, "input");
    size_t types = json_array_size(pythia__array(report, "request_types"));
    double failed = pythia__number(in, "failed_files");
    double bytes = pythia__number(in, "bytes");
    pythia_buf_puts(to, "# Pythia report\n\n**");
    add_count(to, pythia__number(in, "traces"));
    pythia_buf_printf(to, " requests** of %zu type%s", types, types == 1 ? "" : "s");
    pythia__add_types_without(to, report);
    pythia_buf_puts(to, ", ");
    add_count(to, pythia__number(in, "spans"));
    pythia_buf_puts(to, " spans, from ");
    pythia__add_origin(to, in);
    if (isfinite(bytes))
        pythia_buf_printf(to, " (%.1f MB)", bytes / 1e6);
    pythia_buf_putc(to, '.');
    if (failed > 0)
        pythia_buf_printf(to, " **%.0f file%s could not be read to the end.**", failed,
                          failed == 1 ? "" : "s");
    if (pythia__number(in, "hidden") > 0) {
        pythia_buf_putc(to, ' ');
        add_count(to, pythia__number(in, "hidden"));
        pythia_buf_puts(to, " hidden, of closed trace points.");
    }
    list_counters(to, in, "repaired");
    list_counters(to, in, "dropped");
    if (sum_of(json_object_get(in, "repaired")) + sum_of(json_object_get(in, "dropped")) == 0)
        pythia_buf_puts(to, " Nothing had to be repaired, nothing was dropped.");
    pythia_buf_putc(to, '\n');
    struct pythia_buf overhead = {0};
    pythia__add_sampling(&overhead, report);
    if (overhead.size > 0)
        pythia_buf_putc(&overhead, ' ');
    pythia__add_incomplete(&overhead, report);
    pythia__add_clock_bases(&overhead, &in, 1);
    if (overhead.size > 0)
        pythia_buf_putc(&overhead, ' ');
    pythia__add_overhead(&overhead, report);
    if (overhead.size > 0) {
        pythia_buf_puts(to, "\n");
        pythia__markdown_prose(to, overhead.bytes);
        pythia_buf_putc(to, '\n');
    }
    to->failed = to->failed || overhead.failed;
    pythia_buf_free(&overhead);
}

/* ---- groups ---- */

static bool is_diagnosed(const json_t *group)
{
    return strcmp(pythia__string(group, "status"), "diagnosed") == 0;
}

static void cell_duration(struct pythia_buf *to, const json_t *object, const char *key)
{
    pythia__add_duration(to, pythia__number(object, key));
    pythia_buf_puts(to, " | ");
}

static void list_group_figures(struct pythia_buf *to, const json_t *group)
{
    static const char *const keys[] = {"mean_ns", "sd_ns", "p50_ns", "p90_ns", "p99_ns"};
    pythia_buf_puts(to, "\n| requests | mean | sd | p50 | p90 | p99 | of all variance |\n"
                        "| --: | --: | --: | --: | --: | --: | --: |\n| ");
    double count = pythia__number(group, "count"), all = pythia__number(group, "type_count");
    add_count(to, count);
    if (all > count) {
        pythia_buf_puts(to, " of ");
        add_count(to, all);
    }
    pythia_buf_puts(to, " | ");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        cell_duration(to, group, keys[i]);
    pythia__add_percent(to, pythia__number(group, "variance_share"));
    pythia_buf_puts(to, " |\n");
    if (json_object_get(group, "tracing_ns")) {
        pythia_buf_puts(to, "\nTracing adds ");
        pythia__add_tracing(to, group);
        pythia_buf_puts(to, ".\n");
    }
}

static void list_group_modes(struct pythia_buf *to, const json_t *group)
{
    const json_t *of = json_object_get(group, "modes");
    const json_t *centers = pythia__array(of, "centers_ns"),
                 *weights = pythia__array(of, "weights");
    for (size_t i = 0; i < json_array_size(centers); i++) {
        if (i == 0)
            pythia_buf_printf(to, "\n%zu modes: ", json_array_size(centers));
        pythia_buf_puts(to, i ? ", " : "");
        pythia__add_percent(to, json_number_value(json_array_get(weights, i)));
        pythia_buf_puts(to, " near ");
        pythia__add_duration(to, json_number_value(json_array_get(centers, i)));
        if (i + 1 == json_array_size(centers))
            pythia_buf_puts(to, ".\n");
    }
}

static void add_rests_on(struct pythia_buf *to, const json_t *finding)
{
    if (!json_is_object(json_object_get(finding, "rests_on")))
        return;
    pythia_buf_puts(to, " (");
    pythia__add_rests_on(to, finding);
    pythia_buf_putc(to, ')');
}

static void list_group_edges(struct pythia_buf *to, const json_t *group)
{
    const json_t *list = pythia__array(group, "edges");
    for (size_t i = 0; i < json_array_size(list) && i < EDGES_SHOWN; i++) {
        const json_t *edge = json_array_get(list, i);
        double share = pythia__number(edge, "share");
        if (isnan(share) || (i > 0 && !(share >= SHARE_MIN)))
            break;
        if (i == 0)
            pythia_buf_puts(to,
                            "\n| share | 95 % interval | mean | stretch of the critical path |\n"
                            "| --: | --: | --: | --- |\n");
        pythia_buf_puts(to, "| ");
        pythia__add_percent(to, share);
        pythia_buf_puts(to, " | ");
        pythia__add_percent(to, pythia__number(edge, "share_low"));
        pythia_buf_puts(to, " to ");
        pythia__add_percent(to, pythia__number(edge, "share_high"));
        pythia_buf_puts(to, " | ");
        cell_duration(to, edge, "mean_ns");
        add_edge(to, edge);
        add_rests_on(to, edge);
        pythia_buf_puts(to, " |\n");
    }
}

static void list_probability(struct pythia_buf *to, double p)
{
    struct pythia_buf text = {0};
    pythia__add_chance_cell(&text, p);
    pythia__markdown_prose(to, text.bytes ? text.bytes : "");
    pythia_buf_puts(to, " | ");
    if (text.failed)
        to->failed = 1;
    pythia_buf_free(&text);
}

static void key_row(struct pythia_buf *to, const json_t *key)
{
    const char *before, *name = pythia__key_name(key, &before);
    const char *proxy_of = pythia__string(key, "proxy_of");
    pythia_buf_printf(to, "| %s%s", before, before[0] ? " " : "");
    pythia__markdown_name(to, name, true);
    pythia_buf_puts(to, " | ");
    pythia__add_explained(to, key);
    pythia_buf_puts(to, " | ");
    list_probability(to, pythia__number(key, "q"));
    list_probability(to, pythia__number(key, "p_permutation"));
    if (proxy_of[0]) {
        pythia_buf_puts(to, "nothing beyond ");
        pythia__markdown_name(to, proxy_of, true);
    }
    if (json_is_true(json_object_get(key, "low_confidence")))
        pythia_buf_puts(to, proxy_of[0] ? ", low confidence" : "low confidence");
    add_rests_on(to, key);
    pythia_buf_puts(to, " |\n");
}

static void list_group_keys(struct pythia_buf *to, const json_t *group)
{
    const json_t *list = pythia__array(group, "explanations");
    size_t found = json_array_size(list), shown = 0;
    for (; shown < found && shown < KEYS_SHOWN; shown++) {
        const json_t *key = json_array_get(list, shown);
        if (shown > 0 && !(pythia__key_size(key) >= SHARE_MIN))
            break;
        if (shown == 0)
            pythia_buf_puts(to, "\n| key | explains | q | by permutation | |\n"
                                "| --- | --: | --: | --: | --- |\n");
        key_row(to, key);
    }
    pythia_buf_putc(to, '\n');
    pythia__add_keys_asked(to, group, shown);
    pythia_buf_putc(to, '\n');
}

/* What tells the group from the largest of its type, as a paragraph; nothing for that one. */
static void list_unlike(struct pythia_buf *to, const json_t *group)
{
    struct pythia_buf text = {0};
    pythia__add_unlike(&text, group);
    if (text.size > 0) {
        pythia_buf_putc(to, '\n');
        add_sentence(to, text.bytes, group, false);
        pythia_buf_putc(to, '\n');
    }
    if (text.failed)
        to->failed = 1;
    pythia_buf_free(&text);
}

/* What can be pasted: all of it, or else what it is about. */
static void add_option(struct pythia_buf *to, const json_t *of, const char *member)
{
    const char *option = pythia__string(of, member);
    if (pythia__option_fits(option)) {
        pythia__markdown_code(to, option);
        return;
    }
    pythia__markdown_name(to, pythia__string(of, "key"), false);
    pythia_buf_puts(to, PYTHIA__OPTION_LONG);
}

/* Words of the shared kind, which hold names from traces. */
static void add_words(struct pythia_buf *to, void (*add)(struct pythia_buf *, const json_t *),
                      const json_t *of)
{
    struct pythia_buf text = {0};
    add(&text, of);
    pythia__markdown_prose(to, text.bytes ? text.bytes : "");
    if (text.failed)
        to->failed = 1;
    pythia_buf_free(&text);
}

/* The keys that act together, as a paragraph. */
static void list_joint_keys(struct pythia_buf *to, const json_t *of)
{
    if (!json_is_object(json_object_get(of, "joint")))
        return;
    pythia_buf_puts(to, "\n**Together.** ");
    add_words(to, pythia__add_joint, of);
    pythia_buf_putc(to, '\n');
}

static void part_table(struct pythia_buf *to, const json_t *of)
{
    const json_t *parts = pythia__array(of, "parts");
    pythia_buf_puts(to, "\n\n| part | requests | mean |\n| --- | --: | --: |\n");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        pythia_buf_puts(to, "| ");
        pythia__markdown_name(to, pythia__string(part, "part"), true);
        pythia_buf_puts(to, " | ");
        add_count(to, pythia__number(part, "requests"));
        pythia_buf_puts(to, " | ");
        pythia__add_duration(to, pythia__number(part, "mean_ns"));
        pythia_buf_puts(to, " |\n");
    }
}

static void list_group_splits(struct pythia_buf *to, const json_t *group)
{
    const json_t *list = pythia__array(group, "splits");
    for (size_t i = 0; i < json_array_size(list) && i < SPLITS_SHOWN; i++) {
        const json_t *one = json_array_get(list, i);
        pythia_buf_puts(to, i ? "\n" : "\n**Split.** ");
        add_option(to, one, "option");
        pythia_buf_putc(to, ' ');
        add_words(to, pythia__add_proposal_share, one);
        part_table(to, one);
    }
}

static void split_by(struct pythia_buf *to, const json_t *report)
{
    const json_t *list = pythia__array(report, "split_by");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *split = json_array_get(list, i), *types = pythia__array(split, "types");
        pythia_buf_puts(to, "\n## Split by ");
        add_option(to, split, "split");
        pythia_buf_puts(to, "\n\nOf all, ");
        add_words(to, pythia__add_split_by, split);
        pythia_buf_putc(to, '\n');
        for (size_t k = 0; k < json_array_size(types); k++) {
            const json_t *type = json_array_get(types, k);
            pythia_buf_puts(to, "\nOf ");
            pythia__markdown_name(to, pythia__string(type, "request_type"), false);
            pythia_buf_puts(to, ": ");
            add_words(to, pythia__add_split_share, type);
            part_table(to, type);
        }
    }
}

/* How sure it is, what else was seen, and what it was before. */
static void list_notes(struct pythia_buf *to, const json_t *finding, const json_t *of)
{
    for (size_t i = 0; i < PYTHIA__NOTES; i++) {
        if (!pythia__string(finding, pythia__notes[i])[0])
            continue;
        pythia_buf_putc(to, '\n');
        add_sentence(to, pythia__string(finding, pythia__notes[i]), of, false);
        pythia_buf_putc(to, '\n');
    }
}

/* Returns how many there are. */
static size_t held_verdicts(struct pythia_buf *to, const json_t *report)
{
    size_t count = 0;
    const json_t *verdicts = pythia__array(report, "verdicts");
    for (size_t i = 0; i < json_array_size(verdicts); i++) {
        const json_t *verdict = json_array_get(verdicts, i);
        if (!pythia__is_held(report, verdict))
            continue;
        pythia_buf_puts(to, "\n## Found in an earlier cycle: ");
        pythia__markdown_name(to, pythia__string(verdict, "request_type"), false);
        pythia_buf_puts(to, "\n\n");
        add_sentence(to, pythia__string(verdict, "sentence"), verdict, false);
        pythia_buf_putc(to, '\n');
        list_notes(to, verdict, verdict);
        count++;
    }
    return count;
}

static void list_diagnosed_group(struct pythia_buf *to, const json_t *group, size_t number)
{
    const json_t *finding = json_object_get(group, "finding");
    const char *why = pythia__string(finding, "why");
    pythia_buf_printf(to, "\n## %zu. ", number);
    pythia__markdown_name(to, pythia__string(group, "request_type"), false);
    pythia_buf_putc(to, '\n');
    list_unlike(to, group);
    pythia_buf_puts(to, "\n**Where.** ");
    add_sentence(to, pythia__string(finding, "where"), group, false);
    pythia_buf_putc(to, '\n');
    if (why[0]) {
        pythia_buf_puts(to, "\n**Why.** ");
        add_sentence(to, why, group, false);
        pythia_buf_putc(to, '\n');
    }
    list_notes(to, finding, group);
    list_group_figures(to, group);
    list_group_modes(to, group);
    list_group_edges(to, group);
    list_group_keys(to, group);
    list_joint_keys(to, group);
    list_group_splits(to, group);
}

/* ---- foot ---- */

static void list_other_groups(struct pythia_buf *to, const json_t *groups)
{
    size_t shown = 0, quiet = 0;
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        if (is_diagnosed(group) || quiet++ >= QUIET_SHOWN)
            continue;
        if (shown++ == 0)
            pythia_buf_puts(to, "\n## Other groups\n\n| status | requests | mean | group |\n"
                                "| --- | --: | --: | --- |\n");
        pythia_buf_puts(to, "| ");
        pythia__markdown_prose(to, pythia__string(group, "status"));
        pythia_buf_puts(to, " | ");
        add_count(to, pythia__number(group, "count"));
        pythia_buf_puts(to, " | ");
        cell_duration(to, group, "mean_ns");
        pythia__markdown_name(to, pythia__string(group, "request_type"), true);
        pythia_buf_puts(to, " |\n");
    }
    if (quiet > shown)
        pythia_buf_printf(to, "\nand %zu more\n", quiet - shown);
}

/* Types in which the path makes a difference of at least that part of all variance. */
static void list_paths(struct pythia_buf *to, struct pythia__paths *ranked, double least)
{
    const json_t *type;
    while ((type = pythia__next_paths(ranked, least)) != NULL) {
        const json_t *first = json_array_get(pythia__array(type, "explanations"), 0);
        const char *before, *name = pythia__key_name(first, &before);
        pythia_buf_puts(to, "\n## Paths of ");
        pythia__markdown_name(to, pythia__string(type, "name"), false);
        pythia_buf_puts(to, "\n\n");
        pythia__add_percent(to, pythia__number(type, "between_paths_share"));
        pythia_buf_puts(to, " of the variance lies between requests that take different paths. ");
        if (pythia__is_early_end(first))
            pythia__add_early_end(to, first);
        else
            pythia_buf_printf(to, "Correlates with %s%s", before, before[0] ? " " : "");
        pythia__markdown_name(to, name, false);
        struct pythia_buf text = {0};
        pythia__add_means(&text, pythia__is_early_end(first) ? "; mean " : ": mean ", first);
        pythia_buf_putc(&text, '.');
        pythia__markdown_prose(to, text.bytes ? text.bytes : "");
        pythia_buf_free(&text);
        pythia_buf_putc(to, '\n');
        list_joint_keys(to, type);
    }
}

/* Why request types have no cause, or not a closer one: a list, the blank line before it included.
 */
static void loop_ends(struct pythia_buf *to, const json_t *search)
{
    const json_t *problems = pythia__array(search, "problems");
    struct pythia_buf text = {0};
    size_t told = 0;
    for (size_t i = 0; i < json_array_size(problems); i++) {
        const json_t *problem = json_array_get(problems, i);
        if (!pythia__has_reason(problem) || ++told > PYTHIA__ENDS_SHOWN)
            continue;
        pythia_buf_puts(to, told == 1 ? "\n- " : "- ");
        pythia__markdown_name(to, pythia__string(problem, "request_type"), false);
        pythia_buf_puts(to, ": ");
        pythia_buf_clear(&text);
        pythia__add_reason(&text, problem);
        pythia__markdown_prose(to, text.bytes ? text.bytes : "");
        pythia_buf_putc(to, '\n');
    }
    if (told > PYTHIA__ENDS_SHOWN)
        pythia_buf_printf(to, "- and %zu more\n", told - PYTHIA__ENDS_SHOWN);
    pythia_buf_clear(&text);
    pythia__add_never_searched(&text, search);
    if (text.size > 0)
        pythia_buf_printf(to, "%s- %s\n", told++ == 0 ? "\n" : "", text.bytes);
    pythia_buf_clear(&text);
    pythia__add_lessons(&text, search);
    if (text.size > 0)
        pythia_buf_printf(to, "%s- %s\n", told++ == 0 ? "\n" : "", text.bytes);
    pythia_buf_clear(&text);
    pythia__add_unknown_points(&text, search);
    if (text.size > 0) {
        pythia_buf_puts(to, told == 0 ? "\n- " : "- ");
        pythia__markdown_prose(to, text.bytes);
        pythia_buf_putc(to, '\n');
    }
    if (text.failed)
        to->failed = 1;
    pythia_buf_free(&text);
}

/* What a closed loop did, an item a cycle. */
static void list_loop(struct pythia_buf *to, const json_t *report)
{
    const json_t *list = pythia__array(report, "loop"), *search = json_object_get(report, "search");
    if (!search)
        return;
    pythia_buf_puts(to, "\n## The search\n\n");
    pythia__add_search(to, search);
    struct pythia_buf pins = {0};
    pythia__add_pins(&pins, search);
    pythia_buf_printf(to, "%s%s\n\n", pins.size ? " " : "", pins.size ? pins.bytes : "");
    if (pins.failed)
        to->failed = 1;
    pythia_buf_free(&pins);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *cycle = json_array_get(list, i);
        char number[64];
        pythia__name_cycle(cycle, number, sizeof(number));
        pythia_buf_printf(to, "%zu. ", i + 1);
        if (strchr(number, '-'))
            pythia_buf_printf(to, "Cycles %s: ", number);
        double requests = pythia__number(cycle, "requests"),
               spans = pythia__number(cycle, "spans_seen");
        add_count(to, requests);
        pythia_buf_puts(to, requests == 1 ? " request, " : " requests, ");
        add_count(to, spans);
        pythia_buf_puts(to, spans == 1 ? " span. " : " spans. ");
        pythia__markdown_prose(to, pythia__string(cycle, "sentence"));
        pythia__add_budget_use(to, search, cycle);
        pythia_buf_putc(to, '\n');
    }
    loop_ends(to, search);
}

static void list_suggestions(struct pythia_buf *to, const json_t *report)
{
    const json_t *list = pythia__array(report, "next");
    bool some = json_array_size(list) > 0;
    pythia_buf_printf(to, some ? "\n## %s\n\n" : "\n%s.\n", pythia__next_title(report));
    if (some)
        pythia_buf_puts(to, "| trace point | shows up to | costs a request | why |\n"
                            "| --- | --: | --: | --- |\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        pythia_buf_puts(to, "| ");
        pythia__markdown_name(to, pythia__string(one, "trace_point"), true);
        pythia_buf_puts(to, " | ");
        pythia__add_percent(to, pythia__number(one, "gain"));
        pythia_buf_puts(to, " | ");
        cell_duration(to, one, "cost_ns");
        add_sentence(to, pythia__string(one, "reason"), one, true);
        pythia_buf_puts(to, " |\n");
    }
}

void pythia__report_markdown(const json_t *report, struct pythia_buf *out)
{
    const json_t *groups = pythia__array(report, "groups");
    struct pythia__paths ranked = pythia__rank_paths(pythia__array(report, "request_types"), out);
    size_t number = 0, few = 0;
    list_head(out, report);
    split_by(out, report);
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        few += strcmp(pythia__string(group, "status"), "too_few") == 0;
        if (!is_diagnosed(group))
            continue;
        list_paths(out, &ranked, pythia__number(group, "variance_share"));
        list_diagnosed_group(out, group, ++number);
    }
    list_paths(out, &ranked, 0);
    if (held_verdicts(out, report) + number + ranked.told == 0)
        pythia_buf_puts(out,
                        few == json_array_size(groups)
                            ? "\nNot enough data: no group has enough requests to be diagnosed.\n"
                            : "\nNothing to diagnose: no group of requests varies in a way that "
                              "stands out.\n");
    list_loop(out, report);
    list_other_groups(out, groups);
    if (number > 0)
        list_suggestions(out, report);
    pythia__paths_free(&ranked);
}
