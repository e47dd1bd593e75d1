#include <math.h>

#include "check.h"
#include "pythia/column.h"
#include "pythia/mem.h"
#include "pythia/pool.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define N      100
#define LEVELS 40

static uint32_t levels[N];
static double totals[N], times[N];

/* 100 rows, of 40 levels in turn: 2 or 3 rows each. Level 7 and 17 take 100 more. */
static void draw_rows(double more)
{
    struct pythia_random random;
    pythia_random_init(&random, 1);
    for (size_t i = 0; i < N; i++) {
        levels[i] = (uint32_t)(i % LEVELS);
        times[i] = (double)i;
        totals[i] = 20 + 10 * pythia_random_unit(&random);
        totals[i] += levels[i] == 7 || levels[i] == 17 ? more : 0;
    }
}

static struct pythia_pool find(void)
{
    struct pythia_pool p;
    assert_int_equal(pythia_pool_find(levels, LEVELS, N, totals, times, &p), PYTHIA_OK);
    return p;
}

static void slow_levels_of_few_rows_are_found(void **state)
{
    draw_rows(100);
    struct pythia_pool p = find();
    assert_true(p.found);
    for (uint32_t k = 0; k < LEVELS; k++)
        assert_int_equal(p.slow[k], k == 7 || k == 17);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(p.sides[i], levels[i] == 7 || levels[i] == 17);
    pythia_pool_clear(&p);
}

/* Of 500 sets of totals that know nothing of levels, in half of which a tenth of the rows take ten
 * times as long, none. */
static void chance_finds_none(void **state)
{
    struct pythia_random random;
    pythia_random_init(&random, 2);
    draw_rows(0);
    for (int trial = 0; trial < 500; trial++) {
        for (size_t i = 0; i < N; i++) {
            bool slow = trial % 2 && pythia_random_below(&random, 10) == 0;
            totals[i] = (slow ? 10 : 1) * (20 + 10 * pythia_random_unit(&random));
        }
        struct pythia_pool p = find();
        assert_false(p.found);
        pythia_pool_clear(&p);
    }
}

/* Level k has rows 2 k and 2 k + 1, which are neighbours in time; so are slow rows. */
static void levels_that_belong_to_a_time_are_refused(void **state)
{
    draw_rows(0);
    for (size_t i = 0; i < N; i++) {
        levels[i] = (uint32_t)(i / 2) % LEVELS;
        totals[i] += i >= 20 && i < 40 ? 100 : 0;
    }
    for (size_t i = 2 * LEVELS; i < N; i++)
        levels[i] = PYTHIA_COLUMN_MISSING;
    struct pythia_pool p = find();
    assert_false(p.found);
    pythia_pool_clear(&p);
    for (size_t i = 0; i < N; i++) /* the same at times that are mixed */
        times[i] = (double)(i * 37 % N);
    p = find();
    assert_true(p.found);
    pythia_pool_clear(&p);
}

/* 30 rows share their level with another, and 70 have one of their own or none. */
static void identifiers_are_refused(void **state)
{
    draw_rows(0);
    for (size_t i = 0; i < N; i++) {
        levels[i] = i < 30 ? (uint32_t)(i % 15) : i % 2 ? PYTHIA_COLUMN_MISSING : (uint32_t)i % 25;
        totals[i] += i % 15 < 5 && i < 30 ? 100 : 0;
    }
    for (size_t i = 30; i < N; i++)
        levels[i] = i < 55 ? (uint32_t)(i - 15) : PYTHIA_COLUMN_MISSING;
    struct pythia_pool p = find();
    assert_false(p.found);
    pythia_pool_clear(&p);
}

static void failed_allocations_leave_nothing(void **state)
{
    draw_rows(100);
    bool done = false;
    for (long allowed = 0; !done; allowed++) {
        struct pythia_pool p;
        pythia_mem_fail_after(allowed);
        int status = pythia_pool_find(levels, LEVELS, N, totals, times, &p);
        pythia_mem_fail_after(-1);
        done = status == PYTHIA_OK;
        if (done)
            pythia_pool_clear(&p);
        else
            assert_int_equal(status, PYTHIA_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_levels_of_few_rows_are_found),
        cmocka_unit_test(chance_finds_none),
        cmocka_unit_test(levels_that_belong_to_a_time_are_refused),
        cmocka_unit_test(identifiers_are_refused),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
