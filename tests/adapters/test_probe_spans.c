/* Hits that a test has made, and the spans that the decoder of records makes of them. A tick is a
 * nanosecond; the epoch is 1000 ahead of the clock. */
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "collect.h"
#include "pythia/probe_spans.h"

#define NEVER UINT64_C(99999999) /* a process id that Linux does not give: 2^22 are the most */

static const char text[] = "service: shop\nprovider: p\nprograms: [/a]\npoints:\n"
                           "  sell: {request: true, type: what, keys: {what: start 2 text}}\n"
                           "  wait: {keys: {mode: start 1, result: done 1}}\n"
                           "  buy: {request: true}\n";

enum { SELL, WAIT, BUY };

static struct pythia_probe_rules rules;
static struct pythia_probe_spans *spans;
static struct pythia_buf frames;

static int begin(void **state)
{
    struct pythia_error e = {0};
    frames = (struct pythia_buf){0};
    assert_int_equal(pythia_probe_rules_parse("r", text, sizeof(text) - 1, &rules, &e), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_create(&rules, &spans), PYTHIA_OK);
    for (uint32_t i = 0; i < 6; i++) /* number 10: sell begins; 11: it ends; 12: wait begins … */
        assert_int_equal(pythia_probe_spans_define(spans, 10 + i, i / 2, i % 2), PYTHIA_OK);
    return 0;
}

static int end(void **state)
{
    pythia_probe_spans_destroy(spans);
    pythia_probe_rules_free(&rules);
    pythia_buf_free(&frames);
    return 0;
}

static int hit_with(uint64_t time_ns, uint64_t thread, uint32_t number, int64_t value,
                    const char *what)
{
    const int64_t values[2] = {value, what ? (int64_t)strlen(what) + 1 : -14};
    char slot[PYTHIA_PROBE_TEXT_BYTES] = "";
    struct pythia_probe_hit hit = {.time_ns = time_ns,
                                   .thread = thread,
                                   .number = number,
                                   .texts = what ? 2 : 0,
                                   .values = what ? 2 : 1};
    if (what)
        snprintf(slot, sizeof(slot), "%s", what);
    return pythia_probe_spans_add(spans, &hit, values, slot);
}

static void hit(uint64_t time_ns, uint64_t thread, int number)
{
    assert_int_equal(hit_with(time_ns, thread, 10 + (uint32_t)number, 0, NULL), PYTHIA_OK);
}

/* All spans so far, a line each: name, start, duration, the name of its parent, its key-values. */
static void expect(const char *expected)
{
    struct collection c;
    struct pythia_buf got = {0};
    assert_int_equal(pythia_probe_spans_take(spans, 1000, 1000, 0, &frames), PYTHIA_OK);
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.problems.size, 0);
    pythia_buf_puts(&got, "");
    for (size_t i = 0; i < c.count; i++) {
        const struct pythia_span *s = &c.spans[i].span;
        const char *parent = "-";
        pythia_buf_text_add(&got, pythia_vocabulary_tracepoint_id(c.vocabulary, s->tracepoint));
        for (size_t k = 0; k < c.count; k++)
            if (c.spans[k].span.id == s->parent) {
                assert_true(pythia_trace_id_equal(c.spans[k].trace, c.spans[i].trace));
                parent =
                    pythia_vocabulary_tracepoint_id(c.vocabulary, c.spans[k].span.tracepoint).bytes;
            }
        pythia_buf_printf(&got, " %llu+%lld in %s%s\n", (unsigned long long)s->start_ns,
                          (long long)s->duration_ns, parent, s->error ? " failed" : "");
    }
    assert_string_equal(got.bytes ? got.bytes : "", expected);
    pythia_buf_free(&got);
    collection_close(&c);
}

static void pairs_nest_by_thread(void **state)
{
    hit(10, 1, 0); /* sell */
    hit(11, 2, 4); /* buy, of another thread */
    hit(12, 1, 2); /* wait */
    hit(13, 2, 2);
    hit(17, 1, 3);
    hit(18, 2, 3);
    hit(20, 1, 1);
    hit(31, 2, 5);
    expect("shop:wait 1012+5 in shop:sell\nshop:sell 1010+10 in -\n"
           "shop:wait 1013+5 in shop:buy\nshop:buy 1011+20 in -\n");
    assert_int_equal(pythia_probe_spans_numbers(spans).spans, 4);
}

static void nothing_is_recorded_before_its_request_has_ended(void **state)
{
    hit(10, 1, 0);
    hit(12, 1, 2);
    hit(17, 1, 3);
    expect("");
    hit(20, 1, 1);
    expect("shop:wait 1012+5 in shop:sell\nshop:sell 1010+10 in -\n");
}

static void hits_outside_of_a_request_are_counted(void **state)
{
    hit(1, 1, 2);
    hit(2, 1, 3);
    hit(3, 1, 1);
    assert_int_equal(hit_with(4, 1, 99, 0, NULL), PYTHIA_OK); /* a number that nobody has */
    assert_int_equal(hit_with(4, 1, INT32_MAX, 0, NULL), PYTHIA_OK);
    expect("");
    assert_int_equal(pythia_probe_spans_numbers(spans).outside, 5);
}

/* One of 64 of them is reported: of the first point both of its probes, of the second one. */
static void a_sample_says_how_many_hits_are_outside_of_requests(void **state)
{
    static const uint32_t numbers[] = {10, 11, 11, 12, 99, INT32_MAX};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        assert_int_equal(hit_with(i, 1, PYTHIA_PROBE_OUTSIDE | numbers[i], 0, NULL), PYTHIA_OK);
    expect("");
    assert_int_equal(pythia_probe_spans_outside(spans, 0), 3 * 64);
    assert_int_equal(pythia_probe_spans_outside(spans, 1), 64);
    assert_int_equal(pythia_probe_spans_numbers(spans).outside, 6 * 64);
}

/* PostgreSQL leaves by longjmp, past the second probe. */
static void what_is_open_when_its_parent_ends_has_failed(void **state)
{
    hit(10, 1, 0);
    hit(11, 1, 2);
    hit(12, 1, 2);
    hit(20, 1, 1);
    expect("shop:wait 1012+8 in shop:wait failed\nshop:wait 1011+9 in shop:sell failed\n"
           "shop:sell 1010+10 in -\n");
}

static void a_request_that_begins_anew_was_abandoned(void **state)
{
    hit(10, 1, 0);
    hit(11, 1, 2);
    hit(30, 1, 0);
    hit(31, 1, 3); /* ends a wait of the request that is gone */
    hit(32, 1, 1);
    expect("shop:sell 1030+2 in -\n");
    assert_int_equal(pythia_probe_spans_numbers(spans).abandoned, 2);
    assert_int_equal(pythia_probe_spans_numbers(spans).unmatched, 1);
}

static void a_request_point_inside_of_another_request_is_a_part_of_it(void **state)
{
    hit(10, 1, 0);
    hit(11, 1, 4);
    hit(12, 1, 5);
    hit(13, 1, 1);
    expect("shop:buy 1011+1 in shop:sell\nshop:sell 1010+3 in -\n");
}

static void too_deep_and_too_large_requests_are_dropped_for_that_reason(void **state)
{
    hit(1, 1, 0);
    for (uint64_t i = 0; i < 40; i++)
        hit(2 + i, 1, 2);
    hit(100, 1, 1);
    hit(200, 1, 0);
    for (uint64_t i = 0; i < 4000; i++) {
        hit(201 + i, 1, 2);
        hit(201 + i, 1, 3);
    }
    hit(9000, 1, 1);
    expect("");
    struct pythia_probe_numbers n = pythia_probe_spans_numbers(spans);
    assert_true(n.oversize > 32 + 1000); /* 32 spans in each other, and 256 KiB */
    assert_int_equal(n.abandoned, 0);
    hit(9001, 1, 0);
    hit(9002, 1, 1);
    expect("shop:sell 10001+1 in -\n");
}

static void a_thread_that_is_gone_is_forgotten(void **state)
{
    hit(10, NEVER << 32 | NEVER, 0);
    hit(10, (uint64_t)getpid() << 32 | (uint64_t)getpid(), 0);
    pythia_probe_spans_forget_dead(spans);
    pythia_probe_spans_forget_dead(spans);
    hit(20, NEVER << 32 | NEVER, 1); /* the number is another thread's now */
    hit(30, (uint64_t)getpid() << 32 | (uint64_t)getpid(), 1);
    expect("shop:sell 1010+20 in -\n");
    assert_int_equal(pythia_probe_spans_numbers(spans).abandoned, 1);
}

static void many_threads_are_told_apart(void **state)
{
    for (uint64_t i = 0; i < 20000; i++)
        hit(i, i + 1, 0); /* more than may be in a request at once */
    for (uint64_t i = 0; i < 20000; i++)
        hit(20000 + i, i + 1, 1);
    assert_int_equal(pythia_probe_spans_numbers(spans).spans, 16384);
    assert_int_equal(pythia_probe_spans_numbers(spans).outside, 2 * (20000 - 16384));
}

/* ---- key-values ---- */

static void expect_key(const char *point, const char *key, const char *expected)
{
    struct collection c;
    bool found = false;
    assert_int_equal(pythia_probe_spans_take(spans, 1000, 0, 0, &frames), PYTHIA_OK);
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
    for (size_t i = 0; i < c.count; i++) {
        struct pythia_attribute a;
        struct pythia_text all = {c.attributes.bytes + c.spans[i].offset,
                                  c.spans[i].span.attributes.size};
        if (!pythia_text_equal(
                pythia_vocabulary_tracepoint_id(c.vocabulary, c.spans[i].span.tracepoint),
                pythia_text_of(point)))
            continue;
        while (pythia_attributes_next(&all, &a))
            if (pythia_text_equal(pythia_vocabulary_text(c.vocabulary, a.key),
                                  pythia_text_of(key))) {
                char number[32];
                struct pythia_text got = a.text;
                if (a.kind == PYTHIA_ATTRIBUTE_INTEGER) {
                    int size = snprintf(number, sizeof(number), "%lld", (long long)a.integer);
                    got = (struct pythia_text){number, (size_t)size};
                }
                found = true;
                assert_true(expected && pythia_text_equal(got, pythia_text_of(expected)));
            }
    }
    assert_int_equal(found, expected != NULL);
    collection_close(&c);
}

static void arguments_become_key_values(void **state)
{
    assert_int_equal(hit_with(1, 1, 10, 0, "update a set v = 3"), PYTHIA_OK);
    assert_int_equal(hit_with(2, 1, 12, -7, NULL), PYTHIA_OK);
    assert_int_equal(hit_with(3, 1, 13, 1234567890123, NULL), PYTHIA_OK);
    hit(4, 1, 1);
    expect_key("shop:sell", "what", "update a set v = 3");
    expect_key("shop:wait", "mode", "-7");
    expect_key("shop:wait", "result", "1234567890123");
}

static void a_text_that_was_not_read_is_left_out(void **state)
{
    hit(1, 1, 0); /* it has one argument, a number */
    hit(4, 1, 1);
    expect_key("shop:sell", "what", NULL);
    expect_key("shop:sell", "request_type", NULL);
}

static void requests_that_differ_in_values_are_of_one_type(void **state)
{
    const struct {
        const char *what, *type;
    } rows[] = {
        {"update acc set v = 17 where id=3", "update acc set v = ? where id=?"},
        {"select 'it is 5 o''clock', t1.c2", "select ??, t1.c2"},
        {"  select\n\t1.50 ,2  ", "select ? ,?"},
        {"select 'never closed", "select ?"},
        {"select /* 1 */ a/*x*/ from t /*route='%2Fa/1',traceparent='00-1-2-01'*/",
         "select a from t"},
        {"update a set v = v + 1, w=w+ 2", "update a set v = v+?, w=w+?"},
        {"select 1 / 2 * 3 /* cut here", "select ? / ? * ?"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        assert_int_equal(hit_with(1, 1, 10, 0, rows[i].what), PYTHIA_OK);
        hit(4, 1, 1);
        expect_key("shop:sell", "request_type", rows[i].type);
        end(state);
    }
    begin(state);
}

/* The trace context is the example of W3C Trace Context, section 3.2.3; the comment is as
 * google/sqlcommenter writes it. */
static void a_request_joins_the_trace_that_its_comment_names(void **state)
{
#define CALLER "00f067aa0ba902b7"
#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
    const struct {
        const char *what;
        bool joins;
    } rows[] = {
        {"select 1 /*db_driver='x',traceparent='00-" TRACE "-" CALLER "-01'*/", true},
        {"/*traceparent='01-" TRACE "-" CALLER "-00'*/ select 1", true},
        {"/*traceparent='ff-" TRACE "-" CALLER "-00'*/ select 1", false},
        {"/*traceparent='00-00000000000000000000000000000000-" CALLER "-00'*/", false},
        {"/*traceparent='00-" TRACE "-0000000000000000-00'*/", false},
        {"/*traceparent='00-" TRACE "-00F067aa0ba902b7-00'*/", false},
        {"/*traceparent='00-" TRACE "_" CALLER "-00'*/", false},
        {"/*traceparent='00-" TRACE "-00f067aa0ba902b", false},
        {"/*traceparent=", false},
    };
    const struct pythia_trace_id trace = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct collection c;
        begin(state);
        assert_int_equal(hit_with(1, 1, 10, 0, rows[i].what), PYTHIA_OK);
        hit(2, 1, 2);
        hit(3, 1, 3);
        hit(4, 1, 1);
        assert_int_equal(pythia_probe_spans_take(spans, 1000, 0, 0, &frames), PYTHIA_OK);
        collection_open(&c);
        collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
        assert_int_equal(c.count, 2); /* the wait, which ends first, and what it is in */
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(pythia_trace_id_equal(c.spans[k].trace, trace), rows[i].joins);
        assert_int_equal(c.spans[0].span.parent, c.spans[1].span.id);
        assert_int_equal(c.spans[1].span.parent, rows[i].joins ? 0x00f067aa0ba902b7 : 0);
        collection_close(&c);
        end(state);
    }
    begin(state);
}

/* ---- the kernel ---- */

#define EVENT_NUMBER(event) (20 + (uint32_t)(event)) /* of hits */

static void begin_with_kernel(const char *topics)
{
    char with[256];
    struct pythia_error e = {0};
    end(NULL);
    frames = (struct pythia_buf){0};
    int size = snprintf(with, sizeof(with),
                        "service: shop\nprovider: p\nprograms: [/a]\npoints:\n"
                        "  sell: {request: true, kernel: [%s]}\n  wait: {kernel: [%s]}\n",
                        topics, topics);
    assert_int_equal(pythia_probe_rules_parse("r", with, (size_t)size, &rules, &e), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_create(&rules, &spans), PYTHIA_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pythia_probe_spans_define(spans, 10 + i, i / 2, i % 2), PYTHIA_OK);
    for (unsigned i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        assert_int_equal(pythia_probe_spans_define_kernel(spans, i, EVENT_NUMBER(i)), PYTHIA_OK);
}

static void event(uint64_t time_ns, enum pythia_kernel_event event, int64_t value)
{
    assert_int_equal(hit_with(time_ns, 1, EVENT_NUMBER(event), value, NULL), PYTHIA_OK);
}

/* The thread is off from `time_ns` on, is woken 10 later, and runs 3 after that. */
static void wait_in(uint64_t time_ns, int64_t call, int64_t sleeps)
{
    if (call >= 0)
        event(time_ns - 1, PYTHIA_KERNEL_SYSTEM_CALL, call);
    event(time_ns, PYTHIA_KERNEL_SWITCH_OUT, sleeps);
    event(time_ns + 10, PYTHIA_KERNEL_WAKING, 0);
    event(time_ns + 13, PYTHIA_KERNEL_SWITCH_IN, 0);
    if (call >= 0)
        event(time_ns + 14, PYTHIA_KERNEL_SYSTEM_RETURN, 0);
}

/* Numbers of calls are those of <asm/unistd_64.h>; states those of the trace point sched_switch. */
static void waits_are_told_by_their_reason(void **state)
{
    enum { RUNNING, INTERRUPTIBLE, UNINTERRUPTIBLE, PREEMPTED = 256 };
    static const struct {
        int64_t call, sleeps;
        const char *key, *queue;
    } rows[] = {
        {202, INTERRUPTIBLE, "kernel.futex_ns", "3"},
        {230, INTERRUPTIBLE, "kernel.sleep_ns", "3"},
        {45, INTERRUPTIBLE, "kernel.network_ns", "3"},
        {232, INTERRUPTIBLE, "kernel.poll_ns", "3"},
        {75, UNINTERRUPTIBLE, "kernel.block_io_ns", "3"},
        {75, INTERRUPTIBLE, "kernel.block_io_ns", "3"},
        {0, UNINTERRUPTIBLE, "kernel.block_io_ns", "3"},    /* read */
        {-1, UNINTERRUPTIBLE, "kernel.block_io_ns", "3"},   /* a page that is read */
        {0, INTERRUPTIBLE, "kernel.other_wait_ns", "3"},    /* of a pipe */
        {11, UNINTERRUPTIBLE, "kernel.other_wait_ns", "3"}, /* munmap: a lock of the kernel */
        {335, UNINTERRUPTIBLE, "kernel.block_io_ns", "3"},  /* uretprobe: not the program's */
        {202, RUNNING, NULL, "13"},
        {202, PREEMPTED, NULL, "13"},
    };
    static const char *const keys[] = {"kernel.futex_ns",    "kernel.sleep_ns",
                                       "kernel.network_ns",  "kernel.poll_ns",
                                       "kernel.block_io_ns", "kernel.other_wait_ns"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin_with_kernel("waits");
        hit(1, 1, 0);
        wait_in(10, rows[i].call, rows[i].sleeps);
        hit(40, 1, 1);
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            expect_key("shop:sell", keys[k],
                       rows[i].key && strcmp(keys[k], rows[i].key) == 0 ? "10" : "0");
        expect_key("shop:sell", "kernel.run_queue_ns", rows[i].queue);
        expect_key("shop:sell", "kernel.block_requests", NULL);
        expect_key("shop:sell", "kernel.system_calls", NULL);
    }
}

static void a_span_has_what_happened_while_it_was_open(void **state)
{
    begin_with_kernel("waits, block_io, page_faults, system_calls");
    hit(1, 1, 0);
    wait_in(10, 202, 1);
    event(25, PYTHIA_KERNEL_BLOCK_ISSUE, 4096);
    hit(30, 1, 2);
    wait_in(40, 202, 1);
    event(55, PYTHIA_KERNEL_PAGE_FAULT, 0);
    event(56, PYTHIA_KERNEL_BLOCK_ISSUE, 8192);
    hit(60, 1, 3);
    event(65, PYTHIA_KERNEL_PAGE_FAULT, 0);
    hit(70, 1, 1);
    event(80, PYTHIA_KERNEL_PAGE_FAULT, 0); /* after the request */
    expect_key("shop:wait", "kernel.futex_ns", "10");
    expect_key("shop:sell", "kernel.futex_ns", "20");
    expect_key("shop:wait", "kernel.block_requests", "1");
    expect_key("shop:wait", "kernel.block_bytes", "8192");
    expect_key("shop:sell", "kernel.block_requests", "2");
    expect_key("shop:sell", "kernel.block_bytes", "12288");
    expect_key("shop:wait", "kernel.page_faults", "1");
    expect_key("shop:sell", "kernel.page_faults", "2");
    expect_key("shop:wait", "kernel.system_calls", "1");
    expect_key("shop:sell", "kernel.system_calls", "2");
    expect_key("shop:sell", "kernel.system_call_ns", "30");
    assert_int_equal(pythia_probe_spans_numbers(spans).outside, 1);
}

/* The request begins at 10, and a span in it at 30. What was sent at 5 is of the request before. */
static void a_retransmit_is_of_the_spans_that_were_open_when_it_was_sent(void **state)
{
    begin_with_kernel("retransmits");
    hit(10, 1, 0);
    event(11, PYTHIA_KERNEL_RETRANSMIT, 5);
    event(25, PYTHIA_KERNEL_RETRANSMIT, 20); /* before the span */
    hit(30, 1, 2);
    event(40, PYTHIA_KERNEL_RETRANSMIT, 20); /* in it, but sent before */
    event(50, PYTHIA_KERNEL_RETRANSMIT, 30);
    event(60, PYTHIA_KERNEL_RETRANSMIT, 45);
    hit(70, 1, 3);
    event(80, PYTHIA_KERNEL_RETRANSMIT, 45); /* after the span */
    hit(90, 1, 1);
    event(99, PYTHIA_KERNEL_RETRANSMIT, 45); /* after the request */
    expect_key("shop:wait", "kernel.retransmits", "2");
    expect_key("shop:sell", "kernel.retransmits", "5");
    assert_int_equal(pythia_probe_spans_numbers(spans).outside, 1);
}

/* Whether a thread is in a request or not: such a hit has none. */
static void a_sample_says_how_many_events_of_the_kernel_are_outside_of_requests(void **state)
{
    const uint32_t number = EVENT_NUMBER(PYTHIA_KERNEL_PAGE_FAULT);
    begin_with_kernel("page_faults");
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(hit_with(10 + i, 0, PYTHIA_PROBE_OUTSIDE | number, 0, NULL), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_kernel_outside(spans, PYTHIA_KERNEL_PAGE_FAULT), 3 * 64);
    assert_int_equal(pythia_probe_spans_kernel_outside(spans, PYTHIA_KERNEL_WAKING), 0);
    assert_int_equal(pythia_probe_spans_numbers(spans).outside, 3 * 64);
}

static void retransmits_are_unknown_without_the_events_that_find_the_sender(void **state)
{
    static const enum pythia_kernel_event needed[] = {PYTHIA_KERNEL_CONNECT, PYTHIA_KERNEL_SEND,
                                                      PYTHIA_KERNEL_RETRANSMIT};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        begin_with_kernel("retransmits, page_faults");
        assert_int_equal(pythia_probe_spans_define_kernel(spans, needed[i], 0), PYTHIA_OK);
        hit(10, 1, 0);
        hit(20, 1, 1);
        expect_key("shop:sell", "kernel.retransmits", NULL);
        expect_key("shop:sell", "kernel.page_faults", "0");
    }
}

/* ---- waits that are spans ---- */

enum { FUTEX = 2, QUEUE = 3 }; /* points */

static void begin_with_waits(void)
{
    static const char with[] = "service: shop\nprovider: p\nprograms: [/a]\npoints:\n"
                               "  sell: {request: true}\n  work: {}\n"
                               "  futex: {wait: futex}\n  queue: {wait: run_queue}\n";
    struct pythia_error e = {0};
    end(NULL);
    frames = (struct pythia_buf){0};
    assert_int_equal(pythia_probe_rules_parse("r", with, sizeof(with) - 1, &rules, &e), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_create(&rules, &spans), PYTHIA_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pythia_probe_spans_define(spans, 10 + i, i / 2, i % 2), PYTHIA_OK);
    for (unsigned i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        assert_int_equal(pythia_probe_spans_define_kernel(spans, i, EVENT_NUMBER(i)), PYTHIA_OK);
}

/* The thread is off for 10, and waits for a processor for 3. */
static void a_wait_is_a_child_of_the_span_that_is_open(void **state)
{
    begin_with_waits();
    pythia_probe_spans_open_wait(spans, FUTEX, true);
    pythia_probe_spans_open_wait(spans, QUEUE, true);
    hit(1, 1, 0);
    wait_in(10, 202, 1);
    hit(30, 1, 2);
    wait_in(40, 202, 1);
    wait_in(60, 230, 1); /* no point is open for sleep; the queue's is */
    hit(80, 1, 3);
    hit(90, 1, 1);
    expect("shop:futex 1010+10 in shop:sell\nshop:queue 1020+3 in shop:sell\n"
           "shop:futex 1040+10 in shop:work\nshop:queue 1050+3 in shop:work\n"
           "shop:queue 1070+3 in shop:work\n"
           "shop:work 1030+50 in shop:sell\nshop:sell 1001+89 in -\n");
    assert_int_equal(pythia_probe_spans_numbers(spans).spans, 7);
}

static void a_wait_is_recorded_while_its_point_is_open(void **state)
{
    begin_with_waits();
    hit(1, 1, 0);
    wait_in(10, 202, 1);
    pythia_probe_spans_open_wait(spans, FUTEX, true);
    wait_in(40, 202, 1);
    pythia_probe_spans_open_wait(spans, FUTEX, false);
    wait_in(60, 202, 1);
    hit(90, 1, 1);
    expect("shop:futex 1040+10 in shop:sell\nshop:sell 1001+89 in -\n");
}

/* Without system calls a wait for a lock would be one for something else. */
static void a_wait_whose_reason_is_not_known_is_left_out(void **state)
{
    begin_with_waits();
    pythia_probe_spans_open_wait(spans, FUTEX, true);
    pythia_probe_spans_open_wait(spans, QUEUE, true);
    assert_int_equal(pythia_probe_spans_define_kernel(spans, PYTHIA_KERNEL_SYSTEM_CALL, 0),
                     PYTHIA_OK);
    hit(1, 1, 0);
    wait_in(10, 202, 1);
    hit(90, 1, 1);
    expect("shop:sell 1001+89 in -\n");
}

/* Half a request is none: 2700 waits fit, of 96 bytes each. */
static void a_request_with_too_many_waits_is_dropped_and_counted(void **state)
{
    begin_with_waits();
    pythia_probe_spans_open_wait(spans, FUTEX, true);
    hit(1, 1, 0);
    for (uint64_t i = 0; i < 4000; i++)
        wait_in(10 + 20 * i, 202, 1);
    hit(90000, 1, 1);
    expect("");
    assert_true(pythia_probe_spans_numbers(spans).oversize > 2000);
    assert_int_equal(pythia_probe_spans_numbers(spans).abandoned, 0);
    assert_int_equal(pythia_probe_spans_numbers(spans).spans, 0);
}

/* 0 would say that nothing had happened. */
static void keys_of_events_that_were_not_reported_all_the_time_are_left_out(void **state)
{
    begin_with_kernel("waits, page_faults");
    assert_int_equal(pythia_probe_spans_define_kernel(spans, PYTHIA_KERNEL_WAKING, 0), PYTHIA_OK);
    hit(1, 1, 0);
    assert_int_equal(pythia_probe_spans_define_kernel(spans, PYTHIA_KERNEL_WAKING,
                                                      EVENT_NUMBER(PYTHIA_KERNEL_WAKING)),
                     PYTHIA_OK);
    hit(40, 1, 1);
    expect_key("shop:sell", "kernel.futex_ns", NULL);
    expect_key("shop:sell", "kernel.page_faults", "0");
    begin_with_kernel("page_faults");
    hit(1, 1, 0);
    assert_int_equal(pythia_probe_spans_define_kernel(spans, PYTHIA_KERNEL_PAGE_FAULT, 0),
                     PYTHIA_OK);
    hit(40, 1, 1);
    expect_key("shop:sell", "kernel.page_faults", NULL);
}

/* Hits that found no place in a ring are missing here, too. */
static void an_event_whose_other_half_was_lost_is_passed_over(void **state)
{
    begin_with_kernel("waits, system_calls");
    hit(1, 1, 0);
    event(5, PYTHIA_KERNEL_SWITCH_IN, 0);
    event(6, PYTHIA_KERNEL_WAKING, 0);
    event(7, PYTHIA_KERNEL_SYSTEM_RETURN, 0);
    event(10, PYTHIA_KERNEL_SWITCH_OUT, 1);
    event(20, PYTHIA_KERNEL_SWITCH_OUT, 1);
    event(25, PYTHIA_KERNEL_SWITCH_IN, 0);
    hit(40, 1, 1);
    expect_key("shop:sell", "kernel.other_wait_ns", "5");
    expect_key("shop:sell", "kernel.run_queue_ns", "0");
    expect_key("shop:sell", "kernel.system_call_ns", "0");
}

/* Probes that are hit for all functions of an interpreter, of which the rules want one. */
static void only_hits_with_the_right_text_are_of_a_point(void **state)
{
    static const char filtered[] =
        "service: shop\nprovider: p\nprograms: [/a]\npoints:\n"
        "  sell: {request: true, keys: {what: start 2 text}, only: {what: do_GET}}\n";
    struct pythia_error e = {0};
    end(state);
    frames = (struct pythia_buf){0};
    assert_int_equal(pythia_probe_rules_parse("r", filtered, sizeof(filtered) - 1, &rules, &e),
                     PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_create(&rules, &spans), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_define(spans, 10, 0, false), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_define(spans, 11, 0, true), PYTHIA_OK);
    hit_with(1, 1, 10, 0, "main");
    hit_with(2, 1, 10, 0, "do_GET");
    hit_with(3, 1, 10, 0, "do_GETS");
    hit_with(4, 1, 11, 0, "do_GETS");
    hit_with(5, 1, 11, 0, "do_GE");
    hit(6, 1, 1); /* its text was not read */
    hit_with(7, 1, 11, 0, "do_GET");
    hit_with(8, 1, 11, 0, "main");
    expect("shop:sell 1002+5 in -\n");
}

/* The upper half of a register is what was there before (System V ABI for AMD64, 3.2.3). */
static void an_int_is_the_lower_half_of_its_register(void **state)
{
    static const char ints[] = "service: shop\nprograms: [/a]\npoints:\n"
                               "  call: {function: f, request: true, keys: {n: start 1 int}}\n";
    struct pythia_error e = {0};
    end(state);
    frames = (struct pythia_buf){0};
    assert_int_equal(pythia_probe_rules_parse("r", ints, sizeof(ints) - 1, &rules, &e), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_create(&rules, &spans), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_define(spans, 10, 0, false), PYTHIA_OK);
    assert_int_equal(pythia_probe_spans_define(spans, 11, 0, true), PYTHIA_OK);
    hit_with(1, 1, 10, 0x7fff1234fffffff9, NULL);
    hit(2, 1, 1);
    expect_key("shop:call", "n", "-7");
}

static void each_failed_allocation_is_reported_or_loses_a_request(void **state)
{
    for (long let = 0; let < 12; let++) {
        pythia_mem_fail_after(let);
        int first = hit_with(1, 1, 10, 0, NULL), second = hit_with(2, 1, 12, 0, NULL),
            third = hit_with(3, 1, 11, 0, NULL),
            taken = pythia_probe_spans_take(spans, 1000, 0, 0, &frames);
        pythia_mem_fail_after(-1);
        assert_true(first == PYTHIA_OK || first == PYTHIA_ENOMEM);
        assert_true(second == PYTHIA_OK || second == PYTHIA_ENOMEM);
        assert_true(third == PYTHIA_OK || third == PYTHIA_ENOMEM);
        assert_true(taken == PYTHIA_OK || taken == PYTHIA_ENOMEM);
        end(state);
        begin(state);
    }
}

#define WITH_RULES(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* Hits were lost from 20 to 50, and nobody knows whose. */
static void requests_that_lost_hits_may_be_of_are_marked(void **state)
{
    struct collection c;
    hit(10, 1, 4);
    hit(19, 1, 5); /* before */
    hit(20, 2, 4);
    pythia_probe_spans_lose(spans, 50);
    hit(40, 3, 4);
    hit(60, 3, 5);
    hit(61, 2, 5);
    hit(62, 4, 4); /* after */
    hit(63, 4, 5);
    assert_int_equal(pythia_probe_spans_take(spans, 1000, 1000, 0, &frames), PYTHIA_OK);
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
    assert_int_equal(c.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(span_at(&c, i)->lossy, i == 1 || i == 2);
    collection_close(&c);
}

/* What is lost is told though no request ends, and each loss once. */
static void losses_are_told_without_a_request(void **state)
{
    for (int i = 0; i < 2; i++)
        assert_int_equal(pythia_probe_spans_take(spans, 1000, 1000, 5, &frames), PYTHIA_OK);
    struct collection c;
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 5);
    collection_close(&c);
}

static void requests_without_a_hit_for_long_are_abandoned(void **state)
{
    hit(10, 1, 4);
    hit(11, 2, 4);
    hit(30, 2, 2);
    pythia_probe_spans_abandon(spans, 30);
    hit(40, 1, 5);
    hit(41, 2, 3);
    hit(42, 2, 5);
    expect("shop:wait 1030+11 in shop:buy\nshop:buy 1011+31 in -\n");
    assert_int_equal(pythia_probe_spans_numbers(spans).abandoned, 1);
    pythia_probe_spans_abandon(spans, UINT64_MAX);
    assert_int_equal(pythia_probe_spans_numbers(spans).abandoned, 1);
}

/* The counts of a reader of what was taken so far. */
static struct pythia_counts count_taken(void)
{
    struct collection c;
    assert_int_equal(pythia_probe_spans_take(spans, 1000, 1000, 0, &frames), PYTHIA_OK);
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.problems.size, 0);
    struct pythia_counts counts = c.counts;
    collection_close(&c);
    return counts;
}

/* Probes are switched from before 20 to 50. The requests of threads 1 to 3 are under way then, and
 * that of thread 4 begins later. */
static void a_request_that_a_switch_cuts_off_is_no_loss(void **state)
{
    hit(10, 1, 0);
    hit(11, 1, 2); /* two spans */
    pythia_probe_spans_switch(spans, UINT64_MAX);
    hit(20, 2, 0);
    hit(30, 2, 0); /* anew: the end of the first was not reported */
    hit(31, 2, 1); /* of the second it was */
    pythia_probe_spans_switch(spans, 50);
    hit(50, 3, 0);
    hit(51, 4, 0);
    pythia_probe_spans_abandon(spans, UINT64_MAX);
    struct pythia_counts n = count_taken();
    assert_int_equal(n.dropped[PYTHIA_DROP_SWITCHED], 2 + 1 + 1);
    assert_int_equal(n.dropped[PYTHIA_DROP_ABANDONED], 1);
    assert_int_equal(n.dropped[PYTHIA_DROP_FULL_RING], 0);
    assert_int_equal(pythia_probe_spans_numbers(spans).spans, 1);
}

/* Begins whose ends are not reported yet are spans in each other without an end. */
static void spans_that_pile_up_during_a_switch_are_no_loss(void **state)
{
    pythia_probe_spans_switch(spans, UINT64_MAX);
    hit(1, 1, 0);
    for (uint64_t i = 0; i < 32; i++)
        hit(2 + i, 1, 2);
    struct pythia_counts n = count_taken();
    assert_int_equal(n.dropped[PYTHIA_DROP_SWITCHED], 32);
    assert_int_equal(n.dropped[PYTHIA_DROP_OVERSIZE], 0);
}

/* Each reason is told once, and only that which no frame had place for is a full ring. */
static void what_is_dropped_has_its_reason(void **state)
{
    hit(1, 1, 0);
    hit(2, 1, 0);
    hit(3, 1, 1);
    hit(4, 1, 0);
    for (uint64_t i = 0; i < 32; i++)
        hit(5 + i, 1, 2);
    for (int i = 0; i < 2; i++) {
        struct pythia_counts n = count_taken();
        assert_int_equal(n.dropped[PYTHIA_DROP_ABANDONED], 1);
        assert_int_equal(n.dropped[PYTHIA_DROP_OVERSIZE], 32);
        assert_int_equal(n.dropped[PYTHIA_DROP_SWITCHED], 0);
        assert_int_equal(n.dropped[PYTHIA_DROP_FULL_RING], 0);
    }
}

/* A frame has 4 MiB; a request of 1000 spans, of 208 bytes each, about 208 KB. */
static void requests_that_no_frame_has_place_for_count_as_a_full_ring(void **state)
{
    for (uint64_t request = 0; request < 40; request++) {
        hit(10000 * request, 1, 0);
        for (uint64_t i = 1; i < 1000; i++) {
            hit(10000 * request + i, 1, 2);
            hit(10000 * request + i, 1, 3);
        }
        hit(10000 * request + 2000, 1, 1);
    }
    struct pythia_counts n = count_taken();
    assert_int_equal(pythia_probe_spans_numbers(spans).spans, 20 * 1000);
    assert_int_equal(n.dropped[PYTHIA_DROP_FULL_RING], 20 * 1000);
    assert_int_equal(n.dropped[PYTHIA_DROP_OVERSIZE] + n.dropped[PYTHIA_DROP_ABANDONED], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RULES(pairs_nest_by_thread),
        WITH_RULES(nothing_is_recorded_before_its_request_has_ended),
        WITH_RULES(hits_outside_of_a_request_are_counted),
        WITH_RULES(a_sample_says_how_many_hits_are_outside_of_requests),
        WITH_RULES(what_is_open_when_its_parent_ends_has_failed),
        WITH_RULES(a_request_that_begins_anew_was_abandoned),
        WITH_RULES(a_request_point_inside_of_another_request_is_a_part_of_it),
        WITH_RULES(too_deep_and_too_large_requests_are_dropped_for_that_reason),
        WITH_RULES(a_thread_that_is_gone_is_forgotten),
        WITH_RULES(many_threads_are_told_apart),
        WITH_RULES(requests_that_lost_hits_may_be_of_are_marked),
        WITH_RULES(losses_are_told_without_a_request),
        WITH_RULES(requests_without_a_hit_for_long_are_abandoned),
        WITH_RULES(a_request_that_a_switch_cuts_off_is_no_loss),
        WITH_RULES(spans_that_pile_up_during_a_switch_are_no_loss),
        WITH_RULES(what_is_dropped_has_its_reason),
        WITH_RULES(requests_that_no_frame_has_place_for_count_as_a_full_ring),
        WITH_RULES(arguments_become_key_values),
        WITH_RULES(a_text_that_was_not_read_is_left_out),
        cmocka_unit_test_teardown(requests_that_differ_in_values_are_of_one_type, end),
        cmocka_unit_test_teardown(a_request_joins_the_trace_that_its_comment_names, end),
        WITH_RULES(waits_are_told_by_their_reason),
        WITH_RULES(a_span_has_what_happened_while_it_was_open),
        WITH_RULES(a_retransmit_is_of_the_spans_that_were_open_when_it_was_sent),
        WITH_RULES(a_sample_says_how_many_events_of_the_kernel_are_outside_of_requests),
        WITH_RULES(retransmits_are_unknown_without_the_events_that_find_the_sender),
        WITH_RULES(a_wait_is_a_child_of_the_span_that_is_open),
        WITH_RULES(a_wait_is_recorded_while_its_point_is_open),
        WITH_RULES(a_wait_whose_reason_is_not_known_is_left_out),
        WITH_RULES(a_request_with_too_many_waits_is_dropped_and_counted),
        WITH_RULES(keys_of_events_that_were_not_reported_all_the_time_are_left_out),
        WITH_RULES(an_event_whose_other_half_was_lost_is_passed_over),
        WITH_RULES(only_hits_with_the_right_text_are_of_a_point),
        WITH_RULES(an_int_is_the_lower_half_of_its_register),
        WITH_RULES(each_failed_allocation_is_reported_or_loses_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
