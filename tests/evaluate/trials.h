/* What the tests of evaluations need: rows of the tables by name. */
#ifndef TRIALS_H
#define TRIALS_H

#include <string.h>

#include "check.h"
#include "pythia/status.h"
#include "pythia/trial.h"

static inline const struct pythia_trial_problem *problem_named(const char *name)
{
    size_t count;
    const struct pythia_trial_problem *all = pythia_trial_problems(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    fail_msg("there is no problem %s", name);
    return NULL;
}

static inline const struct pythia_strategy *strategy_named(const char *name)
{
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    fail_msg("there is no strategy %s", name);
    return NULL;
}

static inline struct pythia_trial trial_of(const char *problem, const char *strategy, uint64_t seed)
{
    return (struct pythia_trial){.problem = problem_named(problem),
                                 .strategy = strategy_named(strategy),
                                 .seed = seed,
                                 .points = 3,
                                 .cycles = 30,
                                 .price_ns = 1000};
}

static inline struct pythia_trial_outcome run_trial(const struct pythia_trial *t)
{
    struct pythia_trial_outcome out;
    struct pythia_error why = {0};
    int status = pythia_trial_run(t, &out, &why);
    if (status != PYTHIA_OK)
        fail_msg("%s, %s, seed %d: %d %s", t->problem->name, t->strategy->name, (int)t->seed,
                 status, why.sentence);
    return out;
}

#endif
