/* The state that a restart continues with: the version of the desired set, and whether all is off;
 * and where it has no search to go on with (saved_search.h) the search space and what was open
 * beyond its skeleton. Then the evidence of requests is gathered anew, within a cycle, and the
 * search closes what it does not need any more. */
#ifndef PYTHIA_PYTHIAD_RESTORE_H
#define PYTHIA_PYTHIAD_RESTORE_H

#include "switches.h"

/* Read the version of the desired set, so that it goes on rising. PYTHIA_OK, PYTHIA_EIO or
 * PYTHIA_ENOMEM. */
int pythia__restore_version(struct pythia__switching *w);

/* Before the engine is made: take the search space of the state, if none came from a file, and give
 * what is to be open at first: pins, and what was. *open is owned by the caller, NULL: pins alone.
 * PYTHIA_OK or negative. */
int pythia__restore_search(struct pythia__switching *w, struct pythia_open_points **open);

/* After it was made: all is off, if it was. */
int pythia__restore_off(struct pythia__switching *w);

/* Before anybody can ask: the agents' plane and the engine know the points of the state, and the
 * planes are told what shall be open. An agent that asks at once gets no empty list. PYTHIA_OK or
 * negative. */
int pythia__restore_switches(struct pythia__switching *w);

#endif
