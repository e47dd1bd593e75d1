#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"
#include "plane.h"
#include "pythia/control_http.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* ---- requests ---- */

struct answer {
    int status;
    struct pythia_buf body;
    char etag[PYTHIA_CONTROL_HTTP_ETAG];
};

static void get(struct pythia_control *c, const char *service, const char *instance,
                const char *match, uint64_t now_ns, struct answer *a)
{
    char sent[64];
    snprintf(sent, sizeof(sent), "%s", match); /* it may be the etag of the last answer */
    pythia_buf_clear(&a->body);
    a->status = pythia_control_http_get(c, pythia_text_of(service), pythia_text_of(instance),
                                        pythia_text_of(sent), now_ns, &a->body, a->etag);
}

/* ' stands for " in the body. */
static int post(struct pythia_control *c, const char *body, uint64_t now_ns, struct answer *a)
{
    char *text = strdup(body);
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    pythia_buf_clear(&a->body);
    a->status = pythia_control_http_post(c, text, strlen(text), now_ns, &a->body);
    free(text);
    return a->status;
}

/* What an agent does: ask, and ask again with what it has in force. */
static void poll(struct pythia_control *c, const char *service, const char *instance,
                 uint64_t now_ns, struct answer *a)
{
    char etag[PYTHIA_CONTROL_HTTP_ETAG];
    get(c, service, instance, "", now_ns, a);
    assert_int_equal(a->status, 200);
    memcpy(etag, a->etag, sizeof(etag));
    get(c, service, instance, etag, now_ns, a);
    assert_int_equal(a->status, 304);
}

static struct pythia_control *make(void)
{
    return plane_make("http", (const char *const[]){NULL});
}

static const char shop[] =
    "{'service':'shop','instance':'h:1','points':["
    "{'id':'shop:web:GET /','price_ns':3000,'hits':5,'open_by_default':true},"
    "{'id':'shop:db:query','hits':2},{'id':'shop:say \\\"hi\\\"'}]}";

/* ---- tests ---- */

static void agents_get_what_shall_be_open(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    get(c, "shop", "h:1", "", 1 * S, &a);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.bytes,
                        "{\"lease_ms\":30000,\"poll_ms\":250,\"default\":\"skeleton\",\"open\":[],"
                        "\"open_for\":{},\"closed\":[],\"report\":true}\n");
    assert_int_equal(post(c, shop, 1 * S, &a), 200);
    assert_string_equal(a.body.bytes, "{\"taken\":3,\"refused\":0}\n");
    plane_inventory(c, &a.body);
    assert_string_equal(a.body.bytes, "shop shop:db:query nan 2\nshop shop:say \"hi\" nan 0\n"
                                      "shop shop:web:GET / 3000 5 default\n");
    assert_int_equal(plane_apply(c, "shop:db:query", 4, 2 * S), PYTHIA_OK);
    get(c, "shop", "h:1", "", 2 * S, &a);
    /* What is open by default and not wished for has to be closed; the others are anyway. */
    assert_string_equal(a.body.bytes,
                        "{\"lease_ms\":30000,\"poll_ms\":250,\"default\":\"skeleton\","
                        "\"open\":[\"shop:db:query\"],\"open_for\":{},"
                        "\"closed\":[\"shop:web:GET /\"]}\n");
    assert_int_equal(strlen(a.etag), 18);
    json_t *json = json_loads(a.body.bytes, 0, NULL);
    assert_non_null(json);
    json_decref(json);
    get(c, "shop", "", "", 2 * S, &a); /* a person looks */
    assert_int_equal(a.status, 200);
    assert_int_equal(pythia_control_http_numbers(c, 2 * S).agents, 1);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void a_point_can_be_open_for_some_types(void **state)
{
    const struct pythia_text types[] = {PYTHIA_TEXT("shop GET /list"), PYTHIA_TEXT("job")};
    const struct pythia_control_wish wishes[] = {
        {.id = PYTHIA_TEXT("shop:db:query")},
        {.id = PYTHIA_TEXT("shop:say \"hi\""), .types = types, .type_count = 2}};
    const char *settings[] = {"type-attribute=tier", NULL};
    struct pythia_error e = {0};
    struct answer a = {0};
    for (int named = 0; named < 2; named++) {
        struct pythia_control *c = named ? plane_make("http", settings) : make();
        assert_true(c->ops->by_type);
        post(c, shop, 1 * S, &a);
        post(c, "{'service':'other','instance':'1','points':[]}", 1 * S, &a);
        assert_int_equal(c->ops->apply(c, wishes, 2, 1, 1 * S, &e), PYTHIA_OK);
        get(c, "shop", "h:1", "", 1 * S, &a);
        char wanted[256];
        snprintf(wanted, sizeof(wanted),
                 "\"skeleton\",\"type_key\":\"%s\",\"open\":[\"shop:db:query\"],\"open_for\":"
                 "{\"shop:say \\\"hi\\\"\":[\"job\",\"shop GET /list\"]},\"closed\"",
                 named ? "tier" : "");
        assert_non_null(strstr(a.body.bytes, wanted));
        get(c, "other", "1", "", 1 * S, &a); /* it may begin requests that go to the shop */
        assert_non_null(strstr(a.body.bytes, "\"type_key\""));
        assert_int_equal(c->ops->apply(c, wishes, 1, 2, 1 * S, &e), PYTHIA_OK);
        get(c, "other", "1", "", 1 * S, &a);
        assert_null(strstr(a.body.bytes, "type_key"));
        c->ops->destroy(c);
    }
    pythia_buf_free(&a.body);
}

/* Whether the list for an instance has the point open for all types. */
static bool opens(struct pythia_control *c, const char *instance, uint64_t now_ns, struct answer *a)
{
    get(c, "shop", instance, "", now_ns, a);
    assert_int_equal(a->status, 200);
    return strstr(a->body.bytes, "\"open\":[\"shop:db:query\"]") != NULL;
}

static int take_counts(void *context, const struct pythia_control_point *p)
{
    if (PYTHIA_TEXT_IS(p->id, "shop:db:query"))
        pythia_buf_printf(context, "%zu of %zu; ", p->open_at, p->instances);
    return PYTHIA_OK;
}

static void assert_counts(struct pythia_control *c, const char *wanted)
{
    struct pythia_buf counts = {0};
    assert_int_equal(c->ops->inventory(c, take_counts, &counts), PYTHIA_OK);
    assert_string_equal(counts.bytes, wanted);
    pythia_buf_free(&counts);
}

static void a_point_can_be_open_at_some_instances(void **state)
{
    const struct pythia_text db_1[] = {PYTHIA_TEXT("db-1/")}, pid_8[] = {PYTHIA_TEXT("/8")};
    const struct pythia_control_wish at_1 = {.id = PYTHIA_TEXT("shop:db:query"),
                                             .at = db_1,
                                             .at_count = 1},
                                     not_8 = {.id = PYTHIA_TEXT("shop:db:query"),
                                              .except = pid_8,
                                              .except_count = 1},
                                     at_1_not_8 = {.id = PYTHIA_TEXT("shop:db:query"),
                                                   .at = db_1,
                                                   .at_count = 1,
                                                   .except = pid_8,
                                                   .except_count = 1},
                                     all = {.id = PYTHIA_TEXT("shop:db:query")};
    struct pythia_control *c = make();
    struct pythia_error e = {0};
    struct answer a = {0};
    assert_true(c->ops->by_instance);
    post(c, shop, 1 * S, &a);
    post(c, "{'service':'shop','instance':'db-1:7:x'}", 1 * S, &a);
    post(c, "{'service':'shop','instance':'db-2:8:y'}", 1 * S, &a);
    assert_int_equal(c->ops->apply(c, &at_1, 1, 1, 1 * S, &e), PYTHIA_OK);
    assert_true(opens(c, "db-1:7:x", 1 * S, &a));
    assert_false(opens(c, "db-2:8:y", 1 * S, &a));
    assert_false(opens(c, "h:1", 1 * S, &a));
    assert_true(opens(c, "db-1:9:later", 1 * S, &a)); /* before it has reported anything */
    assert_false(opens(c, "", 1 * S, &a));            /* a person looks */
    plane_result(c, "shop:db:query", 1 * S);          /* observes */
    assert_counts(c, "1 of 3; ");
    assert_int_equal(c->ops->apply(c, &not_8, 1, 2, 1 * S, &e), PYTHIA_OK);
    assert_true(opens(c, "db-1:7:x", 1 * S, &a));
    assert_false(opens(c, "db-2:8:y", 1 * S, &a));
    assert_true(opens(c, "h:1", 1 * S, &a));
    assert_counts(c, "2 of 3; ");
    assert_int_equal(c->ops->apply(c, &at_1_not_8, 1, 3, 1 * S, &e), PYTHIA_OK);
    assert_true(opens(c, "db-1:7:x", 1 * S, &a));
    assert_false(opens(c, "db-1:8:later", 1 * S, &a));
    assert_false(opens(c, "db-2:8:y", 1 * S, &a));
    assert_false(opens(c, "h:1", 1 * S, &a));
    assert_int_equal(c->ops->apply(c, &all, 1, 4, 1 * S, &e), PYTHIA_OK);
    assert_true(opens(c, "db-2:8:y", 1 * S, &a));
    assert_counts(c, "3 of 3; ");
    assert_int_equal(c->ops->off(c, true, 1 * S, &e), PYTHIA_OK);
    assert_counts(c, "0 of 3; ");
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* The set is in force when each instance has confirmed its own list. One that confirms the list of
 * another has not, and one whose list did not change is not asked again. */
static void each_instance_confirms_its_own_list(void **state)
{
    const struct pythia_text db_1[] = {PYTHIA_TEXT("db-1/")};
    const struct pythia_control_wish at_1 = {
        .id = PYTHIA_TEXT("shop:db:query"), .at = db_1, .at_count = 1};
    struct pythia_control *c = make();
    struct pythia_error e = {0};
    struct answer a = {0}, open = {0};
    post(c, "{'service':'shop','instance':'db-1:7:x','points':[{'id':'shop:db:query'}]}", 1 * S,
         &a);
    post(c, "{'service':'shop','instance':'db-2:8:y'}", 1 * S, &a);
    assert_int_equal(c->ops->apply(c, NULL, 0, 1, 1 * S, &e), PYTHIA_OK);
    poll(c, "shop", "db-1:7:x", 1 * S, &a);
    poll(c, "shop", "db-2:8:y", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_APPLIED);
    assert_int_equal(c->ops->apply(c, &at_1, 1, 2, 2 * S, &e), PYTHIA_OK);
    get(c, "shop", "db-2:8:y", a.etag, 2 * S, &a);
    assert_int_equal(a.status, 304);
    assert_int_equal(plane_result(c, "shop:db:query", 2 * S), PYTHIA_CONTROL_PENDING);
    get(c, "shop", "db-1:7:x", a.etag, 2 * S, &open);
    assert_int_equal(open.status, 200);
    get(c, "shop", "db-2:8:y", open.etag, 2 * S, &a); /* says that it has what another shall have */
    assert_int_equal(a.status, 200);
    get(c, "shop", "db-1:7:x", open.etag, 2 * S, &open);
    assert_int_equal(open.status, 304);
    assert_int_equal(plane_result(c, "shop:db:query", 2 * S), PYTHIA_CONTROL_PENDING);
    poll(c, "shop", "db-2:8:y", 2 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 2 * S), PYTHIA_CONTROL_APPLIED);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
    pythia_buf_free(&open.body);
}

/* More kinds of lists than are kept: the etags stay right, and no instance gets another's list. */
static void lists_for_many_places_are_made_again(void **state)
{
    enum { HOSTS = 40 };
    static char names[HOSTS][16], ids[HOSTS][24];
    static struct pythia_text places[HOSTS];
    struct pythia_control_wish wishes[HOSTS];
    struct pythia_control *c = make();
    struct pythia_error e = {0};
    struct answer a = {0};
    for (int i = 0; i < HOSTS; i++) {
        char body[160];
        snprintf(names[i], sizeof(names[i]), "db-%d/", i);
        snprintf(ids[i], sizeof(ids[i]), "shop:p%d", i);
        places[i] = pythia_text_of(names[i]);
        wishes[i] = (struct pythia_control_wish){
            .id = pythia_text_of(ids[i]), .at = &places[i], .at_count = 1};
        snprintf(body, sizeof(body),
                 "{'service':'shop','instance':'db-%d:1','points':[{'id':'%.20s'}]}", i, ids[i]);
        post(c, body, 1 * S, &a);
    }
    assert_int_equal(c->ops->apply(c, wishes, HOSTS, 1, 1 * S, &e), PYTHIA_OK);
    for (int i = 0; i < HOSTS; i++) {
        char instance[24], wanted[64];
        snprintf(instance, sizeof(instance), "db-%d:1", i);
        snprintf(wanted, sizeof(wanted), "\"open\":[\"%.20s\"],", ids[i]);
        get(c, "shop", instance, "", 1 * S, &a);
        assert_non_null(strstr(a.body.bytes, wanted));
        poll(c, "shop", instance, 1 * S, &a);
    }
    assert_int_equal(plane_result(c, "shop:p0", 1 * S), PYTHIA_CONTROL_APPLIED);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void names_with_quotes_are_written_as_json(void **state)
{
    struct pythia_control *c = make();
    struct pythia_control_wish wish = {.id = PYTHIA_TEXT("shop:say \"hi\"")};
    struct pythia_error e = {0};
    struct answer a = {0};
    post(c, shop, 1 * S, &a);
    assert_int_equal(c->ops->apply(c, &wish, 1, 1, 1 * S, &e), PYTHIA_OK);
    get(c, "shop", "", "", 1 * S, &a);
    assert_non_null(strstr(a.body.bytes, "\"open\":[\"shop:say \\\"hi\\\"\"]"));
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void a_switch_is_in_force_when_all_agents_have_confirmed_it(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    char etag[PYTHIA_CONTROL_HTTP_ETAG];
    post(c, shop, 1 * S, &a);
    post(c, "{'service':'shop','instance':'h:2'}", 1 * S, &a);
    post(c, "{'service':'stock','instance':'h:1','points':[{'id':'stock:find'}]}", 1 * S, &a);
    assert_int_equal(plane_apply(c, "shop:db:query stock:find nobody:x", 7, 1 * S), PYTHIA_OK);
    plane_observe(c, 1 * S, &a.body);
    assert_string_equal(a.body.bytes,
                        "shop shop:db:query pending 0\nshop shop:say \"hi\" pending 0\n"
                        "shop shop:web:GET / pending 0\nstock stock:find pending 0\n"
                        " nobody:x refused 0\n");
    poll(c, "shop", "h:1", 1 * S, &a);
    poll(c, "stock", "h:1", 1 * S, &a);
    plane_observe(c, 1 * S, &a.body);
    assert_string_equal(a.body.bytes,
                        "shop shop:db:query pending 0\nshop shop:say \"hi\" pending 0\n"
                        "shop shop:web:GET / pending 0\nstock stock:find applied 7\n"
                        " nobody:x refused 0\n");
    /* The other says so by a report: the etag without its quotes. */
    get(c, "shop", "h:2", "", 1 * S, &a);
    memcpy(etag, a.etag, sizeof(etag));
    char body[128];
    snprintf(body, sizeof(body), "{'service':'shop','instance':'h:2','applied':'%.16s'}", etag + 1);
    assert_int_equal(post(c, body, 1 * S, &a), 200);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_APPLIED);
    /* Another set, of which nothing is this service's: nothing has to be told again. */
    assert_int_equal(plane_apply(c, "shop:db:query", 8, 2 * S), PYTHIA_OK);
    assert_int_equal(plane_result(c, "shop:db:query", 2 * S), PYTHIA_CONTROL_APPLIED);
    assert_int_equal(plane_result(c, "stock:find", 2 * S), PYTHIA_CONTROL_PENDING);
    get(c, "shop", "h:1", etag, 2 * S, &a);
    assert_int_equal(a.status, 304);
    get(c, "shop", "h:1", "W/\"x\", W/\"y\"", 2 * S, &a);
    assert_int_equal(a.status, 200);
    assert_int_equal(plane_result(c, "shop:db:query", 2 * S), PYTHIA_CONTROL_PENDING);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* An agent that confirms the list before the present one has what that one opened and closed. */
static void a_list_that_is_confirmed_late_counts_as_of_its_version(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    char first[PYTHIA_CONTROL_HTTP_ETAG];
    post(c, "{'service':'shop','instance':'h:1','points':[{'id':'shop:a'},{'id':'shop:b'}]}", 1 * S,
         &a);
    assert_int_equal(plane_apply(c, "shop:a", 7, 1 * S), PYTHIA_OK);
    get(c, "shop", "h:1", "", 1 * S, &a);
    memcpy(first, a.etag, sizeof(first));
    assert_int_equal(plane_apply(c, "shop:a shop:b", 8, 2 * S), PYTHIA_OK);
    plane_observe(c, 2 * S, &a.body);
    assert_string_equal(a.body.bytes, "shop shop:a pending 0\nshop shop:b pending 0\n");
    get(c, "shop", "h:1", first, 2 * S, &a);
    assert_int_equal(a.status, 200);
    plane_observe(c, 2 * S, &a.body);
    assert_string_equal(a.body.bytes, "shop shop:a pending 7\nshop shop:b pending 7\n");
    poll(c, "shop", "h:1", 2 * S, &a);
    plane_observe(c, 2 * S, &a.body);
    assert_string_equal(a.body.bytes, "shop shop:a applied 8\nshop shop:b applied 8\n");
    /* Another agent that has confirmed nothing holds up the service. */
    post(c, "{'service':'shop','instance':'h:2'}", 2 * S, &a);
    plane_observe(c, 2 * S, &a.body);
    assert_string_equal(a.body.bytes, "shop shop:a pending 0\nshop shop:b pending 0\n");
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* A point that is closed by default changes no list when it is first told of. */
static void a_new_point_does_not_put_others_in_doubt(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    post(c, shop, 1 * S, &a);
    assert_int_equal(plane_apply(c, "shop:db:query", 1, 1 * S), PYTHIA_OK);
    poll(c, "shop", "h:1", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_APPLIED);
    post(c, "{'service':'shop','instance':'h:2','points':[{'id':'shop:new'}]}", 1 * S, &a);
    poll(c, "shop", "h:2", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_APPLIED);
    assert_int_equal(plane_result(c, "shop:new", 1 * S), PYTHIA_CONTROL_APPLIED);
    post(c,
         "{'service':'shop','instance':'h:2','points':[{'id':'shop:new','open_by_default':true}]}",
         1 * S, &a);
    poll(c, "shop", "h:2", 1 * S, &a); /* it stays open: see the next test */
    assert_int_equal(plane_result(c, "shop:new", 1 * S), PYTHIA_CONTROL_APPLIED);
    plane_inventory(c, &a.body);
    assert_int_equal(plane_apply(c, "shop:db:query", 2, 2 * S), PYTHIA_OK);
    assert_int_equal(plane_result(c, "shop:new", 2 * S), PYTHIA_CONTROL_PENDING); /* to be closed */
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* The entry point of a new service, closed until the engine has heard of it, would hide the
 * beginning of requests, and the calls below would pass for requests of their own. */
static void an_entry_point_is_closed_only_by_a_set_that_could_have_named_it(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    assert_int_equal(plane_apply(c, "other:a", 1, 1 * S), PYTHIA_OK);
    post(c, shop, 1 * S, &a);
    get(c, "shop", "h:1", "", 1 * S, &a);
    assert_non_null(strstr(a.body.bytes, "\"closed\":[]"));
    assert_int_equal(plane_apply(c, "other:b", 2, 2 * S), PYTHIA_OK); /* not listed yet */
    get(c, "shop", "h:1", "", 2 * S, &a);
    assert_non_null(strstr(a.body.bytes, "\"closed\":[]"));
    plane_inventory(c, &a.body);
    get(c, "shop", "h:1", "", 2 * S, &a);
    assert_non_null(strstr(a.body.bytes, "\"closed\":[]"));
    assert_int_equal(plane_apply(c, "other:b", 3, 3 * S), PYTHIA_OK);
    get(c, "shop", "h:1", "", 3 * S, &a);
    assert_non_null(strstr(a.body.bytes, "\"closed\":[\"shop:web:GET /\"]"));
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* While a new process waits for its list nobody has lost anything; who had one and has none has. */
static void losses_are_of_agents_that_had_a_list(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    char etag[PYTHIA_CONTROL_HTTP_ETAG];
    post(c, shop, 1 * S, &a);
    plane_apply(c, "shop:db:query", 1, 1 * S);
    poll(c, "shop", "h:1", 1 * S, &a);
    memcpy(etag, a.etag, sizeof(etag));
    post(c, "{'service':'shop','instance':'h:2'}", 1 * S, &a);
    get(c, "shop", "h:2", "", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_PENDING);
    poll(c, "shop", "h:2", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_APPLIED);
    plane_apply(c, "", 2, 2 * S); /* another list: they have the old one until they ask */
    get(c, "shop", "h:1", etag, 2 * S, &a);
    assert_int_equal(a.status, 200);
    memcpy(etag, a.etag, sizeof(etag));
    get(c, "shop", "h:1", etag, 2 * S, &a);
    assert_int_equal(a.status, 304);
    plane_observe(c, 20 * S, &a.body); /* silence is no loss yet */
    assert_int_equal(c->ops->losses(c), 0);
    get(c, "shop", "h:2", "", 20 * S, &a); /* its lease has run out */
    assert_int_equal(c->ops->losses(c), 1);
    get(c, "shop", "h:2", "", 20 * S, &a);
    assert_int_equal(c->ops->losses(c), 1);
    post(c, "{'service':'shop','instance':'h:1'}", 20 * S, &a); /* begun anew under its name */
    assert_int_equal(c->ops->losses(c), 2);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void silent_agents_are_lost_and_then_forgotten(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    post(c, shop, 1 * S, &a);
    plane_apply(c, "shop:db:query", 1, 1 * S);
    poll(c, "shop", "h:1", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 5 * S - 1), PYTHIA_CONTROL_APPLIED);
    assert_int_equal(plane_result(c, "shop:db:query", 5 * S), PYTHIA_CONTROL_LOST);
    assert_int_equal(pythia_control_http_numbers(c, 5 * S).lost_agents, 1);
    /* A second one that is there decides. */
    post(c, "{'service':'shop','instance':'h:2'}", 5 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 5 * S), PYTHIA_CONTROL_PENDING);
    poll(c, "shop", "h:2", 5 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 5 * S), PYTHIA_CONTROL_APPLIED);
    /* The first is back, with what it had: it is asked for nothing. */
    get(c, "shop", "h:1", a.etag, 20 * S, &a);
    assert_int_equal(a.status, 304);
    assert_int_equal(plane_result(c, "shop:db:query", 20 * S), PYTHIA_CONTROL_APPLIED);
    plane_observe(c, 605 * S, &a.body);
    assert_int_equal(pythia_control_http_numbers(c, 605 * S).agents, 1);
    plane_observe(c, 620 * S, &a.body);
    assert_int_equal(pythia_control_http_numbers(c, 620 * S).agents, 0);
    assert_int_equal(pythia_control_http_numbers(c, 620 * S).points, 3);
    plane_observe(c, 1220 * S, &a.body); /* nobody has been there for as long */
    assert_int_equal(pythia_control_http_numbers(c, 1220 * S).services, 0);
    assert_int_equal(pythia_control_http_numbers(c, 1220 * S).points, 0);
    assert_int_equal(pythia_control_http_numbers(c, 1220 * S).forgotten_agents, 2);
    plane_inventory(c, &a.body);
    assert_int_equal(a.body.size, 0);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* If the engine hangs, but not the server, agents must notice: their lease is not renewed. */
static void a_set_that_is_not_renewed_is_not_confirmed(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    char etag[PYTHIA_CONTROL_HTTP_ETAG];
    c->ops->set_lease(c, 2 * S);
    post(c, shop, 1 * S, &a);
    plane_apply(c, "shop:db:query", 1, 1 * S);
    get(c, "shop", "h:1", "", 3 * S, &a);
    assert_int_equal(a.status, 200);
    memcpy(etag, a.etag, sizeof(etag));
    assert_non_null(strstr(a.body.bytes, "\"lease_ms\":2000,"));
    get(c, "shop", "h:1", etag, 3 * S + 1, &a);
    assert_int_equal(a.status, 503);
    plane_apply(c, "shop:db:query", 1, 4 * S);
    get(c, "shop", "h:1", etag, 4 * S, &a);
    assert_int_equal(a.status, 304);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void a_refusal_holds_until_something_else_is_wished_for(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    post(c, shop, 1 * S, &a);
    plane_apply(c, "shop:db:query", 1, 1 * S);
    post(c, "{'service':'shop','instance':'h:1','refused':['shop:db:query','x',7]}", 1 * S, &a);
    poll(c, "shop", "h:1", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_REFUSED);
    assert_int_equal(plane_result(c, "shop:web:GET /", 1 * S), PYTHIA_CONTROL_APPLIED);
    plane_apply(c, "shop:db:query shop:web:GET", 2, 1 * S);
    poll(c, "shop", "h:1", 1 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_APPLIED);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void off_closes_what_nobody_has_told_of_too(void **state)
{
    char file[64], setting[80];
    struct answer a = {0};
    struct pythia_error e = {0};
    snprintf(file, sizeof(file), "/tmp/pythia-off-%ld", (long)getpid());
    snprintf(setting, sizeof(setting), "off-file=%s", file);
    const char *settings[] = {setting, NULL};
    struct pythia_control *c = plane_make("http", settings);
    post(c, shop, 1 * S, &a);
    assert_int_equal(c->ops->off(c, true, 1 * S, &e), PYTHIA_OK); /* nothing was applied before */
    assert_int_equal(access(file, F_OK), 0);
    plane_apply(c, "shop:db:query", 1, 1 * S);
    get(c, "shop", "h:1", "", 100 * S, &a); /* and no lease ends it */
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.bytes, "{\"lease_ms\":30000,\"poll_ms\":250,\"default\":\"none\","
                                      "\"open\":[],\"open_for\":{},\"closed\":[]}\n");
    assert_int_equal(c->ops->off(c, false, 100 * S, &e), PYTHIA_OK);
    assert_int_equal(access(file, F_OK), -1);
    plane_apply(c, "shop:db:query", 1, 100 * S);
    get(c, "shop", "h:1", "", 100 * S, &a);
    assert_non_null(strstr(a.body.bytes, "\"open\":[\"shop:db:query\"]"));
    c->ops->destroy(c);
    const char *nowhere[] = {"off-file=/nonexistent/off", NULL};
    c = plane_make("http", nowhere);
    assert_int_equal(c->ops->off(c, true, 1 * S, &e), PYTHIA_EIO);
    assert_string_equal(e.sentence, "cannot make /nonexistent/off: No such file or directory");
    get(c, "shop", "", "", 1 * S, &a); /* those that ask are told all the same */
    assert_non_null(strstr(a.body.bytes, "\"default\":\"none\""));
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void what_is_no_report_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *body, *why;
    } cases[] = {
        {"", "report:1: the report is not JSON: '[' or '{' expected near end of file (byte 0)\n"},
        {"{'service':", "report:1: the report is not JSON: string or '}' expected"},
        {"[]", "the report is not an object\n"},
        {"7", "report:1: the report is not JSON: "},
        {"{}",
         "the report has no service: expected text of 1 to 256 bytes without control characters\n"},
        {"{'service':7}", "the report has no service"},
        {"{'service':'a\\u0001'}", "the report has no service"},
        {"{'service':'a'}", "the report has no instance: expected text of 1 to 128 bytes without "
                            "control characters\n"},
        {"{'service':'a','instance':''}", "the report has no instance"},
        {"{'service':'a','instance':'b','points':{}}",
         "the report has points or refused that are not arrays\n"},
        {"{'service':'a','instance':'b','refused':1}", "the report has points or refused"},
        {"{'service':'a','service':'a','instance':'b'}", "report:1: the report is not JSON: dup"},
        {"{'service':'\xff','instance':'b'}", "report:1: the report is not JSON: unable to decode"},
        {"{'service':'a\\u0000','instance':'b'}", "report:1: the report is not JSON: \\u0000"},
    };
    struct pythia_control *c = make();
    struct answer a = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(post(c, cases[i].body, 1 * S, &a), 400);
        if (strncmp(a.body.bytes, cases[i].why, strlen(cases[i].why)) != 0 &&
            !(i == 1 && strstr(a.body.bytes, "is not JSON")))
            assert_string_equal(a.body.bytes, cases[i].why);
    }
    assert_int_equal(pythia_control_http_numbers(c, 1 * S).refused_reports,
                     sizeof(cases) / sizeof(cases[0]));
    assert_int_equal(pythia_control_http_numbers(c, 1 * S).agents, 0);
    get(c, "", "", "", 1 * S, &a);
    assert_int_equal(a.status, 400);
    get(c, "a\nb", "", "", 1 * S, &a);
    assert_int_equal(a.status, 400);
    get(c, "a", "\x7f", "", 1 * S, &a);
    assert_int_equal(a.status, 400);
    assert_string_equal(a.etag, "");
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* One point that is no good does not cost the others. */
static void points_that_are_no_good_are_refused_one_by_one(void **state)
{
    static const char body[] =
        "{'service':'shop','instance':'h:1','points':["
        "{'id':'shop:good'},{'id':'other:bad'},{'id':'shop'},{'id':'shop:'},{'id':'shopx:y'},"
        "{'id':''},{'id':7},{},[],7,null,{'id':'shop:\\u001b[2J'},{'id':'shop:a','price_ns':-1},"
        "{'id':'shop:a','price_ns':'1'},{'id':'shop:a','price_ns':1e300},{'id':'shop:a','hits':-1},"
        "{'id':'shop:a','hits':1e16},{'id':'shop:a','open_by_default':1},{'id':'shop:a','hits':[]},"
        "{'id':'shop:../../etc/passwd'},{'id':'shop:ok','price_ns':null,'hits':1.5,'x':[{}]}]}";
    struct pythia_control *c = make();
    struct answer a = {0};
    assert_int_equal(post(c, body, 1 * S, &a), 200);
    assert_string_equal(a.body.bytes, "{\"taken\":3,\"refused\":18}\n");
    plane_inventory(c, &a.body);
    /* An id is a name and nothing else: it is never made a path of. */
    assert_string_equal(a.body.bytes, "shop shop:../../etc/passwd nan 0\nshop shop:good nan 0\n"
                                      "shop shop:ok nan 1\n");
    assert_int_equal(pythia_control_http_numbers(c, 1 * S).refused_points, 18);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* A report whose texts have so many bytes. */
static int post_sizes(struct pythia_control *c, size_t service, size_t instance, size_t id)
{
    char name[600], body[2400];
    struct answer a = {0};
    memset(name, 'n', sizeof(name));
    snprintf(body, sizeof(body),
             "{'service':'%.*s','instance':'%.*s','points':[{'id':'%.*s:%.*s'}]}", (int)service,
             name, (int)instance, name, (int)service, name,
             (int)(id > service ? id - service - 1 : 0), name);
    int status = post(c, body, 1 * S, &a);
    if (status == 200 && strstr(a.body.bytes, "\"refused\":1"))
        status = -200;
    pythia_buf_free(&a.body);
    return status;
}

static void limits_hold_at_their_edges(void **state)
{
    struct pythia_control *c = make();
    assert_int_equal(post_sizes(c, 255, 1, 512), 200);
    assert_int_equal(post_sizes(c, 256, 1, 511), 200);
    assert_int_equal(post_sizes(c, 257, 1, 511), 400);
    assert_int_equal(post_sizes(c, 1, 127, 511), 200);
    assert_int_equal(post_sizes(c, 1, 128, 512), 200);
    assert_int_equal(post_sizes(c, 1, 129, 512), 400);
    assert_int_equal(post_sizes(c, 1, 1, 513), -200);
    c->ops->destroy(c);

    const char *small[] = {"agents-max=2", "points-max=3", "body-max=100", NULL};
    struct answer a = {0};
    c = plane_make("http", small);
    assert_int_equal(pythia_control_http_body_max(c), 100);
    char body[128];
    for (int size = 99; size <= 101; size++) {
        snprintf(body, sizeof(body), "{'service':'s','instance':'i'%*s}", size - 29 - 1 + 1, "");
        body[size] = '\0';
        assert_int_equal(strlen(body), size);
        int status = post(c, body, 1 * S, &a);
        assert_int_equal(status, size <= 100 ? (body[size - 1] == '}' ? 200 : 400) : 413);
        if (status == 413)
            assert_string_equal(a.body.bytes,
                                "the report has 101 bytes, and at most 100 are read\n");
    }
    c->ops->destroy(c);

    const char *few[] = {"agents-max=2", "points-max=3", NULL};
    c = plane_make("http", few);
    assert_int_equal(post(c, "{'service':'s','instance':'1','points':[{'id':'s:1'}]}", S, &a), 200);
    assert_int_equal(post(c, "{'service':'t','instance':'2','points':[{'id':'t:1'}]}", S, &a), 200);
    assert_int_equal(post(c, "{'service':'t','instance':'3'}", 1 * S, &a), 429);
    assert_string_equal(a.body.bytes, "there are 2 agents already, the most that are taken\n");
    assert_int_equal(
        post(c, "{'service':'s','instance':'1','points':[{'id':'s:2'},{'id':'s:3'}]}", 1 * S, &a),
        200);
    assert_string_equal(a.body.bytes, "{\"taken\":1,\"refused\":1}\n");
    assert_int_equal(
        post(c, "{'service':'s','instance':'1','points':[{'id':'s:1','hits':1}]}", 1 * S, &a),
        200); /* what is known may be told again */
    assert_string_equal(a.body.bytes, "{\"taken\":1,\"refused\":0}\n");
    assert_int_equal(pythia_control_http_numbers(c, 1 * S).points, 3);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

/* Whoever can reach the port can report points of any service: those of others still get in. */
static void a_service_has_a_quota_of_points(void **state)
{
    const char *quota[] = {"service-points-max=2", "points-max=5", NULL};
    struct pythia_control *c = plane_make("http", quota);
    struct answer a = {0};
    assert_int_equal(
        post(c, "{'service':'s','instance':'1','points':[{'id':'s:1'},{'id':'s:2'},{'id':'s:3'}]}",
             S, &a),
        200);
    assert_string_equal(a.body.bytes, "{\"taken\":2,\"refused\":1}\n");
    assert_int_equal(
        post(c, "{'service':'s','instance':'2','points':[{'id':'s:4'},{'id':'s:1'}]}", S, &a), 200);
    assert_string_equal(a.body.bytes,
                        "{\"taken\":1,\"refused\":1}\n"); /* another agent of it, and a known one */
    assert_int_equal(
        post(c, "{'service':'t','instance':'1','points':[{'id':'t:1'},{'id':'t:2'}]}", S, &a), 200);
    assert_string_equal(a.body.bytes, "{\"taken\":2,\"refused\":0}\n");
    assert_int_equal(
        post(c, "{'service':'u','instance':'1','points':[{'id':'u:1'},{'id':'u:2'}]}", S, &a), 200);
    assert_string_equal(a.body.bytes,
                        "{\"taken\":1,\"refused\":1}\n"); /* that is all there may be */
    assert_int_equal(pythia_control_http_numbers(c, S).refused_points, 3);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void hits_add_up_and_do_not_overflow(void **state)
{
    struct pythia_control *c = make();
    struct answer a = {0};
    static const char body[] = "{'service':'s','instance':'1','points':[{'id':'s:1','hits':"
                               "1000000000000000,'price_ns':%d}]}";
    char text[160];
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), body, 100 + i);
        assert_int_equal(post(c, text, 1 * S, &a), 200);
    }
    plane_inventory(c, &a.body);
    assert_non_null(strstr(a.body.bytes, "s s:1 102 "));
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void *counted_malloc(size_t size)
{
    return pythia_calloc(1, size);
}

static void counted_free(void *memory)
{
    pythia_free(memory);
}

/* Each allocation fails in turn, those of the JSON library too. */
static void want_of_memory_is_told_and_gone_through(void **state)
{
    json_set_alloc_funcs(counted_malloc, counted_free);
    int worked = 0;
    for (long n = 0; !worked; n++) {
        struct pythia_control *c = NULL;
        struct pythia_error e = {0};
        struct answer a = {0};
        const char *settings[] = {"off-file=/tmp/x", NULL};
        struct pythia_control_wish wish = {.id = PYTHIA_TEXT("shop:db:query")};
        pythia_mem_fail_after(n);
        int status = plane_try("http", settings, &c, &e);
        if (status == PYTHIA_OK) {
            char body[512]; /* post() would use the heap of libc, which does not fail */
            snprintf(body, sizeof(body), "%s", shop);
            for (char *at = body; *at; at++)
                if (*at == '\'')
                    *at = '"';
            status = c->ops->apply(c, &wish, 1, 1, 1 * S, &e);
            int posted = pythia_control_http_post(c, body, strlen(body), 1 * S, &a.body);
            assert_true(posted == 200 || posted == 503);
            get(c, "shop", "h:1", "", 1 * S, &a);
            assert_true(a.status == 200 || a.status == 503);
            worked = status == PYTHIA_OK && posted == 200 && a.status == 200 &&
                     !strstr(a.body.bytes, "report");
        }
        pythia_mem_fail_after(-1);
        if (c) {
            plane_apply(c, "shop:db:query", 2, 1 * S);
            assert_int_equal(post(c, shop, 1 * S, &a), 200);
            poll(c, "shop", "h:1", 1 * S, &a);
            assert_int_equal(plane_result(c, "shop:db:query", 1 * S), PYTHIA_CONTROL_APPLIED);
            c->ops->destroy(c);
        }
        pythia_buf_free(&a.body);
    }
    json_set_alloc_funcs(malloc, free);
}

static int remember(struct pythia_control *c, const char *service, const char *id, uint64_t now_ns)
{
    return pythia_control_http_remember(c, pythia_text_of(service), pythia_text_of(id), 7, now_ns);
}

/* After a restart the first answer is the list, although no agent has said what it has. */
static void what_a_service_had_before_is_listed_at_once(void **state)
{
    static const char *const bad[][2] = {
        {"shop", "store:a"}, {"shop", "shop:"}, {"shop", "shop"}, {"", ":a"}, {"shop", "shop:\n"}};
    struct answer a = {0};
    struct pythia_control *c = make();
    assert_int_equal(remember(c, "shop", "shop:db:query", 1 * S), PYTHIA_OK);
    assert_int_equal(remember(c, "shop", "shop:other", 1 * S), PYTHIA_OK);
    assert_int_equal(remember(c, "gone", "gone:a", 1 * S), PYTHIA_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(remember(c, bad[i][0], bad[i][1], 1 * S), PYTHIA_EFORMAT);
    plane_inventory(c, &a.body);
    assert_string_equal(a.body.bytes, "gone gone:a nan 7\nshop shop:db:query nan 7\n"
                                      "shop shop:other nan 7\n");
    assert_int_equal(plane_apply(c, "shop:db:query", 4, 2 * S), PYTHIA_OK);
    get(c, "shop", "h:1", "", 2 * S, &a);
    assert_string_equal(a.body.bytes,
                        "{\"lease_ms\":30000,\"poll_ms\":250,\"default\":\"skeleton\",\"open\":["
                        "\"shop:db:query\"],\"open_for\":{},\"closed\":[],\"report\":true}\n");
    assert_int_equal(plane_result(c, "shop:db:query", 2 * S), PYTHIA_CONTROL_LOST);
    assert_int_equal(post(c, shop, 3 * S, &a), 200);
    poll(c, "shop", "h:1", 3 * S, &a);
    assert_int_equal(plane_result(c, "shop:db:query", 3 * S), PYTHIA_CONTROL_APPLIED);
    pythia_buf_clear(&a.body);
    plane_inventory(c, &a.body); /* hits go on from what they were */
    assert_non_null(strstr(a.body.bytes, "shop shop:db:query nan 9\n"));
    assert_int_equal(post(c, shop, 602 * S, &a), 200);
    (void)plane_result(c, "shop:db:query", 602 * S); /* nobody came for ten minutes */
    assert_int_equal(pythia_control_http_numbers(c, 602 * S).services, 1);
    c->ops->destroy(c);
    pythia_buf_free(&a.body);
}

static void remembering_without_memory(void **state)
{
    for (int after = 0;; after++) {
        struct pythia_control *c = make();
        pythia_mem_fail_after(after);
        int status = remember(c, "shop", "shop:a", 1 * S);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        assert_int_equal(remember(c, "shop", "shop:a", 1 * S), PYTHIA_OK);
        c->ops->destroy(c);
        if (status == PYTHIA_OK)
            break;
        assert_true(after < 20);
    }
}

static void planes_are_found_by_name(void **state)
{
    static const char *const names[] = {"gate", "http", "osprofiler"};
    for (size_t i = 0; i < 3; i++) {
        const struct pythia_control_ops *ops = pythia_control_named(names[i]);
        assert_non_null(ops);
        assert_string_equal(ops->name, names[i]);
        assert_non_null(ops->help);
    }
    assert_null(pythia_control_named("tape"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_found_by_name),
        cmocka_unit_test(agents_get_what_shall_be_open),
        cmocka_unit_test(a_point_can_be_open_for_some_types),
        cmocka_unit_test(a_point_can_be_open_at_some_instances),
        cmocka_unit_test(each_instance_confirms_its_own_list),
        cmocka_unit_test(lists_for_many_places_are_made_again),
        cmocka_unit_test(names_with_quotes_are_written_as_json),
        cmocka_unit_test(a_switch_is_in_force_when_all_agents_have_confirmed_it),
        cmocka_unit_test(a_list_that_is_confirmed_late_counts_as_of_its_version),
        cmocka_unit_test(a_new_point_does_not_put_others_in_doubt),
        cmocka_unit_test(an_entry_point_is_closed_only_by_a_set_that_could_have_named_it),
        cmocka_unit_test(losses_are_of_agents_that_had_a_list),
        cmocka_unit_test(silent_agents_are_lost_and_then_forgotten),
        cmocka_unit_test(a_set_that_is_not_renewed_is_not_confirmed),
        cmocka_unit_test(a_refusal_holds_until_something_else_is_wished_for),
        cmocka_unit_test(off_closes_what_nobody_has_told_of_too),
        cmocka_unit_test(what_is_no_report_is_refused_with_the_reason),
        cmocka_unit_test(points_that_are_no_good_are_refused_one_by_one),
        cmocka_unit_test(limits_hold_at_their_edges),
        cmocka_unit_test(a_service_has_a_quota_of_points),
        cmocka_unit_test(hits_add_up_and_do_not_overflow),
        cmocka_unit_test(want_of_memory_is_told_and_gone_through),
        cmocka_unit_test(what_a_service_had_before_is_listed_at_once),
        cmocka_unit_test(remembering_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
