/* Less is traced while there is much load. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_LOAD_H
#define PYTHIA_PYTHIAD_LOAD_H

#include "switches.h"

/* While the load of the last minute is above --max-load1 (0: any), or more spans arrive than
 * --max-spans-s (0: any), close all that is neither pinned open nor of the skeleton, until there
 * is a fifth less than that: logged, and nothing is closed while a search space is learnt. `spans`:
 * that have arrived so far. Looks once a second. PYTHIA_OK or negative. */
int pythia__load_tick(struct pythia__switching *w, uint64_t now, uint64_t spans);

#endif
