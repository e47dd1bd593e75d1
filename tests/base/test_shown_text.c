#include "check.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

static void assert_json_text(const char *text, size_t size, const char *wanted)
{
    struct pythia_buf out = {0};
    pythia_shown_json_text(&out, (struct pythia_text){text, size});
    assert_string_equal(out.bytes, wanted);
    pythia_buf_free(&out);
}

/* The codes are those of RFC 8259, section 7. */
static void json_text_has_no_character_that_acts(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", "\"\""},
        {"plain \xc3\xa9\xf0\x9f\x98\x80", "\"plain \xc3\xa9\xf0\x9f\x98\x80\""},
        {"\"\\/", "\"\\\"\\\\/\""},
        {"\x01\n\x1f\x7f", "\"\\u0001\\u000a\\u001f\\u007f\""},
        {"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b\\u009f\xc2\xa0\""},
        {"a\xe2\x80\xae"
         "b\xe2\x81\xa6"
         "c\xef\xbb\xbf",
         "\"a\\u202eb\\u2066c\\ufeff\""},
        {"\xe2\x80\x8d", "\"\xe2\x80\x8d\""},                 /* joins emoji */
        {"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},           /* U+E0041, a tag */
        {"\xc2", "\"\xc2\""},                                 /* cut, and not UTF-8 */
        {"\x9b[", "\"\x9b[\""},                               /* likewise */
        {"\xe2\x80\xae\"\xc2\x85", "\"\\u202e\\\"\\u0085\""}, /* one after the other */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_json_text(cases[i].text, strlen(cases[i].text), cases[i].wanted);
    assert_json_text("a\0b", 3, "\"a\\u0000b\"");
}

static void a_document_keeps_its_form(void **state)
{
    static const char json[] = "{\n \"a\xe2\x80\xae\": [\"\\\"\\u001b\xc2\x9b\",\t1]\r\n}\n";
    struct pythia_buf out = {0};
    pythia_shown_json(&out, json, sizeof(json) - 1);
    assert_string_equal(out.bytes, "{\n \"a\\u202e\": [\"\\\"\\u001b\\u009b\",\t1]\r\n}\n");
    pythia_buf_free(&out);
    pythia_mem_fail_after(0);
    pythia_shown_json(&out, json, sizeof(json) - 1);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_buf_status(&out), PYTHIA_ENOMEM);
    pythia_buf_free(&out);
}

/* What a browser or an XML parser would act on, and what a terminal or an editor would. */
static void markup_is_text(void **state)
{
    struct pythia_buf to = {0};
    pythia_shown_markup(&to, PYTHIA_TEXT("<a b='c' d=\"e\">&amp;\x01 \xe2\x80\xae \xc3\xa9"));
    assert_string_equal(to.bytes, "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;\\x01 \\u202e "
                                  "\xc3\xa9");
    pythia_buf_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_text_has_no_character_that_acts),
        cmocka_unit_test(a_document_keeps_its_form),
        cmocka_unit_test(markup_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
