/* A window slides over the text:
 *
 *     discarded | window: indexed up to `cut`            | read, not yet indexed | not yet read
 *               0                     at ──> cut      filled                  capacity
 *
 * The window is cut where no string can be open: behind its last newline (JSON allows none inside a string), or, in a
 * line longer than the window, behind its last { } [ ] : or comma. Text that simdjson refuses (a control character in a
 * string, a string without its end) is cut into ever smaller runs of lines until the bad line stands alone: that line is
 * an error, its neighbours are read. */
#include "pythia/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pythia/mem.h"

#include "structure.h"

#define WINDOW_BYTES ((size_t)512 * 1024)
#define LIMIT_BYTES  ((size_t)64 * 1024 * 1024)
#define STEP_MIN     ((size_t)4096)

struct pythia__json_input {
    struct pythia_source *from;
    struct pythia__structure *structure;
    struct pythia_arena strings; /* unescaped text of the current document */
    char *buffer;                /* the window, owned; STRUCTURE_PADDING more than capacity */
    size_t capacity, filled, cut, limit;
    size_t step;               /* index no more than this at once: small after broken text, SIZE_MAX normally */
    uint64_t offset, line;     /* of buffer[0] */
    bool ended;                /* the source has no more */
    struct pythia_error cause; /* why the source failed, if it did: told once all that was read is used up */
};

int pythia_json_create(struct pythia_source *from, size_t limit, struct pythia_json **out)
{
    struct pythia_json *j = pythia_calloc(1, sizeof(*j));
    struct pythia__json_input *in = pythia_calloc(1, sizeof(*in));
    if (!j || !in) {
        pythia_free(in);
        pythia_free(j);
        return PYTHIA_ENOMEM;
    }
    j->input = in;
    *in = (struct pythia__json_input){.from = from,
                                      .limit = limit ? limit : LIMIT_BYTES,
                                      .capacity = WINDOW_BYTES,
                                      .step = SIZE_MAX,
                                      .line = 1};
    if (in->capacity > in->limit)
        in->capacity = in->limit;
    in->buffer = pythia_calloc(1, in->capacity + PYTHIA__STRUCTURE_PADDING);
    in->structure = pythia__structure_create(in->capacity);
    if (!in->buffer || !in->structure) {
        pythia_json_destroy(j);
        return PYTHIA_ENOMEM;
    }
    j->window = in->buffer;
    *out = j;
    return PYTHIA_OK;
}

void pythia_json_destroy(struct pythia_json *j)
{
    if (!j)
        return;
    pythia__structure_destroy(j->input->structure);
    pythia_arena_free(&j->input->strings);
    pythia_free(j->input->buffer);
    pythia_free(j->input);
    pythia_free(j);
}

/* Offset in the window of the value at hand. */
static size_t here(const struct pythia_json *j)
{
    return j->at < j->last ? *j->at : j->input->cut;
}

static uint64_t newlines(const char *text, size_t size)
{
    uint64_t count = 0;
    for (const char *end = text + size; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        count++;
    return count;
}

static void place(const struct pythia_json *j, size_t at, uint64_t *line, uint64_t *offset)
{
    const struct pythia__json_input *in = j->input;
    *line = in->line + newlines(in->buffer, at);
    *offset = in->offset + at;
}

void pythia_json_place(const struct pythia_json *j, uint64_t *line, uint64_t *offset)
{
    place(j, here(j), line, offset);
}

/* Give the error that was just set its place. */
static int fail_at(struct pythia_json *j, size_t at)
{
    uint64_t line, offset;
    place(j, at, &line, &offset);
    pythia_error_place(&j->error, j->input->from->name, line, offset);
    return j->error.status;
}

int pythia_json_fail(struct pythia_json *j, int status, const char *format, ...)
{
    if (j->error.status != PYTHIA_OK)
        return j->error.status;
    char sentence[sizeof(j->error.sentence)];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    pythia_error_set(&j->error, status, "%s", sentence);
    return fail_at(j, here(j));
}

/* ---- the window ---- */

/* Drop what is before `keep`. */
static void discard(struct pythia_json *j, size_t keep)
{
    struct pythia__json_input *in = j->input;
    in->line += newlines(in->buffer, keep);
    in->offset += keep;
    in->filled -= keep;
    in->cut -= in->cut < keep ? in->cut : keep;
    memmove(in->buffer, in->buffer + keep, in->filled);
    j->at = j->last = NULL;
}

static int grow(struct pythia_json *j)
{
    struct pythia__json_input *in = j->input;
    if (in->capacity >= in->limit)
        return pythia_json_fail(j, PYTHIA_ELIMIT, "a value is larger than %zu bytes", in->limit);
    size_t capacity = in->capacity < in->limit / 2 ? in->capacity * 2 : in->limit;
    char *buffer = pythia_realloc(in->buffer, capacity + PYTHIA__STRUCTURE_PADDING, 1);
    if (!buffer)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a value of %zu bytes", capacity);
    j->window = in->buffer = buffer;
    struct pythia__structure *structure = pythia__structure_create(capacity);
    if (!structure)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a value of %zu bytes", capacity);
    pythia__structure_destroy(in->structure);
    in->structure = structure;
    in->capacity = capacity;
    return PYTHIA_OK;
}

/* Read until the window is full or the source has ended. */
static void fill(struct pythia_json *j)
{
    struct pythia__json_input *in = j->input;
    while (!in->ended && in->filled < in->capacity) {
        size_t got = 0;
        int status = in->from->read(in->from, in->buffer + in->filled, in->capacity - in->filled, &got,
                                    &in->cause);
        in->ended = status != PYTHIA_OK || got == 0;
        if (status != PYTHIA_OK && in->cause.status == PYTHIA_OK)
            pythia_error_set(&in->cause, status, "%s", pythia_status_text(status));
        in->filled += got;
    }
    memset(in->buffer + in->filled, 0, PYTHIA__STRUCTURE_PADDING);
}

/* How much of the window to index next; *partial if it may end inside a string or a number. */
static size_t choose_cut(const struct pythia__json_input *in, bool *partial)
{
    size_t size = in->filled < in->step ? in->filled : in->step;
    *partial = false;
    if (in->ended && size == in->filled)
        return size;
    for (size_t i = size; i > 0; i--)
        if (in->buffer[i - 1] == '\n')
            return i;
    const char *newline = memchr(in->buffer + size, '\n', in->filled - size);
    if (newline)
        return (size_t)(newline - in->buffer) + 1;
    *partial = !in->ended;
    return in->filled;
}

static bool is_structure(char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',';
}

/* Take over `count` indexes; of partial text only up to the last byte that is complete in itself. */
static void take_indexes(struct pythia_json *j, const uint32_t *indexes, size_t count, size_t cut,
                         bool partial)
{
    struct pythia__json_input *in = j->input;
    if (partial) {
        while (count > 0 && !is_structure(in->buffer[indexes[count - 1]]))
            count--;
        cut = count > 0 ? indexes[count - 1] + 1 : 0;
    }
    j->at = indexes;
    j->last = indexes + count;
    in->cut = cut;
}

/* Text that simdjson refuses stands at the start of the window. Narrow it down to one line: 1 to try again with a
 * smaller step; else the error. At the end of the input a string may just have been cut off: what stands before it is
 * used (0). */
static int narrow(struct pythia_json *j, size_t cut)
{
    struct pythia__json_input *in = j->input;
    const char *newline = memchr(in->buffer, '\n', cut);
    if (newline && (size_t)(newline - in->buffer) + 1 < cut) {
        in->step = cut / 16 > STEP_MIN ? cut / 16 : (size_t)(newline - in->buffer) + 1;
        return 1;
    }
    const uint32_t *indexes;
    size_t count;
    enum pythia__structure_result result =
        pythia__structure_find(in->structure, in->buffer, cut, 1, &indexes, &count);
    if (in->ended && cut == in->filled &&
        (result == PYTHIA__STRUCTURE_OK || result == PYTHIA__STRUCTURE_BAD_UTF8)) {
        j->dirty = result == PYTHIA__STRUCTURE_BAD_UTF8;
        take_indexes(j, indexes, count, cut, true);
        if (j->at < j->last)
            return PYTHIA_OK;
    }
    in->cut = 0;
    j->at = j->last = NULL;
    return pythia_json_fail(j, PYTHIA_EFORMAT,
                            in->ended && cut == in->filled
                                ? "the input ends in the middle of a string"
                                : "a string holds a control character or does not end");
}

/* Index the next part of the window; `keep` is the offset that must stay in it. 0, 1 at the end of the input, or
 * negative. */
static int refill(struct pythia_json *j, size_t keep)
{
    struct pythia__json_input *in = j->input;
    if (j->error.status != PYTHIA_OK)
        return j->error.status;
    size_t indexed = in->cut - keep; /* so much of what stays was in the window's index before */
    discard(j, keep);
    for (;;) {
        fill(j);
        bool partial;
        size_t cut = choose_cut(in, &partial), count = 0;
        const uint32_t *indexes = NULL;
        enum pythia__structure_result result = PYTHIA__STRUCTURE_EMPTY;
        if (cut > 0)
            result = pythia__structure_find(in->structure, in->buffer, cut, partial, &indexes, &count);
        if (result == PYTHIA__STRUCTURE_NO_MEMORY)
            return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory to index %zu bytes", cut);
        if (result == PYTHIA__STRUCTURE_BROKEN) {
            int status = narrow(j, cut);
            if (status == 1)
                continue;
            return status;
        }
        if (in->step != SIZE_MAX)
            in->step = in->step < in->capacity ? in->step * 2 : SIZE_MAX;
        if (result == PYTHIA__STRUCTURE_EMPTY) {
            in->cut = cut;
            discard(j, cut);
            if (in->filled == 0 && in->ended)
                return in->cause.status != PYTHIA_OK ? (j->error = in->cause, in->cause.status) : 1;
            if (cut == 0 && grow(j) != PYTHIA_OK) /* a blank line as long as the window cannot be: a string can */
                return j->error.status;
            continue;
        }
        j->dirty = result == PYTHIA__STRUCTURE_BAD_UTF8;
        take_indexes(j, indexes, count, cut, partial);
        if (j->at < j->last && in->cut > indexed)
            return PYTHIA_OK;
        if (in->ended && in->cut == in->filled)
            return PYTHIA_OK; /* nothing more can come: what is there is all there is */
        if (in->filled == in->capacity && grow(j) != PYTHIA_OK)
            return j->error.status;
        in->step = SIZE_MAX;
    }
}

int pythia_json_recover(struct pythia_json *j)
{
    struct pythia__json_input *in = j->input;
    size_t at = here(j);
    if (in->cause.status != PYTHIA_OK && in->filled == at)
        return j->error.status;
    pythia_error_clear(&j->error);
    j->opened = false;
    pythia_arena_clear(&in->strings);
    for (;;) {
        const char *newline = memchr(in->buffer + at, '\n', in->filled - at);
        if (newline && (size_t)(newline - in->buffer) + 1 < in->filled) {
            at = (size_t)(newline - in->buffer) + 1;
            if (in->buffer[at] != '{' && in->buffer[at] != '[')
                continue;
            in->cut = at;
            discard(j, at);
            return PYTHIA_OK;
        }
        at = newline ? (size_t)(newline - in->buffer) : in->filled; /* a newline stays until its line is here */
        in->cut = at;
        discard(j, at);
        if (in->ended) {
            discard(j, in->filled);
            return PYTHIA_OK;
        }
        fill(j);
        at = 0;
    }
}

/* ---- values ---- */

int pythia_json_peek(struct pythia_json *j)
{
    if (j->at == j->last) {
        int status = refill(j, j->input->cut);
        if (status != PYTHIA_OK)
            return status < 0 ? status : 0;
        if (j->at == j->last)
            return 0;
    }
    return (unsigned char)j->window[*j->at];
}

/* As peek, where the end of the input is an error. */
static int peek_inside(struct pythia_json *j)
{
    int c = pythia_json_peek(j);
    return c ? c : pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends in the middle of a value");
}

static int unexpected(struct pythia_json *j, const char *wanted)
{
    int c = pythia_json_peek(j);
    if (c < 0)
        return c;
    if (c == 0)
        return pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends where %s should stand", wanted);
    if (c < ' ' || c > '~')
        return pythia_json_fail(j, PYTHIA_EFORMAT, "wanted %s, found byte 0x%02x", wanted, c);
    return pythia_json_fail(j, PYTHIA_EFORMAT, "wanted %s, found '%c'", wanted, c);
}

int pythia_json_document(struct pythia_json *j)
{
    pythia_arena_clear(&j->input->strings);
    int c = pythia_json_peek(j);
    return c > 0 ? 0 : c == 0 ? 1 : c;
}

static int enter(struct pythia_json *j, char bracket, const char *wanted)
{
    int c = peek_inside(j);
    if (c < 0)
        return c;
    if (c != bracket)
        return unexpected(j, wanted);
    j->at++;
    j->opened = true;
    return PYTHIA_OK;
}

int pythia_json_object(struct pythia_json *j)
{
    return enter(j, '{', "an object");
}

int pythia_json_array(struct pythia_json *j)
{
    return enter(j, '[', "an array");
}

/* Between the members of a container: 0 at the next one, 1 behind its end. */
static int next_member(struct pythia_json *j, char end)
{
    int c = peek_inside(j);
    if (c < 0)
        return c;
    bool opened = j->opened;
    j->opened = false;
    if (c == end) {
        j->at++;
        return 1;
    }
    if (opened)
        return 0;
    if (c != ',')
        return unexpected(j, end == '}' ? "a comma or }" : "a comma or ]");
    j->at++;
    return 0;
}

int pythia_json_element(struct pythia_json *j)
{
    int status = next_member(j, ']');
    if (status != 0)
        return status;
    int c = peek_inside(j);
    return c < 0 ? c : 0;
}

static int encode_utf8(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3F));
        to[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3F));
    to[2] = (char)(0x80 | (code >> 6 & 0x3F));
    to[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* The four digits of \uXXXX at `from`; -1 if they are not. */
static int32_t hex4(const char *from, const char *end)
{
    uint64_t high, low;
    if (end - from < 4 || !pythia_text_hex((struct pythia_text){from, 4}, &high, &low))
        return -1;
    return (int32_t)low;
}

/* Replace one escape, behind its backslash; returns where the text goes on, NULL if it is none. Half a surrogate pair
 * becomes U+FFFD, as browsers do. */
static const char *unescape_one(const char *from, const char *end, char **to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *simple = from < end && *from ? strchr(names, *from) : NULL;
    if (simple) {
        *(*to)++ = values[simple - names];
        return from + 1;
    }
    int32_t code = from < end && *from == 'u' ? hex4(from + 1, end) : -1;
    if (code < 0)
        return NULL;
    from += 5;
    uint32_t point = (uint32_t)code;
    if (point >= 0xD800 && point < 0xE000) {
        int32_t second = point < 0xDC00 && end - from >= 6 && from[0] == '\\' && from[1] == 'u'
                             ? hex4(from + 2, end)
                             : -1;
        bool pair = second >= 0xDC00 && second < 0xE000;
        point = pair ? 0x10000 + ((point - 0xD800) << 10) + ((uint32_t)second - 0xDC00) : 0xFFFD;
        from += pair ? 6 : 0;
    }
    *to += encode_utf8(point, *to);
    return from;
}

static int unescape(struct pythia_json *j, struct pythia_text raw, struct pythia_text *out)
{
    char *copy = pythia_arena_alloc(&j->input->strings, raw.size), *to = copy; /* never longer than the escapes */
    if (!copy)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a string");
    const char *from = raw.bytes, *end = raw.bytes + raw.size;
    while (from < end) {
        const char *backslash = memchr(from, '\\', (size_t)(end - from));
        size_t plain = (size_t)((backslash ? backslash : end) - from);
        memcpy(to, from, plain);
        to += plain;
        if (!backslash)
            break;
        from = unescape_one(backslash + 1, end, &to);
        if (!from)
            return pythia_json_fail(j, PYTHIA_EFORMAT, "a string holds an unknown escape");
    }
    *out = (struct pythia_text){copy, (size_t)(to - copy)};
    return PYTHIA_OK;
}

/* Bytes of the UTF-8 sequence at `from`; 0 if there is no whole one. */
static size_t utf8_length(const char *from, const char *end)
{
    for (size_t size = 1; size <= 4 && size <= (size_t)(end - from); size++)
        if (pythia__structure_is_utf8(from, size))
            return size;
    return 0;
}

/* Copy text, with U+FFFD for each byte that belongs to no UTF-8 sequence. */
static int repair_utf8(struct pythia_json *j, struct pythia_text *text)
{
    char *copy = pythia_arena_alloc(&j->input->strings, text->size * 3), *to = copy;
    if (!copy)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a string");
    const char *end = text->bytes + text->size;
    for (const char *from = text->bytes; from < end;) {
        size_t size = utf8_length(from, end);
        if (size)
            memcpy(to, from, size);
        to += size ? size : (size_t)encode_utf8(0xFFFD, to);
        from += size ? size : 1;
    }
    *text = (struct pythia_text){copy, (size_t)(to - copy)};
    j->repaired++;
    return PYTHIA_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Where the scalar at hand ends: behind it comes the next structure, with white space between. */
static const char *scalar_end(const struct pythia_json *j)
{
    const char *end = j->window + (j->at + 1 < j->last ? j->at[1] : j->input->cut);
    while (is_space(end[-1]))
        end--;
    return end;
}

/* The string at hand, whose opening quote was seen. */
static int take_string(struct pythia_json *j, struct pythia_text *out)
{
    const char *begin = j->window + *j->at, *end = scalar_end(j);
    if (end - begin < 2 || end[-1] != '"')
        return pythia_json_fail(j, PYTHIA_EFORMAT, "something stands behind a string without a comma");
    struct pythia_text text = {begin + 1, (size_t)(end - begin) - 2};
    int status = PYTHIA_OK;
    if (memchr(text.bytes, '\\', text.size))
        status = unescape(j, text, &text);
    if (status == PYTHIA_OK && j->dirty && !pythia__structure_is_utf8(text.bytes, text.size))
        status = repair_utf8(j, &text);
    if (status == PYTHIA_OK) {
        j->at++;
        *out = text;
    }
    return status;
}

int pythia_json_field(struct pythia_json *j, struct pythia_text *key)
{
    int status = next_member(j, '}');
    if (status != 0)
        return status;
    int c = peek_inside(j);
    if (c != '"')
        return c < 0 ? c : unexpected(j, "a key");
    status = take_string(j, key);
    if (status != PYTHIA_OK)
        return status;
    if (j->at == j->last) { /* the window is about to move: the key must not move with it */
        char *copy = pythia_arena_alloc(&j->input->strings, key->size);
        if (!copy)
            return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a key");
        memcpy(copy, key->bytes, key->size);
        key->bytes = copy;
    }
    c = peek_inside(j);
    if (c != ':')
        return c < 0 ? c : unexpected(j, "a colon");
    j->at++;
    c = peek_inside(j);
    return c < 0 ? c : PYTHIA_OK;
}

int pythia_json_first_key(struct pythia_json *j, struct pythia_text *key)
{
    int c = peek_inside(j);
    if (c < 0 || c != '{')
        return c < 0 ? c : 1;
    if (j->last - j->at < 3 && !(j->input->ended && j->input->cut == j->input->filled)) {
        int status = refill(j, *j->at); /* the key, and what ends it, must be in the window */
        if (status < 0)
            return status;
    }
    if (j->last - j->at < 3 || j->window[j->at[1]] != '"')
        return 1;
    const char *begin = j->window + j->at[1] + 1, *end = j->window + j->at[2];
    while (end > begin && end[-1] != '"')
        end--;
    *key = (struct pythia_text){begin, end > begin ? (size_t)(end - begin) - 1 : 0};
    return 0;
}

int pythia_json_skip(struct pythia_json *j)
{
    size_t depth = 0;
    do {
        int c = peek_inside(j);
        if (c < 0)
            return c;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth-- == 0)
            return unexpected(j, "a value");
        j->at++;
    } while (depth > 0);
    j->opened = false;
    return PYTHIA_OK;
}

int pythia_json_whole(struct pythia_json *j)
{
    pythia_arena_clear(&j->input->strings);
    int c = peek_inside(j);
    while (c > 0) {
        size_t depth = 0;
        for (const uint32_t *p = j->at; p < j->last; p++) {
            char b = j->window[*p];
            depth += b == '{' || b == '[';
            depth -= (b == '}' || b == ']') && depth > 0;
            if (depth == 0)
                return PYTHIA_OK;
        }
        if (j->input->ended && j->input->cut == j->input->filled)
            return pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends in the middle of a value");
        bool opened = j->opened;
        c = refill(j, *j->at);
        c = c < 0 ? c : pythia_json_peek(j);
        j->opened = opened;
    }
    return c < 0 ? c : pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends in the middle of a value");
}

const uint32_t *pythia_json_mark(const struct pythia_json *j)
{
    return j->at;
}

void pythia_json_again(struct pythia_json *j, const uint32_t *mark)
{
    j->at = mark;
    j->opened = false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *digits(const char *c, const char *end)
{
    while (c < end && is_digit(*c))
        c++;
    return c;
}

/* Does `text` have the form of a JSON number? *whole: without fraction and exponent. */
static bool is_number(struct pythia_text text, bool *whole)
{
    const char *c = text.bytes, *end = text.bytes + text.size, *from;
    c += c < end && *c == '-';
    from = c;
    c = digits(c, end);
    if (c == from || (*from == '0' && c - from > 1))
        return false;
    *whole = c == end;
    if (c < end && *c == '.') {
        from = ++c;
        c = digits(c, end);
        if (c == from)
            return false;
    }
    if (c < end && (*c == 'e' || *c == 'E')) {
        c++;
        c += c < end && (*c == '+' || *c == '-');
        from = c;
        c = digits(c, end);
        if (c == from)
            return false;
    }
    return c == end;
}

/* The whole number in `text`, if 64 bits hold it. */
static bool parse_int64(struct pythia_text text, int64_t *out)
{
    bool negative = text.size > 0 && text.bytes[0] == '-';
    size_t from = negative, left = text.size - from;
    uint64_t number = 0;
    if (left == 0 || left > 19)
        return false;
    for (size_t i = from; i < text.size; i++) {
        if (!is_digit(text.bytes[i]))
            return false;
        number = number * 10 + (uint64_t)(text.bytes[i] - '0'); /* 19 digits fit 64 bits */
    }
    if (number > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

static int take_number(struct pythia_json *j, struct pythia_json_value *out)
{
    const char *begin = j->window + *j->at;
    bool whole = false;
    out->text = (struct pythia_text){begin, (size_t)(scalar_end(j) - begin)};
    if (!is_number(out->text, &whole))
        return pythia_json_fail(j, PYTHIA_EFORMAT, "'%.*s' is not a number",
                                (int)(out->text.size < 40 ? out->text.size : 40), out->text.bytes);
    if (whole && parse_int64(out->text, &out->integer)) {
        out->kind = PYTHIA_JSON_INTEGER;
        out->real = (double)out->integer;
    } else {
        out->kind = PYTHIA_JSON_REAL;
        out->real = strtod(begin, NULL); /* ends at the first byte that is of no number: there is one */
        if (isinf(out->real))
            return pythia_json_fail(j, PYTHIA_EFORMAT, "the number %.*s is out of range",
                                    (int)(out->text.size < 40 ? out->text.size : 40), begin);
    }
    j->at++;
    return PYTHIA_OK;
}

static int take_word(struct pythia_json *j, struct pythia_json_value *out)
{
    const char *begin = j->window + *j->at;
    struct pythia_text word = {begin, (size_t)(scalar_end(j) - begin)};
    out->kind = PYTHIA_JSON_BOOL;
    if (PYTHIA_TEXT_IS(word, "true"))
        out->integer = 1;
    else if (PYTHIA_TEXT_IS(word, "false"))
        out->integer = 0;
    else if (PYTHIA_TEXT_IS(word, "null"))
        out->kind = PYTHIA_JSON_NULL;
    else
        return pythia_json_fail(j, PYTHIA_EFORMAT, "'%.*s' is no JSON value",
                                (int)(word.size < 40 ? word.size : 40), begin);
    j->at++;
    return PYTHIA_OK;
}

int pythia_json_value(struct pythia_json *j, struct pythia_json_value *out)
{
    int c = peek_inside(j);
    switch (c) {
    case '"':
        out->kind = PYTHIA_JSON_STRING;
        return take_string(j, &out->text);
    case '{':
        out->kind = PYTHIA_JSON_OBJECT;
        return PYTHIA_OK;
    case '[':
        out->kind = PYTHIA_JSON_ARRAY;
        return PYTHIA_OK;
    case '}':
    case ']':
    case ':':
    case ',':
        return unexpected(j, "a value");
    default:
        if (c < 0)
            return c;
        return c == '-' || is_digit((char)c) ? take_number(j, out) : take_word(j, out);
    }
}

int pythia_json_string(struct pythia_json *j, struct pythia_text *out)
{
    int c = peek_inside(j);
    if (c != '"')
        return c < 0 ? c : unexpected(j, "a string");
    return take_string(j, out);
}

/* A number from a number or from a string of one; only the text matters. */
static int number_text(struct pythia_json *j, struct pythia_text *text)
{
    struct pythia_json_value value;
    int status = pythia_json_value(j, &value);
    if (status != PYTHIA_OK)
        return status;
    bool whole;
    if (value.kind == PYTHIA_JSON_STRING && (value.text.size == 0 || !is_number(value.text, &whole)))
        value.kind = PYTHIA_JSON_NULL;
    if (value.kind != PYTHIA_JSON_STRING && value.kind != PYTHIA_JSON_INTEGER &&
        value.kind != PYTHIA_JSON_REAL)
        return pythia_json_fail(j, PYTHIA_EFORMAT, "wanted a whole number");
    *text = value.text;
    return PYTHIA_OK;
}

int pythia_json_int64(struct pythia_json *j, int64_t *out)
{
    struct pythia_text text;
    int status = number_text(j, &text);
    if (status == PYTHIA_OK && !parse_int64(text, out))
        status = pythia_json_fail(j, PYTHIA_EFORMAT, "%.*s is not a whole number of 64 bits",
                                  (int)(text.size < 40 ? text.size : 40), text.bytes);
    return status;
}

int pythia_json_uint64(struct pythia_json *j, uint64_t *out)
{
    struct pythia_text text;
    int status = number_text(j, &text);
    if (status != PYTHIA_OK)
        return status;
    uint64_t number = 0;
    bool good = text.size > 0 && text.size <= 20;
    for (size_t i = 0; good && i < text.size; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.bytes[i] - '0';
        good = digit <= 9 && number <= (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    if (!good)
        return pythia_json_fail(j, PYTHIA_EFORMAT, "%.*s is not a whole number of 64 bits",
                                (int)(text.size < 40 ? text.size : 40), text.bytes);
    *out = number;
    return PYTHIA_OK;
}
