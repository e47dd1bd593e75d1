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

/* Read the facts of this machine from /proc, /sys and uname(2). What is not there stays unknown. */
void pythia_run_context_read(struct pythia_run_context *c);

/* A question to git that is under way: `git status` may take longer than the program that is run,
 * so it is asked before the program starts and answered after it ends. */
struct pythia_git_question {
    int pid, output; /* -1: there is nothing to ask */
};

/* Start git in the current folder if that is in a repository (a folder above has .git). */
void pythia_git_ask(struct pythia_git_question *q);

/* Wait for the answer, and put it into `c`. Without git installed, nothing is known. */
void pythia_git_answer(struct pythia_git_question *q, struct pythia_run_context *c);

#endif
