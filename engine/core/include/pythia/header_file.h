#ifndef PYTHIA_HEADER_FILE_H
#define PYTHIA_HEADER_FILE_H

#include <stddef.h>

#include "pythia/error.h"

#define PYTHIA_HEADERS_MAX 6

/* Headers of HTTP that are not for everybody to see, such as tokens: from a file, because arguments
 * and the environment of a process can be read by others. */
struct pythia_headers {
    char *text;                                /* owned */
    size_t text_size;                          /* bytes of it, which _free overwrites */
    const char *lines[PYTHIA_HEADERS_MAX + 1]; /* "Name: value" in `text`; NULL ends them */
};

/* Read a file with a header on each line, "Name: value"; empty lines, and those that begin with #,
 * are passed over. A file that other users can read is warned of. PYTHIA_OK with *out owned;
 * PYTHIA_EUSAGE or PYTHIA_EIO with the place and the reason in `e`, without any value in it; or
 * PYTHIA_ENOMEM. */
int pythia_headers_read(const char *path, struct pythia_headers *out, struct pythia_error *e);
void pythia_headers_free(struct pythia_headers *h); /* h may be zeroed */

#endif
