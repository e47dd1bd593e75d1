/* State and decisions shared by the files of the search. */
#ifndef PYTHIA_SEARCH_PARTS_H
#define PYTHIA_SEARCH_PARTS_H

#include "pythia/expectation_judge.h"
#include "pythia/search.h"
#include "strategy/belief.h"

/* Cycles without a share above chance, or without a point to open, after which a problem without a
 * cause is given up. */
#define PYTHIA__SEARCH_IDLE 6

/* Cycles after which a problem without a cause is given up if the largest share is not large; a
 * single cause has a large share as long as all that it may be in is closed. */
#define PYTHIA__SEARCH_SMALL 7
#define PYTHIA__SEARCH_LARGE .25

/* Cycles without variance, after which the causes that were found are past if they have lasted for
 * hold_seconds too. */
#define PYTHIA__SEARCH_QUIET 2

/* The most times hold_seconds that anything waits for. */
#define PYTHIA__SEARCH_HOLDS 5

/* The calls and the bytes of spans that a trace point adds to a request of a type. */
struct pythia__search_rate {
    uint32_t tracepoint;
    double calls, bytes;
};

/* A request type of the search space. A switch is a trace point and one of these: see
 * search_types.c. */
struct pythia__search_type {
    uint32_t name; /* number of a string */
    bool *open;    /* owned, by trace point: opened for this type; NULL: none ever was */
    struct pythia__search_rate *rates; /* owned, by rising trace point */
    size_t rate_count;
    uint32_t nodes;  /* of the type's tree when the rates were found */
    double requests; /* a second, in the last cycle; NaN: not known */
};

/* Cycles in a row that say the same, and when the first of them began, by the search's clock. */
struct pythia__search_run {
    size_t cycles;
    double since;
};

/* Internal state of a problem, beside what the search reports. */
struct pythia__search_keeping {
    struct pythia__belief belief; /* none while nodes is 0 */
    double *log_durations; /* of the cycle in which points were last retired, or it was given up */
    size_t duration_count;
    uint64_t *retired;  /* by trace point: the cycle in which it was closed because it told nothing;
                            0: never. NULL: none was */
    uint64_t forgotten; /* what was retired until this cycle may be tried again */
    uint64_t looked;    /* cycles of it before the present search */
    double sd_ns;       /* of durations in the last cycle; 0: it was never looked at */
    uint64_t asked;     /* the last cycle in which a strategy was asked about it */
    size_t unanswered;  /* cycles in a row in which a strategy suggested nothing for it */
    size_t idle;   /* cycles in a row in which no share that is not explained was above chance */
    bool violated; /* an expectation, in the current cycle */
    bool judged, matters; /* the type has enough of the variance, if that was judged */
    /* Cycles whose shares say the opposite of `matters`; that have too few requests, none of them
     * new; whose requests do not vary; in which a cause that was found has no share any more. */
    struct pythia__search_run against, starved, quiet, past;
    bool spread;    /* a key explained most of the variance, and no place did */
    uint32_t keyed; /* the point that it is seen by: it stays open; with `spread` */
    bool grown;     /* contexts of the type turned up: its causes have to be found once more */
    const struct pythia_type *evidence; /* of the current cycle; NULL: there is none */
};

/* Has the search of a problem ended because a key explains its variance? */
static inline bool pythia__search_is_spread(const struct pythia_problem *p)
{
    return p->state == PYTHIA_PROBLEM_DONE && p->why == PYTHIA_WHY_SPREAD;
}

/* A problem and what is kept of it, as they were when a cycle began. */
struct pythia__search_before {
    struct pythia_problem problem;
    struct pythia__search_keeping keeping; /* its arrays are those in use, or replaced since */
    bool touched;                          /* its belief is not what it was, which was saved */
};

struct pythia_search {
    const struct pythia_space *space;
    struct pythia_search_options o;
    size_t per_cycle; /* points, as it was asked for */
    uint32_t points;
    bool for_one; /* what is open is that of one type: between _hide and _show */
    /* By trace point. */
    bool *open, *skeleton, *never; /* open: for any type, or for one */
    bool *base;          /* the skeleton of the space: open for all types, whatever pins say */
    uint32_t *open_for;  /* for how many types it was opened */
    uint32_t *instances; /* of its service, in this cycle; NULL: it cannot be open at one alone */
    uint32_t *part;      /* while it is open: at 1 of so many instances; 1: at all */
    bool parted;         /* some point has been open at one instance only */
    bool *wide;          /* it gave no span while it was open for some types only */
    double *calls;       /* in a request of the type that has it most often */
    double *price;       /* of a hit, in ns; */
    double *relative;    /* the same as a multiple of the usual price */
    double *spent_calls, *spent_bytes; /* of the types that it was opened for: calls in a request of
                                          the one that has it most often, and bytes a second of all
                                          together; NaN: not known */
    double seconds;                    /* that a cycle takes; 0: not known */
    double clock;                      /* seconds that all cycles took, up to the end of this one */
    struct pythia__search_type *types;
    size_t type_count, type_capacity;
    uint32_t *type_of; /* by string number of a type's name: index in types + 1 */
    size_t type_of_capacity;
    struct pythia_problem *problems;
    struct pythia__search_keeping *keeping;
    struct pythia__search_before *before; /* of the problems known before the cycle */
    size_t problem_count, problem_capacity, keeping_capacity, known, before_capacity;
    uint32_t *problem_of; /* by string number of a type's name: index in problems + 1; such a one
                             may be of a problem that was taken back */
    size_t problem_of_capacity;
    bool in_cycle;                    /* what is in `before` holds */
    struct pythia_rank_memory memory; /* of one problem after the other, */
    struct pythia__draws draws;       /* and of all in a cycle */
    struct pythia_switch *switches;
    size_t switch_count, switch_capacity;
    struct pythia_effect *effects; /* all that was measured; the last `told` since the last cycle */
    size_t effect_count, effect_capacity, told;
    struct pythia_expected_results expected; /* of the current cycle */
    uint64_t cycle;
};

/* Seconds of this cycle. One that nobody has measured had next to no request, and lasted. */
static inline double pythia__search_took(const struct pythia_search *s)
{
    return s->seconds > 0 ? s->seconds : s->o.hold_seconds * PYTHIA__SEARCH_HOLDS;
}

/* One cycle more of a run, or, unless `on`, its end. */
void pythia__search_run_step(const struct pythia_search *s, struct pythia__search_run *run,
                             bool on);
/* Has a run lasted for so many cycles, and for so many times hold_seconds? */
bool pythia__search_run_lasts(const struct pythia_search *s, const struct pythia__search_run *run,
                              size_t cycles, double holds);

/* Fill s->calls from the space. */
void pythia__search_count_calls(struct pythia_search *s);

/* ---- what is opened and closed in a cycle: search_switches.c ---- */

/* Open or close a point for a type, and say why; `reason` is taken. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_decide(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                          bool open, size_t problem, double inside, struct pythia_buf *reason);
int pythia__search_close(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                         size_t problem, const char *why);
/* Was a point opened or closed for a type in this cycle? */
bool pythia__search_is_decided(const struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point);
/* Would a cause that was found in a type, or the key that ended its search, be lost from sight
 * without a point? */
bool pythia__search_bounds_cause(const struct pythia_search *s, const struct pythia__search_type *t,
                                 uint32_t point);

/* ---- what switches brought: search_effects.c ---- */

/* The effects reported since the last cycle, *count of them, borrowed until more are. */
const struct pythia_effect *pythia__search_take_told(struct pythia_search *s, size_t *count);
/* Append to a reason what was last measured of a point in a type; nothing if that is not known. */
void pythia__search_add_effect(const struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point, struct pythia_buf *reason);

/* ---- what a cycle says of types: search_meet.c ---- */

/* Do the requests of a problem that was searched not vary, though not for long? */
bool pythia__search_is_resting(const struct pythia_search *s, size_t problem);

/* Set the state of each problem from the requests of a cycle; types that were not seen before
 * become problems. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_meet(struct pythia_search *s, const struct pythia_type *types, size_t count);

/* ---- which points are open for which types: search_types.c ---- */

/* Meet a type; nothing happens if the search space has none of that name. The types may move.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_meet_type(struct pythia_search *s, uint32_t name);
/* The type of that name, or that of a problem; NULL: it was not met, because the space has none. */
static inline struct pythia__search_type *pythia__search_type(const struct pythia_search *s,
                                                              uint32_t name)
{
    size_t at = name < s->type_of_capacity ? s->type_of[name] : 0;
    return at > 0 ? &s->types[at - 1] : NULL;
}

static inline struct pythia__search_type *pythia__search_type_at(const struct pythia_search *s,
                                                                 size_t problem)
{
    return pythia__search_type(s, s->problems[problem].unsplit);
}

/* Free the types of a search, and the index from problems to types. */
void pythia__search_free_types(struct pythia_search *s);

/* Was it opened for a type? And is it open there, for that or another reason? */
static inline bool pythia__search_was_opened(const struct pythia__search_type *t, uint32_t point)
{
    return t->open && t->open[point];
}
bool pythia__search_is_open_for(const struct pythia_search *s, const struct pythia__search_type *t,
                                uint32_t point);
/* Open or close it there. PYTHIA_OK or, when it is opened, PYTHIA_ENOMEM. */
int pythia__search_switch(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                          bool open);

/* The open points, as a set with its limits to types, without those that `shown` (by trace
 * point; NULL: all are) does not contain. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia__search_list_open(const struct pythia_search *s, const bool *shown,
                             struct pythia_open_points **out);

struct pythia__search_hidden {
    struct pythia_search *search;
    uint32_t *points; /* owned; the first `pinned` of them are pinned closed in that type */
    size_t count, pinned, decided;
};

/* Make s->open and s->never those of a problem's type, until _show is called, which is needed after
 * a failure too: what is open only for others is closed; what pins keep open only for others is
 * pinned closed. PYTHIA_OK or PYTHIA_ENOMEM. O(points). */
int pythia__search_hide(struct pythia_search *s, size_t problem, struct pythia__search_hidden *h);
void pythia__search_show(struct pythia__search_hidden *h);

/* ---- what is kept of a problem: search_memory.c ---- */

/* Free the copy of the problems. */
void pythia__search_keeping_free(struct pythia__search_keeping *k);
/* Note how all problems are, at the beginning of a cycle; and at its end either let that go or go
 * back to it. Between the two calls nothing that was noted is freed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_begin(struct pythia_search *s);
void pythia__search_commit(struct pythia_search *s);
void pythia__search_take_back(struct pythia_search *s);
/* The belief of a problem will change in this cycle. */
void pythia__search_touch(struct pythia_search *s, size_t problem);
/* A point told nothing for a problem: it is not opened for it again until durations change.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_retire(struct pythia_search *s, size_t problem, uint32_t point);
bool pythia__search_is_retired(const struct pythia_search *s, size_t problem, uint32_t point);
/* Keep the durations that are now. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_remember(struct pythia_search *s, size_t problem, const struct pythia_type *t);
/* Have the durations that were kept another spread than those of `t`? False if none were. PYTHIA_OK
 * or PYTHIA_ENOMEM. */
int pythia__search_has_changed(const struct pythia_search *s, size_t problem,
                               const struct pythia_type *t, bool *changed);
/* Forget what was learnt about where a problem's cause is, and which points told nothing. */
void pythia__search_forget(struct pythia_search *s, size_t problem);

/* ---- what open points cost: search_cost.c ---- */

/* Sum up what each point adds to a request of a type, into t->rates. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_find_rates(const struct pythia_search *s, const struct pythia_space_type *of,
                              struct pythia__search_type *t);

/* Learn the price of each point; and what open points add to the stream, as requests come now. */
int pythia__search_set_prices(struct pythia_search *s); /* PYTHIA_OK or PYTHIA_ENOMEM */
void pythia__search_meet_rates(struct pythia_search *s);
/* Sum up what a point costs in the types that it is open for. O(types). */
void pythia__search_settle(struct pythia_search *s, uint32_t point);
/* At 1 of how many instances a point is open, or would be opened for a type; 1: at all. */
uint32_t pythia__search_part_of(const struct pythia_search *s, const struct pythia__search_type *t,
                                uint32_t point);
/* Could a closed point be opened at one instance, though it would fit at all? */
bool pythia__search_may_part(const struct pythia_search *s, const struct pythia__search_type *t,
                             uint32_t point);
/* How many instances there are is asked of whoever knows it. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_count_instances(struct pythia_search *s);
/* Note of each problem that has requests in this cycle at which part of its instances they were
 * seen; before the switches of the cycle. */
void pythia__search_note_parts(struct pythia_search *s);
/* ns that a point adds to a request of a type that hits it at an instance where it is open. */
double pythia__search_full_cost(const struct pythia_search *s, const struct pythia__search_type *t,
                                uint32_t point);
/* ns that a point adds to a request of a type, on average over all instances; bytes a second that
 * it adds to the stream by all of that type, NaN: not known. */
double pythia__search_cost(const struct pythia_search *s, const struct pythia__search_type *t,
                           uint32_t point);
double pythia__search_bytes(const struct pythia_search *s, const struct pythia__search_type *t,
                            uint32_t point);

/* ---- what may be spent: search_budget.c ---- */

/* The remaining budget. */
struct pythia__search_room {
    size_t switches; /* in this cycle */
    double points;   /* that are open for no type yet */
    double ns, bytes;
};

/* The current cost of the points open beyond the skeleton. Bytes per second are NaN until time
 * has passed. O(points). */
struct pythia_spending pythia__search_spending(const struct pythia_search *s);
/* Room for at most `wanted` switches; would it do for a point in a type, and then take that. Beside
 * other types that a point is open for, it takes what this one adds. */
struct pythia__search_room pythia__search_room(const struct pythia_search *s, size_t wanted);
bool pythia__search_fits(const struct pythia_search *s, const struct pythia__search_type *t,
                         uint32_t point, const struct pythia__search_room *room);
bool pythia__search_fits_alone(const struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point); /* with nothing open */
bool pythia__search_take(const struct pythia_search *s, const struct pythia__search_type *t,
                         uint32_t point, struct pythia__search_room *room);
/* Would closing it for a type leave more room? */
bool pythia__search_frees(const struct pythia_search *s, uint32_t point);
/* A point whose price was measured must not add more to a request than it may explain of what
 * differs there: a part of the standard deviation. */
bool pythia__search_is_worth(const struct pythia_search *s, size_t problem, uint32_t point,
                             double part);
/* Is there a limit to what may be open at once? */
bool pythia__search_is_limited(const struct pythia_search *s);
/* Close what tells least until no limit is exceeded. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_keep_within(struct pythia_search *s);

/* ---- why a search ends: search_why.c ---- */

/* Say of each problem that is not searched why. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_say_why(struct pythia_search *s);

/* ---- whose turn it is: search_turns.c ---- */

/* Choose the problems to search in this cycle, into taken[problem], and count those that have to
 * wait. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_take_turns(struct pythia_search *s, bool *taken, size_t *waiting);
/* Leave of those that are taken only the ones that a strategy is asked about: see there. And their
 * types' names, in rising order, *count of them: owned by the caller. PYTHIA_OK or PYTHIA_ENOMEM;
 * NULL when out of memory. */
int pythia__search_choose_asked(struct pythia_search *s, bool *taken);
uint32_t *pythia__search_names(const struct pythia_search *s, const bool *taken, size_t *count);
/* The problems that are searched, and taken, by variance: *count of them, owned by the caller. NULL
 * when out of memory. */
uint32_t *pythia__search_order(const struct pythia_search *s, const bool *taken, size_t *count);

/* ---- one problem in one cycle: search_problem.c, search_use.c ---- */

/* For each open point, how much it divides for a problem that has a belief. Owned by the caller;
 * NULL when out of memory. */
double *pythia__search_use(struct pythia_search *s, size_t number);
/* A problem that is done or given up: search again if something else has come up. */
int pythia__search_watch(struct pythia_search *s, size_t number, const struct pythia_type *t,
                         const struct pythia_groups *groups, struct pythia_open_points *open);
/* Look at one problem: its causes, its belief, what to open and close for it. `budget`: how many
 * points may still be opened in the cycle. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__search_look(struct pythia_search *s, size_t number, const struct pythia_type *t,
                        const struct pythia_groups *groups, struct pythia_open_points *open,
                        size_t *budget);

#endif
