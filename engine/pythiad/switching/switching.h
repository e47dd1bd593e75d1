/* From what the engine wants open to the switches of the targets. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_SWITCHING_H
#define PYTHIA_PYTHIAD_SWITCHING_H

#include "switches.h"

/* Make the control planes that the settings name, and the controller of them. PYTHIA_OK, or
 * negative with the reason in `e`. */
int pythia__switching_create(struct pythia__switching *w, struct pythia_error *e);

/* Has something been wanted since the last tick? Then the next one need not be waited for. */
bool pythia__switching_is_due(const struct pythia__switching *w);

/* Do what is due: switches, new trace points, prices, and whether the set is in force. */
int pythia__switching_tick(struct pythia__switching *w, uint64_t now);

/* Give back what it holds. */
void pythia__switching_free(struct pythia__switching *w);

#endif
