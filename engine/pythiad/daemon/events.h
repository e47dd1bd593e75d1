/* Server-sent events: clients that are told the status whenever it changes, so that a page needs to
 * ask for nothing while nothing happens. */
#ifndef PYTHIA_PYTHIAD_EVENTS_H
#define PYTHIA_PYTHIAD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "listen/http_server.h"
#include "pythia/buf.h"

struct pythia__events;

/* `write` appends the status as JSON in one line; it is called with `context`. PYTHIA_OK with *out
 * owned, or PYTHIA_ENOMEM. */
int pythia__events_create(void (*write)(void *context, struct pythia_buf *to), void *context,
                          struct pythia__events **out);
/* After the HTTP servers, whose clients they are; e may be NULL. */
void pythia__events_destroy(struct pythia__events *e);

/* A new client. It gets the status at once; one above the limit is answered with 503. */
void pythia__events_join(struct pythia__events *e, struct pythia__http_exchange *x,
                         uint64_t now_ns);

/* Tell the clients if something has changed, at most four times a second, and send a heartbeat if
 * nothing has for 15 s. A client that does not read what it gets is closed. Called in each turn of
 * the loop; without clients it does nothing. */
void pythia__events_turn(struct pythia__events *e, uint64_t now_ns);

/* End all streams, and let nobody join. */
void pythia__events_stop(struct pythia__events *e);

struct pythia__event_numbers {
    uint64_t clients, refused, dropped; /* at this time; above the limit; that did not read */
};
struct pythia__event_numbers pythia__events_numbers(const struct pythia__events *e);

#endif
