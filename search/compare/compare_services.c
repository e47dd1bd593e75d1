/* To which service does the time of an edge belong? To that of the innermost trace point around it,
 * with two exceptions. What passes between a caller and its callee, inside the caller's client
 * span, counts for the callee: a slow network or a queue before a service shows there and nowhere
 * else. One client span ("HTTP POST") may call many services, so the callee is found for each edge.
 * But if a caller waits longer for nearly everybody, the caller is what these waits have in common:
 * a starved process is late to send and late to notice the answer. So of a wait's growth per call
 * the part that most callees share is the caller's, and whoever has the larger part has the edge.
 */
#include <math.h>

#include "compare_parts.h"
#include "pythia/critical_path.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/span.h"
#include "pythia/status.h"

#define CALLEES_MIN 3 /* with fewer nothing can be called common */
/* Calls on each side, or a callee has no say. A process that is starved reaches few of its callees:
 * with 5, one of the faults of tests/bench/compare_nezha in Train Ticket is the callees' (top 1, 3
 * and 5 of 28: 4, 6 and 10), with 4 and 3 it is the caller's (5, 7 and 10). */
#define CALLS_MIN 4
/* Part of the visits of a call that may be unlike one: without a span of a callee, or with several
 * callees one after the other. */
#define UNLIKE_MAX .1

enum direction { CALL, REPLY, BETWEEN };

/* Time between a caller and one callee, in one direction, over all types. */
struct wait {
    uint32_t caller, callee;
    enum direction direction;
    double times[2], calls[2]; /* of clipped times; by side */
    double growth, common;     /* per call; common is NaN where too few callees have a say */
};

/* A node of the tree as a caller's side of calls. Numbers of visits are by side. */
struct node {
    uint32_t callee; /* the only service that it calls; PYTHIA_NONE for none or several */
    bool calls;      /* is a call, or calls of several services in different requests */
    bool works;      /* has a child of its own service, or of no known one */
    bool has_callee; /* has a child of another service */
    double visits[2], straight[2]; /* all, and those with nothing inside */
    double chained[2];             /* how often one callee followed another inside */
};

struct work {
    struct pythia__compare *c;
    const struct pythia_cct *cct;
    uint32_t *kinds; /* by trace point: bit 1 << enum pythia_span_kind */
    struct node *nodes;
    struct wait *waits;
    size_t wait_count, wait_capacity;
};

static uint32_t service_of_point(const struct work *w, uint32_t tracepoint)
{
    return pythia_vocabulary_tracepoint_at(w->c->vocabulary, tracepoint)->service;
}

static uint32_t service_of_node(const struct work *w, uint32_t node)
{
    return service_of_point(w, pythia_cct_tracepoint(w->cct, node));
}

static void gather_kinds(struct work *w)
{
    for (size_t s = 0; s < 2; s++) {
        size_t count;
        const struct pythia_side_type *types = pythia_side_types(w->c->sides[s], &count);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < types[i].point_count; k++)
                w->kinds[types[i].points[k].tracepoint] |= types[i].points[k].kinds;
    }
}

static bool is_other(uint32_t service, uint32_t caller)
{
    return service != caller && service != 0;
}

static void count_service_hits(struct work *w, const struct pythia_edge *edge,
                               const double visits[2])
{
    struct node *node = &w->nodes[edge->context];
    uint32_t caller = service_of_node(w, edge->context);
    uint32_t from = service_of_point(w, edge->from_tracepoint),
             to = service_of_point(w, edge->to_tracepoint);
    bool begins = edge->from_event == PYTHIA_EVENT_START &&
                  edge->from_tracepoint == pythia_cct_tracepoint(w->cct, edge->context);
    /* Between two callees nothing of the caller happens: one is called as soon as the other has
     * answered. */
    bool chained = is_other(from, caller) && is_other(to, caller) && from != to;
    for (size_t s = 0; s < 2; s++) {
        node->visits[s] += begins ? visits[s] : 0;
        node->straight[s] += begins && edge->to_event == PYTHIA_EVENT_END ? visits[s] : 0;
        node->chained[s] += chained ? visits[s] : 0;
    }
}

static void gather_visits(struct work *w)
{
    const struct pythia_comparison *out = w->c->out;
    for (size_t i = 0; i < out->type_count; i++)
        for (size_t e = 0; e < out->types[i].edge_count; e++) {
            const struct pythia_compared_type *t = &out->types[i];
            const struct pythia_change *visits = &t->edges[e].visits;
            const struct pythia_edge *edge = pythia_cct_edge_at(w->cct, t->edges[e].edge);
            if (edge->context != PYTHIA_CCT_ROOT)
                count_service_hits(w, edge,
                                   (double[2]){visits->before * (double)t->count.before,
                                               visits->after * (double)t->count.after});
        }
}

/* Does a span of no known kind behave as a call does: all its children are of other services, it is
 * hardly ever without one, and hardly ever are there several services in one visit? As before,
 * because after a fault the child may be gone. */
static bool looks_like_call(const struct node *node)
{
    size_t s = node->visits[0] > 0 ? 0 : 1;
    return node->has_callee && !node->works &&
           node->straight[s] + node->chained[s] <= UNLIKE_MAX * node->visits[s];
}

/* Mark the nodes that are a caller's side of calls, with their callee. A name such as "HTTP
 * POST" makes one node of the calls of several services; then each edge says whose it is
 * (callee_of_edge). */
static void find_calls(struct work *w)
{
    uint32_t nodes = pythia_cct_nodes(w->cct);
    const uint32_t calls = 1U << PYTHIA_SPAN_CLIENT | 1U << PYTHIA_SPAN_PRODUCER;
    for (uint32_t i = 1; i < nodes; i++)
        w->nodes[i].callee = PYTHIA_NONE;
    for (uint32_t i = 1; i < nodes; i++) {
        uint32_t parent = pythia_cct_parent(w->cct, i), service = service_of_node(w, i);
        struct node *node = &w->nodes[parent];
        if (parent == PYTHIA_CCT_ROOT)
            continue;
        if (!is_other(service, service_of_node(w, parent))) {
            node->works = true;
            continue;
        }
        /* Two different callees under one name cancel each other, and the edges decide. */
        node->callee = !node->has_callee || node->callee == service ? service : PYTHIA_NONE;
        node->has_callee = true;
    }
    for (uint32_t i = 1; i < nodes; i++) {
        uint32_t kinds = w->kinds[pythia_cct_tracepoint(w->cct, i)];
        bool known = kinds & ~(1U << PYTHIA_SPAN_UNKNOWN);
        w->nodes[i].calls =
            known ? (kinds & calls) && w->nodes[i].has_callee : looks_like_call(&w->nodes[i]);
    }
}

/* The service that an edge inside a call waits for: the other one of its two. Where both are the
 * caller's, nothing of the callee is on the path, and only a node of one callee tells. PYTHIA_NONE
 * if there is none: between two different callees it is the caller who works. */
static uint32_t callee_of_edge(const struct work *w, const struct pythia_edge *edge)
{
    const struct node *node = &w->nodes[edge->context];
    if (!node->calls)
        return PYTHIA_NONE;
    uint32_t caller = service_of_node(w, edge->context);
    uint32_t from = service_of_point(w, edge->from_tracepoint),
             to = service_of_point(w, edge->to_tracepoint);
    if (is_other(from, caller))
        return is_other(to, caller) && to != from ? PYTHIA_NONE : from;
    if (is_other(to, caller))
        return to;
    return node->works ? PYTHIA_NONE : node->callee;
}

/* Name the wait that an edge is a part of; false if it is part of none. */
static bool name_wait(const struct work *w, const struct pythia_edge *edge, struct wait *out)
{
    uint32_t callee = callee_of_edge(w, edge);
    if (callee == PYTHIA_NONE) /* also of edges between roots, which have no caller */
        return false;
    uint32_t caller = service_of_node(w, edge->context);
    uint32_t from = service_of_point(w, edge->from_tracepoint),
             to = service_of_point(w, edge->to_tracepoint);
    enum direction direction = from == caller && to == callee   ? CALL
                               : from == callee && to == caller ? REPLY
                                                                : BETWEEN;
    *out = (struct wait){.caller = caller, .callee = callee, .direction = direction, .common = NAN};
    return true;
}

static struct wait *find_wait(const struct work *w, const struct wait *named)
{
    for (size_t i = 0; i < w->wait_count; i++) {
        struct wait *known = &w->waits[i];
        if (known->caller == named->caller && known->callee == named->callee &&
            known->direction == named->direction)
            return known;
    }
    return NULL;
}

static struct wait *reach_wait(struct work *w, const struct wait *named)
{
    struct wait *known = find_wait(w, named);
    if (known)
        return known;
    if (pythia_grow(&w->waits, &w->wait_capacity, w->wait_count, sizeof(*w->waits)) != PYTHIA_OK)
        return NULL;
    w->waits[w->wait_count] = *named;
    return &w->waits[w->wait_count++];
}

static int gather_waits(struct work *w)
{
    const struct pythia_comparison *out = w->c->out;
    for (size_t i = 0; i < out->type_count; i++)
        for (size_t e = 0; e < out->types[i].edge_count; e++) {
            const struct pythia_compared_type *t = &out->types[i];
            const struct pythia_compared_edge *edge = &t->edges[e];
            struct wait named;
            if (!name_wait(w, pythia_cct_edge_at(w->cct, edge->edge), &named))
                continue;
            struct wait *wait = reach_wait(w, &named);
            if (!wait)
                return PYTHIA_ENOMEM;
            /* Means of types become sums, so that types add up by their requests. */
            wait->times[0] += edge->clipped_before * (double)t->count.before;
            wait->times[1] += edge->clipped_after * (double)t->count.after;
            wait->calls[0] += edge->visits.before * (double)t->count.before;
            wait->calls[1] += edge->visits.after * (double)t->count.after;
        }
    return PYTHIA_OK;
}

/* The lower median of what the waits of one caller have grown by: at least half of the callees had
 * to be waited for so much longer. */
static int find_common(struct work *w)
{
    double *growths = pythia_calloc(w->wait_count, sizeof(*growths));
    if (!growths)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < w->wait_count; i++) {
        struct wait *a = &w->waits[i];
        bool heard = a->calls[0] >= CALLS_MIN && a->calls[1] >= CALLS_MIN;
        a->growth = heard ? a->times[1] / a->calls[1] - a->times[0] / a->calls[0] : NAN;
    }
    for (size_t i = 0; i < w->wait_count; i++) {
        size_t n = 0;
        for (size_t k = 0; k < w->wait_count; k++)
            if (w->waits[k].caller == w->waits[i].caller &&
                w->waits[k].direction == w->waits[i].direction && !isnan(w->waits[k].growth))
                growths[n++] = w->waits[k].growth;
        /* The median and not the mean: one slow callee must not make the wait for all others look
         * common. */
        pythia_ranks_sort(growths, n);
        w->waits[i].common = n >= CALLEES_MIN ? growths[(n - 1) / 2] : NAN;
    }
    pythia_free(growths);
    return PYTHIA_OK;
}

static void attribute_edge(struct work *w, struct pythia_compared_edge *edge)
{
    struct wait named;
    const struct pythia_edge *e = pythia_cct_edge_at(w->cct, edge->edge);
    const struct wait *wait = name_wait(w, e, &named) ? find_wait(w, &named) : NULL;
    if (!wait) {
        edge->service = e->context == PYTHIA_CCT_ROOT ? service_of_point(w, e->to_tracepoint)
                                                      : service_of_node(w, e->context);
        return;
    }
    double grown = edge->mean_test.clipped.change;
    edge->waits = true;
    edge->common = grown > 0 && wait->common > 0 && wait->common * edge->visits.after > grown / 2;
    edge->service = edge->common ? wait->caller : wait->callee;
}

/* A call that takes longer may be the callee's fault or the network's: the waits of one caller are
 * compared before a service is named. */
int pythia__compare_attribute(struct pythia__compare *c)
{
    struct work w = {.c = c, .cct = c->out->cct};
    w.kinds = pythia_calloc(pythia_vocabulary_tracepoints(c->vocabulary), sizeof(*w.kinds));
    w.nodes = pythia_calloc(pythia_cct_nodes(w.cct), sizeof(*w.nodes));
    int status = w.kinds && w.nodes ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    gather_kinds(&w);
    gather_visits(&w);
    find_calls(&w);
    status = gather_waits(&w);
    if (status != PYTHIA_OK)
        goto out;
    status = find_common(&w);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < c->out->type_count; i++)
        for (size_t e = 0; e < c->out->types[i].edge_count; e++)
            attribute_edge(&w, &c->out->types[i].edges[e]);
out:
    pythia_free(w.kinds);
    pythia_free(w.nodes);
    pythia_free(w.waits);
    return status;
}

/* ---- services ---- */

static struct pythia_compared_service *find_compared_service(struct pythia_comparison *out,
                                                             size_t *capacity, uint32_t service)
{
    for (size_t i = 0; i < out->service_count; i++)
        if (out->services[i].service == service)
            return &out->services[i];
    if (pythia_grow(&out->services, capacity, out->service_count, sizeof(*out->services)) !=
        PYTHIA_OK)
        return NULL;
    out->services[out->service_count] =
        (struct pythia_compared_service){.service = service, .score = NAN};
    return &out->services[out->service_count++];
}

struct service_order {
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_comparison *c;
};

static const struct pythia_compared_edge *best_of(const struct pythia_comparison *c,
                                                  const struct pythia_compared_service *s)
{
    return &c->types[s->type].edges[s->edge];
}

static bool service_before(const void *context, uint32_t a, uint32_t b)
{
    const struct service_order *o = context;
    const struct pythia_compared_service *x = &o->c->services[a], *y = &o->c->services[b];
    const struct pythia_compared_edge *of_x = best_of(o->c, x), *of_y = best_of(o->c, y);
    if (pythia__edge_outranks(of_x, of_y, o->c->alpha))
        return true;
    if (pythia__edge_outranks(of_y, of_x, o->c->alpha))
        return false;
    return pythia_text_compare(pythia_vocabulary_text(o->vocabulary, x->service),
                               pythia_vocabulary_text(o->vocabulary, y->service)) < 0;
}

int pythia__compare_services(struct pythia__compare *c)
{
    struct pythia_comparison *out = c->out;
    size_t capacity = 0;
    for (size_t i = 0; i < out->type_count; i++)
        for (size_t e = 0; e < out->types[i].edge_count; e++) {
            const struct pythia_compared_edge *edge = &out->types[i].edges[e];
            struct pythia_compared_service *s =
                find_compared_service(out, &capacity, edge->service);
            if (!s)
                return PYTHIA_ENOMEM;
            /* A service has the score of its best edge, not the sum of all: a service with many
             * small edges must not outrank one whose single edge became slow. */
            if (s->edges == 0 || pythia__edge_outranks(edge, best_of(out, s), out->alpha)) {
                s->score = edge->score;
                s->type = i;
                s->edge = e;
            }
            s->edges++;
            s->changed += edge->mean_test.q <= out->alpha;
            s->change += edge->mean.change * out->types[i].weight;
        }
    return pythia__compare_sort(&out->services, out->service_count, sizeof(*out->services),
                                service_before, &(struct service_order){c->vocabulary, out});
}
