/* What open trace points may cost, in three currencies. Bytes by hand: a span of a point "C1" has a
 * trace id of 18 bytes, an id and a parent of 10 each, a name of 4, times of 18, and 2 before all
 * that: 62. */
#include "cycle/search_parts.h"
#include "hunt.h"

#define SPAN 62.

/* Eight leaves, of which D5 varies, each called once. */
static void write_leaves(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(to + at, room - at, " C%d{10 D%d{%d} 10}", i, i,
                               100 + (i == 5 ? (int)(number * 7 % 10 * 100) : 0));
    snprintf(to + at, room - at, " 10}");
}

static void cycle_in(struct hunt *h, uint64_t requests, double seconds)
{
    pythia_search_set_seconds(h->search, seconds);
    cycle(h, requests);
}

static struct pythia_prices *price(struct hunt *h, const char *id, double ns)
{
    if (!h->how.prices)
        assert_int_equal(pythia_prices_create(h->r.vocabulary, &h->how.prices), PYTHIA_OK);
    assert_int_equal(pythia_prices_set(h->how.prices, pythia_text_of(id), ns), PYTHIA_OK);
    return h->how.prices;
}

/* ---- bytes a second ---- */

/* C is called three times in each request of A and once in each of B; 40 and 20 requests in 8
 * seconds are 5 and 2.5 a second: 5 * 3 * 61 = 915 and 2.5 * 61 = 152.5 ("C" is a letter shorter).
 * What lies in B's C varies, too: it is opened for both. */
static void write_two_types(char *to, size_t room, uint64_t number)
{
    int ns = 100 + (int)(number * 7 % 10 * 100);
    if (number % 3)
        snprintf(to, room, "A{10 C{%d} 10 C{20} 10 C{20} 10}", ns);
    else
        snprintf(to, room, "B{10 C{%d} 10}", 2 * ns);
}

static void bytes_are_calls_times_bytes_times_requests_of_all_types(void **state)
{
    struct hunt h;
    begin_text(&h, write_two_types, NULL);
    h.number = 1; /* two of A, then one of B */
    h.how.min_requests = 10;
    search(&h);
    cycle_in(&h, 60, 8);
    assert_rel_equal(h.cycle.spent.bytes_per_second, 0, 0);
    assert_int_equal(h.cycle.spent.points, 0);
    assert_int_equal(h.cycle.switch_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pythia_switch *s = &h.cycle.switches[i];
        bool is_a = PYTHIA_TEXT_IS(pythia_vocabulary_text(h.r.vocabulary, s->type), "A");
        assert_true(s->open);
        assert_int_equal(s->tracepoint, point(&h, "C"));
        assert_rel_equal(s->bytes_per_second, is_a ? 915 : 152.5, 1e-12);
        assert_rel_equal(s->cost_ns, is_a ? 3000 : 1000, 1e-12);
    }
    assert_int_not_equal(h.cycle.switches[0].type, h.cycle.switches[1].type);
    assert_rel_equal(h.cycle.planned.bytes_per_second, 1067.5, 1e-12);
    assert_rel_equal(h.cycle.planned.added_ns, 3000, 1e-12);
    assert_int_equal(h.cycle.planned.points, 1);
    cycle_in(&h, 60, 4); /* twice as many a second */
    assert_rel_equal(h.cycle.spent.bytes_per_second, 2135, 1e-12);
    end(&h);
}

static void without_a_time_bytes_are_not_known_and_have_no_limit(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.bytes_per_second = 1;
    search(&h);
    cycle(&h, 50);
    assert_true(h.cycle.open_count > 0);
    assert_true(isnan(h.cycle.spent.bytes_per_second));
    assert_true(isnan(h.cycle.planned.bytes_per_second));
    assert_true(isnan(h.cycle.switches[0].bytes_per_second));
    cycle_in(&h, 50, 1); /* then it is, and nothing may stay open */
    assert_int_equal(h.cycle.open_count, 0);
    assert_rel_equal(h.cycle.planned.bytes_per_second, 0, 0);
    end(&h);
}

/* 50 requests in 5 seconds: a point is 620 bytes a second, and three of them fit. */
static void points_never_add_more_bytes_than_allowed_and_it_goes_on(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.bytes_per_second = 2000;
    h.how.budget.points_per_cycle = 8;
    search(&h);
    do {
        cycle_in(&h, 50, 5);
        assert_true(h.cycle.planned.bytes_per_second <= 2000);
        assert_rel_equal(h.cycle.planned.bytes_per_second,
                         10 * SPAN * (double)h.cycle.planned.points, 1e-12);
    } while (!h.cycle.finished && h.cycle.number < 30);
    assert_int_equal(h.peak, 3);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside D5");
    end(&h);
}

/* Ten times as many requests a second: even one point is too much, the one that bounds the cause
 * included. When it is quiet again the search goes on. */
static void when_more_requests_come_points_are_closed_in_that_cycle(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.bytes_per_second = 2000;
    search(&h);
    cycle_in(&h, 50, 5);
    assert_int_equal(h.cycle.open_count, 3);
    cycle_in(&h, 50, .5);
    assert_rel_equal(h.cycle.spent.bytes_per_second, 3 * 100 * SPAN, 1e-12);
    assert_int_equal(h.cycle.open_count, 0);
    assert_int_equal(times(&h, "", true), times(&h, "", false));
    size_t over = 0;
    for (size_t i = 0; i < h.history_count; i++)
        over += strstr(h.history[i].reason,
                       " bytes per second; the limit is 2000: this one is the least informative") !=
                NULL;
    assert_true(over > 0);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_SEARCHING);
    do
        cycle_in(&h, 50, 5);
    while (!h.cycle.finished && h.cycle.number < 30);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside D5");
    assert_int_equal(h.cycle.open_count, 1);
    cycle_in(&h, 50, .5);
    assert_int_equal(h.cycle.open_count, 0);
    assert_reason(&h, "D5", false,
                  "open points add 6200 bytes per second; the limit is 2000: this one is the least "
                  "informative");
    end(&h);
}

/* ---- the least useful first ---- */

/* A search in which D1 to D4 are open, and the cause is in them with .4, .1, .3 and .2. */
static void begin_known(struct hunt *h)
{
    static const double mass[] = {.4, .1, .3, .2};
    begin_text(h, write_leaves, NULL);
    price(h, "D3", 5000); /* it is not looked at whether that is worth it */
    search(h);
    see(h, 50);
    pythia_search_set_seconds(h->search, 5);
    decide(h);
    struct pythia_search *s = h->search;
    struct pythia__belief *b = &s->keeping[0].belief;
    for (size_t i = 0; i < s->switch_count; i++) {
        (void)pythia__search_switch(s, &s->types[0], s->switches[i].tracepoint, false);
        pythia_free(s->switches[i].reason);
    }
    s->switch_count = 0;
    memset(b->mass, 0, b->nodes * sizeof(*b->mass));
    for (int i = 1; i <= 4; i++) {
        char id[3] = {'D', (char)('0' + i), '\0'}, chain[8];
        snprintf(chain, sizeof(chain), "A/C%d/%s", i, id);
        b->mass[requests_node(b->type->cct, chain)] = mass[i - 1];
        assert_int_equal(pythia__search_switch(s, &s->types[0], point(h, id), true), PYTHIA_OK);
    }
}

static void assert_closed(struct hunt *h, const char *ids, const char *first_reason)
{
    char text[64] = "";
    const struct pythia_search *s = h->search;
    assert_int_equal(pythia__search_keep_within(h->search), PYTHIA_OK);
    for (size_t i = 0; i < s->switch_count; i++) {
        uint32_t id = s->switches[i].tracepoint;
        assert_false(s->switches[i].open);
        assert_int_equal(s->switches[i].problem, 0);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
                 pythia_vocabulary_tracepoint_id(h->r.vocabulary, id).bytes);
    }
    assert_string_equal(text, ids);
    if (s->switch_count)
        assert_string_equal(s->switches[0].reason, first_reason);
    pythia_prices_destroy(h->how.prices);
    end(h);
}

static void what_tells_least_is_closed_first_in_each_currency(void **state)
{
    struct hunt h;
    begin_known(&h);
    assert_closed(&h, "", NULL);
    begin_known(&h);
    h.search->o.budget.points_open = 4;
    assert_closed(&h, "", NULL);
    begin_known(&h);
    h.search->o.budget.points_open = 2;
    assert_closed(&h, "D2 D4",
                  "4 points are open; the limit is 2: this one is the least informative");
    begin_known(&h); /* 8000 ns; 7000, 6000, and without D3 1000 */
    h.search->o.budget.added_ns = 2000;
    assert_closed(&h, "D2 D4 D3",
                  "open points add 8000 ns to a request; the limit is 2000: this one is the "
                  "least informative");
    begin_known(&h); /* 2480; 1860 */
    h.search->o.budget.bytes_per_second = 1860;
    assert_closed(&h, "D2",
                  "open points add 2480 bytes per second; the limit is 1860: this one is the least "
                  "informative");
}

static void what_bounds_a_cause_is_closed_last(void **state)
{
    struct hunt h;
    begin_known(&h);
    struct pythia_problem *p = &h.search->problems[0];
    p->causes[p->cause_count++] = (struct pythia_finding){
        .place = {.from_tracepoint = point(&h, "D2"), .to_tracepoint = point(&h, "D2")}};
    h.search->o.budget.points_open = 1;
    assert_closed(&h, "D4 D3 D1",
                  "4 points are open; the limit is 1: this one is the least informative");
}

static void of_what_tells_as_little_the_first_by_id_is_closed(void **state)
{
    struct hunt h;
    begin_known(&h);
    h.search->problems[0].state = PYTHIA_PROBLEM_DONE; /* nothing is learnt from any of them */
    h.search->o.budget.points_open = 2;
    assert_closed(&h, "D1 D2",
                  "4 points are open; the limit is 2: this one is the least informative");
}

static void the_skeleton_and_pins_are_neither_charged_nor_closed(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    assert_int_equal(pythia_open_points_create(h.r.vocabulary, &h.how.always), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(h.how.always, PYTHIA_TEXT("C*")), PYTHIA_OK);
    h.how.budget = (struct pythia_budget){
        .points_per_cycle = 3, .points_open = 1, .added_ns = 1000, .bytes_per_second = 620};
    search(&h);
    do {
        cycle_in(&h, 50, 5);
        assert_in_range(h.cycle.planned.points, 0, 1);
        for (char id[] = "C0"; id[1] < '8'; id[1]++)
            assert_true(pythia_search_is_open(h.search, point(&h, id)));
    } while (!h.cycle.finished && h.cycle.number < 30);
    assert_cause(&h, 0, "inside D5");
    pythia_open_points_destroy(h.how.always);
    end(&h);
}

/* ---- prices ---- */

static void a_point_has_its_own_price(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    price(&h, "D*", 250);
    h.how.budget.points_per_cycle = 16;
    search(&h);
    cycle(&h, 50);
    double sum = 0;
    for (size_t i = 0; i < h.cycle.switch_count; i++) {
        const struct pythia_switch *s = &h.cycle.switches[i];
        double wanted =
            pythia_vocabulary_tracepoint_id(h.r.vocabulary, s->tracepoint).bytes[0] == 'D' ? 250
                                                                                           : 1000;
        assert_rel_equal(s->price_ns, wanted, 0);
        assert_rel_equal(s->cost_ns, wanted, 0);
        sum += wanted;
    }
    assert_true(sum > 0);
    assert_rel_equal(h.cycle.planned.added_ns, sum, 1e-12);
    pythia_prices_destroy(h.how.prices);
    end(&h);
}

static void what_is_too_dear_is_not_opened_and_what_is_cheap_is(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    price(&h, "*", .6); /* one at a time */
    price(&h, "D5", 1.001);
    h.how.budget.added_ns = 1;
    search(&h);
    do {
        cycle(&h, 50);
        assert_true(h.cycle.planned.added_ns <= 1);
    } while (!h.cycle.finished && h.cycle.number < 40);
    assert_true(times(&h, "C5", true) > 0);
    assert_int_equal(times(&h, "D5", true), 0);
    pythia_prices_destroy(h.how.prices);
    end(&h);
}

/* B varies; beside it are 120 points that take nothing and stand at the end, so that they part
 * nothing from anything. */
static void write_one_and_many(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{B{%d} 100 E{", (int)(1000 + number * 7 % 10 * 100));
    for (int i = 0; i < 120; i++)
        at += (size_t)snprintf(to + at, room - at, " s%d{0}", i);
    snprintf(to + at, room - at, "}}");
}

static void what_fits_and_tells_next_to_nothing_is_left_closed(void **state)
{
    for (int dear = 0; dear < 2; dear++) {
        struct hunt h;
        begin_text(&h, write_one_and_many, NULL);
        h.how.price_ns = 1;
        h.how.budget.added_ns = 3;
        price(&h, "B", dear ? 4 : 3);
        search(&h);
        (void)run(&h, 50, 20);
        assert_int_equal(times(&h, "B", true), !dear);
        assert_in_range(times(&h, "", true), 1, 2); /* B, or what follows it, and B */
        assert_opened_once(&h);
        const struct pythia_problem *p = only_problem(&h);
        assert_int_equal(p->state, dear ? PYTHIA_PROBLEM_GIVEN_UP : PYTHIA_PROBLEM_DONE);
        assert_int_equal(p->why, dear ? PYTHIA_WHY_BUDGET : PYTHIA_WHY_NONE);
        if (dear)
            assert_int_equal(p->blocked, point(&h, "B"));
        pythia_prices_destroy(h.how.prices);
        end(&h);
    }
}

/* B is too dear; in it are 60 points that are called twice, take nothing, and are not. */
static void write_one_around_many(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{B{");
    for (int i = 0; i < 60; i++)
        at += (size_t)snprintf(to + at, room - at, "s%d{0}s%d{0}", i, i);
    snprintf(to + at, room - at, "%d} 1000}", (int)(1000 + number * 7 % 10 * 100));
}

static void what_the_cause_is_hardly_in_is_not_opened_instead(void **state)
{
    struct hunt h;
    begin_text(&h, write_one_around_many, NULL);
    h.how.price_ns = 1;
    h.how.budget.added_ns = 3;
    price(&h, "B", 4);
    search(&h);
    assert_int_equal(run(&h, 50, 20), 6);
    assert_int_equal(h.history_count, 0);
    assert_int_equal(only_problem(&h)->why, PYTHIA_WHY_BUDGET);
    assert_int_equal(only_problem(&h)->blocked, point(&h, "B"));
    pythia_prices_destroy(h.how.prices);
    end(&h);
}

/* Durations have a standard deviation of 290 ns. A price that was measured must not exceed what
 * it may explain of that; one that is taken for all points was not measured. */
static void what_costs_more_than_all_that_differs_is_not_opened(void **state)
{
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++) {
        struct hunt h;
        begin_text(&h, write_leaves, NULL);
        price(&h, "C*", 291);
        h.how.price_ns = 5000;
        h.how.strategy = all[i];
        search(&h);
        (void)run(&h, 50, 10);
        assert_true(i > 0 || times(&h, "", true) > 0); /* others may know of nothing else */
        for (char id[] = "C0"; id[1] < '8'; id[1]++)
            assert_int_equal(times(&h, id, true), 0);
        pythia_prices_destroy(h.how.prices);
        end(&h);
    }
}

static void what_costs_more_than_it_may_explain_is_closed_and_not_tried_again(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    price(&h, "*", 280); /* of 290: the cause would have to be in it for sure */
    search(&h);
    (void)run(&h, 50, 10);
    size_t dear = 0;
    for (size_t i = 0; i < h.history_count; i++)
        dear += strcmp(h.history[i].reason, "it costs more than it may explain") == 0;
    assert_true(dear > 0);
    assert_opened_once(&h);
    pythia_prices_destroy(h.how.prices);
    end(&h);
}

/* The same with a strategy of the table. */
static void strategies_keep_to_the_budget(void **state)
{
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++) {
        struct hunt h;
        begin_text(&h, write_leaves, NULL);
        price(&h, "C1", 4);
        h.how.price_ns = 1;
        h.how.strategy = all[i];
        h.how.budget.added_ns = 3;
        h.how.budget.bytes_per_second = 1300; /* two, at 620 each */
        search(&h);
        size_t opened = 0;
        while (h.cycle.number < 10) {
            cycle_in(&h, 50, 5);
            opened += h.cycle.switch_count > 0;
            assert_true(h.cycle.planned.added_ns <= 3);
            assert_true(h.cycle.planned.bytes_per_second <= 1300);
        }
        assert_true(opened > 0);
        assert_int_equal(times(&h, "C1", true), 0);
        pythia_prices_destroy(h.how.prices);
        end(&h);
    }
}

static void a_failed_allocation_leaves_the_decisions_as_they_were(void **state)
{
    struct hunt h;
    begin_text(&h, write_leaves, NULL);
    h.how.budget.bytes_per_second = 2000;
    search(&h);
    cycle_in(&h, 50, 5);
    assert_int_equal(h.cycle.open_count, 3);
    see(&h, 50);
    pythia_search_set_seconds(h.search, .5);
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        pythia_mem_fail_after(failures);
        status = pythia_search_cycle(h.search, h.r.groups, h.hits, h.points, &h.cycle);
        pythia_mem_fail_after(-1);
        for (uint32_t i = 0; status != PYTHIA_OK && i < h.points; i++)
            assert_int_equal(pythia_search_is_open(h.search, i), h.open[i]);
    }
    assert_true(failures > 20);
    assert_int_equal(h.cycle.open_count, 0);
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_calls_times_bytes_times_requests_of_all_types),
        cmocka_unit_test(without_a_time_bytes_are_not_known_and_have_no_limit),
        cmocka_unit_test(points_never_add_more_bytes_than_allowed_and_it_goes_on),
        cmocka_unit_test(when_more_requests_come_points_are_closed_in_that_cycle),
        cmocka_unit_test(what_tells_least_is_closed_first_in_each_currency),
        cmocka_unit_test(what_bounds_a_cause_is_closed_last),
        cmocka_unit_test(of_what_tells_as_little_the_first_by_id_is_closed),
        cmocka_unit_test(the_skeleton_and_pins_are_neither_charged_nor_closed),
        cmocka_unit_test(a_point_has_its_own_price),
        cmocka_unit_test(what_is_too_dear_is_not_opened_and_what_is_cheap_is),
        cmocka_unit_test(what_fits_and_tells_next_to_nothing_is_left_closed),
        cmocka_unit_test(what_the_cause_is_hardly_in_is_not_opened_instead),
        cmocka_unit_test(what_costs_more_than_all_that_differs_is_not_opened),
        cmocka_unit_test(what_costs_more_than_it_may_explain_is_closed_and_not_tried_again),
        cmocka_unit_test(strategies_keep_to_the_budget),
        cmocka_unit_test(a_failed_allocation_leaves_the_decisions_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
