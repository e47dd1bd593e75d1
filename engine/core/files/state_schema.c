/* The tables of the state, as the steps that lead from each schema to the next. */
#include <stdio.h>

#include "pythia/state.h"
#include "pythia/status.h"
#include "state_parts.h"

/* The migrations from each schema to the next: an older file gets the statements that it lacks. A
 * step only adds tables and columns, and what is there keeps its meaning: so an earlier pythiad can
 * read the state of a later one. tests/core/states/ has a state of each schema, and a later one. */
static const char *const schemas[PYTHIA_STATE_SCHEMA] = {
    "CREATE TABLE cycle(number INTEGER PRIMARY KEY, unix_ns INTEGER NOT NULL,"
    " requests INTEGER NOT NULL, under_way INTEGER NOT NULL, spans INTEGER NOT NULL,"
    " open_count INTEGER NOT NULL, finished INTEGER NOT NULL);"
    "CREATE TABLE switch(cycle INTEGER NOT NULL REFERENCES cycle(number) ON DELETE CASCADE,"
    " trace_point TEXT NOT NULL, open INTEGER NOT NULL, request_type TEXT, inside REAL,"
    " cost_ns REAL, reason TEXT NOT NULL);"
    "CREATE INDEX switch_cycle ON switch(cycle);"
    "CREATE TABLE problem(cycle INTEGER NOT NULL REFERENCES cycle(number) ON DELETE CASCADE,"
    " request_type TEXT NOT NULL, state TEXT NOT NULL, variance_share REAL, place TEXT,"
    " share REAL, share_low REAL, share_high REAL, rest REAL, causes TEXT NOT NULL);"
    "CREATE INDEX problem_cycle ON problem(cycle);"
    "CREATE TABLE type(cycle INTEGER NOT NULL REFERENCES cycle(number) ON DELETE CASCADE,"
    " request_type TEXT NOT NULL, requests INTEGER NOT NULL, mean_ns REAL, sd_ns REAL);"
    "CREATE INDEX type_cycle ON type(cycle);"
    "CREATE TABLE desired(trace_point TEXT PRIMARY KEY) WITHOUT ROWID;"
    "CREATE TABLE pin(trace_point TEXT PRIMARY KEY, pin INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE inventory(plane TEXT NOT NULL, target TEXT NOT NULL, trace_point TEXT NOT NULL,"
    " price_ns REAL, PRIMARY KEY(plane, target, trace_point)) WITHOUT ROWID;"
    "CREATE TABLE note(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;",
    "ALTER TABLE switch ADD COLUMN price_ns REAL;"
    "ALTER TABLE switch ADD COLUMN price_known TEXT;"
    "ALTER TABLE switch ADD COLUMN hits INTEGER;"
    "ALTER TABLE switch ADD COLUMN spans INTEGER;"
    "ALTER TABLE switch ADD COLUMN requests INTEGER;"
    "ALTER TABLE inventory ADD COLUMN price_known TEXT;"
    "ALTER TABLE inventory ADD COLUMN hits INTEGER;"
    "ALTER TABLE inventory ADD COLUMN spans INTEGER;"
    "ALTER TABLE inventory ADD COLUMN requests INTEGER;",
    /* the number here is one over all starts, and of cycles that learnt, too */
    ("ALTER TABLE cycle ADD COLUMN decided INTEGER;"
     "ALTER TABLE cycle ADD COLUMN start_ns INTEGER;"),
    /* request types that a point is pinned open for, one a row; none: for all */
    "CREATE TABLE pin_type(trace_point TEXT NOT NULL REFERENCES pin(trace_point) ON DELETE CASCADE,"
    " request_type TEXT NOT NULL, PRIMARY KEY(trace_point, request_type)) WITHOUT ROWID;",
    /* likewise request types that a point of the desired set is for */
    ("CREATE TABLE desired_type(trace_point TEXT NOT NULL"
     " REFERENCES desired(trace_point) ON DELETE CASCADE,"
     " request_type TEXT NOT NULL, PRIMARY KEY(trace_point, request_type)) WITHOUT ROWID;"),
    /* places of the instances that a pin is about, "HOST/PROCESS", one a row; none: all */
    ("CREATE TABLE pin_place(trace_point TEXT NOT NULL REFERENCES pin(trace_point)"
     " ON DELETE CASCADE, place TEXT NOT NULL, PRIMARY KEY(trace_point, place)) WITHOUT ROWID;")};

int pythia__state_fail(struct pythia_error *e, const char *path, sqlite3 *db)
{
    pythia_error_set(e, PYTHIA_EIO, "cannot be opened as state: %s",
                     db ? sqlite3_errmsg(db) : "out of memory");
    pythia_error_place(e, path ? path : "memory", 0, 0);
    return PYTHIA_EIO;
}

int pythia__state_number(sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement = NULL;
    int number = -1;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

int pythia__state_migrate(sqlite3 *db, const char *path, struct pythia_error *e)
{
    char text[128];
    int version = pythia__state_number(db, "PRAGMA user_version");
    if (version == PYTHIA_STATE_SCHEMA)
        return PYTHIA_OK;
    snprintf(text, sizeof(text), "PRAGMA user_version=%d; COMMIT;", PYTHIA_STATE_SCHEMA);
    bool good = version >= 0 && sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    for (int next = version; next < PYTHIA_STATE_SCHEMA && good; next++)
        good = sqlite3_exec(db, schemas[next], NULL, NULL, NULL) == SQLITE_OK;
    good = good && sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
    return good ? PYTHIA_OK : pythia__state_fail(e, path, db);
}
