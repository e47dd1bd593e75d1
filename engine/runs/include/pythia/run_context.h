#ifndef PYTHIA_RUN_CONTEXT_H
#define PYTHIA_RUN_CONTEXT_H

#include "pythia/run.h"

/* Where a run took place: the machine, and the state of the source it was started in. */
struct pythia_run_context {
    struct pythia_run_host host; /* its texts are in `texts` */
    char name[256], uname[512], cpu_model[256], governor[64];
    char git_commit[65]; /* "" outside a repository */
    int git_dirty;       /* as in struct pythia_run */
};

/* Read the facts of this machine, and nothing of the source (run_git.h), from /proc, /sys and
 * uname(2). What is not there stays unknown. */
void pythia_run_context_read(struct pythia_run_context *c);

#endif
