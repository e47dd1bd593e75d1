#ifndef PYTHIA_RUN_GIT_H
#define PYTHIA_RUN_GIT_H

#include <stdbool.h>

#include "pythia/run_context.h"

/* The state of the source in the current folder when a run starts. The commit is read from the
 * files of the repository at once. Whether tracked files have changed takes git about a millisecond
 * for each 1000 of them, so git looks beside the program, and may see what the program changes. */

/* A question to git that is under way; none if `pid` is not positive. */
struct pythia_git_question {
    int pid, output;
    /* of its answer so far */
    char line[96]; /* that has not ended, as far as it matters */
    size_t line_size;
    bool changed, complete;
    char commit[65];
};

/* Put the commit into `c`, and start git if a folder above has .git. git gets a process group of
 * its own. O(size of packed-refs), of which 1 MiB at most is read. */
void pythia_git_ask(struct pythia_git_question *q, struct pythia_run_context *c);

/* Read what git has answered, for at most `wait_ms`. True: that was all, or enough, or git has
 * failed; then it is in `c`, and the question is over. False: git is still at work. */
bool pythia_git_take(struct pythia_git_question *q, int wait_ms, struct pythia_run_context *c);

/* Give the question up: end git, without waiting for it. */
void pythia_git_drop(struct pythia_git_question *q);

#endif
