/* SQLite in WAL mode with synchronous=FULL: a transaction that was committed is on disk. A damaged
 * database is put aside and told, and a new one begun: a daemon that does not start because of its
 * notes would be worse. A file that was never one was named by mistake: it is refused and left
 * alone. */
#include "pythia/state.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pythia/history_file.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "state_file.h"

#define FOREIGN     (-1)  /* beside the result codes of SQLite: a database of another program */
#define KEEP_CYCLES 10000 /* older ones are deleted */

/* Rows of what is kept of cycles: the last ones, and of decisions the last of each type. Together
 * they take some 30 MB, however many types there are. */
#define KEEP_DECISIONS 200 /* of a type */
#define KEEP_SWITCHES  20000
#define KEEP_PROBLEMS  50000
#define KEEP_TYPES     100000

struct pythia_state {
    sqlite3 *db;
    struct pythia__state_lock lock;
    uint64_t start_ns; /* 0: not known */
    bool degraded;
};

/* What leads from each schema to the next: an older one is brought up to date by what it lacks. */
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
     " request_type TEXT NOT NULL, PRIMARY KEY(trace_point, request_type)) WITHOUT ROWID;")};

/* ---- opening ---- */

static int fail(struct pythia_error *e, const char *path, sqlite3 *db)
{
    pythia_error_set(e, PYTHIA_EIO, "cannot be opened as state: %s",
                     db ? sqlite3_errmsg(db) : "out of memory");
    pythia_error_place(e, path ? path : "memory", 0, 0);
    return PYTHIA_EIO;
}

static int pragma_number(sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement = NULL;
    int number = -1;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

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
static bool is_sound(sqlite3 *db)
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
    int version = pragma_number(db, "PRAGMA user_version");
    if (version <= 0)
        return version == 0 && pragma_number(db, "SELECT count(*) FROM sqlite_master") > 0;
    int ours = pragma_number(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name"
                                 " IN ('cycle', 'switch', 'pin', 'note')");
    return ours >= 0 && ours < 4;
}

static int open_database(const char *path, sqlite3 **db)
{
    int result =
        sqlite3_open_v2(path ? path : ":memory:", db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (result != SQLITE_OK)
        return result;
    sqlite3_busy_timeout(*db, 200);
    sqlite3_extended_result_codes(*db, 1);
    if (is_foreign(*db))
        return FOREIGN;
    return sqlite3_exec(*db,
                        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                        "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;",
                        NULL, NULL, NULL);
}

/* PATH becomes PATH.broken, with what belongs to it. */
static void put_aside(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char from[4096], to[4096];
        snprintf(from, sizeof(from), "%s%s", path, ends[i]);
        snprintf(to, sizeof(to), "%s.broken%s", path, ends[i]);
        (void)rename(from, to);
    }
    pythia_log(PYTHIA_LOG_WARNING,
               "The state is no database any more, it is begun anew: file=%s, put-aside=%s.broken",
               path, path);
}

static int migrate(sqlite3 *db, const char *path, struct pythia_error *e)
{
    char text[128];
    int version = pragma_number(db, "PRAGMA user_version");
    if (version == PYTHIA_STATE_SCHEMA)
        return PYTHIA_OK;
    if (version > PYTHIA_STATE_SCHEMA) {
        pythia_error_set(e, PYTHIA_EFORMAT,
                         "is state of a newer pythiad (schema %d, this one knows %d): take another "
                         "file, or the newer program",
                         version, PYTHIA_STATE_SCHEMA);
        pythia_error_place(e, path, 0, 0);
        return PYTHIA_EFORMAT;
    }
    snprintf(text, sizeof(text), "PRAGMA user_version=%d; COMMIT;", PYTHIA_STATE_SCHEMA);
    bool good = version >= 0 && sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    for (int next = version; next < PYTHIA_STATE_SCHEMA && good; next++)
        good = sqlite3_exec(db, schemas[next], NULL, NULL, NULL) == SQLITE_OK;
    good = good && sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
    return good ? PYTHIA_OK : fail(e, path, db);
}

/* Open the file; one that is broken is begun anew. */
static int open_sound(struct pythia_state *s, const char *path, struct pythia_error *e)
{
    int result = open_database(path, &s->db);
    bool broken = (result & 255) == SQLITE_NOTADB || (result & 255) == SQLITE_CORRUPT ||
                  (result == SQLITE_OK && !is_sound(s->db));
    if (broken && path) {
        sqlite3_close(s->db);
        s->db = NULL;
        put_aside(path);
        int status = pythia__state_file_prepare(path, e);
        if (status != PYTHIA_OK)
            return status;
        result = open_database(path, &s->db);
    }
    if (result == FOREIGN) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is a database of another program, and is left alone: choose "
                                "another file with --state");
    }
    int status = result == SQLITE_OK ? migrate(s->db, path, e) : fail(e, path, s->db);
    if (status == PYTHIA_OK) /* no part of the schema: it is only slower without */
        sqlite3_exec(s->db, "CREATE INDEX IF NOT EXISTS switch_type ON switch(request_type)", NULL,
                     NULL, NULL);
    return status;
}

int pythia_state_open(const char *path, struct pythia_state **out, struct pythia_error *e)
{
    struct pythia_state *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the state");
    int status = path ? pythia__state_lock_take(path, &s->lock, e) : PYTHIA_OK;
    if (status == PYTHIA_OK && path)
        status = pythia__state_file_prepare(path, e);
    if (status == PYTHIA_OK)
        status = open_sound(s, path, e);
    if (status != PYTHIA_OK) {
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

/* ---- writing ---- */

/* The end of a transaction, or of a try at one. */
static int end_with(struct pythia_state *s, bool good)
{
    good = good && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!good) {
        const char *file = sqlite3_db_filename(s->db, "main");
        if (!s->degraded)
            pythia_log(PYTHIA_LOG_ERROR,
                       "The state cannot be written, decisions go on without: file=%s, reason=%s",
                       file && file[0] ? file : "memory", sqlite3_errmsg(s->db));
        if (!sqlite3_get_autocommit(s->db))
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    } else if (s->degraded) {
        pythia_log(PYTHIA_LOG_INFO, "The state can be written again");
    }
    s->degraded = !good;
    return good ? PYTHIA_OK : PYTHIA_EIO;
}

/* A statement with its values bound from the left; NULL when it could not be made. */
struct row {
    sqlite3_stmt *statement;
    int at;
    bool bad;
};

static struct row insert(struct pythia_state *s, const char *query)
{
    struct row r = {0};
    r.bad = sqlite3_prepare_v2(s->db, query, -1, &r.statement, NULL) != SQLITE_OK;
    return r;
}

static void put_integer(struct row *r, uint64_t number)
{
    r->bad = r->bad || sqlite3_bind_int64(r->statement, ++r->at,
                                          number > INT64_MAX ? INT64_MAX : (sqlite3_int64)number) !=
                           SQLITE_OK;
}

/* NaN is NULL to SQLite. */
static void put_real(struct row *r, double number)
{
    r->bad = r->bad || sqlite3_bind_double(r->statement, ++r->at, number) != SQLITE_OK;
}

static void put_text(struct row *r, struct pythia_text text)
{
    r->bad = r->bad || sqlite3_bind_text64(r->statement, ++r->at, text.bytes, text.size,
                                           SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK;
}

static bool done(struct row *r)
{
    bool good = !r->bad && sqlite3_step(r->statement) == SQLITE_DONE;
    sqlite3_finalize(r->statement);
    return good;
}

/* How a price is known, and passes; without `known`, nothing is. */
static void put_known(struct row *r, const struct pythia_state_known *known)
{
    if (!known) {
        r->at += 4;
        return;
    }
    put_text(r, pythia_text_of(known->price_known));
    put_integer(r, known->hits);
    put_integer(r, known->spans);
    put_integer(r, known->requests);
}

/* The price is the one by which was decided. */
static bool add_switch(struct pythia_state *s, uint64_t number, const struct pythia_vocabulary *v,
                       const struct pythia_cycle *c, const struct pythia_switch *w,
                       struct pythia_state_knower knower)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(v, w->tracepoint);
    struct pythia_state_known known;
    bool is_known = knower.know && knower.know(knower.context, id, &known);
    struct row r = insert(s, "INSERT INTO switch VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    put_integer(&r, number);
    put_text(&r, id);
    put_integer(&r, w->open);
    if (w->problem < c->problem_count)
        put_text(&r, pythia_vocabulary_text(v, c->problems[w->problem].type));
    else if (w->type != PYTHIA_NONE)
        put_text(&r, pythia_vocabulary_text(v, w->type));
    else
        r.at++;
    put_real(&r, w->inside);
    put_real(&r, w->cost_ns);
    put_text(&r, pythia_text_of(w->reason));
    put_real(&r, w->price_ns);
    put_known(&r, is_known ? &known : NULL);
    return done(&r);
}

static json_t *finding(const struct pythia_vocabulary *v, const struct pythia_finding *f)
{
    struct pythia_buf place = {0};
    pythia_place_add(&place, v, &f->place);
    json_t *out =
        json_pack("{s:s%, s:f, s:f, s:f}", "place", place.bytes ? place.bytes : "", place.size,
                  "share", f->share, "share_low", f->low, "share_high", f->high);
    pythia_buf_free(&place);
    return out;
}

static bool add_problem(struct pythia_state *s, uint64_t number, const struct pythia_vocabulary *v,
                        const struct pythia_problem *p)
{
    struct pythia_buf place = {0};
    json_t *causes = json_array();
    for (size_t i = 0; i < p->cause_count; i++)
        json_array_append_new(causes, finding(v, &p->causes[i]));
    char *text = json_dumps(causes, JSON_COMPACT);
    struct row r = insert(s, "INSERT INTO problem VALUES(?,?,?,?,?,?,?,?,?,?)");
    put_integer(&r, number);
    put_text(&r, pythia_vocabulary_text(v, p->type));
    put_text(&r, pythia_text_of(pythia_problem_state_name(p->state)));
    put_real(&r, p->variance_share);
    if (!isnan(p->top.share)) {
        pythia_place_add(&place, v, &p->top.place);
        put_text(&r, pythia_buf_text(&place));
    } else {
        r.at++;
    }
    put_real(&r, p->top.share);
    put_real(&r, p->top.low);
    put_real(&r, p->top.high);
    put_real(&r, p->rest);
    put_text(&r, pythia_text_of(text ? text : "[]"));
    free(text);
    json_decref(causes);
    pythia_buf_free(&place);
    return done(&r);
}

/* Is it of a type that the search space does not know? Nothing is decided for such types, and they
 * may be without number. */
static bool is_unknown(const struct pythia_problem *p)
{
    return p->state == PYTHIA_PROBLEM_UNKNOWN;
}

/* Such types, by number of a string. */
struct unknown_types {
    bool *is; /* owned; NULL: out of memory */
    size_t count;
};

static struct unknown_types list_unknown(const struct pythia_cycle *c)
{
    struct unknown_types u = {.count = 1};
    for (size_t i = 0; i < c->problem_count; i++)
        u.count = c->problems[i].type >= u.count ? (size_t)c->problems[i].type + 1 : u.count;
    u.is = pythia_calloc(u.count, sizeof(*u.is));
    for (size_t i = 0; u.is && i < c->problem_count; i++)
        u.is[c->problems[i].type] = is_unknown(&c->problems[i]);
    return u;
}

static bool add_types(struct pythia_state *s, uint64_t number, const struct pythia_vocabulary *v,
                      const struct pythia_groups *groups, const struct unknown_types *unknown)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (types[i].name < unknown->count && unknown->is[types[i].name])
            continue;
        struct row r = insert(s, "INSERT INTO type VALUES(?,?,?,?,?)");
        put_integer(&r, number);
        put_text(&r, pythia_vocabulary_text(v, types[i].name));
        put_integer(&r, types[i].moments.weight);
        put_real(&r, pythia_exact_moments_mean(&types[i].moments));
        put_real(&r, sqrt(pythia_exact_moments_variance(&types[i].moments)));
        good = done(&r);
    }
    return good;
}

static bool delete_before(struct pythia_state *s, const char *query, uint64_t kept)
{
    struct row r = insert(s, query);
    put_integer(&r, kept);
    return done(&r);
}

/* Of the types that there were decisions for the last ones are kept. */
static bool forget_decisions(struct pythia_state *s, const struct pythia_vocabulary *v,
                             const struct pythia_cycle *c)
{
    bool good = true;
    for (size_t i = 0; i < c->switch_count && good; i++) {
        if (c->switches[i].problem >= c->problem_count)
            continue;
        struct row r = insert(
            s, "DELETE FROM switch WHERE rowid IN (SELECT rowid FROM switch WHERE request_type = ?"
               " ORDER BY rowid DESC LIMIT -1 OFFSET ?)");
        put_text(&r, pythia_vocabulary_text(v, c->problems[c->switches[i].problem].type));
        put_integer(&r, KEEP_DECISIONS);
        good = done(&r);
    }
    return good;
}

/* Keep the state within its size: what is deleted makes room for what is added next. */
static bool forget_old(struct pythia_state *s, uint64_t number, const struct pythia_vocabulary *v,
                       const struct pythia_cycle *c)
{
    bool good = forget_decisions(s, v, c);
    if (good && number > KEEP_CYCLES) {
        struct row r = insert(s, "DELETE FROM cycle WHERE number <= ?");
        put_integer(&r, number - KEEP_CYCLES);
        good = done(&r);
    }
    return good &&
           delete_before(s,
                         "DELETE FROM switch WHERE rowid <="
                         " (SELECT max(rowid) FROM switch) - ?",
                         KEEP_SWITCHES) &&
           delete_before(s,
                         "DELETE FROM problem WHERE rowid <="
                         " (SELECT max(rowid) FROM problem) - ?",
                         KEEP_PROBLEMS) &&
           delete_before(s, "DELETE FROM type WHERE rowid <= (SELECT max(rowid) FROM type) - ?",
                         KEEP_TYPES);
}

void pythia_state_set_start(struct pythia_state *s, uint64_t unix_ns)
{
    s->start_ns = unix_ns;
}

int pythia_state_add_cycle(struct pythia_state *s, uint64_t unix_ns,
                           const struct pythia_vocabulary *v, const struct pythia_live_cycle *cycle,
                           struct pythia_state_knower knower)
{
    const struct pythia_cycle *c = &cycle->decisions;
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    struct row r = insert(s, "INSERT INTO cycle SELECT coalesce(max(number), 0) + 1,?,?,?,?,?,?,"
                             "nullif(?,0),nullif(?,0) FROM cycle");
    put_integer(&r, unix_ns);
    put_integer(&r, cycle->requests);
    put_integer(&r, cycle->under_way);
    put_integer(&r, cycle->spans);
    put_integer(&r, c->open_count);
    put_integer(&r, c->finished);
    put_integer(&r, c->number);
    put_integer(&r, s->start_ns);
    good = done(&r) && good;
    uint64_t number = (uint64_t)sqlite3_last_insert_rowid(s->db);
    for (size_t i = 0; i < c->switch_count && good; i++)
        good = add_switch(s, number, v, c, &c->switches[i], knower);
    for (size_t i = 0; i < c->problem_count && good; i++)
        if (!is_unknown(&c->problems[i]))
            good = add_problem(s, number, v, &c->problems[i]);
    struct unknown_types unknown = list_unknown(c);
    good =
        good && unknown.is && (!cycle->groups || add_types(s, number, v, cycle->groups, &unknown));
    pythia_free(unknown.is);
    return end_with(s, good && forget_old(s, number, v, c));
}

static bool put_note(struct pythia_state *s, const char *name, struct pythia_text value)
{
    struct row r = insert(s, "INSERT OR REPLACE INTO note VALUES(?,?)");
    put_text(&r, pythia_text_of(name));
    put_text(&r, value);
    return done(&r);
}

static bool put_desired(struct pythia_state *s, const struct pythia_control_wish *wish)
{
    struct row r = insert(s, "INSERT OR IGNORE INTO desired VALUES(?)");
    put_text(&r, wish->id);
    bool good = done(&r);
    for (size_t i = 0; wish->types && i < wish->type_count && good; i++) {
        r = insert(s, "INSERT OR IGNORE INTO desired_type VALUES(?,?)");
        put_text(&r, wish->id);
        put_text(&r, wish->types[i]);
        good = done(&r);
    }
    return good;
}

int pythia_state_put_desired(struct pythia_state *s, const struct pythia_control_wish *wishes,
                             size_t count, uint64_t version, const struct pythia_text *space)
{
    char number[24];
    bool good =
        sqlite3_exec(s->db, "BEGIN IMMEDIATE; DELETE FROM desired", NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; i < count && good; i++)
        good = put_desired(s, &wishes[i]);
    snprintf(number, sizeof(number), "%" PRIu64, version);
    good = good && put_note(s, "version", pythia_text_of(number)) &&
           (!space || put_note(s, "space", *space));
    return end_with(s, good);
}

int pythia_state_put_off(struct pythia_state *s, bool off)
{
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                put_note(s, "off", pythia_text_of(off ? "1" : "0"));
    return end_with(s, good);
}

/* The types of the point's last pin go with its row, which is deleted or replaced. */
static bool put_pin(struct pythia_state *s, struct pythia_text id, int pin)
{
    struct row r = insert(s, pin ? "INSERT OR REPLACE INTO pin VALUES(?1,?2)"
                                 : "DELETE FROM pin WHERE trace_point = ?1 OR ?2 = 2");
    put_text(&r, id);
    r.bad = r.bad || sqlite3_bind_int(r.statement, 2, pin) != SQLITE_OK;
    return done(&r);
}

int pythia_state_put_pin(struct pythia_state *s, struct pythia_text id, int pin)
{
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    return end_with(s, put_pin(s, id, pin) && good);
}

int pythia_state_put_pin_for(struct pythia_state *s, struct pythia_text id,
                             const struct pythia_text *types, size_t count)
{
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    good = put_pin(s, id, 1) && good;
    for (size_t i = 0; i < count; i++) {
        struct row r = insert(s, "INSERT OR REPLACE INTO pin_type VALUES(?1,?2)");
        put_text(&r, id);
        put_text(&r, types[i]);
        good = done(&r) && good;
    }
    return end_with(s, good);
}

int pythia_state_put_history(struct pythia_state *s, const struct pythia_history *h)
{
    struct pythia_buf text = {0};
    if (pythia_history_file_write(h, &text) != PYTHIA_OK) {
        pythia_buf_free(&text);
        return PYTHIA_ENOMEM;
    }
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                put_note(s, "history", pythia_buf_text(&text));
    pythia_buf_free(&text);
    return end_with(s, good);
}

int pythia_state_put_inventory(struct pythia_state *s, const struct pythia_state_point *points,
                               size_t count)
{
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE; DELETE FROM inventory", NULL, NULL, NULL) ==
                SQLITE_OK;
    for (size_t i = 0; i < count && good; i++) {
        struct row r = insert(s, "INSERT OR REPLACE INTO inventory VALUES(?,?,?,?,?,?,?,?)");
        put_text(&r, pythia_text_of(points[i].plane));
        put_text(&r, points[i].target);
        put_text(&r, points[i].id);
        put_real(&r, points[i].of.price_ns);
        put_known(&r, &points[i].of);
        good = done(&r);
    }
    return end_with(s, good);
}

/* ---- reading ---- */

static struct pythia_text column(sqlite3_stmt *statement, int number)
{
    const char *bytes = (const char *)sqlite3_column_text(statement, number);
    return (struct pythia_text){bytes ? bytes : "",
                                (size_t)sqlite3_column_bytes(statement, number)};
}

/* Give each row to `each`. PYTHIA_OK, PYTHIA_EIO, or what it returned. */
static int every(struct pythia_state *s, const char *query,
                 int (*each)(void *context, sqlite3_stmt *row), void *context)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(s->db, query, -1, &statement, NULL) == SQLITE_OK ? PYTHIA_OK
                                                                                     : PYTHIA_EIO;
    int result = SQLITE_DONE;
    while (status == PYTHIA_OK && (result = sqlite3_step(statement)) == SQLITE_ROW)
        status = each(context, statement);
    sqlite3_finalize(statement);
    return status == PYTHIA_OK && result != SQLITE_DONE ? PYTHIA_EIO : status;
}

struct desired_taker {
    int (*each)(void *context, struct pythia_text id, const struct pythia_text *type);
    void *context;
};

static int take_desired(void *context, sqlite3_stmt *row)
{
    const struct desired_taker *t = context;
    struct pythia_text type = column(row, 1);
    bool for_all = sqlite3_column_type(row, 1) == SQLITE_NULL;
    return t->each(t->context, column(row, 0), for_all ? NULL : &type);
}

static int take_version(void *context, sqlite3_stmt *row)
{
    *(uint64_t *)context = (uint64_t)sqlite3_column_int64(row, 0);
    return PYTHIA_OK;
}

int pythia_state_each_desired(struct pythia_state *s,
                              int (*each)(void *context, struct pythia_text id,
                                          const struct pythia_text *type),
                              void *context, uint64_t *version)
{
    struct desired_taker t = {each, context};
    *version = 0;
    int status = every(s, "SELECT CAST(value AS INTEGER) FROM note WHERE name = 'version'",
                       take_version, version);
    return status == PYTHIA_OK ? every(s,
                                       "SELECT trace_point, request_type FROM desired"
                                       " LEFT JOIN desired_type USING(trace_point) ORDER BY 1, 2",
                                       take_desired, &t)
                               : status;
}

static int take_space(void *context, sqlite3_stmt *row)
{
    pythia_buf_text_add(context, column(row, 0));
    return pythia_buf_status(context);
}

int pythia_state_get_space(struct pythia_state *s, struct pythia_buf *out)
{
    return every(s, "SELECT value FROM note WHERE name = 'space'", take_space, out);
}

static int take_off(void *context, sqlite3_stmt *row)
{
    *(bool *)context = sqlite3_column_int(row, 0) != 0;
    return PYTHIA_OK;
}

int pythia_state_get_off(struct pythia_state *s, bool *off)
{
    *off = false;
    return every(s, "SELECT CAST(value AS INTEGER) FROM note WHERE name = 'off'", take_off, off);
}

struct inventory_taker {
    int (*each)(void *context, const struct pythia_state_point *point);
    void *context;
};

static int take_inventory(void *context, sqlite3_stmt *row)
{
    const struct inventory_taker *t = context;
    const struct pythia_state_point point = {
        .plane = column(row, 0).bytes,
        .target = column(row, 1),
        .id = column(row, 2),
        .of = {.price_ns = NAN, .hits = (uint64_t)sqlite3_column_int64(row, 3)}};
    return t->each(t->context, &point);
}

int pythia_state_each_inventory(struct pythia_state *s,
                                int (*each)(void *context, const struct pythia_state_point *point),
                                void *context)
{
    struct inventory_taker t = {each, context};
    return every(s,
                 "SELECT plane, target, trace_point, coalesce(hits, 0) FROM inventory"
                 " ORDER BY 1, 2, 3",
                 take_inventory, &t);
}

struct pin_taker {
    int (*each)(void *context, struct pythia_text id, int pin);
    void *context;
};

static int take_pin(void *context, sqlite3_stmt *row)
{
    const struct pin_taker *t = context;
    return t->each(t->context, column(row, 0), sqlite3_column_int(row, 1));
}

int pythia_state_each_pin(struct pythia_state *s,
                          int (*each)(void *context, struct pythia_text id, int pin), void *context)
{
    struct pin_taker t = {each, context};
    return every(s,
                 "SELECT trace_point, pin FROM pin WHERE trace_point NOT IN"
                 " (SELECT trace_point FROM pin_type) ORDER BY 1",
                 take_pin, &t);
}

struct pin_type_taker {
    int (*each)(void *context, struct pythia_text id, struct pythia_text type);
    void *context;
};

static int take_pin_type(void *context, sqlite3_stmt *row)
{
    const struct pin_type_taker *t = context;
    return t->each(t->context, column(row, 0), column(row, 1));
}

int pythia_state_each_pin_type(struct pythia_state *s,
                               int (*each)(void *context, struct pythia_text id,
                                           struct pythia_text type),
                               void *context)
{
    struct pin_type_taker t = {each, context};
    return every(s, "SELECT trace_point, request_type FROM pin_type ORDER BY 1, 2", take_pin_type,
                 &t);
}

struct history_taker {
    struct pythia_history **out;
    struct pythia_error *e;
};

static int take_history(void *context, sqlite3_stmt *row)
{
    const struct history_taker *t = context;
    return pythia_history_file_parse("history of the state", column(row, 0), t->out, t->e);
}

int pythia_state_get_history(struct pythia_state *s, struct pythia_history **out,
                             struct pythia_error *e)
{
    struct history_taker t = {out, e};
    *out = NULL;
    return every(s, "SELECT value FROM note WHERE name = 'history'", take_history, &t);
}

static json_t *number_or_null(sqlite3_stmt *row, int number)
{
    int type = sqlite3_column_type(row, number);
    return type == SQLITE_NULL      ? json_null()
           : type == SQLITE_INTEGER ? json_integer(sqlite3_column_int64(row, number))
                                    : json_real(sqlite3_column_double(row, number));
}

static json_t *text_or_null(sqlite3_stmt *row, int number)
{
    struct pythia_text text = column(row, number);
    return sqlite3_column_type(row, number) == SQLITE_NULL ? json_null()
                                                           : json_stringn(text.bytes, text.size);
}

static int take_decision(void *context, sqlite3_stmt *row)
{
    json_t *out = context;
    struct pythia_text point = column(row, 2), type = column(row, 4), reason = column(row, 7);
    json_t *one = json_pack(
        "{s:o, s:I, s:s%, s:b, s:s%, s:o, s:f, s:s%, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "cycle",
        number_or_null(row, 0), "unix_ns", (json_int_t)sqlite3_column_int64(row, 1), "trace_point",
        point.bytes, point.size, "open", sqlite3_column_int(row, 3), "request_type", type.bytes,
        type.size, "inside", number_or_null(row, 5), "cost_ns", sqlite3_column_double(row, 6),
        "reason", reason.bytes, reason.size, "price_ns", number_or_null(row, 8), "price_known",
        text_or_null(row, 9), "hits", number_or_null(row, 10), "spans", number_or_null(row, 11),
        "requests", number_or_null(row, 12), "start_unix_ns", number_or_null(row, 13),
        /* of a point that a control plane had the price is known, if only as supposed */
        "switchable", sqlite3_column_type(row, 9) != SQLITE_NULL);
    return json_array_append_new(out, one) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
}

int pythia_state_decisions(struct pythia_state *s, size_t count, char **out)
{
    char query[480];
    json_t *list = json_array();
    snprintf(query, sizeof(query),
             "SELECT decided, unix_ns, trace_point, open, request_type, inside, cost_ns, reason,"
             " price_ns, price_known, hits, switch.spans, switch.requests, start_ns"
             " FROM switch JOIN cycle ON cycle = number ORDER BY number DESC, switch.rowid LIMIT "
             "%zu",
             count);
    int status = list ? every(s, query, take_decision, list) : PYTHIA_ENOMEM;
    char *text = status == PYTHIA_OK ? json_dumps(list, JSON_INDENT(1)) : NULL;
    json_decref(list);
    struct pythia_buf shown = {0};
    if (text)
        pythia_shown_json(&shown, text, strlen(text));
    free(text);
    if (status == PYTHIA_OK)
        status = text ? pythia_buf_status(&shown) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        *out = shown.bytes;
    else
        pythia_buf_free(&shown);
    return status;
}
