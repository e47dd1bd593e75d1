#ifndef PYTHIA_EFFECTS_H
#define PYTHIA_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/effect.h"
#include "pythia/open_points.h"
#include "pythia/trace.h"

/* The trace points that were opened, until requests were seen that tell what they explained. In
 * each cycle those opened for a type and not yet measured are the difference between two sets of
 * open points, in which requests of the type are looked at (effect.h). One thread at a time. */
struct pythia_effects;

struct pythia_effects_options {
    enum pythia_latency latency;
    bool fold;           /* loops count once in structure */
    double alpha;        /* rate of false findings over all cycles; 0: .05 */
    size_t min_requests; /* of a type in a cycle, below which nothing is concluded; 0: 30 */
    size_t rows;         /* requests of a type that are looked at; 0: 2048 */
};

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_effects_create(const struct pythia_vocabulary *vocabulary,
                          const struct pythia_effects_options *options,
                          struct pythia_effects **out);
void pythia_effects_destroy(struct pythia_effects *e); /* e may be NULL */

/* In a cycle a point was opened for the request type that a string's number names, or closed again.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_effects_open(struct pythia_effects *e, uint32_t tracepoint, uint32_t type,
                        uint64_t cycle);
void pythia_effects_close(struct pythia_effects *e, uint32_t tracepoint, uint32_t type);

/* Requests that are seen with these points open (borrowed until the next _begin, or _destroy) will
 * follow; those since an earlier _begin are forgotten. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_effects_begin(struct pythia_effects *e, struct pythia_open_points *open);

/* Add a request of a type, seen from its beginning to its end with these points, with its critical
 * path. Cheap if no point was opened for its type. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_effects_add(struct pythia_effects *e, const struct pythia_trace *trace, uint32_t type,
                       const struct pythia_critical_path *path);

/* No more requests in the cycle of this number: what was measured, in order of opening, *count of
 * them, borrowed until the next _begin. A point of whose type there were requests enough is not
 * measured again. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_effects_finish(struct pythia_effects *e, uint64_t cycle,
                          const struct pythia_effect **out, size_t *count);

#endif
