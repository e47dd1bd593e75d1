/* Requests of types that are too rare for one cycle: retained until there are enough of them. */
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
    uint64_t cycles; /* number of ended cycles that it was evidence in */
    size_t bytes;    /* of the block; spans and attributes follow the struct */
    struct pythia_trace trace;
};

/* The requests of one type: evidence of the stages now, and of the next cycle. */
struct pythia__rare_type {
    uint32_t name;    /* number of a string, or of a part of a grouping key */
    uint32_t unsplit; /* of the type in the search space: number of a string */
    bool frequent;    /* the last cycle had enough requests of it: none are retained */
    struct {
        uint64_t requests, carried; /* new ones, and ones carried from earlier cycles */
        uint64_t lost;              /* new ones that there was no memory to retain */
        struct pythia__rare *kept;  /* owned: all of them, as long as they are too few */
    } in[PYTHIA__STAGES];
    struct pythia__rare *next; /* owned: for the next cycle */
};

struct pythia__rare_types {
    struct pythia__rare_type *types; /* owned, in order of first sight */
    uint32_t *index;                 /* owned; by name: index in types + 1 */
    size_t count, capacity, index_capacity;
    size_t bytes, bytes_max;       /* of all retained requests */
    uint64_t enough;               /* requests of a type in one cycle */
    uint64_t carried, not_carried; /* times a request was carried; requests without memory */
};

/* Free all types, with their requests. */
void pythia__rare_types_free(struct pythia__rare_types *r);

/* A request became evidence of a stage: retain a copy while its type is rare. *all: the number of
 * its requests in the stage. PYTHIA_OK, or PYTHIA_ENOMEM if the type could not be noted. */
int pythia__rare_types_add(struct pythia__rare_types *r, int stage, uint32_t name, uint32_t unsplit,
                           const struct pythia_trace *trace, uint64_t *all);

/* The cycle of a stage has ended with these switches: pass its requests to the next cycle, unless
 * the switches make requests of the type look different (`same` false: of all types), and empty the
 * stage. */
void pythia__rare_types_end(struct pythia__rare_types *r, int stage, bool same,
                            const struct pythia_space *space, const struct pythia_switch *switches,
                            size_t count);

/* Drop the requests of a stage, those for the next cycle, or of the latter those for which `is_one`
 * is true. */
void pythia__rare_types_drop(struct pythia__rare_types *r, int stage);
void pythia__rare_types_drop_next(struct pythia__rare_types *r);
void pythia__rare_types_drop_those(struct pythia__rare_types *r,
                                   bool (*is_one)(void *context, const struct pythia_trace *trace),
                                   void *context);

#endif
