/* The inventory of trace points, and what is known of them. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_INVENTORY_H
#define PYTHIA_PYTHIAD_INVENTORY_H

#include "switches.h"

/* Facts about a point that its plane does not know: the measured cost of its hits, and the spans
 * that arrived. */
struct pythia_controller_seen pythia__switching_see(const struct pythia__switching *w,
                                                    struct pythia_text id);

/* Keep a cycle and its decisions in the state, with what was known of the trace points then.
 * PYTHIA_OK, or the state's status. */
int pythia__switching_keep_cycle(struct pythia__switching *w, uint64_t unix_ns,
                                 const struct pythia_live_cycle *cycle);

/* Meet what is new among the points of the planes, and their prices, once a second or when there
 * are more; write them down once a minute. PYTHIA_OK or negative. O(points). */
int pythia__switching_meet_inventory(struct pythia__switching *w, uint64_t now);

#endif
