/* Trace points that are open or closed whatever the search wants. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_PINS_H
#define PYTHIA_PYTHIAD_PINS_H

#include "switches.h"

/* Take the pins of the settings and those by hand, which the state keeps. PYTHIA_OK or negative,
 * with the pins as they were. */
int pythia__switching_read_pins(struct pythia__switching *w, const struct pythia__settings *s);

/* Compare the places of the settings with the inventory, if that has changed since they were: it
 * has changed `changes` times so far. O(1) if there are none. PYTHIA_OK or negative. */
int pythia__switching_match_places(struct pythia__switching *w, uint64_t changes);

/* Pin trace points by hand. PYTHIA_OK, or negative with a part of it kept for the next start. */
int pythia__switching_pin(struct pythia__switching *w, const struct pythia_text *ids, size_t count,
                          const struct pythia__pin *pin);

#endif
