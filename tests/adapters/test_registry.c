#include <string.h>

#include "check.h"
#include "pythia/adapter.h"
#include "pythia/buf.h"

#define HEAD_BYTES 65536 /* of an input are looked at */

static void formats_are_in_order_of_name_and_found_by_it(void **state)
{
    size_t count;
    const struct pythia_adapter_ops *const *all = pythia_adapters(&count);
    assert_true(count >= 5);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(pythia_adapter_named(all[i]->name), all[i]);
        assert_true(i == 0 || strcmp(all[i - 1]->name, all[i]->name) < 0);
        assert_non_null(all[i]->help);
    }
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
