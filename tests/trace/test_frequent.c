#include <stdlib.h>

#include "check.h"
#include "pythia/random.h"
#include "span/frequent.h"

static struct pythia__frequent *make(void)
{
    struct pythia__frequent *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    return f;
}

static void what_came_16_times_is_frequent(void **state)
{
    struct pythia__frequent *f = make();
    for (uint64_t name = 0; name < 1000; name++)
        for (int times = 1; times <= 300; times++)
            assert_int_equal(pythia__frequent_count(f, name << 40 | 7), times >= 16);
    free(f);
}

/* Of ten million names that come once none is; one that is a four thousandth of all is, and stays.
 */
static void among_names_that_come_once_none_is_taken_for_it(void **state)
{
    struct pythia__frequent *f = make();
    struct pythia_random r;
    uint64_t wrong = 0, right = 0;
    pythia_random_init(&r, 1);
    for (int i = 0; i < 10000000; i++) {
        wrong += pythia__frequent_count(f, pythia_random_next(&r));
        if (i % 4000 == 0)
            right += pythia__frequent_count(f, 42);
    }
    assert_int_equal(wrong, 0);
    assert_in_range(right, 2500 - 16, 2500 - 14);
    free(f);
}

/* What was frequent once is not for ever. */
static void what_comes_no_more_is_forgotten(void **state)
{
    struct pythia__frequent *f = make();
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (int times = 0; times < 20; times++)
        (void)pythia__frequent_count(f, 42);
    for (int i = 0; i < 3000000; i++) /* a flood: each count is some 4 of those by now */
        (void)pythia__frequent_count(f, pythia_random_next(&r));
    assert_false(pythia__frequent_count(f, 42));
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_16_times_is_frequent),
        cmocka_unit_test(among_names_that_come_once_none_is_taken_for_it),
        cmocka_unit_test(what_comes_no_more_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
