/* Traces in the order in which they began, whatever order threads have finished them in. */
#ifndef PYTHIA_CLI_ORDERED_TRACES_H
#define PYTHIA_CLI_ORDERED_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pythia/trace.h"

struct pythia__ordered_trace {
    uint64_t start_ns;
    struct pythia_trace_id id;
    long at; /* byte of the file */
    size_t size;
};

/* Traces wait in a temporary file, which a capture of any size may fill; in memory there are 40
 * bytes for each. One thread at a time. */
struct pythia__ordered_traces {
    uint64_t limit; /* keep only so many, those that began first; 0: all; set by the owner */
    /* private */
    FILE *file; /* NULL: none yet */
    struct pythia__ordered_trace *index;
    size_t count, capacity;
    struct pythia__ordered_trace last; /* with a limit: the last of those that began first */
    bool cut;                          /* `last` is known */
    long end;                          /* of the file */
};

/* Forget all traces. PYTHIA_OK, or PYTHIA_EIO, logged. */
int pythia__ordered_traces_restart(struct pythia__ordered_traces *o);

/* Add a trace (copied). PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_EIO, logged. O(spans) amortised. */
int pythia__ordered_traces_add(struct pythia__ordered_traces *o, const struct pythia_trace *trace);

/* Give each trace to `take`: those that began first come first, and the trace id decides between
 * those that began together. The trace is borrowed for the call; its key-values and names are as
 * they were. PYTHIA_OK, PYTHIA_ENOMEM, PYTHIA_EIO, logged, or what `take` returned. */
int pythia__ordered_traces_each(struct pythia__ordered_traces *o,
                                int (*take)(void *context, const struct pythia_trace *trace),
                                void *context);

void pythia__ordered_traces_free(struct pythia__ordered_traces *o);

#endif
