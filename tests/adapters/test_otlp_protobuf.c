#include <stdio.h>
#include <string.h>

#include "check.h"
#include "otlp_protobuf_text.h"
#include "pythia/adapter.h"
#include "pythia/mem.h"

static const char plain[] =
    "1{1{1{1'service.name' 2{1'users'}} 1{1'host.name' 2{1'h1'}}"
    "    1{1'service.instance.id' 2{1'i1'}} 1{1'region' 2{1'eu'}} 2=0}"
    "  2{1{1'lib' 2'1'}"
    "    2{1#5b8efff798038103d269b633813fc60c 2#eee19b7ec3c1b174 3'a=b' 4#eee19b7ec3c1b173"
    "      5'GET /users/17' 6=2 7!1544712660000000000 8!1544712661000000500"
    "      9{1'n' 2{3=42}} 10=0 12=0 13{1#01 2#02} 14=0 15{2'no' 3=2} 16~256}"
    "    2{1#5b8efff798038103d269b633813fc60c 2#eee19b7ec3c1b175 4#eee19b7ec3c1b174 5'query' 6=3"
    "      7!1544712660100000000 8!1544712660200000000 15{}}"
    "    3'schema'} 3'schema'}";

static void a_traces_data_is_read(void **state)
{
    struct collection c;
    collect_message(&c, plain);
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_trace(&c, i, UINT64_C(0x5b8efff798038103), UINT64_C(0xd269b633813fc60c));
        assert_resource(&c, i, "users", "h1", "i1");
        assert_text_in(&c, resource_at(&c, i).attributes, "region", "eu");
        assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_WHOLE);
    }
    assert_true(span_at(&c, 0)->id == UINT64_C(0xeee19b7ec3c1b174));
    assert_true(span_at(&c, 0)->parent == UINT64_C(0xeee19b7ec3c1b173));
    assert_true(span_at(&c, 1)->parent == UINT64_C(0xeee19b7ec3c1b174));
    assert_times(&c, 0, UINT64_C(1544712660000000000), 1000000500);
    assert_times(&c, 1, UINT64_C(1544712660100000000), 100000000);
    assert_int_equal(span_at(&c, 0)->kind, PYTHIA_SPAN_SERVER);
    assert_int_equal(span_at(&c, 0)->relation, PYTHIA_RELATION_CALL);
    assert_int_equal(span_at(&c, 1)->kind, PYTHIA_SPAN_CLIENT);
    assert_int_equal(span_at(&c, 1)->relation, PYTHIA_RELATION_UNKNOWN);
    assert_true(span_at(&c, 0)->error);
    assert_false(span_at(&c, 1)->error);
    assert_tracepoint(&c, 0, "users:lib:GET /users/{id}");
    assert_tracepoint(&c, 1, "users:lib:query");
    assert_int_equal(attribute_count(&c, 0), 1);
    assert_integer(&c, 0, "n", 42);
    collection_close(&c);
}

/* Protobuf lets the fields of a message stand in any order. */
static void what_is_around_spans_may_stand_behind_them(void **state)
{
    static const char resource[] = "1{1{2{1's'} 1'service.name'}}";
    static const char scope[] = "1{1'lib'}";
    static const char spans[] = "2{8!9 7!5 5'o' 2#0000000000000002 "
                                "1#00000000000000000000000000000001}";
    for (int order = 0; order < 4; order++) {
        struct pythia_buf text = {0}, inner = {0};
        struct collection c;
        pythia_buf_printf(&inner, "2{%s %s}", order & 1 ? spans : scope, order & 1 ? scope : spans);
        pythia_buf_printf(&text, "1{%s %s}", order & 2 ? inner.bytes : resource,
                          order & 2 ? resource : inner.bytes);
        collect_message(&c, text.bytes);
        assert_problems(&c, "");
        assert_int_equal(c.count, 1);
        assert_tracepoint(&c, 0, "s:lib:o");
        assert_times(&c, 0, 5, 4);
        pythia_buf_free(&inner);
        pythia_buf_free(&text);
        collection_close(&c);
    }
}

/* Two messages behind each other are one with what both hold. */
static void several_resources_and_scopes_are_kept_apart(void **state)
{
    struct collection c;
    collect_message(&c, "1{1{1{1'service.name' 2{1'a'}}} 2{1{1'x'} 2{" NEEDS " 5'o'}}"
                        "  2{2{" NEEDS " 5'o'}}} 1{2{1{} 2{" NEEDS " 5'o'}}} 1{}"
                        "1{1{} 2{} 2{1{1'y'} 2{" NEEDS " 5'o'}}}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 4);
    assert_tracepoint(&c, 0, "a:x:o");
    assert_tracepoint(&c, 1, "a:o");
    assert_tracepoint(&c, 2, "o");
    assert_tracepoint(&c, 3, "y:o");
    collection_close(&c);
}

static void the_spans_of_old_versions_are_read(void **state)
{
    struct collection c;
    collect_message(&c, "1{1000{1{1'old' 2'0.1'} 2{" NEEDS " 5'o'}}}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_tracepoint(&c, 0, "old:o");
    collection_close(&c);
}

/* ---- values ---- */

static void values_of_every_kind_become_attributes(void **state)
{
    struct collection c;
    collect_span_with(&c, "9{1's' 2{1'text'}} 9{1'b' 2{2=1}} 9{1'no' 2{2=0}}"
                          "9{1'i' 2{3=-9223372036854775808}} 9{1'max' 2{3=9223372036854775807}}"
                          "9{1'd' 2{4:0.5}} 9{1'nan' 2{4:nan}} 9{1'inf' 2{4:-inf}}"
                          "9{1'bytes' 2{7#0001}} 9{1'bytes3' 2{7#fbff00}} 9{1'bytes1' 2{7#ff}}"
                          "9{1'a' 2{5{1{3=1} 1{1'x'} 1{2=1} 1{4:0.1} 1{7#0001} 1{} 1{5{1{3=7}}}"
                          "              1{6{1{1'k' 2{3=8}}}} 1{2=0}}}}"
                          "9{1'none' 2{5{}}}"
                          "9{1'kv' 2{6{1{1'in' 2{3=1}} 1{1'deep' 2{6{1{1'er' 2{1'y'}}}}}}}}"
                          "9{2{3=5} 1'behind'} 9{1'empty' 2{}} 9{1'no value'} 9{2{3=6}} 9{}");
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 16);
    assert_text(&c, 0, "s", "text");
    assert_truth(&c, 0, "b", 1);
    assert_truth(&c, 0, "no", 0);
    assert_integer(&c, 0, "i", (double)INT64_MIN);
    assert_integer(&c, 0, "max", (double)INT64_MAX);
    assert_real(&c, 0, "d", 0.5);
    assert_real(&c, 0, "nan", NAN);
    assert_real(&c, 0, "inf", -INFINITY);
    assert_text(&c, 0, "bytes", "AAE=");
    assert_text(&c, 0, "bytes3", "+/8A");
    assert_text(&c, 0, "bytes1", "/w==");
    assert_text(&c, 0, "a", "1,x,true,0.1,AAE=,false");
    assert_text(&c, 0, "none", "");
    assert_integer(&c, 0, "kv.in", 1);
    assert_text(&c, 0, "kv.deep.er", "y");
    assert_integer(&c, 0, "behind", 5);
    collection_close(&c);
}

/* A key that has come is found in a cache, and one that is as long and begins and ends alike is
 * another. */
static void keys_that_come_again_are_the_same_and_others_are_not(void **state)
{
    struct collection c;
    collect_span_with(&c, "9{1'server.address.x.name' 2{3=1}} 9{1'server.address.y.name' 2{3=2}}"
                          "9{1'server.address.x.name' 2{1'z'}} 9{1'' 2{3=3}} 9{1'' 2{1'e'}}"
                          "9{1'ab' 2{3=4}} 9{1'bb' 2{3=5}} 9{1'ab' 2{4:6}} 9{1'bb' 2{2=1}}");
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 9);
    assert_text(&c, 0, "server.address.x.name", "z");
    assert_integer(&c, 0, "server.address.y.name", 2);
    assert_text(&c, 0, "", "e");
    assert_real(&c, 0, "ab", 6);
    assert_truth(&c, 0, "bb", 1);
    collection_close(&c);
}

/* Keys that a cache of a thousand entries takes for each other, if it is not careful: of one size
 * and alike but at their ends, and of every size and made of one letter. */
static void no_key_is_taken_for_another(void **state)
{
    enum { KEYS = 3000 };
    for (int by_size = 0; by_size < 2; by_size++) {
        struct pythia_buf fields = {0};
        struct collection c;
        static char letters[KEYS];
        memset(letters, 'a', sizeof(letters));
        for (int i = 0; i < 2 * KEYS; i += by_size ? 2 : 1) /* twice, or once and others between */
            if (by_size)
                pythia_buf_printf(&fields, "9{1'%.*s' 2{3=%d}}", i % KEYS, letters, i % KEYS);
            else
                pythia_buf_printf(&fields, "9{1'sixteen.letters.%05d' 2{3=%d}}", i % KEYS,
                                  i % KEYS);
        collect_span_with(&c, fields.bytes);
        assert_problems(&c, "");
        struct pythia_text rest = attributes_at(&c, 0);
        struct pythia_attribute a = {0};
        for (int i = 0; i < 2 * KEYS; i += by_size ? 2 : 1) {
            char expected[32];
            assert_true(pythia_attributes_next(&rest, &a));
            assert_int_equal(a.integer, i % KEYS);
            struct pythia_text key = pythia_vocabulary_text(c.vocabulary, a.key);
            snprintf(expected, sizeof(expected), "sixteen.letters.%05d", i % KEYS);
            if (by_size)
                assert_int_equal(key.size, i % KEYS);
            else
                assert_string_equal(key.bytes, expected);
        }
        collection_close(&c);
        pythia_buf_free(&fields);
    }
}

/* What a message is read as by a new decoder, which has no key in its cache: a line a span, and the
 * sentences of the faults. */
static void print_attributes(struct pythia_buf *to, struct collection *c,
                             struct pythia_text message)
{
    struct pythia_attribute a = {0};
    c->count = c->attributes.size = c->problems.size = 0;
    c->counts = (struct pythia_counts){0};
    collect_bytes(c, FORMAT, message, 0);
    assert_int_equal(c->status, PYTHIA_OK);
    pythia_buf_clear(to);
    for (size_t i = 0; i < c->count; i++, pythia_buf_putc(to, '\n'))
        for (struct pythia_text rest = attributes_at(c, i); pythia_attributes_next(&rest, &a);) {
            pythia_buf_printf(to, "%u %d %lld %a ", a.key, (int)a.kind, (long long)a.integer,
                              a.real);
            if (a.kind == PYTHIA_ATTRIBUTE_TEXT)
                pythia_buf_text_add(to, a.text);
        }
    pythia_buf_printf(to, "%s%llu", c->problems.bytes,
                      (unsigned long long)c->counts.repaired[PYTHIA_REPAIR_ENCODING]);
}

/* Key-values whose keys are known are read by another way, which is quicker: with any byte of them
 * changed, to any other, both ways come to the same. */
static void the_quick_way_is_as_strict_as_the_other(void **state)
{
    static const char *const texts[] = {
        "1'k' 2{1'text'}",   "1'k' 2{1''}",         "1'k' 2{2=1}",    "1'k' 2{3=5}",
        "1'k' 2{3=-1}",      "1'k' 2{4:-2}",        "1'k' 2{5{}}",    "1'k' 2{}",
        "1'k' 2{3=300 3=1}", "1'k' 2{1'a'} 2{3=7}", "1'k' 2{<1205>}",
    };
    struct pythia_buf known = {0}, unknown = {0};
    struct collection c;
    collection_open(&c);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pythia_buf fields = {0}, pair = protobuf_of(texts[i]);
        pythia_buf_printf(&fields, "1{2{1{} 2{" NEEDS " 9{1'k' 2{3=1}}} 2{" NEEDS " 9{%s}}}}",
                          texts[i]);
        struct pythia_buf message = protobuf_of(fields.bytes);
        char *first = message.bytes + 49, *end = message.bytes + message.size;
        assert_int_equal(*first, 'k'); /* the first span's key */
        for (char *at = end - pair.size; at < end; at++) {
            char was = *at;
            for (int byte = 0; byte < 256; byte++) {
                *at = (char)byte;
                *first = 'k';
                print_attributes(&known, &c, pythia_buf_text(&message));
                *first = 'x';
                print_attributes(&unknown, &c, pythia_buf_text(&message));
                /* they differ in the number of the first span's key, and in nothing else */
                if (strcmp(strchr(known.bytes, ' '), strchr(unknown.bytes, ' ')) != 0)
                    fail_msg("%s, %d bytes from its end %02x: %s, but of a new key %s", texts[i],
                             (int)(end - at), (unsigned)byte, known.bytes, unknown.bytes);
            }
            *at = was;
        }
        pythia_buf_free(&message);
        pythia_buf_free(&fields);
        pythia_buf_free(&pair);
    }
    pythia_buf_free(&known);
    pythia_buf_free(&unknown);
    collection_close(&c);
}

/* The first byte of a size of two says, by itself, just how many bytes are left: what follows is
 * another size, and not a letter of the key or the value's member. */
static void the_first_byte_of_a_size_is_not_taken_for_all_of_it(void **state)
{
    struct pythia_buf fields = {0};
    struct collection c;
    pythia_buf_puts(&fields, "9{1#01");
    for (int i = 0; i < 128; i++)
        pythia_buf_puts(&fields, "61");
    pythia_buf_puts(&fields, " 2{3=5}} 9{<0a8101");
    for (int i = 0; i < 128; i++)
        pythia_buf_puts(&fields, "61");
    pythia_buf_puts(&fields, "12021805>}"); /* the key has 129 bytes: 12 is the last of them */
    collect_span_with(&c, fields.bytes);
    assert_problems(&c, "0:320: there is no field 0\n");
    collection_close(&c);
    pythia_buf_clear(&fields);
    pythia_buf_puts(&fields, "9{1'k' 2{3=5}} 9{<0a016b12c80ac6");
    for (int i = 0; i < 198; i++)
        pythia_buf_puts(&fields, "61");
    pythia_buf_puts(&fields, ">}");
    collect_span_with(&c, fields.bytes);
    assert_problems(&c, "0:61: field 2 of 1352 bytes in a message that ends 199 bytes on\n");
    collection_close(&c);
    pythia_buf_free(&fields);
}

/* Each value twice: its key is new the first time, and known the second. Sizes around those that
 * take a byte more. */
static void texts_of_every_size_are_read(void **state)
{
    for (size_t size = 0; size < 300; size = size < 110 ? size + 10 : size + 1) {
        struct pythia_buf fields = {0}, text = {0};
        struct collection c;
        for (size_t i = 0; i < size; i++)
            pythia_buf_putc(&text, (char)('a' + i % 26));
        pythia_buf_printf(&fields, "9{1'k' 2{1'%.*s'}} 9{1'k' 2{1'%.*s'}} 9{1'n' 2{3=%zu}}",
                          (int)size, text.bytes ? text.bytes : "", (int)size,
                          text.bytes ? text.bytes : "", size);
        collect_span_with(&c, fields.bytes);
        assert_problems(&c, "");
        struct pythia_text rest = attributes_at(&c, 0);
        struct pythia_attribute first = {0}, second = {0}, third = {0};
        assert_true(pythia_attributes_next(&rest, &first));
        assert_true(pythia_attributes_next(&rest, &second));
        assert_true(pythia_attributes_next(&rest, &third));
        assert_true(pythia_text_equal(first.text, second.text));
        assert_int_equal(first.text.size, size <= 160 ? size : 160 - 20 + 20);
        assert_memory_equal(first.text.bytes, text.bytes ? text.bytes : "",
                            size <= 160 ? size : 140);
        assert_int_equal(third.integer, size);
        collection_close(&c);
        pythia_buf_free(&fields);
        pythia_buf_free(&text);
    }
}

static void a_long_text_is_cut_and_still_differs_from_others(void **state)
{
    struct pythia_attribute found[2];
    struct collection c[2];
    for (int i = 0; i < 2; i++) {
        struct pythia_buf fields = {0};
        pythia_buf_puts(&fields, "9{1'k' 2{1'");
        for (int k = 0; k < 500; k++)
            pythia_buf_puts(&fields, "\xC3\xA9");
        pythia_buf_printf(&fields, "%d'}}", i);
        collect_span_with(&c[i], fields.bytes);
        assert_true(find_attribute(&c[i], attributes_at(&c[i], 0), "k", &found[i]));
        assert_true(found[i].text.size <= 160);
        assert_int_equal(c[i].counts.repaired[PYTHIA_REPAIR_ENCODING], 0);
        pythia_buf_free(&fields);
    }
    assert_false(pythia_text_equal(found[0].text, found[1].text));
    for (int i = 0; i < 2; i++)
        collection_close(&c[i]);
}

static void events_become_attributes_below_their_names(void **state)
{
    struct collection c;
    collect_span_with(&c, "11{1!8 2'retry' 3{1'k' 2{3=1}} 4=0} 11{2'done'} 11{3{1'lost' 2{3=1}}}"
                          "11{3{1'k' 2{1'front'}} 2'late'} 11{}");
    assert_problems(&c, "");
    assert_int_equal(attribute_count(&c, 0), 5);
    assert_truth(&c, 0, "event.retry", 1);
    assert_integer(&c, 0, "event.retry.k", 1);
    assert_truth(&c, 0, "event.done", 1);
    assert_truth(&c, 0, "event.late", 1);
    assert_text(&c, 0, "event.late.k", "front");
    collection_close(&c);
}

static void kinds_and_codes_are_those_of_the_protocol(void **state)
{
    static const struct {
        const char *fields;
        enum pythia_span_kind kind;
        enum pythia_span_relation relation;
        bool error;
    } cases[] = {
        {"", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"6=0", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"6=1", PYTHIA_SPAN_INTERNAL, PYTHIA_RELATION_UNKNOWN, false},
        {"6=2", PYTHIA_SPAN_SERVER, PYTHIA_RELATION_CALL, false},
        {"6=3", PYTHIA_SPAN_CLIENT, PYTHIA_RELATION_UNKNOWN, false},
        {"6=4", PYTHIA_SPAN_PRODUCER, PYTHIA_RELATION_UNKNOWN, false},
        {"6=5", PYTHIA_SPAN_CONSUMER, PYTHIA_RELATION_SPAWN, false},
        {"6=6", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"6=-1", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"6=4294967298", PYTHIA_SPAN_SERVER, PYTHIA_RELATION_CALL, false}, /* an enum has 32 bits */
        {"15{3=2}", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, true},
        {"15{3=1}", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"15{3=-2}", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
        {"15{1=2 2'text'}", PYTHIA_SPAN_UNKNOWN, PYTHIA_RELATION_UNKNOWN, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collection c;
        collect_span_with(&c, cases[i].fields);
        assert_problems(&c, "");
        assert_int_equal(span_at(&c, 0)->kind, cases[i].kind);
        assert_int_equal(span_at(&c, 0)->relation, cases[i].relation);
        assert_int_equal(span_at(&c, 0)->error, cases[i].error);
        collection_close(&c);
    }
}

static void a_span_without_an_end_is_not_finished(void **state)
{
    struct collection c;
    collect_span_with(&c, "");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_times(&c, 0, 5, 0);
    collection_close(&c);
    collect_span_with(&c, "8!0");
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_START);
    assert_times(&c, 0, 5, 0);
    collection_close(&c);
    collect_span_with(&c, "8!2"); /* clocks are what they are */
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WHOLE);
    assert_times(&c, 0, 5, -3);
    collection_close(&c);
    collect_span_with(&c, "7!0 8!9223372036854775807"); /* the year 2262, after 1970 */
    assert_times(&c, 0, 0, INT64_MAX);
    collection_close(&c);
}

static void a_root_with_the_id_of_its_trace_is_a_parent(void **state)
{
    struct collection c;
    collect_message(&c, "1{2{2{1#000000000000000000000000000000ab 2#00000000000000ab 7!1}"
                        "    2{" NEEDS " 4#00000000000000ab}}}");
    assert_int_equal(c.count, 2);
    assert_true(span_at(&c, 0)->id != pythia_span_id_fold(0, 0xab));
    assert_true(span_at(&c, 1)->parent == span_at(&c, 0)->id);
    collection_close(&c);
}

/* ---- what is unknown, and what stands twice ---- */

/* Of every type, with numbers that later versions may give away, in every message. */
static void unknown_fields_are_passed_over(void **state)
{
#define UNKNOWN " 90=1 91!2 92'three' 93~4 536870911{90=5} "
    struct collection c;
    collect_message(&c, UNKNOWN "1{" UNKNOWN "1{" UNKNOWN "1{" UNKNOWN "1'service.name' 2{" UNKNOWN
                                "1's' 90=1}}} 2{" UNKNOWN "1{" UNKNOWN "1'lib'" UNKNOWN
                                "} 2{" UNKNOWN NEEDS UNKNOWN "5'o' 9{" UNKNOWN "1'a' 2{5{" UNKNOWN
                                "1{" UNKNOWN "3=1}}}}"
                                "9{1'kv' 2{6{" UNKNOWN "1{1'x' 2{3=2}}}}} 11{" UNKNOWN
                                "2'e'} 15{" UNKNOWN "3=2}}}}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_tracepoint(&c, 0, "s:lib:o");
    assert_text(&c, 0, "a", "1");
    assert_integer(&c, 0, "kv.x", 2);
    assert_truth(&c, 0, "event.e", 1);
    assert_true(span_at(&c, 0)->error);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], 0);
    collection_close(&c);
}

/* Of a scalar the last counts, messages are merged. */
static void what_stands_twice_is_as_protobuf_has_it(void **state)
{
    struct collection c;
    collect_message(&c, "1{1{1{1'service.name' 2{1'a'}} 1{1'host.name' 2{1'h'}}}"
                        "  1{1{1'service.name' 2{1'b'}}}"
                        "  2{1{1'x'} 1{2'9'} 1{1'lib'}"
                        "    2{" NEEDS " 1#5b8efff798038103d269b633813fc60c 2#eee19b7ec3c1b174"
                        "      4#0000000000000001 4#0000000000000002 5'p' 5'o' 6=3 6=2 7!6 8!1 8!9"
                        "      15{3=2} 15{2'no code'}"
                        "      9{1'j' 1'k' 2{3=1} 2{3=2}}" /* the value's last member */
                        "      9{1'one' 2{1't' 3=7}}"
                        "      9{1'merged' 2{5{1{3=1}}} 2{5{1{3=2}} 5{1{3=3}}}}"
                        "      9{1'reset' 2{5{1{3=1}} 3=7 5{1{3=2}} 90=1 5{1{3=4}}}}"
                        "      9{1'kv' 2{6{1{1'x' 2{3=1}}}} 2{6{1{1'y' 2{3=2}}}}}"
                        "      9{1'nothing' 2{1'x'} 2{}}"
                        "      11{2'e' 2'f'}}}}");
    assert_problems(&c, "");
    assert_int_equal(c.count, 1);
    assert_resource(&c, 0, "b", "h", "");
    assert_tracepoint(&c, 0, "b:lib:o");
    assert_trace(&c, 0, UINT64_C(0x5b8efff798038103), UINT64_C(0xd269b633813fc60c));
    assert_true(span_at(&c, 0)->id == UINT64_C(0xeee19b7ec3c1b174));
    assert_int_equal(span_at(&c, 0)->parent, 2);
    assert_int_equal(span_at(&c, 0)->kind, PYTHIA_SPAN_SERVER);
    assert_times(&c, 0, 6, 3);
    assert_true(span_at(&c, 0)->error);
    assert_int_equal(attribute_count(&c, 0), 8);
    assert_integer(&c, 0, "k", 2);
    assert_integer(&c, 0, "one", 7);
    assert_text(&c, 0, "merged", "1,2,3");
    assert_text(&c, 0, "reset", "2,4");
    assert_integer(&c, 0, "kv.x", 1);
    assert_integer(&c, 0, "kv.y", 2);
    assert_text(&c, 0, "nothing", "x");
    assert_truth(&c, 0, "event.f", 1);
    collection_close(&c);
}

/* A key-value of 1 MiB, the limit, and one with a byte more; and what a thousand small ones have
 * together. */
static void what_is_put_together_is_limited(void **state)
{
    enum { LIMIT = 1 << 20 };
    for (int size = LIMIT - 1; size <= LIMIT + 1; size++) {
        struct pythia_buf fields = {0};
        struct collection c;
        /* 3 bytes of key; 1 + 3 + 1 + 3 bytes around the first text, 4 + 1 of the second */
        pythia_buf_puts(&fields, "9{1'k' 2{1'");
        for (int i = 0; i < size - 3 - 8 - 5; i++)
            pythia_buf_putc(&fields, 'x');
        pythia_buf_puts(&fields, "'} 2{1'y'}}");
        collect_span_with(&c, fields.bytes);
        assert_int_equal(c.count, size <= LIMIT);
        assert_problems(
            &c, size <= LIMIT ? "" : "0:53: values in pieces have more than 1048576 bytes\n");
        if (size <= LIMIT)
            assert_text(&c, 0, "k", "y");
        collection_close(&c);
        pythia_buf_free(&fields);
    }
    for (int count = 80659; count <= 80660; count++) { /* of 13 bytes each: 1048567, 1048580 */
        struct pythia_buf fields = {0};
        struct collection c;
        for (int i = 0; i < count; i++)
            pythia_buf_puts(&fields, "9{1'k' 2{1'x'} 2{1'y'}}");
        collect_span_with(&c, fields.bytes);
        assert_int_equal(c.count, count == 80659);
        collection_close(&c);
        pythia_buf_free(&fields);
    }
}

static void what_holds_no_spans_is_counted(void **state)
{
    static const struct {
        const char *text;
        uint64_t not_a_trace;
    } cases[] = {{"", 0},        {"1{}", 0},         {"1{1{1{1'k' 2{1'v'}}}}", 0},
                 {"1{2{}}", 0},  {"2{1'other'}", 1}, {"90=1 91'x'", 1},
                 {"90=1 1{}", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct collection c;
        collect_message(&c, cases[i].text);
        assert_problems(&c, "");
        assert_int_equal(c.count, 0);
        assert_int_equal(c.counts.dropped[PYTHIA_DROP_NOT_A_TRACE], cases[i].not_a_trace);
        collection_close(&c);
    }
}

static uint64_t count_of(struct pythia_text input)
{
    struct pythia_span_count count = {0};
    pythia_adapter_named(FORMAT)->count(&count, input.bytes, input.size);
    return count.spans;
}

static void spans_are_counted_without_being_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t spans;
    } cases[] = {{plain, 2},
                 {"", 0},
                 {"1{1{2{}} 2{1{} 3'x'}}", 0}, /* 2 in a resource is none */
                 {"1{2{2{}}} 2{2{2{}}} 7=3 1{1000{2{} 2{2{}}} 2{2'not even a span' 2=5}}", 4}};
    struct pythia_buf framed = {0};
    uint64_t all = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf message = protobuf_of(cases[i].text);
        assert_int_equal(count_of(pythia_buf_text(&message)), cases[i].spans);
        const char size[] = {0, 0, (char)(message.size >> 8), (char)message.size};
        pythia_buf_add(&framed, size, sizeof(size));
        pythia_buf_text_add(&framed, pythia_buf_text(&message));
        all += cases[i].spans;
        pythia_buf_free(&message);
    }
    assert_int_equal(count_of(pythia_buf_text(&framed)), all);
    uint64_t before = 0;
    for (size_t size = 0; size < framed.size;
         size++) { /* one that ends early, in memory of its own */
        char *bytes = pythia_strndup(framed.bytes, size);
        uint64_t spans = count_of((struct pythia_text){bytes, size});
        assert_true(spans >= before && spans <= all);
        before = spans > before ? spans : before;
        pythia_free(bytes);
    }
    pythia_buf_free(&framed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traces_data_is_read),
        cmocka_unit_test(what_is_around_spans_may_stand_behind_them),
        cmocka_unit_test(several_resources_and_scopes_are_kept_apart),
        cmocka_unit_test(the_spans_of_old_versions_are_read),
        cmocka_unit_test(values_of_every_kind_become_attributes),
        cmocka_unit_test(keys_that_come_again_are_the_same_and_others_are_not),
        cmocka_unit_test(no_key_is_taken_for_another),
        cmocka_unit_test(the_quick_way_is_as_strict_as_the_other),
        cmocka_unit_test(the_first_byte_of_a_size_is_not_taken_for_all_of_it),
        cmocka_unit_test(texts_of_every_size_are_read),
        cmocka_unit_test(a_long_text_is_cut_and_still_differs_from_others),
        cmocka_unit_test(events_become_attributes_below_their_names),
        cmocka_unit_test(kinds_and_codes_are_those_of_the_protocol),
        cmocka_unit_test(a_span_without_an_end_is_not_finished),
        cmocka_unit_test(a_root_with_the_id_of_its_trace_is_a_parent),
        cmocka_unit_test(unknown_fields_are_passed_over),
        cmocka_unit_test(what_stands_twice_is_as_protobuf_has_it),
        cmocka_unit_test(what_is_put_together_is_limited),
        cmocka_unit_test(what_holds_no_spans_is_counted),
        cmocka_unit_test(spans_are_counted_without_being_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
