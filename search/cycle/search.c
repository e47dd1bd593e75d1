/* In a cycle, for each request type that varies, find the visible edge with most of the
 * variance. If nothing closed lies behind it, and it stands out beyond chance, it is a cause;
 * its time is taken away and the rest is looked at in the same way. Else the belief about where
 * the cause is takes the evidence in, and the points that would tell most about it are opened;
 * those that tell nothing any more are closed. */
#include "pythia/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

/* Cycles without a new request of a type that has too few, after which a search closes its points
 * if they have lasted for PYTHIA__SEARCH_HOLDS times hold_seconds. Beside a frequent type a rare
 * one has none in most cycles, and what is open for it costs nothing meanwhile. Of a type with one
 * request a minute, one gap in 150 is longer than these five minutes; no experiment has chosen
 * them. */
#define STARVED_MAX 2
#define SHORTEST    1e6 /* cycles in hold_seconds, at most */

const char *pythia_problem_state_name(enum pythia_problem_state state)
{
    static const char *const names[] = {"searching", "done",    "quiet",
                                        "too_few",   "unknown", "given_up"};
    return names[state];
}

/* ---- the state ---- */

void pythia__search_count_calls(struct pythia_search *s)
{
    size_t count;
    const struct pythia_space_type *types = pythia_space_types(s->space, &count);
    double *calls = s->calls + s->points; /* scratch: of one type */
    for (size_t t = 0; t < count; t++) {
        memset(calls, 0, s->points * sizeof(*calls));
        for (uint32_t node = 1; node < pythia_cct_nodes(types[t].cct); node++)
            calls[pythia_cct_tracepoint(types[t].cct, node)] +=
                (double)types[t].nodes[node].calls /
                (double)(types[t].requests ? types[t].requests : 1);
        for (uint32_t point = 0; point < s->points; point++)
            s->calls[point] = fmax(s->calls[point], calls[point]);
    }
}

/* Points that are always or never open are decided here once; prices and calls of the points are
 * arrays, because each decision reads them for all points. */
int pythia_search_create(const struct pythia_space *space,
                         const struct pythia_search_options *options, struct pythia_search **out)
{
    struct pythia_search *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->space = space;
    s->o = *options;
    s->o.alpha = options->alpha > 0 ? options->alpha : .05;
    s->o.min_requests = options->min_requests ? options->min_requests : 30;
    s->o.min_cov = options->min_cov > 0 ? options->min_cov : .05;
    s->o.min_share = options->min_share > 0 ? options->min_share : .01;
    s->o.patience = options->patience ? options->patience : 30;
    if (s->o.strategy == pythia_strategies(&(size_t){0})[0])
        s->o.strategy = NULL; /* which has a memory here */
    s->points = pythia_vocabulary_tracepoints(pythia_space_vocabulary(space));
    s->per_cycle = s->o.budget.points_per_cycle;
    if (s->o.budget.points_per_cycle > s->points)
        s->o.budget.points_per_cycle = s->points;
    s->skeleton = pythia_space_skeleton(space);
    s->base = pythia_space_skeleton(space);
    s->open = pythia_calloc(s->points, sizeof(*s->open));
    s->never = pythia_calloc(s->points, sizeof(*s->never));
    s->open_for = pythia_calloc(s->points, sizeof(*s->open_for));
    s->part = pythia_calloc(s->points, sizeof(*s->part));
    s->wide = pythia_calloc(s->points, sizeof(*s->wide));
    s->calls = pythia_calloc((size_t)s->points * 2, sizeof(*s->calls));
    if (!s->skeleton || !s->base || !s->open || !s->never || !s->open_for || !s->part || !s->wide ||
        !s->calls || pythia__search_set_prices(s) != PYTHIA_OK) {
        pythia_search_destroy(s);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t point = 0; point < s->points; point++) {
        bool fixed = s->o.fixed && pythia_open_points_has(s->o.fixed, point);
        s->never[point] = !fixed && s->o.never && pythia_open_points_has(s->o.never, point);
        if (fixed ||
            (s->o.always && !s->never[point] && pythia_open_points_has(s->o.always, point)))
            s->skeleton[point] = true;
        s->open[point] = s->skeleton[point];
        s->part[point] = 1;
    }
    pythia__search_count_calls(s);
    *out = s;
    return PYTHIA_OK;
}

static void clear_switches(struct pythia_search *s)
{
    for (size_t i = 0; i < s->switch_count; i++)
        pythia_free(s->switches[i].reason);
    s->switch_count = 0;
}

void pythia_search_destroy(struct pythia_search *s)
{
    if (!s)
        return;
    clear_switches(s);
    for (size_t i = 0; i < s->problem_count; i++)
        pythia__search_keeping_free(&s->keeping[i]);
    pythia__search_free_types(s);
    void *const owned[] = {s->open,     s->skeleton,   s->base,      s->never,       s->open_for,
                           s->calls,    s->price,      s->relative,  s->spent_calls, s->spent_bytes,
                           s->problems, s->keeping,    s->switches,  s->effects,     s->wide,
                           s->before,   s->problem_of, s->instances, s->part};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    pythia_expected_results_free(&s->expected);
    pythia_rank_memory_free(&s->memory);
    pythia__draws_free(&s->draws);
    pythia_free(s);
}

void pythia_search_keep_open(struct pythia_search *s, uint32_t tracepoint)
{
    if (tracepoint < s->points && !s->never[tracepoint])
        s->open[tracepoint] = s->skeleton[tracepoint] = true;
}

bool pythia_search_in_skeleton(const struct pythia_search *s, uint32_t tracepoint)
{
    return tracepoint < s->points && s->skeleton[tracepoint];
}

bool pythia_search_is_wide(const struct pythia_search *s, uint32_t tracepoint)
{
    return tracepoint < s->points && s->wide[tracepoint];
}

uint32_t pythia_search_part(const struct pythia_search *s, uint32_t tracepoint)
{
    return tracepoint < s->points ? s->part[tracepoint] : 1;
}

double pythia_search_calls(const struct pythia_search *s, uint32_t tracepoint)
{
    return tracepoint < s->points ? s->calls[tracepoint] : 0;
}

/* The open points that something was seen of. */
static int list_seen(const struct pythia_search *s, const uint64_t *hits, size_t hit_count,
                     struct pythia_open_points **out)
{
    bool *shown = pythia_calloc(s->points, sizeof(*shown));
    if (!shown)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points; point++)
        shown[point] = point < hit_count && hits[point] > 0;
    int status = pythia__search_list_open(s, shown, out);
    pythia_free(shown);
    return status;
}

/* ---- a cycle ---- */

/* Is a problem searched, or will it be as soon as there are requests again, or some that vary?
 * What is slow now and then varies in few cycles, where cycles are short. */
static bool is_search_pending(const struct pythia_search *s, size_t problem)
{
    const struct pythia_problem *p = &s->problems[problem];
    const struct pythia__search_keeping *k = &s->keeping[problem];
    if (p->cycles == 0)
        return p->state == PYTHIA_PROBLEM_SEARCHING;
    if (p->state == PYTHIA_PROBLEM_TOO_FEW)
        return !pythia__search_run_lasts(s, &k->starved, STARVED_MAX, PYTHIA__SEARCH_HOLDS);
    return p->state == PYTHIA_PROBLEM_SEARCHING || pythia__search_is_resting(s, problem);
}

/* No request hit a point: it is not opened again for the type until durations change. */
static int retire_silent_point(struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        const struct pythia_type *evidence = s->keeping[i].evidence;
        if (s->problems[i].unsplit != t->name)
            continue;
        if (evidence && pythia__search_remember(s, i, evidence) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        if (pythia__search_retire(s, i, point) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* The needs of a type's problems for its open points. */
struct need {
    size_t owner; /* the last of them + 1; 0: there is none */
    bool searched, due, starved;
};

/* By type: owned by the caller; NULL when out of memory. */
static struct need *find_needs(const struct pythia_search *s)
{
    struct need *needs = pythia_calloc(s->type_count + 1, sizeof(*needs));
    for (size_t i = 0; needs && i < s->problem_count; i++) {
        const struct pythia__search_type *t = pythia__search_type_at(s, i);
        if (!t)
            continue;
        struct need *n = &needs[t - s->types];
        n->owner = i + 1;
        n->searched = n->searched || is_search_pending(s, i);
        n->due = n->due || s->problems[i].requests >= s->o.min_requests;
        n->starved = n->starved || s->problems[i].state == PYTHIA_PROBLEM_TOO_FEW;
    }
    return needs;
}

/* No span came from a point in the types that it is open for: before it is closed it is opened for
 * all, because the program may have taken these requests for others, or may have known too late
 * which they are. */
static int widen_point(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                       size_t problem)
{
    struct pythia_buf reason = {0};
    pythia_buf_puts(&reason, "no request of the type recorded a span of it, and a program may not "
                             "know their type: it is opened for all types");
    int status = pythia__search_decide(s, t, point, true, problem, 0, &reason);
    if (status != PYTHIA_OK)
        return status;
    s->switches[s->switch_count - 1].widens = true;
    s->wide[point] = true;
    pythia__search_settle(s, point);
    return PYTHIA_OK;
}

/* Close a point that no span came from while requests of its type came, or that no search needs any
 * more. */
static int close_if_idle(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                         const struct need *n, bool seen)
{
    bool silent = n->due && !seen;
    bool needed = n->searched || pythia__search_bounds_cause(s, t, point);
    /* Widening comes before closing, because the program may only have named its requests
     * otherwise. */
    if (silent && needed && s->o.may_widen && !s->wide[point])
        return widen_point(s, t, point, n->owner - 1);
    if (silent) {
        /* Otherwise the belief, which has learnt nothing, would open it again in the next cycle. */
        int status = retire_silent_point(s, t, point);
        if (status != PYTHIA_OK)
            return status;
    }
    if (!silent && needed)
        return PYTHIA_OK;
    return pythia__search_close(s, t, point, n->owner ? n->owner - 1 : SIZE_MAX,
                                silent       ? "no request hit it"
                                : n->starved ? "too few requests of its type come"
                                             : "its search has ended");
}

static int close_idle(struct pythia_search *s, const uint64_t *hits, size_t hit_count)
{
    struct need *needs = find_needs(s);
    int status = PYTHIA_OK;
    if (!needs)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points; point++) {
        bool seen = point < hit_count && hits[point] > 0;
        /* Closing a point for its last type ends the loop: nothing is open then. */
        for (size_t i = 0; s->open_for[point] > 0 && !s->skeleton[point] && i < s->type_count;
             i++) {
            struct pythia__search_type *t = &s->types[i];
            if (!pythia__search_was_opened(t, point) || pythia__search_is_decided(s, t, point))
                continue;
            status = close_if_idle(s, t, point, &needs[i], seen);
            if (status != PYTHIA_OK)
                goto out;
        }
    }
out:
    pythia_free(needs);
    return status;
}

/* The problem that is searched of a type; SIZE_MAX: there is none. */
static size_t find_searched(const struct pythia_search *s, uint32_t type)
{
    for (size_t i = 0; i < s->problem_count; i++)
        if (s->problems[i].type == type)
            return s->problems[i].state == PYTHIA_PROBLEM_SEARCHING ? i : SIZE_MAX;
    return SIZE_MAX;
}

/* May a point be opened for a problem? */
static bool may_open(const struct pythia_search *s, size_t problem, uint32_t point)
{
    const struct pythia__search_type *t = pythia__search_type_at(s, problem);
    bool kept = s->never[point] || s->skeleton[point]; /* by pins: open, or only for others */
    return t && !kept && !pythia__search_was_opened(t, point) &&
           !pythia__search_is_retired(s, problem, point);
}

/* Open what a strategy suggests, as far as it may be opened: a strategy knows nothing of pins,
 * prices and budgets. */
static int open_suggested(struct pythia_search *s, const struct pythia_diagnosis *d,
                          const struct pythia_suggestion *list, size_t count, const bool *taken,
                          bool *answered)
{
    struct pythia__search_room room = pythia__search_room(s, s->o.budget.points_per_cycle);
    for (size_t i = 0; i < count; i++) {
        uint32_t point = list[i].tracepoint;
        size_t number = find_searched(s, d->types[d->groups[list[i].group].type].type->name);
        if (number == SIZE_MAX || !taken[number] || !may_open(s, number, point))
            continue;
        struct pythia__search_type *t = pythia__search_type_at(s, number);
        /* An answer counts even if nothing of it fits the budget now: the problem is not given up
         * for that. */
        answered[number] = true;
        if (!pythia__search_is_worth(s, number, point, 1) ||
            !pythia__search_take(s, t, point, &room))
            continue;
        struct pythia_buf reason = {0};
        pythia_buf_puts(&reason, list[i].reason);
        if (pythia__search_decide(s, t, point, true, number, list[i].gain, &reason) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* Give the evidence to a strategy of the table, which takes it as a diagnosis. A problem for which
 * it suggests nothing for some cycles is given up. */
static int ask_strategy(struct pythia_search *s, const struct pythia_groups *groups,
                        struct pythia_open_points *open, const bool *asked)
{
    /* Four times what may be opened, because pins, prices and budgets will refuse some of it. */
    size_t budget = s->o.budget.points_per_cycle, wanted = 4 * budget, count = 0;
    struct pythia_diagnosis *d = NULL;
    struct pythia_diagnosis_options how = {.alpha = s->o.alpha,
                                           .look = s->cycle,
                                           .min_requests = s->o.min_requests,
                                           .min_cov = s->o.min_cov,
                                           .seed = s->o.seed,
                                           .without_modes = true};
    struct pythia_suggestion *list = pythia_calloc(wanted + 1, sizeof(*list));
    bool *answered = pythia_calloc(s->problem_count + 1, sizeof(*answered));
    uint32_t *only = pythia__search_names(s, asked, &how.only_count);
    how.only = only;
    int status = PYTHIA_ENOMEM;
    if (!list || !answered || !only)
        goto out;
    status = pythia_diagnose(groups, &how, &d);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_evidence evidence = {.space = s->space,
                                       .groups = groups,
                                       .diagnosis = d,
                                       .open = open,
                                       .never = s->o.never,
                                       .price_ns = s->o.price_ns,
                                       .prices = s->o.prices,
                                       .layers = s->o.layers,
                                       .history = s->o.history,
                                       .seed = s->o.seed,
                                       .cycle = s->cycle};
    status = pythia_strategy_run(s->o.strategy, &evidence, wanted, list, &count, NULL);
    if (status != PYTHIA_OK)
        goto out;
    if (budget > 0) {
        status = open_suggested(s, d, list, count, asked, answered);
        if (status != PYTHIA_OK)
            goto out;
    }
    for (size_t i = 0; i < s->problem_count; i++) {
        if (s->problems[i].state != PYTHIA_PROBLEM_SEARCHING || !asked[i])
            continue;
        s->keeping[i].unanswered = answered[i] ? 0 : s->keeping[i].unanswered + 1;
        if (s->keeping[i].unanswered >= PYTHIA__SEARCH_IDLE)
            s->problems[i].state = PYTHIA_PROBLEM_GIVEN_UP;
    }
out:
    for (size_t i = 0; i < count; i++)
        pythia_suggestion_clear(&list[i]);
    pythia_free(list);
    pythia_free(answered);
    pythia_free(only);
    pythia_diagnosis_destroy(d);
    return status;
}

/* Inspect the problems that are searched, the one that varies most first: it takes what it needs of
 * the budget before the others. */
static int inspect_searched(struct pythia_search *s, const struct pythia_groups *groups,
                            struct pythia_open_points *open, const bool *taken, size_t *leading)
{
    size_t count = 0, budget = s->o.budget.points_per_cycle;
    uint32_t *order = pythia__search_order(s, taken, &count);
    int status = PYTHIA_OK;
    if (!order)
        return PYTHIA_ENOMEM;
    /* The report and the strategies speak of the problem that leads. */
    *leading = count > 0 ? order[0] : SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        status =
            pythia__search_look(s, order[i], s->keeping[order[i]].evidence, groups, open, &budget);
        if (status != PYTHIA_OK)
            break;
    }
    pythia_free(order);
    return status;
}

/* Inspect the problems whose turn it is. A point without spans divides nothing: the problems see
 * only the open points that something was seen of. */
static int inspect_problems(struct pythia_search *s, const struct pythia_groups *groups,
                            const uint64_t *hits, size_t hit_count, struct pythia_cycle *out)
{
    struct pythia_open_points *open = NULL;
    bool *taken = pythia_calloc(s->problem_count + 1, sizeof(*taken));
    if (!taken)
        return PYTHIA_ENOMEM;
    int status = pythia__search_take_turns(s, taken, &out->waiting);
    if (status != PYTHIA_OK)
        goto out;
    status = list_seen(s, hits, hit_count, &open);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < s->problem_count; i++) {
        if (!taken[i])
            continue;
        /* Problems that have ended are watched before the others are searched: one that begins
         * again takes part in this cycle's budget. */
        status = pythia__search_watch(s, i, s->keeping[i].evidence, groups, open);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = inspect_searched(s, groups, open, taken, &out->leading);
    if (status != PYTHIA_OK || !s->o.strategy || out->leading == SIZE_MAX)
        goto out;
    status = pythia__search_choose_asked(s, taken);
    if (status != PYTHIA_OK)
        goto out;
    status = ask_strategy(s, groups, open, taken);
out:
    pythia_open_points_destroy(open);
    pythia_free(taken);
    return status;
}

/* Cycles of half a second: without more of them between its tries, a search that finds nothing
 * would begin again, and be reported, twice a minute for ever. */
static uint64_t count_cycles_to_retry(const struct pythia_search *s, const struct pythia_problem *p)
{
    double shorter = s->seconds > 0 ? s->o.hold_seconds / s->seconds : 1;
    uint64_t wait = PYTHIA_RETRY_FIRST,
             most = PYTHIA_RETRY_MOST * (uint64_t)fmin(fmax(shorter, 1), SHORTEST);
    for (uint64_t i = 0; i < p->retries && wait < most; i++)
        wait *= 2;
    return wait;
}

/* A problem that has no cause is searched again when durations change from what they are now, or
 * else after a number of cycles. */
static int remember_ended(struct pythia_search *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        struct pythia_problem *p = &s->problems[i];
        bool ended = p->state == PYTHIA_PROBLEM_GIVEN_UP || pythia__search_is_spread(p);
        if (!ended || p->retry_in > 0 || !s->keeping[i].evidence)
            continue;
        p->retry_in = count_cycles_to_retry(s, p);
        int status = pythia__search_remember(s, i, s->keeping[i].evidence);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* A cycle that fails leaves everything as it was. */
static void revert_cycle(struct pythia_search *s, double clock)
{
    s->clock = clock;
    pythia__search_take_back(s);
    for (size_t i = s->switch_count; i-- > 0;)
        if (s->switches[i].widens) {
            s->wide[s->switches[i].tracepoint] = false;
        } else {
            s->part[s->switches[i].tracepoint] = s->switches[i].part;
            (void)pythia__search_switch(s, pythia__search_type(s, s->switches[i].type),
                                        s->switches[i].tracepoint, !s->switches[i].open);
        }
    clear_switches(s);
    s->cycle--;
}

/* Do all of a cycle that may fail. found->spent is what this cycle's evidence has cost: the
 * spending before any switch. */
static int stage_cycle(struct pythia_search *s, const struct pythia_groups *groups,
                       const uint64_t *hits, size_t hit_count, struct pythia_cycle *found)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    int status = PYTHIA_OK;
    pythia_expected_results_free(&s->expected);
    if (s->o.expectations)
        status =
            pythia_expectations_judge(s->o.expectations, groups, s->o.min_requests, &s->expected);
    if (status != PYTHIA_OK)
        return status;
    if ((status = pythia__search_count_instances(s)) != PYTHIA_OK ||
        (status = pythia__search_meet(s, types, count)) != PYTHIA_OK)
        return status;
    pythia__search_meet_rates(s);
    pythia__search_note_parts(s);
    /* Before any switch of this cycle. */
    found->spent = pythia__search_spending(s);
    status = inspect_problems(s, groups, hits, hit_count, found);
    if (status != PYTHIA_OK)
        return status;
    status = remember_ended(s);
    if (status != PYTHIA_OK)
        return status;
    /* After the inspection, which may have given a problem up, and before its points are closed,
     * which would hide the reason. */
    status = pythia__search_say_why(s);
    if (status != PYTHIA_OK)
        return status;
    status = close_idle(s, hits, hit_count);
    if (status != PYTHIA_OK)
        return status;
    /* Last: all closings above may have freed what a budget demands. */
    return pythia__search_keep_within(s);
}

/* All state of a cycle is staged until nothing can fail any more: a failed allocation leaves the
 * search as it was after the previous cycle, so that the caller can play this one again. */
int pythia_search_cycle(struct pythia_search *s, const struct pythia_groups *groups,
                        const uint64_t *hits, size_t hit_count, struct pythia_cycle *out)
{
    struct pythia_cycle found = {.leading = SIZE_MAX};
    if (pythia__search_begin(s) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    clear_switches(s);
    const double clock = s->clock;
    s->clock += pythia__search_took(s);
    s->cycle++;
    int status = stage_cycle(s, groups, hits, hit_count, &found);
    if (status != PYTHIA_OK) {
        revert_cycle(s, clock);
        return status;
    }
    pythia__search_commit(s);
    /* The plan for the next cycle is computed after the last switch. */
    *out = pythia_search_stand(s);
    out->switches = s->switches;
    out->switch_count = s->switch_count;
    out->leading = found.leading;
    out->waiting = found.waiting;
    out->spent = found.spent;
    out->effects = pythia__search_take_told(s, &out->effect_count);
    return PYTHIA_OK;
}

struct pythia_cycle pythia_search_stand(const struct pythia_search *s)
{
    struct pythia_cycle out = {.number = s->cycle,
                               .problems = s->problems,
                               .problem_count = s->problem_count,
                               .leading = SIZE_MAX,
                               .planned = pythia__search_spending(s),
                               .finished = true};
    out.open_count = out.planned.points;
    for (size_t i = 0; i < s->problem_count; i++)
        out.finished = out.finished && !is_search_pending(s, i);
    return out;
}
