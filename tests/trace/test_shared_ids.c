/* Spans that share an id: which reports are of one span, and which are not (trace.h). Each trace is
 * built from its parts in every order, or in 200, and must be the same (trace_text.h). */
#include "check.h"
#include "trace_text.h"

/* ---- two names are two spans ---- */

static void a_server_lies_in_the_client_that_has_its_id(void **state)
{
    check_trace(.spans = "A[0,1000]:%web C[100,500]<A:%web:=get C[150,450]<A:%db:=handle",
                .tree = "A[0,1000]{C[100,500]{C[150,450]}}",
                .client = "A -100-> C -50-> C -300-> /C -50-> /C -500-> /A");
    /* One name in two services is two names. */
    check_trace(.spans = "A[0,1000]:%web C[100,500]<A:%web:=get C[150,450]<A:%db:=get",
                .tree = "A[0,1000]{C[100,500]{C[150,450]}}");
    /* The server names its client as its parent. */
    check_trace(.spans = "A[0,1000]:%web C[100,500]<A:%web:=get C[150,450]<C:%db:=handle",
                .tree = "A[0,1000]{C[100,500]{C[150,450]}}");
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle",
                .tree = "C[100,500]{C[150,450]}");
    /* By another clock. */
    check_trace(.spans = "C[100,500]:%web:@h1:=get C[50,350]:%db:@h2:=handle",
                .tree = "C[100,500]{C[100,400]:skew}", .counts = "skew 1");
}

static void kinds_and_names_tell_three_spans_apart(void **state)
{
    check_trace(.spans = "A[0,1000]:%web C[100,500]<A:%web:=get C[110,490]<A:%web:=http:client "
                         "C[150,450]<A:%db:server:=handle",
                .tree = "A[0,1000]{C[100,500]{C[110,490] C'[150,450]}}");
    check_trace(.spans = "A[0,1000]:%web C[100,500]<A:%web:server:=get "
                         "C[150,450]<A:%db:server:=handle",
                .tree = "A[0,1000]{C'[100,500]{C'[150,450]}}");
}

static void spans_of_one_process_at_other_times_stand_beside_each_other(void **state)
{
    check_trace(.spans = "A[0,1000] C[100,200]<A:=get C[300,400]<A:=put",
                .tree = "A[0,1000]{C[100,200] C[300,400]}");
    check_trace(.spans = "A[0,1000] C[100,300]<A:=get C[200,400]<A:=put", /* it is not inside */
                .tree = "A[0,1000]{C[100,300] C[200,400]}");
}

static void a_span_with_another_parent_stays_below_that(void **state)
{
    check_trace(.spans = "A[0,1000] B[500,900]<A C[100,200]<A:=get:@h1 C[600,700]<B:=put:@h2",
                .tree = "A[0,1000]{C[100,200] B[500,900]{C[600,700]}}");
}

static void a_child_means_the_span_of_its_service(void **state)
{
    const char *spans = "A[0,1000]:%web C[100,500]<A:%web:=get C[150,450]<A:%db:=handle "
                        "D[200,300]<C:%db E[110,120]<C:%web F[130,140]<C:%other";
    check_trace(.spans = spans,
                .tree = "A[0,1000]{C[100,500]{E[110,120] F[130,140] C[150,450]{D[200,300]}}}");
    /* A program that calls itself: the innermost span that has begun. */
    check_trace(.spans =
                    "C[100,500]:=get C[150,450]:=handle D[200,300]<C E[110,120]<C F[460,470]<C",
                .tree = "C[100,500]{E[110,120] C[150,450]{D[200,300]} F[460,470]}");
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle D[90,95]<C:%db",
                .counts = "skew 1", .tree = "C[100,500]{C[150,450]{D[150,155]:skew}}");
}

/* ---- reports of one span ---- */

static void reports_of_one_span_stay_one(void **state)
{
    check_trace(.spans = "A[0,1000]:%web C[100,500]<A:%web:=get C[150,450]<A:%db:=handle "
                         "C[100,500]<A:%web:=get C[150,450]<A:%db:=handle",
                .counts = "duplicate 2",
                .tree = "A[0,1000]{C[100,500]:duplicate{C[150,450]:duplicate}}");
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle C[150,460]:%db:=handle",
                .counts = "conflict 1", .tree = "C[100,500]{C[150,460]:conflict}");
}

/* From one instant to another in one process: something on the way has changed the name. */
static void a_renamed_span_with_the_same_times_is_one(void **state)
{
    const char *spans = "A[0,1000] C[100,500]<A:=get C[100,500]<A:=route:error";
    check_trace(.spans = spans, .counts = "duplicate 1",
                .tree = "A[0,1000]{C[100,500]:error:duplicate}");
    check_trace(.spans = spans, .open = "A get", .counts = "duplicate 1",
                .tree = "A[0,1000]{C[100,500]:error:duplicate}");
    check_trace(.spans = spans, .open = "A route", .counts = "hidden 1", .tree = "A[0,1000]");
    check_trace(.spans = "C[100,500]:=get:@h1 C[100,500]:=route:@h2", /* two processes */
                .tree = "C[100,500]{C[100,500]}");
}

static void what_began_at_the_same_time_under_another_name_is_one(void **state)
{
    check_trace(.spans = "A[0,1000] C[100,?]<A:=get:{a} C[100,500]<A:=route:{b}",
                .counts = "duplicate 1", .tree = "A[0,1000]{C[100,500]:{b}:duplicate}");
    check_trace(.spans = "A[0,1000] C[100,?]<A:=get C[100,500]<A:=route", .open = "A route",
                .counts = "duplicate 1", .tree = "A[0,1000]{C[100,500]:duplicate}");
    check_trace(.spans = "A[0,1000] C[90,?]<A:=get C[100,500]<A:=get", /* under the same name */
                .counts = "conflict 1", .tree = "A[0,1000]{C[100,500]:conflict}");
    check_trace(.spans = "C[100,?]:%db:=get C[100,500]:%web:=route C[100,300]:%db:=handle",
                .counts = "duplicate 1", .tree = "C[100,500]{C[100,300]:duplicate}");
}

static void what_began_at_another_time_under_another_name_is_another_span(void **state)
{
    check_trace(.spans = "A[0,1000] C[90,?]<A:=get C[100,500]<A:=route", .counts = "unfinished 1",
                .tree = "A[0,1000]{C[90,500]:unfinished{C[100,500]}}");
    check_trace(.spans = "A[0,1000] C[90,?]<A:=get /C[99] C[100,500]<A:=route",
                .tree = "A[0,1000]{C[90,99] C[100,500]}");
}

static void an_end_belongs_to_the_span_of_its_process(void **state)
{
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle /C[450]:%db:{end}",
                .counts = "duplicate 1", .tree = "C[100,500]{C[150,450]:{end}:duplicate}");
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle /C[500]:%web:{end}",
                .counts = "duplicate 1", .tree = "C[100,500]:{end}:duplicate{C[150,450]}");
    check_trace(.spans =
                    "C[100,500]:%web:@h1:=get C[150,450]:%web:@h2:=handle /C[450]:%web:@h2:{x}",
                .counts = "duplicate 1", .tree = "C[100,500]{C[150,450]:{x}:duplicate}");
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:@h1:=handle /C[450]:%db:@h2:{x}",
                .counts = "duplicate 1", .tree = "C[100,500]{C[150,450]:{x}:duplicate}");
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle /C[500]:%other:error",
                .counts = "duplicate 1", .tree = "C[100,500]:error:duplicate{C[150,450]}");
}

static void a_report_without_a_name_completes_one_that_has_a_name(void **state)
{
    check_trace(.spans = "A[0,1000] C[100,500]<A:=get:{a} C[100,500]<A:=:{b}",
                .counts = "duplicate 1", .tree = "A[0,1000]{C[100,500]:{a}:{b}:duplicate}");
    check_trace(.spans = "A[0,1000] C[100,500]<A:=get:{a} C[100,500]<A:=:{a}",
                .counts = "duplicate 1", .tree = "A[0,1000]{C[100,500]:{a}:duplicate}");
    check_trace(.spans = "A[0,1000] C[100,500]<A:=get C[90,510]<A:=", .open = "A get",
                .counts = "conflict 1", .tree = "A[0,1000]{C[90,510]:conflict}");
    check_trace(.spans = "A[0,1000] C[100,500]<A:=get C[150,450]<B:=",
                .counts = "conflict 1 several_parents 1",
                .tree = "A[0,1000]{C[100,500]:conflict:several_parents}");
    /* The span of its service is closer. */
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle C[150,450]:%db:=:{x}",
                .counts = "duplicate 1", .tree = "C[100,500]{C[150,450]:{x}:duplicate}");
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle C[100,500]:=:{x}",
                .counts = "duplicate 1", .tree = "C[100,500]:{x}:duplicate{C[150,450]}");
    check_trace(.spans = "C[100,500]:= C[100,500]:= C[100,500]:=", .counts = "duplicate 1",
                .tree = "C[100,500]:duplicate"); /* there is no other */
    check_trace(.spans = "C[90,?]:= C[100,500]:=get", .counts = "conflict 1",
                .tree = "C[100,500]:conflict");
}

static void an_addition_belongs_to_the_span_of_its_process_then_of_its_name(void **state)
{
    check_trace(.spans = "C[100,500]:%web:=get C[150,450]:%db:=handle +C:%db:=:{x}",
                .tree = "C[100,500]{C[150,450]:{x}}");
    check_trace(.spans = "C[100,500]:=get C[150,450]:=handle +C:=handle:{x} +C:=get:{y} +C:=:{z}",
                .tree = "C[100,500]:{y}:{z}{C[150,450]:{x}}");
}

/* ---- closed points, and many names ---- */

static void children_of_a_closed_span_hang_on_the_span_around_it(void **state)
{
    const char *spans = "A[0,1000]:%web C[100,500]<A:%web:=get C[150,450]<A:%db:=handle "
                        "D[200,300]<C:%db";
    check_trace(.spans = spans, .open = "web:A web:get db:D", .counts = "hidden 1",
                .tree = "A[0,1000]{C[100,500]{D[200,300]}}");
    check_trace(.spans = spans, .open = "web:A db:handle db:D", .counts = "hidden 1",
                .tree = "A[0,1000]{C[150,450]{D[200,300]}}");
}

/* Only the 16 longest are looked at for a parent, so that the search for one stays short. */
static void the_longest_of_many_names_may_be_parents(void **state)
{
    struct pythia_buf spans = {0}, tree = {0};
    for (int i = 0; i < 20; i++)
        pythia_buf_printf(&spans, "C[%d,%d]:=n%02d ", i, 1000 - i, i);
    pythia_buf_puts(&spans, "D[500,501]<C");
    pythia_buf_puts(&tree, "C[0,1000]{");
    for (int i = 1; i < 20; i++)
        pythia_buf_printf(&tree, "%sC[%d,%d]%s", i > 1 ? " " : "", i, 1000 - i,
                          i == 15 ? "{D[500,501]}" : "");
    pythia_buf_puts(&tree, "}");
    check_trace(.spans = spans.bytes, .tree = tree.bytes);
    pythia_buf_free(&spans);
    pythia_buf_free(&tree);
}

/* ---- before all reports are there ---- */

static enum pythia_trace_state state_of_parts(const char *text)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    size_t count = read_parts(text, parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pythia_trace_builder_add(b, name_part(&parts[i], v)), PYTHIA_OK);
    enum pythia_trace_state found = pythia_trace_builder_state(b);
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
    free_parts(parts, count);
    return found;
}

static void what_was_reported_as_a_whole_does_not_run(void **state)
{
    assert_int_equal(state_of_parts("A[0,?]:=get A[0,1000]:=route"), PYTHIA_TRACE_WHOLE);
    assert_int_equal(state_of_parts("A[0,1000]:=route A[0,?]:=get"), PYTHIA_TRACE_WHOLE);
    assert_int_equal(state_of_parts("A[5,?]:=get A[0,1000]:=get"), PYTHIA_TRACE_WHOLE);
    assert_int_equal(state_of_parts("/A[9] A[0,1000]:=get A[5,20]:=put"), PYTHIA_TRACE_WHOLE);
    assert_int_equal(state_of_parts("A[5,?]:=get A[0,1000]:=route"), PYTHIA_TRACE_RUNNING);
    assert_int_equal(state_of_parts("A[5,?]:=get"), PYTHIA_TRACE_RUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_lies_in_the_client_that_has_its_id),
        cmocka_unit_test(kinds_and_names_tell_three_spans_apart),
        cmocka_unit_test(spans_of_one_process_at_other_times_stand_beside_each_other),
        cmocka_unit_test(a_span_with_another_parent_stays_below_that),
        cmocka_unit_test(a_child_means_the_span_of_its_service),
        cmocka_unit_test(reports_of_one_span_stay_one),
        cmocka_unit_test(a_renamed_span_with_the_same_times_is_one),
        cmocka_unit_test(what_began_at_the_same_time_under_another_name_is_one),
        cmocka_unit_test(what_began_at_another_time_under_another_name_is_another_span),
        cmocka_unit_test(an_end_belongs_to_the_span_of_its_process),
        cmocka_unit_test(a_report_without_a_name_completes_one_that_has_a_name),
        cmocka_unit_test(an_addition_belongs_to_the_span_of_its_process_then_of_its_name),
        cmocka_unit_test(children_of_a_closed_span_hang_on_the_span_around_it),
        cmocka_unit_test(the_longest_of_many_names_may_be_parents),
        cmocka_unit_test(what_was_reported_as_a_whole_does_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
