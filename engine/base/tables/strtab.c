/* A hash table of indices over an array of strings that never moves.
 *
 *   table ──> [ 3 | - | 7 | 1 | … ]      slots: index + 1, 0 = empty; linear probing; power of two
 *   entries:   block 0 of 1024, block 1 of 2048, …; an entry stays where it was put
 *
 * A reader loads the table and a slot with acquire order; a writer, under the lock, fills the entry
 * first and then stores the slot with release order. A table that has become too small is replaced
 * by a larger one and kept until the end, because a reader may still be in it: together they are as
 * large as the last one.
 *
 * It is not a pythia_hash_table, which moves slots while it grows and on insertion: a reader
 * without a lock would miss a string that is there. */
#include "pythia/strtab.h"

#include <pthread.h>
#include <stdatomic.h>

#include "pythia/arena.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define FIRST_BLOCK 1024u
#define BLOCKS      22 /* 1024 * (2^22 - 1) entries: all that 32 bits can number */

struct entry {
    const char *bytes;
    uint32_t size, hash;
};

struct table {
    struct table *older;
    size_t mask;
    _Atomic uint32_t slots[];
};

struct pythia_strtab {
    _Atomic(struct table *) table;
    _Atomic(struct entry *) blocks[BLOCKS];
    _Atomic uint32_t count;
    _Atomic size_t held;  /* bytes of tables and blocks, and of the strings */
    pthread_mutex_t lock; /* of writers */
    struct pythia_arena strings;
};

/* Block b holds the 1024 * 2^b entries from 1024 * (2^b - 1) on. */
static size_t block_of(uint32_t index, size_t *within)
{
    uint64_t shifted = (uint64_t)index + FIRST_BLOCK;
    size_t log2 = 63 - (size_t)__builtin_clzll(shifted);
    *within = (size_t)(shifted - (UINT64_C(1) << log2));
    return log2 - 10;
}

static struct entry *entry_at(const struct pythia_strtab *t, uint32_t index)
{
    size_t within, block = block_of(index, &within);
    return atomic_load_explicit(&t->blocks[block], memory_order_acquire) + within;
}

static void note_held(struct pythia_strtab *t, size_t more)
{
    size_t held = atomic_load_explicit(&t->held, memory_order_relaxed);
    atomic_store_explicit(&t->held, held + more, memory_order_relaxed);
}

static size_t table_bytes(size_t slots)
{
    return sizeof(struct table) + slots * sizeof(_Atomic uint32_t);
}

static struct table *table_create(size_t slots)
{
    struct table *table = pythia_calloc(1, table_bytes(slots));
    if (table)
        table->mask = slots - 1;
    return table;
}

/* The index of the string, or where it would go in *slot. */
static uint32_t find_string(const struct pythia_strtab *t, const struct table *table,
                            struct pythia_text text, uint32_t hash, size_t *slot)
{
    for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
        uint32_t stored = atomic_load_explicit(&table->slots[i], memory_order_acquire);
        if (stored == 0) {
            *slot = i;
            return PYTHIA_STRTAB_NONE;
        }
        const struct entry *entry = entry_at(t, stored - 1);
        if (entry->hash == hash &&
            pythia_text_equal((struct pythia_text){entry->bytes, entry->size}, text))
            return stored - 1;
    }
}

static int grow_table(struct pythia_strtab *t, struct table *old)
{
    struct table *larger = table_create((old->mask + 1) * 2);
    if (!larger)
        return PYTHIA_ENOMEM;
    uint32_t count = atomic_load_explicit(&t->count, memory_order_relaxed);
    for (uint32_t index = 0; index < count; index++) {
        size_t i = entry_at(t, index)->hash & larger->mask;
        while (atomic_load_explicit(&larger->slots[i], memory_order_relaxed))
            i = (i + 1) & larger->mask;
        atomic_store_explicit(&larger->slots[i], index + 1, memory_order_relaxed);
    }
    larger->older = old;
    note_held(t, table_bytes(larger->mask + 1));
    atomic_store_explicit(&t->table, larger, memory_order_release);
    return PYTHIA_OK;
}

/* A place for entry number `index`, with its block made if it is the first of one. */
static struct entry *entry_make(struct pythia_strtab *t, uint32_t index)
{
    size_t within, block = block_of(index, &within);
    if (block >= BLOCKS)
        return NULL;
    struct entry *entries = atomic_load_explicit(&t->blocks[block], memory_order_relaxed);
    if (!entries) {
        entries = pythia_calloc((size_t)FIRST_BLOCK << block, sizeof(*entries));
        if (!entries)
            return NULL;
        note_held(t, ((size_t)FIRST_BLOCK << block) * sizeof(*entries));
        atomic_store_explicit(&t->blocks[block], entries, memory_order_release);
    }
    return entries + within;
}

static uint32_t insert_string(struct pythia_strtab *t, struct pythia_text text, uint32_t hash)
{
    struct table *table = atomic_load_explicit(&t->table, memory_order_relaxed);
    size_t slot;
    uint32_t index = find_string(t, table, text, hash, &slot); /* someone may have been faster */
    if (index != PYTHIA_STRTAB_NONE)
        return index;
    index = atomic_load_explicit(&t->count, memory_order_relaxed);
    if (index >= (table->mask + 1) / 2) {
        if (grow_table(t, table) != PYTHIA_OK)
            return PYTHIA_STRTAB_NONE;
        table = atomic_load_explicit(&t->table, memory_order_relaxed);
        find_string(t, table, text, hash, &slot);
    }
    size_t held = pythia_arena_bytes(&t->strings);
    struct entry *entry = entry_make(t, index);
    char *copy = entry ? pythia_arena_alloc(&t->strings, text.size + 1) : NULL;
    note_held(t, pythia_arena_bytes(&t->strings) - held);
    if (!copy || text.size >= UINT32_MAX)
        return PYTHIA_STRTAB_NONE;
    if (text.size)
        memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
    *entry = (struct entry){copy, (uint32_t)text.size, hash};
    atomic_store_explicit(&t->count, index + 1, memory_order_release);
    atomic_store_explicit(&table->slots[slot], index + 1, memory_order_release);
    return index;
}

int pythia_strtab_create(struct pythia_strtab **out)
{
    struct pythia_strtab *t = pythia_calloc(1, sizeof(*t));
    struct table *table = table_create((size_t)FIRST_BLOCK * 2);
    if (!t || !table) {
        pythia_free(t);
        pythia_free(table);
        return PYTHIA_ENOMEM;
    }
    atomic_init(&t->table, table);
    atomic_init(&t->held, sizeof(*t) + table_bytes((size_t)FIRST_BLOCK * 2));
    pthread_mutex_init(&t->lock, NULL);
    if (pythia_strtab_intern(t, (struct pythia_text){"", 0}) != 0) {
        pythia_strtab_destroy(t);
        return PYTHIA_ENOMEM;
    }
    *out = t;
    return PYTHIA_OK;
}

void pythia_strtab_destroy(struct pythia_strtab *t)
{
    if (!t)
        return;
    struct table *table = atomic_load_explicit(&t->table, memory_order_relaxed);
    while (table) {
        struct table *older = table->older;
        pythia_free(table);
        table = older;
    }
    for (size_t i = 0; i < BLOCKS; i++)
        pythia_free(atomic_load_explicit(&t->blocks[i], memory_order_relaxed));
    pythia_arena_free(&t->strings);
    pthread_mutex_destroy(&t->lock);
    pythia_free(t);
}

uint32_t pythia_strtab_find(const struct pythia_strtab *t, struct pythia_text text)
{
    size_t slot;
    return find_string(t, atomic_load_explicit(&t->table, memory_order_acquire), text,
                       (uint32_t)pythia_hash_seeded(text.bytes, text.size), &slot);
}

uint32_t pythia_strtab_intern(struct pythia_strtab *t, struct pythia_text text)
{
    uint32_t hash = (uint32_t)pythia_hash_seeded(text.bytes, text.size);
    size_t slot;
    uint32_t index =
        find_string(t, atomic_load_explicit(&t->table, memory_order_acquire), text, hash, &slot);
    if (index != PYTHIA_STRTAB_NONE)
        return index;
    pthread_mutex_lock(&t->lock);
    index = insert_string(t, text, hash);
    pthread_mutex_unlock(&t->lock);
    return index;
}

struct pythia_text pythia_strtab_text(const struct pythia_strtab *t, uint32_t index)
{
    const struct entry *entry = entry_at(t, index);
    return (struct pythia_text){entry->bytes, entry->size};
}

uint32_t pythia_strtab_count(const struct pythia_strtab *t)
{
    return atomic_load_explicit(&t->count, memory_order_acquire);
}

size_t pythia_strtab_bytes(const struct pythia_strtab *t)
{
    return atomic_load_explicit(&t->held, memory_order_relaxed);
}
