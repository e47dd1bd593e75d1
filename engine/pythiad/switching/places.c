#include "places.h"

#include <string.h>

#include "pythia/instances.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* Cut off the text up to the first `separator`, or all of it. */
static struct pythia_text take_part(struct pythia_text *text, char separator)
{
    const char *end = text->size ? memchr(text->bytes, separator, text->size) : NULL;
    struct pythia_text part = {text->bytes, end ? (size_t)(end - text->bytes) : text->size};
    size_t used = part.size + (end != NULL);
    *text = (struct pythia_text){text->bytes + used, text->size - used};
    return part;
}

bool pythia__places_parse(struct pythia_text operand, struct pythia__place *out)
{
    struct pythia_text rest = operand;
    struct pythia_text host = take_part(&rest, '/');
    if (host.size == operand.size || pythia_text_contains(host, PYTHIA_TEXT(":")))
        return false;
    *out = (struct pythia__place){.host = host};
    out->service = take_part(&rest, '/');
    out->process = take_part(&rest, '/');
    out->function = rest;
    return true;
}

static bool is_any(struct pythia_text part)
{
    return part.size == 0 || PYTHIA_TEXT_IS(part, "*");
}

bool pythia__places_is_limited(const struct pythia__place *place)
{
    return !is_any(place->host) || !is_any(place->process);
}

bool pythia__places_fits(const struct pythia__place *place, struct pythia_text service,
                         struct pythia_text id)
{
    struct pythia_text name = id;
    bool own =
        id.size > service.size && pythia_text_starts(id, service) && id.bytes[service.size] == ':';
    if (own)
        name = (struct pythia_text){id.bytes + service.size + 1, id.size - service.size - 1};
    else
        take_part(&name, ':');
    struct pythia_text last = name;
    take_part(&last, ':');
    return pythia_instances_fits(place->service, service) &&
           (pythia_instances_fits(place->function, name) ||
            (last.size > 0 && pythia_instances_fits(place->function, last)));
}

/* ---- what is pinned ---- */

struct placed_pin {
    size_t id_size, place_size;
    bool closes;
};

struct placed_pins {
    struct placed_pin *pins; /* owned */
    size_t count, capacity;
    struct pythia_buf texts; /* of each pin its id and its place */
};

static int take_placed_pin(void *context, struct pythia_text id, int pin, struct pythia_text place)
{
    struct placed_pins *p = context;
    if (pythia_grow(&p->pins, &p->capacity, p->count, sizeof(*p->pins)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->pins[p->count++] = (struct placed_pin){id.size, place.size, pin < 0};
    pythia_buf_text_add(&p->texts, id);
    pythia_buf_text_add(&p->texts, place);
    return pythia_buf_status(&p->texts);
}

/* The places of one pin come one after the other, and become those of one wish. */
static size_t join_places(const struct placed_pins *p, struct pythia_text *places,
                          struct pythia_control_wish *wishes)
{
    size_t count = 0;
    const char *at = p->texts.bytes;
    for (size_t i = 0; i < p->count; i++) {
        struct pythia_text id = {at, p->pins[i].id_size};
        places[i] = (struct pythia_text){at + id.size, p->pins[i].place_size};
        at += id.size + places[i].size;
        if (count == 0 || !pythia_text_equal(wishes[count - 1].id, id))
            wishes[count++] = (struct pythia_control_wish){
                .id = id, .at = &places[i], .except = p->pins[i].closes};
        wishes[count - 1].at_count++;
    }
    return count;
}

int pythia__places_read(struct pythia_state *state, struct pythia_wishes *out)
{
    struct placed_pins p = {0};
    struct pythia_text *places = NULL;
    struct pythia_control_wish *wishes = NULL;
    int status = pythia_state_each_pin_place(state, take_placed_pin, &p);
    if (status != PYTHIA_OK)
        goto out;
    places = pythia_calloc(p.count + 1, sizeof(*places));
    wishes = pythia_calloc(p.count + 1, sizeof(*wishes));
    status = places && wishes ? pythia_wishes_copy(wishes, join_places(&p, places, wishes), out)
                              : PYTHIA_ENOMEM;
out:
    pythia_free(places);
    pythia_free(wishes);
    pythia_free(p.pins);
    pythia_buf_free(&p.texts);
    return status;
}
