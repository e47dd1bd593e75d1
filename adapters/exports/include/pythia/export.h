#ifndef PYTHIA_EXPORT_H
#define PYTHIA_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/critical_path.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* Finished traces in formats of other tools. A format is a row of a table: it appends text, and
 * opens no file. The statements of "sql" and the stacks of "flamegraph" are for whoever makes a
 * database or a picture of them. */

/* The share of the latency variance that lies in the own time of a trace point. */
struct pythia_export_share {
    uint32_t tracepoint;
    double share; /* of 1; below 0 where the time varies against the request's */
};

/* The state of an export between traces. */
struct pythia_export_state {
    const struct pythia_vocabulary *vocabulary; /* borrowed */
    size_t traces;                              /* appended so far */
    /* For the next trace, sorted by trace point; NULL: not known. Borrowed. */
    const struct pythia_export_share *shares;
    size_t share_count;
};

struct pythia_export_ops {
    const char *name; /* "chrome" */
    const char *help;
    bool
        pieces; /* documents may follow each other: one may end, and the next begin, at any trace */
    void (*begin)(struct pythia_export_state *state, struct pythia_buf *out);
    /* Append one trace; `path` is its critical path. Missing memory shows in `out`. */
    void (*trace)(struct pythia_export_state *state, const struct pythia_trace *trace,
                  const struct pythia_critical_path *path, struct pythia_buf *out);
    void (*end)(struct pythia_export_state *state, struct pythia_buf *out);
};

/* All formats, in order of name; *count of them. */
const struct pythia_export_ops *const *pythia_exports(size_t *count);

#endif
