/* `pythia profile --summaries`: sums over calls instead of traces. */
#ifndef PYTHIA_CLI_READ_SUMMARIES_H
#define PYTHIA_CLI_READ_SUMMARIES_H

#include "pythia/profile.h"
#include "shared/command.h"

/* Read all files of an input as summaries (call_summaries.h) into a profile, and log what was read
 * and lost. Of a folder only files that are named as their writers name them are read. The result
 * of the reading counts failed files, and summaries as traces, for pythia__reading_exit. PYTHIA_OK
 * or PYTHIA_ENOMEM. */
int pythia__read_summaries(struct pythia__reading *reading, struct pythia_profile *profile);

#endif
