/* The thread that writes records to a file. Each program that is traced is a child. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "traced.h"

static char path[96];
static volatile int *shared;

static int begin(void **state)
{
    traced_directory();
    snprintf(path, sizeof(path), "%s/out.records", traced.directory);
    setenv("PYTHIA_RECORDS", path, 1);
    setenv("PYTHIA_OPEN", "*", 1);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return 0;
}

static int end(void **state)
{
    leave_if_child();
    munmap((void *)(uintptr_t)shared, 4096); /* NOLINT(performance-no-int-to-ptr) */
    remove_segments(traced.directory);
    pythia_buf_free(&traced.frames);
    pythia_buf_free(&traced.refusals);
    memset(&traced, 0, sizeof(traced));
    static const char *const names[] = {"PYTHIA_RECORDS", "PYTHIA_OPEN", "PYTHIA_FLUSH_MS",
                                        "PYTHIA_RING_BYTES"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

static void read_into(struct pythia_buf *to, const char *file)
{
    FILE *in = fopen(file, "rb");
    if (!in)
        fail_msg("%s is not there", file);
    char *room;
    size_t size;
    while ((room = pythia_buf_reserve(to, 65536)) && (size = fread(room, 1, 65536, in)) > 0)
        to->size += size;
    fclose(in);
}

static void decode(struct collection *c, const struct pythia_buf *bytes)
{
    struct pythia_memory_source memory;
    collection_open(c);
    pythia_memory_source_init(&memory, "file", bytes->bytes, bytes->size);
    collect_source(c, "native", &memory.source);
    assert_int_equal(c->status, PYTHIA_OK);
}

static void decode_file(struct collection *c, const char *file)
{
    struct pythia_buf bytes = {0};
    read_into(&bytes, file);
    decode(c, &bytes);
    pythia_buf_free(&bytes);
}

static void write_some(int count)
{
    for (int i = 0; i < count; i++) {
        PYTHIA_SPAN_AS(span, "some");
        PYTHIA_SET(span, "i", i);
    }
}

static void hundred(void)
{
    write_some(100);
}

static void what_was_recorded_is_in_the_file_at_the_end(void **state)
{
    struct collection c;
    struct stat about;
    in_child(hundred);
    decode_file(&c, path);
    assert_problems(&c, "");
    assert_int_equal(c.count, 100);
    for (size_t i = 0; i < 100; i++)
        assert_integer(&c, i, "i", (double)i);
    collection_close(&c);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    in_child(hundred); /* another program writes behind it */
    decode_file(&c, path);
    assert_int_equal(c.count, 200);
    collection_close(&c);
}

static void nothing_open(void)
{
    PYTHIA_SPAN("some");
    assert_int_equal(pythia_tracepoints_flush(), 0);
}

static void no_file_is_made_for_nothing(void **state)
{
    unsetenv("PYTHIA_OPEN");
    in_child(nothing_open);
    assert_int_equal(access(path, F_OK), -1);
}

static void flush_and_look(void)
{
    struct collection c;
    write_some(10);
    assert_int_equal(pythia_tracepoints_flush(), 0);
    decode_file(&c, path);
    assert_int_equal(c.count, 10);
    collection_close(&c);
    write_some(5);
    assert_int_equal(pythia_tracepoints_flush(), 0);
    decode_file(&c, path);
    assert_int_equal(c.count, 15);
    collection_close(&c);
    struct pythia_tracepoints_state s;
    struct stat about;
    pythia_tracepoints_state_get(&s);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(s.flushed_bytes, about.st_size);
}

static void a_flush_waits_until_all_is_written(void **state)
{
    setenv("PYTHIA_FLUSH_MS", "60000", 1);
    in_child(flush_and_look);
}

#define HANGS 12000 /* waits of 10 ms, after which something is taken to hang */

/* Half a ring full, the thread does not wait for its time. */
static void fill_half_a_ring(void)
{
    struct stat about = {0};
    write_some(1);
    for (int i = 0; i < HANGS && about.st_size == 0; i++) { /* the first pass */
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        if (stat(path, &about) != 0)
            about.st_size = 0;
    }
    off_t before = about.st_size;
    write_some(400); /* x 152 bytes: of 65536 */
    for (int i = 0; i < HANGS && about.st_size == before; i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        stat(path, &about);
    }
    assert_true(about.st_size > before);
}

static void a_ring_that_is_half_full_calls(void **state)
{
    setenv("PYTHIA_FLUSH_MS", "60000", 1);
    setenv("PYTHIA_RING_BYTES", "65536", 1);
    in_child(fill_half_a_ring);
}

static void parent_and_child(void)
{
    write_some(3);
    in_child(hundred);
    write_some(4);
}

static void children_write_too(void **state)
{
    struct collection c;
    if (THREAD_SANITIZED)
        skip();
    in_child(parent_and_child);
    decode_file(&c, path);
    assert_problems(&c, "");
    assert_int_equal(c.count, 107);
    collection_close(&c);
}

static void each_process_may_have_its_own_file(void **state)
{
    char pattern[128], name[512];
    struct pythia_buf all = {0};
    struct collection c;
    int files = 0;
    if (THREAD_SANITIZED)
        skip();
    snprintf(pattern, sizeof(pattern), "%s/%%%%-%%p.records", traced.directory);
    setenv("PYTHIA_RECORDS", pattern, 1);
    in_child(parent_and_child);
    DIR *folder = opendir(traced.directory);
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strncmp(entry->d_name, "%-", 2) == 0) {
            snprintf(name, sizeof(name), "%s/%s", traced.directory, entry->d_name);
            read_into(&all, name);
            files++;
        }
    closedir(folder);
    assert_int_equal(files, 2);
    decode(&c, &all);
    assert_int_equal(c.count, 107);
    collection_close(&c);
    pythia_buf_free(&all);
}

/* As a daemon does; and then a file of its own gets the number that was the library's. */
static void close_everything(void)
{
    char own[128];
    struct stat about;
    write_some(10);
    assert_int_equal(pythia_tracepoints_flush(), 0);
    for (int i = 3; i < 256; i++)
        close(i);
    snprintf(own, sizeof(own), "%s/own", traced.directory);
    for (int i = 0; i < 20; i++)
        assert_true(open(own, O_RDWR | O_CREAT | O_APPEND, 0600) >= 0);
    write_some(20);
    assert_int_equal(pythia_tracepoints_flush(), 0);
    assert_int_equal(stat(own, &about), 0);
    assert_int_equal(about.st_size, 0);
}

static void a_program_that_closes_all_files_is_not_written_to(void **state)
{
    struct collection c;
    in_child(close_everything);
    decode_file(&c, path);
    assert_problems(&c, "");
    assert_int_equal(c.count, 30);
    collection_close(&c);
}

static void go_on_without_a_disk(void)
{
    struct pythia_tracepoints_state s;
    write_some(10);
    assert_int_equal(pythia_tracepoints_flush(), -ENOSPC);
    write_some(20000); /* more than a ring holds: the program goes on */
    pythia_tracepoints_state_get(&s);
    assert_true(s.lost_spans > 1000);
    assert_int_equal(s.flushed_bytes, 0);
}

static void a_full_disk_stops_nobody(void **state)
{
    setenv("PYTHIA_RECORDS", "/dev/full", 1);
    in_child(go_on_without_a_disk);
}

static void go_on_without_a_file(void)
{
    write_some(10);
    assert_int_equal(pythia_tracepoints_flush(), -ENOENT);
}

static void a_file_that_cannot_be_made_stops_nobody(void **state)
{
    setenv("PYTHIA_RECORDS", "/nowhere/at all", 1);
    in_child(go_on_without_a_file);
}

static void go_on_beside_a_planted_file(void)
{
    struct pythia_tracepoints_state state;
    write_some(10);
    assert_int_equal(pythia_tracepoints_flush(), -EPERM);
    pythia_tracepoints_state_get(&state);
    assert_non_null(strstr(state.problem, "in a folder that others can write to"));
}

/* Another user, in a folder that all can write to: nothing is written to that file, nor through
 * a link. */
static void a_file_of_another_user_gets_no_records(void **state)
{
    char folder[] = "/tmp/pythia-planted-XXXXXX", planted[64], victim[64];
    struct stat about;
    if (geteuid() != 0)
        skip(); /* nobody else can give files to others */
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 01777), 0);
    snprintf(planted, sizeof(planted), "%s/out", folder);
    snprintf(victim, sizeof(victim), "%s/victim", folder);
    setenv("PYTHIA_RECORDS", planted, 1);
    close(open(victim, O_WRONLY | O_CREAT, 0600));

    close(open(planted, O_WRONLY | O_CREAT, 0666));
    assert_int_equal(chown(planted, 65534, 65534), 0);
    in_child(go_on_beside_a_planted_file);
    assert_int_equal(stat(planted, &about), 0);
    assert_int_equal(about.st_size, 0);
    unlink(planted);

    assert_int_equal(symlink(victim, planted), 0);
    assert_int_equal(lchown(planted, 65534, 65534), 0);
    in_child(go_on_beside_a_planted_file);
    unlink(planted);

    assert_int_equal(link(victim, planted), 0);
    in_child(go_on_beside_a_planted_file);
    assert_int_equal(stat(victim, &about), 0);
    assert_int_equal(about.st_size, 0);
    unlink(planted);
    unlink(victim);
    rmdir(folder);
}

static void write_until_killed(void)
{
    for (int i = 0;; i++) {
        PYTHIA_SPAN_AS(span, "some");
        PYTHIA_SET(span, "i", i);
        shared[0] = i + 1; /* this one is yet to end */
        if (i == 100)
            pythia_tracepoints_flush(); /* so that there is a file, however late the thread is */
        if (i % 50 == 0)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

/* What is not in the file yet is in the ring, for a reader; what is in both counts once. */
static void a_killed_program_leaves_its_records_in_two_places(void **state)
{
    for (int round = 0; round < 5; round++) {
        struct pythia_buf all = {0};
        struct collection c;
        shared[0] = 0;
        pid_t child = fork();
        if (child == 0)
            write_until_killed();
        while (shared[0] < 200 + 100 * round)
            sched_yield();
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        traced_open_drain();
        assert_int_equal(pythia_drain_pass(traced.drain), 0);
        pythia_drain_close(traced.drain);
        read_into(&all, path);
        pythia_buf_text_add(&all, pythia_buf_text(&traced.frames));
        decode(&c, &all);
        size_t whole = 0;
        for (size_t i = 0; i < c.count; i++)
            if (span_at(&c, i)->part == PYTHIA_PART_WHOLE)
                assert_integer(&c, i, "i", (double)whole++);
        assert_in_range(whole, shared[0] - 1, shared[0]);
        /* The file may end in a frame that was being written. */
        assert_true(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD] <= 1);
        collection_close(&c);
        pythia_buf_free(&all);
        pythia_buf_clear(&traced.frames);
        unlink(path);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_recorded_is_in_the_file_at_the_end),
        TEST(no_file_is_made_for_nothing),
        TEST(a_flush_waits_until_all_is_written),
        TEST(a_ring_that_is_half_full_calls),
        TEST(children_write_too),
        TEST(each_process_may_have_its_own_file),
        TEST(a_program_that_closes_all_files_is_not_written_to),
        TEST(a_full_disk_stops_nobody),
        TEST(a_file_that_cannot_be_made_stops_nobody),
        TEST(a_file_of_another_user_gets_no_records),
        TEST(a_killed_program_leaves_its_records_in_two_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
