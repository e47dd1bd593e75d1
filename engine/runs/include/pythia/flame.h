#ifndef PYTHIA_FLAME_H
#define PYTHIA_FLAME_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/run.h"
#include "pythia/text.h"

/* Flame graphs: a tree of calling contexts, each as wide as the time spent in it and below it. */
struct pythia_flame;

/* PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_flame_create(struct pythia_flame **out);
void pythia_flame_destroy(struct pythia_flame *f); /* f may be NULL */

/* Add time spent in a context itself: frames from the root on, with ';' between them. `side` 0 is
 * the graph, side 1 a second one that it is compared with. PYTHIA_OK or PYTHIA_ENOMEM. O(frames)
 * for stacks that come sorted, else O(frames siblings). */
int pythia_flame_add(struct pythia_flame *f, struct pythia_text stack, int side, double value);

/* Add folded stacks, a line each: the stack, a blank, and a number. PYTHIA_OK, PYTHIA_EFORMAT with
 * the line in `e`, or PYTHIA_ENOMEM. */
int pythia_flame_add_folded(struct pythia_flame *f, struct pythia_text folded, int side,
                            struct pythia_error *e);

struct pythia_flame_options {
    const char *title; /* of the picture */
    bool diff;         /* colour frames by what side 1 spends more (red) or less (blue) */
    const char *unit;  /* of the values: "ms" */
    double scale;      /* values are divided by it before they are shown: 1e6 for ns in ms */
};

/* Append the graph as an SVG document that needs no other file: frames show their name, value and
 * share under the pointer, a click enlarges a frame, Ctrl-F searches. Names are escaped. PYTHIA_OK
 * or PYTHIA_ENOMEM. No recursion: any depth. */
int pythia_flame_svg(const struct pythia_flame *f, const struct pythia_flame_options *options,
                     struct pythia_buf *to);

/* Append the folded stacks of side 0, sorted, as other tools read them; values are rounded. */
int pythia_flame_folded(const struct pythia_flame *f, struct pythia_buf *to);

#endif
