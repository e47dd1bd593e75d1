/* A block is read until it has the bytes of a piece and the place where the next one begins has
 * been seen; what is beyond that is carried over to the next block.
 *
 *   content ... | block, being read                 | carried |  not yet read
 *               begin            where it can end ──┘         └── as far as the window reached
 */
#include "blocks.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define BLOCK_MAX  (16 * PYTHIA__PIECE_BYTES) /* what is longer is read as it comes */
#define READ_BYTES ((size_t)256 * 1024)

struct pythia__blocks {
    struct pythia__view view; /* first, so that one is the other */
    struct pythia_input_stream *stream;
    const struct pythia__layout *layout;
    struct pythia_buf carried;
    struct pythia__block *block; /* being read */
    size_t count;
    uint64_t begin, line; /* of the next block */
    bool inside, ended;   /* inside: the next block begins in an array */
    bool read_all;        /* the stream has ended, or failed: */
    bool no_memory;
    struct pythia_error why;
};

void pythia__block_free(struct pythia__block *b)
{
    pythia_buf_free(&b->bytes);
}

void pythia__block_place(const struct pythia__block *b, struct pythia_error *why)
{
    if (why->line == 0 && why->offset == 0)
        return;
    why->line += why->line > 0 ? b->line : 0;
    why->offset += b->begin - (b->begin > 0 ? b->before_bytes : 0);
}

static size_t give_text(struct pythia_text *from, void *to, size_t capacity)
{
    size_t size = from->size < capacity ? from->size : capacity;
    if (size == 0) /* of no text at all there is no address */
        return 0;
    memcpy(to, from->bytes, size);
    from->bytes += size;
    from->size -= size;
    return size;
}

static int read_from_block(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                           struct pythia_error *e)
{
    struct pythia__block *b = (struct pythia__block *)source;
    *got = give_text(&b->before, to, capacity);
    if (*got > 0)
        return PYTHIA_OK;
    struct pythia_text left = {b->bytes.bytes + b->at, b->bytes.size - b->at};
    if (left.size > 0) {
        *got = give_text(&left, to, capacity);
        b->at += *got;
        return PYTHIA_OK;
    }
    if (b->rest)
        return b->rest->read(b->rest, to, capacity, got, e);
    if (b->why.status != PYTHIA_OK) {
        *e = b->why;
        return e->status;
    }
    *got = give_text(&b->after, to, capacity);
    return PYTHIA_OK;
}

/* All bytes, if nothing comes before or after them. */
static struct pythia_text lend_block(struct pythia_source *source)
{
    struct pythia__block *b = (struct pythia__block *)source;
    if (b->before.size || b->after.size || b->rest || b->why.status != PYTHIA_OK)
        return (struct pythia_text){NULL, 0};
    struct pythia_text left = pythia_buf_text(&b->bytes);
    b->at = b->bytes.size;
    return left;
}

/* ---- reading ---- */

/* Read until the block has so many bytes, or the stream has ended. False: out of memory. */
static bool fill_block(struct pythia__blocks *s, size_t wanted)
{
    struct pythia_source *from = pythia_input_source(s->stream);
    struct pythia_buf *bytes = &s->block->bytes;
    while (bytes->size < wanted && !s->read_all) {
        size_t capacity = wanted - bytes->size < READ_BYTES ? wanted - bytes->size : READ_BYTES,
               got = 0;
        char *to = pythia_buf_reserve(bytes, capacity);
        if (!to) {
            bytes->failed = 0;
            s->no_memory = true;
            return false;
        }
        s->read_all = from->read(from, to, capacity, &got, &s->why) != PYTHIA_OK || got == 0;
        bytes->size += got;
    }
    return true;
}

static bool read_window_of_block(struct pythia__view *view, uint64_t at, size_t wanted)
{
    struct pythia__blocks *s = (struct pythia__blocks *)view;
    size_t from = (size_t)(at - s->begin);
    if (from > BLOCK_MAX || !fill_block(s, from + wanted))
        return false;
    size_t size = s->block->bytes.size;
    from = from < size ? from : size;
    s->view.window = (struct pythia_text){s->block->bytes.bytes + from,
                                          size - from < wanted ? size - from : wanted};
    return true;
}

static uint64_t count_newlines_in(const char *at, size_t size)
{
    uint64_t count = 0;
    for (const char *end = at + size; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    return count;
}

/* End the block where the next one begins, if that is known; else it is the last one. */
static int end_block(struct pythia__blocks *s, const struct pythia__piece_end *end)
{
    struct pythia__block *b = s->block;
    size_t next = end->next - s->begin < BLOCK_MAX ? (size_t)(end->next - s->begin) : SIZE_MAX;
    /* One byte more shows whether there is a next block at all. */
    if (next != SIZE_MAX && !fill_block(s, next + 1))
        return PYTHIA_ENOMEM;
    if (next >= b->bytes.size) {
        b->rest = s->read_all ? NULL : pythia_input_source(s->stream);
        b->why = s->why;
        s->ended = true;
        return PYTHIA_OK;
    }
    pythia_buf_clear(&s->carried);
    pythia_buf_add(&s->carried, b->bytes.bytes + next, b->bytes.size - next);
    if (pythia_buf_status(&s->carried) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->line += count_newlines_in(b->bytes.bytes, next);
    s->begin += next;
    s->inside = end->inside;
    b->bytes.size = next - end->gap;
    b->after = end->inside ? pythia__layout_after(s->layout) : PYTHIA_TEXT("");
    return PYTHIA_OK;
}

int pythia__blocks_next(struct pythia__blocks *s, struct pythia__block *b)
{
    if (s->ended)
        return 1;
    struct pythia_buf bytes = b->bytes;
    pythia_buf_clear(&bytes);
    pythia_buf_text_add(&bytes, pythia_buf_text(&s->carried));
    *b = (struct pythia__block){.source = {.name = pythia_input_source(s->stream)->name,
                                           .read = read_from_block,
                                           .borrow = lend_block},
                                .bytes = bytes,
                                .number = s->count++,
                                .begin = s->begin,
                                .line = s->line,
                                .before =
                                    s->inside ? pythia__layout_before(s->layout) : PYTHIA_TEXT("")};
    b->before_bytes = b->before.size;
    s->block = b;
    if (pythia_buf_status(&bytes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    const struct pythia__piece_end end = pythia__layout_end(s->layout, &s->view, s->begin);
    return s->no_memory ? PYTHIA_ENOMEM : end_block(s, &end);
}

int pythia__blocks_create(struct pythia_input_stream *stream, const struct pythia__layout *layout,
                          struct pythia__blocks **out)
{
    struct pythia__blocks *s = pythia_calloc(1, sizeof(*s));
    if (!s) {
        pythia_input_close(stream);
        return PYTHIA_ENOMEM;
    }
    s->view.read = read_window_of_block;
    s->stream = stream;
    s->layout = layout;
    *out = s;
    return PYTHIA_OK;
}

void pythia__blocks_destroy(struct pythia__blocks *s)
{
    if (!s)
        return;
    pythia_input_close(s->stream);
    pythia_buf_free(&s->carried);
    pythia_free(s);
}

uint64_t pythia__blocks_content(const struct pythia__blocks *s)
{
    return pythia_input_content(s->stream);
}
