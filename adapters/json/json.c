/* The cursor: it walks the structure that the window (window.c) has indexed. Where all it needs is
 * indexed already, which is nearly always, a short path does the step; the long one asks for more
 * text and tells what is wrong. */
#include "pythia/json.h"

#include "scalars.h"
#include "structure.h"
#include "window.h"

int pythia_json_peek(struct pythia_json *j)
{
    if (j->at == j->last) {
        int status = pythia__json_refill(j, j->input->cut);
        if (status != PYTHIA_OK)
            return status < 0 ? status : 0;
        if (j->at == j->last)
            return 0;
    }
    int c = (unsigned char)j->window[*j->at];
    return c ? c : pythia_json_fail(j, PYTHIA_EFORMAT, "expected a value, found byte 0x00");
}

/* As peek, where the end of the input is an error. */
static int peek_inside(struct pythia_json *j)
{
    int c = pythia_json_peek(j);
    return c ? c : pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends in the middle of a value");
}

static int fail_unexpected(struct pythia_json *j, const char *wanted)
{
    int c = pythia_json_peek(j);
    if (c < 0)
        return c;
    if (c == 0)
        return pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends where %s should stand", wanted);
    if (c < ' ' || c > '~')
        return pythia_json_fail(j, PYTHIA_EFORMAT, "expected %s, found byte 0x%02x", wanted, c);
    return pythia_json_fail(j, PYTHIA_EFORMAT, "expected %s, found '%c'", wanted, c);
}

int pythia_json_document(struct pythia_json *j)
{
    pythia_arena_clear(&j->input->strings);
    int c = pythia_json_peek(j);
    j->input->document = j->input->offset + pythia__json_here(j);
    return c > 0 ? 0 : c == 0 ? 1 : c;
}

static int enter_bracket(struct pythia_json *j, char bracket, const char *wanted)
{
    int c = peek_inside(j);
    if (c < 0)
        return c;
    if (c != bracket)
        return fail_unexpected(j, wanted);
    j->at++;
    j->opened = true;
    return PYTHIA_OK;
}

int pythia_json_object(struct pythia_json *j)
{
    return enter_bracket(j, '{', "an object");
}

int pythia_json_array(struct pythia_json *j)
{
    return enter_bracket(j, '[', "an array");
}

/* Between the members of a container: 0 at the next one, 1 after its end. */
static int step_to_member(struct pythia_json *j, char end)
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
        return fail_unexpected(j, end == '}' ? "a comma or }" : "a comma or ]");
    j->at++;
    return 0;
}

int pythia_json_element(struct pythia_json *j)
{
    if (j->last - j->at > 1) {
        char c = j->window[*j->at];
        bool comma = c == ',';
        if (c != ']' && comma != j->opened && j->window[j->at[comma]]) {
            j->at += comma;
            j->opened = false;
            return 0;
        }
    }
    int status = step_to_member(j, ']');
    if (status != 0)
        return status;
    int c = peek_inside(j);
    return c < 0 ? c : 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Where the current scalar ends: after it comes the next structure, with white space between. */
static const char *find_scalar_end(const struct pythia_json *j)
{
    const char *end = j->window + (j->at + 1 < j->last ? j->at[1] : j->input->cut);
    while (is_space(end[-1]))
        end--;
    return end;
}

/* Is there neither an escape nor broken UTF-8 in this piece of the window? Where the next backslash
 * is, is remembered, which is cheaper than a search in each string. */
static bool is_plain_string(struct pythia_json *j, const char *begin, const char *end)
{
    if (j->dirty)
        return false;
    if (begin < j->plain_begin || begin >= j->plain_end) {
        const char *cut = j->window + j->input->cut,
                   *backslash = memchr(begin, '\\', (size_t)(cut - begin));
        j->plain_begin = begin;
        j->plain_end = backslash ? backslash : cut;
    }
    return end <= j->plain_end;
}

/* Take the next value, whose opening quote was seen. Nearly all strings are borrowed from the
 * window as they are; only one with an escape, or with bytes that are not UTF-8, is copied. */
static int parse_json_string(struct pythia_json *j, struct pythia_text *out)
{
    const char *begin = j->window + *j->at, *end = find_scalar_end(j);
    if (end - begin < 2 || end[-1] != '"')
        return pythia_json_fail(j, PYTHIA_EFORMAT,
                                "something stands behind a string without a comma");
    struct pythia_text text = {begin + 1, (size_t)(end - begin) - 2};
    if (!is_plain_string(j, begin, end)) {
        if (memchr(text.bytes, '\\', text.size)) {
            int status = pythia__json_unescape(j, text, &text);
            if (status != PYTHIA_OK)
                return status;
        }
        if (j->dirty && !pythia__structure_is_utf8(j->input->structure, text.bytes, text.size)) {
            int status = pythia__json_repair_utf8(j, &text);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    j->at++;
    *out = text;
    return PYTHIA_OK;
}

/* The next field where comma, key, colon and value are indexed, and the key is plain. */
static bool step_to_plain_field(struct pythia_json *j, struct pythia_text *key)
{
    const uint32_t *at = j->at;
    const char *window = j->window;
    bool comma = window[*at] == ',';
    at += comma;
    if (comma == j->opened || window[at[0]] != '"' || window[at[1]] != ':' ||
        window[at[1] - 1] != '"' || !window[at[2]] ||
        !is_plain_string(j, window + at[0], window + at[1]))
        return false;
    *key = (struct pythia_text){window + at[0] + 1, at[1] - at[0] - 2};
    j->at = at + 2;
    j->opened = false;
    return true;
}

int pythia_json_field(struct pythia_json *j, struct pythia_text *key)
{
    if (j->last - j->at > 3 && step_to_plain_field(j, key))
        return 0;
    int status = step_to_member(j, '}');
    if (status != 0)
        return status;
    int c = peek_inside(j);
    if (c != '"')
        return c < 0 ? c : fail_unexpected(j, "a key");
    status = parse_json_string(j, key);
    if (status != PYTHIA_OK)
        return status;
    if (j->last - j->at <
        2) { /* the window moves on the way to the value: the key must not move with it */
        char *copy = pythia_arena_alloc(&j->input->strings, key->size);
        if (!copy)
            return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a key");
        memcpy(copy, key->bytes, key->size);
        key->bytes = copy;
    }
    c = peek_inside(j);
    if (c != ':')
        return c < 0 ? c : fail_unexpected(j, "a colon");
    j->at++;
    c = peek_inside(j);
    return c < 0 ? c : PYTHIA_OK;
}

int pythia_json_first_key(struct pythia_json *j, struct pythia_text *key)
{
    int c = peek_inside(j);
    if (c != '{')
        return c < 0 ? c : 1;
    while (j->last - j->at < 3 && !pythia__json_used_up(j)) {
        int status =
            pythia__json_refill(j, *j->at); /* the key, and what ends it, must be in the window */
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
            return fail_unexpected(j, "a value");
        j->at++;
    } while (depth > 0);
    j->opened = false;
    return PYTHIA_OK;
}

/* The scalar that begins at `begin`, with the next structure at `end`. */
static bool match_scalar(struct pythia_json *j, const char *begin, const char *end,
                         struct pythia_json_scalar *out)
{
    while (is_space(end[-1]))
        end--;
    out->quoted = *begin == '"';
    out->text = (struct pythia_text){begin, (size_t)(end - begin)};
    if (!out->quoted)
        return !strchr("{}[]:,", *begin) && is_plain_string(j, begin, end);
    if (out->text.size < 2 || end[-1] != '"')
        return false;
    out->text = (struct pythia_text){begin + 1, out->text.size - 2};
    return is_plain_string(j, begin, end);
}

bool pythia_json_match(struct pythia_json *j, const char *shape, struct pythia_json_scalar *out)
{
    const uint32_t *at = j->at;
    for (; *shape; shape++, at++) {
        if (j->last - at < 2)
            return false;
        const char *begin = j->window + at[0], *end = j->window + at[1];
        if (*shape == '$') {
            if (!match_scalar(j, begin, end, out++))
                return false;
        } else if (*shape != *begin) {
            return false;
        } else if (*shape == '"') {
            /* A name of the shape is compared to its closing quote; $ stands for a scalar of any
             * value. */
            while (*++begin == *++shape && *shape != '"')
                ;
            if (*shape != '"' || *begin != '"')
                return false;
        }
    }
    j->at = at;
    j->opened = false;
    return true;
}

/* Is the end of the current value, which is there, indexed as well? */
static bool is_value_indexed(const struct pythia_json *j)
{
    size_t depth = 0;
    for (const uint32_t *p = j->at; p < j->last; p++) {
        int c = j->window[*p] | 0x20; /* makes { of [, and } of ] */
        depth += c == '{';
        if (depth == 0)
            return true;
        depth -= c == '}';
        if (depth == 0)
            return true;
    }
    return false;
}

int pythia_json_whole(struct pythia_json *j)
{
    pythia_arena_clear(&j->input->strings);
    int c = peek_inside(j);
    while (c > 0) {
        if (is_value_indexed(j))
            return PYTHIA_OK;
        if (pythia__json_used_up(j))
            return pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends in the middle of a value");
        bool opened = j->opened;
        c = pythia__json_refill(j, *j->at);
        c = c < 0 ? c : pythia_json_peek(j);
        j->opened = opened;
    }
    return c < 0 ? c
                 : pythia_json_fail(j, PYTHIA_EFORMAT, "the input ends in the middle of a value");
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

static int parse_json_number(struct pythia_json *j, struct pythia_json_value *out)
{
    const char *begin = j->window + *j->at;
    struct pythia_text text = {begin, (size_t)(find_scalar_end(j) - begin)};
    int shown = (int)(text.size < 40 ? text.size : 40);
    if (!pythia_json_number(text, out))
        return pythia__json_is_number(text)
                   ? pythia_json_fail(j, PYTHIA_EFORMAT, "the number %.*s is out of range", shown,
                                      begin)
                   : pythia_json_fail(j, PYTHIA_EFORMAT, "'%.*s' is not a number", shown, begin);
    j->at++;
    return PYTHIA_OK;
}

static int parse_json_word(struct pythia_json *j, struct pythia_json_value *out)
{
    const char *begin = j->window + *j->at;
    struct pythia_text word = {begin, (size_t)(find_scalar_end(j) - begin)};
    out->kind = PYTHIA_JSON_BOOL;
    if (PYTHIA_TEXT_IS(word, "true"))
        out->integer = 1;
    else if (PYTHIA_TEXT_IS(word, "false"))
        out->integer = 0;
    else if (PYTHIA_TEXT_IS(word, "null"))
        out->kind = PYTHIA_JSON_NULL;
    else
        return pythia_json_fail(j, PYTHIA_EFORMAT, "'%.*s' is not a JSON value",
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
        return parse_json_string(j, &out->text);
    /* A container is only announced: the caller decides whether to enter it. */
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
        return fail_unexpected(j, "a value");
    default:
        if (c < 0)
            return c;
        return c == '-' || (c >= '0' && c <= '9') ? parse_json_number(j, out)
                                                  : parse_json_word(j, out);
    }
}

int pythia_json_string(struct pythia_json *j, struct pythia_text *out)
{
    int c = peek_inside(j);
    if (c != '"')
        return c < 0 ? c : fail_unexpected(j, "a string");
    return parse_json_string(j, out);
}

/* Pass over the current value, whose text, or whose string's text, should be a whole number. */
static int read_whole_number(struct pythia_json *j, struct pythia_text *text)
{
    struct pythia_json_value value = {.kind = PYTHIA_JSON_NULL, .text = {"", 0}};
    int status = pythia_json_value(j, &value);
    if (status != PYTHIA_OK)
        return status;
    *text = value.text;
    if (value.kind == PYTHIA_JSON_INTEGER || value.kind == PYTHIA_JSON_REAL ||
        (value.kind == PYTHIA_JSON_STRING && pythia__json_is_number(value.text)))
        return PYTHIA_OK;
    return value.kind < PYTHIA_JSON_OBJECT
               ? pythia_json_fail_last(j, PYTHIA_EFORMAT, "expected a whole number")
               : pythia_json_fail(j, PYTHIA_EFORMAT, "expected a whole number");
}

static int fail_not_whole(struct pythia_json *j, struct pythia_text text)
{
    return pythia_json_fail_last(j, PYTHIA_EFORMAT, "%.*s is not a whole number of 64 bits",
                                 (int)(text.size < 40 ? text.size : 40), text.bytes);
}

int pythia_json_int64(struct pythia_json *j, int64_t *out)
{
    struct pythia_text text = {"", 0};
    int status = read_whole_number(j, &text);
    if (status != PYTHIA_OK)
        return status;
    return pythia_json_whole_number(text, out) ? PYTHIA_OK : fail_not_whole(j, text);
}

int pythia_json_uint64(struct pythia_json *j, uint64_t *out)
{
    struct pythia_text text = {"", 0};
    int status = read_whole_number(j, &text);
    if (status != PYTHIA_OK)
        return status;
    return pythia__json_uint64(text, out) ? PYTHIA_OK : fail_not_whole(j, text);
}
