/* States in a folder of their own, and what they hold as texts that can be compared: the tests of
 * engine/core/files/state*.c share it. A step that fails ends the test. */
#ifndef PYTHIA_TESTS_STATE_CASE_H
#define PYTHIA_TESTS_STATE_CASE_H

#include "pythia/buf.h"
#include "pythia/state.h"

#define POINTS 8

/* A new folder, with names for a state and a copy of it. */
struct place {
    char folder[64], state[96], copy[96];
};

void make_place(struct place *p);
void remove_place(const struct place *p); /* the folder holds nothing but states by then */
void remove_all(const char *path);        /* a state with the files beside it */

struct pythia_state *opened(const char *path); /* owned by the caller */

/* A whole file; an absent or empty one leaves `out` empty. */
void read_file(const char *path, struct pythia_buf *out);
void write_file(const char *path, const char *bytes, size_t size);

struct pins {
    int pin[POINTS]; /* of p0 to p7; 0: none */
    size_t count;
};

struct pins pins_of(struct pythia_state *s);
struct pythia_text point(int number); /* p0 to p7 */

struct desired {
    size_t count;
    char all[64]; /* joined */
};

/* For pythia_state_each_desired: `context` is a struct desired. */
int take_desired(void *context, struct pythia_text id, const struct pythia_text *type);

/* Write decision `n` of a run; the pins and the desired set that it leaves tell them apart. */
int decide(struct pythia_state *s, int n);

/* All that decisions leave behind, as a text. */
void tell(struct pythia_state *s, char out[256]);

/* For pythia_state_each_pin_place: `context` is a struct pythia_buf, which gets a text. */
int take_pin_place(void *context, struct pythia_text id, int pin, struct pythia_text place);

/* Statements on a state that nobody has open. */
void execute(const char *path, const char *query);

#endif
