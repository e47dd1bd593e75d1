/* Which request types a live stream has: those that the search space knows, and those that are
 * being learnt. */
#ifndef PYTHIA_CORE_LIVE_TYPES_H
#define PYTHIA_CORE_LIVE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/critical_path.h"
#include "pythia/search.h"
#include "pythia/space.h"
#include "pythia/trace.h"
#include "rare.h"

struct pythia__live_type {
    uint32_t name;     /* number of a string */
    bool learnt;       /* it is in the search space */
    bool other;        /* it stands for names beyond a limit: its requests have nothing in common */
    bool pupil;        /* trace points are open for it, to learn it */
    bool taught;       /* it was learnt with them, and is to be in the search space */
    bool path;         /* it is named after a path, and may be a part of a larger type */
    bool refused;      /* and will not be: it has too many contexts, or there are too many types */
    uint64_t requests; /* it was learnt from so far; not renewed once it is learnt */
    struct {
        uint64_t number, requests; /* of which evidence, and in it */
    } in[PYTHIA__STAGES];
};

/* A type that is being learnt has a tree in a space of its own, because the search must not see it
 * grow. There may be types without number: as many as there is room for are being learnt, and those
 * that were seen least make room for others. */
struct pythia__live_types {
    struct pythia_vocabulary *vocabulary;
    struct pythia_space *space;   /* borrowed: what is learnt */
    struct pythia_space *nursery; /* owned: what is being learnt */
    struct pythia__live_type *types;
    uint32_t *index; /* by name: index in types + 1 */
    size_t count, capacity, index_capacity;
    size_t learnt, learnt_max;
    uint64_t contexts, learnt_contexts; /* in the nursery; of what was moved to the space */
};

/* `space` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__live_types_init(struct pythia__live_types *t, struct pythia_vocabulary *vocabulary,
                            struct pythia_space *space, size_t learnt_max);
void pythia__live_types_free(struct pythia__live_types *t);

/* The type of that name, made if it is new; borrowed until the next call. NULL when out of memory.
 */
struct pythia__live_type *pythia__live_types_meet(struct pythia__live_types *t, uint32_t name);

/* Learn a type from one more request. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__live_types_learn(struct pythia__live_types *t, struct pythia__live_type *type,
                             const struct pythia_trace *trace,
                             const struct pythia_critical_path *path);

/* Take out the types that are being learnt and get no more requests, because a segment of their
 * paths was found to be a variable, but for those that trace points are open for. Returns how many.
 */
size_t pythia__live_types_merge(struct pythia__live_types *t,
                                const struct pythia_path_templates *templates);

/* Forget what was learnt of a type so far. */
void pythia__live_types_restart(struct pythia__live_types *t, struct pythia__live_type *type);

/* Are there types that were learnt from `requests` requests: at least one, and all that are being
 * learnt? */
struct pythia__live_ready {
    bool any, all;
};
struct pythia__live_ready pythia__live_types_ready(const struct pythia__live_types *t,
                                                   uint64_t requests, uint64_t few);

#define PYTHIA__TAUGHT_ONLY UINT64_MAX /* requests */

/* Move types that were learnt from that many requests, or were taught, to the search space, and
 * have the search (NULL: there is none yet) take them in; *moved of them. PYTHIA_OK, or
 * PYTHIA_ENOMEM with all as it was. */
int pythia__live_types_settle(struct pythia__live_types *t, uint64_t requests,
                              struct pythia_search *search, size_t *moved);

#endif
