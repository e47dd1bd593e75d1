/* What tracing costs, and what is dropped for it: of requests whose spans and prices are known. */
#include "check.h"
#include "pythia/mem.h"
#include "pythia/overhead.h"
#include "pythia/status.h"

#define SECOND UINT64_C(1000000000)
#define US     UINT64_C(1000)
#define NAMES  6

/* Each request: "root" of 100 us and something, in it "a" to "e" one after the other. */
static struct fixture {
    struct pythia_vocabulary *vocabulary;
    struct pythia_overhead *overhead;
    uint32_t points[NAMES], type;
    uint64_t now_ns, requests;
} f;

static void begin(double limit)
{
    static const char *const ids[NAMES] = {"s:root", "s:a", "s:b", "s:c", "s:d", "s:e"};
    assert_int_equal(pythia_vocabulary_create(&f.vocabulary), PYTHIA_OK);
    f.type = pythia_vocabulary_string(f.vocabulary, PYTHIA_TEXT("type"));
    for (int i = 0; i < NAMES; i++) {
        f.points[i] =
            pythia_vocabulary_tracepoint_of_id(f.vocabulary, pythia_text_of(ids[i]), 0, 0);
        assert_int_equal(pythia_vocabulary_cost_expect(f.vocabulary, f.points[i]), PYTHIA_OK);
        for (int k = 0; k < 1000; k++) /* each pass costs 1 us */
            assert_int_equal(pythia_vocabulary_cost_add(f.vocabulary, f.points[i], 1000),
                             PYTHIA_OK);
    }
    const struct pythia_overhead_options o = {.limit = limit, .usual_ns = 1e9};
    assert_int_equal(pythia_overhead_create(f.vocabulary, &o, &f.overhead), PYTHIA_OK);
    f.now_ns = SECOND;
    f.requests = 0;
}

static void finish(void)
{
    pythia_overhead_destroy(f.overhead);
    pythia_vocabulary_destroy(f.vocabulary);
}

/* Requests in which all points of `open` are passed once: 5 * 10 us, and what "b" takes longer in
 * every other request. */
static void request(unsigned open)
{
    struct pythia_trace_span spans[NAMES] = {{0}};
    uint64_t at = 1000 * SECOND, longer = f.requests++ % 2 ? 50 * US : 0;
    uint32_t count = 1;
    for (unsigned i = 1; i < NAMES; i++) {
        uint64_t took = 10 * US + (i == 2 ? longer : 0);
        if (open & 1U << i)
            spans[count++] = (struct pythia_trace_span){
                .id = i + 1, .start_ns = at, .end_ns = at + took, .tracepoint = f.points[i]};
        at += took;
    }
    spans[0] = (struct pythia_trace_span){.id = 1,
                                          .start_ns = 1000 * SECOND,
                                          .end_ns = 1000 * SECOND + 100 * US + longer,
                                          .parent = PYTHIA_NO_SPAN,
                                          .tracepoint = f.points[0]};
    const struct pythia_trace trace = {.spans = spans,
                                       .count = count,
                                       .start_ns = spans[0].start_ns,
                                       .end_ns = spans[0].end_ns,
                                       .completed_ns = spans[0].end_ns};
    assert_int_equal(pythia_overhead_add(f.overhead, f.type, &trace), PYTHIA_OK);
}

static size_t look(const struct pythia_switch **switches)
{
    size_t count;
    assert_int_equal(pythia_overhead_look(f.overhead, f.now_ns, switches, &count), PYTHIA_OK);
    return count;
}

/* A second of requests with these points open, then a look. */
static size_t run(unsigned open, const struct pythia_switch **switches)
{
    for (int i = 0; i < 100; i++)
        request(open);
    f.now_ns += SECOND;
    return look(switches);
}

#define ALL 0x3f

static void what_is_measured_is_spans_by_their_prices(void **state)
{
    const struct pythia_switch *switches;
    begin(0);
    assert_rel_equal(pythia_overhead_numbers(f.overhead).share, NAN, 0); /* nothing came yet */
    assert_int_equal(run(ALL, &switches), 0);
    struct pythia_overhead_numbers n = pythia_overhead_numbers(f.overhead);
    assert_rel_equal(n.share, 6.0 / 125, 1e-12); /* 6 us of 100 or 150 */
    assert_rel_equal(n.cost_ns, 6000, 1e-12);
    assert_rel_equal(pythia_overhead_request_ns(f.overhead), 125000, 1e-12);
    run(0x1, &switches);
    run(0x1, &switches); /* the first second is forgotten */
    assert_rel_equal(pythia_overhead_numbers(f.overhead).share, 1.0 / 125, 1e-12);
    finish();
}

static void what_shows_least_for_its_cost_is_dropped_until_the_rest_fits(void **state)
{
    const struct pythia_switch *switches;
    begin(.03); /* 3.75 us of 125; to nine tenths of it, so that three points stay */
    size_t count = run(ALL, &switches);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) { /* all that differs lies in b, and s:root has to stay */
        assert_false(switches[i].open);
        assert_int_not_equal(switches[i].tracepoint, f.points[0]);
        assert_int_not_equal(switches[i].tracepoint, f.points[2]);
        assert_rel_equal(switches[i].price_ns, 1000, 1e-12);
        assert_rel_equal(switches[i].cost_ns, 1000, 1e-9);
    }
    assert_int_equal(switches[0].tracepoint, f.points[1]); /* the same worth: by name */
    assert_string_equal(
        switches[0].reason,
        "tracing took 4.8 % of the time of requests, above the limit of 3 %: this point cost 0.8 "
        "% and accounted for 0 % of the variance");
    /* Spans of what was dropped may come for a while: nothing more is dropped for that. */
    assert_int_equal(run(ALL, &switches), 0);
    assert_int_equal(run(0x25, &switches), 0);
    assert_int_equal(run(0x25, &switches), 0);
    assert_rel_equal(pythia_overhead_numbers(f.overhead).share, 3.0 / 125, 1e-12);
    assert_int_equal(pythia_overhead_numbers(f.overhead).dropped, 3);
    finish();
}

static int take_reason(void *context, const struct pythia_overhead_dropped *d)
{
    *(double *)context += d->share;
    assert_non_null(d->reason);
    assert_int_not_equal(d->tracepoint, f.points[0]); /* the entry of requests */
    return 0;
}

static void entries_are_never_dropped(void **state)
{
    const struct pythia_switch *switches;
    double share = 0;
    begin(.001);
    assert_int_equal(run(ALL, &switches), 5);
    assert_true(pythia_overhead_numbers(f.overhead).beyond);
    assert_int_equal(pythia_overhead_each(f.overhead, take_reason, &share), 0);
    assert_rel_equal(share, 5.0 / 125, 1e-9);
    assert_int_equal(run(0x1, &switches), 0);
    finish();
}

static void one_that_fits_again_comes_back_the_worthiest_first(void **state)
{
    const struct pythia_switch *switches;
    begin(.001);
    assert_int_equal(run(ALL, &switches), 5);
    pythia_overhead_set_limit(f.overhead, .001); /* the same: nothing is raised */
    for (int i = 0; i < 10; i++)
        assert_int_equal(run(0x1, &switches), 0);
    pythia_overhead_set_limit(f.overhead, .021); /* 2.6 us: root and b are .016, eight tenths */
    assert_int_equal(run(0x1, &switches), 1);
    assert_true(switches[0].open);
    assert_int_equal(switches[0].tracepoint, f.points[2]);
    for (int i = 0; i < 100; i++) /* minutes later another one would not fit */
        assert_int_equal(run(0x5, &switches), 0);
    pythia_overhead_set_limit(f.overhead, 0);
    assert_int_equal(run(0x5, &switches), 4);
    assert_int_equal(pythia_overhead_numbers(f.overhead).dropped, 0);
    finish();
}

/* Whatever they cost. What is left to drop is dropped, and that it does not do is told. */
static void what_is_pinned_open_is_never_dropped(void **state)
{
    const struct pythia_switch *switches;
    struct pythia_open_points *pinned = NULL;
    begin(.03);
    assert_int_equal(pythia_open_points_create(f.vocabulary, &pinned), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(pinned, PYTHIA_TEXT("s:[acde]")), PYTHIA_OK);
    pythia_overhead_set_kept(f.overhead, pinned, NULL);
    assert_int_equal(run(ALL, &switches), 1);
    assert_int_equal(switches[0].tracepoint, f.points[2]);
    assert_true(pythia_overhead_numbers(f.overhead).beyond);
    /* Pinned after it was dropped, it comes back at the next look. */
    assert_int_equal(pythia_open_points_add(pinned, PYTHIA_TEXT("s:b")), PYTHIA_OK);
    assert_int_equal(look(&switches), 1);
    assert_true(switches[0].open && switches[0].tracepoint == f.points[2]);
    assert_int_equal(run(ALL, &switches), 0);
    assert_true(pythia_overhead_numbers(f.overhead).beyond);
    pythia_overhead_set_kept(f.overhead, NULL, NULL);
    assert_int_equal(run(ALL, &switches), 3);
    pythia_open_points_destroy(pinned);
    finish();
}

static void a_minute_later_one_is_tried_again(void **state)
{
    const struct pythia_switch *switches;
    int seconds = 0;
    begin(.04); /* 5 us: one of 6 is dropped to be at 4.5 at most: two are */
    assert_int_equal(run(ALL, &switches), 2);
    uint32_t first = switches[0].tracepoint, second = switches[1].tracepoint;
    while (run(0x31, &switches) == 0) /* two of them, and root, are not used any more */
        assert_true(++seconds < 70);
    assert_true(seconds >= 58);
    assert_true(switches[0].open);
    assert_true(switches[0].tracepoint == first || switches[0].tracepoint == second);
    finish();
}

static void of_few_requests_nothing_is_concluded(void **state)
{
    const struct pythia_switch *switches;
    begin(.001);
    for (int i = 0; i < 9; i++)
        request(ALL);
    f.now_ns += 2 * SECOND;
    assert_int_equal(look(&switches), 0);
    request(ALL);
    assert_int_equal(look(&switches), 5);
    finish();
}

static void each_allocation_may_fail(void **state)
{
    const struct pythia_switch *switches;
    size_t count;
    begin(.03);
    for (int i = 0; i < 100; i++)
        request(ALL);
    f.now_ns += SECOND;
    int status = PYTHIA_ENOMEM;
    for (int n = 0; status != PYTHIA_OK; n++) {
        assert_true(n < 100);
        pythia_mem_fail_after(n);
        status = pythia_overhead_look(f.overhead, f.now_ns, &switches, &count);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
    }
    look(&switches);
    assert_int_equal(pythia_overhead_numbers(f.overhead).dropped, 3);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_measured_is_spans_by_their_prices),
        cmocka_unit_test(what_shows_least_for_its_cost_is_dropped_until_the_rest_fits),
        cmocka_unit_test(entries_are_never_dropped),
        cmocka_unit_test(one_that_fits_again_comes_back_the_worthiest_first),
        cmocka_unit_test(what_is_pinned_open_is_never_dropped),
        cmocka_unit_test(a_minute_later_one_is_tried_again),
        cmocka_unit_test(of_few_requests_nothing_is_concluded),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
