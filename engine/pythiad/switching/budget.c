#include "budget.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "inventory.h"
#include "pins.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/metric_text.h"

#define LOOK_NS UINT64_C(250000000)
#define ROWS    1000 /* of dropped points in the report and the metrics; the count is of all */

int pythia__budget_create(struct pythia__switching *w)
{
    const struct pythia_overhead_options o = {
        .limit = w->e->s.max_overhead_pct / 100, .usual_ns = w->e->s.price_ns, .prices = w->prices};
    return pythia_overhead_create(w->e->vocabulary, &o, &w->overhead);
}

static void log_switch(const struct pythia__switching *w, const struct pythia_switch *s)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(w->e->vocabulary, s->tracepoint);
    pythia_log(PYTHIA_LOG_INFO, "%s: trace-point=%.*s, reason=%s",
               s->open ? "Allowed a trace point to be opened again"
                       : "Closed a trace point for "
                         "its cost",
               (int)id.size, id.bytes, s->reason);
}

/* Points that were dropped before a failure are closed all the same, and are in the log and the
 * state like other decisions. */
int pythia__budget_tick(struct pythia__switching *w, uint64_t now)
{
    const struct pythia_switch *switches;
    size_t count;
    if (now - w->budget_ns < LOOK_NS)
        return PYTHIA_OK;
    w->budget_ns = now;
    bool was_beyond = pythia_overhead_numbers(w->overhead).beyond;
    int status = pythia_overhead_look(w->overhead, now, &switches, &count);
    if (!was_beyond && pythia_overhead_numbers(w->overhead).beyond)
        pythia_log(
            PYTHIA_LOG_WARNING,
            "Tracing exceeds its limit, but every open trace point is an entry point or pinned: "
            "limit-pct=%g",
            w->e->s.max_overhead_pct);
    if (count > 0) {
        const struct pythia_live_cycle of_none = {
            .decisions = {.switches = switches, .switch_count = count, .leading = SIZE_MAX}};
        for (size_t i = 0; i < count; i++)
            log_switch(w, &switches[i]);
        (void)pythia__switching_keep_cycle(w, pythia__unix_ns(), &of_none);
        int read = pythia__switching_read_pins(w, &w->e->s);
        status = status != PYTHIA_OK ? status : read;
        pythia__budget_report(w);
    }
    return status;
}

/* ---- what is told ---- */

static int list_dropped(void *context, const struct pythia_overhead_dropped *p)
{
    struct pythia_report_overhead *o = context;
    o->dropped[o->listed].tracepoint = p->tracepoint;
    o->dropped[o->listed].share = p->share;
    o->dropped[o->listed].explained = p->explained;
    o->dropped[o->listed].reason = p->reason;
    return ++o->listed < PYTHIA_REPORT_DROPPED ? 0 : 1;
}

void pythia__budget_report(struct pythia__switching *w)
{
    struct pythia_overhead_numbers n = pythia_overhead_numbers(w->overhead);
    struct pythia_report_overhead *o = NULL;
    if (n.limit != 0) { /* else a report of the same requests is the same, however they came */
        o = pythia_calloc(1, sizeof(*o));
        if (!o)
            return;
        o->share = n.share;
        o->limit = n.limit;
        o->cost_ns = n.cost_ns;
        o->requests = n.requests;
        o->beyond_limit = n.beyond;
        o->dropped_count = n.dropped;
        (void)pythia_overhead_each(w->overhead, list_dropped, o);
    }
    pythia__reporting_set_overhead(w->e->reporting, o);
    pythia_free(o);
}

struct rows {
    const struct pythia__switching *w;
    struct pythia_buf *to;
    size_t count;
};

/* A label's value: backslash, quote and line break are escaped. */
static int write_closed(struct rows *r, uint32_t tracepoint, const char *reason)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(r->w->e->vocabulary, tracepoint);
    pythia_buf_puts(r->to, "pythia_point_dropped{trace_point=\"");
    for (size_t i = 0; i < id.size; i++) {
        char c = id.bytes[i];
        if (c == '\\' || c == '"')
            pythia_buf_putc(r->to, '\\');
        if (c == '\n')
            pythia_buf_puts(r->to, "\\n");
        else
            pythia_buf_putc(r->to, c);
    }
    pythia_buf_printf(r->to, "\",reason=\"%s\"} 1\n", reason);
    return ++r->count < ROWS ? 0 : 1;
}

static int write_dropped(void *context, const struct pythia_overhead_dropped *p)
{
    return write_closed(context, p->tracepoint, "overhead");
}

static int write_tripped(void *context, const struct pythia_breaker_event *e)
{
    return write_closed(context, e->tracepoint, "breaker");
}

void pythia__budget_metrics(const struct pythia__switching *w, struct pythia_buf *to)
{
    struct pythia_overhead_numbers n = pythia_overhead_numbers(w->overhead);
    struct pythia_breaker_numbers breaker = pythia_breaker_numbers(w->breaker);
    struct rows rows = {w, to, 0};
    pythia__metric_gauge(to, "pythia_overhead_ratio",
                         "Recent share of the time of requests that tracing took; NaN: too few "
                         "requests.",
                         n.share);
    pythia__metric_gauge(to, "pythia_overhead_limit_ratio", "Limit of that share; 0: no limit.",
                         n.limit);
    pythia__metric_gauge(to, "pythia_points_dropped",
                         "Trace points currently closed for their cost.", (double)n.dropped);
    pythia__metric_counter(to, "pythia_points_drops_total",
                           "Times a trace point was closed for its cost.", n.drops);
    pythia__metric_gauge(to, "pythia_overloaded",
                         "1: trace points are closed because of the load (--max-load1, "
                         "--max-spans-s).",
                         w->overloaded);
    pythia__metric_gauge(to, "pythia_breaker_limit_ns",
                         "Time that a trace point may cost one program per second; 0: no limit.",
                         breaker.limit_ns);
    pythia__metric_gauge(to, "pythia_breaker_points",
                         "Trace points currently closed by the circuit breaker.",
                         (double)breaker.tripped);
    pythia__metric_counter(to, "pythia_breaker_trips_total",
                           "Times the circuit breaker closed a trace point.", breaker.trips);
    pythia__metric_head(to, "pythia_point_dropped", "gauge",
                        "1: the trace point is closed, for this reason.");
    (void)pythia_overhead_each(w->overhead, write_dropped, &rows);
    rows.count = 0;
    (void)pythia_breaker_each(w->breaker, write_tripped, &rows);
}
