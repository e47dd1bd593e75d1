#ifndef PYTHIA_PROTOBUF_H
#define PYTHIA_PROTOBUF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pythia/status.h"
#include "pythia/text.h"

/* Protobuf's wire format (protobuf.dev/programming-guides/encoding). A message is its fields, one
 * after the other:
 *
 *     varint number * 8 + type | VARINT: varint | FIXED64: 8 bytes | BYTES: varint size, bytes |
 * FIXED32: 4 bytes
 *
 * A varint has 7 bits a byte, the lowest first, and the highest bit set in all bytes but the last:
 * 1 to 10 bytes. All is little-endian. What the numbers mean is up to whoever reads. Groups went
 * out of use with proto2; a reader still has to pass over those that it does not know, and no
 * reader here knows any: a field of type 3, other fields, and a field of type 4 with the same
 * number. */
enum pythia_protobuf_type {
    PYTHIA_PROTOBUF_VARINT = 0,
    PYTHIA_PROTOBUF_FIXED64 = 1,
    PYTHIA_PROTOBUF_BYTES = 2, /* text, bytes, a message */
    PYTHIA_PROTOBUF_FIXED32 = 5,
};

#define PYTHIA_PROTOBUF_GROUP      3 /* the types that begin and end a group; no reader sees them */
#define PYTHIA_PROTOBUF_GROUP_END  4
#define PYTHIA_PROTOBUF_GROUPS_MAX 32 /* in one another */
#define PYTHIA_PROTOBUF_TAG_MAX    5  /* bytes of number * 8 + type */
#define PYTHIA_PROTOBUF_VARINT_MAX 10

/* Fields are read a hundred million times a second, and only in registers: written to memory and
 * read back as a whole, what is made of parts halves that. So these are always inlined, and take no
 * address of a field. */
#define PYTHIA_PROTOBUF_INLINE __attribute__((always_inline))

struct pythia_protobuf_field {
    uint32_t number; /* 1 to 2^29 - 1 */
    enum pythia_protobuf_type type;
    uint64_t value;           /* of a VARINT, FIXED64 or FIXED32; the size of BYTES */
    struct pythia_text bytes; /* of BYTES; borrowed from the message */
};

/* The unread rest of a message in memory. Public, by value; make one from the bytes. */
struct pythia_protobuf {
    const char *at, *end;
};

static inline struct pythia_protobuf pythia_protobuf_of(struct pythia_text message)
{
    return (struct pythia_protobuf){message.bytes, message.bytes + message.size};
}

/* A varint: its value and where it ends, NULL if it does not before the message does or has more
 * than 10 bytes. Bits above the 64th are dropped, as all readers do. */
struct pythia_protobuf_varint {
    uint64_t value;
    const char *behind;
};

/* Read a varint of any length that ends before `end`. The inline reader below falls back on
 * this. */
struct pythia_protobuf_varint pythia_protobuf_long_varint(const char *at, const char *end);

static inline PYTHIA_PROTOBUF_INLINE struct pythia_protobuf_varint
pythia_protobuf_varint(const char *at, const char *end)
{
    if (at < end && (unsigned char)*at < 0x80)
        return (struct pythia_protobuf_varint){(unsigned char)*at, at + 1};
    return pythia_protobuf_long_varint(at, end);
}

/* The number that 4 or 8 bytes are. */
static inline uint64_t pythia_protobuf_fixed32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24;
}
static inline uint64_t pythia_protobuf_fixed64(const char *at)
{
    return pythia_protobuf_fixed32(at) | pythia_protobuf_fixed32(at + 4) << 32;
}

/* A tag, which is a varint, of more than one byte or that is none: number * 8 + type, and where it
 * ends, NULL if it is not a field's. */
struct pythia_protobuf_varint pythia_protobuf_long_tag(const char *at, const char *end);

/* Where the group ends that begins at `at`; NULL if none does, or not all of it stands before
 * `end`, or it is broken. Linear in its size. */
const char *pythia_protobuf_behind_group(const char *at, const char *end);

/* The tag at `at` and what comes after it, into number, type and value, but for the bytes of
 * BYTES: where it ends, or NULL if there is no such thing before `end`, or a
 * group begins or ends there. */
static inline PYTHIA_PROTOBUF_INLINE const char *
pythia_protobuf_head(const char *at, const char *end, struct pythia_protobuf_field *out)
{
    struct pythia_protobuf_varint varint = {at < end ? (unsigned char)*at : 0, at + 1};
    if (varint.value < 8 || varint.value >= 0x80) {
        varint = pythia_protobuf_long_tag(at, end);
        if (!varint.behind)
            return NULL;
    }
    at = varint.behind;
    out->number = (uint32_t)varint.value >> 3;
    out->type = (enum pythia_protobuf_type)(varint.value & 7);
    if (out->type == PYTHIA_PROTOBUF_BYTES || out->type == PYTHIA_PROTOBUF_VARINT) {
        varint = pythia_protobuf_varint(at, end);
        out->value = varint.value;
        return varint.behind;
    }
    if (out->type == PYTHIA_PROTOBUF_FIXED64 && end - at >= 8) {
        out->value = pythia_protobuf_fixed64(at);
        return at + 8;
    }
    if (out->type == PYTHIA_PROTOBUF_FIXED32 && end - at >= 4) {
        out->value = pythia_protobuf_fixed32(at);
        return at + 4;
    }
    return NULL;
}

/* Take the next field off the front of `m`: 0, or 1 at its end. Groups are passed over.
 * PYTHIA_EFORMAT if what is left is no field: `m` stays, and pythia_protobuf_fault says why. O(1),
 * but for groups. */
static inline PYTHIA_PROTOBUF_INLINE int pythia_protobuf_next(struct pythia_protobuf *m,
                                                              struct pythia_protobuf_field *out)
{
    const char *at;
    for (;;) {
        if (m->at == m->end)
            return 1;
        at = pythia_protobuf_head(m->at, m->end, out);
        if (__builtin_expect(at != NULL, true))
            break;
        at = pythia_protobuf_behind_group(m->at, m->end);
        if (!at)
            return PYTHIA_EFORMAT;
        m->at = at;
    }
    if (out->type == PYTHIA_PROTOBUF_BYTES) {
        if (out->value > (uint64_t)(m->end - at))
            return PYTHIA_EFORMAT;
        out->bytes = (struct pythia_text){at, (size_t)out->value};
        at += out->value;
    }
    m->at = at;
    return PYTHIA_OK;
}

/* Why there is no field at the front of `m`, which is not at its end, as a sentence into `out` of
 * `size` bytes. Returns whether bytes are missing: there might be a field if `m` went on. */
bool pythia_protobuf_fault(struct pythia_protobuf m, char *out, size_t size);

#endif
