/* Where files are divided: answers of Jaeger's API, in the layouts that programs write, between
 * their traces; arrays of Zipkin's spans or traces; a document of OTLP; a message of protobuf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "input/pieces.h"
#include "pythia/adapter.h"
#include "pythia/buf.h"
#include "pythia/status.h"

enum { TRACES = 9, NOTE_BYTES = 1000000, PIECES_MAX = 8 };

/* All pieces of an input. */
struct pieces {
    struct pythia__piece list[PIECES_MAX];
    size_t count;
    struct pythia__pieces *found; /* owned: what the pieces refer to */
};

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

static void find_all(const struct pythia_input *input, const char *format, struct pieces *out)
{
    size_t count;
    int status;
    struct pythia__piece piece;
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    *out = (struct pieces){.count = 0};
    assert_int_equal(pythia__pieces_create(files, count, pythia_adapter_named(format), &out->found),
                     PYTHIA_OK);
    while ((status = pythia__pieces_next(out->found, &piece)) == PYTHIA_OK) {
        assert_in_range(out->count, 0, PIECES_MAX - 1);
        assert_int_equal(piece.number, out->count);
        out->list[out->count++] = piece;
    }
    assert_int_equal(status, 1);
    assert_int_equal(pythia__pieces_next(out->found, &piece), 1);
    for (size_t i = 0; i < out->count; i++)
        assert_int_equal(out->list[i].last,
                         i + 1 == out->count || out->list[i + 1].of != out->list[i].of);
}

/* Each piece but the last ends with a trace, each but the first begins with one, and nothing but
 * a comma and white space is between them. */
static void check_pieces(const struct pieces *pieces, struct pythia_text text)
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
        struct pieces pieces;
        struct pythia_input *input;
        char path[] = "/tmp/pieces.XXXXXX";
        const char *const paths[] = {path};
        write_document(&layouts[i], &text, path);
        assert_int_equal(pythia_input_create(paths, 1, false, fail_problem, NULL, &input),
                         PYTHIA_OK);
        find_all(input, "jaeger", &pieces);
        unlink(path);
        assert_int_equal(pieces.count, 3);
        check_pieces(&pieces, pythia_buf_text(&text));
        pythia__pieces_destroy(pieces.found);
        pythia_input_destroy(input);
        pythia_buf_free(&text);
    }
}

static void find_pieces(const struct pythia_buf *text, const char *format, struct pieces *pieces,
                        struct pythia_input **input)
{
    char path[] = "/tmp/pieces.XXXXXX";
    const char *const paths[] = {path};
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(pythia_buf_status(text), PYTHIA_OK);
    assert_int_equal(write(descriptor, text->bytes, text->size), (ssize_t)text->size);
    close(descriptor);
    assert_int_equal(pythia_input_create(paths, 1, false, fail_problem, NULL, input), PYTHIA_OK);
    find_all(*input, format, pieces);
    unlink(path);
}

/* An element of an array with a long note, in which what begins an element is quoted. */
static void write_element(struct pythia_buf *to, const char *begin, const char *end)
{
    static const char quoted[] = "}},{\\\"traceId\\\":\\\"1\\\"},{\\\"resource\\\":1}],[{";
    pythia_buf_puts(to, begin);
    for (size_t size = 0; size < NOTE_BYTES; size += sizeof(quoted) - 1)
        pythia_buf_puts(to, quoted);
    pythia_buf_puts(to, end);
}

/* Pieces of 2 MiB at least, of seven elements of a million bytes: three in the first two. */
static void arrays_are_divided_between_their_elements(void **state)
{
    static const struct {
        const char *format, *begin, *element, *element_end, *comma, *end, *before, *after;
        char first, last;
    } arrays[] = {
        {"zipkin", "[", "{\"traceId\":\"1\",\"id\":\"1\",\"tags\":{\"a\":\"", "\"}}", ",", "]\n",
         "[", "]", '{', '}'},
        {"zipkin", "[", "[{ \"id\" : \"1\", \"note\": \"", "\"}]", " ,\n ", "]", "[", "]", '[',
         ']'},
        {"otlp", "{\"resourceSpans\": [", "{\n\"resource\": {}, \"note\": \"", "\"\n}", ",\n",
         "]\n}\n", "{\"resourceSpans\":[", "]}", '{', '}'},
        {"otlp", "{\"batches\":[", "{\"resource\":{},\"note\":\"", "\"}", ",", "]}",
         "{\"batches\":[", "]}", '{', '}'},
    };
    for (size_t a = 0; a < sizeof(arrays) / sizeof(arrays[0]); a++) {
        struct pythia_buf text = {0};
        struct pieces pieces;
        struct pythia_input *input;
        pythia_buf_puts(&text, arrays[a].begin);
        for (int i = 0; i < 7; i++) {
            pythia_buf_puts(&text, i ? arrays[a].comma : "");
            write_element(&text, arrays[a].element, arrays[a].element_end);
        }
        pythia_buf_puts(&text, arrays[a].end);
        find_pieces(&text, arrays[a].format, &pieces, &input);
        assert_int_equal(pieces.count, 3);
        for (size_t i = 0; i < 3; i++) {
            const struct pythia_input_range *range = &pieces.list[i].range;
            assert_true(
                pythia_text_equal(range->before, pythia_text_of(i > 0 ? arrays[a].before : "")));
            assert_true(
                pythia_text_equal(range->after, pythia_text_of(i < 2 ? arrays[a].after : "")));
            if (i > 0)
                assert_int_equal(text.bytes[range->begin], arrays[a].first);
            if (i < 2)
                assert_int_equal(text.bytes[range->end - 1], arrays[a].last);
            if (i < 2)
                assert_int_equal(pieces.list[i].gap, strlen(arrays[a].comma));
        }
        pythia__pieces_destroy(pieces.found);
        pythia_input_destroy(input);
        pythia_buf_free(&text);
    }
}

/* A message whose fields are half a mebibyte each: the head of a field is 4 bytes, so that four of
 * them are a piece. What is not of field 1 ends the dividing. */
static void a_message_is_divided_between_its_fields(void **state)
{
    enum { FIELD = 1 << 19, FIELDS = 11 };
    static const unsigned char head[] = {0x0A, 0x80, 0x80, 0x20};
    for (int broken = 0; broken < 2; broken++) {
        struct pythia_buf text = {0};
        struct pieces pieces;
        struct pythia_input *input;
        for (int i = 0; i < FIELDS; i++) {
            pythia_buf_add(&text, head, sizeof(head));
            if (broken && i == 5)
                text.bytes[text.size - sizeof(head)] = 0x12;
            memset(pythia_buf_reserve(&text, FIELD), 0, FIELD);
            text.size += FIELD;
        }
        find_pieces(&text, "otlp-proto", &pieces, &input);
        assert_int_equal(pieces.count, broken ? 2 : 3);
        for (size_t i = 1; i < pieces.count; i++) {
            assert_int_equal(pieces.list[i].range.begin, i * 4 * (FIELD + sizeof(head)));
            assert_int_equal(pieces.list[i - 1].range.end, pieces.list[i].range.begin);
        }
        pythia__pieces_destroy(pieces.found);
        pythia_input_destroy(input);
        pythia_buf_free(&text);
    }
}

/* An array in which no element begins as one does that was read before: it is one piece, whatever
 * its size. */
static void an_array_without_known_elements_is_one_piece(void **state)
{
    struct pythia_buf text = {0};
    struct pieces pieces;
    struct pythia_input *input;
    pythia_buf_puts(&text, "[{\"traceId\":\"1\",\"id\":\"1\"}");
    for (int i = 0; i < 12; i++)
        write_element(&text, ",{\"other\":\"", "\"}");
    pythia_buf_puts(&text, "]");
    find_pieces(&text, "zipkin", &pieces, &input);
    assert_int_equal(pieces.count, 1);
    pythia__pieces_destroy(pieces.found);
    pythia_input_destroy(input);
    pythia_buf_free(&text);
}

/* Decoding may be given up before all pieces were found; a file whose piece has failed is marked,
 * and no other. */
static void files_of_pieces_that_failed_are_marked(void **state)
{
    enum { LINES = 5 };
    static const char *const names[] = {"/tmp/pieces.a.XXXXXX", "/tmp/pieces.b.XXXXXX"};
    char made[2][32];
    const char *const paths[] = {made[0], made[1]};
    struct pythia_input *input;
    struct pythia__pieces *pieces;
    struct pythia__piece piece;
    struct pythia_buf text = {0};
    size_t count;
    for (int i = 0; i < LINES; i++)
        write_element(&text, "{\"a\":\"", "\"}\n");
    for (size_t i = 0; i < 2; i++) {
        snprintf(made[i], sizeof(made[i]), "%s", names[i]);
        int descriptor = mkstemp(made[i]);
        assert_true(descriptor >= 0);
        assert_int_equal(write(descriptor, text.bytes, text.size), (ssize_t)text.size);
        close(descriptor);
    }
    assert_int_equal(pythia_input_create(paths, 2, false, fail_problem, NULL, &input), PYTHIA_OK);
    const struct pythia_input_file *files = pythia_input_files(input, &count);
    assert_int_equal(count, 2);
    assert_int_equal(pythia__pieces_create(files, count, pythia_adapter_named("otlp"), &pieces),
                     PYTHIA_OK);
    do
        assert_int_equal(pythia__pieces_next(pieces, &piece), PYTHIA_OK);
    while (piece.of->file == &files[0]);
    assert_false(piece.last); /* more than 4 MiB: the second file is being divided */
    piece.of->failed = true;
    pythia__pieces_destroy(pieces);
    assert_false(*files[0].failed);
    assert_true(*files[1].failed);
    pythia_input_destroy(input);
    pythia_buf_free(&text);
    unlink(made[0]);
    unlink(made[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_divided_between_traces_in_any_layout),
        cmocka_unit_test(arrays_are_divided_between_their_elements),
        cmocka_unit_test(a_message_is_divided_between_its_fields),
        cmocka_unit_test(an_array_without_known_elements_is_one_piece),
        cmocka_unit_test(files_of_pieces_that_failed_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
