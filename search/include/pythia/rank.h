#ifndef PYTHIA_RANK_H
#define PYTHIA_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/row.h"
#include "pythia/shares.h"

/* The meaning of "varies most". The first is the default: the only one whose shares add up to 1. */
enum pythia_measure {
    PYTHIA_MEASURE_SHARE,    /* share of the variance of the duration */
    PYTHIA_MEASURE_VARIANCE, /* variance, whether others make up for it or not */
    PYTHIA_MEASURE_COV,      /* coefficient of variation */
    PYTHIA_MEASURE_MODES,    /* variance, of what has several modes; the rest after it */
    PYTHIA_MEASURE_TAIL,     /* part of the difference between slow requests and the usual ones */
    PYTHIA_MEASURE_SLOW,     /* mean */
};

/* One edge of a set of requests. */
struct pythia_ranked_edge {
    uint32_t edge;   /* number in the tree */
    size_t requests; /* that passed it */
    bool few; /* only a handful of the rows (pythia_rests_on_few): it comes after all others */
    double repeats; /* mean visits in a request, over all requests */
    struct pythia_share
        share; /* of the duration; mean and sd are over all requests, those without it as 0 */
    double tail_share; /* see pythia_tail_shares, of the slowest tenth against the faster half */
    double
        mode_share; /* of the difference between the slowest mode and the rest; NaN without modes */
    double modes_p; /* that its time has one mode (tail_dip.h); NaN: not asked */
    double score;   /* by the measure asked for; NaN comes last */
};

/* Time below a node of the calling context tree: edges in it and in all nodes below it. */
struct pythia_ranked_context {
    uint32_t node;
    double mean_ns;            /* in a request, over all */
    struct pythia_slope share; /* of the duration, of clipped times: the sum of its edges' shares */
    bool few; /* each of its edges rests on a handful of requests (struct pythia_ranked_edge) */
};

/* Memory that rankings one after the other share, so that it is neither asked for nor cleared for
 * each of them. {0} is empty. */
struct pythia_rank_memory {
    uint32_t *indexes; /* all 0 between rankings */
    uint32_t *places;
    double *times_ns, *tile;
    size_t index_capacity, place_capacity, time_capacity, tile_capacity;
};
void pythia_rank_memory_free(struct pythia_rank_memory *m);

struct pythia_rank_options {
    enum pythia_measure measure;
    double level;         /* of the intervals */
    double alpha;         /* for MODES: what counts as several */
    uint64_t seed;        /* for the jitter of quantised clocks */
    const size_t *labels; /* [rows]: the mode of each; NULL: there is one */
    size_t modes;
    struct pythia_rank_memory *memory; /* the times of the ranking are there, until the next one
                                          that has it; NULL: they are its own */
    bool without_modes; /* edges are not asked whether they have several: it takes half of the time
                         */
    bool brief; /* only edges, their shares and their times: what else costs is left out. The rest
                   of an edge is NaN, nothing is localised, and there are no contexts */
};

/* The times of a set of similar requests, and the places of their variance. */
struct pythia_ranking {
    size_t rows; /* used: all, or so many that the matrix stays within 8 MiB, the first by hash */
    struct pythia_ranked_edge *edges; /* owned; best first */
    size_t edge_count;
    /* Part of the variance of the duration that is left when each edge is clipped, as shares are
     * taken; NaN for a constant duration, and in brief. */
    double kept;
    bool localised; /* the edge with the largest share stands out from all others, beyond chance
                       (gate.h), does not rest on a handful of rows, and there are shares */
    struct pythia_ranked_context
        *contexts; /* owned; by node, each with all its ancestors but the root */
    size_t context_count;
    double *times_ns; /* times_ns[e * rows + i]: of edges[e] in row i; owned, but for those in the
                         memory of the options */
    bool borrows;     /* they are there */
};

/* Rank the edges of `count` >= 1 rows. Returns PYTHIA_OK with *out owned by the caller, or
 * PYTHIA_ENOMEM. O(rows * edges * depth). */
int pythia_rank(const struct pythia_row *const *rows, size_t count, const struct pythia_cct *cct,
                const struct pythia_rank_options *options, struct pythia_ranking *out);
/* Do its shares say where the variance of the duration is? Not if clipping removes most of it, the
 * more so where many paths differ and each is taken by a few requests: what is left is then mostly
 * that of the few edges that it spared, and shares are of that. True if it is not known (brief). */
#define PYTHIA_RANKING_KEPT_MIN .5
bool pythia_ranking_has_shares(const struct pythia_ranking *r);

/* Free all arrays of a ranking. */
void pythia_ranking_free(struct pythia_ranking *r);

/* The context that a node is, in r->contexts; NULL if it is not in there. O(log contexts). */
const struct pythia_ranked_context *pythia_ranking_context(const struct pythia_ranking *r,
                                                           uint32_t node);

#endif
