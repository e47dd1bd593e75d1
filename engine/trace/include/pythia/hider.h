#ifndef PYTHIA_HIDER_H
#define PYTHIA_HIDER_H

#include <stdint.h>

#include "pythia/open_points.h"
#include "pythia/trace.h"

/* How a finished trace would look had fewer trace points been open: what a builder with these open
 * points makes of its spans. So two sets of open points are compared on the very same requests.
 * Reuses its memory. One thread at a time. */
struct pythia_hider;

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_hider_create(const struct pythia_vocabulary *vocabulary, struct pythia_hider **out);
void pythia_hider_destroy(struct pythia_hider *h); /* h may be NULL */

/* Leave out the spans whose trace points are not in `open`; what is below them hangs on the nearest
 * one above that is left, and is a root if there is none. Times are those of `trace`, as it was
 * mended; what sticks out of its new parent is fitted as a builder does. Returns 0 with *out
 * borrowed until the next call (it is `trace` itself if there is nothing to leave out), 1 if no
 * span is left, or PYTHIA_ENOMEM. O(n log n) for n spans, no recursion. */
int pythia_hider_hide(struct pythia_hider *h, const struct pythia_trace *trace,
                      struct pythia_open_points *open, const struct pythia_trace **out);

/* Which points of `limited` are open only for types other than that of a request. Borrowed. */
struct pythia_hider_types {
    struct pythia_open_points *limited; /* may limit points to types: open_points.h */
    struct pythia_open_points *kept;    /* points that no limit holds for; NULL: none */
    uint32_t type;                      /* of the request: number of a string */
};
/* As _hide, and also without these (NULL: there are none). */
int pythia_hider_hide_typed(struct pythia_hider *h, const struct pythia_trace *trace,
                            struct pythia_open_points *open, const struct pythia_hider_types *types,
                            const struct pythia_trace **out);

/* Which span of `trace` is a span of the last *out? */
uint32_t pythia_hider_origin(const struct pythia_hider *h, uint32_t span);

#endif
