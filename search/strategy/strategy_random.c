/* Closed trace points behind the edges that vary, drawn at random, each as likely as another: what
 * every other strategy has to be better than. A point's lot depends on its name, the seed and the
 * cycle alone. */
#include "pythia/random.h"
#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

static int inspect_random_row(struct pythia__parts *p)
{
    for (size_t i = 0; i < p->here_count; i++) {
        struct pythia_random random;
        pythia_random_init(&random, pythia__parts_seed(p, p->here[i]));
        double part = pythia__parts_part(p, p->here[i]);
        struct pythia__candidate c = {.tracepoint = p->here[i],
                                      .part = part,
                                      .order = pythia_random_unit(&random),
                                      .then = pythia__parts_worth(p, part),
                                      .of = p->here_count};
        int status = pythia__parts_offer(p, &c);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static void add_random_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                              struct pythia_buf *to)
{
    pythia__parts_name(p, c->tracepoint, to);
    pythia_buf_printf(to, " was drawn at random from the closed points there: %zu", c->of);
}

static const struct pythia__strategy_row row = {.look = inspect_random_row,
                                                .reason = add_random_reason};

const struct pythia_strategy pythia__strategy_random = {
    .name = "random",
    .help = "closed points below the edges that vary, drawn at random",
    .row = &row,
};
