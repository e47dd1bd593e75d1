/* The trace points of the planes, their prices, and what the state stores about them. */
#include "inventory.h"

#include <math.h>

#include "chosen.h"
#include "desired.h"
#include "pins.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define INVENTORY_NS UINT64_C(1000000000)  /* between looks at it for prices */
#define KEEP_NS      UINT64_C(60000000000) /* between writings of it */

struct inventory {
    struct pythia__switching *w;
    struct pythia_state_point *points; /* owned; texts are copies in `texts` */
    size_t count, capacity;
    struct pythia_buf texts;
    bool repriced;
};

struct pythia_controller_seen pythia__switching_see(const struct pythia__switching *w,
                                                    struct pythia_text id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(w->e->vocabulary, id);
    struct pythia_pass_counts passes = pythia_passes_of(w->passes, point);
    struct pythia_controller_seen seen = {
        .price_ns = NAN, .spans = passes.spans, .requests = passes.requests};
    if (point != PYTHIA_NONE)
        seen.price_ns = pythia_vocabulary_cost_now_ns(w->e->vocabulary, point);
    if (!isnan(seen.price_ns))
        seen.price_known = pythia_vocabulary_cost(w->e->vocabulary, point).passes >= PYTHIA_COST_FEW
                               ? PYTHIA_PRICE_MEASURED
                               : PYTHIA_PRICE_EXPECTED;
    return seen;
}

/* A point of a plane: it gets a number, its layer, and the price that is known. What programs
 * measure themselves, and have not yet of this point, is expected of it. */
static int meet_point(void *context, const struct pythia_controlled *p)
{
    struct inventory *v = context;
    int status = pythia_live_know(v->w->e->live, p->id);
    if (status != PYTHIA_OK || (status = pythia__chosen_note(v->w, p)) != PYTHIA_OK)
        return status;
    uint32_t point = pythia_vocabulary_tracepoint_find(v->w->e->vocabulary, p->id);
    if (point == PYTHIA_NONE)
        return PYTHIA_OK; /* beyond the limit of names, which counts it: never searched */
    if (pythia_control_named(p->plane)->spans_tell)
        status = pythia_vocabulary_cost_expect(v->w->e->vocabulary, point);
    if (status != PYTHIA_OK)
        return status;
    if (isfinite(p->price_ns) && p->price_ns >= 0) {
        if ((status = pythia_prices_set(v->w->prices, p->id, p->price_ns)) != PYTHIA_OK)
            return status;
        v->repriced = true;
    }
    /* A table of points that are all the application's stays empty. */
    if (p->layer == pythia_layers_of(v->w->layers, point))
        return PYTHIA_OK;
    return pythia_layers_set(v->w->layers, p->id, p->layer);
}

static struct pythia_state_known known_of(const struct pythia_controlled *p)
{
    return (struct pythia_state_known){.price_ns = p->price_ns,
                                       .price_known = pythia_price_known_name(p->price_known),
                                       .hits = p->hits,
                                       .spans = p->spans,
                                       .requests = p->requests};
}

static bool know_point(void *context, struct pythia_text id, struct pythia_state_known *out)
{
    struct pythia_controlled p;
    if (!pythia_controller_point(context, id, &p))
        return false;
    *out = known_of(&p);
    return true;
}

int pythia__switching_keep_cycle(struct pythia__switching *w, uint64_t unix_ns,
                                 const struct pythia_live_cycle *cycle)
{
    return pythia_state_add_cycle(w->e->state, unix_ns, w->e->vocabulary, cycle,
                                  (struct pythia_state_knower){know_point, w->controller});
}

/* The planes' points, for the state: texts are stored first, because they may move. */
static int list_point(void *context, const struct pythia_controlled *p)
{
    struct inventory *v = context;
    if (pythia_grow(&v->points, &v->capacity, v->count, sizeof(*v->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    v->points[v->count++] = (struct pythia_state_point){.plane = p->plane,
                                                        .target = {NULL, p->target.size},
                                                        .id = {NULL, p->id.size},
                                                        .of = known_of(p)};
    pythia_buf_text_add(&v->texts, p->target);
    pythia_buf_text_add(&v->texts, p->id);
    return pythia_buf_status(&v->texts);
}

static void keep_inventory(struct pythia__switching *w)
{
    struct inventory v = {.w = w};
    size_t at = 0;
    if (pythia_controller_each(w->controller, list_point, &v) == PYTHIA_OK) {
        for (size_t i = 0; i < v.count; i++) {
            v.points[i].target.bytes = v.texts.bytes + at;
            at += v.points[i].target.size;
            v.points[i].id.bytes = v.texts.bytes + at;
            at += v.points[i].id.size;
        }
        (void)pythia_state_put_inventory(w->e->state, v.points, v.count);
    }
    pythia_free(v.points);
    pythia_buf_free(&v.texts);
}

/* Points that are new may be wanted already; prices may have changed. */
int pythia__switching_meet_inventory(struct pythia__switching *w, uint64_t now)
{
    struct pythia_controller_numbers n = pythia_controller_numbers(w->controller);
    bool grown = n.points != w->points_met;
    if (!grown && now - w->met_ns < INVENTORY_NS)
        return PYTHIA_OK;
    struct inventory v = {.w = w};
    (void)pythia_passes_look(w->passes, pythia_live_space(w->e->live)); /* else as it was before */
    uint32_t before = pythia_vocabulary_tracepoints(w->e->vocabulary);
    w->met_ns = now; /* also if it fails: the next tick would fail likewise */
    int status = pythia_controller_each(w->controller, meet_point, &v);
    if (status != PYTHIA_OK || (status = pythia__chosen_look(w)) != PYTHIA_OK)
        return status;
    w->points_met = n.points;
    uint32_t points = pythia_vocabulary_tracepoints(w->e->vocabulary);
    bool pinned = w->always && points != w->points_pinned; /* perhaps: pins may be patterns */
    if (v.repriced || pinned)
        status = pythia_live_set_pins(w->e->live, w->always, w->never, w->fixed);
    if (status != PYTHIA_OK)
        return status;
    w->points_pinned = points;
    if ((status = pythia__switching_match_places(w, n.changes)) != PYTHIA_OK)
        return status;
    if (pythia_vocabulary_tracepoints(w->e->vocabulary) != before)
        status = pythia__switching_want(w);
    if (status != PYTHIA_OK)
        return status;
    if (grown || w->kept_ns == 0 || now - w->kept_ns >= KEEP_NS) {
        keep_inventory(w);
        w->kept_ns = now;
    }
    return PYTHIA_OK;
}
