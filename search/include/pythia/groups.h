#ifndef PYTHIA_GROUPS_H
#define PYTHIA_GROUPS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/critical_path.h"
#include "pythia/exact_moments.h"
#include "pythia/grouping_key.h"
#include "pythia/hash_table.h"
#include "pythia/lineage.h"
#include "pythia/request_type.h"
#include "pythia/row.h"
#include "pythia/sample.h"
#include "pythia/shape.h"
#include "pythia/sketch.h"
#include "pythia/trace.h"

/* The evidence: finished traces, counted by request type and by the structure of their critical
 * paths, with a uniform sample of whole requests of each type. Counts, moments and quantiles are of
 * all requests; what needs whole requests (shares, modes, explanations) is of the sample, which is
 * all of them up to a few thousand.
 *
 * Where the stream itself is a sample (sampling.h), both speak of the population that it was drawn
 * from: counts, moments and quantiles weigh each request (moments.weight estimates how many there
 * were, moments.n says how many were seen), and the rows that are read are a fair sample
 * (fair_sample.h): pythia_type_row. A stream without weights is one of weights 1, and nothing is
 * different.
 *
 * Where types are so many that more rows than were asked for are kept, though each type keeps no
 * more than 64, the times of rows are rounded (pythia_row_round).
 *
 * Nothing depends on the order in which traces are added. Memory is bounded by the number of types,
 * not of traces. One thread at a time. */
struct pythia_groups;

struct pythia_groups_options {
    enum pythia_latency latency;
    bool fold;                                /* loops count once in structure */
    size_t rows_per_type, rows;               /* of the sample; 0: 2048 and 8192 */
    struct pythia_request_type_options types; /* borrowed */
    struct pythia_open_points *skeleton;      /* for lineages; NULL: not known; borrowed */
    struct pythia_grouping_key *key;          /* parts the types; NULL: nothing does; borrowed */
};

/* The number of requests with one structure at one level. */
struct pythia_structure {
    uint64_t name; /* hash of strings */
    uint32_t level;
    bool whole; /* these requests have nothing deeper: at every deeper level they are a structure
                   too */
    struct pythia_exact_moments moments;
    struct pythia_sketch *sketch;  /* the type's own one if that has `same_path` */
    struct pythia_lineage lineage; /* of all these requests */
};

/* All requests of one type; read it, do not change it. */
struct pythia_type {
    uint32_t name; /* number of a string */
    uint32_t
        unsplit;   /* the name of the request type, which the grouping key parts; else the same */
    uint32_t part; /* the number of its parts in the grouping key; without one, its name */
    uint64_t hash; /* of the name, once finished */
    uint32_t path_at; /* where the path begins in a name that marks it (request_type.h); 0: none */
    struct pythia_exact_moments moments,
        client;               /* of the duration, and of what the client waited */
    uint64_t carried, cycles; /* of its requests, seen in earlier cycles too; and cycles that all
                                 came in, with this one, or 0 if that is the only one */
    struct pythia_sketch *sketch;
    struct pythia_lineage lineage;
    struct pythia_sample *rows; /* of struct pythia_row, in order of their keys (row.h), in which
                                   the first who reads one puts them */
    double heaviest;            /* weight of its requests */
    /* Once the type is settled: */
    struct pythia_structure *structures;
    size_t structure_count;
    uint32_t levels; /* levels 1 to levels - 1 were kept apart; at deeper ones there were too many
                        structures */
    bool too_varied; /* that is why, and not because there is nothing deeper */
    /* for groups.c */
    const struct pythia_row **fair; /* owned: the rows that are a fair sample; NULL: all are */
    size_t fair_count;
    bool settled, same_path;               /* same_path: all its requests have one shape */
    struct pythia_groups_entry *unsettled; /* what its structures have not got yet */
    size_t structure_capacity;
    struct pythia_hash_table by_name; /* of the structures, until they are sorted */
    uint32_t level_counts[PYTHIA_SHAPE_LEVELS];
};

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_groups_create(struct pythia_vocabulary *vocabulary,
                         const struct pythia_groups_options *options, struct pythia_groups **out);
void pythia_groups_destroy(struct pythia_groups *g); /* g may be NULL */

/* Add one request, unless it is incomplete: then it is evidence of nothing. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_groups_add(struct pythia_groups *g, const struct pythia_trace *trace);

/* As pythia_groups_add, when its type (the string number of its name) and its path have been
 * found already. */
int pythia_groups_add_typed(struct pythia_groups *g, uint32_t name,
                            const struct pythia_trace *trace,
                            const struct pythia_critical_path *path);

/* The request that was added last was seen `cycles` cycles before this one, and was evidence since:
 * of its type there were too few. */
void pythia_groups_carried(struct pythia_groups *g, uint64_t cycles);

/* About how much memory they hold, for whoever wants to stop adding. O(types). */
size_t pythia_groups_bytes(const struct pythia_groups *g);
/* The `part` of the request that was added last; PYTHIA_NONE before the first. */
uint32_t pythia_groups_last(const struct pythia_groups *g);

/* No more will be added: sort the types. The skeleton, the grouping key's names apart, is not
 * needed any more. Call it, or _finish, once before the functions below. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(shapes + types log types); rows are sorted when they are read, type by type. */
int pythia_groups_close(struct pythia_groups *g);

/* Give the type at `index` its structures: for whoever reads them, after _close; nothing if it has
 * them. PYTHIA_OK, or PYTHIA_ENOMEM, and then it may be tried again. O(shapes of the type + its
 * structures log structures). */
int pythia_groups_settle(const struct pythia_groups *g, size_t index);

/* _close, and then settle all types and add up the edges. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_groups_finish(struct pythia_groups *g);

/* The rows of a type that are a fair sample of its requests: all rows, unless the stream mixes
 * weights. The first of them are a sample too. Borrowed until _destroy; after _close. */
static inline size_t pythia_type_rows(const struct pythia_type *t)
{
    return t->fair ? t->fair_count : pythia_sample_count(t->rows);
}

static inline const struct pythia_row *pythia_type_row(const struct pythia_type *t, size_t i)
{
    return t->fair ? t->fair[i] : pythia_sample_row(t->rows, i);
}

/* Leave a fair sample of some rows of a type, those of one structure perhaps: where these have
 * small weights, more of them than are among pythia_type_rows. *count of `rows` stay, in the order
 * of pythia_type_row. PYTHIA_OK, or PYTHIA_ENOMEM with all as they were. O(count log count). */
int pythia_type_leave_fair(const struct pythia_type *t, const struct pythia_row **rows,
                           size_t *count);

/* The requests of a type as a number of requests of equal weight, about so many as a fair sample of
 * all that were seen has: for whoever asks for enough. The number seen if the stream does not mix
 * weights. */
static inline double pythia_type_evidence(const struct pythia_type *t)
{
    double seen = (double)t->moments.n;
    return t->heaviest > 1 ? fmin(seen, (double)t->moments.weight / t->heaviest) : seen;
}

/* The types, in order of name; *count of them. Borrowed until _destroy. */
const struct pythia_type *pythia_groups_types(const struct pythia_groups *g, size_t *count);
const struct pythia_cct *pythia_groups_cct(const struct pythia_groups *g);
const struct pythia_grouping_key *
pythia_groups_key(const struct pythia_groups *g); /* NULL: there is none */
const struct pythia_keys *pythia_groups_keys(const struct pythia_groups *g);
const struct pythia_exact_moments *
pythia_groups_moments(const struct pythia_groups *g); /* of all requests */

#endif
