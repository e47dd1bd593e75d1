/* Threads for jobs that do not depend on each other (pythia/each.h). */
#ifndef PYTHIA_CLI_EACH_THREAD_H
#define PYTHIA_CLI_EACH_THREAD_H

#include "pythia/each.h"

/* Jobs are done by as many threads as *threads says, the caller's among them, which is borrowed. */
struct pythia_each pythia__each_thread(unsigned *threads);

#endif
