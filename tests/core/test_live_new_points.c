/* Trace points that turn up in requests of a known type, because its program was updated: they are
 * opened for a while, and the type is learnt once more. */
#include "obey.h"

static const struct pythia_live_options usual = {
    .window = {.quiet_ns = MS}, /* a request is finished when the next one begins */
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
    .learn_hourly = 6,
};

/* A before the update: C0 differs. */
static const char *before(uint64_t number)
{
    static char text[128];
    snprintf(text, sizeof(text), "A{10 B0{C0{%d} 5} 10}", 50 + (int)(number * 7 % 11 * 100));
    return text;
}

/* After it: C0 calls D0 and D1, and it is D1 that differs. */
static const char *after(uint64_t number)
{
    static char text[128];
    snprintf(text, sizeof(text), "A{10 B0{C0{5 D0{20} D1{%d} 5} 5} 10}",
             20 + (int)(number * 7 % 11 * 100));
    return text;
}

static void know(struct stream *s, const char *id)
{
    assert_int_equal(pythia_live_know(s->live, pythia_text_of(id)), PYTHIA_OK);
}

/* A is learnt, and its search has found C0. `idle` (NULL: none) is a point that no request hits. */
static void begin_with(struct stream *s, const struct pythia_live_options *o, const char *idle)
{
    memset(&target, 0, sizeof(target));
    stream_begin(s);
    stream_attach(s, NULL, o);
    know(s, "B0");
    know(s, "C0");
    if (idle)
        know(s, idle);
    obey(s);
    for (uint64_t i = 0; i < 10; i++)
        request(s, before(i));
    stream_wait(s, 20 * SECOND);
    obey(s);
    for (uint64_t i = 0; s->cycles < 8; i++)
        request(s, before(i));
    target.most = 0;
    target.open_ms = 0;
}

static void begin(struct stream *s, const struct pythia_live_options *o)
{
    begin_with(s, o, NULL);
}

static void update(struct stream *s)
{
    know(s, "D0");
    know(s, "D1");
}

static struct pythia_live_numbers numbers(const struct stream *s)
{
    return pythia_live_numbers(s->live);
}

/* Requests until something is true, or for so many of them. */
static void run(struct stream *s, const char *(*text)(uint64_t), uint64_t most,
                bool (*until)(const struct stream *s))
{
    for (uint64_t i = 0; i < most && !(until && until(s)); i++)
        request(s, text(i));
    assert_true(!until || until(s));
}

static bool is_renewed(const struct stream *s)
{
    return numbers(s).renewed > 0;
}

static const struct pythia_space_type *known_a(const struct stream *s)
{
    return pythia_space_type(pythia_live_space(s->live),
                             pythia_vocabulary_string(s->vocabulary, PYTHIA_TEXT("A")));
}

static uint32_t parent_of(const struct stream *s, const char *id)
{
    const struct pythia_cct *cct = known_a(s)->cct;
    uint32_t point = pythia_vocabulary_tracepoint_find(s->vocabulary, pythia_text_of(id));
    for (uint32_t node = 1; node < pythia_cct_nodes(cct); node++)
        if (pythia_cct_tracepoint(cct, node) == point)
            return pythia_cct_tracepoint(cct, pythia_cct_parent(cct, node));
    fail_msg("A has no %s", id);
    return 0;
}

/* The last cycle's state of A, and the context of its first cause. */
static enum pythia_problem_state state_of_a;
static uint32_t cause_of_a;

static void look(struct stream *s, const struct pythia_live_cycle *cycle)
{
    const struct pythia_problem *a = problem_of(s, cycle, "A");
    if (!a)
        return;
    state_of_a = a->state;
    cause_of_a = a->cause_count > 0 ? a->causes[0].place.context : PYTHIA_NONE;
}

static uint32_t point_of(const struct stream *s, const char *id)
{
    return pythia_vocabulary_tracepoint_find(s->vocabulary, pythia_text_of(id));
}

/* ---- tests ---- */

static void a_known_type_is_learnt_once_more_and_its_cause_is_followed(void **state)
{
    struct stream s;
    begin(&s, &usual);
    s.look = look;
    run(&s, before, 50, NULL);
    assert_int_equal(state_of_a, PYTHIA_PROBLEM_DONE);
    assert_int_equal(cause_of_a, point_of(&s, "C0"));
    update(&s);
    run(&s, after, 4000, is_teaching);
    assert_true(stream_is_open(&s, "D0") && stream_is_open(&s, "D1"));
    run(&s, after, 4000, is_renewed);
    assert_int_equal(pythia_cct_nodes(known_a(&s)->cct), 6);
    assert_int_equal(parent_of(&s, "D0"), point_of(&s, "C0"));
    assert_int_equal(parent_of(&s, "D1"), point_of(&s, "C0"));
    run(&s, after, 500, NULL);
    assert_int_equal(state_of_a, PYTHIA_PROBLEM_DONE);
    assert_int_equal(cause_of_a, point_of(&s, "D1"));
    assert_false(stream_is_open(&s, "D0"));
    assert_int_equal(numbers(&s).seeks, 1);
    assert_int_equal(numbers(&s).renewed, 1);
    assert_int_equal(numbers(&s).unknown_points, 0);
    stream_end(&s);
}

/* All requests of the type are evidence, as if nothing had been opened beside its search. */
static void the_search_goes_on_meanwhile(void **state)
{
    struct stream s;
    begin(&s, &usual);
    s.look = look;
    run(&s, after, 40, NULL);
    update(&s);
    uint64_t apart = numbers(&s).under_way, cycles = numbers(&s).cycles;
    uint64_t requests = numbers(&s).requests;
    run(&s, after, 4000, is_teaching);
    run(&s, after, 80, NULL);
    assert_true(is_teaching(&s));
    assert_int_equal(numbers(&s).under_way, apart);
    assert_true(numbers(&s).cycles >= cycles + 2);
    assert_true(numbers(&s).requests >= requests + 80);
    stream_end(&s);
}

/* Only for the type that hits them, where points can be opened for a type. */
static void learning_opens_what_is_closed_for_that_type_alone(void **state)
{
    struct stream s;
    uint32_t types[PYTHIA_LIVE_LATE_MAX];
    begin(&s, &usual);
    update(&s);
    run(&s, after, 4000, is_teaching);
    assert_int_equal(pythia_live_open_for(s.live, point_of(&s, "D1"), types, PYTHIA_LIVE_LATE_MAX),
                     0);
    for (uint64_t i = 0;
         pythia_live_open_for(s.live, point_of(&s, "D1"), types, PYTHIA_LIVE_LATE_MAX) == 0; i++) {
        assert_true(i < 4000);
        request(&s, after(i));
    }
    assert_string_equal(pythia_vocabulary_text(s.vocabulary, types[0]).bytes, "A");
    stream_end(&s);
}

/* They are sought for a minute, and then left alone. */
static void points_that_no_known_type_hits_are_closed_again(void **state)
{
    struct stream s;
    begin(&s, &usual);
    update(&s);
    run(&s, before, 4000, is_teaching);
    uint64_t begun_ms = s.now_ms;
    while (is_teaching(&s))
        request(&s, before(0));
    assert_in_range(s.now_ms - begun_ms, 60 * SECOND, 120 * SECOND); /* anew after each switch */
    assert_false(stream_is_open(&s, "D0"));
    stream_wait(&s, 3600 * SECOND);
    run(&s, before, 100, NULL);
    assert_int_equal(numbers(&s).seeks, 1);
    assert_int_equal(numbers(&s).renewed, 0);
    assert_int_equal(pythia_cct_nodes(known_a(&s)->cct), 4);
    stream_end(&s);
}

/* A name with an id in it turns up in one request, and never again. */
static const char *with_ids(uint64_t number)
{
    static char text[128];
    snprintf(text, sizeof(text), "A{10 N%d{C0{50} 5} 10}", (int)number);
    return text;
}

static void points_of_single_requests_are_not_learnt(void **state)
{
    struct stream s;
    begin(&s, &usual);
    uint64_t number = 0, begun_ms = s.now_ms;
    while (s.now_ms - begun_ms < 1500 * SECOND)
        request(&s, number < 60000 ? with_ids(number++) : before(0)), s.cycles = 0;
    assert_in_range(numbers(&s).seeks, 1, 3); /* every ten minutes */
    assert_int_equal(numbers(&s).renewed, 0);
    stream_end(&s);
}

/* Nothing switches N0: its spans arrive, and it is learnt from them. */
static const char *unswitched(uint64_t number)
{
    static char text[128];
    snprintf(text, sizeof(text), "A{10 B0{C0{5 N0{%d} 5} 5} 10}",
             20 + (int)(number * 7 % 11 * 100));
    return text;
}

static void what_arrives_anyway_is_learnt_too(void **state)
{
    for (int idle = 0; idle < 2; idle++) { /* it was there, and no request hit it */
        struct stream s;
        struct pythia_live_options o = usual;
        o.learn_all = true;
        begin_with(&s, &o, idle ? "N0" : NULL);
        assert_int_equal(numbers(&s).seeks, 0);
        run(&s, unswitched, 8000, is_renewed);
        assert_int_equal(pythia_cct_nodes(known_a(&s)->cct), 5);
        assert_int_equal(parent_of(&s, "N0"), point_of(&s, "C0"));
        assert_int_equal(numbers(&s).unknown_points, 0);
        stream_end(&s);
    }
}

/* Three points are closed, and one may be open at once: A is not learnt with some of its points
 * missing, and that is counted. */
static void without_room_for_its_points_a_type_stays_as_it_is(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.search.budget.points_open = 1;
    begin(&s, &o);
    update(&s);
    run(&s, after, 4000, is_teaching);
    for (uint64_t i = 0; is_teaching(&s); i++) {
        assert_true(i < 40000);
        request(&s, after(i));
    }
    run(&s, after, 200, NULL);
    assert_int_equal(numbers(&s).renewed, 0);
    assert_int_equal(numbers(&s).lessons_cut, 1);
    assert_int_equal(pythia_cct_nodes(known_a(&s)->cct), 4);
    stream_end(&s);
}

/* Three requests a minute: too few in one phase, and enough in two or three. */
static void a_rare_type_is_learnt_in_several_phases(void **state)
{
    struct stream s;
    begin(&s, &usual);
    update(&s);
    for (uint64_t i = 0; !is_renewed(&s); i++) {
        assert_true(i < 4000);
        request(&s, after(i));
        stream_wait(&s, 20 * SECOND);
        s.cycles = 0;
    }
    assert_in_range(numbers(&s).seeks, 2, 4);
    assert_int_equal(pythia_cct_nodes(known_a(&s)->cct), 6);
    stream_end(&s);
}

/* ---- points that are known from another type ---- */

/* Every other request is one of Z, which knows D1; `varies`: D1 varies in it, and is its cause. */
static bool varies;

static const char *z(uint64_t number)
{
    static char text[128];
    snprintf(text, sizeof(text), "Z{10 Q0{D1{%d} 5} 10}",
             50 + (varies ? (int)(number * 3 % 11 * 100) : 0));
    return text;
}

static const char *before_with_z(uint64_t number)
{
    return number % 2 ? z(number) : before(number);
}

/* C0 of A calls D1 too. */
static const char *after_with_z(uint64_t number)
{
    static char text[128];
    if (number % 2)
        return z(number);
    snprintf(text, sizeof(text), "A{10 B0{C0{5 D1{%d} 5} 5} 10}",
             20 + (int)(number * 7 % 11 * 100));
    return text;
}

/* As begin, with both types learnt and searched. */
static void begin_with_z(struct stream *s, const struct pythia_live_options *o, bool z_varies)
{
    static const char *const points[] = {"B0", "C0", "Q0", "D1"};
    memset(&target, 0, sizeof(target));
    varies = z_varies;
    stream_begin(s);
    stream_attach(s, NULL, o);
    for (size_t i = 0; i < 4; i++)
        know(s, points[i]);
    obey(s);
    for (uint64_t i = 0; i < 20; i++)
        request(s, before_with_z(i));
    stream_wait(s, 20 * SECOND);
    obey(s);
    for (uint64_t i = 0; s->cycles < 10; i++)
        request(s, before_with_z(i));
    assert_int_equal(pythia_cct_nodes(known_a(s)->cct), 4);
}

/* D1 is open, as it is the cause in Z, and the plane cannot tell types apart. */
static void a_known_point_whose_spans_arrive_in_another_type_is_learnt_there(void **state)
{
    struct stream s;
    begin_with_z(&s, &usual, true);
    assert_true(stream_is_open(&s, "D1"));
    assert_int_equal(numbers(&s).reviews, 0);
    s.look = look;
    run(&s, after_with_z, 4000, is_renewed);
    assert_int_equal(numbers(&s).reviews, 1);
    assert_int_equal(numbers(&s).seeks, 0); /* it is no new point */
    assert_int_equal(pythia_cct_nodes(known_a(&s)->cct), 5);
    assert_int_equal(parent_of(&s, "D1"), point_of(&s, "C0"));
    run(&s, after_with_z, 1000, NULL);
    assert_int_equal(state_of_a, PYTHIA_PROBLEM_DONE);
    assert_int_equal(cause_of_a, point_of(&s, "D1"));
    assert_int_equal(numbers(&s).reviews, 1); /* there is no reason for another */
    stream_end(&s);
}

/* The search of A has one cycle, in which only A is open: nothing is found, and it begins again
 * after four more. */
static void a_type_whose_search_begins_again_is_learnt_once_more(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.search.patience = 1;
    begin_with_z(&s, &o, false);
    run(&s, after_with_z, 4000, is_renewed);
    assert_int_equal(parent_of(&s, "D1"), point_of(&s, "C0"));
    stream_end(&s);
}

/* While new points are sought, as many as may be open, requests hit known ones: C0, which is open
 * as the cause. That is no reason to learn their type once more. */
static void known_points_are_no_news_where_few_may_be_open(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.search.budget.points_open = 2;
    begin(&s, &o);
    assert_true(stream_is_open(&s, "C0"));
    update(&s);
    run(&s, before, 4000, is_teaching);
    for (; is_teaching(&s); s.cycles = 0) {
        request(&s, before(s.number));
        assert_false(stream_is_open(&s, "B0")); /* as it would be to learn A */
    }
    assert_int_equal(numbers(&s).seeks, 1);
    assert_int_equal(numbers(&s).lessons_cut, 0);
    assert_true(target.most <= 2);
    stream_end(&s);
}

static void what_is_pinned_shut_is_not_sought(void **state)
{
    struct stream s;
    struct pythia_open_points *never;
    begin(&s, &usual);
    assert_int_equal(pythia_open_points_create(s.vocabulary, &never), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id(never, PYTHIA_TEXT("D0")), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id(never, PYTHIA_TEXT("D1")), PYTHIA_OK);
    assert_int_equal(pythia_live_set_pins(s.live, NULL, never, NULL), PYTHIA_OK);
    obey(&s);
    update(&s);
    run(&s, after, 400, NULL);
    assert_int_equal(numbers(&s).seeks, 0);
    assert_int_equal(pythia_live_set_pins(s.live, NULL, NULL, NULL), PYTHIA_OK);
    obey(&s);
    run(&s, after, 400, is_teaching); /* it may be open now */
    assert_int_equal(numbers(&s).seeks, 1);
    stream_end(&s);
    pythia_open_points_destroy(never);
}

static void without_lessons_nothing_is_sought(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.learn_hourly = 0;
    begin(&s, &o);
    update(&s);
    run(&s, after, 400, NULL);
    assert_int_equal(numbers(&s).seeks, 0);
    assert_false(stream_is_open(&s, "D0"));
    stream_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_type_is_learnt_once_more_and_its_cause_is_followed),
        cmocka_unit_test(the_search_goes_on_meanwhile),
        cmocka_unit_test(learning_opens_what_is_closed_for_that_type_alone),
        cmocka_unit_test(points_that_no_known_type_hits_are_closed_again),
        cmocka_unit_test(points_of_single_requests_are_not_learnt),
        cmocka_unit_test(what_arrives_anyway_is_learnt_too),
        cmocka_unit_test(without_room_for_its_points_a_type_stays_as_it_is),
        cmocka_unit_test(a_rare_type_is_learnt_in_several_phases),
        cmocka_unit_test(a_known_point_whose_spans_arrive_in_another_type_is_learnt_there),
        cmocka_unit_test(a_type_whose_search_begins_again_is_learnt_once_more),
        cmocka_unit_test(known_points_are_no_news_where_few_may_be_open),
        cmocka_unit_test(what_is_pinned_shut_is_not_sought),
        cmocka_unit_test(without_lessons_nothing_is_sought),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
