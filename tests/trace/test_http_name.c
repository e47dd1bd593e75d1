#include "check.h"
#include "pythia/http_name.h"

static void assert_text(struct pythia_text got, const char *wanted, const char *name)
{
    if (!pythia_text_equal(got, pythia_text_of(wanted)))
        fail_msg("%s: '%.*s', expected '%s'", name, (int)got.size, got.bytes, wanted);
}

/* Names that instrumentations give to HTTP spans, and names that are none. */
static void a_name_says_its_method_and_its_path(void **state)
{
    static const struct {
        const char *name;
        enum pythia_http_name_kind kind;
        const char *method, *path;
    } cases[] = {
        {"GET", PYTHIA_HTTP_NAME_BARE, "GET", ""},
        {"get", PYTHIA_HTTP_NAME_BARE, "get", ""},
        {"_OTHER", PYTHIA_HTTP_NAME_BARE, "_OTHER", ""},
        {"HTTP", PYTHIA_HTTP_NAME_BARE, "", ""},
        {"HTTP GET", PYTHIA_HTTP_NAME_BARE, "GET", ""},
        {"HTTP POST", PYTHIA_HTTP_NAME_BARE, "POST", ""},
        {"GET /order/{t}", PYTHIA_HTTP_NAME_PATH, "GET", "/order/{t}"},
        {"GET /", PYTHIA_HTTP_NAME_PATH, "GET", "/"},
        {"get /a/b", PYTHIA_HTTP_NAME_PATH, "get", "/a/b"},
        {"HTTP GET /a", PYTHIA_HTTP_NAME_PATH, "GET", "/a"},
        {"/a/b", PYTHIA_HTTP_NAME_PATH, "", "/a/b"},
        {"GET http://shop:80/a/b?c=d", PYTHIA_HTTP_NAME_PATH, "GET", "/a/b"},
        {"GET /orders/:id(.:format)", PYTHIA_HTTP_NAME_PATH, "GET", "/orders/:id(.:format)"},
        {"", PYTHIA_HTTP_NAME_OTHER, "", ""},
        {"checkout", PYTHIA_HTTP_NAME_OTHER, "", ""},
        {"shop.Cart/Add", PYTHIA_HTTP_NAME_OTHER, "", ""},
        {"GETAWAY", PYTHIA_HTTP_NAME_OTHER, "", ""},
        {"HTTPS GET", PYTHIA_HTTP_NAME_OTHER, "", ""},
        {"GET/v3/auth/tokens", PYTHIA_HTTP_NAME_OTHER, "", ""},
        {"GET orders/{id}", PYTHIA_HTTP_NAME_OTHER, "GET", ""},
        {"GET http://shop", PYTHIA_HTTP_NAME_OTHER, "GET", ""},
        {"OrdersController#show", PYTHIA_HTTP_NAME_OTHER, "", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_http_name got = pythia_http_name_of(pythia_text_of(cases[i].name));
        if (got.kind != cases[i].kind)
            fail_msg("%s: kind %d", cases[i].name, (int)got.kind);
        assert_text(got.method, cases[i].method, cases[i].name);
        assert_text(got.path, cases[i].path, cases[i].name);
    }
}

static void the_path_of_a_url_has_no_host_query_or_fragment(void **state)
{
    static const struct {
        const char *url, *path;
    } cases[] = {
        {"https://ada:pw@host:80/a/b?c#d", "/a/b"},
        {"https://host/a#b?c", "/a"},
        {"https://host", ""},
        {"https://host?a=/b", ""},
        {"https://host#/b", ""},
        {"/a?b", "/a"},
        {"/a/b", "/a/b"},
        {"/", "/"},
        {"", ""},
        {"a/b", ""},
        {"host:80/a", ""},
        {"://host/a", ""},
        {"http:/a", ""},
        {"?a", ""},
        {"http://[::1]:80/a", "/a"},
        {"say http://host/a", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_text(pythia_url_path(pythia_text_of(cases[i].url)), cases[i].path, cases[i].url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_says_its_method_and_its_path),
        cmocka_unit_test(the_path_of_a_url_has_no_host_query_or_fragment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
