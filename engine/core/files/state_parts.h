/* Declarations shared by the files of the state: state.c opens it, state_schema.c has the
 * tables, state_write.c and state_read.c use them. */
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
    bool degraded;     /* for good, if the state is of a newer pythiad: nothing is written to it */
};

/* The number that a query gives; -1 if it gives none. */
int pythia__state_number(sqlite3 *db, const char *query);

/* Report that SQLite could not open `path` (NULL: in memory). PYTHIA_EIO. */
int pythia__state_fail(struct pythia_error *e, const char *path, sqlite3 *db);

/* Bring a schema that is not newer up to date, in one transaction. PYTHIA_OK or PYTHIA_EIO. */
int pythia__state_migrate(sqlite3 *db, const char *path, struct pythia_error *e);

/* Does the database have every table and column that is read? */
bool pythia__state_is_readable(sqlite3 *db);

#endif
