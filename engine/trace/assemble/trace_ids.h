/* The traces that an assembler remembers by their ids: which are over, so that a span that comes
 * too late is noticed, and which are pinned. */
#ifndef PYTHIA_TRACE_IDS_H
#define PYTHIA_TRACE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/hash.h"
#include "pythia/hash_table.h"
#include "pythia/span.h"

/* Senders choose the ids, and must not be able to choose two of one hash. */
static inline uint64_t pythia__hash_trace_id(uint64_t seed, struct pythia_trace_id id)
{
    return pythia_hash_mix(pythia_hash_mix(seed, id.high), id.low);
}

/* ---- traces that are over: all of them, or the last ones ---- */

/* How a trace ended. */
enum pythia__ending {
    PYTHIA__ENDED_NOT, /* or long ago */
    PYTHIA__ENDED,
    PYTHIA__ENDED_LATE,     /* and had late spans */
    PYTHIA__ENDED_SHED,     /* left out, for want of memory */
    PYTHIA__ENDED_OVERSIZE, /* cut off at the largest size */
};

struct pythia__id_table {
    uint64_t *slots; /* owned; 0: empty. How it ended stands above the hash */
    size_t size, used;
};

#define PYTHIA__ID_TABLES 3

/* Hashes of ids, of 61 bits, by linear probing in tables of their own: half a million of them are a
 * quarter of what pythiad holds under full load, and a pythia_hash_table, which has a slot beside
 * each, would take twice as much. With a limit there are three tables, of half as many each: when
 * the newest one is full, the oldest one is forgotten, so that at least the last `limit` ids are
 * known, and at most half as many more. {.limit = n} is empty; 0: no limit. */
struct pythia__finished_ids {
    struct pythia__id_table tables[PYTHIA__ID_TABLES]; /* the newest first */
    size_t limit;
};
void pythia__finished_ids_free(struct pythia__finished_ids *f);

/* O(1). */
enum pythia__ending pythia__finished_ids_find(const struct pythia__finished_ids *f, uint64_t hash);

/* Add an id, or change how a known one ended. PYTHIA_OK, or PYTHIA_ENOMEM and then it is not known.
 */
int pythia__finished_ids_set(struct pythia__finished_ids *f, uint64_t hash,
                             enum pythia__ending ending);

/* Memory of the tables, in bytes: 11 to 21 for each id; 11 once a table has been full. */
size_t pythia__finished_ids_bytes(const struct pythia__finished_ids *f);

/* ---- pinned traces ---- */

struct pythia__pinned_ids {
    struct pythia_trace_id *list; /* owned, each once */
    size_t count;
    struct pythia_hash_table by_id;
};
void pythia__pinned_ids_free(struct pythia__pinned_ids *p);

/* Pin these instead of those that were: PYTHIA_OK, or PYTHIA_ENOMEM with some of them. `seed` is
 * the same in all calls. O(count). */
int pythia__pinned_ids_set(struct pythia__pinned_ids *p, uint64_t seed,
                           const struct pythia_trace_id *traces, size_t count);
bool pythia__pinned_ids_has(const struct pythia__pinned_ids *p, uint64_t seed,
                            struct pythia_trace_id id);
size_t pythia__pinned_ids_bytes(const struct pythia__pinned_ids *p);

#endif
