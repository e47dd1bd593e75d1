#include "finished_ids.h"

#include "pythia/mem.h"
#include "pythia/status.h"

#define FIRST_SIZE 256
#define KIND_SHIFT 61 /* how it ended stands above the hash */
#define HASH_BITS  ((UINT64_C(1) << KIND_SHIFT) - 1)

void pythia__finished_ids_free(struct pythia__finished_ids *f)
{
    pythia_free(f->newer.slots);
    pythia_free(f->older.slots);
    *f = (struct pythia__finished_ids){.limit = f->limit};
}

static size_t find_id_slot(const struct pythia__id_table *t, uint64_t hash)
{
    size_t i = hash & (t->size - 1);
    while (t->slots[i] != 0 && (t->slots[i] & HASH_BITS) != hash)
        i = (i + 1) & (t->size - 1);
    return i;
}

static uint64_t *entry_of(const struct pythia__finished_ids *f, uint64_t hash)
{
    const struct pythia__id_table *tables[] = {&f->newer, &f->older};
    for (int i = 0; i < 2; i++)
        if (tables[i]->used > 0) {
            uint64_t *slot = &tables[i]->slots[find_id_slot(tables[i], hash)];
            if (*slot)
                return slot;
        }
    return NULL;
}

enum pythia__ending pythia__finished_ids_find(const struct pythia__finished_ids *f, uint64_t hash)
{
    const uint64_t *entry = entry_of(f, hash & HASH_BITS);
    return entry ? (enum pythia__ending)(*entry >> KIND_SHIFT) : PYTHIA__ENDED_NOT;
}

static int enlarge_id_table(struct pythia__id_table *t)
{
    struct pythia__id_table larger = {.size = t->size ? t->size * 2 : FIRST_SIZE, .used = t->used};
    larger.slots = pythia_calloc(larger.size, sizeof(*larger.slots));
    if (!larger.slots)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i])
            larger.slots[find_id_slot(&larger, t->slots[i] & HASH_BITS)] = t->slots[i];
    pythia_free(t->slots);
    *t = larger;
    return PYTHIA_OK;
}

int pythia__finished_ids_set(struct pythia__finished_ids *f, uint64_t hash,
                             enum pythia__ending ending)
{
    hash &= HASH_BITS;
    uint64_t *entry = entry_of(f, hash), stored = hash | (uint64_t)ending << KIND_SHIFT;
    if (entry) {
        *entry = stored;
        return PYTHIA_OK;
    }
    if (f->limit && f->newer.used >= f->limit) {
        pythia_free(f->older.slots);
        f->older = f->newer;
        f->newer = (struct pythia__id_table){0};
    }
    if (f->newer.used >= f->newer.size / 2 && enlarge_id_table(&f->newer) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    f->newer.slots[find_id_slot(&f->newer, hash)] = stored;
    f->newer.used++;
    return PYTHIA_OK;
}

size_t pythia__finished_ids_bytes(const struct pythia__finished_ids *f)
{
    return (f->newer.size + f->older.size) * sizeof(*f->newer.slots);
}
