/* Numbers of few values, which are also tested as levels. */
#include "association_case.h"

/* Ten rows of each of three numbers, which also have levels, and one edge without ties: the rows of
 * each number take so long by themselves, from `first` on, and follow each other at `step`. */
static struct pythia_association_input three_numbers(const double first[3], double step)
{
    struct pythia_association_input in = noise(30, 1, 1);
    in.edges = 1;
    keys[0].level_count = 3;
    for (size_t i = 0; i < 30; i++) {
        numbers[0][i] = (const double[]){10, 50, 100}[i % 3];
        levels[0][i] = (uint32_t)(i % 3);
        size_t row = i / 3; /* of its number */
        durations[i] = 1e6 * (first[i % 3] + step * (double)row);
    }
    return in;
}

/* The ranks of the edge are 1, 3 to 19 for 10, 21 to 30 for 50, and 2, 4 to 20 for 100, with means
 * 10, 25.5 and 11: between the numbers lie 10 (5.5^2 + 10^2 + 4.5^2) = 1505 of (30^3 - 30) / 12 =
 * 2247.5 squares, and along a line of the ranks of the numbers 100^2 / 2000 = 5. F of two
 * regressors has a p in closed form, (1 - R^2)^(27 / 2); that of the line is larger, so that the p
 * of Simes is twice that. */
static void a_slow_value_in_the_middle_stands_as_a_level(void **state)
{
    struct pythia_association_input in = three_numbers((const double[]){1, 1001, 1.5}, 1);
    struct pythia_association *a = created();
    const struct pythia_association_result *x = asked(a, &in);
    double of_levels = pow(1 - 1505 / 2247.5, 13.5);
    assert_true(x->significant && x->categorical);
    assert_rel_equal(x->p, 2 * of_levels, 1e-9);
    assert_rel_equal(x->q, x->p, 1e-12); /* there is no other key */
    assert_int_equal(x->regressors, 2);
    assert_int_equal(x->split.level_count, 1);
    assert_int_equal(x->split.levels[0], 1);
    assert_true(isnan(x->split.cut));
    assert_int_equal(x->split.high_rows, 10);
    assert_true(x->explained > .9);
    assert_rel_equal(x->p_permutation, 2 * .001, 1e-9); /* the better of two ways */
    const struct pythia_column column = pythia_association_column(&in, x);
    assert_true(column.categorical);
    assert_int_equal(pythia_split_side(&x->split, &column, 1), 1);
    assert_int_equal(pythia_split_side(&x->split, &column, 2), 0);

    keys[0].levels = NULL; /* what only a line is looked for in */
    x = asked(a, &in);
    assert_false(x->categorical);
    /* The cut has 1/3 * 2/3 * 500^2 of 2/9 * 1000^2, which is a quarter: 1 - 3/4 * 29/26 = .16. */
    assert_true(x->p > .5 && x->explained > .1 && x->explained < .2);

    /* The others differ by little, but no row of one from no row of the other: by ranks alone 50 is
     * no further from 100 than that is from 10. */
    in = three_numbers((const double[]){1, 1001, 11}, 1);
    x = asked(a, &in);
    assert_true(x->significant && x->categorical && x->explained > .9);
    pythia_association_destroy(a);
}

/* A rise, and a step behind which all is slow, are what a cut says: "is >= 100". */
static void what_a_cut_says_as_well_stands_as_a_number(void **state)
{
    static const struct {
        double first[3], cut;
    } cases[] = {{{1, 101, 201}, 75}, {{1, 1.5, 1001}, 75}, {{1001, 1.5, 1}, 30}};
    struct pythia_association *a = created();
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct pythia_association_input in = three_numbers(cases[c].first, 1);
        const struct pythia_association_result *x = asked(a, &in);
        assert_true(x->significant && !x->categorical);
        assert_null(x->split.levels);
        assert_true(x->split.cut == cases[c].cut || (c == 0 && x->split.cut == 30));
        assert_true(x->p_permutation <= .001);
    }
    pythia_association_destroy(a);
}

/* Sixty rows, six of each number from 0 to 9; those of 9 take 200 ms, all others 100, each 10
 * more or less: 54 * 6 / 60 * 100^2 = 54 000 of 54 000 + 60 * 10^2 squares lie between the
 * groups, which is .9. A line has .2727 of the variance of the step: its covariance with the
 * number is .1 * 4.5, and .45^2 / (8.25 * .09) = .2727. The same where the upper half of the
 * numbers is slow: there 60 / 4 * 100^2 = 150 000 of 156 000 squares are between, and the line
 * has 1.25^2 / (8.25 * .25) = .7576. Three regressors are charged for the cut: 1 - (1 - R^2) 59
 * / 56. */
static void a_step_explains_what_lies_between_its_sides(void **state)
{
    static const struct {
        double from, share;
    } cases[] = {{9, 54000 / 60000.}, {5, 150000 / 156000.}, {1, 54000 / 60000.}};
    struct pythia_association *a = created();
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct pythia_association_input in = noise(60, 1, 1);
        in.edges = 1;
        keys[0].level_count = 10;
        for (size_t i = 0; i < 60; i++) {
            levels[0][i] = (uint32_t)(i % 10);
            numbers[0][i] = (double)(i % 10);
            durations[i] =
                1e6 * ((numbers[0][i] >= cases[c].from ? 200 : 100) + (i / 10 % 2 ? 10 : -10));
        }
        const struct pythia_association_result *x = asked(a, &in);
        assert_true(x->significant && !x->categorical);
        assert_rel_equal(x->split.cut, cases[c].from - .5, 1e-12);
        assert_rel_equal(x->split_share, cases[c].share, 1e-9);
        assert_rel_equal(x->explained, 1 - (1 - cases[c].share) * 59 / 56, 1e-9);
        /* Numbers that stand for no levels: the cut is the same. */
        keys[0].levels = NULL;
        assert_rel_equal(asked(a, &in)->explained, 1 - (1 - cases[c].share) * 59 / 56, 1e-9);
    }
    pythia_association_destroy(a);
}

/* Of 100 rows that take as many ms as their number says, a cut in the middle has three quarters,
 * and the line all. */
static void a_line_explains_more_than_its_cut(void **state)
{
    struct pythia_association *a = created();
    struct pythia_association_input in = noise(100, 1, 1);
    in.edges = 1;
    keys[0].levels = NULL;
    for (size_t i = 0; i < 100; i++) {
        numbers[0][i] = (double)(i * 37 % 100);
        durations[i] = 1e6 * numbers[0][i];
    }
    const struct pythia_association_result *x = asked(a, &in);
    assert_rel_equal(x->explained, 1, 1e-9);
    assert_true(x->split_share > .74 && x->split_share < .76);
    pythia_association_destroy(a);
}

/* Eight rows of each of three levels, and four edges, of which the first has nearly all of the
 * total: 24 rows are few for six variables. The ranks of the total are 1, 3 to 15 for the first
 * level, 2, 4 to 16 for the last, and 17 to 24 for the slow one, with means 8, 9 and 20.5:
 * between lie 8 (4.5^2 + 3.5^2 + 8^2) = 772 of (24^3 - 24) / 12 = 1150 squares. F of two
 * regressors has a p in closed form, (1 - R^2)^(21 / 2); that of all edges together is larger. */
static void among_many_edges_a_key_of_the_total_is_found(void **state)
{
    struct pythia_association_input in = noise(24, 1, 1);
    struct pythia_association *a = created();
    keys[0].categorical = true;
    keys[0].level_count = 3;
    for (size_t i = 0; i < 24; i++) {
        size_t row = i / 3;
        levels[0][i] = (uint32_t)(i % 3);
        /* The other edges take 1 to 10 ms. */
        durations[i] = 1e9 * (i % 3 == 1 ? 1000 + (double)row : (double)(2 * row + (i % 3 == 2)));
    }
    const struct pythia_association_result *x = asked(a, &in);
    double of_total = pow(1 - 772 / 1150., 10.5);
    assert_true(x->low_confidence && x->significant);
    assert_rel_equal(x->p, 2 * of_total, 1e-9);
    in.edges = 1; /* enough rows: the edge alone, which has the ranks of the total */
    assert_false(asked(a, &in)->low_confidence);
    assert_rel_equal(asked(a, &in)->p, of_total, 1e-9);
    keys[0].categorical = false;
    pythia_association_destroy(a);
}

/* The correlation is that with the edges: more of them have more in common with a key than one
 * of them has, also by chance, and than the total, which has the ranks of that one here. */
static void a_test_with_the_total_leaves_the_correlation_with_the_edges(void **state)
{
    struct pythia_association *a = created();
    struct pythia_association_input in = noise(40, 1, 3);
    keys[0].levels = NULL;
    for (size_t i = 0; i < 40; i++)
        durations[i] = 1e9 * ((double)(i * 7 % 40) + numbers[0][i]);
    double together = asked(a, &in)->r; /* 5 variables in 40 rows */
    assert_false(asked(a, &in)->low_confidence);
    in.edges = 1;
    assert_true(together > asked(a, &in)->r + .001);
    pythia_association_destroy(a);
}

/* Two tests of a key are not two chances: of 15 keys of ten numbers that have nothing to do with it
 * something is discovered in at most 5 % of the samples. */
static void nothing_is_discovered_by_asking_in_two_ways(void **state)
{
    enum { SAMPLES = 500, N = 150 };
    size_t any = 0;
    struct pythia_association *a = created();
    for (size_t s = 0; s < SAMPLES; s++) {
        struct pythia_association_input in = noise(N, 15, 5000 + s);
        in.confirmed = 0;
        for (size_t k = 0; k < 15; k++) {
            keys[k].level_count = 10;
            for (size_t i = 0; i < N; i++)
                numbers[k][i] = levels[k][i] = (uint32_t)pythia_random_below(&r, 10);
        }
        any += asked(a, &in)->significant;
    }
    assert_true((double)any / SAMPLES <= 0.05 + 3 * sqrt(0.05 * 0.95 / SAMPLES));
    assert_true(any > 0);
    pythia_association_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_value_in_the_middle_stands_as_a_level),
        cmocka_unit_test(what_a_cut_says_as_well_stands_as_a_number),
        cmocka_unit_test(a_step_explains_what_lies_between_its_sides),
        cmocka_unit_test(a_line_explains_more_than_its_cut),
        cmocka_unit_test(among_many_edges_a_key_of_the_total_is_found),
        cmocka_unit_test(a_test_with_the_total_leaves_the_correlation_with_the_edges),
        cmocka_unit_test(nothing_is_discovered_by_asking_in_two_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
