/* The file of a state before SQLite sees it: whether it is one at all, who may read it, and who
 * has it. */
#ifndef PYTHIA_CORE_STATE_FILE_H
#define PYTHIA_CORE_STATE_FILE_H

#include <stdbool.h>

#include "pythia/error.h"

/* A lock beside a state, PATH.lock: held until it is given back or the process ends. */
struct pythia__state_lock {
    char *path; /* owned; NULL: nothing is locked */
    int file;
};

/* Lock the state for this process, by the file that `path` leads to. PYTHIA_OK with *out to be
 * given to _release; PYTHIA_EIO: another process has it, which `e` names by its pid, or the lock
 * cannot be made; PYTHIA_ENOMEM. */
int pythia__state_lock_take(const char *path, struct pythia__state_lock *out,
                            struct pythia_error *e);
void pythia__state_lock_release(struct pythia__state_lock *lock); /* twice does nothing */

/* Make the file if there is none, for its user alone, and look at one that is there: it has to be
 * empty or begin as a database does, or as much of that as there is. That others may read it is
 * logged. PYTHIA_OK; PYTHIA_EFORMAT: it is something else, and left alone; PYTHIA_EIO. */
int pythia__state_file_prepare(const char *path, struct pythia_error *e);

/* Is the file absent, or shorter than a database can be, although a log of writes to it (PATH-wal)
 * is there? SQLite would delete the log then, and with it what was acknowledged. */
bool pythia__state_file_is_lost(const char *path);

/* Rename a damaged state, with the log beside it, to PATH.broken, or if that is taken to the first
 * free one of PATH.broken-2, PATH.broken-3 and so on, and log it. PYTHIA_OK; PYTHIA_EIO: it keeps
 * its name, with the reason in `e`; PYTHIA_ENOMEM. */
int pythia__state_file_put_aside(const char *path, struct pythia_error *e);

#endif
