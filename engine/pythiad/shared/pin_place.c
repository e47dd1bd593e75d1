#include "pin_place.h"

#include <string.h>

#include "pythia/instances.h"
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

/* A colon in what would be SERVICE makes it an id, of a service that has a slash in its name. */
bool pythia__pin_place_parse(struct pythia_text operand, struct pythia__pin_place *out)
{
    struct pythia_text rest = operand;
    struct pythia_text host = take_part(&rest, '/'), service = take_part(&rest, '/');
    if (host.size == operand.size || pythia_text_contains(host, PYTHIA_TEXT(":")) ||
        pythia_text_contains(service, PYTHIA_TEXT(":")))
        return false;
    *out = (struct pythia__pin_place){.host = host, .service = service};
    out->process = take_part(&rest, '/');
    out->function = rest;
    return true;
}

static bool is_any(struct pythia_text part)
{
    return part.size == 0 || PYTHIA_TEXT_IS(part, "*");
}

bool pythia__pin_place_is_limited(const struct pythia__pin_place *place)
{
    return !is_any(place->host) || !is_any(place->process);
}

bool pythia__pin_place_fits(const struct pythia__pin_place *place, struct pythia_text service,
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

int pythia__pin_place_add(struct pythia_open_points *to, const char *text)
{
    struct pythia__pin_place place;
    struct pythia_text id = pythia_text_of(text);
    return pythia__pin_place_parse(id, &place) ? pythia_open_points_add_id(to, id)
                                               : pythia_open_points_add(to, id);
}

/* A backslash quotes the next character of a pattern, so nothing matches one that ends with it. */
static bool ends_with_backslash(struct pythia_text part)
{
    size_t count = 0;
    while (count < part.size && part.bytes[part.size - 1 - count] == '\\')
        count++;
    return count % 2 == 1;
}

int pythia__pin_place_check(const char *name, const char *text, struct pythia_error *e)
{
    struct pythia_text operand = pythia_text_of(text);
    struct pythia__pin_place place;
    if (operand.size == 0)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "%s: an empty text names no trace point; for all of them, give '*'",
                                name);
    if (!pythia__pin_place_parse(operand, &place))
        return PYTHIA_OK;
    const struct {
        const char *name;
        struct pythia_text text;
    } parts[] = {{"HOST", place.host},
                 {"SERVICE", place.service},
                 {"PROCESS", place.process},
                 {"FUNCTION", place.function}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].text.size > PYTHIA_INSTANCES_BYTES)
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "%s: %s of '%.60s...' can match nothing: it is longer than %d "
                                    "bytes",
                                    name, parts[i].name, text, PYTHIA_INSTANCES_BYTES);
        if (ends_with_backslash(parts[i].text))
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "%s: %s of '%s' can match nothing: it ends with a backslash; "
                                    "write two of them for one",
                                    name, parts[i].name, text);
    }
    return PYTHIA_OK;
}
