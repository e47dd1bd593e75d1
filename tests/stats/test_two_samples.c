#include "check.h"
#include "pythia/random.h"
#include "pythia/two_samples.h"

static struct pythia_summary summary(const double *x, size_t n)
{
    struct pythia_summary s = {.n = (double)n};
    for (size_t i = 0; i < n; i++)
        s.mean += x[i] / s.n;
    for (size_t i = 0; i < n; i++)
        s.variance += (x[i] - s.mean) * (x[i] - s.mean) / (s.n - 1);
    return s;
}

/* R's data set sleep, and what t.test(var.equal = TRUE) makes of it: t = -1.8608, df = 18, p =
 * 0.07919, -3.363874 to 0.203874; there the second sample is taken from the first. */
static const double first_drug[] = {.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2};
static const double second_drug[] = {1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4};

/* In samples of one size the two errors are equal, and it is rounding that chooses between their
 * degrees of freedom, Welch's 17.776 and Student's 18. */
static void the_sleep_of_student_comes_out(void **state)
{
    struct pythia_summary b = summary(first_drug, 10), a = summary(second_drug, 10);
    struct pythia_mean_change c;
    pythia_two_samples_cautious(&b, &a, .95, &c);
    assert_rel_equal(c.change, 1.58, 1e-12);
    assert_rel_equal(c.change / c.se, 1.8608, 1e-4);
    assert_true(c.df > 17.77 && c.df <= 18);
    assert_rel_equal(c.p, .0793, .002);
    assert_rel_equal(c.low, -.2047, .005);
    assert_rel_equal(c.high, 3.3647, 1e-3);
}

/* By hand: Welch's squared error is 4 / 10 + 10 / 5 = 2.4 with 2.4^2 / (.4^2 / 9 + 2^2 / 4) degrees
 * of freedom, Student's 76 / 13 * (1 / 10 + 1 / 5) = 1.75. Quantile and p are integrals of the
 * density of t by Simpson's rule. */
static void the_larger_error_counts(void **state)
{
    struct pythia_summary b = {10, 1, 4}, a = {5, 3, 10};
    struct pythia_mean_change c;
    pythia_two_samples_cautious(&b, &a, .95, &c);
    assert_rel_equal(c.se, sqrt(2.4), 1e-12);
    assert_rel_equal(c.df, 5.65938864628821, 1e-12);
    assert_rel_equal(c.p, .2469274288, 1e-9);
    assert_rel_equal(c.low, -1.8467357458, 1e-8);
    assert_rel_equal(c.high, 5.8467357458, 1e-8);
    /* With the variances the other way round Student's is larger: 94 / 13 * .3 against 1.2. */
    b.variance = 10;
    a.variance = 1;
    pythia_two_samples_cautious(&b, &a, .95, &c);
    assert_rel_equal(c.se, sqrt(94 / 13. * .3), 1e-12);
    assert_rel_equal(c.df, 13, 0);
    /* Of 1000 values 20 are 1; a sample of 30 has none of them, and that is no news. */
    b = (struct pythia_summary){1000, .02, .02 * .98};
    a = (struct pythia_summary){30, 0, 0};
    pythia_two_samples_cautious(&b, &a, .95, &c);
    assert_true(c.p > .3);
    assert_rel_equal(c.df, 1028, 0);
}

static void what_does_not_vary_is_tested_by_permutation(void **state)
{
    const struct pythia_summary b = {3, 5, 0}, same = {4, 5, 0}, other = {4, 6, 0}, none = {0};
    struct pythia_mean_change c;
    pythia_two_samples_cautious(&b, &same, .95, &c);
    assert_rel_equal(c.p, NAN, 0);
    assert_rel_equal(c.low, 0, 0);
    pythia_two_samples_cautious(&b, &other, .95, &c);
    assert_rel_equal(c.p, 2 / 35., 1e-12); /* 7 choose 4 */
    assert_rel_equal(c.low, 1, 0);
    assert_rel_equal(c.high, 1, 0);
    pythia_two_samples_cautious(&b, &none, .95, &c);
    assert_rel_equal(c.change, NAN, 0);
    assert_rel_equal(c.p, NAN, 0);
    pythia_two_samples_cautious(&(struct pythia_summary){1, 4, NAN}, &b, .95, &c);
    assert_rel_equal(c.change, 1, 0);
    assert_rel_equal(c.se, NAN, 0);
}

/* The first two are Fisher's own, as R's fisher.test has them; all by whole numbers. */
static void tables_have_their_exact_chance(void **state)
{
    assert_rel_equal(pythia_two_samples_fisher(3, 4, 1, 4), 34 / 70., 1e-12);
    assert_rel_equal(pythia_two_samples_fisher(2, 12, 15, 18), .0005367241191434358, 1e-11);
    assert_rel_equal(pythia_two_samples_fisher(15, 18, 2, 12), .0005367241191434358, 1e-11);
    assert_rel_equal(pythia_two_samples_fisher(0, 30, 10, 30), .000797013131410139, 1e-11);
    assert_rel_equal(pythia_two_samples_fisher(5, 1000, 40, 200), 1.3009846296629772e-27, 1e-9);
    assert_rel_equal(pythia_two_samples_fisher(500, 1000, 480, 1000), .3953996780940272, 1e-9);
}

static void tables_at_the_edge_have_a_chance_too(void **state)
{
    assert_rel_equal(pythia_two_samples_fisher(0, 10, 0, 20), 1, 1e-12);
    assert_rel_equal(pythia_two_samples_fisher(10, 10, 20, 20), 1, 1e-12);
    assert_rel_equal(pythia_two_samples_fisher(0, 3000, 3000, 3000), 0, 0); /* below any double */
    assert_rel_equal(pythia_two_samples_fisher(0, 0, 1, 2), NAN, 0);
    assert_rel_equal(pythia_two_samples_fisher(0, 1, 1, 1), 1, 1e-12);
}

/* A normal law twice: as many p below .05 as there should be, within three standard errors. */
static void where_nothing_changed_p_is_uniform(void **state)
{
    enum { SEEDS = 4000 };
    size_t below = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pythia_random r;
        double x[50];
        pythia_random_init(&r, seed);
        for (size_t i = 0; i < 50; i++)
            x[i] = pythia_random_normal(&r);
        struct pythia_summary b = summary(x, 30), a = summary(x + 30, 20);
        struct pythia_mean_change c;
        pythia_two_samples_cautious(&b, &a, .95, &c);
        below += c.p < .05;
        assert_int_equal(c.p<.05, c.low> 0 || c.high < 0);
    }
    assert_in_range(below, 159, 241);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sleep_of_student_comes_out),
        cmocka_unit_test(the_larger_error_counts),
        cmocka_unit_test(what_does_not_vary_is_tested_by_permutation),
        cmocka_unit_test(tables_have_their_exact_chance),
        cmocka_unit_test(tables_at_the_edge_have_a_chance_too),
        cmocka_unit_test(where_nothing_changed_p_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
