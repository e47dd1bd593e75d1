/* The plane says which session is to be followed, and hears what became of it. */
#ifndef PYTHIA_CONTROLS_LTTNG_FEED_H
#define PYTHIA_CONTROLS_LTTNG_FEED_H

#include "pythia/control_lttng.h"
#include "pythia/lttng_rules.h"

/* Takes the rules over, also on failure. PYTHIA_OK with *out to be released, or PYTHIA_ENOMEM. */
int pythia__lttng_feed_create(struct pythia_lttng_rules *rules, struct pythia_lttng_feed **out);

/* Valid while the feed is not released. */
const struct pythia_lttng_rules *pythia__lttng_feed_rules(const struct pythia_lttng_feed *f);

/* One more user of it, that releases it. */
struct pythia_lttng_feed *pythia__lttng_feed_share(struct pythia_lttng_feed *f);

/* Follow the session with this number, which rises; "": none. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__lttng_feed_follow(struct pythia_lttng_feed *f, uint64_t number, const char *url);

/* Events are being enabled or disabled from now on, or no more. */
void pythia__lttng_feed_switch(struct pythia_lttng_feed *f, bool switching);

/* What an event costs a program, in ns, as it was last measured; NaN: it was not. */
double pythia__lttng_feed_price(struct pythia_lttng_feed *f);

enum pythia__lttng_feed_state {
    PYTHIA__LTTNG_FEED_TRIES,   /* it is not followed yet */
    PYTHIA__LTTNG_FEED_FOLLOWS, /* as of the last second */
    PYTHIA__LTTNG_FEED_HANGS,   /* the relay daemon has not answered for longer than that */
    PYTHIA__LTTNG_FEED_LOST,    /* it was followed, and cannot be any more */
    PYTHIA__LTTNG_FEED_BROKEN,  /* what comes of it cannot be read, and another one may be as bad */
};

/* The state of the session with this number, and for LOST, BROKEN and TRIES why it is not followed.
 */
enum pythia__lttng_feed_state pythia__lttng_feed_look(struct pythia_lttng_feed *f, uint64_t number,
                                                      uint64_t now_ns, char why[320]);

#endif
