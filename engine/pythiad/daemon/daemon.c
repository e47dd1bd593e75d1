#include "daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "feeding.h"
#include "pythia/expectation_file.h"
#include "pythia/history_file.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/own_file.h"
#include "pythia/redaction.h"
#include "pythia/request_type.h"
#include "pythia/secret_file.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "reports.h"
#include "sharing.h"
#include "switching/breaking.h"
#include "switching/budget.h"
#include "switching/chosen.h"
#include "switching/desired.h"
#include "switching/fixed.h"
#include "switching/inventory.h"
#include "switching/load.h"
#include "switching/pins.h"
#include "switching/places.h"
#include "switching/restore.h"
#include "switching/saved_search.h"
#include "switching/switching.h"
#include "verdict_log.h"

#define TICK_MS          20
#define IDLE_TICK_MS     300  /* with the second of the listeners: fewer than 5 wake-ups a second */
#define TICK_SPANS       4096 /* some 4 ms; others wait meanwhile */
#define CYCLE_MIN_NS     UINT64_C(250000000) /* as often as agents ask what shall be open */
#define DRAIN_MS         5000
#define COLLECT_SLACK_MS 1000 /* to complete a file, and to find it */
#define CONTROL_BODY     ((size_t)1024 * 1024)
#define SECRET_MAX       ((size_t)64 * 1024)
#define RUN_FOLDER       "/run/pythiad"

/* ---- a cycle ---- */

static void log_switches(const struct pythia__daemon *d, const struct pythia_loop_cycle *c,
                         const char *what, const struct pythia_loop_switch *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pythia_text id =
            pythia_vocabulary_tracepoint_id(d->engine.vocabulary, list[i].tracepoint);
        struct pythia_text type = PYTHIA_TEXT("");
        if (list[i].type != PYTHIA_NONE)
            type = pythia_vocabulary_text(d->engine.vocabulary, list[i].type);
        if (list[i].unswitchable)
            pythia_log(PYTHIA_LOG_INFO,
                       "Would %s a trace point that cannot be switched: trace-point=%.*s, "
                       "request-type=%.*s, cycle=%" PRIu64 ", reason=%s",
                       what, (int)id.size, id.bytes, (int)type.size, type.bytes, c->number,
                       list[i].reason);
        else
            pythia_log(PYTHIA_LOG_INFO,
                       "%c%ss a trace point: trace-point=%.*s, request-type=%.*s, cycle=%" PRIu64
                       ", reason=%s",
                       what[0] - 'a' + 'A', what + 1, (int)id.size, id.bytes, (int)type.size,
                       type.bytes, c->number, list[i].reason);
    }
}

static void log_cycle(const struct pythia__daemon *d, const struct pythia_loop_cycle *c)
{
    for (size_t i = 0; i < c->found_count; i++) {
        const struct pythia_finding *cause = &c->found[i].cause;
        struct pythia_text type = pythia_vocabulary_text(d->engine.vocabulary, c->found[i].type);
        struct pythia_buf place = {0};
        pythia_place_add(&place, d->engine.vocabulary, &cause->place);
        pythia_log(PYTHIA_LOG_INFO,
                   "Found a cause: request-type=%.*s, place=%s, share=%.3f, cycle=%" PRIu64,
                   (int)type.size, type.bytes, place.bytes ? place.bytes : "", cause->share,
                   c->number);
        pythia_buf_free(&place);
    }
    log_switches(d, c, "open", c->opened, c->opened_count);
    log_switches(d, c, "close", c->closed, c->closed_count);
}

/* A search space that was learnt is written where it is read from at the next start. */
static void keep_space(struct pythia__daemon *d)
{
    struct pythia_buf text = {0}, path = {0};
    struct pythia_live_numbers n = pythia_live_numbers(d->engine.live);
    if (!d->writes_space || n.learnt + n.renewed == d->learnt)
        return;
    d->learnt = n.learnt + n.renewed;
    pythia_buf_printf(&path, "%s.new", d->engine.s.space);
    int status = pythia_space_file_write(pythia_live_space(d->engine.live), &text);
    if (status == PYTHIA_OK && path.bytes)
        unlink(path.bytes); /* of a pythiad that was killed */
    FILE *file = status == PYTHIA_OK && path.bytes ? fopen(path.bytes, "wxe") : NULL;
    bool written = file && fwrite(text.bytes, 1, text.size, file) == text.size;
    if (file)
        written = fflush(file) == 0 && fsync(fileno(file)) == 0 && written;
    if (file)
        written = fclose(file) == 0 && written;
    if (written)
        written = rename(path.bytes, d->engine.s.space) == 0;
    int number = errno;
    if (file && !written)
        unlink(path.bytes);
    if (written)
        pythia_log(PYTHIA_LOG_INFO, "Wrote the search space: file=%s, types=%" PRIu64,
                   d->engine.s.space, n.learnt);
    else
        pythia_log(PYTHIA_LOG_ERROR, "Cannot write the search space: file=%s, reason=%s",
                   d->engine.s.space, strerror(number));
    pythia_buf_free(&text);
    pythia_buf_free(&path);
}

static void mark_unswitchable(const struct pythia__daemon *d, struct pythia_loop_switch *list,
                              size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i].unswitchable = !pythia__fixed_is_switchable(
            &d->switching,
            pythia_vocabulary_tracepoint_id(d->engine.vocabulary, list[i].tracepoint));
}

static int on_cycle(void *context, const struct pythia_live_cycle *c)
{
    struct pythia__daemon *d = context;
    d->cycles++;
    d->cycle = c->decisions.number;
    d->last_cycle_ns = pythia__unix_ns();
    (void)pythia_passes_look(d->switching.passes,
                             pythia_live_space(d->engine.live)); /* else as it was before */
    (void)pythia__switching_keep_cycle(&d->switching, d->last_cycle_ns, c);
    int status = pythia_loop_tell(&d->engine.search_log, c, PYTHIA__SEARCH_LOG_MAX,
                                  d->engine.s.memory_hard / PYTHIA__STORY_PART);
    pythia_live_hold(d->engine.live, pythia_loop_bytes(&d->engine.search_log));
    pythia__chosen_name(&d->switching, &d->engine.search_log.verdicts);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_loop_cycle *last =
        &d->engine.search_log.cycles[d->engine.search_log.cycle_count - 1];
    mark_unswitchable(d, last->opened, last->opened_count);
    mark_unswitchable(d, last->closed, last->closed_count);
    if (!pythia__kafka_is_behind(d->kafka)) /* else it was logged when it was new */
        log_cycle(d, last);
    /* A restart is no reason to test as if nobody had looked before. */
    pythia__reports_hand(d, pythia_live_take_groups(d->engine.live),
                         d->switching.saved.restored_cycle + d->cycles);
    pythia__saved_search_cycle(&d->switching, c);
    if (!pythia__kafka_is_behind(d->kafka))
        pythia__verdict_log_cycle(d);
    return c->decisions.switch_count > 0 ? pythia__switching_keep_history(&d->switching)
                                         : PYTHIA_OK;
}

static int count_request_hits(void *context, uint32_t type, const struct pythia_trace *trace)
{
    struct pythia__daemon *d = context;
    pythia__kafka_note_finished(d->kafka, trace->id);
    int status = pythia_overhead_add(d->switching.overhead, type, trace);
    if (status != PYTHIA_OK || (status = pythia__fixed_see(&d->switching, trace)) != PYTHIA_OK)
        return status;
    return pythia_passes_add(d->switching.passes, type, trace,
                             d->switching.in_force.now &&
                                 trace->begun_ns >= d->switching.in_force.since_unix_ns);
}

static int on_arrival(void *context, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    struct pythia__daemon *d = context;
    pythia__span_log_add(d->span_log, trace, span);
    return pythia_breaker_add(d->switching.breaker, span);
}

static void note_closed(uv_handle_t *handle)
{
    (void)handle;
}

/* A loss of what a span says, and not of a span. */
/* Log the input, and what became of it. */
static void tell_counts(const struct pythia__daemon *d)
{
    struct pythia__intake_numbers in = pythia__intake_numbers(d->intake);
    struct pythia_counts all = *pythia__intake_counts(d->intake);
    pythia_counts_add(&all, pythia__feeds_counts(d->feeds));
    pythia_counts_add(&all, pythia_live_counts(d->engine.live));
    pythia_log(PYTHIA_LOG_INFO,
               "Received: bodies=%" PRIu64 ", refused-bodies=%" PRIu64 ", spans=%" PRIu64
               ", kept=%" PRIu64 ", hidden=%" PRIu64 ", dropped=%" PRIu64
               ", dropped-values=%" PRIu64 ", requests=%" PRIu64 ", cycles=%" PRIu64,
               in.bodies, d->room.refused_bodies, in.spans + pythia__feeds_numbers(d->feeds).spans,
               all.kept, all.hidden, pythia_counts_dropped_spans(&all),
               pythia_counts_dropped_values(&all), pythia_live_window(d->engine.live).finished,
               d->cycles);
}

/* Nothing waits any more: end the cycle and let go of the loop. */
static void end_draining(struct pythia__daemon *d)
{
    if (d->draining && !uv_is_closing((uv_handle_t *)&d->tick)) {
        pythia__collecting_stop(d->collecting);
        pythia__saved_search_stop(&d->switching);
        (void)pythia_live_drain(d->engine.live);
        tell_counts(d);
        uv_close((uv_handle_t *)&d->tick, note_closed);
        pythia__feeds_close(d->feeds);
        uv_close((uv_handle_t *)&d->turn, note_closed);
        pythia__grpc_destroy(d->grpc);
        d->grpc = NULL;
        for (size_t i = 0; i < PYTHIA__HTTP_SERVERS; i++) {
            pythia__http_destroy(d->http[i]);
            d->http[i] = NULL;
        }
    }
}

/* Is there nothing that has to end, or to come into force, within milliseconds? */
static bool is_idle(const struct pythia__daemon *d)
{
    return !d->draining && (d->switching.wish == 0 || d->switching.in_force.now) &&
           !pythia__switching_is_due(&d->switching) &&
           pythia_live_window(d->engine.live).open_traces == 0 &&
           pythia__intake_waiting(d->intake) == 0 &&
           !pythia__reporting_is_busy(d->engine.reporting);
}

static void on_tick(uv_timer_t *timer);

/* Tick as often as there is something to do. */
static void set_pace(struct pythia__daemon *d)
{
    uint64_t wanted = is_idle(d) ? IDLE_TICK_MS : TICK_MS;
    if (uv_timer_get_repeat(&d->tick) != wanted)
        uv_timer_start(&d->tick, on_tick, wanted, wanted);
}

/* Spans, by whatever way they came. */
static uint64_t count_arrived(const struct pythia__daemon *d)
{
    return pythia__intake_numbers(d->intake).spans + pythia__feeds_numbers(d->feeds).spans;
}

/* The order matters: the breaker, the budget and the load close points before the desired set
 * goes out, or points would be opened that are closed again at once. */
static void on_tick(uv_timer_t *timer)
{
    struct pythia__daemon *d = timer->data;
    uint64_t now = pythia__engine_now(&d->engine);
    pythia_live_set_clock(d->engine.live, pythia__unix_ns(), now);
    d->switching.held = pythia__kafka_is_behind(d->kafka);
    int status = pythia_live_tick(d->engine.live, now);
    if (status != PYTHIA_OK || (status = pythia__breaking_tick(&d->switching, now)) != PYTHIA_OK ||
        (status = pythia__budget_tick(&d->switching, now)) != PYTHIA_OK ||
        (status = pythia__load_tick(&d->switching, now, count_arrived(d))) != PYTHIA_OK ||
        (status = pythia__switching_tick(&d->switching, now)) != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "A cycle could not be evaluated: reason=%s",
                   pythia_status_text(status));
    keep_space(d);
    pythia__saved_search_tick(&d->switching, now);
    pythia__span_log_flush(d->span_log);
    pythia__heap_tick(&d->heap, now);
    /* One more round after the last body: its answer has to be sent. */
    bool quiet = pythia__intake_waiting(d->intake) == 0 && !pythia__feeding_is_running(d) &&
                 !pythia__reporting_is_busy(d->engine.reporting);
    d->quiet_ticks = quiet ? d->quiet_ticks + d->draining : 0;
    if (d->quiet_ticks > 1)
        end_draining(d);
    else
        set_pace(d);
}

/* Apply the desired set at once; the next tick retries whatever fails here. */
static void act_after_turn(uv_check_t *turn)
{
    struct pythia__daemon *d = turn->data;
    if (pythia__switching_is_due(&d->switching))
        (void)pythia__switching_tick(
            &d->switching, pythia__engine_now(&d->engine)); /* what fails is tried by the tick */
    pythia__events_turn(d->events, pythia__engine_now(&d->engine));
    if (uv_timer_get_repeat(&d->tick) == IDLE_TICK_MS)
        set_pace(d);
}

void pythia__daemon_drain(struct pythia__daemon *d)
{
    if (d->draining)
        return;
    d->draining = true;
    set_pace(d);
    pythia_log(PYTHIA_LOG_INFO, "Stopping after the input that has already arrived");
    pythia__intake_stop(d->intake);
    pythia__reporting_stop(d->engine.reporting);
    pythia__events_stop(d->events);
    if (d->grpc)
        pythia__grpc_quiesce(d->grpc);
    for (size_t i = 0; i < PYTHIA__HTTP_SERVERS; i++)
        if (d->http[i])
            pythia__http_quiesce(d->http[i]);
    pythia__feeding_stop(d);
}

/* ---- starting ---- */

/* The restrictions on a file named in the settings. */
enum { KIND_PUBLIC, KIND_KEY, KIND_TOKEN };

/* A file as a text, a token without the line break at its end; NULL stays NULL. */
static int read_secret(const char *path, int kind, char **out, struct pythia_error *e)
{
    if (!path)
        return PYTHIA_OK;
    struct pythia_buf bytes = {0};
    bool trimmed = kind == KIND_TOKEN;
    int status = kind == KIND_PUBLIC ? PYTHIA_OK : pythia_own_secret_check(path, "secret", e);
    if (status != PYTHIA_OK || (status = pythia_file_read(path, &bytes, e)) != PYTHIA_OK)
        goto out;
    if (bytes.size == 0 || bytes.size > SECRET_MAX) {
        status = pythia_error_set(
            e, PYTHIA_EUSAGE, "%s is empty or too large: a file with one token or key is expected",
            path);
        goto out;
    }
    while (trimmed && bytes.size > 0 && strchr(" \t\r\n", bytes.bytes[bytes.size - 1]))
        bytes.size--;
    *out = pythia_strndup(bytes.bytes, bytes.size);
    status = *out ? PYTHIA_OK : PYTHIA_ENOMEM;
out:
    pythia_buf_free(&bytes);
    return status;
}

static int read_secrets(struct pythia__daemon *d, struct pythia_error *e)
{
    const struct pythia__settings *s = &d->engine.s;
    const char *const tokens[PYTHIA__ROLES] = {[PYTHIA__ROLE_READ] = s->read_token,
                                               [PYTHIA__ROLE_INGEST] = s->ingest_token,
                                               [PYTHIA__ROLE_AGENT] = s->agent_token,
                                               [PYTHIA__ROLE_CONTROL] = s->control_token};
    int status;
    if ((status = read_secret(s->tls_key, KIND_KEY, &d->tls_key, e)) != PYTHIA_OK ||
        (status = read_secret(s->tls_certificate, KIND_PUBLIC, &d->tls_certificate, e)) !=
            PYTHIA_OK ||
        (status = read_secret(s->tls_trust, KIND_PUBLIC, &d->tls_trust, e)) != PYTHIA_OK ||
        (status = read_secret(s->notify_secret, KIND_TOKEN, &d->notify_secret, e)) != PYTHIA_OK)
        return status;
    for (int i = 0; i < PYTHIA__ROLES; i++)
        if ((status = read_secret(tokens[i], KIND_TOKEN, &d->tokens[i], e)) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

/* Requests wait until what collectors measured at their begin has been read. */
static uint64_t quiet_ns(const struct pythia__settings *s)
{
    uint64_t quiet = (uint64_t)s->quiet_ms, collected = (uint64_t)s->collect_ms + COLLECT_SLACK_MS;
    return (s->collect && collected > quiet ? collected : quiet) * 1000000;
}

static int begin_collecting(struct pythia__daemon *d, struct pythia_error *e)
{
    const struct pythia__settings *s = &d->engine.s;
    const struct pythia__collecting_options o = {.directory = s->collect,
                                                 .age_ns = (uint64_t)(s->series_age_s * 1e9),
                                                 .keep_ns = (uint64_t)(s->series_age_s * 1e9) +
                                                            (uint64_t)s->request_max_ms * 1000000 +
                                                            2 * quiet_ns(s),
                                                 .record = s->record};
    return pythia__collecting_create(d->engine.loop, d->engine.vocabulary, &o, &d->collecting, e);
}

/* Root trace points to ignore in request types: those of the settings, or the default. An empty
 * pattern ignores none, so that the default can be turned off. */
static size_t list_left_out(struct pythia__daemon *d)
{
    const struct pythia__settings *s = &d->engine.s;
    size_t count = 0;
    for (size_t i = 0; i < s->left_out.count; i++)
        if (s->left_out.texts[i][0])
            d->left_out[count++] = s->left_out.texts[i];
    if (s->left_out.count == 0)
        d->left_out[count++] = PYTHIA_LEFT_OUT_DEFAULT;
    return count;
}

static struct pythia_live_options choose_live_options(struct pythia__daemon *d)
{
    const struct pythia__settings *s = &d->engine.s;
    size_t count, left_out = list_left_out(d);
    const struct pythia_strategy *const *strategies = pythia_strategies(&count);
    return (struct pythia_live_options){
        .adder = {pythia__collecting_trace, d->collecting},
        .window = {.quiet_ns = quiet_ns(s),
                   .wait_max_ns = (uint64_t)s->wait_max_ms * 1000000,
                   .rootless_ns = (uint64_t)s->rootless_ms * 1000000,
                   .age_max_ns = (uint64_t)s->request_max_ms * 1000000,
                   .spans_max = (uint64_t)s->request_spans_max,
                   .attributes_max = (size_t)s->attributes_max,
                   .tick_spans = TICK_SPANS,
                   .soft_bytes = s->memory,
                   .hard_bytes = s->memory_hard},
        .groups = {.latency = s->latency ? PYTHIA_LATENCY_CLIENT : PYTHIA_LATENCY_COMPLETION,
                   .fold = !s->no_fold,
                   .types = {.attribute = s->type_attribute,
                             .left_out = d->left_out,
                             .left_out_count = left_out}},
        .search = {.budget = {.points_per_cycle = (size_t)s->points,
                              .points_open = (size_t)s->points_open,
                              .added_ns = s->added_ns},
                   .strategy = strategies[s->strategy],
                   .price_ns = s->price_ns,
                   .prices = d->switching.prices,
                   .layers = d->switching.layers,
                   .history = d->switching.history,
                   .always = d->switching.always,
                   .never = d->switching.never,
                   .expectations = s->expect ? &d->expectations : NULL,
                   .alpha = s->alpha,
                   .min_requests = (size_t)s->min_requests,
                   .min_cov = s->min_cov,
                   .patience = (size_t)s->patience,
                   .problems_per_cycle = (size_t)s->problems_per_cycle,
                   .seed = (uint64_t)s->seed},
        .cycle_requests = (size_t)s->cycle_requests,
        .cycle_ns = (uint64_t)(s->cycle_seconds * 1e9),
        .cycle_min_ns = CYCLE_MIN_NS,
        .learn_requests = (size_t)s->learn_requests,
        .learn_hourly = s->learn == 0 ? (size_t)s->learn_hourly : 0,
        .learn_all = s->learn == 0,
        .instances = {pythia__chosen_count, pythia__chosen_prefer, pythia__chosen_is,
                      &d->switching}};
}

static int create_live(struct pythia__daemon *d, const struct pythia_live_options *o)
{
    return pythia_live_create(d->engine.vocabulary, d->engine.space, o,
                              (struct pythia_live_taker){on_cycle, d}, &d->engine.live);
}

/* Without a search to go on with, the set that was open before a restart stays open until a new
 * search has begun: it counts as pinned only while the engine is created. */
static int begin_search(struct pythia__daemon *d, struct pythia_live_options *o)
{
    struct pythia_open_points *open = NULL;
    /* A shared search stands where its group does, not where the state does. */
    int status = o->shared.group ? PYTHIA_OK : pythia__restore_search(&d->switching, &open);
    if (status != PYTHIA_OK)
        return status;
    if (open)
        o->search.always = open;
    status = create_live(d, o);
    if (status == PYTHIA_OK && open) /* from now on it is for the search to close the others */
        status = pythia_live_set_pins(d->engine.live, d->switching.always, d->switching.never,
                                      d->switching.fixed);
    pythia_open_points_destroy(open);
    return status;
}

/* Go on with the search of the state; *goes_on is false if there is none that can. */
static int resume_search(struct pythia__daemon *d, const struct pythia_live_options *o,
                         bool *goes_on)
{
    *goes_on = false;
    d->switching.saved.is_kept = d->engine.s.state && !o->shared.group;
    if (!d->switching.saved.is_kept || !pythia__saved_search_exists(&d->switching))
        return PYTHIA_OK;
    int status = create_live(d, o);
    if (status != PYTHIA_OK)
        return status;
    *goes_on = pythia__saved_search_restore(&d->switching);
    if (*goes_on) {
        d->cycle = d->switching.saved.cycle;
    } else {
        pythia_live_destroy(d->engine.live);
        d->engine.live = NULL;
    }
    return PYTHIA_OK;
}

/* The search space of the file, if there is one. */
static int read_space(struct pythia__daemon *d, struct pythia_error *e)
{
    const char *path = d->engine.s.space;
    pythia_space_destroy(d->engine.space);
    d->engine.space = NULL;
    if (!path || d->writes_space)
        return PYTHIA_OK;
    int status = pythia_space_create(d->engine.vocabulary, &d->engine.space);
    return status == PYTHIA_OK ? pythia_space_file_read(path, d->engine.space, e) : status;
}

static int make_live(struct pythia__daemon *d, struct pythia_error *e)
{
    const struct pythia__settings *s = &d->engine.s;
    struct pythia_live_options o = choose_live_options(d);
    bool goes_on;
    int status = pythia__sharing_read(d, d->sharing, e);
    if (status != PYTHIA_OK)
        return status;
    o.shared = (struct pythia_live_shared_options){.group = d->sharing->group,
                                                   .settings = d->sharing->settings.bytes,
                                                   .always = d->sharing->always,
                                                   .never = d->sharing->never};
    if (s->expect &&
        (status = pythia_expectation_file_read(s->expect, &d->expectations, e)) != PYTHIA_OK)
        return status;
    d->writes_space = s->space && access(s->space, F_OK) != 0;
    if ((status = read_space(d, e)) != PYTHIA_OK ||
        (status = resume_search(d, &o, &goes_on)) != PYTHIA_OK)
        return status;
    /* A search that was refused may have added its types to the space. */
    if (!goes_on &&
        ((status = read_space(d, e)) != PYTHIA_OK || (status = begin_search(d, &o)) != PYTHIA_OK))
        return status;
    pythia_live_watch(d->engine.live, count_request_hits, d);
    pythia_live_watch_spans(d->engine.live, on_arrival, d);
    return PYTHIA_OK;
}

/* An address that cannot be had is the usual reason why a start fails: name the setting for it. */
static int fail_listener(struct pythia_error *e, int status, const char *option,
                         const struct pythia_error *why)
{
    static const char cause[] = "cannot listen at ";
    return strncmp(why->sentence, cause, sizeof(cause) - 1) == 0
               ? pythia_error_set(e, status, "%s (choose another address with --%s)", why->sentence,
                                  option)
               : pythia_error_set(e, status, "%s", why->sentence);
}

static int listen_http(struct pythia__daemon *d, size_t slot, const char *address,
                       const struct pythia__http_route *routes, size_t count,
                       struct pythia_error *e)
{
    if (pythia__address_is_off(address))
        return PYTHIA_OK;
    bool tcp = strncmp(address, "unix:", 5) != 0;
    struct pythia__http_options o = {.address = address,
                                     .routes = routes,
                                     .route_count = count,
                                     .tls_key = tcp ? d->tls_key : NULL,
                                     .tls_certificate = tcp ? d->tls_certificate : NULL,
                                     .tls_trust = tcp ? d->tls_trust : NULL,
                                     .connections_max = (unsigned)d->engine.s.connections,
                                     .room = &d->room,
                                     .retry_s = (unsigned)d->engine.s.retry_s};
    memcpy(o.tokens, d->tokens, sizeof(o.tokens));
    static const char *const options[PYTHIA__HTTP_SERVERS] = {"otlp-http", "zipkin", "control",
                                                              "control-socket"};
    struct pythia_error why = {0};
    int status = pythia__http_create(d->engine.loop, &o, &d->http[slot], &why);
    return status == PYTHIA_OK ? PYTHIA_OK : fail_listener(e, status, options[slot], &why);
}

/* Agents poll at the port of OTLP over HTTP, so that one address has to be configured in
 * programs. */
static int listen_all(struct pythia__daemon *d, struct pythia_error *e)
{
    size_t count;
    const struct pythia__http_route *routes =
        pythia__receive_otlp_routes(d->receive, d->engine.s.body_max, &count);
    memcpy(d->ingest_routes, routes, count * sizeof(*routes));
    count += pythia__api_agent_routes(d, d->ingest_routes + count);
    int status = listen_http(d, 0, d->engine.s.otlp_http, d->ingest_routes, count, e);
    if (status != PYTHIA_OK)
        return status;
    routes = pythia__receive_zipkin_routes(d->receive, d->engine.s.body_max, &count);
    if ((status = listen_http(d, 1, d->engine.s.zipkin, routes, count, e)) != PYTHIA_OK)
        return status;
    status = listen_http(d, 2, d->engine.s.control, d->control_routes, d->control_route_count, e);
    if (status != PYTHIA_OK)
        return status;
    status =
        listen_http(d, 3, d->engine.s.control_socket, d->control_routes, d->control_route_count, e);
    if (status != PYTHIA_OK)
        return status;
    if (!pythia__address_is_off(d->engine.s.otlp_grpc)) {
        struct pythia__grpc_options o = {.address = d->engine.s.otlp_grpc,
                                         .token = d->tokens[PYTHIA__ROLE_INGEST],
                                         .tls_key = d->tls_key,
                                         .tls_certificate = d->tls_certificate,
                                         .tls_trust = d->tls_trust,
                                         .message_max = d->engine.s.body_max,
                                         .connections_max = (unsigned)d->engine.s.connections,
                                         .streams_max = (unsigned)d->engine.s.streams,
                                         .room = &d->room,
                                         .retry_s = (unsigned)d->engine.s.retry_s};
        o.methods = pythia__receive_grpc_methods(d->receive, &o.method_count);
        struct pythia_error why = {0};
        if ((status = pythia__grpc_create(d->engine.loop, &o, &d->grpc, &why)) != PYTHIA_OK)
            return fail_listener(e, status, "otlp-grpc", &why);
    }
    return PYTHIA_OK;
}

void pythia__daemon_address(const struct pythia__daemon *d, enum pythia__listener at,
                            struct pythia_buf *to)
{
    const struct pythia__settings *s = &d->engine.s;
    const char *const addresses[PYTHIA__LISTENERS] = {[PYTHIA__AT_OTLP_GRPC] = s->otlp_grpc,
                                                      [PYTHIA__AT_OTLP_HTTP] = s->otlp_http,
                                                      [PYTHIA__AT_ZIPKIN] = s->zipkin,
                                                      [PYTHIA__AT_CONTROL] = s->control};
    const struct pythia__http_server *const servers[PYTHIA__LISTENERS] = {
        [PYTHIA__AT_OTLP_HTTP] = d->http[0],
        [PYTHIA__AT_ZIPKIN] = d->http[1],
        [PYTHIA__AT_CONTROL] = d->http[2]};
    const char *address = addresses[at], *colon = address ? strrchr(address, ':') : NULL;
    unsigned port = servers[at]                             ? pythia__http_port(servers[at])
                    : at == PYTHIA__AT_OTLP_GRPC && d->grpc ? pythia__grpc_port(d->grpc)
                                                            : 0;
    if (pythia__address_is_off(address))
        return;
    if (port > 0 && colon)
        pythia_buf_printf(to, "%.*s:%u", (int)(colon - address), address, port);
    else
        pythia_buf_puts(to, address);
}

void pythia__daemon_tell_addresses(const struct pythia__daemon *d)
{
    struct pythia_buf text = {0};
    for (int at = 0; at < PYTHIA__LISTENERS; at++) {
        pythia_buf_printf(&text, "%s%s=", at > 0 ? ", " : "",
                          pythia__listener_name((enum pythia__listener)at));
        size_t before = text.size;
        pythia__daemon_address(d, (enum pythia__listener)at, &text);
        if (text.size == before)
            pythia_buf_puts(&text, "off");
    }
    if (d->http[3])
        pythia_buf_printf(&text, ", control-socket=%s", d->engine.s.control_socket);
    pythia_log(PYTHIA_LOG_INFO, "Listens: %s", text.bytes ? text.bytes : "");
    const char *address;
    if (pythia__control_is_open(&d->engine.s, &address))
        pythia_log(PYTHIA_LOG_WARNING,
                   "Anyone who can reach the control interface can use it: address=%s", address);
    pythia_buf_free(&text);
}

static int make_reporting(struct pythia__daemon *d)
{
    const struct pythia_diagnosis_options how = {.alpha = d->engine.s.alpha,
                                                 .min_requests = (size_t)d->engine.s.min_requests,
                                                 .min_cov = d->engine.s.min_cov,
                                                 .seed = (uint64_t)d->engine.s.seed,
                                                 .values_max = (size_t)d->engine.s.report_values};
    return pythia__reporting_create(d->engine.loop, d->engine.vocabulary, &how,
                                    (size_t)d->engine.s.report_types, &d->engine.search_log,
                                    d->engine.s.expect ? &d->expectations : NULL,
                                    d->engine.s.trace_url, &d->engine.reporting);
}

/* The rules of the settings, followed by the default rules. */
static int create_daemon_redaction(struct pythia__daemon *d, struct pythia_error *e)
{
    const char *rules[PYTHIA_OPTION_TEXTS_MAX + 1];
    struct pythia_hash_key secret = {{0}};
    struct pythia_buf path = {0};
    size_t count = d->engine.s.redact.count;
    for (size_t i = 0; i < count; i++)
        rules[i] = d->engine.s.redact.texts[i];
    rules[count++] = "default";
    if (d->engine.s.redact_secret)
        pythia_buf_puts(&path, d->engine.s.redact_secret);
    else if (d->engine.s.state)
        pythia_buf_printf(&path, "%s.secret", d->engine.s.state);
    int status = pythia_buf_status(&path);
    if (status != PYTHIA_OK)
        goto out;
    d->hashes = pythia_redaction_hashes(rules, count);
    if (d->hashes && (status = pythia_secret_read(path.bytes, &secret, e)) != PYTHIA_OK)
        goto out;
    status = pythia_redaction_create(d->engine.vocabulary, rules, count, &secret, &d->redaction, e);
out:
    pythia_buf_free(&path);
    return status;
}

/* The state is opened before anything is written, because it may be refused: another pythiad has
 * it, or a later one wrote it. */
static int open_state(struct pythia__daemon *d, struct pythia_error *e)
{
    struct pythia__engine *engine = &d->engine;
    int status;
    if ((status = read_secrets(d, e)) != PYTHIA_OK ||
        (status = pythia_vocabulary_create(&engine->vocabulary)) != PYTHIA_OK ||
        (status = pythia_state_open(engine->s.state, &engine->state, e)) != PYTHIA_OK ||
        (status = create_daemon_redaction(d, e)) != PYTHIA_OK)
        return status;
    pythia_state_set_start(engine->state, engine->started_ns);
    status = pythia_state_get_history(engine->state, &d->switching.history, e);
    if (status != PYTHIA_OK)
        return status;
    return pythia__restore_version(&d->switching);
}

/* Pins come before the planes, so that nothing is ever opened against them. What was off or open
 * before this start is restored before anybody can ask: an agent that gets an empty list would
 * close everything. */
static int make_switching(struct pythia__daemon *d, struct pythia_error *e)
{
    struct pythia__switching *w = &d->switching;
    int status;
    if ((status = pythia_prices_create(d->engine.vocabulary, &w->prices)) != PYTHIA_OK ||
        (status = pythia_layers_create(d->engine.vocabulary, &w->layers)) != PYTHIA_OK ||
        (status = pythia_passes_create(d->engine.vocabulary, &w->passes)) != PYTHIA_OK ||
        (status = pythia__budget_create(w)) != PYTHIA_OK ||
        (status = pythia__breaking_create(w)) != PYTHIA_OK ||
        (status = pythia__switching_read_pins(w, &d->engine.s)) != PYTHIA_OK ||
        (status = pythia__switching_create(w, e)) != PYTHIA_OK ||
        (status = make_reporting(d)) != PYTHIA_OK ||
        (status = begin_collecting(d, e)) != PYTHIA_OK || (status = make_live(d, e)) != PYTHIA_OK ||
        (status = pythia__restore_off(w)) != PYTHIA_OK)
        return status;
    pythia__places_tell(&d->engine.s);
    return pythia__restore_switches(w);
}

static bool sends_on(const struct pythia__settings *s)
{
    return s->forward || s->forward_zipkin;
}

static int start_forwarding(struct pythia__daemon *d, struct pythia_error *e)
{
    const struct pythia__settings *s = &d->engine.s;
    const char *const files[PYTHIA__FORWARDS] = {s->forward_headers, s->forward_zipkin_headers};
    struct pythia__forward_options options = {
        .urls = {[PYTHIA__FORWARD_OTLP] = s->forward, [PYTHIA__FORWARD_ZIPKIN] = s->forward_zipkin},
        .bytes_max = s->forward_max};
    for (int to = 0; to < PYTHIA__FORWARDS; to++) {
        int status =
            files[to] ? pythia_headers_read(files[to], &d->forward_headers[to], e) : PYTHIA_OK;
        if (status != PYTHIA_OK)
            return status;
        options.headers[to] = d->forward_headers[to].lines;
    }
    return pythia__forward_create(&options, &d->forward, e);
}

/* The state comes first, because switching restores from it; listeners come late, so that
 * nothing arrives before there is a place for it. */
static int start_parts(struct pythia__daemon *d, struct pythia_error *e)
{
    const struct pythia__settings *s = &d->engine.s;
    struct stat about;
    int status;
    if (!s->control_socket && stat(RUN_FOLDER, &about) == 0 && S_ISDIR(about.st_mode))
        d->engine.s.control_socket = "unix:" RUN_FOLDER "/control.sock";
    d->room.max = d->decoding.max = s->waiting_max;
    if ((status = open_state(d, e)) != PYTHIA_OK || (status = make_switching(d, e)) != PYTHIA_OK)
        return status;
    const struct pythia__intake_options taking = {.room = sends_on(s) ? &d->decoding : &d->room,
                                                  .inflated_max = s->inflated_max,
                                                  .limits = pythia__settings_span_limits(s),
                                                  .record = s->record,
                                                  .redaction = d->redaction};
    status = pythia__notify_create(&s->notify, d->notify_secret, s->notify_pause_s, &d->notify, e);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__intake_create(d->engine.loop, d->engine.vocabulary, d->engine.live, &taking,
                                   &d->intake, e);
    if (status == PYTHIA_OK && s->span_log)
        status = pythia__span_log_open(s->span_log, s->span_log_max, d->engine.vocabulary,
                                       &d->span_log, e);
    if (status == PYTHIA_OK && sends_on(s))
        status = start_forwarding(d, e);
    if (status != PYTHIA_OK ||
        (status = pythia__receive_create(d->intake, d->forward, (unsigned)s->retry_s,
                                         &d->receive)) != PYTHIA_OK)
        return status;
    if ((status = pythia__events_create(pythia__api_status_line, d, &d->events)) != PYTHIA_OK)
        return status;
    d->control_routes = pythia__api_routes(d, &d->control_route_count);
    status = d->control_routes ? listen_all(d, e) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        return status;
    return pythia__feeding_start(d, e);
}

/* After a failure the loop has to run until all handles are closed: libuv frees them only in
 * their callbacks. */
int pythia__daemon_create(uv_loop_t *loop, const struct pythia__settings *settings,
                          struct pythia_config *config, struct pythia__daemon **out,
                          struct pythia_error *e)
{
    struct pythia__daemon *d = pythia_calloc(1, sizeof(*d));
    if (!d) {
        pythia_config_destroy(config);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    }
    d->sharing = pythia_calloc(1, sizeof(*d->sharing));
    if (!d->sharing) {
        pythia_config_destroy(config);
        pythia_free(d);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    }
    d->engine.loop = loop;
    d->switching.e = &d->engine;
    d->switching.share_pin = pythia__sharing_pin;
    d->switching.share_context = d;
    d->engine.s = *settings;
    d->config = config;
    d->engine.started_ns = pythia__unix_ns();
    d->engine.search_log =
        (struct pythia_loop){.budget = {.points_per_cycle = (size_t)settings->points,
                                        .points_open = (size_t)settings->points_open,
                                        .added_ns = settings->added_ns},
                             .min_requests = (size_t)settings->min_requests,
                             .price_ns = settings->price_ns};
    uv_timer_init(loop, &d->tick);
    uv_check_init(loop, &d->turn);
    d->tick.data = d->turn.data = d;
    int status = start_parts(d, e);
    if (status != PYTHIA_OK) {
        pythia_error_set(e, status, "cannot start: %s", pythia_status_text(status));
        d->draining = true;
        uv_close((uv_handle_t *)&d->tick, note_closed);
        uv_close((uv_handle_t *)&d->turn, note_closed);
        pythia__grpc_destroy(d->grpc);
        for (size_t i = 0; i < PYTHIA__HTTP_SERVERS; i++)
            pythia__http_destroy(d->http[i]);
        pythia__feeding_stop(d);
        pythia__collecting_stop(d->collecting);
        while (d->feeds && pythia__feeding_is_running(d))
            uv_run(loop, UV_RUN_ONCE);
        if (d->feeds)
            pythia__feeds_close(d->feeds);
        uv_run(loop, UV_RUN_DEFAULT);
        pythia__daemon_destroy(d);
        return status;
    }
    uv_timer_start(&d->tick, on_tick, TICK_MS, TICK_MS);
    uv_check_start(&d->turn, act_after_turn);
    *out = d;
    return PYTHIA_OK;
}

/* Receivers are destroyed before the engine that they feed, and the vocabulary after everything
 * that uses its names. */
void pythia__daemon_destroy(struct pythia__daemon *d)
{
    if (!d)
        return;
    pythia__notify_destroy(d->notify);
    pythia__events_destroy(d->events);
    pythia__receive_destroy(d->receive);
    pythia__forward_destroy(d->forward);
    for (int to = 0; to < PYTHIA__FORWARDS; to++)
        pythia_headers_free(&d->forward_headers[to]);
    pythia__intake_destroy(d->intake);
    pythia__kafka_destroy(d->kafka);
    pythia__feeds_destroy(d->feeds);
    pythia_live_destroy(d->engine.live);
    pythia__sharing_free(d->sharing);
    pythia__span_log_close(d->span_log);
    pythia__collecting_destroy(d->collecting);
    pythia_redaction_destroy(d->redaction);
    pythia__switching_free(&d->switching);
    pythia_state_close(d->engine.state);
    pythia__reporting_destroy(d->engine.reporting);
    pythia_expectations_free(&d->expectations);
    pythia_space_destroy(d->engine.space);
    pythia_vocabulary_destroy(d->engine.vocabulary);
    pythia_loop_free(&d->engine.search_log);
    void *const owned[] = {d->control_routes,  d->sharing,   d->tls_key,
                           d->tls_certificate, d->tls_trust, d->notify_secret};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    for (int i = 0; i < PYTHIA__ROLES; i++)
        pythia_free(d->tokens[i]);
    pythia_config_destroy(d->config);
    pythia_config_destroy(d->pins_config);
    pythia_free(d);
}
