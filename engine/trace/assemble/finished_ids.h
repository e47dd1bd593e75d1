/* The ids of traces that are over, so that a span that comes too late is noticed: all of them, or
 * the last ones. */
#ifndef PYTHIA_TRACE_FINISHED_IDS_H
#define PYTHIA_TRACE_FINISHED_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/hash_table.h"

/* How a trace ended. */
enum pythia__ending {
    PYTHIA__ENDED_NOT, /* or long ago */
    PYTHIA__ENDED,
    PYTHIA__ENDED_LATE,     /* and had late spans */
    PYTHIA__ENDED_SHED,     /* left out, for want of memory */
    PYTHIA__ENDED_OVERSIZE, /* cut off at the largest size */
};

struct pythia__id_table {
    uint64_t *ids; /* owned; how it ended stands above the hash */
    size_t count, capacity;
    struct pythia_hash_table by_hash;
};

/* Hashes of ids, of 61 bits. With a limit there are two tables: when the newer one is full, the
 * older one is forgotten and takes its place, so that at least the last `limit` ids are known, and
 * at most twice as many. {.limit = n} is empty; 0: no limit. */
struct pythia__finished_ids {
    struct pythia__id_table newer, older;
    size_t limit;
};
void pythia__finished_ids_free(struct pythia__finished_ids *f);

/* O(1). */
enum pythia__ending pythia__finished_ids_find(const struct pythia__finished_ids *f, uint64_t hash);

/* Add an id, or change how a known one ended. PYTHIA_OK, or PYTHIA_ENOMEM and then it is not known.
 */
int pythia__finished_ids_set(struct pythia__finished_ids *f, uint64_t hash,
                             enum pythia__ending ending);

/* Memory of both tables, in bytes. */
size_t pythia__finished_ids_bytes(const struct pythia__finished_ids *f);

#endif
