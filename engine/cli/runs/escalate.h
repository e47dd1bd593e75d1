/* After a regression: run the command once more with trace points, and find out what varies. */
#ifndef PYTHIA_CLI_ESCALATE_H
#define PYTHIA_CLI_ESCALATE_H

#include "pythia/run_store.h"

/* Run `command`, a JSON list of words, once with the trace points of the file `points`, record it
 * in the file `db` with the tag "<tag>+trace", diagnose its traces, and add what was found to that
 * run. Returns 0, or the exit status of a failure that has been said. */
int pythia__escalate(const char *db, const char *command, const char *benchmark, const char *tag,
                     const char *points);

#endif
