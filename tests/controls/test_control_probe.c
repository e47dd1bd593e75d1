/* The plane "probe": its points, their probes, and the processes that these are in. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "plane.h"
#include "probe_helper.h"
#include "pythia/kernel_points.h"
#include "pythia/probe_hit.h"
#include "pythia/records.h"
#include "pythia/status.h"

/* Of two points, each with two probes; the ten trace points of the kernel are counted, too. */
static void time_to_obey_follows_the_answers_of_a_slow_kernel(void **state)
{
    const uint64_t usual = 2 * S + (4 + PYTHIA_KERNEL_EVENTS) * S / 4;
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    greet();
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    now_ns += 99 * S;
    expect_observed("shop shop:sell pending 0\nshop shop:slow applied 7\n");
    assert_int_equal(plane->ops->latency_ns(plane), usual); /* silence is no reason */
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n"); /* 101 s after */
    assert_int_equal(plane->ops->latency_ns(plane),
                     2 * S + (4 + PYTHIA_KERNEL_EVENTS) * (101 * S / 2));
    assert_int_equal(plane_apply(plane, "", 8, now_ns), PYTHIA_OK);
    serve("detach", "sell__start", "detached");
    serve("detach", "sell__done", "detached");
    expect_observed("shop shop:sell applied 8\nshop shop:slow applied 8\n");
    assert_int_equal(plane->ops->latency_ns(plane),
                     2 * S + (4 + PYTHIA_KERNEL_EVENTS) * (S / 2)); /* two in a second */
}

static void points_are_offered_once_their_price_is_known(void **state)
{
    struct pythia_buf got = {0};
    pythia_buf_puts(&got, "");
    plane_inventory(plane, &got);
    assert_int_equal(got.size, 0);
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    greet();
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    plane_inventory(plane, &got); /* half has no second probe */
    assert_string_equal(got.bytes, "shop shop:sell 1600 0\nshop shop:slow 20800 0\n");
    static const char renewed[] = "prices nop5=600 nop=900 push=900 branch=950 step=30000";
    assert_int_equal(send(helper, renewed, sizeof(renewed) - 1, 0), sizeof(renewed) - 1);
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    pythia_buf_clear(&got);
    plane_inventory(plane, &got);
    assert_string_equal(got.bytes, "shop shop:sell 1800 0\nshop shop:slow 30900 0\n");
    pythia_buf_free(&got);
}

static void connect_plane(void)
{
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    greet();
}

static void a_point_is_open_when_both_of_its_probes_are(void **state)
{
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    expect_observed("shop shop:sell pending 0\nshop shop:slow applied 7\n");
    serve("enter 0", "sell__start", "attached 1");
    expect_observed("shop shop:sell pending 0\nshop shop:slow applied 7\n");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    assert_int_equal(plane_apply(plane, "", 8, now_ns), PYTHIA_OK);
    expect_observed("shop shop:sell pending 0\nshop shop:slow applied 8\n");
    serve("detach", "sell__start", "detached");
    serve("detach", "sell__done", "detached");
    expect_observed("shop shop:sell applied 8\nshop shop:slow applied 8\n");
    expect_silence();
}

static void leases_are_renewed(void **state)
{
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    now_ns += 10 * S;
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    serve("enter 0", "sell__start", "attached 3"); /* the program was replaced: another number */
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    expect_silence();
}

static void what_is_refused_is_reported_and_not_asked_for_again(void **state)
{
    char message[512];
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:slow shop:none", 7, now_ns), PYTHIA_OK);
    serve("within", "slow__start", "attached 1");
    ssize_t size = recv(helper, message, sizeof(message), MSG_DONTWAIT);
    assert_true(size > 0);
    int bytes =
        snprintf(message, sizeof(message), "refused p:slow__done %s: too expensive", program);
    assert_int_equal(send(helper, message, (size_t)bytes, 0), bytes);
    expect_observed("shop shop:sell applied 7\nshop shop:slow refused 0\n shop:none refused 0\n");
    expect_silence();
}

static void probes_are_lost_with_their_helper_and_come_back(void **state)
{
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    close(listener);
    close(helper);
    expect_observed("shop shop:sell lost 0\nshop shop:slow lost 0\n");
    listen_as_helper();
    close(ring);
    now_ns += S;
    expect_observed("shop shop:sell lost 0\nshop shop:slow lost 0\n");
    greet();
    expect_observed("shop shop:sell pending 0\nshop shop:slow applied 7\n");
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
}

static void off_closes_everything_at_once(void **state)
{
    char got[16];
    struct pythia_error e = {0};
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    assert_int_equal(plane->ops->off(plane, true, now_ns, &e), PYTHIA_OK);
    assert_int_equal(recv(helper, got, sizeof(got), 0), 0); /* the end of the connection */
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    assert_int_equal(plane_apply(plane, "shop:sell", 8, now_ns), PYTHIA_OK);
    expect_observed("shop shop:sell applied 8\nshop shop:slow applied 8\n");
}

static void add_hit(uint64_t time_ns, uint32_t number)
{
    add_hit_of(1, time_ns, number);
}

static void the_feed_has_the_hits_of_what_is_open(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    struct pythia_probe_feed *feed = pythia_control_probe_feed(plane);
    assert_int_equal(pythia_probe_feed_read(feed, &frames, &e), PYTHIA_OK);
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    add_hit(10, 1);
    add_hit(20, 2);
    assert_int_equal(pythia_probe_feed_read(feed, &frames, &e), PYTHIA_OK);
    assert_int_equal(pythia_probe_feed_read(feed, &frames, &e), PYTHIA_OK);
    assert_true(frames.size > 2 * 128);
    assert_memory_equal(frames.bytes, "\x89PYREC\r\n", 8);
    plane->ops->destroy(plane); /* the feed lives on */
    size_t size = frames.size;
    assert_int_equal(pythia_probe_feed_read(feed, &frames, &e), PYTHIA_OK);
    assert_int_equal(frames.size, size);
    pythia_probe_feed_release(feed);
    pythia_buf_free(&frames);
    close(listener);
    close(helper);
    close(ring);
    begin(state);
}

/* Spans that the frames count as dropped for a reason. */
static uint64_t count_dropped(const struct pythia_buf *frames, uint32_t reason)
{
    uint64_t count = 0;
    for (size_t at = 0; at < frames->size;) {
        struct pythia_frame frame;
        memcpy(&frame, frames->bytes + at, sizeof(frame));
        at += sizeof(frame);
        for (size_t end = at + frame.payload_bytes; at < end;) {
            struct pythia_record_dropped record;
            memcpy(&record, frames->bytes + at, sizeof(record));
            if (record.head.kind == PYTHIA_RECORD_DROPPED && record.head.number == reason)
                count += record.spans;
            at += record.head.bytes;
        }
    }
    return count;
}

/* A hit of a thread that lives. */
static void add_own_hit(uint64_t time_ns, uint32_t number)
{
    add_hit_of((uint64_t)getpid() << 32 | (uint64_t)getpid(), time_ns, number);
}

/* 80 hits are sampled of those outside of requests, of 10.4 us each, in a second or more: they
 * stand for 53.2 ms, and surely for 35.4. */
static void hit_outside_of_requests(void)
{
    struct pythia_buf frames = {0};
    struct pythia_probe_feed *feed = pythia_control_probe_feed(plane);
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:slow", 7, now_ns), PYTHIA_OK);
    serve("within", "slow__start", "attached 1");
    serve("within", "slow__done", "attached 2");
    read_twice(feed, &frames);
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    for (uint32_t i = 0; i < 80; i++)
        add_hit(10, PYTHIA_PROBE_OUTSIDE | (1 + i % 2));
    nanosleep(&(struct timespec){1, 1000000}, NULL); /* between two counts */
    read_twice(feed, &frames);
    pythia_probe_feed_release(feed);
    pythia_buf_free(&frames);
}

static void hits_outside_of_requests_may_cost_a_little(void **state)
{
    hit_outside_of_requests();
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    expect_silence();
}

static void begin_with_limit(const char *limit)
{
    end(NULL);
    begin_with(rules, limit);
}

static void a_point_that_costs_much_outside_of_requests_is_refused(void **state)
{
    begin_with_limit("outside-ns=1000000");
    hit_outside_of_requests();
    expect_observed("shop shop:sell applied 7\nshop shop:slow refused 0\n");
    serve("detach", "slow__start", "detached");
    serve("detach", "slow__done", "detached");
    now_ns += 10 * S;
    expect_observed("shop shop:sell applied 7\nshop shop:slow refused 0\n");
    expect_silence();
    assert_int_equal(plane_apply(plane, "", 8, now_ns), PYTHIA_OK);
    expect_observed("shop shop:sell applied 8\nshop shop:slow applied 8\n");
    expect_notes("shop:slow costs too much outside of requests\n");
    assert_int_equal(plane_apply(plane, "shop:slow", 9, now_ns), PYTHIA_OK); /* once more */
    expect_notes("");
    serve("within", "slow__start", "attached 3");
    serve("within", "slow__done", "attached 4");
    expect_observed("shop shop:sell applied 9\nshop shop:slow applied 9\n");
}

static void without_a_limit_hits_outside_of_requests_may_cost_anything(void **state)
{
    begin_with_limit("outside-ns=0");
    hit_outside_of_requests();
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    expect_silence();
}

static uint64_t read_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The first request has no end, because the probe that ends it is not attached yet. The second is
 * under way then, too, but ends. The third begins when all is done, and was left. The fourth is
 * under way when pythiad switches all probes off. */
static void requests_that_a_switch_cuts_off_are_told_from_those_that_were_left(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    struct pythia_probe_feed *feed = pythia_control_probe_feed(plane);
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 1");
    expect_observed("shop shop:sell pending 0\nshop shop:slow applied 7\n");
    add_own_hit(10, 1);
    add_own_hit(20, 1);
    read_twice(feed, &frames);
    assert_int_equal(count_dropped(&frames, PYTHIA_DROPPED_SWITCHED), 1);
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    add_own_hit(30, 2);
    add_own_hit(read_monotonic(), 1);
    add_own_hit(read_monotonic(), 1);
    read_twice(feed, &frames);
    assert_int_equal(count_dropped(&frames, PYTHIA_DROPPED_SWITCHED), 1);
    assert_int_equal(count_dropped(&frames, PYTHIA_DROPPED_ABANDONED), 1);
    assert_int_equal(plane->ops->off(plane, true, now_ns, &e), PYTHIA_OK);
    read_twice(feed, &frames);
    assert_int_equal(count_dropped(&frames, PYTHIA_DROPPED_SWITCHED), 2);
    assert_int_equal(count_dropped(&frames, PYTHIA_DROPPED_ABANDONED), 1);
    pythia_probe_feed_release(feed);
    pythia_buf_free(&frames);
}

/* pythia-probe ends, and with it all probes. */
static void requests_that_lose_their_helper_have_no_end(void **state)
{
    struct pythia_buf frames = {0};
    struct pythia_probe_feed *feed = pythia_control_probe_feed(plane);
    connect_plane();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    read_twice(feed, &frames); /* it has the rings */
    add_own_hit(read_monotonic(), 1);
    close(helper);
    expect_observed("shop shop:sell lost 0\nshop shop:slow lost 0\n");
    read_twice(feed, &frames);
    assert_int_equal(count_dropped(&frames, PYTHIA_DROPPED_ABANDONED), 1);
    assert_int_equal(count_dropped(&frames, PYTHIA_DROPPED_SWITCHED), 0);
    pythia_probe_feed_release(feed);
    pythia_buf_free(&frames);
    helper = dup(listener);
}

/* ---- processes ---- */

#define APPLIED "shop shop:sell applied 7\nshop shop:wait applied 7\n"

static pid_t begin_process(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none */
        pause();
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Request by request, each of another process: hit number 1 begins it. */
static struct pythia_probe_feed *begin_requests(const pid_t *pids, size_t count)
{
    struct pythia_probe_feed *feed = pythia_control_probe_feed(plane);
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    for (size_t i = 0; i < count; i++)
        add_hit_of((uint64_t)pids[i] << 32 | (uint64_t)pids[i], 10 + i, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pythia_probe_feed_read(feed, &frames, &e), PYTHIA_OK);
    pythia_buf_free(&frames);
    return feed;
}

static void open_points_of_library(void)
{
    begin_with(with_library, NULL);
    expect_observed("shop shop:sell applied 0\nshop shop:wait applied 0\n");
    greet();
    assert_int_equal(plane_apply(plane, "shop:sell shop:wait", 7, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 1");
    serve("leave 0", "sell__done", "attached 2");
    expect_observed(APPLIED);
    expect_silence(); /* no request was seen, so no process needs the library's probes */
}

static void probes_of_a_library_are_in_the_processes_that_have_requests(void **state)
{
    char path[128];
    pid_t pid = begin_process();
    open_points_of_library();
    struct pythia_probe_feed *feed = begin_requests(&pid, 1);
    snprintf(path, sizeof(path), "%s %d", library, (int)pid);
    expect_observed("shop shop:sell applied 7\nshop shop:wait pending 0\n");
    serve_of("within", "wait__start", path, "attached 3", "");
    serve_of("within", "wait__done", path, "attached 4", "");
    expect_observed(APPLIED);
    end_process(pid);
    for (char c; recv(helper, &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0; usleep(1000)) {
        struct pythia_buf frames = {0};
        struct pythia_error e = {0};
        assert_int_equal(pythia_probe_feed_read(feed, &frames, &e), PYTHIA_OK);
        pythia_buf_free(&frames);
        struct pythia_buf got = {0};
        plane_observe(plane, now_ns, &got);
        pythia_buf_free(&got);
    }
    serve_of("detach", "wait__start", path, "detached", "");
    serve_of("detach", "wait__done", path, "detached", "");
    expect_observed(APPLIED);
    expect_silence();
    pythia_probe_feed_release(feed);
}

static void a_process_that_ends_meanwhile_is_no_refusal(void **state)
{
    char path[128], gone[64];
    pid_t pid = begin_process();
    open_points_of_library();
    struct pythia_probe_feed *feed = begin_requests(&pid, 1);
    expect_observed("shop shop:sell applied 7\nshop shop:wait pending 0\n");
    snprintf(path, sizeof(path), "%s %d", library, (int)pid);
    snprintf(gone, sizeof(gone), ": there is no process %d", (int)pid);
    end_process(pid);
    serve_of("within", "wait__start", path, "refused", gone);
    serve_of("within", "wait__done", path, "refused", gone);
    expect_observed(APPLIED);
    pythia_probe_feed_release(feed);
}

static void probes_of_a_library_are_everywhere_if_requests_are_in_many_processes(void **state)
{
    pid_t pids[5];
    for (size_t i = 0; i < 5; i++)
        pids[i] = begin_process();
    open_points_of_library();
    struct pythia_probe_feed *feed = begin_requests(pids, 5);
    expect_observed("shop shop:sell applied 7\nshop shop:wait pending 0\n");
    serve_of("within", "wait__start", library, "attached 3", "");
    serve_of("within", "wait__done", library, "attached 4", "");
    expect_observed(APPLIED);
    expect_silence();
    for (size_t i = 0; i < 5; i++)
        end_process(pids[i]);
    pythia_probe_feed_release(feed);
}

/* In two at once each hit of the process would be reported twice. */
static void a_probe_leaves_a_process_before_it_is_opened_everywhere(void **state)
{
    char path[128];
    pid_t pids[5];
    for (size_t i = 0; i < 5; i++)
        pids[i] = begin_process();
    open_points_of_library();
    struct pythia_probe_feed *feed = begin_requests(pids, 1);
    snprintf(path, sizeof(path), "%s %d", library, (int)pids[0]);
    expect_observed("shop shop:sell applied 7\nshop shop:wait pending 0\n");
    serve_of("within", "wait__start", path, "attached 3", "");
    serve_of("within", "wait__done", path, "attached 4", "");
    expect_observed(APPLIED);
    pythia_probe_feed_release(begin_requests(pids, 5));
    expect_observed("shop shop:sell applied 7\nshop shop:wait pending 0\n");
    serve_of("detach", "wait__start", path, "detached", "");
    serve_of("detach", "wait__done", path, "detached", "");
    expect_silence();
    expect_observed("shop shop:sell applied 7\nshop shop:wait pending 0\n");
    serve("enter 0", "sell__start", "attached 1"); /* these are renewed after 5 seconds */
    serve("leave 0", "sell__done", "attached 2");
    serve_of("within", "wait__start", library, "attached 5", "");
    serve_of("within", "wait__done", library, "attached 6", "");
    expect_observed(APPLIED);
    expect_silence();
    for (size_t i = 0; i < 5; i++)
        end_process(pids[i]);
    pythia_probe_feed_release(feed);
}

static void probes_are_in_the_processes_that_the_user_names_alone(void **state)
{
    char of7[128], of8[128];
    begin_with(rules, "processes=7,8");
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    greet();
    assert_int_equal(plane_apply(plane, "shop:sell", 7, now_ns), PYTHIA_OK);
    snprintf(of7, sizeof(of7), "%s 7", program);
    snprintf(of8, sizeof(of8), "%s 8", program);
    serve_of("enter 0", "sell__start", of7, "attached 1", "");
    serve_of("enter 0", "sell__start", of8, "refused", ": there is no process 8");
    serve_of("leave 0", "sell__done", of7, "attached 3", "");
    serve_of("leave 0", "sell__done", of8, "attached 4", "");
    expect_observed("shop shop:sell refused 0\nshop shop:slow applied 7\n");
    expect_silence();
}

static void wrong_settings_are_refused_with_the_reason(void **state)
{
    struct pythia_control *c = NULL;
    struct pythia_error e = {0};
    assert_int_equal(plane_try("probe", (const char *const[]){NULL}, &c, &e), PYTHIA_EUSAGE);
    assert_string_equal(e.sentence, "a file of rules is needed");
    pythia_error_clear(&e);
    assert_int_equal(plane_try("probe", (const char *const[]){"rules=/nowhere/r", NULL}, &c, &e),
                     PYTHIA_EIO);
    assert_string_equal(e.sentence, "/nowhere/r: No such file or directory");
    static const char *const wrong[] = {"processes=",   "processes=0",         "processes=1,",
                                        "processes=x",  "processes=1,2,3,4,5", "processes=4194305",
                                        "processes=-1", "processes= 1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        pythia_error_clear(&e);
        assert_int_equal(
            plane_try("probe", (const char *const[]){"rules=/nowhere/r", wrong[i], NULL}, &c, &e),
            PYTHIA_EUSAGE);
        assert_string_equal(e.sentence,
                            "processes are numbers with commas between them, 4 at most");
    }
    assert_null(c);
}

#define WITH_PLANE(test)    cmocka_unit_test_setup_teardown(test, begin, end)
#define WITHOUT_PLANE(test) cmocka_unit_test_teardown(test, end) /* the test makes it */

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PLANE(points_are_offered_once_their_price_is_known),
        WITH_PLANE(time_to_obey_follows_the_answers_of_a_slow_kernel),
        WITH_PLANE(a_point_is_open_when_both_of_its_probes_are),
        WITH_PLANE(leases_are_renewed),
        WITH_PLANE(what_is_refused_is_reported_and_not_asked_for_again),
        WITH_PLANE(probes_are_lost_with_their_helper_and_come_back),
        WITH_PLANE(hits_outside_of_requests_may_cost_a_little),
        WITH_PLANE(a_point_that_costs_much_outside_of_requests_is_refused),
        WITH_PLANE(without_a_limit_hits_outside_of_requests_may_cost_anything),
        WITH_PLANE(off_closes_everything_at_once),
        WITH_PLANE(the_feed_has_the_hits_of_what_is_open),
        WITH_PLANE(requests_that_a_switch_cuts_off_are_told_from_those_that_were_left),
        WITH_PLANE(requests_that_lose_their_helper_have_no_end),
        WITHOUT_PLANE(probes_of_a_library_are_in_the_processes_that_have_requests),
        WITHOUT_PLANE(a_process_that_ends_meanwhile_is_no_refusal),
        WITHOUT_PLANE(probes_of_a_library_are_everywhere_if_requests_are_in_many_processes),
        WITHOUT_PLANE(a_probe_leaves_a_process_before_it_is_opened_everywhere),
        WITHOUT_PLANE(probes_are_in_the_processes_that_the_user_names_alone),
        cmocka_unit_test(wrong_settings_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, begin_files, end_files);
}
