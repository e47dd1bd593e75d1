#include <string.h>

#include "check.h"
#include "collect.h"

#define BASE   "00000000-0000-0000-0000-00000000ba5e"
#define SPAN   "00000000-0000-0000-0000-000000000001"
#define CHILD  "00000000-0000-0000-0000-000000000002"
#define OTHER  "11111111-2222-3333-4444-555555555555"
#define MIDDAY UINT64_C(1546430400000000000) /* 2019-01-02T12:00:00Z */

/* One raw event; `info` is what stands inside its info. */
static struct pythia_buf event(const char *name, const char *span, const char *parent,
                               const char *microseconds, const char *info)
{
    struct pythia_buf text = {0};
    pythia_buf_printf(&text,
                      "{'name':'%s','base_id':'" BASE "','trace_id':'%s','parent_id':'%s',"
                      "'timestamp':'2019-01-02T12:00:00.%s','info':{%s},'project':'nova',"
                      "'service':'osapi_compute'}",
                      name, span, parent, microseconds, info);
    return text;
}

static void add_event(struct pythia_buf *to, const char *name, const char *span, const char *parent,
                      const char *microseconds, const char *info)
{
    struct pythia_buf one = event(name, span, parent, microseconds, info);
    pythia_buf_text_add(to, pythia_buf_text(&one));
    pythia_buf_free(&one);
}

/* Decode one event of span SPAN below BASE. */
static void collect_event(struct collection *c, const char *name, const char *info)
{
    struct pythia_buf text = event(name, SPAN, BASE, "000250", info);
    collection_open(c);
    collect(c, "osprofiler", text.bytes);
    assert_problems(c, "");
    assert_int_equal(c->count, 1);
    assert_trace(c, 0, 0, 0xba5e);
    assert_times(c, 0, MIDDAY + 250000, 0);
    pythia_buf_free(&text);
}

static uint64_t folded(const char *uuid)
{
    uint64_t high = 0, low = 0;
    assert_true(pythia_text_uuid(pythia_text_of(uuid), &high, &low));
    return pythia_span_id_fold(high, low);
}

/* ---- the eleven shapes of info that the fork writes ---- */

#define COMMON "'thread_id':7,'host':'cp-1','tracepoint_id':'root/nova/api.py:12:f','pid':99"

static void shape_1_a_wait_links_to_what_it_waits_for(void **state)
{
    struct collection c;
    collect_event(&c, "asynch_wait-start",
                  "'function':{'name':'GreenThread.wait'}," COMMON ",'wait_for':'" OTHER "'");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WAIT);
    assert_true(span_at(&c, 0)->id == folded(SPAN));
    assert_true(pythia_span_id_fold(span_at(&c, 0)->link.high, span_at(&c, 0)->link.low) ==
                folded(OTHER));
    assert_tracepoint(&c, 0, "root/nova/api.py:12:f");
    collection_close(&c);
}

static void shape_2_a_child_is_a_fork(void **state)
{
    struct collection c;
    collect_event(&c, "asynch_request", COMMON ",'child_id':'" OTHER "'");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_FORK);
    assert_true(span_at(&c, 0)->id == folded(OTHER)); /* what is forked hangs on this id */
    assert_true(span_at(&c, 0)->parent == folded(BASE));
    collection_close(&c);
}

static void shape_3_an_annotation_is_a_point(void **state)
{
    struct collection c;
    collect_event(&c, "scheduled", COMMON);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_ANNOTATION);
    assert_resource(&c, 0, "nova-osapi_compute", "cp-1", "");
    assert_int_equal(attribute_count(&c, 0), 2);
    assert_integer(&c, 0, "thread_id", 7);
    assert_integer(&c, 0, "pid", 99);
    collection_close(&c);
}

static void shape_4_a_log_keeps_its_message(void **state)
{
    struct collection c;
    collect_event(&c, "log", COMMON ",'msg':'Attempting claim'");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_ANNOTATION);
    assert_text(&c, 0, "msg", "Attempting claim");
    collection_close(&c);
}

static void shape_5_a_key_value_keeps_its_value(void **state)
{
    struct collection c;
    collect_event(&c, "_build_semaphore._waiters", COMMON ",'value':3");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_ANNOTATION);
    assert_integer(&c, 0, "value", 3);
    collection_close(&c);
}

static void shape_6_arguments_become_attributes_of_a_start(void **state)
{
    struct collection c;
    collect_event(&c, "nova-start",
                  "'function':{'name':'f','args':'(1, 2)','kwargs':'{}'}," COMMON);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_text(&c, 0, "function.args", "(1, 2)");
    assert_text(&c, 0, "function.kwargs", "{}");
    collection_close(&c);
}

static void shape_7_a_result_is_a_stop(void **state)
{
    struct collection c;
    collect_event(&c, "nova-stop", "'function':{'result':'None'},'host':'cp-1'");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_STOP);
    assert_int_equal(span_at(&c, 0)->tracepoint, PYTHIA_NONE);
    assert_text(&c, 0, "function.result", "None");
    collection_close(&c);
}

static void shape_8_a_wait_may_have_arguments(void **state)
{
    struct collection c;
    collect_event(&c, "asynch_wait-start",
                  "'wait_for':'" OTHER
                  "','function':{'name':'w','args':'()','kwargs':'{}'}," COMMON);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WAIT);
    assert_text(&c, 0, "function.args", "()");
    collection_close(&c);
}

static void shape_9_a_function_is_entered(void **state)
{
    struct collection c;
    collect_event(&c, "nova-start", "'function':{'name':'nova.compute.f'}," COMMON);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_tracepoint(&c, 0, "root/nova/api.py:12:f");
    collection_close(&c);
}

static void shape_10_a_request_is_entered(void **state)
{
    struct collection c;
    collect_event(
        &c, "wsgi-start",
        "'request':{'path':'/v2/servers','scheme':'http','method':'GET','query':'a=b'}," COMMON);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_text(&c, 0, "request.path", "/v2/servers");
    assert_text(&c, 0, "request.query", "a=b");
    collection_close(&c);
}

static void shape_11_an_exit_is_normal_or_an_error(void **state)
{
    struct collection c;
    collect_event(&c, "nova-stop", "'host':'cp-1'");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_STOP);
    assert_false(span_at(&c, 0)->error);
    collection_close(&c);
    collect_event(&c, "nova-stop", "'host':'cp-1','etype':'ValueError','message':'no'");
    assert_true(span_at(&c, 0)->error);
    assert_text(&c, 0, "etype", "ValueError");
    assert_text(&c, 0, "message", "no");
    collection_close(&c);
}

/* ---- upstream: trace points are named by what is in the event ---- */

static void trace_points_without_an_id_are_named_by_what_they_do(void **state)
{
    static const struct {
        const char *name, *info, *tracepoint;
    } cases[] = {
        {"wsgi-start", "'request':{'method':'GET','path':'/v2/servers/17/os-a','query':''}",
         "wsgi:nova:GET:/v2/servers/{id}/os-a"},
        {"wsgi-start", "'request':{'path':'/v2/d2b6d1e5c5a94a7d8ef1b1e0e3c6f7aa','method':'POST'}",
         "wsgi:nova:POST:/v2/{id}"},
        {"compute_api-start", "'function':{'name':'nova.compute.api.API.get'}",
         "compute_api:nova.compute.api.API.get"},
        {"db-start", "'db':{'statement':'SELECT a, b \\nFROM instances WHERE id=1','params':{}}",
         "db:nova:SELECT:instances"},
        {"db-start", "'db':{'statement':'insert into `quota` (a) values (1)'}",
         "db:nova:INSERT:quota"},
        {"db-start", "'db':{'statement':'UPDATE services SET a=1'}", "db:nova:UPDATE:services"},
        {"db-start", "'db':{'statement':'SELECT 1'}", "db:nova:SELECT:"},
        {"requests-start",
         "'requests':{'method':'GET','hostname':'cp-2','path':'/a/12','port':80,'scheme':'http'}",
         "requests:GET:cp-2:/a/{id}"},
        {"rpc-start", "", "rpc:nova"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collection c;
        collect_event(&c, cases[i].name, cases[i].info);
        assert_tracepoint(&c, 0, cases[i].tracepoint);
        collection_close(&c);
    }
}

/* ---- behaviours of PYTHIA.md ---- */

static void events_without_separators_hold_braces_and_escapes(void **state)
{
    struct pythia_buf text = {0};
    struct collection c;
    add_event(&text, "a-start", SPAN, BASE, "1",
              "'function':{'name':'f','args':'}{ \\\\ {\\n}{'},'text':'\\u007d\\u007b'");
    add_event(&text, "a-stop", SPAN, BASE, "2", "'function':{'result':'{}{}'},'host':'}{'");
    add_event(&text, "b-start", CHILD, SPAN, "3", "");
    collection_open(&c);
    collect(&c, "osprofiler", text.bytes);
    assert_problems(&c, "");
    assert_int_equal(c.count, 3);
    assert_text(&c, 0, "function.args", "}{ \\ {\n}{");
    assert_text(&c, 0, "text", "}{");
    assert_text(&c, 1, "function.result", "{}{}");
    assert_true(span_at(&c, 2)->parent == folded(SPAN));
    collection_close(&c);
    assert_pieces_do_not_matter("osprofiler", text.bytes);
    pythia_buf_free(&text);
}

/* The same four events in every layout that Redis, or a person with it, puts them in. */
static void every_layout_of_redis_gives_the_same_events(void **state)
{
    struct pythia_buf events[4] = {event("a-start", SPAN, BASE, "1", "'host':'h'"),
                                   event("b-start", CHILD, SPAN, "2", "'host':'h'"),
                                   event("b-stop", CHILD, SPAN, "3", "'host':'h'"),
                                   event("a-stop", SPAN, BASE, "4", "'host':'h'")};
    const char *e[4] = {events[0].bytes, events[1].bytes, events[2].bytes, events[3].bytes};
    struct pythia_buf texts[5] = {{0}};
    pythia_buf_printf(&texts[0], "%s%s%s%s", e[0], e[1], e[2], e[3]);         /* APPENDed */
    pythia_buf_printf(&texts[1], "%s\n%s\n%s\n%s\n", e[3], e[2], e[1], e[0]); /* LPUSHed */
    pythia_buf_printf(&texts[2], "[%s,%s,%s,%s]", e[3], e[2], e[1], e[0]);
    pythia_buf_printf(&texts[3], "{'osprofiler:" BASE "':[%s,%s],'osprofiler_opt:x':[[%s],%s]}",
                      e[0], e[1], e[2], e[3]);
    pythia_buf_printf(&texts[4], "osprofiler:" BASE "1\n%s\nosprofiler:" BASE "2\n%s\n%s\n%s\n",
                      e[0], e[1], e[2], e[3]); /* keys and values, as redis-cli prints them */
    for (size_t i = 0; i < 5; i++) {
        struct collection c;
        uint64_t sum = 0, span_sum = 0;
        collection_open(&c);
        collect(&c, "osprofiler", texts[i].bytes);
        assert_problems(&c, "");
        assert_int_equal(c.count, 4);
        for (size_t k = 0; k < 4; k++) {
            assert_trace(&c, k, 0, 0xba5e);
            sum += span_at(&c, k)->start_ns - MIDDAY;
            span_sum += span_at(&c, k)->id;
        }
        assert_true(sum == 1000000000 && span_sum == 2 * (folded(SPAN) + folded(CHILD)));
        collection_close(&c);
        assert_pieces_do_not_matter("osprofiler", texts[i].bytes);
        pythia_buf_free(&texts[i]);
    }
    for (size_t i = 0; i < 4; i++)
        pythia_buf_free(&events[i]);
}

/* Strings inside strings, as a terminal shows them and as JSON keeps them. */
static void events_inside_strings_are_read(void **state)
{
    static const char terminal[] =
        "1) \"{\\\"name\\\": \\\"a-start\\\", \\\"base_id\\\": \\\"" BASE "\\\", "
        "\\\"trace_id\\\": \\\"" SPAN "\\\", \\\"parent_id\\\": \\\"" BASE "\\\", "
        "\\\"timestamp\\\": \\\"2019-01-02T12:00:00\\\", \\\"info\\\": "
        "{\\\"text\\\": \\\"caf\\xc3\\xa9 \\\\\\\"q\\\\\\\"\\\"}}\"\n"
        "2) 1) \"no event\"\n";
    static const char array[] =
        "[\"{\\\"name\\\": \\\"a-start\\\", \\\"base_id\\\": \\\"" BASE "\\\", "
        "\\\"trace_id\\\": \\\"" SPAN "\\\", \\\"parent_id\\\": \\\"" BASE "\\\", "
        "\\\"timestamp\\\": \\\"2019-01-02T12:00:00\\\", \\\"info\\\": "
        "{\\\"text\\\": \\\"caf\\u00e9 \\\\\\\"q\\\\\\\"\\\"}}\"]";
    static const char *const texts[] = {terminal, array};
    for (size_t i = 0; i < 2; i++) {
        struct collection c;
        struct pythia_memory_source memory;
        collection_open(&c);
        pythia_memory_source_init(&memory, "test", texts[i], strlen(texts[i]));
        collect_source(&c, "osprofiler", &memory.source);
        assert_int_equal(c.status, PYTHIA_OK);
        assert_int_equal(c.count, 1);
        assert_text(&c, 0, "text", "caf\xC3\xA9 \"q\"");
        assert_times(&c, 0, MIDDAY, 0);
        collection_close(&c);
    }
}

static void payloads_of_any_type_are_kept(void **state)
{
    struct collection c;
    collect_event(
        &c, "x-start",
        "'function':{'name':'f','args':[1,'two',null],'kwargs':{'a':{'b':2.5}},'extra':1},"
        "'db':'none','requests':{'status_code':-404},'float':-0.25,'negative':-3,"
        "'large':18446744073709551615,'truth':true,'nothing':null,'text':'t',"
        "'list':[[1],{'x':2},'y'],'deep':{'er':{'est':[true,false]}},'host':'h'");
    assert_text(&c, 0, "function.args", "1,two,");
    assert_real(&c, 0, "function.kwargs.a.b", 2.5);
    assert_integer(&c, 0, "function.extra", 1);
    assert_text(&c, 0, "db", "none");
    assert_integer(&c, 0, "requests.status_code", -404);
    assert_real(&c, 0, "float", -0.25);
    assert_integer(&c, 0, "negative", -3);
    assert_real(&c, 0, "large", 18446744073709551616.0);
    assert_truth(&c, 0, "truth", 1);
    assert_no_attribute(&c, 0, "nothing");
    assert_text(&c, 0, "text", "t");
    assert_text(&c, 0, "list", "y");
    assert_text(&c, 0, "deep.er.est", "true,false");
    assert_tracepoint(&c, 0, "x:f");
    collection_close(&c);
}

/* ---- reports ---- */

/* `osprofiler trace show --json`: times are taken from the raw events, not from the milliseconds.
 */
static const char report[] =
    "{'info':{'name':'total','started':0,'finished':9,'last_trace_started':4},"
    "'stats':{'wsgi':{'count':1,'duration':9}},'children':[{'info':{'name':'wsgi','project':'nova',"
    "'service':'api','host':'h','started':0,'finished':9,'exception':'None',"
    "'meta.raw_payload.wsgi-start':{'name':'wsgi-start','base_id':'" BASE "','trace_id':'" SPAN "',"
    "'parent_id':'" BASE "','timestamp':'2019-01-02T12:00:00.000100','info':{'host':'h'},"
    "'project':'nova','service':'api'},"
    "'meta.raw_payload.wsgi-stop':{'name':'wsgi-stop','base_id':'" BASE "','trace_id':'" SPAN "',"
    "'parent_id':'" BASE "','timestamp':'2019-01-02T12:00:00.009250','info':{'host':'h'},"
    "'project':'nova','service':'api'}},'trace_id':'" SPAN "','parent_id':'" BASE "',"
    "'tracepoint_id':'x','children':[{'children':[],'info':{'name':'point','started':4,"
    "'finished':4,'meta.raw_payload.point':{'name':'point','base_id':'" BASE "','trace_id':'" CHILD
    "','parent_id':'" SPAN "','timestamp':'2019-01-02T12:00:00.004999','info':{}}},"
    "'trace_id':'" CHILD "','parent_id':'" SPAN "'}]}]}";

static void reports_are_read_by_their_raw_events(void **state)
{
    struct collection c;
    struct pythia_buf lines = {0};
    collection_open(&c);
    collect(&c, "osprofiler", report);
    assert_problems(&c, "");
    assert_int_equal(c.count, 3);
    assert_times(&c, 0, MIDDAY + 100000, 0);
    assert_times(&c, 1, MIDDAY + 9250000, 0);
    assert_times(&c, 2, MIDDAY + 4999000, 0);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_int_equal(span_at(&c, 1)->part, PYTHIA_PART_STOP);
    assert_int_equal(span_at(&c, 2)->part, PYTHIA_PART_ANNOTATION);
    assert_true(span_at(&c, 2)->parent == folded(SPAN));
    assert_true(span_at(&c, 0)->many_roots);
    collection_close(&c);
    assert_pieces_do_not_matter("osprofiler", report);

    pythia_buf_printf(&lines, "{'base_id':'" BASE "','type':'t','report':%s}\n%s\n", report,
                      report);
    collection_open(&c);
    collect(&c, "osprofiler", lines.bytes);
    assert_problems(&c, "");
    assert_int_equal(c.count, 6);
    collection_close(&c);
    pythia_buf_free(&lines);
}

/* Old versions kept no raw events: whole milliseconds since the first event of the trace are all
 * there is. */
static void reports_without_raw_events_are_read_by_their_milliseconds(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "osprofiler",
            "{'children':[{'trace_id':'" SPAN "','parent_id':'" BASE "','children':["
            "{'trace_id':'" CHILD "','parent_id':'" SPAN "','children':[],'info':{'name':'rpc',"
            "'project':'nova','service':'s','host':'h','started':5,'finished':7,"
            "'exception':'ValueError'}}],'info':{'name':'wsgi','project':'nova','service':'s',"
            "'host':'h','started':0,'finished':12,'exception':'None'}}],"
            "'info':{'name':'total','started':0,'finished':12}}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    assert_times(&c, 0, 5000000, 2000000);
    assert_times(&c, 1, 0, 12000000);
    assert_true(span_at(&c, 0)->error);
    assert_false(span_at(&c, 1)->error);
    assert_true(span_at(&c, 0)->parent == span_at(&c, 1)->id);
    assert_tracepoint(&c, 0, "rpc:nova");
    assert_resource(&c, 1, "nova-s", "h", "");
    collection_close(&c);
}

static void milliseconds_out_of_range_do_not_overflow(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "osprofiler",
            "{'children':[{'trace_id':'" SPAN "','parent_id':'" BASE "','children':[],'info':"
            "{'name':'a','started':-5,'finished':9223372036854775807}}]}");
    assert_int_equal(c.count, 1);
    assert_int_equal(span_at(&c, 0)->start_ns, 0);
    assert_true(span_at(&c, 0)->duration_ns > 0);
    collection_close(&c);
}

static void a_report_of_any_depth_is_read(void **state)
{
    enum { DEPTH = 20000 };
    struct pythia_buf text = {0};
    struct collection c;
    for (int i = 0; i < DEPTH; i++)
        pythia_buf_printf(&text,
                          "{'info':{'started':%d,'finished':%d},'trace_id':'%d',"
                          "'parent_id':'%d','children':[",
                          i, 2 * DEPTH - i, i + 1, i);
    for (int i = 0; i < DEPTH; i++)
        pythia_buf_puts(&text, "]}");
    collection_open(&c);
    collect(&c, "osprofiler", text.bytes);
    assert_problems(&c, "");
    assert_int_equal(c.count, DEPTH);
    collection_close(&c);
    pythia_buf_free(&text);
}

/* ---- values ---- */

static void timestamps_have_several_forms(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {
        {"2019-01-02T12:00:00", MIDDAY},
        {"2019-01-02 12:00:00.5", MIDDAY + 500000000},
        {"2019-01-02T12:00:00.000001", MIDDAY + 1000},
        {"2019-01-02T12:00:00.123456789Z", MIDDAY + 123456789},
        {"2019-01-02T12:00:00+00:00", MIDDAY},
        {"2019-01-02T17:30:00+05:30", MIDDAY},
        {"2019-01-02T08:30:00.5-03:30", MIDDAY + 500000000},
        {"1970-01-01T00:00:00", 0},
        {"2000-02-29T23:59:59", UINT64_C(951868799000000000)},
        {"2100-03-01T00:00:00", UINT64_C(4107542400000000000)}, /* 2100 is no leap year */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf text = {0};
        struct collection c;
        pythia_buf_printf(&text, "{'name':'a','base_id':'b','trace_id':'t','timestamp':'%s'}",
                          cases[i].text);
        collection_open(&c);
        collect(&c, "osprofiler", text.bytes);
        assert_problems(&c, "");
        assert_times(&c, 0, cases[i].ns, 0);
        collection_close(&c);
        pythia_buf_free(&text);
    }
}

static void ids_that_are_no_uuids_are_told_apart(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "osprofiler",
            "{'name':'a-start','base_id':'req-1','trace_id':'root','parent_id':'req-1',"
            "'timestamp':'2019-01-02T12:00:00'}{'name':'b-start','base_id':'req-1',"
            "'trace_id':'2','parent_id':'root','timestamp':'2019-01-02T12:00:00'}");
    assert_problems(&c, "");
    assert_true(pythia_trace_id_equal(c.spans[0].trace, c.spans[1].trace));
    assert_true(span_at(&c, 1)->parent == span_at(&c, 0)->id);
    assert_true(span_at(&c, 0)->parent ==
                pythia_span_id_fold(c.spans[0].trace.high, c.spans[0].trace.low));
    collection_close(&c);
}

static void the_service_is_named_by_project_and_service(void **state)
{
    static const char *const cases[][3] = {{"nova", "osapi_compute", "nova-osapi_compute"},
                                           {"nova", "nova-compute", "nova-compute"},
                                           {"", "api", "api"},
                                           {"keystone", "", "keystone"}};
    for (size_t i = 0; i < 4; i++) {
        struct pythia_buf text = {0};
        struct collection c;
        pythia_buf_printf(&text,
                          "{'name':'a','base_id':'b','trace_id':'t','project':'%s','service':'%s',"
                          "'timestamp':'2019-01-02T12:00:00','info':{'host':'h'}}",
                          cases[i][0], cases[i][1]);
        collection_open(&c);
        collect(&c, "osprofiler", text.bytes);
        assert_resource(&c, 0, cases[i][2], "h", "");
        collection_close(&c);
        pythia_buf_free(&text);
    }
}

/* ---- broken input ---- */

static void a_broken_event_is_told_and_the_others_are_kept(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "osprofiler",
            "{'name':'a','trace_id':'t','timestamp':'2019-01-02T12:00:00'}\n"
            "{'name':'a','base_id':'b','timestamp':'2019-01-02T12:00:00'}\n"
            "{'name':'a','base_id':'b','trace_id':'t'}\n"
            "{'name':'a','base_id':'b','trace_id':'t','timestamp':'2019-13-02T12:00:00'}\n"
            "{'name':'a','base_id':'b','trace_id':'t','timestamp':'2019-01-02T12:00:00+25:00'}\n"
            "{'name':'a','base_id':'b','trace_id':'t','timestamp':'2019-01-02T12:00:00','info':"
            "{'x':NaN}}\n"
            "{'name':'a','base_id':'b','trace_id':'t','timestamp':'2019-01-02T12:00:00'}\n"
            "{'something':'else'}\n17\n");
    assert_int_equal(c.count, 1);
    assert_problems(&c, "1:0: an event without base_id\n"
                        "2:62: an event without trace_id\n"
                        "3:123: '' is not a timestamp\n"
                        "4:165: '2019-13-02T12:00:00' is not a timestamp\n"
                        "5:241: '2019-01-02T12:00:00+25:00' is not a timestamp\n"
                        "6:410: 'NaN' is not a JSON value\n");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 6);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 2);
    collection_close(&c);
}

static void of_a_report_that_is_cut_off_the_events_are_kept(void **state)
{
    struct pythia_buf text = {0};
    struct collection c;
    pythia_buf_add(&text, report, (size_t)(strstr(report, "'meta.raw_payload.point'") - report));
    pythia_buf_putc(&text, '\0');
    collection_open(&c);
    collect(&c, "osprofiler", text.bytes);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 1);
    collection_close(&c);
    pythia_buf_free(&text);
}

/* Whichever of its members comes first: one with too many bytes could be a report, of which no
 * more than a node is held at once. */
static void an_event_larger_than_a_record_may_be_is_told(void **state)
{
    static const char *const events[] = {
        "{'info':{'k':'0123456789'},'name':'a-start','base_id':'b','trace_id':'t',"
        "'parent_id':'b','timestamp':'2026-11-21T00:00:00'}\n",
        "{'base_id':'b','info':{'k':'0123456789'},'name':'a-start','trace_id':'t',"
        "'parent_id':'b','timestamp':'2026-11-21T00:00:00'}\n",
        "{'name':'a-start','info':{'k':'0123456789'},'base_id':'b','trace_id':'t',"
        "'parent_id':'b','timestamp':'2026-11-21T00:00:00'}\n",
    };
    for (size_t i = 0; i < 3; i++)
        for (int more = -1; more <= 1; more++) {
            struct collection c;
            struct pythia_buf text = {0};
            pythia_buf_puts(&text, events[i]);
            pythia_buf_puts(&text, "{'name':'b-start','base_id':'b','trace_id':'u','parent_id':'b',"
                                   "'timestamp':'2026-11-21T00:00:00'}\n");
            pythia_buf_putc(&text, '\0');
            collection_open(&c);
            c.sink.record_max = (size_t)((int)strlen(events[i]) - 1 - more);
            collect_pieces(&c, "osprofiler", text.bytes, 0);
            assert_int_equal(c.status, PYTHIA_OK);
            assert_int_equal(c.count, more > 0 ? 1 : 2);
            assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], more > 0);
            collection_close(&c);
            pythia_buf_free(&text);
        }
}

static void a_nesting_of_100000_is_passed_over(void **state)
{
    struct pythia_buf text = {0};
    struct collection c;
    pythia_buf_puts(&text, "{'unknown':");
    for (int i = 0; i < 100000; i++)
        pythia_buf_puts(&text, "[{'a':");
    pythia_buf_puts(&text, "0");
    for (int i = 0; i < 100000; i++)
        pythia_buf_puts(&text, "}]");
    pythia_buf_puts(&text, "}\n");
    add_event(&text, "a-start", SPAN, BASE, "1", "");
    collection_open(&c);
    collect(&c, "osprofiler", text.bytes);
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 1);
    collection_close(&c);
    pythia_buf_free(&text);
}

static void every_allocation_may_fail(void **state)
{
    assert_every_allocation_may_fail("osprofiler", report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_1_a_wait_links_to_what_it_waits_for),
        cmocka_unit_test(shape_2_a_child_is_a_fork),
        cmocka_unit_test(shape_3_an_annotation_is_a_point),
        cmocka_unit_test(shape_4_a_log_keeps_its_message),
        cmocka_unit_test(shape_5_a_key_value_keeps_its_value),
        cmocka_unit_test(shape_6_arguments_become_attributes_of_a_start),
        cmocka_unit_test(shape_7_a_result_is_a_stop),
        cmocka_unit_test(shape_8_a_wait_may_have_arguments),
        cmocka_unit_test(shape_9_a_function_is_entered),
        cmocka_unit_test(shape_10_a_request_is_entered),
        cmocka_unit_test(shape_11_an_exit_is_normal_or_an_error),
        cmocka_unit_test(trace_points_without_an_id_are_named_by_what_they_do),
        cmocka_unit_test(events_without_separators_hold_braces_and_escapes),
        cmocka_unit_test(every_layout_of_redis_gives_the_same_events),
        cmocka_unit_test(events_inside_strings_are_read),
        cmocka_unit_test(payloads_of_any_type_are_kept),
        cmocka_unit_test(reports_are_read_by_their_raw_events),
        cmocka_unit_test(reports_without_raw_events_are_read_by_their_milliseconds),
        cmocka_unit_test(milliseconds_out_of_range_do_not_overflow),
        cmocka_unit_test(a_report_of_any_depth_is_read),
        cmocka_unit_test(timestamps_have_several_forms),
        cmocka_unit_test(ids_that_are_no_uuids_are_told_apart),
        cmocka_unit_test(the_service_is_named_by_project_and_service),
        cmocka_unit_test(a_broken_event_is_told_and_the_others_are_kept),
        cmocka_unit_test(of_a_report_that_is_cut_off_the_events_are_kept),
        cmocka_unit_test(an_event_larger_than_a_record_may_be_is_told),
        cmocka_unit_test(a_nesting_of_100000_is_passed_over),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
