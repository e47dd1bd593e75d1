/* Requests of types that come too seldom for a cycle: kept until there are enough of them. */
#ifndef PYTHIA_CORE_RARE_H
#define PYTHIA_CORE_RARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/search.h"
#include "pythia/space.h"
#include "pythia/trace.h"

#define PYTHIA__STAGES 2 /* of evidence that is gathered at the same time */

/* A request that was evidence in a cycle, and will be in the next one too. */
struct pythia__rare {
    struct pythia__rare *next;
    uint64_t cycles; /* that it has been evidence in, and ended */
    size_t bytes;    /* of the block, with spans and attributes behind it */
    struct pythia_trace trace;
};

/* Of one type: what is evidence of the cycles that are gathered now, and what will be of the next.
 */
struct pythia__rare_type {
    uint32_t name;    /* number of a string, or of a part of a grouping key */
    uint32_t unsplit; /* of the type in the search space: number of a string */
    bool frequent;    /* the last cycle had enough requests of it: none are kept */
    struct {
        uint64_t requests, carried; /* that are new, and that are not */
        uint64_t lost;              /* of the new ones, that there was no room to keep */
        struct pythia__rare *kept;  /* owned: all of them, as long as they are too few */
    } in[PYTHIA__STAGES];
    struct pythia__rare *next; /* owned: for the next cycle */
};

struct pythia__rare_types {
    struct pythia__rare_type *types; /* owned, in order of first sight */
    uint32_t *index;                 /* owned; by name: index in types + 1 */
    size_t count, capacity, index_capacity;
    size_t bytes, bytes_max;       /* that kept requests take, and may take */
    uint64_t enough;               /* requests */
    uint64_t carried, not_carried; /* times that a request was kept; requests without room */
};

/* Free all types, with the requests that are kept for them. */
void pythia__rare_types_free(struct pythia__rare_types *r);

/* A request of a type was evidence in a stage: keep a copy if it is of a type that is rare. *all:
 * how many the stage has of it now. PYTHIA_OK, or PYTHIA_ENOMEM if the type could not be noted. */
int pythia__rare_types_add(struct pythia__rare_types *r, int stage, uint32_t name, uint32_t unsplit,
                           const struct pythia_trace *trace, uint64_t *all);

/* The cycle of a stage has ended, and these were the decisions: what was kept goes to the next one,
 * but not of types whose requests look otherwise by them. `same` false: no requests look as they
 * did. Then the stage is empty. */
void pythia__rare_types_end(struct pythia__rare_types *r, int stage, bool same,
                            const struct pythia_space *space, const struct pythia_switch *switches,
                            size_t count);

/* Let go of what a stage holds; of what is for the next cycle; and of those of the latter that the
 * function is true of. */
void pythia__rare_types_drop(struct pythia__rare_types *r, int stage);
void pythia__rare_types_drop_next(struct pythia__rare_types *r);
void pythia__rare_types_drop_those(struct pythia__rare_types *r,
                                   bool (*is_one)(void *context, const struct pythia_trace *trace),
                                   void *context);

#endif
