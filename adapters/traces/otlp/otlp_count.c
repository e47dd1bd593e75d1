/* Counting the spans of OTLP in protobuf. */
#include <string.h>

#include "otlp_fields.h"

enum { KEY, LENGTH, VARINT, SKIP, BROKEN };
enum { UNKNOWN, ONE_MESSAGE, FRAMES };

/* So many bytes of the current message are, or will be, behind us. What is outermost has no end. */
static bool pass_bytes(struct pythia_span_count *c, uint64_t bytes)
{
    if (c->protobuf.depth > 0 && bytes > c->protobuf.left[c->protobuf.depth]) {
        c->protobuf.state = BROKEN;
        return false;
    }
    if (c->protobuf.depth > 0)
        c->protobuf.left[c->protobuf.depth] -= bytes;
    return true;
}

static void end_field(struct pythia_span_count *c)
{
    c->protobuf.state = KEY;
    while (c->protobuf.depth > 0 && c->protobuf.left[c->protobuf.depth] == 0) {
        if (c->protobuf.groups > 0)
            c->protobuf.state = BROKEN; /* the message ends before a group in it */
        c->protobuf.depth--;
    }
}

static void skip_bytes(struct pythia_span_count *c, uint64_t bytes)
{
    if (!pass_bytes(c, bytes))
        return;
    c->protobuf.skip = bytes;
    c->protobuf.state = SKIP;
    if (bytes == 0)
        end_field(c);
}

/* A group has begun or ended: what is in one are no spans. */
static void end_group_tag(struct pythia_span_count *c, bool is_good)
{
    if (is_good)
        end_field(c);
    else
        c->protobuf.state = BROKEN;
}

/* Spans are counted as bytes arrive, without the message in memory: only keys and sizes are looked
 * at, and the rest is skipped. */
static void begin_field(struct pythia_span_count *c, uint64_t key)
{
    c->protobuf.field = key >> 3 <= UINT32_MAX ? (uint32_t)(key >> 3) : 0;
    switch (key & 7) {
    case PYTHIA_PROTOBUF_VARINT:
        c->protobuf.state = VARINT;
        break;
    case PYTHIA_PROTOBUF_FIXED64:
        skip_bytes(c, 8);
        break;
    case PYTHIA_PROTOBUF_BYTES:
        c->protobuf.state = LENGTH;
        break;
    case PYTHIA_PROTOBUF_FIXED32:
        skip_bytes(c, 4);
        break;
    case PYTHIA_PROTOBUF_GROUP:
        c->protobuf.groups++;
        end_group_tag(c, c->protobuf.groups <= PYTHIA_PROTOBUF_GROUPS_MAX);
        break;
    case PYTHIA_PROTOBUF_GROUP_END:
        end_group_tag(c, c->protobuf.groups-- > 0);
        break;
    default:
        c->protobuf.state = BROKEN;
    }
}

/* TracesData has ResourceSpans (1), these have ScopeSpans (2, once 1000), and these spans (2). */
static void begin_bytes(struct pythia_span_count *c, uint64_t size)
{
    bool holds = c->protobuf.depth == 0 ? c->protobuf.field == 1
                                        : c->protobuf.field == 2 ||
                                              (c->protobuf.depth == 1 && c->protobuf.field == 1000);
    holds = holds && c->protobuf.groups == 0;
    c->spans += holds && c->protobuf.depth == 2;
    if (!holds || c->protobuf.depth == 2) {
        skip_bytes(c, size);
    } else if (pass_bytes(c, size)) {
        c->protobuf.left[++c->protobuf.depth] = size;
        end_field(c);
    }
}

static void add_byte(struct pythia_span_count *c, unsigned char byte)
{
    if (!pass_bytes(c, 1))
        return;
    if (c->protobuf.shift >= 64) {
        c->protobuf.state = BROKEN;
        return;
    }
    c->protobuf.number |= (uint64_t)(byte & 127) << c->protobuf.shift;
    c->protobuf.shift += 7;
    if (byte & 128)
        return;
    uint64_t number = c->protobuf.number;
    c->protobuf.number = 0;
    c->protobuf.shift = 0;
    if (c->protobuf.state == KEY)
        begin_field(c, number);
    else if (c->protobuf.state == LENGTH)
        begin_bytes(c, number);
    else
        end_field(c);
}

/* Bytes of one message. */
static void add_to_message(struct pythia_span_count *c, const char *bytes, size_t size)
{
    while (size > 0 && c->protobuf.state != BROKEN) {
        size_t step = 1;
        if (c->protobuf.state == SKIP) {
            step = c->protobuf.skip < size ? (size_t)c->protobuf.skip : size;
            c->protobuf.skip -= step;
            if (c->protobuf.skip == 0)
                end_field(c);
        } else {
            add_byte(c, (unsigned char)*bytes);
        }
        bytes += step;
        size -= step;
    }
}

/* A message with its size in front: one that is broken or cut says nothing about the next. */
static void add_size(struct pythia_span_count *c, unsigned char byte)
{
    c->protobuf.frame = c->protobuf.frame << 8 | byte;
    if (++c->protobuf.size_bytes < 4)
        return;
    uint32_t frame = c->protobuf.frame;
    memset(&c->protobuf, 0, sizeof(c->protobuf));
    c->protobuf.framing = FRAMES;
    c->protobuf.frame = frame;
    c->protobuf.size_bytes = frame > 0 ? 4 : 0;
}

void pythia__otlp_protobuf_count(struct pythia_span_count *c, const char *bytes, size_t size)
{
    if (size > 0 && c->protobuf.framing == UNKNOWN)
        c->protobuf.framing = pythia__otlp_is_framed((unsigned char)*bytes) ? FRAMES : ONE_MESSAGE;
    if (c->protobuf.framing == ONE_MESSAGE)
        add_to_message(c, bytes, size);
    while (size > 0 && c->protobuf.framing == FRAMES) {
        size_t step = 1;
        if (c->protobuf.size_bytes < 4) {
            add_size(c, (unsigned char)*bytes);
        } else {
            step = c->protobuf.frame < size ? c->protobuf.frame : size;
            add_to_message(c, bytes, step);
            c->protobuf.frame -= (uint32_t)step;
            c->protobuf.size_bytes = c->protobuf.frame > 0 ? 4 : 0;
        }
        bytes += step;
        size -= step;
    }
}
