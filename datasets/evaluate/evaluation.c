#include "pythia/evaluation.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

struct pythia_evaluation {
    struct pythia_evaluation_options o;
    struct pythia_trial_outcome *outcomes; /* [seeds][problems][strategies] */
    unsigned char *done;                   /* of each */
};

int pythia_evaluation_create(const struct pythia_evaluation_options *options,
                             struct pythia_evaluation **out)
{
    size_t pairs = options->strategy_count * options->problem_count;
    if (pairs > 0 && options->seeds > SIZE_MAX / sizeof(struct pythia_trial_outcome) / pairs)
        return PYTHIA_ENOMEM;
    size_t trials = pairs * options->seeds;
    struct pythia_evaluation *e = pythia_calloc(1, sizeof(*e));
    if (!e)
        return PYTHIA_ENOMEM;
    e->o = *options;
    e->outcomes = pythia_calloc(trials, sizeof(*e->outcomes));
    e->done = pythia_calloc(trials, sizeof(*e->done));
    if (!e->outcomes || !e->done) {
        pythia_evaluation_destroy(e);
        return PYTHIA_ENOMEM;
    }
    *out = e;
    return PYTHIA_OK;
}

void pythia_evaluation_destroy(struct pythia_evaluation *e)
{
    if (!e)
        return;
    pythia_free(e->outcomes);
    pythia_free(e->done);
    pythia_free(e);
}

const struct pythia_evaluation_options *
pythia_evaluation_options_of(const struct pythia_evaluation *e)
{
    return &e->o;
}

size_t pythia_evaluation_trials(const struct pythia_evaluation *e)
{
    return e->o.strategy_count * e->o.problem_count * e->o.seeds;
}

int pythia_evaluation_run(struct pythia_evaluation *e, size_t number, struct pythia_buf *story,
                          struct pythia_error *why)
{
    assert(number < pythia_evaluation_trials(e));
    size_t pair = number / e->o.strategy_count;
    struct pythia_trial trial = {.problem = e->o.problems[pair % e->o.problem_count],
                                 .strategy = e->o.strategies[number % e->o.strategy_count],
                                 .profile = e->o.profile,
                                 .seed = e->o.first_seed + pair / e->o.problem_count,
                                 .points = e->o.points,
                                 .requests = e->o.requests,
                                 .cycles = e->o.cycles,
                                 .price_ns = e->o.price_ns,
                                 .now_ns = e->o.now_ns,
                                 .stopped = e->o.stopped,
                                 .story = story};
    int status = pythia_trial_run(&trial, &e->outcomes[number], why);
    if (status != PYTHIA_OK)
        return status;
    e->done[number] = true;
    return PYTHIA_OK;
}

/* ---- scores ---- */

struct scoring {
    const struct pythia_evaluation *e;
    const struct pythia_trial_outcome **outcomes; /* of the trials that were run */
    size_t count;
    double *values; /* room for as many */
};

/* A figure of a trial. */
typedef double figure(const struct pythia_evaluation *e, const struct pythia_trial_outcome *o);

static double cycles_to_localise(const struct pythia_evaluation *e,
                                 const struct pythia_trial_outcome *o)
{
    if (o->causes == 0)
        return NAN;
    return (double)(o->localised ? o->localised : e->o.cycles);
}

#define FIGURE(name, value)                                                                        \
    static double name(const struct pythia_evaluation *e, const struct pythia_trial_outcome *o)    \
    {                                                                                              \
        (void)e;                                                                                   \
        return (double)(value);                                                                    \
    }
FIGURE(ended, o->cycles)
FIGURE(opened, o->opened)
FIGURE(opened_share, (double)o->opened / (double)o->tracepoints)
FIGURE(peak, o->peak)
FIGURE(added_peak, o->added_peak_ns)
FIGURE(added_mean, o->added_mean_ns)
FIGURE(added_peak_share, o->added_peak_ns / o->duration_ns)
FIGURE(added_mean_share, o->added_mean_ns / o->duration_ns)
FIGURE(decide_median, o->decide_median_ns)
FIGURE(decide_most, o->decide_most_ns)
FIGURE(tracepoints, o->tracepoints)
FIGURE(skeleton, o->skeleton)

static double find_percentile(const struct scoring *s, figure *of, unsigned percent)
{
    for (size_t i = 0; i < s->count; i++)
        s->values[i] = of(s->e, s->outcomes[i]);
    pythia_ranks_sort(s->values, s->count);
    return pythia_ranks_percentile(s->values, s->count, percent);
}

static struct pythia_spread find_spread(const struct scoring *s, figure *of)
{
    return (struct pythia_spread){find_percentile(s, of, 50), find_percentile(s, of, 90)};
}

static void count_named(const struct scoring *s, struct pythia_score *out)
{
    uint64_t planted = 0, first = 0, three = 0, all = 0, wrong = 0, keys = 0, keys_first = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct pythia_trial_outcome *o = s->outcomes[i];
        planted += o->causes > 0;
        first += o->first;
        three += o->any_three;
        all += o->causes > 0 && o->found == o->causes;
        wrong += o->wrong > 0;
        keys += o->keys;
        keys_first += o->keys_first;
    }
    out->first = pythia_proportion_wilson(first, planted, PYTHIA_EVALUATION_LEVEL);
    out->three = pythia_proportion_wilson(three, planted, PYTHIA_EVALUATION_LEVEL);
    out->all = pythia_proportion_wilson(all, planted, PYTHIA_EVALUATION_LEVEL);
    out->wrong = pythia_proportion_wilson(wrong, s->count, PYTHIA_EVALUATION_LEVEL);
    out->keys = pythia_proportion_wilson(keys_first, keys, PYTHIA_EVALUATION_LEVEL);
}

static void score_trials(const struct scoring *s, struct pythia_score *out)
{
    *out = (struct pythia_score){.trials = s->count};
    count_named(s, out);
    out->localised = find_spread(s, cycles_to_localise);
    out->ended = find_spread(s, ended);
    out->opened = find_spread(s, opened_share);
    out->opened_points = find_spread(s, opened);
    out->peak_points = find_spread(s, peak);
    out->added_peak_ns = find_spread(s, added_peak);
    out->added_mean_ns = find_spread(s, added_mean);
    out->added_peak_share = find_spread(s, added_peak_share);
    out->added_mean_share = find_spread(s, added_mean_share);
    out->decide_median_ns = find_percentile(s, decide_median, 50);
    out->decide_most_ns = find_percentile(s, decide_most, 100);
    out->tracepoints = s->count ? (size_t)find_percentile(s, tracepoints, 50) : 0;
    out->skeleton = s->count ? (size_t)find_percentile(s, skeleton, 50) : 0;
}

int pythia_evaluation_score(const struct pythia_evaluation *e, size_t strategy, size_t problem,
                            struct pythia_score *out)
{
    assert(strategy < e->o.strategy_count && problem < e->o.problem_count);
    struct scoring s = {.e = e};
    s.outcomes = pythia_calloc(e->o.seeds, sizeof(const struct pythia_trial_outcome *));
    s.values = pythia_calloc(e->o.seeds, sizeof(*s.values));
    int status = s.outcomes && s.values ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t seed = 0; seed < e->o.seeds; seed++) {
        size_t number = (seed * e->o.problem_count + problem) * e->o.strategy_count + strategy;
        if (e->done[number])
            s.outcomes[s.count++] = &e->outcomes[number];
    }
    score_trials(&s, out);
out:
    pythia_free(s.outcomes);
    pythia_free(s.values);
    return status;
}
