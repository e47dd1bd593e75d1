/* One request type in one cycle: which edge has most of its variance, is that a cause, and if not,
 * what to open and close to see more of it. */
#include <math.h>
#include <string.h>

#include "gain.h"
#include "pythia/dispersion.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

#define REST_MAX  .1   /* share of the variance that may stay without a cause */
#define CAUSE_MIN .03  /* lower bound of the share of a cause */
#define LARGE     .5   /* a share whose lower bound is above needs no comparison */
#define SURE      .9   /* of the cause, by all evidence so far: needs none either */
#define ABOVE     2.   /* standard errors: a share above chance, if that is asked once */
#define IDLE_MAX  2    /* cycles in which no share is above chance, after a cause was found */
#define MASS_MIN  .002 /* a point that parts less from less tells nothing any more */

struct looking {
    struct pythia_search *s;
    size_t number; /* of the problem */
    struct pythia_problem *p;
    struct pythia__search_keeping *k;
    const struct pythia_space_type *type;
    const struct pythia_type *evidence;
    const struct pythia_row **rows; /* of the evidence */
    size_t n;
    const struct pythia_cct *seen;
    struct pythia_ranking ranking;
    struct pythia__region_map map;
    struct pythia_open_points *open;
    bool *explained; /* by edge of the ranking */
    size_t budget;   /* points that may still be opened in this cycle */
};

static bool is_same_place(const struct pythia_place *a, const struct pythia_place *b)
{
    return a->context == b->context && a->from_tracepoint == b->from_tracepoint &&
           a->to_tracepoint == b->to_tracepoint && a->from_event == b->from_event &&
           a->to_event == b->to_event;
}

/* Mark edges whose cause is known, and renew what is known of the causes. */
static void mark_explained(struct looking *l)
{
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        struct pythia_place place = pythia_place_of(l->seen, l->ranking.edges[e].edge);
        for (size_t c = 0; c < l->p->cause_count; c++)
            if (is_same_place(&place, &l->p->causes[c].place)) {
                const struct pythia_share *share = &l->ranking.edges[e].share;
                l->explained[e] = true;
                l->p->causes[c].share = share->share;
                l->p->causes[c].low = share->low;
                l->p->causes[c].high = share->high;
            }
    }
}

/* The two edges with the largest shares that are not explained; the sum of all of them. */
static void find_top(const struct looking *l, size_t *top, size_t *second, double *rest)
{
    *top = *second = SIZE_MAX;
    *rest = 0;
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        double share = l->ranking.edges[e].share.share;
        if (l->explained[e] || isnan(share))
            continue;
        *rest += share;
        if (*top == SIZE_MAX || share > l->ranking.edges[*top].share.share) {
            *second = *top;
            *top = e;
        } else if (*second == SIZE_MAX || share > l->ranking.edges[*second].share.share) {
            *second = e;
        }
    }
}

/* Is there nothing behind an edge that could be opened? Where the space has never seen one event
 * follow the other, it may be anything in the context. */
static bool is_leaf(struct looking *l, size_t e)
{
    const struct pythia_edge *edge = pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge);
    pythia__region_find(&l->map, edge);
    bool known = pythia__region_time(&l->map, PYTHIA_CCT_ROOT) > 0;
    for (uint32_t node = 1; node < pythia_cct_nodes(l->type->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        bool behind = known ? pythia__region_has(&l->map, node)
                            : !l->s->open[point] && l->map.masked[node] == edge->context;
        if (behind && !l->s->never[point] && !l->k->retired[point])
            return false;
    }
    return true;
}

/* How probable is it, by all evidence, that the cause is in the context of an edge itself? */
static double probability_of(const struct looking *l, size_t e)
{
    uint32_t context = pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge)->context;
    double sum = 0;
    for (uint32_t node = 1; node < l->k->belief.nodes; node++)
        if (l->map.open[node] && l->map.masked[node] == context)
            sum += l->k->belief.mass[node];
    return sum;
}

static bool stands_out(const struct looking *l, size_t top, size_t second)
{
    const struct pythia_share *a = &l->ranking.edges[top].share;
    if (!(a->low >= CAUSE_MIN))
        return false;
    return a->low >= LARGE || second == SIZE_MAX || a->low > l->ranking.edges[second].share.high ||
           probability_of(l, top) >= SURE;
}

/* A cause was found: what lies there need not be looked for any more, and the search for what is
 * left begins anew. */
static int begin_anew(struct looking *l)
{
    struct pythia__belief fresh;
    int status = pythia__belief_create(l->type, &fresh);
    if (status != PYTHIA_OK)
        return status;
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        if (!l->explained[e])
            continue;
        pythia__region_find(&l->map, pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge));
        for (uint32_t node = 1; node < fresh.nodes; node++)
            if (l->map.inside[node] > 0 && l->map.open[node] &&
                l->map.masked[node] ==
                    pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge)->context)
                fresh.log_weight[node] -= 20;
    }
    pythia__belief_free(&l->k->belief);
    l->k->belief = fresh;
    return PYTHIA_OK;
}

static int update(struct looking *l)
{
    return pythia__belief_update(&l->k->belief, &l->map, &l->ranking, l->explained,
                                 l->s->o.seed + l->s->cycle);
}

/* Take away causes as long as there is one that stands out with nothing closed behind it. */
static int find_causes(struct looking *l)
{
    size_t top = SIZE_MAX, second;
    int status = PYTHIA_OK;
    while (status == PYTHIA_OK) {
        find_top(l, &top, &second, &l->p->rest);
        l->p->top = (struct pythia_finding){.share = NAN};
        if (top == SIZE_MAX)
            break;
        const struct pythia_share *share = &l->ranking.edges[top].share;
        l->p->top = (struct pythia_finding){pythia_place_of(l->seen, l->ranking.edges[top].edge),
                                            share->share, share->low, share->high};
        if (l->p->cause_count == PYTHIA_PROBLEM_CAUSES ||
            (l->p->cause_count > 0 && l->p->rest < REST_MAX) || !stands_out(l, top, second) ||
            !is_leaf(l, top))
            break;
        l->p->causes[l->p->cause_count++] = l->p->top;
        l->explained[top] = true;
        status = begin_anew(l);
        if (status == PYTHIA_OK)
            status = update(l);
    }
    bool above = top != SIZE_MAX &&
                 l->ranking.edges[top].share.share > ABOVE * l->ranking.edges[top].share.se;
    l->k->idle = above ? 0 : l->k->idle + 1;
    if (l->p->cause_count > 0 && (l->p->rest < REST_MAX || l->k->idle >= IDLE_MAX))
        l->p->state = PYTHIA_PROBLEM_DONE;
    else if (l->k->idle >= PYTHIA__SEARCH_IDLE)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    return status;
}

static int open_picks(struct looking *l, const struct pythia__pick *picks, size_t count)
{
    struct pythia_search *s = l->s;
    const struct pythia__belief *b = &l->k->belief;
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    for (size_t i = 0; i < count; i++) {
        struct pythia_buf reason = {0};
        pythia_buf_printf(&reason, "the cause is in it or below it with a probability of %.0f %%",
                          100 * picks[i].inside);
        if (picks[i].block < b->region_count) {
            struct pythia_place place = pythia_place_of(l->seen, b->regions[picks[i].block].edge);
            pythia_buf_printf(&reason, ", and it parts what lies ");
            pythia_place_add(&reason, v, &place);
            pythia_buf_printf(&reason, ", which has %.0f %% of the variance",
                              100 * b->regions[picks[i].block].share);
        }
        if (pythia__search_decide(s, picks[i].tracepoint, true, l->number, picks[i].inside,
                                  &reason) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        l->budget--;
    }
    return PYTHIA_OK;
}

size_t pythia__search_room(const struct pythia_search *s, size_t wanted, double *ns_left)
{
    size_t open = 0;
    double added = 0;
    for (uint32_t point = 0; point < s->points; point++)
        if (s->open[point] && !s->skeleton[point]) {
            open++;
            added += s->calls[point] * s->o.price_ns;
        }
    *ns_left = s->o.budget.added_ns > 0 ? s->o.budget.added_ns - added : INFINITY;
    size_t limit = s->o.budget.points_open;
    return limit == 0 ? wanted : open >= limit ? 0 : limit - open < wanted ? limit - open : wanted;
}

/* Have durations another spread than when points were last retired? Then what they told is past. */
static int forget_if_changed(struct looking *l)
{
    size_t old = l->k->duration_count, all = old + l->n;
    if (old == 0)
        return PYTHIA_OK;
    double *x = pythia_calloc(all, sizeof(*x));
    uint32_t *side = pythia_calloc(all, sizeof(*side));
    struct pythia_test_result test = {.p = NAN};
    int status = x && side ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; i < all && status == PYTHIA_OK; i++) {
        x[i] = i < old ? l->k->log_durations[i] : log((double)l->rows[i - old]->duration_ns + 1);
        side[i] = i >= old;
    }
    if (status == PYTHIA_OK)
        status = pythia_dispersion_brown_forsythe(x, side, all, 2, &test);
    if (status == PYTHIA_OK && test.p <= pythia_gate_alpha(l->s->o.alpha, l->s->cycle)) {
        memset(l->k->retired, 0, l->s->points * sizeof(*l->k->retired));
        l->k->duration_count = 0;
        pythia__belief_free(&l->k->belief);
    }
    pythia_free(x);
    pythia_free(side);
    return status;
}

int pythia__search_remember(struct pythia__search_keeping *k, const struct pythia_type *t)
{
    size_t n = pythia_sample_count(t->rows);
    double *kept = pythia_calloc(n, sizeof(*kept));
    if (!kept)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct pythia_row *row = pythia_sample_row(t->rows, i);
        kept[i] = log((double)row->duration_ns + 1);
    }
    pythia_free(k->log_durations);
    k->log_durations = kept;
    k->duration_count = n;
    return PYTHIA_OK;
}

/* Of each open trace point, how much it parts: the mass that is in it, up to the next open points,
 * or the mass around it. Owned by the caller; NULL when out of memory. */
static double *use_of_points(const struct looking *l)
{
    const struct pythia_search *s = l->s;
    const struct pythia_cct *cct = l->type->cct;
    const struct pythia__belief *b = &l->k->belief;
    uint32_t *around = pythia_calloc(b->nodes, sizeof(*around)); /* nearest open node, or itself */
    double *mass = pythia_calloc(b->nodes, sizeof(*mass));
    double *use = pythia_calloc(s->points, sizeof(*use));
    bool made = around && mass && use;
    for (uint32_t node = 1; made && node < b->nodes; node++) {
        bool open = s->open[pythia_cct_tracepoint(cct, node)];
        around[node] = open ? node : around[pythia_cct_parent(cct, node)];
        mass[around[node]] += b->mass[node];
    }
    for (uint32_t node = 1; made && node < b->nodes; node++)
        if (around[node] == node) {
            double *of = &use[pythia_cct_tracepoint(cct, node)];
            *of = fmax(*of, fmax(mass[node], mass[around[pythia_cct_parent(cct, node)]]));
        }
    pythia_free(around);
    pythia_free(mass);
    if (made)
        return use;
    pythia_free(use);
    return NULL;
}

/* May the search of this problem close a point again? */
static bool is_ours(const struct looking *l, uint32_t point)
{
    const struct pythia_search *s = l->s;
    return s->open[point] && !s->skeleton[point] && !pythia__search_is_decided(s, point) &&
           s->calls[point] > 0 && !pythia__search_bounds_cause(s, point) &&
           pythia__search_has_point(s, l->number, point);
}

/* Close the points that part little from little. */
static int close_useless(struct looking *l)
{
    struct pythia_search *s = l->s;
    double *use = use_of_points(l);
    int status = use ? PYTHIA_OK : PYTHIA_ENOMEM;
    bool retired = false;
    for (uint32_t point = 0; status == PYTHIA_OK && point < s->points; point++)
        if (is_ours(l, point) && use[point] < MASS_MIN) {
            l->k->retired[point] = retired = true;
            status = pythia__search_close(s, point, l->number,
                                          "the cause is neither in it nor around it");
        }
    pythia_free(use);
    return status == PYTHIA_OK && retired ? pythia__search_remember(l->k, l->evidence) : status;
}

/* The budget is used up: close the points that part least, about half of them at most, so that
 * others may be opened. They may be opened again. */
static int make_room(struct looking *l, size_t *closed)
{
    struct pythia_search *s = l->s;
    double *use = use_of_points(l);
    size_t most = 0;
    int status = use ? PYTHIA_OK : PYTHIA_ENOMEM;
    *closed = 0;
    for (uint32_t point = 0; status == PYTHIA_OK && point < s->points; point++)
        most += is_ours(l, point);
    most = (most + 1) / 2 < l->budget ? (most + 1) / 2 : l->budget;
    while (status == PYTHIA_OK && *closed < most) {
        uint32_t least = PYTHIA_NONE;
        for (uint32_t point = 0; point < s->points; point++)
            if (is_ours(l, point) && (least == PYTHIA_NONE || use[point] < use[least]))
                least = point;
        if (least == PYTHIA_NONE)
            break;
        status = pythia__search_close(s, least, l->number,
                                      "others tell more, and the budget is used up");
        ++*closed;
    }
    pythia_free(use);
    return status;
}

/* Choose what fits the budgets; *any: there is something that could be opened with more of them. */
static int pick(struct looking *l, struct pythia__pick *picks, size_t *count, bool *any)
{
    struct pythia_search *s = l->s;
    double ns_left;
    size_t budget = pythia__search_room(s, l->budget, &ns_left), chosen = 0;
    bool *closed = pythia_calloc(s->points, sizeof(*closed));
    int status = closed ? PYTHIA_OK : PYTHIA_ENOMEM;
    *any = false;
    for (uint32_t node = 1; status == PYTHIA_OK && node < pythia_cct_nodes(l->type->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        bool may = !s->open[point] && !s->never[point] && !l->k->retired[point] &&
                   !pythia__search_is_decided(s, point);
        *any = *any || may;
        closed[point] = may && s->calls[point] * s->o.price_ns <= ns_left;
    }
    if (status == PYTHIA_OK && budget > 0)
        status =
            pythia__gain_choose(&l->k->belief, closed, PYTHIA__CALL_PRICE, budget, picks, &chosen);
    for (size_t i = 0; i < chosen; i++) { /* together they must fit as well */
        ns_left -= s->calls[picks[i].tracepoint] * s->o.price_ns;
        chosen = ns_left < 0 ? i : chosen;
    }
    *count = chosen;
    pythia_free(closed);
    return status;
}

static int open_more(struct looking *l)
{
    const struct pythia_budget *budget = &l->s->o.budget;
    size_t count = 0, closed = 0;
    bool any = false;
    struct pythia__pick *picks = pythia_calloc(l->budget + 1, sizeof(*picks));
    int status = picks ? pick(l, picks, &count, &any) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK && count == 0 && any &&
        (budget->points_open > 0 || budget->added_ns > 0)) {
        status = make_room(l, &closed);
        if (status == PYTHIA_OK && closed > 0)
            status = pick(l, picks, &count, &any);
    }
    /* nothing to open: further requests may still tell, up to a point */
    l->k->unanswered = count > 0 || closed > 0 ? 0 : l->k->unanswered + 1;
    if (l->k->unanswered >= PYTHIA__SEARCH_IDLE)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    if (status == PYTHIA_OK)
        status = open_picks(l, picks, count);
    pythia_free(picks);
    return status;
}

/* Rank the edges of all requests of the type and go on from there. */
static int look(struct looking *l)
{
    struct pythia_search *s = l->s;
    struct pythia_rank_options how = {.measure = PYTHIA_MEASURE_SHARE,
                                      .level = 1 - pythia_gate_alpha(s->o.alpha, s->cycle),
                                      .alpha = s->o.alpha,
                                      .seed = s->o.seed};
    l->p->cycles++;
    int status = forget_if_changed(l);
    if (status == PYTHIA_OK && l->k->belief.nodes == 0)
        status = pythia__belief_create(l->type, &l->k->belief);
    if (status == PYTHIA_OK)
        status = pythia_rank(l->rows, l->n, l->seen, &how, &l->ranking);
    if (status == PYTHIA_OK)
        status = pythia__region_map_create(l->type, l->seen, l->open, &l->map);
    if (status == PYTHIA_OK && l->ranking.edge_count > 0) {
        l->explained = pythia_calloc(l->ranking.edge_count, sizeof(*l->explained));
        status = l->explained ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    if (status == PYTHIA_OK) {
        mark_explained(l);
        status = update(l);
    }
    if (status == PYTHIA_OK)
        status = find_causes(l);
    if (l->p->state == PYTHIA_PROBLEM_SEARCHING && l->p->cycles >= s->o.patience)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    if (status == PYTHIA_OK && l->p->state == PYTHIA_PROBLEM_SEARCHING && l->budget > 0 &&
        !s->o.strategy)
        status = open_more(l);
    if (status == PYTHIA_OK && l->p->state == PYTHIA_PROBLEM_SEARCHING)
        status = close_useless(l);
    pythia__region_map_free(&l->map);
    pythia_ranking_free(&l->ranking);
    pythia_free(l->explained);
    return status;
}

int pythia__search_look(struct pythia_search *s, size_t number, const struct pythia_type *t,
                        const struct pythia_groups *groups, struct pythia_open_points *open,
                        size_t *budget)
{
    struct looking l = {.s = s,
                        .number = number,
                        .p = &s->problems[number],
                        .k = &s->keeping[number],
                        .type = pythia_space_type(s->space, t->unsplit),
                        .evidence = t,
                        .n = pythia_sample_count(t->rows),
                        .seen = pythia_groups_cct(groups),
                        .open = open,
                        .budget = *budget};
    l.rows = pythia_calloc(l.n, sizeof(struct pythia_row *));
    if (!l.rows)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < l.n; i++)
        l.rows[i] = pythia_sample_row(t->rows, i);
    int status = look(&l);
    pythia_free(l.rows);
    *budget = l.budget;
    return status;
}
