/* Numbers that are no reason because they measure the time, and keys whose values have two or three
 * requests each. */
#include "explain_case.h"

/* ---- numbers that measure the time ---- */

/* 200 requests, of which those of a size of "large" take 20 ms longer, and have keys that measure
 * what they take. `pause`: B waits so many ms as its key sets. */
static void add_timed_requests(struct requests *r, bool pause)
{
    static const int pauses[] = {1, 5, 20, 50};
    struct pythia_random random;
    pythia_random_init(&random, 11);
    for (int i = 0; i < 200; i++) {
        bool large = pythia_random_below(&random, 4) == 0;
        int own = 1000000 + (int)pythia_random_below(&random, 4000000);
        int set = pauses[pythia_random_below(&random, 4)];
        int b = own + (pause ? set * 1000000 : large ? 20000000 : 0);
        int busy = b / (3 + (int)pythia_random_below(&random, 20)), late = 300 + i % 7;
        requests_add(r,
                     "A(elapsed_us=%d.%03d,size=%s){500000 B(busy_ns=%d,idle_ns=%d,pause_ms=%d)"
                     "{%d} 300000}",
                     (b + 800000 - late) / 1000, (b + 800000 - late) % 1000,
                     large ? "large" : "small", busy, b - busy - late, set, b);
    }
}

/* busy_ns and idle_ns of B add up to its time; elapsed_us is the request's. */
static void numbers_that_measure_the_time_explain_nothing(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    add_timed_requests(&r, false);
    struct explained e = explain(&r);
    assert_string_equal(e.x.found[0].name, "size");
    assert_int_equal(e.x.found_count, 1);
    assert_string_equal(skipped(&e, "elapsed_us"), "measures the time itself, in us");
    assert_string_equal(skipped(&e, "busy_ns"), "measures the time itself, in ns");
    assert_string_equal(skipped(&e, "idle_ns"), "measures the time itself, in ns");
    assert_string_equal(e.x.measured, "elapsed_us"); /* it has all of the duration */
    assert_true(e.x.measured_share > .99);
    end(&e, &r);
}

/* What B waits for is set to one of four values, which are its time but for what else B does. */
static void a_setting_that_is_a_time_explains_it(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    add_timed_requests(&r, true);
    struct explained e = explain(&r);
    assert_string_equal(e.x.found[0].name, "pause_ms");
    assert_null(skipped(&e, "pause_ms"));
    assert_non_null(skipped(&e, "idle_ns"));
    end(&e, &r);
}

/* Each item takes 1 ms, and B takes elapsed_ms: both are whole numbers that grow by 1 a ms. */
static void a_count_of_what_takes_a_unit_of_time_explains_it(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 13);
    for (int i = 0; i < 200; i++) {
        int items = 1 + (int)pythia_random_below(&random, 60);
        int b = items * 1000000 + (int)pythia_random_below(&random, 500000);
        requests_add(&r, "A(items=%d){1000 B(elapsedMs=%d){%d} 1000}", items, b / 1000000, b);
    }
    struct explained e = explain(&r);
    assert_string_equal(e.x.found[0].name, "items");
    assert_string_equal(skipped(&e, "elapsedMs"), "measures the time itself, in ms");
    end(&e, &r);
}

/* Whole ms of a request that takes 5 to 9 or 80 to 84 ms are ten values: called a duration, they
 * are measured, and called a wait, they may be set. */
static void few_values_are_measured_if_the_name_says_so(void **state)
{
    static const char *const names[] = {"job.duration", "wait_ms"};
    for (int which = 0; which < 2; which++) {
        struct requests r;
        struct pythia_random random;
        requests_begin_folded(&r);
        pythia_random_init(&random, 14);
        for (int i = 0; i < 200; i++) {
            bool full = pythia_random_below(&random, 4) == 0;
            int a = (full ? 80000000 : 5000000) + (int)pythia_random_below(&random, 5000000);
            requests_add(&r, "A(%s=%d,mode=%s){%d}", names[which], a / 1000000,
                         full ? "full" : "delta", a);
        }
        struct explained e = explain(&r);
        assert_string_equal(e.x.found[0].name, which == 0 ? "mode" : "wait_ms");
        end(&e, &r);
    }
}

/* B runs twice, and its number is the mean of both, as its time is. */
static void a_measurement_of_repeated_spans_is_recognised(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 12);
    for (int i = 0; i < 100; i++) {
        int first = 1000 + (int)pythia_random_below(&random, 9000);
        int second = 1000 + (int)pythia_random_below(&random, 9000);
        requests_add(&r, "A{10 B(took=%d){%d} B(took=%d){%d} 10}", first, first, second, second);
    }
    struct explained e = explain(&r);
    assert_int_equal(e.x.found_count, 0);
    assert_non_null(skipped(&e, "took"));
    end(&e, &r);
}

/* ---- keys with many values ---- */

/* 100 requests of 40 tenants, two or three each, in a random order; t05 and t30 take 20 ms longer.
 * The report names them, and a split is made by them. */
static void slow_values_are_named_though_each_has_few_requests(void **state)
{
    struct requests r;
    struct pythia_random random;
    size_t order[100];
    requests_begin_folded(&r);
    pythia_random_init(&random, 15);
    for (size_t i = 0; i < 100; i++)
        order[i] = i;
    pythia_random_shuffle(&random, order, 100);
    for (size_t i = 0; i < 100; i++) {
        size_t tenant = order[i] % 40;
        requests_add(&r, "A(tenant=t%02zu,request=q%zu){%d}", tenant, i,
                     (tenant == 5 || tenant == 30 ? 25000000 : 5000000) +
                         (int)pythia_random_below(&random, 1000000));
    }
    struct explained e = explain(&r);
    const struct pythia_explanation *x = found(&e, "tenant");
    assert_non_null(x);
    assert_string_equal(x->split, "is in {t05, t30}");
    assert_int_equal(x->slow_level_count, 2);
    assert_string_equal(x->slow_levels[1].bytes, "t30");
    assert_int_equal(x->result.split.high_rows, 5); /* t05 has 3, and t30 2 */
    assert_true(x->result.explained > .95);
    assert_int_equal(x->profile_bins, 2);
    assert_string_equal(x->profile[0].label, "(others)");
    assert_string_equal(x->profile[1].label, "(these)");
    assert_non_null(skipped(&e, "request"));
    end(&e, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_measure_the_time_explain_nothing),
        cmocka_unit_test(a_setting_that_is_a_time_explains_it),
        cmocka_unit_test(a_count_of_what_takes_a_unit_of_time_explains_it),
        cmocka_unit_test(few_values_are_measured_if_the_name_says_so),
        cmocka_unit_test(a_measurement_of_repeated_spans_is_recognised),
        cmocka_unit_test(slow_values_are_named_though_each_has_few_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
