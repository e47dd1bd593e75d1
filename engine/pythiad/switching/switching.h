/* From what the engine wants open to the switches of the targets. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_SWITCHING_H
#define PYTHIA_PYTHIAD_SWITCHING_H

#include "daemon/daemon.h"

/* Make the control planes that the settings name, and the controller of them. PYTHIA_OK, or
 * negative with the reason in `e`. */
int pythia__switching_create(struct pythia__daemon *d, struct pythia_error *e);

/* Has something been wanted since the last tick? Then the next one need not be waited for. */
bool pythia__switching_is_due(const struct pythia__daemon *d);

/* Do what is due: switches, new trace points, prices, and whether the set is in force. */
int pythia__switching_tick(struct pythia__daemon *d, uint64_t now);

/* What is known of a point beside what its plane says: what programs have measured of its passes,
 * and the spans that came. */
struct pythia_controller_seen pythia__switching_see(const struct pythia__daemon *d,
                                                    struct pythia_text id);

/* Keep a cycle and its decisions in the state, with what was known of the trace points then.
 * PYTHIA_OK, or the state's status. */
int pythia__switching_keep_cycle(struct pythia__daemon *d, uint64_t unix_ns,
                                 const struct pythia_live_cycle *cycle);

/* Take the pins of the settings and those by hand, which the state keeps. PYTHIA_OK or negative,
 * with the pins as they were. */
int pythia__switching_read_pins(struct pythia__daemon *d, const struct pythia__settings *s);

/* Pin trace points by hand: 1 open, -1 closed, 0 as the search decides; with `types` (type_count 0:
 * none) open for requests of these types only. PYTHIA_OK, or negative with a part of it kept for
 * the next start. */
int pythia__switching_pin(struct pythia__daemon *d, const struct pythia_text *ids, size_t count,
                          int pin, const struct pythia_text *types, size_t type_count);

#endif
