#include "sides.h"

/* ---- which service an edge counts for ---- */

/* web has a client span around each call; the callee's own span is inside. */
static void a_wait_counts_for_the_callee(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++)
            sides_add(&s, side,
                      "web:GET{10 web:to-a{%zu a:serve{50} 5} 3 web:to-b{5 b:serve{60} 5} 2 "
                      "web:to-c{5 c:serve{70} 5} 4}",
                      (side == AFTER ? 25 : 5) + i % 3);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *first = &t->edges[0];
    assert_string_equal(requests_edge(s.c->cct, first->edge),
                        "web:GET/web:to-a: web:to-a -> a:serve");
    assert_true(first->waits);
    assert_false(first->common);
    assert_string_equal(sides_string(&s, first->service), "a");
    assert_string_equal(sides_string(&s, s.c->services[0].service), "a");
    assert_string_equal(
        sides_string(&s, sides_edge(&s, t, "web:GET: web:GET -> web:to-a")->service), "web");
    sides_end(&s);
}

static void waits_that_grow_for_all_callees_count_for_the_caller(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++) {
            size_t late = (side == AFTER ? 40 : 5) + i % 3;
            sides_add(&s, side,
                      "web:GET{10 web:to-a{5 a:serve{50} %zu} 3 web:to-b{5 b:serve{60} %zu} 2 "
                      "web:to-c{5 c:serve{%d} %zu} 4}",
                      late, late + 3, side == AFTER ? 73 : 70, late);
        }
    sides_compare(&s);
    assert_string_equal(sides_string(&s, s.c->services[0].service), "web");
    assert_true(s.c->types[0].edges[0].common);
    for (size_t i = 1; i < s.c->service_count; i++) /* c got slower by itself, too, by less */
        if (s.c->services[i].score > 0)
            assert_string_equal(sides_string(&s, s.c->services[i].service), "c");
    sides_end(&s);
}

static void of_two_callees_nothing_is_common(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++) {
            size_t late = (side == AFTER ? 40 : 5) + i % 3;
            sides_add(&s, side,
                      "web:GET{10 web:to-a{5 a:serve{50} %zu} 3 web:to-b{5 b:serve{60} %zu} 2}",
                      late, late);
        }
    sides_compare(&s);
    for (size_t e = 0; e < s.c->types[0].edge_count; e++)
        assert_false(s.c->types[0].edges[e].common);
    assert_string_not_equal(sides_string(&s, s.c->services[0].service), "web");
    sides_end(&s);
}

static void a_wait_that_grows_more_than_all_others_counts_for_its_callee(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++) {
            size_t late = (side == AFTER ? 40 : 5) + i % 3;
            sides_add(&s, side,
                      "web:GET{10 web:to-a{5 a:serve{50} %zu} 3 web:to-b{5 b:serve{60} %zu} 2 "
                      "web:to-c{5 c:serve{70} %zu} 4}",
                      late, late, late + (side == AFTER ? 90 : 0));
        }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    assert_false(sides_edge(&s, t, "web:GET/web:to-c: /c:serve -> /web:to-c")->common);
    assert_true(sides_edge(&s, t, "web:GET/web:to-a: /a:serve -> /web:to-a")->common);
    assert_string_equal(sides_string(&s, s.c->services[0].service), "c");
    assert_string_equal(sides_string(&s, s.c->services[1].service), "web");
    sides_end(&s);
}

/* One name for all calls, as stock clients have it: each edge tells its callee by its services. */
static void a_client_span_of_many_callees_waits_for_each(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++)
            sides_add(&s, side,
                      "web:GET{10 web:POST{5 a:serve{50} 5} 3 web:POST{%zu b:serve{60} 5} 2 "
                      "web:POST{5 c:serve{70} 5} 4}",
                      (side == AFTER ? 25 : 5) + i % 3);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *first = &t->edges[0];
    assert_string_equal(requests_edge(s.c->cct, first->edge),
                        "web:GET/web:POST: web:POST -> b:serve");
    assert_true(first->waits && !first->common);
    assert_string_equal(sides_string(&s, first->service), "b");
    assert_string_equal(sides_string(&s, s.c->services[0].service), "b");
    const struct pythia_compared_edge *reply =
        sides_edge(&s, t, "web:GET/web:POST: /c:serve -> /web:POST");
    assert_true(reply->waits);
    assert_string_equal(sides_string(&s, reply->service), "c");
    sides_end(&s);
}

static void waits_in_one_client_span_can_be_common(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++) {
            size_t late = (side == AFTER ? 40 : 5) + i % 3;
            sides_add(&s, side,
                      "web:GET{10 web:POST{5 a:serve{50} %zu} 3 web:POST{5 b:serve{60} %zu} 2 "
                      "web:POST{5 c:serve{70} %zu} 4}",
                      late, late + 3, late);
        }
    sides_compare(&s);
    assert_true(s.c->types[0].edges[0].common);
    assert_string_equal(sides_string(&s, s.c->services[0].service), "web");
    sides_end(&s);
}

/* Each of three callees is called `calls` times on each side. Whose are the waits that grew? */
static const char *blamed_for_few_calls(struct sides *s, size_t calls)
{
    sides_begin(s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 60; i++) {
            size_t late = side == AFTER ? 4000 : 5;
            if (i < calls)
                sides_add(s, side,
                          "web:GET{10 web:POST{5 a:serve{50} %zu} 3 web:POST{5 b:serve{60} %zu} 2 "
                          "web:POST{5 c:serve{70} %zu} 4}",
                          late, late, late);
            else
                sides_add(s, side, "web:GET{%zu}", 100 + i % 7);
        }
    const struct pythia_compared_type *t = &sides_compare(s)->types[0];
    return sides_string(s, sides_edge(s, t, "web:GET/web:POST: /b:serve -> /web:POST")->service);
}

static void a_callee_has_a_say_from_four_calls_on(void **state)
{
    struct sides s;
    assert_string_equal(blamed_for_few_calls(&s, 4), "web");
    sides_end(&s);
    assert_string_equal(blamed_for_few_calls(&s, 3), "b");
    sides_end(&s);
}

/* The span that serves a request and calls a and then b is no call of either. */
static void a_span_that_calls_one_service_after_another_is_no_call(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++)
            sides_add(&s, side, "web:GET{%zu a:serve{50} 3 b:serve{60} 5}",
                      (side == AFTER ? 90 : 60) + i % 3);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    for (size_t e = 0; e < t->edge_count; e++)
        assert_false(t->edges[e].waits);
    assert_string_equal(sides_string(&s, s.c->services[0].service), "web");
    sides_end(&s);
}

/* Nor is one that has work of its own inside. */
static void a_span_with_a_child_of_its_own_service_is_no_call(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++)
            sides_add(&s, side, i % 2 ? "web:GET{%zu a:serve{50} 5}" : "web:GET{%zu web:own{50} 5}",
                      (side == AFTER ? 90 : 60) + i % 3);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    for (size_t e = 0; e < t->edge_count; e++)
        assert_false(t->edges[e].waits);
    assert_string_equal(sides_string(&s, s.c->services[0].service), "web");
    sides_end(&s);
}

/* A client span is a call whatever is in it: each edge waits for the service at one of its ends.
 * What lies between two callees, and the caller's own work inside, is no wait. */
static void of_a_known_client_span_each_edge_has_its_own_callee(void **state)
{
    static const struct {
        const char *edge, *service;
        bool waits;
    } expected[] = {
        {"web:GET/web:POST^: web:POST^ -> web:dns", "web", false},
        {"web:GET/web:POST^: /web:dns -> a:serve", "a", true},
        {"web:GET/web:POST^: /a:serve -> b:serve", "web", false},
        {"web:GET/web:POST^: /b:serve -> b:retry", "b", true},
        {"web:GET/web:POST^: /b:retry -> /web:POST^", "b", true},
        {"web:GET/web:PUT^: web:PUT^ -> /web:PUT^", "web", false},
    };
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 80; i++)
        sides_add(&s, i % 2,
                  "web:GET{10 web:POST^{2 web:dns{3} 4 a:serve{50} 5 b:serve{60} 6 b:retry{9} 7} 3 "
                  "web:PUT^{20} %zu}",
                  i % 5);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct pythia_compared_edge *e = sides_edge(&s, t, expected[i].edge);
        assert_string_equal(sides_string(&s, e->service), expected[i].service);
        assert_int_equal(e->waits, expected[i].waits);
    }
    sides_end(&s);
}

/* web asks auth now and then: what it does otherwise is its own work, and no wait. */
static void a_span_that_often_calls_nobody_is_no_call(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++)
            sides_add(&s, side, i % 4 ? "web:GET{%zu}" : "web:GET{%zu auth:A{50} 5}",
                      (side == AFTER ? 90 : 60) + i % 3);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    assert_false(t->edges[0].waits);
    assert_string_equal(sides_string(&s, t->edges[0].service), "web");
    assert_string_equal(sides_string(&s, s.c->services[0].service), "web");
    sides_end(&s);
}

/* ---- what slows requests ---- */

/* B takes 970 ns of 1000, and `b` after; of the rest `rest` is left. No time varies, so all of a
 * change is certain. */
static bool slows(size_t b, size_t rest)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 40; i++) {
        sides_add(&s, BEFORE, "web:A{0 db:B{970} 30}");
        sides_add(&s, AFTER, "web:A{0 db:B{%zu} %zu}", b, rest);
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *e = sides_edge(&s, t, "web:A/db:B: db:B -> /db:B");
    assert_rel_equal(t->effect_min, 10, 0); /* 1 % of 1000 */
    assert_true(e->mean_test.q < 1e-20 && e->score > 0);
    bool out = e->slows;
    sides_end(&s);
    return out;
}

static void an_effect_is_a_hundredth_of_the_mean_or_more(void **state)
{
    assert_true(slows(980, 30));
    assert_false(slows(979, 30));
}

/* The edge takes 15 ns longer; the requests take 10 ns less, which is as small as an effect gets,
 * or 11. */
static void nothing_slows_requests_that_got_faster(void **state)
{
    assert_true(slows(985, 5));
    assert_false(slows(985, 4));
}

/* Before, one request took a millisecond in C: on average they get faster, but for that one they
 * do not. */
static void one_slow_request_before_hides_no_edge(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++)
            sides_add(&s, side, "web:A{10 db:B{%zu} 10 db:C{%d}}",
                      (side == AFTER ? 600 : 500) + i % 5, side == BEFORE && i == 7 ? 1000000 : 50);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    assert_true(t->mean.change < 0 && t->mean_test.clipped.change > 0);
    assert_true(sides_edge(&s, t, "web:A/db:B: db:B -> /db:B")->slows);
    sides_end(&s);
}

/* The mean varies too much to be sure of its fall, and yet it has fallen by half. */
static void a_mean_that_may_have_fallen_by_chance_has_fallen(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 60; i++)
            sides_add(&s, side, "web:A{10 db:B{%zu} 10 db:C{%zu}}",
                      (side == AFTER ? 600 : 500) + i % 5,
                      i % 20          ? (size_t)50
                      : side == AFTER ? (size_t)11000
                                      : (size_t)30000);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *e = sides_edge(&s, t, "web:A/db:B: db:B -> /db:B");
    assert_true(t->mean.change < -t->effect_min && t->mean_test.q > .05);
    assert_true(e->mean_test.q < 1e-20 && e->mean_test.clipped.low > t->effect_min);
    assert_false(e->slows);
    sides_end(&s);
}

/* Much of a rare type comes before a trifle of a common one, which costs more in all. */
static void a_trifle_comes_after_what_slows_requests(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 1040; i++)
            if (i < 40)
                sides_add(&s, side, "web:rare{10 db:B{%d}}", side == AFTER ? 200 : 100);
            else
                sides_add(&s, side, "web:common{10 cache:C{%d}}", side == AFTER ? 10009 : 10000);
    sides_compare(&s);
    assert_string_equal(sides_string(&s, s.c->services[0].service), "db");
    assert_string_equal(sides_string(&s, s.c->services[1].service), "cache");
    assert_true(s.c->services[0].score < s.c->services[1].score);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(s.c->types[s.c->services[i].type].edges[s.c->services[i].edge].slows,
                         i == 0);
    sides_end(&s);
}

/* Of what one request in 80 passes, clipping leaves nothing. */
static void rare_edges_come_by_the_change_of_their_whole_mean(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < 80; i++)
            if (i % 80 == 7)
                sides_add(&s, side, "web:GET{10 a:rare{50} 3 b:rare{%zu} 4}",
                          (size_t)(side == AFTER ? 900 : 50));
            else
                sides_add(&s, side, "web:GET{10 c:often{%zu} 4}", 60 + i % 3);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *a = sides_edge(&s, t, "web:GET/a:rare: a:rare -> /a:rare"),
                                      *b = sides_edge(&s, t, "web:GET/b:rare: b:rare -> /b:rare");
    assert_true(a->score == 0 && b->score == 0);
    assert_true(b < a);
    size_t rank_a = 0, rank_b = 0;
    for (size_t i = 0; i < s.c->service_count; i++) {
        const char *name = sides_string(&s, s.c->services[i].service);
        rank_a = strcmp(name, "a") == 0 ? i : rank_a;
        rank_b = strcmp(name, "b") == 0 ? i : rank_b;
    }
    assert_true(rank_b < rank_a);
    sides_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_counts_for_the_callee),
        cmocka_unit_test(waits_that_grow_for_all_callees_count_for_the_caller),
        cmocka_unit_test(of_two_callees_nothing_is_common),
        cmocka_unit_test(a_wait_that_grows_more_than_all_others_counts_for_its_callee),
        cmocka_unit_test(a_client_span_of_many_callees_waits_for_each),
        cmocka_unit_test(waits_in_one_client_span_can_be_common),
        cmocka_unit_test(a_callee_has_a_say_from_four_calls_on),
        cmocka_unit_test(a_span_that_calls_one_service_after_another_is_no_call),
        cmocka_unit_test(a_span_with_a_child_of_its_own_service_is_no_call),
        cmocka_unit_test(of_a_known_client_span_each_edge_has_its_own_callee),
        cmocka_unit_test(a_span_that_often_calls_nobody_is_no_call),
        cmocka_unit_test(an_effect_is_a_hundredth_of_the_mean_or_more),
        cmocka_unit_test(nothing_slows_requests_that_got_faster),
        cmocka_unit_test(one_slow_request_before_hides_no_edge),
        cmocka_unit_test(a_mean_that_may_have_fallen_by_chance_has_fallen),
        cmocka_unit_test(a_trifle_comes_after_what_slows_requests),
        cmocka_unit_test(rare_edges_come_by_the_change_of_their_whole_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
