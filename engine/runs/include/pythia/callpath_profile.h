#ifndef PYTHIA_CALLPATH_PROFILE_H
#define PYTHIA_CALLPATH_PROFILE_H

#include "pythia/run.h"
#include "pythia/trace.h"

/* Time by calling context over all spans of many traces: what a run stores of its traces. */
struct pythia_callpath_profile;

/* `vocabulary` names the spans; borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_callpath_profile_create(const struct pythia_vocabulary *vocabulary,
                                   struct pythia_callpath_profile **out);
void pythia_callpath_profile_destroy(struct pythia_callpath_profile *p); /* p may be NULL */

/* Add all spans of a trace. The exclusive time of a span is that during which none of its children
 * runs. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia_callpath_profile_add(struct pythia_callpath_profile *p,
                                const struct pythia_trace *trace);

/* The contexts, sorted by path; quantiles are within 1 % (sketch.h). Borrowed until p is destroyed
 * or more is added. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_callpath_profile_finish(struct pythia_callpath_profile *p,
                                   const struct pythia_run_callpath **paths, size_t *count);

#endif
