/* The reader of other processes' rings: of those that live, of those that were killed, and of what
 * pretends to be one. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "traced.h"

/* What test and child share. */
static struct {
    volatile uint64_t committed; /* spans that the child has left, wholly */
    volatile int go, stop;
} * shared;

static int begin(void **state)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    traced_begin();
    return 0;
}

static int end(void **state)
{
    leave_if_child();
    munmap((void *)shared, sizeof(*shared));
    traced_end();
    memset(&traced, 0, sizeof(traced));
    pythia_buf_free(&definitions);
    return 0;
}

static struct pythia_drain_counts counts(void)
{
    struct pythia_drain_counts c;
    pythia_drain_counts_get(traced.drain, &c);
    return c;
}

/* Files of areas in the directory; the last one's name. */
static int areas(char *name)
{
    DIR *folder = opendir(traced.directory);
    const struct dirent *entry;
    int count = 0;
    while ((entry = readdir(folder)))
        if (strncmp(entry->d_name, "area-", 5) == 0) {
            count++;
            if (name)
                snprintf(name, 64, "%.63s", entry->d_name);
        }
    closedir(folder);
    return count;
}

static int segment_of(const char *name)
{
    char path[256];
    int number = -1;
    snprintf(path, sizeof(path), "%s/%s", traced.directory, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "pythia-area 1 %d", &number), 1); /* NOLINT */
    fclose(file);
    return number;
}

static void wait_for(const volatile uint64_t *number, uint64_t least)
{
    while (*number < least)
        sched_yield();
}

static void write_spans(void)
{
    for (uint64_t i = 0; !shared->stop; i++) {
        {
            PYTHIA_SPAN_AS(span, "work");
            PYTHIA_SET(span, "i", i);
        }
        shared->committed++;
        if (i > 5000) /* not more than a ring holds */
            sched_yield();
        while (i > 5000 && !shared->stop)
            sched_yield();
    }
}

static pid_t start_child(void (*run)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run();
        _exit(0); /* no destructors: as if it were killed */
    }
    return child;
}

static void kill_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Killed at any moment, it loses nothing that it had committed: span after span, without a gap. */
static void what_a_killed_process_has_committed_is_read(void **state)
{
    open_point("test:work");
    for (unsigned round = 0; round < 20; round++) {
        struct collection c;
        shared->committed = 0;
        pid_t child = start_child(write_spans);
        wait_for(&shared->committed, 100 + 211 * round);
        kill_child(child);
        uint64_t committed = shared->committed;
        pythia_buf_clear(&definitions);
        read_spans(&c);
        assert_problems(&c, "");
        /* The one that was under way may be there, or not; wholly, or begun. */
        assert_in_range(c.count, committed, committed + 1);
        for (size_t i = 0; i < committed; i++) {
            assert_integer(&c, i, "i", (double)i);
            assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_WHOLE);
        }
        collection_close(&c);
        assert_int_equal(areas(NULL), 0); /* read to the end, and removed */
        assert_int_equal(counts().ended, round + 1);
    }
    assert_int_equal(counts().refused, 0);
}

static void begin_and_wait(void)
{
    PYTHIA_REQUEST("hanging");
    PYTHIA_SPAN_AS(span, "outer");
    PYTHIA_SET(span, "who", "me");
    PYTHIA_SPAN("inner");
    shared->committed = 1;
    for (;;)
        sched_yield();
}

/* In what it was when it was killed can be seen. */
static void spans_that_were_open_are_begun(void **state)
{
    struct collection c;
    open_point("test:outer");
    open_point("test:inner");
    pid_t child = start_child(begin_and_wait);
    wait_for(&shared->committed, 1);
    kill_child(child);
    read_spans(&c);
    assert_int_equal(c.count, 2);
    assert_child(&c, "test:inner", "test:outer");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_START);
    assert_text(&c, only(&c, "test:outer"), "who", "me");
    collection_close(&c);
}

static void one_span(void)
{
    PYTHIA_SPAN("single");
}

static void stay(void)
{
    one_span();
    shared->committed = 1;
    while (!shared->stop)
        sched_yield();
    one_span();
}

static void a_living_process_is_read_as_it_goes(void **state)
{
    struct collection c;
    open_point("test:single");
    pid_t child = start_child(stay);
    wait_for(&shared->committed, 1);
    read_spans(&c);
    assert_int_equal(c.count, 1);
    collection_close(&c);
    assert_int_equal(areas(NULL), 1);
    assert_int_equal(counts().processes, 1);
    shared->stop = 1;
    waitpid(child, NULL, 0);
    read_spans(&c);
    assert_int_equal(c.count, 1);
    collection_close(&c);
    assert_int_equal(areas(NULL), 0);
    assert_int_equal(counts().processes, 0);
    /* The process, the point, what a span costs in a loop, and two for each span. */
    assert_int_equal(counts().records, 7);
}

static void leave_and_exit(void)
{
    one_span();
    exit(0);
}

/* A program that ends by itself leaves what is not read, and nothing if all is. */
static void a_process_that_ends_leaves_what_nobody_has_read(void **state)
{
    struct collection c;
    open_point("test:single");
    pid_t child = start_child(leave_and_exit);
    waitpid(child, NULL, 0);
    assert_int_equal(areas(NULL), 1);
    read_spans(&c);
    assert_int_equal(c.count, 1);
    collection_close(&c);
    assert_int_equal(areas(NULL), 0);
}

static void read_then_exit(void)
{
    one_span();
    shared->committed = 1;
    while (!shared->stop)
        sched_yield();
    exit(0);
}

static void a_process_whose_rings_are_read_leaves_nothing(void **state)
{
    open_point("test:single");
    pid_t child = start_child(read_then_exit);
    wait_for(&shared->committed, 1);
    discard_spans();
    assert_int_equal(areas(NULL), 1);
    shared->stop = 1;
    waitpid(child, NULL, 0);
    assert_int_equal(areas(NULL), 0); /* before anybody has looked again */
    discard_spans();
    assert_int_equal(counts().processes, 0);
}

static void there_is_one_reader(void **state)
{
    const struct pythia_drain_handler handler = {.frame = traced_frame, .refused = traced_refused};
    struct pythia_drain *other = NULL;
    char why[256] = "";
    assert_int_equal(pythia_drain_open(traced.directory, &handler, &other, why), -EBUSY);
    assert_non_null(strstr(why, "has a reader already"));
    assert_null(other);
    pythia_drain_close(traced.drain);
    traced_open_drain();
}

static int refuse_frame(void *context, const void *bytes, size_t size)
{
    return -EIO;
}

/* What the handler does not take is kept, and comes again. */
static void what_is_not_taken_is_given_again(void **state)
{
    struct collection c;
    struct pythia_drain *other;
    const struct pythia_drain_handler handler = {.frame = refuse_frame};
    open_point("test:single");
    waitpid(start_child(one_span), NULL, 0);
    pythia_drain_close(traced.drain);
    assert_int_equal(pythia_drain_open(traced.directory, &handler, &other, NULL), 0);
    assert_int_equal(pythia_drain_pass(other), -EIO);
    assert_int_equal(pythia_drain_pass(other), -EIO);
    pythia_drain_close(other);
    traced_open_drain();
    read_spans(&c);
    assert_int_equal(c.count, 1);
    collection_close(&c);
}

/* Frames have records up to a size; all of a large ring comes out. */
static void write_much(void)
{
    static char text[1500];
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 5000; i++) {
        PYTHIA_SPAN_AS(span, "much");
        PYTHIA_SET_TEXT(span, "text", text, sizeof(text));
    }
}

static void large_rings_come_in_several_frames(void **state)
{
    struct collection c;
    setenv("PYTHIA_RING_BYTES", "16777216", 1);
    open_point("test:much");
    waitpid(start_child(write_much), NULL, 0);
    unsetenv("PYTHIA_RING_BYTES");
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.count, 5000);
    assert_true(counts().frames > 20);
    collection_close(&c);
}

/* A full ring drops whole spans, and says how many. */
static void write_too_much(void)
{
    struct pythia_tracepoints_state s;
    for (int i = 0; i < 20000; i++) {
        PYTHIA_SPAN_AS(span, "much");
        PYTHIA_SET(span, "i", i);
        PYTHIA_ANNOTATE("much");
    }
    pythia_tracepoints_state_get(&s);
    shared->committed = s.lost_spans;
    if (s.lost_ends != 0 || s.lost_annotations < 10000)
        shared->committed = 0;
}

static void a_full_ring_drops_whole_spans_and_counts_them(void **state)
{
    struct collection c;
    open_point("test:much");
    waitpid(start_child(write_too_much), NULL, 0);
    assert_true(shared->committed > 10000);
    read_spans(&c);
    assert_problems(&c, "");
    size_t spans = 0;
    for (size_t i = 0; i < c.count; i++) {
        spans += span_at(&c, i)->part == PYTHIA_PART_WHOLE;
        assert_int_not_equal(span_at(&c, i)->part, PYTHIA_PART_START);
        assert_int_not_equal(span_at(&c, i)->part, PYTHIA_PART_STOP);
    }
    assert_int_equal(spans + shared->committed, 20000);
    assert_true(c.counts.dropped[PYTHIA_DROP_FULL_RING] > shared->committed);
    collection_close(&c);
}

/* ---- what is no area ---- */

/* The area of a dead process, attached. */
static unsigned char *dead_area(char *name)
{
    open_point("test:single");
    waitpid(start_child(one_span), NULL, 0);
    assert_int_equal(areas(name), 1);
    void *at = shmat(segment_of(name), NULL, 0);
    assert_int_not_equal((intptr_t)at, -1);
    return at;
}

static void assert_refusal(const char *part)
{
    discard_spans();
    const char *refusals = pythia_buf_text(&traced.refusals).bytes;
    if (!strstr(refusals, part))
        fail_msg("expected '%s', found '%s'", part, refusals);
    assert_int_equal(counts().refused, 1);
    discard_spans(); /* once is enough */
    assert_int_equal(counts().refused, 1);
}

static void check_refused(size_t offset, const void *bytes, size_t size, const char *part)
{
    char name[64];
    unsigned char *area = dead_area(name);
    int segment = segment_of(name);
    memcpy(area + offset, bytes, size);
    assert_refusal(part);
    shmdt(area);
    shmctl(segment, IPC_RMID, NULL);
}

#define REFUSED(test, offset, type, value, part)                                                   \
    static void test(void **state)                                                                 \
    {                                                                                              \
        type bad = value;                                                                          \
        check_refused(offset, &bad, sizeof(bad), part);                                            \
    }

REFUSED(a_wrong_magic_is_refused, 0, uint64_t, 1, "does not begin as an area of rings does")
REFUSED(another_version_is_refused, 8, uint32_t, 9, "is of version 9, not 2")
REFUSED(another_processs_area_is_refused, 16, uint64_t, 1,
        "is another process's than its file says")
REFUSED(no_rings_are_refused, 32, uint32_t, 0, "impossible sizes: 0 rings")
REFUSED(too_many_rings_are_refused, 32, uint32_t, 4097, "impossible sizes: 4097 rings")
REFUSED(more_rings_than_there_is_memory_are_refused, 32, uint32_t, 257, "where its sizes need")
REFUSED(an_unknown_clock_is_refused, 36, uint32_t, 3, "has an unknown clock: 3")
REFUSED(odd_rings_are_refused, 40, uint64_t, 1048575, "impossible sizes: 256 rings of 1048575")
REFUSED(huge_rings_are_refused, 40, uint64_t, UINT64_C(1) << 63, "impossible sizes")
REFUSED(odd_definitions_are_refused, 48, uint64_t, 33554433, "impossible sizes")
REFUSED(definitions_that_end_outside_are_refused, 128, uint64_t, 33554440,
        "its definitions end where they cannot")
REFUSED(definitions_that_end_oddly_are_refused, 128, uint64_t, 7,
        "its definitions end where they cannot")
REFUSED(an_impossible_head_is_refused, 2048 + 64, uint64_t, 1048584,
        "its ring 0 says that bytes 0 to 1048584 are there, more than it can hold")
REFUSED(an_odd_head_is_refused, 2048 + 64, uint64_t, 97,
        "its ring 0 says that bytes 0 to 97 are there")
REFUSED(a_tail_ahead_of_the_head_is_refused, 2048 + 128, uint64_t, 800,
        "its ring 0 says that bytes 800 to 96 are there")
#define DEFINITIONS (4096 + 65536) /* header and controls, to the next page */
#define RING        (DEFINITIONS + 33554432)
REFUSED(a_definition_of_no_size_is_refused, DEFINITIONS, uint16_t, 0,
        "its definitions hold a record of an impossible size")
REFUSED(a_record_of_no_size_is_refused, RING, uint16_t, 0,
        "its ring 0 holds a record of an impossible size, between bytes 0 and 96")
REFUSED(a_record_of_an_odd_size_is_refused, RING, uint16_t, 57, "a record of an impossible size")
REFUSED(a_record_that_is_too_long_is_refused, RING, uint16_t, 4360,
        "a record of an impossible size")
REFUSED(a_record_beyond_the_head_is_refused, RING + 56, uint16_t, 48,
        "a record of an impossible size")

/* The clock of when it began is only a help. */
static void a_clock_that_is_nonsense_is_measured(void **state)
{
    char name[64];
    struct collection c;
    unsigned char *area = dead_area(name);
    memset(area + 56, 0xff, 32);
    shmdt(area);
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_in_range(span_at(&c, 0)->start_ns / 1000000000, (uint64_t)time(NULL) - 60,
                    (uint64_t)time(NULL) + 60);
    collection_close(&c);
}

/* An area that is smaller than its header. */
static void a_small_segment_is_refused(void **state)
{
    char path[128], line[256], name[64];
    unsigned char *area = dead_area(name);
    int segment = segment_of(name), small = shmget(IPC_PRIVATE, 100, IPC_CREAT | 0600);
    snprintf(path, sizeof(path), "%s/%s", traced.directory, name);
    FILE *file = fopen(path, "r+");
    assert_non_null(fgets(line, sizeof(line), file));
    rewind(file);
    fprintf(file, "pythia-area 1 %d%s", small, strchr(line + 14, ' '));
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), ftell(file)), 0);
    fclose(file);
    assert_refusal("is cut short: 100 bytes");
    shmdt(area);
    shmctl(segment, IPC_RMID, NULL);
    shmctl(small, IPC_RMID, NULL);
}

static void a_file_of_an_area_that_is_none_is_refused(void **state)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/area-1-nonsense", traced.directory);
    FILE *file = fopen(path, "w");
    fputs("pythia-area 1 nonsense\n", file);
    fclose(file);
    assert_refusal("area-1-nonsense: is not such a line as it should be");
    unlink(path);
    discard_spans();
}

/* Random bytes everywhere in an area of a living process: the reader ends, and the process too. */
static void live_among_garbage(void)
{
    one_span();
    shared->committed = 1;
    while (!shared->stop)
        one_span();
}

static void garbage_in_shared_memory_harms_neither_side(void **state)
{
    char name[64];
    uint32_t seed = 7;
    open_point("test:single");
    for (int round = 0; round < 30; round++) {
        shared->committed = 0;
        shared->stop = 0;
        pid_t child = start_child(live_among_garbage);
        wait_for(&shared->committed, 1);
        assert_int_equal(areas(name), 1);
        int segment = segment_of(name), status = 0;
        unsigned char *area = shmat(segment, NULL, 0);
        for (int i = 0; i < 200; i++) {
            size_t words = round % 2 ? 4096 + 65536 + 4096 : 2048 + 512;
            seed = seed * 1664525 + 1013904223;
            size_t at = (seed >> 8) % (words / 8) * 8 + (round % 3 ? 2048 : 0);
            uint64_t word = seed & 1 ? seed : UINT64_MAX - seed;
            memcpy(area + at, &word, seed & 2 ? 8 : 1);
            if (i % 20 == 0)
                assert_int_equal(pythia_drain_pass(traced.drain), 0);
        }
        shared->stop = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(pythia_drain_pass(traced.drain), 0);
        shmdt(area);
        shmctl(segment, IPC_RMID, NULL);
        assert_int_equal(pythia_drain_pass(traced.drain), 0);
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", traced.directory, name);
        unlink(path);
        pythia_buf_clear(&traced.frames);
    }
}

/* ---- what nobody reads ---- */

/* A program that is started over and over, and killed, must not fill the memory. */
static void only_so_many_dead_processes_are_kept(void **state)
{
    struct pythia_switchboard_state s;
    open_point("test:single");
    for (int i = 0; i < 40; i++)
        waitpid(start_child(one_span), NULL, 0);
    assert_int_equal(areas(NULL), 33); /* 32, and the one that came last */
    pythia_switchboard_state_get(traced.board, &s);
    assert_int_equal(s.removed_areas, 7);
    assert_int_equal(s.removed_bytes, 7 * 96); /* counted */
    struct collection c;
    pythia_buf_clear(&definitions);
    read_spans(&c);
    assert_int_equal(c.count, 33);
    collection_close(&c);
    assert_int_equal(areas(NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_killed_process_has_committed_is_read),
        TEST(spans_that_were_open_are_begun),
        TEST(a_living_process_is_read_as_it_goes),
        TEST(a_process_that_ends_leaves_what_nobody_has_read),
        TEST(a_process_whose_rings_are_read_leaves_nothing),
        TEST(there_is_one_reader),
        TEST(what_is_not_taken_is_given_again),
        TEST(large_rings_come_in_several_frames),
        TEST(a_full_ring_drops_whole_spans_and_counts_them),
        TEST(a_wrong_magic_is_refused),
        TEST(another_version_is_refused),
        TEST(another_processs_area_is_refused),
        TEST(no_rings_are_refused),
        TEST(too_many_rings_are_refused),
        TEST(more_rings_than_there_is_memory_are_refused),
        TEST(an_unknown_clock_is_refused),
        TEST(odd_rings_are_refused),
        TEST(huge_rings_are_refused),
        TEST(odd_definitions_are_refused),
        TEST(definitions_that_end_outside_are_refused),
        TEST(definitions_that_end_oddly_are_refused),
        TEST(an_impossible_head_is_refused),
        TEST(an_odd_head_is_refused),
        TEST(a_tail_ahead_of_the_head_is_refused),
        TEST(a_definition_of_no_size_is_refused),
        TEST(a_record_of_no_size_is_refused),
        TEST(a_record_of_an_odd_size_is_refused),
        TEST(a_record_that_is_too_long_is_refused),
        TEST(a_record_beyond_the_head_is_refused),
        TEST(a_clock_that_is_nonsense_is_measured),
        TEST(a_small_segment_is_refused),
        TEST(a_file_of_an_area_that_is_none_is_refused),
        TEST(garbage_in_shared_memory_harms_neither_side),
        TEST(only_so_many_dead_processes_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
