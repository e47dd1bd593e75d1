/* Large files in pieces, so that threads share one file as they share many. A piece is a document
 * or several, and is decoded as if it were a file. Pieces are found one at a time, when a thread
 * has nothing else to do: to find all of them first would be work that no other thread shares.
 * Where files are divided depends on their bytes alone: what a piece with broken records loses is
 * the same for any number of threads. */
#ifndef PYTHIA_CORE_PIECES_H
#define PYTHIA_CORE_PIECES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pythia/input.h"

/* State shared by the pieces of a file, which several threads may decode. */
struct pythia__divided_file {
    const struct pythia_input_file *file; /* borrowed */
    _Atomic bool failed;
};

struct pythia__piece {
    struct pythia__divided_file *of;         /* borrowed */
    const struct pythia_adapter_ops *format; /* NULL: of an undivided file, which is to be looked
                                                at */
    struct pythia_input_range range;         /* unused if it is undivided */
    size_t gap;                              /* bytes between it and the next piece */
    size_t number;                           /* in order of file and place */
    bool last;                               /* of its file */
};

/* Finds pieces. */
struct pythia__pieces;

/* Make one for files, which are borrowed. `format` is that of all files; NULL: it is found by
 * looking. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__pieces_create(const struct pythia_input_file *files, size_t count,
                          const struct pythia_adapter_ops *format, struct pythia__pieces **out);

/* Mark the files of which a piece has failed, for the next pass over the input. p may be NULL. */
void pythia__pieces_destroy(struct pythia__pieces *p);

/* Find the next piece: 0, or 1 if there is none any more. Files are divided if they are large, not
 * compressed, and of a format and a layout that allow it. One thread at a time; others may decode
 * pieces meanwhile. O(bytes between the place where the piece should end and where it can), or
 * O(messages in it); and a look at the first bytes of a file. */
int pythia__pieces_next(struct pythia__pieces *p, struct pythia__piece *out);

/* Change the place of an error in a piece to that in its file. O(bytes before the piece) for an
 * error with a line. */
void pythia__piece_place(const struct pythia__piece *piece, struct pythia_error *why);

#endif
