#include <stdalign.h>
#include <string.h>

#include "check.h"
#include "pythia/arena.h"
#include "pythia/mem.h"

static void pieces_are_aligned_and_do_not_overlap(void **state)
{
    static const size_t sizes[] = {1, 7, 16, 17, 1000, 65536, 3, 200000, 5};
    enum { PIECES = 9, ALL = PIECES * 50 };
    struct pythia_arena a;
    unsigned char *pieces[ALL];
    pythia_arena_init(&a);
    for (size_t i = 0; i < ALL; i++) {
        pieces[i] = pythia_arena_alloc(&a, sizes[i % PIECES]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)(i % 251), sizes[i % PIECES]);
    }
    for (size_t i = 0; i < ALL; i++)
        for (size_t k = 0; k < sizes[i % PIECES]; k++)
            if (pieces[i][k] != i % 251)
                fail_msg("byte %zu of piece %zu was overwritten", k, i);
    pythia_arena_free(&a);
}

/* The same pieces in a second round need nothing from the heap, which is made to fail. */
static void cleared_memory_is_used_again(void **state)
{
    struct pythia_arena a;
    pythia_arena_init(&a);
    void *first = pythia_arena_alloc(&a, 10);
    for (size_t i = 0; i < 1000; i++)
        assert_non_null(pythia_arena_alloc(&a, 1000));
    assert_non_null(pythia_arena_alloc(&a, 300000));
    pythia_arena_clear(&a);
    pythia_mem_fail_after(0);
    assert_ptr_equal(pythia_arena_alloc(&a, 10), first);
    for (size_t i = 0; i < 1000; i++)
        assert_non_null(pythia_arena_alloc(&a, 1000));
    assert_non_null(pythia_arena_alloc(&a, 300000));
    pythia_mem_fail_after(-1);
    pythia_arena_free(&a);
}

static void clearing_and_freeing_nothing_is_fine(void **state)
{
    struct pythia_arena a;
    pythia_arena_init(&a);
    pythia_arena_clear(&a);
    pythia_arena_free(&a);
    assert_non_null(pythia_arena_alloc(&a, 1)); /* a freed arena is an empty one */
    pythia_arena_free(&a);
    pythia_arena_free(&a);
}

/* NULL says that memory is missing, so nothing at all is asked for successfully. */
static void a_piece_of_no_bytes_is_a_piece(void **state)
{
    struct pythia_arena a;
    pythia_arena_init(&a);
    assert_non_null(pythia_arena_alloc(&a, 0));
    pythia_arena_free(&a);
}

static void without_memory_a_piece_is_null_and_the_rest_stays(void **state)
{
    struct pythia_arena a;
    pythia_arena_init(&a);
    pythia_mem_fail_after(0);
    assert_null(pythia_arena_alloc(&a, 100));
    pythia_mem_fail_after(-1);
    char *text = pythia_arena_alloc(&a, 100);
    assert_non_null(text);
    memset(text, 'x', 100);
    pythia_mem_fail_after(0);
    assert_null(pythia_arena_alloc(&a, 100000));
    pythia_mem_fail_after(-1);
    assert_non_null(pythia_arena_alloc(&a, 100000));
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(text[i], 'x');
    pythia_arena_free(&a);
}

/* Sizes near the largest number must not wrap around to small ones. */
static void a_size_that_cannot_be_is_refused(void **state)
{
    struct pythia_arena a;
    pythia_arena_init(&a);
    for (size_t less = 0; less < 100; less++)
        assert_null(pythia_arena_alloc(&a, SIZE_MAX - less));
    assert_non_null(pythia_arena_alloc(&a, 1));
    for (size_t less = 0; less < 100; less++)
        assert_null(pythia_arena_alloc(&a, SIZE_MAX - less));
    pythia_arena_free(&a);
}

static void what_it_holds_is_all_its_blocks(void **state)
{
    struct pythia_arena a;
    pythia_arena_init(&a);
    assert_int_equal(pythia_arena_bytes(&a), 0);
    assert_non_null(pythia_arena_alloc(&a, 1));
    assert_in_range(pythia_arena_bytes(&a), 65536, 65536 + 64);
    assert_non_null(pythia_arena_alloc(&a, 300000));
    assert_in_range(pythia_arena_bytes(&a), 365536, 365536 + 128);
    pythia_arena_clear(&a);
    assert_in_range(pythia_arena_bytes(&a), 365536, 365536 + 128); /* kept */
    pythia_arena_free(&a);
    assert_int_equal(pythia_arena_bytes(&a), 0);
}

static void joined_blocks_live_as_long_as_the_other_arena(void **state)
{
    struct pythia_arena to, from;
    pythia_arena_init(&to);
    pythia_arena_init(&from);
    pythia_arena_join(&to, &from); /* nothing and nothing */
    assert_int_equal(pythia_arena_bytes(&to), 0);
    char *first = pythia_arena_alloc(&from, 100000), *second = pythia_arena_alloc(&from, 100);
    memset(first, 'a', 100000);
    memset(second, 'b', 100);
    pythia_arena_join(&to, &from);
    assert_int_equal(pythia_arena_bytes(&from), 0);
    char *own = pythia_arena_alloc(&to, 100);
    memset(own, 'c', 100);
    char *third = pythia_arena_alloc(&from, 70000);
    memset(third, 'd', 70000);
    pythia_arena_join(&to, &from);
    char *last = pythia_arena_alloc(&to, 60000);
    memset(last, 'e', 60000);
    assert_true(first[99999] == 'a' && second[99] == 'b' && own[99] == 'c' && third[69999] == 'd');
    assert_in_range(pythia_arena_bytes(&to), 235000, 500000);
    pythia_arena_free(&from);
    pythia_arena_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(cleared_memory_is_used_again),
        cmocka_unit_test(clearing_and_freeing_nothing_is_fine),
        cmocka_unit_test(a_piece_of_no_bytes_is_a_piece),
        cmocka_unit_test(without_memory_a_piece_is_null_and_the_rest_stays),
        cmocka_unit_test(a_size_that_cannot_be_is_refused),
        cmocka_unit_test(what_it_holds_is_all_its_blocks),
        cmocka_unit_test(joined_blocks_live_as_long_as_the_other_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
