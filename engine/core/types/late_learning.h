/* What turns up when learning has ended: request types, which hit trace points that are closed by
 * then; and trace points that the search space lacks, because a program was updated. For these,
 * closed points are opened once more for a while, in a phase of late learning:
 *
 *   seeking   points that the space lacks are open for all types, to see which types hit them
 *   trying    where the number of open points is limited: closed points, a batch at a time, to see
 *             which of them the types hit that are to be learnt
 *   learning  what these types hit is open for them
 *
 * For types alone it begins with the second or third. A known type that hits a new point is learnt
 * once more beside its search, which goes on with what it sees.
 *
 * A point that is known from another type is no news: it is closed, and nobody sees a known type
 * begin to hit it. So a known type is reviewed, which is to learn it once more with all points open
 * for it, when there is a reason: spans of a point that its tree lacks arrived in its requests, as
 * the point is open for others; or its search found nothing and began again. Programs that join are
 * no reason: where their number follows the load, that would open everything again and again. There
 * are at most as many reviews in an hour as phases. */
#ifndef PYTHIA_CORE_LATE_LEARNING_H
#define PYTHIA_CORE_LATE_LEARNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live_types.h"

#define PYTHIA__LATE_PHASES_MAX 60 /* in an hour */

#define PYTHIA__STRAYS                                                                             \
    2 /* requests with a point that the type's tree lacks; one may be an accident */

#define PYTHIA__KNOWN_POINT UINT64_MAX /* in `hit` */
#define PYTHIA__SEEN_OPENED 1          /* hit by a type of the phase while it was open in a batch */
#define PYTHIA__SEEN_ANYWAY 2          /* hit while it was not, so that it need not be opened */

enum pythia__late_phase {
    PYTHIA__LATE_NONE,
    PYTHIA__LATE_SEEKING,
    PYTHIA__LATE_TRYING,
    PYTHIA__LATE_LEARNING,
};

struct pythia__late_learning_options {
    size_t hourly;       /* phases in an hour, at most PYTHIA__LATE_PHASES_MAX; 0: none */
    size_t types;        /* new ones that are learnt at once, as many as planes can tell apart */
    uint64_t requests;   /* a type with so many of them is learnt */
    uint64_t few;        /* a type with so many may be learnt, and has tried a batch */
    uint64_t step_ns;    /* how long a set of points is open, at most */
    uint64_t tries_ns;   /* how long batches are tried, at most */
    uint64_t age_max_ns; /* no request lasts longer: else its clock is off */
};

struct pythia__late_learning {
    struct pythia__late_learning_options o;
    struct pythia__live_types *types; /* borrowed */
    enum pythia__late_phase phase;
    bool counted;                  /* it has opened points, and counts for the limit in an hour */
    bool pending;                  /* its points are not open everywhere yet */
    uint64_t since_ns, applied_ns; /* since when they are, by the clock of spans and by ours */
    uint64_t begun_ns;
    size_t chosen; /* types that it is for */
    bool *open;    /* owned; by trace point: it is open for the phase */
    uint8_t *seen; /* owned; while batches are tried: PYTHIA__SEEN_… */
    uint64_t *hit; /* owned; by trace point, while seeking: the request that hit a new one first; 0:
                      none did; PYTHIA__KNOWN_POINT: it is not new */
    uint64_t requests;     /* that were looked at while seeking */
    uint32_t points, next; /* length of these arrays; where the next batch begins */
    uint32_t sought;       /* points before that one are not new any more, */
    uint64_t sought_spans; /* but for those of which spans came since: of all unknown points */
    size_t news;           /* new points, when they were last counted; */
    uint64_t news_ns, changed_ns; /* since when there are any, and so many */
    bool types_next;              /* the phase that is due is for types; else it seeks new points */
    uint64_t seeks, sought_ns;    /* times that new points were sought; when that last began */
    uint64_t reviews, reviewed_ns; /* times that known types were reviewed; when that last began */
    uint64_t review_ns;            /* since when a type waits for it; UINT64_MAX: none does */
    uint64_t starts[PYTHIA__LATE_PHASES_MAX]; /* times of the last phases, a ring */
    uint64_t count, cut;                      /* phases; how many of them left out some points */
    size_t waiting;                           /* types that wait because of the limit in an hour */
};

/* The points that are closed. `fresh` are those that turned up (live_learning.c says which), but
 * for points that a type hits which is being learnt, and those that are pinned shut. */
struct pythia__closed_points {
    bool *may;         /* by trace point: it may be opened */
    const bool *fresh; /* by trace point */
    size_t news;       /* fresh ones */
    uint32_t points;
    size_t room; /* points that may be open at once; SIZE_MAX: all */
};

/* Begin with no learning phase open; the options are copied, `types` is borrowed. */
void pythia__late_init(struct pythia__late_learning *l, struct pythia__live_types *types,
                       const struct pythia__late_learning_options *options);
/* Free what a learning phase holds. */
void pythia__late_free(struct pythia__late_learning *l);

/* A known type may hit other points than before. `points`: that there are. */
void pythia__late_review(struct pythia__late_learning *l, struct pythia__live_type *type,
                         uint32_t points, uint64_t now_ns);

/* Should a phase begin? There is a type to learn, or there are new points and for a while no more
 * turned up (an agent reports a point when it is first hit, so that a new release brings them one
 * after the other); no phase is active, and the limit in an hour is not reached. */
bool pythia__late_is_due(struct pythia__late_learning *l, size_t news, uint64_t now_ns);
/* Begin a phase. PYTHIA_OK, with *wished true if it changes the set of open points, or
 * PYTHIA_ENOMEM with nothing begun. */
int pythia__late_begin(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                       uint64_t now_ns, bool *wished);

/* Go on to the next batch, to learning or to the end, if that is due. PYTHIA_OK with *wished as
 * above, or PYTHIA_ENOMEM. */
int pythia__late_step(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                      uint64_t now_ns, bool *wished);
/* End the phase early, and forget what it has learnt. */
void pythia__late_break_off(struct pythia__late_learning *l, uint64_t now_ns);

/* The points of the phase are open everywhere since then. */
void pythia__late_applied(struct pythia__late_learning *l, uint64_t since_ns, uint64_t now_ns);
/* Does the phase have that point open? For all types while it seeks. */
bool pythia__late_opens(const struct pythia__late_learning *l, uint32_t tracepoint);

/* Must a request of a type that is not learnt yet be set apart? It began before the points were
 * open, or its type has been learnt and waits for the end of the cycle. */
bool pythia__late_keeps_apart(const struct pythia__late_learning *l,
                              const struct pythia__live_type *type,
                              const struct pythia_trace *trace, uint64_t now_ns);
/* While points are sought or batches are tried, note which of them a request hits. True: it must
 * not be learnt from. */
bool pythia__late_see(struct pythia__late_learning *l, struct pythia__live_type *type,
                      const struct pythia_trace *trace, uint64_t now_ns);
/* Is a request of a known type to be learnt from once more? */
bool pythia__late_renews(const struct pythia__late_learning *l,
                         const struct pythia__live_type *type, const struct pythia_trace *trace,
                         uint64_t now_ns);

#endif
