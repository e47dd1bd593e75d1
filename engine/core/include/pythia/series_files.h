#ifndef PYTHIA_SERIES_FILES_H
#define PYTHIA_SERIES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/series.h"

/* Series from the folders in which collectors write them, while they do and after they were killed.
 *
 * Read are files whose names end in .csv; and those that end in .tmp, which nobody has completed,
 * if no process holds their lock any more: it was killed, and what it has written counts up to the
 * last whole row. Others are passed over: their rows will come. */

struct pythia_series_files_result {
    struct pythia_series_csv_counts csv;
    uint64_t files;         /* read, killed ones included */
    uint64_t killed;        /* of them those of processes that were killed */
    uint64_t writing;       /* passed over: they are being written */
    uint64_t gone;          /* taken away by others while they were looked for */
    uint64_t refused;       /* that could not be read, or are no such files: told */
    uint64_t others;        /* found in a folder, with names of something else */
    uint64_t outward_links; /* in a folder, to files outside: not followed */
    uint64_t missing;       /* numbers left out between files of one process: taken away, or lost */
};

/* Read files, and all files of folders (not of folders in them); links that lead out of their
 * folder only with `follow`. What cannot be read is told by `problem` and counted; reading goes on.
 * The content of a file is held while it is read. *out is finished and owned on success. PYTHIA_OK
 * or PYTHIA_ENOMEM. */
int pythia_series_files_read(const char *const *paths, size_t count, bool follow,
                             void (*problem)(void *context, const struct pythia_error *why),
                             void *context, struct pythia_series_set **out,
                             struct pythia_series_files_result *result);

#endif
