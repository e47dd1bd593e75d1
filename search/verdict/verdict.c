/* A verdict changes only on evidence, and slowly: what was found stays until cycles in a row speak
 * against it, and for long enough, and what is new joins when such cycles show it. */
#include "pythia/verdict.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/place.h"
#include "pythia/status.h"

/* No experiment has chosen these five: pythia evaluate scores what the search finds, and a verdict
 * is made of that. LARGE and SEEN are the limits of the search (search_look.h), so that a verdict
 * does not contradict it. */
#define LARGE     .5  /* lower bound of a share that is sure after one cycle */
#define SEEN      .03 /* lower bound of a share that is reported as "also seen" */
#define AHEAD     .1  /* by which a share has to be larger than that of the place before */
#define KEY_AHEAD .1  /* part of the variance by which another key has to explain more */
#define SPREAD    2.  /* times what a place accounts for: a key that explains more acts elsewhere */

const char *pythia_verdict_state_name(enum pythia_verdict_state state)
{
    static const char *const names[PYTHIA_VERDICT_STATES] = {"learning", "searching", "found",
                                                             "nothing", "too_few"};
    return names[state];
}

const char *pythia_confidence_name(enum pythia_confidence confidence)
{
    static const char *const names[] = {"low", "medium", "high"};
    return names[confidence];
}

const char *pythia_verdict_reason_name(enum pythia_verdict_reason reason)
{
    static const char *const names[] = {"first", "cause", "more",   "refuted", "quiet",
                                        "ended", "again", "learnt", "grown",   "retry"};
    return names[reason];
}

/* ---- keys that explain what no single place does ---- */

static bool has_ended_by_key(const struct pythia_problem *p)
{
    return p->state == PYTHIA_PROBLEM_DONE && p->why == PYTHIA_WHY_SPREAD;
}

static bool is_key_verdict(const struct pythia_verdict *v)
{
    return v->state == PYTHIA_VERDICT_FOUND && v->found_count == 0 && v->why == PYTHIA_WHY_SPREAD;
}

/* ---- cycles in a row ---- */

static bool has_held(const struct pythia_verdict_cycle *now, uint64_t first_unix_ns)
{
    return now->hold_ns == 0 || now->unix_ns == 0 ||
           (now->unix_ns >= first_unix_ns && now->unix_ns - first_unix_ns >= now->hold_ns);
}

/* One more cycle says so, or none does. A clock that was set back begins the time again. */
static void count_in_row(unsigned *cycles, uint64_t *first_unix_ns, bool says_so,
                         const struct pythia_verdict_cycle *now)
{
    *cycles = says_so ? *cycles + 1 : 0;
    if (*cycles <= 1 || *first_unix_ns > now->unix_ns)
        *first_unix_ns = now->unix_ns;
}

/* ---- places ---- */

static bool is_new_evidence(const struct pythia_finding *a, const struct pythia_finding *b)
{
    return a->share != b->share || a->low != b->low || a->high != b->high;
}

static const struct pythia_finding *find_cause(const struct pythia_problem *p,
                                               const struct pythia_place *place)
{
    for (size_t c = 0; c < p->cause_count; c++)
        if (pythia_place_equal(&p->causes[c].place, place))
            return &p->causes[c];
    return NULL;
}

static bool has_place(const struct pythia_verdict *v, const struct pythia_place *place)
{
    for (size_t i = 0; i < v->found_count; i++)
        if (pythia_place_equal(&v->found[i].finding.place, place))
            return true;
    return false;
}

static bool finding_matters(const struct pythia_finding *f, bool surely)
{
    return surely ? f->low >= PYTHIA_FINDING_MIN : f->share >= PYTHIA_FINDING_MIN && f->low > 0;
}

/* The place that was found whose share is the largest now; found_count: there is none. */
static size_t find_leading(const struct pythia_verdict *v, const struct pythia_problem *p)
{
    size_t leading = v->found_count;
    double largest = -INFINITY;
    for (size_t i = 0; i < v->found_count; i++) {
        const struct pythia_finding *now = find_cause(p, &v->found[i].finding.place);
        if (!now || now->share <= largest)
            continue;
        leading = i;
        largest = now->share;
    }
    return leading;
}

/* A cycle that says something of a place that the search has dropped; `now` is NULL then. */
static bool has_evidence(const struct pythia_finding *now, const struct pythia_finding *before,
                         const struct pythia_problem *p)
{
    return now ? is_new_evidence(now, before)
               : p->requests > 0 && p->state != PYTHIA_PROBLEM_TOO_FEW;
}

/* Update the found places by the last cycle, and remove refuted ones. Returns whether any of the
 * others has new evidence. The verdict stands and falls with its leading place, so that it takes
 * more to give that one up. */
static bool renew_places(struct pythia_verdict *v, const struct pythia_problem *p,
                         const struct pythia_verdict_cycle *cycle)
{
    size_t kept = 0, leading = find_leading(v, p);
    bool looked = false;
    for (size_t i = 0; i < v->found_count; i++) {
        struct pythia_verdict_place place = v->found[i];
        const struct pythia_finding *now = find_cause(p, &place.finding.place);
        if (!now && (p->grown || p->refuted || cycle->hold_ns == 0))
            continue;
        bool fresh = has_evidence(now, &place.finding, p);
        /* The leading place is given up only for evidence that is significantly against it. */
        bool against =
            !now || (i == leading ? now->high < PYTHIA_FINDING_MIN : !finding_matters(now, false));
        if (fresh)
            count_in_row(&place.doubts, &place.first_unix_ns, against, cycle);
        /* Several cycles against it, because one may be chance. */
        if (place.doubts >= PYTHIA_VERDICT_DOUBTS && has_held(cycle, place.first_unix_ns))
            continue;
        if (now) {
            place.finding = *now;
            looked = looked || fresh;
        }
        v->found[kept++] = place;
    }
    v->found_count = kept;
    return looked;
}

static const struct pythia_verdict_place *find_candidate(const struct pythia_verdict *v,
                                                         const struct pythia_place *place)
{
    for (size_t i = 0; i < v->candidate_count; i++)
        if (pythia_place_equal(&v->candidates[i].finding.place, place))
            return &v->candidates[i];
    return NULL;
}

/* The causes that the search knows and the verdict does not name, with what the last cycle says of
 * them. */
static void renew_candidates(struct pythia_verdict *v, const struct pythia_verdict *before,
                             const struct pythia_problem *p,
                             const struct pythia_verdict_cycle *cycle)
{
    v->candidate_count = 0;
    for (size_t c = 0; c < p->cause_count; c++) {
        const struct pythia_finding *now = &p->causes[c];
        if (has_place(v, &now->place))
            continue;
        const struct pythia_verdict_place *known = find_candidate(before, &now->place);
        struct pythia_verdict_place one = {.finding = *now,
                                           .seen = known ? known->seen : 0,
                                           .first_unix_ns = known ? known->first_unix_ns : 0,
                                           .given_up = known ? known->given_up
                                                             : has_place(before, &now->place)};
        if (!known || is_new_evidence(now, &known->finding))
            count_in_row(&one.seen, &one.first_unix_ns, finding_matters(now, one.given_up), cycle);
        v->candidates[v->candidate_count++] = one;
    }
}

static void join_candidate(struct pythia_verdict *v, size_t at)
{
    v->found[v->found_count] = v->candidates[at];
    v->found[v->found_count].given_up = false;
    v->found[v->found_count++].first_unix_ns = 0;
    v->candidate_count--;
    memmove(v->candidates + at, v->candidates + at + 1,
            (v->candidate_count - at) * sizeof(*v->candidates));
}

/* Does nothing stand yet that a place would change? */
static bool joins_at_once(const struct pythia_verdict *v, const struct pythia_verdict_place *one,
                          const struct pythia_verdict_cycle *cycle)
{
    bool stands = v->found_count > 0 || (is_key_verdict(v) && cycle->hold_ns > 0);
    return one->seen > 0 && !stands && !one->given_up;
}

/* The candidate that joins next, if `enough` cycles in a row are; candidate_count: there is none,
 * or no room. */
static size_t choose_candidate(const struct pythia_verdict *v, unsigned enough,
                               const struct pythia_verdict_cycle *cycle)
{
    size_t best = v->candidate_count;
    for (size_t i = 0; v->found_count < PYTHIA_PROBLEM_CAUSES && i < v->candidate_count; i++) {
        const struct pythia_verdict_place *one = &v->candidates[i];
        if ((joins_at_once(v, one, cycle) ||
             (one->seen >= enough && has_held(cycle, one->first_unix_ns))) &&
            (best == v->candidate_count || one->finding.share > v->candidates[best].finding.share))
            best = i;
    }
    return best;
}

static void add_verdict_places(struct pythia_verdict *v, unsigned enough,
                               const struct pythia_verdict_cycle *cycle)
{
    for (size_t at; (at = choose_candidate(v, enough, cycle)) < v->candidate_count;)
        join_candidate(v, at);
}

/* Order by share, but places with similar shares keep their order. */
static void order_places(struct pythia_verdict *v)
{
    for (size_t i = 1; i < v->found_count; i++) {
        const struct pythia_verdict_place one = v->found[i];
        size_t to = i;
        for (; to > 0 && one.finding.share > v->found[to - 1].finding.share + AHEAD; to--)
            v->found[to] = v->found[to - 1];
        v->found[to] = one;
    }
}

/* The places that are not in the verdict: causes whose share is too small, and the largest of what
 * no cause explains. */
static void list_also(struct pythia_verdict *v, const struct pythia_problem *p)
{
    v->also_count = 0;
    for (size_t c = 0; c < p->cause_count; c++)
        if (!has_place(v, &p->causes[c].place) && p->causes[c].low >= SEEN)
            v->also[v->also_count++] = p->causes[c];
    if (p->top.low >= SEEN && !has_place(v, &p->top.place) && !find_cause(p, &p->top.place))
        v->also[v->also_count++] = p->top;
}

/* ---- from cycle to cycle ---- */

/* Evidence that is too little says nothing against what was held before. */
static enum pythia_verdict_state judge_verdict_state(const struct pythia_verdict *v,
                                                     const struct pythia_problem *p, bool first)
{
    if (v->found_count > 0 || has_ended_by_key(p))
        return PYTHIA_VERDICT_FOUND;
    if (p->resting)
        return v->state;
    switch (p->state) {
    case PYTHIA_PROBLEM_SEARCHING:
        return PYTHIA_VERDICT_SEARCHING;
    case PYTHIA_PROBLEM_UNKNOWN:
        return PYTHIA_VERDICT_LEARNING;
    case PYTHIA_PROBLEM_TOO_FEW:
        /* A verdict that stands is not withdrawn because requests are missing for a while. */
        return first || v->state == PYTHIA_VERDICT_FOUND || v->state == PYTHIA_VERDICT_LEARNING
                   ? PYTHIA_VERDICT_TOO_FEW
                   : v->state;
    case PYTHIA_PROBLEM_DONE:
    case PYTHIA_PROBLEM_QUIET:
    case PYTHIA_PROBLEM_GIVEN_UP:
        break;
    }
    return PYTHIA_VERDICT_NOTHING;
}

/* Does the verdict stay with its key, although the search has not ended by it any more? Not for
 * long. */
static bool stays_with_key(struct pythia_verdict *v, const struct pythia_problem *p,
                           const struct pythia_verdict_cycle *cycle)
{
    unsigned lost = v->spread_lost_unix_ns > 0;
    count_in_row(&lost, &v->spread_lost_unix_ns, is_key_verdict(v) && !has_ended_by_key(p), cycle);
    if (lost > 0 && cycle->hold_ns > 0 && !has_held(cycle, v->spread_lost_unix_ns))
        return true;
    v->spread_lost_unix_ns = 0;
    return false;
}

/* The first place that was found before and is not any more; NULL: there is none. */
static const struct pythia_finding *find_dropped(const struct pythia_verdict *before,
                                                 const struct pythia_verdict *now)
{
    for (size_t i = 0; i < before->found_count; i++)
        if (!has_place(now, &before->found[i].finding.place))
            return &before->found[i].finding;
    return NULL;
}

static enum pythia_verdict_reason reason_of(const struct pythia_verdict *before,
                                            const struct pythia_verdict *now,
                                            const struct pythia_problem *p)
{
    bool found = before->state == PYTHIA_VERDICT_FOUND;
    if (now->state == PYTHIA_VERDICT_FOUND && before->found_count == 0)
        return PYTHIA_VERDICT_CAUSE;
    if (found && p->state == PYTHIA_PROBLEM_QUIET && now->found_count == 0)
        return PYTHIA_VERDICT_QUIET;
    if (found && find_dropped(before, now))
        return p->grown ? PYTHIA_VERDICT_GROWN : PYTHIA_VERDICT_REFUTED;
    if (found && now->state == PYTHIA_VERDICT_FOUND)
        return PYTHIA_VERDICT_MORE;
    /* It was a key: either the durations are others, or it explains them no more. */
    if (found && p->retries > 0)
        return PYTHIA_VERDICT_REFUTED;
    if (before->state == PYTHIA_VERDICT_LEARNING || before->state == PYTHIA_VERDICT_TOO_FEW)
        return PYTHIA_VERDICT_LEARNT;
    if (now->state == PYTHIA_VERDICT_SEARCHING)
        return p->retries > 0 ? PYTHIA_VERDICT_RETRY : PYTHIA_VERDICT_AGAIN;
    return p->state == PYTHIA_PROBLEM_QUIET ? PYTHIA_VERDICT_QUIET : PYTHIA_VERDICT_ENDED;
}

static bool has_changed(const struct pythia_verdict *before, const struct pythia_verdict *now)
{
    if (before->state != now->state || before->found_count != now->found_count)
        return true;
    for (size_t i = 0; i < now->found_count; i++)
        if (!has_place(before, &now->found[i].finding.place))
            return true;
    return false;
}

static bool has_same_first(const struct pythia_verdict *a, const struct pythia_verdict *b)
{
    if (a->type == b->type && is_key_verdict(a) && is_key_verdict(b))
        return true;
    return a->type == b->type && a->found_count > 0 && b->found_count > 0 &&
           pythia_place_equal(&a->found[0].finding.place, &b->found[0].finding.place);
}

static void forget_key(struct pythia_verdict *v)
{
    pythia_free(v->key);
    v->key = NULL;
    v->explained = v->q = NAN;
    v->key_doubt = 0;
}

static enum pythia_confidence derive_confidence(const struct pythia_verdict *v)
{
    double low = v->found_count > 0 ? v->found[0].finding.low : 0;
    if (is_key_verdict(v))
        return v->looks >= 2 ? PYTHIA_CONFIDENCE_HIGH : PYTHIA_CONFIDENCE_MEDIUM;
    return low >= LARGE || v->looks >= 3                ? PYTHIA_CONFIDENCE_HIGH
           : low >= PYTHIA_FINDING_MIN || v->looks >= 2 ? PYTHIA_CONFIDENCE_MEDIUM
                                                        : PYTHIA_CONFIDENCE_LOW;
}

static void note_change(struct pythia_verdict *v, const struct pythia_verdict *before,
                        enum pythia_verdict_reason reason)
{
    bool first = reason == PYTHIA_VERDICT_FIRST;
    v->reason = reason;
    v->was = first ? v->state : before->state;
    v->was_found = (struct pythia_finding){.share = NAN};
    if (before->found_count > 0) {
        const struct pythia_finding *dropped = find_dropped(before, v);
        v->was_found = dropped ? *dropped : before->found[0].finding;
    }
    if (!first && before->state == PYTHIA_VERDICT_FOUND)
        v->changes++;
}

static void update_verdict(struct pythia_verdict *v, const struct pythia_verdict_cycle *cycle,
                           const struct pythia_problem *p, bool first)
{
    const struct pythia_verdict before = *v;
    bool looked = renew_places(v, p, cycle);
    renew_candidates(v, &before, p, cycle);
    add_verdict_places(v, PYTHIA_VERDICT_SEEN, cycle);
    order_places(v);
    list_also(v, p);
    if (!p->resting)
        v->searched = p->state == PYTHIA_PROBLEM_SEARCHING;
    if (!stays_with_key(v, p, cycle)) {
        v->state = judge_verdict_state(v, p, first);
        v->why = p->why;
        looked = looked || (p->retried && is_key_verdict(v));
    }
    if (p->requests > 0) {
        v->requests = p->requests;
        v->part = p->part;
        v->part_point = p->part_point;
    }
    /* A look that confirms the verdict raises its confidence; one that changes it begins the
     * count again. */
    if (!first && !has_changed(&before, v)) {
        v->looks += looked;
    } else {
        note_change(v, &before, first ? PYTHIA_VERDICT_FIRST : reason_of(&before, v, p));
        v->since = cycle->number;
        v->since_unix_ns = cycle->unix_ns;
        v->looks = 1;
    }
    v->confidence = derive_confidence(v);
    if (!first && !has_same_first(&before, v))
        forget_key(v);
}

/* One verdict more; NULL when out of memory. */
static struct pythia_verdict *append_verdict(struct pythia_verdicts *v, uint32_t type)
{
    if (pythia_grow(&v->list, &v->capacity, v->count, sizeof(*v->list)) != PYTHIA_OK)
        return NULL;
    v->list[v->count] = (struct pythia_verdict){
        .type = type, .explained = NAN, .q = NAN, .was_found = {.share = NAN}};
    return &v->list[v->count++];
}

/* Types that the search space does not know come after the others, and are not always the same.
 */
static struct pythia_verdict *find_type_verdict(struct pythia_verdicts *v, size_t at, uint32_t type)
{
    if (at < v->count && v->list[at].type == type)
        return &v->list[at];
    for (size_t i = 0; i < v->count; i++)
        if (v->list[i].type == type)
            return &v->list[i];
    return NULL;
}

/* A place that is seen in the cycle in which the verdict began is part of it; a later one is a
 * change. */
static void settle_places(struct pythia_verdict *v, uint64_t cycle)
{
    const struct pythia_verdict before = *v;
    add_verdict_places(v, 1, &(struct pythia_verdict_cycle){.number = cycle});
    if (v->found_count == before.found_count)
        return;
    order_places(v);
    size_t kept = 0;
    for (size_t i = 0; i < v->also_count; i++)
        if (!has_place(v, &v->also[i].place))
            v->also[kept++] = v->also[i];
    v->also_count = kept;
    v->state = PYTHIA_VERDICT_FOUND;
    if (before.since != cycle) {
        note_change(v, &before,
                    before.found_count > 0 ? PYTHIA_VERDICT_MORE : PYTHIA_VERDICT_CAUSE);
        v->since = cycle;
        v->looks = 1;
    }
    v->confidence = derive_confidence(v);
    /* The key was that of another place. */
    if (!has_same_first(&before, v))
        forget_key(v);
}

void pythia_verdicts_settle(struct pythia_verdicts *v, uint64_t cycle)
{
    for (size_t i = 0; i < v->count; i++)
        settle_places(&v->list[i], cycle);
}

int pythia_verdicts_update(struct pythia_verdicts *v, struct pythia_verdict_cycle cycle,
                           const struct pythia_problem *problems, size_t count)
{
    v->last = cycle;
    for (size_t i = 0; i < count; i++) {
        struct pythia_verdict *one = find_type_verdict(v, i, problems[i].type);
        bool first = !one;
        one = one ? one : append_verdict(v, problems[i].type);
        if (!one)
            return PYTHIA_ENOMEM;
        update_verdict(one, &cycle, &problems[i], first);
    }
    return PYTHIA_OK;
}

/* ---- what a diagnosis adds ---- */

static bool group_shows_place(const struct pythia_group *group, const struct pythia_cct *cct,
                              const struct pythia_place *place)
{
    for (size_t e = 0; e < group->ranking.edge_count; e++)
        if (pythia_place_has(place, cct, group->ranking.edges[e].edge))
            return true;
    return false;
}

/* The group of a type with most of the variance among those that hit a place; NULL: there is
 * none. */
static const struct pythia_group *leading_group(const struct pythia_diagnosis *d,
                                                const struct pythia_groups *g, uint32_t type,
                                                const struct pythia_place *place)
{
    const struct pythia_group *best = NULL;
    for (size_t i = 0; i < d->group_count; i++) {
        const struct pythia_group *group = &d->groups[i];
        if (d->types[group->type].type->name == type &&
            (!place || group_shows_place(group, pythia_groups_cct(g), place)) &&
            (!best || group->variance_share > best->variance_share))
            best = group;
    }
    return best;
}

static const struct pythia_explanation *find_explained_key(const struct pythia_explanations *all,
                                                           const char *key)
{
    for (size_t i = 0; key && i < all->found_count; i++)
        if (strcmp(all->found[i].name, key) == 0)
            return &all->found[i];
    return NULL;
}

/* Change the key that was named, for one that is ahead? One cycle of evidence is not enough,
 * because keys that correlate with each other alternate in first place. */
static bool changes_key(struct pythia_verdict *v, const struct pythia_verdict_cycle *last)
{
    uint64_t cycle = v->since + v->looks;
    if (v->key_doubt == 0) {
        v->key_doubt = cycle;
        v->key_doubt_unix_ns = last->unix_ns;
    }
    return v->key_doubt != cycle && has_held(last, v->key_doubt_unix_ns);
}

static int set_key(struct pythia_verdict *v, const struct pythia_group *group,
                   const struct pythia_verdict_cycle *last)
{
    const struct pythia_explanations *all = &group->explanations;
    if (all->found_count == 0)
        return PYTHIA_OK;
    const struct pythia_explanation *known = find_explained_key(all, v->key), *x = &all->found[0];
    if (known && x->result.explained <= known->result.explained + KEY_AHEAD) {
        x = known;
        v->key_doubt = 0;
    } else if (v->key && !changes_key(v, last)) {
        return PYTHIA_OK;
    } else {
        char *key = pythia_strndup(x->name, strlen(x->name));
        if (!key)
            return PYTHIA_ENOMEM;
        forget_key(v);
        v->key = key;
    }
    v->explained = x->result.explained;
    v->q = x->result.q;
    return PYTHIA_OK;
}

int pythia_verdicts_explain(struct pythia_verdicts *v, const struct pythia_diagnosis *d,
                            const struct pythia_groups *g)
{
    for (size_t i = 0; i < v->count; i++) {
        struct pythia_verdict *one = &v->list[i];
        const struct pythia_group *group = leading_group(
            d, g, one->type, one->found_count > 0 ? &one->found[0].finding.place : NULL);
        one->group = group ? group->id : 0;
        if (group && one->state == PYTHIA_VERDICT_FOUND) {
            int status = set_key(one, group, &v->last);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

bool pythia_verdict_is_spread(const struct pythia_verdict *v)
{
    return is_key_verdict(v) || (v->found_count > 0 && v->key && v->explained >= LARGE &&
                                 v->explained > SPREAD * v->found[0].finding.high);
}

bool pythia_verdicts_take_keys(struct pythia_verdicts *v, struct pythia_verdicts *from)
{
    bool other = false;
    for (size_t i = 0; i < from->count; i++) {
        struct pythia_verdict *taken = &from->list[i],
                              *one = taken->key ? find_type_verdict(v, i, taken->type) : NULL;
        if (!one || !has_same_first(one, taken))
            continue;
        other = other || !one->key || strcmp(one->key, taken->key) != 0;
        forget_key(one);
        one->key = taken->key;
        one->explained = taken->explained;
        one->q = taken->q;
        one->key_doubt = taken->key_doubt;
        one->key_doubt_unix_ns = taken->key_doubt_unix_ns;
        taken->key = NULL;
    }
    return other;
}

/* ---- without a search ---- */

static enum pythia_verdict_state state_of_group(const struct pythia_group *group,
                                                const struct pythia_verdict *v)
{
    if (group->status == PYTHIA_GROUP_TOO_FEW)
        return PYTHIA_VERDICT_TOO_FEW;
    bool found = v->found_count > 0 || group->inclusive != PYTHIA_CCT_ROOT ||
                 group->explanations.found_count > 0;
    return group->status == PYTHIA_GROUP_DIAGNOSED && found ? PYTHIA_VERDICT_FOUND
                                                            : PYTHIA_VERDICT_NOTHING;
}

/* The own time that the diagnosis names is found, or else the edge with the largest share if it
 * stands out, or has most of the variance; not one that rests on a handful of requests, and none
 * where clipping leaves no shares. */
static void judge_places(struct pythia_verdict *v, const struct pythia_group *group,
                         const struct pythia_cct *cct)
{
    const struct pythia_ranked_edge *top = NULL;
    for (size_t e = 0; e < group->ranking.edge_count; e++)
        if (!group->ranking.edges[e].few &&
            (!top || group->ranking.edges[e].share.share > top->share.share))
            top = &group->ranking.edges[e];
    if (!top || !pythia_ranking_has_shares(&group->ranking) ||
        group->status != PYTHIA_GROUP_DIAGNOSED)
        return;
    const struct pythia_slope *own = &group->own.share;
    /* Its segments would be reported one by one otherwise. */
    if (group->own.tracepoint != PYTHIA_NONE) {
        v->found[v->found_count++].finding = (struct pythia_finding){
            pythia_place_own(group->own.tracepoint), own->slope, own->low, own->high};
        return;
    }
    const struct pythia_finding finding = {pythia_place_of(cct, top->edge), top->share.share,
                                           top->share.low, top->share.high};
    if ((group->ranking.localised || finding.low >= LARGE) && finding.share >= PYTHIA_FINDING_MIN &&
        finding.low > 0)
        v->found[v->found_count++] = (struct pythia_verdict_place){.finding = finding};
    else if (finding.low >= SEEN)
        v->also[v->also_count++] = finding;
}

/* By type: the group that has most of its variance; NULL: it has none. Owned; NULL when out of
 * memory. */
static const struct pythia_group **leading_groups(const struct pythia_diagnosis *d)
{
    const struct pythia_group **leading =
        pythia_calloc(d->type_count + 1, sizeof(struct pythia_group *));
    for (size_t i = 0; leading && i < d->group_count; i++) {
        const struct pythia_group *group = &d->groups[i], **best = &leading[group->type];
        if (!*best || group->variance_share > (*best)->variance_share)
            *best = group;
    }
    return leading;
}

int pythia_verdicts_judge(struct pythia_verdicts *v, const struct pythia_diagnosis *d,
                          const struct pythia_groups *g)
{
    const struct pythia_group **leading = leading_groups(d);
    int status = leading ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < d->type_count; i++) {
        const struct pythia_group *group = leading[i];
        struct pythia_verdict *one = append_verdict(v, d->types[i].type->name);
        if (!one) {
            status = PYTHIA_ENOMEM;
            goto out;
        }
        one->requests = d->types[i].type->moments.n;
        one->looks = 1;
        /* The state stays so unless a group of the type had enough requests. */
        one->state = one->was = PYTHIA_VERDICT_TOO_FEW;
        if (!group)
            continue;
        one->group = group->id;
        judge_places(one, group, pythia_groups_cct(g));
        one->state = one->was = state_of_group(group, one);
        one->confidence = derive_confidence(one);
        if (one->state == PYTHIA_VERDICT_FOUND) {
            status = set_key(one, group, &v->last);
            if (status != PYTHIA_OK)
                goto out;
        }
    }
out:
    pythia_free(leading);
    return status;
}

/* ---- memory ---- */

int pythia_verdicts_copy(const struct pythia_verdicts *v, struct pythia_verdicts *out)
{
    struct pythia_verdicts copy = {.list = pythia_calloc(v->count + 1, sizeof(*copy.list)),
                                   .capacity = v->count + 1,
                                   .last = v->last};
    bool failed = !copy.list;
    for (; !failed && copy.count < v->count; copy.count++) {
        struct pythia_verdict *one = &copy.list[copy.count];
        *one = v->list[copy.count];
        if (one->key)
            one->key = pythia_strndup(one->key, strlen(one->key));
        failed = v->list[copy.count].key && !one->key;
    }
    if (failed) {
        pythia_verdicts_free(&copy);
        return PYTHIA_ENOMEM;
    }
    *out = copy;
    return PYTHIA_OK;
}

void pythia_verdicts_free(struct pythia_verdicts *v)
{
    for (size_t i = 0; i < v->count; i++)
        pythia_free(v->list[i].key);
    pythia_free(v->list);
    *v = (struct pythia_verdicts){0};
}
