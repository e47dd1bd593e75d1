/* A host that is slow in all that it does: no place stands out, however many points are open. The
 * search ends when it knows that, and goes on where one place is the cause after all. */
#include "hunt.h"

#define STEPS 12

/* Requests on one of four hosts, which does twelve steps. Of 28, the first seven are at b1, and so
 * on; with their own times, that go with nothing, steps take the same on average at all hosts but
 * the slow one. */
static int slow_host = 2;
/* All steps are slow there; only the last one, by the time of eight; or what the caller of the steps
 * does by itself, between any two. */
static enum { IN_ALL, IN_ONE, BETWEEN } where;

static void write_hosts(char *to, size_t room, uint64_t number)
{
    int host = (int)(number % 28 / 7) + 1;
    size_t at = (size_t)snprintf(to, room, "F{10 B:A[host.name=b%d]{10", host);
    for (int i = 0; i < STEPS; i++) {
        int ns = 1000 + (int)(number * (uint64_t)(2 * i + 7) % 29) * 10;
        bool slow = host == slow_host;
        ns = slow && where == IN_ALL                     ? 3 * ns
             : slow && where == IN_ONE && i == STEPS - 1 ? ns + 8000
                                                         : ns;
        at += (size_t)snprintf(to + at, room - at, " %d", slow && where == BETWEEN ? 1500 : 10);
        at += (size_t)snprintf(to + at, room - at,
                               " B:S%d[host.name=b%d]{5 B:T%d[host.name=b%d]{%d} 5}", i, host, i,
                               host, ns);
    }
    snprintf(to + at, room - at, " 10} 10}");
}

static void begin_hosts(struct hunt *h, int how)
{
    slow_host = 2;
    where = how;
    begin_text(h, write_hosts, NULL);
    search(h);
}

static void assert_spread(const struct hunt *h)
{
    const struct pythia_problem *p = only_problem(h);
    assert_int_equal(p->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(p->why, PYTHIA_WHY_SPREAD);
    assert_int_equal(p->cause_count, 0);
    assert_string_equal(pythia_why_name(p->why), "spread");
}

/* There are 24 points below B:A, and all that were opened are closed again. */
static void the_search_ends_before_most_points_are_open(void **state)
{
    struct hunt h;
    begin_hosts(&h, IN_ALL);
    (void)run(&h, 112, 20);
    assert_spread(&h);
    assert_in_range(times(&h, "", true), 4, 12);
    assert_int_equal(h.cycle.open_count, 0);
    assert_true(only_problem(&h)->top.share < .5);
    end(&h);
}

static void one_slow_place_of_a_host_is_still_found(void **state)
{
    struct hunt h;
    begin_hosts(&h, IN_ONE);
    (void)run(&h, 112, 20);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->why, PYTHIA_WHY_NONE);
    assert_cause(&h, 0, "inside B:T11");
    end(&h);
    begin_hosts(&h, BETWEEN);
    (void)run(&h, 112, 20);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->why, PYTHIA_WHY_NONE);
    assert_true(only_problem(&h)->causes[0].place.own);
    assert_int_equal(only_problem(&h)->causes[0].place.context, point(&h, "B:A"));
    end(&h);
}

/* 4 and 8 cycles after it ended the key is tested, and nothing is opened for that. */
static void the_key_is_tested_again_and_nothing_is_opened(void **state)
{
    struct hunt h;
    begin_hosts(&h, IN_ALL);
    (void)run(&h, 112, 20);
    size_t opened = times(&h, "", true);
    for (uint64_t number = 1; number <= 12; number++) {
        cycle(&h, 112);
        assert_spread(&h);
        assert_int_equal(only_problem(&h)->retried, number == 4 || number == 12);
        assert_int_equal(only_problem(&h)->retries, (number >= 4) + (number >= 12));
    }
    assert_int_equal(times(&h, "", true), opened);
    end(&h);
}

/* The same host is slow by as much, in one place now. */
static void where_it_becomes_one_place_the_search_goes_on(void **state)
{
    struct hunt h;
    begin_hosts(&h, IN_ALL);
    (void)run(&h, 112, 20);
    slow_host = 0; /* there is no such host: what is left is noise of some percent */
    cycle(&h, 112);
    while (only_problem(&h)->why == PYTHIA_WHY_SPREAD) {
        assert_true(h.cycle.number < 40);
        cycle(&h, 112);
    }
    slow_host = 3;
    where = IN_ONE;
    for (int i = 0; i < 30 && only_problem(&h)->cause_count == 0; i++)
        cycle(&h, 112);
    assert_cause(&h, 0, "inside B:T11");
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_ends_before_most_points_are_open),
        cmocka_unit_test(one_slow_place_of_a_host_is_still_found),
        cmocka_unit_test(the_key_is_tested_again_and_nothing_is_opened),
        cmocka_unit_test(where_it_becomes_one_place_the_search_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
