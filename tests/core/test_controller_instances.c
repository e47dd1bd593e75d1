/* Wishes for some instances, and planes that can or cannot tell these apart. */
#include "check.h"
#include "fake_plane.h"
#include "pythia/controller.h"
#include "pythia/status.h"

#define S UINT64_C(1000000000)

static const struct pythia_text db_1_2[] = {{"db-1/", 5}, {"db-2/", 5}};

/* A controller over a plane with the points shop:pay and shop:cart. */
static struct pythia_controller *begin(struct fake_plane *f, bool by_instance)
{
    static const struct pythia_controller_options usual = {0};
    struct pythia_controller *c = NULL;
    struct pythia_control *plane = &f->control;
    fake_plane_init(f, "fake", true);
    if (by_instance)
        fake_plane_of_instances(f);
    fake_plane_add(f, "shop:pay", "shop");
    fake_plane_add(f, "shop:cart", "shop");
    assert_int_equal(pythia_controller_create(&plane, 1, &usual, &c), PYTHIA_OK);
    return c;
}

/* Wish for it, and let it come into force. `at_ns` rises by 10 s with each call. */
static void want(struct pythia_controller *c, const struct pythia_control_wish *wishes,
                 size_t count, uint64_t *at_ns)
{
    uint64_t version;
    assert_int_equal(pythia_controller_want(c, wishes, count, &version), PYTHIA_OK);
    for (uint64_t now = *at_ns; now < *at_ns + 3 * S; now += S / 4)
        assert_int_equal(pythia_controller_tick(c, now), PYTHIA_OK);
    *at_ns += 10 * S;
}

static void a_plane_gets_places_only_if_it_can_tell_instances_apart(void **state)
{
    for (int can = 0; can < 2; can++) {
        struct fake_plane f;
        struct pythia_controlled p;
        uint64_t now = 100 * S;
        struct pythia_controller *c = begin(&f, can);
        struct pythia_control_wish wishes[] = {
            {.id = PYTHIA_TEXT("shop:pay"), .at = db_1_2, .at_count = 2}};
        want(c, wishes, 1, &now);
        assert_int_equal(f.points[0].told, can); /* closed rather than open everywhere */
        assert_int_equal(f.points[0].places, can ? 2 : 0);
        assert_true(pythia_controller_point(c, PYTHIA_TEXT("shop:pay"), &p));
        assert_int_equal(p.wanted, can);
        assert_int_equal(p.placed, can);
        assert_int_equal(pythia_controller_tells_instances(c, PYTHIA_TEXT("shop:pay")), can);
        assert_false(pythia_controller_tells_instances(c, PYTHIA_TEXT("shop:nothing")));
        wishes[0] = (struct pythia_control_wish){
            .id = PYTHIA_TEXT("shop:pay"), .except = db_1_2, .except_count = 2};
        want(c, wishes, 1, &now);
        assert_int_equal(f.points[0].told, can);
        assert_int_equal(f.points[0].except, can);
        pythia_controller_destroy(c);
    }
}

static void other_places_are_another_set(void **state)
{
    struct fake_plane f;
    uint64_t now = 100 * S;
    struct pythia_controller *c = begin(&f, true);
    struct pythia_control_wish wish = {.id = PYTHIA_TEXT("shop:pay"), .at = db_1_2, .at_count = 1};
    want(c, &wish, 1, &now);
    assert_int_equal(f.version, 1);
    want(c, &wish, 1, &now);
    assert_int_equal(f.version, 1);
    wish.at_count = 2;
    want(c, &wish, 1, &now);
    assert_int_equal(f.version, 2);
    wish.except = db_1_2;
    wish.except_count = 1;
    want(c, &wish, 1, &now);
    assert_int_equal(f.version, 3);
    assert_int_equal(pythia_controller_numbers(c).switches, 3);
    pythia_controller_destroy(c);
}

/* A wish for all instances makes one for some of them redundant, also for planes that cannot. */
static void all_instances_include_some(void **state)
{
    for (int can = 0; can < 2; can++) {
        struct fake_plane f;
        struct pythia_controlled p;
        uint64_t now = 100 * S;
        struct pythia_controller *c = begin(&f, can);
        const struct pythia_control_wish wishes[] = {
            {.id = PYTHIA_TEXT("shop:pay"), .at = db_1_2, .at_count = 2},
            {.id = PYTHIA_TEXT("shop:pay")},
            {.id = PYTHIA_TEXT("shop:none"), .at = db_1_2, .at_count = 2},
            {.id = PYTHIA_TEXT("shop:none")}};
        want(c, wishes, 4, &now);
        assert_true(f.points[0].told);
        assert_int_equal(f.points[0].places, 0);
        assert_false(f.points[1].told);
        assert_true(pythia_controller_point(c, PYTHIA_TEXT("shop:pay"), &p));
        assert_true(p.wanted);
        assert_false(p.placed);
        assert_int_equal(pythia_controller_numbers(c).unknown_wishes, 2);
        pythia_controller_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_gets_places_only_if_it_can_tell_instances_apart),
        cmocka_unit_test(other_places_are_another_set),
        cmocka_unit_test(all_instances_include_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
