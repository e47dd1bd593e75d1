#ifndef PYTHIA_SOURCE_H
#define PYTHIA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/text.h"

/* Where bytes come from: a file, a decompressor, a socket, a piece of memory. Embed it as the first
 * member and fill in `read`, and `borrow` if the bytes are in memory. One thread at a time. */
struct pythia_source {
    const char *name; /* for messages; borrowed, as long as the source lives */

    /* Put 1 to `capacity` bytes into `to` and their number into *got; 0 means the end. Returns
     * PYTHIA_OK, or a negative status with the reason in `e` (what was read before is still good).
     */
    int (*read)(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                struct pythia_error *e);

    /* All bytes that are left, which stay where they are as long as the source lives: nothing is
     * copied, and `read` finds the end. Without an address if they have to be read after all. NULL
     * for a source that never lends. */
    struct pythia_text (*borrow)(struct pythia_source *source);

    /* Has everything that came been read, so that the next `read` has to wait for more? A reader
     * that has a whole line does not wait behind it then. NULL for a source that never waits for
     * long. */
    bool (*waits)(struct pythia_source *source);
};

/* Bytes that are already in memory, lent, or given out in pieces of at most `piece` bytes (0: as
 * asked). Tests use small pieces, and lend nothing then, to cut the input everywhere. */
struct pythia_memory_source {
    struct pythia_source source;
    const unsigned char *bytes; /* borrowed */
    size_t size, at, piece;
};

/* Make a source of `size` bytes. The bytes and the name are borrowed. */
void pythia_memory_source_init(struct pythia_memory_source *m, const char *name, const void *bytes,
                               size_t size);

#endif
