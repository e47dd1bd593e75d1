/* Pins: of the settings, by hand, and those of what costs too much. */
#include "pins.h"

#include "desired.h"
#include "places.h"
#include "pythia/log.h"
#include "pythia/status.h"
#include "shared/pin_place.h"

struct pins {
    struct pythia_open_points *always, *never;
    struct pythia__place_matches matches;
    struct pythia_wishes placed;
};

static int take_stored_pin(void *context, struct pythia_text id, int pin)
{
    struct pins *p = context;
    return pythia_open_points_add_id(pin > 0 ? p->always : p->never, id);
}

static int take_stored_pin_type(void *context, struct pythia_text id, struct pythia_text type)
{
    struct pins *p = context;
    return pythia_open_points_add_id_for(p->always, id, type);
}

static int add_pin_texts(struct pythia_open_points *to, const struct pythia_option_texts *texts)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < texts->count; i++)
        if ((status = pythia__pin_place_add(to, texts->texts[i])) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

/* What places of the settings match at all instances is pinned like an id. */
static int add_matched_everywhere(struct pins *p)
{
    for (size_t i = 0; i < p->matches.everywhere.count; i++) {
        const struct pythia_control_wish *wish = &p->matches.everywhere.wishes[i];
        int status =
            wish->at_count > 0 ? pythia_open_points_add_id(p->always, wish->id) : PYTHIA_OK;
        if (status == PYTHIA_OK && wish->except_count > 0)
            status = pythia_open_points_add_id(p->never, wish->id);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

struct closing {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *always, *never;
};

static int add_dropped(void *context, const struct pythia_overhead_dropped *p)
{
    const struct closing *a = context;
    return pythia_open_points_add_id(a->never,
                                     pythia_vocabulary_tracepoint_id(a->vocabulary, p->tracepoint));
}

static int add_tripped(void *context, const struct pythia_breaker_event *e)
{
    const struct closing *a = context;
    if (pythia_open_points_has(a->always, e->tracepoint))
        return PYTHIA_OK;
    return pythia_open_points_add_id(a->never,
                                     pythia_vocabulary_tracepoint_id(a->vocabulary, e->tracepoint));
}

/* While the machine is busy, all but the skeleton and what is pinned open. */
static int add_overloaded(const struct pythia__switching *w, struct pythia_open_points *always,
                          struct pythia_open_points *never)
{
    uint32_t points = w->overloaded ? pythia_vocabulary_tracepoints(w->e->vocabulary) : 0;
    for (uint32_t i = 0; i < points; i++) {
        if (pythia_live_in_skeleton(w->e->live, i) || pythia_open_points_has(always, i))
            continue;
        int status =
            pythia_open_points_add_id(never, pythia_vocabulary_tracepoint_id(w->e->vocabulary, i));
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* The budget, the breaker and the load come last, as they close points whatever the pins say. */
static int collect_pins(struct pythia__switching *w, const struct pythia__settings *s,
                        struct pins *p)
{
    int status = pythia_open_points_create(w->e->vocabulary, &p->always);
    if (status != PYTHIA_OK ||
        (status = pythia_open_points_create(w->e->vocabulary, &p->never)) != PYTHIA_OK ||
        (status = add_pin_texts(p->always, &s->always)) != PYTHIA_OK ||
        (status = add_pin_texts(p->never, &s->never)) != PYTHIA_OK ||
        (w->controller && pythia__places_are_in(s) &&
         (status = pythia__places_match(w, s, &p->matches)) != PYTHIA_OK) ||
        (status = add_matched_everywhere(p)) != PYTHIA_OK ||
        (status = pythia_state_each_pin(w->e->state, take_stored_pin, p)) != PYTHIA_OK ||
        (status = pythia_state_each_pin_type(w->e->state, take_stored_pin_type, p)) != PYTHIA_OK ||
        (status = pythia__places_read(w->e->state, &p->matches, &p->placed)) != PYTHIA_OK)
        return status;
    struct closing closing = {w->e->vocabulary, p->always, p->never};
    if ((status = pythia_overhead_each(w->overhead, add_dropped, &closing)) != PYTHIA_OK)
        return status;
    if ((status = pythia_breaker_each(w->breaker, add_tripped, &closing)) != PYTHIA_OK)
        return status;
    return add_overloaded(w, p->always, p->never);
}

static void tell_misplaced(struct pythia__switching *w)
{
    if (w->matches.misplaced > w->misplaced_told)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Trace points that always or never names at some instances are left to the "
                   "search, because their control plane has one switch for all instances of a "
                   "service: trace-points=%zu",
                   w->matches.misplaced);
    w->misplaced_told = w->matches.misplaced;
}

/* Pins take effect all together or not at all: the former sets stay in use until the search has
 * accepted the new ones. */
int pythia__switching_read_pins(struct pythia__switching *w, const struct pythia__settings *s)
{
    struct pins p = {0};
    int status = collect_pins(w, s, &p);
    if (status != PYTHIA_OK)
        goto out;
    if (w->e->live &&
        (status = pythia_live_set_pins(w->e->live, p.always, p.never, w->fixed)) != PYTHIA_OK)
        goto out;
    struct pins former = {w->always, w->never, w->matches, w->placed};
    bool placed = former.placed.count > 0 || p.placed.count > 0;
    w->always = p.always;
    w->never = p.never;
    w->matches = p.matches;
    w->placed = p.placed;
    w->has_places = pythia__places_are_in(s);
    tell_misplaced(w);
    p = former; /* nothing borrows them any more, once these two have the new ones */
    pythia_overhead_set_kept(w->overhead, w->always, w->fixed);
    pythia_breaker_set_pinned(w->breaker, w->always);
    /* Before the search desires a set, the pins alone decide what is open. It does not know of pins
     * at some instances. */
    if (w->e->live && (w->wish == 0 || pythia_live_wish(w->e->live) != w->wish || placed))
        status = pythia__switching_want(w);
out:
    pythia_open_points_destroy(p.always);
    pythia_open_points_destroy(p.never);
    pythia__places_free(&p.matches);
    pythia_wishes_free(&p.placed);
    return status;
}

/* Only pins that hold everywhere concern the search: it would lose the evidence of a cycle each
 * time that an instance of a service reports points for the first time. */
int pythia__switching_match_places(struct pythia__switching *w, uint64_t changes)
{
    struct pythia__place_matches matches = {0};
    struct pythia_wishes placed = {0};
    if (!w->has_places || changes == w->changes_matched)
        return PYTHIA_OK;
    int status = pythia__places_match(w, &w->e->s, &matches);
    if (status != PYTHIA_OK)
        return status;
    if (!pythia_wishes_equal(&matches.everywhere, &w->matches.everywhere)) {
        status = pythia__switching_read_pins(w, &w->e->s);
        goto out;
    }
    bool same = pythia_wishes_equal(&matches.placed, &w->matches.placed);
    if (!same && (status = pythia__places_read(w->e->state, &matches, &placed)) != PYTHIA_OK)
        goto out;
    struct pythia__place_matches former = w->matches;
    w->matches = matches;
    matches = former;
    tell_misplaced(w);
    if (same)
        goto out;
    struct pythia_wishes former_placed = w->placed;
    w->placed = placed;
    placed = former_placed;
    status = pythia__switching_want(w);
out:
    if (status == PYTHIA_OK)
        w->changes_matched = changes;
    pythia__places_free(&matches);
    pythia_wishes_free(&placed);
    return status;
}

int pythia__switching_pin(struct pythia__switching *w, const struct pythia_text *ids, size_t count,
                          const struct pythia__pin *pin)
{
    for (size_t i = 0; i < count; i++) {
        int status = pin->place_count > 0 ? pythia_state_put_pin_at(w->e->state, ids[i], pin->value,
                                                                    pin->places, pin->place_count)
                     : pin->type_count > 0 ? pythia_state_put_pin_for(w->e->state, ids[i],
                                                                      pin->types, pin->type_count)
                                           : pythia_state_put_pin(w->e->state, ids[i], pin->value);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia__switching_read_pins(w, &w->e->s);
}
