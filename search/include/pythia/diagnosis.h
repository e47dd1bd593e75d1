#ifndef PYTHIA_DIAGNOSIS_H
#define PYTHIA_DIAGNOSIS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/each.h"
#include "pythia/explain.h"
#include "pythia/groups.h"
#include "pythia/modes.h"
#include "pythia/own_time.h"
#include "pythia/rank.h"
#include "pythia/split_proposal.h"
#include "pythia/tail_dip.h"

/* A diagnosis: which requests vary, where, and which keys correlate with it. A pure function of
 * the groups: no clock, no file. */

struct pythia_diagnosis_options {
    enum pythia_measure measure; /* groups and edges are ranked by it */
    double alpha;                /* of every test; 0: .05 */
    uint64_t look; /* 0: the evidence is looked at once; t: for the t-th time, and alpha is spent
                      over all */
    size_t min_requests; /* of a group, to be diagnosed; 0: 30; below 4 it is 4 */
    double min_cov;      /* below, a group does not vary; negative: none */
    double
        slow_quantile; /* of the groups' means: above, a group that does not vary is slow; 0: .95 */
    uint64_t seed;
    const uint32_t *only; /* NULL, or names of the types that are looked at, in rising order: the
                             others have neither levels nor groups, and are counted in shares */
    size_t only_count;
    bool without_modes;      /* neither groups nor edges are asked whether they have several */
    size_t values_max;       /* of a key that explanations name, see explain.h; 0: 10 */
    const atomic_bool *stop; /* NULL, or set by another thread: end after the current group, with
                                PYTHIA_ESTOPPED */
    const struct pythia_each *each; /* looks at groups, and at types; NULL: one after the other */
};

enum pythia_group_status {
    PYTHIA_GROUP_DIAGNOSED, /* it varies, and an edge, a subtree or a key stands out */
    PYTHIA_GROUP_QUIET,     /* nothing to say */
    PYTHIA_GROUP_SLOW,      /* it does not vary; it is always slow */
    PYTHIA_GROUP_TOO_FEW,   /* requests, to say anything */
};

/* The kind of a cause. */
enum pythia_cause_kind {
    PYTHIA_CAUSE_NONE,
    PYTHIA_CAUSE_EDGE,  /* one edge, or one subtree, has most of the variance */
    PYTHIA_CAUSE_RETRY, /* something that most requests do once is done again */
    PYTHIA_CAUSE_LOOP,  /* something is done more or less often */
    PYTHIA_CAUSE_PATH,  /* something is done or not */
    PYTHIA_CAUSE_KEY,   /* no edge stands out, a key does */
};

struct pythia_group {
    uint64_t id; /* of type, level and structure: the same everywhere */
    size_t type; /* index of its type */
    uint32_t level;
    struct pythia_lineage lineage; /* what it is of the skeleton's groups */
    uint64_t count; /* of all requests, including those that the seen ones stand for */
    uint64_t seen;  /* the same as `count` unless the stream is a sample */
    size_t sampled; /* of them in the sample, which what follows `cov` is of */
    double mean_ns, sd_ns, cov, p50_ns, p90_ns, p99_ns, p99_9_ns;
    double variance_share; /* of all requests of the input: within this group */
    double score;          /* by the measure */
    enum pythia_group_status status;
    enum pythia_cause_kind cause;
    struct pythia_tail_dip
        dip; /* p is NaN if it was not tested; corrected for the number of groups in modes_q */
    double modes_q;
    struct pythia_modes modes;          /* count is 1 unless modes_q says that there are several */
    const struct pythia_sketch *sketch; /* of the durations of all; borrowed */
    const struct pythia_row **rows;     /* owned array of borrowed rows */
    const struct pythia_shape *shape;   /* of the most common path; borrowed */
    struct pythia_ranking ranking;      /* empty if there are too few */
    uint32_t inclusive; /* the deepest node of which at least half of the variance is, beyond
                           chance; PYTHIA_CCT_ROOT: none */
    /* The own time of a trace point that is named in place of a single edge, because its share is
     * larger than that of each edge, and it stands out or has surely half of the variance. Its
     * trace point is PYTHIA_NONE if there is none. */
    struct pythia_own_time own;
    struct pythia_explanations explanations;
    struct pythia_split_proposals splits;
};

/* The share of a type's variance between structures, at a level. */
struct pythia_level {
    size_t groups;        /* that are large enough */
    uint64_t requests;    /* in them */
    double between_share; /* of the type's variance */
};

struct pythia_type_result {
    const struct pythia_type *type; /* borrowed */
    double mean_ns, sd_ns, client_mean_ns;
    double variance_share; /* of all requests of the input, the difference of its mean from the
                              others' left out */
    double between_share;  /* at the level that was chosen: which path was taken */
    uint32_t level;        /* chosen */
    struct pythia_level levels[PYTHIA_SHAPE_LEVELS];
    uint32_t level_count;
    struct pythia_explanations
        explanations; /* of the whole type, if paths make a difference; else empty */
};

struct pythia_diagnosis {
    struct pythia_type_result *types; /* owned; by variance_share, largest first */
    size_t type_count;
    size_t not_asked;            /* of them: types that were not looked at, see `only` */
    struct pythia_group *groups; /* owned; by score, best first */
    size_t group_count;
    double mean_ns, sd_ns;
    uint64_t requests, seen;    /* as `count` and `seen` of a group */
    double between_types_share; /* of the variance of all requests */
    double alpha;               /* that was used */
};

/* Diagnose. `g` is finished and borrowed by what comes out. Returns PYTHIA_OK with *out owned, or
 * PYTHIA_ENOMEM. */
int pythia_diagnose(const struct pythia_groups *g, const struct pythia_diagnosis_options *options,
                    struct pythia_diagnosis **out);
void pythia_diagnosis_destroy(struct pythia_diagnosis *d); /* d may be NULL */

/* Static strings, as in reports: "diagnosed", "retry", … */
const char *pythia_group_status_name(enum pythia_group_status status);
const char *pythia_cause_name(enum pythia_cause_kind kind);

#endif
