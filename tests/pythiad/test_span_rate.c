/* When a rate of spans is too much, and when it would not be any more: a made-up stream, in seconds
 * that nobody waits for. */
#include "check.h"
#include "switching/span_rate.h"

/* `rate` spans a second for so many seconds; the second at whose look the answer was `wanted`, or 0
 * for never. */
static unsigned stream(struct pythia__span_rate *r, double limit, double rate, unsigned seconds,
                       bool wanted)
{
    static double arrived;
    arrived = r->begun ? arrived : 0;
    unsigned first = 0;
    for (unsigned i = 1; i <= seconds; i++) {
        arrived += rate;
        if (pythia__span_rate_look(r, limit, (uint64_t)arrived, 1) == wanted && first == 0)
            first = i;
    }
    return first;
}

static void a_rate_below_the_limit_is_never_exceeded(void **state)
{
    (void)state;
    struct pythia__span_rate r = {0};
    assert_int_equal(stream(&r, 1000, 999, 100, true), 0);
    assert_int_equal(stream(&r, 0, 1e9, 10, true), 0); /* no limit */
}

/* Smoothed with 2 s, a second of ten times as much is less than four times as much. */
static void a_short_burst_is_no_load(void **state)
{
    (void)state;
    struct pythia__span_rate r = {0};
    stream(&r, 0, 100, 60, true);
    assert_int_equal(stream(&r, 500, 1000, 1, true), 0);
    assert_int_equal(stream(&r, 500, 100, 60, true), 0);
    assert_in_range(stream(&r, 500, 1000, 60, true), 2, 3);
}

/* 2000 a second arrive, 200 once points are closed: with a limit of 1000 they stay closed, as 2000
 * would arrive again. When the load is a third, 67 arrive, and 667 would. */
static void points_stay_closed_while_opening_them_would_exceed_it_again(void **state)
{
    (void)state;
    struct pythia__span_rate r = {0};
    assert_int_not_equal(stream(&r, 1000, 2000, 30, true), 0);
    r = (struct pythia__span_rate){0};
    stream(&r, 0, 2000, 60, true);
    stream(&r, 1000, 2000, 1, true);
    assert_true(r.exceeded);
    assert_int_equal(stream(&r, 1000, 200, 1000, false), 0);
    assert_in_range(stream(&r, 1000, 67, 30, false), 1, 10);
    assert_int_equal(stream(&r, 1000, 667, 1000, true), 0);
}

/* 88 % of the limit would arrive: it is calm below 80 %. */
static void a_rate_at_the_limit_does_not_open_and_close(void **state)
{
    (void)state;
    struct pythia__span_rate r = {0};
    stream(&r, 0, 2000, 60, true);
    stream(&r, 1000, 2000, 1, true);
    stream(&r, 1000, 200, 60, false);
    assert_int_equal(stream(&r, 1000, 88, 1000, false), 0);
    assert_int_not_equal(stream(&r, 1000, 79, 1000, false), 0);
}

static void when_nothing_arrives_any_more_or_the_limit_is_gone_it_is_over(void **state)
{
    (void)state;
    struct pythia__span_rate r = {0};
    stream(&r, 0, 2000, 60, true);
    stream(&r, 1000, 2000, 1, true);
    assert_int_not_equal(stream(&r, 1000, 0, 60, false), 0);
    stream(&r, 0, 2000, 60, true);
    stream(&r, 1000, 2000, 1, true);
    assert_int_equal(stream(&r, 0, 2000, 1, false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_below_the_limit_is_never_exceeded),
        cmocka_unit_test(a_short_burst_is_no_load),
        cmocka_unit_test(points_stay_closed_while_opening_them_would_exceed_it_again),
        cmocka_unit_test(a_rate_at_the_limit_does_not_open_and_close),
        cmocka_unit_test(when_nothing_arrives_any_more_or_the_limit_is_gone_it_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
