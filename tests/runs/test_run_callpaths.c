#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/run_callpaths.h"
#include "pythia/status.h"

static const struct pythia_profile_options by_callpath = {.by = PYTHIA_PROFILE_CALLPATH};

/* A trace by hand: api 0 to 100, in it db 10 to 40 and db 30 to 60 (they overlap), and log 90 to
 * 130, which outlives it. */
static struct pythia_trace_span spans[] = {
    {.id = 1,
     .start_ns = 0,
     .end_ns = 100,
     .parent = PYTHIA_NO_SPAN,
     .first_child = 1,
     .next_sibling = PYTHIA_NO_SPAN},
    {.id = 2,
     .start_ns = 10,
     .end_ns = 40,
     .parent = 0,
     .first_child = PYTHIA_NO_SPAN,
     .next_sibling = 2},
    {.id = 3,
     .start_ns = 30,
     .end_ns = 60,
     .parent = 0,
     .first_child = PYTHIA_NO_SPAN,
     .next_sibling = 3},
    {.id = 4,
     .start_ns = 90,
     .end_ns = 130,
     .parent = 0,
     .first_child = PYTHIA_NO_SPAN,
     .next_sibling = PYTHIA_NO_SPAN},
};

static struct pythia_vocabulary *name_spans(void)
{
    struct pythia_vocabulary *v = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    static const char *const names[] = {"api;v1", "db", "db", "log"};
    for (size_t i = 0; i < 4; i++)
        spans[i].tracepoint = pythia_vocabulary_tracepoint_of_id(v, pythia_text_of(names[i]), 0, 0);
    return v;
}

static void exclusive_time_is_what_no_child_covers(void **state)
{
    struct pythia_vocabulary *v = name_spans();
    struct pythia_trace trace = {.spans = spans, .count = 4, .first_root = 0, .roots = 1};
    struct pythia_profile *p = NULL;
    struct pythia_arena memory = {0};
    const struct pythia_run_callpath *paths;
    size_t count;
    assert_int_equal(pythia_profile_create(v, &by_callpath, &p), PYTHIA_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pythia_profile_add(p, &trace), PYTHIA_OK);
    assert_int_equal(pythia_run_callpaths_make(p, &memory, &paths, &count), PYTHIA_OK);
    assert_int_equal(count, 3);
    assert_string_equal(paths[0].path, "api,v1"); /* ';' stands between frames */
    assert_int_equal(paths[0].calls, 2);
    assert_int_equal(paths[0].sum_ns, 200);
    assert_int_equal(paths[0].exclusive_ns, 2 * (100 - 50 - 10)); /* 10 to 60, 90 to 100 */
    assert_string_equal(paths[1].path, "api,v1;db");
    assert_int_equal(paths[1].calls, 4);
    assert_int_equal(paths[1].exclusive_ns, 120);
    assert_rel_equal(paths[1].sum_squares, 4 * 900, 0);
    assert_rel_equal((double)paths[1].p50_ns, 30, .05);
    assert_string_equal(paths[2].path, "api,v1;log");
    assert_int_equal(paths[2].min_ns, 40);
    pythia_profile_destroy(p);
    pythia_arena_free(&memory);
    pythia_vocabulary_destroy(v);
}

static void a_failed_allocation_is_reported(void **state)
{
    struct pythia_vocabulary *v = name_spans();
    struct pythia_trace trace = {.spans = spans, .count = 4, .first_root = 0, .roots = 1};
    int done = 0;
    for (long n = 0; n < 60; n++) {
        struct pythia_profile *p = NULL;
        struct pythia_arena memory = {0};
        const struct pythia_run_callpath *paths;
        size_t count;
        pythia_mem_fail_after(n);
        int status = pythia_profile_create(v, &by_callpath, &p);
        if (status == PYTHIA_OK)
            status = pythia_profile_add(p, &trace);
        if (status == PYTHIA_OK)
            status = pythia_run_callpaths_make(p, &memory, &paths, &count);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        done += status == PYTHIA_OK;
        pythia_profile_destroy(p);
        pythia_arena_free(&memory);
    }
    assert_true(done > 0 && done < 60);
    pythia_vocabulary_destroy(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exclusive_time_is_what_no_child_covers),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
