#ifndef PYTHIA_TEXT_H
#define PYTHIA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A piece of text that somebody else owns; not NUL-terminated, and any byte may be in it. */
struct pythia_text {
    const char *bytes;
    size_t size;
};

/* A string literal as a text. */
#define PYTHIA_TEXT(literal) ((struct pythia_text){"" literal, sizeof(literal) - 1})

static inline struct pythia_text pythia_text_of(const char *string)
{
    return (struct pythia_text){string, strlen(string)};
}

static inline bool pythia_text_equal(struct pythia_text a, struct pythia_text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* Is `text` the string literal `literal`? Compiles to a compare of sizes and a memcmp. */
#define PYTHIA_TEXT_IS(text, literal)                                                              \
    ((text).size == sizeof(literal) - 1 &&                                                         \
     memcmp((text).bytes, "" literal, sizeof(literal) - 1) == 0)

/* Order by bytes, then by size: the same on every machine. Negative, 0 or positive. */
int pythia_text_compare(struct pythia_text a, struct pythia_text b);

/* Does `text` begin with, end with, or contain another text? Every text has the empty one. */
bool pythia_text_starts(struct pythia_text text, struct pythia_text prefix);
bool pythia_text_ends(struct pythia_text text, struct pythia_text suffix);
bool pythia_text_contains(struct pythia_text text, struct pythia_text part);

/* Does `text` fit a pattern, in which * is any bytes and ? is one? Letters of ASCII fit those of
 * either case, if `any_case`. O(size of the text * size of the pattern), and usually their sum. */
bool pythia_text_fits(struct pythia_text text, struct pythia_text pattern, bool any_case);

/* The value of a hexadecimal digit, 0 to 15; -1: it is none. */
int pythia_text_hex_digit(char c);

/* A text without the blanks, tabs and ends of lines around it. */
struct pythia_text pythia_text_trim(struct pythia_text text);

/* A whole number in decimal digits, at most `most`; and seconds with or without a fraction, in ns,
 * up to the year 2262 (digits below them are left out). False for any other text, with *out
 * untouched. */
bool pythia_text_unsigned(struct pythia_text text, uint64_t most, uint64_t *out);
bool pythia_text_seconds(struct pythia_text text, uint64_t *out_ns);

/* Is every byte of `text` from 1 to 127? 8 bytes a step: a byte of 0, less 1, and a byte above 127
 * have the highest bit. */
static inline bool pythia_text_is_ascii(struct pythia_text text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word, seen = 0;
    size_t at = 0;
    for (; at + sizeof(word) <= text.size; at += sizeof(word)) {
        memcpy(&word, text.bytes + at, sizeof(word));
        seen |= word | (word - ones);
    }
    if (at < text.size && at > 0) { /* the last bytes once more, with those that are left */
        memcpy(&word, text.bytes + text.size - sizeof(word), sizeof(word));
        seen |= word | (word - ones);
        at = text.size;
    }
    for (; at < text.size; at++) {
        unsigned char byte = (unsigned char)text.bytes[at];
        seen |= byte | (byte - 1u);
    }
    return (seen & ones << 7) == 0;
}

/* Apply the full check of pythia_text_is_sound, byte by byte, for texts that are not plain
 * ASCII. */
bool pythia__text_is_sound(struct pythia_text text);

/* Is `text` UTF-8 without U+0000, which no name needs and which would cut short whatever passes it
 * on as a C string? */
static inline bool pythia_text_is_sound(struct pythia_text text)
{
    return pythia_text_is_ascii(text) || pythia__text_is_sound(text);
}

/* Copy `text` with U+FFFD for U+0000 and for each byte that belongs to no UTF-8 sequence, into
 * `out`, which has room for 3 * text.size bytes. Returns the bytes written. */
size_t pythia_text_repair(struct pythia_text text, char *out);

/* Replace what looks like an identifier in a path-like name: an element between '/' that is a
 * number, a UUID or at least 16 hexadecimal digits becomes "{id}", and a query after '?' is cut.
 * Writes at most `capacity` bytes to `out` (never more than text.size + 4 per element) and returns
 * the bytes written; returns 0 when nothing had to be replaced or the result does not fit: `text`
 * is then its own template. */
size_t pythia_text_template(struct pythia_text text, char *out, size_t capacity);

/* A UUID (8-4-4-4-12 digits, any case) or 32 digits without dashes as 16 bytes; false if it is
 * neither. */
bool pythia_text_uuid(struct pythia_text text, uint64_t *high, uint64_t *low);

/* 1 to 32 hexadecimal digits of any case as a number of 128 bits; false for anything else. */
bool pythia_text_hex(struct pythia_text text, uint64_t *high, uint64_t *low);

#endif
