/* Spans of one trace, packed, in chunks that are cut from the heap and go back to a pool. */
#ifndef PYTHIA_TRACE_SPAN_LIST_H
#define PYTHIA_TRACE_SPAN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/span.h"

#define PYTHIA__CHUNK_SIZES 27
#define PYTHIA__CHUNK_SLOTS 12 /* attributes that later spans of a chunk may refer to */
#define PYTHIA__HEAP_HEAD   8  /* bytes that malloc itself takes for a piece */

/* Chunks that are free, a list for each size, the memory that all chunks take, free or not, and
 * scratch. {0} is empty. */
struct pythia__span_pool {
    struct pythia__chunk *spare[PYTHIA__CHUNK_SIZES];
    size_t spare_count[PYTHIA__CHUNK_SIZES];
    size_t bytes;
    struct pythia_buf packing;
};

/* Give what is spare back to the heap. */
void pythia__span_pool_free(struct pythia__span_pool *p);

/* The memory of all chunks, and of the pool itself. */
size_t pythia__span_pool_bytes(const struct pythia__span_pool *p);

/* {0} is empty. */
struct pythia__span_list {
    struct pythia__chunk *last; /* by `next` follows the first one */
};

/* Add a span (copied). PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__span_list_add(struct pythia__span_list *l, struct pythia__span_pool *p,
                          const struct pythia_span *span);

/* Move the spans of `from` behind those of `l`. */
void pythia__span_list_append(struct pythia__span_list *l, struct pythia__span_list *from);

/* Make it empty: its chunks go to the pool. */
void pythia__span_list_release(struct pythia__span_list *l, struct pythia__span_pool *p);

/* The memory of its chunks. O(chunks). */
size_t pythia__span_list_bytes(const struct pythia__span_list *l);

/* Walk over the spans in the order in which they were added; the list must stay as it is. Their
 * attributes are unpacked into an arena, and borrowed from it. 1 at the end, PYTHIA_OK, or
 * PYTHIA_ENOMEM. */
struct pythia__span_cursor {
    const struct pythia__chunk *chunk, *end; /* the current one, NULL before the first; the last */
    struct pythia_arena *attributes;
    size_t at;
    uint16_t last, parent, slots[PYTHIA__CHUNK_SLOTS]; /* as of the spans before, see span_list.c */
};
struct pythia__span_cursor pythia__span_list_walk(const struct pythia__span_list *l,
                                                  struct pythia_arena *attributes);
int pythia__span_list_next(struct pythia__span_cursor *c, struct pythia_span *out);

#endif
