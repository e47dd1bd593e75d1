#include <stdio.h>
#include <string.h>

#include "check.h"
#include "otlp_protobuf_text.h"

/* ---- broken input ---- */

/* A span whose fields begin at byte 6 and are at fault, and one without. */
static void assert_span_is_told(const char *fields, const char *problem)
{
    struct pythia_buf text = {0};
    struct collection c;
    pythia_buf_printf(&text, "1{2{2{%s}2{" NEEDS "}}}", fields);
    collect_message(&c, text.bytes);
    assert_problems(&c, problem);
    assert_int_equal(c.count, 1);
    assert_times(&c, 0, 5, 0);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 1);
    pythia_buf_free(&text);
    collection_close(&c);
}

static void a_span_without_what_it_needs_is_told(void **state)
{
#define TRACE "1#000000000000000000000000000000ab"
#define ID    "2#00000000000000cd"
    assert_span_is_told(ID " 7!1", "0:6: a span without traceId\n");
    assert_span_is_told("1# " ID " 7!1", "0:6: a span without traceId\n");
    assert_span_is_told("1#00000000000000000000000000000000 " ID " 7!1",
                        "0:6: a span without traceId\n");
    assert_span_is_told(TRACE " 7!1", "0:6: a span without spanId\n");
    assert_span_is_told(TRACE " 2# 7!1", "0:6: a span without spanId\n");
    assert_span_is_told(TRACE " 2#0000000000000000 7!1", "0:6: a span without spanId\n");
    assert_span_is_told("", "0:6: a span without spanId\n");
    assert_span_is_told(TRACE " " ID, "0:6: a span without startTimeUnixNano\n");
}

static void ids_and_times_that_cannot_be_are_told(void **state)
{
    assert_span_is_told("1#ab", "0:8: traceId has 1 bytes, expected 16\n");
    assert_span_is_told("1#000000000000000000000000000000ab00",
                        "0:8: traceId has 17 bytes, expected 16\n");
    assert_span_is_told("2#00000000000000", "0:8: spanId has 7 bytes, expected 8\n");
    assert_span_is_told("2#000000000000000000", "0:8: spanId has 9 bytes, expected 8\n");
    assert_span_is_told("4#ab", "0:8: parentSpanId has 1 bytes, expected 8\n");
    assert_span_is_told("7!9223372036854775808",
                        "0:6: the time 9223372036854775808 is out of range\n");
    assert_span_is_told("7!1 8!18446744073709551615",
                        "0:15: the time 18446744073709551615 is out of range\n");
}

static void fields_of_another_type_are_told(void **state)
{
    static const char *const cases[][2] = {
        {"1=1", "0:6: traceId (field 1) has wire type 0, expected 2\n"},
        {"2!1", "0:6: spanId (field 2) has wire type 1, expected 2\n"},
        {"4~1", "0:6: parentSpanId (field 4) has wire type 5, expected 2\n"},
        {"5=1", "0:6: name (field 5) has wire type 0, expected 2\n"},
        {"6'x'", "0:6: kind (field 6) has wire type 2, expected 0\n"},
        {"6!2", "0:6: kind (field 6) has wire type 1, expected 0\n"},
        {"7=1", "0:6: startTimeUnixNano (field 7) has wire type 0, expected 1\n"},
        {"8~1", "0:6: endTimeUnixNano (field 8) has wire type 5, expected 1\n"},
        {"9=1", "0:6: attributes (field 9) has wire type 0, expected 2\n"},
        {"9{1=1}", "0:8: key (field 1) has wire type 0, expected 2\n"},
        {"9{1'k' 2!1}", "0:11: value (field 2) has wire type 1, expected 2\n"},
        {"9{1'k' 2{1=1}}", "0:13: stringValue (field 1) has wire type 0, expected 2\n"},
        {"9{1'k' 2{2'x'}}", "0:13: boolValue (field 2) has wire type 2, expected 0\n"},
        {"9{1'k' 2{3:1}}", "0:13: intValue (field 3) has wire type 1, expected 0\n"},
        {"9{1'k' 2{4=1}}", "0:13: doubleValue (field 4) has wire type 0, expected 1\n"},
        {"9{1'k' 2{5=1}}", "0:13: arrayValue (field 5) has wire type 0, expected 2\n"},
        {"9{1'k' 2{6=1}}", "0:13: kvlistValue (field 6) has wire type 0, expected 2\n"},
        {"9{1'k' 2{7=1}}", "0:13: bytesValue (field 7) has wire type 0, expected 2\n"},
        {"9{1'k' 2{5{1=1}}}", "0:15: values (field 1) has wire type 0, expected 2\n"},
        {"9{1'k' 2{6{1=1}}}", "0:15: values (field 1) has wire type 0, expected 2\n"},
        {"11=1", "0:6: events (field 11) has wire type 0, expected 2\n"},
        {"11{2=1}", "0:8: name (field 2) has wire type 0, expected 2\n"},
        {"11{2'e' 3=1}", "0:11: attributes (field 3) has wire type 0, expected 2\n"},
        {"15=1", "0:6: status (field 15) has wire type 0, expected 2\n"},
        {"15{3'x'}", "0:8: code (field 3) has wire type 2, expected 0\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_span_is_told(cases[i][0], cases[i][1]);
}

static void faults_of_the_encoding_in_a_span_are_told(void **state)
{
    static const char *const cases[][2] = {
        {"<00>", "0:6: there is no field 0\n"},
        {"<4c>", "0:6: field 9 ends a group that has not begun\n"},
        {"<4b>", "0:6: the message ends in the middle of field 9\n"},
        {"<4e>", "0:6: field 9 has wire type 6, which does not exist\n"},
        {"5'n' <30>", "0:9: the message ends in the middle of field 6\n"},
        {"<30ffffffffffffffffffff01>", "0:6: field 6 has a number of more than 10 bytes\n"},
        {"<3901020304>", "0:6: the message ends in the middle of field 7\n"},
        {"<4a056162>", "0:6: field 9 of 5 bytes in a message that ends 2 bytes on\n"},
        {"<2affffffffffffffffff01>",
         "0:6: field 5 of 18446744073709551615 bytes in a message that ends 0 bytes on\n"},
        {"9{<0a056b>}", "0:8: field 1 of 5 bytes in a message that ends 1 bytes on\n"},
        {"9{1'k' 2{<1880>}}", "0:13: the message ends in the middle of field 3\n"},
        {"9{1'k' 2{5{1{<0a09>}}}}", "0:17: field 1 of 9 bytes in a message that ends 0 bytes on\n"},
        {"11{2'e' 3{<0b>}}", "0:13: the message ends in the middle of field 1\n"},
        {"15{<18>}", "0:8: the message ends in the middle of field 3\n"},
        /* merged values are read elsewhere: the place is the span's */
        {"9{1'k' 2{5{1{3=1}}} 2{5{<08>}}}", "0:6: the message ends in the middle of field 1\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_span_is_told(cases[i][0], cases[i][1]);
}

static void key_values_nested_too_deep_are_told(void **state)
{
    for (int depth = 31; depth <= 33; depth++) {
        struct pythia_buf fields = {0};
        struct collection c;
        pythia_buf_puts(&fields, "9{1'k' 2{");
        for (int i = 0; i < depth; i++)
            pythia_buf_puts(&fields, "6{1{1'k' 2{");
        pythia_buf_puts(&fields, "3=1");
        for (int i = 0; i < depth; i++)
            pythia_buf_puts(&fields, "}}}");
        pythia_buf_puts(&fields, "}}");
        collect_span_with(&c, fields.bytes);
        assert_int_equal(c.count, depth <= 32 ? 1 : 0);
        assert_int_equal(strstr(c.problems.bytes, "key-values are nested deeper than 32") != NULL,
                         depth > 32);
        collection_close(&c);
        pythia_buf_free(&fields);
    }
}

/* Arrays in arrays are not read, however deep. */
static void a_nesting_of_10000_is_passed_over(void **state)
{
    struct pythia_buf value = {0}, outer = {0};
    struct collection c;
    for (int i = 0; i < 10000; i++) { /* from the inside: 1{5{…}} */
        pythia_buf_clear(&outer);
        assemble_varint(&outer, 5 * 8 + 2);
        assemble_varint(&outer, value.size);
        pythia_buf_text_add(&outer, pythia_buf_text(&value));
        pythia_buf_clear(&value);
        assemble_varint(&value, 1 * 8 + 2);
        assemble_varint(&value, outer.size);
        pythia_buf_text_add(&value, pythia_buf_text(&outer));
    }
    struct pythia_buf message = {0}, hex = {0};
    for (size_t i = 0; i < value.size; i++)
        pythia_buf_printf(&hex, "%02x", (unsigned)(unsigned char)value.bytes[i]);
    pythia_buf_printf(&message, "1{2{2{" NEEDS " 9{1'k' 2{5{<%s>}}} 92{<%s>}}}}", hex.bytes,
                      hex.bytes);
    collect_message(&c, message.bytes);
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_text(&c, 0, "k", "");
    pythia_buf_free(&message);
    pythia_buf_free(&hex);
    pythia_buf_free(&value);
    pythia_buf_free(&outer);
    collection_close(&c);
}

/* What is between records has no place to go on at: the rest of the message is left out, and what
 * is around it is read. What was read of it before is kept. */
static void a_fault_between_spans_ends_what_they_are_in(void **state)
{
    static const struct {
        const char *text, *problems;
        size_t spans;
    } cases[] = {
        {"1{2{1{1'a'} 2{" NEEDS "} <0b> 2{" NEEDS "}} 2{2{" NEEDS "}}} 1{2{2{" NEEDS "}}}",
         "0:48: the message ends in the middle of field 1: 40 bytes are skipped\n", 3},
        {"1{2{1{1'a'} 2{" NEEDS "} <0c> 2{" NEEDS "}} 2{2{" NEEDS "}}} 1{2{2{" NEEDS "}}}",
         "0:48: field 1 ends a group that has not begun: 40 bytes are skipped\n", 3},
        {"1{2{2{" NEEDS "} <12ff01>} 2{2{" NEEDS "}}} 1{2{2{" NEEDS "}}}",
         "0:43: field 2 of 255 bytes in a message that ends 0 bytes on: 3 bytes are skipped\n", 3},
        {"1{2{2{" NEEDS "}} <07>} 1{2{2{" NEEDS "}}}",
         "0:43: there is no field 0: 1 bytes are skipped\n", 2},
        {"1{2{2{" NEEDS "}}} <0e> 1{2{2{" NEEDS "}}}",
         "0:43: field 1 has wire type 6, which does not exist: the rest of the input is skipped\n",
         1},
        {"1{2=1 2{2{" NEEDS "}} 1!2 1000~3 <10> } 1=5 1{2{1=1 2=2 2{" NEEDS "}}}",
         "0:2: scopeSpans (field 2) has wire type 0, expected 2\n"
         "0:45: resource (field 1) has wire type 1, expected 2\n"
         "0:54: instrumentationLibrarySpans (field 1000) has wire type 5, expected 2\n"
         "0:60: the message ends in the middle of field 2: 1 bytes are skipped\n"
         "0:61: resourceSpans (field 1) has wire type 0, expected 2\n"
         "0:67: scope (field 1) has wire type 0, expected 2\n"
         "0:69: spans (field 2) has wire type 0, expected 2\n",
         2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collection c;
        collect_message(&c, cases[i].text);
        assert_problems(&c, cases[i].problems);
        assert_int_equal(c.count, cases[i].spans);
        collection_close(&c);
    }
}

/* Of a resource or a scope what was read before the fault counts, as it does in JSON. */
static void a_broken_resource_or_scope_is_told_and_its_spans_are_kept(void **state)
{
    struct collection c;
    collect_message(&c, "1{1{1{1'service.name' 2{1's'}} <00>} 2{1{1'lib' <00>} 2{" NEEDS " 5'o'}}}"
                        "1{1{1=1} 2{1{1=1} 2{" NEEDS " 5'o'}}}");
    assert_int_equal(c.count, 2);
    assert_tracepoint(&c, 0, "s:lib:o");
    assert_tracepoint(&c, 1, "o");
    assert_problems(&c, "0:25: there is no field 0\n"
                        "0:35: there is no field 0\n"
                        "0:82: attributes (field 1) has wire type 0, expected 2\n"
                        "0:88: name (field 1) has wire type 0, expected 2\n");
    collection_close(&c);
}

/* At each byte: the spans that are whole are kept, the cut is told once, unless it is between the
 * fields of the outermost message. */
static void of_an_input_that_is_cut_off_the_spans_are_kept(void **state)
{
    struct pythia_buf message = protobuf_of("1{1{1{1'service.name' 2{1's'}}} 2{1{1'l'} 2{" NEEDS
                                            "} 2{" NEEDS "}} 2{2{" NEEDS "}}}"
                                            "1{2{2{" NEEDS "}} 1{1{1'service.name' 2{1't'}}}}");
    /* where the spans end: 37 bytes each, with 2 bytes in front of them */
    static const size_t ends[] = {72, 111, 152, 195};
    assert_int_equal(message.size, 218);
    for (size_t size = 0; size <= message.size; size++)
        for (size_t piece = 0; piece < 200; piece = piece * 13 + 1) {
            struct collection c;
            size_t whole = 0;
            collection_open(&c);
            collect_bytes(&c, FORMAT, (struct pythia_text){message.bytes, size}, piece);
            assert_int_equal(c.status, PYTHIA_OK);
            while (whole < 4 && ends[whole] <= size)
                whole++;
            assert_int_equal(c.count, whole);
            bool between = size == 0 || size == 152 || size == 218;
            assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], !between);
            assert_int_equal(strstr(c.problems.bytes, "the input ends in the middle") != NULL,
                             !between);
            assert_null(strstr(c.problems.bytes, "left out"));
            for (size_t i = 0; i < c.count && i < 3; i++)
                assert_tracepoint(&c, i, i < 2 ? "s:l:" : "s:");
            collection_close(&c);
        }
    pythia_buf_free(&message);
}

static void broken_utf8_is_repaired_and_counted(void **state)
{
    struct collection c;
    collect_message(&c, "1{1{1{1'service.name' 2{1'\x80'}}} 2{1{1'\xC3'} 2{" NEEDS " 5'caf\xE9'"
                        "  9{1'k\xFF' 2{1'\xC3\xA9'}} 9{1'k\xFF' 2{3=1}} 9{1'z' 2{1#610062}}"
                        "  9{1'ok' 2{1'\xC3\xA9'}} 9{1'a' 2{5{1{1'\xFF'} 1{1'x'}}}}"
                        "  9{1'kv' 2{6{1{1'\xFF' 2{3=2}}}}} 11{2'\xFE'}}}}");
    assert_problems(&c, "");
    assert_int_equal(c.counts.repaired[PYTHIA_REPAIR_ENCODING], 9);
    assert_tracepoint(&c, 0, "\xEF\xBF\xBD:\xEF\xBF\xBD:caf\xEF\xBF\xBD");
    assert_integer(&c, 0, "k\xEF\xBF\xBD", 1);
    assert_text(&c, 0, "z",
                "a\xEF\xBF\xBD"
                "b");
    assert_text(&c, 0, "ok", "\xC3\xA9");
    assert_text(&c, 0, "a", "\xEF\xBF\xBD,x");
    assert_integer(&c, 0, "kv.\xEF\xBF\xBD", 2);
    assert_truth(&c, 0, "event.\xEF\xBF\xBD", 1);
    collection_close(&c);
}

/* ---- several messages, each behind its size ---- */

/* Each message behind its size. */
static struct pythia_buf framed_of(const char *const *texts, size_t count)
{
    struct pythia_buf all = {0};
    for (size_t i = 0; i < count; i++) {
        struct pythia_buf message = protobuf_of(texts[i]);
        for (int shift = 24; shift >= 0; shift -= 8)
            pythia_buf_putc(&all, (char)(message.size >> shift & 0xFF));
        pythia_buf_text_add(&all, pythia_buf_text(&message));
        pythia_buf_free(&message);
    }
    return all;
}

static void messages_behind_their_sizes_are_read(void **state)
{
    static const char *const texts[] = {"1{2{2{" NEEDS "}}}", "", "1{2{2{" NEEDS "}}}", "90=1"};
    struct pythia_buf all = framed_of(texts, 4);
    struct collection c;
    collection_open(&c);
    collect_bytes(&c, FORMAT, pythia_buf_text(&all), 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 1);
    assert_pieces_do_not_matter_of(FORMAT, pythia_buf_text(&all));
    collection_close(&c);
    pythia_buf_free(&all);
}

static void a_broken_message_is_told_and_the_next_one_is_read(void **state)
{
    static const char *const texts[] = {"<0c> 1{2{2{" NEEDS "}}}", "1{2{2{" NEEDS "}}}", "<0a7f>",
                                        "1{2{2{" NEEDS "}}}"};
    struct pythia_buf all = framed_of(texts, 4);
    struct collection c;
    pythia_buf_add(&all, "\0\0", 2); /* half a size */
    collection_open(&c);
    collect_bytes(&c, FORMAT, pythia_buf_text(&all), 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.count, 2);
    assert_problems(
        &c, "0:4: field 1 ends a group that has not begun: 44 bytes are skipped\n"
            "0:99: field 1 of 127 bytes in a message that ends 0 bytes on: 2 bytes are skipped\n"
            "0:150: the input ends in the middle of a message: 2 bytes are missing\n");
    assert_pieces_do_not_matter_of(FORMAT, pythia_buf_text(&all));
    collection_close(&c);
    pythia_buf_free(&all);
}

/* A message larger than the window, in a ScopeSpans whose scope stands behind its spans. */
static void a_large_message_is_read_piece_by_piece(void **state)
{
    enum { SPANS = 20000 };
    struct pythia_buf spans = {0}, message = {0}, span = protobuf_of("2{" NEEDS " 5'o'}"),
                      scope = protobuf_of("1{1'lib'}"),
                      resource = protobuf_of("1{1{1'service.name' 2{1's'}}}");
    struct collection c;
    for (int i = 0; i < SPANS; i++)
        pythia_buf_text_add(&spans, pythia_buf_text(&span));
    pythia_buf_text_add(&spans, pythia_buf_text(&scope));
    size_t size = spans.size;
    struct pythia_buf head = {0};
    assemble_varint(&head, 2 * 8 + 2);
    assemble_varint(&head, size);
    assemble_varint(&message, 1 * 8 + 2);
    assemble_varint(&message, head.size + size + resource.size);
    pythia_buf_text_add(&message, pythia_buf_text(&head));
    pythia_buf_text_add(&message, pythia_buf_text(&spans));
    pythia_buf_text_add(&message, pythia_buf_text(&resource));
    for (size_t piece = 0; piece < 200000; piece = piece * 10 + 999) {
        collection_open(&c);
        collect_bytes(&c, FORMAT, pythia_buf_text(&message), piece);
        assert_int_equal(c.status, PYTHIA_OK);
        assert_problems(&c, "");
        assert_int_equal(c.count, SPANS);
        assert_tracepoint(&c, 0, "s:lib:o");
        assert_tracepoint(&c, SPANS - 1, "s:lib:o");
        collection_close(&c);
    }
    pythia_buf_free(&head);
    pythia_buf_free(&spans);
    pythia_buf_free(&span);
    pythia_buf_free(&scope);
    pythia_buf_free(&resource);
    pythia_buf_free(&message);
}

/* One of 64 MiB, the limit, and one with a byte more. */
static void a_span_above_the_limit_is_told_and_passed_over(void **state)
{
    enum { LIMIT = 64 << 20 };
    struct pythia_buf good = protobuf_of("2{" NEEDS "}"), needs = protobuf_of(NEEDS);
    char *body = calloc(1, LIMIT + 1024);
    assert_non_null(body);
    for (size_t size = LIMIT; size <= LIMIT + 1; size++) {
        /* the span: what it needs, and an unknown field 3 with all the rest, behind 1 + 4 bytes */
        struct pythia_buf text = {0}, head = {0}, spans = {0};
        struct collection c;
        assemble_varint(&spans, 2 * 8 + 2);
        assemble_varint(&spans, size);
        pythia_buf_text_add(&spans, pythia_buf_text(&needs));
        assemble_varint(&spans, 3 * 8 + 2);
        assemble_varint(&spans, size - needs.size - 5);
        size_t front = spans.size, all = 5 + size + good.size;
        assemble_varint(&head, 2 * 8 + 2);
        assemble_varint(&head, all);
        assemble_varint(&text, 1 * 8 + 2);
        assemble_varint(&text, head.size + all);
        pythia_buf_text_add(&text, pythia_buf_text(&head));
        pythia_buf_text_add(&text, pythia_buf_text(&spans));
        memcpy(body, text.bytes, text.size);
        size_t end = text.size + size - (front - 5);
        memcpy(body + end, good.bytes, good.size);
        collection_open(&c);
        collect_bytes(&c, FORMAT, (struct pythia_text){body, end + good.size}, 0);
        assert_int_equal(c.status, PYTHIA_OK);
        assert_int_equal(c.count, size > LIMIT ? 1 : 2);
        assert_problems(&c, size > LIMIT ? "0:15: a record is larger than 67108864 bytes\n" : "");
        memset(body + end, 0, good.size);
        collection_close(&c);
        pythia_buf_free(&text);
        pythia_buf_free(&head);
        pythia_buf_free(&spans);
    }
    free(body);
    pythia_buf_free(&good);
    pythia_buf_free(&needs);
}

/* ---- bodies, one after the other ---- */

static const char
    busy[] = /* with all that takes memory: text to repair, arrays, merging, holding */
    "1{2{2{" NEEDS " 5'n\xFF' 9{1'a' 2{5{1{3=1} 1{1'x'}}}} 9{1'b' 2{7#0102}}"
    "  9{1'm' 2{5{1{3=1}}} 2{5{1{3=2}}}} 9{1'kv' 2{6{1{1'x' 2{3=1}}}}} 11{2'e'}} 1{1'lib'}}"
    "  1{1{1'service.name' 2{1's'}}}} 1{1{1{1'service.name' 2{1't'}}} 2{1{} 2{" NEEDS "}}}";

static void every_allocation_may_fail(void **state)
{
    struct pythia_buf message = protobuf_of(busy);
    assert_every_allocation_may_fail_of(FORMAT, pythia_buf_text(&message), 0);
    assert_every_allocation_may_fail_of(FORMAT, pythia_buf_text(&message), 7);
    pythia_buf_free(&message);
}

/* A server has one decoder for all bodies: one that could not be read for want of memory does not
 * spoil the next. */
static void a_decoder_goes_on_after_memory_was_missing(void **state)
{
    struct pythia_buf message = protobuf_of(busy);
    const struct pythia_adapter_ops *ops = pythia_adapter_named(FORMAT);
    int status = PYTHIA_ENOMEM;
    for (long allowed = 0; status == PYTHIA_ENOMEM; allowed++) {
        struct collection c;
        struct pythia_adapter *a = NULL;
        struct pythia_memory_source memory;
        collection_open(&c);
        assert_int_equal(ops->create(c.vocabulary, &a), PYTHIA_OK);
        pythia_memory_source_init(&memory, "body", message.bytes, message.size);
        pythia_mem_fail_after(allowed);
        status = ops->decode(a, &memory.source, &c.sink, NULL);
        pythia_mem_fail_after(-1);
        size_t before = c.count;
        c.attributes.failed = c.problems.failed = 0;
        pythia_memory_source_init(&memory, "body", message.bytes, message.size);
        assert_int_equal(ops->decode(a, &memory.source, &c.sink, NULL), PYTHIA_OK);
        assert_int_equal(c.count, before + 2);
        assert_tracepoint(&c, before, "s:lib:n\xEF\xBF\xBD");
        assert_tracepoint(&c, before + 1, "t:");
        ops->destroy(a);
        collection_close(&c);
    }
    pythia_buf_free(&message);
}

/* What is known is not copied: a second body with the same names allocates nothing. */
static void a_body_is_read_where_it_is(void **state)
{
    struct pythia_buf message =
        protobuf_of("1{2{1{1'lib'} 2{" NEEDS " 5'o' 9{1'k' 2{1'v'}}} 2{" NEEDS " 5'p'}}}");
    const struct pythia_adapter_ops *ops = pythia_adapter_named(FORMAT);
    struct collection c;
    struct pythia_adapter *a = NULL;
    struct pythia_memory_source memory;
    collection_open(&c);
    assert_int_equal(ops->create(c.vocabulary, &a), PYTHIA_OK);
    for (int i = 0; i < 2; i++) {
        pythia_memory_source_init(&memory, "body", message.bytes, message.size);
        if (i == 1)
            pythia_mem_fail_after(0);
        assert_int_equal(ops->decode(a, &memory.source, &c.sink, NULL), PYTHIA_OK);
        pythia_mem_fail_after(-1);
    }
    assert_int_equal(c.count, 4);
    ops->destroy(a);
    pythia_buf_free(&message);
    collection_close(&c);
}

static void a_sink_may_stop_the_reading(void **state)
{
    struct pythia_buf message = protobuf_of("1{2{1{} 2{" NEEDS "} 2{" NEEDS "} 2{" NEEDS "}}"
                                            "  2{2{" NEEDS "} 2{" NEEDS "}}} 1{2{2{" NEEDS "}}}");
    for (size_t stop_after = 1; stop_after <= 6; stop_after++) {
        struct collection c;
        collection_open(&c);
        c.stop_after = stop_after;
        collect_bytes(&c, FORMAT, pythia_buf_text(&message), 0);
        assert_int_equal(c.status, PYTHIA_ESTOPPED);
        assert_int_equal(c.count, stop_after);
        assert_problems(&c, "");
        collection_close(&c);
    }
    pythia_buf_free(&message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_without_what_it_needs_is_told),
        cmocka_unit_test(ids_and_times_that_cannot_be_are_told),
        cmocka_unit_test(fields_of_another_type_are_told),
        cmocka_unit_test(faults_of_the_encoding_in_a_span_are_told),
        cmocka_unit_test(key_values_nested_too_deep_are_told),
        cmocka_unit_test(a_nesting_of_10000_is_passed_over),
        cmocka_unit_test(a_fault_between_spans_ends_what_they_are_in),
        cmocka_unit_test(a_broken_resource_or_scope_is_told_and_its_spans_are_kept),
        cmocka_unit_test(of_an_input_that_is_cut_off_the_spans_are_kept),
        cmocka_unit_test(broken_utf8_is_repaired_and_counted),
        cmocka_unit_test(messages_behind_their_sizes_are_read),
        cmocka_unit_test(a_broken_message_is_told_and_the_next_one_is_read),
        cmocka_unit_test(a_large_message_is_read_piece_by_piece),
        cmocka_unit_test(a_span_above_the_limit_is_told_and_passed_over),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_decoder_goes_on_after_memory_was_missing),
        cmocka_unit_test(a_body_is_read_where_it_is),
        cmocka_unit_test(a_sink_may_stop_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
