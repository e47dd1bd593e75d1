/* The fields of an event as the arguments of a hit. */
#ifndef PYTHIA_LTTNG_EVENT_FIELDS_H
#define PYTHIA_LTTNG_EVENT_FIELDS_H

#include "babeltrace.h"
#include "pythia/lttng_rules.h"
#include "pythia/probe_hit.h"

/* What a hit has besides its time and its thread. */
struct pythia__event_values {
    uint16_t texts; /* which slots are texts, as in struct pythia_probe_hit */
    uint16_t count; /* slots */
    int64_t values[PYTHIA_PROBE_KEYS_MAX];
    char bytes[PYTHIA_PROBE_TEXT_BYTES];
    uint16_t bad;                           /* slots whose field is not there, or not of the kind */
    const char *why[PYTHIA_PROBE_KEYS_MAX]; /* of each that is bad */
};

/* Read the fields that the keys of a point have of the event that begins (or, `done`, ends) it.
 * `payload` may be NULL. A slot without a field has no value, and its key is left out. */
void pythia__event_fields_read(const struct pythia_lttng_rules *rules, size_t point, bool done,
                               const bt_field *payload, struct pythia__event_values *out);

/* An integer of a structure (NULL: none), by its name. */
bool pythia__event_fields_integer(const bt_field *structure, const char *name, int64_t *out);

#endif
