#ifndef PYTHIA_RUN_STORE_H
#define PYTHIA_RUN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/run.h"

/* A file of runs: an SQLite database in WAL mode, which many processes may write at once (a writer
 * waits up to 10 s for the others). The file and those that SQLite puts beside it are readable by
 * their owner only. One thread at a time for each store. */
struct pythia_run_store;

#define PYTHIA_RUN_SCHEMA 2 /* of the file; an older one is migrated when it is opened to write */

/* Open the file, and make it first if there is none and `create` is set. On success *out is owned
 * by the caller. Returns PYTHIA_OK, or with the reason in `e`: PYTHIA_EIO if it cannot be opened,
 * PYTHIA_EFORMAT if it is no file of runs, is damaged, or is of a newer Pythia, PYTHIA_ENOMEM. */
int pythia_run_store_open(const char *path, bool create, struct pythia_run_store **out,
                          struct pythia_error *e);
void pythia_run_store_close(struct pythia_run_store *s); /* s may be NULL */

/* Can runs be added to the file? Makes it if there is none. Returns what pythia_run_store_open
 * would, but does not open a file that says that it is one of runs, so that it does not notice one
 * that is damaged or locked. No store of this process may be open. */
int pythia_run_store_check(const char *path, struct pythia_error *e);

/* Where runs are stored unless the user names a file: $PYTHIA_RUNS, else pythia/runs.db in
 * $XDG_STATE_HOME or ~/.local/state. Folders that are missing are made if `create` is set. `path`
 * takes `size` bytes. PYTHIA_OK, or PYTHIA_EIO with the reason in `e`. */
int pythia_run_store_default(bool create, char *path, size_t size, struct pythia_error *e);

/* Add a run with all that belongs to it, in one transaction; *id is its number. PYTHIA_OK, or
 * PYTHIA_EIO with the reason in `e` and nothing added. */
int pythia_run_store_add(struct pythia_run_store *s, const struct pythia_run *run, int64_t *id,
                         struct pythia_error *e);

/* Add findings to a run that is there already. */
int pythia_run_store_add_findings(struct pythia_run_store *s, int64_t run,
                                  const struct pythia_run_finding *findings, size_t count,
                                  struct pythia_error *e);

/* Set the state of the source of a run that is there already: `commit` as in struct pythia_run, and
 * `dirty` 0 or 1. PYTHIA_OK, also if the run is gone, or PYTHIA_EIO with the reason in `e`. */
int pythia_run_store_set_git(struct pythia_run_store *s, int64_t run, const char *commit, int dirty,
                             struct pythia_error *e);

/* Which runs are meant; a member that is NULL or 0 excludes none. */
struct pythia_run_filter {
    int64_t id;
    const char *command; /* a part of the command as its JSON list, or its whole key */
    const char *tag, *suite, *benchmark, *host;
    const struct pythia_run_pair *meta; /* all of these */
    size_t meta_count;
    uint64_t since_ns, until_ns; /* of the start, the latter excluded */
    uint64_t last;               /* only the last so many */
};

/* The tables to read for each run, besides its own row and its meta pairs. */
enum {
    PYTHIA_RUN_WITH_OUTPUT = 1,
    PYTHIA_RUN_WITH_CALLPATHS = 2,
    PYTHIA_RUN_WITH_FINDINGS = 4,
    PYTHIA_RUN_WITH_ARTIFACTS = 8,
    PYTHIA_RUN_WITH_PROCESSES = 16,
};

/* Called with each run, which is borrowed for the call; what is not PYTHIA_OK ends the walk. */
typedef int pythia_run_visit(void *context, const struct pythia_run *run);

/* Walk over the runs that pass the filter, in the order of their start. PYTHIA_OK, PYTHIA_EIO with
 * the reason in `e`, PYTHIA_ENOMEM, or what `visit` returned. By index: a query for one tag of
 * 100 000 runs takes time in proportion to the runs it finds. */
int pythia_run_store_each(struct pythia_run_store *s, const struct pythia_run_filter *filter,
                          unsigned with, pythia_run_visit *visit, void *context,
                          struct pythia_error *e);

#endif
