#include "assemble/trace_ids.h"
#include "check.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

/* Hashes that stand close to each other, and one of 0. */
static uint64_t hash_at(uint64_t i)
{
    return i % 3 == 0 ? i : i * UINT64_C(0x9E3779B97F4A7C15);
}

static void an_id_is_known_with_the_way_it_ended(void **state)
{
    struct pythia__finished_ids f = {.limit = 0};
    assert_int_equal(pythia__finished_ids_find(&f, 0), PYTHIA__ENDED_NOT);
    assert_int_equal(pythia__finished_ids_bytes(&f), 0);
    for (uint64_t i = 0; i < 10000; i++) {
        assert_int_equal(pythia__finished_ids_find(&f, hash_at(i)), PYTHIA__ENDED_NOT);
        assert_int_equal(pythia__finished_ids_set(&f, hash_at(i), (enum pythia__ending)(1 + i % 4)),
                         PYTHIA_OK);
    }
    for (uint64_t i = 0; i < 10000; i += 2) /* and it may change */
        assert_int_equal(pythia__finished_ids_set(&f, hash_at(i), PYTHIA__ENDED_LATE), PYTHIA_OK);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(pythia__finished_ids_find(&f, hash_at(i)),
                         i % 2 ? 1 + i % 4 : PYTHIA__ENDED_LATE);
    assert_in_range(pythia__finished_ids_bytes(&f), 10000 * 11, 10000 * 22);
    pythia__finished_ids_free(&f);
    assert_int_equal(pythia__finished_ids_find(&f, hash_at(1)), PYTHIA__ENDED_NOT);
    pythia__finished_ids_free(&f);
}

/* With a limit of n the last n are known, those before the last three tables are not, and memory
 * does not grow: three tables of n / 2 ids that are three quarters full. */
static void with_a_limit_the_oldest_are_forgotten(void **state)
{
    for (uint64_t limit = 1; limit <= 1000; limit = limit * 3 + 1) {
        struct pythia__finished_ids f = {.limit = limit};
        size_t most = 0, tables = 3 * ((limit + 1) / 2);
        for (uint64_t i = 0; i < 20 * limit; i++) {
            assert_int_equal(pythia__finished_ids_set(&f, hash_at(i), PYTHIA__ENDED), PYTHIA_OK);
            for (uint64_t k = 0; k < limit && k <= i; k += 1 + limit / 10)
                assert_int_equal(pythia__finished_ids_find(&f, hash_at(i - k)), PYTHIA__ENDED);
            if (i >= tables)
                assert_int_equal(pythia__finished_ids_find(&f, hash_at(i - tables)),
                                 PYTHIA__ENDED_NOT);
            if (i < 3 * limit)
                most =
                    pythia__finished_ids_bytes(&f) > most ? pythia__finished_ids_bytes(&f) : most;
            assert_true(pythia__finished_ids_bytes(&f) <= most);
        }
        assert_true(most <= tables * 11 + 3 * 64);
        pythia__finished_ids_free(&f);
    }
}

/* What changes does not make an old id a new one. */
static void an_id_that_is_known_takes_no_further_room(void **state)
{
    struct pythia__finished_ids f = {.limit = 2};
    for (int i = 0; i < 100; i++)
        for (uint64_t hash = 1; hash <= 3; hash++)
            assert_int_equal(pythia__finished_ids_set(&f, hash, PYTHIA__ENDED_SHED), PYTHIA_OK);
    for (uint64_t hash = 1; hash <= 3; hash++)
        assert_int_equal(pythia__finished_ids_find(&f, hash), PYTHIA__ENDED_SHED);
    pythia__finished_ids_free(&f);
}

static void without_memory_the_others_stay_known(void **state)
{
    struct pythia__finished_ids f = {.limit = 0};
    uint64_t known = 0, failures = 0;
    for (uint64_t i = 1; i <= 3000; i++) {
        pythia_mem_fail_after(0);
        int status = pythia__finished_ids_set(&f, hash_at(i), PYTHIA__ENDED);
        pythia_mem_fail_after(-1);
        if (status != PYTHIA_OK) {
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_int_equal(pythia__finished_ids_find(&f, hash_at(i)), PYTHIA__ENDED_NOT);
            assert_int_equal(pythia__finished_ids_set(&f, hash_at(i), PYTHIA__ENDED), PYTHIA_OK);
            failures++;
        }
        known = i;
    }
    for (uint64_t i = 1; i <= known; i++)
        assert_int_equal(pythia__finished_ids_find(&f, hash_at(i)), PYTHIA__ENDED);
    assert_int_equal(failures, 5); /* 256 slots, three quarters used, doubled up to 4096 */
    pythia__finished_ids_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_known_with_the_way_it_ended),
        cmocka_unit_test(with_a_limit_the_oldest_are_forgotten),
        cmocka_unit_test(an_id_that_is_known_takes_no_further_room),
        cmocka_unit_test(without_memory_the_others_stay_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
