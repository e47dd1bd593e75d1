/* Shared by the files that build a trace: reports become items (join.c, shared_ids.c), and items
 * the spans of a trace (trace.c). */
#ifndef PYTHIA_TRACE_TRACE_BUILDER_H
#define PYTHIA_TRACE_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "forest.h"
#include "pythia/arena.h"
#include "pythia/hash_table.h"
#include "pythia/trace.h"

enum pythia__item_state {
    PYTHIA__ITEM_SPAN,
    PYTHIA__ITEM_TRANSPARENT, /* its children hang on its parent */
};

/* A future span, with the data that only building needs. Of several reports of its start the best
 * one is kept, and of several of its stop the last one. */
struct pythia__item {
    struct pythia_trace_span span; /* end_ns: of a WHOLE, as it says */
    struct pythia_trace_id link;   /* of a fork or a wait */
    uint64_t parent_id, stop_ns;
    uint64_t begun_ns; /* of a WHOLE that was reported without its end as well */
    struct pythia_text stop_attributes;
    uint32_t next;                /* item with the same id and half; PYTHIA_NO_SPAN: none */
    uint32_t above;               /* the item named as parent, PYTHIA_NO_SPAN: none or not found */
    uint32_t fork;                /* the item of the fork it hangs on, PYTHIA_NO_SPAN: none */
    uint8_t part;                 /* of the start that is kept; STOP: there is none */
    bool started, stopped, begun; /* which parts have been seen */
    bool start_twice, stop_twice; /* what is kept came more than once */
    bool conflict, several_parents; /* reports that do not agree */
    bool negative;
    bool shared, many_roots, root; /* root: it names no parent, or the trace itself */
    bool second;                   /* a server's or a consumer's half of an id */
    bool head;                     /* the item that its id and half is found by */
    bool settled;                  /* it and what is linked after it: one item for each span */
    bool taken;                    /* another item has taken it: it was of the same span */
    bool untimed;                  /* nothing was reported of it but an ADDITION */
    uint8_t state;
};

struct pythia_trace_builder {
    const struct pythia_vocabulary *vocabulary;
    uint32_t sampling_key;            /* PYTHIA_NONE: no span has stated how it was sampled yet */
    struct pythia_open_points *open;  /* NULL: all are */
    struct pythia_skew *calls;        /* is told of calls; NULL: nobody is */
    const struct pythia_skew *clocks; /* times are put right by; NULL: they stay */
    struct pythia_trace_id id;
    uint64_t folded_id;
    struct pythia__item *items;
    size_t count, capacity;
    bool links;                     /* an item is a fork or a wait */
    size_t additions;               /* of the items */
    struct pythia_hash_table by_id; /* of the items but the additions */
    uint32_t *index;                /* item -> span */
    size_t index_capacity;
    struct pythia__forest forest; /* the result */
    size_t attributes_max;        /* of a span's start and stop together; 0: any number */
    struct pythia_arena joined;   /* attributes of spans whose start and stop both have some */
    bool incomplete;              /* for this reason: */
    enum pythia_incomplete reason;
    bool begun; /* by our own clock, then: */
    uint64_t begun_ns;
    struct pythia_counts *counts;
    struct pythia_trace trace;
};

/* Join a report, which may be a part of a span, with what was reported of the same span before.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__join_report(struct pythia_trace_builder *b, const struct pythia_span *span);

/* The item of an id, or of the server's half of it; PYTHIA_NO_SPAN if there is none. O(1). */
uint32_t pythia__join_find(const struct pythia_trace_builder *b, uint64_t id, bool second);

/* Let an item whose id and half no other one has be found by them. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__join_add_head(struct pythia_trace_builder *b, uint32_t item);

/* Let an item be found by its id and half instead of the one that is. */
void pythia__join_set_head(struct pythia_trace_builder *b, uint32_t item);

/* The order of attributes and of resources by what they say, not by their numbers: below 0, 0 or
 * above 0. */
int pythia__join_compare_attributes(const struct pythia_vocabulary *v, struct pythia_text x,
                                    struct pythia_text y);
int pythia__join_compare_resources(const struct pythia_vocabulary *v, uint32_t x, uint32_t y);

/* Append attributes to those of an item, and drop those beyond the most that a span may have.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__join_attributes(struct pythia_trace_builder *b, struct pythia__item *item,
                            struct pythia_text second);

/* Give each addition to the half that it belongs to; an addition to an id of which nothing else is
 * known becomes a span whose times are those of its place in the tree. Uses the forest's arrays as
 * scratch. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__join_additions(struct pythia_trace_builder *b);

#endif
