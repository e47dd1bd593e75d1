#include "check.h"
#include "pythia/bill.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static struct pythia_vocabulary *vocabulary;

static uint32_t point(const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(vocabulary, pythia_text_of(id), 0, 0);
}

static int open_vocabulary(void **state)
{
    return pythia_vocabulary_create(&vocabulary);
}

static int close_vocabulary(void **state)
{
    pythia_vocabulary_destroy(vocabulary);
    return 0;
}

static void add(uint32_t tracepoint, uint64_t ns, int times)
{
    for (int i = 0; i < times; i++)
        assert_int_equal(pythia_vocabulary_cost_add(vocabulary, tracepoint, ns), PYTHIA_OK);
}

static void the_price_of_a_point_is_the_mean_of_its_passes(void **state)
{
    uint32_t a = point("s:a");
    add(a, 40, 10);
    add(a, 100, 20);
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, a), 80, 1e-12); /* 2400 / 30 */
    assert_int_equal(pythia_vocabulary_cost(vocabulary, a).passes, 30);
    assert_int_equal(pythia_vocabulary_cost(vocabulary, a).ns, 2400);
}

static void the_price_of_now_follows_the_last_hits(void **state)
{
    uint32_t a = point("s:a");
    (void)state;
    add(a, 1000, 64); /* cold ones: of a program's first requests */
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, a), 1000, 1e-12);
    add(a, 100, 16); /* 16*1000 and 16*100; the most expensive two are left out */
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, a), 15600 / 30., 1e-12);
    add(a, 100, 16); /* the last 32 cost the same */
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, a), 100, 1e-12);
    add(a, 300, 32); /* and it goes up as it goes down */
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, a), 300, 1e-12);
    /* What they ever cost is their mean. */
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, a), 76800. / 128, 1e-12);
}

static void rare_long_hits_are_not_in_the_price_of_now(void **state)
{
    uint32_t a = point("s:a"), some = point("s:some"), huge = point("s:huge");
    (void)state;
    add(a, 20, 30);
    add(a, 600, 2); /* interrupts */
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, a), 20, 1e-12);
    add(some, 20, 24); /* a quarter of its hits carry attributes: 24*20 + 6*100 of 30 */
    add(some, 100, 8);
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, some), 36, 1e-12);
    add(huge, UINT64_MAX / 64, 32);
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, huge), UINT32_MAX, 1e-12);
}

static void of_few_recent_hits_those_of_all_points_stand_in(void **state)
{
    uint32_t a = point("s:a"), few = point("s:few"), none = point("s:none");
    (void)state;
    add(a, 1000, 500);
    add(a, 100, 254);
    add(few, 500, 2); /* 254*100 + 2*500 of all; the most expensive 16 are left out: 240*100 */
    assert_int_equal(pythia_vocabulary_cost_expect(vocabulary, none), PYTHIA_OK);
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, none), 100, 1e-12);
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, few), 2600 / 18., 1e-12);
    add(PYTHIA_NONE, 164, 1); /* a loop counts as 16: (240*100 + 16*164) / 256 = 104 */
    assert_rel_equal(pythia_vocabulary_cost_now_ns(vocabulary, none), 104, 1e-12);
}

static void of_few_passes_those_of_a_loop_stand_in(void **state)
{
    uint32_t few = point("s:few"), none = point("s:none"), other = point("s:other");
    add(few, 100, 4);
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, few), 100,
                     1e-12); /* no loop: as it is */
    add(PYTHIA_NONE, 40, 1);
    add(PYTHIA_NONE, 60, 1);
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, few), 60,
                     1e-12); /* (400 + 16*50) / 20 */
    assert_int_equal(pythia_vocabulary_cost_expect(vocabulary, none), PYTHIA_OK);
    /* What was measured of others, and of these few the loop: (400 + 16*50) / 20. */
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, none), 60, 1e-12);
    assert_true(isnan(pythia_vocabulary_cost_ns(vocabulary, other))); /* another tool's */
    assert_true(isnan(pythia_vocabulary_cost_ns(vocabulary, PYTHIA_NONE)));
}

static void what_others_cost_stands_in_before_a_loop_does(void **state)
{
    uint32_t few = point("s:few"), many = point("s:many"), none = point("s:none");
    add(PYTHIA_NONE, 50, 1);
    add(many, 200, 84);
    add(few, 100, 4);
    assert_int_equal(pythia_vocabulary_cost_expect(vocabulary, none), PYTHIA_OK);
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, many), 200, 1e-12); /* its own */
    /* (84*200 + 16*50) / 100 = 176 of others: (400 + 16*176) / 20 */
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, few), 160.8, 1e-12);
    /* (84*200 + 4*100 + 16*50) / 104 */
    assert_rel_equal(pythia_vocabulary_cost_ns(vocabulary, none), 18000.0 / 104, 1e-12);
}

static void nothing_is_known_before_anything_is_measured(void **state)
{
    uint32_t a = point("s:a");
    assert_int_equal(pythia_vocabulary_cost_expect(vocabulary, a), PYTHIA_OK);
    assert_int_equal(pythia_vocabulary_cost_expect(vocabulary, PYTHIA_NONE), PYTHIA_OK);
    assert_true(isnan(pythia_vocabulary_cost_ns(vocabulary, a)));
    /* First the table, then the ring of the point, and when these are there that of all points. */
    const int allowed[] = {0, 1, 1};
    for (int i = 0; i < 3; i++) {
        pythia_mem_fail_after(allowed[i]);
        assert_int_equal(pythia_vocabulary_cost_add(vocabulary, 100000, 1), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_int_equal(pythia_vocabulary_cost(vocabulary, 100000).passes, 0);
    }
}

static void a_request_pays_for_each_of_its_spans(void **state)
{
    uint32_t a = point("s:a"), b = point("s:b"), other = point("s:other");
    add(a, 100, 16);
    add(b, 30, 16);
    struct pythia_trace_span spans[4] = {
        {.tracepoint = a}, {.tracepoint = b}, {.tracepoint = b}, {.tracepoint = other}};
    struct pythia_trace trace = {.spans = spans, .count = 4};
    struct pythia_bill bill;
    pythia_bill_of(vocabulary, &trace, &bill);
    assert_rel_equal(bill.cost_ns, 160, 1e-12);
    assert_int_equal(bill.billed, 3);
    assert_int_equal(bill.unbilled, 1);
    trace.count = 0;
    pythia_bill_of(vocabulary, &trace, &bill);
    assert_true(bill.cost_ns == 0 && bill.billed == 0 && bill.unbilled == 0);
}

static void an_edge_has_half_of_either_end(void **state)
{
    uint32_t a = point("s:a"), b = point("s:b"), other = point("s:other");
    add(a, 100, 16);
    add(b, 30, 16);
    assert_rel_equal(pythia_bill_edge_ns(vocabulary, a, b), 65, 1e-12);
    assert_rel_equal(pythia_bill_edge_ns(vocabulary, a, a), 100, 1e-12);
    assert_true(isnan(pythia_bill_edge_ns(vocabulary, a, other)));
}

static void a_forecast_is_price_times_passes(void **state)
{
    const struct pythia_bill_item items[] = {{100, 3}, {40, .5}, {NAN, 10}};
    struct pythia_bill_forecast f = pythia_bill_forecast(items, 3, 50, 100000);
    assert_rel_equal(f.cost_ns, 820, 1e-12); /* 300 + 20 + 500 */
    assert_rel_equal(f.share, .0082, 1e-12);
    assert_int_equal(f.supposed, 1);
    f = pythia_bill_forecast(items, 3, NAN, 100000);
    assert_true(isnan(f.cost_ns) && isnan(f.share)); /* what one costs is not known at all */
    f = pythia_bill_forecast(items, 2, NAN, 0);
    assert_rel_equal(f.cost_ns, 320, 1e-12);
    assert_true(isnan(f.share) && f.supposed == 0);
    f = pythia_bill_forecast(NULL, 0, NAN, 10);
    assert_true(f.cost_ns == 0 && f.share == 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_vocabulary, close_vocabulary)
    const struct CMUnitTest tests[] = {
        TEST(the_price_of_a_point_is_the_mean_of_its_passes),
        TEST(the_price_of_now_follows_the_last_hits),
        TEST(rare_long_hits_are_not_in_the_price_of_now),
        TEST(of_few_recent_hits_those_of_all_points_stand_in),
        TEST(of_few_passes_those_of_a_loop_stand_in),
        TEST(what_others_cost_stands_in_before_a_loop_does),
        TEST(nothing_is_known_before_anything_is_measured),
        TEST(a_request_pays_for_each_of_its_spans),
        TEST(an_edge_has_half_of_either_end),
        TEST(a_forecast_is_price_times_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
