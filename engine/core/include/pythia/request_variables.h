#ifndef PYTHIA_REQUEST_VARIABLES_H
#define PYTHIA_REQUEST_VARIABLES_H

#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* Variables of programs (libpythia-tracepoints) as requests see them: of all numbers that the spans
 * of a request have for a key "variable.<name>", its first root gets the maximum, the mean and the
 * last, in order of the spans' starts: "variable.<name>.max", ".mean" and ".last". After SYMBIOSYS
 * (Ramesh et al.), which takes the maximum of some and the last of others. One thread at a time. */
struct pythia_request_variables;

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_request_variables_create(struct pythia_vocabulary *vocabulary,
                                    struct pythia_request_variables **out);
void pythia_request_variables_destroy(struct pythia_request_variables *r); /* r may be NULL */

/* The trace with these key-values: itself if it has no variables; else borrowed, until the next
 * call. NULL: out of memory. O(1) as long as no trace has variables, then O(key-values). */
const struct pythia_trace *pythia_request_variables_trace(struct pythia_request_variables *r,
                                                          const struct pythia_trace *trace);

#endif
