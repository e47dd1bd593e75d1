/* Behaviour 41, of agents that are gone and come back, carries its number in the names of tests. */
#include "controller_case.h"
#include "pythia/mem.h"

static const struct pythia_controller_options usual = {0};

/* Points turn up all the time, where statements or functions are met for the first time. */
static void versions_go_on_where_an_earlier_one_stood(void **state)
{
    struct fake_plane f;
    uint64_t since;
    struct pythia_controller *c = begin(&f, &(struct pythia_controller_options){.version = 41});
    assert_int_equal(pythia_controller_numbers(c).version, 41);
    run(c, 100 * S, 101 * S);
    assert_int_equal(f.applies, 0); /* it knows the number, and not the set */
    assert_false(pythia_controller_in_force(c, 41, &since));
    assert_int_equal(want(c, "shop:pay"), 42);
    run(c, 101 * S, 102 * S);
    assert_told(&f, "shop:pay");
    assert_true(pythia_controller_in_force(c, 42, &since));
    pythia_controller_destroy(c);
}

static void a_new_point_that_is_closed_anyway_changes_nothing(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since = 0, before;
    want(c, "shop:pay");
    run(c, 100 * S, 102 * S);
    assert_true(pythia_controller_in_force(c, 1, &before));
    fake_plane_add(&f, "shop:new", "shop")->mood = FAKE_IGNORES;
    for (uint64_t now = 102 * S; now <= 105 * S; now += 100 * MS) {
        tick(c, now);
        assert_true(pythia_controller_in_force(c, 1, &since));
        assert_int_equal(since, before);
    }
    struct fake_point *shown = fake_plane_add(&f, "shop:entry", "shop");
    shown->open_by_default = shown->open = true;
    shown->mood = FAKE_IGNORES;
    run(c, 105 * S, 107 * S);
    assert_false(pythia_controller_in_force(c, 1, &since)); /* it is open, and shall not be */
    pythia_controller_destroy(c);
}

static void what_is_wished_for_comes_in_force(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since = 7;
    f.delay_ns = 250 * MS;
    tick(c, 100 * S);
    assert_int_equal(f.applies, 0); /* nobody has wished for anything: targets are left alone */
    assert_false(pythia_controller_in_force(c, 0, &since));
    uint64_t version = want(c, "stock:find shop:pay");
    assert_int_equal(version, 1);
    assert_false(pythia_controller_in_force(c, 1, &since));
    tick(c, 101 * S);
    assert_told(&f, "shop:pay stock:find");
    assert_false(pythia_controller_in_force(c, 1, &since));
    run(c, 101 * S + 100 * MS, 101 * S + 200 * MS);
    assert_false(pythia_controller_in_force(c, 1, &since));
    assert_int_equal(since, 7);
    run(c, 101 * S + 300 * MS, 101 * S + 900 * MS);
    assert_true(pythia_controller_in_force(c, 1, &since));
    assert_int_equal(since, 101 * S + 300 * MS);
    assert_shown(c, "fake shop shop:cart 101 1 applied\nfake shop shop:pay 100 0 applied wanted\n"
                    "fake stock stock:find 102 2 applied wanted\n");
    assert_int_equal(f.applies, 1);
    assert_int_equal(f.lease_ns, 30 * S);
    pythia_controller_destroy(c);
    assert_int_equal(f.destroyed, 1);
}

static void the_same_set_again_throws_no_switch(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since;
    want(c, "shop:pay");
    run(c, 100 * S, 102 * S);
    uint64_t version = want(c, "shop:pay");
    assert_int_equal(version, 2);
    tick(c, 103 * S);
    assert_int_equal(f.applies, 1);
    assert_true(pythia_controller_in_force(c, 2, &since));
    assert_false(pythia_controller_in_force(c, 1, &since));
    assert_int_equal(since, 100 * S); /* it has been in force all the time */
    pythia_controller_destroy(c);
}

static void the_lease_is_renewed_in_thirds(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    want(c, "shop:pay");
    run(c, 100 * S, 109 * S + 900 * MS);
    assert_int_equal(f.applies, 1);
    tick(c, 110 * S);
    assert_int_equal(f.applies, 2);
    run(c, 110 * S + 100 * MS, 160 * S);
    assert_int_equal(f.applies, 7);
    assert_int_equal(f.version, 1); /* renewed, not told anew */
    assert_int_equal(f.points[0].switches, 1);
    pythia_controller_destroy(c);
}

static void a_wish_for_an_unknown_point_waits_for_it(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since, version = want(c, "../../etc/passwd shop:new shop:pay");
    run(c, 100 * S, 101 * S);
    assert_told(&f, "shop:pay");
    assert_string_equal(f.unknown, "");
    assert_int_equal(pythia_controller_numbers(c).unknown_wishes, 2);
    assert_true(pythia_controller_in_force(c, version, &since));
    fake_plane_add(&f, "shop:new", "shop");
    run(c, 101 * S + 100 * MS, 102 * S);
    assert_told(&f, "shop:pay shop:new");
    assert_int_equal(pythia_controller_numbers(c).unknown_wishes, 1);
    assert_string_equal(f.unknown, "");
    f.count--; /* and it goes again */
    run(c, 102 * S + 100 * MS, 103 * S);
    assert_int_equal(pythia_controller_numbers(c).points, 3);
    assert_string_equal(f.unknown, "");
    pythia_controller_destroy(c);
}

static void a_point_is_switched_at_most_once_a_round(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since, version = 0;
    for (uint64_t i = 0; i < 50; i++) { /* for five seconds another wish each tenth */
        version = want(c, i % 2 ? "stock:find" : "shop:pay stock:find");
        tick(c, 100 * S + i * 100 * MS);
    }
    assert_in_range(f.points[0].switches, 1, 5);
    assert_int_equal(f.points[2].switches, 1);
    assert_false(pythia_controller_in_force(c, version, &since)); /* it has to hold still yet */
    run(c, 105 * S, 107 * S);
    assert_told(&f, "stock:find");
    assert_true(pythia_controller_in_force(c, version, &since));
    pythia_controller_destroy(c);
}

/* A point that has not been switched lately is switched at once, whatever the others do. */
static void another_point_does_not_have_to_wait(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    want(c, "shop:pay");
    tick(c, 100 * S);
    want(c, "shop:cart");
    tick(c, 100 * S + 10 * MS);
    assert_told(&f, "shop:pay shop:cart");
    run(c, 100 * S + 100 * MS, 101 * S + 100 * MS);
    assert_told(&f, "shop:cart");
    pythia_controller_destroy(c);
}

static void points_that_do_not_obey_go_into_quarantine(void **state)
{
    static const enum fake_mood moods[] = {FAKE_REFUSES, FAKE_IGNORES, FAKE_LIES};
    for (size_t i = 0; i < 3; i++) {
        struct fake_plane f;
        struct pythia_controller *c = begin(&f, &usual);
        uint64_t since, version;
        f.latency_ns = 250 * MS;
        f.points[0].mood = moods[i];
        version = want(c, "shop:pay stock:find");
        run(c, 100 * S, 105 * S + 200 * MS);
        assert_told(&f, "shop:pay stock:find");
        assert_false(pythia_controller_in_force(c, version, &since));
        assert_int_equal(pythia_controller_numbers(c).quarantined, 0);
        assert_in_range(pythia_controller_numbers(c).retries, 4, 6);
        run(c, 105 * S + 300 * MS, 106 * S);
        assert_told(&f, "stock:find"); /* rolled back */
        assert_true(pythia_controller_in_force(c, version, &since));
        assert_int_equal(pythia_controller_numbers(c).quarantined, 1);
        assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
        unsigned switches = f.points[0].switches;
        run(c, 106 * S + 100 * MS, 700 * S); /* ten minutes: not asked for */
        assert_int_equal(f.points[0].switches, switches);
        f.points[0].mood = FAKE_OBEYS;
        run(c, 700 * S + 100 * MS, 707 * S);
        assert_told(&f, "shop:pay stock:find");
        assert_true(pythia_controller_in_force(c, version, &since));
        assert_int_equal(pythia_controller_numbers(c).in_quarantine, 0);
        pythia_controller_destroy(c);
    }
}

/* All others are in force meanwhile, and a search need not wait for it. */
static void a_refusal_that_is_final_is_not_waited_for(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    struct pythia_control_ops ops = *f.control.ops;
    uint64_t since, version;
    ops.refusal_is_final = true;
    f.control.ops = &ops;
    f.points[0].mood = FAKE_REFUSES;
    version = want(c, "shop:pay stock:find");
    run(c, 100 * S, 101 * S);
    assert_told(&f, "stock:find");
    assert_true(pythia_controller_in_force(c, version, &since));
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    run(c, 101 * S + 100 * MS, 110 * S); /* it stays so, */
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    f.points[0].mood = FAKE_LOST;
    run(c, 110 * S + 100 * MS, 120 * S);
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    f.points[0].mood = FAKE_REFUSES; /* also if what refuses is started anew, and refuses again, */
    run(c, 120 * S + 100 * MS, 121 * S);
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    assert_true(pythia_controller_in_force(c, version, &since));
    f.points[0].mood = FAKE_LOST;
    run(c, 121 * S + 100 * MS, 122 * S);
    f.points[0].mood = FAKE_OBEYS; /* but not if that has another list of what is allowed */
    run(c, 122 * S + 100 * MS, 123 * S);
    assert_told(&f, "shop:pay stock:find");
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 0);
    pythia_controller_destroy(c);
}

/* A target that is 1.2 s late is told of another point each second: it never has the last set, and
 * obeys all the same. A point that it has not confirmed since it was switched is another matter. */
static void a_target_that_is_late_is_not_quarantined_while_other_points_are_switched(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    for (size_t i = 0; i < 2; i++)
        f.points[i].mood = FAKE_LATE;
    run(c, 100 * S, 101 * S);
    for (uint64_t second = 101; second < 121; second++) {
        want(c, second % 2 ? "shop:pay stock:find" : "shop:pay");
        run(c, second * S, second * S + 900 * MS);
    }
    assert_int_equal(pythia_controller_numbers(c).quarantined, 0);
    f.points[0].mood = FAKE_IGNORES;
    for (uint64_t second = 121; second < 128; second++) {
        want(c, second % 2 ? "stock:find" : "");
        run(c, second * S, second * S + 900 * MS);
    }
    assert_int_equal(pythia_controller_numbers(c).quarantined, 1);
    pythia_controller_destroy(c);
}

static void a_quarantine_says_so(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    f.points[0].mood = FAKE_REFUSES;
    want(c, "shop:pay");
    run(c, 100 * S, 106 * S);
    assert_shown(c, "fake shop shop:cart 101 1 applied\n"
                    "fake shop shop:pay 100 0 refused quarantined\n"
                    "fake stock stock:find 102 2 applied\n");
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    pythia_controller_destroy(c);
}

static void a_lost_target_is_seen_and_told_again_when_it_is_back(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since, version = want(c, "shop:pay stock:find");
    run(c, 100 * S, 101 * S);
    f.points[2].mood = FAKE_LOST;
    run(c, 101 * S, 101 * S + 600 * MS);
    assert_int_equal(pythia_controller_numbers(c).lost_targets, 1);
    assert_true(
        pythia_controller_in_force(c, version, &since)); /* everywhere that can be reached */
    run(c, 102 * S, 140 * S);
    assert_int_equal(pythia_controller_numbers(c).quarantined, 0); /* it cannot obey */
    f.points[2].mood = FAKE_IGNORES; /* it is back, and knows of nothing */
    unsigned applies = f.applies;
    run(c, 140 * S + 100 * MS, 142 * S);
    assert_true(f.applies > applies);
    assert_false(pythia_controller_in_force(c, version, &since));
    f.points[2].mood = FAKE_OBEYS;
    run(c, 142 * S + 100 * MS, 144 * S);
    assert_true(pythia_controller_in_force(c, version, &since));
    assert_in_range(since, 142 * S, 143 * S);
    assert_int_equal(pythia_controller_numbers(c).lost_targets, 0);
    assert_int_equal(f.points[2].switches, 1);
    pythia_controller_destroy(c);
}

static int take_plane(void *context, const struct pythia_controlled_plane *plane)
{
    *(struct pythia_controlled_plane *)context = *plane;
    return PYTHIA_OK;
}

static void a_plane_that_fails_is_tried_again_and_told(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    struct pythia_controlled_plane plane;
    f.broken = true;
    want(c, "shop:pay");
    run(c, 100 * S, 103 * S);
    assert_int_equal(f.applies, 4);
    assert_int_equal(pythia_controller_numbers(c).failed_applies, 4);
    assert_int_equal(pythia_controller_each_plane(c, take_plane, &plane), PYTHIA_OK);
    assert_false(plane.reachable);
    assert_false(plane.in_force);
    assert_string_equal(plane.why, "the wire is cut");
    assert_int_equal(plane.lost_targets, 2);
    assert_int_equal(pythia_controller_numbers(c).quarantined, 0);
    f.broken = false;
    run(c, 103 * S + 100 * MS, 105 * S);
    assert_told(&f, "shop:pay");
    assert_int_equal(pythia_controller_each_plane(c, take_plane, &plane), PYTHIA_OK);
    assert_true(plane.reachable && plane.in_force);
    assert_int_equal(plane.points, 3);
    assert_int_equal(plane.lost_targets, 0);
    pythia_controller_destroy(c);
}

static void off_closes_everything_and_keeps_it_closed(void **state)
{
    struct fake_plane f;
    struct pythia_controller_options o = {.keep_defaults = true};
    struct pythia_controller *c = begin(&f, &o);
    uint64_t since, version;
    f.points[1].open_by_default = true;
    want(c, "shop:pay");
    run(c, 100 * S, 100 * S + 200 * MS);
    assert_told(&f, "shop:pay shop:cart");
    /* They were switched a moment ago: off does not wait. */
    assert_int_equal(pythia_controller_off(c, 100 * S + 250 * MS), PYTHIA_OK);
    assert_told(&f, "");
    assert_true(f.off);
    assert_true(pythia_controller_is_off(c));
    version = want(c, "stock:find");
    run(c, 100 * S + 300 * MS, 150 * S);
    assert_told(&f, "");
    assert_false(pythia_controller_in_force(c, version, &since));
    assert_int_equal(pythia_controller_on(c, 150 * S), PYTHIA_OK);
    run(c, 150 * S, 151 * S);
    assert_false(f.off);
    assert_told(&f, "shop:cart stock:find");
    assert_true(pythia_controller_in_force(c, version, &since));
    pythia_controller_destroy(c);
}

static void off_is_tried_again_where_it_failed(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    tick(c, 100 * S);
    f.off_broken = true;
    assert_int_equal(pythia_controller_off(c, 100 * S), PYTHIA_EIO);
    f.off_broken = false;
    run(c, 100 * S + 100 * MS, 101 * S + 100 * MS);
    assert_true(f.off);
    assert_int_equal(f.applies, 0); /* nobody has wished for anything yet */
    pythia_controller_destroy(c);
}

static void what_is_open_by_default_stays_open_if_that_is_asked_for(void **state)
{
    struct fake_plane f;
    struct pythia_controller_options o = {.keep_defaults = true};
    struct pythia_controller *c = begin(&f, &o);
    f.points[0].open_by_default = true;
    f.points[2].pinned = f.points[2].open_by_default = true;
    want(c, "shop:cart");
    run(c, 100 * S, 102 * S);
    assert_told(&f, "shop:pay shop:cart"); /* what is pinned is not asked for */
    assert_shown(
        c, "fake shop shop:cart 101 1 applied wanted\nfake shop shop:pay 100 0 applied wanted\n"
           "fake stock stock:find 102 2 pending wanted pinned\n");
    pythia_controller_destroy(c);
    c = begin(&f, &usual);
    f.points[0].open_by_default = true;
    want(c, "shop:cart");
    run(c, 100 * S, 102 * S);
    assert_told(&f, "shop:cart");
    pythia_controller_destroy(c);
}

static void types_go_to_planes_that_can_tell_them_apart(void **state)
{
    for (int by_type = 0; by_type < 2; by_type++) {
        struct fake_plane f;
        struct pythia_controller *c = NULL;
        struct pythia_control *plane = &f.control;
        const struct pythia_text types[] = {PYTHIA_TEXT("GET /a"), PYTHIA_TEXT("GET /b")};
        struct pythia_control_wish wish = {
            .id = PYTHIA_TEXT("shop:pay"), .types = types, .type_count = 2};
        uint64_t version;
        fake_plane_init(&f, "fake", by_type);
        fake_plane_add(&f, "shop:pay", "shop");
        assert_int_equal(pythia_controller_create(&plane, 1, &usual, &c), PYTHIA_OK);
        assert_int_equal(pythia_controller_want(c, &wish, 1, &version), PYTHIA_OK);
        run(c, 100 * S, 101 * S);
        assert_true(f.points[0].told);
        assert_int_equal(f.points[0].types, by_type ? 2 : 0);
        wish.type_count = 1;
        assert_int_equal(pythia_controller_want(c, &wish, 1, &version), PYTHIA_OK);
        run(c, 102 * S, 103 * S);
        assert_int_equal(f.points[0].types, by_type ? 1 : 0);
        assert_int_equal(f.version, by_type ? 2 : 1);
        pythia_controller_destroy(c);
    }
}

static void planes_do_not_get_in_each_others_way(void **state)
{
    struct fake_plane a, b;
    fake_plane_init(&a, "a", false);
    fake_plane_init(&b, "b", false);
    fake_plane_add(&a, "x", "one");
    fake_plane_add(&b, "x", "one"); /* the same names in another plane */
    fake_plane_add(&b, "y", "two");
    struct pythia_control *planes[] = {&a.control, &b.control};
    struct pythia_controller *c = NULL;
    uint64_t since, version;
    assert_int_equal(pythia_controller_create(planes, 2, &usual, &c), PYTHIA_OK);
    a.broken = true;
    version = want(c, "x");
    run(c, 100 * S, 102 * S);
    assert_true(b.points[0].told && !b.points[1].told && !a.points[0].told);
    assert_true(pythia_controller_in_force(c, version, &since)); /* where it can be */
    assert_int_equal(pythia_controller_numbers(c).lost_targets, 1);
    a.broken = false;
    run(c, 102 * S, 104 * S);
    assert_true(a.points[0].told);
    pythia_controller_destroy(c);
    assert_int_equal(a.destroyed + b.destroyed, 2);
}

/* ---- whether what was in force has been so all along ---- */

/* It is in force since that time, and something was lost at that one; both in tenths of a second.
 */
static void assert_in_force(struct pythia_controller *c, uint64_t version, uint64_t since,
                            uint64_t lost)
{
    uint64_t since_ns = 0;
    assert_true(pythia_controller_in_force(c, version, &since_ns));
    assert_int_equal(since_ns / (100 * MS), since);
    assert_int_equal(pythia_controller_lost_ns(c) / (100 * MS), lost);
}

static void targets_that_join_lose_nothing(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since, version = want(c, "shop:pay stock:find shop:late");
    f.delay_ns = 250 * MS;
    run(c, 100 * S, 102 * S);
    assert_in_force(c, version, 1003, 0);
    /* What was wished for turns up: all are told anew, and have it a little later. */
    fake_plane_add(&f, "shop:late", "shop");
    run(c, 102 * S + 100 * MS, 102 * S + 700 * MS);
    assert_false(pythia_controller_in_force(c, version, &since));
    run(c, 102 * S + 800 * MS, 104 * S);
    assert_int_equal(f.version, 2);
    assert_in_force(c, version, 1028, 0);
    /* Another process, which takes its time, while the set of the others stays as it is. */
    f.delay_ns = 0;
    fake_plane_add(&f, "stock:find", "stock-2")->mood = FAKE_IGNORES;
    run(c, 104 * S + 100 * MS, 106 * S);
    assert_false(pythia_controller_in_force(c, version, &since));
    f.points[4].mood = FAKE_OBEYS;
    run(c, 106 * S + 100 * MS, 107 * S);
    assert_in_force(c, version, 1061, 0);
    /* And one that never obeys. It goes into quarantine as closed as it was. */
    fake_plane_add(&f, "stock:find", "stock-3")->mood = FAKE_REFUSES;
    run(c, 107 * S + 100 * MS, 120 * S);
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    assert_true(pythia_controller_in_force(c, version, &since));
    assert_in_range(since, 112 * S, 113 * S);
    assert_int_equal(pythia_controller_lost_ns(c), 0);
    /* Another wish is no loss either, nor is what has to hold still before it is switched. */
    want(c, "shop:cart stock:find");
    tick(c, 121 * S);
    version = want(c, "shop:pay shop:cart stock:find");
    run(c, 121 * S + 100 * MS, 124 * S);
    assert_true(pythia_controller_in_force(c, version, &since));
    assert_true(pythia_controller_lost_ns(c) <= since);
    pythia_controller_destroy(c);
}

static void a_point_that_is_not_as_it_was_is_a_loss(void **state)
{
    static const enum fake_mood moods[] = {FAKE_REFUSES, FAKE_IGNORES, FAKE_LIES};
    for (size_t i = 0; i < 3; i++) {
        struct fake_plane f;
        struct pythia_controller *c = begin(&f, &usual);
        uint64_t since, version = want(c, "shop:pay stock:find");
        run(c, 100 * S, 101 * S + 900 * MS);
        assert_in_force(c, version, 1000, 0);
        f.points[0].mood = moods[i];
        run(c, 102 * S, 103 * S);
        assert_false(pythia_controller_in_force(c, version, &since));
        assert_in_range(pythia_controller_lost_ns(c), 102 * S, 103 * S);
        f.points[0].mood = FAKE_OBEYS;
        run(c, 103 * S + 100 * MS, 104 * S);
        assert_in_force(c, version, 1031, 1030);
        pythia_controller_destroy(c);
    }
}

static void a_lost_target_has_lost_something_once_it_is_back_without_it(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since, version = want(c, "shop:pay stock:find");
    run(c, 100 * S, 101 * S + 900 * MS);
    f.points[2].mood = FAKE_LOST;
    run(c, 102 * S, 108 * S);
    f.points[2].mood = FAKE_OBEYS; /* it was away, and has what it had */
    run(c, 108 * S + 100 * MS, 110 * S);
    assert_in_force(c, version, 1000, 0);
    f.points[1].mood = FAKE_LOST; /* nothing of it is open, was or shall be */
    run(c, 110 * S, 112 * S);
    f.points[1].mood = FAKE_IGNORES;
    run(c, 112 * S, 113 * S);
    assert_in_force(c, version, 1000, 0);
    f.points[2].mood = FAKE_LOST;
    run(c, 113 * S, 116 * S);
    f.points[2].mood = FAKE_IGNORES;
    tick(c, 116 * S + 500 * MS);
    assert_false(pythia_controller_in_force(c, version, &since));
    f.points[2].mood = FAKE_OBEYS;
    tick(c, 116 * S + 700 * MS);
    assert_in_force(c, version, 1167, 1165);
    pythia_controller_destroy(c);
}

/* While it cannot be told anything, its targets have what they had, until their lease runs out. */
static void a_plane_that_fails_loses_once_and_not_with_each_attempt(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t version = want(c, "shop:pay");
    run(c, 100 * S, 105 * S);
    f.broken = true;
    run(c, 105 * S + 100 * MS, 109 * S + 900 * MS);
    assert_in_force(c, version, 1000, 0);
    run(c, 110 * S, 129 * S + 900 * MS); /* the lease was to be renewed */
    assert_int_equal(pythia_controller_numbers(c).failed_applies, 20);
    assert_in_force(c, version, 1100, 1100);
    run(c, 130 * S, 150 * S);
    assert_in_force(c, version, 1300, 1300);
    f.broken = false;
    run(c, 150 * S + 100 * MS, 152 * S);
    assert_in_force(c, version, 1511, 1510);
    pythia_controller_destroy(c);
}

static void off_and_on_are_losses(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t version = want(c, "shop:pay");
    run(c, 100 * S, 101 * S);
    assert_int_equal(pythia_controller_off(c, 102 * S), PYTHIA_OK);
    assert_int_equal(pythia_controller_lost_ns(c), 102 * S);
    run(c, 102 * S, 103 * S);
    assert_int_equal(pythia_controller_on(c, 104 * S), PYTHIA_OK);
    run(c, 104 * S, 105 * S);
    assert_in_force(c, version, 1040, 1040);
    version = want(c, ""); /* what the planes do not know of is closed by off, too */
    run(c, 106 * S, 107 * S);
    assert_in_force(c, version, 1060, 1040);
    assert_int_equal(pythia_controller_off(c, 108 * S), PYTHIA_OK);
    assert_int_equal(pythia_controller_on(c, 108 * S + 100 * MS), PYTHIA_OK);
    run(c, 108 * S + 200 * MS, 109 * S);
    assert_in_force(c, version, 1082, 1081);
    pythia_controller_destroy(c);
}

static void what_cannot_be_seen_any_more_may_be_lost(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since, version = want(c, "shop:pay");
    run(c, 100 * S, 101 * S + 900 * MS);
    f.blind = true;
    run(c, 102 * S, 103 * S);
    assert_false(pythia_controller_in_force(c, version, &since));
    f.blind = false;
    run(c, 103 * S + 100 * MS, 104 * S);
    assert_in_force(c, version, 1031, 1020);
    pythia_controller_destroy(c);
}

static void a_quarantine_changes_what_was_in_force(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t version = want(c, "shop:pay stock:find");
    run(c, 100 * S, 102 * S);
    f.points[0].mood = FAKE_REFUSES; /* it is closed by somebody, and stays so */
    f.points[0].open = false;
    run(c, 103 * S, 700 * S);
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    assert_in_force(c, version, 1081, 1081);
    f.points[0].mood = FAKE_OBEYS;
    run(c, 700 * S + 100 * MS, 709 * S); /* it has ended */
    assert_in_force(c, version, 7081, 7081);
    f.points[1].mood = FAKE_REFUSES; /* it has been closed, is to be opened, and stays closed */
    want(c, "shop:pay shop:cart stock:find");
    run(c, 710 * S, 718 * S);
    assert_int_equal(pythia_controller_numbers(c).in_quarantine, 1);
    assert_int_equal(pythia_controller_lost_ns(c), 708 * S + 100 * MS);
    pythia_controller_destroy(c);
}

/* A service of which a process is new is pending, though all others have what they had. */
static void where_processes_come_and_go_the_plane_tells_of_losses(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin(&f, &usual);
    uint64_t since, version = want(c, "shop:pay");
    fake_plane_of_processes(&f);
    f.losses = 3; /* before anything was told */
    run(c, 100 * S, 102 * S);
    assert_true(pythia_controller_lost_ns(c) <= 100 * S);
    f.points[0].mood = FAKE_IGNORES;
    run(c, 102 * S, 103 * S);
    assert_false(pythia_controller_in_force(c, version, &since));
    f.points[0].mood = FAKE_OBEYS;
    tick(c, 103 * S + 100 * MS);
    assert_true(pythia_controller_in_force(c, version, &since));
    assert_int_equal(since, 103 * S + 100 * MS);
    assert_true(pythia_controller_lost_ns(c) <= 100 * S);
    f.losses++;
    f.points[0].mood = FAKE_IGNORES;
    tick(c, 104 * S);
    f.points[0].mood = FAKE_OBEYS;
    tick(c, 104 * S + 100 * MS);
    assert_in_force(c, version, 1041, 1040);
    f.points[0].mood = FAKE_LOST; /* no process is left, */
    run(c, 105 * S, 106 * S);
    f.points[0].mood = FAKE_IGNORES; /* and the next one is new */
    run(c, 107 * S, 108 * S);
    f.points[0].mood = FAKE_OBEYS;
    run(c, 108 * S + 100 * MS, 109 * S);
    assert_in_force(c, version, 1081, 1070);
    pythia_controller_destroy(c);
}

/* Each allocation fails in turn: nothing leaks, nothing is half done, and it works afterwards. */
static void want_of_memory_is_told_and_gone_through(void **state)
{
    for (long n = 0;; n++) {
        struct fake_plane f;
        struct pythia_controller *c = NULL;
        fake_plane_init(&f, "fake", true);
        fake_plane_add(&f, "shop:pay", "shop");
        fake_plane_add(&f, "stock:find", "stock");
        struct pythia_control *plane = &f.control;
        struct pythia_control_wish wish = {.id = PYTHIA_TEXT("stock:find")};
        uint64_t version = 0, since;
        struct pythia_buf out = {0};
        pythia_mem_fail_after(n);
        int status = pythia_controller_create(&plane, 1, &usual, &c);
        if (status == PYTHIA_OK)
            status = pythia_controller_want(c, &wish, 1, &version);
        for (uint64_t i = 0; i < 3 && status == PYTHIA_OK; i++)
            status = pythia_controller_tick(c, 100 * S + i * 100 * MS);
        if (status == PYTHIA_OK)
            status = pythia_controller_off(c, 101 * S);
        if (status == PYTHIA_OK)
            status = pythia_controller_on(c, 102 * S);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        if (c) {
            if (version == 0)
                assert_int_equal(pythia_controller_want(c, &wish, 1, &version), PYTHIA_OK);
            assert_int_equal(pythia_controller_on(c, 103 * S), PYTHIA_OK);
            run(c, 103 * S, 106 * S);
            assert_told(&f, "stock:find");
            assert_true(pythia_controller_in_force(c, version, &since));
            assert_int_equal(pythia_controller_each(c, show, &out), PYTHIA_OK);
        }
        pythia_controller_destroy(c);
        pythia_buf_free(&out);
        assert_int_equal(f.destroyed, 1);
        if (status == PYTHIA_OK)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wished_for_comes_in_force),
        cmocka_unit_test(versions_go_on_where_an_earlier_one_stood),
        cmocka_unit_test(a_new_point_that_is_closed_anyway_changes_nothing),
        cmocka_unit_test(the_same_set_again_throws_no_switch),
        cmocka_unit_test(the_lease_is_renewed_in_thirds),
        cmocka_unit_test(a_wish_for_an_unknown_point_waits_for_it),
        cmocka_unit_test(a_point_is_switched_at_most_once_a_round),
        cmocka_unit_test(another_point_does_not_have_to_wait),
        cmocka_unit_test(points_that_do_not_obey_go_into_quarantine),
        cmocka_unit_test(a_refusal_that_is_final_is_not_waited_for),
        cmocka_unit_test(a_target_that_is_late_is_not_quarantined_while_other_points_are_switched),
        cmocka_unit_test(a_quarantine_says_so),
        cmocka_unit_test(a_lost_target_is_seen_and_told_again_when_it_is_back),
        cmocka_unit_test(a_plane_that_fails_is_tried_again_and_told),
        cmocka_unit_test(off_closes_everything_and_keeps_it_closed),
        cmocka_unit_test(off_is_tried_again_where_it_failed),
        cmocka_unit_test(what_is_open_by_default_stays_open_if_that_is_asked_for),
        cmocka_unit_test(types_go_to_planes_that_can_tell_them_apart),
        cmocka_unit_test(planes_do_not_get_in_each_others_way),
        cmocka_unit_test(targets_that_join_lose_nothing),
        cmocka_unit_test(a_point_that_is_not_as_it_was_is_a_loss),
        cmocka_unit_test(a_lost_target_has_lost_something_once_it_is_back_without_it),
        cmocka_unit_test(a_plane_that_fails_loses_once_and_not_with_each_attempt),
        cmocka_unit_test(off_and_on_are_losses),
        cmocka_unit_test(what_cannot_be_seen_any_more_may_be_lost),
        cmocka_unit_test(a_quarantine_changes_what_was_in_force),
        cmocka_unit_test(where_processes_come_and_go_the_plane_tells_of_losses),
        cmocka_unit_test(want_of_memory_is_told_and_gone_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
