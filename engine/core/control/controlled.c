#include "controlled.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

void pythia__controlled_free(struct pythia__controlled_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        pythia_free(t->points[i].id.bytes);
    for (size_t i = 0; i < t->target_count; i++)
        pythia_free(t->targets[i].name.bytes);
    pythia_free(t->points);
    pythia_free(t->targets);
    pythia_hash_table_free(&t->by_id);
    *t = (struct pythia__controlled_table){0};
}

/* The key that finds a point. */
struct point_key {
    size_t plane;
    struct pythia_text target, id;
};

/* Programs choose the names. */
static uint64_t hash_point(const struct point_key *k)
{
    uint64_t hash = pythia_hash_mix(k->plane, pythia_hash_seeded(k->target.bytes, k->target.size));
    return pythia_hash_mix(hash, pythia_hash_seeded(k->id.bytes, k->id.size));
}

static bool is_controlled_point(const void *table, uint32_t index, const void *key)
{
    const struct pythia__controlled_table *t = table;
    const struct pythia__controlled *p = &t->points[index];
    const struct pythia__controlled_target *target = &t->targets[p->target];
    const struct point_key *k = key;
    return target->plane == k->plane && pythia_text_equal(p->id, k->id) &&
           pythia_text_equal(target->name, k->target);
}

struct pythia__controlled *pythia__controlled_find(const struct pythia__controlled_table *t,
                                                   size_t plane, struct pythia_text target,
                                                   struct pythia_text id)
{
    const struct point_key key = {plane, target, id};
    uint32_t found =
        pythia_hash_table_find(&t->by_id, hash_point(&key), is_controlled_point, t, &key);
    return found == PYTHIA_HASH_TABLE_NONE ? NULL : &t->points[found];
}

/* The target of the last point is nearly always that of the next. */
static int find_target(struct pythia__controlled_table *t, size_t plane, struct pythia_text name,
                       size_t *out)
{
    size_t last = t->count ? t->points[t->count - 1].target : 0, empty = t->target_count;
    for (size_t i = 0; i < t->target_count; i++) {
        size_t at = (last + i) % t->target_count;
        const struct pythia__controlled_target *target = &t->targets[at];
        if (!target->name.bytes)
            empty = at;
        else if (target->plane == plane && pythia_text_equal(target->name, name)) {
            *out = at;
            return PYTHIA_OK;
        }
    }
    char *copy = pythia_strndup(name.bytes, name.size);
    if (!copy || pythia_grow(&t->targets, &t->target_capacity, t->target_count,
                             sizeof(*t->targets)) != PYTHIA_OK) {
        pythia_free(copy);
        return PYTHIA_ENOMEM;
    }
    t->targets[empty] =
        (struct pythia__controlled_target){.name = {copy, name.size}, .plane = plane};
    t->target_count += empty == t->target_count;
    *out = empty;
    return PYTHIA_OK;
}

struct pythia__controlled *pythia__controlled_make(struct pythia__controlled_table *t, size_t plane,
                                                   struct pythia_text target, struct pythia_text id)
{
    size_t of;
    struct pythia__controlled *known = pythia__controlled_find(t, plane, target, id);
    if (known)
        return known;
    const struct point_key key = {plane, target, id};
    uint64_t hash = hash_point(&key);
    char *copy = pythia_strndup(id.bytes, id.size);
    if (!copy || pythia_grow(&t->points, &t->capacity, t->count, sizeof(*t->points)) != PYTHIA_OK ||
        pythia_hash_table_add(&t->by_id, hash, (uint32_t)t->count) != PYTHIA_OK) {
        pythia_free(copy);
        return NULL;
    }
    if (find_target(t, plane, target, &of) != PYTHIA_OK) {
        pythia_hash_table_remove(&t->by_id, hash, (uint32_t)t->count);
        pythia_free(copy);
        return NULL;
    }
    struct pythia__controlled *point = &t->points[t->count++];
    *point = (struct pythia__controlled){.id = {copy, id.size},
                                         .hash = hash,
                                         .target = of,
                                         .price_ns = NAN,
                                         .seen_of = {.price_ns = NAN}};
    t->targets[of].points++;
    return point;
}

size_t pythia__controlled_sweep(struct pythia__controlled_table *t, size_t plane, uint64_t seen)
{
    uint32_t kept = 0;
    size_t before = t->count;
    for (uint32_t i = 0; i < before; i++) {
        struct pythia__controlled *p = &t->points[i];
        if (t->targets[p->target].plane != plane || p->seen == seen) {
            if (kept != i)
                pythia_hash_table_renumber(&t->by_id, p->hash, i, kept);
            t->points[kept++] = *p;
            continue;
        }
        pythia_hash_table_remove(&t->by_id, p->hash, i);
        struct pythia__controlled_target *target = &t->targets[p->target];
        target->lost -= p->result == PYTHIA_CONTROL_LOST;
        if (--target->points == 0) {
            pythia_free(target->name.bytes);
            *target = (struct pythia__controlled_target){0};
        }
        pythia_free(p->id.bytes);
    }
    t->count = kept;
    return before - kept;
}

void pythia__controlled_result(struct pythia__controlled_table *t, struct pythia__controlled *point,
                               enum pythia_control_result result)
{
    struct pythia__controlled_target *target = &t->targets[point->target];
    target->lost += result == PYTHIA_CONTROL_LOST;
    target->lost -= point->result == PYTHIA_CONTROL_LOST;
    point->result = result;
}
