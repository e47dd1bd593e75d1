#include <assert.h>
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
        print_error("cut at %zu: '%s', expected '%s' or later\n", log_size, told, r->told[least]);
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

/* ---- each byte of the file and of its log ---- */

static size_t stride = 1; /* bytes from cut to cut: the program's argument */

#define BASE  5 /* decisions in the file */
#define LATER 4 /* decisions in the log */

/* A state of small pages as a killed pythiad leaves it, and all that it says after each decision
 * in the log. */
struct small {
    struct pythia_buf file, log;
    size_t log_size[LATER + 1];
    struct pythia_buf said[LATER + 1];
};

static int add_point(void *context, const struct pythia_state_point *p)
{
    pythia_buf_printf(context, "; %s %.*s %.*s %d", p->plane, (int)p->target.size, p->target.bytes,
                      (int)p->id.size, p->id.bytes, (int)p->of.hits);
    return pythia_buf_status(context);
}

static void say_all(struct pythia_state *s, struct pythia_buf *out)
{
    char told[256], *decisions = NULL;
    bool off;
    pythia_buf_clear(out);
    tell(s, told);
    pythia_buf_puts(out, told);
    assert_int_equal(pythia_state_each_inventory(s, add_point, out), PYTHIA_OK);
    assert_int_equal(pythia_state_get_space(s, out), PYTHIA_OK);
    assert_int_equal(pythia_state_get_off(s, &off), PYTHIA_OK);
    assert_int_equal(pythia_state_decisions(s, 10, &decisions), PYTHIA_OK);
    pythia_buf_printf(out, " %d %s", off, decisions);
    pythia_free(decisions);
}

/* A table of a text that needs a page of its own, which comes last. Otherwise it would be of an
 * index, which SQLite's quick check does not read. */
static const char last_page[] =
    "CREATE TABLE last(a_column_with_a_long_name_1, a_column_with_a_long_name_2,"
    " a_column_with_a_long_name_3, a_column_with_a_long_name_4, a_column_with_a_long_name_5,"
    " a_column_with_a_long_name_6, a_column_with_a_long_name_7, a_column_with_a_long_name_8,"
    " a_column_with_a_long_name_9, a_column_with_a_long_name_10, a_column_with_a_long_name_11,"
    " a_column_with_a_long_name_12, a_column_with_a_long_name_13, a_column_with_a_long_name_14,"
    " a_column_with_a_long_name_15, a_column_with_a_long_name_16, a_column_with_a_long_name_17)";

static void make_base(const char *path)
{
    const struct pythia_text space = PYTHIA_TEXT("a search space"), type = PYTHIA_TEXT("GET /");
    const struct pythia_state_point points[] = {
        {"gate", PYTHIA_TEXT("shop"), PYTHIA_TEXT("shop:a"), {250, "measured", 70, 40, 50}},
        {"http", PYTHIA_TEXT("till"), PYTHIA_TEXT("till:b"), {NAN, "supposed", 3, 0, 0}}};
    const struct pythia_control_wish wish = {.id = point(1), .types = &type, .type_count = 1};
    struct pythia_state *s = opened(path);
    pythia_state_close(s);
    execute(path, "PRAGMA journal_mode=DELETE; PRAGMA page_size=512; VACUUM;"
                  "INSERT INTO cycle VALUES(1, 5, 0, 0, 0, 0, 0, 1, 4);"
                  "INSERT INTO switch(cycle, trace_point, open, reason) VALUES(1, 'p1', 1, 'why')");
    execute(path, last_page);
    s = opened(path);
    assert_int_equal(pythia_state_put_inventory(s, points, 2), PYTHIA_OK);
    assert_int_equal(pythia_state_put_off(s, true), PYTHIA_OK);
    assert_int_equal(pythia_state_put_desired(s, &wish, 1, 3, &space), PYTHIA_OK);
    for (int n = 0; n < BASE; n++)
        assert_int_equal(decide(s, 2 * n), PYTHIA_OK);
    pythia_state_close(s); /* which writes the log into the file */
}

static void make_small(const struct place *place, struct small *m)
{
    char wal[128];
    struct stat about;
    make_base(place->state);
    struct pythia_state *s = opened(place->state);
    snprintf(wal, sizeof(wal), "%s-wal", place->state);
    for (int n = 0; n <= LATER; n++) {
        if (n > 0)
            assert_int_equal(decide(s, n), PYTHIA_OK);
        m->log_size[n] = stat(wal, &about) == 0 ? (size_t)about.st_size : 0;
        say_all(s, &m->said[n]);
    }
    read_file(place->state, &m->file);
    read_file(wal, &m->log);
    pythia_state_close(s);
    assert_int_equal(m->log.size, m->log_size[LATER]);
    assert_memory_equal(m->file.bytes + 16, "\x02\x00", 2); /* the page size: 512 */
}

static void free_small(struct small *m)
{
    pythia_buf_free(&m->file);
    pythia_buf_free(&m->log);
    for (int n = 0; n <= LATER; n++)
        pythia_buf_free(&m->said[n]);
}

static void put_copy(const struct place *place, struct pythia_text file, struct pythia_text log)
{
    char wal[128];
    snprintf(wal, sizeof(wal), "%s-wal", place->copy);
    remove_all(place->copy);
    write_file(place->copy, file.bytes, file.size);
    assert_int_equal(chmod(place->copy, 0600), 0);
    write_file(wal, log.bytes, log.size);
}

/* Open the copy, with what it logs in `logged`. */
static int open_logged(const struct place *place, struct pythia_state **s, struct pythia_error *e,
                       char logged[1024])
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    int status = pythia_state_open(place->copy, s, e);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    ssize_t size = pread(fileno(file), logged, 1023, 0);
    logged[size > 0 ? size : 0] = '\0';
    fclose(file);
    return status;
}

static void assert_file_is(const char *path, const char *end, struct pythia_text wanted)
{
    char name[160];
    struct pythia_buf is = {0};
    snprintf(name, sizeof(name), "%s%s", path, end);
    read_file(name, &is);
    assert_int_equal(is.size, wanted.size);
    if (wanted.size > 0)
        assert_memory_equal(is.bytes, wanted.bytes, wanted.size);
    pythia_buf_free(&is);
}

static void assert_sound(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *rows;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(rows, 0), "ok");
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

/* A damaged state was put aside, with its log, as it was, and a warning says so. */
static void assert_put_aside(const struct place *place, struct pythia_text file,
                             struct pythia_text log, const char *logged)
{
    char field[256];
    snprintf(field, sizeof(field), "file=%s, put-aside=%s.broken\n", place->copy, place->copy);
    assert_non_null(strstr(logged, "The state is damaged, and a new one was created"));
    assert_non_null(strstr(logged, field));
    assert_file_is(place->copy, ".broken", file);
    assert_file_is(place->copy, ".broken-wal", log);
}

/* Open what is left of a state. True: it says what it said after its last decision. False: it was
 * put aside or refused, and told. */
static bool opens_whole(const struct place *place, const struct small *m, struct pythia_text file,
                        struct pythia_text log)
{
    char logged[1024];
    struct pythia_state *s = NULL;
    struct pythia_error e = {0};
    struct pythia_buf said = {0};
    put_copy(place, file, log);
    int status = open_logged(place, &s, &e, logged);
    if (status != PYTHIA_OK) { /* told, and left as it is */
        assert_null(s);
        assert_string_equal(e.source, place->copy);
        assert_non_null(strstr(e.sentence, "choose another file with --state"));
        assert_file_is(place->copy, "", file);
        assert_file_is(place->copy, "-wal", log);
        return false;
    }
    bool whole = logged[0] == '\0';
    say_all(s, &said);
    pythia_state_close(s);
    if (whole) {
        assert_string_equal(said.bytes, m->said[LATER].bytes);
        assert_sound(place->copy);
    } else {
        assert_put_aside(place, file, log, logged);
        assert_string_equal(said.bytes, "0  0 0 0 0 0 0 0 0 0 []");
    }
    pythia_buf_free(&said);
    return whole;
}

/* The log is whole; the file is shorter, as only a fault of the disk or of a copy makes it. */
static void a_file_cut_at_each_byte_is_whole_or_put_aside(void **state)
{
    struct place place;
    struct small m = {0};
    make_place(&place);
    make_small(&place, &m);
    for (size_t cut = 0; cut < m.file.size; cut += stride)
        (void)opens_whole(&place, &m, (struct pythia_text){m.file.bytes, cut},
                          pythia_buf_text(&m.log));
    assert_true(opens_whole(&place, &m, pythia_buf_text(&m.file), pythia_buf_text(&m.log)));
    free_small(&m);
    remove_place(&place);
}

/* The file is whole and the log shorter, as a power cut leaves it: what was committed by then is
 * there, neither more nor less. */
static void a_log_cut_at_each_byte_gives_the_last_commit(void **state)
{
    char logged[1024];
    struct place place;
    struct small m = {0};
    struct pythia_buf said = {0};
    const size_t frame = 24 + 512; /* in the log, after its header of 32 bytes */
    int done = 0;
    make_place(&place);
    make_small(&place, &m);
    for (size_t cut = 0; cut <= m.log.size; cut++) {
        struct pythia_state *s = NULL;
        struct pythia_error e = {0};
        while (done < LATER && cut >= m.log_size[done + 1])
            done++;
        if (cut % stride != 0 && cut % frame > 40 && cut != m.log.size)
            continue;
        put_copy(&place, pythia_buf_text(&m.file), (struct pythia_text){m.log.bytes, cut});
        assert_int_equal(open_logged(&place, &s, &e, logged), PYTHIA_OK);
        assert_string_equal(logged, "");
        say_all(s, &said);
        pythia_state_close(s);
        assert_string_equal(said.bytes, m.said[done].bytes);
    }
    assert_int_equal(done, LATER);
    pythia_buf_free(&said);
    free_small(&m);
    remove_place(&place);
}

/* Read all, whatever it says; damage in the middle of a text is not seen by SQLite. */
static int ignore_text(void *context, struct pythia_text id, int pin)
{
    return PYTHIA_OK;
}

/* A byte of the file is another: it opens, or is put aside or refused; nothing else, and the bytes
 * of one that is not used stay as they are. */
static void a_file_with_a_wrong_byte_opens_or_is_put_aside(void **state)
{
    char logged[1024];
    struct place place;
    struct small m = {0};
    make_place(&place);
    make_small(&place, &m);
    for (size_t at = 0; at < m.file.size; at += at < 100 ? 1 : 12 + stride) {
        struct pythia_state *s = NULL;
        struct pythia_error e = {0};
        char *decisions = NULL, kept = m.file.bytes[at];
        const struct pythia_text nothing = {"", 0};
        m.file.bytes[at] = (char)~kept;
        put_copy(&place, pythia_buf_text(&m.file), nothing);
        int status = open_logged(&place, &s, &e, logged);
        if (status != PYTHIA_OK) {
            assert_string_equal(e.source, place.copy);
            assert_file_is(place.copy, "", pythia_buf_text(&m.file));
        } else {
            (void)pythia_state_each_pin(s, ignore_text, NULL);
            (void)pythia_state_decisions(s, 10, &decisions);
            (void)decide(s, 1);
            pythia_free(decisions);
            if (strstr(logged, "put-aside"))
                assert_put_aside(&place, pythia_buf_text(&m.file), nothing, logged);
        }
        pythia_state_close(s);
        m.file.bytes[at] = kept;
    }
    free_small(&m);
    remove_place(&place);
}

/* An earlier one that was put aside keeps its name, and a log whose file is gone is damage, too. */
static void what_was_put_aside_before_is_kept(void **state)
{
    static const char *const names[] = {".broken", ".broken-2", ".broken-3"};
    char text[] = "SQLite format 3\0of no use 0", name[128];
    struct place place;
    make_place(&place);
    pythia_log_setup("test", PYTHIA_LOG_ERROR);
    for (size_t i = 0; i < 3; i++) {
        text[sizeof(text) - 2] = (char)('1' + i);
        write_file(place.copy, text, sizeof(text));
        pythia_state_close(opened(place.copy));
        unlink(place.copy);
    }
    for (size_t i = 0; i < 3; i++) {
        text[sizeof(text) - 2] = (char)('1' + i);
        assert_file_is(place.copy, names[i], (struct pythia_text){text, sizeof(text)});
        snprintf(name, sizeof(name), "%s%s", place.copy, names[i]);
        unlink(name);
    }
    snprintf(name, sizeof(name), "%s-wal", place.copy);
    write_file(name, "a log", 5);
    pythia_state_close(opened(place.copy));
    assert_file_is(place.copy, ".broken-wal", PYTHIA_TEXT("a log"));
    pythia_log_setup("test", PYTHIA_LOG_INFO);
    remove_place(&place);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        stride = strtoul(argv[1], NULL, 10);
    assert(stride > 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_cut_at_each_byte_loses_at_most_the_last_decision),
        cmocka_unit_test(a_log_with_a_torn_page_keeps_what_is_before_it),
        cmocka_unit_test(a_file_cut_at_each_byte_is_whole_or_put_aside),
        cmocka_unit_test(a_log_cut_at_each_byte_gives_the_last_commit),
        cmocka_unit_test(a_file_with_a_wrong_byte_opens_or_is_put_aside),
        cmocka_unit_test(what_was_put_aside_before_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
