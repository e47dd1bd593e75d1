#include <math.h>
#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

static void what_was_packed_comes_out_in_order(void **state)
{
    struct pythia_buf packed = {0};
    pythia_attributes_text(&packed, 1, PYTHIA_TEXT("GET"));
    pythia_attributes_integer(&packed, 2, -7);
    pythia_attributes_real(&packed, 3, 0.5);
    pythia_attributes_bool(&packed, 4, true);
    pythia_attributes_bool(&packed, 5, false);
    struct pythia_text rest = pythia_buf_text(&packed);
    struct pythia_attribute a = {0};
    assert_true(pythia_attributes_next(&rest, &a));
    assert_int_equal(a.key, 1);
    assert_int_equal(a.kind, PYTHIA_ATTRIBUTE_TEXT);
    assert_true(PYTHIA_TEXT_IS(a.text, "GET"));
    assert_true(pythia_attributes_next(&rest, &a));
    assert_int_equal(a.key, 2);
    assert_int_equal(a.kind, PYTHIA_ATTRIBUTE_INTEGER);
    assert_int_equal(a.integer, -7);
    assert_true(pythia_attributes_next(&rest, &a));
    assert_int_equal(a.key, 3);
    assert_int_equal(a.kind, PYTHIA_ATTRIBUTE_REAL);
    assert_rel_equal(a.real, 0.5, 0);
    assert_true(pythia_attributes_next(&rest, &a));
    assert_int_equal(a.kind, PYTHIA_ATTRIBUTE_BOOL);
    assert_int_equal(a.integer, 1);
    assert_true(pythia_attributes_next(&rest, &a));
    assert_int_equal(a.key, 5);
    assert_int_equal(a.integer, 0);
    assert_false(pythia_attributes_next(&rest, &a));
    assert_int_equal(rest.size, 0);
    pythia_buf_free(&packed);
}

/* By hand: key 1 as TEXT is 1 * 4 + 0 = 4; key 40 as INTEGER is 161 = 0x21 + 0x80, 0x01, and -2 in
 * zigzag is 3. */
static void the_bytes_are_those_of_the_format(void **state)
{
    struct pythia_buf packed = {0};
    pythia_attributes_text(&packed, 1, PYTHIA_TEXT("ab"));
    pythia_attributes_integer(&packed, 40, -2);
    pythia_attributes_bool(&packed, 0, true);
    assert_int_equal(packed.size, 4 + 3 + 2);
    assert_memory_equal(packed.bytes,
                        "\x04\x02"
                        "ab"
                        "\xa1\x01\x03"
                        "\x03\x02",
                        9);
    pythia_buf_free(&packed);
}

static void numbers_of_every_size_survive(void **state)
{
    static const int64_t integers[] = {0,         1,         -1,        63,           64,
                                       -64,       -65,       8191,      8192,         INT32_MAX,
                                       INT32_MIN, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    static const double reals[] = {0, -0.0, 1e-310, 1e308, INFINITY, -INFINITY, NAN};
    static const uint32_t keys[] = {0, 1, 31, 32, 4095, 4096, (1u << 30) - 1};
    struct pythia_attribute a = {0};
    for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            struct pythia_buf packed = {0};
            pythia_attributes_integer(&packed, keys[k], integers[i]);
            struct pythia_text rest = pythia_buf_text(&packed);
            assert_true(pythia_attributes_next(&rest, &a));
            assert_int_equal(a.key, keys[k]);
            assert_int_equal(a.integer, integers[i]);
            assert_int_equal(rest.size, 0);
            pythia_buf_free(&packed);
        }
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
        struct pythia_buf packed = {0};
        pythia_attributes_real(&packed, 9, reals[i]);
        struct pythia_text rest = pythia_buf_text(&packed);
        assert_true(pythia_attributes_next(&rest, &a));
        assert_memory_equal(&a.real, &reals[i], sizeof(double)); /* bit for bit: -0 and NaN too */
        pythia_buf_free(&packed);
    }
}

static void texts_of_every_size_and_byte_survive(void **state)
{
    char bytes[300];
    struct pythia_attribute a = {0};
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        struct pythia_buf packed = {0};
        struct pythia_text text = {size ? bytes : NULL, size};
        pythia_attributes_text(&packed, 3, text);
        pythia_attributes_integer(&packed, 4, 5);
        struct pythia_text rest = pythia_buf_text(&packed);
        assert_true(pythia_attributes_next(&rest, &a));
        assert_true(pythia_text_equal(a.text, text));
        assert_true(pythia_attributes_next(&rest, &a));
        assert_int_equal(a.integer, 5);
        pythia_buf_free(&packed);
    }
}

static void the_last_one_with_a_key_is_found(void **state)
{
    struct pythia_buf packed = {0};
    struct pythia_attribute a = {.key = 77};
    assert_false(pythia_attributes_find((struct pythia_text){NULL, 0}, 1, &a));
    pythia_attributes_integer(&packed, 1, 10);
    pythia_attributes_integer(&packed, 2, 20);
    pythia_attributes_text(&packed, 1, PYTHIA_TEXT("last"));
    pythia_attributes_integer(&packed, 3, 30);
    assert_false(pythia_attributes_find(pythia_buf_text(&packed), 4, &a));
    assert_int_equal(a.key, 77); /* untouched */
    assert_true(pythia_attributes_find(pythia_buf_text(&packed), 1, &a));
    assert_int_equal(a.kind, PYTHIA_ATTRIBUTE_TEXT);
    assert_true(PYTHIA_TEXT_IS(a.text, "last"));
    assert_true(pythia_attributes_find(pythia_buf_text(&packed), 2, &a));
    assert_int_equal(a.integer, 20);
    pythia_buf_free(&packed);
}

/* Two packed strings one behind the other are one: that is how a start and a stop are joined. */
static void packed_strings_can_be_joined(void **state)
{
    struct pythia_buf one = {0}, two = {0};
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (uint32_t i = 0; i < 100; i++)
        pythia_attributes_integer(&one, i, (int64_t)pythia_random_next(&r));
    pythia_attributes_text(&two, 200, PYTHIA_TEXT("end"));
    pythia_buf_text_add(&one, pythia_buf_text(&two));
    struct pythia_text rest = pythia_buf_text(&one);
    struct pythia_attribute a = {0};
    pythia_random_init(&r, 1);
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(pythia_attributes_next(&rest, &a));
        assert_int_equal(a.key, i);
        assert_int_equal(a.integer, (int64_t)pythia_random_next(&r));
    }
    assert_true(pythia_attributes_next(&rest, &a));
    assert_true(PYTHIA_TEXT_IS(a.text, "end"));
    assert_false(pythia_attributes_next(&rest, &a));
    pythia_buf_free(&one);
    pythia_buf_free(&two);
}

static void the_first_ones_are_kept(void **state)
{
    for (size_t max = 0; max <= 6; max++) {
        struct pythia_buf packed = {0};
        struct pythia_attribute one;
        size_t left = 0;
        pythia_attributes_bool(&packed, 1, true);
        pythia_attributes_text(&packed, 2,
                               PYTHIA_TEXT("a text that is longer than all the others"));
        pythia_attributes_integer(&packed, 3, INT64_MIN);
        pythia_attributes_real(&packed, 4, 1);
        pythia_attributes_bool(&packed, 5, false);
        struct pythia_text kept = pythia_buf_text(&packed);
        assert_int_equal(pythia_attributes_limit(&kept, max), max < 5 ? 5 - max : 0);
        while (pythia_attributes_next(&kept, &one))
            assert_int_equal(one.key, ++left);
        assert_int_equal(left, max < 5 ? max : 5);
        pythia_buf_free(&packed);
    }
    struct pythia_text none = {NULL, 0};
    assert_int_equal(pythia_attributes_limit(&none, 0), 0);
}

static void a_failed_allocation_is_seen_at_the_end(void **state)
{
    struct pythia_buf packed = {0};
    pythia_mem_fail_after(0);
    pythia_attributes_text(&packed, 1, PYTHIA_TEXT("a"));
    pythia_attributes_integer(&packed, 1, 1);
    pythia_attributes_real(&packed, 1, 1);
    pythia_attributes_bool(&packed, 1, true);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_buf_status(&packed), PYTHIA_ENOMEM);
    assert_int_equal(packed.size, 0);
    pythia_buf_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_packed_comes_out_in_order),
        cmocka_unit_test(the_bytes_are_those_of_the_format),
        cmocka_unit_test(numbers_of_every_size_survive),
        cmocka_unit_test(texts_of_every_size_and_byte_survive),
        cmocka_unit_test(the_last_one_with_a_key_is_found),
        cmocka_unit_test(packed_strings_can_be_joined),
        cmocka_unit_test(the_first_ones_are_kept),
        cmocka_unit_test(a_failed_allocation_is_seen_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
