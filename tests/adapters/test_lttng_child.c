/* The process that reads a trace of LTTng aborts, goes on without end, is killed or stopped, or
 * loses its parent. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "check.h"
#include "collect.h"
#include "ctf.h"
#include "pythia/lttng_events.h"
#include "reader_child.h"

#define METADATA                                                                                   \
    CTF_HEAD CTF_STREAM(CTF_THREAD) CTF_EVENT(0, "shop:begin", "") CTF_EVENT(1, "shop:end", "")
#define MANY     100000 /* requests, whose records no pipe holds */
#define FAR_NS   UINT64_C(600000000000)
#define SHORT_NS UINT64_C(200000000)

static char folder[] = "/tmp/lttng_child.XXXXXX";
static struct pythia_lttng_rules *rules;
static struct pythia_lttng_reader *process;
static struct pythia_buf events, stream;

static int begin(void **state)
{
    struct pythia_error e = {0};
    char path[128];
    snprintf(folder, sizeof(folder), "/tmp/lttng_child.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/rules", folder);
    ctf_write(folder, "rules",
              PYTHIA_TEXT("service: shop\nprovider: shop\npoints:\n"
                          "  sell: {start: begin, done: end, request: true}\n"));
    assert_int_equal(pythia_lttng_rules_read(path, &rules, &e), PYTHIA_OK);
    assert_int_equal(unlink(path), 0);
    return 0;
}

static void end_process(void)
{
    pythia_lttng_reader_end(process);
    process = NULL;
}

static int end(void **state)
{
    end_process();
    ctf_remove(folder);
    pythia_lttng_rules_free(rules);
    pythia_buf_free(&events);
    pythia_buf_free(&stream);
    return 0;
}

static void add_request(uint64_t time_ns)
{
    ctf_event(&events, 0, time_ns, 7, 8);
    ctf_event(&events, 1, time_ns + 5, 7, 8);
}

/* A number in the header of the packet that begins at this byte. */
static void set_number(size_t packet, size_t at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        stream.bytes[packet + at + i] = (char)(value >> 8 * i);
}

static void write_trace(void)
{
    ctf_write(folder, "metadata", PYTHIA_TEXT(METADATA));
    ctf_write(folder, "stream", pythia_buf_text(&stream));
}

static void write_many(void)
{
    for (uint64_t i = 0; i < MANY; i++)
        add_request(100 + 10 * i);
    ctf_packet(&stream, &events, 100, 100 + 10 * (uint64_t)MANY, 0, 0);
    write_trace();
}

static struct pythia_lttng_events *open_trace(uint64_t busy_ns, uint64_t silent_ns)
{
    const char *const where[] = {folder};
    struct pythia_lttng_events *r = NULL;
    struct pythia_error e = {0};
    if (!process)
        assert_int_equal(pythia_lttng_reader_start(&process, &e), PYTHIA_OK);
    assert_int_equal(pythia_lttng_events_open(process, where, 1, rules, true, &r, &e), PYTHIA_OK);
    pythia__lttng_events_limit(r, busy_ns, silent_ns);
    return r;
}

/* Read to the end. Returns the status of it. */
static int read_rest(struct pythia_lttng_events *r, struct pythia_buf *frames,
                     struct pythia_error *e)
{
    bool more = true;
    int status = PYTHIA_OK;
    while (status == PYTHIA_OK && more)
        status = pythia_lttng_events_read(r, frames, &more, e);
    return status;
}

/* How many spans the decoder of records makes of it, to which nothing is broken. */
static size_t count_spans(struct pythia_buf *frames)
{
    struct collection c;
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(frames), 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_string_equal(c.problems.bytes ? c.problems.bytes : "", "");
    size_t count = c.count;
    collection_close(&c);
    pythia_buf_free(frames);
    return count;
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not have '%s'", text, part);
}

static void no_child_is_left(void)
{
    end_process();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* ---- broken traces ---- */

/* libbabeltrace2 2.0.4 takes the size of the content for a negative number, and aborts. One without
 * that fault refuses the trace. */
static void read_what_aborts(struct pythia_buf *frames, struct pythia_error *e)
{
    add_request(100);
    ctf_packet(&stream, &events, 100, 150, 0, 0);
    set_number(0, 24, UINT64_MAX - 7);
    write_trace();
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    assert_int_equal(read_rest(r, frames, e), PYTHIA_EFORMAT);
    pythia_lttng_events_close(r);
}

static void a_trace_at_which_the_library_aborts_is_an_error(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    read_what_aborts(&frames, &e);
    if (!strstr(e.sentence, "the trace cannot be read"))
        expect_text(e.sentence, "libbabeltrace2 does not survive it, because it is broken (signal "
                                "ABRT): leave the trace out");
    assert_int_equal(count_spans(&frames), 0);
    no_child_is_left();
}

/* It reads a packet of no bits again and again, and takes memory each time. */
static void a_trace_at_which_the_library_goes_on_without_end_is_an_error(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    add_request(100);
    ctf_packet(&stream, &events, 100, 150, 0, 0);
    size_t second = stream.size;
    add_request(200);
    ctf_packet(&stream, &events, 200, 250, 1, 0);
    set_number(second, 24, 0);
    set_number(second, 32, 0);
    write_trace();
    struct pythia_lttng_events *r = open_trace(SHORT_NS, FAR_NS);
    assert_int_equal(read_rest(r, &frames, &e), PYTHIA_EFORMAT);
    pythia_lttng_events_close(r);
    if (!strstr(e.sentence, "the trace cannot be read"))
        expect_text(e.sentence, "libbabeltrace2 reads on and on without coming to an event");
    (void)count_spans(&frames);
    no_child_is_left();
}

/* ---- a child that something is done to ---- */

/* The first bytes, after which the child waits for place in the pipe. */
static void read_first(struct pythia_lttng_events *r, struct pythia_buf *frames)
{
    struct pythia_error e = {0};
    bool more = true;
    assert_int_equal(pythia_lttng_events_read(r, frames, &more, &e), PYTHIA_OK);
    assert_true(frames->size > 0 && more && pythia__lttng_events_child(r) > 0);
}

static void what_a_killed_child_has_read_is_kept(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    write_many();
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    read_first(r, &frames);
    assert_int_equal(kill(pythia__lttng_events_child(r), SIGKILL), 0);
    assert_int_equal(read_rest(r, &frames, &e), PYTHIA_EFORMAT);
    expect_text(e.sentence, "the process that reads it was killed");
    assert_int_equal(pythia__lttng_events_child(r), 0);
    assert_true(pythia_lttng_events_has_ended(r));
    pythia_lttng_events_close(r);
    size_t count = count_spans(&frames);
    assert_true(count > 0 && count < MANY);
    no_child_is_left();
}

static void a_child_that_was_stopped_is_given_up(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    write_many();
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    read_first(r, &frames);
    pythia__lttng_events_limit(r, FAR_NS, SHORT_NS);
    assert_int_equal(kill(pythia__lttng_events_child(r), SIGSTOP), 0);
    assert_int_equal(read_rest(r, &frames, &e), PYTHIA_EIO);
    expect_text(e.sentence, "the process that reads it gets no further: was it stopped");
    pythia_lttng_events_close(r);
    size_t count = count_spans(&frames);
    assert_true(count > 0 && count < MANY);
    no_child_is_left();
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *open_ones = opendir("/proc/self/fd");
    assert_non_null(open_ones);
    while (readdir(open_ones))
        count++;
    closedir(open_ones);
    return count;
}

static void neither_descriptors_nor_children_are_left(void **state)
{
    size_t before = count_descriptors();
    write_many();
    for (int i = 0; i < 3; i++) {
        struct pythia_buf frames = {0};
        struct pythia_error e = {0};
        struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
        if (i > 0)
            read_first(r, &frames);
        if (i > 1)
            assert_int_equal(read_rest(r, &frames, &e), PYTHIA_OK);
        pythia_lttng_events_close(r);
        pythia_buf_free(&frames);
    }
    no_child_is_left();
    assert_int_equal(count_descriptors(), before);
}

/* A socket of a daemon would stay bound, and a pipe open, for as long as the child runs. */
static void the_child_holds_no_file_of_its_parent_open(void **state)
{
    struct pythia_buf frames = {0};
    int ends[2];
    char byte;
    write_many();
    assert_int_equal(pipe(ends), 0);
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    read_first(r, &frames);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    pythia_lttng_events_close(r);
    pythia_buf_free(&frames);
}

static void the_child_is_confined(void **state)
{
    struct pythia_buf frames = {0};
    char path[64], line[128];
    int held = 0;
    write_many();
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    read_first(r, &frames);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pythia__lttng_events_child(r));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        held += strcmp(line, "Seccomp:\t2\n") == 0 || strcmp(line, "NoNewPrivs:\t1\n") == 0;
    (void)fclose(file);
    assert_int_equal(held, 2);
    pythia_lttng_events_close(r);
    pythia_buf_free(&frames);
}

/* How often a file of /proc about the process has a text, which may be between NULs. */
static size_t count_texts(pid_t which, const char *file, const char *text)
{
    static char bytes[1 << 20];
    char path[64];
    size_t found = 0;
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)which, file);
    FILE *stream_of_it = fopen(path, "r");
    assert_non_null(stream_of_it);
    size_t size = fread(bytes, 1, sizeof(bytes), stream_of_it);
    (void)fclose(stream_of_it);
    for (const char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), text, strlen(text)));
         at++)
        found++;
    return found;
}

/* It is the program anew: what this process has mapped, a forked child would have, too. */
static void the_child_has_none_of_its_parents_memory(void **state)
{
    struct pythia_buf frames = {0};
    int file = memfd_create("a-secret-of-the-parent", 0);
    assert_int_equal(ftruncate(file, 4096), 0);
    void *secret = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    assert_ptr_not_equal(secret, MAP_FAILED);
    write_many();
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    read_first(r, &frames);
    assert_int_equal(count_texts(getpid(), "maps", "a-secret-of-the-parent"), 1);
    assert_int_equal(count_texts(pythia__lttng_events_child(r), "maps", "a-secret-of-the-parent"),
                     0);
    pythia_lttng_events_close(r);
    munmap(secret, 4096);
    close(file);
    pythia_buf_free(&frames);
}

static void the_child_has_two_variables_of_the_environment(void **state)
{
    static const char expected[] =
        "LD_LIBRARY_PATH=/nowhere:/elsewhere\0BABELTRACE_PLUGIN_PATH=/no";
    struct pythia_buf frames = {0};
    char path[64], got[4096] = "";
    assert_int_equal(setenv("LD_LIBRARY_PATH", "/nowhere:/elsewhere", 1), 0);
    assert_int_equal(setenv("BABELTRACE_PLUGIN_PATH", "/no", 1), 0);
    assert_int_equal(setenv("BABELTRACE_EXEC_ON_ABORT", "/bin/true", 1), 0);
    assert_int_equal(setenv("PYTHIA_TOKEN", "secret", 1), 0);
    write_many();
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    read_first(r, &frames);
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pythia__lttng_events_child(r));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, sizeof(got), file), sizeof(expected));
    assert_memory_equal(got, expected, sizeof(expected));
    (void)fclose(file);
    pythia_lttng_events_close(r);
    pythia_buf_free(&frames);
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("BABELTRACE_PLUGIN_PATH");
    unsetenv("BABELTRACE_EXEC_ON_ABORT");
    unsetenv("PYTHIA_TOKEN");
}

/* One that aborts, one that was killed and one that nobody read to its end. */
static void after_a_trace_that_ends_badly_the_next_one_is_read(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    struct pythia_lttng_events *r;
    read_what_aborts(&frames, &e);
    pythia_buf_clear(&stream);
    pythia_buf_clear(&events);
    write_many();
    for (int i = 0; i < 2; i++) {
        r = open_trace(FAR_NS, FAR_NS);
        read_first(r, &frames);
        if (i == 0)
            assert_int_equal(kill(pythia__lttng_events_child(r), SIGKILL), 0);
        pythia_lttng_events_close(r);
        pythia_buf_clear(&frames);
    }
    r = open_trace(FAR_NS, FAR_NS);
    assert_int_equal(read_rest(r, &frames, &e), PYTHIA_OK);
    pythia_lttng_events_close(r);
    assert_int_equal(count_spans(&frames), MANY);
    no_child_is_left();
}

/* The process that forks the children is killed: its child ends with it, and each trace that it
 * would read is an error. */
static void a_reader_that_was_killed_is_an_error_of_each_trace(void **state)
{
    struct pythia_buf frames = {0};
    char path[64];
    int reader = 0;
    write_many();
    struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
    read_first(r, &frames);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pythia__lttng_events_child(r));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    /* NOLINTNEXTLINE(cert-err34-c) */
    assert_int_equal(fscanf(file, "%*d (pythia-lttng) %*c %d", &reader), 1);
    (void)fclose(file);
    assert_int_equal(kill(reader, SIGKILL), 0);
    for (int i = 0; i < 2; i++) {
        struct pythia_error e = {0};
        assert_int_equal(read_rest(r, &frames, &e), PYTHIA_EFORMAT);
        expect_text(e.sentence, "the process that reads it was killed");
        pythia_lttng_events_close(r);
        assert_true(count_spans(&frames) < MANY);
        r = open_trace(FAR_NS, FAR_NS);
    }
    pythia_lttng_events_close(r);
    no_child_is_left();
}

/* The process that made it ends, too; both are children of this one then. */
static void a_child_ends_with_its_parent(void **state)
{
    struct pythia_buf frames = {0};
    pid_t reader = 0;
    int ends[2], how;
    write_many();
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct pythia_lttng_events *r = open_trace(FAR_NS, FAR_NS);
        read_first(r, &frames);
        reader = pythia__lttng_events_child(r);
        _exit(write(ends[1], &reader, sizeof(reader)) == sizeof(reader) ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &reader, sizeof(reader)), sizeof(reader));
    assert_int_equal(waitpid(parent, &how, 0), parent);
    while (waitpid(-1, &how, 0) > 0)
        continue;
    assert_int_equal(kill(reader, 0), -1);
    assert_int_equal(errno, ESRCH);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(int argc, char **argv)
{
    pythia_lttng_reader_main(argc, argv);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_trace_at_which_the_library_aborts_is_an_error),
        TEST(a_trace_at_which_the_library_goes_on_without_end_is_an_error),
        TEST(what_a_killed_child_has_read_is_kept),
        TEST(a_child_that_was_stopped_is_given_up),
        TEST(neither_descriptors_nor_children_are_left),
        TEST(the_child_holds_no_file_of_its_parent_open),
        TEST(the_child_is_confined),
        TEST(a_child_ends_with_its_parent),
        TEST(the_child_has_none_of_its_parents_memory),
        TEST(the_child_has_two_variables_of_the_environment),
        TEST(after_a_trace_that_ends_badly_the_next_one_is_read),
        TEST(a_reader_that_was_killed_is_an_error_of_each_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
