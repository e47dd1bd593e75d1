/* What the figures of a comparison mean, in words: the same in every form. */
#include <math.h>
#include <string.h>

#include "compare_forms.h"
#include "sentences/sentences.h"

/* "120 ms longer", "3.00 us shorter" */
static void add_longer(struct pythia_buf *to, double change_ns)
{
    pythia__add_duration(to, fabs(change_ns));
    pythia_buf_puts(to, change_ns < 0 ? " shorter" : " longer");
}

/* "+40 %", "-3.0 %"; nothing where there was nothing before. */
static void add_relative(struct pythia_buf *to, double before, double after)
{
    double part = after / before - 1;
    if (!isfinite(part))
        return;
    pythia_buf_puts(to, part > 0 ? "+" : "");
    pythia__add_percent(to, part);
}

void pythia__add_compared_edge(struct pythia_buf *to, const json_t *edge)
{
    const char *service = pythia__string(edge, "service");
    pythia__add_edge(to, edge);
    if (!service[0])
        return;
    if (json_is_true(json_object_get(edge, "common")))
        pythia_buf_printf(to, ", as in other waits of service %s", service);
    else if (json_is_true(json_object_get(edge, "waits")))
        pythia_buf_printf(to, ", waiting for service %s", service);
    else
        pythia_buf_printf(to, ", of service %s", service);
}

/* ---- edges ---- */

/* The edge that shows a change of the mean (or, with `variance`, of the variance) best, among those
 * that changed in its direction. NULL if there is none. */
static const json_t *find_telling_edge(const json_t *type, bool variance, double alpha)
{
    const char *key = variance ? "clipped_variance_ns2" : "clipped_ns";
    const json_t *edges = pythia__array(type, "edges"), *best = NULL;
    double most = 0, direction = pythia__number_in(type, key, "change") < 0 ? -1 : 1;
    for (size_t i = 0; i < json_array_size(pythia__array(type, "edges")); i++) {
        const json_t *edge = json_array_get(edges, i);
        double bound = direction * pythia__number_in(edge, key, direction < 0 ? "high" : "low");
        if (pythia__is_change_certain(edge, key, alpha) && bound > most) {
            most = bound;
            best = edge;
        }
    }
    return best;
}

static void add_where(struct pythia_buf *to, const json_t *type, bool variance, double alpha)
{
    const json_t *edge = find_telling_edge(type, variance, alpha);
    if (!edge) {
        pythia_buf_puts(to, " No single edge stands out.");
        return;
    }
    double share = pythia__number(edge, variance ? "variance_share" : "share");
    pythia_buf_putc(to, ' ');
    if (share > 1.005) {
        pythia_buf_puts(to, "More than all of that");
    } else if (share > 0) {
        pythia_buf_puts(to, share < .5 ? "The surest part, " : "");
        pythia__add_percent(to, share);
        pythia_buf_puts(to, share < .5 ? "," : " of that");
    } else {
        pythia_buf_puts(to, "What is surest of it"); /* a few requests turn the sum around */
    }
    pythia_buf_puts(to, " is the time ");
    pythia__add_compared_edge(to, edge);
    pythia_buf_putc(to, '.');
    if (json_is_true(json_object_get(edge, "outlier_driven")))
        pythia_buf_puts(to, " A few requests count for much of it.");
    if (!variance &&
        fabs(pythia__number(edge, "often_ns")) > fabs(pythia__number(edge, "longer_ns"))) {
        pythia_buf_printf(to, " It is passed %.3g times a request, before %.3g.",
                          pythia__number_in(edge, "visits", "after"),
                          pythia__number_in(edge, "visits", "before"));
    }
}

static void say_duration(struct pythia_buf *to, const json_t *type, double alpha)
{
    double before = pythia__number_in(type, "mean_ns", "before"),
           after = pythia__number_in(type, "mean_ns", "after"),
           clipped = pythia__number_in(type, "clipped_ns", "change");
    if (!pythia__is_change_certain(type, "clipped_ns", alpha))
        return;
    if ((after - before) * clipped > 0) {
        pythia_buf_puts(to, "They take ");
        add_longer(to, after - before);
        pythia_buf_puts(to, ": on average ");
    } else {
        pythia_buf_puts(to, "But for a few, they take ");
        add_longer(to, clipped);
        pythia_buf_puts(to, "; with those, on average ");
    }
    pythia__add_duration(to, after);
    pythia_buf_puts(to, ", before ");
    pythia__add_duration(to, before);
    pythia_buf_puts(to, " (");
    add_relative(to, before, after);
    pythia_buf_puts(to, ", q ");
    pythia__add_chance(to, pythia__number_in(type, "clipped_ns", "q"));
    pythia_buf_puts(to, ").");
    add_where(to, type, false, alpha);
}

static void say_variance(struct pythia_buf *to, const json_t *type, double alpha)
{
    if (!pythia__is_change_certain(type, "clipped_variance_ns2", alpha))
        return;
    pythia_buf_printf(to, "They vary %s: sd ",
                      pythia__number_in(type, "clipped_variance_ns2", "change") < 0 ? "less"
                                                                                    : "more");
    pythia__add_duration(to, sqrt(pythia__number_in(type, "sample_variance_ns2", "after")));
    pythia_buf_puts(to, ", before ");
    pythia__add_duration(to, sqrt(pythia__number_in(type, "sample_variance_ns2", "before")));
    pythia_buf_puts(to, " (q ");
    pythia__add_chance(to, pythia__number_in(type, "clipped_variance_ns2", "q"));
    pythia_buf_puts(to, ").");
    add_where(to, type, true, alpha);
}

/* That a change of the mean is not certain does not make two means equal: they are only if all that
 * the interval leaves possible is too small to be an effect. */
static bool is_as_long_as_before(const json_t *type)
{
    double least = pythia__number(type, "effect_min_ns");
    return fabs(pythia__number_in(type, "sample_mean_ns", "change")) < least &&
           pythia__number_in(type, "clipped_ns", "low") > -least &&
           pythia__number_in(type, "clipped_ns", "high") < least;
}

static void add_uncertain_mean(struct pythia_buf *to, const json_t *type)
{
    double before = pythia__number_in(type, "mean_ns", "before"),
           after = pythia__number_in(type, "mean_ns", "after"),
           q = pythia__number_in(type, "clipped_ns", "q");
    pythia_buf_puts(to, "On average they take ");
    pythia__add_duration(to, after);
    pythia_buf_puts(to, ", before ");
    pythia__add_duration(to, before);
    pythia_buf_puts(to, " (");
    add_relative(to, before, after);
    pythia_buf_puts(to, "), which may be chance");
    if (!isnan(q)) {
        pythia_buf_puts(to, " (q ");
        pythia__add_chance(to, q);
        pythia_buf_putc(to, ')');
    }
    pythia_buf_puts(to, ". ");
}

/* Edges may change and the whole not: what one takes longer, another takes less. */
static void say_edges(struct pythia_buf *to, const json_t *type, double alpha)
{
    size_t changed = pythia__compared_count(type, PYTHIA__COMPARED_EDGES, alpha);
    if (changed == 0 || pythia__is_change_certain(type, "clipped_ns", alpha))
        return;
    if (is_as_long_as_before(type))
        pythia_buf_puts(to, "They take as long as before on the whole, but ");
    else
        add_uncertain_mean(to, type);
    pythia_buf_printf(to, "%zu edge%s changed.", changed, changed == 1 ? "" : "s");
    const json_t *first = json_array_get(pythia__array(type, "edges"), 0);
    if (json_is_true(json_object_get(first, "slows"))) {
        pythia_buf_puts(to, " The time ");
        pythia__add_compared_edge(to, first);
        pythia_buf_puts(to, " is ");
        add_longer(to, pythia__number_in(first, "mean_ns", "change"));
        pythia_buf_putc(to, '.');
    }
}

/* ---- counts ---- */

static double part_of(const json_t *type, const json_t *of, const char *side)
{
    return pythia__number(of, side) / pythia__number_in(type, "requests", side);
}

static void say_failures(struct pythia_buf *to, const json_t *type, double alpha)
{
    const json_t *failed = json_object_get(type, "failed");
    if (!pythia__is_change_certain(type, "failed", alpha))
        return;
    pythia_buf_puts(to, "A span failed in ");
    pythia__add_percent(to, part_of(type, failed, "after"));
    pythia_buf_puts(to, " of them, before in ");
    pythia__add_percent(to, part_of(type, failed, "before"));
    pythia_buf_puts(to, ".");
}

static void say_count(struct pythia_buf *to, const json_t *type, double alpha)
{
    const char *status = pythia__string(type, "status");
    double before = pythia__number_in(type, "requests", "before"),
           after = pythia__number_in(type, "requests", "after");
    if (strcmp(status, "new") == 0) {
        pythia_buf_puts(to, "There were none before. Now there are ");
        pythia__add_count(to, after);
        pythia_buf_putc(to, '.');
    } else if (strcmp(status, "lost") == 0) {
        pythia_buf_puts(to, "There are none any more. Before there were ");
        pythia__add_count(to, before);
        pythia_buf_putc(to, '.');
    } else if (strcmp(status, "too_few") == 0) {
        pythia_buf_puts(to, "Too few to compare: ");
        pythia__add_count(to, before);
        pythia_buf_puts(to, " before, ");
        pythia__add_count(to, after);
        pythia_buf_puts(to, " after.");
    } else if (pythia__is_change_certain(type, "requests", alpha)) {
        pythia_buf_printf(to, "They are a %s part of all requests: ",
                          pythia__number(type, "mix_ns") < 0 ? "smaller" : "larger");
        pythia__add_count(to, before);
        pythia_buf_puts(to, " before, ");
        pythia__add_count(to, after);
        pythia_buf_puts(to, " after.");
    }
}

/* "3 of 106 requests" */
static void add_part(struct pythia_buf *to, const json_t *of, const json_t *type, const char *side)
{
    pythia__add_count(to, pythia__number(of, side));
    pythia_buf_puts(to, " of ");
    pythia__add_count(to, pythia__number_in(type, "requests", side));
}

static void add_names(struct pythia_buf *to, const char *before, const json_t *names)
{
    enum { SHOWN = 3 };
    size_t count = json_array_size(names);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        pythia_buf_printf(to, "%s%s", i ? ", " : before,
                          json_string_value(json_array_get(names, i)));
    if (count > SHOWN)
        pythia_buf_printf(to, " and %zu more", count - SHOWN);
}

void pythia__add_compared_path(struct pythia_buf *to, const json_t *path, const json_t *type)
{
    const json_t *requests = json_object_get(path, "requests");
    const json_t *passes = pythia__array(path, "passes"), *lacks = pythia__array(path, "lacks");
    pythia_buf_puts(to, pythia__number(requests, "before") == 0  ? "A new path: "
                        : pythia__number(requests, "after") == 0 ? "A path that is gone: "
                                                                 : "A path: ");
    add_part(to, requests, type, "before");
    pythia_buf_puts(to, " requests took it before, ");
    add_part(to, requests, type, "after");
    pythia_buf_puts(to, " after");
    if (json_array_size(passes) + json_array_size(lacks) > 0) {
        pythia_buf_puts(to, "; unlike the commonest before, it passes ");
        add_names(to, "", passes);
        add_names(to, json_array_size(passes) ? ", and not " : "no ", lacks);
    }
    pythia_buf_putc(to, '.');
}

void pythia__add_compared_point(struct pythia_buf *to, const json_t *point, const json_t *type,
                                double alpha)
{
    const json_t *requests = json_object_get(point, "requests"),
                 *failed = json_object_get(point, "failed");
    double after = pythia__number(requests, "after"), before = pythia__number(requests, "before");
    bool certain = pythia__is_change_certain(point, "requests", alpha);
    const char *comma = "";
    if (certain) {
        pythia_buf_puts(to, before == 0  ? "is new: "
                            : after == 0 ? "is passed no longer: "
                            : part_of(type, requests, "after") > part_of(type, requests, "before")
                                ? "is passed by more requests: "
                                : "is passed by fewer requests: ");
        add_part(to, requests, type, "before");
        pythia_buf_puts(to, " before, ");
        add_part(to, requests, type, "after");
        pythia_buf_puts(to, " after");
        comma = "; ";
    }
    if (pythia__is_change_certain(point, "visits", alpha) &&
        !(certain && (before == 0 || after == 0))) {
        pythia_buf_printf(to, "%s%.3g spans a request, before %.3g", comma,
                          pythia__number_in(point, "visits", "after"),
                          pythia__number_in(point, "visits", "before"));
        comma = "; ";
    }
    if (pythia__is_change_certain(point, "failed", alpha)) {
        pythia_buf_printf(to, "%sfailed in ", comma);
        pythia__add_percent(to, pythia__number(failed, "after") / after);
        pythia_buf_puts(to, " of the requests that pass it, before in ");
        pythia__add_percent(to, pythia__number(failed, "before") / before);
    }
    pythia_buf_putc(to, '.');
}

static void say_structure(struct pythia_buf *to, const json_t *type, double alpha)
{
    size_t paths = pythia__compared_count(type, PYTHIA__COMPARED_PATHS, alpha),
           points = pythia__compared_count(type, PYTHIA__COMPARED_POINTS, alpha);
    if (paths > 0)
        pythia_buf_printf(to, "%zu path%s taken more or less often. ", paths,
                          paths == 1 ? " is" : "s are");
    if (points > 0)
        pythia_buf_printf(to, "%zu trace point%s passed, or fail%s, more or less often.", points,
                          points == 1 ? " is" : "s are", points == 1 ? "s" : "");
    while (to->size > 0 && to->bytes[to->size - 1] == ' ')
        to->bytes[--to->size] = '\0';
}

json_t *pythia__compare_findings(const json_t *type, double alpha)
{
    static void (*const say[])(struct pythia_buf *, const json_t *, double) = {
        say_duration, say_variance, say_edges, say_failures, say_count, say_structure};
    json_t *out = json_array();
    int failed = 0;
    for (size_t i = 0; i < sizeof(say) / sizeof(say[0]); i++) {
        struct pythia_buf text = {0};
        say[i](&text, type, alpha);
        failed = failed || text.failed;
        if (text.size > 0)
            failed = json_array_append_new(out, json_stringn(text.bytes, text.size)) != 0 || failed;
        pythia_buf_free(&text);
    }
    if (failed) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* ---- head ---- */

static double sum_of(json_t *counts)
{
    double sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach (counts, key, value)
        sum += json_number_value(value);
    return sum;
}

static void add_side(struct pythia_buf *to, const json_t *report, const char *side)
{
    const json_t *in = json_object_get(report, side);
    double files = pythia__number(in, "files");
    pythia__add_count(to, pythia__number(in, "traces"));
    pythia_buf_printf(to, " requests %s (", side);
    pythia__add_count(to, pythia__number(in, "spans"));
    pythia_buf_printf(to, " spans, %.0f file%s", files, files == 1 ? "" : "s");
    for (size_t i = 0; i < 2; i++) {
        const char *key = i == 0 ? "repaired" : "dropped";
        double sum = sum_of(json_object_get(in, key));
        if (sum > 0) {
            pythia_buf_puts(to, ", ");
            pythia__add_count(to, sum);
            pythia_buf_printf(to, " %s", key);
        }
    }
    pythia_buf_putc(to, ')');
}

void pythia__add_compared_input(struct pythia_buf *to, const json_t *report)
{
    size_t types = json_array_size(pythia__array(report, "request_types"));
    add_side(to, report, "before");
    pythia_buf_puts(to, ", ");
    add_side(to, report, "after");
    pythia_buf_printf(to, ", of %zu type%s.", types, types == 1 ? "" : "s");
    const json_t *sides[] = {json_object_get(report, "before"), json_object_get(report, "after")};
    pythia__add_clock_bases(to, sides, 2);
    const json_t *list = pythia__array(report, "split_by");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *split = json_array_get(list, i);
        pythia_buf_printf(to, " Split by %s, which ", pythia__string(split, "split"));
        pythia__add_count(to, pythia__number_in(split, "requests", "before"));
        pythia_buf_puts(to, " requests have before, ");
        pythia__add_count(to, pythia__number_in(split, "requests", "after"));
        pythia_buf_puts(to, " after.");
    }
}

void pythia__add_conclusion(struct pythia_buf *to, const json_t *report)
{
    const json_t *first = json_array_get(pythia__array(report, "services"), 0);
    double compared = pythia__number(report, "compared_types");
    if (json_is_true(json_object_get(report, "changed"))) {
        double before = pythia__number_in(report, "mean_ns", "before"),
               after = pythia__number_in(report, "mean_ns", "after");
        pythia_buf_puts(to, "Something changed. The mean of all requests is ");
        pythia__add_duration(to, after);
        pythia_buf_puts(to, ", before ");
        pythia__add_duration(to, before);
        pythia_buf_puts(to, ".");
        if (json_is_true(json_object_get(json_object_get(first, "best_edge"), "slows")) &&
            pythia__string(first, "service")[0]) {
            if (after < before) /* others make up for this type, or are more of all */
                pythia_buf_printf(to, " Among requests of type %s, look first at service %s: ",
                                  pythia__string(first, "request_type"),
                                  pythia__string(first, "service"));
            else
                pythia_buf_printf(to,
                                  " Look first at service %s: ", pythia__string(first, "service"));
            pythia_buf_puts(to, "at least ");
            add_longer(to, pythia__number(first, "score_ns"));
            pythia_buf_puts(to, " on its worst edge.");
        }
    } else if (compared > 0) {
        pythia_buf_printf(to, "Nothing changed beyond chance, by %.0f tests.",
                          pythia__number(report, "tests"));
    } else {
        pythia_buf_puts(to, "Not enough data: no type has enough requests on both sides.");
    }
}
