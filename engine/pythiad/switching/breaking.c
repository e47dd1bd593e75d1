#include "breaking.h"

#include <inttypes.h>
#include <math.h>

#include "fixed.h"
#include "inventory.h"
#include "pins.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define LOOK_NS UINT64_C(100000000)

static bool is_switchable(void *context, uint32_t tracepoint)
{
    const struct pythia__switching *w = context;
    return pythia__fixed_is_switchable(
        w, pythia_vocabulary_tracepoint_id(w->e->vocabulary, tracepoint));
}

static bool is_entry(void *context, uint32_t tracepoint)
{
    const struct pythia__switching *w = context;
    return pythia_live_in_skeleton(w->e->live, tracepoint);
}

int pythia__breaking_create(struct pythia__switching *w)
{
    const struct pythia_breaker_options o = {.limit_ns = w->e->s.breaker_ns,
                                             .hold_ns = (uint64_t)(w->e->s.breaker_hold_s * 1e9),
                                             .prices = w->prices,
                                             .is_switchable = is_switchable,
                                             .is_entry = is_entry,
                                             .context = w};
    return pythia_breaker_create(w->e->vocabulary, &o, &w->breaker);
}

/* A program as service, host and instance, as far as they are known. */
static void add_broken_program(struct pythia_buf *to, const struct pythia_vocabulary *v,
                               uint32_t resource)
{
    struct pythia_resource r = pythia_vocabulary_resource_at(v, resource);
    const uint32_t names[] = {r.service, r.host, r.instance};
    const char *between = "";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!names[i])
            continue;
        pythia_buf_puts(to, between);
        pythia_buf_text_add(to, pythia_vocabulary_text(v, names[i]));
        between = "/";
    }
}

static void log_event(const struct pythia__switching *w, const struct pythia_breaker_event *e)
{
    static const char *const sentences[] = {
        [PYTHIA_BREAKER_TRIPPED] = "Closed a trace point at once, because it cost a program more "
                                   "than breaker-ns per second",
        [PYTHIA_BREAKER_KEPT] = "A trace point costs a program more than breaker-ns per second, "
                                "but stays open because it is pinned or is an entry point",
        [PYTHIA_BREAKER_RELEASED] = "Allowed a trace point that had cost a program too much to be "
                                    "opened again",
    };
    struct pythia_text id = pythia_vocabulary_tracepoint_id(w->e->vocabulary, e->tracepoint);
    struct pythia_buf program = {0};
    add_broken_program(&program, w->e->vocabulary, e->resource);
    pythia_log(e->what == PYTHIA_BREAKER_RELEASED ? PYTHIA_LOG_INFO : PYTHIA_LOG_WARNING,
               "%s: trace-point=%.*s, program=%s, cost-ns=%.0f, limit-ns=%.0f, price-ns=%.0f",
               sentences[e->what], (int)id.size, id.bytes, program.bytes ? program.bytes : "",
               e->cost_ns, w->e->s.breaker_ns, e->price_ns);
    pythia_buf_free(&program);
}

/* The decision goes into the state, as the decisions of the search do. */
static void record_decision(struct pythia__switching *w, const struct pythia_breaker_event *e)
{
    struct pythia_buf reason = {0};
    bool open = e->what == PYTHIA_BREAKER_RELEASED;
    if (open)
        pythia_buf_puts(&reason, "its closing time is over, or it is pinned open, or its cost is "
                                 "no longer limited");
    else
        pythia_buf_printf(
            &reason, "it cost a program %.3g ms in a second; the limit is %.3g ms (breaker-ns)",
            e->cost_ns / 1e6, w->e->s.breaker_ns / 1e6);
    struct pythia_switch one = {.tracepoint = e->tracepoint,
                                .type = PYTHIA_NONE,
                                .open = open,
                                .problem = SIZE_MAX,
                                .inside = NAN,
                                .price_ns = e->price_ns,
                                .cost_ns = NAN,
                                .bytes_per_second = NAN,
                                .reason = reason.bytes};
    const struct pythia_live_cycle of_none = {
        .decisions = {.switches = &one, .switch_count = 1, .leading = SIZE_MAX}};
    if (pythia_buf_status(&reason) == PYTHIA_OK)
        (void)pythia__switching_keep_cycle(w, pythia__unix_ns(), &of_none);
    pythia_buf_free(&reason);
}

int pythia__breaking_tick(struct pythia__switching *w, uint64_t now)
{
    const struct pythia_breaker_event *events;
    size_t count;
    bool changed = false;
    if (now - w->broken_ns < LOOK_NS)
        return PYTHIA_OK;
    w->broken_ns = now;
    /* Points that tripped before a failure are closed all the same. */
    int status = pythia_breaker_look(w->breaker, now, &events, &count);
    for (size_t i = 0; i < count; i++) {
        log_event(w, &events[i]);
        if (events[i].what == PYTHIA_BREAKER_KEPT)
            continue;
        record_decision(w, &events[i]);
        changed = true;
    }
    int read = changed ? pythia__switching_read_pins(w, &w->e->s) : PYTHIA_OK;
    return status != PYTHIA_OK ? status : read;
}
