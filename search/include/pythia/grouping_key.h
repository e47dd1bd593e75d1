#ifndef PYTHIA_GROUPING_KEY_H
#define PYTHIA_GROUPING_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/critical_path.h"
#include "pythia/error.h"
#include "pythia/split_rule.h"
#include "pythia/split_spec.h"
#include "pythia/trace.h"

struct pythia_groups;

/* Splits the requests of a type beside their structure: the values of some keys, as in M. Toslali
 * and others, "Automating Instrumentation Choices for Performance Problems in Distributed
 * Applications with VAIF", SoCC 2021. Each key is a split (split_rule.h); a request is in one part
 * of each, and requests in the same parts of one type are a type of their own: "<type>
 * [queue_length >= 2]". The search space knows the type alone.
 *
 * One object serves any number of groups, one after the other, so that parts have one name in all
 * of them. One thread at a time. */
struct pythia_grouping_key;

/* How the rule of a split was found. */
enum pythia_split_origin {
    PYTHIA_SPLIT_ASKED,       /* it was given */
    PYTHIA_SPLIT_OF_LEVELS,   /* the levels that most requests have, each a part */
    PYTHIA_SPLIT_OF_MODES,    /* numbers are cut where the modes of the durations part */
    PYTHIA_SPLIT_OF_VARIANCE, /* the durations have one mode: cut so that most of their variance
                                 lies between */
    PYTHIA_SPLIT_OF_NONE,     /* nothing parts the values: the requests with the key are one part */
};
/* "asked", "levels", "modes", "variance", "none" */
const char *pythia_split_origin_name(enum pythia_split_origin origin);

/* Copies the splits. Returns PYTHIA_OK with *out owned by the caller, PYTHIA_EUSAGE with the reason
 * in `e` if a key is there twice, or PYTHIA_ENOMEM. `vocabulary` is borrowed. */
int pythia_grouping_key_create(struct pythia_vocabulary *vocabulary,
                               const struct pythia_split_spec *splits, size_t count,
                               struct pythia_grouping_key **out, struct pythia_error *e);
void pythia_grouping_key_destroy(struct pythia_grouping_key *k); /* k may be NULL */

/* ---- rules that have to be found ---- */

#define PYTHIA_SPLIT_LEVELS_MAX 16 /* that are parts of their own; all others are one */

/* Is there a split whose rule has to be found in requests? */
bool pythia_grouping_key_learns(const struct pythia_grouping_key *k);

/* Find these rules, for each request type by itself, in the sampled requests of finished groups
 * without a grouping key, `count` sets of them together. A key whose sampled values are all numbers
 * is cut by the modes of the durations (mode_cuts.h), if the tail dip test at `alpha` says that
 * there are several; if there is one mode, or the key does not go with them, once where most of the
 * variance of the clipped durations lies between, if that is beyond chance by 199 permutations;
 * else not. Any other key has the PYTHIA_SPLIT_LEVELS_MAX levels of most requests, by name where
 * they are as many. The same samples give the same rules. PYTHIA_OK or PYTHIA_ENOMEM. O(types *
 * splits * 200 rows log rows). */
int pythia_grouping_key_learn(struct pythia_grouping_key *k,
                              const struct pythia_groups *const *groups, size_t count, double alpha,
                              uint64_t seed);

/* ---- requests ---- */

/* The parts that a request of a type (number of a string) is in, as a number of this object: equal
 * for requests of one type in the same parts. PYTHIA_NONE when out of memory. O(key-values on the
 * path). */
uint32_t pythia_grouping_key_part(struct pythia_grouping_key *k, uint32_t type,
                                  const struct pythia_trace *trace,
                                  const struct pythia_critical_path *path);

/* The name of such a number, as the number of a string: what all requests so far have taught is in
 * it. Nothing is said of a key that no request of the type has, nor that a request has a key which
 * parts nothing else and which all requests of the type have. PYTHIA_NONE when out of memory. */
uint32_t pythia_grouping_key_name(struct pythia_grouping_key *k, uint32_t part);

/* Forget which keys and parts requests had, and the trace points below: for a reading that begins
 * anew. Rules that were found, and numbers of parts, stay. */
void pythia_grouping_key_forget(struct pythia_grouping_key *k);
/* Whether requests had this subset, since the last _forget. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_grouping_key_see(struct pythia_grouping_key *k, uint32_t part);

/* ---- where the keys are ---- */

/* From now on, or no more, remember which trace points report the keys of each request. */
void pythia_grouping_key_note_points(struct pythia_grouping_key *k, bool note);

/* Add to the flags in open[points] what has to be open for each remembered request to show its
 * keys, the points that serve most requests first; those in never[points] (NULL: none) are not
 * added. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_grouping_key_cover(const struct pythia_grouping_key *k, bool *open, const bool *never,
                              uint32_t points);

/* ---- what it is ---- */

/* The number of splits in the key. */
size_t pythia_grouping_key_count(const struct pythia_grouping_key *k);
/* A split as it was given; its key. Borrowed. */
const struct pythia_split_spec *pythia_grouping_key_split(const struct pythia_grouping_key *k,
                                                          size_t split);
/* Did any request have the key, or is there a trace point of that id; was any request in that part
 * of a split that was given? */
bool pythia_grouping_key_was_seen(const struct pythia_grouping_key *k, size_t split);
bool pythia_grouping_key_part_was_seen(const struct pythia_grouping_key *k, size_t split,
                                       uint32_t part);
/* As pythia_grouping_key_was_seen, for one of its levels, by index; that is never forgotten. */
bool pythia_grouping_key_level_was_seen(const struct pythia_grouping_key *k, size_t split,
                                        size_t level);
/* The rule of a split for a type, borrowed, and how it was found; *other_levels: of the sampled
 * requests' levels, those that are no part of their own. NULL if none was found, as there were no
 * requests of the type when rules were sought. */
const struct pythia_split_rule *pythia_grouping_key_rule(const struct pythia_grouping_key *k,
                                                         size_t split, uint32_t type,
                                                         enum pythia_split_origin *origin,
                                                         size_t *other_levels);
/* The part of one split that a number stands for. */
uint32_t pythia_grouping_key_part_of(const struct pythia_grouping_key *k, uint32_t part,
                                     size_t split);

#endif
