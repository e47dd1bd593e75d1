#ifndef PYTHIA_PRICED_FUNCTIONS_H
#define PYTHIA_PRICED_FUNCTIONS_H

#include <stdbool.h>

#include "pythia/probe_rings.h"
#include "pythia/usdt_notes.h"

/* Functions of the program that is linked with this, one for each kind of instruction, whose probes
 * cost what those of any program do: pythia-probe opens them to measure prices. */

/* The site of a kind at the function of a kind: with one argument, in a register. Its offset is 0
 * if it is not known where in the file of this program the function is. */
struct pythia_usdt_site pythia_priced_site(enum pythia_usdt_instruction function,
                                           enum pythia_usdt_instruction kind);

/* Call each of them some hundred times, and say what its probe adds to a call, in ns: the median of
 * rounds. All kinds take turns, so that they meet the same machine, whatever its speed is now. A
 * probe must be open at each; at the function of PYTHIA_USDT_RETURN, which begins as that of
 * PYTHIA_USDT_PUSH does, also at its first instruction. `rings`, which they write into, are emptied
 * after each round. Takes a millisecond, and where a single step is expensive 10. */
void pythia_priced_measure(struct pythia_probe_rings *rings, double ns[PYTHIA_USDT_INSTRUCTIONS]);

#define PYTHIA_PRICES_BYTES 256

/* Write prices as text, "nop5=300 nop=500 …", with a NUL. Returns its size. */
size_t pythia_prices_write(const double ns[PYTHIA_USDT_INSTRUCTIONS],
                           char text[PYTHIA_PRICES_BYTES]);

/* Read them from such a text, maybe with others around them; 0: it has none of a kind. */
void pythia_prices_read(const char *text, double ns[PYTHIA_USDT_INSTRUCTIONS]);

/* What hits cost, and which kinds cost too much. All zero but the limit: nothing was measured. */
struct pythia_hit_prices {
    double max_ns;                            /* that a hit may cost */
    double ns[PYTHIA_USDT_INSTRUCTIONS];      /* means of about the last eight measurements */
    int count;                                /* of measurements, as far as it matters */
    bool expensive[PYTHIA_USDT_INSTRUCTIONS]; /* once above the limit, until below 2/3 of it */
};

/* Take in one more measurement. */
void pythia_hit_prices_add(struct pythia_hit_prices *p, const double ns[PYTHIA_USDT_INSTRUCTIONS]);

/* PYTHIA_OK if no site of a probe costs too much; else PYTHIA_ELIMIT, with the first in `e`. */
int pythia_hit_prices_check(const struct pythia_hit_prices *p, const struct pythia_usdt_site *sites,
                            size_t count, struct pythia_error *e);

/* Is one of them off by more than a twentieth? */
bool pythia_prices_differ(const double now_ns[PYTHIA_USDT_INSTRUCTIONS],
                          const double then_ns[PYTHIA_USDT_INSTRUCTIONS]);

#endif
