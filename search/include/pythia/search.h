#ifndef PYTHIA_SEARCH_H
#define PYTHIA_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/expectation.h"
#include "pythia/groups.h"
#include "pythia/history.h"
#include "pythia/layers.h"
#include "pythia/open_points.h"
#include "pythia/place.h"
#include "pythia/prices.h"
#include "pythia/space.h"
#include "pythia/strategy.h"

/* The search for the causes of latency variance, cycle by cycle: evidence goes in, decisions about
 * trace points come out. It begins with the skeleton of the search space open, and keeps for each
 * request type (a problem) a probability for each place where the cause may be. Pure: no clock, no
 * file, no switch is thrown; the same evidence gives the same decisions. One thread at a time.
 *
 * What a type's requests vary by is known from moments that were added up as they came; only where
 * that is worth a search are whole requests looked at, and that is nearly all of what a cycle
 * costs. So a cycle looks at no more than `problems_per_cycle` problems: half of them (rounded
 * down) those that are searched and have most of the variance, the others those that have waited
 * longest, those that are done or given up, and are watched, among them. With w =
 * problems_per_cycle / 2 rounded up, each of n problems that there is evidence of has its turn in
 * every (n - 1) / w + 1 cycles. To a problem that waits nothing happens: what is open for it stays
 * open, and it believes what it believed. Where there are no more problems than that, none ever
 * waits. A strategy of the table is asked about a quarter of those alone, in turn.
 *
 * A switch is a trace point and a request type. A point is opened for the type whose problem wants
 * it, and closed when that problem has no use for it any more; other types may have it open or want
 * it later, and are not concerned. Requests of a type must show spans of those points only that are
 * open for it. What belongs to the skeleton is open for all types. The types are those of the
 * search space: problems that a grouping key parts one of share what is open for it. */
struct pythia_search;
struct pythia_effect;

/* A limit of 0 is none, but for points_per_cycle: then nothing is opened. The others are of the
 * points beyond the skeleton, and beyond those that a pin keeps open. What would exceed a limit is
 * not opened; when a limit is exceeded, because more requests come than before, the points that
 * tell least are closed in the same cycle, for all types. Only requests of types that a point is
 * open for count: opening it for one type costs no more than that type's calls of it. A point that
 * alone would exceed added_ns or bytes_per_second is opened at 1 of n instances of its service, if
 * they can be told apart, and counts as an n-th of a point, of its time and of its bytes. So is one
 * of a type whose requests vary on one host only (within.h), by the resource attribute host.name,
 * and one of a service of which the type has another point open like that. */
struct pythia_budget {
    size_t points_per_cycle; /* switches: a point for two types is two of them */
    size_t points_open;      /* at once, for any type */
    double added_ns;         /* to a request: calls * price, each point in the type of request that
                                has it most often, of those that it is open for */
    double bytes_per_second; /* added to the stream of traces: of each type, calls in a request *
                                bytes of a span * requests a second. Calls and bytes are those of
                                the search space (pythia_space_node_bytes), requests those of the
                                last cycle. Without pythia_search_set_seconds it does not hold. */
};

/* The cost of open points, beyond the skeleton and the pins. */
struct pythia_spending {
    size_t points;
    double added_ns;         /* to a request */
    double bytes_per_second; /* NaN: it is not known how long a cycle was */
};

struct pythia_search_options {
    struct pythia_budget budget;
    const struct pythia_strategy *strategy; /* what chooses the points; NULL: information-gain, with
                                               what it has learnt in all cycles */
    const struct pythia_history *history;   /* of earlier searches; NULL: none; borrowed */
    double price_ns;                        /* of one hit of an open trace point */
    struct pythia_prices *prices; /* measured, of single points; NULL: none; borrowed. Such a point
                                     is not kept open where it costs more than it may explain: a
                                     part of the standard deviation of durations */
    struct pythia_layers *layers; /* of points; NULL: one for all; borrowed. A point of a lower
                                     layer is opened once a node that it works for holds the cause,
                                     or once no point of a higher layer tells more; and only if it
                                     costs less than that node may explain. For strategy NULL */
    struct pythia_open_points *always, *never; /* pins; NULL: none; borrowed. Never wins */
    struct pythia_open_points *fixed; /* points that nothing can switch and whose spans arrive: they
                                         are open whatever pins say; NULL: none; borrowed */
    const struct pythia_expectations *expectations; /* of requests; NULL: none; borrowed. A type
                                                       that violates one is searched before all
                                                       others, whatever its part of the variance */
    double alpha;        /* rate of false findings over all cycles; 0: .05 */
    size_t min_requests; /* of a type in a cycle, below which nothing is concluded; 0: 30 */
    double min_cov;      /* below, a type does not vary; 0: .05 */
    double min_share; /* of the variance within types, below which a type is left alone; 0: .01 */
    size_t patience;  /* cycles after which a problem is given up; 0: 30 */
    double hold_seconds; /* what cycles in a row say against a cause, or against searching a type,
                            has to last so long before anything is closed for it; 0: as long as
                            these cycles are. Where requests are many a cycle takes half a second,
                            and a cause may be idle for longer. By the clock of
                            pythia_search_set_seconds */
    size_t problems_per_cycle; /* that are looked at; 0: all. Which of them is said below */
    /* At how many instances of its service could a trace point be opened each on its own? 0, 1: it
     * can only be open at all of them. NULL: at none. Asked in each cycle. */
    uint32_t (*instances)(void *context, uint32_t tracepoint);
    /* Requests vary most on that host: may such a point be opened at the instance there, and are
     * all others of its service that are open at one? NULL: never. */
    bool (*prefer)(void *context, uint32_t tracepoint, struct pythia_text host);
    void *instances_context;
    bool may_widen; /* a point that gives no span in the types that it is open for is first opened
                       for all: a program may take requests for other types than they are, or know
                       that too late */
    uint64_t seed;
};

enum pythia_problem_state {
    PYTHIA_PROBLEM_SEARCHING,
    PYTHIA_PROBLEM_DONE,     /* the causes are found, and no other has a share that matters; or a
                                key explains what no place does (PYTHIA_WHY_SPREAD) */
    PYTHIA_PROBLEM_QUIET,    /* requests of the type do not vary, or too little to matter */
    PYTHIA_PROBLEM_TOO_FEW,  /* requests in the last cycle */
    PYTHIA_PROBLEM_UNKNOWN,  /* the search space does not know the type */
    PYTHIA_PROBLEM_GIVEN_UP, /* nothing that may be opened would tell more */
};
#define PYTHIA_PROBLEM_STATES 6

/* The reason why a problem is no longer searched, or not yet. */
enum pythia_why {
    PYTHIA_WHY_NONE,     /* it is searched, done, or quiet */
    PYTHIA_WHY_TOO_FEW,  /* requests in the last cycle */
    PYTHIA_WHY_NO_TYPE,  /* the search space does not know the type */
    PYTHIA_WHY_BUDGET,   /* a closed point would tell more, and costs too much */
    PYTHIA_WHY_PINNED,   /* a closed point would tell more, and is pinned shut */
    PYTHIA_WHY_STRATEGY, /* a closed point would tell more, and the strategy does not suggest it */
    PYTHIA_WHY_OUTSIDE,  /* no closed point would tell more: the cause may lie outside the space */
    PYTHIA_WHY_CHANCE,   /* no place has a share of the variance that is surely above 0 */
    PYTHIA_WHY_PATIENCE, /* so many cycles were not enough */
    PYTHIA_WHY_SMALL,    /* no place has a share of the variance that matters: .15 */
    PYTHIA_WHY_SPREAD,   /* a key explains most of the variance, in many places at once */
};

#define PYTHIA_PROBLEM_CAUSES 8

struct pythia_problem {
    uint32_t type;    /* number of a string */
    uint32_t unsplit; /* the same without the grouping key: what the search space knows */
    enum pythia_problem_state state;
    enum pythia_why why; /* with TOO_FEW, UNKNOWN and GIVEN_UP; with DONE it is SPREAD if it has
                            no causes, and PINNED if a cause is only as near as pins let it be
                            seen; else NONE */
    uint32_t blocked;    /* of BUDGET, PINNED and STRATEGY: the point that would tell most */
    bool grown;   /* contexts turned up in the type, and in the last cycle each cause that was found
                    was looked for anew */
    bool refuted; /* in the last cycle a cause was given up because no request passes its place, or
                     because it had no share for hold_seconds */
    bool resting; /* QUIET in the last cycle, but its search goes on when its requests vary again */
    bool retried; /* the search began again by itself in the last cycle */
    struct pythia_spending needs; /* what it would add */
    uint64_t cycles, requests;    /* in which it was searched; of the last cycle */
    uint64_t carried; /* of the requests, those that were evidence of earlier cycles too */
    uint64_t waited;  /* cycles since its last turn, in which it had evidence and others were looked
                        at; 0: it had its turn in the last one, or it needs none */
    double variance_share;     /* of the variance within types, in the last cycle */
    struct pythia_finding top; /* the largest that is not explained yet; share NaN: none */
    struct pythia_finding causes[PYTHIA_PROBLEM_CAUSES];
    size_t cause_count;
    uint64_t retries;  /* times that the search began again by itself, since evidence last made it
                          begin */
    uint64_t retry_in; /* GIVEN_UP, or SPREAD: cycles with enough requests until it does so; else
                          0. A search that ended by a key tests first whether the key still
                          explains it, and opens nothing if it does */
    double rest;       /* share of the variance that no cause explains; NaN: not known */
    /* The requests of the last cycle are those that hit 1 of so many instances of a service only,
     * because a point of it is open there alone; 1: all; 0: there was none yet. */
    uint32_t part, part_point; /* part_point: that point, if part > 1 */
};

/* A search that was given up begins again by itself after PYTHIA_RETRY_FIRST cycles with enough
 * requests, then after twice as many each time, up to PYTHIA_RETRY_MOST of them that take
 * hold_seconds, or more that are shorter: a few unlucky cycles must not end it for good. It goes on
 * with what it believed, and does not open again the points that showed nothing. More cycles would
 * make a false finding more likely, so the first cause of such a search must surely have
 * PYTHIA_FINDING_MIN of the variance, by an interval that takes in that the test is repeated in
 * each cycle. tests/bench/search has the rates ("again"). */
#define PYTHIA_RETRY_FIRST 4
#define PYTHIA_RETRY_MOST  64

/* A decision about one trace point. */
struct pythia_switch {
    uint32_t tracepoint;
    uint32_t type;  /* for requests of which; PYTHIA_NONE: of all */
    uint32_t part;  /* opened at 1 of so many instances; 1: at all */
    bool open;      /* or close */
    bool widens;    /* it was open for the type: from now on programs have it open for all */
    size_t problem; /* for which; SIZE_MAX: for none */
    double inside;  /* opened: the probability that the cause is in it or below it */
    double price_ns, cost_ns; /* of a hit; added to a request of the type, or no more added */
    double bytes_per_second;  /* likewise, to the stream; NaN: not known */
    char *reason;             /* a sentence without its full stop */
};

/* The result of a cycle; borrowed from the search until the next. */
struct pythia_cycle {
    uint64_t number; /* 1 for the first */
    const struct pythia_switch *switches;
    size_t switch_count;
    const struct pythia_problem *problems; /* in order of first sight */
    size_t problem_count;
    const struct pythia_effect *effects; /* what points opened before explained, as it was told */
    size_t effect_count;
    size_t leading;    /* the problem searched that varies most; SIZE_MAX: none is */
    size_t open_count; /* trace points beyond the skeleton, after the switches, for any type */
    struct pythia_spending spent,
        planned;    /* while it ran; after the switches, if requests keep coming as they do */
    size_t waiting; /* problems that there was evidence of, and others were looked at instead */
    bool finished;  /* no problem is being searched any more, or waits to be */
};

/* `space` and the vocabulary are borrowed. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_search_create(const struct pythia_space *space,
                         const struct pythia_search_options *options, struct pythia_search **out);
void pythia_search_destroy(struct pythia_search *s); /* s may be NULL */

/* The space has more types than before, or more contexts of a type, or the vocabulary more trace
 * points: take them in. What is open stays open, what belongs to the skeleton now is opened, and
 * nothing is forgotten of types that are as they were. A type with new contexts is searched once
 * more: what was found of it stays until the next cycle of it has looked whether one of them holds
 * it. Trace points have to be taken in, by this call, before a known type gets a context of theirs.
 * PYTHIA_OK, or PYTHIA_ENOMEM: then it is as it was, and types that were added to the space have to
 * be taken out again before it goes on; contexts of known types are taken in by the next call. */
int pythia_search_grow(struct pythia_search *s);

/* Other pins than before, and what prices (of the options) say now. What a pin kept open and holds
 * no longer stays open until the search closes it, for the types that have it and, if the pin was
 * for some types only, for these; what may never be open is closed at once, unless it belongs to
 * the skeleton. They hold for points that turned up since, too. *switched: another set of points is
 * open than before, for some type. PYTHIA_OK, or PYTHIA_ENOMEM: then it is as it was. O(points, and
 * the space if a pin does not hold any longer). */
int pythia_search_set_pins(struct pythia_search *s, struct pythia_open_points *always,
                           struct pythia_open_points *never, struct pythia_open_points *fixed,
                           bool *switched);

/* Keep a trace point open from the beginning, as if it were one of the skeleton; one that must
 * never be opened stays closed. Before the first cycle. */
void pythia_search_keep_open(struct pythia_search *s, uint32_t tracepoint);

/* Is a trace point open, by the decisions so far, for any type? And for that one (number of a
 * string)? The skeleton always is. */
bool pythia_search_is_open(const struct pythia_search *s, uint32_t tracepoint);
bool pythia_search_is_open_for(const struct pythia_search *s, uint32_t tracepoint, uint32_t type);
bool pythia_search_in_skeleton(const struct pythia_search *s, uint32_t tracepoint);

/* Do programs have to have a point open for all types if it is open for one (may_widen)? What is
 * seen of requests is limited to its types all the same. */
bool pythia_search_is_wide(const struct pythia_search *s, uint32_t tracepoint);

/* Does a request of that type (number of a string) hit a trace point, by the search space? Also
 * true of a type that the search has not met. O(log of points of the type). */
bool pythia_search_has_point(const struct pythia_search *s, uint32_t type, uint32_t tracepoint);

/* An open point may be open at one instance of its service only: 1 of so many; 1: at all. Requests
 * that hit another instance say nothing of it, and must not be in the evidence of a type that has
 * the point open. All such points of one type are of one service, but for those that another type
 * has open like that already. */
uint32_t pythia_search_part(const struct pythia_search *s, uint32_t tracepoint);

/* Mean hits of a trace point per request, of the type that hits it most often, by the search
 * space; 0: it is in no type. */
double pythia_search_calls(const struct pythia_search *s, uint32_t tracepoint);

/* The open trace points, as a set of its own, with their limits to types (open_points.h): what a
 * request of a type shows. Owned by the caller. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_search_open_points(const struct pythia_search *s, struct pythia_open_points **out);

/* Report the measured effects of opened points (effects.h) in the requests of the next cycle:
 * they are part of that cycle's result, and with the reason when such a point is closed. Copied.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_search_tell(struct pythia_search *s, const struct pythia_effect *effects, size_t count);

/* Set the time in which the requests of the next cycle, and of all later ones until the next
 * call, arrive, from which their rate follows. 0: not known; for hold_seconds the cycle is taken to
 * be long enough then. */
void pythia_search_set_seconds(struct pythia_search *s, double seconds);

/* One cycle: requests that were seen, from their beginning to their end, with just these points
 * open; `groups` is finished. hits[tracepoint]: spans of it in them (`hit_count` numbers; points
 * behind have none). Returns PYTHIA_OK, or PYTHIA_ENOMEM and then the decisions stand as before.
 * O(types), and O(rows * edges + regions * space) for each problem that is looked at. */
int pythia_search_cycle(struct pythia_search *s, const struct pythia_groups *groups,
                        const uint64_t *hits, size_t hit_count, struct pythia_cycle *out);

/* What a search says between two cycles, without the switches and effects of the last one; also of
 * one that was loaded. Borrowed until the next cycle. O(points + problems). */
struct pythia_cycle pythia_search_stand(const struct pythia_search *s);

/* Append all that a search knows between two cycles to `out`, by the ids of trace points and the
 * names of types: beliefs, findings, what is open for which types, and the number of the cycle. Not
 * with it: the space, the options, effects, and which instance it is at which a point is open that
 * is open at one only. PYTHIA_OK or PYTHIA_ENOMEM. O(problems * (nodes of their types +
 * durations)). */
int pythia_search_save(const struct pythia_search *s, struct pythia_buf *out);

/* Take in what a search with the same options and an equal space had saved, also one of another
 * process: from then on the same evidence leads to the same decisions. `s` was made for it, and has
 * had no cycle. Points that are open in it become open. PYTHIA_OK, PYTHIA_EFORMAT if the text is
 * broken or the space is another one, or PYTHIA_ENOMEM; after a failure `s` can only be
 * destroyed. */
int pythia_search_load(struct pythia_search *s, struct pythia_text saved);

/* Static strings: "searching", "done", …; "budget", "pinned", …, and NULL for PYTHIA_WHY_NONE. */
const char *pythia_problem_state_name(enum pythia_problem_state state);
const char *pythia_why_name(enum pythia_why why);

#endif
