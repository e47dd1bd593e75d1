/* Everything that is closed and belongs to a type of request that varies, the cheapest first: the
 * price of knowing all at once. The only strategy that leaves the region behind an edge. */
#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

static int inspect_all_row(struct pythia__parts *p)
{
    const struct pythia_cct *cct = p->map.type->cct;
    double requests = p->requests;
    for (uint32_t node = 1; node < pythia_cct_nodes(cct); node++) {
        uint32_t tracepoint = pythia_cct_tracepoint(cct, node);
        if (p->map.open[node])
            continue;
        double part = pythia__parts_part(p, tracepoint); /* 0 elsewhere */
        double price = pythia_prices_relative(p->e->prices, tracepoint, p->e->price_ns);
        struct pythia__candidate c = {.tracepoint = tracepoint,
                                      .part = part,
                                      .order =
                                          -((double)p->points[tracepoint].calls / requests * price),
                                      .then = pythia__parts_worth(p, part)};
        int status = pythia__parts_offer(p, &c);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static void add_all_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                           struct pythia_buf *to)
{
    pythia_buf_puts(to, "every closed point is opened, the cheapest first: ");
    pythia__parts_name(p, c->tracepoint, to);
}

static const struct pythia__strategy_row row = {.look = inspect_all_row, .reason = add_all_reason};

const struct pythia_strategy pythia__strategy_all = {
    .name = "all",
    .help = "every closed point of requests that vary, the cheapest first",
    .row = &row,
};
