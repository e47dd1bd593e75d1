#ifndef PYTHIA_EVALUATION_H
#define PYTHIA_EVALUATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/proportion.h"
#include "pythia/strategy.h"
#include "pythia/trial.h"

/* Strategies on problems, each with many seeds: trials in any order and on any number of threads,
 * and then what they come to. It makes no thread itself. */
struct pythia_evaluation;

#define PYTHIA_EVALUATION_LEVEL .95 /* of intervals */

/* The members are those of struct pythia_trial; what they point to is borrowed. */
struct pythia_evaluation_options {
    const struct pythia_strategy *const *strategies;
    size_t strategy_count;
    const struct pythia_trial_problem *const *problems;
    size_t problem_count;
    enum pythia_trial_profile profile;
    uint64_t first_seed;
    size_t seeds; /* first_seed, first_seed + 1, … */
    size_t points, requests, cycles;
    double price_ns;
    uint64_t (*now_ns)(void); /* these two are called by several threads */
    bool (*stopped)(void);
};

/* PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_evaluation_create(const struct pythia_evaluation_options *options,
                             struct pythia_evaluation **out);
void pythia_evaluation_destroy(struct pythia_evaluation *e); /* e may be NULL */
const struct pythia_evaluation_options *
pythia_evaluation_options_of(const struct pythia_evaluation *e);

/* How many trials there are: 0 to that are their numbers. All with one seed come before those with
 * the next, so that an interrupted run has results of all problems. */
size_t pythia_evaluation_trials(const struct pythia_evaluation *e);

/* Run one of them; `story` as in a trial. As pythia_trial_run. Several threads may run different
 * trials at once. */
int pythia_evaluation_run(struct pythia_evaluation *e, size_t number, struct pythia_buf *story,
                          struct pythia_error *why);

/* The median over trials, and what 90 % of them do not exceed: values of trials, see
 * pythia_ranks_percentile. NaN without trials. */
struct pythia_spread {
    double median, p90;
};

/* The results of the trials of one strategy on one problem that have been run. */
struct pythia_score {
    size_t trials;
    /* Of the trials, where something is planted (else 0 of 0): the first named place is right, one
     * of the first three is, all causes are found. */
    struct pythia_proportion first, three, all;
    struct pythia_proportion wrong; /* trials that name a place where nothing is planted, or, where
                                       no cause has a strength, a key */
    struct pythia_proportion keys;  /* of the causes found that a key goes with: it is the first
                                       explanation */
    struct pythia_spread localised; /* cycles until all causes are found; a trial in which they are
                                       not counts as the most cycles there may be. NaN where nothing
                                       is planted */
    struct pythia_spread ended;     /* cycles until the search ended */
    struct pythia_spread opened;    /* trace points, as a share of the workflow's */
    struct pythia_spread opened_points, peak_points; /* how many; most at once */
    struct pythia_spread added_peak_ns, added_mean_ns, added_peak_share, added_mean_share; /* of the
                                          mean duration of a request */
    double decide_median_ns, decide_most_ns; /* median of the trials' medians, and the longest of
                                                all; NaN without a clock */
    size_t tracepoints, skeleton;            /* medians */
};

/* strategy, problem: indexes in the options. Call it when no trial is being run. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(trials log trials). */
int pythia_evaluation_score(const struct pythia_evaluation *e, size_t strategy, size_t problem,
                            struct pythia_score *out);

#endif
