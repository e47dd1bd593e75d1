/* SPDX-License-Identifier: MIT */
/* The layout of one process's shared memory. Numbers are in the machine's own byte order, which the
 * magic tells; all offsets follow from three numbers, so none is stored and none can be wrong.
 *
 *          0  header, 2048 bytes: in one page with the controls of the first rings
 *               0  magic        8: "PYTHAREA"
 *               8  version      4: 2
 *              12  pid          4
 *              16  id           16: random; the same as in the directory's file
 *              32  rings        4: 1 to 4096
 *              36  clock        4: enum pythia__clock_kind
 *              40  ring_bytes   8: a power of two, 64 KiB to 1 GiB
 *              48  definition_bytes  8
 *              56  first        32: struct pythia__clock_pair of when it was made
 *              88  own_reader   4: 1 if the process writes its records to a file by itself
 *             128  defined      8: bytes of definitions that are there; only grows
 *             192  lost_spans, lost_ends, lost_annotations, lost_values: 8 each, of threads that
 *                  got no ring
 *            1024  variables    128 x 8: the last value of each (variable.h), a double
 *       2048  rings x 256 bytes: their controls (ring.h), to the next page
 *          …  definition_bytes: records of stream 0
 *          …  rings x (ring_bytes + 8 KiB): their data */
#ifndef PYTHIA_AREA_H
#define PYTHIA_AREA_H

#include "clock.h"
#include "ring.h"
#include "segment.h"

#define PYTHIA__AREA_VERSION 2
#define PYTHIA__AREA_HEADER  2048
#define PYTHIA__RING_MIN     65536
#define PYTHIA__RING_MAX     ((uint64_t)1 << 30)
#define PYTHIA__RINGS_MAX    4096
#define PYTHIA__DEFINITIONS  ((uint64_t)32 << 20)

struct pythia__area_header {
    char magic[8];
    uint32_t version, pid;
    uint64_t id_high, id_low;
    uint32_t rings, clock;
    uint64_t ring_bytes, definition_bytes;
    struct pythia__clock_pair first;
    uint32_t own_reader;
    uint8_t zero0[36];
    uint64_t defined;
    uint8_t zero1[56];
    uint64_t lost_spans, lost_ends, lost_annotations, lost_values;
    uint8_t zero2[800];
    uint64_t variables[128];
};

/* An area that is attached. The numbers are copies: what stands in shared memory may change. */
struct pythia__area {
    struct pythia__area_header *header;
    uint32_t rings;
    uint64_t ring_bytes, definition_bytes, bytes;
    struct pythia__ring_control *controls;
    unsigned char *definitions, *data;
};

/* Compute the offsets for this many rings of this many bytes; only `at` is needed of the memory. */
void pythia__area_lay_out(struct pythia__area *a, void *at, uint32_t rings, uint64_t ring_bytes,
                          uint64_t definition_bytes);

static inline unsigned char *pythia__area_ring(const struct pythia__area *a, uint32_t ring)
{
    return a->data + ring * (a->ring_bytes + PYTHIA__RING_BEYOND);
}

/* Look at what somebody else has made: `bytes` at `at`, said to be of that id. -EBADMSG, -EPROTO
 * and why, if it is no such thing. */
int pythia__area_check(struct pythia__area *a, void *at, size_t bytes, uint64_t id_high,
                       uint64_t id_low, char *why);

#endif
