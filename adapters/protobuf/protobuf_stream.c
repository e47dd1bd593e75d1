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
static int grow_memory(struct pythia_protobuf_stream *s)
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

/* Move the bytes that are left to the front, and fill the memory after them. */
static int refill_window(struct pythia_protobuf_stream *s)
{
    size_t kept = bytes_left(s);
    s->offset = pythia_protobuf_stream_at(s);
    if (kept > 0 && s->at != s->memory)
        memmove(s->memory, s->at, kept);
    s->window = s->at = s->memory;
    s->filled = s->memory ? s->memory + kept : NULL;
    int status = grow_memory(s);
    if (status != PYTHIA_OK)
        return status;
    while (!s->ended && bytes_left(s) < s->capacity) {
        size_t got = 0;
        int read = s->from->read(s->from, s->memory + bytes_left(s), s->capacity - bytes_left(s),
                                 &got, &s->cause);
        s->ended = read != PYTHIA_OK || got == 0;
        if (read != PYTHIA_OK)
            pythia_error_set(&s->cause, read, "%s", pythia_status_text(read));
        s->filled += got;
    }
    return PYTHIA_OK;
}

/* Have at least `size` bytes in the window, or all that there are. */
static int require_bytes(struct pythia_protobuf_stream *s, size_t size)
{
    while (bytes_left(s) < size && !s->ended) {
        int status = refill_window(s);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Did the input end where a message without a stated size may end? */
static bool ends_well(const struct pythia_protobuf_stream *s, uint64_t end)
{
    return end == PYTHIA_PROTOBUF_OPEN && s->cause.status == PYTHIA_OK;
}

/* The source has ended before `end`: fail, and use up what is left. */
static int fail_at_end(struct pythia_protobuf_stream *s, uint64_t end)
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
    int status = require_bytes(s, 1);
    if (status != PYTHIA_OK)
        return status;
    if (bytes_left(s) == 0)
        return ends_well(s, PYTHIA_PROTOBUF_OPEN) ? 1 : fail_at_end(s, PYTHIA_PROTOBUF_OPEN);
    *out = (unsigned char)*s->at;
    return PYTHIA_OK;
}

int pythia_protobuf_stream_frame(struct pythia_protobuf_stream *s, uint64_t *end)
{
    int status = require_bytes(s, 4);
    if (status != PYTHIA_OK)
        return status;
    if (bytes_left(s) == 0 && (s->cut_off || ends_well(s, PYTHIA_PROTOBUF_OPEN)))
        return 1;
    if (bytes_left(s) < 4)
        return fail_at_end(s, pythia_protobuf_stream_at(s) + 4);
    const unsigned char *b = (const unsigned char *)s->at;
    uint64_t size = (uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3];
    s->at += 4;
    *end = pythia_protobuf_stream_at(s) + size;
    return PYTHIA_OK;
}

/* There is no field where one should be. Either the input has ended, or the bytes are broken: only
 * if they could be the beginning of a field is it the former. */
static int fail_no_field(struct pythia_protobuf_stream *s, const char *end, uint64_t message_end)
{
    char why[200];
    bool ends = pythia_protobuf_fault((struct pythia_protobuf){s->at, end}, why, sizeof(why));
    return ends && end == s->filled &&
                   pythia_protobuf_stream_at(s) + (uint64_t)(end - s->at) < message_end
               ? fail_at_end(s, message_end)
               : pythia_protobuf_stream_fail(s, pythia_protobuf_stream_at(s), PYTHIA_EFORMAT, "%s",
                                             why);
}

/* Parse a tag that begins or ends a group: returns where it ends, or NULL if it is none. */
static const char *parse_group_tag(const char *at, const char *end,
                                   struct pythia_protobuf_field *out)
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

/* A size beyond its message, or beyond the largest number, is a fault here, before anything is
 * allocated for it. */
int pythia_protobuf_stream_field(struct pythia_protobuf_stream *s, uint64_t end,
                                 struct pythia_protobuf_field *out)
{
    uint64_t begin = pythia_protobuf_stream_at(s);
    if (begin == end || s->cut_off)
        return 1;
    if (bytes_left(s) < HEAD_MAX) {
        int status = require_bytes(s, HEAD_MAX);
        if (status != PYTHIA_OK)
            return status;
        if (bytes_left(s) == 0)
            return ends_well(s, end) ? 1 : fail_at_end(s, end);
    }
    const char *stop = end - begin < bytes_left(s) ? s->at + (end - begin) : s->filled;
    const char *behind = pythia_protobuf_head(s->at, stop, out);
    if (!behind)
        return parse_group_tag(s->at, stop, out) ? pass_groups(s, end, out)
                                                 : fail_no_field(s, stop, end);
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

/* Pass over the next tag, if it begins or ends a group: PYTHIA_OK. 1: it does neither. */
static int pass_group_tag(struct pythia_protobuf_stream *s, uint64_t end,
                          struct pythia_protobuf_field *out)
{
    int status = require_bytes(s, HEAD_MAX);
    if (status != PYTHIA_OK)
        return status;
    uint64_t rest = end - pythia_protobuf_stream_at(s);
    const char *behind =
        parse_group_tag(s->at, rest < bytes_left(s) ? s->at + rest : s->filled, out);
    s->at = behind ? behind : s->at;
    return behind ? PYTHIA_OK : 1;
}

/* Pass over the next field, which is no group. */
static int pass_field(struct pythia_protobuf_stream *s, uint64_t end, uint64_t begin,
                      uint32_t number)
{
    struct pythia_protobuf_field f = {.number = 0};
    int status = pythia_protobuf_stream_field(s, end, &f);
    if (status == 1 && !s->cut_off)
        return pythia_protobuf_stream_fail(
            s, begin, PYTHIA_EFORMAT, "the message ends in the middle of field %" PRIu32, number);
    if (status != PYTHIA_OK || f.type != PYTHIA_PROTOBUF_BYTES)
        return status;
    return pythia_protobuf_stream_pass(s, pythia_protobuf_stream_end(s, &f));
}

/* Pass over the rest of the group that began with `first`, at offset `begin`. Groups are nested,
 * and their ends must match, or what follows would be read as something else. */
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
        bool is_tag = status != 1;
        if (!is_tag)
            status = pass_field(s, end, begin, first->number);
        if (status != PYTHIA_OK)
            return status;
        if (!is_tag)
            continue;
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

/* Pass over a group and the groups after it, and read the field that follows. */
static int pass_groups(struct pythia_protobuf_stream *s, uint64_t end,
                       struct pythia_protobuf_field *out)
{
    uint64_t begin = pythia_protobuf_stream_at(s);
    int status;
    while ((status = pass_group_tag(s, end, out)) == 0) {
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
    int status = require_bytes(s, size);
    if (status != PYTHIA_OK)
        return status;
    if (bytes_left(s) < size)
        return fail_at_end(s, pythia_protobuf_stream_at(s) + size);
    *out = (struct pythia_text){s->at, size};
    s->at += size;
    return PYTHIA_OK;
}

int pythia_protobuf_stream_pass(struct pythia_protobuf_stream *s, uint64_t end)
{
    while (!s->cut_off && end - pythia_protobuf_stream_at(s) > bytes_left(s)) {
        s->at = s->filled;
        if (s->ended)
            return ends_well(s, end) ? PYTHIA_OK : fail_at_end(s, end);
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
