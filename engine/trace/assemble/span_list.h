/* Spans of one trace, packed, in chunks that are cut from the heap and go back to a pool. */
#ifndef PYTHIA_TRACE_SPAN_LIST_H
#define PYTHIA_TRACE_SPAN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/span.h"

#define PYTHIA__CHUNK_SIZES 3
#define PYTHIA__HEAP_HEAD   8 /* bytes that malloc itself takes for a piece */

/* Chunks that are free, a list for each size, and the memory that all chunks take, free or not.
 * {0} is empty. */
struct pythia__span_pool {
    struct pythia__chunk *spare[PYTHIA__CHUNK_SIZES];
    size_t spare_count[PYTHIA__CHUNK_SIZES];
    size_t bytes;
};
void pythia__span_pool_free(struct pythia__span_pool *p);

/* {0} is empty. */
struct pythia__span_list {
    struct pythia__chunk *first, *last;
    size_t bytes; /* of its chunks */
};

/* Add a span (copied). PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__span_list_add(struct pythia__span_list *l, struct pythia__span_pool *p,
                          const struct pythia_span *span);

/* Move the spans of `from` behind those of `l`. */
void pythia__span_list_append(struct pythia__span_list *l, struct pythia__span_list *from);

/* Make it empty: its chunks go to the pool. */
void pythia__span_list_release(struct pythia__span_list *l, struct pythia__span_pool *p);

/* Walk over the spans in the order in which they were added: begin with {l->first, 0}. False at the
 * end. What is handed out is borrowed from the list. */
struct pythia__span_cursor {
    const struct pythia__chunk *chunk;
    size_t at;
};
bool pythia__span_list_next(struct pythia__span_cursor *c, struct pythia_span *out);

#endif
