/* The content of a compressed file in blocks: they are the content, divided where it can be. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "check.h"
#include "input/blocks.h"
#include "pythia/adapter.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* A file with that content, by gzip; of `cut` bytes if that is not 0. */
static void write_packed(const struct pythia_buf *content, size_t cut, char *path)
{
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    gzFile to = gzdopen(dup(descriptor), "wb1");
    assert_int_equal(gzwrite(to, content->bytes, (unsigned)content->size), content->size);
    assert_int_equal(gzclose(to), Z_OK);
    if (cut)
        assert_int_equal(ftruncate(descriptor, (off_t)cut), 0);
    close(descriptor);
}

static void fail_problem(void *context, const struct pythia_error *why)
{
    fail_msg("%s", why->sentence);
}

/* The stream borrows names of the input. */
static struct pythia__blocks *open_blocks(const struct pythia_buf *content, size_t cut,
                                          const char *format, struct pythia_input **input)
{
    char path[] = "/tmp/blocks.XXXXXX";
    const char *const paths[] = {path};
    size_t count;
    struct pythia_input_stream *stream;
    struct pythia_error why = {0};
    struct pythia_text head;
    struct pythia__blocks *blocks;
    write_packed(content, cut, path);
    assert_int_equal(pythia_input_create(paths, 1, false, fail_problem, NULL, input), PYTHIA_OK);
    const struct pythia_input_file *files = pythia_input_files(*input, &count);
    assert_int_equal(pythia_input_open(&files[0], 1e9, NULL, &stream, &why), PYTHIA_OK);
    unlink(path);
    assert_int_equal(pythia_input_head(stream, &head, &why), PYTHIA_OK);
    const struct pythia__layout *layout = pythia__layout_find(pythia_adapter_named(format), head);
    assert_non_null(layout);
    assert_int_equal(pythia__blocks_create(stream, layout, &blocks), PYTHIA_OK);
    return blocks;
}

/* All that the source of a block gives, and how it ends. */
static int read_all(struct pythia__block *b, struct pythia_buf *to)
{
    struct pythia_error why = {0};
    size_t got = 1;
    int status = PYTHIA_OK;
    pythia_buf_clear(to);
    while (got > 0 && status == PYTHIA_OK) {
        char *room = pythia_buf_reserve(to, 10000);
        assert_non_null(room);
        status = b->source.read(&b->source, room, 10000, &got, &why);
        to->size += status == PYTHIA_OK ? got : 0;
    }
    return status;
}

static void write_spans(struct pythia_buf *to, size_t bytes)
{
    pythia_buf_puts(to, "[");
    for (unsigned i = 0; to->size < bytes; i++)
        pythia_buf_printf(to, "%s{\"traceId\":\"%u\",\n \"id\":\"%u\"}", i ? " ,\n" : "", i * 7919,
                          i);
    pythia_buf_puts(to, "]");
    assert_int_equal(pythia_buf_status(to), PYTHIA_OK);
}

/* Blocks of 2 MiB and a window at most, of 9 MiB. */
static void blocks_are_the_content_divided(void **state)
{
    struct pythia_buf content = {0}, text = {0};
    struct pythia__block b = {.number = 0};
    struct pythia_input *input;
    uint64_t end = 0;
    size_t count = 0;
    write_spans(&content, 9 * 1024 * 1024);
    struct pythia__blocks *blocks = open_blocks(&content, 0, "zipkin", &input);
    for (; pythia__blocks_next(blocks, &b) == 0; count++) {
        assert_int_equal(b.number, count);
        assert_int_equal(read_all(&b, &text), PYTHIA_OK);
        size_t before = count > 0, after = count < 4, size = text.size - before - after;
        assert_in_range(size, count < 4 ? 2 << 20 : 1, (2 << 20) + 65536);
        /* Between the last one and this one there is a comma, and white space. */
        assert_int_equal(b.begin, end + (count > 0 ? 3 : 0));
        assert_memory_equal(text.bytes + before, content.bytes + b.begin, size);
        assert_true(text.bytes[0] == '[' && text.bytes[text.size - 1] == ']');
        end = b.begin + size;
        size_t lines = 0;
        for (size_t i = 0; i < b.begin; i++)
            lines += content.bytes[i] == '\n';
        assert_int_equal(b.line, lines);
        /* The second line of the block, 5 bytes after `before`. */
        struct pythia_error why = {.line = 2, .offset = before + 5};
        pythia__block_place(&b, &why);
        assert_int_equal(why.line, lines + 2);
        assert_int_equal(why.offset, b.begin + 5);
    }
    assert_int_equal(count, 5);
    assert_int_equal(end, content.size);
    assert_int_equal(pythia__blocks_content(blocks), content.size);
    pythia__blocks_destroy(blocks);
    pythia_input_destroy(input);
    pythia__block_free(&b);
    pythia_buf_free(&content);
    pythia_buf_free(&text);
}

/* What is cut off is read as far as it goes; the last block says so. */
static void a_file_that_ends_too_early_fails_in_its_last_block(void **state)
{
    struct pythia_buf content = {0}, text = {0};
    struct pythia__block b = {.number = 0};
    struct pythia_input *input;
    int status = PYTHIA_OK;
    uint64_t end = 0;
    write_spans(&content, 9 * 1024 * 1024);
    struct pythia__blocks *blocks = open_blocks(&content, 300000, "zipkin", &input);
    while (pythia__blocks_next(blocks, &b) == 0) {
        assert_int_equal(status, PYTHIA_OK);
        status = read_all(&b, &text);
        end = b.begin + b.bytes.size;
    }
    assert_int_equal(status, PYTHIA_EFORMAT);
    assert_int_equal(end, pythia__blocks_content(blocks));
    assert_in_range(end, 1 << 20, content.size - 1);
    pythia__blocks_destroy(blocks);
    pythia_input_destroy(input);
    pythia__block_free(&b);
    pythia_buf_free(&content);
    pythia_buf_free(&text);
}

/* One span of 40 MB: it is not held in memory, but read on as it comes. */
static void what_cannot_be_divided_is_read_as_it_comes(void **state)
{
    struct pythia_buf content = {0}, text = {0};
    struct pythia__block b = {.number = 0};
    struct pythia_input *input;
    pythia_buf_puts(&content, "[{\"traceId\":\"1\",\"id\":\"1\",\"note\":\"");
    memset(pythia_buf_reserve(&content, 40000000), 'x', 40000000);
    content.size += 40000000;
    pythia_buf_puts(&content, "\"},{\"traceId\":\"2\",\"id\":\"2\"}]");
    struct pythia__blocks *blocks = open_blocks(&content, 0, "zipkin", &input);
    assert_int_equal(pythia__blocks_next(blocks, &b), 0);
    assert_in_range(b.bytes.size, 1, 39000000);
    assert_int_equal(read_all(&b, &text), PYTHIA_OK);
    assert_int_equal(text.size, content.size);
    assert_memory_equal(text.bytes, content.bytes, content.size);
    assert_int_equal(pythia__blocks_next(blocks, &b), 1);
    pythia__blocks_destroy(blocks);
    pythia_input_destroy(input);
    pythia__block_free(&b);
    pythia_buf_free(&content);
    pythia_buf_free(&text);
}

/* Messages without sizes: fields of 700 000 bytes, three of which are a block; nothing stands
 * around it, so that its bytes are lent. */
static void messages_are_lent(void **state)
{
    static const unsigned char head[] = {0x0A, 0xE0, 0xDC, 0x2A};
    struct pythia_buf content = {0};
    struct pythia__block b = {.number = 0};
    struct pythia_input *input;
    size_t count = 0;
    for (int i = 0; i < 10; i++) {
        pythia_buf_add(&content, head, sizeof(head));
        memset(pythia_buf_reserve(&content, 700000), i, 700000);
        content.size += 700000;
    }
    struct pythia__blocks *blocks = open_blocks(&content, 0, "otlp-proto", &input);
    for (; pythia__blocks_next(blocks, &b) == 0; count++) {
        struct pythia_text lent = b.source.borrow(&b.source);
        assert_int_equal(lent.size, count < 3 ? 3 * 700004 : 700004);
        assert_int_equal(b.begin, count * 3 * 700004);
        assert_memory_equal(lent.bytes, content.bytes + b.begin, lent.size);
    }
    assert_int_equal(count, 4);
    pythia__blocks_destroy(blocks);
    pythia_input_destroy(input);
    pythia__block_free(&b);
    pythia_buf_free(&content);
}

/* Each allocation fails in turn. */
static void without_memory_there_is_no_block(void **state)
{
    struct pythia_buf content = {0};
    write_spans(&content, 5 * 1024 * 1024);
    int status = PYTHIA_ENOMEM;
    for (int fail = 0; status == PYTHIA_ENOMEM; fail++) {
        struct pythia__block b = {.number = 0};
        struct pythia_input *input;
        struct pythia__blocks *blocks = open_blocks(&content, 0, "zipkin", &input);
        pythia_mem_fail_after(fail);
        while ((status = pythia__blocks_next(blocks, &b)) == 0)
            continue;
        pythia_mem_fail_after(-1);
        assert_true(status == 1 || status == PYTHIA_ENOMEM);
        pythia__blocks_destroy(blocks);
        pythia_input_destroy(input);
        pythia__block_free(&b);
    }
    pythia_buf_free(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_the_content_divided),
        cmocka_unit_test(a_file_that_ends_too_early_fails_in_its_last_block),
        cmocka_unit_test(what_cannot_be_divided_is_read_as_it_comes),
        cmocka_unit_test(messages_are_lent),
        cmocka_unit_test(without_memory_there_is_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
