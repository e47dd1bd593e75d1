/* Pins that hold at some instances only: orders and settings of the form HOST/SERVICE/PROCESS/
 * FUNCTION (shared/pin_place.h). All calls are the loop's.
 *
 * They are kept as one wish for each trace point: `at` has the places where it is pinned open, and
 * is never NULL, `except` those where it is pinned closed. Where both have an instance, it is
 * closed. */
#ifndef PYTHIA_PYTHIAD_PLACES_H
#define PYTHIA_PYTHIAD_PLACES_H

#include "switches.h"

/* Does a text of --always or --never have that form? */
bool pythia__places_are_in(const struct pythia__settings *s);

/* What such texts match in the inventory of the control planes now. Points of planes that have one
 * switch for all instances of a service are left out of `placed`, and counted. *out owned. O(points
 * x texts). PYTHIA_OK or negative. */
int pythia__places_match(const struct pythia__switching *w, const struct pythia__settings *s,
                         struct pythia__place_matches *out);
void pythia__places_free(struct pythia__place_matches *m); /* also makes it empty again */

/* The pins of the state that hold at some instances only, together with those that the settings
 * match. *out owned. PYTHIA_OK or negative. */
int pythia__places_read(struct pythia_state *state, const struct pythia__place_matches *matches,
                        struct pythia_wishes *out);

/* Log how texts of the settings that were patterns of ids in earlier releases are read. */
void pythia__places_tell(const struct pythia__settings *s);

#endif
