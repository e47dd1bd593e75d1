/* Where an input can be divided into pieces that are decoded apart. The places depend on its bytes
 * alone. */
#ifndef PYTHIA_CORE_PIECE_LAYOUT_H
#define PYTHIA_CORE_PIECE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/adapter.h"

/* Of a piece, at least, but for the last one. Spans of one trace are far apart if pieces are large,
 * since threads are at work on several; each piece costs some 50 microseconds to begin. */
#define PYTHIA__PIECE_BYTES ((uint64_t)2 * 1024 * 1024)
#define PYTHIA__VIEW_BYTES  ((size_t)64 * 1024)

/* An input that is looked at through a window. */
struct pythia__view {
    /* Move the window to a place, which is not before the piece whose end is looked for: it has
     * `size` bytes, of PYTHIA__VIEW_BYTES at most, or all that there is. False: that cannot be
     * read. */
    bool (*read)(struct pythia__view *v, uint64_t at, size_t size);
    struct pythia_text window; /* borrowed until the next _read */
};

/* The layout of the documents in an input. */
struct pythia__layout;

/* That of an input of some format with these first bytes; NULL: it cannot be divided. */
const struct pythia__layout *pythia__layout_find(const struct pythia_adapter_ops *format,
                                                 struct pythia_text head);

/* What has to stand before and after a piece that begins and ends inside an array. */
struct pythia_text pythia__layout_before(const struct pythia__layout *layout);
struct pythia_text pythia__layout_after(const struct pythia__layout *layout);

struct pythia__piece_end {
    uint64_t next; /* the place of the next piece; UINT64_MAX, or beyond the input: there is none */
    size_t gap;    /* bytes between the two */
    bool inside;   /* both are in the middle of an array */
};

/* The end of the piece that begins at `begin`. O(bytes from where it should end to where it can),
 * or O(messages). */
struct pythia__piece_end pythia__layout_end(const struct pythia__layout *layout,
                                            struct pythia__view *v, uint64_t begin);

#endif
