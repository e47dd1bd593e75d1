/* A feed whose input never pauses, and what garbage in records may hold back: nothing. Where a span
 * is held back, its test runs into its time limit. */
#include <pythia/records.h>
#include <string.h>

#include "check.h"
#include "intake/feed.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* Gives `bytes`, and then nothing, or `after` again and again, one byte at a time. */
struct script {
    struct pythia__feed_reader reader;
    const char *bytes, *after;
    size_t size, after_size, at;
    bool is_endless; /* also after the stop */
};

static bool destroyed;

static int read_script(struct pythia__feed_reader *r, void *to, size_t capacity, size_t *got,
                       bool *ended, struct pythia_error *e)
{
    struct script *s = (struct script *)r;
    size_t left = s->at < s->size ? s->size - s->at : 0;
    *ended = r->stopping && !s->is_endless;
    *got = left < capacity ? left : capacity;
    memcpy(to, s->bytes + s->at, *got);
    if (left == 0 && s->after) {
        *(char *)to = s->after[(s->at - s->size) % s->after_size];
        *got = 1;
    }
    s->at += *got;
    return PYTHIA_OK;
}

static void destroy_script(struct pythia__feed_reader *r)
{
    destroyed = true;
    pythia_free(r);
}

static struct pythia__feed_reader *make_script(struct pythia_text bytes, struct pythia_text after,
                                               bool is_endless)
{
    struct script *s = pythia_calloc(1, sizeof(*s));
    assert_non_null(s);
    *s = (struct script){.reader = {.read = read_script, .destroy = destroy_script},
                         .bytes = bytes.bytes,
                         .size = bytes.size,
                         .after = after.bytes,
                         .after_size = after.size,
                         .is_endless = is_endless};
    return &s->reader;
}

static int take_nothing(void *context, const struct pythia_live_cycle *cycle)
{
    return PYTHIA_OK;
}

static uv_loop_t loop;
static struct pythia_vocabulary *vocabulary;
static struct pythia_live *live;
static struct pythia__feeds *feeds;

static int begin(void **state)
{
    const struct pythia_live_options o = {.cycle_requests = 10, .learn_requests = 10};
    const struct pythia__feeds_options how = {.limits = {.attributes_max = 128, .value_max = 160},
                                              .record_max = 1 << 20};
    destroyed = false;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_live_create(vocabulary, NULL, &o,
                                        (struct pythia_live_taker){take_nothing, NULL}, &live),
                     PYTHIA_OK);
    assert_int_equal(pythia__feeds_create(&loop, vocabulary, live, &how, &feeds), PYTHIA_OK);
    return 0;
}

static int end(void **state)
{
    pythia__feeds_stop(feeds);
    while (pythia__feeds_running(feeds) > 0)
        uv_run(&loop, UV_RUN_ONCE);
    assert_true(destroyed);
    pythia__feeds_close(feeds);
    uv_run(&loop, UV_RUN_DEFAULT);
    pythia__feeds_destroy(feeds);
    assert_int_equal(uv_loop_close(&loop), 0);
    pythia_live_destroy(live);
    pythia_vocabulary_destroy(vocabulary);
    return 0;
}

static void add_feed(struct pythia_text bytes, struct pythia_text after)
{
    assert_int_equal(pythia__feeds_add(feeds, "script", NULL, make_script(bytes, after, false)),
                     PYTHIA_OK);
}

/* Wait until so many spans are with the engine, and none more. */
static void expect_spans(uint64_t count)
{
    while (pythia__feeds_numbers(feeds).spans < count)
        uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(pythia__feeds_numbers(feeds).spans, count);
}

static void a_feed_ends_soon_after_the_stop_although_more_comes(void **state)
{
    const struct pythia_text line = PYTHIA_TEXT("{\"resourceSpans\": []}\n");
    assert_int_equal(pythia__feeds_add(feeds, "endless", NULL, make_script(line, line, true)),
                     PYTHIA_OK);
}

/* ---- records, by hand from pythia-records(5) ---- */

#define NONE ((struct pythia_text){0})

static void put(struct pythia_buf *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        pythia_buf_putc(to, (char)(value >> 8 * i));
}

static void put_head(struct pythia_buf *to, size_t bytes, unsigned kind, uint32_t number)
{
    put(to, bytes, 2);
    put(to, kind, 1);
    put(to, 0, 1);
    put(to, number, 4);
}

/* The last frame of its moment. */
static void put_frame(struct pythia_buf *to, uint32_t stream, uint64_t position,
                      struct pythia_text payload)
{
    uint64_t check = UINT64_C(0xcbf29ce484222325);
    size_t begin = to->size;
    pythia_buf_add(to, PYTHIA_FRAME_MAGIC, 8);
    put(to, 1, 2);
    put(to, 128, 2);
    put(to, payload.size, 4);
    put(to, 1, 8);
    put(to, 2, 8);
    put(to, stream, 4);
    put(to, PYTHIA_FRAME_LAST, 4);
    put(to, position, 8);
    put(to, 0, 8);
    put(to, 0, 8);
    put(to, 0, 8);
    put(to, UINT64_C(0x3ff0000000000000), 8); /* 1.0 ns per tick */
    for (int i = 0; i < 5; i++)
        put(to, 0, 8);
    for (size_t i = begin; i < to->size; i++)
        check = (check ^ (unsigned char)to->bytes[i]) * UINT64_C(0x100000001b3);
    put(to, check, 8);
    pythia_buf_add(to, payload.bytes, payload.size);
}

static void put_definitions(struct pythia_buf *to)
{
    struct pythia_buf payload = {0};
    put_head(&payload, 24, PYTHIA_RECORD_PROCESS, 0);
    put(&payload, 1, 4);
    put(&payload, 4, 2);
    put(&payload, 0, 2);
    pythia_buf_add(&payload, "shop\0\0\0", 8);
    put_head(&payload, 24, PYTHIA_RECORD_POINT, 1);
    put(&payload, 4, 2);
    put(&payload, 0, 6);
    pythia_buf_add(&payload, "work\0\0\0", 8);
    put_frame(to, 0, 0, pythia_buf_text(&payload));
    pythia_buf_free(&payload);
}

#define SPAN_BYTES (56 + 40) /* an ENTER and an EXIT */

/* A frame of one span, the first of its stream. */
static void put_span(struct pythia_buf *to, uint32_t stream)
{
    struct pythia_buf payload = {0};
    put_head(&payload, 56, PYTHIA_RECORD_ENTER, 1);
    put(&payload, 100, 8);
    put(&payload, 7, 8);
    put(&payload, 7, 8);
    put(&payload, stream, 8);
    put(&payload, 0, 8);
    put(&payload, 0, 8);
    put_head(&payload, 40, PYTHIA_RECORD_EXIT, 0);
    put(&payload, 200, 8);
    put(&payload, 7, 8);
    put(&payload, 7, 8);
    put(&payload, stream, 8);
    assert_int_equal(payload.size, SPAN_BYTES);
    put_frame(to, stream, 0, pythia_buf_text(&payload));
    pythia_buf_free(&payload);
}

/* The program that wrote the frame was killed: of 4 MiB there are 16 bytes. */
static void put_cut_frame(struct pythia_buf *to)
{
    static const char zeros[PYTHIA_PAYLOAD_BYTES];
    struct pythia_buf whole = {0};
    put_frame(&whole, 9, 0, (struct pythia_text){zeros, sizeof(zeros)});
    pythia_buf_add(to, whole.bytes, 128 + 16);
    pythia_buf_free(&whole);
}

static void a_record_after_garbage_is_not_held_back(void **state)
{
    struct pythia_buf bytes = {0};
    put_definitions(&bytes);
    pythia_buf_puts(&bytes, "garbage of an odd length");
    put_span(&bytes, 1);
    pythia_buf_puts(&bytes, PYTHIA_FRAME_MAGIC "garbage that begins like a frame");
    put_span(&bytes, 2);
    add_feed(pythia_buf_text(&bytes), NONE);
    expect_spans(2);
    pythia_buf_free(&bytes);
}

static void a_record_after_a_frame_that_was_cut_is_not_held_back(void **state)
{
    struct pythia_buf bytes = {0};
    put_definitions(&bytes);
    put_cut_frame(&bytes);
    put_span(&bytes, 1);
    add_feed(pythia_buf_text(&bytes), NONE);
    expect_spans(1);
    pythia_buf_free(&bytes);
}

static void a_record_before_the_beginning_of_a_frame_is_not_held_back(void **state)
{
    struct pythia_buf bytes = {0};
    put_definitions(&bytes);
    put_span(&bytes, 1);
    pythia_buf_add(&bytes, PYTHIA_FRAME_MAGIC "\1\0", 10);
    add_feed(pythia_buf_text(&bytes), NONE);
    expect_spans(1);
    pythia_buf_free(&bytes);
}

/* Neither 2048 spans nor a pause are waited for. */
static void a_record_is_not_held_back_by_garbage_that_never_pauses(void **state)
{
    struct pythia_buf bytes = {0};
    put_definitions(&bytes);
    pythia_buf_puts(&bytes, "garbage");
    put_span(&bytes, 1);
    add_feed(pythia_buf_text(&bytes), PYTHIA_TEXT("garbage"));
    expect_spans(1);
    pythia_buf_free(&bytes);
}

/* Every other line is garbage, and the last one never ends. */
static void a_line_after_garbage_is_not_held_back(void **state)
{
    static const char lines[] =
        "{\"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [{\"traceId\": \"%032d\", \"spanId\": "
        "\"%016d\", \"name\": \"work\", \"startTimeUnixNano\": \"100\", \"endTimeUnixNano\": "
        "\"200\"}]}]}]}\n}garbage\n";
    struct pythia_buf bytes = {0};
    for (int i = 1; i <= 2; i++)
        pythia_buf_printf(&bytes, lines, i, i);
    add_feed(pythia_buf_text(&bytes), PYTHIA_TEXT("garbage"));
    expect_spans(2);
    pythia_buf_free(&bytes);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_feed_ends_soon_after_the_stop_although_more_comes),
        TEST(a_record_after_garbage_is_not_held_back),
        TEST(a_record_after_a_frame_that_was_cut_is_not_held_back),
        TEST(a_record_before_the_beginning_of_a_frame_is_not_held_back),
        TEST(a_record_is_not_held_back_by_garbage_that_never_pauses),
        TEST(a_line_after_garbage_is_not_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
