/* The answers of a pythiad, for a person. */
#include "ctl_show.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "pythia/layer.h"
#include "pythia/shown_text.h"

void pythia__show_text(struct pythia_buf *to, const json_t *value)
{
    pythia_shown_add(to,
                     (struct pythia_text){json_string_value(value) ? json_string_value(value) : "",
                                          json_string_length(value)},
                     SIZE_MAX);
}

/* The limits for senders, by the names of pythiad's settings. */
static void show_limits(struct pythia_buf *to, json_t *limits)
{
    const char *name, *comma = "";
    json_t *value;
    if (json_object_size(limits) == 0)
        return;
    pythia_buf_puts(to, "  limits: ");
    json_object_foreach (limits, name, value) {
        pythia_buf_puts(to, comma);
        pythia_shown_add(to, pythia_text_of(name), SIZE_MAX);
        pythia_buf_printf(to, " %" JSON_INTEGER_FORMAT, json_integer_value(value));
        comma = ", ";
    }
    pythia_buf_putc(to, '\n');
}

/* Trace points that the search leaves out, and the remedy. */
static void show_unknown(struct pythia_buf *to, const json_t *s)
{
    if (json_integer_value(json_object_get(s, "unknown_points")) > 0)
        pythia_buf_printf(to,
                          "  %" JSON_INTEGER_FORMAT
                          " spans were left out because the search space did not know their "
                          "trace points; pythiad learns new ones up to learn-hourly times per "
                          "hour\n",
                          json_integer_value(json_object_get(s, "unknown_spans")));
}

/* An offset or a number of messages. */
static void show_offset(struct pythia_buf *to, const json_t *partition, const char *name)
{
    const json_t *value = json_object_get(partition, name);
    if (json_is_integer(value))
        pythia_buf_printf(to, "%s %" JSON_INTEGER_FORMAT, name, json_integer_value(value));
    else
        pythia_buf_printf(to, "%s not known", name);
}

static void show_kafka_partition(struct pythia_buf *to, const json_t *p)
{
    static const char *const names[] = {"position", "committed", "lag"};
    pythia_buf_printf(to, "    partition %" JSON_INTEGER_FORMAT ":",
                      json_integer_value(json_object_get(p, "partition")));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        pythia_buf_puts(to, i > 0 ? ", " : " ");
        show_offset(to, p, names[i]);
    }
    json_int_t broken = json_integer_value(json_object_get(p, "broken"));
    if (broken > 0) {
        const json_t *last = json_object_get(p, "last_broken");
        pythia_buf_printf(
            to, ", %" JSON_INTEGER_FORMAT " broken, the last at offset %" JSON_INTEGER_FORMAT ": ",
            broken, json_integer_value(json_object_get(last, "offset")));
        pythia__show_text(to, json_object_get(last, "reason"));
    }
    pythia_buf_putc(to, '\n');
}

static void show_kafka_member(struct pythia_buf *to, const json_t *m)
{
    const json_t *partitions = json_object_get(m, "partitions"), *partition;
    size_t i;
    pythia_buf_puts(to, "    member ");
    pythia__show_text(to, json_object_get(m, "member"));
    pythia_buf_puts(to, " at ");
    pythia__show_text(to, json_object_get(m, "host"));
    pythia_buf_puts(to, json_array_size(partitions) ? ": partitions" : ": no partitions");
    json_array_foreach (partitions, i, partition)
        pythia_buf_printf(to, "%s %" JSON_INTEGER_FORMAT, i > 0 ? "," : "",
                          json_integer_value(partition));
    pythia_buf_putc(to, '\n');
}

static json_int_t number_of_member(const json_t *o, const char *name)
{
    return json_integer_value(json_object_get(o, name));
}

/* The search that the members share. */
static void show_kafka_search(struct pythia_buf *to, const json_t *s)
{
    if (!json_is_object(s))
        return;
    pythia_buf_puts(to, "    search shared by topic ");
    pythia__show_text(to, json_object_get(s, "topic"));
    pythia_buf_puts(to, ", ");
    pythia__show_text(to, json_object_get(s, "state"));
    if (json_is_true(json_object_get(s, "differs")))
        pythia_buf_puts(to, ", takes no part because its settings differ");
    pythia_buf_printf(to,
                      ": %" JSON_INTEGER_FORMAT " members, %" JSON_INTEGER_FORMAT
                      " rounds of %" JSON_INTEGER_FORMAT " requests, set %" JSON_INTEGER_FORMAT
                      ", evidence sent %" JSON_INTEGER_FORMAT,
                      number_of_member(s, "members"), number_of_member(s, "rounds"),
                      number_of_member(s, "requests"), number_of_member(s, "set"),
                      number_of_member(s, "sent"));
    json_int_t age = number_of_member(s, "snapshot_age_rounds");
    if (json_is_integer(json_object_get(s, "snapshot_age_rounds")))
        pythia_buf_printf(to, ", last snapshot %" JSON_INTEGER_FORMAT " round%s ago\n", age,
                          age == 1 ? "" : "s");
    else
        pythia_buf_puts(to, ", no snapshot yet\n");
    json_int_t afresh = number_of_member(s, "afresh");
    if (afresh > 0)
        pythia_buf_printf(to,
                          "      began afresh %" JSON_INTEGER_FORMAT
                          " time%s, because all members had missed evidence\n",
                          afresh, afresh == 1 ? "" : "s");
}

/* The member and its partitions; nothing without Kafka. */
static void show_kafka(struct pythia_buf *to, const json_t *kafka)
{
    const json_t *partition, *member;
    size_t i;
    if (!json_is_object(kafka))
        return;
    pythia_buf_puts(to, "  kafka: topic ");
    pythia__show_text(to, json_object_get(kafka, "topic"));
    pythia_buf_puts(to, ", group ");
    pythia__show_text(to, json_object_get(kafka, "group"));
    if (json_is_true(json_object_get(kafka, "paused")))
        pythia_buf_puts(to, ", paused because memory is full");
    if (json_string_length(json_object_get(kafka, "problem")) > 0) {
        pythia_buf_puts(to, ", cannot read: ");
        pythia__show_text(to, json_object_get(kafka, "problem"));
    }
    pythia_buf_putc(to, '\n');
    show_kafka_search(to, json_object_get(kafka, "search"));
    json_array_foreach (json_object_get(kafka, "partitions"), i, partition)
        show_kafka_partition(to, partition);
    json_array_foreach (json_object_get(kafka, "members"), i, member)
        show_kafka_member(to, member);
}

/* What the next start goes on with; nothing without a state. */
static void show_saved_search(struct pythia_buf *to, const json_t *saved)
{
    json_int_t cycle = number_of_member(saved, "cycle"),
               from = number_of_member(saved, "restored_cycle");
    if (!json_is_object(saved))
        return;
    pythia_buf_puts(to, "  search in the state: ");
    if (cycle > 0)
        pythia_buf_printf(to, "cycle %" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT " bytes",
                          cycle, number_of_member(saved, "bytes"));
    else
        pythia_buf_puts(to, "none yet");
    if (from > 0)
        pythia_buf_printf(to, "; this start went on from cycle %" JSON_INTEGER_FORMAT, from);
    pythia_buf_putc(to, '\n');
}

/* A missing member is shown as 0: an older pythiad does not send all of them. */
void pythia__show_status(struct pythia_buf *to, const json_t *s)
{
    static const struct {
        const char *name, *label;
    } rows[] = {{"cycles", "cycles"},
                {"cycle", "last cycle"},
                {"problems_waiting", "types waiting"},
                {"requests", "requests"},
                {"spans", "spans"},
                {"open_requests", "unfinished requests"},
                {"points_known", "trace points known"},
                {"quarantined", "quarantined"},
                {"mute", "open and silent"},
                {"unknown_points", "not in search space"},
                {"desired_version", "desired set"}};
    const json_t *plane;
    size_t i;
    pythia_buf_puts(to, "pythiad ");
    pythia__show_text(to, json_object_get(s, "version"));
    pythia_buf_puts(to, " ");
    pythia__show_text(to, json_object_get(s, "doing"));
    pythia_buf_puts(to, json_is_true(json_object_get(s, "degraded"))
                            ? ", but its state cannot be written\n"
                            : "\n");
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        pythia_buf_printf(to, "  %-22s %" JSON_INTEGER_FORMAT "\n", rows[i].label,
                          json_integer_value(json_object_get(s, rows[i].name)));
    show_unknown(to, s);
    json_array_foreach (json_object_get(s, "planes"), i, plane) {
        pythia_buf_puts(to, "  plane ");
        pythia__show_text(to, json_object_get(plane, "name"));
        pythia_buf_printf(to, ": %" JSON_INTEGER_FORMAT " points, %s%s",
                          json_integer_value(json_object_get(plane, "points")),
                          json_is_true(json_object_get(plane, "reachable")) ? "" : "not reached, ",
                          json_is_true(json_object_get(plane, "in_force")) ? "in force"
                                                                           : "not in force yet");
        json_int_t lost = json_integer_value(json_object_get(plane, "lost_targets"));
        if (lost > 0)
            pythia_buf_printf(to, ", %" JSON_INTEGER_FORMAT " targets lost", lost);
        if (json_string_length(json_object_get(plane, "why")) > 0) {
            pythia_buf_puts(to, ": ");
            pythia__show_text(to, json_object_get(plane, "why"));
        }
        pythia_buf_putc(to, '\n');
    }
    show_kafka(to, json_object_get(s, "kafka"));
    show_saved_search(to, json_object_get(s, "saved_search"));
    show_limits(to, json_object_get(s, "limits"));
}

/* One of the words of pythiad; "" if it is none. */
static const char *get_member_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

#define TYPES_SHOWN 3 /* of those that are being learnt there are up to 32 */

/* The types that a point is open for, if it is not open for all. */
static void show_types(struct pythia_buf *to, const json_t *types)
{
    size_t count = json_array_size(types);
    for (size_t i = 0; i < count && i < TYPES_SHOWN; i++) {
        pythia_buf_puts(to, i == 0 ? ", only for " : " and ");
        pythia__show_text(to, json_array_get(types, i));
    }
    if (count > TYPES_SHOWN)
        pythia_buf_printf(to, " and %zu more", count - TYPES_SHOWN);
}

/* At how many of its instances a point is open, if not at all of them. */
static void show_instances(struct pythia_buf *to, const json_t *point)
{
    json_int_t known = json_integer_value(json_object_get(point, "instances"));
    json_int_t open = json_integer_value(json_object_get(point, "open_instances"));
    bool placed = json_is_array(json_object_get(point, "places")) ||
                  json_is_array(json_object_get(point, "closed_places"));
    if (placed || (open > 0 && open < known))
        pythia_buf_printf(to, ", at %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " instances",
                          open, known);
}

/* The column heads of points. */
#define POINT_HEADS "state      cost of a hit             hits  trace point  (what came of it)\n"

/* "silent" takes the place of "open", because it is what an operator has to look into. */
void pythia__show_points(struct pythia_buf *to, const json_t *points)
{
    const json_t *p;
    size_t i;
    pythia_buf_puts(to,
                    json_array_size(points) > 0 ? POINT_HEADS : "no trace point is known yet\n");
    json_array_foreach (points, i, p) {
        double price = json_number_value(json_object_get(p, "price_ns"));
        bool open = json_is_true(json_object_get(p, "wanted"));
        bool silent = json_is_true(json_object_get(p, "mute"));
        pythia_buf_printf(to, "%-6s ", silent ? "silent" : open ? "open" : "");
        if (price > 0)
            pythia_buf_printf(to, "%9.0f ns %-8s", price, get_member_text(p, "price_known"));
        else
            pythia_buf_printf(to, "%21s", "");
        pythia_buf_printf(to, " %10" JSON_INTEGER_FORMAT "  ",
                          json_integer_value(json_object_get(p, "hits")));
        pythia__show_text(to, json_object_get(p, "trace_point"));
        pythia_buf_puts(to, "  (");
        pythia__show_text(to, json_object_get(p, "result"));
        const char *layer = get_member_text(p, "layer");
        if (layer[0] && strcmp(layer, pythia_layer_name(PYTHIA_LAYER_APPLICATION)) != 0)
            pythia_buf_printf(to, ", %s", layer);
        pythia_buf_printf(to, "%s%s", json_is_true(json_object_get(p, "pinned")) ? ", pinned" : "",
                          json_is_true(json_object_get(p, "quarantined")) ? ", quarantined" : "");
        const char *note = get_member_text(p, "note");
        if (note[0])
            pythia_buf_printf(to, ", %s", note);
        show_types(to, json_object_get(p, "types"));
        if (open)
            show_instances(to, p);
        if (silent)
            pythia_buf_printf(to, ", hit by none of %" JSON_INTEGER_FORMAT " requests",
                              json_integer_value(json_object_get(p, "requests")));
        else if (open)
            pythia_buf_printf(to, ", %" JSON_INTEGER_FORMAT " spans since it was opened",
                              json_integer_value(json_object_get(p, "spans")));
        pythia_buf_puts(to, ")\n");
    }
}

/* Decisions that nothing could carry out are shown in the conditional, so that nobody looks for
 * their effect. */
void pythia__show_decisions(struct pythia_buf *to, const json_t *decisions)
{
    const json_t *d;
    size_t i;
    if (json_array_size(decisions) == 0)
        pythia_buf_puts(to, "nothing has been opened or closed yet\n");
    json_array_foreach (decisions, i, d) {
        time_t seconds = (time_t)(json_integer_value(json_object_get(d, "unix_ns")) / 1000000000);
        struct tm when;
        char text[32];
        gmtime_r(&seconds, &when);
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &when);
        bool open = json_is_true(json_object_get(d, "open"));
        if (json_is_false(json_object_get(d, "switchable")))
            pythia_buf_printf(to, "%s  would %s ", text, open ? "open" : "close");
        else
            pythia_buf_printf(to, "%s  %s ", text, open ? "opens " : "closes");
        pythia__show_text(to, json_object_get(d, "trace_point"));
        if (json_string_length(json_object_get(d, "request_type")) > 0) {
            pythia_buf_puts(to, " for ");
            pythia__show_text(to, json_object_get(d, "request_type"));
        }
        pythia_buf_puts(to, ": ");
        pythia__show_text(to, json_object_get(d, "reason"));
        if (json_number_value(json_object_get(d, "price_ns")) > 0)
            pythia_buf_printf(to, "; a hit costs %.0f ns, %s",
                              json_number_value(json_object_get(d, "price_ns")),
                              get_member_text(d, "price_known"));
        if (!json_is_true(json_object_get(d, "open")) &&
            json_is_integer(json_object_get(d, "spans")))
            pythia_buf_printf(to, "; it recorded %" JSON_INTEGER_FORMAT " spans",
                              json_integer_value(json_object_get(d, "spans")));
        pythia_buf_putc(to, '\n');
    }
}

void pythia__show_groups(struct pythia_buf *to, const json_t *groups)
{
    const json_t *g;
    size_t i;
    if (json_array_size(groups) == 0)
        pythia_buf_puts(to, "no group of requests is known yet\n");
    json_array_foreach (groups, i, g) {
        pythia_buf_printf(to, "%5.1f %%  %-10s %8" JSON_INTEGER_FORMAT " requests, mean %.3f ms  ",
                          100 * json_number_value(json_object_get(g, "variance_share")),
                          json_string_value(json_object_get(g, "status")),
                          json_integer_value(json_object_get(g, "count")),
                          json_number_value(json_object_get(g, "mean_ns")) / 1e6);
        pythia__show_text(to, json_object_get(g, "request_type"));
        pythia_buf_putc(to, '\n');
    }
}

static void show_cost(struct pythia_buf *to, const json_t *p)
{
    const json_t *price = json_object_get(p, "price_ns");
    pythia_buf_printf(to, ": adds %.0f ns to a request, %.2f calls at ",
                      json_number_value(json_object_get(p, "added_ns_per_request")),
                      json_number_value(json_object_get(p, "calls_per_request")));
    if (json_is_number(price))
        pythia_buf_printf(to, "%.0f ns each, %s\n", json_number_value(price),
                          get_member_text(p, "price_known"));
    else
        pythia_buf_puts(to, "an assumed price\n");
}

void pythia__show_plan(struct pythia_buf *to, const json_t *plan)
{
    const json_t *p;
    size_t i;
    json_array_foreach (json_object_get(plan, "trace_points"), i, p) {
        pythia__show_text(to, json_object_get(p, "trace_point"));
        if (!json_is_true(json_object_get(p, "known")))
            pythia_buf_puts(to, ": unknown\n");
        else if (json_is_number(json_object_get(p, "added_ns_per_request")))
            show_cost(to, p);
        else
            pythia_buf_puts(to, ": never hit, so its number of calls is unknown\n");
    }
    pythia_buf_printf(to, "in total %.0f ns per request",
                      json_number_value(json_object_get(plan, "added_ns_per_request")));
    if (json_is_number(json_object_get(plan, "added_share")))
        pythia_buf_printf(to, ", %.3g %% of the mean duration of %.3f ms",
                          100 * json_number_value(json_object_get(plan, "added_share")),
                          json_number_value(json_object_get(plan, "request_ns")) / 1e6);
    pythia_buf_putc(to, '\n');
}

/* pythiad sorts variables by process, so one heading for each is enough. */
void pythia__show_variables(struct pythia_buf *to, const json_t *variables)
{
    const json_t *v;
    size_t i;
    json_int_t process = -1;
    json_array_foreach (variables, i, v) {
        const json_t *value = json_object_get(v, "value");
        if (json_integer_value(json_object_get(v, "process")) != process) {
            process = json_integer_value(json_object_get(v, "process"));
            pythia__show_text(to, json_object_get(v, "service"));
            pythia_buf_printf(to, ", process %" JSON_INTEGER_FORMAT ":\n", process);
        }
        pythia_buf_printf(to, "  %-13s  of the %-7s  %-13s  ",
                          json_string_value(json_object_get(v, "class")),
                          json_string_value(json_object_get(v, "binding")),
                          json_string_value(json_object_get(v, "type")));
        if (json_is_number(value))
            pythia_buf_printf(to, "%16.10g  ", json_number_value(value));
        else
            pythia_buf_printf(to, "%16s  ", "no value yet");
        pythia__show_text(to, json_object_get(v, "name"));
        pythia_buf_putc(to, '\n');
    }
    if (json_array_size(variables) == 0)
        pythia_buf_puts(to, "no program has defined a variable\n");
}

void pythia__show_hash(struct pythia_buf *to, const json_t *answer)
{
    pythia__show_text(to, json_object_get(answer, "hash"));
    pythia_buf_putc(to, '\n');
}

void pythia__show_done(struct pythia_buf *to, const json_t *answer)
{
    json_int_t points = json_integer_value(json_object_get(answer, "trace_points"));
    if (json_object_get(answer, "doing")) {
        pythia_buf_puts(to, "pythiad: ");
        pythia__show_text(to, json_object_get(answer, "doing"));
        pythia_buf_putc(to, '\n');
    } else {
        pythia_buf_printf(
            to, "%" JSON_INTEGER_FORMAT " trace point%s, desired set %" JSON_INTEGER_FORMAT "\n",
            points, points == 1 ? "" : "s",
            json_integer_value(json_object_get(answer, "desired_version")));
        const json_t *obeyed = json_object_get(answer, "obeyed");
        if (obeyed && json_integer_value(obeyed) < points)
            pythia_buf_printf(to,
                              "%" JSON_INTEGER_FORMAT
                              " of them %s not as ordered: entry points stay "
                              "open, and what --never closes or costs too much stays closed "
                              "(pythia ctl points shows each)\n",
                              points - json_integer_value(obeyed),
                              points - json_integer_value(obeyed) == 1 ? "is" : "are");
    }
}

void pythia__show_ids(struct pythia_buf *to, const json_t *points)
{
    const json_t *p;
    size_t i;
    json_array_foreach (points, i, p) {
        pythia__show_text(to, json_object_get(p, "trace_point"));
        pythia_buf_putc(to, '\n');
    }
}
