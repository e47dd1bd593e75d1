/* Shared by the files of the store. */
#ifndef PYTHIA_RUNS_STORE_PARTS_H
#define PYTHIA_RUNS_STORE_PARTS_H

#include <sqlite3.h>

#include "pythia/run_store.h"

struct pythia_run_store {
    sqlite3 *db;
    char path[4096];
};

/* The database's last error with the path, as PYTHIA_EIO, or PYTHIA_ENOMEM. */
int pythia__run_store_fail(const struct pythia_run_store *s, struct pythia_error *e);

/* Prepare a statement; NULL after setting `e`. */
sqlite3_stmt *pythia__run_store_prepare(const struct pythia_run_store *s, const char *query,
                                        struct pythia_error *e);

#endif
