/* A search that ends without a cause says why, and which trace point stands in the way. */
#include "hunt.h"

/* D1 and D5 vary alike, without regard to each other, behind C1 and C5. */
static void write_halves(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 8; i++) {
        int ns = i == 1 ? (int)(number % 7) : i == 5 ? (int)(number / 7 % 7) : 0;
        at += (size_t)snprintf(to + at, room - at, " C%d{10 D%d{%d} 10}", i, i, 100 + 100 * ns);
    }
    snprintf(to + at, room - at, " 10}");
}

static void assert_why(const struct hunt *h, enum pythia_problem_state state, enum pythia_why why,
                       const char *blocked)
{
    const struct pythia_problem *p = only_problem(h);
    assert_int_equal(p->state, state);
    assert_int_equal(p->why, why);
    if (blocked)
        assert_string_equal(pythia_vocabulary_tracepoint_id(h->r.vocabulary, p->blocked).bytes,
                            blocked);
}

static void while_it_is_searched_there_is_no_reason(void **state)
{
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    search(&h);
    cycle(&h, 49);
    assert_why(&h, PYTHIA_PROBLEM_SEARCHING, PYTHIA_WHY_NONE, NULL);
    (void)run(&h, 49, 20);
    assert_why(&h, PYTHIA_PROBLEM_DONE, PYTHIA_WHY_NONE, NULL);
    assert_int_equal(only_problem(&h)->cause_count, 2);
    end(&h);
}

static void too_few_requests_and_an_unknown_type_are_reasons(void **state)
{
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    search(&h);
    cycle(&h, 29);
    assert_why(&h, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, NULL);
    cycle(&h, 49);
    assert_why(&h, PYTHIA_PROBLEM_SEARCHING, PYTHIA_WHY_NONE, NULL);
    cycle(&h, 0);
    assert_why(&h, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, NULL);
    end(&h);
    begin_text(&h, write_halves, "A{10} 5 Z{20}");
    search(&h);
    cycle(&h, 49);
    assert_why(&h, PYTHIA_PROBLEM_UNKNOWN, PYTHIA_WHY_NO_TYPE, NULL);
    end(&h);
}

/* Nothing fits: of all points one of the eight C tells most, and the middle one by id of equals. */
static void what_does_not_fit_the_budget_is_named(void **state)
{
    const struct pythia_budget budgets[] = {{.points_per_cycle = 0},
                                            {.points_per_cycle = 3, .added_ns = 999},
                                            {.points_per_cycle = 3, .bytes_per_second = 619}};
    char first[8] = "";
    for (size_t i = 0; i < 3; i++) {
        struct hunt h;
        begin_text(&h, write_halves, NULL);
        h.how.budget = budgets[i];
        search(&h);
        pythia_search_set_seconds(h.search, 5);
        (void)run(&h, 50, 40);
        assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_BUDGET, i ? first : NULL);
        struct pythia_text id =
            pythia_vocabulary_tracepoint_id(h.r.vocabulary, only_problem(&h)->blocked);
        snprintf(first, sizeof(first), "%s", id.bytes);
        assert_true(first[0] == 'C' || first[0] == 'D');
        assert_int_equal(h.history_count, 0);
        end(&h);
    }
}

/* C1 and C5 can be seen, and what is in them is dear: the two halves of the cause do not stand out
 * from each other, and what would part them costs too much. */
static void a_point_that_is_too_dear_is_named(void **state)
{
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    h.how.always = pins(&h, "C*");
    assert_int_equal(pythia_prices_create(h.r.vocabulary, &h.how.prices), PYTHIA_OK);
    assert_int_equal(pythia_prices_set(h.how.prices, PYTHIA_TEXT("D[15]"), 6), PYTHIA_OK);
    h.how.price_ns = 1;
    h.how.budget.added_ns = 5;
    search(&h);
    (void)run(&h, 49, 40);
    assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_BUDGET, "D1");
    pythia_open_points_destroy(h.how.always);
    pythia_prices_destroy(h.how.prices);
    end(&h);
}

/* The same where it is not the budget that forbids it, but what differs: some 280 ns. */
static void a_point_that_costs_more_than_what_differs_is_named(void **state)
{
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    h.how.always = pins(&h, "C*");
    assert_int_equal(pythia_prices_create(h.r.vocabulary, &h.how.prices), PYTHIA_OK);
    assert_int_equal(pythia_prices_set(h.how.prices, PYTHIA_TEXT("D[15]"), 500), PYTHIA_OK);
    search(&h);
    (void)run(&h, 49, 40);
    assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_BUDGET, "D1");
    pythia_open_points_destroy(h.how.always);
    pythia_prices_destroy(h.how.prices);
    end(&h);
}

/* What is pinned shut cannot be parted: the cause is named as near as it may be, and the pin. */
static void a_cause_that_is_only_as_near_as_pins_let_it_be_says_so(void **state)
{
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    h.how.never = pins(&h, "D1");
    search(&h);
    (void)run(&h, 49, 40);
    assert_why(&h, PYTHIA_PROBLEM_DONE, PYTHIA_WHY_PINNED, "D1");
    assert_int_equal(only_problem(&h)->cause_count, 2);
    pythia_open_points_destroy(h.how.never);
    end(&h);
    begin_text(&h, write_halves, NULL); /* elsewhere a pin does not matter */
    h.how.never = pins(&h, "D[27]");
    search(&h);
    (void)run(&h, 49, 40);
    assert_why(&h, PYTHIA_PROBLEM_DONE, PYTHIA_WHY_NONE, NULL);
    pythia_open_points_destroy(h.how.never);
    end(&h);
}

static int suggest_nothing(const struct pythia_evidence *evidence, size_t budget,
                           struct pythia_suggestion *out, size_t *count)
{
    (void)evidence;
    (void)budget;
    (void)out;
    *count = 0;
    return PYTHIA_OK;
}

static void a_strategy_that_suggests_nothing_is_told_from_a_space_that_has_nothing(void **state)
{
    const struct pythia_strategy silent = {.name = "silent", .suggest = suggest_nothing};
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    h.how.strategy = &silent;
    search(&h);
    (void)run(&h, 49, 40);
    assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_STRATEGY, NULL);
    end(&h);
}

/* 12 points share the variance, so each has a twelfth, which is less than matters. In each of them
 * the space knows another point, which no request hits.
 */
static void write_many(char *to, size_t room, uint64_t number)
{
    struct pythia_random random;
    size_t at = (size_t)snprintf(to, room, "A{");
    pythia_random_init(&random, number);
    for (int i = 0; i < 12; i++)
        at += (size_t)snprintf(to + at, room - at, " C%d{%d}", i,
                               100 + 100 * (int)pythia_random_below(&random, 10));
    snprintf(to + at, room - at, " 1}");
}

static void where_many_places_share_the_variance_none_matters(void **state)
{
    char known[1024] = "A{";
    struct hunt h;
    for (int i = 0; i < 12; i++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), " C%d{100 D%d{100} 100}", i,
                 i);
    strcat(known, " 1}");
    begin_text(&h, write_many, known);
    h.how.always = pins(&h, "C*");
    search(&h);
    (void)run(&h, 200, 40);
    assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_SMALL, NULL);
    assert_true(h.cycle.number <= 3); /* one cycle more, so that chance does not end a search */
    pythia_open_points_destroy(h.how.always);
    end(&h);
}

/* Rare huge values: none of them is beyond chance. Where all calls of a request are slower
 * together, something is, but no place has a share that matters. */
static void where_nothing_is_above_chance_that_is_the_reason(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        if (seed <= 3)
            o.spikes = .004;
        else
            o.load = .2;
        begin_workflow(&h, &o);
        search(&h);
        (void)run(&h, 50, 40);
        assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, seed <= 3 ? PYTHIA_WHY_CHANCE : PYTHIA_WHY_SMALL,
                   NULL);
        end(&h);
    }
}

/* Independent noise of all calls: now and then an edge has a fifth of the variance and is no cause.
 * Three workflows whose search took 11, 15 and 9 cycles without the limit. */
static void noise_does_not_make_a_search_go_on(void **state)
{
    const uint64_t seeds[] = {2, 3, 29};
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        struct pythia_workflow_options o = bushy(seeds[i]);
        struct hunt h;
        o.nodes = 80;
        o.noise = o.spread = .5;
        o.distractors = 2;
        begin_workflow(&h, &o);
        search(&h);
        assert_in_range(run(&h, 100, 40), 1, 7);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_GIVEN_UP);
        assert_int_equal(only_problem(&h)->cause_count, 0);
        end(&h);
    }
}

static void when_patience_ends_that_is_the_reason(void **state)
{
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    h.how.budget.points_per_cycle = 1;
    h.how.patience = 2;
    search(&h);
    assert_int_equal(run(&h, 49, 10), 2);
    assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_PATIENCE, NULL);
    cycle(&h, 49); /* and it stays that */
    assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_PATIENCE, NULL);
    assert_int_equal(h.cycle.open_count, 0);
    end(&h);
}

static void reasons_have_names(void **state)
{
    const char *names[] = {"too_few", "no_type", "budget",   "pinned", "strategy",
                           "outside", "chance",  "patience", "small"};
    assert_null(pythia_why_name(PYTHIA_WHY_NONE));
    for (int i = PYTHIA_WHY_TOO_FEW; i <= PYTHIA_WHY_PATIENCE; i++)
        assert_string_equal(pythia_why_name((enum pythia_why)i), names[i - 1]);
}

/* In the cycle in which it is given up every allocation fails once. */
static void a_failed_allocation_leaves_no_reason_behind(void **state)
{
    struct hunt h;
    begin_text(&h, write_halves, NULL);
    h.how.budget.points_per_cycle = 1;
    h.how.never = pins(&h, "D2");
    h.how.patience = 2;
    search(&h);
    cycle(&h, 49);
    see(&h, 49);
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        pythia_mem_fail_after(failures);
        status = pythia_search_cycle(h.search, h.r.groups, h.hits, h.points, &h.cycle);
        pythia_mem_fail_after(-1);
    }
    assert_true(failures > 20);
    assert_why(&h, PYTHIA_PROBLEM_GIVEN_UP, PYTHIA_WHY_PATIENCE, NULL);
    pythia_open_points_destroy(h.how.never);
    end(&h);
}

/* Requests A and Z pass D alike. D is open for A only: when the space has been learnt, nothing of D
 * is seen in Z. */
static void write_two_types(char *to, size_t room, uint64_t number)
{
    int ns = 100 + 100 * (int)(number / 2 % 7);
    bool hidden = number % 2 == 1 && number < 1000000;
    snprintf(to, room, hidden ? "%c{10 %d 10}" : "%c{10 D{%d} 10}", number % 2 ? 'Z' : 'A', ns);
}

static void assert_problem(const struct hunt *h, const char *type, const char *cause,
                           enum pythia_why why)
{
    for (size_t i = 0; i < h->cycle.problem_count; i++) {
        const struct pythia_problem *p = &h->cycle.problems[i];
        struct pythia_buf place = {0};
        if (!pythia_text_equal(pythia_vocabulary_text(h->r.vocabulary, p->type),
                               pythia_text_of(type)))
            continue;
        assert_int_equal(p->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(p->cause_count, 1);
        pythia_place_add(&place, h->r.vocabulary, &p->causes[0].place);
        assert_string_equal(place.bytes, cause);
        pythia_buf_free(&place);
        assert_int_equal(p->why, why);
        if (why == PYTHIA_WHY_PINNED)
            assert_int_equal(p->blocked, point(h, "D"));
        return;
    }
    fail_msg("no problem %s", type);
}

static void a_point_that_is_open_for_another_type_only_is_as_if_pinned_shut(void **state)
{
    struct hunt h;
    begin_text(&h, write_two_types, NULL);
    assert_int_equal(pythia_open_points_create(h.r.vocabulary, &h.how.always), PYTHIA_OK);
    assert_int_equal(
        pythia_open_points_add_id_for(h.how.always, PYTHIA_TEXT("D"), PYTHIA_TEXT("A")), PYTHIA_OK);
    search(&h);
    (void)run(&h, 98, 20);
    assert_problem(&h, "A", "inside D", PYTHIA_WHY_NONE);
    assert_problem(&h, "Z", "inside Z", PYTHIA_WHY_PINNED);
    assert_true(pythia_search_is_open(h.search, point(&h, "D")));
    assert_int_equal(h.history_count, 0);
    pythia_open_points_destroy(h.how.always);
    end(&h);
}

static void a_cycle_without_memory_leaves_such_a_point_open(void **state)
{
    struct hunt h;
    int status = PYTHIA_ENOMEM;
    begin_text(&h, write_two_types, NULL);
    assert_int_equal(pythia_open_points_create(h.r.vocabulary, &h.how.always), PYTHIA_OK);
    assert_int_equal(
        pythia_open_points_add_id_for(h.how.always, PYTHIA_TEXT("D"), PYTHIA_TEXT("A")), PYTHIA_OK);
    search(&h);
    see(&h, 98);
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        pythia_mem_fail_after(n);
        status = pythia_search_cycle(h.search, h.r.groups, h.hits, h.points, &h.cycle);
        pythia_mem_fail_after(-1);
        assert_true(pythia_search_is_open(h.search, point(&h, "D")));
    }
    assert_int_equal(status, PYTHIA_OK);
    (void)run(&h, 98, 20);
    assert_problem(&h, "A", "inside D", PYTHIA_WHY_NONE);
    assert_problem(&h, "Z", "inside Z", PYTHIA_WHY_PINNED);
    pythia_open_points_destroy(h.how.always);
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_it_is_searched_there_is_no_reason),
        cmocka_unit_test(too_few_requests_and_an_unknown_type_are_reasons),
        cmocka_unit_test(what_does_not_fit_the_budget_is_named),
        cmocka_unit_test(a_point_that_is_too_dear_is_named),
        cmocka_unit_test(a_point_that_costs_more_than_what_differs_is_named),
        cmocka_unit_test(a_cause_that_is_only_as_near_as_pins_let_it_be_says_so),
        cmocka_unit_test(a_strategy_that_suggests_nothing_is_told_from_a_space_that_has_nothing),
        cmocka_unit_test(where_many_places_share_the_variance_none_matters),
        cmocka_unit_test(where_nothing_is_above_chance_that_is_the_reason),
        cmocka_unit_test(noise_does_not_make_a_search_go_on),
        cmocka_unit_test(when_patience_ends_that_is_the_reason),
        cmocka_unit_test(reasons_have_names),
        cmocka_unit_test(a_failed_allocation_leaves_no_reason_behind),
        cmocka_unit_test(a_point_that_is_open_for_another_type_only_is_as_if_pinned_shut),
        cmocka_unit_test(a_cycle_without_memory_leaves_such_a_point_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
