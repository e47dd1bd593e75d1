/* Spans of requests that are not kept: counted whatever pieces they come in. The messages are made
 * by hand, after the encoding of protocol buffers (protobuf.dev/programming-guides/encoding),
 * opentelemetry/proto/trace/v1/trace.proto and zipkin.io/zipkin-api. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pythia/adapter.h"

/* Counted in pieces of so many bytes. */
static uint64_t count_of(const char *format, const char *bytes, size_t size, size_t piece)
{
    struct pythia_span_count c = {0};
    for (size_t at = 0; at < size; at += piece)
        pythia_adapter_named(format)->count(&c, bytes + at, size - at < piece ? size - at : piece);
    return c.spans;
}

static void assert_spans(const char *format, const char *bytes, size_t size, uint64_t spans)
{
    for (size_t piece = 1; piece <= size; piece++)
        assert_int_equal(count_of(format, bytes, size, piece), spans);
}

#define SPANS(bytes, spans) assert_spans("otlp-proto", bytes, sizeof(bytes) - 1, spans)

static void spans_are_counted_in_any_pieces(void **state)
{
    (void)state;
    SPANS("", 0);
    /* Two ResourceSpans: a resource, and a ScopeSpans of two spans, the second one empty, with a
     * scope before and a schema's address behind them; then one by the old number 1000. */
    SPANS("\x0a\x12"
          "\x0a\x02\x10\x05"
          "\x12\x0c\x0a\x00\x12\x03\x0a\x01Z\x12\x00\x1a\x01s"
          "\x0a\x08"
          "\xc2\x3e\x05\x12\x03\x2a\x01n",
          3);
}

static void what_is_no_span_is_passed_over(void **state)
{
    (void)state;
    /* Outermost: a number, 8 bytes, 4 bytes, a text that looks like a request; then one span; and
     * a span's number where none belongs. */
    SPANS("\x10\xac\x02\x19\x0a\x04\x12\x02\x12\x00\x0a\x04\x25\x0a\x04\x12\x02"
          "\x1a\x06\x0a\x04\x12\x02\x12\x00"
          "\x0a\x04\x12\x02\x12\x00"
          "\x12\x02\x12\x00",
          1);
    /* Groups, outermost, and in each message around a span: what is in them looks like spans. */
    SPANS("\x0b\x0a\x04\x12\x02\x12\x00\x0c"
          "\x0a\x10\x13\x0b\x12\x00\x0c\x14\x12\x08\x13\x12\x00\x14\x12\x02\x0b\x0c",
          1);
    /* A span's content looks like spans. */
    SPANS("\x0a\x0a\x12\x08\x12\x06\x12\x04\x12\x02\x12\x00", 1);
}

static void a_broken_message_is_counted_up_to_there(void **state)
{
    (void)state;
    SPANS("\x0a\x06\x12\x04\x12\x00\x12\x05"
          "\x0a\x04\x12\x02\x12\x00",
          2); /* a span that is longer than what it is in; nothing is believed any more */
    SPANS("\x0b\x0a\x04\x12\x02\x12\x00", 0);                 /* a group that does not end */
    SPANS("\x0c\x0a\x04\x12\x02\x12\x00", 0);                 /* one that has not begun */
    SPANS("\x0a\x03\x12\x01\x0b\x0a\x04\x12\x02\x12\x00", 0); /* or ends after its message */
    SPANS("\x0a\x04\x12\x02\x12\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
          "\x0a\x04\x12\x02\x12\x00",
          1);                         /* a number of more than 64 bits */
    SPANS("\x0a\x04\x12\x02\x12", 0); /* cut */
}

static void messages_with_sizes_are_counted_each(void **state)
{
    (void)state;
    SPANS("\0\0\0\x06\x0a\x04\x12\x02\x12\x00"
          "\0\0\0\0"
          "\0\0\0\x02\x0b\x00" /* broken: the next one is read again */
          "\0\0\0\x08\x0a\x06\x12\x04\x12\x00\x12\x00"
          "\0\0\0\x06\x0a\x04\x12\x02\x12",
          3);
}

static void spans_in_json_are_objects_in_their_place(void **state)
{
    static const struct {
        const char *format, *text;
        uint64_t spans;
    } cases[] = {
        {"otlp", "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{},{\"links\":[{}]}]}]}]}", 2},
        /* Attributes of a resource, a scope and a span, and brackets in texts, are none. */
        {"otlp",
         "{\"resourceSpans\": [{\"resource\": {\"attributes\": [{\"value\": {\"arrayValue\": "
         "{\"values\": [{}, {\"kvlistValue\": {\"values\": [{}]}}]}}}]},"
         " \"scopeSpans\": [{\"scope\": {\"attributes\": [{}, {}]}, \"spans\": [{\"name\": "
         "\"a\\\"}]}{[{\\\\\", \"attributes\": [{\"value\": {}}], \"events\": [{}, {}]}]},"
         " {\"spans\": []}, {\"spans\": [{}]}]}, {\"scopeSpans\": [{\"spans\": [{}]}]}]}",
         3},
        {"otlp", "[{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{}]}]}]}]", 1},
        {"otlp",
         "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{}]}]}]}\n"
         "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"cut",
         2},
        {"otlp", "{\"batches\":[{\"scopeSpans\":[{\"spans\":[{},{}]}]}]}", 2},
        {"otlp", "}]}]}]}]{[{[{[{}}}}}}", 1},
        {"otlp", "[[[[[[[{}]]]]]]]", 0},
        {"zipkin", "[]", 0},
        {"zipkin",
         "[{\"name\": \"}\", \"localEndpoint\": {}, \"annotations\": [{}, {}], \"tags\": {}}, {}]",
         2},
        {"zipkin", "[[{}, {\"tags\": {}}], [{}]]", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_spans(cases[i].format, cases[i].text, strlen(cases[i].text), cases[i].spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_counted_in_any_pieces),
        cmocka_unit_test(what_is_no_span_is_passed_over),
        cmocka_unit_test(a_broken_message_is_counted_up_to_there),
        cmocka_unit_test(messages_with_sizes_are_counted_each),
        cmocka_unit_test(spans_in_json_are_objects_in_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
