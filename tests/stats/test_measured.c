#include <math.h>

#include "check.h"
#include "pythia/measured.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define N 300

static double numbers[N], times[N];
static struct pythia_random random_numbers;

static const char *unit_of_called(const double *others, size_t n, size_t values)
{
    const char *unit = "unset";
    assert_int_equal(pythia_measured_unit(numbers, others, times, n, values, &unit), PYTHIA_OK);
    return unit;
}

static const char *unit_of(const double *others, size_t n)
{
    return unit_of_called(others, n, SIZE_MAX);
}

static double draw(double low, double high)
{
    return low + (high - low) * pythia_random_unit(&random_numbers);
}

/* Times of 10 to 100 ms. The program stops its clock 20 to 60 us before the span ends. */
static void draw_measured(double ns)
{
    pythia_random_init(&random_numbers, 1);
    for (size_t i = 0; i < N; i++) {
        times[i] = draw(10e6, 100e6);
        numbers[i] = (times[i] - draw(20e3, 60e3)) / ns;
    }
}

static void a_measurement_is_recognised_in_each_unit(void **state)
{
    draw_measured(1);
    assert_string_equal(unit_of(NULL, N), "ns");
    draw_measured(1e3);
    assert_string_equal(unit_of(NULL, N), "us");
    draw_measured(1e6);
    assert_string_equal(unit_of(NULL, N), "ms");
    draw_measured(1e9);
    assert_string_equal(unit_of(NULL, N), "s");
    draw_measured(60e9); /* minutes are no unit that programs measure in */
    assert_null(unit_of(NULL, N));
}

/* Whole ms: 90 different values, as many as the times have. A number of items may be the same, if
 * each takes 1 ms. */
static void whole_units_are_recognised_if_they_are_called_a_time(void **state)
{
    draw_measured(1e6);
    for (size_t i = 0; i < N; i++)
        numbers[i] = floor(numbers[i]);
    assert_string_equal(unit_of_called(NULL, N, 21), "ms");
    assert_null(unit_of(NULL, N));
}

/* The measurement leaves out what the span does besides, 30 ms that hardly vary. */
static void a_part_of_the_time_is_recognised(void **state)
{
    draw_measured(1e6);
    for (size_t i = 0; i < N; i++)
        times[i] += draw(30e6, 31e6);
    assert_string_equal(unit_of(NULL, N), "ms");
}

static void two_parts_that_add_up_are_recognised_together_only(void **state)
{
    static double idle[N];
    pythia_random_init(&random_numbers, 2);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = draw(10e6, 100e6);
        idle[i] = draw(10e6, 100e6);
        times[i] = numbers[i] + idle[i] + draw(0, 1000);
    }
    assert_null(unit_of(NULL, N));
    assert_string_equal(unit_of(idle, N), "ns");
}

/* A tenth of the time and less is busy: idle time alone measures the time nearly as well. A number
 * of its own is no part of it. */
static void a_small_part_is_recognised_beside_the_rest(void **state)
{
    static double busy[N], other[N];
    bool part;
    pythia_random_init(&random_numbers, 6);
    for (size_t i = 0; i < N; i++) {
        times[i] = draw(10e6, 100e6);
        busy[i] = floor(times[i] / draw(10, 100));
        numbers[i] = floor(times[i] - busy[i] - draw(0, 1000));
        other[i] = floor(draw(0, 1e6));
    }
    assert_string_equal(unit_of(NULL, N), "ns");
    assert_int_equal(pythia_measured_part(numbers, busy, times, N, "ns", &part), PYTHIA_OK);
    assert_true(part);
    assert_int_equal(pythia_measured_part(numbers, other, times, N, "ns", &part), PYTHIA_OK);
    assert_false(part);
}

/* The program sleeps for 5, 20, 50 or 100 ms, and takes up to 2 ms more. */
static void a_setting_of_few_values_is_none(void **state)
{
    static const double settings[] = {5, 20, 50, 100};
    pythia_random_init(&random_numbers, 3);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = settings[i % 4];
        times[i] = numbers[i] * 1e6 + draw(0, 2e6);
    }
    assert_null(unit_of_called(NULL, N, 21));
}

/* Multiples of 20 ms up to 1 s are 50 values, and the times have some 200 in whole ms. */
static void a_setting_in_steps_is_none(void **state)
{
    pythia_random_init(&random_numbers, 4);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = 20 * floor(draw(1, 51));
        times[i] = numbers[i] * 1e6 + draw(0, 15e6);
    }
    assert_null(unit_of_called(NULL, N, 21));
}

/* 1.1 ms for each item is near a unit, and none; neither is 1 ms with noise of a third of the
 * variance. */
static void a_count_that_costs_time_is_none(void **state)
{
    pythia_random_init(&random_numbers, 5);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = floor(draw(1, 400));
        times[i] = numbers[i] * 1.1e6;
    }
    assert_null(unit_of(NULL, N));
    for (size_t i = 0; i < N; i++)
        times[i] = numbers[i] * 1e6 + draw(0, 280e6);
    assert_null(unit_of(NULL, N));
}

/* Three of 300 requests waited 10 s after the clock had stopped. */
static void a_few_other_rows_do_not_decide(void **state)
{
    draw_measured(1e6);
    for (size_t i = 0; i < 3; i++)
        times[100 * i] += 10e9;
    assert_string_equal(unit_of(NULL, N), "ms");
}

static void rows_without_a_number_do_not_count(void **state)
{
    draw_measured(1e6);
    for (size_t i = 0; i < N; i += 2) {
        numbers[i] = NAN;
        times[i] = 0;
    }
    assert_string_equal(unit_of(NULL, N), "ms");
    for (size_t i = 0; i < N - 2 * (PYTHIA_MEASURED_ROWS - 1); i++)
        numbers[i] = NAN; /* 39 are left */
    assert_null(unit_of(NULL, N));
}

static void nothing_that_is_constant_is_a_measurement(void **state)
{
    draw_measured(1e6);
    for (size_t i = 0; i < N; i++)
        times[i] = 5e6;
    assert_null(unit_of(NULL, N));
    assert_null(unit_of(NULL, 0));
}

static void a_failed_allocation_leaves_the_unit_untouched(void **state)
{
    const char *unit = "unset";
    draw_measured(1e6);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_measured_unit(numbers, NULL, times, N, SIZE_MAX, &unit), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_string_equal(unit, "unset");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measurement_is_recognised_in_each_unit),
        cmocka_unit_test(whole_units_are_recognised_if_they_are_called_a_time),
        cmocka_unit_test(a_part_of_the_time_is_recognised),
        cmocka_unit_test(two_parts_that_add_up_are_recognised_together_only),
        cmocka_unit_test(a_small_part_is_recognised_beside_the_rest),
        cmocka_unit_test(a_setting_of_few_values_is_none),
        cmocka_unit_test(a_setting_in_steps_is_none),
        cmocka_unit_test(a_count_that_costs_time_is_none),
        cmocka_unit_test(a_few_other_rows_do_not_decide),
        cmocka_unit_test(rows_without_a_number_do_not_count),
        cmocka_unit_test(nothing_that_is_constant_is_a_measurement),
        cmocka_unit_test(a_failed_allocation_leaves_the_unit_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
