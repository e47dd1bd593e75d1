/* Scalars of JSON as text: escapes, broken UTF-8, numbers. */
#include "scalars.h"

#include <math.h>
#include <stdlib.h>

#include "window.h"

#define NUMBER_BYTES ((size_t)1100) /* of a number that is not whole: no double needs more */

/* Escapes of code points become UTF-8, because all text in memory is UTF-8. */
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
static int32_t read_hex4(const char *from, const char *end)
{
    uint64_t high, low;
    if (end - from < 4 || !pythia_text_hex((struct pythia_text){from, 4}, &high, &low))
        return -1;
    return (int32_t)low;
}

/* Replace one escape, after its backslash; returns where the text goes on, NULL if it is none.
 * Half a surrogate pair becomes U+FFFD, as browsers do, and so does U+0000, which no name needs and
 * which would cut short whatever passes it on as a C string; *repaired is set for both. */
static const char *unescape_one(const char *from, const char *end, char **to, bool *repaired)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *simple = from < end && *from ? strchr(names, *from) : NULL;
    if (simple) {
        *(*to)++ = values[simple - names];
        return from + 1;
    }
    int32_t code = from < end && *from == 'u' ? read_hex4(from + 1, end) : -1;
    if (code < 0)
        return NULL;
    from += 5;
    uint32_t point = (uint32_t)code;
    if (point >= 0xD800 && point < 0xE000) {
        int32_t second = point < 0xDC00 && end - from >= 6 && from[0] == '\\' && from[1] == 'u'
                             ? read_hex4(from + 2, end)
                             : -1;
        bool pair = second >= 0xDC00 && second < 0xE000;
        point = pair ? 0x10000 + ((point - 0xD800) << 10) + ((uint32_t)second - 0xDC00) : 0xFFFD;
        from += pair ? 6 : 0;
        *repaired = *repaired || !pair;
    } else if (point == 0) {
        point = 0xFFFD;
        *repaired = true;
    }
    *to += encode_utf8(point, *to);
    return from;
}

int pythia__json_unescape(struct pythia_json *j, struct pythia_text raw, struct pythia_text *out)
{
    char *copy = pythia_arena_alloc(&j->input->strings, raw.size),
         *to = copy; /* never longer than the escapes */
    if (!copy)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a string");
    const char *from = raw.bytes, *end = raw.bytes + raw.size;
    bool repaired = false;
    while (from < end) {
        const char *backslash = memchr(from, '\\', (size_t)(end - from));
        size_t plain = (size_t)((backslash ? backslash : end) - from);
        memcpy(to, from, plain);
        to += plain;
        if (!backslash)
            break;
        from = unescape_one(backslash + 1, end, &to, &repaired);
        if (!from)
            return pythia_json_fail(j, PYTHIA_EFORMAT, "a string holds an unknown escape");
    }
    j->repaired += repaired;
    *out = (struct pythia_text){copy, (size_t)(to - copy)};
    return PYTHIA_OK;
}

int pythia__json_repair_utf8(struct pythia_json *j, struct pythia_text *text)
{
    char *copy = pythia_arena_alloc(&j->input->strings, text->size * 3);
    if (!copy)
        return pythia_json_fail(j, PYTHIA_ENOMEM, "no memory for a string");
    *text = (struct pythia_text){copy, pythia_text_repair(*text, copy)};
    j->repaired++;
    return PYTHIA_OK;
}

static bool is_json_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *c, const char *end)
{
    while (c < end && is_json_digit(*c))
        c++;
    return c;
}

/* The grammar of RFC 8259, section 6: strtod would also take hexadecimal numbers, "inf", and what
 * the locale allows. */
bool pythia__json_is_number(struct pythia_text text)
{
    const char *c = text.bytes, *end = text.bytes + text.size, *from;
    c += c < end && *c == '-';
    from = c;
    c = skip_digits(c, end);
    if (c == from || (*from == '0' && c - from > 1))
        return false;
    if (c < end && *c == '.') {
        from = ++c;
        c = skip_digits(c, end);
        if (c == from)
            return false;
    }
    if (c < end && (*c == 'e' || *c == 'E')) {
        c++;
        c += c < end && (*c == '+' || *c == '-');
        from = c;
        c = skip_digits(c, end);
        if (c == from)
            return false;
    }
    return c == end;
}

bool pythia__json_uint64(struct pythia_text text, uint64_t *out)
{
    uint64_t number = 0;
    if (text.size == 0 || text.size > 20)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.bytes[i] - '0';
        if (digit > 9 || (i == 19 && number > (UINT64_MAX - digit) / 10))
            return false; /* 19 digits fit 64 bits */
        number = number * 10 + digit;
    }
    *out = number;
    return true;
}

bool pythia_json_whole_number(struct pythia_text text, int64_t *out)
{
    uint64_t number;
    bool negative = text.size > 0 && text.bytes[0] == '-';
    struct pythia_text digits = {text.bytes + negative, text.size - negative};
    if (!pythia__json_uint64(digits, &number) || (digits.size > 1 && digits.bytes[0] == '0') ||
        number > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

bool pythia_json_number(struct pythia_text text, struct pythia_json_value *out)
{
    out->text = text;
    if (pythia_json_whole_number(text, &out->integer)) {
        out->kind = PYTHIA_JSON_INTEGER;
        out->real = (double)out->integer;
        return true;
    }
    if (!pythia__json_is_number(text))
        return false;
    char copy[NUMBER_BYTES + 1]; /* strtod wants to know where it ends */
    size_t size = text.size < NUMBER_BYTES ? text.size : NUMBER_BYTES;
    memcpy(copy, text.bytes, size);
    copy[size] = '\0';
    out->kind = PYTHIA_JSON_REAL;
    out->real = text.size <= NUMBER_BYTES ? strtod(copy, NULL) : NAN;
    return isfinite(out->real);
}
