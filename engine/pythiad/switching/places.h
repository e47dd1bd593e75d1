/* Pins that hold at some instances only: the operand HOST/SERVICE/PROCESS/FUNCTION of an order, and
 * what is pinned so. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_PLACES_H
#define PYTHIA_PYTHIAD_PLACES_H

#include "switches.h"

/* An operand's four parts; texts are borrowed of it. An empty part means any, and so does one that
 * is missing at the end. FUNCTION may have slashes. */
struct pythia__place {
    struct pythia_text host, service, process, function;
};

/* Is it such an operand: has it a slash, and no colon before the first one? All ids of trace points
 * have a colon after the service, so that a pattern of ids can be told from it. */
bool pythia__places_parse(struct pythia_text operand, struct pythia__place *out);

/* Does it name single instances, or all of them? */
bool pythia__places_is_limited(const struct pythia__place *place);

/* Does a trace point of that service match? FUNCTION is compared with the id without its service,
 * and with what follows the scope in it. */
bool pythia__places_fits(const struct pythia__place *place, struct pythia_text service,
                         struct pythia_text id);

/* The pins of the state that hold at some instances only, as wishes: `except` is set in those that
 * close. *out owned. PYTHIA_OK or negative. */
int pythia__places_read(struct pythia_state *state, struct pythia_wishes *out);

#endif
