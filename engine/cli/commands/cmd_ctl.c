#include <curl/curl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "pythia/control.h"
#include "pythia/gate_variables.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "shared/command.h"

#define SOCKET_PATH "/run/pythiad/control.sock"
#define SOCKET      "unix:" SOCKET_PATH
#define ADDRESS     "127.0.0.1:4319"
#define OFF_WAIT_S  1L /* for the daemon to close everything, before it is done without it */

struct settings {
    const char *address, *token, *tls_trust, *gate, *osprofiler, *off_file, *open;
    int format;
    int64_t count;
    double timeout_s;
    struct pythia_option_texts types;
};

#define OPTION(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("address", 'a', "HOST:PORT|unix:PATH", OPTION(address),
                       "Where pythiad's control interface is (default " SOCKET
                       " if it is there, else " ADDRESS ")"),
    PYTHIA_TEXT_OPTION("token", 0, "FILE", OPTION(token),
                       "File with the token of the control interface"),
    PYTHIA_TEXT_OPTION("tls-trust", 0, "FILE", OPTION(tls_trust),
                       "Speak TLS, and trust the authorities of a file (PEM)"),
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html", "text", OPTION(format),
                  "Form of what is written; markdown and html are of the report"),
    PYTHIA_INTEGER("count", 'n', "N", "20", 1, 10000, OPTION(count), "Decisions to show"),
    PYTHIA_TEXT_OPTION("open", 0, "ID,ID...", OPTION(open),
                       "For plan: trace points, with commas between them, beside those that are "
                       "operands"),
    {"type", 0, PYTHIA_OPTION_TEXTS, "TYPE", NULL, NULL, 0, 0, OPTION(types),
     "For open: only for requests of this type, or of those that match a pattern, and closed for "
     "all others (may be given several times)"},
    PYTHIA_REAL("timeout-seconds", 0, "S", "10", .1, 3600, OPTION(timeout_s),
                "How long to wait for an answer"),
    PYTHIA_TEXT_OPTION("gate", 0, "FOLDER", OPTION(gate),
                       "For off: switchboards of C programs, which are closed directly if pythiad "
                       "does not answer. For vars: look there, without pythiad"),
    PYTHIA_TEXT_OPTION("osprofiler", 0, "redis://HOST:PORT/N", OPTION(osprofiler),
                       "For off: the same for OSProfiler's switches in Redis"),
    PYTHIA_TEXT_OPTION("off-file", 0, "FILE", OPTION(off_file),
                       "For off: a file that is made if pythiad does not answer, and while it is "
                       "there agents on this machine keep everything closed; /run/pythia/off is "
                       "where they look. For on: it is removed"),
    {0},
};

/* ---- asking ---- */

struct answer {
    struct pythia_buf body;
    long status;
};

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct answer *a = context;
    pythia_buf_add(&a->body, bytes, size * count);
    return pythia_buf_status(&a->body) == PYTHIA_OK ? size * count : 0;
}

static const char *address_of(const struct settings *s)
{
    if (s->address)
        return s->address;
    return access(SOCKET_PATH, F_OK) == 0 ? SOCKET : ADDRESS;
}

static int set_up(CURL *curl, const struct settings *s, const char *path, struct curl_slist **list,
                  struct pythia_buf *url)
{
    const char *address = address_of(s);
    bool socket = strncmp(address, "unix:", 5) == 0;
    if (socket)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, address + 5);
    pythia_buf_printf(url, "%s://%s%s", s->tls_trust && !socket ? "https" : "http",
                      socket ? "localhost" : address, path);
    if (s->tls_trust)
        curl_easy_setopt(curl, CURLOPT_CAINFO, s->tls_trust);
    if (s->token) {
        struct pythia_buf token = {0}, header = {0};
        struct pythia_error why = {0};
        int status = pythia_file_read(s->token, &token, &why);
        if (status != PYTHIA_OK) {
            char text[1024];
            pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(&why, text, sizeof(text)));
            return status;
        }
        while (token.size > 0 && strchr(" \t\r\n", token.bytes[token.size - 1]))
            token.size--;
        pythia_buf_printf(&header, "Authorization: Bearer %.*s", (int)token.size, token.bytes);
        if (pythia_buf_status(&header) == PYTHIA_OK)
            *list = curl_slist_append(*list, header.bytes);
        pythia_buf_free(&token);
        pythia_buf_free(&header);
    }
    return pythia_buf_status(url);
}

/* Ask for a path; `body` (may be NULL) is posted. PYTHIA_OK when there is an answer, whatever it
 * is; else PYTHIA_EIO, told. */
static int ask(const struct settings *s, const char *path, const char *body, double timeout_s,
               bool quiet, struct answer *out)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    struct pythia_buf url = {0};
    int status = curl && list ? set_up(curl, s, path, &list, &url) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK) {
        curl_easy_setopt(curl, CURLOPT_URL, url.bytes);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_s * 1000));
        curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        if (body)
            curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        CURLcode result = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &out->status);
        if (result != CURLE_OK) {
            status = PYTHIA_EIO;
            pythia_log(quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_ERROR,
                       "pythiad does not answer (is it there? --address says where): address=%s, "
                       "reason=%s",
                       address_of(s), curl_easy_strerror(result));
        }
    }
    pythia_buf_free(&url);
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    return status;
}

/* ---- showing ---- */

static void show_text(struct pythia_buf *to, const json_t *value)
{
    pythia_shown_add(to,
                     (struct pythia_text){json_string_value(value) ? json_string_value(value) : "",
                                          json_string_length(value)},
                     SIZE_MAX);
}

/* What is taken of senders at most, by the names of pythiad's settings. */
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

/* What nobody decides about, and what to do. */
static void show_unknown(struct pythia_buf *to, const json_t *s)
{
    if (json_integer_value(json_object_get(s, "unknown_points")) > 0)
        pythia_buf_printf(to,
                          "  %" JSON_INTEGER_FORMAT
                          " spans were left out because the search space does not know their trace "
                          "points: learn it anew\n",
                          json_integer_value(json_object_get(s, "unknown_spans")));
}

static void show_status(struct pythia_buf *to, const json_t *s)
{
    static const struct {
        const char *name, *label;
    } rows[] = {{"cycles", "cycles"},
                {"cycle", "number of the last"},
                {"problems_waiting", "types that wait"},
                {"requests", "requests"},
                {"spans", "spans"},
                {"open_requests", "unfinished requests"},
                {"points_known", "trace points known"},
                {"quarantined", "in quarantine"},
                {"mute", "open and mute"},
                {"unknown_points", "not in search space"},
                {"desired_version", "desired set"}};
    const json_t *plane;
    size_t i;
    pythia_buf_puts(to, "pythiad ");
    show_text(to, json_object_get(s, "version"));
    pythia_buf_puts(to, " ");
    show_text(to, json_object_get(s, "doing"));
    pythia_buf_puts(to, json_is_true(json_object_get(s, "degraded"))
                            ? ", but its state cannot be written\n"
                            : "\n");
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        pythia_buf_printf(to, "  %-22s %" JSON_INTEGER_FORMAT "\n", rows[i].label,
                          json_integer_value(json_object_get(s, rows[i].name)));
    show_unknown(to, s);
    json_array_foreach (json_object_get(s, "planes"), i, plane) {
        pythia_buf_puts(to, "  plane ");
        show_text(to, json_object_get(plane, "name"));
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
            show_text(to, json_object_get(plane, "why"));
        }
        pythia_buf_putc(to, '\n');
    }
    show_limits(to, json_object_get(s, "limits"));
}

/* One of the words of pythiad; "" if it is none. */
static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* Those that a point is open for, if it is not open for all. */
static void show_types(struct pythia_buf *to, const json_t *types)
{
    const json_t *type;
    size_t i;
    json_array_foreach (types, i, type) {
        pythia_buf_puts(to, i == 0 ? ", only for " : " and ");
        show_text(to, type);
    }
}

static void show_points(struct pythia_buf *to, const json_t *points)
{
    const json_t *p;
    size_t i;
    if (json_array_size(points) == 0)
        pythia_buf_puts(to, "no trace point is known yet\n");
    json_array_foreach (points, i, p) {
        double price = json_number_value(json_object_get(p, "price_ns"));
        bool open = json_is_true(json_object_get(p, "wanted"));
        bool mute = json_is_true(json_object_get(p, "mute"));
        pythia_buf_printf(to, "%-6s ", mute ? "mute" : open ? "open" : "");
        if (price > 0)
            pythia_buf_printf(to, "%9.0f ns %-8s", price, text_of(p, "price_known"));
        else
            pythia_buf_printf(to, "%21s", "");
        pythia_buf_printf(to, " %10" JSON_INTEGER_FORMAT " hits  ",
                          json_integer_value(json_object_get(p, "hits")));
        show_text(to, json_object_get(p, "trace_point"));
        pythia_buf_puts(to, "  (");
        show_text(to, json_object_get(p, "result"));
        pythia_buf_printf(to, "%s%s", json_is_true(json_object_get(p, "pinned")) ? ", pinned" : "",
                          json_is_true(json_object_get(p, "quarantined")) ? ", in quarantine" : "");
        show_types(to, json_object_get(p, "types"));
        if (mute)
            pythia_buf_printf(to, ", none of %" JSON_INTEGER_FORMAT " requests passed it",
                              json_integer_value(json_object_get(p, "requests")));
        else if (open)
            pythia_buf_printf(to, ", %" JSON_INTEGER_FORMAT " spans since it was opened",
                              json_integer_value(json_object_get(p, "spans")));
        pythia_buf_puts(to, ")\n");
    }
}

static void show_decisions(struct pythia_buf *to, const json_t *decisions)
{
    const json_t *d;
    size_t i;
    if (json_array_size(decisions) == 0)
        pythia_buf_puts(to, "nothing was opened or closed yet\n");
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
        show_text(to, json_object_get(d, "trace_point"));
        if (json_string_length(json_object_get(d, "request_type")) > 0) {
            pythia_buf_puts(to, " for ");
            show_text(to, json_object_get(d, "request_type"));
        }
        pythia_buf_puts(to, ": ");
        show_text(to, json_object_get(d, "reason"));
        if (json_number_value(json_object_get(d, "price_ns")) > 0)
            pythia_buf_printf(to, "; a pass costs %.0f ns, %s",
                              json_number_value(json_object_get(d, "price_ns")),
                              text_of(d, "price_known"));
        if (!json_is_true(json_object_get(d, "open")) &&
            json_is_integer(json_object_get(d, "spans")))
            pythia_buf_printf(to, "; it gave %" JSON_INTEGER_FORMAT " spans",
                              json_integer_value(json_object_get(d, "spans")));
        pythia_buf_putc(to, '\n');
    }
}

static void show_groups(struct pythia_buf *to, const json_t *groups)
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
        show_text(to, json_object_get(g, "request_type"));
        pythia_buf_putc(to, '\n');
    }
}

static void show_cost(struct pythia_buf *to, const json_t *p)
{
    const json_t *price = json_object_get(p, "price_ns");
    pythia_buf_printf(to, ": %.0f ns added to a request, by %.2f calls at ",
                      json_number_value(json_object_get(p, "added_ns_per_request")),
                      json_number_value(json_object_get(p, "calls_per_request")));
    if (json_is_number(price))
        pythia_buf_printf(to, "%.0f ns, which is %s\n", json_number_value(price),
                          text_of(p, "price_known"));
    else
        pythia_buf_puts(to, "a price that is supposed\n");
}

static void show_plan(struct pythia_buf *to, const json_t *plan)
{
    const json_t *p;
    size_t i;
    json_array_foreach (json_object_get(plan, "trace_points"), i, p) {
        show_text(to, json_object_get(p, "trace_point"));
        if (!json_is_true(json_object_get(p, "known")))
            pythia_buf_puts(to, ": not known\n");
        else if (json_is_number(json_object_get(p, "added_ns_per_request")))
            show_cost(to, p);
        else
            pythia_buf_puts(to, ": never seen, so its calls are not known\n");
    }
    pythia_buf_printf(to, "together %.0f ns a request",
                      json_number_value(json_object_get(plan, "added_ns_per_request")));
    if (json_is_number(json_object_get(plan, "added_share")))
        pythia_buf_printf(to, ", %.3g %% of the %.3f ms that requests take",
                          100 * json_number_value(json_object_get(plan, "added_share")),
                          json_number_value(json_object_get(plan, "request_ns")) / 1e6);
    pythia_buf_putc(to, '\n');
}

static void show_variables(struct pythia_buf *to, const json_t *variables)
{
    const json_t *v;
    size_t i;
    json_int_t process = -1;
    json_array_foreach (variables, i, v) {
        const json_t *value = json_object_get(v, "value");
        if (json_integer_value(json_object_get(v, "process")) != process) {
            process = json_integer_value(json_object_get(v, "process"));
            show_text(to, json_object_get(v, "service"));
            pythia_buf_printf(to, ", process %" JSON_INTEGER_FORMAT ":\n", process);
        }
        pythia_buf_printf(to, "  %-13s  of the %-7s  %-13s  ",
                          json_string_value(json_object_get(v, "class")),
                          json_string_value(json_object_get(v, "binding")),
                          json_string_value(json_object_get(v, "type")));
        if (json_is_number(value))
            pythia_buf_printf(to, "%16.10g  ", json_number_value(value));
        else
            pythia_buf_printf(to, "%16s  ", "not seen yet");
        show_text(to, json_object_get(v, "name"));
        pythia_buf_putc(to, '\n');
    }
    if (json_array_size(variables) == 0)
        pythia_buf_puts(to, "no program has defined a variable\n");
}

static void show_hash(struct pythia_buf *to, const json_t *answer)
{
    show_text(to, json_object_get(answer, "hash"));
    pythia_buf_putc(to, '\n');
}

static void show_done(struct pythia_buf *to, const json_t *answer)
{
    json_int_t points = json_integer_value(json_object_get(answer, "trace_points"));
    if (json_object_get(answer, "doing")) {
        pythia_buf_puts(to, "pythiad: ");
        show_text(to, json_object_get(answer, "doing"));
        pythia_buf_putc(to, '\n');
    } else {
        pythia_buf_printf(
            to, "%" JSON_INTEGER_FORMAT " trace point%s, desired set %" JSON_INTEGER_FORMAT "\n",
            points, points == 1 ? "" : "s",
            json_integer_value(json_object_get(answer, "desired_version")));
    }
}

/* ---- what can be asked ---- */

static const struct action {
    const char *name, *path;
    bool posts, takes_ids;
    void (*show)(struct pythia_buf *to, const json_t *answer); /* NULL: it is text already */
} actions[] = {
    {"status", "/v1/status", false, false, show_status},
    {"groups", "/v1/groups", false, false, show_groups},
    {"report", "/v1/report", false, false, NULL},
    {"decisions", "/v1/decisions", false, false, show_decisions},
    {"points", "/v1/points", false, false, show_points},
    {"vars", "/v1/variables", false, false, show_variables},
    {"open", "/v1/open", true, true, show_done},
    {"close", "/v1/close", true, true, show_done},
    {"unpin", "/v1/unpin", true, true, show_done},
    {"plan", "/v1/plan", true, true, show_plan},
    {"hash", "/v1/hash", true, false, show_hash},
    {"off", "/v1/off", true, false, show_done},
    {"on", "/v1/on", true, false, show_done},
};

static char *body_of(const struct settings *s, const struct action *a, char *const *ids, int count)
{
    json_t *list = json_array();
    bool hashes = a->show == show_hash;
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
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    return text;
}

static int write_answer(const struct settings *s, const struct action *a,
                        const struct answer *answer)
{
    struct pythia_buf out = {0};
    json_error_t why;
    if (s->format == 1 || !a->show) {
        pythia_buf_add(&out, answer->body.bytes, answer->body.size);
    } else {
        json_t *json =
            json_loadb(answer->body.bytes ? answer->body.bytes : "", answer->body.size, 0, &why);
        if (!json) {
            pythia_log(PYTHIA_LOG_ERROR, "The answer is not JSON: is that pythiad? address=%s",
                       address_of(s));
            return PYTHIA_EFORMAT;
        }
        a->show(&out, json);
        json_decref(json);
    }
    int status = pythia_buf_status(&out);
    if (status == PYTHIA_OK)
        status = pythia__write_output(NULL, pythia_buf_text(&out));
    pythia_buf_free(&out);
    return status;
}

/* What the daemon refused, in its own words. */
static void tell_refusal(const struct answer *answer)
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
        show_text(&text, why);
    else
        pythia_shown_add(&text, said, 300);
    const json_t *named = json_object_get(json, "unknown");
    if (!named)
        named = json_object_get(json, "not_switchable");
    json_array_foreach (named, i, id) {
        pythia_buf_puts(&text, i ? ", " : ": ");
        show_text(&text, id);
    }
    if (json_object_get(json, "reason")) {
        pythia_buf_puts(&text, "; ");
        show_text(&text, json_object_get(json, "reason"));
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
    int status = pythia_option_set(o, settings, where, &why);
    if (status == PYTHIA_OK)
        status = ops->create(settings, &plane, &why);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (status == PYTHIA_OK)
        status =
            ops->off(plane, off, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, &why);
    if (plane)
        ops->destroy(plane);
    pythia_free(settings);
    if (status != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "Could not %s: plane=%s, where=%s, reason=%s",
                   off ? "close" : "end what is closed", name, where, why.sentence);
    else if (off)
        pythia_log(PYTHIA_LOG_INFO, "Closed everything without pythiad: plane=%s, where=%s", name,
                   where);
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
                   "Nothing was closed: --gate, --osprofiler and --off-file say what can be closed "
                   "without pythiad; agents that poll it go back to their own set when its lease "
                   "is over");
    return any ? first : PYTHIA_EIO;
}

/* ---- variables without the daemon ---- */

static int list_variables(const struct settings *s, const struct action *a)
{
    struct answer answer = {0};
    struct pythia_error why = {0};
    int status = pythia_gate_variables(*s->gate ? s->gate : NULL, &answer.body, &why);
    if (status == PYTHIA_OK)
        status = write_answer(s, a, &answer);
    else
        pythia_log(PYTHIA_LOG_ERROR, "%s", why.sentence);
    pythia_buf_free(&answer.body);
    return status == PYTHIA_OK ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_FAILED;
}

static int run(const void *settings, char *const *operands, int count)
{
    static const char *const formats[] = {"text", "json", "markdown", "html"};
    const struct settings *s = settings;
    const struct action *a = NULL;
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, operands[0]) == 0)
            a = &actions[i];
    bool plans = a && a->show == show_plan;
    bool hashes = a && a->show == show_hash;
    bool fits = a && (hashes ? count == 2 : a->takes_ids == (count > 1 || (plans && s->open)));
    if (!fits || (s->open && !plans)) {
        pythia_log(PYTHIA_LOG_ERROR,
                   !a ? "there is no pythia ctl %s (pythia ctl --help lists what there is)"
                   : s->open && !plans ? "pythia ctl %s takes no --open"
                   : hashes            ? "pythia ctl %s takes one value"
                   : a->takes_ids      ? "pythia ctl %s takes trace points"
                                       : "pythia ctl %s takes nothing more",
                   operands[0]);
        return PYTHIA__EXIT_USAGE;
    }
    if (s->types.count > 0 && strcmp(a->name, "open") != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "pythia ctl %s takes no --type", a->name);
        return PYTHIA__EXIT_USAGE;
    }
    if (s->format > 1 && a->show) {
        pythia_log(PYTHIA_LOG_ERROR, "pythia ctl %s is written as text or json, not as %s",
                   operands[0], formats[s->format]);
        return PYTHIA__EXIT_USAGE;
    }
    if (s->gate && a->show == show_variables)
        return list_variables(s, a);
    char path[128];
    snprintf(path, sizeof(path), "%s", a->path);
    if (!a->show)
        snprintf(path, sizeof(path), "%s?format=%s", a->path, formats[s->format]);
    else if (strcmp(a->name, "decisions") == 0)
        snprintf(path, sizeof(path), "%s?count=%d", a->path, (int)s->count);
    bool off = strcmp(a->name, "off") == 0;
    char *body = a->posts ? body_of(s, a, operands + 1, count - 1) : NULL;
    struct answer answer = {0};
    int removed = strcmp(a->name, "on") == 0 && s->off_file
                      ? switch_plane("http", "off-file", s->off_file, false)
                      : PYTHIA_OK;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int status = ask(s, path, body, off ? (double)OFF_WAIT_S : s->timeout_s, off, &answer);
    free(body);
    if (status == PYTHIA_EIO && off)
        status = close_directly(s);
    else if (status == PYTHIA_OK && (answer.status < 200 || answer.status > 299))
        status = PYTHIA_EUSAGE;
    else if (status == PYTHIA_OK)
        status = write_answer(s, a, &answer);
    if (status == PYTHIA_EUSAGE)
        tell_refusal(&answer);
    pythia_buf_free(&answer.body);
    curl_global_cleanup();
    return status == PYTHIA_OK && removed == PYTHIA_OK ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_FAILED;
}

const struct pythia__command pythia__cmd_ctl = {
    .name = "ctl",
    .operands = "ACTION [ID...|VALUE]",
    .summary = "Talk to a running pythiad",
    .description =
        "ACTION is one of: status; groups, the groups of requests of the last cycle; report, the "
        "last cycle's report; decisions, what was opened and closed, and why (as JSON also in "
        "which "
        "cycle, by the number that it has in the log and the report of the start that it was in); "
        "points, every trace "
        "point that can be switched, what a pass of it costs (measured, or expected from what "
        "others "
        "cost) and what came of it (mute: it is open, and no request passed it of those that could "
        "have); vars, the variables of C programs and their values now; open "
        "ID..., close ID..., which keep trace points open or "
        "closed whatever the search wants, and unpin ID..., which leaves them to it again: each is "
        "an id or a pattern with *, ? and [, which stands for the trace points that are known now "
        "and match it, as far as they can be switched; what is opened with --type TYPE is open for "
        "requests of that type (a name as groups has it, or such a pattern of the types that are "
        "known now) and closed for all others; plan "
        "ID... or plan --open ID,ID, what it would cost to open them, in ns and in percent of what "
        "requests take now; hash VALUE, what a value looks like in reports where a rule of redact "
        "hashes it; off, which closes everything and keeps it closed, "
        "and on, with which the search goes on.\n\n"
        "off works within two seconds. If pythiad does not answer, the targets that --gate, "
        "--osprofiler and --off-file name are closed without it, as far as they are named.",
    .examples = "# What has it found?\n"
                "pythia ctl report\n"
                "# Why is that trace point open?\n"
                "pythia ctl decisions --count 5\n"
                "# Open all trace points of a service, and leave them to the search again\n"
                "pythia ctl open 'store:*'\n"
                "pythia ctl unpin 'store:*'\n"
                "# Open them only for requests of some types\n"
                "pythia ctl open 'store:*' --type 'GET /list*'\n"
                "# Close everything, at once\n"
                "pythia ctl off\n",
    .words = "status groups report decisions points vars open close unpin plan hash off on",
    .exits = "0 done, 1 failed (also: pythiad does not answer, or refuses), 2 wrong usage.",
    .see_also = "pythiad(8), pythia-report(5)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run,
};
