#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/otlp_writer.h"
#include "pythia/status.h"

/* A vocabulary with a service on a host, and spans of it. */
struct sheet {
    struct pythia_vocabulary *vocabulary;
    struct pythia_otlp_writer *writer;
    struct pythia_buf attributes, resource_attributes, out;
    uint32_t resource;
};

static uint32_t string_of(struct sheet *s, const char *text)
{
    return pythia_vocabulary_string(s->vocabulary, pythia_text_of(text));
}

static void sheet_begin(struct sheet *s, enum pythia_otlp_form form)
{
    *s = (struct sheet){.resource = 0};
    assert_int_equal(pythia_vocabulary_create(&s->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_otlp_writer_create(s->vocabulary, form, &s->writer), PYTHIA_OK);
    pythia_attributes_text(&s->resource_attributes, string_of(s, "service.name"),
                           PYTHIA_TEXT("api"));
    struct pythia_resource r = {.service = string_of(s, "api"),
                                .attributes = pythia_buf_text(&s->resource_attributes)};
    s->resource = pythia_vocabulary_resource(s->vocabulary, &r);
}

static void sheet_end(struct sheet *s)
{
    pythia_otlp_writer_destroy(s->writer);
    pythia_vocabulary_destroy(s->vocabulary);
    pythia_buf_free(&s->attributes);
    pythia_buf_free(&s->resource_attributes);
    pythia_buf_free(&s->out);
}

static int add(struct sheet *s, uint64_t id, uint64_t parent, const char *name)
{
    struct pythia_trace_id trace = {0x0102030405060708, 0x090A0B0C0D0E0F10};
    struct pythia_span span = {
        .id = id,
        .parent = parent,
        .start_ns = 1700000000000000000,
        .duration_ns = 1500,
        .tracepoint =
            pythia_vocabulary_tracepoint(s->vocabulary, string_of(s, "api"), 0, string_of(s, name)),
        .resource = s->resource,
        .kind = PYTHIA_SPAN_SERVER,
        .error = parent != 0,
        .attributes = pythia_buf_text(&s->attributes),
    };
    return pythia_otlp_writer_add(s->writer, &trace, &span);
}

/* One key-value of each kind. */
static void add_all_kinds(struct sheet *s)
{
    pythia_attributes_text(&s->attributes, string_of(s, "t"), PYTHIA_TEXT("a\"\\\n\x7f\xC3\xA4"));
    pythia_attributes_integer(&s->attributes, string_of(s, "i"), -7);
    pythia_attributes_bool(&s->attributes, string_of(s, "b"), true);
    pythia_attributes_real(&s->attributes, string_of(s, "r"), 0.1);
    pythia_attributes_real(&s->attributes, string_of(s, "n"), NAN);
    pythia_attributes_real(&s->attributes, string_of(s, "p"), INFINITY);
    pythia_attributes_real(&s->attributes, string_of(s, "m"), -INFINITY);
}

/* ---- JSON ---- */

static void json_is_a_line_as_the_collector_writes(void **state)
{
    struct sheet s;
    sheet_begin(&s, PYTHIA_OTLP_JSON);
    assert_int_equal(add(&s, 2, 1, "GET"), PYTHIA_OK);
    assert_int_equal(add(&s, 1, 0, "root"), PYTHIA_OK);
    assert_int_equal(pythia_otlp_writer_spans(s.writer), 2);
    assert_int_equal(pythia_otlp_writer_flush(s.writer, &s.out), PYTHIA_OK);
    assert_string_equal(
        s.out.bytes,
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
        "\"stringValue\":\"api\"}}]},\"scopeSpans\":[{\"scope\":{},\"spans\":["
        "{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\"spanId\":\"0000000000000002\","
        "\"parentSpanId\":\"0000000000000001\",\"name\":\"GET\",\"kind\":2,"
        "\"startTimeUnixNano\":\"1700000000000000000\",\"endTimeUnixNano\":\"1700000000000001500\","
        "\"status\":{\"code\":2}},"
        "{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\"spanId\":\"0000000000000001\","
        "\"parentSpanId\":\"\",\"name\":\"root\",\"kind\":2,"
        "\"startTimeUnixNano\":\"1700000000000000000\",\"endTimeUnixNano\":\"1700000000000001500\","
        "\"status\":{}}]}]}]}\n");
    assert_int_equal(pythia_otlp_writer_spans(s.writer), 0);
    sheet_end(&s);
}

static void json_has_each_kind_of_value(void **state)
{
    struct sheet s;
    sheet_begin(&s, PYTHIA_OTLP_JSON);
    add_all_kinds(&s);
    assert_int_equal(add(&s, 1, 0, "root"), PYTHIA_OK);
    assert_int_equal(pythia_otlp_writer_flush(s.writer, &s.out), PYTHIA_OK);
    static const char wanted[] =
        "\"attributes\":["
        "{\"key\":\"t\",\"value\":{\"stringValue\":\"a\\\"\\\\\\u000a\\u007f\xC3\xA4\"}},"
        "{\"key\":\"i\",\"value\":{\"intValue\":\"-7\"}},"
        "{\"key\":\"b\",\"value\":{\"boolValue\":true}},"
        "{\"key\":\"r\",\"value\":{\"doubleValue\":0.10000000000000001}},"
        "{\"key\":\"n\",\"value\":{\"doubleValue\":\"NaN\"}},"
        "{\"key\":\"p\",\"value\":{\"doubleValue\":\"Infinity\"}},"
        "{\"key\":\"m\",\"value\":{\"doubleValue\":\"-Infinity\"}}],\"status\":{}";
    assert_non_null(strstr(s.out.bytes, wanted));
    sheet_end(&s);
}

static void an_empty_batch_is_nothing(void **state)
{
    for (int form = PYTHIA_OTLP_JSON; form <= PYTHIA_OTLP_PROTO; form++) {
        struct sheet s;
        sheet_begin(&s, (enum pythia_otlp_form)form);
        assert_int_equal(pythia_otlp_writer_flush(s.writer, &s.out), PYTHIA_OK);
        assert_int_equal(s.out.size, 0);
        sheet_end(&s);
    }
}

static void spans_stand_under_their_resources(void **state)
{
    struct sheet s;
    sheet_begin(&s, PYTHIA_OTLP_JSON);
    uint32_t api = s.resource;
    for (uint64_t batch = 0; batch < 2; batch++) { /* the second one begins anew */
        pythia_buf_clear(&s.out);
        for (uint64_t i = 0; i < 4; i++) {
            s.resource = i % 2 ? api : 0; /* 0: nothing is known of it */
            assert_int_equal(add(&s, batch * 4 + i + 1, 0, "x"), PYTHIA_OK);
        }
        assert_int_equal(pythia_otlp_writer_flush(s.writer, &s.out), PYTHIA_OK);
        const char *at = s.out.bytes;
        static const char *const order[] = {"{\"attributes\":[]}", "%u", "%u",
                                            "service.name",        "%u", "%u"};
        static const unsigned ids[] = {0, 1, 3, 0, 2, 4};
        for (size_t i = 0; i < 6; i++) {
            char wanted[64];
            if (ids[i])
                snprintf(wanted, sizeof(wanted), "\"spanId\":\"%016x\"",
                         (unsigned)batch * 4 + ids[i]);
            else
                snprintf(wanted, sizeof(wanted), "%s", order[i]);
            at = strstr(at, wanted);
            assert_non_null(at);
        }
    }
    sheet_end(&s);
}

/* ---- protobuf, read by a walker that knows wire types and nothing else ---- */

/* Append what a message says, as "field:value"; messages in it in braces. */
struct walker {
    const unsigned char *at, *end;
    struct pythia_buf *to;
};

static uint64_t take_varint(struct walker *w)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(w->at < w->end && shift < 70);
        number |= (uint64_t)(*w->at & 0x7F) << shift;
        if (!(*w->at++ & 0x80))
            return number;
    }
}

/* Which fields of a message are messages: which one; -1: it is none. */
enum message { TRACES, RESOURCE_SPANS, RESOURCE, SCOPE_SPANS, SPAN, KEY_VALUE, ANY_VALUE, STATUS };

static int message_in(enum message of, uint64_t field)
{
    if (of == TRACES && field == 1)
        return RESOURCE_SPANS;
    if (of == RESOURCE_SPANS)
        return field == 1 ? RESOURCE : field == 2 ? SCOPE_SPANS : -1;
    if (of == SCOPE_SPANS && field == 2)
        return SPAN;
    if ((of == RESOURCE && field == 1) || (of == SPAN && field == 9))
        return KEY_VALUE;
    if (of == KEY_VALUE && field == 2)
        return ANY_VALUE;
    return of == SPAN && field == 15 ? STATUS : -1;
}

static bool is_id(enum message of, uint64_t field)
{
    return of == SPAN && (field == 1 || field == 2 || field == 4);
}

static void walk(const unsigned char *bytes, size_t size, enum message of, struct pythia_buf *to);

static void walk_bytes(struct walker *w, enum message of, uint64_t field)
{
    uint64_t size = take_varint(w);
    assert_true(size <= (uint64_t)(w->end - w->at));
    int below = message_in(of, field);
    if (below >= 0) {
        pythia_buf_putc(w->to, '{');
        walk(w->at, size, (enum message)below, w->to);
        pythia_buf_putc(w->to, '}');
    } else if (is_id(of, field)) {
        for (uint64_t i = 0; i < size; i++)
            pythia_buf_printf(w->to, "%02x", w->at[i]);
    } else {
        pythia_buf_add(w->to, w->at, size);
    }
    w->at += size;
}

static void walk(const unsigned char *bytes, size_t size, enum message of, struct pythia_buf *to)
{
    struct walker w = {bytes, bytes + size, to};
    while (w.at < w.end) {
        uint64_t tag = take_varint(&w), fixed = 0;
        double real;
        pythia_buf_printf(to, "%s%u:", w.to->size && w.to->bytes[w.to->size - 1] != '{' ? " " : "",
                          (unsigned)(tag >> 3));
        switch (tag & 7) {
        case 0:
            pythia_buf_printf(to, "%lld", (long long)take_varint(&w));
            break;
        case 1:
            assert_true(w.end - w.at >= 8);
            for (int i = 0; i < 8; i++)
                fixed |= (uint64_t)*w.at++ << 8 * i;
            memcpy(&real, &fixed, sizeof(real));
            if (of == ANY_VALUE)
                pythia_buf_printf(to, "%g", real);
            else
                pythia_buf_printf(to, "%llu", (unsigned long long)fixed);
            break;
        case 2:
            walk_bytes(&w, of, tag >> 3);
            break;
        default:
            fail_msg("wire type %u", (unsigned)(tag & 7));
        }
    }
}

static void protobuf_says_what_the_schema_calls_for(void **state)
{
    struct sheet s;
    struct pythia_buf read = {0};
    sheet_begin(&s, PYTHIA_OTLP_PROTO);
    assert_int_equal(add(&s, 2, 1, "GET"), PYTHIA_OK);
    pythia_attributes_text(&s.attributes, string_of(&s, "t"), PYTHIA_TEXT("text"));
    pythia_attributes_integer(&s.attributes, string_of(&s, "i"), -7);
    pythia_attributes_bool(&s.attributes, string_of(&s, "b"), true);
    pythia_attributes_real(&s.attributes, string_of(&s, "r"), 0.5);
    assert_int_equal(add(&s, 0xFEDCBA9876543210, 0, "root"), PYTHIA_OK);
    assert_int_equal(pythia_otlp_writer_flush(s.writer, &s.out), PYTHIA_OK);
    s.resource = 0;
    pythia_buf_clear(&s.attributes);
    assert_int_equal(add(&s, 3, 0, "later"), PYTHIA_OK); /* a second batch goes on with the first */
    assert_int_equal(pythia_otlp_writer_flush(s.writer, &s.out), PYTHIA_OK);
    walk((const unsigned char *)s.out.bytes, s.out.size, TRACES, &read);
#define TRACE "1:0102030405060708090a0b0c0d0e0f10 2:"
#define TIMES " 6:2 7:1700000000000000000 8:1700000000000001500"
    assert_string_equal(read.bytes, "1:{1:{1:{1:service.name 2:{1:api}}} 2:{1: 2:{" TRACE
                                    "0000000000000002 4:0000000000000001 5:GET" TIMES
                                    " 15:{3:2}} 2:{" TRACE "fedcba9876543210 5:root" TIMES
                                    " 9:{1:t 2:{1:text}} 9:{1:i 2:{3:-7}} 9:{1:b 2:{2:1}} "
                                    "9:{1:r 2:{4:0.5}}}}} 1:{1:{} 2:{1: 2:{" TRACE
                                    "0000000000000003 5:later" TIMES "}}}");
    pythia_buf_free(&read);
    sheet_end(&s);
}

/* Lengths of more than a byte. */
static void long_texts_have_long_lengths(void **state)
{
    struct sheet s;
    struct pythia_buf read = {0};
    static char text[20001];
    memset(text, 'x', sizeof(text) - 1);
    sheet_begin(&s, PYTHIA_OTLP_PROTO);
    pythia_attributes_text(&s.attributes, string_of(&s, "t"), pythia_text_of(text));
    assert_int_equal(add(&s, 1, 0, "root"), PYTHIA_OK);
    assert_int_equal(pythia_otlp_writer_flush(s.writer, &s.out), PYTHIA_OK);
    walk((const unsigned char *)s.out.bytes, s.out.size, TRACES, &read);
    const char *found = strstr(pythia_buf_text(&read).bytes, "9:{1:t 2:{1:xxx");
    assert_non_null(found);
    assert_int_equal(strspn(strchr(found, 'x'), "x"), 20000);
    pythia_buf_free(&read);
    sheet_end(&s);
}

static void each_failed_allocation_is_told(void **state)
{
    for (int form = PYTHIA_OTLP_JSON; form <= PYTHIA_OTLP_PROTO; form++) {
        bool done = false;
        for (long n = 0; !done; n++) {
            struct sheet s;
            assert_in_range(n, 0, 1000);
            sheet_begin(&s, (enum pythia_otlp_form)form);
            add_all_kinds(&s);
            (void)string_of(&s, "root");
            pythia_vocabulary_tracepoint(s.vocabulary, string_of(&s, "api"), 0,
                                         string_of(&s, "root"));
            pythia_mem_fail_after(n);
            int status = add(&s, 1, 0, "root");
            if (status == PYTHIA_OK)
                status = pythia_otlp_writer_flush(s.writer, &s.out);
            pythia_mem_fail_after(-1);
            done = status == PYTHIA_OK;
            assert_true(done || status == PYTHIA_ENOMEM);
            sheet_end(&s);
        }
    }
    struct pythia_otlp_writer *none = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_otlp_writer_create(NULL, PYTHIA_OTLP_JSON, &none), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(none);
    pythia_otlp_writer_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_a_line_as_the_collector_writes),
        cmocka_unit_test(json_has_each_kind_of_value),
        cmocka_unit_test(an_empty_batch_is_nothing),
        cmocka_unit_test(spans_stand_under_their_resources),
        cmocka_unit_test(protobuf_says_what_the_schema_calls_for),
        cmocka_unit_test(long_texts_have_long_lengths),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
