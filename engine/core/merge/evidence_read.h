/* Declarations shared by the two files that read evidence. */
#ifndef PYTHIA_CORE_EVIDENCE_READ_H
#define PYTHIA_CORE_EVIDENCE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/groups.h"
#include "pythia/text.h"

/* The names in a file, as numbers of the vocabulary and of the groups. */
struct pythia__evidence_names {
    uint32_t *points, *keys; /* by place in the file; owned */
    size_t point_count, point_capacity, key_count, key_capacity;
};

/* Add a message of rows to a type (the number of its name) of the groups. `one_root`: its requests
 * have one. PYTHIA_OK; PYTHIA_ENOMEM; or PYTHIA_EFORMAT with the reason in `e`. */
int pythia__evidence_read_rows(struct pythia_text message,
                               const struct pythia__evidence_names *names,
                               struct pythia_groups *groups, uint32_t type, bool one_root,
                               struct pythia_error *e);

#endif
