/* What the controller knows beside what a plane says: prices, hits, and points that are silent. */
#include "controller_case.h"
#include "pythia/mem.h"

/* What has come of shop:cart so far, and what it costs; of others nothing is known. */
static struct pythia_controller_seen seen_now;

static struct pythia_controller_seen see(void *context, struct pythia_text id)
{
    struct pythia_controller_seen nothing = {.price_ns = NAN};
    return pythia_text_equal(id, PYTHIA_TEXT("shop:cart")) ? seen_now : nothing;
}

static struct pythia_controlled cart(struct pythia_controller *c)
{
    struct pythia_controlled p = {0};
    assert_true(pythia_controller_point(c, PYTHIA_TEXT("shop:cart"), &p));
    return p;
}

static struct pythia_controller *begin_seeing(struct fake_plane *f)
{
    seen_now = (struct pythia_controller_seen){120, PYTHIA_PRICE_EXPECTED, 7, 1000};
    struct pythia_controller *c = begin(f, &(struct pythia_controller_options){.see = see});
    f->points[1].knows_nothing = true;
    return c;
}

static void a_price_that_the_plane_lacks_is_what_else_is_known(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin_seeing(&f);
    struct pythia_controlled p;
    run(c, 100 * S, 101 * S);
    assert_rel_equal(cart(c).price_ns, 120, 0);
    assert_int_equal(cart(c).price_known, PYTHIA_PRICE_EXPECTED);
    assert_int_equal(cart(c).hits, 7);
    assert_int_equal(cart(c).spans, 0); /* it is closed */
    seen_now = (struct pythia_controller_seen){90, PYTHIA_PRICE_MEASURED, 9, 1000};
    run(c, 101 * S, 102 * S);
    assert_rel_equal(cart(c).price_ns, 90, 0);
    assert_string_equal(pythia_price_known_name(cart(c).price_known), "measured");
    assert_true(pythia_controller_point(c, PYTHIA_TEXT("stock:find"), &p));
    assert_rel_equal(p.price_ns, 102, 0); /* the plane's own goes first */
    assert_string_equal(pythia_price_known_name(p.price_known), "measured");
    assert_int_equal(p.hits, 2);
    f.points[2].knows_nothing = true;
    run(c, 102 * S, 103 * S);
    assert_true(pythia_controller_point(c, PYTHIA_TEXT("stock:find"), &p));
    assert_rel_equal(p.price_ns, NAN, 0);
    assert_string_equal(pythia_price_known_name(p.price_known), "supposed");
    assert_false(pythia_controller_point(c, PYTHIA_TEXT("shop:none"), &p));
    pythia_controller_destroy(c);
}

static void what_comes_is_counted_from_when_a_point_was_opened(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin_seeing(&f);
    run(c, 100 * S, 101 * S);
    seen_now.spans = 10; /* the plane is told before the next look */
    want(c, "shop:cart");
    tick(c, 101 * S + 100 * MS);
    seen_now.spans = 34;
    seen_now.requests = 1012;
    run(c, 101 * S + 200 * MS, 103 * S);
    assert_int_equal(cart(c).spans, 24);
    assert_int_equal(cart(c).requests, 12);
    want(c, "");
    run(c, 103 * S, 105 * S);
    assert_int_equal(cart(c).spans, 0);
    assert_int_equal(cart(c).hits, 34);
    want(c, "shop:cart");
    run(c, 105 * S, 107 * S);
    assert_int_equal(cart(c).spans, 0); /* it begins anew */
    seen_now.spans++;
    run(c, 107 * S, 108 * S);
    assert_int_equal(cart(c).spans, 1);
    pythia_controller_destroy(c);
}

static void an_open_point_that_requests_do_not_pass_is_mute(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin_seeing(&f);
    run(c, 100 * S, 101 * S);
    assert_false(cart(c).silent); /* closed */
    want(c, "shop:cart");
    run(c, 101 * S, 103 * S);
    assert_false(cart(c).silent); /* no request has come that could have passed it */
    seen_now.requests += PYTHIA_SILENT_REQUESTS - 1;
    run(c, 103 * S, 104 * S);
    assert_false(cart(c).silent);
    assert_int_equal(pythia_controller_numbers(c).silent, 0);
    seen_now.requests++;
    run(c, 104 * S, 105 * S);
    assert_true(cart(c).silent);
    assert_int_equal(pythia_controller_numbers(c).silent, 1);
    f.points[1].mood = FAKE_LOST;
    run(c, 105 * S, 106 * S);
    assert_false(cart(c).silent); /* who cannot be reached may have been passed */
    f.points[1].mood = FAKE_OBEYS;
    run(c, 106 * S, 107 * S);
    assert_true(cart(c).silent);
    seen_now.spans++;
    run(c, 107 * S, 108 * S);
    assert_false(cart(c).silent);
    pythia_controller_destroy(c);
}

static void a_point_of_two_targets_is_one(void **state)
{
    struct fake_plane f;
    struct pythia_controller *c = begin_seeing(&f);
    f.points[1].knows_nothing = false;
    fake_plane_add(&f, "shop:cart", "shop 2"); /* 103 ns, 3 hits; the first one 101 ns, 1 hit */
    run(c, 100 * S, 101 * S);
    assert_rel_equal(cart(c).price_ns, 103, 0);
    assert_int_equal(cart(c).hits, 7); /* spans, of both */
    seen_now.spans = 3;
    run(c, 101 * S, 102 * S);
    assert_int_equal(cart(c).hits, 4);
    pythia_controller_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_price_that_the_plane_lacks_is_what_else_is_known),
        cmocka_unit_test(what_comes_is_counted_from_when_a_point_was_opened),
        cmocka_unit_test(an_open_point_that_requests_do_not_pass_is_mute),
        cmocka_unit_test(a_point_of_two_targets_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
