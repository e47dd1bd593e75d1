/* A point that was a cause before is likely to be one again: closed trace points behind the
 * edges that vary which ended earlier searches, of whatever type of request, first; those before
 * others that did so in more of the times they were opened. A time without success is added to
 * each record, so that one success in one is less than nine in ten. Where the record names
 * nothing, it goes on as the hierarchical strategy does. */
#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

static int inspect_historic_row(struct pythia__parts *p)
{
    for (size_t i = 0; p->e->history && i < p->here_count; i++) {
        struct pythia_history_record known = pythia__parts_record(p, p->here[i]);
        if (!known.localised)
            continue;
        double part = pythia__parts_part(p, p->here[i]);
        struct pythia__candidate c = {.tracepoint = p->here[i],
                                      .part = part,
                                      .order = (double)known.localised / ((double)known.opened + 1),
                                      .then = pythia__parts_worth(p, part)};
        int status = pythia__parts_offer(p, &c);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia__parts_offer_direct(p);
}

static void add_historic_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                                struct pythia_buf *to)
{
    struct pythia_history_record known = pythia__parts_record(p, c->tracepoint);
    if (!known.localised) {
        pythia__parts_time_reason(p, c, to);
        return;
    }
    pythia__parts_name(p, c->tracepoint, to);
    pythia_buf_printf(to, " was the cause %llu of the %llu times it was opened before",
                      (unsigned long long)known.localised, (unsigned long long)known.opened);
}

static const struct pythia__strategy_row row = {.look = inspect_historic_row,
                                                .reason = add_historic_reason};

const struct pythia_strategy pythia__strategy_historic = {
    .name = "historic",
    .help = "points that were the cause in earlier searches, then as hierarchical",
    .row = &row,
};
