/* The belief about the place of the cause: for each node of a request type's search space, the
 * probability that the own time of the node is the source of the variance. */
#ifndef PYTHIA_SEARCH_BELIEF_H
#define PYTHIA_SEARCH_BELIEF_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/history.h"
#include "pythia/rank.h"
#include "pythia/space.h"
#include "space/region.h"

#define PYTHIA__BELIEF_REGIONS                                                                     \
    24 /* edges whose regions are searched in a cycle, those that vary most */

/* An edge of what is seen, and how probable it is that it leads, by the last evidence alone. */
struct pythia__belief_region {
    uint32_t edge; /* of the seen tree */
    double share, probability;
};

struct pythia__belief {
    const struct pythia_space_type *type;
    uint32_t nodes;
    double
        *own_ns; /* by node: time on critical paths in it and in nothing below it, all requests */
    double *log_prior, *log_weight;   /* by node, not normalised: before any evidence, and now */
    double *saved;                    /* weights as they were when pythia__belief_save was called */
    double *mass;                     /* by node; adds up to 1 */
    uint32_t *order, *place, *behind; /* nodes, each before those below it; where each stands; and
                                         the place behind all below it */
    bool *nested;                     /* by node: an ancestor has the same trace point */
    /* of the last evidence */
    struct pythia__belief_region regions[PYTHIA__BELIEF_REGIONS];
    uint32_t region_count;
    uint32_t *block; /* by node: the region it is most in; region_count: none */
    double expected; /* how probable the last evidence was by what was believed before it, 0 to 1 */
};

/* The number of draws of each request in each bootstrap: the same for all types with as many
 * requests, in one cycle. {0} is empty. */
struct pythia__draws {
    double *times; /* whole numbers */
    size_t n;
    uint64_t seed;
};
void pythia__draws_free(struct pythia__draws *d);

/* Before any evidence: half of the mass is spread evenly, half goes with the time that the space
 * has seen; a node that was never on a critical path has little. PYTHIA_OK or PYTHIA_ENOMEM.
 * O(nodes + edges). */
int pythia__belief_create(const struct pythia_space_type *type, struct pythia__belief *out);
void pythia__belief_free(struct pythia__belief *b);

/* As above, with the findings of earlier searches (NULL: nothing is known of them). If any point
 * of the type explained something, a part of the mass (PYTHIA__BELIEF_HISTORY) goes with what
 * each explained when it was opened; the rest stays where it was, so that a history that is
 * wrong makes no node less probable than by that factor. */
#define PYTHIA__BELIEF_HISTORY .5
int pythia__belief_create_with(const struct pythia_space_type *type,
                               const struct pythia_history *history, struct pythia__belief *out);

/* Reset it to the state before any evidence. */
void pythia__belief_reset(struct pythia__belief *b);
/* Keep the weights aside, and take them back: evidence since then is as if it had not been. What is
 * known of the last evidence (regions, blocks) is not kept. */
void pythia__belief_save(struct pythia__belief *b);
void pythia__belief_restore(struct pythia__belief *b);

/* Set the weight of each node (log_weight), such as those of a belief that was saved. The weights
 * are finite; nothing is known of the last evidence. */
void pythia__belief_set(struct pythia__belief *b, const double *log_weight);

/* The ranking of edges under some open points, from which the belief learns. `explained`: by
 * edge of the ranking, edges whose cause is known already, and whose time is taken out of the
 * total; NULL: none. Each node is weighed by the probability, over bootstraps of the requests,
 * that an edge that it lies behind leads, which is to have the largest share or one that is not
 * much less: there may be several causes. How far it lies behind an edge is a matter of its time
 * there. `draws` (NULL: none) keeps the draws of the bootstraps for others with the same number
 * of requests and the same seed. PYTHIA_OK or PYTHIA_ENOMEM. O(requests * edges + regions *
 * (nodes + edges of the space)). */
int pythia__belief_update(struct pythia__belief *b, struct pythia__region_map *map,
                          const struct pythia_ranking *r, const bool *explained, uint64_t seed,
                          struct pythia__draws *draws);

#endif
