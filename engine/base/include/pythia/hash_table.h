#ifndef PYTHIA_HASH_TABLE_H
#define PYTHIA_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/hash.h"

/* A hash table of indices into an array of the caller, who owns the entries and compares the keys.
 * A table of its own have only those that cannot use this one, and their headers say why: strtab.c
 * and tracepoints (readers without a lock, shared memory, no library but libc), trace_ids.h
 * (half the memory) and clocks.h (cannot fail).
 *
 *     caller:  entries  [ e0 | e1 | e2 | … ]          a dense array of any type
 *     slots:   [ h,2 | – | h,0 | h,1 | – | … ]        32 bits of hash, index + 1; 0: empty
 *
 * Robin Hood hashing (Celis, Larson and Munro, "Robin Hood Hashing", FOCS 1985): an entry takes the
 * slot of one that is nearer to its home, so no search is long and seven eighths of the slots may
 * be taken: 9 to 18 bytes an entry. The hash in the slot makes growth and removal independent of
 * the entries, and an entry is compared only if 32 bits agree.
 *
 * Growth is incremental: a table twice as large takes over, and each further insertion moves some
 * slots into it, so that no insertion takes time in proportion to the table. A search looks into
 * both meanwhile.
 *
 * Callers pass any 64 bits that differ for different keys; a pair of numbers is its own hash. The
 * table mixes them with a secret of the process, so that whoever chooses the keys cannot choose
 * their slots. Texts from outside are made 64 bits by pythia_hash_seeded, and longer ids by
 * pythia_hash_mix with pythia_hash_seed, since two of them may be chosen to have one hash. The
 * order of slots differs from run to run: nothing walks it.
 *
 * Public because it is part of many structures; {0} is an empty table. One thread at a time. */
struct pythia_hash_slot {
    uint32_t hash, number;
};

struct pythia_hash_table {
    struct pythia_hash_slot *slots, *old; /* owned; old: NULL unless its slots are being moved */
    uint32_t mask, old_mask;              /* number of slots - 1 */
    uint32_t count;                       /* entries, in both */
    uint32_t moved;                       /* slots of old before this one were moved */
    uint64_t seed;
};

#define PYTHIA_HASH_TABLE_NONE UINT32_MAX /* no entry */
#define PYTHIA_HASH_TABLE_GONE UINT32_MAX /* number in an old slot: its entry is elsewhere now */
#define PYTHIA_HASH_TABLE_MOST (1u << 30) /* entries; all indices are below */

void pythia_hash_table_free(struct pythia_hash_table *t);

/* Memory of the slots, in bytes. */
size_t pythia_hash_table_bytes(const struct pythia_hash_table *t);

/* Forget all entries. O(entries), also if the table is large: then its memory is freed. */
void pythia_hash_table_clear(struct pythia_hash_table *t);

/* Add an index whose key is not in the table. O(1). PYTHIA_OK, or PYTHIA_ENOMEM with the table
 * unchanged: only if it has more entries than ever since it was empty. */
int pythia_hash_table_add(struct pythia_hash_table *t, uint64_t hash, uint32_t index);

/* Remove an index that is in the table, or give its entry another index because it moves in the
 * caller's array. `hash` is that of its key. */
void pythia_hash_table_remove(struct pythia_hash_table *t, uint64_t hash, uint32_t index);
void pythia_hash_table_renumber(struct pythia_hash_table *t, uint64_t hash, uint32_t from,
                                uint32_t to);

/* Has the entry at `index` the key? `owner` and `key` are as given to _find. */
typedef bool pythia_hash_table_equal(const void *owner, uint32_t index, const void *key);

static inline uint32_t pythia__hash_table_search(const struct pythia_hash_slot *slots,
                                                 uint32_t mask, uint32_t hash,
                                                 pythia_hash_table_equal *equal, const void *owner,
                                                 const void *key)
{
    for (uint32_t i = hash & mask, away = 0;; i = (i + 1) & mask, away++) {
        struct pythia_hash_slot s = slots[i];
        /* An entry nearer to its home than the key would be: the key had taken its slot. */
        if (s.number == 0 || ((i - s.hash) & mask) < away)
            return PYTHIA_HASH_TABLE_NONE;
        if (s.hash == hash && s.number != PYTHIA_HASH_TABLE_GONE && equal(owner, s.number - 1, key))
            return s.number - 1;
    }
}

/* The index of the entry with that key, or PYTHIA_HASH_TABLE_NONE. In the header so that the
 * compiler can put `equal` in place. */
static inline uint32_t pythia_hash_table_find(const struct pythia_hash_table *t, uint64_t hash,
                                              pythia_hash_table_equal *equal, const void *owner,
                                              const void *key)
{
    if (!t->slots)
        return PYTHIA_HASH_TABLE_NONE;
    uint32_t mixed = (uint32_t)pythia_hash_mix(t->seed, hash);
    uint32_t found = pythia__hash_table_search(t->slots, t->mask, mixed, equal, owner, key);
    return found != PYTHIA_HASH_TABLE_NONE || !t->old
               ? found
               : pythia__hash_table_search(t->old, t->old_mask, mixed, equal, owner, key);
}

#endif
