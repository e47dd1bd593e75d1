#include "pieces.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

/* Spans of one trace are far apart if pieces are large, since threads are at work on several; each
 * piece costs some 50 microseconds to begin. */
#define PIECE_BYTES ((uint64_t)2 * 1024 * 1024)
#define BLOCK_BYTES ((size_t)64 * 1024)
#define OVERLAP     ((size_t)512) /* of blocks: bytes of the beginning of a trace, at most */

/* ---- where a file can be divided ---- */

/* A file that is looked at in blocks; one more byte is a NUL. */
struct view {
    int file;
    char bytes[BLOCK_BYTES + 1];
    size_t size;
};

static bool read_block(struct view *v, uint64_t at)
{
    v->size = 0;
    while (v->size < BLOCK_BYTES) {
        ssize_t got =
            pread(v->file, v->bytes + v->size, BLOCK_BYTES - v->size, (off_t)(at + v->size));
        if (got < 0)
            return false;
        if (got == 0)
            break;
        v->size += (size_t)got;
    }
    v->bytes[v->size] = '\0';
    return true;
}

/* Does a document end before the newline at `at`, and another one begin after it? Inside a document
 * a comma would stand between; a string holds no newline. */
static bool ends_line_document(const struct view *v, size_t at)
{
    size_t last = at > 0 && v->bytes[at - 1] == '\r' ? at - 1 : at;
    if (last == 0 || at + 1 >= v->size)
        return false;
    char before = v->bytes[last - 1], after = v->bytes[at + 1];
    return (before == '}' || before == ']') && (after == '{' || after == '[');
}

/* The first place in a block, after its first byte, where a line of JSON begins; 0: none. */
static size_t find_line(const struct view *v, size_t *gap)
{
    *gap = 0;
    const char *at = v->bytes, *end = v->bytes + v->size;
    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        if (ends_line_document(v, (size_t)(at - v->bytes)))
            return (size_t)(at - v->bytes) + 1;
        at++;
    }
    return 0;
}

static const char *skip_white_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* The place after some tokens of JSON and the white space between and after them; NULL: they do not
 * stand there. */
static const char *skip_tokens(const char *at, const char *end, const char *const *tokens)
{
    for (; at && *tokens; tokens++) {
        size_t size = strlen(*tokens);
        bool found = (size_t)(end - at) >= size && memcmp(at, *tokens, size) == 0;
        at = found ? skip_white_space(at + size, end) : NULL;
    }
    return at;
}

/* Does a trace begin here, as Jaeger's API writes it, with white space or without? A span begins
 * alike, but its own id comes second. A string cannot hold this, since its quotes would be escaped.
 */
static bool begins_trace(const char *at, const char *end)
{
    static const char *const before_id[] = {"{", "\"traceID\"", ":", NULL};
    static const char *const after_id[] = {"\"", ",", "\"spans\"", ":", "[", NULL};
    at = skip_tokens(at, end, before_id);
    if (!at || at == end || *at != '"')
        return false;
    at = memchr(at + 1, '"', (size_t)(end - at - 1));
    return at && skip_tokens(at, end, after_id);
}

/* The first place in a block where a trace begins after another one and a comma, which is `*gap`
 * bytes with the white space around it; 0: none. */
static size_t find_trace(const struct view *v, size_t *gap)
{
    static const char *const comma[] = {",", NULL};
    const char *at = v->bytes, *end = v->bytes + v->size;
    while ((at = memchr(at, '}', (size_t)(end - at)))) {
        const char *next = skip_tokens(skip_white_space(++at, end), end, comma);
        if (!next || !begins_trace(next, end))
            continue;
        *gap = (size_t)(next - at);
        return (size_t)(next - v->bytes);
    }
    return 0;
}

/* Does a document begin with an array of traces? */
static bool begins_answer(struct pythia_text head)
{
    static const char *const before_traces[] = {"{", "\"data\"", ":", "[", NULL};
    if (head.size == 0)
        return false;
    const char *end = head.bytes + head.size,
               *at = skip_tokens(skip_white_space(head.bytes, end), end, before_traces);
    return at && begins_trace(at, end);
}

/* The layout of the documents in a file, and the functions that turn some of them into a
 * document. */
struct layout {
    /* The place in a block where a document begins, and the bytes before it that belong to neither;
     * NULL: messages with their sizes in front. */
    size_t (*find)(const struct view *v, size_t *gap);
    struct pythia_text before, after;
};

static const struct layout lines = {find_line, {"", 0}, {"", 0}};
static const struct layout traces = {find_trace, {"{\"data\":[", 9}, {"]}", 2}};
static const struct layout frames = {NULL, {"", 0}, {"", 0}};

static const struct layout *find_layout(const struct pythia_adapter_ops *format,
                                        struct pythia_text head)
{
    switch (format->division) {
    case PYTHIA_DIVISION_FRAMES:
        return head.size > 0 && head.bytes[0] == 0 ? &frames : NULL;
    case PYTHIA_DIVISION_TRACES:
        if (begins_answer(head))
            return &traces;
        return pythia_text_starts(head, PYTHIA_TEXT("{")) ? &lines : NULL;
    case PYTHIA_DIVISION_LINES:
        return pythia_text_starts(head, PYTHIA_TEXT("{")) ||
                       pythia_text_starts(head, PYTHIA_TEXT("["))
                   ? &lines
                   : NULL;
    case PYTHIA_DIVISION_NONE:
        break;
    }
    return NULL;
}

/* The first place at or after `from` where the file can be divided; its size if there is none. */
static uint64_t find_document(struct view *v, const struct layout *layout, uint64_t from,
                              uint64_t size, size_t *gap)
{
    while (from < size && read_block(v, from)) {
        size_t found = layout->find(v, gap);
        if (found > 0)
            return from + found;
        if (v->size < BLOCK_BYTES)
            break;
        from += BLOCK_BYTES - OVERLAP;
    }
    *gap = 0;
    return size;
}

/* The end of the messages from `begin` on that are `PIECE_BYTES` together; the size of the file if
 * they do not fit into it: a decoder will say so. Messages of 16 MiB and more look like a single
 * one without a size. */
static uint64_t find_last_frame(const struct view *v, uint64_t begin, uint64_t size)
{
    uint64_t at = begin;
    while (at < begin + PIECE_BYTES && at < size) {
        unsigned char b[4];
        if (size - at < sizeof(b) || pread(v->file, b, sizeof(b), (off_t)at) != sizeof(b) || b[0])
            return size;
        at += sizeof(b) + ((uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3]);
    }
    return at < size ? at : size;
}

/* ---- dividing ---- */

static int add_piece(struct pythia__pieces *p, const struct pythia__piece *piece)
{
    if (pythia_grow(&p->list, &p->capacity, p->count, sizeof(*p->list)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->list[p->count++] = *piece;
    return PYTHIA_OK;
}

static int add_ranges(struct pythia__pieces *p, struct view *v, const struct layout *layout,
                      const struct pythia_adapter_ops *format, struct pythia__divided_file *of)
{
    uint64_t size = of->file->size_bytes, begin = 0;
    int status = PYTHIA_OK;
    while (begin < size) {
        size_t gap = 0;
        uint64_t end = layout->find ? find_document(v, layout, begin + PIECE_BYTES, size, &gap)
                                    : find_last_frame(v, begin, size);
        const struct pythia__piece piece = {
            .of = of,
            .format = format,
            .range = {.begin = begin,
                      .end = end < size ? end - gap : UINT64_MAX,
                      .before = begin > 0 ? layout->before : PYTHIA_TEXT(""),
                      .after = end < size ? layout->after : PYTHIA_TEXT("")},
            .gap = gap};
        if ((status = add_piece(p, &piece)) != PYTHIA_OK)
            return status;
        begin = end;
    }
    return PYTHIA_OK;
}

/* The layout and the format of a file that is worth dividing; NULL: it is small, or cannot be
 * divided. Errors are ignored here, as they come again when the file is decoded. */
static const struct layout *look_at_file(const struct pythia_input_file *file,
                                         const struct pythia_adapter_ops **format)
{
    const struct layout *layout = NULL;
    struct pythia_error why = {0};
    struct pythia_input_stream *stream = NULL;
    struct pythia_text head;
    if (file->size_bytes < 2 * PIECE_BYTES ||
        pythia_input_open(file, PYTHIA_EXPANSION_MAX, NULL, &stream, &why) != PYTHIA_OK)
        return NULL;
    if (!pythia_input_is_packed(stream) && pythia_input_head(stream, &head, &why) == PYTHIA_OK) {
        if (!*format)
            *format = pythia_adapter_like(head);
        layout = *format ? find_layout(*format, head) : NULL;
    }
    pythia_input_close(stream);
    return layout;
}

static int divide_file(struct pythia__pieces *p, struct view *v,
                       const struct pythia_adapter_ops *format, struct pythia__divided_file *of)
{
    const struct layout *layout = look_at_file(of->file, &format);
    v->file = layout ? open(of->file->path, O_RDONLY | O_CLOEXEC) : -1;
    if (v->file < 0)
        return add_piece(p, &(struct pythia__piece){.of = of});
    int status = add_ranges(p, v, layout, format, of);
    close(v->file);
    return status;
}

int pythia__pieces_find(const struct pythia_input_file *files, size_t count,
                        const struct pythia_adapter_ops *format, struct pythia__pieces *out)
{
    struct view *v = pythia_calloc(1, sizeof(*v));
    *out = (struct pythia__pieces){.files = pythia_calloc(count + 1, sizeof(*out->files))};
    int status = v && out->files ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < count; i++) {
        out->files[i].file = &files[i];
        if ((status = divide_file(out, v, format, &out->files[i])) != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(v);
    return status;
}

void pythia__pieces_free(struct pythia__pieces *p)
{
    pythia_free(p->list);
    pythia_free(p->files);
    *p = (struct pythia__pieces){0};
}

/* ---- places of errors ---- */

static uint64_t count_lines_before(const char *path, uint64_t size)
{
    struct view *v = pythia_calloc(1, sizeof(*v));
    uint64_t lines_before = 0, at = 0;
    int file = v ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    for (; file >= 0 && at < size; at += v->size) {
        v->file = file;
        if (!read_block(v, at) || v->size == 0)
            break;
        size_t left = v->size < size - at ? v->size : (size_t)(size - at);
        for (const char *c = v->bytes, *end = c + left; (c = memchr(c, '\n', (size_t)(end - c)));
             c++)
            lines_before++;
    }
    if (file >= 0)
        close(file);
    pythia_free(v);
    return lines_before;
}

void pythia__piece_place(const struct pythia__piece *piece, struct pythia_error *why)
{
    const struct pythia_input_range *range = &piece->range;
    if (range->begin == 0 || (why->line == 0 && why->offset == 0))
        return;
    if (why->line > 0)
        why->line += count_lines_before(piece->of->file->path, range->begin);
    why->offset += range->begin - range->before.size;
}
