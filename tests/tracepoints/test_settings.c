/* What a program and its environment may choose, and what happens where that cannot be had. Each
 * program that is traced is a child. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "timed.h"
#include "traced.h"

static int begin(void **state)
{
    traced_begin();
    return 0;
}

static int end(void **state)
{
    static const char *const names[] = {"PYTHIA_OPEN",       "PYTHIA_RINGS",    "PYTHIA_CLOCK",
                                        "PYTHIA_RING_BYTES", "PYTHIA_FLUSH_MS", "PYTHIA_RECORDS",
                                        "OTEL_SERVICE_NAME"};
    traced_end();
    memset(&traced, 0, sizeof(traced));
    pythia_buf_free(&definitions);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

static void three(void)
{
    PYTHIA_SPAN("alpha");
    PYTHIA_SPAN("beta");
    PYTHIA_SPAN("gamma");
}

static void assert_opens(const char *open, const char *expected)
{
    static const char *const ids[] = {"test:alpha", "test:beta", "test:gamma"};
    struct collection c;
    char found[4] = "";
    setenv("PYTHIA_OPEN", open, 1);
    pythia_buf_clear(&definitions);
    in_child(three);
    read_spans(&c);
    for (size_t i = 0; i < 3; i++)
        if (count_of(&c, ids[i]))
            strncat(found, &ids[i][5], 1);
    collection_close(&c);
    if (strcmp(found, expected) != 0)
        fail_msg("%s opens %s, not %s", open, found, expected);
}

static void points_may_be_opened_by_the_environment(void **state)
{
    assert_opens("*", "abg");
    assert_opens("alpha", "a");
    assert_opens("alpha,gamma", "ag");
    assert_opens("*a", "abg");
    assert_opens("?eta", "b");
    assert_opens("test:beta", "b");
    assert_opens("test:*", "abg");
    assert_opens("other:*", "");
    assert_opens("", "");
    assert_opens(",,", "");
    char long_list[3000] = "";
    for (int i = 0; i < 400; i++)
        strncat(long_list, "no,", 4);
    strncat(long_list, "beta", 5);
    assert_opens(long_list, "b");
}

static void write_file(char *path, size_t size, const char *text)
{
    snprintf(path, size, "@%s/opened", traced.directory);
    FILE *file = fopen(path + 1, "w");
    fputs(text, file);
    fclose(file);
}

static void or_by_a_file_that_it_names(void **state)
{
    char path[128];
    write_file(path, sizeof(path), "# points\nalpha\n\ntest:gam*\n");
    assert_opens(path, "ag");
    write_file(path, sizeof(path), "beta"); /* no newline */
    assert_opens(path, "b");
    write_file(path, sizeof(path), "beta\tnone such kind\n");
    assert_opens(path, "");
    assert_opens("@/nowhere", "");
}

static void requests(void)
{
    {
        PYTHIA_REQUEST("create");
        PYTHIA_SPAN("alpha");
    }
    {
        PYTHIA_REQUEST("list");
        PYTHIA_SPAN("alpha");
        PYTHIA_SPAN("beta");
    }
}

static void a_file_may_open_points_for_some_requests(void **state)
{
    char path[128];
    struct collection c;
    write_file(path, sizeof(path), "alpha\tcreate\nbeta\tlist\n");
    setenv("PYTHIA_OPEN", path, 1);
    in_child(requests);
    read_spans(&c);
    assert_int_equal(c.count, 2);
    assert_text(&c, only(&c, "test:alpha"), "request_type", "create");
    assert_text(&c, only(&c, "test:beta"), "request_type", "list");
    collection_close(&c);
}

/* What the environment opens is this program's alone. */
static void others_do_not_see_what_the_environment_opens(void **state)
{
    struct pythia_switchboard_point point;
    assert_opens("*", "abg");
    assert_int_equal(pythia_switchboard_points(traced.board), 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(pythia_switchboard_at(traced.board, i, &point), 0);
        assert_int_equal(point.switches, 0);
    }
}

/* ---- who it is ---- */

static void one(void)
{
    PYTHIA_SPAN("point");
}

static void assert_service(const char *expected)
{
    struct collection c;
    setenv("PYTHIA_OPEN", "*", 1);
    pythia_buf_clear(&definitions);
    in_child(one);
    read_spans(&c);
    char id[128];
    snprintf(id, sizeof(id), "%s:point", expected);
    size_t found = only(&c, id);
    char host[64] = "", pid[16];
    gethostname(host, sizeof(host) - 1);
    struct pythia_resource resource = resource_at(&c, found);
    assert_string_equal(pythia_vocabulary_text(c.vocabulary, resource.service).bytes, expected);
    assert_string_equal(pythia_vocabulary_text(c.vocabulary, resource.host).bytes, host);
    snprintf(pid, sizeof(pid), "%s", pythia_vocabulary_text(c.vocabulary, resource.instance).bytes);
    assert_true(strtol(pid, NULL, 10) > 0 && strtol(pid, NULL, 10) != getpid());
    collection_close(&c);
}

static void a_service_is_called_as_the_environment_says_or_as_its_file(void **state)
{
    assert_service("test");
    setenv("OTEL_SERVICE_NAME", "otel", 1);
    assert_service("test");
    unsetenv("PYTHIA_SERVICE");
    assert_service("otel");
    unsetenv("OTEL_SERVICE_NAME");
    assert_service("test_settings");
    setenv("PYTHIA_SERVICE", "\xFF", 1);
    assert_service("\xEF\xBF\xBD");
}

static void set_up(void)
{
    const struct pythia_tracepoints_options options = {.service = "chosen", .open = "po*"};
    assert_int_equal(pythia_tracepoints_setup(&options), 0);
    one();
}

static void a_program_may_choose_what_the_environment_leaves_open(void **state)
{
    struct collection c;
    in_child(set_up);
    read_spans(&c);
    only(&c, "test:point");
    collection_close(&c);
    unsetenv("PYTHIA_SERVICE");
    pythia_buf_clear(&definitions);
    in_child(set_up);
    read_spans(&c);
    only(&c, "chosen:point");
    collection_close(&c);
    setenv("PYTHIA_OPEN", "other", 1);
    in_child(set_up);
    read_spans(&c);
    assert_int_equal(c.count, 0);
    collection_close(&c);
}

/* ---- numbers and clocks ---- */

static char expected_problem[256];

static void check_problem(void)
{
    struct pythia_tracepoints_state s;
    one();
    pythia_tracepoints_state_get(&s);
    if (strcmp(s.problem, expected_problem) != 0)
        fail_msg("the problem is '%s', not '%s'", s.problem, expected_problem);
}

static void numbers_that_are_none_are_told(void **state)
{
    static const char *const cases[][3] = {
        {"PYTHIA_RINGS", "many", "a number from 1 to 4096: taken for 256"},
        {"PYTHIA_RINGS", "0", "a number from 1 to 4096: taken for 256"},
        {"PYTHIA_RINGS", "4097", "a number from 1 to 4096: taken for 256"},
        {"PYTHIA_RINGS", "-1", "a number from 1 to 4096: taken for 256"},
        {"PYTHIA_RINGS", "7x", "a number from 1 to 4096: taken for 256"},
        {"PYTHIA_RING_BYTES", "100", "a number from 65536 to 1073741824: taken for 1048576"},
        {"PYTHIA_RING_BYTES", "99999999999999999999999",
         "a number from 65536 to 1073741824: taken for 1048576"},
        {"PYTHIA_FLUSH_MS", "60001", "a number from 1 to 60000: taken for 20"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv(cases[i][0], cases[i][1], 1);
        snprintf(expected_problem, sizeof(expected_problem), "%s is '%s', not %s", cases[i][0],
                 cases[i][1], cases[i][2]);
        in_child(check_problem);
        unsetenv(cases[i][0]);
    }
}

#define SLACK_NS 1000000 /* by which two clocks of one machine may disagree */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void either_clock_tells_the_same_time(void **state)
{
    static const char *const clocks[] = {"monotonic", "tsc"};
    setenv("PYTHIA_OPEN", "*", 1);
    for (size_t i = 0; i < 2; i++) {
        struct collection c;
        setenv("PYTHIA_CLOCK", clocks[i], 1);
        pythia_buf_clear(&definitions);
        uint64_t begun_ns = clock_ns(CLOCK_REALTIME);
        in_child(one);
        uint64_t now_ns = clock_ns(CLOCK_REALTIME);
        read_spans(&c);
        const struct pythia_span *span = span_at(&c, 0);
        assert_in_range(span->start_ns, begun_ns - SLACK_NS, now_ns + SLACK_NS);
        assert_in_range(span->duration_ns, 0, now_ns - begun_ns + SLACK_NS);
        collection_close(&c);
    }
}

static void sleep_a_little(void)
{
    PYTHIA_SPAN("point");
    nanosleep(&(struct timespec){0, 50000000}, NULL);
}

static void durations_are_right(void **state)
{
    static const char *const clocks[] = {"monotonic", "tsc"};
    setenv("PYTHIA_OPEN", "*", 1);
    for (size_t i = 0; i < 2; i++) {
        struct collection c;
        setenv("PYTHIA_CLOCK", clocks[i], 1);
        pythia_buf_clear(&definitions);
        uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
        in_child(sleep_a_little);
        uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns;
        read_spans(&c);
        assert_in_range(span_at(&c, 0)->duration_ns, 49990000, took_ns + SLACK_NS);
        collection_close(&c);
    }
}

/* ---- where there is nothing to be had ---- */

static void nothing_is_recorded(void)
{
    struct pythia_tracepoints_state s;
    for (int i = 0; i < 1000; i++) {
        PYTHIA_REQUEST("any");
        PYTHIA_SPAN_AS(span, "point");
        PYTHIA_ANNOTATE("note");
        assert_null(span);
    }
    pythia_tracepoints_state_get(&s);
    if (!strstr(s.problem, expected_problem))
        fail_msg("the problem is '%s', not '%s'", s.problem, expected_problem);
}

static void without_a_directory_everything_is_closed(void **state)
{
    char file[128];
    snprintf(file, sizeof(file), "%s/file", traced.directory);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    const char *cases[][2] = {
        {"/proc/nowhere", "/proc/nowhere cannot be made"},
        {file, "is not a directory"},
        {"/tmp", "may be written to by others than its owner"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("PYTHIA_DIRECTORY", cases[i][0], 1);
        snprintf(expected_problem, sizeof(expected_problem), "%s", cases[i][1]);
        in_child(nothing_is_recorded);
    }
    setenv("PYTHIA_DIRECTORY", traced.directory, 1);
}

static void a_switchboard_that_is_refused_leaves_everything_closed(void **state)
{
    char path[128], line[256] = "";
    snprintf(path, sizeof(path), "%s/switchboard-2", traced.directory);
    FILE *file = fopen(path, "r+");
    assert_non_null(fgets(line, sizeof(line), file));
    rewind(file);
    fputs("pythia-switchboard 7", file);
    fclose(file);
    snprintf(expected_problem, sizeof(expected_problem), "is of another version than 1");
    in_child(nothing_is_recorded);
    file = fopen(path, "w");
    fputs(line, file);
    fclose(file);
}

/* Somebody holds the lock, and may never give it back: he is stopped, say. */
static void time_the_first_pass(void)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < 1000; i++)
        one();
    clock_gettime(CLOCK_MONOTONIC, &after);
    double seconds =
        (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    /* 20 ms of waiting, and not a thousand times */
    check_time(seconds < 2, "%g s for a thousand hits", seconds);
}

static void nobody_is_waited_for(void **state)
{
    char path[128];
    assert_int_equal(pythia_switchboard_remove(traced.directory, NULL), 0);
    snprintf(path, sizeof(path), "%s/switchboard.lock", traced.directory);
    int lock = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    in_child(time_the_first_pass);
    close(lock);
}

static void little_address_space(void)
{
    const struct rlimit limit = {200 << 20, 200 << 20};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    for (int i = 0; i < 10; i++)
        one();
}

/* 256 rings do not fit: fewer will do. */
static void rings_are_fewer_where_there_is_little_room(void **state)
{
    struct collection c;
    if (SANITIZED)
        skip(); /* they need all of it themselves */
    setenv("PYTHIA_OPEN", "*", 1);
    in_child(little_address_space);
    read_spans(&c);
    assert_int_equal(c.count, 10);
    collection_close(&c);
}

static void no_address_space(void)
{
    const struct rlimit limit = {60 << 20, 60 << 20};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    snprintf(expected_problem, sizeof(expected_problem), "no shared memory");
    nothing_is_recorded();
}

static void no_room_stops_nobody(void **state)
{
    if (SANITIZED)
        skip();
    setenv("PYTHIA_OPEN", "*", 1);
    in_child(no_address_space);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(points_may_be_opened_by_the_environment),
        TEST(or_by_a_file_that_it_names),
        TEST(a_file_may_open_points_for_some_requests),
        TEST(others_do_not_see_what_the_environment_opens),
        TEST(a_service_is_called_as_the_environment_says_or_as_its_file),
        TEST(a_program_may_choose_what_the_environment_leaves_open),
        TEST(numbers_that_are_none_are_told),
        TEST(either_clock_tells_the_same_time),
        TEST(durations_are_right),
        TEST(without_a_directory_everything_is_closed),
        TEST(a_switchboard_that_is_refused_leaves_everything_closed),
        TEST(nobody_is_waited_for),
        TEST(rings_are_fewer_where_there_is_little_room),
        TEST(no_room_stops_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
