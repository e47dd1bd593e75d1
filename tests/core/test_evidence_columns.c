/* Columns of evidence: their bytes, by the manual, and that every column is read as it was
 * written. */
#include <string.h>

#include "check.h"
#include "merge/evidence_columns.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define MOST 400

static void assert_bytes(const int64_t *numbers, size_t count, const unsigned char *bytes,
                         size_t size)
{
    int64_t steps[MOST];
    struct pythia_buf column = {0};
    memcpy(steps, numbers, count * sizeof(*numbers));
    pythia__column_put(&column, steps, count);
    assert_int_equal(column.size, size);
    assert_memory_equal(column.bytes, bytes, size);
    pythia_buf_free(&column);
}

static void a_column_takes_the_bits_that_the_manual_says(void **state)
{
    /* -3 for all: zigzag 5, and unit 0. */
    assert_bytes((int64_t[]){-3, -3}, 2, (unsigned char[]){5, 0}, 2);
    /* From 0 in units of 1000, 3 bits each: 7, 1, 6, 4 are the bits 111 100 011 001, the low one
     * first. */
    assert_bytes((int64_t[]){7000, 1000, 6000, 4000, 0}, 5,
                 (unsigned char[]){0, 0xe8, 7, 2 * 3, 7 | 1 << 3 | 2 << 6, 1 | 4 << 1}, 6);
    /* Fifteen times 0 and a 9: a one each, and nine zeros before a one. 4 bits each are 64. */
    int64_t rare[16] = {[15] = 9};
    rare[0] = 1; /* the unit */
    assert_bytes(rare, 16, (unsigned char[]){0, 1, 1, 0xfe, 0xff, 0, 2}, 7);
}

static void assert_round_trip(const int64_t *numbers, size_t count)
{
    int64_t steps[MOST], again[2 * MOST];
    struct pythia_buf column = {0};
    memcpy(steps, numbers, count * sizeof(*numbers));
    pythia__column_put(&column, steps, count);
    for (size_t stride = 1; stride <= 2; stride++) {
        assert_true(pythia__column_read(pythia_buf_text(&column), again, count, stride));
        for (size_t i = 0; i < count; i++)
            assert_int_equal(again[i * stride], numbers[i]);
    }
    /* A byte less or more is another column, or none. */
    for (size_t size = 0; size < column.size; size++)
        assert_false(
            pythia__column_read((struct pythia_text){column.bytes, size}, again, count, 1));
    pythia_buf_putc(&column, 0);
    assert_false(pythia__column_read(pythia_buf_text(&column), again, count, 1));
    pythia_buf_free(&column);
}

static void all_numbers_are_read_as_they_were_written(void **state)
{
    struct pythia_random random;
    int64_t numbers[MOST];
    pythia_random_init(&random, 1);
    assert_round_trip((int64_t[]){INT64_MIN, INT64_MAX}, 2);
    assert_round_trip((int64_t[]){INT64_MIN, INT64_MAX, 0, -1, 1}, 5);
    assert_round_trip((int64_t[]){0}, 1);
    for (unsigned bits = 1; bits <= 64; bits++)
        for (size_t count = 2; count <= MOST; count *= 3) {
            uint64_t limit = UINT64_MAX >> (64 - bits);
            for (size_t i = 0; i < count; i++)
                numbers[i] = (int64_t)(pythia_random_next(&random) & limit);
            numbers[0] = 0;
            numbers[1] = 1;
            assert_round_trip(numbers, count);
            /* Most are small: Rice's code, and its escape. */
            for (size_t i = 0; i < count; i++)
                if (i % 20)
                    numbers[i] &= 7;
            assert_round_trip(numbers, count);
        }
}

static void what_no_writer_writes_is_refused_or_read(void **state)
{
    int64_t numbers[8];
    const unsigned char form[] = {0, 1, 0x81, 1, 0xff}, quotient[] = {0, 1, 127, 4, 0, 0, 0, 0, 0};
    assert_false(pythia__column_read((struct pythia_text){(const char *)form, sizeof(form)},
                                     numbers, 1, 1)); /* 129: of 64 bits and more */
    assert_false(pythia__column_read((struct pythia_text){(const char *)quotient, sizeof(quotient)},
                                     numbers, 1, 1)); /* a quotient of 2 behind 63 low bits */
    assert_false(pythia__column_read(PYTHIA_TEXT(""), numbers, 1, 1));
}

static void memory_that_is_not_there_is_noticed(void **state)
{
    struct pythia_buf column = {0};
    pythia_mem_fail_after(0);
    pythia__column_put(&column, (int64_t[]){1, 2, 3}, 3);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_buf_status(&column), PYTHIA_ENOMEM);
    pythia_buf_free(&column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_takes_the_bits_that_the_manual_says),
        cmocka_unit_test(all_numbers_are_read_as_they_were_written),
        cmocka_unit_test(what_no_writer_writes_is_refused_or_read),
        cmocka_unit_test(memory_that_is_not_there_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
