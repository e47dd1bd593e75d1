/* Finds the reason why a problem that is no longer searched has no cause: what an operator would
 * have to change. */
#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"
#include "strategy/gain.h"

/* They choose which obstacle is named of a search that has ended. No experiment has chosen them:
 * what pythia evaluate scores does not depend on them. */
#define PROBABLE .5  /* of a cause to be in a point */
#define TELLS    .01 /* bits about the cause, below which a point tells nothing worth a change */

const char *pythia_why_name(enum pythia_why why)
{
    static const char *const names[] = {NULL,       "too_few",  "no_type", "budget",
                                        "pinned",   "strategy", "outside", "chance",
                                        "patience", "small",    "spread"};
    return names[why];
}

/* The obstacle to opening a closed point. */
enum bar { BAR_NONE, BAR_BUDGET, BAR_PIN, BARS };

static enum bar find_bar_of_point(const struct pythia_search *s, size_t number, uint32_t point,
                                  const struct pythia__search_room *room)
{
    const struct pythia__search_type *t = pythia__search_type_at(s, number);
    if (s->never[point])
        return BAR_PIN;
    bool may =
        pythia__search_fits(s, t, point, room) && pythia__search_is_worth(s, number, point, 1);
    return may ? BAR_NONE : BAR_BUDGET;
}

/* For each obstacle, the closed point that would give most information; bits 0: none gives any. */
static int find_best_by_bar(const struct pythia_search *s, size_t number, struct pythia__pick *best)
{
    const struct pythia__search_keeping *k = &s->keeping[number];
    const struct pythia_cct *cct = k->belief.type->cct;
    struct pythia__search_room room = pythia__search_room(s, s->o.budget.points_per_cycle);
    bool *closed = pythia_calloc(s->points, sizeof(*closed));
    int status = closed ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (enum bar bar = BAR_NONE; bar < BARS; bar++) {
        size_t count;
        for (uint32_t node = 1; node < pythia_cct_nodes(cct); node++) {
            uint32_t point = pythia_cct_tracepoint(cct, node);
            closed[point] = !s->open[point] && !pythia__search_is_retired(s, number, point) &&
                            find_bar_of_point(s, number, point, &room) == bar;
        }
        /* The usual choice, among the points that only this obstacle keeps closed. */
        best[bar] = (struct pythia__pick){.tracepoint = PYTHIA_NONE};
        status = pythia__gain_choose(&k->belief, closed, PYTHIA__CALL_PRICE, s->relative, 1,
                                     &best[bar], &count);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(closed);
    return status;
}

static void note_blocked_point(const struct pythia_search *s, size_t number, uint32_t point)
{
    struct pythia_problem *p = &s->problems[number];
    const struct pythia__search_type *t = pythia__search_type_at(s, number);
    p->blocked = point;
    p->needs = (struct pythia_spending){.points = 1,
                                        .added_ns = pythia__search_cost(s, t, point),
                                        .bytes_per_second = pythia__search_bytes(s, t, point)};
}

/* A point that is almost certain gives no information and is nevertheless the cause: find the
 * innermost closed point that the cause is probably in. BAR_NONE if there is none, or nothing
 * bars it. PYTHIA_OK or PYTHIA_ENOMEM. */
static int find_probable(const struct pythia_search *s, size_t number, enum bar *bar,
                         uint32_t *point)
{
    const struct pythia__belief *b = &s->keeping[number].belief;
    struct pythia__search_room room = pythia__search_room(s, s->o.budget.points_per_cycle);
    double *below = pythia_calloc(b->nodes, sizeof(*below));
    bool found = false;
    *bar = BAR_NONE;
    if (!below)
        return PYTHIA_ENOMEM;
    for (uint32_t place = b->nodes; place-- > 1;) { /* what is below comes behind */
        uint32_t node = b->order[place], at = pythia_cct_tracepoint(b->type->cct, node);
        below[node] += b->mass[node];
        below[pythia_cct_parent(b->type->cct, node)] += below[node];
        if (found || below[node] < PROBABLE || s->open[at] ||
            pythia__search_is_retired(s, number, at))
            continue;
        found = true;
        *point = at;
        *bar = find_bar_of_point(s, number, at, &room);
    }
    pythia_free(below);
    return PYTHIA_OK;
}

/* Nothing is in the way: give the reason from what the search has seen itself. */
static enum pythia_why classify_unblocked(const struct pythia_search *s, size_t number)
{
    const struct pythia_problem *p = &s->problems[number];
    uint64_t cycles = p->cycles - s->keeping[number].looked;
    bool small = p->top.share < PYTHIA__SEARCH_LARGE && cycles >= PYTHIA__SEARCH_SMALL;
    return small || cycles >= s->o.patience ? PYTHIA_WHY_PATIENCE : PYTHIA_WHY_OUTSIDE;
}

static int explain_given_up(const struct pythia_search *s, size_t number)
{
    struct pythia_problem *p = &s->problems[number];
    struct pythia__pick best[BARS];
    if (p->top.share < PYTHIA_FINDING_MIN) {
        p->why = PYTHIA_WHY_SMALL;
        return PYTHIA_OK;
    }
    if (s->keeping[number].idle >= PYTHIA__SEARCH_IDLE || !(p->top.low > 0)) {
        p->why = PYTHIA_WHY_CHANCE;
        return PYTHIA_OK;
    }
    p->why = classify_unblocked(s, number);
    if (s->keeping[number].belief.nodes == 0)
        return PYTHIA_OK;
    int status = find_best_by_bar(s, number, best);
    if (status != PYTHIA_OK)
        return status;
    /* Of the obstacles, name the one that hides the most informative point: to lift any other
     * would not have let the search continue. */
    enum bar most = BAR_NONE;
    for (enum bar bar = BAR_BUDGET; bar < BARS; bar++)
        most = best[bar].bits > best[most].bits ? bar : most;
    uint32_t blocked = best[most].tracepoint;
    /* No hidden point is informative, for instance with one candidate left. Then the point that
     * probably contains the cause is worth naming all the same. */
    if (!(best[most].bits >= TELLS)) {
        status = find_probable(s, number, &most, &blocked);
        if (status != PYTHIA_OK || most == BAR_NONE)
            return status;
    }
    note_blocked_point(s, number, blocked);
    if (most == BAR_BUDGET)
        p->why = PYTHIA_WHY_BUDGET;
    else if (most == BAR_PIN)
        p->why = PYTHIA_WHY_PINNED;
    else if (p->why == PYTHIA_WHY_OUTSIDE)
        p->why = PYTHIA_WHY_STRATEGY;
    return PYTHIA_OK;
}

static bool is_around_cause(const struct pythia_problem *p, uint32_t point)
{
    for (size_t c = 0; c < p->cause_count; c++)
        if (p->causes[c].place.context == point)
            return true;
    return false;
}

/* A cause is in what is open, as near as pins let it be seen: of the points that are pinned shut
 * and are called there, name the one with most time. */
static int find_blocking_pin(const struct pythia_search *s, size_t number)
{
    struct pythia_problem *p = &s->problems[number];
    const struct pythia_space_type *t = pythia_space_type(s->space, p->unsplit);
    uint64_t most = 0;
    p->why = PYTHIA_WHY_NONE;
    if ((!s->o.never && !pythia_open_points_is_limited(s->o.always)) || !t)
        return PYTHIA_OK;
    uint32_t *around = pythia_calloc(pythia_cct_nodes(t->cct), sizeof(*around));
    if (!around)
        return PYTHIA_ENOMEM;
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(t->cct, node);
        /* Parents have smaller numbers, so theirs is known. */
        around[node] = s->open[point] ? point : around[pythia_cct_parent(t->cct, node)];
        if (!s->open[point] && s->never[point] && t->nodes[node].time_ns > most &&
            is_around_cause(p, around[node])) {
            most = t->nodes[node].time_ns;
            p->why = PYTHIA_WHY_PINNED;
            note_blocked_point(s, number, point);
        }
    }
    pythia_free(around);
    return PYTHIA_OK;
}

/* Look for a reason among points as the problem's type sees them. */
static int run_as_type(struct pythia_search *s, size_t number,
                       int (*look)(const struct pythia_search *s, size_t number))
{
    struct pythia__search_hidden hidden;
    int status = pythia__search_hide(s, number, &hidden);
    if (status != PYTHIA_OK)
        goto out;
    status = look(s, number);
out:
    pythia__search_show(&hidden);
    return status;
}

static int find_why(struct pythia_search *s, size_t number)
{
    struct pythia_problem *p = &s->problems[number];
    if (p->state == PYTHIA_PROBLEM_TOO_FEW)
        p->why = PYTHIA_WHY_TOO_FEW;
    else if (p->state == PYTHIA_PROBLEM_UNKNOWN)
        p->why = PYTHIA_WHY_NO_TYPE;
    else if (p->state == PYTHIA_PROBLEM_DONE && !pythia__search_is_spread(p))
        return run_as_type(s, number, find_blocking_pin);
    else if (p->state != PYTHIA_PROBLEM_GIVEN_UP && !pythia__search_is_spread(p))
        p->why = PYTHIA_WHY_NONE;
    else if (p->why <= PYTHIA_WHY_NO_TYPE) /* it has just been given up */
        return run_as_type(s, number, explain_given_up);
    return PYTHIA_OK;
}

int pythia__search_say_why(struct pythia_search *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        int status = find_why(s, i);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}
