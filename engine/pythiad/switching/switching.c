/* From what the engine wants open to the switches of the targets, and back: the inventory of the
 * planes, prices, pins, and when a set is in force. */
#include "switching.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chosen.h"
#include "desired.h"
#include "fixed.h"
#include "inventory.h"
#include "places.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define FIXED_NS UINT64_C(250000000) /* between looks for points that nothing can switch */

/* ---- what shall be open ---- */

/* Requests that begin once the set is in force at all targets are seen with it. */
static void look_whether_in_force(struct pythia__switching *w, uint64_t now)
{
    uint64_t since = w->in_force.since ? w->in_force.since : now; /* of a set that nobody is told */
    bool joined, in_force = w->e->s.observe_only ||
                            pythia_controller_in_force(w->controller, w->version, &since);
    uint64_t lost = pythia_controller_lost_ns(w->controller);
    if (pythia__in_force_look(&w->in_force, in_force, since, lost, now, pythia__unix_ns(),
                              &joined) &&
        w->wish > 0)
        pythia_live_applied(w->e->live, w->in_force.since_unix_ns, joined);
}

/* ---- what there is ---- */

static struct pythia_controller_seen see_point(void *context, struct pythia_text id)
{
    return pythia__switching_see(context, id);
}

/* ---- types that turn up later ---- */

/* Say in the log when points are opened to learn them, when that would be too often, and what was
 * not learnt with a type. */
static void tell_lessons(struct pythia__switching *w)
{
    struct pythia_live_numbers n = pythia_live_numbers(w->e->live);
    if (n.lessons > w->lessons_told)
        pythia_log(PYTHIA_LOG_INFO,
                   "Opening trace points to learn new request types: times=%" PRIu64, n.lessons);
    if (n.seeks > w->seeks_told)
        pythia_log(
            PYTHIA_LOG_INFO,
            "Opening new trace points to see which known request types hit them: times=%" PRIu64,
            n.seeks);
    if (n.reviews > w->reviews_told)
        pythia_log(PYTHIA_LOG_INFO,
                   "Opening closed trace points to see whether known request types hit others than "
                   "before: times=%" PRIu64,
                   n.reviews);
    if (n.renewed > w->renewed_told)
        pythia_log(
            PYTHIA_LOG_INFO,
            "Learnt new trace points of known request types, and searches them: types=%" PRIu64,
            n.renewed - w->renewed_told);
    if (n.lessons_cut > w->cut_told)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Learning request types without some of their trace points, because no more "
                   "may be open at once: points-open=%" PRId64,
                   w->e->s.points_open);
    bool waiting = n.types_waiting > 0 && !n.teaching;
    if (waiting && !w->waiting_told)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Request types wait to be learnt, because the limit of openings per hour is "
                   "reached: types=%" PRIu64 ", learn-hourly=%" PRId64,
                   n.types_waiting, w->e->s.learn_hourly);
    if (n.unknown_points > 0 && n.unknown_points >= 2 * w->unknown_told) {
        pythia_log(
            PYTHIA_LOG_WARNING,
            "The search space lacks trace points of request types that it knows, and their spans "
            "are left out until they are learnt: points=%" PRIu64 ", spans=%" PRIu64
            ", learn-hourly=%" PRId64,
            n.unknown_points, n.unknown_spans, w->e->s.learn_hourly);
        w->unknown_told = n.unknown_points;
    }
    w->lessons_told = n.lessons;
    w->seeks_told = n.seeks;
    w->reviews_told = n.reviews;
    w->renewed_told = n.renewed;
    w->cut_told = n.lessons_cut;
    w->waiting_told = waiting;
}

bool pythia__switching_is_due(const struct pythia__switching *w)
{
    return (pythia_live_wish(w->e->live) != w->wish && !w->held) || w->version != w->tried;
}

static int apply_desired(struct pythia__switching *w, uint64_t now)
{
    bool changed = pythia_live_wish(w->e->live) != w->wish && !w->held;
    int status = changed ? pythia__switching_want(w) : PYTHIA_OK;
    w->tried = w->version; /* also after a failure: or the loop would not rest until it succeeds */
    if (status != PYTHIA_OK || (status = pythia_controller_tick(w->controller, now)) != PYTHIA_OK ||
        (status = pythia__switching_meet_inventory(w, now)) != PYTHIA_OK)
        return status;
    if (now - w->fixed_looked_ns < FIXED_NS)
        return PYTHIA_OK;
    w->fixed_looked_ns = now;
    return pythia__fixed_look(w, now);
}

int pythia__switching_tick(struct pythia__switching *w, uint64_t now)
{
    int status = apply_desired(w, now);
    look_whether_in_force(w, now);
    tell_lessons(w);
    pythia__switching_mend(w, now);
    return status;
}

/* ---- pins ---- */

/* ---- the planes ---- */

/* Set an option of a plane, if there is something to set. */
static int set_plane_option(const struct pythia_control_ops *ops, void *settings, const char *name,
                            const char *text, struct pythia_error *e)
{
    const struct pythia_option *o = ops->options;
    while (o->name && strcmp(o->name, name) != 0)
        o++;
    return text && o->name ? pythia_option_set(o, settings, text, e) : PYTHIA_OK;
}

static int create_plane(const struct pythia__switching *w, struct pythia_control **planes,
                        size_t *count, const char *name, const char *where, struct pythia_error *e)
{
    const struct pythia_control_ops *ops = pythia_control_named(name);
    const struct pythia__settings *s = &w->e->s;
    struct pythia_error why = {0};
    char limit[32];
    const struct {
        const char *name, *text;
    } set[] = {{"type-attribute", s->type_attribute},
               {"socket", s->probe_socket},
               {"relay", s->lttng_relay},
               {"processes", s->probe_processes},
               {"outside-ns", limit}};
    void *settings = ops ? pythia_calloc(1, ops->settings_size + 1) : NULL;
    if (!settings)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "this pythiad is built without the control "
                                "plane %s",
                                name);
    pythia_options_default(ops->options, settings);
    snprintf(limit, sizeof(limit), "%.17g", s->breaker_ns);
    int status = PYTHIA_OK;
    if (where) /* a plane's first option is where its targets are */
        status = pythia_option_set(&ops->options[0], settings, where, &why);
    for (size_t i = 0; i < sizeof(set) / sizeof(set[0]) && status == PYTHIA_OK; i++)
        status = set_plane_option(ops, settings, set[i].name, set[i].text, &why);
    if (status == PYTHIA_OK)
        status = ops->create(settings, &planes[*count], &why);
    pythia_free(settings);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "control plane %s: %s", name, why.sentence);
    ++*count;
    return PYTHIA_OK;
}

/* The http plane always exists, because agents may poll at any time; the others need an address. */
int pythia__switching_create(struct pythia__switching *w, struct pythia_error *e)
{
    struct pythia_control *planes[6] = {NULL};
    struct pythia_controller_options o = {.lease_ns = (uint64_t)(w->e->s.lease_seconds * 1e9),
                                          .version = w->version,
                                          .keep_defaults = true,
                                          .see = see_point,
                                          .see_context = w};
    size_t count = 0;
    int status = create_plane(w, planes, &count, "http", NULL, e);
    if (status != PYTHIA_OK)
        goto out;
    w->agents = planes[0];
    if (w->e->s.gate &&
        (status = create_plane(w, planes, &count, "gate", w->e->s.gate, e)) != PYTHIA_OK)
        goto out;
    if (w->e->s.osprofiler && (status = create_plane(w, planes, &count, "osprofiler",
                                                     w->e->s.osprofiler, e)) != PYTHIA_OK)
        goto out;
    if (w->e->s.probes &&
        (status = create_plane(w, planes, &count, "probe", w->e->s.probes, e)) != PYTHIA_OK)
        goto out;
    w->probes = w->e->s.probes ? planes[count - 1] : NULL;
    if (w->e->s.lttng &&
        (status = create_plane(w, planes, &count, "lttng", w->e->s.lttng, e)) != PYTHIA_OK)
        goto out;
    w->lttng = w->e->s.lttng ? planes[count - 1] : NULL;
    return pythia_controller_create(planes, count, &o, &w->controller);
out:
    while (count > 0) {
        count--;
        planes[count]->ops->destroy(planes[count]);
    }
    return status;
}

void pythia__switching_free(struct pythia__switching *w)
{
    pythia_controller_destroy(w->controller);
    pythia_open_points_destroy(w->always);
    pythia_open_points_destroy(w->never);
    pythia_wishes_free(&w->placed);
    pythia__places_free(&w->matches);
    pythia_open_points_destroy(w->limited);
    pythia_overhead_destroy(w->overhead);
    pythia_breaker_destroy(w->breaker);
    pythia_passes_destroy(w->passes);
    pythia__fixed_free(w);
    pythia__chosen_free(w);
    pythia_prices_destroy(w->prices);
    pythia_layers_destroy(w->layers);
    pythia_history_destroy(w->history);
}
