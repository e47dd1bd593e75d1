#ifndef PYTHIA_LIVE_H
#define PYTHIA_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/groups.h"
#include "pythia/search.h"
#include "pythia/space.h"
#include "pythia/span_batch.h"
#include "pythia/window.h"

/* The engine attached to a stream: spans go in, requests are cut out of them, and when a cycle is
 * full the search decides. It throws no switch and knows no socket, file or clock: whoever owns it
 * gives it the time and carries out what it wants open. The same code as `pythia replay
 * --closed-loop`, so that a recorded stream, replayed, gives the same groups, shares and
 * explanation. One thread at a time.
 *
 *   learning: without a search space, the first requests are taken with whatever is open to make
 *             one; then it searches
 *   searching: cycles */
struct pythia_live;

struct pythia_live_options {
    struct pythia_window_options window;
    struct pythia_groups_options groups;
    struct pythia_search_options search;
    size_t cycle_requests; /* of one type; 0: 100 */
    uint64_t cycle_ns;     /* a cycle ends then at the latest, if it has any request; 0: 60 s */
    size_t learn_requests; /* of each type, before a type is searched; 0: 50 */
};

/* What came of a cycle. All of it is borrowed for the call. */
struct pythia_live_cycle {
    struct pythia_cycle decisions;
    const struct pythia_groups *groups;
    uint64_t requests;  /* seen whole with one set of open points */
    uint64_t under_way; /* begun before the last switch was in force: kept apart */
    uint64_t spans, begin_ns, end_ns;
};

/* Gets each cycle; negative stops the caller of _add or _tick. */
struct pythia_live_taker {
    int (*cycle)(void *context, const struct pythia_live_cycle *cycle);
    void *context;
};

/* `vocabulary` and `space` (NULL: learn it) are borrowed. PYTHIA_OK with *out owned, or
 * PYTHIA_ENOMEM. */
int pythia_live_create(struct pythia_vocabulary *vocabulary, struct pythia_space *space,
                       const struct pythia_live_options *options, struct pythia_live_taker taker,
                       struct pythia_live **out);
void pythia_live_destroy(struct pythia_live *l); /* l may be NULL */

/* Add what was decoded from one body. PYTHIA_OK, PYTHIA_ENOMEM or what the taker returned. */
int pythia_live_add(struct pythia_live *l, const struct pythia_span_batch *batch, uint64_t now_ns);
int pythia_live_tick(struct pythia_live *l, uint64_t now_ns);
int pythia_live_drain(
    struct pythia_live *l); /* no more will come: finish requests, end the cycle */

/* Should senders be told to wait? */
bool pythia_live_is_full(const struct pythia_live *l);

/* The set of open points that the last decisions want is in force at all targets since this time
 * (Unix epoch, ns, by the clock of spans). Requests that began earlier are kept apart. */
void pythia_live_applied(struct pythia_live *l, uint64_t since_ns);

/* Trace points that exist although no span of them was seen yet, as a control plane's inventory
 * knows them. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_live_know(struct pythia_live *l, struct pythia_text id);

/* Pause and resume deciding ("off" and "on"): while paused cycles are cut and told, and nothing is
 * opened or closed. */
void pythia_live_pause(struct pythia_live *l, bool paused);

bool pythia_live_is_open(const struct pythia_live *l, uint32_t tracepoint); /* is it wanted open? */
const struct pythia_space *pythia_live_space(const struct pythia_live *l);
const struct pythia_counts *pythia_live_counts(const struct pythia_live *l);
struct pythia_window_numbers pythia_live_window(const struct pythia_live *l);

#endif
