/* Each trace point is an arm: how much opening it explains has a Beta distribution, from what it
 * explained whenever it was opened before, beginning with the uniform one. In every cycle a value
 * is drawn from each, and what promises most of the edge's share is opened, so that what is little
 * known is tried. (Thompson, "On the Likelihood that One Unknown Probability Exceeds Another",
 * Biometrika 25, 1933; with rewards between 0 and 1: Agrawal and Goyal, "Analysis of Thompson
 * Sampling for the Multi-armed Bandit Problem", COLT 2012. They toss a coin for each reward; here
 * the reward itself is added, which has the same mean.) The gain is still the expected one from the
 * search space, not what was drawn. */
#include <math.h>

#include "pythia/random.h"
#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

/* Gamma of a shape of at least 1. Marsaglia and Tsang, "A Simple Method for Generating Gamma
 * Variables", ACM TOMS 26(3), 2000. */
static double draw_gamma(struct pythia_random *random, double shape)
{
    double d = shape - 1. / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = pythia_random_normal(random), v = 1 + c * x;
        double u = 1 - pythia_random_unit(random); /* never 0 */
        v = v * v * v;
        if (v > 0 && log(u) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

static double draw_point_probability(const struct pythia__parts *p, uint32_t tracepoint)
{
    struct pythia_history_record known = pythia__parts_record(p, tracepoint);
    struct pythia_random random;
    double opened = (double)known.opened;
    double good = (double)known.explained_ppb / (double)PYTHIA_HISTORY_PPB;
    pythia_random_init(&random, pythia__parts_seed(p, tracepoint));
    double won = draw_gamma(&random, 1 + good);
    return won / (won + draw_gamma(&random, 1 + fmax(opened - good, 0)));
}

static int inspect_thompson_row(struct pythia__parts *p)
{
    for (size_t i = 0; i < p->here_count; i++) {
        double part = pythia__parts_part(p, p->here[i]);
        struct pythia__candidate c = {.tracepoint = p->here[i],
                                      .part = part,
                                      .order = draw_point_probability(p, p->here[i]) *
                                               pythia__parts_worth(p, 1),
                                      .then = pythia__parts_worth(p, part)};
        int status = pythia__parts_offer(p, &c);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static void add_thompson_reason(const struct pythia__parts *p, const struct pythia__candidate *c,
                                struct pythia_buf *to)
{
    struct pythia_history_record known = pythia__parts_record(p, c->tracepoint);
    pythia__parts_name(p, c->tracepoint, to);
    if (known.opened)
        pythia_buf_printf(to, " explained %.0f %% on average, opened before: %llu",
                          100 * ((double)known.explained_ppb / (double)PYTHIA_HISTORY_PPB) /
                              (double)known.opened,
                          (unsigned long long)known.opened);
    else
        pythia_buf_puts(to, " was never opened before, so it may explain any share");
}

static const struct pythia__strategy_row row = {.look = inspect_thompson_row,
                                                .reason = add_thompson_reason};

const struct pythia_strategy pythia__strategy_thompson = {
    .name = "thompson",
    .help = "Thompson sampling: what opening a point explained before, and chance",
    .row = &row,
};
