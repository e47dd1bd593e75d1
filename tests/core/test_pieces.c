/* Answers of Jaeger's API, in the layouts that programs write, are divided between their traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "input/pieces.h"
#include "pythia/adapter.h"
#include "pythia/buf.h"
#include "pythia/status.h"

enum { TRACES = 9, NOTE_BYTES = 1000000 };

/* How the tokens of a document are set apart: what stands before and after each. */
struct layout {
    const char *before, *after;
};

static void put_token(struct pythia_buf *to, const struct layout *l, const char *token)
{
    pythia_buf_puts(to, l->before);
    pythia_buf_puts(to, token);
    pythia_buf_puts(to, l->after);
}

/* Traces of a span with a large note, in which the beginning of a trace is quoted. */
static void write_traces(struct pythia_buf *to, const struct layout *l)
{
    static const char *const head[] = {
        "{", "\"traceID\"",       ":", "\"%032x\"", ",", "\"spans\"",  ":", "[",
        "{", "\"traceID\"",       ":", "\"%032x\"", ",", "\"spanID\"", ":", "\"0000000000000001\"",
        ",", "\"operationName\"", ":", "\"",        NULL};
    static const char quoted[] = "}},{\\\"traceID\\\":\\\"1\\\",\\\"spans\\\":[{";
    for (unsigned i = 1; i <= TRACES; i++) {
        if (i > 1)
            put_token(to, l, ",");
        for (const char *const *token = head; *token; token++) {
            char text[64];
            if (strchr(*token, '%'))
                snprintf(text, sizeof(text), "\"%032x\"", i);
            put_token(to, l, strchr(*token, '%') ? text : *token);
        }
        for (size_t size = 0; size < NOTE_BYTES; size += sizeof(quoted) - 1)
            pythia_buf_puts(to, quoted);
        pythia_buf_puts(to, "\"");
        for (const char *end = "}]}"; *end; end++)
            put_token(to, l, (char[]){*end, '\0'});
    }
}

static const struct pythia_adapter_ops *jaeger(void)
{
    size_t count;
    const struct pythia_adapter_ops *const *formats = pythia_adapters(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(formats[i]->name, "jaeger") == 0)
            return formats[i];
    return NULL;
}

static void write_document(const struct layout *l, struct pythia_buf *text, char *path)
{
    static const char *const begin[] = {"{", "\"data\"", ":", "[", NULL};
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    for (const char *const *token = begin; *token; token++)
        put_token(text, l, *token);
    write_traces(text, l);
    put_token(text, l, "]");
    put_token(text, l, "}");
    assert_int_equal(pythia_buf_status(text), PYTHIA_OK);
    assert_int_equal(write(descriptor, text->bytes, text->size), (ssize_t)text->size);
    close(descriptor);
}

static void fail_problem(void *context, const struct pythia_error *why)
{
    fail_msg("%s", why->sentence);
}

/* Each piece but the last ends with a trace, each but the first begins with one, and nothing but
 * a comma and white space is between them. */
static void check_pieces(const struct pythia__pieces *pieces, struct pythia_text text)
{
    for (size_t i = 1; i < pieces->count; i++) {
        const struct pythia_input_range *left = &pieces->list[i - 1].range,
                                        *right = &pieces->list[i].range;
        assert_int_equal(text.bytes[left->end - 1], '}');
        assert_int_equal(text.bytes[right->begin], '{');
        assert_int_equal(right->begin - left->end, pieces->list[i - 1].gap);
        size_t commas = 0;
        for (uint64_t at = left->end; at < right->begin; at++) {
            assert_non_null(strchr(" \r\n\t,", text.bytes[at]));
            commas += text.bytes[at] == ',';
        }
        assert_int_equal(commas, 1);
    }
}

/* Pieces of 2 MiB at least, of 9 traces of a million bytes: two or three of them in each. */
static void a_document_is_divided_between_traces_in_any_layout(void **state)
{
    const struct layout layouts[] = {{"", ""}, {"", " "}, {"\n        ", ""}, {"\t", "\r\n"}};
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct pythia_buf text = {0};
        struct pythia__pieces pieces;
        struct pythia_input *input;
        size_t count;
        char path[] = "/tmp/pieces.XXXXXX";
        const char *const paths[] = {path};
        write_document(&layouts[i], &text, path);
        assert_int_equal(pythia_input_create(paths, 1, false, fail_problem, NULL, &input),
                         PYTHIA_OK);
        const struct pythia_input_file *files = pythia_input_files(input, &count);
        assert_int_equal(pythia__pieces_find(files, count, jaeger(), &pieces), PYTHIA_OK);
        unlink(path);
        assert_int_equal(pieces.count, 3);
        check_pieces(&pieces, pythia_buf_text(&text));
        pythia__pieces_free(&pieces);
        pythia_input_destroy(input);
        pythia_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_divided_between_traces_in_any_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
