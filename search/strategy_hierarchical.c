/* One level deeper: below the edge that varies most, open the closed trace points that are called
 * directly from what is open, those first in which most of the time was spent when everything was
 * open. (The idea, without the choice of children, is that of Ates et al., "An Automated,
 * Cross-Layer Instrumentation Framework for Diagnosing Performance Problems in Distributed
 * Applications", SoCC 2019, who draw the children at random.)
 *
 * When everything was open there is nothing to open. Then the evidence says which of the points a
 * system that keeps the others closed should open: those that bound the edges that vary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "region.h"
#include "strategy_table.h"

#define SHARE_MIN .05  /* edges below it are left alone */
#define GROUP_MIN .001 /* groups with less of all variance, too */

struct collecting {
    const struct pythia_evidence *e;
    const struct pythia_vocabulary *vocabulary;
    struct pythia_suggestion *found; /* of all groups */
    double *worth; /* of each, to order them: gain in the variance of all requests */
    size_t count, capacity, worth_capacity;
    struct slot {
        size_t found; /* index + 1 */
        /* what follows is of the edge, or of the type, at hand */
        uint64_t calls, time_ns;
        bool direct;
    } * slots; /* by trace point */
};

static const char *event_name(uint8_t kind)
{
    return kind == PYTHIA_EVENT_START ? "start" : kind == PYTHIA_EVENT_END ? "end" : "event";
}

static void add_event(const struct collecting *c, struct pythia_buf *to, uint32_t tracepoint,
                      uint8_t kind)
{
    pythia_buf_printf(to, "the %s of ", event_name(kind));
    pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(c->vocabulary, tracepoint));
}

/* "inside A", "between the end of A and the start of B" */
static void add_edge(const struct collecting *c, struct pythia_buf *to,
                     const struct pythia_edge *edge)
{
    struct pythia_text from = pythia_vocabulary_tracepoint_id(c->vocabulary, edge->from_tracepoint);
    bool own = edge->from_tracepoint == edge->to_tracepoint;
    if (own && edge->from_event == PYTHIA_EVENT_START && edge->to_event == PYTHIA_EVENT_END) {
        pythia_buf_puts(to, "inside ");
        pythia_buf_text_add(to, from);
    } else if (own && edge->from_event == PYTHIA_EVENT_END &&
               edge->to_event == PYTHIA_EVENT_START) {
        pythia_buf_puts(to, "between one ");
        pythia_buf_text_add(to, from);
        pythia_buf_puts(to, " and the next");
    } else {
        pythia_buf_puts(to, "between ");
        add_event(c, to, edge->from_tracepoint, edge->from_event);
        pythia_buf_puts(to, " and ");
        add_event(c, to, edge->to_tracepoint, edge->to_event);
    }
}

/* "97 % of the variance lies between the start of A and the end of B; …" */
static char *make_reason(const struct collecting *c, const struct pythia_ranked_edge *ranked,
                         double part, uint32_t point)
{
    const struct pythia_edge *edge =
        pythia_cct_edge_at(pythia_groups_cct(c->e->groups), ranked->edge);
    struct pythia_buf text = {0};
    pythia_buf_printf(&text, "%.0f %% of the variance lies ", 100 * ranked->share.share);
    add_edge(c, &text, edge);
    if (!isnan(part)) {
        pythia_buf_printf(&text, "; %.0f %% of the time there was spent in ", 100 * part);
        pythia_buf_text_add(&text, pythia_vocabulary_tracepoint_id(c->vocabulary, point));
        pythia_buf_puts(&text, " when it was open");
    } else {
        pythia_buf_puts(&text, ", and this point marks it");
    }
    if (pythia_buf_status(&text) == PYTHIA_OK)
        return text.bytes;
    pythia_buf_free(&text);
    return NULL;
}

/* Take a candidate, or a better reason for one that is there. */
static int add(struct collecting *c, size_t group, const struct pythia_ranked_edge *ranked,
               uint32_t point, double gain, double calls, double part)
{
    gain = fmin(gain, 1); /* an edge that others make up for has more than all of the variance */
    double worth = gain * c->e->diagnosis->groups[group].variance_share;
    struct slot *slot = &c->slots[point];
    if (slot->found && c->worth[slot->found - 1] >= worth)
        return PYTHIA_OK;
    if (!slot->found) {
        if (pythia_grow(&c->found, &c->capacity, c->count, sizeof(*c->found)) != PYTHIA_OK ||
            pythia_grow(&c->worth, &c->worth_capacity, c->count, sizeof(*c->worth)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        c->found[c->count++] = (struct pythia_suggestion){0};
        slot->found = c->count;
    }
    struct pythia_suggestion *s = &c->found[slot->found - 1];
    pythia_suggestion_clear(s);
    *s = (struct pythia_suggestion){.tracepoint = point,
                                    .group = group,
                                    .edge = ranked->edge,
                                    .gain = gain,
                                    .cost_ns = calls * c->e->price_ns,
                                    .reason = make_reason(c, ranked, part, point)};
    c->worth[slot->found - 1] = worth;
    return s->reason ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* ---- with closed points ---- */

/* A closed node of the region that is called from what is open, not from another closed node of the
 * region. */
static bool is_direct(const struct pythia__region_map *m, uint32_t node)
{
    return pythia__region_has(m, node) &&
           !pythia__region_has(m, pythia_cct_parent(m->type->cct, node));
}

/* A trace point is opened in all its contexts: what it shows is the time in those of the region,
 * and what it costs is every call of it. */
static int look_below(struct collecting *c, size_t group, const struct pythia_ranked_edge *ranked,
                      struct pythia__region_map *m)
{
    const struct pythia_space_type *t = m->type;
    double requests = (double)(t->requests ? t->requests : 1); /* a file may say anything */
    int status = PYTHIA_OK;
    pythia__region_find(m, pythia_cct_edge_at(m->seen, ranked->edge));
    double region_ns = (double)pythia__region_time(m, PYTHIA_CCT_ROOT);
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++)
        if (is_direct(m, node)) {
            struct slot *slot = &c->slots[pythia_cct_tracepoint(t->cct, node)];
            slot->direct = true;
            slot->time_ns += pythia__region_time(m, node);
        }
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct) && status == PYTHIA_OK; node++) {
        uint32_t point = pythia_cct_tracepoint(t->cct, node);
        struct slot *slot = &c->slots[point];
        if (!slot->direct)
            continue;
        double part = region_ns > 0 ? (double)slot->time_ns / region_ns : 0;
        part = fmin(part, 1); /* one of its contexts may be below another one */
        status = add(c, group, ranked, point, ranked->share.share * part,
                     (double)slot->calls / requests, part);
        slot->direct = false;
        slot->time_ns = 0;
    }
    return status;
}

/* ---- with everything open ---- */

static int mark_bounds(struct collecting *c, size_t group, const struct pythia_ranked_edge *ranked)
{
    const struct pythia_edge *edge =
        pythia_cct_edge_at(pythia_groups_cct(c->e->groups), ranked->edge);
    const uint32_t points[] = {edge->from_tracepoint, edge->to_tracepoint};
    const struct pythia_group *g = &c->e->diagnosis->groups[group];
    int status = PYTHIA_OK;
    for (size_t i = 0; i < 2 && status == PYTHIA_OK; i++) {
        if (i == 1 && points[1] == points[0])
            break;
        uint64_t visits = 0;
        for (size_t r = 0; r < g->sampled; r++)
            for (uint32_t k = 0; k < g->rows[r]->shape->point_count; k++)
                if (g->rows[r]->shape->points[k] == points[i])
                    visits += g->rows[r]->shape->point_counts[k];
        bool root = pythia_cct_find(pythia_groups_cct(c->e->groups), PYTHIA_CCT_ROOT, points[i]) !=
                    PYTHIA_NONE;
        if (!root) /* roots are open anyway */
            status = add(c, group, ranked, points[i], ranked->share.share,
                         (double)visits / (double)g->sampled, NAN);
    }
    return status;
}

/* ---- all groups ---- */

static bool is_worth_it(const struct pythia_ranked_edge *e)
{
    return e->share.share >= SHARE_MIN && e->share.low > 0;
}

static void count_calls(struct collecting *c, const struct pythia_space_type *t)
{
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++)
        c->slots[pythia_cct_tracepoint(t->cct, node)].calls = 0;
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++)
        c->slots[pythia_cct_tracepoint(t->cct, node)].calls += t->nodes[node].calls;
}

static int search_group(struct collecting *c, size_t group)
{
    const struct pythia_group *g = &c->e->diagnosis->groups[group];
    uint32_t name = c->e->diagnosis->types[g->type].type->name;
    const struct pythia_space_type *t = c->e->space ? pythia_space_type(c->e->space, name) : NULL;
    if (c->e->space && !t)
        return PYTHIA_OK;          /* not in the space: said elsewhere */
    bool closed = t && c->e->open; /* some may be */
    struct pythia__region_map map = {0};
    int status = PYTHIA_OK;
    if (closed) {
        count_calls(c, t);
        status = pythia__region_map_create(t, pythia_groups_cct(c->e->groups), c->e->open, &map);
    }
    for (size_t i = 0; i < g->ranking.edge_count && status == PYTHIA_OK; i++)
        if (is_worth_it(&g->ranking.edges[i]))
            status = closed ? look_below(c, group, &g->ranking.edges[i], &map)
                            : mark_bounds(c, group, &g->ranking.edges[i]);
    pythia__region_map_free(&map);
    return status;
}

/* Best first; ties by cost, then by name. */
static bool comes_before(const struct collecting *c, size_t a, size_t b)
{
    if (c->worth[a] != c->worth[b])
        return c->worth[a] > c->worth[b];
    if (c->found[a].cost_ns != c->found[b].cost_ns)
        return c->found[a].cost_ns < c->found[b].cost_ns;
    return pythia_text_compare(
               pythia_vocabulary_tracepoint_id(c->vocabulary, c->found[a].tracepoint),
               pythia_vocabulary_tracepoint_id(c->vocabulary, c->found[b].tracepoint)) < 0;
}

static int suggest(const struct pythia_evidence *evidence, size_t budget,
                   struct pythia_suggestion *out, size_t *count)
{
    struct collecting c = {
        .e = evidence, .vocabulary = pythia_cct_vocabulary(pythia_groups_cct(evidence->groups))};
    const struct pythia_diagnosis *d = evidence->diagnosis;
    c.slots = pythia_calloc(pythia_vocabulary_tracepoints(c.vocabulary), sizeof(*c.slots));
    int status = c.slots ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->group_count && status == PYTHIA_OK; i++)
        if (d->groups[i].status == PYTHIA_GROUP_DIAGNOSED &&
            d->groups[i].variance_share >= GROUP_MIN)
            status = search_group(&c, i);
    *count = 0;
    while (status == PYTHIA_OK &&
           *count < budget) { /* few are wanted: the best of the rest, each time */
        size_t best = c.count;
        for (size_t i = 0; i < c.count; i++)
            if (c.found[i].reason && (best == c.count || comes_before(&c, i, best)))
                best = i;
        if (best == c.count)
            break;
        out[(*count)++] = c.found[best];
        c.found[best].reason = NULL; /* it is the caller's now */
    }
    for (size_t i = 0; i < c.count; i++)
        pythia_suggestion_clear(&c.found[i]);
    pythia_free(c.found);
    pythia_free(c.worth);
    pythia_free(c.slots);
    return status;
}

const struct pythia_strategy pythia__strategy_hierarchical = {
    .name = "hierarchical",
    .help =
        "one level of the calling context tree at a time, below the edges with the largest share",
    .suggest = suggest,
};
