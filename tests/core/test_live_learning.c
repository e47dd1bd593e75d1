/* What the engine learns before it searches, and which requests it does not learn from. */
#include "stream.h"

#define SECOND UINT64_C(1000)

static const struct pythia_live_options usual = {
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
};

static void the_first_requests_make_the_space_and_then_the_skeleton_is_wanted(void **state)
{
    struct stream s;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    assert_int_equal(pythia_live_wish(s.live), 0);
    assert_true(pythia_live_numbers(s.live).learning);
    stream_send_varied(&s, 9);
    stream_wait(&s, 10 * SECOND);
    assert_int_equal(pythia_live_wish(s.live), 0); /* 9 are not enough */
    assert_false(stream_knows(&s, "D5"));
    assert_false(pythia_live_numbers(s.live).switching);
    stream_send_varied(&s, 1);
    stream_wait(&s, 10 * SECOND);
    assert_int_equal(pythia_live_wish(s.live), 0); /* others may still come */
    stream_wait(&s, 10 * SECOND);
    assert_int_equal(pythia_live_wish(s.live), 1);
    assert_false(pythia_live_numbers(s.live).learning);
    assert_int_equal(pythia_live_numbers(s.live).learnt, 1);
    assert_true(stream_is_open(&s, "A"));
    assert_false(stream_is_open(&s, "D5"));
    assert_true(stream_knows(&s, "A") && stream_knows(&s, "D5"));
    assert_int_equal(s.cycles, 1); /* what was seen meanwhile is told, and decided is nothing */
    assert_int_equal(s.seen[0].number, 0);
    assert_int_equal(s.seen[0].requests, 10);
    assert_int_equal(s.seen[0].spans, 170);
    assert_int_equal(s.seen[0].switches, 0);
    assert_false(s.seen[0].finished);
    assert_string_equal(s.types, "A 10");
    stream_end(&s);
    pythia_live_destroy(NULL);
}

/* A second type is waited for, but not longer than a cycle may last; it is known by then even if
 * there were few of it. One that hardly any request is of holds nobody up. */
static void other_types_are_waited_for_a_while(void **state)
{
    for (int others = 4; others <= 10; others++) {
        struct stream s;
        stream_begin(&s);
        stream_attach(&s, NULL, &usual);
        stream_send_varied(&s, 10);
        for (int i = 0; i < others; i++)
            stream_request(&s, "Z{10 Y{20} 10}");
        stream_wait(&s, 20 * SECOND);
        assert_int_equal(pythia_live_wish(s.live), others == 10 || others < 5);
        stream_wait(&s, 50 * SECOND);
        assert_int_equal(pythia_live_wish(s.live), 1);
        assert_int_equal(stream_knows(&s, "Y"), others >= 5);
        assert_int_equal(pythia_live_numbers(s.live).learnt, 1 + (others >= 5));
        stream_end(&s);
    }
}

static void everything_may_be_wanted_while_it_learns(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.learn_all = true;
    stream_begin(&s);
    stream_attach(&s, NULL, &o);
    assert_int_equal(pythia_live_wish(s.live), 1);
    assert_int_equal(pythia_live_know(s.live, PYTHIA_TEXT("gate:point")), PYTHIA_OK);
    assert_true(stream_is_open(&s, "gate:point") && stream_knows(&s, "gate:point"));
    stream_send_varied(&s, 20); /* whatever was open then */
    stream_wait(&s, 3 * SECOND);
    assert_true(pythia_live_numbers(s.live).learning);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 20);
    stream_applied(&s);
    stream_send_varied(&s, 12);
    stream_wait(&s, 5 * SECOND);
    assert_int_equal(pythia_live_wish(s.live), 2);
    assert_false(stream_is_open(&s, "gate:point") || stream_knows(&s, "gate:point"));
    stream_end(&s);
}

/* Everything is open for learning, and in force. */
static void begin_open(struct stream *s, struct pythia_live_options o)
{
    o.learn_all = true;
    stream_begin(s);
    stream_attach(s, NULL, &o);
    stream_applied(s);
}

/* One type was learnt, from so many requests. */
static void expect_learnt(struct stream *s, uint64_t requests)
{
    size_t count;
    const struct pythia_space_type *types = pythia_space_types(pythia_live_space(s->live), &count);
    assert_int_equal(count, 1);
    assert_int_equal(types->requests, requests);
}

/* Three are under way when A opens: of B, which they have passed, nothing is seen. */
static void requests_whose_beginning_is_missing_are_not_learnt(void **state)
{
    struct stream s;
    begin_open(&s, usual);
    for (uint64_t i = 1; i <= 3; i++)
        stream_write(&s, s.now_ms + 2 * i, "A{2 C{10} 2}");
    stream_wait(&s, 1 * SECOND);
    stream_send(&s);
    for (int i = 0; i < 10; i++)
        stream_request(&s, "A{10 B{20} 10 C{10} 10}");
    stream_wait(&s, 20 * SECOND);
    expect_learnt(&s, 10);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 3);
    stream_end(&s);
}

/* Agents report inner points only once requests have hit them closed. Six requests are learnt, too
 * few to end learning, before B and C open: they are not taken for requests without B and C. */
static void requests_before_new_points_open_are_forgotten(void **state)
{
    struct stream s;
    begin_open(&s, usual);
    for (int i = 0; i < 6; i++)
        stream_request(&s, "A{40}");
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(pythia_live_know(s.live, PYTHIA_TEXT("B")), PYTHIA_OK);
    assert_int_equal(pythia_live_know(s.live, PYTHIA_TEXT("C")), PYTHIA_OK);
    stream_applied(&s);
    stream_wait(&s, 1 * SECOND);
    for (int i = 0; i < 10; i++)
        stream_request(&s, "A{10 B{20} 10 C{10} 10}");
    stream_wait(&s, 40 * SECOND);
    expect_learnt(&s, 10);
    stream_end(&s);
}

/* A busy service has its requests together at once, and its agent reports once a second. */
static void learning_waits_for_the_first_reports_of_agents(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.cycle_ns = 1000000 * SECOND;
    o.window.quiet_ns = 50000000;
    begin_open(&s, o);
    stream_wait(&s, 30 * SECOND); /* the service starts later */
    for (int i = 0; i < 20; i++)
        stream_request(&s, "A{10}");
    stream_wait(&s, 1 * SECOND);
    assert_true(pythia_live_numbers(s.live).learning);
    assert_int_equal(pythia_live_know(s.live, PYTHIA_TEXT("B")), PYTHIA_OK);
    stream_applied(&s);
    stream_wait(&s, 1 * SECOND);
    for (int i = 0; i < 20; i++)
        stream_request(&s, "A{10 B{20} 10}");
    stream_wait(&s, 20 * SECOND);
    assert_false(pythia_live_numbers(s.live).learning);
    assert_true(stream_knows(&s, "B"));
    stream_end(&s);
}

/* Points that turn up again and again must not keep the search from beginning. */
static void new_points_do_not_delay_the_search_for_ever(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.cycle_ns = 30 * SECOND * 1000000;
    begin_open(&s, o);
    for (int i = 0; i < 40 && pythia_live_numbers(s.live).learning; i++) {
        char id[16];
        snprintf(id, sizeof(id), "point %d", i);
        assert_int_equal(pythia_live_know(s.live, pythia_text_of(id)), PYTHIA_OK);
        stream_applied(&s);
        for (int k = 0; k < 5; k++)
            stream_request(&s, "A{40}");
        stream_wait(&s, 5 * SECOND);
        assert_true(i >= 5 || pythia_live_numbers(s.live).learning);
    }
    assert_false(pythia_live_numbers(s.live).learning);
    stream_end(&s);
}

static struct pythia_open_points *pins_of(const struct stream *s, const char *first,
                                          const char *second)
{
    struct pythia_open_points *pins;
    assert_int_equal(pythia_open_points_create(s->vocabulary, &pins), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(pins, pythia_text_of(first)), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(pins, pythia_text_of(second)), PYTHIA_OK);
    return pins;
}

/* web:A begins requests, db:B is called by another service, and web:C is an inner point. */
static void pins_do_not_close_what_begins_requests_while_it_learns(void **state)
{
    struct stream s;
    begin_open(&s, usual);
    for (int i = 0; i < 3; i++)
        stream_request(&s, "web:A{10 db:B{20} web:C{10} 10}");
    stream_wait(&s, 10 * SECOND);
    struct pythia_open_points *begins = pins_of(&s, "web:A", "db:B"),
                              *inner = pins_of(&s, "web:C", "web:C");
    assert_int_equal(pythia_live_set_pins(s.live, NULL, begins, NULL), PYTHIA_OK);
    assert_true(stream_is_open(&s, "web:A") && stream_is_open(&s, "db:B"));
    assert_int_equal(pythia_live_set_pins(s.live, NULL, inner, NULL), PYTHIA_OK);
    assert_false(stream_is_open(&s, "web:C"));
    stream_applied(&s);
    for (int i = 0; i < 12; i++)
        stream_request(&s, "web:A{10 db:B{20} 20}");
    stream_wait(&s, 20 * SECOND);
    assert_false(pythia_live_numbers(s.live).learning);
    stream_end(&s);
    pythia_open_points_destroy(begins);
    pythia_open_points_destroy(inner);
}

/* Points that turn up begin learning anew: nothing is known of any type at that moment. */
static void what_begins_requests_stays_known_when_learning_begins_anew(void **state)
{
    struct stream s;
    begin_open(&s, usual);
    for (int i = 0; i < 3; i++)
        stream_request(&s, "web:A{10 db:B{20} 10}");
    stream_wait(&s, 10 * SECOND);
    struct pythia_open_points *pins = pins_of(&s, "web:A", "db:B");
    assert_int_equal(pythia_live_know(s.live, PYTHIA_TEXT("web:new")), PYTHIA_OK);
    stream_applied(&s);
    assert_int_equal(pythia_live_set_pins(s.live, NULL, pins, NULL), PYTHIA_OK);
    assert_true(stream_is_open(&s, "web:A") && stream_is_open(&s, "db:B"));
    stream_end(&s);
    pythia_open_points_destroy(pins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_requests_make_the_space_and_then_the_skeleton_is_wanted),
        cmocka_unit_test(other_types_are_waited_for_a_while),
        cmocka_unit_test(everything_may_be_wanted_while_it_learns),
        cmocka_unit_test(requests_whose_beginning_is_missing_are_not_learnt),
        cmocka_unit_test(requests_before_new_points_open_are_forgotten),
        cmocka_unit_test(learning_waits_for_the_first_reports_of_agents),
        cmocka_unit_test(new_points_do_not_delay_the_search_for_ever),
        cmocka_unit_test(pins_do_not_close_what_begins_requests_while_it_learns),
        cmocka_unit_test(what_begins_requests_stays_known_when_learning_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
