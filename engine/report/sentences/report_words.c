/* Numbers and findings in words, the same in every form of a report. */
#include <math.h>
#include <string.h>

#include "pythia/counts.h"
#include "pythia/search.h"
#include "pythia/shown_text.h"
#include "report_sentence.h"
#include "sentences.h"

#define TOTAL_STAYS .02 /* of the variance; what explains less of the total may explain edges */

void pythia__add_tracing(struct pythia_buf *to, const json_t *group)
{
    pythia__add_duration(to, pythia__number(group, "tracing_ns"));
    pythia_buf_puts(to, " to each (");
    pythia__add_percent(to, pythia__number(group, "tracing_share"));
    pythia_buf_putc(to, ')');
}

double pythia__key_size(const json_t *key)
{
    return fmax(pythia__number(key, "explained"), pythia__number(key, "explained_edges"));
}

void pythia__add_explained(struct pythia_buf *to, const json_t *key)
{
    double total = pythia__number(key, "explained"), edges = pythia__number(key, "explained_edges");
    pythia__add_percent(to, total);
    if (total < TOTAL_STAYS && edges >= TOTAL_STAYS) {
        pythia_buf_puts(to, " of the total, ");
        pythia__add_percent(to, edges);
        pythia_buf_puts(to, " of where it is spent");
    }
}

void pythia__add_keys_asked(struct pythia_buf *to, const json_t *group, size_t shown)
{
    size_t more = json_array_size(pythia__array(group, "explanations")) - shown;
    double asked = fmax(pythia__number(group, "keys_asked"), 0);
    if (more > 0)
        pythia_buf_printf(to, "%zu more key%s; ", more, more == 1 ? " correlates" : "s correlate");
    pythia__add_count(to, asked);
    pythia_buf_printf(to, " key%s tested, %zu not: constant, identifiers, or in too few requests.",
                      asked == 1 ? "" : "s", json_array_size(pythia__array(group, "skipped_keys")));
}

const char *pythia__next_title(const json_t *report)
{
    const json_t *next = pythia__array(report, "next"), *open = pythia__array(report, "open"), *one,
                 *point;
    size_t i, k, opened = 0;
    json_array_foreach (next, i, one)
        json_array_foreach (open, k, point)
            opened += strcmp(json_string_value(point), pythia__string(one, "trace_point")) == 0;
    return json_array_size(next) == 0 ? "No trace point would show more"
           : opened > 0 ? "All trace points were open here. Where they are not, open first"
                        : "Trace points to open next";
}

void pythia__add_requests(struct pythia_buf *to, const json_t *group)
{
    double count = pythia__number(group, "count"), all = pythia__number(group, "type_count");
    pythia__add_count(to, count);
    if (all > count) {
        pythia_buf_puts(to, " of ");
        pythia__add_count(to, all);
    }
    pythia_buf_puts(to, all == 1 ? " request" : " requests");
}

/* Is it an edge of one trace point with itself, from this event to that one? */
static bool is_own(const json_t *from, const char *first, const json_t *to, const char *second)
{
    return strcmp(pythia__string(from, "event"), first) == 0 &&
           strcmp(pythia__string(to, "event"), second) == 0 &&
           strcmp(pythia__string(from, "trace_point"), pythia__string(to, "trace_point")) == 0;
}

void pythia__add_edge(struct pythia_buf *to, const json_t *edge)
{
    const json_t *from = json_object_get(edge, "from"), *until = json_object_get(edge, "to");
    if (json_is_true(json_object_get(edge, "own_time"))) {
        pythia_buf_printf(to, "in the own time of %s", pythia__string(from, "trace_point"));
        return;
    }
    if (is_own(from, "start", until, "end")) {
        pythia_buf_printf(to, "inside %s", pythia__string(from, "trace_point"));
        return;
    }
    if (is_own(from, "end", until, "start")) {
        pythia_buf_printf(to, "between one %s and the next", pythia__string(from, "trace_point"));
        return;
    }
    pythia_buf_printf(to, "from the %s of %s to the %s of %s", pythia__string(from, "event"),
                      pythia__string(from, "trace_point"), pythia__string(until, "event"),
                      pythia__string(until, "trace_point"));
}

void pythia__add_subject(struct pythia_buf *to, struct pythia_text place, bool first)
{
    const struct pythia_text inside = PYTHIA_TEXT("inside "), own = PYTHIA_TEXT("in the ");
    size_t left_out = 0;
    if (pythia_text_starts(place, inside)) {
        left_out = inside.size;
    } else if (pythia_text_starts(place, own)) {
        pythia_buf_puts(to, first ? "The " : "the ");
        left_out = own.size;
    } else {
        pythia_buf_puts(to, first ? "The time " : "the time ");
    }
    pythia_buf_text_add(to, (struct pythia_text){place.bytes + left_out, place.size - left_out});
}

/* ---- findings ---- */

const char *const pythia__notes[PYTHIA__NOTES] = {"standing", "also", "change"};

/* The edge with the largest share, whatever the edges are ranked by. */
void pythia__add_rests_on(struct pythia_buf *to, const json_t *finding)
{
    const json_t *few = json_object_get(finding, "rests_on");
    if (!json_is_object(few))
        return;
    pythia_buf_puts(to, "rests on ");
    pythia__add_count(to, pythia__number(few, "requests"));
    pythia_buf_puts(to, " of ");
    pythia__add_count(to, pythia__number(few, "of"));
    pythia_buf_puts(to, " requests");
}

/* A large share that is not what is named, because it rests on a handful of requests. */
static void say_rare(struct pythia_buf *to, const json_t *group)
{
    const json_t *edges = pythia__array(group, "edges"), *edge, *best = NULL;
    size_t i;
    json_array_foreach (edges, i, edge)
        if (json_is_object(json_object_get(edge, "rests_on")) &&
            pythia__number(edge, "share") >= PYTHIA_FINDING_MIN &&
            (!best || pythia__number(edge, "share") > pythia__number(best, "share")))
            best = edge;
    if (!best)
        return;
    pythia_buf_puts(to, " The time ");
    pythia__add_edge(to, best);
    pythia_buf_puts(to, " has ");
    pythia__add_percent(to, pythia__number(best, "share"));
    pythia_buf_puts(to, ", which ");
    pythia__add_rests_on(to, best);
    pythia_buf_putc(to, '.');
}

static void add_edge_subject(struct pythia_buf *to, const json_t *edge)
{
    struct pythia_buf place = {0};
    pythia__add_edge(&place, edge);
    if (pythia_buf_status(&place) == 0)
        pythia__add_subject(to, pythia_buf_text(&place), true);
    else
        to->failed = 1;
    pythia_buf_free(&place);
}

static void say_where(struct pythia_buf *to, const json_t *group)
{
    const json_t *edge = pythia__largest_edge(group);
    const json_t *inclusive = pythia__array(group, "inclusive");
    size_t depth = json_array_size(inclusive);
    if (!edge)
        return;
    if (isnan(pythia__number(edge, "share")) && pythia__number(group, "clipping_removes") > .5) {
        pythia_buf_puts(to, "Shares are not shown: a few requests have ");
        pythia__add_percent(to, pythia__number(group, "clipping_removes"));
        pythia_buf_puts(to, " of the variance, and without their largest values the shares are "
                            "those of the rest.");
        return;
    }
    const json_t *own = json_object_get(group, "own_time");
    if (json_is_object(own)) {
        pythia_buf_printf(
            to, "The own time of %s, in %.0f segments, accounts for ",
            pythia__string(json_object_get(json_object_get(own, "edge"), "from"), "trace_point"),
            pythia__number(own, "segments"));
        pythia__add_percent(to, pythia__number(own, "share"));
        pythia_buf_puts(to, " of the latency variance.");
        say_rare(to, group);
        return;
    }
    bool stands_out = json_is_true(json_object_get(group, "localised")) ||
                      pythia__number(edge, "share_low") >= .5;
    if (stands_out && pythia__number(edge, "share") >= PYTHIA_FINDING_MIN) {
        add_edge_subject(to, edge);
        pythia_buf_puts(to, " accounts for ");
        pythia__add_percent(to, pythia__number(edge, "share"));
        pythia_buf_puts(to, " of the latency variance.");
        if (json_is_true(json_object_get(edge, "outlier_driven")))
            pythia_buf_printf(
                to,
                " A few requests count for much of it: without clipping them the share is %.0f %%.",
                100 * pythia__number(edge, "raw_share"));
    } else if (depth > 0) {
        pythia_buf_printf(to,
                          "More than half of the latency variance lies below %s; no single edge "
                          "stands out.",
                          json_string_value(json_array_get(inclusive, depth - 1)));
    } else {
        pythia_buf_puts(to, "No single edge stands out: the largest, ");
        pythia__add_edge(to, edge);
        pythia_buf_puts(to, ", has ");
        pythia__add_percent(to, pythia__number(edge, "share"));
        pythia_buf_puts(to, " of the latency variance.");
    }
    say_rare(to, group);
}

/* A structural key is named "count:<trace point>" or "has:<trace point>". */
static const char *point_of(const char *key)
{
    const char *colon = strchr(key, ':');
    return colon ? colon + 1 : key;
}

void pythia__add_means(struct pythia_buf *to, const char *before, const json_t *explanation)
{
    const json_t *split = json_object_get(explanation, "split");
    const char *key = pythia__string(explanation, "key"),
               *condition = pythia__string(split, "condition");
    bool has =
        json_is_true(json_object_get(explanation, "structural")) && strncmp(key, "has:", 4) == 0;
    if (!json_is_object(split))
        return;
    bool with = strcmp(condition, "is >= 1") == 0;
    pythia_buf_puts(to, before);
    pythia__add_duration(to, pythia__number(split, "high_mean_ns"));
    if (has)
        pythia_buf_puts(to, with ? " with it, " : " without it, ");
    else
        pythia_buf_printf(to, " when %s, ", condition + (strncmp(condition, "is ", 3) ? 0 : 3));
    pythia__add_duration(to, pythia__number(split, "low_mean_ns"));
    pythia_buf_puts(to, !has ? " otherwise" : with ? " without it" : " with it");
}

bool pythia__is_early_end(const json_t *explanation)
{
    return json_is_true(json_object_get(explanation, "ends_early"));
}

void pythia__add_early_end(struct pythia_buf *to, const json_t *explanation)
{
    pythia__add_count(to, pythia__number(explanation, "requests_without"));
    pythia_buf_puts(to, " of ");
    pythia__add_count(to, pythia__number(explanation, "requests"));
    pythia_buf_puts(to, " requests end early: they never reach ");
}

void pythia__add_key_finding(struct pythia_buf *to, const json_t *group, const json_t *x)
{
    bool structural = json_is_true(json_object_get(x, "structural"));
    const char *cause = structural ? pythia__string(group, "cause") : "",
               *key = pythia__string(x, "key");
    if (pythia__is_early_end(x)) {
        pythia__add_early_end(to, x);
        pythia_buf_puts(to, point_of(key));
    } else if (strcmp(cause, "retry") == 0)
        pythia_buf_printf(to,
                          "Retry: most requests hit %s once, some up to %.0f times, which "
                          "correlates with their duration",
                          point_of(key), pythia__number(x, "high"));
    else if (strcmp(cause, "loop") == 0)
        pythia_buf_printf(
            to, "Requests hit %s %.0f to %.0f times, which correlates with their duration",
            point_of(key), pythia__number(x, "low"), pythia__number(x, "high"));
    else if (strcmp(cause, "path") == 0)
        pythia_buf_printf(
            to, "Some requests hit %s and others do not, which correlates with their duration",
            point_of(key));
    else
        pythia_buf_printf(to, "Correlates with %s", key);
    pythia__add_means(to, pythia__is_early_end(x) ? "; mean " : ": mean ", x);
    pythia_buf_putc(to, '.');
    if (json_is_object(json_object_get(x, "rests_on"))) {
        pythia_buf_puts(to, " This ");
        pythia__add_rests_on(to, x);
        pythia_buf_putc(to, '.');
    }
    if (json_is_true(json_object_get(x, "low_confidence")))
        pythia_buf_puts(to, " There are few requests for so many values: low confidence.");
}

static json_t *json_of_sentence(struct pythia_buf *text)
{
    json_t *out = text->size ? json_stringn(text->bytes, text->size) : json_null();
    if (pythia_buf_status(text) != 0) {
        json_decref(out);
        out = NULL;
    }
    pythia_buf_free(text);
    return out;
}

json_t *pythia__report_finding(const json_t *group)
{
    const char *status = pythia__string(group, "status");
    struct pythia_buf where = {0}, why = {0};
    if (strcmp(status, "diagnosed") == 0) {
        say_where(&where, group);
        if (json_array_size(pythia__array(group, "explanations")) > 0)
            pythia__add_key_finding(&why, group,
                                    json_array_get(pythia__array(group, "explanations"), 0));
    } else if (strcmp(status, "slow") == 0) {
        pythia_buf_puts(&where, "These requests hardly differ: they are always slow. On average ");
        pythia__add_duration(&where, pythia__number(group, "mean_ns"));
        pythia_buf_puts(&where, ", more than nearly all other groups.");
    } else if (strcmp(status, "too_few") == 0) {
        pythia_buf_puts(&where, "Too few requests to say anything.");
    } else {
        pythia_buf_puts(&where, "Nothing stands out.");
    }
    /* Both are made, and taken, whatever fails: a sentence that no object has would be lost. */
    json_t *out = json_object();
    int failed = json_object_set_new(out, "where", json_of_sentence(&where));
    failed |= json_object_set_new(out, "why", json_of_sentence(&why));
    if (failed == 0)
        return out;
    json_decref(out);
    return NULL;
}

void pythia__add_origin(struct pythia_buf *to, const json_t *input)
{
    double files = pythia__number(input, "files");
    if (json_is_true(json_object_get(input, "live"))) {
        pythia_buf_puts(to, "a live stream");
        return;
    }
    pythia__add_count(to, files);
    pythia_buf_puts(to, files == 1 ? " file" : " files");
}

void pythia__add_types_without(struct pythia_buf *to, const json_t *report)
{
    double without = pythia__number(report, "types_without_groups");
    if (without > 0)
        pythia_buf_printf(to, " (%.0f of them not looked at closely: see --report-types)", without);
}

void pythia__add_sampling(struct pythia_buf *to, const json_t *report)
{
    const json_t *sampling = json_object_get(report, "sampling");
    if (!sampling)
        return;
    double seen = pythia__number(sampling, "seen");
    pythia_buf_puts(to, "Sampled: ");
    pythia__add_count(to, seen);
    pythia_buf_puts(to, seen == 1 ? " request" : " requests");
    pythia_buf_puts(to, json_object_get(report, "loop") ? " of the last cycle" : "");
    pythia_buf_puts(to, seen == 1 ? " stands for " : " stand for ");
    pythia__add_count(to, pythia__number(sampling, "requests"));
    pythia_buf_putc(to, '.');
}

void pythia__add_incomplete(struct pythia_buf *to, const json_t *report)
{
    const json_t *in = json_object_get(report, "input"),
                 *reasons = json_object_get(in, "incomplete");
    double traces = pythia__number(in, "traces"), sum = 0;
    const char *comma = ": ";
    for (int i = 0; i < PYTHIA_INCOMPLETES; i++) {
        double n = pythia__number(reasons, pythia_incomplete_name((enum pythia_incomplete)i));
        sum += isfinite(n) ? n : 0;
    }
    if (!(sum > .01 * traces))
        return;
    pythia_buf_printf(to, "%.2g %% of the requests are incomplete and were left out",
                      100 * sum / traces);
    for (int i = 0; i < PYTHIA_INCOMPLETES; i++) {
        double n = pythia__number(reasons, pythia_incomplete_name((enum pythia_incomplete)i));
        if (!(n > 0))
            continue;
        pythia_buf_puts(to, comma);
        pythia__add_count(to, n);
        pythia_buf_printf(to, " because %s", pythia_incomplete_help((enum pythia_incomplete)i));
        comma = "; ";
    }
    pythia_buf_putc(to, '.');
}

void pythia__add_clock_bases(struct pythia_buf *to, const json_t *const *inputs, size_t count)
{
    double spans = 0;
    for (size_t i = 0; i < count; i++) {
        double n = pythia__number(json_object_get(inputs[i], "repaired"),
                                  pythia_repair_name(PYTHIA_REPAIR_CLOCK_BASE));
        spans += isfinite(n) ? n : 0;
    }
    if (spans == 0)
        return;
    if (to->size > 0)
        pythia_buf_putc(to, ' ');
    pythia__add_count(to, spans);
    pythia_buf_puts(to, spans == 1 ? " span was" : " spans were");
    pythia_buf_puts(to,
                    " recorded by a clock that has no common base with the clock of the caller; "
                    "only durations are used there.");
}

void pythia__add_overhead(struct pythia_buf *to, const json_t *report)
{
    enum { SHOWN = 10 };
    const json_t *of = json_object_get(report, "overhead"), *list = pythia__array(of, "dropped");
    double share = pythia__number(of, "share"), count = pythia__number(of, "dropped_count");
    if (!isfinite(pythia__number(of, "limit")))
        return;
    if (isfinite(share))
        pythia_buf_printf(to, "Tracing takes %.3g %% of the time of requests, and may take %.3g %%",
                          100 * share, 100 * pythia__number(of, "limit"));
    else
        pythia_buf_printf(to, "Tracing may take %.3g %% of the time of requests",
                          100 * pythia__number(of, "limit"));
    pythia_buf_puts(to, json_is_true(json_object_get(of, "beyond_limit"))
                            ? "; all that can be closed for that is."
                            : ".");
    for (size_t i = 0; i < json_array_size(list) && i < SHOWN; i++) {
        const json_t *one = json_array_get(list, i);
        pythia_buf_puts(to, i ? "; " : " Closed for it: ");
        pythia_buf_puts(to, pythia__string(one, "trace_point"));
        pythia_buf_printf(to, " (it cost %.3g %%, and %.3g %% of the variance lay in it)",
                          100 * pythia__number(one, "share"),
                          100 * pythia__number(one, "variance_share"));
    }
    if (count > SHOWN)
        pythia_buf_printf(to, "; and %.0f more", count - SHOWN);
    pythia_buf_puts(to, count > 0 ? "." : "");
}

/* How many cycles an item stands for. */
static double cycles_of(const json_t *cycle)
{
    const json_t *count = json_object_get(cycle, "cycles");
    return json_is_number(count) ? json_number_value(count) : 1;
}

void pythia__name_cycle(const json_t *cycle, char *name, size_t size)
{
    double last = pythia__number(cycle, "cycle"), count = cycles_of(cycle);
    if (count > 1 && last >= count)
        snprintf(name, size, "%.0f-%.0f", last - count + 1, last);
    else if (isnan(last))
        snprintf(name, size, "-");
    else
        snprintf(name, size, "%.0f", last);
}

size_t pythia__count_cycles(const json_t *cycles)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(cycles); i++)
        sum += cycles_of(json_array_get(cycles, i));
    return (size_t)sum;
}
