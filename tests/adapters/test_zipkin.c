#include "check.h"
#include "collect.h"

/* A client's and a server's half of one call, and what the server did meanwhile. */
static const char plain[] =
    "[{'traceId':'5af7183fb1d4cf5f','id':'352bff9a74ca9ad2','kind':'CLIENT','name':'get /api',"
    "'timestamp':1556604172355737,'duration':1431,'localEndpoint':{'serviceName':'front',"
    "'ipv4':'192.168.99.1','port':3306},'remoteEndpoint':{'serviceName':'back',"
    "'ipv4':'172.19.0.2','port':58648},'tags':{'http.method':'GET','http.path':'/api'}},"
    "{'traceId':'5af7183fb1d4cf5f','id':'352bff9a74ca9ad2','kind':'SERVER','name':'get /api',"
    "'timestamp':1556604172356000,'duration':900,'shared':true,"
    "'localEndpoint':{'serviceName':'back','ipv6':'2001:db8::1'}},{'traceId':'5af7183fb1d4cf5f',"
    "'parentId':'352bff9a74ca9ad2','id':'6b221d5bc9e6496c','name':'work',"
    "'timestamp':1556604172356100,'duration':50,'localEndpoint':{'serviceName':'back',"
    "'ipv6':'2001:db8::1'},'annotations':[{'timestamp':1556604172356110,'value':'cache miss'}]}]";

static void an_array_of_spans_is_read(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "zipkin", plain);
    assert_problems(&c, "");
    assert_int_equal(c.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_trace(&c, i, 0, UINT64_C(0x5af7183fb1d4cf5f));
    assert_true(span_at(&c, 0)->id == UINT64_C(0x352bff9a74ca9ad2));
    assert_true(span_at(&c, 1)->id == UINT64_C(0x352bff9a74ca9ad2));
    assert_true(span_at(&c, 2)->parent == UINT64_C(0x352bff9a74ca9ad2));
    assert_times(&c, 0, UINT64_C(1556604172355737000), 1431000);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WHOLE);
    assert_false(span_at(&c, 0)->shared);
    assert_true(span_at(&c, 1)->shared);
    assert_false(span_at(&c, 2)->shared);
    assert_tracepoint(&c, 0, "front:get /api");
    assert_tracepoint(&c, 1, "back:get /api");
    assert_tracepoint(&c, 2, "back:work");
    assert_resource(&c, 0, "front", "192.168.99.1", "3306");
    assert_resource(&c, 1, "back", "2001:db8::1", "");
    assert_int_equal(attribute_count(&c, 0), 5);
    assert_text(&c, 0, "http.method", "GET");
    assert_text(&c, 0, "peer.service", "back");
    assert_text(&c, 0, "peer.address", "172.19.0.2");
    assert_integer(&c, 0, "peer.port", 58648);
    assert_truth(&c, 2, "event.cache miss", 1);
    collection_close(&c);
    assert_pieces_do_not_matter("zipkin", plain);
}

static void arrays_of_arrays_and_lines_are_read(void **state)
{
    static const char span[] = "{'traceId':'1','id':'2','timestamp':1,'duration':1}";
    static const struct {
        const char *format;
        size_t spans;
    } cases[] = {
        {"[[%s,%s],[],[%s]]", 3}, {"%s\n%s\n%s\n", 3}, {"[%s]\n[%s,%s]", 3}, {"%s%s%s", 3},
        {"[[%s],%s,[%s]]", 3},    {"[[]]", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf text = {0};
        struct collection c;
        pythia_buf_printf(&text, cases[i].format, span, span, span); /* NOLINT: all take texts */
        collection_open(&c);
        collect(&c, "zipkin", text.bytes);
        assert_problems(&c, "");
        assert_int_equal(c.count, cases[i].spans);
        collection_close(&c);
        pythia_buf_free(&text);
    }
}

/* One span, with `members` beside its ids; @front and @back in them stand for two endpoints. */
static void collect_span_with(struct collection *c, const char *members)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, "[{'traceId':'c','id':'d',");
    for (const char *at; (at = strchr(members, '@')); members = at + (at[1] == 'f' ? 6 : 5)) {
        pythia_buf_add(&text, members, (size_t)(at - members));
        pythia_buf_puts(&text, at[1] == 'f' ? "{'serviceName':'front','ipv4':'10.0.0.1','port':80}"
                                            : "{'serviceName':'back','ipv4':'10.0.0.2','port':90}");
    }
    pythia_buf_printf(&text, "%s}]", members);
    collection_open(c);
    collect(c, "zipkin", text.bytes);
    pythia_buf_free(&text);
}

static void kinds_tell_who_waits(void **state)
{
    static const struct {
        const char *kind;
        enum pythia_span_kind expected;
        enum pythia_span_relation relation;
        bool shared;
    } cases[] = {
        {"'CLIENT'", PYTHIA_SPAN_CLIENT, PYTHIA_RELATION_UNKNOWN, false},
        {"'SERVER'", PYTHIA_SPAN_SERVER, PYTHIA_RELATION_CALL, true},
        {"'PRODUCER'", PYTHIA_SPAN_PRODUCER, PYTHIA_RELATION_UNKNOWN, false},
        {"'CONSUMER'", PYTHIA_SPAN_CONSUMER, PYTHIA_RELATION_SPAWN, false},
        {"'LOCAL'", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"null", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf members = {0};
        struct collection c;
        pythia_buf_printf(&members, "'timestamp':1,'kind':%s", cases[i].kind);
        collect_span_with(&c, members.bytes);
        assert_int_equal(span_at(&c, 0)->kind, cases[i].expected);
        assert_int_equal(span_at(&c, 0)->relation, cases[i].relation);
        assert_int_equal(span_at(&c, 0)->shared, cases[i].shared);
        collection_close(&c);
        pythia_buf_free(&members);
    }
}

static void a_span_without_a_duration_is_not_finished(void **state)
{
    struct collection c;
    collect_span_with(&c, "'timestamp':'7'");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_times(&c, 0, 7000, 0);
    collection_close(&c);
    collect_span_with(&c, "'timestamp':7,'duration':0");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WHOLE);
    collection_close(&c);
}

static void annotations_tell_the_time_of_a_span_that_does_not(void **state)
{
    struct collection c;
    collect_span_with(&c, "'annotations':[{'timestamp':9,'value':'b'},{'timestamp':7,"
                          "'value':'a'}]");
    assert_problems(&c, "");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_times(&c, 0, 7000, 0);
    assert_truth(&c, 0, "event.a", 1);
    collection_close(&c);
    collect_span_with(&c, "'name':'late addition','duration':5,'tags':{'a':'1'}");
    assert_problems(&c, "");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_ADDITION);
    assert_times(&c, 0, 0, 0);
    assert_integer(&c, 0, "a", 1);
    collection_close(&c);
}

static void tags_written_as_numbers_are_numbers(void **state)
{
    struct collection c;
    collect_span_with(&c, "'timestamp':1,'tags':{'status':'200','ratio':'0.5','flag':'true',"
                          "'zip':'007','text':'a b','empty':'','real number':12,"
                          "'deep':{'x':true},'none':null}");
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 8);
    assert_integer(&c, 0, "status", 200);
    assert_real(&c, 0, "ratio", 0.5);
    assert_truth(&c, 0, "flag", 1);
    assert_text(&c, 0, "zip", "007");
    assert_text(&c, 0, "text", "a b");
    assert_text(&c, 0, "empty", "");
    assert_integer(&c, 0, "real number", 12);
    assert_truth(&c, 0, "deep.x", 1);
    assert_false(span_at(&c, 0)->error);
    collection_close(&c);
}

static void the_tag_error_says_that_the_span_failed(void **state)
{
    struct collection c;
    collect_span_with(&c, "'timestamp':1,'tags':{'error':''}");
    assert_true(span_at(&c, 0)->error);
    collection_close(&c);
    collect_span_with(&c, "'timestamp':1,'tags':{'error':'timeout'}");
    assert_true(span_at(&c, 0)->error);
    assert_text(&c, 0, "error", "timeout");
    collection_close(&c);
}

static void ids_of_64_and_of_128_bits_are_different_traces(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "zipkin",
            "[{'traceId':'463ac35c9f6413ad48485a3953bb6124','id':'a','timestamp':1},"
            "{'traceId':'48485a3953bb6124','id':'a','timestamp':1},"
            "{'traceId':'000000000000000048485a3953bb6124','id':'a','timestamp':1}]");
    assert_int_equal(c.count, 3);
    assert_trace(&c, 0, UINT64_C(0x463ac35c9f6413ad), UINT64_C(0x48485a3953bb6124));
    assert_trace(&c, 1, 0, UINT64_C(0x48485a3953bb6124));
    assert_trace(&c, 2, 0, UINT64_C(0x48485a3953bb6124));
    collection_close(&c);
}

static void a_root_with_the_id_of_its_trace_is_a_parent(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "zipkin",
            "[{'traceId':'ab','id':'ab','timestamp':1,'duration':9},{'traceId':'ab',"
            "'parentId':'ab','id':'cd','timestamp':2},{'traceId':'ab',"
            "'parentId':'0000000000000000','id':'ef','timestamp':2},{'traceId':'ab',"
            "'parentId':null,'id':'ee','timestamp':2}]");
    assert_problems(&c, "");
    uint64_t trace = pythia_span_id_fold(0, 0xab);
    assert_true(span_at(&c, 0)->id != trace && span_at(&c, 0)->parent == 0);
    assert_true(span_at(&c, 1)->parent == span_at(&c, 0)->id);
    assert_true(span_at(&c, 2)->parent == 0);
    assert_true(span_at(&c, 3)->parent == 0);
    collection_close(&c);
}

/* ---- version 1 ---- */

static void one_object_of_version_1_may_be_two_spans(void **state)
{
    struct collection c;
    collect_span_with(&c, "'parentId':'e','name':'call','timestamp':100,'duration':60,"
                          "'annotations':[{'value':'cs','timestamp':100,'endpoint':@front},"
                          "{'value':'sr','timestamp':110,'endpoint':@back},{'value':'ss',"
                          "'timestamp':150,'endpoint':@back},{'value':'cr','timestamp':160,"
                          "'endpoint':@front},{'value':'work','timestamp':120,"
                          "'endpoint':@back}],'binaryAnnotations':[{'key':'http.path',"
                          "'value':'/x','endpoint':@front},{'key':'class','value':'Store',"
                          "'endpoint':@back},{'key':'rows','value':'12','endpoint':@back}]");
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_trace(&c, i, 0, 0xc);
        assert_true(span_at(&c, i)->id == 0xd && span_at(&c, i)->parent == 0xe);
        assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_WHOLE);
    }
    assert_int_equal(span_at(&c, 0)->kind, PYTHIA_SPAN_CLIENT);
    assert_int_equal(span_at(&c, 1)->kind, PYTHIA_SPAN_SERVER);
    assert_false(span_at(&c, 0)->shared);
    assert_true(span_at(&c, 1)->shared);
    assert_int_equal(span_at(&c, 1)->relation, PYTHIA_RELATION_CALL);
    assert_times(&c, 0, 100000, 60000);
    assert_times(&c, 1, 110000, 40000);
    assert_tracepoint(&c, 0, "front:call");
    assert_tracepoint(&c, 1, "back:call");
    assert_resource(&c, 0, "front", "10.0.0.1", "80");
    assert_resource(&c, 1, "back", "10.0.0.2", "90");
    assert_int_equal(attribute_count(&c, 0), 1);
    assert_text(&c, 0, "http.path", "/x");
    assert_int_equal(attribute_count(&c, 1), 3);
    assert_text(&c, 1, "class", "Store");
    assert_integer(&c, 1, "rows", 12);
    assert_truth(&c, 1, "event.work", 1);
    collection_close(&c);
}

static void the_halves_of_version_1_come_alone_too(void **state)
{
    static const struct {
        const char *members;
        enum pythia_span_kind kind;
        enum pythia_span_part part;
        uint64_t start_ns;
        int64_t duration_ns;
        const char *service;
    } cases[] = {
        {"'annotations':[{'value':'cs','timestamp':5,'endpoint':@front},{'value':'cr',"
         "'timestamp':8,'endpoint':@front}]",
         PYTHIA_SPAN_CLIENT, PYTHIA_PART_WHOLE, 5000, 3000, "front"},
        {"'annotations':[{'value':'sr','timestamp':5,'endpoint':@back},{'value':'ss',"
         "'timestamp':8,'endpoint':@back}]",
         PYTHIA_SPAN_SERVER, PYTHIA_PART_WHOLE, 5000, 3000, "back"},
        {"'annotations':[{'value':'sr','timestamp':5,'endpoint':@back}]", PYTHIA_SPAN_SERVER,
         PYTHIA_PART_START, 5000, 0, "back"},
        {"'annotations':[{'value':'cr','timestamp':8,'endpoint':@front}]", PYTHIA_SPAN_CLIENT,
         PYTHIA_PART_WHOLE, 8000, 0, "front"},
        {"'timestamp':4,'duration':5,'annotations':[{'value':'sr','timestamp':5,'endpoint':@back}]",
         PYTHIA_SPAN_SERVER, PYTHIA_PART_WHOLE, 4000, 5000, "back"},
        {"'annotations':[{'value':'ms','timestamp':5,'endpoint':@front}]", PYTHIA_SPAN_PRODUCER,
         PYTHIA_PART_WHOLE, 5000, 0, "front"},
        {"'annotations':[{'value':'mr','timestamp':5,'endpoint':@back}]", PYTHIA_SPAN_CONSUMER,
         PYTHIA_PART_WHOLE, 5000, 0, "back"},
        {"'timestamp':3,'duration':4,'binaryAnnotations':[{'key':'lc','value':'job',"
         "'endpoint':@back}]",
         PYTHIA_SPAN_UNKNOWN, PYTHIA_PART_WHOLE, 3000, 4000, "back"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collection c;
        collect_span_with(&c, cases[i].members);
        assert_problems(&c, "");
        assert_int_equal(c.count, 1);
        assert_int_equal(span_at(&c, 0)->kind, cases[i].kind);
        assert_int_equal(span_at(&c, 0)->part, cases[i].part);
        assert_times(&c, 0, cases[i].start_ns, cases[i].duration_ns);
        struct pythia_text service =
            pythia_vocabulary_text(c.vocabulary, resource_at(&c, 0).service);
        assert_string_equal(service.bytes, cases[i].service);
        assert_int_equal(attribute_count(&c, 0), 0);
        collection_close(&c);
    }
}

static void version_1_tells_the_other_side(void **state)
{
    struct collection c;
    collect_span_with(&c, "'annotations':[{'value':'cs','timestamp':5,'endpoint':@front},"
                          "{'value':'cr','timestamp':8,'endpoint':@front}],"
                          "'binaryAnnotations':[{'key':'sa','value':true,'endpoint':@back},"
                          "{'key':'error','value':'no','endpoint':@front}]");
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_text(&c, 0, "peer.service", "back");
    assert_text(&c, 0, "peer.address", "10.0.0.2");
    assert_integer(&c, 0, "peer.port", 90);
    assert_text(&c, 0, "error", "no");
    assert_true(span_at(&c, 0)->error);
    collection_close(&c);
}

/* A service that calls itself: nothing tells whose the annotations are, and they are taken once. */
static void halves_at_one_endpoint_share_nothing(void **state)
{
    struct collection c;
    collect_span_with(&c, "'annotations':[{'value':'cs','timestamp':1,'endpoint':@back},"
                          "{'value':'sr','timestamp':2,'endpoint':@back},{'value':'ss',"
                          "'timestamp':3,'endpoint':@back},{'value':'cr','timestamp':4,"
                          "'endpoint':@back}],'binaryAnnotations':[{'key':'k','value':'v',"
                          "'endpoint':@back},{'key':'l','value':'w'}]");
    assert_int_equal(c.count, 2);
    assert_int_equal(attribute_count(&c, 0), 2);
    assert_int_equal(attribute_count(&c, 1), 0);
    collection_close(&c);
}

/* ---- broken input ---- */

static void a_broken_span_is_told_and_the_others_are_kept(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "zipkin",
            "[\n"
            "{'id':'1','timestamp':1},\n"
            "{'traceId':'1','timestamp':1},\n"
            "{'traceId':'0','id':'1','timestamp':1},\n"
            "{'traceId':'xyz','id':'1','timestamp':1},\n"
            "{'traceId':'1','id':'11111111111111111','timestamp':1},\n"
            "{'traceId':'123456789012345678901234567890123','id':'1'},\n"
            "{'traceId':'1','id':'1','timestamp':-5},\n"
            "{'traceId':'1','id':'1','timestamp':1,'duration':1e300},\n"
            "{'traceId':'1','id':'1','timestamp':9e15,'duration':9e15},\n"
            "{'traceId':17,'id':'1','timestamp':1},\n"
            "{'traceId':'1','id':'1','timestamp':1,'tags':[]},\n"
            "{'traceId':'1','id':'9','timestamp':1}]");
    assert_int_equal(c.count, 1);
    assert_true(span_at(&c, 0)->id == 9);
    assert_problems(
        &c, "2:2: a span without traceId\n"
            "3:28: a span without id\n"
            "4:59: a span without traceId\n"
            "5:110: traceId 'xyz' is not an id: expected up to 32 hexadecimal digits\n"
            "6:161: id '11111111111111111' is not an id: expected up to 16 hexadecimal digits\n"
            "7:208: traceId '123456789012345678901234567890123' is not an id: expected up to 32 "
            "hexadecimal digits\n"
            "8:291: a time before 1970 is out of range\n"
            "9:345: the time 1e300 is out of range\n"
            "10:353: a span that ends after the year 2262\n"
            "11:423: expected a string, found '1'\n"
            "12:496: expected an object, found '['\n");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_BROKEN_RECORD], 11);
    collection_close(&c);
}

static void what_is_no_span_is_counted(void **state)
{
    struct collection c;
    collection_open(&c);
    collect(&c, "zipkin", "[1,'two',[3,[]]]\nnull\n");
    assert_int_equal(c.count, 0);
    assert_problems(&c, "");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 5);
    collection_close(&c);
}

static void a_nesting_of_100000_is_passed_over(void **state)
{
    struct pythia_buf text = {0};
    struct collection c;
    for (int i = 0; i < 100000; i++)
        pythia_buf_putc(&text, '[');
    for (int i = 0; i < 100000; i++)
        pythia_buf_putc(&text, ']');
    pythia_buf_puts(&text, "\n{'traceId':'1','id':'2','timestamp':3}");
    collection_open(&c);
    collect(&c, "zipkin", text.bytes);
    assert_int_equal(c.count, 1);
    assert_problems(&c, "");
    collection_close(&c);
    pythia_buf_free(&text);
}

static void every_allocation_may_fail(void **state)
{
    assert_every_allocation_may_fail("zipkin", plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_of_spans_is_read),
        cmocka_unit_test(arrays_of_arrays_and_lines_are_read),
        cmocka_unit_test(kinds_tell_who_waits),
        cmocka_unit_test(a_span_without_a_duration_is_not_finished),
        cmocka_unit_test(annotations_tell_the_time_of_a_span_that_does_not),
        cmocka_unit_test(tags_written_as_numbers_are_numbers),
        cmocka_unit_test(the_tag_error_says_that_the_span_failed),
        cmocka_unit_test(ids_of_64_and_of_128_bits_are_different_traces),
        cmocka_unit_test(a_root_with_the_id_of_its_trace_is_a_parent),
        cmocka_unit_test(one_object_of_version_1_may_be_two_spans),
        cmocka_unit_test(the_halves_of_version_1_come_alone_too),
        cmocka_unit_test(version_1_tells_the_other_side),
        cmocka_unit_test(halves_at_one_endpoint_share_nothing),
        cmocka_unit_test(a_broken_span_is_told_and_the_others_are_kept),
        cmocka_unit_test(what_is_no_span_is_counted),
        cmocka_unit_test(a_nesting_of_100000_is_passed_over),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
