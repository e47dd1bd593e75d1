#include "pythia/groups_merge.h"

#include "groups_parts.h"
#include "pythia/hash.h"
#include "pythia/status.h"

int pythia_groups_merge_type(struct pythia_groups *g, const struct pythia_type *part)
{
    struct pythia_type *t = pythia__groups_type(g, part->name, part->name);
    int status = t ? pythia_sketch_merge(t->sketch, part->sketch) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        return status;
    t->path_at = part->path_at;
    t->heaviest = part->heaviest > t->heaviest ? part->heaviest : t->heaviest;
    pythia_exact_moments_merge(&t->moments, &part->moments);
    pythia_exact_moments_merge(&t->client, &part->client);
    pythia_exact_moments_merge(&g->moments, &part->moments);
    /* A level that was cut has too many structures in the union, too. */
    if (part->too_varied && part->levels < t->levels)
        pythia__groups_cut(t, part->levels);
    return PYTHIA_OK;
}

static struct pythia_type *merged_type(struct pythia_groups *g, uint32_t type)
{
    return &g->types[g->type_of_part[type] - 1];
}

int pythia_groups_merge_structure(struct pythia_groups *g, uint32_t type,
                                  const struct pythia_structure *part)
{
    struct pythia_type *t = merged_type(g, type);
    return part->level < t->levels ? pythia__groups_add_structure(t, part) : PYTHIA_OK;
}

int pythia_groups_merge_rows(struct pythia_groups *g, uint32_t type,
                             const struct pythia_critical_path *path, uint32_t edge_count,
                             const struct pythia_row *rows, size_t count)
{
    struct pythia_type *t = merged_type(g, type);
    struct pythia_groups_entry *e = pythia__groups_entry(g, (uint32_t)(t - g->types), path);
    int status = PYTHIA_OK;
    if (!e)
        return PYTHIA_ENOMEM;
    if (e->shape->edge_count != edge_count)
        return PYTHIA_EINVAL;
    /* Nothing is looked up while rows of the entry are added: it stays, even if none of them is
     * kept. */
    for (size_t i = 0; i < count && !status; i++) {
        if (!pythia_sample_wants(t->rows, pythia_row_key(rows[i].hash, rows[i].weight)))
            continue;
        struct pythia_row *row = pythia_row_copy(g->rows, &rows[i], e->shape);
        if (!row)
            return PYTHIA_ENOMEM;
        row->parent = 0;
        status = pythia__groups_keep_row(g, t, e, row);
    }
    return status;
}

struct pythia_keys *pythia_groups_merge_keys(struct pythia_groups *g)
{
    return g->keys;
}

/* The name of a structure mixes the type, the number of spans at the top of the path, here one, and
 * the name of that span (find_levels in shape.c). */
uint64_t pythia_structure_renamed(uint64_t name, uint64_t old_type, uint64_t new_type)
{
    uint64_t span = pythia_hash_unmix(pythia_hash_mix(old_type, 1), name);
    return pythia_hash_mix(pythia_hash_mix(new_type, 1), span);
}
