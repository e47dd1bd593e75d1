/* Answers of git that come after the program has ended: nobody waits for them, and they are added
 * to the record of the run once they are there. */
#ifndef PYTHIA_CLI_LATE_GIT_H
#define PYTHIA_CLI_LATE_GIT_H

#include "pythia/run_git.h"
#include "pythia/run_store.h"

#define PYTHIA__LATE_GIT_MS 10000 /* after which it is given up */

/* The question of a run that is recorded. */
struct pythia__late_git {
    struct pythia_git_question question;
    struct pythia_run_context context; /* as the question was asked */
    int64_t run;                       /* 0: none is late */
};

/* Wait for the answer for at most `wait_ms`, and add it to the record, or give it up. False: it was
 * given up. */
bool pythia__late_git_settle(struct pythia__late_git *late, struct pythia_run_store *store,
                             int wait_ms);

/* Leave that to a process of its own, which has the file of runs at `path` and ends by itself. No
 * store may be open, and no thread may run. */
void pythia__late_git_leave(struct pythia__late_git *late, const char *path);

#endif
