#include "check.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/wishes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct pythia_text a_b[] = {{"b", 1}, {"a", 1}, {"b", 1}};
static const struct pythia_text c_a[] = {{"c", 1}, {"a", 1}};

static void wishes_are_kept_in_order_each_id_once(void **state)
{
    const struct pythia_control_wish wishes[] = {
        {PYTHIA_TEXT("z"), NULL, 0}, {PYTHIA_TEXT("m"), a_b, 3}, {PYTHIA_TEXT("a"), c_a, 0},
        {PYTHIA_TEXT("m"), c_a, 2},  {PYTHIA_TEXT("z"), c_a, 2}, {PYTHIA_TEXT(""), NULL, 0},
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
    const struct pythia_control_wish x[] = {{PYTHIA_TEXT("a"), a_b, 2},
                                            {PYTHIA_TEXT("b"), NULL, 0}};
    const struct pythia_control_wish y[] = {{PYTHIA_TEXT("b"), NULL, 0},
                                            {PYTHIA_TEXT("a"), a_b, 3}};
    const struct pythia_control_wish types[] = {{PYTHIA_TEXT("a"), c_a, 2},
                                                {PYTHIA_TEXT("b"), NULL, 0}};
    const struct pythia_control_wish all[] = {{PYTHIA_TEXT("a"), NULL, 0},
                                              {PYTHIA_TEXT("b"), NULL, 0}};
    assert_true(equal(x, 2, y, 2));
    assert_false(equal(x, 2, y, 1));
    assert_false(equal(x, 2, types, 2));
    assert_false(equal(x, 2, all, 2));
    assert_true(equal(x, 0, y, 0));
}

static void a_copy_without_memory_leaves_out_untouched(void **state)
{
    const struct pythia_control_wish x[] = {{PYTHIA_TEXT("a"), a_b, 2}};
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
        cmocka_unit_test(sets_are_equal_whatever_their_order),
        cmocka_unit_test(a_copy_without_memory_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
