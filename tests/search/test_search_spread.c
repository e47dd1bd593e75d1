/* A host, or a shard, that is slow in all that it does: no place stands out, however many points
 * are open. The search ends when it knows that, and goes on where one place is the cause after
 * all. */
#include "hunt.h"

#define STEPS 12

/* Requests for one of four shards, by a call of A that does twelve steps, each of which has the
 * shard. Of 28 requests, the first seven are for b1, and so on; with their own times, that go
 * with nothing, steps take the same on average for all shards but the slow one. */
static int slow_shard = 2;
/* All steps are slow for it; only the last one, or the first three, by the time of eight; or
 * what the caller of the steps does by itself, between any two. */
static enum place { IN_ALL, IN_ONE, IN_THREE, BETWEEN } where;

static void write_hosts(char *to, size_t room, uint64_t number)
{
    int shard = (int)(number % 28 / 7) + 1;
    size_t at = (size_t)snprintf(to, room, "F{10 A{10");
    for (int i = 0; i < STEPS; i++) {
        int ns = 1000 + (int)(number * (uint64_t)(2 * i + 7) % 29) * 10;
        bool slow = shard == slow_shard;
        bool here =
            where == IN_ALL || (where == IN_ONE && i == STEPS - 1) || (where == IN_THREE && i < 3);
        ns = !slow || !here ? ns : where == IN_ALL ? 3 * ns : ns + 8000;
        at += (size_t)snprintf(to + at, room - at, " %d", slow && where == BETWEEN ? 1500 : 10);
        at += (size_t)snprintf(to + at, room - at, " S%d(shard=b%d){5 T%d(shard=b%d){%d} 5}", i,
                               shard, i, shard, ns);
    }
    snprintf(to + at, room - at, " 10} 10}");
}

static void begin_hosts(struct hunt *h, enum place how)
{
    slow_shard = 2;
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

/* There are 24 points below A. One that shows the shard stays open, and all others that were
 * opened are closed again. */
static void the_search_ends_before_most_points_are_open(void **state)
{
    struct hunt h;
    begin_hosts(&h, IN_ALL);
    (void)run(&h, 112, 20);
    assert_spread(&h);
    assert_in_range(times(&h, "", true), 4, 12);
    assert_int_equal(h.cycle.open_count, 1);
    assert_true(only_problem(&h)->top.share < .5);
    end(&h);
}

static void one_place_that_a_key_goes_with_is_still_found(void **state)
{
    struct hunt h;
    begin_hosts(&h, IN_ONE);
    (void)run(&h, 112, 20);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->why, PYTHIA_WHY_NONE);
    assert_cause(&h, 0, "inside T11");
    end(&h);
    begin_hosts(&h, IN_THREE);
    (void)run(&h, 112, 30);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->why, PYTHIA_WHY_NONE);
    assert_int_equal(only_problem(&h)->cause_count, 3);
    end(&h);
    begin_hosts(&h, BETWEEN);
    (void)run(&h, 112, 20);
    assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(only_problem(&h)->why, PYTHIA_WHY_NONE);
    assert_true(only_problem(&h)->causes[0].place.own);
    assert_int_equal(only_problem(&h)->causes[0].place.context, point(&h, "A"));
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

/* Another shard is slow, in one place. */
static void where_it_becomes_one_place_the_search_goes_on(void **state)
{
    struct hunt h;
    begin_hosts(&h, IN_ALL);
    (void)run(&h, 112, 20);
    slow_shard = 0; /* there is no such shard: what is left is noise of some percent */
    cycle(&h, 112);
    while (only_problem(&h)->why == PYTHIA_WHY_SPREAD) {
        assert_true(h.cycle.number < 40);
        cycle(&h, 112);
    }
    slow_shard = 3;
    where = IN_ONE;
    for (int i = 0; i < 30 && only_problem(&h)->cause_count == 0; i++)
        cycle(&h, 112);
    assert_cause(&h, 0, "inside T11");
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_ends_before_most_points_are_open),
        cmocka_unit_test(one_place_that_a_key_goes_with_is_still_found),
        cmocka_unit_test(the_key_is_tested_again_and_nothing_is_opened),
        cmocka_unit_test(where_it_becomes_one_place_the_search_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
