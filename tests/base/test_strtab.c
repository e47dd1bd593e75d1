#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

static struct pythia_strtab *table_of(void)
{
    struct pythia_strtab *t = NULL;
    assert_int_equal(pythia_strtab_create(&t), PYTHIA_OK);
    return t;
}

/* Strings that differ in length and at their ends. */
static struct pythia_text numbered(char *room, size_t number)
{
    int size =
        snprintf(room, 64, "%zu/%.*s%zx", number, (int)(number % 17), "abcdefghijklmnopq", number);
    return (struct pythia_text){room, (size_t)size};
}

static void a_new_table_holds_the_empty_string(void **state)
{
    struct pythia_strtab *t = table_of();
    assert_int_equal(pythia_strtab_count(t), 1);
    assert_int_equal(pythia_strtab_text(t, 0).size, 0);
    assert_string_equal(pythia_strtab_text(t, 0).bytes, "");
    assert_int_equal(pythia_strtab_intern(t, PYTHIA_TEXT("")), 0);
    assert_int_equal(pythia_strtab_intern(t, (struct pythia_text){NULL, 0}), 0);
    assert_int_equal(pythia_strtab_find(t, (struct pythia_text){NULL, 0}), 0);
    assert_int_equal(pythia_strtab_count(t), 1);
    pythia_strtab_destroy(t);
    pythia_strtab_destroy(NULL);
}

static void equal_strings_share_an_index_and_others_do_not(void **state)
{
    struct pythia_strtab *t = table_of();
    char twice[] = "abcabc";
    assert_int_equal(pythia_strtab_intern(t, PYTHIA_TEXT("abc")), 1);
    assert_int_equal(pythia_strtab_intern(t, PYTHIA_TEXT("abd")), 2);
    assert_int_equal(pythia_strtab_intern(t, (struct pythia_text){twice + 3, 3}), 1);
    assert_int_equal(pythia_strtab_intern(t, PYTHIA_TEXT("ab")), 3);
    assert_int_equal(pythia_strtab_intern(t, PYTHIA_TEXT("ab\0")), 4); /* any byte counts */
    assert_int_equal(pythia_strtab_intern(t, PYTHIA_TEXT("ab\0c")), 5);
    assert_int_equal(pythia_strtab_count(t), 6);
    twice[3] = 'X'; /* it was copied */
    assert_string_equal(pythia_strtab_text(t, 1).bytes, "abc");
    assert_int_equal(pythia_strtab_text(t, 5).size, 4);
    assert_memory_equal(pythia_strtab_text(t, 5).bytes, "ab\0c", 5);
    pythia_strtab_destroy(t);
}

static void finding_does_not_add(void **state)
{
    struct pythia_strtab *t = table_of();
    assert_int_equal(pythia_strtab_find(t, PYTHIA_TEXT("a")), PYTHIA_STRTAB_NONE);
    assert_int_equal(pythia_strtab_count(t), 1);
    assert_int_equal(pythia_strtab_intern(t, PYTHIA_TEXT("a")), 1);
    assert_int_equal(pythia_strtab_find(t, PYTHIA_TEXT("a")), 1);
    assert_int_equal(pythia_strtab_find(t, PYTHIA_TEXT("A")), PYTHIA_STRTAB_NONE);
    pythia_strtab_destroy(t);
}

/* The table and its blocks grow many times; neither an index nor the bytes of a string may move. */
static void many_strings_keep_their_indexes_and_their_places(void **state)
{
    enum { N = 200000 };
    struct pythia_strtab *t = table_of();
    char room[64];
    const char **places = malloc(N * sizeof(*places));
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(pythia_strtab_intern(t, numbered(room, i)), i + 1);
        places[i] = pythia_strtab_text(t, (uint32_t)i + 1).bytes;
    }
    assert_int_equal(pythia_strtab_count(t), N + 1);
    for (size_t i = 0; i < N; i++) {
        struct pythia_text text = numbered(room, i);
        assert_int_equal(pythia_strtab_intern(t, text), i + 1);
        assert_int_equal(pythia_strtab_find(t, text), i + 1);
        assert_ptr_equal(pythia_strtab_text(t, (uint32_t)i + 1).bytes, places[i]);
        assert_true(pythia_text_equal(pythia_strtab_text(t, (uint32_t)i + 1), text));
    }
    assert_int_equal(pythia_strtab_find(t, numbered(room, N)), PYTHIA_STRTAB_NONE);
    free(places);
    pythia_strtab_destroy(t);
}

static void a_string_may_be_long(void **state)
{
    enum { SIZE = 3000000 };
    struct pythia_strtab *t = table_of();
    char *bytes = malloc(SIZE);
    memset(bytes, 'l', SIZE);
    assert_int_equal(pythia_strtab_intern(t, (struct pythia_text){bytes, SIZE}), 1);
    assert_int_equal(pythia_strtab_intern(t, (struct pythia_text){bytes, SIZE - 1}), 2);
    assert_int_equal(pythia_strtab_find(t, (struct pythia_text){bytes, SIZE}), 1);
    struct pythia_text text = pythia_strtab_text(t, 1);
    assert_int_equal(text.size, SIZE);
    assert_memory_equal(text.bytes, bytes, SIZE);
    assert_int_equal(text.bytes[SIZE], '\0');
    free(bytes);
    pythia_strtab_destroy(t);
}

enum { THREADS = 8, STRINGS = 20000 };

struct worker {
    pthread_t thread;
    struct pythia_strtab *table;
    atomic_bool *done;
    uint64_t seed;
    uint32_t indexes[STRINGS]; /* of each string, as this thread was told */
};

static void *intern_all(void *context)
{
    struct worker *w = context;
    struct pythia_random r;
    static _Thread_local size_t order[STRINGS];
    char room[64];
    for (size_t i = 0; i < STRINGS; i++)
        order[i] = i;
    pythia_random_init(&r, w->seed);
    pythia_random_shuffle(&r, order, STRINGS);
    for (size_t i = 0; i < STRINGS; i++)
        w->indexes[order[i]] = pythia_strtab_intern(w->table, numbered(room, order[i]));
    return NULL;
}

/* Whatever is found while others add must be whole. */
static void *read_while_others_write(void *context)
{
    struct worker *w = context;
    struct pythia_random r;
    char room[64];
    size_t bad = 0;
    pythia_random_init(&r, w->seed);
    while (!atomic_load(w->done)) {
        struct pythia_text text = numbered(room, (size_t)pythia_random_below(&r, STRINGS));
        uint32_t index = pythia_strtab_find(w->table, text);
        bad += index != PYTHIA_STRTAB_NONE &&
               !pythia_text_equal(pythia_strtab_text(w->table, index), text);
        uint32_t last = pythia_strtab_count(w->table) - 1;
        struct pythia_text newest = pythia_strtab_text(w->table, last);
        bad += newest.bytes[newest.size] != '\0';
    }
    return bad ? w : NULL;
}

/* Run under -fsanitize=thread this also shows that there is no race. */
static void threads_agree_on_the_index_of_every_string(void **state)
{
    static struct worker workers[THREADS], readers[2];
    struct pythia_strtab *t = table_of();
    atomic_bool done = false;
    for (size_t i = 0; i < 2; i++) {
        readers[i] = (struct worker){.table = t, .done = &done, .seed = 100 + i};
        pthread_create(&readers[i].thread, NULL, read_while_others_write, &readers[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.table = t, .seed = i};
        pthread_create(&workers[i].thread, NULL, intern_all, &workers[i]);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    atomic_store(&done, true);
    for (size_t i = 0; i < 2; i++) {
        void *bad;
        pthread_join(readers[i].thread, &bad);
        assert_null(bad);
    }
    assert_int_equal(pythia_strtab_count(t), STRINGS + 1);
    char room[64];
    for (size_t i = 0; i < STRINGS; i++) {
        for (size_t k = 1; k < THREADS; k++)
            assert_int_equal(workers[k].indexes[i], workers[0].indexes[i]);
        assert_true(
            pythia_text_equal(pythia_strtab_text(t, workers[0].indexes[i]), numbered(room, i)));
    }
    pythia_strtab_destroy(t);
}

static void each_failed_allocation_is_reported_and_harmless(void **state)
{
    enum { N = 5000 };
    struct pythia_strtab *t = NULL;
    long n = 0;
    for (;; n++) {
        pythia_mem_fail_after(n);
        int status = pythia_strtab_create(&t);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_null(t);
    }
    assert_true(n >= 3);
    char room[64];
    size_t failures = 0;
    for (size_t i = 0; i < N; i++) { /* each string at first without memory for anything new */
        pythia_mem_fail_after(0);
        uint32_t index = pythia_strtab_intern(t, numbered(room, i));
        pythia_mem_fail_after(-1);
        if (index == PYTHIA_STRTAB_NONE) {
            failures++;
            assert_int_equal(pythia_strtab_find(t, numbered(room, i)), PYTHIA_STRTAB_NONE);
            for (n = 1; index == PYTHIA_STRTAB_NONE; n++) {
                pythia_mem_fail_after(n);
                index = pythia_strtab_intern(t, numbered(room, i));
                pythia_mem_fail_after(-1);
            }
        }
        assert_int_equal(index, i + 1);
    }
    assert_true(failures > 3); /* the table, the blocks and the arena have all grown */
    for (size_t i = 0; i < N; i++)
        assert_int_equal(pythia_strtab_find(t, numbered(room, i)), i + 1);
    pythia_strtab_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_table_holds_the_empty_string),
        cmocka_unit_test(equal_strings_share_an_index_and_others_do_not),
        cmocka_unit_test(finding_does_not_add),
        cmocka_unit_test(many_strings_keep_their_indexes_and_their_places),
        cmocka_unit_test(a_string_may_be_long),
        cmocka_unit_test(threads_agree_on_the_index_of_every_string),
        cmocka_unit_test(each_failed_allocation_is_reported_and_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
