/* A switch is a trace point and a request type: what is opened for one type is not open for others.
 * Two types call the same M, which calls S. */
#include "hunt.h"
#include "pythia/mem.h"

#define EACH 50 /* requests of a type in a cycle */

/* Where requests differ; what else there is always takes as long. */
static struct {
    bool a_in_s, z_in_s, z_in_w;
} differ;

static void write_shared(char *to, size_t room, uint64_t number)
{
    int more = (int)(number / 2 * 7 % 10 * 100);
    if (number % 2 == 0)
        snprintf(to, room, "A{10 M{5 S{%d} 5} 10 N{20} 10}", 100 + (differ.a_in_s ? more : 0));
    else
        snprintf(to, room, "Z{10 M{5 S{%d} 5} 10 V{10 W{%d} 10} 10}",
                 100 + (differ.z_in_s ? more : 0), 100 + (differ.z_in_w ? more : 0));
}

static uint32_t type_of(const struct hunt *h, const char *name)
{
    return pythia_vocabulary_string_find(h->r.vocabulary, pythia_text_of(name));
}

static bool is_open(const struct hunt *h, const char *id, const char *type)
{
    return pythia_search_is_open_for(h->search, point(h, id), type_of(h, type));
}

/* The set of open points says the same as the search does: for each point and type. */
static void assert_same_set(const struct hunt *h)
{
    static const char *const types[] = {"A", "Z"};
    struct pythia_open_points *open = NULL;
    assert_int_equal(pythia_search_open_points(h->search, &open), PYTHIA_OK);
    for (uint32_t i = 0; i < h->points; i++) {
        bool any = false;
        for (size_t t = 0; t < 2; t++) {
            uint32_t type = type_of(h, types[t]);
            bool is =
                pythia_open_points_has(open, i) && !pythia_open_points_excludes(open, i, type);
            assert_int_equal(is, pythia_search_is_open_for(h->search, i, type));
            any = any || is;
        }
        assert_int_equal(pythia_search_is_open(h->search, i), any);
        assert_int_equal(pythia_open_points_has(open, i), any);
    }
    pythia_open_points_destroy(open);
}

/* A cycle, in which requests of a type show spans of S only where it is open for them. */
static void cycle_of_both(struct hunt *h)
{
    uint64_t showing = (uint64_t)is_open(h, "S", "A") + (uint64_t)is_open(h, "S", "Z");
    see(h, 2 * EACH);
    assert_int_equal(h->hits[point(h, "S")], showing * EACH);
    decide(h);
    assert_same_set(h);
}

static void run_both(struct hunt *h)
{
    do
        cycle_of_both(h);
    while (!h->cycle.finished && h->cycle.number < 40);
}

/* The first cause of a type; "" if it has none. */
static void assert_cause_of(const struct hunt *h, const char *type, const char *cause)
{
    struct pythia_buf place = {0};
    for (size_t i = 0; i < h->cycle.problem_count; i++)
        if (h->cycle.problems[i].type == type_of(h, type) && h->cycle.problems[i].cause_count > 0)
            pythia_place_add(&place, h->r.vocabulary, &h->cycle.problems[i].causes[0].place);
    assert_string_equal(place.bytes ? place.bytes : "", cause);
    pythia_buf_free(&place);
}

/* How often a point was opened, or closed, for a type. */
static size_t times_for(const struct hunt *h, const char *id, const char *type, bool open)
{
    size_t count = 0;
    for (size_t i = 0; i < h->history_count; i++)
        count += h->history[i].open == open && h->history[i].point == point(h, id) &&
                 h->history[i].type == type_of(h, type);
    return count;
}

static void begin_shared(struct hunt *h, bool a_in_s, bool z_in_s, bool z_in_w)
{
    differ.a_in_s = a_in_s;
    differ.z_in_s = z_in_s;
    differ.z_in_w = z_in_w;
    begin_text(h, write_shared, NULL);
}

/* ---- what is opened ---- */

static void a_point_is_opened_for_the_type_whose_problem_wants_it(void **state)
{
    struct hunt h;
    begin_shared(&h, true, false, true);
    search(&h);
    run_both(&h);
    assert_true(h.cycle.finished);
    assert_cause_of(&h, "A", "inside S");
    assert_cause_of(&h, "Z", "inside W");
    assert_true(is_open(&h, "S", "A") && is_open(&h, "W", "Z")); /* they bound the causes */
    assert_false(is_open(&h, "S", "Z") || is_open(&h, "W", "A"));
    assert_int_equal(times_for(&h, "W", "A", true) + times_for(&h, "V", "A", true), 0);
    end(&h);
}

static void where_one_type_differs_nothing_is_opened_for_the_other(void **state)
{
    struct hunt h;
    begin_shared(&h, true, false, false);
    search(&h);
    run_both(&h);
    assert_cause_of(&h, "A", "inside S");
    for (size_t i = 0; i < h.history_count; i++)
        assert_int_equal(h.history[i].type, type_of(&h, "A"));
    end(&h);
}

static void strategies_of_the_table_open_for_a_type_too(void **state)
{
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++) {
        struct hunt h;
        begin_shared(&h, true, true, false);
        h.how.strategy = all[i];
        search(&h);
        run_both(&h);
        assert_true(h.cycle.finished);
        assert_cause_of(&h, "A", "inside S");
        assert_cause_of(&h, "Z", "inside S");
        assert_true(times_for(&h, "S", "A", true) > 0 && times_for(&h, "S", "Z", true) > 0);
        assert_int_equal(times_for(&h, "W", "A", true) + times_for(&h, "N", "Z", true), 0);
        end(&h);
    }
}

/* ---- two types, one point ---- */

static void a_type_that_wants_it_later_gets_it_and_may_lose_it_alone(void **state)
{
    struct hunt h;
    begin_shared(&h, true, false, false);
    search(&h);
    run_both(&h);
    assert_true(is_open(&h, "S", "A"));
    assert_false(is_open(&h, "S", "Z"));
    differ.z_in_s = true;
    for (int i = 0; i < 12 && !is_open(&h, "S", "Z"); i++)
        cycle_of_both(&h);
    assert_true(is_open(&h, "S", "A") && is_open(&h, "S", "Z"));
    run_both(&h);
    assert_cause_of(&h, "Z", "inside S");
    assert_int_equal(times_for(&h, "S", "A", false), 0);
    differ.a_in_s = false; /* what A has is past, and closed: that is no concern of Z */
    for (int i = 0; i < 12 && is_open(&h, "S", "A"); i++)
        cycle_of_both(&h);
    assert_false(is_open(&h, "S", "A"));
    assert_true(is_open(&h, "S", "Z"));
    assert_true(pythia_search_is_open(h.search, point(&h, "S")));
    cycle_of_both(&h);
    assert_cause_of(&h, "A", "");
    assert_cause_of(&h, "Z", "inside S");
    end(&h);
}

/* Each of the two types has one call of S a request: 1000 ns, whether for one or for both. */
static void a_point_for_two_types_is_one_point_of_the_budget(void **state)
{
    struct hunt h;
    begin_shared(&h, true, true, false);
    h.how.budget.points_per_cycle = 8;
    h.how.budget.points_open = 2;
    search(&h);
    do {
        cycle_of_both(&h);
        size_t open = 0;
        for (uint32_t i = 0; i < h.points; i++)
            open += pythia_search_is_open(h.search, i) && !pythia_search_in_skeleton(h.search, i);
        assert_in_range(open, 0, 2);
        assert_int_equal(h.cycle.open_count, open);
        assert_int_equal(h.cycle.planned.points, open);
        assert_rel_equal(h.cycle.planned.added_ns, 1000 * (double)open, 1e-12);
    } while (!h.cycle.finished && h.cycle.number < 40);
    assert_cause_of(&h, "A", "inside S");
    assert_cause_of(&h, "Z", "inside S");
    assert_int_equal(h.cycle.open_count, 1);
    end(&h);
}

/* EACH requests of a type in 5 s, spans of "S" of 61 bytes each (test_search_budget.c). */
static void bytes_are_those_of_the_types_that_it_is_open_for(void **state)
{
    struct hunt h;
    begin_shared(&h, true, false, false);
    search(&h);
    do {
        pythia_search_set_seconds(h.search, 5);
        cycle_of_both(&h);
    } while (!h.cycle.finished && h.cycle.number < 40);
    assert_int_equal(h.cycle.open_count, 1);
    assert_rel_equal(h.cycle.planned.bytes_per_second, EACH / 5. * 61, 1e-12);
    end(&h);
}

/* ---- pins ---- */

static struct pythia_open_points *pin(struct hunt *h, const char *id, const char *type)
{
    struct pythia_open_points *pins = NULL;
    assert_int_equal(pythia_open_points_create(h->r.vocabulary, &pins), PYTHIA_OK);
    if (*type)
        assert_int_equal(
            pythia_open_points_add_id_for(pins, pythia_text_of(id), pythia_text_of(type)),
            PYTHIA_OK);
    else
        assert_int_equal(pythia_open_points_add(pins, pythia_text_of(id)), PYTHIA_OK);
    return pins;
}

static bool set_pins(struct hunt *h, struct pythia_open_points *always,
                     struct pythia_open_points *never)
{
    bool switched = false;
    assert_int_equal(pythia_search_set_pins(h->search, always, never, NULL, &switched), PYTHIA_OK);
    assert_same_set(h);
    return switched;
}

static void what_a_pin_held_stays_open_for_the_types_that_have_it(void **state)
{
    struct hunt h;
    begin_shared(&h, false, false, false);
    search(&h);
    struct pythia_open_points *all = pin(&h, "[SN]", ""), *one = pin(&h, "S", "Z");
    assert_true(set_pins(&h, all, NULL));
    assert_true(is_open(&h, "S", "A") && is_open(&h, "S", "Z") && is_open(&h, "N", "Z"));
    assert_false(set_pins(&h, NULL, NULL));
    assert_true(is_open(&h, "S", "A") && is_open(&h, "S", "Z") && is_open(&h, "N", "A"));
    assert_false(is_open(&h, "N", "Z")); /* no request of Z has it */
    (void)set_pins(&h, one, NULL);
    assert_true(is_open(&h, "S", "Z"));
    assert_false(is_open(&h, "S", "A"));
    (void)set_pins(&h, NULL, NULL);
    assert_true(is_open(&h, "S", "Z"));
    assert_false(is_open(&h, "S", "A"));
    cycle_of_both(&h); /* nobody needs them */
    assert_false(is_open(&h, "S", "Z") || is_open(&h, "N", "A"));
    assert_reason(&h, "S", false, "its search has ended");
    pythia_open_points_destroy(all);
    pythia_open_points_destroy(one);
    end(&h);
}

static void pins_hold_for_all_types_whatever_is_open_for_one(void **state)
{
    struct hunt h;
    begin_shared(&h, true, false, false);
    search(&h);
    run_both(&h);
    struct pythia_open_points *all = pin(&h, "S", ""), *z = pin(&h, "S", "Z");
    assert_true(set_pins(&h, all, NULL)); /* requests of Z look otherwise from now on */
    assert_true(is_open(&h, "S", "Z"));
    (void)set_pins(&h, z, NULL);
    assert_true(is_open(&h, "S", "Z"));
    assert_false(is_open(&h, "S", "A"));
    assert_true(set_pins(&h, NULL, all));
    assert_false(is_open(&h, "S", "Z") || is_open(&h, "S", "A"));
    assert_false(set_pins(&h, NULL, NULL)); /* it is closed until the search wants it */
    assert_false(is_open(&h, "S", "Z") || is_open(&h, "S", "A"));
    pythia_open_points_destroy(all);
    pythia_open_points_destroy(z);
    end(&h);
}

/* ---- programs that do not tell types apart as they are ---- */

static bool shows; /* A gives spans of S */

/* A differs in S, and Z calls it twice. */
static void write_mistaken(char *to, size_t room, uint64_t number)
{
    int more = 100 + (int)(number / 2 * 7 % 10 * 100);
    if (number % 2)
        snprintf(to, room, "Z{10 S{50} S{50} 10}");
    else if (shows)
        snprintf(to, room, "A{10 S{%d} 10}", more);
    else
        snprintf(to, room, "A{10 %d 10}", more);
}

static void begin_mistaken(struct hunt *h, bool may_widen)
{
    shows = true;
    begin_text(h, write_mistaken, NULL);
    h->how.may_widen = may_widen;
    search(h);
    shows = false;
    cycle(h, 2 * EACH);
    assert_true(is_open(h, "S", "A"));
    assert_false(pythia_search_is_wide(h->search, point(h, "S")));
    assert_rel_equal(h->cycle.planned.added_ns, 1000, 1e-12);
    cycle(h, 2 * EACH); /* nothing comes of it */
}

/* It takes requests of A for others: as soon as S is open for all they show it. */
static void what_gives_no_span_for_its_type_is_opened_for_all(void **state)
{
    struct hunt h;
    begin_mistaken(&h, true);
    assert_true(pythia_search_is_wide(h.search, point(&h, "S")));
    assert_true(is_open(&h, "S", "A"));
    assert_false(is_open(&h, "S", "Z")); /* what comes of Z is no evidence */
    assert_int_equal(h.cycle.switch_count, 1);
    assert_true(h.cycle.switches[0].open && h.cycle.switches[0].widens);
    assert_rel_equal(h.cycle.planned.added_ns, 2000, 1e-12); /* to a request of Z */
    shows = true;
    do
        cycle(&h, 2 * EACH);
    while (!h.cycle.finished && h.cycle.number < 20);
    assert_cause_of(&h, "A", "inside S");
    assert_int_equal(times_for(&h, "S", "A", false), 0);
    end(&h);
}

static void what_gives_none_for_all_either_is_closed(void **state)
{
    struct hunt h;
    begin_mistaken(&h, true);
    cycle(&h, 2 * EACH);
    assert_false(is_open(&h, "S", "A"));
    assert_reason(&h, "S", false, "no request hit it");
    assert_rel_equal(h.cycle.planned.added_ns, 0, 0);
    end(&h);
    begin_mistaken(&h, false);
    assert_false(is_open(&h, "S", "A"));
    assert_reason(&h, "S", false, "no request hit it");
    end(&h);
}

static void a_cycle_without_memory_widens_nothing(void **state)
{
    struct hunt h;
    int status = PYTHIA_ENOMEM;
    shows = true;
    begin_text(&h, write_mistaken, NULL);
    h.how.may_widen = true;
    search(&h);
    shows = false;
    cycle(&h, 2 * EACH);
    see(&h, 2 * EACH);
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        pythia_mem_fail_after(n);
        status = pythia_search_cycle(h.search, h.r.groups, h.hits, h.points, &h.cycle);
        pythia_mem_fail_after(-1);
        assert_true(is_open(&h, "S", "A"));
        assert_int_equal(pythia_search_is_wide(h.search, point(&h, "S")), status == PYTHIA_OK);
    }
    assert_int_equal(status, PYTHIA_OK);
    end(&h);
}

/* ---- failures ---- */

static void a_cycle_without_memory_leaves_each_type_as_it_was(void **state)
{
    struct hunt h, smooth;
    begin_shared(&h, true, true, true);
    begin_shared(&smooth, true, true, true);
    search(&h);
    search(&smooth);
    for (int i = 0; i < 6; i++) {
        int status = PYTHIA_ENOMEM;
        bool before[2][64] = {{false}};
        assert_in_range(h.points, 1, 64);
        for (uint32_t p = 0; p < h.points; p++) {
            before[0][p] = pythia_search_is_open_for(h.search, p, type_of(&h, "A"));
            before[1][p] = pythia_search_is_open_for(h.search, p, type_of(&h, "Z"));
        }
        see(&h, 2 * EACH);
        for (long n = 0; status == PYTHIA_ENOMEM; n += 1 + n / 10) {
            pythia_mem_fail_after(n);
            status = pythia_search_cycle(h.search, h.r.groups, h.hits, h.points, &h.cycle);
            pythia_mem_fail_after(-1);
            for (uint32_t p = 0; status == PYTHIA_ENOMEM && p < h.points; p++) {
                assert_int_equal(pythia_search_is_open_for(h.search, p, type_of(&h, "A")),
                                 before[0][p]);
                assert_int_equal(pythia_search_is_open_for(h.search, p, type_of(&h, "Z")),
                                 before[1][p]);
            }
            if (status == PYTHIA_ENOMEM)
                assert_same_set(&h);
        }
        assert_int_equal(status, PYTHIA_OK);
        note(&h);
        cycle(&smooth, 2 * EACH);
    }
    assert_same_decisions(&h, &smooth);
    end(&h);
    end(&smooth);
}

static void pins_without_memory_leave_all_as_it_was(void **state)
{
    struct hunt h;
    begin_shared(&h, true, false, false);
    search(&h);
    run_both(&h);
    struct pythia_open_points *all = pin(&h, "[NV]", "");
    assert_true(set_pins(&h, all, NULL));
    int status = PYTHIA_ENOMEM;
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        bool switched;
        pythia_mem_fail_after(n);
        status = pythia_search_set_pins(h.search, NULL, NULL, NULL, &switched);
        pythia_mem_fail_after(-1);
        assert_true(is_open(&h, "S", "A") && is_open(&h, "N", "A") && is_open(&h, "V", "Z"));
        assert_int_equal(is_open(&h, "N", "Z"), status == PYTHIA_ENOMEM);
        assert_false(is_open(&h, "S", "Z"));
        assert_same_set(&h);
    }
    assert_int_equal(status, PYTHIA_OK);
    pythia_open_points_destroy(all);
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_is_opened_for_the_type_whose_problem_wants_it),
        cmocka_unit_test(where_one_type_differs_nothing_is_opened_for_the_other),
        cmocka_unit_test(strategies_of_the_table_open_for_a_type_too),
        cmocka_unit_test(a_type_that_wants_it_later_gets_it_and_may_lose_it_alone),
        cmocka_unit_test(a_point_for_two_types_is_one_point_of_the_budget),
        cmocka_unit_test(bytes_are_those_of_the_types_that_it_is_open_for),
        cmocka_unit_test(what_a_pin_held_stays_open_for_the_types_that_have_it),
        cmocka_unit_test(pins_hold_for_all_types_whatever_is_open_for_one),
        cmocka_unit_test(what_gives_no_span_for_its_type_is_opened_for_all),
        cmocka_unit_test(what_gives_none_for_all_either_is_closed),
        cmocka_unit_test(a_cycle_without_memory_widens_nothing),
        cmocka_unit_test(a_cycle_without_memory_leaves_each_type_as_it_was),
        cmocka_unit_test(pins_without_memory_leave_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
