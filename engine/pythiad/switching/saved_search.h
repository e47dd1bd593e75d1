/* The search of a pythiad that is alone, in its state: what it knows after each cycle that brought
 * something new, so that a start goes on where the last one ended, and shows its verdicts from the
 * first moment. A member of a Kafka group takes its search from the group (kafka/kafka_snapshot.c);
 * both use live_snapshot.h.
 *
 *   a cycle ends ──> due ──> the next tick at which the pace allows it ──> state
 *   a stop        ──────────> before the last, unfinished cycle is ended ──> the same
 *   a start       <── state: with the same settings the search goes on, else a new one begins
 *
 * A write takes some ms for each megabyte, on the event loop, and waits for the disk. So there are
 * at most one a second and 256 KiB a second on average; a crash loses what came since. What cannot
 * be read is put aside in the state, with the reason in the log, and a new search begins.
 *
 * Saved beside it are the verdicts, and the instances that were chosen (chosen.h). */
#ifndef PYTHIA_PYTHIAD_SAVED_SEARCH_H
#define PYTHIA_PYTHIAD_SAVED_SEARCH_H

#include "switches.h"

/* At the start, for an engine that has had no request: go on with the search of the state. `live`
 * has the settings that must be the same. True: it does. False: there is none, or it cannot be used
 * (logged, and put aside if it is broken), and the engine has to be made again. */
bool pythia__saved_search_restore(struct pythia__switching *w);

/* Is there a search in the state? */
bool pythia__saved_search_exists(struct pythia__switching *w);

/* A cycle has ended; time has passed; pythiad stops, and the current cycle is about to be ended
 * before it is full. */
void pythia__saved_search_cycle(struct pythia__switching *w, const struct pythia_live_cycle *cycle);
void pythia__saved_search_tick(struct pythia__switching *w, uint64_t now);
void pythia__saved_search_stop(struct pythia__switching *w);

/* Show, from now on, the verdicts that were saved with the search that the engine has restored.
 * PYTHIA_OK, PYTHIA_EFORMAT for a text that is broken, or PYTHIA_ENOMEM: then there are none. */
int pythia__saved_search_show(struct pythia__switching *w, struct pythia_text verdicts);

#endif
