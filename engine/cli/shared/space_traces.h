/* A search space straight from traces. */
#ifndef PYTHIA_CLI_SPACE_TRACES_H
#define PYTHIA_CLI_SPACE_TRACES_H

#include "command.h"
#include "pythia/space.h"

/* Read all input into an empty space. PYTHIA_OK or negative. */
int pythia__space_from_traces(struct pythia__reading *reading, struct pythia_space *space);

#endif
