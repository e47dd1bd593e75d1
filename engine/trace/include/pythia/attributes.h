#ifndef PYTHIA_ATTRIBUTES_H
#define PYTHIA_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/text.h"

/* The key-values of a span, packed: most are never looked at, so they are kept as a string of
 * bytes, some 10 of them for each key-value, and unpacked by whoever asks.
 *
 *     varint key * 4 + kind | TEXT: varint size, bytes | INTEGER, BOOL: zigzag varint | REAL: 8
 * bytes */
enum pythia_attribute_kind {
    PYTHIA_ATTRIBUTE_TEXT,
    PYTHIA_ATTRIBUTE_INTEGER,
    PYTHIA_ATTRIBUTE_REAL,
    PYTHIA_ATTRIBUTE_BOOL,
};

struct pythia_attribute {
    uint32_t key; /* number of a string of the vocabulary, below 2^30 */
    enum pythia_attribute_kind kind;
    struct pythia_text text; /* TEXT; borrowed from the packed bytes */
    int64_t integer;         /* INTEGER; BOOL as 0 or 1 */
    double real;             /* REAL; may be NaN or infinite, as the source said */
};

/* Append one; `to->failed` says whether memory was missing. */
void pythia_attributes_text(struct pythia_buf *to, uint32_t key, struct pythia_text text);
void pythia_attributes_integer(struct pythia_buf *to, uint32_t key, int64_t number);
void pythia_attributes_real(struct pythia_buf *to, uint32_t key, double number);
void pythia_attributes_bool(struct pythia_buf *to, uint32_t key, bool truth);

/* A varint of packed bytes, which are our own: they are well formed. What is behind it. */
static inline const char *pythia_attributes_varint(const char *from, uint64_t *number)
{
    unsigned char byte = (unsigned char)*from++;
    uint64_t value = byte & 0x7F;
    for (unsigned shift = 7; byte & 0x80; shift += 7) {
        byte = (unsigned char)*from++;
        value |= (uint64_t)(byte & 0x7F) << shift;
    }
    *number = value;
    return from;
}

/* Take the next one off the front of *rest, which begins as the packed bytes; false when none is
 * left. In the header because every key-value is looked at several times on its way. */
static inline bool pythia_attributes_next(struct pythia_text *rest, struct pythia_attribute *out)
{
    if (rest->size == 0)
        return false;
    uint64_t head, number;
    const char *from = pythia_attributes_varint(rest->bytes, &head);
    *out = (struct pythia_attribute){.key = (uint32_t)(head / 4),
                                     .kind = (enum pythia_attribute_kind)(head % 4)};
    if (out->kind == PYTHIA_ATTRIBUTE_REAL) {
        memcpy(&out->real, from, sizeof(out->real));
        from += sizeof(out->real);
    } else {
        from = pythia_attributes_varint(from, &number);
        if (out->kind == PYTHIA_ATTRIBUTE_TEXT) {
            out->text = (struct pythia_text){from, (size_t)number};
            from += number;
        } else { /* zigzag */
            out->integer = (int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
        }
    }
    rest->size -= (size_t)(from - rest->bytes);
    rest->bytes = from;
    return true;
}

/* Keep the first `max` of them: how many are left out. O(max) if there are no more. */
size_t pythia_attributes_limit(struct pythia_text *packed, size_t max);

/* The last one with that key; false if there is none. */
bool pythia_attributes_find(struct pythia_text packed, uint32_t key, struct pythia_attribute *out);

#endif
