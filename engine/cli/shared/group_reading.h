/* Groups to which several threads add requests, each to a part of its own: what a consumer of
 * traces needs for that (struct pythia_consumer_parts of pipeline.h). */
#ifndef PYTHIA_CLI_GROUP_PARTS_H
#define PYTHIA_CLI_GROUP_PARTS_H

#include <stddef.h>

#include "pythia/groups.h"

/* {0} has none. */
struct pythia__group_parts {
    struct pythia_groups **list; /* owned; NULL: joined already */
    size_t count;
};

/* Make so many parts of groups, which have neither a grouping key nor a skeleton. PYTHIA_OK or
 * PYTHIA_ENOMEM; _free in any case. */
int pythia__group_parts_make(struct pythia__group_parts *p, struct pythia_groups *whole,
                             size_t count);

/* Destroy the parts that have not been joined. */
void pythia__group_parts_free(struct pythia__group_parts *p);

/* Join all parts with the groups. 0; 1 if the groups do not have the rows that they would have had
 * without parts, so that all has to be read once more; or negative. */
int pythia__group_parts_join(struct pythia__group_parts *p, struct pythia_groups *whole);

#endif
