/* The resources that each process of a traced run used. */
#ifndef PYTHIA_CLI_PROCESSES_H
#define PYTHIA_CLI_PROCESSES_H

#include <stdio.h>

#include "pythia/arena.h"
#include "pythia/profile.h"
#include "pythia/run.h"

/* Open the file `report`, in which the shim reports. The program that is traced may have put
 * something else there: links are not followed, and no writer of a pipe is waited for. NULL if it
 * is no plain file; to be closed by fclose. */
FILE *pythia__report_open(const char *report);

/* The processes that the shim has reported in the file `report`, in the order in which they began,
 * with their spans of `profile` (one with processes; NULL: there are no spans). A process that was
 * killed, or has ended by _exit, reports no numbers. `memory` holds the result. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__processes_read(const char *report, const struct pythia_profile *profile,
                           struct pythia_arena *memory, const struct pythia_run_process **out,
                           size_t *count);

/* Append to the file `records` what processes of `report` have recorded and not written, since they
 * were killed: it stays in shared memory. Other programs' records are not touched, and where
 * pythiad reads, it has these too. What cannot be written is logged. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__processes_drain(const char *report, const char *records);

#endif
