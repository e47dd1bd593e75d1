/* Times are in ns. "in 0, A>B 100: in_ser 10 own 60 unaccounted 30" is a call from span A to span B
 * that the target of the first call made; parts that nothing tells of are left out. */
#include "pythia/call_parts.h"
#include "trace_text.h"

static void write_name(struct trace_writer *w, uint32_t span)
{
    char name[9];
    put(w, "%s", span == PYTHIA_NO_SPAN ? "?" : name_of_id(w->trace->spans[span].id, name));
}

static void write_call(struct trace_writer *w, const struct pythia_call *all, uint32_t at)
{
    const struct pythia_call *c = &all[at];
    int64_t sum = 0;
    put(w, "%s", at ? "; " : "");
    if (c->caller != PYTHIA_NO_SPAN)
        put(w, "in %u, ", c->caller);
    write_name(w, c->client);
    put(w, ">");
    write_name(w, c->server);
    put(w, " %lld:", (long long)c->origin_ns);
    for (int i = 0; i < PYTHIA_CALL_TIMES; i++) {
        if (c->told >> i & 1)
            put(w, " %s %lld", pythia_call_part_name((enum pythia_call_part)i),
                (long long)c->parts_ns[i]);
        else
            assert_int_equal(c->parts_ns[i], 0);
        sum += i < PYTHIA_CALL_PARTS ? c->parts_ns[i] : 0;
    }
    assert_int_equal(sum, c->origin_ns);
}

static void compare_calls(const char *spans, const struct pythia_call_rule *rules, size_t count,
                          const char *wanted, const char *file, int line)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    static char text[4096];
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    struct pythia_call_parts *found = NULL;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace = NULL;
    const struct pythia_call *calls;
    uint32_t call_count;
    size_t part_count = read_parts(spans, parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    assert_int_equal(pythia_call_parts_create(v, rules, count, &found), PYTHIA_OK);
    pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
    for (size_t i = 0; i < part_count; i++)
        assert_int_equal(pythia_trace_builder_add(b, name_part(&parts[i], v)), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
    /* twice: nothing of the first time is left */
    for (int i = 0; i < 2; i++)
        assert_int_equal(pythia_call_parts_find(found, trace, &calls, &call_count), PYTHIA_OK);
    struct trace_writer w = {text, sizeof(text), 0, trace, NULL};
    text[0] = '\0';
    for (uint32_t i = 0; i < call_count; i++)
        write_call(&w, calls, i);
    _assert_string_equal(text, wanted, file, line);
    pythia_call_parts_destroy(found);
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
    free_parts(parts, part_count);
}

#define check_calls(spans, wanted) compare_calls(spans, NULL, 0, wanted, __FILE__, __LINE__)

static void a_call_is_its_target_and_the_way_there_and_back(void **state)
{
    check_calls("A[0,100]:client:%x B[30,90]<A:server:%y", "A>B 100: own 60 unaccounted 40");
}

static void of_what_is_not_traced_nothing_is_said(void **state)
{
    check_calls("A[0,100]:client:%x", "A>? 100: unaccounted 100");
    check_calls("A[0,100]:server:%x", "?>A 100: own 100");
    check_calls("A[0,100]:%x B[10,20]<A:%x", "");
}

static void names_of_spans_tell_of_parts_by_their_side(void **state)
{
    check_calls("C[0,100]:client:%x P[2,12]<C:=pack:%x S[20,90]<C:server:%y Q[20,45]<S:=queue:%y "
                "D[45,50]<S:=decode:%y E[80,88]<S:=encode:%y U[92,99]<C:=unpack:%x",
                "C>S 100: in_ser 10 handler 25 in_deser 5 own 32 out_ser 8 o_cb 7 unaccounted 13");
}

static void what_is_below_a_part_belongs_to_it(void **state)
{
    check_calls("S[0,100]:server:%y Q[0,40]<S:=queue:%y L[10,20]<Q:=lock:%y",
                "?>S 100: handler 40 own 60");
}

static void timers_tell_of_parts_that_no_span_does(void **state)
{
    check_calls("C[0,100]:client:%x:{iv.in_ser=7} S[20,90]<C:server:%y:{iv.in_deser=5}",
                "C>S 100: in_ser 7 in_deser 5 own 65 unaccounted 23");
    check_calls("S[0,100]:server:%y:{variable.handler_time=.00000002}",
                "?>S 120: handler 20 own 100");
    check_calls("C[0,100]:client:%x S[20,90]<C:server:%y:{iv.handler=50}",
                "C>S 100: handler 50 own 70 unaccounted -20");
    /* A span knows when it was, so it counts. */
    check_calls("S[0,100]:server:%y:{iv.handler=99} Q[0,40]<S:=queue:%y",
                "?>S 100: handler 40 own 60");
    check_calls("S[0,100]:server:%y:{iv.t_cb=30}", "?>S 100: own 100 t_cb 30");
    check_calls("S[0,100]:server:%y:{iv.handler=-5}", "?>S 100: own 100");
    check_calls("S[0,100]:server:%y:{iv.own=5}", "?>S 100: own 100");
}

static void calls_of_a_target_are_parts_of_its_own(void **state)
{
    check_calls("A[0,100]:client:%x B[10,90]<A:server:%y C[20,60]<B:client:%y D[25,55]<C:server:%z",
                "A>B 100: calls 40 own 40 unaccounted 20; in 0, C>D 40: own 30 unaccounted 10");
}

static void calls_side_by_side_take_the_time_once(void **state)
{
    check_calls("B[0,100]:server:%y C[10,60]<B:client:%y D[40,80]<B:client:%y",
                "?>B 100: calls 70 own 30; in 0, C>? 50: unaccounted 50; "
                "in 0, D>? 40: unaccounted 40");
}

/* An SDK around an HTTP client: the request and its two attempts. */
static void of_client_spans_inside_each_other_the_innermost_are_calls(void **state)
{
    check_calls("S[0,100]:server:%x A[10,90]<S:client:%x B[20,40]<A:client:%x "
                "C[50,80]<A:client:%x D[55,75]<C:server:%y",
                "?>S 100: calls 50 own 50; in 0, B>? 20: unaccounted 20; "
                "in 0, C>D 30: own 20 unaccounted 10");
    check_calls("A[0,100]:client:%x B[20,40]<A:client:%x", "B>? 20: unaccounted 20");
}

static void a_span_of_another_service_is_the_target_whatever_its_kind(void **state)
{
    check_calls("A[0,100]:client:%x B[30,90]<A:%y", "A>B 100: own 60 unaccounted 40");
    check_calls("A[0,100]:server:%x B[30,90]<A:server:%y",
                "?>A 100: calls 60 own 40; in 0, ?>B 60: own 60");
    /* Frameworks have server spans inside each other. */
    check_calls("A[0,100]:server:%x B[30,90]<A:server:%x", "?>A 100: own 100");
}

static void a_message_waits_from_the_end_of_its_producer(void **state)
{
    check_calls("S[0,50]:server:%x P[10,20]<S:producer:%x M[90,120]<P:consumer:%y",
                "?>S 50: own 50; in 0, P>M 110: handler 70 own 30 unaccounted 10");
    check_calls("P[10,20]:producer:%x M[15,120]<P:consumer:%y",
                "P>M 110: handler 0 own 105 unaccounted 5");
}

static void rules_of_the_user_come_before_names(void **state)
{
    const struct pythia_call_rule rules[] = {{PYTHIA_CALL_HANDLER, "y:pool*"},
                                             {PYTHIA_CALL_RDMA, "*:queue"}};
    compare_calls("S[0,100]:server:%y W[0,30]<S:=pool.get:%y Q[40,50]<S:=queue:%y", rules, 2,
                  "?>S 100: rdma 10 handler 30 own 60", __FILE__, __LINE__);
}

static void several_roots_are_several_calls(void **state)
{
    check_calls("A[0,100]:server:%x:many B[50,70]:server:%y:many",
                "?>A 100: own 100; ?>B 20: own 20");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_its_target_and_the_way_there_and_back),
        cmocka_unit_test(of_what_is_not_traced_nothing_is_said),
        cmocka_unit_test(names_of_spans_tell_of_parts_by_their_side),
        cmocka_unit_test(what_is_below_a_part_belongs_to_it),
        cmocka_unit_test(timers_tell_of_parts_that_no_span_does),
        cmocka_unit_test(calls_of_a_target_are_parts_of_its_own),
        cmocka_unit_test(calls_side_by_side_take_the_time_once),
        cmocka_unit_test(of_client_spans_inside_each_other_the_innermost_are_calls),
        cmocka_unit_test(a_span_of_another_service_is_the_target_whatever_its_kind),
        cmocka_unit_test(a_message_waits_from_the_end_of_its_producer),
        cmocka_unit_test(rules_of_the_user_come_before_names),
        cmocka_unit_test(several_roots_are_several_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
