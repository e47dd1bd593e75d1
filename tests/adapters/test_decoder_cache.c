/* A decoder remembers names and trace points that came lately; where there are more than it has
 * places for it takes more places. What it says may not depend on that. */
#include <stdio.h>

#include "collect.h"

enum { NAMES = 30000, EACH = 500 };

static void add_spans(struct pythia_buf *to, int from, int count)
{
    pythia_buf_puts(to, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":"
                        "\"service.name\",\"value\":{\"stringValue\":\"s\"}}]},"
                        "\"scopeSpans\":[{\"spans\":[");
    for (int i = from; i < from + count; i++)
        pythia_buf_printf(to,
                          "%s{\"traceId\":\"%032x\",\"spanId\":\"%016x\",\"name\":\"name-%x\","
                          "\"startTimeUnixNano\":\"1700000000000000000\","
                          "\"endTimeUnixNano\":\"1700000000000000001\",\"attributes\":[{\"key\":"
                          "\"key-%x\",\"value\":{\"boolValue\":true}}]}",
                          i > from ? "," : "", i + 1, i + 1, i, i);
    pythia_buf_puts(to, "]}]}]}\n");
}

static uint32_t key_of(const struct collection *c, const struct collected *span)
{
    struct pythia_text packed = {c->attributes.bytes + span->offset, span->span.attributes.size};
    struct pythia_attribute a = {0};
    assert_int_equal(pythia_attributes_next(&packed, &a), 1);
    return a.key;
}

static void names_are_told_apart_however_many_there_are(void **state)
{
    struct collection c;
    struct pythia_buf text = {0};
    collection_open(&c);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < NAMES; i += EACH)
            add_spans(&text, i, EACH);
    assert_int_equal(pythia_buf_status(&text), PYTHIA_OK);
    collect_bytes(&c, "otlp", pythia_buf_text(&text), 0);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_int_equal(c.count, 3 * NAMES);
    assert_int_equal(pythia_vocabulary_tracepoints(c.vocabulary), NAMES);
    for (size_t i = 0; i < c.count; i++) {
        char id[32], key[32];
        snprintf(id, sizeof(id), "s:name-%x", (unsigned)(i % NAMES));
        snprintf(key, sizeof(key), "key-%x", (unsigned)(i % NAMES));
        assert_string_equal(
            pythia_vocabulary_tracepoint_id(c.vocabulary, c.spans[i].span.tracepoint).bytes, id);
        assert_string_equal(pythia_vocabulary_text(c.vocabulary, key_of(&c, &c.spans[i])).bytes,
                            key);
    }
    pythia_buf_free(&text);
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_told_apart_however_many_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
