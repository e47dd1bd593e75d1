#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static void new_elements_are_zero(void **state)
{
    unsigned char *bytes = pythia_calloc(1000, 3);
    assert_non_null(bytes);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    pythia_free(bytes);
    pythia_free(NULL);
}

static void no_elements_are_a_pointer_too(void **state)
{
    void *pointers[] = {pythia_calloc(0, 8), pythia_calloc(8, 0), pythia_realloc(NULL, 0, 8),
                        pythia_realloc(NULL, 8, 0)};
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(pointers[i]);
        pointers[i] = pythia_realloc(pointers[i], 0, 1); /* must not free it */
        assert_non_null(pointers[i]);
        pythia_free(pointers[i]);
    }
}

static void products_that_overflow_are_refused(void **state)
{
    assert_null(pythia_calloc(SIZE_MAX, 2));
    assert_null(pythia_calloc(SIZE_MAX / 2 + 1, 2));
    assert_null(pythia_realloc(NULL, SIZE_MAX, 2));
    char *p = pythia_calloc(1, 4);
    memcpy(p, "abc", 4);
    assert_null(pythia_realloc(p, SIZE_MAX / 2 + 1, 2)); /* 2^64 would be 0 */
    assert_string_equal(p, "abc");                       /* still ours */
    pythia_free(p);
}

static void growing_and_shrinking_keep_the_content(void **state)
{
    uint32_t *numbers = NULL;
    for (uint32_t count = 1; count <= 4096; count *= 2) {
        numbers = pythia_realloc(numbers, count, sizeof(*numbers));
        assert_non_null(numbers);
        for (uint32_t i = count / 2; i < count; i++)
            numbers[i] = i;
    }
    numbers = pythia_realloc(numbers, 100, sizeof(*numbers));
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(numbers[i], i);
    pythia_free(numbers);
}

static void a_copy_of_text_ends_with_a_nul(void **state)
{
    char *copy = pythia_strndup("abcdef", 3);
    assert_string_equal(copy, "abc");
    pythia_free(copy);
    copy = pythia_strndup(NULL, 0);
    assert_string_equal(copy, "");
    pythia_free(copy);
    copy = pythia_strndup("a\0b", 3);
    assert_memory_equal(copy, "a\0b", 4);
    pythia_free(copy);
}

static void what_is_reached_is_zero_until_it_is_used(void **state)
{
    uint32_t *numbers = NULL;
    size_t capacity = 0;
    assert_int_equal(pythia_reach(&numbers, &capacity, 9, sizeof(*numbers)), PYTHIA_OK);
    assert_int_equal(capacity, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(numbers[i], 0);
        numbers[i] = i + 1;
    }
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_reach(&numbers, &capacity, 19, sizeof(*numbers)), PYTHIA_OK);
    assert_int_equal(pythia_reach(&numbers, &capacity, 20, sizeof(*numbers)), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_reach(&numbers, &capacity, 20, sizeof(*numbers)), PYTHIA_OK);
    assert_true(numbers[0] == 1 && numbers[19] == 20 && numbers[20] == 0 && capacity == 42);
    pythia_free(numbers);
}

static void a_growing_array_doubles(void **state)
{
    uint64_t *numbers = NULL;
    size_t capacity = 0, moves = 0;
    for (size_t used = 0; used < 1000; used++) {
        size_t before = capacity;
        assert_int_equal(pythia_grow(&numbers, &capacity, used, sizeof(*numbers)), PYTHIA_OK);
        assert_true(capacity > used);
        moves += capacity != before;
        numbers[used] = used;
    }
    assert_int_equal(capacity, 1024);
    assert_int_equal(moves, 7); /* 16, 32, …, 1024 */
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    uint64_t *same = numbers;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_grow(&numbers, &capacity, 1023, sizeof(*numbers)), PYTHIA_OK);
    assert_int_equal(pythia_grow(&numbers, &capacity, 1024, sizeof(*numbers)), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_ptr_equal(numbers, same);
    assert_int_equal(capacity, 1024);
    assert_int_equal(numbers[999], 999);
    pythia_free(numbers);
}

static void allocations_fail_when_a_test_says_so(void **state)
{
    void *first = NULL, *second = NULL;
    pythia_mem_fail_after(2);
    first = pythia_calloc(1, 1);
    second = pythia_realloc(NULL, 1, 1);
    assert_non_null(first);
    assert_non_null(second);
    for (size_t i = 0; i < 3; i++) {
        assert_null(pythia_calloc(1, 1));
        assert_null(pythia_realloc(NULL, 1, 1));
        assert_null(pythia_realloc(first, 100, 1));
        assert_null(pythia_strndup("a", 1));
    }
    pythia_mem_fail_after(-1);
    first = pythia_realloc(first, 100, 1);
    assert_non_null(first);
    pythia_free(first);
    pythia_free(second);
}

/* Two threads that ask for the last allocation at the same moment, again and again. */
enum { ROUNDS = 20000 };

struct race {
    atomic_int waiting, round; /* who has arrived; the round that is on */
    atomic_long got;
};

/* Wait for the other one, spinning, so that both go on together. */
static void meet(struct race *race, int round)
{
    if (atomic_fetch_add(&race->waiting, 1) == 1) {
        atomic_store(&race->waiting, 0);
        pythia_mem_fail_after(1);
        atomic_store(&race->round, round);
    }
    while (atomic_load(&race->round) != round)
        sched_yield();
}

static void *allocate_in_rounds(void *context)
{
    struct race *race = context;
    for (int round = 1; round <= ROUNDS; round++) {
        meet(race, round);
        void *p = pythia_calloc(1, 1);
        atomic_fetch_add(&race->got, p != NULL);
        pythia_free(p);
    }
    return NULL;
}

static void of_two_threads_one_gets_the_last_allocation(void **state)
{
    struct race race = {0};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, allocate_in_rounds, &race);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pythia_mem_fail_after(-1);
    assert_int_equal(atomic_load(&race.got), ROUNDS);
}

static void bytes_are_counted_while_a_test_wants_it(void **state)
{
    void *before = pythia_calloc(10, 10);
    assert_int_equal(pythia_mem_counted(), 0);
    pythia_mem_count(true);
    char *one = pythia_calloc(1000, 1), *text = pythia_strndup("some text", 9);
    assert_in_range(pythia_mem_counted(), 1010, 1100);
    one = pythia_realloc(one, 5000, 1);
    assert_in_range(pythia_mem_counted(), 5010, 5100);
    one = pythia_realloc(one, 100, 1);
    assert_in_range(pythia_mem_counted(), 110, 200);
    pythia_mem_fail_after(0);
    assert_null(pythia_realloc(one, 9000, 1));
    pythia_mem_fail_after(-1);
    assert_in_range(pythia_mem_counted(), 110, 200);
    pythia_free(one);
    pythia_free(text);
    assert_int_equal(pythia_mem_counted(), 0);
    pythia_mem_count(false);
    pythia_free(before);
    assert_int_equal(pythia_mem_counted(), 0);
}

static void failures_are_counted(void **state)
{
    unsigned long before = pythia_mem_failures();
    pythia_mem_fail_after(0);
    assert_null(pythia_calloc(1, 1));
    assert_null(pythia_realloc(NULL, 1, 1));
    assert_null(pythia_malloc(1));
    pythia_mem_fail_after(-1);
    assert_null(pythia_calloc(SIZE_MAX, 2)); /* the product overflows */
    pythia_mem_note_failure();
    assert_int_equal(pythia_mem_failures() - before, 5);
    void *block = pythia_malloc(0);
    assert_non_null(block);
    pythia_free(block);
    assert_int_equal(pythia_mem_failures() - before, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_are_counted),
        cmocka_unit_test(new_elements_are_zero),
        cmocka_unit_test(no_elements_are_a_pointer_too),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(growing_and_shrinking_keep_the_content),
        cmocka_unit_test(a_copy_of_text_ends_with_a_nul),
        cmocka_unit_test(a_growing_array_doubles),
        cmocka_unit_test(what_is_reached_is_zero_until_it_is_used),
        cmocka_unit_test(allocations_fail_when_a_test_says_so),
        cmocka_unit_test(of_two_threads_one_gets_the_last_allocation),
        cmocka_unit_test(bytes_are_counted_while_a_test_wants_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
