/* A search that was given up begins again by itself, and finds no more by chance for that. */
#include "hunt.h"
#include "pythia/buf.h"
#include "pythia/random.h"

#define LEAVES 12

/* Independent times of 12 leaves, each with a twelfth of the variance. From request `apart` on, C0
 * has three twelfths and two others nothing: the sum varies as before. In each leaf the space knows
 * a point that no request hits. */
static uint64_t apart = UINT64_MAX;

static void write_leaves(char *to, size_t room, uint64_t number)
{
    struct pythia_random random;
    size_t at = (size_t)snprintf(to, room, "A{10");
    pythia_random_init(&random, number);
    for (int i = 0; i < LEAVES; i++) {
        int varies = number < apart ? 100 : i == 0 ? 173 : i < 3 ? 0 : 100; /* 173^2 = 3 * 100^2 */
        at += (size_t)snprintf(to + at, room - at, " C%d{%d}", i,
                               2000 + varies * ((int)pythia_random_below(&random, 11) - 5) / 5);
    }
    snprintf(to + at, room - at, " 10}");
}

/* `hidden`: in each leaf is another point. */
static void begin_leaves(struct hunt *h, bool hidden)
{
    char known[1024] = "A{10";
    for (int i = 0; i < LEAVES; i++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known),
                 hidden ? " C%d{100 D%d{100} 100}" : " C%d{100}", i, i);
    strcat(known, " 10}");
    begin_text(h, write_leaves, known);
    h->how.always = pins(h, "C*");
    h->how.min_cov = .001;
    search(h);
}

static void end_leaves(struct hunt *h)
{
    pythia_open_points_destroy(h->how.always);
    apart = UINT64_MAX;
    end(h);
}

/* The same 50 durations in each cycle, and nothing may be opened. */
static void write_same(char *to, size_t room, uint64_t number)
{
    snprintf(to, room, "A{10 B{%d} 10 C{%d} 10}", (int)(number * 7 % 10 * 100),
             (int)(number * 3 % 10 * 100));
}

static void it_begins_again_after_twice_as_many_cycles_each_time_up_to_64(void **state)
{
    /* It is given up in cycle 1 and in each of these: 1 + 4, + 8, + 16, + 32, + 64, + 64. */
    const uint64_t expected[] = {5, 13, 29, 61, 125, 189};
    struct hunt h;
    size_t seen = 0;
    begin_text(&h, write_same, NULL);
    h.how.patience = 1;
    h.how.budget.points_per_cycle = 0;
    search(&h);
    for (uint64_t number = 1; number <= 200; number++) {
        cycle(&h, 50);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_GIVEN_UP);
        seen += seen < 6 && number == expected[seen];
        assert_int_equal(only_problem(&h)->retries, seen);
        assert_int_equal(only_problem(&h)->cycles, 1 + seen);
        assert_in_range(only_problem(&h)->retry_in, 1, PYTHIA_RETRY_MOST);
    }
    assert_int_equal(seen, 6);
    end(&h);
}

/* Cycles of 7.5 s, of which a minute has eight: they are 8 * 64 at most. */
static void where_cycles_are_short_it_takes_more_of_them(void **state)
{
    struct hunt h;
    const uint64_t waits[] = {4, 8, 16, 32, 64, 128, 256, 512, 512};
    uint64_t number = 1;
    begin_text(&h, write_same, NULL);
    h.how.patience = 1;
    h.how.budget.points_per_cycle = 0;
    h.how.hold_seconds = 60;
    search(&h);
    pythia_search_set_seconds(h.search, 7.5);
    cycle(&h, 50);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        assert_int_equal(only_problem(&h)->retry_in, waits[i]);
        for (number += waits[i]; h.cycle.number < number;)
            cycle(&h, 50);
        assert_int_equal(only_problem(&h)->retries, i + 1);
    }
    end(&h);
}

static void cycles_with_too_few_requests_do_not_count(void **state)
{
    struct hunt h;
    begin_text(&h, write_same, NULL);
    h.how.patience = 1;
    h.how.budget.points_per_cycle = 0;
    search(&h);
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->retry_in, 4);
    for (int i = 0; i < 10; i++)
        cycle(&h, 29);
    assert_int_equal(only_problem(&h)->retry_in, 4);
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->retry_in, 3);
    end(&h);
}

static void points_that_showed_nothing_are_not_opened_again(void **state)
{
    struct hunt h;
    begin_leaves(&h, true);
    while (h.cycle.number == 0 || only_problem(&h)->retries < 3) {
        assert_true(h.cycle.number < 100);
        cycle(&h, 200);
    }
    cycle(&h, 200);
    cycle(&h, 200);
    assert_int_equal(only_problem(&h)->cause_count, 0);
    assert_true(times(&h, "", true) > 0);
    assert_opened_once(&h);
    end_leaves(&h);
}

/* A quarter of the variance is a cause in the first cycle with 80 requests. After a retry it is
 * none as long as .15 is in its interval, which 1000 requests make narrower. */
static void a_first_cause_after_that_must_surely_matter(void **state)
{
    struct hunt h;
    apart = 0;
    begin_leaves(&h, false);
    cycle(&h, 80);
    assert_cause(&h, 0, "inside C0");
    end_leaves(&h);

    begin_leaves(&h, false);
    do
        cycle(&h, 80);
    while (only_problem(&h)->state == PYTHIA_PROBLEM_SEARCHING && h.cycle.number < 20);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_GIVEN_UP);
    assert_int_equal(only_problem(&h)->cause_count, 0);
    apart = h.number;
    do
        cycle(&h, 80);
    while (only_problem(&h)->retries == 0 && h.cycle.number < 30);
    assert_int_equal(only_problem(&h)->retries, 1);
    assert_true(only_problem(&h)->top.share > .15 && only_problem(&h)->top.low > .03);
    assert_int_equal(only_problem(&h)->cause_count, 0);
    cycle(&h, 1000);
    assert_cause(&h, 0, "inside C0");
    end_leaves(&h);
}

/* Saved while it waits, another process begins again in the same cycle. */
static void it_begins_again_in_another_process_too(void **state)
{
    struct hunt h;
    struct pythia_buf saved = {0};
    struct pythia_search *moved = NULL;
    begin_text(&h, write_same, NULL);
    h.how.patience = 1;
    h.how.budget.points_per_cycle = 0;
    search(&h);
    for (int i = 0; i < 7; i++)
        cycle(&h, 50);
    assert_int_equal(only_problem(&h)->retries, 1);
    assert_int_equal(only_problem(&h)->retry_in, 6);
    assert_int_equal(pythia_search_save(h.search, &saved), PYTHIA_OK);
    assert_int_equal(pythia_search_create(h.space, &h.how, &moved), PYTHIA_OK);
    assert_int_equal(pythia_search_load(moved, pythia_buf_text(&saved)), PYTHIA_OK);
    pythia_search_destroy(h.search);
    h.search = moved;
    for (uint64_t left = 6; left-- > 0;) {
        cycle(&h, 50);
        assert_int_equal(only_problem(&h)->retries, left > 0 ? 1 : 2);
    }
    assert_int_equal(only_problem(&h)->retry_in, 16);
    pythia_buf_free(&saved);
    end(&h);
}

/* In four cycles the time is in another node for each request, so that no place has a share that is
 * surely above 0, and the search ends; then it is in one node, and durations vary as before. */
static void what_a_few_unlucky_cycles_ended_is_found_later(void **state)
{
    size_t given_up = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pythia_workflow_options o = bushy(seed);
        struct hunt h;
        add_sleep(&o);
        begin_workflow(&h, &o);
        search(&h);
        struct pythia_workflow *settled = h.workflow, *scattered = NULL;
        struct pythia_error why = {0};
        o.drift = PYTHIA_DRIFT_MOVE;
        o.drift_requests = 1;
        assert_int_equal(pythia_workflow_create(h.r.vocabulary, &o, &scattered, &why), PYTHIA_OK);
        h.workflow = scattered;
        for (int i = 0; i < 4; i++)
            cycle(&h, 50);
        assert_int_equal(only_problem(&h)->cause_count, 0);
        given_up += only_problem(&h)->state == PYTHIA_PROBLEM_GIVEN_UP;
        h.workflow = settled;
        while (only_problem(&h)->state != PYTHIA_PROBLEM_DONE && h.cycle.number < 30)
            cycle(&h, 50);
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(only_problem(&h)->cause_count, 1);
        assert_int_equal(planted(&h, 0, 1), 0);
        pythia_workflow_destroy(scattered);
        end(&h);
    }
    assert_true(given_up >= 15); /* or it would be no test */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_again_after_twice_as_many_cycles_each_time_up_to_64),
        cmocka_unit_test(where_cycles_are_short_it_takes_more_of_them),
        cmocka_unit_test(cycles_with_too_few_requests_do_not_count),
        cmocka_unit_test(points_that_showed_nothing_are_not_opened_again),
        cmocka_unit_test(a_first_cause_after_that_must_surely_matter),
        cmocka_unit_test(it_begins_again_in_another_process_too),
        cmocka_unit_test(what_a_few_unlucky_cycles_ended_is_found_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
