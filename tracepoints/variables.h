/* SPDX-License-Identifier: MIT */
/* Variables as the rest of the library sees them. What a reader from outside needs is in the area:
 * a record of each among the definitions, and its last value in the page of the header. */
#ifndef PYTHIA__VARIABLES_H
#define PYTHIA__VARIABLES_H

#include "process.h"
#include "pythia/variable.h"

/* How many are bound to the process: most programs have none. */
extern uint32_t pythia__variables_of_process;

/* Values of some variables, with which a span is entered. */
struct pythia__values {
    uint32_t count;
    uint8_t numbers[PYTHIA_VARIABLES]; /* which ones, from 1, in order */
    uint64_t bits[PYTHIA_VARIABLES];   /* of the values, as doubles */
};

/* Look at these, and give those that this thread has not told yet of the request. */
void pythia__variables_look(const struct pythia__thread *t, const struct pythia_context *c,
                            struct pythia__values *out);

static inline int pythia__variables_are_there(void)
{
    return __builtin_expect(__atomic_load_n(&pythia__variables_of_process, __ATOMIC_ACQUIRE) != 0,
                            0) != 0;
}

/* Make a value of a variable, by its number, a key-value of a span (tracepoint.c). */
void pythia__set_variable(const struct pythia_scope *scope, uint32_t number, double value);

/* Write the definitions of all variables into a new area. Under the lock. */
void pythia__variables_define(void);

#endif
