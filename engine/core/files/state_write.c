/* Writes to the state: each call is one transaction, on disk when it returns. */
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
#include "pythia/state.h"
#include "pythia/status.h"
#include "state_parts.h"

#define KEEP_CYCLES 10000 /* older ones are deleted */

/* Rows of what is kept of cycles: the last ones, and of decisions the last of each type. Together
 * they take some 30 MB, however many types there are. */
#define KEEP_DECISIONS 200 /* of a type */
#define KEEP_SWITCHES  20000
#define KEEP_PROBLEMS  50000
#define KEEP_TYPES     100000

/* The end of a transaction, or of a try at one. */
static int end_with(struct pythia_state *s, bool good)
{
    good = good && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!good) {
        const char *file = sqlite3_db_filename(s->db, "main");
        if (!s->degraded)
            pythia_log(PYTHIA_LOG_ERROR,
                       "The state cannot be written; decisions continue without it: file=%s, "
                       "reason=%s",
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

static struct row begin_insert(struct pythia_state *s, const char *query)
{
    struct row r = {0};
    r.bad = sqlite3_prepare_v2(s->db, query, -1, &r.statement, NULL) != SQLITE_OK;
    return r;
}

static void bind_integer(struct row *r, uint64_t number)
{
    r->bad = r->bad || sqlite3_bind_int64(r->statement, ++r->at,
                                          number > INT64_MAX ? INT64_MAX : (sqlite3_int64)number) !=
                           SQLITE_OK;
}

/* SQLite stores NaN as NULL. */
static void bind_real(struct row *r, double number)
{
    r->bad = r->bad || sqlite3_bind_double(r->statement, ++r->at, number) != SQLITE_OK;
}

static void bind_text(struct row *r, struct pythia_text text)
{
    const char *bytes = text.bytes ? text.bytes : ""; /* NULL would be no text */
    r->bad = r->bad || sqlite3_bind_text64(r->statement, ++r->at, bytes, text.size,
                                           SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK;
}

static bool end_insert(struct row *r)
{
    bool good = !r->bad && sqlite3_step(r->statement) == SQLITE_DONE;
    sqlite3_finalize(r->statement);
    return good;
}

/* Bind how the price is known, and the hits; NULLs without `known`. */
static void bind_known(struct row *r, const struct pythia_state_known *known)
{
    if (!known) {
        r->at += 4;
        return;
    }
    bind_text(r, pythia_text_of(known->price_known));
    bind_integer(r, known->hits);
    bind_integer(r, known->spans);
    bind_integer(r, known->requests);
}

/* The price is the one that the decision was based on, not what is known now. */
static bool insert_switch(struct pythia_state *s, uint64_t number,
                          const struct pythia_vocabulary *v, const struct pythia_cycle *c,
                          const struct pythia_switch *w, struct pythia_state_knower knower)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(v, w->tracepoint);
    struct pythia_state_known known;
    bool is_known = knower.know && knower.know(knower.context, id, &known);
    struct row r = begin_insert(s, "INSERT INTO switch VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    bind_integer(&r, number);
    bind_text(&r, id);
    bind_integer(&r, w->open);
    if (w->problem < c->problem_count)
        bind_text(&r, pythia_vocabulary_text(v, c->problems[w->problem].type));
    else if (w->type != PYTHIA_NONE)
        bind_text(&r, pythia_vocabulary_text(v, w->type));
    else
        r.at++;
    bind_real(&r, w->inside);
    bind_real(&r, w->cost_ns);
    bind_text(&r, pythia_text_of(w->reason));
    bind_real(&r, w->price_ns);
    bind_known(&r, is_known ? &known : NULL);
    return end_insert(&r);
}

static json_t *pack_finding(const struct pythia_vocabulary *v, const struct pythia_finding *f)
{
    struct pythia_buf place = {0};
    pythia_place_add(&place, v, &f->place);
    json_t *out =
        json_pack("{s:s%, s:f, s:f, s:f}", "place", place.bytes ? place.bytes : "", place.size,
                  "share", f->share, "share_low", f->low, "share_high", f->high);
    pythia_buf_free(&place);
    return out;
}

/* NULLs stand for what is not known: a problem without a top place has no share of it either. */
static bool insert_problem(struct pythia_state *s, uint64_t number,
                           const struct pythia_vocabulary *v, const struct pythia_problem *p)
{
    struct pythia_buf place = {0};
    json_t *causes = json_array();
    for (size_t i = 0; i < p->cause_count; i++)
        json_array_append_new(causes, pack_finding(v, &p->causes[i]));
    char *text = json_dumps(causes, JSON_COMPACT);
    struct row r = begin_insert(s, "INSERT INTO problem VALUES(?,?,?,?,?,?,?,?,?,?)");
    bind_integer(&r, number);
    bind_text(&r, pythia_vocabulary_text(v, p->type));
    bind_text(&r, pythia_text_of(pythia_problem_state_name(p->state)));
    bind_real(&r, p->variance_share);
    if (!isnan(p->top.share)) {
        pythia_place_add(&place, v, &p->top.place);
        bind_text(&r, pythia_buf_text(&place));
    } else {
        r.at++;
    }
    bind_real(&r, p->top.share);
    bind_real(&r, p->top.low);
    bind_real(&r, p->top.high);
    bind_real(&r, p->rest);
    bind_text(&r, pythia_text_of(text ? text : "[]"));
    free(text);
    json_decref(causes);
    pythia_buf_free(&place);
    return end_insert(&r);
}

/* Does the search space lack the type? Nothing is decided for such types, and their number has no
 * bound, so that they are not stored. */
static bool is_unknown(const struct pythia_problem *p)
{
    return p->state == PYTHIA_PROBLEM_UNKNOWN;
}

/* The unknown types, by number of a string. */
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

static bool insert_types(struct pythia_state *s, uint64_t number, const struct pythia_vocabulary *v,
                         const struct pythia_groups *groups, const struct unknown_types *unknown)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (types[i].name < unknown->count && unknown->is[types[i].name])
            continue;
        struct row r = begin_insert(s, "INSERT INTO type VALUES(?,?,?,?,?)");
        bind_integer(&r, number);
        bind_text(&r, pythia_vocabulary_text(v, types[i].name));
        bind_integer(&r, types[i].moments.weight);
        bind_real(&r, pythia_exact_moments_mean(&types[i].moments));
        bind_real(&r, sqrt(pythia_exact_moments_variance(&types[i].moments)));
        good = end_insert(&r);
    }
    return good;
}

static bool delete_before(struct pythia_state *s, const char *query, uint64_t kept)
{
    struct row r = begin_insert(s, query);
    bind_integer(&r, kept);
    return end_insert(&r);
}

/* Retain the last decisions of each type that this cycle decided for. */
static bool forget_decisions(struct pythia_state *s, const struct pythia_vocabulary *v,
                             const struct pythia_cycle *c)
{
    bool good = true;
    for (size_t i = 0; i < c->switch_count && good; i++) {
        if (c->switches[i].problem >= c->problem_count)
            continue;
        struct row r = begin_insert(
            s, "DELETE FROM switch WHERE rowid IN (SELECT rowid FROM switch WHERE request_type = ?"
               " ORDER BY rowid DESC LIMIT -1 OFFSET ?)");
        bind_text(&r, pythia_vocabulary_text(v, c->problems[c->switches[i].problem].type));
        bind_integer(&r, KEEP_DECISIONS);
        good = end_insert(&r);
    }
    return good;
}

/* Keep the state within its size: the space of what is deleted is used for what is added next. */
static bool forget_old(struct pythia_state *s, uint64_t number, const struct pythia_vocabulary *v,
                       const struct pythia_cycle *c)
{
    bool good = forget_decisions(s, v, c);
    if (good && number > KEEP_CYCLES) {
        struct row r = begin_insert(s, "DELETE FROM cycle WHERE number <= ?");
        bind_integer(&r, number - KEEP_CYCLES);
        good = end_insert(&r);
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

/* One transaction: after a crash a cycle is there with all its decisions, or not at all. Old
 * rows go in the same one, so that the file does not grow first. */
int pythia_state_add_cycle(struct pythia_state *s, uint64_t unix_ns,
                           const struct pythia_vocabulary *v, const struct pythia_live_cycle *cycle,
                           struct pythia_state_knower knower)
{
    const struct pythia_cycle *c = &cycle->decisions;
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    struct row r =
        begin_insert(s, "INSERT INTO cycle SELECT coalesce(max(number), 0) + 1,?,?,?,?,?,?,"
                        "nullif(?,0),nullif(?,0) FROM cycle");
    bind_integer(&r, unix_ns);
    bind_integer(&r, cycle->requests);
    bind_integer(&r, cycle->under_way);
    bind_integer(&r, cycle->spans);
    bind_integer(&r, c->open_count);
    bind_integer(&r, c->finished);
    bind_integer(&r, c->number);
    bind_integer(&r, s->start_ns);
    good = end_insert(&r) && good;
    uint64_t number = (uint64_t)sqlite3_last_insert_rowid(s->db);
    for (size_t i = 0; i < c->switch_count && good; i++)
        good = insert_switch(s, number, v, c, &c->switches[i], knower);
    for (size_t i = 0; i < c->problem_count && good; i++)
        if (!is_unknown(&c->problems[i]))
            good = insert_problem(s, number, v, &c->problems[i]);
    struct unknown_types unknown = list_unknown(c);
    good = good && unknown.is &&
           (!cycle->groups || insert_types(s, number, v, cycle->groups, &unknown));
    pythia_free(unknown.is);
    return end_with(s, good && forget_old(s, number, v, c));
}

static bool put_note(struct pythia_state *s, const char *name, struct pythia_text value)
{
    struct row r = begin_insert(s, "INSERT OR REPLACE INTO note VALUES(?,?)");
    bind_text(&r, pythia_text_of(name));
    bind_text(&r, value);
    return end_insert(&r);
}

static bool put_desired(struct pythia_state *s, const struct pythia_control_wish *wish)
{
    struct row r = begin_insert(s, "INSERT OR IGNORE INTO desired VALUES(?)");
    bind_text(&r, wish->id);
    bool good = end_insert(&r);
    for (size_t i = 0; wish->types && i < wish->type_count && good; i++) {
        r = begin_insert(s, "INSERT OR IGNORE INTO desired_type VALUES(?,?)");
        bind_text(&r, wish->id);
        bind_text(&r, wish->types[i]);
        good = end_insert(&r);
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

int pythia_state_put_search(struct pythia_state *s, const struct pythia_state_search *search)
{
    char number[24];
    if (search->snapshot.size + search->verdicts.size + search->instances.size >
        PYTHIA_STATE_SEARCH_MAX)
        return PYTHIA_ELIMIT;
    snprintf(number, sizeof(number), "%" PRIu64, search->unix_ns);
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                put_note(s, "search", search->snapshot) &&
                put_note(s, "verdicts", search->verdicts) &&
                put_note(s, "instances", search->instances) &&
                put_note(s, "search_ns", pythia_text_of(number));
    return end_with(s, good);
}

int pythia_state_put_search_aside(struct pythia_state *s)
{
    bool good = sqlite3_exec(s->db,
                             "BEGIN IMMEDIATE;"
                             "DELETE FROM note WHERE name IN ('search.broken', 'verdicts.broken');"
                             "UPDATE note SET name = name || '.broken'"
                             " WHERE name IN ('search', 'verdicts')",
                             NULL, NULL, NULL) == SQLITE_OK;
    return end_with(s, good);
}

int pythia_state_put_off(struct pythia_state *s, bool off)
{
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                put_note(s, "off", pythia_text_of(off ? "1" : "0"));
    return end_with(s, good);
}

/* The types and places of the point's last pin go with its row, which is deleted or replaced. */
static bool put_pin(struct pythia_state *s, struct pythia_text id, int pin)
{
    struct row r = begin_insert(s, pin ? "INSERT OR REPLACE INTO pin VALUES(?1,?2)"
                                       : "DELETE FROM pin WHERE trace_point = ?1 OR ?2 = 2");
    bind_text(&r, id);
    r.bad = r.bad || sqlite3_bind_int(r.statement, 2, pin) != SQLITE_OK;
    return end_insert(&r);
}

int pythia_state_put_pin(struct pythia_state *s, struct pythia_text id, int pin)
{
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    return end_with(s, put_pin(s, id, pin) && good);
}

/* A pin and, for each text, a row with it. */
static int put_pin_with(struct pythia_state *s, struct pythia_text id, int pin,
                        const char *insert_text, const struct pythia_text *texts, size_t count)
{
    bool good = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    good = put_pin(s, id, pin) && good;
    for (size_t i = 0; i < count; i++) {
        struct row r = begin_insert(s, insert_text);
        bind_text(&r, id);
        bind_text(&r, texts[i]);
        good = end_insert(&r) && good;
    }
    return end_with(s, good);
}

int pythia_state_put_pin_for(struct pythia_state *s, struct pythia_text id,
                             const struct pythia_text *types, size_t count)
{
    return put_pin_with(s, id, 1, "INSERT OR REPLACE INTO pin_type VALUES(?1,?2)", types, count);
}

int pythia_state_put_pin_at(struct pythia_state *s, struct pythia_text id, int pin,
                            const struct pythia_text *places, size_t count)
{
    return put_pin_with(s, id, pin, "INSERT OR REPLACE INTO pin_place VALUES(?1,?2)", places,
                        count);
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
        struct row r = begin_insert(s, "INSERT OR REPLACE INTO inventory VALUES(?,?,?,?,?,?,?,?)");
        bind_text(&r, pythia_text_of(points[i].plane));
        bind_text(&r, points[i].target);
        bind_text(&r, points[i].id);
        bind_real(&r, points[i].of.price_ns);
        bind_known(&r, &points[i].of);
        good = end_insert(&r);
    }
    return end_with(s, good);
}
