/* Trace context in its binary form. The bytes are those of the draft (w3c/trace-context-binary)
 * and, behind them, of the comment in tracepoints/context.c, put together by hand. */
#include "traced.h"

/* 00-4bf92f3577b34da6a3ce929d0e0e4736-34f067aa0ba902b7-01, the draft's own example. */
#define PARENT                                                                                     \
    "\0\0\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36"                         \
    "\1\x34\xf0\x67\xaa\x0b\xa9\x02\xb7\2\1"
#define PARENT_BYTES 29
#define OURS         "P\x8\0\0\x1\x2"
#define OURS_BYTES   6
#define COUNT        258 /* in it */
#define KIND         "checkout"

static const struct pythia_context example = {
    .trace_high = UINT64_C(0x4bf92f3577b34da6),
    .trace_low = UINT64_C(0xa3ce929d0e0e4736),
    .span = UINT64_C(0x34f067aa0ba902b7),
    .flags = PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REQUEST,
};

static void put_parent(unsigned char packed[PARENT_BYTES])
{
    for (size_t i = 0; i < PARENT_BYTES; i++)
        packed[i] = (unsigned char)PARENT[i];
}

/* Read it from memory of its own size, where a byte too far is found by the sanitizers. */
static int unpack(const void *packed, size_t bytes, struct pythia_context *out)
{
    void *alone = malloc(bytes ? bytes : 1);
    assert_non_null(alone);
    memcpy(alone, packed, bytes);
    int code = pythia_context_unpack(alone, bytes, out);
    free(alone);
    return code;
}

/* And write it to memory of the size that is asked for. */
static size_t pack(const struct pythia_context *from, unsigned char out[PYTHIA_CONTEXT_BYTES])
{
    struct pythia_context before;
    unsigned char *alone = malloc(PYTHIA_CONTEXT_BYTES);
    assert_non_null(alone);
    pythia_context_set(from, &before);
    size_t bytes = pythia_context_pack(alone);
    pythia_context_set(&before, NULL);
    memcpy(out, alone, bytes);
    free(alone);
    return bytes;
}

static void a_traceparent_alone_is_read(void **state)
{
    struct pythia_context c;
    assert_int_equal(unpack(PARENT, PARENT_BYTES, &c), 0);
    assert_true(c.trace_high == example.trace_high);
    assert_true(c.trace_low == example.trace_low);
    assert_true(c.span == example.span);
    assert_int_equal(c.flags,
                     PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REMOTE | PYTHIA_CONTEXT_REQUEST);
    assert_int_equal(c.lamport, 0);
    assert_null(c.type);
    assert_int_equal(c.request_type, PYTHIA_TYPE_NONE);
}

static void what_is_sent_has_the_bytes_that_are_told(void **state)
{
    unsigned char packed[PYTHIA_CONTEXT_BYTES];
    struct pythia_context c = example;
    c.lamport = COUNT - 1;
    pythia_context_name(&c, KIND, strlen(KIND));
    assert_int_equal(pack(&c, packed), PARENT_BYTES + OURS_BYTES + strlen(KIND));
    assert_memory_equal(packed, PARENT OURS KIND, PARENT_BYTES + OURS_BYTES + strlen(KIND));
    c = example; /* without a name, and not to be recorded */
    c.flags = PYTHIA_CONTEXT_REQUEST;
    assert_int_equal(pack(&c, packed), PARENT_BYTES + OURS_BYTES);
    assert_int_equal(packed[28], 0);
    assert_memory_equal(packed + PARENT_BYTES, "P\0\0\0\0\1", OURS_BYTES);
    c.lamport = UINT32_MAX; /* stays there */
    pack(&c, packed);
    assert_memory_equal(packed + PARENT_BYTES + 2, "\xff\xff\xff\xff", 4);
}

static void what_comes_behind_is_read_if_it_is_ours(void **state)
{
    static const struct {
        const char *behind;
        size_t bytes;
        uint32_t count; /* one more than was sent: coming in is an event */
        const char *kind;
    } cases[] = {
        {OURS KIND, 14, COUNT + 1, KIND},
        {OURS KIND "padding", 21, COUNT + 1, KIND},
        {"P\0\0\0\0\7", 6, 8, NULL},
        {"P\1\0\0\0\7x", 7, 8, "x"},
        {"P\3\xff\xff\xff\xff-/%", 9, UINT32_MAX, "-/%"},
        {"P\2\0\0\0\7\xff\xfe", 8, 8, "\xef\xbf\xbd\xef\xbf\xbd"}, /* not UTF-8: U+FFFD each */
        {OURS KIND, 13, 0, NULL},                                  /* cut */
        {"P\0\0\0\0", 5, 0, NULL},
        {"P", 1, 0, NULL},
        {"Q\x8\0\0\x1\x2" KIND, 14, 0, NULL}, /* another's */
        {"\0\0\0\0\0\0\0\0", 8, 0, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_context c;
        struct collection spans;
        unsigned char packed[64];
        put_parent(packed);
        memcpy(packed + PARENT_BYTES, cases[i].behind, cases[i].bytes);
        assert_int_equal(unpack(packed, PARENT_BYTES + cases[i].bytes, &c), 0);
        assert_int_equal(c.lamport, cases[i].count);
        assert_true(c.trace_low == example.trace_low);
        assert_true((c.type != NULL) == (cases[i].kind != NULL));
        if (!cases[i].kind)
            continue;
        open_point("test:server");
        {
            PYTHIA_CONTEXT(&c);
            PYTHIA_SPAN("server");
        }
        read_spans(&spans);
        assert_text(&spans, only(&spans, "test:server"), "request_type", cases[i].kind);
        collection_close(&spans);
    }
}

static void what_is_no_context_is_refused(void **state)
{
    static const struct {
        size_t at, bytes;
        int byte;
    } faults[] = {
        {1, 1, 1},  {1, 1, 255}, {18, 1, 0}, {18, 1, 2},
        {27, 1, 0}, {27, 1, 3},  {2, 16, 0}, /* ids of zeros */
        {19, 8, 0},
    };
    struct pythia_context c;
    memset(&c, 0x5a, sizeof(c));
    for (size_t bytes = 0; bytes < PARENT_BYTES; bytes++)
        assert_int_equal(unpack(PARENT, bytes, &c), -22);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        unsigned char packed[PARENT_BYTES];
        put_parent(packed);
        memset(packed + faults[i].at, faults[i].byte, faults[i].bytes);
        assert_int_equal(unpack(packed, sizeof(packed), &c), -22);
    }
    assert_int_equal(pythia_context_unpack(NULL, 0, &c), -22);
    assert_int_equal(c.span, 0x5a5a5a5a5a5a5a5a);     /* untouched */
    for (int version = 1; version < 256; version++) { /* others are taken for this one */
        unsigned char packed[PARENT_BYTES];
        put_parent(packed);
        packed[0] = (unsigned char)version;
        assert_int_equal(unpack(packed, sizeof(packed), &c), 0);
    }
}

/* Names of each length, of bytes that headers hold as they are and of others: they come in as they
 * went out, are the same kind each time, and the one that a header says. */
static void every_name_goes_through(void **state)
{
    char name[PYTHIA_NAME_BYTES + 1];
    for (int first = 'a'; first >= ' '; first -= 'a' - ' ')
        for (size_t bytes = 1; bytes <= PYTHIA_NAME_BYTES; bytes++) {
            unsigned char packed[PYTHIA_CONTEXT_BYTES];
            struct pythia_context out = example, in, again;
            for (size_t i = 0; i < bytes; i++)
                name[i] = (char)(first + (int)(i * i % 25));
            pythia_context_name(&out, name, bytes);
            size_t all = pack(&out, packed);
            assert_int_equal(all, PARENT_BYTES + OURS_BYTES + bytes);
            assert_memory_equal(packed + PARENT_BYTES + OURS_BYTES, name, bytes);
            assert_int_equal(unpack(packed, all, &in), 0);
            assert_int_equal(unpack(packed, all, &again), 0);
            assert_non_null(in.type);
            assert_ptr_equal(in.type, out.type);
            assert_ptr_equal(again.type, out.type);
            assert_int_equal(in.request_type, out.request_type);
        }
    struct pythia_context packed_kind, written = example;
    assert_int_equal(unpack(PARENT OURS KIND, PARENT_BYTES + OURS_BYTES + 8, &packed_kind), 0);
    pythia_tracestate_read("pythia=l:1;t:" KIND, 13 + strlen(KIND), &written);
    assert_ptr_equal(packed_kind.type, written.type);
}

static void any_bytes_are_survived(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        unsigned char data[PARENT_BYTES + OURS_BYTES + 16];
        struct pythia_context c = {0};
        memcpy(data, PARENT OURS KIND, PARENT_BYTES + OURS_BYTES + 8);
        for (int k = 0; k < 3; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            data[(seed >> 33) % (PARENT_BYTES + 3)] ^= (unsigned char)(seed >> 56 & (uint64_t)i);
        }
        size_t bytes = (seed >> 20) % (PARENT_BYTES + OURS_BYTES + 9);
        int code = unpack(data, bytes, &c);
        assert_true(code == 0 || code == -22);
        assert_true((code == 0) == (c.flags != 0));
    }
}

static void a_request_goes_on_in_another_process(void **state)
{
    struct pythia_context c;
    struct collection spans;
    unsigned char packed[PYTHIA_CONTEXT_BYTES];
    size_t bytes;
    open_point("test:client");
    open_point("test:server");
    assert_int_equal(pythia_context_pack(packed), 0); /* there is no request yet */
    {
        PYTHIA_REQUEST("GET /cart/{id}");
        PYTHIA_SPAN("client");
        bytes = pythia_context_pack(packed);
    }
    assert_int_equal(unpack(packed, bytes, &c), 0);
    assert_int_equal(c.lamport, 3); /* entered, sent, received */
    {
        PYTHIA_CONTEXT(&c);
        PYTHIA_REQUEST("something else"); /* it has a name already */
        PYTHIA_SPAN("server");
    }
    read_spans(&spans);
    assert_child(&spans, "test:server", "test:client");
    assert_text(&spans, only(&spans, "test:server"), "request_type", "GET /cart/{id}");
    collection_close(&spans);
}

/* A request of which nothing is open has a trace, but no span to be a parent. */
static void a_request_without_open_points_goes_on_as_one_trace(void **state)
{
    struct pythia_context c;
    unsigned char packed[PYTHIA_CONTEXT_BYTES], again[PYTHIA_CONTEXT_BYTES];
    size_t bytes;
    {
        PYTHIA_REQUEST("r");
        bytes = pythia_context_pack(packed);
        assert_int_equal(pythia_context_pack(again), bytes);
        assert_memory_equal(packed, again, PARENT_BYTES);
    }
    assert_int_equal(unpack(packed, bytes, &c), 0);
    assert_true(c.span == 0);
    assert_true((c.trace_high | c.trace_low) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_alone_is_read),
        cmocka_unit_test(what_is_sent_has_the_bytes_that_are_told),
        cmocka_unit_test(what_comes_behind_is_read_if_it_is_ours),
        cmocka_unit_test(what_is_no_context_is_refused),
        cmocka_unit_test(every_name_goes_through),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(a_request_goes_on_in_another_process),
        cmocka_unit_test(a_request_without_open_points_goes_on_as_one_trace),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
