/* How often points were passed, and how many requests could have passed them. */
#include "check.h"
#include "pythia/mem.h"
#include "pythia/passes.h"
#include "pythia/status.h"

/* Requests of "A" pass root and a, those of "B" root and b, those of "C" pass c; the space knows A
 * and B. */
static struct fixture {
    struct pythia_vocabulary *vocabulary;
    struct pythia_space *space;
    struct pythia_passes *passes;
    struct pythia_critical_path path;
    uint32_t root, a, b, c, types[3];
} f;

static uint32_t point(const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(f.vocabulary, pythia_text_of(id), 0, 0);
}

static void begin(void)
{
    assert_int_equal(pythia_vocabulary_create(&f.vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_space_create(f.vocabulary, &f.space), PYTHIA_OK);
    assert_int_equal(pythia_passes_create(f.vocabulary, &f.passes), PYTHIA_OK);
    pythia_critical_path_init(&f.path);
    f.root = point("s:root");
    f.a = point("s:a");
    f.b = point("s:b");
    f.c = point("s:c");
    for (int i = 0; i < 3; i++)
        f.types[i] = pythia_vocabulary_string(f.vocabulary, (struct pythia_text){&"ABC"[i], 1});
}

static void finish(void)
{
    pythia_passes_destroy(f.passes);
    pythia_space_destroy(f.space);
    pythia_critical_path_free(&f.path);
    pythia_vocabulary_destroy(f.vocabulary);
}

/* A request with a root, and below it `times` spans of a point. */
static void request(int type, uint32_t below, uint32_t times, bool learns, bool settled)
{
    struct pythia_trace_span spans[8] = {{0}};
    spans[0] = (struct pythia_trace_span){.id = 1,
                                          .start_ns = 1000,
                                          .end_ns = 9000,
                                          .completed_ns = 9000,
                                          .parent = PYTHIA_NO_SPAN,
                                          .first_child = times ? 1 : PYTHIA_NO_SPAN,
                                          .next_sibling = PYTHIA_NO_SPAN,
                                          .joins = PYTHIA_NO_SPAN,
                                          .work = PYTHIA_NO_SPAN,
                                          .tracepoint = f.root};
    for (uint32_t i = 1; i <= times; i++)
        spans[i] = (struct pythia_trace_span){.id = i + 1,
                                              .start_ns = 1000 * i,
                                              .end_ns = 1000 * i + 500,
                                              .completed_ns = 1000 * i + 500,
                                              .first_child = PYTHIA_NO_SPAN,
                                              .next_sibling = i < times ? i + 1 : PYTHIA_NO_SPAN,
                                              .joins = PYTHIA_NO_SPAN,
                                              .work = PYTHIA_NO_SPAN,
                                              .tracepoint = below};
    const struct pythia_trace trace = {.spans = spans,
                                       .count = times + 1,
                                       .roots = 1,
                                       .start_ns = 1000,
                                       .end_ns = 9000,
                                       .completed_ns = 9000};
    if (learns) {
        assert_int_equal(pythia_critical_path_find(&f.path, &trace, PYTHIA_LATENCY_COMPLETION),
                         PYTHIA_OK);
        assert_int_equal(pythia_space_add(f.space, f.types[type], &trace, &f.path), PYTHIA_OK);
        return;
    }
    assert_int_equal(pythia_passes_add(f.passes, f.types[type], &trace, settled), PYTHIA_OK);
}

static void assert_counts(uint32_t tracepoint, uint64_t spans, uint64_t requests)
{
    struct pythia_pass_counts n = pythia_passes_of(f.passes, tracepoint);
    assert_int_equal(n.spans, spans);
    assert_int_equal(n.requests, requests);
}

static void requests_count_where_their_type_passes(void **state)
{
    begin();
    request(0, f.a, 1, true, false);
    request(1, f.b, 2, true, false);
    for (int i = 0; i < 10; i++)
        request(0, f.a, 3, false, true);
    for (int i = 0; i < 4; i++)
        request(1, f.b, 0, false, true); /* b is closed */
    request(2, f.c, 1, false, true);
    assert_counts(f.b, 0, 0); /* nobody has looked */
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_OK);
    assert_counts(f.a, 30, 10);
    assert_counts(f.b, 0, 4);
    assert_counts(f.root, 15, 14); /* C is not known to pass it */
    assert_counts(f.c, 1, 15);     /* the space does not know it: any could have */
    assert_counts(point("s:never"), 0, 15);
    assert_counts(PYTHIA_NONE, 0, 15);
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_OK);
    assert_counts(f.b, 0, 4); /* of another look nothing is added */
    finish();
}

static void a_request_from_before_a_switch_gives_spans_and_is_not_counted(void **state)
{
    begin();
    request(1, f.b, 1, true, false);
    request(1, f.b, 2, false, false);
    request(1, f.b, 1, false, true);
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_OK);
    assert_counts(f.b, 3, 1);
    finish();
}

static void failed_allocations_leave_the_counts(void **state)
{
    begin();
    request(0, f.a, 1, true, false);
    request(0, f.a, 1, false, true);
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_OK);
    for (int i = 0; i < 70; i++)
        point((const char[]){'x', (char)('0' + i), 0});
    struct pythia_passes *untouched = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_ENOMEM);
    assert_int_equal(pythia_passes_create(f.vocabulary, &untouched), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(untouched);
    assert_counts(f.a, 1, 1);
    pythia_passes_destroy(NULL);
    finish();
}

static void requests_of_other_types_do_not_pass_a_point_that_is_open_for_one(void **state)
{
    struct pythia_open_points *limited = NULL;
    begin();
    request(0, f.a, 1, true, false);
    request(1, f.a, 1, true, false);
    for (int i = 0; i < 3; i++)
        request(0, f.a, 1, false, true);
    for (int i = 0; i < 5; i++)
        request(1, f.a, 0, false, true);
    assert_int_equal(pythia_open_points_create(f.vocabulary, &limited), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id_for(limited, PYTHIA_TEXT("s:a"), PYTHIA_TEXT("A")),
                     PYTHIA_OK);
    pythia_passes_set_limited(f.passes, limited);
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_OK);
    assert_counts(f.a, 3, 3);
    assert_counts(f.root, 8, 8);
    pythia_passes_set_limited(f.passes, NULL);
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_OK);
    assert_counts(f.a, 3, 3); /* those that did not pass are not made up for */
    for (int i = 0; i < 2; i++)
        request(1, f.a, 1, false, true);
    assert_int_equal(pythia_passes_look(f.passes, f.space), PYTHIA_OK);
    assert_counts(f.a, 5, 5);
    pythia_open_points_destroy(limited);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_count_where_their_type_passes),
        cmocka_unit_test(a_request_from_before_a_switch_gives_spans_and_is_not_counted),
        cmocka_unit_test(failed_allocations_leave_the_counts),
        cmocka_unit_test(requests_of_other_types_do_not_pass_a_point_that_is_open_for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
