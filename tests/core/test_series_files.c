/* Folders of series, while others write to them and after they were killed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/series_files.h"
#include "pythia/status.h"

#define HEADING "Timepoint,Measurement,Label,PID\n"

static char folder[32];
static struct pythia_series_files_result result;
static struct pythia_buf problems;

static int begin(void **state)
{
    snprintf(folder, sizeof(folder), "/tmp/pythia-series-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    pythia_buf_free(&problems);
    return system(command); /* NOLINT(cert-env33-c) */
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void on_problem(void *context, const struct pythia_error *why)
{
    char text[512];
    const char *said = pythia_error_text(why, text, sizeof(text));
    if (strncmp(said, folder, strlen(folder)) == 0)
        said += strlen(folder) + 1;
    pythia_buf_printf(&problems, "%s\n", said);
}

static void read_folder(void)
{
    struct pythia_series_set *set;
    const char *const paths[] = {folder};
    pythia_buf_clear(&problems);
    assert_int_equal(pythia_series_files_read(paths, 1, false, on_problem, NULL, &set, &result),
                     PYTHIA_OK);
    pythia_series_set_destroy(set);
}

static void assert_problems(const char *expected)
{
    assert_string_equal(problems.bytes ? problems.bytes : "", expected);
}

static void files_of_a_folder(void **state)
{
    write_file("duration.0f3a.csv", HEADING "1,2,a,3\n");
    write_file("runtime.77.1.0123456789abcdef.csv", HEADING "1,2,a,3\n2,2,a,3\n");
    write_file("profiler.77.data", "x");
    write_file("wrong.csv", "who knows\n");
    write_file("empty.csv", "");
    char path[128];
    snprintf(path, sizeof(path), "%s/folder.csv", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    read_folder();
    assert_int_equal(result.files, 2);
    assert_int_equal(result.csv.rows, 3);
    assert_int_equal(result.refused, 2);
    assert_int_equal(result.others, 2);
    assert_problems("empty.csv:1: does not begin with Timepoint,Measurement,Label,PID (byte 0)\n"
                    "wrong.csv:1: does not begin with Timepoint,Measurement,Label,PID (byte 0)\n");
}

/* A process that holds the lock of its file, until it is killed. */
static void a_file_of_a_killed_process_is_read(void **state)
{
    int ready[2];
    char path[256], byte;
    write_file("duration.5.1.ab.tmp", HEADING "1,2,a,5\n2,4,a,5\n3,6");
    write_file("duration.5.2.ab.tmp", "");
    snprintf(path, sizeof(path), "%s/duration.5.1.ab.tmp", folder);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open(path, O_RDWR);
        if (file < 0 || fcntl(file, F_SETLK, &lock) != 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    read_folder();
    assert_int_equal(result.files, 0);
    assert_int_equal(result.killed, 0);
    assert_int_equal(result.writing, 2); /* one of them is empty: it is being made */
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    read_folder();
    assert_int_equal(result.files, 1);
    assert_int_equal(result.killed, 1);
    assert_int_equal(result.csv.rows, 2);
    assert_int_equal(result.csv.cut, 1);
    assert_problems("");
    close(ready[0]);
    close(ready[1]);
}

static void missing_files_are_counted(void **state)
{
    write_file("duration.5.2.ab.csv", HEADING "1,2,a,5\n"); /* 1 was taken away: nothing is said */
    write_file("duration.5.3.ab.csv", HEADING "1,2,a,5\n");
    write_file("duration.5.10.ab.csv", HEADING "1,2,a,5\n");
    write_file("duration.5.20.cd.csv", HEADING "1,2,a,5\n"); /* another process of that number */
    write_file("runtime.5.5.ab.csv", HEADING "1,2,a,5\n");
    /* These have no number, or none that can be counted to. */
    write_file("duration.5..ab.csv", HEADING "1,2,a,5\n");
    write_file("duration.5.4x.ab.csv", HEADING "1,2,a,5\n");
    write_file("duration.5.99999999999999999999.ab.csv", HEADING "1,2,a,5\n");
    read_folder();
    assert_int_equal(result.files, 8);
    assert_int_equal(result.missing, 6);
}

/* Only a file that was removed meanwhile (ENOENT) is passed over without a report. Opening a socket
 * fails for root too (ENXIO). */
static void a_file_that_cannot_be_opened_is_reported(void **state)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/duration.5.2.ab.csv", folder);
    assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
    read_folder();
    assert_int_equal(result.files, 0);
    assert_int_equal(result.gone, 0);
    assert_int_equal(result.refused, 1);
    assert_problems("duration.5.2.ab.csv: cannot be read: No such device or address\n");
}

static void what_is_named_must_be_there(void **state)
{
    struct pythia_series_set *set;
    const char *const paths[] = {"/no/such/folder", "/no/such.csv"};
    assert_int_equal(pythia_series_files_read(paths, 2, false, on_problem, NULL, &set, &result),
                     PYTHIA_OK);
    pythia_series_set_destroy(set);
    assert_int_equal(result.refused, 2);
    assert_problems("/no/such/folder: cannot be read: No such file or directory\n"
                    "/no/such.csv: cannot be read: No such file or directory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_of_a_folder, begin, end),
        cmocka_unit_test_setup_teardown(a_file_of_a_killed_process_is_read, begin, end),
        cmocka_unit_test_setup_teardown(missing_files_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_opened_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(what_is_named_must_be_there, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
