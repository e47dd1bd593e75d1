/* What there is no room to record leaves a mark on what is recorded of the same trace, and only
 * there: a reader must not take a call that is missing for one that was not made. */
#include "traced.h"

#define CALLS 3

static uint64_t lost(void)
{
    struct pythia_tracepoints_state s;
    pythia_tracepoints_state_get(&s);
    return s.lost_spans + s.lost_annotations;
}

/* Leave no room, not even for an annotation. */
static void fill_ring(void)
{
    uint64_t before = lost();
    open_point("test:filler");
    for (int i = 0; i < 1000000 && lost() == before; i++) {
        PYTHIA_ANNOTATE("filler");
    }
    assert_true(lost() > before);
}

static void open_points(const char *a, const char *b, const char *c)
{
    open_point(a);
    open_point(b);
    open_point(c);
}

static void run_requests(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PYTHIA_REQUEST("order");
        PYTHIA_SPAN("order");
        for (int j = 0; j < CALLS; j++) {
            PYTHIA_SPAN("call");
        }
    }
}

static bool is_at(const struct collection *c, size_t i, const char *id)
{
    return strcmp(pythia_vocabulary_tracepoint_id(c->vocabulary, span_at(c, i)->tracepoint).bytes,
                  id) == 0;
}

/* Each order must have all its calls, or be marked. Returns how many lack one. */
static size_t check_orders(const struct collection *c)
{
    size_t partial = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct pythia_span *order = span_at(c, i);
        size_t calls = 0;
        if (!is_at(c, i, "test:order"))
            continue;
        for (size_t j = 0; j < c->count; j++)
            calls += span_at(c, j)->parent == order->id;
        partial += calls < CALLS;
        assert_int_equal(order->lossy, calls < CALLS);
    }
    return partial;
}

/* Whatever is lost: the room ends at another place of a request in each turn. */
static void requests_that_lack_calls_are_marked_and_no_others(void **state)
{
    size_t partial = 0;
    open_points("test:order", "test:call", "test:shift");
    for (size_t turn = 0; turn < 40; turn++) {
        struct collection c;
        for (size_t i = 0; i < turn; i++)
            PYTHIA_ANNOTATE("shift");
        run_requests(400);
        read_spans(&c);
        assert_problems(&c, "");
        partial += check_orders(&c);
        collection_close(&c);
    }
    assert_true(lost() > 0);
    assert_true(partial > 0);
}

static void a_lost_annotation_marks_the_span_around_it(void **state)
{
    struct collection c;
    open_points("test:around", "test:mark", "test:mark");
    {
        PYTHIA_SPAN("around");
        fill_ring();
        PYTHIA_ANNOTATE("mark");
    }
    read_spans(&c);
    assert_true(span_at(&c, only(&c, "test:around"))->lossy);
    collection_close(&c);
}

/* What would have been at the top of the request is lost: what comes after that is marked. */
static void a_lost_first_span_marks_the_next_of_its_request(void **state)
{
    struct collection c;
    open_points("test:first", "test:second", "test:mark");
    fill_ring();
    PYTHIA_REQUEST("order");
    PYTHIA_SPAN("first");
    discard_spans();
    {
        PYTHIA_SPAN("second");
    }
    PYTHIA_ANNOTATE("mark");
    read_spans(&c);
    assert_int_equal(count_of(&c, "test:first"), 0);
    assert_true(span_at(&c, only(&c, "test:second"))->lossy);
    assert_true(span_at(&c, only(&c, "test:mark"))->lossy);
    collection_close(&c);
}

static void what_belongs_to_no_trace_marks_nothing(void **state)
{
    struct collection c;
    open_points("test:alone", "test:order", "test:order");
    fill_ring();
    discard_spans();
    {
        PYTHIA_SPAN("alone");
    }
    {
        PYTHIA_REQUEST("order");
        PYTHIA_SPAN("order");
    }
    read_spans(&c);
    assert_int_equal(span_at(&c, only(&c, "test:alone"))->lossy, false);
    assert_int_equal(span_at(&c, only(&c, "test:order"))->lossy, false);
    collection_close(&c);
}

/* A loop with many requests in hand: of its two contexts only one lost a span. */
static void a_context_in_hand_is_marked_by_itself(void **state)
{
    struct collection c;
    struct pythia_scope scope[4], *span;
    struct pythia_context at[2] = {
        {.flags = PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REQUEST},
        {.flags = PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REQUEST},
    };
    open_points("test:early", "test:late", "test:other");
    fill_ring();
    assert_null(PYTHIA_BEGIN_AT(&at[0], &scope[0], PYTHIA_POINT_INTERNAL, "early"));
    discard_spans();
    span = PYTHIA_BEGIN_AT(&at[0], &scope[1], PYTHIA_POINT_INTERNAL, "late");
    PYTHIA_END(span);
    span = PYTHIA_BEGIN_AT(&at[1], &scope[2], PYTHIA_POINT_INTERNAL, "other");
    PYTHIA_END(span);
    read_spans(&c);
    assert_true(span_at(&c, only(&c, "test:late"))->lossy);
    assert_false(span_at(&c, only(&c, "test:other"))->lossy);
    collection_close(&c);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_that_lack_calls_are_marked_and_no_others),
        TEST(a_lost_annotation_marks_the_span_around_it),
        TEST(a_lost_first_span_marks_the_next_of_its_request),
        TEST(what_belongs_to_no_trace_marks_nothing),
        TEST(a_context_in_hand_is_marked_by_itself),
    };
    setenv("PYTHIA_RING_BYTES", "65536", 1);
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
