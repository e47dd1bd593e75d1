#ifndef PYTHIA_TRACE_RECENT_COST_H
#define PYTHIA_TRACE_RECENT_COST_H

#include <stdint.h>

#include "pythia/vocabulary.h"

/* The costs of the last hits that were measured, without the rare ones that are not tracing's. One
 * thread at a time. */
struct pythia__recent_cost;

/* Add a hit of `ns` (more than UINT32_MAX counts as that) and forget the oldest of `capacity`.
 * *recent may be NULL before the first one and is owned by the caller. PYTHIA_OK, or PYTHIA_ENOMEM
 * with nothing changed. O(1). */
int pythia__recent_cost_add(struct pythia__recent_cost **recent, uint32_t capacity, uint64_t ns);
void pythia__recent_cost_destroy(struct pythia__recent_cost *recent); /* may be NULL */

/* The sum and the number of the hits that remain when the most expensive sixteenth (rounded: none
 * of fewer than 8) is left out. Zeros if there was none, or for NULL. O(n log n) after an addition,
 * else O(1). */
struct pythia_cost pythia__recent_cost_typical(struct pythia__recent_cost *recent);

#endif
