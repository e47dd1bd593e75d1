/* The capabilities of a terminal. */
#ifndef PYTHIA_CLI_TERMINAL_H
#define PYTHIA_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct pythia__terminal {
    size_t width; /* columns: 72 to 120; 100 where it is not known, as in a pipe */
    bool colour;  /* it is a terminal, and neither NO_COLOR nor TERM=dumb says otherwise */
    bool screen;  /* it is a terminal that can be cleared */
    bool ascii;   /* TERM=dumb, or the locale names another charset than UTF-8 */
};

/* The terminal that standard output is, if `output`, the file to write to, is NULL or "-"; a file
 * is no terminal. */
struct pythia__terminal pythia__terminal_of(const char *output);

#endif
