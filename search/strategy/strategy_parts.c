/* Strategies differ only in how they order candidates. Going through edges, leaving out what cannot
 * be opened, and choosing the best few is the same for all and done here. */
#include "strategy_parts.h"

#include <math.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define SHARE_MIN .05  /* edges below it are left alone */
#define GROUP_MIN .001 /* groups with less of the variance within groups, too */

/* ---- reasons ---- */

void pythia__parts_name(const struct pythia__parts *p, uint32_t tracepoint, struct pythia_buf *to)
{
    pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(p->vocabulary, tracepoint));
}

static const char *name_event_kind(uint8_t kind)
{
    return kind == PYTHIA_EVENT_START ? "start" : kind == PYTHIA_EVENT_END ? "end" : "event";
}

static void add_event_text(const struct pythia__parts *p, struct pythia_buf *to,
                           uint32_t tracepoint, uint8_t kind)
{
    pythia_buf_printf(to, "the %s of ", name_event_kind(kind));
    pythia__parts_name(p, tracepoint, to);
}

/* "inside A", "between the end of A and the start of B" */
static void add_edge_text(const struct pythia__parts *p, struct pythia_buf *to,
                          const struct pythia_edge *edge)
{
    bool own = edge->from_tracepoint == edge->to_tracepoint;
    if (own && edge->from_event == PYTHIA_EVENT_START && edge->to_event == PYTHIA_EVENT_END) {
        pythia_buf_puts(to, "inside ");
        pythia__parts_name(p, edge->from_tracepoint, to);
    } else if (own && edge->from_event == PYTHIA_EVENT_END &&
               edge->to_event == PYTHIA_EVENT_START) {
        pythia_buf_puts(to, "between one ");
        pythia__parts_name(p, edge->from_tracepoint, to);
        pythia_buf_puts(to, " and the next");
    } else {
        pythia_buf_puts(to, "between ");
        add_event_text(p, to, edge->from_tracepoint, edge->from_event);
        pythia_buf_puts(to, " and ");
        add_event_text(p, to, edge->to_tracepoint, edge->to_event);
    }
}

void pythia__parts_time_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                               struct pythia_buf *to)
{
    pythia_buf_printf(to, "%.0f %% of the time there was spent in ", 100 * c->part);
    pythia__parts_name(p, c->tracepoint, to);
    pythia_buf_puts(to, " when it was open");
}

/* "97 % of the variance lies between the start of A and the end of B; …" */
static char *make_candidate_reason(const struct pythia__parts *p,
                                   const struct pythia__strategy_row *row,
                                   const struct pythia__candidate *c)
{
    const struct pythia_edge *edge =
        pythia_cct_edge_at(pythia_groups_cct(p->e->groups), c->ranked->edge);
    struct pythia_buf text = {0};
    pythia_buf_printf(&text, "%.0f %% of the variance lies ", 100 * c->ranked->share.share);
    add_edge_text(p, &text, edge);
    if (!isnan(c->part)) {
        pythia_buf_puts(&text, "; ");
        row->reason(p, c, &text);
    } else {
        pythia_buf_puts(&text, ", and this point bounds it");
    }
    if (pythia_buf_status(&text) == PYTHIA_OK)
        return text.bytes;
    pythia_buf_free(&text);
    return NULL;
}

/* ---- candidates ---- */

static double part_of_time(const struct pythia__parts *p, uint64_t time_ns)
{
    return p->region_ns > 0 ? fmin((double)time_ns / p->region_ns, 1) : 0;
}

double pythia__parts_part(const struct pythia__parts *p, uint32_t tracepoint)
{
    return part_of_time(p, p->points[tracepoint].time_ns);
}

/* The part of the region's time that lies in direct contexts of a point, 0 to 1. */
static double find_direct_part(const struct pythia__parts *p, uint32_t tracepoint)
{
    return part_of_time(p, p->points[tracepoint].direct_ns);
}

/* An edge that others make up for has more than all of the variance. */
static double limit_gain(const struct pythia__parts *p, double part)
{
    return fmin(p->ranked->share.share * part, 1);
}

double pythia__parts_worth(const struct pythia__parts *p, double part)
{
    return limit_gain(p, part) * p->e->diagnosis->groups[p->group].variance_share;
}

static int take_candidate(struct pythia__parts *p, const struct pythia__candidate *candidate,
                          double calls)
{
    struct pythia__point *point = &p->points[candidate->tracepoint];
    if (point->pinned)
        return PYTHIA_OK;
    if (point->found) {
        const struct pythia__candidate *known = &p->found[point->found - 1];
        /* A point may be offered by several edges or groups; the offer that ranks highest gives
         * the reason that is reported. */
        if (known->order > candidate->order ||
            (known->order == candidate->order && known->then >= candidate->then))
            return PYTHIA_OK;
    } else {
        if (pythia_grow(&p->found, &p->capacity, p->count, sizeof(*p->found)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        point->found = ++p->count;
    }
    struct pythia__candidate *c = &p->found[point->found - 1];
    *c = *candidate;
    c->group = p->group;
    c->ranked = p->ranked;
    c->gain = limit_gain(p, isnan(c->part) ? 1 : c->part);
    c->cost_ns = calls * pythia_prices_of(p->e->prices, c->tracepoint, p->e->price_ns);
    return PYTHIA_OK;
}

int pythia__parts_offer(struct pythia__parts *p, const struct pythia__candidate *candidate)
{
    return take_candidate(p, candidate,
                          (double)p->points[candidate->tracepoint].calls / p->requests);
}

struct pythia_history_record pythia__parts_record(const struct pythia__parts *p,
                                                  uint32_t tracepoint)
{
    if (!p->e->history)
        return (struct pythia_history_record){0};
    return pythia_history_find(p->e->history,
                               pythia_vocabulary_tracepoint_id(p->vocabulary, tracepoint));
}

uint64_t pythia__parts_seed(const struct pythia__parts *p, uint32_t tracepoint)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(p->vocabulary, tracepoint);
    return pythia_hash_mix(pythia_hash_mix(p->e->seed, p->e->cycle),
                           pythia_hash_bytes(id.bytes, id.size));
}

/* A point that is pinned shut is as if it were not there: what is called from it is as near. */
static bool is_direct(const struct pythia__parts *p, uint32_t node)
{
    const struct pythia_cct *cct = p->map.type->cct;
    do
        node = pythia_cct_parent(cct, node);
    while (pythia__region_has(&p->map, node) && p->points[pythia_cct_tracepoint(cct, node)].pinned);
    return !pythia__region_has(&p->map, node);
}

/* The direct points that are on the most frequent order, each once, by their places in it: at the
 * beginning of `nodes`. */
static size_t keep_direct(struct pythia__parts *p, uint32_t *nodes, size_t count)
{
    const struct pythia_cct *cct = p->map.type->cct;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct pythia__point *point = &p->points[pythia_cct_tracepoint(cct, nodes[i])];
        if (point->pinned || point->passed || !is_direct(p, nodes[i]))
            continue;
        point->passed = true;
        nodes[kept++] = nodes[i];
    }
    return kept;
}

static int offer_direct(struct pythia__parts *p, uint32_t tracepoint, double off)
{
    double part = find_direct_part(p, tracepoint);
    struct pythia__candidate c = {
        .tracepoint = tracepoint, .part = part, .then = pythia__parts_worth(p, part), .off = off};
    return pythia__parts_offer(p, &c);
}

int pythia__parts_offer_direct(struct pythia__parts *p)
{
    uint32_t *nodes = NULL;
    size_t count = 0;
    int status = pythia__region_order(&p->map, &nodes, &count);
    if (status != PYTHIA_OK)
        return status;
    count = keep_direct(p, nodes, count);
    double middle = ((double)count - 1) / 2;
    for (size_t i = 0; i < count; i++) {
        double off = fabs((double)i - middle);
        if ((double)i > middle)
            off += .25; /* of two at one distance the earlier one */
        status = offer_direct(p, pythia_cct_tracepoint(p->map.type->cct, nodes[i]), off);
        if (status != PYTHIA_OK)
            goto out;
    }
    /* An event that is not on that order has no rank. */
    for (size_t i = 0; i < p->here_count; i++)
        if (p->points[p->here[i]].direct && !p->points[p->here[i]].passed) {
            status = offer_direct(p, p->here[i], INFINITY);
            if (status != PYTHIA_OK)
                goto out;
        }
out:
    pythia_free(nodes);
    return status;
}

/* ---- with closed points ---- */

static int note_node(struct pythia__parts *p, uint32_t node)
{
    const struct pythia_cct *cct = p->map.type->cct;
    uint32_t tracepoint = pythia_cct_tracepoint(cct, node);
    struct pythia__point *point = &p->points[tracepoint];
    if (point->pinned)
        return PYTHIA_OK;
    /* A point is listed once, and its times are added over its contexts. */
    if (!point->here) {
        if (pythia_grow(&p->here, &p->here_capacity, p->here_count, sizeof(*p->here)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        p->here[p->here_count++] = tracepoint;
        point->here = true;
    }
    point->time_ns += pythia__region_time(&p->map, node);
    if (is_direct(p, node)) {
        point->direct = true;
        point->direct_ns += pythia__region_time(&p->map, node);
    }
    return PYTHIA_OK;
}

static void forget_region(struct pythia__parts *p)
{
    for (size_t i = 0; i < p->here_count; i++) {
        struct pythia__point *point = &p->points[p->here[i]];
        point->here = point->direct = point->passed = false;
        point->time_ns = point->direct_ns = 0;
    }
    p->here_count = 0;
}

/* A trace point is opened in all its contexts: what it shows is the time in those of the region,
 * and what it costs is every call of it. */
static int look_behind(struct pythia__parts *p, const struct pythia__strategy_row *row)
{
    pythia__region_find(&p->map, pythia_cct_edge_at(p->map.seen, p->ranked->edge));
    p->region_ns = (double)pythia__region_time(&p->map, PYTHIA_CCT_ROOT);
    forget_region(p);
    for (uint32_t node = 1; node < pythia_cct_nodes(p->map.type->cct); node++)
        if (pythia__region_has(&p->map, node)) {
            int status = note_node(p, node);
            if (status != PYTHIA_OK)
                return status;
        }
    return row->look(p);
}

/* The map of a type; that of the edge before serves if it is of the same one. */
static int find_map(struct pythia__parts *p, const struct pythia_space_type *t)
{
    if (p->map.type == t)
        return PYTHIA_OK;
    pythia__region_map_free(&p->map);
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++)
        p->points[pythia_cct_tracepoint(t->cct, node)].calls = 0;
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++)
        p->points[pythia_cct_tracepoint(t->cct, node)].calls += t->nodes[node].calls;
    p->requests = (double)(t->requests ? t->requests : 1); /* a file may say anything */
    return pythia__region_map_create(t, pythia_groups_cct(p->e->groups), p->e->open, &p->map);
}

/* ---- with everything open ---- */

static int mark_bounds(struct pythia__parts *p)
{
    const struct pythia_cct *cct = pythia_groups_cct(p->e->groups);
    const struct pythia_edge *edge = pythia_cct_edge_at(cct, p->ranked->edge);
    const uint32_t points[] = {edge->from_tracepoint, edge->to_tracepoint};
    const struct pythia_group *g = &p->e->diagnosis->groups[p->group];
    for (size_t i = 0; i < 2; i++) {
        if (i == 1 && points[1] == points[0])
            break;
        uint64_t visits = 0;
        for (size_t r = 0; r < g->sampled; r++)
            for (uint32_t k = 0; k < g->rows[r]->shape->point_count; k++)
                if (g->rows[r]->shape->points[k] == points[i])
                    visits += g->rows[r]->shape->point_counts[k];
        struct pythia__candidate c = {
            .tracepoint = points[i], .part = NAN, .order = pythia__parts_worth(p, 1)};
        if (pythia_cct_find(cct, PYTHIA_CCT_ROOT, points[i]) == PYTHIA_NONE) {
            int status = take_candidate(
                p, &c, (double)visits / (double)g->sampled); /* roots are open anyway */
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

/* ---- all edges ---- */

struct turn {
    size_t group;
    const struct pythia_ranked_edge *ranked;
    double worth;
};

struct turns {
    struct turn *all;
    size_t count, capacity;
};

static bool turn_before(const void *context, uint32_t a, uint32_t b)
{
    const struct turn *all = context;
    return all[a].worth > all[b].worth;
}

static int find_turns(struct pythia__parts *p, struct turns *turns)
{
    const struct pythia_diagnosis *d = p->e->diagnosis;
    double within = 0; /* what lies between the parts of a type may be nearly all there is */
    for (size_t i = 0; i < d->group_count; i++)
        within += d->groups[i].variance_share > 0 ? d->groups[i].variance_share : 0;
    for (p->group = 0; p->group < d->group_count; p->group++) {
        const struct pythia_group *g = &d->groups[p->group];
        if (g->status != PYTHIA_GROUP_DIAGNOSED || g->variance_share < GROUP_MIN * within)
            continue;
        for (size_t i = 0; i < g->ranking.edge_count; i++) {
            p->ranked = &g->ranking.edges[i];
            if (!(p->ranked->share.share >= SHARE_MIN && p->ranked->share.low > 0))
                continue;
            if (pythia_grow(&turns->all, &turns->capacity, turns->count, sizeof(*turns->all)) !=
                PYTHIA_OK)
                return PYTHIA_ENOMEM;
            turns->all[turns->count++] =
                (struct turn){p->group, p->ranked, pythia__parts_worth(p, 1)};
        }
    }
    return PYTHIA_OK;
}

static int look_at_edge(struct pythia__parts *p, const struct pythia__strategy_row *row)
{
    const struct pythia_diagnosis *d = p->e->diagnosis;
    const struct pythia_space_type *t = NULL;
    if (p->e->space) {
        t = pythia_space_type(p->e->space, d->types[d->groups[p->group].type].type->unsplit);
        if (!t)
            return PYTHIA_OK; /* not in the space: said elsewhere */
    }
    if (!t || !p->e->open)
        return mark_bounds(p);
    int status = find_map(p, t);
    if (status != PYTHIA_OK)
        return status;
    return look_behind(p, row);
}

static int offer_row_edges(struct pythia__parts *p, const struct pythia__strategy_row *row)
{
    struct turns turns = {0};
    uint32_t *order = NULL;
    int status = find_turns(p, &turns);
    if (status != PYTHIA_OK)
        goto out;
    if (turns.count) {
        order = pythia_calloc(2 * turns.count, sizeof(*order));
        status = order ? PYTHIA_OK : PYTHIA_ENOMEM;
        if (status != PYTHIA_OK)
            goto out;
    }
    for (size_t i = 0; order && i < turns.count; i++)
        order[i] = (uint32_t)i;
    if (order)
        pythia_sort_indexes(order, turns.count, order + turns.count, turn_before, turns.all);
    for (size_t i = 0; i < turns.count; i++) {
        /* Edges are in falling order of their worth, so that the budget cuts off what matters
         * least. */
        if (row->in_turn && p->count >= p->budget)
            break;
        p->group = turns.all[order[i]].group;
        p->ranked = turns.all[order[i]].ranked;
        status = look_at_edge(p, row);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(order);
    pythia_free(turns.all);
    return status;
}

/* ---- the best of them ---- */

static bool candidate_outranks(const struct pythia__parts *p, size_t a, size_t b)
{
    const struct pythia__candidate *x = &p->found[a], *y = &p->found[b];
    if (x->order != y->order)
        return x->order > y->order;
    if (x->then != y->then)
        return x->then > y->then;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns < y->cost_ns;
    if (x->off != y->off)
        return x->off < y->off;
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(p->vocabulary, x->tracepoint),
                               pythia_vocabulary_tracepoint_id(p->vocabulary, y->tracepoint)) < 0;
}

static void sift_down(const struct pythia__parts *p, size_t *heap, size_t count, size_t at)
{
    for (size_t below; (below = 2 * at + 1) < count; at = below) {
        if (below + 1 < count && candidate_outranks(p, heap[below + 1], heap[below]))
            below++;
        if (!candidate_outranks(p, heap[below], heap[at]))
            return;
        size_t moved = heap[at];
        heap[at] = heap[below];
        heap[below] = moved;
    }
}

/* Few of many are wanted, or all: a heap gives either without comparing each with each. */
static int take_best(const struct pythia__parts *p, const struct pythia__strategy_row *row,
                     struct pythia_suggestion *out, size_t *count)
{
    size_t left = p->count, *heap = pythia_calloc(left, sizeof(*heap));
    if (!heap)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < left; i++)
        heap[i] = i;
    for (size_t i = left / 2; i-- > 0;)
        sift_down(p, heap, left, i);
    int status = PYTHIA_OK;
    while (left && *count < p->budget) {
        const struct pythia__candidate *c = &p->found[heap[0]];
        /* Reasons are sentences, which cost more than the ranking: only chosen candidates get
         * one. */
        char *reason = make_candidate_reason(p, row, c);
        if (!reason) {
            status = PYTHIA_ENOMEM;
            goto out;
        }
        out[(*count)++] = (struct pythia_suggestion){.tracepoint = c->tracepoint,
                                                     .group = c->group,
                                                     .edge = c->ranked->edge,
                                                     .gain = c->gain,
                                                     .cost_ns = c->cost_ns,
                                                     .reason = reason};
        heap[0] = heap[--left];
        sift_down(p, heap, left, 0);
    }
out:
    pythia_free(heap);
    return status;
}

int pythia__parts_suggest(const struct pythia__strategy_row *row,
                          const struct pythia_evidence *evidence, size_t budget,
                          struct pythia_suggestion *out, size_t *count)
{
    struct pythia__parts p = {.e = evidence,
                              .vocabulary =
                                  pythia_cct_vocabulary(pythia_groups_cct(evidence->groups)),
                              .budget = budget};
    uint32_t points = pythia_vocabulary_tracepoints(p.vocabulary);
    *count = 0;
    p.points = pythia_calloc(points, sizeof(*p.points));
    for (uint32_t i = 0; p.points && evidence->never && i < points; i++)
        /* Pinned points are not offered; to refuse them later would waste the budget. */
        p.points[i].pinned = pythia_open_points_has(evidence->never, i);
    int status = p.points ? offer_row_edges(&p, row) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = take_best(&p, row, out, count);
    while (status != PYTHIA_OK && *count > 0)
        pythia_suggestion_clear(&out[--*count]);
out:
    pythia__region_map_free(&p.map);
    pythia_free(p.found);
    pythia_free(p.points);
    pythia_free(p.here);
    return status;
}
