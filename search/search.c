/* A cycle asks of each request type that varies: which edge, of those that can be seen, has most of
 * the variance? If nothing closed lies behind it, and it stands out beyond chance, it is a cause;
 * its time is taken away and the rest is looked at in the same way. Else the belief about where the
 * cause is takes the evidence in, and the points that would tell most about it are opened; those
 * that tell nothing any more are closed. */
#include "pythia/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "belief.h"
#include "gain.h"
#include "pythia/dispersion.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define REST_MAX    .1   /* share of the variance that may stay without a cause */
#define CAUSE_MIN   .03  /* lower bound of the share of a cause */
#define LARGE       .5   /* a share whose lower bound is above needs no comparison */
#define SURE        .9   /* of the cause, by all evidence so far: needs none either */
#define ABOVE       2.   /* standard errors: a share above chance, if that is asked once */
#define IDLE_MAX    2    /* cycles in which no share is above chance, after a cause was found */
#define IDLE_FIRST  6    /* the same before one was found */
#define STARVED_MAX 2    /* cycles with too few requests, after which a search closes its points */
#define MASS_MIN    .002 /* a point that parts less from less tells nothing any more */

/* What the search keeps of a problem beside what it tells. */
struct keeping {
    struct pythia__belief belief; /* none while nodes is 0 */
    double *log_durations;        /* of the cycle in which points were last retired */
    size_t duration_count;
    bool *retired;     /* by trace point: opened before, and closed because it told nothing */
    size_t unanswered; /* cycles in a row in which a strategy suggested nothing for it */
    size_t idle;    /* cycles in a row in which no share that is not explained was above chance */
    size_t starved; /* cycles in a row with too few requests */
};

struct pythia_search {
    const struct pythia_space *space;
    struct pythia_search_options o;
    uint32_t points;
    bool *open, *skeleton, *never;
    double *calls; /* by trace point: in a request of the type that has it most often */
    struct pythia_problem *problems;
    struct keeping *keeping;
    size_t problem_count, problem_capacity, keeping_capacity;
    struct pythia_switch *switches;
    size_t switch_count, switch_capacity;
    uint64_t cycle;
};

const char *pythia_problem_state_name(enum pythia_problem_state state)
{
    static const char *const names[] = {"searching", "done",    "quiet",
                                        "too_few",   "unknown", "given_up"};
    return names[state];
}

/* ---- the state ---- */

static void count_calls(struct pythia_search *s)
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
    if (s->o.budget.points_per_cycle > s->points)
        s->o.budget.points_per_cycle = s->points;
    s->skeleton = pythia_space_skeleton(space);
    s->open = pythia_calloc(s->points, sizeof(*s->open));
    s->never = pythia_calloc(s->points, sizeof(*s->never));
    s->calls = pythia_calloc((size_t)s->points * 2, sizeof(*s->calls));
    if (!s->skeleton || !s->open || !s->never || !s->calls) {
        pythia_search_destroy(s);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t point = 0; point < s->points; point++) {
        s->never[point] = s->o.never && pythia_open_points_has(s->o.never, point);
        if (s->o.always && !s->never[point] && pythia_open_points_has(s->o.always, point))
            s->skeleton[point] = true;
        s->open[point] = s->skeleton[point];
    }
    count_calls(s);
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
    for (size_t i = 0; i < s->problem_count; i++) {
        pythia__belief_free(&s->keeping[i].belief);
        pythia_free(s->keeping[i].log_durations);
        pythia_free(s->keeping[i].retired);
    }
    void *const owned[] = {s->open,     s->skeleton, s->never,   s->calls,
                           s->problems, s->keeping,  s->switches};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    pythia_free(s);
}

bool pythia_search_is_open(const struct pythia_search *s, uint32_t tracepoint)
{
    return tracepoint < s->points && s->open[tracepoint];
}

bool pythia_search_in_skeleton(const struct pythia_search *s, uint32_t tracepoint)
{
    return tracepoint < s->points && s->skeleton[tracepoint];
}

/* The open points, or (hits not NULL) those that something was seen of. */
static int list_open(const struct pythia_search *s, const uint64_t *hits, size_t hit_count,
                     struct pythia_open_points **out)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    struct pythia_open_points *open;
    int status = pythia_open_points_create(v, &open);
    if (status != PYTHIA_OK)
        return status;
    for (uint32_t point = 0; point < s->points && status == PYTHIA_OK; point++)
        if (s->open[point] && (!hits || (point < hit_count && hits[point] > 0)))
            status = pythia_open_points_add(open, pythia_vocabulary_tracepoint_id(v, point));
    if (status == PYTHIA_OK)
        *out = open;
    else
        pythia_open_points_destroy(open);
    return status;
}

int pythia_search_open_points(const struct pythia_search *s, struct pythia_open_points **out)
{
    return list_open(s, NULL, 0, out);
}

static int find_problem(struct pythia_search *s, uint32_t type, size_t *out)
{
    for (size_t i = 0; i < s->problem_count; i++)
        if (s->problems[i].type == type) {
            *out = i;
            return PYTHIA_OK;
        }
    if (pythia_grow(&s->problems, &s->problem_capacity, s->problem_count, sizeof(*s->problems)) !=
            PYTHIA_OK ||
        pythia_grow(&s->keeping, &s->keeping_capacity, s->problem_count, sizeof(*s->keeping)) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    bool *retired = pythia_calloc(s->points, sizeof(*retired));
    if (!retired)
        return PYTHIA_ENOMEM;
    s->keeping[s->problem_count] = (struct keeping){.retired = retired};
    s->problems[s->problem_count] =
        (struct pythia_problem){.type = type, .top = {.share = NAN}, .rest = NAN};
    *out = s->problem_count++;
    return PYTHIA_OK;
}

/* ---- decisions ---- */

static int decide(struct pythia_search *s, uint32_t point, bool open, size_t problem, double inside,
                  struct pythia_buf *reason)
{
    if (pythia_buf_status(reason) != PYTHIA_OK ||
        pythia_grow(&s->switches, &s->switch_capacity, s->switch_count, sizeof(*s->switches)) !=
            PYTHIA_OK) {
        pythia_buf_free(reason);
        return PYTHIA_ENOMEM;
    }
    s->switches[s->switch_count++] =
        (struct pythia_switch){.tracepoint = point,
                               .open = open,
                               .problem = problem,
                               .inside = inside,
                               .cost_ns = s->calls[point] * s->o.price_ns,
                               .reason = reason->bytes};
    s->open[point] = open;
    return PYTHIA_OK;
}

static int close_point(struct pythia_search *s, uint32_t point, size_t problem, const char *why)
{
    struct pythia_buf reason = {0};
    pythia_buf_puts(&reason, why);
    return decide(s, point, false, problem, 0, &reason);
}

static bool has_point(const struct pythia_search *s, size_t problem, uint32_t point)
{
    const struct pythia_space_type *t = pythia_space_type(s->space, s->problems[problem].type);
    for (uint32_t node = 1; t && node < pythia_cct_nodes(t->cct); node++)
        if (pythia_cct_tracepoint(t->cct, node) == point)
            return true;
    return false;
}

/* Was a point opened or closed in this cycle? */
static bool is_decided(const struct pythia_search *s, uint32_t point)
{
    for (size_t i = 0; i < s->switch_count; i++)
        if (s->switches[i].tracepoint == point)
            return true;
    return false;
}

/* Would a cause that was found be lost from sight without a point? */
static bool bounds_cause(const struct pythia_search *s, uint32_t point)
{
    for (size_t i = 0; i < s->problem_count; i++)
        for (size_t c = 0; c < s->problems[i].cause_count; c++)
            if (s->problems[i].causes[c].place.from_tracepoint == point ||
                s->problems[i].causes[c].place.to_tracepoint == point)
                return true;
    return false;
}

/* ---- one problem in one cycle ---- */

struct looking {
    struct pythia_search *s;
    size_t number; /* of the problem */
    struct pythia_problem *p;
    struct keeping *k;
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
    else if (l->k->idle >= IDLE_FIRST)
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
        if (decide(s, picks[i].tracepoint, true, l->number, picks[i].inside, &reason) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        l->budget--;
    }
    return PYTHIA_OK;
}

/* How many points the budgets still allow, and whether a point fits the time that may be added. */
static size_t room(const struct pythia_search *s, size_t wanted, double *ns_left)
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

static int remember_durations(struct keeping *k, const struct pythia_type *t)
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
    return s->open[point] && !s->skeleton[point] && !is_decided(s, point) && s->calls[point] > 0 &&
           !bounds_cause(s, point) && has_point(s, l->number, point);
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
            status = close_point(s, point, l->number, "the cause is neither in it nor around it");
        }
    pythia_free(use);
    return status == PYTHIA_OK && retired ? remember_durations(l->k, l->evidence) : status;
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
        status = close_point(s, least, l->number, "others tell more, and the budget is used up");
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
    size_t budget = room(s, l->budget, &ns_left), chosen = 0;
    bool *closed = pythia_calloc(s->points, sizeof(*closed));
    int status = closed ? PYTHIA_OK : PYTHIA_ENOMEM;
    *any = false;
    for (uint32_t node = 1; status == PYTHIA_OK && node < pythia_cct_nodes(l->type->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(l->type->cct, node);
        bool may =
            !s->open[point] && !s->never[point] && !l->k->retired[point] && !is_decided(s, point);
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
    if (l->k->unanswered >= IDLE_FIRST)
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

static int look_at(struct pythia_search *s, size_t number, const struct pythia_type *t,
                   const struct pythia_groups *groups, struct pythia_open_points *open,
                   size_t *budget)
{
    struct looking l = {.s = s,
                        .number = number,
                        .p = &s->problems[number],
                        .k = &s->keeping[number],
                        .type = pythia_space_type(s->space, t->name),
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

/* ---- a cycle ---- */

/* What the evidence says of a type before any edge is looked at. */
static enum pythia_problem_state
state_of(const struct pythia_search *s, const struct pythia_type *t, const struct pythia_problem *p)
{
    double cov = pythia_exact_moments_cov(&t->moments);
    if (!pythia_space_type(s->space, t->name))
        return PYTHIA_PROBLEM_UNKNOWN;
    if (p->requests < s->o.min_requests)
        return PYTHIA_PROBLEM_TOO_FEW;
    if (!(cov >= s->o.min_cov) || p->variance_share < s->o.min_share)
        return PYTHIA_PROBLEM_QUIET;
    return PYTHIA_PROBLEM_SEARCHING;
}

static int meet(struct pythia_search *s, const struct pythia_type *types, size_t count)
{
    double all = 0;
    for (size_t i = 0; i < count; i++) {
        double variance = pythia_exact_moments_variance(&types[i].moments);
        all += isnan(variance) ? 0 : variance * (double)types[i].moments.n;
    }
    for (size_t i = 0; i < s->problem_count; i++)
        s->problems[i].requests = 0;
    for (size_t i = 0; i < count; i++) {
        size_t number;
        if (find_problem(s, types[i].name, &number) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        struct pythia_problem *p = &s->problems[number];
        double variance = pythia_exact_moments_variance(&types[i].moments);
        p->requests = types[i].moments.n;
        p->variance_share = all > 0 && !isnan(variance) ? variance * (double)p->requests / all : 0;
        enum pythia_problem_state now = state_of(s, &types[i], p);
        bool settled = p->state == PYTHIA_PROBLEM_DONE || p->state == PYTHIA_PROBLEM_GIVEN_UP;
        if (!settled || now == PYTHIA_PROBLEM_QUIET || now == PYTHIA_PROBLEM_UNKNOWN)
            p->state = now;
    }
    for (size_t i = 0; i < s->problem_count; i++)
        if (s->problems[i].requests == 0 && s->problems[i].state == PYTHIA_PROBLEM_SEARCHING)
            s->problems[i].state = PYTHIA_PROBLEM_TOO_FEW;
    for (size_t i = 0; i < s->problem_count; i++) {
        bool starves = s->problems[i].state == PYTHIA_PROBLEM_TOO_FEW;
        s->keeping[i].starved = starves ? s->keeping[i].starved + 1 : 0;
    }
    return PYTHIA_OK;
}

/* The type that is searched for, has not been looked at, and varies most. */
static size_t next_problem(const struct pythia_search *s, const bool *looked)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->problem_count; i++)
        if (!looked[i] && s->problems[i].state == PYTHIA_PROBLEM_SEARCHING &&
            (best == SIZE_MAX || s->problems[i].variance_share > s->problems[best].variance_share))
            best = i;
    return best;
}

/* Is a problem searched, or will it be as soon as there are requests again? */
static bool is_searched(const struct pythia_search *s, size_t problem)
{
    const struct pythia_problem *p = &s->problems[problem];
    return p->state == PYTHIA_PROBLEM_SEARCHING ||
           (p->state == PYTHIA_PROBLEM_TOO_FEW && p->cycles > 0 &&
            s->keeping[problem].starved < STARVED_MAX);
}

/* No request passed a point: it is not opened again for these types until durations change. */
static int retire_mute(struct pythia_search *s, uint32_t point, const struct pythia_groups *groups)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    for (size_t i = 0; i < s->problem_count; i++) {
        if (!has_point(s, i, point))
            continue;
        for (size_t t = 0; t < count; t++)
            if (types[t].name == s->problems[i].type &&
                remember_durations(&s->keeping[i], &types[t]) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
        s->keeping[i].retired[point] = true;
    }
    return PYTHIA_OK;
}

/* Points that nothing was seen of while requests of a type that has them were, and points that no
 * search needs any more. */
static int close_idle(struct pythia_search *s, const struct pythia_groups *groups,
                      const uint64_t *hits, size_t hit_count)
{
    int status = PYTHIA_OK;
    for (uint32_t point = 0; point < s->points && status == PYTHIA_OK; point++) {
        bool searched = false, due = false;
        if (!s->open[point] || s->skeleton[point] || is_decided(s, point))
            continue;
        size_t owner = SIZE_MAX;
        for (size_t i = 0; i < s->problem_count; i++) {
            if (!has_point(s, i, point))
                continue;
            searched = searched || is_searched(s, i);
            due = due || s->problems[i].requests >= s->o.min_requests;
            owner = i;
        }
        bool mute = due && (point >= hit_count || hits[point] == 0);
        if (mute)
            status = retire_mute(s, point, groups);
        if (status == PYTHIA_OK && (mute || (!searched && !bounds_cause(s, point))))
            status = close_point(s, point, owner,
                                 mute ? "no request passed it" : "its search has ended");
    }
    return status;
}

/* Open what a strategy of the table suggests, as far as it may be opened. */
static int open_suggested(struct pythia_search *s, const struct pythia_diagnosis *d,
                          const struct pythia_suggestion *list, size_t count, bool *answered)
{
    double ns_left;
    size_t budget = room(s, s->o.budget.points_per_cycle, &ns_left);
    for (size_t i = 0; i < count; i++) {
        uint32_t point = list[i].tracepoint,
                 type = d->types[d->groups[list[i].group].type].type->name;
        size_t number = 0;
        while (number < s->problem_count && s->problems[number].type != type)
            number++;
        if (number == s->problem_count || s->problems[number].state != PYTHIA_PROBLEM_SEARCHING ||
            s->open[point] || s->never[point] || s->keeping[number].retired[point])
            continue;
        answered[number] = true;
        double cost = s->calls[point] * s->o.price_ns;
        if (budget == 0 || cost > ns_left)
            continue;
        struct pythia_buf reason = {0};
        pythia_buf_puts(&reason, list[i].reason);
        if (decide(s, point, true, number, list[i].gain, &reason) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        budget--;
        ns_left -= cost;
    }
    return PYTHIA_OK;
}

/* The same evidence, as a strategy wants it. A problem that it has nothing for is given up in the
 * end. */
static int ask_strategy(struct pythia_search *s, const struct pythia_groups *groups,
                        struct pythia_open_points *open)
{
    size_t budget = s->o.budget.points_per_cycle, wanted = 4 * budget, count = 0;
    struct pythia_diagnosis *d = NULL;
    struct pythia_diagnosis_options how = {.alpha = s->o.alpha,
                                           .look = s->cycle,
                                           .min_requests = s->o.min_requests,
                                           .min_cov = s->o.min_cov,
                                           .seed = s->o.seed};
    struct pythia_suggestion *list = pythia_calloc(wanted + 1, sizeof(*list));
    bool *answered = pythia_calloc(s->problem_count + 1, sizeof(*answered));
    int status = list && answered ? pythia_diagnose(groups, &how, &d) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK) {
        struct pythia_evidence evidence = {.space = s->space,
                                           .groups = groups,
                                           .diagnosis = d,
                                           .open = open,
                                           .price_ns = s->o.price_ns,
                                           .seed = s->o.seed,
                                           .cycle = s->cycle};
        status = pythia_strategy_run(s->o.strategy, &evidence, wanted, list, &count, NULL);
    }
    if (status == PYTHIA_OK && budget > 0)
        status = open_suggested(s, d, list, count, answered);
    for (size_t i = 0; status == PYTHIA_OK && i < s->problem_count; i++) {
        if (s->problems[i].state != PYTHIA_PROBLEM_SEARCHING)
            continue;
        s->keeping[i].unanswered = answered[i] ? 0 : s->keeping[i].unanswered + 1;
        if (s->keeping[i].unanswered >= IDLE_FIRST)
            s->problems[i].state = PYTHIA_PROBLEM_GIVEN_UP;
    }
    for (size_t i = 0; i < count; i++)
        pythia_suggestion_clear(&list[i]);
    pythia_free(list);
    pythia_free(answered);
    pythia_diagnosis_destroy(d);
    return status;
}

/* A point that nothing was seen of parts nothing: what there is lies between the others. */
static int look_at_all(struct pythia_search *s, const struct pythia_groups *groups,
                       const uint64_t *hits, size_t hit_count, size_t *leading)
{
    size_t count, budget = s->o.budget.points_per_cycle;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    struct pythia_open_points *open = NULL;
    bool *looked = pythia_calloc(s->problem_count + 1, sizeof(*looked));
    int status = looked ? list_open(s, hits, hit_count, &open) : PYTHIA_ENOMEM;
    *leading = SIZE_MAX;
    for (size_t i; status == PYTHIA_OK && (i = next_problem(s, looked)) != SIZE_MAX;) {
        looked[i] = true;
        *leading = *leading == SIZE_MAX ? i : *leading;
        for (size_t t = 0; t < count && status == PYTHIA_OK; t++)
            if (types[t].name == s->problems[i].type)
                status = look_at(s, i, &types[t], groups, open, &budget);
    }
    if (status == PYTHIA_OK && s->o.strategy && *leading != SIZE_MAX)
        status = ask_strategy(s, groups, open);
    pythia_open_points_destroy(open);
    pythia_free(looked);
    return status;
}

/* What a cycle that fails has to leave as it was. What the belief has taken in by then stays. */
struct before {
    struct pythia_problem problem;
    size_t idle, starved;
};

static struct before *remember(const struct pythia_search *s)
{
    struct before *before = pythia_calloc(s->problem_count, sizeof(*before));
    for (size_t i = 0; before && i < s->problem_count; i++)
        before[i] = (struct before){s->problems[i], s->keeping[i].idle, s->keeping[i].starved};
    return before;
}

static void take_back(struct pythia_search *s, const struct before *before, size_t count)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        const struct before *b = &before[i];
        struct pythia_problem fresh = {
            .type = s->problems[i].type, .top = {.share = NAN}, .rest = NAN};
        s->problems[i] = i < count ? b->problem : fresh;
        s->keeping[i].idle = i < count ? b->idle : 0;
        s->keeping[i].starved = i < count ? b->starved : 0;
    }
    for (size_t i = 0; i < s->switch_count; i++)
        s->open[s->switches[i].tracepoint] = !s->switches[i].open;
    clear_switches(s);
    s->cycle--;
}

int pythia_search_cycle(struct pythia_search *s, const struct pythia_groups *groups,
                        const uint64_t *hits, size_t hit_count, struct pythia_cycle *out)
{
    size_t count, leading, known = s->problem_count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    struct before *before = remember(s);
    if (!before)
        return PYTHIA_ENOMEM;
    clear_switches(s);
    s->cycle++;
    int status = meet(s, types, count);
    if (status == PYTHIA_OK)
        status = look_at_all(s, groups, hits, hit_count, &leading);
    if (status == PYTHIA_OK)
        status = close_idle(s, groups, hits, hit_count);
    if (status != PYTHIA_OK)
        take_back(s, before, known);
    pythia_free(before);
    if (status != PYTHIA_OK)
        return status;
    *out = (struct pythia_cycle){.number = s->cycle,
                                 .switches = s->switches,
                                 .switch_count = s->switch_count,
                                 .problems = s->problems,
                                 .problem_count = s->problem_count,
                                 .leading = leading,
                                 .finished = true};
    for (uint32_t point = 0; point < s->points; point++)
        out->open_count += s->open[point] && !s->skeleton[point];
    for (size_t i = 0; i < s->problem_count; i++)
        out->finished = out->finished && !is_searched(s, i);
    return PYTHIA_OK;
}
