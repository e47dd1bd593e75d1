/* One request type in one cycle: which edge has most of its variance, is that a cause, and if not,
 * what to open and close to see more of it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "gain.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

/* Below that largest share nothing is left to search for. It is less than what matters, because the
 * share that 50 requests show has an error: ./dev bench search, "three causes". */
#define ENDED .12

#define AGAIN_LOW  .1  /* lower bound of a new share for which an ended search begins again */
#define CAUSE_MIN  .03 /* lower bound of the share of a cause */
#define LARGE      .5  /* a share whose lower bound is above needs no comparison */
#define COMPARABLE .5  /* of the largest share that may still be parted: a cause may be no less */
#define SURE       .9  /* of the cause, by all evidence so far: needs none either */
#define ABOVE      2.  /* standard errors: a share above chance, if that is asked once */
/* Cycles in which no share is above chance, after a cause was found, or in which none matters. */
#define IDLE_MAX  2
#define PAST_MAX  2   /* cycles in which a cause has no share: it is gone then. One may be chance */
#define SURPRISE  .01 /* evidence that was no more probable than that overturns what is believed */
#define KNOWN_LOG 20  /* a place whose cause is known is less probable by that */
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

/* Mark edges whose cause is known, and renew what is known of the causes. */
static void mark_explained(struct looking *l)
{
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        struct pythia_place place = pythia_place_of(l->seen, l->ranking.edges[e].edge);
        for (size_t c = 0; c < l->p->cause_count; c++)
            if (pythia_place_equal(&place, &l->p->causes[c].place)) {
                const struct pythia_share *share = &l->ranking.edges[e].share;
                l->explained[e] = true;
                l->p->causes[c].share = share->share;
                l->p->causes[c].low = share->low;
                l->p->causes[c].high = share->high;
            }
    }
}

/* The edge with the largest share that is not explained; the sum of all such shares. */
static void find_top(const struct looking *l, size_t *top, double *rest)
{
    *top = SIZE_MAX;
    *rest = 0;
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        double share = l->ranking.edges[e].share.share;
        if (l->explained[e] || isnan(share))
            continue;
        *rest += share;
        if (*top == SIZE_MAX || share > l->ranking.edges[*top].share.share)
            *top = e;
    }
}

/* The next node after `node` (0: the first) of a trace point that lies behind an edge and could be
 * opened; PYTHIA_NONE: there is none. Where the space has never seen one event of the edge follow
 * the other, anything in the context may lie behind it. The edge was looked up by
 * pythia__region_find. */
static uint32_t next_behind(const struct looking *l, const struct pythia_edge *edge, uint32_t node)
{
    bool known = pythia__region_time(&l->map, PYTHIA_CCT_ROOT) > 0;
    while (++node < pythia_cct_nodes(l->type->cct)) {
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        bool behind = known ? pythia__region_has(&l->map, node)
                            : !l->s->open[point] && l->map.masked[node] == edge->context;
        if (behind && !l->s->never[point] && !pythia__search_is_retired(l->s, l->number, point))
            return node;
    }
    return PYTHIA_NONE;
}

static bool is_leaf(struct looking *l, size_t e)
{
    const struct pythia_edge *edge = pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge);
    pythia__region_find(&l->map, edge);
    return next_behind(l, edge, 0) == PYTHIA_NONE;
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

/* May an edge that can still be parted hold a cause that dwarfs one of share `low`? */
static bool is_dwarfed(struct looking *l, size_t top, double low)
{
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        bool large = COMPARABLE * l->ranking.edges[e].share.high >= low;
        if (e != top && !l->explained[e] && large && !is_leaf(l, e))
            return true;
    }
    return false;
}

/* Is the time of an edge a cause of its own? Its share is above chance, and nothing else that is
 * not yet understood may be much larger. */
static bool stands_out(struct looking *l, size_t top)
{
    double low = l->ranking.edges[top].share.low;
    return low >= CAUSE_MIN &&
           (low >= LARGE || probability_of(l, top) >= SURE || !is_dwarfed(l, top, low));
}

/* A cause was found: what lies there need not be looked for any more, and the search for what is
 * left begins anew. */
static void begin_anew(struct looking *l)
{
    struct pythia__belief *belief = &l->k->belief;
    pythia__belief_reset(belief);
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        if (!l->explained[e])
            continue;
        const struct pythia_edge *edge = pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge);
        pythia__region_find(&l->map, edge);
        for (uint32_t node = 1; node < belief->nodes; node++)
            if (l->map.inside[node] > 0 && l->map.open[node] &&
                l->map.masked[node] == edge->context)
                belief->log_weight[node] -= KNOWN_LOG;
    }
}

static int update_once(struct looking *l)
{
    return pythia__belief_update(&l->k->belief, &l->map, &l->ranking, l->explained,
                                 l->s->o.seed + l->s->cycle, &l->s->draws);
}

/* Evidence that what is believed all but rules out: the cause has moved, or the beginning misled.
 * Then only the last evidence counts. */
static int update(struct looking *l)
{
    int status = update_once(l);
    if (status != PYTHIA_OK || l->k->belief.expected >= SURPRISE)
        return status;
    pythia__search_forget(l->s, l->number);
    return update_once(l);
}

/* Has the search ended? The largest edge decides, and not the sum of what no cause explains: noise
 * adds up to a large sum that no trace point can reduce. As long as no cause was found, a share has
 * to be as large as that of a finding and surely above 0, and only a large one makes the search go
 * on for as long as before: of some ten edges of independent noise one has a tenth of the variance
 * in nearly every cycle, and often enough a fifth. So the search also ends where no share is large
 * after PYTHIA__SEARCH_SMALL cycles (./dev bench search, "nothing but noise": 90 % of 200 seeds end
 * within 7 cycles instead of 10; 6 and 8 cycles are wrong in 5 and 5.5 % of them). */
static void end_search(struct looking *l, bool above)
{
    bool matters = l->p->cause_count > 0
                       ? l->p->top.share >= ENDED
                       : l->p->top.share >= PYTHIA_FINDING_MIN && l->p->top.low > 0;
    bool large = l->p->cause_count > 0 || l->p->top.share >= PYTHIA__SEARCH_LARGE;
    if (!above || !matters)
        l->k->idle++;
    else if (large)
        l->k->idle = 0;
    if (l->p->cause_count > 0 && (!matters || l->k->idle >= IDLE_MAX))
        l->p->state = PYTHIA_PROBLEM_DONE;
    else if (l->k->idle >= (matters ? PYTHIA__SEARCH_IDLE : IDLE_MAX) ||
             (!large && l->p->cycles - l->k->looked >= PYTHIA__SEARCH_SMALL))
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
}

/* Take away causes as long as there is one that stands out with nothing closed behind it. */
static int find_causes(struct looking *l)
{
    size_t top = SIZE_MAX;
    int status = PYTHIA_OK;
    while (status == PYTHIA_OK) {
        find_top(l, &top, &l->p->rest);
        l->p->top = (struct pythia_finding){.share = NAN};
        if (top == SIZE_MAX)
            break;
        const struct pythia_share *share = &l->ranking.edges[top].share;
        l->p->top = (struct pythia_finding){pythia_place_of(l->seen, l->ranking.edges[top].edge),
                                            share->share, share->low, share->high};
        if (l->p->cause_count == PYTHIA_PROBLEM_CAUSES || share->share < PYTHIA_FINDING_MIN ||
            !stands_out(l, top) || !is_leaf(l, top))
            break;
        l->p->causes[l->p->cause_count++] = l->p->top;
        l->explained[top] = true;
        begin_anew(l);
        status = update(l);
    }
    bool above = top != SIZE_MAX &&
                 l->ranking.edges[top].share.share > ABOVE * l->ranking.edges[top].share.se;
    if (status == PYTHIA_OK)
        end_search(l, above);
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

double *pythia__search_use(struct pythia_search *s, size_t number)
{
    struct looking l = {.s = s,
                        .k = &s->keeping[number],
                        .type = pythia_space_type(s->space, s->problems[number].type)};
    return use_of_points(&l);
}

/* May the search of this problem close a point again? */
static bool is_ours(const struct looking *l, uint32_t point)
{
    const struct pythia_search *s = l->s;
    return s->open[point] && !s->skeleton[point] && !pythia__search_is_decided(s, point) &&
           s->calls[point] > 0 && !pythia__search_bounds_cause(s, point) &&
           pythia__search_has_point(s, l->number, point);
}

/* Close the points that part little from little, or cost more than they may explain. */
static int close_useless(struct looking *l)
{
    struct pythia_search *s = l->s;
    double *use = use_of_points(l);
    int status = use ? PYTHIA_OK : PYTHIA_ENOMEM;
    bool retired = false;
    for (uint32_t point = 0; status == PYTHIA_OK && point < s->points; point++) {
        bool useless = use[point] < MASS_MIN;
        if (!is_ours(l, point) ||
            (!useless && pythia__search_is_worth(s, l->number, point, use[point])))
            continue;
        retired = true;
        status = pythia__search_retire(s, l->number, point);
        if (status == PYTHIA_OK)
            status =
                pythia__search_close(s, point, l->number,
                                     useless ? "the cause is neither in it nor around it"
                                             : "it adds more to a request than it may explain");
    }
    pythia_free(use);
    return status == PYTHIA_OK && retired ? pythia__search_remember(s, l->number, l->evidence)
                                          : status;
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

static int find_best(const struct looking *l, const bool *may, struct pythia__pick *best)
{
    size_t count = 0;
    *best = (struct pythia__pick){.tracepoint = PYTHIA_NONE};
    return pythia__gain_choose(&l->k->belief, may, PYTHIA__CALL_PRICE, l->s->relative, 1, best,
                               &count);
}

/* Where budgets are small, what fits them may tell next to nothing: how many bits is it worth to
 * open something for, beside the best of all that may be opened? And is there such a thing that
 * would fit if less were open? `may` by trace point becomes what would fit then. */
static int compare_with_best(const struct looking *l, bool *may, double *least, bool *would_fit)
{
    struct pythia__pick best;
    *least = 0;
    *would_fit = false;
    if (!pythia__search_is_limited(l->s))
        return PYTHIA_OK;
    int status = find_best(l, may, &best);
    *least = PYTHIA__PART_MIN * best.bits;
    for (uint32_t point = 0; point < l->s->points; point++)
        may[point] = may[point] && pythia__search_fits_alone(l->s, point);
    if (status == PYTHIA_OK)
        status = find_best(l, may, &best);
    *would_fit = best.bits > 0 && best.bits >= *least;
    return status;
}

/* Choose what fits the budgets. */
static int pick(struct looking *l, struct pythia__pick *picks, size_t *count, bool *would_fit)
{
    struct pythia_search *s = l->s;
    struct pythia__search_room room = pythia__search_room(s, l->budget);
    size_t chosen = 0;
    double least = 0;
    bool *may = pythia_calloc(s->points, sizeof(*may));
    int status = may ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (uint32_t node = 1; status == PYTHIA_OK && node < pythia_cct_nodes(l->type->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        may[point] = !s->open[point] && !s->never[point] &&
                     !pythia__search_is_retired(l->s, l->number, point) &&
                     !pythia__search_is_decided(s, point) &&
                     pythia__search_is_worth(s, l->number, point, 1);
    }
    if (status == PYTHIA_OK)
        status = compare_with_best(l, may, &least, would_fit);
    for (uint32_t point = 0; status == PYTHIA_OK && point < s->points; point++)
        may[point] = may[point] && pythia__search_fits(s, point, &room);
    if (status == PYTHIA_OK && room.points > 0)
        status = pythia__gain_choose(&l->k->belief, may, PYTHIA__CALL_PRICE, s->relative,
                                     room.points, picks, &chosen);
    *count = 0; /* together they must fit as well */
    while (*count < chosen && picks[*count].bits >= least &&
           pythia__search_take(s, picks[*count].tracepoint, &room))
        ++*count;
    pythia_free(may);
    return status;
}

/* Nothing would tell more by what is believed, and yet the edge with the largest share has closed
 * points behind it: open those that the cause is most probably in, and see. */
static int confirm(struct looking *l, struct pythia__pick *picks, size_t *count)
{
    struct pythia_search *s = l->s;
    const struct pythia__belief *b = &l->k->belief;
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    size_t top;
    double rest, least = 0, *mass = pythia_calloc(s->points, sizeof(*mass));
    if (!mass)
        return PYTHIA_ENOMEM;
    struct pythia__search_room room = pythia__search_room(s, l->budget);
    find_top(l, &top, &rest);
    if (top != SIZE_MAX) {
        const struct pythia_edge *edge = pythia_cct_edge_at(l->seen, l->ranking.edges[top].edge);
        pythia__region_find(&l->map, edge);
        for (uint32_t node = 0; (node = next_behind(l, edge, node)) != PYTHIA_NONE;) {
            double *sum = &mass[pythia_cct_tracepoint(l->type->cct, node)];
            *sum = fmax(*sum, DBL_MIN); /* it is behind */
            for (uint32_t place = b->place[node]; place < b->behind[node]; place++)
                *sum += b->mass[b->order[place]];
        }
    }
    for (uint32_t point = 0; point < s->points && pythia__search_is_limited(s); point++)
        least = fmax(least, PYTHIA__PART_MIN * mass[point]);
    while (room.points > 0) {
        uint32_t best = PYTHIA_NONE;
        for (uint32_t point = 0; point < s->points; point++) {
            bool may = mass[point] > 0 && mass[point] >= least && !s->open[point] &&
                       !pythia__search_is_decided(s, point) &&
                       pythia__search_fits(s, point, &room) &&
                       pythia__search_is_worth(s, l->number, point, 1);
            if (may && (best == PYTHIA_NONE || mass[point] > mass[best] ||
                        (mass[point] == mass[best] &&
                         pythia_text_compare(pythia_vocabulary_tracepoint_id(v, point),
                                             pythia_vocabulary_tracepoint_id(v, best)) < 0)))
                best = point;
        }
        if (best == PYTHIA_NONE)
            break;
        (void)pythia__search_take(s, best, &room);
        picks[(*count)++] = (struct pythia__pick){.tracepoint = best,
                                                  .inside = fmin(mass[best], 1),
                                                  .calls = s->calls[best],
                                                  .block = b->region_count};
        mass[best] = 0;
    }
    pythia_free(mass);
    return PYTHIA_OK;
}

static int open_more(struct looking *l)
{
    size_t count = 0, closed = 0;
    bool would_fit = false;
    struct pythia__pick *picks = pythia_calloc(l->budget + 1, sizeof(*picks));
    int status = picks ? pick(l, picks, &count, &would_fit) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK && count == 0 && would_fit) {
        status = make_room(l, &closed);
        if (status == PYTHIA_OK && closed > 0)
            status = pick(l, picks, &count, &would_fit);
    }
    if (status == PYTHIA_OK && count == 0)
        status = confirm(l, picks, &count);
    /* nothing to open: further requests may still tell, up to a point */
    l->k->unanswered = count > 0 || closed > 0 ? 0 : l->k->unanswered + 1;
    if (l->k->unanswered >= PYTHIA__SEARCH_IDLE)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    if (status == PYTHIA_OK)
        status = open_picks(l, picks, count);
    pythia_free(picks);
    return status;
}

/* Rank the edges of all requests of the type, and see which of them are explained. */
static int rank(struct looking *l)
{
    struct pythia_search *s = l->s;
    struct pythia_rank_options how = {.measure = PYTHIA_MEASURE_SHARE,
                                      .level = 1 - pythia_gate_alpha(s->o.alpha, s->cycle),
                                      .alpha = s->o.alpha,
                                      .seed = s->o.seed,
                                      .memory = &s->memory,
                                      .brief = true};
    int status = pythia_rank(l->rows, l->n, l->seen, &how, &l->ranking);
    if (status != PYTHIA_OK)
        return status;
    l->explained = pythia_calloc(l->ranking.edge_count + 1, sizeof(*l->explained));
    if (!l->explained)
        return PYTHIA_ENOMEM;
    mark_explained(l);
    return PYTHIA_OK;
}

/* Has a cause no share any more? Either nothing passes there, or it takes as long for all. */
static bool is_past(const struct looking *l, const struct pythia_finding *cause)
{
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        struct pythia_place place = pythia_place_of(l->seen, l->ranking.edges[e].edge);
        if (pythia_place_equal(&place, &cause->place))
            return l->ranking.edges[e].share.high < CAUSE_MIN;
    }
    return true;
}

static void drop_past_causes(struct looking *l)
{
    struct pythia_problem *p = l->p;
    size_t kept = 0;
    for (size_t c = 0; c < p->cause_count; c++)
        if (!is_past(l, &p->causes[c]))
            p->causes[kept++] = p->causes[c];
    p->cause_count = kept;
    l->k->past = 0;
}

/* A cause is gone when it had no share for a while. */
static void meet_causes(struct looking *l)
{
    size_t past = 0;
    for (size_t c = 0; c < l->p->cause_count; c++)
        past += is_past(l, &l->p->causes[c]);
    l->k->past = past > 0 ? l->k->past + 1 : 0;
    if (l->k->past >= PAST_MAX)
        drop_past_causes(l);
}

/* Go on from there: causes, belief, what to open and what to close. */
static int look(struct looking *l)
{
    struct pythia_search *s = l->s;
    bool changed = false;
    l->p->cycles++;
    l->k->sd_ns = sqrt(pythia_exact_moments_variance(&l->evidence->moments));
    int status = pythia__search_has_changed(s, l->number, l->evidence, &changed);
    if (changed)
        pythia__search_forget(s, l->number);
    if (status == PYTHIA_OK && l->k->belief.nodes == 0)
        status = pythia__belief_create_with(l->type, s->o.history, &l->k->belief);
    if (status == PYTHIA_OK)
        status = pythia__region_map_create(l->type, l->seen, l->open, &l->map);
    if (status == PYTHIA_OK)
        status = rank(l);
    if (status == PYTHIA_OK)
        meet_causes(l);
    if (status == PYTHIA_OK)
        status = update(l);
    if (status == PYTHIA_OK)
        status = find_causes(l);
    if (l->p->state == PYTHIA_PROBLEM_SEARCHING && l->p->cycles - l->k->looked >= s->o.patience)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    if (status == PYTHIA_OK && l->p->state == PYTHIA_PROBLEM_SEARCHING && l->budget > 0 &&
        !s->o.strategy)
        status = open_more(l);
    if (s->o.budget.points_per_cycle == 0 && !s->o.strategy && /* nothing can ever be opened */
        l->p->state == PYTHIA_PROBLEM_SEARCHING && ++l->k->unanswered >= PYTHIA__SEARCH_IDLE)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    if (status == PYTHIA_OK && l->p->state == PYTHIA_PROBLEM_SEARCHING)
        status = close_useless(l);
    return status;
}

/* Where all was explained: has something come up that is not, or is nothing left of what was? */
static int watch_causes(struct looking *l, bool *again)
{
    size_t top = SIZE_MAX;
    double rest;
    int status = rank(l);
    if (status != PYTHIA_OK)
        return status;
    find_top(l, &top, &rest);
    *again = top != SIZE_MAX && l->ranking.edges[top].share.low > AGAIN_LOW &&
             l->ranking.edges[top].share.share >= PYTHIA_FINDING_MIN;
    meet_causes(l);
    if (*again)
        drop_past_causes(l);
    *again = *again || l->p->cause_count == 0;
    return PYTHIA_OK;
}

/* Has something come up since the search ended? Where nothing was found, durations tell. */
static int watch(struct looking *l)
{
    bool again = false;
    int status = l->p->state == PYTHIA_PROBLEM_GIVEN_UP
                     ? pythia__search_has_changed(l->s, l->number, l->evidence, &again)
                     : watch_causes(l, &again);
    if (status != PYTHIA_OK || !again)
        return status;
    l->p->state = PYTHIA_PROBLEM_SEARCHING;
    l->k->looked = l->p->cycles;
    l->k->idle = l->k->unanswered = 0;
    pythia__search_forget(l->s, l->number);
    return PYTHIA_OK;
}

static int with_rows(struct looking *l, int (*work)(struct looking *l))
{
    l->p = &l->s->problems[l->number];
    l->k = &l->s->keeping[l->number];
    l->type = pythia_space_type(l->s->space, l->evidence->unsplit);
    l->n = pythia_sample_count(l->evidence->rows);
    pythia__search_touch(l->s, l->number);
    l->rows = pythia_calloc(l->n + 1, sizeof(struct pythia_row *));
    if (!l->rows)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < l->n; i++)
        l->rows[i] = pythia_sample_row(l->evidence->rows, i);
    int status = work(l);
    pythia__region_map_free(&l->map);
    pythia_ranking_free(&l->ranking);
    pythia_free(l->explained);
    pythia_free(l->rows);
    return status;
}

int pythia__search_watch(struct pythia_search *s, size_t number, const struct pythia_type *t,
                         const struct pythia_groups *groups, struct pythia_open_points *open)
{
    const struct pythia_problem *p = &s->problems[number];
    struct looking l = {
        .s = s, .number = number, .evidence = t, .seen = pythia_groups_cct(groups), .open = open};
    bool settled = p->state == PYTHIA_PROBLEM_DONE || p->state == PYTHIA_PROBLEM_GIVEN_UP;
    return settled && p->requests >= s->o.min_requests ? with_rows(&l, watch) : PYTHIA_OK;
}

int pythia__search_look(struct pythia_search *s, size_t number, const struct pythia_type *t,
                        const struct pythia_groups *groups, struct pythia_open_points *open,
                        size_t *budget)
{
    struct looking l = {.s = s,
                        .number = number,
                        .evidence = t,
                        .seen = pythia_groups_cct(groups),
                        .open = open,
                        .budget = *budget};
    int status = with_rows(&l, look);
    *budget = l.budget;
    return status;
}
