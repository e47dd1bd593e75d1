#include "check.h"
#include "exponential.h"
#include "pythia/log_sample.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

static struct pythia_log_sample *sample_of(const double *x, size_t n, uint64_t seed)
{
    struct pythia_log_sample *s = NULL;
    assert_int_equal(pythia_log_sample_create(x, n, seed, &s), PYTHIA_OK);
    return s;
}

static void distinct_durations_are_sorted_and_logged(void **state)
{
    static const size_t sizes[] = {1, 2, 63, 64, 65, 5000};
    static double x[5000];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        double sum = 0, kept = 0;
        for (size_t i = 0; i < sizes[k]; i++) {
            x[i] = exp(20 * pythia_random_normal(&r)); /* from below 1e-30 to above 1e30 */
            sum += log(x[i]);
        }
        struct pythia_log_sample *s = sample_of(x, sizes[k], 0);
        assert_int_equal(s->n, sizes[k]);
        assert_int_equal(s->left_out, 0);
        assert_rel_equal(s->tick, NAN, 0);
        for (size_t i = 0; i < s->n; i++) {
            assert_true(i == 0 || s->durations[i - 1] <= s->durations[i]);
            assert_rel_equal(s->logs[i], log(s->durations[i]), 0);
            kept += s->logs[i];
        }
        assert_true(fabs(kept - sum) <= 1e-9 * (double)sizes[k]); /* the same values */
        pythia_log_sample_destroy(s);
    }
}

static void unusable_durations_are_left_out_and_counted(void **state)
{
    const double x[] = {5, -1, 0, NAN, 7.5, INFINITY, -2, 3, -INFINITY};
    struct pythia_log_sample *s = sample_of(x, 9, 0);
    assert_int_equal(s->n, 3); /* no tick: no log for the zero */
    assert_int_equal(s->left_out, 6);
    assert_rel_equal(s->durations[0], 3, 0);
    assert_rel_equal(s->durations[2], 7.5, 0);
    pythia_log_sample_destroy(s);
    s = sample_of(x, 0, 0);
    assert_int_equal(s->n, 0);
    pythia_log_sample_destroy(s);
}

/* 1000 values of a clock with a tick of 4: each stays within half a tick of where it was, zeros go
 * up. */
static void a_coarse_clock_is_found_and_jittered(void **state)
{
    double x[1000], reversed[1000];
    struct pythia_random r;
    pythia_random_init(&r, 2);
    size_t counts[64] = {0}, jittered[64] = {0};
    for (size_t i = 0; i < 1000; i++) {
        size_t ticks = (size_t)(5 * draw_exponential(&r));
        x[i] =
            i % 2 ? 4 * (double)ticks : copysign(4 * (double)ticks, ticks ? 1 : -1); /* -0, too */
        reversed[999 - i] = x[i];
        counts[ticks]++;
    }
    assert_true(counts[0] > 100);
    struct pythia_log_sample *s = sample_of(x, 1000, 9), *t = sample_of(reversed, 1000, 9);
    assert_rel_equal(s->tick, 4, 0);
    assert_int_equal(s->n, 1000);
    for (size_t i = 0; i < 1000; i++) {
        assert_true(s->durations[i] > 0 && (i == 0 || s->durations[i] > s->durations[i - 1]));
        assert_rel_equal(s->durations[i], t->durations[i],
                         0); /* the order of the input does not matter */
        jittered[(size_t)round(s->durations[i] / 4)]++;
    }
    for (size_t k = 0; k < 64; k++)
        assert_int_equal(jittered[k], counts[k]);
    pythia_log_sample_destroy(s);
    pythia_log_sample_destroy(t);
}

static void equal_durations_have_no_tick(void **state)
{
    const double x[] = {8, 8, 8, 8};
    struct pythia_log_sample *s = sample_of(x, 4, 0);
    assert_rel_equal(s->tick, NAN, 0);
    assert_rel_equal(s->durations[3], 8, 0);
    pythia_log_sample_destroy(s);
}

static void a_failed_allocation_leaves_out_untouched(void **state)
{
    struct pythia_log_sample *s = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_log_sample_create((double[]){1}, 1, 0, &s), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(s);
    pythia_log_sample_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distinct_durations_are_sorted_and_logged),
        cmocka_unit_test(unusable_durations_are_left_out_and_counted),
        cmocka_unit_test(a_coarse_clock_is_found_and_jittered),
        cmocka_unit_test(equal_durations_have_no_tick),
        cmocka_unit_test(a_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
