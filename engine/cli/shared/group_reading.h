/* Traces are read into groups: by one thread, or by several, each into a part of its own. */
#ifndef PYTHIA_CLI_GROUP_READING_H
#define PYTHIA_CLI_GROUP_READING_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/groups.h"

struct pythia__reading;

/* Set the reading, begin with the rest {0}, and free it. */
struct pythia__group_reading {
    struct pythia__reading *reading; /* borrowed; its options of groups are those of these */
    struct pythia_groups *groups;    /* owned; NULL before traces are read */
    struct pythia_groups **parts;    /* owned; not yet joined with `groups` */
    size_t part_count;
};

/* Read all traces into groups of at most `rows` rows a type, and four times as many in all; the
 * groups are not finished. A grouping key and a skeleton know one thread: with either there is one.
 * As pythia__reading_run. */
int pythia__group_reading_run(struct pythia__group_reading *g, int64_t rows);

void pythia__group_reading_free(struct pythia__group_reading *g);

#endif
