#include "fixed.h"

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define SECOND   UINT64_C(1000000000)
#define AGAIN_NS (60 * SECOND) /* between changes, once the search has begun */
/* Requests that began when a point was closed in force and have spans of it: fewer may be of an
 * agent that was late. */
#define STRAYS   20
#define STRAY_NS (5 * SECOND) /* after the set was in force, before a request counts */

bool pythia__fixed_is_switchable(const struct pythia__daemon *d, struct pythia_text id)
{
    struct pythia_controlled p;
    return !d->s.observe_only && pythia_controller_point(d->controller, id, &p);
}

const char *pythia__fixed_advice(void)
{
    return "no control plane has reported it: start Node.js programs with pythia-gate.js, build Go "
           "programs with pythia-go, start services of OpenStack with the preload for OSProfiler, "
           "link C programs with libpythia-tracepoints (pythiad --gate), or run unchanged ones by "
           "`pythia run`";
}

bool pythia__fixed_is(const struct pythia__daemon *d, uint32_t tracepoint)
{
    return d->fixed && pythia_open_points_has(d->fixed, tracepoint);
}

int pythia__fixed_see(struct pythia__daemon *d, const struct pythia_trace *trace)
{
    if (!d->in_force.now || trace->begun_ns < d->in_force.since_unix_ns + STRAY_NS)
        return PYTHIA_OK;
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t point = trace->spans[i].tracepoint;
        if (pythia_live_is_open(d->live, point) || !pythia_live_knows(d->live, point))
            continue;
        if (pythia_reach(&d->strays, &d->stray_capacity, point, sizeof(*d->strays)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        d->strays[point]++;
    }
    return PYTHIA_OK;
}

/* Has it been told to close, says so, and is sent all the same? */
static bool is_sent_though_closed(const struct pythia__daemon *d, uint32_t point)
{
    return point < d->stray_capacity && d->strays[point] >= STRAYS;
}

static int add_if_fixed(const struct pythia__daemon *d, uint32_t point,
                        struct pythia_open_points *to, bool *changed)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(d->vocabulary, point);
    bool arrives = pythia_passes_of(d->passes, point).spans > 0;
    bool fixed =
        arrives && (!pythia__fixed_is_switchable(d, id) || is_sent_though_closed(d, point));
    bool was = pythia__fixed_is(d, point);
    *changed = *changed || fixed != was;
    if (fixed && !was && is_sent_though_closed(d, point))
        pythia_log(PYTHIA_LOG_WARNING,
                   "Spans of a closed trace point arrive, so it counts as open: an instance of its "
                   "service has no agent: trace-point=%.*s",
                   (int)id.size, id.bytes);
    return fixed ? pythia_open_points_add_id(to, id) : PYTHIA_OK;
}

int pythia__fixed_look(struct pythia__daemon *d, uint64_t now_ns)
{
    uint32_t points = pythia_vocabulary_tracepoints(d->vocabulary);
    bool changed = false, learning = pythia_live_numbers(d->live).learning;
    struct pythia_open_points *fixed = NULL;
    if (d->s.observe_only || (!learning && now_ns - d->fixed_ns < AGAIN_NS && d->fixed_ns))
        return PYTHIA_OK;
    int status = pythia_open_points_create(d->vocabulary, &fixed);
    for (uint32_t point = 0; point < points && status == PYTHIA_OK; point++)
        status = add_if_fixed(d, point, fixed, &changed);
    if (status == PYTHIA_OK && changed)
        status = pythia_live_set_pins(d->live, d->always, d->never, fixed);
    struct pythia_open_points *gone = fixed;
    if (status == PYTHIA_OK && changed) {
        gone = d->fixed;
        d->fixed = fixed;
        pythia_overhead_set_kept(d->overhead, d->always, d->fixed);
        d->fixed_ns = now_ns;
    }
    pythia_open_points_destroy(gone);
    return status;
}

void pythia__fixed_free(struct pythia__daemon *d)
{
    pythia_open_points_destroy(d->fixed);
    pythia_free(d->strays);
}
