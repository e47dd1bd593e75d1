#include "check.h"
#include "pythia/proportion.h"

/* Newcombe, "Two-Sided Confidence Intervals for the Single Proportion: Comparison of Seven
 * Methods", Statistics in Medicine 17, 1998, table I, method 3: to four digits. */
static void newcombe_s_examples_come_out(void **state)
{
    const struct {
        uint64_t hits, of;
        double low, high;
    } examples[] = {
        {81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}};
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct pythia_proportion p =
            pythia_proportion_wilson(examples[i].hits, examples[i].of, .95);
        assert_rel_equal(p.rate, (double)examples[i].hits / (double)examples[i].of, 1e-15);
        assert_true(fabs(p.low - examples[i].low) < .5e-4);
        assert_true(fabs(p.high - examples[i].high) < .5e-4);
    }
}

/* With no hit the upper end is z^2 / (n + z^2), and all hits are the same from the other side. */
static void the_ends_are_exact(void **state)
{
    double z = 1.959963984540054;
    struct pythia_proportion none = pythia_proportion_wilson(0, 200, .95),
                             all = pythia_proportion_wilson(200, 200, .95);
    assert_rel_equal(none.low, 0, 0);
    assert_rel_equal(none.high, z * z / (200 + z * z), 1e-12);
    assert_rel_equal(all.low, 1 - none.high, 1e-12);
    assert_rel_equal(all.high, 1, 0);
}

static void another_level_has_another_width(void **state)
{
    /* Half of the hits: centre 1/2, half width z / 2 / sqrt(n + z^2); z of 99 % is 2.5758293 */
    double z = 2.5758293035489004;
    struct pythia_proportion p = pythia_proportion_wilson(50, 100, .99);
    assert_rel_equal(p.low, .5 - z / 2 / sqrt(100 + z * z), 1e-12);
    assert_rel_equal(p.high, .5 + z / 2 / sqrt(100 + z * z), 1e-12);
}

static void what_is_undefined_is_nan(void **state)
{
    struct pythia_proportion nothing = pythia_proportion_wilson(0, 0, .95),
                             many = pythia_proportion_wilson(3, 2, .95);
    assert_rel_equal(nothing.rate, NAN, 0);
    assert_rel_equal(nothing.low, NAN, 0);
    assert_rel_equal(nothing.high, NAN, 0);
    assert_int_equal(nothing.of, 0);
    assert_rel_equal(many.rate, NAN, 0);
    assert_rel_equal(many.low, NAN, 0);
    const double levels[] = {0, 1, -1, NAN};
    for (size_t i = 0; i < 4; i++) {
        struct pythia_proportion p = pythia_proportion_wilson(1, 2, levels[i]);
        assert_rel_equal(p.rate, .5, 0);
        assert_rel_equal(p.low, NAN, 0);
        assert_rel_equal(p.high, NAN, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newcombe_s_examples_come_out),
        cmocka_unit_test(the_ends_are_exact),
        cmocka_unit_test(another_level_has_another_width),
        cmocka_unit_test(what_is_undefined_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
