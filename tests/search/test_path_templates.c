#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/path_templates.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define SHOP PYTHIA_TEXT("shop GET ")

static struct pythia_path_templates *create(void)
{
    struct pythia_path_templates *t = NULL;
    assert_int_equal(pythia_path_templates_create(&t), PYTHIA_OK);
    return t;
}

/* What a path is named by now. Borrowed until the next call. */
static const char *name_of(struct pythia_path_templates *t, const char *path)
{
    static struct pythia_buf out;
    pythia_buf_free(&out);
    pythia_buf_text_add(&out, SHOP);
    assert_int_equal(
        pythia_path_templates_add(t, pythia_buf_text(&out), pythia_text_of(path), &out), PYTHIA_OK);
    static char name[512];
    snprintf(name, sizeof(name), "%s", out.bytes + SHOP.size);
    pythia_buf_free(&out);
    return name;
}

static void learn(struct pythia_path_templates *t, const char *format, int from, int to)
{
    char path[256];
    for (int i = from; i < to; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof(path), format, i);
#pragma GCC diagnostic pop
        name_of(t, path);
    }
}

static void a_segment_with_many_values_is_a_variable(void **state)
{
    struct pythia_path_templates *t = create();
    learn(t, "/tenants/t%d/orders", 0, PYTHIA_PATH_VALUES);
    assert_string_equal(name_of(t, "/tenants/t3/orders"), "/tenants/t3/orders");
    assert_int_equal(pythia_path_templates_changes(t), 0);
    assert_string_equal(name_of(t, "/tenants/ada/orders"), "/tenants/{}/orders");
    assert_string_equal(name_of(t, "/tenants/t3/orders"), "/tenants/{}/orders");
    assert_int_equal(pythia_path_templates_changes(t), 1);
    assert_string_equal(name_of(t, "/tenants/ada/bills"), "/tenants/{}/bills");
    assert_string_equal(name_of(t, "/cart"), "/cart"); /* those of another length are others */
    assert_string_equal(name_of(t, "/"), "/");
    assert_string_equal(name_of(t, "/a//b/"), "/a//b/");
    assert_int_equal(pythia_path_templates_changes(t), 1);
    pythia_path_templates_destroy(t);
}

/* 65 tenants with one order each, of which no tenant has many. */
static void what_is_below_a_variable_is_counted_together(void **state)
{
    struct pythia_path_templates *t = create();
    char path[64];
    for (int i = 0; i <= PYTHIA_PATH_VALUES; i++) {
        snprintf(path, sizeof(path), "/t%d/orders/o%d/lines", i, i);
        name_of(t, path);
    }
    assert_string_equal(name_of(t, "/ada/orders/first/lines"), "/{}/orders/{}/lines");
    assert_string_equal(name_of(t, "/ada/orders/first/notes"), "/{}/orders/{}/notes");
    pythia_path_templates_destroy(t);
}

static void who_has_other_prefixes_is_not_counted(void **state)
{
    struct pythia_path_templates *t = create();
    struct pythia_buf out = {0};
    learn(t, "/u%d", 0, PYTHIA_PATH_VALUES);
    assert_int_equal(
        pythia_path_templates_add(t, PYTHIA_TEXT("shop POST "), PYTHIA_TEXT("/login"), &out),
        PYTHIA_OK);
    assert_string_equal(out.bytes, "/login");
    assert_string_equal(name_of(t, "/u1"), "/u1");
    pythia_buf_free(&out);
    pythia_path_templates_destroy(t);
}

/* The law: templates depend on which paths there are, not on their order. */
static void any_order_gives_the_same_templates(void **state)
{
    enum { PATHS = 1200, ORDERS = 40 };
    static char paths[PATHS][64], wanted[PATHS][64];
    struct pythia_random random;
    pythia_random_init(&random, 1);
    for (int i = 0; i < PATHS; i++)
        snprintf(paths[i], sizeof(paths[i]), "/%c/x%d/y%d/%c",
                 'a' + (int)pythia_random_below(&random, 3),
                 (int)pythia_random_below(&random, i % 2 ? 90 : 8),
                 (int)pythia_random_below(&random, 66), 'p' + (int)pythia_random_below(&random, 4));
    for (int order = 0; order < ORDERS; order++) {
        struct pythia_path_templates *t = create();
        for (int i = PATHS - 1; i > 0; i--) {
            size_t other = pythia_random_below(&random, (uint64_t)i + 1);
            char swap[64];
            memcpy(swap, paths[i], sizeof(swap));
            memcpy(paths[i], paths[other], sizeof(swap));
            memcpy(paths[other], swap, sizeof(swap));
        }
        for (int i = 0; i < PATHS; i++)
            name_of(t, paths[i]);
        qsort(paths, PATHS, sizeof(paths[0]), (int (*)(const void *, const void *))strcmp);
        for (int i = 0; i < PATHS; i++) {
            if (order == 0)
                snprintf(wanted[i], sizeof(wanted[i]), "%s", name_of(t, paths[i]));
            assert_string_equal(name_of(t, paths[i]), wanted[i]);
        }
        pythia_path_templates_destroy(t);
    }
}

static void names_of_an_earlier_run_teach(void **state)
{
    struct pythia_path_templates *t = create();
    const char *const names[] = {"shop GET /tenants/{}/orders", "shop GET /cart", "shop:work",
                                 "/{}", ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(pythia_path_templates_know(t, pythia_text_of(names[i])), PYTHIA_OK);
    assert_string_equal(name_of(t, "/tenants/ada/orders"), "/tenants/{}/orders");
    assert_string_equal(name_of(t, "/cart"), "/cart");
    /* also where some of the values are known */
    name_of(t, "/users/ada");
    name_of(t, "/users/bob");
    assert_int_equal(pythia_path_templates_know(t, PYTHIA_TEXT("shop GET /users/{}")), PYTHIA_OK);
    assert_string_equal(name_of(t, "/users/ada"), "/users/{}");
    pythia_path_templates_destroy(t);
}

static void a_name_that_is_part_of_a_larger_one_is_told(void **state)
{
    struct pythia_path_templates *t = create();
    learn(t, "/tenants/t%d/orders", 0, PYTHIA_PATH_VALUES);
    assert_false(pythia_path_templates_replaced(t, PYTHIA_TEXT("shop GET /tenants/t1/orders")));
    name_of(t, "/tenants/ada/orders");
    const struct {
        const char *name;
        bool replaced;
    } cases[] = {{"shop GET /tenants/t1/orders", true},    {"shop GET /tenants/{}/orders", false},
                 {"shop POST /tenants/t1/orders", false},  {"shop GET /tenants/t1", false},
                 {"shop GET /tenants/{}/unknown", false},  {"shop:GET", false},
                 {"shop GET /customers/t1/orders", false}, {"", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(pythia_path_templates_replaced(t, pythia_text_of(cases[i].name)),
                         cases[i].replaced);
    pythia_path_templates_destroy(t);
}

static void a_long_path_has_so_many_segments(void **state)
{
    struct pythia_path_templates *t = create();
    char path[512] = "", wanted[512] = "";
    for (int i = 0; i < PYTHIA_PATH_SEGMENTS - 1; i++)
        strcat(path, "/s");
    strcpy(wanted, path);
    strcat(path, "/a/b/c");
    assert_string_equal(name_of(t, path), path);
    strcat(path, "%d");
    learn(t, path, 0, PYTHIA_PATH_VALUES);
    strcat(wanted, "/{}");
    assert_string_equal(name_of(t, path), wanted);
    pythia_path_templates_destroy(t);
}

/* 60 words in each of three places are not many in any of them, and too many together. */
static void beyond_the_most_nodes_what_is_new_is_not_told_apart(void **state)
{
    struct pythia_path_templates *t = create();
    char path[64];
    for (int i = 0; i < 60 * 60 * 60; i++) {
        snprintf(path, sizeof(path), "/a%d/b%d/c%d", i / 3600, i / 60 % 60, i % 60);
        name_of(t, path);
    }
    assert_string_equal(name_of(t, "/a0/b0/c0"), "/a0/b0/c0");
    assert_string_equal(name_of(t, "/a59/b0/c0"), "/{}/{}/{}");
    assert_int_equal(pythia_path_templates_changes(t), 0);
    pythia_path_templates_destroy(t);
}

static void without_memory_now_and_then_it_goes_on(void **state)
{
    struct pythia_path_templates *t = NULL;
    int failures = 0;
    for (int after = 0; !t; after++) {
        pythia_mem_fail_after(after);
        int status = pythia_path_templates_create(&t);
        assert_int_equal(status, t ? PYTHIA_OK : PYTHIA_ENOMEM);
        failures += status != PYTHIA_OK;
    }
    assert_true(failures > 0);
    for (int i = 0; i < 3000; i++) {
        struct pythia_buf out = {0};
        char path[64];
        snprintf(path, sizeof(path), "/w%d/x%d/y", i % 50, i);
        pythia_mem_fail_after(i % 7);
        int status = pythia_path_templates_add(t, SHOP, pythia_text_of(path), &out);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        (void)pythia_path_templates_know(t, PYTHIA_TEXT("shop GET /{}/new"));
        (void)pythia_path_templates_replaced(t, PYTHIA_TEXT("shop GET /w1/x1/y"));
        pythia_mem_fail_after(-1);
        pythia_buf_free(&out);
    }
    for (int i = 0; i <= PYTHIA_PATH_VALUES; i++)
        learn(t, "/w1/x%d/y", 0, PYTHIA_PATH_VALUES + 1);
    assert_string_equal(name_of(t, "/w1/x5000/y"), "/w1/{}/y");
    pythia_path_templates_destroy(t);
    pythia_path_templates_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_with_many_values_is_a_variable),
        cmocka_unit_test(what_is_below_a_variable_is_counted_together),
        cmocka_unit_test(who_has_other_prefixes_is_not_counted),
        cmocka_unit_test(any_order_gives_the_same_templates),
        cmocka_unit_test(names_of_an_earlier_run_teach),
        cmocka_unit_test(a_name_that_is_part_of_a_larger_one_is_told),
        cmocka_unit_test(a_long_path_has_so_many_segments),
        cmocka_unit_test(beyond_the_most_nodes_what_is_new_is_not_told_apart),
        cmocka_unit_test(without_memory_now_and_then_it_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
