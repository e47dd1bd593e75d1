/* The part of a switchboard (tracepoints/) that the plane needs: where the switches of C
 * programs are, and a word among them that says who throws them. */
#ifndef PYTHIA_CONTROLS_BOARD_H
#define PYTHIA_CONTROLS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/switchboard.h"
#include "pythia/text.h"

struct pythia__board {
    struct pythia_switchboard *switches; /* NULL: it is not open */
};

/* Open the switchboard that programs use now, in place of one that may be another's by now; make it
 * if it is not there and `create`. On failure the board is closed. PYTHIA_OK, PYTHIA_ENOTFOUND, or
 * negative with the reason in `e`. */
int pythia__board_open(struct pythia__board *b, const char *directory, bool create,
                       struct pythia_error *e);
void pythia__board_close(struct pythia__board *b);

/* Go on to the next point from *index on: 0, or 1 at the end. `out` is the caller's. */
int pythia__board_next(const struct pythia__board *b, uint32_t *index,
                       struct pythia_switchboard_point *out);

/* Throw a point's switches, if they are not as wanted. False: there is no place. */
bool pythia__board_set(struct pythia__board *b, const struct pythia_switchboard_point *point,
                       uint64_t switches);

/* The switches for kinds of requests that the board knows by name. False: it does not know one, and
 * all have to be thrown. */
bool pythia__board_types(const struct pythia__board *b, const struct pythia_text *types,
                         size_t count, uint64_t *switches);

/* Who throws the switches: a random number. Whoever claims them last has them. */
void pythia__board_claim(struct pythia__board *b, uint64_t owner);
bool pythia__board_is_claimed(const struct pythia__board *b, uint64_t owner);

/* The service in an id: what stands before its first ':'. */
struct pythia_text pythia__board_service(struct pythia_text id);

/* Does an id fit one of the patterns, with commas between them? * is any bytes, ? one. */
bool pythia__board_fits(const char *patterns, struct pythia_text id);

#endif
