#include <string.h>

#include "check.h"
#include "pythia/instances.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/wishes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct pythia_text a_b[] = {{"b", 1}, {"a", 1}, {"b", 1}};
static const struct pythia_text c_a[] = {{"c", 1}, {"a", 1}};

static void wishes_are_kept_in_order_each_id_once(void **state)
{
    const struct pythia_control_wish wishes[] = {
        {.id = PYTHIA_TEXT("z")},
        {.id = PYTHIA_TEXT("m"), .types = a_b, .type_count = 3},
        {.id = PYTHIA_TEXT("a"), .types = c_a, .type_count = 0},
        {.id = PYTHIA_TEXT("m"), .types = c_a, .type_count = 2},
        {.id = PYTHIA_TEXT("z"), .types = c_a, .type_count = 2},
        {.id = PYTHIA_TEXT("")},
    };
    struct pythia_wishes w;
    assert_int_equal(pythia_wishes_copy(wishes, COUNT(wishes), &w), PYTHIA_OK);
    assert_int_equal(w.count, 4);
    assert_int_equal(pythia_wishes_find(&w, PYTHIA_TEXT("")), 0);
    assert_int_equal(pythia_wishes_find(&w, PYTHIA_TEXT("a")), 1);
    assert_int_equal(pythia_wishes_find(&w, PYTHIA_TEXT("m")), 2);
    assert_int_equal(pythia_wishes_find(&w, PYTHIA_TEXT("z")), 3);
    assert_int_equal(pythia_wishes_find(&w, PYTHIA_TEXT("q")), PYTHIA_NO_WISH);
    assert_non_null(w.wishes[1].types); /* for no type at all, which is not the same as for all */
    assert_int_equal(w.wishes[1].type_count, 0);
    assert_int_equal(w.wishes[2].type_count, 3);
    assert_memory_equal(w.wishes[2].types[0].bytes, "a", 1);
    assert_memory_equal(w.wishes[2].types[1].bytes, "b", 1);
    assert_memory_equal(w.wishes[2].types[2].bytes, "c", 1);
    assert_null(w.wishes[3].types); /* for all, and for some: for all */
    pythia_wishes_free(&w);
    assert_int_equal(pythia_wishes_find(&w, PYTHIA_TEXT("a")), PYTHIA_NO_WISH);
}

static void types_of_all_wishes_are_each_named_once(void **state)
{
    const struct pythia_control_wish wishes[] = {
        {.id = PYTHIA_TEXT("z"), .types = c_a, .type_count = 2},
        {.id = PYTHIA_TEXT("all types")},
        {.id = PYTHIA_TEXT("m"), .types = a_b, .type_count = 3},
    };
    struct pythia_wishes w;
    struct pythia_text *types;
    size_t count;
    assert_int_equal(pythia_wishes_copy(wishes, COUNT(wishes), &w), PYTHIA_OK);
    assert_int_equal(pythia_wishes_types(&w, &types, &count), PYTHIA_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(types[i].bytes, &"abc"[i], 1);
    pythia_free(types);
    pythia_wishes_free(&w);
    assert_int_equal(pythia_wishes_types(&w, &types, &count), PYTHIA_OK);
    assert_int_equal(count, 0);
    pythia_free(types);
}

static bool equal(const struct pythia_control_wish *x, size_t n,
                  const struct pythia_control_wish *y, size_t m)
{
    struct pythia_wishes a, b;
    assert_int_equal(pythia_wishes_copy(x, n, &a), PYTHIA_OK);
    assert_int_equal(pythia_wishes_copy(y, m, &b), PYTHIA_OK);
    bool same = pythia_wishes_equal(&a, &b);
    pythia_wishes_free(&a);
    pythia_wishes_free(&b);
    return same;
}

static void sets_are_equal_whatever_their_order(void **state)
{
    const struct pythia_control_wish x[] = {{.id = PYTHIA_TEXT("a"), .types = a_b, .type_count = 2},
                                            {.id = PYTHIA_TEXT("b")}};
    const struct pythia_control_wish y[] = {
        {.id = PYTHIA_TEXT("b")}, {.id = PYTHIA_TEXT("a"), .types = a_b, .type_count = 3}};
    const struct pythia_control_wish types[] = {
        {.id = PYTHIA_TEXT("a"), .types = c_a, .type_count = 2}, {.id = PYTHIA_TEXT("b")}};
    const struct pythia_control_wish all[] = {{.id = PYTHIA_TEXT("a")}, {.id = PYTHIA_TEXT("b")}};
    assert_true(equal(x, 2, y, 2));
    assert_false(equal(x, 2, y, 1));
    assert_false(equal(x, 2, types, 2));
    assert_false(equal(x, 2, all, 2));
    assert_true(equal(x, 0, y, 0));
}

static const struct pythia_text two_one[] = {{"db-2/", 5}, {"db-1/", 5}, {"db-2/", 5}};
static const struct pythia_text one_two[] = {{"db-1/", 5}, {"db-2/", 5}};

static void wishes_for_other_instances_stay_apart(void **state)
{
    const struct pythia_control_wish wishes[] = {
        {.id = PYTHIA_TEXT("m"), .at = two_one, .at_count = 3, .types = a_b, .type_count = 1},
        {.id = PYTHIA_TEXT("m"), .at = one_two, .at_count = 2, .types = c_a, .type_count = 1},
        {.id = PYTHIA_TEXT("m"),
         .at = one_two,
         .at_count = 2,
         .except = two_one,
         .except_count = 3},
        {.id = PYTHIA_TEXT("m"), .types = a_b, .type_count = 1},
        {.id = PYTHIA_TEXT("a"), .at = one_two, .at_count = 1},
    };
    struct pythia_wishes w;
    assert_int_equal(pythia_wishes_copy(wishes, COUNT(wishes), &w), PYTHIA_OK);
    assert_int_equal(w.count, 4);
    assert_int_equal(pythia_wishes_find(&w, PYTHIA_TEXT("m")), 1);
    assert_int_equal(pythia_wishes_end(&w, 0), 1);
    assert_int_equal(pythia_wishes_end(&w, 1), 4);
    assert_null(w.wishes[1].at); /* for all instances comes first */
    assert_int_equal(w.wishes[1].type_count, 1);
    assert_int_equal(w.wishes[2].except_count, 0);
    assert_int_equal(w.wishes[2].at_count, 2); /* each place once */
    assert_memory_equal(w.wishes[2].at[0].bytes, "db-1/", 5);
    assert_int_equal(w.wishes[2].type_count, 2); /* of both for the same places */
    assert_int_equal(w.wishes[3].except_count, 2);
    assert_memory_equal(w.wishes[3].except[1].bytes, "db-2/", 5);
    assert_null(w.wishes[3].types);
    pythia_wishes_free(&w);
    assert_true(equal(
        &wishes[0], 1,
        &(struct pythia_control_wish){
            .id = PYTHIA_TEXT("m"), .at = one_two, .at_count = 2, .types = a_b, .type_count = 1},
        1));
    assert_false(equal(
        &wishes[2], 1,
        &(struct pythia_control_wish){.id = PYTHIA_TEXT("m"), .at = one_two, .at_count = 2}, 1));
}

static bool has(const char *place, const char *instance)
{
    return pythia_instances_has(pythia_text_of(place), pythia_text_of(instance));
}

static void a_place_names_instances_by_host_and_process(void **state)
{
    assert_true(has("db-*/", "db-1:4711:5f3c"));
    assert_true(has("db-*", "db-1:4711:5f3c"));
    assert_false(has("db-*/", "web-1:4711:db-"));
    assert_true(has("/4711", "db-1:4711:5f3c"));
    assert_true(has("db-1/47*", "db-1:4711:5f3c"));
    assert_false(has("db-2/4711", "db-1:4711:5f3c"));
    assert_false(has("/5f3c", "db-1:4711:5f3c"));
    assert_true(has("/db-1:4711:*", "db-1:4711:5f3c")); /* the whole name */
    assert_true(has("store-7d9f", "store-7d9f"));       /* a pod */
    assert_true(has("/store-7d9f", "store-7d9f"));
    assert_true(has("/store-[0-7]*", "store-7d9f"));
    assert_false(has("store/", "store-7d9f"));
    assert_true(has("/", "store-7d9f"));
    assert_true(has("", ""));
    assert_false(has("db-1/", ""));
    char long_text[600];
    memset(long_text, '*', sizeof(long_text));
    assert_false(pythia_instances_has((struct pythia_text){long_text, sizeof(long_text)},
                                      PYTHIA_TEXT("db-1:4711:5f3c")));
}

static void a_copy_without_memory_leaves_out_untouched(void **state)
{
    const struct pythia_control_wish x[] = {
        {.id = PYTHIA_TEXT("a"), .types = a_b, .type_count = 2}};
    struct pythia_wishes w = {.count = 77};
    for (long n = 0; n < 2; n++) {
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_wishes_copy(x, 1, &w), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_int_equal(w.count, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wishes_are_kept_in_order_each_id_once),
        cmocka_unit_test(types_of_all_wishes_are_each_named_once),
        cmocka_unit_test(sets_are_equal_whatever_their_order),
        cmocka_unit_test(wishes_for_other_instances_stay_apart),
        cmocka_unit_test(a_place_names_instances_by_host_and_process),
        cmocka_unit_test(a_copy_without_memory_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
