#include <string.h>

#include "check.h"
#include "collect.h"

static const char plain[] =
    "{'resourceSpans':[{'resource':{'attributes':["
    "{'key':'service.name','value':{'stringValue':'users'}},"
    "{'key':'host.name','value':{'stringValue':'h1'}},"
    "{'key':'service.instance.id','value':{'stringValue':'i1'}},"
    "{'key':'region','value':{'stringValue':'eu'}}],'droppedAttributesCount':0},"
    "'schemaUrl':'x','scopeSpans':[{'scope':{'name':'lib','version':'1'},'spans':["
    "{'traceId':'5B8EFFF798038103D269B633813FC60C','spanId':'EEE19B7EC3C1B174',"
    "'parentSpanId':'EEE19B7EC3C1B173','flags':1,'name':'GET /users/17',"
    "'startTimeUnixNano':'1544712660000000000','endTimeUnixNano':1544712661000000500,"
    "'kind':2,'traceState':'','attributes':[{'key':'n','value':{'intValue':'42'}}],"
    "'links':[{'traceId':'','spanId':''}],'status':{'code':2,'message':'no'}},"
    "{'traceId':'5b8efff798038103d269b633813fc60c','spanId':'eee19b7ec3c1b175',"
    "'parentSpanId':'eee19b7ec3c1b174','name':'query',"
    "'startTimeUnixNano':'1544712660100000000','endTimeUnixNano':'1544712660200000000',"
    "'kind':3,'status':{}}]}]}]}";

static void a_traces_data_is_read(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp", plain);
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_trace(&c, i, UINT64_C(0x5b8efff798038103), UINT64_C(0xd269b633813fc60c));
        assert_resource(&c, i, "users", "h1", "i1");
        assert_text_in(&c, resource_at(&c, i).attributes, "region", "eu");
        assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_WHOLE);
    }
    assert_true(span_at(&c, 0)->id == UINT64_C(0xeee19b7ec3c1b174));
    assert_true(span_at(&c, 0)->parent == UINT64_C(0xeee19b7ec3c1b173));
    assert_true(span_at(&c, 1)->parent == UINT64_C(0xeee19b7ec3c1b174));
    assert_times(&c, 0, UINT64_C(1544712660000000000), 1000000500);
    assert_times(&c, 1, UINT64_C(1544712660100000000), 100000000);
    assert_int_equal(span_at(&c, 0)->kind, PYTHIA_SPAN_SERVER);
    assert_int_equal(span_at(&c, 0)->relation, PYTHIA_RELATION_CALL);
    assert_int_equal(span_at(&c, 1)->kind, PYTHIA_SPAN_CLIENT);
    assert_int_equal(span_at(&c, 1)->relation, PYTHIA_RELATION_UNKNOWN);
    assert_true(span_at(&c, 0)->error);
    assert_false(span_at(&c, 1)->error);
    assert_tracepoint(&c, 0, "users:lib:GET /users/{id}");
    assert_tracepoint(&c, 1, "users:lib:query");
    assert_integer(&c, 0, "n", 42);
    collection_close(&c);
    assert_pieces_do_not_matter("otlp", plain);
}

static void one_document_many_or_an_array_are_read(void **state)
{
    static const char *const around[][3] = {
        {"", "\n", "\n"}, {"", "", ""}, {"[", ",", "]"}, {"[[],", ",", ",7]"}};
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
        struct pythia_buf text = {0};
        struct collection c;
        pythia_buf_printf(&text, "%s%s%s%s%s", around[i][0], plain, around[i][1], plain,
                          around[i][2]);
        collection_open(&c);
        collect(&c, "otlp", text.bytes);
        assert_problems(&c, "");
        assert_int_equal(c.count, 4);
        assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], i == 3 ? 2 : 0);
        collection_close(&c);
        pythia_buf_free(&text);
    }
}

/* What is around spans stands behind them: they are held until it is known. */
static void the_members_may_stand_in_any_order(void **state)
{
    static const char spans[] =
        "'spans':[{'endTimeUnixNano':'9','startTimeUnixNano':'5','name':'o','spanId':"
        "'0000000000000002','traceId':'00000000000000000000000000000001'}]";
    static const char scope[] = "'scope':{'name':'lib'}";
    static const char resource[] =
        "'resource':{'attributes':[{'value':{'stringValue':'s'},'key':'service.name'}]}";
    for (int order = 0; order < 4; order++) {
        struct pythia_buf inner = {0}, text = {0};
        struct collection c;
        pythia_buf_printf(&inner, "'scopeSpans':[{%s,%s}]", order & 1 ? spans : scope,
                          order & 1 ? scope : spans);
        pythia_buf_printf(&text, "{'resourceSpans':[{%s,%s}]}", order & 2 ? inner.bytes : resource,
                          order & 2 ? resource : inner.bytes);
        collection_open(&c);
        collect(&c, "otlp", text.bytes);
        assert_problems(&c, "");
        assert_int_equal(c.count, 1);
        assert_tracepoint(&c, 0, "s:lib:o");
        assert_times(&c, 0, 5, 4);
        collection_close(&c);
        pythia_buf_free(&inner);
        pythia_buf_free(&text);
    }
}

/* A document with one span, whose further members are `members`. */
static void collect_span_with(struct collection *c, const char *members)
{
    struct pythia_buf text = {0};
    pythia_buf_printf(&text,
                      "{'resourceSpans':[{'scopeSpans':[{'spans':["
                      "{'traceId':'000000000000000000000000000000ab','spanId':'00000000000000cd',"
                      "'startTimeUnixNano':7,%s}]}]}]}",
                      members);
    collection_open(c);
    collect(c, "otlp", text.bytes);
    pythia_buf_free(&text);
}

static void values_of_every_kind_become_attributes(void **state)
{
    struct collection c;
    collect_span_with(
        &c, "'attributes':["
            "{'key':'s','value':{'stringValue':'text'}},"
            "{'key':'b','value':{'boolValue':true}},"
            "{'key':'i','value':{'intValue':-9223372036854775808}},"
            "{'key':'d','value':{'doubleValue':0.5}},"
            "{'key':'whole','value':{'doubleValue':3}},"
            "{'key':'nan','value':{'doubleValue':'NaN'}},"
            "{'key':'inf','value':{'doubleValue':'-Infinity'}},"
            "{'key':'bytes','value':{'bytesValue':'AAE='}},"
            "{'key':'a','value':{'arrayValue':{'values':[{'intValue':'1'},{'stringValue':'x'},"
            "{'boolValue':true}]}}},"
            "{'key':'reals','value':{'arrayValue':{'values':[{'doubleValue':0.10},"
            "{'doubleValue':3.0},{'double_value':1e21},{'doubleValue':'NaN'},"
            "{'doubleValue':'Infinity'},{'doubleValue':'-Infinity'},"
            "{'doubleValue':0.30000000000000004}]}}},"
            "{'key':'kv','value':{'kvlistValue':{'values':[{'key':'in','value':{'intValue':1}},"
            "{'key':'deep','value':{'kvlistValue':{'values':[{'key':'er','value':"
            "{'stringValue':'y'}}]}}}]}}},"
            "{'value':{'int_value':'5'},'key':'snake'},"
            "{'key':'none','value':{}},{'key':'null','value':null},{'key':'no value'}]");
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 13);
    assert_text(&c, 0, "s", "text");
    assert_truth(&c, 0, "b", 1);
    assert_integer(&c, 0, "i", (double)INT64_MIN);
    assert_real(&c, 0, "d", 0.5);
    assert_real(&c, 0, "whole", 3);
    assert_real(&c, 0, "nan", NAN);
    assert_real(&c, 0, "inf", -INFINITY);
    assert_text(&c, 0, "bytes", "AAE=");
    assert_text(&c, 0, "a", "1,x,true");
    assert_text(&c, 0, "reals", "0.1,3,1e+21,NaN,Infinity,-Infinity,0.30000000000000004");
    assert_integer(&c, 0, "kv.in", 1);
    assert_text(&c, 0, "kv.deep.er", "y");
    assert_integer(&c, 0, "snake", 5);
    collection_close(&c);
}

static void a_long_text_is_cut_and_still_differs_from_others(void **state)
{
    struct pythia_attribute found[2];
    struct collection c[2];
    for (int i = 0; i < 2; i++) {
        struct pythia_buf members = {0};
        pythia_buf_puts(&members, "'attributes':[{'key':'k','value':{'stringValue':'");
        for (int k = 0; k < 500; k++)
            pythia_buf_puts(&members, "\xC3\xA9");
        pythia_buf_printf(&members, "%d'}}]", i);
        collect_span_with(&c[i], members.bytes);
        assert_true(find_attribute(&c[i], attributes_at(&c[i], 0), "k", &found[i]));
        assert_true(found[i].text.size <= 160);
        pythia_buf_free(&members);
    }
    assert_false(pythia_text_equal(found[0].text, found[1].text));
    for (int i = 0; i < 2; i++)
        collection_close(&c[i]);
}

static void events_become_attributes_below_their_names(void **state)
{
    struct collection c;
    collect_span_with(&c, "'events':[{'timeUnixNano':'8','attributes':[{'key':'k','value':"
                          "{'intValue':1}}],'name':'retry'},{'name':'done'},"
                          "{'attributes':[{'key':'lost','value':{'intValue':1}}]}]");
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 3);
    assert_truth(&c, 0, "event.retry", 1);
    assert_integer(&c, 0, "event.retry.k", 1);
    assert_truth(&c, 0, "event.done", 1);
    collection_close(&c);
}

static void kinds_and_codes_are_numbers_or_names(void **state)
{
    static const struct {
        const char *members;
        enum pythia_span_kind kind;
        enum pythia_span_relation relation;
        bool error;
    } cases[] = {
        {"'kind':1", PYTHIA_SPAN_INTERNAL, PYTHIA_RELATION_UNKNOWN, false},
        {"'kind':'SPAN_KIND_SERVER'", PYTHIA_SPAN_SERVER, PYTHIA_RELATION_CALL, false},
        {"'kind':'3'", PYTHIA_SPAN_CLIENT, PYTHIA_RELATION_UNKNOWN, false},
        {"'kind':'SPAN_KIND_PRODUCER'", PYTHIA_SPAN_PRODUCER, PYTHIA_RELATION_UNKNOWN, false},
        {"'kind':5", PYTHIA_SPAN_CONSUMER, PYTHIA_RELATION_SPAWN, false},
        {"'kind':99", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"'kind':null", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"'status':{'code':'STATUS_CODE_ERROR'}", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN,
         true},
        {"'status':{'code':1}", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"'status':null", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collection c;
        collect_span_with(&c, cases[i].members);
        assert_problems(&c, "");
        assert_int_equal(span_at(&c, 0)->kind, cases[i].kind);
        assert_int_equal(span_at(&c, 0)->relation, cases[i].relation);
        assert_int_equal(span_at(&c, 0)->error, cases[i].error);
        collection_close(&c);
    }
}

/* The protocol asks for hexadecimal digits; what prints any protobuf message as JSON writes
 * base64. */
static void ids_in_base64_are_read(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp",
            "{'resourceSpans':[{'scopeSpans':[{'spans':[{'traceId':'W47/95gDgQPSabYzgT/GDA==',"
            "'spanId':'7uGbfsPBsXQ=','parentSpanId':'7uGbfsPBsXM','startTimeUnixNano':1},"
            "{'traceId':'W47_95gDgQPSabYzgT_GDA','spanId':'eee19b7ec3c1b175',"
            "'startTimeUnixNano':1,'parentSpanId':''}]}]}]}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_trace(&c, i, UINT64_C(0x5b8efff798038103), UINT64_C(0xd269b633813fc60c));
    assert_true(span_at(&c, 0)->id == UINT64_C(0xeee19b7ec3c1b174));
    assert_true(span_at(&c, 0)->parent == UINT64_C(0xeee19b7ec3c1b173));
    assert_true(span_at(&c, 1)->parent == 0);
    collection_close(&c);
}

static void names_of_old_versions_and_in_snake_case_are_read(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp",
            "{'resource_spans':[{'instrumentation_library_spans':[{'instrumentation_library':"
            "{'name':'old'},'spans':[{'trace_id':'000000000000000000000000000000ab',"
            "'span_id':'00000000000000cd','parent_span_id':'00000000000000ce','name':'o',"
            "'start_time_unix_nano':1,'end_time_unix_nano':3}]}]}]}\n"
            "{'resource':{},'instrumentationLibrarySpans':[{'instrumentationLibrary':null,"
            "'spans':[{'traceId':'000000000000000000000000000000ab',"
            "'spanId':'00000000000000cd','startTimeUnixNano':1,'name':'p'}]}]}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    assert_tracepoint(&c, 0, "old:o");
    assert_times(&c, 0, 1, 2);
    assert_true(span_at(&c, 0)->parent == 0xce);
    assert_tracepoint(&c, 1, "p");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 0);
    collection_close(&c);
}

static void null_stands_for_what_is_not_there(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp",
            "{'resourceSpans':[{'resource':null,'scopeSpans':[{'scope':null,'spans':["
            "{'traceId':'000000000000000000000000000000ab','spanId':'00000000000000cd',"
            "'parentSpanId':null,'startTimeUnixNano':1,'endTimeUnixNano':2,'attributes':null,"
            "'events':null,'links':null,'status':null,'name':'o'}]},{'spans':null}]},"
            "{'resource':{'attributes':null},'scopeSpans':null}]}\n{'resourceSpans':null}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_int_equal(span_at(&c, 0)->resource, 0);
    assert_tracepoint(&c, 0, "o");
    collection_close(&c);
}

static void a_span_without_an_end_is_not_finished(void **state)
{
    struct collection c;
    collect_span_with(&c, "'endTimeUnixNano':0");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_times(&c, 0, 7, 0);
    collection_close(&c);
    collect_span_with(&c, "'endTimeUnixNano':'3'"); /* clocks are what they are */
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WHOLE);
    assert_times(&c, 0, 7, -4);
    collection_close(&c);
}

/* A trace id of 64 bits in the form of one of 128: the root has the trace's id. */
static void a_root_with_the_id_of_its_trace_is_a_parent(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp",
            "{'resourceSpans':[{'scopeSpans':[{'spans':["
            "{'traceId':'000000000000000000000000000000ab','spanId':'00000000000000ab',"
            "'startTimeUnixNano':1},{'traceId':'000000000000000000000000000000ab',"
            "'spanId':'00000000000000cd','parentSpanId':'00000000000000ab',"
            "'startTimeUnixNano':2}]}]}]}");
    assert_int_equal(c.count, 2);
    assert_true(span_at(&c, 0)->id != pythia_span_id_fold(0, 0xab));
    assert_true(span_at(&c, 1)->parent == span_at(&c, 0)->id);
    collection_close(&c);
}

/* Two files that overlap, as collectors write them: the same trace and span, told apart by nobody
 * here. */
static void a_span_in_two_files_is_given_on_twice_and_is_the_same(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp", plain);
    collect(&c, "otlp", plain);
    assert_int_equal(c.count, 4);
    assert_true(pythia_trace_id_equal(c.spans[0].trace, c.spans[2].trace));
    assert_true(span_at(&c, 0)->id == span_at(&c, 2)->id);
    assert_int_equal(span_at(&c, 0)->resource, span_at(&c, 2)->resource);
    assert_int_equal(span_at(&c, 0)->tracepoint, span_at(&c, 2)->tracepoint);
    collection_close(&c);
}

static void metrics_and_logs_are_counted_as_no_traces(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp",
            "{'resourceMetrics':[{'resource':{},'scopeMetrics':[]}]}\n"
            "{'resourceLogs':[]}\n{}\n'text'\n{'resourceSpans':[]}\n");
    assert_int_equal(c.count, 0);
    assert_problems(&c, "");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 4);
    collection_close(&c);
}

/* ---- broken input ---- */

static void a_broken_span_is_told_and_the_others_are_kept(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp",
            "{'resourceSpans':[{'scopeSpans':[{'spans':[\n"
            "{'spanId':'00000000000000cd','startTimeUnixNano':1},\n"
            "{'traceId':'000000000000000000000000000000ab','startTimeUnixNano':1},\n"
            "{'traceId':'000000000000000000000000000000ab','spanId':'00000000000000cd'},\n"
            "{'traceId':'ab'},\n"
            "{'spanId':'gggggggggggggggg'},\n"
            "{'spanId':17},\n"
            "{'startTimeUnixNano':'9223372036854775808'},\n"
            "{'startTimeUnixNano':-1},\n"
            "{'endTimeUnixNano':1.5},\n"
            "{'attributes':[{'key':'k','value':{'intValue':'x'}}]},\n"
            "{'attributes':[{'key':'k','value':{'doubleValue':'x'}}]},\n"
            "{'kind':[]},\n"
            "{'name':NaN},\n"
            "{'traceId':'000000000000000000000000000000ab','spanId':'00000000000000cd',"
            "'startTimeUnixNano':1}]}]}]}\n");
    assert_int_equal(c.count, 1);
    assert_problems(
        &c, "2:44: a span without traceId\n"
            "3:97: a span without spanId\n"
            "4:167: a span without startTimeUnixNano\n"
            "5:254: traceId 'ab' is not an id: expected hexadecimal digits or base64\n"
            "6:271: spanId 'gggggggggggggggg' is not an id: expected hexadecimal digits or base64\n"
            "7:302: expected a string, found '1'\n"
            "8:328: the time 9223372036854775808 is out of range\n"
            "9:373: -1 is not a whole number of 64 bits\n"
            "10:397: 1.5 is not a whole number of 64 bits\n"
            "11:449: expected a whole number\n"
            "12:507: 'x' is not a doubleValue\n"
            "13:524: expected a number or a name\n"
            "14:537: expected a string, found 'N'\n");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 13);
    collection_close(&c);
}

static void key_values_nested_too_deep_are_told(void **state)
{
    struct pythia_buf members = {0};
    struct collection c;
    pythia_buf_puts(&members, "'attributes':[{'key':'k','value':");
    for (int i = 0; i < 40; i++)
        pythia_buf_puts(&members, "{'kvlistValue':{'values':[{'key':'k','value':");
    pythia_buf_puts(&members, "{'intValue':1}");
    for (int i = 0; i < 40; i++)
        pythia_buf_puts(&members, "}]}}");
    pythia_buf_puts(&members, "}]");
    collect_span_with(&c, members.bytes);
    assert_int_equal(c.count, 0);
    assert_non_null(strstr(c.problems.bytes, "key-values are nested deeper than 32"));
    collection_close(&c);
    pythia_buf_free(&members);
}

static void a_document_with_a_fault_ends_and_the_next_one_is_read(void **state)
{
    struct pythia_buf text = {0};
    struct collection c;
    pythia_buf_printf(&text, "%s\n{'resourceSpans':[{'x' 1}]}\n%s\nnot JSON\n%s\n", plain, plain,
                      plain);
    collection_open(&c);
    collect(&c, "otlp", text.bytes);
    assert_int_equal(c.count, 6);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 2);
    assert_non_null(strstr(c.problems.bytes, "expected a colon, found '1'"));
    assert_non_null(strstr(c.problems.bytes, "'not' is not a JSON value"));
    collection_close(&c);
    pythia_buf_free(&text);
}

/* What the spans share is lost with the end of the document: the spans are not. */
static void of_a_document_that_is_cut_off_the_spans_are_kept(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "otlp",
            "{'resourceSpans':[{'scopeSpans':[{'spans':["
            "{'traceId':'000000000000000000000000000000ab','spanId':'00000000000000cd',"
            "'startTimeUnixNano':7,'name':'o'},{'traceId':'0000000000000000000");
    assert_int_equal(c.count, 1);
    assert_tracepoint(&c, 0, "o");
    assert_problems(&c, "1:162: the input ends in the middle of a string\n");
    collection_close(&c);
}

static void broken_utf8_is_repaired_and_counted(void **state)
{
    struct collection c;
    collect_span_with(&c,
                      "'name':'caf\xE9','attributes':[{'key':'k','value':"
                      "{'stringValue':'\xFF'}},{'key':'ok','value':{'stringValue':'\xC3\xA9'}}]");
    assert_int_equal(c.counts.repaired[PYTHIA_REPAIR_ENCODING], 2);
    assert_tracepoint(&c, 0, "caf\xEF\xBF\xBD");
    assert_text(&c, 0, "k", "\xEF\xBF\xBD");
    assert_text(&c, 0, "ok", "\xC3\xA9");
    collection_close(&c);
}

static void a_nesting_of_100000_is_passed_over(void **state)
{
    struct pythia_buf text = {0};
    struct collection c;
    pythia_buf_puts(&text, "{'unknown':");
    for (int i = 0; i < 100000; i++)
        pythia_buf_putc(&text, '[');
    for (int i = 0; i < 100000; i++)
        pythia_buf_putc(&text, ']');
    pythia_buf_printf(&text, ",%s", plain + 1);
    collection_open(&c);
    collect(&c, "otlp", text.bytes);
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    collection_close(&c);
    pythia_buf_free(&text);
}

static void every_allocation_may_fail(void **state)
{
    assert_every_allocation_may_fail("otlp", plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traces_data_is_read),
        cmocka_unit_test(one_document_many_or_an_array_are_read),
        cmocka_unit_test(the_members_may_stand_in_any_order),
        cmocka_unit_test(values_of_every_kind_become_attributes),
        cmocka_unit_test(a_long_text_is_cut_and_still_differs_from_others),
        cmocka_unit_test(events_become_attributes_below_their_names),
        cmocka_unit_test(kinds_and_codes_are_numbers_or_names),
        cmocka_unit_test(ids_in_base64_are_read),
        cmocka_unit_test(names_of_old_versions_and_in_snake_case_are_read),
        cmocka_unit_test(null_stands_for_what_is_not_there),
        cmocka_unit_test(a_span_without_an_end_is_not_finished),
        cmocka_unit_test(a_root_with_the_id_of_its_trace_is_a_parent),
        cmocka_unit_test(a_span_in_two_files_is_given_on_twice_and_is_the_same),
        cmocka_unit_test(metrics_and_logs_are_counted_as_no_traces),
        cmocka_unit_test(a_broken_span_is_told_and_the_others_are_kept),
        cmocka_unit_test(key_values_nested_too_deep_are_told),
        cmocka_unit_test(a_document_with_a_fault_ends_and_the_next_one_is_read),
        cmocka_unit_test(of_a_document_that_is_cut_off_the_spans_are_kept),
        cmocka_unit_test(broken_utf8_is_repaired_and_counted),
        cmocka_unit_test(a_nesting_of_100000_is_passed_over),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
