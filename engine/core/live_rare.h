/* Requests of types that come too seldom for a cycle: kept until there are enough of them. */
#ifndef PYTHIA_CORE_LIVE_RARE_H
#define PYTHIA_CORE_LIVE_RARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/search.h"
#include "pythia/trace.h"

/* A request that was evidence in a cycle, and will be in the next one too. */
struct pythia__rare {
    struct pythia__rare *next;
    uint64_t cycles; /* that it has been evidence in, and ended */
    size_t bytes;    /* of the block, with spans and attributes behind it */
    struct pythia_trace trace;
};

/* Keep a copy of a request, first in the list, as long as all that are kept (*bytes) stay within
 * `most`. False: it was not kept, because there is no room, or no memory. */
bool pythia__rare_keep(struct pythia__rare **list, const struct pythia_trace *trace, size_t *bytes,
                       size_t most);
/* Let a list go, and leave it empty; how many requests it had. */
uint64_t pythia__rare_drop(struct pythia__rare **list, size_t *bytes);

/* Would requests look otherwise by what was opened and closed? They would if one of them has a span
 * of such a trace point, or if requests of the type do, as the search space has seen them. */
bool pythia__rare_changes(const struct pythia__rare *list, const struct pythia_space_type *type,
                          const struct pythia_switch *switches, size_t count);

#endif
