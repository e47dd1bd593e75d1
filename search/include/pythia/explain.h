#ifndef PYTHIA_EXPLAIN_H
#define PYTHIA_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/association.h"
#include "pythia/joint.h"
#include "pythia/key_value.h"
#include "pythia/rank.h"
#include "pythia/row.h"

/* Finds the variables that the durations of similar requests correlate with. Tested are the
 * key-values of the spans on their paths and the paths themselves: how often each trace point
 * was hit ("count:<trace point>"), or whether it was ("has:<trace point>"). The statistics are
 * those of association.h; here the keys are made and named. */

#define PYTHIA_EXPLAIN_EDGES 8 /* of the ranking, the best; the rest of the time is one more */

/* A key with several values in PYTHIA_COLUMN_LEVEL_MIN requests or more ("host.name" of a service
 * that asks three storage nodes) is tested one value at a time, "host.name has dn-07", and by the
 * number of its values; its combinations are tested only where most requests have a single value.
 * Members are the values that most requests have, so many of a key and of all keys; the others are
 * counted among the skipped keys. */
#define PYTHIA_EXPLAIN_MEMBERS_EACH 64
#define PYTHIA_EXPLAIN_MEMBERS      256

enum pythia_key_kind {
    PYTHIA_KEY_NUMERIC,
    PYTHIA_KEY_CATEGORICAL,
    PYTHIA_KEY_COUNT,  /* of visits to a trace point */
    PYTHIA_KEY_HAS,    /* a trace point was visited at all */
    PYTHIA_KEY_MEMBER, /* of several values of a key in a request, is one of them this? */
    PYTHIA_KEY_VALUES, /* the number of different values of a key in a request */
};

#define PYTHIA_PROFILE_BINS 10

/* The requests whose value is in one range, or is one level, and how long they took. */
struct pythia_profile_bin {
    char *label; /* owned: "3", "4 to 6", "cp-2", "(none)" */
    size_t requests;
    double mean_ns;
};

struct pythia_explanation {
    char *name; /* owned: the attribute's, "@" and where it was if that is not the only place, or
                   count:… */
    enum pythia_key_kind kind;
    uint32_t tracepoint;                     /* of COUNT and HAS; PYTHIA_NONE */
    struct pythia_association_result result; /* its split's levels are NULL: see slow_levels */
    char *split; /* owned: "is >= 3", "is in {cp-2}", "is missing"; NULL: no split */
    struct pythia_text
        *slow_levels; /* owned with their texts: of the levels with the larger mean */
    size_t slow_level_count;
    double low, high; /* the smallest and the largest value, of numbers; NaN */
    struct pythia_profile_bin profile[PYTHIA_PROFILE_BINS]; /* by value, or by mean for levels */
    size_t profile_bins;
    bool mostly_once; /* of COUNT: at least half of the requests pass it exactly once */
    size_t without;   /* of COUNT and HAS: requests that do not pass it; else 0 */
    uint32_t key;     /* of all other kinds, as the rows number it; PYTHIA_NONE */
    bool ends_early;  /* these end before they come to it, rather than leave it out */
};

struct pythia_skipped_key {
    char *name; /* owned */
    const char *reason;
};

struct pythia_explanations {
    struct pythia_explanation *found; /* owned: the significant ones, best first */
    size_t found_count;
    struct pythia_skipped_key *skipped; /* owned; in order of name */
    size_t skipped_count;
    size_t asked; /* keys that were tested */
    size_t rows;  /* used: at most 512, the first by hash */
    size_t edges; /* numbers of loadings in each result: of these edges of the ranking, and of the
                     rest */
    size_t chosen[PYTHIA_EXPLAIN_EDGES];
    /* Keys that explain more together than any of them alone, as indexes of `found`; count is 0
     * where there are none. Of levels, the number that the coefficient belongs to is 1 where the
     * key's `split` holds, else 0. Slopes are in ns. */
    struct pythia_joint joint;
    /* Of the numbers that were not tested because they measure the time itself (measured.h), the
     * one that correlates most with the duration, owned, and that squared correlation; NULL if
     * there is none. */
    char *measured;
    double measured_share;
};

/* Explain what was ranked: `rows` are those of the ranking. `seed` serves permutations and halves.
 * `values_max`: values of a key that are named, 2 to PYTHIA_PROFILE_BINS; 0: as many as that.
 * Returns PYTHIA_OK with *out owned by the caller, or PYTHIA_ENOMEM. O(keys * rows * edges). */
int pythia_explain(const struct pythia_row *const *rows, const struct pythia_ranking *ranking,
                   const struct pythia_keys *keys, const struct pythia_cct *cct, double alpha,
                   uint64_t seed, size_t values_max, struct pythia_explanations *out);
void pythia_explanations_free(struct pythia_explanations *x);

/* The name by which a key reader finds the values of an explanation's key; its text is borrowed
 * from `x` or from the vocabulary. Members of a key, and the number of its values, have none: they
 * are read as attributes that no request has. */
struct pythia_key_name pythia_explained_key_name(const struct pythia_explanation *x,
                                                 const struct pythia_vocabulary *vocabulary);

/* Does the name of a key, "db.params.pk_1" say, look like that of an identifier? */
bool pythia_looks_like_id(struct pythia_text name);

#endif
