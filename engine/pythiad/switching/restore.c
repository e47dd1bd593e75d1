#include "restore.h"

#include <inttypes.h>
#include <string.h>

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

int pythia__restore_version(struct pythia__daemon *d)
{
    return pythia_state_each_desired(d->state, pass_over, NULL, &d->version);
}

/* The search space of the state. One that cannot be read is learnt anew: not to start because of it
 * would be worse. */
static int read_space(struct pythia__daemon *d)
{
    struct pythia_buf text = {0};
    struct pythia_error e = {0};
    char why[320];
    int status = pythia_state_get_space(d->state, &text);
    if (status == PYTHIA_OK && text.size > 0)
        status = pythia_space_create(d->vocabulary, &d->space);
    if (status == PYTHIA_OK && d->space) {
        status = pythia_space_file_parse("search space of the state", pythia_buf_text(&text),
                                         d->space, &e);
        if (status == PYTHIA_OK) {
            pythia_space_types(d->space, &d->kept_types);
        } else if (status != PYTHIA_ENOMEM) {
            pythia_log(PYTHIA_LOG_WARNING, "Learns the search space anew: reason=%s",
                       pythia_error_text(&e, why, sizeof(why)));
            pythia_space_destroy(d->space);
            d->space = NULL;
            status = PYTHIA_OK;
        }
    }
    pythia_buf_free(&text);
    return status;
}

struct restoring {
    const struct pythia__daemon *d;
    struct pythia_open_points *open;
    const bool *known;     /* by trace point */
    uint32_t points, last; /* last: the point of the row before */
    uint64_t restored;
};

/* Of a trace point that is not in the search space, the search does not know what it is for. */
static int take_point(void *context, struct pythia_text id, const struct pythia_text *type)
{
    struct restoring *r = context;
    uint32_t point = pythia_vocabulary_tracepoint_find(r->d->vocabulary, id);
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
    struct pythia_open_points *pins = r->d->always;
    int status = PYTHIA_OK;
    for (uint32_t point = 0; pins && point < r->points && status == PYTHIA_OK; point++) {
        size_t count;
        struct pythia_text id = pythia_vocabulary_tracepoint_id(r->d->vocabulary, point);
        const struct pythia_text *types = pythia_open_points_types(pins, point, &count);
        if (!types && pythia_open_points_has(pins, point))
            status = pythia_open_points_add_id(r->open, id);
        for (size_t i = 0; types && i < count && status == PYTHIA_OK; i++)
            status = pythia_open_points_add_id_for(r->open, id, types[i]);
    }
    return status;
}

/* What was open, and what pins say now. */
static int list_open(struct restoring *r)
{
    uint64_t version;
    int status = pythia_open_points_create(r->d->vocabulary, &r->open);
    if (status == PYTHIA_OK)
        status = pythia_state_each_desired(r->d->state, take_point, r, &version);
    return status == PYTHIA_OK ? add_pins(r) : status;
}

int pythia__restore_search(struct pythia__daemon *d, struct pythia_open_points **open)
{
    struct restoring r = {.d = d, .last = PYTHIA_NONE};
    size_t types;
    int status = d->space ? PYTHIA_OK : read_space(d);
    if (status != PYTHIA_OK || !d->space || d->version == 0)
        return status;
    bool *known = pythia_space_points(d->space);
    r.known = known;
    r.points = pythia_vocabulary_tracepoints(d->vocabulary);
    status = known ? list_open(&r) : PYTHIA_ENOMEM;
    pythia_free(known);
    if (status == PYTHIA_OK)
        *open = r.open;
    else
        pythia_open_points_destroy(r.open);
    pythia_space_types(d->space, &types);
    if (status == PYTHIA_OK)
        pythia_log(PYTHIA_LOG_INFO,
                   "Goes on where it stood: desired-version=%" PRIu64 ", open=%" PRIu64
                   ", types=%zu",
                   d->version, r.restored, types);
    return status;
}

int pythia__restore_off(struct pythia__daemon *d)
{
    bool off;
    int status = pythia_state_get_off(d->state, &off);
    if (status != PYTHIA_OK || !off)
        return status;
    pythia_log(PYTHIA_LOG_WARNING, "Everything is off, as it was: pythia ctl on ends that");
    pythia_live_pause(d->live, true);
    (void)pythia_controller_off(d->controller, pythia__daemon_now(d)); /* tried again by its tick */
    return PYTHIA_OK;
}

/* A point that its plane takes no more, because of its name or because there are too many, is met
 * again if an agent reports it. */
static int remember_point(void *context, const struct pythia_state_point *point)
{
    struct pythia__daemon *d = context;
    if (strcmp(point->plane, d->agents->ops->name) != 0)
        return PYTHIA_OK;
    int status = pythia_control_http_remember(d->agents, point->target, point->id, point->of.hits,
                                              pythia__daemon_now(d));
    if (status == PYTHIA_EFORMAT || status == PYTHIA_ELIMIT)
        return PYTHIA_OK;
    return status == PYTHIA_OK ? pythia_live_know(d->live, point->id) : status;
}

int pythia__restore_switches(struct pythia__daemon *d)
{
    int status = pythia_state_each_inventory(d->state, remember_point, d);
    if (status == PYTHIA_OK) /* pins may be patterns, for points that are known only now */
        status = pythia_live_set_pins(d->live, d->always, d->never, d->fixed);
    if (status == PYTHIA_OK)
        status = pythia__daemon_want(d);
    return status == PYTHIA_OK ? pythia__switching_tick(d, pythia__daemon_now(d)) : status;
}

int pythia__restore_text(const struct pythia__daemon *d, struct pythia_buf *text, size_t *types)
{
    const struct pythia_space *space = pythia_live_space(d->live);
    pythia_space_types(space, types);
    return *types == d->kept_types ? PYTHIA_OK : pythia_space_file_write(space, text);
}
