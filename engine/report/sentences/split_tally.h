/* The effect of the splits of a grouping key on the request types that have their keys. */
#ifndef PYTHIA_REPORT_SPLIT_TALLY_H
#define PYTHIA_REPORT_SPLIT_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "document/document.h"
#include "pythia/groups.h"

struct pythia__split_part {
    char *label; /* owned */
    uint64_t requests;
    double mean_ns;
};

/* One request type, by one split. */
struct pythia__split_type {
    uint32_t type; /* number of a string */
    const struct pythia_split_rule *rule;
    enum pythia_split_origin origin;
    size_t others; /* levels that are no part of their own */
    double share;  /* of its variance, between the parts; NaN if nothing varies */
    struct pythia__split_part *parts; /* owned; those that have requests, without the key last */
    size_t part_count;
};

struct pythia__split_tally {
    uint64_t requests, without;       /* with the key, without it */
    struct pythia__split_type *types; /* owned; those that have the key */
    size_t type_count;
};

/* Tally one split of the key over these types. PYTHIA_OK with *out to be freed, or
 * PYTHIA_ENOMEM. */
int pythia__split_tally_make(const struct pythia_grouping_key *key, size_t split,
                             const struct pythia_type *const *types, size_t count,
                             struct pythia__split_tally *out);
void pythia__split_tally_free(struct pythia__split_tally *t);

/* "106 requests have it, 194 do not."; and how a type was parted: "Cut at 3, which separates most
 * of the variance. This split accounts for 61 % of the variance of the type." */
void pythia__say_split_counts(struct pythia__doc *d, const struct pythia__split_tally *t);
void pythia__say_split_type(struct pythia__doc *d, const struct pythia__split_type *t);

#endif
