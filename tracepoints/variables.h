/* SPDX-License-Identifier: MIT */
/* Variables as the rest of the library sees them. What a reader from outside needs is in the area:
 * a record of each among the definitions, and its last value in the page of the header. */
#ifndef PYTHIA__VARIABLES_H
#define PYTHIA__VARIABLES_H

#include "process.h"

/* How many are bound to the process: most programs have none. */
extern uint32_t pythia__variables_of_process;

/* Look at these, and make them key-values of a span that was entered. */
void pythia__variables_look(struct pythia__thread *t, const struct pythia_scope *scope);

static inline void pythia__variables_enter(struct pythia__thread *t,
                                           const struct pythia_scope *scope)
{
    if (__builtin_expect(__atomic_load_n(&pythia__variables_of_process, __ATOMIC_ACQUIRE) != 0, 0))
        pythia__variables_look(t, scope);
}

/* Write the definitions of all variables into a new area. Under the lock. */
void pythia__variables_define(void);

#endif
