/* SPDX-License-Identifier: MIT */
#include "area.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

_Static_assert(sizeof(struct pythia__ring_control) == 256, "as drawn in ring.h");
_Static_assert(offsetof(struct pythia__ring_control, head) == 64, "as drawn in ring.h");
_Static_assert(offsetof(struct pythia__ring_control, tail) == 128, "as drawn in ring.h");
_Static_assert(offsetof(struct pythia__area_header, first) == 56, "as drawn in area.h");
_Static_assert(offsetof(struct pythia__area_header, defined) == 128, "as drawn in area.h");
_Static_assert(offsetof(struct pythia__area_header, lost_spans) == 192, "as drawn in area.h");
_Static_assert(offsetof(struct pythia__area_header, variables) == 1024, "as drawn in area.h");
_Static_assert(sizeof(struct pythia__area_header) == PYTHIA__AREA_HEADER, "as drawn in area.h");
_Static_assert(sizeof(struct pythia_record_variable) == 16, "as drawn in records.h");
_Static_assert(sizeof(struct pythia_frame) == 128, "as drawn in records.h");
_Static_assert(offsetof(struct pythia_frame, anchor_ticks) == 48, "as drawn in records.h");
_Static_assert(offsetof(struct pythia_frame, check) == 120, "as drawn in records.h");
_Static_assert(sizeof(struct pythia_record_process) == 16, "as drawn in records.h");
_Static_assert(sizeof(struct pythia_record_point) == 16, "as drawn in records.h");
_Static_assert(sizeof(struct pythia_record_enter) == 56, "as drawn in records.h");
_Static_assert(sizeof(struct pythia_record_exit) == 40, "as drawn in records.h");
_Static_assert(sizeof(struct pythia_record_value) == 40, "as drawn in records.h");
_Static_assert(PYTHIA__RING_BEYOND >= PYTHIA_RECORD_BYTES, "a record fits beyond the end");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are written as they are");

#define PAGE 4096U

static uint64_t round_to_pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

void pythia__area_lay_out(struct pythia__area *a, void *at, uint32_t rings, uint64_t ring_bytes,
                          uint64_t definition_bytes)
{
    uint64_t before =
        round_to_pages(PYTHIA__AREA_HEADER + rings * (uint64_t)sizeof(struct pythia__ring_control));
    unsigned char *begin = at;
    *a = (struct pythia__area){
        .header = at,
        .rings = rings,
        .ring_bytes = ring_bytes,
        .definition_bytes = definition_bytes,
        .bytes = before + definition_bytes + rings * (ring_bytes + PYTHIA__RING_BEYOND),
    };
    if (!begin)
        return;
    a->controls = (struct pythia__ring_control *)(void *)(begin + PYTHIA__AREA_HEADER);
    a->definitions = begin + before;
    a->data = a->definitions + definition_bytes;
}

int pythia__area_check(struct pythia__area *a, void *at, size_t bytes, uint64_t id_high,
                       uint64_t id_low, char *why)
{
    struct pythia__area_header h;
    if (bytes < PYTHIA__AREA_HEADER)
        return pythia__why(why, -EBADMSG, "is cut short: %zu bytes", bytes);
    memcpy(&h, at, sizeof(h)); /* once: it may change meanwhile */
    if (memcmp(h.magic, "PYTHAREA", 8) != 0)
        return pythia__why(why, -EBADMSG, "does not begin as an area of rings does");
    if (h.version != PYTHIA__AREA_VERSION)
        return pythia__why(why, -EPROTO, "is of version %" PRIu32 ", not %d", h.version,
                           PYTHIA__AREA_VERSION);
    if (h.id_high != id_high || h.id_low != id_low)
        return pythia__why(why, -EBADMSG, "is another process's than its file says");
    if (h.rings < 1 || h.rings > PYTHIA__RINGS_MAX || h.ring_bytes < PYTHIA__RING_MIN ||
        h.ring_bytes > PYTHIA__RING_MAX || (h.ring_bytes & (h.ring_bytes - 1)) ||
        h.definition_bytes > UINT32_MAX || h.definition_bytes % PAGE)
        return pythia__why(why, -EBADMSG,
                           "has impossible sizes: %" PRIu32 " rings of %" PRIu64 " bytes, %" PRIu64
                           " of definitions",
                           h.rings, h.ring_bytes, h.definition_bytes);
    if (h.clock != PYTHIA__CLOCK_MONOTONIC && h.clock != PYTHIA__CLOCK_TSC)
        return pythia__why(why, -EBADMSG, "has an unknown clock: %" PRIu32, h.clock);
    pythia__area_lay_out(a, at, h.rings, h.ring_bytes, h.definition_bytes);
    if (a->bytes != bytes)
        return pythia__why(why, -EBADMSG, "has %zu bytes where its sizes need %" PRIu64, bytes,
                           a->bytes);
    return 0;
}
