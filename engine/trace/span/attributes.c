#include "pythia/attributes.h"

#include <string.h>

#define VARINT_MAX 10 /* bytes of 64 bits */

static char *write_attribute_varint(char *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (char)(number | 0x80);
        number >>= 7;
    }
    *to++ = (char)number;
    return to;
}

static char *write_attribute_head(char *to, uint32_t key, enum pythia_attribute_kind kind)
{
    return write_attribute_varint(to, (uint64_t)key * 4 + kind);
}

static uint64_t zigzag_encode(int64_t number)
{
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

static void write_attribute_integer(struct pythia_buf *to, uint32_t key,
                                    enum pythia_attribute_kind kind, int64_t number)
{
    char *begin = pythia_buf_reserve(to, (size_t)2 * VARINT_MAX);
    if (begin)
        to->size += (size_t)(write_attribute_varint(write_attribute_head(begin, key, kind),
                                                    zigzag_encode(number)) -
                             begin);
}

void pythia_attributes_text(struct pythia_buf *to, uint32_t key, struct pythia_text text)
{
    char *begin = pythia_buf_reserve(to, (size_t)2 * VARINT_MAX + text.size), *end;
    if (!begin)
        return;
    end =
        write_attribute_varint(write_attribute_head(begin, key, PYTHIA_ATTRIBUTE_TEXT), text.size);
    if (text.size)
        memcpy(end, text.bytes, text.size);
    to->size += (size_t)(end - begin) + text.size;
}

void pythia_attributes_integer(struct pythia_buf *to, uint32_t key, int64_t number)
{
    write_attribute_integer(to, key, PYTHIA_ATTRIBUTE_INTEGER, number);
}

void pythia_attributes_bool(struct pythia_buf *to, uint32_t key, bool truth)
{
    write_attribute_integer(to, key, PYTHIA_ATTRIBUTE_BOOL, truth);
}

void pythia_attributes_real(struct pythia_buf *to, uint32_t key, double number)
{
    char *begin = pythia_buf_reserve(to, VARINT_MAX + sizeof(number)), *end;
    if (!begin)
        return;
    end = write_attribute_head(begin, key, PYTHIA_ATTRIBUTE_REAL);
    memcpy(end, &number, sizeof(number));
    to->size += (size_t)(end - begin) + sizeof(number);
}

bool pythia_attributes_find(struct pythia_text packed, uint32_t key, struct pythia_attribute *out)
{
    struct pythia_attribute one;
    bool found = false;
    while (pythia_attributes_next(&packed, &one))
        if (one.key == key) {
            *out = one;
            found = true;
        }
    return found;
}

/* None has less than 2 bytes, so that most need not be counted. */
size_t pythia_attributes_limit(struct pythia_text *packed, size_t max)
{
    struct pythia_text rest = *packed;
    struct pythia_attribute unused;
    size_t count = 0, more = 0;
    if (packed->size / 2 <= max)
        return 0;
    while (count < max && pythia_attributes_next(&rest, &unused))
        count++;
    packed->size -= rest.size;
    while (pythia_attributes_next(&rest, &unused))
        more++;
    return more;
}
