/* The plane "probe": the trace points of the kernel that its points need. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "check.h"
#include "plane.h"
#include "probe_helper.h"
#include "pythia/kernel_points.h"
#include "pythia/probe_hit.h"
#include "pythia/status.h"

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

/* 90 hits are sampled of those outside of requests, with numbers from `first` to `last`, in a
 * second or more. A hit costs 133 ns, a sixth of a nop: they stand for .77 ms, surely for .53. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_kernel_is_asked_while_a_point_that_needs_it_is_open, end),
        cmocka_unit_test_teardown(a_point_is_open_without_the_kernel_too, end),
        cmocka_unit_test_teardown(a_wait_is_a_point_of_the_kernel, end),
        cmocka_unit_test_teardown(a_wait_is_refused_without_the_kernel, end),
        cmocka_unit_test_teardown(
            events_of_the_kernel_that_cost_much_outside_of_requests_are_closed, end),
        cmocka_unit_test_teardown(events_of_the_kernel_may_cost_a_little_outside_of_requests, end),
        cmocka_unit_test_teardown(a_wait_that_costs_much_outside_of_requests_is_refused, end),
    };
    return cmocka_run_group_tests(tests, begin_files, end_files);
}
