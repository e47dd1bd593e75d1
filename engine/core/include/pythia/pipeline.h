#ifndef PYTHIA_PIPELINE_H
#define PYTHIA_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/adapter.h"
#include "pythia/counts.h"
#include "pythia/input.h"
#include "pythia/open_points.h"
#include "pythia/path_templates.h"
#include "pythia/series_join.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* The line from bytes to finished traces: files are decoded, on threads of their own if there are
 * any, and their spans are put together. */

struct pythia_pipeline_options {
    const struct pythia_adapter_ops *format; /* of all files; NULL: found by looking at each */
    unsigned threads;     /* that decode files and put traces together, the caller's among them */
    double expansion_max; /* see input.h */
    struct pythia_open_points
        *open; /* spans of other trace points are left out; NULL: none are; borrowed */
    struct pythia_skew *calls;          /* is told of calls between processes; NULL: nobody is */
    const struct pythia_skew *clocks;   /* by which times are put right; NULL: they stay */
    struct pythia_redaction *redaction; /* what nobody may see of values; NULL: nothing; borrowed */
    struct pythia_symbols *symbols;     /* what stands for places in programs; NULL: nothing */
    struct pythia_series_join *join;    /* key-values that each trace gets; NULL: none; borrowed */
    const struct pythia_path_templates
        *templates; /* by which the consumer names requests: when a pass has changed them all is
                       read again, as names that were given before do not hold; NULL: it gives no
                       such names; borrowed */
    bool progress;  /* a line on stderr */
    bool told;      /* what is wrong with the input was said before, by another run */
    uint64_t quiet_spans; /* a trace to which nothing was added for so many spans of others is
                             finished; 0: 65536 */
};

/* How a consumer takes traces on several threads at once, each into a part of its own. */
struct pythia_consumer_parts {
    int (*divide)(void *context, size_t count); /* called after `begin`, if there are to be parts */
    int (*take)(void *context, size_t part, const struct pythia_trace *trace); /* as below */
    /* All traces were taken: put the parts together. 1: that gives something else than one part
     * would have given, so that all is to be read once more, without parts. */
    int (*unite)(void *context);
};

/* The receiver of the traces, on one thread at a time. */
struct pythia_consumer {
    /* Called before the first trace, and again each time that all input has to be read once more:
     * forget all. */
    int (*begin)(void *context);
    int (*take)(void *context,
                const struct pythia_trace *trace); /* borrowed for the call; negative stops */
    void *context;
    const struct pythia_consumer_parts *parts; /* NULL: it has none */
};

struct pythia_pipeline_result {
    struct pythia_counts counts;
    uint64_t bytes;              /* of content, decompressed */
    size_t files, skipped_files; /* read; found in folders, and no trace file */
    size_t failed_files;         /* that could not be read, or not to their end */
    size_t empty_files;
};

/* Read all files. What goes wrong is logged, counted and passed over; the traces, and so everything
 * made of them, are the same whatever the order of the files and the number of threads. Returns
 * PYTHIA_OK, PYTHIA_ENOMEM or what the consumer returned. */
int pythia_pipeline_run(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                        const struct pythia_pipeline_options *options,
                        const struct pythia_consumer *consumer,
                        struct pythia_pipeline_result *result);

/* Decode all files, once, and give each span to `take` as it stands in them, in that order: nothing
 * is put together, hidden or put right, and `options->threads` is not used. Of the result only what
 * decoding counts is set. PYTHIA_OK, PYTHIA_ENOMEM or what `take` returned. */
int pythia_pipeline_spans(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                          const struct pythia_pipeline_options *options,
                          int (*take)(void *context, const struct pythia_trace_id *trace,
                                      const struct pythia_span *span),
                          void *context, struct pythia_pipeline_result *result);

#endif
