#include <stdio.h>

#include "check.h"
#include "collect.h"

/* One trace, the usual way: its processes stand behind its spans. */
static const char plain[] =
    "{'data':[{'traceID':'1f','spans':[{'traceID':'1f','spanID':'a1','flags':1,"
    "'operationName':'GET /users/17','references':[],'startTime':1500000000000001,"
    "'duration':250,'tags':[{'key':'span.kind','type':'string','value':'server'},"
    "{'key':'http.status_code','type':'int64','value':200}],'logs':[],'processID':'p1',"
    "'warnings':null},{'traceID':'1f','spanID':'b2','operationName':'query',"
    "'references':[{'refType':'CHILD_OF','traceID':'1f','spanID':'a1'}],"
    "'startTime':1500000000000011,'duration':100,'tags':[],'logs':[],'processID':'p2',"
    "'warnings':null}],'processes':{'p1':{'serviceName':'users','tags':[{'key':'hostname',"
    "'type':'string','value':'h1'},{'key':'ip','type':'string','value':'10.0.0.1'},"
    "{'key':'jaeger.version','type':'string','value':'C-1'}]},'p2':{'serviceName':'store',"
    "'tags':[{'key':'host.name','type':'string','value':'h2'},{'key':'service.instance.id',"
    "'type':'string','value':'i7'}]}},'warnings':null}],'total':0,'limit':0,'offset':0,"
    "'errors':null}";

/* What cqlsh prints of a row in Cassandra. */
static const char table[] = "\n [json]\n-----\n"
                            " {'trace_id':'0x1f','span_id':1,'operation_name':'a',"
                            "'start_time':1,'process':{'service_name':'web'}}\n\n(1 rows)\n";

static void assert_plain(const struct collection *c)
{
    assert_problems(c, "");
    assert_int_equal(c->count, 2);
    assert_trace(c, 0, 0, 0x1f);
    assert_trace(c, 1, 0, 0x1f);
    assert_true(span_at(c, 0)->id == 0xa1 && span_at(c, 0)->parent == 0);
    assert_true(span_at(c, 1)->id == 0xb2 && span_at(c, 1)->parent == 0xa1);
    assert_times(c, 0, UINT64_C(1500000000000001000), 250000);
    assert_times(c, 1, UINT64_C(1500000000000011000), 100000);
    assert_int_equal(span_at(c, 0)->part, PYTHIA_PART_WHOLE);
    assert_int_equal(span_at(c, 0)->kind, PYTHIA_SPAN_SERVER);
    assert_int_equal(span_at(c, 1)->kind, PYTHIA_SPAN_UNKNOWN);
    assert_int_equal(span_at(c, 1)->relation, PYTHIA_RELATION_CALL);
    assert_tracepoint(c, 0, "users:GET /users/{id}");
    assert_tracepoint(c, 1, "store:query");
    assert_resource(c, 0, "users", "h1", "10.0.0.1");
    assert_resource(c, 1, "store", "h2", "i7");
    assert_int_equal(attribute_count(c, 0), 1);
    assert_integer(c, 0, "http.status_code", 200);
    assert_text_in(c, resource_at(c, 0).attributes, "jaeger.version", "C-1");
}

static void an_answer_of_the_api_is_read(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger", plain);
    assert_plain(&c);
    collection_close(&c);
    assert_pieces_do_not_matter("jaeger", plain);
}

/* The trace of `plain` alone, without the answer around it. */
static struct pythia_buf trace_alone(void)
{
    struct pythia_buf trace = {0};
    const char *begin = strchr(plain, '[') + 1, *end = strstr(plain, "],'total'");
    pythia_buf_add(&trace, begin, (size_t)(end - begin));
    return trace;
}

static void a_trace_alone_and_traces_one_a_line_or_in_an_array_are_read(void **state)
{
    static const char *const around[][3] = {{"", "", ""},
                                            {"", "\n", "\n"},
                                            {"[", ",", "]"},
                                            {"{'data':", "}{'data':", "}"},
                                            {"{'data':[", "]}\n{'errors':null,'data':[", "]}"}};
    struct pythia_buf trace = trace_alone();
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
        struct pythia_buf text = {0};
        struct collection c;
        int copies = i == 0 ? 1 : 2;
        for (int k = 0; k < copies; k++) {
            pythia_buf_puts(&text, around[i][k]);
            pythia_buf_text_add(&text, pythia_buf_text(&trace));
        }
        pythia_buf_puts(&text, around[i][2]);
        collection_open(&c);
        collect(&c, "jaeger", text.bytes);
        assert_int_equal(c.count, 2 * copies);
        c.count = 2;
        assert_plain(&c);
        collection_close(&c);
        pythia_buf_free(&text);
    }
    pythia_buf_free(&trace);
}

static void the_members_of_a_trace_may_stand_in_any_order(void **state)
{
    static const char processes[] = "'processes':{'p1':{'tags':[],'serviceName':'s'}}";
    static const char spans[] = "'spans':[{'processID':'p1','duration':'7','startTime':'5',"
                                "'operationName':'o','spanID':'2'}]";
    static const char id[] = "'traceID':'3'";
    const char *const orders[][3] = {{processes, spans, id}, {processes, id, spans},
                                     {spans, processes, id}, {spans, id, processes},
                                     {id, processes, spans}, {id, spans, processes}};
    for (size_t i = 0; i < 6; i++) {
        struct pythia_buf text = {0};
        struct collection c;
        pythia_buf_printf(&text, "{%s,%s,%s}", orders[i][0], orders[i][1], orders[i][2]);
        collection_open(&c);
        collect(&c, "jaeger", text.bytes);
        assert_problems(&c, "");
        assert_int_equal(c.count, 1);
        assert_trace(&c, 0, 0, 3);
        assert_times(&c, 0, 5000, 7000);
        assert_tracepoint(&c, 0, "s:o");
        collection_close(&c);
        pythia_buf_free(&text);
    }
}

/* A trace with one span, whose further members are `members`. */
static void collect_span_with(struct collection *c, const char *members)
{
    struct pythia_buf text = {0};
    pythia_buf_printf(&text,
                      "{'data':[{'traceID':'5','spans':[{'traceID':'5','spanID':'6',"
                      "'operationName':'o','startTime':10,'duration':4,'processID':'p',%s}],"
                      "'processes':{'p':{'serviceName':'s'}}}]}",
                      members);
    collection_open(c);
    collect(c, "jaeger", text.bytes);
    pythia_buf_free(&text);
}

static void typed_tags_become_attributes(void **state)
{
    struct collection c;
    collect_span_with(&c, "'tags':[{'key':'s','type':'string','value':'text'},{'key':'b',"
                          "'type':'bool','value':true},{'key':'i','type':'int64','value':-7},"
                          "{'key':'big','type':'int64','value':'9223372036854775222'},"
                          "{'key':'f','type':'float64','value':72.5},{'key':'whole',"
                          "'type':'float64','value':3},{'key':'bin','type':'binary',"
                          "'value':'AAAwOQ=='},{'key':'b as text','type':'bool',"
                          "'value':'false'},{'key':'f as text','type':'float64',"
                          "'value':'0.25'},{'key':'no int','type':'int64','value':'many'},"
                          "{'key':'digits','type':'string','value':'17'},{'key':'untyped',"
                          "'value':4},{'value':'before','type':'string','key':'order'},"
                          "{'key':'null','type':'string','value':null},{'key':'object',"
                          "'value':{'x':1,'y':['a',2]}}]");
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_text(&c, 0, "s", "text");
    assert_truth(&c, 0, "b", 1);
    assert_integer(&c, 0, "i", -7);
    assert_integer(&c, 0, "big", (double)INT64_C(9223372036854775222));
    assert_real(&c, 0, "f", 72.5);
    assert_real(&c, 0, "whole", 3);
    assert_text(&c, 0, "bin", "AAAwOQ==");
    assert_truth(&c, 0, "b as text", 0);
    assert_real(&c, 0, "f as text", 0.25);
    assert_text(&c, 0, "no int", "many");
    assert_text(&c, 0, "digits", "17");
    assert_integer(&c, 0, "untyped", 4);
    assert_text(&c, 0, "order", "before");
    assert_no_attribute(&c, 0, "null");
    assert_integer(&c, 0, "object.x", 1);
    assert_text(&c, 0, "object.y", "a,2");
    collection_close(&c);
}

static void some_tags_say_what_the_span_is(void **state)
{
    static const struct {
        const char *tag;
        enum pythia_span_kind kind;
        bool error;
        const char *tracepoint;
    } cases[] = {
        {"'span.kind','value':'client'", PYTHIA_SPAN_CLIENT, false, "s:o"},
        {"'span.kind','value':'server'", PYTHIA_SPAN_SERVER, false, "s:o"},
        {"'span.kind','value':'producer'", PYTHIA_SPAN_PRODUCER, false, "s:o"},
        {"'span.kind','value':'consumer'", PYTHIA_SPAN_CONSUMER, false, "s:o"},
        {"'span.kind','value':'internal'", PYTHIA_SPAN_INTERNAL, false, "s:o"},
        {"'span.kind','value':'else'", PYTHIA_SPAN_UNKNOWN, false, "s:o"},
        {"'error','value':true", PYTHIA_SPAN_UNKNOWN, true, "s:o"},
        {"'error','type':'bool','value':'true'", PYTHIA_SPAN_UNKNOWN, true, "s:o"},
        {"'error','value':false", PYTHIA_SPAN_UNKNOWN, false, "s:o"},
        {"'otel.status_code','value':'ERROR'", PYTHIA_SPAN_UNKNOWN, true, "s:o"},
        {"'otel.status_code','value':'OK'", PYTHIA_SPAN_UNKNOWN, false, "s:o"},
        {"'otel.scope.name','value':'lib'", PYTHIA_SPAN_UNKNOWN, false, "s:lib:o"},
        {"'otel.library.name','value':'old'", PYTHIA_SPAN_UNKNOWN, false, "s:old:o"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf members = {0};
        struct collection c;
        pythia_buf_printf(&members, "'tags':[{'key':%s}]", cases[i].tag);
        collect_span_with(&c, members.bytes);
        assert_int_equal(c.count, 1);
        assert_int_equal(span_at(&c, 0)->kind, cases[i].kind);
        assert_int_equal(span_at(&c, 0)->error, cases[i].error);
        assert_tracepoint(&c, 0, cases[i].tracepoint);
        assert_no_attribute(&c, 0, "span.kind");
        assert_no_attribute(&c, 0, "otel.scope.name");
        collection_close(&c);
        pythia_buf_free(&members);
    }
}

static void logs_become_events(void **state)
{
    struct collection c;
    collect_span_with(&c, "'logs':[{'timestamp':12,'fields':[{'key':'size','type':'int64',"
                          "'value':'8'},{'key':'event','type':'string','value':'cache miss'}]},"
                          "{'fields':[{'key':'message','type':'string','value':'retry'}]},"
                          "{'fields':[{'key':'event','type':'int64','value':42},{'key':'message',"
                          "'value':'why'}]},{'timestamp':13,'fields':[{'key':'x','value':'y'}]}]");
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 6);
    assert_truth(&c, 0, "event.cache miss", 1);
    assert_integer(&c, 0, "event.cache miss.size", 8);
    assert_truth(&c, 0, "event.retry", 1);
    assert_truth(&c, 0, "event.42", 1);
    assert_text(&c, 0, "event.42.message", "why");
    assert_text(&c, 0, "log.x", "y");
    collection_close(&c);
}

/* ---- parents ---- */

/* The references of a span, and what comes of them. */
static void assert_parent(const char *members, uint64_t parent, enum pythia_span_relation relation,
                          uint64_t several)
{
    struct collection c;
    collect_span_with(&c, members);
    assert_problems(&c, "");
    assert_true(span_at(&c, 0)->parent == parent);
    assert_int_equal(span_at(&c, 0)->relation, relation);
    assert_int_equal(c.counts.repaired[PYTHIA_REPAIR_SEVERAL_PARENTS], several);
    collection_close(&c);
}

static void references_tell_the_parent_and_whether_it_waits(void **state)
{
    assert_parent("'references':[{'refType':'CHILD_OF','traceID':'5','spanID':'b'}]", 0xb,
                  PYTHIA_RELATION_CALL, 0);
    assert_parent("'references':[{'refType':'FOLLOWS_FROM','traceID':'5','spanID':'b'}]", 0xb,
                  PYTHIA_RELATION_SPAWN, 0);
    assert_parent("'references':[{'refType':'CHILD_OF','traceID':'5','spanID':'b'}],"
                  "'tags':[{'key':'span.kind','value':'consumer'}]",
                  0xb, PYTHIA_RELATION_SPAWN, 0);
    assert_parent("'references':[]", 0, PYTHIA_RELATION_UNKNOWN, 0);
    assert_parent("'references':null,'tags':null,'logs':null", 0, PYTHIA_RELATION_UNKNOWN, 0);
    assert_parent("'parentSpanID':'0b'", 0xb, PYTHIA_RELATION_CALL, 0);
    assert_parent("'parentSpanID':'0'", 0, PYTHIA_RELATION_UNKNOWN, 0);
    assert_parent("'parentSpanID':''", 0, PYTHIA_RELATION_UNKNOWN, 0);
}

static void the_same_parent_twice_is_one(void **state)
{
    assert_parent("'references':[{'refType':'CHILD_OF','traceID':'5','spanID':'b'},"
                  "{'refType':'CHILD_OF','traceID':'05','spanID':'000b'},"
                  "{'refType':'FOLLOWS_FROM','traceID':'5','spanID':'b'}],'parentSpanID':'b'",
                  0xb, PYTHIA_RELATION_CALL, 0);
}

static void of_several_parents_the_first_is_kept_and_counted_once(void **state)
{
    assert_parent("'references':[{'refType':'CHILD_OF','traceID':'5','spanID':'b'},"
                  "{'refType':'CHILD_OF','traceID':'5','spanID':'c'},{'refType':'FOLLOWS_FROM',"
                  "'traceID':'5','spanID':'d'}]",
                  0xb, PYTHIA_RELATION_CALL, 1);
    assert_parent("'references':[{'refType':'FOLLOWS_FROM','traceID':'5','spanID':'b'}],"
                  "'parentSpanID':'c'",
                  0xb, PYTHIA_RELATION_SPAWN, 1);
}

static void a_reference_to_another_trace_is_no_parent(void **state)
{
    assert_parent("'references':[{'refType':'CHILD_OF','traceID':'ff','spanID':'b'}]", 0,
                  PYTHIA_RELATION_UNKNOWN, 0);
    assert_parent("'references':[{'refType':'CHILD_OF','traceID':'ff','spanID':'b'},"
                  "{'refType':'FOLLOWS_FROM','traceID':'5','spanID':'c'}]",
                  0xc, PYTHIA_RELATION_SPAWN, 0);
}

static void a_parent_called_root_is_none(void **state)
{
    assert_parent("'references':[{'refType':'CHILD_OF','traceID':'5','spanID':'root'}]", 0,
                  PYTHIA_RELATION_UNKNOWN, 0);
    assert_parent("'parentSpanID':'root'", 0, PYTHIA_RELATION_UNKNOWN, 0);
}

/* The user interface exports with each reference a copy of the parent, with its parent, and so on.
 */
static void nested_copies_of_the_parent_are_passed_over(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'data':[{'traceID':'5','processes':{},'spans':[{'traceID':'5','spanID':'2',"
            "'operationName':'child','startTime':2,'duration':1,"
            "'references':[{'refType':'CHILD_OF','span':{'traceID':'5','spanID':'1',"
            "'operationName':'wrong','startTime':1,'duration':9,"
            "'references':[{'refType':'CHILD_OF','traceID':'5','spanID':'8',"
            "'span':{'spanID':'8'}}],'tags':[{'key':'error','value':true}],"
            "'process':{'serviceName':'wrong'}},'traceID':'5','spanID':'1'}],"
            "'process':{'serviceName':'right','tags':[]},'processID':'p9','depth':1,"
            "'hasChildren':false,'childSpanIds':[],'warnings':[]}]}]}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_true(span_at(&c, 0)->parent == 1);
    assert_tracepoint(&c, 0, "right:child");
    assert_false(span_at(&c, 0)->error);
    collection_close(&c);
}

/* ---- ids ---- */

static void ids_of_any_length_are_numbers(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'spans':[{'traceID':'0000000000000000000000000000000f','spanID':'01',"
            "'startTime':1},{'traceID':'f','spanID':'1','startTime':1},"
            "{'traceID':'130a33047973ad6','spanID':'A','startTime':1},"
            "{'traceID':'000102030405060708090A0B0C0D0E0F','spanID':'B1','startTime':1}],"
            "'processes':{}}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 4);
    assert_trace(&c, 0, 0, 15);
    assert_trace(&c, 1, 0, 15);
    assert_trace(&c, 2, 0, UINT64_C(0x130a33047973ad6));
    assert_trace(&c, 3, UINT64_C(0x0001020304050607), UINT64_C(0x08090a0b0c0d0e0f));
    assert_true(span_at(&c, 0)->id == span_at(&c, 1)->id);
    assert_true(span_at(&c, 2)->id == 0xA && span_at(&c, 3)->id == 0xB1);
    collection_close(&c);
}

static void ids_that_are_no_numbers_are_told_apart(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'traceID':'trace-123','spans':[{'traceID':'trace-123','spanID':'span-1',"
            "'startTime':1},{'traceID':'trace-123','spanID':'span-2','startTime':1,"
            "'references':[{'refType':'CHILD_OF','traceID':'trace-123','spanID':'span-1'}]},"
            "{'spanID':'12345678-9abc-def0-1234-56789abcdef0','startTime':1,"
            "'parentSpanID':'span-2'}],'processes':{}}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 3);
    assert_true(pythia_trace_id_equal(c.spans[0].trace, c.spans[2].trace));
    assert_true(span_at(&c, 0)->id != span_at(&c, 1)->id);
    assert_true(span_at(&c, 1)->parent == span_at(&c, 0)->id);
    assert_true(span_at(&c, 2)->parent == span_at(&c, 1)->id);
    collection_close(&c);
}

/* With trace ids of 64 bits the root has the trace's: its children name it, and not nothing. */
static void a_root_with_the_id_of_its_trace_is_a_parent(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'traceID':'130a','spans':[{'spanID':'130a','startTime':1,'duration':9},"
            "{'spanID':'1','startTime':2,'duration':3,'references':[{'refType':'CHILD_OF',"
            "'traceID':'130a','spanID':'130a'}]}],'processes':{}}");
    uint64_t trace = pythia_span_id_fold(0, 0x130a);
    assert_true(span_at(&c, 0)->id != trace && span_at(&c, 0)->parent == 0);
    assert_true(span_at(&c, 1)->parent == span_at(&c, 0)->id);
    collection_close(&c);
}

static void traces_of_two_files_with_one_id_are_one(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger", plain);
    collect(&c, "jaeger", plain);
    assert_int_equal(c.count, 4);
    assert_true(pythia_trace_id_equal(c.spans[0].trace, c.spans[2].trace));
    assert_true(span_at(&c, 0)->id == span_at(&c, 2)->id);
    collection_close(&c);
}

/* ---- other shapes ---- */

static void spans_by_themselves_bring_their_process(void **state)
{
    static const char text[] =
        "{'traceID':'1','spanID':'2','parentSpanID':'3','flags':1,'operationName':'o',"
        "'references':[{'refType':'CHILD_OF','traceID':'1','spanID':'3'}],"
        "'startTime':1485467191639875,'startTimeMillis':1485467191639,'duration':5,"
        "'tags':[{'key':'n','type':'int64','value':'23456'}],'process':{'serviceName':'x',"
        "'tags':[{'key':'hostname','type':'string','value':'h'}]}}\n";
    struct pythia_buf twice = {0};
    struct collection c;
    pythia_buf_printf(&twice, "%s%s", text, text);
    collection_open(&c);
    collect(&c, "jaeger", twice.bytes);
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(span_at(&c, i)->parent == 3);
        assert_resource(&c, i, "x", "h", "");
        assert_tracepoint(&c, i, "x:o");
        assert_int_equal(attribute_count(&c, i), 1);
        assert_integer(&c, i, "n", 23456);
    }
    collection_close(&c);
    pythia_buf_free(&twice);
}

static void a_process_that_nobody_describes_is_unknown(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'traceID':'1','spans':[{'spanID':'2','operationName':'o','startTime':1,"
            "'duration':1,'processID':'p2'}],'processes':{'p1':{'serviceName':'s'}}}");
    assert_int_equal(c.count, 1);
    assert_int_equal(span_at(&c, 0)->resource, 0);
    assert_tracepoint(&c, 0, "o");
    collection_close(&c);
}

static void many_processes_are_told_apart(void **state)
{
    enum { PROCESSES = 1000 };
    struct pythia_buf text = {0};
    struct collection c;
    pythia_buf_puts(&text, "{'traceID':'1','processes':{");
    for (int i = 0; i < PROCESSES; i++)
        pythia_buf_printf(&text, "%s'p%d':{'serviceName':'s%d'}", i ? "," : "", i, i);
    pythia_buf_puts(&text, "},'spans':[");
    for (int i = 0; i < PROCESSES; i++)
        pythia_buf_printf(&text, "%s{'spanID':'%x','startTime':1,'processID':'p%d'}", i ? "," : "",
                          i + 2, i);
    pythia_buf_puts(&text, "]}");
    collection_open(&c);
    collect(&c, "jaeger", text.bytes);
    assert_int_equal(c.count, PROCESSES);
    for (size_t i = 0; i < PROCESSES; i++) {
        char service[16];
        snprintf(service, sizeof(service), "s%zu", i);
        assert_resource(&c, i, service, "", "");
    }
    collection_close(&c);
    pythia_buf_free(&text);
}

static void times_may_have_fractions_and_durations_may_be_negative(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'traceID':'1','processes':{},'spans':[{'spanID':'1','startTime':1.5,"
            "'duration':'0.25'},{'spanID':'2','startTime':0,'duration':-3},{'spanID':'3',"
            "'startTime':9,'duration':0},{'spanID':'4','startTime':9}]}");
    assert_problems(&c, "");
    assert_times(&c, 0, 1500, 250);
    assert_times(&c, 1, 0, -3000);
    assert_times(&c, 2, 9000, 0);
    assert_int_equal(span_at(&c, 2)->part, PYTHIA_PART_WHOLE);
    assert_int_equal(span_at(&c, 3)->part, PYTHIA_PART_START); /* it has not ended */
    collection_close(&c);
}

/* ---- broken input ---- */

static void a_broken_span_is_told_and_the_others_are_kept(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'traceID':'1','processes':{},'spans':[\n"
            "{'startTime':1},\n"
            "{'spanID':'0','startTime':1},\n"
            "{'spanID':'2'},\n"
            "{'spanID':'3','startTime':'yesterday'},\n"
            "{'spanID':'4','startTime':-1},\n"
            "{'spanID':'5','startTime':9300000000000000},\n"
            "{'spanID':'6','startTime':9000000000000000,'duration':9000000000000000},\n"
            "{'spanID':'7','startTime':1,'tags':{}},\n"
            "{'spanID':'8','startTime':NaN},\n"
            "7,\n"
            "{'spanID':'9','startTime':1,'duration':2}]}");
    assert_int_equal(c.count, 1);
    assert_true(span_at(&c, 0)->id == 9);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 10);
    assert_problems(&c, "2:40: a span without spanID\n"
                        "3:57: a span without spanID\n"
                        "4:87: a span without startTime\n"
                        "5:129: expected a time in microseconds\n"
                        "6:169: a time before 1970 is out of range\n"
                        "7:200: the time 9300000000000000 is out of range\n"
                        "8:219: a span that ends after the year 2262\n"
                        "9:327: expected an array, found '{'\n"
                        "10:358: 'NaN' is not a JSON value\n"
                        "11:364: expected an object, found '7'\n");
    collection_close(&c);
}

static void spans_without_a_trace_are_told(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'spans':[{'spanID':'1','startTime':1},{'traceID':'7','spanID':'1',"
            "'startTime':1}],'processes':{}}\n");
    assert_int_equal(c.count, 1);
    assert_trace(&c, 0, 0, 7);
    assert_problems(&c, "2:99: a span without traceID in the trace that ends here\n");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 1);
    collection_close(&c);
}

/* The processes, which stand at the end, are lost: the spans are not. */
static void of_a_trace_that_is_cut_off_the_spans_are_kept(void **state)
{
    struct pythia_buf alone = trace_alone();
    const char *const texts[] = {plain, alone.bytes};
    for (size_t i = 0; i < 2; i++) {
        struct pythia_buf text = {0};
        struct collection c;
        pythia_buf_add(&text, texts[i], (size_t)(strstr(texts[i], ",'processes'") - texts[i]));
        pythia_buf_putc(&text, '\0');
        collection_open(&c);
        collect(&c, "jaeger", text.bytes);
        assert_int_equal(c.count, 2);
        assert_int_equal(span_at(&c, 1)->resource, 0);
        assert_tracepoint(&c, 1, "query");
        assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 1);
        assert_non_null(strstr(c.problems.bytes, "the input ends in the middle of a value"));
        collection_close(&c);
        pythia_buf_free(&text);
    }
    pythia_buf_free(&alone);
}

static void what_is_no_trace_is_counted(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "jaeger",
            "{'data':null,'errors':[{'code':404,'msg':'trace not found'}]}\n"
            "{'resourceSpans':[]}\n"
            "[1, {'data':[2]}]\n"
            "7\n");
    assert_int_equal(c.count, 0);
    assert_problems(&c, "");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 4);
    collection_close(&c);
}

static void the_sink_can_stop_the_decoder(void **state)
{
    for (size_t after = 1; after < 3; after++) {
        struct collection c;
        collection_open(&c);
        c.stop_after = after;
        collect_pieces(&c, "jaeger", plain, 0);
        assert_int_equal(c.status, PYTHIA_ESTOPPED);
        assert_int_equal(c.count, after);
        assert_problems(&c, "");
        collection_close(&c);
    }
}

static void every_allocation_may_fail(void **state)
{
    assert_every_allocation_may_fail("jaeger", plain);
    assert_every_allocation_may_fail("jaeger", table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_of_the_api_is_read),
        cmocka_unit_test(a_trace_alone_and_traces_one_a_line_or_in_an_array_are_read),
        cmocka_unit_test(the_members_of_a_trace_may_stand_in_any_order),
        cmocka_unit_test(typed_tags_become_attributes),
        cmocka_unit_test(some_tags_say_what_the_span_is),
        cmocka_unit_test(logs_become_events),
        cmocka_unit_test(references_tell_the_parent_and_whether_it_waits),
        cmocka_unit_test(the_same_parent_twice_is_one),
        cmocka_unit_test(of_several_parents_the_first_is_kept_and_counted_once),
        cmocka_unit_test(a_reference_to_another_trace_is_no_parent),
        cmocka_unit_test(a_parent_called_root_is_none),
        cmocka_unit_test(nested_copies_of_the_parent_are_passed_over),
        cmocka_unit_test(ids_of_any_length_are_numbers),
        cmocka_unit_test(ids_that_are_no_numbers_are_told_apart),
        cmocka_unit_test(a_root_with_the_id_of_its_trace_is_a_parent),
        cmocka_unit_test(traces_of_two_files_with_one_id_are_one),
        cmocka_unit_test(spans_by_themselves_bring_their_process),
        cmocka_unit_test(a_process_that_nobody_describes_is_unknown),
        cmocka_unit_test(many_processes_are_told_apart),
        cmocka_unit_test(times_may_have_fractions_and_durations_may_be_negative),
        cmocka_unit_test(a_broken_span_is_told_and_the_others_are_kept),
        cmocka_unit_test(spans_without_a_trace_are_told),
        cmocka_unit_test(of_a_trace_that_is_cut_off_the_spans_are_kept),
        cmocka_unit_test(what_is_no_trace_is_counted),
        cmocka_unit_test(the_sink_can_stop_the_decoder),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
