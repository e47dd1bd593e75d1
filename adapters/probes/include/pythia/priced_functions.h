#ifndef PYTHIA_PRICED_FUNCTIONS_H
#define PYTHIA_PRICED_FUNCTIONS_H

#include "pythia/usdt_notes.h"

/* Functions of the program that is linked with this, whose probes cost what those of any program do
 * that have the same kind of instruction: pythia-probe opens them to measure prices. */

/* Where in the file of this program the function of a kind is (PYTHIA_USDT_RETURN: that of PUSH); 0
 * if it is not known. */
uint64_t pythia_priced_offset(enum pythia_usdt_instruction kind);

/* What a call of it takes: ns, in the quickest of some rounds, since others were interrupted.
 * `after` is called after each round, which is not timed. */
double pythia_priced_time(enum pythia_usdt_instruction kind, void (*after)(void *context),
                          void *context);

#endif
