/* Time series of margo. */
#ifndef PYTHIA_SERIES_MARGO_H
#define PYTHIA_SERIES_MARGO_H

#include <stdbool.h>

#include "pythia/series.h"

/* Does a file begin as such a file does? */
bool pythia__series_is_margo(struct pythia_text content);

/* Read one, whose process is in its name, <prefix>.<host>.<pid>.series.json (else it is 0): each
 * value is a row of `csv`, or broken. PYTHIA_OK, PYTHIA_EFORMAT, told, if it is no such file,
 * PYTHIA_ENOMEM. */
int pythia__series_margo_read(struct pythia_series_csv *csv, const char *name,
                              struct pythia_text content);

#endif
