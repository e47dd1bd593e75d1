/* Traces that are written here, and the spans that the decoder of records makes of them. */
#include "check.h"
#include "collect.h"
#include "ctf.h"
#include "event_reader.h"
#include "pythia/lttng_events.h"

#define EVENTS                                                                                     \
    CTF_EVENT(0, "shop:begin", "u64 _order; string _title; ")                                      \
    CTF_EVENT(1, "shop:end", "i32 _result; ")                                                      \
    CTF_EVENT(2, "shop:wait", "f64 _share; enum : u8 { none = 0, lock = 1 ... 3 } _mode; ")        \
    CTF_EVENT(3, "shop:waited", "")                                                                \
    CTF_EVENT(4, "shop:other", "")

static const char rules_text[] =
    "service: shop\nprovider: shop\npoints:\n"
    "  sell: {start: begin, done: end, request: true, type: title,\n"
    "    keys: {order: start order, title: start 2 text, result: done result}}\n"
    "  wait: {start: wait, done: waited, keys: {share: start share real, mode: start mode text,\n"
    "    code: start 2}}\n";

enum { BEGIN, END, WAIT, WAITED, OTHER };

static char folder[] = "/tmp/lttng_events.XXXXXX";
static const char *const where[] = {folder};
static struct pythia_lttng_rules *rules;
static struct pythia_lttng_reader *process;
static struct pythia_buf events, stream;

static void read_rules(const char *text)
{
    struct pythia_error e = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/rules", folder);
    ctf_write(folder, "rules", pythia_text_of(text));
    assert_int_equal(pythia_lttng_rules_read(path, &rules, &e), PYTHIA_OK);
    assert_int_equal(unlink(path), 0);
}

static int begin(void **state)
{
    snprintf(folder, sizeof(folder), "/tmp/lttng_events.XXXXXX");
    assert_non_null(mkdtemp(folder));
    read_rules(rules_text);
    return 0;
}

static int end(void **state)
{
    ctf_remove(folder);
    pythia_lttng_rules_free(rules);
    pythia_buf_free(&events);
    pythia_buf_free(&stream);
    return 0;
}

static void add_begin(uint64_t time_ns, int32_t tid, uint64_t order, const char *title)
{
    ctf_event(&events, BEGIN, time_ns, 7, tid);
    ctf_put(&events, order, 8);
    pythia_buf_add(&events, title, strlen(title) + 1);
}

static void add_end(uint64_t time_ns, int32_t tid, int32_t result)
{
    ctf_event(&events, END, time_ns, 7, tid);
    ctf_put(&events, (uint32_t)result, 4);
}

static void add_wait(uint64_t time_ns, int32_t tid, double share, unsigned mode)
{
    uint64_t bits;
    memcpy(&bits, &share, sizeof(bits));
    ctf_event(&events, WAIT, time_ns, 7, tid);
    ctf_put(&events, bits, 8);
    ctf_put(&events, mode, 1);
}

static void add_waited(uint64_t time_ns, int32_t tid)
{
    ctf_event(&events, WAITED, time_ns, 7, tid);
}

static void write_trace(const char *metadata)
{
    ctf_write(folder, "metadata", pythia_text_of(metadata));
    ctf_write(folder, "stream", pythia_buf_text(&stream));
}

/* Read all of the trace. Returns what the reader did in the end. */
static int read_trace(struct pythia_buf *frames, struct pythia_lttng_numbers *numbers,
                      struct pythia_error *e)
{
    struct pythia_lttng_events *reader = NULL;
    bool more = true;
    int status = pythia_lttng_events_open(process, where, 1, rules, true, &reader, e);
    while (status == PYTHIA_OK && more)
        status = pythia_lttng_events_read(reader, frames, &more, e);
    if (reader)
        *numbers = pythia_lttng_events_numbers(reader);
    pythia_lttng_events_close(reader);
    return status;
}

static void collect_trace(struct collection *c, struct pythia_lttng_numbers *numbers)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    assert_int_equal(read_trace(&frames, numbers, &e), PYTHIA_OK);
    collection_open(c);
    collect_bytes(c, "native", pythia_buf_text(&frames), 0);
    assert_int_equal(c->status, PYTHIA_OK);
    assert_string_equal(c->problems.bytes ? c->problems.bytes : "", "");
    pythia_buf_free(&frames);
}

static void write_stream(const char *metadata, uint64_t end_ns)
{
    ctf_packet(&stream, &events, 100, end_ns, 0, 0);
    write_trace(metadata);
}

#define METADATA                                                                                   \
    CTF_HEAD CTF_STREAM(CTF_THREAD)                                                                \
    EVENTS

static void events_of_a_thread_become_spans_by_rules(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    add_begin(100, 8, 4711, "tea");
    add_begin(110, 9, 1, "rice");
    add_wait(120, 8, .25, 2);
    ctf_event(&events, OTHER, 125, 7, 8);
    add_waited(130, 8);
    add_end(150, 8, -5);
    add_end(190, 9, 0);
    write_stream(METADATA, 190);
    collect_trace(&c, &n);
    assert_int_equal(c.count, 3);
    assert_tracepoint(&c, 0, "shop:wait");
    assert_times(&c, 0, 1000000120, 10);
    assert_int_equal(span_at(&c, 0)->parent, span_at(&c, 1)->id);
    assert_tracepoint(&c, 1, "shop:sell");
    assert_times(&c, 1, 1000000100, 50);
    assert_times(&c, 2, 1000000110, 80);
    assert_string_equal(pythia_vocabulary_text(c.vocabulary, resource_at(&c, 1).host).bytes,
                        "till");
    assert_int_equal(n.events, 7);
    assert_int_equal(n.other, 1);
    collection_close(&c);
}

static void fields_are_key_values_of_their_kind(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    add_begin(100, 8, 4711, "tea");
    add_wait(120, 8, .25, 2);
    add_waited(130, 8);
    add_end(150, 8, -5);
    write_stream(METADATA, 150);
    collect_trace(&c, &n);
    assert_int_equal(c.count, 2);
    assert_real(&c, 0, "share", .25);
    assert_text(&c, 0, "mode", "lock");
    assert_integer(&c, 0, "code", 2);
    assert_integer(&c, 1, "order", 4711);
    assert_text(&c, 1, "title", "tea");
    assert_integer(&c, 1, "result", -5);
    collection_close(&c);
}

/* Each request of thread 8 has its end 900 ns after its begin, and the next one begins 120 ns after
 * that. An event of thread 9 that is 5 ns before one of thread 8 says nothing. Where all are far
 * apart, what happens between them is not known. */
static void the_price_of_an_event_is_that_of_neighbours_in_a_thread(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    for (uint64_t i = 0; i < 600; i++) {
        add_begin(10000 + 1020 * i, 8, i, "tea");
        if (i % 100 == 50)
            ctf_event(&events, WAITED, 10895 + 1020 * i, 7, 9);
        add_end(10900 + 1020 * i, 8, 0);
    }
    write_stream(METADATA, 1000000);
    collect_trace(&c, &n);
    assert_int_equal(n.event_ns, 120);
    collection_close(&c);
    pythia_buf_clear(&stream);
    for (uint64_t i = 0; i < 600; i++) {
        add_begin(10000 + 5000 * i, 8, i, "tea");
        add_end(12500 + 5000 * i, 8, 0);
    }
    write_stream(METADATA, 4000000);
    collect_trace(&c, &n);
    assert_int_equal(n.event_ns, 0);
    collection_close(&c);
}

/* Of keys whose field is not there, or of another kind, nothing is made up. */
static void keys_without_their_field_are_left_out(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    pythia_lttng_rules_free(rules);
    read_rules("service: shop\nprovider: shop\npoints:\n"
               "  sell: {start: begin, done: end, request: true, keys: {none: start 3,\n"
               "    nothing: start nowhere text, title: start title, order: start order text,\n"
               "    result: done result real}}\n"
               "  wait: {start: wait, done: waited, keys: {share: start share}}\n");
    add_begin(100, 8, 4711, "tea");
    add_wait(120, 8, .25, 2);
    add_waited(130, 8);
    add_end(150, 8, -5);
    write_stream(METADATA, 150);
    collect_trace(&c, &n);
    assert_int_equal(c.count, 2);
    assert_int_equal(attribute_count(&c, 0), 0);
    assert_int_equal(attribute_count(&c, 1), 1);
    assert_real(&c, 1, "result", -5);
    collection_close(&c);
}

/* The slots of texts are as long as their number allows: two of 128 bytes. */
static void long_texts_are_cut(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    char title[300], expected[129] = "";
    pythia_lttng_rules_free(rules);
    read_rules("service: shop\nprovider: shop\npoints:\n"
               "  sell: {start: begin, done: end, request: true,\n"
               "    keys: {a: start title text, b: start title text}}\n");
    memset(title, 'x', sizeof(title) - 1);
    title[sizeof(title) - 1] = '\0';
    memset(expected, 'x', 128);
    add_begin(100, 8, 4711, title);
    add_end(150, 8, 0);
    write_stream(METADATA, 150);
    collect_trace(&c, &n);
    assert_int_equal(c.count, 1);
    assert_text(&c, 0, "a", expected);
    assert_text(&c, 0, "b", expected);
    collection_close(&c);
}

static void a_folder_gives_the_same_bytes_whenever_it_is_read(void **state)
{
    struct pythia_buf frames[2] = {{0}, {0}};
    struct pythia_lttng_numbers n;
    struct pythia_error e = {0};
    add_begin(100, 8, 4711, "tea");
    add_end(150, 8, -5);
    write_stream(METADATA, 150);
    for (int i = 0; i < 2; i++)
        assert_int_equal(read_trace(&frames[i], &n, &e), PYTHIA_OK);
    assert_true(frames[0].size > 0);
    assert_int_equal(frames[0].size, frames[1].size);
    assert_memory_equal(frames[0].bytes, frames[1].bytes, frames[0].size);
    pythia_buf_free(&frames[0]);
    pythia_buf_free(&frames[1]);
}

/* LTTng counts discarded events in each packet. Those between the packets here are missing from 150
 * to 400: the request of thread 8, which is open then, and that which begins in thread 9 may lack
 * spans; the one after that does not. */
static void requests_that_discarded_events_may_be_of_are_marked(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    add_begin(100, 9, 1, "before");
    add_end(110, 9, 0);
    add_begin(120, 8, 2, "open");
    ctf_packet(&stream, &events, 100, 150, 0, 0);
    add_end(210, 8, 0);
    add_begin(220, 9, 3, "begins");
    add_end(230, 9, 0);
    ctf_packet(&stream, &events, 200, 400, 1, 17);
    add_begin(510, 9, 4, "after");
    add_end(520, 9, 0);
    ctf_packet(&stream, &events, 500, 520, 2, 17);
    write_trace(METADATA);
    collect_trace(&c, &n);
    assert_int_equal(c.count, 4);
    assert_int_equal(n.discarded_events, 17);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 17);
    for (size_t i = 0; i < 4; i++) {
        assert_times(&c, i, 1000000000 + (uint64_t[]){100, 120, 220, 510}[i],
                     (int64_t[]){10, 90, 10, 10}[i]);
        assert_int_equal(span_at(&c, i)->lossy, i == 1 || i == 2);
    }
    collection_close(&c);
}

static void packets_that_are_missing_are_counted(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    add_begin(120, 8, 2, "open");
    ctf_packet(&stream, &events, 100, 150, 0, 0);
    add_end(310, 8, 0);
    ctf_packet(&stream, &events, 300, 400, 3, 0); /* 1 and 2 were overwritten */
    write_trace(METADATA);
    collect_trace(&c, &n);
    assert_int_equal(c.count, 1);
    assert_int_equal(n.discarded_packets, 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 2);
    assert_true(span_at(&c, 0)->lossy);
    collection_close(&c);
}

static void a_request_without_its_end_is_counted(void **state)
{
    struct collection c;
    struct pythia_lttng_numbers n;
    add_begin(100, 8, 4711, "tea");
    add_wait(120, 8, .25, 2);
    write_stream(METADATA, 150);
    collect_trace(&c, &n);
    assert_int_equal(c.count, 0);
    assert_int_equal(n.abandoned, 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_ABANDONED], 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 0);
    collection_close(&c);
}

/* Events are enabled or disabled until 110: the request of thread 8 is under way then, that of
 * thread 9 begins later. Neither has an end when nobody reads any further. */
static void requests_that_a_switch_cuts_off_have_that_reason(void **state)
{
    struct collection c;
    struct pythia_buf frames = {0};
    struct pythia_lttng_events *r = NULL;
    struct pythia_error e = {0};
    bool more = true;
    add_begin(100, 8, 4711, "tea");
    add_wait(120, 8, .25, 2);
    add_begin(130, 9, 1, "rice");
    write_stream(METADATA, 150);
    assert_int_equal(pythia_lttng_events_open(process, where, 1, rules, true, &r, &e), PYTHIA_OK);
    pythia_lttng_events_switch(r, 1000000110);
    while (more)
        assert_int_equal(pythia_lttng_events_read(r, &frames, &more, &e), PYTHIA_OK);
    assert_int_equal(pythia_lttng_events_end(r, &frames), PYTHIA_OK);
    pythia_lttng_events_close(r);
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_SWITCHED], 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_ABANDONED], 1);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 0);
    collection_close(&c);
    pythia_buf_free(&frames);
}

/* ---- what cannot be read ---- */

static void expect_failure(const char *sentence, size_t spans)
{
    struct pythia_buf frames = {0};
    struct pythia_lttng_numbers n = {0};
    struct pythia_error e = {0};
    struct collection c;
    assert_int_equal(read_trace(&frames, &n, &e), PYTHIA_EFORMAT);
    if (!strstr(e.sentence, sentence))
        fail_msg("'%s' does not have '%s'", e.sentence, sentence);
    collection_open(&c);
    collect_bytes(&c, "native", pythia_buf_text(&frames), 0);
    assert_int_equal(c.count, spans);
    collection_close(&c);
    pythia_buf_free(&frames);
}

static void without_threads_it_is_said_which_contexts_to_add(void **state)
{
    ctf_put(&events, BEGIN, 2);
    ctf_put(&events, 100, 8);
    ctf_put(&events, 4711, 8);
    pythia_buf_add(&events, "tea", 4);
    write_stream(CTF_HEAD CTF_STREAM("") EVENTS, 150);
    expect_failure("lttng add-context --userspace --type=vpid --type=vtid", 0);
}

static void what_stands_before_a_broken_event_is_read(void **state)
{
    add_begin(100, 8, 1, "tea");
    add_end(110, 8, 0);
    ctf_packet(&stream, &events, 100, 150, 0, 0);
    ctf_put(&events, BEGIN, 2); /* and no more of it */
    write_stream(METADATA, 250);
    expect_failure("the trace cannot be read further: ", 1);
}

/* libbabeltrace2 looks for the packets of all files first. */
static void a_file_that_is_cut_is_named(void **state)
{
    add_begin(100, 8, 1, "tea");
    add_end(110, 8, 0);
    ctf_packet(&stream, &events, 100, 150, 0, 0);
    stream.size -= 10;
    write_trace(METADATA);
    expect_failure("/stream'", 0);
}

static void broken_metadata_is_refused(void **state)
{
    write_stream("/* CTF 1.8 */\ntrace { major = 1;", 150);
    expect_failure("the trace cannot be read (", 0);
}

/* Records hold times up to 146 years after the epoch. */
static void a_time_that_records_cannot_hold_is_refused(void **state)
{
    const uint64_t late_ns = UINT64_C(1) << 62;
    add_begin(100, 8, 1, "tea");
    add_end(110, 8, 0);
    add_begin(late_ns, 8, 2, "tea");
    add_end(late_ns + 10, 8, 0);
    write_stream(METADATA, late_ns + 20);
    expect_failure("an event has a time that is out of range", 1);
}

/* The muxer gives the events before the broken one first. */
static void an_event_that_is_cut_ends_the_reading_and_not_the_process(void **state)
{
    add_begin(100, 8, 1, "tea");
    add_end(110, 8, 0);
    events.size -= 2;
    write_stream(METADATA, 150);
    expect_failure("the trace cannot be read further: ", 0);
}

static void a_stream_without_a_clock_is_refused(void **state)
{
    ctf_put(&stream, 0xc1fc1fc1, 4);
    ctf_put(&stream, 0, 4);
    ctf_put(&stream, BEGIN, 2);
    write_trace("/* CTF 1.8 */\n"
                "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
                "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
                "trace { major = 1; minor = 8; byte_order = le;\n"
                "  packet.header := struct { u32 magic; u32 stream_id; }; };\n"
                "stream { id = 0; event.header := struct { u16 id; }; };\n" //
                CTF_EVENT(0, "shop:begin", ""));
    expect_failure("a stream has no clock", 0);
}

static void a_folder_is_a_trace_by_the_beginning_of_its_metadata(void **state)
{
    assert_false(pythia_lttng_is_trace(folder));
    assert_false(pythia_lttng_is_trace("/nowhere"));
    ctf_write(folder, "metadata", PYTHIA_TEXT("/* CTF 2"));
    assert_false(pythia_lttng_is_trace(folder));
    ctf_write(folder, "metadata", PYTHIA_TEXT("/* CTF 1.8 */"));
    assert_true(pythia_lttng_is_trace(folder));
    ctf_write(folder, "metadata", PYTHIA_TEXT("\x57\x1d\xd1\x75    "));
    assert_false(pythia_lttng_is_trace(folder)); /* it is cut */
    ctf_write(folder, "metadata", PYTHIA_TEXT("\x57\x1d\xd1\x75      "));
    assert_true(pythia_lttng_is_trace(folder));
}

static void a_link_among_the_files_is_refused(void **state)
{
    char path[128];
    add_begin(100, 8, 4711, "tea");
    add_end(150, 8, -5);
    write_stream(METADATA, 150);
    snprintf(path, sizeof(path), "%s/other", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    expect_failure("has other, which is neither a file nor a folder", 0);
    assert_int_equal(unlink(path), 0);
}

/* In this process, where allocations can be made to fail. */
static int read_trace_here(struct pythia_buf *frames, struct pythia_error *e)
{
    const struct pythia__event_source source = {
        .where = where, .count = 1, .rules = rules, .quiet = true};
    struct pythia__event_reader *r = NULL;
    bool more = true;
    int status = pythia__event_reader_open(&source, &r, e);
    while (status == PYTHIA_OK && more)
        status = pythia__event_reader_read(r, frames, &more, e);
    pythia__event_reader_close(r);
    return status;
}

static void each_failed_allocation_is_reported(void **state)
{
    int here = PYTHIA_ENOMEM, status = PYTHIA_ENOMEM;
    add_begin(100, 8, 4711, "tea");
    add_wait(120, 8, .25, 2);
    add_waited(130, 8);
    add_end(150, 8, -5);
    write_stream(METADATA, 150);
    for (long allowed = 0; (status != PYTHIA_OK || here != PYTHIA_OK) && allowed < 100; allowed++) {
        struct pythia_buf frames = {0};
        struct pythia_lttng_numbers n;
        struct pythia_error e = {0};
        pythia_mem_fail_after(allowed);
        here = read_trace_here(&frames, &e);
        pythia_mem_fail_after(allowed);
        status = read_trace(&frames, &n, &e);
        pythia_mem_fail_after(-1);
        assert_true(here == PYTHIA_OK || here == PYTHIA_ENOMEM);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        pythia_buf_free(&frames);
    }
    assert_int_equal(here, PYTHIA_OK);
    assert_int_equal(status, PYTHIA_OK);
}

static int start_process(void **state)
{
    struct pythia_error e = {0};
    return pythia_lttng_reader_start(&process, &e);
}

static int end_process(void **state)
{
    pythia_lttng_reader_end(process);
    return 0;
}

int main(int argc, char **argv)
{
    pythia_lttng_reader_main(argc, argv);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(events_of_a_thread_become_spans_by_rules),
        TEST(fields_are_key_values_of_their_kind),
        TEST(the_price_of_an_event_is_that_of_neighbours_in_a_thread),
        TEST(keys_without_their_field_are_left_out),
        TEST(long_texts_are_cut),
        TEST(a_folder_gives_the_same_bytes_whenever_it_is_read),
        TEST(requests_that_discarded_events_may_be_of_are_marked),
        TEST(packets_that_are_missing_are_counted),
        TEST(a_request_without_its_end_is_counted),
        TEST(requests_that_a_switch_cuts_off_have_that_reason),
        TEST(without_threads_it_is_said_which_contexts_to_add),
        TEST(what_stands_before_a_broken_event_is_read),
        TEST(a_file_that_is_cut_is_named),
        TEST(broken_metadata_is_refused),
        TEST(a_time_that_records_cannot_hold_is_refused),
        TEST(an_event_that_is_cut_ends_the_reading_and_not_the_process),
        TEST(a_stream_without_a_clock_is_refused),
        TEST(a_folder_is_a_trace_by_the_beginning_of_its_metadata),
        TEST(a_link_among_the_files_is_refused),
        TEST(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, start_process, end_process);
}
