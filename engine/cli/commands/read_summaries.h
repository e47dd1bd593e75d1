/* Option --summaries: sums over calls instead of traces. */
#ifndef PYTHIA_CLI_READ_SUMMARIES_H
#define PYTHIA_CLI_READ_SUMMARIES_H

#include "pythia/call_summary.h"
#include "shared/command.h"

/* Read all files of an input as summaries (call_summaries.h), give them to `take`, and log what was
 * read and lost. Of a folder only files that are named as their writers name them are read. The result
 * of the reading counts failed files, and summaries as traces, for pythia__reading_exit. PYTHIA_OK,
 * PYTHIA_ENOMEM, or what `take` returned. */
int pythia__read_summaries(struct pythia__reading *reading,
                           int (*take)(void *context, const struct pythia_call_summary *all,
                                       size_t count),
                           void *context);

#endif
