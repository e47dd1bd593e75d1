#ifndef PYTHIA_CLOSED_LOOP_H
#define PYTHIA_CLOSED_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/effect.h"
#include "pythia/followed.h"
#include "pythia/groups.h"
#include "pythia/history.h"
#include "pythia/live.h"
#include "pythia/pipeline.h"
#include "pythia/search.h"
#include "pythia/verdict.h"

/* A full capture played as if it were live: the spans of closed trace points are hidden, the search
 * decides after each cycle, and what it decided holds from the next request on. A capture that is
 * shorter than the search is played again from its start.
 *
 * What becomes of a request is what becomes of it in a live stream (live.h), by the same code: its
 * type is that of the whole request; of a type that the search space knows only what is wanted open
 * is seen; of another one also the trace points that the space does not know, because they are not
 * the search's to close; and requests of a type that is too rare for one cycle are evidence of
 * several, but for those that are played again. */

struct pythia_closed_loop_options {
    struct pythia_pipeline_options pipeline; /* `open` is set by the loop */
    struct pythia_groups_options groups;
    struct pythia_search_options search;
    size_t requests; /* of one type make a cycle; 0: 100, or with `seconds` any number */
    double seconds;  /* of the traces' own time make a cycle, counted from its first request; 0: any
                        time. With both, whichever comes first */
    size_t cycles;   /* at most; 0: 60 */
    size_t rare_bytes; /* that requests may take that are kept for the next cycle, because their
                          types are too rare for one; 0: 16 MiB */
    bool *stop;        /* NULL, or set by somebody else: end after the cycle at hand */
};

/* The result of a cycle, with texts of its own. */
struct pythia_loop_switch {
    uint32_t tracepoint;
    uint32_t type;            /* as in struct pythia_switch */
    double gain;              /* opened: the probability that the cause is in it or below it */
    double price_ns, cost_ns; /* as in struct pythia_switch */
    double bytes_per_second;
    char *reason;      /* owned */
    bool unswitchable; /* nothing can throw it: a suggestion */
};

/* A cause that was found in a cycle. */
struct pythia_loop_found {
    uint32_t type;
    struct pythia_finding cause;
};

struct pythia_loop_cycle {
    uint64_t number; /* 0: the search space is being learnt */
    uint64_t more;   /* cycles before it that it stands for too, because nothing was searched, found
                        or switched in any of them: only of a live stream */
    struct pythia_loop_switch *opened, *closed; /* owned */
    size_t opened_count, closed_count;
    size_t open_count; /* trace points beyond the skeleton, while it ran */
    double seconds;    /* from its first request to the first behind those seen */
    struct pythia_spending spent, planned; /* as in struct pythia_cycle */
    struct pythia_loop_found *found;       /* owned */
    size_t found_count;
    uint64_t requests, under_way; /* seen; begun, and set apart because they had not ended */
    uint64_t unseen;              /* requests of which no span is of an open trace point */
    uint64_t spans_seen, spans_saved;
    bool again;                           /* the capture was at its end, and was begun anew */
    struct pythia_problem leading;        /* after it; type PYTHIA_NONE: none was searched */
    size_t states[PYTHIA_PROBLEM_STATES]; /* types that were seen so far, by their state */
    size_t waiting;                       /* of them, that others were looked at instead of */
    struct pythia_effect *effects; /* owned: what points explained that were opened before it */
    size_t effect_count;
    /* The group of the leading type that had most of the variance when the type first led: the
     * same group in all cycles, whatever is open. */
    struct pythia_followed group;
};

struct pythia_loop {
    struct pythia_loop_cycle *cycles; /* owned */
    size_t cycle_count, cycle_capacity;
    struct pythia_problem *problems; /* owned: as they ended */
    size_t problem_count;
    struct pythia_verdicts verdicts;    /* of all types that were seen */
    size_t skeleton_count, point_count; /* trace points of the skeleton, and of the space */
    size_t opened_count;                /* different ones that were opened */
    struct pythia_budget budget;
    size_t min_requests; /* of a type in a cycle */
    double price_ns;     /* of points that have no price of their own */
    uint32_t *always;    /* owned: trace points that pins keep open, beyond the skeleton */
    uint32_t *never;     /* owned: and shut */
    size_t always_count, never_count;
    uint64_t *followed; /* owned: by number of a type, the group that is followed */
    size_t followed_capacity;
    size_t rounds;        /* times the capture was played, the last one perhaps in part */
    uint64_t not_carried; /* requests of types too rare for one cycle, without room to be kept */
    uint64_t lessons, lessons_cut; /* of a live stream: as in struct pythia_live_numbers */
    size_t types_waiting;
    struct pythia_unknown_points unknown; /* in all of the capture, when it was played last; of a
                                             live stream since its beginning */
    bool finished; /* nothing is searched any more; else there were cycles enough */
};

/* Play it, until no type of request is searched any more, and of none that was not searched yet
 * there may be enough requests when it has been played once from beginning to end. With a grouping
 * key, its parts are what requests of "one type" are, and the trace points that show its keys stay
 * open (grouping_key.h). The input is read once for its order, and once for each cycle. The
 * evidence of the last cycle goes to *groups (owned by the caller) with the trace points that were
 * open to *open (owned), and what was read to *result. Returns PYTHIA_OK with *out filled,
 * PYTHIA_ENOMEM, or what reading returned. */
int pythia_closed_loop_run(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                           const struct pythia_space *space,
                           const struct pythia_closed_loop_options *options,
                           struct pythia_loop *out, struct pythia_groups **groups,
                           struct pythia_open_points **open, struct pythia_pipeline_result *result);
void pythia_loop_free(struct pythia_loop *l);

/* A copy of all of it, which knows nothing of the other: for another thread. PYTHIA_OK with *out
 * filled, or PYTHIA_ENOMEM. */
int pythia_loop_copy(const struct pythia_loop *l, struct pythia_loop *out);

/* Tell what came of a cycle of a live stream, as the last of at most `max` cycles, which take
 * `bytes_max` bytes at most (the oldest go for it; the last stays in any case). `l` is {0} before
 * the first, and to be freed. Of `opened_count` a point counts each time that it is opened.
 * PYTHIA_OK, or PYTHIA_ENOMEM with a part of it told. */
int pythia_loop_tell(struct pythia_loop *l, const struct pythia_live_cycle *cycle, size_t max,
                     uint64_t bytes_max);

/* Begin, before the first cycle, where the search of an engine stands that was restored
 * (live_snapshot.h): with its problems, so that what it has found is not told as new, and with the
 * verdicts that were saved with it, which are taken over. PYTHIA_OK, or PYTHIA_ENOMEM with all as
 * it was. */
int pythia_loop_resume(struct pythia_loop *l, const struct pythia_live *live,
                       struct pythia_verdicts *verdicts);

/* Bytes that it takes: of its cycles, and of the problems and verdicts of all types. O(cycles). */
uint64_t pythia_loop_bytes(const struct pythia_loop *l);

/* Add to a history what came of it: each trace point that was opened, once; what it explained is
 * the largest share of a cause that it bounds or that lies directly in it, and then it was
 * localised. PYTHIA_OK, or PYTHIA_ENOMEM with a part of it added. */
int pythia_loop_remember(const struct pythia_loop *l, const struct pythia_vocabulary *v,
                         struct pythia_history *to);

#endif
