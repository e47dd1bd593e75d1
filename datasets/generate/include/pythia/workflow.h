#ifndef PYTHIA_WORKFLOW_H
#define PYTHIA_WORKFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

/* A seeded model of one request type whose cause of variance is known: a calling context tree,
 * whose nodes are calls in their context, with a time for each node, and causes planted on some of
 * them. It produces request 0, 1, 2, … as spans, each by itself and the same on every call, however
 * many trace points are open. Sleeps and locks are planted as by Toslali and others, "Automating
 * Instrumentation Choices for Performance Problems in Distributed Applications with VAIF", SoCC
 * 2021; the other causes are what a search that only knows these two would miss. One thread at a
 * time: a request is made in memory that the workflow keeps. */
struct pythia_workflow;

enum pythia_workflow_shape {
    PYTHIA_WORKFLOW_BUSHY,     /* a node calls up to 8 others; some e ln(nodes) deep */
    PYTHIA_WORKFLOW_DEEP,      /* chains with short branches; a quarter of the nodes deep */
    PYTHIA_WORKFLOW_OPENSTACK, /* services that call each other, functions, database leaves that
                                  repeat; a trace point is in several contexts */
};

/* The causes of variance. Unless stated otherwise, `size` is added where the node begins, on
 * its first call in a request: `strength` times the mean duration of a request. */
enum pythia_planted_kind {
    /* size, in the share `parameter` of requests (.3) */
    PYTHIA_PLANTED_SLEEP,
    /* exponential of mean size, in that share (1) */
    PYTHIA_PLANTED_EXPONENTIAL,
    /* 0 to 2 size, in that share (1) */
    PYTHIA_PLANTED_UNIFORM,
    /* a lock of utilisation `parameter` (.6): the wait, of mean size, goes with the key
     * queue_length of the node's spans; 70 % of it is at the node, 20 % and 10 % at two others */
    PYTHIA_PLANTED_CONTENTION,
    /* size, on one of the hosts of the node's service */
    PYTHIA_PLANTED_HOST,
    /* what the node takes longer, 0 to 2 size, another takes less, or the part `parameter` of it
     * (1): the total stays, or nearly; on average both take size longer */
    PYTHIA_PLANTED_COMPENSATING,
    /* 0 to 2 size, growing with the key item_count */
    PYTHIA_PLANTED_NUMERIC,
    /* size, for one of the 5 values of the key plan, which the share `parameter` of requests has
     * (.2) */
    PYTHIA_PLANTED_CATEGORICAL,
    /* size, at the node for one value of the key cache (in the share `parameter` of requests, .5),
     * at another node for the other: the total stays */
    PYTHIA_PLANTED_SHIFT,
    /* The share `parameter` of requests (.5) fails at the node and calls nothing after it. The
     * others call the node after it, for `size`, a tenth more or less: by that tenth with the key
     * free_units of its spans, which failed requests do not have */
    PYTHIA_PLANTED_FAILING,
    /* 0 to 2 size, in that share of requests (1), spread evenly over the node's own time: before
     * each of its children and after the last one. A random node has 4 such gaps or more, if there
     * is one */
    PYTHIA_PLANTED_OWN_TIME,
    /* 0 to 2 size, growing with the key arrived_count and shrinking with the key served_count, by
     * the same for each unit */
    PYTHIA_PLANTED_DIFFERENCE,
    /* Three of the hosts serve a request, at the node and at two others, each on its own; size,
     * where one of all hosts does: what the hosts of a request have in common tells nothing, that
     * this one is among them does */
    PYTHIA_PLANTED_REPLICA,
    /* Only the share `parameter` of requests (.01), at equal distances, makes the call at the
     * node, and what it calls: that takes .5 to 1.5 size. No cause after it in the list may be
     * below it */
    PYTHIA_PLANTED_RARE,
    /* size, for one of the values 0 to 9 of the key shard, which requests have equally often: 4, in
     * the middle. With strength 0 the key means nothing */
    PYTHIA_PLANTED_MIDDLE,
    /* On one of the hosts of the node's service, all calls of the service take longer by the part
     * `strength` of their own time: no place has more of the variance than of the time */
    PYTHIA_PLANTED_SLOW,
    /* A wait as the key pause_ms of the node's spans sets it: one of four values, of which each is
     * twice the one before, and size their mean */
    PYTHIA_PLANTED_SETTING,
    /* size, for four of the 40 values of the key tenant, which requests have equally often: two or
     * three requests of a hundred each. With strength 0 the key means nothing */
    PYTHIA_PLANTED_TENANT,
    PYTHIA_PLANTED_KINDS
};

/* "sleep", …; NULL for what is no kind. */
const char *pythia_planted_name(enum pythia_planted_kind kind);

enum pythia_workflow_drift {
    PYTHIA_DRIFT_NONE,
    PYTHIA_DRIFT_GROW, /* causes grow from nothing to their size over `drift_requests` */
    PYTHIA_DRIFT_MOVE, /* causes go to other nodes every `drift_requests` */
};

struct pythia_workflow_cause {
    enum pythia_planted_kind kind;
    double parameter; /* 0: the one in brackets above */
    double strength;  /* times the mean duration, up to 100 */
    uint32_t node;    /* where; 0: on a random one, on which the duration depends */
};
#define PYTHIA_WORKFLOW_CAUSES 8
#define PYTHIA_WORKFLOW_NODES  UINT32_C(16777216)
#define PYTHIA_WORKFLOW_HOSTS  1024 /* of one service, and services */

/* Shares are from 0 to 1. What a share is of is chosen at random, and at least one if the share is
 * not 0 and there is one. */
struct pythia_workflow_options {
    enum pythia_workflow_shape shape;
    uint32_t nodes;    /* from 1 to PYTHIA_WORKFLOW_NODES */
    uint32_t services; /* 0: 1, or 6 for the shape OPENSTACK */
    uint32_t hosts;    /* of each service; a request is served by one of them, in each service */
    uint64_t seed;
    double duration_ns; /* mean of a request, without causes: 1e3 to 1e13 */
    double interval_ns; /* between their begins, up to 1e13; 0: duration_ns */
    double spread;      /* standard deviation of the logarithm of the time of nodes: 0 to 3 */
    double noise;       /* of each call: standard deviation over mean, 0 to .5 */
    double load;        /* the same, of a factor that all calls of a request have: 0 to 1 */
    double forks;       /* share of the nodes with several children that call them all at once */
    double async;       /* share of nodes (OPENSTACK: entry points) with at most a quarter of all
                           below them that begin when their parent ends, and outlive it */
    double retries;    /* share of small subtrees of which a call fails, at most twice running, with
                           probability .05, and is made again */
    double loops;      /* share of small subtrees that run 1 to 5 times */
    double unknown;    /* share of nodes that a search space does not know: whole subtrees */
    double spikes;     /* probability of each call to take very much longer: .002 to .004, say */
    double spike_size; /* least size of a spike, in mean times of a call, up to 1000: they are
                          Pareto(1.5) distributed, up to 100 times the mean duration */
    uint64_t tick_ns;  /* clocks count in steps of this; 0: of 1 ns */
    uint32_t distractors; /* keys of the root that mean nothing: up to 1000 */
    bool timed;           /* each span has the keys busy_ns, a tenth of its duration or less, and
                             idle_ns, the rest but for up to 1 us: they measure, and mean nothing */
    enum pythia_workflow_drift drift;
    uint64_t drift_requests; /* at least 1 with a drift */
    size_t cause_count;      /* 0: nothing makes requests differ but noise */
    struct pythia_workflow_cause causes[PYTHIA_WORKFLOW_CAUSES];
};

/* Sensible values: 500 nodes of a bushy tree, 1 s, 4 hosts, spread 1, noise .05, 8 distractors, and
 * nothing else; seed 1. */
void pythia_workflow_options_default(struct pythia_workflow_options *o);

/* Make one. `vocabulary` is borrowed; its trace points and resources are made now. Returns
 * PYTHIA_OK with *out owned, PYTHIA_EUSAGE for a value out of its range or causes that have no
 * place, with the sentence in `e`, or PYTHIA_ENOMEM. O(nodes), no recursion; it keeps some 50 bytes
 * a node, 100 more for each node of the longest chain, and their names. */
int pythia_workflow_create(struct pythia_vocabulary *vocabulary,
                           const struct pythia_workflow_options *options,
                           struct pythia_workflow **out, struct pythia_error *e);
void pythia_workflow_destroy(struct pythia_workflow *w); /* w may be NULL */

/* ---- requests ---- */

/* The spans of a request that are written. */
struct pythia_workflow_view {
    const bool *open; /* by number of a trace point; NULL: all are open */
    bool known_only;  /* leave out nodes that a search space does not know: for making one */
};

/* Give each span of request `number` that is seen (`view` NULL: all) to `emit`; a span comes after
 * those below it. What hangs on a span that is not seen hangs on the nearest one above that is, and
 * is a root if there is none. Ids, times and key-values of a span are the same whatever is open.
 * The span is borrowed for the call. Returns PYTHIA_OK, PYTHIA_ENOMEM, or what `emit` returned if
 * that is not 0: then no more come. O(calls of the request), seen or not, some 10 to 20 ns each;
 * nothing is allocated for a span. */
int pythia_workflow_request(struct pythia_workflow *w, uint64_t number,
                            const struct pythia_workflow_view *view,
                            int (*emit)(void *context, const struct pythia_trace_id *trace,
                                        const struct pythia_span *span),
                            void *context);

/* The id of a request's trace. */
struct pythia_trace_id pythia_workflow_trace(const struct pythia_workflow *w, uint64_t number);

/* ---- what is true of it ---- */

struct pythia_workflow_facts {
    uint32_t nodes, known_nodes, tracepoints, services;
    uint32_t forks, async, retries, loops; /* nodes */
    uint32_t depth;                        /* nodes of the longest chain of calls */
    double duration_ns; /* of a request without causes and noise, until all its work has ended */
    double calls;       /* mean number of a request's spans */
};
struct pythia_workflow_facts pythia_workflow_facts(const struct pythia_workflow *w);

/* Of a node: 0 is the root, each comes before those below it, and the nodes of a subtree follow
 * each other. */
uint32_t pythia_workflow_parent(const struct pythia_workflow *w, uint32_t node); /* PYTHIA_NONE */
uint32_t pythia_workflow_tracepoint(const struct pythia_workflow *w, uint32_t node);
bool pythia_workflow_known(const struct pythia_workflow *w, uint32_t node);
/* How often it is called in a request, on average, without causes. */
double pythia_workflow_calls(const struct pythia_workflow *w, uint32_t node);

/* A cause as it is planted. */
struct pythia_planted {
    enum pythia_planted_kind kind;
    double parameter, strength, size_ns; /* size_ns: as it is in that request (drift) */
    uint32_t node;                       /* where its time is */
    uint32_t others[2], other_count;     /* further nodes with some of it */
    bool known;                          /* a search space knows `node` */
    uint32_t key;       /* number of the string that names the key that goes with it; 0: none */
    uint32_t other_key; /* of DIFFERENCE: of the one that it shrinks with; else 0 */
    uint32_t key_node;  /* on whose spans it is; PYTHIA_NONE: on the resource */
    uint32_t key_value; /* of HOST, REPLICA and CATEGORICAL: number of the slow value's string; else
                           0 */
};

/* Cause `which`, below options.cause_count, in request `number`; they stay where they are unless
 * they drift. O(causes). */
void pythia_workflow_planted(const struct pythia_workflow *w, size_t which, uint64_t number,
                             struct pythia_planted *out);

#endif
