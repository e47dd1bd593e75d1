/* What the files of the state share: state.c opens it, state_schema.c has the tables, state_write.c
 * and state_read.c what is done with them. */
#ifndef PYTHIA_CORE_STATE_PARTS_H
#define PYTHIA_CORE_STATE_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "pythia/error.h"
#include "state_file.h"

struct pythia_state {
    sqlite3 *db;
    struct pythia__state_lock lock;
    uint64_t start_ns; /* 0: not known */
    bool degraded;
};

/* The number that a query gives; -1 if it gives none. */
int pythia__state_number(sqlite3 *db, const char *query);

/* Report that SQLite could not open `path` (NULL: in memory). PYTHIA_EIO. */
int pythia__state_fail(struct pythia_error *e, const char *path, sqlite3 *db);

/* Bring an older schema up to date, in one transaction. PYTHIA_OK; PYTHIA_EFORMAT: it is newer;
 * PYTHIA_EIO. */
int pythia__state_migrate(sqlite3 *db, const char *path, struct pythia_error *e);

#endif
