/* The circuit breaker: a trace point that costs a program too much is closed at once, whatever the
 * search wants. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_BREAKING_H
#define PYTHIA_PYTHIAD_BREAKING_H

#include "switches.h"

/* Begin to measure, with the limit of the settings. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__breaking_create(struct pythia__switching *w);

/* Close what has become too expensive, and release what was closed for long enough; reported in the
 * log, and recorded as decisions. Looks ten times a second. PYTHIA_OK or negative. */
int pythia__breaking_tick(struct pythia__switching *w, uint64_t now);

#endif
