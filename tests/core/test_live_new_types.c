/* Request types that turn up when learning is over, behind trace points that are closed by then:
 * these are opened for them once more. The target of these tests obeys: what is closed leaves no
 * span, and what is in it hangs on what is around it. */
#include "obey.h"

#define HOUR  (3600 * SECOND)
#define INNER 8 /* points that Z calls */

static const struct pythia_live_options usual = {
    .window = {.quiet_ns = MS}, /* a request is finished when the next one begins */
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
    .learn_hourly = 6,
};

/* ---- requests ---- */

/* Of A nothing differs. */
static const char steady[] = "A{10 B0{C0{5} 5} 10}";

/* Z differs in X2, which is in Y2. */
static const char *late(uint64_t number)
{
    static char text[512];
    size_t at = (size_t)snprintf(text, sizeof(text), "Z{10");
    for (int i = 0; i < INNER; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, " Y%d{1 X%d{%d} 1}", i, i,
                               10 + (i == 2 ? (int)(number * 3 % 11 * 10) : 0));
    snprintf(text + at, sizeof(text) - at, " 10}");
    return text;
}

/* A is learnt and its search has begun; the planes tell of the points of Z, and of others. */
static void begin(struct stream *s, const struct pythia_live_options *o, int others)
{
    char id[16];
    memset(&target, 0, sizeof(target));
    stream_begin(s);
    stream_attach(s, NULL, o);
    for (int i = 0; i < 10; i++)
        request(s, steady);
    stream_wait(s, 20 * SECOND);
    obey(s);
    assert_int_equal(pythia_live_wish(s->live), 1);
    for (int i = 0; i < INNER + others; i++)
        for (const char *of = "YX"; *of && (*of == 'Y' || i < INNER); of++) {
            snprintf(id, sizeof(id), "%c%d", *of, i);
            assert_int_equal(pythia_live_know(s->live, pythia_text_of(id)), PYTHIA_OK);
        }
    target.most = 0;
    target.open_ms = 0;
    s->cycles = 0;
}

/* Both, one after the other, until so many cycles have been told, or `until` is true. */
static void run(struct stream *s, size_t cycles, bool (*until)(const struct stream *s))
{
    for (uint64_t i = 0; s->cycles < cycles && !(until && until(s)); i++) {
        assert_true(i < 20000);
        request(s, steady);
        request(s, late(i));
    }
}

static bool is_taught(const struct stream *s)
{
    struct pythia_live_numbers n = pythia_live_numbers(s->live);
    return n.lessons > 0 && !n.teaching;
}

static const struct pythia_space_type *type_of(const struct stream *s, const char *name)
{
    return pythia_space_type(pythia_live_space(s->live),
                             pythia_vocabulary_string(s->vocabulary, pythia_text_of(name)));
}

/* The last cycle's state of Z. */
static enum pythia_problem_state state_of_z;
static size_t causes_of_z;

static void look(struct stream *s, const struct pythia_live_cycle *cycle)
{
    const struct pythia_problem *z = problem_of(s, cycle, "Z");
    if (!z)
        return;
    state_of_z = z->state;
    causes_of_z = z->cause_count;
}

/* ---- tests ---- */

static void a_type_is_learnt_behind_points_that_are_closed(void **state)
{
    struct stream s;
    begin(&s, &usual, 0);
    s.look = look;
    run(&s, 4, is_teaching);
    assert_int_equal(s.number, 10 + 2 * 6); /* when five of Z have come, and the sixth begins */
    assert_true(stream_is_open(&s, "X2") && stream_is_open(&s, "C0"));
    run(&s, 4, is_taught);
    assert_int_equal(pythia_live_numbers(s.live).lessons, 1);
    assert_false(stream_is_open(&s, "X2") || stream_is_open(&s, "Y0"));
    assert_null(type_of(&s, "Z")); /* at the end of the cycle */
    run(&s, 1, NULL);
    assert_int_equal(pythia_cct_nodes(type_of(&s, "Z")->cct), 2 + 2 * INNER);
    assert_int_equal(type_of(&s, "Z")->requests, 10);
    run(&s, 12, NULL);
    assert_true(stream_is_open(&s, "X2"));
    assert_int_equal(state_of_z, PYTHIA_PROBLEM_DONE);
    assert_int_equal(causes_of_z, 1);
    assert_int_equal(pythia_live_numbers(s.live).lessons, 1);
    stream_end(&s);
}

static bool is_seeking(const struct stream *s)
{
    return pythia_live_numbers(s->live).seeks > 0;
}

/* The points of Z turn up before its first request has ended, so that they are sought, which takes
 * a minute. Its first requests show whose they are, and after its tenth Z is learnt. */
static void points_of_a_new_type_are_not_sought_for_a_minute(void **state)
{
    struct stream s;
    begin(&s, &usual, 0);
    for (int i = 0; i < 4000 && !is_seeking(&s); i++)
        request(&s, steady);
    assert_true(is_seeking(&s) && is_teaching(&s));
    uint64_t begun_ms = s.now_ms;
    run(&s, SIZE_MAX, is_taught);
    assert_true(s.now_ms - begun_ms < 30 * SECOND);
    run(&s, s.cycles + 1, NULL);
    assert_int_equal(pythia_cct_nodes(type_of(&s, "Z")->cct), 2 + 2 * INNER);
    stream_end(&s);
}

/* Without lessons the type is its root, as before. */
static void without_lessons_it_is_learnt_with_what_is_open(void **state)
{
    for (int which = 0; which < 2; which++) {
        struct stream s;
        struct pythia_live_options o = usual;
        if (which == 0)
            o.learn_hourly = 0;
        else
            o.search.budget.points_per_cycle = 0; /* nothing is ever to be opened */
        begin(&s, &o, 0);
        run(&s, 3, NULL);
        assert_int_equal(pythia_cct_nodes(type_of(&s, "Z")->cct), 2);
        assert_int_equal(pythia_live_numbers(s.live).lessons, 0);
        assert_int_equal(target.most, 0);
        stream_end(&s);
    }
}

/* Of A all requests are evidence, also those that were under way, and nothing more is seen of them
 * than before; what is kept of the rare type R is not lost. */
static uint64_t requests_of_a, carried_of_r;

static void count_a(struct stream *s, const struct pythia_live_cycle *cycle)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(cycle->groups, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = pythia_vocabulary_text(s->vocabulary, types[i].name).bytes;
        if (*name == 'A')
            requests_of_a += types[i].moments.n;
        if (*name == 'R')
            carried_of_r = types[i].carried;
    }
}

static void the_evidence_of_other_types_goes_on(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.learn_requests = 9;
    stream_begin(&s);
    memset(&target, 0, sizeof(target));
    stream_attach(&s, NULL, &o);
    for (int i = 0; i < 9; i++) {
        request(&s, steady);
        request(&s, "R{10 B0{C0{5} 5} 1}");
    }
    stream_wait(&s, 20 * SECOND);
    obey(&s);
    assert_int_equal(pythia_live_numbers(s.live).learnt, 2);
    s.cycles = 0;
    s.look = count_a;
    requests_of_a = carried_of_r = 0;
    target.delay = 3; /* three requests are under way at a switch */
    uint64_t sent = 0, first = 0;
    for (uint64_t i = 0; s.cycles < 2; i++) {
        request(&s, steady);
        sent++;
        if (i % 13 == 5)
            request(&s, "R{10 B0{C0{5} 5} 1}");
        if (i % 3 == 0 && s.cycles == 0)
            request(&s, late(i));
        if (s.cycles == 0)
            first = sent;
    }
    assert_in_range(first, 40, 44); /* and those that are waited for */
    assert_in_range(requests_of_a, 80, 84);
    assert_true(is_taught(&s));
    assert_non_null(type_of(&s, "Z"));
    assert_int_equal(carried_of_r, 3); /* of i = 5, 18, 31 */
    stream_end(&s);
}

/* A request that began before the points were open does not say what there is. */
static void what_is_under_way_at_the_switch_teaches_nothing(void **state)
{
    struct stream s;
    begin(&s, &usual, 0);
    target.delay = 8;
    run(&s, 4, is_teaching);
    request(&s, steady);
    uint64_t apart = pythia_live_numbers(s.live).under_way;
    for (int i = 0; i < 3; i++) /* not in force yet */
        request(&s, late(0));
    request(&s, steady);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 3);
    /* begun before it is in force, and ended after that */
    uint64_t begin_ms = s.now_ms;
    assert_true(target.left > 0);
    while (target.left > 0)
        request(&s, steady);
    uint64_t end_ms = stream_write(&s, begin_ms, "Z{10 W{10} 5000}");
    stream_wait(&s, end_ms - s.now_ms);
    stream_send(&s);
    stream_wait(&s, 10);
    assert_int_equal(pythia_live_numbers(s.live).under_way, apart + 4);
    run(&s, 1, NULL);
    assert_int_equal(pythia_cct_nodes(type_of(&s, "Z")->cct), 2 + 2 * INNER); /* no W */
    stream_end(&s);
}

/* Whatever turns up: six times an hour points are open for it, and not for long. */
static void types_without_number_do_not_keep_everything_open(void **state)
{
    struct stream s;
    uint64_t most_waiting = 0;
    begin(&s, &usual, 0);
    uint64_t begun_ms = s.now_ms;
    for (int i = 0; s.now_ms - begun_ms < HOUR - 60 * SECOND; i++) {
        char text[64];
        snprintf(text, sizeof(text), "N%d{10 Y%d{900} 10}", i / 6, i / 6 % INNER);
        request(&s, steady);
        request(&s, text);
        stream_wait(&s, SECOND);
        s.cycles = s.cycles > 100 ? 0 : s.cycles;
        uint64_t waiting = pythia_live_numbers(s.live).types_waiting;
        assert_in_range(waiting, 0, (uint64_t)i / 6 + 1);
        most_waiting = waiting > most_waiting ? waiting : most_waiting;
    }
    assert_int_equal(pythia_live_numbers(s.live).lessons, 6);
    assert_true(most_waiting > 10);
    /* and six times for a minute, to see whether known types hit what turned up */
    assert_in_range(target.open_ms, 1, HOUR / 10 + 6 * 60 * SECOND);
    for (int i = 0; pythia_live_numbers(s.live).lessons == 6; i++) { /* the hour is over */
        assert_true(i < 1000);
        request(&s, steady);
        stream_wait(&s, SECOND);
        s.cycles = 0;
    }
    /* or a little later, while it is seen whether known types hit what turned up */
    assert_in_range(s.now_ms - begun_ms, HOUR - 60 * SECOND, HOUR + 3 * 60 * SECOND);
    stream_end(&s);
}

/* Two points may be open at once, of 28: Z passes two of them. */
static void few_points_at_once_are_tried_in_batches(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.search.budget.points_open = 2;
    begin(&s, &o, 10);
    for (uint64_t i = 0; !is_taught(&s); i++) {
        assert_true(i < 2000);
        request(&s, steady);
        request(&s, i % 2 ? "Z{10 Y4{1 X4{80} 1} 10}" : "Z{10 Y4{1 X4{10} 1} 10}");
    }
    assert_int_equal(target.most, 2);
    assert_int_equal(pythia_live_numbers(s.live).lessons, 1);
    assert_int_equal(pythia_live_numbers(s.live).lessons_cut, 0);
    run(&s, s.cycles + 1, NULL);
    const struct pythia_space_type *z = type_of(&s, "Z");
    assert_int_equal(pythia_cct_nodes(z->cct), 4);
    /* X4 is below Y4, and not beside it */
    assert_int_equal(pythia_cct_parent(z->cct, 3), 2);
    stream_end(&s);
}

/* Of sixteen that it passes two may be open: the type is learnt with these, and that is counted. */
static void more_than_may_be_open_is_left_out_and_counted(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.search.budget.points_open = 2;
    begin(&s, &o, 0);
    run(&s, 20, is_taught);
    assert_int_equal(target.most, 2);
    assert_int_equal(pythia_live_numbers(s.live).lessons_cut, 1);
    run(&s, s.cycles + 1, NULL);
    assert_int_equal(pythia_cct_nodes(type_of(&s, "Z")->cct), 4);
    stream_end(&s);
}

static uint32_t point_of(const struct stream *s, const char *id)
{
    return pythia_vocabulary_tracepoint_find(s->vocabulary, pythia_text_of(id));
}

static void points_are_wanted_for_the_new_types_alone(void **state)
{
    struct stream s;
    uint32_t types[PYTHIA_LIVE_LATE_MAX];
    begin(&s, &usual, 0);
    run(&s, 4, is_teaching);
    assert_int_equal(pythia_live_open_for(s.live, point_of(&s, "X2"), types, PYTHIA_LIVE_LATE_MAX),
                     1);
    assert_string_equal(pythia_vocabulary_text(s.vocabulary, types[0]).bytes, "Z");
    assert_int_equal(pythia_live_open_for(s.live, point_of(&s, "A"), types, PYTHIA_LIVE_LATE_MAX),
                     0);
    stream_end(&s);
}

/* What is pinned shut, or dropped for its cost, is not opened, also when that comes in between. */
static void what_may_never_be_open_is_not(void **state)
{
    struct stream s;
    struct pythia_open_points *never[2];
    begin(&s, &usual, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pythia_open_points_create(s.vocabulary, &never[i]), PYTHIA_OK);
        assert_int_equal(pythia_open_points_add_id(never[i], PYTHIA_TEXT("X2")), PYTHIA_OK);
    }
    assert_int_equal(pythia_open_points_add_id(never[1], PYTHIA_TEXT("Y3")), PYTHIA_OK);
    assert_int_equal(pythia_live_set_pins(s.live, NULL, never[0], NULL), PYTHIA_OK);
    obey(&s);
    run(&s, 4, is_teaching);
    assert_false(stream_is_open(&s, "X2"));
    assert_true(stream_is_open(&s, "Y3"));
    uint64_t wish = pythia_live_wish(s.live);
    assert_int_equal(pythia_live_set_pins(s.live, NULL, never[1], NULL), PYTHIA_OK);
    assert_false(stream_is_open(&s, "Y3"));
    assert_int_equal(pythia_live_wish(s.live), wish + 1);
    assert_int_equal(pythia_live_set_pins(s.live, NULL, NULL, NULL), PYTHIA_OK);
    stream_end(&s);
    pythia_open_points_destroy(never[0]);
    pythia_open_points_destroy(never[1]);
}

/* A pause ends a lesson; it is given again afterwards. */
static void a_pause_breaks_it_off(void **state)
{
    struct stream s;
    begin(&s, &usual, 0);
    run(&s, 4, is_teaching);
    pythia_live_pause(s.live, true);
    assert_false(stream_is_open(&s, "X2") || is_teaching(&s));
    pythia_live_pause(s.live, false);
    obey(&s);
    run(&s, 4, is_teaching);
    run(&s, 4, is_taught);
    run(&s, s.cycles + 1, NULL);
    assert_int_equal(pythia_live_numbers(s.live).lessons, 2);
    assert_int_equal(pythia_cct_nodes(type_of(&s, "Z")->cct), 2 + 2 * INNER);
    stream_end(&s);
}

/* Whose points are heard of only when it has been passed. */
static void points_that_are_met_during_a_lesson_are_opened_too(void **state)
{
    for (int few = 0; few < 2; few++) {
        struct stream s;
        struct pythia_live_options o = usual;
        o.search.budget.points_open = few ? 2 : 0;
        begin(&s, &o, 0);
        for (uint64_t i = 0; !is_teaching(&s); i++) {
            request(&s, steady);
            request(&s, "Z{10 Y0{1 V{80} 1} 10}");
        }
        assert_int_equal(pythia_live_know(s.live, PYTHIA_TEXT("V")), PYTHIA_OK);
        for (uint64_t i = 0; !is_taught(&s); i++) {
            assert_true(i < 1000);
            request(&s, steady);
            request(&s, "Z{10 Y0{1 V{80} 1} 10}");
        }
        run(&s, s.cycles + 1, NULL);
        assert_int_equal(pythia_cct_nodes(type_of(&s, "Z")->cct), 4);
        assert_int_equal(pythia_live_numbers(s.live).lessons, 1);
        stream_end(&s);
    }
}

/* A type that stops coming does not keep points open for longer than a cycle; and for one more they
 * are open for types that are known. */
static void it_ends_without_requests(void **state)
{
    struct stream s;
    begin(&s, &usual, 0);
    run(&s, 4, is_teaching);
    stream_wait(&s, 61 * SECOND);
    obey(&s);
    stream_wait(&s, 61 * SECOND);
    assert_false(is_teaching(&s) || stream_is_open(&s, "X2"));
    obey(&s);
    stream_wait(&s, 2 * SECOND);
    assert_null(type_of(&s, "Z"));
    stream_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_is_learnt_behind_points_that_are_closed),
        cmocka_unit_test(points_of_a_new_type_are_not_sought_for_a_minute),
        cmocka_unit_test(without_lessons_it_is_learnt_with_what_is_open),
        cmocka_unit_test(the_evidence_of_other_types_goes_on),
        cmocka_unit_test(what_is_under_way_at_the_switch_teaches_nothing),
        cmocka_unit_test(types_without_number_do_not_keep_everything_open),
        cmocka_unit_test(few_points_at_once_are_tried_in_batches),
        cmocka_unit_test(more_than_may_be_open_is_left_out_and_counted),
        cmocka_unit_test(points_are_wanted_for_the_new_types_alone),
        cmocka_unit_test(what_may_never_be_open_is_not),
        cmocka_unit_test(a_pause_breaks_it_off),
        cmocka_unit_test(points_that_are_met_during_a_lesson_are_opened_too),
        cmocka_unit_test(it_ends_without_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
