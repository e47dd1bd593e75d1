/* Option --summaries: sums over calls instead of traces. */
#ifndef PYTHIA_CLI_READ_SUMMARIES_H
#define PYTHIA_CLI_READ_SUMMARIES_H

#include "pythia/call_summary.h"
#include "shared/command.h"

/* Sums have no spans, so that options about spans cannot be used with --summaries: `with` is the
 * one that is given, or NULL. PYTHIA_OK, or PYTHIA_EUSAGE, which was logged. */
int pythia__check_summaries(bool summaries, const char *with);

/* Read the traces of an input into `consumer`; or, with `summaries`, begin it, read all files as
 * summaries (call_summaries.h), give them to `take`, and log what was read and lost. Of a folder
 * only files that are named as their writers name them are read. The result of the reading counts
 * failed files, and summaries as traces, for pythia__reading_exit. PYTHIA_OK, PYTHIA_ENOMEM, or
 * what the consumer or `take` returned. */
int pythia__read_calls(struct pythia__reading *reading, bool summaries,
                       const struct pythia_consumer *consumer,
                       int (*take)(void *context, const struct pythia_call_summary *all,
                                   size_t count));

#endif
