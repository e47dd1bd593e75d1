/* SQLite in WAL mode with synchronous=FULL: a transaction that was committed is on disk. A damaged
 * database is put aside and told, and a new one begun: a daemon that does not start because of its
 * notes would be worse. A file that was never one was named by mistake: it is refused and left
 * alone. */
#include "pythia/state.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "state_parts.h"

#define FOREIGN (-1) /* beside the result codes of SQLite: a database of another program */

/* Does a finding of the check only say that a page could not be had? It ends in SQLite's code then:
 * "… unable to get the page. error code=266". */
static bool is_failed_read(const char *finding)
{
    static const char mark[] = "error code=";
    const char *code = strstr(finding, mark);
    long number = code ? strtol(code + strlen(mark), NULL, 10) & 255 : SQLITE_CORRUPT;
    return number == SQLITE_IOERR || number == SQLITE_NOMEM || number == SQLITE_FULL;
}

/* A check that cannot be made, because a disk is full or fails, says nothing of the database: what
 * is done with it next fails for the same reason, and says so. */
static bool is_sound_database(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    const char *found =
        result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool broken = (result & 255) == SQLITE_CORRUPT || (result & 255) == SQLITE_NOTADB ||
                  (found && strcmp(found, "ok") != 0 && !is_failed_read(found));
    sqlite3_finalize(statement);
    return !broken;
}

/* Is it a database of some other program? Nothing of it is written before that is known. -1 is of a
 * damaged one, or one that cannot be read at the moment. */
static bool is_foreign(sqlite3 *db)
{
    int version = pythia__state_number(db, "PRAGMA user_version");
    if (version <= 0)
        return version == 0 && pythia__state_number(db, "SELECT count(*) FROM sqlite_master") > 0;
    int ours =
        pythia__state_number(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name"
                                 " IN ('cycle', 'switch', 'pin', 'note')");
    return ours >= 0 && ours < 4;
}

/* A connection that has changed nothing yet: the log beside the file is not written into it, even
 * when the connection is closed, before it is known that the file is ours and sound. */
static int connect_database(const char *path, sqlite3 **db)
{
    int result =
        sqlite3_open_v2(path ? path : ":memory:", db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (result != SQLITE_OK)
        return result;
    sqlite3_busy_timeout(*db, 200);
    sqlite3_extended_result_codes(*db, 1);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (is_foreign(*db))
        return FOREIGN;
    result = sqlite3_exec(*db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;", NULL, NULL,
                          NULL);
    return result == SQLITE_OK && !is_sound_database(*db) ? SQLITE_CORRUPT : result;
}

static bool is_damage(int result)
{
    return (result & 255) == SQLITE_NOTADB || (result & 255) == SQLITE_CORRUPT;
}

static int schema_version(sqlite3 *db)
{
    return pythia__state_number(db, "PRAGMA user_version");
}

/* Connect to the file; one that is broken is begun anew. A newer one is not: what looks broken may
 * be what this SQLite does not know yet. SQLite calls some reads that fail damage, too, so a second
 * connection has to find the same. What SQLite or FOREIGN says is in *result, if the return is
 * PYTHIA_OK. */
static int connect_sound(struct pythia_state *s, const char *path, int *result,
                         struct pythia_error *e)
{
    *result = connect_database(path, &s->db);
    if (is_damage(*result)) {
        sqlite3_close(s->db);
        s->db = NULL;
        *result = connect_database(path, &s->db);
    }
    if (!is_damage(*result) || !path || schema_version(s->db) > PYTHIA_STATE_SCHEMA)
        return PYTHIA_OK;
    sqlite3_close(s->db);
    s->db = NULL;
    int status = pythia__state_file_put_aside(path, e);
    if (status != PYTHIA_OK || (status = pythia__state_file_prepare(path, e)) != PYTHIA_OK)
        return status;
    *result = connect_database(path, &s->db);
    return PYTHIA_OK;
}

static int begin_writing(struct pythia_state *s, const char *path, struct pythia_error *e)
{
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    if (sqlite3_exec(s->db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
                     NULL, NULL, NULL) != SQLITE_OK)
        return pythia__state_fail(e, path, s->db);
    int status = pythia__state_migrate(s->db, path, e);
    if (status != PYTHIA_OK)
        return status;
    /* no part of the schema: it is only slower without */
    sqlite3_exec(s->db, "CREATE INDEX IF NOT EXISTS switch_type ON switch(request_type)", NULL,
                 NULL, NULL);
    return PYTHIA_OK;
}

/* The state of a newer pythiad is read as far as this one knows it, and left as it is: after a
 * step back to an earlier release pins and the desired set hold, and the step forward again finds
 * all that was there. */
static int begin_reading(struct pythia_state *s, const char *path, struct pythia_error *e)
{
    int version = schema_version(s->db);
    if (sqlite3_exec(s->db, "PRAGMA query_only=ON", NULL, NULL, NULL) != SQLITE_OK ||
        !is_sound_database(s->db) || !pythia__state_is_readable(s->db)) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is the state of a newer pythiad (schema %d, this one supports "
                                "%d) that this one cannot read; choose another file with --state, "
                                "or use the newer program",
                                version, PYTHIA_STATE_SCHEMA);
    }
    s->degraded = true;
    pythia_log(PYTHIA_LOG_WARNING,
               "The state is of a newer pythiad: it is read but not written, so changes are lost "
               "at the next start: file=%s, schema=%d, known=%d",
               path, version, PYTHIA_STATE_SCHEMA);
    return PYTHIA_OK;
}

static int open_sound(struct pythia_state *s, const char *path, struct pythia_error *e)
{
    int result = SQLITE_OK;
    int status = connect_sound(s, path, &result, e);
    if (status != PYTHIA_OK)
        return status;
    if (result == FOREIGN) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is a database of another program, and was left alone; choose "
                                "another file with --state");
    }
    if (schema_version(s->db) > PYTHIA_STATE_SCHEMA)
        return begin_reading(s, path, e);
    return result == SQLITE_OK ? begin_writing(s, path, e) : pythia__state_fail(e, path, s->db);
}

/* Nothing of the state may be touched without its lock. */
static int prepare_state(struct pythia_state *s, const char *path, struct pythia_error *e)
{
    int status = pythia__state_lock_take(path, &s->lock, e);
    if (status != PYTHIA_OK)
        return status;
    if (pythia__state_file_is_lost(path) &&
        (status = pythia__state_file_put_aside(path, e)) != PYTHIA_OK)
        return status;
    return pythia__state_file_prepare(path, e);
}

int pythia_state_open(const char *path, struct pythia_state **out, struct pythia_error *e)
{
    struct pythia_state *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the state");
    int status = path ? prepare_state(s, path, e) : PYTHIA_OK;
    if (status != PYTHIA_OK || (status = open_sound(s, path, e)) != PYTHIA_OK) {
        pythia_state_close(s);
        return status;
    }
    *out = s;
    return PYTHIA_OK;
}

void pythia_state_close(struct pythia_state *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    pythia__state_lock_release(&s->lock);
    pythia_free(s);
}

bool pythia_state_is_degraded(const struct pythia_state *s)
{
    return s->degraded;
}
