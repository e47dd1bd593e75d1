/* The files of --record: a new one at each start, what was recorded before is kept beside it. */
#ifndef PYTHIA_PYTHIAD_RECORDING_FILE_H
#define PYTHIA_PYTHIAD_RECORDING_FILE_H

#include "pythia/error.h"

/* Make a file to record into, for its user alone. One that is there becomes FILE.TIME, after the
 * time of its last change (UTC, like 20260131T120000Z; -2 and so on follow if that name is taken),
 * which is logged. `head`: what such a file begins with; one that begins otherwise and is not empty
 * is something else, and refused; NULL: any is taken for a recording. On success the descriptor,
 * owned; else PYTHIA_EIO or PYTHIA_ENOMEM with the reason in `e`. */
int pythia__recording_open(const char *path, const char *head, struct pythia_error *e);

#endif
