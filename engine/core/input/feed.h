/* Decoding the files of one pass: from files to spans, on one thread or several. */
#ifndef PYTHIA_CORE_FEED_H
#define PYTHIA_CORE_FEED_H

#include <stdatomic.h>

#include "pythia/pipeline.h"

struct pythia__feed_totals {
    struct pythia_counts counts; /* what decoders count: broken records, repaired text */
    uint64_t bytes;
    size_t files, skipped_files, failed_files, empty_files;
};

/* Takes each span. All spans of a trace go to one of the shards, found by its id alone. What is done
 * with a shard is done by one thread at a time, with several shards by several. */
struct pythia__feed_taker {
    int (*take)(void *shard, const struct pythia_trace_id *trace, const struct pythia_span *span);
    int (*finish)(void *shard); /* no more spans come; not called after a failure */
    void *const *shards;        /* borrowed */
    size_t count;               /* at least 1 */
};

/* Decode all files of `input`. `read_bytes` counts bytes of files as they are read, for whoever
 * shows progress. `again`: the second time, what is wrong with the files has been said. PYTHIA_OK,
 * PYTHIA_ENOMEM or what the taker returned. */
int pythia__feed(struct pythia_vocabulary *vocabulary, const struct pythia_input *input,
                 const struct pythia_pipeline_options *options, bool again,
                 struct pythia__feed_taker taker, _Atomic uint64_t *read_bytes,
                 struct pythia__feed_totals *totals);

#endif
