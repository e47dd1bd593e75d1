#ifndef PYTHIA_JOINT_H
#define PYTHIA_JOINT_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/association.h"

/* Do several keys explain together what none of them explains alone? A queue grows with what
 * arrives less what is served: each of both numbers explains half of the wait, their difference all
 * of it. Asked of keys that were significant one by one (association.h):
 *
 *   choose   drop keys, the least useful first, until each of the rest adds to the others: at least
 *            PYTHIA_JOINT_ADDS_MIN of the variance of the total, and significantly (the partial
 *            canonical correlation of ranks, with Rao's F, corrected for the keys tested)
 *   compare  what is left must explain PYTHIA_JOINT_GAIN_MIN more of that variance than the best
 *            single key does
 *   confirm  each key must add to the others, with the same sign, in most random halves of the rows
 *   fit      canonical correlation of the keys with all edges at once (cca.h) says which linear
 *            function of the keys goes with the time
 *
 * Numbers and durations enter the fit as they are, clipped as in shares.h, because the coefficients
 * of ranks would have no unit; p is of ranks, so that a tail cannot make a finding. */

#define PYTHIA_JOINT_KEYS_MAX   8
#define PYTHIA_JOINT_ADDS_MIN   0.05 /* of the variance: what each key adds to the others */
#define PYTHIA_JOINT_GAIN_MIN   0.10 /* of the variance: more than the best single key explains */
#define PYTHIA_JOINT_STABLE_MIN 0.7  /* of the halves, as in association.h */
#define PYTHIA_JOINT_ROWS_EACH  5    /* rows to a key or edge; with fewer nothing is found */

/* The input. Arrays are borrowed during the call. */
struct pythia_joint_input {
    size_t rows, edges, keys; /* edges: 1 to PYTHIA_ASSOCIATION_EDGES_MAX; keys: the best first, at
                                 most PYTHIA_JOINT_KEYS_MAX */
    const double *durations;  /* finite, of one unit: row i of edge e is durations[e * rows + i] */
    const double *numbers;    /* finite: row i of key k is numbers[k * rows + i] */
    size_t tested;            /* keys that these were chosen from */
    /* The most of the total's variance that a single key is known to explain by another measure
     * (that of ranks, say); 0: none. */
    double single_share;
    double alpha;
    uint64_t seed;
    size_t halves; /* random halves of the rows; at least 1 */
};

/* The result. */
struct pythia_joint {
    size_t count; /* keys that act together; 0: none do, and nothing else is set */
    size_t keys[PYTHIA_JOINT_KEYS_MAX]; /* their indexes, rising */
    /* The linear function of the keys that goes with the time: the total grows with it. Scaled so
     * that the largest effect, coefficient times standard deviation of the key, has the coefficient
     * 1 or -1. */
    double coefficients[PYTHIA_JOINT_KEYS_MAX];
    double slopes[PYTHIA_JOINT_KEYS_MAX]; /* change of the total for one unit of each key */
    double r;     /* canonical correlation of that function with the edges, 0 to 1 */
    double share; /* of the variance of the total: what the keys explain, adjusted (Ezekiel) */
    double single_share; /* the same for the best single key, or the input's, if that is larger */
    double
        q; /* the least significant key's p of adding nothing, times the keys tested; at most 1 */
    double stability; /* part of the halves in which each key adds to the others as in the whole */
};

/* Find the keys that act together. Everything is determined by the input. Returns PYTHIA_OK,
 * PYTHIA_ENOMEM, or PYTHIA_EINVAL for a size out of range or a value that is not finite, and then
 * *out is untouched. Thread-safe; O(halves * keys * rows * (keys + edges)^2).
 *
 * Sources: H. Hotelling, "Relations between Two Sets of Variates", Biometrika 28, 1936; B. R. Rao,
 * "Partial Canonical Correlations", Trabajos de Estadistica 20, 1969; that the largest p of several
 * tests is a p of all holding: R. L. Berger, "Multiparameter Hypothesis Testing and Acceptance
 * Sampling", Technometrics 24(4), 1982; N. Meinshausen and P. Buehlmann, "Stability Selection",
 * Journal of the Royal Statistical Society B 72(4), 2010. */
int pythia_joint_find(const struct pythia_joint_input *input, struct pythia_joint *out);

#endif
