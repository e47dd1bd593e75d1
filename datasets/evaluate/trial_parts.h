/* Shared by the files of a trial: what it has made, and what the search found. */
#ifndef PYTHIA_TRIAL_PARTS_H
#define PYTHIA_TRIAL_PARTS_H

#include "pythia/arena.h"
#include "pythia/counts.h"
#include "pythia/explain.h"
#include "pythia/history.h"
#include "pythia/place.h"
#include "pythia/search.h"
#include "pythia/trace.h"
#include "pythia/trial.h"

/* A workflow, its search space, and what turns its requests into traces. */
struct pythia__world {
    struct pythia_vocabulary *vocabulary;
    struct pythia_workflow *workflow;
    struct pythia_workflow *scattered; /* its causes move with each request; NULL: not needed */
    struct pythia_workflow_options options;
    struct pythia_space *space;
    struct pythia_trace_builder *builder;
    struct pythia_request_types *types;
    struct pythia_arena arena; /* attributes of the current request */
    struct pythia_counts counts;
    uint32_t points; /* trace points */
    uint64_t *hits;  /* by trace point: spans in a cycle */
    double *calls;   /* by trace point: in a request, on average */
};

/* A place that the search named as a cause. */
struct pythia__named {
    struct pythia_place place;
    double share;      /* of the variance, when it was named */
    size_t cause;      /* planted there, in that cycle; SIZE_MAX: none */
    size_t also_cause; /* one more, where two causes are at one place; SIZE_MAX */
};

/* One search in it. */
struct pythia__hunt {
    struct pythia__world *world;
    const struct pythia_trial *trial;
    struct pythia_search *search;
    struct pythia_groups *groups; /* of the last cycle */
    uint64_t number;              /* of the next request */
    bool *open, *ever;            /* by trace point: in this cycle; opened in some cycle */
    struct pythia__named *named;  /* in the order in which they were named */
    size_t named_count, named_capacity;
    bool spread; /* it ended because a key explains the variance in many places */
    size_t cycles;
    double *decide_ns; /* [cycles] */
    size_t peak;
    double added_peak_ns, added_sum_ns;
    size_t localised; /* the cycle, or 0 */
};

/* Take in the causes that a cycle names. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__hunt_judge(struct pythia__hunt *h, const struct pythia_cycle *cycle);

/* Causes planted and found, places named, and which of them are right. */
void pythia__hunt_count(const struct pythia__hunt *h, struct pythia_trial_outcome *out);

/* Does an explanation name that attribute? Behind "@" in its name is where the attribute stands, if
 * that is not the only place. */
bool pythia__trial_is_key(const struct pythia_explanation *x, struct pythia_text key);

/* The causes found that correlate with a key: how many, and where the key is the first explanation.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__hunt_explain(const struct pythia__hunt *h, struct pythia_trial_outcome *out);

/* As above, if everything is open and nothing was searched: of the planted causes, how many the
 * report explains as they are. */
int pythia__capture_explain(const struct pythia__hunt *h, struct pythia_trial_outcome *out);

/* Tell a cycle in lines. */
void pythia__hunt_tell(const struct pythia__hunt *h, const struct pythia_cycle *cycle,
                       struct pythia_buf *to);

#endif
