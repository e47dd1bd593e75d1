/* What a search has found or opened stays while evidence speaks against it for less than
 * hold_seconds, however many cycles that are. Cycles take a second here, and the time is a
 * minute. */
#include "hunt.h"

#define HOLD 60 /* seconds, and cycles */

static bool varied; /* do the requests of the present cycle differ? */
static int deep;    /* the trace point that they differ in */

static void write_deep(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(to + at, room - at, " C%d{10 D%d{%d} 10}", i, i,
                               100 + (varied && i == deep ? (int)(number * 7 % 10 * 100) : 0));
    snprintf(to + at, room - at, " 10}");
}

static void begin_held(struct hunt *h, double hold_seconds)
{
    deep = 5;
    varied = true;
    begin_text(h, write_deep, NULL);
    h->how.hold_seconds = hold_seconds;
    search(h);
    pythia_search_set_seconds(h->search, 1);
}

static bool is_open(const struct hunt *h, const char *id)
{
    return pythia_search_is_open(h->search, point(h, id));
}

/* The cause is found, and bounded by D5. */
static void find(struct hunt *h, double hold_seconds)
{
    begin_held(h, hold_seconds);
    (void)run(h, 50, 20);
    assert_cause(h, 0, "inside D5");
    assert_true(is_open(h, "D5"));
}

static void a_cause_that_rests_is_found_as_it_was(void **state)
{
    struct hunt h;
    find(&h, HOLD);
    size_t switched = h.history_count;
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < HOLD; i++) {
            varied = i == 0;
            cycle(&h, 50);
            assert_cause(&h, 0, "inside D5");
            assert_true(is_open(&h, "D5"));
        }
    assert_int_equal(h.history_count, switched);
    end(&h);
}

static void a_cause_that_is_gone_is_dropped_once_the_time_is_over(void **state)
{
    static const struct {
        double hold_seconds;
        int cycles;
    } cases[] = {{0, 2}, {HOLD, HOLD}};
    for (size_t i = 0; i < 2; i++) {
        struct hunt h;
        int cycles = 0;
        find(&h, cases[i].hold_seconds);
        varied = false;
        do {
            cycle(&h, 50);
            cycles++;
        } while (only_problem(&h)->cause_count > 0);
        assert_int_equal(cycles, cases[i].cycles);
        assert_true(only_problem(&h)->refuted); /* a verdict does not wait once more */
        assert_false(is_open(&h, "D5"));
        cycle(&h, 50);
        assert_false(only_problem(&h)->refuted);
        end(&h);
    }
}

/* Something else varies at once, and is searched at once. */
static void a_cause_without_a_share_is_no_obstacle_to_another(void **state)
{
    struct hunt h;
    find(&h, HOLD);
    deep = 2;
    for (int i = 0; i < 10; i++)
        cycle(&h, 50);
    assert_true(only_problem(&h)->cause_count > 0);
    assert_cause(&h, only_problem(&h)->cause_count - 1, "inside D2");
    end(&h);
}

/* What is slow now and then: the cycles between say nothing, and close nothing. */
static void a_search_goes_on_when_requests_differ_again(void **state)
{
    struct hunt h, smooth;
    begin_held(&smooth, HOLD);
    uint64_t needed = run(&smooth, 50, 20);
    assert_in_range(needed, 2, 6);
    end(&smooth);
    begin_held(&h, HOLD);
    uint64_t looked = 0;
    for (uint64_t i = 0; looked < needed; i++) {
        varied = i % 20 == 0;
        looked += varied;
        cycle(&h, 50);
        if (looked == 1)
            assert_true(h.history_count > 0);
        if (looked < needed)
            assert_false(h.cycle.finished);
        assert_int_equal(only_problem(&h)->resting, !varied);
    }
    assert_cause(&h, 0, "inside D5");
    assert_opened_once(&h);
    end(&h);
}

static void a_search_whose_requests_stay_alike_ends(void **state)
{
    struct hunt h;
    int cycles = 0;
    begin_held(&h, HOLD);
    cycle(&h, 50);
    assert_true(h.cycle.open_count > 0);
    varied = false;
    do {
        cycle(&h, 50);
        cycles++;
    } while (h.cycle.open_count > 0);
    assert_int_equal(cycles, HOLD);
    assert_true(h.cycle.finished);
    assert_false(only_problem(&h)->resting);
    end(&h);
}

/* A cycle of unknown length had next to no requests, and was long. */
static void a_cycle_that_nobody_measured_was_long(void **state)
{
    struct hunt h;
    find(&h, HOLD);
    pythia_search_set_seconds(h.search, 0);
    varied = false;
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->cause_count, 1); /* it is one cycle only */
    cycle(&h, 50);
    assert_int_equal(only_problem(&h)->cause_count, 0);
    end(&h);
}

static void points_of_a_type_without_requests_say_so(void **state)
{
    struct hunt h;
    begin_held(&h, HOLD);
    cycle(&h, 50);
    size_t opened = h.cycle.open_count;
    for (int i = 1; i < 5 * HOLD; i++) {
        cycle(&h, 0);
        assert_int_equal(h.cycle.open_count, opened);
    }
    cycle(&h, 0);
    assert_int_equal(h.cycle.open_count, 0);
    assert_string_equal(h.history[h.history_count - 1].reason, "too few requests of its type come");
    end(&h);
}

/* One that was saved in the middle of the time is loaded with what has passed of it. */
static void the_time_goes_on_in_a_search_that_is_loaded(void **state)
{
    struct hunt h;
    struct pythia_buf saved = {0};
    find(&h, HOLD);
    varied = false;
    for (int i = 0; i < HOLD / 2; i++)
        cycle(&h, 50);
    assert_int_equal(pythia_search_save(h.search, &saved), PYTHIA_OK);
    pythia_search_destroy(h.search);
    assert_int_equal(pythia_search_create(h.space, &h.how, &h.search), PYTHIA_OK);
    assert_int_equal(pythia_search_load(h.search, (struct pythia_text){saved.bytes, saved.size}),
                     PYTHIA_OK);
    for (int i = HOLD / 2; i < HOLD; i++) {
        cycle(&h, 50);
        assert_int_equal(only_problem(&h)->cause_count, i + 1 < HOLD);
    }
    pythia_buf_free(&saved);
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cause_that_rests_is_found_as_it_was),
        cmocka_unit_test(a_cause_that_is_gone_is_dropped_once_the_time_is_over),
        cmocka_unit_test(a_cause_without_a_share_is_no_obstacle_to_another),
        cmocka_unit_test(a_search_goes_on_when_requests_differ_again),
        cmocka_unit_test(a_search_whose_requests_stay_alike_ends),
        cmocka_unit_test(a_cycle_that_nobody_measured_was_long),
        cmocka_unit_test(points_of_a_type_without_requests_say_so),
        cmocka_unit_test(the_time_goes_on_in_a_search_that_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
