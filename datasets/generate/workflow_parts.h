/* Shared by the files of a workflow. */
#ifndef PYTHIA_WORKFLOW_PARTS_H
#define PYTHIA_WORKFLOW_PARTS_H

#include "pythia/buf.h"
#include "pythia/random.h"
#include "pythia/workflow.h"

/* The kind of a node; only the shape OPENSTACK distinguishes them. */
enum pythia__role { PYTHIA__FUNCTION, PYTHIA__ENTRY, PYTHIA__HOP, PYTHIA__DATABASE };

enum {
    PYTHIA__PARALLEL = 1, /* its children begin together */
    PYTHIA__ASYNC = 2,    /* begins when its parent ends */
    PYTHIA__UNKNOWN = 4,
    PYTHIA__CRITICAL = 8,
    PYTHIA__LOOP = 16, /* `repeat` times, one more or one less */
    PYTHIA__RETRY = 32,
};

#define PYTHIA__RETRY_CHANCE 0.05
#define PYTHIA__RETRIES_MAX  2

/* A node, in preorder; children that are async come after those that are not. */
struct pythia__node {
    uint32_t parent, behind;
    uint32_t tracepoint;
    uint32_t
        gaps; /* its own time is spent in so many equal pieces: before each child and at the end */
    double own_ns; /* of one call */
    uint16_t service;
    uint8_t role, flags, repeat; /* repeat: calls each time it is called, at the least 1 */
};

/* A tree while it grows: nodes in the order in which they were made, parents first. */
struct pythia__sapling {
    uint32_t parent;
    uint32_t name; /* number within the role and service; the same number is the same trace point */
    uint32_t target;    /* of a hop: the service it calls */
    uint32_t functions; /* children of this role so far */
    uint16_t service;
    uint8_t role, repeat;
    bool async;
};

/* Time that a cause adds to a node in the current request, and the key that its span then has. */
struct pythia__extra {
    uint32_t node;
    uint32_t key; /* number of a string; 0: none */
    double added_ns;
    int64_t value;
    bool spread;   /* over the gaps of the node; else the time is added where the node begins */
    uint32_t host; /* that serves the call; PYTHIA_NONE: the one that serves its service */
};

/* At most one for each place of each cause, and one that stands at the end. */
#define PYTHIA__PLACES 3
#define PYTHIA__EXTRAS (PYTHIA_WORKFLOW_CAUSES * PYTHIA__PLACES + 1)

/* Where the causes are: one set for each epoch of a moving drift. */
struct pythia__places {
    uint32_t nodes[PYTHIA_WORKFLOW_CAUSES][PYTHIA__PLACES];
    uint32_t counts[PYTHIA_WORKFLOW_CAUSES];
};

/* A span that is being called. */
struct pythia__frame {
    uint64_t id;    /* 0: not seen */
    uint64_t above; /* id of the nearest span above that is seen; 0: none */
    uint64_t start_ns, cursor_ns;
    uint64_t fork_ns, join_ns; /* of parallel children: their begin, and their latest end */
    uint64_t end_ns;           /* once it is known; 0 before */
    uint64_t gap_ns;
    uint32_t node, next;     /* the child that is called next; behind the node: none is left */
    uint32_t again, failing; /* how often the child still is called; of these, before it succeeds */
    const struct pythia__extra *extra;
    bool error;
};

#define PYTHIA__NOISE_STEPS 1024

struct pythia_workflow {
    struct pythia_vocabulary *vocabulary;
    struct pythia_workflow_options options;
    struct pythia_workflow_facts facts;
    struct pythia__node *nodes;
    double *calls;      /* by node: mean of a request */
    uint32_t *critical; /* nodes on which the duration depends, without the root */
    uint32_t critical_count;
    uint32_t *resources;                   /* [services * hosts] */
    double noise[PYTHIA__NOISE_STEPS + 1]; /* quantiles of a call's factor */
    double call_ns;                        /* mean of a call */
    uint32_t *distractors;                 /* numbers of strings */
    uint32_t busy_key, idle_key;           /* likewise, where spans are timed */
    struct pythia__places places;          /* of a drift that does not move */
    uint32_t cause_keys[PYTHIA_WORKFLOW_CAUSES], other_keys[PYTHIA_WORKFLOW_CAUSES], host_key;
    uint32_t slow_plan;   /* number of a string */
    uint32_t *host_names; /* [services * hosts]: numbers of strings */
    /* of the current request */
    uint32_t *serving; /* by service: which of its hosts */
    double *slowed;    /* by service: factor of its calls' own time */
    uint32_t fails_at; /* the node after which nothing more is called; PYTHIA_NONE */
    uint32_t left_out[PYTHIA_WORKFLOW_CAUSES]; /* nodes that are not called */
    uint32_t left_out_count;
    struct pythia__frame *frames;
    struct pythia__extra extras[PYTHIA__EXTRAS]; /* in order of node */
    struct pythia_buf root_attributes, attributes;
};

/* Grow a tree of options.nodes nodes of that shape. */
void pythia__grow_shape(const struct pythia_workflow_options *o, struct pythia_random *random,
                        struct pythia__sapling *saplings);

/* The number of services that the options mean. */
uint32_t pythia__services(const struct pythia_workflow_options *o);

/* Make the trace points and resources. PYTHIA_OK or PYTHIA_ENOMEM. `place_of`: of each sapling,
 * its node. */
int pythia__name_nodes(struct pythia_workflow *w, const struct pythia__sapling *saplings,
                       const uint32_t *place_of);

/* Check the causes and give them their defaults; then find their places. */
int pythia__check_causes(struct pythia_workflow_options *o, struct pythia_error *e);
int pythia__plant(struct pythia_workflow *w, struct pythia_error *e);

/* Draw what causes do in a request: fills w->extras, and the keys of its root. */
void pythia__draw(struct pythia_workflow *w, uint64_t number, struct pythia_random *random);

#endif
