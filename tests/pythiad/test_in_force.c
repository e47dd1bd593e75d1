/* What the engine is told of the controller's times. */
#include "check.h"
#include "switching/in_force.h"

#define US    UINT64_C(1000)
#define S     UINT64_C(1000000000)
#define EPOCH UINT64_C(1700000000000000000)

/* The controller's clock runs from EPOCH on; the clock of spans is read `late_us` later. */
static bool look(struct pythia__in_force *f, bool in_force, uint64_t since, uint64_t lost,
                 uint64_t now, uint64_t late_us, bool *joined)
{
    return pythia__in_force_look(f, in_force, since, lost, now, EPOCH + now + late_us * US, joined);
}

static void a_time_is_told_once(void **state)
{
    struct pythia__in_force f = {0};
    bool joined = true;
    assert_false(look(&f, false, 0, 0, 1 * S, 0, &joined));
    assert_false(f.now);
    assert_true(look(&f, true, 2 * S, 0, 3 * S, 70, &joined));
    assert_true(f.now);
    assert_int_equal(f.since, 2 * S);
    assert_int_equal(f.since_unix_ns, EPOCH + 2 * S + 70 * US);
    for (uint64_t i = 0; i < 10; i++) {
        assert_false(look(&f, true, 2 * S, 0, (4 + i) * S, 70 + i * 50, &joined));
        assert_int_equal(f.since_unix_ns, EPOCH + 2 * S + 70 * US);
    }
}

/* Something else was wanted meanwhile, or the same again: the engine waits to be told, and when it
 * is the same that was in force all the time, it is told so. */
static void a_time_that_is_told_again_is_the_same(void **state)
{
    struct pythia__in_force f = {0};
    bool joined;
    look(&f, true, 2 * S, 0, 2 * S, 70, &joined);
    for (uint64_t i = 0; i < 10; i++) {
        f.now = false;
        assert_true(look(&f, true, 2 * S, 0, (3 + i) * S, 80 + i * 50, &joined));
        assert_true(joined);
        assert_int_equal(f.since_unix_ns, EPOCH + 2 * S + 70 * US);
    }
    assert_false(look(&f, false, 7, 0, 14 * S, 0, &joined));
    assert_int_equal(f.since, 2 * S);
    assert_true(look(&f, true, 15 * S, 0, 16 * S, 20, &joined));
    assert_int_equal(f.since_unix_ns, EPOCH + 15 * S + 20 * US);
}

static void what_joins_is_told_from_what_was_lost(void **state)
{
    struct pythia__in_force f = {0};
    bool joined = false;
    look(&f, true, 2 * S, 1 * S, 2 * S, 0, &joined);
    assert_true(look(&f, true, 3 * S, 1 * S, 3 * S, 0, &joined)); /* it is later, */
    assert_true(joined);                                          /* and nobody has lost it */
    assert_false(look(&f, false, 0, 4 * S, 4 * S, 0, &joined));
    assert_true(look(&f, true, 5 * S, 4 * S, 5 * S, 0, &joined)); /* one had, and has it back */
    assert_false(joined);
    assert_true(look(&f, true, 6 * S, 4 * S, 6 * S, 0, &joined)); /* that is over */
    assert_true(joined);
    /* What was lost without a doubt of the set being in force is over as well. */
    assert_false(look(&f, true, 6 * S, 7 * S, 7 * S, 0, &joined));
    assert_true(look(&f, true, 8 * S, 7 * S, 8 * S, 0, &joined));
    assert_true(joined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_told_once),
        cmocka_unit_test(a_time_that_is_told_again_is_the_same),
        cmocka_unit_test(what_joins_is_told_from_what_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
