#include "pin_order.h"

#include "fixed.h"
#include "pins.h"
#include "pythia/mem.h"
#include "pythia/open_points.h"
#include "pythia/status.h"

/* The result of an order. */
struct order {
    struct pythia__switching *w;
    int pin;
    bool services;    /* points of the skeleton are left to the search, all others are pinned */
    uint32_t *points; /* owned; trace points */
    size_t count, capacity;
    json_t *unknown, *not_switchable; /* owned; texts of the order */
    struct pythia_text *types;        /* owned; texts are borrowed of the vocabulary */
    size_t type_count, type_capacity;
    json_t *unknown_types; /* owned */
};

static bool may_pin(const struct order *o, uint32_t point)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(o->w->e->vocabulary, point);
    return o->pin == 0 || pythia__fixed_is_switchable(o->w, id);
}

static int add_pinned_point(struct order *o, uint32_t point)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->points[i] == point)
            return PYTHIA_OK;
    if (pythia_grow(&o->points, &o->capacity, o->count, sizeof(*o->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    o->points[o->count++] = point;
    return PYTHIA_OK;
}

static int pin_of(const struct order *o, uint32_t point)
{
    return o->services && pythia_live_in_skeleton(o->w->e->live, point) ? 0 : o->pin;
}

static int refuse_name(json_t *list, json_t *name)
{
    return json_array_append(list, name) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Stops one beyond PYTHIA__PINS_MAX, which refuses the order. */
static int add_matches(struct order *o, json_t *name)
{
    uint32_t points = pythia_vocabulary_tracepoints(o->w->e->vocabulary);
    bool any = false, added = false;
    int status = PYTHIA_OK;
    for (uint32_t point = 0; point < points && o->count <= PYTHIA__PINS_MAX; point++) {
        struct pythia_text id = pythia_vocabulary_tracepoint_id(o->w->e->vocabulary, point);
        if (!pythia_open_points_fits(json_string_value(name), id))
            continue;
        any = true;
        if (!may_pin(o, point))
            continue;
        added = true;
        if ((status = add_pinned_point(o, point)) != PYTHIA_OK)
            return status;
    }
    if (added)
        return PYTHIA_OK;
    return refuse_name(any ? o->not_switchable : o->unknown, name);
}

/* A text that is an id is taken as that: names of statements have * and ? in them. */
static int add_point_name(struct order *o, json_t *name)
{
    struct pythia_text text = pythia_text_of(json_string_value(name));
    uint32_t point = pythia_vocabulary_tracepoint_find(o->w->e->vocabulary, text);
    if (point == PYTHIA_NONE && pythia_open_points_is_pattern(text))
        return add_matches(o, name);
    if (point == PYTHIA_NONE)
        return refuse_name(o->unknown, name);
    return may_pin(o, point) ? add_pinned_point(o, point) : refuse_name(o->not_switchable, name);
}

/* Pin those that are to be pinned so. */
static int pin_points(struct order *o, int pin, struct pythia_text *ids)
{
    size_t count = 0;
    for (size_t i = 0; i < o->count; i++)
        if (pin_of(o, o->points[i]) == pin)
            ids[count++] = pythia_vocabulary_tracepoint_id(o->w->e->vocabulary, o->points[i]);
    if (count == 0)
        return PYTHIA_OK;
    int status = pythia__switching_pin(o->w, ids, count, pin, o->types, o->type_count);
    if (status == PYTHIA_OK && o->w->share_pin)
        o->w->share_pin(o->w->share_context, ids, count, pin, o->types, o->type_count);
    return status;
}

/* Open before closing: in between, too much is open rather than too little. */
static unsigned do_order(struct order *o, json_t **answer)
{
    struct pythia_text *ids = pythia_calloc(o->count, sizeof(*ids));
    size_t obeyed = 0;
    int status = ids ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (int pin = 1; pin >= -1 && status == PYTHIA_OK; pin--)
        status = pin_points(o, pin, ids);
    for (size_t i = 0; i < o->count; i++) {
        int pin = pin_of(o, o->points[i]);
        obeyed += pin == 0 || pythia_live_is_open(o->w->e->live, o->points[i]) == (pin > 0);
    }
    pythia_free(ids);
    *answer = status == PYTHIA_OK
                  ? json_pack("{s:I, s:I, s:I}", "trace_points", (json_int_t)o->count, "obeyed",
                              (json_int_t)obeyed, "desired_version", (json_int_t)o->w->version)
                  : json_pack("{s:s}", "error", pythia_status_text(status));
    return status == PYTHIA_OK ? 200 : 503;
}

/* An order is carried out completely or not at all: one unknown id refuses it. */
static unsigned refuse_or_do(struct order *o, json_t **answer)
{
    if (json_array_size(o->unknown) > 0) {
        *answer = json_pack("{s:s, s:O}", "error", "unknown trace points", "unknown", o->unknown);
        return 404;
    }
    if (json_array_size(o->unknown_types) > 0) {
        *answer =
            json_pack("{s:s, s:O}", "error", "unknown request types", "unknown", o->unknown_types);
        return 404;
    }
    if (json_array_size(o->not_switchable) > 0) {
        *answer = json_pack("{s:s, s:s, s:O}", "error", "these trace points cannot be switched",
                            "reason", pythia__fixed_advice(), "not_switchable", o->not_switchable);
        return 409;
    }
    if (o->count > PYTHIA__PINS_MAX) {
        *answer = json_pack("{s:s}", "error", "the patterns match more than 1000 trace points");
        return 400;
    }
    if (o->type_count > PYTHIA__PIN_TYPES_MAX) {
        *answer = json_pack("{s:s}", "error", "the patterns match more than 1000 request types");
        return 400;
    }
    return do_order(o, answer);
}

static int add_pin_type(struct order *o, struct pythia_text type)
{
    for (size_t i = 0; i < o->type_count; i++)
        if (pythia_text_equal(o->types[i], type))
            return PYTHIA_OK;
    if (pythia_grow(&o->types, &o->type_capacity, o->type_count, sizeof(*o->types)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    o->types[o->type_count++] = type;
    return PYTHIA_OK;
}

/* A pattern, and the known types that match it. */
struct matching {
    struct order *order;
    const char *pattern;
    bool any;
};

/* Returns 1, which ends it, one beyond PYTHIA__PIN_TYPES_MAX: that refuses the order. */
static int match_type(void *context, uint32_t type)
{
    struct matching *m = context;
    struct pythia_text name = pythia_vocabulary_text(m->order->w->e->vocabulary, type);
    if (!pythia_open_points_fits(m->pattern, name))
        return 0;
    m->any = true;
    int status = add_pin_type(m->order, name);
    if (status != PYTHIA_OK)
        return status;
    return m->order->type_count > PYTHIA__PIN_TYPES_MAX ? 1 : PYTHIA_OK;
}

/* A request type is known when one of it was learnt, or is being learnt. A text that is the name of
 * one is taken as that, and else as a pattern. */
static int add_type_name(struct order *o, json_t *type)
{
    struct pythia_text text = {json_string_value(type), json_string_length(type)};
    uint32_t number = pythia_vocabulary_string_find(o->w->e->vocabulary, text);
    struct matching m = {.order = o, .pattern = text.bytes};
    if (number != PYTHIA_NONE && pythia_live_has_type(o->w->e->live, number))
        return add_pin_type(o, pythia_vocabulary_text(o->w->e->vocabulary, number));
    if (pythia_open_points_is_pattern(text) &&
        pythia_live_each_type(o->w->e->live, match_type, &m) == PYTHIA_ENOMEM)
        return PYTHIA_ENOMEM;
    return m.any ? PYTHIA_OK : refuse_name(o->unknown_types, type);
}

static int add_types(struct order *o, const json_t *types)
{
    json_t *type;
    size_t i;
    int status = PYTHIA_OK;
    json_array_foreach (types, i, type)
        if ((status = add_type_name(o, type)) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

/* All names are checked before the first point is pinned: an order is obeyed as a whole, or
 * refused with all that is wrong with it. */
static unsigned pin_order(struct pythia__switching *w, const json_t *order, int pin, bool services,
                          json_t **answer)
{
    struct order o = {.w = w,
                      .pin = pin,
                      .services = services,
                      .unknown = json_array(),
                      .not_switchable = json_array(),
                      .unknown_types = json_array()};
    const json_t *types = json_object_get(order, "types");
    json_t *name;
    unsigned code = 503;
    size_t i;
    *answer = NULL;
    if (!o.unknown || !o.not_switchable || !o.unknown_types)
        goto out;
    json_array_foreach (json_object_get(order, "trace_points"), i, name)
        if (add_point_name(&o, name) != PYTHIA_OK)
            goto out;
    if (types && add_types(&o, types) != PYTHIA_OK)
        goto out;
    code = refuse_or_do(&o, answer);
out:
    json_decref(o.unknown);
    json_decref(o.not_switchable);
    json_decref(o.unknown_types);
    pythia_free(o.types);
    pythia_free(o.points);
    return code;
}

unsigned pythia__pin(struct pythia__switching *w, const json_t *order, int pin, json_t **answer)
{
    return pin_order(w, order, pin, false, answer);
}

unsigned pythia__set_level(struct pythia__switching *w, const json_t *order, json_t **answer)
{
    static const int pins[] = {-1, -1, 0, 1};
    enum { SERVICE = 1 };
    const char *level = json_string_value(json_object_get(order, "level"));
    int index = level ? pythia_option_choice_index(PYTHIA__LEVELS, level) : -1;
    if (index < 0) {
        *answer = json_pack("{s:s}", "error", "\"level\" is one of " PYTHIA__LEVELS);
        return 400;
    }
    if (index == SERVICE && pythia_live_numbers(w->e->live).learning) {
        *answer = json_pack("{s:s}", "error",
                            "the search space is being learnt: which trace points are entry points "
                            "is not known yet");
        return 409;
    }
    return pin_order(w, order, pins[index], index == SERVICE, answer);
}
