/* One request type in one cycle: which edge has most of its variance, is that a cause, and if not,
 * what to open and close to see more of it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/within.h"
#include "search_look.h"
#include "strategy/gain.h"

/* Below that largest share nothing is left to search for. It is less than what matters, because the
 * share that 50 requests show has an error: ./dev bench search, "three causes". */
#define ENDED .12

/* The thresholds marked (grid) were measured at half, once and twice their value, each by
 *
 *     pythia evaluate --problem P --strategy information-gain --seeds 40
 *
 * for two-causes, drift-move (the cause moves in cycle 3) and null-noise (there is no cause). In
 * all runs of the first two 40 of 40 were found (91 to 100 %), in 6 cycles (median), and none was
 * wrong; of null-noise 2 of 40 were wrong (1 to 17 %). Rates are flat in that range, on problems
 * that may not reach every one of these limits. */
#define AGAIN_LOW .1 /* lower bound of a new share for which an ended search begins again (grid) */
#define ABOVE     2. /* standard errors: a share above chance, if tested once (grid) */
/* Cycles in which no share is above chance, after a cause was found, or in which none matters
 * (grid: with 1, 2 and 4, null-noise ends after 4, 5 and 7 cycles, having opened 9, 12 and 18
 * points). One such cycle may be chance. */
#define IDLE_MAX 2
/* Cycles without a share, after which a cause is gone if they have lasted for hold_seconds; a
 * single one may be chance (grid). */
#define PAST_MAX  2
#define SURPRISE  .01 /* evidence no more probable than this overturns what is believed (grid) */
#define KNOWN_LOG 20  /* a place whose cause is known is less probable by that (grid) */
/* A host varies alone: its share of the variance within hosts; and how often that is by chance, of
 * so many deals. tests/core/test_live_instances.c has the rates. */
#define HOST_SHARE  .8
#define HOST_CHANCE .01
#define HOST_DEALS  199
#define MASS_MIN    .002 /* a point that divides less mass is no longer informative (grid) */

/* A cause was found: what lies there need not be searched any more, and the search for the rest
 * begins anew. Nodes of a known cause are made improbable and not impossible, because the ranking
 * of one cycle may be wrong about where the cause ends. */
static void reset_belief_around_causes(struct pythia__looking *l)
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

static int update_belief_once(struct pythia__looking *l)
{
    return pythia__belief_update(&l->k->belief, &l->map, &l->ranking, l->explained,
                                 l->s->o.seed + l->s->cycle, &l->s->draws);
}

/* Which nodes hold the variance, where points have layers. */
static int find_descent(struct pythia__looking *l)
{
    pythia__descent_free(&l->descent);
    if (pythia_layers_lowest(l->s->o.layers) == PYTHIA_LAYER_APPLICATION)
        return PYTHIA_OK;
    return pythia__descent_find(l->type, l->k->belief.mass, l->s->open, l->s->never, l->s->o.layers,
                                &l->descent);
}

/* Evidence that what is believed all but rules out: the cause has moved, or the beginning misled.
 * Then only the last evidence counts. */
static int update_belief(struct pythia__looking *l)
{
    int status = update_belief_once(l);
    if (status == PYTHIA_OK && l->k->belief.expected < SURPRISE) {
        /* Multiplying more evidence would need as many cycles again to outweigh the old. */
        pythia__search_forget(l->s, l->number);
        status = update_belief_once(l);
    }
    return status == PYTHIA_OK ? find_descent(l) : status;
}

/* Has the search ended? The largest edge decides, and not the sum of what no cause explains: noise
 * adds up to a large sum that no trace point can reduce. As long as no cause was found, a share has
 * to be as large as that of a finding and surely above 0, and only a large one makes the search go
 * on for as long as before: of some ten edges of independent noise one has a tenth of the variance
 * in nearly every cycle, and often enough a fifth. So the search also ends where no share is large
 * after PYTHIA__SEARCH_SMALL cycles (./dev bench search, "nothing but noise": 90 % of 200 seeds end
 * within 7 cycles instead of 10; 6 and 8 cycles are wrong in 5 and 5.5 % of them). */
static void end_search(struct pythia__looking *l, bool above)
{
    bool matters = l->p->cause_count > 0
                       ? l->p->top.share >= ENDED
                       : l->p->top.share >= PYTHIA_FINDING_MIN && l->p->top.low > 0;
    bool large = l->p->cause_count > 0 || l->p->top.share >= PYTHIA__SEARCH_LARGE;
    /* One cycle may be chance, in either direction; the counter starts anew only where a share is
     * large. */
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

/* The place that is a cause, if there is one. An edge is none as long as the own time that it is a
 * segment of has a larger share. */
static const struct pythia__target *choose_cause(struct pythia__looking *l,
                                                 const struct pythia__target *edge,
                                                 const struct pythia__target *own)
{
    if (l->p->cause_count == PYTHIA_PROBLEM_CAUSES || isnan(edge->finding.share))
        return NULL;
    if (isnan(own->finding.share))
        return pythia__look_is_cause(l, edge) ? edge : NULL;
    /* The own time first: its segments are parts of one cause, and each of them alone would be
     * reported as a cause of its own. */
    if (pythia__look_is_cause(l, own))
        return own;
    return !pythia__look_has(l, own, edge->edge) && pythia__look_is_cause(l, edge) ? edge : NULL;
}

static void record_cause(struct pythia__looking *l, const struct pythia__target *cause)
{
    l->p->causes[l->p->cause_count++] = cause->finding;
    for (size_t e = 0; e < l->ranking.edge_count; e++)
        l->explained[e] = l->explained[e] || pythia__look_has(l, cause, e);
    reset_belief_around_causes(l);
}

/* Take away one cause after the other, as long as there is one that stands out with nothing closed
 * after it: the largest hides the others in the same ranking. */
static int find_causes(struct pythia__looking *l)
{
    struct pythia__target edge, own;
    const struct pythia__target *cause, *top;
    for (;;) {
        int status = pythia__look_find(l, &edge, &own);
        if (status != PYTHIA_OK)
            return status;
        top = pythia__look_top(&edge, &own);
        l->p->top = top->finding;
        cause = choose_cause(l, &edge, &own);
        if (!cause)
            break;
        record_cause(l, cause);
        /* Recording a cause resets the belief, so the evidence of this cycle is applied again to
         * what is left. */
        status = update_belief(l);
        if (status != PYTHIA_OK)
            return status;
    }
    end_search(l, top->finding.share > ABOVE * top->se);
    return PYTHIA_OK;
}

/* Say why the search goes down to the layer of a point; nothing of those whose host does not hold
 * the cause, which are opened as nothing above tells more. */
static void add_host(const struct pythia__looking *l, uint32_t point, struct pythia_buf *reason)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(l->s->space);
    if (!l->descent.held || l->descent.holder[point] == PYTHIA_NONE ||
        l->descent.held[point] < PYTHIA__HOLDS)
        return;
    pythia_buf_puts(reason, "; ");
    pythia_buf_text_add(reason, pythia_vocabulary_tracepoint_id(v, l->descent.holder[point]));
    pythia_buf_printf(reason,
                      " holds it with a probability of %.0f %%, so the search goes down to the %s",
                      100 * fmin(l->descent.held[point], 1),
                      pythia_layer_name(pythia_layers_of(l->s->o.layers, point)));
}

/* ---- the instance that varies ---- */

/* The key of host.name in the processes of a service; PYTHIA_NONE: no request has it. */
static uint32_t find_host_key(const struct pythia_keys *keys, struct pythia_text service)
{
    for (uint32_t key = 0; key < pythia_keys_count(keys); key++)
        if (pythia_keys_tracepoint(keys, key) == PYTHIA_NONE &&
            PYTHIA_TEXT_IS(pythia_keys_attribute(keys, key), "host.name") &&
            pythia_text_equal(pythia_keys_origin(keys, key), service))
            return key;
    return PYTHIA_NONE;
}

/* Requests by host: memory for all that there may be. */
struct hosts {
    struct pythia_text *names; /* borrowed of the rows */
    double *durations;
    uint32_t *host; /* of each request: index of names */
    size_t n;
    uint32_t count;
};

static void add_host_of_row(struct hosts *h, const struct pythia_row *row, uint32_t key)
{
    const struct pythia_row_value *v = pythia_row_find(row->values, row->value_count, key);
    if (!v || v->size == PYTHIA_ROW_NUMBER)
        return;
    struct pythia_text name = {v->text, v->size};
    uint32_t at = 0;
    while (at < h->count && !pythia_text_equal(h->names[at], name))
        at++;
    if (at == h->count)
        h->names[h->count++] = name;
    h->host[h->n] = at;
    h->durations[h->n++] = (double)row->duration_ns;
}

/* The host on which requests vary, if nearly all of what varies within hosts does so on one that
 * has at most half of the requests; else *host is empty. PYTHIA_OK or PYTHIA_ENOMEM. */
static int find_varying_host(const struct pythia__looking *l, struct hosts *h, uint32_t key,
                             struct pythia_text *host, double *share)
{
    struct pythia_within within;
    size_t requests = 0;
    for (size_t i = 0; i < l->n; i++)
        add_host_of_row(h, l->rows[i], key);
    int status = pythia_within_largest(h->durations, h->host, h->n, h->count, HOST_DEALS,
                                       l->s->o.seed + l->s->cycle, &within);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < h->n; i++)
        requests += h->host[i] == within.group;
    bool stands_out = h->count > 2 && 2 * requests <= h->n && within.share >= HOST_SHARE &&
                      within.p <= HOST_CHANCE;
    *host = stands_out ? h->names[within.group] : (struct pythia_text){"", 0};
    *share = within.share;
    return PYTHIA_OK;
}

/* Open a point at one instance only, where that is the one that varies: others would record spans
 * that tell nothing. PYTHIA_OK or PYTHIA_ENOMEM. */
static int prefer_varying_host(const struct pythia__looking *l, uint32_t point,
                               struct pythia_buf *reason)
{
    struct pythia_search *s = l->s;
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    struct pythia_text host;
    struct hosts h = {0};
    double share;
    if (!s->o.prefer || !pythia__search_may_part(s, l->t, point))
        return PYTHIA_OK;
    uint32_t service = pythia_vocabulary_tracepoint_at(v, point)->service;
    uint32_t key = find_host_key(l->keys, pythia_vocabulary_text(v, service));
    if (key == PYTHIA_NONE)
        return PYTHIA_OK;
    h.names = pythia_calloc(l->n + 1, sizeof(*h.names));
    h.durations = pythia_calloc(l->n + 1, sizeof(*h.durations));
    h.host = pythia_calloc(l->n + 1, sizeof(*h.host));
    int status = h.names && h.durations && h.host ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = find_varying_host(l, &h, key, &host, &share);
    if (status == PYTHIA_OK && host.size > 0 && s->o.prefer(s->o.instances_context, point, host)) {
        /* One of so many instances, where that host's is the one that the owner of the switches has
         * chosen. */
        s->part[point] = s->instances[point];
        pythia_buf_puts(reason, "; host ");
        pythia_buf_text_add(reason, host);
        pythia_buf_printf(reason, " accounts for %.0f %% of the variance within hosts",
                          100 * share);
    }
    pythia_free(h.names);
    pythia_free(h.durations);
    pythia_free(h.host);
    return status;
}

/* Each decision records its reason with the numbers it was made from: they are not known later, and
 * the log of decisions is what an operator checks the search by. */
static int open_picks(struct pythia__looking *l, const struct pythia__pick *picks, size_t count)
{
    struct pythia_search *s = l->s;
    const struct pythia__belief *b = &l->k->belief;
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    for (size_t i = 0; i < count; i++) {
        struct pythia_buf reason = {0};
        pythia_buf_printf(&reason, "the cause is in it or below it with a probability of %.0f %%",
                          100 * picks[i].inside);
        /* A pick that divides no region of the requests seen so far has no share to name. */
        if (picks[i].block < b->region_count) {
            struct pythia_place place =
                pythia_place_of_layer(l->seen, b->regions[picks[i].block].edge, s->o.layers);
            pythia_buf_printf(&reason, ", and it splits the time ");
            pythia_place_add(&reason, v, &place);
            pythia_buf_printf(&reason, ", which accounts for %.0f %% of the variance",
                              100 * b->regions[picks[i].block].share);
        }
        add_host(l, picks[i].tracepoint, &reason);
        if (prefer_varying_host(l, picks[i].tracepoint, &reason) != PYTHIA_OK) {
            pythia_buf_free(&reason);
            return PYTHIA_ENOMEM;
        }
        if (pythia__search_decide(s, l->t, picks[i].tracepoint, true, l->number, picks[i].inside,
                                  &reason) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        l->budget--;
    }
    return PYTHIA_OK;
}

/* May the search of this problem close a point again? */
static bool may_close_point(const struct pythia__looking *l, uint32_t point)
{
    const struct pythia_search *s = l->s;
    return pythia__search_was_opened(l->t, point) && !s->skeleton[point] &&
           !pythia__search_is_decided(s, l->t, point) &&
           !pythia__search_bounds_cause(s, l->t, point);
}

/* Close the points that divide little from little, or cost more than they may explain. */
static int close_useless(struct pythia__looking *l)
{
    struct pythia_search *s = l->s;
    double *use = pythia__look_use(l);
    int status = PYTHIA_OK;
    bool retired = false;
    if (!use)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points; point++) {
        bool useless = use[point] < MASS_MIN;
        if (!may_close_point(l, point) ||
            (!useless && pythia__search_is_worth(s, l->number, point, use[point])))
            continue;
        retired = true;
        /* Retired points are not opened again with the evidence of this search; otherwise the
         * same point would be opened and closed in turn. */
        status = pythia__search_retire(s, l->number, point);
        if (status != PYTHIA_OK)
            goto out;
        status = pythia__search_close(s, l->t, point, l->number,
                                      useless ? "the cause is neither in it nor around it"
                                              : "it costs more than it may explain");
        if (status != PYTHIA_OK)
            goto out;
    }
    if (retired)
        status = pythia__search_remember(s, l->number, l->evidence);
out:
    pythia_free(use);
    return status;
}

static bool may_free_capacity(const struct pythia__looking *l, uint32_t point)
{
    return may_close_point(l, point) && pythia__search_frees(l->s, point);
}

/* The budget is used up: close the points that divide least, about half of them at most, so that
 * others may be opened. They may be opened again. */
static int close_least_useful(struct pythia__looking *l, size_t *closed)
{
    struct pythia_search *s = l->s;
    double *use = pythia__look_use(l);
    size_t most = 0;
    int status = PYTHIA_OK;
    *closed = 0;
    if (!use)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points; point++)
        most += may_free_capacity(l, point);
    /* At most half, because the belief is coarse: closing everything would lose the edges that
     * the next decision is compared with. */
    most = (most + 1) / 2 < l->budget ? (most + 1) / 2 : l->budget;
    while (*closed < most) {
        uint32_t least = PYTHIA_NONE;
        for (uint32_t point = 0; point < s->points; point++)
            if (may_free_capacity(l, point) && (least == PYTHIA_NONE || use[point] < use[least]))
                least = point;
        if (least == PYTHIA_NONE)
            break;
        status = pythia__search_close(s, l->t, least, l->number,
                                      "others are more informative, and the budget is used up");
        if (status != PYTHIA_OK)
            break;
        ++*closed;
    }
    pythia_free(use);
    return status;
}

static int find_best_pick(const struct pythia__looking *l, const bool *may,
                          struct pythia__pick *best)
{
    size_t count = 0;
    *best = (struct pythia__pick){.tracepoint = PYTHIA_NONE};
    return pythia__gain_choose(&l->k->belief, may, PYTHIA__CALL_PRICE, l->s->relative, 1, best,
                               &count);
}

/* With a small budget, what fits it may be next to uninformative. *least: the bits for which it is
 * worth to open something, a part of those of the best point that may be opened. *would_fit: is
 * there such a point that would fit if less were open? `may`, by trace point, becomes what would
 * fit then. */
static int compare_with_best(const struct pythia__looking *l, bool *may, double *least,
                             bool *would_fit)
{
    struct pythia__pick best;
    *least = 0;
    *would_fit = false;
    if (!pythia__search_is_limited(l->s))
        return PYTHIA_OK;
    int status = find_best_pick(l, may, &best);
    if (status != PYTHIA_OK)
        return status;
    /* Relative to the best point, because bits differ a hundredfold between problems. */
    *least = PYTHIA__PART_MIN * best.bits;
    for (uint32_t point = 0; point < l->s->points; point++)
        may[point] = may[point] && pythia__search_fits_alone(l->s, l->t, point);
    status = find_best_pick(l, may, &best);
    if (status != PYTHIA_OK)
        return status;
    *would_fit = best.bits > 0 && best.bits >= *least;
    return PYTHIA_OK;
}

/* Choose the most informative points that fit the budgets. */
static int choose_picks(struct pythia__looking *l, struct pythia__pick *picks, size_t *count,
                        bool *would_fit)
{
    struct pythia_search *s = l->s;
    struct pythia__search_room room = pythia__search_room(s, l->budget);
    size_t chosen = 0;
    double least = 0;
    bool *may = pythia_calloc(s->points, sizeof(*may));
    if (!may)
        return PYTHIA_ENOMEM;
    for (uint32_t node = 1; node < pythia_cct_nodes(l->type->cct); node++) {
        /* Only points that requests of the type hit can tell anything about it. */
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        may[point] = !s->open[point] && !s->never[point] &&
                     !pythia__search_is_retired(l->s, l->number, point) &&
                     !pythia__search_is_decided(s, l->t, point) && pythia__look_reaches(l, point) &&
                     pythia__look_is_worth(l, point);
    }
    /* The best of all points is measured before budgets apply. A small budget must not be spent
     * on points that are hardly informative. */
    int status = compare_with_best(l, may, &least, would_fit);
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t point = 0; point < s->points; point++)
        may[point] = may[point] && pythia__search_fits(s, l->t, point, &room);
    if (room.switches > 0) {
        status = pythia__gain_choose(&l->k->belief, may, PYTHIA__CALL_PRICE, s->relative,
                                     room.switches, picks, &chosen);
        if (status != PYTHIA_OK)
            goto out;
    }
    *count = 0; /* together they must fit as well */
    while (*count < chosen && picks[*count].bits >= least &&
           pythia__search_take(s, l->t, picks[*count].tracepoint, &room))
        ++*count;
out:
    pythia_free(may);
    return status;
}

/* By trace point: the probability that the cause is in one that lies after the place with the
 * largest share, and may be opened. `mass` is all 0. PYTHIA_OK or PYTHIA_ENOMEM. */
static int find_mass(struct pythia__looking *l, double *mass)
{
    struct pythia__target edge, own;
    const struct pythia__belief *b = &l->k->belief;
    bool *counted = pythia_calloc(b->nodes, sizeof(*counted)); /* a node may be behind several */
    if (!counted)
        return PYTHIA_ENOMEM;
    int status = pythia__look_find(l, &edge, &own);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        const struct pythia_edge *at = pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge);
        /* Only segments of the leading place; the regions of two of its edges may share nodes,
         * which count once. */
        if (!pythia__look_has(l, pythia__look_top(&edge, &own), e))
            continue;
        pythia__region_find(&l->map, at);
        for (uint32_t node = 0; (node = pythia__look_behind(l, at, node)) != PYTHIA_NONE;) {
            double *sum = &mass[pythia_cct_tracepoint(l->type->cct, node)];
            *sum = fmax(*sum, DBL_MIN); /* it is behind */
            for (uint32_t place = b->place[node]; place < b->behind[node] && !counted[node];
                 place++)
                *sum += b->mass[b->order[place]];
            counted[node] = true;
        }
    }
out:
    pythia_free(counted);
    return status;
}

/* No point is informative by the belief, and yet the place with the largest share has closed points
 * after it: open those that most probably hold the cause. Without that the search would end with a
 * cause that is only the smallest region it happened to see. */
static int confirm_largest_share(struct pythia__looking *l, struct pythia__pick *picks,
                                 size_t *count)
{
    struct pythia_search *s = l->s;
    const struct pythia__belief *b = &l->k->belief;
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    double least = 0, *mass = pythia_calloc(s->points, sizeof(*mass));
    if (!mass || find_mass(l, mass) != PYTHIA_OK) {
        pythia_free(mass);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t point = 0; point < s->points; point++)
        mass[point] = pythia__look_reaches(l, point) ? mass[point] : 0;
    struct pythia__search_room room = pythia__search_room(s, l->budget);
    /* Under a budget, what has a fraction of the best one's chance is not worth it. */
    for (uint32_t point = 0; point < s->points && pythia__search_is_limited(s); point++)
        least = fmax(least, PYTHIA__PART_MIN * mass[point]);
    while (room.switches > 0) {
        uint32_t best = PYTHIA_NONE;
        for (uint32_t point = 0; point < s->points; point++) {
            bool may = mass[point] > 0 && mass[point] >= least && !s->open[point] &&
                       !pythia__search_is_decided(s, l->t, point) &&
                       pythia__search_fits(s, l->t, point, &room) &&
                       pythia__look_is_worth(l, point);
            if (may && (best == PYTHIA_NONE || mass[point] > mass[best] ||
                        (mass[point] == mass[best] &&
                         pythia_text_compare(pythia_vocabulary_tracepoint_id(v, point),
                                             pythia_vocabulary_tracepoint_id(v, best)) < 0)))
                best = point;
        }
        if (best == PYTHIA_NONE)
            break;
        (void)pythia__search_take(s, l->t, best, &room);
        picks[(*count)++] = (struct pythia__pick){.tracepoint = best,
                                                  .inside = fmin(mass[best], 1),
                                                  .calls = s->calls[best],
                                                  .block = b->region_count};
        /* Not chosen again; the masses of the others stay, as no evidence has come in between. */
        mass[best] = 0;
    }
    pythia_free(mass);
    return PYTHIA_OK;
}

/* Choose what to open among the points that are reached. *closed: how many were closed for it. */
static int choose_reached(struct pythia__looking *l, struct pythia__pick *picks, size_t *count,
                          size_t *closed)
{
    bool would_fit = false;
    int status = choose_picks(l, picks, count, &would_fit);
    if (status != PYTHIA_OK)
        return status;
    /* Less useful points make place for a better one, if there is one that would fit. */
    if (*count == 0 && would_fit) {
        status = close_least_useful(l, closed);
        if (status != PYTHIA_OK)
            return status;
        if (*closed > 0)
            status = choose_picks(l, picks, count, &would_fit);
        if (status != PYTHIA_OK)
            return status;
    }
    return *count == 0 ? confirm_largest_share(l, picks, count) : PYTHIA_OK;
}

/* Nothing to open is not the end: the next requests may make a point informative. Only after
 * several such cycles the problem is given up. */
static int open_more(struct pythia__looking *l)
{
    size_t count = 0, closed = 0;
    int status = PYTHIA_OK;
    struct pythia__pick *picks = pythia_calloc(l->budget + 1, sizeof(*picks));
    if (!picks)
        return PYTHIA_ENOMEM;
    /* Where no point tells more and no node holds the cause, as where two share it, the search goes
     * down all the same, one layer at a time. */
    enum pythia_layer lowest = pythia_layers_lowest(l->s->o.layers);
    for (unsigned down = PYTHIA_LAYER_APPLICATION; down <= lowest && count + closed == 0; down++) {
        l->down = (enum pythia_layer)down;
        status = choose_reached(l, picks, &count, &closed);
        if (status != PYTHIA_OK)
            goto out;
    }
    l->k->unanswered = count > 0 || closed > 0 ? 0 : l->k->unanswered + 1;
    if (l->k->unanswered >= PYTHIA__SEARCH_IDLE)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    status = open_picks(l, picks, count);
out:
    pythia_free(picks);
    return status;
}

/* Rank the edges of all requests of the type, and see which of them are explained. */
static int rank_problem_edges(struct pythia__looking *l)
{
    struct pythia_search *s = l->s;
    l->level = 1 - pythia_gate_alpha(s->o.alpha, s->cycle);
    struct pythia_rank_options how = {.measure = PYTHIA_MEASURE_SHARE,
                                      .level = l->level,
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
    return pythia__look_mark(l);
}

/* `surely`: they are refuted, whatever the present requests pass. */
static void drop_past_causes(struct pythia__looking *l, bool surely)
{
    struct pythia_problem *p = l->p;
    size_t kept = 0;
    for (size_t c = 0; c < p->cause_count; c++)
        if (!pythia__look_is_past(l, &p->causes[c]))
            p->causes[kept++] = p->causes[c];
        else
            p->refuted = p->refuted || surely || pythia__look_is_deserted(l, &p->causes[c]);
    p->cause_count = kept;
    l->k->past.cycles = 0;
}

/* A cause is gone when it had no share for a while; sooner, if no request passes its place. */
static void expire_past_causes(struct pythia__looking *l)
{
    size_t past = 0;
    bool deserted = false;
    for (size_t c = 0; c < l->p->cause_count; c++) {
        past += pythia__look_is_past(l, &l->p->causes[c]);
        deserted = deserted || pythia__look_is_deserted(l, &l->p->causes[c]);
    }
    pythia__search_run_step(l->s, &l->k->past, past > 0);
    if (pythia__search_run_lasts(l->s, &l->k->past, PAST_MAX, deserted ? 0 : 1))
        drop_past_causes(l, true);
}

/* A key that explains the variance in many places ends the search, as a cause does; and none of
 * these places is a cause. The largest of them is reported. */
static int end_if_spread(struct pythia__looking *l)
{
    struct pythia__target edge, own;
    int status = pythia__look_is_spread(l, &l->k->spread);
    if (status != PYTHIA_OK || !l->k->spread)
        return status;
    l->p->state = PYTHIA_PROBLEM_DONE;
    l->p->why = PYTHIA_WHY_SPREAD;
    status = pythia__look_find(l, &edge, &own);
    if (status == PYTHIA_OK)
        l->p->top = pythia__look_top(&edge, &own)->finding;
    return status;
}

/* Apply the evidence of a cycle to what is known of the problem. */
static int apply_evidence(struct pythia__looking *l)
{
    struct pythia_search *s = l->s;
    bool changed = false;
    int status = pythia__search_has_changed(s, l->number, l->evidence, &changed);
    if (status != PYTHIA_OK)
        return status;
    /* What was learnt of a distribution that is no longer there would mislead for many cycles. */
    if (changed)
        pythia__search_forget(s, l->number);
    l->p->retries = changed ? 0 : l->p->retries;
    /* A cause holds as long as nothing that could be opened lies behind it: where contexts have
     * turned up, it is found once more in this cycle, or what lies behind it is searched. */
    if (l->k->grown) {
        l->p->grown = true;
        l->p->cause_count = 0;
        l->k->grown = false;
    }
    if (l->k->belief.nodes == 0) {
        status = pythia__belief_create_with(l->type, s->o.history, &l->k->belief);
        if (status != PYTHIA_OK)
            return status;
    }
    status = pythia__region_map_create(l->type, l->seen, l->open, &l->map);
    if (status != PYTHIA_OK)
        return status;
    status = rank_problem_edges(l);
    if (status != PYTHIA_OK)
        return status;
    expire_past_causes(l);
    status = update_belief(l);
    if (status != PYTHIA_OK)
        return status;
    status = end_if_spread(l);
    if (status != PYTHIA_OK || l->k->spread)
        return status;
    return find_causes(l);
}

/* Continue the search: causes first, because a cause that is found ends it, or changes what is
 * informative; then what to open, and last what to close, so that a point that was opened a moment
 * ago is judged like the others. */
static int inspect_problem(struct pythia__looking *l)
{
    struct pythia_search *s = l->s;
    l->p->cycles++;
    /* Problems are ordered by how much their durations differ. */
    l->k->sd_ns = sqrt(pythia_exact_moments_variance(&l->evidence->moments));
    int status = apply_evidence(l);
    if (status != PYTHIA_OK)
        return status;
    if (l->p->state == PYTHIA_PROBLEM_SEARCHING && l->p->cycles - l->k->looked >= s->o.patience)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    if (l->p->state == PYTHIA_PROBLEM_SEARCHING && l->budget > 0 && !s->o.strategy) {
        status = open_more(l);
        if (status != PYTHIA_OK)
            return status;
    }
    if (s->o.budget.points_per_cycle == 0 && !s->o.strategy && /* nothing can ever be opened */
        l->p->state == PYTHIA_PROBLEM_SEARCHING && ++l->k->unanswered >= PYTHIA__SEARCH_IDLE)
        l->p->state = PYTHIA_PROBLEM_GIVEN_UP;
    if (l->p->state != PYTHIA_PROBLEM_SEARCHING)
        return PYTHIA_OK;
    return close_useless(l);
}

/* If everything was explained: check whether something unexplained has come up, or nothing is
 * left of what was explained. */
static int watch_causes(struct pythia__looking *l, bool *again)
{
    struct pythia__target edge, own;
    int status = rank_problem_edges(l);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__look_find(l, &edge, &own);
    if (status != PYTHIA_OK)
        return status;
    const struct pythia_finding *top = &pythia__look_top(&edge, &own)->finding;
    /* The lower bound, because the search would otherwise begin again after every unlucky cycle. */
    *again = top->low > AGAIN_LOW && top->share >= PYTHIA_FINDING_MIN;
    expire_past_causes(l);
    if (*again)
        drop_past_causes(l, false);
    *again = *again || l->p->cause_count == 0;
    return PYTHIA_OK;
}

/* Has something come up since the search ended? Where nothing was found, durations tell; and
 * without that it begins again after a while, with all that it knows. */
static int watch_problem(struct pythia__looking *l)
{
    bool again = false,
         causeless = l->p->state == PYTHIA_PROBLEM_GIVEN_UP || pythia__search_is_spread(l->p);
    int status = causeless ? pythia__search_has_changed(l->s, l->number, l->evidence, &again)
                           : watch_causes(l, &again);
    if (status != PYTHIA_OK)
        return status;
    bool due = causeless && l->p->retry_in > 0 && --l->p->retry_in == 0;
    if (!again && !due)
        return PYTHIA_OK;
    l->p->state = PYTHIA_PROBLEM_SEARCHING;
    l->p->why = PYTHIA_WHY_NONE; /* it may be given up in this cycle, for another reason */
    l->p->retry_in = 0;
    l->p->retries = again ? 0 : l->p->retries + 1;
    l->p->retried = !again;
    l->k->looked = l->p->cycles;
    l->k->idle = l->k->unanswered = 0;
    if (again)
        pythia__search_forget(l->s, l->number);
    return PYTHIA_OK;
}

/* Lend `work` what inspecting and watching a problem both need, and free it afterwards. */
static int run_with_rows(struct pythia__looking *l, int (*work)(struct pythia__looking *l))
{
    l->p = &l->s->problems[l->number];
    l->k = &l->s->keeping[l->number];
    l->t = pythia__search_type_at(l->s, l->number);
    l->type = pythia_space_type(l->s->space, l->evidence->unsplit);
    l->n = pythia_type_rows(l->evidence);
    /* Whatever `work` changes can be taken back if the cycle fails. */
    pythia__search_touch(l->s, l->number);
    l->rows = pythia_calloc(l->n + 1, sizeof(struct pythia_row *));
    if (!l->rows)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < l->n; i++)
        l->rows[i] = pythia_type_row(l->evidence, i);
    int status = work(l);
    pythia__region_map_free(&l->map);
    pythia_ranking_free(&l->ranking);
    pythia__descent_free(&l->descent);
    pythia_free(l->explained);
    pythia_free(l->rows);
    return status;
}

int pythia__search_watch(struct pythia_search *s, size_t number, const struct pythia_type *t,
                         const struct pythia_groups *groups, struct pythia_open_points *open)
{
    const struct pythia_problem *p = &s->problems[number];
    bool settled = p->state == PYTHIA_PROBLEM_DONE || p->state == PYTHIA_PROBLEM_GIVEN_UP;
    struct pythia__search_hidden hidden;
    if (!settled || pythia_type_evidence(t) < (double)s->o.min_requests)
        return PYTHIA_OK;
    struct pythia__looking l = {.s = s,
                                .number = number,
                                .evidence = t,
                                .seen = pythia_groups_cct(groups),
                                .keys = pythia_groups_keys(groups),
                                .open = open};
    int status = pythia__search_hide(s, number, &hidden);
    if (status != PYTHIA_OK)
        goto out;
    status = run_with_rows(&l, watch_problem);
out:
    pythia__search_show(&hidden);
    return status;
}

/* While a problem is inspected, points that are open for other types only are hidden: its requests
 * cannot show them. */
int pythia__search_look(struct pythia_search *s, size_t number, const struct pythia_type *t,
                        const struct pythia_groups *groups, struct pythia_open_points *open,
                        size_t *budget)
{
    struct pythia__search_hidden hidden;
    struct pythia__looking l = {.s = s,
                                .number = number,
                                .evidence = t,
                                .seen = pythia_groups_cct(groups),
                                .keys = pythia_groups_keys(groups),
                                .open = open,
                                .budget = *budget};
    int status = pythia__search_hide(s, number, &hidden);
    if (status != PYTHIA_OK)
        goto out;
    status = run_with_rows(&l, inspect_problem);
out:
    pythia__search_show(&hidden);
    *budget = l.budget;
    return status;
}
