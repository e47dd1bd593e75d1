/* Most requests take a path that was seen before, so the work is done per shape and the hot path
 * is: find the critical path, hash it, find its shape, add the gaps. What a shape has gathered goes
 * to the structures of its type when it leaves the cache (a clock: shapes not used for a round go)
 * and, at the end, when somebody asks for the structures of that type: a cycle looks at few of its
 * types, and there may be a thousand. Rows of the sample hold on to their shapes. */
#include "pythia/groups.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "groups_parts.h"
#include "pythia/fair_sample.h"
#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define SHAPES_MAX      8192 /* in the cache, besides the shapes that rows hold */
#define STRUCTURES_MAX  1024 /* of a type at one level: beyond, the level tells nothing any more */
#define ROWS_PER_TYPE   2048
#define ROWS            8192
#define PART_DEVIATIONS 8    /* of the rows that a part has, above their mean */
#define ENTRY_BYTES     512  /* of what gathers for a shape, with its sketch */
#define TYPE_BYTES      2048 /* of a type, with its sketch and its sample */
#define STRUCTURE_BYTES 512

/* The places for rows of a type. Requests come to the parts by chance, so that of the rows that all
 * parts keep together one part has a share that is binomial: with so many places more it has too
 * few once in 10^15 times, and that is noticed (pythia_groups_are_whole). */
static size_t count_row_places(const struct pythia_groups *g)
{
    if (g->parts < 2)
        return g->rows_per_type;
    double mean = (double)g->rows_per_type / (double)g->parts,
           places = mean + PART_DEVIATIONS * sqrt(mean) + PART_DEVIATIONS;
    return places < (double)g->rows_per_type ? (size_t)places : g->rows_per_type;
}

/* The tree and the keys, or those of the whole. */
static int make_tree_and_keys(struct pythia_groups *g)
{
    if (g->whole) {
        g->cct = g->whole->cct;
        g->keys = g->whole->keys;
        return PYTHIA_OK;
    }
    int status = pythia_cct_create(g->vocabulary, &g->cct);
    return status == PYTHIA_OK ? pythia_keys_create(g->vocabulary, &g->keys) : status;
}

int pythia__groups_create(struct pythia_vocabulary *vocabulary,
                          const struct pythia_groups_options *options, struct pythia_groups *whole,
                          size_t parts, struct pythia_groups **out)
{
    struct pythia_groups *g = pythia_calloc(1, sizeof(*g));
    if (!g)
        return PYTHIA_ENOMEM;
    pthread_mutex_init(&g->lock, NULL);
    g->vocabulary = vocabulary;
    g->options = *options;
    g->whole = whole;
    g->rows_per_type = options->rows_per_type ? options->rows_per_type : ROWS_PER_TYPE;
    g->options.rows = options->rows ? options->rows : ROWS;
    g->parts = parts;
    g->row_places = count_row_places(g);
    /* Zero, which calloc left here, is the number of a string. */
    g->last = PYTHIA_NONE;
    if (make_tree_and_keys(g) != PYTHIA_OK ||
        pythia_request_types_create(vocabulary, &options->types, &g->namer) != PYTHIA_OK ||
        pythia_shape_maker_create(g->cct, options->fold, &g->shapes) != PYTHIA_OK ||
        pythia_row_maker_create(vocabulary, g->keys, &g->rows) != PYTHIA_OK ||
        (whole && pythia_row_maker_beside(g->rows) != PYTHIA_OK) ||
        (options->skeleton &&
         pythia_lineages_create(vocabulary, options->skeleton, options->latency, options->fold,
                                &g->lineages) != PYTHIA_OK)) {
        pythia_groups_destroy(g);
        return PYTHIA_ENOMEM;
    }
    *out = g;
    return PYTHIA_OK;
}

int pythia_groups_create(struct pythia_vocabulary *vocabulary,
                         const struct pythia_groups_options *options, struct pythia_groups **out)
{
    return pythia__groups_create(vocabulary, options, NULL, 1, out);
}

size_t pythia__groups_entry_bytes(const struct pythia_shape *s)
{
    return sizeof(*s) + s->gap_count * sizeof(*s->slots) +
           s->edge_count * (sizeof(*s->edges) + sizeof(*s->repeats)) +
           s->point_count * (sizeof(*s->points) + sizeof(*s->point_counts)) + ENTRY_BYTES;
}

static void free_entry(struct pythia_groups *g, struct pythia_groups_entry *e)
{
    g->shape_bytes -= pythia__groups_entry_bytes(e->shape);
    pythia_sketch_destroy(e->sketch);
    pythia_free(e->shape);
    pythia_free(e);
}

void pythia_groups_destroy(struct pythia_groups *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->type_count; i++) {
        struct pythia_type *t = &g->types[i];
        pythia_sample_destroy(t->rows); /* lets go of shapes that are in no cache any more */
        for (size_t k = 0; k < t->structure_count && !t->same_path; k++)
            pythia_sketch_destroy(t->structures[k].sketch);
        pythia_sketch_destroy(t->sketch);
        pythia_free(t->fair);
        pythia_free(t->structures);
        pythia_hash_table_free(&t->by_name);
    }
    for (size_t i = 0; i < g->entry_count; i++)
        free_entry(g, g->entries[i]);
    pythia_free(g->types);
    pythia_free(g->type_of_part);
    pythia_free(g->entries);
    pythia_hash_table_free(&g->by_shape);
    pythia_critical_path_free(&g->path);
    pythia_row_maker_destroy(g->rows);
    pythia_lineages_destroy(g->lineages);
    pythia_shape_maker_destroy(g->shapes);
    pythia_request_types_destroy(g->namer);
    if (!g->whole) {
        pythia_keys_destroy(g->keys);
        pythia_cct_destroy(g->cct);
    }
    pthread_mutex_destroy(&g->lock);
    pythia_free(g);
}

/* ---- types and their structures ---- */

static void return_group_row(void *context, void *row)
{
    struct pythia_groups *g = context;
    struct pythia_groups_entry *e = ((struct pythia_row *)row)->holder;
    g->row_count--;
    pythia_row_free(g->rows, row);
    if (--e->rows > 0)
        return;
    if (e->listed)
        g->held--;
    else
        free_entry(g, e);
}

/* Structures and shapes are named after the request type, so that a type that nothing parts has the
 * same names with a grouping key as without one. */
struct pythia_type *pythia__groups_type(struct pythia_groups *g, uint32_t unsplit, uint32_t part)
{
    if (pythia_reach(&g->type_of_part, &g->part_capacity, part, sizeof(*g->type_of_part)) !=
        PYTHIA_OK)
        return NULL;
    if (g->type_of_part[part])
        return &g->types[g->type_of_part[part] - 1];
    if (pythia_grow(&g->types, &g->type_capacity, g->type_count, sizeof(*g->types)) != PYTHIA_OK)
        return NULL;
    /* The name and not its number: hashes must be the same in every run. */
    struct pythia_text text = pythia_vocabulary_text(g->vocabulary, unsplit);
    struct pythia_type type = {.name = unsplit,
                               .unsplit = unsplit,
                               .part = part,
                               .hash = pythia_hash_bytes(text.bytes, text.size),
                               .levels = PYTHIA_SHAPE_LEVELS};
    if (pythia_sketch_create(PYTHIA_SKETCH_ALPHA, &type.sketch) != PYTHIA_OK)
        return NULL;
    if (pythia_sample_create(g->row_places, return_group_row, g, &type.rows) != PYTHIA_OK) {
        pythia_sketch_destroy(type.sketch);
        return NULL;
    }
    g->types[g->type_count++] = type;
    g->type_of_part[part] = (uint32_t)g->type_count;
    return &g->types[g->type_count - 1];
}

static uint64_t hash_structure(const struct pythia_structure *s)
{
    return pythia_hash_mix(s->name, (uint64_t)s->level * 2 + s->whole);
}

static bool is_structure_named(const void *type, uint32_t index, const void *key)
{
    const struct pythia_structure *a = &((const struct pythia_type *)type)->structures[index],
                                  *b = key;
    return a->name == b->name && a->level == b->level && a->whole == b->whole;
}

void pythia__groups_cut(struct pythia_type *t, uint32_t level)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->structure_count; i++) {
        struct pythia_structure *s = &t->structures[i];
        /* Too deep to be kept: the names of those that move up are entered anew. */
        if (s->level >= level) {
            pythia_hash_table_remove(&t->by_name, hash_structure(s), i);
            pythia_sketch_destroy(s->sketch);
            continue;
        }
        if (kept != i)
            pythia_hash_table_renumber(&t->by_name, hash_structure(s), i, kept);
        t->structures[kept++] = *s;
    }
    t->structure_count = kept;
    t->levels = level;
    t->too_varied = true;
}

static struct pythia_structure *find_structure(struct pythia_type *t, uint64_t name, uint32_t level,
                                               bool whole)
{
    struct pythia_structure made = {.name = name, .level = level, .whole = whole};
    uint64_t hash = hash_structure(&made);
    uint32_t found = pythia_hash_table_find(&t->by_name, hash, is_structure_named, t, &made);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return &t->structures[found];
    if (pythia_grow(&t->structures, &t->structure_capacity, t->structure_count,
                    sizeof(*t->structures)) != PYTHIA_OK ||
        pythia_sketch_create(PYTHIA_SKETCH_ALPHA, &made.sketch) != PYTHIA_OK)
        return NULL;
    if (pythia_hash_table_add(&t->by_name, hash, (uint32_t)t->structure_count) != PYTHIA_OK) {
        pythia_sketch_destroy(made.sketch);
        return NULL;
    }
    t->structures[t->structure_count++] = made;
    t->level_counts[level]++;
    return &t->structures[t->structure_count - 1];
}

int pythia__groups_add_structure(struct pythia_type *t, const struct pythia_structure *part)
{
    struct pythia_structure *s = find_structure(t, part->name, part->level, part->whole);
    int status = s ? pythia_sketch_merge(s->sketch, part->sketch) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        return status;
    pythia_exact_moments_merge(&s->moments, &part->moments);
    pythia_lineage_meet(&s->lineage, &part->lineage);
    if (t->level_counts[part->level] > STRUCTURES_MAX)
        pythia__groups_cut(t, part->level);
    return PYTHIA_OK;
}

/* Add what an entry has gathered to its structure at one level. */
static int add_structure(struct pythia_type *t, const struct pythia_groups_entry *e, uint32_t level,
                         bool whole)
{
    return pythia__groups_add_structure(t,
                                        &(struct pythia_structure){.name = e->shape->levels[level],
                                                                   .level = level,
                                                                   .whole = whole,
                                                                   .moments = e->moments,
                                                                   .sketch = e->sketch,
                                                                   .lineage = e->lineage});
}

/* ---- shapes ---- */

/* Add what the shape has gathered to the structures; nothing is added to the shape any more. Where
 * memory runs out, the next call continues at the structure that failed. */
static int flush_entry_totals(struct pythia_type *t, struct pythia_groups_entry *e)
{
    uint32_t last = e->shape->level_count - 1;
    if (e->moments.n == 0)
        return PYTHIA_OK;
    for (; e->handed < last && e->handed + 1 < t->levels; e->handed++) {
        int status = add_structure(t, e, e->handed + 1, false);
        if (status != PYTHIA_OK)
            return status;
    }
    if (last < t->levels) {
        int status = add_structure(t, e, last, true);
        if (status != PYTHIA_OK)
            return status;
    }
    e->moments = (struct pythia_exact_moments){0};
    pythia_sketch_destroy(e->sketch);
    e->sketch = NULL;
    return PYTHIA_OK;
}

/* Is this the only shape that the type has, and was it never out of the cache? */
static bool is_only_shape(const struct pythia_type *t)
{
    const struct pythia_groups_entry *e = t->unsettled;
    return e && !e->next && t->structure_count == 0 && e->handed == 0 &&
           e->moments.n == t->moments.n;
}

/* If all requests of a type take one path, each structure has all of them, so its sketch is the
 * type's: most of a hundred thousand types are such. */
static int settle_same_path(struct pythia_type *t)
{
    struct pythia_groups_entry *e = t->unsettled;
    uint32_t last = e->shape->level_count - 1;
    struct pythia_structure *all = pythia_calloc((size_t)last + 1, sizeof(*all));
    if (!all)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i <= last; i++) {
        uint32_t level = i < last ? i + 1 : last; /* the last level once more, as a whole */
        all[i] = (struct pythia_structure){.name = e->shape->levels[level],
                                           .level = level,
                                           .whole = i == last,
                                           .moments = e->moments,
                                           .sketch = t->sketch,
                                           .lineage = e->lineage};
    }
    t->structures = all;
    t->structure_count = t->structure_capacity = (size_t)last + 1;
    t->levels = last + 1;
    t->same_path = t->settled = true;
    t->unsettled = NULL;
    e->moments = (struct pythia_exact_moments){0};
    pythia_sketch_destroy(e->sketch);
    e->sketch = NULL;
    return PYTHIA_OK;
}

/* A path of a type, as the cache finds it. */
struct entry_key {
    uint32_t type;
    uint64_t shape_hash;
};

static uint64_t hash_entry(uint32_t type, uint64_t shape_hash)
{
    return pythia_hash_mix(shape_hash, type);
}

static bool is_shape_entry(const void *groups, uint32_t place, const void *key)
{
    const struct pythia_groups_entry *e = ((const struct pythia_groups *)groups)->entries[place];
    const struct entry_key *k = key;
    return e->type == k->type && e->shape->hash == k->shape_hash;
}

static void remove_from_ring(struct pythia_groups *g, const struct pythia_groups_entry *e)
{
    struct pythia_groups_entry *last = g->entries[g->entry_count - 1];
    uint32_t place = (uint32_t)e->place;
    pythia_hash_table_remove(&g->by_shape, hash_entry(e->type, e->shape->hash), place);
    g->entry_count--;
    if (last == e)
        return;
    pythia_hash_table_renumber(&g->by_shape, hash_entry(last->type, last->shape->hash),
                               (uint32_t)last->place, place);
    g->entries[place] = last;
    last->place = place;
}

/* Take an entry out of the cache, also where memory runs out for its totals. */
static int unlist_entry(struct pythia_groups *g, struct pythia_groups_entry *e)
{
    int status = flush_entry_totals(&g->types[e->type], e);
    remove_from_ring(g, e);
    e->listed = false;
    if (e->rows == 0)
        free_entry(g, e);
    else
        g->held--;
    return status;
}

/* Free a slot in the ring: evict the next shape that was not used since the hand last passed.
 * Shapes that rows hold stay: without them the memory would be the same, and a type of a few
 * requests would make its shape anew for each of them. */
static int evict_entry(struct pythia_groups *g)
{
    assert(g->entry_count > g->held);
    for (;; g->hand++) {
        g->hand = g->hand < g->entry_count ? g->hand : 0;
        struct pythia_groups_entry *e = g->entries[g->hand];
        if (e->rows == 0 && !e->used)
            return unlist_entry(g, e);
        e->used = false;
    }
}

/* Parts share the tree in which shapes find their edges. Shapes are made for the few requests that
 * are unlike those before them. */
static struct pythia_shape *make_shape(struct pythia_groups *g, uint32_t type,
                                       const struct pythia_critical_path *path)
{
    if (g->whole)
        pthread_mutex_lock(&g->whole->lock);
    struct pythia_shape *shape = pythia_shape_make(g->shapes, path, g->types[type].hash);
    if (g->whole)
        pthread_mutex_unlock(&g->whole->lock);
    return shape;
}

static struct pythia_groups_entry *make_entry(struct pythia_groups *g, uint32_t type,
                                              const struct pythia_critical_path *path)
{
    struct pythia_shape *shape = make_shape(g, type, path);
    struct pythia_groups_entry *e = shape ? pythia_calloc(1, sizeof(*e)) : NULL;
    if (!e) {
        pythia_free(shape);
        return NULL;
    }
    e->shape = shape;
    e->type = type;
    /* The cache is bounded by bytes, because shapes differ a thousandfold in size. */
    g->shape_bytes += pythia__groups_entry_bytes(shape);
    if (pythia_sketch_create(PYTHIA_SKETCH_ALPHA, &e->sketch) != PYTHIA_OK) {
        free_entry(g, e);
        return NULL;
    }
    return e;
}

struct pythia_groups_entry *pythia__groups_find_entry(const struct pythia_groups *g, uint32_t type,
                                                      uint64_t shape_hash)
{
    const struct entry_key key = {type, shape_hash};
    uint32_t place =
        pythia_hash_table_find(&g->by_shape, hash_entry(type, shape_hash), is_shape_entry, g, &key);
    return place == PYTHIA_HASH_TABLE_NONE ? NULL : g->entries[place];
}

int pythia__groups_list_entry(struct pythia_groups *g, struct pythia_groups_entry *e)
{
    int status = PYTHIA_OK;
    if (g->entry_count - g->held >= SHAPES_MAX)
        status = evict_entry(g);
    if (status == PYTHIA_OK)
        status = pythia_grow(&g->entries, &g->entry_capacity, g->entry_count,
                             sizeof(struct pythia_groups_entry *));
    if (status == PYTHIA_OK)
        status = pythia_hash_table_add(&g->by_shape, hash_entry(e->type, e->shape->hash),
                                       (uint32_t)g->entry_count);
    if (status != PYTHIA_OK)
        return status;
    e->used = e->listed = true;
    e->place = g->entry_count;
    g->entries[g->entry_count++] = e;
    g->held += e->rows > 0;
    return PYTHIA_OK;
}

struct pythia_groups_entry *pythia__groups_entry(struct pythia_groups *g, uint32_t type,
                                                 const struct pythia_critical_path *path)
{
    struct pythia_groups_entry *e = pythia__groups_find_entry(g, type, pythia_shape_hash(path));
    if (e && e->shape->gap_count == path->count - 1) {
        e->used = true;
        return e;
    }
    if (e && unlist_entry(g, e) != PYTHIA_OK) /* another path's, one in 2^64: it makes room */
        return NULL;
    e = make_entry(g, type, path);
    if (e && pythia__groups_list_entry(g, e) != PYTHIA_OK) {
        free_entry(g, e);
        return NULL;
    }
    return e;
}

/* ---- adding ---- */

/* Too many rows in all: every type keeps fewer, the same number, so that what is kept depends on
 * nothing but how many requests there were of each. */
void pythia__groups_shrink(struct pythia_groups *g)
{
    while (g->row_count > g->options.rows && g->rows_per_type > 64) {
        g->rows_per_type -= g->rows_per_type / 4;
        g->row_places = count_row_places(g);
        for (size_t i = 0; i < g->type_count; i++)
            pythia_sample_shrink(g->types[i].rows, g->row_places);
    }
}

int pythia__groups_keep_row(struct pythia_groups *g, struct pythia_type *t,
                            struct pythia_groups_entry *e, struct pythia_row *row)
{
    row->holder = e;
    g->held += e->rows++ == 0 && e->listed;
    g->row_count++;
    int status =
        pythia_sample_add(t->rows, pythia_row_key(row->hash, row->weight), row->trace.low, row);
    pythia__groups_shrink(g);
    return status;
}

static int add_group_row(struct pythia_groups *g, struct pythia_type *t,
                         struct pythia_groups_entry *e, const struct pythia_trace *trace,
                         const struct pythia_critical_path *path,
                         const struct pythia_lineage *lineage)
{
    uint64_t hash = pythia_row_key(pythia_hash_mix(trace->id.high, trace->id.low), trace->weight);
    if (!pythia_sample_wants(t->rows, hash))
        return PYTHIA_OK;
    struct pythia_row *row = pythia_row_make(g->rows, trace, path, e->shape);
    if (!row)
        return PYTHIA_ENOMEM;
    row->parent = pythia_lineage_parent(lineage);
    return pythia__groups_keep_row(g, t, e, row);
}

int pythia_groups_add_typed(struct pythia_groups *g, uint32_t name,
                            const struct pythia_trace *trace,
                            const struct pythia_critical_path *path)
{
    uint32_t part =
        g->options.key ? pythia_grouping_key_part(g->options.key, name, trace, path) : name;
    struct pythia_type *t = part == PYTHIA_NONE ? NULL : pythia__groups_type(g, name, part);
    struct pythia_groups_entry *e =
        t ? pythia__groups_entry(g, (uint32_t)(t - g->types), path) : NULL;
    struct pythia_lineage lineage = {0};
    if (!e || (g->lineages &&
               pythia_lineages_find(g->lineages, trace, path, t->hash, &lineage) != PYTHIA_OK))
        return PYTHIA_ENOMEM;
    pythia_lineage_meet(&e->lineage, &lineage);
    pythia_lineage_meet(&t->lineage, &lineage);
    g->last = part;
    int64_t duration = (int64_t)(path->events[path->count - 1].at_ns - path->events[0].at_ns);
    /* A sampled trace stands for several requests. Its weight is rounded up or down by a hash of
     * the trace id: the sum is right on average, and the same trace always counts the same. */
    uint64_t weight = pythia_sampling_requests(trace->weight, trace->id);
    t->heaviest = trace->weight > t->heaviest ? trace->weight : t->heaviest;
    /* Sums are exact integers: their result does not depend on the order of requests, nor on how
     * many threads had decoded them. */
    pythia_exact_moments_add_weighted(&e->moments, duration, weight);
    pythia_exact_moments_add_weighted(&t->moments, duration, weight);
    pythia_exact_moments_add_weighted(&t->client, (int64_t)(trace->end_ns - trace->start_ns),
                                      weight);
    pythia_exact_moments_add_weighted(&g->moments, duration, weight);
    int status = pythia_sketch_add(e->sketch, (double)duration, weight);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_sketch_add(t->sketch, (double)duration, weight);
    if (status != PYTHIA_OK)
        return status;
    return add_group_row(g, t, e, trace, path, &lineage);
}

int pythia_groups_add(struct pythia_groups *g, const struct pythia_trace *trace)
{
    if (trace->incomplete)
        return PYTHIA_OK;
    uint32_t name = pythia_request_type(g->namer, trace);
    int status = name == PYTHIA_NONE
                     ? PYTHIA_ENOMEM
                     : pythia_critical_path_find(&g->path, trace, g->options.latency);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_groups_add_typed(g, name, trace, &g->path);
    if (status != PYTHIA_OK)
        return status;
    if (g->options.types.mark_paths)
        g->types[g->type_of_part[g->last] - 1].path_at = pythia_request_type_path_at(g->namer);
    return PYTHIA_OK;
}

/* ---- the end ---- */

static bool group_type_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_groups *g = context;
    return pythia_text_compare(pythia_vocabulary_text(g->vocabulary, g->types[a].name),
                               pythia_vocabulary_text(g->vocabulary, g->types[b].name)) < 0;
}

static int sort_types(struct pythia_groups *g)
{
    size_t n = g->type_count;
    uint32_t *order = pythia_calloc(2 * n, sizeof(*order));
    struct pythia_type *types = pythia_calloc(n, sizeof(*types));
    if (!order || !types) {
        pythia_free(order);
        pythia_free(types);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    pythia_sort_indexes(order, n, order + n, group_type_precedes, g);
    for (size_t i = 0; i < n; i++)
        types[i] = g->types[order[i]];
    pythia_free(g->types);
    pythia_free(order);
    g->types = types;
    g->type_capacity = n;
    return PYTHIA_OK;
}

static bool structure_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_structure *s = context;
    if (s[a].level != s[b].level)
        return s[a].level < s[b].level;
    return s[a].name != s[b].name ? s[a].name < s[b].name : s[a].whole < s[b].whole;
}

static int sort_structures(struct pythia_type *t)
{
    size_t n = t->structure_count;
    uint32_t *order = pythia_calloc(2 * n, sizeof(*order));
    struct pythia_structure *sorted = pythia_calloc(n, sizeof(*sorted));
    if (!order || !sorted) {
        pythia_free(order);
        pythia_free(sorted);
        return PYTHIA_ENOMEM;
    }
    uint32_t deepest = 0;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    pythia_sort_indexes(order, n, order + n, structure_before, t->structures);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = t->structures[order[i]];
        deepest = sorted[i].level > deepest ? sorted[i].level : deepest;
    }
    pythia_free(order);
    pythia_free(t->structures);
    t->structures = sorted;
    /* A level below the deepest structure would have the same members as the one above it. */
    t->levels = t->levels < deepest + 1 ? t->levels : deepest + 1;
    return PYTHIA_OK;
}

/* The names of a type's subsets contain what the grouping key has seen of all requests. */
static int name_types(struct pythia_groups *g)
{
    for (size_t i = 0; i < g->type_count && g->options.key; i++) {
        struct pythia_type *t = &g->types[i];
        t->name = pythia_grouping_key_name(g->options.key, t->part);
        if (t->name == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        struct pythia_text text = pythia_vocabulary_text(g->vocabulary, t->name);
        t->hash = pythia_hash_bytes(text.bytes, text.size);
    }
    return PYTHIA_OK;
}

/* In a full sample, the row of the highest key shows below which weight rows are missing. */
static double smallest_weight(const struct pythia_type *t)
{
    size_t n = pythia_sample_count(t->rows);
    return n > 0 && n < t->moments.n ? 0x1p64 / (double)(pythia_sample_hash(t->rows, n - 1) | 1)
                                     : 1;
}

/* The population of a fair sample. */
struct candidates {
    size_t n;
    double *weight, *duration_ns;
    double *position; /* in the order in which they are wanted */
    uint32_t *order;  /* [2 n] */
    bool *keep;
};

static bool is_ahead(const void *context, uint32_t a, uint32_t b)
{
    const double *position = context;
    return position[a] < position[b];
}

/* The first rows of a sample are not a fair sample, because by their keys heavy rows come first.
 * Key times weight is the place of a row among those that might be here with its weight. */
static int list_sample_candidates(const struct pythia_type *t, const struct pythia_row **rows,
                                  struct candidates *c)
{
    double smallest = smallest_weight(t);
    c->weight = pythia_calloc(3 * c->n, sizeof(*c->weight));
    c->order = pythia_calloc(2 * c->n, sizeof(*c->order));
    c->keep = pythia_calloc(c->n, sizeof(*c->keep));
    if (!c->weight || !c->order || !c->keep)
        return PYTHIA_ENOMEM;
    c->duration_ns = c->weight + c->n;
    c->position = c->duration_ns + c->n;
    for (size_t i = 0; i < c->n; i++) {
        c->weight[i] = rows[i]->weight > smallest ? rows[i]->weight : smallest;
        c->duration_ns[i] = (double)rows[i]->duration_ns;
        c->position[i] = (double)rows[i]->hash / rows[i]->weight * c->weight[i];
        c->order[i] = (uint32_t)i;
    }
    return pythia_fair_sample(c->weight, c->duration_ns, c->n, c->keep);
}

int pythia_type_leave_fair(const struct pythia_type *t, const struct pythia_row **rows,
                           size_t *count)
{
    struct candidates c = {.n = *count};
    if (!(t->heaviest > 1))
        return PYTHIA_OK;
    const struct pythia_row **old = pythia_calloc(c.n, sizeof(struct pythia_row *));
    int status = old ? list_sample_candidates(t, rows, &c) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    /* By their keys heavy rows come first; whoever takes the first rows has to get a sample. */
    pythia_sort_indexes(c.order, c.n, c.order + c.n, is_ahead, c.position);
    if (c.n > 0)
        memcpy(old, rows, c.n * sizeof(struct pythia_row *));
    *count = 0;
    for (size_t i = 0; i < c.n; i++)
        if (c.keep[c.order[i]])
            rows[(*count)++] = old[c.order[i]];
out:
    pythia_free(old);
    pythia_free(c.weight);
    pythia_free(c.order);
    pythia_free(c.keep);
    return status;
}

/* Nothing if all rows are fair. */
static int find_fair_rows(struct pythia_type *t)
{
    size_t n = pythia_sample_count(t->rows);
    if (!(t->heaviest > 1) || t->fair)
        return PYTHIA_OK;
    const struct pythia_row **rows = pythia_calloc(n, sizeof(struct pythia_row *));
    if (!rows)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        rows[i] = pythia_sample_row(t->rows, i);
    t->fair_count = n;
    int status = pythia_type_leave_fair(t, rows, &t->fair_count);
    if (status != PYTHIA_OK || t->fair_count == n) {
        pythia_free(rows);
        return status;
    }
    t->fair = rows;
    return PYTHIA_OK;
}

static void round_sampled_row(void *row)
{
    pythia_row_round(row);
}

/* Where types are so many that each keeps as few rows as may be, and there are more rows than were
 * asked for, the last digits of their times take most of the evidence, and say less than one row
 * more would. Whether evidence is divided makes no difference: of a part with too many rows the
 * whole has too many, too, and to round twice is to round once. */
static bool has_too_many_rows(const struct pythia_groups *g)
{
    return g->row_count > g->options.rows;
}

void pythia_groups_carried(struct pythia_groups *g, uint64_t cycles)
{
    struct pythia_type *t = &g->types[g->type_of_part[g->last] - 1];
    t->carried++;
    t->cycles = t->cycles > cycles + 1 ? t->cycles : cycles + 1;
}

uint32_t pythia_groups_last(const struct pythia_groups *g)
{
    return g->last;
}

int pythia_groups_close(struct pythia_groups *g)
{
    int status = name_types(g);
    pythia_lineages_destroy(g->lineages); /* with what it borrows */
    g->lineages = NULL;
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = g->entry_count; i-- > 0;) {
        struct pythia_type *t = &g->types[g->entries[i]->type];
        g->entries[i]->next = t->unsettled;
        t->unsettled = g->entries[i];
    }
    for (size_t i = 0; i < g->type_count; i++) {
        pythia_sample_sort_when_read(g->types[i].rows,
                                     has_too_many_rows(g) ? round_sampled_row : NULL);
        status = find_fair_rows(&g->types[i]);
        if (status != PYTHIA_OK)
            return status;
    }
    return sort_types(g);
}

int pythia_groups_settle(const struct pythia_groups *g, size_t index)
{
    struct pythia_type *t = &g->types[index];
    if (t->settled)
        return PYTHIA_OK;
    if (is_only_shape(t))
        return settle_same_path(t);
    for (; t->unsettled; t->unsettled = t->unsettled->next) {
        int status = flush_entry_totals(t, t->unsettled);
        if (status != PYTHIA_OK)
            return status;
    }
    int status = sort_structures(t);
    if (status != PYTHIA_OK)
        return status;
    t->settled = true;
    return PYTHIA_OK;
}

int pythia_groups_finish(struct pythia_groups *g)
{
    int status = pythia_groups_close(g);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < g->type_count; i++) {
        status = pythia_groups_settle(g, i);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

const struct pythia_type *pythia_groups_types(const struct pythia_groups *g, size_t *count)
{
    *count = g->type_count;
    return g->types;
}

const struct pythia_cct *pythia_groups_cct(const struct pythia_groups *g)
{
    return g->cct;
}

const struct pythia_grouping_key *pythia_groups_key(const struct pythia_groups *g)
{
    return g->options.key;
}

const struct pythia_keys *pythia_groups_keys(const struct pythia_groups *g)
{
    return g->keys;
}

const struct pythia_exact_moments *pythia_groups_moments(const struct pythia_groups *g)
{
    return &g->moments;
}

size_t pythia_groups_bytes(const struct pythia_groups *g)
{
    size_t bytes = pythia_row_maker_bytes(g->rows) + g->shape_bytes + pythia_cct_bytes(g->cct) +
                   pythia_hash_table_bytes(&g->by_shape) + g->type_count * TYPE_BYTES +
                   g->part_capacity * sizeof(*g->type_of_part);
    for (size_t i = 0; i < g->type_count; i++)
        bytes += g->types[i].structure_count * STRUCTURE_BYTES;
    return bytes;
}
