/* Large files in pieces, so that threads share one file as they share many. A piece is a document
 * or several, and is decoded as if it were a file. Where files are divided depends on their bytes
 * alone: what a piece with broken records loses is the same for any number of threads. */
#ifndef PYTHIA_CORE_PIECES_H
#define PYTHIA_CORE_PIECES_H

#include <stdatomic.h>

#include "pythia/input.h"

/* State shared by the pieces of a file, which several threads may decode. */
struct pythia__divided_file {
    const struct pythia_input_file *file; /* borrowed */
    _Atomic bool failed;
};

struct pythia__piece {
    struct pythia__divided_file *of;
    const struct pythia_adapter_ops *format; /* NULL: of an undivided file, which is to be looked
                                                at */
    struct pythia_input_range range;         /* unused if it is undivided */
    size_t gap;                              /* bytes between it and the next piece */
};

struct pythia__pieces {
    struct pythia__piece *list; /* in order of file and place */
    size_t count, capacity;
    struct pythia__divided_file *files;
};

/* Divide files: those that are large, not compressed, and of a format and a layout that allow it.
 * `format` is that of all files; NULL: it is found by looking. PYTHIA_OK or PYTHIA_ENOMEM; _free
 * in any case. O(files + bytes of divided files / 2 MiB), and one look at the bytes between the
 * places where a piece should end and where it can. */
int pythia__pieces_find(const struct pythia_input_file *files, size_t count,
                        const struct pythia_adapter_ops *format, struct pythia__pieces *out);
void pythia__pieces_free(struct pythia__pieces *p);

/* Change the place of an error in a piece to that in its file. O(bytes before the piece) for an
 * error with a line. */
void pythia__piece_place(const struct pythia__piece *piece, struct pythia_error *why);

#endif
