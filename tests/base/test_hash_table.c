#include "check.h"
#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define KEYS 20000

/* A caller: a dense array of keys, and the table that finds them. */
struct keyed {
    struct pythia_hash_table table;
    uint64_t keys[KEYS];
    uint32_t count;
};

static bool is_key(const void *owner, uint32_t index, const void *key)
{
    const struct keyed *k = owner;
    return k->keys[index] == *(const uint64_t *)key;
}

static uint32_t find(const struct keyed *k, uint64_t hash, uint64_t key)
{
    return pythia_hash_table_find(&k->table, hash, is_key, k, &key);
}

static void add(struct keyed *k, uint64_t hash, uint64_t key)
{
    assert_int_equal(find(k, hash, key), PYTHIA_HASH_TABLE_NONE);
    assert_int_equal(pythia_hash_table_add(&k->table, hash, k->count), PYTHIA_OK);
    k->keys[k->count++] = key;
}

static void an_empty_table_has_no_entry_and_no_memory(void **state)
{
    struct keyed k = {.count = 0};
    assert_int_equal(find(&k, 7, 7), PYTHIA_HASH_TABLE_NONE);
    assert_int_equal(pythia_hash_table_bytes(&k.table), 0);
    pythia_hash_table_clear(&k.table);
    pythia_hash_table_free(&k.table);
}

/* Each entry but the removed ones, which are multiples of `step`; 0: none was removed. */
static void find_all(const struct keyed *k, uint64_t step)
{
    for (uint64_t key = 0; key < k->count; key++)
        assert_int_equal(find(k, key, key), step && key % step == 0 ? PYTHIA_HASH_TABLE_NONE : key);
    assert_int_equal(find(k, k->count, k->count), PYTHIA_HASH_TABLE_NONE);
}

static void entries_are_found_at_each_step_of_growth(void **state)
{
    static struct keyed k;
    for (uint64_t key = 0; key < KEYS; key++) {
        add(&k, key, key);
        if (k.table.old || key % 1000 == 0)
            find_all(&k, 0);
    }
    find_all(&k, 0);
    pythia_hash_table_free(&k.table);
    assert_int_equal(find(&k, 1, 1), PYTHIA_HASH_TABLE_NONE);
}

static void entries_that_are_removed_while_the_table_grows_do_not_hide_others(void **state)
{
    static struct keyed k;
    while (k.table.mask < 4095)
        add(&k, k.count, k.count);
    assert_non_null(k.table.old);
    for (uint32_t index = 0; index < k.count; index += 3)
        pythia_hash_table_remove(&k.table, k.keys[index], index);
    find_all(&k, 3);
    for (uint32_t index = 0; index < k.count; index += 3)
        assert_int_equal(pythia_hash_table_add(&k.table, k.keys[index], index), PYTHIA_OK);
    assert_null(k.table.old);
    find_all(&k, 0);
    pythia_hash_table_free(&k.table);
}

static void no_insertion_moves_more_than_64_slots(void **state)
{
    static struct keyed k;
    bool grew_in_steps = false;
    for (uint64_t key = 0; key < KEYS; key++) {
        const struct pythia_hash_slot *old = k.table.old;
        uint32_t moved = k.table.moved;
        add(&k, key, key);
        grew_in_steps = grew_in_steps || k.table.old;
        if (k.table.old)
            assert_in_range(k.table.moved, 1, (k.table.old == old ? moved : 0) + 64);
    }
    assert_true(grew_in_steps);
    pythia_hash_table_free(&k.table);
}

static void a_table_that_grew_takes_9_to_19_bytes_an_entry(void **state)
{
    static struct keyed k;
    for (uint64_t key = 0; key < KEYS; key++)
        add(&k, key, key);
    assert_in_range(pythia_hash_table_bytes(&k.table), KEYS * 9, KEYS * 19);
    pythia_hash_table_free(&k.table);
}

static void keys_of_one_hash_are_told_apart_by_the_caller(void **state)
{
    static struct keyed k;
    for (uint64_t key = 0; key < 500; key++)
        add(&k, 42, key);
    for (uint64_t key = 0; key < 500; key++)
        assert_int_equal(find(&k, 42, key), key);
    for (uint32_t index = 0; index < 500; index += 2)
        pythia_hash_table_remove(&k.table, 42, index);
    for (uint64_t key = 0; key < 500; key++)
        assert_int_equal(find(&k, 42, key), key % 2 ? key : PYTHIA_HASH_TABLE_NONE);
    pythia_hash_table_free(&k.table);
}

/* Remove an entry as callers do: the last one of their array takes its index. */
static void remove_from_array(struct keyed *k, uint32_t index)
{
    pythia_hash_table_remove(&k->table, k->keys[index], index);
    if (index != --k->count) {
        pythia_hash_table_renumber(&k->table, k->keys[k->count], k->count, index);
        k->keys[index] = k->keys[k->count];
    }
}

/* Additions and removals at random, also while slots are being moved, against a list of what is
 * there. */
static void the_table_has_what_was_added_and_not_removed(void **state)
{
    static struct keyed k;
    static bool there[KEYS];
    struct pythia_random random;
    pythia_random_init(&random, 5);
    for (int step = 0; step < 200000; step++) {
        uint64_t key = pythia_random_below(&random, KEYS);
        uint32_t index = find(&k, key, key);
        assert_int_equal(index != PYTHIA_HASH_TABLE_NONE, there[key]);
        there[key] = !there[key];
        if (there[key])
            add(&k, key, key);
        else
            remove_from_array(&k, index);
    }
    assert_int_equal(k.table.count, k.count);
    while (k.count > 0)
        remove_from_array(&k, k.count / 2);
    assert_int_equal(find(&k, 1, 1), PYTHIA_HASH_TABLE_NONE);
    pythia_hash_table_free(&k.table);
}

static void a_cleared_table_is_empty_and_a_sparse_one_gives_its_memory_back(void **state)
{
    static struct keyed k;
    for (uint64_t key = 0; key < 1000; key++)
        add(&k, key, key);
    pythia_hash_table_clear(&k.table);
    size_t bytes = pythia_hash_table_bytes(&k.table);
    assert_int_not_equal(bytes, 0);
    for (uint64_t key = 0; key < 1000; key++)
        assert_int_equal(find(&k, key, key), PYTHIA_HASH_TABLE_NONE);
    k.count = 0;
    for (uint64_t key = 0; key < 1000; key++)
        add(&k, key, key);
    assert_int_equal(pythia_hash_table_bytes(&k.table), bytes);
    pythia_hash_table_clear(&k.table);
    k.count = 0;
    add(&k, 3, 3);
    pythia_hash_table_clear(&k.table);
    assert_int_equal(pythia_hash_table_bytes(&k.table), 0);
    assert_int_equal(find(&k, 3, 3), PYTHIA_HASH_TABLE_NONE);
    pythia_hash_table_free(&k.table);
}

static void a_failed_growth_leaves_the_table_as_it_was(void **state)
{
    static struct keyed k;
    uint64_t full = 0; /* 16 slots, then twice as many whenever seven eighths are taken */
    for (uint64_t key = 0; key < 1000; key++) {
        pythia_mem_fail_after(0);
        int status = pythia_hash_table_add(&k.table, key, k.count);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK) {
            k.keys[k.count++] = key;
            continue;
        }
        assert_int_equal(key, full);
        full = full ? full * 2 : 14;
        assert_int_equal(status, PYTHIA_ENOMEM);
        for (uint64_t known = 0; known < key; known++)
            assert_int_equal(find(&k, known, known), known);
        add(&k, key, key);
    }
    assert_int_equal(full, 1792);
    pythia_hash_table_free(&k.table);
}

/* Keys whose mixed hash would end with twelve zeros if the table had no secret: they would all have
 * the home 0 in a table of 4096 slots. */
static void chosen_keys_do_not_meet_in_one_slot(void **state)
{
    static struct keyed k;
    for (uint64_t key = 0; k.count < 2000; key++)
        if (((uint32_t)pythia_hash_mix(0, key) & 0xFFF) == 0)
            add(&k, key, key);
    uint32_t farthest = 0;
    assert_int_equal(k.table.mask, 4095);
    for (uint32_t i = 0; i <= k.table.mask; i++) {
        uint32_t away = (i - k.table.slots[i].hash) & k.table.mask;
        farthest = k.table.slots[i].number && away > farthest ? away : farthest;
    }
    assert_in_range(farthest, 0, 50);
    pythia_hash_table_free(&k.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_has_no_entry_and_no_memory),
        cmocka_unit_test(entries_are_found_at_each_step_of_growth),
        cmocka_unit_test(entries_that_are_removed_while_the_table_grows_do_not_hide_others),
        cmocka_unit_test(no_insertion_moves_more_than_64_slots),
        cmocka_unit_test(a_table_that_grew_takes_9_to_19_bytes_an_entry),
        cmocka_unit_test(keys_of_one_hash_are_told_apart_by_the_caller),
        cmocka_unit_test(the_table_has_what_was_added_and_not_removed),
        cmocka_unit_test(a_cleared_table_is_empty_and_a_sparse_one_gives_its_memory_back),
        cmocka_unit_test(a_failed_growth_leaves_the_table_as_it_was),
        cmocka_unit_test(chosen_keys_do_not_meet_in_one_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
