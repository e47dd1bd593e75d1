/* 2. Is a slow mode seen, and are the tails of a law with one mode left alone? Laws are in units of
 * their median. */
#include <math.h>
#include <stdint.h>

#include "bench_statistics.h"
#include "exponential.h"
#include "pythia/modes.h"
#include "pythia/status.h"
#include "pythia/tail_dip.h"

enum { N_MAX = 1000 };

/* One mode. */
enum law { LOGNORMAL, EXPONENTIAL, PARETO, GAMMA, NORMAL, LOG_UNIFORM };

struct unimodal {
    enum law law;
    double parameter;
    double tick; /* of the clock, 0: none */
};

/* Lognormal modes at `at` with a coefficient of variation of their own. */
struct mixture {
    size_t count;
    double at[3], weights[3], cov;
};

static double draw_one(const struct unimodal *u, struct pythia_random *r)
{
    switch (u->law) {
    case LOGNORMAL:
        return exp(u->parameter * pythia_random_normal(r));
    case EXPONENTIAL:
        return draw_exponential(r);
    case PARETO:
        return pow(1 - pythia_random_unit(r), -1 / u->parameter);
    case GAMMA: /* of shape 3 */
        return draw_exponential(r) + draw_exponential(r) + draw_exponential(r);
    case NORMAL:
        return fmax(1 + u->parameter * pythia_random_normal(r), 1e-3);
    case LOG_UNIFORM:
        return exp(u->parameter * pythia_random_unit(r));
    }
    return NAN;
}

static void draw_mixture(const struct mixture *m, size_t n, struct pythia_random *r, double *x)
{
    double sigma = sqrt(log1p(m->cov * m->cov));
    for (size_t i = 0; i < n; i++) {
        double u = pythia_random_unit(r);
        size_t k = 0;
        while (k + 1 < m->count && u >= m->weights[k])
            u -= m->weights[k++];
        x[i] = m->at[k] * exp(sigma * pythia_random_normal(r));
    }
}

static struct pythia_tail_dip tested(const double *x, size_t n, struct pythia_random *r)
{
    struct pythia_tail_dip t;
    uint64_t seed = pythia_random_next(r);
    fail_if(pythia_tail_dip(x, n, seed, &t) != PYTHIA_OK, "pythia_tail_dip");
    return t;
}

static bool unimodal_is_flagged(const struct scenario *s, struct pythia_random *r)
{
    static double x[N_MAX];
    const struct unimodal *u = s->setup;
    for (size_t i = 0; i < s->n; i++) {
        double one = draw_one(u, r);
        x[i] = u->tick > 0 ? u->tick * round(one / u->tick) : one;
    }
    return tested(x, s->n, r).p <= .05;
}

static bool mixture_is_flagged(const struct scenario *s, struct pythia_random *r)
{
    static double x[N_MAX];
    draw_mixture(s->setup, s->n, r, x);
    return tested(x, s->n, r).p <= .05;
}

/* Of samples that are flagged, how many have all their modes found? One that is not flagged is
 * drawn again. */
static bool modes_are_counted(const struct scenario *s, struct pythia_random *r)
{
    static double x[N_MAX];
    const struct mixture *m = s->setup;
    struct pythia_modes found;
    do
        draw_mixture(m, s->n, r, x);
    while (tested(x, s->n, r).p > .05);
    fail_if(pythia_modes_find(x, s->n, pythia_random_next(r), 2, &found) != PYTHIA_OK,
            "pythia_modes_find");
    return found.count == m->count;
}

static const struct unimodal narrow = {LOGNORMAL, .5, 0}, wide = {LOGNORMAL, 1, 0},
                             wider = {LOGNORMAL, 1.5, 0}, exponential = {EXPONENTIAL, 0, 0},
                             pareto = {PARETO, 2, 0}, gamma3 = {GAMMA, 3, 0},
                             normal = {NORMAL, .1, 0}, ticks = {LOGNORMAL, .5, .05},
                             worst = {LOG_UNIFORM, 5, 0};
static const struct mixture half = {2, {1, 2}, {.5, .5}, .15}, fifth = {2, {1, 3}, {.8, .2}, .2},
                            tenth = {2, {1, 5}, {.9, .1}, .3},
                            twentieth = {2, {1, 10}, {.95, .05}, .3},
                            fiftieth = {2, {1, 10}, {.98, .02}, .3},
                            queue = {3, {1, 2, 3}, {.4, .35, .25}, .1};

static const struct scenario modes[] = {
    {"lognormal .5: flagged", 200, unimodal_is_flagged, &narrow, AT_MOST, .05, 0},
    {"lognormal 1: flagged", 200, unimodal_is_flagged, &wide, AT_MOST, .05, 0},
    {"lognormal 1.5: flagged", 200, unimodal_is_flagged, &wider, AT_MOST, .05, 0},
    {"exponential: flagged", 200, unimodal_is_flagged, &exponential, AT_MOST, .05, 0},
    {"Pareto 2: flagged", 200, unimodal_is_flagged, &pareto, AT_MOST, .05, 0},
    {"gamma 3: flagged", 200, unimodal_is_flagged, &gamma3, AT_MOST, .05, 0},
    {"normal, cov .1: flagged", 200, unimodal_is_flagged, &normal, AT_MOST, .05, 0},
    {"clock of 20 ticks to the median: flagged", 200, unimodal_is_flagged, &ticks, AT_MOST, .05, 0},
    {"clock of 20 ticks to the median: flagged", 1000, unimodal_is_flagged, &ticks, AT_MOST, .05,
     0},
    {"Pareto 2: flagged", 1000, unimodal_is_flagged, &pareto, AT_MOST, .05, 0},
    {"log-uniform, the worst law: flagged", 200, unimodal_is_flagged, &worst, SHOWN, 0, 0},
    {"50/50 at 2x, cov .15: flagged", 200, mixture_is_flagged, &half, SHOWN, 0, 0},
    {"80/20 at 3x, cov .2: flagged", 50, mixture_is_flagged, &fifth, SHOWN, 0, 0},
    {"80/20 at 3x, cov .2: flagged", 200, mixture_is_flagged, &fifth, AT_LEAST, .9, 0},
    {"90/10 at 5x, cov .3: flagged", 200, mixture_is_flagged, &tenth, SHOWN, 0, 0},
    {"95/5 at 10x, cov .3: flagged", 200, mixture_is_flagged, &twentieth, AT_LEAST, .6, 0},
    {"95/5 at 10x, cov .3: flagged", 1000, mixture_is_flagged, &twentieth, AT_LEAST, .95, 0},
    {"98/2 at 10x, cov .3: flagged", 1000, mixture_is_flagged, &fiftieth, SHOWN, 0, 0},
    {"80/20 at 3x: two modes, if flagged", 200, modes_are_counted, &fifth, SHOWN, 0, 0},
    {"95/5 at 10x: two modes, if flagged", 200, modes_are_counted, &twentieth, SHOWN, 0, 0},
    {"three queue lengths: three modes, if flagged", 1000, modes_are_counted, &queue, SHOWN, 0, 0},
};

const struct table bench_modes =
    TABLE("2. Tail-dip at 5 %: is more than one mode seen?", modes, 10);
