#ifndef PYTHIA_SPACE_FILE_H
#define PYTHIA_SPACE_FILE_H

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/space.h"

/* A search space as a file: JSON, "pythia.space/1". Trace points stand once, nodes and edges are
 * rows of numbers. */

/* Append it to `out`. The same space gives the same bytes, whatever the order in which it was
 * filled. */
int pythia_space_file_write(const struct pythia_space *space, struct pythia_buf *out);

/* Read a file into an empty space. PYTHIA_OK, or negative with the reason in `e`: PYTHIA_EIO, or
 * PYTHIA_EFORMAT for what is no search space, or one of another version. */
int pythia_space_file_read(const char *path, struct pythia_space *space, struct pythia_error *e);

/* As pythia_space_file_read, but from memory; `name` is for messages. */
int pythia_space_file_parse(const char *name, struct pythia_text bytes, struct pythia_space *space,
                            struct pythia_error *e);

/* Append all bytes of a file. PYTHIA_OK, or negative with the reason in `e`. */
int pythia_file_read(const char *path, struct pythia_buf *out, struct pythia_error *e);

#endif
