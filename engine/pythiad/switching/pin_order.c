#include "pin_order.h"

#include <stdio.h>

#include "fixed.h"
#include "pins.h"
#include "pythia/instances.h"
#include "pythia/mem.h"
#include "pythia/open_points.h"
#include "pythia/status.h"
#include "shared/pin_place.h"

/* A trace point of an order. */
struct ordered {
    uint32_t point;
    json_t *places; /* owned; texts "HOST/PROCESS"; NULL: everywhere */
};

/* The result of an order. */
struct order {
    struct pythia__switching *w;
    int pin;
    bool services; /* points of the skeleton are left to the search, all others are pinned */
    struct ordered *points; /* owned */
    size_t count, capacity;
    json_t *unknown, *not_switchable, *not_placeable; /* owned; texts of the order */
    bool placed;                                      /* one of them names some instances only */
    struct pythia_text *types; /* owned; texts are borrowed of the vocabulary */
    size_t type_count, type_capacity;
    json_t *unknown_types; /* owned */
};

static bool may_pin(const struct order *o, uint32_t point)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(o->w->e->vocabulary, point);
    return o->pin == 0 || pythia__fixed_is_switchable(o->w, id);
}

/* `place` NULL: everywhere, whatever other texts of the order say. */
static int add_pinned_point(struct order *o, uint32_t point, const char *place)
{
    size_t at = 0;
    while (at < o->count && o->points[at].point != point)
        at++;
    bool met = at < o->count;
    if (met && !o->points[at].places)
        return PYTHIA_OK;
    if (!met && pythia_grow(&o->points, &o->capacity, o->count, sizeof(*o->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (!met)
        o->points[o->count++] = (struct ordered){point, NULL};
    struct ordered *p = &o->points[at];
    if (!place) {
        json_decref(p->places);
        p->places = NULL;
        return PYTHIA_OK;
    }
    o->placed = true;
    p->places = p->places ? p->places : json_array();
    return json_array_append_new(p->places, json_string(place)) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
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
        if ((status = add_pinned_point(o, point, NULL)) != PYTHIA_OK)
            return status;
    }
    if (added)
        return PYTHIA_OK;
    return refuse_name(any ? o->not_switchable : o->unknown, name);
}

/* An operand HOST/SERVICE/PROCESS/FUNCTION, and what matches it so far. */
struct placing {
    struct order *order;
    struct pythia__pin_place place;
    char at[PYTHIA_INSTANCES_BYTES + 1]; /* "HOST/PROCESS"; empty: everywhere */
    bool any, switchable, added;
};

/* Ends one beyond PYTHIA__PINS_MAX, which refuses the order. A point that several planes have is
 * pinned at some instances only if all of them can do that. */
static int place_point(void *context, const struct pythia_controlled *p)
{
    struct placing *l = context;
    struct order *o = l->order;
    uint32_t point = pythia_vocabulary_tracepoint_find(o->w->e->vocabulary, p->id);
    if (point == PYTHIA_NONE || !pythia__pin_place_fits(&l->place, p->target, p->id))
        return PYTHIA_OK;
    l->any = true;
    if (!may_pin(o, point))
        return PYTHIA_OK;
    l->switchable = true;
    if (l->at[0] && !pythia_controller_tells_instances(o->w->controller, p->id))
        return PYTHIA_OK;
    l->added = true;
    int status = add_pinned_point(o, point, l->at[0] ? l->at : NULL);
    return status != PYTHIA_OK ? status : o->count <= PYTHIA__PINS_MAX ? PYTHIA_OK : PYTHIA_ELIMIT;
}

static int add_placed(struct order *o, json_t *name, const struct pythia__pin_place *place)
{
    struct placing l = {.order = o, .place = *place};
    if (pythia__pin_place_is_limited(place))
        snprintf(l.at, sizeof(l.at), "%.*s/%.*s", (int)place->host.size, place->host.bytes,
                 (int)place->process.size, place->process.bytes);
    int status = pythia_controller_each(o->w->controller, place_point, &l);
    if (status != PYTHIA_OK && status != PYTHIA_ELIMIT)
        return status;
    if (l.added)
        return PYTHIA_OK;
    return refuse_name(l.switchable ? o->not_placeable
                       : l.any      ? o->not_switchable
                                    : o->unknown,
                       name);
}

/* A text that is an id is taken as that: names of statements have * and ? in them. */
static int add_point_name(struct order *o, json_t *name)
{
    struct pythia_text text = pythia_text_of(json_string_value(name));
    uint32_t point = pythia_vocabulary_tracepoint_find(o->w->e->vocabulary, text);
    struct pythia__pin_place place;
    if (point == PYTHIA_NONE && text.size <= PYTHIA_INSTANCES_BYTES &&
        pythia__pin_place_parse(text, &place))
        return add_placed(o, name, &place);
    if (point == PYTHIA_NONE && pythia_open_points_is_pattern(text))
        return add_matches(o, name);
    if (point == PYTHIA_NONE)
        return refuse_name(o->unknown, name);
    return may_pin(o, point) ? add_pinned_point(o, point, NULL)
                             : refuse_name(o->not_switchable, name);
}

/* Points from `first` on that are to be pinned at the same places; *next: the first of others. */
static int pin_alike(struct order *o, int value, size_t first, size_t *next,
                     struct pythia_text *ids)
{
    json_t *at = o->points[first].places, *text;
    struct pythia_text *places = pythia_calloc(json_array_size(at) + 1, sizeof(*places));
    size_t count = 0, i, end = first;
    if (!places)
        return PYTHIA_ENOMEM;
    json_array_foreach (at, i, text)
        places[i] = (struct pythia_text){json_string_value(text), json_string_length(text)};
    for (; end < o->count && (o->points[end].places == at || json_equal(o->points[end].places, at));
         end++)
        if (pin_of(o, o->points[end].point) == value)
            ids[count++] =
                pythia_vocabulary_tracepoint_id(o->w->e->vocabulary, o->points[end].point);
    *next = end;
    const struct pythia__pin pin = {value, o->types, value ? places : NULL, o->type_count,
                                    value ? json_array_size(at) : 0};
    int status = count > 0 ? pythia__switching_pin(o->w, ids, count, &pin) : PYTHIA_OK;
    if (status == PYTHIA_OK && count > 0 && o->w->share_pin)
        o->w->share_pin(o->w->share_context, ids, count, &pin);
    pythia_free(places);
    return status;
}

/* Pin those that are to be pinned so. */
static int pin_points(struct order *o, int value, struct pythia_text *ids)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < o->count && status == PYTHIA_OK;)
        status = pin_alike(o, value, i, &i, ids);
    return status;
}

/* What --never closes stays closed, at all instances or at that place. */
static bool is_place_obeyed(const struct order *o, const struct ordered *p, struct pythia_text id,
                            int pin)
{
    size_t found = pythia_wishes_find(&o->w->placed, id), i;
    const json_t *place;
    if (found == PYTHIA_NO_WISH)
        return false;
    const struct pythia_control_wish *pinned = &o->w->placed.wishes[found];
    if (pin < 0)
        return pinned->except_count > 0;
    if (pinned->at_count == 0 || pythia_open_points_has(o->w->never, p->point))
        return false;
    json_array_foreach (p->places, i, place)
        for (size_t k = 0; k < pinned->except_count; k++)
            if (pythia_text_equal(pinned->except[k], pythia_text_of(json_string_value(place))))
                return false;
    return true;
}

static bool is_obeyed(const struct order *o, const struct ordered *p)
{
    int pin = pin_of(o, p->point);
    struct pythia_text id = pythia_vocabulary_tracepoint_id(o->w->e->vocabulary, p->point);
    if (pin == 0)
        return true;
    if (p->places)
        return is_place_obeyed(o, p, id, pin);
    return pythia_live_is_open(o->w->e->live, p->point) == (pin > 0);
}

/* Open before closing: in between, too much is open rather than too little. */
static unsigned do_order(struct order *o, json_t **answer)
{
    struct pythia_text *ids = pythia_calloc(o->count, sizeof(*ids));
    size_t obeyed = 0;
    int status = ids ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (int pin = 1; pin >= -1 && status == PYTHIA_OK; pin--)
        status = pin_points(o, pin, ids);
    for (size_t i = 0; i < o->count; i++)
        obeyed += is_obeyed(o, &o->points[i]);
    pythia_free(ids);
    *answer = status == PYTHIA_OK
                  ? json_pack("{s:I, s:I, s:I}", "trace_points", (json_int_t)o->count, "obeyed",
                              (json_int_t)obeyed, "desired_version", (json_int_t)o->w->version)
                  : json_pack("{s:s}", "error", pythia_status_text(status));
    return status == PYTHIA_OK ? 200 : 503;
}

/* What an order cannot say of some instances; NULL: nothing. */
static const char *find_misplaced(const struct order *o)
{
    if (!o->placed)
        return NULL;
    if (o->pin == 0 && !o->services)
        return "a pin is removed at all instances; leave out HOST and PROCESS";
    return o->type_count > 0 ? "\"types\" cannot be combined with HOST or PROCESS" : NULL;
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
    if (json_array_size(o->not_placeable) > 0) {
        *answer =
            json_pack("{s:s, s:s, s:O}", "error",
                      "these trace points cannot be switched at some instances only", "reason",
                      "their control plane has one switch for all instances of a service; "
                      "leave out HOST and PROCESS",
                      "not_switchable", o->not_placeable);
        return 409;
    }
    const char *misplaced = find_misplaced(o);
    if (misplaced) {
        *answer = json_pack("{s:s}", "error", misplaced);
        return 400;
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
                      .not_placeable = json_array(),
                      .unknown_types = json_array()};
    const json_t *types = json_object_get(order, "types");
    json_t *name;
    unsigned code = 503;
    size_t i;
    *answer = NULL;
    if (!o.unknown || !o.not_switchable || !o.not_placeable || !o.unknown_types)
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
    json_decref(o.not_placeable);
    json_decref(o.unknown_types);
    pythia_free(o.types);
    for (size_t p = 0; p < o.count; p++)
        json_decref(o.points[p].places);
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
