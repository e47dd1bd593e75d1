#include "extra.h"

#include <stdlib.h>
#include <string.h>

#define NESTED_MAX 64

/* ---- base64: RFC 4648, section 4 ---- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

static bool unpack_base64(struct pythia_text packed, struct pythia_buf *out)
{
    uint32_t bits = 0;
    size_t size = packed.size, padding = 0;
    while (size > 0 && packed.bytes[size - 1] == '=' && padding < 2) {
        size--;
        padding++;
    }
    if (packed.size % 4 || size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        int digit = digit_of(packed.bytes[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4)
            pythia_buf_putc(out, (char)(bits >> (2 * (3 - i % 4))));
    }
    return true;
}

/* ---- the dictionary ---- */

struct cursor {
    const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && *c->at == ' ')
        c->at++;
}

static bool take_char(struct cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* A string between ' or ", its escapes undone as far as they stand for one byte. */
static bool parse_string(struct cursor *c, struct pythia_buf *out)
{
    static const char names[] = "nrt\\'\"", values[] = "\n\r\t\\'\"";
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        const char *name = *c->at == '\\' && c->at + 1 < c->end ? strchr(names, c->at[1]) : NULL;
        uint64_t high, low = 0;
        if (name && *name) {
            pythia_buf_putc(out, values[name - names]);
            c->at++;
        } else if (c->end - c->at > 3 && c->at[0] == '\\' && c->at[1] == 'x' &&
                   pythia_text_hex((struct pythia_text){c->at + 2, 2}, &high, &low)) {
            pythia_buf_putc(out, (char)low);
            c->at += 3;
        } else {
            pythia_buf_putc(out, *c->at);
        }
    }
    return take_char(c, quote);
}

/* A value that is not a string: up to the comma or the brace after it. */
static bool take_other(struct cursor *c, struct pythia_text *out)
{
    int depth = 0;
    char quote = '\0';
    skip_blanks(c);
    const char *begin = c->at;
    for (; c->at < c->end; c->at++) {
        char ch = *c->at;
        if (quote) {
            c->at += ch == '\\' && c->at + 1 < c->end;
            if (ch == quote)
                quote = '\0';
        } else if (ch == '\'' || ch == '"') {
            quote = ch;
        } else if (strchr("{[(", ch) && ch) {
            if (++depth > NESTED_MAX)
                return false;
        } else if (depth > 0 && strchr("}])", ch) && ch) {
            depth--;
        } else if (depth == 0 && (ch == ',' || ch == '}')) {
            break;
        }
    }
    *out = (struct pythia_text){begin, (size_t)(c->at - begin)};
    return depth == 0 && !quote && out->size > 0;
}

/* Values are what Python's repr wrote: a whole number is one only if it fits 64 bits, and text is
 * all that is no number, truth or None. */
static void add_other(struct pythia__decoder *d, uint32_t key, struct pythia_text value)
{
    char text[64], *end;
    if (PYTHIA_TEXT_IS(value, "True") || PYTHIA_TEXT_IS(value, "False")) {
        pythia_attributes_bool(&d->attributes, key, value.bytes[0] == 'T');
        return;
    }
    if (PYTHIA_TEXT_IS(value, "None"))
        return;
    if (value.size < sizeof(text) && strchr("-0123456789", value.bytes[0]) && value.bytes[0]) {
        memcpy(text, value.bytes, value.size);
        text[value.size] = '\0';
        long long whole = strtoll(text, &end, 10);
        if (!*end && value.size < 18) {
            pythia_attributes_integer(&d->attributes, key, whole);
            return;
        }
        double real = strtod(text, &end);
        if (!*end && !strpbrk(text, "xXpP")) {
            pythia_attributes_real(&d->attributes, key, real);
            return;
        }
    }
    pythia__add_text(d, key, value);
}

/* A text of whatever bytes, as one that is sound. */
static bool add_text_value(struct pythia__decoder *d, uint32_t key, const struct pythia_buf *from)
{
    struct pythia_text text = pythia_buf_text(from);
    struct pythia_buf sound = {0};
    if (!pythia_text_is_sound(text)) {
        char *room = pythia_buf_reserve(&sound, 3 * text.size + 1);
        if (!room)
            return false;
        sound.size = pythia_text_repair(text, room);
        text = pythia_buf_text(&sound);
    }
    pythia__add_text(d, key, text);
    pythia_buf_free(&sound);
    return true;
}

static bool read_entry(struct pythia__decoder *d, struct cursor *c, struct pythia_buf *text)
{
    struct pythia_text other;
    pythia_buf_clear(text);
    if (!parse_string(c, text) || !take_char(c, ':') || pythia_buf_status(text) != PYTHIA_OK)
        return false;
    struct pythia_text name = pythia_buf_text(text);
    if (name.size == 0 || name.size > PYTHIA__NAME_MAX || !pythia_text_is_sound(name))
        return false;
    uint32_t key = pythia__key(d, name);
    if (key == PYTHIA_NONE)
        return false;
    pythia_buf_clear(text);
    const char *before = c->at;
    if (parse_string(c, text)) /* and not the first of several that are put together */
        return add_text_value(d, key, text);
    c->at = before;
    if (!take_other(c, &other) || !pythia_text_is_sound(other))
        return false;
    while (other.size && other.bytes[other.size - 1] == ' ')
        other.size--;
    add_other(d, key, other);
    return true;
}

static bool read_dictionary(struct pythia__decoder *d, struct pythia_text text,
                            struct pythia_buf *scratch)
{
    struct cursor c = {text.bytes, text.bytes + text.size};
    if (!take_char(&c, '{'))
        return false;
    if (take_char(&c, '}'))
        return c.at == c.end;
    do
        if (!read_entry(d, &c, scratch))
            return false;
    while (take_char(&c, ','));
    return take_char(&c, '}') && c.at == c.end;
}

bool pythia__hiq_extra(struct pythia__decoder *d, struct pythia_text extra, bool packed,
                       struct pythia_buf *scratch)
{
    struct pythia_buf text = {0};
    size_t before = d->attributes.size;
    bool good = true;
    if (packed)
        good = unpack_base64(extra, &text);
    else
        pythia_buf_text_add(&text, extra);
    good = good && !text.failed;
    if (good && !read_dictionary(d, pythia_buf_text(&text), scratch)) {
        d->attributes.size = before;
        uint32_t key = pythia__key(d, PYTHIA_TEXT("extra"));
        good = key != PYTHIA_NONE && add_text_value(d, key, &text);
    }
    pythia_buf_free(&text);
    return good;
}
