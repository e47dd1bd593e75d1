/* SPDX-License-Identifier: MIT */
/* Rings of dead processes that nobody has come to read. They are kept, since what was committed is
 * not lost; but a program that crashes over and over, with nobody reading, must not fill the
 * memory. */
#ifndef PYTHIA_LEFTOVERS_H
#define PYTHIA_LEFTOVERS_H

#include "switches.h"

#define PYTHIA__LEFTOVERS_MAX 32

/* Remove the oldest beyond that number, and what is of before the machine was started. What is lost
 * by it is counted on the switchboard, which may be NULL. */
void pythia__leftovers_remove(const struct pythia__directory *d, struct pythia_switchboard *b);

#endif
