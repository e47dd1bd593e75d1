#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/redaction.h"
#include "pythia/status.h"

#define RULES(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static struct pythia_vocabulary *v;
static const struct pythia_hash_key key = {{1, 2, 3}};

static int make_vocabulary(void **state)
{
    return pythia_vocabulary_create(&v);
}

static int free_vocabulary(void **state)
{
    pythia_vocabulary_destroy(v);
    return 0;
}

static struct pythia_redaction *redaction_of(const char *const *rules, size_t count)
{
    struct pythia_redaction *r = NULL;
    assert_int_equal(pythia_redaction_create(v, rules, count, &key, &r, NULL), PYTHIA_OK);
    return r;
}

static int of_name(struct pythia_redaction *r, const char *name)
{
    return (int)pythia_redaction_of_name(r, pythia_text_of(name));
}

static void the_first_rule_that_fits_holds(void **state)
{
    struct pythia_redaction *r =
        redaction_of(RULES("a.keep:keep", " a.* : drop", "*b*c*:hash", "q?:hash", "x:y:drop"));
    static const struct {
        const char *name;
        enum pythia_redact by;
    } all[] = {{"a.keep", PYTHIA_REDACT_KEEP},    {"A.Keep", PYTHIA_REDACT_KEEP},
               {"a.keeps", PYTHIA_REDACT_DROP},   {"a.", PYTHIA_REDACT_DROP},
               {"a", PYTHIA_REDACT_KEEP},         {"ba.c", PYTHIA_REDACT_HASH},
               {"xxbyybzcz", PYTHIA_REDACT_HASH}, {"cb", PYTHIA_REDACT_KEEP},
               {"q", PYTHIA_REDACT_KEEP},         {"q1", PYTHIA_REDACT_HASH},
               {"q12", PYTHIA_REDACT_KEEP},       {"x:y", PYTHIA_REDACT_DROP},
               {"", PYTHIA_REDACT_KEEP},          {"größe", PYTHIA_REDACT_KEEP}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (of_name(r, all[i].name) != (int)all[i].by)
            fail_msg("%s: %d", all[i].name, of_name(r, all[i].name));
    pythia_redaction_destroy(r);
}

static void default_stands_for_rules_and_off_ends_them(void **state)
{
    struct pythia_redaction *r = redaction_of(RULES("db.statement: keep", "default"));
    static const char *const
        dropped[] = {"password",      "user.Password", "DB_PASSWD",
                     "client_secret", "token",         "http.request.header.authorization",
                     "Cookie",        "x-api-key",     "X_API_KEY",
                     "apikey",        "aws.access_key"},
        *const hashed[] = {"db.query.text", "user.email", "enduser.id", "info.db.statement"},
        *const kept[] = {
            "db.statement", "tenant",  "queue_length", "http.route", "gen_ai.usage.input_tokens",
            "project",      "url.path"};
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
        assert_int_equal(of_name(r, dropped[i]), PYTHIA_REDACT_DROP);
    for (size_t i = 0; i < sizeof(hashed) / sizeof(hashed[0]); i++)
        assert_int_equal(of_name(r, hashed[i]), PYTHIA_REDACT_HASH);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        assert_int_equal(of_name(r, kept[i]), PYTHIA_REDACT_KEEP);
    pythia_redaction_destroy(r);
    r = redaction_of(RULES("a: drop", " off", "default"));
    assert_int_equal(of_name(r, "a"), PYTHIA_REDACT_DROP);
    assert_int_equal(of_name(r, "password"), PYTHIA_REDACT_KEEP);
    pythia_redaction_destroy(r);
    assert_null(redaction_of(RULES("off", "a: drop")));
    assert_null(redaction_of(NULL, 0));
    assert_true(pythia_redaction_hashes(RULES("default")));
    assert_false(pythia_redaction_hashes(RULES("a: drop", "off", "default")));
    for (const char *const *rule = pythia_redaction_defaults(); *rule; rule++)
        assert_int_equal(pythia_redaction_check(*rule, NULL), PYTHIA_OK);
}

static void a_rule_that_is_none_is_told(void **state)
{
    static const char *const wrong[] = {
        "", ":", "a", "a:", ":drop", "a:hide", "a: DROP", "defaults"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pythia_error e = {0};
        struct pythia_redaction *r = NULL;
        assert_int_equal(pythia_redaction_create(v, &wrong[i], 1, &key, &r, &e), PYTHIA_EUSAGE);
        assert_non_null(strstr(e.sentence,
                               "is not a rule: expected KEY-PATTERN: keep, url, hash or "
                               "drop"));
        assert_null(r);
    }
}

/* The attributes of OpenTelemetry's conventions for HTTP, databases, RPC and messaging, stable ones
 * and those of before, with a value of each as programs send it. What becomes of it: "" if it is
 * left out, "#" if it is hashed, NULL if it stays. */
static const struct {
    const char *name, *value, *left;
} conventions[] = {
    /* HTTP and URLs */
    {"http.request.method", "GET", NULL},
    {"http.request.method_original", "GeT", NULL},
    {"http.response.status_code", "503", NULL},
    {"http.request.body.size", "3495", NULL},
    {"http.response.body.size", "3495", NULL},
    {"http.request.size", "1437", NULL},
    {"http.response.size", "1437", NULL},
    {"http.request.resend_count", "3", NULL},
    {"http.connection.state", "active", NULL},
    {"http.route", "/users/:id", NULL},
    {"http.request.header.content-type", "application/json", NULL},
    {"http.request.header.authorization", "Bearer zz91", ""},
    {"http.request.header.cookie", "sid=1", ""},
    {"http.response.header.set-cookie", "sid=1", ""},
    {"http.request.header.x-api-key", "k-7781", ""},
    {"http.request.header.x-forwarded-for", "192.0.2.7", "#"},
    {"http.request.header.forwarded", "for=192.0.2.7", "#"},
    {"http.request.header.x-real-ip", "192.0.2.7", "#"},
    {"http.request.header.referer", "https://a.b/c?mail=x", "https://a.b/c"},
    {"http.response.header.location", "/login?to=x", "/login"},
    {"http.method", "GET", NULL},
    {"http.status_code", "200", NULL},
    {"http.target", "/quota/acme?card=5500#top", "/quota/acme"},
    {"http.target", "/quota/acme", NULL},
    {"http.url", "https://ada:pw@shop:8443/pay/acme?card=5500", "https://shop:8443/pay/acme"},
    {"http.scheme", "https", NULL},
    {"http.host", "shop:8080", NULL},
    {"http.flavor", "1.1", NULL},
    {"http.server_name", "shop", NULL},
    {"http.user_agent", "curl/8", NULL},
    {"http.client_ip", "192.0.2.7", "#"},
    {"http.request_content_length", "12", NULL},
    {"http.response_content_length", "12", NULL},
    {"url.full", "https://shop/pay?card=5500", "https://shop/pay"},
    {"url.full", "https://shop/pay;jsessionid=77?x", "https://shop/pay"},
    {"url.full", "https://a@b:c@shop", "https://shop"},
    {"url.full", "https://shop?u=http://x@y", "https://shop"},
    {"url.full", "https://shop/who@where", NULL},
    {"url.full", "mailto?to=x", "mailto"},
    {"url.full", "", NULL},
    {"url.full", "://", NULL},
    {"url.original", "/pay?card=5500", "/pay"},
    {"url.path", "/pay/acme", NULL},
    {"url.template", "/pay/{tenant}", NULL},
    {"url.scheme", "https", NULL},
    {"url.domain", "shop", NULL},
    {"url.port", "443", NULL},
    {"url.query", "card=5500", ""},
    {"url.fragment", "token", ""},
    {"user_agent.original", "curl/8", NULL},
    {"server.address", "shop", NULL},
    {"server.port", "443", NULL},
    {"client.address", "192.0.2.7", "#"},
    {"client.port", "40112", NULL},
    {"network.peer.address", "192.0.2.7", "#"},
    {"network.peer.port", "40112", NULL},
    {"network.local.address", "192.0.2.1", NULL},
    {"network.protocol.name", "http", NULL},
    {"network.protocol.version", "2", NULL},
    {"network.transport", "tcp", NULL},
    {"net.peer.name", "store", NULL},
    {"net.peer.ip", "192.0.2.7", "#"},
    {"net.peer.port", "443", NULL},
    {"net.host.name", "shop", NULL},
    {"net.sock.peer.addr", "192.0.2.7", "#"},
    {"error.type", "timeout", NULL},
    {"session.id", "s-1", "#"},
    {"enduser.id", "ada", "#"},
    {"enduser.role", "admin", NULL},
    {"user.id", "ada", "#"},
    {"user.email", "ada@example.org", "#"},
    {"user.roles", "admin", NULL},
    /* databases */
    {"db.system.name", "postgresql", NULL},
    {"db.system", "postgresql", NULL},
    {"db.namespace", "cards", NULL},
    {"db.name", "cards", NULL},
    {"db.collection.name", "cards", NULL},
    {"db.operation.name", "SELECT", NULL},
    {"db.operation", "SELECT", NULL},
    {"db.operation.batch.size", "7", NULL},
    {"db.operation.parameter.0", "4111", NULL},
    {"db.query.summary", "SELECT cards", NULL},
    {"db.query.text", "SELECT * FROM cards WHERE n = 4111", "#"},
    {"db.query.parameter.n", "4111", "#"},
    {"db.statement", "SELECT * FROM cards WHERE n = 4111", "#"},
    {"db.stored_procedure.name", "pay", NULL},
    {"db.response.status_code", "57014", NULL},
    {"db.response.returned_rows", "10", NULL},
    {"db.sql.table", "cards", NULL},
    {"db.user", "shop_rw", "#"},
    {"db.connection_string", "Server=x;Password=y", ""},
    {"db.redis.database_index", "1", NULL},
    {"db.mongodb.collection", "cards", NULL},
    {"db.client.connection.pool.name", "main", NULL},
    {"db.client.connection.state", "idle", NULL},
    /* RPC */
    {"rpc.system", "grpc", NULL},
    {"rpc.service", "shop.Pay", NULL},
    {"rpc.method", "Charge", NULL},
    {"rpc.grpc.status_code", "14", NULL},
    {"rpc.grpc.request.metadata.authorization", "Bearer zz91", ""},
    {"rpc.grpc.request.metadata.x-tenant", "acme", NULL},
    {"rpc.connect_rpc.error_code", "not_found", NULL},
    {"rpc.jsonrpc.error_code", "-32700", NULL},
    {"rpc.message.type", "SENT", NULL},
    {"rpc.message.id", "1", NULL},
    {"rpc.message.uncompressed_size", "12", NULL},
    /* messaging */
    {"messaging.system", "kafka", NULL},
    {"messaging.operation.name", "send", NULL},
    {"messaging.operation.type", "receive", NULL},
    {"messaging.destination.name", "orders", NULL},
    {"messaging.destination.template", "/customers/{id}", NULL},
    {"messaging.destination.partition.id", "1", NULL},
    {"messaging.destination.subscription.name", "sub-a", NULL},
    {"messaging.destination.anonymous", "true", NULL},
    {"messaging.destination.temporary", "true", NULL},
    {"messaging.consumer.group.name", "billing", NULL},
    {"messaging.client.id", "client-5", NULL},
    {"messaging.message.id", "452a7c7c", NULL},
    {"messaging.message.conversation_id", "c-1", NULL},
    {"messaging.message.body.size", "1439", NULL},
    {"messaging.message.envelope.size", "2738", NULL},
    {"messaging.batch.message_count", "5", NULL},
    {"messaging.kafka.message.key", "acme", NULL},
    {"messaging.kafka.offset", "42", NULL},
    {"messaging.rabbitmq.destination.routing_key", "orders.eu", NULL},
    {"messaging.rocketmq.message.tag", "t", NULL},
    {"messaging.servicebus.message.delivery_count", "2", NULL},
};

static uint32_t string(const char *text);

static void the_default_hides_secrets_and_not_the_answer(void **state)
{
    struct pythia_redaction *r = redaction_of(RULES("default"));
    struct pythia_redaction_work work = {0};
    struct pythia_counts counts = {0};
    for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++) {
        struct pythia_buf packed = {0};
        struct pythia_attribute a = {0};
        char hash[PYTHIA_HASHED_SIZE + 1];
        struct pythia_text value = pythia_text_of(conventions[i].value);
        const char *left = conventions[i].left ? conventions[i].left : conventions[i].value;
        pythia_redaction_hash(r, value, hash);
        pythia_attributes_text(&packed, string(conventions[i].name), value);
        assert_int_equal(pythia_redaction_apply(r, &packed, &work, &counts), PYTHIA_OK);
        struct pythia_text rest = pythia_buf_text(&packed);
        bool stays = pythia_attributes_next(&rest, &a);
        bool dropped = conventions[i].left && !conventions[i].left[0];
        if (stays == dropped ||
            (stays && !pythia_text_equal(a.text, pythia_text_of(left[0] == '#' ? hash : left))))
            fail_msg("%s = %s: %.*s", conventions[i].name, conventions[i].value, (int)a.text.size,
                     stays ? a.text.bytes : "left out");
        pythia_buf_free(&packed);
    }
    pythia_redaction_work_free(&work);
    pythia_redaction_destroy(r);
}

/* What is no text has no address in it. */
static void numbers_are_no_addresses(void **state)
{
    struct pythia_redaction *r = redaction_of(RULES("default"));
    struct pythia_redaction_work work = {0};
    struct pythia_counts counts = {0};
    struct pythia_buf packed = {0};
    struct pythia_attribute a = {0};
    pythia_attributes_integer(&packed, string("http.url"), 7);
    assert_int_equal(pythia_redaction_apply(r, &packed, &work, &counts), PYTHIA_OK);
    struct pythia_text rest = pythia_buf_text(&packed);
    assert_true(pythia_attributes_next(&rest, &a));
    assert_int_equal(a.integer, 7);
    pythia_buf_free(&packed);
    pythia_redaction_work_free(&work);
    pythia_redaction_destroy(r);
}

static uint32_t string(const char *text)
{
    return pythia_vocabulary_string(v, pythia_text_of(text));
}

/* By hand: of SipHash's 64 bits the upper 48 stay, and the lower 16 are the upper ones of the hash
 * of these 48 as 8 bytes, the lowest first. */
static void values_are_kept_hashed_or_dropped(void **state)
{
    struct pythia_redaction *r = redaction_of(RULES("h*: hash", "d*: drop"));
    struct pythia_buf packed = {0};
    struct pythia_redaction_work work = {0};
    struct pythia_counts counts = {0};
    struct pythia_attribute a = {0};
    pythia_attributes_text(&packed, string("d"), PYTHIA_TEXT("secret"));
    pythia_attributes_text(&packed, string("k"), PYTHIA_TEXT("open"));
    pythia_attributes_text(&packed, string("h1"), PYTHIA_TEXT("17"));
    pythia_attributes_integer(&packed, string("h2"), 17);
    pythia_attributes_real(&packed, string("h3"), 17);
    pythia_attributes_bool(&packed, string("d2"), true);
    pythia_attributes_real(&packed, string("k2"), .5);
    assert_int_equal(pythia_redaction_apply(r, &packed, &work, &counts), PYTHIA_OK);
    assert_int_equal(counts.hashed_values, 3);
    assert_int_equal(counts.dropped[PYTHIA_DROP_REDACTED], 2);
    uint64_t head = pythia_keyed_hash(&key, "17", 2) >> 16;
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "hash:%012llx%04llx", (unsigned long long)head,
             (unsigned long long)(pythia_keyed_hash(&key, &head, 8) >> 48));
    struct pythia_text rest = pythia_buf_text(&packed);
    assert_true(pythia_attributes_next(&rest, &a));
    assert_true(a.key == string("k") && PYTHIA_TEXT_IS(a.text, "open"));
    for (int i = 0; i < 3; i++) {
        assert_true(pythia_attributes_next(&rest, &a));
        assert_int_equal(a.kind, PYTHIA_ATTRIBUTE_TEXT);
        assert_true(pythia_text_equal(a.text, pythia_text_of(wanted)));
    }
    assert_true(pythia_attributes_next(&rest, &a));
    assert_true(a.key == string("k2") && a.real == .5);
    assert_false(pythia_attributes_next(&rest, &a));
    size_t size = packed.size; /* what was done is not done again */
    assert_int_equal(pythia_redaction_apply(r, &packed, &work, &counts), PYTHIA_OK);
    assert_int_equal(packed.size, size);
    assert_int_equal(counts.hashed_values, 3);
    pythia_buf_free(&packed);
    pythia_redaction_work_free(&work);
    pythia_redaction_destroy(r);
}

/* What becomes of the value of "h" that is a text. */
static struct pythia_text hash_by(struct pythia_redaction *r, struct pythia_redaction_work *work,
                                  struct pythia_text value, struct pythia_buf *packed)
{
    struct pythia_counts counts = {0};
    struct pythia_attribute a = {0};
    pythia_buf_clear(packed);
    pythia_attributes_text(packed, string("h"), value);
    assert_int_equal(pythia_redaction_apply(r, packed, work, &counts), PYTHIA_OK);
    assert_int_equal(counts.hashed_values, 1);
    struct pythia_text rest = pythia_buf_text(packed);
    assert_true(pythia_attributes_next(&rest, &a));
    return a.text;
}

/* Far more values than are known at once, short ones and around the longest that are known, each
 * twice in turn and again later, and by another secret between: the hash is as if none had come
 * before. */
static void a_value_that_comes_again_has_the_hash_that_it_has_alone(void **state)
{
    struct pythia_hash_key another = key;
    struct pythia_redaction *by[2] = {redaction_of(RULES("h: hash")), NULL};
    struct pythia_redaction_work work = {0};
    struct pythia_buf packed = {0};
    another.bytes[15] ^= 1;
    assert_int_equal(pythia_redaction_create(v, RULES("h: hash"), &another, &by[1], NULL),
                     PYTHIA_OK);
    for (unsigned i = 0; i < 6000; i++) {
        const struct pythia_hash_key *secret = i / 1500 % 2 ? &another : &key;
        char value[64], wanted[32];
        unsigned number = i % 500;
        memset(value, 'x', sizeof(value));
        memcpy(value, &number, sizeof(number)); /* texts with a nul in them, too */
        struct pythia_text text = {
            value, number % 2 ? 4 + number % 8 : PYTHIA_REDACTION_RECENT_SIZE - 5 + number % 10};
        uint64_t head = pythia_keyed_hash(secret, text.bytes, text.size) >> 16;
        snprintf(wanted, sizeof(wanted), "hash:%012llx%04llx", (unsigned long long)head,
                 (unsigned long long)(pythia_keyed_hash(secret, &head, 8) >> 48));
        for (int again = 0; again < 2; again++)
            assert_true(pythia_text_equal(hash_by(by[i / 1500 % 2], &work, text, &packed),
                                          pythia_text_of(wanted)));
    }
    pythia_buf_free(&packed);
    pythia_redaction_work_free(&work);
    pythia_redaction_destroy(by[0]);
    pythia_redaction_destroy(by[1]);
}

static void a_key_is_treated_as_strictly_as_was_noted(void **state)
{
    struct pythia_redaction *r = redaction_of(RULES("h: hash"));
    assert_int_equal(pythia_redaction_of(r, string("h")), PYTHIA_REDACT_HASH);
    pythia_redaction_note(r, string("h"), PYTHIA_REDACT_KEEP);
    assert_int_equal(pythia_redaction_of(r, string("h")), PYTHIA_REDACT_HASH);
    pythia_redaction_note(r, string("h"), PYTHIA_REDACT_DROP);
    assert_int_equal(pythia_redaction_of(r, string("h")), PYTHIA_REDACT_DROP);
    pythia_redaction_note(r, 1u << 29, PYTHIA_REDACT_DROP); /* far beyond any other */
    assert_int_equal(pythia_redaction_of(r, 1u << 29), PYTHIA_REDACT_DROP);
    assert_int_equal(pythia_redaction_of(r, string("k")), PYTHIA_REDACT_KEEP);
    pythia_redaction_destroy(r);
}

static bool has(struct pythia_text text, const char *part)
{
    for (size_t at = 0; at + strlen(part) <= text.size; at++)
        if (memcmp(text.bytes + at, part, strlen(part)) == 0)
            return true;
    return false;
}

static void without_memory_nothing_is_left(void **state)
{
    for (long allowed = 0;; allowed++) {
        struct pythia_redaction *r = NULL;
        struct pythia_buf packed = {0};
        struct pythia_redaction_work work = {0};
        struct pythia_counts counts = {0};
        pythia_attributes_text(&packed, string("password"), PYTHIA_TEXT("secret"));
        pythia_attributes_text(&packed, string("k"), PYTHIA_TEXT("open"));
        pythia_mem_fail_after(allowed);
        int made = pythia_redaction_create(v, RULES("default"), &key, &r, NULL);
        int status = made == PYTHIA_OK ? pythia_redaction_apply(r, &packed, &work, &counts) : made;
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        if (made == PYTHIA_OK)
            assert_false(has(pythia_buf_text(&packed), "secret"));
        pythia_buf_free(&packed);
        pythia_redaction_work_free(&work);
        pythia_redaction_destroy(r);
        if (status == PYTHIA_OK)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rule_that_fits_holds),
        cmocka_unit_test(default_stands_for_rules_and_off_ends_them),
        cmocka_unit_test(a_rule_that_is_none_is_told),
        cmocka_unit_test(the_default_hides_secrets_and_not_the_answer),
        cmocka_unit_test(numbers_are_no_addresses),
        cmocka_unit_test(values_are_kept_hashed_or_dropped),
        cmocka_unit_test(a_value_that_comes_again_has_the_hash_that_it_has_alone),
        cmocka_unit_test(a_key_is_treated_as_strictly_as_was_noted),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, make_vocabulary, free_vocabulary);
}
