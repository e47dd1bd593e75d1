/* What git says of the source of a run. A process of its own asks it beside the program; what comes
 * after the program has ended nobody waits for, and that process adds it to the record. */
#ifndef PYTHIA_CLI_LATE_GIT_H
#define PYTHIA_CLI_LATE_GIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pythia/run_git.h"

#define PYTHIA__LATE_GIT_MS 10000 /* after the end of the program, when git is given up */

/* The question of a run. */
struct pythia__late_git {
    const char *path; /* of the file of runs; borrowed */
    struct pythia_git_state state;
    int link;    /* to the process that asks, if `asker` is positive */
    pid_t asker; /* 0: nobody is asked */
    pid_t ended; /* an earlier one, which is to be waited for; 0: none */
    int64_t run; /* that is stored without the answer; 0: none is */
};

/* Start the process, for a repository that pythia_git_find has put into `state`. No file of runs
 * may be open, and no other thread may run. */
void pythia__late_git_ask(struct pythia__late_git *late);

/* Put the answer into `state`, for which this waits so long at most. False: it is not there yet. */
bool pythia__late_git_take(struct pythia__late_git *late, int wait_ms);

/* The same for a run that is stored, whose record then has it; or give it up. False: it was given
 * up. */
bool pythia__late_git_settle(struct pythia__late_git *late, int wait_ms);

/* Leave a run that is stored to the process, which ends by itself. */
void pythia__late_git_leave(struct pythia__late_git *late);

/* Give the question up. */
void pythia__late_git_drop(struct pythia__late_git *late);

#endif
