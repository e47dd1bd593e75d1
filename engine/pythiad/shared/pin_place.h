/* The operand HOST/SERVICE/PROCESS/FUNCTION of orders and settings: trace points of services, and
 * the instances of these that it means. */
#ifndef PYTHIA_PYTHIAD_PIN_PLACE_H
#define PYTHIA_PYTHIAD_PIN_PLACE_H

#include <stdbool.h>

#include "pythia/error.h"
#include "pythia/open_points.h"
#include "pythia/text.h"

/* An operand's four parts; texts are borrowed from it. An empty part means any, and so does one
 * that is missing at the end. FUNCTION may have slashes. */
struct pythia__pin_place {
    struct pythia_text host, service, process, function;
};

/* Is it such an operand: does it have a slash, and no colon in HOST and SERVICE? Ids of trace
 * points have a colon after the service, so that a pattern of ids can be told from it. */
bool pythia__pin_place_parse(struct pythia_text operand, struct pythia__pin_place *out);

/* Does it name single instances, or all of them? */
bool pythia__pin_place_is_limited(const struct pythia__pin_place *place);

/* Does a trace point of that service match? FUNCTION is compared with the id without its service,
 * and with what follows the scope in it. */
bool pythia__pin_place_fits(const struct pythia__pin_place *place, struct pythia_text service,
                            struct pythia_text id);

/* Add a text of --always or --never to its set of ids and patterns. One of that form is added only
 * as an id: what it matches depends on the inventory. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__pin_place_add(struct pythia_open_points *to, const char *text);

/* Can a text of the setting `name` (always, never) match anything? PYTHIA_OK, or PYTHIA_EUSAGE with
 * the reason in `e`. */
int pythia__pin_place_check(const char *name, const char *text, struct pythia_error *e);

#endif
