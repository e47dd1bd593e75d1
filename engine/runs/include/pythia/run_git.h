#ifndef PYTHIA_RUN_GIT_H
#define PYTHIA_RUN_GIT_H

#include <stdbool.h>
#include <stddef.h>

/* The state of the source in the current folder when a run starts. The commit is read from the
 * files of the repository at once. Whether tracked files have changed takes git about a millisecond
 * for each 1000 of them, so git looks beside the program, and may see what the program changes. */

struct pythia_git_state {
    char commit[65]; /* "" outside of a repository, and before the first commit */
    int dirty;       /* as in struct pythia_run */
};

/* Is there a repository, that is, does a folder above have .git? Then its commit is read, or left
 * "" if only git can find it; `dirty` is unknown. O(size of packed-refs), of which 1 MiB at most is
 * read. */
bool pythia_git_find(struct pythia_git_state *state);

/* A question to git that is under way; none if `pid` is not positive. */
struct pythia_git_question {
    int pid, output; /* `output` does not block */
    /* of its answer so far */
    char line[96]; /* that has not ended, as far as it matters */
    size_t line_size;
    bool changed;
    char commit[65];
};

/* Start git, in a process group of its own. */
void pythia_git_ask(struct pythia_git_question *q);

/* Read what git has answered so far. True: that was all, or enough, or git has failed; the question
 * is over, and `state` has `dirty`, unless git did not say it, and the commit if it had none. */
bool pythia_git_take(struct pythia_git_question *q, struct pythia_git_state *state);

/* Give the question up: end git, without waiting for it. */
void pythia_git_drop(struct pythia_git_question *q);

#endif
