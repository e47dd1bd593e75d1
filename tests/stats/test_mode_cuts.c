#include <stdbool.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/mode_cuts.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define N 3000

static double keys[N];
static size_t modes[N], count;

/* `rows` rows of that key and mode. */
static void add(size_t rows, double key, size_t mode)
{
    for (size_t i = 0; i < rows; i++) {
        keys[count] = key;
        modes[count++] = mode;
    }
}

static struct pythia_mode_cuts found(size_t mode_count)
{
    struct pythia_mode_cuts c;
    assert_int_equal(pythia_mode_cuts_find(keys, modes, count, mode_count, &c), PYTHIA_OK);
    return c;
}

static void two_modes_give_one_cut(void **state)
{
    count = 0;
    add(10, 3, 1);
    add(20, 0, 0);
    add(10, 1, 0);
    add(1, NAN, 1); /* without a key */
    struct pythia_mode_cuts c = found(2);
    assert_int_equal(c.count, 1);
    assert_rel_equal(c.cuts[0], 2, 0);
    assert_rel_equal(c.information, 1, 1e-12);
}

static void three_modes_give_two_cuts(void **state)
{
    count = 0;
    for (size_t key = 1; key <= 5; key++)
        add(10, (double)key, key <= 2 ? 0 : key == 3 ? 1 : 2);
    struct pythia_mode_cuts c = found(3);
    assert_int_equal(c.count, 2);
    assert_rel_equal(c.cuts[0], 2.5, 0);
    assert_rel_equal(c.cuts[1], 3.5, 0);
    assert_rel_equal(c.information, 1, 1e-12);
}

/* The mode in the middle of the durations may belong to the smallest and the largest keys: there
 * are still no more intervals than modes. */
static void intervals_are_no_more_than_modes(void **state)
{
    count = 0;
    for (size_t key = 0; key < 6; key++)
        add(50, (double)key, key % 2);
    assert_true(found(2).count <= 1);
}

/* Slow are 20 of the 50 rows with key 1 and none of the 150 with key 0. A cut misclassifies 20
 * rows, as no cut does. Modes in nats: 200 ln 200 - 180 ln 180 - 20 ln 20 = 65.0166 without it, 50
 * ln 50 - 20 ln 20 - 30 ln 30 = 33.6506 with it, and its price is ln(200) / 2 = 2.6492. */
static void a_rare_mode_counts(void **state)
{
    count = 0;
    add(150, 0, 0);
    add(20, 1, 1);
    add(30, 1, 0);
    struct pythia_mode_cuts c = found(2);
    assert_int_equal(c.count, 1);
    assert_rel_equal(c.cuts[0], .5, 0);
    assert_rel_equal(c.information, 1 - 33.6505833 / 65.0165946, 1e-7);
}

static void an_interval_has_five_rows(void **state)
{
    count = 0;
    add(100, 0, 0);
    add(4, 1, 1);
    assert_int_equal(found(2).count, 0);
    add(1, 1, 1);
    assert_int_equal(found(2).count, 1);
}

/* The rule by trying every set of cuts between different keys, as its text says it. */
static double nats_of(double low, double high, size_t mode_count)
{
    double of[4] = {0}, rows = 0, sum;
    for (size_t i = 0; i < count; i++)
        if (keys[i] >= low && keys[i] < high) {
            of[modes[i]]++;
            rows++;
        }
    if (rows < 5)
        return INFINITY;
    sum = rows * log(rows);
    for (size_t m = 0; m < mode_count; m++)
        sum -= of[m] > 0 ? of[m] * log(of[m]) : 0;
    return sum;
}

static void all_partings_are_compared(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 3);
    size_t cut = 0;
    for (size_t sample = 0; sample < 400; sample++) {
        size_t mode_count = 2 + sample % 2, values = 7;
        count = 0;
        for (size_t i = 0; i < 60; i++) {
            double key = (double)pythia_random_below(&r, values);
            double near = key / (double)values * (double)mode_count;
            bool any = pythia_random_unit(&r) < .3;
            add(1, key, any ? pythia_random_below(&r, mode_count) : (size_t)near);
        }
        double price = log((double)values - 1) + .5 * (double)(mode_count - 1) * log(60);
        double best = INFINITY;
        for (int a = 0; a < 7; a++) /* key 0 .. 6: a cut below each; 0: none */
            for (int b = a; b < 7; b++) {
                if ((a == 0 && b > 0) || (mode_count == 2 && b > a))
                    continue;
                double sum = a == 0 ? nats_of(-1, 9, mode_count)
                                    : nats_of(-1, a, mode_count) + price +
                                          (b > a ? nats_of(a, b, mode_count) + price : 0) +
                                          nats_of(b, 9, mode_count);
                best = fmin(best, sum);
            }
        struct pythia_mode_cuts c = found(mode_count);
        double sum = 0;
        for (size_t k = 0; k <= c.count; k++)
            sum += nats_of(k ? c.cuts[k - 1] : -1, k < c.count ? c.cuts[k] : 9, mode_count) +
                   (k ? price : 0);
        assert_rel_equal(sum, best, 1e-9);
        cut += c.count;
    }
    assert_in_range(cut, 400, 700); /* or nothing was compared */
}

/* Two modes and a key that has nothing to do with them, of few and of many values. */
static void chance_is_not_cut(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 8);
    size_t cut = 0, samples = 500;
    for (size_t sample = 0; sample < samples; sample++) {
        count = 0;
        for (size_t i = 0; i < 200; i++)
            add(1, sample % 2 ? pythia_random_unit(&r) : (double)pythia_random_below(&r, 5),
                pythia_random_unit(&r) < .2);
        cut += found(2).count > 0;
    }
    assert_true(cut <= samples / 50);
}

/* Modes that overlap in the key, and more values than there are blocks: the cut is near the one
 * between them, and everything is the same in any order. */
static void a_noisy_key_is_cut_where_the_modes_part(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 21);
    count = 0;
    for (size_t i = 0; i < N; i++) {
        size_t mode = pythia_random_unit(&r) < .5;
        add(1, (double)mode * 4 + pythia_random_normal(&r), mode);
    }
    struct pythia_mode_cuts c = found(2);
    assert_int_equal(c.count, 1);
    assert_true(fabs(c.cuts[0] - 2) < .3);
    assert_true(c.information > .7);
    for (size_t i = 0; i < N / 2; i++) {
        double key = keys[i];
        size_t mode = modes[i];
        keys[i] = keys[N - 1 - i];
        modes[i] = modes[N - 1 - i];
        keys[N - 1 - i] = key;
        modes[N - 1 - i] = mode;
    }
    struct pythia_mode_cuts again = found(2);
    assert_rel_equal(again.cuts[0], c.cuts[0], 0);
    assert_rel_equal(again.information, c.information, 0);
}

static void what_cannot_be_cut_is_not(void **state)
{
    count = 0;
    assert_int_equal(found(2).count, 0);
    assert_true(isnan(found(2).information));
    add(30, 4, 0); /* one key */
    add(30, 4, 1);
    assert_int_equal(found(2).count, 0);
    count = 0;
    add(30, 1, 0); /* one mode */
    add(30, 2, 0);
    assert_int_equal(found(1).count, 0);
    assert_int_equal(found(2).count, 0);
    assert_true(isnan(found(2).information));
    count = 0;
    add(20, NAN, 0);
    assert_int_equal(found(2).count, 0);
    count = 0;
    add(10, 1, 0); /* neighbours among doubles: nothing is half-way */
    add(10, nextafter(1, 2), 1);
    assert_int_equal(found(2).count, 1);
    assert_rel_equal(found(2).cuts[0], nextafter(1, 2), 0);
}

static void memory_that_is_missing_is_told(void **state)
{
    struct pythia_mode_cuts c = {.count = 9};
    count = 0;
    add(30, 1, 0);
    add(30, 2, 1);
    long n = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; n++) {
        pythia_mem_fail_after(n);
        status = pythia_mode_cuts_find(keys, modes, count, 2, &c);
        pythia_mem_fail_after(-1);
        assert_int_equal(c.count, status == PYTHIA_OK ? 1 : 9);
    }
    assert_in_range(n, 5, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_modes_give_one_cut),
        cmocka_unit_test(three_modes_give_two_cuts),
        cmocka_unit_test(intervals_are_no_more_than_modes),
        cmocka_unit_test(a_rare_mode_counts),
        cmocka_unit_test(an_interval_has_five_rows),
        cmocka_unit_test(all_partings_are_compared),
        cmocka_unit_test(chance_is_not_cut),
        cmocka_unit_test(a_noisy_key_is_cut_where_the_modes_part),
        cmocka_unit_test(what_cannot_be_cut_is_not),
        cmocka_unit_test(memory_that_is_missing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
