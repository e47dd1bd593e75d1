#include <string.h>

#include "check.h"
#include "pythia/joint.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define ROWS  400
#define EDGES 4
#define SEEDS 200

static double durations[EDGES * ROWS], numbers[PYTHIA_JOINT_KEYS_MAX * ROWS];
static struct pythia_random r;

/* Numbers of keys that mean nothing, 0 to 999, and edges of noise around 1 ms, 2 ms, ... */
static struct pythia_joint_input noise(size_t rows, size_t edges, size_t keys, uint64_t seed)
{
    pythia_random_init(&r, seed);
    for (size_t i = 0; i < rows * keys; i++)
        numbers[i] = (double)pythia_random_below(&r, 1000);
    for (size_t e = 0; e < edges; e++)
        for (size_t i = 0; i < rows; i++)
            durations[e * rows + i] = 1e6 * (double)(e + 1) * (1 + .05 * pythia_random_normal(&r));
    return (struct pythia_joint_input){.rows = rows,
                                       .edges = edges,
                                       .keys = keys,
                                       .durations = durations,
                                       .numbers = numbers,
                                       .tested = 22,
                                       .alpha = .05,
                                       .seed = seed,
                                       .halves = 50};
}

static struct pythia_joint found_in(const struct pythia_joint_input *in)
{
    struct pythia_joint out;
    assert_int_equal(pythia_joint_find(in, &out), PYTHIA_OK);
    return out;
}

/* Twice the hundred pairs of 0 to 9, and one edge of 50 + 2 a - b ms. Both have the variance 8.25,
 * so a alone explains 4 / 5: 1 - 1/5 * 199/198 adjusted. Nothing is clipped, as the largest and the
 * smallest values come twice. */
static void a_linear_function_of_two_keys_is_found_as_it_is(void **state)
{
    struct pythia_joint_input in = noise(200, 1, 2, 1);
    for (size_t i = 0; i < 200; i++) {
        size_t tens = i % 100 / 10;
        numbers[i] = (double)tens;
        numbers[200 + i] = (double)(i % 10);
        durations[i] = 1e6 * (50 + 2 * numbers[i] - numbers[200 + i]);
    }
    struct pythia_joint j = found_in(&in);
    assert_int_equal(j.count, 2);
    assert_int_equal(j.keys[0], 0);
    assert_int_equal(j.keys[1], 1);
    assert_rel_equal(j.coefficients[0], 1, 1e-9);
    assert_rel_equal(j.coefficients[1], -.5, 1e-9);
    assert_rel_equal(j.slopes[0], 2e6, 1e-9);
    assert_rel_equal(j.slopes[1], -1e6, 1e-9);
    assert_rel_equal(j.r, 1, 1e-9);
    assert_rel_equal(j.share, 1, 1e-9);
    assert_rel_equal(j.single_share, 1 - 199 / 990., 1e-9);
    assert_rel_equal(j.stability, 1, 1e-9);
    assert_true(j.q < 1e-20);
    in.single_share = .95; /* another measure says that one key explains as much */
    assert_int_equal(found_in(&in).count, 0);
}

/* What arrives less what is served is the wait, of 1 us for each. */
static void a_difference_has_opposite_coefficients_in_every_seed(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct pythia_joint_input in = noise(200, EDGES, 4, seed);
        for (size_t i = 0; i < 200; i++)
            durations[2 * 200 + i] += 1e3 * (1000 + numbers[i] - numbers[3 * 200 + i]);
        struct pythia_joint j = found_in(&in);
        assert_int_equal(j.count, 2);
        assert_int_equal(j.keys[0], 0);
        assert_int_equal(j.keys[1], 3);
        assert_true(fabs(j.coefficients[0] - 1) < .25 && fabs(j.coefficients[1] + 1) < .25);
        assert_true(j.share > j.single_share + .2);
    }
}

/* The same with little noise on the edge: the other edges' does not matter to the coefficients. */
static void coefficients_are_those_of_the_edge(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct pythia_joint_input in = noise(200, EDGES, 3, seed);
        for (size_t i = 0; i < 200; i++)
            durations[2 * 200 + i] =
                1e3 * (5000 + numbers[i] - numbers[200 + i] + 10 * pythia_random_normal(&r));
        struct pythia_joint j = found_in(&in);
        assert_int_equal(j.count, 2);
        assert_true(fabs(j.coefficients[0] - 1) <= .02 && fabs(j.coefficients[1] + 1) <= .02);
        assert_true(fabs(j.coefficients[0]) == 1 || fabs(j.coefficients[1]) == 1);
        assert_true(j.r >= .99);
        assert_true(j.stability == 1);
    }
}

/* Two keys that act on an edge each: neither pair of variates alone is the answer. */
static void keys_of_two_edges_act_together_on_the_total(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_joint_input in = noise(300, EDGES, 2, seed);
        for (size_t i = 0; i < 300; i++) {
            durations[i] = 1e3 * (1000 + 2 * numbers[i] + 10 * pythia_random_normal(&r));
            durations[300 + i] = 1e3 * (1000 + numbers[300 + i] + 10 * pythia_random_normal(&r));
        }
        struct pythia_joint j = found_in(&in);
        assert_int_equal(j.count, 2);
        assert_rel_equal(j.coefficients[0], 1, 1e-12);
        /* The noise of all edges is in it: .25 ms, so its standard deviation is .03. */
        assert_true(fabs(j.coefficients[1] - .5) < .1);
        assert_true(fabs(j.slopes[0] - 2e3) < 2e2);
        assert_true(j.r > .99);
    }
}

/* Seven keys of noise beside one that explains half of the variance, and beside none. */
static void noise_joins_nothing_in_any_seed(void **state)
{
    size_t joined = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (int half = 0; half < 2; half++) {
            struct pythia_joint_input in = noise(100, EDGES, 8, seed);
            for (size_t i = 0; i < 100 && half; i++)
                durations[i] += 1e3 * (numbers[i] + 288 * pythia_random_normal(&r));
            joined += found_in(&in).count > 0;
        }
    assert_int_equal(joined, 0);
}

/* A noisy copy of the cause adds to it nothing that matters, whatever its correlation. */
static void one_key_that_explains_all_stays_alone(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_joint_input in = noise(200, EDGES, 2, seed);
        for (size_t i = 0; i < 200; i++) {
            durations[i] += 1e4 * numbers[i];
            numbers[200 + i] = numbers[i] + 300 * pythia_random_normal(&r);
        }
        assert_int_equal(found_in(&in).count, 0);
    }
}

/* One request that took a second, with the largest number of both keys. */
static void a_single_request_makes_no_finding(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_joint_input in = noise(200, EDGES, 2, seed);
        durations[7] = 1e9;
        numbers[7] = 1e7;
        numbers[200 + 7] = -1e7;
        assert_int_equal(found_in(&in).count, 0);
    }
}

/* With 60 rows, keys that explain a fifth each add significantly to each other in most halves, or
 * not. */
static void what_halves_do_not_show_is_not_found(void **state)
{
    size_t found = 0, always = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct pythia_joint_input in = noise(60, 1, 2, seed);
        in.tested = 2;
        for (size_t i = 0; i < 60; i++)
            durations[i] = 1e3 * (numbers[i] - numbers[60 + i] + 500 * pythia_random_normal(&r));
        struct pythia_joint j = found_in(&in);
        found += j.count > 0;
        always += j.count > 0 && j.stability == 1;
        assert_true(j.count == 0 || j.stability >= PYTHIA_JOINT_STABLE_MIN);
    }
    assert_true(always > 0 && always < found && found < SEEDS);
}

static void what_says_nothing_is_told(void **state)
{
    struct pythia_joint_input in = noise(200, EDGES, 2, 1);
    for (size_t i = 0; i < 200; i++)
        numbers[i] = 7; /* one constant key, then both, then a constant edge as well */
    assert_int_equal(found_in(&in).count, 0);
    for (size_t i = 0; i < 400; i++)
        numbers[i] = 7;
    assert_int_equal(found_in(&in).count, 0);
    for (size_t i = 0; i < EDGES * 200; i++)
        durations[i] = 7;
    assert_int_equal(found_in(&in).count, 0);
    in = noise(200, EDGES, 1, 1);
    assert_int_equal(found_in(&in).count, 0);
    in = noise(29, EDGES, 2, 1); /* 5 rows to each of 6 are 30 */
    for (size_t i = 0; i < 29; i++)
        durations[i] = 1e6 * (numbers[i] - numbers[29 + i]);
    assert_int_equal(found_in(&in).count, 0);
}

static void what_cannot_be_asked_is_refused(void **state)
{
    struct pythia_joint out = {.r = 42};
    struct pythia_joint_input in = noise(200, EDGES, 2, 1), bad = in;
    bad.keys = PYTHIA_JOINT_KEYS_MAX + 1;
    assert_int_equal(pythia_joint_find(&bad, &out), PYTHIA_EINVAL);
    bad = in;
    bad.edges = PYTHIA_ASSOCIATION_EDGES_MAX + 1;
    assert_int_equal(pythia_joint_find(&bad, &out), PYTHIA_EINVAL);
    bad = in;
    bad.halves = 0;
    assert_int_equal(pythia_joint_find(&bad, &out), PYTHIA_EINVAL);
    bad = in;
    bad.alpha = 1;
    assert_int_equal(pythia_joint_find(&bad, &out), PYTHIA_EINVAL);
    numbers[3] = NAN;
    assert_int_equal(pythia_joint_find(&in, &out), PYTHIA_EINVAL);
    numbers[3] = 3;
    durations[3] = INFINITY;
    assert_int_equal(pythia_joint_find(&in, &out), PYTHIA_EINVAL);
    assert_rel_equal(out.r, 42, 0);
}

static void without_memory_nothing_is_found(void **state)
{
    struct pythia_joint_input in = noise(200, EDGES, 2, 1);
    for (size_t i = 0; i < 200; i++)
        durations[i] = 1e3 * (numbers[i] - numbers[200 + i]);
    for (int allocations = 0;; allocations++) {
        struct pythia_joint out = {.count = 42};
        pythia_mem_fail_after(allocations);
        int status = pythia_joint_find(&in, &out);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(out.count, 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_function_of_two_keys_is_found_as_it_is),
        cmocka_unit_test(a_difference_has_opposite_coefficients_in_every_seed),
        cmocka_unit_test(coefficients_are_those_of_the_edge),
        cmocka_unit_test(keys_of_two_edges_act_together_on_the_total),
        cmocka_unit_test(noise_joins_nothing_in_any_seed),
        cmocka_unit_test(one_key_that_explains_all_stays_alone),
        cmocka_unit_test(a_single_request_makes_no_finding),
        cmocka_unit_test(what_halves_do_not_show_is_not_found),
        cmocka_unit_test(what_says_nothing_is_told),
        cmocka_unit_test(what_cannot_be_asked_is_refused),
        cmocka_unit_test(without_memory_nothing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
