#include "controlled.h"

#include <math.h>
#include <string.h>

#include "pythia/hash.h"
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
    pythia_free(t->slots);
    *t = (struct pythia__controlled_table){0};
}

static uint64_t hash_point(size_t plane, struct pythia_text target, struct pythia_text id)
{
    uint64_t hash = pythia_hash_mix(plane, pythia_hash_bytes(target.bytes, target.size));
    return pythia_hash_mix(hash, pythia_hash_bytes(id.bytes, id.size));
}

/* Names of no bytes have an address too: pythia_strndup gives one. */
static bool is_same_point(const struct pythia__controlled_table *t,
                          const struct pythia__controlled *p, uint64_t hash, size_t plane,
                          struct pythia_text target, struct pythia_text id)
{
    return p->hash == hash && t->targets[p->target].plane == plane &&
           pythia_text_equal(p->id, id) && pythia_text_equal(t->targets[p->target].name, target);
}

/* The slot that holds it, or the empty one where it belongs. */
static size_t find_point_slot(const struct pythia__controlled_table *t, uint64_t hash, size_t plane,
                              struct pythia_text target, struct pythia_text id)
{
    size_t at = hash & (t->slot_count - 1);
    while (t->slots[at] && !is_same_point(t, &t->points[t->slots[at] - 1], hash, plane, target, id))
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

struct pythia__controlled *pythia__controlled_find(const struct pythia__controlled_table *t,
                                                   size_t plane, struct pythia_text target,
                                                   struct pythia_text id)
{
    if (t->slot_count == 0)
        return NULL;
    size_t at = find_point_slot(t, hash_point(plane, target, id), plane, target, id);
    return t->slots[at] ? &t->points[t->slots[at] - 1] : NULL;
}

/* Put every point into the slots anew. */
static void fill_slots(struct pythia__controlled_table *t)
{
    if (t->slot_count)
        memset(t->slots, 0, t->slot_count * sizeof(*t->slots));
    for (size_t i = 0; i < t->count; i++) {
        size_t at = t->points[i].hash & (t->slot_count - 1);
        while (t->slots[at])
            at = (at + 1) & (t->slot_count - 1);
        t->slots[at] = (uint32_t)i + 1;
    }
}

/* At most half of the slots are taken. */
static int grow_controlled(struct pythia__controlled_table *t)
{
    if (pythia_grow(&t->points, &t->capacity, t->count, sizeof(*t->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (t->count * 2 < t->slot_count)
        return PYTHIA_OK;
    size_t slot_count = t->slot_count ? t->slot_count * 2 : 64;
    uint32_t *slots = pythia_realloc(t->slots, slot_count, sizeof(*slots));
    if (!slots)
        return PYTHIA_ENOMEM;
    t->slots = slots;
    t->slot_count = slot_count;
    fill_slots(t);
    return PYTHIA_OK;
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
    char *copy = pythia_strndup(id.bytes, id.size);
    if (!copy || t->count >= UINT32_MAX - 1 || grow_controlled(t) != PYTHIA_OK ||
        find_target(t, plane, target, &of) != PYTHIA_OK) {
        pythia_free(copy);
        return NULL;
    }
    struct pythia__controlled *point = &t->points[t->count];
    *point = (struct pythia__controlled){.id = {copy, id.size},
                                         .hash = hash_point(plane, target, id),
                                         .target = of,
                                         .price_ns = NAN,
                                         .seen_of = {.price_ns = NAN}};
    t->slots[find_point_slot(t, point->hash, plane, target, id)] = (uint32_t)++t->count;
    t->targets[of].points++;
    return point;
}

size_t pythia__controlled_sweep(struct pythia__controlled_table *t, size_t plane, uint64_t seen)
{
    size_t kept = 0, before = t->count;
    for (size_t i = 0; i < t->count; i++) {
        struct pythia__controlled *p = &t->points[i];
        if (t->targets[p->target].plane != plane || p->seen == seen) {
            t->points[kept++] = *p;
            continue;
        }
        struct pythia__controlled_target *target = &t->targets[p->target];
        target->lost -= p->result == PYTHIA_CONTROL_LOST;
        if (--target->points == 0) {
            pythia_free(target->name.bytes);
            *target = (struct pythia__controlled_target){0};
        }
        pythia_free(p->id.bytes);
    }
    t->count = kept;
    if (kept != before)
        fill_slots(t);
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
