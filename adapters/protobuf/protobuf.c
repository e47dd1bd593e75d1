#include "pythia/protobuf.h"

#include <inttypes.h>
#include <stdio.h>

struct pythia_protobuf_varint pythia_protobuf_long_varint(const char *at, const char *end)
{
    uint64_t number = 0;
    for (unsigned shift = 0; at < end && shift < 7 * PYTHIA_PROTOBUF_VARINT_MAX; shift += 7) {
        unsigned char byte = (unsigned char)*at++;
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return (struct pythia_protobuf_varint){number, at};
    }
    return (struct pythia_protobuf_varint){0, NULL};
}

struct pythia_protobuf_varint pythia_protobuf_long_tag(const char *at, const char *end)
{
    struct pythia_protobuf_varint tag = pythia_protobuf_varint(at, end);
    bool good = tag.behind && tag.behind - at <= PYTHIA_PROTOBUF_TAG_MAX && tag.value >= 8 &&
                tag.value <= UINT32_MAX;
    return good ? tag : (struct pythia_protobuf_varint){0, NULL};
}

/* A walk through a group, and the groups in it. */
struct group_walk {
    uint32_t open[PYTHIA_PROTOBUF_GROUPS_MAX]; /* numbers of the groups that have begun */
    size_t depth;
    bool is_broken; /* it does not end before the message because it cannot, however it went on */
};

/* Pass over one tag, with what comes after it: where that ends, or NULL. */
static const char *walk_field(struct group_walk *w, struct pythia_protobuf m)
{
    char why[200];
    struct pythia_protobuf_field field;
    struct pythia_protobuf_varint tag = pythia_protobuf_long_tag(m.at, m.end);
    const unsigned type = (unsigned)tag.value & 7;
    const uint32_t number = (uint32_t)tag.value >> 3;
    if (tag.behind && type == PYTHIA_PROTOBUF_GROUP) {
        w->is_broken = w->depth == PYTHIA_PROTOBUF_GROUPS_MAX;
        if (!w->is_broken)
            w->open[w->depth++] = number;
        return w->is_broken ? NULL : tag.behind;
    }
    if (tag.behind && type == PYTHIA_PROTOBUF_GROUP_END) {
        w->is_broken = w->depth == 0 || w->open[--w->depth] != number;
        return w->is_broken ? NULL : tag.behind;
    }
    const char *behind = pythia_protobuf_head(m.at, m.end, &field);
    if (behind && field.type != PYTHIA_PROTOBUF_BYTES)
        return behind;
    if (behind && field.value <= (uint64_t)(m.end - behind))
        return behind + field.value;
    w->is_broken = !pythia_protobuf_fault(m, why, sizeof(why));
    return NULL;
}

/* Where the group at the front of `m` ends, or NULL. */
static const char *walk_group(struct group_walk *w, struct pythia_protobuf m)
{
    do {
        m.at = walk_field(w, m);
    } while (m.at && w->depth > 0);
    return m.at;
}

const char *pythia_protobuf_behind_group(const char *at, const char *end)
{
    struct group_walk w = {.depth = 0};
    struct pythia_protobuf_varint tag = pythia_protobuf_long_tag(at, end);
    if (!tag.behind || (tag.value & 7) != PYTHIA_PROTOBUF_GROUP)
        return NULL;
    return walk_group(&w, (struct pythia_protobuf){at, end});
}

/* Behind the tag of a field: is it because the message ends? */
static bool value_fault(struct pythia_protobuf m, uint32_t number, unsigned type, char *out,
                        size_t size)
{
    struct pythia_protobuf_varint varint = pythia_protobuf_varint(m.at, m.end);
    bool too_long = !varint.behind && m.end - m.at >= PYTHIA_PROTOBUF_VARINT_MAX;
    if (type == PYTHIA_PROTOBUF_GROUP_END)
        snprintf(out, size, "field %" PRIu32 " ends a group that has not begun", number);
    else if (type > PYTHIA_PROTOBUF_FIXED32)
        snprintf(out, size, "field %" PRIu32 " has wire type %u, which does not exist", number,
                 type);
    else if (too_long && (type == PYTHIA_PROTOBUF_VARINT || type == PYTHIA_PROTOBUF_BYTES))
        snprintf(out, size, "field %" PRIu32 " has a number of more than %d bytes", number,
                 PYTHIA_PROTOBUF_VARINT_MAX);
    else if (type == PYTHIA_PROTOBUF_BYTES && varint.behind)
        snprintf(out, size,
                 "field %" PRIu32 " of %" PRIu64 " bytes in a message that ends %zu bytes on",
                 number, varint.value, (size_t)(m.end - varint.behind));
    else
        snprintf(out, size, "the message ends in the middle of field %" PRIu32, number);
    return type <= PYTHIA_PROTOBUF_FIXED32 && type != PYTHIA_PROTOBUF_GROUP_END && !too_long;
}

/* Says what is wrong with the field that begins here, and whether more bytes could mend it: then
 * the reader refills its window instead of giving up. */
bool pythia_protobuf_fault(struct pythia_protobuf m, char *out, size_t size)
{
    struct pythia_protobuf_varint tag = pythia_protobuf_varint(m.at, m.end);
    if (!tag.behind && m.end - m.at < PYTHIA_PROTOBUF_TAG_MAX) {
        snprintf(out, size, "the message ends in the middle of a field's number");
        return true;
    }
    if (!tag.behind || tag.behind - m.at > PYTHIA_PROTOBUF_TAG_MAX || tag.value > UINT32_MAX) {
        snprintf(out, size, "a field's number has more than 5 bytes or is above %" PRIu32,
                 UINT32_MAX >> 3);
        return false;
    }
    if (tag.value < 8) {
        snprintf(out, size, "there is no field 0");
        return false;
    }
    struct group_walk w = {.depth = 0};
    if ((tag.value & 7) == PYTHIA_PROTOBUF_GROUP && !walk_group(&w, m) && w.is_broken) {
        snprintf(out, size,
                 "field %" PRIu32 " is a group that is broken, or has more than %d in it",
                 (uint32_t)tag.value >> 3, PYTHIA_PROTOBUF_GROUPS_MAX - 1);
        return false;
    }
    return value_fault((struct pythia_protobuf){tag.behind, m.end}, (uint32_t)tag.value >> 3,
                       (unsigned)tag.value & 7, out, size);
}
