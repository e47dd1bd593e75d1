/* The window:
 *
 *     passed | taken last | at hand            |  not yet read
 *     window              at            filled     memory + capacity
 *
 * When more is wanted than is there, what is at hand moves to the front and the rest of the memory
 * is filled; the memory doubles as long as that is too little, so that a size that is not true
 * costs no more than the bytes there are. */
#include "pythia/protobuf_stream.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "pythia/mem.h"

#define WINDOW_BYTES ((size_t)512 * 1024)
#define HEAD_MAX     ((size_t)PYTHIA_PROTOBUF_TAG_MAX + PYTHIA_PROTOBUF_VARINT_MAX)

void pythia_protobuf_stream_begin(struct pythia_protobuf_stream *s, struct pythia_source *from,
                                  size_t limit)
{
    *s = (struct pythia_protobuf_stream){
        .from = from, .memory = s->memory, .capacity = s->capacity, .limit = limit};
    struct pythia_text lent = from->borrow ? from->borrow(from) : (struct pythia_text){NULL, 0};
    s->ended = lent.bytes != NULL;
    s->window = s->at = lent.bytes ? lent.bytes : s->memory;
    s->filled = lent.bytes ? lent.bytes + lent.size : s->memory;
}

void pythia_protobuf_stream_free(struct pythia_protobuf_stream *s)
{
    pythia_free(s->memory);
    *s = (struct pythia_protobuf_stream){0};
}

static size_t bytes_left(const struct pythia_protobuf_stream *s)
{
    return (size_t)(s->filled - s->at);
}

int pythia_protobuf_stream_fail(struct pythia_protobuf_stream *s, uint64_t offset, int status,
                                const char *format, ...)
{
    char sentence[sizeof(s->error.sentence)];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    pythia_error_set(&s->error, status, "%s", sentence);
    pythia_error_place(&s->error, s->from->name, 0, offset);
    return status;
}

/* ---- the window ---- */

/* Memory for more than is at hand. */
static int make_room(struct pythia_protobuf_stream *s)
{
    if (bytes_left(s) < s->capacity)
        return PYTHIA_OK;
    size_t capacity = s->capacity ? s->capacity * 2 : WINDOW_BYTES, kept = bytes_left(s);
    char *memory = pythia_realloc(s->memory, capacity, 1);
    if (!memory)
        return pythia_protobuf_stream_fail(s, pythia_protobuf_stream_at(s), PYTHIA_ENOMEM,
                                           "no memory for a record of %zu bytes", capacity);
    s->window = s->at = s->memory = memory;
    s->filled = memory + kept;
    s->capacity = capacity;
    return PYTHIA_OK;
}

/* Move what is at hand to the front and fill what is behind it. */
static int refill_window(struct pythia_protobuf_stream *s)
{
    size_t kept = bytes_left(s);
    s->offset = pythia_protobuf_stream_at(s);
    if (kept > 0 && s->at != s->memory)
        memmove(s->memory, s->at, kept);
    s->window = s->at = s->memory;
    s->filled = s->memory ? s->memory + kept : NULL;
    int status = make_room(s);
    while (status == PYTHIA_OK && !s->ended && bytes_left(s) < s->capacity) {
        size_t got = 0;
        int read = s->from->read(s->from, s->memory + bytes_left(s), s->capacity - bytes_left(s),
                                 &got, &s->cause);
        s->ended = read != PYTHIA_OK || got == 0;
        if (read != PYTHIA_OK && s->cause.status == PYTHIA_OK)
            pythia_error_set(&s->cause, read, "%s", pythia_status_text(read));
        s->filled += got;
    }
    return status;
}

/* At least `size` bytes at hand, or all that there are. */
static int want_bytes(struct pythia_protobuf_stream *s, size_t size)
{
    int status = PYTHIA_OK;
    while (bytes_left(s) < size && !s->ended && status == PYTHIA_OK)
        status = refill_window(s);
    return status;
}

/* The source has ended before `end`: what there is, is used up. */
static int end_early(struct pythia_protobuf_stream *s, uint64_t end)
{
    if (s->cause.status != PYTHIA_OK) {
        s->source_failed = true;
        s->error = s->cause;
        return s->error.status;
    }
    uint64_t reached = s->offset + (uint64_t)(s->filled - s->window);
    s->at = s->filled;
    s->cut_off = true;
    if (end == PYTHIA_PROTOBUF_OPEN)
        return pythia_protobuf_stream_fail(s, reached, PYTHIA_EFORMAT,
                                           "the input ends in the middle of a field");
    return pythia_protobuf_stream_fail(
        s, reached, PYTHIA_EFORMAT,
        "the input ends in the middle of a message: %" PRIu64 " bytes are missing", end - reached);
}

/* ---- fields ---- */

int pythia_protobuf_stream_peek(struct pythia_protobuf_stream *s, unsigned char *out)
{
    int status = want_bytes(s, 1);
    if (status != PYTHIA_OK)
        return status;
    if (bytes_left(s) == 0)
        return s->cause.status == PYTHIA_OK ? 1 : end_early(s, PYTHIA_PROTOBUF_OPEN);
    *out = (unsigned char)*s->at;
    return PYTHIA_OK;
}

int pythia_protobuf_stream_frame(struct pythia_protobuf_stream *s, uint64_t *end)
{
    int status = want_bytes(s, 4);
    if (status != PYTHIA_OK)
        return status;
    if (bytes_left(s) == 0 && (s->cut_off || s->cause.status == PYTHIA_OK))
        return 1;
    if (bytes_left(s) < 4)
        return end_early(s, pythia_protobuf_stream_at(s) + 4);
    const unsigned char *b = (const unsigned char *)s->at;
    uint64_t size = (uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3];
    s->at += 4;
    *end = pythia_protobuf_stream_at(s) + size;
    return PYTHIA_OK;
}

/* There is no field at hand: is that because the input has ended, or the message, or is something
 * else there? */
static int no_field(struct pythia_protobuf_stream *s, const char *end, uint64_t message_end)
{
    char why[200];
    bool ends = pythia_protobuf_fault((struct pythia_protobuf){s->at, end}, why, sizeof(why));
    return ends && end == s->filled &&
                   pythia_protobuf_stream_at(s) + (uint64_t)(end - s->at) < message_end
               ? end_early(s, message_end)
               : pythia_protobuf_stream_fail(s, pythia_protobuf_stream_at(s), PYTHIA_EFORMAT, "%s",
                                             why);
}

/* The tag at `at` that begins or ends a group: where it ends, or NULL. */
static const char *group_tag(const char *at, const char *end, struct pythia_protobuf_field *out)
{
    struct pythia_protobuf_varint tag = pythia_protobuf_long_tag(at, end);
    const unsigned type = (unsigned)tag.value & 7;
    if (!tag.behind || (type != PYTHIA_PROTOBUF_GROUP && type != PYTHIA_PROTOBUF_GROUP_END))
        return NULL;
    out->number = (uint32_t)tag.value >> 3;
    out->type = (enum pythia_protobuf_type)type;
    return tag.behind;
}

static int pass_groups(struct pythia_protobuf_stream *s, uint64_t end,
                       struct pythia_protobuf_field *out);

int pythia_protobuf_stream_field(struct pythia_protobuf_stream *s, uint64_t end,
                                 struct pythia_protobuf_field *out)
{
    uint64_t begin = pythia_protobuf_stream_at(s);
    if (begin == end || s->cut_off)
        return 1;
    if (bytes_left(s) < HEAD_MAX) {
        int status = want_bytes(s, HEAD_MAX);
        if (status != PYTHIA_OK)
            return status;
        if (bytes_left(s) == 0)
            return end == PYTHIA_PROTOBUF_OPEN && s->cause.status == PYTHIA_OK ? 1
                                                                               : end_early(s, end);
    }
    const char *stop = end - begin < bytes_left(s) ? s->at + (end - begin) : s->filled;
    const char *behind = pythia_protobuf_head(s->at, stop, out);
    if (!behind)
        return group_tag(s->at, stop, out) ? pass_groups(s, end, out) : no_field(s, stop, end);
    uint64_t head = (uint64_t)(behind - s->at);
    if (out->type == PYTHIA_PROTOBUF_BYTES && out->value > end - begin - head)
        return end == PYTHIA_PROTOBUF_OPEN
                   ? pythia_protobuf_stream_fail(s, begin, PYTHIA_EFORMAT,
                                                 "field %" PRIu32 " of %" PRIu64
                                                 " bytes, more than there can be",
                                                 out->number, out->value)
                   : pythia_protobuf_stream_fail(s, begin, PYTHIA_EFORMAT,
                                                 "field %" PRIu32 " of %" PRIu64
                                                 " bytes in a message that ends %" PRIu64
                                                 " bytes on",
                                                 out->number, out->value, end - begin - head);
    s->at = behind;
    return PYTHIA_OK;
}

/* Pass over the tag at hand, if it begins or ends a group: PYTHIA_OK. 1: it does neither. */
static int pass_group_tag(struct pythia_protobuf_stream *s, uint64_t end,
                          struct pythia_protobuf_field *out)
{
    int status = want_bytes(s, HEAD_MAX);
    if (status != PYTHIA_OK)
        return status;
    uint64_t rest = end - pythia_protobuf_stream_at(s);
    const char *behind = group_tag(s->at, rest < bytes_left(s) ? s->at + rest : s->filled, out);
    s->at = behind ? behind : s->at;
    return behind ? PYTHIA_OK : 1;
}

/* Pass over the field at hand, which is no group. */
static int pass_field(struct pythia_protobuf_stream *s, uint64_t end, uint64_t begin,
                      uint32_t number)
{
    struct pythia_protobuf_field f = {.number = 0};
    int status = pythia_protobuf_stream_field(s, end, &f);
    if (status == 1 && !s->cut_off)
        return pythia_protobuf_stream_fail(
            s, begin, PYTHIA_EFORMAT, "the message ends in the middle of field %" PRIu32, number);
    return status == PYTHIA_OK && f.type == PYTHIA_PROTOBUF_BYTES
               ? pythia_protobuf_stream_pass(s, pythia_protobuf_stream_end(s, &f))
               : status;
}

/* Pass over the rest of the group that began with `first`, at offset `begin`. */
static int pass_group(struct pythia_protobuf_stream *s, uint64_t end,
                      const struct pythia_protobuf_field *first, uint64_t begin)
{
    uint32_t open[PYTHIA_PROTOBUF_GROUPS_MAX] = {first->number};
    struct pythia_protobuf_field tag = {.number = 0};
    size_t depth = 1;
    if ((unsigned)first->type == PYTHIA_PROTOBUF_GROUP_END)
        return pythia_protobuf_stream_fail(s, begin, PYTHIA_EFORMAT,
                                           "field %" PRIu32 " ends a group that has not begun",
                                           first->number);
    while (depth > 0) {
        int status = pass_group_tag(s, end, &tag);
        if (status == 1) {
            status = pass_field(s, end, begin, first->number);
            if (status == PYTHIA_OK)
                continue;
        }
        if (status != PYTHIA_OK)
            return status;
        bool begins = (unsigned)tag.type == PYTHIA_PROTOBUF_GROUP;
        if (begins ? depth == PYTHIA_PROTOBUF_GROUPS_MAX : open[depth - 1] != tag.number)
            return pythia_protobuf_stream_fail(
                s, begin, PYTHIA_EFORMAT,
                "field %" PRIu32 " is a group that is broken, or has more than %d in it",
                first->number, PYTHIA_PROTOBUF_GROUPS_MAX - 1);
        if (begins)
            open[depth++] = tag.number;
        else
            depth--;
    }
    return PYTHIA_OK;
}

/* There is a group at hand: pass over it and those after it, and read the field that follows. */
static int pass_groups(struct pythia_protobuf_stream *s, uint64_t end,
                       struct pythia_protobuf_field *out)
{
    uint64_t begin = pythia_protobuf_stream_at(s);
    int status;
    while ((status = pass_group_tag(s, end, out)) == PYTHIA_OK) {
        status = pass_group(s, end, out, begin);
        if (status != PYTHIA_OK)
            return status;
        begin = pythia_protobuf_stream_at(s);
    }
    return status == 1 ? pythia_protobuf_stream_field(s, end, out) : status;
}

int pythia_protobuf_stream_take(struct pythia_protobuf_stream *s,
                                const struct pythia_protobuf_field *field, struct pythia_text *out)
{
    if (field->value > s->limit)
        return pythia_protobuf_stream_fail(s, pythia_protobuf_stream_at(s), PYTHIA_ELIMIT,
                                           "a record is larger than %zu bytes", s->limit);
    size_t size = (size_t)field->value;
    int status = want_bytes(s, size);
    if (status != PYTHIA_OK)
        return status;
    if (bytes_left(s) < size)
        return end_early(s, pythia_protobuf_stream_at(s) + size);
    *out = (struct pythia_text){s->at, size};
    s->at += size;
    return PYTHIA_OK;
}

int pythia_protobuf_stream_pass(struct pythia_protobuf_stream *s, uint64_t end)
{
    while (!s->cut_off && end - pythia_protobuf_stream_at(s) > bytes_left(s)) {
        s->at = s->filled;
        if (s->ended)
            return end == PYTHIA_PROTOBUF_OPEN && s->cause.status == PYTHIA_OK ? PYTHIA_OK
                                                                               : end_early(s, end);
        int status = refill_window(s);
        if (status != PYTHIA_OK)
            return status;
    }
    if (!s->cut_off && end > pythia_protobuf_stream_at(s))
        s->at += end - pythia_protobuf_stream_at(s);
    return PYTHIA_OK;
}

uint64_t pythia_protobuf_stream_offset(const struct pythia_protobuf_stream *s, const char *byte,
                                       uint64_t otherwise)
{
    bool inside =
        (uintptr_t)byte >= (uintptr_t)s->window && (uintptr_t)byte <= (uintptr_t)s->filled;
    return inside ? s->offset + (uint64_t)(byte - s->window) : otherwise;
}
