/* Depth does not count: the closed trace points behind the edge that varies most stand in a row, in
 * the order in which they most often follow each other, and those that cut the row into equal
 * pieces are opened. What is left of the budget goes to the next edge. (Ates et al., "An Automated,
 * Cross-Layer Instrumentation Framework for Diagnosing Performance Problems in Distributed
 * Applications", SoCC 2019.) */
#include "pythia/mem.h"
#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

/* Each trace point once, and none that an edge before has found or that is pinned: at the beginning
 * of `nodes`. */
static size_t keep_new(struct pythia__parts *p, uint32_t *nodes, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t tracepoint = pythia_cct_tracepoint(p->map.type->cct, nodes[i]);
        struct pythia__point *point = &p->points[tracepoint];
        if (point->found || point->passed || point->pinned)
            continue;
        point->passed = true;
        nodes[kept++] = tracepoint;
    }
    return kept;
}

static int inspect_flat_row(struct pythia__parts *p)
{
    uint32_t *row = NULL;
    size_t count = 0;
    int status = pythia__region_order(&p->map, &row, &count);
    if (status != PYTHIA_OK)
        return status;
    count = keep_new(p, row, count);
    size_t left = p->budget - p->count, wanted = left < count ? left : count;
    for (size_t i = 1; i <= wanted; i++) {
        /* Cut number i of `wanted`; all of them are 1, 2, …, count. */
        size_t place = i * (count + 1) / (wanted + 1);
        struct pythia__candidate c = {.tracepoint = row[place - 1],
                                      .part = pythia__parts_part(p, row[place - 1]),
                                      .order = -(double)p->count,
                                      .number = place,
                                      .of = count};
        status = pythia__parts_offer(p, &c);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(row);
    return status;
}

static void add_flat_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                            struct pythia_buf *to)
{
    pythia__parts_name(p, c->tracepoint, to);
    pythia_buf_printf(to, " is number %zu of the %zu closed points there, in profile order",
                      c->number, c->of);
}

static const struct pythia__strategy_row row = {
    .look = inspect_flat_row, .reason = add_flat_reason, .in_turn = true};

const struct pythia_strategy pythia__strategy_flat = {
    .name = "flat",
    .help = "points that divide the closed ones below the edge that varies most into equal pieces",
    .row = &row,
};
