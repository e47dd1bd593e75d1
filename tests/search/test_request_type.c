#include "pythia/request_type.h"
#include "requests.h"

static const char *const tokens[] = {PYTHIA_LEFT_OUT_DEFAULT, "health*"};

static struct pythia_request_types *namer(struct requests *r,
                                          const struct pythia_request_type_options *options)
{
    struct pythia_request_types *types = NULL;
    assert_int_equal(pythia_request_types_create(r->vocabulary, options, &types), PYTHIA_OK);
    return types;
}

static void assert_type_of(struct requests *r, struct pythia_request_types *types,
                           const char *request, const char *wanted)
{
    uint32_t type = pythia_request_type(types, requests_trace(r, 0, request));
    assert_int_not_equal(type, PYTHIA_NONE);
    assert_string_equal(pythia_vocabulary_text(r->vocabulary, type).bytes, wanted);
}

/* The type of one request, by whoever has seen no other. */
static void assert_type(const struct pythia_request_type_options *options, const char *request,
                        const char *wanted)
{
    struct requests r;
    requests_begin(&r);
    struct pythia_request_types *types = namer(&r, options);
    for (int again = 0; again < 2; again++)
        assert_type_of(&r, types, request, wanted);
    pythia_request_types_destroy(types);
    requests_end(&r);
}

static const struct pythia_request_type_options plain = {.left_out = tokens, .left_out_count = 2};

static void the_roots_are_the_type_each_once_in_order_of_name(void **state)
{
    assert_type(&plain, "api:list{1}", "api:list");
    assert_type(&plain, "b:two{1} 5 a:one{1 c:three{1}} 5 b:two{1}", "a:one + b:two");
    assert_type(&plain, "*api:ping", "api:ping");
    assert_type(&plain, "web:/users/17/posts{1}", "web:/users/{id}/posts");
}

static void identifiers_in_ids_that_a_source_made_are_replaced(void **state)
{
    struct requests r;
    requests_begin(&r);
    struct pythia_request_types *types = namer(&r, &plain);
    const char *const ids[] = {"web:GET /users/17", "web:GET /users/4711"};
    for (size_t i = 0; i < 2; i++) {
        struct pythia_trace_span root = {.parent = PYTHIA_NO_SPAN,
                                         .first_child = PYTHIA_NO_SPAN,
                                         .next_sibling = PYTHIA_NO_SPAN};
        root.tracepoint =
            pythia_vocabulary_tracepoint_of_id(r.vocabulary, pythia_text_of(ids[i]), 0, 0);
        struct pythia_trace trace = {.spans = &root, .count = 1, .roots = 1};
        uint32_t type = pythia_request_type(types, &trace);
        assert_string_equal(pythia_vocabulary_text(r.vocabulary, type).bytes,
                            "web:GET /users/{id}");
    }
    pythia_request_types_destroy(types);
    requests_end(&r);
}

static void what_is_left_out_does_not_count_unless_nothing_would_be_left(void **state)
{
    assert_type(&plain, "keystone:POST/v3/auth/tokens{1} nova:create{1}", "nova:create");
    assert_type(&plain, "health:check{1} nova:create{1} health:check{1}", "nova:create");
    assert_type(&plain, "health:check{1} keystone:POST/v3/auth/tokens{1}",
                "health:check + keystone:POST/v3/auth/tokens");
    assert_type(&(struct pythia_request_type_options){0}, "health:check{1} nova:create{1}",
                "health:check + nova:create");
    assert_type(&plain, "nova:create{1 health:check{1}}", "nova:create"); /* of roots only */
}

static void one_http_root_is_its_service_method_and_route(void **state)
{
    const struct {
        const char *request, *type;
    } cases[] = {
        {"shop:GET(http.route=/users/:id,http.request.method=GET){1}", "shop GET /users/:id"},
        {"shop:x(http.route=/a,http.method=POST){1}", "shop POST /a"}, /* its name before 2023 */
        {"shop:x(http.route=/a,http.method=PUT,http.request.method=GET){1}", "shop GET /a"},
        {"shop:x(http.route=/a){1}", "shop /a"},
        {"shop:x(http.route=/a,http.method=7){1}", "shop /a"},
        {"shop:x(url.path=/b/17,http.target=/a/17,http.route=/r/17,http.method=GET){1}",
         "shop GET /r/17"}, /* a route is a template already */
        {"x(http.route=/a,http.method=GET){1}", "GET /a"},
        /* and what is not enough for that */
        {"shop:x(http.method=GET){1}", "shop:x"},
        {"shop:x(http.route=17,http.method=GET){1}", "shop:x"},
        {"shop:x{1 shop:y(http.route=/a,http.method=GET){1}}", "shop:x"},
        {"shop:x(http.route=/a,http.method=GET){1} shop:y{1}", "shop:x + shop:y"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_type(&plain, cases[i].request, cases[i].type);
}

/* A name is of few values, as the semantic conventions ask for; a path is not. */
static void a_path_counts_only_where_the_root_has_no_other_name(void **state)
{
    const struct {
        const char *request, *type;
    } cases[] = {
        {"shop:GET(url.path=/users/17,http.request.method=GET){1}", "shop GET /users/{id}"},
        {"shop:GET(http.target=/users/17?page=2,http.method=GET){1}", "shop GET /users/{id}"},
        {"shop:POST(url.full=https://u:p@shop/users?a=b){1}", "shop POST /users"},
        {"shop:GET(url.path=/b/17,http.target=/a/17,http.route=/r/17,http.method=GET){1}",
         "shop GET /r/17"},
        {"shop:GET(http.request.method=GET){1}", "shop:GET"},
        {"shop:checkout(url.path=/users/ada,http.request.method=GET){1}", "shop:checkout"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_type(&plain, cases[i].request, cases[i].type);
}

/* One route is one type, and pages beside it stay what they are. */
static void a_segment_of_a_path_with_many_values_is_learnt(void **state)
{
    struct requests r;
    struct pythia_request_type_options options = plain;
    char request[128];
    requests_begin(&r);
    assert_int_equal(pythia_path_templates_create(&options.templates), PYTHIA_OK);
    struct pythia_request_types *types = namer(&r, &options);
    for (int c = '0'; c < '0' + PYTHIA_PATH_VALUES; c++) { /* also what needs no template */
        snprintf(request, sizeof(request), "shop:GET(url.path=/tenants/x%dy/orders){1}", c);
        assert_int_not_equal(pythia_request_type(types, requests_trace(&r, 0, request)),
                             PYTHIA_NONE);
        assert_true(pythia_request_type_was_path(types));
    }
    assert_type_of(&r, types, "shop:GET(url.path=/tenants/x48y/orders){1}",
                   "shop GET /tenants/x48y/orders");
    assert_type_of(&r, types, "shop:GET(url.path=/tenants/ada/orders){1}",
                   "shop GET /tenants/{}/orders");
    assert_type_of(&r, types, "shop:GET(url.path=/tenants/x48y/orders){1}",
                   "shop GET /tenants/{}/orders");
    assert_type_of(&r, types, "shop:GET(url.path=/tenants/17/orders/18){1}",
                   "shop GET /tenants/{id}/orders/{id}");
    assert_type_of(&r, types, "shop:GET(url.path=/cart){1}", "shop GET /cart");
    assert_type_of(&r, types,
                   "shop:GET(url.path=/tenants/a/orders,http.route=/tenants/:t/orders){1}",
                   "shop GET /tenants/:t/orders");
    assert_false(pythia_request_type_was_path(types));
    assert_type_of(&r, types, "shop:checkout(url.path=/tenants/a/orders){1}", "shop:checkout");
    assert_false(pythia_request_type_was_path(types));
    pythia_request_types_destroy(types);
    pythia_path_templates_destroy(options.templates);
    requests_end(&r);
}

/* What stock instrumentations write: the name of the server's span, and its attributes. */
static void stock_names_and_attributes_give_one_type_for_each_route(void **state)
{
    static const struct {
        const char *what, *name, *key[3], *value[3], *type;
    } cases[] = {
        {"otelhttp",
         "GET /order/{t}",
         {"http.request.method", "url.path"},
         {"GET", "/order/ada"},
         "shop:GET /order/{t}"},
        {"Flask",
         "GET /order/<t>",
         {"http.method", "http.target", "http.route"},
         {"GET", "/order/ada", "/order/<t>"},
         "shop GET /order/<t>"},
        {"FastAPI",
         "GET /order/{t}",
         {"http.method", "http.url", "http.route"},
         {"GET", "http://h/order/ada", "/order/{t}"},
         "shop GET /order/{t}"},
        {"Spring",
         "GET /order/{t}",
         {"http.request.method", "url.path", "http.route"},
         {"GET", "/order/ada", "/order/{t}"},
         "shop GET /order/{t}"},
        {"JDK HttpServer",
         "GET /order/",
         {"http.request.method", "url.path", "http.route"},
         {"GET", "/order/ada", "/order/"},
         "shop GET /order/"},
        {"Express",
         "GET /order/:t",
         {"http.method", "http.target", "http.route"},
         {"GET", "/order/ada", "/order/:t"},
         "shop GET /order/:t"},
        {"ASP.NET Core",
         "GET order/{t}",
         {"http.request.method", "url.path", "http.route"},
         {"GET", "/order/ada", "order/{t}"},
         "shop GET order/{t}"},
        {"gRPC",
         "shop.Orders/Get",
         {"rpc.system", "rpc.service", "rpc.method"},
         {"grpc", "shop.Orders", "Get"},
         "shop shop.Orders/Get"},
        {"Rails",
         "GET /orders/:id(.:format)",
         {"http.method", "http.target"},
         {"GET", "/orders/7"},
         "shop:GET /orders/:id(.:format)"},
        {"Rails before 0.30",
         "OrdersController#show",
         {"http.method", "http.target"},
         {"GET", "/orders/7"},
         "shop:OrdersController#show"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct requests r;
        struct pythia_buf packed = {0};
        requests_begin(&r);
        struct pythia_request_types *types = namer(&r, &plain);
        for (size_t k = 0; k < 3 && cases[i].key[k]; k++)
            pythia_attributes_text(&packed, requests_string(&r, cases[i].key[k]),
                                   pythia_text_of(cases[i].value[k]));
        struct pythia_resource shop = {.service = requests_string(&r, "shop")};
        struct pythia_trace_span root = {
            .parent = PYTHIA_NO_SPAN,
            .first_child = PYTHIA_NO_SPAN,
            .next_sibling = PYTHIA_NO_SPAN,
            .tracepoint = pythia_vocabulary_tracepoint(r.vocabulary, shop.service, 0,
                                                       requests_string(&r, cases[i].name)),
            .resource = pythia_vocabulary_resource(r.vocabulary, &shop),
            .attributes = pythia_buf_text(&packed)};
        struct pythia_trace trace = {.spans = &root, .count = 1, .roots = 1};
        uint32_t type = pythia_request_type(types, &trace);
        if (strcmp(pythia_vocabulary_text(r.vocabulary, type).bytes, cases[i].type) != 0)
            fail_msg("%s: %s", cases[i].what, pythia_vocabulary_text(r.vocabulary, type).bytes);
        pythia_buf_free(&packed);
        pythia_request_types_destroy(types);
        requests_end(&r);
    }
}

static void the_configured_attribute_comes_first(void **state)
{
    struct pythia_request_type_options by_kind = plain;
    by_kind.attribute = "kind";
    const struct {
        const char *request, *type;
    } cases[] = {
        {"a:x(kind=buy,http.route=/a,http.method=GET){1}", "buy"},
        {"a:x{1} 1 a:y(kind=buy){1 a:z(kind=sell){1}} 1 a:w(kind=look){1}", "buy"}, /* a root */
        {"a:x{1 b:y{1 b:z(kind=first){1}} c:z(kind=second){1}}",
         "first"}, /* else what began first */
        {"a:x{3 c:z(kind=late){1}} a:y{1}", "late"},
        {"a:x[kind=canary]{1}", "canary"}, /* of the process */
        {"a:x(kind=3){1}", "3"},
        {"a:x(kind=-2.5){1}", "-2.5"},
        {"a:x(kind=true){1}", "true"},
        {"a:x(kind=false){1}", "false"},
        {"a:x(other=3){1}", "a:x"}, /* it is nowhere */
        {"a:x(http.route=/a,http.method=GET){1}", "a GET /a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_type(&by_kind, cases[i].request, cases[i].type);
}

static void what_the_program_calls_it_comes_before_what_it_looks_like(void **state)
{
    struct pythia_request_type_options by_kind = plain;
    by_kind.attribute = "kind";
    const struct {
        const char *request, *type;
    } cases[] = {
        {"a:x(request_type=buy){1}", "buy"},
        {"a:x(request_type='3'){1}", "3"},
        {"a:x(request_type=buy,http.route=/a,http.method=GET){1}", "buy"},
        /* whichever of its trace points are open */
        {"a:x(request_type=buy){1 a:y{1}} 1 b:z(request_type=buy){1}", "buy"},
        {"a:y{1} 1 b:z(request_type=buy){1 b:w(request_type=sell){1}}", "buy"},
        {"a:x{1 a:y{1 a:z(request_type=first){1}} a:w(request_type=second){1}}", "first"},
        {"a:x{3 a:z(request_type=late){1}} b:y{1}", "late"},
        /* others have names of their own for what they are asked, and no number is a name */
        {"a:x{1 b:y(request_type=read){1}}", "a:x"},
        {"a:x{1 a:y(request_type=read)[pid=2]{1}}", "a:x"},
        {"a:x(http.route=/a,http.method=GET){1 b:y(request_type=read){1}}", "a GET /a"},
        {"a:x(request_type=3){1}", "a:x"},
        {"a:x(request_type=''){1}", "a:x"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_type(&plain, cases[i].request, cases[i].type);
    assert_type(&by_kind, "a:x(kind=sell,request_type=buy){1}", "sell");
    assert_type(&by_kind, "a:x(request_type=buy){1}", "buy");
}

/* A namer that has seen requests without it takes it from the first that has it. */
static void what_a_program_calls_it_may_be_told_later(void **state)
{
    struct requests r;
    requests_begin(&r);
    struct pythia_request_types *types = namer(&r, &plain);
    assert_type_of(&r, types, "a:x{1}", "a:x");
    assert_type_of(&r, types, "a:x(request_type=buy){1}", "buy");
    assert_type_of(&r, types, "a:x{1}", "a:x");
    pythia_request_types_destroy(types);
    requests_end(&r);
}

/* More sets of roots than are remembered, in turn. */
static void many_types_are_kept_apart(void **state)
{
    struct requests r;
    requests_begin(&r);
    struct pythia_request_types *types = namer(&r, &plain);
    char request[64], wanted[64];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 1500; i++) {
            snprintf(request, sizeof(request), "b%d:x{1} a%d:y{1}", i / 40, i % 40);
            snprintf(wanted, sizeof(wanted), "a%d:y + b%d:x", i % 40, i / 40);
            assert_type_of(&r, types, request, wanted);
        }
    pythia_request_types_destroy(types);
    requests_end(&r);
}

/* Each allocation fails in turn; with memory again the same namer gives the type. */
static void without_memory_there_is_no_type_and_with_it_there_is(void **state)
{
    const struct {
        struct pythia_request_type_options options;
        const char *request, *type;
    } cases[] = {
        {plain, "b:two{1} 5 a:one{1}", "a:one + b:two"},
        {plain, "shop:GET(http.target=/users/17,http.method=GET){1}", "shop GET /users/{id}"},
        {{.attribute = "kind"}, "a:x(kind=2.5){1}", "2.5"},
        {plain, "a:x(request_type=buy){1}", "buy"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        long failures = 0;
        for (bool enough = false; !enough; failures += !enough) {
            struct requests r;
            struct pythia_request_types *types = NULL;
            requests_begin(&r);
            const struct pythia_trace *trace = requests_trace(&r, 0, cases[i].request);
            pythia_mem_fail_after(failures);
            int status = pythia_request_types_create(r.vocabulary, &cases[i].options, &types);
            uint32_t type = status == PYTHIA_OK ? pythia_request_type(types, trace) : PYTHIA_NONE;
            pythia_mem_fail_after(-1);
            enough = type != PYTHIA_NONE;
            if (status != PYTHIA_OK) {
                assert_int_equal(status, PYTHIA_ENOMEM);
                assert_null(types);
                types = namer(&r, &cases[i].options);
            }
            assert_type_of(&r, types, cases[i].request, cases[i].type);
            pythia_request_types_destroy(types);
            requests_end(&r);
        }
        assert_true(failures >= 2);
    }
    pythia_request_types_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_roots_are_the_type_each_once_in_order_of_name),
        cmocka_unit_test(identifiers_in_ids_that_a_source_made_are_replaced),
        cmocka_unit_test(what_is_left_out_does_not_count_unless_nothing_would_be_left),
        cmocka_unit_test(one_http_root_is_its_service_method_and_route),
        cmocka_unit_test(a_path_counts_only_where_the_root_has_no_other_name),
        cmocka_unit_test(a_segment_of_a_path_with_many_values_is_learnt),
        cmocka_unit_test(stock_names_and_attributes_give_one_type_for_each_route),
        cmocka_unit_test(the_configured_attribute_comes_first),
        cmocka_unit_test(what_the_program_calls_it_comes_before_what_it_looks_like),
        cmocka_unit_test(what_a_program_calls_it_may_be_told_later),
        cmocka_unit_test(many_types_are_kept_apart),
        cmocka_unit_test(without_memory_there_is_no_type_and_with_it_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
