/* From what the engine wants open to the switches of the targets. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_SWITCHING_H
#define PYTHIA_PYTHIAD_SWITCHING_H

#include "daemon.h"

/* Make the control planes that the settings name, and the controller of them. PYTHIA_OK, or
 * negative with the reason in `e`. */
int pythia__switching_create(struct pythia__daemon *d, struct pythia_error *e);

/* Has something been wanted since the last tick? Then the next one need not be waited for. */
bool pythia__switching_is_due(const struct pythia__daemon *d);

/* Do what is due: switches, new trace points, prices, and whether the set is in force. */
int pythia__switching_tick(struct pythia__daemon *d, uint64_t now);

/* Take the pins of the settings and those by hand, which the state keeps. PYTHIA_OK or negative,
 * with the pins as they were. */
int pythia__switching_read_pins(struct pythia__daemon *d, const struct pythia__settings *s);

/* Pin trace points by hand: 1 open, -1 closed, 0 as the search decides. PYTHIA_OK, or negative with
 * a part of it kept for the next start. */
int pythia__switching_pin(struct pythia__daemon *d, const struct pythia_text *ids, size_t count,
                          int pin);

#endif
