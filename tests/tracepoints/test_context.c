/* Trace context, from header to header and from thread to thread. The headers that are refused are
 * those of W3C's own test suite (github.com/w3c/trace-context, test/test.py) and of the
 * recommendation's text. */
#include <inttypes.h>
#include <pthread.h>

#include "traced.h"

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static int read_parent(const char *header, struct pythia_context *out)
{
    return pythia_traceparent_read(header, strlen(header), out);
}

static void a_traceparent_is_read_as_the_recommendation_says(void **state)
{
    static const char *const good[] = {
        "00-" TRACE "-" PARENT "-01",
        "00-" TRACE "-" PARENT "-00",
        "00-" TRACE "-" PARENT "-ff", /* flags that are not known are passed over */
        "00-00000000000000008448eb211c80319c-" PARENT "-01",
        "00-0af7651916cd43dd0000000000000000-" PARENT "-01",
        "cc-" TRACE "-" PARENT "-01", /* a later version */
        "cc-" TRACE "-" PARENT "-01-what-the-future-will-be-like",
        "fe-" TRACE "-" PARENT "-01-",
    };
    static const char *const bad[] = {
        "",
        "00",
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-001",
        "00-" TRACE "-" PARENT "-01-what-the-future-will-be-like",
        "00-" TRACE "-" PARENT "-01 ",
        " 00-" TRACE "-" PARENT "-01",
        "cc-" TRACE "-" PARENT "-01.what-the-future-will-not-be-like",
        "ff-" TRACE "-" PARENT "-01",
        "0-" TRACE "-" PARENT "-01",
        "000-" TRACE "-" PARENT "-01",
        ".0-" TRACE "-" PARENT "-01",
        "0.-" TRACE "-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-.af7651916cd43dd8448eb211c80319c-" PARENT "-01",
        "00-0af7651916cd43dd8448eb211c80319.-" PARENT "-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00-" TRACE "0-" PARENT "-01",
        "00-0af7651916cd43dd8448eb211c80319-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-" TRACE "-.7ad6b7169203331-01",
        "00-" TRACE "-B7AD6B7169203331-01",
        "00-" TRACE "-" PARENT "0-01",
        "00-" TRACE "-b7ad6b716920333-01",
        "00-" TRACE "-" PARENT "-.0",
        "00-" TRACE "-" PARENT "-0.",
        "00-" TRACE "-" PARENT "-0X",
        "00_" TRACE "-" PARENT "-01",
        "00-" TRACE "_" PARENT "-01",
        "00-" TRACE "-" PARENT "_01",
    };
    struct pythia_context c;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (read_parent(good[i], &c) != 0)
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        memset(&c, 0x5a, sizeof(c));
        if (read_parent(bad[i], &c) != -22)
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(c.span, 0x5a5a5a5a5a5a5a5a); /* untouched */
    }
    assert_int_equal(pythia_traceparent_read(NULL, 0, &c), -22);
    assert_int_equal(pythia_traceparent_read(good[0], 54, &c), -22); /* no NUL is looked for */
}

static void its_fields_are_what_they_are(void **state)
{
    struct pythia_context c;
    assert_int_equal(read_parent("00-" TRACE "-" PARENT "-01", &c), 0);
    assert_true(c.trace_high == UINT64_C(0x0af7651916cd43dd));
    assert_true(c.trace_low == UINT64_C(0x8448eb211c80319c));
    assert_true(c.span == UINT64_C(0xb7ad6b7169203331));
    assert_int_equal(c.flags,
                     PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REMOTE | PYTHIA_CONTEXT_REQUEST);
    assert_int_equal(c.lamport, 0);
    assert_int_equal(read_parent("00-" TRACE "-" PARENT "-02", &c), 0);
    assert_int_equal(c.flags & PYTHIA_CONTEXT_SAMPLED, 0);
}

/* What another process would see of this thread. */
static void write_headers(char parent[56], char state[513])
{
    assert_int_equal(pythia_traceparent_write(parent), 55);
    assert_true(pythia_tracestate_write(NULL, 0, state) > 0);
}

/* Every byte at every place of the three ids: a digit is taken for what it is, all else refused. */
static void a_digit_is_one_of_sixteen_bytes_wherever_it_stands(void **state)
{
    const char sound[] = "00-" TRACE "-" PARENT "-01";
    for (size_t at = 3; at < 52; at++) {
        if (at == 35)
            continue;
        for (int byte = 0; byte < 256; byte++) {
            struct pythia_context c;
            char header[sizeof(sound)], high[17], low[17], span[17];
            memcpy(header, sound, sizeof(sound));
            header[at] = (char)byte;
            int is_digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
            if (pythia_traceparent_read(header, 55, &c) != (is_digit ? 0 : -22))
                fail_msg("byte %d at %zu", byte, at);
            if (!is_digit)
                continue;
            snprintf(high, sizeof(high), "%016" PRIx64, c.trace_high);
            snprintf(low, sizeof(low), "%016" PRIx64, c.trace_low);
            snprintf(span, sizeof(span), "%016" PRIx64, c.span);
            assert_memory_equal(high, header + 3, 16);
            assert_memory_equal(low, header + 19, 16);
            assert_memory_equal(span, header + 36, 16);
        }
    }
}

static void what_is_written_are_the_digits_of_the_numbers(void **state)
{
    uint64_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        struct pythia_context c = {.flags = PYTHIA_CONTEXT_REQUEST | (i & 1)}, before;
        char parent[56], tracestate[513], wanted[56];
        uint64_t *numbers[] = {&c.trace_high, &c.trace_low, &c.span};
        for (size_t k = 0; k < 3; k++)
            *numbers[k] = seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        c.lamport = (uint32_t)(seed >> 32) >> i % 32;
        pythia_context_set(&c, &before);
        write_headers(parent, tracestate);
        pythia_context_set(&before, NULL);
        snprintf(wanted, sizeof(wanted), "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-0%d",
                 c.trace_high, c.trace_low, c.span, i & 1);
        assert_string_equal(parent, wanted);
        snprintf(wanted, sizeof(wanted), "pythia=l:%" PRIx32,
                 c.lamport < UINT32_MAX ? c.lamport + 1 : UINT32_MAX);
        assert_string_equal(tracestate, wanted);
    }
}

static void a_request_goes_on_in_another_process(void **state)
{
    struct pythia_context c, before;
    struct collection spans;
    char parent[56], tracestate[513];
    open_point("test:client");
    open_point("test:server");
    {
        PYTHIA_REQUEST("GET /cart/{id}");
        PYTHIA_SPAN("client");
        write_headers(parent, tracestate);
    }
    assert_string_equal(tracestate, "pythia=l:2;t:GET%20/cart/%7bid%7d");
    assert_int_equal(read_parent(parent, &c), 0);
    pythia_tracestate_read(tracestate, strlen(tracestate), &c);
    assert_int_equal(c.lamport, 3);
    pythia_context_set(&c, &before);
    {
        PYTHIA_REQUEST("something else"); /* it has a name already */
        PYTHIA_SPAN("server");
    }
    pythia_context_set(&before, NULL);
    read_spans(&spans);
    assert_child(&spans, "test:server", "test:client");
    assert_text(&spans, only(&spans, "test:server"), "request_type", "GET /cart/{id}");
    collection_close(&spans);
}

/* Where nothing is open the ids that came in go out again, as if this process were not there. */
static void a_process_without_open_points_is_transparent(void **state)
{
    struct pythia_context c, before;
    char out[56];
    const char header[] = "00-" TRACE "-" PARENT "-01";
    assert_int_equal(read_parent(header, &c), 0);
    pythia_context_set(&c, &before);
    {
        PYTHIA_SPAN("nobody opened this");
        assert_int_equal(pythia_traceparent_write(out), 55);
        assert_string_equal(out, header);
    }
    pythia_context_set(&before, NULL);
}

/* A request of which nothing is open has a trace, but no span to be a parent. */
static void spans_below_a_request_without_open_points_are_roots_of_one_trace(void **state)
{
    struct pythia_context c, before;
    struct collection spans;
    char parent[56], again[56];
    open_point("test:far");
    close_point("test:near");
    {
        PYTHIA_REQUEST("r");
        PYTHIA_SPAN("near");
        assert_int_equal(pythia_traceparent_write(parent), 55);
        assert_int_equal(pythia_traceparent_write(again), 55);
        assert_string_equal(parent, again);
    }
    assert_int_equal(read_parent(parent, &c), 0);
    assert_true(c.span == 0);
    pythia_context_set(&c, &before);
    for (int i = 0; i < 2; i++) {
        PYTHIA_SPAN("far");
    }
    pythia_context_set(&before, NULL);
    read_spans(&spans);
    assert_int_equal(spans.count, 2);
    assert_true(pythia_trace_id_equal(spans.spans[0].trace, spans.spans[1].trace));
    for (size_t i = 0; i < 2; i++)
        assert_true(span_at(&spans, i)->parent == 0);
    collection_close(&spans);
}

static void outside_of_a_request_there_is_nothing_to_pass_on(void **state)
{
    char parent[56], tracestate[513];
    assert_int_equal(pythia_traceparent_write(parent), 0);
    assert_string_equal(parent, "");
    assert_int_equal(pythia_tracestate_write("a=b", 3, tracestate), 0);
    assert_string_equal(tracestate, "");
}

static uint32_t count_of_state(const char *header)
{
    struct pythia_context c;
    assert_int_equal(read_parent("00-" TRACE "-" PARENT "-01", &c), 0);
    pythia_tracestate_read(header, strlen(header), &c);
    return c.lamport;
}

static void our_entry_is_found_among_those_of_others(void **state)
{
    static const struct {
        const char *header;
        uint32_t count; /* one more than was sent: coming in is an event */
    } cases[] = {
        {"pythia=l:2a", 43},
        {"pythia=l:2a;t:x", 43},
        {"pythia=t:x;l:2a", 43},
        {"pythia=t:x;q:9;l:2a", 43}, /* a field of a later version */
        {"vendor=1,pythia=l:2a", 43},
        {"vendor=1 ,\tpythia=l:2a , other=2", 43},
        {"pythia=l:ffffffff", UINT32_MAX},
        {"pythia=l:2a,pythia=l:3b", 43}, /* the first counts */
        {"", 0},
        {",,,", 0},
        {"pythia=", 0},
        {"pythia", 0},
        {"pythia=l:", 0},
        {"pythia=l:2A", 0},
        {"pythia=l:123456789", 0},
        {"pythia=l", 0},
        {"pythia=;;;", 0},
        {"xpythia=l:2a", 0},
        {"pythiax=l:2a", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (count_of_state(cases[i].header) != cases[i].count)
            fail_msg("%s: %u", cases[i].header, count_of_state(cases[i].header));
}

static void kinds_of_requests_that_are_broken_are_passed_over(void **state)
{
    static const char *const broken[] = {"pythia=t:%", "pythia=t:%1", "pythia=t:%zz",
                                         "pythia=t:",  "pythia=t:%7", "pythia=t:a%"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct pythia_context c;
        assert_int_equal(read_parent("00-" TRACE "-" PARENT "-01", &c), 0);
        pythia_tracestate_read(broken[i], strlen(broken[i]), &c);
        assert_null(c.type);
        assert_int_equal(c.request_type, PYTHIA_TYPE_NONE);
    }
}

/* A list of `count` entries of others, each of `size` bytes. */
static struct pythia_buf list_of(int count, int size)
{
    struct pythia_buf list = {0};
    for (int i = 0; i < count; i++)
        pythia_buf_printf(&list, "%sv%02d=%0*d", i ? "," : "", i, size - 4, i);
    return list;
}

/* Kinds are looked for in few places first: more names than these are for one of them (they end
 * alike), names that are too long for it, and names that differ in one byte are each what they are,
 * time and again. */
static void kinds_that_come_by_turns_are_not_mixed_up(void **state)
{
    static const char *const names[] = {
        "aXb",
        "aYb",
        "aZb",
        "GET /a/name/of/22/bytes",
        "GET /b/name/of/22/bytes",
        "A/the same end",
        "A_the same end",
        "A-the same end",
        "A.the same end",
        "AAthe same end",
        "ABthe same end",
        "exactly 40 bytes long as much as it has.",
        "exactly 41 bytes long more than has room.",
        "exactly 44 bytes long and not beyond a word.",
        "a",
        "b",
        "c",
        "d",
        "e",
    };
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    const void *types[COUNT] = {0};
    uint8_t bits[COUNT] = {0};
    open_point("test:server");
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < COUNT; i++) {
            struct pythia_context c, before;
            struct collection spans;
            char header[96];
            assert_int_equal(read_parent("00-" TRACE "-" PARENT "-01", &c), 0);
            int bytes = snprintf(header, sizeof(header), "pythia=l:1;t:%s", names[i]);
            pythia_tracestate_read(header, (size_t)bytes, &c);
            assert_non_null(c.type);
            assert_true(turn == 0 || (c.type == types[i] && c.request_type == bits[i]));
            for (int k = 0; k < i; k++)
                assert_true(c.type != types[k] && c.request_type != bits[k]);
            types[i] = c.type;
            bits[i] = c.request_type;
            pythia_context_set(&c, &before);
            {
                PYTHIA_SPAN("server");
            }
            pythia_context_set(&before, NULL);
            read_spans(&spans);
            assert_text(&spans, only(&spans, "test:server"), "request_type", names[i]);
            collection_close(&spans);
        }
}

/* A span of a request of that kind says so, in the trace and in what is passed on. */
static void assert_kind_is_told(const char *kind, const char *told)
{
    struct pythia_context c, before;
    struct collection spans;
    char state[PYTHIA_TRACESTATE_BYTES + 1], expected[128];
    assert_int_equal(read_parent("00-" TRACE "-" PARENT "-01", &c), 0);
    snprintf(state, sizeof(state), "pythia=l:1;t:%s", kind);
    pythia_tracestate_read(state, strlen(state), &c);
    pythia_context_set(&c, &before);
    {
        PYTHIA_SPAN("server");
        pythia_tracestate_write(NULL, 0, state);
    }
    pythia_context_set(&before, NULL);
    snprintf(expected, sizeof(expected), "pythia=l:4;t:%s", told);
    assert_string_equal(state, expected);
    read_spans(&spans);
    assert_text(&spans, only(&spans, "test:server"), "request_type", told);
    collection_close(&spans);
}

/* More than are found at once, and more than are kept at all: these are "other". */
static void there_may_be_many_kinds(void **state)
{
    char kind[64];
    open_point("test:server");
    for (int i = 0; i < 4096; i++) {
        struct pythia_context c = {0};
        int bytes = snprintf(kind, sizeof(kind), "pythia=l:1;t:%d-of-them", i);
        pythia_tracestate_read(kind, (size_t)bytes, &c);
        assert_non_null(c.type);
    }
    assert_kind_is_told("0-of-them", "0-of-them");
    assert_kind_is_told("99-of-them", "99-of-them");
    assert_kind_is_told("4000-of-them", "4000-of-them");
    assert_kind_is_told("one-too-many", "other");
    assert_kind_is_told("0-of-them", "0-of-them");
}

/* Read it from memory of its own size, where a byte too far is found by the sanitizers. */
static struct pythia_context read_alone(const char *header, size_t bytes)
{
    struct pythia_context c;
    char *alone = malloc(bytes);
    assert_non_null(alone);
    memcpy(alone, header, bytes);
    assert_int_equal(read_parent("00-" TRACE "-" PARENT "-01", &c), 0);
    pythia_tracestate_read(alone, bytes, &c);
    free(alone);
    return c;
}

static struct pythia_context read_state(const char *header)
{
    return read_alone(header, strlen(header));
}

/* An entry as it is written here, of a kind that is known, is read on a way of its own; with
 * another one behind it, on the way of all. */
static void assert_read_as_any_other(const char *header)
{
    char longer[128];
    snprintf(longer, sizeof(longer), "%s,o=1", header);
    struct pythia_context usual = read_state(header), unusual = read_state(longer);
    assert_ptr_equal(usual.type, unusual.type);
    assert_int_equal(usual.request_type, unusual.request_type);
    assert_int_equal(usual.lamport, unusual.lamport);
}

static void the_usual_entry_is_read_as_any_other(void **state)
{
    static const char name[] = "abcdefghijklmnopqrstuvw";
    char header[64];
    for (unsigned digits = 1; digits <= 8; digits++)
        for (int bytes = 1; bytes < (int)sizeof(name); bytes++) {
            unsigned count = 0x9abcdef1U >> (32 - 4 * digits);
            snprintf(header, sizeof(header), "pythia=l:%x;t:%.*s", count, bytes, name);
            for (int turn = 0; turn < 2; turn++) {
                assert_int_equal(read_state(header).lamport, count + 1);
                assert_non_null(read_state(header).type);
                assert_read_as_any_other(header);
            }
        }
    for (size_t at = 0; at < strlen("pythia=l:2a;t:"); at++)
        for (unsigned byte = 1; byte < 256; byte++) {
            snprintf(header, sizeof(header), "pythia=l:2a;t:abc");
            header[at] = (char)byte;
            assert_read_as_any_other(header);
        }
    (void)state;
}

/* A name that looks like one with %XX in it. */
static void names_with_escapes_in_them_are_other_names(void **state)
{
    const void *first[2] = {0};
    char parent[56], out[513];
    struct pythia_context before;
    for (int turn = 0; turn < 3; turn++) {
        struct pythia_context with = read_state("pythia=l:1;t:a%2541");
        struct pythia_context without = read_state("pythia=l:1;t:a%41");
        assert_non_null(with.type);
        assert_ptr_not_equal(with.type, without.type);
        assert_ptr_equal(without.type, read_state("pythia=l:1;t:aA").type);
        assert_true(turn == 0 || (first[0] == with.type && first[1] == without.type));
        first[0] = with.type;
        first[1] = without.type;
        pythia_context_set(&with, &before);
        write_headers(parent, out);
        pythia_context_set(&before, NULL);
        assert_string_equal(out, "pythia=l:3;t:a%2541");
    }
    (void)state;
}

static void entries_of_others_go_along_behind_ours(void **state)
{
    char out[513];
    PYTHIA_REQUEST("state");
    const char received[] = " a=1 ,, pythia=l:99;t:old,b=2\t";
    pythia_tracestate_write(received, sizeof(received) - 1, out);
    assert_string_equal(out, "pythia=l:1;t:state,a=1,b=2");

    struct pythia_buf many = list_of(40, 6); /* 32 at most, one of them ours */
    size_t size = pythia_tracestate_write(many.bytes, many.size, out);
    assert_int_equal(size, strlen(out));
    assert_string_equal(out + size - 6, "v30=30");
    pythia_buf_free(&many);

    many = list_of(20, 50); /* 512 bytes at most, whole entries */
    size = pythia_tracestate_write(many.bytes, many.size, out);
    assert_int_equal(size, strlen(out));
    assert_true(size <= 512 && size > 512 - 51);
    assert_memory_equal(out + size - 50, "v08=", 4);
    pythia_buf_free(&many);
}

/* Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 21(7), 1978: an
 * event counts more than all that went before it, whatever way the knowledge of them took. */
static void counts_go_up_along_every_way(void **state)
{
    struct pythia_context here, there, before;
    char parent[56], tracestate[513];
    PYTHIA_REQUEST("count");
    open_point("test:event");
    uint32_t last = 0;
    for (int i = 0; i < 5; i++) {
        PYTHIA_ANNOTATE("event");
        pythia_context_get(&here);
        assert_true(here.lamport > last);
        last = here.lamport;
    }
    write_headers(parent, tracestate);
    assert_int_equal(read_parent(parent, &there), 0);
    pythia_tracestate_read(tracestate, strlen(tracestate), &there);
    assert_true(there.lamport > last);
    pythia_context_set(&there, &before);
    {
        PYTHIA_SPAN("event"); /* enter and exit */
    }
    pythia_context_get(&there);
    pythia_context_set(&before, NULL);
    pythia_context_receive(there.lamport); /* the answer */
    pythia_context_get(&here);
    assert_true(here.lamport > there.lamport);
    pythia_context_receive(1); /* one that was overtaken changes nothing but the count itself */
    last = here.lamport;
    pythia_context_get(&here);
    assert_int_equal(here.lamport, last + 1);
    pythia_context_receive(UINT32_MAX);
    pythia_context_get(&here);
    assert_int_equal(here.lamport, UINT32_MAX); /* and stays there */
    discard_spans();
}

static void *do_part(void *context)
{
    PYTHIA_CONTEXT((const struct pythia_context *)context);
    PYTHIA_SPAN("part");
    return NULL;
}

static void work_that_another_thread_does_is_of_the_same_request(void **state)
{
    struct collection c;
    int type = pythia_switchboard_type(traced.board, "handed over", 11);
    open_point("test:whole");
    throw_types("test:part", UINT64_C(1) << type);
    {
        PYTHIA_REQUEST("handed over");
        PYTHIA_SPAN("whole");
        struct pythia_context context;
        pthread_t threads[3];
        pythia_context_get(&context);
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, do_part, &context), 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
    read_spans(&c);
    assert_int_equal(c.count, 4);
    size_t whole = only(&c, "test:whole");
    for (size_t i = 0; i < 4; i++) {
        assert_true(pythia_trace_id_equal(c.spans[i].trace, c.spans[whole].trace));
        assert_true(i == whole || span_at(&c, i)->parent == span_at(&c, whole)->id);
    }
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_is_read_as_the_recommendation_says),
        cmocka_unit_test(its_fields_are_what_they_are),
        cmocka_unit_test(a_digit_is_one_of_sixteen_bytes_wherever_it_stands),
        cmocka_unit_test(what_is_written_are_the_digits_of_the_numbers),
        cmocka_unit_test(a_request_goes_on_in_another_process),
        cmocka_unit_test(a_process_without_open_points_is_transparent),
        cmocka_unit_test(spans_below_a_request_without_open_points_are_roots_of_one_trace),
        cmocka_unit_test(outside_of_a_request_there_is_nothing_to_pass_on),
        cmocka_unit_test(our_entry_is_found_among_those_of_others),
        cmocka_unit_test(kinds_of_requests_that_are_broken_are_passed_over),
        cmocka_unit_test(kinds_that_come_by_turns_are_not_mixed_up),
        cmocka_unit_test(the_usual_entry_is_read_as_any_other),
        cmocka_unit_test(names_with_escapes_in_them_are_other_names),
        cmocka_unit_test(entries_of_others_go_along_behind_ours),
        cmocka_unit_test(counts_go_up_along_every_way),
        cmocka_unit_test(work_that_another_thread_does_is_of_the_same_request),
        cmocka_unit_test(there_may_be_many_kinds), /* the last: there is no room for more */
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
