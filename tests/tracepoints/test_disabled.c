/* With PYTHIA_TRACEPOINTS_DISABLE a program compiles as it is, needs no library, and does nothing.
 * This one is not linked with it. */
#define PYTHIA_TRACEPOINTS_DISABLE
#include <pythia/collector.h>
#include <pythia/tracepoints.h>
#include <pythia/variable.h>

#include "check.h"

static int computed;

static int compute(void)
{
    return ++computed;
}

static void nothing_is_left_of_trace_points(void **state)
{
    char parent[PYTHIA_TRACEPARENT_BYTES + 1], tracestate[PYTHIA_TRACESTATE_BYTES + 1];
    unsigned char packed[PYTHIA_CONTEXT_BYTES] = {0};
    struct pythia_context context, before;
    struct pythia_scope room, *entered, *begun;
    const struct pythia_tracepoints_options options = {0};
    assert_int_equal(pythia_tracepoints_setup(&options), 0);
    PYTHIA_REQUEST("request");
    pythia_request_name("name", 4);
    PYTHIA_SPAN("anonymous");
    PYTHIA_SPAN_AS(span, "named");
    PYTHIA_SPAN_OF(server, PYTHIA_POINT_SERVER, "kind");
    assert_null(span);
    assert_null(server);
    entered = PYTHIA_ENTER(&room, "entered");
    begun = PYTHIA_BEGIN(&room, PYTHIA_POINT_CLIENT, "begun");
    pythia_context_get(&context);
    assert_null(PYTHIA_BEGIN_AT(&context, &room, PYTHIA_POINT_CLIENT, "begun there"));
    pythia_context_below(&context, begun);
    pythia_context_name(&context, "name", 4);
    PYTHIA_SET(span, "key", compute());
    PYTHIA_SET_TEXT(span, "key", "text", (size_t)compute());
    PYTHIA_SET_HERE("key", compute());
    PYTHIA_ANNOTATE("annotation");
    PYTHIA_FAIL(span);
    pythia_context_get(&context);
    pythia_context_of(begun, &context);
    pythia_context_set(&context, &before);
    {
        PYTHIA_CONTEXT(&context);
    }
    pythia_context_receive(7);
    assert_int_equal(pythia_traceparent_read("00-", 3, &context), -22);
    pythia_tracestate_read("a=b", 3, &context);
    assert_int_equal(pythia_context_unpack(packed, sizeof(packed), &context), -22);
    assert_int_equal(pythia_context_pack(packed), 0);
    assert_int_equal(pythia_traceparent_write(parent), 0);
    assert_int_equal(pythia_tracestate_write("a=b", 3, tracestate), 0);
    PYTHIA_END(begun);
    PYTHIA_EXIT(entered);
    assert_int_equal(pythia_tracepoints_flush(), 0);
    assert_int_equal(computed, 0);
    assert_null(entered);
    assert_null(begun);
    assert_int_equal(context.trace_low | context.span | context.flags, 0);
    assert_string_equal(parent, "");
}

static void nothing_is_left_of_measurements_and_variables(void **state)
{
    static struct pythia_label label = PYTHIA_LABEL("label");
    const struct pythia_collector_options options = {.directory = "/no/such/place"};
    struct pythia_collector_state s;
    computed = 0;
    assert_int_equal(pythia_collector_start(&options), 0);
    PYTHIA_TIME_IT("block");
    PYTHIA_OBSERVE("number", ++computed);
    pythia_observe(&label, 1);
    pythia_duration_end(&label, pythia_duration_begin());
    pythia_variable_set(pythia_variable_define("", PYTHIA_CLASS_STATE, PYTHIA_BIND_REQUEST, NULL),
                        1);
    pythia_collector_state_get(&s);
    assert_int_equal(s.rows + s.dropped, 0);
    assert_int_equal(pythia_collector_stop(), 0);
    assert_int_equal(computed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_of_trace_points),
        cmocka_unit_test(nothing_is_left_of_measurements_and_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
