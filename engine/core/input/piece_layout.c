#include "piece_layout.h"

#include <string.h>

#define ELEMENT_BYTES  (4 * PYTHIA__PIECE_BYTES) /* of an array in a line are searched */
#define OVERLAP        ((size_t)512) /* of windows: bytes of the beginning of an element, at most */
#define MESSAGE_HEAD   6             /* bytes that say how large a message is, at most */
#define MESSAGES_BYTES ((size_t)512) /* read at a time where messages begin: some are small */

/* ---- layouts ---- */

/* Does a document end before the newline at `at`, and another one begin after it? Inside a document
 * a comma would stand between; a string holds no newline. */
static bool ends_line_document(struct pythia_text v, size_t at)
{
    size_t last = at > 0 && v.bytes[at - 1] == '\r' ? at - 1 : at;
    if (last == 0 || at + 1 >= v.size)
        return false;
    char before = v.bytes[last - 1], after = v.bytes[at + 1];
    return (before == '}' || before == ']') && (after == '{' || after == '[');
}

/* The first place in a block, after its first byte, where a line of JSON begins; 0: none. */
static size_t find_line(struct pythia_text v, size_t *gap)
{
    *gap = 0;
    const char *at = v.bytes, *end = v.bytes + v.size;
    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        if (ends_line_document(v, (size_t)(at - v.bytes)))
            return (size_t)(at - v.bytes) + 1;
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

/* Does an object begin here whose first member is one of some? A string cannot hold this, since
 * its quotes would be escaped. */
static bool begins_object(const char *at, const char *end, const char *const *members)
{
    static const char *const brace[] = {"{", NULL}, *const colon[] = {":", NULL};
    at = skip_tokens(at, end, brace);
    for (; at && *members; members++) {
        size_t size = strlen(*members);
        if ((size_t)(end - at) >= size && memcmp(at, *members, size) == 0)
            return skip_tokens(skip_white_space(at + size, end), end, colon);
    }
    return false;
}

/* Does a trace begin here, as Jaeger's API writes it, with white space or without? A span begins
 * alike, but its own id comes second. */
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

/* Does a ResourceSpans begin here? No other object in an array has such a member first. */
static bool begins_resource_spans(const char *at, const char *end)
{
    static const char *const members[] = {"\"resource\"", NULL};
    return begins_object(at, end, members);
}

/* Does one of Zipkin's spans begin here? Annotations have other members. */
static bool begins_zipkin_span(const char *at, const char *end)
{
    static const char *const members[] = {"\"traceId\"", "\"id\"",   "\"parentId\"",
                                          "\"kind\"",    "\"name\"", NULL};
    return begins_object(at, end, members);
}

/* Does an array of Zipkin's spans begin here? */
static bool begins_zipkin_trace(const char *at, const char *end)
{
    static const char *const bracket[] = {"[", NULL};
    at = skip_tokens(at, end, bracket);
    return at && begins_zipkin_span(at, end);
}

/* The layout of the documents in a file. */
struct pythia__layout {
    /* Where the file begins with these tokens and an element after them, it has an array of such
     * elements, and is divided between them; the last character of each is known. NULL: messages
     * of protobuf, or documents that are lines. */
    const char *begin[6];
    bool (*begins_element)(const char *at, const char *end);
    char last;
    bool lines; /* documents may be lines, too */
    /* The size of the message at a place, all of it, and of what stands around it; 0: it cannot be
     * known. NULL: it is JSON. */
    uint64_t (*measure)(const unsigned char *bytes, size_t size);
    struct pythia_text before, after; /* with these around them some elements are a document */
};

static const struct pythia__layout lines = {.lines = true};
static const struct pythia__layout arrays[][4] = {
    [PYTHIA_DIVISION_TRACES] = {{.begin = {"{", "\"data\"", ":", "["},
                                 .begins_element = begins_trace,
                                 .last = '}',
                                 .before = {"{\"data\":[", 9},
                                 .after = {"]}", 2}}},
    [PYTHIA_DIVISION_RESOURCES] = {{.begin = {"{", "\"resourceSpans\"", ":", "["},
                                    .begins_element = begins_resource_spans,
                                    .last = '}',
                                    .lines = true,
                                    .before = {"{\"resourceSpans\":[", 18},
                                    .after = {"]}", 2}},
                                   {.begin = {"{", "\"batches\"", ":", "["}, /* Tempo's */
                                    .begins_element = begins_resource_spans,
                                    .last = '}',
                                    .lines = true,
                                    .before = {"{\"batches\":[", 12},
                                    .after = {"]}", 2}}},
    [PYTHIA_DIVISION_SPANS] = {{.begin = {"["},
                                .begins_element = begins_zipkin_span,
                                .last = '}',
                                .lines = true,
                                .before = {"[", 1},
                                .after = {"]", 1}},
                               {.begin = {"["},
                                .begins_element = begins_zipkin_trace,
                                .last = ']',
                                .lines = true,
                                .before = {"[", 1},
                                .after = {"]", 1}}},
};

/* A message with its size in 4 bytes before it. Those of 16 MiB and more look like a single one
 * without a size. */
static uint64_t measure_frame(const unsigned char *bytes, size_t size)
{
    return size < 4 || bytes[0]
               ? 0
               : 4 + ((uint64_t)bytes[1] << 16 | (uint64_t)bytes[2] << 8 | bytes[3]);
}

/* A ResourceSpans in a TracesData: field 1, and its size as a varint. */
static uint64_t measure_field(const unsigned char *bytes, size_t size)
{
    uint64_t length = 0;
    if (size == 0 || bytes[0] != 0x0A)
        return 0;
    for (size_t i = 1; i < size && i <= 5; i++) {
        length |= (uint64_t)(bytes[i] & 0x7F) << (7 * (i - 1));
        if (bytes[i] < 0x80)
            return 1 + i + length;
    }
    return 0;
}

static const struct pythia__layout frames = {.measure = measure_frame};
static const struct pythia__layout fields = {.measure = measure_field};

/* The first place in a block where an element begins after another one and a comma, which is `*gap`
 * bytes with the white space around it; 0: none. */
static size_t find_element(struct pythia_text v, const struct pythia__layout *layout, size_t *gap)
{
    static const char *const comma[] = {",", NULL};
    const char *at = v.bytes, *end = v.bytes + v.size;
    while ((at = memchr(at, layout->last, (size_t)(end - at)))) {
        const char *next = skip_tokens(skip_white_space(++at, end), end, comma);
        if (!next || !layout->begins_element(next, end))
            continue;
        *gap = (size_t)(next - at);
        return (size_t)(next - v.bytes);
    }
    return 0;
}

/* Does a document begin with an array of such elements? */
static bool begins_array(const struct pythia__layout *layout, struct pythia_text head)
{
    const char *end = head.bytes + head.size,
               *at = skip_tokens(skip_white_space(head.bytes, end), end, layout->begin);
    return at && layout->begins_element(at, end);
}

const struct pythia__layout *pythia__layout_find(const struct pythia_adapter_ops *format,
                                                 struct pythia_text head)
{
    if (head.size == 0 || format->division == PYTHIA_DIVISION_NONE)
        return NULL;
    if (format->division == PYTHIA_DIVISION_FRAMES)
        return head.bytes[0] == 0 ? &frames : head.bytes[0] == 0x0A ? &fields : NULL;
    if (format->division < sizeof(arrays) / sizeof(arrays[0]))
        for (const struct pythia__layout *l = arrays[format->division]; l->begins_element; l++)
            if (begins_array(l, head))
                return l;
    return head.bytes[0] == '{' || head.bytes[0] == '[' ? &lines : NULL;
}

struct pythia_text pythia__layout_before(const struct pythia__layout *layout)
{
    return layout->before;
}

struct pythia_text pythia__layout_after(const struct pythia__layout *layout)
{
    return layout->after;
}

/* ---- where a piece ends ---- */

/* Lines are looked for first, in each window: what is broken costs a line then. */
static struct pythia__piece_end find_document(const struct pythia__layout *layout,
                                              struct pythia__view *v, uint64_t from)
{
    struct pythia__piece_end end = {0};
    const uint64_t last = from + ELEMENT_BYTES;
    while (v->read(v, from, PYTHIA__VIEW_BYTES)) {
        size_t found = layout->lines ? find_line(v->window, &end.gap) : 0;
        end.inside = !found && layout->begins_element && (from < last || !layout->lines);
        found = end.inside ? find_element(v->window, layout, &end.gap) : found;
        if (found > 0) {
            end.next = from + found;
            return end;
        }
        if (v->window.size < PYTHIA__VIEW_BYTES)
            break;
        from += PYTHIA__VIEW_BYTES - OVERLAP;
    }
    return (struct pythia__piece_end){.next = UINT64_MAX};
}

/* The end of some messages. If one does not fit into the input a decoder will say so. */
static struct pythia__piece_end find_last_message(const struct pythia__layout *layout,
                                                  struct pythia__view *v, uint64_t begin)
{
    const struct pythia__piece_end none = {.next = UINT64_MAX};
    uint64_t at = begin, window = begin;
    if (!v->read(v, window, MESSAGES_BYTES))
        return none;
    while (at < begin + PYTHIA__PIECE_BYTES) {
        if (at - window + MESSAGE_HEAD > v->window.size) {
            window = at;
            if (!v->read(v, window, MESSAGES_BYTES) || v->window.size == 0)
                return none;
        }
        size_t offset = (size_t)(at - window);
        uint64_t bytes = layout->measure((const unsigned char *)v->window.bytes + offset,
                                         v->window.size - offset);
        if (bytes == 0)
            return none;
        at += bytes;
    }
    return (struct pythia__piece_end){.next = at};
}

struct pythia__piece_end pythia__layout_end(const struct pythia__layout *layout,
                                            struct pythia__view *v, uint64_t begin)
{
    return layout->measure ? find_last_message(layout, v, begin)
                           : find_document(layout, v, begin + PYTHIA__PIECE_BYTES);
}
