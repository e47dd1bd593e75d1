/* Spans, annotations and key-values of this process, as its reader finds them. */
#define _DEFAULT_SOURCE /* getpagesize, MAP_ANONYMOUS */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "traced.h"

static void spans_nest_as_their_blocks_do(void **state)
{
    struct collection c;
    open_point("test:outer");
    open_point("test:inner");
    {
        PYTHIA_SPAN("outer");
        {
            PYTHIA_SPAN("inner");
        }
        PYTHIA_ANNOTATE("closed");
    }
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    assert_child(&c, "test:inner", "test:outer");
    assert_root(&c, "test:outer");
    size_t outer = only(&c, "test:outer"), inner = only(&c, "test:inner");
    assert_int_equal(span_at(&c, outer)->part, PYTHIA_PART_WHOLE);
    assert_int_equal(span_at(&c, inner)->kind, PYTHIA_SPAN_INTERNAL);
    assert_true(span_at(&c, inner)->start_ns >= span_at(&c, outer)->start_ns);
    assert_true(span_at(&c, inner)->duration_ns <= span_at(&c, outer)->duration_ns);
    assert_true(span_at(&c, inner)->duration_ns >= 0);
    assert_string_equal(pythia_vocabulary_text(c.vocabulary, resource_at(&c, outer).service).bytes,
                        "test");
    collection_close(&c);
}

static void a_closed_point_is_transparent(void **state)
{
    struct collection c;
    open_point("test:above");
    open_point("test:below");
    {
        PYTHIA_SPAN("above");
        PYTHIA_SPAN_AS(shut, "shut");
        assert_null(shut);
        PYTHIA_SET(shut, "key", 1); /* of a closed point: nobody's */
        PYTHIA_SPAN("below");
    }
    read_spans(&c);
    assert_int_equal(c.count, 2);
    assert_child(&c, "test:below", "test:above");
    assert_int_equal(attribute_count(&c, only(&c, "test:above")), 0);
    collection_close(&c);
}

/* How the same function looks under each set of open points: what is closed is left out, and what
 * was below it hangs on the nearest that is open. */
static void work(void)
{
    PYTHIA_SPAN("a");
    PYTHIA_SPAN("b");
    PYTHIA_SPAN("c");
    PYTHIA_ANNOTATE("d");
}

static void every_set_of_open_points_makes_one_tree(void **state)
{
    static const char *const ids[] = {"test:a", "test:b", "test:c", "test:d"};
    for (unsigned set = 0; set < 16; set++) {
        struct collection c;
        for (unsigned i = 0; i < 4; i++)
            throw_types(ids[i], set & 1u << i ? PYTHIA_SWITCHES_ALL : 0);
        work();
        read_spans(&c);
        const char *above = NULL;
        size_t expected = 0;
        for (unsigned i = 0; i < 4; i++) {
            if (!(set & 1u << i))
                continue;
            expected++;
            if (above)
                assert_child(&c, ids[i], above);
            else
                assert_root(&c, ids[i]);
            above = ids[i];
        }
        assert_int_equal(c.count, expected);
        collection_close(&c);
    }
}

static void a_point_may_be_open_for_one_kind_of_request(void **state)
{
    struct collection c;
    int create = pythia_switchboard_type(traced.board, "create", 6);
    assert_in_range(create, PYTHIA_TYPE_FIRST, PYTHIA_TYPE_LAST);
    throw_types("test:selective", UINT64_C(1) << create);
    {
        PYTHIA_REQUEST("create");
        PYTHIA_SPAN("selective");
    }
    {
        PYTHIA_REQUEST("list");
        PYTHIA_SPAN("selective");
    }
    {
        PYTHIA_SPAN("selective"); /* of no kind */
    }
    read_spans(&c);
    assert_int_equal(count_of(&c, "test:selective"), 1);
    assert_text(&c, 0, "request_type", "create");
    collection_close(&c);
}

/* The root point of a request may be closed: its spans are still of one trace. */
static void a_request_is_one_trace_whatever_is_open(void **state)
{
    struct collection c;
    open_point("test:first");
    open_point("test:second");
    {
        PYTHIA_REQUEST("checkout");
        {
            PYTHIA_SPAN("first");
        }
        {
            PYTHIA_SPAN("second");
        }
    }
    {
        PYTHIA_REQUEST("checkout");
        PYTHIA_SPAN("first");
    }
    read_spans(&c);
    assert_int_equal(c.count, 3);
    assert_true(pythia_trace_id_equal(c.spans[0].trace, c.spans[1].trace));
    assert_false(pythia_trace_id_equal(c.spans[1].trace, c.spans[2].trace));
    for (size_t i = 0; i < 3; i++) {
        assert_true(span_at(&c, i)->parent == 0);
        assert_text(&c, i, "request_type", "checkout");
    }
    collection_close(&c);
}

static void a_request_is_named_once_its_kind_is_known(void **state)
{
    struct collection c;
    int late = pythia_switchboard_type(traced.board, "GET /late", 9);
    open_point("test:entry");
    throw_types("test:handler", UINT64_C(1) << late);
    {
        PYTHIA_SPAN("entry");
        {
            PYTHIA_SPAN("handler"); /* not yet */
        }
        pythia_request_name("GET /late", 9);
        PYTHIA_SPAN("handler");
    }
    read_spans(&c);
    assert_int_equal(c.count, 2);
    assert_text(&c, only(&c, "test:entry"), "request_type", "GET /late");
    assert_child(&c, "test:handler", "test:entry");
    collection_close(&c);
}

static void key_values_keep_their_types(void **state)
{
    struct collection c;
    open_point("test:values");
    {
        PYTHIA_SPAN_AS(span, "values");
        char array[] = "an array";
        PYTHIA_SET(span, "int", -7);
        PYTHIA_SET(span, "long", (long)LONG_MIN);
        PYTHIA_SET(span, "unsigned", 7u);
        PYTHIA_SET(span, "largest", ULLONG_MAX); /* does not fit: a real */
        PYTHIA_SET(span, "char", (char)'x');
        PYTHIA_SET(span, "real", .1);
        PYTHIA_SET(span, "float", .5f);
        PYTHIA_SET(span, "true", (bool)true);
        PYTHIA_SET(span, "false", (bool)false);
        PYTHIA_SET(span, "text", "some text");
        PYTHIA_SET(span, "array", array);
        PYTHIA_SET(span, "empty", "");
        PYTHIA_SET(span, "", 1);
        PYTHIA_SET_TEXT(span, "bytes", "a\0b", 3);
    }
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 14);
    assert_integer(&c, 0, "int", -7);
    assert_integer(&c, 0, "long", (double)LONG_MIN);
    assert_integer(&c, 0, "unsigned", 7);
    assert_real(&c, 0, "largest", 18446744073709551616.);
    assert_integer(&c, 0, "char", 'x');
    assert_real(&c, 0, "real", .1);
    assert_real(&c, 0, "float", .5);
    assert_truth(&c, 0, "true", 1);
    assert_truth(&c, 0, "false", 0);
    assert_text(&c, 0, "text", "some text");
    assert_text(&c, 0, "array", "an array");
    assert_text(&c, 0, "empty", "");
    assert_integer(&c, 0, "", 1);
    assert_text(&c, 0, "bytes",
                "a\xEF\xBF\xBD"
                "b");
    collection_close(&c);
}

/* The values of a closed point are not even computed. */
static void key_values_of_a_closed_point_cost_nothing(void **state)
{
    int computed = 0;
    close_point("test:shut");
    PYTHIA_SPAN_AS(span, "shut");
    PYTHIA_SET(span, "key", ++computed);
    PYTHIA_SET_TEXT(span, "key", "text", (size_t)++computed);
    PYTHIA_SET_HERE("key", ++computed);
    assert_int_equal(computed, 0);
}

static void a_key_value_may_be_the_innermost_open_spans(void **state)
{
    struct collection c;
    open_point("test:request");
    close_point("test:detail");
    {
        PYTHIA_SPAN("request");
        PYTHIA_SPAN("detail");
        PYTHIA_SET_HERE("queue_length", 17);
    }
    read_spans(&c);
    assert_int_equal(c.count, 1);
    assert_integer(&c, 0, "queue_length", 17);
    collection_close(&c);
}

/* A page with `bytes` at its end, and behind it memory that must not be touched. */
static char *before_a_wall(const char *bytes, size_t size)
{
    size_t page = (size_t)getpagesize();
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    memcpy(memory + page - size, bytes, size);
    return memory + page - size;
}

static void texts_are_read_no_further_than_they_are_long(void **state)
{
    struct collection c;
    const char *key = before_a_wall("key", 3), *text = before_a_wall("text", 4);
    char unterminated[4] = {'k', 'e', 'y', '4'};
    open_point("test:walls");
    {
        PYTHIA_SPAN_AS(span, "walls");
        pythia_set_text(span, key, 3, text, 4);
        pythia_set_text(span, "null", 4, NULL, 4);
        PYTHIA_SET(span, unterminated, 4);
        pythia_request_name(text, 4);
    }
    read_spans(&c);
    assert_text(&c, 0, "key", "text");
    assert_text(&c, 0, "null", "");
    assert_integer(&c, 0, "key4", 4);
    assert_text(&c, 0, "request_type", "text");
    collection_close(&c);
}

static void texts_that_are_too_long_are_cut_and_counted(void **state)
{
    static char longer[PYTHIA_TEXT_BYTES + 2];
    struct pythia_tracepoints_state before, after;
    struct collection c;
    memset(longer, 'x', sizeof(longer) - 1);
    open_point("test:long");
    pythia_tracepoints_state_get(&before);
    {
        PYTHIA_SPAN_AS(span, "long");
        PYTHIA_SET(span, "fits", longer + 1);
        PYTHIA_SET(span, "cut", longer);
        pythia_set_integer(span, longer, PYTHIA_KEY_BYTES + 1, 3);
        pythia_set_text(span, longer, SIZE_MAX, longer, SIZE_MAX);
    }
    pythia_tracepoints_state_get(&after);
    assert_int_equal(after.cut_values - before.cut_values, 3);
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_CUT_TEXT], 3);
    assert_int_equal(attribute_count(&c, 0), 4);
    collection_close(&c);
}

static void spans_may_be_entered_and_left_by_hand(void **state)
{
    struct collection c;
    struct pythia_scope rooms[2], *outer, *inner;
    open_point("test:by hand");
    open_point("test:below");
    close_point("test:shut");
    outer = PYTHIA_ENTER(&rooms[0], "by hand");
    assert_non_null(outer);
    inner = PYTHIA_ENTER(&rooms[1], "shut");
    assert_null(inner);
    PYTHIA_EXIT(inner);
    {
        PYTHIA_SPAN("below");
    }
    PYTHIA_FAIL(outer);
    PYTHIA_FAIL(inner);
    PYTHIA_EXIT(outer);
    read_spans(&c);
    assert_int_equal(c.count, 2);
    assert_child(&c, "test:below", "test:by hand");
    assert_true(span_at(&c, only(&c, "test:by hand"))->error);
    assert_false(span_at(&c, only(&c, "test:below"))->error);
    collection_close(&c);
}

static void a_span_that_others_end_does_not_become_the_threads_own(void **state)
{
    struct collection c;
    struct pythia_scope room, *job;
    struct pythia_context below, before;
    open_point("test:job");
    open_point("test:meanwhile");
    open_point("test:part");
    job = PYTHIA_BEGIN(&room, PYTHIA_POINT_CLIENT, "job");
    {
        PYTHIA_SPAN("meanwhile");
    }
    pythia_context_of(job, &below);
    pythia_context_set(&below, &before);
    {
        PYTHIA_SPAN("part");
    }
    pythia_context_set(&before, NULL);
    PYTHIA_END(job);
    read_spans(&c);
    assert_int_equal(c.count, 3);
    assert_child(&c, "test:part", "test:job");
    assert_root(&c, "test:meanwhile");
    assert_int_equal(span_at(&c, only(&c, "test:job"))->kind, PYTHIA_SPAN_CLIENT);
    collection_close(&c);
}

/* A loop has two requests in hand by turns, and stands in neither. */
static void spans_begin_where_a_context_stands(void **state)
{
    struct collection c;
    struct pythia_context here, before, at[2];
    struct pythia_scope rooms[2][2], *outer[2], *inner[2];
    open_point("test:outer");
    open_point("test:inner");
    close_point("test:shut");
    pythia_context_get(&before);
    for (int i = 0; i < 2; i++) {
        at[i] = (struct pythia_context){.flags = PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REQUEST};
        pythia_context_name(&at[i], i ? "one" : "zero", i ? 3 : 4);
        assert_null(PYTHIA_BEGIN_AT(&at[i], &rooms[i][0], PYTHIA_POINT_INTERNAL, "shut"));
        assert_int_equal(at[i].lamport, 0);
    }
    for (int i = 0; i < 2; i++)
        outer[i] = PYTHIA_BEGIN_AT(&at[i], &rooms[i][0], PYTHIA_POINT_SERVER, "outer");
    for (int i = 0; i < 2; i++) {
        pythia_context_below(&at[i], outer[i]);
        pythia_context_below(&at[i], NULL); /* a closed point changes nothing */
        assert_true(at[i].span == outer[i]->span);
        inner[i] = PYTHIA_BEGIN_AT(&at[i], &rooms[i][1], PYTHIA_POINT_INTERNAL, "inner");
        assert_int_equal(at[i].lamport, 2);
        assert_true(at[i].span == outer[i]->span); /* the next one lies beside it */
    }
    pythia_context_get(&here);
    assert_memory_equal(&here, &before, sizeof(here));
    for (int i = 0; i < 2; i++) {
        PYTHIA_END(inner[i]);
        PYTHIA_END(outer[i]);
    }
    read_spans(&c);
    assert_int_equal(c.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct pythia_span *span = span_at(&c, i);
        size_t request = c.spans[i].trace.high == at[1].trace_high;
        if (span->parent == 0)
            assert_text(&c, i, "request_type", request ? "one" : "zero");
        else
            assert_true(span->parent == outer[request]->span);
    }
    collection_close(&c);
}

static void points_have_a_kind(void **state)
{
    static const struct {
        enum pythia_point_kind kind;
        enum pythia_span_kind expected;
        enum pythia_span_relation relation;
    } cases[] = {
        {PYTHIA_POINT_INTERNAL, PYTHIA_SPAN_INTERNAL, PYTHIA_RELATION_UNKNOWN},
        {PYTHIA_POINT_SERVER, PYTHIA_SPAN_SERVER, PYTHIA_RELATION_CALL},
        {PYTHIA_POINT_CLIENT, PYTHIA_SPAN_CLIENT, PYTHIA_RELATION_UNKNOWN},
        {PYTHIA_POINT_PRODUCER, PYTHIA_SPAN_PRODUCER, PYTHIA_RELATION_UNKNOWN},
        {PYTHIA_POINT_CONSUMER, PYTHIA_SPAN_CONSUMER, PYTHIA_RELATION_SPAWN},
    };
    open_point("test:kind");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collection c;
        struct pythia_point point = PYTHIA_POINT((uint8_t)cases[i].kind, "kind", 4);
        struct pythia_scope room;
        pythia_exit(pythia_enter(&point, &room));
        read_spans(&c);
        assert_int_equal(span_at(&c, 0)->kind, cases[i].expected);
        assert_int_equal(span_at(&c, 0)->relation, cases[i].relation);
        collection_close(&c);
    }
}

static void an_annotation_is_a_point_in_time_below_what_is_open(void **state)
{
    struct collection c;
    open_point("test:span");
    open_point("test:note");
    {
        PYTHIA_SPAN("span");
        PYTHIA_ANNOTATE("note");
    }
    read_spans(&c);
    assert_child(&c, "test:note", "test:span");
    assert_int_equal(span_at(&c, only(&c, "test:note"))->part, PYTHIA_PART_ANNOTATION);
    collection_close(&c);
}

static jmp_buf out;

static void leave_by_longjmp(void)
{
    struct pythia_scope room, *span = PYTHIA_ENTER(&room, "left");
    assert_non_null(span);
    longjmp(out, 1); /* NOLINT(cert-err52-cpp) */
}

/* What was left that way stays unfinished, and is in nobody's way. */
static void longjmp_out_of_spans_harms_nothing(void **state)
{
    struct collection c;
    open_point("test:around");
    open_point("test:left");
    open_point("test:behind");
    for (int i = 0; i < 8000; i++) { /* more exits than a ring can have room for */
        PYTHIA_SPAN("around");
        if (setjmp(out) == 0) /* NOLINT(cert-err52-cpp) */
            leave_by_longjmp();
        if (i % 500 == 0)
            discard_spans();
    }
    discard_spans();
    {
        PYTHIA_SPAN("behind");
    }
    read_spans(&c);
    assert_root(&c, "test:behind");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 0);
    collection_close(&c);
}

static void handle(int number)
{
    (void)number;
    PYTHIA_SPAN("in handler");
}

/* Handlers that come in the middle of a record are counted as lost, and spoil nothing. They must
 * not come so fast that nothing else is done between them: then their spans would fill the ring,
 * before it is read again. */
static void signal_handlers_may_have_trace_points(void **state)
{
    const int often_us = SANITIZED ? 250 : 50;
    struct pythia_tracepoints_state before, after;
    struct collection c;
    struct sigaction action = {.sa_handler = handle}, was;
    const struct itimerval often = {{0, often_us}, {0, often_us}}, never = {{0, 0}, {0, 0}};
    if (THREAD_SANITIZED)
        skip(); /* it puts signals off to a time of its own */
    open_point("test:in handler");
    open_point("test:work");
    handle(0);
    discard_spans();
    pythia_tracepoints_state_get(&before);
    assert_int_equal(sigaction(SIGALRM, &action, &was), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    size_t spans = 0;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 1000; i++) {
            PYTHIA_SPAN_AS(span, "work");
            PYTHIA_SET(span, "i", i);
        }
        read_spans(&c);
        assert_problems(&c, "");
        spans += count_of(&c, "test:work");
        for (size_t i = 0; i < c.count; i++)
            assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_WHOLE);
        collection_close(&c);
    }
    for (int i = 0; i < 100000; i++) { /* and into a ring that is full: what begins has its end */
        PYTHIA_SPAN("work");
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &was, NULL);
    pythia_tracepoints_state_get(&after);
    assert_true(after.lost_spans > before.lost_spans);
    assert_int_equal(spans, 200000); /* the thread itself loses nothing by it */
    assert_int_equal(after.lost_ends, before.lost_ends);
    discard_spans();
}

static void a_request_that_is_not_sampled_is_not_recorded(void **state)
{
    struct collection c;
    struct pythia_context from_elsewhere, before;
    const char header[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    open_point("test:sampled");
    assert_int_equal(pythia_traceparent_read(header, sizeof(header) - 1, &from_elsewhere), 0);
    pythia_context_set(&from_elsewhere, &before);
    {
        PYTHIA_SPAN_AS(span, "sampled");
        assert_null(span);
        char again[PYTHIA_TRACEPARENT_BYTES + 1];
        pythia_traceparent_write(again);
        assert_string_equal(again, header); /* passed on as it came */
    }
    pythia_context_set(&before, NULL);
    read_spans(&c);
    assert_int_equal(c.count, 0);
    collection_close(&c);
}

static void everything_may_be_closed_at_once(void **state)
{
    struct collection c;
    open_point("test:off");
    pythia_switchboard_off(traced.board, 1);
    {
        PYTHIA_SPAN("off");
        PYTHIA_ANNOTATE("off");
    }
    pythia_switchboard_off(traced.board, 0);
    {
        PYTHIA_SPAN("off");
    }
    read_spans(&c);
    assert_int_equal(c.count, 1);
    collection_close(&c);
}

static void setting_up_comes_first(void **state)
{
    const struct pythia_tracepoints_options options = {.service = "other"}, odd = {.rings = 5000},
                                            small = {.ring_bytes = 1024};
    PYTHIA_SPAN("passed");
    assert_int_equal(pythia_tracepoints_setup(&odd), -22);
    assert_int_equal(pythia_tracepoints_setup(&small), -22);
    assert_int_equal(pythia_tracepoints_setup(&options), -16); /* EBUSY */
}

static int begin(void **state)
{
    setenv("PYTHIA_RING_BYTES", "262144", 1);
    return begin_group(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_nest_as_their_blocks_do),
        cmocka_unit_test(a_closed_point_is_transparent),
        cmocka_unit_test(every_set_of_open_points_makes_one_tree),
        cmocka_unit_test(a_point_may_be_open_for_one_kind_of_request),
        cmocka_unit_test(a_request_is_one_trace_whatever_is_open),
        cmocka_unit_test(a_request_is_named_once_its_kind_is_known),
        cmocka_unit_test(key_values_keep_their_types),
        cmocka_unit_test(key_values_of_a_closed_point_cost_nothing),
        cmocka_unit_test(a_key_value_may_be_the_innermost_open_spans),
        cmocka_unit_test(texts_are_read_no_further_than_they_are_long),
        cmocka_unit_test(texts_that_are_too_long_are_cut_and_counted),
        cmocka_unit_test(spans_may_be_entered_and_left_by_hand),
        cmocka_unit_test(a_span_that_others_end_does_not_become_the_threads_own),
        cmocka_unit_test(spans_begin_where_a_context_stands),
        cmocka_unit_test(points_have_a_kind),
        cmocka_unit_test(an_annotation_is_a_point_in_time_below_what_is_open),
        cmocka_unit_test(longjmp_out_of_spans_harms_nothing),
        cmocka_unit_test(signal_handlers_may_have_trace_points),
        cmocka_unit_test(a_request_that_is_not_sampled_is_not_recorded),
        cmocka_unit_test(everything_may_be_closed_at_once),
        cmocka_unit_test(setting_up_comes_first),
    };
    return cmocka_run_group_tests(tests, begin, end_group);
}
