#include "pythia/expectation_judge.h"
#include "requests.h"

struct judged {
    struct requests r;
    struct pythia_expectations all;
    struct pythia_expected_results out;
};

static void begin(struct judged *j)
{
    *j = (struct judged){.out = {0}};
    requests_begin_folded(&j->r);
}

static void expect(struct judged *j, struct pythia_expectation_text text)
{
    struct pythia_error e = {0};
    assert_int_equal(pythia_expectations_add(&j->all, &text, &e), PYTHIA_OK);
}

static void judge(struct judged *j, size_t min_requests)
{
    size_t types;
    (void)requests_finish(&j->r, &types);
    assert_int_equal(pythia_expectations_judge(&j->all, j->r.groups, min_requests, &j->out),
                     PYTHIA_OK);
}

static void end(struct judged *j)
{
    pythia_expected_results_free(&j->out);
    pythia_expectations_free(&j->all);
    requests_end(&j->r);
}

/* 1 to 100 ms: by type 7, p99 is 99.01 ms; the mean is 50.5, the variance (100^2 - 1) / 12 * 100 /
 * 99 = 841.666…, so that the CoV is .574… */
static void add_hundred(struct judged *j)
{
    for (int i = 1; i <= 100; i++)
        requests_add(&j->r, "A(queue=%d,host=%s){%d}", i, i & 1 ? "odd" : "even", i * 1000000);
}

static void limits_hold_or_are_violated_at_the_value(void **state)
{
    struct judged j;
    begin(&j);
    add_hundred(&j);
    expect(&j, (struct pythia_expectation_text){.type = "A", .p99 = "< 99.02ms", .cov = "< 0.575"});
    expect(&j, (struct pythia_expectation_text){.type = "A", .p99 = "< 99.01ms", .cov = "< 0.574"});
    judge(&j, 30);
    assert_int_equal(j.out.count, 4);
    const enum pythia_expected_state states[] = {PYTHIA_EXPECTED_HOLDS, PYTHIA_EXPECTED_HOLDS,
                                                 PYTHIA_EXPECTED_VIOLATED,
                                                 PYTHIA_EXPECTED_VIOLATED};
    for (size_t i = 0; i < 4; i++) {
        const struct pythia_expected_result *r = &j.out.list[i];
        assert_int_equal(r->state, states[i]);
        assert_int_equal(r->expectation, i / 2);
        assert_int_equal(r->requests, 100);
        assert_int_equal(r->expected, i % 2 ? PYTHIA_EXPECTED_COV : PYTHIA_EXPECTED_P99);
        assert_rel_equal(r->value, i % 2 ? sqrt(9999. / 12 * 100 / 99) / 50.5 : 99.01e6, 1e-12);
    }
    assert_int_equal(pythia_expected_results_count(&j.out, PYTHIA_EXPECTED_VIOLATED), 2);
    end(&j);
}

static void a_condition_chooses_requests(void **state)
{
    struct judged j;
    begin(&j);
    add_hundred(&j);
    expect(&j,
           (struct pythia_expectation_text){.type = "A", .where = "queue <= 50", .p99 = "< 50ms"});
    expect(&j,
           (struct pythia_expectation_text){.type = "A", .where = "host = odd", .p99 = "< 98ms"});
    expect(&j,
           (struct pythia_expectation_text){.type = "A", .where = "queue > 71", .p99 = "< 1ms"});
    judge(&j, 30);
    assert_int_equal(j.out.count, 3);
    assert_int_equal(j.out.list[0].requests, 50);
    assert_rel_equal(j.out.list[0].value, 49.51e6, 1e-12); /* 1 to 50: 1 + .99 * 49 */
    assert_int_equal(j.out.list[0].state, PYTHIA_EXPECTED_HOLDS);
    assert_int_equal(j.out.list[1].requests, 50);
    assert_rel_equal(j.out.list[1].value, 98.02e6, 1e-12); /* 1, 3, …, 99: 1 + .99 * 49 * 2 */
    assert_int_equal(j.out.list[1].state, PYTHIA_EXPECTED_VIOLATED);
    assert_int_equal(j.out.list[2].requests, 29);
    assert_int_equal(j.out.list[2].state, PYTHIA_EXPECTED_TOO_FEW);
    end(&j);
}

static void a_pattern_fits_several_types_and_none_is_reported(void **state)
{
    struct judged j;
    begin(&j);
    for (int i = 0; i < 4; i++) {
        requests_add(&j.r, "api:GET{10}");
        requests_add(&j.r, "api:PUT{20}");
        requests_add(&j.r, "db:SELECT{30}");
    }
    expect(&j, (struct pythia_expectation_text){.type = "api:*", .p99 = "< 15ns"});
    expect(&j, (struct pythia_expectation_text){.type = "none", .p99 = "< 15ns"});
    judge(&j, 4);
    assert_int_equal(j.out.count, 3);
    assert_int_equal(j.out.list[0].type, requests_string(&j.r, "api:GET"));
    assert_int_equal(j.out.list[0].state, PYTHIA_EXPECTED_HOLDS);
    assert_int_equal(j.out.list[1].type, requests_string(&j.r, "api:PUT"));
    assert_int_equal(j.out.list[1].state, PYTHIA_EXPECTED_VIOLATED);
    assert_int_equal(j.out.list[2].type, PYTHIA_NONE);
    assert_int_equal(j.out.list[2].state, PYTHIA_EXPECTED_TOO_FEW);
    end(&j);
}

static void all_requests_count_where_only_a_sample_is_kept(void **state)
{
    struct judged j;
    begin(&j);
    requests_group(&j.r, &(struct pythia_groups_options){.rows_per_type = 64, .rows = 64});
    add_hundred(&j);
    expect(&j, (struct pythia_expectation_text){.type = "A", .p99 = "< 1ms", .cov = "< 1"});
    judge(&j, 30);
    assert_int_equal(j.out.list[0].requests, 100);
    assert_rel_equal(j.out.list[0].value, 99e6, .011); /* the sketch is within 1 % */
    assert_rel_equal(j.out.list[1].value, sqrt(9999. / 12 * 100 / 99) / 50.5, 1e-12);
    end(&j);
}

/* ---- paths ---- */

static const struct pythia_expected_result *judge_paths(struct judged *j, const char *type,
                                                        const char *where, const char *as)
{
    expect(j, (struct pythia_expectation_text){.type = type, .where = where, .same_path_as = as});
    judge(j, 30);
    assert_int_equal(j->out.count, 1);
    assert_int_equal(j->out.list[0].expected, PYTHIA_EXPECTED_PATH);
    return &j->out.list[0];
}

static void types_with_other_roots_can_take_the_same_path(void **state)
{
    struct judged j;
    begin(&j);
    requests_add(&j.r, "old:A{1 db:Q{2} db:Q{9} q:W{3}}");
    requests_add(&j.r, "new:B{5 q:W{1} db:Q{7}}"); /* once, and in another order */
    const struct pythia_expected_result *r = judge_paths(&j, "new:B", NULL, "old:A");
    assert_int_equal(r->state, PYTHIA_EXPECTED_HOLDS);
    assert_int_equal(r->requests, 1);
    end(&j);
}

static void requests_on_another_path_are_counted_and_set_apart(void **state)
{
    struct judged j;
    begin(&j);
    for (int i = 0; i < 5; i++)
        requests_add(&j.r, "A{1 Q{2}}");
    requests_add(&j.r, "A{1 Z{1} R{4} Q{2}}");
    requests_add(&j.r, "A{1 Z{1} R{4} Q{2}}");
    requests_add(&j.r, "A{1}");
    const struct pythia_expected_result *r = judge_paths(&j, "A", NULL, "A");
    assert_int_equal(r->state, PYTHIA_EXPECTED_VIOLATED);
    assert_int_equal(r->requests, 8);
    assert_rel_equal(r->value, 3, 0);
    assert_int_equal(r->point, requests_point(&j.r, "R")); /* before Z, by name */
    assert_true(r->passed);
    end(&j);
}

static void a_point_that_is_missing_sets_a_path_apart_too(void **state)
{
    struct judged j;
    begin(&j);
    for (int i = 0; i < 5; i++)
        requests_add(&j.r, "A(cache=no){1 Q{2}}");
    requests_add(&j.r, "A(cache=yes){1}");
    const struct pythia_expected_result *r = judge_paths(&j, "A", "cache = yes", "A");
    assert_int_equal(r->state, PYTHIA_EXPECTED_VIOLATED);
    assert_int_equal(r->requests, 1);
    assert_int_equal(r->point, requests_point(&j.r, "Q"));
    assert_false(r->passed);
    end(&j);
}

static void the_same_point_called_from_elsewhere_is_another_path(void **state)
{
    struct judged j;
    begin(&j);
    requests_add(&j.r, "A{P{Q{2}}}");
    requests_add(&j.r, "B{P{2} Q{2}}");
    const struct pythia_expected_result *r = judge_paths(&j, "B", NULL, "A");
    assert_int_equal(r->state, PYTHIA_EXPECTED_VIOLATED);
    assert_int_equal(r->point, requests_point(&j.r, "Q"));
    end(&j);
}

static void without_requests_to_compare_with_nothing_is_judged(void **state)
{
    struct judged j;
    begin(&j);
    requests_add(&j.r, "A{1}");
    assert_int_equal(judge_paths(&j, "A", NULL, "B")->state, PYTHIA_EXPECTED_TOO_FEW);
    end(&j);
}

static void every_allocation_that_fails_is_reported(void **state)
{
    struct judged j;
    size_t types;
    long n = 0;
    int status = PYTHIA_ENOMEM;
    begin(&j);
    add_hundred(&j);
    requests_add(&j.r, "A(queue=1,host=odd){1 Q{1}}");
    (void)requests_finish(&j.r, &types);
    expect(
        &j,
        (struct pythia_expectation_text){
            .type = "A", .where = "host = odd", .p99 = "< 1s", .cov = "< 1", .same_path_as = "A"});
    for (; status == PYTHIA_ENOMEM; n++) {
        pythia_mem_fail_after(n);
        status = pythia_expectations_judge(&j.all, j.r.groups, 30, &j.out);
        pythia_mem_fail_after(-1);
        assert_int_equal(j.out.count, status == PYTHIA_OK ? 3 : 0);
    }
    assert_int_equal(status, PYTHIA_OK);
    assert_true(n > 5);
    end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold_or_are_violated_at_the_value),
        cmocka_unit_test(a_condition_chooses_requests),
        cmocka_unit_test(a_pattern_fits_several_types_and_none_is_reported),
        cmocka_unit_test(all_requests_count_where_only_a_sample_is_kept),
        cmocka_unit_test(types_with_other_roots_can_take_the_same_path),
        cmocka_unit_test(requests_on_another_path_are_counted_and_set_apart),
        cmocka_unit_test(a_point_that_is_missing_sets_a_path_apart_too),
        cmocka_unit_test(the_same_point_called_from_elsewhere_is_another_path),
        cmocka_unit_test(without_requests_to_compare_with_nothing_is_judged),
        cmocka_unit_test(every_allocation_that_fails_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
