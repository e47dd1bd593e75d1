/* Does what the search does in each cycle (search.c), but from the evidence of a single look:
 * weigh the nodes of the search space by which edge varies most, and open the points that tell
 * most about where among them the cause is, for their price. */
#include <math.h>

#include "gain.h"
#include "pythia/mem.h"
#include "pythia/place.h"
#include "pythia/status.h"
#include "space/descent.h"
#include "strategy_parts.h"
#include "strategy_table.h"

/* A suggestion is dropped when it would show less than this part of what the best one would show:
 * beside a point that would show 96 % of the variance, one that would show .1 % distracts. */
#define NEGLIGIBLE .05

struct choosing {
    const struct pythia_evidence *e;
    const struct pythia_vocabulary *vocabulary;
    size_t budget;
    struct pythia_suggestion *out;
    double *worth; /* of each: information about the variance of all requests */
    size_t count;
    bool *closed;   /* by trace point: may be suggested */
    double *prices; /* by trace point: multiples of the usual one */
};

static char *make_gain_reason(const struct choosing *c, const struct pythia__belief *b,
                              const struct pythia_cct *seen, const struct pythia__pick *pick)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, "the cause is in ");
    pythia_buf_text_add(&text, pythia_vocabulary_tracepoint_id(c->vocabulary, pick->tracepoint));
    pythia_buf_printf(&text, " or below it with a probability of %.0f %%", 100 * pick->inside);
    struct pythia_place place =
        pythia_place_of_layer(seen, b->regions[pick->block].edge, c->e->layers);
    pythia_buf_puts(&text, ", and it splits the time ");
    pythia_place_add(&text, c->vocabulary, &place);
    pythia_buf_printf(&text, ", which accounts for %.0f %% of the variance",
                      100 * b->regions[pick->block].share);
    if (pythia_buf_status(&text) == PYTHIA_OK)
        return text.bytes;
    pythia_buf_free(&text);
    return NULL;
}

/* Put a pick among the best so far; the same point for another group stays where it is worth more.
 */
static int take_pick(struct choosing *c, size_t group, const struct pythia__belief *b,
                     const struct pythia_cct *seen, const struct pythia__pick *pick)
{
    double worth = pick->bits * c->e->diagnosis->groups[group].variance_share;
    size_t at = 0, same = c->count;
    if (pick->block >= b->region_count) /* it lies behind no edge that varies */
        return PYTHIA_OK;
    for (size_t i = 0; i < c->count; i++)
        same = c->out[i].tracepoint == pick->tracepoint ? i : same;
    if (same < c->count && c->worth[same] >= worth)
        return PYTHIA_OK;
    while (at < c->count && c->worth[at] >= worth)
        at++;
    if (at == c->budget)
        return PYTHIA_OK;
    char *reason = make_gain_reason(c, b, seen, pick);
    if (!reason)
        return PYTHIA_ENOMEM;
    size_t last = same < c->count ? same : c->count < c->budget ? c->count++ : c->budget - 1;
    pythia_suggestion_clear(&c->out[last]);
    for (; last > at; last--) {
        c->out[last] = c->out[last - 1];
        c->worth[last] = c->worth[last - 1];
    }
    double share = fmin(b->regions[pick->block].share, 1);
    c->worth[at] = worth;
    c->out[at] = (struct pythia_suggestion){
        .tracepoint = pick->tracepoint,
        .group = group,
        .edge = b->regions[pick->block].edge,
        .gain = fmin(share * pick->inside, 1),
        .cost_ns = pick->calls * pythia_prices_of(c->e->prices, pick->tracepoint, c->e->price_ns),
        .reason = reason};
    return PYTHIA_OK;
}

/* Find the points that may be opened for a type; points of other types are left out. */
static void find_closed(struct choosing *c, const struct pythia_space_type *t)
{
    struct pythia_open_points *open = c->e->open, *never = c->e->never;
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(t->cct, node);
        bool is_open = pythia_open_points_has(open, point) &&
                       !pythia_open_points_excludes(open, point, t->name);
        c->closed[point] = !is_open && !(never && pythia_open_points_has(never, point));
    }
}

/* Leave out the points of lower layers than `down` that work for no node that holds the cause. */
static int leave_out_unreached(struct choosing *c, const struct pythia__belief *b,
                               enum pythia_layer down)
{
    struct pythia__descent d;
    uint32_t points = pythia_vocabulary_tracepoints(c->vocabulary);
    bool *other = pythia_calloc(points, sizeof(*other)); /* it may not be opened */
    int status = other ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (uint32_t point = 0; other && point < points; point++)
        other[point] = !c->closed[point];
    if (status == PYTHIA_OK)
        status = pythia__descent_find(b->type, b->mass, other, other, c->e->layers, &d);
    for (uint32_t point = 0; status == PYTHIA_OK && point < points; point++)
        c->closed[point] =
            c->closed[point] && pythia__descent_reaches(&d, c->e->layers, down, point);
    if (status == PYTHIA_OK)
        pythia__descent_free(&d);
    pythia_free(other);
    return status;
}

/* Choose points of a type, from the top layer down until there are some. */
static int choose_by_layer(struct choosing *c, const struct pythia__belief *b,
                           struct pythia__pick *picks, size_t *count)
{
    enum pythia_layer lowest = pythia_layers_lowest(c->e->layers);
    int status = PYTHIA_OK;
    for (unsigned down = PYTHIA_LAYER_APPLICATION;
         down <= lowest && *count == 0 && status == PYTHIA_OK; down++) {
        find_closed(c, b->type);
        if (lowest > PYTHIA_LAYER_APPLICATION)
            status = leave_out_unreached(c, b, (enum pythia_layer)down);
        if (status == PYTHIA_OK)
            status = pythia__gain_choose(b, c->closed, PYTHIA__CALL_PRICE, c->prices, c->budget,
                                         picks, count);
    }
    return status;
}

static int look_at_group(struct choosing *c, size_t group)
{
    const struct pythia_group *g = &c->e->diagnosis->groups[group];
    const struct pythia_cct *seen = pythia_groups_cct(c->e->groups);
    const struct pythia_space_type *t =
        pythia_space_type(c->e->space, c->e->diagnosis->types[g->type].type->unsplit);
    /* Without a space there are no points to offer, and without a diagnosis there is no evidence
     * for the belief. */
    if (!t || g->ranking.edge_count == 0 || g->status != PYTHIA_GROUP_DIAGNOSED)
        return PYTHIA_OK;
    struct pythia__belief b = {0};
    struct pythia__region_map map = {0};
    struct pythia__pick *picks = pythia_calloc(c->budget + 1, sizeof(*picks));
    size_t count = 0;
    int status = picks ? pythia__belief_create_with(t, c->e->history, &b) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__region_map_create(t, seen, c->e->open, &map);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__belief_update(&b, &map, &g->ranking, NULL, c->e->seed, NULL);
    if (status != PYTHIA_OK)
        goto out;
    if (b.region_count > 0) {
        status = choose_by_layer(c, &b, picks, &count);
        if (status != PYTHIA_OK)
            goto out;
    }
    for (size_t i = 0; i < count; i++) {
        status = take_pick(c, group, &b, seen, &picks[i]);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia__region_map_free(&map);
    pythia__belief_free(&b);
    pythia_free(picks);
    return status;
}

/* The variance of all requests that a suggestion would show, as a share. */
static double shown_share(const struct choosing *c, const struct pythia_suggestion *s)
{
    return s->gain * c->e->diagnosis->groups[s->group].variance_share;
}

/* Keep only the suggestions that show something beside the best one. */
static void drop_negligible(struct choosing *c)
{
    size_t kept = 0;
    double least = c->count > 0 ? NEGLIGIBLE * shown_share(c, &c->out[0]) : 0;
    for (size_t i = 0; i < c->count; i++) {
        if (shown_share(c, &c->out[i]) >= least)
            c->out[kept++] = c->out[i];
        else
            pythia_suggestion_clear(&c->out[i]);
    }
    c->count = kept;
}

static int suggest_information_gain(const struct pythia_evidence *e, size_t budget,
                                    struct pythia_suggestion *out, size_t *count)
{
    if (!e->space || !e->open) /* everything was open: which edges vary is all there is to say */
        return pythia__parts_suggest(pythia__strategy_hierarchical.row, e, budget, out, count);
    struct pythia_vocabulary *v = pythia_space_vocabulary(e->space);
    uint32_t points = pythia_vocabulary_tracepoints(v);
    struct choosing c = {.e = e,
                         .vocabulary = v,
                         .budget = budget,
                         .out = out,
                         .worth = pythia_calloc(budget + 1, sizeof(double)),
                         .closed = pythia_calloc(points, sizeof(bool)),
                         .prices = pythia_calloc(points, sizeof(double))};
    int status = c.worth && c.closed && c.prices ? PYTHIA_OK : PYTHIA_ENOMEM;
    *count = 0;
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t point = 0; point < points; point++)
        c.prices[point] = pythia_prices_relative(e->prices, point, e->price_ns);
    for (size_t i = 0; i < budget; i++)
        out[i] = (struct pythia_suggestion){0};
    for (size_t g = 0; budget > 0 && g < e->diagnosis->group_count; g++) {
        status = look_at_group(&c, g);
        if (status != PYTHIA_OK) {
            for (size_t i = 0; i < c.count; i++)
                pythia_suggestion_clear(&out[i]);
            goto out;
        }
    }
    drop_negligible(&c);
    *count = c.count;
out:
    pythia_free(c.worth);
    pythia_free(c.closed);
    pythia_free(c.prices);
    return status;
}

const struct pythia_strategy pythia__strategy_information_gain = {
    .name = "information-gain",
    .help = "the points that give most information about where the cause is, for their price",
    .suggest = suggest_information_gain,
};
