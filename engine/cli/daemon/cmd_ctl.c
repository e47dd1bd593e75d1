#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl_show.h"
#include "pythia/control.h"
#include "pythia/gate_variables.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/nearest.h"
#include "pythia/shown_text.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "shared/ask_daemon.h"
#include "shared/command.h"
#include "shared/terminal.h"

#define OFF_WAIT_S 1L /* for the daemon to close everything, before it is done without it */

struct settings {
    struct pythia__daemon_settings daemon;
    const char *gate, *osprofiler, *off_file, *open;
    int format;
    int64_t count;
    bool verbose, ids;
    double timeout_s, interval_s;
    struct pythia_option_texts types;
};

#define OPTION(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA__DAEMON_OPTIONS(OPTION(daemon)),
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html", "text", OPTION(format),
                  "Format of the output; markdown and html only for report"),
    PYTHIA_FLAG("verbose", 0, OPTION(verbose), "For report: show everything, instead of 40 lines"),
    PYTHIA_FLAG("ids", 0, OPTION(ids), "For points: print only the ids, one per line"),
    PYTHIA_REAL("interval-seconds", 0, "S", "2", .1, 3600, OPTION(interval_s),
                "For watch: time between two requests"),
    PYTHIA_INTEGER("count", 'n', "N", "20", 1, 10000, OPTION(count), "Most decisions to show"),
    PYTHIA_TEXT_OPTION("open", 0, "ID,ID...", OPTION(open),
                       "For plan: trace points, separated by commas, in addition to the operands"),
    {"type", 0, PYTHIA_OPTION_TEXTS, "TYPE", NULL, NULL, 0, 0, OPTION(types),
     "For open: open only for requests of this type, or of types that match a pattern, and close "
     "for all others (may be given several times)"},
    PYTHIA_REAL("timeout-seconds", 0, "S", "10", .1, 3600, OPTION(timeout_s),
                "Longest wait for an answer"),
    PYTHIA_TEXT_OPTION("gate", 0, "FOLDER", OPTION(gate),
                       "For off: switchboards of C programs, which are closed directly if pythiad "
                       "does not answer. For vars: read the variables there, without pythiad"),
    PYTHIA_TEXT_OPTION("osprofiler", 0, "redis://HOST:PORT/N", OPTION(osprofiler),
                       "For off: OSProfiler's switches in Redis, which are closed directly if "
                       "pythiad does not answer"),
    PYTHIA_TEXT_OPTION("off-file", 0, "FILE", OPTION(off_file),
                       "For off: a file to create if pythiad does not answer; while it exists, "
                       "agents on this machine that look for it (by default /run/pythia/off) keep "
                       "everything closed. For on: remove it"),
    {0},
};

/* ---- what can be asked ---- */

static const struct action {
    const char *name, *path;
    bool posts, takes_ids;
    void (*show)(struct pythia_buf *to, const json_t *answer); /* NULL: it is text already */
} actions[] = {
    {"status", "/v1/status", false, false, pythia__show_status},
    {"groups", "/v1/groups", false, false, pythia__show_groups},
    {"report", "/v1/report", false, false, NULL},
    {"watch", "/v1/report", false, false, NULL},
    {"decisions", "/v1/decisions", false, false, pythia__show_decisions},
    {"points", "/v1/points", false, false, pythia__show_points},
    {"vars", "/v1/variables", false, false, pythia__show_variables},
    {"open", "/v1/open", true, true, pythia__show_done},
    {"close", "/v1/close", true, true, pythia__show_done},
    {"unpin", "/v1/unpin", true, true, pythia__show_done},
    {"level", "/v1/level", true, true, pythia__show_done},
    {"plan", "/v1/plan", true, true, pythia__show_plan},
    {"hash", "/v1/hash", true, false, pythia__show_hash},
    {"off", "/v1/off", true, false, pythia__show_done},
    {"on", "/v1/on", true, false, pythia__show_done},
};

#define LEVELS "off|service|function|all"

static bool takes_level(const struct action *a)
{
    return a && strcmp(a->name, "level") == 0;
}

/* Ids of --open and of the operands form one list, so that both can be given. A level stands before
 * the trace points, which are all if none is named. */
static char *body_of(const struct settings *s, const struct action *a, char *const *ids, int count)
{
    static char all[] = "*", *const every[] = {all};
    const char *level = takes_level(a) ? ids[0] : NULL;
    if (level && count == 1)
        ids = every;
    else if (level) {
        ids++;
        count--;
    }
    json_t *list = json_array();
    bool hashes = a->show == pythia__show_hash;
    for (const char *at = s->open; at && *at;) {
        size_t size = strcspn(at, ",");
        if (size > 0)
            json_array_append_new(list, json_stringn(at, size));
        at += size + (at[size] == ',');
    }
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_string(ids[i]));
    json_t *body = hashes         ? json_pack("{s:s}", "value", ids[0])
                   : a->takes_ids ? json_pack("{s:o}", "trace_points", list)
                                  : json_object();
    if (!a->takes_ids)
        json_decref(list);
    json_t *types = s->types.count > 0 ? json_array() : NULL;
    for (size_t i = 0; i < s->types.count; i++)
        json_array_append_new(types, json_string(s->types.texts[i]));
    if (types)
        json_object_set_new(body, "types", types);
    if (level)
        json_object_set_new(body, "level", json_string(level));
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    return text;
}

/* JSON is passed on as pythiad wrote it, so that scripts see members that this version does not
 * know. */
static int write_answer(const struct settings *s, const struct action *a,
                        const struct pythia_web_answer *answer)
{
    struct pythia_buf out = {0};
    json_error_t why;
    if (s->format == 1 || !a->show) {
        pythia_buf_add(&out, answer->body.bytes, answer->body.size);
    } else {
        json_t *json =
            json_loadb(answer->body.bytes ? answer->body.bytes : "", answer->body.size, 0, &why);
        if (!json) {
            pythia_log(PYTHIA_LOG_ERROR,
                       "The answer is not JSON; is this the address of pythiad? "
                       "address=%s",
                       pythia__daemon_address(&s->daemon));
            return PYTHIA_EFORMAT;
        }
        if (s->ids && a->show == pythia__show_points)
            pythia__show_ids(&out, json);
        else
            a->show(&out, json);
        json_decref(json);
    }
    int status = pythia_buf_status(&out);
    status = pythia__write_text(NULL, status, &out);
    return status;
}

/* Log a refusal in the daemon's own words. */
static void report_refusal(const struct pythia_web_answer *answer)
{
    json_error_t unused;
    struct pythia_buf text = {0};
    struct pythia_text said = {answer->body.bytes ? answer->body.bytes : "", answer->body.size};
    json_t *json = json_loadb(said.bytes, said.size, 0, &unused);
    const json_t *why = json_object_get(json, "error"), *id;
    size_t i;
    while (said.size > 0 && said.bytes[said.size - 1] == '\n')
        said.size--;
    if (why)
        pythia__show_text(&text, why);
    else
        pythia_shown_add(&text, said, 300);
    const json_t *named = json_object_get(json, "unknown");
    if (!named)
        named = json_object_get(json, "not_switchable");
    json_array_foreach (named, i, id) {
        pythia_buf_puts(&text, i ? ", " : ": ");
        pythia__show_text(&text, id);
    }
    if (json_object_get(json, "reason")) {
        pythia_buf_puts(&text, "; ");
        pythia__show_text(&text, json_object_get(json, "reason"));
    }
    pythia_log(PYTHIA_LOG_ERROR, "pythiad refuses (%ld): %s", answer->status,
               text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
    json_decref(json);
}

/* ---- off without the daemon ---- */

/* Throw the switch for everything on a plane, by the option that says where that is. */
static int switch_plane(const char *name, const char *option, const char *where, bool off)
{
    struct pythia_error why = {0};
    const struct pythia_control_ops *ops = pythia_control_named(name);
    const struct pythia_option *o = ops->options;
    struct pythia_control *plane = NULL;
    void *settings = pythia_calloc(1, ops->settings_size + 1);
    if (!settings)
        return PYTHIA_ENOMEM;
    pythia_options_default(ops->options, settings);
    while (strcmp(o->name, option) != 0)
        o++;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    int status = pythia_option_set(o, settings, where, &why);
    if (status != PYTHIA_OK || (status = ops->create(settings, &plane, &why)) != PYTHIA_OK ||
        (status = ops->off(plane, off, now_ns, &why)) != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "Could not %s: plane=%s, where=%s, reason=%s",
                   off ? "close" : "end what is closed", name, where, why.sentence);
    else if (off)
        pythia_log(PYTHIA_LOG_INFO, "Closed everything without pythiad: plane=%s, where=%s", name,
                   where);
    if (plane)
        ops->destroy(plane);
    pythia_free(settings);
    return status;
}

/* All that is named, and the first that went wrong. */
static int close_directly(const struct settings *s)
{
    const struct {
        const char *plane, *option, *where;
    } all[] = {{"gate", "directory", s->gate},
               {"osprofiler", "redis", s->osprofiler},
               {"http", "off-file", s->off_file}};
    int first = PYTHIA_OK;
    bool any = false;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].where) {
            int status = switch_plane(all[i].plane, all[i].option, all[i].where, true);
            first = first == PYTHIA_OK ? status : first;
            any = true;
        }
    if (!any)
        pythia_log(PYTHIA_LOG_ERROR,
                   "Nothing was closed: --gate, --osprofiler and --off-file name what can be "
                   "closed without pythiad; agents that poll it return to their own set when its "
                   "lease ends");
    return any ? first : PYTHIA_EIO;
}

/* ---- variables without the daemon ---- */

static int list_variables(const struct settings *s, const struct action *a)
{
    struct pythia_web_answer answer = {0};
    struct pythia_error why = {0};
    int status = pythia_gate_variables(*s->gate ? s->gate : NULL, &answer.body, &why);
    if (status != PYTHIA_OK) {
        pythia_log(PYTHIA_LOG_ERROR, "%s", why.sentence);
        goto out;
    }
    status = write_answer(s, a, &answer);
out:
    pythia_buf_free(&answer.body);
    return status == PYTHIA_OK ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_FAILED;
}

/* ---- live ---- */

/* One round of watch: show the report if it is another one than before. */
static int watch_once(const struct settings *s, const char *path, bool terminal,
                      struct pythia_buf *shown)
{
    struct pythia_web_answer answer = {0};
    struct pythia_buf out = {0};
    int status = pythia__ask_daemon(&s->daemon, path, NULL, s->timeout_s, false, &answer);
    if (status != PYTHIA_OK)
        goto out;
    if (answer.status < 200 || answer.status > 299) {
        report_refusal(&answer);
        status = PYTHIA_EUSAGE;
        goto out;
    }
    if (pythia_text_equal(pythia_buf_text(shown), pythia_buf_text(&answer.body)))
        goto out;
    pythia_buf_puts(&out, terminal ? "\033[H\033[J" : shown->size > 0 ? "\n" : "");
    pythia_buf_text_add(&out, pythia_buf_text(&answer.body));
    pythia_buf_clear(shown);
    pythia_buf_text_add(shown, pythia_buf_text(&answer.body));
    status = pythia__write_text(NULL, pythia_buf_status(&out), &out);
out:
    pythia_buf_free(&answer.body);
    return status;
}

/* Show the report whenever it changes, until somebody interrupts or pythiad is gone. */
static int watch_report(const struct settings *s, const struct action *a)
{
    char path[128];
    struct pythia_buf shown = {0};
    const struct timespec pause = {(time_t)s->interval_s,
                                   (long)(1e9 * (s->interval_s - floor(s->interval_s)))};
    bool terminal = pythia__terminal_of(NULL).screen;
    snprintf(path, sizeof(path), "%s?format=%s&width=%zu", a->path, s->verbose ? "text" : "brief",
             pythia__terminal_of(NULL).width);
    while (watch_once(s, path, terminal, &shown) == PYTHIA_OK)
        nanosleep(&pause, NULL);
    pythia_buf_free(&shown);
    return PYTHIA__EXIT_FAILED;
}

static int report_unknown_action(const char *word)
{
    struct pythia_nearest near = {.wanted = pythia_text_of(word)};
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        pythia_nearest_offer(&near, pythia_text_of(actions[i].name));
    pythia_log(PYTHIA_LOG_ERROR,
               "there is no pythia ctl %s%s%.*s%s (pythia ctl --help lists the actions)", word,
               near.best.size ? ", did you mean " : "", (int)near.best.size,
               near.best.size ? near.best.bytes : "", near.best.size ? "?" : "");
    return PYTHIA__EXIT_USAGE;
}

/* Wrong use ends before anything is sent. "off" must work also if the daemon is gone: then the
 * switches are closed directly. */
static int run_ctl(const void *settings, char *const *operands, int count)
{
    static const char *const formats[] = {"text", "json", "markdown", "html"};
    const struct settings *s = settings;
    const struct action *a = NULL;
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, operands[0]) == 0)
            a = &actions[i];
    bool plans = a && a->show == pythia__show_plan;
    bool hashes = a && a->show == pythia__show_hash;
    bool fits = a && (hashes ? count == 2 : a->takes_ids == (count > 1 || (plans && s->open)));
    if (!a)
        return report_unknown_action(operands[0]);
    if (takes_level(a) && (count < 2 || pythia_option_choice_index(LEVELS, operands[1]) < 0)) {
        pythia_log(PYTHIA_LOG_ERROR, "pythia ctl level takes one of " LEVELS);
        return PYTHIA__EXIT_USAGE;
    }
    if (!fits || (s->open && !plans)) {
        pythia_log(PYTHIA_LOG_ERROR,
                   s->open && !plans ? "--open cannot be used with pythia ctl %s"
                   : hashes          ? "pythia ctl %s requires one value"
                   : a->takes_ids    ? "pythia ctl %s requires trace points"
                                     : "pythia ctl %s takes no operands",
                   operands[0]);
        return PYTHIA__EXIT_USAGE;
    }
    if (s->types.count > 0 && strcmp(a->name, "open") != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "--type cannot be used with pythia ctl %s", a->name);
        return PYTHIA__EXIT_USAGE;
    }
    if (s->format > 1 && a->show) {
        pythia_log(PYTHIA_LOG_ERROR, "pythia ctl %s supports text and json, not %s", operands[0],
                   formats[s->format]);
        return PYTHIA__EXIT_USAGE;
    }
    if (s->gate && a->show == pythia__show_variables)
        return list_variables(s, a);
    if (strcmp(a->name, "watch") == 0)
        return watch_report(s, a);
    char path[128];
    snprintf(path, sizeof(path), "%s", a->path);
    if (!a->show)
        snprintf(path, sizeof(path), "%s?format=%s&width=%zu", a->path,
                 s->format == 0 && !s->verbose ? "brief" : formats[s->format],
                 pythia__terminal_of(NULL).width);
    else if (strcmp(a->name, "decisions") == 0)
        snprintf(path, sizeof(path), "%s?count=%d", a->path, (int)s->count);
    bool off = strcmp(a->name, "off") == 0;
    char *body = a->posts ? body_of(s, a, operands + 1, count - 1) : NULL;
    struct pythia_web_answer answer = {0};
    int removed = strcmp(a->name, "on") == 0 && s->off_file
                      ? switch_plane("http", "off-file", s->off_file, false)
                      : PYTHIA_OK;
    int status = pythia__ask_daemon(&s->daemon, path, body, off ? (double)OFF_WAIT_S : s->timeout_s,
                                    off, &answer);
    free(body);
    if (status == PYTHIA_EIO && off) /* the daemon is gone: the switches must close all the same */
        status = close_directly(s);
    else if (status == PYTHIA_OK)
        status = answer.status < 200 || answer.status > 299 ? PYTHIA_EUSAGE
                                                            : write_answer(s, a, &answer);
    if (status == PYTHIA_EUSAGE)
        report_refusal(&answer);
    pythia_buf_free(&answer.body);
    return status == PYTHIA_OK && removed == PYTHIA_OK ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_FAILED;
}

const struct pythia__command pythia__cmd_ctl = {
    .name = "ctl",
    .operands = "ACTION [ID...|VALUE]",
    .summary = "Query and control a running pythiad",
    .description =
        "ACTION is one of:\n\n"
        "status: what pythiad is doing.\n\n"
        "groups: the groups of requests of the last cycle.\n\n"
        "report: the report of the last cycle. watch: show it again whenever it has changed, "
        "until interrupted.\n\n"
        "decisions: what was opened and closed, and why; as JSON also in which cycle, counted as "
        "in the log and the reports of the same run of pythiad.\n\n"
        "points: every trace point that can be switched, the cost of a hit (measured, or expected "
        "from the cost of others), the result of the last order, and at how many instances it is "
        "open if not at all of them. A trace point is silent if it "
        "is open and none of the requests that could have hit it did.\n\n"
        "vars: the variables of C programs and their current values.\n\n"
        "open ID..., close ID...: keep trace points open or closed regardless of the search. "
        "The entry points of services, and calls between services, stay open all the same as soon "
        "as requests have shown which they are, because without them no request would be seen; off "
        "closes them, too. "
        "unpin ID...: return them to the search. Each ID is an id or a pattern with *, ? and [, "
        "which stands for the trace points known now that match it and can be switched. With "
        "--type TYPE, they are open only for requests of that type (a name shown by groups, or a "
        "pattern for the types known now).\n\n"
        "open, close and level also take HOST/SERVICE/PROCESS/FUNCTION, four patterns of which an "
        "empty or missing one means any. It names the trace points of services that match SERVICE "
        "whose id without the service, or span name, matches FUNCTION. They are open or closed "
        "only at instances that match HOST and PROCESS, also at those that start later; at other "
        "instances the search decides. HOST is compared with the name of the instance up to its "
        "first colon, PROCESS with its process id and with the whole name. Control planes that "
        "have one switch for all instances of a service refuse this (all but agents that poll; "
        "see pythia-control-http(7)). A text with a slash, and no colon before its second "
        "slash, is read like that, unless it is the id of a trace point. A later order for a trace "
        "point replaces "
        "the earlier one, so name several places in one order.\n\n"
        "level LEVEL [ID...]: bring those trace points, or all, to a level by the same pins: off, "
        "nothing is open; service, entry points and calls between services; function, functions "
        "too, as the search decides; all, everything is open.\n\n"
        "plan ID... or plan --open ID,ID: what opening them would cost, in ns and in percent of "
        "the duration of requests.\n\n"
        "hash VALUE: how a value appears in reports if a rule of redact hashes it.\n\n"
        "off: close everything and keep it closed. on: resume the search. off takes effect within "
        "two seconds. If pythiad does not answer, off closes the targets that --gate, "
        "--osprofiler and --off-file name without it.",
    .examples = "# What has pythiad found?\n"
                "pythia ctl report\n"
                "# Follow it\n"
                "pythia ctl watch\n"
                "# Why is that trace point open?\n"
                "pythia ctl decisions --count 5\n"
                "# Open all trace points of a service, then return them to the search\n"
                "pythia ctl open 'store:*'\n"
                "pythia ctl unpin 'store:*'\n"
                "# Open them only for requests of some types\n"
                "pythia ctl open 'store:*' --type 'GET /list*'\n"
                "# Open them only on some hosts, or in one process\n"
                "pythia ctl open 'db-*/store'\n"
                "pythia ctl open 'db-1/store/4711/query'\n"
                "# Of a service, see only who calls it\n"
                "pythia ctl level service 'store:*'\n"
                "# Close everything, at once\n"
                "pythia ctl off\n",
    .words =
        "status groups report watch decisions points vars open close unpin level plan hash off on",
    .exits = "0 done, 1 failed (also: pythiad does not answer, or refuses), 2 wrong usage.",
    .see_also = "pythiad(8), pythia-report(5), pythia-control-http(7)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_ctl,
};
