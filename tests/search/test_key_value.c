#include "pythia/key_value.h"
#include "requests.h"

/* The same value where only the keys of the row are looked at, and none where no key is. */
static void assert_same_among(const struct requests *r, const struct pythia_key_name *name,
                              const struct pythia_row *row, const struct pythia_key_value *wanted)
{
    uint32_t keys[16];
    assert_in_range(row->value_count, 0, 16); /* NOLINT(clang-analyzer-core.NullDereference) */
    for (uint32_t i = 0; i < row->value_count; i++)
        keys[i] = row->values[i].key;
    for (int all = 0; all < 2; all++) {
        struct pythia_key_reader *reader;
        struct pythia_key_value value;
        bool present = wanted->present && (all || name->source != PYTHIA_KEY_OF_SPANS);
        assert_int_equal(pythia_key_reader_create(r->vocabulary, pythia_groups_keys(r->groups),
                                                  name, 1, &reader),
                         PYTHIA_OK);
        pythia_key_reader_among(reader, keys, all ? row->value_count : 0);
        assert_int_equal(pythia_key_reader_row(reader, 0, row, &value), PYTHIA_OK);
        assert_int_equal(value.present, present);
        if (present && value.numeric)
            assert_rel_equal(value.number, wanted->number, 0);
        pythia_key_reader_destroy(reader);
    }
}

/* What one key is in one request, both read from its row and from its key-values alone: "3", "a|b",
 * "-" for a missing one; numeric ones with the number behind it. */
static void assert_value(const char *request, enum pythia_key_source source, const char *key,
                         const char *wanted)
{
    struct requests r;
    struct pythia_key_name name = {source, pythia_text_of(key)};
    struct pythia_key_reader *reader;
    struct pythia_key_value value;
    struct pythia_text text;
    char found[256] = "-";
    size_t count;
    requests_begin_folded(&r);
    requests_add(&r, "A{other{5}}"); /* its keys come later, then */
    assert_int_equal(
        pythia_key_reader_create(r.vocabulary, pythia_groups_keys(r.groups), &name, 1, &reader),
        PYTHIA_OK);
    requests_add_as(&r, 1, request);
    const struct pythia_type *types = requests_finish(&r, &count);
    const struct pythia_row *row = NULL;
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < pythia_sample_count(types[t].rows); i++) {
            const struct pythia_row *one = pythia_sample_row(types[t].rows, i);
            row = one->trace.low == 2 ? one : row;
        }
    assert_non_null(row);
    assert_int_equal(pythia_key_reader_row(reader, 0, row, &value), PYTHIA_OK);
    if (value.present) {
        assert_int_equal(pythia_key_reader_text(reader, &text), PYTHIA_OK);
        int size = snprintf(found, sizeof(found), "%.*s", (int)text.size, text.bytes);
        if (value.numeric)
            snprintf(found + size, sizeof(found) - (size_t)size, " = %.17g", value.number);
    }
    assert_string_equal(found, wanted);
    pythia_key_reader_destroy(reader);
    assert_same_among(&r, &name, row, &value);
    requests_end(&r);
}

static void assert_attribute(const char *request, const char *key, const char *wanted)
{
    assert_value(request, PYTHIA_KEY_OF_SPANS, key, wanted);
}

static void a_key_is_found_wherever_it_is(void **state)
{
    assert_attribute("A(x=3){1}", "x", "3 = 3");
    assert_attribute("A{1 B(x=2.5){2}}", "x", "2.5 = 2.5");
    assert_attribute("A{1 B[x=eu]{2}}", "y", "-");
    assert_attribute("s:A{1 B[x=eu]{2}}", "x", "eu");
    assert_attribute("A(x=true){1}", "x", "1 = 1");
    assert_attribute("A{5 *E(x=7) 5}", "x", "7 = 7");
}

static void a_place_can_be_named(void **state)
{
    const char *two = "s:A(x=1){1 s:B(x=5){2} s:C{3}}";
    assert_attribute(two, "x@s:A", "1 = 1");
    assert_attribute(two, "x@s:B", "5 = 5");
    assert_attribute(two, "x@s:C", "-");
    assert_attribute(two, "x@", "-");
    assert_attribute(two, "x@s:", "-");
    assert_attribute("s:A(x=1)[x=9]{1}", "x@s", "9 = 9");  /* of the process of a service */
    assert_attribute("s:A(x@s:A=4){1}", "x@s:A", "4 = 4"); /* an attribute of that name */
    assert_attribute("s:A(x@b=4){1}", "x@b@s:A", "4 = 4"); /* and its place */
    assert_attribute("s:A(x@b=4){1}", "x", "-");
}

static void numbers_of_several_places_are_averaged(void **state)
{
    assert_attribute("A(x=1){1 B(x=5){2}}", "x", "1|5 = 3");
    assert_attribute("A(x=0.1){1 B(x=0.1){2 C(x=0.1){1}}}", "x", "0.1 = 0.10000000000000001");
    assert_attribute("A{B(x=2){1} B(x=4){1}}", "x", "3 = 3"); /* of one place, as rows have it */
}

static void texts_stand_beside_each_other(void **state)
{
    assert_attribute("A(x=b){1 B(x=a){2}}", "x", "a|b");
    assert_attribute("A(x=b){1 B(x=b){2}}", "x", "b");
    assert_attribute("A(x=b){1 B(x=3){2 C(x=b){1}}}", "x", "3|b");
}

static void text_that_says_a_number_is_one(void **state)
{
    assert_attribute("A(x='3'){1}", "x", "3 = 3");
    assert_attribute("A(x='1e3'){1 B(x=1000){1}}", "x", "1000|1e3 = 1000");
    assert_attribute("A(x='007'){1}", "x", "007");
    assert_attribute("A(x='3s'){1 B(x=3){1}}", "x", "3|3s");
}

static void visits_are_counted(void **state)
{
    const char *loop = "A{1 B{1} 1 B{1} C{2}}";
    assert_value(loop, PYTHIA_KEY_VISITS, "B", "2 = 2");
    assert_value(loop, PYTHIA_KEY_VISITS, "C", "1 = 1");
    assert_value(loop, PYTHIA_KEY_VISITS, "D", "0 = 0");
    assert_value(loop, PYTHIA_KEY_VISITED, "B", "2 = 2");
    assert_value(loop, PYTHIA_KEY_VISITED, "D", "-");
}

/* Without a row, from the trace and its path: the same values, of the wanted attributes alone. */
static void the_values_of_a_request_need_no_row(void **state)
{
    struct requests r;
    struct pythia_keys *keys;
    struct pythia_row_maker *maker;
    const struct pythia_row_value *values;
    uint32_t count;
    size_t wanted;
    requests_begin(&r);
    assert_int_equal(pythia_keys_create(r.vocabulary, &keys), PYTHIA_OK);
    assert_int_equal(pythia_row_maker_create(r.vocabulary, keys, &maker), PYTHIA_OK);
    uint32_t *attributes = pythia_key_attributes(r.vocabulary, PYTHIA_TEXT("x@b@c"), &wanted);
    assert_int_equal(wanted, 3); /* x, x@b and x@b@c */
    assert_int_equal(attributes[0], requests_string(&r, "x"));
    assert_int_equal(attributes[2], requests_string(&r, "x@b@c"));
    assert_int_equal(pythia_row_maker_only(maker, attributes, wanted), PYTHIA_OK);
    for (int round = 0; round < 2; round++) {
        const struct pythia_trace *t =
            requests_trace(&r, 0, "A(x=1,y=2){1 B(x=b,z=q)[x=eu]{2} B(x=a){1}}");
        assert_int_equal(pythia_row_values(maker, t, requests_path(&r, t), &values, &count),
                         PYTHIA_OK);
        assert_int_equal(count, 3);
        assert_int_equal(values[0].size, PYTHIA_ROW_NUMBER);
        assert_rel_equal(values[0].number, 1, 0);
        assert_int_equal(values[1].size, 3);
        assert_memory_equal(values[1].text, "a|b", 3);
        assert_memory_equal(values[2].text, "eu", 2);
        assert_int_equal(pythia_keys_tracepoint(keys, values[0].key), requests_point(&r, "A"));
        assert_int_equal(pythia_keys_tracepoint(keys, values[2].key), PYTHIA_NONE);
    }
    pythia_free(attributes);
    pythia_row_maker_destroy(maker);
    pythia_keys_destroy(keys);
    requests_end(&r);
}

/* Many places with long texts: cut, and still told apart. */
static void long_texts_are_cut(void **state)
{
    struct requests r;
    struct pythia_key_name name = {PYTHIA_KEY_OF_SPANS, PYTHIA_TEXT("x")};
    struct pythia_key_reader *reader;
    struct pythia_key_value value;
    struct pythia_text text;
    char seen[2][300], long_text[121];
    size_t count;
    requests_begin_folded(&r);
    memset(long_text, 'm', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    for (int i = 0; i < 2; i++)
        requests_add(&r, "A(x=a%s){1 B(x=b%s){1 C(x=c%d){1}}}", long_text, long_text, i);
    const struct pythia_row **rows = requests_rows(requests_finish(&r, &count), &count);
    assert_int_equal(count, 2);
    assert_int_equal(
        pythia_key_reader_create(r.vocabulary, pythia_groups_keys(r.groups), &name, 1, &reader),
        PYTHIA_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pythia_key_reader_row(reader, 0, rows[i], &value), PYTHIA_OK);
        assert_int_equal(pythia_key_reader_text(reader, &text), PYTHIA_OK);
        assert_in_range(text.size, 240, 240 + 20);
        memcpy(seen[i], text.bytes, text.size);
        seen[i][text.size] = '\0';
    }
    assert_string_not_equal(seen[0], seen[1]);
    pythia_key_reader_destroy(reader);
    free(rows);
    requests_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_wherever_it_is),
        cmocka_unit_test(a_place_can_be_named),
        cmocka_unit_test(numbers_of_several_places_are_averaged),
        cmocka_unit_test(texts_stand_beside_each_other),
        cmocka_unit_test(text_that_says_a_number_is_one),
        cmocka_unit_test(visits_are_counted),
        cmocka_unit_test(the_values_of_a_request_need_no_row),
        cmocka_unit_test(long_texts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
