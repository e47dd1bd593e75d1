/* Ids of trace points that agents make by themselves (adapters/controls) have to be those that the
 * adapters make of what the same programs send: one list of examples, written by hand, is what
 * both are held against. */
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "collect.h"

static int examples;

/* Decode a document, and compare the id of its one trace point. */
static void check(const char *format, json_t *document, const char *id)
{
    struct collection c;
    char *text = json_dumps(document, JSON_COMPACT);
    assert_non_null(text);
    collection_open(&c);
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "example", text, strlen(text));
    collect_source(&c, format, &memory.source);
    if (c.count < 1 || pythia_vocabulary_tracepoints(c.vocabulary) != 1)
        fail_msg("not one trace point: %s", text);
    struct pythia_text found = pythia_vocabulary_tracepoint_id(c.vocabulary, 0);
    assert_string_equal(found.bytes, id);
    collection_close(&c);
    free(text);
    json_decref(document);
    examples++;
}

static json_t *otlp_of(const json_t *example)
{
    const char *scope = json_string_value(json_object_get(example, "scope"));
    json_t *document =
        json_pack("{s:[{s:{s:[{s:s, s:{s:O}}]}, s:[{s:{s:s}, s:[{s:s, s:s, s:O, s:s, s:s}]}]}]}",
                  "resourceSpans", "resource", "attributes", "key", "service.name", "value",
                  "stringValue", json_object_get(example, "service"), "scopeSpans", "scope", "name",
                  scope, "spans", "traceId", "0102030405060708090a0b0c0d0e0f10", "spanId",
                  "0102030405060708", "name", json_object_get(example, "name"), "startTimeUnixNano",
                  "1700000000000000000", "endTimeUnixNano", "1700000000000000001");
    assert_non_null(document);
    return document;
}

static json_t *osprofiler_of(const json_t *example)
{
    char name[64];
    snprintf(name, sizeof(name), "%s-start", json_string_value(json_object_get(example, "name")));
    json_t *document = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:O, s:O, s:s}", "name", name, "base_id",
        "00000000-0000-0000-0000-000000000001", "trace_id", "00000000-0000-0000-0000-000000000002",
        "parent_id", "00000000-0000-0000-0000-000000000001", "timestamp",
        "2026-11-21T00:53:15.900775", "info", json_object_get(example, "info"), "project",
        json_object_get(example, "project"), "service", "x");
    assert_non_null(document);
    return document;
}

static void check_all(const char *file, const char *format, json_t *(*make)(const json_t *example))
{
    char path[512];
    snprintf(path, sizeof(path), PYTHIA_TESTS "/adapters/data/%s", file);
    FILE *lines = fopen(path, "r");
    assert_non_null(lines);
    examples = 0;
    for (;;) {
        json_error_t why;
        json_t *example = json_loadf(lines, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &why);
        if (!example)
            break;
        check(format, make(example), json_string_value(json_object_get(example, "id")));
        json_decref(example);
    }
    assert_int_equal(feof(lines) != 0, 1);
    fclose(lines);
}

static void ids_of_opentelemetry_are_those_of_the_examples(void **state)
{
    check_all("trace_point_ids.jsonl", "otlp", otlp_of);
    assert_int_equal(examples, 37);
}

static void ids_of_osprofiler_are_those_of_the_examples(void **state)
{
    check_all("osprofiler_ids.jsonl", "osprofiler", osprofiler_of);
    assert_int_equal(examples, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_opentelemetry_are_those_of_the_examples),
        cmocka_unit_test(ids_of_osprofiler_are_those_of_the_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
