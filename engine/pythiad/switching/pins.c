/* Pins: of the settings, by hand, and those of what costs too much. */
#include "pins.h"

#include "desired.h"
#include "pythia/status.h"

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

int pythia__switching_read_pins(struct pythia__switching *w, const struct pythia__settings *s)
{
    struct pins p = {0};
    int status = pythia_open_points_create(w->e->vocabulary, &p.always);
    if (status == PYTHIA_OK)
        status = pythia_open_points_create(w->e->vocabulary, &p.never);
    if (status == PYTHIA_OK)
        status = add_all(p.always, &s->always);
    if (status == PYTHIA_OK)
        status = add_all(p.never, &s->never);
    if (status == PYTHIA_OK)
        status = pythia_state_each_pin(w->e->state, take_pin, &p);
    if (status == PYTHIA_OK)
        status = pythia_state_each_pin_type(w->e->state, take_pin_type, &p);
    struct closing closing = {w->e->vocabulary, p.always, p.never};
    if (status == PYTHIA_OK) /* whatever else is said */
        status = pythia_overhead_each(w->overhead, add_dropped, &closing);
    if (status == PYTHIA_OK)
        status = pythia_breaker_each(w->breaker, add_tripped, &closing);
    if (status == PYTHIA_OK && w->e->live)
        status = pythia_live_set_pins(w->e->live, p.always, p.never, w->fixed);
    struct pins old = status == PYTHIA_OK ? (struct pins){w->always, w->never} : p;
    if (status == PYTHIA_OK) {
        w->always = p.always;
        w->never = p.never;
        pythia_overhead_set_kept(w->overhead, w->always, w->fixed);
        pythia_breaker_set_pinned(w->breaker, w->always);
    }
    pythia_open_points_destroy(old.always);
    pythia_open_points_destroy(old.never);
    /* Before the search wants anything, it is for the pins alone to say what is open. */
    bool changed = w->e->live && (w->wish == 0 || pythia_live_wish(w->e->live) != w->wish);
    return status == PYTHIA_OK && changed ? pythia__switching_want(w) : status;
}

int pythia__switching_pin(struct pythia__switching *w, const struct pythia_text *ids, size_t count,
                          int pin, const struct pythia_text *types, size_t type_count)
{
    for (size_t i = 0; i < count; i++) {
        int status = type_count > 0
                         ? pythia_state_put_pin_for(w->e->state, ids[i], types, type_count)
                         : pythia_state_put_pin(w->e->state, ids[i], pin);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia__switching_read_pins(w, &w->e->s);
}
