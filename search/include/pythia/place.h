#ifndef PYTHIA_PLACE_H
#define PYTHIA_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/cct.h"

/* What lies between two events in a context, named by trace points, which stay what they are when
 * others open or close. */
struct pythia_place {
    uint32_t context; /* the innermost trace point around it, or PYTHIA_NONE */
    uint32_t from_tracepoint, to_tracepoint;
    uint8_t from_event, to_event; /* enum pythia_event_kind */
};

/* The place of an edge of a tree, by its number. */
struct pythia_place pythia_place_of(const struct pythia_cct *cct, uint32_t number);

bool pythia_place_equal(const struct pythia_place *a, const struct pythia_place *b);

/* Append "inside A", "between one A and the next", "from the end of A to the start of B". */
void pythia_place_add(struct pythia_buf *to, const struct pythia_vocabulary *v,
                      const struct pythia_place *place);

#endif
