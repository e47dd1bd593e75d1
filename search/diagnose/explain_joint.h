#ifndef PYTHIA_EXPLAIN_JOINT_H
#define PYTHIA_EXPLAIN_JOINT_H

#include <stddef.h>

#include "pythia/association.h"
#include "pythia/explain.h"

/* Find the keys that explain more together than alone: set out->joint. Candidates are the keys
 * of out->found that stand on their own (no proxies, one of a cluster) and that permutation did
 * not refute. `asked` and its `results` are those that out->found was made of. Returns
 * PYTHIA_OK, or PYTHIA_ENOMEM with *out as it was. Cost: see pythia_joint_find. */
int pythia__explain_joint(const struct pythia_association_input *asked,
                          const struct pythia_association_result *results, size_t count,
                          struct pythia_explanations *out);

#endif
