/* The file: who may read it, what is in it, how it is migrated.
 *
 * synchronous=NORMAL: a power failure may lose the last runs, which is what a record of timings may
 * cost; a crash of the process loses none. With FULL each run would wait for the disk. */
#define _DEFAULT_SOURCE
#include "pythia/run_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/own_file.h"
#include "pythia/status.h"
#include "store_parts.h"

#define APPLICATION_ID 0x50797275 /* "Pyru", in the header of the file: file(1) shows it */
#define HEADER_BYTES   100        /* of which those at 60 are the schema, at 68 the program */
#define BUSY_MS        10000
#define WAIT_MS        5 /* between two tries of what SQLite does not wait for itself */

/* One entry for each version: what leads from the one before to it. */
static const char *const migrations[PYTHIA_RUN_SCHEMA] = {
    "CREATE TABLE host(id INTEGER PRIMARY KEY, name TEXT, uname TEXT, cpu_model TEXT,"
    " governor TEXT, cpus INTEGER, memory_bytes INTEGER, swap_bytes INTEGER,"
    " UNIQUE(name, uname, cpu_model, governor, cpus, memory_bytes, swap_bytes));"
    "CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, started_ns INTEGER NOT NULL,"
    " command TEXT, command_key TEXT NOT NULL, tag TEXT, suite TEXT, benchmark TEXT,"
    " description TEXT, exit_status INTEGER, signal INTEGER, wall_ns INTEGER, user_ns INTEGER,"
    " sys_ns INTEGER, max_rss_bytes INTEGER, majflt INTEGER, minflt INTEGER, nvcsw INTEGER,"
    " nivcsw INTEGER, inblock INTEGER, oublock INTEGER, read_bytes INTEGER, write_bytes INTEGER,"
    " processes INTEGER, overhead_ns INTEGER, git_commit TEXT, git_dirty INTEGER,"
    " host_id INTEGER NOT NULL REFERENCES host, version TEXT);"
    "CREATE INDEX run_by_start ON run(started_ns);"
    "CREATE INDEX run_by_tag ON run(tag, started_ns);"
    "CREATE INDEX run_by_suite ON run(suite, started_ns);"
    "CREATE INDEX run_by_command ON run(command_key, started_ns);"
    "CREATE TABLE meta(run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, key TEXT NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY(run_id, key)) WITHOUT ROWID;"
    "CREATE INDEX meta_by_value ON meta(key, value);"
    "CREATE TABLE output(run_id INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE, stdout BLOB,"
    " stderr BLOB, stdout_bytes INTEGER, stderr_bytes INTEGER);"
    "CREATE TABLE artifact(run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    " name TEXT NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL);"
    "CREATE INDEX artifact_of_run ON artifact(run_id);"
    "CREATE TABLE callpath(run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    " path TEXT NOT NULL, calls INTEGER, sum_ns INTEGER, sum_squares REAL, min_ns INTEGER,"
    " max_ns INTEGER, p50_ns INTEGER, p99_ns INTEGER, exclusive_ns INTEGER,"
    " PRIMARY KEY(run_id, path)) WITHOUT ROWID;"
    "CREATE TABLE finding(run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, rank INTEGER,"
    " type TEXT, place TEXT, share REAL, key TEXT, sentence TEXT);"
    "CREATE INDEX finding_of_run ON finding(run_id);",

    "CREATE TABLE process(run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    " pid INTEGER, name TEXT, user_ns INTEGER, sys_ns INTEGER, max_rss_bytes INTEGER,"
    " majflt INTEGER, minflt INTEGER, spans INTEGER, exclusive_ns INTEGER);"
    "CREATE INDEX process_of_run ON process(run_id);",
};

int pythia__run_store_fail(const struct pythia_run_store *s, struct pythia_error *e)
{
    if (sqlite3_errcode(s->db) == SQLITE_NOMEM)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    pythia_error_place(e, s->path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO, "cannot be used: %s", sqlite3_errmsg(s->db));
}

sqlite3_stmt *pythia__run_store_prepare(const struct pythia_run_store *s, const char *query,
                                        struct pythia_error *e)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(s->db, query, -1, &statement, NULL) == SQLITE_OK)
        return statement;
    pythia__run_store_fail(s, e);
    return NULL;
}

/* A number of the database, or -1. */
static int64_t read_pragma(const struct pythia_run_store *s, const char *query)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    if (sqlite3_prepare_v2(s->db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static int run_store_statements(const struct pythia_run_store *s, const char *statements,
                                struct pythia_error *e)
{
    if (sqlite3_exec(s->db, statements, NULL, NULL, NULL) != SQLITE_OK)
        return pythia__run_store_fail(s, e);
    return PYTHIA_OK;
}

static int run_migrations(const struct pythia_run_store *s, struct pythia_error *e)
{
    char version[64];
    for (int64_t at = read_pragma(s, "PRAGMA user_version"); at < PYTHIA_RUN_SCHEMA; at++) {
        if (at < 0)
            break;
        int status = run_store_statements(s, migrations[at], e);
        snprintf(version, sizeof(version), "PRAGMA user_version=%lld", (long long)at + 1);
        if (status != PYTHIA_OK || (status = run_store_statements(s, version, e)) != PYTHIA_OK)
            return status;
    }
    snprintf(version, sizeof(version), "PRAGMA application_id=%d", APPLICATION_ID);
    return run_store_statements(s, version, e);
}

/* Ten processes may begin on one new file together: the version is read again inside the
 * transaction, and whoever comes second finds nothing left to do. */
static int migrate_store(const struct pythia_run_store *s, struct pythia_error *e)
{
    if (read_pragma(s, "PRAGMA user_version") == PYTHIA_RUN_SCHEMA)
        return PYTHIA_OK;
    int status = run_store_statements(s, "BEGIN IMMEDIATE", e);
    if (status != PYTHIA_OK)
        return status;
    if ((status = run_migrations(s, e)) != PYTHIA_OK ||
        (status = run_store_statements(s, "COMMIT", e)) != PYTHIA_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* A database of another program, named by mistake, is not touched. The three numbers are read in
 * one transaction: another process may be making the tables of the same new file. */
static int check_owner(const struct pythia_run_store *s, struct pythia_error *e)
{
    sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL);
    int64_t version = read_pragma(s, "PRAGMA user_version");
    int64_t owner = read_pragma(s, "PRAGMA application_id");
    int64_t tables = read_pragma(s, "SELECT count(*) FROM sqlite_master");
    if (version >= 0 && owner >= 0 && tables >= 0)
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    if (tables < 0 &&
        (sqlite3_errcode(s->db) == SQLITE_NOTADB || sqlite3_errcode(s->db) == SQLITE_CORRUPT)) {
        pythia_error_place(e, s->path, 0, 0);
        return pythia_error_set(
            e, PYTHIA_EFORMAT,
            "is no database of runs, or is damaged: %s (--db names another file)",
            sqlite3_errmsg(s->db));
    }
    if (version < 0 || owner < 0 || tables < 0)
        return pythia__run_store_fail(s, e);
    pythia_error_place(e, s->path, 0, 0);
    if (owner != APPLICATION_ID && (version != 0 || owner != 0 || tables != 0))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is a database of another program; name another file with --db");
    if (version > PYTHIA_RUN_SCHEMA)
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "was written by a newer Pythia (schema %lld, this one knows %d): "
                                "use that version, or another file (--db)",
                                (long long)version, PYTHIA_RUN_SCHEMA);
    return PYTHIA_OK;
}

/* The first to use a new file changes it to a write-ahead log, once and for all. SQLite does not
 * wait while another process does so, whatever the busy timeout says: this loop waits. */
static int start_log(const struct pythia_run_store *s, struct pythia_error *e)
{
    const char *statement = "PRAGMA journal_mode=WAL";
    int result;
    for (int waited = 0; (result = sqlite3_exec(s->db, statement, NULL, NULL, NULL)) != SQLITE_OK;
         waited += WAIT_MS) {
        if ((result & 0xff) != SQLITE_BUSY || waited >= BUSY_MS)
            return pythia__run_store_fail(s, e);
        sqlite3_sleep(WAIT_MS);
    }
    return PYTHIA_OK;
}

/* SQLite makes a file with the rights of the umask: make it first, for its owner only. The files
 * that SQLite puts beside it get the same rights. `header`: the first bytes of the file, or zeros;
 * NULL: nobody wants them. No database of this process may be open, as closing any file of it gives
 * up SQLite's locks. */
static int prepare_file(const char *path, bool create, unsigned char *header,
                        struct pythia_error *e)
{
    int file = pythia_own_file_open(path, (create ? O_CREAT : 0) | O_RDWR, e);
    if (file >= 0) {
        if (header && pread(file, header, HEADER_BYTES, 0) < 0)
            memset(header, 0, HEADER_BYTES);
        close(file);
        return pythia_own_database_check(path, e);
    }
    pythia_error_place(e, path, 0, 0);
    if (errno == ENOENT && !create)
        return pythia_error_set(e, PYTHIA_EIO,
                                "does not exist: no run has been recorded (pythia run --db)");
    return pythia_error_set(e, PYTHIA_EIO, "cannot be opened: %s", strerror(errno));
}

static uint32_t read_header_number(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* SQLite puts files beside the database. */
static bool can_write_beside(const char *path)
{
    char folder[sizeof(((struct pythia_run_store *)0)->path)];
    const char *slash = strrchr(path, '/');
    int size = slash ? (int)(slash - path) + 1 : 1;
    snprintf(folder, sizeof(folder), "%.*s", size, slash ? path : ".");
    return access(folder, W_OK | X_OK) == 0;
}

/* Opening the database takes as long as a short program runs, and tells of a file of runs nothing
 * that its header does not; what is none, or an old one, is opened to say why, or to migrate it. */
int pythia_run_store_check(const char *path, struct pythia_error *e)
{
    unsigned char header[HEADER_BYTES] = {0};
    struct pythia_run_store *s = NULL;
    int status = prepare_file(path, true, header, e);
    if (status != PYTHIA_OK)
        return status;
    if (memcmp(header, "SQLite format 3", 16) == 0 &&
        read_header_number(header + 60) == PYTHIA_RUN_SCHEMA &&
        read_header_number(header + 68) == APPLICATION_ID && can_write_beside(path))
        return PYTHIA_OK;
    status = pythia_run_store_open(path, true, &s, e);
    pythia_run_store_close(s);
    return status;
}

static int open_run_database(struct pythia_run_store *s, struct pythia_error *e)
{
    if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return s->db ? pythia__run_store_fail(s, e)
                     : pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    sqlite3_busy_timeout(s->db, BUSY_MS);
    int status = check_owner(s, e);
    if (status != PYTHIA_OK)
        return status;
    status = run_store_statements(s,
                                  "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                                  "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
                                  e);
    if (status != PYTHIA_OK || (status = start_log(s, e)) != PYTHIA_OK)
        return status;
    return migrate_store(s, e);
}

int pythia_run_store_open(const char *path, bool create, struct pythia_run_store **out,
                          struct pythia_error *e)
{
    if (strlen(path) >= sizeof((*out)->path)) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EIO, "the path is too long");
    }
    int status = prepare_file(path, create, NULL, e);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_run_store *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    memcpy(s->path, path, strlen(path) + 1);
    status = open_run_database(s, e);
    if (status != PYTHIA_OK) {
        pythia_run_store_close(s);
        return status;
    }
    *out = s;
    return PYTHIA_OK;
}

void pythia_run_store_close(struct pythia_run_store *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    pythia_free(s);
}

/* Make each folder of the path that is missing; what comes after the last '/' is a file. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int result = mkdir(path, 0700);
        int reason = errno;
        *slash = '/';
        if (result != 0 && reason != EEXIST)
            return reason;
    }
    return 0;
}

int pythia_run_store_default(bool create, char *path, size_t size, struct pythia_error *e)
{
    const char *named = getenv("PYTHIA_RUNS"), *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int length;
    if (named && *named)
        length = snprintf(path, size, "%s", named);
    else if (state && *state == '/')
        length = snprintf(path, size, "%s/pythia/runs.db", state);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.local/state/pythia/runs.db", home);
    else
        return pythia_error_set(e, PYTHIA_EIO,
                                "HOME is not set: name the file of runs with --db FILE");
    if ((size_t)length >= size)
        return pythia_error_set(e, PYTHIA_EIO, "the path of the file of runs is too long");
    int reason = create && !(named && *named) ? make_folders(path) : 0;
    if (reason == 0)
        return PYTHIA_OK;
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO, "its folder cannot be made: %s", strerror(reason));
}
