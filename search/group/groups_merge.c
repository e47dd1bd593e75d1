#include "pythia/groups_merge.h"

#include <assert.h>

#include "groups_parts.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
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

/* ---- parts ---- */

int pythia_groups_create_part(struct pythia_groups *whole, size_t parts, struct pythia_groups **out)
{
    struct pythia_groups_options options = whole->options;
    assert(!options.key && !options.skeleton);
    options.rows_per_type = whole->rows_per_type;
    return pythia__groups_create(whole->vocabulary, &options, whole, parts, out);
}

/* Add the counts of a type, and the structures that shapes have left behind. */
static int join_type(struct pythia_groups *g, const struct pythia_type *part, uint32_t *number)
{
    struct pythia_type *t = pythia__groups_type(g, part->unsplit, part->part);
    int status = t ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        return status;
    *number = (uint32_t)(t - g->types);
    uint32_t path_at = t->path_at;
    status = pythia_groups_merge_type(g, part);
    if (status != PYTHIA_OK)
        return status;
    t->path_at = part->path_at ? part->path_at : path_at;
    for (size_t i = 0; i < part->structure_count && status == PYTHIA_OK; i++)
        status = pythia_groups_merge_structure(g, part->part, &part->structures[i]);
    return status;
}

/* Add what an entry has gathered to the one of the same path. Its rows, which are still the part's,
 * count as rows of that one from now on, so that it stays. */
static int merge_entries(struct pythia_groups *g, struct pythia_groups_entry *same,
                         struct pythia_groups_entry *e)
{
    int status = pythia_sketch_merge(same->sketch, e->sketch);
    if (status != PYTHIA_OK)
        return status;
    pythia_exact_moments_merge(&same->moments, &e->moments);
    g->held += same->rows == 0 && e->rows > 0;
    same->rows += e->rows;
    e->next = same;
    return PYTHIA_OK;
}

/* Move the entries of the part to the cache of the whole, but for those of paths that are there
 * already: they stay, and `next`, of which there is no other use yet, leads to the others. */
static int join_entries(struct pythia_groups *g, struct pythia_groups *part,
                        const uint32_t *numbers)
{
    size_t kept = 0, i = 0;
    int status = PYTHIA_OK;
    for (; i < part->entry_count && status == PYTHIA_OK; i++) {
        struct pythia_groups_entry *e = part->entries[i];
        uint32_t old = e->type;
        struct pythia_groups_entry *same =
            pythia__groups_find_entry(g, numbers[old], e->shape->hash);
        if (same && same->shape->gap_count == e->shape->gap_count) {
            part->entries[kept++] = e;
            status = merge_entries(g, same, e);
            continue;
        }
        e->type = numbers[old];
        status = pythia__groups_list_entry(g, e);
        if (status != PYTHIA_OK) {
            e->type = old;
            part->entries[kept++] = e;
            continue;
        }
        size_t bytes = pythia__groups_entry_bytes(e->shape);
        g->shape_bytes += bytes;
        part->shape_bytes -= bytes;
    }
    /* After a failure the rest is still the part's, too. */
    for (; i < part->entry_count; i++)
        part->entries[kept++] = part->entries[i];
    part->entry_count = kept;
    return status;
}

static int join_rows(struct pythia_groups *g, struct pythia_type *t, struct pythia_type *part)
{
    size_t count = pythia_sample_count(part->rows);
    for (size_t i = 0; i < count; i++) {
        struct pythia_row *row = pythia_sample_row(part->rows, i);
        struct pythia_groups_entry *e = row->holder;
        if (!e->next)
            continue;
        row->holder = e->next;
        row->shape = e->next->shape;
    }
    /* The sample drops rows at once when it has too many, and they are counted then. */
    g->row_count += count;
    int status = pythia_sample_move(part->rows, t->rows);
    g->row_count -= status == PYTHIA_OK ? 0 : count;
    return status;
}

int pythia_groups_join(struct pythia_groups *g, struct pythia_groups *part)
{
    uint32_t *numbers = pythia_calloc(part->type_count, sizeof(*numbers));
    int status = numbers ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; i < part->type_count && status == PYTHIA_OK; i++)
        status = join_type(g, &part->types[i], &numbers[i]);
    if (status == PYTHIA_OK)
        status = join_entries(g, part, numbers);
    if (status != PYTHIA_OK)
        goto out;
    pythia_row_maker_join(g->rows, part->rows);
    for (size_t i = 0; i < part->type_count && status == PYTHIA_OK; i++)
        status = join_rows(g, &g->types[numbers[i]], &part->types[i]);
    pythia__groups_shrink(g);
out:
    pythia_free(numbers);
    pythia_groups_destroy(part);
    return status;
}

bool pythia_groups_are_whole(const struct pythia_groups *g)
{
    for (size_t i = 0; i < g->type_count; i++)
        if (!pythia_sample_is_whole(g->types[i].rows))
            return false;
    return true;
}

/* The name of a structure mixes the type, the number of spans at the top of the path, here one, and
 * the name of that span (find_levels in shape.c). */
uint64_t pythia_structure_renamed(uint64_t name, uint64_t old_type, uint64_t new_type)
{
    uint64_t span = pythia_hash_unmix(pythia_hash_mix(old_type, 1), name);
    return pythia_hash_mix(pythia_hash_mix(new_type, 1), span);
}
