/* The plane "probe" with a pythia-probe that the test plays: its end of the socket, and rings that
 * are files. The program is this test itself, whose notes are as elf_notes.h writes them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../adapters/elf_notes.h"
#include "check.h"
#include "plane.h"
#include "pythia/control_probe.h"
#include "pythia/kernel_points.h"
#include "pythia/probe_hit.h"
#include "pythia/probe_rings.h"
#include "pythia/records.h"
#include "pythia/status.h"

static char folder[] = "/tmp/control_probe.XXXXXX", program[64], library[64], rules[64],
            with_library[64], socket_path[64];
static struct pythia_control *plane;
static int listener, helper, ring;
static uint64_t now_ns;

static void write_file(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

static int begin_files(void **state)
{
    struct elf_notes n;
    char text[512];
    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof(program), "%s/program", folder);
    snprintf(rules, sizeof(rules), "%s/rules", folder);
    snprintf(socket_path, sizeof(socket_path), "%s/socket", folder);
    elf_notes_begin(&n);
    memcpy(n.bytes + CODE + 0x40, "\x48\x89\xe5", 3); /* mov: a single step */
    ELF_NOTE(&n, 0x401020, 0, "p\0sell__start\0");
    ELF_NOTE(&n, 0x401030, 0, "p\0sell__done\0");
    ELF_NOTE(&n, 0x401040, 0, "p\0slow__start\0");
    ELF_NOTE(&n, 0x401050, 0, "p\0slow__done\0");
    ELF_NOTE(&n, 0x401060, 0, "p\0half__start\0");
    write_file(program, n.bytes, n.size);
    elf_notes_free(&n);
    int size = snprintf(text, sizeof(text),
                        "service: shop\nprovider: p\nprograms: [%s, /nowhere/shop]\npoints:\n"
                        "  sell: {request: true}\n  slow: {}\n  half: {}\n",
                        program);
    write_file(rules, text, (size_t)size);
    elf_notes_begin(&n);
    ELF_NOTE(&n, 0x401020, 0, "p\0wait__start\0");
    ELF_NOTE(&n, 0x401030, 0, "p\0wait__done\0");
    snprintf(library, sizeof(library), "%s/library", folder);
    snprintf(with_library, sizeof(with_library), "%s/with_library", folder);
    write_file(library, n.bytes, n.size);
    elf_notes_free(&n);
    size = snprintf(text, sizeof(text),
                    "service: shop\nprovider: p\nprograms: [%s, %s]\npoints:\n"
                    "  sell: {request: true}\n  wait: {}\n",
                    program, library);
    write_file(with_library, text, (size_t)size);
    return 0;
}

static int end_files(void **state)
{
    unlink(program);
    unlink(rules);
    unlink(library);
    unlink(with_library);
    unlink(socket_path);
    return rmdir(folder);
}

static void listen_as_helper(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, socket_path, strlen(socket_path));
    unlink(socket_path);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 4), 0);
}

static void begin_with(const char *file, const char *further)
{
    char a[80], b[80];
    snprintf(a, sizeof(a), "rules=%s", file);
    snprintf(b, sizeof(b), "socket=%s", socket_path);
    const char *settings[] = {a, b, further, NULL};
    listen_as_helper();
    helper = ring = -1;
    now_ns = 100 * S;
    plane = plane_make("probe", settings);
}

static int begin(void **state)
{
    begin_with(rules, NULL);
    return 0;
}

static int end(void **state)
{
    plane->ops->destroy(plane);
    close(listener);
    close(helper);
    close(ring);
    return 0;
}

static void expect_observed(const char *expected)
{
    struct pythia_buf got = {0};
    now_ns += S;
    plane_observe(plane, now_ns, &got);
    assert_string_equal(got.size ? got.bytes : "", expected);
    pythia_buf_free(&got);
}

/* Take the plane's connection, and give it a ring. */
static void greet(void)
{
    char text[] = "rings 1 nop5=600 nop=800 push=900 branch=950 step=20000";
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {text, sizeof(text) - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    helper = accept(listener, NULL, NULL);
    assert_true(helper >= 0);
    ring = memfd_create("ring", MFD_CLOEXEC);
    assert_int_equal(ftruncate(ring, (1 + PYTHIA_PROBE_RING_PAGES) * sysconf(_SC_PAGESIZE)), 0);
    control.head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.head), &ring, sizeof(ring));
    assert_int_equal(sendmsg(helper, &message, 0), sizeof(text) - 1);
}

/* The plane has sent this about a probe, and is answered; `after` stands after the id. */
static void serve_of(const char *verb, const char *probe, const char *path, const char *answer,
                     const char *after)
{
    char got[512], expected[512];
    ssize_t size = recv(helper, got, sizeof(got) - 1, MSG_DONTWAIT);
    assert_true(size > 0);
    got[size] = '\0';
    snprintf(expected, sizeof(expected), "%s p:%s %s", verb, probe, path);
    assert_string_equal(got, expected);
    int bytes = snprintf(got, sizeof(got), "%s p:%s %s%s", answer, probe, path, after);
    assert_int_equal(send(helper, got, (size_t)bytes, 0), bytes);
}

static void serve(const char *verb, const char *probe, const char *answer)
{
    serve_of(verb, probe, program, answer, "");
}

static void expect_silence(void)
{
    char got[16];
    assert_int_equal(recv(helper, got, sizeof(got), MSG_DONTWAIT), -1);
}

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

/* A record of the ring, as the kernel would write it. */
static void add_hit_of(uint64_t thread, uint64_t time_ns, uint32_t number)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct perf_event_mmap_page *head =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
    struct {
        struct perf_event_header head;
        uint32_t bytes;
        char hit[sizeof(struct pythia_probe_hit)];
        uint32_t zeros;
    } record = {.head = {.type = PERF_RECORD_SAMPLE, .size = sizeof(record)},
                .bytes = sizeof(record.hit) + 4};
    const struct pythia_probe_hit hit = {.time_ns = time_ns, .thread = thread, .number = number};
    memcpy(record.hit, &hit, sizeof(hit));
    memcpy((char *)head + page + head->data_head, &record, sizeof(record));
    head->data_head += sizeof(record);
    munmap(head, 2 * page);
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

static void read_twice(struct pythia_probe_feed *feed, struct pythia_buf *frames)
{
    struct pythia_error e = {0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pythia_probe_feed_read(feed, frames, &e), PYTHIA_OK);
}

/* A hit of a thread that lives. */
static void add_own_hit(uint64_t time_ns, uint32_t number)
{
    add_hit_of((uint64_t)getpid() << 32 | (uint64_t)getpid(), time_ns, number);
}

static int add_note(void *context, const struct pythia_control_point *point)
{
    if (point->note)
        pythia_buf_printf(context, "%.*s %s\n", (int)point->id.size, point->id.bytes, point->note);
    return PYTHIA_OK;
}

static void expect_notes(const char *expected)
{
    struct pythia_buf got = {0};
    pythia_buf_puts(&got, "");
    assert_int_equal(plane->ops->inventory(plane, add_note, &got), PYTHIA_OK);
    assert_string_equal(got.size ? got.bytes : "", expected);
    pythia_buf_free(&got);
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

/* ---- the kernel ---- */

static void serve_kernel(const char *verb, const char *event, const char *answer)
{
    char got[128], expected[128];
    ssize_t size = recv(helper, got, sizeof(got) - 1, MSG_DONTWAIT);
    assert_true(size > 0);
    got[size] = '\0';
    snprintf(expected, sizeof(expected), "%s kernel:%s /sys/kernel/tracing", verb, event);
    assert_string_equal(got, expected);
    int bytes = snprintf(got, sizeof(got), "%s kernel:%s /sys/kernel/tracing%s", answer, event,
                         answer[0] == 'r' ? ": there is no tracefs" : "");
    assert_int_equal(send(helper, got, (size_t)bytes, 0), bytes);
}

static void begin_with_kernel(const char *limit)
{
    char text[512];
    int size = snprintf(text, sizeof(text),
                        "service: shop\nprovider: p\nprograms: [%s]\npoints:\n"
                        "  sell: {request: true}\n  slow: {kernel: [page_faults, block_io]}\n",
                        program);
    write_file(with_library, text, (size_t)size);
    begin_with(with_library, limit);
    expect_observed("shop shop:sell applied 0\nshop shop:slow applied 0\n");
    greet();
    assert_int_equal(plane_apply(plane, "shop:slow", 7, now_ns), PYTHIA_OK);
    serve("within", "slow__start", "attached 1");
    serve("within", "slow__done", "attached 2");
}

static void the_kernel_is_asked_while_a_point_that_needs_it_is_open(void **state)
{
    begin_with_kernel(NULL);
    serve_kernel("within", "page_fault", "attached 3");
    expect_observed("shop shop:sell applied 7\nshop shop:slow pending 0\n");
    serve_kernel("within", "block_issue", "attached 4");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    expect_silence();
    assert_int_equal(plane_apply(plane, "shop:sell", 8, now_ns), PYTHIA_OK);
    serve("enter 0", "sell__start", "attached 5");
    serve("leave 0", "sell__done", "attached 6");
    serve("detach", "slow__start", "detached");
    serve("detach", "slow__done", "detached");
    serve_kernel("detach", "page_fault", "detached");
    serve_kernel("detach", "block_issue", "detached");
    expect_observed("shop shop:sell applied 8\nshop shop:slow applied 8\n");
    expect_silence();
}

/* Root has not listed it: the point is open, without these keys. */
static void a_point_is_open_without_the_kernel_too(void **state)
{
    begin_with_kernel(NULL);
    serve_kernel("within", "page_fault", "refused");
    serve_kernel("within", "block_issue", "refused");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    expect_silence();
}

static int add_layer(void *context, const struct pythia_control_point *point)
{
    pythia_buf_printf(context, "%.*s %s %d\n", (int)point->id.size, point->id.bytes,
                      pythia_layer_name(point->layer), !isnan(point->price_ns));
    return PYTHIA_OK;
}

/* A line each: id, layer, whether its price is known. */
static void expect_layers(const char *expected)
{
    struct pythia_buf got = {0};
    assert_int_equal(plane->ops->inventory(plane, add_layer, &got), PYTHIA_OK);
    assert_string_equal(got.bytes, expected);
    pythia_buf_free(&got);
}

static void begin_with_waits(const char *limit)
{
    char text[512];
    int size = snprintf(text, sizeof(text),
                        "service: shop\nprovider: p\nprograms: [%s]\npoints:\n"
                        "  sell: {request: true}\n  futex: {wait: futex}\n",
                        program);
    write_file(with_library, text, (size_t)size);
    begin_with(with_library, limit);
    expect_observed("shop shop:sell applied 0\nshop shop:futex applied 0\n");
    greet();
}

static const char *const wait_events[] = {"switch_out", "switch_in", "waking", "system_call",
                                          "system_return"};

/* Its events alone are asked for. A wait has no price that was measured, and is the kernel's. */
static void a_wait_is_a_point_of_the_kernel(void **state)
{
    begin_with_waits(NULL);
    assert_int_equal(plane_apply(plane, "shop:futex", 7, now_ns), PYTHIA_OK);
    for (size_t i = 0; i < 4; i++)
        serve_kernel("within", wait_events[i], "attached 3");
    expect_observed("shop shop:sell applied 7\nshop shop:futex pending 0\n");
    serve_kernel("within", wait_events[4], "attached 4");
    expect_observed("shop shop:sell applied 7\nshop shop:futex applied 7\n");
    expect_layers("shop:sell application 1\nshop:futex kernel 0\n");
    expect_silence();
}

static void a_wait_is_refused_without_the_kernel(void **state)
{
    begin_with_waits(NULL);
    assert_int_equal(plane_apply(plane, "shop:futex", 7, now_ns), PYTHIA_OK);
    for (size_t i = 0; i < 5; i++)
        serve_kernel("within", wait_events[i], "refused");
    expect_observed("shop shop:sell applied 7\nshop shop:futex refused 0\n");
}

/* 90 hits are sampled of those outside of requests, with numbers from `first` to `last`, in a second
 * or more. A hit costs 133 ns, a sixth of a nop: they stand for .77 ms, and surely for .53. */
static void hit_the_kernel_outside(uint32_t first, uint32_t last)
{
    struct pythia_buf frames = {0};
    struct pythia_probe_feed *feed = pythia_control_probe_feed(plane);
    read_twice(feed, &frames);
    now_ns += S;
    struct pythia_buf got = {0};
    plane_observe(plane, now_ns, &got);
    for (uint32_t i = 0; i < 90; i++)
        add_hit_of(0, 10, PYTHIA_PROBE_OUTSIDE | (first + i % (last - first + 1)));
    nanosleep(&(struct timespec){1, 1000000}, NULL); /* between two counts */
    read_twice(feed, &frames);
    pythia_probe_feed_release(feed);
    pythia_buf_free(&frames);
    pythia_buf_free(&got);
}

static void open_kernel_points(const char *limit)
{
    begin_with_kernel(limit);
    serve_kernel("within", "page_fault", "attached 3");
    serve_kernel("within", "block_issue", "attached 4");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
}

/* The point is open without its key; what else it asks of the kernel stays. */
static void events_of_the_kernel_that_cost_much_outside_of_requests_are_closed(void **state)
{
    open_kernel_points("outside-ns=100000");
    hit_the_kernel_outside(3, 3);
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    serve_kernel("detach", "page_fault", "detached");
    expect_notes("shop:slow lacks keys of the kernel, which cost too much outside of requests\n");
    expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
    expect_silence();
    assert_int_equal(plane_apply(plane, "", 8, now_ns), PYTHIA_OK);
    serve("detach", "slow__start", "detached");
    serve("detach", "slow__done", "detached");
    serve_kernel("detach", "block_issue", "detached");
    expect_notes("");
    assert_int_equal(plane_apply(plane, "shop:slow", 9, now_ns), PYTHIA_OK);
    expect_observed("shop shop:sell applied 9\nshop shop:slow pending 0\n");
    serve("within", "slow__start", "attached 5");
    serve("within", "slow__done", "attached 6");
    serve_kernel("within", "block_issue", "attached 7");
    expect_silence(); /* nothing asks for it again so soon, */
    expect_observed("shop shop:sell applied 9\nshop shop:slow applied 9\n");
    now_ns += 590 * S;
    expect_observed("shop shop:sell applied 9\nshop shop:slow applied 9\n");
    serve("within", "slow__start", "attached 5");
    serve("within", "slow__done", "attached 6");
    serve_kernel("within", "block_issue", "attached 7");
    now_ns += 8 * S;
    expect_observed("shop shop:sell applied 9\nshop shop:slow pending 0\n");
    serve("within", "slow__start", "attached 5");
    serve("within", "slow__done", "attached 6");
    serve_kernel("within", "page_fault", "attached 8"); /* but after ten minutes */
    serve_kernel("within", "block_issue", "attached 7");
    expect_notes("");
    expect_observed("shop shop:sell applied 9\nshop shop:slow applied 9\n");
}

static void events_of_the_kernel_may_cost_a_little_outside_of_requests(void **state)
{
    static const char *const limits[] = {"outside-ns=700000", "outside-ns=0"};
    for (size_t i = 0; i < 2; i++) {
        open_kernel_points(limits[i]);
        hit_the_kernel_outside(3, 3);
        expect_observed("shop shop:sell applied 7\nshop shop:slow applied 7\n");
        expect_silence();
        expect_notes("");
        if (i == 0)
            end(NULL);
    }
}

/* The events of a topic are counted together, and closed together. */
static void a_wait_that_costs_much_outside_of_requests_is_refused(void **state)
{
    static const char *const numbers[] = {"attached 3", "attached 4", "attached 5", "attached 6",
                                          "attached 7"};
    begin_with_waits("outside-ns=100000");
    assert_int_equal(plane_apply(plane, "shop:futex", 7, now_ns), PYTHIA_OK);
    for (size_t i = 0; i < 5; i++)
        serve_kernel("within", wait_events[i], numbers[i]);
    expect_observed("shop shop:sell applied 7\nshop shop:futex applied 7\n");
    hit_the_kernel_outside(3, 7);
    expect_observed("shop shop:sell applied 7\nshop shop:futex refused 0\n");
    for (size_t i = 0; i < 5; i++)
        serve_kernel("detach", wait_events[i], "detached");
    expect_observed("shop shop:sell applied 7\nshop shop:futex refused 0\n");
    expect_silence();
    assert_int_equal(plane_apply(plane, "", 8, now_ns), PYTHIA_OK); /* it is quarantined */
    expect_observed("shop shop:sell applied 8\nshop shop:futex applied 8\n");
    expect_notes("shop:futex costs too much outside of requests\n");
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
        WITHOUT_PLANE(the_kernel_is_asked_while_a_point_that_needs_it_is_open),
        WITHOUT_PLANE(a_point_is_open_without_the_kernel_too),
        WITHOUT_PLANE(a_wait_is_a_point_of_the_kernel),
        WITHOUT_PLANE(a_wait_is_refused_without_the_kernel),
        WITHOUT_PLANE(events_of_the_kernel_that_cost_much_outside_of_requests_are_closed),
        WITHOUT_PLANE(events_of_the_kernel_may_cost_a_little_outside_of_requests),
        WITHOUT_PLANE(a_wait_that_costs_much_outside_of_requests_is_refused),
        cmocka_unit_test(wrong_settings_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, begin_files, end_files);
}
