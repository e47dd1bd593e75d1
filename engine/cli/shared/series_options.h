/* Series that a command reads beside traces, or instead of them. */
#ifndef PYTHIA_CLI_SERIES_OPTIONS_H
#define PYTHIA_CLI_SERIES_OPTIONS_H

#include "pythia/series_files.h"
#include "pythia/series_join.h"

/* Read series, with `follow` also by links that lead out of a folder, and say on stderr what was
 * refused, lost or left out. PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_EIO if nothing at all could be
 * read. *problems is added to. */
int pythia__series_read(const char *const *paths, size_t count, bool follow,
                        struct pythia_series_set **out, struct pythia_series_files_result *result,
                        size_t *problems);

#endif
