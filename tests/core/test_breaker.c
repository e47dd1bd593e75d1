/* The circuit breaker, by spans whose programs, times and prices are known. */
#include "check.h"
#include "pythia/breaker.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)
#define BEGIN  (1700000000 * SECOND) /* of the programs' clocks */

/* Each hit of "s:a" costs 1 us, and of "s:b" 3 us, as programs have measured; the plane knows that
 * one of "s:plane" costs 10 us; nobody knows what one of "s:unknown" costs. */
static struct fixture {
    struct pythia_vocabulary *vocabulary;
    struct pythia_prices *prices;
    struct pythia_open_points *pinned;
    struct pythia_breaker *breaker;
    uint32_t a, b, plane, unknown, fixed;
    uint32_t entry;  /* that the search keeps open; PYTHIA_NONE: none */
    uint64_t now_ns; /* of the caller */
} f;

static uint32_t make_point(const char *id, uint64_t price_ns)
{
    uint32_t point = pythia_vocabulary_tracepoint_of_id(f.vocabulary, pythia_text_of(id), 0, 0);
    for (int i = 0; i < 1000 && price_ns > 0; i++)
        assert_int_equal(pythia_vocabulary_cost_add(f.vocabulary, point, price_ns), PYTHIA_OK);
    return point;
}

static bool is_switchable(void *context, uint32_t tracepoint)
{
    return tracepoint != ((struct fixture *)context)->fixed;
}

static bool is_entry(void *context, uint32_t tracepoint)
{
    return tracepoint == ((struct fixture *)context)->entry;
}

static void begin(double limit_ns, uint64_t hold_ns)
{
    f.entry = PYTHIA_NONE;
    assert_int_equal(pythia_vocabulary_create(&f.vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_prices_create(f.vocabulary, &f.prices), PYTHIA_OK);
    assert_int_equal(pythia_open_points_create(f.vocabulary, &f.pinned), PYTHIA_OK);
    f.a = make_point("s:a", 1000);
    f.b = make_point("s:b", 3000);
    f.plane = make_point("s:plane", 0);
    f.unknown = make_point("s:unknown", 0);
    f.fixed = make_point("s:fixed", 1000);
    assert_int_equal(pythia_prices_set(f.prices, PYTHIA_TEXT("s:plane"), 10000), PYTHIA_OK);
    const struct pythia_breaker_options o = {.limit_ns = limit_ns,
                                             .hold_ns = hold_ns,
                                             .prices = f.prices,
                                             .is_switchable = is_switchable,
                                             .is_entry = is_entry,
                                             .context = &f};
    assert_int_equal(pythia_breaker_create(f.vocabulary, &o, &f.breaker), PYTHIA_OK);
    f.now_ns = 100 * SECOND;
}

static void finish(void)
{
    pythia_breaker_destroy(f.breaker);
    pythia_open_points_destroy(f.pinned);
    pythia_prices_destroy(f.prices);
    pythia_vocabulary_destroy(f.vocabulary);
}

/* Spans of a program that end from `at_ns` after BEGIN on, within 100 ms. */
static void arrive(uint32_t point, uint32_t program, uint64_t at_ns, int count)
{
    for (int i = 0; i < count; i++) {
        const struct pythia_span span = {.id = 1,
                                         .parent = 2,
                                         .start_ns = BEGIN + at_ns,
                                         .duration_ns = (int64_t)(100 * MS) * i / count,
                                         .tracepoint = point,
                                         .resource = program};
        assert_int_equal(pythia_breaker_add(f.breaker, &span), PYTHIA_OK);
    }
}

static size_t look(const struct pythia_breaker_event **events)
{
    size_t count;
    assert_int_equal(pythia_breaker_look(f.breaker, f.now_ns, events, &count), PYTHIA_OK);
    return count;
}

static void a_point_above_the_limit_trips_at_the_next_look(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0); /* 300 hits of a, 100 of b */
    arrive(f.a, 1, 0, 300);
    arrive(f.b, 1, 0, 100);
    assert_int_equal(look(&events), 0); /* at the limit */
    arrive(f.b, 1, 200 * MS, 1);
    f.now_ns += 100 * MS;
    assert_int_equal(look(&events), 1);
    assert_int_equal(events[0].what, PYTHIA_BREAKER_TRIPPED);
    assert_int_equal(events[0].tracepoint, f.b);
    assert_int_equal(events[0].resource, 1);
    assert_rel_equal(events[0].cost_ns, 101 * 3000, 1e-12);
    assert_rel_equal(events[0].price_ns, 3000, 1e-12);
    arrive(f.b, 1, 300 * MS, 1000); /* under way */
    assert_int_equal(look(&events), 0);
    struct pythia_breaker_numbers n = pythia_breaker_numbers(f.breaker);
    assert_int_equal(n.tripped, 1);
    assert_int_equal(n.trips, 1);
    finish();
}

/* 250 us in each second: a sender that delivers 5 s at once must not seem to be five times as
 * expensive. */
static void a_batch_is_counted_by_the_seconds_in_it(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0);
    for (uint64_t second = 0; second < 5; second++)
        arrive(f.a, 1, second * SECOND, 250);
    assert_int_equal(look(&events), 0);
    for (uint64_t second = 5; second < 10; second++)
        arrive(f.a, 1, second * SECOND, second == 7 ? 301 : 250);
    assert_int_equal(look(&events), 1);
    assert_rel_equal(events[0].cost_ns, 301000, 1e-12);
    finish();
}

static void programs_are_counted_apart(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0);
    for (uint32_t program = 1; program <= 1000; program++) /* the tables grow meanwhile */
        arrive(f.a, program, 0, 2);
    for (uint32_t program = 1; program <= 5; program++)
        arrive(f.a, program, 0, 298);
    assert_int_equal(look(&events), 0);
    arrive(f.a, 3, 0, 1);
    assert_int_equal(look(&events), 1);
    assert_int_equal(events[0].resource, 3);
    finish();
}

static void only_measured_prices_count(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0);
    arrive(f.unknown, 1, 0, 10000);
    arrive(f.plane, 1, 0, 31);
    assert_int_equal(look(&events), 1);
    assert_int_equal(events[0].tracepoint, f.plane);
    assert_rel_equal(events[0].cost_ns, 310000, 1e-12);
    finish();
}

static void what_cannot_be_switched_does_not_trip(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0);
    arrive(f.fixed, 1, 0, 10000);
    assert_int_equal(look(&events), 0);
    finish();
}

static void entries_and_pins_are_kept_and_reported_once(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0);
    const struct pythia_span server = {
        .id = 1, .parent = 2, .start_ns = BEGIN, .tracepoint = f.a, .kind = PYTHIA_SPAN_SERVER};
    for (int i = 0; i < 301; i++)
        assert_int_equal(pythia_breaker_add(f.breaker, &server), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id(f.pinned, PYTHIA_TEXT("s:b")), PYTHIA_OK);
    pythia_breaker_set_pinned(f.breaker, f.pinned);
    arrive(f.b, 1, 0, 101);
    assert_int_equal(look(&events), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(events[i].what, PYTHIA_BREAKER_KEPT);
    arrive(f.b, 1, 0, 1);
    assert_int_equal(look(&events), 0);
    assert_int_equal(pythia_breaker_numbers(f.breaker).trips, 0);
    finish();
}

/* Spans of OSProfiler do not say that they are of servers. */
static void what_the_search_keeps_open_does_not_trip(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0);
    f.entry = f.b;
    arrive(f.a, 1, 0, 301);
    arrive(f.b, 1, 0, 101);
    assert_int_equal(look(&events), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(events[i].what, events[i].tracepoint == f.b ? PYTHIA_BREAKER_KEPT
                                                                     : PYTHIA_BREAKER_TRIPPED);
    assert_int_equal(pythia_breaker_numbers(f.breaker).tripped, 1);
    finish();
}

static void a_tripped_point_is_held_for_a_time(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 10 * SECOND);
    arrive(f.a, 1, 0, 301);
    assert_int_equal(look(&events), 1);
    f.now_ns += 10 * SECOND - 1;
    assert_int_equal(look(&events), 0);
    f.now_ns += 1;
    assert_int_equal(look(&events), 1);
    assert_int_equal(events[0].what, PYTHIA_BREAKER_RELEASED);
    assert_int_equal(events[0].tracepoint, f.a);
    arrive(f.a, 1, 0, 1); /* the second that tripped it does not count again */
    assert_int_equal(look(&events), 0);
    arrive(f.a, 1, 12 * SECOND, 301);
    assert_int_equal(look(&events), 1);
    assert_int_equal(pythia_breaker_numbers(f.breaker).trips, 2);
    finish();
}

static int list_tripped(void *context, const struct pythia_breaker_event *e)
{
    assert_true(e->tracepoint == f.a || e->tracepoint == f.b);
    ++*(int *)context;
    return 0;
}

static void without_a_hold_time_only_a_pin_or_no_limit_releases(void **state)
{
    const struct pythia_breaker_event *events;
    int listed = 0;
    begin(300000, 0);
    arrive(f.a, 1, 0, 301);
    arrive(f.b, 1, 0, 101);
    assert_int_equal(look(&events), 2);
    assert_int_equal(pythia_breaker_each(f.breaker, list_tripped, &listed), 0);
    assert_int_equal(listed, 2);
    f.now_ns += 1000000 * SECOND;
    assert_int_equal(look(&events), 0);
    assert_int_equal(pythia_open_points_add_id(f.pinned, PYTHIA_TEXT("s:b")), PYTHIA_OK);
    pythia_breaker_set_pinned(f.breaker, f.pinned);
    assert_int_equal(look(&events), 1);
    assert_int_equal(events[0].what, PYTHIA_BREAKER_RELEASED);
    assert_int_equal(events[0].tracepoint, f.b);
    pythia_breaker_set_limit(f.breaker, 0);
    assert_int_equal(look(&events), 1);
    assert_int_equal(events[0].tracepoint, f.a);
    assert_int_equal(pythia_breaker_numbers(f.breaker).tripped, 0);
    arrive(f.a, 1, 0, 1000); /* and nothing is counted without a limit */
    assert_int_equal(look(&events), 0);
    finish();
}

static void more_programs_than_are_counted_are_no_error(void **state)
{
    const struct pythia_breaker_event *events;
    begin(300000, 0);
    for (uint32_t program = 0; program < 70000; program++)
        arrive(f.a, program, 0, 1);
    assert_int_equal(look(&events), 0);
    arrive(f.a, 69999, 0, 300);
    assert_int_equal(look(&events), 1);
    finish();
}

static void failed_allocations_lose_nothing_that_was_tripped(void **state)
{
    const struct pythia_breaker_event *events;
    size_t count, seen = 0;
    begin(300000, 0);
    struct pythia_span span = {.id = 1, .parent = 2, .start_ns = BEGIN, .tracepoint = f.a};
    long allowed = 0;
    for (int i = 0; i < 301; i++) {
        pythia_mem_fail_after(allowed);
        int status = pythia_breaker_add(f.breaker, &span);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            continue;
        assert_int_equal(status, PYTHIA_ENOMEM);
        allowed++;
        i--;
    }
    assert_true(allowed > 0);
    for (allowed = 0; seen == 0; allowed++) {
        assert_true(allowed < 10);
        pythia_mem_fail_after(allowed);
        int status = pythia_breaker_look(f.breaker, f.now_ns, &events, &count);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        seen = count;
    }
    assert_true(allowed > 1);
    assert_int_equal(pythia_breaker_numbers(f.breaker).tripped, 1);
    finish();
    assert_int_equal(pythia_vocabulary_create(&f.vocabulary), PYTHIA_OK);
    f.breaker = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(
        pythia_breaker_create(f.vocabulary, &(struct pythia_breaker_options){0}, &f.breaker),
        PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(f.breaker);
    pythia_breaker_destroy(NULL);
    pythia_vocabulary_destroy(f.vocabulary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_above_the_limit_trips_at_the_next_look),
        cmocka_unit_test(a_batch_is_counted_by_the_seconds_in_it),
        cmocka_unit_test(programs_are_counted_apart),
        cmocka_unit_test(only_measured_prices_count),
        cmocka_unit_test(what_cannot_be_switched_does_not_trip),
        cmocka_unit_test(entries_and_pins_are_kept_and_reported_once),
        cmocka_unit_test(what_the_search_keeps_open_does_not_trip),
        cmocka_unit_test(a_tripped_point_is_held_for_a_time),
        cmocka_unit_test(without_a_hold_time_only_a_pin_or_no_limit_releases),
        cmocka_unit_test(more_programs_than_are_counted_are_no_error),
        cmocka_unit_test(failed_allocations_lose_nothing_that_was_tripped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
