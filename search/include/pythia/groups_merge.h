#ifndef PYTHIA_GROUPS_MERGE_H
#define PYTHIA_GROUPS_MERGE_H

#include "pythia/groups.h"

/* Evidence of finished groups, those of another process perhaps, added to groups that are not
 * finished yet. What is added piece by piece gives the groups that all the requests would have
 * given together, whatever the order: counts, moments and sketches add up, a sample of a union is
 * the sample of the samples, and what is decided by how much there is (levels with too many
 * structures, rows for each type) is decided again. Lineages and grouping keys are not carried. */

/* Add what was counted of a type: its name (the number of a string of these groups), path_at,
 * moments, client, sketch, heaviest, levels and too_varied; nothing else is read. Call it before
 * the two functions below. PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_ELIMIT if there are more requests
 * than can be counted. */
int pythia_groups_merge_type(struct pythia_groups *g, const struct pythia_type *part);

/* Add a structure of the type of that name. As above. */
int pythia_groups_merge_structure(struct pythia_groups *g, uint32_t type,
                                  const struct pythia_structure *part);

/* Add rows of a type whose requests take one path; only the trace points and kinds of its events
 * are read. The path has at least one event, is well nested, and has `edge_count` edges:
 * PYTHIA_EINVAL if it has another number. Shape, holder and parent of the rows are not read. All is
 * copied. PYTHIA_OK or PYTHIA_ENOMEM. O(events + rows * (edges + values)). */
int pythia_groups_merge_rows(struct pythia_groups *g, uint32_t type,
                             const struct pythia_critical_path *path, uint32_t edge_count,
                             const struct pythia_row *rows, size_t count);

/* Make a part of groups, for the requests of one of `parts` threads; which part a request is added
 * to is left to chance, such as the hash of its trace's id. The groups get requests from no one
 * else, have neither a grouping key nor a skeleton, and live longer than their parts. Of the rows
 * of a type a part keeps not many more than its share. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_groups_create_part(struct pythia_groups *whole, size_t parts,
                              struct pythia_groups **out);

/* Add what a part has gathered, which takes it, also on failure: a row and its shape are moved and
 * not copied. Nothing is added to any part any more. PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_ELIMIT if
 * there are more requests than can be counted. O(types + structures + shapes + rows log rows). */
int pythia_groups_join(struct pythia_groups *g, struct pythia_groups *part);

/* After all parts were joined: do the groups have the rows that they would have had without parts?
 * Else a part had an unlikely share of the requests of a type, and all have to be added once more
 * without parts. */
bool pythia_groups_are_whole(const struct pythia_groups *g);

/* The keys of the rows that are added. */
struct pythia_keys *pythia_groups_merge_keys(struct pythia_groups *g);

/* The name at a level of a structure whose requests have one root, once their type has another
 * name; both types are given by the hash of their name. */
uint64_t pythia_structure_renamed(uint64_t name, uint64_t old_type, uint64_t new_type);

#endif
