/* Arguments that rules name: their numbers, from the debug information of the programs. */
#ifndef PYTHIA_CONTROLS_PROBE_ARGUMENTS_H
#define PYTHIA_CONTROLS_PROBE_ARGUMENTS_H

#include "pythia/probe_rules.h"

/* Fill in the number and the kind of each argument that has a name, from the first program of the
 * rules that knows the function. One that no program knows is logged, and its key is left out of
 * spans. Reads the programs only if there are names. */
void pythia__probe_arguments_find(struct pythia_probe_rules *rules);

#endif
