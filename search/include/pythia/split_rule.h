#ifndef PYTHIA_SPLIT_RULE_H
#define PYTHIA_SPLIT_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/key_value.h"
#include "pythia/text.h"

/* Splits requests by the values of one key. Every request is in exactly one subset. */

enum pythia_split_form {
    PYTHIA_SPLIT_LEARNT,  /* not known yet: to be found in the requests (grouping_key.h) */
    PYTHIA_SPLIT_PRESENT, /* with the key, without it */
    PYTHIA_SPLIT_CUTS,    /* numbers: below the first cut, …, from the last cut on */
    PYTHIA_SPLIT_SETS,    /* levels: those of each set, and all others */
};

/* Parts by number. Behind the first two come those of the form: the intervals or the sets in their
 * order, or the requests that have the key; behind the sets all other levels. */
enum {
    PYTHIA_SPLIT_WITHOUT,   /* requests without the key */
    PYTHIA_SPLIT_NO_NUMBER, /* CUTS: the value is no number */
    PYTHIA_SPLIT_FIRST,
};

struct pythia_split_level {
    struct pythia_text text;
    size_t set;
};

struct pythia_split_rule {
    enum pythia_split_form form;
    double *cuts; /* owned; finite, rising */
    size_t cut_count;
    struct pythia_split_level *levels; /* owned with their texts; in order of text, each once */
    size_t level_count, set_count;
};

/* Make a rule; PRESENT and LEARNT need nothing. On success *out is owned by the caller (_clear);
 * all is copied. PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_EINVAL if a level is there twice. */
int pythia_split_rule_cuts(const double *cuts, size_t count, struct pythia_split_rule *out);
int pythia_split_rule_sets(const struct pythia_split_level *levels, size_t count, size_t sets,
                           struct pythia_split_rule *out);
int pythia_split_rule_copy(const struct pythia_split_rule *rule, struct pythia_split_rule *out);
/* The rule that parts as `rule` does, and its parts as `more` does. PYTHIA_EINVAL if one is of
 * numbers and the other of levels. */
int pythia_split_rule_refine(const struct pythia_split_rule *rule,
                             const struct pythia_split_rule *more, struct pythia_split_rule *out);
void pythia_split_rule_clear(struct pythia_split_rule *rule); /* a zeroed one is fine */

/* One more than the largest number of a part. A rule that is to be learnt has the part of the
 * requests with the key only. */
uint32_t pythia_split_rule_parts(const struct pythia_split_rule *rule);

/* The part of a value that `reader` has found last, into *part. PYTHIA_OK or PYTHIA_ENOMEM. O(log
 * cuts) or O(log levels). */
int pythia_split_rule_part(const struct pythia_split_rule *rule, struct pythia_key_reader *reader,
                           const struct pythia_key_value *value, uint32_t *part);

/* The index of a level among those of a rule of SETS; level_count if it is none of them. O(log
 * levels). */
size_t pythia_split_rule_find(const struct pythia_split_rule *rule, struct pythia_text level);

/* Append what the requests of a part have in common: "queue_length < 2", "queue_length 2 to < 5",
 * "queue_length >= 5", "host = cp-2", "host in {cp-1, cp-3}", "other host", "with host", "without
 * host", "host is no number". Of more than PYTHIA_SPLIT_LEVELS_NAMED levels of a set it says how
 * many there are. */
#define PYTHIA_SPLIT_LEVELS_NAMED 6
void pythia_split_rule_label(const struct pythia_split_rule *rule,
                             const struct pythia_key_name *key, uint32_t part,
                             struct pythia_buf *to);

/* Append the name of a key as reports print it: "count:<trace point>" for visits. */
void pythia_key_name_add(const struct pythia_key_name *key, struct pythia_buf *to);

/* Append a number with as few digits as say it exactly. */
void pythia_split_number_add(double number, struct pythia_buf *to);

/* A cut above `below` and at most `above`, both finite and below < above: with as few digits as
 * there can be near the middle; a whole number, if `whole` says that the values are, the one
 * half-way rounded up. */
double pythia_split_cut(double below, double above, bool whole);

#endif
