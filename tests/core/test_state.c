#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/state.h"
#include "pythia/status.h"

#define POINTS 8

/* ---- a folder for each test ---- */

struct place {
    char folder[64], state[96], copy[96];
};

static void make_place(struct place *p)
{
    /* Every decision waits for the disk: where there is one in memory, that is quicker. */
    snprintf(p->folder, sizeof(p->folder), "%s/pythia-state-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->state, sizeof(p->state), "%s/state.db", p->folder);
    snprintf(p->copy, sizeof(p->copy), "%s/copy.db", p->folder);
}

static void remove_all(const char *path)
{
    static const char *const ends[] = {"",        "-wal",        "-shm",        "-journal",
                                       ".broken", ".broken-wal", ".broken-shm", ".lock"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void remove_place(const struct place *p)
{
    remove_all(p->state);
    remove_all(p->copy);
    assert_int_equal(rmdir(p->folder), 0);
}

static struct pythia_state *opened(const char *path)
{
    struct pythia_state *s = NULL;
    struct pythia_error e = {0};
    int status = pythia_state_open(path, &s, &e);
    if (status != PYTHIA_OK)
        print_error("%s: %s\n", path, e.sentence);
    assert_int_equal(status, PYTHIA_OK);
    return s;
}

static void read_file(const char *path, struct pythia_buf *out)
{
    struct pythia_error e = {0};
    pythia_buf_clear(out);
    struct stat about;
    if (stat(path, &about) == 0 && about.st_size > 0)
        assert_int_equal(pythia_file_read(path, out, &e), PYTHIA_OK);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(size == 0 || fwrite(bytes, 1, size, file) == size);
    assert_int_equal(fclose(file), 0);
}

/* ---- what is in it ---- */

struct pins {
    int pin[POINTS]; /* of p0 to p7; 0: none */
    size_t count;
};

static int take_pin(void *context, struct pythia_text id, int pin)
{
    struct pins *p = context;
    assert_true(id.size == 2 && id.bytes[0] == 'p');
    p->pin[id.bytes[1] - '0'] = pin;
    p->count++;
    return PYTHIA_OK;
}

static struct pins pins_of(struct pythia_state *s)
{
    struct pins p = {0};
    assert_int_equal(pythia_state_each_pin(s, take_pin, &p), PYTHIA_OK);
    return p;
}

static struct pythia_text point(int number)
{
    static const char *const names[POINTS] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};
    return pythia_text_of(names[number]);
}

struct desired {
    size_t count;
    char all[64]; /* one behind the other */
};

static int take_desired(void *context, struct pythia_text id, const struct pythia_text *type)
{
    struct desired *d = context;
    strncat(d->all, id.bytes, id.size);
    if (type) {
        strcat(d->all, "/");
        strncat(d->all, type->bytes, type->size);
    }
    d->count++;
    return PYTHIA_OK;
}

/* Decision number n of a run: what it leaves behind is told by pins and desired set together. */
static int decide(struct pythia_state *s, int n)
{
    struct pythia_control_wish ids[POINTS] = {{.types = NULL}};
    if (n % 2 == 0)
        return pythia_state_put_pin(s, point(n / 2 % POINTS), n / 2 % 3 == 0 ? -1 : 1);
    for (int i = 0; i < POINTS; i++)
        ids[i].id = point((n + i) % POINTS);
    return pythia_state_put_desired(s, ids, (size_t)(n / 2 % POINTS), (uint64_t)n, NULL);
}

/* All that decisions leave behind, as a text. */
static void tell(struct pythia_state *s, char out[256])
{
    struct pins p = pins_of(s);
    struct desired d = {0};
    uint64_t version;
    assert_int_equal(pythia_state_each_desired(s, take_desired, &d, &version), PYTHIA_OK);
    int at = snprintf(out, 256, "%llu %s", (unsigned long long)version, d.all);
    for (int i = 0; i < POINTS; i++)
        at += snprintf(out + at, 256 - (size_t)at, " %d", p.pin[i]);
}

static int take_inventory(void *context, const struct pythia_state_point *point)
{
    pythia_buf_printf(context, "%s %.*s %.*s %d\n", point->plane, (int)point->target.size,
                      point->target.bytes, (int)point->id.size, point->id.bytes,
                      (int)point->of.hits);
    assert_true(isnan(point->of.price_ns));
    return PYTHIA_OK;
}

static void what_is_put_down_is_there_again(void **state)
{
    struct place place;
    struct desired d = {0};
    uint64_t version = 7;
    const struct pythia_text types[] = {PYTHIA_TEXT("T"), PYTHIA_TEXT("GET /")};
    const struct pythia_control_wish ids[] = {
        {.id = PYTHIA_TEXT("p1")}, {PYTHIA_TEXT("p5"), types, 2}, {.id = PYTHIA_TEXT("p1")}};
    const struct pythia_state_point inventory[] = {
        {"gate", PYTHIA_TEXT("shop"), PYTHIA_TEXT("shop:a"), {250, "measured", 70, 40, 50}},
        {"gate", PYTHIA_TEXT("shop"), PYTHIA_TEXT("shop:b"), {NAN, "supposed", 0, 0, 0}}};
    const struct pythia_text space = PYTHIA_TEXT("a space"), other = PYTHIA_TEXT("another");
    struct pythia_buf text = {0};
    bool off = true;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_each_desired(s, take_desired, &d, &version), PYTHIA_OK);
    assert_true(version == 0 && d.count == 0);
    assert_int_equal(pythia_state_get_space(s, &text), PYTHIA_OK);
    assert_int_equal(text.size, 0);
    assert_int_equal(pythia_state_get_off(s, &off), PYTHIA_OK);
    assert_false(off);
    assert_int_equal(pythia_state_put_off(s, true), PYTHIA_OK);
    assert_int_equal(pythia_state_put_desired(s, ids, 1, 40, &other), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(2), -1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(3), 1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(3), 0), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(1), -1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(7), 0), PYTHIA_OK);
    assert_int_equal(pythia_state_put_desired(s, ids, 3, 41, &space), PYTHIA_OK);
    assert_int_equal(pythia_state_put_inventory(s, inventory, 2), PYTHIA_OK);
    assert_int_equal(pythia_state_put_inventory(s, inventory, 2), PYTHIA_OK); /* replaces all */
    pythia_state_close(s);

    s = opened(place.state);
    struct pins p = pins_of(s);
    assert_true(p.count == 2 && p.pin[1] == -1 && p.pin[2] == -1);
    assert_int_equal(pythia_state_each_desired(s, take_desired, &d, &version), PYTHIA_OK);
    assert_true(version == 41);
    assert_string_equal(d.all, "p1p5/GET /p5/T");
    assert_int_equal(pythia_state_put_desired(s, ids, 2, 42, NULL), PYTHIA_OK); /* of that space */
    assert_int_equal(pythia_state_get_space(s, &text), PYTHIA_OK);
    assert_string_equal(text.bytes, "a space");
    pythia_buf_free(&text);
    assert_int_equal(pythia_state_get_off(s, &off), PYTHIA_OK);
    assert_true(off);
    assert_int_equal(pythia_state_put_off(s, false), PYTHIA_OK);
    assert_int_equal(pythia_state_get_off(s, &off), PYTHIA_OK);
    assert_false(off);
    char *decisions = NULL;
    assert_int_equal(pythia_state_decisions(s, 10, &decisions), PYTHIA_OK);
    assert_string_equal(decisions, "[]");
    pythia_free(decisions);
    struct pythia_buf known = {0};
    assert_int_equal(pythia_state_each_inventory(s, take_inventory, &known), PYTHIA_OK);
    assert_string_equal(known.bytes, "gate shop shop:a 70\ngate shop shop:b 0\n");
    pythia_buf_free(&known);
    struct pythia_history *history = NULL;
    struct pythia_error e = {0};
    assert_int_equal(pythia_state_get_history(s, &history, &e), PYTHIA_OK);
    assert_null(history);
    pythia_state_close(s);

    sqlite3 *db;
    sqlite3_stmt *rows;
    assert_int_equal(sqlite3_open(place.state, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT count(*), sum(price_ns), count(price_ns),"
                                        " max(price_known), min(price_known), sum(hits),"
                                        " sum(spans), sum(requests) FROM inventory",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(rows, 0), 2);
    assert_int_equal(sqlite3_column_int(rows, 1), 250);
    assert_int_equal(sqlite3_column_int(rows, 2), 1); /* NaN: not known */
    assert_string_equal((const char *)sqlite3_column_text(rows, 3), "supposed");
    assert_string_equal((const char *)sqlite3_column_text(rows, 4), "measured");
    assert_int_equal(sqlite3_column_int(rows, 5), 70);
    assert_int_equal(sqlite3_column_int(rows, 6), 40);
    assert_int_equal(sqlite3_column_int(rows, 7), 50);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    remove_place(&place);
}

/* ---- schemas ---- */

static void execute(const char *path, const char *query)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, query, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_newer_schema_is_refused_and_left_as_it_is(void **state)
{
    struct place place;
    struct pythia_error e = {0};
    struct pythia_state *s = NULL, *untouched = NULL;
    make_place(&place);
    s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    pythia_state_close(s);
    char newer[64];
    snprintf(newer, sizeof(newer), "PRAGMA user_version=%d", PYTHIA_STATE_SCHEMA + 1);
    execute(place.state, newer);
    assert_int_equal(pythia_state_open(place.state, &untouched, &e), PYTHIA_EFORMAT);
    assert_null(untouched);
    assert_non_null(strstr(e.sentence, "newer pythiad"));
    assert_string_equal(e.source, place.state);
    snprintf(newer, sizeof(newer), "PRAGMA user_version=%d", PYTHIA_STATE_SCHEMA);
    execute(place.state, newer);
    s = opened(place.state);
    assert_int_equal(pins_of(s).pin[1], 1);
    pythia_state_close(s);
    remove_place(&place);
}

static bool know_one(void *context, struct pythia_text id, struct pythia_state_known *out)
{
    *out = (struct pythia_state_known){120, "measured", 900, 34, 56};
    return pythia_text_equal(id, PYTHIA_TEXT("shop:known"));
}

/* Two decisions: of a trace point of which something is known, and of one of which nothing is. */
static char *decide_two(struct pythia_state *s)
{
    struct pythia_vocabulary *v = NULL;
    char *out = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    const struct pythia_switch switches[] = {
        {.tracepoint = pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("shop:known"), 0, 0),
         .problem = SIZE_MAX,
         .inside = NAN,
         .price_ns = 118.5,
         .cost_ns = 237,
         .reason = "no request passed it"},
        {.tracepoint = pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("shop:other"), 0, 0),
         .open = true,
         .problem = SIZE_MAX,
         .inside = .5,
         .price_ns = 1000,
         .cost_ns = 1000,
         .reason = "it bounds the edge"}};
    const struct pythia_live_cycle cycle = {
        .decisions = {.switches = switches, .switch_count = 2, .leading = SIZE_MAX}};
    assert_int_equal(
        pythia_state_add_cycle(s, 7, v, &cycle, (struct pythia_state_knower){know_one, NULL}),
        PYTHIA_OK);
    assert_int_equal(pythia_state_decisions(s, 10, &out), PYTHIA_OK);
    pythia_vocabulary_destroy(v);
    return out;
}

static void a_decision_keeps_the_price_and_the_passes_that_were_known(void **state)
{
    struct pythia_state *s = opened(NULL);
    char *text = decide_two(s);
    static const char *const parts[] = {"\"trace_point\": \"shop:known\"",
                                        "\"price_ns\": 118.5",
                                        "\"price_known\": \"measured\"",
                                        "\"hits\": 900",
                                        "\"spans\": 34",
                                        "\"requests\": 56",
                                        "\"trace_point\": \"shop:other\"",
                                        "\"price_ns\": 1000",
                                        "\"price_known\": null",
                                        "\"spans\": null"};
    const char *at = text;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) { /* in this order */
        at = strstr(at, parts[i]);
        assert_non_null(at);
    }
    pythia_free(text);
    pythia_state_close(s);
}

/* Its cycle has the number that it has in the log, and which start that was of is told. */
static void decisions_tell_their_cycle_and_its_start(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct pythia_state *s = opened(NULL);
    char *text = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    struct pythia_switch one = {
        .tracepoint = pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("shop:a"), 0, 0),
        .open = true,
        .problem = SIZE_MAX,
        .reason = "why"};
    static const struct {
        uint64_t start_ns, number, switches;
    } cycles[] = {{0, 9, 1}, {111, 0, 0}, {111, 1, 0}, {111, 2, 1}, {222, 0, 1}, {222, 1, 1}};
    for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
        const struct pythia_live_cycle cycle = {.decisions = {.number = cycles[i].number,
                                                              .switches = &one,
                                                              .switch_count = cycles[i].switches,
                                                              .leading = SIZE_MAX}};
        pythia_state_set_start(s, cycles[i].start_ns);
        assert_int_equal(
            pythia_state_add_cycle(s, i, v, &cycle, (struct pythia_state_knower){NULL, NULL}),
            PYTHIA_OK);
    }
    assert_int_equal(pythia_state_decisions(s, 10, &text), PYTHIA_OK);
    static const char *const parts[] = {
        "\"cycle\": 1,",    "\"start_unix_ns\": 222", /* the newest first */
        "\"cycle\": null,", "\"start_unix_ns\": 222", /* of none */
        "\"cycle\": 2,",    "\"start_unix_ns\": 111", "\"cycle\": 9,", "\"start_unix_ns\": null"};
    const char *at = text;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        at = strstr(at, parts[i]);
        assert_non_null(at);
    }
    pythia_free(text);
    pythia_vocabulary_destroy(v);
    pythia_state_close(s);
}

/* As the first schema had it, with a decision, a point and a pin. */
static const char first_schema[] =
    "CREATE TABLE cycle(number INTEGER PRIMARY KEY, unix_ns INTEGER NOT NULL,"
    " requests INTEGER NOT NULL, under_way INTEGER NOT NULL, spans INTEGER NOT NULL,"
    " open_count INTEGER NOT NULL, finished INTEGER NOT NULL);"
    "CREATE TABLE switch(cycle INTEGER NOT NULL REFERENCES cycle(number) ON DELETE CASCADE,"
    " trace_point TEXT NOT NULL, open INTEGER NOT NULL, request_type TEXT, inside REAL,"
    " cost_ns REAL, reason TEXT NOT NULL);"
    "CREATE TABLE problem(cycle INTEGER NOT NULL, request_type TEXT NOT NULL, state TEXT NOT NULL,"
    " variance_share REAL, place TEXT, share REAL, share_low REAL, share_high REAL, rest REAL,"
    " causes TEXT NOT NULL);"
    "CREATE TABLE type(cycle INTEGER NOT NULL, request_type TEXT NOT NULL,"
    " requests INTEGER NOT NULL, mean_ns REAL, sd_ns REAL);"
    "CREATE TABLE desired(trace_point TEXT PRIMARY KEY) WITHOUT ROWID;"
    "CREATE TABLE pin(trace_point TEXT PRIMARY KEY, pin INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE inventory(plane TEXT NOT NULL, target TEXT NOT NULL, trace_point TEXT NOT NULL,"
    " price_ns REAL, PRIMARY KEY(plane, target, trace_point)) WITHOUT ROWID;"
    "CREATE TABLE note(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;"
    "INSERT INTO cycle VALUES(1, 5, 0, 0, 0, 0, 0);"
    "INSERT INTO switch VALUES(1, 'shop:old', 1, NULL, NULL, 3, 'of before');"
    "INSERT INTO inventory VALUES('gate', 'shop', 'shop:old', 9);"
    "INSERT INTO pin VALUES('p1', 1); PRAGMA user_version=1;";

static void the_first_schema_is_brought_up_to_date(void **state)
{
    struct place place;
    make_place(&place);
    execute(place.state, first_schema);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pins_of(s).pin[1], 1);
    char *text = decide_two(s);
    assert_non_null(strstr(text, "\"price_known\": \"measured\""));
    const char *old = strstr(text, "shop:old"); /* what was not known then is not known now */
    assert_non_null(old);
    assert_non_null(strstr(old, "\"price_ns\": null"));
    assert_non_null(strstr(old, "\"hits\": null"));
    assert_non_null(strstr(old, "\"start_unix_ns\": null"));
    assert_null(strstr(text, "\"cycle\": 1"));
    pythia_free(text);
    const struct pythia_state_point point = {
        "gate", PYTHIA_TEXT("shop"), PYTHIA_TEXT("shop:a"), {1, "measured", 1, 1, 1}};
    assert_int_equal(pythia_state_put_inventory(s, &point, 1), PYTHIA_OK);
    pythia_state_close(s);
    s = opened(place.state); /* once is enough */
    assert_int_equal(pins_of(s).pin[1], 1);
    pythia_state_close(s);
    remove_place(&place);
}

/* No schema is older than the first, but a file with nothing in it, and one of somebody else. */
static void an_empty_file_becomes_one_and_another_database_is_not_touched(void **state)
{
    struct place place;
    struct pythia_error e = {0};
    struct pythia_state *untouched = NULL;
    make_place(&place);
    close(open(place.state, O_CREAT | O_WRONLY, 0600));
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    pythia_state_close(s);
    execute(place.copy, "CREATE TABLE pin(other); INSERT INTO pin VALUES('mine')");
    static const char *const others[] = {
        "SELECT other FROM pin",
        "PRAGMA user_version=2",
        "PRAGMA user_version=99",
        "DROP TABLE pin; CREATE TABLE bookmark(url TEXT)",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct pythia_buf before = {0}, after = {0};
        execute(place.copy, others[i]);
        read_file(place.copy, &before);
        pythia_error_clear(&e);
        assert_int_equal(pythia_state_open(place.copy, &untouched, &e), PYTHIA_EFORMAT);
        assert_string_equal(e.sentence, "is a database of another program, and is left alone: "
                                        "choose another file with --state");
        assert_null(untouched);
        read_file(place.copy, &after);
        assert_int_equal(after.size, before.size);
        assert_memory_equal(after.bytes, before.bytes, before.size);
        pythia_buf_free(&before);
        pythia_buf_free(&after);
    }
    remove_place(&place);
}

/* A file that was never a database is refused and stays as it is. */
static void what_was_never_a_database_is_refused(void **state)
{
    static const char *const texts[] = {"no database at all\n", "\n", "SQLite format 4", "{}"};
    struct place place;
    make_place(&place);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pythia_state *untouched = NULL;
        struct pythia_error e = {0};
        struct pythia_buf after = {0};
        write_file(place.state, texts[i], strlen(texts[i]));
        assert_int_equal(pythia_state_open(place.state, &untouched, &e), PYTHIA_EFORMAT);
        assert_null(untouched);
        assert_string_equal(e.source, place.state);
        assert_string_equal(e.sentence,
                            "is no database, and is left alone: choose another file with --state");
        read_file(place.state, &after);
        assert_string_equal(after.bytes, texts[i]);
        pythia_buf_free(&after);
        unlink(place.state);
    }
    assert_int_equal(mkdir(place.state, 0700), 0);
    struct pythia_state *untouched = NULL;
    struct pythia_error e = {0};
    assert_int_equal(pythia_state_open(place.state, &untouched, &e), PYTHIA_EIO);
    rmdir(place.state);
    remove_place(&place);
}

static void a_damaged_database_is_put_aside(void **state)
{
    struct place place;
    char bytes[19000], aside[128];
    struct stat about;
    make_place(&place);
    memset(bytes, 'x', sizeof(bytes));
    snprintf(bytes, sizeof(bytes), "SQLite format 3"); /* with its NUL */
    write_file(place.state, bytes, sizeof(bytes));
    pythia_log_setup("test", PYTHIA_LOG_ERROR);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    pythia_state_close(s);
    snprintf(aside, sizeof(aside), "%s.broken", place.state);
    assert_int_equal(stat(aside, &about), 0);
    assert_int_equal(about.st_size, 19000);
    remove_place(&place);
}

/* The file, and what is beside it, whatever the umask permits. */
static void only_its_user_may_read_it(void **state)
{
    static const char *const ends[] = {"", "-wal", "-shm", ".lock"};
    struct place place;
    char name[128];
    struct stat about;
    mode_t before = umask(0);
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", place.state, ends[i]);
        assert_int_equal(stat(name, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0600);
    }
    pythia_state_close(s);
    umask(before);
    remove_place(&place);
}

/* Two that have the same state would overwrite what the other acknowledged. */
static void a_second_one_is_refused_and_told_the_pid_of_the_first(void **state)
{
    struct place place;
    char wanted[160], link_name[128];
    make_place(&place);
    snprintf(link_name, sizeof(link_name), "%s/link.db", place.folder);
    assert_int_equal(symlink("state.db", link_name), 0);
    struct pythia_state *first = opened(place.state);
    snprintf(wanted, sizeof(wanted),
             "is the state of a pythiad that runs, pid %ld: end that one, or choose another file "
             "with --state",
             (long)getpid());
    const char *const names[] = {place.state, link_name};
    for (size_t i = 0; i < 2; i++) {
        struct pythia_state *second = NULL;
        struct pythia_error e = {0};
        assert_int_equal(pythia_state_open(names[i], &second, &e), PYTHIA_EIO);
        assert_null(second);
        assert_string_equal(e.source, names[i]);
        assert_string_equal(e.sentence, wanted);
    }
    assert_int_equal(pythia_state_put_pin(first, point(1), 1), PYTHIA_OK);
    pythia_state_close(first);
    struct pythia_state *again = opened(link_name);
    assert_int_equal(pins_of(again).pin[1], 1);
    pythia_state_close(again);
    unlink(link_name);
    remove_place(&place);
}

static void a_path_that_cannot_be_is_told(void **state)
{
    struct pythia_error e = {0};
    struct pythia_state *untouched = NULL;
    assert_int_equal(pythia_state_open("/no/such/folder/state.db", &untouched, &e), PYTHIA_EIO);
    assert_null(untouched);
    assert_string_equal(e.source, "/no/such/folder/state.db");
}

/* ---- power cuts ---- */

#define DECISIONS 12

/* A run of decisions as the disk has it: the file, its log behind each decision, what they say. */
struct run {
    struct pythia_buf file, log;
    size_t log_size[DECISIONS + 1];
    char told[DECISIONS + 1][256];
};

static void make_run(const struct place *place, struct run *r)
{
    char wal[128];
    struct stat about;
    struct pythia_state *s = opened(place->state);
    snprintf(wal, sizeof(wal), "%s-wal", place->state);
    pythia_state_close(s); /* which writes the log into the file: it holds the schema */
    s = opened(place->state);
    for (int n = 0; n <= DECISIONS; n++) {
        if (n > 0)
            assert_int_equal(decide(s, n), PYTHIA_OK);
        r->log_size[n] = stat(wal, &about) == 0 ? (size_t)about.st_size : 0;
        tell(s, r->told[n]);
    }
    read_file(place->state, &r->file);
    read_file(wal, &r->log);
    assert_int_equal(r->log.size, r->log_size[DECISIONS]);
    pythia_state_close(s);
}

static void free_run(struct run *r)
{
    pythia_buf_free(&r->file);
    pythia_buf_free(&r->log);
}

/* Open a copy of which the log is `log_size` long: it says what some decision left, none before
 * `least`, and can be written. */
static void check_copy(const struct place *place, const struct run *r, size_t log_size, int least)
{
    char wal[128], told[256];
    snprintf(wal, sizeof(wal), "%s-wal", place->copy);
    remove_all(place->copy);
    write_file(place->copy, r->file.bytes, r->file.size);
    write_file(wal, r->log.bytes, log_size);
    struct pythia_state *s = opened(place->copy);
    tell(s, told);
    int is = DECISIONS;
    while (is > least && strcmp(told, r->told[is]) != 0)
        is--;
    if (strcmp(told, r->told[is]) != 0)
        print_error("cut at %zu: '%s', wanted '%s' or later\n", log_size, told, r->told[least]);
    assert_string_equal(told, r->told[is]);
    assert_int_equal(decide(s, 2), PYTHIA_OK);
    pythia_state_close(s);
}

/* The power goes while the log is written: at any byte of it, every decision whose write was done
 * is there, and nothing of the one that was under way. */
/* Fault 4. */
static void a_log_cut_at_each_byte_loses_at_most_the_last_decision(void **state)
{
    struct place place;
    struct run r = {0};
    make_place(&place);
    make_run(&place, &r);
    int done = 0;
    for (size_t cut = 0; cut <= r.log.size; cut++) {
        while (done < DECISIONS && cut >= r.log_size[done + 1])
            done++;
        /* All bytes around what matters, and some of the middle of pages. */
        size_t frame = cut > 32 ? (cut - 32) % 4120 : cut;
        if (frame > 40 && frame < 4100 && cut % 509 != 0 && cut + 40 < r.log.size)
            continue;
        check_copy(&place, &r, cut, done);
    }
    assert_int_equal(done, DECISIONS);
    free_run(&r);
    remove_place(&place);
}

/* A page of the log that was not written as a whole, although its end was. */
static void a_log_with_a_torn_page_keeps_what_is_before_it(void **state)
{
    struct place place;
    struct run r = {0};
    make_place(&place);
    make_run(&place, &r);
    for (size_t at = 32; at < r.log.size; at += 4120 / 3) {
        char kept = r.log.bytes[at];
        int done = 0;
        while (done < DECISIONS && r.log_size[done + 1] <= at)
            done++;
        r.log.bytes[at] = (char)~kept;
        check_copy(&place, &r, r.log.size, done);
        r.log.bytes[at] = kept;
    }
    free_run(&r);
    remove_place(&place);
}

/* A file that is cut, as no power cut does it: it opens, as what it was or begun anew. */
static void a_file_cut_at_each_page_opens(void **state)
{
    struct place place;
    struct run r = {0};
    make_place(&place);
    make_run(&place, &r);
    pythia_log_setup("test", PYTHIA_LOG_ERROR);
    for (size_t cut = 0; cut <= r.file.size; cut += cut < 200 ? 1 : 997) {
        remove_all(place.copy);
        write_file(place.copy, r.file.bytes, cut);
        struct pythia_state *s = opened(place.copy);
        assert_int_equal(pythia_state_put_pin(s, point(4), 1), PYTHIA_OK);
        assert_int_equal(pins_of(s).pin[4], 1);
        pythia_state_close(s);
    }
    free_run(&r);
    remove_place(&place);
}

/* ---- what goes wrong ---- */

static void each_failed_allocation(void **state)
{
    struct place place;
    struct pythia_error e = {0};
    make_place(&place);
    for (int after = 0;; after++) {
        struct pythia_state *s = NULL;
        char *decisions = NULL;
        pythia_error_clear(&e);
        pythia_mem_fail_after(after);
        int status = pythia_state_open(place.state, &s, &e);
        if (status == PYTHIA_OK)
            status = pythia_state_decisions(s, 5, &decisions);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        pythia_free(decisions);
        if (s) {
            assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
            assert_false(pythia_state_is_degraded(s));
        }
        pythia_state_close(s);
        if (status == PYTHIA_OK)
            break;
        assert_true(after < 100);
    }
    pythia_state_close(NULL);
    remove_place(&place);
}

/* Somebody else holds the file: nothing is acknowledged, what was is kept, and when they are gone
 * it can be written again, by itself. */
static void degraded_and_recovered(void **state)
{
    struct place place;
    sqlite3 *other;
    make_place(&place);
    pythia_log_setup("test", PYTHIA_LOG_ERROR);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(decide(s, 2), PYTHIA_OK);
    assert_int_equal(decide(s, 5), PYTHIA_OK);
    char before[256], after[256];
    tell(s, before);
    assert_int_equal(sqlite3_open(place.state, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    for (int n = 6; n < 8; n++) {
        assert_int_equal(decide(s, n), PYTHIA_EIO);
        assert_true(pythia_state_is_degraded(s));
    }
    const struct pythia_state_point one = {
        "gate", PYTHIA_TEXT("a"), PYTHIA_TEXT("a:b"), {1, "measured", 1, 1, 1}};
    assert_int_equal(pythia_state_put_inventory(s, &one, 1), PYTHIA_EIO);
    tell(s, after);
    assert_string_equal(after, before);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    assert_true(pythia_state_is_degraded(s)); /* until a write shows that it is over */
    assert_int_equal(decide(s, 6), PYTHIA_OK);
    assert_false(pythia_state_is_degraded(s));
    pythia_state_close(s);
    remove_place(&place);
}

/* ---- how much is kept ---- */

#define SOME_TYPES 400

static int number_from(const char *path, const char *query)
{
    sqlite3 *db;
    sqlite3_stmt *rows;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    int number = sqlite3_column_int(rows, 0);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return number;
}

/* 400 types that are searched, and as many that the search space does not know; in each cycle a
 * busy type has two decisions, and a rare one has its only one in the first. */
static void add_large_cycle(struct pythia_state *s, struct pythia_vocabulary *v, bool first)
{
    static struct pythia_problem problems[2 * SOME_TYPES];
    struct pythia_switch switches[3];
    char name[64];
    for (size_t i = 0; i < 2 * SOME_TYPES; i++) {
        snprintf(name, sizeof(name), "a request type of some length %zu", i);
        problems[i] = (struct pythia_problem){
            .type = pythia_vocabulary_string(v, pythia_text_of(name)),
            .state = i < SOME_TYPES ? PYTHIA_PROBLEM_SEARCHING : PYTHIA_PROBLEM_UNKNOWN,
            .top = {.share = NAN},
            .rest = NAN};
    }
    for (size_t i = 0; i < 3; i++)
        switches[i] = (struct pythia_switch){
            .tracepoint = pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("shop:a"), 0, 0),
            .open = i % 2 == 0,
            .problem = i < 2 ? 0 : 1,
            .reason = "it bounds the edge"};
    const struct pythia_live_cycle cycle = {.decisions = {.switches = switches,
                                                          .switch_count = first ? 3 : 2,
                                                          .problems = problems,
                                                          .problem_count = 2 * SOME_TYPES,
                                                          .leading = SIZE_MAX}};
    assert_int_equal(
        pythia_state_add_cycle(s, 7, v, &cycle, (struct pythia_state_knower){know_one, NULL}),
        PYTHIA_OK);
}

static void it_stays_within_a_fixed_size(void **state)
{
    struct place place;
    struct pythia_vocabulary *v = NULL;
    int pages = 0;
    make_place(&place);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    struct pythia_state *s = opened(place.state);
    for (int i = 0; i < 400; i++) {
        add_large_cycle(s, v, i == 0);
        if (i == 299)
            pages = number_from(place.state, "PRAGMA page_count");
    }
    /* rows of cycles go on until there are 10 000: some bytes each */
    assert_in_range(number_from(place.state, "PRAGMA page_count"), pages - 2, pages + 2);
    assert_true(pages < 32 * 1024 * 1024 / 4096);
    assert_int_equal(number_from(place.state, "SELECT count(*) FROM problem"), 50000);
    assert_int_equal(number_from(place.state, "SELECT max(cycle) FROM problem"), 400);
    assert_int_equal(number_from(place.state, "SELECT count(*) FROM problem WHERE state='unknown'"),
                     0);
    assert_int_equal(number_from(place.state, "SELECT count(*) FROM switch WHERE request_type"
                                              " = 'a request type of some length 0'"),
                     200);
    assert_int_equal(number_from(place.state, "SELECT min(cycle) FROM switch WHERE request_type"
                                              " = 'a request type of some length 0'"),
                     301);
    assert_int_equal(number_from(place.state, "SELECT cycle FROM switch WHERE request_type"
                                              " = 'a request type of some length 1'"),
                     1);
    assert_int_equal(number_from(place.state, "SELECT count(*) FROM cycle"), 400);
    pythia_state_close(s);
    pythia_vocabulary_destroy(v);
    remove_place(&place);
}

static void in_memory_without_a_file(void **state)
{
    struct pythia_state *s = opened(NULL);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    assert_int_equal(pins_of(s).pin[1], 1);
    pythia_state_close(s);
}

/* Names are hostile: quotes, zeros, nothing, what is no UTF-8. */
static int take_hostile(void *context, struct pythia_text id, int pin)
{
    struct pythia_buf *all = context;
    assert_int_equal(pin, 1);
    pythia_buf_printf(all, "%zu:", id.size);
    pythia_buf_text_add(all, id);
    return PYTHIA_OK;
}

static void hostile_names_stay_what_they_are(void **state)
{
    const struct pythia_text names[] = {PYTHIA_TEXT("'); DROP TABLE pin; --"),
                                        PYTHIA_TEXT(""),
                                        PYTHIA_TEXT("\xff\xfe"),
                                        {"a\0b", 3}};
    struct pythia_state *s = opened(NULL);
    struct pythia_buf all = {0};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pythia_state_put_pin(s, names[i], 1), PYTHIA_OK);
    assert_int_equal(pythia_state_each_pin(s, take_hostile, &all), PYTHIA_OK);
    const char wanted[] = "0:22:'); DROP TABLE pin; --3:a\0b2:\xff\xfe";
    assert_int_equal(all.size, sizeof(wanted) - 1);
    assert_memory_equal(all.bytes, wanted, sizeof(wanted) - 1);
    pythia_buf_free(&all);
    pythia_state_close(s);
}

static int take_pin_type(void *context, struct pythia_text id, struct pythia_text type)
{
    struct pythia_buf *all = context;
    pythia_buf_text_add(all, id);
    pythia_buf_puts(all, " ");
    pythia_buf_text_add(all, type);
    pythia_buf_puts(all, "; ");
    return pythia_buf_status(all);
}

static void assert_pin_types(struct pythia_state *s, const char *wanted)
{
    struct pythia_buf all = {0};
    pythia_buf_puts(&all, "");
    assert_int_equal(pythia_state_each_pin_type(s, take_pin_type, &all), PYTHIA_OK);
    assert_string_equal(all.bytes, wanted);
    pythia_buf_free(&all);
}

static void a_pin_may_be_for_some_types_only(void **state)
{
    const struct pythia_text types[] = {PYTHIA_TEXT("POST /order"), PYTHIA_TEXT("GET /list"),
                                        PYTHIA_TEXT("GET /list")};
    struct place place;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), -1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(2), 1), PYTHIA_OK);
    for (int i = 1; i < 5; i++)
        assert_int_equal(pythia_state_put_pin_for(s, point(i), types, i == 4 ? 3 : 1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(3), 0), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(2), 1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin_for(s, point(1), types + 1, 1), PYTHIA_OK);
    pythia_state_close(s);
    s = opened(place.state);
    struct pins p = pins_of(s);
    assert_true(p.count == 1 && p.pin[2] == 1);
    assert_pin_types(s, "p1 GET /list; p4 GET /list; p4 POST /order; ");
    pythia_state_close(s);
    remove_place(&place);
}

static void pins_of_the_third_schema_are_for_all_types(void **state)
{
    struct place place;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    pythia_state_close(s);
    execute(place.state, "DROP TABLE pin_type; DROP TABLE desired_type; PRAGMA user_version=3;");
    s = opened(place.state);
    assert_int_equal(pins_of(s).pin[1], 1);
    assert_pin_types(s, "");
    assert_int_equal(pythia_state_put_pin_for(s, point(1), &(struct pythia_text){"T", 1}, 1),
                     PYTHIA_OK);
    assert_pin_types(s, "p1 T; ");
    pythia_state_close(s);
    remove_place(&place);
}

static void what_the_fourth_schema_desired_is_for_all_types(void **state)
{
    const struct pythia_text type = PYTHIA_TEXT("T");
    const struct pythia_control_wish for_all = {.id = point(1)}, for_one = {point(1), &type, 1};
    struct place place;
    struct desired d = {0}, later = {0};
    uint64_t version;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_desired(s, &for_all, 1, 40, NULL), PYTHIA_OK);
    pythia_state_close(s);
    execute(place.state, "DROP TABLE desired_type; PRAGMA user_version=4;");
    s = opened(place.state);
    assert_int_equal(pythia_state_each_desired(s, take_desired, &d, &version), PYTHIA_OK);
    assert_string_equal(d.all, "p1");
    assert_int_equal(pythia_state_put_desired(s, &for_one, 1, 41, NULL), PYTHIA_OK);
    assert_int_equal(pythia_state_each_desired(s, take_desired, &later, &version), PYTHIA_OK);
    assert_string_equal(later.all, "p1/T");
    assert_int_equal(pythia_state_put_desired(s, &for_all, 1, 42, NULL), PYTHIA_OK);
    later = (struct desired){0}; /* the types went with the point */
    assert_int_equal(pythia_state_each_desired(s, take_desired, &later, &version), PYTHIA_OK);
    assert_string_equal(later.all, "p1");
    pythia_state_close(s);
    remove_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_down_is_there_again),
        cmocka_unit_test(decisions_tell_their_cycle_and_its_start),
        cmocka_unit_test(a_newer_schema_is_refused_and_left_as_it_is),
        cmocka_unit_test(a_decision_keeps_the_price_and_the_passes_that_were_known),
        cmocka_unit_test(the_first_schema_is_brought_up_to_date),
        cmocka_unit_test(a_pin_may_be_for_some_types_only),
        cmocka_unit_test(pins_of_the_third_schema_are_for_all_types),
        cmocka_unit_test(what_the_fourth_schema_desired_is_for_all_types),
        cmocka_unit_test(an_empty_file_becomes_one_and_another_database_is_not_touched),
        cmocka_unit_test(what_was_never_a_database_is_refused),
        cmocka_unit_test(a_damaged_database_is_put_aside),
        cmocka_unit_test(only_its_user_may_read_it),
        cmocka_unit_test(a_second_one_is_refused_and_told_the_pid_of_the_first),
        cmocka_unit_test(a_path_that_cannot_be_is_told),
        cmocka_unit_test(a_log_cut_at_each_byte_loses_at_most_the_last_decision),
        cmocka_unit_test(a_log_with_a_torn_page_keeps_what_is_before_it),
        cmocka_unit_test(a_file_cut_at_each_page_opens),
        cmocka_unit_test(each_failed_allocation),
        cmocka_unit_test(degraded_and_recovered),
        cmocka_unit_test(it_stays_within_a_fixed_size),
        cmocka_unit_test(in_memory_without_a_file),
        cmocka_unit_test(hostile_names_stay_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
