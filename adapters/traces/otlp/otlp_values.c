/* Key-values of OTLP in protobuf.
 *
 * A field that may stand once may be written twice, by whoever puts two messages one after the
 * other: of scalars the last counts, and messages are merged, which is the same as to put their
 * bytes one after the other (protobuf.dev/programming-guides/encoding, "Last One Wins"). The
 * members of an AnyValue exclude one another: another one forgets those before. Nobody writes much
 * like that, and each level of a value can be in pieces: how much of it is put together in a record
 * is limited, or a few megabytes could be made to take a gigabyte. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "otlp_protobuf.h"

/* ---- text ---- */

/* Text as names and values may have it, counted if it had to be repaired. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
static int repair_otlp_text(struct pythia__otlp_reader *r, struct pythia_text *text)
{
    if (pythia_text_is_sound(*text))
        return PYTHIA_OK;
    char *copy = pythia_arena_alloc(&r->scratch, text->size * 3);
    if (!copy)
        return PYTHIA_ENOMEM;
    *text = (struct pythia_text){copy, pythia_text_repair(*text, copy)};
    r->o.d.to->counts->repaired[PYTHIA_REPAIR_ENCODING]++;
    return PYTHIA_OK;
}

uint32_t pythia__otlp_key(struct pythia__otlp_reader *r, struct pythia_text prefix,
                          struct pythia_text text)
{
    uint32_t key = prefix.size == 0 ? pythia__key_seen(&r->o.d, text) : PYTHIA_NONE;
    if (key != PYTHIA_NONE)
        return key; /* only sound text is in the cache */
    if (repair_otlp_text(r, &text) != PYTHIA_OK)
        return PYTHIA_NONE;
    return pythia__key_below(&r->o.d, prefix, text);
}

/* Write bytes in base64, as OTLP/JSON does: the same capture in both forms gives the same
 * values. */
static int encode_bytes(struct pythia__otlp_reader *r, struct pythia_text *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = (bytes->size + 2) / 3 * 4;
    char *text = pythia_arena_alloc(&r->scratch, size), *to = text;
    if (!text)
        return PYTHIA_ENOMEM;
    const unsigned char *from = (const unsigned char *)bytes->bytes;
    for (size_t i = 0; i < bytes->size; i += 3) {
        size_t left = bytes->size - i;
        uint32_t three = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                         (left > 2 ? from[i + 2] : 0);
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = (char)(left > 1 ? digits[three >> 6 & 63] : '=');
        *to++ = (char)(left > 2 ? digits[three & 63] : '=');
    }
    *bytes = (struct pythia_text){text, size};
    return PYTHIA_OK;
}

/* ---- what is written more than once ---- */

/* Concatenate all BYTES fields of that number in the message, which has been read without a fault.
 */
static int merge_pieces(struct pythia__otlp_reader *r, struct pythia_protobuf message,
                        uint32_t number, struct pythia_text *out)
{
    struct pythia_protobuf_field f = {0};
    r->merged += (size_t)(message.end - message.at);
    if (r->merged > PYTHIA__OTLP_MERGED_MAX)
        return pythia__otlp_fail(r, message.at, "values in pieces have more than %zu bytes",
                                 PYTHIA__OTLP_MERGED_MAX);
    char *all = pythia_arena_alloc(&r->scratch, (size_t)(message.end - message.at)), *to = all;
    if (!all)
        return PYTHIA_ENOMEM;
    while (pythia_protobuf_next(&message, &f) == 0)
        if (f.number == number) {
            memcpy(to, f.bytes.bytes, f.bytes.size);
            to += f.bytes.size;
        }
    *out = (struct pythia_text){all, (size_t)(to - all)};
    return PYTHIA_OK;
}

/* Find the member that an AnyValue has; number 0 if it has none. A later member replaces an earlier
 * one, but an array or a list that is written several times in a row is merged, as protobuf
 * requires of messages: `run` is the part of the message to merge. */
static int read_any_value_member(struct pythia__otlp_reader *r, struct pythia_text message,
                                 struct pythia_protobuf_field *out)
{
    struct pythia_protobuf m = pythia_protobuf_of(message), run = m;
    struct pythia_protobuf_field f = {0};
    const char *begin = m.at;
    int status;
    bool again = false;
    out->number = 0;
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at)
        switch (PYTHIA__OTLP_TAG(f.number, VARINT) | f.type) {
        case PYTHIA__OTLP_TAG(1, BYTES):
        case PYTHIA__OTLP_TAG(2, VARINT):
        case PYTHIA__OTLP_TAG(3, VARINT):
        case PYTHIA__OTLP_TAG(4, FIXED64):
        case PYTHIA__OTLP_TAG(5, BYTES):
        case PYTHIA__OTLP_TAG(6, BYTES):
        case PYTHIA__OTLP_TAG(7, BYTES):
            again = out->number == f.number && (f.number == 5 || f.number == 6);
            if (!again)
                run.at = begin;
            run.end = m.at;
            *out = f;
            break;
        default:
            status = pythia__otlp_other(r, PYTHIA__OTLP_ANY_VALUE, f, begin);
            if (status != PYTHIA_OK)
                return status;
        }
    if (status < 0)
        return status;
    return again ? merge_pieces(r, run, out->number, &out->bytes) : PYTHIA_OK;
}

/* ---- values ---- */

static double decode_double(uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof(real));
    return real;
}

/* Append one value of an array; a value that is no scalar is passed over. */
static int join_value(struct pythia__otlp_reader *r, struct pythia_protobuf_field *f)
{
    char digits[24];
    int status = f->number == 1   ? repair_otlp_text(r, &f->bytes)
                 : f->number == 7 ? encode_bytes(r, &f->bytes)
                                  : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    switch (f->number) {
    case 1:
    case 7:
        pythia__otlp_join(&r->joined, f->bytes);
        break;
    case 2:
        pythia__otlp_join(&r->joined, f->value ? PYTHIA_TEXT("true") : PYTHIA_TEXT("false"));
        break;
    case 3:
        snprintf(digits, sizeof(digits), "%" PRId64, (int64_t)f->value);
        pythia__otlp_join(&r->joined, pythia_text_of(digits));
        break;
    case 4:
        pythia__otlp_join_real(&r->joined, decode_double(f->value));
        break;
    }
    return PYTHIA_OK;
}

/* Read an ArrayValue: its scalars become one text with commas between. */
static int read_protobuf_array(struct pythia__otlp_reader *r, uint32_t key,
                               struct pythia_text message)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {0}, value = {0};
    const char *begin = m.at;
    int status;
    pythia_buf_clear(&r->joined);
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at) {
        if (f.number != 1 || f.type != PYTHIA_PROTOBUF_BYTES)
            status = pythia__otlp_other(r, PYTHIA__OTLP_ARRAY, f, begin);
        else if ((status = read_any_value_member(r, f.bytes, &value)) == 0)
            status = join_value(r, &value);
        if (status != PYTHIA_OK)
            return status;
    }
    if (status < 0)
        return status;
    if (pythia_buf_status(&r->joined) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    pythia__add_text(&r->o.d, key, pythia_buf_text(&r->joined));
    return PYTHIA_OK;
}

/* A KeyValueList below the key `name`. */
static int read_protobuf_list(struct pythia__otlp_reader *r, struct pythia_text name,
                              struct pythia_text message, int depth)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {0};
    const char *begin = m.at;
    int status;
    if (depth >= PYTHIA__DEPTH_MAX)
        return pythia__otlp_fail(r, begin, "key-values are nested deeper than %d",
                                 PYTHIA__DEPTH_MAX);
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at) {
        status = f.number == 1 && f.type == PYTHIA_PROTOBUF_BYTES
                     ? pythia__otlp_key_value(r, f.bytes, name, depth + 1)
                     : pythia__otlp_other(r, PYTHIA__OTLP_LIST, f, begin);
        if (status != PYTHIA_OK)
            return status;
    }
    return status == 1 ? PYTHIA_OK : status;
}

/* Add an AnyValue under `key`, by the type that the exporter chose: a number stays a number. */
static int read_protobuf_value(struct pythia__otlp_reader *r, uint32_t key,
                               struct pythia_text message, int depth)
{
    struct pythia__decoder *d = &r->o.d;
    struct pythia_protobuf_field f = {0};
    int status = read_any_value_member(r, message, &f);
    if (status != PYTHIA_OK)
        return status;
    switch (f.number) {
    case 1:
    case 7:
        status = f.number == 1 ? repair_otlp_text(r, &f.bytes) : encode_bytes(r, &f.bytes);
        if (status != PYTHIA_OK)
            return status;
        pythia__add_text(d, key, f.bytes);
        return PYTHIA_OK;
    case 2:
        pythia_attributes_bool(&d->attributes, key, f.value != 0);
        return PYTHIA_OK;
    case 3:
        pythia_attributes_integer(&d->attributes, key, (int64_t)f.value);
        return PYTHIA_OK;
    case 4:
        pythia_attributes_real(&d->attributes, key, decode_double(f.value));
        return PYTHIA_OK;
    case 5:
        return read_protobuf_array(r, key, f.bytes);
    case 6:
        return read_protobuf_list(r, pythia_vocabulary_text(d->vocabulary, key), f.bytes, depth);
    default:
        return PYTHIA_OK;
    }
}

/* A KeyValue if it is written as nearly all are: 1; 0 if not, and nothing has happened.
 *
 *     0A size key | 12 size | 0A size text | 10 bool | 18 integer | 21 double
 *
 * All sizes are of one byte, and nothing is after what is drawn. */
static int read_short_key_value(struct pythia__otlp_reader *r, struct pythia_text message)
{
    struct pythia__decoder *d = &r->o.d;
    const unsigned char *at = (const unsigned char *)message.bytes, *end = at + message.size;
    const char *last = message.bytes + message.size;
    if (message.size < 6 || at[0] != 0x0A || at[1] >= 0x80 || at[1] + (size_t)6 > message.size)
        return 0;
    const unsigned char *value = at + 2 + at[1];
    size_t size = (size_t)(end - value) - 4; /* of what is after the member's tag and a byte */
    if (value[0] != 0x12 || size + 2 >= 0x80 || value[1] != size + 2)
        return 0;
    const char *member = (const char *)value + 2;
    struct pythia_text text = {member + 2, size};
    struct pythia_protobuf_varint integer = {0, NULL};
    bool plain = false;
    if (member[0] == 0x0A)
        plain = value[3] == size && pythia_text_is_sound(text);
    else if (member[0] == 0x10)
        plain = size == 0 && value[3] < 0x80;
    else if (member[0] == 0x18)
        plain = (integer = pythia_protobuf_varint(member + 1, last)).behind == last;
    else if (member[0] == 0x21)
        plain = size == 7;
    uint32_t key =
        plain ? pythia__key_seen(d, (struct pythia_text){message.bytes + 2, at[1]}) : PYTHIA_NONE;
    if (key == PYTHIA_NONE)
        return 0;
    if (member[0] == 0x0A)
        pythia__add_text(d, key, text);
    else if (member[0] == 0x10)
        pythia_attributes_bool(&d->attributes, key, value[3] != 0);
    else if (member[0] == 0x18)
        pythia_attributes_integer(&d->attributes, key, (int64_t)integer.value);
    else
        pythia_attributes_real(&d->attributes, key,
                               decode_double(pythia_protobuf_fixed64(member + 1)));
    return 1;
}

/* The key may come after the value, so that both are found before anything is added. */
int pythia__otlp_key_value(struct pythia__otlp_reader *r, struct pythia_text message,
                           struct pythia_text prefix, int depth)
{
    if (prefix.size == 0 && read_short_key_value(r, message))
        return PYTHIA_OK;
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {0};
    struct pythia_text name = {NULL, 0}, value = {NULL, 0};
    const char *begin = m.at;
    bool again = false;
    int status;
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at)
        switch (PYTHIA__OTLP_TAG(f.number, VARINT) | f.type) {
        case PYTHIA__OTLP_TAG(1, BYTES):
            name = f.bytes;
            break;
        case PYTHIA__OTLP_TAG(2, BYTES):
            again = value.bytes != NULL;
            value = f.bytes;
            break;
        default:
            status = pythia__otlp_other(r, PYTHIA__OTLP_KEY_VALUE, f, begin);
            if (status != PYTHIA_OK)
                return status;
        }
    if (status == 1 && again)
        status = merge_pieces(r, pythia_protobuf_of(message), 2, &value);
    if (status < 0 || !name.bytes || !value.bytes)
        return status < 0 ? status : PYTHIA_OK;
    uint32_t key = pythia__otlp_key(r, prefix, name);
    return key == PYTHIA_NONE ? PYTHIA_ENOMEM : read_protobuf_value(r, key, value, depth);
}
