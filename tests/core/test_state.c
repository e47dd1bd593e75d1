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
#include "pythia/state.h"
#include "pythia/status.h"
#include "state_case.h"

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
        {.id = PYTHIA_TEXT("p1")},
        {.id = PYTHIA_TEXT("p5"), .types = types, .type_count = 2},
        {.id = PYTHIA_TEXT("p1")}};
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

static void assert_search(struct pythia_state *s, const char *snapshot, const char *verdicts,
                          const char *instances, uint64_t unix_ns)
{
    struct pythia_buf texts = {0};
    struct pythia_state_search found;
    assert_int_equal(pythia_state_get_search(s, &texts, &found), PYTHIA_OK);
    assert_true(pythia_text_equal(found.snapshot, pythia_text_of(snapshot)));
    assert_true(pythia_text_equal(found.verdicts, pythia_text_of(verdicts)));
    assert_true(pythia_text_equal(found.instances, pythia_text_of(instances)));
    assert_true(found.unix_ns == unix_ns);
    pythia_buf_free(&texts);
}

static void a_search_is_there_as_it_was_put_or_set_aside(void **state)
{
    const struct pythia_state_search first = {PYTHIA_TEXT("{}\nsearch"), PYTHIA_TEXT("verdicts"),
                                              PYTHIA_TEXT("{\"s\":\"i\"}"), 5},
                                     second = {PYTHIA_TEXT("other"), {NULL, 0}, {NULL, 0}, 6};
    struct place place;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_search(s, "", "", "", 0);
    assert_int_equal(pythia_state_put_search(s, &first), PYTHIA_OK);
    pythia_state_close(s);
    s = opened(place.state);
    assert_search(s, "{}\nsearch", "verdicts", "{\"s\":\"i\"}", 5);

    /* What is too large changes nothing; the limit itself is not too large. */
    char *large = pythia_calloc(PYTHIA_STATE_SEARCH_MAX + 1, 1);
    assert_non_null(large);
    memset(large, 'x', PYTHIA_STATE_SEARCH_MAX);
    struct pythia_state_search big = {{large, PYTHIA_STATE_SEARCH_MAX}, PYTHIA_TEXT("y"), {0}, 7};
    assert_int_equal(pythia_state_put_search(s, &big), PYTHIA_ELIMIT);
    assert_search(s, "{}\nsearch", "verdicts", "{\"s\":\"i\"}", 5);
    assert_false(pythia_state_is_degraded(s));
    big.verdicts.size = 0;
    assert_int_equal(pythia_state_put_search(s, &big), PYTHIA_OK);
    assert_search(s, large, "", "", 7);
    pythia_free(large);

    assert_int_equal(pythia_state_put_search(s, &second), PYTHIA_OK);
    assert_search(s, "other", "", "", 6);
    for (int i = 0; i < 2; i++) { /* the second time there is nothing to put aside */
        assert_int_equal(pythia_state_put_search_aside(s), PYTHIA_OK);
        assert_search(s, "", "", "", 6);
    }
    assert_int_equal(pythia_state_put_search(s, &first), PYTHIA_OK);
    assert_int_equal(pythia_state_put_search_aside(s), PYTHIA_OK);
    pythia_state_close(s);
    remove_place(&place);
}

/* Make a state of a text in tests/core/states. */
static void load(const char *path, const char *name)
{
    char file[512];
    struct pythia_buf text = {0};
    snprintf(file, sizeof(file), "%s/core/states/%s", PYTHIA_TESTS, name);
    read_file(file, &text);
    assert_true(text.size > 0);
    execute(path, text.bytes);
    pythia_buf_free(&text);
}

static void assert_holds_all(struct pythia_state *s, int schema)
{
    char told[256], *decisions = NULL;
    struct pythia_buf known = {0};
    struct pythia_history *history = NULL;
    struct pythia_error e = {0};
    bool off = false;
    tell(s, told);
    assert_string_equal(told, schema < 5 ? "41 p1p4 0 1 -1 0 0 0 0 0"
                                         : "41 p1p4/GET /cart 0 1 -1 0 0 0 0 0");
    struct pythia_buf places = {0};
    pythia_buf_puts(&places, "");
    assert_int_equal(pythia_state_each_pin_place(s, take_pin_place, &places), PYTHIA_OK);
    assert_string_equal(places.bytes, schema < 6 ? "" : "p7 -1 db-1/; p7 -1 db-2/*; ");
    pythia_buf_free(&places);
    assert_int_equal(pythia_state_each_inventory(s, take_inventory, &known), PYTHIA_OK);
    assert_string_equal(known.bytes, schema < 2 ? "gate shop p1 0\nhttp till p4 0\n"
                                                : "gate shop p1 70\nhttp till p4 0\n");
    pythia_buf_clear(&known);
    assert_int_equal(pythia_state_get_space(s, &known), PYTHIA_OK);
    assert_string_equal(known.bytes, "a space");
    assert_int_equal(pythia_state_get_off(s, &off), PYTHIA_OK);
    assert_true(off);
    assert_int_equal(pythia_state_get_history(s, &history, &e), PYTHIA_OK);
    assert_int_equal(pythia_history_find(history, point(1)).opened, 2);
    assert_int_equal(pythia_state_decisions(s, 10, &decisions), PYTHIA_OK);
    assert_non_null(strstr(decisions, "it bounds the edge"));
    assert_non_null(strstr(decisions, "no request hit it"));
    assert_int_equal(strstr(decisions, "\"price_ns\": 118.5") != NULL, schema >= 2);
    assert_int_equal(strstr(decisions, "\"start_unix_ns\": 900") != NULL, schema >= 3);
    pythia_free(decisions);
    pythia_history_destroy(history);
    pythia_buf_free(&known);
}

static void the_state_of_each_schema_keeps_what_it_held(void **state)
{
    struct place place;
    char name[32];
    make_place(&place);
    for (int schema = 1; schema <= PYTHIA_STATE_SCHEMA; schema++) {
        snprintf(name, sizeof(name), "schema_%d.sql", schema);
        remove_all(place.state);
        load(place.state, name);
        for (int start = 0; start < 2; start++) { /* brought up to date, and so found again */
            struct pythia_state *s = opened(place.state);
            assert_holds_all(s, schema);
            assert_false(pythia_state_is_degraded(s));
            pythia_state_close(s);
        }
    }
    remove_place(&place);
}

static void a_newer_schema_is_read_and_not_written(void **state)
{
    struct place place;
    char text[64];
    struct pythia_buf before = {0}, after = {0};
    struct pythia_error e = {0};
    struct pythia_state *untouched = NULL;
    make_place(&place);
    snprintf(text, sizeof(text), "schema_%d.sql", PYTHIA_STATE_SCHEMA);
    load(place.state, text);
    load(place.state, "newer.sql");
    snprintf(text, sizeof(text), "PRAGMA user_version=%d", PYTHIA_STATE_SCHEMA + 1);
    execute(place.state, text);
    read_file(place.state, &before);
    struct pythia_state *s = opened(place.state);
    assert_true(pythia_state_is_degraded(s));
    assert_int_equal(pythia_state_put_pin(s, point(3), 1), PYTHIA_EIO);
    assert_int_equal(pythia_state_put_pin(s, point(1), 0), PYTHIA_EIO);
    assert_int_equal(pythia_state_put_off(s, false), PYTHIA_EIO);
    assert_int_equal(pythia_state_put_desired(s, NULL, 0, 50, NULL), PYTHIA_EIO);
    assert_int_equal(pythia_state_put_inventory(s, NULL, 0), PYTHIA_EIO);
    assert_holds_all(s, PYTHIA_STATE_SCHEMA);
    pythia_state_close(s);
    read_file(place.state, &after);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.bytes, before.bytes, before.size);
    execute(place.state, "ALTER TABLE desired RENAME TO open_set"); /* against the rule */
    assert_int_equal(pythia_state_open(place.state, &untouched, &e), PYTHIA_EFORMAT);
    assert_non_null(strstr(e.sentence, "newer pythiad"));
    assert_string_equal(e.source, place.state);
    pythia_buf_free(&before);
    pythia_buf_free(&after);
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
         .reason = "no request hit it"},
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
        assert_string_equal(e.sentence, "is a database of another program, and was left alone; "
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
        assert_string_equal(
            e.sentence, "is not a database, and was left alone; choose another file with --state");
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
             "is the state of a running pythiad, pid %ld; stop it, or choose another file "
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

/* The lock of a hard link would be another one, and so would SQLite's log. */
static void a_file_with_two_names_is_refused(void **state)
{
    struct place place;
    char other[128];
    make_place(&place);
    snprintf(other, sizeof(other), "%s/other.db", place.folder);
    pythia_state_close(opened(place.state));
    assert_int_equal(link(place.state, other), 0);
    const char *const names[] = {place.state, other};
    for (size_t i = 0; i < 2; i++) {
        struct pythia_state *untouched = NULL;
        struct pythia_error e = {0};
        assert_int_equal(pythia_state_open(names[i], &untouched, &e), PYTHIA_EIO);
        assert_null(untouched);
        assert_string_equal(e.source, names[i]);
        assert_non_null(strstr(e.sentence, "has 2 names (hard links)"));
    }
    assert_int_equal(unlink(other), 0);
    pythia_state_close(opened(place.state));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_down_is_there_again),
        cmocka_unit_test(a_search_is_there_as_it_was_put_or_set_aside),
        cmocka_unit_test(decisions_tell_their_cycle_and_its_start),
        cmocka_unit_test(the_state_of_each_schema_keeps_what_it_held),
        cmocka_unit_test(a_newer_schema_is_read_and_not_written),
        cmocka_unit_test(a_decision_keeps_the_price_and_the_passes_that_were_known),
        cmocka_unit_test(the_first_schema_is_brought_up_to_date),
        cmocka_unit_test(an_empty_file_becomes_one_and_another_database_is_not_touched),
        cmocka_unit_test(what_was_never_a_database_is_refused),
        cmocka_unit_test(a_damaged_database_is_put_aside),
        cmocka_unit_test(only_its_user_may_read_it),
        cmocka_unit_test(a_second_one_is_refused_and_told_the_pid_of_the_first),
        cmocka_unit_test(a_file_with_two_names_is_refused),
        cmocka_unit_test(a_path_that_cannot_be_is_told),
        cmocka_unit_test(each_failed_allocation),
        cmocka_unit_test(degraded_and_recovered),
        cmocka_unit_test(it_stays_within_a_fixed_size),
        cmocka_unit_test(in_memory_without_a_file),
        cmocka_unit_test(hostile_names_stay_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
