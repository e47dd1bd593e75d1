/* How requests take longer by the values of a key: in ranges of numbers, or by level. */
#include "explain_case.h"

static void assert_bin(const struct pythia_explanation *x, size_t bin, const char *label,
                       size_t requests, double mean)
{
    assert_string_equal(x->profile[bin].label, label);
    assert_int_equal(x->profile[bin].requests, requests);
    assert_rel_equal(x->profile[bin].mean_ns, mean, 1e-12);
}

/* 130 numbers, twice each: bins of 26 requests and what has the same value as the last of them. */
static void a_profile_of_numbers_has_ranges_of_as_many_requests(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 260; i++)
        requests_add(&r, "A(rows=%d){%d}", i / 2 * 10, 1000 + i / 2 * 10);
    struct explained e = explain(&r);
    const struct pythia_explanation *x = found(&e, "rows");
    assert_non_null(x);
    assert_int_equal(x->profile_bins, 10);
    assert_bin(x, 0, "0 to 120", 26, 1060);
    assert_bin(x, 9, "1170 to 1290", 26, 2230);
    end(&e, &r);
}

/* One value has most of the requests, so that there are fewer bins; the last one takes the rest. */
static void equal_values_are_never_parted(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    size_t total = 0;
    for (int i = 0; i < 150; i++)
        requests_add(&r, "A(rows=%d){%d}", i < 100 ? 5 : i, 1000 + (i < 100 ? 5 : i));
    struct explained e = explain(&r);
    const struct pythia_explanation *x = found(&e, "rows");
    assert_non_null(x);
    assert_bin(x, 0, "5", 100, 1005);
    assert_bin(x, 1, "100 to 114", 15, 1107);
    for (size_t b = 0; b < x->profile_bins; b++)
        total += x->profile[b].requests;
    assert_int_equal(total, 150);
    end(&e, &r);
}

static void a_profile_of_levels_has_the_most_frequent_ones_first(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 90; i++) { /* 40 of a, 30 without, 20 of b */
        if (i < 40)
            requests_add(&r, "A(host=a){%d}", 1000 + i % 2);
        else if (i < 60)
            requests_add(&r, "A(host=b){%d}", 3000 + i % 2);
        else
            requests_add(&r, "A{%d}", 2000 + i % 2);
    }
    struct explained e = explain(&r);
    const struct pythia_explanation *x = found(&e, "host");
    assert_non_null(x);
    assert_int_equal(x->profile_bins, 3);
    assert_bin(x, 0, "a", 40, 1000.5);
    assert_bin(x, 1, "(none)", 30, 2000.5);
    assert_bin(x, 2, "b", 20, 3000.5);
    end(&e, &r);

    requests_begin_folded(&r);
    for (int level = 0; level < 12; level++) /* 12 levels of 30, 29, 28, … requests */
        for (int i = 0; i < 30 - level; i++)
            requests_add(&r, "A(host=h%02d){%d}", level, 1000 + 100 * level + i % 2);
    e = explain(&r);
    x = found(&e, "host");
    assert_non_null(x);
    assert_int_equal(x->profile_bins, PYTHIA_PROFILE_BINS);
    assert_bin(x, 0, "h00", 30, 1000.5);
    assert_string_equal(x->profile[8].label, "h08");
    assert_string_equal(x->profile[9].label, "(others)");
    assert_int_equal(x->profile[9].requests, 21 + 20 + 19);
    end(&e, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_of_numbers_has_ranges_of_as_many_requests),
        cmocka_unit_test(equal_values_are_never_parted),
        cmocka_unit_test(a_profile_of_levels_has_the_most_frequent_ones_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
