#ifndef PYTHIA_PROCESS_FILES_H
#define PYTHIA_PROCESS_FILES_H

#include <stdint.h>

#include "pythia/error.h"

/* Give `each` every file whose code a running process has mapped, once: its name as the process
 * sees it, and the file open for reading, or -1 with the reason in `why` where it cannot be read or
 * has been replaced since (then what is there now has other probes than the process). Files and
 * names are borrowed for the call. Ends with the first negative status of `each`. PYTHIA_OK;
 * PYTHIA_ENOTFOUND if there is no such process; PYTHIA_EIO if its mappings may not be read. */
int pythia_process_files(uint64_t pid,
                         int (*each)(void *context, const char *path, int file, const char *why),
                         void *context, struct pythia_error *e);

/* When a thread (process id << 32 | thread id) began, in ticks of the kernel, by which it differs
 * from a later one of the same number; 0: it is gone. */
uint64_t pythia_thread_start_time(uint64_t thread);

#endif
