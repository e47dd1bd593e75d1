/* System statistics of SYMBIOSYS. */
#ifndef PYTHIA_SERIES_STATS_H
#define PYTHIA_SERIES_STATS_H

#include <stdbool.h>

#include "pythia/series.h"

/* Does a file begin as such a file does? */
bool pythia__series_is_stats(struct pythia_text content);

/* Read one: a sample is five rows of `csv`, or broken. PYTHIA_OK, PYTHIA_EFORMAT if it is no such
 * file, PYTHIA_ENOMEM. */
int pythia__series_stats_read(struct pythia_series_csv *csv, const char *name,
                              struct pythia_text content);

#endif
