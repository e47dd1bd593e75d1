#ifndef PYTHIA_FOLLOWED_H
#define PYTHIA_FOLLOWED_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/groups.h"

/* A group of the skeleton (lineage.h) in the evidence of a cycle: it stays the same group while
 * points inside its path open and close, and is seen in more or fewer structures. */
struct pythia_followed {
    uint64_t id;       /* 0: the skeleton is not known, or there was no request */
    uint64_t requests; /* of it in the sample of its type, which all below is of */
    double mean_ns, sd_ns;
    double variance_share; /* of the type's requests, about the type's mean */
    size_t structures;     /* of the path that are told apart with the points that are open */
    /* The part of the group's variance that lies between these structures, 0 for one; and that
     * chance would do as much, by analysis of variance, 1 for one. NaN without variance, and where
     * every request has a structure of its own. */
    double eta_squared, p;
};

/* The group of that id among the requests of a type; id 0: the group with the largest share of the
 * type's variance, of several the one of lowest id. Requests none: all but id is 0 or NaN.
 * PYTHIA_OK or PYTHIA_ENOMEM. O(rows log rows). */
int pythia_followed_find(const struct pythia_type *type, uint64_t id, struct pythia_followed *out);

#endif
