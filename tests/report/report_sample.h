/* Reports for the tests of their forms, with a name of choice wherever a trace can put one. */
#ifndef REPORT_SAMPLE_H
#define REPORT_SAMPLE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/report.h"
#include "pythia/status.h"

/* What a trace may bring. None of them may be longer in visible characters than names are shown. */
static const char *const sample_hostile[] = {
    "<script>alert(1)</script>",
    "\"onload=\"alert(1)",
    "' onmouseover='alert(1)",
    "]]>",
    "-->",
    "<!--",
    "</style></title></svg>",
    "&lt;b&gt; &#60;i&#62; &amp",
    "a|b||c",
    "a\\|b\\\\|c\\",
    "`a` ``b`` `",
    "```",
    "[link](http://example.org) ![picture](x)",
    "http://example.org/?a=1&b=2",
    "www.1example.org",
    "someone@example.org @team #123 :smile: $x$",
    "**bold** _a_ ~~gone~~ # heading",
    "| --- | --- |",
    "first\nsecond\r\n\n# third\n| a | b |\n| --- | --- |\n",
    "\t tab \x01 \x1b[31m red \x7f",
    "exe\xE2\x80\xAEgpj.exe",
    "\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF\xEF\xBF\xBE\xF3\xA0\x81\x81",
    " ",
    "",
    "%s%n%d",
    "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E \xF0\x9F\x94\xA5",
};

#define SAMPLE_HOSTILE (sizeof(sample_hostile) / sizeof(sample_hostile[0]))

/* Nothing, or nothing but spaces, cannot be told from the rest of a sentence. */
static inline bool sample_can_be_set_apart(const char *name)
{
    return name[strspn(name, " ")] != '\0';
}

static inline json_t *sample_event(const char *name, const char *event)
{
    return json_pack("{s:s, s:s}", "trace_point", name, "event", event);
}

/* An edge in `name` below `depth` contexts of that name. */
static inline json_t *sample_edge(const char *name, const char *from, const char *to, size_t depth,
                                  double mean_ns, double share)
{
    json_t *context = json_array();
    for (size_t i = 0; i < depth; i++)
        json_array_append_new(context, json_string(name));
    return json_pack("{s:o, s:o, s:o, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "from",
                     sample_event(name, from), "to", sample_event(name, to), "context", context,
                     "requests", 40, "repeats", 1.5, "mean_ns", mean_ns, "sd_ns", mean_ns / 2,
                     "cov", .5, "share", share, "share_low", share - .1, "share_high", share + .1,
                     "raw_share", share, "outlier_driven", 1);
}

/* A key of a name and a value; `structural` makes it one that counts visits. */
static inline json_t *sample_key(const char *name, int structural)
{
    struct pythia_buf key = {0};
    pythia_buf_printf(&key, "%s%s", structural ? "count:" : "", name);
    json_t *out = json_pack(
        "{s:s, s:i, s:s, s:b, s:f, s:f, s:f, s:f, s:b, s:b, s:s, s:[{s:o, s:o, s:f}], s:{s:s, s:i, "
        "s:f, "
        "s:i, s:f}, s:[{s:s, s:i, s:f}, {s:s, s:i, s:f}]}",
        "key", key.bytes, "rank", 1, "kind", "categorical", "structural", structural, "explained",
        .4, "q", 1e-9, "p_permutation", .001, "stability", .5, "confirmed", 0, "low_confidence", 1,
        "proxy_of", name, "edges", "from", sample_event(name, "start"), "to",
        sample_event(name, "end"), "loading", .9, "split", "condition", name, "high_requests", 10,
        "high_mean_ns", 2e9, "low_requests", 30, "low_mean_ns", 1e9, "profile", "value", name,
        "requests", 10, "mean_ns", 2e9, "value", name, "requests", 30, "mean_ns", 1e9);
    pythia_buf_free(&key);
    return out;
}

static inline json_t *sample_sentence(const char *before, const char *name)
{
    struct pythia_buf text = {0};
    pythia_buf_printf(&text, "%s%s.", before, name);
    json_t *out = json_stringn(text.bytes, text.size);
    pythia_buf_free(&text);
    return out;
}

/* A number, a trace point and a level that act together. */
static inline json_t *sample_joint(const char *name)
{
    return json_pack("{s:[{s:s, s:b, s:n, s:f, s:f}, {s:s, s:b, s:n, s:f, s:f}, {s:s, s:b, s:s, "
                     "s:f, s:f}], s:f, s:f, s:f, s:f, s:f}",
                     "keys", "key", name, "structural", 0, "condition", "coefficient", 1.,
                     "slope_ns", 2e6, "key", "has:api", "structural", 1, "condition", "coefficient",
                     -.5, "slope_ns", -1e6, "key", name, "structural", 0, "condition", name,
                     "coefficient", .1, "slope_ns", 3e3, "r", .99, "explained", .9,
                     "explained_by_best", .5, "q", 1e-9, "stability", 1.);
}

/* A split of two parts, that was proposed or that the requests were parted by. */
static inline json_t *sample_split(const char *name)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:[f], s:[[s]], s:i, s:f, s:f, s:f, s:f, "
                     "s:[{s:s, s:i, s:f}, {s:s, s:i, s:f}]}",
                     "key", name, "kind", "numeric", "request_type", name, "split", name, "option",
                     name, "instead_of", name, "found_by", "modes", "cuts", 3., "levels", name,
                     "other_levels", 2, "variance_share", .6, "share_low", .5, "share_high", .7,
                     "q", 1e-9, "parts", "part", name, "requests", 10, "mean_ns", 2e9, "part", name,
                     "requests", 30, "mean_ns", 1e9);
}

static inline json_t *sample_group(const char *name, const char *id, const char *status)
{
    json_t *bins = json_array(), *path = json_array();
    for (int i = 0; i < 10; i++)
        json_array_append_new(bins, json_pack("{s:f, s:f, s:i}", "low_ns", 1e9 * (1 << i),
                                              "high_ns", 2e9 * (1 << i), "count", i * i));
    json_array_append_new(
        path, json_pack("{s:s, s:s, s:i}", "trace_point", name, "event", "start", "depth", 0));
    return json_pack(
        "{s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:s, s:b, s:[s], s:{s:i, "
        "s:[f], s:[f,f], s:[f,f]}, s:o, s:[{s:s, s:i}], s:o, s:[o,o,o,o], s:i, s:[o,o], s:[{s:s, "
        "s:s}], s:{s:o, s:o}, s:i, s:{s:s, s:[s], s:[s]}, s:[o], s:o}",
        "id", id, "request_type", name, "count", 40, "sampled", 40, "mean_ns", 3e9, "sd_ns", 1e9,
        "cov", .33, "p50_ns", 2e9, "p90_ns", 5e9, "p99_ns", 8e9, "variance_share", .4, "status",
        status, "cause", "edge", "localised", 1, "inclusive", name, "modes", "count", 2, "cuts_ns",
        9e9, "centers_ns", 4e9, 30e9, "weights", .9, .1, "histogram", bins, "slowest", "trace_id",
        name, "duration_ns", 9, "path", path, "edges",
        sample_edge(name, "start", "end", 1, 2e9, .7),
        sample_edge(name, "end", "start", 2, 1e9, .2),
        sample_edge(name, "start", "start", 3, 1e9, .1), sample_edge(name, "end", "end", 0, 1, 0.),
        "keys_asked", 5, "explanations", sample_key(name, 0), sample_key(name, 1), "skipped_keys",
        "key", name, "reason", name, "finding", "where", sample_sentence("It is inside ", name),
        "why", sample_sentence("With it goes, hostile or not, ", name), "type_count", 80, "unlike",
        "group", name, "passes", name, "lacks", name, "splits", sample_split(name), "joint",
        sample_joint(name));
}

/* A cause of a search, with half of the variance, or what goes on from it. */
static inline json_t *sample_cause(const char *name)
{
    return json_pack("{s:{s:o, s:o, s:s}, s:f, s:f, s:f, s:s}", "edge", "from",
                     sample_event(name, "start"), "to", sample_event(name, "end"), "inside", name,
                     "share", .5, "share_low", .4, "share_high", .6, "request_type", name);
}

/* So many decisions about a trace point. */
static inline json_t *sample_switches(const char *name, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(out, json_pack("{s:s, s:f, s:f, s:f, s:f, s:o}", "trace_point", name,
                                             "gain", .25, "price_ns", 500., "cost_ns", 1000.,
                                             "bytes_per_second", 60., "reason",
                                             sample_sentence("it parts what lies in ", name)));
    return out;
}

/* Cycle `number` of a search: `points` were open, `explained` of the variance is, and so many
 * points were opened and closed after it. */
static inline json_t *sample_cycle(const char *name, int number, int points, double explained,
                                   size_t opened, size_t closed, bool found)
{
    json_t *causes = json_array();
    if (found)
        json_array_append_new(causes, sample_cause(name));
    return json_pack(
        "{s:i, s:i, s:i, s:b, s:f, s:i, s:i, s:i, s:s, s:s, s:o, s:f, s:o, s:o, s:o, s:{s:i, s:f, "
        "s:f}, s:{s:i, s:f, s:f}, s:o}",
        "cycle", number, "requests", 100, "under_way", 3, "again", number > 1, "seconds", 10.,
        "open_count", points, "spans_seen", 200, "spans_saved", 600, "request_type", name, "state",
        "searching", "top", sample_cause(name), "explained", explained, "found", causes, "opened",
        sample_switches(name, opened), "closed", sample_switches(name, closed), "spent", "points",
        points, "added_ns", 1000. * points, "bytes_per_second", 60. * points, "planned", "points",
        points + (int)opened - (int)closed, "added_ns", 3000., "bytes_per_second", 1234.,
        "sentence", sample_sentence("50 % of the variance lies inside ", name));
}

/* A sentence without its full stop. */
static inline json_t *sample_reason(const char *name)
{
    struct pythia_buf text = {0};
    pythia_buf_printf(&text, "there is %s in the way", name);
    json_t *out = json_stringn(text.bytes, text.size);
    pythia_buf_free(&text);
    return out;
}

/* A request type that was searched. */
static inline json_t *sample_problem(const char *name, const char *state, int cycles,
                                     const char *why)
{
    json_t *causes = json_array();
    if (strcmp(state, "done") == 0)
        json_array_append_new(causes, sample_cause(name));
    json_t *out = json_pack("{s:s, s:s, s:i, s:i, s:f, s:o, s:f}", "request_type", name, "state",
                            state, "cycles", cycles, "requests", 7, "variance_share", .5, "causes",
                            causes, "rest", .5);
    json_object_set_new(out, "why", why ? json_string(why) : json_null());
    json_object_set_new(out, "reason", why ? sample_reason(name) : json_null());
    return out;
}

static inline json_t *sample_search(const char *name)
{
    return json_pack(
        "{s:b, s:i, s:i, s:i, s:i, s:{s:i, s:i, s:f, s:f}, s:f, s:{s:[s], s:[s,s]}, s:i, "
        "s:[o,o,o,o]}",
        "finished", 1, "rounds", 2, "trace_points", 20, "skeleton", 4, "opened", 3, "budget",
        "points_per_cycle", 3, "points", 4, "added_ns", 20000., "bytes_per_second", 2000.,
        "price_ns", 1000., "pins", "always", name, "never", name, name, "min_requests", 30,
        "problems", sample_problem(name, "done", 3, NULL),
        sample_problem(name, "done", 2, "pinned"), sample_problem(name, "given_up", 3, "budget"),
        sample_problem(name, "too_few", 0, "too_few"));
}

/* What is found of a type, shown by a group. */
static inline json_t *sample_verdict(const char *name, const char *group, const char *state)
{
    json_t *edge = json_pack("{s:o, s:o}", "from", sample_event(name, "start"), "to",
                             sample_event(name, "end"));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:[{s:O, s:f}], s:[{s:o, s:f}], s:o, "
                     "s:{s:s}, s:s, s:i, s:i, s:I, s:o}",
                     "request_type", name, "state", state, "sentence",
                     sample_sentence("97 % lies inside ", name), "where",
                     sample_sentence("97 % lies inside ", name), "why",
                     sample_sentence("It goes with ", name), "confidence", "high", "standing",
                     "Confidence is high.", "found", "edge", edge, "share", .97, "also_seen",
                     "edge", edge, "share", .1, "also", sample_sentence("Also seen: ", name),
                     "explanation", "key", name, "group", group, "requests", 40, "since_cycle", 2,
                     "since_unix_ns", (json_int_t)1700003600 * 1000000000, "change",
                     sample_sentence("Before cycle 2 it was ", name));
}

/* A report that has something of all there is, and `name` in all places that a trace can fill. */
static inline json_t *sample_report(const char *name)
{
    json_t *report = json_pack(
        "{s:s, s:{s:[s], s:i, s:i, s:i, s:i, s:i, s:{s:i}, s:{s:i}}, s:f, s:[{s:s, s:i, s:f, s:f, "
        "s:f, s:i, s:[o], s:[]}], s:[o,o], s:[{s:s, s:s, s:s, s:o, s:o, s:f, s:f, s:o}], s:[s], "
        "s:[{s:s, s:s, s:i, s:i, "
        "s:[o]}]}",
        "schema", "pythia.report/1", "input", "sources", name, "files", 1, "failed_files", 1,
        "bytes", 1000, "spans", 100, "traces", 80, "repaired", "orphan", 3, "dropped", "late", 2,
        "between_types_share", .2, "request_types", "name", name, "count", 80, "mean_ns", 3e9,
        "variance_share", .8, "between_paths_share", .1, "keys_asked", 1, "explanations",
        sample_key(name, 1), "skipped_keys", "groups",
        sample_group(name, "00000000000000aa", "diagnosed"),
        sample_group(name, "00000000000000bb", "too_few"), "next", "trace_point", name,
        "request_type", name, "group", "00000000000000aa", "from", sample_event(name, "start"),
        "to", sample_event(name, "end"), "gain", .7, "cost_ns", 1000., "reason",
        sample_sentence("It lies inside ", name), "open", name, "split_by", "split", name, "key",
        name, "requests", 40, "without", 40, "types", sample_split(name));
    assert_non_null(report);
    json_object_set_new(report, "loop",
                        json_pack("[o,o,o]", sample_cycle(name, 1, 0, 0, 2, 0, false),
                                  sample_cycle(name, 2, 2, .5, 7, 1, true),
                                  sample_cycle(name, 3, 8, .5, 0, 6, false)));
    json_object_set_new(report, "search", sample_search(name));
    json_object_set_new(report, "verdicts",
                        json_pack("[o,o,o]", sample_verdict(name, "00000000000000aa", "found"),
                                  sample_verdict(name, "00000000000000bb", "found"),
                                  sample_verdict(name, "00000000000000bb", "too_few")));
    return report;
}

/* A name of `size` bytes without places to break. */
static inline char *sample_long_name(size_t size)
{
    char *name = malloc(size + 1);
    memset(name, 'x', size);
    memcpy(name, "begin", 5);
    memcpy(name + size - 3, "end", 3);
    name[size] = '\0';
    return name;
}

/* The report in a form; the text is the caller's, who frees it with pythia_buf_free. The report is
 * given back. */
static inline struct pythia_buf sample_written(json_t *report, enum pythia_report_format format)
{
    struct pythia_buf out = {0};
    assert_int_equal(pythia_report_write(report, format, false, &out), PYTHIA_OK);
    json_decref(report);
    return out;
}

static inline size_t sample_count(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

#endif
