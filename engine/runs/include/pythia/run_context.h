#ifndef PYTHIA_RUN_CONTEXT_H
#define PYTHIA_RUN_CONTEXT_H

#include "pythia/run.h"

/* Where a run took place. */
struct pythia_run_context {
    struct pythia_run_host host; /* its texts are in `texts` */
    char name[256], uname[512], cpu_model[256], governor[64];
};

/* Read the facts of this machine from /proc, /sys and
 * uname(2). What is not there stays unknown. */
void pythia_run_context_read(struct pythia_run_context *c);

#endif
