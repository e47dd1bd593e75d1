#include "trace_ids.h"

#include "pythia/mem.h"
#include "pythia/status.h"

#define FIRST_SIZE 256
#define KIND_SHIFT 61 /* how it ended stands above the hash */
#define HASH_BITS  ((UINT64_C(1) << KIND_SHIFT) - 1)

/* How many ids a table has at most. */
static size_t ids_of_table(const struct pythia__finished_ids *f)
{
    return f->limit ? f->limit / 2 + f->limit % 2 : SIZE_MAX;
}

void pythia__finished_ids_free(struct pythia__finished_ids *f)
{
    for (int i = 0; i < PYTHIA__ID_TABLES; i++)
        pythia_free(f->tables[i].slots);
    *f = (struct pythia__finished_ids){.limit = f->limit};
}

static size_t find_id_slot(const struct pythia__id_table *t, uint64_t hash)
{
    size_t i = (size_t)((hash >> (KIND_SHIFT - 32)) * t->size >> 32); /* by its upper 32 bits */
    while (t->slots[i] != 0 && (t->slots[i] & HASH_BITS) != hash)
        i = i + 1 < t->size ? i + 1 : 0;
    return i;
}

static uint64_t *entry_of(const struct pythia__finished_ids *f, uint64_t hash)
{
    for (int i = 0; i < PYTHIA__ID_TABLES; i++) {
        if (f->tables[i].used == 0)
            continue;
        uint64_t *slot = &f->tables[i].slots[find_id_slot(&f->tables[i], hash)];
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

/* Ids that fill a table: with more of them, looking for one that is not there takes long. */
static size_t capacity_of(size_t size)
{
    return size / 4 * 3;
}

/* Double a table, up to what `most` ids need. */
static int enlarge_id_table(struct pythia__id_table *t, size_t most)
{
    struct pythia__id_table larger = {.size = t->size ? t->size * 2 : FIRST_SIZE, .used = t->used};
    if (capacity_of(larger.size) > most)
        larger.size = (most / 3 + 1) * 4;
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

static void forget_oldest_ids(struct pythia__finished_ids *f)
{
    pythia_free(f->tables[PYTHIA__ID_TABLES - 1].slots);
    for (int i = PYTHIA__ID_TABLES - 1; i > 0; i--)
        f->tables[i] = f->tables[i - 1];
    f->tables[0] = (struct pythia__id_table){0};
}

int pythia__finished_ids_set(struct pythia__finished_ids *f, uint64_t hash,
                             enum pythia__ending ending)
{
    hash &= HASH_BITS;
    uint64_t *entry = entry_of(f, hash), stored = hash | (uint64_t)ending << KIND_SHIFT;
    struct pythia__id_table *newest = &f->tables[0];
    if (entry) {
        *entry = stored;
        return PYTHIA_OK;
    }
    /* Ids are forgotten a table at a time: single removals would need an order of age, which
     * costs as much memory again as the ids. */
    if (newest->used >= ids_of_table(f))
        forget_oldest_ids(f);
    if (newest->used >= capacity_of(newest->size) &&
        enlarge_id_table(newest, ids_of_table(f)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    newest->slots[find_id_slot(newest, hash)] = stored;
    newest->used++;
    return PYTHIA_OK;
}

size_t pythia__finished_ids_bytes(const struct pythia__finished_ids *f)
{
    size_t slots = 0;
    for (int i = 0; i < PYTHIA__ID_TABLES; i++)
        slots += f->tables[i].size;
    return slots * sizeof(*f->tables[0].slots);
}

/* ---- pinned traces ---- */

static bool is_pinned_id(const void *ids, uint32_t index, const void *id)
{
    const struct pythia__pinned_ids *p = ids;
    return pythia_trace_id_equal(p->list[index], *(const struct pythia_trace_id *)id);
}

bool pythia__pinned_ids_has(const struct pythia__pinned_ids *p, uint64_t seed,
                            struct pythia_trace_id id)
{
    return p->count > 0 && pythia_hash_table_find(&p->by_id, pythia__hash_trace_id(seed, id),
                                                  is_pinned_id, p, &id) != PYTHIA_HASH_TABLE_NONE;
}

int pythia__pinned_ids_set(struct pythia__pinned_ids *p, uint64_t seed,
                           const struct pythia_trace_id *traces, size_t count)
{
    struct pythia_trace_id *list = pythia_realloc(p->list, count, sizeof(*list));
    if (!list)
        return PYTHIA_ENOMEM;
    p->list = list;
    p->count = 0;
    pythia_hash_table_clear(&p->by_id);
    for (size_t i = 0; i < count; i++) {
        /* The list may name a trace twice. */
        if (pythia__pinned_ids_has(p, seed, traces[i]))
            continue;
        if (pythia_hash_table_add(&p->by_id, pythia__hash_trace_id(seed, traces[i]),
                                  (uint32_t)p->count) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        list[p->count++] = traces[i];
    }
    return PYTHIA_OK;
}

size_t pythia__pinned_ids_bytes(const struct pythia__pinned_ids *p)
{
    return p->count * sizeof(*p->list) + pythia_hash_table_bytes(&p->by_id);
}

void pythia__pinned_ids_free(struct pythia__pinned_ids *p)
{
    pythia_hash_table_free(&p->by_id);
    pythia_free(p->list);
    *p = (struct pythia__pinned_ids){0};
}
