#include "finished_ids.h"

#include "pythia/mem.h"
#include "pythia/status.h"

#define KIND_SHIFT 61 /* how it ended stands above the hash */
#define HASH_BITS  ((UINT64_C(1) << KIND_SHIFT) - 1)

static void free_id_table(struct pythia__id_table *t)
{
    pythia_free(t->ids);
    pythia_hash_table_free(&t->by_hash);
    *t = (struct pythia__id_table){0};
}

void pythia__finished_ids_free(struct pythia__finished_ids *f)
{
    free_id_table(&f->newer);
    free_id_table(&f->older);
}

static bool has_hash(const void *table, uint32_t index, const void *hash)
{
    return (((const struct pythia__id_table *)table)->ids[index] & HASH_BITS) ==
           *(const uint64_t *)hash;
}

static uint64_t *find_id(const struct pythia__finished_ids *f, uint64_t hash)
{
    const struct pythia__id_table *tables[] = {&f->newer, &f->older};
    for (int i = 0; i < 2; i++) {
        uint32_t index =
            pythia_hash_table_find(&tables[i]->by_hash, hash, has_hash, tables[i], &hash);
        if (index != PYTHIA_HASH_TABLE_NONE)
            return &tables[i]->ids[index];
    }
    return NULL;
}

enum pythia__ending pythia__finished_ids_find(const struct pythia__finished_ids *f, uint64_t hash)
{
    const uint64_t *id = find_id(f, hash & HASH_BITS);
    return id ? (enum pythia__ending)(*id >> KIND_SHIFT) : PYTHIA__ENDED_NOT;
}

int pythia__finished_ids_set(struct pythia__finished_ids *f, uint64_t hash,
                             enum pythia__ending ending)
{
    hash &= HASH_BITS;
    uint64_t *known = find_id(f, hash), stored = hash | (uint64_t)ending << KIND_SHIFT;
    if (known) {
        *known = stored;
        return PYTHIA_OK;
    }
    struct pythia__id_table *t = &f->newer;
    if (f->limit && t->count >= f->limit) {
        free_id_table(&f->older);
        f->older = f->newer;
        f->newer = (struct pythia__id_table){0};
    }
    if (pythia_grow(&t->ids, &t->capacity, t->count, sizeof(*t->ids)) != PYTHIA_OK ||
        pythia_hash_table_add(&t->by_hash, hash, (uint32_t)t->count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    t->ids[t->count++] = stored;
    return PYTHIA_OK;
}

static size_t id_table_bytes(const struct pythia__id_table *t)
{
    return t->capacity * sizeof(*t->ids) + pythia_hash_table_bytes(&t->by_hash);
}

size_t pythia__finished_ids_bytes(const struct pythia__finished_ids *f)
{
    return id_table_bytes(&f->newer) + id_table_bytes(&f->older);
}
