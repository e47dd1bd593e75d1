#include "places.h"

#include <stdio.h>
#include <stdlib.h>

#include "pythia/instances.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/pin_place.h"

/* ---- pins as they are found ---- */

struct placed_pin {
    struct pythia_text id, place; /* of a text that may move, while pins are added: only sizes */
    bool closes;
    bool one_switch; /* of a plane that cannot tell instances apart */
};

struct placed_pins {
    struct placed_pin *pins; /* owned */
    size_t count, capacity;
    struct pythia_buf texts; /* of each pin its id and its place */
};

static void free_placed_pins(struct placed_pins *p)
{
    pythia_free(p->pins);
    pythia_buf_free(&p->texts);
}

static int add_placed_pin(struct placed_pins *p, struct placed_pin pin)
{
    if (pythia_grow(&p->pins, &p->capacity, p->count, sizeof(*p->pins)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->pins[p->count++] = pin;
    pythia_buf_text_add(&p->texts, pin.id);
    pythia_buf_text_add(&p->texts, pin.place);
    return pythia_buf_status(&p->texts);
}

/* In order of id, and of one id those that open first. */
static int compare_placed_pins(const void *a, const void *b)
{
    const struct placed_pin *x = a, *y = b;
    int order = pythia_text_compare(x->id, y->id);
    return order ? order : x->closes - y->closes;
}

static void sort_placed_pins(struct placed_pins *p)
{
    const char *at = p->texts.bytes;
    for (size_t i = 0; i < p->count; i++) {
        p->pins[i].id.bytes = at;
        p->pins[i].place.bytes = at + p->pins[i].id.size;
        at += p->pins[i].id.size + p->pins[i].place.size;
    }
    if (p->count > 1)
        qsort(p->pins, p->count, sizeof(*p->pins), compare_placed_pins);
}

/* The sorted pins as one wish for each id. *out owned. PYTHIA_OK or PYTHIA_ENOMEM. */
static int join_placed_pins(const struct placed_pins *p, struct pythia_wishes *out)
{
    struct pythia_text *places = pythia_calloc(p->count + 1, sizeof(*places));
    struct pythia_control_wish *wishes = pythia_calloc(p->count + 1, sizeof(*wishes));
    size_t count = 0;
    int status = PYTHIA_ENOMEM;
    if (!places || !wishes)
        goto out;
    for (size_t i = 0; i < p->count; i++) {
        places[i] = p->pins[i].place;
        if (count == 0 || !pythia_text_equal(wishes[count - 1].id, p->pins[i].id))
            wishes[count++] = (struct pythia_control_wish){.id = p->pins[i].id, .at = &places[i]};
        struct pythia_control_wish *wish = &wishes[count - 1];
        if (!p->pins[i].closes)
            wish->at_count++;
        else if (wish->except_count++ == 0)
            wish->except = &places[i];
    }
    status = pythia_wishes_copy(wishes, count, out);
out:
    pythia_free(places);
    pythia_free(wishes);
    return status;
}

/* ---- settings ---- */

bool pythia__places_are_in(const struct pythia__settings *s)
{
    const struct pythia_option_texts *const all[] = {&s->always, &s->never};
    struct pythia__pin_place place;
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < all[a]->count; i++)
            if (pythia__pin_place_parse(pythia_text_of(all[a]->texts[i]), &place))
                return true;
    return false;
}

void pythia__places_tell(const struct pythia__settings *s)
{
    const struct pythia_option_texts *const all[] = {&s->always, &s->never};
    struct pythia__pin_place place;
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < all[a]->count; i++)
            if (pythia__pin_place_parse(pythia_text_of(all[a]->texts[i]), &place) &&
                pythia_text_contains(place.host, PYTHIA_TEXT("*")))
                pythia_log(PYTHIA_LOG_INFO,
                           "This is read as HOST/SERVICE/PROCESS/FUNCTION; a pattern of ids has a "
                           "colon after the service, as in *:*/x: setting=%s, text=%s",
                           a == 0 ? "always" : "never", all[a]->texts[i]);
}

/* One text of the settings, and what it matches. */
struct matching {
    const struct pythia__switching *w;
    struct pythia__pin_place place;
    struct pythia_text text;
    char at[2 * PYTHIA_INSTANCES_BYTES + 2]; /* "HOST/PROCESS"; empty: everywhere */
    bool closes;
    struct placed_pins *everywhere, *placed;
};

static int match_point(void *context, const struct pythia_controlled *p)
{
    const struct matching *m = context;
    if (!pythia__pin_place_fits(&m->place, p->target, p->id))
        return PYTHIA_OK;
    const struct placed_pin pin = {p->id, pythia_text_of(m->at), m->closes,
                                   !pythia_control_named(p->plane)->by_instance};
    return add_placed_pin(m->at[0] ? m->placed : m->everywhere, pin);
}

/* A text that is the id of a trace point is taken as that, as in orders. */
static int match_text(struct matching *m, const char *text, bool closes)
{
    m->text = pythia_text_of(text);
    m->closes = closes;
    if (!pythia__pin_place_parse(m->text, &m->place) ||
        pythia_vocabulary_tracepoint_find(m->w->e->vocabulary, m->text) != PYTHIA_NONE)
        return PYTHIA_OK;
    m->at[0] = '\0';
    if (pythia__pin_place_is_limited(&m->place))
        snprintf(m->at, sizeof(m->at), "%.*s/%.*s", (int)m->place.host.size, m->place.host.bytes,
                 (int)m->place.process.size, m->place.process.bytes);
    return pythia_controller_each(m->w->controller, match_point, m);
}

/* A point that several planes have is pinned at some instances only if all of them can do that.
 * Returns how many points are left out. */
static size_t drop_misplaced(struct placed_pins *p)
{
    size_t kept = 0, dropped = 0;
    for (size_t i = 0, end; i < p->count; i = end) {
        bool one_switch = false;
        for (end = i; end < p->count && pythia_text_equal(p->pins[end].id, p->pins[i].id); end++)
            one_switch = one_switch || p->pins[end].one_switch;
        dropped += one_switch;
        for (size_t k = i; k < end && !one_switch; k++)
            p->pins[kept++] = p->pins[k];
    }
    p->count = kept;
    return dropped;
}

int pythia__places_match(const struct pythia__switching *w, const struct pythia__settings *s,
                         struct pythia__place_matches *out)
{
    struct placed_pins everywhere = {0}, placed = {0};
    struct matching m = {.w = w, .everywhere = &everywhere, .placed = &placed};
    struct pythia__place_matches found = {0};
    int status = PYTHIA_OK;
    for (size_t i = 0; i < s->always.count && status == PYTHIA_OK; i++)
        status = match_text(&m, s->always.texts[i], false);
    for (size_t i = 0; i < s->never.count && status == PYTHIA_OK; i++)
        status = match_text(&m, s->never.texts[i], true);
    if (status != PYTHIA_OK)
        goto out;
    sort_placed_pins(&everywhere);
    sort_placed_pins(&placed);
    found.misplaced = drop_misplaced(&placed);
    if ((status = join_placed_pins(&everywhere, &found.everywhere)) != PYTHIA_OK ||
        (status = join_placed_pins(&placed, &found.placed)) != PYTHIA_OK)
        goto out;
    *out = found;
    found = (struct pythia__place_matches){0};
out:
    pythia__places_free(&found);
    free_placed_pins(&everywhere);
    free_placed_pins(&placed);
    return status;
}

void pythia__places_free(struct pythia__place_matches *m)
{
    pythia_wishes_free(&m->everywhere);
    pythia_wishes_free(&m->placed);
    m->misplaced = 0;
}

/* ---- settings and orders ---- */

static int take_stored_place(void *context, struct pythia_text id, int pin,
                             struct pythia_text place)
{
    return add_placed_pin(context, (struct placed_pin){id, place, pin < 0, false});
}

static int add_matched_places(struct placed_pins *p, const struct pythia_control_wish *wish)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < wish->at_count && status == PYTHIA_OK; i++)
        status = add_placed_pin(p, (struct placed_pin){wish->id, wish->at[i], false, false});
    for (size_t i = 0; i < wish->except_count && status == PYTHIA_OK; i++)
        status = add_placed_pin(p, (struct placed_pin){wish->id, wish->except[i], true, false});
    return status;
}

int pythia__places_read(struct pythia_state *state, const struct pythia__place_matches *matches,
                        struct pythia_wishes *out)
{
    struct placed_pins p = {0};
    int status = pythia_state_each_pin_place(state, take_stored_place, &p);
    for (size_t i = 0; i < matches->placed.count && status == PYTHIA_OK; i++)
        status = add_matched_places(&p, &matches->placed.wishes[i]);
    if (status == PYTHIA_OK) {
        sort_placed_pins(&p);
        status = join_placed_pins(&p, out);
    }
    free_placed_pins(&p);
    return status;
}
