/* While a table grows, slots move from the old array to the new one in order of their place. A slot
 * that was moved, or removed, is marked and keeps its hash: searches in the old array pass over it
 * as before, so nothing behind it has to move. Nothing is added to the old array. */
#include "pythia/hash_table.h"

#include <assert.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define FIRST_SLOTS 16

/* Old slots that an insertion moves: a table of up to 64 slots grows at once. Two would be enough
 * for the old array to be empty before the new one is full; more free its memory earlier. */
#define MOVED_SLOTS 64

/* A table with this many slots for each entry is freed when it is cleared: clearing a table is to
 * cost no more than filling it did. */
#define SPARSE 16

static uint32_t mix_in_seed(const struct pythia_hash_table *t, uint64_t hash)
{
    return (uint32_t)pythia_hash_mix(t->seed, hash);
}

static size_t slot_bytes(const struct pythia_hash_slot *slots, uint32_t mask)
{
    return slots ? ((size_t)mask + 1) * sizeof(*slots) : 0;
}

void pythia_hash_table_free(struct pythia_hash_table *t)
{
    pythia_free(t->slots);
    pythia_free(t->old);
    *t = (struct pythia_hash_table){0};
}

size_t pythia_hash_table_bytes(const struct pythia_hash_table *t)
{
    return slot_bytes(t->slots, t->mask) + slot_bytes(t->old, t->old_mask);
}

void pythia_hash_table_clear(struct pythia_hash_table *t)
{
    if (t->count == 0 && !t->old)
        return;
    if (t->old || (t->mask >= FIRST_SLOTS && t->mask / SPARSE >= t->count)) {
        pythia_hash_table_free(t);
        return;
    }
    memset(t->slots, 0, slot_bytes(t->slots, t->mask));
    t->count = 0;
}

/* Put a slot into an array that has an empty one: before the first slot that is nearer to its home.
 * All from there to the next empty slot move on by one, and stay in order of their homes. */
static void put_slot(struct pythia_hash_slot *slots, uint32_t mask, struct pythia_hash_slot putting)
{
    uint32_t i = putting.hash & mask, away = 0;
    for (; slots[i].number && ((i - slots[i].hash) & mask) >= away; away++)
        i = (i + 1) & mask;
    for (; slots[i].number; i = (i + 1) & mask) {
        struct pythia_hash_slot moving = slots[i];
        slots[i] = putting;
        putting = moving;
    }
    slots[i] = putting;
}

static void move_slots(struct pythia_hash_table *t)
{
    for (uint32_t n = 0; n < MOVED_SLOTS && t->moved <= t->old_mask; n++, t->moved++) {
        struct pythia_hash_slot *slot = &t->old[t->moved];
        if (!slot->number || slot->number == PYTHIA_HASH_TABLE_GONE)
            continue;
        put_slot(t->slots, t->mask, *slot);
        slot->number = PYTHIA_HASH_TABLE_GONE;
    }
    if (t->moved <= t->old_mask)
        return;
    pythia_free(t->old);
    t->old = NULL;
}

static int grow_slots(struct pythia_hash_table *t)
{
    uint32_t size = t->slots ? (t->mask + 1) * 2 : FIRST_SLOTS;
    struct pythia_hash_slot *slots =
        t->count < PYTHIA_HASH_TABLE_MOST ? pythia_calloc(size, sizeof(*slots)) : NULL;
    if (!slots)
        return PYTHIA_ENOMEM;
    if (!t->slots)
        t->seed = pythia_hash_seed();
    assert(!t->old); /* it was empty long before the new one could be full */
    t->old = t->slots;
    t->old_mask = t->mask;
    t->moved = 0;
    t->slots = slots;
    t->mask = size - 1;
    return PYTHIA_OK;
}

int pythia_hash_table_add(struct pythia_hash_table *t, uint64_t hash, uint32_t index)
{
    assert(index < PYTHIA_HASH_TABLE_MOST);
    if ((!t->slots || t->count >= (t->mask + 1) / 8 * 7) && grow_slots(t) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (t->old)
        move_slots(t);
    put_slot(t->slots, t->mask, (struct pythia_hash_slot){mix_in_seed(t, hash), index + 1});
    t->count++;
    return PYTHIA_OK;
}

/* The slot of an index, which is there; *in_old: in which array. */
static struct pythia_hash_slot *find_slot_of(struct pythia_hash_table *t, uint32_t hash,
                                             uint32_t index, bool *in_old)
{
    *in_old = false;
    for (uint32_t i = hash & t->mask, away = 0;; i = (i + 1) & t->mask, away++) {
        struct pythia_hash_slot *s = &t->slots[i];
        if (s->number == index + 1)
            return s;
        if (s->number == 0 || ((i - s->hash) & t->mask) < away)
            break;
    }
    assert(t->old);
    *in_old = true;
    uint32_t i = hash & t->old_mask;
    while (t->old[i].number != index + 1)
        i = (i + 1) & t->old_mask;
    return &t->old[i];
}

/* Each slot behind the removed one that is not at its home moves up, as if the removed one had
 * never been there. */
void pythia_hash_table_remove(struct pythia_hash_table *t, uint64_t hash, uint32_t index)
{
    bool in_old;
    struct pythia_hash_slot *slot = find_slot_of(t, mix_in_seed(t, hash), index, &in_old);
    t->count--;
    if (in_old) {
        slot->number = PYTHIA_HASH_TABLE_GONE;
        return;
    }
    uint32_t hole = (uint32_t)(slot - t->slots), next = (hole + 1) & t->mask;
    for (; t->slots[next].number && ((next - t->slots[next].hash) & t->mask) > 0;
         hole = next, next = (next + 1) & t->mask)
        t->slots[hole] = t->slots[next];
    t->slots[hole].number = 0;
}

void pythia_hash_table_renumber(struct pythia_hash_table *t, uint64_t hash, uint32_t from,
                                uint32_t to)
{
    bool in_old;
    find_slot_of(t, mix_in_seed(t, hash), from, &in_old)->number = to + 1;
}
