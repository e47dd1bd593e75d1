/* Requests whose roots are named "GET" and say nothing but their path, as of a server without
 * routes: one route with thousands of tenants is one type, and is learnt and searched as such. */
#include "pythia/attributes.h"
#include "pythia/live_snapshot.h"
#include "stream.h"

#define TENANTS  10000
#define SERVICE  "web"
#define ORDERS   "web GET /tenants/{}/orders"
#define REQUESTS 40 /* of a type, in a cycle */

static const struct pythia_live_options usual = {
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = REQUESTS,
    .learn_requests = 10,
};

static const char *const pages[] = {"/cart", "/checkout", "/login"};

static void add_text(struct stream *s, struct pythia_buf *to, const char *key, const char *value)
{
    pythia_attributes_text(to, pythia_vocabulary_string(s->vocabulary, pythia_text_of(key)),
                           pythia_text_of(value));
}

static void add_span(struct stream *s, const char *name, uint64_t id, uint64_t duration_ms,
                     struct pythia_text attributes)
{
    struct pythia_vocabulary *v = s->vocabulary;
    struct pythia_trace_id trace = {5, s->number};
    uint32_t service = pythia_vocabulary_string(v, PYTHIA_TEXT(SERVICE));
    struct pythia_resource resource = {.service = service};
    uint32_t text = pythia_vocabulary_string(v, pythia_text_of(name));
    struct pythia_span span = {.id = id,
                               .parent = id - 1,
                               .start_ns = STREAM_EPOCH + s->now_ms * MS,
                               .duration_ns = (int64_t)(duration_ms * MS),
                               .tracepoint = pythia_vocabulary_tracepoint(v, service, 0, text),
                               .resource = pythia_vocabulary_resource(v, &resource),
                               .attributes = attributes};
    assert_int_equal(pythia_span_batch_add(s->batch, &trace, &span), PYTHIA_OK);
}

/* A GET of that path, most of which is in `store`, for so long. */
static void get(struct stream *s, const char *path, uint64_t store_ms)
{
    struct pythia_buf attributes = {0};
    add_text(s, &attributes, "http.request.method", "GET");
    add_text(s, &attributes, "url.path", path);
    s->number++;
    add_span(s, "GET", 1, store_ms + 5, pythia_buf_text(&attributes));
    add_span(s, "store", 2, store_ms, PYTHIA_TEXT(""));
    pythia_buf_free(&attributes);
    stream_wait(s, store_ms + 10);
    stream_send(s);
}

/* The same, and what is wanted is in force at once. */
static void get_orders(struct stream *s, const char *tenant, int number)
{
    uint64_t wish = pythia_live_wish(s->live);
    char path[64];
    snprintf(path, sizeof(path), "/tenants/%s/orders", tenant);
    get(s, path, 10 + (uint64_t)(number * 7 % 10) * 10);
    if (number % 4 == 0)
        get(s, pages[number / 4 % 3], 10);
    if (pythia_live_wish(s->live) != wish)
        stream_applied(s);
}

/* Tenants one after the other. */
static void send(struct stream *s, int count)
{
    char tenant[32];
    for (int i = 0; i < count; i++) {
        snprintf(tenant, sizeof(tenant), "tenant-%c%d", 'a' + i % 26, i);
        get_orders(s, tenant, i);
    }
}

static bool knows_type(const struct stream *s, const char *name)
{
    uint32_t number = pythia_vocabulary_string_find(s->vocabulary, pythia_text_of(name));
    return number != PYTHIA_NONE && pythia_space_type(pythia_live_space(s->live), number);
}

static size_t most_types; /* of a cycle, from the second on */

static void count_types(struct stream *s, const struct pythia_live_cycle *cycle)
{
    size_t count;
    pythia_groups_types(cycle->groups, &count);
    if (s->cycles > 1 && count > most_types)
        most_types = count;
}

static void ten_thousand_paths_of_one_route_are_one_type(void **state)
{
    struct stream s;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    s.look = count_types;
    most_types = 0;
    send(&s, TENANTS);
    struct pythia_live_numbers n = pythia_live_numbers(s.live);
    assert_true(s.cycles > 10);
    assert_int_equal(most_types, 4); /* never a type of one tenant again */
    assert_int_equal(n.types, 4);
    assert_int_equal(n.learnt, 4);
    assert_int_equal(n.merged_types, 64);
    assert_true(knows_type(&s, ORDERS));
    assert_true(knows_type(&s, "web GET /cart"));
    assert_true(knows_type(&s, "web GET /checkout"));
    assert_true(knows_type(&s, "web GET /login"));
    stream_end(&s);
}

/* Two of the tenants had requests enough for types of their own. From then on their requests are of
 * the larger type, and nothing is of one type now and of another later. */
static void types_that_were_searched_already_get_no_more_requests(void **state)
{
    struct stream s;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    for (int i = 0; i < 400; i++)
        get_orders(&s, i % 2 ? "ada" : "bob", i);
    assert_true(knows_type(&s, "web GET /tenants/ada/orders"));
    assert_non_null(strstr(s.types, "/tenants/ada/orders"));
    send(&s, 200);
    assert_true(knows_type(&s, ORDERS));
    s.look = count_types;
    s.cycles = 1; /* the one that saw both has been told */
    most_types = 0;
    for (int i = 0; i < 400; i++)
        get_orders(&s, i % 2 ? "ada" : "bob", i);
    assert_true(s.cycles > 5);
    assert_int_equal(most_types, 4);
    assert_null(strstr(s.types, "ada"));
    stream_end(&s);
}

/* A search space that was learnt before, as after a restart, says which segments are variables. */
static void with_a_space_no_tenant_is_a_type_for_a_while(void **state)
{
    struct stream s;
    struct pythia_space *space = NULL;
    stream_begin(&s);
    assert_int_equal(pythia_space_create(s.vocabulary, &space), PYTHIA_OK);
    assert_non_null(
        pythia_space_type_make(space, pythia_vocabulary_string(s.vocabulary, PYTHIA_TEXT(ORDERS))));
    stream_attach(&s, space, &usual);
    get(&s, "/tenants/ada/orders", 10);
    get(&s, "/tenants/bob/orders", 10);
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    assert_int_equal(pythia_live_numbers(s.live).types, 1);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* So does a search that was saved: an engine that goes on with it makes no type of a tenant that it
 * has not met. */
static void with_a_restored_search_no_tenant_is_a_type(void **state)
{
    struct stream s, next;
    struct pythia_buf saved = {0};
    struct pythia_error e = {0};
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    send(&s, 400);
    assert_true(pythia_live_has_snapshot(s.live) && knows_type(&s, ORDERS));
    assert_int_equal(pythia_live_snapshot_save(s.live, &saved), PYTHIA_OK);
    stream_end(&s);

    stream_begin(&next);
    stream_attach(&next, NULL, &usual);
    assert_int_equal(pythia_live_snapshot_restore(next.live, pythia_buf_text(&saved), &e),
                     PYTHIA_OK);
    uint64_t types = pythia_live_numbers(next.live).types;
    get(&next, "/tenants/ada/orders", 10);
    get(&next, "/tenants/bob/orders", 10);
    assert_int_equal(pythia_live_drain(next.live), PYTHIA_OK);
    assert_int_equal(pythia_live_numbers(next.live).types, types);
    assert_int_equal(pythia_live_numbers(next.live).merged_types, 0);
    stream_end(&next);
    pythia_buf_free(&saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_paths_of_one_route_are_one_type),
        cmocka_unit_test(types_that_were_searched_already_get_no_more_requests),
        cmocka_unit_test(with_a_space_no_tenant_is_a_type_for_a_while),
        cmocka_unit_test(with_a_restored_search_no_tenant_is_a_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
