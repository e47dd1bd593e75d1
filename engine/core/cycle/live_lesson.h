/* A request type that turns up after learning has ended passes trace points that are closed by
 * then. So these are opened once more, for a while: a lesson, for all such types that are there.
 * Where only so many may be open at once, they are tried in batches first, to see which the types
 * pass. */
#ifndef PYTHIA_CORE_LIVE_LESSON_H
#define PYTHIA_CORE_LIVE_LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live_types.h"

#define PYTHIA__LESSONS_MAX 60 /* in an hour */

#define PYTHIA__SEEN_OPENED 1 /* in requests of a type that is taught, when it had been opened */
#define PYTHIA__SEEN_ANYWAY 2 /* or when it had not, so that it need not be */

struct pythia__lesson_options {
    size_t hourly;       /* lessons, at most PYTHIA__LESSONS_MAX; 0: none is given */
    size_t points_open;  /* at once; 0: any number */
    uint64_t requests;   /* of each type, after which it is learnt */
    uint64_t few;        /* that make a type be taught at all, and try a batch */
    uint64_t step_ns;    /* a set of points is open for no longer */
    uint64_t tries_ns;   /* nor are batches tried for longer */
    uint64_t age_max_ns; /* of a request: when one began longer ago, the clock is off */
};

struct pythia__lesson {
    struct pythia__lesson_options o;
    struct pythia__live_types *types; /* borrowed */
    bool counted;                     /* points were opened for it */
    bool active, trying;              /* trying: batches, and nothing is learnt yet */
    bool pending;                     /* what it wants open is not in force yet, */
    uint64_t since_ns, applied_ns;    /* or since then, by the clock of spans and by ours */
    uint64_t begun_ns;
    bool *open;                           /* owned; by trace point: it is open for the lesson */
    uint8_t *seen;                        /* owned; while batches are tried: PYTHIA__SEEN_… */
    uint32_t points, next;                /* of these arrays; where the next batch begins */
    uint64_t starts[PYTHIA__LESSONS_MAX]; /* of the last lessons, by number */
    uint64_t count, cut;                  /* lessons; of which some points were left out */
    size_t waiting;                       /* types that wait, because there were too many lessons */
};

/* What may be opened: by trace point, `points` of them. And how many of them at once. */
struct pythia__lesson_closed {
    bool *may;
    uint32_t points;
    size_t room; /* SIZE_MAX: all */
};

/* Begin with no learning phase open; the options are copied, `types` is borrowed. */
void pythia__lesson_init(struct pythia__lesson *l, struct pythia__live_types *types,
                         const struct pythia__lesson_options *options);
/* Free what a learning phase holds. */
void pythia__lesson_free(struct pythia__lesson *l);

/* May one begin: is there a type to be taught, none is being given, and there were not too many? */
bool pythia__lesson_is_due(struct pythia__lesson *l, uint64_t now_ns);
/* Begin one. PYTHIA_OK, with *wished whether other points are wanted open by that, or PYTHIA_ENOMEM
 * with nothing begun. */
int pythia__lesson_begin(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                         uint64_t now_ns, bool *wished);

/* Go on to the next batch, to learning or to the end, if it is time for that. PYTHIA_OK, with
 * *wished as above. */
int pythia__lesson_step(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                        uint64_t now_ns, bool *wished);
/* End it before it is over, without what was learnt. */
void pythia__lesson_break_off(struct pythia__lesson *l);

/* What is wanted open for it is in force since then. */
void pythia__lesson_applied(struct pythia__lesson *l, uint64_t since_ns, uint64_t now_ns);
bool pythia__lesson_opens(const struct pythia__lesson *l, uint32_t tracepoint);

/* Does a request of a type that is not learnt yet have to be kept apart? It began before the points
 * were open, or the type is taught, and waits for the end of the cycle. */
bool pythia__lesson_keeps_apart(const struct pythia__lesson *l,
                                const struct pythia__live_type *type,
                                const struct pythia_trace *trace, uint64_t now_ns);
/* See which points a request passes, while batches are tried. True: it is not to be learnt from. */
bool pythia__lesson_see(struct pythia__lesson *l, struct pythia__live_type *type,
                        const struct pythia_trace *trace);

#endif
