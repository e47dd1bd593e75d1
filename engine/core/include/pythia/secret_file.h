#ifndef PYTHIA_SECRET_FILE_H
#define PYTHIA_SECRET_FILE_H

#include "pythia/error.h"
#include "pythia/keyed_hash.h"

/* The secret in a file, as 32 hexadecimal digits. One that is not there is made, of random bytes,
 * for its user alone; it is whole whenever it is there. NULL: one for this process, kept
 * nowhere. PYTHIA_OK, or negative with the reason in `e`: PYTHIA_EFORMAT if the file is of
 * something else. */
int pythia_secret_read(const char *path, struct pythia_hash_key *out, struct pythia_error *e);

#endif
