#ifndef PYTHIA_BREAKER_H
#define PYTHIA_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/open_points.h"
#include "pythia/prices.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

/* A circuit breaker for trace points: it finds those that cost a program more than a limit, as soon
 * as their spans arrive. Finished requests, which the overhead (overhead.h) is computed from, come
 * seconds later, and the search decides only at the end of a cycle.
 *
 * The cost of a trace point in a program (a resource: a process on a host) is the number of its
 * spans that ended in one second of the program's clock, times the price of a hit: the price that
 * programs have measured lately, or that a control plane has reported. A point without a measured
 * price never trips. Seconds are the program's, because senders deliver in batches: 5 s of spans
 * may arrive at once. A point above the limit in any program is closed for all, because a control
 * plane switches a service as a whole.
 *
 * A tripped point stays closed for the hold time, or until it is pinned open. Points that are
 * pinned open, points where requests enter a program (most of their spans have no parent, or are of
 * servers or consumers, or the search keeps them open as such: without them nothing would be seen),
 * and points that nothing can switch do not trip. One thread at a time. */
struct pythia_breaker;

struct pythia_breaker_options {
    double limit_ns;              /* a second, of one program; 0: none */
    uint64_t hold_ns;             /* 0: until it is pinned open */
    struct pythia_prices *prices; /* that control planes know; NULL: none; borrowed */
    /* Can a control plane close this point? NULL: each. */
    bool (*is_switchable)(void *context, uint32_t tracepoint);
    /* Does the search keep it open because requests enter a service there? NULL: none. */
    bool (*is_entry)(void *context, uint32_t tracepoint);
    void *context;
};

/* `vocabulary` is borrowed. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_breaker_create(const struct pythia_vocabulary *vocabulary,
                          const struct pythia_breaker_options *options,
                          struct pythia_breaker **out);
void pythia_breaker_destroy(struct pythia_breaker *b); /* b may be NULL */

/* Another limit from now on; with 0 the next _look releases all points. */
void pythia_breaker_set_limit(struct pythia_breaker *b, double limit_ns);

/* The points that are pinned open (borrowed until another set takes its place; NULL: none). A
 * tripped one among them is released by the next _look. */
void pythia_breaker_set_pinned(struct pythia_breaker *b, struct pythia_open_points *pinned);

/* A span arrived. PYTHIA_OK or PYTHIA_ENOMEM. O(1). */
int pythia_breaker_add(struct pythia_breaker *b, const struct pythia_span *span);

enum pythia_breaker_what {
    PYTHIA_BREAKER_TRIPPED,  /* close it */
    PYTHIA_BREAKER_KEPT,     /* it is above the limit, but pinned or an entry: reported once */
    PYTHIA_BREAKER_RELEASED, /* it may be opened again */
};

struct pythia_breaker_event {
    enum pythia_breaker_what what;
    uint32_t tracepoint, resource; /* resource: the program that it cost too much */
    double cost_ns, price_ns;      /* in a second of that program; of a hit */
};

/* What has happened since the last call, by a clock that never goes back: to be called some times
 * a second. *events is borrowed until the next call. PYTHIA_OK or PYTHIA_ENOMEM. O(spans that
 * arrived and tripped points). */
int pythia_breaker_look(struct pythia_breaker *b, uint64_t now_ns,
                        const struct pythia_breaker_event **events, size_t *count);

/* Each tripped point, in order of number, as the event that tripped it; `each` returns 0 to go on.
 * Returns what it returned last. */
int pythia_breaker_each(const struct pythia_breaker *b,
                        int (*each)(void *context, const struct pythia_breaker_event *tripped),
                        void *context);

struct pythia_breaker_numbers {
    double limit_ns;
    size_t tripped; /* points, now */
    uint64_t trips; /* so far */
};
struct pythia_breaker_numbers pythia_breaker_numbers(const struct pythia_breaker *b);

#endif
