/* A window slides over the text:
 *
 *     discarded | window: indexed up to `cut`            | read, not yet indexed | not yet read
 *               0                     at ──> cut      filled                  capacity
 *
 * The window is cut where no string can be open: after its last newline (JSON allows none inside
 * a string), or, in a line longer than the window, after its last { } [ ] : or comma. Text that
 * simdjson refuses (a control character in a string, a string without its end) is cut in front of
 * the string at fault: what stands before it is read, and it is an error once the cursor gets
 * there. */
#include "window.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pythia/mem.h"
#include "simdjson_library.h"

#define WINDOW_BYTES ((size_t)512 * 1024)
#define LIMIT_BYTES  ((size_t)64 * 1024 * 1024)
#define STEP_MIN     ((size_t)512)
#define SEARCH_BYTES ((size_t)4096) /* of text searched for a newline at a time */

int pythia_json_load(void)
{
    if (!pythia__simdjson_load())
        return PYTHIA_EIO;
    struct pythia__structure *structure = pythia__structure_create(PYTHIA__STRUCTURE_PADDING);
    pythia__structure_destroy(structure);
    return structure ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* The window begins small and grows with the largest value seen; the padding after it lets simdjson
 * read whole vectors. */
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
                                      .line = 1,
                                      .line_starts = true};
    if (in->capacity > in->limit)
        in->capacity = in->limit;
    in->memory = pythia_realloc(NULL, in->capacity + PYTHIA__STRUCTURE_PADDING, 1);
    in->structure = pythia__structure_create(in->capacity);
    if (!in->structure)
        pythia_mem_note_failure();
    if (!in->memory || !in->structure) {
        pythia_json_destroy(j);
        return PYTHIA_ENOMEM;
    }
    j->window = in->buffer = in->memory;
    *out = j;
    return PYTHIA_OK;
}

void pythia_json_destroy(struct pythia_json *j)
{
    if (!j)
        return;
    pythia__structure_destroy(j->input->structure);
    pythia_arena_free(&j->input->strings);
    pythia_free(j->input->memory);
    pythia_free(j->input);
    pythia_free(j);
}

static uint64_t count_newlines(const char *text, size_t size)
{
    uint64_t count = 0;
    for (const char *end = text + size; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        count++;
    return count;
}

/* The line of an offset in the window. Whoever asks goes forward, mostly: what was counted is
 * remembered. */
static uint64_t count_line_at(struct pythia__json_input *in, size_t at)
{
    if (at < in->counted)
        in->counted = in->counted_lines = 0;
    in->counted_lines += count_newlines(in->buffer + in->counted, at - in->counted);
    in->counted = at;
    return in->line + in->counted_lines;
}

static void find_line_and_offset(const struct pythia_json *j, size_t at, uint64_t *line,
                                 uint64_t *offset)
{
    *line = count_line_at(j->input, at);
    *offset = j->input->offset + at;
}

static int fail_at_place(struct pythia_json *j, size_t at, int status, const char *format,
                         va_list args)
{
    if (j->error.status != PYTHIA_OK)
        return j->error.status;
    char sentence[sizeof(j->error.sentence)];
    vsnprintf(sentence, sizeof(sentence), format, args);
    pythia_error_set(&j->error, status, "%s", sentence);
    uint64_t line, offset;
    find_line_and_offset(j, at, &line, &offset);
    pythia_error_place(&j->error, j->input->from->name, line, offset);
    return status;
}

int pythia_json_fail(struct pythia_json *j, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = fail_at_place(j, pythia__json_here(j), status, format, args);
    va_end(args);
    return status;
}

int pythia_json_fail_last(struct pythia_json *j, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = fail_at_place(j, j->at[-1], status, format, args);
    va_end(args);
    return status;
}

int pythia_json_fail_at(struct pythia_json *j, const uint32_t *mark, int status, const char *format,
                        ...)
{
    va_list args;
    va_start(args, format);
    status = fail_at_place(j, *mark, status, format, args);
    va_end(args);
    return status;
}

/* As above, at an offset in the window. */
static int fail_in_window(struct pythia_json *j, size_t at, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = fail_at_place(j, at, status, format, args);
    va_end(args);
    return status;
}

/* ---- the window ---- */

/* Drop what is before `keep`. */
static void discard_before(struct pythia_json *j, size_t keep)
{
    struct pythia__json_input *in = j->input;
    in->line = count_line_at(in, keep);
    in->counted = in->counted_lines = 0;
    in->offset += keep;
    in->line_starts = keep > 0 ? in->buffer[keep - 1] == '\n' : in->line_starts;
    in->filled -= keep;
    in->fault = 0;
    in->cut -= in->cut < keep ? in->cut : keep;
    j->window = in->buffer += keep;
    j->at = j->last = NULL;
    j->plain_begin = j->plain_end = NULL;
}

/* Move the window to the front of the memory. */
static void move_to_front(struct pythia_json *j)
{
    struct pythia__json_input *in = j->input;
    memmove(in->memory, in->buffer, in->filled);
    j->window = in->buffer = in->memory;
}

/* Room for more text in the window, which is as long as the memory behind it allows. */
static int grow_window(struct pythia_json *j)
{
    struct pythia__json_input *in = j->input;
    if (in->buffer != in->memory) {
        move_to_front(j);
        return PYTHIA_OK;
    }
    if (in->capacity >= in->limit)
        return pythia_json_fail(j, PYTHIA_ELIMIT, "a value is larger than %zu bytes", in->limit);
    size_t capacity = in->capacity < in->limit / 2 ? in->capacity * 2 : in->limit;
    char *memory = pythia_realloc(in->memory, capacity + PYTHIA__STRUCTURE_PADDING, 1);
    if (!memory)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a value of %zu bytes", capacity);
    j->window = in->buffer = in->memory = memory;
    struct pythia__structure *structure = pythia__structure_create(capacity);
    if (!structure)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a value of %zu bytes", capacity);
    pythia__structure_destroy(in->structure);
    in->structure = structure;
    in->capacity = capacity;
    j->at = j->last = NULL; /* the indexes went with it */
    return PYTHIA_OK;
}

/* There are whole lines that were not indexed yet, and more than those would have to be waited for.
 */
static bool has_enough(const struct pythia__json_input *in)
{
    return in->from->waits && in->filled > in->cut &&
           memchr(in->buffer + in->cut, '\n', in->filled - in->cut) && in->from->waits(in->from);
}

/* Read until the memory is full or the source has ended; from one that has to be waited for, as
 * long as it gives something. `more`: what is here is not enough, however many lines it has. */
static void fill_window(struct pythia_json *j, bool more)
{
    struct pythia__json_input *in = j->input;
    if (!in->ended && in->buffer != in->memory && in->filled < in->capacity / 2)
        move_to_front(j);
    size_t capacity = in->capacity - (size_t)(in->buffer - in->memory);
    while (!in->ended && in->filled < capacity && (more || !has_enough(in))) {
        size_t got = 0;
        more = false;
        int status = in->from->read(in->from, in->buffer + in->filled, capacity - in->filled, &got,
                                    &in->cause);
        in->ended = status != PYTHIA_OK || got == 0;
        if (status != PYTHIA_OK)
            pythia_error_set(&in->cause, status, "%s", pythia_status_text(status));
        in->filled += got;
    }
    memset(in->buffer + in->filled, 0, PYTHIA__STRUCTURE_PADDING);
    if (in->offset == 0 && in->filled >= 3 && memcmp(in->buffer, "\xEF\xBB\xBF", 3) == 0)
        memset(in->buffer, ' ', 3); /* a byte order mark, which says nothing in UTF-8 */
}

/* The bytes after the last newline of a text; 0 if there is none. In a document of one line
 * there is none, and all of the window is searched: by memchr, block by block from the end. */
static size_t find_after_last_newline(const char *text, size_t size)
{
    for (size_t end = size; end > 0;) {
        size_t begin = end > SEARCH_BYTES ? end - SEARCH_BYTES : 0;
        if (memchr(text + begin, '\n', end - begin)) {
            while (text[end - 1] != '\n')
                end--;
            return end;
        }
        end = begin;
    }
    return 0;
}

/* How much of the window to index next, of which `indexed` bytes were before; *partial if it may
 * end inside a string or a number. */
static size_t choose_cut(const struct pythia__json_input *in, size_t indexed, bool *partial)
{
    size_t step = in->step < SIZE_MAX / 4 ? in->step + 2 * indexed : SIZE_MAX;
    size_t size = in->filled < step ? in->filled : step;
    *partial = false;
    if (in->ended && size == in->filled)
        return size;
    size_t line_end = find_after_last_newline(in->buffer, size);
    if (line_end > 0)
        return line_end;
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

/* Take over `count` indexes; of partial text only up to the last byte that is complete in itself.
 */
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

/* The first string that simdjson refuses: where its opening quote is, *ended whether the text ends
 * in it. */
static size_t find_fault(const char *text, size_t size, bool *ends)
{
    size_t quote = 0;
    bool inside = false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (inside && c < ' ') {
            *ends = false;
            return quote;
        }
        if (c == '\\' && i + 1 < size && (unsigned char)text[i + 1] >= ' ') {
            i++;
        } else if (c == '"') {
            quote = inside ? quote : i;
            inside = !inside;
        }
    }
    *ends = inside;
    return inside ? quote : 0;
}

/* Index the first `cut` bytes of the window, of which `indexed` were before. A string at fault is
 * an error if there is nothing new in front of it. */
static enum pythia__structure_result index_window(struct pythia_json *j, size_t cut, bool partial,
                                                  size_t indexed)
{
    struct pythia__json_input *in = j->input;
    const uint32_t *indexes = NULL;
    size_t count = 0;
    enum pythia__structure_result result = PYTHIA__STRUCTURE_EMPTY;
    j->at = j->last = NULL; /* the indexes of before are about to be written over */
    if (cut > 0)
        result = pythia__structure_find(in->structure, in->buffer, cut, partial, &indexes, &count);
    if (result == PYTHIA__STRUCTURE_BROKEN) {
        bool ends, last = in->ended && cut == in->filled;
        size_t fault = find_fault(in->buffer, cut, &ends);
        in->step = STEP_MIN;
        if (fault > indexed)
            result = pythia__structure_find(in->structure, in->buffer, fault, 0, &indexes, &count);
        if (result == PYTHIA__STRUCTURE_BROKEN || result == PYTHIA__STRUCTURE_EMPTY) {
            in->cut = 0; /* the cursor stays where it is */
            in->fault = fault;
            fail_in_window(j, fault, PYTHIA_EFORMAT,
                           ends && last ? "the input ends in the middle of a string"
                                        : "a string holds a control character or does not end");
            return PYTHIA__STRUCTURE_BROKEN;
        }
        cut = fault;
        partial = false;
    } else if (in->step != SIZE_MAX) {
        in->step = in->step < in->capacity ? in->step * 2 : SIZE_MAX;
    }
    if (result == PYTHIA__STRUCTURE_NO_MEMORY) {
        pythia_json_fail(j, PYTHIA_ENOMEM, "no memory to index %zu bytes", cut);
    } else if (result == PYTHIA__STRUCTURE_EMPTY) {
        in->cut = cut;
    } else {
        j->dirty = result == PYTHIA__STRUCTURE_BAD_UTF8;
        take_indexes(j, indexes, count, cut, partial);
    }
    return result;
}

/* Everything that the source gave before it failed has been used. */
static int fail_source(struct pythia_json *j)
{
    j->source_failed = true;
    j->error = j->input->cause;
    return j->error.status;
}

int pythia__json_refill(struct pythia_json *j, size_t keep)
{
    struct pythia__json_input *in = j->input;
    if (j->error.status != PYTHIA_OK)
        return j->error.status;
    size_t indexed = in->cut - keep; /* so much of what stays was in the window's index before */
    discard_before(j, keep);
    for (;;) {
        fill_window(j, false);
        bool partial;
        size_t cut = choose_cut(in, indexed, &partial);
        enum pythia__structure_result result = index_window(j, cut, partial, indexed);
        if (j->error.status != PYTHIA_OK)
            return j->error.status;
        if (result == PYTHIA__STRUCTURE_EMPTY) {
            discard_before(j, in->cut);
            indexed = 0;
            if (in->filled > 0 || !in->ended)
                continue;
            return in->cause.status != PYTHIA_OK ? fail_source(j) : 1;
        }
        if (j->at < j->last && in->cut > indexed)
            return PYTHIA_OK;
        if (in->ended && in->cut == in->filled)
            return PYTHIA_OK; /* nothing more can come: what is there is all there is */
        if (in->step == SIZE_MAX && grow_window(j) != PYTHIA_OK)
            return j->error.status;
        in->step = SIZE_MAX;
    }
}

/* Does a line begin here, with { or [? */
static bool begins_document(const struct pythia__json_input *in, size_t at)
{
    bool line_starts = at > 0 ? in->buffer[at - 1] == '\n' : in->line_starts;
    return line_starts && (in->buffer[at] == '{' || in->buffer[at] == '[');
}

/* Go on at `at`, where a line begins: no string is open there, so indexes that reach as far still
 * hold. */
static void resume_at(struct pythia_json *j, size_t at)
{
    if (at < j->input->cut && j->last) {
        while (j->at < j->last && *j->at < at)
            j->at++;
        return;
    }
    j->input->cut = at;
    discard_before(j, at);
}

int pythia_json_recover(struct pythia_json *j)
{
    struct pythia__json_input *in = j->input;
    size_t at = pythia__json_here(j) > in->fault ? pythia__json_here(j) : in->fault;
    if (in->cause.status != PYTHIA_OK && in->filled == at)
        return j->error.status;
    pythia_error_clear(&j->error);
    j->opened = false;
    pythia_arena_clear(&in->strings);
    /* A document that has no end fails where the next one begins. */
    if (in->offset + at > in->document && at < in->filled && begins_document(in, at)) {
        resume_at(j, at);
        return PYTHIA_OK;
    }
    for (;;) {
        const char *newline = memchr(in->buffer + at, '\n', in->filled - at);
        if (newline && (size_t)(newline - in->buffer) + 1 < in->filled) {
            at = (size_t)(newline - in->buffer) + 1;
            if (!begins_document(in, at))
                continue;
            resume_at(j, at);
            return PYTHIA_OK;
        }
        /* A newline stays until its line is here. */
        at = newline ? (size_t)(newline - in->buffer) : in->filled;
        in->cut = at;
        discard_before(j, at);
        if (in->ended) {
            discard_before(j, in->filled);
            return PYTHIA_OK;
        }
        fill_window(j, true);
        at = 0;
    }
}
