/* The control interface: what pythiad knows, what it is told by hand, and what agents ask. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "contexts.h"
#include "daemon.h"
#include "mcp_route.h"
#include "metrics.h"
#include "openapi_served.h"
#include "page.h"
#include "pythia/bill.h"
#include "pythia/control_http.h"
#include "pythia/gate_variables.h"
#include "pythia/json_text.h"
#include "pythia/mcp.h"
#include "pythia/mem.h"
#include "pythia/redaction.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "reports.h"
#include "sharing.h"
#include "switching/budget.h"
#include "switching/fixed.h"
#include "switching/inventory.h"
#include "switching/pin_order.h"

#define JSON_TYPE        "application/json"
#define HTML_TYPE        "text/html; charset=utf-8"
#define REPORT_PAGE      "/report"
#define REPORT_WIDTH_MAX 1000
#define BODY_MAX         ((size_t)1024 * 1024)
#define IDS_MAX          PYTHIA__PINS_MAX /* in one request */

/* ---- answers ---- */

static void answer_control_json(struct pythia__http_exchange *x, unsigned status, json_t *body)
{
    struct pythia_buf out = {0};
    int made = pythia_json_put_shown(&out, body, JSON_INDENT(1), "\n");
    json_decref(body);
    if (made != PYTHIA_OK) {
        pythia_buf_free(&out);
        pythia__http_say(x, 503, "out of memory\n");
        return;
    }
    pythia__http_answer(x, status, JSON_TYPE, out.bytes, out.size);
}

static void answer_refusal(struct pythia__http_exchange *x, unsigned status, const char *why)
{
    answer_control_json(x, status, json_pack("{s:s}", "error", why));
}

static json_t *pack_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *pack_text(struct pythia_text text)
{
    json_t *out = json_stringn(text.bytes, text.size);
    return out ? out : json_string("?"); /* no UTF-8: names are made so before they get here */
}

/* ---- health ---- */

static void handle_alive(void *context, struct pythia__http_exchange *x)
{
    (void)context;
    pythia__http_say(x, 200, "ok\n");
}

static void handle_ready(void *context, struct pythia__http_exchange *x)
{
    const struct pythia__daemon *d = context;
    if (d->draining)
        pythia__http_say(x, 503, "stops\n");
    else if (pythia_live_is_full(d->engine.live))
        pythia__http_say(x, 503, "full: senders are asked to retry\n");
    else if (pythia_state_is_degraded(d->engine.state))
        pythia__http_say(x, 200, "degraded: the state cannot be written\n");
    else
        pythia__http_say(x, 200, "ready\n");
}

static void handle_metrics(void *context, struct pythia__http_exchange *x)
{
    struct pythia_buf out = {0};
    pythia__metrics_write(context, &out);
    if (pythia_buf_status(&out) != PYTHIA_OK) {
        pythia_buf_free(&out);
        pythia__http_say(x, 503, "out of memory\n");
        return;
    }
    pythia__http_answer(x, 200, "text/plain; version=0.0.4; charset=utf-8", out.bytes, out.size);
}

/* ---- what it knows ---- */

static json_t *plane_list(const struct pythia__daemon *d);

static int pack_plane(void *context, const struct pythia_controlled_plane *p)
{
    json_t *one = json_pack("{s:s, s:b, s:b, s:s, s:I, s:I}", "name", p->name, "reachable",
                            p->reachable, "in_force", p->in_force, "why", p->why, "points",
                            (json_int_t)p->points, "lost_targets", (json_int_t)p->lost_targets);
    return json_array_append_new(context, one) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
}

static json_t *plane_list(const struct pythia__daemon *d)
{
    json_t *list = json_array();
    if (d->switching.controller)
        (void)pythia_controller_each_plane(d->switching.controller, pack_plane, list);
    return list;
}

/* For any reason; /metrics distinguishes them. */
static uint64_t spans_dropped(const struct pythia__daemon *d)
{
    struct pythia_counts all = *pythia__intake_counts(d->intake);
    uint64_t sum = 0;
    pythia_counts_add(&all, pythia__feeds_counts(d->feeds));
    pythia_counts_add(&all, pythia_live_counts(d->engine.live));
    for (int i = 0; i < PYTHIA_DROPS; i++)
        sum += all.dropped[i];
    return sum;
}

static json_t *limits_of(const struct pythia__daemon *d)
{
    json_t *out = json_object();
    for (size_t i = 0; i < pythia__limit_count; i++)
        (void)json_object_set_new(out, pythia__limits[i],
                                  json_integer(pythia__limit(&d->engine.s, i)));
    return out;
}

/* The addresses for senders and agents, and the credentials that they need: an operator whose
 * pythiad receives nothing looks here first. null: it does not listen. */
static json_t *listeners_of(const struct pythia__daemon *d)
{
    json_t *out = json_object();
    for (int at = 0; at < PYTHIA__LISTENERS; at++) {
        struct pythia_buf address = {0};
        pythia__daemon_address(d, (enum pythia__listener)at, &address);
        (void)json_object_set_new(out, pythia__listener_name((enum pythia__listener)at),
                                  address.size ? json_string(address.bytes) : json_null());
        pythia_buf_free(&address);
    }
    return out;
}

static json_t *tokens_of(const struct pythia__daemon *d)
{
    json_t *out = json_object();
    for (int role = PYTHIA__ROLE_READ; role < PYTHIA__ROLES; role++) {
        const char *tokens[2];
        pythia__role_tokens((enum pythia__role)role, (const char *const *)d->tokens, tokens);
        (void)json_object_set_new(out, pythia__role_name((enum pythia__role)role),
                                  json_boolean(tokens[0] || tokens[1]));
    }
    return out;
}

/* null: the search is in no state, or the group has it. */
static json_t *pack_saved_search(const struct pythia__saved_search *s)
{
    if (!s->is_kept)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I}", "restored_cycle", (json_int_t)s->restored_cycle,
                     "cycle", (json_int_t)s->cycle, "unix_ns", (json_int_t)s->unix_ns, "bytes",
                     (json_int_t)s->bytes);
}

/* Two objects are merged, because json_pack with all members in one format could not be read. */
static json_t *pack_status(struct pythia__daemon *d)
{
    struct pythia_window_numbers window = pythia_live_window(d->engine.live);
    struct pythia_live_numbers live = pythia_live_numbers(d->engine.live);
    struct pythia__intake_numbers in = pythia__intake_numbers(d->intake);
    struct pythia_controller_numbers c = pythia_controller_numbers(d->switching.controller);
    uint64_t spans = in.spans + pythia__feeds_numbers(d->feeds).spans,
             refused = d->room.refused_spans;
    const char *doing = d->draining                                         ? "stops"
                        : pythia_controller_is_off(d->switching.controller) ? "off"
                        : d->engine.s.observe_only                          ? "observes"
                                                                            : "works";
    for (int why = 0; why < PYTHIA__REFUSALS; why++)
        refused += in.refused_spans[why];
    json_t *out = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:o}", "version",
        PYTHIA_VERSION, "doing", doing, "started_unix_ns", (json_int_t)d->engine.started_ns,
        "cycles", (json_int_t)d->cycles, "spans", (json_int_t)spans, "requests",
        (json_int_t)window.finished, "open_requests", (json_int_t)window.open_traces,
        "points_known", (json_int_t)c.points, "desired_version", (json_int_t)c.version,
        "quarantined", (json_int_t)c.in_quarantine, "in_force", d->switching.in_force.now,
        "degraded", pythia_state_is_degraded(d->engine.state), "planes", plane_list(d));
    json_t *more = json_pack(
        "{s:b, s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:b, "
        "s:o, s:s?, s:I, s:s, s:o, s:o}",
        "learning", live.learning, "cycle", (json_int_t)d->cycle, "mute", (json_int_t)c.silent,
        "teaching", live.teaching, "lessons", (json_int_t)live.lessons, "types_waiting",
        (json_int_t)live.types_waiting, "problems_waiting",
        (json_int_t)pythia__engine_waiting(&d->engine), "request_types", (json_int_t)live.types,
        "learnt_types", (json_int_t)live.learnt, "requests_apart", (json_int_t)live.under_way,
        "spans_refused", (json_int_t)refused, "spans_dropped", (json_int_t)spans_dropped(d),
        "unknown_points", (json_int_t)live.unknown_points, "unknown_spans",
        (json_int_t)live.unknown_spans, "limits", limits_of(d), "listens", listeners_of(d), "tls",
        d->tls_key != NULL, "tokens", tokens_of(d), "trace_url", d->engine.s.trace_url, "orders",
        (json_int_t)d->orders, "data_folder", PYTHIA_DATA_FOLDER, "kafka",
        pythia__kafka_status(d->kafka), "saved_search", pack_saved_search(&d->switching.saved));
    if (!out || !more || json_object_update(out, more) != 0) {
        json_decref(out);
        out = NULL;
    }
    json_decref(more);
    return out;
}

static void handle_status(void *context, struct pythia__http_exchange *x)
{
    answer_control_json(x, 200, pack_status(context));
}

void pythia__api_status_line(void *daemon, struct pythia_buf *to)
{
    json_t *status = pack_status(daemon);
    (void)pythia_json_put_shown(to, status, JSON_COMPACT, "");
    json_decref(status);
}

static void handle_events(void *context, struct pythia__http_exchange *x)
{
    struct pythia__daemon *d = context;
    pythia__events_join(d->events, x, pythia__engine_now(&d->engine));
}

#define NOTHING_LOADED "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/* Pages load nothing and run nothing beyond what `policy` permits. `bytes` are taken; NULL when out
 * of memory. */
static void answer_page(struct pythia__http_exchange *x, const char *policy, const char *type,
                        char *bytes, size_t size)
{
    if (!bytes) {
        pythia__http_say(x, 503, "out of memory\n");
        return;
    }
    pythia__http_set(x, "Content-Security-Policy", policy);
    pythia__http_set(x, "X-Content-Type-Options", "nosniff");
    pythia__http_answer(x, 200, type, bytes, size);
}

/* An exchange that waits for the report. */
struct waiting {
    struct pythia__http_exchange *exchange;
    const char *type;
};

static void answer_report(void *context, int status, const char *bytes, size_t size)
{
    struct waiting *w = context;
    struct pythia__http_exchange *x = w->exchange;
    const char *type = w->type;
    pythia_free(w);
    if (status == PYTHIA_ESTOPPED)
        pythia__http_say(x, 503, "stops\n");
    else
        answer_page(x, NOTHING_LOADED, type,
                    status == PYTHIA_OK ? pythia_strndup(bytes, size) : NULL, size);
}

static void ask_report(struct pythia__daemon *d, struct pythia__http_exchange *x, unsigned form,
                       size_t width, const char *type)
{
    struct waiting *w = pythia_calloc(1, sizeof(*w));
    if (!w) {
        pythia__http_say(x, 503, "out of memory\n");
        return;
    }
    *w = (struct waiting){x, type};
    pythia__reporting_ask(d->engine.reporting, form, width, answer_report, w);
}

/* A report is made outside the event loop, so this only checks what is asked and hands the
 * exchange over. */
static void handle_report(void *context, struct pythia__http_exchange *x)
{
    static const struct {
        const char *name, *type;
    } forms[] = {[PYTHIA_REPORT_JSON] = {"json", JSON_TYPE},
                 [PYTHIA_REPORT_TEXT] = {"text", "text/plain; charset=utf-8"},
                 [PYTHIA_REPORT_MARKDOWN] = {"markdown", "text/markdown; charset=utf-8"},
                 [PYTHIA_REPORT_HTML] = {"html", HTML_TYPE},
                 [PYTHIA_REPORT_BRIEF] = {"brief", "text/plain; charset=utf-8"}};
    struct pythia__daemon *d = context;
    bool page = strcmp(pythia__http_path(x), REPORT_PAGE) == 0;
    const char *wanted = pythia__http_query(x, "format"), *width = pythia__http_query(x, "width");
    unsigned long columns = width ? strtoul(width, NULL, 10) : 0;
    wanted = wanted ? wanted : page ? "html" : "json";
    if (pythia__reports_begin(d) != PYTHIA_OK) {
        pythia__http_say(x, 503, "out of memory\n");
        return;
    }
    if (width && (columns < PYTHIA_REPORT_WIDTH_MIN || columns > REPORT_WIDTH_MAX)) {
        answer_refusal(x, 400, "width must be a number from 72 to 1000");
        return;
    }
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strcmp(forms[i].name, wanted) == 0) {
            ask_report(d, x, (unsigned)i, columns, forms[i].type);
            return;
        }
    answer_refusal(x, 400, "format must be one of json, brief, text, markdown and html");
}

/* A part of the report; empty before the first cycle has ended, unless the search goes on from an
 * earlier start, whose verdicts stand. */
static void answer_part(struct pythia__daemon *d, struct pythia__http_exchange *x, unsigned form)
{
    bool stands = d->engine.search_log.verdicts.count > 0 && pythia__reports_begin(d) == PYTHIA_OK;
    if (stands || pythia__reporting_has(d->engine.reporting))
        ask_report(d, x, form, 0, JSON_TYPE);
    else
        answer_control_json(x, 200, json_array());
}

static void handle_groups(void *context, struct pythia__http_exchange *x)
{
    answer_part(context, x, PYTHIA__REPORT_GROUPS);
}

static void handle_verdicts(void *context, struct pythia__http_exchange *x)
{
    answer_part(context, x, PYTHIA__REPORT_VERDICTS);
}

static void handle_cycles(void *context, struct pythia__http_exchange *x)
{
    answer_part(context, x, PYTHIA__REPORT_CYCLES);
}

static void answer_requests(void *context, int status, const char *bytes, size_t size)
{
    struct pythia__http_exchange *x = context;
    char *copy = status == PYTHIA_OK && bytes ? pythia_strndup(bytes, size) : NULL;
    if (copy)
        pythia__http_answer(x, 200, JSON_TYPE, copy, size);
    else if (status == PYTHIA_OK && !bytes)
        answer_refusal(x, 404, "the last cycle has no such group");
    else
        pythia__http_say(x, 503, status == PYTHIA_ESTOPPED ? "stops\n" : "out of memory\n");
}

/* The sampled requests of a group of the last cycle, one by one. */
static void handle_requests(void *context, struct pythia__http_exchange *x)
{
    const struct pythia__daemon *d = context;
    const char *group = pythia__http_query(x, "group");
    if (!group)
        answer_refusal(x, 400, "group must be the id of a group of /v1/groups");
    else if (!pythia__reporting_has(d->engine.reporting))
        answer_requests(x, PYTHIA_OK, NULL, 0);
    else
        pythia__reporting_ask_requests(d->engine.reporting, group, answer_requests, x);
}

/* The trees are large, so they are given one at a time; without a type, which ones there are. */
static void handle_contexts(void *context, struct pythia__http_exchange *x)
{
    const struct pythia__daemon *d = context;
    const struct pythia_space *space = pythia_live_space(d->engine.live);
    const char *wanted = pythia__http_query(x, "request_type");
    if (!wanted) {
        answer_control_json(x, 200, pythia__context_types(space));
        return;
    }
    uint32_t name = pythia_vocabulary_string_find(d->engine.vocabulary, pythia_text_of(wanted));
    const struct pythia_space_type *type =
        name == PYTHIA_NONE ? NULL : pythia_space_type(space, name);
    if (type)
        answer_control_json(x, 200, pythia__context_tree(type, d->engine.vocabulary));
    else
        answer_refusal(x, 404, "the search space has no such request type");
}

static void handle_decisions(void *context, struct pythia__http_exchange *x)
{
    const struct pythia__daemon *d = context;
    const char *count = pythia__http_query(x, "count");
    unsigned long wanted = count ? strtoul(count, NULL, 10) : 50;
    char *text = NULL;
    if (wanted == 0 || wanted > 10000) {
        answer_refusal(x, 400, "count must be a number from 1 to 10000");
        return;
    }
    if (pythia_state_decisions(d->engine.state, wanted, &text) != PYTHIA_OK) {
        answer_refusal(x, 503, "the state cannot be read");
        return;
    }
    pythia__http_answer(x, 200, JSON_TYPE, text, strlen(text));
}

struct listing {
    const struct pythia__daemon *d;
    json_t *list, *pins; /* those by hand: "open" or "closed", by id */
};

static int take_pin(void *context, struct pythia_text id, int pin)
{
    json_t *to = context;
    return json_object_setn_new(to, id.bytes, id.size, json_string(pin > 0 ? "open" : "closed")) ==
                   0
               ? PYTHIA_OK
               : PYTHIA_ENOMEM;
}

static int take_pin_type(void *context, struct pythia_text id, struct pythia_text type)
{
    (void)type;
    return take_pin(context, id, 1);
}

static int take_pin_place(void *context, struct pythia_text id, int pin, struct pythia_text place)
{
    (void)place;
    return take_pin(context, id, pin);
}

/* The pins set by hand, from the state; NULL when out of memory or not readable. */
static json_t *pins_of(const struct pythia__daemon *d)
{
    json_t *out = json_object();
    if (out && pythia_state_each_pin(d->engine.state, take_pin, out) == PYTHIA_OK &&
        pythia_state_each_pin_type(d->engine.state, take_pin_type, out) == PYTHIA_OK &&
        pythia_state_each_pin_place(d->engine.state, take_pin_place, out) == PYTHIA_OK)
        return out;
    json_decref(out);
    return NULL;
}

static json_t *pin_of(const struct listing *l, struct pythia_text id)
{
    json_t *pin = json_object_getn(l->pins, id.bytes, id.size);
    return pin ? json_incref(pin) : json_null();
}

/* The types that a point is open for: by a pin, by the search, or because they are being learnt;
 * null: all, or it is closed. */
static json_t *types_of(const struct pythia__daemon *d, struct pythia_text id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(d->engine.vocabulary, id);
    uint32_t learnt[PYTHIA_LIVE_LATE_MAX];
    size_t count = 0;
    if (point == PYTHIA_NONE)
        return json_null();
    const struct pythia_text *types = pythia_live_limit(d->engine.live, point, &count);
    size_t late = pythia_live_open_for(d->engine.live, point, learnt, PYTHIA_LIVE_LATE_MAX);
    if (!types && late == 0)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; types && i < count; i++)
        json_array_append_new(list, pack_text(types[i]));
    for (size_t i = 0; i < late; i++)
        json_array_append_new(list,
                              pack_text(pythia_vocabulary_text(d->engine.vocabulary, learnt[i])));
    return list;
}

/* The places that a point is pinned open at, or closed at; null: everywhere, or nowhere. */
static json_t *places_of(const struct pythia__daemon *d, struct pythia_text id, bool closed)
{
    size_t pin = pythia_wishes_find(&d->switching.placed, id);
    if (pin == PYTHIA_NO_WISH)
        return json_null();
    const struct pythia_control_wish *wish = &d->switching.placed.wishes[pin];
    size_t count = closed ? wish->except_count : wish->at_count;
    json_t *list = count > 0 ? json_array() : json_null();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, pack_text(closed ? wish->except[i] : wish->at[i]));
    return list;
}

/* How many instances are known, or have the point open; null: the plane cannot tell them apart. */
static json_t *pack_instances(const struct pythia_controlled *p, size_t count)
{
    return pythia_control_named(p->plane)->by_instance ? json_integer((json_int_t)count)
                                                       : json_null();
}

static int pack_point(void *context, const struct pythia_controlled *p)
{
    const struct listing *l = context;
    static const char *const results[] = {"pending", "applied", "refused", "lost"};
    json_t *one = json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:b, s:o, s:b, s:b, s:b, s:s, "
        "s:o, s:o, s:o, s:o, s:o}",
        "plane", p->plane, "trace_point", pack_text(p->id), "target", pack_text(p->target),
        "price_ns", pack_real(p->price_ns), "price_known", pythia_price_known_name(p->price_known),
        "layer", pythia_layer_name(p->layer), "hits", (json_int_t)p->hits, "spans",
        (json_int_t)p->spans, "requests", (json_int_t)p->requests, "wanted", p->wanted, "mute",
        p->silent, "pinned", p->pinned, "pin", pin_of(l, p->id), "quarantined", p->quarantined,
        "open_by_default", p->open_by_default, "switchable", 1, "result", results[p->result],
        "types", types_of(l->d, p->id), "places", places_of(l->d, p->id, false), "closed_places",
        places_of(l->d, p->id, true), "instances", pack_instances(p, p->instances),
        "open_instances", pack_instances(p, p->open_at));
    return json_array_append_new(l->list, one) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* A point that no control plane has, and whose spans arrive. */
static int add_unswitchable(const struct pythia__daemon *d, uint32_t point, json_t *list)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(d->engine.vocabulary, point);
    struct pythia_controller_seen seen = pythia__switching_see(&d->switching, id);
    if (seen.spans == 0 || pythia__fixed_is_switchable(&d->switching, id))
        return PYTHIA_OK;
    const char *colon = memchr(id.bytes, ':', id.size);
    struct pythia_text service = {id.bytes, colon ? (size_t)(colon - id.bytes) : 0};
    json_t *one = json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:b, s:b, s:s}", "plane",
        "", "trace_point", pack_text(id), "target", pack_text(service), "price_ns",
        pack_real(seen.price_ns), "price_known", pythia_price_known_name(seen.price_known), "layer",
        pythia_layer_name(PYTHIA_LAYER_APPLICATION), "hits", (json_int_t)seen.spans, "spans",
        (json_int_t)seen.spans, "requests", (json_int_t)seen.requests, "wanted",
        pythia_live_is_open(d->engine.live, point), "mute", 0, "pinned", 0, "quarantined", 0,
        "open_by_default", 1, "switchable", 0, "result", "not switchable");
    return json_array_append_new(list, one) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* NULL when out of memory. */
static json_t *pack_points(struct pythia__daemon *d)
{
    json_t *list = json_array();
    uint32_t points = pythia_vocabulary_tracepoints(d->engine.vocabulary);
    struct listing l = {d, list, pins_of(d)};
    int status = pythia_controller_each(d->switching.controller, pack_point, &l);
    json_decref(l.pins);
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t point = 0; point < points; point++)
        if (add_unswitchable(d, point, list) != PYTHIA_OK)
            goto out;
    return list;
out:
    json_decref(list);
    return NULL;
}

static void handle_points(void *context, struct pythia__http_exchange *x)
{
    answer_control_json(x, 200, pack_points(context));
}

static void handle_openapi(void *context, struct pythia__http_exchange *x)
{
    struct pythia_buf out = {0};
    (void)context;
    pythia_buf_add(&out, openapi_served, sizeof(openapi_served));
    answer_page(x, NOTHING_LOADED, JSON_TYPE, out.bytes, out.size);
}

/* The variables of the programs whose trace points are switched through shared memory. */
static void handle_variables(void *context, struct pythia__http_exchange *x)
{
    const struct pythia__daemon *d = context;
    struct pythia_buf out = {0};
    struct pythia_error why = {0};
    if (!d->engine.s.gate) {
        answer_refusal(x, 404, "--gate is off; variables come from C programs");
        return;
    }
    if (pythia_gate_variables(*d->engine.s.gate ? d->engine.s.gate : NULL, &out, &why) !=
        PYTHIA_OK) {
        pythia_buf_free(&out);
        answer_refusal(x, 503, why.sentence);
        return;
    }
    pythia__http_answer(x, 200, JSON_TYPE, out.bytes, out.size);
}

/* ---- what it is told by hand ---- */

/* A page of another site can have a browser post a form, but not JSON. */
static bool is_json(struct pythia__http_exchange *x)
{
    const char *type = pythia__http_header(x, "Content-Type");
    size_t size = strlen(JSON_TYPE);
    if (type && strncasecmp(type, JSON_TYPE, size) == 0 && strchr("; \t", type[size]))
        return true;
    answer_refusal(x, 415, "Content-Type must be " JSON_TYPE);
    return false;
}

/* Is it 1 to IDS_MAX texts? */
static bool is_list_of_texts(const json_t *list)
{
    bool good = json_array_size(list) >= 1 && json_array_size(list) <= IDS_MAX;
    for (size_t i = 0; good && i < json_array_size(list); i++)
        good = json_is_string(json_array_get(list, i));
    return good;
}

/* The body: {"trace_points": ["a:b", ...]}. NULL: it is something else, and was refused. */
static json_t *read_ids(struct pythia__http_exchange *x)
{
    size_t size;
    const char *bytes = pythia__http_body(x, &size);
    json_error_t why;
    if (!is_json(x))
        return NULL;
    json_t *body = json_loadb(bytes ? bytes : "", size, 0, &why);
    if (!is_list_of_texts(json_object_get(body, "trace_points"))) {
        json_decref(body);
        answer_refusal(x, 400,
                       "the body must be {\"trace_points\": [\"ID\", ...]}, with 1 to 1000 ids");
        return NULL;
    }
    return body;
}

/* The hash of a value where a rule hashes it, so that an operator who knows a tenant can find it
 * in a report. */
static void handle_hash(void *context, struct pythia__http_exchange *x)
{
    const struct pythia__daemon *d = context;
    char hash[PYTHIA_HASHED_SIZE + 1];
    size_t size;
    const char *bytes = pythia__http_body(x, &size);
    if (!is_json(x))
        return;
    json_t *body = json_loadb(bytes ? bytes : "", size, 0, NULL);
    const json_t *value = json_object_get(body, "value");
    if (!json_is_string(value)) {
        answer_refusal(x, 400, "the body must be {\"value\": \"TEXT\"}");
    } else if (!d->redaction || !d->hashes) {
        answer_refusal(x, 404, "no rule of redact hashes anything");
    } else {
        pythia_redaction_hash(
            d->redaction, (struct pythia_text){json_string_value(value), json_string_length(value)},
            hash);
        answer_control_json(x, 200, json_pack("{s:s}", "hash", hash));
    }
    json_decref(body);
}

/* Only what is known may be named: by a span that came, or by a plane's inventory. */
static void handle_order(struct pythia__daemon *d, struct pythia__http_exchange *x, int value)
{
    json_t *answer, *body = read_ids(x);
    const json_t *types = json_object_get(body, "types");
    if (!body)
        return;
    if (types && (value <= 0 || !is_list_of_texts(types))) {
        answer_refusal(x, 400, "\"types\" must be a list of 1 to 1000 names of request types");
        json_decref(body);
        return;
    }
    unsigned status = pythia__pin(&d->switching, body, value, &answer);
    d->orders++;
    json_decref(body);
    answer_control_json(x, status, answer);
}

static void handle_open(void *context, struct pythia__http_exchange *x)
{
    handle_order(context, x, 1);
}

static void handle_close(void *context, struct pythia__http_exchange *x)
{
    handle_order(context, x, -1);
}

static void handle_unpin(void *context, struct pythia__http_exchange *x)
{
    handle_order(context, x, 0);
}

static void handle_level(void *context, struct pythia__http_exchange *x)
{
    struct pythia__daemon *d = context;
    json_t *answer, *body = read_ids(x);
    if (!body)
        return;
    unsigned status = pythia__set_level(&d->switching, body, &answer);
    d->orders++;
    json_decref(body);
    answer_control_json(x, status, answer);
}

/* A point as it is known, whether a plane has it or only spans of it came. */
static struct pythia_controlled known_point(const struct pythia__daemon *d, struct pythia_text id)
{
    struct pythia_controlled p = {.price_ns = NAN};
    if (!pythia_controller_point(d->switching.controller, id, &p)) {
        struct pythia_controller_seen seen = pythia__switching_see(&d->switching, id);
        p.price_ns = seen.price_ns;
        p.price_known = seen.price_known;
        p.hits = seen.spans;
    }
    return p;
}

/* Estimate the cost of opening these points; nothing is opened. */
static void handle_plan(void *context, struct pythia__http_exchange *x)
{
    struct pythia__daemon *d = context;
    struct pythia_bill_item items[IDS_MAX];
    size_t count = 0;
    json_t *body = read_ids(x);
    if (!body)
        return;
    json_t *ids = json_object_get(body, "trace_points"), *list = json_array();
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        uint32_t point =
            pythia_vocabulary_tracepoint_find(d->engine.vocabulary, pythia_text_of(id));
        bool known = point != PYTHIA_NONE;
        struct pythia_controlled p = known_point(d, pythia_text_of(id));
        double calls = known ? pythia_live_calls(d->engine.live, point) : NAN;
        struct pythia_bill_item *item = &items[count];
        *item = (struct pythia_bill_item){p.price_ns, calls};
        struct pythia_bill_forecast one = pythia_bill_forecast(item, 1, d->engine.s.price_ns, NAN);
        json_array_append_new(list,
                              json_pack("{s:s, s:b, s:o, s:o, s:s, s:b, s:I, s:o}", "trace_point",
                                        id, "known", known, "calls_per_request", pack_real(calls),
                                        "price_ns", pack_real(item->price_ns), "price_known",
                                        pythia_price_known_name(p.price_known), "price_supposed",
                                        isnan(item->price_ns), "hits", (json_int_t)p.hits,
                                        "added_ns_per_request", pack_real(one.cost_ns)));
        count += isnan(calls) ? 0 : 1;
    }
    json_decref(body);
    double request_ns = pythia_overhead_request_ns(d->switching.overhead);
    struct pythia_bill_forecast all =
        pythia_bill_forecast(items, count, d->engine.s.price_ns, request_ns);
    answer_control_json(x, 200,
                        json_pack("{s:o, s:f, s:o, s:o}", "trace_points", list,
                                  "added_ns_per_request", all.cost_ns, "request_ns",
                                  pack_real(request_ns), "added_share", pack_real(all.share)));
}

static void handle_off(void *context, struct pythia__http_exchange *x)
{
    struct pythia__daemon *d = context;
    if (!is_json(x))
        return;
    bool kept;
    int status = pythia__sharing_set_off(d, true, &kept);
    if (status == PYTHIA_OK)
        answer_control_json(x, 200, json_pack("{s:s, s:b}", "doing", "off", "kept", kept));
    else
        answer_refusal(x, 502, "not every target could be reached; pythiad keeps trying");
}

static void handle_on(void *context, struct pythia__http_exchange *x)
{
    struct pythia__daemon *d = context;
    if (!is_json(x))
        return;
    bool kept;
    int status = pythia__sharing_set_off(d, false, &kept);
    if (status == PYTHIA_OK)
        answer_control_json(x, 200, json_pack("{s:s, s:b}", "doing", "works", "kept", kept));
    else
        answer_refusal(x, 502, "not every target could be reached; pythiad keeps trying");
}

/* ---- agents ---- */

static void handle_mcp(void *context, struct pythia__http_exchange *x)
{
    if (is_json(x))
        pythia__mcp_handle(context, x);
}

static void handle_agent_get(void *context, struct pythia__http_exchange *x)
{
    struct pythia__daemon *d = context;
    const char *service = pythia__http_query(x, "service");
    const char *instance = pythia__http_query(x, "instance");
    const char *match = pythia__http_header(x, "If-None-Match");
    char etag[PYTHIA_CONTROL_HTTP_ETAG] = "";
    struct pythia_buf body = {0};
    int status = pythia_control_http_get(
        d->switching.agents, pythia_text_of(service ? service : ""),
        pythia_text_of(instance ? instance : ""), pythia_text_of(match ? match : ""),
        pythia__engine_now(&d->engine), &body, etag);
    if (*etag)
        pythia__http_set(x, "ETag", etag);
    pythia__http_answer(x, (unsigned)status, body.bytes ? PYTHIA_CONTROL_HTTP_TYPE : NULL,
                        body.bytes, body.size);
}

static void handle_agent_post(void *context, struct pythia__http_exchange *x)
{
    struct pythia__daemon *d = context;
    size_t size;
    const char *bytes = pythia__http_body(x, &size);
    struct pythia_buf body = {0};
    if (!is_json(x))
        return;
    int status = pythia_control_http_post(d->switching.agents, bytes ? bytes : "", size,
                                          pythia__engine_now(&d->engine), &body);
    pythia__http_answer(x, (unsigned)status, body.bytes ? PYTHIA_CONTROL_HTTP_TYPE : NULL,
                        body.bytes, body.size);
}

/* ---- routes ---- */

/* The role is looked up afterwards; until then it is the one that demands most. */
#define ROUTE(method, path, body_max, handle)                                                      \
    {                                                                                              \
        method, path, PYTHIA__ROLE_CONTROL, body_max, handle, d, NULL                              \
    }

static void set_roles(struct pythia__http_route *routes, size_t count, enum pythia__listener at)
{
    for (size_t i = 0; i < count; i++)
        routes[i].role = pythia__route_role(at, routes[i].method, routes[i].path);
}

/* Routes are copied to the heap: each daemon has its own context in them. */
struct pythia__http_route *pythia__api_routes(struct pythia__daemon *d, size_t *count)
{
    const struct pythia__http_route routes[] = {
        ROUTE("GET", "/healthz", 0, handle_alive),
        ROUTE("GET", "/readyz", 0, handle_ready),
        ROUTE("GET", "/metrics", 0, handle_metrics),
        ROUTE("GET", "/", 0, pythia__page_handle),
        ROUTE("GET", PYTHIA__PAGE_FOLDER, 0, pythia__page_handle),
        ROUTE("GET", REPORT_PAGE, 0, handle_report),
        ROUTE("GET", "/openapi.json", 0, handle_openapi),
        ROUTE("GET", "/v1/status", 0, handle_status),
        ROUTE("GET", "/v1/events", 0, handle_events),
        ROUTE("GET", "/v1/report", 0, handle_report),
        ROUTE("GET", "/v1/groups", 0, handle_groups),
        ROUTE("GET", "/v1/verdicts", 0, handle_verdicts),
        ROUTE("GET", "/v1/cycles", 0, handle_cycles),
        ROUTE("GET", "/v1/requests", 0, handle_requests),
        ROUTE("GET", "/v1/contexts", 0, handle_contexts),
        ROUTE("GET", "/v1/decisions", 0, handle_decisions),
        ROUTE("GET", "/v1/points", 0, handle_points),
        ROUTE("GET", "/v1/variables", 0, handle_variables),
        ROUTE("POST", "/mcp", PYTHIA_MCP_MESSAGE_MAX, handle_mcp),
        ROUTE("POST", "/v1/open", BODY_MAX, handle_open),
        ROUTE("POST", "/v1/close", BODY_MAX, handle_close),
        ROUTE("POST", "/v1/unpin", BODY_MAX, handle_unpin),
        ROUTE("POST", "/v1/level", BODY_MAX, handle_level),
        ROUTE("POST", "/v1/plan", BODY_MAX, handle_plan),
        ROUTE("POST", "/v1/hash", BODY_MAX, handle_hash),
        ROUTE("POST", "/v1/off", BODY_MAX, handle_off),
        ROUTE("POST", "/v1/on", BODY_MAX, handle_on),
    };
    struct pythia__http_route *out = pythia_calloc(1, sizeof(routes));
    if (!out)
        return NULL;
    memcpy(out, routes, sizeof(routes));
    *count = sizeof(routes) / sizeof(routes[0]);
    set_roles(out, *count, PYTHIA__AT_CONTROL);
    return out;
}

size_t pythia__api_agent_routes(struct pythia__daemon *d, struct pythia__http_route *to)
{
    const struct pythia__http_route routes[PYTHIA__AGENT_ROUTES] = {
        ROUTE("GET", PYTHIA_CONTROL_HTTP_PATH, 0, handle_agent_get),
        ROUTE("POST", PYTHIA_CONTROL_HTTP_PATH, pythia_control_http_body_max(d->switching.agents),
              handle_agent_post),
    };
    memcpy(to, routes, sizeof(routes));
    set_roles(to, PYTHIA__AGENT_ROUTES, PYTHIA__AT_OTLP_HTTP);
    return PYTHIA__AGENT_ROUTES;
}
