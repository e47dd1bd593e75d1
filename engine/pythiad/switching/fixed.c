#include "fixed.h"

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define SECOND   UINT64_C(1000000000)
#define AGAIN_NS (60 * SECOND) /* before more known points become fixed */
/* Requests that began when a point was closed in force and have spans of it: fewer may be of an
 * agent that was late. */
#define STRAYS   20
#define STRAY_NS (5 * SECOND) /* after the set was in force, before a request counts */

bool pythia__fixed_is_switchable(const struct pythia__switching *w, struct pythia_text id)
{
    struct pythia_controlled p;
    return !w->e->s.observe_only && pythia_controller_point(w->controller, id, &p);
}

const char *pythia__fixed_advice(void)
{
    return "no control plane has reported it; start Node.js programs with pythia-gate.js, build "
           "Go programs with pythia-go, start OpenStack services with the preload for OSProfiler, "
           "link C programs with libpythia-tracepoints (pythiad --gate), or run unchanged ones by "
           "`pythia run`";
}

/* Whether this point is currently fixed. */
static bool is_point_fixed(const struct pythia__switching *w, uint32_t tracepoint)
{
    return w->fixed && pythia_open_points_has(w->fixed, tracepoint);
}

/* Spans of such a point are expected, though the search does not want it open. */
static bool is_pinned_somewhere(const struct pythia__switching *w, uint32_t point)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(w->e->vocabulary, point);
    return w->placed.count > 0 && pythia_wishes_find(&w->placed, id) != PYTHIA_NO_WISH;
}

int pythia__fixed_see(struct pythia__switching *w, const struct pythia_trace *trace)
{
    if (!w->in_force.now || trace->begun_ns < w->in_force.since_unix_ns + STRAY_NS)
        return PYTHIA_OK;
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t point = trace->spans[i].tracepoint;
        if (pythia_live_is_open(w->e->live, point) || !pythia_live_knows(w->e->live, point) ||
            is_pinned_somewhere(w, point))
            continue;
        if (pythia_reach(&w->strays, &w->stray_capacity, point, sizeof(*w->strays)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        w->strays[point]++;
    }
    return PYTHIA_OK;
}

/* Has it been told to close, says so, and is sent all the same? */
static bool is_sent_though_closed(const struct pythia__switching *w, uint32_t point)
{
    return point < w->stray_capacity && w->strays[point] >= STRAYS;
}

static int add_if_fixed(const struct pythia__switching *w, uint32_t point, bool again_soon,
                        struct pythia_open_points *to, bool *changed)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(w->e->vocabulary, point);
    bool arrives = pythia_passes_of(w->passes, point).spans > 0;
    bool was = is_point_fixed(w, point);
    /* No evidence depends on points that the search space does not know, as those of new types. */
    bool fixed = arrives && (was || !again_soon || !pythia_live_knows(w->e->live, point)) &&
                 (!pythia__fixed_is_switchable(w, id) || is_sent_though_closed(w, point));
    *changed = *changed || fixed != was;
    if (fixed && !was && is_sent_though_closed(w, point))
        pythia_log(PYTHIA_LOG_WARNING,
                   "Spans of a closed trace point arrive, so it counts as open; an instance of "
                   "its service has no agent: trace-point=%.*s",
                   (int)id.size, id.bytes);
    return fixed ? pythia_open_points_add_id(to, id) : PYTHIA_OK;
}

/* A new set replaces the old one only if it differs, as each change of pins may cost the
 * evidence of a cycle. Soon after a change no more points that are known become fixed, but those
 * that are may be released: after a start spans often arrive before the agents of their program
 * have reported. */
int pythia__fixed_look(struct pythia__switching *w, uint64_t now_ns)
{
    uint32_t points = pythia_vocabulary_tracepoints(w->e->vocabulary);
    bool changed = false, learning = pythia_live_numbers(w->e->live).learning;
    bool again_soon = !learning && w->fixed_ns && now_ns - w->fixed_ns < AGAIN_NS;
    struct pythia_open_points *fixed = NULL;
    if (w->e->s.observe_only)
        return PYTHIA_OK;
    int status = pythia_open_points_create(w->e->vocabulary, &fixed);
    if (status != PYTHIA_OK)
        return status;
    for (uint32_t point = 0; point < points; point++)
        if ((status = add_if_fixed(w, point, again_soon, fixed, &changed)) != PYTHIA_OK)
            goto out;
    if (!changed)
        goto out;
    status = pythia_live_set_pins(w->e->live, w->always, w->never, fixed);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_open_points *former = w->fixed;
    w->fixed = fixed;
    fixed = former; /* nothing borrows it any more */
    pythia_overhead_set_kept(w->overhead, w->always, w->fixed);
    w->fixed_ns = now_ns;
out:
    pythia_open_points_destroy(fixed);
    return status;
}

void pythia__fixed_free(struct pythia__switching *w)
{
    pythia_open_points_destroy(w->fixed);
    pythia_free(w->strays);
}
