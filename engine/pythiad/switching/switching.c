/* From what the engine wants open to the switches of the targets, and back: the inventory of the
 * planes, prices, pins, and when a set is in force. */
#include "switching.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "breaking.h"
#include "budget.h"
#include "fixed.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "restore.h"

#define INVENTORY_NS UINT64_C(1000000000)  /* between looks at the inventory for prices */
#define KEEP_NS      UINT64_C(60000000000) /* between writings of it */
#define MEND_NS      UINT64_C(1000000000)  /* between attempts to write a state that is degraded */

/* ---- what shall be open ---- */

/* What the engine wants open now. {0} is empty. */
struct open {
    struct pythia_control_wish *wishes; /* owned; two for one point are put together */
    size_t count;
    struct pythia_control_wish *kept; /* owned: without what is open to learn types */
    size_t kept_count;
    struct pythia_text types[PYTHIA_LIVE_TAUGHT_MAX]; /* that are learnt */
};

static void free_open(const struct open *o)
{
    pythia_free(o->wishes);
    pythia_free(o->kept);
}

/* The types are borrowed of the engine, which holds them until the wish has been copied. */
static void add_open(const struct pythia__daemon *d, struct open *o, uint32_t point)
{
    uint32_t types[PYTHIA_LIVE_TAUGHT_MAX];
    size_t count = pythia_live_open_for(d->live, point, types, PYTHIA_LIVE_TAUGHT_MAX);
    struct pythia_control_wish wish = {.id = pythia_vocabulary_tracepoint_id(d->vocabulary, point)};
    wish.types = pythia_live_limit(d->live, point, &wish.type_count);
    if (count == 0 || wish.types)
        o->kept[o->kept_count++] = o->wishes[o->count++] = wish;
    for (size_t i = 0; i < count; i++) /* the same for every such point */
        o->types[i] = pythia_vocabulary_text(d->vocabulary, types[i]);
    if (count > 0)
        o->wishes[o->count++] =
            (struct pythia_control_wish){.id = wish.id, .types = o->types, .type_count = count};
}

/* To be freed in any case, and not to be moved. PYTHIA_OK or PYTHIA_ENOMEM. */
static int list_open(const struct pythia__daemon *d, struct open *o)
{
    uint32_t points = pythia_vocabulary_tracepoints(d->vocabulary);
    o->wishes = pythia_calloc(2 * (size_t)points + 1, sizeof(*o->wishes));
    o->kept = pythia_calloc((size_t)points + 1, sizeof(*o->kept));
    if (!o->wishes || !o->kept)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < points; point++)
        if (pythia_live_is_open(d->live, point))
            add_open(d, o, point);
    return PYTHIA_OK;
}

/* Requests of types that a point is not open for cannot pass it: they are not counted. */
static int limit_passes(struct pythia__daemon *d, const struct open *o)
{
    struct pythia_open_points *limited = NULL;
    int status = pythia_open_points_create(d->vocabulary, &limited);
    for (size_t i = 0; i < o->count && status == PYTHIA_OK; i++)
        for (size_t t = 0; t < o->wishes[i].type_count && status == PYTHIA_OK; t++)
            status = pythia_open_points_add_id_for(limited, o->wishes[i].id, o->wishes[i].types[t]);
    if (status != PYTHIA_OK) {
        pythia_open_points_destroy(limited);
        return status;
    }
    pythia_passes_set_limited(d->passes, limited);
    pythia_open_points_destroy(d->limited);
    d->limited = limited;
    return PYTHIA_OK;
}

/* Has anything been wanted, by the search or by hand, now or before this start? Until then targets
 * are left alone. */
static bool is_wanted(const struct pythia__daemon *d)
{
    return d->wish > 0 || d->version > 0 || pythia_open_points_count(d->always) > 0;
}

/* What is wanted, and the search space that it is of, on disk together: whoever starts next finds
 * both or neither. When that fails the state is degraded, and told by it. */
static int keep_desired(struct pythia__daemon *d, const struct pythia_control_wish *wishes,
                        size_t count)
{
    struct pythia_buf text = {0};
    size_t types;
    int status = pythia__restore_text(d, &text, &types);
    struct pythia_text space = pythia_buf_text(&text);
    if (status == PYTHIA_OK && pythia_state_put_desired(d->state, wishes, count, d->version,
                                                        text.size ? &space : NULL) == PYTHIA_OK)
        d->kept_types = types;
    pythia_buf_free(&text);
    return status;
}

int pythia__daemon_want(struct pythia__daemon *d)
{
    struct open open = {0};
    d->wish = pythia_live_wish(d->live);
    if (!is_wanted(d))
        return PYTHIA_OK;
    int status = list_open(d, &open);
    uint64_t version = d->version + 1;
    if (status == PYTHIA_OK) /* what is opened now is counted from here */
        status = pythia_passes_look(d->passes, pythia_live_space(d->live));
    if (status == PYTHIA_OK)
        status = limit_passes(d, &open);
    if (status == PYTHIA_OK && !d->s.observe_only)
        status = pythia_controller_want(d->controller, open.wishes, open.count, &version);
    if (status == PYTHIA_OK) {
        d->version = version;
        d->in_force.now = false;
        status = keep_desired(d, open.kept, open.kept_count);
    }
    free_open(&open);
    return status;
}

/* The state could not be written: try again, with what it has to know by now. */
static void mend_state(struct pythia__daemon *d, uint64_t now)
{
    struct open open = {0};
    if (!pythia_state_is_degraded(d->state) || now - d->mended_ns < MEND_NS)
        return;
    d->mended_ns = now;
    if (list_open(d, &open) == PYTHIA_OK)
        (void)keep_desired(d, open.kept, is_wanted(d) ? open.kept_count : 0);
    if (!pythia_state_is_degraded(d->state))
        (void)pythia_state_put_off(d->state, pythia_controller_is_off(d->controller));
    free_open(&open);
    if (!pythia_state_is_degraded(d->state)) {
        d->kept_ns = 0; /* the inventory is due */
        (void)pythia__daemon_keep_history(d);
    }
}

/* Requests that begin once the set is in force at all targets are seen with it. */
static void look_whether_in_force(struct pythia__daemon *d, uint64_t now)
{
    uint64_t since = d->in_force.since ? d->in_force.since : now; /* of a set that nobody is told */
    bool joined, in_force = d->s.observe_only ||
                            pythia_controller_in_force(d->controller, d->version, &since);
    uint64_t lost = pythia_controller_lost_ns(d->controller);
    if (pythia__in_force_look(&d->in_force, in_force, since, lost, now, pythia__unix_ns(),
                              &joined) &&
        d->wish > 0)
        pythia_live_applied(d->live, d->in_force.since_unix_ns, joined);
}

/* ---- what there is ---- */

struct inventory {
    struct pythia__daemon *d;
    struct pythia_state_point *points; /* owned; texts are copies in `texts` */
    size_t count, capacity;
    struct pythia_buf texts;
    bool repriced;
};

struct pythia_controller_seen pythia__switching_see(const struct pythia__daemon *d,
                                                    struct pythia_text id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(d->vocabulary, id);
    struct pythia_pass_counts passes = pythia_passes_of(d->passes, point);
    struct pythia_controller_seen seen = {
        .price_ns = NAN, .spans = passes.spans, .requests = passes.requests};
    if (point != PYTHIA_NONE)
        seen.price_ns = pythia_vocabulary_cost_now_ns(d->vocabulary, point);
    if (!isnan(seen.price_ns))
        seen.price_known = pythia_vocabulary_cost(d->vocabulary, point).passes >= PYTHIA_COST_FEW
                               ? PYTHIA_PRICE_MEASURED
                               : PYTHIA_PRICE_EXPECTED;
    return seen;
}

static struct pythia_controller_seen see_point(void *context, struct pythia_text id)
{
    return pythia__switching_see(context, id);
}

/* A point of a plane: it gets a number, and the price that is known. What programs measure
 * themselves, and have not yet of this point, is expected of it. */
static int meet_point(void *context, const struct pythia_controlled *p)
{
    struct inventory *v = context;
    int status = pythia_live_know(v->d->live, p->id);
    if (status == PYTHIA_OK && pythia_control_named(p->plane)->spans_tell)
        status = pythia_vocabulary_cost_expect(
            v->d->vocabulary, pythia_vocabulary_tracepoint_find(v->d->vocabulary, p->id));
    if (status == PYTHIA_OK && isfinite(p->price_ns) && p->price_ns >= 0) {
        status = pythia_prices_set(v->d->prices, p->id, p->price_ns);
        v->repriced = true;
    }
    return status;
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

int pythia__switching_keep_cycle(struct pythia__daemon *d, uint64_t unix_ns,
                                 const struct pythia_live_cycle *cycle)
{
    return pythia_state_add_cycle(d->state, unix_ns, d->vocabulary, cycle,
                                  (struct pythia_state_knower){know_point, d->controller});
}

/* What the planes know, for the state: texts are put down first, because they may move. */
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

static void keep_inventory(struct pythia__daemon *d)
{
    struct inventory v = {.d = d};
    size_t at = 0;
    if (pythia_controller_each(d->controller, list_point, &v) == PYTHIA_OK) {
        for (size_t i = 0; i < v.count; i++) {
            v.points[i].target.bytes = v.texts.bytes + at;
            at += v.points[i].target.size;
            v.points[i].id.bytes = v.texts.bytes + at;
            at += v.points[i].id.size;
        }
        (void)pythia_state_put_inventory(d->state, v.points, v.count);
    }
    pythia_free(v.points);
    pythia_buf_free(&v.texts);
}

/* Points that are new may be wanted already; prices may have changed. */
static int meet_inventory(struct pythia__daemon *d, uint64_t now)
{
    struct pythia_controller_numbers n = pythia_controller_numbers(d->controller);
    bool grown = n.points != d->points_met;
    if (!grown && now - d->met_ns < INVENTORY_NS)
        return PYTHIA_OK;
    struct inventory v = {.d = d};
    (void)pythia_passes_look(d->passes, pythia_live_space(d->live)); /* else as it was before */
    uint32_t before = pythia_vocabulary_tracepoints(d->vocabulary);
    int status = pythia_controller_each(d->controller, meet_point, &v);
    d->met_ns = now;
    if (status == PYTHIA_OK)
        d->points_met = n.points;
    uint32_t points = pythia_vocabulary_tracepoints(d->vocabulary);
    bool pinned = d->always && points != d->points_pinned; /* perhaps: pins may be patterns */
    if (status == PYTHIA_OK && (v.repriced || pinned))
        status = pythia_live_set_pins(d->live, d->always, d->never, d->fixed);
    if (status == PYTHIA_OK)
        d->points_pinned = points;
    if (status == PYTHIA_OK && pythia_vocabulary_tracepoints(d->vocabulary) != before)
        status = pythia__daemon_want(d);
    if (grown || d->kept_ns == 0 || now - d->kept_ns >= KEEP_NS) {
        keep_inventory(d);
        d->kept_ns = now;
    }
    return status;
}

/* ---- types that turn up later ---- */

/* Say in the log when points are opened to learn them, when that would be too often, and what was
 * not learnt with a type. */
static void tell_lessons(struct pythia__daemon *d)
{
    struct pythia_live_numbers n = pythia_live_numbers(d->live);
    if (n.lessons > d->lessons_told)
        pythia_log(PYTHIA_LOG_INFO,
                   "Opens trace points to learn request types that turned up: times=%" PRIu64,
                   n.lessons);
    if (n.lessons_cut > d->cut_told)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Request types are learnt without some of their trace points, because no more "
                   "may be open at once: points-open=%" PRId64,
                   d->s.points_open);
    bool waiting = n.types_waiting > 0 && !n.teaching;
    if (waiting && !d->waiting_told)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Request types wait to be learnt, because trace points were opened for others "
                   "as often as may be in an hour: types=%" PRIu64 ", learn-hourly=%" PRId64,
                   n.types_waiting, d->s.learn_hourly);
    if (n.unknown_points > 0 && n.unknown_points >= 2 * d->unknown_told) {
        pythia_log(
            PYTHIA_LOG_WARNING,
            "The search space does not know trace points of request types that it knows, and "
            "their spans are left out: learn it anew: points=%" PRIu64 ", spans=%" PRIu64,
            n.unknown_points, n.unknown_spans);
        d->unknown_told = n.unknown_points;
    }
    d->lessons_told = n.lessons;
    d->cut_told = n.lessons_cut;
    d->waiting_told = waiting;
}

bool pythia__switching_is_due(const struct pythia__daemon *d)
{
    return pythia_live_wish(d->live) != d->wish || d->version != d->tried;
}

int pythia__switching_tick(struct pythia__daemon *d, uint64_t now)
{
    int status = pythia_live_wish(d->live) != d->wish ? pythia__daemon_want(d) : PYTHIA_OK;
    d->tried = d->version;
    if (status == PYTHIA_OK)
        status = pythia_controller_tick(d->controller, now);
    if (status == PYTHIA_OK)
        status = meet_inventory(d, now);
    if (status == PYTHIA_OK && now - d->fixed_looked_ns >= INVENTORY_NS / 4) {
        d->fixed_looked_ns = now;
        status = pythia__fixed_look(d, now);
    }
    look_whether_in_force(d, now);
    tell_lessons(d);
    mend_state(d, now);
    return status;
}

/* ---- pins ---- */

struct pins {
    struct pythia_open_points *always, *never;
};

static int take_pin(void *context, struct pythia_text id, int pin)
{
    struct pins *p = context;
    return pythia_open_points_add_id(pin > 0 ? p->always : p->never, id);
}

static int take_pin_type(void *context, struct pythia_text id, struct pythia_text type)
{
    struct pins *p = context;
    return pythia_open_points_add_id_for(p->always, id, type);
}

static int add_all(struct pythia_open_points *to, const struct pythia_option_texts *texts)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < texts->count && status == PYTHIA_OK; i++)
        status = pythia_open_points_add(to, pythia_text_of(texts->texts[i]));
    return status;
}

int pythia__switching_read_pins(struct pythia__daemon *d, const struct pythia__settings *s)
{
    struct pins p = {0};
    int status = pythia_open_points_create(d->vocabulary, &p.always);
    if (status == PYTHIA_OK)
        status = pythia_open_points_create(d->vocabulary, &p.never);
    if (status == PYTHIA_OK)
        status = add_all(p.always, &s->always);
    if (status == PYTHIA_OK)
        status = add_all(p.never, &s->never);
    if (status == PYTHIA_OK)
        status = pythia_state_each_pin(d->state, take_pin, &p);
    if (status == PYTHIA_OK)
        status = pythia_state_each_pin_type(d->state, take_pin_type, &p);
    if (status == PYTHIA_OK) /* whatever else is said */
        status = pythia__budget_add_dropped(d, p.never);
    if (status == PYTHIA_OK)
        status = pythia__breaking_add_tripped(d, p.always, p.never);
    if (status == PYTHIA_OK && d->live)
        status = pythia_live_set_pins(d->live, p.always, p.never, d->fixed);
    struct pins old = status == PYTHIA_OK ? (struct pins){d->always, d->never} : p;
    if (status == PYTHIA_OK) {
        d->always = p.always;
        d->never = p.never;
        pythia_overhead_set_kept(d->overhead, d->always, d->fixed);
        pythia_breaker_set_pinned(d->breaker, d->always);
    }
    pythia_open_points_destroy(old.always);
    pythia_open_points_destroy(old.never);
    /* Before the search wants anything, it is for the pins alone to say what is open. */
    bool changed = d->live && (d->wish == 0 || pythia_live_wish(d->live) != d->wish);
    return status == PYTHIA_OK && changed ? pythia__daemon_want(d) : status;
}

int pythia__switching_pin(struct pythia__daemon *d, const struct pythia_text *ids, size_t count,
                          int pin, const struct pythia_text *types, size_t type_count)
{
    for (size_t i = 0; i < count; i++) {
        int status = type_count > 0 ? pythia_state_put_pin_for(d->state, ids[i], types, type_count)
                                    : pythia_state_put_pin(d->state, ids[i], pin);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia__switching_read_pins(d, &d->s);
}

/* ---- the planes ---- */

/* Set an option of a plane, if there is something to set. */
static int set_option(const struct pythia_control_ops *ops, void *settings, const char *name,
                      const char *text, struct pythia_error *e)
{
    const struct pythia_option *o = ops->options;
    while (o->name && strcmp(o->name, name) != 0)
        o++;
    return text && o->name ? pythia_option_set(o, settings, text, e) : PYTHIA_OK;
}

static int add_plane(const struct pythia__daemon *d, struct pythia_control **planes, size_t *count,
                     const char *name, const char *where, struct pythia_error *e)
{
    const struct pythia_control_ops *ops = pythia_control_named(name);
    struct pythia_error why = {0};
    void *settings = ops ? pythia_calloc(1, ops->settings_size + 1) : NULL;
    if (!settings)
        return pythia_error_set(e, PYTHIA_EUSAGE, "this pythiad has no control plane %s", name);
    pythia_options_default(ops->options, settings);
    int status = PYTHIA_OK;
    if (where) /* a plane's first option is where its targets are */
        status = pythia_option_set(&ops->options[0], settings, where, &why);
    if (status == PYTHIA_OK)
        status = set_option(ops, settings, "type-attribute", d->s.type_attribute, &why);
    if (status == PYTHIA_OK)
        status = ops->create(settings, &planes[*count], &why);
    pythia_free(settings);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "control plane %s: %s", name, why.sentence);
    ++*count;
    return PYTHIA_OK;
}

int pythia__switching_create(struct pythia__daemon *d, struct pythia_error *e)
{
    struct pythia_control *planes[4] = {NULL};
    struct pythia_controller_options o = {.lease_ns = (uint64_t)(d->s.lease_seconds * 1e9),
                                          .version = d->version,
                                          .keep_defaults = true,
                                          .see = see_point,
                                          .see_context = d};
    size_t count = 0;
    int status = add_plane(d, planes, &count, "http", NULL, e);
    if (status == PYTHIA_OK)
        d->agents = planes[0];
    if (status == PYTHIA_OK && d->s.gate)
        status = add_plane(d, planes, &count, "gate", d->s.gate, e);
    if (status == PYTHIA_OK && d->s.osprofiler)
        status = add_plane(d, planes, &count, "osprofiler", d->s.osprofiler, e);
    if (status != PYTHIA_OK) {
        while (count > 0) {
            count--;
            planes[count]->ops->destroy(planes[count]);
        }
        return status;
    }
    return pythia_controller_create(planes, count, &o, &d->controller);
}
