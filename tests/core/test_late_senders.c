/* Services whose exporters send in batches, as the SDKs of OpenTelemetry do: each flushes what
 * ended since its last flush, at times of its own. Time is simulated, in steps of 10 ms. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "input/lateness.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/window.h"

#define MS       UINT64_C(1000000)
#define STEP_MS  10
#define EPOCH    UINT64_C(1700000000000000000)
#define SERVICES 3
#define QUEUE    20000

struct sender {
    uint32_t resource;
    uint64_t every_ms, next_ms; /* flushes */
    int64_t skew_ns;
    struct {
        struct pythia_trace_id trace;
        struct pythia_span span;
        uint64_t end_ns;
    } queue[QUEUE];
    size_t count;
};

struct system {
    struct pythia_vocabulary *vocabulary;
    struct pythia_counts counts;
    struct pythia_window *window;
    struct sender senders[SERVICES];
    uint32_t points[SERVICES];
    uint64_t now_ms, requests;
    bool twice;                          /* front calls cart once more, after the first call */
    uint64_t whole, lacking, incomplete; /* requests that were finished; lacking a service */
    uint64_t longest_ms;                 /* from the end of a request until it was finished */
};

static int take(void *context, const struct pythia_trace *trace)
{
    struct system *s = context;
    uint32_t expected = SERVICES + (s->twice ? 1 : 0);
    uint64_t took_ms = s->now_ms - (trace->id.low * 50 + 100);
    s->incomplete += trace->incomplete;
    s->whole += !trace->incomplete && trace->count == expected;
    s->lacking += !trace->incomplete && trace->count < expected;
    s->longest_ms = took_ms > s->longest_ms ? took_ms : s->longest_ms;
    return 0;
}

static uint32_t intern(struct system *s, const char *text)
{
    uint32_t id = pythia_vocabulary_string(s->vocabulary, pythia_text_of(text));
    assert_int_not_equal(id, PYTHIA_NONE);
    return id;
}

/* The services flush every so many ms; what they are off by in time is their number of hours. */
static struct system *begin(const uint64_t every_ms[SERVICES], const int64_t skew_hours[SERVICES],
                            uint64_t wait_max_ms)
{
    static const char *const names[SERVICES] = {"front", "cart", "pricing"};
    struct system *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    assert_int_equal(pythia_vocabulary_create(&s->vocabulary), PYTHIA_OK);
    const struct pythia_window_options options = {.wait_max_ns = wait_max_ms * MS};
    assert_int_equal(pythia_window_create(s->vocabulary, &options,
                                          (struct pythia_trace_taker){take, s}, &s->counts,
                                          &s->window),
                     PYTHIA_OK);
    for (int i = 0; i < SERVICES; i++) {
        struct pythia_resource resource = {.service = intern(s, names[i]),
                                           .instance = intern(s, "1")};
        s->senders[i].resource = pythia_vocabulary_resource(s->vocabulary, &resource);
        s->senders[i].every_ms = every_ms[i];
        s->senders[i].next_ms = 1700 + (uint64_t)i * 2300; /* phases differ */
        s->senders[i].skew_ns = skew_hours ? skew_hours[i] * 3600000 * (int64_t)MS : 0;
        s->points[i] =
            pythia_vocabulary_tracepoint(s->vocabulary, resource.service, 0, intern(s, "GET"));
    }
    return s;
}

static void end(struct system *s)
{
    pythia_window_destroy(s->window);
    pythia_vocabulary_destroy(s->vocabulary);
    free(s);
}

static void call(struct system *s, int service, uint64_t id, uint64_t parent, uint64_t from_ms,
                 uint64_t to_ms)
{
    struct sender *to = &s->senders[service];
    uint64_t begun_ns = EPOCH + s->now_ms * MS;
    struct pythia_trace_id trace = {7, s->now_ms / 50};
    assert_true(to->count < QUEUE);
    to->queue[to->count].trace = trace;
    to->queue[to->count].end_ns = begun_ns + to_ms * MS;
    to->queue[to->count++].span =
        (struct pythia_span){.id = trace.low * 8 + id,
                             .parent = parent ? trace.low * 8 + parent : 0,
                             .start_ns = begun_ns + from_ms * MS + (uint64_t)to->skew_ns,
                             .duration_ns = (int64_t)((to_ms - from_ms) * MS),
                             .tracepoint = s->points[service],
                             .resource = to->resource,
                             .kind = PYTHIA_SPAN_SERVER};
}

/* A request of 100 ms that begins now: front calls cart, which calls pricing. */
static void request(struct system *s)
{
    call(s, 0, 1, 0, 0, 100);
    call(s, 1, 2, 1, 10, s->twice ? 40 : 90);
    call(s, 2, 3, 2, 20, s->twice ? 30 : 80);
    if (s->twice)
        call(s, 1, 4, 1, 50, 90);
    s->requests++;
}

/* Send what has ended. */
static void flush(struct system *s, struct sender *from)
{
    size_t left = 0;
    for (size_t i = 0; i < from->count; i++)
        if (from->queue[i].end_ns <= EPOCH + s->now_ms * MS)
            assert_int_equal(pythia_window_add(s->window, &from->queue[i].trace,
                                               &from->queue[i].span, s->now_ms * MS),
                             PYTHIA_OK);
        else
            from->queue[left++] = from->queue[i];
    from->count = left;
}

/* Twenty requests a second until that time. */
static void run(struct system *s, uint64_t until_ms)
{
    for (; s->now_ms < until_ms; s->now_ms += STEP_MS) {
        if (s->now_ms % 50 == 0)
            request(s);
        for (int i = 0; i < SERVICES; i++)
            if (s->now_ms >= s->senders[i].next_ms) {
                flush(s, &s->senders[i]);
                s->senders[i].next_ms = s->now_ms + s->senders[i].every_ms;
            }
        if (s->now_ms % 100 == 0)
            assert_int_equal(pythia_window_tick(s->window, s->now_ms * MS), PYTHIA_OK);
    }
}

static void batches_of_any_period_make_no_span_late(void **state)
{
    static const uint64_t periods[][SERVICES] = {
        {5000, 5000, 5000}, {5000, 200, 5000}, {10, 5000, 1000}, {200, 200, 200}, {10000, 5000, 10},
    };
    for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
        struct system *s = begin(periods[i], NULL, 15000);
        run(s, 120000);
        print_message("%llu late of %llu spans, %llu of %llu requests lack a service\n",
                      (unsigned long long)s->counts.dropped[PYTHIA_DROP_LATE],
                      (unsigned long long)s->counts.spans, (unsigned long long)s->lacking,
                      (unsigned long long)s->requests);
        assert_true(s->counts.dropped[PYTHIA_DROP_LATE] <= s->counts.spans / 200);
        assert_true(s->lacking <= s->requests / 200);
        assert_int_equal(s->incomplete, 0);
        assert_true(s->whole > s->requests * 4 / 5); /* the others are still open */
        end(s);
    }
}

/* Without a longest wait every request waits for quiet_ns. */
static void without_waiting_for_senders_spans_are_late(void **state)
{
    struct system *s = begin((const uint64_t[]){5000, 5000, 5000}, NULL, 0);
    run(s, 120000);
    assert_true(s->counts.dropped[PYTHIA_DROP_LATE] > s->counts.spans / 20);
    end(s);
}

static void clocks_that_are_hours_off_change_nothing(void **state)
{
    struct system *s =
        begin((const uint64_t[]){5000, 5000, 5000}, (const int64_t[]){0, -1, 30}, 15000);
    run(s, 120000);
    assert_true(s->counts.dropped[PYTHIA_DROP_LATE] <= s->counts.spans / 200);
    assert_true(s->lacking <= s->requests / 200);
    end(s);
}

static void prompt_senders_are_not_waited_for(void **state)
{
    struct system *s = begin((const uint64_t[]){100, 100, 100}, NULL, 15000);
    run(s, 30000);
    s->longest_ms = 0;
    run(s, 60000);
    assert_true(s->longest_ms < 3000); /* quiet_ns and the period of flushes */
    end(s);
}

/* pricing sends nothing for a minute: what lacks it waits as long as it may, and counts for nothing
 * then. */
static void a_service_that_stalls_makes_requests_incomplete_and_not_different(void **state)
{
    struct system *s = begin((const uint64_t[]){5000, 5000, 5000}, NULL, 15000);
    run(s, 60000);
    s->senders[2].next_ms = 120000;
    run(s, 180000);
    assert_int_equal(s->lacking, 0);
    assert_true(s->incomplete > 30 * 20 && s->incomplete < 62 * 20);
    assert_int_equal(s->counts.incomplete[PYTHIA_INCOMPLETE_SENDER], s->incomplete);
    /* spans of before the end of the stall come after 15 s at most, and are waited with as long */
    assert_true(s->longest_ms <= 5000 + 2 * 15000 + 200);
    end(s);
}

/* A batch of cart ends between its two calls, and the next one comes 7 s late. */
static void stall_within_a_request(struct system *s)
{
    run(s, s->now_ms + 60000);
    while (s->senders[1].next_ms > s->now_ms)
        run(s, s->now_ms + STEP_MS);
    run(s, s->now_ms + STEP_MS); /* it sends */
    s->senders[1].next_ms += 7000;
    run(s, s->now_ms + 60000);
}

/* Of the first requests a few have one call only, as a program was starting. */
static void what_the_first_requests_had_does_not_count_for_long(void **state)
{
    struct system *s = begin((const uint64_t[]){5000, 5000, 5000}, NULL, 15000);
    run(s, 200);
    s->twice = true;
    stall_within_a_request(s);
    assert_int_equal(s->lacking, 4); /* those that had one call */
    assert_int_equal(s->counts.dropped[PYTHIA_DROP_LATE], 0);
    end(s);
}

static void a_service_that_stalls_within_a_request_makes_it_no_other(void **state)
{
    struct system *s = begin((const uint64_t[]){5000, 5000, 5000}, NULL, 15000);
    s->twice = true;
    stall_within_a_request(s);
    assert_int_equal(s->lacking, 0);
    assert_int_equal(s->counts.dropped[PYTHIA_DROP_LATE], 0);
    assert_int_equal(s->incomplete, 0);
    /* From then on every second request has one call: that is how requests are now. */
    for (; s->now_ms < 240000; s->twice = !s->twice)
        run(s, s->now_ms + 50);
    s->longest_ms = 0;
    run(s, 260000);
    assert_true(s->longest_ms < 11000); /* a batch, and as long again until it is certain */
    end(s);
}

/* Its batches are of 30 s: no request with it can be waited for. */
static void a_service_that_is_later_than_any_wait_makes_requests_incomplete(void **state)
{
    struct system *s = begin((const uint64_t[]){5000, 5000, 30000}, NULL, 15000);
    run(s, 300000);
    uint64_t lacking = s->lacking, incomplete = s->incomplete;
    run(s, 600000);
    assert_int_equal(s->lacking, lacking);
    assert_true(s->incomplete > incomplete + 1000);
    end(s);
}

static void a_service_that_is_gone_is_forgotten(void **state)
{
    struct system *s = begin((const uint64_t[]){5000, 5000, 5000}, NULL, 15000);
    run(s, 60000);
    s->senders[2].next_ms = UINT64_MAX;
    run(s, 200000);
    uint64_t lacking = s->lacking;
    run(s, 260000);
    assert_true(s->lacking > lacking + 50 * 20); /* that is how requests are now */
    end(s);
}

/* ---- the senders themselves ---- */

static uint32_t resource_of(struct pythia_vocabulary *vocabulary, uint32_t instance)
{
    struct pythia_resource resource = {
        .service = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("shop")),
        .attributes = {(const char *)&instance, sizeof(instance)}};
    return pythia_vocabulary_resource(vocabulary, &resource);
}

/* Resource 1 is in the vocabulary. */
static struct pythia__lateness *make(struct pythia_vocabulary *vocabulary)
{
    assert_int_equal(resource_of(vocabulary, 1), 1);
    struct pythia__lateness *l = NULL;
    const struct pythia__lateness_options options = {.least_ns = 2000 * MS, .most_ns = 15000 * MS};
    assert_int_equal(pythia__lateness_create(vocabulary, &options, &l), PYTHIA_OK);
    return l;
}

/* A span that ended `lag_ms` before it arrives at `now_ms`. */
static void arrive(struct pythia__lateness *l, uint32_t resource, uint64_t now_ms, uint64_t lag_ms)
{
    const struct pythia_span span = {
        .id = 1, .start_ns = EPOCH + (now_ms - lag_ms) * MS, .resource = resource};
    assert_int_equal(pythia__lateness_arrived(l, &span, now_ms * MS), PYTHIA_OK);
}

/* Spans with lags from 0 to `most_ms`, ten a second. */
static void arrive_until(struct pythia__lateness *l, uint64_t from_ms, uint64_t to_ms,
                         uint64_t most_ms)
{
    for (uint64_t now = from_ms; now < to_ms; now += 100)
        arrive(l, 1, now, now * 7919 % (most_ms + 1));
}

static void what_a_sender_was_late_by_is_forgotten(void **state)
{
    struct pythia_vocabulary *vocabulary;
    assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
    struct pythia__lateness *l = make(vocabulary);
    assert_int_equal(pythia__lateness_longest(l, 20000 * MS), 6000 * MS);
    arrive_until(l, 20000, 80000, 5000);
    uint64_t wait = pythia__lateness_longest(l, 80000 * MS);
    assert_in_range(wait, 5000 * MS, 6700 * MS); /* a bucket of 13 %, and half a second */
    arrive_until(l, 80000, 140000, 10000);
    assert_in_range(pythia__lateness_longest(l, 140000 * MS), 10000 * MS, 12000 * MS);
    arrive_until(l, 140000, 330000, 100);
    assert_int_equal(pythia__lateness_longest(l, 330000 * MS), 2000 * MS);
    pythia__lateness_destroy(l);
    pythia_vocabulary_destroy(vocabulary);
}

/* By an hour, either way: the wait is that of before again after two spans of memory. */
static void a_clock_that_is_set_is_followed(void **state)
{
    const uint64_t hour = 3600000, begin_ms = 2 * hour;
    for (int back = 0; back < 2; back++) {
        struct pythia_vocabulary *vocabulary;
        assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
        struct pythia__lateness *l = make(vocabulary);
        for (uint64_t now = begin_ms; now < begin_ms + 300000; now += 100) {
            bool is_set = now > begin_ms + 100000;
            arrive(l, 1, now, now % 1000 + (is_set == !back ? hour : 0));
        }
        assert_int_equal(pythia__lateness_longest(l, (begin_ms + 300000) * MS), 2000 * MS);
        pythia__lateness_destroy(l);
        pythia_vocabulary_destroy(vocabulary);
    }
}

static void memory_is_bounded_whatever_the_number_of_senders(void **state)
{
    struct pythia_vocabulary *vocabulary;
    assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
    struct pythia__lateness *l = make(vocabulary);
    for (uint32_t resource = 0; resource < 65536; resource++)
        arrive(l, resource_of(vocabulary, resource), 10000 + resource * 10, 3);
    assert_true(pythia__lateness_bytes(l) < 10 << 20);
    pythia__lateness_destroy(l);
    pythia_vocabulary_destroy(vocabulary);
}

static void a_failed_allocation_is_reported(void **state)
{
    struct pythia_vocabulary *vocabulary;
    assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
    struct pythia__lateness *l = make(vocabulary);
    const struct pythia_span span = {.id = 1, .start_ns = EPOCH, .resource = 1};
    for (long n = 0; n < 3; n++) {
        pythia_mem_fail_after(n);
        int status = pythia__lateness_arrived(l, &span, EPOCH);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_ENOMEM || status == PYTHIA_OK);
    }
    assert_int_equal(pythia__lateness_arrived(l, &span, EPOCH), PYTHIA_OK);
    pythia__lateness_destroy(l);
    pythia_vocabulary_destroy(vocabulary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_any_period_make_no_span_late),
        cmocka_unit_test(without_waiting_for_senders_spans_are_late),
        cmocka_unit_test(clocks_that_are_hours_off_change_nothing),
        cmocka_unit_test(prompt_senders_are_not_waited_for),
        cmocka_unit_test(a_service_that_stalls_makes_requests_incomplete_and_not_different),
        cmocka_unit_test(what_the_first_requests_had_does_not_count_for_long),
        cmocka_unit_test(a_service_that_stalls_within_a_request_makes_it_no_other),
        cmocka_unit_test(a_service_that_is_later_than_any_wait_makes_requests_incomplete),
        cmocka_unit_test(a_service_that_is_gone_is_forgotten),
        cmocka_unit_test(what_a_sender_was_late_by_is_forgotten),
        cmocka_unit_test(a_clock_that_is_set_is_followed),
        cmocka_unit_test(memory_is_bounded_whatever_the_number_of_senders),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
