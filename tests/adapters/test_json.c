#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/json.h"
#include "pythia/mem.h"

/* ---- reading everything into one text ---- */

#define DEPTH_MAX 64

static void dump_scalar(struct pythia_json *j, struct pythia_buf *out, int *status)
{
    static const char kinds[] = {'n', 'b', 'i', 'r', 's'};
    struct pythia_json_value value;
    *status = pythia_json_value(j, &value);
    if (*status != PYTHIA_OK)
        return;
    pythia_buf_putc(out, kinds[value.kind]);
    if (value.kind == PYTHIA_JSON_BOOL || value.kind == PYTHIA_JSON_INTEGER)
        pythia_buf_printf(out, "%lld", (long long)value.integer);
    else if (value.kind == PYTHIA_JSON_REAL)
        pythia_buf_printf(out, "%.17g", value.real);
    else if (value.kind == PYTHIA_JSON_STRING)
        pythia_buf_printf(out, "<%.*s>", (int)value.text.size, value.text.bytes);
    pythia_buf_putc(out, ' ');
}

/* Enter a container, or read a scalar. */
static void dump_value(struct pythia_json *j, struct pythia_buf *out, char *stack, int *depth,
                       int *status)
{
    int c = pythia_json_peek(j);
    if (c != '{' && c != '[') {
        if (c > 0)
            dump_scalar(j, out, status);
        else
            *status = c < 0 ? c : PYTHIA_EINVAL;
        return;
    }
    pythia_buf_putc(out, (char)c);
    assert_true(*depth < DEPTH_MAX);
    stack[(*depth)++] = (char)c;
    *status = c == '{' ? pythia_json_object(j) : pythia_json_array(j);
}

/* One document; the key of a member stands before its value. */
static int dump_document(struct pythia_json *j, struct pythia_buf *out)
{
    char stack[DEPTH_MAX];
    int depth = 0, status = PYTHIA_OK;
    dump_value(j, out, stack, &depth, &status);
    while (status == PYTHIA_OK && depth > 0) {
        struct pythia_text key = {"", 0};
        bool object = stack[depth - 1] == '{';
        status = object ? pythia_json_field(j, &key) : pythia_json_element(j);
        if (status == 1) {
            pythia_buf_putc(out, object ? '}' : ']');
            depth--;
            status = PYTHIA_OK;
            continue;
        }
        if (status != PYTHIA_OK)
            break;
        if (object)
            pythia_buf_printf(out, "%.*s=", (int)key.size, key.bytes);
        dump_value(j, out, stack, &depth, &status);
    }
    return status;
}

/* All documents, each behind a newline; errors as "!line:offset sentence". */
static void dump(struct pythia_source *from, size_t limit, struct pythia_buf *out)
{
    struct pythia_json *j;
    int status;
    assert_int_equal(pythia_json_create(from, limit, &j), PYTHIA_OK);
    pythia_buf_clear(out);
    while ((status = pythia_json_document(j)) != 1) {
        pythia_buf_putc(out, '\n');
        if (status == 0)
            status = dump_document(j, out);
        if (status == PYTHIA_OK)
            continue;
        assert_true(status < 0);
        pythia_buf_printf(out, "!%llu:%llu %s", (unsigned long long)j->error.line,
                          (unsigned long long)j->error.offset, j->error.sentence);
        if (pythia_json_recover(j) != PYTHIA_OK)
            break;
    }
    pythia_buf_putc(out, '\0');
    assert_int_equal(pythia_buf_status(out), PYTHIA_OK);
    pythia_json_destroy(j);
}

static void assert_dump_bytes(const char *bytes, size_t size, size_t limit, const char *expected)
{
    struct pythia_buf out = {0};
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "test", bytes, size);
    dump(&memory.source, limit, &out);
    assert_string_equal(out.bytes, expected);
    pythia_buf_free(&out);
}

static void assert_dump(const char *text, const char *expected)
{
    assert_dump_bytes(text, strlen(text), 0, expected);
}

/* A cursor on a text, at its first document. */
static struct pythia_json *open_text(struct pythia_memory_source *memory, const char *text,
                                     size_t limit)
{
    struct pythia_json *j;
    pythia_memory_source_init(memory, "test", text, strlen(text));
    assert_int_equal(pythia_json_create(&memory->source, limit, &j), PYTHIA_OK);
    assert_int_equal(pythia_json_document(j), 0);
    return j;
}

/* ---- documents ---- */

static void values_of_every_kind_are_read(void **state)
{
    assert_dump("{\"a\": [null, true, false, -12, 2.5, \"x\"], \"b\": {}, \"c\": []}",
                "\n{a=[n b1 b0 i-12 r2.5 s<x> ]b={}c=[]}");
    assert_dump("", "");
    assert_dump(" \n\t\r ", "");
    assert_dump("7", "\ni7 ");
}

static void documents_need_nothing_between_them(void **state)
{
    assert_dump("{\"a\":1}{\"b\":2}\n[3][4] {}\n\n5", "\n{a=i1 }\n{b=i2 }\n[i3 ]\n[i4 ]\n{}\ni5 ");
    assert_dump("{\"a\":\"}{\"}{\"b\":\"\\\"}{\"}", "\n{a=s<}{> }\n{b=s<\"}{> }");
}

static void a_byte_order_mark_is_passed_over(void **state)
{
    assert_dump("\xEF\xBB\xBF{\"a\":1}", "\n{a=i1 }");
}

/* ---- the window ---- */

static const char mixed[] =
    "{\"name\": \"a \\\"quoted\\\" \\\\ name\", \"list\": [1, 2.5e3, -3, true, null, [], {}]}\n"
    "{\"text\":\"}{\",\"k\":{\"deep\":{\"er\":[[[\"\\u00e9\\ud83d\\ude00\"]]]}}}{\"next\":0}   \n\n"
    "   {  \"spaced\"  :  \"out   \" ,\n  \"over\" :  [ \"several\" , \"lines\" ]  }\t\r\n"
    "[\"0123456789012345678901234567890123456789\", 9223372036854775807, -9223372036854775808]"
    " {\"e\": \"\\\\\\\\\"} {\"caf\xC3\xA9\": \"\xE2\x82\xAC \xF0\x9F\x98\x80\"}";

static void tokens_are_the_same_wherever_the_window_is_cut(void **state)
{
    struct pythia_buf whole = {0}, cut = {0};
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "test", mixed, sizeof(mixed) - 1);
    dump(&memory.source, 0, &whole);
    assert_null(strchr(whole.bytes, '!'));
    for (size_t limit = 50; limit < sizeof(mixed) + 8; limit++)
        for (size_t piece = 1; piece < 80; piece += piece < 4 ? 1 : 37) {
            pythia_memory_source_init(&memory, "test", mixed, sizeof(mixed) - 1);
            memory.piece = piece;
            dump(&memory.source, limit, &cut);
            assert_string_equal(cut.bytes, whole.bytes);
        }
    pythia_buf_free(&whole);
    pythia_buf_free(&cut);
}

/* Several windows in one line: simdjson alone takes what is behind a blank for a new document. */
static void one_line_longer_than_the_window_is_read(void **state)
{
    enum { MEMBERS = 60000 };
    static const char *const forms[] = {"{\"id\": %d, \"s\": \"x y\"}",
                                        "{\"id\":%d,\"s\":\"x y\"}"};
    for (size_t form = 0; form < 2; form++) {
        struct pythia_buf text = {0};
        for (int i = 0; i < MEMBERS; i++) {
            pythia_buf_puts(&text, i ? ", " : "[");
            pythia_buf_printf(&text, forms[form], i); /* NOLINT: both forms take a number */
        }
        pythia_buf_puts(&text, "]");
        struct pythia_memory_source memory;
        pythia_memory_source_init(&memory, "test", text.bytes, text.size);
        struct pythia_json *j;
        assert_int_equal(pythia_json_create(&memory.source, 0, &j), PYTHIA_OK);
        assert_int_equal(pythia_json_array(j), PYTHIA_OK);
        struct pythia_text key, string;
        int64_t number = 0;
        for (int i = 0; i < MEMBERS; i++) {
            assert_int_equal(pythia_json_element(j), 0);
            assert_int_equal(pythia_json_object(j), PYTHIA_OK);
            assert_int_equal(pythia_json_field(j, &key), 0);
            assert_true(PYTHIA_TEXT_IS(key, "id"));
            assert_int_equal(pythia_json_int64(j, &number), PYTHIA_OK);
            assert_int_equal(number, i);
            assert_int_equal(pythia_json_field(j, &key), 0);
            assert_true(PYTHIA_TEXT_IS(key, "s"));
            assert_int_equal(pythia_json_string(j, &string), PYTHIA_OK);
            assert_true(PYTHIA_TEXT_IS(string, "x y"));
            assert_int_equal(pythia_json_field(j, &key), 1);
        }
        assert_int_equal(pythia_json_element(j), 1);
        assert_int_equal(pythia_json_document(j), 1);
        pythia_json_destroy(j);
        pythia_buf_free(&text);
    }
}

static void a_value_larger_than_the_limit_is_an_error(void **state)
{
    static const char text[] = "{\"a\":\"0123456789012345678901234567890123456789\"}\n{\"b\":1}\n";
    assert_dump_bytes(text, sizeof(text) - 1, 32,
                      "\n{!1:5 a value is larger than 32 bytes\n{b=i1 }");
    assert_dump_bytes(text, sizeof(text) - 1, 64,
                      "\n{a=s<0123456789012345678901234567890123456789> }\n{b=i1 }");
}

static void a_record_is_whole_or_larger_than_the_limit(void **state)
{
    struct pythia_memory_source memory;
    struct pythia_json *j = open_text(&memory, "[{\"a\":[1,2,3,4,5,6,7,8,9]},{\"b\":1}]", 30);
    struct pythia_text key;
    assert_int_equal(pythia_json_array(j), PYTHIA_OK);
    assert_int_equal(pythia_json_element(j), 0);
    assert_int_equal(pythia_json_whole(j), PYTHIA_OK);
    assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
    assert_int_equal(pythia_json_element(j), 0);
    assert_int_equal(pythia_json_whole(j), PYTHIA_OK);
    pythia_json_destroy(j);

    j = open_text(&memory, "[{\"a\":[1,2,3,4,5,6,7,8,9]},{\"b\":1}]", 20);
    assert_int_equal(pythia_json_array(j), PYTHIA_OK);
    assert_int_equal(pythia_json_element(j), 0);
    assert_int_equal(pythia_json_whole(j), PYTHIA_ELIMIT);
    pythia_error_clear(&j->error); /* it can still be read piece by piece */
    assert_int_equal(pythia_json_object(j), PYTHIA_OK);
    assert_int_equal(pythia_json_field(j, &key), 0);
    assert_true(PYTHIA_TEXT_IS(key, "a"));
    assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
    assert_int_equal(pythia_json_field(j, &key), 1);
    assert_int_equal(pythia_json_element(j), 0);
    assert_int_equal(pythia_json_whole(j), PYTHIA_OK);
    pythia_json_destroy(j);
}

static void a_record_that_is_cut_off_can_be_read_as_far_as_it_goes(void **state)
{
    static const char *const texts[] = {"{\"a\":1,\"b\":[2,", "{\"a\":1,\n\"b\":[2,\n\"x"};
    for (size_t i = 0; i < 2; i++) {
        struct pythia_memory_source memory;
        struct pythia_json *j = open_text(&memory, texts[i], 0);
        struct pythia_text key;
        int64_t number = 0;
        assert_int_equal(pythia_json_whole(j), PYTHIA_EFORMAT);
        pythia_error_clear(&j->error);
        assert_int_equal(pythia_json_object(j), PYTHIA_OK);
        assert_int_equal(pythia_json_field(j, &key), 0);
        assert_int_equal(pythia_json_int64(j, &number), PYTHIA_OK);
        assert_int_equal(number, 1);
        assert_int_equal(pythia_json_field(j, &key), 0);
        assert_true(PYTHIA_TEXT_IS(key, "b"));
        assert_int_equal(pythia_json_skip(j), PYTHIA_EFORMAT);
        assert_int_equal(j->error.line, i == 0 ? 1 : 3);
        pythia_json_destroy(j);
    }
}

static void a_value_can_be_read_twice(void **state)
{
    struct pythia_memory_source memory;
    struct pythia_json *j = open_text(&memory, "[[1,[\"a\"]],2]", 0);
    int64_t number = 0;
    assert_int_equal(pythia_json_whole(j), PYTHIA_OK);
    assert_int_equal(pythia_json_array(j), PYTHIA_OK);
    assert_int_equal(pythia_json_element(j), 0);
    const uint32_t *mark = pythia_json_mark(j);
    assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
    const uint32_t *behind = pythia_json_mark(j);
    pythia_json_again(j, mark);
    assert_int_equal(pythia_json_array(j), PYTHIA_OK);
    assert_int_equal(pythia_json_element(j), 0);
    assert_int_equal(pythia_json_int64(j, &number), PYTHIA_OK);
    assert_int_equal(number, 1);
    pythia_json_again(j, behind);
    assert_int_equal(pythia_json_element(j), 0);
    assert_int_equal(pythia_json_int64(j, &number), PYTHIA_OK);
    assert_int_equal(number, 2);
    assert_int_equal(pythia_json_element(j), 1);
    pythia_json_destroy(j);
}

static void the_first_key_is_seen_without_entering(void **state)
{
    static const char text[] = "   {   \"first\"   :   1, \"second\": 2}";
    for (size_t limit = 16; limit < sizeof(text); limit++) {
        struct pythia_memory_source memory;
        struct pythia_json *j = open_text(&memory, text, limit);
        struct pythia_text key;
        if (limit > 19) {
            assert_int_equal(pythia_json_first_key(j, &key), 0);
            assert_true(PYTHIA_TEXT_IS(key, "first"));
        }
        assert_int_equal(pythia_json_object(j), PYTHIA_OK);
        assert_int_equal(pythia_json_field(j, &key), 0);
        assert_true(PYTHIA_TEXT_IS(key, "first"));
        assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
        assert_int_equal(pythia_json_field(j, &key), 0);
        assert_true(PYTHIA_TEXT_IS(key, "second"));
        pythia_json_destroy(j);
    }
    static const char *const without[] = {"{}", "[]", "1", "{1:2}"};
    for (size_t i = 0; i < 4; i++) {
        struct pythia_memory_source memory;
        struct pythia_json *j = open_text(&memory, without[i], 0);
        struct pythia_text key;
        assert_int_equal(pythia_json_first_key(j, &key), 1);
        pythia_json_destroy(j);
    }
}

/* ---- depth ---- */

/* Arrays in odd depths, objects in even ones, and a 0 in the middle. */
static void nest(struct pythia_buf *text, int depth)
{
    for (int i = 0; i < depth; i++)
        pythia_buf_puts(text, i % 2 ? "{\"k\": " : "[");
    pythia_buf_puts(text, "0");
    for (int i = depth; i-- > 0;)
        pythia_buf_putc(text, i % 2 ? '}' : ']');
}

static void walk_down_and_up(struct pythia_json *j, int depth)
{
    struct pythia_text key;
    for (int i = 0; i < depth; i++) {
        assert_int_equal(i % 2 ? pythia_json_object(j) : pythia_json_array(j), PYTHIA_OK);
        assert_int_equal(i % 2 ? pythia_json_field(j, &key) : pythia_json_element(j), 0);
    }
    assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
    for (int i = depth; i-- > 0;)
        assert_int_equal(i % 2 ? pythia_json_field(j, &key) : pythia_json_element(j), 1);
}

static void a_nesting_of_100000_is_walked_and_skipped(void **state)
{
    enum { DEPTH = 100000, WALK = 0, SKIP, WHOLE, WAYS };
    for (int way = 0; way < WAYS; way++) {
        struct pythia_buf text = {0};
        nest(&text, DEPTH);
        pythia_buf_puts(&text, " 7");
        struct pythia_memory_source memory;
        pythia_memory_source_init(&memory, "test", text.bytes, text.size);
        struct pythia_json *j;
        assert_int_equal(pythia_json_create(&memory.source, 0, &j), PYTHIA_OK);
        assert_int_equal(pythia_json_document(j), 0);
        if (way == WHOLE)
            assert_int_equal(pythia_json_whole(j), PYTHIA_OK);
        if (way == WALK)
            walk_down_and_up(j, DEPTH);
        else
            assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
        int64_t number = 0;
        assert_int_equal(pythia_json_document(j), 0);
        assert_int_equal(pythia_json_int64(j, &number), PYTHIA_OK);
        assert_int_equal(number, 7);
        assert_int_equal(pythia_json_document(j), 1);
        pythia_json_destroy(j);
        pythia_buf_free(&text);
    }
}

/* ---- numbers ---- */

static void numbers_of_64_bits_are_exact(void **state)
{
    struct pythia_memory_source memory;
    struct pythia_json *j =
        open_text(&memory,
                  "[18446744073709551615, \"18446744073709551615\", 9223372036854775807,"
                  " -9223372036854775808, \"-9223372036854775808\", 0, \"0\", -0]",
                  0);
    uint64_t u = 0;
    int64_t i = 0;
    assert_int_equal(pythia_json_array(j), PYTHIA_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(pythia_json_element(j), 0);
        assert_int_equal(pythia_json_uint64(j, &u), PYTHIA_OK);
        assert_true(u == UINT64_MAX);
    }
    static const int64_t expected[] = {INT64_MAX, INT64_MIN, INT64_MIN, 0, 0, 0};
    for (int k = 0; k < 6; k++) {
        assert_int_equal(pythia_json_element(j), 0);
        assert_int_equal(pythia_json_int64(j, &i), PYTHIA_OK);
        assert_true(i == expected[k]);
    }
    assert_int_equal(pythia_json_element(j), 1);
    pythia_json_destroy(j);
}

/* `text` is no whole number: the error is at it, not behind it. */
static void assert_no_integer(const char *text, bool is_signed, const char *sentence)
{
    struct pythia_buf document = {0};
    pythia_buf_printf(&document, "[\n%s\n\n]", text);
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "test", document.bytes, document.size);
    struct pythia_json *j;
    uint64_t u;
    int64_t i;
    assert_int_equal(pythia_json_create(&memory.source, 0, &j), PYTHIA_OK);
    assert_int_equal(pythia_json_array(j), PYTHIA_OK);
    assert_int_equal(pythia_json_element(j), 0);
    assert_int_equal(is_signed ? pythia_json_int64(j, &i) : pythia_json_uint64(j, &u),
                     PYTHIA_EFORMAT);
    assert_string_equal(j->error.sentence, sentence);
    assert_int_equal(j->error.line, 2);
    assert_int_equal(j->error.offset, 2);
    pythia_json_destroy(j);
    pythia_buf_free(&document);
}

static void what_is_no_whole_number_of_64_bits_is_told(void **state)
{
    assert_no_integer("18446744073709551616", false,
                      "18446744073709551616 is not a whole number of 64 bits");
    assert_no_integer("\"18446744073709551616\"", false,
                      "18446744073709551616 is not a whole number of 64 bits");
    assert_no_integer("-1", false, "-1 is not a whole number of 64 bits");
    assert_no_integer("9223372036854775808", true,
                      "9223372036854775808 is not a whole number of 64 bits");
    assert_no_integer("-9223372036854775809", true,
                      "-9223372036854775809 is not a whole number of 64 bits");
    assert_no_integer("1.5", true, "1.5 is not a whole number of 64 bits");
    assert_no_integer("1e3", true, "1e3 is not a whole number of 64 bits");
    assert_no_integer("\"\"", true, "expected a whole number");
    assert_no_integer("\"12 \"", true, "expected a whole number");
    assert_no_integer("\"0x1F\"", true, "expected a whole number");
    assert_no_integer("true", true, "expected a whole number");
    assert_no_integer("[]", true, "expected a whole number");
    assert_no_integer("1e999", true, "the number 1e999 is out of range");
    assert_no_integer("NaN", true, "'NaN' is not a JSON value");
}

static void numbers_have_the_form_that_json_asks_for(void **state)
{
    assert_dump("[0, -0.5, 1E+2, 1e-2, 9223372036854775808, 0.1]",
                "\n[i0 r-0.5 r100 r0.01 r9.2233720368547758e+18 r0.10000000000000001 ]");
    assert_dump("[1.7976931348623157e308, 4.9e-324]",
                "\n[r1.7976931348623157e+308 r4.9406564584124654e-324 ]");
    static const char *const wrong[] = {"01", "-", "1.", ".5", "+1", "1e", "0x10", "1_000", "--1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pythia_buf out = {0};
        struct pythia_memory_source memory;
        pythia_memory_source_init(&memory, "test", wrong[i], strlen(wrong[i]));
        dump(&memory.source, 0, &out);
        assert_int_equal(out.bytes[1], '!');
        pythia_buf_free(&out);
    }
}

static void what_has_a_shape_is_passed_over_at_once(void **state)
{
    static const char shape[] = "{\"key\":$,\"value\":{$:$}}";
    static const struct {
        const char *text, *key, *variant, *value;
        bool quoted;
    } good[] = {
        {"{\"key\":\"a\",\"value\":{\"intValue\":\"7\"}}", "a", "intValue", "7", true},
        {" { \"key\" : \"\" , \"value\" :\n{\"d\" : -1.5e3 } }", "", "d", "-1.5e3", false},
        {"{\"key\":\"\xC3\xA9\",\"value\":{\"b\":true}}", "\xC3\xA9", "b", "true", false},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct pythia_memory_source memory;
        char text[128];
        snprintf(text, sizeof(text), "[%s,5]", good[i].text);
        struct pythia_json *j = open_text(&memory, text, 0);
        struct pythia_json_scalar found[3];
        int64_t behind;
        assert_int_equal(pythia_json_array(j), PYTHIA_OK);
        assert_int_equal(pythia_json_element(j), 0);
        assert_true(pythia_json_match(j, shape, found));
        assert_true(pythia_text_equal(found[0].text, pythia_text_of(good[i].key)));
        assert_true(pythia_text_equal(found[1].text, pythia_text_of(good[i].variant)));
        assert_true(pythia_text_equal(found[2].text, pythia_text_of(good[i].value)));
        assert_true(found[0].quoted && found[2].quoted == good[i].quoted);
        assert_int_equal(pythia_json_element(j), 0);
        assert_int_equal(pythia_json_int64(j, &behind), PYTHIA_OK);
        assert_int_equal(behind, 5);
        assert_int_equal(pythia_json_element(j), 1);
        pythia_json_destroy(j);
    }
}

static void what_has_another_shape_stays_where_it_is(void **state)
{
    static const char shape[] = "{\"key\":$,\"value\":{$:$}}";
    static const char *const others[] = {
        "{\"value\":{\"a\":1},\"key\":\"k\"}",         /* in another order */
        "{\"keys\":\"k\",\"value\":{\"a\":1}}",        /* names that differ ... */
        "{\"ke\":\"k\",\"value\":{\"a\":1}}",          /* ... at their ends */
        "{\"key\":\"k\",\"value\":{}}",                /* less */
        "{\"key\":\"k\",\"value\":{\"a\":1},\"x\":2}", /* more */
        "{\"key\":\"k\",\"value\":{\"a\":[1]}}",       /* no scalar */
        "{\"key\":\"k\\n\",\"value\":{\"a\":1}}",      /* an escape */
        "{\"key\":\"k\xFF\",\"value\":{\"a\":1}}",     /* broken UTF-8 */
        "{\"k\\u0065y\":\"k\",\"value\":{\"a\":1}}",   /* a name with an escape */
        "7",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct pythia_memory_source memory;
        struct pythia_json_scalar found[3];
        char text[128];
        snprintf(text, sizeof(text), "[%s,5]", others[i]); /* a match wants something behind */
        struct pythia_json *j = open_text(&memory, text, 0);
        assert_int_equal(pythia_json_array(j), PYTHIA_OK);
        assert_int_equal(pythia_json_element(j), 0);
        int first = pythia_json_peek(j);
        assert_false(pythia_json_match(j, shape, found));
        assert_int_equal(pythia_json_peek(j), first);
        assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
        assert_int_equal(pythia_json_element(j), 0);
        assert_int_equal(pythia_json_peek(j), '5');
        pythia_json_destroy(j);
    }
}

static void a_text_is_a_number_only_if_all_of_it_is(void **state)
{
    struct pythia_json_value value;
    assert_true(pythia_json_number(PYTHIA_TEXT("-42"), &value));
    assert_int_equal(value.kind, PYTHIA_JSON_INTEGER);
    assert_int_equal(value.integer, -42);
    assert_true(pythia_json_number((struct pythia_text){"2.59", 3}, &value));
    assert_int_equal(value.kind, PYTHIA_JSON_REAL);
    assert_true(value.real == 2.5);
    static const char *const none[] = {"", " 1", "1 ", "007", "1.2.3", "1e999", "NaN", "-", "0x1"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(pythia_json_number(pythia_text_of(none[i]), &value));
}

/* ---- strings ---- */

static void escapes_are_replaced(void **state)
{
    assert_dump("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "\n[s<\"\\/\b\f\n\r\t> ]");
    assert_dump("[\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"]",
                "\n[s<A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80> ]");
    assert_dump("{\"\\u006bey\":1}", "\n{key=i1 }");
}

static void half_a_surrogate_pair_becomes_the_replacement_character(void **state)
{
    assert_dump("[\"\\ud83d\", \"\\ude00x\", \"\\ud83d\\u0041\", \"\\ud83d\\\\\"]",
                "\n[s<\xEF\xBF\xBD> s<\xEF\xBF\xBDx> s<\xEF\xBF\xBD"
                "A> s<\xEF\xBF\xBD\\> ]");
}

static void unknown_escapes_are_errors(void **state)
{
    assert_dump("[\"\\x41\"]", "\n[!1:1 a string holds an unknown escape");
    assert_dump("[\"\\u12\"]", "\n[!1:1 a string holds an unknown escape");
    assert_dump("[\"\\u12G4\"]", "\n[!1:1 a string holds an unknown escape");
}

static void a_nul_in_a_string_becomes_the_replacement_character(void **state)
{
    struct pythia_memory_source memory;
    struct pythia_json *j = open_text(&memory, "\"a\\u0000b\"", 0);
    struct pythia_text text;
    assert_int_equal(pythia_json_string(j, &text), PYTHIA_OK);
    assert_true(PYTHIA_TEXT_IS(text, "a\xEF\xBF\xBD"
                                     "b"));
    assert_int_equal(j->repaired, 1);
    pythia_json_destroy(j);
}

static void broken_utf8_is_repaired_and_counted(void **state)
{
    struct pythia_memory_source memory;
    struct pythia_json *j = open_text(
        &memory, "{\"k\xFFy\": [\"good \xC3\xA9\", \"\xC3\", \"a\xE2\x82z\", \"\xC0\x80\"]}", 0);
    static const char *const expected[] = {
        "good \xC3\xA9", "\xEF\xBF\xBD", "a\xEF\xBF\xBD\xEF\xBF\xBDz", "\xEF\xBF\xBD\xEF\xBF\xBD"};
    struct pythia_text text;
    assert_int_equal(pythia_json_object(j), PYTHIA_OK);
    assert_int_equal(pythia_json_field(j, &text), 0);
    assert_true(PYTHIA_TEXT_IS(text, "k\xEF\xBF\xBDy"));
    assert_int_equal(pythia_json_array(j), PYTHIA_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pythia_json_element(j), 0);
        assert_int_equal(pythia_json_string(j, &text), PYTHIA_OK);
        assert_true(pythia_text_equal(text, pythia_text_of(expected[i])));
    }
    assert_int_equal(j->repaired, 4); /* the key and three strings */
    pythia_json_destroy(j);
}

/* ---- errors, and going on behind them ---- */

static void a_string_at_fault_is_an_error_where_it_begins(void **state)
{
    assert_dump("[1, \"a\tb\"]\n{\"c\":3}",
                "\n[i1 !1:4 a string holds a control character or does not end\n{c=i3 }");
    assert_dump("{\"a\":1}\n{\"b\":\"x\n{\"c\":3}\n",
                "\n{a=i1 }\n{!2:13 a string holds a control character or does not end\n{c=i3 }");
    assert_dump("{\"a\": \"x\\\n\"}\n{\"b\":1}",
                "\n{!1:6 a string holds a control character or does not end\n{b=i1 }");
    assert_dump("[[1],\n [2, \"\x01\"],\n [3]]",
                "\n[[i1 ][i2 !2:11 a string holds a control character or does not end");
}

static void an_input_that_ends_inside_a_value_is_told(void **state)
{
    assert_dump("{\"a\":1}\n{\"b\":\"x",
                "\n{a=i1 }\n{!2:13 the input ends in the middle of a string");
    assert_dump("{\"a\":1,\"b\"", "\n{a=i1 !1:10 the input ends in the middle of a value");
    assert_dump("[1,2", "\n[i1 i2 !1:4 the input ends in the middle of a value");
    assert_dump("[1,", "\n[i1 !1:3 the input ends in the middle of a value");
    assert_dump("{", "\n{!1:1 the input ends in the middle of a value");
    assert_dump("\"x", "\n!1:0 the input ends in the middle of a string");
    assert_dump("tru", "\n!1:0 'tru' is not a JSON value");
}

static void each_fault_of_structure_has_its_sentence_and_place(void **state)
{
    assert_dump("{\"a\" 1}", "\n{!1:5 expected a colon, found '1'");
    assert_dump("{\"a\":1 \"b\":2}", "\n{a=i1 !1:7 expected a comma or }, found '\"'");
    assert_dump("[1 2]", "\n[i1 !1:3 expected a comma or ], found '2'");
    assert_dump("{\"a\":1,}", "\n{a=i1 !1:7 expected a key, found '}'");
    assert_dump("{a:1}", "\n{!1:1 expected a key, found 'a'");
    assert_dump("[1,]", "\n[i1 !1:3 expected a value, found ']'");
    assert_dump("}", "\n!1:0 expected a value, found '}'");
    assert_dump("[\x80]", "\n[!1:1 '\x80' is not a JSON value");
    assert_dump("hello", "\n!1:0 'hello' is not a JSON value");
    assert_dump("[\"a\"b]", "\n[s<a> !1:4 expected a comma or ], found 'b'");
    assert_dump("[nulll, 1]", "\n[!1:1 'nulll' is not a JSON value");
}

static void reading_goes_on_at_the_next_line_that_begins_a_document(void **state)
{
    assert_dump("{\"a\":}\nno document\n  {\"indented\":1}\n{\"b\":2}\n[3]\n",
                "\n{a=!1:5 expected a value, found '}'\n{b=i2 }\n[i3 ]");
    assert_dump("x\n\n\n", "\n!1:0 'x' is not a JSON value");
    assert_dump("{\"a\":\n{\"b\":1\n{\"c\":2}\n{\"d\":3}",
                "\n{a={b=i1 !3:13 expected a comma or }, found '{'\n{c=i2 }\n{d=i3 }");
}

static void a_zero_byte_is_not_the_end_of_the_input(void **state)
{
    static const char text[] = "{\"a\":1}\0\0\0\0\n{\"b\":2}\n\0";
    assert_dump_bytes(text, sizeof(text) - 1, 0,
                      "\n{a=i1 }\n!1:7 expected a value, found byte 0x00\n{b=i2 }"
                      "\n!3:20 expected a value, found byte 0x00");
}

static void places_are_right_far_into_a_large_input(void **state)
{
    enum { LINES = 200000 };
    struct pythia_buf text = {0};
    for (int i = 0; i < LINES; i++)
        pythia_buf_printf(&text, "{\"number\": %06d}%s\n", i, i % 50000 == 49999 ? " x" : "");
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "test", text.bytes, text.size);
    struct pythia_json *j;
    assert_int_equal(pythia_json_create(&memory.source, 0, &j), PYTHIA_OK);
    int status, documents = 0, errors = 0;
    while ((status = pythia_json_document(j)) == 0) {
        struct pythia_json_value value;
        if (pythia_json_peek(j) == '{') {
            documents++;
            assert_int_equal(pythia_json_skip(j), PYTHIA_OK);
            continue;
        }
        errors++;
        assert_int_equal(pythia_json_value(j, &value), PYTHIA_EFORMAT);
        assert_int_equal(j->error.line, errors * 50000);
        assert_int_equal(j->error.offset, errors * (50000 * 19 + 2) - 2);
        assert_int_equal(pythia_json_recover(j), PYTHIA_OK);
    }
    assert_int_equal(status, 1);
    assert_int_equal(documents, LINES);
    assert_int_equal(errors, 4);
    pythia_json_destroy(j);
    pythia_buf_free(&text);
}

/* Each costs as much as its line, not as much as the window: else this takes minutes. */
static void a_million_broken_lines_are_passed_over(void **state)
{
    static const char *const lines[] = {"{\"a\n", "{\"a\":1,}\n", "{\"a\":\"\t\"}\n"};
    enum { LINES = 1000000 };
    for (size_t i = 0; i < 3; i++) {
        struct pythia_buf text = {0};
        for (int k = 0; k < LINES; k++)
            pythia_buf_puts(&text, lines[i]);
        struct pythia_memory_source memory;
        pythia_memory_source_init(&memory, "test", text.bytes, text.size);
        struct pythia_json *j;
        struct pythia_text key;
        assert_int_equal(pythia_json_create(&memory.source, 0, &j), PYTHIA_OK);
        uint64_t errors = 0;
        int status;
        while ((status = pythia_json_document(j)) == 0) {
            status = pythia_json_object(j);
            while (status == PYTHIA_OK && (status = pythia_json_field(j, &key)) == 0)
                status = pythia_json_skip(j);
            assert_int_equal(status, PYTHIA_EFORMAT);
            assert_int_equal(j->error.line, ++errors);
            assert_int_equal(pythia_json_recover(j), PYTHIA_OK);
        }
        assert_int_equal(status, 1);
        assert_int_equal(errors, LINES);
        pythia_json_destroy(j);
        pythia_buf_free(&text);
    }
}

/* A source that fails where the text ends. */
static int read_then_fail(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                          struct pythia_error *e)
{
    struct pythia_memory_source *m = (struct pythia_memory_source *)source;
    if (m->at == m->size)
        return pythia_error_set(e, PYTHIA_EIO, "the disk is gone");
    size_t left = m->size - m->at, size = left < capacity ? left : capacity;
    memcpy(to, m->bytes + m->at, size);
    m->at += size;
    *got = size;
    return PYTHIA_OK;
}

static void what_was_read_before_a_source_failed_is_used(void **state)
{
    static const char text[] = "{\"a\":1}\n{\"b\":2}\n";
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "test", text, sizeof(text) - 1);
    memory.source.read = read_then_fail;
    struct pythia_json *j;
    struct pythia_buf out = {0};
    assert_int_equal(pythia_json_create(&memory.source, 0, &j), PYTHIA_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pythia_json_document(j), 0);
        assert_int_equal(dump_document(j, &out), PYTHIA_OK);
    }
    assert_int_equal(pythia_json_document(j), PYTHIA_EIO);
    assert_string_equal(j->error.sentence, "the disk is gone");
    pythia_buf_putc(&out, '\0');
    assert_string_equal(out.bytes, "{a=i1 }{b=i2 }");
    pythia_json_destroy(j);
    pythia_buf_free(&out);
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state)
{
    struct pythia_buf text = {0}; /* a record of several windows, with escapes in it */
    pythia_buf_puts(&text, "{\"k\\u0065y\": [");
    for (int i = 0; i < 60000; i++)
        pythia_buf_printf(&text, "%s\"\\u00e9 \xFF %d\"", i ? "," : "", i);
    pythia_buf_puts(&text, "]}");
    assert_int_equal(pythia_buf_status(&text), PYTHIA_OK);
    int status = PYTHIA_ENOMEM;
    for (long allowed = 0; status == PYTHIA_ENOMEM; allowed++) {
        struct pythia_memory_source memory;
        pythia_memory_source_init(&memory, "test", text.bytes, text.size);
        struct pythia_json *j = NULL;
        struct pythia_text key, string;
        pythia_mem_fail_after(allowed);
        status = pythia_json_create(&memory.source, 0, &j);
        if (status == PYTHIA_OK)
            status = pythia_json_document(j);
        if (status == PYTHIA_OK)
            status = pythia_json_whole(j);
        if (status == PYTHIA_OK)
            status = pythia_json_object(j);
        if (status == PYTHIA_OK)
            status = pythia_json_field(j, &key);
        if (status == PYTHIA_OK)
            status = pythia_json_array(j);
        while (status == PYTHIA_OK && (status = pythia_json_element(j)) == 0)
            status = pythia_json_string(j, &string);
        pythia_mem_fail_after(-1);
        assert_true(status == 1 || status == PYTHIA_ENOMEM);
        pythia_json_destroy(j);
    }
    assert_int_equal(status, 1);
    pythia_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_kind_are_read),
        cmocka_unit_test(documents_need_nothing_between_them),
        cmocka_unit_test(a_byte_order_mark_is_passed_over),
        cmocka_unit_test(tokens_are_the_same_wherever_the_window_is_cut),
        cmocka_unit_test(one_line_longer_than_the_window_is_read),
        cmocka_unit_test(a_value_larger_than_the_limit_is_an_error),
        cmocka_unit_test(a_record_is_whole_or_larger_than_the_limit),
        cmocka_unit_test(a_record_that_is_cut_off_can_be_read_as_far_as_it_goes),
        cmocka_unit_test(a_value_can_be_read_twice),
        cmocka_unit_test(the_first_key_is_seen_without_entering),
        cmocka_unit_test(a_nesting_of_100000_is_walked_and_skipped),
        cmocka_unit_test(numbers_of_64_bits_are_exact),
        cmocka_unit_test(what_is_no_whole_number_of_64_bits_is_told),
        cmocka_unit_test(numbers_have_the_form_that_json_asks_for),
        cmocka_unit_test(what_has_a_shape_is_passed_over_at_once),
        cmocka_unit_test(what_has_another_shape_stays_where_it_is),
        cmocka_unit_test(a_text_is_a_number_only_if_all_of_it_is),
        cmocka_unit_test(escapes_are_replaced),
        cmocka_unit_test(half_a_surrogate_pair_becomes_the_replacement_character),
        cmocka_unit_test(unknown_escapes_are_errors),
        cmocka_unit_test(a_nul_in_a_string_becomes_the_replacement_character),
        cmocka_unit_test(broken_utf8_is_repaired_and_counted),
        cmocka_unit_test(a_string_at_fault_is_an_error_where_it_begins),
        cmocka_unit_test(an_input_that_ends_inside_a_value_is_told),
        cmocka_unit_test(each_fault_of_structure_has_its_sentence_and_place),
        cmocka_unit_test(reading_goes_on_at_the_next_line_that_begins_a_document),
        cmocka_unit_test(a_zero_byte_is_not_the_end_of_the_input),
        cmocka_unit_test(places_are_right_far_into_a_large_input),
        cmocka_unit_test(a_million_broken_lines_are_passed_over),
        cmocka_unit_test(what_was_read_before_a_source_failed_is_used),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
