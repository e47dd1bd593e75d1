/* State shared by the files of the grouping key. */
#ifndef PYTHIA_GROUPING_KEY_STATE_H
#define PYTHIA_GROUPING_KEY_STATE_H

#include "pythia/grouping_key.h"
#include "pythia/hash_table.h"
#include "pythia/key_value.h"
#include "pythia/row.h"

/* The rule of a split for one type. */
struct pythia__learnt_rule {
    bool known;
    enum pythia_split_origin origin;
    struct pythia_split_rule rule;
    size_t other_levels;
};

enum { PYTHIA__SEEN_WITH = 1, PYTHIA__SEEN_WITHOUT = 2 };

struct pythia__grouping_split {
    struct pythia_split_spec spec;      /* as it was given */
    struct pythia__learnt_rule *learnt; /* by number of a type, if the rule has to be found */
    size_t learnt_count;
    uint8_t *seen; /* by number of a type */
    size_t seen_count;
    bool *seen_parts, *seen_levels; /* of a rule that was given */
    uint32_t point;                 /* of visits; PYTHIA_NONE: not met yet */
};

/* Trace points that together report one key of some requests. */
struct pythia__point_set {
    uint64_t hash, requests;
    uint32_t *points; /* owned; rising */
    size_t count;
};

struct pythia_grouping_key {
    struct pythia_vocabulary *vocabulary;
    struct pythia__grouping_split *splits;
    size_t count;
    struct pythia_keys *keys; /* of the attributes that the splits ask for, with these two */
    struct pythia_row_maker *rows;
    struct pythia_key_reader *reader;
    uint32_t *parts; /* of each number: the type, and a part of each split */
    size_t part_count, part_capacity;
    struct pythia_hash_table by_parts;
    uint32_t *at_hand; /* [1 + count]: of the current request */
    bool note;
    struct pythia__point_set *sets; /* by hash */
    size_t set_count, set_capacity;
    struct pythia_buf name;
};

/* A key as a reader takes it. */
struct pythia_key_name *pythia__grouping_names(const struct pythia_grouping_key *k);

/* Remember that these points report a key of the current request: in any order, each once.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__grouping_note(struct pythia_grouping_key *k, const uint32_t *points, size_t count);

#endif
