/* Splits in a report: those that are proposed for a group, and those that the requests were parted
 * by. */
#ifndef PYTHIA_REPORT_JSON_SPLITS_H
#define PYTHIA_REPORT_JSON_SPLITS_H

#include <jansson.h>

#include "pythia/compare.h"
#include "pythia/diagnosis.h"
#include "pythia/grouping_key.h"
#include "write/json_writer.h"

/* "splits" of a group. */
json_t *pythia__json_proposals(struct pythia__json *w, const struct pythia_group *g);

/* "split_by" of a report: what each split of the key parted, over all types. */
json_t *pythia__json_split_by(struct pythia__json *w, const struct pythia_grouping_key *key,
                              const struct pythia_type *const *types, size_t count);

/* "split_by" of a comparison: how many requests have the key of each split, before and after. */
json_t *pythia__json_compared_splits(struct pythia__json *w, const struct pythia_grouping_key *key,
                                     const struct pythia_comparison *c);

#endif
