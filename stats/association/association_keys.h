#ifndef PYTHIA_ASSOCIATION_KEYS_H
#define PYTHIA_ASSOCIATION_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "moments/basis.h"
#include "pythia/association.h"

/* One run over the keys of one set of requests: what the files association*.c share.
 *
 *   association.c            encode and test each key, order the results
 *   association_relations.c  clusters, proxies
 *   association_explained.c  how much a key accounts for
 *   association_present.c    a key among the rows that have it
 *   association_confirm.c    permutations, random halves
 *   association_shrink.c     correlations of many variables in few rows */

/* Room for the canonical correlations of any two bases of the run. */
struct pythia__room {
    double *cosines, *r, *u, *v, *work;
};

struct pythia__key {
    struct pythia__basis x;                  /* of its regressors, without the confounders */
    struct pythia__basis shrunk_x, shrunk_y; /* whose cosines are shrunk; empty with enough rows */
    struct pythia__basis levels; /* of numbers also as levels, while that is tested; or empty */
    bool ranked;                 /* its first regressor are the ranks of numbers */
    bool two_ways;               /* it was tested as numbers and as levels */
    bool with_total;             /* it is tested with the total, beside all edges */
    bool partly;                 /* tested among the rows that have it, and some do not */
    /* The first variate of the edges, in the basis that the key is asked with. */
    double variate[PYTHIA_ASSOCIATION_EDGES_MAX];
    struct pythia_association_result *result;
};

struct pythia__keys {
    const struct pythia_association_input *input;
    struct pythia__basis y, total; /* ranks, without the confounders */
    struct pythia__basis clipped;  /* the total itself, clipped, without them */
    struct pythia__basis confounders;
    size_t lost;                                  /* degrees of freedom that those took */
    double weights[PYTHIA_ASSOCIATION_EDGES_MAX]; /* not negative, of sum 1 */
    struct pythia__key *keys;                     /* those that are tested */
    size_t count, widest;                         /* widest: the most columns of a basis */
    struct pythia__room room;
    /* The p that Benjamini and Hochberg asked of the keys: alpha * significant / tested. */
    double threshold;
};

/* The bases that a key is asked with: the shrunken ones, if it has them. */
const struct pythia__basis *pythia__key_x(const struct pythia__key *key);
const struct pythia__basis *pythia__key_y(const struct pythia__keys *run,
                                          const struct pythia__key *key);

/* The canonical correlations of two bases, into run->room: r, u and v. Returns PYTHIA_OK or
 * PYTHIA_EINVAL. */
int pythia__keys_correlate(struct pythia__keys *run, const struct pythia__basis *x,
                           const struct pythia__basis *y);

/* The p of two tests of one hypothesis, by Simes; of one that was not made (NaN), that of the
 * other. */
double pythia__join_p(double a, double b);

/* Rao's p of two bases of `rows` rows, of which the confounders took their degrees of freedom;
 * `lost` more went elsewhere. NaN without a degree of freedom left, or if one basis is empty. */
double pythia__keys_p(struct pythia__keys *run, const struct pythia__basis *x,
                      const struct pythia__basis *y, size_t rows, size_t lost);

/* Part of the totals, and of numbers, that is clipped at either end (shares.h). */
#define PYTHIA__CLIPPED 0.005

/* Set the explained parts of a key's result: explained, explained_edges, omega_squared. PYTHIA_OK,
 * PYTHIA_ENOMEM or PYTHIA_EINVAL. */
int pythia__keys_explain(struct pythia__keys *run, struct pythia__key *key);

/* Raise the explained part of a key, a number that all rows have, to that of the step at its
 * cut, if that is more: the cut that parts `scores` best (split.h). PYTHIA_OK or PYTHIA_ENOMEM.
 * O(rows log rows). */
int pythia__keys_explain_by_cut(struct pythia__keys *run, struct pythia__key *key,
                                const double *scores);

/* p of one key among the rows that have a value for it, once the confounders and `others` (NULL:
 * none) are taken out. 1 with fewer than 5 such rows, NaN without a degree of freedom left.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__keys_p_where_present(struct pythia__keys *run, const struct pythia__key *key,
                                 const struct pythia__basis *others, double *p);

/* Shrink the correlations among the columns of x and y towards 0, by the intensity that expects the
 * least squared error, and make bases of that geometry: their cosines are the shrunken ones. Both
 * are initialised here, for the sizes of x and y. Returns PYTHIA_OK, PYTHIA_ENOMEM or
 * PYTHIA_EINVAL, and then both are empty. */
int pythia__keys_shrink(const struct pythia__basis *x, const struct pythia__basis *y,
                        struct pythia__basis *shrunk_x, struct pythia__basis *shrunk_y);

/* Permutation p of one key, by Wilks' lambda of its bases. */
int pythia__keys_permutation_p(struct pythia__keys *run, const struct pythia__key *key,
                               size_t permutations, double *p);

/* Set rank, cluster, proxy_of and p_partial of the significant keys among `order`, whose best come
 * first. */
int pythia__keys_relate(struct pythia__keys *run, struct pythia__key **order, size_t count);

/* Set p_permutation, stability and confirmed of `count` keys. */
int pythia__keys_confirm(struct pythia__keys *run, struct pythia__key **order, size_t count);

#endif
