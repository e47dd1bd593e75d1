#ifndef PYTHIA_COMPARE_H
#define PYTHIA_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/side.h"
#include "pythia/trace.h"
#include "pythia/two_samples.h"

/* The changes between two sets of requests, before and after.
 *
 * Requests are matched by their type, edges by their calling context and events. Times on the edges
 * of a request add up to its duration, so the changes of their means add up to the change of the
 * mean duration, whatever paths were taken; and the covariances of edges with the duration add up
 * to its variance on each side, so their changes add up to the change of the variance. An edge that
 * a request does not pass counts as 0 ns.
 *
 * What is tested, and what edges are ranked by, is of clipped times (shares.h), the same part of
 * both sides: a single spike is no change. Every p takes part in one correction (Benjamini and
 * Hochberg) over the whole comparison. Counts, errors and means of requests are of all of them;
 * what needs whole requests (edges) is of the samples of both sides. Undefined is NaN. */

/* An effect on the duration of a type's requests is at least this part of their mean before; less
 * is no reason to look anywhere, however certain it is. By tests/bench/compare_nezha: for 12 of the
 * 14 faults that add latency to Online Boutique, the first edge has surely changed, by 1.9 % of the
 * mean or more (lower bound); where a fault adds none, the first edge that has surely changed is
 * drift of .06 to .7 %. */
#define PYTHIA_COMPARE_EFFECT_MIN .01

struct pythia_compare_options {
    double alpha; /* rate of false changes that is accepted; intervals have the level 1 - alpha */
    size_t min_requests; /* of a type on each side, or nothing of it is tested but its number */
};

/* A figure on both sides, and its change as it came. */
struct pythia_change {
    double before, after, change;
};

/* The significance of a change: of clipped values. */
struct pythia_certain {
    struct pythia_mean_change clipped; /* p is NaN where there were too few to test */
    double q;
};

/* A test of counts. */
struct pythia_count_change {
    uint64_t before, after;
    double p, q; /* NaN: too few to test */
};

/* One edge in the requests of one type. Times are ns in a request, over all sampled requests. */
struct pythia_compared_edge {
    uint32_t edge;    /* in the comparison's tree */
    uint32_t service; /* that its time counts for: number of a string, 0 for none */
    bool waits;       /* for another service: time between a caller and its callee */
    bool common;      /* that wait grew for most callees alike, so it counts for the caller */
    uint64_t requests_before, requests_after; /* that passed it, of the samples */
    struct pythia_change visits;              /* in a request */
    struct pythia_change mean;
    double longer, often; /* parts of the change: visits last longer, there are more of them */
    double clipped_before, clipped_after; /* means of clipped times */
    struct pythia_certain mean_test;
    bool outlier_driven;           /* clipping changes more than half of the change */
    struct pythia_change variance; /* covariance with the duration, in ns^2 */
    struct pythia_certain variance_test;
    double score; /* the lower bound of the clipped change, in ns in a
                     request of any type */
    bool slows;   /* the edge makes requests slower: q of the mean is at most alpha, the
                     lower bound of the clipped change is at least the type's effect_min,
                     and the requests did not get faster by more than that */
};

/* A structure of the critical path. */
struct pythia_compared_path {
    uint64_t name; /* hash of strings */
    struct pythia_count_change count;
    struct pythia_change mean; /* of the durations of its requests; NaN where it has none */
    uint32_t *passes, *lacks;  /* trace points that most of its requests pass, or do not, unlike
                                  most of the commonest path of before; in order of id */
    size_t pass_count, lack_count;
    struct pythia_trace_id example;
    bool has_example; /* some request of it was sampled */
};

/* A trace point in the requests of one type, on the critical path or off it. */
struct pythia_compared_point {
    uint32_t tracepoint;
    struct pythia_count_change requests; /* that pass it */
    struct pythia_change visits;         /* in a request */
    double visits_p, visits_q;
    struct pythia_count_change failed; /* requests in which it failed, of those that hit it */
};

enum pythia_compared_status {
    PYTHIA_COMPARED_SAME,
    PYTHIA_COMPARED_CHANGED, /* something of it has q <= alpha */
    PYTHIA_COMPARED_NEW,     /* no such request before */
    PYTHIA_COMPARED_LOST,
    PYTHIA_COMPARED_TOO_FEW, /* on one side */
};
/* "same", "changed", "new", "lost", "too_few" */
const char *pythia_compared_status_name(enum pythia_compared_status status);

struct pythia_compared_type {
    uint32_t name;
    enum pythia_compared_status status;
    const struct pythia_type *before, *after; /* NULL: none */
    struct pythia_count_change count;         /* its part of all requests */
    uint64_t requests[2]; /* of before and after: so many of equal weight (side.h), which its paths
                             and trace points are parts of; those of `count` if none are sampled */
    struct pythia_change rate;           /* requests a second of the capture */
    struct pythia_count_change failed;   /* requests with a span that failed */
    struct pythia_change mean, variance; /* of all requests */
    struct pythia_change sample_mean,
        sample_variance; /* of the sampled ones: the sums of the edges */
    struct pythia_certain mean_test, variance_test;
    size_t sampled_before, sampled_after;
    double effect_min;  /* PYTHIA_COMPARE_EFFECT_MIN of the clipped mean before, ns; or NaN */
    double weight;      /* its part of all requests, the mean of both sides */
    double within, mix; /* parts of the change of the mean of all requests: it takes longer, there
                           are more of it; ns */
    struct pythia_compared_edge *edges; /* ranked: edges that slow requests, then others that
                                         * significantly take longer, then the rest; by score,
                                         * where it is the same by the change of the mean, the
                                         * largest first */
    size_t edge_count;
    bool paths_compared;                /* or there were too many of them on one side */
    uint32_t level;                     /* of detail at which paths were told apart */
    struct pythia_compared_path *paths; /* by p */
    size_t path_count;
    struct pythia_compared_point *points; /* changed ones first, by p */
    size_t point_count;
};

/* The places of changes. */
struct pythia_compared_service {
    uint32_t service;      /* number of a string; 0: not known */
    double score;          /* of its best edge */
    double change;         /* sum over its edges, ns in a request of any type */
    size_t type, edge;     /* the best edge: types[type].edges[edge] */
    size_t edges, changed; /* how many count for it; how many of these have q <= alpha */
};

struct pythia_comparison {
    double alpha;
    size_t min_requests;
    struct pythia_cct *cct; /* owned: the edges of both sides */
    struct pythia_compared_type
        *types; /* by the sizes of their parts in the change, largest first */
    size_t type_count;
    struct pythia_compared_service *services; /* ranked by their best edges */
    size_t service_count;
    struct pythia_change mean; /* of all requests of all types: the sum of within and mix */
    uint64_t covered_before_ns, covered_after_ns;
    size_t compared; /* types with enough requests on both sides */
    size_t tests;    /* that were made */
    bool changed;    /* some q <= alpha */
};

/* Compare two finished sides that share a vocabulary. On success *out is owned by the caller and
 * borrows from both. PYTHIA_OK or PYTHIA_ENOMEM. O(edges * rows) for each type. */
int pythia_compare(const struct pythia_side *before, const struct pythia_side *after,
                   const struct pythia_compare_options *options, struct pythia_comparison **out);
void pythia_comparison_destroy(struct pythia_comparison *c); /* c may be NULL */

#endif
