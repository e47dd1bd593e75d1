#ifndef PYTHIA_SPLIT_PROPOSAL_H
#define PYTHIA_SPLIT_PROPOSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/between.h"
#include "pythia/explain.h"
#include "pythia/grouping_key.h"
#include "pythia/modes.h"
#include "pythia/row.h"
#include "pythia/split_spec.h"

/* A key that goes with the durations of a group parts it: how, so that the parts may be looked at
 * one by one.
 *
 * Numbers are cut where the modes of the durations part, if there are several and the key goes with
 * them (mode_cuts.h), and else where the explanation parts them; levels in the same way, in the
 * order of their mean durations. */

#define PYTHIA_SPLIT_SHARE_MIN .05 /* of the variance, that a proposal is sure to leave between */

/* The requests of one part, and how long they took. */
struct pythia_split_part {
    char *label; /* owned: "queue_length >= 2" */
    size_t requests;
    double mean_ns;
};

struct pythia_split_proposal {
    struct pythia_key_name key;    /* borrowed: from the explanation, or the vocabulary */
    struct pythia_split_rule rule; /* owned: of these parts */
    char *text;         /* owned: the split as pythia_split_spec_write has it, which gives them */
    char *instead;      /* owned: of the key's split so far; NULL: there is none */
    size_t explanation; /* which one it is of */
    bool of_modes;      /* else it parts as the explanation does */
    struct pythia_split_part
        *parts; /* owned: the subsets that have requests, requests without the key last */
    size_t part_count;
    struct pythia_between between; /* of the durations, clipped as shares.h clips */
};

struct pythia_split_proposals {
    struct pythia_split_proposal *all; /* owned; in the order of the explanations */
    size_t count;
};

/* Propose a split for each explanation that is not a proxy, and one for several that cannot be
 * distinguished, if at least PYTHIA_SPLIT_SHARE_MIN of the variance of the durations of these
 * `count` requests lies between the parts, by the lower bound of its interval at the level 1 -
 * alpha. `rows` begin with those that were explained. With a grouping key (NULL: none) they are
 * in one part of the type (number of a string): a key that is in it already is parted further,
 * by a split to put in the place of the one so far. Returns PYTHIA_OK with *out owned by the
 * caller, or PYTHIA_ENOMEM. O(explanations * rows log rows). */
int pythia_split_propose(const struct pythia_row *const *rows, size_t count,
                         const struct pythia_modes *modes, const struct pythia_explanations *found,
                         const struct pythia_keys *keys, const struct pythia_vocabulary *vocabulary,
                         const struct pythia_grouping_key *key, uint32_t type, double alpha,
                         struct pythia_split_proposals *out);
void pythia_split_proposals_free(struct pythia_split_proposals *p); /* a zeroed one is fine */

#endif
