/* A name in a trace was chosen by whoever wrote the program, or by whoever called it. It may hold
 * escape sequences, characters without width, or overrides of the direction of text that make
 * "gpj.exe" of "exe.jpg" (Boucher and Anderson, "Trojan Source: Invisible Vulnerabilities", USENIX
 * Security 2023). Such characters are shown by their code, so that two names that differ look
 * different, and none reaches beyond itself. */
#include "pythia/shown_text.h"

#include <stdint.h>
#include <stdio.h>

#define REPLACED_BYTE UINT32_MAX /* no character: a byte that is not UTF-8 */

/* In order. Joiners (U+200C, U+200D) are left alone: Persian, Hindi and emoji are spelled with
 * them. */
static const struct {
    uint32_t first, last;
} unseen[] = {
    {0x0000, 0x001F},   /* controls */
    {0x007F, 0x009F},   /* delete, more controls */
    {0x00AD, 0x00AD},   /* soft hyphen */
    {0x034F, 0x034F},   /* joins graphemes */
    {0x061C, 0x061C},   /* direction of Arabic letters */
    {0x115F, 0x1160},   /* Hangul fillers */
    {0x180E, 0x180E},   /* separates vowels */
    {0x200B, 0x200B},   /* space without width */
    {0x200E, 0x200F},   /* direction */
    {0x2028, 0x202E},   /* ends of lines and paragraphs; direction */
    {0x2060, 0x206F},   /* joins words; direction */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFA0, 0xFFA0},   /* Hangul filler */
    {0xFFF0, 0xFFFB},   /* annotations */
    {0xFFFE, 0xFFFF},   /* no characters, and not allowed in XML */
    {0xE0000, 0xE0FFF}, /* tags */
};

static bool is_unseen(uint32_t c)
{
    for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]) && unseen[i].first <= c; i++)
        if (c <= unseen[i].last)
            return true;
    return (c & 0xFFFE) == 0xFFFE;
}

/* The first character of `text`, which is not empty, and its bytes; REPLACED_BYTE for a byte that
 * is not UTF-8. */
static uint32_t decode_utf8(struct pythia_text text, size_t *size)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)text.bytes;
    *size = 1;
    if (b[0] < 0x80)
        return b[0];
    size_t n = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : 2;
    if (b[0] < 0xC2 || b[0] > 0xF4 || n > text.size)
        return REPLACED_BYTE;
    uint32_t c = b[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return REPLACED_BYTE;
        c = c << 6 | (b[i] & 0x3Fu);
    }
    if (c < smallest[n] || c > 0x10FFFF || (c >> 11) == 0x1B)
        return REPLACED_BYTE;
    *size = n;
    return c;
}

bool pythia_glyph_next(struct pythia_text *rest, struct pythia_glyph *glyph)
{
    size_t size;
    *glyph = (struct pythia_glyph){0};
    if (rest->size == 0)
        return false;
    uint32_t c = decode_utf8(*rest, &size);
    if (c == REPLACED_BYTE || is_unseen(c)) {
        unsigned code = c == REPLACED_BYTE ? (unsigned char)rest->bytes[0] : (unsigned)c;
        const char *format = code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%06x";
        glyph->size = (size_t)snprintf(glyph->bytes, sizeof(glyph->bytes), format, code);
    } else {
        memcpy(glyph->bytes, rest->bytes, size);
        glyph->size = size;
    }
    rest->bytes += size;
    rest->size -= size;
    return true;
}

size_t pythia_glyph_count(struct pythia_text text)
{
    struct pythia_glyph glyph;
    size_t count = 0;
    while (pythia_glyph_next(&text, &glyph))
        count++;
    return count;
}

bool pythia_shown_add(struct pythia_buf *to, struct pythia_text text, size_t limit)
{
    struct pythia_glyph glyph;
    size_t count = pythia_glyph_count(text), head = count, tail = count;
    if (count > limit) {
        head = (limit - 1) / 2;
        tail = count - (limit - 1 - head);
    }
    for (size_t i = 0; pythia_glyph_next(&text, &glyph); i++) {
        if (i == head)
            pythia_buf_puts(to, "\xE2\x80\xA6"); /* an ellipsis */
        if (i < head || i >= tail)
            pythia_buf_add(to, glyph.bytes, glyph.size);
    }
    return count > limit;
}

/* ---- JSON ---- */

static void add_code_point(struct pythia_buf *to, uint32_t c)
{
    if (c > 0xFFFF) { /* a pair of surrogates */
        pythia_buf_printf(to, "\\u%04x", 0xD800 + (unsigned)((c - 0x10000) >> 10));
        c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    pythia_buf_printf(to, "\\u%04x", (unsigned)c);
}

void pythia_shown_markup(struct pythia_buf *to, struct pythia_text text)
{
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    struct pythia_glyph glyph;
    while (pythia_glyph_next(&text, &glyph)) {
        const char *found = strchr(special, glyph.bytes[0]);
        if (found)
            pythia_buf_puts(to, entities[found - special]);
        else
            pythia_buf_add(to, glyph.bytes, glyph.size);
    }
}

/* Line breaks and tabs between the tokens of a document are controls as well, which a string never
 * has: there they stay. */
static void add_escaped(struct pythia_buf *to, struct pythia_text rest, bool string)
{
    const char *plain = rest.bytes;
    while (rest.size > 0) {
        unsigned char first = (unsigned char)*rest.bytes;
        size_t size = 1;
        uint32_t c = first;
        if (first >= 0x80)
            c = decode_utf8(rest, &size);
        bool quoted = string && (first == '"' || first == '\\');
        bool code = c != REPLACED_BYTE && (first < ' ' ? string : is_unseen(c));
        if (quoted || code) {
            pythia_buf_add(to, plain, (size_t)(rest.bytes - plain));
            if (code)
                add_code_point(to, c);
            else
                pythia_buf_putc(to, '\\');
            plain = code ? rest.bytes + size : rest.bytes;
        }
        rest.bytes += size;
        rest.size -= size;
    }
    pythia_buf_add(to, plain, (size_t)(rest.bytes - plain));
}

void pythia_shown_dot_label(struct pythia_buf *to, struct pythia_text text)
{
    struct pythia_glyph glyph;
    while (text.size > 0) {
        unsigned char first = (unsigned char)*text.bytes;
        bool blank = first <= ' ' || first == 0x7f;
        pythia_glyph_next(&text, &glyph);
        for (size_t i = 0; i < glyph.size && !blank; i++) {
            if (glyph.bytes[i] == '"' || glyph.bytes[i] == '\\')
                pythia_buf_putc(to, '\\');
            pythia_buf_putc(to, glyph.bytes[i]);
        }
        if (blank)
            pythia_buf_putc(to, ' ');
    }
}

void pythia_shown_json_text(struct pythia_buf *to, struct pythia_text text)
{
    pythia_buf_putc(to, '"');
    add_escaped(to, text, true);
    pythia_buf_putc(to, '"');
}

void pythia_shown_json(struct pythia_buf *to, const char *json, size_t size)
{
    add_escaped(to, (struct pythia_text){json, size}, false);
}
