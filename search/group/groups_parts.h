/* Declarations shared by groups.c and groups_merge.c. */
#ifndef PYTHIA_GROUPS_PARTS_H
#define PYTHIA_GROUPS_PARTS_H

#include <pthread.h>

#include "pythia/groups.h"
#include "pythia/hash_table.h"

/* A shape in the cache, and what requests that took it add up to since it came. */
struct pythia_groups_entry {
    struct pythia_shape *shape;
    uint32_t type;
    uint32_t rows;     /* that hold it */
    bool used, listed; /* since the clock's hand was here; in the cache at all */
    size_t place;      /* in the clock's ring, if it is listed */
    uint32_t handed;   /* levels whose structures have got what it has gathered already */
    struct pythia_groups_entry *next; /* of the same type, once closed */
    struct pythia_exact_moments moments;
    struct pythia_sketch *sketch;
    struct pythia_lineage lineage;
};

struct pythia_groups {
    struct pythia_vocabulary *vocabulary;
    struct pythia_groups_options options;
    struct pythia_groups *whole; /* borrowed: of what these are a part; NULL: of nothing */
    pthread_mutex_t lock;        /* of the tree, if these have parts */
    struct pythia_cct *cct;      /* of `whole`, if there is one */
    struct pythia_keys *keys;    /* the same */
    struct pythia_request_types *namer;
    struct pythia_shape_maker *shapes;
    struct pythia_row_maker *rows;
    struct pythia_lineages *lineages; /* NULL: the skeleton is not known */
    struct pythia_critical_path path;
    struct pythia_exact_moments moments;
    struct pythia_type *types;
    uint32_t *type_of_part; /* type + 1 */
    size_t type_count, type_capacity, part_capacity;
    uint32_t last; /* part */
    size_t parts;  /* of the whole */
    size_t rows_per_type, row_count, shape_bytes;
    size_t row_places;                    /* rows of each type that are kept here */
    struct pythia_groups_entry **entries; /* the clock's ring */
    size_t entry_count, entry_capacity, hand;
    size_t held; /* of the entries in the ring: by rows, which would keep them alive anyway */
    struct pythia_hash_table by_shape; /* of the ring, by type and shape */
};

/* As pythia_groups_create, for one of `parts` parts of `whole`, which is borrowed; NULL and 1: for
 * what is no part. */
int pythia__groups_create(struct pythia_vocabulary *vocabulary,
                          const struct pythia_groups_options *options, struct pythia_groups *whole,
                          size_t parts, struct pythia_groups **out);

/* The type of that name and part, made if it is new; NULL when out of memory. */
struct pythia_type *pythia__groups_type(struct pythia_groups *g, uint32_t unsplit, uint32_t part);

/* Add what `part` has gathered to the structure of its name and level, made if it is new; a level
 * with too many structures is cut. All of it or nothing: PYTHIA_OK, PYTHIA_ELIMIT or PYTHIA_ENOMEM.
 */
int pythia__groups_add_structure(struct pythia_type *t, const struct pythia_structure *part);

/* Forget the structures at `level` and below: there are too many of them. */
void pythia__groups_cut(struct pythia_type *t, uint32_t level);

/* The entry in the cache of a path with that hash; NULL: there is none. */
struct pythia_groups_entry *pythia__groups_find_entry(const struct pythia_groups *g, uint32_t type,
                                                      uint64_t shape_hash);

/* Put an entry into the cache, whose path is not in it. Another one may have to go. PYTHIA_OK or
 * PYTHIA_ENOMEM, and then it is not in it. */
int pythia__groups_list_entry(struct pythia_groups *g, struct pythia_groups_entry *e);

/* About how much memory a shape takes, and what gathers for it. */
size_t pythia__groups_entry_bytes(const struct pythia_shape *s);

/* The entry of a path that requests of a type take, made if it is new; NULL when out of memory. */
struct pythia_groups_entry *pythia__groups_entry(struct pythia_groups *g, uint32_t type,
                                                 const struct pythia_critical_path *path);

/* Leave no more rows than the options allow. */
void pythia__groups_shrink(struct pythia_groups *g);

/* Put a row of that entry into the sample of its type, which takes it, even on failure. PYTHIA_OK
 * or PYTHIA_ENOMEM. */
int pythia__groups_keep_row(struct pythia_groups *g, struct pythia_type *t,
                            struct pythia_groups_entry *e, struct pythia_row *row);

#endif
