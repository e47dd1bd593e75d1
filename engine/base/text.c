#include "pythia/text.h"

static const signed char digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16, /* value + 1; 0: no
                                                                               digit */
};

int pythia_text_hex_digit(char c)
{
    return digit_values[(unsigned char)c] - 1;
}

int pythia_text_compare(struct pythia_text a, struct pythia_text b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.bytes, b.bytes, common) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* A text of no bytes may have no address, which memcmp may not be given and nothing may be added
 * to. */
bool pythia_text_starts(struct pythia_text text, struct pythia_text prefix)
{
    return prefix.size == 0 ||
           (text.size >= prefix.size && memcmp(text.bytes, prefix.bytes, prefix.size) == 0);
}

bool pythia_text_ends(struct pythia_text text, struct pythia_text suffix)
{
    return suffix.size == 0 ||
           (text.size >= suffix.size &&
            memcmp(text.bytes + text.size - suffix.size, suffix.bytes, suffix.size) == 0);
}

bool pythia_text_contains(struct pythia_text text, struct pythia_text part)
{
    if (part.size == 0)
        return true;
    for (size_t i = 0; i + part.size <= text.size; i++)
        if (memcmp(text.bytes + i, part.bytes, part.size) == 0)
            return true;
    return false;
}

static char lower_letter(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool fits_byte(char wanted, char c, bool any_case)
{
    return wanted == '?' || wanted == c || (any_case && lower_letter(wanted) == lower_letter(c));
}

/* Only the last * can be the one that has to give: whatever an earlier one took fitted. */
bool pythia_text_fits(struct pythia_text text, struct pythia_text pattern, bool any_case)
{
    size_t p = 0, t = 0, star = SIZE_MAX, taken = 0;
    while (t < text.size) {
        if (p < pattern.size && pattern.bytes[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size && fits_byte(pattern.bytes[p], text.bytes[t], any_case)) {
            p++;
            t++;
        } else if (star != SIZE_MAX) { /* the last * takes one more byte */
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size && pattern.bytes[p] == '*')
        p++;
    return p == pattern.size;
}

static bool is_around(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct pythia_text pythia_text_trim(struct pythia_text text)
{
    while (text.size > 0 && is_around(*text.bytes)) {
        text.bytes++;
        text.size--;
    }
    while (text.size > 0 && is_around(text.bytes[text.size - 1]))
        text.size--;
    return text;
}

bool pythia_text_unsigned(struct pythia_text text, uint64_t most, uint64_t *out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = (unsigned)(unsigned char)text.bytes[i] - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (text.size == 0 || number > most)
        return false;
    *out = number;
    return true;
}

bool pythia_text_seconds(struct pythia_text text, uint64_t *out_ns)
{
    const char *point = text.size > 0 ? memchr(text.bytes, '.', text.size) : NULL;
    size_t whole = point ? (size_t)(point - text.bytes) : text.size, digits = 0;
    uint64_t seconds, ns = 0;
    if (!pythia_text_unsigned((struct pythia_text){text.bytes, whole}, INT64_MAX / 1000000000 - 1,
                              &seconds))
        return false;
    for (size_t i = whole + 1; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
        if (digits++ < 9)
            ns = ns * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    for (; digits < 9; digits++)
        ns *= 10;
    *out_ns = seconds * 1000000000 + ns;
    return true;
}

/* Bytes of the UTF-8 sequence at `from`, of which there are `left`, as the Unicode Standard has
 * them (version 15, table 3-7: no detours, no surrogates, nothing above U+10FFFF); 0 if there is no
 * whole one, or U+0000. */
static size_t sequence_size(const char *from, size_t left)
{
    const unsigned char *b = (const unsigned char *)from;
    if (b[0] < 0x80)
        return b[0] ? 1 : 0;
    size_t size = b[0] < 0xC2 ? 0 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : b[0] < 0xF5 ? 4 : 0;
    if (size == 0 || left < size)
        return 0;
    unsigned low = b[0] == 0xE0 ? 0xA0 : b[0] == 0xF0 ? 0x90 : 0x80;
    unsigned high = b[0] == 0xED ? 0x9F : b[0] == 0xF4 ? 0x8F : 0xBF;
    if (b[1] < low || b[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((b[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

bool pythia__text_is_sound(struct pythia_text text)
{
    for (size_t at = 0, size; at < text.size; at += size) {
        size = sequence_size(text.bytes + at, text.size - at);
        if (size == 0)
            return false;
    }
    return true;
}

size_t pythia_text_repair(struct pythia_text text, char *out)
{
    char *to = out;
    for (size_t at = 0; at < text.size;) {
        size_t size = sequence_size(text.bytes + at, text.size - at);
        memcpy(to, size ? text.bytes + at : "\xEF\xBF\xBD", size ? size : 3);
        to += size ? size : 3;
        at += size ? size : 1;
    }
    return (size_t)(to - out);
}

/* So many digits as a number; negative if one of them is none. */
static int64_t digits_value(const char *bytes, size_t count)
{
    int64_t value = 0;
    int bad = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = pythia_text_hex_digit(bytes[i]);
        bad |= digit;
        value = value << 4 | (digit & 15);
    }
    return bad < 0 ? -1 : value;
}

bool pythia_text_hex(struct pythia_text text, uint64_t *high, uint64_t *low)
{
    if (text.size == 0 || text.size > 32)
        return false;
    uint64_t h = 0, l = 0;
    for (size_t i = 0; i < text.size;) {
        size_t count = (text.size - i) % 8 ? (text.size - i) % 8 : 8;
        int64_t part = digits_value(text.bytes + i, count);
        if (part < 0)
            return false;
        h = h << (4 * count) | l >> (64 - 4 * count);
        l = l << (4 * count) | (uint64_t)part;
        i += count;
    }
    *high = h;
    *low = l;
    return true;
}

bool pythia_text_uuid(struct pythia_text text, uint64_t *high, uint64_t *low)
{
    const char *c = text.bytes;
    if (text.size == 32)
        return pythia_text_hex(text, high, low);
    if (text.size != 36 || c[8] != '-' || c[13] != '-' || c[18] != '-' || c[23] != '-')
        return false;
    int64_t a = digits_value(c, 8), b = digits_value(c + 9, 4), d = digits_value(c + 14, 4),
            e = digits_value(c + 19, 4), f = digits_value(c + 24, 12);
    if ((a | b | d | e | f) < 0)
        return false;
    *high = (uint64_t)a << 32 | (uint64_t)b << 16 | (uint64_t)d;
    *low = (uint64_t)e << 48 | (uint64_t)f;
    return true;
}

static bool is_identifier(struct pythia_text element)
{
    size_t decimal = 0, hex = 0;
    for (size_t i = 0; i < element.size; i++) {
        decimal += element.bytes[i] >= '0' && element.bytes[i] <= '9';
        hex += pythia_text_hex_digit(element.bytes[i]) >= 0;
    }
    uint64_t high, low;
    return element.size > 0 && (decimal == element.size || (hex == element.size && hex >= 16) ||
                                pythia_text_uuid(element, &high, &low));
}

size_t pythia_text_template(struct pythia_text text, char *out, size_t capacity)
{
    if (text.size == 0 || !memchr(text.bytes, '/', text.size))
        return 0;
    size_t written = 0;
    bool changed = false;
    for (size_t from = 0; from <= text.size;) {
        size_t to = from;
        while (to < text.size && text.bytes[to] != '/' && text.bytes[to] != '?')
            to++;
        struct pythia_text element = {text.bytes + from, to - from};
        if (from > 0 &&
            is_identifier(element)) { /* a name may begin with a number, a path does not */
            element = PYTHIA_TEXT("{id}");
            changed = true;
        }
        if (written + element.size + 1 > capacity)
            return 0;
        memcpy(out + written, element.bytes, element.size);
        written += element.size;
        if (to == text.size)
            break;
        if (text.bytes[to] == '?') {
            changed = true;
            break;
        }
        out[written++] = '/';
        from = to + 1;
    }
    return changed ? written : 0;
}
