/* Senders whose clocks are an hour off: when their requests began follows from when the spans
 * arrive and from how long they took. */
#include "stream.h"

#define SECOND UINT64_C(1000)
#define HOUR   (3600 * SECOND)

static const struct pythia_live_options usual = {
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
};

#define STEADY "A{10 B{20} 10}" /* 40 ms */

/* The space is learnt, and what it wants open has been in force for three hours. */
static void begin(struct stream *s)
{
    stream_begin(s);
    stream_attach(s, NULL, &usual);
    for (int i = 0; i < 10; i++)
        stream_request(s, STEADY);
    stream_wait(s, 20 * SECOND);
    assert_int_equal(pythia_live_wish(s->live), 1);
    stream_applied(s);
    for (int i = 0; i < 40; i++)
        stream_request(s, STEADY);
    stream_wait(s, 3 * HOUR);
    assert_int_equal(s->cycles, 2); /* that of learning is the first */
    pythia_live_set_clock(s->live, STREAM_EPOCH + s->now_ms * MS, s->now_ms * MS);
}

static void send(struct stream *s, int count)
{
    for (int i = 0; i < count; i++)
        stream_request(s, STEADY);
}

/* They do not seem to have begun before the switch until none can have any more, but only as long
 * as spans may be on their way: 2 s here. */
static void requests_by_a_clock_that_is_behind_count_soon_after_a_switch(void **state)
{
    struct stream s;
    begin(&s);
    stream_applied(&s);
    uint64_t apart = pythia_live_numbers(s.live).under_way, from_ms = s.now_ms;
    s.skew_ms = HOUR;
    send(&s, 1);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 1);
    send(&s, 60); /* the cycle ends with the 40th */
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 1);
    assert_int_equal(s.cycles, 3);
    assert_int_equal(s.seen[2].requests, 40);
    assert_in_range(s.seen[2].begin_ms, from_ms, s.now_ms); /* by our own clock */
    assert_in_range(s.seen[2].end_ms, from_ms, s.now_ms);
    stream_end(&s);
}

static void requests_by_a_clock_that_is_ahead_count_only_if_they_began_after_a_switch(void **state)
{
    struct stream s;
    begin(&s);
    uint64_t before_ms = s.now_ms, apart = pythia_live_numbers(s.live).under_way;
    s.skew_ms = 0 - HOUR;
    stream_wait(&s, 20);
    stream_applied(&s);
    stream_write(&s, before_ms, STEADY);
    stream_wait(&s, 20);
    stream_send(&s);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 1);
    send(&s, 40);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 1);
    assert_int_equal(s.cycles, 3);
    assert_in_range(s.seen[2].end_ms, before_ms, s.now_ms);
    stream_end(&s);
}

/* Requests that are not whole and began after the last one of the cycle do not hold it up, whatever
 * their clocks show. */
static void a_cycle_does_not_wait_for_what_began_after_it(void **state)
{
    static const uint64_t skews_ms[] = {0, HOUR, 0 - HOUR};
    for (size_t i = 0; i < 3; i++) {
        struct stream s;
        begin(&s);
        stream_applied(&s);
        stream_wait(&s, 3 * SECOND);
        send(&s, 40);
        s.skew_ms = skews_ms[i];
        for (int k = 0; k < 30; k++) {
            struct pythia_trace_id id = {6, (uint64_t)k + 1};
            struct pythia_span span = {.id = 2,
                                       .parent = 1, /* never comes */
                                       .start_ns = STREAM_EPOCH + (s.now_ms - s.skew_ms) * MS,
                                       .duration_ns = 0};
            span.tracepoint = pythia_vocabulary_tracepoint_find(s.vocabulary, PYTHIA_TEXT("B"));
            stream_wait(&s, 100);
            assert_int_equal(pythia_span_batch_add(s.batch, &id, &span), PYTHIA_OK);
            stream_send(&s);
        }
        assert_int_equal(s.cycles, 3); /* 3 s later */
        assert_int_equal(s.seen[2].requests, 40);
        stream_end(&s);
    }
}

/* A clock that is off by less than spans may be late is believed. */
static void a_clock_that_is_off_by_seconds_is_believed(void **state)
{
    struct stream s;
    begin(&s);
    stream_applied(&s);
    uint64_t apart = pythia_live_numbers(s.live).under_way;
    s.skew_ms = 10 * SECOND;
    send(&s, 1);
    stream_wait(&s, 5 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 1);
    stream_wait(&s, 6 * SECOND);
    send(&s, 40);
    stream_wait(&s, 5 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 1);
    assert_int_equal(s.cycles, 3);
    stream_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_by_a_clock_that_is_behind_count_soon_after_a_switch),
        cmocka_unit_test(requests_by_a_clock_that_is_ahead_count_only_if_they_began_after_a_switch),
        cmocka_unit_test(a_cycle_does_not_wait_for_what_began_after_it),
        cmocka_unit_test(a_clock_that_is_off_by_seconds_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
