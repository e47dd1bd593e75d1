/* SPDX-License-Identifier: MIT */
/* Variables as the rest of the library sees them. What a reader from outside needs is in the area:
 * a record of each among the definitions, and its last value in the page of the header. */
#ifndef PYTHIA__VARIABLES_H
#define PYTHIA__VARIABLES_H

#include "process.h"

/* Ask the functions among the first `watched` variables that are bound to the process, for a thread
 * that has a ring. */
PYTHIA__COLD void pythia__variables_ask(struct pythia__thread *t, uint32_t watched);

/* Write the values that this thread has not recorded yet for the request, as bits of doubles,
 * and behind them their numbers. There is room for all, and zeros to a multiple of 8. Returns
 * how many. */
PYTHIA__HOT uint32_t pythia__variables_write(struct pythia__thread *t,
                                             const struct pythia_context *c, uint32_t watched,
                                             uint64_t *to);

/* Make a value of a variable, by its number, a key-value of a span (tracepoint.c). */
PYTHIA__HOT void pythia__set_variable(const struct pythia_scope *scope, uint32_t number,
                                      double value);

/* Write the definitions of all variables into a new area. Under the lock. */
void pythia__variables_define(void);

#endif
