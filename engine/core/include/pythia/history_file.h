#ifndef PYTHIA_HISTORY_FILE_H
#define PYTHIA_HISTORY_FILE_H

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/history.h"

/* The record of earlier searches as a file: JSON, "pythia.history/1", a row for each point. */

/* Append it to `out`. The same history gives the same bytes, whatever the order in which it was
 * filled; counts above INT64_MAX are written as that. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_history_file_write(const struct pythia_history *history, struct pythia_buf *out);

/* Read a file. On success *out is owned by the caller (pythia_history_destroy), on failure it is
 * untouched: PYTHIA_ENOMEM, PYTHIA_EIO, or PYTHIA_EFORMAT for what is no such record, or one of
 * another version, with the reason in `e`. */
int pythia_history_file_read(const char *path, struct pythia_history **out, struct pythia_error *e);

/* As pythia_history_file_read, but from memory; `name` is for messages. */
int pythia_history_file_parse(const char *name, struct pythia_text bytes,
                              struct pythia_history **out, struct pythia_error *e);

#endif
