#ifndef PYTHIA_ASSOCIATION_H
#define PYTHIA_ASSOCIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/column.h"
#include "pythia/split.h"

/* Which key goes with the way the time of like requests is spent? One row a request, one column of
 * Y for the time on each edge, and many keys, each asked on its own:
 *
 *   encode   numbers as ranks, levels as indicators, numbers that also have levels in both ways;
 *            what is constant or an identifier is kept out (column.h); a key that is
 *            `present_only` there is tested among the rows that have it, and explains at most what
 *            lies between these
 *   test     canonical correlation of the key with the ranks of all edges at once: Wilks' lambda
 *            with Rao's F (cca.h), so that a key that moves time from one edge to another is seen
 *            though the total is not changed; where rows are few for so many edges, with the ranks
 *            of the total as well; of two tests of a key the p is that of Simes for both; false
 *            discoveries are held at alpha over the keys (Benjamini and Hochberg)
 *   choose   numbers stand as levels if no cut between them parts the requests nearly as well as
 *            the best set of values: a value in the middle that is slow, or several of them
 *   rank     significant keys by the part of the total's variance that they account for, adjusted
 *            for chance; where that is the same (none, if time only moves between edges), by the
 *            part of the edges' variance; keys that rest on a handful of rows come last
 *   relate   keys that cannot be told apart share a rank; a key that adds nothing once better ones
 *            are taken out is their proxy and comes after them; so is a number that some rows
 *            lack, if all that it says is which rows have it and another key says that as well
 *   confirm  the first few by permutation of the rows and on random halves of them
 *   split    propose two groups of requests
 *
 * What is found is an association, not a cause. */

#define PYTHIA_ASSOCIATION_EDGES_MAX 16
#define PYTHIA_ASSOCIATION_NONE      SIZE_MAX

/* The input. Arrays are borrowed during the call. */
struct pythia_association_input {
    size_t rows, edges, columns; /* requests; edges, 1 to PYTHIA_ASSOCIATION_EDGES_MAX; keys */
    /* Finite, of one unit: row i of edge e is durations[e * rows + i], as in shares.h. */
    const double *durations;
    /* The total of each row, for omega squared and the groups; NULL: the sum of its durations. */
    const double *total;
    /* The share of each edge of the variance of the total, for explained_edges. A negative one
     * counts as 0. NULL, or none above 0: all the same. */
    const double *weights;
    const struct pythia_column *keys;
    const double *time;     /* of each row, finite, any unit; NULL: sequences are not recognised */
    const uint32_t *strata; /* of each row: permutations stay within a stratum; NULL: none */
    /* Rows next to each other in time that are permuted as one, because requests of one moment are
     * alike; 0 or 1: single rows. Needs `time`, and does not go with strata. */
    size_t block;
    double alpha; /* expected part of false ones among the keys called significant */
    uint64_t seed;
    size_t confirmed;    /* keys to confirm at most */
    size_t permutations; /* for each of them; 0: none */
    size_t halves;       /* random halves of the rows; 0: none */
};
#define PYTHIA_ASSOCIATION_DEFAULTS .alpha = 0.05, .confirmed = 5, .permutations = 999, .halves = 50

/* The results for one key. NaN: not tested, or undefined. */
struct pythia_association_result {
    size_t column;                /* its index in the input */
    size_t rank;                  /* from 1; keys of one cluster share it */
    enum pythia_column_skip skip; /* why it was not tested */
    bool categorical;             /* also of numbers, if they stand as levels */
    size_t present;               /* rows with a value */
    size_t support;               /* rows that do not have its most common value; see column.h */
    bool few;                     /* these are only a handful (pythia_rests_on_few) */
    size_t regressors;            /* independent ones that stand for the key */

    /* That it has nothing to do with the edges: by Rao's F, joined with the p of the total alone
     * where regressors and edges exceed a tenth of the rows, or by permutation where there are too
     * few rows for F; by Bartlett's chi squared, as a check; adjusted for the number of keys, and
     * the key is significant if this q is at most alpha. */
    double p, p_bartlett, q;
    bool significant;
    /* Regressors and edges exceed a fifth of the rows: r, effect and loadings come from
     * correlations shrunk towards 0. */
    bool low_confidence;
    double r; /* first canonical correlation with the edges, 0 to 1 */
    /* r squared less what chance gives to as many regressors and edges (Ezekiel), 0 to 1. */
    double effect;
    /* Part of the variance of the total, clipped as shares.h clips, that the key accounts for:
     * the adjusted R squared, 0 to 1; of a number that all rows have that of its ranks, of its
     * clipped value, or of the two groups of its split, whichever is larger. 0 for a total that is
     * constant. */
    double explained;
    double explained_edges; /* weighted mean over the edges of that of their ranks, 0 to 1 */
    double omega_squared;   /* of the ranks of the total, 0 to 1 */
    /* The correlation of each edge with the variate of the edges: edges of one sign grow together,
     * and between opposite signs time is moved. Positive: longer with larger numbers; of levels,
     * and of absence, the loadings add up to more than 0. 0 for a constant edge; NaN past the last
     * edge. */
    double loadings[PYTHIA_ASSOCIATION_EDGES_MAX];

    /* As p, once all other keys that stand on their own are taken out; NaN for a key that shares
     * the cluster of one of them. Of a number that some rows lack it may be that of the rows which
     * have it, ranked by themselves. */
    double p_partial;
    size_t proxy_of; /* the column of the key that it stands in for, or NONE */
    size_t cluster;  /* the column of the first key of its cluster, or NONE if it is alone */
    double p_permutation;
    double stability; /* part of the halves in which its p passes the threshold of the whole */
    bool confirmed;   /* asked, p_permutation <= alpha and stability >= 0.7 */

    /* Two groups of requests, between which the variate of the edges differs most; split.share is
     * of that variate. Then for the total: the part of its variance, clipped as shares.h clips,
     * between the groups, and its means, not clipped, in the groups with the lower and the higher
     * variate. */
    struct pythia_split split;
    double split_share, low_total, high_total;
};

/* The findings about one set of requests after the other. One thread at a time per object. */
struct pythia_association;

/* Make one. On success *out is owned by the caller, on failure untouched. Returns PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_association_create(struct pythia_association **out);
void pythia_association_destroy(struct pythia_association *a); /* a may be NULL */

/* Ask all keys. On success the results are those of this input, and on failure there are none.
 * Everything is determined by the input: the same one gives the same results. Returns PYTHIA_OK,
 * PYTHIA_ENOMEM, or PYTHIA_EINVAL for a size out of range, a duration, total or time that is not
 * finite, or blocks with strata or without time. Cost: columns * rows * (log rows + regressors *
 * edges), and for each confirmed key as much as (permutations + halves) tests.
 *
 * Sources: H. Hotelling 1936, Bjoerck and Golub 1973 (cca.h); Y. Benjamini and Y. Hochberg,
 * "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57(1), 1995;
 * D. K. Stewart and W. A. Love, "A General Canonical Correlation Index", Psychological Bulletin
 * 70(3), 1968 (redundancy); M. Ezekiel, "Methods of Correlation Analysis", 1930; B. R. Rao,
 * "Partial Canonical Correlations", Trabajos de Estadistica 20, 1969; R. J. Simes, "An Improved
 * Bonferroni Procedure for Multiple Tests of Significance", Biometrika 73(3), 1986; N. Meinshausen
 * and P. Buehlmann, "Stability Selection", Journal of the Royal Statistical Society B 72(4), 2010;
 * J. Schaefer and K. Strimmer, "A Shrinkage Approach to Large-Scale Covariance Matrix Estimation",
 * Statistical Applications in Genetics and Molecular Biology 4(1), 2005. */
int pythia_association_run(struct pythia_association *a,
                           const struct pythia_association_input *input);

/* A column of the input in the way that it stands in a result: numbers as levels, if they do. */
struct pythia_column pythia_association_column(const struct pythia_association_input *input,
                                               const struct pythia_association_result *result);

/* The results, one for each column, best first, borrowed until the next run or the end of the
 * object; *count is 0 before the first run. Order: significant keys that stand on their own, by
 * what they account for, after them those that rest on a handful of rows; proxies; the others that
 * were tested, by p; those that were not, by column. */
const struct pythia_association_result *
pythia_association_results(const struct pythia_association *a, size_t *count);

#endif
