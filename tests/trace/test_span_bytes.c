#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/span_bytes.h"
#include "pythia/status.h"

/* Lengths of protobuf's encoding, by hand: a tag and a length are a byte each as long as what they
 * stand before has less than 128 bytes. */

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_buf attributes;
    struct pythia_trace_span span;
};

static void begin(struct bench *b, const char *name)
{
    *b = (struct bench){.span = {.parent = PYTHIA_NO_SPAN}};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    uint32_t service = pythia_vocabulary_string(b->vocabulary, PYTHIA_TEXT("shop"));
    b->span.tracepoint = pythia_vocabulary_tracepoint(
        b->vocabulary, service, 0, pythia_vocabulary_string(b->vocabulary, pythia_text_of(name)));
}

static void end(struct bench *b)
{
    pythia_buf_free(&b->attributes);
    pythia_vocabulary_destroy(b->vocabulary);
}

static uint32_t key(struct bench *b, const char *name)
{
    return pythia_vocabulary_string(b->vocabulary, pythia_text_of(name));
}

static uint64_t bytes(struct bench *b)
{
    b->span.attributes = pythia_buf_text(&b->attributes);
    return pythia_span_bytes(b->vocabulary, &b->span);
}

/* Trace id 2 + 16, span id 2 + 8, name 2 + 4, start and end 1 + 8 each: 52; 2 before them. */
static void a_span_without_key_values_is_its_ids_its_name_and_its_times(void **state)
{
    struct bench b;
    begin(&b, "read");
    assert_int_equal(bytes(&b), 54);
    b.span.parent = 0;
    assert_int_equal(bytes(&b), 64);
    b.span.kind = PYTHIA_SPAN_SERVER;
    assert_int_equal(bytes(&b), 66);
    b.span.error = true; /* a status with a code: 2 + 2 */
    assert_int_equal(bytes(&b), 70);
    end(&b);
}

/* Each: 2, its key 2 + 3, its value 2 and what it holds. */
static void key_values_count_as_they_are(void **state)
{
    struct bench b;
    begin(&b, "read");
    pythia_attributes_text(&b.attributes, key(&b, "sql"), PYTHIA_TEXT("SELECT")); /* 2 + 6 */
    assert_int_equal(bytes(&b), 54 + 17);
    pythia_attributes_bool(&b.attributes, key(&b, "hit"), true); /* 2 */
    assert_int_equal(bytes(&b), 54 + 17 + 11);
    pythia_attributes_real(&b.attributes, key(&b, "cpu"), .5); /* 1 + 8 */
    assert_int_equal(bytes(&b), 2 + 52 + 17 + 11 + 18);
    pythia_attributes_integer(&b.attributes, key(&b, "row"), 300); /* 1 + 2 */
    assert_int_equal(bytes(&b), 2 + 98 + 12);
    pythia_attributes_integer(&b.attributes, key(&b, "row"), -1); /* 1 + 10 */
    assert_int_equal(bytes(&b), 3 + 110 + 20); /* 130 bytes: their length takes two */
    end(&b);
}

static void a_length_of_128_and_more_takes_two_bytes(void **state)
{
    struct bench b;
    char name[201];
    memset(name, 'n', 200);
    name[200] = '\0';
    begin(&b, name);
    assert_int_equal(bytes(&b), 3 + (52 - 6) + 3 + 200);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_without_key_values_is_its_ids_its_name_and_its_times),
        cmocka_unit_test(key_values_count_as_they_are),
        cmocka_unit_test(a_length_of_128_and_more_takes_two_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
