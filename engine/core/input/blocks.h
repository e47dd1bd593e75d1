/* The content of a file that can only be read from its beginning to its end, as a compressed one,
 * in pieces: threads take one after the other, and decode them beside each other. Where the content
 * is divided depends on its bytes alone. */
#ifndef PYTHIA_CORE_BLOCKS_H
#define PYTHIA_CORE_BLOCKS_H

#include "piece_layout.h"
#include "pythia/buf.h"
#include "pythia/input.h"

struct pythia__blocks;

/* One of them; all zero: none yet. Its memory serves the next one. */
struct pythia__block {
    struct pythia_source source; /* first, so that one is the other: reads all of it */
    struct pythia_buf bytes;     /* owned */
    size_t number, at;           /* at: bytes that the source has given */
    uint64_t begin, line;        /* bytes and lines of the content before it */
    struct pythia_text before, after;
    struct pythia_source *rest; /* borrowed: what comes after the bytes, if nothing divides that;
                                   NULL: nothing does */
    struct pythia_error why;    /* of the file, which could not be read beyond these bytes */
    size_t before_bytes;        /* of `before`, which are not of the file */
};
void pythia__block_free(struct pythia__block *b);

/* Change the place of an error in a block to that in the content. */
void pythia__block_place(const struct pythia__block *b, struct pythia_error *why);

/* Takes the stream, also on failure. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__blocks_create(struct pythia_input_stream *stream, const struct pythia__layout *layout,
                          struct pythia__blocks **out);
void pythia__blocks_destroy(struct pythia__blocks *s); /* s may be NULL */

/* Take the next block: 0, or 1 if there is none any more, or PYTHIA_ENOMEM. One thread at a time;
 * other threads may decode blocks meanwhile, but for one with a `rest`, which is the last. O(bytes
 * of the block), with decompressing them. */
int pythia__blocks_next(struct pythia__blocks *s, struct pythia__block *b);

/* Bytes of content read so far. */
uint64_t pythia__blocks_content(const struct pythia__blocks *s);

#endif
