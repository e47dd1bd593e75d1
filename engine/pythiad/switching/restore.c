#include "restore.h"

#include <inttypes.h>
#include <string.h>

#include "desired.h"
#include "pythia/control_http.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "switching.h"

static int pass_over(void *context, struct pythia_text id, const struct pythia_text *type)
{
    (void)context, (void)id, (void)type;
    return PYTHIA_OK;
}

int pythia__restore_version(struct pythia__switching *w)
{
    return pythia_state_each_desired(w->e->state, pass_over, NULL, &w->version);
}

/* The search space of the state. One that cannot be read is learnt anew: not to start because of it
 * would be worse. */
static int read_space(struct pythia__switching *w)
{
    struct pythia_buf text = {0};
    struct pythia_error e = {0};
    char why[320];
    int status = pythia_state_get_space(w->e->state, &text);
    if (status != PYTHIA_OK || text.size == 0)
        goto out;
    if ((status = pythia_space_create(w->e->vocabulary, &w->e->space)) != PYTHIA_OK)
        goto out;
    status = pythia_space_file_parse("search space of the state", pythia_buf_text(&text),
                                     w->e->space, &e);
    if (status == PYTHIA_OK) {
        size_t types;
        pythia_space_types(w->e->space, &types);
        w->kept_learnt = types;
    } else if (status != PYTHIA_ENOMEM) {
        pythia_log(PYTHIA_LOG_WARNING, "Learning the search space again: reason=%s",
                   pythia_error_text(&e, why, sizeof(why)));
        pythia_space_destroy(w->e->space);
        w->e->space = NULL;
        status = PYTHIA_OK;
    }
out:
    pythia_buf_free(&text);
    return status;
}

struct restoring {
    const struct pythia__switching *w;
    struct pythia_open_points *open;
    const bool *known;     /* by trace point */
    uint32_t points, last; /* last: the point of the row before */
    uint64_t restored;
};

/* The search cannot use a trace point that is not in the search space. */
static int take_point(void *context, struct pythia_text id, const struct pythia_text *type)
{
    struct restoring *r = context;
    uint32_t point = pythia_vocabulary_tracepoint_find(r->w->e->vocabulary, id);
    if (point == PYTHIA_NONE || point >= r->points || !r->known[point])
        return PYTHIA_OK;
    r->restored += point != r->last;
    r->last = point;
    return type ? pythia_open_points_add_id_for(r->open, id, *type)
                : pythia_open_points_add_id(r->open, id);
}

/* Add what pins keep open now. */
static int add_pins(const struct restoring *r)
{
    struct pythia_open_points *pins = r->w->always;
    int status = PYTHIA_OK;
    for (uint32_t point = 0; pins && point < r->points; point++) {
        size_t count;
        struct pythia_text id = pythia_vocabulary_tracepoint_id(r->w->e->vocabulary, point);
        const struct pythia_text *types = pythia_open_points_types(pins, point, &count);
        if (!types && pythia_open_points_has(pins, point))
            status = pythia_open_points_add_id(r->open, id);
        if (status != PYTHIA_OK)
            return status;
        for (size_t i = 0; types && i < count; i++)
            if ((status = pythia_open_points_add_id_for(r->open, id, types[i])) != PYTHIA_OK)
                return status;
    }
    return PYTHIA_OK;
}

/* The restored open points, with the current pins applied. */
static int list_restored(struct restoring *r)
{
    uint64_t version;
    int status = pythia_open_points_create(r->w->e->vocabulary, &r->open);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_state_each_desired(r->w->e->state, take_point, r, &version);
    if (status != PYTHIA_OK)
        return status;
    return add_pins(r);
}

/* Version 0 was never in force, so there is nothing to restore. */
int pythia__restore_search(struct pythia__switching *w, struct pythia_open_points **open)
{
    struct restoring r = {.w = w, .last = PYTHIA_NONE};
    size_t types;
    int status = w->e->space ? PYTHIA_OK : read_space(w);
    if (status != PYTHIA_OK || !w->e->space || w->version == 0)
        return status;
    bool *known = pythia_space_points(w->e->space);
    r.known = known;
    r.points = pythia_vocabulary_tracepoints(w->e->vocabulary);
    status = known ? list_restored(&r) : PYTHIA_ENOMEM;
    pythia_free(known);
    if (status != PYTHIA_OK) {
        pythia_open_points_destroy(r.open);
        return status;
    }
    *open = r.open;
    pythia_space_types(w->e->space, &types);
    pythia_log(PYTHIA_LOG_INFO,
               "Restored the state: desired-version=%" PRIu64 ", open=%" PRIu64 ", types=%zu",
               w->version, r.restored, types);
    return PYTHIA_OK;
}

int pythia__restore_off(struct pythia__switching *w)
{
    bool off;
    int status = pythia_state_get_off(w->e->state, &off);
    if (status != PYTHIA_OK || !off)
        return status;
    pythia_log(PYTHIA_LOG_WARNING, "Everything is still off; pythia ctl on resumes the search");
    pythia_live_pause(w->e->live, true);
    (void)pythia_controller_off(w->controller,
                                pythia__engine_now(w->e)); /* tried again by its tick */
    return PYTHIA_OK;
}

/* A point that its plane takes no more, because of its name or because there are too many, is met
 * again if an agent reports it. */
static int remember_point(void *context, const struct pythia_state_point *point)
{
    struct pythia__switching *w = context;
    if (strcmp(point->plane, w->agents->ops->name) != 0)
        return PYTHIA_OK;
    int status = pythia_control_http_remember(w->agents, point->target, point->id, point->of.hits,
                                              pythia__engine_now(w->e));
    if (status == PYTHIA_EFORMAT || status == PYTHIA_ELIMIT)
        return PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    return pythia_live_know(w->e->live, point->id);
}

int pythia__restore_switches(struct pythia__switching *w)
{
    int status = pythia_state_each_inventory(w->e->state, remember_point, w);
    if (status != PYTHIA_OK)
        return status;
    /* pins may be patterns, for points that are known only now */
    if ((status = pythia_live_set_pins(w->e->live, w->always, w->never, w->fixed)) != PYTHIA_OK ||
        (status = pythia__switching_want(w)) != PYTHIA_OK)
        return status;
    /* Twice if places of the settings match points that the planes have reported only now. */
    status = pythia__switching_tick(w, pythia__engine_now(w->e));
    return status == PYTHIA_OK && pythia__switching_is_due(w)
               ? pythia__switching_tick(w, pythia__engine_now(w->e))
               : status;
}
