#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/run_store.h"
#include "pythia/status.h"

static char folder[256], path[300];

static int set_up(void **state)
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/runs-XXXXXX", place ? place : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/runs.db", folder);
    return 0;
}

static int tear_down(void **state)
{
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

static struct pythia_run_store *open_store(void)
{
    struct pythia_run_store *s = NULL;
    struct pythia_error e = {0};
    if (pythia_run_store_open(path, true, &s, &e) != PYTHIA_OK)
        fail_msg("%s: %s", e.source, e.sentence);
    return s;
}

static const struct pythia_run_pair pairs[] = {{"size", "10"}, {"colour", "red"}};
static const struct pythia_run_callpath paths[] = {{"a;b", 3, 300, 90, 110, 100, 110, 250, 30200},
                                                   {"a", 1, 500, 500, 500, 500, 500, 200, 250000}};
static const struct pythia_run_process processes[] = {{7, "sh", 5, 6, 4096, 0, 9, 3, 450},
                                                      {8, NULL, -1, -1, -1, -1, -1, 1, 0}};
static const struct pythia_run_finding findings[] = {
    {1, "GET /", "db", .75, "queue", "db accounts for 75 %."}, {2, "GET /x", NULL, NAN, NULL, "-"}};
static const struct pythia_run_artifact files[] = {{"perf", "folded", {"a;b 3\n\0x", 8}}};

static struct pythia_run example(uint64_t started_ns, const char *tag)
{
    struct pythia_run run = {.started_ns = started_ns,
                             .command = "[\"sh\",\"-c\",\"exit 3\"]",
                             .command_key = "k1",
                             .tag = tag,
                             .suite = "suite",
                             .benchmark = "bench",
                             .description = "why",
                             .exit_status = 3,
                             .git_commit = "abc",
                             .git_dirty = 1,
                             .version = "1",
                             .host = {"h", "Linux", "cpu", NULL, 2, 1024, -1},
                             .meta = pairs,
                             .meta_count = 2,
                             .output = {{"out\0put", 7}, {"", 0}},
                             .output_bytes = {70000, 0},
                             .callpaths = paths,
                             .callpath_count = 2,
                             .processes = processes,
                             .process_count = 2,
                             .findings = findings,
                             .finding_count = 2,
                             .artifacts = files,
                             .artifact_count = 1};
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        run.metrics[m] = 100 + m;
    run.metrics[PYTHIA_RUN_READ_BYTES] = -1;
    return run;
}

static int64_t add_run(struct pythia_run_store *s, uint64_t started_ns, const char *tag)
{
    struct pythia_run run = example(started_ns, tag);
    struct pythia_error e = {0};
    int64_t id = 0;
    if (pythia_run_store_add(s, &run, &id, &e) != PYTHIA_OK)
        fail_msg("%s", e.sentence);
    return id;
}

static int check_whole(void *context, const struct pythia_run *run)
{
    ++*(int *)context;
    assert_int_equal(run->started_ns, 5);
    assert_string_equal(run->command, "[\"sh\",\"-c\",\"exit 3\"]");
    assert_string_equal(run->tag, "v1");
    assert_string_equal(run->benchmark, "bench");
    assert_int_equal(run->exit_status, 3);
    assert_int_equal(run->signal, 0);
    assert_int_equal(run->metrics[PYTHIA_RUN_WALL_NS], 100);
    assert_int_equal(run->metrics[PYTHIA_RUN_CPU_NS], 101 + 102); /* user and system */
    assert_int_equal(run->metrics[PYTHIA_RUN_READ_BYTES], -1);
    assert_int_equal(run->git_dirty, 1);
    assert_string_equal(run->host.name, "h");
    assert_null(run->host.governor);
    assert_int_equal(run->host.cpus, 2);
    assert_int_equal(run->host.swap_bytes, -1);
    assert_int_equal(run->meta_count, 2);
    assert_string_equal(run->meta[0].key, "colour"); /* sorted */
    assert_string_equal(run->meta[1].value, "10");
    assert_int_equal(run->output[0].size, 7);
    assert_memory_equal(run->output[0].bytes, "out\0put", 7);
    assert_int_equal(run->output_bytes[0], 70000);
    assert_int_equal(run->callpath_count, 2);
    assert_string_equal(run->callpaths[0].path, "a");
    assert_int_equal(run->callpaths[1].exclusive_ns, 250);
    assert_rel_equal(run->callpaths[1].sum_squares, 30200, 0);
    assert_int_equal(run->process_count, 2);
    assert_int_equal(run->processes[0].pid, 7);
    assert_string_equal(run->processes[0].name, "sh");
    assert_int_equal(run->processes[0].sys_ns, 6);
    assert_int_equal(run->processes[0].max_rss_bytes, 4096);
    assert_int_equal(run->processes[0].minor_faults, 9);
    assert_int_equal(run->processes[0].exclusive_ns, 450);
    assert_null(run->processes[1].name);
    assert_int_equal(run->processes[1].user_ns, -1);
    assert_int_equal(run->processes[1].spans, 1);
    assert_int_equal(run->finding_count, 2);
    assert_rel_equal(run->findings[0].share, .75, 0);
    assert_true(isnan(run->findings[1].share));
    assert_null(run->findings[1].key);
    assert_int_equal(run->artifact_count, 1);
    assert_memory_equal(run->artifacts[0].body.bytes, "a;b 3\n\0x", 8);
    return PYTHIA_OK;
}

static void a_run_is_read_as_it_was_written(void **state)
{
    struct pythia_run_store *s = open_store();
    int seen = 0;
    struct pythia_run_filter all = {0};
    add_run(s, 5, "v1");
    pythia_run_store_close(s);
    s = open_store();
    assert_int_equal(pythia_run_store_each(s, &all, ~0u, check_whole, &seen, NULL), PYTHIA_OK);
    assert_int_equal(seen, 1);
    pythia_run_store_close(s);
}

struct seen {
    int64_t ids[16];
    size_t count;
};

static int note_id(void *context, const struct pythia_run *run)
{
    struct seen *seen = context;
    seen->ids[seen->count++] = run->id;
    return PYTHIA_OK;
}

static void check_filter(struct pythia_run_store *s, struct pythia_run_filter filter,
                         const char *expected)
{
    struct seen seen = {0};
    char found[64] = "";
    assert_int_equal(pythia_run_store_each(s, &filter, 0, note_id, &seen, NULL), PYTHIA_OK);
    for (size_t i = 0; i < seen.count; i++)
        snprintf(found + strlen(found), sizeof(found) - strlen(found), "%d ", (int)seen.ids[i]);
    assert_string_equal(found, expected);
}

static void filters_choose_runs_in_the_order_of_their_start(void **state)
{
    struct pythia_run_store *s = open_store();
    static const struct pythia_run_pair size = {"size", "10"}, other = {"size", "11"};
    add_run(s, 30, "v1");
    add_run(s, 10, "v1");
    add_run(s, 20, "v2");
    check_filter(s, (struct pythia_run_filter){0}, "2 3 1 ");
    check_filter(s, (struct pythia_run_filter){.tag = "v1"}, "2 1 ");
    check_filter(s, (struct pythia_run_filter){.last = 2}, "3 1 ");
    check_filter(s, (struct pythia_run_filter){.tag = "v1", .last = 1}, "1 ");
    check_filter(s, (struct pythia_run_filter){.id = 3}, "3 ");
    check_filter(s, (struct pythia_run_filter){.since_ns = 20}, "3 1 ");
    check_filter(s, (struct pythia_run_filter){.until_ns = 20}, "2 ");
    check_filter(s, (struct pythia_run_filter){.command = "exit 3"}, "2 3 1 ");
    check_filter(s, (struct pythia_run_filter){.command = "k1"}, "2 3 1 ");
    check_filter(s, (struct pythia_run_filter){.command = "exit 4"}, "");
    check_filter(s, (struct pythia_run_filter){.meta = &size, .meta_count = 1, .last = 1}, "1 ");
    check_filter(s, (struct pythia_run_filter){.meta = &other, .meta_count = 1}, "");
    check_filter(s, (struct pythia_run_filter){.host = "h", .suite = "suite"}, "2 3 1 ");
    pythia_run_store_close(s);
}

static void only_the_owner_may_read_the_file(void **state)
{
    struct stat about;
    mode_t before = umask(0);
    struct pythia_run_store *s = open_store();
    umask(before);
    add_run(s, 1, NULL);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    char wal[400];
    snprintf(wal, sizeof(wal), "%s-wal", path);
    assert_int_equal(stat(wal, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    pythia_run_store_close(s);
}

static void write_sql(const char *statements)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void check_refused(int expected, const char *part)
{
    struct pythia_run_store *s = NULL;
    struct pythia_error e = {0};
    assert_int_equal(pythia_run_store_open(path, true, &s, &e), expected);
    assert_null(s);
    if (!strstr(e.sentence, part))
        fail_msg("'%s' is not in '%s'", part, e.sentence);
    assert_non_null(strstr(e.source, "runs.db"));
}

static void a_database_of_another_program_is_left_alone(void **state)
{
    write_sql("CREATE TABLE t(x); INSERT INTO t VALUES(1);");
    check_refused(PYTHIA_EFORMAT, "another program");
    write_sql("INSERT INTO t VALUES(2)"); /* still what it was */
}

static void check_file(int expected, const char *part)
{
    struct pythia_error e = {0};
    assert_int_equal(pythia_run_store_check(path, &e), expected);
    if (part && !strstr(e.sentence, part))
        fail_msg("'%s' is not in '%s'", part, e.sentence);
}

/* Whatever runs cannot be added to is told before a program starts; a file of runs is not opened.
 */
static void a_file_is_checked_without_opening_it(void **state)
{
    struct stat about;
    check_file(PYTHIA_OK, NULL); /* made, and with its tables */
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    struct pythia_run_store *s = open_store();
    add_run(s, 5, "v1");
    pythia_run_store_close(s);
    write_sql("DROP TABLE process; PRAGMA user_version=1;");
    check_file(PYTHIA_OK, NULL);
    write_sql("SELECT * FROM process"); /* migrated */
    write_sql("PRAGMA user_version=999");
    check_file(PYTHIA_EFORMAT, "newer");
    write_sql("PRAGMA user_version=2; PRAGMA application_id=7");
    check_file(PYTHIA_EFORMAT, "another program");
    write_sql("PRAGMA application_id=1350136437");
    FILE *file = fopen(path, "r+"); /* what follows the first page is not looked at */
    fseek(file, 4096, SEEK_SET);
    fputs("damaged", file);
    fclose(file);
    check_file(PYTHIA_OK, NULL);
    file = fopen(path, "w");
    fputs("no database, and short", file);
    fclose(file);
    check_file(PYTHIA_EFORMAT, "no database of runs");
}

/* A file as the first schema had it: without processes. */
static void a_file_of_an_older_pythia_is_migrated(void **state)
{
    struct pythia_run_filter all = {0};
    struct seen seen = {0};
    struct pythia_run_store *s = open_store();
    int64_t old = add_run(s, 5, "v1");
    pythia_run_store_close(s);
    write_sql("DROP TABLE process; PRAGMA user_version=1;");
    s = open_store();
    int64_t young = add_run(s, 6, "v1");
    assert_int_equal(pythia_run_store_each(s, &all, ~0u, note_id, &seen, NULL), PYTHIA_OK);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.ids[0], old);
    assert_int_equal(seen.ids[1], young);
    pythia_run_store_close(s);
}

static void a_file_of_a_newer_pythia_is_refused(void **state)
{
    pythia_run_store_close(open_store());
    write_sql("PRAGMA user_version=999");
    check_refused(PYTHIA_EFORMAT, "newer");
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 2000; i++)
        fputs("not a database", file);
    fclose(file);
    check_refused(PYTHIA_EFORMAT, "no database of runs");
}

static void a_missing_file_is_not_made_for_reading(void **state)
{
    struct pythia_run_store *s = NULL;
    struct pythia_error e = {0};
    assert_int_equal(pythia_run_store_open(path, false, &s, &e), PYTHIA_EIO);
    assert_non_null(strstr(e.sentence, "does not exist"));
    assert_int_not_equal(access(path, F_OK), 0);
}

static void one_host_is_stored_once(void **state)
{
    struct pythia_run_store *s = open_store();
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    for (uint64_t i = 0; i < 3; i++)
        add_run(s, i, NULL);
    pythia_run_store_close(s);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT count(*) FROM host", -1, &q, NULL);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(q, 0), 1);
    sqlite3_finalize(q);
    sqlite3_close(db);
}

static void findings_are_added_to_a_run(void **state)
{
    struct pythia_run_store *s = open_store();
    struct pythia_run run = example(5, "v1");
    struct pythia_error e = {0};
    struct pythia_run_filter all = {0};
    int64_t id;
    int seen = 0;
    run.finding_count = 0;
    assert_int_equal(pythia_run_store_add(s, &run, &id, &e), PYTHIA_OK);
    assert_int_equal(pythia_run_store_add_findings(s, id, findings, 2, &e), PYTHIA_OK);
    assert_int_equal(pythia_run_store_each(s, &all, ~0u, check_whole, &seen, NULL), PYTHIA_OK);
    assert_int_equal(seen, 1);
    /* There is no run 77. */
    assert_int_equal(pythia_run_store_add_findings(s, 77, findings, 2, &e), PYTHIA_EIO);
    pythia_run_store_close(s);
}

/* Wherever memory ends, a run is added whole or not at all. */
static void a_failed_allocation_adds_nothing(void **state)
{
    struct pythia_run_store *s = open_store();
    struct pythia_run run = example(5, "v1");
    struct pythia_run_filter all = {0};
    int added = 0;
    for (long n = 0; n < 40; n++) {
        struct pythia_error e = {0};
        int64_t id;
        pythia_mem_fail_after(n);
        added += pythia_run_store_add(s, &run, &id, &e) == PYTHIA_OK;
        int read = 0;
        pythia_run_store_each(s, &all, ~0u, check_whole, &read, &e);
        pythia_mem_fail_after(-1);
    }
    int seen = 0;
    assert_int_equal(pythia_run_store_each(s, &all, ~0u, check_whole, &seen, NULL), PYTHIA_OK);
    assert_int_equal(seen, added);
    assert_true(added > 0);
    pythia_run_store_close(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_run_is_read_as_it_was_written),
        TEST(filters_choose_runs_in_the_order_of_their_start),
        TEST(only_the_owner_may_read_the_file),
        TEST(a_database_of_another_program_is_left_alone),
        TEST(a_file_is_checked_without_opening_it),
        TEST(a_file_of_an_older_pythia_is_migrated),
        TEST(a_file_of_a_newer_pythia_is_refused),
        TEST(a_file_that_is_no_database_is_refused),
        TEST(a_missing_file_is_not_made_for_reading),
        TEST(one_host_is_stored_once),
        TEST(findings_are_added_to_a_run),
        TEST(a_failed_allocation_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
