/* What the search makes of a world that changes: causes that move, grow or go. */
#include "hunt.h"

/* The cause is one of 8 leaves: D5, and from request 300 on D2. */
static void write_moving(char *to, size_t room, uint64_t number)
{
    uint64_t at_fault = number >= 300 && number < 1000000 ? 2 : 5;
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (uint64_t i = 0; i < 8; i++)
        at += (size_t)snprintf(to + at, room - at, " C%d{10 D%d{%d} 10}", (int)i, (int)i,
                               100 + (i == at_fault ? (int)(number * 7 % 10 * 100) : 0));
    snprintf(to + at, room - at, " 10}");
}

static void a_cause_that_moves_after_it_was_found_is_found_again(void **state)
{
    struct hunt h;
    begin_text(&h, write_moving, NULL);
    search(&h);
    (void)run(&h, 50, 6);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_cause(&h, 0, "inside D5");
    while (h.number < 300) { /* nothing comes of looking on */
        size_t decided = h.history_count;
        cycle(&h, 50);
        assert_true(h.cycle.finished);
        assert_int_equal(h.history_count, decided);
    }
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_SEARCHING);
    assert_int_equal(only_problem(&h)->cause_count, 0); /* it has no share any more */
    assert_true(run(&h, 50, h.cycle.number + 6) < 13);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->cause_count, 1);
    assert_cause(&h, 0, "inside D2");
    assert_false(pythia_search_is_open(h.search, point(&h, "D5")));
    end(&h);
}

/* While it is still being searched for: what was believed is overturned, and a point that told
 * nothing then may be opened. */
static void a_cause_that_moves_before_it_was_found_is_found(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        add_sleep(&o);
        o.drift = PYTHIA_DRIFT_MOVE;
        o.drift_requests = 1000;
        begin_workflow(&h, &o);
        search(&h);
        h.number = 900; /* two cycles at the first place */
        (void)run(&h, 50, 2);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_SEARCHING);
        assert_in_range(run(&h, 50, 16), 4, 12);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(only_problem(&h)->cause_count, 1);
        struct pythia_planted planted;
        pythia_workflow_planted(h.workflow, 0, h.number - 1, &planted);
        assert_int_equal(only_problem(&h)->causes[0].place.context,
                         pythia_workflow_tracepoint(h.workflow, planted.node));
        end(&h);
    }
}

/* The second cause comes up when the first one has been found long ago, and is as large. */
static void write_second(char *to, size_t room, uint64_t number)
{
    bool both = number >= 300 && number < 1000000;
    snprintf(to, room, "A{10 B{10 C{%d} 10} 10 E{10 F{%d} 10} 10}",
             100 + (int)(number * 7 % 10 * 100), 100 + (both ? (int)(number * 3 % 11 * 100) : 0));
}

static void a_cause_that_comes_up_later_is_found_beside_the_first(void **state)
{
    struct hunt h;
    begin_text(&h, write_second, NULL);
    search(&h);
    (void)run(&h, 50, 6);
    assert_int_equal(only_problem(&h)->cause_count, 1);
    assert_cause(&h, 0, "inside C");
    while (h.number < 300)
        cycle(&h, 50);
    assert_true(run(&h, 50, 16) < 16);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->cause_count, 2);
    assert_cause(&h, 0, "inside C");
    assert_cause(&h, 1, "inside F");
    assert_in_range((int)(100 * only_problem(&h)->causes[0].share), 30, 60); /* it was all */
    end(&h);
}

/* The cause goes away with request 300. */
static void write_passing(char *to, size_t room, uint64_t number)
{
    bool past = number >= 300 && number < 1000000;
    snprintf(to, room, "A{1000 B{10 C{%d} 10} 10}",
             100 + (past ? (int)(number % 3) : (int)(number * 7 % 10 * 100)));
}

static void a_cause_that_is_gone_is_forgotten_and_its_points_are_closed(void **state)
{
    struct hunt h;
    begin_text(&h, write_passing, NULL);
    search(&h);
    (void)run(&h, 50, 6);
    assert_cause(&h, 0, "inside C");
    assert_true(pythia_search_is_open(h.search, point(&h, "C")));
    while (h.number < 300)
        cycle(&h, 50);
    cycle(&h, 50); /* one quiet cycle may be chance */
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_QUIET);
    assert_int_equal(only_problem(&h)->cause_count, 1);
    assert_true(pythia_search_is_open(h.search, point(&h, "C")));
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->cause_count, 0);
    assert_false(pythia_search_is_open(h.search, point(&h, "C")));
    assert_int_equal(h.cycle.open_count, 0);
    end(&h);
}

/* Of two causes the first goes away with request 300; the requests still vary as much. */
static void write_first_passing(char *to, size_t room, uint64_t number)
{
    bool past = number >= 300 && number < 1000000;
    snprintf(to, room, "A{10 B{10 C{%d} 10} 10 E{10 F{%d} 10} 10}",
             100 + (past ? 0 : (int)(number * 7 % 10 * 100)), 100 + (int)(number * 3 % 11 * 100));
}

static void of_two_causes_one_that_is_gone_is_forgotten_and_its_points_are_closed(void **state)
{
    struct hunt h;
    begin_text(&h, write_first_passing, NULL);
    search(&h);
    (void)run(&h, 50, 5);
    while (h.number < 300)
        cycle(&h, 50);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->cause_count, 2);
    assert_true(pythia_search_is_open(h.search, point(&h, "C")));
    cycle(&h, 50); /* one cycle may be chance */
    assert_int_equal(only_problem(&h)->cause_count, 2);
    assert_true(pythia_search_is_open(h.search, point(&h, "C")));
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->cause_count, 1);
    assert_cause(&h, 0, "inside F");
    assert_false(pythia_search_is_open(h.search, point(&h, "C")));
    assert_true(pythia_search_is_open(h.search, point(&h, "F")));
    end(&h);
}

/* C may not be opened; from request 200 on it is not C that varies, and by less. */
static void write_hidden(char *to, size_t room, uint64_t number)
{
    bool later = number >= 200 && number < 1000000;
    snprintf(to, room, "A{10 B{10 C{%d} 10} 10 E{10 F{%d} 10} 1000}",
             100 + (later ? 0 : (int)(number * 7 % 10 * 1000)),
             100 + (later ? (int)(number * 7 % 10 * 100) : 0));
}

static void what_was_given_up_is_searched_again_when_durations_change(void **state)
{
    struct hunt h;
    begin_text(&h, write_hidden, NULL);
    h.how.patience = 1; /* one look, and no more */
    h.how.budget.points_per_cycle = 2;
    search(&h);
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_GIVEN_UP);
    while (h.number < 200) {
        cycle(&h, 50);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_GIVEN_UP);
        assert_int_equal(only_problem(&h)->cycles, 1);
    }
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->cycles, 2);
    assert_int_equal(only_problem(&h)->retries, 0); /* evidence made it begin again */
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cause_that_moves_after_it_was_found_is_found_again),
        cmocka_unit_test(a_cause_that_moves_before_it_was_found_is_found),
        cmocka_unit_test(a_cause_that_comes_up_later_is_found_beside_the_first),
        cmocka_unit_test(a_cause_that_is_gone_is_forgotten_and_its_points_are_closed),
        cmocka_unit_test(of_two_causes_one_that_is_gone_is_forgotten_and_its_points_are_closed),
        cmocka_unit_test(what_was_given_up_is_searched_again_when_durations_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
