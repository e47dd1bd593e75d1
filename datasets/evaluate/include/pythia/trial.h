#ifndef PYTHIA_TRIAL_H
#define PYTHIA_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/strategy.h"
#include "pythia/workflow.h"

/* A trial: one search, by one strategy, for causes that were planted in a generated workflow, and
 * how near it came to the truth. Whatever is not the clock's depends on the settings alone. */

#define PYTHIA_TRIAL_CAUSES PYTHIA_WORKFLOW_CAUSES

/* A problem: the planted causes and their workflow, a row of a table. A member of 0 is as
 * pythia_workflow_options has it by default. */
struct pythia_trial_problem {
    const char *name; /* "deep-5000" */
    const char *help; /* what it is, without a full stop */
    enum pythia_workflow_shape shape;
    uint32_t nodes;
    size_t requests; /* of a cycle */
    double forks, async, retries, loops, unknown, spikes, load;
    double noise, spread; /* 0: those of a workflow by default */
    uint64_t tick_ns;
    enum pythia_workflow_drift drift;
    uint32_t distractors; /* 0: 2 */
    uint32_t hosts;       /* 0: those of a workflow by default */
    bool timed;           /* spans have keys that measure their time */
    bool captured; /* no search: requests with everything open, of which the report says why */
    bool through;  /* it goes on until the cause has moved, found or not */
    bool again;    /* it goes on after the search was given up, until the causes are found or the
                      cycles are over */
    uint64_t drift_requests, first_request; /* which the search begins with */
    uint64_t scattered; /* in so many requests at the beginning the causes are in other nodes for
                           each request: durations vary as later, and no place stands out */
    size_t cause_count; /* 0: nothing is to be found */
    struct pythia_workflow_cause causes[PYTHIA_TRIAL_CAUSES];
};

/* All problems, in the order in which they are reported; *count of them. */
const struct pythia_trial_problem *pythia_trial_problems(size_t *count);

/* The options of a problem's workflow. */
void pythia_trial_workflow(const struct pythia_trial_problem *problem, uint64_t seed,
                           struct pythia_workflow_options *out);

/* Append the options of `pythia generate`, but --seed, that make the same requests: "--shape deep
 * --nodes 500 --causes sleep:0.3:0.3". */
void pythia_trial_generate_options(const struct pythia_trial_problem *problem,
                                   struct pythia_buf *to);

/* The input of the search space: requests with everything open, as they were before the causes
 * came, or with the causes in them. The latter tell much of where these are. */
enum pythia_trial_profile { PYTHIA_PROFILE_BEFORE, PYTHIA_PROFILE_DURING };

struct pythia_trial {
    const struct pythia_trial_problem *problem;
    const struct pythia_strategy *strategy;
    enum pythia_trial_profile profile;
    uint64_t seed;            /* of the workflow, and of what the search draws */
    size_t points;            /* opened in a cycle at most; the strategy "all" has no such limit */
    size_t requests;          /* of a cycle; 0: as many as the problem says */
    size_t cycles;            /* at most; at least 1 */
    double price_ns;          /* of one hit of an open trace point */
    uint64_t (*now_ns)(void); /* a clock, for the time that decisions take; NULL: not measured */
    bool (*stopped)(void);    /* asked before each cycle whether to stop; NULL: never */
    struct pythia_buf *story; /* what each cycle saw and decided is told there; NULL: nowhere */
};

/* How many searches of the same workflow, with the same causes and other requests, the strategy
 * "historic" is given the record of. They are made by the default strategy. Others get none. */
#define PYTHIA_TRIAL_EARLIER 3

/* A cause is found if the search names a place as a cause where it is, in that cycle: inside the
 * trace point of its node or of one of its further nodes, or, where the search space does not know
 * that, of the nearest one above. */
struct pythia_trial_outcome {
    size_t causes;         /* planted, and searched for: 0 of a problem that is captured */
    size_t found;          /* of them */
    bool first, any_three; /* the first place that was named is right; one of the first three */
    size_t named, wrong;   /* places named as causes, each once; those where nothing is planted */
    size_t cycles;         /* until the search had done or given up, or all that there were */
    size_t localised;      /* the cycle in which the last of all causes was found; 0: never */
    size_t tracepoints;    /* of the workflow */
    size_t skeleton;       /* of them, open from the start; the rest does not count these */
    size_t opened, peak;   /* different ones; most at once while requests ran */
    double added_peak_ns, added_mean_ns; /* to a request, by the points that were open in a cycle:
                                            calls times price; the most, and the mean of cycles */
    double duration_ns;                  /* mean of a request without causes */
    size_t keys, keys_first; /* causes found that a key goes with; those where it is the first
                                explanation of the group that the place was found in, by the
                                evidence of the last cycle */
    double decide_median_ns, decide_most_ns; /* of a decision; NaN without a clock */
};

/* Run it. Returns PYTHIA_OK with *out filled, PYTHIA_ENOMEM, PYTHIA_ESTOPPED, or what making the
 * workflow returned, with the reason in `e`. Thread-safe: a trial shares nothing with another.
 * O(cycles * requests * nodes) and what the search costs. */
int pythia_trial_run(const struct pythia_trial *trial, struct pythia_trial_outcome *out,
                     struct pythia_error *e);

#endif
