#include "hunt.h"

#define NOWHERE "the cause is neither in it nor around it"

/* ---- causes ---- */

static void a_planted_sleep_is_found_in_8_cycles_with_a_25th_of_the_points(void **state)
{
    size_t useless = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        add_sleep(&o);
        begin_workflow(&h, &o);
        search(&h);
        assert_in_range(run(&h, 50, 30), 1, 8);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(only_problem(&h)->cause_count, 1);
        assert_int_equal(planted(&h, 0, 1), 0);
        assert_true(only_problem(&h)->causes[0].low > 0 && only_problem(&h)->rest < .5);
        assert_in_range(times(&h, "", true), 1, 20); /* 4 % of 500 */
        assert_opened_once(&h);
        for (size_t i = 0; i < h.history_count; i++)
            useless += strcmp(h.history[i].reason, NOWHERE) == 0;
        end(&h);
    }
    assert_true(useless > 0); /* and some were closed again in mid-search */
}

static void two_causes_are_peeled_one_after_the_other(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        uint64_t found[3] = {0};
        add_sleep(&o);
        add_sleep(&o);
        begin_workflow(&h, &o);
        search(&h);
        do {
            cycle(&h, 50);
            for (size_t i = 1; i <= 2 && i <= only_problem(&h)->cause_count; i++)
                found[i] = found[i] ? found[i] : h.cycle.number;
        } while (!h.cycle.finished && h.cycle.number < 30);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(only_problem(&h)->cause_count, 2);
        assert_in_range(found[1], 1, 16);
        assert_in_range(found[2], found[1], 16);
        assert_int_equal(planted(&h, 0, 2) + planted(&h, 1, 2), 1); /* one is 0, the other 1 */
        end(&h);
    }
}

static bool all_are_named(const struct hunt *h, size_t causes)
{
    const struct pythia_problem *p = only_problem(h);
    size_t named = 0;
    for (size_t i = 0; i < p->cause_count; i++)
        for (size_t c = 0; c < causes; c++)
            named |= (size_t)(planted(h, i, causes) == c) << c;
    return p->cause_count == causes && named == ((size_t)1 << causes) - 1;
}

/* Two of like size and one of less than half, none of which has half of the variance. */
static void three_causes_are_named_in_twice_the_cycles_of_one(void **state)
{
    size_t named = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        add_sleep(&o);
        add_sleep(&o);
        o.causes[1].parameter = .5;
        o.causes[o.cause_count++] =
            (struct pythia_workflow_cause){PYTHIA_PLANTED_UNIFORM, 1, .3, 0};
        begin_workflow(&h, &o);
        search(&h);
        (void)run(&h, 50, 12);
        named += all_are_named(&h, 3);
        end(&h);
    }
    assert_in_range(named, 17, 20);
}

/* Where trace points are passed in several contexts, and most of the time in one of few. */
static void workflows_like_those_of_openstack_are_searched_to_the_end(void **state)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        o.shape = PYTHIA_WORKFLOW_OPENSTACK;
        add_sleep(&o);
        begin_workflow(&h, &o);
        search(&h);
        (void)run(&h, 50, 10);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
        assert_true(all_are_named(&h, 1));
        end(&h);
    }
}

/* All calls of a request are slower together: no place is to blame. */
static void where_requests_only_differ_in_load_nothing_is_named(void **state)
{
    size_t silent = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        o.load = .2;
        begin_workflow(&h, &o);
        search(&h);
        (void)run(&h, 50, 30);
        assert_true(only_problem(&h)->cycles > 1); /* they do vary */
        silent += only_problem(&h)->cause_count == 0;
        end(&h);
    }
    assert_in_range(silent, 19, 20);
}

static void spikes_alone_are_not_named(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        o.spikes = .004;
        begin_workflow(&h, &o);
        search(&h);
        (void)run(&h, 50, 30);
        assert_int_equal(only_problem(&h)->cause_count, 0);
        end(&h);
    }
}

/* ---- types that are not searched ---- */

static void write_unknown(char *to, size_t room, uint64_t number)
{
    snprintf(to, room, "Z{%d}", (int)(100 + number % 7 * 50));
}

static void write_quiet(char *to, size_t room, uint64_t number)
{
    snprintf(to, room, "A{10 P{20 Q{1000} 30} %d}", (int)(40 + number % 2));
}

/* Time in Q, in P, in A. */
static void write_varied(char *to, size_t room, uint64_t number)
{
    snprintf(to, room, "A{10 P{20 Q{%d} 30} 40}", (int)(100 + number * 7 % 10 * 50));
}

static void a_type_that_the_space_does_not_know_is_not_searched(void **state)
{
    struct hunt h;
    begin_text(&h, write_unknown, "A{10} 5 Z{20}"); /* it knows the type "A + Z" */
    search(&h);
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_UNKNOWN);
    assert_int_equal(only_problem(&h)->requests, 50);
    assert_int_equal(h.cycle.switch_count, 0);
    assert_int_equal(h.cycle.leading, SIZE_MAX);
    assert_true(h.cycle.finished);
    end(&h);
}

static void from_29_requests_nothing_is_concluded(void **state)
{
    struct hunt h;
    begin_text(&h, write_varied, NULL);
    search(&h);
    cycle(&h, 29);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_TOO_FEW);
    assert_int_equal(only_problem(&h)->cycles, 0);
    assert_int_equal(h.cycle.switch_count, 0);
    assert_true(h.cycle.finished);
    cycle(&h, 30); /* and then there are enough */
    assert_int_equal(only_problem(&h)->cycles, 1);
    assert_int_equal(h.cycle.leading, 0);
    assert_true(h.cycle.switch_count > 0);
    cycle(&h, 0); /* none of any type */
    assert_int_equal(only_problem(&h)->requests, 0);
    end(&h);
}

static void requests_that_are_alike_are_quiet(void **state)
{
    struct hunt h;
    begin_text(&h, write_quiet, NULL); /* 1100 and 1101 ns */
    search(&h);
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_QUIET);
    assert_int_equal(h.cycle.switch_count, 0);
    assert_true(h.cycle.finished);
    end(&h);
}

/* Of two types the one that has less than a hundredth of the variance. */
static void write_two(char *to, size_t room, uint64_t number)
{
    if (number % 2)
        snprintf(to, room, "A{10 P{20 Q{%d} 30} 40}", (int)(100 + number * 7 % 10 * 5));
    else
        snprintf(to, room, "B{10 V{20 W{%d} 30} 40}", (int)(100 + number * 7 % 10 * 500));
}

static void a_type_with_too_little_of_the_variance_is_left_alone(void **state)
{
    struct hunt h;
    begin_text(&h, write_two, NULL);
    search(&h);
    cycle(&h, 100);
    assert_int_equal(h.cycle.problem_count, 2);
    size_t busy = h.cycle.leading;
    assert_int_equal(h.cycle.problems[busy].type, requests_string(&h.r, "B"));
    assert_int_equal(h.cycle.problems[1 - busy].state, PYTHIA_PROBLEM_QUIET);
    assert_true(h.cycle.problems[busy].variance_share > .99);
    assert_int_equal(times(&h, "P", true) + times(&h, "Q", true), 0);
    end(&h);
}

/* The same types: what A violates makes it the first, although B varies much more. */
static void a_type_that_violates_an_expectation_is_searched_first(void **state)
{
    struct pythia_expectations expected = {0};
    struct pythia_expectation_text a = {.type = "A", .p99 = "< 240ns"},
                                   b = {.type = "B", .p99 = "< 10us"};
    struct pythia_error why = {0};
    struct hunt h;
    assert_int_equal(pythia_expectations_add(&expected, &a, &why), PYTHIA_OK);
    assert_int_equal(pythia_expectations_add(&expected, &b, &why), PYTHIA_OK);
    begin_text(&h, write_two, NULL);
    h.how.expectations = &expected;
    h.how.budget.points_per_cycle = 1;
    search(&h);
    cycle(&h, 100);
    assert_int_equal(h.cycle.problem_count, 2);
    assert_int_equal(h.cycle.problems[h.cycle.leading].type, requests_string(&h.r, "A"));
    assert_true(h.cycle.problems[h.cycle.leading].variance_share < .01);
    assert_int_equal(times(&h, "P", true) + times(&h, "Q", true), 1);
    assert_int_equal(times(&h, "V", true) + times(&h, "W", true), 0);
    end(&h);
    pythia_expectations_free(&expected);
}

/* The first cycle has none of B, whose requests come late; later ones have mostly those. */
static void write_late(char *to, size_t room, uint64_t number)
{
    bool b = number >= 1000000 ? number % 2 == 0 : number >= 100 && number % 4 > 0;
    write_two(to, room, 2 * number + !b);
}

/* Later the type has .3 % of the variance: enough of it was searched, and that stays true. */
static void what_was_found_stays_when_other_types_vary_more(void **state)
{
    struct hunt h;
    begin_text(&h, write_late, NULL);
    search(&h);
    while (h.number < 100 && (h.cycle.number == 0 || only_problem(&h)->cause_count == 0))
        cycle(&h, 50);
    assert_int_equal(h.cycle.problems[0].type, requests_string(&h.r, "A"));
    assert_true(h.cycle.problems[0].cause_count > 0);
    h.number = 100;
    for (int i = 0; i < 6; i++)
        cycle(&h, 200);
    assert_int_equal(h.cycle.problem_count, 2);
    assert_true(h.cycle.problems[0].variance_share < .01);
    assert_true(h.cycle.problems[0].requests >= 30);
    assert_int_equal(h.cycle.problems[0].state, PYTHIA_PROBLEM_DONE);
    assert_true(h.cycle.problems[0].cause_count > 0);
    end(&h);
}

/* A cycle in which there are no requests of B makes A no type that matters. */
static void write_gap(char *to, size_t room, uint64_t number)
{
    bool gap = number >= 200 && number < 300; /* without B */
    write_two(to, room, gap ? 2 * number + 1 : number);
}

static void one_cycle_does_not_make_a_small_type_matter(void **state)
{
    struct hunt h;
    begin_text(&h, write_gap, NULL);
    search(&h);
    for (int i = 0; i < 5; i++) {
        cycle(&h, 100);
        size_t a = h.cycle.problems[0].type == requests_string(&h.r, "A") ? 0 : 1;
        assert_int_equal(h.cycle.problems[a].state, PYTHIA_PROBLEM_QUIET);
        assert_true(h.cycle.number != 3 || h.cycle.problems[a].variance_share > .01);
    }
    end(&h);
}

/* ---- what is closed ---- */

/* M is in the space, and no request passes it; from request 300 on all vary by it. The other points
 * vary alike, so that none of them stands out. */
static void write_mute(char *to, size_t room, uint64_t number)
{
    struct pythia_random random;
    size_t at = (size_t)snprintf(to, room, "A{10");
    pythia_random_init(&random, number);
    for (int i = 0; i < 12; i++) {
        at += (size_t)snprintf(to + at, room - at, " B%02d{%d} 1", i,
                               100 + (int)pythia_random_below(&random, 400));
        if (i == 5 && number >= 300)
            at += (size_t)snprintf(to + at, room - at, " M{%d}", number % 2 ? 1000 : 9000);
    }
    snprintf(to + at, room - at, " 10}");
}

static void a_point_that_nothing_passes_is_closed_until_durations_change(void **state)
{
    struct hunt h;
    begin_text(&h, write_mute, NULL);
    h.how.budget.points_per_cycle = 1;
    search(&h);
    while (h.number < 300) {
        cycle(&h, 50);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_SEARCHING);
    }
    assert_int_equal(times(&h, "M", true), 1);
    assert_int_equal(times(&h, "M", false), 1);
    assert_reason(&h, "M", false, "no request hit it");
    assert_false(pythia_search_is_open(h.search, point(&h, "M")));
    assert_true(run(&h, 50, 16) < 16);
    assert_int_equal(times(&h, "M", true), 2);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside M");
    end(&h);
}

static void write_behind_mute(char *to, size_t room, uint64_t number)
{
    snprintf(to, room, "A{10 P{20 %d} 40}", (int)(100 + number * 7 % 10 * 50));
}

/* What nothing passes cannot hide the cause. */
static void a_point_that_nothing_passes_does_not_keep_a_cause_from_its_name(void **state)
{
    struct hunt h;
    begin_text(&h, write_behind_mute, "A{10 P{20 M{50} 50} 40}");
    search(&h);
    (void)run(&h, 50, 10);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->cause_count, 1);
    assert_cause(&h, 0, "inside P");
    assert_false(pythia_search_is_open(h.search, point(&h, "M")));
    end(&h);
}

/* The cause is one of 8 leaves, D5. */
static void write_leaves(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(to + at, room - at, " C%d{10 D%d{%d} 10}", i, i,
                               100 + (i == 5 ? (int)(number * 7 % 10 * 100) : 0));
    snprintf(to + at, room - at, " 10}");
}

static void a_point_that_explains_nothing_is_closed(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    search(&h);
    assert_in_range(run(&h, 50, 20), 1, 6);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside D5");
    assert_true(pythia_search_is_open(h.search, point(&h, "D5"))); /* bounds the cause */
    assert_opened_once(&h);
    size_t open = 0;
    for (uint32_t i = 0; i < h.points; i++)
        open += pythia_search_is_open(h.search, i) && !pythia_search_in_skeleton(h.search, i);
    assert_int_equal(open, 1); /* the others are closed */
    assert_int_equal(h.cycle.open_count, 1);
    assert_int_equal(times(&h, "", true) - times(&h, "", false), 1);
    end(&h);
}

/* ---- budgets ---- */

static double added_ns(const struct hunt *h)
{
    size_t count;
    const struct pythia_space_type *t = pythia_space_types(h->space, &count);
    double sum = 0;
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++) {
        uint32_t id = pythia_cct_tracepoint(t->cct, node);
        if (pythia_search_is_open(h->search, id) && !pythia_search_in_skeleton(h->search, id))
            sum += h->how.price_ns * (double)t->nodes[node].calls / (double)t->requests;
    }
    return sum;
}

static void there_are_never_more_points_open_than_allowed_and_it_goes_on(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        add_sleep(&o);
        begin_workflow(&h, &o);
        h.how.budget.points_open = 4;
        search(&h);
        assert_in_range(run(&h, 50, 30), 1, 29);
        assert_in_range(h.peak, 1, 4);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(planted(&h, 0, 1), 0);
        end(&h);
    }
}

static void points_never_add_more_time_than_allowed(void **state)
{
    struct pythia_workflow_options o = bushy(3);
    struct hunt h;
    add_sleep(&o);
    o.shape = PYTHIA_WORKFLOW_OPENSTACK;
    begin_workflow(&h, &o);
    h.how.budget.added_ns = 20000;
    search(&h);
    do {
        cycle(&h, 50);
        assert_true(added_ns(&h) <= 20000);
    } while (!h.cycle.finished && h.cycle.number < 30);
    assert_true(times(&h, "", true) > 0);
    end(&h);
}

/* In a request of B there are 8 calls of W; those of A, which vary more, have one. */
static void write_dear(char *to, size_t room, uint64_t number)
{
    if (number % 2)
        snprintf(to, room, "A{10 V{20} 10 W{%d} 40 X{20} 10}", (int)(500 + number * 7 % 10 * 500));
    else
        snprintf(to, room, "B{10 W{%d} W{5} W{5} W{5} W{5} W{5} W{5} W{5} 100}",
                 (int)(5 + number / 2 * 3 % 10 * 200));
}

static uint32_t type_named(const struct hunt *h, const char *name)
{
    uint32_t type = pythia_vocabulary_string_find(h->r.vocabulary, pythia_text_of(name));
    assert_int_not_equal(type, PYTHIA_NONE);
    return type;
}

/* W is opened for A beside others, and for B only when these are closed. */
static void time_is_that_in_the_type_that_has_most_of_it(void **state)
{
    struct hunt h;
    begin_text(&h, write_dear, NULL);
    h.how.budget.added_ns = 8500; /* of 1000 each: W in B alone, or the others and W in A */
    search(&h);
    bool beside = false, alone = false;
    while (h.cycle.number < 8) {
        cycle(&h, 100);
        uint32_t w = point(&h, "W");
        size_t others = (size_t)pythia_search_is_open(h.search, point(&h, "V")) +
                        (size_t)pythia_search_is_open(h.search, point(&h, "X"));
        bool in_a = pythia_search_is_open_for(h.search, w, type_named(&h, "A"));
        bool in_b = pythia_search_is_open_for(h.search, w, type_named(&h, "B"));
        double calls = (double)others + (in_b ? 8 : in_a);
        assert_rel_equal(h.cycle.planned.added_ns, 1000 * calls, 1e-12);
        assert_true(h.cycle.planned.added_ns <= 8500);
        beside = beside || (in_a && others > 0);
        alone = alone || in_b;
    }
    assert_true(beside);
    assert_true(alone);
    end(&h);
}

static void the_skeleton_is_never_closed(void **state)
{
    struct pythia_workflow_options o = bushy(2);
    struct hunt h;
    o.shape = PYTHIA_WORKFLOW_OPENSTACK;
    add_sleep(&o);
    begin_workflow(&h, &o);
    search(&h);
    bool *skeleton = pythia_space_skeleton(h.space);
    size_t size = 0;
    do {
        cycle(&h, 50);
        size = 0;
        for (uint32_t i = 0; i < h.points; i++) {
            size += skeleton[i];
            assert_true(!skeleton[i] || pythia_search_is_open(h.search, i));
        }
    } while (!h.cycle.finished && h.cycle.number < 30);
    assert_true(size > 1); /* entry points of services beside the root */
    pythia_free(skeleton);
    end(&h);
}

static void a_budget_of_0_opens_nothing_and_ends(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.points_per_cycle = 0;
    search(&h);
    assert_in_range(run(&h, 50, 40), 1, 30);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_GIVEN_UP);
    assert_int_equal(only_problem(&h)->cause_count, 0);
    assert_int_equal(h.history_count, 0);
    end(&h);
}

static void a_budget_without_end_opens_what_tells_something(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.points_per_cycle = SIZE_MAX;
    search(&h);
    assert_in_range(run(&h, 50, 20), 1, 6);
    assert_cause(&h, 0, "inside D5");
    end(&h);
}

/* ---- pins ---- */

static void pins_hold(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.always = pins(&h, "C1");
    h.how.never = pins(&h, "D5");
    search(&h);
    do {
        assert_true(pythia_search_is_open(h.search, point(&h, "C1")));
        cycle(&h, 50);
    } while (!h.cycle.finished && h.cycle.number < 20);
    assert_true(pythia_search_is_open(h.search, point(&h, "C1")));
    assert_int_equal(times(&h, "C1", false), 0);
    assert_int_equal(times(&h, "D5", true), 0);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside C5"); /* as near as it may come */
    pythia_open_points_destroy(h.how.always);
    pythia_open_points_destroy(h.how.never);
    end(&h);
}

static void of_two_pins_never_wins(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.always = pins(&h, "[CD]5");
    h.how.never = pins(&h, "*5");
    search(&h);
    assert_false(pythia_search_is_open(h.search, point(&h, "C5")));
    assert_false(pythia_search_in_skeleton(h.search, point(&h, "C5")));
    (void)run(&h, 50, 20);
    assert_int_equal(times(&h, "C5", true) + times(&h, "D5", true), 0);
    pythia_open_points_destroy(h.how.always);
    pythia_open_points_destroy(h.how.never);
    end(&h);
    begin_text(&h, write_leaves, NULL);
    h.how.never = pins(&h, "A"); /* but without the skeleton no request would be seen */
    search(&h);
    assert_true(pythia_search_is_open(h.search, point(&h, "A")));
    pythia_open_points_destroy(h.how.never);
    end(&h);
}

/* ---- the end, and once more ---- */

static void when_requests_stop_it_ends_and_closes_what_it_opened(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.points_per_cycle = 1;
    search(&h);
    cycle(&h, 50);
    assert_int_equal(h.cycle.open_count, 1);
    assert_false(h.cycle.finished);
    (void)run(&h, 0, 10);
    assert_true(h.cycle.finished);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_TOO_FEW);
    assert_int_equal(h.cycle.open_count, 0);
    assert_int_equal(times(&h, "", true), times(&h, "", false));
    while (h.cycle.number < 10) /* they come back */
        cycle(&h, 50);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside D5");
    end(&h);
}

static void patience_ends_a_search(void **state)
{
    struct hunt h;
    begin_text(&h, write_mute, NULL);
    h.how.budget.points_per_cycle = 1;
    h.how.patience = 3;
    search(&h);
    assert_int_equal(run(&h, 50, 10), 3);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_GIVEN_UP);
    assert_int_equal(h.cycle.open_count, 0);
    end(&h);
}

static void the_order_of_requests_does_not_matter(void **state)
{
    struct pythia_workflow_options o = bushy(4), p = bushy(4);
    struct hunt a, b;
    add_sleep(&o);
    add_sleep(&p);
    begin_workflow(&a, &o);
    begin_workflow(&b, &p);
    search(&a);
    search(&b);
    b.reversed = true;
    assert_int_equal(run(&a, 50, 30), run(&b, 50, 30));
    assert_true(a.history_count > 5);
    assert_same_decisions(&a, &b);
    end(&a);
    end(&b);
}

static void reasons_say_what_was_decided_on(void **state)
{
    struct hunt h;
    begin_text(&h, write_varied, "A{10 P{20 Q{30} 10} 10}");
    search(&h);
    cycle(&h, 50);
    /* What lies inside A is all that is seen. A has 20 of 80 ns, P 30, Q 30, and each half of a
     * third: .2917, .3542, .3542. */
    assert_int_equal(times(&h, "P", true), 1);
    assert_reason(&h, "P", true,
                  "the cause is in it or below it with a probability of 71 %, and it splits the "
                  "time inside A, which accounts for 100 % of the variance");
    (void)run(&h, 50, 10);
    assert_cause(&h, 0, "inside Q");
    assert_rel_equal(only_problem(&h)->rest, 0, 0);
    assert_reason(&h, "P", false, "its search has ended");
    for (size_t i = 0; i < h.history_count; i++) {
        const char *reason = h.history[i].reason;
        assert_true(strlen(reason) > 10 && strchr(reason, ' ') && reason[0] >= 'a');
        assert_true(reason[strlen(reason) - 1] != '.');
    }
    end(&h);
}

static void states_have_names(void **state)
{
    const char *names[] = {"searching", "done", "quiet", "too_few", "unknown", "given_up"};
    for (int i = PYTHIA_PROBLEM_SEARCHING; i <= PYTHIA_PROBLEM_GIVEN_UP; i++)
        assert_string_equal(pythia_problem_state_name((enum pythia_problem_state)i), names[i]);
}

/* A trace point that the vocabulary learns in mid-search. */
static void what_is_new_to_the_vocabulary_is_neither_open_nor_opened(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    search(&h);
    (void)requests_trace(&h.r, 0, "N1{N2{N3{}} N4{N5{} N6{} N7{} N8{} N9{}}}");
    assert_false(pythia_search_is_open(h.search, point(&h, "N9")));
    (void)run(&h, 50, 20);
    assert_cause(&h, 0, "inside D5");
    assert_int_equal(times(&h, "N1", true), 0);
    end(&h);
}

/* ---- memory ---- */

/* In each cycle every allocation fails once: the points that are open stay so, and in the end the
 * same decisions are taken as if nothing had been. */
static void a_failed_allocation_leaves_the_decisions_as_they_were(void **state)
{
    struct hunt h, smooth;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.points_per_cycle = 2;
    search(&h);
    bool *before = calloc(h.points, sizeof(*before));
    long failures = 0;
    while (!h.cycle.finished && h.cycle.number < 100000) {
        see(&h, 50);
        memcpy(before, h.open, h.points);
        for (long n = 0;; n++, failures++) {
            struct pythia_cycle untouched = h.cycle;
            pythia_mem_fail_after(n);
            int status = pythia_search_cycle(h.search, h.r.groups, h.hits, h.points, &h.cycle);
            pythia_mem_fail_after(-1);
            if (status == PYTHIA_OK)
                break;
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_memory_equal(&h.cycle, &untouched, sizeof(untouched));
            for (uint32_t i = 0; i < h.points; i++)
                assert_int_equal(pythia_search_is_open(h.search, i), before[i]);
        }
        note(&h);
    }
    assert_true(failures > 100);
    assert_int_equal(only_problem(&h)->cycles, h.cycle.number); /* those that failed do not count */
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside D5");
    begin_text(&smooth, write_leaves, NULL);
    smooth.how.budget.points_per_cycle = 2;
    search(&smooth);
    (void)run(&smooth, 50, 30);
    assert_same_decisions(&h, &smooth);
    free(before);
    end(&smooth);
    end(&h);
}

static void a_failed_create_leaves_out_untouched(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    search(&h);
    struct pythia_search *s = NULL;
    long failures = 0;
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_search_create(h.space, &h.how, &s);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_null(s);
    }
    assert_int_equal(failures, 15);
    pythia_search_destroy(s);
    pythia_search_destroy(NULL);
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_sleep_is_found_in_8_cycles_with_a_25th_of_the_points),
        cmocka_unit_test(two_causes_are_peeled_one_after_the_other),
        cmocka_unit_test(three_causes_are_named_in_twice_the_cycles_of_one),
        cmocka_unit_test(workflows_like_those_of_openstack_are_searched_to_the_end),
        cmocka_unit_test(where_requests_only_differ_in_load_nothing_is_named),
        cmocka_unit_test(spikes_alone_are_not_named),
        cmocka_unit_test(a_type_that_the_space_does_not_know_is_not_searched),
        cmocka_unit_test(from_29_requests_nothing_is_concluded),
        cmocka_unit_test(requests_that_are_alike_are_quiet),
        cmocka_unit_test(a_type_with_too_little_of_the_variance_is_left_alone),
        cmocka_unit_test(a_type_that_violates_an_expectation_is_searched_first),
        cmocka_unit_test(what_was_found_stays_when_other_types_vary_more),
        cmocka_unit_test(one_cycle_does_not_make_a_small_type_matter),
        cmocka_unit_test(a_point_that_nothing_passes_is_closed_until_durations_change),
        cmocka_unit_test(a_point_that_nothing_passes_does_not_keep_a_cause_from_its_name),
        cmocka_unit_test(a_point_that_explains_nothing_is_closed),
        cmocka_unit_test(there_are_never_more_points_open_than_allowed_and_it_goes_on),
        cmocka_unit_test(points_never_add_more_time_than_allowed),
        cmocka_unit_test(time_is_that_in_the_type_that_has_most_of_it),
        cmocka_unit_test(the_skeleton_is_never_closed),
        cmocka_unit_test(a_budget_of_0_opens_nothing_and_ends),
        cmocka_unit_test(a_budget_without_end_opens_what_tells_something),
        cmocka_unit_test(pins_hold),
        cmocka_unit_test(of_two_pins_never_wins),
        cmocka_unit_test(when_requests_stop_it_ends_and_closes_what_it_opened),
        cmocka_unit_test(patience_ends_a_search),
        cmocka_unit_test(the_order_of_requests_does_not_matter),
        cmocka_unit_test(reasons_say_what_was_decided_on),
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(what_is_new_to_the_vocabulary_is_neither_open_nor_opened),
        cmocka_unit_test(a_failed_allocation_leaves_the_decisions_as_they_were),
        cmocka_unit_test(a_failed_create_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
