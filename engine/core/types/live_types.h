/* The request types of a live stream: the ones that the search space knows, and the ones that
 * are being learnt. */
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
    uint32_t name;    /* number of a string */
    bool learnt;      /* it is in the search space */
    bool other;       /* it stands for names beyond a limit: its requests have nothing in common */
    bool chosen;      /* trace points are open to learn it; also once more, if it is learnt */
    bool learnt_late; /* it was learnt so, and joins the search space at the end of the cycle, or
                          takes the place there of what was known of it */
    bool renews;      /* it is learnt, and hits trace points that the search space lacks */
    bool reviews;     /* it waits to be learnt once more: it may hit points that its tree lacks */
    bool reviewed;    /* it is learnt once more for that, in this phase */
    uint8_t strays;   /* requests of it that did hit such a point, below PYTHIA__STRAYS */
    uint32_t cut_points; /* its points did not fit the limit of open ones when there were so many
                            in all */
    bool path;           /* it is named after a path, and may be part of a larger type */
    bool refused;        /* never learnt: it has too many contexts, or there are too many types */
    uint64_t requests;   /* it was learnt from so far; they do not count on once it is learnt */
    struct {
        uint64_t number, requests; /* number of the evidence; requests of the type in it */
    } in[PYTHIA__STAGES];
};

/* A type that is being learnt has a tree in a space of its own, because the search must not see it
 * grow. Their number is limited: those that were seen least are evicted for new ones. */
struct pythia__live_types {
    struct pythia_vocabulary *vocabulary;
    struct pythia_space *space;   /* borrowed: what is learnt */
    struct pythia_space *nursery; /* owned: what is being learnt */
    struct pythia__live_type *types;
    uint32_t *index; /* by name: index in types + 1 */
    size_t count, capacity, index_capacity;
    size_t learnt, learnt_max;
    uint64_t contexts, learnt_contexts; /* in the nursery; of the types moved to the space */
    uint64_t renewed;                   /* times that a known type was learnt once more */
};

/* `space` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM; to be freed in any case. */
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

/* Remove types that get no more requests because a segment of their paths turned out to be a
 * variable, except types that are being learnt with trace points open for them. Returns how many
 * were removed. */
size_t pythia__live_types_merge(struct pythia__live_types *t,
                                const struct pythia_path_templates *templates);

/* Forget what was learnt of a type so far. */
void pythia__live_types_restart(struct pythia__live_types *t, struct pythia__live_type *type);

/* Types that are ready have been learnt from `requests` requests: is any ready, and are all that
 * had at least `few`? */
struct pythia__live_ready {
    bool any, all;
};
struct pythia__live_ready pythia__live_types_ready(const struct pythia__live_types *t,
                                                   uint64_t requests, uint64_t few);

#define PYTHIA__LEARNT_LATE_ONLY UINT64_MAX /* requests */

/* Move the types that are ready to the search space, and let the search (NULL: none yet) take them
 * in; *moved of them. PYTHIA_OK, or PYTHIA_ENOMEM with all as it was. Known types that were
 * learnt once more are renewed there after that, and are among *moved; after PYTHIA_ENOMEM the
 * rest of them is tried again next time. */
int pythia__live_types_settle(struct pythia__live_types *t, uint64_t requests,
                              struct pythia_search *search, size_t *moved);

/* Move the types that are ready to `to` instead, an empty space with the same vocabulary: they are
 * learnt once they are adopted. As above. */
int pythia__live_types_offer(struct pythia__live_types *t, uint64_t requests,
                             struct pythia_space *to, size_t *moved);

/* Renew a known type in the space by what was seen of it lately, here or elsewhere: *renewed,
 * unless it has no context that is new or there is no memory for more contexts. The search has to
 * take it in. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__live_types_renew(struct pythia__live_types *t, const struct pythia_space_type *seen,
                             bool *renewed);

/* A type was added to the search space from elsewhere. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__live_types_adopt(struct pythia__live_types *t, uint32_t name);

/* Learn types anew that were offered, and have not been adopted. O(types). */
void pythia__live_types_withdraw(struct pythia__live_types *t);

#endif
