#include <stdint.h>
#include <string.h>

#include "check.h"
#include "group/row_pool.h"
#include "pythia/mem.h"

#define KIB ((size_t)1024)

/* Every size that a row may have has a block of its own, large enough and hardly larger; as many
 * sizes as are promised. */
static void a_block_is_hardly_larger_than_what_is_asked_for(void **state)
{
    struct pythia__row_pool p = {.large_bytes = 0};
    size_t sizes = 0, last = 0;
    for (size_t asked = 1; asked <= 64 * KIB; asked++) {
        size_t size = asked;
        char *block = pythia__row_pool_take(&p, &size);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % sizeof(double), 0);
        assert_true(size >= asked && size >= last);
        assert_true(size - asked < 64 || (size - asked) * 16 < asked);
        memset(block, 1, size);
        sizes += size != last;
        last = size;
        size_t again = size; /* what has a size is of that size */
        pythia__row_pool_give(&p, block, size);
        assert_ptr_equal(pythia__row_pool_take(&p, &again), block);
        assert_int_equal(again, size);
        pythia__row_pool_give(&p, block, size);
    }
    assert_int_equal(sizes, PYTHIA__ROW_SIZES);
    pythia__row_pool_free(&p);
    assert_int_equal(pythia__row_pool_bytes(&p), 0);
}

/* Blocks that are in use at once do not meet, and those that were given back are enough for as many
 * again: nothing more is held. */
static void what_is_given_back_is_taken_again(void **state)
{
    enum { BLOCKS = 500 };
    struct pythia__row_pool p = {.large_bytes = 0};
    char *blocks[BLOCKS];
    size_t sizes[BLOCKS], held = 0;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            sizes[i] = 1 + (i * 7919 + 13) % 9000;
            blocks[i] = pythia__row_pool_take(&p, &sizes[i]);
            assert_non_null(blocks[i]);
            memset(blocks[i], (int)(i % 251), sizes[i]);
        }
        assert_true(round == 0 || pythia__row_pool_bytes(&p) == held);
        held = pythia__row_pool_bytes(&p);
        for (unsigned i = 0; i < BLOCKS; i++) {
            for (size_t at = 0; at < sizes[i]; at++)
                assert_int_equal((unsigned char)blocks[i][at], i % 251);
            pythia__row_pool_give(&p, blocks[i], sizes[i]);
        }
    }
    pythia__row_pool_free(&p);
}

/* A block of the next size is taken before more memory is. */
static void a_block_that_is_a_little_larger_does(void **state)
{
    struct pythia__row_pool p = {.large_bytes = 0};
    size_t size = 2 * KIB + 1, smaller = 2 * KIB, much_smaller = KIB;
    void *block = pythia__row_pool_take(&p, &size), *other;
    assert_int_equal(size, 2 * KIB + 128);
    pythia__row_pool_give(&p, block, size);
    other = pythia__row_pool_take(&p, &much_smaller);
    assert_ptr_not_equal(other, block);
    assert_ptr_equal(pythia__row_pool_take(&p, &smaller), block);
    assert_int_equal(smaller, size);
    pythia__row_pool_give(&p, block, smaller);
    pythia__row_pool_give(&p, other, much_smaller);
    pythia__row_pool_free(&p);
}

static void the_largest_are_left_to_the_heap(void **state)
{
    struct pythia__row_pool p = {.large_bytes = 0};
    size_t size = 64 * KIB + 1;
    void *block = pythia__row_pool_take(&p, &size);
    assert_non_null(block);
    memset(block, 1, size);
    assert_int_equal(pythia__row_pool_bytes(&p), size);
    pythia__row_pool_give(&p, block, size);
    assert_int_equal(pythia__row_pool_bytes(&p), 0);
    pythia__row_pool_free(&p);
}

static void without_memory_there_is_no_block(void **state)
{
    struct pythia__row_pool p = {.large_bytes = 0};
    size_t size = 100, large = 100 * KIB;
    pythia_mem_fail_after(0);
    assert_null(pythia__row_pool_take(&p, &size));
    assert_null(pythia__row_pool_take(&p, &large));
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia__row_pool_bytes(&p), 0);
    pythia__row_pool_free(&p);
}

static void blocks_of_a_joined_pool_are_taken_again(void **state)
{
    struct pythia__row_pool to = {.large_bytes = 0}, from = {.large_bytes = 0};
    size_t small = 100, large = 100 * KIB, used = 100;
    void *waits = pythia__row_pool_take(&from, &small),
         *huge = pythia__row_pool_take(&from, &large), *taken = pythia__row_pool_take(&from, &used);
    assert_true(waits && huge && taken);
    pythia__row_pool_give(&from, waits, small);
    size_t bytes = pythia__row_pool_bytes(&from);
    pythia__row_pool_join(&to, &from);
    assert_int_equal(pythia__row_pool_bytes(&to), bytes);
    assert_int_equal(pythia__row_pool_bytes(&from), 0);
    pythia__row_pool_give(&to, taken, used);
    size_t again[] = {100, 100};
    void *first = pythia__row_pool_take(&to, &again[0]),
         *second = pythia__row_pool_take(&to, &again[1]);
    assert_true((first == taken && second == waits) || (first == waits && second == taken));
    pythia__row_pool_give(&to, huge, large);
    pythia__row_pool_free(&from);
    pythia__row_pool_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_hardly_larger_than_what_is_asked_for),
        cmocka_unit_test(what_is_given_back_is_taken_again),
        cmocka_unit_test(a_block_that_is_a_little_larger_does),
        cmocka_unit_test(the_largest_are_left_to_the_heap),
        cmocka_unit_test(without_memory_there_is_no_block),
        cmocka_unit_test(blocks_of_a_joined_pool_are_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
