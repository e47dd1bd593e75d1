/* Files that root alone can change: what a privileged program may believe. */
#ifndef PYTHIA_PROBE_TRUSTED_H
#define PYTHIA_PROBE_TRUSTED_H

#include "pythia/allow_list.h"

/* Open a file that only root can change or replace: it and all folders above it belong to root, are
 * not writable by others, and no symbolic link leads there. The descriptor, or negative with the
 * reason in `e`. */
int pythia__trusted_open(const char *path, struct pythia_error *e);

/* Read such a file, of which at most `capacity` bytes are taken: how many, or negative as above. */
ssize_t pythia__trusted_read(const char *path, char *bytes, size_t capacity,
                             struct pythia_error *e);

/* Read an allow-list from such a file: as pythia_allow_list_parse, further PYTHIA_EIO. */
int pythia__allow_list_read(struct pythia_allow_list *out, const char *path,
                            struct pythia_error *e);

#endif
