#include <string.h>

#include "check.h"
#include "protobuf_text.h"
#include "pythia/adapter.h"
#include "pythia/buf.h"

#define HEAD_BYTES 65536 /* of an input are looked at */

static void formats_are_in_order_of_name_and_found_by_it(void **state)
{
    size_t count;
    const struct pythia_adapter_ops *const *all = pythia_adapters(&count);
    char choices[256] = "";
    assert_true(count >= 5);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(pythia_adapter_named(all[i]->name), all[i]);
        assert_true(i == 0 || strcmp(all[i - 1]->name, all[i]->name) < 0);
        assert_non_null(all[i]->help);
        strcat(choices, "|");
        strcat(choices, all[i]->name);
    }
    assert_string_equal(choices, PYTHIA_FORMATS(PYTHIA_FORMAT_CHOICE));
    assert_null(pythia_adapter_named("letter"));
}

/* Which format does JSON, with ' for ", look like? */
static const char *likeness_of(const char *text)
{
    struct pythia_buf json = {0};
    for (; *text; text++)
        pythia_buf_putc(&json, (char)(*text == '\'' ? '"' : *text));
    const struct pythia_adapter_ops *found = pythia_adapter_like(pythia_buf_text(&json));
    pythia_buf_free(&json);
    return found ? found->name : "nothing";
}

static void what_is_no_trace_looks_like_nothing(void **state)
{
    static const char domain[] = /* of Jaeger's own, neither its answer nor Zipkin's */
        "{'spans':[{'traceId':'AAAAAAAAAAAAAAAAAAAAAQ==','spanId':'AAAAAAAAAAI=',"
        "'references':[{'traceId':'AA==','spanId':'AA=='}],'logs':[{'timestamp':'x'}]}]}";
    static const char *const texts[] = {
        "",
        " \n",
        "{}",
        "[]",
        "[[[]]]",
        "{'data':[]}",
        "{'a':1,'id':'x'}",
        "[{'id':'57C1C4A67A6A88FD','reports':[{'HRT':['7'],'Host':['h']}]}]",
        domain,
        "A letter",
        "1) 'no event'",
        "<?xml version='1.0'?>",
        "\x89PNG\r\n\x1a\n",
        "\x89PYREC\n",
        "\x1f\x8b\x08",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_string_equal(likeness_of(texts[i]), "nothing");
}

static void each_shape_of_a_format_looks_like_it(void **state)
{
    static const char *const cases[][2] = {
        {"jaeger", "{'data':[{'traceID':'1','spans':["},
        {"jaeger", "{'data':[{'spans':[{'traceID':'1'"},
        {"jaeger", "{'data':[{'processes':{'p1':{}}"},
        {"jaeger", "{'total':0,'errors':null,'data':[{'traceID':'1','warnings':null"},
        {"jaeger", "{'data':{'services':[{'name':'x'}],'spans':[{'traceID':'1','spanID':'2'"},
        {"jaeger", "{'traceID':'1','spans':[]"},
        {"jaeger", "{'traceID':'1','spanID':'2','flags':1"},
        {"jaeger", "[{'traceID':'1','spans':[]"},
        {"otlp", "{'resourceSpans':["},
        {"otlp", "{'resource_spans':[{'scope_spans':[{'spans':[{'trace_id':'1','span_id':'2'"},
        {"otlp", "[{'resourceSpans':[]"},
        {"otlp", "{'resource':{},'scopeSpans':["},
        {"otlp", "{'resourceMetrics':[]}"},
        {"native", "\x89PYREC\r\n"},
        {"osprofiler", "{'name':'a-start','base_id':'1','trace_id':'2'"},
        {"osprofiler", "[{'name':'a-start','base_id':'1'"},
        {"osprofiler", "['{\\\"base_id\\\": "},
        {"osprofiler", "{'info':{'name':'total'},'stats':{},'children':[]"},
        {"osprofiler", "{'osprofiler_opt:7':["},
        {"osprofiler", "osprofiler:1234\n{}"},
        {"osprofiler", "1) '{\\'name\\': \\'a\\', \\'base_id\\': 1, \\'parent_id\\': 2}'"},
        {"zipkin", "[{'traceId':'1','id':'2'"},
        {"zipkin", "{'traceId':'1','parentId':'3','id':'2'}"},
        {"zipkin", "[[{'traceId':'1','parentId':'3'"},
        {"zipkin", "[[],[{'id':'2','traceId':'1'"},
        {"zipkin", "[{'traceId':'1','name':'x','annotations':[{"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(likeness_of(cases[i][1]), cases[i][0]);
}

/* A span's ids, or a key-value where the head ends before the first span: less is not enough, for
 * many things begin with these bytes, and what contradicts the fields' numbers is too much. */
static void protobuf_is_found_by_the_numbers_of_its_fields(void **state)
{
#define IDS "1#000000000000000000000000000000ab 2#00000000000000cd"
    static const struct {
        const char *text;
        bool found;
    } cases[] = {
        {"1{2{2{" IDS "}}}", true},
        {"1{1{1{1'k' 2{1'v'}}}}", true},
        {"1{2{2{9{1'k'}}}}", true},
        {"<00000022>1{2{2{" IDS "}}}", true},
        {"<00000000><00000022>1{2{2{" IDS "}}}", true},
        {"<00100000>1{2{2{" IDS "}}}", true}, /* which goes on behind the head */
        {"<0a8020>1{1{1'k' 2{1'v'}}}", true},
        {"1{2{1{1'http'} 2{99=1 3'x' " IDS "}}}", true},
        {"", false},
        {"1{}", false},
        {"1{1{}}", false},
        {"1{2{2{1#000000000000000000000000000000ab}}}", false},
        {"1{2{2{1#00000000000000000000000000000000ab 2#00000000000000cd}}}", false},
        {"1{2{2{1#000000000000000000000000000000ab 2#cd}}}", false},
        {"1{1{1{1'' 2{1'v'}}}}", false},
        {"1{1{1{1#ff 2{1'v'}}}}", false},
        {"1{1{1{1'k' 2{1=5}}}}", false},
        {"1{1=5 2{2{" IDS "}}}", false},
        {"90=1 1{2{2{" IDS "}}}", false},
        {"2{2{2{" IDS "}}}", false},
        {"<00000021>1{2{2{" IDS "}}}", false},
        {"<00000000><00000000>", false},
        {"<0a>", false},
        {"1{1{1{1'service.name' 2{1's'}}} 2{2{1'requests' 5{1{3!1}}}}}", false}, /* metrics */
        {"1{1{1{1'service.name' 2{1's'}}} 2{2{1!1 2=9 5{1'a line'}}}}", false},  /* logs */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf message = protobuf_of(cases[i].text);
        const struct pythia_adapter_ops *found = pythia_adapter_like(pythia_buf_text(&message));
        if (!found != !cases[i].found || (found && strcmp(found->name, "otlp-proto") != 0))
            fail_msg("%s looks like %s", cases[i].text, found ? found->name : "nothing");
        pythia_buf_free(&message);
    }
}

/* Text that begins as a message might, with an empty line. */
static void text_behind_an_empty_line_is_no_protobuf(void **state)
{
    static const char *const texts[] = {
        "\n\n\n\n",
        "\n{'a':1}",
        "\n\t1. Introduction\n\tThis is\n",
        "\n# a comment\nkey: value\n",
        "\n  <html></html>",
        "\n-----BEGIN CERTIFICATE-----\nMIIB\n",
        "\n\x20\n\x10\n\x0E\n\x04text of some length that nobody would write by hand",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_string_equal(likeness_of(texts[i]), "nothing");
    assert_string_equal(likeness_of("\n\n{'resourceSpans':["), "otlp");
}

/* The first span is larger than what is looked at: what stands before its end has to do. */
static void a_format_is_found_in_a_head_that_ends_in_the_first_span(void **state)
{
    static const char *const cases[][2] = {
        {"jaeger", "{'data':[{'traceID':'1','spans':[{'traceID':'1','spanID':'2','tags':["
                   "{'key':'k','type':'string','value':'"},
        {"jaeger", "{'traceID':'1','spans':[{'logs':[{'fields':[{'value':'"},
        {"otlp",
         "{'resourceSpans':[{'resource':{'attributes':[{'key':'k','value':{'stringValue':'"},
        {"osprofiler", "{'children':[],'info':{'name':'"},
        {"osprofiler", "{'base_id':'1','info':{'db':{'statement':'"},
        {"zipkin", "[{'traceId':'1','id':'2','tags':{'k':'"},
        {"zipkin", "[{'traceId':'1','parentId':'2','annotations':[{'value':'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, cases[i][1]);
        while (text.size < HEAD_BYTES)
            pythia_buf_putc(&text, 'x');
        pythia_buf_putc(&text, '\0');
        assert_string_equal(likeness_of(text.bytes), cases[i][0]);
        pythia_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_in_order_of_name_and_found_by_it),
        cmocka_unit_test(what_is_no_trace_looks_like_nothing),
        cmocka_unit_test(each_shape_of_a_format_looks_like_it),
        cmocka_unit_test(a_format_is_found_in_a_head_that_ends_in_the_first_span),
        cmocka_unit_test(protobuf_is_found_by_the_numbers_of_its_fields),
        cmocka_unit_test(text_behind_an_empty_line_is_no_protobuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
