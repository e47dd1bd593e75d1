/* The points that a controller knows, by plane, target and id. */
#ifndef PYTHIA_CORE_CONTROLLED_H
#define PYTHIA_CORE_CONTROLLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/control.h"
#include "pythia/controller.h"
#include "pythia/hash_table.h"

struct pythia__controlled_target {
    struct pythia_text name; /* owned; no address: the place is free */
    size_t plane;
    size_t points, lost; /* how many it has, and of them are lost */
};

struct pythia__controlled {
    struct pythia_text id; /* owned */
    uint64_t hash;
    size_t target;                          /* index */
    double price_ns;                        /* as the plane has it; NaN: it has none */
    uint64_t hits;                          /* likewise */
    struct pythia_controller_seen seen_of;  /* what is known of it beside, as of the last look */
    uint64_t spans_before, requests_before; /* of that, when it was told to open; 0: it was open */
    bool open_by_default, pinned;
    enum pythia_layer layer;
    const char *note;          /* static, as the plane says; NULL: nothing */
    size_t instances, open_at; /* likewise */
    uint64_t seen;             /* the look at the inventory that saw it last */
    uint64_t asked;            /* what the plane was told: 0 closed, 1 open, else open for types */
    uint64_t asked_version;    /* of the plane, since which it asks for that */
    uint64_t switched_ns;      /* when that changed; 0: never */
    uint64_t pending_ns;       /* since when it has not obeyed */
    uint64_t quarantined_ns;   /* until when; 0: it is not */
    uint64_t confirmed;        /* the version of the plane that it has */
    uint64_t had;              /* with which it was in force last, asked as it is; 0: not yet */
    enum pythia_control_result result;
};

struct pythia__controlled_table {
    struct pythia__controlled *points; /* owned */
    size_t count, capacity;
    struct pythia__controlled_target *targets; /* owned */
    size_t target_count, target_capacity;
    struct pythia_hash_table by_id; /* of points, by plane, target and id */
};

/* Free all points and targets, and the index. */
void pythia__controlled_free(struct pythia__controlled_table *t);

/* NULL if there is none. */
struct pythia__controlled *pythia__controlled_find(const struct pythia__controlled_table *t,
                                                   size_t plane, struct pythia_text target,
                                                   struct pythia_text id);

/* As pythia__controlled_find, but the point is made if it does not exist; NULL when out of
 * memory. Pointers to other points may move. */
struct pythia__controlled *pythia__controlled_make(struct pythia__controlled_table *t, size_t plane,
                                                   struct pythia_text target,
                                                   struct pythia_text id);

/* Drop the points of a plane that the look `seen` did not see. Returns how many. */
size_t pythia__controlled_sweep(struct pythia__controlled_table *t, size_t plane, uint64_t seen);

/* A result, counted at its target. */
void pythia__controlled_result(struct pythia__controlled_table *t, struct pythia__controlled *point,
                               enum pythia_control_result result);

#endif
