/* Lines of a source, one after the other, each in memory as a whole. */
#ifndef PYTHIA_TRACES_WHOLE_LINES_H
#define PYTHIA_TRACES_WHOLE_LINES_H

#include <stdbool.h>

#include "pythia/buf.h"
#include "pythia/source.h"

#define PYTHIA__LINE_BYTES ((size_t)256 * 1024 * 1024) /* of a longer line nothing is taken */

struct pythia__whole_lines {
    struct pythia_buf line; /* read, not taken yet; kept for the next source */
    const char *source;
    uint64_t number, offset; /* of the current line, from 1, and its first byte in the source */
    bool too_long;           /* the rest of a line is passed over */
};

/* Read `from` to its end. `take` gets each line without its newline, borrowed; a negative answer
 * ends reading and is returned. `refuse` is called at a line that is longer than _LINE_BYTES.
 * PYTHIA_OK, PYTHIA_ENOMEM, or what reading gave. */
int pythia__whole_lines_read(struct pythia__whole_lines *l, struct pythia_source *from,
                             int (*take)(void *context, struct pythia_text line),
                             void (*refuse)(void *context), void *context, struct pythia_error *e);
void pythia__whole_lines_free(struct pythia__whole_lines *l);

/* The current line cannot be read, and why: `at` is the byte of it. */
int pythia__whole_lines_fail(const struct pythia__whole_lines *l, size_t at,
                             struct pythia_error *why, const char *sentence);

#endif
