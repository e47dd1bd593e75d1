/* The places that may be the cause of one request type: single edges, and own times of trace points
 * that are spread over several edges. And is there a place at all, or does a key explain what is
 * spread over many? */
#include <math.h>

#include "pythia/explain.h"
#include "pythia/own_time.h"
#include "pythia/status.h"
#include "search_look.h"

/* Each of the three was measured lower and higher, by
 *
 *     pythia evaluate --problem P --strategy information-gain --seeds 40
 *
 * for two-causes, own-time, load, ticks, half, null and null-noise. No cause was found less often
 * or later by more than a cycle:
 *
 *     COMPARABLE  .25: of null-noise 3 of 40 are wrong and not 2; .99: all is the same
 *     SURE        .7: all is the same; .99: load opens 3.8 % of the points and not 3.6 %
 *     MOST        .25 and .75: own-time takes 6 and 7 cycles (median; with .5 it is 6) */
#define COMPARABLE .5 /* of the largest share that may still be parted: a cause may be no less */
#define SURE       .9 /* of the cause, by all evidence so far: needs no comparison */
#define MOST       .5 /* of an own time's share, in segments that nothing lies behind */

static const struct pythia__target no_target = {
    .finding = {.share = NAN}, .se = NAN, .edge = SIZE_MAX};

static struct pythia__target target_of_edge(const struct pythia__looking *l, size_t e)
{
    const struct pythia_ranked_edge *edge = &l->ranking.edges[e];
    return (struct pythia__target){
        .finding = {pythia_place_of_layer(l->seen, edge->edge, l->s->o.layers), edge->share.share,
                    edge->share.low, edge->share.high},
        .se = edge->share.se,
        .edge = e};
}

/* Its host is that of the segment with the largest share. */
static struct pythia__target target_of_own_time(const struct pythia__looking *l,
                                                const struct pythia_own_time *t)
{
    struct pythia_place place = pythia_place_own(t->tracepoint);
    double most = -INFINITY;
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        const struct pythia_ranked_edge *edge = &l->ranking.edges[e];
        if (!pythia_place_own_has(l->seen, edge->edge, t->tracepoint) || edge->share.share <= most)
            continue;
        struct pythia_place segment = pythia_place_of_layer(l->seen, edge->edge, l->s->o.layers);
        most = edge->share.share;
        place.hosted = segment.hosted;
        place.host = segment.host;
    }
    return (struct pythia__target){.finding = {place, t->share.slope, t->share.low, t->share.high},
                                   .se = t->share.se,
                                   .edge = SIZE_MAX};
}

/* ---- causes that are known ---- */

static int measure_own_time(const struct pythia__looking *l, struct pythia_finding *cause)
{
    struct pythia_own_time t;
    int status = pythia_own_time_measure(&l->ranking, l->seen, cause->place.context, l->level, &t);
    if (status != PYTHIA_OK)
        return status;
    *cause = target_of_own_time(l, &t).finding;
    return PYTHIA_OK;
}

int pythia__look_mark(struct pythia__looking *l)
{
    for (size_t c = 0; c < l->p->cause_count; c++) {
        struct pythia_finding *cause = &l->p->causes[c];
        bool passed = false;
        for (size_t e = 0; e < l->ranking.edge_count; e++) {
            if (!pythia_place_has(&cause->place, l->seen, l->ranking.edges[e].edge))
                continue;
            l->explained[e] = passed = true;
            if (!cause->place.own)
                /* The share of a known cause is brought up to date, so that one that fades is seen
                 * to fade. */
                *cause = target_of_edge(l, e).finding;
        }
        if (cause->place.own && passed) {
            int status = measure_own_time(l, cause);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

bool pythia__look_is_past(const struct pythia__looking *l, const struct pythia_finding *cause)
{
    for (size_t e = 0; e < l->ranking.edge_count; e++)
        if (pythia_place_has(&cause->place, l->seen, l->ranking.edges[e].edge))
            return (cause->place.own ? cause->high : l->ranking.edges[e].share.high) <
                   PYTHIA__CAUSE_MIN;
    return true;
}

bool pythia__look_is_deserted(const struct pythia__looking *l, const struct pythia_finding *cause)
{
    for (size_t e = 0; e < l->ranking.edge_count; e++)
        if (pythia_place_has(&cause->place, l->seen, l->ranking.edges[e].edge))
            return false;
    return true;
}

/* ---- the largest that is not known ---- */

int pythia__look_find(struct pythia__looking *l, struct pythia__target *edge,
                      struct pythia__target *own)
{
    struct pythia_own_time t;
    size_t top = SIZE_MAX;
    double rest = 0;
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        double share = l->ranking.edges[e].share.share;
        if (l->explained[e] || isnan(share))
            continue;
        /* Unexplained variance is reported, although only the largest edge decides. */
        rest += share;
        if (top == SIZE_MAX || share > l->ranking.edges[top].share.share)
            top = e;
    }
    int status = pythia_own_time_find(&l->ranking, l->seen, l->explained, l->level, &t);
    if (status != PYTHIA_OK)
        return status;
    *edge = top == SIZE_MAX ? no_target : target_of_edge(l, top);
    *own = t.tracepoint == PYTHIA_NONE ? no_target : target_of_own_time(l, &t);
    l->p->rest = rest;
    return PYTHIA_OK;
}

const struct pythia__target *pythia__look_top(const struct pythia__target *edge,
                                              const struct pythia__target *own)
{
    return own->finding.low >= PYTHIA__LARGE ? own : edge;
}

bool pythia__look_has(const struct pythia__looking *l, const struct pythia__target *target,
                      size_t e)
{
    if (isnan(target->finding.share) || target->edge != SIZE_MAX)
        return target->edge == e;
    return pythia_place_has(&target->finding.place, l->seen, l->ranking.edges[e].edge);
}

/* ---- is it a cause ---- */

bool pythia__look_reaches(const struct pythia__looking *l, uint32_t point)
{
    return !l->descent.held || pythia__descent_reaches(&l->descent, l->s->o.layers, l->down, point);
}

/* Is there a host that limits what a point may explain? */
static bool has_host(const struct pythia__looking *l, uint32_t point)
{
    return l->descent.held && l->descent.holder[point] != PYTHIA_NONE;
}

bool pythia__look_is_worth(const struct pythia__looking *l, uint32_t point)
{
    return pythia__search_is_worth(l->s, l->number, point,
                                   has_host(l, point) ? l->descent.held[point] : 1);
}

uint32_t pythia__look_behind(const struct pythia__looking *l, const struct pythia_edge *edge,
                             uint32_t node)
{
    bool known = pythia__region_time(&l->map, PYTHIA_CCT_ROOT) > 0;
    while (++node < pythia_cct_nodes(l->type->cct)) {
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        bool behind = known ? pythia__region_has(&l->map, node)
                            : !l->s->open[point] && l->map.masked[node] == edge->context;
        if (behind && !l->s->never[point] && !pythia__search_is_retired(l->s, l->number, point) &&
            (!has_host(l, point) || pythia__look_is_worth(l, point)))
            return node;
    }
    return PYTHIA_NONE;
}

static bool is_leaf(struct pythia__looking *l, size_t e)
{
    const struct pythia_edge *edge = pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge);
    pythia__region_find(&l->map, edge);
    return pythia__look_behind(l, edge, 0) == PYTHIA_NONE;
}

/* Does an edge hide a trace point: is time of a closed one in it, even of one that told nothing, or
 * is one around the whole edge within its context? */
static bool edge_hides_point(struct pythia__looking *l, size_t e)
{
    const struct pythia_edge *edge = pythia_cct_edge_at(l->seen, l->ranking.edges[e].edge);
    pythia__region_find(&l->map, edge);
    for (uint32_t node = 1; node < pythia_cct_nodes(l->type->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        if (l->map.masked[node] == edge->context && pythia__region_time(&l->map, node) > 0 &&
            !l->s->open[point] && !l->s->never[point])
            return true;
    }
    return false;
}

/* A trace point may call others that are not open yet. As soon as most of the share of its own time
 * is in segments that hide nothing, opening more would not move the cause elsewhere. A segment
 * between two points that a closed one calls is the time of the closed one. */
static bool is_at_end(struct pythia__looking *l, const struct pythia__target *target)
{
    double open = 0, share = target->finding.share;
    if (target->edge != SIZE_MAX)
        return is_leaf(l, target->edge);
    for (size_t e = 0; e < l->ranking.edge_count && !(open > MOST * share); e++)
        if (l->ranking.edges[e].share.share > 0 && pythia__look_has(l, target, e) &&
            is_leaf(l, e) && !edge_hides_point(l, e))
            open += l->ranking.edges[e].share.share;
    return open > MOST * share;
}

/* The probability, by all evidence, that the cause is in the context of a place itself. */
static double probability_of(const struct pythia__looking *l, const struct pythia__target *target)
{
    double sum = 0;
    uint32_t context =
        target->edge != SIZE_MAX
            ? pythia_cct_edge_at(l->seen, l->ranking.edges[target->edge].edge)->context
            : PYTHIA_NONE;
    for (uint32_t node = 1; node < l->k->belief.nodes; node++) {
        /* An own time has several contexts: those of its trace point anywhere. */
        bool there = context != PYTHIA_NONE ? l->map.masked[node] == context
                                            : pythia_cct_tracepoint(l->type->cct, node) ==
                                                  target->finding.place.context;
        if (l->map.open[node] && there)
            sum += l->k->belief.mass[node];
    }
    return sum;
}

/* May an edge that can still be parted hold a cause that dwarfs this one? */
static bool is_dwarfed(struct pythia__looking *l, const struct pythia__target *target)
{
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        bool large = COMPARABLE * l->ranking.edges[e].share.high >= target->finding.low;
        if (large && !l->explained[e] && !pythia__look_has(l, target, e) && !is_leaf(l, e))
            return true;
    }
    return false;
}

/* Is the time of a place a cause of its own? Its share is above chance, and nothing else that is
 * not yet understood may be much larger. */
static bool share_stands_out(struct pythia__looking *l, const struct pythia__target *target)
{
    double low = target->finding.low;
    return low >= PYTHIA__CAUSE_MIN &&
           (low >= PYTHIA__LARGE || probability_of(l, target) >= SURE || !is_dwarfed(l, target));
}

/* The first cause of a search that began again by itself needs surely the share that a finding
 * needs otherwise (search.h). */
static bool share_is_enough(const struct pythia__looking *l, const struct pythia_finding *f)
{
    bool strict = l->p->retries > 0 && l->p->cause_count == 0;
    return (strict ? f->low : f->share) >= PYTHIA_FINDING_MIN;
}

bool pythia__look_is_cause(struct pythia__looking *l, const struct pythia__target *target)
{
    return share_is_enough(l, &target->finding) && share_stands_out(l, target) &&
           is_at_end(l, target);
}

/* ---- a key instead of a place ---- */

/* A slow host is slow in all that it does: each trace point which is opened divides the variance
 * once more, and none stands out. The key is the answer then, and to open more would only measure
 * the time of each step.
 *
 * A key that goes with one slow place explains as much of the total, so the key alone is no
 * reason to stop: as long as most of the variance lies in one visible place, that place is
 * divided. The search stops when the variance has spread over as much as PLACES places that
 * share it equally: three slow places, which one key explains together, are searched to their
 * end. The own time of one trace point may be the place above OWN_MOST: its segments divide as the
 * steps of a slow host do, but what is called between them takes as long as ever.
 *
 * Each limit was measured lower and higher, by pythia evaluate --seeds 40 for slow-all, host and
 * contention. In all runs host and contention, where one key goes with one place or with three,
 * are found as often as without the rule, and from as many points. All of slow-all are found from
 * 3 % of the points, except where it says otherwise; without the rule none are, from 12 %.
 *
 *     EXPLAINED  .75: all is the same
 *     AROUND     4: 90 % are found, from 6 %
 *     PLACES     2: all is the same; 8: 90 % are found, from 6 %
 *     OWN_MOST   .5: from 6 %; .9: all is the same */
#define EXPLAINED .5  /* part of the variance of the total that the key explains at least */
#define AROUND    2.  /* times the largest share of a place: what the key explains lies elsewhere */
#define PLACES    4.  /* of equal share, over which the variance has spread at least */
#define OWN_MOST  .75 /* of the variance */

/* How many places of equal shares would have the same sum of squares, (sum s)^2 / sum s^2: the
 * inverse of the index of O. Hirschman and C. Herfindahl (A. O. Hirschman, "The Paternity of an
 * Index", American Economic Review 54(5), 1964). *largest: the upper bound of the largest share. */
static double count_places(const struct pythia__looking *l, double *largest)
{
    double sum = 0, squares = 0;
    *largest = 0;
    for (size_t e = 0; e < l->ranking.edge_count; e++) {
        const struct pythia_share *share = &l->ranking.edges[e].share;
        if (!(share->share > 0))
            continue;
        sum += share->share;
        squares += share->share * share->share;
        *largest = fmax(*largest, share->high);
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* Only values of spans: a path that most requests take is a place by itself. */
static bool is_value(enum pythia_key_kind kind)
{
    return kind == PYTHIA_KEY_NUMERIC || kind == PYTHIA_KEY_CATEGORICAL ||
           kind == PYTHIA_KEY_MEMBER;
}

/* The outermost open point whose spans have a key; PYTHIA_NONE: there is none. */
static uint32_t find_keyed_point(const struct pythia__looking *l, uint32_t key)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(l->s->space);
    const struct pythia_cct *cct = l->type->cct;
    struct pythia_text origin = pythia_keys_origin(l->keys, key);
    uint32_t of = pythia_keys_tracepoint(l->keys, key);
    for (uint32_t node = 1; node < pythia_cct_nodes(cct); node++) { /* parents come first */
        uint32_t point = pythia_cct_tracepoint(cct, node),
                 service = pythia_vocabulary_tracepoint_at(v, point)->service;
        bool has = of != PYTHIA_NONE
                       ? of == point
                       : pythia_text_equal(pythia_vocabulary_text(v, service), origin);
        if (has && l->s->open[point])
            return point;
    }
    return PYTHIA_NONE;
}

int pythia__look_is_spread(struct pythia__looking *l, bool *spread)
{
    struct pythia_explanations keys;
    struct pythia__target edge, own;
    double largest, places = count_places(l, &largest);
    const bool known = l->k->spread;
    *spread = false;
    int status = pythia__look_find(l, &edge, &own);
    if (status != PYTHIA_OK)
        return status;
    /* Testing keys costs more than all else in a cycle, and no key explains more than all. */
    if (!known && (places < PLACES || AROUND * largest >= 1 || own.finding.high > OWN_MOST))
        return PYTHIA_OK;
    status = pythia_explain(l->rows, &l->ranking, l->keys, l->seen,
                            pythia_gate_alpha(l->s->o.alpha, l->s->cycle), l->s->o.seed, 0, &keys);
    if (status != PYTHIA_OK)
        return status;
    if (keys.found_count > 0 && is_value(keys.found[0].kind)) {
        double explained = keys.found[0].result.explained;
        *spread = explained >= EXPLAINED && (known || explained > AROUND * largest);
        if (*spread)
            l->k->keyed = find_keyed_point(l, keys.found[0].key);
    }
    pythia_explanations_free(&keys);
    return PYTHIA_OK;
}
