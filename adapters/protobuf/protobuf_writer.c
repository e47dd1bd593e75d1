#include "pythia/protobuf_writer.h"

#include <string.h>

#include "pythia/protobuf.h"

static char *write_protobuf_varint(char *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (char)(number | 0x80);
    *to++ = (char)number;
    return to;
}

static char *put_tag(char *to, uint32_t field, enum pythia_protobuf_type type)
{
    return write_protobuf_varint(to, (uint64_t)field << 3 | type);
}

/* A tag and a varint. */
static void put_head(struct pythia_buf *to, uint32_t field, enum pythia_protobuf_type type,
                     uint64_t number)
{
    char head[PYTHIA_PROTOBUF_TAG_MAX + PYTHIA_PROTOBUF_VARINT_MAX];
    const char *end = write_protobuf_varint(put_tag(head, field, type), number);
    pythia_buf_add(to, head, (size_t)(end - head));
}

/* A tag and the lowest `size` bytes of a number. */
static void put_fixed(struct pythia_buf *to, uint32_t field, enum pythia_protobuf_type type,
                      uint64_t number, int size)
{
    char field_bytes[PYTHIA_PROTOBUF_TAG_MAX + 8], *at = put_tag(field_bytes, field, type);
    for (int i = 0; i < size; i++)
        *at++ = (char)(number >> 8 * i);
    pythia_buf_add(to, field_bytes, (size_t)(at - field_bytes));
}

void pythia_protobuf_put_number(struct pythia_buf *to, uint32_t field, uint64_t number)
{
    put_head(to, field, PYTHIA_PROTOBUF_VARINT, number);
}

void pythia_protobuf_put_fixed64(struct pythia_buf *to, uint32_t field, uint64_t number)
{
    put_fixed(to, field, PYTHIA_PROTOBUF_FIXED64, number, 8);
}

void pythia_protobuf_put_double(struct pythia_buf *to, uint32_t field, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    pythia_protobuf_put_fixed64(to, field, bits);
}

void pythia_protobuf_put_size(struct pythia_buf *to, uint32_t field, uint64_t size)
{
    put_head(to, field, PYTHIA_PROTOBUF_BYTES, size);
}

void pythia_protobuf_put_bytes(struct pythia_buf *to, uint32_t field, struct pythia_text bytes)
{
    pythia_protobuf_put_size(to, field, bytes.size);
    pythia_buf_text_add(to, bytes);
}
