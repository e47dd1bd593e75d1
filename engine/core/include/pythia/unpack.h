#ifndef PYTHIA_UNPACK_H
#define PYTHIA_UNPACK_H

#include <stdint.h>

#include "pythia/error.h"
#include "pythia/source.h"
#include "pythia/text.h"

/* Compressed bytes, from any source, as a source of their content. */
enum pythia_packing {
    PYTHIA_PACKING_NONE,
    PYTHIA_PACKING_GZIP, /* members one behind the other are one content; so are frames */
    PYTHIA_PACKING_ZSTD,
    PYTHIA_PACKINGS, /* none of these */
};

/* By the name that HTTP and gRPC give it ("gzip", "zstd", "identity"; nothing is identity). */
enum pythia_packing pythia_packing_named(const char *name);

struct pythia_unpack_limits {
    uint64_t content_max; /* bytes of content, all in all; 0: any */
    double expansion_max; /* times the bytes that are packed, beyond the first 256 MiB; 0: any */
};

struct pythia_unpack;

/* `from` is borrowed, and its name is taken on. With PYTHIA_PACKING_NONE only the limit of content
 * holds. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM with the reason in `e`. */
int pythia_unpack_create(struct pythia_source *from, enum pythia_packing packing,
                         const struct pythia_unpack_limits *limits, struct pythia_unpack **out,
                         struct pythia_error *e);
void pythia_unpack_destroy(struct pythia_unpack *u); /* u may be NULL */

/* The source to read from, borrowed until _destroy: it ends with PYTHIA_EFORMAT where the data
 * are broken or cut off, and with PYTHIA_ELIMIT at a limit. Memory is some 128 KiB and what the
 * decompressor needs: for Zstandard a window of at most 8 MiB where content has a limit, else of
 * 128 MiB. */
struct pythia_source *pythia_unpack_source(struct pythia_unpack *u);

#endif
