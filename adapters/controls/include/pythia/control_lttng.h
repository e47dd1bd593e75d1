#ifndef PYTHIA_CONTROL_LTTNG_H
#define PYTHIA_CONTROL_LTTNG_H

#include "pythia/buf.h"
#include "pythia/control.h"

/* The records of the points of a plane "lttng": the plane has a session, and switches its events;
 * another thread follows it. Either may go first. */
struct pythia_lttng_feed;

/* The feed of a plane "lttng"; to be released. */
struct pythia_lttng_feed *pythia_control_lttng_feed(struct pythia_control *c);

/* Append what was recorded since the last call: frames of pythia-records(5), often none. One thread
 * at a time. PYTHIA_OK, or negative with the reason in `e`: a relay daemon that is gone is no
 * failure. */
int pythia_lttng_feed_read(struct pythia_lttng_feed *f, struct pythia_buf *to,
                           struct pythia_error *e);
void pythia_lttng_feed_release(struct pythia_lttng_feed *f);

#endif
