#ifndef PYTHIA_PASSES_H
#define PYTHIA_PASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/open_points.h"
#include "pythia/space.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* How often trace points were passed, as the spans that came show it, and how many requests there
 * were that could have passed them. A point that is open and gives nothing is silent if there were
 * such requests; if there were none, nothing is known of it. One thread at a time. */
struct pythia_passes;

struct pythia_pass_counts {
    uint64_t spans;    /* that came of a point, in all */
    uint64_t requests; /* of types whose requests pass it, as the search space has it; of a point
                          that the space does not know: all. As of the last _look */
};

/* `vocabulary` is borrowed. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_passes_create(const struct pythia_vocabulary *vocabulary, struct pythia_passes **out);
void pythia_passes_destroy(struct pythia_passes *p); /* p may be NULL */

/* A request of a type (number of a string) with all the spans that came. `settled`: it began when
 * what is wanted open was in force; of others the spans count, and the request does not, because it
 * may have gone by before a point was opened. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia_passes_add(struct pythia_passes *p, uint32_t type, const struct pythia_trace *trace,
                      bool settled);

/* From now on the points that `limited` has for some types only are open for these (borrowed until
 * another set takes its place; NULL: none): requests of other types could not have passed them.
 * What came since the last look counts with the new set, so look first. */
void pythia_passes_set_limited(struct pythia_passes *p, struct pythia_open_points *limited);

/* Find out anew which requests could have passed which points. PYTHIA_OK, or PYTHIA_ENOMEM with the
 * counts as they were. O(contexts of the space). */
int pythia_passes_look(struct pythia_passes *p, const struct pythia_space *space);

/* Nothing of a point that was never met, or of PYTHIA_NONE, but that requests went by. */
struct pythia_pass_counts pythia_passes_of(const struct pythia_passes *p, uint32_t tracepoint);

#endif
