/* Spans that share an id. include/pythia/trace.h has the rules by which reports with one id are one
 * span or several. */
#ifndef PYTHIA_TRACE_SHARED_IDS_H
#define PYTHIA_TRACE_SHARED_IDS_H

#include "trace_builder.h"

/* Put together the items of one span that came under different names, and let the outermost of the
 * spans that share an id and half be found by it, with the others linked after it by `next`, from
 * the outermost to the innermost. Once all reports are there. Uses the forest's arrays as scratch.
 * PYTHIA_OK or PYTHIA_ENOMEM. O(n log n) for n items with one id. */
int pythia__shared_ids_settle(struct pythia_trace_builder *b);

/* Will another item take this one, which is of parts of a span? Before they are settled. */
bool pythia__shared_id_is_part(const struct pythia_trace_builder *b,
                               const struct pythia__item *item);

/* The span around one of several spans with one id and half; PYTHIA_NO_SPAN if it is the outermost
 * one, or has a place of its own. O(1), as what follows. */
uint32_t pythia__shared_id_around(const struct pythia_trace_builder *b,
                                  const struct pythia__item *item);

/* The item that `item` names as its parent; PYTHIA_NO_SPAN if there is none. */
uint32_t pythia__shared_id_of_child(const struct pythia_trace_builder *b,
                                    const struct pythia__item *item);

/* The item with the id of an addition that the addition belongs to; PYTHIA_NO_SPAN if no time was
 * reported for that id. */
uint32_t pythia__shared_id_of_addition(const struct pythia_trace_builder *b,
                                       const struct pythia__item *addition);

#endif
