#ifndef PYTHIA_CONTROL_PROBE_H
#define PYTHIA_CONTROL_PROBE_H

#include "pythia/buf.h"
#include "pythia/control.h"

/* The records of the points of a plane "probe": the plane opens them, on its thread, and another
 * thread reads their hits. Either may go first. */
struct pythia_probe_feed;

/* The feed of a plane "probe"; to be released. */
struct pythia_probe_feed *pythia_control_probe_feed(struct pythia_control *c);

/* Append what was recorded since the last call: frames of pythia-records(5), often none. One thread
 * at a time. PYTHIA_OK, or negative with the reason in `e`. */
int pythia_probe_feed_read(struct pythia_probe_feed *f, struct pythia_buf *to,
                           struct pythia_error *e);
void pythia_probe_feed_release(struct pythia_probe_feed *f);

#endif
