#include <stdlib.h>

#include "check.h"
#include "pythia/dip.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/tail_dip.h"

static int before(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct pythia_tail_dip tested(const double *x, size_t n)
{
    struct pythia_tail_dip t;
    assert_int_equal(pythia_tail_dip(x, n, 5, &t), PYTHIA_OK);
    return t;
}

/* n durations: lognormal ones, of which a part is `factor` times as long. */
static void draw(struct pythia_random *r, double *x, size_t n, double part, double factor,
                 double sd)
{
    for (size_t i = 0; i < n; i++)
        x[i] =
            1e6 * exp(sd * pythia_random_normal(r)) * (pythia_random_unit(r) < part ? factor : 1);
}

/* One request in twenty takes ten times as long: too few for the plain dip, not for that of the
 * tails. */
static void a_minor_slow_mode_is_found_in_a_tail(void **state)
{
    double x[1000];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    draw(&r, x, 1000, 0.05, 10, 0.3);
    struct pythia_tail_dip t = tested(x, 1000);
    assert_true(t.p < 1e-3 && t.p_raw > 0.5);
    assert_int_equal(t.parts, 7); /* 1000, 500, 250, 125, 62, 31, 15 */
    assert_true(t.tail >= 3 && t.tail_size == (size_t)1000 >> t.tail);
    assert_true(t.low > 1e6 && t.high < 3e7);
    assert_false(t.jittered);
    assert_rel_equal(t.tick, NAN, 0);
}

/* Three clusters, as of requests that found 0, 1 or 2 others in the queue; and a normal sample of
 * the same variance. */
static void clusters_are_flagged_and_a_normal_law_is_not(void **state)
{
    double x[300], y[300];
    struct pythia_random r;
    pythia_random_init(&r, 2);
    for (size_t i = 0; i < 300; i++) {
        x[i] = 2e9 * (double)(1 + i % 3) + 1e8 * pythia_random_normal(&r);
        y[i] = 4e9 + 1.64e9 / 2 * pythia_random_normal(&r);
    }
    struct pythia_tail_dip t = tested(x, 300);
    assert_true(t.p < 1e-3 && t.p_raw < 1e-3);
    assert_int_equal(t.tail, 0);
    assert_true(tested(y, 300).p > 0.05);
}

static void few_durations_are_never_flagged(void **state)
{
    const double x[] = {1, 1.01, 100, 101, 1.02, 102, 1.03, 103, 1.04, 104, 1.05};
    for (size_t n = 0; n <= 11; n++) {
        struct pythia_tail_dip t = tested(x, n);
        assert_rel_equal(t.p, NAN, 0);
        assert_rel_equal(t.p_raw, NAN, 0);
        assert_rel_equal(t.dip, NAN, 0);
        assert_int_equal(t.parts, 0);
        assert_int_equal(t.n, n);
    }
}

static void twelve_durations_are_enough(void **state)
{
    const double x[] = {1, 1.01, 1.02, 1.03, 1.04, 1.05, 100, 101, 102, 103, 104, 105};
    struct pythia_tail_dip t = tested(x, 12);
    assert_int_equal(t.parts, 1);
    assert_true(t.p > 0 && t.p_raw > 0);
    assert_int_equal(t.tail_size, 12);
}

/* One request in 40 takes 100 times as long, and as many 10 000 times: several tails have the
 * smallest p of the table. The one with the largest dip for its size is reported. */
static void of_tails_beyond_the_table_the_clearest_is_reported(void **state)
{
    enum { N = 16000 };
    double *x = calloc(N, sizeof(*x)), most = 0;
    struct pythia_random r;
    size_t beyond = 0, clearest = 0, number = 0;
    assert_non_null(x);
    pythia_random_init(&r, 7);
    for (size_t i = 0; i < N; i++)
        x[i] = (i % 40 == 0 ? 1e8 : i % 40 == 1 ? 1e6 : 1e4) * exp(0.05 * pythia_random_normal(&r));
    struct pythia_tail_dip t = tested(x, N);
    qsort(x, N, sizeof(*x), before);
    for (size_t i = 0; i < N; i++)
        x[i] = log(x[i]);
    for (size_t size = N; size >= PYTHIA_TAIL_DIP_MIN; size /= 2, number++) {
        struct pythia_dip d;
        assert_int_equal(pythia_dip_statistic(x + N - size, size, &d), PYTHIA_OK);
        if (pythia_dip_p(d.dip, size) > PYTHIA_DIP_P_MIN)
            continue;
        beyond++;
        if (sqrt((double)size) * d.dip > most) {
            most = sqrt((double)size) * d.dip;
            clearest = number;
        }
    }
    free(x);
    assert_true(beyond >= 3 && clearest > 0); /* neither the first of them nor the only one */
    assert_int_equal(t.tail, clearest);
}

static void equal_durations_have_one_mode(void **state)
{
    double x[40];
    for (size_t i = 0; i < 40; i++)
        x[i] = 250;
    struct pythia_tail_dip t = tested(x, 40);
    assert_rel_equal(t.p, 1, 0);
    assert_rel_equal(t.p_raw, 1, 0);
    assert_rel_equal(t.dip, 1 / 80.0, 1e-12);
    assert_int_equal(t.tail, 0);
    assert_false(t.jittered);
}

/* A clock of 20 ticks to the median: every tick looks like a mode until it is jittered away. */
static void the_ticks_of_a_clock_are_no_modes(void **state)
{
    double x[1000];
    struct pythia_random r;
    pythia_random_init(&r, 3);
    draw(&r, x, 1000, 0, 1, 0.5);
    for (size_t i = 0; i < 1000; i++)
        x[i] = 5e4 * round(x[i] / 5e4);
    struct pythia_tail_dip t = tested(x, 1000);
    assert_true(t.jittered);
    assert_rel_equal(t.tick, 5e4, 1e-12);
    assert_true(t.p > 0.05);
    draw(&r, x, 1000, 0.2, 3, 0.2); /* and real modes stay */
    for (size_t i = 0; i < 1000; i++)
        x[i] = 5e4 * round(x[i] / 5e4);
    assert_true(tested(x, 1000).p < 1e-3);
}

static void unusable_durations_are_counted(void **state)
{
    double x[30];
    struct pythia_random r;
    pythia_random_init(&r, 4);
    draw(&r, x, 30, 0, 1, 0.5);
    x[0] = -3;
    x[7] = 0;
    x[9] = NAN;
    struct pythia_tail_dip t = tested(x, 30);
    assert_int_equal(t.n, 27);
    assert_int_equal(t.left_out, 3);
    assert_int_equal(t.parts, 2);
    assert_true(t.p > 0);
}

/* The law with the largest dips, here and in all its tails, is uniform on the log scale: the level
 * is kept. */
static void the_level_is_kept_at_the_worst_law(void **state)
{
    enum { SAMPLES = 1000 };
    double x[200];
    size_t flagged = 0;
    struct pythia_random r;
    pythia_random_init(&r, 6);
    for (size_t s = 0; s < SAMPLES; s++) {
        for (size_t i = 0; i < 200; i++)
            x[i] = exp(8 * pythia_random_unit(&r));
        flagged += tested(x, 200).p <= 0.05;
    }
    assert_true((double)flagged / SAMPLES <= 0.05 + 4 * sqrt(0.05 * 0.95 / SAMPLES));
    assert_true(flagged > 0);
}

static void each_failed_allocation_leaves_out_untouched(void **state)
{
    double x[100];
    long failures = 0;
    struct pythia_tail_dip t = {.p = -1};
    for (size_t i = 0; i < 100; i++)
        x[i] = (double)(i + 1);
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_tail_dip(x, 100, 0, &t);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_rel_equal(t.p, -1, 0);
    }
    assert_int_equal(failures, 1 + 1 + 4); /* the sample, the plain dip, and four parts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minor_slow_mode_is_found_in_a_tail),
        cmocka_unit_test(clusters_are_flagged_and_a_normal_law_is_not),
        cmocka_unit_test(few_durations_are_never_flagged),
        cmocka_unit_test(twelve_durations_are_enough),
        cmocka_unit_test(of_tails_beyond_the_table_the_clearest_is_reported),
        cmocka_unit_test(equal_durations_have_one_mode),
        cmocka_unit_test(the_ticks_of_a_clock_are_no_modes),
        cmocka_unit_test(unusable_durations_are_counted),
        cmocka_unit_test(the_level_is_kept_at_the_worst_law),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
