#ifndef PYTHIA_LTTNG_RULES_H
#define PYTHIA_LTTNG_RULES_H

#include "pythia/probe_rules.h"
#include "pythia/text.h"

/* The rules by which events of LTTng become spans (pythia_event_rules_parse): a point is an event
 * that begins its span and one that ends it, "PROVIDER:NAME" of both. A hit of either has a slot
 * for each key of its point, in order of the keys; which field of the event goes there is in
 * `fields`. Does not change once it was read: threads may share it. */
struct pythia_lttng_rules;

/* The field of an event: by its name, or (NULL) by its number, 0 for the first. */
struct pythia_lttng_field {
    const char *name;
    unsigned number;
};

#define PYTHIA_LTTNG_EVENT_BYTES 256 /* of "PROVIDER:NAME", as LTTng has it, with its NUL */

/* Points that are functions or waits of the kernel are no events: they are logged and left out.
 * PYTHIA_OK with *out owned, or negative with file, line and reason in `e`. */
int pythia_lttng_rules_read(const char *path, struct pythia_lttng_rules **out,
                            struct pythia_error *e);
/* As above, of the text of a file that was read before (`path` is for messages); nothing is logged.
 */
int pythia_lttng_rules_parse(const char *path, struct pythia_text text,
                             struct pythia_lttng_rules **out, struct pythia_error *e);
void pythia_lttng_rules_free(struct pythia_lttng_rules *r); /* r may be NULL */

/* The file that they were read from, and its text; borrowed. */
const char *pythia_lttng_rules_path(const struct pythia_lttng_rules *r);
struct pythia_text pythia_lttng_rules_text(const struct pythia_lttng_rules *r);

/* Borrowed; the arguments of keys are their slots. */
const struct pythia_probe_rules *pythia_lttng_rules_of(const struct pythia_lttng_rules *r);

/* Is the point one of two events? */
bool pythia_lttng_rules_has_events(const struct pythia_lttng_rules *r, size_t point);

/* The field that goes into a slot of hits of a point. */
struct pythia_lttng_field pythia_lttng_rules_field(const struct pythia_lttng_rules *r, size_t point,
                                                   size_t slot);

/* "PROVIDER:NAME" of the event that begins (or, `done`, ends) a point; cut at the size of `out`. */
void pythia_lttng_rules_event(const struct pythia_lttng_rules *r, size_t point, bool done,
                              char out[PYTHIA_LTTNG_EVENT_BYTES]);

/* The point of an event; SIZE_MAX if no point has it. O(1). */
size_t pythia_lttng_rules_find(const struct pythia_lttng_rules *r, const char *event, bool *done);

#endif
