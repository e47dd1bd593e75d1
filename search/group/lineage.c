#include "pythia/lineage.h"

#include "pythia/hash.h"
#include "pythia/hider.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define CACHED 1024 /* paths of the skeleton; a power of two */

/* A path that was seen, and what it is called. */
struct known {
    uint64_t hash, type_hash;
    size_t events; /* 0: none */
    struct pythia_lineage lineage;
};

struct pythia_lineages {
    struct pythia_open_points *skeleton;
    enum pythia_latency latency;
    struct pythia_hider *hider;
    struct pythia_cct *cct;
    struct pythia_shape_maker *shapes;
    struct pythia_critical_path path;
    struct known *known; /* by hash */
};

uint64_t pythia_lineage_id(uint64_t type_hash, uint32_t level, uint64_t name)
{
    return pythia_hash_mix(pythia_hash_mix(type_hash, level), name);
}

uint64_t pythia_lineage_parent(const struct pythia_lineage *l)
{
    return l->count ? l->ids[l->count - 1] : 0;
}

void pythia_lineage_meet(struct pythia_lineage *l, const struct pythia_lineage *other)
{
    if (l->count == 0)
        *l = *other;
    while (l->count > other->count ||
           (l->count && l->ids[l->count - 1] != other->ids[l->count - 1]))
        l->count--;
}

int pythia_lineages_create(const struct pythia_vocabulary *vocabulary,
                           struct pythia_open_points *skeleton, enum pythia_latency latency,
                           bool fold, struct pythia_lineages **out)
{
    struct pythia_lineages *l = pythia_calloc(1, sizeof(*l));
    if (!l)
        return PYTHIA_ENOMEM;
    l->skeleton = skeleton;
    l->latency = latency;
    l->known = pythia_calloc(CACHED, sizeof(*l->known));
    pythia_critical_path_init(&l->path);
    if (!l->known || pythia_hider_create(vocabulary, &l->hider) != PYTHIA_OK ||
        pythia_cct_create(vocabulary, &l->cct) != PYTHIA_OK ||
        pythia_shape_maker_create(l->cct, fold, &l->shapes) != PYTHIA_OK) {
        pythia_lineages_destroy(l);
        return PYTHIA_ENOMEM;
    }
    *out = l;
    return PYTHIA_OK;
}

void pythia_lineages_destroy(struct pythia_lineages *l)
{
    if (!l)
        return;
    pythia_shape_maker_destroy(l->shapes);
    pythia_cct_destroy(l->cct);
    pythia_hider_destroy(l->hider);
    pythia_critical_path_free(&l->path);
    pythia_free(l->known);
    pythia_free(l);
}

/* The name of a path of the skeleton. */
static int name_path(struct pythia_lineages *l, const struct pythia_critical_path *path,
                     uint64_t type_hash, struct pythia_lineage *out)
{
    struct pythia_shape *shape = pythia_shape_make(l->shapes, path, type_hash);
    if (!shape)
        return PYTHIA_ENOMEM;
    out->count = shape->level_count;
    out->ids[0] = pythia_lineage_id(type_hash, 0, 0);
    for (uint32_t level = 1; level < shape->level_count; level++)
        out->ids[level] = pythia_lineage_id(type_hash, level, shape->levels[level]);
    pythia_free(shape);
    return PYTHIA_OK;
}

int pythia_lineages_find(struct pythia_lineages *l, const struct pythia_trace *trace,
                         const struct pythia_critical_path *path, uint64_t type_hash,
                         struct pythia_lineage *out)
{
    const struct pythia_trace *left = NULL;
    int status = pythia_hider_hide(l->hider, trace, l->skeleton, &left);
    /* No span is left of the skeleton: the request belongs to the root of the tree alone. */
    if (status == 1) {
        *out = (struct pythia_lineage){.count = 1, .ids = {pythia_lineage_id(type_hash, 0, 0)}};
        return PYTHIA_OK;
    }
    if (status != PYTHIA_OK)
        return status;
    if (left != trace) {
        status = pythia_critical_path_find(&l->path, left, l->latency);
        if (status != PYTHIA_OK)
            return status;
        path = &l->path;
    }
    uint64_t hash = pythia_shape_hash(path);
    struct known *k = &l->known[pythia_hash_mix(hash, type_hash) & (CACHED - 1)];
    if (k->hash != hash || k->type_hash != type_hash || k->events != path->count) {
        /* Mark the slot empty until the name is complete: after a failed allocation a half-made
         * lineage must not be found by the next request of this shape. */
        k->events = 0;
        status = name_path(l, path, type_hash, &k->lineage);
        if (status != PYTHIA_OK)
            return status;
        *k = (struct known){hash, type_hash, path->count, k->lineage};
    }
    *out = k->lineage;
    return PYTHIA_OK;
}
