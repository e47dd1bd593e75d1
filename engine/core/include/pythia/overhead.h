#ifndef PYTHIA_OVERHEAD_H
#define PYTHIA_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/open_points.h"
#include "pythia/prices.h"
#include "pythia/search.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* The cost of tracing for traced requests, as a share of the time that they take, and which
 * trace points to do without when that is more than it may be.
 *
 * The cost of a request is the number of its spans by their trace points' prices: those that the
 * programs have measured (vocabulary.h), or that a control plane knows, or one that is supposed.
 * What a trace point is worth is the share of the variance of requests of one type that lies in the
 * time spent in it and in nothing below it (the covariance of that time with the duration, over the
 * variance of the duration, floored at 0). Above the limit points with the least worth for their
 * cost are dropped first, all at once, until what is left costs at most nine tenths of the limit.
 * After a while a dropped point that would fit again, to eight tenths, may come back; one at a
 * time, the worthiest first. Points at which requests enter a process are never dropped, because
 * nothing would be seen without them, nor are those that are pinned open. One thread at a time. */
struct pythia_overhead;

struct pythia_overhead_options {
    double limit;                 /* share of the time of requests; 0: none */
    double usual_ns;              /* price of a point of which none is known */
    struct pythia_prices *prices; /* that control planes know; NULL: none; borrowed */
    size_t min_requests;          /* before anything is concluded; 0: 10 */
    uint64_t slice_ns;            /* what is measured is of the last one to two of these; 0: 1 s */
    uint64_t again_ns; /* after a change, before a dropped point may come back; 0: 60 s */
};

/* Make an empty record of overhead. The options are copied; the vocabulary is borrowed until
 * _destroy. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_overhead_create(const struct pythia_vocabulary *vocabulary,
                           const struct pythia_overhead_options *options,
                           struct pythia_overhead **out);
void pythia_overhead_destroy(struct pythia_overhead *o); /* o may be NULL */

/* Another limit from now on. Dropped points that fit a higher one need not wait; 0 lets all go. */
void pythia_overhead_set_limit(struct pythia_overhead *o, double limit);

/* Points that are pinned open, or that nothing can close, are never dropped, whatever they cost.
 * The sets are borrowed until others take their place; NULL: none. What was dropped before comes
 * back at the next look. */
void pythia_overhead_set_kept(struct pythia_overhead *o, struct pythia_open_points *pinned,
                              struct pythia_open_points *fixed);

/* A request of a type (number of a string), with all the spans that came. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(spans). */
int pythia_overhead_add(struct pythia_overhead *o, uint32_t type, const struct pythia_trace *trace);

/* See whether anything has to be dropped, or may come back, by a clock that never goes back.
 * *switches (borrowed until the next call) says what and why; `open`: it may come back. PYTHIA_OK
 * or PYTHIA_ENOMEM. */
int pythia_overhead_look(struct pythia_overhead *o, uint64_t now_ns,
                         const struct pythia_switch **switches, size_t *count);

/* Mean duration of a request, in ns, of the last ones measured; NaN: there was none. */
double pythia_overhead_request_ns(const struct pythia_overhead *o);

struct pythia_overhead_numbers {
    double share, limit; /* share: measured, of all open points; NaN: of too few requests */
    double cost_ns;      /* of a request, on average; NaN likewise */
    uint64_t requests;   /* of which that is */
    size_t dropped;      /* points that are now */
    uint64_t drops;      /* all in all */
    bool beyond;         /* what cannot be dropped is above the limit */
};
struct pythia_overhead_numbers pythia_overhead_numbers(const struct pythia_overhead *o);

struct pythia_overhead_dropped {
    uint32_t tracepoint;
    double share;     /* of the time of requests, that it had cost */
    double explained; /* of their variance */
    const char *reason;
};

/* Each point that is dropped, in order of number; `each` returns 0 to go on. */
int pythia_overhead_each(const struct pythia_overhead *o,
                         int (*each)(void *context, const struct pythia_overhead_dropped *d),
                         void *context);

#endif
