/* Hands the desired set from the engine to the controller and the state. All calls are the
 * loop's. */
#ifndef PYTHIA_PYTHIAD_DESIRED_H
#define PYTHIA_PYTHIAD_DESIRED_H

#include "switches.h"

/* The engine's set has changed: hand it on. PYTHIA_OK or negative. */
int pythia__switching_want(struct pythia__switching *w);

/* Write down what earlier searches opened, and what this one did so far. PYTHIA_OK, also if the
 * state cannot be written, or PYTHIA_ENOMEM. */
int pythia__switching_keep_history(struct pythia__switching *w);

/* If the state could not be written: try again, with what it has to know by now. */
void pythia__switching_mend(struct pythia__switching *w, uint64_t now);

#endif
