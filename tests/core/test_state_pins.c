/* Pins of a state that hold for some request types, or at some instances, and states of schemas
 * that had none of these. */
#include <string.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/state.h"
#include "pythia/status.h"
#include "state_case.h"

static int take_pin_type(void *context, struct pythia_text id, struct pythia_text type)
{
    struct pythia_buf *all = context;
    pythia_buf_text_add(all, id);
    pythia_buf_puts(all, " ");
    pythia_buf_text_add(all, type);
    pythia_buf_puts(all, "; ");
    return pythia_buf_status(all);
}

static void assert_pin_types(struct pythia_state *s, const char *wanted)
{
    struct pythia_buf all = {0};
    pythia_buf_puts(&all, "");
    assert_int_equal(pythia_state_each_pin_type(s, take_pin_type, &all), PYTHIA_OK);
    assert_string_equal(all.bytes, wanted);
    pythia_buf_free(&all);
}

static void a_pin_may_be_for_some_types_only(void **state)
{
    const struct pythia_text types[] = {PYTHIA_TEXT("POST /order"), PYTHIA_TEXT("GET /list"),
                                        PYTHIA_TEXT("GET /list")};
    struct place place;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), -1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(2), 1), PYTHIA_OK);
    for (int i = 1; i < 5; i++)
        assert_int_equal(pythia_state_put_pin_for(s, point(i), types, i == 4 ? 3 : 1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(3), 0), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(2), 1), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin_for(s, point(1), types + 1, 1), PYTHIA_OK);
    pythia_state_close(s);
    s = opened(place.state);
    struct pins p = pins_of(s);
    assert_true(p.count == 1 && p.pin[2] == 1);
    assert_pin_types(s, "p1 GET /list; p4 GET /list; p4 POST /order; ");
    pythia_state_close(s);
    remove_place(&place);
}

static void assert_pin_places(struct pythia_state *s, const char *wanted)
{
    struct pythia_buf all = {0};
    pythia_buf_puts(&all, "");
    assert_int_equal(pythia_state_each_pin_place(s, take_pin_place, &all), PYTHIA_OK);
    assert_string_equal(all.bytes, wanted);
    pythia_buf_free(&all);
}

static void a_pin_may_hold_at_some_instances_only(void **state)
{
    const struct pythia_text places[] = {PYTHIA_TEXT("db-2/"), PYTHIA_TEXT("db-1/*"),
                                         PYTHIA_TEXT("db-2/")};
    struct place place;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    for (int i = 1; i < 5; i++)
        assert_int_equal(pythia_state_put_pin_at(s, point(i), i == 2 ? -1 : 1, places, 3),
                         PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(3), 0), PYTHIA_OK);
    assert_int_equal(pythia_state_put_pin(s, point(4), 1), PYTHIA_OK);
    pythia_state_close(s);
    s = opened(place.state);
    struct pins p = pins_of(s);
    assert_true(p.count == 1 && p.pin[4] == 1); /* the last pin of a point takes its place */
    assert_pin_places(s, "p1 1 db-1/*; p1 1 db-2/; p2 -1 db-1/*; p2 -1 db-2/; ");
    assert_pin_types(s, "");
    pythia_state_close(s);
    remove_place(&place);
}

static void pins_of_the_third_schema_are_for_all_types(void **state)
{
    struct place place;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_pin(s, point(1), 1), PYTHIA_OK);
    pythia_state_close(s);
    execute(place.state, "DROP TABLE pin_type; DROP TABLE desired_type; DROP TABLE pin_place;"
                         "PRAGMA user_version=3;");
    s = opened(place.state);
    assert_int_equal(pins_of(s).pin[1], 1);
    assert_pin_types(s, "");
    assert_int_equal(pythia_state_put_pin_for(s, point(1), &(struct pythia_text){"T", 1}, 1),
                     PYTHIA_OK);
    assert_pin_types(s, "p1 T; ");
    pythia_state_close(s);
    remove_place(&place);
}

static void what_the_fourth_schema_desired_is_for_all_types(void **state)
{
    const struct pythia_text type = PYTHIA_TEXT("T");
    const struct pythia_control_wish for_all = {.id = point(1)},
                                     for_one = {.id = point(1), .types = &type, .type_count = 1};
    struct place place;
    struct desired d = {0}, later = {0};
    uint64_t version;
    make_place(&place);
    struct pythia_state *s = opened(place.state);
    assert_int_equal(pythia_state_put_desired(s, &for_all, 1, 40, NULL), PYTHIA_OK);
    pythia_state_close(s);
    execute(place.state, "DROP TABLE desired_type; DROP TABLE pin_place; PRAGMA user_version=4;");
    s = opened(place.state);
    assert_int_equal(pythia_state_each_desired(s, take_desired, &d, &version), PYTHIA_OK);
    assert_string_equal(d.all, "p1");
    assert_int_equal(pythia_state_put_desired(s, &for_one, 1, 41, NULL), PYTHIA_OK);
    assert_int_equal(pythia_state_each_desired(s, take_desired, &later, &version), PYTHIA_OK);
    assert_string_equal(later.all, "p1/T");
    assert_int_equal(pythia_state_put_desired(s, &for_all, 1, 42, NULL), PYTHIA_OK);
    later = (struct desired){0}; /* the types went with the point */
    assert_int_equal(pythia_state_each_desired(s, take_desired, &later, &version), PYTHIA_OK);
    assert_string_equal(later.all, "p1");
    pythia_state_close(s);
    remove_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pin_may_be_for_some_types_only),
        cmocka_unit_test(a_pin_may_hold_at_some_instances_only),
        cmocka_unit_test(pins_of_the_third_schema_are_for_all_types),
        cmocka_unit_test(what_the_fourth_schema_desired_is_for_all_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
